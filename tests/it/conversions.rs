//! Files that git converts when they are committed: `changes` agrees with `git status` on them, or names them, and runs no filter.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ixmcp::budget::Budget;
use ixmcp::config::{Environment, Flags, Sources};
use ixmcp::workspace::Workspace;
use serde_json::{Value, json};

use crate::support::harness::Repo;
use crate::support::sound::sync;
use crate::worktrees::{committed, git};

/// Runs git in the environment that the program has; returns its output.
fn git_says(repo: &Repo, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(arguments)
        .current_dir(repo.path())
        .env("HOME", repo.home())
        .env("XDG_CONFIG_HOME", repo.home().join(".config"));
    String::from_utf8(git.output().unwrap().stdout).unwrap()
}

/// The files that `git status` reports as modified.
fn modified(repo: &Repo) -> BTreeSet<String> {
    let status = git_says(repo, &["status", "--porcelain", "-z", "--untracked-files=no"]);
    status.split('\0').filter_map(|line| line.strip_prefix(" M ").map(str::to_owned)).collect()
}

/// The files of which git would commit another text. `git status` also reports those of another size whose text it would not change.
fn would_be_committed(repo: &Repo) -> BTreeSet<String> {
    let index = repo.path().join(".git/other-index");
    // Without its time, git would take a file that changed in the second in which it was added for unchanged:
    // findings/git-copied-index.sh.
    let copied = Command::new("cp").arg("-p").arg(repo.path().join(".git/index")).arg(&index).status().unwrap();
    assert!(copied.success());
    let with_other = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(repo.path()).env("HOME", repo.home()).env("GIT_INDEX_FILE", &index);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    with_other(&["add", "-u"]);
    let names = with_other(&["diff", "--cached", "--name-only", "-z"]);
    names.split_terminator('\0').map(str::to_owned).collect()
}

fn changes(repo: &Repo) -> Value {
    repo.call("changes", &json!({}))
}

