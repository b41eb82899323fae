//! `ixmcp eval`: measures search quality with queries whose relevant files or lines are known.

mod cost;
mod pairs;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::VariantArray;

use super::{Outcome, Session, freshen, output};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::model::printable;
use crate::query::PathFilter;
use crate::query::corpus::Corpus;
use crate::query::measure::{self, Gain, Judgment, RankedSpan, Summary, Target};
use crate::query::smart::{self, ARMS, Part, Ranking, RankingStage, Reranker, relevance};
use crate::store::{PlainSearch, PlainWords, Snapshot};

/// Measure search quality and latency: NDCG@10, MRR and Recall@10, compared with plain and stemmed BM25
///
/// Each line of QUERIES is {"query": "…", "relevant": ["src/a.rs", "src/b.rs:10-20"]}, optionally with "kind" and "half",
/// which group the rows, and "tree", a folder below the repository that is a repository itself.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// JSON Lines files: each line has a query and its relevant files or lines
    #[arg(required = true)]
    queries: Vec<PathBuf>,
    /// Add one part of the search per row: bm25,vector,rerank,transformer [default: one row with all]
    #[arg(long, value_delimiter = ',')]
    arms: Option<Vec<String>>,
    /// Also measure with each part of the ranking left out in turn
    #[arg(long)]
    ablate: bool,
    /// Override a weight of the ranking; can be repeated
    #[arg(long, value_name = "NAME=NUMBER")]
    set: Vec<String>,
    /// Run only the queries of this half
    #[arg(long)]
    half: Option<String>,
    /// Compare files only and ignore line numbers
    #[arg(long)]
    files: bool,
    /// Also print the result of each query
    #[arg(long)]
    each: bool,
    /// Measure `search_documents` instead of `query`
    #[arg(long, conflicts_with_all = ["arms", "ablate"])]
    documents: bool,
    /// Print the candidates of each query with the parts of their scores, without measuring
    #[arg(long)]
    candidates: bool,
    /// Print pairs of a query and a relevant or irrelevant text, with their features
    #[arg(long)]
    pairs: bool,
    /// Estimate how many tokens a model reads until it has seen all relevant lines: with `query` and `get_slice`, and with ripgrep
    #[arg(long, conflicts_with_all = ["arms", "ablate", "set", "documents", "candidates", "pairs"])]
    cost: bool,
}

/// One line of a set of queries.
#[derive(Clone, Debug, Deserialize)]
struct LabelledQuery {
    query: String,
    relevant: Vec<Relevant>,
    kind: Option<String>,
    half: Option<String>,
    tree: Option<String>,
}

/// The kind of queries that nothing in their tree answers: `--pairs` alone asks them.
const UNANSWERED: &str = "unanswered";

impl LabelledQuery {
    fn is_unanswered(&self) -> bool {
        self.kind.as_deref() == Some(UNANSWERED)
    }

