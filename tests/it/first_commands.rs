//! The first things that a person types: the program alone, its help, what a shell completes, manual pages.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::harness::Repo;

#[test]
fn the_program_alone_reports_the_state_of_the_repository() {
    let repo = Repo::new("//- /a.py\ndef f(): ...\n");
    expect![[r#"
        repository  ROOT
        index       none yet
        daemon      not running; a client starts it
        clients     none set up

        ixmcp sync           index this repository; the first query also does
        ixmcp setup          let your agent use it
        ixmcp init           keep decisions and issues next to the code
        ixmcp --help         all commands
    "#]]
    .assert_eq(&overview(&repo));
    assert!(!repo.path().join(".ixmcp").exists(), "looking makes nothing");
    repo.sync();
    repo.ok(&["setup", "cursor", "--yes"]);
    repo.ok(&["init"]);
    expect![[r#"
        repository  ROOT
        index       1 file, 1 symbol, SIZE, changed AGO
        daemon      not running; a client starts it
        clients     cursor

        ixmcp query WORDS…   search it
        ixmcp ui             explore it and the calls of agents in a browser
        ixmcp --help         all commands
    "#]]
    .assert_eq(&overview(&repo));
    std::fs::write(repo.database(), "no database").unwrap();
    expect![[r#"
        repository  ROOT
        index       CORRUPT_INDEX: ROOT/.ixmcp/index.db is not an index of ixmcp, or is damaged. Run `ixmcp rebuild`: it builds a new index and keeps this file as index.db.bad.
        daemon      not running; a client starts it
        clients     cursor

        ixmcp doctor         see what is wrong with the index
        ixmcp --help         all commands
    "#]].assert_eq(&overview(&repo));
}

/// Output of the program without a command, without the parts that differ from run to run.
fn overview(repo: &Repo) -> String {
    let line = |line: &str| match line.split(", ").collect::<Vec<_>>()[..] {
        [files, symbols, size, changed]
            if (size.ends_with(" kB") || size.ends_with(" MB")) && changed.ends_with(" ago") =>
        {
            assert!(changed.starts_with("changed "), "{changed}");
            format!("{files}, {symbols}, SIZE, changed AGO\n")
        }
        _ => format!("{line}\n"),
    };
    without_root(repo, &repo.ok(&[]).lines().map(line).collect::<String>())
}

fn without_root(repo: &Repo, text: &str) -> String {
    text.replace(repo.path().canonicalize().unwrap().to_str().unwrap(), "ROOT")
}

/// The warning that each tool which needs no more than the repository gives, once.
fn warning(repo: &Repo) -> String {
    let calls = [
        ("query", json!({ "text": "main" })),
        ("query", json!({ "text": "main", "mode": "literal" })),
        ("get_symbol", json!({ "symbol_name": "main" })),
        ("list_files", json!({})),
        ("stats", json!({})),
        ("ixchel_search", json!({ "query": "main" })),
    ];
    let warning = |(tool, arguments): &(&str, Value)| {
        let answer = repo.call(tool, arguments);
        answer["warning"].as_str().unwrap_or_else(|| panic!("{tool}: {answer}")).to_owned()
    };
    let warnings: BTreeSet<String> = calls.iter().map(warning).collect();
    warnings.iter().map(|warning| without_root(repo, warning) + "\n").collect()
}

#[test]
fn an_index_without_files_names_the_rule_and_its_file() {
    // As in Debian's source of Linux.
    let repo =
        Repo::new("//- /.gitignore\n# Ignore everything\n/*\n//- /Makefile\nall:\n//- /kernel/main.c\nint main;\n");
    expect![[r#"
        The index of ROOT contains no files: the rule `/*` in .gitignore ignores 3 files. To index ignored files, change the rule, or write an exception such as `!/*` to a file `.ignore`, which git does not read.
    "#]].assert_eq(&warning(&repo));
    expect![[r#"
        $ ixmcp doctor database
        database   warning  The index of REPOSITORY contains no files: the rule `/*` in .gitignore ignores 3 files. To index ignored files, change the rule, or write an exception such as `!/*` to a file `.ignore`, which git does not read.
        $ ixmcp query main
        nothing found
        The index of REPOSITORY contains no files: the rule `/*` in .gitignore ignores 3 files. To index ignored files, change the rule, or write an exception such as `!/*` to a file `.ignore`, which git does not read.
        exit code 1
    "#]].assert_eq(&repo.transcript(&[&["doctor", "database"], &["query", "main"]], &[]));
    // `sync` prints it, too, at each time.
    for arguments in [&["sync"][..], &["sync", "--force"]] {
        let said = String::from_utf8(repo.run(arguments).stderr).unwrap();
        assert_eq!(without_root(&repo, &said), warning(&repo), "{arguments:?}");
    }
    // The remedy is one.
    repo.write(".ignore", "!/*\n");
    let found = repo.call("query", &json!({ "text": "main", "mode": "literal" }));
    assert_eq!((&found["total"], &found["warning"]), (&json!(1), &Value::Null), "{found}");
    expect![[r#"
        database   ok       the index is sound: 4 files, schema 7
    "#]]
    .assert_eq(&repo.ok(&["doctor", "database"]));
}

#[test]
fn an_index_without_files_says_so_whatever_the_reason() {
    let empty = Repo::new("");
    expect![[r#"
        The index of ROOT contains no files: the folder is empty.
    "#]]
    .assert_eq(&warning(&empty));

    let skipped = Repo::new("//- /.env\nPASSWORD=1\n//- /yarn.lock\n{}\n//- /a/data.bin\n\0\n");
    expect![[r#"
        The index of ROOT contains no files: skipped: binary 1, generated 1, secret 1. `ixmcp files --skipped` lists them.
    "#]].assert_eq(&warning(&skipped));
    let excluded = Repo::new("//- /a.py\nA = 1\n//- /b/c.py\nA = 1\n");
    let init = Command::new("git").args(["init", "-q"]).current_dir(excluded.path()).status();
    assert!(init.unwrap().success());
    excluded.write(".git/info/exclude", "*.py\n");
    expect![[r#"
        The index of ROOT contains no files: the rule `*.py` in .git/info/exclude ignores 2 files. To index ignored files, change the rule, or write an exception such as `!/*` to a file `.ignore`, which git does not read.
    "#]].assert_eq(&warning(&excluded));
    let setting = Repo::new("//- /a/b.py\nA = 1\n");
    setting.write(".ixmcp.toml", "[index]\nexclude = [\"*\"]\n");
    expect![[r#"
        The index of ROOT contains no files: the setting `index.exclude` excludes 2 files.
    "#]]
    .assert_eq(&warning(&setting));
    // A rule of a folder below, next to one that matters for nothing.
    let deep = Repo::new("//- /in/src/.gitignore\n*\n//- /in/src/a.py\nA = 1\n");
    expect![[r#"
        The index of ROOT contains no files: the rule `*` in in/src/.gitignore ignores 2 files. To index ignored files, change the rule, or write an exception such as `!/*` to a file `.ignore`, which git does not read.
    "#]].assert_eq(&warning(&deep));
}

#[test]
fn help_groups_the_commands_and_mistakes_are_met_with_a_name() {
    let repo = Repo::new("");
    let printed = repo.transcript(&[&["--help"], &["qury"]], &[]);
    // clap indents empty lines, too.
    let printed: String = printed.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    expect![[r#"
        $ ixmcp --help
        Search and read a repository through one SQLite index that is always fresh.

        The index is stored in .ixmcp/index.db and is built when it is first needed.

        Usage: ixmcp [OPTIONS] [COMMAND]

        Get started:
          setup        Add ixmcp to the settings of MCP clients
          sync         Update the index and report what changed since the last sync
          doctor       Diagnose problems with ixmcp in this repository and suggest fixes

        Search and read:
          query        Search the repository: ranked by words and meaning, or line by line as ripgrep does
          documents    Index and search folders of documents
          symbol       Show where a name is defined and used
          changes      Show which definitions differ from a commit, and what depends on them
          history      Show the commits that changed a file, a folder, a line or the lines of a symbol, and
          the files that change with it
          slice        Print lines of a file
          files        List the indexed files, or with --skipped the files that are not indexed and why
          stats        Show statistics of the index
          repos        List your indexed repositories with their sizes, and your groups
          deps         Index the sources of this repository's dependencies that are already on this machine

        Python types:
          check        Type-check the Python project, or only some of its files and folders
          type-at      Show the type of the expression at a position of a Python file
          def          Show where the symbol at a position is defined
          refs         List all references to the symbol at a position
          infer        Infer missing type annotations of Python files
          rename       Rename a Python symbol in the whole project

        Share with an organisation:
          publish      Publish the commit that is checked out to an organisation's server
          unpublish    Remove this repository from an organisation's server
          org          Set up and inspect an organisation's server (PostgreSQL)

        Knowledge graph:
          init         Create the folder .ixchel for decisions, issues, ideas and notes
          entity       Read, traverse, write and check the entities in .ixchel
          graph        Draw the knowledge graph or the neighborhood of one entity

        Serve agents:
          mcp          Serve the tools over stdin and stdout, as MCP and as plain JSON-RPC methods
          http         Serve the tools over HTTP, for clients in containers, browsers and on other machines
          daemon       Run, start, stop or inspect the repository's daemon
          call         Call any tool with JSON arguments and print its answer as JSON

        Inspect and maintain:
          ui           Explore the index in a browser: search, files, graph, tags and the calls of agents
          sql          Query the index with SQL, read-only
          rebuild      Rebuild the index while the old one remains in use
          snapshot     Save the index to a file, or start from a saved index
          scip         Use the definitions and references that language indexers state in SCIP files

        Set up the program:
          model        Manage the optional embedding model that reranks the best hits
          completions  Print a completion script for a shell
          man          Print a manual page, or write all manual pages to a folder

        Examples:
          ixmcp query where are orders paid
          ixmcp symbol Cart.checkout --relations
          ixmcp setup claude-code
        Run `ixmcp COMMAND --help` for details.

        Exit codes: 0 success, 1 no results (check, doctor: problems found), 2 error.

        JSON of `ixmcp --json`:
          {root, index, daemon, clients, next: [{command, what}]}

        Options:
              --repo <PATH>
                  The repository: the nearest folder, from the given one up, that contains .ixmcp, .ixchel
                  or .git [default: $CLAUDE_PROJECT_DIR, then the current folder]; repeat it, or give a glob
                  of paths or org:NAME, to search several

              --group <NAME>
                  Search the repositories of a group, which `[groups]` in your config.toml defines, or
                  `deps`: what this repository depends on; can be repeated

              --color <WHEN>
                  When to use color

                  [default: auto]
                  [possible values: auto, always, never]

              --hyperlink <WHEN>
                  When to print paths as terminal hyperlinks

                  [default: auto]
                  [possible values: auto, always, never]

              --wait
                  Build the index completely before answering, in commands that use it

              --json
                  Print an overview of this repository as one JSON object

          -h, --help
                  Print help (see a summary with '-h')

          -V, --version
                  Print version
        $ ixmcp qury
        error: unrecognized subcommand 'qury'

          tip: a similar subcommand exists: 'query'

        Usage: ixmcp [OPTIONS] [COMMAND]

        For more information, try '--help'.
        exit code 2
    "#]]
    .assert_eq(&printed);
}

#[test]
fn a_shell_completes_commands_and_options() {
    let repo = Repo::new("");
    let script = repo.ok(&["completions", "bash"]);
    let ask = "COMP_WORDS=(ixmcp entity cre); COMP_CWORD=2; _ixmcp ixmcp cre entity; echo ${COMPREPLY[@]}
        COMP_WORDS=(ixmcp query --js); COMP_CWORD=2; _ixmcp ixmcp --js query; echo ${COMPREPLY[@]}";
    let mut bash = Command::new("bash");
    let mut bash = bash.arg("--norc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(format!("{script}\n{ask}\n").as_bytes()).unwrap();
    let said = String::from_utf8(bash.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(said, "create\n--json\n");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(repo.ok(&["completions", shell]).contains("entity"), "{shell}");
    }
}

/// Completions that each shell offers after words whose argument has known values.
const OFFERED: &[(&str, &[&str])] = &[
    ("setup", &["claude-code", "cursor", "opencode"]),
    ("completions", &["bash", "fish", "powershell"]),
    ("entity create", &["decision", "issue", "session"]),
    ("entity list", &["decision", "note"]),
    ("entity tag", &["add", "remove"]),
    ("doctor", &["database", "socket"]),
];

#[test]
fn fish_completes_the_values_of_arguments() {
    let repo = Repo::new("");
    let script = repo.ok(&["completions", "fish"]);
    for (words, values) in OFFERED {
        let (command, below) = words.split_once(' ').unwrap_or((words, ""));
        let below = if below.is_empty() { String::new() } else { format!("; and __fish_seen_subcommand_from {below}") };
        for value in *values {
            let line =
                format!("complete -c ixmcp -n \"__fish_ixmcp_using_subcommand {command}{below}\" -f -a \"{value}\"");
            assert!(script.lines().any(|reported| reported == line), "{line}");
        }
    }
    repo.write("ixmcp.fish", &script);
    for (words, values) in OFFERED {
        let ask = format!("source ixmcp.fish; complete -C 'ixmcp {words} '");
        let fish = Command::new("fish").args(["--no-config", "-c", &ask]).current_dir(repo.path()).output();
        let Ok(fish) = fish else {
            println!("SKIPPED: there is no fish to ask");
            return;
        };
        let said = String::from_utf8(fish.stdout).unwrap();
        let offered: Vec<&str> = said.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert!(
            values.iter().all(|value| offered.contains(value)),
            "{words}: {said}{}",
            String::from_utf8_lossy(&fish.stderr)
        );
        assert!(!offered.contains(&"ixmcp.fish"), "{words}: no files: {said}");
    }
}

#[test]
fn bash_completes_the_values_of_arguments() {
    let repo = Repo::new("");
    let script = repo.ok(&["completions", "bash"]);
    for (words, values) in OFFERED {
        let typed: Vec<&str> = words.split(' ').collect();
        let last = typed[typed.len() - 1];
        let ask = format!(
            "COMP_WORDS=(ixmcp {words} ''); COMP_CWORD={}; _ixmcp ixmcp '' {last}; echo ${{COMPREPLY[@]}}",
            typed.len() + 1
        );
        let mut bash = Command::new("bash");
        let mut bash = bash.arg("--norc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        bash.stdin.take().unwrap().write_all(format!("{script}\n{ask}\n").as_bytes()).unwrap();
        let said = String::from_utf8(bash.wait_with_output().unwrap().stdout).unwrap();
        let offered: Vec<&str> = said.split_whitespace().collect();
        assert!(values.iter().all(|value| offered.contains(value)), "{words}: {said}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let repo = Repo::new("");
    repo.ok(&["man", "--output", "man1"]);
    let read = |name: &str| std::fs::read_to_string(repo.path().join("man1").join(name)).unwrap();
    let pages = ["ixmcp.1", "ixmcp-query.1", "ixmcp-entity.1", "ixmcp-entity-link.1", "ixmcp-daemon-start.1"];
    let names = pages.map(|page| {
        let name = read(page).lines().skip_while(|line| *line != ".SH NAME").nth(1).unwrap().to_owned();
        format!("{page}: {name}\n")
    });
    expect![[r#"
        ixmcp.1: ixmcp \- Search and read a repository through one SQLite index that is always fresh
        ixmcp-query.1: ixmcp\-query \- Search the repository: ranked by words and meaning, or line by line as ripgrep does
        ixmcp-entity.1: ixmcp\-entity \- Read, traverse, write and check the entities in .ixchel
        ixmcp-entity-link.1: ixmcp\-entity\-link \- Add an edge from one entity to another
        ixmcp-daemon-start.1: ixmcp\-daemon\-start \- Start the daemon and wait until it is ready
    "#]].assert_eq(&names.concat());
    assert_eq!(read("ixmcp-entity-link.1"), repo.ok(&["man", "entity", "link"]));
    assert!(!repo.path().join("man1/ixmcp-engine.1").exists(), "what is hidden has none");
    expect![[r#"
        $ ixmcp man entty
        ixmcp: INVALID_ARGUMENT: there is no command "entty". Did you mean entity?
    "#]]
    .assert_eq(&repo.failures(&[&["man", "entty"]], &[]));
}
