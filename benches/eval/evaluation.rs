//! Runs labelled queries with several rankings, and groups the outcomes into rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ixmcp::budget::Budget;
use ixmcp::error::Result;
use ixmcp::query::PathFilter;
use ixmcp::query::corpus::Corpus;
use ixmcp::query::smart::{self, Part, Ranking, Reranker, relevance};
use ixmcp::store::Snapshot;
use ixmcp::workspace::{Workspace, Workspaces};
use serde_json::{Value, json};

use super::labels::LabelledQuery;
use super::measure::{ASKED, Gain, Judgment, RankedSpan, Summary, judge};
use super::plain::{PlainSearch, PlainWords};

/// How queries are answered.
#[derive(Clone)]
pub enum Method {
    /// Full-text search with BM25 alone.
    Plain(PlainWords),
    /// `query`, with these weights.
    Ranked(Box<Ranking>),
    /// `search_documents`, whatever the score.
    Documents,
}

impl Default for Method {
    fn default() -> Self {
        Self::Ranked(Box::default())
    }
}

/// A way to answer that has a row in the table.
struct Contender {
    name: String,
    method: Method,
    /// The contender that it is compared with, query by query.
    compared_with: Option<usize>,
}

/// The outcome of one query with one contender.
struct QueryOutcome {
    contender: usize,
    query: usize,
    judged: Judgment,
    time: Duration,
}

/// A row of the table.
pub struct Row {
    pub half: String,
    pub kind: String,
    pub ranking: String,
    pub summary: Summary,
    /// Change of NDCG@10 compared with another row.
    pub gain: Option<(String, Gain)>,
}

pub struct Evaluation {
    workspaces: Workspaces,
    root: PathBuf,
    queries: Vec<LabelledQuery>,
}

impl Evaluation {
    /// The trees of `queries` are folders of `root`.
    pub fn new(workspaces: Workspaces, root: PathBuf, queries: Vec<LabelledQuery>) -> Self {
        Self { workspaces, root, queries }
    }

    /// Evaluates the method, with plain searches before it, and `ablate`: with each part of its score left out in turn.
    pub fn rows(&self, method: &Method, ablate: bool) -> Result<Vec<Row>> {
        let contenders = contenders(method, ablate);
        let mut outcomes = Vec::new();
        self.each_tree(|workspace, of_tree| self.ask_all(workspace, of_tree, &contenders, &mut outcomes))?;
        Ok(rows(&self.queries, &contenders, &outcomes))
    }

    /// Relevant files that can never be found.
    pub fn absent(&self) -> Result<BTreeSet<String>> {
        let mut absent = BTreeSet::new();
        self.each_tree(|workspace, of_tree| {
            workspace.read(&Budget::unlimited(), |snapshot| {
                for target in of_tree.iter().flat_map(|&query| &self.queries[query].relevant) {
                    if snapshot.file(&target.path)?.is_none() {
                        absent.insert(target.path.clone());
                    }
                }
                Ok(())
            })
        })?;
        Ok(absent)
    }

    /// One value per query, for weights to be chosen from.
    pub fn candidates(&self, mut print: impl FnMut(&Value)) -> Result<()> {
        let names: Vec<&str> = Part::ALL.iter().map(|part| part.name()).collect();
        let ranking = Ranking::default();
        self.each_tree(|workspace, of_tree| {
            workspace.read(&Budget::unlimited(), |snapshot| {
                for &query in of_tree {
                    let asked = &self.queries[query];
                    let found = smart::weighed(&ranking, &Corpus::single(snapshot), &asked.query)?;
                    let parts = |one: &smart::WeighedCandidate| -> Vec<f64> {
                        one.parts.iter().map(|(_, part)| *part).collect()
                    };
                    let candidates: Vec<Value> =
                        found.iter().map(|one| json!([one.path, one.lines, parts(one)])).collect();
                    print(&json!({
                        "tree": asked.tree, "half": asked.half, "kind": asked.kind, "query": asked.query,
                        "weights": found.first().map(|one| one.weights), "parts": names, "candidates": candidates,
                    }));
                }
                Ok(())
            })
        })
    }

    /// Visits each tree with its queries, after its index is complete.
    fn each_tree(&self, mut visit: impl FnMut(&Workspace, &[usize]) -> Result<()>) -> Result<()> {
        let mut trees: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for (at, asked) in self.queries.iter().enumerate() {
            trees.entry(asked.tree.as_deref()).or_default().push(at);
        }
        for (tree, of_tree) in &trees {
            let workspace = self.workspaces.at(&tree.map_or_else(|| self.root.clone(), |tree| self.root.join(tree)))?;
            let budget = Budget::unlimited();
            workspace.freshen(Some(Duration::MAX), &budget)?;
            workspace.embeddings.embed(&budget)?;
            workspace.commits.finish(&budget)?;
            visit(&workspace, of_tree)?;
        }
        Ok(())
    }

