//! Git's configuration of a repository: the system's files, the user's, the repository's and the work tree's, with what they
//! include, read as `config.c` of git 2.47 reads them.
//!
//! Owns the order of files, the conditions of includes, and paths that begin at a home folder. Git itself is never run, and the
//! variables `GIT_CONFIG_*` are not read. Does not own the syntax (`git_settings`), or what a setting means. `gix-config` was compared
//! with git: it adds what a file includes behind the whole section, opens included files of any kind and size, and brings a reader
//! of references along.

use std::fs;
use std::path::{Path, PathBuf};

use crate::git_layout::{self, Head};
use crate::git_settings::{GitSettings, MAX_BYTES, parse};
use crate::platform::files::read_regular;
use crate::platform::paths::{canonical, of_git};
use crate::wildmatch::{self, Mode};

/// Git allows as many includes in each other.
const MAX_DEPTH: usize = 10;
/// Files that one configuration may include.
const MAX_FILES: usize = 500;

/// Where git finds the files that are not the repository's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFolders {
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, if it is set.
    pub xdg: Option<PathBuf>,
    /// The folder where git is installed: its program is in `bin` there.
    pub prefix: Option<PathBuf>,
    /// `GIT_CONFIG_GLOBAL`: the only file of the user.
    pub global: Option<PathBuf>,
    /// `GIT_CONFIG_SYSTEM`: the file of the machine.
    pub system: Option<PathBuf>,
    /// `GIT_CONFIG_NOSYSTEM`: the machine has no file.
    pub has_no_system: bool,
}

impl UserFolders {
    /// A file of the user in the folder `git` of configuration.
    pub fn git_file(&self, name: &str) -> Option<PathBuf> {
        let folder = self.xdg.clone().or_else(|| Some(self.home.as_ref()?.join(".config")))?;
        Some(folder.join("git").join(name))
    }

    fn system_file(&self) -> PathBuf {
        if let Some(named) = &self.system {
            return named.clone();
        }
        let own = self.prefix.as_ref().filter(|prefix| *prefix != Path::new("/usr"));
        own.map_or_else(|| PathBuf::from("/etc/gitconfig"), |prefix| prefix.join("etc/gitconfig"))
    }

    /// A path as settings have it: `~/x`, `~user/x` and `%(prefix)/x` begin at folders. `None`: there is no such folder.
    pub fn expanded(&self, path: &[u8]) -> Option<PathBuf> {
        if let Some(rest) = path.strip_prefix(b"%(prefix)/") {
            return Some(self.prefix.as_deref().unwrap_or(Path::new("/usr")).join(of_git(rest)));
        }
        let Some(rest) = path.strip_prefix(b"~") else { return Some(of_git(path).to_owned()) };
        let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
        let (name, below) = rest.split_at(end);
        let home = if name.is_empty() { self.home.clone()? } else { home_of(name)? };
        Some(home.join(of_git(below.strip_prefix(b"/").unwrap_or(below))))
    }
}

/// The home folder of a user, by name.
fn home_of(name: &[u8]) -> Option<PathBuf> {
    let passwd = fs::read("/etc/passwd").ok()?;
    let mut users = passwd.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':'));
    let mut fields = users.find(|fields| fields.clone().next() == Some(name))?;
    Some(of_git(fields.nth(5)?).to_owned())
}

/// The directories of git for a work tree.
#[derive(Clone, Debug)]
pub struct Directories {
    /// The top folder of the work tree.
    pub top: PathBuf,
    /// `.git`, or the directory that a file of that name leads to.
    pub own: PathBuf,
    /// The directory that all worktrees share.
    pub common: PathBuf,
}

impl Directories {
    /// Finds the directories of the work tree that `root` is, or is in.
    pub fn around(root: &Path) -> Option<Self> {
        let (top, own) = git_layout::directory(root)?;
        let common = git_layout::common_directory(&own);
        Some(Self { top, own, common })
    }
}

/// Settings in the order in which git reads them.
#[derive(Clone, Debug, Default)]
pub struct GitConfig {
    values: GitSettings,
    /// All files whose change may change a setting, also those that do not exist.
    pub files: Vec<PathBuf>,
    /// Files that were passed over, with the reason.
    pub problems: Vec<String>,
}

impl GitConfig {
    /// Reads the settings of a repository, or those without one.
    pub fn read(user: &UserFolders, repository: Option<&Directories>) -> Self {
        let first = Reading::all(user, repository, None);
        if !first.depends_on_remotes {
            return first.config;
        }
        let is_url = |key: &[u8]| key.strip_prefix(b"remote.").is_some_and(|rest| rest.ends_with(b".url"));
        let remotes = first.config.values.into_values().filter(|(key, _)| is_url(key));
        let urls = remotes.filter_map(|(_, url)| url).collect();
        Reading::all(user, repository, Some(urls)).config
    }

    /// The last value of a key.
    pub fn text(&self, key: &str) -> Option<&[u8]> {
        self.values.text(key)
    }

    /// Whether a key is set to a true value.
    pub fn is_true(&self, key: &str) -> bool {
        self.values.is_true(key)
    }
}

/// One pass over all files.
struct Reading<'a> {
    user: &'a UserFolders,
    repository: Option<&'a Directories>,
    /// The addresses of remotes; before they are known, each condition on them holds.
    urls: Option<Vec<Vec<u8>>>,
    depends_on_remotes: bool,
    config: GitConfig,
    /// The files that are being read, each included by the one before it.
    open: Vec<PathBuf>,
    count: usize,
}

