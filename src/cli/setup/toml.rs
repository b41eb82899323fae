//! Changes one table of a TOML text: every other byte stays.
//!
//! Owns finding the table by its header, as people and programs write it. A table that is written in another way is
//! left to them: the caller checks the result.

use serde_json::Value;

use super::clients::ordered;

/// Parses TOML into a JSON value.
pub(super) fn value(text: &str) -> Option<Value> {
    let table: toml::Table = text.trim_start_matches('\u{feff}').parse().ok()?;
    serde_json::to_value(table).ok()
}

/// The text with the fields of `entry` in the table `servers.name`, which is made at the end when there is none.
pub(super) fn set(text: &str, servers: &str, name: &str, entry: &Value) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let fields: Vec<(&str, String)> =
        ordered(entry).into_iter().map(|(field, value)| (field, format!("{field} = {value}"))).collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(header) = lines.iter().position(|line| is_header(line, servers, name, false)) else {
        let mut changed = text.to_owned();
        if !changed.is_empty() {
            if !changed.ends_with('\n') {
                changed.push_str(end);
            }
            changed.push_str(end);
        }
        changed.push_str(&format!("[{servers}.{name}]{end}"));
        fields.iter().for_each(|(_, line)| changed.push_str(&format!("{line}{end}")));
        return changed;
    };
    let last = section_end(&lines, header);
    let mut changed: String = lines[..=header].concat();
    if !changed.ends_with('\n') {
        changed.push_str(end);
    }
    fields.iter().for_each(|(_, line)| changed.push_str(&format!("{line}{end}")));
    let mut at = header + 1;
    while at < last {
        let is_ours = fields.iter().any(|(field, _)| {
            lines[at].trim_start().strip_prefix(*field).is_some_and(|rest| rest.trim_start().starts_with('='))
        });
        // A list may go over several lines.
        let mut open = 0;
        let from = at;
        loop {
            open += brackets(lines[at]);
            at += 1;
            if open <= 0 || at >= last {
                break;
            }
        }
        if !is_ours {
            changed.push_str(&lines[from..at].concat());
        }
    }
    changed.push_str(&lines[last..].concat());
    changed
}

/// The text without the table `servers.name` and those in it.
pub(super) fn remove(text: &str, servers: &str, name: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut changed = String::new();
    let mut at = 0;
    while at < lines.len() {
        if !is_header(lines[at], servers, name, true) {
            changed.push_str(lines[at]);
            at += 1;
            continue;
        }
        at = section_end(&lines, at);
        // The blank line that set it apart goes with it.
        if lines.get(at).is_none_or(|line| line.trim().is_empty()) {
            let kept = changed.trim_end_matches(['\r', '\n']).len();
            let end = changed[kept..].find('\n').map_or(changed.len(), |line_end| kept + line_end + 1);
            changed.truncate(end);
        }
    }
    changed
}

/// Where the lines of a table end: comments before the next header belong to that.
fn section_end(lines: &[&str], header: usize) -> usize {
    let next = lines[header + 1..].iter().position(|line| line.trim_start().starts_with('['));
    let mut end = next.map_or(lines.len(), |next| header + 1 + next);
    while end > header + 1 && (lines[end - 1].trim().is_empty() || lines[end - 1].trim_start().starts_with('#')) {
        end -= 1;
    }
    end
}

/// `[servers.name]`, blanks and quotes aside; with `or_below` also `[servers.name.more]`.
fn is_header(line: &str, servers: &str, name: &str, or_below: bool) -> bool {
    let line = line.trim();
    let Some((inner, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else { return false };
    let parts: Vec<&str> = inner.split('.').map(|part| part.trim().trim_matches(['"', '\''])).collect();
    match parts.as_slice() {
        [first, second] => *first == servers && *second == name,
        [first, second, ..] => or_below && *first == servers && *second == name,
        _ => false,
    }
}

/// How many more brackets a line opens than it closes, texts and comments aside.
fn brackets(line: &str) -> i32 {
    let (mut open, mut quote) = (0, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '#') => break,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => open += 1,
            (None, ']') => open -= 1,
            (Some(begun), c) if c == begun => quote = None,
            _ => {}
        }
    }
    open
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
