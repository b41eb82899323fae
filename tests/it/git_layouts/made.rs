//! Makes random repositories: how they are laid out, and what is done in their work trees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::harness::Repo;
use crate::support::tree::Random;

const FOLDERS: &[&str] = &["", "", "src", "src/deep", "lib", "build", "a b", "ä"];
const NAMES: &[&str] = &[
    "one.py",
    "two.rs",
    "three.js",
    "four.py",
    "UPPER.py",
    "seven eight.py",
    "é.py",
    "notes.md",
    "data.json",
    "x.log",
];
/// Files that ixmcp skips, but git does not.
const SKIPPED: &[&str] = &[".env", "Cargo.lock", "site.min.css", "logo.png"];
/// Lines of ignore files whose meaning is beyond doubt: the others have a test of their own.
const PATTERNS: &[&str] =
    &["*.log", "build/", "/one.py", "four.py", "src/deep/", "lib/*\n!lib/two.rs", "a b/", "**/x.log", "# no\n"];

/// Repositories in a folder, each work tree with changes.
pub struct Layout {
    pub repo: Repo,
    /// The work trees that are compared.
    pub roots: Vec<PathBuf>,
    /// Steps that were done, for a failure to report.
    pub log: Vec<String>,
    random: Random,
    /// Makes each definition unlike all others.
    made: u64,
    is_sha256: bool,
}

/// Whether a file has the name of one that defines something.
pub fn is_source(path: &str) -> bool {
    [".py", ".rs", ".js"].iter().any(|ending| path.ends_with(ending))
}

impl Layout {
    pub fn new(seed: u64) -> Self {
        let repo = Repo::new("");
        fs::remove_dir(repo.path().join(".git")).unwrap();
        let mut random = Random(0x1a_707 + seed);
        let is_sha256 = random.below(6) == 0;
        let mut layout = Self { repo, roots: Vec::new(), log: Vec::new(), random, made: 0, is_sha256 };
        let has_excludes = layout.chance(2);
        let main = layout.main();
        let mut trees = main.clone();
        if layout.chance(3) {
            trees.extend(layout.worktrees(&main[0]));
        }
        if layout.chance(3) {
            trees.extend(layout.submodules(&main[0]));
        }
        if layout.chance(3) {
            trees.push(layout.nested_clone(&main[0]));
        }
        for tree in &trees {
            // A sparse checkout of the repository around it may have removed it.
            if !tree.exists() {
                continue;
            }
            if has_excludes {
                layout.exclude(tree);
            }
            layout.prepare(tree);
            for _ in 0..layout.random.below(7) {
                layout.change(tree);
            }
        }
        layout.roots = trees.into_iter().filter(|tree| tree.exists()).collect();
        layout
    }

    fn chance(&mut self, of: u64) -> bool {
        self.random.below(of) == 0
    }

    /// Runs git; returns its output, which is empty if it fails, as it may where a random step does not fit.
    pub fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        for setting in ["user.name=t", "user.email=t@t", "init.defaultBranch=main", "protocol.file.allow=always"] {
            git.args(["-c", setting]);
        }
        let variables = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_"));
        for (name, _) in variables {
            git.env_remove(name);
        }
        git.env("HOME", self.repo.home()).env_remove("XDG_CONFIG_HOME").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.args(arguments).current_dir(folder).stderr(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs git as a step that is reported.
    fn does(&mut self, folder: &Path, arguments: &[&str]) {
        let name = folder.strip_prefix(self.repo.path()).unwrap_or(folder).display().to_string();
        self.log.push(format!("{name}$ git {}", arguments.join(" ")));
        self.git(folder, arguments);
    }

    fn notes(&mut self, tree: &Path, what: &str) {
        let name = tree.strip_prefix(self.repo.path()).unwrap_or(tree).display();
        self.log.push(format!("{name}$ {what}"));
    }

    fn write(&mut self, tree: &Path, path: &str, text: &str) {
        let full = tree.join(path);
        // Never through a link.
        let folder = full.parent().unwrap();
        if fs::create_dir_all(folder).is_err() || !folder.canonicalize().is_ok_and(|folder| folder.starts_with(tree)) {
            return;
        }
        // Nor into a pipe, which no process reads.
        if fs::symlink_metadata(&full).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            fs::remove_file(&full).unwrap();
        }
        if fs::write(&full, text).is_ok() {
            self.notes(tree, &format!("write {path} {:?}", &text[..text.len().min(40)]));
        }
    }

