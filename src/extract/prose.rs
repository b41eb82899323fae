//! Marks in the prose of a Markdown text: `#hashtags`, `[[wiki links]]`, links to other files, code spans.
//!
//! Owns what a hashtag is. CommonMark says what is prose, code or a link, with GitHub's
//! tables and with wiki links.

mod hidden;

use std::borrow::Cow;

use hidden::Hidden;
use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use super::markdown;

/// Longer words are not hashtags.
const MAX_TAG_CHARS: usize = 100;
/// Longer names are not looked at.
const MAX_LINK_BYTES: usize = 300;

/// A mark in the prose, with its 1-based line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProseMark {
    /// Without its `#`.
    Hashtag(String),
    /// The name between the brackets, without what is shown in its place; `embeds` when the text is to be shown here, and the
    /// name of the inline field (`rel:: [[X]]`) around it.
    Wiki { target: String, embeds: bool, field: Option<String> },
    /// The address of a link or an image, of whatever form, without escapes.
    Address { address: String, embeds: bool },
    /// The words of a code span.
    Code(String),
}

/// Shows every mark of `text` to `visit`, in order; its first line has the number `first_line`.
pub fn marks(text: &str, first_line: u32, mut visit: impl FnMut(ProseMark, u32)) {
    let mut scanner = Scanner { text, first_line, ..Scanner::default() };
    scanner.line_ends.extend(memchr::memchr_iter(b'\n', text.as_bytes()));
    each_event(text, |event, at| match event {
        Event::Text(words) if is_source(text, &at, &words) => scanner.prose(at),
        Event::Code(words) => scanner.add(ProseMark::Code(words.trim().to_owned()), at.start),
        Event::Start(Tag::Link { link_type, dest_url, .. }) => scanner.link(link_type, &dest_url, false, at),
        Event::Start(Tag::Image { link_type, dest_url, .. }) => scanner.link(link_type, &dest_url, true, at),
        Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => {
            scanner.hidden.end_paragraph();
        }
        _ => {}
    });
    scanner.marks.into_iter().for_each(|(mark, line)| visit(mark, line));
}

/// Shows the events of a text to `visit`, without those within code blocks, images and wiki links.
fn each_event(text: &str, mut visit: impl FnMut(Event, std::ops::Range<usize>)) {
    let mut within = 0_usize;
    for (event, at) in Parser::new_ext(text, markdown::OPTIONS).into_offset_iter() {
        let begins = matches!(event, Event::Start(_));
        if within > 0 {
            within = if begins { within + 1 } else { within - usize::from(matches!(event, Event::End(_))) };
            continue;
        }
        within = usize::from(matches!(
            event,
            Event::Start(
                Tag::CodeBlock(_) | Tag::Image { .. } | Tag::Link { link_type: LinkType::WikiLink { .. }, .. }
            )
        ));
        visit(event, at);
    }
}

/// Whether words are shown as they are written: characters that are written as `&amp;` are not markup.
fn is_source(text: &str, at: &std::ops::Range<usize>, words: &str) -> bool {
    text.get(at.clone()) == Some(words)
}

#[derive(Default)]
struct Scanner<'t> {
    text: &'t str,
    first_line: u32,
    line_ends: Vec<usize>,
    /// Where the prose that was last looked at ends.
    prose_end: usize,
    /// Where the last hashtag ends.
    tag_end: usize,
    hidden: Hidden,
    marks: Vec<(ProseMark, u32)>,
}

