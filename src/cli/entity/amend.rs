//! Changes one field of a file's front matter, and no other byte. Pure: text in, text out.
//!
//! Owns how a value is written next to an existing one: in the style of the list, with the existing quotes and line ends.
//! The result is parsed again. If anything else would mean something different, nothing is changed, and the user is asked
//! to use an editor.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::extract::front_matter::{self, FrontMatter, FrontMatterRange, Node, Value};
use crate::model::printable;

/// One change of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The field is only this text.
    Set(String),
    /// The field is only this value: numbers, dates and truth values are written as such.
    SetValue(String),
    /// The list has this item too; one value becomes a list of two.
    Add(String),
    /// The list, or the one value, is without this item.
    Remove(String),
}

/// The changed text; `None` where all is as asked for already.
pub fn amend(text: &str, field: &str, change: &Change) -> Result<Option<String>> {
    let FrontMatterRange::Between { yaml, .. } = front_matter::find(text) else {
        return Err(Error::invalid_argument("the front matter has no end").hint("Put it between two lines of `---`."));
    };
    let front = FrontMatter::read(text, yaml.clone());
    let file = File { text, yaml, front: &front };
    let Some((at, written)) = file.edit(field, change)? else { return Ok(None) };
    let mut changed = String::with_capacity(text.len() + written.len());
    changed.push_str(&text[..at.start]);
    changed.push_str(&written);
    changed.push_str(&text[at.end..]);
    if is_as_asked(&front, &changed, field, change) { Ok(Some(changed)) } else { Err(by_hand(field)) }
}

fn by_hand(field: &str) -> Error {
    Error::invalid_argument(format!(
        "the field `{}` is written in a way that cannot be changed safely",
        printable(field)
    ))
    .hint("Change it in an editor: ixmcp entity edit ID.")
}

struct File<'t> {
    text: &'t str,
    yaml: Range<usize>,
    front: &'t FrontMatter,
}

/// The bytes to replace, and the new text.
type Edit = Option<(Range<usize>, String)>;

