//! How commits changed some files: which lines, as git compares them.
//!
//! Owns how git is asked for it and how its output is read. Lines are compared as `git log -L` does it: without the heuristic that moves
//! changes by their indentation. No converter or external program compares them. Does not own which lines are followed (`repository`).

use super::log::log;
use super::{Objects, first_line, is_id, lines};
use crate::budget::Budget;
use crate::error::Result;

/// Bytes of patches that are read at once.
const MAX_PATCHES: u64 = 64 << 20;
/// A commit begins with this character, which no line of a patch begins with.
const MARK: &str = "\u{2}";

/// How a commit changed a file, compared with one of its parents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    pub commit: String,
    /// Seconds since 1970.
    pub time: i64,
    pub is_merge: bool,
    /// The blobs before and after; zeros where there is none.
    pub blobs: (String, String),
    /// Lines before and after that differ, from 0: the first, and how many.
    pub hunks: Vec<[(usize, usize); 2]>,
}

impl Objects {
    /// How these commits changed these files: merges by their difference from each parent. Changes of the name alone are left out.
    pub fn patches(&self, ids: &[&str], paths: &[&str], budget: &Budget) -> Result<Vec<Patch>> {
        let mut arguments: Vec<&str> = log(&["diff.indentHeuristic=false"]);
        arguments.extend(["--format=%x02%H %ct %P", "--diff-merges=separate", "-p", "-U0", "--full-index", "--text"]);
        arguments.extend(["--no-textconv", "--diff-algorithm=default", "--inter-hunk-context=0"]);
        arguments.extend(self.comparison());
        arguments.push("--");
        let paths: Vec<String> = paths.iter().map(|path| format!("{}{path}", self.prefix)).collect();
        arguments.extend(paths.iter().map(String::as_str));
        let found = self.run(&arguments, &lines(ids), MAX_PATCHES, budget)?;
        self.check_trust(&found)?;
        Ok(parsed(&found.stdout))
    }

    /// The blob of a file at `HEAD`.
    pub fn blob_at_head(&self, path: &str, budget: &Budget) -> Result<Option<String>> {
        let name = format!("HEAD:{}{path}", self.prefix);
        let found = self.run(&["rev-parse", "--verify", "--quiet", &name], b"", MAX_PATCHES, budget)?;
        Ok(first_line(&found.stdout).filter(|id| is_id(id)))
    }
}

fn parsed(output: &[u8]) -> Vec<Patch> {
    let mut patches: Vec<Patch> = Vec::new();
    let mut of_commit = Patch::default();
    for line in output.split(|byte| *byte == b'\n') {
        // The contents of the files are not needed.
        let Some(text) = std::str::from_utf8(line).ok().filter(|text| !text.starts_with(['+', '-'])) else { continue };
        if let Some(head) = text.strip_prefix(MARK) {
            let mut fields = head.split(' ');
            of_commit = Patch {
                commit: fields.next().unwrap_or_default().to_owned(),
                time: fields.next().and_then(|time| time.parse().ok()).unwrap_or_default(),
                is_merge: fields.filter(|id| is_id(id)).count() > 1,
                ..Patch::default()
            };
        } else if let Some((before, after)) = text.strip_prefix("index ").and_then(|blobs| blobs.split_once("..")) {
            let after = after.split(' ').next().unwrap_or_default();
            patches.push(Patch { blobs: (before.to_owned(), after.to_owned()), ..of_commit.clone() });
        } else if let Some(ranges) = text.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@")) {
            let both = ranges.0.split_once(" +").and_then(|(old, new)| Some([range(old)?, range(new)?]));
            if let (Some(patch), Some(both)) = (patches.last_mut(), both) {
                patch.hunks.push(both);
            }
        }
    }
    patches
}

/// `3,2` or `3`, which count from 1; of no lines, the line before them.
fn range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
    Some((if count > 0 { start.checked_sub(1)? } else { start }, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_read_and_contents_are_not() {
        let id = "a".repeat(40);
        let output = format!(
            "{MARK}{id} 7 {id}\n\ndiff --git a/x b/x\nindex 1111..2222 100644\n--- a/x\n+++ b/x\n@@ -3 +3,2 @@ fn f()\n-index 1..2\n\
             +@@ -9 +9 @@\n+b\n@@ -8,2 +8,0 @@\n-c\n-d\ndiff --git a/y b/z\nsimilarity index 100%\nrename from y\nrename to z\n"
        );
        let patches = parsed(output.as_bytes());
        let hunks = vec![[(2, 1), (2, 2)], [(7, 2), (8, 0)]];
        let blobs = ("1111".to_owned(), "2222".to_owned());
        assert_eq!(patches, [Patch { commit: id, time: 7, is_merge: false, blobs, hunks }]);
    }
}
