//! A watched repository: whatever happens to its tree, the next read answers from what is on disk.
//!
//! `IXMCP_SWITCH_FILES=N` switches branches that differ in N files, `IXMCP_ROUNDS=N` repeats the races N times
//! (`.ci/soak` does both).

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::workspace::Workspace;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::support::harness::{Repo, Server};
use crate::support::sound::{assert_same, assert_sound, dump, fresh_dump, freshen, number, open, watched};
use crate::support::tree::Random;

fn git(repo: &Repo, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.excludesFile="]);
    let output = git.args(arguments).current_dir(repo.path()).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn paths(workspace: &Workspace) -> Vec<String> {
    let paths = workspace.read(&Budget::unlimited(), |snapshot| snapshot.paths(None)).unwrap();
    paths.into_iter().map(|(path, _)| path).collect()
}

/// Brings the index up to date and returns its paths.
fn ask(workspace: &Arc<Workspace>) -> Vec<String> {
    freshen(workspace);
    paths(workspace)
}

/// Is that file's text indexed as it is on disk?
fn assert_indexed(workspace: &Workspace, root: &Path, path: &str, context: &str) {
    let at = [ixmcp::model::RepoPath::new(path).unwrap()];
    let stored = workspace.read(&Budget::unlimited(), |snapshot| snapshot.stored_files_at(&at)).unwrap();
    let hashes: Vec<_> = stored.iter().map(|file| file.hash).collect();
    let text = fs::read(root.join(path)).unwrap();
    assert_eq!(hashes, [ixmcp::model::ContentHash::compute(&text)], "{context}: {path}");
}

#[test]
fn a_branch_switch_of_thousands_of_files_is_followed() {
    let files = number("IXMCP_SWITCH_FILES", 1_500);
    let repo = Repo::new("");
    git(&repo, &["init", "-q", "-b", "one"]);
    for branch in ["one", "two"] {
        if branch == "two" {
            git(&repo, &["checkout", "-q", "-b", "two"]);
        }
        for at in 0..files {
            // Two thirds are changed; the last third goes, and comes under other names.
            let name = if at * 3 < files * 2 { "same" } else { branch };
            repo.write(&format!("{name}/{}/f{at}.py", at % 40), format!("def {branch}_{at}(): pass\n"));
        }
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "-qm", branch]);
        if branch == "one" {
            git(&repo, &["rm", "-rq", "one"]);
        }
    }
    let workspace = watched(repo.path());
    for branch in ["one", "two", "one"] {
        git(&repo, &["checkout", "-q", branch]);
        freshen(&workspace);
        assert_same(&dump(&workspace), &fresh_dump(repo.path()), branch);
    }
    assert_sound(&workspace, "after switches");
    // The folders that came are watched as well.
    repo.write("one/7/late.py", "late = 1\n");
    assert!(ask(&workspace).contains(&"one/7/late.py".to_owned()));
}

#[test]
fn files_in_new_folders_are_never_lost() {
    let repo = Repo::new("");
    let workspace = watched(repo.path());
    for round in 0..number("IXMCP_ROUNDS", 3) {
        for at in 0..200 {
            repo.write(&format!("round{round}/n{at}/a/b/c/z.py"), "x = 1\n");
        }
        let found = ask(&workspace).iter().filter(|path| path.starts_with(&format!("round{round}/"))).count();
        assert_eq!(found, 200, "round {round}");
        // Once more, in folders that are known by now.
        for at in (0..200).step_by(10) {
            repo.write(&format!("round{round}/n{at}/a/b/c/late.py"), "x = 1\n");
        }
        let found = ask(&workspace).iter().filter(|path| path.ends_with("/late.py")).count();
        assert_eq!(found, 20, "round {round}");
        fs::remove_dir_all(repo.path().join(format!("round{round}"))).unwrap();
        assert_eq!(ask(&workspace), Vec::<String>::new());
    }
}

