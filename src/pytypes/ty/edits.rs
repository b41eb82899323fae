//! Text edits, kept as ranges until they are applied.
//!
//! Owns applying them and mapping offsets between the old and the new text.

use super::api::{TextRange, TextSize};

/// One replacement; an insertion has an empty range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub range: TextRange,
    pub text: String,
}

/// The text with all edits applied. They must not overlap; insertions at the same offset keep the given order.
pub(super) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut whole = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut from = 0;
    for edit in in_order(edits) {
        whole.push_str(text.get(from..edit.range.start().to_usize()).unwrap_or_default());
        whole.push_str(&edit.text);
        from = edit.range.end().to_usize();
    }
    whole.push_str(text.get(from..).unwrap_or_default());
    whole
}

/// Maps an offset in the old text to the new text. An insertion at that offset goes before it.
pub(super) fn new_offset(at: TextSize, edits: &[Edit]) -> TextSize {
    let mut new = at.to_u32();
    for edit in in_order(edits) {
        let is_before = edit.range.end() <= at && (edit.range.is_empty() || edit.range.start() < at);
        if is_before {
            new += u32::try_from(edit.text.len()).unwrap_or(0);
            new -= edit.range.len().to_u32();
        }
    }
    TextSize::new(new)
}

/// Maps an offset in the new text to the old text. An offset in inserted text maps to the insertion point.
pub(super) fn old_offset(at: TextSize, edits: &[Edit]) -> TextSize {
    let mut grown: i64 = 0;
    let at = i64::from(at.to_u32());
    for edit in in_order(edits) {
        let size = i64::try_from(edit.text.len()).unwrap_or(0);
        let begins = i64::from(edit.range.start().to_u32()) + grown;
        if at < begins {
            break;
        }
        if at < begins + size {
            return edit.range.start();
        }
        grown += size - i64::from(edit.range.len().to_u32());
    }
    TextSize::new(u32::try_from(at - grown).unwrap_or(0))
}

/// Sorts the edits and removes duplicates: several suggestions can need the same one.
pub(super) fn sort_and_dedup(edits: &mut Vec<Edit>) {
    edits.sort_by(|a, b| (a.range.start(), a.range.end(), &a.text).cmp(&(b.range.start(), b.range.end(), &b.text)));
    edits.dedup();
}

fn in_order(edits: &[Edit]) -> Vec<&Edit> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.range.start(), edit.range.end()));
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: u32, end: u32, text: &str) -> Edit {
        Edit { range: TextRange::new(TextSize::new(start), TextSize::new(end)), text: text.to_owned() }
    }

    #[test]
    fn offsets_move_with_edits_before_them() {
        let edits = [edit(8, 9, "long"), edit(0, 0, "import x\n"), edit(4, 5, "")];
        assert_eq!(apply("abcdefghijk", &edits), "import x\nabcdfghlongjk");
        for (old, new) in [(0, 9), (3, 12), (8, 16), (9, 20)] {
            assert_eq!(new_offset(TextSize::new(old), &edits), TextSize::new(new), "{old}");
            assert_eq!(old_offset(TextSize::new(new), &edits), TextSize::new(old), "{new}");
        }
    }

    #[test]
    fn offsets_in_inserted_text_map_to_the_insertion_point() {
        let edits = [edit(2, 2, "XX"), edit(4, 4, "Y")];
        assert_eq!(apply("abcdef", &edits), "abXXcdYef");
        for (new, old) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 2), (5, 3), (6, 4), (7, 4), (8, 5)] {
            assert_eq!(old_offset(TextSize::new(new), &edits), TextSize::new(old), "{new}");
        }
        let mut twice = vec![edit(4, 4, "b"), edit(2, 2, "a"), edit(4, 4, "a"), edit(4, 4, "b")];
        sort_and_dedup(&mut twice);
        assert_eq!(twice, [edit(2, 2, "a"), edit(4, 4, "a"), edit(4, 4, "b")]);
    }
}
