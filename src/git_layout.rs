//! Where git keeps a repository: its directory, what its worktrees share, and which folders are other worktrees of it.
//!
//! Owns the reading of `.git` files, of `commondir`, of `worktrees/NAME/gitdir` and of the settings that say how a repository is
//! laid out, what `HEAD` names, and which other worktrees are trusted. Git itself is never run. Nothing that these files contain is
//! trusted: paths in them may lead anywhere, in cycles or nowhere. A path that a nested folder names is only compared, never entered.
//! Another worktree counts only if the links between it and the common directory agree in both directions, for both trees: an archive
//! that was unpacked can name any repository as its sibling, but that repository does not name the archive.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use crate::git_settings::GitSettings;
use crate::platform::files::{is_own, read_regular};
use crate::platform::paths::{canonical, of_git};

/// The name of git's program.
pub const PROGRAM: &str = if cfg!(windows) { "git.exe" } else { "git" };

/// A `.git` file is one line; a longer file is not one.
const MAX_POINTER_BYTES: u64 = 16 * 1024;
/// A larger list of references is left to git.
const MAX_PACKED_BYTES: u64 = 32 << 20;
/// References that are read from one to the next, `HEAD` among them: git reads as many.
const MAX_REFERENCES: usize = 5;
/// The reference in `HEAD` where references are kept in tables ("reftable"), for programs that cannot read those:
/// findings/git-reftable-head.sh.
const IN_TABLES: &str = "refs/heads/.invalid";

/// The nearest folder at or above `root` with a `.git`, and git's directory for it.
pub fn directory(root: &Path) -> Option<(PathBuf, PathBuf)> {
    root.ancestors().find_map(|folder| Some((folder.to_path_buf(), directory_in(folder)?)))
}

/// Git's directory for a folder that has a `.git`.
pub fn directory_in(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let metadata = std::fs::metadata(&git).ok()?;
    let directory = if metadata.is_dir() { git } else { pointed_to(folder, &git, &metadata).ok()? };
    is_directory_of_git(&directory).then_some(directory)
}

/// The settings in the repository's own file that decide on its format. Nothing that this file includes counts, and without a version of
/// the format, neither does the rest: findings/git-settings-of-the-layout.sh.
pub fn format(common: &Path) -> GitSettings {
    let mut settings = GitSettings::default();
    // What is before a damaged line counts.
    settings.add_file(&common.join("config"));
    if settings.text("core.repositoryformatversion").is_none() { GitSettings::default() } else { settings }
}

/// The settings of the repository itself, without those of the user and of files that they include: git, too, reads the layout of
/// a repository only from these. `directory` belongs to a worktree, whose own settings come last. `None` if a file is damaged:
/// git refuses the repository then.
fn settings(directory: &Path) -> Option<GitSettings> {
    let common = common_directory(directory);
    let mut settings = GitSettings::default();
    let has_own = format(&common).is_true("extensions.worktreeconfig");
    let is_valid = settings.add_file(&common.join("config"))
        && (!has_own || settings.add_file(&directory.join("config.worktree")));
    is_valid.then_some(settings)
}

/// Whether the objects of the repository with that directory have SHA-256 hashes.
pub fn is_sha256(directory: &Path) -> bool {
    let format = format(&common_directory(directory));
    format.text("extensions.objectformat").is_some_and(|format| format.eq_ignore_ascii_case(b"sha256"))
}

/// Whether the worktree with that directory is a sparse checkout. In one, a file outside the sparse paths counts if it
/// exists.
pub fn is_sparse(directory: &Path) -> bool {
    let Some(settings) = settings(directory) else { return false };
    settings.is_true("core.sparsecheckout") && !settings.is_true("sparse.expectfilesoutsideofpatterns")
}

/// Whether git takes the folder for the top of a work tree.
pub fn is_repository(folder: &Path) -> bool {
    directory_in(folder).is_some()
}

/// Whether a folder has what git demands: objects, references, and a `HEAD` that names one of either.
fn is_directory_of_git(directory: &Path) -> bool {
    let common = common_directory(directory);
    let head = directory.join("HEAD");
    let is_valid = match std::fs::read_link(&head) {
        Ok(target) => target.starts_with("refs"),
        Err(_) => read_regular(&head, MAX_POINTER_BYTES).is_ok_and(|text| is_head(&text)),
    };
    is_valid && common.join("objects").exists() && common.join("refs").exists()
}

fn is_head(text: &[u8]) -> bool {
    let named = text.strip_prefix(b"ref:").map(<[u8]>::trim_ascii_start);
    let is_id = |length: usize| text.get(..length).is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit));
    named.is_some_and(|name| name.starts_with(b"refs/")) || is_id(40)
}

