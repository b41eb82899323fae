//! Keeps an answer small, and masks it. Whole items are left out at the end of its list; only an item that is too large
//! alone is cut, in its longest texts and lists.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::secrets;

/// Cuts the list `field` of `answer` so that all of it fits `cap` bytes of compact JSON, and says so.
///
/// `offset` is where the list began; `next_offset` and `truncated` are updated. One item always stays: an empty page
/// would not help.
pub(super) fn fit(answer: &mut Value, field: &str, offset: usize, cap: usize) {
    let size = json_size(answer);
    if size <= cap {
        return;
    }
    let Some(items) = answer.get_mut(field).and_then(Value::as_array_mut) else { return };
    // Bytes for `truncated` and `next_offset`, if they are not there yet.
    let mut over = (size + 48).saturating_sub(cap);
    while over > 0 && items.len() > 1 {
        let Some(last) = items.pop() else { break };
        over = over.saturating_sub(json_size(&last) + 1);
    }
    let next = offset + items.len();
    answer["truncated"] = json!(true);
    answer["next_offset"] = json!(next);
}

/// Cuts the longest texts and lists of an answer that is still clearly larger than `cap`. Returns whether it was.
pub(super) fn shorten(answer: &mut Value, cap: usize) -> bool {
    // Tools that fill an answer up to `cap` do not count every byte.
    if json_size(answer) <= cap + cap / 16 {
        return false;
    }
    loop {
        let over = json_size(answer).saturating_sub(cap);
        if over == 0 || !cut(answer, over) {
            return true;
        }
    }
}

/// Cuts the largest part of a value, if possible by `over` bytes. Returns whether anything was cut.
fn cut(value: &mut Value, over: usize) -> bool {
    match value {
        Value::String(text) => {
            let limit = json_size(text).saturating_sub(over + "\"…\"".len()).max(SHORT);
            let kept = fitting(text, limit);
            if kept + '…'.len_utf8() >= text.len() {
                return false;
            }
            text.truncate(kept);
            text.push('…');
            true
        }
        Value::Array(items) if items.len() > 1 => {
            let mut removed = 0;
            while removed < over && items.len() > 1 {
                removed += items.pop().map_or(0, |last| json_size(&last) + 1);
            }
            true
        }
        Value::Array(items) => items.first_mut().is_some_and(|item| cut(item, over)),
        Value::Object(fields) => fields.values_mut().max_by_key(json_size).is_some_and(|field| cut(field, over)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Bytes of JSON of a text that is not cut further.
const SHORT: usize = 200;

/// Adds a sentence to the warning of an answer.
pub(super) fn warn(answer: &mut Value, sentence: &str) {
    let before = answer["warning"].as_str().map_or_else(String::new, |before| format!("{before} "));
    answer["warning"] = json!(before + sentence);
}

/// Masks the tokens in all texts of an answer: texts from an engine come from the disk.
pub(super) fn mask(answer: &mut Value) {
    match answer {
        Value::String(text) => {
            if let Cow::Owned(masked) = secrets::mask_text(text.as_str().into()) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => fields.values_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The answer that `make` gives for the largest number of items, from `items` down, that fits `cap`; one always stays.
pub(super) fn shrunk<T: Serialize>(items: usize, cap: Option<usize>, make: impl Fn(usize) -> T) -> T {
    let mut kept = items;
    let mut answer = make(kept);
    while let Some(cap) = cap.filter(|_| kept > 1) {
        let size = json_size(&answer);
        if size <= cap {
            break;
        }
        // Items are about alike; the last steps are small.
        kept = (kept * cap / size).min(kept - 1).max(1);
        answer = make(kept);
    }
    answer
}

/// Returns how much of `text` fits `limit` bytes of JSON, in bytes of the text.
pub(super) fn fitting(text: &str, limit: usize) -> usize {
    let mut used = 0;
    let ends = text.char_indices().find(|(_, c)| {
        used += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if c.is_ascii_control() => 6,
            c => c.len_utf8(),
        };
        used > limit
    });
    ends.map_or(text.len(), |(at, _)| at)
}

/// Bytes of the compact JSON, counted without making it.
pub(super) fn json_size(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_items_are_left_out_until_the_rest_fits() {
        let items: Vec<String> = (0..100).map(|i| format!("item {i:03} {}", "x".repeat(20))).collect();
        let mut answer = json!({ "results": items, "total": 100, "truncated": false });
        fit(&mut answer, "results", 10, 1000);
        let kept = answer["results"].as_array().unwrap().len();
        assert!(json_size(&answer) <= 1000);
        assert!(kept > 20, "{kept}");
        assert_eq!(answer["next_offset"], json!(10 + kept));
        assert_eq!(answer["truncated"], json!(true));
        assert_eq!(answer["total"], json!(100));
    }

    #[test]
    fn a_single_entry_that_is_too_large_is_cut() {
        let long = "é\n".repeat(20_000);
        let children: Vec<Value> =
            (0..2_000).map(|at| json!({ "name": format!("method_{at}"), "children": [] })).collect();
        for (entry, kept) in [
            (json!({ "name": "A", "children": children }), "method_0"),
            (json!({ "name": "A", "signature": long }), "é"),
            (json!({ "name": "A", "more": { "first": [long], "second": [long] } }), "é"),
        ] {
            let mut answer = json!({ "symbols": [entry], "truncated": false });
            assert!(shorten(&mut answer, 10_000));
            let size = json_size(&answer);
            assert!((1_000..=10_000).contains(&size) && answer["symbols"][0]["name"] == "A", "{size}");
            assert!(answer.to_string().contains(kept));
        }
        let mut small = json!({ "text": "x".repeat(9_000) });
        assert!(!shorten(&mut small, 10_000));
        let mut numbers = json!({ "a": vec![json!([1]); 9_000] });
        assert!(shorten(&mut numbers, 10_000) && json_size(&numbers) <= 10_000);
    }
}
