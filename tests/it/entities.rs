//! Entity files as they are found in the wild: every oddity of the real formats has a file in `fixtures/entities`.

use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

use crate::support::harness::Repo;
use crate::support::sound::{assert_sound, dump, open, sync};

/// A copy of the repository in `fixtures/entities`.
pub fn fixture() -> Repo {
    let repo = Repo::new("");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entities/.");
    assert!(Command::new("cp").arg("-a").arg(from).arg(repo.path()).status().unwrap().success());
    repo
}

#[test]
fn every_oddity_of_real_entity_files_is_understood() {
    let repo = fixture();
    let workspace = open(repo.path());
    sync(&workspace);
    let families = ["entity", "name", "tag", "edge", "problem"];
    let mut lines = dump(&workspace);
    lines.retain(|line| families.iter().any(|family| line.starts_with(&format!("[\"{family}\""))));
    expect_file!["../../fixtures/entities.expect"].assert_eq(&(lines.join("\n") + "\n"));
    assert_sound(&workspace, "the fixture");
}

#[test]
fn of_two_files_with_one_id_the_first_counts_and_the_next_takes_over() {
    let entity = |title: &str| format!("---\nid: dec-1\ntitle: {title}\n---\n");
    let repo = Repo::new("");
    repo.write(".ixchel/b.md", entity("b"));
    let workspace = open(repo.path());
    let live = || -> Vec<String> {
        sync(&workspace);
        let lines =
            dump(&workspace).into_iter().filter(|line| line.starts_with("[\"entity\"") && line.ends_with(",1]"));
        lines.map(|line| line.split('"').nth(3).unwrap().to_owned()).collect()
    };
    assert_eq!(live(), [".ixchel/b.md"]);
    repo.write(".ixchel/a.md", entity("a"));
    assert_eq!(live(), [".ixchel/a.md"]);
    repo.remove(".ixchel/a.md");
    assert_eq!(live(), [".ixchel/b.md"]);
    repo.write(".ixchel/a.md", entity("a"));
    repo.write(".ixchel/b.md", entity("other").replace("dec-1", "dec-2"));
    assert_eq!(live(), [".ixchel/a.md", ".ixchel/b.md"]);
    assert_sound(&workspace, "after ids moved");
}

#[test]
fn a_file_that_becomes_an_entity_by_a_rename_is_read_again() {
    let repo = Repo::new(
        r"
//- /docs/a.md
---
id: dec-1
tags: [x]
---
# A
",
    );
    let workspace = open(repo.path());
    sync(&workspace);
    for (from, to) in
        [("docs/a.md", ".ixchel/a.md"), (".ixchel/a.md", ".ixchel/data/a.md"), (".ixchel/data/a.md", "b.md")]
    {
        std::fs::create_dir_all(repo.path().join(to).parent().unwrap()).unwrap();
        std::fs::rename(repo.path().join(from), repo.path().join(to)).unwrap();
        sync(&workspace);
        assert_sound(&workspace, to);
    }
}