#[test]
fn a_save_is_found_at_once_however_an_editor_saves() {
    let repo = Repo::new("");
    for at in 0..400 {
        repo.write(&format!("d{}/f{at}.py", at % 20), format!("before_{at} = 1\n"));
    }
    let workspace = watched(repo.path());
    let mut random = Random(3);
    for round in 0..number("IXMCP_ROUNDS", 3) * 20 {
        let at = random.below(400);
        let (path, text) = (format!("d{}/f{at}.py", at % 20), format!("after_{round} = 1\n"));
        let target = repo.path().join(&path);
        let how = random.below(4);
        match how {
            0 => fs::write(&target, &text).unwrap(),
            // A new file takes the place of the old; its name may be one that is indexed.
            1 | 2 => {
                let temporary = target.with_extension(if how == 1 { "tmp" } else { "new.py" });
                fs::write(&temporary, &text).unwrap();
                if how == 2 {
                    freshen(&workspace);
                }
                fs::rename(&temporary, &target).unwrap();
            }
            // The old file is kept under another name for a while.
            _ => {
                let backup = target.with_extension("py~");
                fs::rename(&target, &backup).unwrap();
                fs::write(&target, &text).unwrap();
                fs::remove_file(&backup).unwrap();
            }
        }
        freshen(&workspace);
        assert_indexed(&workspace, repo.path(), &path, &format!("round {round}, way {how}"));
    }
    assert_sound(&workspace, "after saves");
}

#[test]
fn a_file_renamed_over_another_replaces_it_at_once() {
    let repo = Repo::new(
        r"
//- /a.py
a = 1
//- /b.py
b = 1
",
    );
    let workspace = watched(repo.path());
    fs::rename(repo.path().join("a.py"), repo.path().join("b.py")).unwrap();
    assert_eq!(ask(&workspace), ["b.py"]);
    assert_indexed(&workspace, repo.path(), "b.py", "renamed over");
    assert_sound(&workspace, "renamed over");
}

#[test]
fn renamed_swapped_and_remade_folders_stay_watched() {
    let repo = Repo::new(
        r"
//- /a/sub/one.py
one = 1
//- /b/sub/two.py
two = 2
//- /c.py
c = 1
",
    );
    let workspace = watched(repo.path());
    let root = repo.path();
    let rename = |from: &str, to: &str| fs::rename(root.join(from), root.join(to)).unwrap();
    // Every folder must still be watched after each of these.
    let check = |what: &str| {
        let expected = fresh_dump(root);
        freshen(&workspace);
        assert_same(&dump(&workspace), &expected, what);
        for folder in ["a/sub", "b/sub", "moved/sub", "a", "b", "moved"] {
            if root.join(folder).is_dir() {
                let late = format!("{folder}/late.py");
                repo.write(&late, format!("late = {what:?}\n"));
                freshen(&workspace);
                assert_indexed(&workspace, root, &late, what);
            }
        }
    };
    for round in 0..number("IXMCP_ROUNDS", 3) {
        rename("a", "moved");
        check(&format!("renamed {round}"));
        rename("moved", "a");
        check(&format!("renamed back {round}"));
        rename("a", "swap");
        rename("b", "a");
        rename("swap", "b");
        check(&format!("swapped {round}"));
        fs::remove_dir_all(root.join("a")).unwrap();
        repo.write("a/sub/one.py", format!("one = {round}\n"));
        check(&format!("remade {round}"));
        // The same, with an ignore file saved at the same time, which asks for a sweep.
        rename("a", "swap");
        rename("b", "a");
        rename("swap", "b");
        repo.write(".gitignore", format!("ignored{round}\n"));
        check(&format!("swapped, and an ignore file {round}"));
        fs::remove_dir_all(root.join("a")).unwrap();
        repo.write(".gitignore", format!("ignored{round}x\n"));
        repo.write("a/sub/one.py", format!("one = {round}\n"));
        check(&format!("remade, and an ignore file {round}"));
    }
}