    fn ask_all(
        &self,
        workspace: &Workspace,
        of_tree: &[usize],
        contenders: &[Contender],
        outcomes: &mut Vec<QueryOutcome>,
    ) -> Result<()> {
        let model = workspace.model.load()?;
        let learnt = workspace.read(&Budget::unlimited(), |snapshot| {
            // Every vector that a ranking asks for is made: what is measured is the order, and the time once they are kept.
            let deep = model.as_deref().map(|model| Reranker::new(model, Duration::MAX, Duration::ZERO));
            for (contender, by) in contenders.iter().enumerate() {
                let plain = match by.method {
                    Method::Plain(words) => Some(PlainSearch::build(workspace.database(), words)?),
                    Method::Ranked(_) | Method::Documents => None,
                };
                for &query in of_tree {
                    let asked = &self.queries[query];
                    let begun = Instant::now();
                    let spans = match (&by.method, &plain) {
                        (_, Some(plain)) => plain.best_of_files(&asked.query, ASKED)?,
                        (Method::Ranked(ranking), _) => ask_smart(snapshot, ranking, deep.as_ref(), &asked.query)?,
                        _ => ask_documents(snapshot, deep.as_ref(), &asked.query)?,
                    };
                    let (time, judged) = (begun.elapsed(), judge(&asked.relevant, &spans));
                    outcomes.push(QueryOutcome { contender, query, judged, time });
                }
            }
            Ok(deep.map(|deep| deep.taken().0).unwrap_or_default())
        })?;
        model.map_or(Ok(()), |model| workspace.model.remember(&model, &learnt, &[]))
    }
}

fn contenders(method: &Method, ablate: bool) -> Vec<Contender> {
    let contender = |name: &str, method, compared_with| Contender { name: name.to_owned(), method, compared_with };
    let mut contenders = vec![
        contender("plain BM25", Method::Plain(PlainWords::AsWritten), None),
        contender("stemmed BM25", Method::Plain(PlainWords::Stemmed), Some(0)),
        contender("ixmcp", method.clone(), Some(1)),
    ];
    if let (Method::Ranked(ranking), true) = (method, ablate) {
        for name in Part::ALL.iter().map(|part| part.name()) {
            let mut without = ranking.clone();
            without.set(name, 0.0);
            contenders.push(contender(&format!("without {name}"), Method::Ranked(without), Some(2)));
        }
    }
    contenders
}

/// Asks as `query` does, by a ranking of the caller's.
fn ask_smart(snapshot: &Snapshot, ranking: &Ranking, deep: Option<&Reranker>, text: &str) -> Result<Vec<RankedSpan>> {
    let (corpus, everywhere, budget) = (Corpus::single(snapshot), PathFilter::default(), Budget::unlimited());
    let page = smart::search_by(ranking, &corpus, deep, text, &everywhere, 0, (0, ASKED), &budget)?.page;
    let spans = page.items.into_iter().map(|hit| RankedSpan { path: hit.path, lines: (hit.start_line, hit.end_line) });
    Ok(spans.collect())
}

/// Asks as `search_documents` does, whatever the score.
fn ask_documents(snapshot: &Snapshot, deep: Option<&Reranker>, text: &str) -> Result<Vec<RankedSpan>> {
    let (corpus, everywhere, budget) = (Corpus::single(snapshot), PathFilter::default(), Budget::unlimited());
    let found = relevance::relevant(&corpus, deep, text, &everywhere, &budget)?.chunks;
    let span = |one: &relevance::Relevant| {
        let chunk = snapshot.chunk(one.id.id)?;
        Ok(RankedSpan { path: chunk.path, lines: (chunk.start_line, chunk.end_line) })
    };
    found.iter().take(ASKED).map(span).collect()
}

/// How each query of a group was answered.
type Outcomes = Vec<(Judgment, Duration)>;

/// Rows for all queries, each half, and each kind within its half.
fn rows(queries: &[LabelledQuery], contenders: &[Contender], outcomes: &[QueryOutcome]) -> Vec<Row> {
    let mut groups: BTreeMap<(&str, &str, usize), Outcomes> = BTreeMap::new();
    let one_half = queries.iter().all(|asked| asked.half == queries[0].half);
    for one in outcomes {
        let asked = &queries[one.query];
        let half = asked.half.as_deref().unwrap_or("all");
        let mut names = vec![(half, "all")];
        names.extend((!one_half && half != "all").then_some(("all", "all")));
        names.extend(asked.kind.as_deref().map(|kind| (half, kind)));
        for (half, kind) in names {
            groups.entry((half, kind, one.contender)).or_default().push((one.judged, one.time));
        }
    }
    let ndcg = |outcomes: &[(Judgment, Duration)]| outcomes.iter().map(|(judged, _)| judged.ndcg).collect::<Vec<_>>();
    let row = |(&(half, kind, contender), outcomes): (&(&str, &str, usize), &Outcomes)| {
        let gain = contenders[contender].compared_with.map(|other| {
            let gain = Gain::compute(&ndcg(&groups[&(half, kind, other)]), &ndcg(outcomes));
            (contenders[other].name.clone(), gain)
        });
        let (half, kind, ranking) = (half.to_owned(), kind.to_owned(), contenders[contender].name.clone());
        Row { half, kind, ranking, summary: Summary::compute(outcomes), gain }
    };
    groups.iter().map(row).collect()
}