fn problems(answer: &Value) -> Vec<&str> {
    let all = answer["problems"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().map(|problem| problem["path"].as_str().unwrap()).collect()
}

/// A workspace that finds git.
fn workspace(repo: &Repo) -> Workspace {
    let variables = [("PATH".to_owned(), std::env::var("PATH").unwrap())];
    let environment = Environment::new(variables, repo.home().to_owned(), repo.path().to_owned());
    Workspace::open(repo.path(), Arc::new(Sources { flags: Flags::default(), environment })).unwrap()
}

const ATTRIBUTES: &[&str] = &[
    "",
    "text",
    "-text",
    "text=auto",
    "eol=lf",
    "eol=crlf",
    "text eol=crlf",
    "text=auto eol=crlf",
    "-text eol=lf",
    "crlf",
    "-crlf",
    "crlf=input",
    "text=other",
    "binary",
    "plain",
    "ident",
    "text ident",
    "working-tree-encoding=UTF-16",
    "working-tree-encoding=UTF-16 eol=crlf",
    "working-tree-encoding=utf8 text",
    "working-tree-encoding=ISO-8859-1",
];

fn contents() -> Vec<Vec<u8>> {
    let many = "def f():\n    return 1\n".repeat(8);
    let mut contents: Vec<Vec<u8>> = [
        "def f():\n    return 1\n".to_owned(),
        "def f():\r\n    return 1\r\n".to_owned(),
        "def f():\r\n    return 1\n".to_owned(),
        "def f():\n    return '\r'\r\n".to_owned(),
        "def f():\n    '$Id$'\n    return 1\n".to_owned(),
        "def f():\r\n    '$Id: 1 $'\r\n    return 1\r\n".to_owned(),
        "def f():\n    '$Id: a\n    b $'\n    return '$Id: 2 $ $Id:$'\n".to_owned(),
        many.replace('\n', "\r\n") + "#\u{1}\r\n",
        many.replace('\n', "\r\n") + "#\u{1}\u{2}\u{3}\u{4}\u{5}\r\n",
        many.replace('\n', "\r\n") + "#\u{8}\u{c}\u{1b}\t\r\n\u{1a}",
        "def f():\n    return 'é'\n".to_owned(),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect();
    contents.push(Vec::new());
    contents
}

/// The bytes in the encoding that the attributes name.
fn encoded(bytes: &[u8], attributes: &str) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap();
    match attributes {
        _ if bytes.is_empty() => Vec::new(),
        "working-tree-encoding=ISO-8859-1" => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
        _ if attributes.contains("UTF-16") => {
            [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        }
        _ => bytes.to_vec(),
    }
}

#[test]
fn changes_of_converted_files_are_those_that_git_would_commit() {
    let contents = contents();
    for auto in [None, Some("true"), Some("input"), Some("false")] {
        let repo = committed("//- /a.py\nx = 1\n");
        if let Some(auto) = auto {
            git(repo.path(), &["config", "core.autocrlf", auto]);
        }
        git(repo.path(), &["config", "core.safecrlf", "false"]);
        let mut rules = "[attr]plain -text\n".to_owned();
        let mut files: Vec<(String, &str, usize, usize)> = Vec::new();
        for (at, attributes) in ATTRIBUTES.iter().enumerate() {
            rules += &format!("/d{at}/* {attributes}\n");
            for before in 0..contents.len() {
                for after in 0..contents.len() {
                    // Some are committed as they are, as in repositories that add attributes later.
                    let is_early = (before + after) % 2 == 0 && !attributes.contains("encoding");
                    let name = if is_early { "early" } else { "late" };
                    files.push((format!("d{at}/{name}{before}_{after}.py"), attributes, before, after));
                }
            }
        }
        for (path, attributes, before, _) in &files {
            repo.write(path, encoded(&contents[*before], attributes));
        }
        git(repo.path(), &["-c", "core.autocrlf=false", "add", "d*/early*.py"]);
        repo.write(".gitattributes", &rules);
        git(repo.path(), &["add", ".gitattributes", "d*/late*.py"]);
        git(repo.path(), &["commit", "-qm", "second"]);
        for (path, attributes, _, after) in &files {
            repo.write(path, encoded(&contents[*after], attributes));
        }
        let workspace = workspace(&repo);
        sync(&workspace);
        let budget = Budget::unlimited();
        let (ours, undecided, indexed) = workspace
            .read(&budget, |snapshot| {
                let base = workspace.history.base("HEAD", &budget)?;
                let found = workspace.history.differences(&base, snapshot, &budget)?;
                let mut ours: BTreeSet<String> = found.files.into_iter().map(|file| file.path).collect();
                let undecided: BTreeSet<String> = found.problems.into_iter().map(|(path, _)| path).collect();
                let indexed: BTreeSet<String> = snapshot.paths(None)?.into_iter().map(|(path, _)| path).collect();
                ours.retain(|path| indexed.contains(path));
                Ok((ours, undecided, indexed))
            })
            .unwrap();
        let theirs: BTreeSet<String> =
            would_be_committed(&repo).into_iter().filter(|path| indexed.contains(path)).collect();
        let is_other = |path: &&String| undecided.contains(*path);
        let differing: Vec<&String> = ours.symmetric_difference(&theirs).filter(|path| !is_other(path)).collect();
        assert!(differing.is_empty(), "core.autocrlf {auto:?}: {} of {}: {differing:?}", differing.len(), files.len());
        assert!(theirs.len() > 1000 && files.len() - theirs.len() > 200, "{} differ", theirs.len());
        // Tables of encodings other than UTF-16 differ between programs.
        let is_known = |path: &&String| !path.starts_with("d20/");
        assert_eq!(undecided.iter().filter(is_known).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}

/// A program that a repository configures as a filter, which leaves a mark when it runs.
fn filter(repo: &Repo) -> std::path::PathBuf {
    let (program, mark) = (repo.home().join("encode"), repo.home().join("ran"));
    fs::write(&program, format!("#!/bin/sh\necho ran >> '{}'\nrev\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for side in ["clean", "smudge"] {
        git(repo.path(), &["config", &format!("filter.enc.{side}"), program.to_str().unwrap()]);
    }
    git(repo.path(), &["config", "filter.enc.required", "true"]);
    mark
}

const CONF: &str = "def db_login():\n    return 'otter'\n";

/// Writes a file again, with other times.
fn touch(repo: &Repo, path: &str) {
    let bytes = fs::read(repo.path().join(path)).unwrap();
    fs::remove_file(repo.path().join(path)).unwrap();
    repo.write(path, bytes);
}

#[test]
fn a_filtered_file_that_git_has_not_looked_at_again_is_named_and_its_filter_is_not_run() {
    let repo = Repo::new("//- /a.py\ndef a():\n    return 1\n//- /.gitattributes\nconf.py filter=enc\n");
    git(repo.path(), &["init", "-q", "-b", "main"]);
    let mark = filter(&repo);
    repo.write("conf.py", CONF);
    let age = |path: &str| {
        let file = fs::File::options().write(true).open(repo.path().join(path)).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(60)).unwrap();
    };
    // Git trusts times that are older than its index.
    age("conf.py");
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-qm", "first"]);
    assert_ne!(git_says(&repo, &["cat-file", "blob", "HEAD:conf.py"]), CONF, "it is encoded");
    git_says(&repo, &["update-index", "--refresh", "--really-refresh"]);
    assert_eq!(changes(&repo)["total"], 0);
    touch(&repo, "conf.py");
    touch(&repo, "a.py");
    fs::remove_file(&mark).unwrap();
    let answer = changes(&repo);
    assert_eq!((&answer["total"], &answer["files"]), (&json!(0), &json!(0)), "{answer}");
    assert_eq!(problems(&answer), ["conf.py"], "{answer}");
    assert!(answer["problems"][0]["reason"].as_str().unwrap().contains("filter"), "{answer}");
    // An edit cannot be distinguished from that, that of another file can.
    repo.write("conf.py", CONF.replace("otter", "badger"));
    repo.write("a.py", "def a():\n    return 2\n");
    let answer = changes(&repo);
    assert_eq!((&answer["total"], problems(&answer)), (&json!(1), vec!["conf.py"]), "{answer}");
    assert!(!mark.exists(), "a filter was run");
    repo.write("conf.py", CONF);
    repo.write("a.py", "def a():\n    return 1\n");
    age("conf.py");
    assert!(modified(&repo).is_empty() && mark.exists(), "git runs it");
    let answer = changes(&repo);
    assert_eq!((&answer["total"], problems(&answer)), (&json!(0), vec![]), "{answer}");
    // At an older base its text is not that of the work tree either.
    repo.write("conf.py", CONF.replace("otter", "badger"));
    git(repo.path(), &["commit", "-qam", "second"]);
    let older = repo.call("changes", &json!({ "base": "HEAD~1" }));
    assert_eq!((&older["total"], problems(&older)), (&json!(0), vec!["conf.py"]), "{older}");
    // One that is gone is gone.
    repo.remove("conf.py");
    assert_eq!(changes(&repo)["files"], 1);
}

#[test]
fn the_attribute_counts_wherever_git_reads_it() {
    let set = |repo: &Repo, key: &str, value: &str| git(repo.path(), &["config", key, value]);
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    type Source = (&'static str, fn(&Repo, &dyn Fn(&Path, &str), &dyn Fn(&Repo, &str, &str)));
    let sources: [Source; 7] = [
        ("top", |repo, _, _| repo.write(".gitattributes", "/deep/in/conf.py filter=enc\n")),
        ("nested", |repo, _, _| repo.write("deep/.gitattributes", "in/*.py filter=enc\n")),
        ("macro", |repo, _, _| repo.write(".gitattributes", "[attr]crypt filter=enc -diff\n*.py crypt\n")),
        ("info", |repo, write, _| write(&repo.path().join(".git/info/attributes"), "conf.py filter=enc\n")),
        ("settings", |repo, write, set| {
            write(&repo.home().join("other"), "conf.py filter=enc\n");
            set(repo, "core.attributesFile", "~/other");
        }),
        ("user", |repo, write, _| write(&repo.home().join(".config/git/attributes"), "conf.py filter=enc\n")),
        ("index", |repo, _, _| {
            repo.write("deep/.gitattributes", "conf.py filter=enc\n");
            git(repo.path(), &["add", "."]);
            repo.remove("deep/.gitattributes");
        }),
    ];
    for (name, source) in sources {
        let repo = committed("//- /a.py\nx = 1\n");
        filter(&repo);
        source(&repo, &write, &set);
        repo.write("deep/in/conf.py", CONF);
        assert!(git_says(&repo, &["check-attr", "filter", "deep/in/conf.py"]).contains(": enc"), "{name}");
        git_says(&repo, &["add", "deep/in/conf.py"]);
        git(repo.path(), &["commit", "-qm", "second"]);
        touch(&repo, "deep/in/conf.py");
        let answer = changes(&repo);
        assert_eq!((&answer["total"], problems(&answer)), (&json!(0), vec!["deep/in/conf.py"]), "{name}: {answer}");
    }
    // Nearer rules take it away again.
    let repo =
        committed("//- /a.py\nx = 1\n//- /.gitattributes\n*.py filter=enc\n//- /in/.gitattributes\n*.py !filter\n");
    filter(&repo);
    repo.write("in/conf.py", CONF);
    git(repo.path(), &["add", "in/conf.py"]);
    git(repo.path(), &["commit", "-qm", "second"]);
    repo.write("in/conf.py", CONF.replace("otter", "badger"));
    let answer = changes(&repo);
    assert_eq!((&answer["total"], problems(&answer)), (&json!(1), vec![]), "{answer}");
}

#[test]
fn attributes_that_cannot_be_read_leave_a_file_undecided_and_delay_nothing() {
    let pipe = |at: &Path| assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
    let repo = committed("//- /a.py\ndef a():\n    return 1\n//- /in/b.py\ndef b():\n    return 1\n");
    repo.write("a.py", "def a():\n    return 2\n");
    repo.write("in/b.py", "def b():\n    return 2\n");
    pipe(&repo.path().join("in/.gitattributes"));
    let answer = changes(&repo);
    assert_eq!((&answer["total"], problems(&answer)), (&json!(1), vec!["in/b.py"]), "{answer}");
    fs::remove_file(repo.path().join("in/.gitattributes")).unwrap();
    fs::create_dir_all(repo.path().join(".git/info")).unwrap();
    pipe(&repo.path().join(".git/info/attributes"));
    assert_eq!(problems(&changes(&repo)), ["a.py", "in/b.py"]);
    fs::remove_file(repo.path().join(".git/info/attributes")).unwrap();
    for endless in ["/dev/zero", "/dev/tty"] {
        git(repo.path(), &["config", "core.attributesFile", endless]);
        assert_eq!(problems(&changes(&repo)), ["a.py", "in/b.py"], "{endless}");
    }
    git(repo.path(), &["config", "core.attributesFile", "/nowhere"]);
    assert_eq!(changes(&repo)["total"], 2);
}

#[test]
fn files_that_git_does_not_look_at_are_unchanged() {
    let repo = committed(
        "//- /a.py\ndef a():\n    return 1\n//- /b.py\ndef b():\n    return 1\n//- /c.py\ndef c():\n    return 1\n",
    );
    git(repo.path(), &["update-index", "--assume-unchanged", "a.py"]);
    git(repo.path(), &["update-index", "--skip-worktree", "b.py"]);
    for name in ["a", "b", "c"] {
        repo.write(&format!("{name}.py"), format!("def {name}():\n    return 2\n"));
    }
    assert_eq!(modified(&repo).into_iter().collect::<Vec<_>>(), ["c.py"]);
    let answer = changes(&repo);
    assert_eq!((&answer["files"], &answer["changes"][0]["name"]), (&json!(1), &json!("c")), "{answer}");
    // In a sparse checkout, a file that is there although it is left out counts.
    let sparse = committed("//- /in/a.py\ndef a():\n    return 1\n//- /out/b.py\ndef b():\n    return 1\n");
    git(sparse.path(), &["sparse-checkout", "set", "in"]);
    sparse.write("out/b.py", "def b():\n    return 2\n");
    assert_eq!(changes(&sparse)["files"], 1);
    assert_eq!(modified(&sparse).into_iter().collect::<Vec<_>>(), ["out/b.py"]);
}

#[test]
fn a_file_of_git_lfs_is_compared_with_its_pointer() {
    let repo = committed("//- /a.py\nx = 1\n//- /.gitattributes\nbig.py filter=lfs diff=lfs merge=lfs -text\n");
    // As `git lfs clean` writes a pointer.
    let clean = "sh -c 'cat > \"$HOME/t\"; printf \"version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n\" \
        $(sha256sum < \"$HOME/t\" | cut -d\" \" -f1) $(stat -c %s \"$HOME/t\")'";
    git(repo.path(), &["config", "filter.lfs.clean", clean]);
    repo.write("big.py", CONF);
    git_says(&repo, &["add", "big.py"]);
    git(repo.path(), &["commit", "-qm", "second"]);
    assert!(git_says(&repo, &["cat-file", "blob", "HEAD:big.py"]).contains("oid sha256:"));
    touch(&repo, "big.py");
    let answer = changes(&repo);
    assert_eq!((&answer["total"], problems(&answer)), (&json!(0), vec![]), "{answer}");
    assert!(modified(&repo).is_empty());
    repo.write("big.py", CONF.replace("otter", "badger"));
    let answer = changes(&repo);
    assert_eq!((&answer["total"], problems(&answer)), (&json!(0), vec!["big.py"]), "{answer}");
}
