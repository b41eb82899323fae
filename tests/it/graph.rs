//! The tools on the knowledge graph, asked of the fixture repository and of graphs made to be difficult.

use std::fmt::Write;
use std::time::Duration;

use expect_test::expect;
use ixmcp::budget::Budget;
use ixmcp::store::Snapshot;
use ixmcp::update::Part;
use serde_json::{Value, json};

use crate::entities::fixture;
use crate::support::harness::{Repo, Server};
use crate::support::sound::{assert_sound, freshen, open};
use crate::support::wire::{Wire, hello};

fn lines(answer: &Value) -> String {
    serde_json::to_string_pretty(answer).unwrap()
}

#[test]
fn a_sync_counts_net_changes_and_names_every_problem() {
    let repo = fixture();
    let first = repo.call("ixchel_sync", &json!({}));
    let problems: String = first["problems"].as_array().unwrap().iter().fold(String::new(), |mut all, problem| {
        writeln!(
            all,
            "{}:{} {}",
            problem["path"].as_str().unwrap(),
            problem["line"],
            problem["reason"].as_str().unwrap()
        )
        .unwrap();
        all
    });
    expect![[r#"
        .ixchel/README.md:1 there is no front matter: the file is not an entity
        .ixchel/decisions/dec-1a2b3c.md:11 `supersedes` leads to dec-0f0f0f, which is not the id of an entity
        .ixchel/decisions/dec-copy.md:null the id dec-1a2b3c is taken by .ixchel/decisions/dec-1a2b3c.md, which takes precedence
        .ixchel/ideas/sub/folder/idea-bbbbbb.md:14 `agent` leads to agt-1, which is not the id of an entity
        .ixchel/issues/broken-yaml.md:3 the front matter is not YAML: mapping values are not allowed in this context
        .ixchel/issues/broken-yaml.md:6 the front matter is not YAML: while parsing a flow sequence, expected ',' or ']'
        .ixchel/issues/empty.md:1 there is no `id` in the front matter: the file is not an entity
        .ixchel/issues/list.md:2 the front matter is not a list of fields
        .ixchel/issues/no-id.md:1 there is no `id` in the front matter: the file is not an entity
        .ixchel/issues/unclosed.md:1 the front matter is not closed: a line `---` is missing
        .ixchel/sources/src-unknown.md:3 the type `epic` is not a known type; it counts as source
    "#]]
    .assert_eq(&problems);
    let counts = |answer: &Value| {
        ["scanned", "added", "modified", "deleted", "unchanged"].map(|name| answer[name].as_u64().unwrap())
    };
    assert_eq!(counts(&first), [21, 21, 0, 0, 0]);
    assert_eq!(counts(&repo.call("ixchel_sync", &json!({}))), [21, 0, 0, 0, 21]);
    assert_eq!(counts(&repo.call("ixchel_sync", &json!({ "force": true }))), [21, 0, 0, 0, 21]);
    repo.write(".ixchel/issues/iss-new.md", "---\nid: iss-new\n---\n");
    repo.write(".ixchel/issues/bd-4f2.md", "---\nid: bd-4f2\n---\n");
    repo.write("src/other.rs", "fn other() {}\n");
    repo.remove(".ixchel/issues/bd-4f3.md");
    // A read in between changes nothing of what is counted.
    repo.call("ixchel_tags", &json!({}));
    assert_eq!(counts(&repo.call("ixchel_sync", &json!({}))), [21, 1, 1, 1, 19]);
}

#[test]
fn entities_are_shown_as_they_are_on_disk() {
    let repo = fixture();
    let answer = repo.call("ixchel_show", &json!({ "id": "iss-bbbbbb" }));
    assert_eq!(answer["id"], "ISS-BBBBBB");
    assert_eq!(answer["path"], ".ixchel/issues/ISS-BBBBBB.md");
    assert_eq!(answer["kind"], "issue");
    let answer = repo.call("ixchel_show", &json!({ "id": "bd-4f3" }));
    let on_disk = std::fs::read_to_string(repo.path().join(".ixchel/issues/bd-4f3.md")).unwrap();
    assert_eq!(answer["raw"], on_disk);
    assert_eq!(repo.call("ixchel_show", &json!({ "id": "решение-1" }))["title"], "Свой язык");
    assert_eq!(repo.call("ixchel_show", &json!({ "id": "../../etc/passwd" }))["path"], ".ixchel/other/path-id.md");
    assert_eq!(repo.call("ixchel_show", &json!({ "id": "The Beginning" }))["id"], "Home");
    let output = repo.run(&["call", "ixchel_show", "--args", r#"{"id":"dec-1a2b3"}"#]);
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"
        ixmcp: NOT_FOUND: there is no entity "dec-1a2b3". Did you mean dec-1a2b3c?
    "#]]
    .assert_eq(&String::from_utf8(output.stderr).unwrap());
}

#[test]
fn the_graph_shows_edges_by_relationship_both_ways_and_beyond() {
    let repo = fixture();
    let answer = repo.call("ixchel_graph", &json!({ "id": "dec-1a2b3c" }));
    expect![[r#"
        {
          "id": "dec-1a2b3c",
          "outgoing": [
            {
              "rel": "relates_to",
              "targets": [
                {
                  "id": "iss-aaaaaa",
                  "title": "With a byte order mark"
                },
                {
                  "id": "idea-bbbbbb",
                  "title": "Folded over two lines"
                }
              ]
            },
            {
              "rel": "supersedes",
              "targets": [
                {
                  "id": "dec-0f0f0f",
                  "title": null
                }
              ]
            }
          ],
          "title": "One file: SQLite",
          "total": 3,
          "truncated": false
        }"#]]
    .assert_eq(&lines(&answer));
    let answer =
        repo.call("ixchel_graph", &json!({ "id": "iss-aaaaaa", "direction": "both", "depth": 2, "rel": "blocks" }));
    expect![[r#"
        {
          "beyond": [],
          "id": "iss-aaaaaa",
          "incoming": [
            {
              "rel": "blocks",
              "sources": [
                {
                  "id": "iss-cccccc",
                  "title": "Colon: in a title"
                }
              ]
            }
          ],
          "outgoing": [
            {
              "rel": "blocks",
              "targets": [
                {
                  "id": "ISS-BBBBBB",
                  "title": "Upper case"
                }
              ]
            }
          ],
          "title": "With a byte order mark",
          "total": 2,
          "truncated": false
        }"#]]
    .assert_eq(&lines(&answer));
    let beyond = repo.call("ixchel_graph", &json!({ "id": "Home", "depth": 5 }))["beyond"].clone();
    expect![[r#"
        [
          {
            "distance": 2,
            "id": "idea-bbbbbb",
            "title": "Folded over two lines",
            "via": "dec-1a2b3c"
          },
          {
            "distance": 2,
            "id": "iss-aaaaaa",
            "title": "With a byte order mark",
            "via": "dec-1a2b3c"
          },
          {
            "distance": 2,
            "id": "team___plan",
            "title": "Plan",
            "via": "projects/Deep Note"
          },
          {
            "distance": 3,
            "id": "ISS-BBBBBB",
            "title": "Upper case",
            "via": "iss-aaaaaa"
          }
        ]"#]]
    .assert_eq(&lines(&beyond));
}

#[test]
fn a_context_holds_neighbours_and_the_code_that_texts_name() {
    let repo = fixture();
    let answer = repo.call("ixchel_context", &json!({ "id": "dec-1a2b3c" }));
    expect![[r##"
        {
          "code": [
            {
              "line": 3,
              "path": "src/store.rs",
              "symbol": "open_store",
              "why": "`src/store.rs:3` in dec-1a2b3c"
            }
          ],
          "id": "dec-1a2b3c",
          "items": [
            {
              "body": "# One file\n\nBecause of #simplicity, see `src/store.rs:3` and `open_store`.",
              "id": "dec-1a2b3c",
              "kind": "decision",
              "title": "One file: SQLite",
              "why": "asked for"
            },
            {
              "body": "",
              "id": "idea-bbbbbb",
              "kind": "idea",
              "title": "Folded over two lines",
              "why": "dec-1a2b3c relates_to it; it inspired_by dec-1a2b3c"
            },
            {
              "body": "# Title from the heading ##",
              "id": "rpt-anchors",
              "kind": "report",
              "title": "Title from the heading",
              "why": "it covers dec-1a2b3c; it repeats dec-1a2b3c"
            },
            {
              "body": "",
              "id": "iss-aaaaaa",
              "kind": "issue",
              "title": "With a byte order mark",
              "why": "dec-1a2b3c relates_to it"
            },
            {
              "body": "# Home\n\n[[projects/Deep Note|a label]], [[Start#heading]], ![[picture.png]], [md](projects/Deep%20Note.md#part), [[Nowhere]].\n\nrelated:: [[202601021530]], [[dec-1a2b3c]]\n\n- #moc/sub `[[code]]`",
              "id": "Home",
              "kind": "note",
              "title": "Home",
              "why": "it related dec-1a2b3c"
            },
            {
              "body": "",
              "id": "решение-1",
              "kind": "report",
              "title": "Свой язык",
              "why": "it see dec-1a2b3c"
            }
          ],
          "left_out": []
        }"##]].assert_eq(&lines(&answer));
    let small = repo.call("ixchel_context", &json!({ "id": "dec-1a2b3c", "budget_tokens": 60 }));
    assert_eq!(small["items"].as_array().unwrap().len(), 1);
    assert_eq!(small["left_out"].as_array().unwrap().len(), 5);
}

#[test]
fn tags_are_counted_of_entities_of_one_kind_and_of_documents() {
    let repo = fixture();
    let counted = |arguments: Value| -> String {
        let answer = repo.call("ixchel_tags", &arguments);
        let tags = answer["tags"].as_array().unwrap().iter();
        let tags: Vec<String> = tags.map(|tag| format!("{} {}", tag["tag"].as_str().unwrap(), tag["count"])).collect();
        assert_eq!(answer["total"], tags.len());
        tags.join(", ")
    };
    expect!["1.0 1, 2024 1, a 1, b 1, dos 1, fine 1, folded 1, legacy 1, moc 1, moc/sub 1, one-word 1, quoted 1, simplicity 1, storage 2, true 1, two words 1, windows 1, x 1, y 1, решение 1"].assert_eq(&counted(json!({})));
    expect!["a 1, b 1, dos 1, fine 1, legacy 1, one-word 1, storage 1, windows 1"]
        .assert_eq(&counted(json!({ "kind": "Issues" })));
    expect!["docs 1, homeless 1, howto 1, readme 1, storage 1"].assert_eq(&counted(json!({ "kind": "document" })));
    let untagged = repo.call("ixchel_tags", &json!({ "untagged": true, "kind": "note" }));
    expect![[r#"
        {
          "items": [
            {
              "id": "202601021530 Zettel",
              "kind": "note",
              "path": "vault/202601021530 Zettel.md",
              "title": "A zettel"
            },
            {
              "id": "projects/Deep Note",
              "kind": "note",
              "path": "vault/projects/Deep Note.md",
              "title": "Deep Note"
            },
            {
              "id": "team___plan",
              "kind": "note",
              "path": "vault/team___plan.md",
              "title": "Plan"
            }
          ],
          "total": 3
        }"#]]
    .assert_eq(&lines(&untagged));
    let documents = repo.call("ixchel_tags", &json!({ "untagged": true, "kind": "document" }));
    assert_eq!(documents["total"], 5, "{documents}");
}

#[test]
fn a_search_finds_entities_alone_and_narrows_them() {
    let repo = fixture();
    let ids = |arguments: Value| -> Vec<String> {
        let answer = repo.call("ixchel_search", &arguments);
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(json!({ "query": "SQLite" }))[0], "dec-1a2b3c");
    assert_eq!(ids(json!({ "query": "bd-4f3" }))[0], "bd-4f3");
    assert_eq!(ids(json!({ "query": "open_store" }))[0], "dec-1a2b3c");
    assert_eq!(ids(json!({ "query": "issue", "tag": "legacy" })), ["bd-4f2"]);
    assert_eq!(ids(json!({ "query": "home", "kind": "note" })).len(), 4);
    assert!(ids(json!({ "query": "qqzzxqqzz" })).is_empty());
    let refused = repo.fails(&["call", "ixchel_search", "--args", r#"{"query": "x", "kind": "desicion"}"#]);
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: argument `kind`: no entity is of kind "desicion". Did you mean decision?
    "#]]
    .assert_eq(&refused);
}

#[test]
fn a_search_of_entities_is_not_crowded_out_by_code() {
    let repo = fixture();
    for at in 0..400 {
        repo.write(
            &format!("code/m{at}.py"),
            format!("# The parser of the storage, simplicity {at}.\ndef parser{at}(): ..."),
        );
    }
    repo.write(".ixchel/reports/rpt-parser.md", "---\nid: rpt-parser\ntags: [storage]\n---\nA parser.\n");
    let ids = |arguments: Value| -> Vec<String> {
        let answer = repo.call("ixchel_search", &arguments);
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
    };
    // Words of all the code, next to each other and alone, and a part of one.
    assert_eq!(ids(json!({ "query": "the parser" }))[0], "rpt-parser");
    assert_eq!(ids(json!({ "query": "parser", "kind": "reports", "tag": "#storage" })), ["rpt-parser"]);
    assert_eq!(ids(json!({ "query": "parser", "kind": "issue" })), [""; 0]);
    assert_eq!(ids(json!({ "query": "simplicity" })), ["dec-1a2b3c"]);
    assert_eq!(ids(json!({ "query": "implicit" })), ["dec-1a2b3c"], "by a part of a word");
    assert_eq!(ids(json!({ "query": "guide", "kind": "document" })), ["docs/guide.md"]);
    assert_eq!(ids(json!({ "query": "howto", "kind": "documents", "tag": "storage" })), ["docs/guide.md"]);
    assert_eq!(ids(json!({ "query": "rpt-parser", "tag": "storage" })), ["rpt-parser"]);
    assert_eq!(ids(json!({ "query": "rpt-parser", "tag": "legacy" })), [""; 0]);
    // What changed since is in.
    repo.write(".ixchel/reports/rpt-second.md", "---\nid: rpt-second\n---\nA parser.\n");
    assert_eq!(ids(json!({ "query": "parser" })), ["rpt-parser", "rpt-second"]);
}

#[test]
fn a_search_of_entities_finds_them_semantically() {
    let repo = Repo::new("");
    for (id, text) in [
        ("dec-erase", "Files are unlinked at once: whoever erases one gets no second chance."),
        ("dec-dial", "Sockets connect to the host with a timeout of ten seconds."),
        ("dec-cook", "Boil the pasta in salted water for nine minutes, then add the sauce."),
    ] {
        repo.write(&format!(".ixchel/decisions/{id}.md"), format!("---\nid: {id}\n---\n{text}\n"));
    }
    for at in 0..300 {
        repo.write(&format!("src/m{at}.py"), format!("def delete_document_{at}(disk):\n    disk.delete(document)\n"));
    }
    assert_eq!(repo.call("ixchel_sync", &json!({}))["added"], 3);
    // The words of the first are in the code, and in none of the entities.
    for (query, id) in
        [("delete a document from disk", "dec-erase"), ("open a network connection to a server", "dec-dial")]
    {
        assert_eq!(repo.call("ixchel_search", &json!({ "query": query }))["hits"][0]["id"], id, "{query}");
    }
}

#[test]
fn a_kind_narrows_a_query_to_entities_or_documents() {
    let repo = fixture();
    repo.write("src/storage.py", "def storage(): ...\n");
    let paths = |text: &str| -> Vec<String> {
        let answer = repo.call("query", &json!({ "text": text }));
        let mut paths: Vec<String> = answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["file_path"].as_str().unwrap().to_owned())
            .collect();
        paths.sort();
        paths.dedup();
        paths
    };
    assert_eq!(paths("storage kind:decision"), [".ixchel/decisions/dec-1a2b3c.md"]);
    assert_eq!(paths("storage kind:issues"), [".ixchel/issues/bd-4f2.md"]);
    assert_eq!(paths("storage kind:document"), ["docs/guide.md"]);
    assert_eq!(paths("storage kind:document tag:howto"), ["docs/guide.md"]);
    assert_eq!(paths("storage kind:function"), ["src/storage.py"]);
    assert_eq!(paths("storage kind:function kind:decision"), [".ixchel/decisions/dec-1a2b3c.md", "src/storage.py"]);
    assert_eq!(paths("storage kind:nonsense"), Vec::<String>::new());
    // Kinds alone list their files.
    assert_eq!(paths("kind:decision"), [".ixchel/decisions/dec-1a2b3c.md"]);
}

#[test]
fn a_link_resolves_when_its_target_comes_and_incoming_links_survive_edits() {
    let repo = Repo::new(
        r"
//- /.ixchel/a.md
---
id: iss-1
blocks: [iss-2, plain]
---
",
    );
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let outgoing = |server: &mut Server| server.call("ixchel_graph", &json!({ "id": "iss-1" }))["outgoing"].clone();
    let dangling = json!([{ "rel": "blocks", "targets": [{ "id": "iss-2", "title": null }] }]);
    assert_eq!(outgoing(&mut server), dangling);
    repo.write(".ixchel/b.md", "---\nid: iss-2\ntitle: Two\n---\n");
    repo.write(".ixchel/c.md", "---\nid: plain\ntitle: Plain\n---\n");
    let both = json!([{ "rel": "blocks", "targets": [{ "id": "iss-2", "title": "Two" }, { "id": "plain", "title": "Plain" }] }]);
    assert_eq!(outgoing(&mut server), both);
    repo.write(".ixchel/b.md", "---\nid: iss-2\ntitle: Second\n---\n");
    let incoming = server.call("ixchel_graph", &json!({ "id": "iss-2", "direction": "incoming" }));
    assert_eq!(incoming["title"], "Second");
    assert_eq!(incoming["incoming"], json!([{ "rel": "blocks", "sources": [{ "id": "iss-1", "title": "iss-1" }] }]));
    repo.remove(".ixchel/b.md");
    repo.remove(".ixchel/c.md");
    assert_eq!(outgoing(&mut server), dangling);
}

/// A graph in which everything leads to everything else in the end.
fn cycle(count: usize) -> Repo {
    let repo = Repo::new("");
    for at in 0..count {
        let next = (at + 1) % count;
        let text =
            format!("---\nid: iss-{at:04}\ntitle: Number {at}\ndepends_on: iss-{next:04}\nself: iss-{at:04}\n---\n");
        repo.write(&format!(".ixchel/issues/iss-{at:04}.md"), text);
    }
    repo
}

#[test]
fn cycles_and_self_links_end_every_walk() {
    let repo = cycle(1000);
    let answer = repo.call("ixchel_graph", &json!({ "id": "iss-0000", "direction": "both", "depth": 20 }));
    let beyond = answer["beyond"].as_array().unwrap();
    assert_eq!(beyond.len(), 38);
    assert_eq!(beyond[0], json!({ "id": "iss-0002", "title": "Number 2", "distance": 2, "via": "iss-0001" }));
    assert_eq!(beyond[1]["id"], "iss-0998");
    let context = repo.call("ixchel_context", &json!({ "id": "iss-0000" }));
    let ids: Vec<&str> = context["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["iss-0000", "iss-0001", "iss-0999"]);
    let cycles: Value = serde_json::from_str(&repo.ok(&["entity", "cycles", "--json"])).unwrap();
    assert_eq!(cycles["cycles"][0].as_array().unwrap().len(), 1000);
    let way: Value = serde_json::from_str(&repo.ok(&["entity", "path", "iss-0000", "iss-0500", "--json"])).unwrap();
    assert_eq!(way["steps"].as_array().unwrap().len(), 500);
    assert_eq!(repo.run(&["entity", "ready"]).status.code(), Some(1), "each waits for the next");
    assert_eq!(repo.ok(&["graph", "-f", "dot"]).matches("fillcolor=").count(), 1000);
    let checked = repo.ok(&["entity", "check"]);
    assert_eq!(checked.matches("1000 entities wait for each other: iss-0000 → iss-0001 → ").count(), 1, "{checked}");
}

#[test]
fn a_hub_is_shown_in_pages_that_fit() {
    let repo = Repo::new(
        r"
//- /.ixchel/hub.md
---
id: dec-hub
---
",
    );
    for at in 0..1500 {
        let text = format!("---\nid: iss-{at:04}\ntitle: {}\nblocks: dec-hub\n---\n", "long title ".repeat(6));
        repo.write(&format!(".ixchel/iss-{at:04}.md"), text);
    }
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    let mut seen = 0;
    let mut offset = 0;
    loop {
        let arguments = json!({ "id": "dec-hub", "direction": "incoming", "offset": offset });
        let request = json!({ "name": "ixchel_graph", "arguments": arguments });
        let answer = server.response("tools/call", &request)["result"]["structuredContent"].clone();
        assert!(answer.to_string().len() <= 24 << 10);
        assert_eq!(answer["total"], 1500);
        seen += answer["incoming"][0]["sources"].as_array().unwrap().len();
        let Some(next) = answer["next_offset"].as_u64() else { break };
        offset = next;
    }
    assert_eq!(seen, 1500);
    let request = json!({ "name": "ixchel_context", "arguments": { "id": "dec-hub", "budget_tokens": 1_000_000 } });
    let answer = server.response("tools/call", &request)["result"]["structuredContent"].clone();
    assert!(answer.to_string().len() <= 40 << 10, "{}", answer.to_string().len());
    assert!(answer["items"].as_array().unwrap().len() > 50);
    assert!(answer["left_out_total"].as_u64().unwrap() > 1000);
}

#[test]
fn hostile_entity_files_are_problems_and_nothing_more() {
    let repo = Repo::new(
        r"
//- /.ixchel/good.md
---
id: dec-good
tags: [fine]
---
",
    );
    let tags: String = (0..10_000).fold(String::new(), |mut all, at| {
        writeln!(all, "  - tag-{at}").unwrap();
        all
    });
    repo.write(".ixchel/tags.md", format!("---\nid: dec-tags\ntags:\n{tags}---\n"));
    repo.write(".ixchel/large.md", format!("---\nid: dec-large\nx: {}\n---\n", "y".repeat(10 << 20)));
    repo.write(".ixchel/wide.md", format!("---\nid: dec-wide\nx: {}\n---\n", "y".repeat(1 << 20)));
    repo.write(".ixchel/nul.md", b"---\nid: dec-nul\n---\n\0\0\0");
    let bomb: String = (1..30).fold("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(), |all, at| {
        format!("{all}a{at}: &a{at} [{}]\n", format!("*a{}, ", at - 1).repeat(10))
    });
    repo.write(".ixchel/bomb.md", format!("---\nid: dec-bomb\n{bomb}depends_on: *a29\n---\n"));
    repo.write(".ixchel/deep.md", format!("---\nid: dec-deep\nx: {}\n---\n", "[".repeat(100_000)));
    let missing: String = (0..5_000).map(|at| format!("iss-{at:06x}, ")).collect();
    repo.write(".ixchel/missing.md", format!("---\nid: dec-missing\nblocks: [{missing}]\n---\n"));
    repo.write(
        ".ixchel/long.md",
        format!("---\nid: dec-{}\ntitle: {}\n---\n", "a".repeat(100_000), "t".repeat(100_000)),
    );
    std::os::unix::fs::symlink("/etc/hostname", repo.path().join(".ixchel/link.md")).unwrap();
    let mut answer = repo.call("ixchel_sync", &json!({}));
    let problems = answer["problems"].as_array_mut().unwrap();
    let reported = problems.len();
    // Every one of them is named; one of each sort is shown here.
    problems.retain(|problem| !problem.to_string().contains("leads to iss-"));
    assert_eq!(reported - problems.len(), 5_000);
    problems.dedup_by_key(|problem| problem["path"].clone());
    assert_eq!(repo.run(&["entity", "check"]).status.code(), Some(1));
    let reasons: Vec<String> =
        answer["problems"].as_array().unwrap().iter().map(|problem| problem.to_string()).collect();
    expect![[r#"
        {"line":7,"path":".ixchel/bomb.md","reason":"the field `a4` grows without measure"}
        {"path":".ixchel/deep.md","reason":"nested too deep for the grammar of markdown; indexed as plain text"}
        {"path":".ixchel/large.md","reason":"the file is left out: oversize"}
        {"path":".ixchel/link.md","reason":"the file is left out: symlink"}
        {"path":".ixchel/nul.md","reason":"the file is left out: binary"}
        {"line":1,"path":".ixchel/wide.md","reason":"the front matter is above 1024 KB and is not read"}"#]]
    .assert_eq(&reasons.join("\n"));
    assert_eq!(repo.call("ixchel_tags", &json!({}))["total"], 10_001);
    for id in ["dec-good", "dec-bomb", "dec-deep", "dec-missing"] {
        assert_eq!(repo.call("ixchel_show", &json!({ "id": id }))["id"], id);
        repo.call("ixchel_context", &json!({ "id": id }));
        repo.call("ixchel_graph", &json!({ "id": id, "depth": 5, "direction": "both" }));
    }
}

#[test]
fn a_sync_over_the_port_needs_the_token() {
    let repo = Repo::new(
        r"
//- /.ixchel/a.md
---
id: iss-1
---
",
    );
    repo.ok(&["daemon", "start", "--tcp", "localhost:0"]);
    let address = repo.status()["tcp"]["listening"][0].as_str().unwrap().to_owned();
    assert_eq!(Wire::tcp(&address).call("ixchel_show", json!({ "id": "iss-1" }))["result"]["id"], "iss-1");
    let refused = Wire::tcp(&address).call("ixchel_sync", json!({}));
    assert_eq!(refused["error"]["data"]["code"], "READ_ONLY", "{refused}");
    let token = std::fs::read_to_string(repo.path().join(".ixmcp/token")).unwrap();
    let mut wire = Wire::tcp(&address);
    wire.send(&hello(&json!({ "token": token })));
    assert_eq!(wire.call("ixchel_sync", json!({}))["result"]["scanned"], 1);
}

/// A repository of one entity, and code that takes a while.
fn much_code() -> Repo {
    let repo = Repo::new(
        r"
//- /.ixchel/a.md
---
id: iss-1
title: First
---
",
    );
    for at in 0..1200 {
        repo.write(&format!("src/m{at}.py"), format!("def f{at}(x):\n    return g{at}(x)\n").repeat(20));
    }
    repo
}

#[test]
fn entities_answer_while_code_is_still_being_indexed() {
    for watched in [false, true] {
        let repo = much_code();
        let workspace = open(repo.path());
        if watched {
            workspace.watch();
        }
        let budget = Budget::unlimited();
        let title = |id: &str| {
            workspace.updates.freshen(Part::Entities, Some(Duration::from_secs(120)), &budget).unwrap();
            assert!(workspace.progress().is_some(), "the code is still being read");
            let title = |snapshot: &Snapshot| Ok(snapshot.entity_named(id)?.map(|entity| entity.title));
            workspace.read(&budget, title).unwrap()
        };
        assert_eq!(title("iss-1").as_deref(), Some("First"));
        // What is saved meanwhile is as fresh as at other times.
        repo.write(".ixchel/a.md", "---\nid: iss-1\ntitle: Second\n---\n");
        repo.write(".ixchel/new/b.md", "---\nid: iss-2\ntitle: New\n---\n");
        assert_eq!(title("iss-1").as_deref(), Some("Second"));
        assert_eq!(title("iss-2").as_deref(), Some("New"));
        repo.remove(".ixchel/a.md");
        assert_eq!(title("iss-1"), None);
        freshen(&workspace);
        assert_sound(&workspace, "built in parts");
    }
}
