//! A fresh machine, documents of many formats, and queries in other words than theirs.
//!
//! Nothing was chosen to make these queries come out: the score was fitted elsewhere (`fixtures/search/README.md`).

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::harness::{Repo, Server};

const WRITTEN: &str = "\
//- /handbook.md
# Staff handbook

## Signing in

Whoever has forgotten the password asks for a new one by the link under the form. It is valid for one hour.

## Time off

Vacation is requested two weeks ahead. Without a doctor's note nobody is off sick for more than three days.

## Expenses

Receipts are handed in by the fifth of the next month; money comes with the salary. Taxis are paid for only after ten at night.
//- /library.html
<html><head><title>Town library</title></head><body><h1>Town library</h1>
<h2>Opening hours</h2><p>Tuesday to Friday from nine to six, Saturdays until two. Closed on Sundays and Mondays.</p>
<h2>Fines</h2><p>A book that is brought back late costs twenty cents a day, ten euros at most.</p>
<script>track('visitor');</script></body></html>
//- /release.rst
Releasing
=========

Going back
----------

When a deployment misbehaves, point the load balancer at the previous version first and look for the reason afterwards.
Migrations are written so that the version before still works with the newer schema.

Announcing
----------

Customers are told a week ahead, by the newsletter and on the status page.
//- /garden.txt
Tomatoes are sown indoors in March and planted out after the last frost, two feet apart.

Slugs stay away from copper; a ring of it around the bed helps more than salt does.
//- /trips.ipynb
{\"cells\": [{\"cell_type\": \"markdown\", \"metadata\": {}, \"source\": [\"# Bicycle trips\\n\", \"\\n\", \"Trips shorter than a minute are thrown away: the bicycle was put back at once because something was broken.\"]}, {\"cell_type\": \"code\", \"execution_count\": 1, \"metadata\": {}, \"outputs\": [], \"source\": [\"trips = trips[trips.duration > 60]\"]}], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}
//- /contacts.csv
name,duty,telephone
Ines,plumbing and heating,0171 23
Jonas,broken computers and printers,0171 24
";

/// A query, the file that answers it, and words of the chunk that does.
const QUERIES: &[(&str, &str, &str)] = &[
    ("when do I get my security deposit refunded after moving out", "lease.docx", "within sixty days"),
    ("penalty for a late payment of the rent", "lease.docx", "five per cent"),
    ("do kids need to pay for the boat", "ferry.odt", "Children under six"),
    ("what happens to my trip if there is a storm", "ferry.odt", "Beaufort"),
    ("can leftovers be frozen and reheated", "soup.epub", "freezer"),
    ("how does a bee tell the others where to find flowers", "typeset.pdf", "dancing"),
    ("what should the colonies eat in autumn", "mail.eml", "syrup"),
    ("reset my login credentials", "handbook.md", "forgotten the password"),
    ("how do I get reimbursed for travel costs", "handbook.md", "Receipts"),
    ("is the library open at the weekend", "library.html", "Saturdays until two"),
    ("what does an overdue book cost", "library.html", "twenty cents"),
    ("roll back a bad release", "release.rst", "previous version"),
    ("protect vegetables from snails", "garden.txt", "copper"),
    ("ignore rentals that lasted only a few seconds", "trips.ipynb", "shorter than a minute"),
    ("who repairs a computer that does not work", "contacts.csv", "Jonas"),
];

/// Nothing in the folder is about these.
const UNANSWERED: &[&str] = &[
    "quarterly dividend taxation of shareholders",
    "compile the kernel for an embedded board",
    "symptoms of high blood pressure",
    "history of the roman empire",
    "guitar chords for beginners",
];

fn documents() -> Repo {
    let repo = Repo::new(WRITTEN);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for (folder, name) in [
        ("paraphrase", "lease.docx"),
        ("paraphrase", "ferry.odt"),
        ("paraphrase", "soup.epub"),
        ("documents", "typeset.pdf"),
        ("documents", "mail.eml"),
        ("documents", "harvest.csv"),
    ] {
        repo.write(name, std::fs::read(fixtures.join(folder).join(name)).unwrap());
    }
    repo
}

/// The answer of a tool whose process has no network, where the system lets anybody take it away.
fn call(repo: &Repo, tool: &str, arguments: &Value) -> Value {
    let arguments = ["call", tool, "--args", &arguments.to_string()];
    let program = repo.command(&arguments);
    let may = Command::new("unshare").args(["-rn", "true"]).output().is_ok_and(|output| output.status.success());
    let output = if may {
        let mut cut_off = Command::new("unshare");
        cut_off.args(["-rn"]).arg(program.get_program()).args(program.get_args()).current_dir(repo.path());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => cut_off.env(name, value),
                None => cut_off.env_remove(name),
            };
        }
        cut_off.output().unwrap()
    } else {
        repo.run(&arguments)
    };
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Limits of the built-in static embeddings: `reset my login credentials` shares nothing that it knows with a forgotten
/// password. A score that keeps right answers in a small folder shows some wrong ones too, which are as similar by the
/// table. The results are in `fixtures/search/README.md`.
const RIGHT: usize = 7;
const WRONG: usize = 6;
const ANSWERED: usize = 2;

