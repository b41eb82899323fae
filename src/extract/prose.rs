//! Marks in the prose of a Markdown text: `#hashtags`, `[[wiki links]]`, links to other Markdown files.
//!
//! Owns which part of a text is prose: fences, indented code, code spans and comments, Obsidian's `%%comments%%` among
//! them, are not. Blocks are recognized line by line as in CommonMark, as far as that needs no nesting.

mod comments;

use std::borrow::Cow;

use comments::Comments;

/// Longer words are not hashtags.
const MAX_TAG_CHARS: usize = 100;
const MAX_LINK_BYTES: usize = 300;

/// A mark in the prose, with its 1-based line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProseMark {
    /// Without its `#`.
    Hashtag(String),
    /// As written between the brackets; `embeds` when the text is to be shown here, and the name of the inline field
    /// (`rel:: [[X]]`) around it.
    Wiki { target: String, embeds: bool, field: Option<String> },
    /// The address of `[text](address)` where that is a relative path.
    Path(String),
    /// The words of a code span.
    Code(String),
}

/// Shows every mark of `text` to `visit`, in order; its first line has the number `first_line`.
pub fn marks(text: &str, first_line: u32, mut visit: impl FnMut(ProseMark, u32)) {
    let mut blocks = Blocks::default();
    let mut paragraph = Paragraph::default();
    let mut comments = Comments::default();
    for (line, number) in text.split_inclusive('\n').zip(first_line..) {
        match blocks.take(line.trim_end_matches(['\n', '\r'])) {
            Line::Prose { ends_before, ends_after } => {
                if ends_before {
                    paragraph.end(&mut comments, &mut visit);
                }
                paragraph.add(line, number);
                if ends_after {
                    paragraph.end(&mut comments, &mut visit);
                }
            }
            Line::Other => paragraph.end(&mut comments, &mut visit),
        }
    }
    paragraph.end(&mut comments, &mut visit);
    comments.end(&mut visit);
}

enum Line {
    Prose { ends_before: bool, ends_after: bool },
    Other,
}

/// Which block the lines so far have opened.
#[derive(Default)]
struct Blocks {
    /// The character and length of an open fence.
    fence: Option<(char, usize)>,
    in_comment: bool,
    in_list: bool,
    after_blank: bool,
    in_indented_code: bool,
    started: bool,
}

impl Blocks {
    fn take(&mut self, line: &str) -> Line {
        let first = !std::mem::replace(&mut self.started, true);
        let after_blank = std::mem::replace(&mut self.after_blank, false) || first;
        // Quotes and list items may hold fences, at any depth.
        let bare = line.trim_start_matches([' ', '\t', '>']);
        if let Some((mark, length)) = self.fence {
            if run_of(bare, mark) >= length && bare.trim_start_matches(mark).trim().is_empty() {
                self.fence = None;
            }
            return Line::Other;
        }
        if self.in_comment {
            self.in_comment = !line.contains("-->");
            return Line::Other;
        }
        if bare.trim().is_empty() {
            self.after_blank = true;
            return Line::Other;
        }
        if is_indented(line) && (after_blank || self.in_indented_code) && !self.in_list {
            self.in_indented_code = true;
            return Line::Other;
        }
        self.in_indented_code = false;
        let item = after_marker(bare);
        if item.is_some() {
            self.in_list = true;
        } else if after_blank && !line.starts_with([' ', '\t']) {
            self.in_list = false;
        }
        let content = item.unwrap_or(bare).trim_start_matches(['>', ' ']);
        for mark in ['`', '~'] {
            let length = run_of(content, mark);
            if length >= 3 && !(mark == '`' && content[length..].contains('`')) {
                self.fence = Some((mark, length));
                return Line::Other;
            }
        }
        if content.starts_with("<!--") {
            self.in_comment = !content.contains("-->");
            return Line::Other;
        }
        let heading = is_heading(content);
        Line::Prose { ends_before: heading || item.is_some(), ends_after: heading }
    }
}

