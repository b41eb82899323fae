//! `ixmcp eval --cost`: how many tokens a model reads until it has seen the relevant lines, by fixed policies.
//!
//! Owns the policies and their table. Does not own the estimate of tokens (`tokens`). Unlike real models, a policy does
//! not adapt to what it has read, and stops as soon as it has read all relevant lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::tokens::estimate;
use super::{Arguments, LabelledQuery, Relevant, freshen, note_absent, root_of};
use crate::budget::Budget;
use crate::child_process::run_to_end;
use crate::cli::{Outcome, Session, output};
use crate::error::{Error, Result};
use crate::query::measure::Target;
use crate::query::smart::says_nothing;

/// A query that costs more counts as unanswered: models have a context of about this size.
const MAX_TOKENS: usize = 200_000;
/// Lines that are read before and after a hit, together with it.
const CONTEXT: u32 = 10;
/// Pages of hits that are requested, and the hits of a page.
const PAGES: usize = 5;
const PAGE: usize = 10;
/// Limits of ripgrep for one query: its time, and the bytes of its output.
const TIMEOUT: Duration = Duration::from_secs(60);
const MAX_OUTPUT: u64 = 64 << 20;

/// How to get to the relevant lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Policy {
    /// ripgrep for any of the words, then the named files in the order of their paths.
    RipgrepByPath,
    /// ripgrep for any of the words, then the files with most matching lines first.
    RipgrepByCount,
    /// `query`, then `get_slice` around each hit.
    Ixmcp,
}

const POLICIES: [Policy; 3] = [Policy::RipgrepByPath, Policy::RipgrepByCount, Policy::Ixmcp];

impl Policy {
    const fn name(self) -> &'static str {
        match self {
            Self::RipgrepByPath => "ripgrep, files by path",
            Self::RipgrepByCount => "ripgrep, most matches first",
            Self::Ixmcp => "ixmcp",
        }
    }
}

/// A row of the table.
#[derive(Debug, Serialize)]
struct Row {
    half: String,
    kind: String,
    policy: &'static str,
    queries: usize,
    /// Queries whose relevant lines were all read within the limit.
    found: usize,
    /// Median and 90th percentile of tokens per query; absent if the query at that rank was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    median: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p90: Option<usize>,
    /// Mean tokens of the queries that all policies found.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_of_common: Option<usize>,
}

pub(super) fn run(session: &Session, typed: &Arguments, queries: &[LabelledQuery]) -> Result<Outcome> {
    let mut costs: Vec<[Option<usize>; POLICIES.len()]> = vec![[None; POLICIES.len()]; queries.len()];
    let mut trees: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (at, asked) in queries.iter().enumerate() {
        trees.entry(asked.tree.as_deref()).or_default().push(at);
    }
    for (tree, of_tree) in &trees {
        let workspace = session.workspaces.at(&root_of(session, *tree)?)?;
        let budget = Budget::unlimited();
        freshen(&workspace, &budget)?;
        workspace.embeddings.embed(&budget)?;
        workspace.read(&budget, |snapshot| note_absent(snapshot, queries, of_tree))?;
        for &at in of_tree {
            let asked = &queries[at];
            let targets: Vec<Target> = asked.relevant.iter().map(Relevant::target).collect();
            for (slot, policy) in costs[at].iter_mut().zip(POLICIES) {
                let mut reader = Reader::new(session, workspace.root(), &targets);
                match policy {
                    Policy::Ixmcp => reader.by_ixmcp(&asked.query)?,
                    _ => reader.by_ripgrep(&asked.query, policy)?,
                }
                *slot = reader.outcome();
                if typed.each {
                    output::json(&json!({
                        "policy": policy.name(), "tree": asked.tree, "half": asked.half, "kind": asked.kind,
                        "query": asked.query, "tokens": slot,
                    }));
                }
            }
        }
    }
    let rows = rows(queries, &costs);
    if session.json {
        output::json(&json!({ "rows": rows }));
    } else {
        print(&rows);
    }
    Ok(Outcome::Found)
}

/// A model that reads until it has seen all relevant lines.
struct Reader<'r> {
    session: &'r Session,
    root: &'r Path,
    /// Lines still to be read.
    open: Vec<Target>,
    /// Lines that were read, by path.
    read: BTreeMap<String, BTreeSet<u32>>,
    tokens: usize,
}

impl<'r> Reader<'r> {
    fn new(session: &'r Session, root: &'r Path, targets: &[Target]) -> Self {
        Self { session, root, open: targets.to_vec(), read: BTreeMap::new(), tokens: 0 }
    }

