//! Smart search: what words find, what filters leave, and what comes first.

use serde_json::{Value, json};

use crate::harness::Repo;

const TREE: &str = "\
//- /src/server.py
class HTTPServer:
    def handle_request(self, request):
        return self.dispatch(request)


def getUserById(user_id):
    return find(user_id)
//- /src/cache.rs
/// Drops entries that were not used for a while.
pub fn evict_stale_entries(cache: &mut Cache) {
    cache.retain(|entry| entry.is_fresh());
}
//- /src/caller.py
from server import HTTPServer, getUserById

server = HTTPServer()
print(getUserById(5), getUserById(6), getUserById(7))
//- /tests/test_server.py
def test_handle_request():
    # handle request handle request handle request
    assert handle_request
//- /docs/guide.md
---
tags: [howto]
---
# Guide

The server will handle a request. A request is handled; handle request, handle request.
//- /vendor/server.py
def handle_request(request):
    return request
//- /data/zebra_crossing.txt
stripes
";

fn paths(repo: &Repo, text: &str) -> Vec<String> {
    let answer = repo.call("query", &json!({ "text": text }));
    answer["results"].as_array().unwrap().iter().map(|hit| hit["file_path"].as_str().unwrap().to_owned()).collect()
}

fn first(repo: &Repo, text: &str) -> (String, u64) {
    let answer = repo.call("query", &json!({ "text": text }));
    let hit = &answer["results"][0];
    assert!(!hit.is_null(), "{text}: {answer}");
    (hit["file_path"].as_str().unwrap().to_owned(), hit["line"].as_u64().unwrap())
}

#[test]
fn identifiers_are_found_by_their_words_and_words_in_all_their_forms() {
    let repo = Repo::new(TREE);
    let server = |line| ("src/server.py".to_owned(), line);
    assert_eq!(first(&repo, "user id"), server(6));
    assert_eq!(first(&repo, "http server"), server(1));
    assert_eq!(first(&repo, "HttpServer"), server(1));
    assert_eq!(first(&repo, "httpserver"), server(1));
    assert_eq!(first(&repo, "handling requests"), server(2));
    assert_eq!(first(&repo, "evicting stale entry"), ("src/cache.rs".to_owned(), 2));
    // Any punctuation is text.
    assert_eq!(first(&repo, "getUserById(user_id) AND (\"* NEAR"), server(6));
    assert_eq!(first(&repo, "HTTPServer.handle_request"), server(2));
}

#[test]
fn a_definition_comes_before_uses_and_code_before_tests_documents_and_foreign_code() {
    let repo = Repo::new(TREE);
    assert_eq!(first(&repo, "getUserById").0, "src/server.py");
    assert_eq!(paths(&repo, "handle request")[0], "src/server.py");
    assert_eq!(paths(&repo, "tests that handle a request")[0], "tests/test_server.py");
    assert_eq!(paths(&repo, "guide documentation to handle a request")[0], "docs/guide.md");
}

#[test]
fn filters_hold_unless_they_leave_nothing() {
    let repo = Repo::new(TREE);
    let only = |text: &str| {
        let mut found = paths(&repo, text);
        found.sort();
        found.dedup();
        found
    };
    assert_eq!(only("handle request path:vendor"), ["vendor/server.py"]);
    assert_eq!(only("handle request lang:markdown"), ["docs/guide.md"]);
    assert_eq!(only("handle request tag:howto"), ["docs/guide.md"]);
    assert_eq!(only("server kind:class"), ["src/server.py"]);
    assert_eq!(only("handle request -dispatch -assert -Guide"), ["vendor/server.py"]);
    assert_eq!(only("\"handle a request\""), ["docs/guide.md"]);
    // What no filter can mean is text, and so are filters that leave nothing.
    assert!(only("handle request tag:nothing").contains(&"src/server.py".to_owned()));
    assert!(only("evict lang:python").contains(&"src/cache.rs".to_owned()));
    // Inside a name a hyphen is no exclusion.
    assert!(only("zebra-crossing").contains(&"data/zebra_crossing.txt".to_owned()));
}

