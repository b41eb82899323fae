//! JSON with comments, changed in one place: every other byte stays.
//!
//! Owns finding members in the text. The caller checks the value of the result.

use std::ops::Range;

use serde_json::Value;

use super::clients::ordered;
use crate::error::{Error, Result};

/// More levels than settings have.
const MAX_DEPTH: usize = 100;

/// What a text says, comments and trailing commas left out.
pub(super) fn value(text: &str) -> Option<Value> {
    let mut plain = String::with_capacity(text.len());
    let mut reader = Reader { text, at: start(text) };
    while reader.at < text.len() {
        let from = reader.at;
        reader.skip_blank();
        if reader.at > from {
            plain.push(' ');
        } else if text[from..].starts_with('"') {
            reader.string()?;
            plain.push_str(&text[from..reader.at]);
        } else {
            let c = text[from..].chars().next()?;
            // A comma before a bracket that closes.
            if matches!(c, '}' | ']') && plain.trim_end().ends_with(',') {
                plain.truncate(plain.trim_end().len() - 1);
            }
            plain.push(c);
            reader.at += c.len_utf8();
        }
    }
    if plain.trim().is_empty() {
        Some(Value::Object(serde_json::Map::new()))
    } else {
        serde_json::from_str(&plain).ok()
    }
}

/// The text with `value` at `path`: members that are missing are made, at the end of their object.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String> {
    let mut text = text.to_owned();
    if text[start(&text)..].trim().is_empty() {
        text.push_str("{}\n");
    }
    let step = indent(&text);
    let root = root(&text)?;
    let mut object = root;
    for (depth, name) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        match object.member(name) {
            None => {
                let wrapped = rest.iter().rev().fold(value.clone(), |inner, name| serde_json::json!({ *name: inner }));
                return Ok(insert(&text, &object, name, &wrapped, &step));
            }
            Some(member) if rest.is_empty() => {
                let written = shown(value, &margin(&text, member.key.start), &step);
                return Ok(replaced(&text, member.value.clone(), &written));
            }
            Some(member) => object = object_at(&text, member.value.start, name)?,
        }
    }
    Ok(text)
}

/// The text without the member at `path`; as it is when there is none.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String> {
    let mut object = match root(text) {
        Ok(object) => object,
        Err(_) if text.trim().is_empty() => return Ok(text.to_owned()),
        Err(error) => return Err(error),
    };
    for (depth, name) in path.iter().enumerate() {
        let Some(at) = object.members.iter().rposition(|member| member.name == *name) else {
            return Ok(text.to_owned());
        };
        if depth + 1 < path.len() {
            object = object_at(text, object.members[at].value.start, name)?;
            continue;
        }
        let member = &object.members[at];
        let mut end = member.value.end;
        let mut reader = Reader { text, at: end };
        reader.skip_blank();
        let has_comma = text[reader.at..].starts_with(',');
        if has_comma {
            end = reader.at + 1;
        }
        let mut from = member.key.start;
        let before = text[..from].trim_end_matches([' ', '\t']);
        let after = text[end..].trim_start_matches([' ', '\t']);
        // A line of its own goes whole.
        if before.ends_with('\n') && (after.is_empty() || after.starts_with(['\n', '\r'])) {
            end = text.len() - after.len();
            from = before.strip_suffix('\n').map_or(before.len(), |line| line.strip_suffix('\r').unwrap_or(line).len());
        }
        let mut changed = replaced(text, from..end, "");
        // What was before it is the last now.
        if !has_comma && let Some(last) = at.checked_sub(1).map(|before| &object.members[before]) {
            let mut reader = Reader { text, at: last.value.end };
            reader.skip_blank();
            if text[reader.at..].starts_with(',') && reader.at < from {
                changed.remove(reader.at);
            }
        }
        return Ok(changed);
    }
    Ok(text.to_owned())
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..range.start], &text[range.end..])
}

/// Behind a byte order mark.
fn start(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// How the text indents: the first member that has a line of its own shows it.
fn indent(text: &str) -> String {
    let mut lines = text.lines().skip(1).filter(|line| line.trim_start().starts_with('"'));
    let first = lines.next().map(|line| &line[..line.len() - line.trim_start().len()]);
    first.filter(|first| !first.is_empty()).unwrap_or("  ").to_owned()
}

/// The indentation of the line.
fn margin(text: &str, at: usize) -> String {
    let line = &text[text[..at].rfind('\n').map_or(start(text), |end| end + 1)..at];
    line[..line.len() - line.trim_start().len()].to_owned()
}

fn insert(text: &str, object: &Object, name: &str, value: &Value, step: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let outer = margin(text, object.range.start);
    let inner = match object
        .members
        .iter()
        .find(|member| text[..member.key.start].trim_end_matches([' ', '\t']).ends_with('\n'))
    {
        Some(member) => margin(text, member.key.start),
        None => format!("{outer}{step}"),
    };
    let member = format!("{inner}{}: {}", Value::from(name), shown(value, &inner, step)).replace('\n', end);
    let close = object.range.end - 1;
    let body = text[..close].trim_end();
    let mut changed = text[..object.range.start].to_owned();
    let before = &text[object.range.start..body.len()];
    match object.members.last() {
        Some(last) => {
            let mut reader = Reader { text, at: last.value.end };
            reader.skip_blank();
            let has_comma = text[reader.at..].starts_with(',');
            let place = last.value.end - object.range.start;
            changed.push_str(&before[..place]);
            if !has_comma {
                changed.push(',');
            }
            changed.push_str(&before[place..]);
            changed.push_str(end);
            changed.push_str(&member);
            if has_comma {
                changed.push(',');
            }
        }
        None => {
            changed.push_str(before);
            changed.push_str(end);
            changed.push_str(&member);
        }
    }
    changed.push_str(end);
    changed.push_str(&outer);
    changed.push_str(&text[close..]);
    changed
}

/// A value over several lines, lists of words on one.
fn shown(value: &Value, margin: &str, step: &str) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let inner = format!("{margin}{step}");
            let members = ordered(value)
                .into_iter()
                .map(|(name, value)| format!("{inner}{}: {}", Value::from(name), shown(value, &inner, step)));
            format!("{{\n{}\n{margin}}}", members.collect::<Vec<_>>().join(",\n"))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(item, margin, step)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

struct Object {
    /// From bracket to bracket.
    range: Range<usize>,
    members: Vec<Member>,
}

struct Member {
    name: String,
    key: Range<usize>,
    value: Range<usize>,
}

impl Object {
    /// Of several with one name the last is what readers take.
    fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().rev().find(|member| member.name == name)
    }
}

