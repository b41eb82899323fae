//! The repositories that a call names: a path, a list of paths, a glob of paths, a group, dependencies, published ones.
//!
//! Owns how those are written and which repositories they are. Does not own what is asked of them (`tools`), or which
//! folders may be repositories (`scan`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use globset::{GlobBuilder, GlobMatcher};

use super::workspaces::Workspaces;
use crate::budget::Budget;
use crate::config::{DEPENDENCIES, Groups, ServerAddress, groups, organisation};
use crate::dependencies::{self, Dependency};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{first_of, printable};
use crate::organisation::{self, Answers, Mirror, MirrorRequest, mirrors, own_names};
use crate::platform::files::is_own;
use crate::platform::paths::canonical;
use crate::platform::process::raise_file_limit;
use crate::repository::{dependency_indexes, folder};
use crate::wording::{Argument, Command};

/// The maximum number of repositories of one call.
pub const MAX_MEMBERS: usize = 512;
/// More open indexes than this may exceed the usual limit of open files.
const MANY: usize = 64;
/// Folders that a glob may look at.
const MAX_LOOKED_AT: usize = 20_000;
/// Characters of a name that an error shows.
const MAX_SHOWN: usize = 200;

/// Prefix of a group's name.
const GROUP: char = '@';
/// Dependencies that an error names.
const MAX_NAMED: usize = 5;
/// Prefix of a pattern of names of published repositories.
const PUBLISHED: &str = "org:";
/// The share of the time of a call in which published repositories must be there.
const HALF: u32 = 2;

/// The repositories of a call.
#[derive(Debug, Default)]
pub struct Members {
    /// Their roots in the order of their names, each once.
    pub roots: Vec<PathBuf>,
    /// Published repositories among them, by their roots.
    pub published: BTreeMap<PathBuf, Mirror>,
    /// Names that cannot be asked, with the reason.
    pub failed: Vec<(String, Error)>,
    /// Whether published repositories were named. Local ones may answer for all of them.
    pub names_published: bool,
    /// How many published repositories are named that have nothing that is wanted.
    pub without: usize,
    /// Whether the mirrors of published repositories may lack files that are not wanted.
    pub in_parts: bool,
}

impl Members {
    /// The names of all that can be asked, as `repo` takes them.
    pub fn names(&self) -> Vec<String> {
        self.roots.iter().map(|root| self.name(root)).collect()
    }

    /// A repository as answers name it, and as `repo` takes it.
    pub fn name(&self, root: &Path) -> String {
        name_of(root, &self.published)
    }

    /// The root if one repository is named; an error if that cannot be asked.
    pub fn only(&mut self) -> Result<Option<PathBuf>> {
        match (&self.roots[..], self.failed.len()) {
            ([root], 0) => Ok(Some(root.clone())),
            ([], 1..) => Err(self.failed.swap_remove(0).1),
            _ => Ok(None),
        }
    }
}

/// A repository as answers name it: a published one by its name, any other by its root.
pub fn name_of(root: &Path, published: &BTreeMap<PathBuf, Mirror>) -> String {
    match published.get(root) {
        Some(mirror) => format!("{PUBLISHED}{}", mirror.name),
        None => root.to_string_lossy().into_owned(),
    }
}

/// State while names are read.
struct Gathering<'g> {
    connection: &'g Path,
    budget: &'g Budget,
    groups: Option<Groups>,
    /// Groups that are being read, and those that were.
    within: Vec<String>,
    read: BTreeSet<String>,
    roots: BTreeSet<PathBuf>,
    wanted: &'g MirrorRequest,
    /// Patterns of published repositories.
    patterns: BTreeSet<String>,
    failed: Vec<(String, Error)>,
}

impl Workspaces {
    /// Whether what a call names may be several repositories.
    pub fn may_be_several(&self, named: &[String], connection: &Path) -> bool {
        match named {
            [] => false,
            [one] => {
                one.starts_with(GROUP)
                    || one.starts_with(PUBLISHED)
                    || (is_glob(one) && !self.path_of(one, connection).is_dir())
            }
            _ => true,
        }
    }

    /// The path that a text names: relative to the connection's folder, or below `~`.
    pub(super) fn path_of(&self, text: &str, connection: &Path) -> PathBuf {
        let home = self.environment().home();
        let below_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (below_home, home) {
            (Some(rest), Some(home)) if !connection.join(text).exists() => home.join(rest.trim_start_matches('/')),
            _ => connection.join(text),
        }
    }

    /// The repositories that a call names. One that may not be named, or does not exist, is among those that failed. An
    /// error if the names themselves are wrong.
    pub fn members(&self, named: &[String], connection: &Path, budget: &Budget) -> Result<Members> {
        self.members_with(named, &MirrorRequest::Everything, connection, budget)
    }