fn run_of(text: &str, mark: char) -> usize {
    text.bytes().take_while(|byte| char::from(*byte) == mark).count()
}

fn is_indented(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with('\t')
}

fn is_heading(line: &str) -> bool {
    let level = run_of(line, '#');
    (1..=6).contains(&level) && line[level..].starts_with([' ', '\t'])
}

/// What follows a list marker.
fn after_marker(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marked = match line.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => true,
        b'.' | b')' => (1..=9).contains(&digits),
        _ => false,
    };
    let rest = line.get(digits + 1..)?;
    (marked && rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// Lines in which a code span may begin on one and end on another.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// Where in `text` each line begins, and its number.
    lines: Vec<(usize, u32)>,
}

impl Paragraph {
    fn add(&mut self, line: &str, number: u32) {
        self.lines.push((self.text.len(), number));
        self.text.push_str(line);
    }

    fn end(&mut self, comments: &mut Comments, visit: &mut impl FnMut(ProseMark, u32)) {
        let lines = std::mem::take(&mut self.lines);
        let line_of = |at: usize| {
            let place = lines.partition_point(|(start, _)| *start <= at);
            lines.get(place.saturating_sub(1)).map_or(1, |(_, number)| *number)
        };
        inline(&self.text, comments, &mut |comments, mark, at| comments.pass(mark, line_of(at), visit));
        self.text.clear();
    }
}

/// The marks of a paragraph, each with its offset in bytes.
fn inline(text: &str, comments: &mut Comments, visit: &mut impl FnMut(&mut Comments, ProseMark, usize)) {
    let bytes = text.as_bytes();
    let begin = comments.closed_in(text);
    // The last run of each length: after it a run of that length closes nothing.
    let mut last_run = std::collections::HashMap::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'`', &bytes[at..]) {
        let length = run_of(&text[at + found..], '`');
        last_run.insert(length, at + found);
        at += found + length;
    }
    at = begin;
    while let Some(found) = bytes[at..].iter().position(|byte| matches!(byte, b'\\' | b'`' | b'#' | b'[' | b'%')) {
        at += found;
        match bytes[at] {
            b'\\' => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            b'`' => {
                let length = run_of(&text[at..], '`');
                let start = at + length;
                at = match code_end(text, start, length, &last_run) {
                    Some(end) => {
                        visit(comments, ProseMark::Code(text[start..end].trim().to_owned()), start);
                        end + length
                    }
                    None => start,
                };
            }
            b'#' => {
                if let Some((tag, end)) = hashtag(text, at) {
                    visit(comments, ProseMark::Hashtag(tag), at);
                    at = end;
                } else {
                    at += 1;
                }
            }
            b'%' => at = comments.opened_at(text, at),
            _ => {
                if let Some((mark, end)) = wiki(text, at) {
                    visit(comments, mark, at);
                    at = end;
                } else {
                    if let Some(path) = address(text, at) {
                        visit(comments, ProseMark::Path(path), at);
                    }
                    at += 1;
                }
            }
        }
    }
}

fn code_end(
    text: &str,
    from: usize,
    length: usize,
    last_run: &std::collections::HashMap<usize, usize>,
) -> Option<usize> {
    if last_run.get(&length).is_none_or(|last| *last < from) {
        return None;
    }
    let mut at = from;
    while let Some(found) = memchr::memchr(b'`', &text.as_bytes()[at..]) {
        let run = run_of(&text[at + found..], '`');
        if run == length {
            return Some(at + found);
        }
        at += found + run;
    }
    None
}