    /// A text for a file of that name, unlike all others.
    fn text(&mut self, path: &str) -> String {
        self.made += 1;
        let n = self.made;
        match path.rsplit('.').next().unwrap() {
            "py" => format!("def made_{n}():\n    return call_{n}({n})\n"),
            "rs" => format!("fn made_{n}() -> u32 {{\n    call_{n}({n})\n}}\n"),
            "js" => format!("function made_{n}() {{\n  return call_{n}({n});\n}}\n"),
            "png" => format!("\u{89}PNG\0\0{n}"),
            "json" => format!("{{\"made\": {n}}}\n"),
            _ => format!("made {n}\n"),
        }
    }

    fn path(&mut self) -> String {
        let folder = *self.random.pick(FOLDERS);
        let name = if self.chance(12) { *self.random.pick(SKIPPED) } else { *self.random.pick(NAMES) };
        if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
    }

    fn add_files(&mut self, tree: &Path, count: u64) {
        for _ in 0..count {
            let path = self.path();
            if !tree.join(&path).exists() {
                let text = self.text(&path);
                self.write(tree, &path, &text);
            }
        }
    }

    fn commit(&mut self, tree: &Path) {
        self.does(tree, &["add", "-f", "."]);
        self.does(tree, &["commit", "-qm", "files"]);
    }

    fn init(&mut self, at: &str, kind: u64) -> PathBuf {
        let tree = self.repo.path().join(at);
        fs::create_dir_all(&tree).unwrap();
        let separate = self.repo.path().join("separate.git");
        let separate = format!("--separate-git-dir={}", separate.display());
        let mut arguments = vec!["init", "-q"];
        match kind {
            0 => arguments.push("--ref-format=reftable"),
            1 => arguments.push(&separate),
            _ => {}
        }
        if self.is_sha256 {
            arguments.push("--object-format=sha256");
        }
        self.does(&tree, &arguments);
        tree
    }

    /// The work trees of the repository that the others are added to.
    fn main(&mut self) -> Vec<PathBuf> {
        let kind = self.random.below(6);
        let main = self.init("main", kind);
        self.add_files(&main, 12);
        if self.chance(12) {
            return vec![main];
        }
        self.commit(&main);
        self.add_files(&main, 4);
        self.commit(&main);
        if kind == 2 {
            // Worktrees around a bare repository, as many set it up.
            let project = self.repo.path().join("project");
            fs::create_dir(&project).unwrap();
            self.does(&project, &["clone", "-q", "--bare", "../main", ".bare"]);
            fs::write(project.join(".git"), "gitdir: ./.bare\n").unwrap();
            self.does(&project, &["worktree", "add", "-q", "-b", "one", "one"]);
            self.does(&project, &["worktree", "add", "-q", "--detach", "two"]);
            return vec![project.join("one"), project.join("two")];
        }
        vec![main]
    }

    fn worktrees(&mut self, main: &Path) -> Vec<PathBuf> {
        let mut trees = Vec::new();
        for _ in 0..=self.random.below(2) {
            self.made += 1;
            let at = self.made;
            let tree = match self.random.below(3) {
                0 => main.join(format!("nested{at}")),
                _ => self.repo.path().join(format!("tree{at}")),
            };
            let name = format!("topic/{at}");
            let branch = if self.chance(3) { vec!["--detach"] } else { vec!["-b", &name] };
            let added = [&["worktree", "add", "-q"][..], &branch, &[tree.to_str().unwrap()]].concat();
            self.does(main, &added);
            if !tree.join(".git").exists() {
                continue;
            }
            if self.chance(2) {
                self.link_relatively(&tree);
            }
            trees.push(tree);
        }
        trees
    }

    /// Links a worktree by relative paths, as `worktree.useRelativePaths` does, which git has since 2.48.
    fn link_relatively(&mut self, tree: &Path) {
        let text = fs::read_to_string(tree.join(".git")).unwrap();
        let directory = PathBuf::from(text.trim().strip_prefix("gitdir: ").unwrap());
        let to_directory = relative(tree, &directory);
        let to_tree = relative(&directory, &tree.join(".git"));
        fs::write(tree.join(".git"), format!("gitdir: {}\n", to_directory.display())).unwrap();
        fs::write(directory.join("gitdir"), format!("{}\n", to_tree.display())).unwrap();
        self.notes(tree, "is linked relatively");
    }

