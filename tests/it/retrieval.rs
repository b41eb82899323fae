//! The evaluation of search (`benches/eval`) and the development set.

#[path = "../../benches/eval/evaluation.rs"]
mod evaluation;
#[path = "../../benches/eval/labels.rs"]
mod labels;
#[path = "../../benches/eval/measure.rs"]
mod measure;
#[path = "../../benches/eval/plain.rs"]
mod plain;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use expect_test::expect;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::workspace::{Watching, Workspaces};
use serde_json::Value;

use self::evaluation::{Evaluation, Method, Row};
use self::measure::{Gain, Judgment, RankedSpan, Summary, Target, judge};
use crate::support::harness::Repo;

const SHOP: &str = "\
//- /src/shop.py
class Cart:
    def total_price(self):
        return sum(self.items)

def checkout(cart):
    return cart.total_price()
//- /docs/guide.md
# Guide

The total price of a cart is a price in total; the price of a cart is its total price.
//- /questions.jsonl
{\"query\": \"total_price\", \"relevant\": [\"src/shop.py:2-3\"], \"kind\": \"symbol\", \"half\": \"tune\"}
{\"query\": \"checkout\", \"relevant\": [{\"path\": \"src/shop.py\", \"start_line\": 5, \"end_line\": 6}], \"half\": \"report\"}
{\"query\": \"zebra crossing\", \"relevant\": [\"src/shop.py\"], \"half\": \"report\"}
";

/// An evaluation of the queries of a file, after `change`.
fn evaluation(repo: &Repo, queries: &str, change: impl FnMut(&mut labels::LabelledQuery)) -> Evaluation {
    let environment = Environment::new([], repo.home().to_owned(), repo.path().to_owned());
    let sources = Sources { flags: Flags::default(), environment };
    let mut queries = labels::read(&repo.path().join(queries)).unwrap();
    queries.iter_mut().for_each(change);
    Evaluation::new(Workspaces::new(sources, Watching::No), repo.path().to_owned(), queries)
}

fn rows(repo: &Repo, ablate: bool) -> Vec<Row> {
    evaluation(repo, "questions.jsonl", |_| {}).rows(&Method::default(), ablate).unwrap()
}

fn row<'r>(rows: &'r [Row], half: &str, kind: &str, ranking: &str) -> &'r Row {
    rows.iter().find(|row| row.half == half && row.kind == kind && row.ranking == ranking).unwrap()
}

#[test]
fn an_evaluation_has_a_row_for_each_half_and_kind_next_to_the_plain_search() {
    let repo = Repo::new(SHOP);
    let all = rows(&repo, false);
    let mrr = |ranking: &str| row(&all, "tune", "symbol", ranking).summary.mrr.to_string();
    // The words of the name occur more often in the guide.
    assert_eq!((mrr("ixmcp"), mrr("plain BM25")), ("1".to_owned(), "0.5".to_owned()));
    let report = row(&all, "report", "all", "ixmcp").summary;
    assert_eq!((report.queries, report.recall.to_string()), (2, "0.5".to_owned()));
    assert!(!report.p50.is_zero());
    assert_eq!(row(&all, "all", "all", "ixmcp").summary.queries, 3);
    let documents = evaluation(&repo, "questions.jsonl", |_| {}).rows(&Method::Documents, true).unwrap();
    assert!(row(&documents, "tune", "symbol", "ixmcp").summary.ndcg > 0.0);
}

#[test]
fn lines_can_be_left_out_of_the_comparison() {
    let repo = Repo::new(&SHOP.replace("shop.py:2-3", "shop.py:90-91"));
    let mrr = |change: fn(&mut labels::LabelledQuery)| {
        let all = evaluation(&repo, "questions.jsonl", change).rows(&Method::default(), false).unwrap();
        row(&all, "tune", "all", "ixmcp").summary.mrr.to_string()
    };
    assert_eq!((mrr(|_| {}), mrr(labels::LabelledQuery::leave_out_lines)), ("0".to_owned(), "1".to_owned()));
}

#[test]
fn an_evaluation_compares_with_bm25_over_stems_and_parts_of_identifiers_too() {
    let repo = Repo::new(
        "//- /cart.py\ndef checkoutTotals(): pass\n//- /questions.jsonl\n\
        {\"query\": \"checkouts total\", \"relevant\": [\"cart.py\"], \"half\": \"tune\", \"kind\": \"words\"}\n",
    );
    let all = rows(&repo, false);
    let mrr = |ranking: &str| row(&all, "tune", "words", ranking).summary.mrr.to_string();
    assert_eq!((mrr("plain BM25"), mrr("stemmed BM25")), ("0".to_owned(), "1".to_owned()));
    assert_eq!(row(&all, "tune", "words", "ixmcp").gain.as_ref().unwrap().0, "stemmed BM25");
}

/// The weights that each query of the file is ranked by.
fn weights(repo: &Repo, queries: &str) -> Vec<String> {
    repo.write(".ixmcp/queries.jsonl", queries);
    let mut weights = Vec::new();
    let evaluation = evaluation(repo, ".ixmcp/queries.jsonl", |_| {});
    evaluation.candidates(|one| weights.push(one["weights"].as_str().unwrap_or_default().to_owned())).unwrap();
    weights
}

#[test]
fn documents_and_code_are_ranked_by_weights_of_their_own() {
    let queries = "\
{\"query\": \"how is the total price computed\", \"relevant\": [\"a.md\"]}
{\"query\": \"total_price\", \"relevant\": [\"a.md\"]}
";
    let text = "# Prices\n\nThe total price of a cart is computed at checkout.\n";
    let documents = Repo::new("");
    documents.write("a.md", text);
    documents.write("b.txt", text);
    assert_eq!(weights(&documents, queries), ["documents", "code"]);
    let code = Repo::new("");
    code.write("a.md", text);
    code.write("cart.py", "def total_price(items):\n    return sum(items)\n");
    assert_eq!(weights(&code, queries), ["prose", "code"]);
}

#[test]
fn an_ablation_has_a_row_without_each_part() {
    let all = rows(&Repo::new(SHOP), true);
    for part in ["without words", "without path", "without votes"] {
        let row = row(&all, "report", "all", part);
        let (compared, gain) = row.gain.as_ref().unwrap();
        assert_eq!(compared, "ixmcp");
        let other = all.iter().find(|row| row.half == "report" && row.kind == "all" && row.ranking == *compared);
        let change = row.summary.ndcg - other.unwrap().summary.ndcg;
        assert!((gain.mean - change).abs() < 1e-9 && gain.low <= gain.mean && gain.mean <= gain.high, "{gain:?}");
    }
}

/// Trees that the ranking is measured on elsewhere.
const HELD_OUT: &str = "networkx nltk pydantic scrapy sqlalchemy tornado aiohttp fastapi flask requests click httpx starlette \
    clap axum tokio serde cobra gin express mkdocs jj celery attrs rich twisted";

#[test]
fn the_development_set_is_well_formed_and_keeps_off_what_is_held_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/search");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let trees: Vec<Value> = serde_json::from_str(&read("trees.json")).unwrap();
    let halves: BTreeMap<&str, &str> =
        trees.iter().map(|tree| (tree["tree"].as_str().unwrap(), tree["half"].as_str().unwrap())).collect();
    for tree in trees.iter().filter(|tree| tree["from"] != "here") {
        let package = tree["package"].as_str().unwrap();
        let parts: BTreeSet<&str> = package.split('-').chain([package]).collect();
        assert!(HELD_OUT.split_whitespace().all(|name| !parts.contains(name)), "{package}");
        assert_eq!(tree["sha256"].as_str().unwrap().len(), 64);
    }
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let sets =
        ["docstrings", "symbols", "qualified", "written", "messages", "documents/paraphrases", "mixed/paraphrases"];
    for name in sets.map(|name| format!("{name}.jsonl")) {
        for line in read(&name).lines() {
            let query: Value = serde_json::from_str(line).unwrap();
            let (tree, half) = (query["tree"].as_str().unwrap(), query["half"].as_str().unwrap());
            assert_eq!(halves[tree], half, "{line}");
            assert!(!query["relevant"].as_array().unwrap().is_empty(), "{line}");
            assert!(seen.insert((tree.to_owned(), query["query"].to_string(), query["relevant"].to_string())));
            *counts.entry((half.to_owned(), query["kind"].as_str().unwrap().to_owned())).or_default() += 1;
        }
    }
    assert!(trees.len() >= 8 && seen.len() >= 300);
    for kind in ["docstring", "symbol", "qualified", "message", "commit", "architecture", "paraphrase", "mixed"] {
        let least = if kind == "paraphrase" { 25 } else { 30 };
        for half in ["tune", "report"] {
            assert!(counts[&(half.to_owned(), kind.to_owned())] >= least, "{half} {kind}: {counts:?}");
        }
    }
}

#[test]
fn unusable_labels_are_refused_or_reported() {
    let repo = Repo::new("//- /a.py\ndef a(): pass\n");
    let mut refused = String::new();
    for line in [
        r#"{"query": "a", "relevant": []}"#,
        r#"{"query": " ", "relevant": ["a.py"]}"#,
        r#"{"query": "a", "relevant": ["a.py:9-3"]}"#,
        r#"{"query": "a", "relevant": ["a.py:0-3"]}"#,
    ] {
        repo.write("set.jsonl", line);
        let error = labels::read(&repo.path().join("set.jsonl")).unwrap_err();
        refused += &format!("{line}\n{}\n", error.replace(&format!("{}/", repo.path().display()), ""));
    }
    expect![[r#"
        {"query": "a", "relevant": []}
        set.jsonl:1: no file is relevant
        {"query": " ", "relevant": ["a.py"]}
        set.jsonl:1: the query is empty
        {"query": "a", "relevant": ["a.py:9-3"]}
        set.jsonl:1: the lines of a.py are not a range that starts at 1 or later
        {"query": "a", "relevant": ["a.py:0-3"]}
        set.jsonl:1: the lines of a.py are not a range that starts at 1 or later
    "#]]
    .assert_eq(&refused);
    repo.write("set.jsonl", "\u{feff}{\"query\": \"a\", \"relevant\": [\"gone.py\", \"./a.py\"]}\n\n");
    let evaluation = evaluation(&repo, "set.jsonl", |_| {});
    assert_eq!(evaluation.absent().unwrap(), BTreeSet::from(["gone.py".to_owned()]));
    let all = evaluation.rows(&Method::default(), false).unwrap();
    assert_eq!(row(&all, "all", "all", "ixmcp").summary.recall.to_string(), "0.5");
}

fn target(path: &str, lines: Option<(u32, u32)>) -> Target {
    Target { path: path.to_owned(), lines }
}

fn spans(all: &[(&str, u32, u32)]) -> Vec<RankedSpan> {
    all.iter().map(|&(path, first, last)| RankedSpan { path: path.to_owned(), lines: (first, last) }).collect()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

#[test]
fn a_file_counts_once_and_takes_one_rank() {
    let answer = spans(&[("a", 1, 5), ("a", 9, 12), ("b", 1, 3), ("c", 1, 1)]);
    let judged = judge(&[target("b", None), target("c", None)], &answer);
    close(judged.reciprocal_rank, 0.5);
    close(judged.recall, 1.0);
    close(judged.ndcg, (1.0 / 3.0_f64.log2() + 0.5) / (1.0 + 1.0 / 3.0_f64.log2()));
}

#[test]
fn lines_are_met_by_a_span_that_shares_one_with_them() {
    let answer = spans(&[("a", 1, 5), ("a", 9, 12)]);
    close(judge(&[target("a", Some((12, 20)))], &answer).reciprocal_rank, 0.5);
    close(judge(&[target("a", Some((6, 8)))], &answer).ndcg, 0.0);
    let both = judge(&[target("a", Some((1, 2))), target("a", Some((4, 4)))], &answer);
    close(both.recall, 1.0);
    close(both.ndcg, 1.0 / (1.0 + 1.0 / 3.0_f64.log2()));
}

#[test]
fn only_the_first_ten_ranks_count() {
    let many: Vec<(String, u32, u32)> = (0..12).map(|number| (format!("f{number}"), 1, 1)).collect();
    let answer: Vec<(&str, u32, u32)> = many.iter().map(|(path, a, b)| (path.as_str(), *a, *b)).collect();
    close(judge(&[target("f9", None)], &spans(&answer)).reciprocal_rank, 0.1);
    assert_eq!(judge(&[target("f10", None)], &spans(&answer)), Judgment::default());
}

#[test]
fn a_gain_is_reported_with_its_noise() {
    let before = vec![0.5; 100];
    let better: Vec<f64> = (0..100).map(|at| if at % 2 == 0 { 0.5 } else { 0.7 }).collect();
    let gain = Gain::compute(&before, &better);
    close(gain.mean, 0.1);
    assert!(gain.low > 0.07 && gain.low < 0.1 && gain.high > 0.1 && gain.high < 0.13, "{gain:?}");
    let mixed: Vec<f64> = (0..100).map(|at| if at % 2 == 0 { 0.3 } else { 0.7 }).collect();
    let gain = Gain::compute(&before, &mixed);
    assert!(gain.low < -0.02 && gain.high > 0.02, "{gain:?}");
    assert_eq!(Gain::compute(&[], &[]), Gain::default());
}

#[test]
fn a_summary_is_the_mean_of_its_queries() {
    let outcome = |ndcg, millis| (Judgment { ndcg, ..Judgment::default() }, Duration::from_millis(millis));
    let summary = Summary::compute(&[outcome(1.0, 30), outcome(0.5, 10), outcome(0.0, 20)]);
    close(summary.ndcg, 0.5);
    assert_eq!((summary.p50, summary.p99), (Duration::from_millis(20), Duration::from_millis(30)));
    assert_eq!(Summary::compute(&[]).queries, 0);
}