    /// Unless nothing can be measured by it.
    fn checked(self) -> std::result::Result<Self, String> {
        if self.query.trim().is_empty() {
            return Err("the query is empty".to_owned());
        }
        if self.relevant.is_empty() && !self.is_unanswered() {
            return Err("no file is relevant".to_owned());
        }
        let is_turned = |target: &Target| target.lines.is_some_and(|(first, last)| first == 0 || first > last);
        match self.relevant.iter().map(Relevant::target).find(is_turned) {
            Some(target) => Err(format!("the lines of {} are not a range that starts at 1 or later", target.path)),
            None => Ok(self),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Relevant {
    Text(String),
    Lines { path: String, start_line: u32, end_line: u32 },
}

impl Relevant {
    /// `path`, `path:line` or `path:from-to`.
    fn target(&self) -> Target {
        let mut target = self.written();
        target.path = target.path.trim_start_matches("./").to_owned();
        target
    }

    fn written(&self) -> Target {
        match self {
            Self::Lines { path, start_line, end_line } => {
                Target { path: path.clone(), lines: Some((*start_line, *end_line)) }
            }
            Self::Text(text) => {
                let lines = text.rsplit_once(':').and_then(|(path, lines)| {
                    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
                    Some((path, (first.parse().ok()?, last.parse().ok()?)))
                });
                match lines {
                    Some((path, lines)) => Target { path: path.to_owned(), lines: Some(lines) },
                    None => Target { path: text.clone(), lines: None },
                }
            }
        }
    }
}

/// A way to answer that has a row in the table.
struct Contender {
    name: String,
    method: Method,
    /// The contender that it is compared with, query by query.
    compared_with: Option<usize>,
}

enum Method {
    /// Full-text search with BM25 alone.
    Plain(PlainWords),
    Ranked(Box<Ranking>),
}

impl Contender {
    fn ranking(&self) -> Option<&Ranking> {
        match &self.method {
            Method::Ranked(ranking) => Some(ranking),
            Method::Plain(_) => None,
        }
    }
}

/// The outcome of one query with one contender.
#[derive(Clone, Debug)]
struct QueryOutcome {
    contender: usize,
    query: usize,
    judged: Judgment,
    time: Duration,
}

/// A row of the table.
#[derive(Debug, Serialize)]
struct Row {
    half: String,
    kind: String,
    ranking: String,
    #[serde(rename = "questions")]
    queries: usize,
    ndcg_at_10: f64,
    mrr: f64,
    recall_at_10: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// Change of NDCG@10 compared with another row: the mean, and the ends of its 95 % interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    gain: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "beside")]
    compared_with: Option<String>,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let mut queries = Vec::new();
    for path in &typed.queries {
        queries.extend(read(path)?);
    }
    queries.retain(|asked| typed.half.is_none() || asked.half == typed.half);
    queries.retain(|asked| typed.pairs || !asked.is_unanswered());
    if queries.is_empty() {
        output::note("the files contain no query");
        return Ok(Outcome::Nothing);
    }
    if typed.pairs {
        pairs::print(session, &queries)?;
        return Ok(Outcome::Found);
    }
    if typed.cost {
        return cost::run(session, typed, &queries);
    }
    let contenders = contenders(typed)?;
    let mut outcomes = Vec::new();
    let mut trees: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (at, asked) in queries.iter().enumerate() {
        trees.entry(asked.tree.as_deref()).or_default().push(at);
    }
    for (tree, of_tree) in &trees {
        ask_all(session, typed, *tree, &queries, of_tree, &contenders, &mut outcomes)?;
    }
    if typed.candidates {
        return Ok(Outcome::Found);
    }
    if typed.each {
        print_each(&queries, &contenders, &outcomes);
    }
    let rows = rows(&queries, &contenders, &outcomes);
    if session.json {
        output::json(&json!({ "rows": rows }));
    } else {
        print(&rows);
    }
    Ok(Outcome::Found)
}

fn read(path: &Path) -> Result<Vec<LabelledQuery>> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let read: std::result::Result<LabelledQuery, _> = serde_json::from_str(line);
            read.map_err(|error| error.to_string()).and_then(LabelledQuery::checked).map_err(|error| {
                Error::invalid_argument(format!("{}:{}: {error}", path.display(), at + 1))
                    .hint("A line is {\"query\": \"…\", \"relevant\": [\"path\", \"path:from-to\"]}.")
            })
        })
        .collect()
}