impl<'a> Reading<'a> {
    fn all(user: &'a UserFolders, repository: Option<&'a Directories>, urls: Option<Vec<Vec<u8>>>) -> Self {
        let config = GitConfig::default();
        let mut reading =
            Self { user, repository, urls, depends_on_remotes: false, config, open: Vec::new(), count: 0 };
        let of_user = match &user.global {
            Some(named) => [Some(named.clone()), None],
            None => [user.git_file("config"), user.home.as_ref().map(|home| home.join(".gitconfig"))],
        };
        let of_machine = (!user.has_no_system).then(|| user.system_file());
        for file in of_machine.into_iter().chain(of_user.into_iter().flatten()) {
            reading.read(&file);
        }
        if let Some(repository) = repository {
            reading.read(&repository.common.join("config"));
            if git_layout::format(&repository.common).is_true("extensions.worktreeconfig") {
                reading.read(&repository.own.join("config.worktree"));
            }
        }
        reading
    }

    fn read(&mut self, file: &Path) {
        self.count += 1;
        let shown = file.to_string_lossy();
        if self.open.iter().any(|open| open == file) {
            return self.config.problems.push(format!("{shown} includes itself"));
        }
        if self.open.len() > MAX_DEPTH || self.count > MAX_FILES {
            return self.config.problems.push(format!("{shown}: too many files include each other"));
        }
        self.config.files.push(file.to_owned());
        let bytes = match read_regular(file, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return,
            Err(error) => return self.config.problems.push(format!("{shown} is not read: {error}")),
        };
        self.open.push(file.to_owned());
        if let Err(line) = parse(&bytes, &mut |key, value| self.note(file, key, value)) {
            self.config.problems.push(format!("{shown} is not valid from line {line} on"));
        }
        self.open.pop();
    }

    fn note(&mut self, file: &Path, key: &[u8], value: Option<Vec<u8>>) {
        let condition = key.strip_prefix(b"includeif.").and_then(|rest| rest.strip_suffix(b".path"));
        let includes = key == b"include.path" || condition.is_some_and(|condition| self.holds(condition, file));
        let path = value.as_ref().filter(|_| includes).map(|path| self.user.expanded(path));
        self.config.values.push(key, value);
        match path {
            Some(Some(path)) => self.read(&file.parent().unwrap_or(Path::new("/")).join(path)),
            Some(None) => {
                let shown = file.to_string_lossy();
                self.config.problems.push(format!("{shown} includes a file of a home folder that is not known"));
            }
            None => {}
        }
    }

    /// Whether the condition of an `includeIf` holds.
    fn holds(&mut self, condition: &[u8], file: &Path) -> bool {
        if let Some(pattern) = condition.strip_prefix(b"gitdir:") {
            return self.is_directory(pattern, file, false);
        }
        if let Some(pattern) = condition.strip_prefix(b"gitdir/i:") {
            return self.is_directory(pattern, file, true);
        }
        let mode = Mode { is_path: true, folds_case: false };
        if let Some(pattern) = condition.strip_prefix(b"onbranch:") {
            let Some(repository) = self.repository else { return false };
            self.config.files.push(repository.own.join("HEAD"));
            let Some(Head::Branch(branch)) = git_layout::head(&repository.top) else { return false };
            return wildmatch::matches(&of_folder(pattern), branch.as_bytes(), mode);
        }
        let Some(pattern) = condition.strip_prefix(b"hasconfig:remote.*.url:") else { return false };
        self.depends_on_remotes = true;
        let matches = |url: &Vec<u8>| wildmatch::matches(pattern, url, mode);
        self.urls.as_ref().is_none_or(|urls| urls.iter().any(matches))
    }

    fn is_directory(&self, pattern: &[u8], file: &Path, folds_case: bool) -> bool {
        let Some(repository) = self.repository else { return false };
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        // What is before this many bytes is not a glob.
        let mut literal = 0;
        let mut whole = match pattern.strip_prefix(b"~/").zip(self.user.home.as_ref()) {
            Some((rest, home)) => {
                let home = canonical(home).unwrap_or_else(|_| home.clone());
                [bytes(&home), b"/".to_vec(), rest.to_vec()].concat()
            }
            None => self.user.expanded(pattern).map_or_else(|| pattern.to_vec(), |path| bytes(&path)),
        };
        // A path loses the slash at its end.
        if pattern.ends_with(b"/") && !whole.ends_with(b"/") {
            whole.push(b'/');
        }
        if let Some(rest) = pattern.strip_prefix(b"./") {
            let real = canonical(file).unwrap_or_else(|_| file.to_owned());
            let folder = bytes(real.parent().unwrap_or(Path::new("/")));
            literal = folder.len() + 1;
            whole = [folder, b"/".to_vec(), rest.to_vec()].concat();
        } else if !whole.starts_with(b"/") && !of_git(&whole).is_absolute() {
            whole = [b"**/".to_vec(), whole].concat();
        }
        let whole = of_folder(&whole);
        let mode = Mode { is_path: true, folds_case };
        let is_equal = |a: &[u8], b: &[u8]| if folds_case { a.eq_ignore_ascii_case(b) } else { a == b };
        let matches = |directory: &Path| {
            let directory = bytes(directory);
            directory.split_at_checked(literal).is_some_and(|(start, rest)| {
                is_equal(start, &whole[..literal]) && wildmatch::matches(&whole[literal..], rest, mode)
            })
        };
        // A directory that a file names has no links for git.
        let is_linked = repository.own != repository.top.join(".git");
        canonical(&repository.own).is_ok_and(|real| matches(&real)) || (!is_linked && matches(&repository.own))
    }
}

/// A folder means everything in it.
fn of_folder(pattern: &[u8]) -> Vec<u8> {
    let mut pattern = pattern.to_vec();
    if pattern.ends_with(b"/") {
        pattern.extend(b"**");
    }
    pattern
}

/// Whether there is no such file, which is not worth a word.
pub fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