impl File<'_> {
    fn edit(&self, field: &str, change: &Change) -> Result<Edit> {
        let entry = self.front.fields.iter().find(|(key, _)| key.text() == Some(field));
        let Some((key, value)) = entry else {
            return Ok(match change {
                Change::Set(to) => Some(self.new_line(field, &scalar(to, false))),
                Change::SetValue(to) => Some(self.new_line(field, &value_of(to))),
                Change::Add(item) => Some(self.new_line(field, &format!("[{}]", scalar(item, true)))),
                Change::Remove(_) => None,
            });
        };
        match change {
            Change::Set(to) => self.set(field, key, value, (to, &scalar(to, false))),
            Change::SetValue(to) => self.set(field, key, value, (to, &value_of(to))),
            Change::Add(item) => self.add(field, key, value, item),
            Change::Remove(item) => self.remove(field, key, value, item),
        }
    }

    /// The line end that the front matter is written with.
    fn line_end(&self) -> &'static str {
        let first = &self.text[..self.yaml.start];
        if first.ends_with("\r\n") { "\r\n" } else { "\n" }
    }

    /// A new field behind all others.
    fn new_line(&self, field: &str, value: &str) -> (Range<usize>, String) {
        (self.yaml.end..self.yaml.end, format!("{}: {value}{}", scalar(field, true), self.line_end()))
    }

    /// Behind the colon of a field that has no value.
    fn behind_colon(&self, key: &Node) -> Option<usize> {
        let colon = self.text[key.range.end..self.yaml.end].find(':')?;
        Some(key.range.end + colon + 1)
    }

    fn set(&self, field: &str, key: &Node, value: &Node, (to, written): (&str, &str)) -> Result<Edit> {
        let Value::Scalar { text, .. } = &value.value else { return Err(by_hand(field)) };
        if text == to && value.text().is_some() {
            return Ok(None);
        }
        if value.range.is_empty() {
            let at = self.behind_colon(key).ok_or_else(|| by_hand(field))?;
            return Ok(Some((at..at, format!(" {written}"))));
        }
        let old = &self.text[value.range.clone()];
        let start = self.behind_colon(key).ok_or_else(|| by_hand(field))?;
        let lead = &self.text[start..value.range.start];
        if lead.trim_start().starts_with(['|', '>']) {
            // A block's indicator precedes its text, and is removed with it.
            let end = value.range.start + old.trim_end().len();
            return Ok(Some((start..end, format!(" {written}"))));
        }
        let written = match old.chars().next() {
            Some('"') => double_quoted(to),
            Some('\'') if !to.contains(['\n', '\r']) => format!("'{}'", to.replace('\'', "''")),
            _ => written.to_owned(),
        };
        Ok(Some((value.range.clone(), written)))
    }

    fn add(&self, field: &str, key: &Node, value: &Node, item: &str) -> Result<Edit> {
        if self.has(value, item) {
            return Ok(None);
        }
        match &value.value {
            Value::Scalar { .. } if value.text().is_none() => {
                if value.range.is_empty() {
                    let at = self.behind_colon(key).ok_or_else(|| by_hand(field))?;
                    return Ok(Some((at..at, format!(" [{}]", scalar(item, true)))));
                }
                Ok(Some((value.range.clone(), format!("[{}]", scalar(item, true)))))
            }
            Value::Scalar { text, plain } => {
                let old = &self.text[value.range.clone()];
                let is_block = !plain && !old.starts_with(['"', '\'']);
                if is_block || old.contains('\n') {
                    return Err(by_hand(field));
                }
                if is_comma_list(field, text) {
                    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                    let all: Vec<String> = parts.chain([item]).map(|part| scalar(part, true)).collect();
                    return Ok(Some((value.range.clone(), format!("[{}]", all.join(", ")))));
                }
                let kept = if *plain { scalar(text, true) } else { old.to_owned() };
                Ok(Some((value.range.clone(), format!("[{kept}, {}]", scalar(item, true)))))
            }
            Value::List { items, flow: true } => {
                let like = items.last().is_some_and(|last| matches!(last.value, Value::Map { .. }));
                let written = if like { format!("{{id: {}}}", scalar(item, true)) } else { scalar(item, true) };
                Ok(Some(match items.last() {
                    Some(last) => (last.range.end..last.range.end, format!(", {written}")),
                    None => (value.range.start + 1..value.range.start + 1, written),
                }))
            }
            Value::List { items, flow: false } => {
                let Some(last) = items.last() else { return Err(by_hand(field)) };
                let end = self.line_end_after(content_end(self.text, last));
                let lead = self.dash_before(last).ok_or_else(|| by_hand(field))?;
                let is_map = matches!(last.value, Value::Map { flow: false, .. });
                let written = if is_map { format!("id: {}", scalar(item, false)) } else { scalar(item, false) };
                Ok(Some((end..end, format!("{lead}{written}{}", self.line_end()))))
            }
            _ => Err(by_hand(field)),
        }
    }

    fn remove(&self, field: &str, key: &Node, value: &Node, item: &str) -> Result<Edit> {
        if !self.has(value, item) {
            return Ok(None);
        }
        match &value.value {
            Value::Scalar { text, plain } => {
                let old = &self.text[value.range.clone()];
                if old.contains('\n') || (!plain && !old.starts_with(['"', '\''])) {
                    return Err(by_hand(field));
                }
                let parts = text.split(',').map(str::trim).filter(|part| *part != item && !part.is_empty());
                let kept: Vec<String> = if is_comma_list(field, text) {
                    parts.map(|part| scalar(part, true)).collect()
                } else {
                    Vec::new()
                };
                Ok(Some((value.range.clone(), format!("[{}]", kept.join(", ")))))
            }
            Value::List { items, flow } => {
                let at = items.iter().position(|node| self.is_item(node, item)).ok_or_else(|| by_hand(field))?;
                let node = &items[at];
                if *flow {
                    let range = match (at.checked_sub(1), items.get(at + 1)) {
                        (_, Some(next)) => node.range.start..next.range.start,
                        (Some(before), None) => items[before].range.end..node.range.end,
                        (None, None) => {
                            let behind = &self.text[node.range.end..value.range.end];
                            let comma = behind.trim_start().starts_with(',');
                            let more = if comma { behind.find(',').map_or(0, |found| found + 1) } else { 0 };
                            node.range.start..node.range.end + more
                        }
                    };
                    return Ok(Some((range, String::new())));
                }
                if items.len() == 1 {
                    let colon = self.behind_colon(key).ok_or_else(|| by_hand(field))?;
                    return Ok(Some((colon..content_end(self.text, node), " []".to_owned())));
                }
                let start = self.text[..node.range.start].rfind('\n').map_or(0, |newline| newline + 1);
                let dash = &self.text[start..node.range.start];
                // The item's text may begin on the line below its dash.
                let start = if dash.contains('-') {
                    start
                } else {
                    let dash = self.text[..start].rfind('-').ok_or_else(|| by_hand(field))?;
                    self.text[..dash].rfind('\n').map_or(0, |newline| newline + 1)
                };
                Ok(Some((start..self.line_end_after(content_end(self.text, node)), String::new())))
            }
            _ => Err(by_hand(field)),
        }
    }

    fn has(&self, value: &Node, item: &str) -> bool {
        match &value.value {
            Value::List { items, .. } => items.iter().any(|node| self.is_item(node, item)),
            Value::Scalar { text, .. } => {
                value.text().is_some() && (text.trim() == item || text.split(',').any(|part| part.trim() == item))
            }
            _ => self.is_item(value, item),
        }
    }

    /// The item itself, or a map that has it for an id.
    fn is_item(&self, node: &Node, item: &str) -> bool {
        match &self.front.resolve_alias(node).value {
            Value::Scalar { text, .. } => text.trim().trim_start_matches('#') == item || text.trim() == item,
            Value::Map { entries, .. } => {
                entries.iter().any(|(key, value)| key.text() == Some("id") && value.text().map(str::trim) == Some(item))
            }
            _ => false,
        }
    }

    /// Returns the indent and dash on the line before an item of a block list.
    fn dash_before(&self, item: &Node) -> Option<&str> {
        let start = self.text[..item.range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let lead = &self.text[start..item.range.start];
        let dash = lead.find('-')?;
        (lead[..dash].trim().is_empty() && lead[dash + 1..].trim().is_empty()).then_some(lead)
    }

    /// The start of the line after the one that `at` is on.
    fn line_end_after(&self, at: usize) -> usize {
        self.text[at..self.yaml.end].find('\n').map_or(self.yaml.end, |newline| at + newline + 1)
    }
}