/// Where git keeps what the worktrees of a repository share.
pub fn common_directory(directory: &Path) -> PathBuf {
    let file = directory.join("commondir");
    let common = std::fs::metadata(&file).and_then(|found| read_line(&file, &found));
    common.map_or_else(|_| directory.to_path_buf(), |common| directory.join(common))
}

/// The folder that the `.git` file of a worktree or submodule names: `gitdir: ../.git/worktrees/x`.
pub fn pointed_to(folder: &Path, git: &Path, metadata: &Metadata) -> io::Result<PathBuf> {
    let text = read_line(git, metadata)?;
    let target = text.strip_prefix("gitdir:").ok_or(io::ErrorKind::InvalidData)?;
    Ok(folder.join(target.trim()))
}

/// The common directory of the worktree at `root`, without links. `None` unless `root/.git` is that directory, or a file that
/// names it (a submodule's) or one of its `worktrees/`, which names `root` in return, and all of them belong to this user.
pub fn linked_common_directory(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let found = std::fs::symlink_metadata(&git).ok().filter(is_own)?;
    if found.is_dir() {
        let directory = canonical(&git).ok()?;
        let is_common = !directory.join("commondir").exists() && reference(&directory.join("HEAD")).is_some();
        return Some(directory).filter(|_| is_common);
    }
    let directory = canonical(&pointed_to(root, &git, &found).ok()?).ok()?;
    if !directory.join("commondir").exists() {
        let is_linked = work_tree(&directory).is_some_and(|named| canonical(root).is_ok_and(|root| root == named));
        return Some(directory).filter(|_| is_linked);
    }
    let worktrees = directory.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "worktrees"))?;
    let common = canonical(&common_directory(&directory)).ok()?;
    let is_owned = [&directory, &common].iter().all(|folder| std::fs::metadata(folder).is_ok_and(|data| is_own(&data)));
    let is_linked = worktrees.parent() == Some(&common) && named_by(&directory).is_some_and(|named| named == root);
    Some(common).filter(|_| is_owned && is_linked)
}

/// The work tree that the settings in a directory name, without links: those of a submodule do. They must belong to this user.
fn work_tree(directory: &Path) -> Option<PathBuf> {
    let mut found = ["config", "config.worktree"].iter().map(|name| std::fs::symlink_metadata(directory.join(name)));
    if !found.all(|found| found.map_or(true, |found| found.is_file() && is_own(&found))) {
        return None;
    }
    let settings = settings(directory)?;
    canonical(&directory.join(of_git(settings.text("core.worktree")?))).ok()
}

/// The root of the worktree that `worktrees/NAME` names, without links.
fn named_by(directory: &Path) -> Option<PathBuf> {
    let file = directory.join("gitdir");
    let found = std::fs::symlink_metadata(&file).ok().filter(is_own)?;
    let git = directory.join(read_line(&file, &found).ok()?);
    if git.file_name()? != ".git" {
        return None;
    }
    canonical(git.parent()?).ok()
}

/// The other worktrees of the repository at `root` that are trusted: the links agree in both directions, and all of it belongs
/// to this user. `root` is absolute and without links.
pub fn siblings(root: &Path) -> Vec<PathBuf> {
    let Some(common) = linked_common_directory(root) else { return Vec::new() };
    let linked = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let around = common.parent().map(Path::to_owned).filter(|_| common.file_name().is_some_and(|name| name == ".git"));
    let main = around.or_else(|| work_tree(&common));
    let is_trusted = |sibling: &PathBuf| {
        sibling != root
            && std::fs::symlink_metadata(sibling).is_ok_and(|data| data.is_dir() && is_own(&data))
            && linked_common_directory(sibling).is_some_and(|theirs| theirs == common)
    };
    let named = linked.filter_map(|entry| named_by(&entry.path()));
    let mut found: Vec<PathBuf> = main.into_iter().chain(named).filter(is_trusted).collect();
    found.sort();
    found.dedup();
    found
}

/// Whether the worktree at `root` is one of several of its repository.
pub fn is_one_of_several(root: &Path) -> bool {
    let Some((common, directory)) = linked_common_directory(root).zip(directory_in(root)) else { return false };
    let is_linked = canonical(&directory).is_ok_and(|directory| directory != common);
    is_linked || std::fs::read_dir(common.join("worktrees")).is_ok_and(|mut worktrees| worktrees.next().is_some())
}