fn contenders(typed: &Arguments) -> Result<Vec<Contender>> {
    let mut ranking = Ranking::default();
    for change in &typed.set {
        let wrong = || {
            Error::invalid_argument(format!("--set {change}: expected the name of a weight and a number")).hint(
                format!(
                    "Weights: {}; prose.NAME, messages.NAME, documents.NAME and code.NAME for one kind of query.",
                    names(Part::ALL)
                ),
            )
        };
        let (name, value) = change.split_once('=').ok_or_else(wrong)?;
        if !ranking.set(name, value.parse().map_err(|_| wrong())?) {
            return Err(wrong());
        }
    }
    let plain = |name: &str, words, compared_with| Contender {
        name: name.to_owned(),
        method: Method::Plain(words),
        compared_with,
    };
    let mut contenders =
        vec![plain("plain BM25", PlainWords::AsWritten, None), plain("stemmed BM25", PlainWords::Stemmed, Some(0))];
    if let Some(names) = &typed.arms {
        ranking.arms.clear();
        let mut so_far = String::new();
        for name in names {
            ranking.arms.extend(arms(name)?);
            so_far = if so_far.is_empty() { name.clone() } else { format!("{so_far} + {name}") };
            let compared_with = contenders.len().checked_sub(1);
            contenders.push(Contender {
                name: so_far.clone(),
                method: Method::Ranked(Box::new(ranking.clone())),
                compared_with,
            });
        }
    } else {
        let compared_with = contenders.len().checked_sub(1);
        let method = Method::Ranked(Box::new(ranking.clone()));
        contenders.push(Contender { name: "ixmcp".to_owned(), method, compared_with });
    }
    if typed.ablate {
        let whole = Some(contenders.len() - 1);
        for arm in ranking.arms.clone() {
            let mut without = ranking.clone();
            without.arms.retain(|kept| *kept != arm);
            if !without.arms.is_empty() {
                let name = format!("without arm {}", arm.name());
                contenders.push(Contender { name, method: Method::Ranked(Box::new(without)), compared_with: whole });
            }
        }
        for name in Part::ALL.iter().map(|part| part.name()) {
            let mut without = ranking.clone();
            without.set(name, 0.0);
            contenders.push(Contender {
                name: format!("without {name}"),
                method: Method::Ranked(Box::new(without)),
                compared_with: whole,
            });
        }
    }
    Ok(contenders)
}

/// The stages of an arm, or the one stage of that name.
fn arms(name: &str) -> Result<Vec<RankingStage>> {
    let arm = ARMS.iter().find(|(known, _)| *known == name).map(|(_, stages)| stages.to_vec());
    arm.or_else(|| RankingStage::from_name(name).map(|stage| vec![stage])).ok_or_else(|| {
        let stages = RankingStage::VARIANTS.iter().map(|arm| arm.name());
        let known: Vec<&str> = ARMS.iter().map(|(name, _)| *name).chain(stages).collect();
        Error::invalid_argument(format!("--arms: {name:?} is not an arm"))
            .hint(format!("There are: {}.", known.join(", ")))
    })
}

fn names(parts: &[Part]) -> String {
    parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(", ")
}

/// The folder of a tree.
fn root_of(session: &Session, tree: Option<&str>) -> Result<PathBuf> {
    let root = tree.map_or_else(|| session.start.clone(), |tree| session.start.join(tree));
    if root.is_dir() {
        return Ok(root);
    }
    Err(Error::invalid_path(format!("{} is not a folder", root.display()))
        .hint("Set --repo to the folder that contains the trees of the queries."))
}

