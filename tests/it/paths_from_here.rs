//! Where the paths begin that commands print: at the current folder, as those of ripgrep and of compilers. JSON, patches, Markdown
//! and pictures name them from the repository's root.

use std::path::Path;
use std::process::Output;

use expect_test::expect;
use serde_json::Value;

use crate::support::harness::Repo;
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

const COMMANDS: &[&[&str]] = &[
    &["query", "-m", "literal", "pay("],
    &["query", "-m", "regex", "pay\\("],
    &["query", "orders paid at checkout"],
    &["symbol", "pay"],
    &["symbol", "pay", "--relations"],
    &["symbol", "pay.py", "--relations"],
    &["symbol", "deep/rate.py", "--relations"],
    &["files"],
    &["files", "--skipped"],
    &["documents", "search", "orders are paid", "--min-score", "0"],
    &["documents", "index", "."],
    &["documents", "list"],
    &["refs", "pay.py:4:5"],
    &["def", "../top.py:3:9"],
    &["type-at", "../top.py:3:9"],
    &["check"],
    &["check", "--output-format", "concise"],
    &["changes"],
    &["infer"],
    &["rename", "twin", "other"],
    &["rename", "pay", "rate"],
    &["entity", "context", "iss-1"],
    &["entity", "check"],
    &["entity", "sync", "--force"],
    &["graph", "--symbol", "pay"],
    &["graph", "--symbol", "twin"],
    // Errors.
    &["slice", "paz.py", "1"],
    &["slice", ".env", "1"],
    &["documents", "show", "papers/lease.pdf"],
];

