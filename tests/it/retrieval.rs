//! `ixmcp eval` and the development set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Output;

use expect_test::expect;
use serde_json::Value;

use crate::harness::Repo;

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

fn rows(repo: &Repo, arguments: &[&str]) -> Vec<Value> {
    let text = repo.ok(&[&["eval", "questions.jsonl", "--json"], arguments].concat());
    let answer: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    answer["rows"].as_array().unwrap().clone()
}

fn row<'r>(rows: &'r [Value], half: &str, kind: &str, ranking: &str) -> &'r Value {
    rows.iter().find(|row| row["half"] == half && row["kind"] == kind && row["ranking"] == ranking).unwrap()
}

#[test]
fn an_evaluation_has_a_row_for_each_half_and_kind_next_to_the_plain_search() {
    let repo = Repo::new(SHOP);
    let all = rows(&repo, &[]);
    assert_eq!(row(&all, "tune", "symbol", "ixmcp")["mrr"], 1.0, "{all:?}");
    // The words of the name occur more often in the guide.
    assert_eq!(row(&all, "tune", "symbol", "plain BM25")["mrr"], 0.5, "{all:?}");
    let report = row(&all, "report", "all", "ixmcp");
    assert_eq!((&report["questions"], &report["recall_at_10"]), (&Value::from(2), &Value::from(0.5)));
    assert!(report["p50_ms"].as_f64().unwrap() > 0.0);
    assert!(rows(&repo, &["--half", "tune"]).iter().all(|row| row["half"] == "tune"));
}

#[test]
fn the_cost_of_an_answer_is_what_is_read_until_all_relevant_lines_are() {
    let filler = "# The price of a cart is not in this line.\n".repeat(400);
    let repo = Repo::new(
        &SHOP.replace("class Cart:", &format!("{filler}class Cart:")).replace("shop.py:2-3", "shop.py:402-403"),
    );
    repo.write("src/a.py", &filler);
    // ripgrep must not find the queries themselves.
    let queries = ".ixmcp/queries.jsonl";
    repo.write(queries, fs::read_to_string(repo.path().join("questions.jsonl")).unwrap());
    repo.remove("questions.jsonl");
    let text = repo.ok(&["eval", queries, "--cost", "--json", "--half", "tune"]);
    let answer: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let tokens = |policy: &str| {
        let rows = answer["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["kind"] == "symbol" && row["policy"] == policy).unwrap();
        assert_eq!(
            (&row["queries"], &row["found"], &row["median"]),
            (&1.into(), &1.into(), &row["mean_of_common"]),
            "{row}"
        );
        row["median"].as_u64().unwrap()
    };
    // One file has the name, and is read whole; of ixmcp, the lines around the hit.
    let (whole, part) = (tokens("ripgrep, files by path"), tokens("ixmcp"));
    assert!(whole > 4_000 && part < 1_500 && part > 100, "{whole} {part}");
    assert_eq!(tokens("ripgrep, most matches first").abs_diff(whole), 2, "the number of matches, and a mark");

    // Of a query in words, the file with most matches is another one; what nothing finds has no cost.
    let price = "{\"query\": \"the price of checkout\", \"relevant\": [\"src/shop.py:405-406\"]}";
    repo.write(queries, format!("{price}\n{{\"query\": \"zebra crossing\", \"relevant\": [\"src/shop.py\"]}}\n"));
    let each = repo.ok(&["eval", queries, "--cost", "--each"]);
    let costs: Vec<Value> = each.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |policy: &str, query: &str| {
        let is = |one: &&Value| one["policy"] == policy && one["query"].as_str().unwrap().starts_with(query);
        costs.iter().find(is).unwrap()["tokens"].as_u64()
    };
    assert!(of("ripgrep, files by path", "the price").unwrap() > 2 * whole - 500, "{each}");
    assert!(of("ixmcp", "the price").unwrap() < whole, "{each}");
    assert_eq!((of("ripgrep, files by path", "zebra"), of("ixmcp", "zebra")), (None, None));
    assert!(each.contains("| all | all | ixmcp | 2 | 1 |"), "{each}");
    let mut without = repo.command(&["eval", queries, "--cost"]);
    let output = without.env("PATH", "/nonexistent").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("Install ripgrep"));
}

#[test]
fn an_evaluation_compares_with_bm25_over_stems_and_parts_of_identifiers_too() {
    let repo = Repo::new(
        "//- /cart.py\ndef checkoutTotals(): pass\n//- /questions.jsonl\n\
        {\"query\": \"checkouts total\", \"relevant\": [\"cart.py\"], \"half\": \"tune\", \"kind\": \"words\"}\n",
    );
    let all = rows(&repo, &[]);
    assert_eq!(row(&all, "tune", "words", "plain BM25")["mrr"], 0.0, "{all:?}");
    assert_eq!(row(&all, "tune", "words", "stemmed BM25")["mrr"], 1.0, "{all:?}");
    assert_eq!(row(&all, "tune", "words", "ixmcp")["beside"], "stemmed BM25", "{all:?}");
}

