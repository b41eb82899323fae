//! Smart search: what words find, what filters leave, and what comes first.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

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
fn a_definition_comes_before_references_and_code_before_tests_documents_and_foreign_code() {
    let repo = Repo::new(TREE);
    assert_eq!(first(&repo, "getUserById").0, "src/server.py");
    assert_eq!(paths(&repo, "handle request")[0], "src/server.py");
    assert_eq!(paths(&repo, "tests that handle a request")[0], "tests/test_server.py");
    assert_eq!(paths(&repo, "guide documentation to handle a request")[0], "docs/guide.md");
}

#[test]
fn filters_hold() {
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
    // A part of a word is found in the files that pass.
    assert_eq!(only("ispatc path:docs"), Vec::<String>::new());
    assert_eq!(only("ispatc path:src"), ["src/server.py"]);
    // Inside a name a hyphen is not an exclusion.
    assert_eq!(only("zebra-crossing"), ["data/zebra_crossing.txt"]);
}

#[test]
fn a_phrase_in_a_sentence_raises_hits_and_excludes_none() {
    let repo = Repo::new(
        "//- /build.py
def staging_directory(path):
    return path.resolve()
//- /notes.md
# Release

Somebody wrote that the staging directory is unclear to them.
",
    );
    // Four words next to the phrase, then three.
    let found = paths(&repo, "fix \"staging directory is unclear\" in the build");
    assert_eq!(found, ["notes.md", "build.py"]);
    assert_eq!(paths(&repo, "fix \"staging directory is unclear\" in build"), ["notes.md"]);
    assert_eq!(paths(&repo, "\"staging directory is unclear\""), ["notes.md"]);
    let with = repo.call("query", &json!({ "text": "fix the \"resolve path\" of staging directory in build" }));
    assert_eq!(with["warning"], json!(null), "a phrase that nothing has excludes nothing: {with}");
    assert_eq!(paths(&repo, "fix \"staging directory was unclear\" in build")[0], "build.py");
}

#[test]
fn the_line_shown_has_the_rarest_words_of_the_query() {
    let repo = Repo::new(
        "//- /mail.txt
first line with b and c and de
second
mail a.b@c.de here
//- /page.go
package page

type Page struct{ date int }

func (p *Page) Date() int { return p.date }

func (p *Page) SetDate(date int) { p.date = date }

func (p *Page) IsFuture() bool { return p.date > now() }
",
    );
    assert_eq!(first(&repo, "a.b@c.de"), ("mail.txt".to_owned(), 3));
    assert_eq!(first(&repo, "page future date"), ("page.go".to_owned(), 9));
    assert_eq!(first(&repo, "set date of page"), ("page.go".to_owned(), 7));
}

/// The warning of a query that finds nothing.
fn warned(repo: &Repo, text: &str) -> String {
    let answer = repo.call("query", &json!({ "text": text }));
    assert_eq!((&answer["results"], &answer["total"]), (&json!([]), &json!(0)), "{text}: {answer}");
    answer["warning"].as_str().unwrap_or_else(|| panic!("{text}: {answer}")).to_owned()
}

/// A transcript of queries without a hit.
fn warnings(repo: &Repo, texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{text}\n  {}\n", warned(repo, text))).collect()
}

