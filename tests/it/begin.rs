//! The first things that a person types: the program alone, its help, what a shell completes, manual pages.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::harness::Repo;

#[test]
fn the_program_alone_reports_the_state_of_the_repository() {
    let repo = Repo::new("//- /a.py\ndef f(): ...\n");
    let reported = repo.ok(&[]);
    assert!(reported.contains("index       none yet") && reported.contains("\nixmcp sync "), "{reported}");
    assert!(reported.contains("clients     none is set up") && reported.contains("\nixmcp setup "), "{reported}");
    assert!(!repo.path().join(".ixmcp").exists(), "looking makes nothing");
    repo.sync();
    repo.ok(&["setup", "cursor", "--yes"]);
    repo.ok(&["init"]);
    let reported = repo.ok(&[]);
    assert!(
        reported.contains(" files, 1 symbols") && reported.contains("changed ") && reported.contains(" ago"),
        "{reported}"
    );
    assert!(reported.contains("clients     cursor") && reported.contains("\nixmcp query "), "{reported}");
    assert!(
        !reported.contains("ixmcp setup") && !reported.contains("ixmcp init") && !reported.contains("ixmcp sync"),
        "{reported}"
    );
    std::fs::write(repo.database(), "no database").unwrap();
    assert!(repo.ok(&[]).contains("\nixmcp doctor "));
}

#[test]
fn help_groups_the_commands_and_mistakes_are_met_with_a_name() {
    let repo = Repo::new("");
    let help = repo.ok(&["--help"]);
    for heading in ["Begin:", "Search and read:", "Python types:", "Serve agents:", "Examples:", "Options:"] {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}: {help}");
    }
    assert!(help.contains("\n  query        Search the repository"), "{help}");
    let output = repo.run(&["qury"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("'query'"));
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

/// What each shell offers behind words whose argument has known values.
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
    for page in ["ixmcp.1", "ixmcp-query.1", "ixmcp-entity.1", "ixmcp-entity-link.1", "ixmcp-daemon-start.1"] {
        assert!(read(page).contains("\n.SH NAME\n"), "{page}");
    }
    assert_eq!(read("ixmcp-entity-link.1"), repo.ok(&["man", "entity", "link"]));
    assert!(!repo.path().join("man1/ixmcp-engine.1").exists(), "what is hidden has none");
    assert!(repo.fails(&["man", "entty"]).contains("entity"));
}
