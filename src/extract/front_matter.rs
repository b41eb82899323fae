//! YAML front matter: where it is in a text, and its fields with their positions.
//!
//! Owns reading YAML, in a form that keeps what was written: every scalar is its own text, whatever type another reader
//! would give it. Does not own what fields mean (`entity`). Errors are reported by line, and the rest is
//! read. Anchors are looked up, never expanded, so that nothing can exceed the size of the text.

use std::collections::HashSet;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::model::Problem;

/// Larger front matter was not written by hand.
const MAX_BYTES: usize = 1 << 20;
/// Nesting: front matter that is nested more deeply was not written by hand.
const MAX_DEPTH: usize = 32;
/// Problems of one text; further ones add nothing.
const MAX_PROBLEMS: usize = 20;
/// Values that are looked at below one field, aliases followed.
const MAX_VALUES: usize = 100_000;

/// The range of the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrontMatterRange {
    /// The text does not begin with `---`.
    None,
    /// Front matter that begins, but that no line closes.
    Unclosed,
    /// The lines between, and where the body begins.
    Between { yaml: Range<usize>, body: usize },
}

/// Finds the front matter of a text, which may begin with a byte order mark; lines may end in CRLF.
pub fn find(text: &str) -> FrontMatterRange {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let Some(first) = text[start..].split_inclusive('\n').next() else { return FrontMatterRange::None };
    if first.trim_end() != "---" {
        return FrontMatterRange::None;
    }
    let yaml = start + first.len();
    let mut at = yaml;
    for line in text[yaml..].split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return FrontMatterRange::Between { yaml: yaml..at, body: at + line.len() };
        }
        at += line.len();
    }
    FrontMatterRange::Unclosed
}

/// The text below the front matter, and the number of its first line.
pub fn body(text: &str) -> (&str, u32) {
    match find(text) {
        FrontMatterRange::Between { body, .. } => (&text[body..], line_at(text, body)),
        _ => (text, 1),
    }
}

/// One value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub value: Value,
    /// 1-based, in the whole text.
    pub line: u32,
    /// In bytes of the whole text. A block's range may reach over blank lines and comments behind it.
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The text, and whether it was plain: only plain words can mean null.
    Scalar {
        text: String,
        plain: bool,
    },
    List {
        items: Vec<Node>,
        /// In brackets.
        flow: bool,
    },
    Map {
        entries: Vec<(Node, Node)>,
        flow: bool,
    },
    /// By index in [`FrontMatter::anchors`].
    Alias(usize),
}

impl Node {
    /// A text that is not null or an empty plain scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, plain } if !(*plain && is_null(text)) => Some(text),
            _ => None,
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// The fields of a front matter, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    pub fields: Vec<(Node, Node)>,
    names: HashSet<String>,
    /// Names of fields on lines that are not YAML.
    broken: HashSet<String>,
    /// The targets of aliases, by the parser's own numbers.
    anchors: Vec<Option<Node>>,
    pub problems: Vec<Problem>,
}

impl FrontMatter {
    /// Reads the lines `yaml` of `text`. Never fails: what cannot be read is among the problems.
    pub fn read(text: &str, yaml: Range<usize>) -> Self {
        let mut read = Self::default();
        if yaml.len() > MAX_BYTES {
            read.report(1, format!("the front matter is above {} KB and is not read", MAX_BYTES >> 10));
            return read;
        }
        let first_line = line_at(text, yaml.start);
        let Err(fault) = read.parse(text, yaml.clone(), first_line) else { return read };
        // One field that is not YAML must not hide the others: each is read separately.
        read = Self::default();
        for (part, line) in top_level(text, yaml, first_line) {
            let Err(fault) = read.parse(text, part.clone(), line) else { continue };
            read.report(fault.line, fault.reason);
            let field = as_written(text, part, line);
            read.broken.extend(field.iter().filter_map(|(name, _)| name.text()).map(str::to_owned));
            read.add(field.into_iter().collect());
        }
        if read.problems.is_empty() {
            read.report(fault.line, fault.reason);
        }
        read
    }