#[test]
fn every_command_prints_paths_from_the_current_folder() {
    let repo = repo();
    let root = repo.path().canonicalize().unwrap();
    let other = Repo::new("");
    let mut transcript = String::new();
    for arguments in COMMANDS {
        let printed = printed_in(&repo, "sub", arguments);
        assert_eq!(from_root(&printed), Vec::<&str>::new(), "{arguments:?}: {printed}");
        transcript += &format!("$ ixmcp {}\n{printed}", arguments.join(" "));
    }
    // Only what lies above the current folder has its full path.
    expect![[r#"
        $ ixmcp query -m literal pay(
        pay.py:4  [pay]
            def pay(amount):
        REPOSITORY/top.py:3  [total]
            total = pay(3)
        $ ixmcp query -m regex pay\(
        pay.py:4  [pay]
            def pay(amount):
        REPOSITORY/top.py:3  [total]
            total = pay(3)
        $ ixmcp query orders paid at checkout
        notes.md:3  [Paying]
            Orders are paid at checkout.
        $ ixmcp symbol pay
        pay.py:4:5  function pay  def pay(amount)
        REPOSITORY/top.py:1:10  use pay
        REPOSITORY/top.py:1:21  import pay
        REPOSITORY/top.py:3:9  call pay
        $ ixmcp symbol pay --relations
        pay.py:4:5  function pay
          contained by 1
            pay.py:1  file pay [file]
          calls 1
            deep/rate.py:1  function rate [import]
          called by 1
            REPOSITORY/top.py:3  variable total [import]
          imported by 1
            REPOSITORY/top.py:1  file top [import]
        $ ixmcp symbol pay.py --relations
        pay.py
          contains 3
            pay.py:4  function pay [file]
            pay.py:8  function twin [file]
            pay.py:11  variable wrong [file]
          imports 1
            deep/rate.py:1  module sub.deep.rate rate [import]
          imported by 1
            REPOSITORY/top.py:1  module top [import]
        $ ixmcp symbol deep/rate.py --relations
        deep/rate.py
          contains 2
            deep/rate.py:1  function rate [file]
            deep/rate.py:5  function twin [file]
          imported by 1
            pay.py:1  module pay [import]
        $ ixmcp files
        REPOSITORY/.ixchel/issues/one.md
        deep/rate.py
        notes.md
        pay.py
        two.md
        REPOSITORY/top.py
        $ ixmcp files --skipped
        secret            .env
        malformed         papers/lease.pdf
        $ ixmcp documents search orders are paid --min-score 0
        notes.md:1    1.00
            # Paying
    
            Orders are paid at checkout.
        REPOSITORY/.ixchel/issues/one.md:1    0.77
            ---
            id: iss-1
            title: Paying
            blocks: iss-9
            ---
            See `pay` and pay.py.
        REPOSITORY/top.py:1    0.53
            from sub.pay import pay
    
            total = pay(3)
            wrong: int = 'top'
        pay.py:1    0.14
            from sub.deep.rate import rate
    
    
            def pay(amount):
                return rate(amount) * 3
    
    
            def twin(): ...
    
    
            wrong: int = 'sub'
        deep/rate.py:1    0.02
            def rate(amount):
                return amount
    
    
            def twin(): ...
        $ ixmcp documents index .
        .: 4 of 6 files, 4 chunks
        skipped  .env  secret
        skipped  papers/lease.pdf  malformed: it violates its format; open it with the program that wrote it, and save it again
        $ ixmcp documents list
        .  4 files, chunks of 1000 characters, overlapping by 200
        $ ixmcp refs pay.py:4:5
        pay.py:4:5  definition  def pay(amount):
        REPOSITORY/top.py:1:21  import  from sub.pay import pay
        REPOSITORY/top.py:3:9  read  total = pay(3)
        $ ixmcp def ../top.py:3:9
        pay.py:4:5  function  def pay(amount):
        $ ixmcp type-at ../top.py:3:9
        pay: def pay(amount) -> Unknown
            pay.py:4:5  def pay(amount):
        $ ixmcp check
        error[invalid-assignment]: Object of type `Literal["sub"]` is not assignable to `int`
          --> pay.py:11:14
           |
        11 | wrong: int = 'sub'
           |        ---   ^^^^^ Incompatible value of type `Literal["sub"]`
           |        |
           |        Declared type

        error[invalid-assignment]: Object of type `Literal["top"]` is not assignable to `int`
         --> REPOSITORY/top.py:4:14
          |
        3 | total = pay(3)
        4 | wrong: int = 'top'
          |        ---   ^^^^^ Incompatible value of type `Literal["top"]`
          |        |
          |        Declared type

        3 files checked: 2 diagnostics
        $ ixmcp check --output-format concise
        pay.py:11:14: error[invalid-assignment] Object of type `Literal["sub"]` is not assignable to `int`
        REPOSITORY/top.py:4:14: error[invalid-assignment] Object of type `Literal["top"]` is not assignable to `int`
        3 files checked: 2 diagnostics
        $ ixmcp changes
        pay.py:4  body function pay
            called by  REPOSITORY/top.py:1  top [import]
            mentioned in  REPOSITORY/.ixchel/issues/one.md:6  iss-1
        $ ixmcp infer
        deep/rate.py
        1  rate -> int  (medium: the returned value)
        1  rate.amount: int  (medium: 1 call in 1 file)
        pay.py
        4  pay -> int  (medium: the returned value)
        4  pay.amount: int  (medium: 1 call in 1 file)
        REPOSITORY/top.py
        3  total: int  (medium: the assigned value)
        5 annotations; 2 symbols without a suggestion (see --json)
        $ ixmcp rename twin other
        deep/rate.py:5:5  function twin
        pay.py:8:5  function twin
        several symbols have this name: give the position of one
        $ ixmcp rename pay rate
        deep/rate.py:1  an existing `rate` would refer to the renamed symbol
        pay.py:1  an existing `rate` would refer to the renamed symbol
        pay.py:5  an existing `rate` would refer to the renamed symbol
        nothing is renamed
        $ ixmcp entity context iss-1
        # iss-1  Paying
        (asked for)

        See `pay` and pay.py.

        pay.py:4  [pay]  `pay` in iss-1
        pay.py  `pay.py` in iss-1
        $ ixmcp entity check
        REPOSITORY/.ixchel/issues/one.md:2: warning: the file is not named by its id iss-1
            rename it to iss-1.md
        REPOSITORY/.ixchel/issues/one.md:2: warning: there is no `created_at`
            add `created_at: 2026-01-31T09:00:00Z`
        REPOSITORY/.ixchel/issues/one.md:2: warning: there is no `type`
            add `type: issue`
        REPOSITORY/.ixchel/issues/one.md:2: warning: there is no `updated_at`
            add `updated_at: 2026-01-31T09:00:00Z`
        REPOSITORY/.ixchel/issues/one.md:4: error: `blocks` leads to iss-9, which is not the id of an entity
            Did you mean iss-1?
        1 error, 4 warnings
        $ ixmcp entity sync --force
        1 scanned, 1 added, 0 modified, 0 deleted, 0 unchanged
        REPOSITORY/.ixchel/issues/one.md:4: `blocks` leads to iss-9, which is not the id of an entity
        $ ixmcp graph --symbol pay
        pay  symbol  pay.py:4
          calls -> rate  deep/rate.py:1
        rate  callee  deep/rate.py:1
        top  caller  REPOSITORY/top.py:1
          calls -> pay  pay.py:4
        $ ixmcp graph --symbol twin
        ixmcp: INVALID_ARGUMENT: 2 symbols are called `twin`. Give Class.method or module::name; they are at deep/rate.py:5, pay.py:8.
        $ ixmcp slice paz.py 1
        ixmcp: INVALID_PATH: paz.py does not exist. Did you mean pay.py?
        $ ixmcp slice .env 1
        ixmcp: INVALID_PATH: .env may hold secrets and is never shown. Name another file. Programs that may read this one can open it without ixmcp.
        $ ixmcp documents show papers/lease.pdf
        ixmcp: INVALID_PATH: papers/lease.pdf was left out of the index (malformed: it violates its format; open it with the program that wrote it, and save it again). It is read again when it changes.
    "#]].assert_eq(&transcript.replace(root.to_str().unwrap(), "REPOSITORY"));
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
    // The order of repositories that are equally good is that of their paths.
    let printed = printed.replace(&root, "REPOSITORY").replace(&elsewhere, "OTHER");
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    expect![[r#"
        OTHER/buy.py:1:5  function pay  def pay()
        REPOSITORY/top.py:1:10  use pay
        REPOSITORY/top.py:1:21  import pay
        REPOSITORY/top.py:3:9  call pay
        pay.py:4:5  function pay  def pay(amount)"#]]
    .assert_eq(&lines.join("\n"));
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