    /// Returns the repositories that a call names, if it needs a part of their files. Of many published repositories,
    /// only those with such files are included.
    pub fn members_with(
        &self,
        named: &[String],
        wanted: &MirrorRequest,
        connection: &Path,
        budget: &Budget,
    ) -> Result<Members> {
        let mut gathering = Gathering {
            connection,
            budget,
            wanted,
            groups: None,
            within: Vec::new(),
            read: BTreeSet::new(),
            roots: BTreeSet::new(),
            patterns: BTreeSet::new(),
            failed: Vec::new(),
        };
        for name in named {
            self.gather(name, &mut gathering)?;
        }
        let (published, without, in_parts) = self.gather_published(&mut gathering);
        let Gathering { mut roots, patterns, mut failed, .. } = gathering;
        roots.extend(published.keys().cloned());
        if roots.len() + failed.len() > MAX_MEMBERS {
            let count = roots.len() + failed.len();
            return Err(Error::invalid_argument((Argument("repo"), format!(" names {count} repositories")))
                .hint(format!("Name at most {MAX_MEMBERS}.")));
        }
        if roots.len() > MANY {
            // Each open index takes a few files.
            raise_file_limit();
        }
        failed.sort_by(|(one, _), (other, _)| one.cmp(other));
        failed.dedup_by(|(one, _), (other, _)| one == other);
        // The folders of mirrors have random names.
        let mut roots: Vec<PathBuf> = roots.into_iter().collect();
        roots.sort_by_cached_key(|root| name_of(root, &published));
        Ok(Members { roots, published, failed, names_published: !patterns.is_empty(), without, in_parts })
    }

