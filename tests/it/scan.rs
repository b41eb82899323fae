//! Listed files, compared with the two programs whose rules we promise: `rg --files` and git.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use expect_test::expect;
use ixmcp::budget::Budget;
use ixmcp::config;
use ixmcp::model::{RepoPath, SkipReason, printable};
use ixmcp::scan::{self, Listing, PathVerdict, Rules};

fn write(root: &Path, path: impl AsRef<Path>, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn git(root: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "protocol.file.allow=always"];
    let run = Command::new("git").current_dir(root).args(identity).args(arguments).output().unwrap();
    assert!(run.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}

fn list(root: &Path, rules: &Rules) -> Listing {
    scan::list(root, rules, &Budget::unlimited()).unwrap()
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.files.iter().map(|found| found.path.as_str()).collect()
}

fn reason(listing: &Listing, path: &str) -> Option<SkipReason> {
    listing.skipped.iter().find(|left| left.path == path).map(|left| left.reason)
}

/// Every regular file that we list or skip.
fn seen(listing: &Listing) -> BTreeSet<String> {
    let skipped = listing.skipped.iter().filter(|left| {
        !matches!(left.reason, SkipReason::Symlink | SkipReason::Special) && !left.reason.is_of_folder()
    });
    let skipped = skipped.map(|left| left.path.clone());
    listing.files.iter().map(|found| found.path.as_str().to_owned()).chain(skipped).collect()
}

/// A path as a listing shows it.
fn shown(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => printable(&String::from_utf8_lossy(name)),
    }
}

fn ripgrep(root: &Path) -> BTreeSet<String> {
    let run = Command::new("rg")
        .current_dir(root)
        .args(["--no-config", "--files", "--null", "--hidden", "--no-require-git"])
        .args(["-g", "!.git", "-g", "!.ixmcp", "-g", "!.flashgrep"])
        .output()
        .expect("ripgrep is installed where the tests run");
    let names = run.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(shown).collect()
}

