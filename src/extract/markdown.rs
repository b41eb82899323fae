//! Markdown as a tree of elements, for people to read.
//!
//! Owns the kinds of elements, and how HTML in Markdown is treated: tags for layout are left out, all others are text. The
//! tree has no markup, so that nothing in a file can become a script or a style of the page that shows it.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use schemars::JsonSchema;
use serde::Serialize;

use super::documents::Table;
use super::highlight;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Piece {
    Text(String),
    Element(Element),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Element {
    /// Tag as in HTML; also `front` for the front matter, `image`, `footnote` for its text, and `task` for a box that is checked or not.
    pub tag: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Piece>,
    /// Anchor of a heading, as links in the file write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Target of a link or an image, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Indexed file that a link leads to; `entity` is set where that is an entity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// Alignment of a cell: left, center or right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<&'static str>,
    /// First number of a numbered list; number of a footnote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<bool>,
    /// Spans of a block of code: for each line, the start, length and class of each span.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Vec<u32>>,
}

/// The extensions to CommonMark that every Markdown text is read with.
pub(super) const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_GFM)
    .union(Options::ENABLE_WIKILINKS);

/// Longer texts are not rendered.
pub const MAX_BYTES: usize = 1 << 20;
/// Deeper elements are part of the one around them.
const MAX_DEPTH: usize = 48;
/// Bytes of code that are highlighted in one text.
const MAX_CODE: usize = 256 << 10;

/// The anchor of a footnote, before its number.
const FOOTNOTE: &str = "footnote-";

/// Tags that only arrange what is in them.
const LAYOUT: &[&str] = &[
    "p",
    "div",
    "span",
    "a",
    "b",
    "i",
    "em",
    "strong",
    "u",
    "s",
    "sub",
    "sup",
    "kbd",
    "br",
    "hr",
    "center",
    "details",
    "summary",
    "table",
    "thead",
    "tbody",
    "tr",
    "td",
    "th",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "img",
    "picture",
    "source",
    "figure",
    "figcaption",
    "font",
    "small",
    "big",
    "code",
    "pre",
    "blockquote",
    "section",
    "article",
    "header",
    "footer",
    "nav",
    "main",
    "aside",
    "abbr",
    "ins",
    "del",
    "mark",
    "var",
    "samp",
    "wbr",
    "tt",
];

/// The elements of a text, or `None` if it is too long.
pub fn render(text: &str) -> Option<Vec<Piece>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let options =
        OPTIONS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut tree = Tree::default();
    if text.contains("[^") {
        for event in Parser::new_ext(text, options) {
            if let Event::FootnoteReference(name) = event {
                tree.footnote(&name);
            }
        }
    }
    for event in Parser::new_ext(text, options) {
        tree.take(event);
    }
    while !tree.open.is_empty() {
        tree.close();
    }
    Some(tree.done)
}

#[derive(Default)]
struct Tree {
    done: Vec<Piece>,
    /// Elements around the next piece; `None` for one that is not kept as an element.
    open: Vec<Option<Element>>,
    aligns: Vec<Alignment>,
    column: usize,
    in_head: bool,
    /// The language of the block of code that is open.
    fence: Option<String>,
    code: usize,
    ids: std::collections::HashMap<String, usize>,
    /// Numbers of footnotes in the order of their references, as GitHub counts them.
    footnotes: std::collections::HashMap<String, u64>,
}

