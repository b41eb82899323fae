//! How commits changed some files: which lines, as git compares them.
//!
//! Owns how git is asked for it and how its output is read. Lines are compared as `git log -L` does it: without the heuristic that moves
//! changes by their indentation. No converter or external program compares them. Does not own which lines are followed (`repository`).

use std::collections::HashSet;

use super::{MAX_TREE, Objects, first_line, is_id, lines};
use crate::budget::Budget;
use crate::error::Result;

/// Bytes of patches that are read at once.
const MAX_PATCHES: u64 = 64 << 20;
/// A comparison begins with this character, which no line of a patch begins with.
const MARK: &str = "\u{2}";

/// How a file differs between a commit and one of its parents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The blobs before and after; zeros where there is none.
    pub blobs: (String, String),
    /// Lines before and after that differ, from 0: the first, and how many.
    pub hunks: Vec<[(usize, usize); 2]>,
}

impl Objects {
    /// Compares each commit with the parent in its pair, or with an empty tree if it has none, in these files. Changes of only the
    /// name are left out. Shorter than `pairs` if git cannot compare one: a partial clone may lack what is compared.
    pub fn patches(
        &self,
        pairs: &[(&str, Option<&str>)],
        paths: &[String],
        budget: &Budget,
    ) -> Result<Vec<Vec<Patch>>> {
        let mut arguments = vec!["--literal-pathspecs", "-c", "diff.indentHeuristic=false", "diff-tree", "--stdin"];
        arguments.extend(["--root", "--always", "--format=%x02", "-r", "-p", "-U0", "--full-index", "--text"]);
        arguments.extend(["--no-color", "--no-textconv", "--diff-algorithm=default", "--inter-hunk-context=0"]);
        arguments.extend(self.comparison());
        arguments.push("--");
        let paths = self.below_top(paths);
        arguments.extend(paths.iter().map(String::as_str));
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(id, parent)| format!("{id} {}", parent.unwrap_or_default()).trim_end().to_owned())
            .collect();
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let found = self.run(&arguments, &lines(&pairs), MAX_PATCHES, budget)?;
        self.check_trust(&found)?;
        let mut patches = parsed(&found.stdout);
        if !found.status.is_some_and(|status| status.success()) {
            // The last one may be cut.
            patches.pop();
        }
        Ok(patches)
    }

    /// The merges before a commit whose files at these paths differ from those of a parent.
    pub fn merges(&self, from: &str, paths: &[String], budget: &Budget) -> Result<HashSet<String>> {
        let mut arguments = vec!["--literal-pathspecs", "rev-list", "--full-history", "--min-parents=2", from, "--"];
        let paths = self.below_top(paths);
        arguments.extend(paths.iter().map(String::as_str));
        let listed = self.listed(&arguments, MAX_TREE, budget)?;
        Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
    }

    /// Paths from the top of git's tree.
    fn below_top(&self, paths: &[String]) -> Vec<String> {
        paths.iter().map(|path| format!("{}{path}", self.prefix)).collect()
    }

    /// The blob of a file at a commit.
    pub fn blob_at(&self, commit: &str, path: &str, budget: &Budget) -> Result<Option<String>> {
        let name = format!("{commit}:{}{path}", self.prefix);
        let found = self.run(&["rev-parse", "--verify", "--quiet", &name], b"", MAX_PATCHES, budget)?;
        Ok(first_line(&found.stdout).filter(|id| is_id(id)))
    }
}

/// The patches of each comparison.
fn parsed(output: &[u8]) -> Vec<Vec<Patch>> {
    let mut compared: Vec<Vec<Patch>> = Vec::new();
    for line in output.split(|byte| *byte == b'\n') {
        // The contents of the files are not needed.
        let Some(text) = std::str::from_utf8(line).ok().filter(|text| !text.starts_with(['+', '-'])) else { continue };
        if text.starts_with(MARK) {
            compared.push(Vec::new());
            continue;
        }
        let Some(patches) = compared.last_mut() else { continue };
        if let Some((before, after)) = text.strip_prefix("index ").and_then(|blobs| blobs.split_once("..")) {
            let after = after.split(' ').next().unwrap_or_default();
            patches.push(Patch { blobs: (before.to_owned(), after.to_owned()), hunks: Vec::new() });
        } else if let Some(ranges) = text.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@")) {
            let both = ranges.0.split_once(" +").and_then(|(old, new)| Some([range(old)?, range(new)?]));
            if let (Some(patch), Some(both)) = (patches.last_mut(), both) {
                patch.hunks.push(both);
            }
        }
    }
    compared
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
        let output = format!(
            "{MARK}\n\n{MARK}\n\ndiff --git a/x b/x\nindex 1111..2222 100644\n--- a/x\n+++ b/x\n@@ -3 +3,2 @@ fn f()\n-index 1..2\n\
             +@@ -9 +9 @@\n+b\n@@ -8,2 +8,0 @@\n-c\n-d\ndiff --git a/y b/z\nsimilarity index 100%\nrename from y\nrename to z\n"
        );
        let hunks = vec![[(2, 1), (2, 2)], [(7, 2), (8, 0)]];
        let patch = Patch { blobs: ("1111".to_owned(), "2222".to_owned()), hunks };
        assert_eq!(parsed(output.as_bytes()), [vec![], vec![patch]]);
    }
}