/// The tag whose `#` is at `at`, and where it ends.
fn hashtag(text: &str, at: usize) -> Option<(String, usize)> {
    let before = text[..at].chars().next_back();
    let opens = match before {
        None | Some(',' | ';') => true,
        // `](#anchor)` is a link.
        Some('(') => !text[..at].ends_with("]("),
        Some(c) => c.is_whitespace() || is_sign(c),
    };
    if !opens {
        return None;
    }
    let rest = &text[at + 1..];
    let near = &rest[..rest.floor_char_boundary(MAX_LINK_BYTES)];
    if let Some((words, _)) = near.strip_prefix("[[").and_then(|inner| inner.split_once("]]")) {
        let is_name = words.chars().count() <= MAX_TAG_CHARS && words.chars().any(char::is_alphabetic);
        return (is_name && !words.contains(['\n', '['])).then(|| (words.trim().to_owned(), at + words.len() + 5));
    }
    let end = rest.find(|c: char| !is_in_tag(c)).unwrap_or(rest.len());
    let tag = rest[..end].trim_end_matches(['-', '/', '_']);
    let fits = tag.chars().any(char::is_alphabetic) && tag.chars().count() <= MAX_TAG_CHARS && !is_color(tag);
    fits.then(|| (tag.to_owned(), at + 1 + end))
}

fn is_in_tag(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/') || (!c.is_ascii() && !is_sign(c) && !c.is_whitespace())
}

/// Punctuation of other scripts: what a tag ends at, and may follow.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{a9}' | '\u{ab}'..='\u{b4}' | '\u{b6}'..='\u{b9}' | '\u{bb}'..='\u{bf}'
        | '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}' | '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3020}'
        | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}')
}

/// `#ff8800` and `#fff` are colours; `#beef` may be dinner.
fn is_color(tag: &str) -> bool {
    let is_hex = matches!(tag.len(), 3 | 4 | 6 | 8) && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex && (tag.bytes().any(|byte| byte.is_ascii_digit()) || tag.bytes().all(|byte| byte == tag.as_bytes()[0]))
}

