//! The columns of a `CREATE TABLE` that the grammar of SQL cannot read.
//!
//! Owns how a list of columns is split. `recover` decides which statements are read so.

use std::ops::Range;

/// First words of items that are not columns.
const CONSTRAINTS: [&str; 7] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "EXCLUDE", "LIKE"];

/// First words of indexes, if what they index follows. Otherwise they are names of columns.
const INDEXES: [&str; 5] = ["KEY", "INDEX", "FULLTEXT", "SPATIAL", "PERIOD"];

/// A column, with its item in the list.
pub(super) struct Column {
    pub(super) name: Range<usize>,
    pub(super) item: Range<usize>,
    pub(super) has_type: bool,
}

/// Whether `ALTER TABLE … ADD` adds something else than a column with this word.
pub(super) fn begins_constraint(word: &str) -> bool {
    let mut known = CONSTRAINTS.iter().chain(&INDEXES).chain(&["PARTITION"]);
    known.any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns the columns in the brackets that follow the name of a table, view or type. `None`: no list of columns follows.
pub(super) fn columns(text: &str, from: usize, kind: &str) -> Option<Vec<Column>> {
    let mut open = skip_blank(text, from);
    let is_module = kind == "table" && word_at(text, open).eq_ignore_ascii_case("USING");
    if is_module {
        open = skip_word(text, skip_word(text, open));
    } else if kind == "type" && word_at(text, open).eq_ignore_ascii_case("AS") {
        open = skip_word(text, open);
        if word_at(text, open).eq_ignore_ascii_case("TABLE") {
            open = skip_word(text, open);
        }
    }
    if kind == "index" || text.as_bytes().get(open) != Some(&b'(') {
        // Nothing in these is a column, however the grammar read it.
        return matches!(kind, "index" | "view").then(Vec::new);
    }
    let mut columns = Vec::new();
    let mut at = open + 1;
    loop {
        let start = skip_blank(text, at);
        let end = item_end(text, start)?;
        if let Some(name) = name_at(text, start) {
            let word = &text[name.clone()];
            let is_quoted = name.start > start;
            let next = skip_blank(text, name.end + usize::from(is_quoted));
            let has_type = match kind {
                "view" => true,
                _ if is_module => !text[next..].starts_with('='),
                _ => text[next..].starts_with(|c: char| c.is_alphabetic() || matches!(c, '"' | '_' | '[')),
            };
            let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
            let is_constraint = is(&CONSTRAINTS) || is(&INDEXES) && is_index(&text[next..end]);
            if is_quoted || !is_constraint {
                columns.push(Column { name, item: start..end, has_type });
            }
        }
        if text.as_bytes()[end] == b')' {
            return Some(columns);
        }
        at = end + 1;
    }
}

/// Whether this follows the first word of an index: its name, if it has one, and names in brackets.
fn is_index(text: &str) -> bool {
    let Some((head, list)) = text.split_once('(') else { return false };
    let is_type = list.starts_with(|c: char| c.is_ascii_digit() || c == '\'');
    let head = head.to_ascii_uppercase();
    let words: Vec<&str> = head.split_whitespace().collect();
    let is_option = |word: &&str| matches!(*word, "USING" | "CLUSTERED" | "NONCLUSTERED");
    !is_type && (words.len() < 2 || matches!(words[0], "KEY" | "INDEX" | "FOR") || words.iter().any(is_option))
}

fn word_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())]
}

/// Skips a word, and what `skip_blank` skips.
fn skip_word(text: &str, at: usize) -> usize {
    skip_blank(text, at + word_at(text, at).len())
}

/// Skips white space and comments.
fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        at = if rest.starts_with("--") {
            at + rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            at + rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            return at;
        };
    }
}

/// The name that starts here, without its quotes.
fn name_at(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let close = match rest.chars().next()? {
        quote @ ('"' | '`' | '\'') => quote,
        '[' => ']',
        c if c.is_alphabetic() || c == '_' => {
            let length = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(rest.len());
            return Some(at..at + length);
        }
        _ => return None,
    };
    let length = rest[1..].find(close).filter(|length| *length > 0)?;
    Some(at + 1..at + 1 + length)
}

/// The comma or bracket that ends an item.
fn item_end(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, from);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b',' | b')' if depth == 0 => return Some(at),
            b')' | b']' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => return None,
            quote @ (b'\'' | b'"' | b'`') => at += 1 + memchr::memchr(quote, &bytes[at + 1..])?,
            b'-' | b'/' => {
                let next = skip_blank(text, at);
                if next > at {
                    at = next;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn a_column_is_the_first_word_of_its_item() {
        let text = "t (\n  id int, -- the (first\n  \"a b\" numeric(10, 2) DEFAULT ';,' /* , */,\n  CONSTRAINT c CHECK (id > 0), plain)";
        let found: Vec<_> =
            columns(text, 1, "table").unwrap().into_iter().map(|one| (&text[one.name], one.has_type)).collect();
        assert_eq!(found, [("id", true), ("a b", true), ("plain", false)]);
        assert!(columns("t AS SELECT 1", 1, "table").is_none());
        assert!(columns("t AS (SELECT 1)", 1, "table").is_none());
        assert!(columns("t (a int", 1, "table").is_none());
    }
}
