//! About how many tokens a text costs a model.
//!
//! Owns the estimate: the vocabulary of a real tokenizer would add four megabytes to the program. The text is split by the rules of
//! OpenAI's `o200k`, and each piece counts as many tokens as pieces of its kind and length have on average in source code. A test
//! compares the sum with the real tokenizer's.

/// The unit of the estimate: a hundredth of a token.
const TOKEN: usize = 100;
/// Digits of a token.
const DIGITS: usize = 3;

/// A letter that is not ASCII costs about as much as these.
const FOREIGN: usize = 3;

/// Cost of a piece with this many letters, in hundredths of a token.
const fn of_letters(count: usize) -> usize {
    match count {
        0..3 => TOKEN,
        3..7 => 111,
        7..10 => 130,
        10..12 => 150,
        _ => count * TOKEN / 6,
    }
}

const fn of_marks(count: usize) -> usize {
    if count < 5 { TOKEN } else { count * TOKEN / 4 }
}

fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

fn is_mark(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_alphabetic() && !letter.is_numeric()
}

/// The estimate for a text.
pub(super) fn estimate(text: &str) -> usize {
    let letters: Vec<char> = text.chars().collect();
    let mut rest = letters.as_slice();
    let mut sum = 0;
    while !rest.is_empty() {
        let (length, cost) = piece(rest);
        rest = &rest[length..];
        sum += cost;
    }
    sum.div_ceil(TOKEN)
}

/// The length of the first piece, and what it costs.
fn piece(text: &[char]) -> (usize, usize) {
    let count = |from: usize, is: &dyn Fn(char) -> bool| text[from..].iter().take_while(|&&one| is(one)).count();
    let is_letter = |at: usize| text.get(at).is_some_and(|letter| letter.is_alphabetic());
    let first = text[0];
    if first.is_numeric() {
        return (count(0, &char::is_numeric).min(DIGITS), TOKEN);
    }
    // One space or mark belongs to the word that follows.
    let before = usize::from(!is_letter(0) && !is_break(first));
    if is_letter(before) {
        let upper = count(before, &char::is_uppercase);
        let length = upper + count(before + upper, &|one| one.is_alphabetic() && !one.is_uppercase());
        let foreign = text[before..before + length].iter().filter(|one| !one.is_ascii()).count();
        return (before + length, of_letters(length + foreign * (FOREIGN - 1)));
    }
    if first.is_whitespace() {
        let length = count(0, &char::is_whitespace);
        if let Some(last) = text[..length].iter().rposition(|&one| is_break(one)) {
            return (last + 1, TOKEN);
        }
        let is_before_text = text.get(length).is_some();
        if length > 1 {
            // The last space belongs to what follows.
            return (length - usize::from(is_before_text), TOKEN);
        }
        if first != ' ' || !text.get(1).is_some_and(|&next| is_mark(next)) {
            return (1, TOKEN);
        }
    }
    let space = usize::from(first == ' ');
    let marks = count(space, &is_mark);
    (space + marks + count(space + marks, &is_break), of_marks(marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(text: &str, percent: usize, what: &str) {
        let (about, right) = (estimate(text), tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len());
        assert!(about.abs_diff(right) * 100 <= right * percent, "{what}: {about}, not {right}");
    }

    #[test]
    fn the_estimate_is_near_the_number_of_a_real_tokenizer() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        for path in [
            "src/repository/watch.rs",
            "README.md",
            "fixtures/search/fit.py",
            "migrations/V1__schema.sql",
            "Cargo.toml",
        ] {
            let text = read(path);
            is_near(&text, 10, path);
            // As an answer of a tool.
            is_near(&serde_json::json!({ "file_path": path, "content": text }).to_string(), 10, path);
        }
        let hits: Vec<_> = (0..10)
            .map(|n| serde_json::json!({ "file_path": format!("src/a{n}.rs"), "line": 10 * n, "score": 0.5 }))
            .collect();
        is_near(&serde_json::json!({ "results": hits, "truncated": true }).to_string(), 10, "hits");
    }

    #[test]
    fn pieces_are_those_of_the_tokenizer() {
        for (text, tokens) in [
            ("", 0),
            (" x", 1),
            ("a.b", 2),
            ("12345", 2),
            ("\n\n    ", 2),
            ("x = 1", 4),
            ("(){};\n", 2),
            ("    a", 2),
            ("_a(b)", 3),
        ] {
            assert_eq!(estimate(text), tokens, "{text:?}");
        }
    }
}
