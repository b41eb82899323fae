//! The first things that a person types: the program alone, its help, what a shell completes, manual pages.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::harness::Repo;

#[test]
fn the_program_alone_says_how_things_stand() {
    let repo = Repo::new("//- /a.py\ndef f(): ...\n");
    let told = repo.ok(&[]);
    assert!(told.contains("index       none yet") && told.contains("\nixmcp sync "), "{told}");
    assert!(told.contains("clients     none is set up") && told.contains("\nixmcp setup "), "{told}");
    assert!(!repo.path().join(".ixmcp").exists(), "looking makes nothing");
    repo.sync();
    repo.ok(&["setup", "cursor", "--yes"]);
    repo.ok(&["init"]);
    let told = repo.ok(&[]);
    assert!(told.contains(" files, 1 symbols") && told.contains("changed ") && told.contains(" ago"), "{told}");
    assert!(told.contains("clients     cursor") && told.contains("\nixmcp query "), "{told}");
    assert!(!told.contains("ixmcp setup") && !told.contains("ixmcp init") && !told.contains("ixmcp sync"), "{told}");
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