    fn outcome(&self) -> Option<usize> {
        (self.open.is_empty() && self.tokens <= MAX_TOKENS).then_some(self.tokens)
    }

    fn is_done(&self) -> bool {
        self.open.is_empty() || self.tokens > MAX_TOKENS
    }

    fn by_ripgrep(&mut self, query: &str, policy: Policy) -> Result<()> {
        let words = words(query);
        if words.is_empty() {
            return Ok(());
        }
        let mut files = self.matching(&words)?;
        let mut call = format!("rg -iF {}", words.iter().map(|word| format!("-e {word} ")).collect::<String>());
        let listed: String = if policy == Policy::RipgrepByCount {
            files.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            call += "-c";
            files.iter().map(|(path, count)| format!("{path}:{count}\n")).collect()
        } else {
            call += "-l";
            files.iter().map(|(path, _)| format!("{path}\n")).collect()
        };
        self.pay(&call);
        self.pay(&listed);
        for (path, _) in files {
            if self.is_done() {
                break;
            }
            let Ok(bytes) = std::fs::read(self.root.join(&path)) else { continue };
            self.pay(&path);
            self.pay(&String::from_utf8_lossy(&bytes));
            self.open.retain(|target| target.path != path);
        }
        Ok(())
    }

    /// The files with one of the words, by path, each with the number of lines that match.
    fn matching(&self, words: &[String]) -> Result<Vec<(String, u64)>> {
        let failed = |reason: String| {
            Error::invalid_argument(format!("rg failed: {reason}")).hint("Install ripgrep: --cost compares with it.")
        };
        let mut command = Command::new("rg");
        command.args(["--no-config", "--ignore-case", "--fixed-strings", "--count", "--null", "--sort", "path"]);
        command.args(words.iter().flat_map(|word| ["-e", word])).arg("./").current_dir(self.root);
        let finished = run_to_end(command, b"", TIMEOUT, MAX_OUTPUT).map_err(|error| failed(error.to_string()))?;
        let finished = finished.ok_or_else(|| failed("it did not end in time".to_owned()))?;
        // 1: no file matches.
        if !finished.status.is_some_and(|status| matches!(status.code(), Some(0 | 1))) {
            return Err(failed(String::from_utf8_lossy(&finished.stderr).into_owned()));
        }
        let text = String::from_utf8_lossy(&finished.stdout).into_owned();
        let file = |line: &str| {
            let (path, count) = line.split_once('\0')?;
            Some((path.trim_start_matches("./").to_owned(), count.parse().ok()?))
        };
        Ok(text.lines().filter_map(file).collect())
    }