    /// The published repositories that are named, how many others have nothing that is wanted, and whether the mirrors may lack files
    /// that are not wanted. If one was published from a repository in scope or from the connection's repository, the local repository
    /// answers instead: it has changes that are not published. It does even if the server does not answer.
    fn gather_published(&self, gathering: &mut Gathering) -> (BTreeMap<PathBuf, Mirror>, usize, bool) {
        let Gathering { connection, budget, roots, wanted, patterns, failed, .. } = gathering;
        let mut published = BTreeMap::new();
        if patterns.is_empty() {
            return (published, 0, false);
        }
        let mut own = BTreeMap::new();
        let answers = self.server().and_then(|server| {
            let candidates = self.root(connection).ok().into_iter().chain(roots.iter().cloned());
            own = own_names(&server, self.environment(), candidates)?;
            let now = Instant::now();
            // The rest of the time of the call is left for the answer.
            let end = budget.deadline().map(|end| now + end.saturating_duration_since(now) / HALF);
            let budget = budget.with_deadline(end);
            let most = |named: &[String]| {
                let local: BTreeSet<&PathBuf> =
                    roots.iter().chain(named.iter().filter_map(|name| own.get(name))).collect();
                MAX_MEMBERS.saturating_sub(local.len() + failed.len())
            };
            mirrors(&server, self.environment(), patterns, &own, wanted, &most, &budget)
        });
        match answers {
            Ok(Answers { mirrors, own: named, without, in_parts }) => {
                roots.extend(named.iter().filter_map(|name| own.remove(name)));
                for (name, mirror) in mirrors {
                    match mirror {
                        Ok(mirror) => drop(published.insert(mirror.root.clone(), mirror)),
                        Err(error) => failed.push((shown(&format!("{PUBLISHED}{name}")), error)),
                    }
                }
                (published, without, in_parts)
            }
            Err(error) => {
                if matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Timeout) {
                    let is_named = |name: &String| patterns.iter().any(|pattern| organisation::matches(pattern, name));
                    roots.extend(own.into_iter().filter(|(name, _)| is_named(name)).map(|(_, root)| root));
                }
                let named = patterns.iter().map(|pattern| shown(&format!("{PUBLISHED}{pattern}")));
                failed.push((named.collect::<Vec<_>>().join(", "), error));
                (published, 0, false)
            }
        }
    }

    /// The server that is searched.
    fn server(&self) -> Result<ServerAddress> {
        organisation(self.environment(), None).map_err(|error| match error.hint {
            Some(ref hint) if hint.to_string().contains("--to") => {
                error.hint("Set IXMCP_ORG_URL to the address of the one to search.")
            }
            _ => error,
        })
    }

    fn gather(&self, name: &str, gathering: &mut Gathering) -> Result<()> {
        if let Some(group) = name.strip_prefix(GROUP) {
            return match group.strip_prefix(DEPENDENCIES).map(|rest| (rest, rest.strip_prefix('/'))) {
                Some(("", _)) => self.gather_dependencies(name, None, gathering),
                Some((_, Some(package))) => self.gather_dependencies(name, Some(package), gathering),
                _ => self.gather_group(group, gathering),
            };
        }
        if let Some(pattern) = name.strip_prefix(PUBLISHED) {
            gathering.patterns.insert(pattern.to_owned());
            return Ok(());
        }
        let path = self.path_of(name, gathering.connection);
        if is_glob(name) && !path.is_dir() {
            return self.gather_glob(name, &path, gathering);
        }
        match self.root_of(Some(name), gathering.connection) {
            Ok(root) => drop(gathering.roots.insert(root)),
            Err(error) => gathering.failed.push((shown(name), error)),
        }
        Ok(())
    }

    /// Adds the indexed dependencies of the connection's repository: all of them, or the packages of one name.
    fn gather_dependencies(&self, name: &str, package: Option<&str>, gathering: &mut Gathering) -> Result<()> {
        let environment = self.environment();
        let own = self.root(gathering.connection)?;
        let mut found = dependencies::list(&own, environment);
        gathering.budget.check()?;
        if let Some(package) = package {
            found.retain(|one| is_named_by(one, package));
            if found.is_empty() {
                let what = format!("this repository does not depend on {}", shown(package));
                return Err(Error::invalid_argument(what).hint((Command("deps --list"), " lists what it depends on.")));
            }
        }
        let mut unindexed = Vec::new();
        let mut left_out = 0;
        for one in &found {
            match &one.sources {
                Ok(root) if self.is_dependency(root) && self.is_indexed(root) => {
                    if gathering.roots.len() >= MAX_MEMBERS - 1 && !gathering.roots.contains(root) {
                        left_out += 1;
                        continue;
                    }
                    dependency_indexes::note_use(root, environment);
                    gathering.roots.insert(root.clone());
                }
                Ok(_) if one.is_direct || package.is_some() => unindexed.push(one.name.as_str()),
                Err(reason) if package.is_some() => {
                    let error = Error::new(ErrorKind::IndexNotFound, *reason);
                    gathering.failed.push((shown(name), error.hint("Install it with its package manager.")));
                }
                _ => {}
            }
        }
        unindexed.dedup();
        if !unindexed.is_empty() {
            let names = first_of(&unindexed, MAX_NAMED);
            let error = Error::new(ErrorKind::IndexNotFound, format!("not indexed: {names}"));
            gathering
                .failed
                .push((shown(name), error.hint((Command("deps"), " indexes what this repository depends on."))));
        } else if left_out > 0 {
            let what = format!("{left_out} dependencies were not searched: a call takes {MAX_MEMBERS} repositories");
            let error = Error::invalid_argument(what).hint("Name one: @deps/NAME.");
            gathering.failed.push((shown(name), error));
        } else if gathering.roots.is_empty() && gathering.failed.is_empty() {
            let what = "this repository depends on nothing whose sources are on this machine";
            let error = Error::new(ErrorKind::IndexNotFound, what);
            gathering.failed.push((shown(name), error.hint((Command("deps --list"), " says what was looked for."))));
        }
        Ok(())
    }

    fn gather_group(&self, group: &str, gathering: &mut Gathering) -> Result<()> {
        if gathering.within.iter().any(|around| around == group) {
            let mut cycle: Vec<String> = gathering.within.iter().map(|name| shown(&format!("@{name}"))).collect();
            cycle.push(shown(&format!("@{group}")));
            return Err(Error::invalid_argument(format!("the groups form a cycle: {}", cycle.join(" -> ")))
                .hint("Correct [groups] in config.toml."));
        }
        if gathering.read.contains(group) {
            return Ok(());
        }
        if gathering.groups.is_none() {
            gathering.groups = Some(groups(self.environment())?);
        }
        let known = gathering.groups.as_ref();
        let Some(members) = known.and_then(|groups| groups.get(group)).cloned() else {
            let names: Vec<&str> = known.into_iter().flat_map(|groups| groups.keys().map(String::as_str)).collect();
            return Err(unknown_group(group, &names, self.environment().user_file().as_deref()));
        };
        if members.is_empty() {
            return Err(Error::invalid_argument(format!("the group {} is empty", shown(&format!("@{group}"))))
                .hint("Add repositories to it in config.toml."));
        }
        gathering.within.push(group.to_owned());
        for member in &members {
            // Paths of a group are relative to the home folder: the file that defines it belongs to no repository.
            let absolute = self.environment().home().map_or_else(|| PathBuf::from(member), |home| home.join(member));
            let is_path = !member.starts_with([GROUP, '~']) && !member.starts_with(PUBLISHED);
            let is_relative = is_path && Path::new(member).is_relative();
            let absolute = absolute.to_string_lossy();
            self.gather(if is_relative { &absolute } else { member }, gathering)?;
        }
        gathering.within.pop();
        gathering.read.insert(group.to_owned());
        Ok(())
    }

    /// Adds the repositories that a glob matches and that are indexed.
    fn gather_glob(&self, name: &str, path: &Path, gathering: &mut Gathering) -> Result<()> {
        let folders = folders_matching(name, path, gathering.budget)?;
        let mut is_any = false;
        for folder in &folders {
            gathering.budget.check()?;
            // `/`, homes and folders of the system are never repositories.
            let Ok(root) = self.root(folder) else { continue };
            let is_root = canonical(folder).is_ok_and(|folder| folder == root);
            if is_root && self.is_indexed(&root) {
                is_any = true;
                gathering.roots.insert(root);
            }
        }
        if !is_any {
            let what = match folders.len() {
                0 => "no folder matches it".to_owned(),
                1 => "it matches one folder, which is not an indexed repository".to_owned(),
                count => format!("it matches {count} folders, none of which is an indexed repository"),
            };
            let error = Error::new(ErrorKind::IndexNotFound, what);
            gathering.failed.push((shown(name), error.hint((Command("sync --repo PATH"), " indexes a repository."))));
        }
        Ok(())
    }

    /// Whether this user has an index of the repository at `root`.
    pub fn is_indexed(&self, root: &Path) -> bool {
        let database = folder::database(root, self.environment());
        fs::symlink_metadata(database).is_ok_and(|data| data.is_file() && is_own(&data))
    }
}

