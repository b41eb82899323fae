//! Two texts as a unified diff.

use similar::TextDiff;

/// What changes from `before` to `after`, with the names of the two; empty if nothing does.
pub(super) fn unified((from, to): (&str, &str), before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    diff.unified_diff().header(from, to).to_string()
}