/// `tags: a, b` are two.
fn is_comma_list(field: &str, text: &str) -> bool {
    ["tags", "labels"].iter().any(|known| known.eq_ignore_ascii_case(field)) && text.contains(',')
}

/// Where a value's own words end: a block's range may reach over blank lines and comments behind it.
fn content_end(text: &str, node: &Node) -> usize {
    let mut node = node;
    loop {
        let inner = match &node.value {
            Value::List { items, flow: false } => items.last(),
            Value::Map { entries, flow: false } => {
                entries.last().map(|(key, value)| if value.range.is_empty() { key } else { value })
            }
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node.range.start + text[node.range.clone()].trim_end().len(),
        }
    }
}

/// A text as YAML has it: plain where that says the same, else in double quotes.
fn scalar(text: &str, in_brackets: bool) -> String {
    if is_plain(text, in_brackets) { text.to_owned() } else { double_quoted(text) }
}

/// A value of a field that may be anything: what is a number to others stays one.
fn value_of(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok() && !text.contains(['n', 'N', 'i', 'I']);
    let is_truth = matches!(text, "true" | "false");
    if is_number || is_truth { text.to_owned() } else { scalar(text, false) }
}

fn is_plain(text: &str, in_brackets: bool) -> bool {
    let first = text.chars().next();
    let is_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | ".inf" | ".nan" | "---" | "..."
    );
    let is_number = text.parse::<f64>().is_ok();
    let opens = first.is_some_and(|c| "-?:,[]{}#&*!|>'\"%@`".contains(c) || c.is_whitespace());
    let breaks = text.contains(": ") || text.contains(" #") || text.ends_with([':', ' ']);
    let in_flow = in_brackets && text.contains([',', '[', ']', '{', '}', ':']);
    let odd = text.chars().any(|c| c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}'));
    !(is_word || is_number || opens || breaks || in_flow || odd)
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether the new text says what was asked for, and everything else as before.
fn is_as_asked(before: &FrontMatter, changed: &str, field: &str, change: &Change) -> bool {
    let FrontMatterRange::Between { yaml, .. } = front_matter::find(changed) else { return false };
    let after = FrontMatter::read(changed, yaml);
    let words = |front: &FrontMatter, node: &Node| {
        let mut words = Vec::new();
        let resolved = front.resolve_alias(node);
        front.each_node(resolved, |node| words.push(shape(front, node)));
        words
    };
    let others = |front: &FrontMatter| -> Vec<(Option<String>, Vec<String>)> {
        let fields = front.fields.iter().filter(|(key, _)| key.text() != Some(field));
        fields.map(|(key, value)| (key.text().map(str::to_owned), words(front, value))).collect()
    };
    if before.problems.len() != after.problems.len() || others(before) != others(&after) {
        return false;
    }
    let (old, new) = (items(before, field), items(&after, field));
    match change {
        Change::Set(to) | Change::SetValue(to) => {
            after.get_as_written(field).is_some_and(|node| node.text().unwrap_or_default() == to)
        }
        Change::Add(item) => new == [&old[..], std::slice::from_ref(item)].concat(),
        Change::Remove(item) => new.iter().eq(old.iter().filter(|old| *old != item)),
    }
}

