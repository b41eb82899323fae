//! Obsidian's comments, `%%like this%%`: inside a paragraph, or over several where `%%` begins a line.
//!
//! Owns where a comment ends. One that is never closed is text: what follows it is shown.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{is_escaped, is_source, markdown};

const FENCE: &str = "%%";
/// A letter without a meaning in Markdown, which replaces the text that a comment hides.
const FILLER: char = '\u{1}';
/// How often a text is parsed again because a comment held markup.
const MOST_ROUNDS: usize = 8;

/// The text with its comments filled up, every other byte where it was.
pub(super) fn hidden(text: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(text);
    if !text.contains(FENCE) {
        return shown;
    }
    for round in 1..=MOST_ROUNDS {
        let found = found(&shown, round == MOST_ROUNDS);
        let may_change = found.last().is_some_and(|last| has_markup(&shown[last.clone()]));
        shown = Cow::Owned(filled(&shown, &found));
        if !may_change {
            break;
        }
    }
    shown
}

/// The comments in a text, in order: up to the first that has markup in it, as the rest reads otherwise without that, or all.
fn found(text: &str, all: bool) -> Vec<Range<usize>> {
    let mut comments: Vec<Range<usize>> = Vec::new();
    let mut blocks: Vec<usize> = Vec::new();
    let (mut done, mut prose_end, mut in_code) = (0, 0, false);
    for (event, at) in Parser::new_ext(text, markdown::OPTIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell) => blocks.push(at.end),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => _ = blocks.pop(),
            Event::Text(words) if !in_code && is_source(text, &at, &words) => {
                let from = at.start + usize::from(is_escaped(text, at.start, prose_end));
                prose_end = at.end;
                let block_end = blocks.last().copied().unwrap_or(at.end);
                done = done.max(from);
                while let Some(begin) = text.get(done..at.end).and_then(|rest| rest.find(FENCE)).map(|at| done + at) {
                    let inside = begin + FENCE.len();
                    done = end(text, begin, block_end).unwrap_or(inside);
                    if done > inside {
                        comments.push(begin..done);
                        if !all && has_markup(&text[begin..done]) {
                            return comments;
                        }
                    }
                }
            }
            _ => {}
        }
    }
    comments
}

/// Where the comment ends that begins at `begin`.
fn end(text: &str, begin: usize, block_end: usize) -> Option<usize> {
    let inside = begin + FENCE.len();
    let begins_line = || {
        let line = text[..begin].rsplit('\n').next().unwrap_or_default();
        line.chars().all(|c| matches!(c, ' ' | '\t' | '>'))
    };
    let in_block = text.get(inside..block_end).and_then(|rest| rest.find(FENCE));
    let end = in_block.or_else(|| text[inside..].find(FENCE).filter(|_| begins_line()))?;
    Some(inside + end + FENCE.len())
}

fn has_markup(comment: &str) -> bool {
    comment.contains(['`', '<', '[', ']', '*', '_', '~', '|', '\\', '\n'])
}

fn filled(text: &str, comments: &[Range<usize>]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for comment in comments {
        shown.push_str(&text[at..comment.start]);
        for c in text[comment.clone()].chars() {
            if matches!(c, '\n' | '\r') {
                shown.push(c);
            } else {
                shown.extend(std::iter::repeat_n(FILLER, c.len_utf8()));
            }
        }
        at = comment.end;
    }
    shown.push_str(&text[at..]);
    shown
}