#[test]
fn ignore_files_wherever_they_are_add_and_remove() {
    let repo = Repo::new(
        r"
//- /a.py
a = 1
//- /sub/b.py
b = 1
",
    );
    git(&repo, &["init", "-q"]);
    let workspace = watched(repo.path());
    for round in 0..2 {
        for (file, pattern, left) in [
            (".gitignore", "*.py\n", vec![".gitignore"]),
            (".gitignore", "sub/\n", vec![".gitignore", "a.py"]),
            (".gitignore", "", vec![".gitignore", "a.py", "sub/b.py"]),
            ("sub/.gitignore", "b.py\n", vec![".gitignore", "a.py", "sub/.gitignore"]),
            ("sub/.gitignore", "", vec![".gitignore", "a.py", "sub/.gitignore", "sub/b.py"]),
        ] {
            repo.write(file, pattern);
            let found: Vec<String> =
                ask(&workspace).into_iter().filter(|path| round == 0 || left.contains(&&**path)).collect();
            assert_eq!(found, left, "round {round}: {file} := {pattern:?}");
        }
    }
    fs::remove_file(repo.path().join("sub/.gitignore")).unwrap();
    // What this clone alone ignores: the file may be made, changed, replaced and removed.
    let exclude = repo.path().join(".git/info/exclude");
    for (pattern, left) in [("*.py\n", 1), ("sub/\n", 2), ("*.md\n", 3), ("a.py\n", 2)] {
        repo.write(".git/info/exclude", pattern);
        assert_eq!(ask(&workspace).len(), left, "exclude := {pattern:?}");
    }
    fs::write(exclude.with_extension("new"), "*.py\n").unwrap();
    fs::rename(exclude.with_extension("new"), &exclude).unwrap();
    assert_eq!(ask(&workspace), [".gitignore"]);
    fs::remove_dir_all(exclude.parent().unwrap()).unwrap();
    assert_eq!(ask(&workspace).len(), 3);
}

#[test]
fn what_git_tracks_counts_even_when_git_comes_later() {
    let repo = Repo::new(
        r"
//- /.gitignore
*.log
//- /kept.log
kept
//- /other.log
other
",
    );
    let workspace = watched(repo.path());
    assert_eq!(ask(&workspace), [".gitignore"]);
    for round in 0..2 {
        fs::remove_dir_all(repo.path().join(".git")).unwrap();
        git(&repo, &["init", "-q"]);
        assert_eq!(ask(&workspace), [".gitignore"], "round {round}");
        git(&repo, &["add", "-f", "kept.log"]);
        assert_eq!(ask(&workspace), [".gitignore", "kept.log"], "round {round}");
        git(&repo, &["add", "-f", "other.log"]);
        assert_eq!(ask(&workspace), [".gitignore", "kept.log", "other.log"], "round {round}");
        git(&repo, &["rm", "-q", "--cached", "kept.log"]);
        assert_eq!(ask(&workspace), [".gitignore", "other.log"], "round {round}");
    }
}

