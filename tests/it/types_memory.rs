//! The memory that the type engines of one user share: real daemons, real engines.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::support::harness::{Repo, Server};
use crate::support::waiting::until;

const SOURCE: &str = "//- /a.py\nx: int = ''\n";

/// A client of the repository's daemon, whose engine has checked it.
fn checked(repo: &Repo, runtime: &Path, memory: &str) -> Server {
    let mut command = repo.command(&["mcp"]);
    command.env("XDG_RUNTIME_DIR", runtime).env("IXMCP_PYTHON_MEMORY", memory);
    let mut server = Server::start(command);
    check(&mut server);
    server
}

fn check(server: &mut Server) {
    assert_eq!(server.call("check", &json!({}))["total"], 1);
}

/// The roots of the repositories whose engines run.
fn engines(runtime: &Path) -> Vec<String> {
    let registered = fs::read_dir(runtime.join("ixmcp/engines")).unwrap();
    let ids = registered.filter_map(|entry| entry.unwrap().file_name().into_string().unwrap().parse::<u32>().ok());
    let mut roots: Vec<String> = ids
        .filter_map(|id| {
            let command = fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
            command.split('\0').nth(2).map(str::to_owned)
        })
        .collect();
    roots.sort();
    roots
}

fn roots(repos: &[&Repo]) -> Vec<String> {
    let mut roots: Vec<String> =
        repos.iter().map(|repo| repo.path().canonicalize().unwrap().to_str().unwrap().to_owned()).collect();
    roots.sort();
    roots
}

/// Waits until the engines of these repositories run, and no others.
fn assert_engines(runtime: &Path, repos: &[&Repo]) {
    until("only these engines run", || engines(runtime) == roots(repos));
}

#[test]
fn beyond_the_shared_budget_the_least_recently_used_engine_ends() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path();
    let repos = [Repo::new(SOURCE), Repo::new(SOURCE), Repo::new(SOURCE)];
    let [a, b, c] = &repos;
    // Any two engines need more.
    let mut first = checked(a, runtime, "64M");
    assert_engines(runtime, &[a]);
    std::thread::sleep(Duration::from_secs(2));
    assert_engines(runtime, &[a]);
    let _second = checked(b, runtime, "64M");
    assert_engines(runtime, &[b]);
    let _third = checked(c, runtime, "64M");
    assert_engines(runtime, &[c]);
    // One that has ended starts again with the next request.
    check(&mut first);
    assert_engines(runtime, &[a]);
    repos.iter().for_each(|repo| drop(repo.ok(&["daemon", "stop"])));
    assert_engines(runtime, &[]);
}

#[test]
fn within_the_shared_budget_all_engines_stay() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path();
    let repos = [Repo::new(SOURCE), Repo::new(SOURCE)];
    let _servers = repos.each_ref().map(|repo| checked(repo, runtime, "4G"));
    std::thread::sleep(Duration::from_secs(2));
    assert_engines(runtime, &[&repos[0], &repos[1]]);
    let permissions = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(permissions(&runtime.join("ixmcp/engines")), 0o700);
}

#[test]
fn a_folder_of_another_kind_ends_the_sharing_and_nothing_else() {
    let runtime = tempfile::tempdir().unwrap();
    fs::create_dir(runtime.path().join("ixmcp")).unwrap();
    fs::write(runtime.path().join("ixmcp/engines"), "a file").unwrap();
    let repo = Repo::new(SOURCE);
    checked(&repo, runtime.path(), "64M");
    assert_eq!(fs::read_to_string(runtime.path().join("ixmcp/engines")).unwrap(), "a file");
}
