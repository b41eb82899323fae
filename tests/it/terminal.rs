//! Output on a terminal and in a pipe: colours, links, readers that go away, exit codes.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::Value;

use crate::support::harness::Repo;

const SHOP: &str = "//- /shop.py\nclass Cart:\n    def checkout(self):\n        return pay_order(self)\n\n\ndef pay_order(cart):\n    return 1\n//- /notes.md\n# Paying\n\nOrders are\tpaid at checkout.\n";

/// Output on a terminal, with these variables set.
fn on_terminal(repo: &Repo, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let (code, shown) = run_on_terminal(repo, variables, arguments);
    assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {shown}");
    shown
}

/// Output on a terminal, with the exit code, whatever it is. Lines do not end as a terminal needs them.
pub fn run_on_terminal(repo: &Repo, variables: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, String) {
    let asked = repo.command(arguments);
    let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().unwrap());
    let words: Vec<String> = std::iter::once(asked.get_program()).chain(asked.get_args()).map(quoted).collect();
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"]);
    script.current_dir(repo.path()).stdin(Stdio::null());
    for (name, value) in asked.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    for name in ["TMUX", "TERM_PROGRAM", "VTE_VERSION", "KONSOLE_VERSION", "WT_SESSION", "DOMTERM"] {
        script.env_remove(name);
    }
    script.env("TERM", "xterm-256color").envs(variables.iter().copied());
    let output = script.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
}

/// Makes the escape sequences of colours and links visible.
fn escapes(shown: &str) -> String {
    shown.replace('\u{1b}', "␛")
}

/// Output without colours and links.
fn bare(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((before, escaped)) = rest.split_once('\u{1b}') {
        text += before;
        let end = if escaped.starts_with(']') { "\u{1b}\\" } else { "m" };
        rest = escaped.split_once(end).unwrap().1;
    }
    text + rest
}