/// Whether `@deps/NAME` or `@deps/NAME@VERSION` names the dependency.
fn is_named_by(one: &Dependency, named: &str) -> bool {
    // The name of an npm package may begin with `@`.
    let (name, version) = match named.rfind('@').filter(|at| *at > 0) {
        Some(at) => (&named[..at], Some(&named[at + 1..])),
        None => (named, None),
    };
    one.name.eq_ignore_ascii_case(name) && version.is_none_or(|version| version == one.version)
}

/// Whether a text has the special characters of a glob.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn shown(name: &str) -> String {
    printable(name).chars().take(MAX_SHOWN).collect()
}

fn unknown_group(group: &str, known: &[&str], file: Option<&Path>) -> Error {
    let file = file.map_or_else(|| "config.toml".to_owned(), |file| printable(&file.to_string_lossy()));
    let hint = if known.is_empty() {
        format!("Define it under [groups] in {file}. A folder of that name is ./@NAME.")
    } else {
        format!("Groups in {file}: {}.", first_of(known, 8))
    };
    Error::invalid_argument(format!("there is no group {}", shown(&format!("@{group}")))).hint(hint)
}

/// The folders that a glob matches, component by component, in order. A component without special characters is taken as it
/// is; `*` does not match a leading dot.
fn folders_matching(name: &str, path: &Path, budget: &Budget) -> Result<Vec<PathBuf>> {
    let invalid = |what: String, hint: &str| {
        Error::invalid_argument((Argument("repo"), format!(": the glob {:?} {what}", shown(name)))).hint(hint)
    };
    let mut folders = vec![PathBuf::new()];
    let mut looked_at = 0;
    for component in path.components() {
        let text = component.as_os_str().to_string_lossy();
        if !matches!(component, Component::Normal(_)) || !is_glob(&text) {
            folders.iter_mut().for_each(|folder| folder.push(component));
            continue;
        }
        if text.contains("**") {
            return Err(invalid("contains `**`".to_owned(), "A glob of repositories names each level: ~/src/*/api."));
        }
        let matcher = matcher(&text)
            .map_err(|error| invalid(format!("is not valid: {}", error.kind()), "Correct it, or list the paths."))?;
        let mut matching = Vec::new();
        for folder in &folders {
            // One that cannot be read matches nothing.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                looked_at += 1;
                if looked_at > MAX_LOOKED_AT {
                    let what = format!("looks at more than {MAX_LOOKED_AT} folders and files");
                    return Err(invalid(what, "Use one that begins with a folder of few entries, or list the paths."));
                }
                if looked_at % 1_000 == 0 {
                    budget.check()?;
                }
                let entry_name = entry.file_name();
                let is_hidden = entry_name.to_string_lossy().starts_with('.') && !text.starts_with('.');
                if !is_hidden && matcher.is_match(Path::new(&entry_name)) && entry.path().is_dir() {
                    matching.push(entry.path());
                }
            }
        }
        matching.sort();
        folders = matching;
    }
    folders.retain(|folder| folder.is_dir());
    Ok(folders)
}

fn matcher(component: &str) -> Result<GlobMatcher, globset::Error> {
    Ok(GlobBuilder::new(component).literal_separator(true).build()?.compile_matcher())
}