fn no_json() -> Error {
    Error::invalid_argument("the file is not JSON").hint("Fix it, or add the entry by hand: see --print.")
}

fn root(text: &str) -> Result<Object> {
    let mut reader = Reader { text, at: start(text) };
    reader.skip_blank();
    reader.object(0).ok_or_else(no_json)
}

fn object_at(text: &str, at: usize, name: &str) -> Result<Object> {
    if !text[at..].starts_with('{') {
        return Err(Error::invalid_argument(format!("`{name}` is not an object there"))
            .hint("Fix it, or add the entry by hand: see --print."));
    }
    Reader { text, at }.object(0).ok_or_else(no_json)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// White space and comments.
    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let comment = match &rest[blank..] {
                words if words.starts_with("//") => words.find('\n').unwrap_or(words.len()),
                words if words.starts_with("/*") => words.find("*/").map_or(words.len(), |end| end + 2),
                _ => 0,
            };
            self.at += blank + comment;
            if comment == 0 {
                return;
            }
        }
    }

    fn take(&mut self, sign: char) -> Option<()> {
        self.skip_blank();
        let is_there = self.rest().starts_with(sign);
        self.at += if is_there { sign.len_utf8() } else { 0 };
        is_there.then_some(())
    }

    fn string(&mut self) -> Option<Range<usize>> {
        let from = self.at;
        if !self.rest().starts_with('"') {
            return None;
        }
        let bytes = self.text.as_bytes();
        let mut at = from + 1;
        while *bytes.get(at)? != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.at = at + 1;
        Some(from..self.at)
    }

    fn value(&mut self, depth: usize) -> Option<Range<usize>> {
        self.skip_blank();
        let from = self.at;
        match self.rest().chars().next()? {
            '{' => drop(self.object(depth + 1)?),
            '[' => self.list(depth + 1)?,
            '"' => {
                self.string()?;
            }
            _ => {
                let rest = self.rest();
                let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '+' | '.'));
                self.at += word.unwrap_or(rest.len());
            }
        }
        (self.at > from).then_some(from..self.at)
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.take('[')?;
        loop {
            if self.take(']').is_some() {
                return Some(());
            }
            self.value(depth)?;
            if self.take(',').is_none() {
                return self.take(']');
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Object> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_blank();
        let from = self.at;
        self.take('{')?;
        let mut members = Vec::new();
        loop {
            if self.take('}').is_some() {
                return Some(Object { range: from..self.at, members });
            }
            let key = self.string()?;
            let name = serde_json::from_str(&self.text[key.clone()]).ok()?;
            self.take(':')?;
            let value = self.value(depth)?;
            members.push(Member { name, key, value });
            if self.take(',').is_none() {
                self.take('}')?;
                return Some(Object { range: from..self.at, members });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::query::measure::Random;

    #[test]
    fn broken_files_are_changed_or_refused() {
        let texts = [
            "{\n  // é\n  \"mcpServers\": {\n    \"ixmcp\": { \"command\": \"a\\é\", \"args\": [1, 2,], },\n    \"b\": {}\n  }\n}\n",
            "\u{feff}{\"mcpServers\":{\"ixmcp\":null /* ü */ ,\"c\":[]}}",
            "{\r\n\t\"größe\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"ixmcp\": {}\r\n\t},\r\n}\r\n",
        ];
        let pieces =
            ["é", "\"", "\\", "{", "}", "[", "]", ",", ":", "//", "/*", "*/", "\n", "\r", " ", "\u{feff}", "\u{2028}"];
        let mut random = Random(3);
        for _ in 0..20_000 {
            let text = random.spliced(&texts, &pieces, 6);
            let path: &[&str] = [&["mcpServers", "ixmcp"][..], &["mcpServers"], &["ixmcp", "x"]][random.below(3)];
            let _refused = (value(&text), set(&text, path, &json!({ "a": [1] })), remove(&text, path));
        }
    }
}
