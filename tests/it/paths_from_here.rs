//! Where the paths begin that commands print: at the current folder, as those of ripgrep and of compilers. JSON, patches, Markdown
//! and pictures name them from the repository's root.

use std::path::Path;
use std::process::Output;

use expect_test::expect;
use serde_json::Value;

use crate::harness::Repo;
use crate::worktrees::{committed, git};

const FILES: &str = "\
//- /top.py
from sub.pay import pay

total = pay(3)
wrong: int = 'top'
//- /sub/pay.py
from sub.deep.rate import rate


def pay(amount):
    return rate(amount) * 2


def twin(): ...


wrong: int = 'sub'
//- /sub/deep/rate.py
def rate(amount):
    return amount


def twin(): ...
//- /sub/notes.md
# Paying

Orders are paid at checkout.
//- /sub/.env
KEY=1
//- /sub/papers/lease.pdf
no document
//- /.ixchel/issues/one.md
---
id: iss-1
title: Paying
blocks: iss-9
---
See `pay` and pay.py.
//- /sub/two.md
---
id: iss-2
tags: [open
---
";

/// The program as it is started in a folder of the repository.
fn run_in(repo: &Repo, folder: &str, arguments: &[&str]) -> Output {
    repo.command(arguments).current_dir(repo.path().join(folder)).output().unwrap()
}

/// Runs the program in a folder; returns its stdout and stderr.
fn printed_in(repo: &Repo, folder: &str, arguments: &[&str]) -> String {
    let output = run_in(repo, folder, arguments);
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    format!("{stdout}{stderr}")
}

/// Words that name a file by its path from the root.
fn from_root(printed: &str) -> Vec<&str> {
    let words = printed.split(|c: char| c.is_whitespace() || "`'\"()[],".contains(c));
    words.filter(|word| word.starts_with("sub/") || *word == "top.py" || word.starts_with("top.py:")).collect()
}

fn repo() -> Repo {
    let repo = committed(FILES);
    let changed = std::fs::read_to_string(repo.path().join("sub/pay.py")).unwrap().replace("* 2", "* 3");
    repo.write("sub/pay.py", changed);
    repo.sync();
    repo
}

/// Commands with what they print of `sub/` in that folder, and whether they name a file above it.
const COMMANDS: &[(&[&str], &str, bool)] = &[
    (&["query", "-m", "literal", "pay("], "pay.py:4", true),
    (&["query", "-m", "regex", "pay\\("], "pay.py:4", true),
    (&["query", "orders paid at checkout"], "notes.md:", false),
    (&["symbol", "pay"], "pay.py:4:5", false),
    (&["symbol", "pay", "--relations"], "pay.py:4:5", true),
    (&["symbol", "pay.py", "--relations"], "pay.py\n", true),
    (&["symbol", "deep/rate.py", "--relations"], "deep/rate.py\n", false),
    (&["files"], "deep/rate.py\n", true),
    (&["files", "--skipped"], ".env\n", false),
    (&["documents", "search", "orders are paid", "--min-score", "0"], "notes.md:", false),
    (&["documents", "index", "."], "papers/lease.pdf", false),
    (&["documents", "list"], ".  ", false),
    (&["refs", "pay.py:4:5"], "pay.py:4:5", true),
    (&["def", "../top.py:3:9"], "pay.py:4:5", false),
    (&["type-at", "../top.py:3:9"], "pay.py:4:5", false),
    (&["check"], " --> pay.py:11:14", true),
    (&["check", "--output-format", "concise"], "pay.py:11:14", true),
    (&["changes"], "pay.py:4  ", true),
    (&["infer"], "pay.py\n", false),
    (&["rename", "twin", "other"], "deep/rate.py:5:5", false),
    (&["rename", "pay", "rate"], "pay.py:", false),
    (&["entity", "context", "iss-1"], "pay.py", false),
    (&["entity", "check"], "one.md:4", true),
    (&["entity", "sync", "--force"], "one.md:4", true),
    (&["graph", "--symbol", "pay"], "pay.py:4", true),
    (&["graph", "--symbol", "twin"], "deep/rate.py:5", false),
    // Errors.
    (&["slice", "paz.py", "1"], "Did you mean pay.py?", false),
    (&["slice", ".env", "1"], ": .env may hold secrets", false),
    (&["documents", "show", "papers/lease.pdf"], ": papers/lease.pdf was left out", false),
];

#[test]
fn every_command_prints_paths_from_the_current_folder() {
    let repo = repo();
    let root = repo.path().canonicalize().unwrap();
    let [above, entity] = [root.join("top.py"), root.join(".ixchel/issues/one.md")];
    let other = Repo::new("");
    for (arguments, shown, names_above) in COMMANDS {
        let printed = printed_in(&repo, "sub", arguments);
        assert!(printed.contains(shown), "{arguments:?}: no {shown}: {printed}");
        assert_eq!(from_root(&printed), Vec::<&str>::new(), "{arguments:?}: {printed}");
        let is_above = [&above, &entity].iter().any(|path| printed.contains(path.to_str().unwrap()));
        assert!(is_above || !names_above, "{arguments:?} does not name the file above: {printed}");
    }
    // In the root, and in a folder outside with the repository named.
    assert!(printed_in(&repo, "", &["symbol", "pay"]).starts_with("sub/pay.py:4:5  "));
    let named = ["--repo", root.to_str().unwrap(), "symbol", "pay"];
    let printed = printed_in(&repo, other.path().to_str().unwrap(), &named);
    assert!(printed.starts_with(root.join("sub/pay.py:4:5  ").to_str().unwrap()), "{printed}");
}

#[test]
fn paths_of_several_repositories_begin_at_the_current_folder_too() {
    let repo = repo();
    let other = Repo::new("//- /buy.py\ndef pay(): ...\n");
    other.sync();
    let [root, elsewhere] = [&repo, &other].map(|repo| repo.path().canonicalize().unwrap());
    let named = ["--repo", root.to_str().unwrap(), "--repo", elsewhere.to_str().unwrap(), "symbol", "pay"];
    let printed = printed_in(&repo, "sub", &named);
    let [root, elsewhere] = [root, elsewhere].map(|path| path.to_str().unwrap().to_owned());
    expect![[r#"
        OTHER/buy.py:1:5  function pay  def pay()
        pay.py:4:5  function pay  def pay(amount)
        REPOSITORY/top.py:1:10  use pay
        REPOSITORY/top.py:1:21  import pay
        REPOSITORY/top.py:3:9  call pay
    "#]]
    .assert_eq(&printed.replace(&root, "REPOSITORY").replace(&elsewhere, "OTHER"));
}

#[test]
fn what_other_programs_read_names_paths_from_the_root() {
    let repo = repo();
    for arguments in [
        &["query", "-m", "literal", "pay(", "--json"][..],
        &["symbol", "pay", "--json"],
        &["symbol", "pay.py", "--relations", "--json"],
        &["files", "--json"],
        &["files", "--skipped", "--json"],
        &["documents", "search", "orders are paid", "--json"],
        &["refs", "pay.py:4:5", "--json"],
        &["def", "../top.py:3:9", "--json"],
        &["check", "--json"],
        &["check", "--output-format", "sarif"],
        &["changes", "--json"],
        &["changes", "-f", "markdown"],
        &["infer", "--json"],
        &["rename", "pay", "settle", "--json"],
        &["rename", "pay", "settle"],
        &["infer", "--diff"],
        &["graph", "--symbol", "pay", "--json"],
        &["graph", "--symbol", "pay", "-f", "dot"],
        &["graph", "--symbol", "pay", "-f", "mermaid"],
        &["slice", "paz.py", "1", "--json"],
    ] {
        let printed = String::from_utf8(run_in(&repo, "sub", arguments).stdout).unwrap();
        let names = ["sub/pay.py", "sub/notes.md", "sub/.env"];
        assert!(names.iter().any(|name| printed.contains(name)), "{arguments:?}: {printed}");
        assert!(!printed.contains(repo.path().join("top.py").to_str().unwrap()), "{arguments:?}: {printed}");
    }
    // git applies such a patch in the root.
    let patch = run_in(&repo, "sub", &["rename", "pay", "settle"]).stdout;
    repo.write("rename.patch", patch);
    git(repo.path(), &["apply", "rename.patch"]);
    expect![[r#"
        from sub.pay import settle

        total = settle(3)
        wrong: int = 'top'
    "#]]
    .assert_eq(&std::fs::read_to_string(repo.path().join("top.py")).unwrap());
}

#[test]
fn a_printed_path_can_be_given_back() {
    let repo = repo();
    for line in printed_in(&repo, "sub", &["files"]).lines() {
        let printed = printed_in(&repo, "sub", &["slice", line, "1"]);
        let file = repo.path().join("sub").join(Path::new(line));
        let first = std::fs::read_to_string(file).unwrap().lines().next().unwrap_or_default().to_owned();
        assert_eq!(printed.trim_end(), first, "{line}");
    }
    let printed = String::from_utf8(run_in(&repo, "sub", &["symbol", "pay"]).stdout).unwrap();
    let position = printed.split_whitespace().next().unwrap();
    let answer: Value = serde_json::from_slice(&run_in(&repo, "sub", &["def", position, "--json"]).stdout).unwrap();
    assert_eq!(answer["definitions"][0]["file"], "sub/pay.py");
}

#[test]
fn paths_and_patterns_with_dots_begin_at_the_current_folder() {
    let repo = repo();
    let missing = printed_in(&repo, "sub/deep", &["slice", "../nope.py", "1"]);
    let outside = printed_in(&repo, "sub", &["slice", "../../nope.py", "1"]);
    let relations = printed_in(&repo, "sub/deep", &["symbol", "../pay.py", "--relations"]);
    let root = repo.path().canonicalize().unwrap();
    expect![[r#"
        ixmcp: INVALID_PATH: REPOSITORY/sub/nope.py does not exist. Did you mean REPOSITORY/top.py?

        ixmcp: INVALID_PATH: ../../nope.py lies outside the repository and its indexed folders. Give a path inside the repository, or index that folder with `ixmcp documents index` first.

        REPOSITORY/sub/pay.py
          contains 3
            REPOSITORY/sub/pay.py:4  function pay [file]
            REPOSITORY/sub/pay.py:8  function twin [file]
            REPOSITORY/sub/pay.py:11  variable wrong [file]
          imports 1
            rate.py:1  module sub.deep.rate rate [import]
          imported by 1
            REPOSITORY/top.py:1  module top [import]
    "#]].assert_eq(&[missing, outside, relations].join("\n").replace(root.to_str().unwrap(), "REPOSITORY"));
    let list = |folder: &str, typed: &str| {
        let printed = run_in(&repo, folder, &["files", "-g", typed]);
        String::from_utf8(printed.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(list("sub/deep", "./*.py"), ["rate.py"]);
    assert!(list("sub", "../*.py").iter().any(|path| path.ends_with("/top.py")));
    assert_eq!(list("sub", "./*.py"), ["pay.py"]);
    let found = printed_in(&repo, "sub/deep", &["query", "-m", "literal", "pay(", "-g", "../*.py"]);
    expect![[r#"
        REPOSITORY/sub/pay.py:4  [pay]
            def pay(amount):
    "#]]
    .assert_eq(&found.replace(root.to_str().unwrap(), "REPOSITORY"));
}