/// Ignore files of every sort, nested, with negations, and names that break naive readers.
fn tree(root: &Path) {
    write(
        root,
        ".gitignore",
        "*.log\n!keep.log\n/build/\nnode_modules\r\n# comment\r\n/only-root\r\n\\#hash\ntrailing\\ \n",
    );
    write(root, "a/.gitignore", "!deep.log\n/x/*\n!/x/y\nfoo/**/bar\n");
    write(root, "a/.ignore", "from-ignore.txt\n!rescued.log\n");
    write(root, "b/.rgignore", "from-rgignore.txt\n");
    write(root, ".ignore", "everywhere.tmp\n");
    for path in [
        "one.log",
        "keep.log",
        "a/deep.log",
        "a/deeper/deep.log",
        "a/rescued.log",
        "build/out.txt",
        "a/build/in.txt",
        "node_modules/x/y.js",
        "a/node_modules/z.js",
        "only-root",
        "a/only-root",
        "#hash",
        "trailing ",
        "a/x/no.txt",
        "a/x/y/yes.txt",
        "a/foo/1/2/bar",
        "a/foo/bar",
        "a/from-ignore.txt",
        "b/from-ignore.txt",
        "b/from-rgignore.txt",
        "everywhere.tmp",
        "b/everywhere.tmp",
        ".hidden/file",
        "b/.dotfile",
        ".github/workflows/ci.yml",
        "new\nline.txt",
        "with space/ä ö/日本.md",
        "-dash",
        "*star",
        "[brackets]/x",
        "a\\b",
        "\u{202e}bidi",
        "b/.git/config",
        "b/src.rs",
        ".ixmcp/index.db",
        ".flashgrep/mcp.sock.txt",
        "c/.ixmcp/inner",
        "nested/.git/HEAD",
        "nested/.gitignore",
        "nested/file.rs",
        "id_rsa",
        "c/server.pem",
        "c/Cargo.lock",
        "c/app.min.js",
        "c/keys.py",
    ] {
        write(root, path, "text\n");
    }
    write(root, "nested/.gitignore", "*.o\n");
    write(root, "nested/x.o", "");
    write(root, OsStr::from_bytes(b"bad-\xff\xfe.txt"), "x");
    write(root, Path::new(OsStr::from_bytes(b"bad-\xff-folder")).join("in.txt"), "x");
    write(root, "big.txt", &"x".repeat(3 << 20));
    std::os::unix::fs::symlink("keep.log", root.join("link")).unwrap();
    std::os::unix::fs::symlink("a", root.join("folder-link")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
}

#[test]
fn ours_and_skipped_are_what_ripgrep_lists() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    tree(&root);
    let listing = list(&root, &Rules::default());
    assert_eq!(seen(&listing), ripgrep(&root));
    assert_eq!(reason(&listing, "link"), Some(SkipReason::Symlink));
    assert_eq!(reason(&listing, "folder-link"), Some(SkipReason::Symlink));
    assert_eq!(reason(&listing, "dangling"), Some(SkipReason::Symlink));
    assert_eq!(reason(&listing, "pipe"), Some(SkipReason::Special));
    assert_eq!(reason(&listing, "id_rsa"), Some(SkipReason::Secret));
    assert_eq!(reason(&listing, "c/Cargo.lock"), Some(SkipReason::Generated));
    assert_eq!(reason(&listing, "c/app.min.js"), Some(SkipReason::Minified));
    assert_eq!(reason(&listing, "big.txt"), Some(SkipReason::Oversize));
    assert_eq!(listing.skipped.iter().filter(|left| left.reason == SkipReason::NonUtf8Path).count(), 2);
    // The content of `c/server.pem` decides.
    expect![[r#"
        [
            "*star",
            "-dash",
            ".github/workflows/ci.yml",
            ".gitignore",
            ".hidden/file",
            ".ignore",
            "[brackets]/x",
            "a/.gitignore",
            "a/.ignore",
            "a/build/in.txt",
            "a/deep.log",
            "a/deeper/deep.log",
            "a/only-root",
            "a/rescued.log",
            "a/x/y/yes.txt",
            "a\\b",
            "b/.dotfile",
            "b/.rgignore",
            "b/from-ignore.txt",
            "b/src.rs",
            "c/keys.py",
            "c/server.pem",
            "keep.log",
            "nested/.gitignore",
            "nested/file.rs",
            "new\nline.txt",
            "with space/ä ö/日本.md",
            "\u{202e}bidi",
        ]"#]]
    .assert_eq(&format!("{:#?}", paths(&listing)));

    // A subfolder as root: without a repository it is the top, and nothing above it counts.
    expect![[r#"
        {
            ".gitignore",
            ".ignore",
            "build/in.txt",
            "deep.log",
            "deeper/deep.log",
            "node_modules/z.js",
            "only-root",
            "rescued.log",
            "x/y/yes.txt",
        }"#]]
    .assert_eq(&format!("{:#?}", seen(&list(&root.join("a"), &Rules::default()))));
}

#[test]
fn what_git_tracks_is_kept_although_it_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    tree(&root);
    std::fs::remove_dir_all(root.join("b/.git")).unwrap();
    std::fs::remove_dir_all(root.join("nested/.git")).unwrap();
    write(&root, "build/id_rsa", "x");
    git(&root, &["init", "-q"]);
    write(&root, ".git/info/exclude", "excluded.txt\n");
    write(&root, "a/excluded.txt", "x");
    let untracked = list(&root, &Rules::default());
    assert_eq!(seen(&untracked), ripgrep(&root));
    let before = paths(&untracked);

    git(
        &root,
        &["add", "-f", "one.log", "build/out.txt", "build/id_rsa", "a/x/no.txt", "c/.ixmcp/inner", "a/excluded.txt"],
    );
    std::fs::remove_file(root.join("a/x/no.txt")).unwrap();
    let rules = Rules::default();
    let listing = list(&root, &rules);
    assert_eq!(listing.warnings, Vec::<String>::new());
    // `a/x/no.txt` is gone, `c/.ixmcp/inner` is ours.
    let now = paths(&listing);
    let came: Vec<&str> = now.iter().filter(|path| !before.contains(path)).copied().collect();
    assert_eq!(came, ["a/excluded.txt", "build/out.txt", "one.log"]);
    assert_eq!(now.len(), before.len() + came.len());
    assert_eq!(reason(&listing, "build/id_rsa"), Some(SkipReason::Secret));

    // The whole of it against git itself: tracked, and untracked but not ignored.
    let run = Command::new("git")
        .current_dir(&root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .unwrap();
    let of_git: BTreeSet<String> = run.stdout.split(|byte| *byte == 0).map(shown).collect();
    // Which `.ignore` and `.rgignore` take away.
    let ours: BTreeSet<String> = seen(&listing);
    let missing: Vec<&String> = of_git.difference(&ours).filter(|path| root.join(path).is_file()).collect();
    assert_eq!(
        missing.iter().map(|path| path.as_str()).filter(|path| !path.ends_with("link")).collect::<Vec<_>>(),
        ["a/from-ignore.txt", "b/everywhere.tmp", "b/from-rgignore.txt", "c/.ixmcp/inner", "everywhere.tmp"]
            .into_iter()
            .chain(
                of_git
                    .iter()
                    .map(String::as_str)
                    .filter(|path| path.starts_with(".ixmcp/") || path.starts_with(".flashgrep/"))
            )
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
}

#[test]
fn worktrees_subfolders_and_submodules_know_their_index() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().canonicalize().unwrap();
    let main = at.join("main");
    write(&main, ".gitignore", "*.log\n");
    write(&main, "sub/t.log", "x");
    write(&main, "sub/u.log", "x");
    git(&main, &["init", "-q"]);
    git(&main, &["add", "-f", ".gitignore", "sub/t.log"]);
    git(&main, &["commit", "-qm", "first"]);
    git(&main, &["worktree", "add", "-q", "../tree"]);
    assert_eq!(paths(&list(&at.join("tree"), &Rules::default())), [".gitignore", "sub/t.log"]);
    assert_eq!(paths(&list(&main.join("sub"), &Rules::default())), ["t.log"]);

    let wide = at.join("wide");
    write(&wide, ".gitignore", "*.log\n");
    write(&wide, "t.log", "x");
    git(&wide, &["init", "-q", "--object-format=sha256"]);
    git(&wide, &["add", "-f", "t.log"]);
    assert_eq!(paths(&list(&wide, &Rules::default())), [".gitignore", "t.log"]);

    let outer = at.join("outer");
    std::fs::create_dir(&outer).unwrap();
    git(&outer, &["init", "-q"]);
    git(&outer, &["submodule", "add", "-q", "../main", "module"]);
    assert_eq!(paths(&list(&outer.join("module"), &Rules::default())), [".gitignore", "sub/t.log"]);
}

#[test]
fn other_worktrees_of_the_repository_are_skipped_and_other_repositories_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().canonicalize().unwrap();
    let main = at.join("main");
    write(&main, "a.py", "x");
    write(&main, ".ixchel/issues/a.md", "x");
    git(&main, &["init", "-q"]);
    git(&main, &["add", "."]);
    git(&main, &["commit", "-qm", "first"]);
    git(&at, &["clone", "-q", "main", "other"]);
    let own = [".ixchel/issues/a.md", "a.py"];
    for nested in [".claude/worktrees/x", "y", ".ixchel/issues/z", "hidden/deep"] {
        git(&main, &["worktree", "add", "-q", "--detach", nested]);
    }
    write(&main, "hidden/.gitignore", "deep/\n*.md\n");
    let own_and_rules = [own[0], own[1], "hidden/.gitignore"];
    let rules = Rules::default();
    assert_eq!(paths(&list(&main, &rules)), own_and_rules);
    let skipped = |listing: &Listing| -> Vec<String> {
        let left = listing.skipped.iter().filter(|left| left.reason == SkipReason::Worktree);
        left.map(|left| left.path.clone()).collect()
    };
    // What git ignores is not looked at.
    assert_eq!(skipped(&list(&main, &rules)), [".claude/worktrees/x", ".ixchel/issues/z", "y"]);
    assert!(!list(&main, &rules).folders.iter().any(|folder| folder.as_str() == "y"), "nothing to watch");
    agree(&main, &rules);
    let named = rules.clone().with_named(["hidden/deep", "y/.ixchel"].map(|path| RepoPath::new(path).unwrap()).into());
    assert_eq!(paths(&list(&main, &named)), own_and_rules, "a folder that the user named is skipped, too");
    agree(&main, &named);

    // A linked worktree does not list the main one either, nor its sibling.
    let linked = at.join("linked");
    git(&main, &["worktree", "add", "-q", "--detach", "../linked"]);
    git(&main, &["worktree", "add", "-q", "--detach", "../linked/sibling"]);
    std::fs::rename(&main, linked.join("main")).unwrap();
    let main = linked.join("main");
    for (folder, pointer) in [(".", "main/.git/worktrees/linked"), ("sibling", "../main/.git/worktrees/sibling")] {
        write(&linked, Path::new(folder).join(".git"), &format!("gitdir: {pointer}\n"));
    }
    assert_eq!(paths(&list(&linked, &rules)), own);
    assert_eq!(skipped(&list(&linked, &rules)), ["main", "sibling"]);
    agree(&linked, &rules);

    // Repositories of their own are parts of the tree: clones, submodules, and worktrees of others.
    git(&main, &["worktree", "prune"]);
    std::fs::remove_dir_all(main.join("y")).unwrap();
    std::fs::rename(at.join("other"), main.join("other")).unwrap();
    git(&main.join("other"), &["worktree", "add", "-q", "--detach", "tree"]);
    git(&main, &["submodule", "add", "-q", "./other", "module"]);
    let listing = list(&main, &rules);
    expect![[r#"
        .claude/worktrees/x/.ixchel/issues/a.md
        .claude/worktrees/x/a.py
        .gitmodules
        .ixchel/issues/a.md
        .ixchel/issues/z/.ixchel/issues/a.md
        .ixchel/issues/z/a.py
        a.py
        hidden/.gitignore
        module/.ixchel/issues/a.md
        module/a.py
        other/.ixchel/issues/a.md
        other/a.py
        other/tree/.ixchel/issues/a.md
        other/tree/a.py"#]]
    .assert_eq(&paths(&listing).join("\n"));
    agree(&main, &rules);
}

#[test]
fn git_files_that_lead_nowhere_or_anywhere_else_skip_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().canonicalize().unwrap();
    let root = at.join("root");
    write(&root, "a.py", "x");
    git(&root, &["init", "-q"]);
    write(&at, "private/.git/HEAD", "x");
    write(&at, "private/.git/worktrees/x/gitdir", "x");
    let pointers = [
        "",
        "gitdir:",
        "gitdir: .",
        "gitdir: .git",
        "gitdir: ../nested1/.git",
        "gitdir: /dev/zero",
        "gitdir: ../../private/.git/worktrees/x",
        "gitdir: ../.git/worktrees/../../worktrees/x",
        "gitdir: ../.git/worktrees",
        "not a pointer",
        "gitdir: \u{1}\u{7f}\u{202e}",
    ];
    for (number, pointer) in pointers.iter().enumerate() {
        write(&root, format!("nested{number}/a.py"), "x");
        write(&root, format!("nested{number}/.git"), pointer);
    }
    for (name, target) in [("linked", "/dev/zero"), ("cycle", ".git"), ("dangling", "../nowhere")] {
        write(&root, format!("{name}/a.py"), "x");
        std::os::unix::fs::symlink(target, root.join(name).join(".git")).unwrap();
    }
    std::fs::create_dir(root.join("endless")).unwrap();
    write(&root, "endless/a.py", "x");
    assert!(Command::new("mkfifo").arg(root.join("endless/.git")).status().unwrap().success());
    let listing = list(&root, &Rules::default());
    let expected = pointers.len() + 5;
    assert_eq!(listing.files.len(), expected, "{:?} {:?}", paths(&listing), listing.skipped);
    agree(&root, &Rules::default());
    // Of a worktree that git has forgotten, the copy is still there.
    write(&root, "nested0/.git", "gitdir: ../.git/worktrees/forgotten\n");
    assert_eq!(list(&root, &Rules::default()).files.len(), expected - 1);
}

#[test]
fn a_damaged_git_index_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    write(&root, "a.rs", "x");
    git(&root, &["init", "-q"]);
    git(&root, &["add", "a.rs"]);
    let index = root.join(".git/index");
    let whole = std::fs::read(&index).unwrap();
    let mut damages: Vec<Vec<u8>> = (0..whole.len()).step_by(7).map(|length| whole[..length].to_vec()).collect();
    damages.extend((0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        bytes
    }));
    let mut warned = 0;
    for damage in damages {
        std::fs::write(&index, damage).unwrap();
        let listing = list(&root, &Rules::default());
        assert_eq!(paths(&listing), ["a.rs"]);
        warned += usize::from(!listing.warnings.is_empty());
    }
    assert!(warned > 5, "{warned}");
}

#[test]
fn entities_are_listed_even_where_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    write(&root, ".gitignore", ".ixchel/\n");
    for path in ["issues/bd-1.md", "top.md", "data/x.md", "models/m.md", "issues/data/y.md", "config.toml"] {
        write(&root, Path::new(".ixchel").join(path), "x");
    }
    let expected = [".gitignore", ".ixchel/issues/bd-1.md", ".ixchel/issues/data/y.md", ".ixchel/top.md"];
    assert_eq!(paths(&list(&root, &Rules::default())), expected);
    let rules = Rules::new(&config::Index { exclude: vec!["*.md".into()], ..Default::default() });
    assert_eq!(paths(&list(&root, &rules)), expected, "an exclusion does not lose entities");
    agree(&root, &rules);
}

#[test]
fn exclusions_and_named_folders_count() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    write(&root, ".gitignore", "/docs/\n*.tmp\n");
    for path in ["docs/a.md", "docs/b.tmp", "docs/in/c.md", "docs/in/d.o", "gen/x.rs", "src/x.rs", "src/x.svg"] {
        write(&root, path, "x");
    }
    write(&root, "docs/in/.gitignore", "*.o\n");
    let rules = Rules::new(&config::Index { exclude: vec!["/gen/".into(), "*.svg".into()], ..Default::default() });
    assert_eq!(paths(&list(&root, &rules)), [".gitignore", "src/x.rs"]);
    let rules = rules.with_named(vec![RepoPath::new("docs").unwrap()]);
    assert_eq!(
        paths(&list(&root, &rules)),
        [".gitignore", "docs/a.md", "docs/b.tmp", "docs/in/.gitignore", "docs/in/c.md", "src/x.rs"]
    );
    agree(&root, &rules);
}

