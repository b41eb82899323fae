//! The central promise: after any sequence of changes, updated step by step, the index is what a fresh build makes.
//!
//! Sequences are random and reproducible: a failure prints its seed, and `IXMCP_SEED=N cargo test incremental` runs that
//! one alone. `IXMCP_SEQUENCES=N` runs so many in each test (`.ci/soak` does).

use std::sync::Arc;
use std::time::Duration;

use ixmcp::budget::{Budget, Progress};
use ixmcp::index::{Thoroughness, Workspace, rebuild};

use crate::harness::Repo;
use crate::sound::{assert_same, assert_sound, dump, number, open, sources, sync};
use crate::tree::Tree;

/// Sequences of each test here: together above 500.
const SEQUENCES: u64 = 130;
const STEPS: u64 = 12;

/// Compares what the steps left with a fresh build of the same tree.
fn check(tree: &Tree, workspace: &Workspace, seed: u64) {
    let context = format!("IXMCP_SEED={seed}: {:#?}", tree.log);
    assert_eq!(workspace.faults().unwrap(), Vec::<String>::new(), "{context}");
    let stepwise = dump(workspace);
    rebuild(tree.repo.path(), sources(tree.repo.path()), &Arc::default(), &Budget::unlimited()).unwrap();
    assert_same(&stepwise, &dump(workspace), &context);
}

fn seeds(test: u64) -> Vec<u64> {
    match number("IXMCP_SEED", u64::MAX) {
        u64::MAX => (0..number("IXMCP_SEQUENCES", SEQUENCES)).map(|at| test * 1_000_000 + at).collect(),
        seed => vec![seed],
    }
}

/// A sync after every step.
fn swept(test: u64) {
    for seed in seeds(test) {
        let mut tree = Tree::new(seed);
        let workspace = Arc::new(Workspace::open(tree.repo.path(), sources(tree.repo.path())).unwrap());
        for _ in 0..STEPS {
            tree.step();
            workspace.sync(Thoroughness::Changed, &Arc::<Progress>::default(), &Budget::unlimited()).unwrap();
        }
        check(&tree, &workspace, seed);
    }
}

#[test]
fn swept_sequences_equal_a_fresh_build_1() {
    swept(1);
}

#[test]
fn swept_sequences_equal_a_fresh_build_2() {
    swept(2);
}

#[test]
fn swept_sequences_equal_a_fresh_build_3() {
    swept(3);
}

#[test]
fn swept_sequences_equal_a_fresh_build_4() {
    swept(4);
}

/// Bursts of steps in a watched tree, each followed by a read.
#[test]
fn watched_sequences_equal_a_fresh_build() {
    for seed in seeds(5).into_iter().step_by(4) {
        let mut tree = Tree::new(seed);
        let workspace = Arc::new(Workspace::open(tree.repo.path(), sources(tree.repo.path())).unwrap());
        workspace.watch();
        workspace.freshen(None, &Budget::unlimited()).unwrap();
        for _ in 0..3 {
            for _ in 0..=tree.random.below(6) {
                tree.step();
            }
            // A read reflects what was saved 150 ms before.
            std::thread::sleep(Duration::from_millis(150));
            workspace.freshen(None, &Budget::unlimited()).unwrap();
        }
        check(&tree, &workspace, seed);
    }
}

#[test]
fn a_rename_beside_other_options_keeps_no_old_rows() {
    let repo = Repo::new("");
    repo.write("a.py", "def function(): return 1\n".repeat(200));
    let workspace = open(repo.path());
    sync(&workspace);
    repo.write(".ixmcp.toml", "[index]\nchunk_size = 500\n");
    std::fs::rename(repo.path().join("a.py"), repo.path().join("b.py")).unwrap();
    sync(&workspace);
    assert_sound(&workspace, "renamed while the options changed");
}
