//! Which files git ignores, compared with `git ls-files` on the same tree: ignore files at every level, settings in every file
//! that git reads, and repositories inside of others.
//!
//! `IXMCP_IGNORE_TREES=N` compares N random trees, `IXMCP_SEED=N` one that failed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use expect_test::expect;
use ixmcp::budget::Budget;
use ixmcp::config::Environment;
use ixmcp::model::{RepoPath, SkipReason, printable};
use ixmcp::scan::{self, Listing, Rules};

/// A person's home with repositories in it.
struct Home {
    folder: tempfile::TempDir,
    xdg: Option<PathBuf>,
    /// `GIT_CONFIG_GLOBAL`.
    global: Option<PathBuf>,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), xdg: None, global: None }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes a file; `HOME` in the text is this home.
    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("HOME", self.path().to_str().unwrap())).unwrap();
    }

    fn git(&self, folder: &str, arguments: &[&str]) -> Vec<u8> {
        let mut git = Command::new("git");
        git.current_dir(self.path().join(folder)).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        git.env("HOME", self.path()).envs(self.xdg.iter().map(|xdg| ("XDG_CONFIG_HOME", xdg)));
        git.envs(self.global.iter().map(|global| ("GIT_CONFIG_GLOBAL", global)));
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always"]);
        let run = git.args(arguments).output().unwrap();
        assert!(run.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
        run.stdout
    }

    fn rules(&self) -> Rules {
        let path = std::env::var("PATH").unwrap();
        let xdg = self.xdg.iter().map(|xdg| ("XDG_CONFIG_HOME".to_owned(), xdg.to_str().unwrap().to_owned()));
        let global = self.global.iter().map(|file| ("GIT_CONFIG_GLOBAL".to_owned(), file.to_str().unwrap().to_owned()));
        let variables = [("PATH".to_owned(), path)].into_iter().chain(xdg).chain(global);
        let environment = Environment::new(variables, self.path(), self.path());
        Rules::default().with_environment(&environment)
    }

    fn list(&self, root: &str) -> Listing {
        scan::list(&self.path().join(root), &self.rules(), &Budget::unlimited()).unwrap()
    }

    /// Files that git lists in some work trees at and below `root`, joined.
    fn git_sees(&self, root: &str, trees: &[&str]) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for tree in trees {
            let folder = format!("{root}/{tree}");
            let listed = self.git(&folder, &["ls-files", "-z", "-co", "--exclude-standard"]);
            for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
                let found = fs::symlink_metadata(self.path().join(&folder).join(OsStr::from_bytes(name)));
                if found.is_ok_and(|found| !found.is_dir()) {
                    let prefix = if tree.is_empty() { String::new() } else { format!("{tree}/") };
                    all.insert(prefix + &shown(name));
                }
            }
        }
        all
    }

    /// Asserts that what is listed or skipped is what git sees.
    fn check(&self, root: &str, trees: &[&str], context: &str) {
        let listing = self.list(root);
        assert_eq!(seen(&listing), self.git_sees(root, trees), "{context}: {:?}", listing.warnings);
        self.check_parts(root, &listing, context);
    }

    /// Asserts that parts of the tree are listed as in the whole.
    fn check_parts(&self, root: &str, listing: &Listing, context: &str) {
        let (folder, rules) = (self.path().join(root), self.rules());
        let mut folders = vec![folder.clone()];
        while let Some(at) = folders.pop() {
            for entry in fs::read_dir(at).unwrap().map(|entry| entry.unwrap()) {
                let Some(path) = RepoPath::under(&folder, &entry.path()) else { continue };
                folders.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
                let part = scan::at(&folder, std::slice::from_ref(&path), &rules, &Budget::unlimited()).unwrap();
                let mut whole = listing.clone();
                whole.files.retain(|file| file.path.is_in(path.as_str()) || file.path == path);
                let below = |left: &str| left == path.as_str() || left.starts_with(&format!("{path}/"));
                whole.skipped.retain(|left| below(&left.path));
                // Names that are not UTF-8 are shown in other words, and so are the folders above them.
                let left = |listing: &Listing| {
                    let left = listing.skipped.iter().filter(|left| left.reason != SkipReason::NonUtf8Path);
                    left.cloned().collect::<Vec<_>>()
                };
                assert_eq!((&part.files, left(&part)), (&whole.files, left(&whole)), "{context}: {path}");
            }
        }
    }
}

/// A path as a listing shows it.
fn shown(name: &[u8]) -> String {
    std::str::from_utf8(name).map_or_else(|_| printable(&String::from_utf8_lossy(name)), str::to_owned)
}

/// Every file that is listed or skipped. Git does not see pipes.
fn seen(listing: &Listing) -> BTreeSet<String> {
    let skipped =
        listing.skipped.iter().filter(|left| left.reason != SkipReason::Special && !left.reason.is_of_folder());
    let skipped = skipped.map(|left| left.path.clone());
    listing.files.iter().map(|file| file.path.as_str().to_owned()).chain(skipped).collect()
}