#[test]
fn a_root_that_is_gone_is_an_error_and_no_empty_repository() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    assert!(scan::list(&gone, &Rules::default(), &Budget::unlimited()).is_err());
    assert!(scan::at(&gone, &[], &Rules::default(), &Budget::unlimited()).is_err());
    let cancelled = Budget::unlimited();
    cancelled.cancel();
    write(dir.path(), "a.rs", "x");
    assert!(scan::list(dir.path(), &Rules::default(), &cancelled).is_err());
}

#[test]
fn an_ignore_file_that_never_ends_stops_no_walk() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for path in ["a/x.rs", "b/in/x.rs", "c/x.rs", "d/x.rs", "rules", "e/x.rs", "e/x.o"] {
        write(&root, path, "*.o\n");
    }
    std::os::unix::fs::symlink("/dev/zero", root.join("a/.gitignore")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("b/.ignore")).status().unwrap().success());
    std::os::unix::fs::symlink("/etc/passwd", root.join("c/.rgignore")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("d/.gitignore")).unwrap();
    std::os::unix::fs::symlink("../rules", root.join("e/.gitignore")).unwrap();
    std::os::unix::fs::symlink("e", root.join(".ignore")).unwrap();
    let listing = list(&root, &Rules::default());
    assert_eq!(paths(&listing), ["a/x.rs", "b/in/x.rs", "c/x.rs", "d/x.rs", "e/x.o", "e/x.rs", "rules"]);
    for file in ["a/.gitignore", "b/.ignore", "c/.rgignore", "e/.gitignore"] {
        let named = root.join(file).to_str().unwrap().to_owned() + " is not read: ";
        assert!(listing.warnings.iter().any(|warning| warning.starts_with(&named)), "{file}: {:?}", listing.warnings);
    }
    agree(&root, &Rules::default());
    agree(&root, &Rules::default().with_named(vec![RepoPath::new("a").unwrap(), RepoPath::new("b/in").unwrap()]));
}