/// The branch or commit that is checked out.
#[derive(Debug, PartialEq, Eq)]
pub enum Head {
    Branch(String),
    /// A commit that no branch was named for.
    Detached,
    /// Only git can say, which keeps its references in tables.
    InTables,
}

/// Returns what is checked out at `root`; `None` without git.
pub fn head(root: &Path) -> Option<Head> {
    let directory = directory(root)?.1;
    let common = common_directory(&directory);
    let mut text = reference(&directory.join("HEAD"))?;
    for _ in 1..MAX_REFERENCES {
        let Some(name) = text.strip_prefix("ref:").map(str::trim_start) else { break };
        if name == IN_TABLES {
            return Some(Head::InTables);
        }
        // All branches are in the common directory; nothing else that a reference can name is one.
        let Some(branch) = name.strip_prefix("refs/heads/").filter(|_| is_plain(name)) else { break };
        match reference(&common.join(name)) {
            Some(next) if next.starts_with("ref:") => text = next,
            _ => return Some(Head::Branch(branch.to_owned())),
        }
    }
    Some(Head::Detached)
}

/// The commit that is checked out at `root`, as far as the files of git's directory say.
pub fn head_commit(root: &Path) -> Option<String> {
    let directory = directory(root)?.1;
    let common = common_directory(&directory);
    let mut text = reference(&directory.join("HEAD"))?;
    for _ in 1..MAX_REFERENCES {
        let Some(name) = text.strip_prefix("ref:").map(|name| name.trim_start().to_owned()) else { break };
        if !is_plain(&name) {
            return None;
        }
        text = match reference(&common.join(&name)) {
            Some(text) => text,
            None => packed(&common, &name)?,
        };
    }
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(text)
}

/// A value that changes when `HEAD` reaches other commits, as far as the files of git's directory say; `None` without git.
pub fn history_stamp(root: &Path) -> Option<String> {
    let (_, directory) = directory(root)?;
    let shallow = std::fs::metadata(common_directory(&directory).join("shallow")).and_then(|found| found.modified());
    Some(format!("{:?} {:?}", head_commit(root), shallow.ok()))
}

/// The commit of a reference without a file of its own.
fn packed(common: &Path, name: &str) -> Option<String> {
    let text = read_regular(&common.join("packed-refs"), MAX_PACKED_BYTES).ok()?;
    let named = text.split(|byte| *byte == b'\n').find(|line| {
        line.strip_suffix(name.as_bytes()).is_some_and(|head| head.ends_with(b" ") && !head.starts_with(b"#"))
    })?;
    String::from_utf8(named[..named.len() - name.len()].trim_ascii().to_owned()).ok()
}

/// Reads a file of a reference. Older versions of git make a link to the file of a branch instead, which git does not
/// follow either: it takes the text of the link, even if that branch has no file.
fn reference(file: &Path) -> Option<String> {
    let found = std::fs::symlink_metadata(file).ok()?;
    if !found.is_symlink() {
        // A branch may have a name that is not UTF-8.
        let bytes = if is_pointer(&found) { std::fs::read(file).ok() } else { None };
        return bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    }
    let target = std::fs::read_link(file).ok()?;
    target.to_str().filter(|name| name.starts_with("refs/") && is_plain(name)).map(|name| format!("ref: {name}"))
}

/// Whether a reference's name leads to a file below the directory.
fn is_plain(name: &str) -> bool {
    name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

/// Files and folders of a common directory that must be in it: through a link they would be another repository's.
const OWN_PARTS: &[&str] = &["HEAD", "objects", "refs", "packed-refs", "config"];

/// The nearest folder at or above `root` with a `.git` whose history is that folder's own; otherwise why it is not. A `.git` that
/// leads to another repository is not followed: an unpacked archive can name any.
pub fn with_own_history(root: &Path) -> Result<PathBuf, &'static str> {
    let (folder, directory) = directory(root).ok_or("there is no git repository here")?;
    let git = folder.join(".git");
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if is_link(&git) {
        return Err("`.git` is a symbolic link");
    }
    let is_folder = std::fs::metadata(&git).is_ok_and(|found| found.is_dir());
    let common = match is_folder {
        true if directory.join("commondir").exists() => None,
        true => Some(directory),
        false => linked_common_directory(&folder),
    };
    let common = common.ok_or("`.git` names a repository that does not name this folder in return")?;
    let leads_out =
        |part: &str| is_link(&common.join(part)) && (part != "HEAD" || reference(&common.join(part)).is_none());
    if OWN_PARTS.iter().any(|part| leads_out(part)) {
        return Err("`.git` contains symbolic links to another repository");
    }
    Ok(folder)
}