#[test]
fn an_ignore_file_above_the_repository_ignores_nothing_in_it() {
    let home = Home::new();
    for name in [".gitignore", ".ignore", ".rgignore"] {
        home.write(name, "*\n");
    }
    home.write("proj/src/new.py", "x");
    home.git("proj", &["init", "-q"]);
    home.check("proj", &[""], "in a home");
    assert_eq!(seen(&home.list("proj")).len(), 1);
    // The home is a repository of its own.
    home.git("", &["init", "-q"]);
    home.check("proj", &[""], "in a repository");
    // Without git, the folder is its own top.
    home.write("plain/new.py", "x");
    fs::remove_dir_all(home.path().join(".git")).unwrap();
    assert_eq!(seen(&home.list("plain")).len(), 1);
}

#[test]
fn a_root_below_the_top_obeys_the_files_above_it() {
    let home = Home::new();
    home.write(".config/git/ignore", "/a.py\n/in/deep/b.py\nc.py\n");
    home.write("proj/.gitignore", "/in/d.py\n/in/deep/e.py\n/deep/f.py\n*.log\n");
    home.write("proj/in/.gitignore", "!keep.log\n/deep/g.py\n");
    home.write("proj/.git/info/exclude", "h.py\n/in/deep/i.py\n");
    home.git("proj", &["init", "-q"]);
    home.write("proj/.git/info/exclude", "h.py\n/in/deep/i.py\n");
    for name in ["a.py", "b.py", "c.py", "d.py", "e.py", "f.py", "g.py", "h.py", "i.py", "x.log", "keep.log", "t.log"] {
        home.write(&format!("proj/in/deep/{name}"), "x");
        home.write(&format!("proj/in/{name}"), "x");
    }
    home.git("proj", &["add", "-f", "in/deep/t.log"]);
    for root in ["proj", "proj/in", "proj/in/deep"] {
        home.check(root, &[""], root);
    }
    // All of the folder is ignored but what is tracked.
    home.write("proj/.gitignore", "/in/\n");
    home.check("proj/in/deep", &[""], "an ignored folder");
    assert_eq!(seen(&home.list("proj/in/deep")), BTreeSet::from(["t.log".to_owned()]));
}

#[test]
fn repositories_in_the_tree_have_their_own_rules_and_index() {
    let home = Home::new();
    for name in ["inner", "outer"] {
        home.write(&format!("{name}/.gitignore"), "*.log\n");
        home.write(&format!("{name}/forced.log"), "x");
        home.write(&format!("{name}/a.py"), "x");
        home.git(name, &["init", "-q"]);
        home.git(name, &["add", "-f", "."]);
        home.git(name, &["commit", "-qm", "first"]);
    }
    for submodule in ["module", "hidden/deep/module", "absent"] {
        home.git("outer", &["submodule", "add", "-q", "-f", "../inner", submodule]);
    }
    let inner = home.path().join("inner");
    home.git("outer/module", &["submodule", "add", "-q", "-f", inner.to_str().unwrap(), "nested"]);
    home.git("", &["clone", "-q", "inner", "outer/clone"]);
    home.git("", &["clone", "-q", "inner", "outer/ignored"]);
    home.git("outer", &["commit", "-qm", "second"]);
    home.git("outer", &["submodule", "deinit", "-q", "absent"]);
    home.write("outer/absent/new.py", "x");
    home.write("outer/.gitignore", "/hidden/\n/ignored/\n/module\n*.txt\n/clone/b.md\nnested/\n");
    home.write("outer/module/.gitignore", "*.log\n/only-here.md\n");
    for folder in ["", "module/", "module/nested/", "hidden/", "hidden/deep/module/", "clone/", "ignored/"] {
        for name in ["new.py", "new.txt", "new.log", "b.md", "only-here.md"] {
            home.write(&format!("outer/{folder}{name}"), "x");
        }
    }
    home.write("outer/clone/.git/info/exclude", "new.py\n");
    home.git("outer/clone", &["config", "core.excludesFile", ".git/mine"]);
    home.write("outer/clone/.git/mine", "/a.py\n/b.md\n");
    let trees = ["", "module", "module/nested", "hidden/deep/module", "clone"];
    home.check("outer", &trees, "all");
    home.check("outer/module", &["", "nested"], "a submodule as root");
    home.check("outer/hidden", &["", "deep/module"], "a folder that is ignored");
    // A `.git` that is not a repository does not separate anything.
    fs::create_dir_all(home.path().join("outer/plain/.git/objects")).unwrap();
    home.write("outer/plain/.git/HEAD", "ref: refs/heads/main\n");
    home.write("outer/plain/.gitignore", "*.md\n");
    for name in ["new.py", "new.txt", "b.md"] {
        home.write(&format!("outer/plain/{name}"), "x");
    }
    home.check("outer", &trees, "with a folder that is not a repository");
}

/// Files to write, relative to the home. In `proj` there is a repository with `a.py` to `f.py`.
type Files<'a> = &'a [(&'a str, &'a str)];