/// Asserts that single files and folders get the answer that the whole listing has for them.
fn agree(root: &Path, rules: &Rules) {
    let listing = list(root, rules);
    let everything = Command::new("find").current_dir(root).args(["-mindepth", "1", "-print0"]).output().unwrap();
    for name in everything.stdout.split(|byte| *byte == 0) {
        let Some(path) = std::str::from_utf8(name).ok().and_then(|name| RepoPath::new(name.strip_prefix("./")?)) else {
            continue;
        };
        let below = |other: &str| {
            other.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut expected = listing.clone();
        expected.files.retain(|found| below(found.path.as_str()));
        expected.skipped.retain(|left| below(&left.path));
        expected.folders.retain(|folder| below(folder.as_str()));
        let part = scan::at(root, std::slice::from_ref(&path), rules, &Budget::unlimited()).unwrap();
        // What makes the whole shaky may lie elsewhere.
        assert!(listing.is_shaky || !part.is_shaky, "{path}");
        expected.is_shaky = part.is_shaky;
        expected.warnings.clone_from(&part.warnings);
        expected.rule_files.clone_from(&part.rule_files);
        assert_eq!(part, expected, "{path}");

        let one = scan::one(root, &path, rules).unwrap();
        let of_list = expected.files.iter().find(|found| found.path == path).cloned().map(PathVerdict::Listed);
        let left = expected.skipped.iter().find(|left| left.path == path.as_str()).cloned();
        assert_eq!(one, of_list.or(left.map(PathVerdict::Skipped)), "{path}");
    }
}

#[test]
fn asking_for_a_part_gives_that_part_of_the_list() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    tree(&root);
    agree(&root, &Rules::default());
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-f", "one.log", "build/out.txt", "a/x/no.txt", "node_modules/x/y.js"]);
    agree(&root, &Rules::default());
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

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const NAMES: &[&str] = &["a", "b", "c.log", "d.rs", ".e", "f.md", ".ixchel", "a-b", "data"];
const LINES: &[&str] = &[
    "a", "/a", "a/", "b/*", "!b/a", "*.log", "!c.log", "**/d.rs", "a/**/b", ".e", "!.e/", ".*", "*", "!*/", "!*.rs",
    "/.ixchel", "a/b", "data/",
];

#[test]
fn random_trees_list_as_ripgrep_does_and_in_parts() {
    for seed in 1..=40 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for _ in 0..30 {
            let mut path = root.clone();
            for _ in 0..=dice.roll(4) {
                path.push(dice.pick(NAMES));
            }
            // A file may be where a folder is wanted, or the other way round: then that path is passed over.
            if std::fs::create_dir_all(path.parent().unwrap()).is_ok() {
                let _ = std::fs::write(&path, "x");
            }
            if dice.roll(4) == 0 {
                let rules: String = (0..=dice.roll(3)).map(|_| dice.pick(LINES).to_owned() + "\n").collect();
                let name = dice.pick(&[".gitignore", ".gitignore", ".ignore", ".rgignore"]);
                let _ = std::fs::write(path.with_file_name(name), rules);
            }
        }
        let named = vec![RepoPath::new("a/b").unwrap(), RepoPath::new("b").unwrap()];
        let listing = list(&root, &Rules::default());
        let entities = |path: &String| !path.starts_with(".ixchel/") || !path.ends_with(".md");
        let ours: BTreeSet<String> = seen(&listing).into_iter().filter(entities).collect();
        let theirs: BTreeSet<String> = ripgrep(&root).into_iter().filter(entities).collect();
        assert_eq!(ours, theirs, "seed {seed}");
        agree(&root, &Rules::default());
        agree(&root, &Rules::default().with_named(named));
        git(&root, &["init", "-q"]);
        for found in ["a", "b", "c.log", "d.rs"] {
            if root.join(found).exists() && dice.roll(2) == 0 {
                git(&root, &["add", "-f", found]);
            }
        }
        agree(&root, &Rules::default());
    }
}