/// Files that git lists with the settings of that home.
fn git_sees(root: &Path, home: &Path) -> Vec<String> {
    let mut git = Command::new("git");
    git.current_dir(root).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home);
    let listed = git.args(["ls-files", "-co", "--exclude-standard"]).output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).unwrap();
    let mut names: Vec<String> = names.lines().filter(|name| !name.starts_with(".ixmcp/")).map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn the_users_settings_of_git_and_the_files_that_they_name_are_followed() {
    let repo = Repo::new("//- /a.py\na = 1\n//- /b.py\nb = 1\n//- /c.py\nc = 1\n//- /d.py\nd = 1\n");
    git(&repo, &["init", "-q"]);
    let (root, home) = (repo.path().canonicalize().unwrap(), tempfile::tempdir().unwrap());
    let at = home.path().canonicalize().unwrap();
    let environment = Environment::new([], at.clone(), root.clone());
    let sources = Sources { flags: Flags::default(), environment };
    let workspace = Arc::new(Workspace::open(&root, Arc::new(sources)).unwrap());
    workspace.watch();
    let write = |path: &str, text: &str| {
        fs::create_dir_all(at.join(path).parent().unwrap()).unwrap();
        fs::write(at.join(path), text).unwrap();
    };
    let replace = |path: &str, text: &str| {
        write("new", text);
        fs::rename(at.join("new"), at.join(path)).unwrap();
    };
    let steps: &[(&str, &dyn Fn())] = &[
        ("nothing", &|| {}),
        ("the default file appears with its folders", &|| write(".config/git/ignore", "a.py\n")),
        ("it changes", &|| write(".config/git/ignore", "b.py\n")),
        ("it is replaced", &|| replace(".config/git/ignore", "a.py\nb.py\n")),
        ("settings name another that does not exist", &|| write(".gitconfig", "[core]\nexcludesFile = ~/mine\n")),
        ("that appears", &|| write("mine", "c.py\n")),
        ("an include of nothing", &|| replace(".gitconfig", "[include]\npath = sub/inc\n")),
        ("what is included appears", &|| write("sub/inc", "[core]\nexcludesFile = ~/deep/er/ignore\n")),
        ("and what it names", &|| write("deep/er/ignore", "d.py\n")),
        ("that changes", &|| write("deep/er/ignore", "a.py\nd.py\n")),
        ("its folder moves away", &|| fs::rename(at.join("deep"), at.join("moved")).unwrap()),
        ("and back", &|| fs::rename(at.join("moved"), at.join("deep")).unwrap()),
        ("no settings", &|| fs::remove_file(at.join(".gitconfig")).unwrap()),
        ("a link to settings", &|| {
            write("dotfiles/gitconfig", "[core]\nexcludesFile = ~/mine\n");
            std::os::unix::fs::symlink("dotfiles/gitconfig", at.join(".gitconfig")).unwrap();
        }),
        ("what it leads to changes", &|| write("dotfiles/gitconfig", "[core]\nexcludesFile = ~/deep/er/ignore\n")),
        ("what it leads to goes", &|| fs::remove_dir_all(at.join("dotfiles")).unwrap()),
        ("the default file goes with its folders", &|| fs::remove_dir_all(at.join(".config")).unwrap()),
        ("the settings of the repository", &|| {
            git(&repo, &["config", "core.excludesFile", at.join("mine").to_str().unwrap()]);
        }),
    ];
    for (name, step) in steps {
        step();
        assert_eq!(ask(&workspace), git_sees(&root, &at), "{name}");
    }
}

#[test]
fn the_exclusions_and_the_index_of_a_repository_in_the_tree_are_followed() {
    let repo = Repo::new("//- /a.py\na = 1\n//- /in/b.py\nb = 1\n//- /in/c.log\nc\n//- /in/.gitignore\n*.log\n");
    git(&repo, &["init", "-q"]);
    let workspace = watched(repo.path());
    assert_eq!(ask(&workspace), ["a.py", "in/.gitignore", "in/b.py"]);
    git(&repo, &["init", "-q", "in"]);
    git(&repo, &["-C", "in", "add", "-f", "c.log"]);
    assert_eq!(ask(&workspace), ["a.py", "in/.gitignore", "in/b.py", "in/c.log"]);
    repo.write("in/.git/info/exclude", "b.py\n");
    assert_eq!(ask(&workspace), ["a.py", "in/.gitignore", "in/c.log"]);
    git(&repo, &["-C", "in", "rm", "-q", "--cached", "c.log"]);
    assert_eq!(ask(&workspace), ["a.py", "in/.gitignore"]);
    git(&repo, &["-C", "in", "config", "core.excludesFile", "in.txt"]);
    repo.write("in/in.txt", "in.txt\n.gitignore\n");
    assert_eq!(ask(&workspace), ["a.py"]);
}