#[test]
fn a_fresh_machine_answers_paraphrased_queries_about_mixed_documents() {
    let repo = documents();
    let options = json!({ "chunkSize": 300, "overlap": 0 });
    let indexed = call(&repo, "index_files", &json!({ "folderPath": ".", "options": options }));
    assert_eq!((&indexed["processedFiles"], &indexed["skipped"]), (&json!(12), &json!([])), "{indexed}");
    let best = |query: &str| call(&repo, "search_documents", &json!({ "query": query }))["results"][0].clone();
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for (query, file, words) in QUERIES {
        let best = best(query);
        if best["filePath"] == *file && best["content"].as_str().is_some_and(|text| text.contains(words)) {
            right.push(*query);
        } else if !best.is_null() {
            wrong.push((*query, best["filePath"].clone()));
        }
    }
    assert!(right.len() >= RIGHT && wrong.len() <= WRONG, "right: {right:#?}, wrong: {wrong:#?}");
    let answered: Vec<&&str> = UNANSWERED.iter().filter(|query| !best(query).is_null()).collect();
    assert!(answered.len() <= ANSWERED, "{answered:?}");
}

#[test]
fn what_shares_no_word_with_a_query_is_scored_semantically() {
    let repo = documents();
    call(&repo, "index_files", &json!({ "folderPath": ".", "options": { "chunkSize": 300, "overlap": 0 } }));
    let asked = json!({ "query": "protect vegetables from snails", "options": { "minScore": 0 } });
    let found = call(&repo, "search_documents", &asked);
    let answers =
        |hit: &Value| hit["content"].as_str().is_some_and(|text| text.contains("Slugs stay away from copper"));
    assert!(found["results"].as_array().unwrap().iter().any(answers), "{found}");
}

/// Documents of a household and an office, and what is asked about them: the half that no weight was chosen by.
const REPORTED: &str = "fixtures/search/mixed/report";
/// Answers out of 47 that are kept by the static embeddings, with a margin of a few; 23 when a score was by the cosine
/// alone.
const KEPT: usize = 32;
const UNKEPT: usize = 7;

#[test]
fn the_default_score_keeps_answers_in_a_small_folder_of_mixed_documents() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repo = Repo::new("//- /.gitignore\nnothing\n");
    for entry in std::fs::read_dir(root.join(REPORTED)).unwrap() {
        let entry = entry.unwrap();
        repo.write(entry.file_name().to_str().unwrap(), std::fs::read(entry.path()).unwrap());
    }
    repo.call("index_files", &json!({ "folderPath": "." }));
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut found = |query: &Value| {
        let answer = server.call("search_documents", &json!({ "query": query["query"] }));
        let paths: Vec<Value> =
            answer["results"].as_array().unwrap().iter().map(|hit| hit["filePath"].clone()).collect();
        paths
    };
    let queries = |name: &str| {
        let text = std::fs::read_to_string(root.join("fixtures/search/mixed").join(name)).unwrap();
        let queries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        queries.filter(|query| query["half"] == "report").collect::<Vec<_>>()
    };
    let missed: Vec<Value> = queries("paraphrases.jsonl")
        .into_iter()
        .filter(|query| !found(query).contains(&query["relevant"][0]))
        .map(|query| query["query"].clone())
        .collect();
    assert!(missed.len() <= 47 - KEPT, "{missed:#?}");
    let answered: Vec<Value> =
        queries("unanswered.jsonl").into_iter().filter(|query| !found(query).is_empty()).collect();
    assert!(answered.len() <= UNKEPT, "{answered:#?}");
}