/// The wiki link whose `[[` is at `at`, and where it ends.
fn wiki(text: &str, at: usize) -> Option<(ProseMark, usize)> {
    let inner = text[at..].strip_prefix("[[")?;
    let inner = &inner[..inner.floor_char_boundary(MAX_LINK_BYTES)];
    let (target, _) = inner.split_once("]]")?;
    if target.trim().is_empty() || target.contains(['\n', '[', ']']) {
        return None;
    }
    let before = &text[text.floor_char_boundary(at.saturating_sub(2 * MAX_LINK_BYTES))..at];
    let line = before.rsplit('\n').next().unwrap_or_default();
    let embeds = line.ends_with('!');
    let mark = ProseMark::Wiki { target: target.to_owned(), embeds, field: field(line) };
    Some((mark, at + target.len() + 4))
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

/// The relative path to a Markdown file in `](path)` behind the bracket at `at`.
fn address(text: &str, at: usize) -> Option<String> {
    let rest = &text[at + 1..];
    let rest = &rest[..rest.floor_char_boundary(2 * MAX_LINK_BYTES)];
    let close = rest.find(['[', ']', '\n']).filter(|close| rest[*close..].starts_with("]("))?;
    let inner = rest[close + 2..].trim_start_matches('<');
    let (path, _) = inner.split_once([')', ' ', '>', '\n'])?;
    let path = path.split('#').next().unwrap_or_default();
    let is_page = path.len() > 3 && path.to_ascii_lowercase().ends_with(".md");
    (is_page && !path.contains("://")).then(|| percent_decoded(path))
}

/// With `%20` as a blank; unchanged if that is not UTF-8.
pub(super) fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        marks(text, 1, |mark, line| {
            all.push(match mark {
                ProseMark::Hashtag(tag) => format!("{line} #{tag}"),
                ProseMark::Wiki { target, embeds, field } => {
                    let sign = if embeds { "!" } else { "" };
                    format!("{line} {}{sign}[[{target}]]", field.map(|field| field + "::").unwrap_or_default())
                }
                ProseMark::Path(path) => format!("{line} ({path})"),
                ProseMark::Code(words) => format!("{line} `{words}`"),
            });
        });
        all
    }

    #[test]
    fn hashtags_have_a_letter_and_are_outside_code() {
        let text = "# Heading\n#first line, (#second) and #a/b-c_d. #1 #12x #2024\n`#no` ``a ` #no`` #yes\n\n    #code\n\n\
            ```c\n#include <x>\n```\n<!-- #no\n#no -->\n[a](#no) x#no http://a/#no \\#no &#39; #ff8800 #fff #beef\n";
        assert_eq!(
            found(text).into_iter().filter(|mark| !mark.contains('`')).collect::<Vec<_>>(),
            ["2 #first", "2 #second", "2 #a/b-c_d", "2 #12x", "3 #yes", "12 #beef"]
        );
    }

    #[test]
    fn tags_of_all_scripts_are_tags() {
        assert_eq!(
            found("#日本語、#решение #हिन्दी #ação! #[[two words]]"),
            ["1 #日本語", "1 #решение", "1 #हिन्दी", "1 #ação", "1 #two words"]
        );
    }

    #[test]
    fn list_items_may_be_indented_and_hold_fences() {
        let text =
            "- one\n\n    #in-item\n\n    ```\n    #no\n    ```\n- > ~~~\n  > #no\n  > ~~~\n\nprose\n\n    #code\n";
        assert_eq!(found(text), ["3 #in-item"]);
    }

    #[test]
    fn links_are_reported_with_their_fields() {
        let text = "See [[Note]] and ![[Pic|alt]].\n- up:: [[A#h]], [[B]]\n(rel:: [[C]]) `[[no]]` [t](sub/x%20y.md#z) [u](http://a/b.md)\n";
        assert_eq!(
            found(text),
            [
                "1 [[Note]]",
                "1 ![[Pic|alt]]",
                "2 up::[[A#h]]",
                "2 up::[[B]]",
                "3 rel::[[C]]",
                "3 `[[no]]`",
                "3 (sub/x y.md)"
            ]
        );
    }

    #[test]
    fn a_code_span_may_cover_lines_and_an_open_one_covers_nothing() {
        assert_eq!(found("`a\n#no` #yes\n\n` #open\n"), ["1 `a\n#no`", "2 #yes", "4 #open"]);
    }

    #[test]
    fn comments_of_obsidian_are_no_prose() {
        for (text, shown) in [
            ("[[A]] %%[[no]] #no%% [[B]] #c\n", &["1 [[A]]", "1 [[B]]", "1 #c"][..]),
            ("%%\n[[no]]\n\n- #no\n\n`[[no]]` [t](no.md)\n%%\n[[A]]\n", &["8 [[A]]"]),
            ("a %% [[no]]\n[[no]] %% [[A]]\n", &["2 [[A]]"]),
            ("> %%\n> [[no]]\n> %% [[A]]\n", &["3 [[A]]"]),
            // A code span does not begin in a comment, nor a comment in a code span.
            ("%% ` %% [[A]] `x`\n", &["1 [[A]]", "1 `x`"]),
            ("`%%` [[A]] `%%`\n", &["1 `%%`", "1 [[A]]", "1 `%%`"]),
            // What is never closed is text.
            ("%%\n[[A]]\n\n#b\n", &["2 [[A]]", "4 #b"]),
            ("100%% [[A]]\n\n50%% #b\n", &["1 [[A]]", "3 #b"]),
            ("\\%%[[A]]%% [[B]]\n", &["1 [[A]]", "1 [[B]]"]),
            ("5% [[A]] 6% [[B]]\n", &["1 [[A]]", "1 [[B]]"]),
            ("%%no%%\n%%\n[[A]]\n", &["3 [[A]]"]),
        ] {
            assert_eq!(found(text), shown, "{text:?}");
        }
    }

    #[test]
    fn no_text_takes_time_without_measure() {
        let started = std::time::Instant::now();
        for piece in
            ["`", "#", "[", "[[", "`` ` ", "- ", "\\", "](", "a::", "#a", "> ", "%", "%% a ", "%%\n\n", "%%[[a]]\n\n"]
        {
            marks(&piece.repeat(200_000), 1, |_, _| {});
        }
        // Quadratic time would be minutes.
        assert!(started.elapsed().as_secs() < 60);
    }
}