#[test]
fn filters_alone_list_what_they_admit() {
    let repo = Repo::new(TREE);
    assert_eq!(paths(&repo, "lang:python path:src"), ["src/caller.py", "src/server.py"]);
    assert_eq!(paths(&repo, "tag:howto"), ["docs/guide.md"]);
    assert_eq!(paths(&repo, "path:src -retain -print"), ["src/server.py"]);
    let answer = repo.call("query", &json!({ "text": "kind:class" }));
    assert_eq!(answer["results"][0]["symbol_name"], "HTTPServer");
    assert_eq!(answer["total"], 1);
    let page = repo.call("query", &json!({ "text": "lang:python", "limit": 2, "offset": 1 }));
    assert_eq!((&page["total"], &page["next_offset"]), (&json!(4), &json!(3)), "{page}");
}

/// Whatever the order in which files came into the index.
#[test]
fn of_many_that_answer_alike_the_first_paths_are_ranked() {
    let write = |repo: &Repo, at: u64| repo.write(&format!("f{at:03}.py"), format!("value = 1  # {at}\n"));
    let asked = json!({ "text": "value", "limit": 1000 });
    let forwards = Repo::new("");
    (0..400).for_each(|at| write(&forwards, at));
    forwards.sync();
    let backwards = Repo::new("");
    for at in (0..400).rev() {
        write(&backwards, at);
        if at % 50 == 0 {
            backwards.sync();
        }
    }
    let (one, other) = (forwards.call("query", &asked), backwards.call("query", &asked));
    assert_eq!(one["results"], other["results"]);
    assert_eq!(one["results"][0]["file_path"], "f000.py");
}

#[test]
fn beginnings_and_insides_of_words_are_found_when_words_are_not() {
    let repo = Repo::new(TREE);
    assert_eq!(first(&repo, "evic").0, "src/cache.rs");
    assert_eq!(first(&repo, "serByI").0, "src/caller.py");
}

#[test]
fn a_misspelt_word_that_finds_nothing_is_answered_with_a_suggestion() {
    let repo = Repo::new(TREE);
    let answer = repo.call("query", &json!({ "text": "httpservr" }));
    assert_eq!((&answer["results"], &answer["suggestion"]), (&json!([]), &json!("HTTPServer")));
    assert_eq!(repo.call("query", &json!({ "text": "qqqqqqqq" })).get("suggestion"), None);
}

#[test]
fn an_explanation_adds_up_to_the_score() {
    let repo = Repo::new(TREE);
    let answer = repo.call("query", &json!({ "text": "handle request", "explain": true }));
    for hit in answer["results"].as_array().unwrap() {
        let parts: f64 = hit["parts"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).sum();
        assert!((parts - hit["score"].as_f64().unwrap()).abs() < 0.02, "{hit}");
    }
    let of_test = answer["results"].as_array().unwrap().iter().find(|hit| hit["file_path"] == "tests/test_server.py");
    assert!(of_test.unwrap()["parts"]["test"].as_f64().unwrap() < 0.0);
}

#[test]
fn no_file_has_more_than_two_hits_before_the_others() {
    let mut tree = String::from("//- /b.py\nneedle = 1\n//- /a.py\n");
    for number in 0..200 {
        tree.push_str(&format!("def needle_{number}(needle):\n    return needle + {number}  # needle\n\n\n"));
    }
    let repo = Repo::new(&tree);
    let found = paths(&repo, "needle");
    let place = found.iter().position(|path| path == "b.py").unwrap();
    assert!(place <= 2, "{found:?}");
}

#[test]
fn any_text_is_a_question() {
    let repo = Repo::new(TREE);
    for text in [
        "\"",
        "*",
        "NEAR(",
        "AND",
        "x.y()",
        "-",
        "--",
        "-a",
        "\"open",
        "lang:",
        "path:[",
        "NOT x",
        "{",
        "^a",
        "names : x",
    ] {
        let answer: Value = repo.call("query", &json!({ "text": text }));
        assert!(answer["results"].is_array(), "{text}: {answer}");
    }
}
