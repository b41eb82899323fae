//! The commits that a commit reaches, with their parents.
//!
//! Owns how git is asked for them, and how they are held in memory. Does not own what is followed along them (`repository`).

use std::collections::HashMap;

use super::{MAX_TREE, Objects, is_id};
use crate::budget::Budget;
use crate::error::Result;

/// Commits by number, each before its parents, as `rev-list --topo-order` lists them.
#[derive(Clone, Debug, Default)]
pub struct Ancestry {
    /// The ids, one after another; all are of one length.
    ids: String,
    /// The parents of all commits, one commit after another.
    parents: Vec<u32>,
    /// Where the parents of each commit begin, and where those of the last one end.
    starts: Vec<u32>,
}

impl Ancestry {
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn id(&self, at: usize) -> &str {
        let width = self.ids.len() / self.count().max(1);
        &self.ids[at * width..(at + 1) * width]
    }

    /// The numbers of the parents; each is higher than the commit's.
    pub fn parents(&self, at: usize) -> &[u32] {
        &self.parents[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Reads lines of an id and those of its parents.
    fn parsed(listed: &str) -> Self {
        let rows = || listed.lines().filter(|line| line.split(' ').next().is_some_and(is_id));
        let id = |line: &'_ str| line.split(' ').next().unwrap_or_default().to_owned();
        let numbers: HashMap<String, u32> = rows().map(id).zip(0..).collect();
        let mut ancestry = Self { starts: vec![0], ..Self::default() };
        for (row, at) in rows().zip(0_u32..) {
            let mut ids = row.split(' ');
            ancestry.ids.push_str(ids.next().unwrap_or_default());
            // A parent is missing below a shallow boundary.
            let known = ids.filter_map(|id| numbers.get(id).copied()).filter(|parent| *parent > at);
            ancestry.parents.extend(known);
            ancestry.starts.push(u32::try_from(ancestry.parents.len()).unwrap_or(u32::MAX));
        }
        ancestry
    }
}

impl Objects {
    /// The commits that a commit reaches; below a folder of the repository, those that changed it and merges.
    pub fn ancestry(&self, from: &str, budget: &Budget) -> Result<Ancestry> {
        let mut arguments = vec!["--literal-pathspecs", "rev-list", "--parents", "--topo-order", from];
        if !self.prefix.is_empty() {
            arguments.extend(["--full-history", "--", self.prefix.as_str()]);
        }
        let listed = self.listed(&arguments, MAX_TREE, budget)?;
        Ok(Ancestry::parsed(&String::from_utf8_lossy(&listed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_numbers_of_commits_that_are_listed() {
        let id = |letter: &str| letter.repeat(40);
        let (a, b, c, d) = (id("a"), id("b"), id("c"), id("d"));
        let ancestry = Ancestry::parsed(&format!("{a} {b} {c}\n{c} {d}\n{b} {d} {}\n{d}\n", id("e")));
        let parents: Vec<&[u32]> = (0..ancestry.count()).map(|at| ancestry.parents(at)).collect();
        assert_eq!(parents, [&[2, 1][..], &[3], &[3], &[]]);
        assert_eq!((ancestry.id(0), ancestry.id(3)), (a.as_str(), d.as_str()));
        assert_eq!(Ancestry::default().count(), 0);
    }
}