#[test]
fn settings_are_found_where_git_finds_them() {
    let user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
    let home_of_user = format!("[core]\n\texcludesFile = ~{user}/ixmcp-none\n");
    let large = format!("[core]\nexcludesFile = HOME/a\n{}", "# comment\n".repeat(10_000));
    let quoted_branch = "[includeIf \"onbranch:feature/\"]\npath = HOME/inc\n";
    let cases: &[(&str, Files)] = &[
        ("the default file", &[(".config/git/ignore", "a.py\n")]),
        ("local", &[("proj/.git/config", "[core]\nexcludesFile = HOME/a\n")]),
        ("the user's", &[(".gitconfig", "[core]\nexcludesFile = ~/a\n")]),
        ("the user's other file", &[(".config/git/config", "[core]\nexcludesFile = ~/a\n")]),
        (
            "both of the user's",
            &[(".config/git/config", "[core]\nexcludesFile = ~/a\n"), (".gitconfig", "[core]\nexcludesFile = ~/b\n")],
        ),
        (
            "local over the user's",
            &[(".gitconfig", "[core]\nexcludesFile = ~/b\n"), ("proj/.git/config", "[core]\nexcludesFile = HOME/a\n")],
        ),
        ("not in use", &[("proj/.git/config.worktree", "[core]\nexcludesFile = HOME/a\n")]),
        (
            "of the worktree, without a version",
            &[
                ("proj/.git/config", "[extensions]\nworktreeConfig = true\n"),
                ("proj/.git/config.worktree", "[core]\nexcludesFile = HOME/a\n"),
            ],
        ),
        (
            "of the worktree",
            &[
                (
                    "proj/.git/config",
                    "[core]\nrepositoryFormatVersion = 0\n[extensions]\nworktreeConfig = true\n[core]\nexcludesFile = HOME/b\n",
                ),
                ("proj/.git/config.worktree", "[core]\nexcludesFile = HOME/a\n"),
            ],
        ),
        (
            "of the worktree, as a key alone",
            &[
                ("proj/.git/config", "[core]\nrepositoryFormatVersion = 0\n[extensions]\nworktreeConfig\n"),
                ("proj/.git/config.worktree", "[core]\nexcludesFile = HOME/a\n"),
            ],
        ),
        ("an include", &[(".gitconfig", "[include]\npath = ~/inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")]),
        (
            "a relative include",
            &[
                (".gitconfig", "[include]\npath = sub/inc\n"),
                ("sub/inc", "[include]\npath = ../inc2\n"),
                ("inc2", "[core]\nexcludesFile = ~/a\n"),
            ],
        ),
        (
            "an include in its section",
            &[
                (".gitconfig", "[include]\npath = inc\n[core]\nexcludesFile = ~/b\n[include]\npath = inc\n"),
                ("inc", "[core]\nexcludesFile = ~/a\n"),
            ],
        ),
        (
            "a setting behind an include in one section",
            &[
                (".gitconfig", "[include]\npath = inc\npath = inc2\n"),
                ("inc", "[core]\nexcludesFile = ~/a\n"),
                ("inc2", "[core]\nexcludesFile = ~/b\n"),
            ],
        ),
        ("an include of nothing", &[(".gitconfig", "[include]\npath = ~/nowhere\n[core]\nexcludesFile = ~/a\n")]),
        (
            "gitdir",
            &[(".gitconfig", "[includeIf \"gitdir:~/proj/\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        (
            "gitdir without a slash",
            &[(".gitconfig", "[includeIf \"gitdir:~/proj\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        (
            "gitdir of a name",
            &[(".gitconfig", "[includeIf \"gitdir:proj/\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        (
            "gitdir of .git",
            &[(".gitconfig", "[includeIf \"gitdir:**/.git\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        (
            "gitdir relative to the file",
            &[(".gitconfig", "[includeIf \"gitdir:./proj/\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        (
            "gitdir of another",
            &[(".gitconfig", "[includeIf \"gitdir:~/other/\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        (
            "gitdir in the wrong case",
            &[(".gitconfig", "[includeIf \"gitdir:~/PROJ/\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        (
            "gitdir/i",
            &[
                (".gitconfig", "[IncludeIf \"gitdir/i:~/PROJ/\"]\npath = inc\n"),
                ("inc", "[core]\nexcludesFile = ~/a\n"),
            ],
        ),
        (
            "onbranch",
            &[
                (".gitconfig", quoted_branch),
                ("inc", "[core]\nexcludesFile = ~/a\n"),
                ("proj/.git/HEAD", "ref: refs/heads/feature/x\n"),
            ],
        ),
        (
            "onbranch of another",
            &[
                (".gitconfig", quoted_branch),
                ("inc", "[core]\nexcludesFile = ~/a\n"),
                ("proj/.git/HEAD", "ref: refs/heads/features\n"),
            ],
        ),
        (
            "hasconfig",
            &[
                (".gitconfig", "[includeIf \"hasconfig:remote.*.url:https://x.example/**\"]\npath = inc\n"),
                ("inc", "[core]\nexcludesFile = ~/a\n"),
                ("proj/.git/config", "[remote \"o\"]\nurl = https://x.example/y/z\n"),
            ],
        ),
        (
            "hasconfig of another",
            &[
                (".gitconfig", "[includeIf \"hasconfig:remote.*.url:https://x.example/*\"]\npath = inc\n"),
                ("inc", "[core]\nexcludesFile = ~/a\n"),
                ("proj/.git/config", "[remote \"o\"]\nurl = https://x.example/y/z\n"),
            ],
        ),
        (
            "an unknown condition",
            &[(".gitconfig", "[includeIf \"moon:full\"]\npath = inc\n"), ("inc", "[core]\nexcludesFile = ~/a\n")],
        ),
        ("quoted", &[("proj/.git/config", "[core]\nexcludesFile = \"HOME/a\"\n")]),
        (
            "quoted with a space",
            &[("proj/.git/config", "[core]\nexcludesFile = \"HOME/with space\"\n"), ("with space", "a.py\n")],
        ),
        ("with a space", &[("proj/.git/config", "[core]\nexcludesFile = HOME/with space\n"), ("with space", "a.py\n")]),
        (
            "half quoted",
            &[("proj/.git/config", "[core]\nexcludesFile = HOME/w\"ith s\"pace\n"), ("with space", "a.py\n")],
        ),
        ("with a comment", &[("proj/.git/config", "[core]\nexcludesFile = HOME/a # comment\n")]),
        ("with the other comment", &[("proj/.git/config", "[core]\nexcludesFile = HOME/a;comment\n")]),
        ("a quoted comment", &[("proj/.git/config", "[core]\nexcludesFile = \"HOME/a#b\"\n"), ("a#b", "a.py\n")]),
        ("on the section's line", &[("proj/.git/config", "[core] excludesFile = HOME/a\n")]),
        ("set twice", &[("proj/.git/config", "[core]\nexcludesFile = HOME/b\nexcludesFile = HOME/a\n")]),
        (
            "set in two sections",
            &[("proj/.git/config", "[core]\nexcludesFile = HOME/a\n[user]\nname = x\n[core]\nexcludesFile = HOME/b\n")],
        ),
        (
            "in another section",
            &[("proj/.git/config", "[other]\nexcludesFile = HOME/a\n[core \"sub\"]\nexcludesFile = HOME/b\n")],
        ),
        ("in another case", &[("proj/.git/config", "[CORE]\n\tEXCLUDESfile=HOME/a\n")]),
        ("continued", &[("proj/.git/config", "[core]\nexcludesFile = HOME/\\\n   a\n"), ("   a", "a.py\n")]),
        ("with Windows' ends of lines", &[("proj/.git/config", "[core]\r\nexcludesFile = HOME/a\r\n")]),
        ("with a byte order mark", &[("proj/.git/config", "\u{feff}[core]\nexcludesFile = HOME/a\n")]),
        ("without a last end of line", &[("proj/.git/config", "[core]\nexcludesFile = HOME/a")]),
        (
            "empty, over the default",
            &[(".config/git/ignore", "a.py\n"), ("proj/.git/config", "[core]\nexcludesFile =\n")],
        ),
        (
            "over the default",
            &[(".config/git/ignore", "a.py\n"), ("proj/.git/config", "[core]\nexcludesFile = HOME/b\n")],
        ),
        ("relative", &[("proj/.git/config", "[core]\nexcludesFile = sub/mine\n"), ("proj/sub/mine", "a.py\n")]),
        ("of a user", &[(".gitconfig", &home_of_user), (".config/git/ignore", "a.py\n")]),
        (
            "of the installation",
            &[(".gitconfig", "[core]\nexcludesFile = %(prefix)/ixmcp-none\n"), (".config/git/ignore", "a.py\n")],
        ),
        ("escapes", &[(".gitconfig", "[core]\nexcludesFile = \"HOME/q\\\"\\\\\\t\"\n"), ("q\"\\\t", "a.py\n")]),
        ("the clone's over the user's", &[(".config/git/ignore", "*.py\n"), ("proj/.git/info/exclude", "!a.py\n")]),
        ("the folder's over the clone's", &[("proj/.git/info/exclude", "*.py\n"), ("proj/.gitignore", "!a.py\n")]),
        ("a large file", &[(".gitconfig", &large)]),
        (
            "case",
            &[
                ("proj/.git/config", "[core]\nignoreCase = true\n"),
                ("proj/.gitignore", "A.PY\n/SUB/*.PY\n/sub/[B-C].py\n"),
            ],
        ),
        ("case, as a number", &[(".gitconfig", "[core]\nignorecase = 1\n"), ("proj/.gitignore", "A.PY\n")]),
        (
            "case of the clone's exclusions",
            &[
                ("proj/.git/config", "[core]\nignoreCase = yes\n"),
                ("proj/.git/info/exclude", "A.PY\n"),
                (".config/git/ignore", "B.PY\n"),
            ],
        ),
        (
            "not case",
            &[
                (".gitconfig", "[core]\nignoreCase\n"),
                ("proj/.git/config", "[core]\nignoreCase = off\n"),
                ("proj/.gitignore", "A.PY\n"),
            ],
        ),
    ];
    for (name, files) in cases {
        let home = Home::new();
        fs::create_dir(home.path().join("proj")).unwrap();
        home.git("proj", &["init", "-q"]);
        // What `git init` found out about this machine.
        home.write("proj/.git/config", "");
        for file in ["a.py", "b.py", "c.py", "sub/a.py", "sub/b.py"] {
            home.write(&format!("proj/{file}"), "x");
        }
        home.write("a", "a.py\n");
        home.write("b", "b.py\n");
        for (file, text) in *files {
            home.write(file, text);
        }
        home.check("proj", &[""], name);
        assert_eq!(home.list("proj").warnings, Vec::<String>::new(), "{name}");
    }
    let mut home = Home::new();
    home.xdg = Some(home.path().join("conf"));
    home.write("conf/git/ignore", "a.py\n");
    home.write(".config/git/ignore", "b.py\n");
    home.write("proj/a.py", "x");
    home.write("proj/b.py", "x");
    home.git("proj", &["init", "-q"]);
    home.check("proj", &[""], "XDG_CONFIG_HOME");
    home.write("conf/git/config", "[core]\nexcludesFile = ~/b\n");
    home.write("b", "b.py\n");
    home.check("proj", &[""], "XDG_CONFIG_HOME with settings");
}

#[test]
fn files_whose_names_differ_from_tracked_ones_in_case_alone_are_those_with_ignore_case() {
    for folds_case in ["true", "false"] {
        let home = Home::new();
        for file in ["r/A.py", "r/d/x.py", "r/é.py"] {
            home.write(file, "x = 1\n");
        }
        home.git("r", &["init", "-q"]);
        home.git("r", &["add", "."]);
        home.git("r", &["config", "core.ignoreCase", folds_case]);
        for file in ["r/a.PY", "r/D/X.py", "r/É.py", "r/d/y.py", "r/d/logo.PNG"] {
            home.write(file, "x = 1\n");
        }
        home.check("r", &[""], folds_case);
    }
}

#[test]
fn exclusions_are_found_in_every_layout_of_a_repository() {
    let home = Home::new();
    home.write("main/a.py", "x");
    home.git("main", &["init", "-q"]);
    home.git("main", &["add", "."]);
    home.git("main", &["commit", "-qm", "first"]);
    home.git("main", &["worktree", "add", "-q", "../tree"]);
    home.write("main/.git/info/exclude", "new.py\n");
    home.write("tree/new.py", "x");
    home.check("tree", &[""], "a worktree");
    // As `worktree.useRelativePaths` of git 2.48 writes it.
    home.write("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
    home.write("main/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
    home.check("tree", &[""], "a relative worktree");
    home.git("main", &["config", "extensions.worktreeConfig", "true"]);
    home.write("main/.git/worktrees/tree/config.worktree", "[core]\nexcludesFile = HOME/mine\n");
    home.write("mine", "b.py\n");
    home.write("tree/b.py", "x");
    home.check("tree", &[""], "the settings of a worktree");
    home.write("main/b.py", "x");
    expect![[r#"{"a.py", "b.py"}"#]].assert_eq(&format!("{:?}", seen(&home.list("main"))));

    home.git("", &["init", "-q", "--separate-git-dir", "elsewhere.git", "separate"]);
    home.write("elsewhere.git/info/exclude", "new.py\n");
    home.write("separate/new.py", "x");
    home.write("separate/b.py", "x");
    home.check("separate", &[""], "a directory elsewhere");
    home.write("separate/.git", "gitdir: ../elsewhere.git\n");
    home.check("separate", &[""], "a relative directory elsewhere");

    home.git("", &["init", "-q", "outer"]);
    home.git("outer", &["submodule", "add", "-q", "../main", "module"]);
    home.write("outer/.git/modules/module/info/exclude", "new.py\n");
    home.write("outer/module/new.py", "x");
    home.check("outer/module", &[""], "a submodule");
    home.check("outer", &["", "module"], "a submodule in its superproject");
    std::os::unix::fs::symlink("main", home.path().join("link")).unwrap();
    fs::rename(home.path().join("main/.git/info/exclude"), home.path().join("exclude")).unwrap();
    std::os::unix::fs::symlink(home.path().join("exclude"), home.path().join("main/.git/info/exclude")).unwrap();
    home.write("main/new.py", "x");
    home.check("main", &[""], "exclusions behind a link");
}

#[test]
fn patterns_mean_what_they_mean_to_git() {
    let patterns = [
        "*.py{}",
        "{a,b}.py",
        "*.{tmp,bak}",
        "[[:digit:]]x.py",
        "qux**/z",
        "[!a]x",
        "a[!/]b",
        "****/x",
        "a**//",
        "[",
        "[a",
        "a.py\t",
        "a.py ",
        "a.py\\ ",
        "a.py \\",
        "\\",
        "a\\",
        "\\a.py",
        "#a",
        "\\#a",
        "!a",
        "\\!a",
        "/",
        "//",
        "/a/",
        "a//b",
        "**",
        "**/",
        "/**",
        "a/**",
        "a/**/",
        "**/a/**",
        "a/**/b",
        "a**b",
        "*/",
        "/*/",
        "?",
        "[]]",
        "[]-a]",
        "[!]]",
        "[^a]",
        "[a-]",
        "[--0]",
        "[[:alpha:]",
        "[[:nope:]]x",
        "[[:upper:]]",
        "[\\]]",
        "[a\\-c]",
        "*a*b*",
        "***a",
        "foo/**",
        "**foo",
        "foo**",
        "foo**bar",
        "a.py\r",
        "\u{e4}",
        "[\u{e4}]",
        "*\\",
        "a?b",
        "a/?",
        "b*/x",
        "**/**/x",
        "a/*/x",
        "$a",
        "~",
        ".*",
        "!.gitignore",
        " a",
        "\ta",
    ];
    let names = [
        "a.py",
        "b.py",
        "{a,b}.py",
        "a.py{}",
        "x.tmp",
        "x.bak",
        "x.{tmp,bak}",
        "1x.py",
        "qux/z",
        "qux1/2/z",
        "quxa/z",
        "ax",
        "bx",
        "a/b",
        "a b",
        "a/x",
        "a/b1/x",
        "a/q/r/x",
        "x",
        "b1/x",
        "[",
        "[a",
        "a.py\t",
        "a.py ",
        "a.py \\",
        "\\",
        "a\\",
        "#a",
        "!a",
        "]",
        "-",
        "foo/bar",
        "foobar",
        "foo1bar",
        "xfoo",
        "a.py\r",
        "\u{e4}",
        "sub/a.py",
        "sub/foo/bar",
        "sub/a/b",
        "$a",
        "~",
        ".dot",
        "A",
        "B/x",
        " a",
        "\ta",
        "0",
        ".",
        "nope:]x",
    ];
    for pattern in patterns {
        let home = Home::new();
        fs::create_dir(home.path().join("proj")).unwrap();
        home.git("proj", &["init", "-q"]);
        for name in names {
            let path = home.path().join("proj").join(name);
            if fs::create_dir_all(path.parent().unwrap()).is_ok() {
                // One name may be in the way of another.
                let _ = fs::write(path, "x");
            }
        }
        home.write("proj/.gitignore", &format!("{pattern}\n"));
        home.write("proj/sub/.gitignore", &format!("*\n!{pattern}\n"));
        home.check("proj", &[""], pattern);
    }
}

#[test]
fn a_linked_ignore_file_is_not_followed_but_linked_exclusions_are() {
    let home = Home::new();
    home.git("", &["init", "-q", "proj"]);
    for file in ["proj/a.py", "proj/b.py", "proj/c.py", "proj/sub/a.py"] {
        home.write(file, "x");
    }
    for (name, pattern) in [("rules", "a.py\n"), ("mine", "b.py\n"), ("clone", "c.py\n")] {
        home.write(name, pattern);
    }
    let link = |target: &str, link: &str| {
        let link = home.path().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(home.path().join(target), link).unwrap();
    };
    link("rules", "proj/.gitignore");
    link("mine", ".config/git/ignore");
    link("clone", "proj/.git/info/exclude");
    home.check("proj", &[""], "links");
    fs::rename(home.path().join(".config"), home.path().join("conf")).unwrap();
    link("dotfiles", ".gitconfig");
    home.write("dotfiles", "[core]\nexcludesFile = ~/mine\n");
    home.check("proj", &[""], "linked settings");
    // A folder is not a file.
    fs::remove_file(home.path().join("proj/.gitignore")).unwrap();
    fs::create_dir(home.path().join("proj/.gitignore")).unwrap();
    home.check("proj", &[""], "a folder");
}

#[test]
fn files_of_rules_that_cannot_be_read_are_named_and_passed_over() {
    let home = Home::new();
    home.git("", &["init", "-q", "proj"]);
    home.write("proj/a.py", "x");
    home.write("proj/sub/b.py", "x");
    let pipe = |path: &str| assert!(Command::new("mkfifo").arg(home.path().join(path)).status().unwrap().success());
    pipe("pipe");
    pipe("proj/sub/.gitignore");
    home.write("large", &format!("a.py\n{}", "#\n".repeat(5 << 20)));
    home.write("loop", "[include]\npath = loop2\n");
    home.write("loop2", &"[include]\npath = loop\n".repeat(200));
    home.write("many", &"[include]\npath = loop2\npath = many2\n".repeat(200));
    home.write("many2", "[core]\nx = y\n");
    home.write("damaged", "[core]\nexcludesFile = HOME/rules\n[core\n");
    home.write("rules", "a.py\n");
    let mut warnings = String::new();
    let sorted = |warnings: &[String]| {
        let named = |warning: &String| warning.replace(home.path().to_str().unwrap(), "HOME");
        let mut sorted: Vec<String> = warnings.iter().map(named).collect();
        sorted.sort();
        sorted.join("\n  ")
    };
    for path in ["pipe", "large", "/dev/zero", "proj", "loop", "many", "damaged"] {
        let shown = home.path().join(path);
        home.write(".gitconfig", &format!("[include]\npath = {}\n", shown.display()));
        let listing = home.list("proj");
        warnings += &format!("{path}\n  {}\n", sorted(&listing.warnings));
        assert_eq!(seen(&listing).contains("a.py"), path != "damaged", "{path}");
        assert!(seen(&listing).contains("sub/b.py"), "{path}");
        if !["loop", "many", "damaged"].contains(&path) {
            home.write(".gitconfig", &format!("[core]\nexcludesFile = {}\n", shown.display()));
            warnings += &format!("  as rules\n  {}\n", sorted(&home.list("proj").warnings));
        }
    }
    expect![[r#"
        pipe
          HOME/pipe is not read: not a regular file
          HOME/proj/sub/.gitignore is not read: not a regular file
          as rules
          HOME/pipe is not read: not a regular file
          HOME/proj/sub/.gitignore is not read: not a regular file
        large
          HOME/large is not read: file too large
          HOME/proj/sub/.gitignore is not read: not a regular file
          as rules
          HOME/large is not read: file too large
          HOME/proj/sub/.gitignore is not read: not a regular file
        /dev/zero
          /dev/zero is not read: not a regular file
          HOME/proj/sub/.gitignore is not read: not a regular file
          as rules
          /dev/zero is not read: not a regular file
          HOME/proj/sub/.gitignore is not read: not a regular file
        proj
          HOME/proj is not read: not a regular file
          HOME/proj/sub/.gitignore is not read: not a regular file
          as rules
          HOME/proj is not read: not a regular file
          HOME/proj/sub/.gitignore is not read: not a regular file
        loop
          HOME/loop includes itself
          HOME/proj/sub/.gitignore is not read: not a regular file
        many
          HOME/loop2 includes itself
          HOME/loop2: too many files include each other
          HOME/loop: too many files include each other
          HOME/many2: too many files include each other
          HOME/proj/.git/config: too many files include each other
          HOME/proj/sub/.gitignore is not read: not a regular file
        damaged
          HOME/damaged is not valid from line 4 on
          HOME/proj/sub/.gitignore is not read: not a regular file
    "#]]
    .assert_eq(&warnings);
    // A pattern that takes exponential time, and one of a thousand stars.
    home.write(".gitconfig", "");
    let stars = format!("{}b\n{}b\n/{}b\n", "*a".repeat(60), "*?".repeat(40_000), "**/a".repeat(30));
    home.write("proj/.gitignore", &stars);
    let long = format!("proj/{}", "a/".repeat(60));
    home.write(&format!("{long}{}", "a".repeat(200)), "x");
    assert_eq!(seen(&home.list("proj")).len(), 4);
}

/// A small generator, so that a failing tree can be made again from its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
        from[self.roll(from.len())]
    }

    fn patterns(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        if self.roll(8) == 0 {
            text.extend_from_slice(b"\xef\xbb\xbf");
        }
        for _ in 0..=self.roll(4) {
            if self.roll(5) == 0 {
                text.push(b'!');
            }
            for _ in 0..=self.roll(5) {
                let piece = self.pick(PIECES);
                text.extend_from_slice(piece);
            }
            let end = self.pick(&[b"\n", b"\n", b"\n", b"\n", b"/\n", b"\r\n", b"  \n", b"\t\n"]);
            text.extend_from_slice(end);
        }
        text
    }
}

const PIECES: &[&[u8]] = &[
    b"a",
    b"b",
    b"A",
    b"z",
    b"*",
    b"*",
    b"**",
    b"?",
    b"/",
    b"/",
    b"[",
    b"]",
    b"[ab]",
    b"[!a]",
    b"[^b]",
    b"[a-c]",
    b"[[:digit:]]",
    b"[[:alpha:]]",
    b"[[:upper:]]",
    b"[[:punct:]]",
    b"[[:space:]]",
    b"[[:nope:]]",
    b"[]a]",
    b"\\",
    b"\\a",
    b"\\*",
    b"\\ ",
    b" ",
    b"\t",
    b"{a,b}",
    b"{}",
    b"#",
    b"$",
    b".",
    b".py",
    b"1",
    b"-",
    b"[!/]",
    b"[--0]",
    b"[a-]",
    b"[\\]]",
    b"ab",
    b"***",
    b"**/",
    b"/**",
    b"\xc3\xa4",
    b"\xff",
    b"\r",
    b"[[:x]",
    b"[A-Z]",
    b"\0",
    b"\x0b",
    b"\\\\",
];
const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"A",
    b"ab",
    b"ba",
    b"z",
    b"a.py",
    b"b.py",
    b"1",
    b"a b",
    b"a ",
    b" ",
    b"!a",
    b"#a",
    b"$a",
    b"{a,b}",
    b"a{}",
    b"*",
    b"[a]",
    b"a]",
    b"\\a",
    b"a\\",
    b"-",
    b"\xc3\xa4",
    b"\xff",
    b"a\t",
    b"\t",
    b"aa",
    b"a1",
    b"\r",
    b"[",
    b"]",
];

#[test]
fn conditions_and_variables_select_the_settings_that_git_selects() {
    let mut home = Home::new();
    home.write("ignored", "a.py\n");
    home.write("included", "[core]\n\texcludesFile = HOME/ignored\n");
    home.git("", &["init", "-q", "proj"]);
    home.git("", &["init", "-q", "other"]);
    home.git("other", &["commit", "-q", "--allow-empty", "-m", "first"]);
    home.git("proj", &["submodule", "add", "-q", "../other", "libs/sub"]);
    home.git("proj", &["commit", "-qm", "submodule"]);
    // As git 2.48 may link it.
    home.write("proj/libs/sub/.git", "gitdir: ../../.git/modules/libs/sub\n");
    for path in ["proj/a.py", "proj/b.py", "proj/libs/sub/a.py", "proj/libs/sub/b.py"] {
        home.write(path, "x");
    }
    home.write("proj/.git/config.more", "[remote]\n\turl = https://example.org/x\n");
    home.git("proj", &["config", "include.path", "config.more"]);
    for condition in [
        "gitdir:HOME/proj/libs/",
        "gitdir:HOME/proj/.git/modules/",
        "gitdir:proj/",
        "gitdir/i:PROJ/.git/",
        "hasconfig:remote.*.url:https://example.org/x",
        "hasconfig:remote.*.url:HOME/**",
    ] {
        home.write(".gitconfig", &format!("[includeIf \"{condition}\"]\n\tpath = HOME/included\n"));
        home.check("proj", &["", "libs/sub"], condition);
        home.check("proj/libs/sub", &[""], condition);
    }
    home.write(".gitconfig", "");
    home.global = Some(home.path().join("included"));
    home.check("proj", &["", "libs/sub"], "GIT_CONFIG_GLOBAL");
    assert_eq!(seen(&home.list("proj/libs/sub")).len(), 1);
}

#[test]
fn ignore_files_that_a_sparse_checkout_leaves_out_still_count() {
    for options in [&["--cone"][..], &["--cone", "--sparse-index"], &["--no-cone"]] {
        let home = Home::new();
        home.git("", &["init", "-q", "proj"]);
        home.write("proj/.gitignore", "*.log\n");
        home.write("proj/a/x.py", "x");
        home.write("proj/b/.gitignore", "build/\n!kept.log\n");
        home.write("proj/b/x.py", "x");
        home.write("proj/b/deep er/.gitignore", "/*.tmp\n");
        home.write("proj/b/deep er/x.py", "x");
        home.git("proj", &["add", "."]);
        home.git("proj", &["commit", "-qm", "all"]);
        let kept = if options == ["--no-cone"] { "/a/" } else { "a" };
        home.git("proj", &[&["sparse-checkout", "set"][..], options, &[kept]].concat());
        assert!(!home.path().join("proj/b/.gitignore").exists(), "{options:?}");
        for left in ["build/out.py", "kept.log", "lost.log", "new.py", "deep er/a.tmp", "deep er/a.py", "other/b.tmp"] {
            home.write(&format!("proj/b/{left}"), "x");
        }
        home.check("proj", &[""], &format!("{options:?}"));
        // Asked in a subfolder, git misses an ignore file above it: findings/git-ls-files-below-a-sparse-top.sh.
        let below: BTreeSet<String> =
            home.git_sees("proj", &[""]).iter().filter_map(|path| path.strip_prefix("b/").map(str::to_owned)).collect();
        assert_eq!(seen(&home.list("proj/b")), below, "{options:?}, a root below the top");
        // A file that is there counts, whatever git has.
        home.write("proj/b/.gitignore", "*.py\n");
        home.check("proj", &[""], &format!("{options:?}, written again"));
        // As a repository in another.
        home.write("outer/README.md", "x");
        home.git("outer", &["init", "-q"]);
        fs::remove_file(home.path().join("proj/b/.gitignore")).unwrap();
        fs::rename(home.path().join("proj"), home.path().join("outer/proj")).unwrap();
        home.check("outer", &["", "proj"], &format!("{options:?}, nested"));
    }
}

#[test]
fn random_ignore_files_over_random_trees_leave_what_git_sees() {
    let trees = std::env::var("IXMCP_IGNORE_TREES").ok().map_or(60, |number| number.parse().unwrap());
    let seeds = match std::env::var("IXMCP_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (1..=trees).collect::<Vec<u64>>(),
    };
    let mut files = 0;
    for seed in seeds {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed) | 1);
        let home = Home::new();
        let proj = home.path().join("proj");
        fs::create_dir(&proj).unwrap();
        home.git("proj", &["init", "-q"]);
        let case = ["true", "false", "false"][dice.roll(3)];
        home.git("proj", &["config", "core.ignoreCase", case]);
        let mut folders = BTreeSet::from([proj.clone()]);
        for _ in 0..40 {
            let mut path = proj.clone();
            for _ in 0..=dice.roll(4) {
                path.push(OsStr::from_bytes(dice.pick(NAMES)));
            }
            // A file may be where a folder is wanted, or the other way round: then that path is passed over.
            if fs::create_dir_all(path.parent().unwrap()).is_ok() && fs::write(&path, "x").is_ok() {
                folders.insert(path.parent().unwrap().to_owned());
            }
        }
        for folder in folders {
            if dice.roll(3) == 0 {
                fs::write(folder.join(".gitignore"), dice.patterns()).unwrap();
                files += 1;
            }
        }
        for file in [proj.join(".gitignore"), proj.join(".git/info/exclude"), home.path().join(".config/git/ignore")] {
            if dice.roll(2) == 0 {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, dice.patterns()).unwrap();
                files += 1;
            }
        }
        // The index folds no case here, as git's does.
        if case == "false" && dice.roll(2) == 0 {
            home.git("proj", &["add", "-f", "--ignore-errors", "."]);
        }
        home.check("proj", &[""], &format!("IXMCP_SEED={seed}"));
    }
    println!("{files} files of patterns");
}
