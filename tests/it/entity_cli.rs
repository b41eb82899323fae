//! `ixmcp entity` and `ixmcp init` as a person uses them.

use std::process::{Child, Command, Stdio};

use expect_test::expect;
use serde_json::{Value, json};

use crate::entities::fixture;
use crate::support::harness::Repo;

fn json_of(repo: &Repo, arguments: &[&str]) -> Value {
    serde_json::from_str(&repo.ok(&[arguments, &["--json"]].concat())).unwrap()
}

fn create(repo: &Repo, arguments: &[&str]) -> String {
    repo.ok(&[&["entity", "create"], arguments].concat()).trim().to_owned()
}

#[test]
fn a_graph_grows_from_nothing_by_commands_alone() {
    let repo = Repo::new("//- /src/store.rs\npub fn open_store() {}\n");
    let refused = repo.run(&["entity", "create", "decision", "Too early"]);
    expect![[r#"
        ixmcp: NOT_FOUND: REPOSITORY/.ixchel does not exist. Run `ixmcp init` first.
    "#]]
    .assert_eq(&String::from_utf8(refused.stderr).unwrap().replace(repo.path().to_str().unwrap(), "REPOSITORY"));
    assert_eq!(json_of(&repo, &["init"])["made"], true);
    assert_eq!(json_of(&repo, &["entity", "init"])["made"], false);
    let decision =
        create(&repo, &["decision", "One", "file:", "SQLite", "--status", "accepted", "-t", "storage", "-t", "2024"]);
    assert!(decision.starts_with("dec-") && decision.len() == 10);
    let link = format!("implements={decision}");
    let issue = create(&repo, &["Issues", "Slow", "--status", "open", "-l", &link, "--body", "See `open_store`."]);
    let next = create(&repo, &["issue", "Later", "--status", "open"]);
    let linked = json_of(&repo, &["entity", "link", &next, "depends_on", &issue]);
    assert_eq!(linked, json!({ "from": next, "rel": "depends_on", "to": issue, "changed": true }));
    assert_eq!(json_of(&repo, &["entity", "link", &next, "depends_on", &issue])["changed"], false);
    let answer = repo.call("ixchel_context", &json!({ "id": issue }));
    assert_eq!(answer["code"][0]["symbol"], "open_store");
    assert_eq!(answer["items"].as_array().unwrap().len(), 3);
    let ready = |repo: &Repo| -> Vec<String> {
        let answer: Value = serde_json::from_slice(&repo.run(&["entity", "ready", "--json"]).stdout).unwrap();
        answer["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ready(&repo), [issue.as_str()]);
    repo.ok(&["entity", "edit", &issue, "--status", "closed", "--set", "priority=1"]);
    assert_eq!(ready(&repo), [next.as_str()]);
    let way = json_of(&repo, &["entity", "path", &next, &decision]);
    assert_eq!(way["steps"].as_array().unwrap().len(), 2);
    let tagged = json_of(&repo, &["entity", "tag", "add", &issue, "#fast", "two words"]);
    assert_eq!(tagged["tags"], json!(["fast", "two words"]));
    assert_eq!(json_of(&repo, &["entity", "tag", "remove", &issue, "fast"])["tags"], json!(["two words"]));
    assert_eq!(json_of(&repo, &["entity", "check", "--strict"]), json!({ "ok": true, "errors": [], "warnings": [] }));
    assert_eq!(json_of(&repo, &["entity", "unlink", &next, "depends_on", &issue])["changed"], true);
    let file = std::fs::read_to_string(repo.path().join(format!(".ixchel/issues/{issue}.md"))).unwrap();
    assert!(file.contains("\npriority: 1\n") && file.contains("status: closed\n"), "{file}");
    assert!(file.ends_with("---\n\nSee `open_store`.\n"), "{file}");
}

#[test]
fn edits_of_real_files_change_what_is_asked_and_no_other_byte() {
    let repo = fixture();
    let read = |path: &str| std::fs::read(repo.path().join(path)).unwrap();
    for (arguments, path, from, to) in [
        (&["entity", "tag", "add", "bd-4f2", "new"][..], ".ixchel/issues/bd-4f2.md", "legacy]", "legacy, new]"),
        (
            &["entity", "tag", "add", "bd-4f3", "new"],
            ".ixchel/issues/bd-4f3.md",
            "windows\r\n",
            "windows\r\n  - new\r\n",
        ),
        (&["entity", "link", "bd-4f2", "depends_on", "bd-4f2x"], ".ixchel/issues/bd-4f2.md", "", ""),
        (
            &["entity", "link", "bd-4f2", "depends_on", "dec-1a2b3c"],
            ".ixchel/issues/bd-4f2.md",
            "type: related\n",
            "type: related\n  - id: dec-1a2b3c\n",
        ),
        (
            &["entity", "unlink", "bd-4f2", "depends_on", "bd-4f3"],
            ".ixchel/issues/bd-4f2.md",
            "  - id: bd-4f3\n    type: blocks\n",
            "",
        ),
        (&["entity", "edit", "iss-aaaaaa", "--status", "closed"], ".ixchel/issues/iss-aaaaaa.md", "open", "closed"),
        (
            &["entity", "edit", "idea-bbbbbb", "--title", "Short"],
            ".ixchel/ideas/sub/folder/idea-bbbbbb.md",
            ">-\n  Folded over\n  two lines",
            "Short",
        ),
        (
            &["entity", "link", "dec-1a2b3c", "relates_to", "bd-4f2"],
            ".ixchel/decisions/dec-1a2b3c.md",
            "idea-bbbbbb]\n# A comment",
            "idea-bbbbbb, bd-4f2]\n# A comment",
        ),
        (
            &["entity", "unlink", "dec-1a2b3c", "supersedes", "dec-0f0f0f"],
            ".ixchel/decisions/dec-1a2b3c.md",
            "dec-0f0f0f",
            "[]",
        ),
    ] {
        let before = String::from_utf8(read(path)).unwrap();
        let status = repo.run(arguments).status;
        let expected = if from.is_empty() { before.clone() } else { before.replacen(from, to, 1) };
        assert_eq!(status.success(), before != expected, "{arguments:?}");
        assert_eq!(String::from_utf8(read(path)).unwrap(), expected, "{arguments:?}");
    }
    expect![[r#"
        ixmcp: INVALID_ARGUMENT: the field `repeats` is written in a way that cannot be changed safely. Change it in an editor: ixmcp entity edit ID.
    "#]].assert_eq(&repo.fails(&["entity", "link", "rpt-anchors", "repeats", "bd-4f2"]));
}

#[test]
fn a_check_names_file_line_and_what_to_do() {
    let repo = fixture();
    let output = repo.run(&["entity", "check"]);
    assert_eq!(output.status.code(), Some(1));
    expect_test::expect![[r#"
        .ixchel/README.md:1: error: there is no front matter: the file is not an entity
            begin the file with `---`, `id: …`, `---`, or move it out of .ixchel
        .ixchel/decisions/dec-1a2b3c.md:10: warning: the tag 1.0 is not text for other readers
            put it in quotes: "1.0"
        .ixchel/decisions/dec-1a2b3c.md:10: warning: the tag 2024 is not text for other readers
            put it in quotes: "2024"
        .ixchel/decisions/dec-1a2b3c.md:10: warning: the tag true is not text for other readers
            put it in quotes: "true"
        .ixchel/decisions/dec-1a2b3c.md:11: error: `supersedes` leads to dec-0f0f0f, which is not the id of an entity
            make an entity with that id, or take the edge away
        .ixchel/decisions/dec-copy.md: error: the id dec-1a2b3c is taken by .ixchel/decisions/dec-1a2b3c.md, which takes precedence
            give one of the two another id
        .ixchel/ideas/sub/folder/idea-bbbbbb.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/ideas/sub/folder/idea-bbbbbb.md:2: warning: there is no `type`
            add `type: idea`
        .ixchel/ideas/sub/folder/idea-bbbbbb.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/ideas/sub/folder/idea-bbbbbb.md:14: error: `agent` leads to agt-1, which is not the id of an entity
            make an entity with that id, or take the edge away
        .ixchel/issues/ISS-BBBBBB.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/ISS-BBBBBB.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/bd-4f2.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/bd-4f2.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/bd-4f3.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/bd-4f3.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/broken-yaml.md:2: warning: the file is not named by its id iss-cccccc
            rename it to iss-cccccc.md
        .ixchel/issues/broken-yaml.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/broken-yaml.md:2: warning: there is no `type`
            add `type: issue`
        .ixchel/issues/broken-yaml.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/broken-yaml.md:3: error: the front matter is not YAML: mapping values are not allowed in this context
            put the text after the first colon in quotes
        .ixchel/issues/broken-yaml.md:6: error: the front matter is not YAML: while parsing a flow sequence, expected ',' or ']'
            close the list with `]`
        .ixchel/issues/empty.md:1: error: there is no `id` in the front matter: the file is not an entity
            add `id: …`; ixmcp entity create makes new ones
        .ixchel/issues/iss-aaaaaa.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/iss-aaaaaa.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/issues/list.md:2: error: the front matter is not a list of fields
            write `name: value` on each line
        .ixchel/issues/no-id.md:1: error: there is no `id` in the front matter: the file is not an entity
            add `id: …`; ixmcp entity create makes new ones
        .ixchel/issues/unclosed.md:1: error: the front matter is not closed: a line `---` is missing
            add a line `---` below the last field
        .ixchel/other/path-id.md:2: warning: the file is not named by its id ../../etc/passwd
        .ixchel/other/path-id.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/other/path-id.md:2: warning: there is no `type`
        .ixchel/other/path-id.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/other/решение-1.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/other/решение-1.md:2: warning: there is no `type`
        .ixchel/other/решение-1.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/reports/rpt-anchors.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/reports/rpt-anchors.md:2: warning: there is no `title`
            add `title: …`
        .ixchel/reports/rpt-anchors.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/sources/src-unknown.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        .ixchel/sources/src-unknown.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        .ixchel/sources/src-unknown.md:3: error: the type `epic` is not a known type; it counts as source
        .ixchel/sources/src-unknown.md:5: warning: `cites` leads to the entity itself
            remove it
    "#]].assert_eq(&String::from_utf8(output.stdout).unwrap());
}

#[test]
fn commands_at_once_lose_nothing_of_each_other() {
    let repo = Repo::new(
        r"
//- /.ixchel/issues/iss-1.md
---
id: iss-1
tags: []
---
",
    );
    repo.ok(&["sync"]);
    let tags: Vec<String> = (0..12).map(|at| format!("t{at:02}")).collect();
    let add =
        |tag: &String| repo.command(&["entity", "tag", "add", "iss-1", tag]).stdout(Stdio::null()).spawn().unwrap();
    let running: Vec<Child> = tags.iter().map(add).collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(repo.call("ixchel_tags", &json!({}))["total"], 12);
    let mut carried = json_of(&repo, &["entity", "tag", "add", "iss-1", "t00"])["tags"].as_array().unwrap().clone();
    carried.sort_by_key(Value::to_string);
    assert_eq!(Value::from(carried), json!(tags));
}

/// Runs the commands of the documentation in an empty folder.
#[test]
fn the_documentation_leads_from_an_empty_folder_to_a_drawing_in_five_commands() {
    let page = include_str!("../../docs/knowledge-graph.md");
    let section = page.split("## Create entities").nth(1).unwrap();
    let script = section.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(script.lines().count(), 5, "{script}");
    let repo = Repo::new("");
    let ixmcp = repo.command(&[]);
    let program = std::path::Path::new(ixmcp.get_program());
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", script]).current_dir(repo.path()).env_clear().env("PATH", path);
    shell.envs(ixmcp.get_envs().filter_map(|(name, value)| Some((name, value?))).filter(|(name, _)| *name != "PATH"));
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let drawing = std::fs::read_to_string(repo.path().join("graph.mmd")).unwrap();
    assert_eq!(drawing.matches("]:::").count(), 2);
    assert!(drawing.contains("-->|\"relates_to\"|") && drawing.contains("Keep the index in one"), "{drawing}");
}

#[test]
fn cycles_are_found_and_reported_once() {
    let repo = Repo::new("");
    for (id, fields) in [
        ("iss-a", "depends_on: iss-b"),
        ("iss-b", "depends_on: [iss-c, iss-d]"),
        ("iss-c", "depends_on: iss-a"),
        ("iss-d", "blocks: iss-d"),
        ("iss-e", "blocks: iss-a"),
    ] {
        repo.write(&format!(".ixchel/issues/{id}.md"), format!("---\nid: {id}\n{fields}\n---\n"));
    }
    let found = json_of(&repo, &["entity", "cycles"]);
    assert_eq!(found["cycles"], json!([["iss-a", "iss-b", "iss-c"], ["iss-d"]]));
    assert_eq!(repo.run(&["entity", "path", "iss-a", "iss-e", "--direction", "outgoing"]).status.code(), Some(1));
    assert_eq!(json_of(&repo, &["entity", "ready"])["items"].as_array().unwrap().len(), 2);
    let said = |arguments: &[&str]| String::from_utf8(repo.run(arguments).stderr).unwrap();
    assert_eq!(said(&["entity", "path", "iss-b", "iss-d", "--direction", "outgoing"]).lines().last(), Some("1 edge"));
    ["iss-c", "iss-d"]
        .iter()
        .for_each(|id| repo.write(&format!(".ixchel/issues/{id}.md"), format!("---\nid: {id}\n---\n")));
    assert_eq!(said(&["entity", "cycles"]).lines().last(), Some("no dependency cycles"));
}

#[test]
fn nothing_is_written_through_a_link() {
    let repo = Repo::new("");
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path().join(".ixchel")).unwrap();
    let named = |said: String| said.replace(repo.path().to_str().unwrap(), "REPOSITORY");
    expect![[r#"
        ixmcp: INVALID_PATH: REPOSITORY/.ixchel is a symbolic link. Make it a folder: entities live in the repository.
    "#]]
    .assert_eq(&named(repo.fails(&["init"])));
    std::fs::remove_file(repo.path().join(".ixchel")).unwrap();
    std::fs::create_dir(repo.path().join(".ixchel")).unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path().join(".ixchel/issues")).unwrap();
    expect![[r#"
        ixmcp: INVALID_PATH: REPOSITORY/.ixchel/issues is a symbolic link. Make it a folder: entities live in the repository.
    "#]].assert_eq(&named(repo.fails(&["entity", "create", "issue", "x"])));
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_graph_is_drawn_in_every_format() {
    let repo = fixture();
    expect_test::expect![[r#"
        bd-4f2  issue  Legacy issue with maps  [open]
          depends_on -> bd-4f3  CRLF
          parent -> bd-4f3  CRLF
          related -> iss-aaaaaa  With a byte order mark
        bd-4f3  issue  CRLF  [closed]
        iss-aaaaaa  issue  With a byte order mark  [open]
    "#]]
    .assert_eq(&repo.ok(&["graph", "bd-4f2", "--depth", "1"]));
    expect_test::expect![[r#"
        flowchart LR
          n0["bd-4f2<br/>Legacy issue with maps"]:::k_issue
          n1["bd-4f3<br/>CRLF"]:::k_issue
          n2["iss-aaaaaa<br/>With a byte order mark"]:::k_issue
          n0 -->|"depends_on"| n1
          n0 -->|"parent"| n1
          n0 -->|"related"| n2
          classDef k_issue fill:#fee2e2,stroke:#b91c1c,color:#111827
    "#]]
    .assert_eq(&repo.ok(&["graph", "bd-4f2", "--depth", "1", "-f", "mermaid"]));
    expect_test::expect![[r##"
        digraph entities {
          rankdir=LR;
          node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];
          edge [fontname="sans-serif", fontsize=9, color="#6b7280", fontcolor="#374151"];
          n0 [label="bd-4f2\nLegacy issue with maps", fillcolor="#fee2e2", color="#b91c1c"];
          n1 [label="bd-4f3\nCRLF", fillcolor="#fee2e2", color="#b91c1c"];
          n2 [label="iss-aaaaaa\nWith a byte order mark", fillcolor="#fee2e2", color="#b91c1c"];
          n0 -> n1 [label="depends_on"];
          n0 -> n1 [label="parent"];
          n0 -> n2 [label="related"];
        }
    "##]]
    .assert_eq(&repo.ok(&["graph", "bd-4f2", "--depth", "1", "-f", "dot"]));
    let whole: Value = serde_json::from_str(&repo.ok(&["graph", "-f", "json"])).unwrap();
    let nodes = whole["nodes"].as_array().unwrap();
    // Every entity that counts, and what is linked to and missing.
    assert_eq!(nodes.iter().filter(|node| !node["kind"].is_null()).count(), 15);
    assert_eq!(nodes.iter().filter(|node| node["kind"].is_null()).count(), 3);
    let file = repo.path().join("graph.dot");
    repo.ok(&["graph", "-f", "dot", "-o", file.to_str().unwrap()]);
    let dot = std::fs::read_to_string(file).unwrap();
    assert_eq!(dot.matches("fillcolor=").count(), nodes.len());
    let edges = whole["edges"].as_array().unwrap();
    assert_eq!(dot.matches(" -> ").count(), edges.len());
    assert_eq!(dot, repo.ok(&["graph", "-f", "dot"]), "the same graph is the same picture");
    let kinds: Value =
        serde_json::from_str(&repo.ok(&["graph", "-f", "json", "--kind", "issues", "--rel", "blocks"])).unwrap();
    assert_eq!(kinds["edges"].as_array().unwrap().len(), 2);
}

#[test]
fn titles_cannot_break_out_of_a_drawing() {
    let repo = Repo::new("");
    let title = r#"</text><script>alert(1)</script> \" ]--> end; `x` & | # \u0007 %%{init}%%"#;
    repo.write(
        ".ixchel/issues/a.md",
        format!("---\nid: iss-\"><b>\ntitle: \"{title}\"\n\"a<b>|\": dec-1\nself: iss-\"><b>\n---\n"),
    );
    let mermaid = repo.ok(&["graph", "-f", "mermaid"]);
    assert!(mermaid.lines().all(|line| line.matches('"').count() % 2 == 0), "{mermaid}");
    assert!(!mermaid.contains("<script") && !mermaid.contains("<b>") && !mermaid.contains('\u{7}'), "{mermaid}");
    let dot = repo.ok(&["graph", "-f", "dot"]);
    assert!(!dot.contains('\u{7}'), "{dot}");
    assert!(dot.lines().all(|line| line.replace("\\\"", "").matches('"').count() % 2 == 0), "{dot}");
}

#[test]
fn a_search_shows_the_text_next_to_the_title() {
    let repo = Repo::new(
        r#"
//- /.ixchel/issues/a.md
---
id: iss-1
title: "Checkout fails"
---

# Checkout fails

The basket is empty by then.
//- /.ixchel/issues/b.md
---
id: iss-2
title: Checkout is slow
---
"#,
    );
    let snippets = |text: &str| -> Vec<(String, String)> {
        let answer = json_of(&repo, &["entity", "search", text]);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        answer["hits"].as_array().unwrap().iter().map(|hit| (text(&hit["id"]), text(&hit["snippet"]))).collect()
    };
    let (first, second) =
        (("iss-1".to_owned(), "The basket is empty by then.".to_owned()), ("iss-2".to_owned(), String::new()));
    for query in ["checkout", "checkout fails", "iss-1"] {
        let found = snippets(query);
        assert!(found.contains(&first), "{query}: {found:?}");
        assert!(found.iter().all(|hit| *hit == first || *hit == second), "{query}: {found:?}");
    }
    let shown = repo.ok(&["entity", "search", "checkout"]);
    expect![[r#"
        iss-1          issue     Checkout fails
            The basket is empty by then.
        iss-2          issue     Checkout is slow
    "#]]
    .assert_eq(&shown);
}