/// The items of a field of a file.
pub fn items_of(text: &str, field: &str) -> Vec<String> {
    let FrontMatterRange::Between { yaml, .. } = front_matter::find(text) else { return Vec::new() };
    items(&FrontMatter::read(text, yaml), field)
}

/// The items of a field, as they are meant.
fn items(front: &FrontMatter, field: &str) -> Vec<String> {
    let Some(value) = front.get_as_written(field) else { return Vec::new() };
    let mut items = Vec::new();
    front.each_node(value, |node| match &front.resolve_alias(node).value {
        Value::Scalar { text, .. } if std::ptr::eq(node, value) && is_comma_list(field, text) => {
            items.extend(text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()));
        }
        Value::Map { entries, .. } => {
            let id = entries.iter().find(|(key, _)| key.text() == Some("id"));
            items.extend(id.and_then(|(_, value)| value.text()).map(|id| id.trim().to_owned()));
        }
        _ => items.extend(front.resolve_alias(node).text().map(|text| text.trim().trim_start_matches('#').to_owned())),
    });
    items
}

/// A value in words, to compare with another reading of it.
fn shape(front: &FrontMatter, node: &Node) -> String {
    match &front.resolve_alias(node).value {
        Value::Scalar { text, .. } => text.clone(),
        Value::Map { entries, .. } => {
            let entries = entries.iter().map(|(key, value)| {
                let mut inner = Vec::new();
                front.each_node(value, |node| {
                    inner.push(front.resolve_alias(node).text().unwrap_or_default().to_owned());
                });
                format!("{}={}", key.text().unwrap_or_default(), inner.join(","))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(";"))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