#[test]
fn several_processes_may_watch_one_repository() {
    let repo = Repo::new("//- /a.py\nfirst_name = 1\n");
    let mut servers: Vec<Server> = (0..3).map(|_| Server::start(repo.command(&["mcp", "--no-daemon"]))).collect();
    for round in 0..10 {
        repo.write("a.py", format!("name_{round} = 1\n"));
        for server in &mut servers {
            assert_eq!(server.finds(&format!("name_{round}")).as_deref(), Some("a.py"), "round {round}");
        }
    }
    // One that comes clears away what killed ones left, not what another may be waiting for.
    let cookies = repo.path().join(".ixmcp/watch");
    let (young, old) = (cookies.join("1-1-1"), cookies.join("1-1-2"));
    for cookie in [&young, &old] {
        fs::write(cookie, "").unwrap();
    }
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&old).unwrap().set_modified(hour_ago).unwrap();
    watched(repo.path());
    assert!(young.exists() && !old.exists());
}

#[test]
fn the_folder_of_cookies_may_be_removed() {
    let repo = Repo::new(
        r"
//- /a.py
a = 1
//- /sub/b.py
b = 1
",
    );
    let workspace = watched(repo.path());
    for round in 0..3 {
        fs::remove_dir_all(repo.path().join(".ixmcp/watch")).unwrap();
        repo.write("sub/b.py", format!("b = {round}\n"));
        freshen(&workspace);
        assert_indexed(&workspace, repo.path(), "sub/b.py", "without cookies");
        assert!(repo.path().join(".ixmcp/watch").is_dir(), "round {round}");
    }
}