    /// Whether a field was taken word by word from a line that is not YAML.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// The field of that name: as it is written, else in any case.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.get_as_written(self.name_as_written(name)?)
    }

    /// The name of a field as the front matter writes it.
    pub fn name_as_written(&self, name: &str) -> Option<&str> {
        let mut names = self.fields.iter().filter_map(|(key, _)| key.text());
        names.clone().find(|written| *written == name).or_else(|| names.find(|other| other.eq_ignore_ascii_case(name)))
    }

    /// The field of exactly that name; of several, the first.
    pub fn get_as_written(&self, name: &str) -> Option<&Node> {
        self.fields.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| self.resolve_alias(value))
    }

    /// The target of an alias; any other value itself.
    pub fn resolve_alias<'f>(&'f self, node: &'f Node) -> &'f Node {
        match node.value {
            // An anchor on an alias is not YAML, so one step is enough.
            Value::Alias(id) => self.anchors.get(id).and_then(Option::as_ref).unwrap_or(node),
            _ => node,
        }
    }

    /// Every text in a value: itself, or those in its list, however nested. `false` when there are too many to be
    /// intended.
    pub fn each_text<'f>(&'f self, node: &'f Node, mut visit: impl FnMut(&'f Node, &'f str)) -> bool {
        self.each_node(node, |node| {
            if let Some(text) = self.resolve_alias(node).text() {
                visit(node, text);
            }
        })
    }

    /// Every value that is not a list: itself, or those in its list. `false` when there are too many to be intended.
    pub fn each_node<'f>(&'f self, node: &'f Node, mut visit: impl FnMut(&'f Node)) -> bool {
        let mut open = vec![node];
        let mut seen = 0;
        while let Some(node) = open.pop() {
            seen += 1;
            match &self.resolve_alias(node).value {
                Value::List { items, .. } => {
                    if seen + open.len() + items.len() > MAX_VALUES {
                        return false;
                    }
                    open.extend(items.iter().rev());
                }
                _ => visit(node),
            }
        }
        true
    }

    pub(super) fn report(&mut self, line: u32, reason: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { line: Some(line), reason });
        }
    }

    /// Adds the fields of a mapping.
    fn parse(&mut self, text: &str, yaml: Range<usize>, first_line: u32) -> Result<(), Fault> {
        let mut positions = YamlPositions { text: &text[yaml.clone()], base: yaml.start, first_line, last: (0, 0) };
        let mut parser = Parser::new_from_str(&text[yaml]);
        let mut open: Vec<OpenCollection> = Vec::new();
        // Numbers of another piece must not be taken for ours.
        let base = self.anchors.len();
        let mut anchors = vec![None];
        let mut root = None;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| Fault {
                line: positions.line_of(error.marker().line()),
                reason: format!("the front matter is not YAML: {}", error.info()),
            })?;
            let done = match event {
                Event::Alias(id) => positions.node(Value::Alias(base + id), span, None),
                Event::Scalar(text, style, anchor, _) => {
                    let plain = style == ScalarStyle::Plain;
                    positions.node(Value::Scalar { text: text.into_owned(), plain }, span, Some(anchor))
                }
                Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                    if open.len() >= MAX_DEPTH {
                        let line = positions.line_of(span.start.line());
                        return Err(Fault { line, reason: "the front matter is nested too deeply".to_owned() });
                    }
                    let is_map = matches!(event, Event::MappingStart(..));
                    open.push(OpenCollection {
                        is_map,
                        anchor,
                        span,
                        values: Vec::new(),
                        start: positions.byte(span.start.index()),
                    });
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let Some(closed) = open.pop() else { continue };
                    closed.close(&mut positions, span)
                }
                _ => continue,
            };
            let (node, anchor) = done;
            if let Some(anchor) = anchor.filter(|anchor| *anchor > 0) {
                if anchors.len() <= anchor {
                    anchors.resize(anchor + 1, None);
                }
                anchors[anchor] = Some(node.clone());
            }
            match open.last_mut() {
                Some(around) => around.values.push(node),
                None => root = root.or(Some(node)),
            }
        }
        match root {
            Some(Node { value: Value::Map { entries, .. }, .. }) => {
                self.anchors.extend(anchors);
                self.add(entries);
                Ok(())
            }
            Some(node) if node.text().is_some() => {
                Err(Fault { line: node.line, reason: "the front matter is not a list of fields".to_owned() })
            }
            Some(node @ Node { value: Value::List { .. }, .. }) => {
                Err(Fault { line: node.line, reason: "the front matter is not a list of fields".to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn add(&mut self, entries: Vec<(Node, Node)>) {
        for (key, value) in entries {
            match key.text() {
                Some(name) if self.names.insert(name.to_owned()) => self.fields.push((key, value)),
                Some(name) => {
                    let shown: String = crate::model::printable(name).chars().take(60).collect();
                    self.report(key.line, format!("the field `{shown}` occurs twice; the first counts"));
                }
                None => self.report(key.line, "a field has no name".to_owned()),
            }
        }
    }
}

/// Why a piece of YAML could not be read.
struct Fault {
    line: u32,
    reason: String,
}

/// A collection that is being read.
struct OpenCollection {
    is_map: bool,
    anchor: usize,
    span: Span,
    start: usize,
    /// Keys and values in turn, or items.
    values: Vec<Node>,
}

impl OpenCollection {
    fn close(self, positions: &mut YamlPositions, end: Span) -> (Node, Option<usize>) {
        // Only brackets have a width.
        let flow = !end.is_empty();
        let value = if self.is_map {
            let mut entries = Vec::with_capacity(self.values.len() / 2);
            let mut values = self.values.into_iter();
            while let (Some(key), Some(value)) = (values.next(), values.next()) {
                entries.push((key, value));
            }
            Value::Map { entries, flow }
        } else {
            Value::List { items: self.values, flow }
        };
        let range = self.start..positions.byte(end.end.index()).max(self.start);
        (Node { value, line: positions.line_of(self.span.start.line()), range }, Some(self.anchor))
    }
}

/// Converts the parser's positions, which count characters, to bytes and lines of the whole text.
struct YamlPositions<'t> {
    text: &'t str,
    base: usize,
    first_line: u32,
    /// A character and its byte: queries come nearly in order.
    last: (usize, usize),
}

impl YamlPositions<'_> {
    /// From the parser's 1-based line.
    fn line_of(&self, line: usize) -> u32 {
        self.first_line.saturating_add(u32::try_from(line).unwrap_or(u32::MAX).saturating_sub(1))
    }

    fn byte(&mut self, character: usize) -> usize {
        let (known, at) = self.last;
        let found = if character >= known {
            let mut rest = self.text[at..].char_indices().skip(character - known);
            rest.next().map_or(self.text.len(), |(more, _)| at + more)
        } else {
            let mut back = self.text[..at].char_indices().rev().skip(known - character - 1);
            back.next().map_or(0, |(found, _)| found)
        };
        self.last = (character, found);
        self.base + found
    }

    fn node(&mut self, value: Value, span: Span, anchor: Option<usize>) -> (Node, Option<usize>) {
        let start = self.byte(span.start.index());
        let end = self.byte(span.end.index()).max(start);
        (Node { value, line: self.line_of(span.start.line()), range: start..end }, anchor)
    }
}

fn line_at(text: &str, at: usize) -> u32 {
    let before = memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count();
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

/// The pieces that begin with a field's name at the start of a line, each with the number of that line.
fn top_level(text: &str, yaml: Range<usize>, first_line: u32) -> Vec<(Range<usize>, u32)> {
    let mut parts: Vec<(Range<usize>, u32)> = Vec::new();
    let mut at = yaml.start;
    for (line, number) in text[yaml].split_inclusive('\n').zip(first_line..) {
        let begins = line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\''));
        match parts.last_mut() {
            Some((part, _)) if !begins => part.end = at + line.len(),
            _ => parts.push((at..at + line.len(), number)),
        }
        at += line.len();
    }
    parts
}

/// `name: anything` on one line, taken word by word: a title with a colon in it, tags with their `#`.
fn as_written(text: &str, part: Range<usize>, number: u32) -> Option<(Node, Node)> {
    let line = text[part.clone()].trim_end();
    let (name, rest) = line.split_once(':').filter(|_| !line.contains('\n'))?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let value_at = part.start + name.len() + 1 + (rest.len() - rest.trim_start().len());
    let node = |text: &str, start: usize| Node {
        value: Value::Scalar { text: text.to_owned(), plain: true },
        line: number,
        range: start..start + text.len(),
    };
    let value = rest.trim();
    // A list that is not YAML because of what is in it, such as `#`.
    let items = value.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).map(|inner| {
        let items = inner.split(',').filter(|item| !item.trim().is_empty());
        items.map(|item| node(item.trim(), item.trim_start().as_ptr().addr() - text.as_ptr().addr())).collect()
    });
    let value = match items {
        Some(items) => {
            let range = value_at..value_at + value.len();
            Node { value: Value::List { items, flow: true }, line: number, range }
        }
        None => node(value, value_at),
    };
    (is_name && rest.starts_with(' ')).then(|| (node(name, part.start), value))
}

#[cfg(test)]
mod tests;
