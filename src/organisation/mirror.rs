//! Published repositories as folders of files in the user's cache, which are indexed and searched like all others.
//!
//! Owns what is fetched, and that nothing stays of a repository that the caller cannot read any more: each call lists what is
//! visible first. A text is fetched once, and checked against its key; paths and sizes are the server's word and bounded. Does not
//! own what is read of more repositories than can be mirrored ([`parts`]), or how a folder is indexed (`update`).

mod parts;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use faster_hex::hex_string;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use self::parts::MirrorRequest;
use super::access::{Published, check_pattern, published};
use super::own::has_commit;
use super::published::path_of;
use super::transaction::Isolation;
use super::{Connection, LISTING_BYTES, address, pool};
use crate::budget::Budget;
use crate::config::{Environment, ServerAddress};
use crate::error::{Error, ErrorKind, Result};
use crate::model::RepoPath;
use crate::platform::own_folder;
use crate::platform::paths::canonical;
use crate::platform::random::secret;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::wording::Command;

const REPOSITORY: &str = "SELECT name, commit, generation, published_at, files, bytes FROM ixmcp.repositories($1)";
const FILES_OF: &str = "SELECT path, key, bytes FROM ixmcp.files_of($1)";
const TEXTS_OF: &str = "SELECT key, content FROM ixmcp.texts_of($1, $2)";

/// The folder of all mirrors, in the user's cache folder.
const FOLDER: &str = "organisations";
/// Bytes of text that one call may search, and that are kept.
const MAX_BYTES: i64 = 2 << 30;
/// Files of one repository.
const MAX_FILES: usize = 1_000_000;
/// Bytes of one text.
const MAX_TEXT: i64 = 64 << 20;
/// Bytes of an answer in addition to its texts.
const MARGIN_BYTES: u64 = 1 << 20;
/// Texts of one statement, and their bytes.
const TEXTS_AT_ONCE: usize = 200;
const BYTES_AT_ONCE: i64 = 4 << 20;
/// How often a mirror is brought up to date while others publish.
const ATTEMPTS: usize = 5;
const RETRY: Duration = Duration::from_millis(20);
/// Characters of a hash that name a file.
const HASH_LENGTH: usize = 32;
/// In the folder of a mirror while it has all its files; its text differs after each change. No published file has such a path.
const VERSION: &str = ".git/version";
/// When a mirror was used is recorded as precisely as this.
const USE_RECORDED: Duration = Duration::from_secs(60);

/// A repository as it is published. As long as this exists, no process changes its files.
#[derive(Debug)]
pub struct Mirror {
    pub root: PathBuf,
    pub name: String,
    pub commit: String,
    _reading: File,
}

/// Stored state of a mirror.
#[derive(Debug, Default, Deserialize, Serialize)]
struct State {
    name: String,
    /// The name of its folder. Each has another, because processes keep folders open.
    folder: String,
    commit: String,
    generation: i64,
    published_at: String,
    bytes: i64,
    /// Whether it has all files; for a part, all that were asked for.
    is_whole: bool,
    /// Whether it has only files that may have matched.
    #[serde(default)]
    is_part: bool,
}

/// Name of the files about a mirror. No repository has a name with a space.
fn id_of(name: &str, is_part: bool) -> String {
    if is_part { format!("{name} part") } else { name.to_owned() }
}

impl State {
    fn id(&self) -> String {
        id_of(&self.name, self.is_part)
    }

