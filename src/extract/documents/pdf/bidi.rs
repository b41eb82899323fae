//! Lines of Hebrew and Arabic, which are drawn from left to right and read from right to left.

use unicode_normalization::UnicodeNormalization;

/// The text of a line as it is read, from the text as it is drawn.
pub(super) fn logical(drawn: String) -> String {
    if !drawn.contains(is_right_to_left) {
        return drawn;
    }
    let (right, left) = drawn.chars().fold((0, 0), |(right, left), c| match c {
        c if is_right_to_left(c) => (right + 1, left),
        c if c.is_alphabetic() => (right, left + 1),
        _ => (right, left),
    });
    let parts = parts(&drawn, right >= left);
    // Arabic letters are drawn in the form that their position in a word asks for.
    parts.into_iter().flat_map(|part| part.nfkc().collect::<Vec<_>>()).collect()
}

/// Runs of one direction in the order in which they are read.
fn parts(drawn: &str, line_is_right_to_left: bool) -> Vec<String> {
    let mut runs: Vec<(bool, String)> = Vec::new();
    // What has no direction takes that of its neighbours where they agree, and of the line where they do not.
    let mut undecided = String::new();
    let put = |runs: &mut Vec<(bool, String)>, is_right: bool, text: &str| match runs.last_mut() {
        Some((known, run)) if *known == is_right => run.push_str(text),
        _ => runs.push((is_right, text.to_owned())),
    };
    for c in drawn.chars() {
        let is_right = is_right_to_left(c);
        if !is_right && !c.is_alphanumeric() {
            undecided.push(c);
            continue;
        }
        let agree = runs.last().is_some_and(|(before, _)| *before == is_right);
        let between = if agree { is_right } else { line_is_right_to_left };
        if !undecided.is_empty() {
            put(&mut runs, between, &std::mem::take(&mut undecided));
        }
        put(&mut runs, is_right, c.encode_utf8(&mut [0; 4]));
    }
    if !undecided.is_empty() {
        put(&mut runs, line_is_right_to_left, &undecided);
    }
    let read = |(is_right, run): (bool, String)| if is_right { run.chars().rev().collect() } else { run };
    let mut parts: Vec<String> = runs.into_iter().map(read).collect();
    if line_is_right_to_left {
        parts.reverse();
    }
    parts
}

/// Hebrew, Arabic, Syriac and their like, with the forms that Arabic letters take.
pub(super) const fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{65f}' | '\u{66a}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_turned_to_how_they_are_read() {
        for (drawn, read) in [
            ("plain words", "plain words"),
            ("םולש םלוע", "עולם שלום"),
            ("3.14 אוה", "הוא 3.14"),
            ("one two אוה", "one two הוא"),
            ("אוה one two םלוע", "עולם one two הוא"),
            ("he said םולש twice", "he said שלום twice"),
        ] {
            assert_eq!(logical(drawn.to_owned()), read, "{drawn}");
        }
    }
}