/// Whether git has forgotten the worktree in `folder`: its `.git` file names a directory that does not exist.
pub fn is_forgotten(folder: &Path) -> bool {
    let git = folder.join(".git");
    let Ok(found) = std::fs::symlink_metadata(&git) else { return false };
    pointed_to(folder, &git, &found).is_ok_and(|directory| !directory.exists())
}

fn is_pointer(found: &Metadata) -> bool {
    found.is_file() && found.len() <= MAX_POINTER_BYTES
}

fn read_line(file: &Path, metadata: &Metadata) -> io::Result<String> {
    if !is_pointer(metadata) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(std::fs::read_to_string(file)?.trim().to_owned())
}

/// Recognizes the other worktrees of one repository.
#[derive(Clone, Debug, Default)]
pub struct Worktrees {
    /// The repository's common directory, without links; `None` without git.
    common: Option<PathBuf>,
}

impl Worktrees {
    /// Recognizes the worktrees of the repository that `root` is, or is in.
    pub fn find(root: &Path) -> Self {
        Self { common: directory(root).and_then(|(_, directory)| canonical(&common_directory(&directory)).ok()) }
    }

    /// Whether a folder below the root is the root of another worktree: its `.git` is the common directory, or a file that
    /// names one of `worktrees/` there, even if that no longer exists. A submodule's names one of `modules/`.
    pub fn include(&self, folder: &Path) -> bool {
        let Some(common) = &self.common else { return false };
        let git = folder.join(".git");
        let Ok(found) = std::fs::symlink_metadata(&git) else { return false };
        if !found.is_file() {
            return canonical(&git).is_ok_and(|directory| directory == *common);
        }
        let Ok(target) = pointed_to(folder, &git, &found) else { return false };
        resolved(&target).is_some_and(|target| target.parent() == Some(&common.join("worktrees")))
    }

    /// Whether `path`, relative to `root`, is another worktree or is in one.
    pub fn hold(&self, root: &Path, path: &Path) -> bool {
        if self.common.is_none() {
            return false;
        }
        let mut folder = root.to_path_buf();
        path.iter().any(|name| {
            folder.push(name);
            self.include(&folder)
        })
    }
}