impl Tree {
    /// The number of a footnote; those that nothing refers to follow all others.
    fn footnote(&mut self, name: &str) -> u64 {
        let next = self.footnotes.len() as u64 + 1;
        *self.footnotes.entry(name.to_lowercase()).or_insert(next)
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::Code(text) => self.push(Piece::Element(with_text("code", &text))),
            Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
            Event::FootnoteReference(name) => {
                let number = self.footnote(&name);
                let to = Some(format!("#{FOOTNOTE}{number}"));
                let link = Element { to, ..with_text("a", &number.to_string()) };
                self.push(Piece::Element(Element { children: vec![Piece::Element(link)], ..element("sup") }));
            }
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.push(Piece::Element(element("br"))),
            Event::Rule => self.push(Piece::Element(element("hr"))),
            Event::TaskListMarker(checked) => {
                self.push(Piece::Element(Element { checked: Some(checked), ..element("task") }));
            }
        }
    }

    fn start(&mut self, tag: Tag) {
        let new = match tag {
            Tag::Paragraph => element("p"),
            Tag::Heading { level, .. } => element(heading(level)),
            Tag::BlockQuote(_) => element("blockquote"),
            Tag::CodeBlock(kind) => {
                self.fence = Some(match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                });
                element("pre")
            }
            Tag::List(start) => Element { start, ..element(if start.is_some() { "ol" } else { "ul" }) },
            Tag::Item => element("li"),
            Tag::FootnoteDefinition(name) => {
                let number = self.footnote(&name);
                Element { start: Some(number), id: Some(format!("{FOOTNOTE}{number}")), ..element("footnote") }
            }
            Tag::Table(aligns) => {
                self.aligns = aligns;
                element("table")
            }
            Tag::TableHead => {
                (self.column, self.in_head) = (0, true);
                element("tr")
            }
            Tag::TableRow => {
                self.column = 0;
                element("tr")
            }
            Tag::TableCell => {
                let align = match self.aligns.get(self.column) {
                    Some(Alignment::Left) => Some("left"),
                    Some(Alignment::Center) => Some("center"),
                    Some(Alignment::Right) => Some("right"),
                    _ => None,
                };
                self.column += 1;
                Element { align, ..element(if self.in_head { "th" } else { "td" }) }
            }
            Tag::Emphasis => element("em"),
            Tag::Strong => element("strong"),
            Tag::Strikethrough => element("del"),
            Tag::Superscript => element("sup"),
            Tag::Subscript => element("sub"),
            Tag::Link { dest_url, .. } => Element { to: Some(dest_url.to_string()), ..element("a") },
            Tag::Image { dest_url, .. } => Element { to: Some(dest_url.to_string()), ..element("image") },
            Tag::MetadataBlock(_) => element("front"),
            Tag::HtmlBlock => element("div"),
            _ => element("span"),
        };
        self.open.push((self.open.len() < MAX_DEPTH).then_some(new));
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableHead => self.in_head = false,
            TagEnd::CodeBlock => {
                let info = self.fence.take().unwrap_or_default();
                if let Some(Some(block)) = self.open.last_mut() {
                    let code = text_of(&block.children);
                    if self.code + code.len() <= MAX_CODE {
                        self.code += code.len();
                        block.spans = spans(&info, &code);
                    }
                }
            }
            TagEnd::Heading(_) => {
                if let Some(Some(heading)) = self.open.last_mut() {
                    let slug = slug(&text_of(&heading.children));
                    let seen = self.ids.entry(slug.clone()).or_default();
                    heading.id = Some(if *seen == 0 { slug } else { format!("{slug}-{seen}") });
                    *seen += 1;
                }
            }
            _ => {}
        }
        self.close();
    }

    fn close(&mut self) {
        if let Some(Some(element)) = self.open.pop() {
            let is_empty_block = element.children.is_empty() && matches!(element.tag, "div" | "span" | "p");
            if !is_empty_block {
                self.push(Piece::Element(element));
            }
        }
    }

    fn push(&mut self, piece: Piece) {
        match self.open.iter_mut().rev().flatten().next() {
            Some(outer) => outer.children.push(piece),
            None => self.done.push(piece),
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let siblings = match self.open.iter_mut().rev().flatten().next() {
            Some(outer) => &mut outer.children,
            None => &mut self.done,
        };
        match siblings.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ => siblings.push(Piece::Text(text.to_owned())),
        }
    }

    /// Tags for layout are left out, an image is its text; everything else is text, comments excepted.
    fn html(&mut self, html: &str) {
        let mut rest = html;
        while let Some(at) = rest.find('<') {
            self.text(&rest[..at]);
            rest = &rest[at..];
            if let Some(comment) = rest.strip_prefix("<!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let name = rest[1..].trim_start_matches('/');
            let name = &name[..name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len())];
            let end = rest.find('>').map_or(rest.len(), |end| end + 1);
            let tag = &rest[..end];
            rest = &rest[end..];
            if !LAYOUT.iter().any(|layout| layout.eq_ignore_ascii_case(name)) {
                self.text(tag);
            } else if name.eq_ignore_ascii_case("br") {
                self.push(Piece::Element(element("br")));
            } else if name.eq_ignore_ascii_case("img")
                && let Some(alt) = attribute(tag, "alt").filter(|alt| !alt.is_empty())
            {
                let alt = alt.to_owned();
                self.push(Piece::Element(Element {
                    to: attribute(tag, "src").map(str::to_owned),
                    ..with_text("image", &alt)
                }));
            }
        }
        self.text(rest);
    }
}

