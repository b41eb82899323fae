//! The parts of a text that one grammar reads: the scripts of Vue, Svelte and Astro components, the Objective-C of
//! Objective-C++, and PHP without the data after it.
//!
//! Owns the ranges. Scripts are read as TypeScript, which includes JavaScript.

use std::iter;
use std::ops::Range;

/// The contents of the `<script>` elements that are scripts, in order.
pub(super) fn of_component(text: &str) -> Vec<Range<usize>> {
    scripts(text, |_, _| None)
}

/// The scripts of a Svelte component and the heads of its snippets, in order.
pub(super) fn of_svelte(text: &str) -> Vec<Range<usize>> {
    scripts(text, snippet)
}

/// The brackets and the name of the snippet that begins at `open`: `{row}` of `{#snippet row(item)}`.
fn snippet(text: &str, open: usize) -> Option<[Range<usize>; 3]> {
    let head = text[open..].strip_prefix("{#snippet ")?.trim_start();
    let start = text.len() - head.len();
    let head = &head[..head.floor_char_boundary(1_000)];
    let length = head.find('(')?;
    let (end, _) = head.match_indices('}').find(|(end, _)| head[..*end].trim_end().ends_with(')'))?;
    Some([open..open + 1, start..start + length, start + end..start + end + 1])
}

/// The contents of scripts, and what `block` returns for each `{` outside of them, in order.
fn scripts(text: &str, block: impl Fn(&str, usize) -> Option<[Range<usize>; 3]>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut scripts = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr2(b'<', b'{', &bytes[at..]).map(|found| at + found) {
        at = open + 1;
        if bytes[open] == b'{' {
            scripts.extend(block(text, open).into_iter().flatten());
            continue;
        }
        if text[open..].starts_with("<!--") {
            let Some(end) = memchr::memmem::find(&bytes[open..], b"-->") else { break };
            at = open + end + 3;
            continue;
        }
        let is_script = bytes.get(open + 1..open + 7).is_some_and(|tag| tag.eq_ignore_ascii_case(b"script"))
            && bytes.get(open + 7).is_some_and(|next| next.is_ascii_whitespace() || *next == b'>');
        if !is_script {
            continue;
        }
        let Some(tag_end) = tag_end(bytes, open) else { break };
        if bytes[tag_end - 1] == b'/' {
            at = tag_end;
            continue;
        }
        let start = tag_end + 1;
        let Some(end) = closing(bytes, start) else { break };
        if is_code(&text[open..tag_end]) && start < end {
            scripts.push(start..end);
        }
        at = end;
    }
    scripts
}

/// The fenced script at the head of an Astro component, and its `<script>` elements.
pub(super) fn of_astro(text: &str) -> Vec<Range<usize>> {
    let head = text.len() - text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).len();
    let mut scripts = Vec::new();
    let mut from = 0;
    if text[head..].starts_with("---") {
        let start = head + 3;
        if let Some(end) = text[start..].find("\n---") {
            scripts.push(start..start + end + 1);
            from = start + end + 4;
        }
    }
    scripts.extend(of_component(&text[from..]).into_iter().map(|range| range.start + from..range.end + from));
    scripts
}

/// The `>` of a tag, outside of its quoted values.
fn tag_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut quote = None;
    (open..bytes.len()).find(|at| match (quote, bytes[*at]) {
        (None, b'>') => true,
        (None, byte @ (b'"' | b'\'')) => {
            quote = Some(byte);
            false
        }
        (Some(open), byte) if open == byte => {
            quote = None;
            false
        }
        _ => false,
    })
}

fn closing(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find_iter(&bytes[from..], b"</")
        .map(|at| from + at)
        .find(|at| bytes.get(at + 2..at + 8).is_some_and(|tag| tag.eq_ignore_ascii_case(b"script")))
}

/// Whether a tag says nothing of its language, or that it is JavaScript or TypeScript.
fn is_code(tag: &str) -> bool {
    let value = |name: &str| {
        let at = tag.find(&format!(" {name}="))? + name.len() + 2;
        let value = tag[at..].trim_start_matches(['"', '\'']);
        value.split(['"', '\'', ' ', '>']).next()
    };
    let is_script = |word: &str| {
        matches!(word, "ts" | "tsx" | "js" | "jsx" | "typescript" | "javascript" | "module" | "")
            || word.ends_with("/javascript")
            || word.ends_with("/typescript")
            || word.ends_with("/babel")
    };
    [value("lang"), value("type")].into_iter().flatten().all(is_script)
}

/// PHP up to `__halt_compiler();`: data may follow.
pub(super) fn of_php(text: &str) -> Vec<Range<usize>> {
    let halts = ["__halt_compiler", "__HALT_COMPILER"].into_iter().filter_map(|word| {
        memchr::memmem::find_iter(text.as_bytes(), word).find(|at| {
            let is_call = text[at + word.len()..].trim_start().starts_with('(');
            is_call && text[..*at].trim_end_matches([' ', '\t']).ends_with(['\n', ';', '}'])
        })
    });
    iter::once(0..halts.min().unwrap_or(text.len())).collect()
}

/// Interfaces, implementations and protocols, each up to its `@end`.
pub(super) fn of_objective_cpp(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut open, mut start) = (None, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let opens = ["@interface", "@implementation", "@protocol"].iter().any(|word| line.starts_with(word));
        if open.is_none() && opens && !line.trim_end().ends_with(';') {
            open = Some(start);
        } else if line.trim_start().starts_with("@end")
            && let Some(begun) = open.take()
        {
            parts.push(begun..end);
        }
        start = end;
    }
    parts
}