    /// A submodule, whose directory is in that of the repository or in itself, and what is in it and around it.
    fn submodules(&mut self, main: &Path) -> Vec<PathBuf> {
        let other = self.init("other", 9);
        self.add_files(&other, 8);
        self.commit(&other);
        let (sub, mut trees) = (main.join("sub"), Vec::new());
        if self.chance(3) {
            self.does(main, &["clone", "-q", "../other", "sub"]);
            self.does(main, &["submodule", "add", "-q", "../other", "sub"]);
        } else {
            self.does(main, &["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
        }
        if self.chance(3) {
            self.does(&sub, &["submodule", "add", "-q", other.to_str().unwrap(), "deep/er"]);
            trees.push(sub.join("deep/er"));
        }
        if self.chance(2) {
            self.does(main, &["commit", "-qm", "submodule"]);
        }
        if self.chance(8) {
            self.does(main, &["submodule", "deinit", "-qf", "sub"]);
            self.add_files(&sub, 1);
            return Vec::new();
        }
        if self.chance(4) {
            trees.extend(self.worktrees(&sub));
        }
        if self.chance(3) {
            self.does(&sub, &["sparse-checkout", "set", "src"]);
        }
        trees.push(sub);
        trees
    }

    fn nested_clone(&mut self, main: &Path) -> PathBuf {
        let at = *self.random.pick(&["clone", "lib/clone", "build/clone"]);
        let kind = self.random.below(4);
        let clone = main.join(at);
        let name = clone.strip_prefix(self.repo.path()).unwrap().to_str().unwrap().to_owned();
        self.init(&name, if kind == 1 { 9 } else { kind });
        self.add_files(&clone, 6);
        if !self.chance(4) {
            self.commit(&clone);
        }
        clone
    }

    /// Writes ignore files at some of the levels that git knows.
    fn exclude(&mut self, tree: &Path) {
        for _ in 0..=self.random.below(3) {
            let mut lines: String = self.random.pick(PATTERNS).to_string();
            lines.push('\n');
            match self.random.below(9) {
                0..=2 => self.write(tree, ".gitignore", &lines),
                3 => self.write(tree, "src/.gitignore", &lines.replace("src/", "")),
                4 => {
                    let exclude =
                        self.git(tree, &["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"]);
                    let exclude = PathBuf::from(exclude.trim());
                    fs::create_dir_all(exclude.parent().unwrap()).unwrap();
                    fs::write(exclude, &lines).unwrap();
                    self.notes(tree, &format!("info/exclude {lines:?}"));
                }
                5 => self.set_excludes_file(tree, &["config"], &lines),
                6 => self.set_excludes_file(tree, &["config", "--global"], &lines),
                // In a bare repository this would make the worktrees bare, too.
                7 if self.git(tree, &["config", "core.bare"]).trim() != "true" => {
                    self.enable_worktree_config(tree);
                    self.set_excludes_file(tree, &["config", "--worktree"], &lines);
                }
                _ => self.include_excludes_file(tree, &lines),
            }
        }
        if self.chance(8) {
            self.does(tree, &["config", "core.ignoreCase", "true"]);
            self.write(tree, ".gitignore", "upper.PY\n");
        }
        if self.chance(10) {
            self.notes(tree, "an ignore file above the work tree");
            fs::write(tree.parent().unwrap().join(".gitignore"), "*.rs\n").unwrap();
        }
    }

    /// Enables settings of a worktree as `git sparse-checkout` does: a setting that names the work tree of a submodule
    /// would name that of its worktrees, too.
    fn enable_worktree_config(&mut self, tree: &Path) {
        let common = self.common(tree).join("config");
        let common = common.to_str().unwrap();
        let work_tree = self.git(tree, &["config", "--file", common, "core.worktree"]);
        if !work_tree.is_empty() {
            let own = format!("{common}.worktree");
            self.does(tree, &["config", "--file", &own, "core.worktree", work_tree.trim()]);
            self.does(tree, &["config", "--file", common, "--unset", "core.worktree"]);
        }
        self.does(tree, &["config", "extensions.worktreeConfig", "true"]);
    }

    fn excludes_file(&mut self, lines: &str) -> String {
        self.made += 1;
        let file = self.repo.home().join(format!("ignored by {}", self.made));
        fs::write(&file, lines).unwrap();
        self.log.push(format!("{} {lines:?}", file.display()));
        file.to_str().unwrap().to_owned()
    }

    fn set_excludes_file(&mut self, tree: &Path, config: &[&str], lines: &str) {
        let file = self.excludes_file(lines);
        self.does(tree, &[config, &["core.excludesFile", &file]].concat());
    }

    fn include_excludes_file(&mut self, tree: &Path, lines: &str) {
        let file = self.excludes_file(lines);
        let included = format!("{file}.config");
        fs::write(&included, format!("[core]\n\texcludesFile = \"{file}\" ; of an included file\n")).unwrap();
        let directory = self.git(tree, &["rev-parse", "--absolute-git-dir"]);
        let conditional = format!("includeIf.gitdir:{}.path", directory.trim());
        let key = if self.chance(2) { "include.path" } else { conditional.as_str() };
        let scope = *self.random.pick(&["--local", "--global"]);
        self.does(tree, &["config", scope, key, &included]);
    }

    /// Prepares a work tree: how its index is stored, and what is checked out.
    fn prepare(&mut self, tree: &Path) {
        match self.random.below(9) {
            0 => self.does(tree, &["update-index", "--split-index"]),
            1 => self.does(tree, &["update-index", "--index-version", "4"]),
            2 => self.does(tree, &["sparse-checkout", "set", "--cone", "src", "a b"]),
            3 => self.does(tree, &["sparse-checkout", "set", "--cone", "--sparse-index", "src"]),
            4 => self.does(tree, &["sparse-checkout", "set", "--no-cone", "*.py", "/lib/"]),
            _ => {}
        }
        match self.random.below(9) {
            0 => self.does(tree, &["checkout", "-q", "--detach"]),
            1 => self.does(tree, &["checkout", "-q", "--orphan", "unborn"]),
            2 => self.does(tree, &["symbolic-ref", "HEAD", "refs/heads/un/born"]),
            3 => {
                self.does(tree, &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
                self.does(tree, &["symbolic-ref", "HEAD", "refs/heads/alias"]);
            }
            4 => self.conflict(tree),
            _ => {}
        }
    }

    /// Leaves a merge with conflicts.
    fn conflict(&mut self, tree: &Path) {
        let Some(path) = self.tracked(tree) else { return };
        self.does(tree, &["checkout", "-q", "-b", "theirs"]);
        let theirs = self.text(&path);
        self.write(tree, &path, &theirs);
        self.does(tree, &["commit", "-qam", "theirs"]);
        self.does(tree, &["checkout", "-q", "-b", "ours", "HEAD~1"]);
        if self.chance(3) {
            self.does(tree, &["rm", "-q", &path]);
        } else {
            let ours = self.text(&path);
            self.write(tree, &path, &ours);
        }
        self.does(tree, &["commit", "-qam", "ours"]);
        self.does(tree, &["merge", "-q", "theirs"]);
    }

    /// A regular file that git tracks and that is there.
    fn tracked(&mut self, tree: &Path) -> Option<String> {
        let listed = self.git(tree, &["ls-files", "-z"]);
        let mut paths: Vec<&str> = listed.split('\0').collect();
        paths.retain(|path| super::kind(tree, path).is_some_and(|kind| kind.is_file()) && !path.starts_with(".git"));
        (!paths.is_empty()).then(|| (*self.random.pick(&paths)).to_owned())
    }

    fn change(&mut self, tree: &Path) {
        let Some(path) = self.tracked(tree) else { return self.add_files(tree, 2) };
        let full = tree.join(&path);
        let text = self.text(&path);
        let ending = path.rsplit('.').next().unwrap().to_owned();
        let renamed = format!("renamed{}.{ending}", self.made);
        match self.random.below(22) {
            0 | 1 => self.add_files(tree, 2),
            2..=4 => self.write(tree, &path, &text),
            5 => {
                self.write(tree, &path, &text);
                self.does(tree, &["add", "-f", &path]);
                if self.chance(2) {
                    let text = self.text(&path);
                    self.write(tree, &path, &text);
                }
            }
            6 => {
                // Staged, and changed back.
                let before = fs::read(&full).unwrap();
                self.write(tree, &path, &text);
                self.does(tree, &["add", "-f", &path]);
                fs::write(&full, before).unwrap();
                self.notes(tree, &format!("{path} as before"));
            }
            7 => {
                fs::remove_file(&full).unwrap();
                self.notes(tree, &format!("rm {path}"));
            }
            8 => self.does(tree, &["rm", "-qf", &path]),
            9 => self.does(tree, &["rm", "-q", "--cached", &path]),
            10 => self.does(tree, &["mv", &path, &renamed]),
            11 => {
                fs::rename(&full, tree.join(&renamed)).unwrap();
                self.notes(tree, &format!("mv {path} {renamed}"));
            }
            12 => {
                fs::remove_file(&full).unwrap();
                let inner = format!("{path}/in.py");
                let text = self.text(&inner);
                self.write(tree, &inner, &text);
            }
            13 | 14 => {
                fs::remove_file(&full).unwrap();
                let target = *self.random.pick(&["one.py", "nowhere.py", ".", "/etc/hostname"]);
                symlink(target, &full).unwrap();
                self.notes(tree, &format!("ln -s {target} {path}"));
                if self.chance(2) {
                    self.does(tree, &["add", "-f", &path]);
                }
            }
            15 => {
                // A link that is committed becomes a file.
                self.notes(tree, "link.py, committed, becomes a file");
                let _ = symlink("one.py", tree.join("link.py"));
                self.git(tree, &["add", "-f", "link.py"]);
                self.git(tree, &["commit", "-qm", "link", "link.py"]);
                let text = self.text("link.py");
                self.write(tree, "link.py", &text);
            }
            16 => {
                let folder = full.parent().unwrap().to_path_buf();
                if folder != tree {
                    self.notes(tree, &format!("the folder of {path} becomes a link"));
                    let moved = tree.join(format!("moved{}", self.made));
                    fs::rename(&folder, &moved).unwrap();
                    symlink(&moved, &folder).unwrap();
                }
            }
            17 => {
                let path = format!("intended{}.{ending}", self.made);
                self.write(tree, &path, &text);
                self.does(tree, &["add", "-N", &path]);
            }
            18 => {
                let flag = *self.random.pick(&["--assume-unchanged", "--skip-worktree"]);
                self.does(tree, &["update-index", flag, &path]);
                self.write(tree, &path, &text);
            }
            19 => {
                fs::remove_file(&full).unwrap();
                let made = Command::new("mkfifo").arg(&full).status().unwrap();
                self.notes(tree, &format!("mkfifo {path}: {made}"));
            }
            20 => {
                fs::remove_file(&full).unwrap();
                let name = full.strip_prefix(self.repo.path()).unwrap().to_str().unwrap().to_owned();
                self.init(&name, 9);
                self.add_files(&full, 2);
                if self.chance(2) {
                    self.commit(&full);
                }
            }
            _ => {
                let path = format!("ignored{}.log", self.made);
                let text = self.text(&path);
                self.write(tree, &path, &text);
                self.does(tree, &["add", "-f", &path]);
            }
        }
    }

    pub fn has_commit(&self, root: &Path) -> bool {
        !self.git(root, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_empty()
    }

    /// Whether git ignores a folder. One that is in the place of a tracked file is listed as that file, ignored or not.
    pub fn is_ignored_folder(&self, root: &Path, path: &str) -> bool {
        let is_submodule = self.git(root, &["ls-files", "--stage", "--", path]).starts_with("160000");
        !is_submodule && !self.git(root, &["check-ignore", "--no-index", "--", path]).is_empty()
    }

    /// The directory that the worktrees of a repository share.
    pub fn common(&self, tree: &Path) -> PathBuf {
        let directory = self.git(tree, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        PathBuf::from(directory.trim()).canonicalize().unwrap()
    }

    /// Whether git's directory names the work tree that names it. A directory that was separated does not.
    pub fn is_linked_in_return(&self, root: &Path) -> bool {
        let is_separate = self.git(root, &["rev-parse", "--absolute-git-dir"]).trim().ends_with("/separate.git");
        !is_separate || !self.git(root, &["config", "core.worktree"]).is_empty()
    }

    pub fn is_one_of_several(&self, root: &Path) -> bool {
        let worktrees = self.git(root, &["worktree", "list", "--porcelain"]);
        self.is_linked_in_return(root) && worktrees.matches("worktree ").count() > 1
    }
}

/// The way from one folder to a path; both are absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| Path::new(".."));
    up.chain(to.components().skip(shared).map(|part| Path::new(part.as_os_str()))).collect()
}