fn ask_all(
    session: &Session,
    typed: &Arguments,
    tree: Option<&str>,
    queries: &[LabelledQuery],
    of_tree: &[usize],
    contenders: &[Contender],
    outcomes: &mut Vec<QueryOutcome>,
) -> Result<()> {
    let workspace = session.workspaces.at(&root_of(session, tree)?)?;
    let budget = Budget::unlimited();
    freshen(&workspace, &budget)?;
    workspace.embeddings.embed(&budget)?;
    workspace.commits.finish(&budget)?;
    let model = workspace.model.load()?;
    let learnt = workspace.read(&budget, |snapshot| {
        // Every vector that a ranking asks for is made: what is measured is the order, and the time once they are kept.
        let deep = model.as_deref().map(|model| Reranker::new(model, Duration::MAX, Duration::ZERO));
        if typed.candidates && typed.documents {
            return print_scored(snapshot, deep.as_ref(), queries, of_tree).map(|()| Vec::new());
        }
        if typed.candidates {
            return print_candidates(snapshot, queries, of_tree, contenders).map(|()| Vec::new());
        }
        note_absent(snapshot, queries, of_tree)?;
        for (contender, by) in contenders.iter().enumerate() {
            let plain = match by.method {
                Method::Plain(words) => Some(PlainSearch::build(snapshot, words)?),
                Method::Ranked(_) => None,
            };
            for &query in of_tree {
                let asked = &queries[query];
                let (spans, time) = match (&plain, by.ranking()) {
                    (Some(plain), _) => measure::ask_plain(snapshot, plain, &asked.query)?,
                    (None, Some(ranking)) if !typed.documents => {
                        measure::ask_smart(snapshot, ranking, deep.as_ref(), &asked.query)?
                    }
                    (None, _) => measure::ask_documents(snapshot, deep.as_ref(), &asked.query)?,
                };
                let mut targets: Vec<Target> = asked.relevant.iter().map(Relevant::target).collect();
                if typed.files {
                    targets.iter_mut().for_each(|target| target.lines = None);
                    targets.dedup();
                }
                outcomes.push(QueryOutcome { contender, query, judged: measure::judge(&targets, &spans), time });
            }
        }
        Ok(deep.map(|deep| deep.taken().0).unwrap_or_default())
    })?;
    match model {
        Some(model) => workspace.model.remember(&model, &learnt, &[]),
        None => Ok(()),
    }
}

/// Says which relevant places can never be found.
fn note_absent(snapshot: &Snapshot, queries: &[LabelledQuery], of_tree: &[usize]) -> Result<()> {
    let mut absent: BTreeSet<String> = BTreeSet::new();
    for relevant in of_tree.iter().flat_map(|&query| &queries[query].relevant) {
        let path = relevant.target().path;
        if snapshot.file(&path)?.is_none() {
            absent.insert(path);
        }
    }
    if let Some(first) = absent.first() {
        let count = output::count(absent.len() as u64, "relevant file is", "relevant files are");
        output::note(&format!("{count} not in the index, such as {}", printable(first)));
    }
    Ok(())
}

/// One line a query, for weights to be chosen from.
fn print_candidates(
    snapshot: &Snapshot,
    queries: &[LabelledQuery],
    of_tree: &[usize],
    contenders: &[Contender],
) -> Result<()> {
    for &query in of_tree {
        let asked = &queries[query];
        for ranking in contenders.iter().filter_map(Contender::ranking) {
            let found = smart::weighed(ranking, &Corpus::single(snapshot), &asked.query)?;
            let candidates: Vec<_> = found
                .iter()
                .map(|one| json!([one.path, one.lines, one.parts.iter().map(|(_, part)| part).collect::<Vec<_>>()]))
                .collect();
            output::json(&json!({
                "tree": asked.tree, "half": asked.half, "kind": asked.kind, "query": asked.query,
                "weights": found.first().map(|one| one.weights),
                "parts": Part::ALL.iter().map(|part| part.name()).collect::<Vec<_>>(), "candidates": candidates,
            }));
        }
    }
    Ok(())
}

/// Prints one line per query about documents: whether each answers, its rank, and the parts of its score.
fn print_scored(
    snapshot: &Snapshot,
    deep: Option<&Reranker>,
    queries: &[LabelledQuery],
    of_tree: &[usize],
) -> Result<()> {
    for &query in of_tree {
        let asked = &queries[query];
        let targets: Vec<Target> = asked.relevant.iter().map(Relevant::target).collect();
        let found = relevance::relevant(
            &Corpus::single(snapshot),
            deep,
            &asked.query,
            &PathFilter::default(),
            &Budget::unlimited(),
        )?
        .chunks;
        let candidates = found.iter().map(|one| {
            let chunk = snapshot.chunk(one.id.id)?;
            let span = RankedSpan { path: chunk.path, lines: (chunk.start_line, chunk.end_line) };
            let is_right = targets.iter().any(|target| target.is_met_by(&span));
            Ok(json!([span.path, span.lines, is_right, one.rank, one.score, one.evidence.known]))
        });
        output::json(&json!({
            "tree": asked.tree, "half": asked.half, "kind": asked.kind, "query": asked.query, "names": relevance::NAMES,
            "candidates": candidates.collect::<Result<Vec<_>>>()?,
        }));
    }
    Ok(())
}