/// A path without links. Its last two names need not exist: they go when git forgets a worktree that was moved.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = canonical(path) {
        return Some(found);
    }
    let (above, name) = (path.parent()?, path.file_name()?);
    if let Ok(found) = canonical(above) {
        return Some(found.join(name));
    }
    Some(canonical(above.parent()?).ok()?.join(above.file_name()?).join(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A repository with a common directory, and a folder in it with that `.git` file.
    fn included(text: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let root = canonical(dir.path()).unwrap();
        for part in ["worktrees/known", "objects", "refs"] {
            fs::create_dir_all(root.join(".git").join(part)).unwrap();
        }
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(root.join("in/x")).unwrap();
        fs::write(root.join("in/x/.git"), text.replace("ROOT", root.to_str().unwrap())).unwrap();
        let worktrees = Worktrees::find(&root);
        assert_eq!(worktrees.include(&root.join("in/x")), worktrees.hold(&root, Path::new("in/x/deep/a.rs")));
        assert!(!worktrees.hold(&root, Path::new("in/a.rs")));
        worktrees.include(&root.join("in/x"))
    }

    #[test]
    fn only_files_that_name_a_worktree_of_the_common_directory_make_one() {
        for text in [
            "gitdir: ROOT/.git/worktrees/known\n",
            "gitdir: ../../.git/worktrees/known",
            "gitdir:../../.git/worktrees/forgotten",
            "gitdir: ROOT/in/../.git/./worktrees//known\r\n",
        ] {
            assert!(included(text), "{text:?}");
        }
        let long = format!("gitdir: {}ROOT/.git/worktrees/known", "./".repeat(20_000));
        for text in [
            "",
            "gitdir:",
            "gitdir: ",
            "gitdir: .",
            "gitdir: .git",
            "gitdir: ../x/.git",
            "gitdir: /",
            "gitdir: /etc/passwd",
            "gitdir: ROOT/.git",
            "gitdir: ROOT/.git/worktrees",
            "gitdir: ROOT/.git/worktrees/known/deeper",
            "gitdir: ROOT/.git/modules/known",
            "gitdir: ROOT/.git/worktrees/../modules/x",
            "gitdir: ROOT/nowhere/.git/worktrees/known",
            "gitdir: ROOT/.git/worktrees/a\0b/c",
            "ROOT/.git/worktrees/known",
            &long,
        ] {
            assert!(!included(text), "{text:?}");
        }
    }

    /// A folder with a repository in `main`, and a worktree of it in `tree`, linked as git does it.
    fn linked() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = canonical(dir.path()).unwrap();
        for part in ["worktrees/tree", "objects", "refs"] {
            fs::create_dir_all(root.join("main/.git").join(part)).unwrap();
        }
        fs::create_dir(root.join("tree")).unwrap();
        fs::write(root.join("main/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let directory = root.join("main/.git/worktrees/tree");
        fs::write(directory.join("HEAD"), "ref: refs/heads/other\n").unwrap();
        fs::write(directory.join("commondir"), "../..\n").unwrap();
        fs::write(directory.join("gitdir"), format!("{}\n", root.join("tree/.git").display())).unwrap();
        fs::write(root.join("tree/.git"), format!("gitdir: {}\n", directory.display())).unwrap();
        (dir, root)
    }

    #[test]
    fn worktrees_that_are_linked_in_both_directions_are_siblings() {
        let (_dir, root) = linked();
        assert_eq!(siblings(&root.join("main")), [root.join("tree")]);
        assert_eq!(siblings(&root.join("tree")), [root.join("main")]);
        // As `worktree.useRelativePaths` has it.
        fs::write(root.join("tree/.git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
        fs::write(root.join("main/.git/worktrees/tree/gitdir"), "../../../../tree/.git\n").unwrap();
        assert_eq!(siblings(&root.join("tree")), [root.join("main")]);
    }

    #[test]
    fn a_link_in_one_direction_makes_no_sibling() {
        // An archive that names a private repository, in each way.
        let (_dir, root) = linked();
        let fake = root.join("fake");
        fs::create_dir(&fake).unwrap();
        fs::write(fake.join(".git"), format!("gitdir: {}\n", root.join("main/.git/worktrees/tree").display())).unwrap();
        assert_eq!(siblings(&fake), Vec::<PathBuf>::new(), "its .git file names a directory of another worktree");
        fs::write(fake.join(".git"), format!("gitdir: {}\n", root.join("main/.git").display())).unwrap();
        assert_eq!(siblings(&fake), Vec::<PathBuf>::new(), "its .git file names the common directory");
        fs::remove_file(fake.join(".git")).unwrap();
        fs::create_dir_all(fake.join(".git/worktrees/x")).unwrap();
        fs::write(fake.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(fake.join(".git/worktrees/x/gitdir"), root.join("main/.git").to_str().unwrap()).unwrap();
        assert_eq!(siblings(&fake), Vec::<PathBuf>::new(), "it has a common directory that names the repository");
        fs::write(fake.join(".git/worktrees/x/gitdir"), root.join("tree/.git").to_str().unwrap()).unwrap();
        assert_eq!(siblings(&fake), Vec::<PathBuf>::new(), "or another worktree");
        fs::write(fake.join(".git/commondir"), root.join("main/.git").to_str().unwrap()).unwrap();
        assert_eq!(siblings(&fake), Vec::<PathBuf>::new(), "or a common directory that is elsewhere");
        assert_eq!(siblings(&root.join("main")), [root.join("tree")]);
        assert_eq!(siblings(&root.join("tree")), [root.join("main")]);
    }

    #[test]
    fn links_that_dangle_or_form_a_cycle_make_no_sibling() {
        let (_dir, root) = linked();
        let gitdir = root.join("main/.git/worktrees/tree/gitdir");
        for text in ["", "/nowhere/.git", "..", "gitdir", "\0", "../../../../tree"] {
            fs::write(&gitdir, text).unwrap();
            assert!(siblings(&root.join("main")).is_empty() && siblings(&root.join("tree")).is_empty(), "{text:?}");
        }
        let (_dir, root) = linked();
        fs::rename(root.join("tree"), root.join("moved")).unwrap();
        assert!(siblings(&root.join("main")).is_empty() && siblings(&root.join("moved")).is_empty());
    }

    #[test]
    fn a_common_directory_in_a_cycle_makes_no_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let root = canonical(dir.path()).unwrap();
        fs::create_dir_all(root.join("git/worktrees/a")).unwrap();
        fs::write(root.join("git/worktrees/a/HEAD"), "").unwrap();
        fs::write(root.join("git/worktrees/a/commondir"), "../a/../a/commondir/..").unwrap();
        fs::write(root.join(".git"), "gitdir: git/worktrees/a").unwrap();
        fs::create_dir(root.join("x")).unwrap();
        fs::write(root.join("x/.git"), "gitdir: ../git/worktrees/a").unwrap();
        assert!(!Worktrees::find(&root).include(&root.join("x")));
    }
}