/// The value of an attribute in quotes.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let at = tag.match_indices(name).find(|(at, _)| {
        let before = tag[..*at].chars().next_back();
        before.is_some_and(char::is_whitespace) && tag[at + name.len()..].trim_start().starts_with('=')
    })?;
    let value = tag[at.0 + name.len()..].trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split(quote).next()
}

fn element(tag: &'static str) -> Element {
    Element { tag, ..Element::default() }
}

fn with_text(tag: &'static str, text: &str) -> Element {
    Element { children: vec![Piece::Text(text.to_owned())], ..element(tag) }
}

fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h1",
        HeadingLevel::H2 => "h2",
        HeadingLevel::H3 => "h3",
        HeadingLevel::H4 => "h4",
        HeadingLevel::H5 => "h5",
        HeadingLevel::H6 => "h6",
    }
}

fn text_of(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(own) => text.push_str(own),
            Piece::Element(element) => text.push_str(&text_of(&element.children)),
        }
    }
    text
}

/// Anchor that GitHub gives a heading.
fn slug(text: &str) -> String {
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn spans(info: &str, code: &str) -> Vec<Vec<u32>> {
    let Some(language) = highlight::of_fence(info) else { return Vec::new() };
    let found = highlight::highlight(language.name, code, 0..usize::MAX).unwrap_or_default();
    found.iter().map(|line| highlight::flat(line)).collect()
}

/// The heading that a text begins with, as it is shown.
pub(super) fn first_heading(text: &str) -> Option<String> {
    let mut events = Parser::new_ext(text, OPTIONS);
    let Some(Event::Start(Tag::Heading { .. })) = events.next() else { return None };
    let title = shown(events.take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_)))));
    (!title.is_empty()).then_some(title)
}

/// A part of a text that says how the rest is divided.
pub(super) enum Part {
    /// The title is as it is written.
    Heading { at: Range<usize>, level: u8, title: String },
    /// `rows` is where the line with the names of its columns ends.
    Table { at: Range<usize>, rows: usize },
}