    fn by_ixmcp(&mut self, query: &str) -> Result<()> {
        for page in 0..PAGES {
            let mut arguments = json!({ "text": query });
            if page > 0 {
                arguments["offset"] = json!(page * PAGE);
            }
            let answer = self.call("query", arguments)?;
            for hit in answer["results"].as_array().into_iter().flatten() {
                if self.is_done() {
                    return Ok(());
                }
                self.follow(hit)?;
            }
            if answer.get("next_offset").is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Reads the lines of a hit with some lines before and after it, unless they were read before; then the rest of
    /// each relevant range of which a line was read. If only whole files are still to be read, reads the whole file.
    fn follow(&mut self, hit: &Value) -> Result<()> {
        let number = |name: &str| hit[name].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
        let path = hit["file_path"].as_str().unwrap_or_default().to_owned();
        // The lines of extracted text are not those of the file on disk.
        if hit["extracted"] == json!(true) {
            return Ok(());
        }
        let by_file = self.open.iter().all(|target| target.lines.is_none());
        if by_file {
            if !self.read.contains_key(&path) {
                self.slice(&path, 1, u32::MAX)?;
            }
            return Ok(());
        }
        let (first, last) = (number("start_line"), number("end_line"));
        if !self.has_read(&path, first, last) {
            self.slice(&path, first.saturating_sub(CONTEXT).max(1), last.saturating_add(CONTEXT))?;
        }
        let begun = |target: &&Target| {
            let lines = self.read.get(&path).filter(|_| target.path == path)?;
            let (from, to) = target.lines?;
            let is_begun = lines.range(from..=to).next().is_some();
            let rest: Vec<u32> = (from..=to).filter(|line| !lines.contains(line)).collect();
            is_begun.then_some((*rest.first()?, *rest.last()?))
        };
        let rest: Vec<(u32, u32)> = self.open.iter().filter_map(|target| begun(&target)).collect();
        for (from, to) in rest {
            self.slice(&path, from, to)?;
        }
        Ok(())
    }

    fn has_read(&self, path: &str, first: u32, last: u32) -> bool {
        self.read.get(path).is_some_and(|lines| (first..=last).all(|line| lines.contains(&line)))
    }

    fn slice(&mut self, path: &str, first: u32, last: u32) -> Result<()> {
        let arguments = json!({ "file_path": path, "start_line": first, "end_line": last });
        let answer = self.call("get_slice", arguments)?;
        let last = answer["end_line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(first);
        self.read.entry(path.to_owned()).or_default().extend(first..=last);
        let open = std::mem::take(&mut self.open);
        let is_read = |target: &Target| {
            target.path == path && target.lines.is_none_or(|(from, to)| self.has_read(path, from, to))
        };
        self.open = open.into_iter().filter(|target| !is_read(target)).collect();
        Ok(())
    }

    /// Calls a tool in the tree, and counts the tokens of the arguments and the answer.
    fn call(&mut self, tool: &str, mut arguments: Value) -> Result<Value> {
        self.pay(&format!("{tool}{arguments}"));
        arguments["repo"] = json!(self.root);
        let answer = self.session.call_as_json(tool, arguments)?;
        self.pay(&answer.to_string());
        Ok(answer)
    }

    fn pay(&mut self, text: &str) {
        self.tokens += estimate(text);
    }
}

/// Words to search for: those of a query, without function words.
fn words(query: &str) -> Vec<String> {
    let all = query.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty());
    let mut words: Vec<String> = all.map(str::to_owned).collect();
    if words.iter().any(|word| !says_nothing(&word.to_lowercase())) {
        words.retain(|word| !says_nothing(&word.to_lowercase()));
    }
    let mut seen = BTreeSet::new();
    words.retain(|word| seen.insert(word.to_lowercase()));
    words
}

/// Rows for all queries, and for each half and kind.
fn rows(queries: &[LabelledQuery], costs: &[[Option<usize>; POLICIES.len()]]) -> Vec<Row> {
    let mut groups: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (at, asked) in queries.iter().enumerate() {
        let half = asked.half.as_deref().unwrap_or("all");
        let kinds = asked.kind.as_deref().into_iter().chain(["all"]);
        for kind in kinds {
            groups.entry((half.to_owned(), kind.to_owned())).or_default().push(at);
        }
        if half != "all" {
            groups.entry(("all".to_owned(), "all".to_owned())).or_default().push(at);
        }
    }
    let mut rows = Vec::new();
    for ((half, kind), of_group) in groups {
        let is_common = |at: &&usize| costs[**at].iter().all(Option::is_some);
        let common: Vec<usize> = of_group.iter().filter(is_common).copied().collect();
        for (slot, policy) in POLICIES.into_iter().enumerate() {
            // Those that were not found come last.
            let mut tokens: Vec<usize> = of_group.iter().map(|&at| costs[at][slot].unwrap_or(usize::MAX)).collect();
            tokens.sort_unstable();
            let at = |percent: usize| tokens.get(tokens.len() * percent / 100).copied().filter(|&one| one < usize::MAX);
            let sum: usize = common.iter().filter_map(|&at| costs[at][slot]).sum();
            rows.push(Row {
                half: half.clone(),
                kind: kind.clone(),
                policy: policy.name(),
                queries: of_group.len(),
                found: of_group.iter().filter(|&&at| costs[at][slot].is_some()).count(),
                median: at(50),
                p90: at(90),
                mean_of_common: sum.checked_div(common.len()),
            });
        }
    }
    rows
}

fn print(rows: &[Row]) {
    output::line("| half | kind | policy | queries | found | median | p90 | mean of queries that all found |");
    output::line("|---|---|---|---:|---:|---:|---:|---:|");
    let shown = |tokens: Option<usize>| tokens.map_or_else(|| "–".to_owned(), |tokens| tokens.to_string());
    for row in rows {
        let (median, p90, mean) = (shown(row.median), shown(row.p90), shown(row.mean_of_common));
        let Row { half, kind, policy, queries, found, .. } = row;
        output::line(&format!("| {half} | {kind} | {policy} | {queries} | {found} | {median} | {p90} | {mean} |"));
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_of_a_query_are_those_that_say_something() {
        assert_eq!(words("Do any setup, then run one step of the watch"), ["setup", "run", "one", "step", "watch"]);
        assert_eq!(words("ReloaderLoop.run"), ["ReloaderLoop", "run"]);
        assert_eq!(words("to be or not"), ["to", "be", "or", "not"]);
        assert_eq!(words("Set set SET_UP"), ["Set", "SET_UP"]);
        assert!(words("…").is_empty());
    }
}