#[test]
fn a_filter_that_matches_nothing_gives_no_hits_and_near_values() {
    let repo = Repo::new(TREE);
    expect![[r#"
        handle request lang:pyhton
          `lang:pyhton` matches nothing: there is no such language. Did you mean python?
        lang:pyhton
          `lang:pyhton` matches nothing: there is no such language. Did you mean python?
        handle request lang:kotlin
          `lang:kotlin` matches nothing: no indexed file is in kotlin. There are: markdown, python, rust, text.
        server kind:klass
          `kind:klass` matches nothing: nothing is of that kind. Did you mean class?
        kind:interface server
          `kind:interface` matches nothing: nothing is of that kind. There are: class, function, method, variable, heading, document.
        handle path:vendr
          `path:vendr` matches nothing: no indexed path has it. Did you mean vendor?
        handle path:nonexist
          `path:nonexist` matches nothing: no indexed path has it.
        handle path:[
          `path:[` matches nothing: it is not a path pattern.
        handle tag:hwto
          `tag:hwto` matches nothing: nothing carries that tag. Did you mean howto?
        lang:python kind:klass path:vendr
          `kind:klass` matches nothing: nothing is of that kind. Did you mean class? `path:vendr` matches nothing: no indexed path has it. Did you mean vendor?
        evict lang:python
          No match passes the filters: lang:python.
        lang:markdown path:vendor
          No match passes the filters: lang:markdown path:vendor.
    "#]].assert_eq(&warnings(
        &repo,
        &[
            "handle request lang:pyhton",
            "lang:pyhton",
            "handle request lang:kotlin",
            "server kind:klass",
            "kind:interface server",
            "handle path:vendr",
            "handle path:nonexist",
            "handle path:[",
            "handle tag:hwto",
            "lang:python kind:klass path:vendr",
            // Each matches something, but not together, or not with these words.
            "evict lang:python",
            "lang:markdown path:vendor",
        ],
    ));
}

#[test]
fn what_is_not_a_filter_is_text() {
    let repo = Repo::new(
        r"
//- /a.rs
use std::path::Path;
// see http://example.org/kind
fn open(path: &Path) {}
//- /b.txt
lang: en
",
    );
    for text in ["std::path:", "path::Path", "path:", "http://example.org", "fn open(path: &Path)", "open(path:&Path)"]
    {
        let answer = repo.call("query", &json!({ "text": text }));
        assert_eq!(answer["results"][0]["file_path"], "a.rs", "{text}: {answer}");
        assert!(answer.get("warning").is_none(), "{text}: {answer}");
    }
    // Punctuation alone is text as well: it does not make a list of all files.
    assert_eq!(paths(&repo, "lang:rust ::"), ["a.rs"]);
    assert_eq!(warned(&repo, "lang:text =>"), "No match passes the filters: lang:text.");
}

#[test]
fn phrases_and_exclusions_that_leave_nothing_are_not_dropped() {
    let repo = Repo::new(TREE);
    let searches = ["\"request dispatch\"", "\"request user\" lang:markdown", "request -request"];
    expect![[r#"
        "request dispatch"
          No match contains the quoted phrases. Without the quotes, any of the words matches.
        "request user" lang:markdown
          No match passes the filters: lang:markdown, the quoted phrases.
        request -request
          Every match contains an excluded word.
    "#]]
    .assert_eq(&warnings(&repo, &searches));
}

#[test]
fn in_text_that_looks_pasted_filters_only_raise() {
    let repo = Repo::new(TREE);
    let sentence = "where does the server handle a request of a user";
    let plain = paths(&repo, sentence);
    let raised = paths(&repo, &format!("{sentence} lang:markdown"));
    let rank = |found: &[String]| found.iter().position(|path| path == "docs/guide.md").unwrap();
    assert!(rank(&raised) < rank(&plain), "{plain:?} {raised:?}");
    let sorted = |mut found: Vec<String>| {
        found.sort();
        found
    };
    assert_eq!(sorted(raised), sorted(plain), "nothing is left out");
    let explained = repo.call("query", &json!({ "text": format!("{sentence} lang:markdown"), "explain": true }));
    for hit in explained["results"].as_array().unwrap() {
        assert_eq!(hit["parts"].get("filter").is_some(), hit["file_path"] == "docs/guide.md", "{hit}");
    }
    // What nothing matches is text there, and the answer says so.
    let answer = repo.call("query", &json!({ "text": format!("ERROR kind:io could not handle request\n{sentence}") }));
    assert_eq!(answer["results"][0]["file_path"], "src/server.py", "{answer}");
    assert!(answer["warning"].as_str().unwrap().ends_with("It was read as text."), "{answer}");
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
fn of_many_equal_answers_the_first_paths_are_ranked() {
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
fn any_text_is_a_query() {
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

/// One base with a method, many that look alike, all in two files.
fn look_alikes() -> String {
    let mut text =
        String::from("//- /app/db/models/base.py\nclass ModelBase:\n    def save(self): return self.model\n");
    for name in ["ModelForm", "ModelSet", "ModelState", "Model", "ModelQuery"] {
        text.push_str(&format!("class {name}:\n    def save(self):\n        \"\"\"Save the model.\"\"\"\n"));
        text.push_str(&"        self.save_model(self.model)\n".repeat(30));
    }
    text.push_str("//- /app/forms.py\nclass BaseModelForm:\n    def save(self): return self.model.save()\n");
    text.push_str("//- /app/use.py\nfrom app.db.models import Model\n\nModel.save(Model())\nModel.save(None)\n");
    text
}

#[test]
fn a_qualified_name_is_first_where_it_is_defined() {
    let repo = Repo::new(&look_alikes());
    let definition = json!(["app/db/models/base.py", "Model.save"]);
    for asked in ["Model.save", "Model::save", "model.save()", "models.Model.save"] {
        let answer = repo.call("query", &json!({ "text": asked }));
        let hit = &answer["results"][0];
        assert_eq!(json!([hit["file_path"], hit["symbol_name"]]), definition, "{asked}: {answer}");
    }
}

#[test]
fn a_name_is_found_by_the_package_that_people_import_it_from() {
    let repo = Repo::new(&look_alikes());
    let containers = |name: &str| -> Vec<Value> {
        let answer = repo.call("get_symbol", &json!({ "symbol_name": name, "kind": "method" }));
        let symbols = answer["symbols"].as_array().unwrap();
        symbols.iter().map(|symbol| symbol["container"].clone()).collect()
    };
    for name in ["Model.save", "models.Model.save", "app.db.models.Model.save", "app.Model.save()"] {
        assert_eq!(containers(name), [json!("Model")], "{name}");
    }
    assert_eq!(containers("models.save").len(), 0, "it stands in a type that is not named");
    assert_eq!(containers("elsewhere.Model.save").len(), 0);
    let types = repo.call("get_symbol", &json!({ "symbol_name": "models.Model", "kind": "class" }));
    assert_eq!(types["total"], 1, "{types}");
}

#[test]
fn a_filter_of_kinds_shows_what_is_of_that_kind() {
    let repo = Repo::new(
        r"
//- /a.py
class Field:
    widget = 1
    def as_widget(self): pass

def widget(): pass
//- /b.py
widget = 2
",
    );
    let answer = repo.call("query", &json!({ "text": "kind:class widget" }));
    let hits: Vec<_> = answer["results"].as_array().unwrap().iter().map(|hit| &hit["preview"]).collect();
    assert_eq!(hits, ["class Field:"], "{answer}");
    assert_eq!(first(&repo, "kind:function widget"), ("a.py".to_owned(), 5));
}

#[test]
fn punctuation_counts_if_it_is_all_that_is_asked_for() {
    let repo = Repo::new(&format!(
        "//- /AUTHORS\n{}//- /code/one.py\na => b\nc => d\ne => f\n//- /code/two.py\nx => y\n",
        "name => mail\n".repeat(20)
    ));
    let found = paths(&repo, "=>");
    assert_eq!(found[..3], ["code/one.py", "code/one.py", "code/two.py"], "{found:?}");
    assert_eq!(found.iter().filter(|path| *path == "AUTHORS").count(), 10 - 4, "{found:?}");
    let (mut all, mut offset) = (Vec::new(), 0);
    loop {
        let page = repo.call("query", &json!({ "text": "=>", "limit": 7, "offset": offset }));
        assert_eq!(page["total"], 24);
        let hits = page["results"].as_array().unwrap().iter();
        all.extend(hits.map(|hit| format!("{}:{}", hit["file_path"], hit["line"])));
        let Some(next) = page["next_offset"].as_u64() else { break };
        offset = next;
    }
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (24, 24), "pages are parts of one order");
}

#[test]
fn pages_of_punctuation_are_parts_of_one_order_however_large_they_are() {
    let mut files = format!("//- /AUTHORS\n{}", "name => mail\n".repeat(290));
    for at in 0..60 {
        files.push_str(&format!("//- /b{at:02}.{}\na => b\n", if at % 2 == 0 { "py" } else { "txt" }));
    }
    let repo = Repo::new(&files);
    let page = |offset: usize, limit: usize| -> Vec<Value> {
        let answer = repo.call("query", &json!({ "text": "=>", "limit": limit, "offset": offset }));
        assert_eq!(answer["total"], 350);
        answer["results"].as_array().unwrap().iter().map(|hit| json!([hit["file_path"], hit["line"]])).collect()
    };
    let all = page(0, 1000);
    assert_eq!(all.len(), 350);
    assert_eq!(all[300..], page(300, 100)[..]);
    assert_eq!(all[290..310], page(290, 20)[..]);
}

#[test]
fn punctuation_next_to_words_lifts_what_has_it_as_written() {
    let repo = Repo::new(
        r"
//- /c.py
class C:
    def c(self): return c
//- /langs.py
NAMES = [
    'a',
    'C++ for all',
]
//- /foo.py
class Foo:
    def bar(self): pass
//- /use.c
int f(void) {
  return foo->bar;
}
",
    );
    assert_eq!(first(&repo, "C++").0, "langs.py");
    assert_eq!(first(&repo, "foo->bar").0, "use.c");
}

#[test]
fn what_is_found_by_a_prefix_is_shown_where_it_is() {
    let repo = Repo::new("//- /a.py\nfirst = 1\nsecond = 2\nmodlist = 3\n//- /b.txt\nx\n\ncafe\u{301} au lait\n");
    assert_eq!(first(&repo, "Modl"), ("a.py".to_owned(), 3));
    assert_eq!(first(&repo, "cafe"), ("b.txt".to_owned(), 3));
}

#[test]
fn a_line_break_in_a_pattern_is_refused_unless_lines_may_be_crossed() {
    let repo = Repo::new(
        r"
//- /a.py
a
b
",
    );
    let mut refused = String::new();
    for arguments in [["-m", "regex", "a\\nb"], ["-m", "literal", "a\nb"], ["-m", "regex", "x|a\\nb"]] {
        refused += &repo.fails(&[&["query"], &arguments[..]].concat());
        let found = repo.run(&[&["query", "-U"], &arguments[..]].concat());
        assert!(found.status.success(), "{arguments:?}");
    }
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: argument `TEXT`: the pattern contains a line break, which no line contains. Set `--multiline`, so that a match may cover several lines.
        ixmcp: INVALID_ARGUMENT: argument `TEXT`: the pattern contains a line break, which no line contains. Set `--multiline`, so that a match may cover several lines.
        ixmcp: INVALID_ARGUMENT: argument `TEXT`: the pattern contains a line break, which no line contains. Set `--multiline`, so that a match may cover several lines.
    "#]].assert_eq(&refused);
    repo.ok(&["query", "-m", "regex", "a\\s*$"]);
    repo.ok(&["query", "a\nb"]);
}