/// The headings of a text, and its tables that are not within other blocks, in order.
pub(super) fn outline(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    // What the events since a heading began cover.
    let mut inner: Option<Range<usize>> = None;
    for (event, at) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        match &event {
            Event::Start(Tag::Heading { .. }) => inner = Some(at.end..at.start),
            Event::End(TagEnd::Heading(level)) => {
                let title = inner.take().and_then(|inner| text.get(inner)).unwrap_or_default();
                let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
                parts.push(Part::Heading { at, level: *level as u8, title });
            }
            Event::Start(Tag::Table(_)) if depth == 0 => parts.push(Part::Table { rows: at.end, at }),
            Event::End(TagEnd::TableHead) if depth == 2 => {
                if let Some(Part::Table { rows, .. }) = parts.last_mut() {
                    *rows = at.end;
                }
            }
            _ => {
                if let Some(inner) = &mut inner {
                    *inner = inner.start.min(at.start)..inner.end.max(at.end);
                }
            }
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    parts
}

/// The tables of a text.
pub(super) fn tables(text: &str) -> Vec<Table> {
    let table = |part: &Part| match part {
        Part::Table { at, rows } => Table::new(*rows..at.end, &text[at.start..*rows]),
        Part::Heading { .. } => None,
    };
    outline(text).iter().filter_map(table).collect()
}

/// Returns the text that inline events show, on one line.
pub(super) fn shown<'t>(events: impl Iterator<Item = Event<'t>>) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(words) | Event::Code(words) => text.push_str(&words),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Applies `change` to each element, outer before inner.
pub fn each(pieces: &mut [Piece], change: &mut dyn FnMut(&mut Element)) {
    for piece in pieces {
        if let Piece::Element(element) = piece {
            change(element);
            each(&mut element.children, change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        fn write(pieces: &[Piece], out: &mut String) {
            for piece in pieces {
                match piece {
                    Piece::Text(text) => out.push_str(text),
                    Piece::Element(element) => {
                        out.push_str(&format!("({} ", element.tag));
                        write(&element.children, out);
                        out.push(')');
                    }
                }
            }
        }
        let mut out = String::new();
        write(&render(text).unwrap(), &mut out);
        out
    }

    #[test]
    fn blocks_and_inlines_are_elements() {
        assert_eq!(shown("# A *b*\n\n- [x] c\n- d `e`\n"), "(h1 A (em b))(ul (li (task )c)(li d (code e)))");
        assert_eq!(shown("|a|b|\n|-|-:|\n|1|2|\n"), "(table (tr (th a)(th b))(tr (td 1)(td 2)))");
        assert_eq!(shown("---\nid: x\n---\ntext\n"), "(front id: x\n)(p text)");
        let rendered = render("## Two words!\n\n## Two words\n\n```rust\nfn a() {}\n```\n[[dec-1]]").unwrap();
        let Piece::Element(second) = &rendered[1] else { panic!("{rendered:?}") };
        assert_eq!(second.id.as_deref(), Some("two-words-1"));
        let Piece::Element(code) = &rendered[2] else { panic!("{rendered:?}") };
        assert_eq!(code.spans[0][..3], [0, 2, highlight::Class::Keyword as u32]);
    }

    #[test]
    fn footnotes_have_the_numbers_that_their_references_have() {
        // As cmark-gfm 0.29 numbers them: in the order of the first references, whatever their names are.
        let text = "[^b]: Second.\n\nOne[^long-name] two[^b] one[^long-name].\n\n[^long-name]: First.\n";
        let rendered = render(text).unwrap();
        let numbers: Vec<_> = rendered
            .iter()
            .filter_map(|piece| match piece {
                Piece::Element(Element { tag: "footnote", start, id, .. }) => {
                    Some((start.unwrap(), id.clone().unwrap()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(numbers, [(2, "footnote-2".to_owned()), (1, "footnote-1".to_owned())]);
        assert!(shown(text).contains("(p One(sup (a 1)) two(sup (a 2)) one(sup (a 1)).)"), "{}", shown(text));
    }

    #[test]
    fn html_is_text_or_nothing() {
        assert_eq!(shown("a <script>alert(1)</script> b"), "(p a <script>alert(1)</script> b)");
        assert_eq!(
            shown("<p align=\"center\">\n<img alt=\"logo\" src=\"https://x/y\">\n</p>\n"),
            "(div \n(image logo)\n\n)"
        );
        assert_eq!(shown("<!-- hidden -->\n\nx<br>y"), "(div \n)(p x(br )y)");
        assert_eq!(shown("<svg onload=alert(1)>\n"), "(div <svg onload=alert(1)>\n)");
    }

    #[test]
    fn hostile_texts_are_bounded() {
        let deep = render(&"> ".repeat(20_000)).unwrap();
        let depth = |mut pieces: &[Piece]| {
            let mut depth = 0;
            while let Some(Piece::Element(element)) = pieces.first() {
                (depth, pieces) = (depth + 1, &element.children);
            }
            depth
        };
        assert!(depth(&deep) <= MAX_DEPTH, "{}", depth(&deep));
        assert!(render(&"[".repeat(100_000)).is_some());
        assert_eq!(render(&"a".repeat(MAX_BYTES + 1)), None);
    }
}