/// Rows for all queries, each half, and each kind within its half.
fn rows(queries: &[LabelledQuery], contenders: &[Contender], outcomes: &[QueryOutcome]) -> Vec<Row> {
    let mut groups: BTreeMap<(String, String, usize), Vec<(Judgment, Duration)>> = BTreeMap::new();
    let one_half = queries.iter().all(|asked| asked.half == queries[0].half);
    for one in outcomes {
        let asked = &queries[one.query];
        let half = asked.half.as_deref().unwrap_or("all");
        let mut names = vec![(half, "all")];
        names.extend((!one_half && half != "all").then_some(("all", "all")));
        names.extend(asked.kind.as_deref().map(|kind| (half, kind)));
        for (half, kind) in names {
            let key = (half.to_owned(), kind.to_owned(), one.contender);
            groups.entry(key).or_default().push((one.judged, one.time));
        }
    }
    let milliseconds = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    let rounded = |part: f64| (part * 1e4).round() / 1e4;
    let gain = |half: &str, kind: &str, contender: usize| {
        let ndcg = |contender: usize| -> Vec<f64> {
            let outcomes = groups.get(&(half.to_owned(), kind.to_owned(), contender));
            outcomes.into_iter().flatten().map(|(judged, _)| judged.ndcg).collect()
        };
        contenders[contender].compared_with.map(|other| Gain::compute(&ndcg(other), &ndcg(contender)))
    };
    groups
        .iter()
        .map(|((half, kind, contender), outcomes)| {
            let (half, kind, contender) = (half.clone(), kind.clone(), *contender);
            let summary = Summary::compute(outcomes);
            let gain = gain(&half, &kind, contender);
            let compared_with = contenders[contender].compared_with.map(|other| contenders[other].name.clone());
            Row {
                gain: gain.map(|gain| [gain.mean, gain.low, gain.high].map(rounded)),
                compared_with,
                half,
                kind,
                ranking: contenders[contender].name.clone(),
                queries: summary.queries,
                ndcg_at_10: rounded(summary.ndcg),
                mrr: rounded(summary.mrr),
                recall_at_10: rounded(summary.recall),
                p50_ms: milliseconds(summary.p50),
                p99_ms: milliseconds(summary.p99),
            }
        })
        .collect()
}

fn print(rows: &[Row]) {
    output::line(
        "| half | kind | ranking | queries | NDCG@10 | change (95 %) | compared with | MRR | Recall@10 | p50 ms | p99 ms |",
    );
    output::line("|---|---|---|---:|---:|---|---|---:|---:|---:|---:|");
    for row in rows {
        let gain = row.gain.map_or_else(String::new, |[mean, low, high]| format!("{mean:+.3} [{low:+.3}, {high:+.3}]"));
        output::line(&format!(
            "| {} | {} | {} | {} | {:.3} | {gain} | {} | {:.3} | {:.3} | {:.2} | {:.2} |",
            row.half,
            row.kind,
            row.ranking,
            row.queries,
            row.ndcg_at_10,
            row.compared_with.as_deref().unwrap_or_default(),
            row.mrr,
            row.recall_at_10,
            row.p50_ms,
            row.p99_ms
        ));
    }
}

fn print_each(queries: &[LabelledQuery], contenders: &[Contender], outcomes: &[QueryOutcome]) {
    for one in outcomes {
        let asked = &queries[one.query];
        output::json(&json!({
            "ranking": contenders[one.contender].name, "tree": asked.tree, "half": asked.half, "kind": asked.kind,
            "query": asked.query, "ndcg": one.judged.ndcg, "reciprocal_rank": one.judged.reciprocal_rank,
        }));
    }
}