    /// Whether its folder is one of ours.
    fn is_possible(&self) -> bool {
        self.folder.len() == HASH_LENGTH && self.folder.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    fn is_of(&self, listed: &Published) -> bool {
        self.is_whole
            && self.generation == listed.generation
            && Some(&self.commit) == listed.commit.as_ref()
            && Some(&self.published_at) == listed.published_at.as_ref()
    }
}

/// Whether a folder is a mirror.
pub fn is_mirror(root: &Path, environment: &Environment) -> bool {
    let folder = environment.cache_folder().and_then(|cache| canonical(&cache.join(FOLDER)).ok());
    folder.is_some_and(|folder| root.starts_with(folder))
}

/// Reads the version that distinguishes the files of a mirror from all earlier ones. `None` while they are changed.
pub fn version_of_mirror(root: &Path) -> Option<String> {
    fs::read_to_string(root.join(VERSION)).ok()
}

/// The published repositories whose names match one of the patterns, up to date: each, or why it cannot be read. A pattern that
/// matches nothing is among those that cannot. Those in `own` are not fetched: local repositories answer for them. `most` says how many
/// others a call may have next to those; of more, only what is wanted.
pub fn mirrors(
    address: &ServerAddress,
    environment: &Environment,
    patterns: &BTreeSet<String>,
    own: &BTreeMap<String, PathBuf>,
    wanted: &MirrorRequest,
    most: &dyn Fn(&[String]) -> usize,
    budget: &Budget,
) -> Result<Answers> {
    patterns.iter().try_for_each(|pattern| check_pattern(pattern))?;
    let folder = folder_of(address, environment)?;
    let mut mirroring = Mirroring { connection: pool::take(address, budget)?, folder, environment, budget };
    let answers = mirroring.all(patterns, own, wanted, most);
    pool::keep(address, mirroring.connection);
    answers
}

/// The answers of [`mirrors`].
#[derive(Default)]
pub struct Answers {
    pub mirrors: Vec<(String, Result<Mirror>)>,
    /// Names from `own` that are wanted and that the caller can read.
    pub own: Vec<String>,
    /// How many others are named that have no file that is wanted.
    pub without: usize,
    /// Whether the mirrors may lack files that are not wanted.
    pub in_parts: bool,
}

/// The folder of the mirrors of one role of one server.
fn folder_of(server: &ServerAddress, environment: &Environment) -> Result<PathBuf> {
    let cache = environment.cache_folder().ok_or_else(|| {
        Error::new(ErrorKind::ReadOnly, "there is no cache folder for published repositories")
            .hint("Set HOME or XDG_CACHE_HOME.")
    })?;
    let config = address::target(server)?.config;
    let account = format!("{:?}", (config.get_hosts(), config.get_ports(), config.get_user(), config.get_dbname()));
    let folder = cache.join(FOLDER).join(hash(&account));
    let made = fs::create_dir_all(&cache).and_then(|()| own_folder::create_private(&cache.join(FOLDER)));
    made.and_then(|()| own_folder::create_private(&folder)).map_err(|error| Error::io("make", &folder, error))?;
    canonical(&folder).map_err(|error| Error::io("find", &folder, error))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..HASH_LENGTH].to_owned()
}

fn key_of(text: &[u8]) -> String {
    hex_string(&Sha256::digest(text))
}

/// Adds a mirror, or why it cannot be read.
fn push(answers: &mut Answers, name: &str, mirror: Result<Mirror>) -> Result<()> {
    let mirror = match mirror {
        Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
        Err(error) if error.kind == ErrorKind::Timeout => Err(error.hint("Try again: what was fetched is kept.")),
        mirror => mirror,
    };
    answers.mirrors.push((name.to_owned(), mirror));
    Ok(())
}

fn published_too_often() -> Error {
    Error::new(ErrorKind::Busy, "the repository is published too often to be read").hint("Try again in a moment.")
}

/// Whether a name matches a pattern, in which `*` matches any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The files of a repository, with the keys and sizes of their texts.
type Files = BTreeMap<RepoPath, (String, i64)>;

/// States of mirrors by their ids, with the time when each was read last.
type States = HashMap<String, (SystemTime, State)>;

/// Mirrors while they are brought up to date.
struct Mirroring<'m> {
    connection: Connection,
    folder: PathBuf,
    environment: &'m Environment,
    budget: &'m Budget,
}