#[test]
fn what_is_found_is_coloured_on_a_terminal_that_wants_it_and_is_the_same_text() {
    let repo = Repo::new(SHOP);
    repo.sync();
    let mut transcript = String::new();
    for arguments in [
        &["query", "where are orders paid"][..],
        &["query", "-m", "regex", "pay_\\w+", "-C", "1"],
        &["symbol", "Cart.checkout", "--relations"],
        &["files"],
        &["refs", "shop.py:6:5"],
        &["doctor", "grammars"],
    ] {
        let shown = on_terminal(&repo, &[], arguments);
        let piped = repo.ok(arguments);
        transcript += &format!("$ ixmcp {}\n{}", arguments.join(" "), escapes(&shown));
        assert_eq!(bare(&shown), piped, "{arguments:?}");
        for variables in [&[("NO_COLOR", "1")][..], &[("TERM", "dumb")], &[("CLICOLOR", "0")]] {
            assert_eq!(on_terminal(&repo, variables, arguments), piped, "{variables:?} {arguments:?}");
        }
        let never = [arguments, &["--color", "never"]].concat();
        assert_eq!(on_terminal(&repo, &[], &never), piped, "{never:?}");
        let always = [arguments, &["--color", "always"]].concat();
        assert_eq!(repo.ok(&always), shown, "{always:?}");
    }
    // An unknown terminal gets no links.
    expect![[r#"
        $ ixmcp query where are orders paid
        ␛[35mnotes.md␛[0m:␛[32m3␛[0m  [␛[36mPaying␛[0m]
            ␛[1;31mOrders␛[0m are    ␛[1;31mpaid␛[0m at checkout.
        ␛[35mshop.py␛[0m:␛[32m3␛[0m  [␛[36mCart.checkout␛[0m]
                    return pay_␛[1;31morder␛[0m(self)
        $ ixmcp query -m regex pay_\w+ -C 1
        ␛[35mshop.py␛[0m:␛[32m3␛[0m  [␛[36mCart.checkout␛[0m]
                def checkout(self):
                    return ␛[1;31mpay_order␛[0m(self)

        ␛[35mshop.py␛[0m:␛[32m6␛[0m  [␛[36mpay_order␛[0m]

            def ␛[1;31mpay_order␛[0m(cart):
                return 1
        $ ixmcp symbol Cart.checkout --relations
        ␛[35mshop.py␛[0m:␛[32m2␛[0m:9  method ␛[36mcheckout␛[0m
          contained by 1
            ␛[35mshop.py␛[0m:␛[32m1␛[0m  class Cart [container]
          calls 1
            ␛[35mshop.py␛[0m:␛[32m6␛[0m  function pay_order [file]
        $ ixmcp files
        ␛[35mnotes.md␛[0m
        ␛[35mshop.py␛[0m
        $ ixmcp refs shop.py:6:5
        ␛[35mshop.py␛[0m:␛[32m3␛[0m:16  read  return pay_order(self)
        ␛[35mshop.py␛[0m:␛[32m6␛[0m:5  definition  def pay_order(cart):
        $ ixmcp doctor grammars
        grammars   ␛[32mok      ␛[0m 47 languages
    "#]]
    .assert_eq(&transcript);
    // So is what to do next.
    let overview = on_terminal(&repo, &[], &[]);
    let next = overview.split_once("\n\n").unwrap().1;
    expect![[r#"
        ␛[36mixmcp query WORDS…  ␛[0m search it
        ␛[36mixmcp setup         ␛[0m let your agent use it
        ␛[36mixmcp init          ␛[0m keep decisions and issues next to the code
        ␛[36mixmcp ui            ␛[0m explore it and the calls of agents in a browser
        ␛[36mixmcp --help        ␛[0m all commands
    "#]]
    .assert_eq(&escapes(next));
    let shown = on_terminal(&repo, &[], &["query", "-m", "literal", "pay_order", "-n", "1"]);
    let red = "\u{1b}[35mshop.py\u{1b}[0m:\u{1b}[32m3\u{1b}[0m  [\u{1b}[36mCart.checkout\u{1b}[0m]\n            return \u{1b}[1;31mpay_order\u{1b}[0m(self)\n";
    assert_eq!(shown.lines().take(2).map(|line| format!("{line}\n")).collect::<String>(), red);
}

#[test]
fn a_command_that_finds_nothing_says_so_next_to_its_result() {
    let repo = Repo::new(
        r"
//- /a.py
x = 1
# words
",
    );
    let found: [(&[&str], &str); 17] = [
        (&["query", "zzznowhere"], "nothing found"),
        (&["query", "-m", "literal", "zzznowhere"], "nothing found"),
        (&["query", "-m", "literal", "x = 1", "-g", "*.md"], "nothing found with these filters; 1 result without them"),
        (&["query", "-m", "literal", "x = 1", "--offset", "7"], "1 result; the offset is past the last"),
        (&["symbol", "zzznowhere"], "nothing is named zzznowhere"),
        (&["symbol", "zzznowhere", "--relations"], "no definition is named zzznowhere"),
        (&["def", "a.py:2:3"], "nothing found: no definition is known for this position"),
        (&["refs", "a.py:2:3"], "nothing found: no reference is known for this position"),
        (&["files", "--include", "*.rs"], "no indexed file matches"),
        (&["files", "--skipped"], "no file is skipped"),
        (&["documents", "search", "zzz"], "no document matches"),
        (&["documents", "list"], "no folder is indexed as documents; `ixmcp documents index FOLDER` adds one"),
        (
            &["scip", "list"],
            "no SCIP file is indexed; `ixmcp scip make` runs the indexers of this repository's languages",
        ),
        (&["entity", "list"], "there are no entities; `ixmcp entity init` makes the folder for them"),
        (&["entity", "ready"], "no open issue is ready: there is none, or each waits for another"),
        (&["entity", "tags"], "nothing has a tag"),
        (&["entity", "search", "zzz"], "no entity matches"),
    ];
    for (arguments, said) in found {
        assert_eq!(bare(&on_terminal(&repo, &[], arguments)).trim_end(), said, "{arguments:?}");
        let output = repo.run(arguments);
        assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().trim_end(), said, "{arguments:?}");
    }
    repo.ok(&["entity", "init"]);
    repo.ok(&["entity", "create", "issue", "Late"]);
    let listed = repo.run(&["entity", "list", "isue"]);
    assert_eq!(String::from_utf8(listed.stderr).unwrap(), "there is no entity of kind isue; there are: issue\n");
    let output = repo.run(&["query", "zzznowhere", "--json"]);
    assert_eq!((output.status.code(), &*output.stderr), (Some(1), &b""[..]), "JSON says it by itself");
}

#[test]
fn errors_of_a_command_that_prints_json_are_json() {
    let repo = Repo::new("//- /a.py\nx = 1\n");
    let mut reported = String::new();
    for arguments in [
        &["query", "", "--json"][..],
        &["slice", "gone.py", "1", "--json"],
        &["sql", "SELEKT", "--json"],
        &["--json", "files"],
        &["entity", "create", "decison", "X", "--json"],
        // What no command takes.
        &["files", "--json", "--langauge", "rust"],
        &["query", "--json"],
        &["qurey", "x", "--json"],
        &["query", "x", "--limit", "many", "--json"],
    ] {
        let output = repo.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        reported += &format!("{arguments:?}\n{answer:#}\n");
        assert!(!output.stderr.is_empty(), "{arguments:?}: a person reads it, too");
    }
    expect![[r#"
        ["query", "", "--json"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": "Give a query.",
            "message": "argument `TEXT` is empty"
          }
        }
        ["slice", "gone.py", "1", "--json"]
        {
          "error": {
            "code": "INVALID_PATH",
            "hint": "`ixmcp files` lists the indexed files.",
            "message": "gone.py does not exist"
          }
        }
        ["sql", "SELEKT", "--json"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": null,
            "message": "SQL: near \"SELEKT\": syntax error in SELEKT at offset 0"
          }
        }
        ["--json", "files"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": "Put it after: `ixmcp query x --json`.",
            "message": "--json precedes the command"
          }
        }
        ["entity", "create", "decison", "X", "--json"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": "Did you mean decision?",
            "message": "there is no kind \"decison\""
          }
        }
        ["files", "--json", "--langauge", "rust"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": "a similar argument exists: '--language'",
            "message": "unexpected argument '--langauge' found"
          }
        }
        ["query", "--json"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": "`ixmcp COMMAND --help` has the options of a command.",
            "message": "the following required arguments were not provided: <TEXT>..."
          }
        }
        ["qurey", "x", "--json"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": "a similar subcommand exists: 'query'",
            "message": "unrecognized subcommand 'qurey'"
          }
        }
        ["query", "x", "--limit", "many", "--json"]
        {
          "error": {
            "code": "INVALID_ARGUMENT",
            "hint": "`ixmcp COMMAND --help` has the options of a command.",
            "message": "invalid value 'many' for '--limit <LIMIT>': give a whole number of at least 1"
          }
        }
    "#]]
    .assert_eq(&reported);
    for arguments in [&["query", ""][..], &["query", "--limit"], &["query", "x", "--limit", "many", "--", "--json"]] {
        assert_eq!(repo.run(arguments).stdout, b"", "{arguments:?}");
    }
    assert_eq!(repo.ok(&["query", "--json", "--help"]), repo.ok(&["query", "--help"]));
}

#[test]
fn one_thing_is_reported_in_the_singular() {
    let repo = Repo::new(
        r"
//- /.ixchel/a.md
---
id: iss-1
title: One
blocks: iss-2
---
A body of its own.
//- /.ixchel/b.md
---
id: iss-2
title: Two
---
Another body, which is long enough not to fit.
",
    );
    let output = repo.run(&["entity", "context", "iss-1", "--budget", "50"]);
    expect![[r#"
        1 neighbour did not fit; raise --budget to see more
    "#]]
    .assert_eq(&String::from_utf8(output.stderr).unwrap());
    repo.ok(&["graph", "--output", "graph.txt"]);
    let output = repo.run(&["graph", "--output", "graph.txt"]);
    expect![[r#"
        2 entities, 1 edge
    "#]]
    .assert_eq(&String::from_utf8(output.stderr).unwrap());
}

#[test]
fn paths_lead_to_their_files_where_links_are_followed() {
    let repo = Repo::new(SHOP);
    repo.write("a b;c.py", "def odd(): ...\n");
    repo.sync();
    let root = repo.path().canonicalize().unwrap();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let address = format!("file://{}{}/", host.trim(), root.to_str().unwrap());
    let linked = |shown: &str| escapes(shown).replace(&address, "file://HOST/REPOSITORY/");
    let shown = on_terminal(&repo, &[("VTE_VERSION", "7200")], &["symbol", "odd"]);
    expect![[r#"
        ␛]8;;file://HOST/REPOSITORY/a%20b%3Bc.py␛\␛[35ma b;c.py␛[0m:␛[32m1␛[0m:5␛]8;;␛\  function ␛[36modd␛[0m  def odd()
    "#]].assert_eq(&linked(&shown));
    assert_eq!(bare(&shown), repo.ok(&["symbol", "odd"]));
    let off = on_terminal(&repo, &[("VTE_VERSION", "7200")], &["symbol", "odd", "--hyperlink", "never"]);
    assert_eq!(off, on_terminal(&repo, &[], &["symbol", "odd"]));
    expect![[r#"
        ␛]8;;file://HOST/REPOSITORY/a%20b%3Bc.py␛\a b;c.py␛]8;;␛\
        ␛]8;;file://HOST/REPOSITORY/notes.md␛\notes.md␛]8;;␛\
        ␛]8;;file://HOST/REPOSITORY/shop.py␛\shop.py␛]8;;␛\
    "#]]
    .assert_eq(&linked(&repo.ok(&["files", "--hyperlink", "always"])));
    let json = ["files", "--json", "--hyperlink", "always", "--color", "always"];
    assert_eq!(repo.ok(&json), repo.ok(&["files", "--json"]));
}

#[test]
fn help_names_the_global_options_that_a_command_follows() {
    let repo = Repo::new(SHOP);
    repo.write("odd.py", "def odd(): ...\n\nodd()\nx: int = 'a'\n");
    repo.write(".ixchel/issues/iss-42aa.md", "---\nid: iss-42aa\ntitle: Slow\n---\nSee `odd` in odd.py.\n");
    repo.sync();
    let other = Repo::new("");
    let (here, there) = (repo.path().to_str().unwrap(), other.path().to_str().unwrap());
    // Each run, with the number of its words that name the command.
    let runs: &[(usize, &[&str])] = &[
        (1, &["query", "odd"]),
        (1, &["symbol", "odd"]),
        (1, &["files"]),
        (1, &["def", "odd.py:3:1"]),
        (1, &["refs", "odd.py:3:1"]),
        (1, &["type-at", "odd.py:3:1"]),
        (1, &["check", "--output-format", "concise"]),
        (2, &["documents", "list"]),
        (2, &["entity", "context", "iss-42aa"]),
        (2, &["entity", "list"]),
        (2, &["entity", "tags"]),
        (1, &["slice", "odd.py:1:2"]),
        (1, &["stats"]),
        (1, &["sync"]),
        (1, &["deps"]),
        (1, &["doctor"]),
        (1, &["graph", "iss-42aa"]),
        (1, &["sql", "SELECT 1"]),
    ];
    repo.ok(&["documents", "index", "."]);
    for (words, run) in runs {
        let help = repo.ok(&[&run[..*words], &["--help"]].concat());
        let linked = repo.run(&[run, &["--hyperlink", "always"][..]].concat());
        let has_links = String::from_utf8(linked.stdout).unwrap().contains("\u{1b}]8");
        assert_eq!(help.contains("--hyperlink <"), has_links, "{run:?}");
        let of_two = repo.run(&[run, &["--repo", here, "--repo", there][..]].concat());
        let takes_one = String::from_utf8(of_two.stderr).unwrap().contains("takes one repository");
        assert_eq!(help.contains("--group <"), !takes_one, "{run:?}");
        assert_eq!(help.contains("to search several"), !takes_one, "{run:?}");
    }
    for command in ["completions", "man", "org"] {
        assert!(!repo.ok(&[command, "--help"]).contains("--repo"), "{command}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_program_quietly() {
    let repo = Repo::new("");
    let lines: Vec<String> = (0..10_000)
        .map(|at| format!("a line of a long file, the {at}th of many{}", ", and so on".repeat(10)))
        .collect();
    repo.write("long.txt", lines.join("\n"));
    for at in 0..3_000 {
        repo.write(&format!("many/a_file_with_quite_a_long_name_{at}.txt"), "x\n");
    }
    repo.sync();
    let rows =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i, i * i FROM n";
    for arguments in [
        &["slice", "long.txt", "1", "10000"][..],
        &["files"],
        &["files", "--json"],
        &["query", "-m", "literal", "line", "-n", "1000"],
        &["query", "-m", "literal", "line", "-n", "1000", "--json"],
        &["sql", rows],
        &["sql", rows, "--json"],
        &["call", "list_files"],
    ] {
        let mut child = repo.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 16];
        let read = std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first);
        assert!(read.is_ok(), "{arguments:?} printed nothing");
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), &*stderr), (Some(0), ""), "{arguments:?}");
    }
    // Gone before the first word.
    for arguments in [&["--help"][..], &["query", "--help"], &["files"], &[], &["man"], &["completions", "bash"]] {
        let mut child = repo.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), &*stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let repo = Repo::new(SHOP);
    for arguments in [&["files"][..], &["files", "--json"], &["completions", "fish"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ended = repo.command(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {stderr}");
        let expected = "ixmcp: READ_ONLY: cannot write stdout: No space left on device (os error 28). The disk is full: free some space.\n";
        assert_eq!(stderr, expected, "{arguments:?}");
    }
}

#[test]
fn a_file_that_cannot_be_created_is_a_fault_of_its_path() {
    let repo = Repo::new(
        r"
//- /src/a.py
x = 1
//- /.ixchel/ideas/one.md
---
id: idea-1
title: One
---
",
    );
    let commands = ["nowhere/new", "src", "src/a.py/new"]
        .map(|place| [vec!["snapshot", "save", place], vec!["graph", "--format", "dot", "--output", place]]);
    let commands: Vec<&[&str]> = commands.as_flattened().iter().map(Vec::as_slice).collect();
    expect![[r#"
        $ ixmcp snapshot save nowhere/new
        ixmcp: INVALID_PATH: cannot write nowhere/new: No such file or directory (os error 2). Create its folder first, or choose another path.
        $ ixmcp graph --format dot --output nowhere/new
        ixmcp: INVALID_PATH: cannot write nowhere/new: No such file or directory (os error 2). Create its folder first, or choose another path.
        $ ixmcp snapshot save src
        ixmcp: INVALID_PATH: cannot write src: Is a directory (os error 21). Specify a file: this path is a folder.
        $ ixmcp graph --format dot --output src
        ixmcp: INVALID_PATH: cannot write src: Is a directory (os error 21). Specify a file: this path is a folder.
        $ ixmcp snapshot save src/a.py/new
        ixmcp: INVALID_PATH: cannot write src/a.py/new: Not a directory (os error 20). Check the path: a file with this path cannot exist.
        $ ixmcp graph --format dot --output src/a.py/new
        ixmcp: INVALID_PATH: cannot write src/a.py/new: Not a directory (os error 20). Check the path: a file with this path cannot exist.
    "#]].assert_eq(&repo.failures(&commands, &[]));
}

#[test]
fn exit_codes_distinguish_found_nothing_and_error_for_every_command() {
    let repo = Repo::new(SHOP);
    repo.write("wrong.py", "x: int = 'a'\n");
    repo.write(".ixchel/a.md", "---\nid: iss-1\ntitle: A\n---\n");
    repo.sync();
    for (code, arguments) in [
        (0, &["query", "checkout"][..]),
        (1, &["query", "zzzz_not_there"]),
        (1, &["query", "-m", "literal", "zzzz_not_there", "--json"]),
        (2, &["query", "-m", "regex", "("]),
        (2, &["query"]),
        (0, &["symbol", "pay_order"]),
        (1, &["symbol", "zzzz_not_there"]),
        (0, &["slice", "shop.py", "1", "2"]),
        (2, &["slice", "gone.py", "1"]),
        (0, &["files"]),
        (1, &["files", "-g", "*.zig"]),
        (0, &["def", "shop.py:3:16"]),
        (2, &["def", "gone.py:1:1"]),
        (0, &["check", "shop.py"]),
        (1, &["check", "wrong.py"]),
        (0, &["entity", "show", "iss-1"]),
        (1, &["entity", "show", "iss-2"]),
        (1, &["entity", "search", "zzzz"]),
        (0, &["sql", "SELECT 1"]),
        (1, &["sql", "SELECT 1 WHERE 0"]),
        (2, &["sql", "SELEKT"]),
        (1, &["daemon", "status"]),
        (2, &["no-such-command"]),
        (2, &["files", "--no-such-option"]),
        (2, &["--json", "files"]),
        (0, &["--version"]),
        (0, &["help"]),
    ] {
        let ended = repo.run(arguments);
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{arguments:?}: {stderr}");
        let is_json = arguments.contains(&"--json");
        assert!(code != 2 || !stderr.is_empty(), "{arguments:?}: errors go to stderr");
        assert!(code != 2 || is_json != ended.stdout.is_empty(), "{arguments:?}: and to stdout as JSON alone");
    }
}

#[test]
fn mistyped_words_are_answered_with_suggestions() {
    let repo = Repo::new(SHOP);
    expect![[r#"
        $ ixmcp qurey x
        error: unrecognized subcommand 'qurey'

          tip: a similar subcommand exists: 'query'

        Usage: ixmcp [OPTIONS] [COMMAND]

        For more information, try '--help'.
        $ ixmcp symbl x
        error: unrecognized subcommand 'symbl'

          tip: a similar subcommand exists: 'symbol'

        Usage: ixmcp [OPTIONS] [COMMAND]

        For more information, try '--help'.
        $ ixmcp entity serach x
        error: unrecognized subcommand 'serach'

          tip: a similar subcommand exists: 'search'

        Usage: ixmcp entity [OPTIONS] <COMMAND>

        For more information, try '--help'.
        $ ixmcp daemon sto
        error: unrecognized subcommand 'sto'

          tip: a similar subcommand exists: 'stop'

        Usage: ixmcp daemon [OPTIONS] <COMMAND>

        For more information, try '--help'.
        $ ixmcp query --limt 3 x
        error: unexpected argument '--limt' found

          tip: a similar argument exists: '--limit'

        Usage: ixmcp query --limit <LIMIT> <TEXT>...

        For more information, try '--help'.
        $ ixmcp query -m regexp x
        error: invalid value 'regexp' for '--mode <MODE>'
          [possible values: smart, literal, regex]

          tip: a similar value exists: 'regex'

        For more information, try '--help'.
        $ ixmcp files --colour never
        error: unexpected argument '--colour' found

          tip: a similar argument exists: '--color'

        Usage: ixmcp files --color <WHEN>

        For more information, try '--help'.
        $ ixmcp setup cursr
        ixmcp: INVALID_ARGUMENT: there is no client "cursr". Did you mean cursor?
        $ ixmcp man qery
        ixmcp: INVALID_ARGUMENT: there is no command "qery". Did you mean query?
        $ ixmcp doctor sokcet
        ixmcp: INVALID_ARGUMENT: there is no check "sokcet". Did you mean socket?
        $ ixmcp call get_symbl
        ixmcp: INVALID_PARAMS: there is no tool "get_symbl". Did you mean get_symbol?
        $ ixmcp slice shpo.py 1
        ixmcp: INVALID_PATH: shpo.py does not exist. Did you mean shop.py?
    "#]]
    .assert_eq(&repo.failures(
        &[
            &["qurey", "x"],
            &["symbl", "x"],
            &["entity", "serach", "x"],
            &["daemon", "sto"],
            &["query", "--limt", "3", "x"],
            &["query", "-m", "regexp", "x"],
            &["files", "--colour", "never"],
            &["setup", "cursr"],
            &["man", "qery"],
            &["doctor", "sokcet"],
            &["call", "get_symbl"],
            &["slice", "shpo.py", "1"],
        ],
        &[],
    ));
    assert_eq!(repo.ok(&["search", "checkout"]), repo.ok(&["query", "checkout"]), "what people try first");
    assert!(repo.ok(&["index"]).starts_with("files "));
    let output = repo.run(&["symbol", "pay_ordr"]);
    let reported = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    expect![[r#"
        nothing is named pay_ordr
        did you mean: pay_order
    "#]]
    .assert_eq(&reported);
}

#[test]
fn progress_is_not_part_of_the_result() {
    let repo = Repo::new(SHOP);
    let mut child = repo.command(&["files"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    assert_eq!(lines, ["notes.md", "shop.py"]);
}

#[test]
fn what_is_logged_in_a_pipe_has_no_colours() {
    let repo = Repo::new("//- /a.md\n# A\n");
    let folder = tempfile::Builder::new().prefix("ixmcp-papers").tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    repo.call("index_files", &serde_json::json!({ "folderPath": at }));
    drop(folder);
    let output = repo.command(&["query", "words"]).output().unwrap();
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(!reported.contains('\u{1b}'), "{reported:?}");
    assert_eq!(reported.matches("is not a folder any more").count(), 1, "{reported}");
}
