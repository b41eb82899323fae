//! Two texts that differ in one place, as a patch.

use std::fmt::Write;
use std::path::Path;

use crate::model::printable;

/// Lines that stay, around those that change.
const CONTEXT: usize = 3;

/// One hunk from the first to the last line that differs.
pub(super) fn unified(file: &Path, before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let same_end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(CONTEXT);
    let (old_end, new_end) = (old.len() - same_end, new.len() - same_end);
    let tail = same_end.min(CONTEXT);
    let name = printable(&file.to_string_lossy());
    let count = |end: usize| end + tail - from;
    // A text without lines begins at line 0.
    let first = |count: usize| if count == 0 { 0 } else { from + 1 };
    let (olds, news) = (count(old_end), count(new_end));
    // Writing to a String cannot fail.
    let mut patch = String::new();
    let _ = writeln!(patch, "--- {name}\n+++ {name}\n@@ -{},{olds} +{},{news} @@", first(olds), first(news));
    let mut add = |sign: char, lines: &[&str]| {
        for line in lines {
            let _ = writeln!(patch, "{sign}{}", printable(line));
        }
    };
    add(' ', &old[from..same]);
    add('-', &old[same..old_end]);
    add('+', &new[same..new_end]);
    add(' ', &old[old_end..old_end + tail]);
    patch
}
