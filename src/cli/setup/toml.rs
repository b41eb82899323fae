//! Changes one table of a TOML text: every other byte stays.
//!
//! Owns where the text is changed; `toml` finds the table and its values. A table in braces is left to people: the caller
//! checks the result.

use std::cmp::Reverse;
use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::clients::ordered;

/// Parses TOML into a JSON value.
pub(super) fn value(text: &str) -> Option<Value> {
    let table: toml::Table = text.trim_start_matches('\u{feff}').parse().ok()?;
    serde_json::to_value(table).ok()
}

/// The text with the fields of `entry` in the table `servers.name`, which is made at the end when there is none.
pub(super) fn set(text: &str, servers: &str, name: &str, entry: &Value) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Ok(document) = DeTable::parse(text) else { return text.to_owned() };
    let (mut changed, mut missing) = (text.to_owned(), String::new());
    let table = find(document.get_ref(), servers, name);
    let mut replaced = Vec::new();
    for (field, value) in ordered(entry) {
        match table.and_then(|table| table.get_ref().get(field)) {
            Some(previous) => replaced.push((previous.span(), value.to_string())),
            None => missing.push_str(&format!("{field} = {value}{end}")),
        }
    }
    let Some(table) = table else {
        if !text.is_empty() {
            changed.push_str(if text.ends_with('\n') { "" } else { end });
            changed.push_str(end);
        }
        return format!("{changed}[{servers}.{name}]{end}{missing}");
    };
    let below_header = line_end(text, table.span().end);
    if !text[..below_header].ends_with('\n') {
        missing.insert_str(0, end);
    }
    replaced.push((below_header..below_header, missing));
    replaced.sort_by_key(|(range, _)| Reverse(range.start));
    replaced.into_iter().for_each(|(range, by)| changed.replace_range(range, &by));
    changed
}

/// The text without the table `servers.name` and those in it.
pub(super) fn remove(text: &str, servers: &str, name: &str) -> String {
    let mut changed = text.to_owned();
    let Ok(document) = DeTable::parse(text) else { return changed };
    let Some(table) = find(document.get_ref(), servers, name) else { return changed };
    let mut spans = Vec::new();
    collect_spans(table, &mut spans);
    spans.sort_by_key(|span| Reverse(span.start));
    let is_header = |line: &str| line.trim_start().starts_with('[');
    let sections =
        spans.chunk_by(|later, earlier| !text[earlier.end.min(later.start)..later.start].lines().any(is_header));
    for section in sections {
        let end = line_end(text, section.iter().map(|span| span.end).max().unwrap_or_default());
        let start = section.last().map_or(end, |first| text[..first.start].rfind('\n').map_or(0, |before| before + 1));
        let is_blank_below = text[end..].lines().next().is_none_or(|line| line.trim().is_empty());
        // The blank line that set it apart goes with it.
        let kept = text[..start].trim_end_matches(['\r', '\n']).len();
        changed.replace_range(if is_blank_below { line_end(text, kept).min(start) } else { start }..end, "");
    }
    changed
}

/// The table `servers.name`, under a header or in braces.
fn find<'d, 't>(document: &'d DeTable<'t>, servers: &str, name: &str) -> Option<&'d Spanned<DeValue<'t>>> {
    let servers = document.get(servers)?.get_ref().as_table()?;
    servers.get(name).filter(|table| table.get_ref().is_table())
}

/// Where a table and all in it are written: headers and values.
fn collect_spans(value: &Spanned<DeValue<'_>>, spans: &mut Vec<Range<usize>>) {
    spans.push(value.span());
    match value.get_ref() {
        DeValue::Table(fields) => fields.values().for_each(|field| collect_spans(field, spans)),
        DeValue::Array(items) => items.iter().for_each(|item| collect_spans(item, spans)),
        _ => {}
    }
}

/// Where the line ends that `at` is in, with its line break.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::random_texts::Random;

    #[test]
    fn broken_files_are_changed() {
        let texts = [
            "# é\n[mcp_servers.ixmcp]\ncommand = \"a\"\nargs = [\n  'b',\n]\n\n[other]\nx = 1\n",
            "[mcp_servers.'ixmcp']\r\ncommand=\"ü\"\r\n[mcp_servers.ixmcp.env]\r\n",
        ];
        let pieces = ["é", "\"", "'", "[", "]", "=", "#", "\n", "\r", " ", "[mcp_servers.ixmcp]", "\n\n", "command"];
        let mut random = Random(5);
        for _ in 0..10_000 {
            let text = random.spliced(&texts, &pieces, 6);
            let entry = json!({ "command": "x", "args": ["mcp"] });
            let changed = set(&text, "mcp_servers", "ixmcp", &entry);
            assert!(!remove(&changed, "mcp_servers", "ixmcp").contains("command = \"x\""), "{text:?}");
        }
    }
}