/// The weights that each query of the file is ranked by.
fn weights(repo: &Repo, queries: &str) -> Vec<String> {
    repo.write(".ixmcp/queries.jsonl", queries);
    let text = repo.ok(&["eval", ".ixmcp/queries.jsonl", "--candidates"]);
    let candidates = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    candidates.map(|one| one["weights"].as_str().unwrap_or_default().to_owned()).collect()
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
fn an_ablation_has_a_row_without_each_part_and_weights_can_be_tried() {
    let repo = Repo::new(SHOP);
    let names: Vec<String> =
        rows(&repo, &["--ablate"]).iter().map(|row| row["ranking"].as_str().unwrap().to_owned()).collect();
    for part in ["without arm rerank", "without words", "without path"] {
        assert!(names.iter().any(|name| name == part), "{part}: {names:?}");
    }
    let tried = rows(&repo, &["--set", "path=0.1", "--set", "documents.words=1", "--files"]);
    assert!(row(&tried, "tune", "all", "ixmcp")["ndcg_at_10"].as_f64().unwrap() > 0.0);
    let arms = rows(&repo, &["--arms", "bm25,vector,rerank"]);
    for (name, compared) in [
        ("stemmed BM25", "plain BM25"),
        ("bm25", "stemmed BM25"),
        ("bm25 + vector", "bm25"),
        ("bm25 + vector + rerank", "bm25 + vector"),
    ] {
        let row = row(&arms, "report", "all", name);
        assert_eq!(row["beside"], compared, "{row}");
        let gain: Vec<f64> = row["gain"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
        let other =
            arms.iter().find(|row| row["half"] == "report" && row["kind"] == "all" && row["ranking"] == compared);
        let change = row["ndcg_at_10"].as_f64().unwrap() - other.unwrap()["ndcg_at_10"].as_f64().unwrap();
        assert!((gain[0] - change).abs() < 1e-3 && gain[1] <= gain[0] && gain[0] <= gain[2], "{row}");
    }
    for wrong in [["--set", "pth=1"], ["--set", "page.path=1"], ["--set", "path"], ["--arms", "word"]] {
        let error = repo.fails(&[&["eval", "questions.jsonl"][..], &wrong].concat());
        assert!(error.contains("INVALID_ARGUMENT") && error.contains("path") | error.contains("words"), "{error}");
    }
    repo.write("questions.jsonl", "{\"query\": 5}\n");
    assert!(repo.fails(&["eval", "questions.jsonl"]).contains("questions.jsonl:1"));
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
    let evaluated = |line: &str| {
        repo.write("set.jsonl", line);
        repo.run(&["eval", "set.jsonl"])
    };
    let root = repo.path().canonicalize().unwrap();
    let error_of =
        |output: Output| String::from_utf8(output.stderr).unwrap().replace(root.to_str().unwrap(), "REPOSITORY");
    let mut refused = String::new();
    for line in [
        r#"{"query": "a", "relevant": []}"#,
        r#"{"query": " ", "relevant": ["a.py"]}"#,
        r#"{"query": "a", "relevant": ["a.py:9-3"]}"#,
        r#"{"query": "a", "relevant": ["a.py:0-3"]}"#,
    ] {
        let output = evaluated(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
        refused += &format!("{line}\n{}", error_of(output));
    }
    expect![[r#"
        {"query": "a", "relevant": []}
        ixmcp: INVALID_ARGUMENT: set.jsonl:1: no file is relevant. A line is {"query": "…", "relevant": ["path", "path:from-to"]}.
        {"query": " ", "relevant": ["a.py"]}
        ixmcp: INVALID_ARGUMENT: set.jsonl:1: the query is empty. A line is {"query": "…", "relevant": ["path", "path:from-to"]}.
        {"query": "a", "relevant": ["a.py:9-3"]}
        ixmcp: INVALID_ARGUMENT: set.jsonl:1: the lines of a.py are not a range that starts at 1 or later. A line is {"query": "…", "relevant": ["path", "path:from-to"]}.
        {"query": "a", "relevant": ["a.py:0-3"]}
        ixmcp: INVALID_ARGUMENT: set.jsonl:1: the lines of a.py are not a range that starts at 1 or later. A line is {"query": "…", "relevant": ["path", "path:from-to"]}.
    "#]].assert_eq(&refused);
    let mut reported = String::new();
    for line in [r#"{"query": "a", "relevant": ["gone.py", "a.py"]}"#, "\n\n"] {
        reported += &format!("{}\n{}", line.trim(), error_of(evaluated(line)));
    }
    expect![[r#"
        {"query": "a", "relevant": ["gone.py", "a.py"]}
        1 relevant file is not in the index, such as gone.py

        the files contain no query
    "#]]
    .assert_eq(&reported);
    let output = evaluated("\u{feff}{\"query\": \"a\", \"relevant\": [\"./a.py\"]}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && table.contains("| 1.000 |"), "{table}");
}