impl Scanner<'_> {
    fn line(&self, at: usize) -> u32 {
        let before = self.line_ends.partition_point(|end| *end < at);
        self.first_line.saturating_add(u32::try_from(before).unwrap_or(u32::MAX))
    }

    fn add(&mut self, mark: ProseMark, at: usize) {
        self.marks.push((mark, self.line(at)));
    }

    /// Hashtags, and the ends of what is hidden.
    fn prose(&mut self, prose: std::ops::Range<usize>) {
        let from = prose.start + usize::from(is_escaped(self.text, prose.start, self.prose_end));
        // A `_` of markup would end the tag, too.
        let is_behind_markup = self.prose_end < prose.start && !self.text[..prose.start].ends_with('_');
        self.prose_end = prose.end;
        let mut at = from.max(self.tag_end);
        let bytes = self.text.as_bytes();
        let is_found = |byte: &u8| *byte == b'#' || Hidden::is_delimiter(*byte);
        while let Some(found) = bytes.get(at..prose.end).and_then(|rest| rest.iter().position(is_found)) {
            at += found;
            if bytes[at] != b'#' {
                let (behind, marks) = self.hidden.read(self.text, at, self.marks.len());
                self.marks.truncate(marks);
                at = behind;
                continue;
            }
            let opens = at == self.tag_end || is_behind_markup && at == prose.start || opens_tag(self.text, at);
            if let Some((tag, end)) = hashtag(self.text, at).filter(|_| opens) {
                self.add(ProseMark::Hashtag(tag), at);
                self.tag_end = end;
                at = end;
            } else {
                at += 1;
            }
        }
    }

    /// The text of the line before `at`, as far as it is looked at.
    fn line_before(&self, at: usize) -> &str {
        let before = self.text.floor_char_boundary(at.saturating_sub(2 * MAX_LINK_BYTES));
        self.text[before..at].rsplit('\n').next().unwrap_or_default()
    }

    fn link(&mut self, link: LinkType, address: &str, embeds: bool, at: std::ops::Range<usize>) {
        // The parser takes the embed that a link's text begins with for an image with the link's address.
        let inner = self.text[at.clone()].strip_prefix("![[").and_then(|inner| inner.split_once("]]"));
        if let (LinkType::Inline, true, Some((name, _))) = (link, embeds, inner)
            && self.line_before(at.start).contains('[')
        {
            self.link(LinkType::Inline, address, false, at.clone());
            let wiki = LinkType::WikiLink { has_pothole: name.contains('|') };
            return self.link(wiki, name.split('|').next().unwrap_or(name), true, at);
        }
        let mark = match link {
            LinkType::WikiLink { has_pothole } => {
                // In a table, `\|` is the `|` before the alias.
                let target = if has_pothole { address.strip_suffix('\\').unwrap_or(address) } else { address };
                let is_name = !target.trim().is_empty() && !target.contains(['\n', '[', ']']);
                if !is_name || target.len() > MAX_LINK_BYTES {
                    return;
                }
                ProseMark::Wiki { target: target.to_owned(), embeds, field: field(self.line_before(at.start)) }
            }
            LinkType::Autolink | LinkType::Email => return,
            _ => ProseMark::Address { address: address.to_owned(), embeds },
        };
        self.add(mark, at.start);
    }
}

/// Whether a backslash before `at`, which no prose that ends at `prose_end` has, makes that character plain.
fn is_escaped(text: &str, at: usize, prose_end: usize) -> bool {
    at > prose_end && text[..at].ends_with('\\')
}

/// Whether a tag may follow what is before `at`: as in zk, no character that a word or an address may have there.
fn opens_tag(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let ends_word = before.is_none_or(|c| !c.is_alphanumeric() && !"/@'~-_$%&+=:#".contains(c));
    let near = &text[text.floor_char_boundary(at.saturating_sub(MAX_LINK_BYTES))..at];
    ends_word && !near.rsplit(char::is_whitespace).next().is_some_and(|word| word.contains("://"))
}

/// The tag whose `#` is at `at`, and where it ends: as in Obsidian, Logseq, zk and Foam, not a number.
fn hashtag(text: &str, at: usize) -> Option<(String, usize)> {
    let rest = &text[at + 1..];
    let near = &rest[..rest.floor_char_boundary(MAX_LINK_BYTES)];
    if let Some((words, _)) = near.strip_prefix("[[").and_then(|inner| inner.split_once("]]")) {
        let is_name = words.chars().count() <= MAX_TAG_CHARS && words.chars().any(char::is_alphabetic);
        return (is_name && !words.contains(['\n', '['])).then(|| (words.trim().to_owned(), at + words.len() + 5));
    }
    let end = rest.find(|c: char| !is_in_tag(c)).unwrap_or(rest.len());
    let tag = &rest[..end];
    let fits = !tag.chars().all(char::is_numeric) && tag.chars().count() <= MAX_TAG_CHARS;
    fits.then(|| (tag.to_owned(), at + 1 + end))
}

fn is_in_tag(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/') || (!c.is_ascii() && !is_sign(c) && !c.is_whitespace())
}

/// Punctuation of other scripts, at which a tag ends.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{a9}' | '\u{ab}'..='\u{b4}' | '\u{b6}'..='\u{b9}' | '\u{bb}'..='\u{bf}'
        | '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}' | '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3020}'
        | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}')
}

/// The name before `::` that what follows on the line belongs to.
fn field(before: &str) -> Option<String> {
    let (name, between) = before.rsplit_once("::")?;
    let name = name.rsplit(['[', '(']).next()?.trim().trim_start_matches(['-', '*', '+']).trim();
    let is_name = !name.is_empty()
        && name.len() <= 60
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));
    // Only other links may be between the name and this one.
    let is_list = between.split("]]").all(|part| part.trim_matches([' ', ',', '!']).split("[[").next() == Some(""));
    (is_name && is_list).then(|| name.to_owned())
}

/// With `%20` as a blank; unchanged if that is not UTF-8.
pub(super) fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests;
