//! The warning about an index without files.
//!
//! Owns the warning for agents and people. Does not own what is listed (`scan`).

use std::path::Path;

use super::open_repository::Repository;
use crate::budget::Budget;
use crate::error::Result;
use crate::scan::{self, Rules};

/// More rules than this are not named.
const MAX_RULES: usize = 3;

/// The warning about an index without files. `skipped` are the numbers of skipped files by reason.
pub fn without_files(root: &Path, rules: &Rules, skipped: &[(String, u64)]) -> String {
    let ignoring = scan::ignoring_rules(root, rules);
    let mut reasons: Vec<String> = ignoring
        .iter()
        .take(MAX_RULES)
        .map(|rule| {
            let files = match rule.files {
                1 if !rule.is_more => "1 file".to_owned(),
                files if rule.is_more => format!("more than {files} files"),
                files => format!("{files} files"),
            };
            if rule.pattern.is_empty() {
                format!("the setting `{}` excludes {files}", rule.source)
            } else {
                format!("the rule `{}` in {} ignores {files}", rule.pattern, rule.source)
            }
        })
        .collect();
    if !skipped.is_empty() {
        let counts: Vec<String> = skipped.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        reasons.push(format!("skipped: {}", counts.join(", ")));
    }
    let remedy = if ignoring.iter().any(|rule| !rule.pattern.is_empty()) {
        " To index ignored files, change the rule, or write an exception such as `!/*` to a file `.ignore`, which git does not read."
    } else if skipped.is_empty() {
        ""
    } else {
        " `ixmcp files --skipped` lists them."
    };
    let why = if reasons.is_empty() { "the folder is empty".to_owned() } else { reasons.join("; ") };
    format!("The index of {} contains no files: {why}.{remedy}", crate::model::printable(&root.to_string_lossy()))
}

impl Repository {
    /// Returns the warning about an open index that is complete and has no files.
    pub(crate) fn without_files(&self, budget: &Budget) -> Result<Option<String>> {
        if self.opened().is_none() {
            return Ok(None);
        }
        let skipped = self.read(budget, |snapshot| {
            let is_without = !snapshot.has_files()? && snapshot.is_built()?;
            is_without.then(|| snapshot.skipped_counts()).transpose()
        })?;
        let settings = self.settings();
        Ok(skipped.map(|skipped| without_files(&self.root, &settings.rules, &skipped)))
    }
}
