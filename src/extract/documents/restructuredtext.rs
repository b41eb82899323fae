//! reStructuredText: its text as it is, and the headings in it.

use super::{Heading, Outline};
use crate::model::RepoPath;

/// A shorter row of punctuation is text.
const LEAST_ROW: usize = 3;
const MOST_LEVELS: usize = 9;

/// A heading is a line over a row of punctuation that is as long, perhaps with such a row above it too. The order in
/// which the text first uses the characters decides their levels.
pub(super) fn outline(text: &str, _: &RepoPath) -> Outline {
    let mut outline = Outline::default();
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, line.trim_end()));
        at += line.len();
    }
    for (number, pair) in lines.windows(2).enumerate() {
        let ([(start, title), (_, row)], Some(sign)) = ([pair[0], pair[1]], row_of(pair[1].1)) else { continue };
        let above = number.checked_sub(1).map(|above| lines[above]);
        let is_overlined = above.is_some_and(|(_, above)| row_of(above) == Some(sign) && above.len() == row.len());
        let is_indented = title.starts_with(char::is_whitespace);
        let is_long_enough = row.chars().count() >= title.trim().chars().count();
        let follows_text = above.is_some_and(|(_, above)| !above.is_empty() && row_of(above).is_none());
        let is_title = !title.is_empty() && row_of(title).is_none() && is_long_enough && (!is_indented || is_overlined);
        if !is_title || (follows_text && !is_overlined) {
            continue;
        }
        let style = (sign, is_overlined);
        let level = styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        let at = if is_overlined { above.map_or(start, |(above, _)| above) } else { start };
        let level = u8::try_from(level.min(MOST_LEVELS - 1) + 1).unwrap_or(1);
        outline.headings.push(Heading { at, level, title: title.trim().to_owned() });
    }
    outline
}

/// The sign that a row is made of.
fn row_of(line: &str) -> Option<char> {
    let sign = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= LEAST_ROW && line.chars().all(|c| c == sign)).then_some(sign)
}