/// In a user namespace of its own a process may be given fewer watches than it needs.
pub fn with_watches(repo: &Repo, watches: u32) -> Option<Command> {
    let set = format!("echo {watches} > /proc/sys/user/max_inotify_watches");
    let unshare = ["--user", "--map-root-user", "sh", "-c"];
    let tried = Command::new("unshare").args(unshare).arg(&set).output().unwrap();
    if !tried.status.success() {
        println!("SKIPPED: no user namespaces here: {}", String::from_utf8_lossy(&tried.stderr));
        return None;
    }
    let program = repo.command(&["mcp", "--no-daemon"]);
    let mut command = Command::new("unshare");
    command.args(unshare).arg(format!("{set} && exec \"$@\"")).arg("sh").arg(program.get_program());
    command.args(program.get_args()).current_dir(repo.path());
    for (variable, value) in program.get_envs() {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    Some(command)
}

#[test]
fn where_watches_run_out_answers_stay_right_and_stats_say_so() {
    for watches in [100, 1] {
        let repo = Repo::new("");
        for at in 0..300 {
            repo.write(&format!("d{at}/f.py"), format!("before_{at} = 1\n"));
        }
        let Some(command) = with_watches(&repo, watches) else { return };
        let mut server = Server::start(command);
        assert_eq!(server.finds("before_299").as_deref(), Some("d299/f.py"));
        let mode = server.call("stats", &json!({}))["watch_mode"].as_str().unwrap().to_owned();
        assert_eq!(mode, "sweep: the system's limit of watches is reached", "{watches}");
        for at in [0, 150, 299] {
            repo.write(&format!("d{at}/f.py"), format!("after_{at} = 1\n"));
            repo.write(&format!("new{at}/deep/er/f.py"), format!("new_{at} = 1\n"));
            assert_eq!(server.finds(&format!("after_{at}")), Some(format!("d{at}/f.py")));
            assert_eq!(server.finds(&format!("new_{at}")), Some(format!("new{at}/deep/er/f.py")));
            assert_eq!(server.finds(&format!("before_{at} ")), None);
        }
    }
}

#[test]
fn a_queue_that_ran_over_costs_a_sweep_and_no_watch() {
    let repo = Repo::new(
        r"
//- /a/sub/one.py
one = 1
//- /b/sub/two.py
two = 2
//- /c/f.py
c = 1
",
    );
    let mut server = Server::start(repo.command(&["mcp", "--no-daemon"]));
    assert_eq!(server.finds("two = 2").as_deref(), Some("b/sub/two.py"));
    let length = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let length: usize = length.trim().parse().unwrap();
    kill_process(server.pid(), Signal::STOP).unwrap();
    // Two events at least for each round: the queue is full, and what follows is lost.
    for at in 0..length {
        fs::write(repo.path().join("c/f.py"), format!("c = {at}\n")).unwrap();
    }
    let rename = |from: &str, to: &str| fs::rename(repo.path().join(from), repo.path().join(to)).unwrap();
    rename("a", "swap");
    rename("b", "a");
    rename("swap", "b");
    repo.write("new/deep/er/f.py", "new_name = 1\n");
    fs::remove_dir_all(repo.path().join("c")).unwrap();
    repo.write("c/f.py", "remade = 1\n");
    kill_process(server.pid(), Signal::CONT).unwrap();
    assert_eq!(server.finds("two = 2").as_deref(), Some("a/sub/two.py"));
    assert_eq!(server.finds("new_name").as_deref(), Some("new/deep/er/f.py"));
    assert_eq!(server.finds("remade").as_deref(), Some("c/f.py"));
    // Each folder is watched where it is now, and stays so when others go.
    fs::remove_dir_all(repo.path().join("a")).unwrap();
    for (at, path) in ["b/sub/one.py", "b/late.py", "c/f.py", "new/deep/er/f.py", "a/sub/new.py"].iter().enumerate() {
        repo.write(path, format!("after_{at} = 1\n"));
        assert_eq!(server.finds(&format!("after_{at}")).as_deref(), Some(*path));
    }
    drop(server);
    assert_sound(&open(repo.path()), "after the queue ran over");
}

/// `ixmcp sync --watch --json` and the reports that it prints.
struct SyncWatch {
    child: std::process::Child,
    reports: mpsc::Receiver<serde_json::Value>,
}

impl SyncWatch {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, reports) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines {
                let report = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(report).is_err() {
                    return;
                }
            }
        });
        Self { child, reports }
    }

    fn next_report(&self) -> serde_json::Value {
        self.reports.recv_timeout(Duration::from_secs(60)).expect("a report")
    }

    /// Ends the program and returns what it wrote to stderr.
    fn terminate(self) -> String {
        kill_process(rustix::process::Pid::from_child(&self.child), Signal::TERM).unwrap();
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "ended with {}", output.status);
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn sync_watch_reports_saves_and_ends_on_a_signal() {
    let repo = Repo::new("//- /a.py\na = 1\n");
    let mut watch = SyncWatch::start(&mut repo.command(&["sync", "--watch", "--json"]));
    let mut stderr = BufReader::new(watch.child.stderr.take().unwrap()).lines();
    assert_eq!(watch.next_report()["added"], 1);
    assert!(stderr.any(|line| line.unwrap().contains("watching")));
    repo.write("b.py", "b = 1\n");
    assert_eq!(watch.next_report()["added"], 1);
    repo.remove("a.py");
    assert_eq!(watch.next_report()["deleted"], 1);
    watch.terminate();
    assert_sound(&open(repo.path()), "after sync --watch");
}

#[test]
fn sync_watch_reports_what_is_saved_right_after_its_first_report() {
    for _ in 0..10 {
        let repo = Repo::new("//- /a.py\na = 1\n");
        let watch = SyncWatch::start(&mut repo.command(&["sync", "--watch", "--json"]));
        assert_eq!(watch.next_report()["added"], 1);
        repo.write("b.py", "b = 1\n");
        assert_eq!(watch.next_report()["added"], 1);
        watch.terminate();
    }
}

#[test]
fn what_is_wrong_with_settings_is_said_once() {
    let repo = Repo::new("//- /a.py\na = 1\n");
    let watch = SyncWatch::start(repo.command(&["sync", "--watch", "--json"]).env("IXMCP_CHUNKSIZE", "9"));
    watch.next_report();
    for size in 700..704 {
        repo.write(".ixmcp.toml", format!("[index]\nchunk_size = {size}\n"));
        repo.write(&format!("{size}.py"), "a = 1\n");
        let last = format!("{size}.py");
        while !paths(&open(repo.path())).contains(&last) {
            watch.next_report();
        }
    }
    let stderr = watch.terminate();
    assert_eq!(stderr.matches("IXMCP_CHUNKSIZE").count(), 1, "{stderr}");
}
