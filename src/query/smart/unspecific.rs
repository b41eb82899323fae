//! Words of a query that say nothing about its answer: the id of a ticket before a subject, and the language that most of the
//! repository is in.
//!
//! Owns leaving them out. Does not own function words (`stop`).

use crate::error::Result;
use crate::extract;
use crate::query::corpus::Corpus;
use crate::store::FtsQuery;

/// Fewer words are not a subject: then the id or the language is what is asked for.
const LEAST_WORDS: usize = 3;
/// The language of a repository has more than one in this many of its lines.
const OF_MAIN_LANGUAGE: u64 = 2;

const BEFORE_LANGUAGE: &[&str] = &["in", "using", "with"];

/// The text without them.
pub(super) fn leave_out(text: &str, corpus: &Corpus) -> Result<String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > LEAST_WORDS && is_ticket(words[0]) && !is_in_text(words[0], corpus)? {
        words.remove(0);
    }
    if words.len() >= LEAST_WORDS + 2
        && let [.., before, last] = words.as_slice()
        && BEFORE_LANGUAGE.contains(before)
        && is_main_language(last, corpus)?
    {
        words.truncate(words.len() - 2);
    }
    Ok(words.join(" "))
}

/// An id as trackers write it: `KAFKA-123`, `[SPARK-1]`, `#77`, with or without a colon.
fn is_ticket(word: &str) -> bool {
    let bare = word.trim_matches(['[', ']', '(', ')', ':']);
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_project = |name: &str| {
        name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    let is_marked = bare.len() < word.len();
    match bare.strip_prefix('#') {
        Some(number) => is_number(number),
        // Without a mark, `UTF-8` and `SHA-256` are names.
        None => is_marked && bare.rsplit_once('-').is_some_and(|(name, number)| is_project(name) && is_number(number)),
    }
}

fn is_in_text(word: &str, corpus: &Corpus) -> Result<bool> {
    let Some(asked) = FtsQuery::phrase(word) else { return Ok(false) };
    Ok(corpus.frequency(&asked, None, 1)?.0 > 0)
}

fn is_main_language(word: &str, corpus: &Corpus) -> Result<bool> {
    let Some(language) = extract::named(word.trim_end_matches(['?', '.', '!'])) else { return Ok(false) };
    let sizes = corpus.language_sizes()?;
    let all: u64 = sizes.iter().map(|(_, size)| size).sum();
    let own: u64 = sizes.iter().filter(|(name, _)| name == language).map(|(_, size)| size).sum();
    Ok(own * OF_MAIN_LANGUAGE > all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_no_names() {
        for id in ["KAFKA-123:", "[SPARK-1]", "#77", "(#77)", "[MNG-8]:"] {
            assert!(is_ticket(id), "{id}");
        }
        for name in ["UTF-8", "SHA-256", "x-1:", "fix:", "[WIP]", "A-1:", "123"] {
            assert!(!is_ticket(name), "{name}");
        }
    }
}