impl Mirroring<'_> {
    /// The published repositories that the patterns name.
    fn all(
        &mut self,
        patterns: &BTreeSet<String>,
        own: &BTreeMap<String, PathBuf>,
        wanted: &MirrorRequest,
        most: &dyn Fn(&[String]) -> usize,
    ) -> Result<Answers> {
        let mut listed: BTreeMap<String, Published> = BTreeMap::new();
        let mut answers = Answers::default();
        let mut known = self.states();
        for pattern in patterns {
            let found = published(&mut self.connection, pattern, self.budget)?;
            self.forget_all_but(pattern, &found, &mut known)?;
            if found.is_empty() {
                let error =
                    Error::new(ErrorKind::IndexNotFound, "no repository of that name is published that you may read")
                        .hint((Command("org status"), " lists those that you may read."));
                answers.mirrors.push((pattern.clone(), Err(error)));
            }
            listed.extend(found.into_iter().map(|one| (one.name.clone(), one)));
        }
        for (name, root) in own {
            let commit = listed.get(name).and_then(|one| one.commit.as_deref());
            if let Some(commit) = commit
                && has_commit(root, self.environment, commit, self.budget)?
            {
                listed.remove(name);
                answers.own.push(name.clone());
            }
        }
        let most = most(&answers.own).saturating_sub(answers.mirrors.len());
        let bytes = listed.values().fold(0_i64, |sum, one| sum.saturating_add(one.bytes.max(0)));
        if listed.len() > most || bytes > MAX_BYTES {
            let scope = format!("`org:` names {} repositories with {} MiB of text", listed.len(), bytes >> 20);
            let listed: BTreeSet<&str> = listed.keys().map(String::as_str).collect();
            return self.many(patterns, &listed, wanted, known, (scope, most), answers);
        }
        // First the complete ones: they answer even if there is no time for the others.
        let mut missing = Vec::new();
        for (name, one) in &listed {
            match self.if_current(name, one, &known)? {
                Some(mirror) => answers.mirrors.push((name.clone(), Ok(mirror))),
                None => missing.push(one),
            }
        }
        for one in missing {
            let mirror = self.mirror(one);
            push(&mut answers, &one.name, mirror)?;
        }
        known.retain(|id, _| !listed.contains_key(id));
        self.evict(known.into_values().collect(), bytes)?;
        Ok(answers)
    }

    /// The whole mirror of a repository if it is as listed. One that another process fetches now is not.
    fn if_current(&self, name: &str, listed: &Published, known: &States) -> Result<Option<Mirror>> {
        let lock = self.lock_file(name)?;
        let used = known.get(name).map(|(used, _)| *used);
        Ok(if lock.try_lock_shared().is_ok() { self.current(name, listed, used, lock) } else { None })
    }

    fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", hash(name)))
    }

    fn lock_file(&self, name: &str) -> Result<File> {
        let path = self.file(name, "lock");
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        opened.map_err(|error| Error::io("open", &path, error))
    }

    fn read<T: for<'d> Deserialize<'d>>(path: &Path) -> Option<T> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    fn write(path: &Path, content: &impl Serialize) -> Result<()> {
        let bytes = serde_json::to_vec(content).map_err(|error| Error::internal("no JSON").caused_by(error))?;
        replace(path, &bytes, Permissions::Private, Durability::Unsynced)
            .map_err(|error| Error::io("write", path, error))
    }

    fn state(&self, id: &str) -> Option<State> {
        Self::read(&self.file(id, "json")).filter(|state: &State| state.id() == id && state.is_possible())
    }

    /// Reads the states of all mirrors.
    fn states(&self) -> States {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json"));
        let known = files.filter_map(|entry| {
            let used = entry.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            let state = Self::read(&entry.path()).filter(State::is_possible)?;
            (self.file(&state.id(), "json") == entry.path()).then(|| (state.id(), (used, state)))
        });
        known.collect()
    }

    /// Removes the mirrors whose names match a pattern and that are not listed.
    fn forget_all_but(&self, pattern: &str, listed: &[Published], known: &mut States) -> Result<()> {
        let listed: HashSet<&str> = listed.iter().map(|one| one.name.as_str()).collect();
        let is_gone = |state: &State| matches(pattern, &state.name) && !listed.contains(state.name.as_str());
        let gone = known.extract_if(|_, (_, state)| is_gone(state));
        gone.map(|(_, (_, state))| state).try_for_each(|state| self.remove(&state))
    }

    /// Removes a mirror, even while another process reads it.
    fn remove(&self, state: &State) -> Result<()> {
        let root = self.folder.join(&state.folder);
        let mut attempts = 0;
        while let Err(error) = fs::remove_dir_all(&root) {
            // Another process may be indexing it.
            attempts += 1;
            match error.kind() {
                std::io::ErrorKind::NotFound => break,
                _ if attempts == ATTEMPTS => return Err(Error::io("remove", &root, error)),
                _ => std::thread::sleep(RETRY),
            }
        }
        for extension in ["files", "json"] {
            let file = self.file(&state.id(), extension);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &file, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes the least recently used of the others, until all are small enough together with `used` bytes.
    fn evict(&self, mut others: Vec<(SystemTime, State)>, used: i64) -> Result<()> {
        let mut bytes = others.iter().fold(used, |sum, (_, state)| sum.saturating_add(state.bytes));
        others.sort_by_key(|(at, _)| *at);
        for (_, state) in &others {
            if bytes <= MAX_BYTES {
                break;
            }
            let lock = self.lock_file(&state.id())?;
            if lock.try_lock().is_ok() {
                self.remove(state)?;
                bytes -= state.bytes;
            }
        }
        Ok(())
    }

    /// Returns the state of a mirror if it matches the listed repository.
    fn state_of(&self, id: &str, listed: &Published) -> Option<State> {
        let is_there = |state: &State| self.folder.join(&state.folder).join(VERSION).exists();
        self.state(id).filter(|state| state.is_of(listed) && is_there(state))
    }

    /// A mirror, which is locked, if it is as listed. `used` says when it was used last.
    fn current(&self, id: &str, listed: &Published, used: Option<SystemTime>, lock: File) -> Option<Mirror> {
        let state = self.state_of(id, listed)?;
        let now = SystemTime::now();
        if used.and_then(|used| now.duration_since(used).ok()).is_none_or(|since| since > USE_RECORDED) {
            let file = self.file(id, "json");
            // `evict` reads this time. A wrong one costs a download at most.
            let _ = OpenOptions::new().write(true).open(file).and_then(|file| file.set_modified(now));
        }
        let root = self.folder.join(state.folder);
        Some(Mirror { root, name: state.name, commit: state.commit, _reading: lock })
    }

    /// The mirror of a repository as it is listed, or newer.
    fn mirror(&mut self, listed: &Published) -> Result<Mirror> {
        let mut listed = listed.clone();
        for _ in 0..ATTEMPTS {
            let lock = self.lock_file(&listed.name)?;
            self.acquire(|| lock.try_lock())?;
            // Another process may have fetched it meanwhile.
            if self.state_of(&listed.name, &listed).is_none() {
                listed = self.fetch(&listed.name)?;
            }
            lock.unlock().map_err(|error| Error::io("unlock", &self.folder, error))?;
            self.acquire(|| lock.try_lock_shared())?;
            if let Some(mirror) = self.current(&listed.name, &listed, None, lock) {
                return Ok(mirror);
            }
        }
        Err(published_too_often())
    }

    fn acquire(&self, attempt: impl Fn() -> Result<(), TryLockError>) -> Result<()> {
        loop {
            self.budget.check()?;
            match attempt() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &self.folder, error)),
            }
        }
    }

    /// Makes the files of a mirror those that are published now.
    fn fetch(&mut self, name: &str) -> Result<Published> {
        let (listed, files) = self.files_of(name)?;
        let Some(listed) = listed else {
            self.state(name).map_or(Ok(()), |state| self.remove(&state))?;
            return Err(Error::new(ErrorKind::IndexNotFound, "the repository is not published any more"));
        };
        self.write_mirror(&listed, &files, false)?;
        Ok(listed)
    }

    /// Makes the files of a mirror, or of a part of one, these. What is interrupted continues with the next call.
    fn write_mirror(&mut self, listed: &Published, files: &Files, is_part: bool) -> Result<()> {
        let name = listed.name.as_str();
        let id = id_of(name, is_part);
        let state = self.state(&id);
        let random = || secret().map_err(Error::no_random_bytes);
        let folder = match &state {
            Some(state) => state.folder.clone(),
            None => random()?[..HASH_LENGTH].to_owned(),
        };
        let root = self.folder.join(&folder);
        let made = own_folder::create_private(&root).and_then(|()| fs::create_dir_all(root.join(".git")));
        made.map_err(|error| Error::io("make", &root, error))?;
        let version = root.join(VERSION);
        match fs::remove_file(&version) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &version, error));
            }
            _ => {}
        }
        let mut state = State {
            name: name.to_owned(),
            folder,
            commit: listed.commit.clone().unwrap_or_default(),
            generation: listed.generation,
            published_at: listed.published_at.clone().unwrap_or_default(),
            bytes: listed.bytes,
            is_whole: false,
            is_part,
        };
        // Paths with the keys of their texts, which are empty where that is not known.
        let list = self.file(&id, "files");
        let before: BTreeMap<String, String> = Self::read(&list).unwrap_or_default();
        let mut during: BTreeMap<String, String> =
            files.keys().map(|path| (path.as_str().to_owned(), String::new())).collect();
        during.extend(before.keys().map(|path| (path.clone(), String::new())));
        Self::write(&list, &during)?;
        Self::write(&self.file(&id, "json"), &state)?;
        for path in before.keys().filter(|path| path_of(path).is_ok_and(|path| !files.contains_key(&path))) {
            remove_file(&root, path)?;
        }
        self.fetch_texts(name, &root, files, &before)?;
        let after: BTreeMap<&str, &str> = files.iter().map(|(path, (key, _))| (path.as_str(), key.as_str())).collect();
        Self::write(&list, &after)?;
        replace(&version, random()?.as_bytes(), Permissions::Private, Durability::Unsynced)
            .map_err(|error| Error::io("write", &version, error))?;
        state.is_whole = true;
        Self::write(&self.file(&id, "json"), &state)
    }

    /// A repository and its files, of one moment.
    fn files_of(&mut self, name: &str) -> Result<(Option<Published>, Files)> {
        let (listed, rows) =
            self.connection.run_for(LISTING_BYTES, Isolation::OneMoment, self.budget, async |client| {
                let listed = client.query_opt(REPOSITORY, &[&name]).await?;
                let listed = listed.as_ref().map(Published::from_row).transpose()?;
                let mut rows: Vec<(String, Vec<u8>, i32)> = Vec::new();
                for row in client.query(FILES_OF, &[&vec![name]]).await? {
                    rows.push((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
                }
                Ok((listed, rows))
            })?;
        let bytes: i64 = rows.iter().map(|(.., bytes)| i64::from(*bytes).max(0)).sum();
        let is_too_large = rows.iter().any(|(.., bytes)| i64::from(*bytes) > MAX_TEXT);
        if is_too_large || rows.len() > MAX_FILES || bytes > MAX_BYTES {
            return Err(Error::new(
                ErrorKind::UnsupportedFormat,
                "the organisation's server lists more or larger files than a repository may have",
            ));
        }
        let mut files = BTreeMap::new();
        for (path, key, bytes) in rows {
            files.insert(path_of(&path)?, (hex_string(&key), i64::from(bytes)));
        }
        Ok((listed, files))
    }

    /// Writes the files whose texts differ from those on disk.
    fn fetch_texts(&mut self, name: &str, root: &Path, files: &Files, before: &BTreeMap<String, String>) -> Result<()> {
        let mut wanted: BTreeMap<&str, (i64, Vec<&RepoPath>)> = BTreeMap::new();
        for (path, (key, bytes)) in files {
            let known = before.get(path.as_str()).filter(|known| !known.is_empty());
            let is_there = match known {
                Some(known) => known == key && path.to_path(root).is_file(),
                None => fs::read(path.to_path(root)).is_ok_and(|text| key_of(&text) == *key),
            };
            if !is_there {
                wanted.entry(key).or_insert((*bytes, Vec::new())).1.push(path);
            }
        }
        let mut wanted = wanted.into_iter().peekable();
        while wanted.peek().is_some() {
            let mut some: HashMap<&str, Vec<&RepoPath>> = HashMap::new();
            let mut size = 0;
            while let Some((key, (bytes, paths))) = wanted.next_if(|(_, (bytes, _))| {
                some.is_empty() || (some.len() < TEXTS_AT_ONCE && size + bytes <= BYTES_AT_ONCE)
            }) {
                size += bytes;
                some.insert(key, paths);
            }
            let keys: Vec<Vec<u8>> = some.keys().map(|key| bytes_of(key)).collect();
            let most = u64::try_from(size).unwrap_or_default().saturating_add(MARGIN_BYTES);
            let texts: Vec<String> =
                self.connection.run_for(most, Isolation::EachStatement, self.budget, async |client| {
                    client.query(TEXTS_OF, &[&keys, &name]).await?.iter().map(|row| row.try_get(1)).collect()
                })?;
            for text in &texts {
                // What was not asked for is not written.
                for path in some.remove(key_of(text.as_bytes()).as_str()).unwrap_or_default() {
                    write_file(root, path, text)?;
                }
            }
            if !some.is_empty() {
                return Err(
                    Error::new(ErrorKind::Busy, "the repository was published while it was read").hint("Try again.")
                );
            }
        }
        Ok(())
    }
}

/// The bytes of hexadecimal digits.
fn bytes_of(key: &str) -> Vec<u8> {
    (0..key.len() / 2).filter_map(|at| u8::from_str_radix(&key[at * 2..at * 2 + 2], 16).ok()).collect()
}

fn write_file(root: &Path, path: &RepoPath, text: &str) -> Result<()> {
    let file = path.to_path(root);
    let parent = file.parent().unwrap_or(root);
    let written = fs::create_dir_all(parent)
        .and_then(|()| replace(&file, text.as_bytes(), Permissions::Private, Durability::Unsynced));
    written.map_err(|error| Error::io("write", &file, error))
}

/// Removes a file, and the folders that are empty then.
fn remove_file(root: &Path, path: &str) -> Result<()> {
    let file = root.join(path);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::io("remove", &file, error)),
        _ => {}
    }
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != root) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns_as_on_the_server() {
        for (pattern, name, expected) in [
            ("pay-*", "pay-api", true),
            ("pay-*", "pay", false),
            ("*", "a/b", true),
            ("a*b*c", "a/bb/c", true),
            ("a*b", "ab/c", false),
            ("a*a", "a", false),
            ("pay", "pay", true),
            ("pay", "pay-api", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
