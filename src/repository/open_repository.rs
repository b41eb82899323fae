//! An open repository: what all components of a workspace share.
//!
//! Owns its root, its settings, its database and its watch. Does not own what is done with them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use super::damage::{self, Repaired};
use super::folders::Folders;
use super::in_flight::{DiskListing, InFlight, Listings};
use super::lock::{BuildLock, UpdateLock};
use super::mirrored::{Mirrored, Seen};
use super::provisional::Provisional;
use super::root_kind::RootKind;
use super::seed::Seed;
use super::state::State;
use super::watch::Watch;
use super::{folder, registry};
use crate::budget::Budget;
use crate::config::{Config, Environment, Sources, warn_once};
use crate::error::{Error, ErrorKind, Result};
use crate::extract::{FORMATS, Options};
use crate::locked::locked;
use crate::model::RepoPath;
use crate::scan::Rules;
use crate::store::{FileIdentity, Mode, Snapshot, Store};

pub(crate) struct Repository {
    pub root: PathBuf,
    pub kind: RootKind,
    pub sources: Arc<Sources>,
    /// Opened when it is first needed: a request that only reads the disk makes no index.
    index: OnceLock<Index>,
    opening: Mutex<()>,
    /// Where the database is expected. If none can be made there, it is in a folder of the user.
    located: PathBuf,
    /// Whether this process only asks: it need not build the index if another process does.
    pub only_asks: bool,
    /// The lock of a build, while this process holds it.
    building: Mutex<Weak<BuildLock>>,
    /// Budget of updates on other threads: they end with the repository.
    pub life: Budget,
    settings: Mutex<Arc<Settings>>,
    watch: OnceLock<Watch>,
    /// If this is a mirror of a published repository.
    mirrored: Option<Mirrored>,
    pub in_flight: InFlight,
    /// For reads during a long update.
    pub listed: Mutex<Option<Arc<DiskListing>>>,
    pub listings: Listings,
}

/// The open database, and what opening it showed.
pub(crate) struct Index {
    pub store: Store,
    pub repaired: Repaired,
    /// The file that was opened.
    pub identity: Option<FileIdentity>,
    /// Database from which the empty index starts.
    pub seed: Option<Seed>,
    /// If only this process uses the index.
    provisional: Option<Provisional>,
}

/// The settings of a repository and what follows from them.
pub(crate) struct Settings {
    pub config: Config,
    pub folders: Folders,
    pub rules: Rules,
}

impl Index {
    /// Opens the index of the repository at `root`, and makes an empty one if there is none: see `Workspace::open`.
    pub(crate) fn open(root: &Path, environment: &Environment) -> Result<Self> {
        Self::open_within(OPEN_TIMEOUT, root, environment)
    }

    /// Opens the index for a process that only asks: a provisional one while another process builds the index.
    fn open_to_ask(root: &Path, environment: &Environment) -> Result<Self> {
        let begun = Instant::now();
        loop {
            let (path, mode) = folder::prepare(root, environment)?;
            if mode == Mode::Write
                && let Some(provisional) = Provisional::if_needed(folder_of(&path))?
            {
                let store = Store::open(&provisional.database(), Mode::Write)?;
                return Ok(Self { provisional: Some(provisional), ..Self::from_store(store) });
            }
            match Self::open_within(SHORT_OPEN_TIMEOUT, root, environment) {
                Err(error) if error.kind == ErrorKind::Busy && begun.elapsed() < OPEN_TIMEOUT => {}
                opened => return opened,
            }
        }
    }

    fn open_within(timeout: Duration, root: &Path, environment: &Environment) -> Result<Self> {
        let (path, mode) = folder::prepare(root, environment)?;
        if mode == Mode::Read {
            return Store::open(&path, mode).map(Self::from_store);
        }
        // Two processes must not create or migrate the same file at once.
        let _lock = UpdateLock::take(folder_of(&path), &Budget::lasting(timeout))?;
        if RootKind::find(root, environment).is_listed() {
            registry::note(root, environment);
        }
        let (store, repaired) = damage::open(&path)?;
        let seed = Seed::find(root, &store);
        Ok(Self { identity: FileIdentity::read(&path).ok(), store, repaired, seed, provisional: None })
    }

    pub(crate) fn from_store(store: Store) -> Self {
        let (identity, repaired) = (FileIdentity::read(store.path()).ok(), Repaired::default());
        Self { identity, store, repaired, seed: None, provisional: None }
    }
}

impl Repository {
    pub(crate) fn with_index(root: &Path, sources: Arc<Sources>, index: Index) -> Result<Self> {
        let database = index.store.path().to_owned();
        Ok(Self { index: OnceLock::from(index), ..Self::unopened(root, sources, database)? })
    }

    /// `database`: where its index is, or would be made.
    pub(crate) fn unopened(root: &Path, sources: Arc<Sources>, database: PathBuf) -> Result<Self> {
        let kind = RootKind::find(root, &sources.environment);
        let settings = Arc::new(Settings::load(root, &kind, folder_of(&database), &sources)?);
        let mirrored = (kind == RootKind::Mirror).then(|| Mirrored::new(root, &database, &sources.environment));
        Ok(Self {
            root: root.to_owned(),
            kind,
            mirrored,
            sources,
            index: OnceLock::new(),
            opening: Mutex::default(),
            located: database,
            only_asks: false,
            building: Mutex::default(),
            life: Budget::unlimited(),
            settings: Mutex::new(settings),
            watch: OnceLock::new(),
            in_flight: InFlight::default(),
            listed: Mutex::default(),
            listings: Listings::default(),
        })
    }

    /// The database, which is opened, and made if there is none.
    pub(crate) fn store(&self) -> Result<&Store> {
        self.index().map(|index| &index.store)
    }

    pub(crate) fn index(&self) -> Result<&Index> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let _opening = locked(&self.opening);
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let open = if self.only_asks { Index::open_to_ask } else { Index::open };
        let opened = open(&self.root, &self.sources.environment)?;
        self.index.get_or_init(|| opened);
        if self.database() != self.located {
            self.reload_settings()?;
        }
        self.index.get().ok_or_else(|| Error::internal("the index is not open"))
    }

    /// Lets this process only query the repository.
    pub(crate) fn only_asking(self) -> Self {
        Self { only_asks: true, ..self }
    }

    fn provisional(&self) -> Option<&Provisional> {
        self.index.get()?.provisional.as_ref()
    }

    /// Whether only this process uses the index: it answers while another process builds the repository's.
    pub(crate) fn is_provisional(&self) -> bool {
        self.provisional().is_some()
    }

    /// Removes an index that only this process uses.
    pub(crate) fn end_provisional(&self) {
        let Some(provisional) = self.provisional() else { return };
        self.life.cancel();
        self.in_flight.await_end(END_TIMEOUT);
        provisional.remove();
    }

    /// Held while this process builds the index; `None` if another process builds it, or there can be no lock.
    pub(crate) fn building(&self) -> Option<Arc<BuildLock>> {
        let mut known = locked(&self.building);
        if let Some(held) = known.upgrade() {
            return Some(held);
        }
        let taken = BuildLock::take(self.folder()).unwrap_or_else(|error| {
            tracing::debug!("{error}");
            None
        });
        let held = Arc::new(taken?);
        *known = Arc::downgrade(&held);
        Some(held)
    }

    /// The database, if it is open.
    pub(crate) fn opened(&self) -> Option<&Store> {
        self.index.get().map(|index| &index.store)
    }

    /// The path of the database of the index, which is not that of a provisional one.
    pub(crate) fn database(&self) -> &Path {
        match self.provisional() {
            Some(provisional) => &provisional.home_database,
            None => self.opened().map_or(&self.located, Store::path),
        }
    }

    /// Whether the index cannot be written; opens it. False if it cannot be opened: the write that follows reports why.
    pub(crate) fn is_read_only(&self) -> bool {
        self.store().is_ok_and(Store::is_read_only)
    }

    /// The message about a repair, returned once.
    pub(crate) fn take_repair(&self) -> Option<String> {
        self.index.get()?.repaired.take()
    }

    /// Returns the database from which the empty index starts.
    pub(crate) fn seed(&self) -> Option<&Seed> {
        self.index.get()?.seed.as_ref()
    }

    pub(crate) fn read<T>(&self, budget: &Budget, query: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.store()?.read(budget, query)
    }

    /// The index of a sibling worktree, until this one has an index. Its rows have to be compared with the disk.
    pub(crate) fn lent(&self) -> Option<&Store> {
        let index = self.index().ok()?;
        index.seed.as_ref()?.lent(&index.store, || self.settings().extraction().fingerprint())
    }

    /// Reads one state of [`Self::lent`]; `None` if there is none, or it cannot be read.
    pub(crate) fn read_lent<T>(
        &self,
        budget: &Budget,
        query: impl FnOnce(&Snapshot) -> Result<T>,
    ) -> Option<Result<T>> {
        match self.lent()?.read(budget, query) {
            Err(error) if matches!(error.kind, ErrorKind::CorruptIndex | ErrorKind::IndexNotFound) => {
                self.seed()?.give_up_lent(&error);
                None
            }
            answer => Some(answer),
        }
    }

    /// The folder of the index.
    pub(crate) fn folder(&self) -> &Path {
        folder_of(self.database())
    }

    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&locked(&self.settings))
    }

    /// Reads the settings again, because their files may have changed. If a file cannot be read, the settings stay.
    pub(crate) fn reload_settings(&self) -> Result<Arc<Settings>> {
        let mut settings = locked(&self.settings);
        match self.sources.load(&self.root) {
            Ok(config) => {
                let folders = Folders::from_state(self.state());
                if config != settings.config || folders != settings.folders {
                    *settings = Arc::new(Settings::load(&self.root, &self.kind, self.folder(), &self.sources)?);
                }
            }
            Err(error) => warn_once(format!("settings stay as they were: {error}")),
        }
        Ok(Arc::clone(&settings))
    }

    /// Loads the user's selections.
    pub(crate) fn state(&self) -> State {
        State::load(&self.root, self.folder(), &self.sources.environment)
    }

    /// Loads the user's selections, to be changed and saved under the update lock: two processes must not write them at
    /// once.
    pub(crate) fn state_to_change(&self) -> Result<State> {
        State::to_change(&self.root, self.folder(), &self.sources.environment)
    }

    pub(crate) fn save_state(&self, state: &State) -> Result<()> {
        state.save(&self.root, self.folder(), &self.sources.environment)
    }

    /// The executable file of this program.
    pub(crate) fn program(&self) -> Option<&Path> {
        self.sources.environment.program()
    }

    /// The program that a setting of the user names.
    pub(crate) fn installed(&self, given: &Path) -> Option<PathBuf> {
        self.sources.environment.installed(given, &self.root)
    }

    pub(crate) fn runtime_folder(&self) -> PathBuf {
        self.sources.environment.runtime_folder()
    }

    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.get()
    }

    /// The watch if it reports every change.
    pub(crate) fn full_watch(&self) -> Option<&Watch> {
        self.watch().filter(|watch| !watch.is_limited())
    }

    /// The version from which the index of a mirror is to be made.
    pub(crate) fn seen(&self) -> Option<Seen> {
        self.mirrored.as_ref()?.seen()
    }

    /// Records that an update has ended that began after that was seen.
    pub(crate) fn note_indexed(&self, seen: Option<Seen>) {
        if let Some(mirrored) = &self.mirrored {
            mirrored.note_indexed(seen);
        }
    }

    /// Whether nothing can have changed since the last update.
    pub(crate) fn is_unchanged(&self) -> bool {
        match &self.mirrored {
            Some(mirrored) => mirrored.is_indexed(),
            None => self.full_watch().is_some_and(|watch| !watch.has_dirt()),
        }
    }

    /// If two threads start a watch, one is enough.
    pub(crate) fn set_watch(&self, watch: Watch) {
        let _ = self.watch.set(watch);
    }

    /// The next update looks at everything.
    pub(crate) fn ask_for_sweep(&self) {
        if let Some(watch) = self.watch() {
            watch.ask_for_sweep();
        }
    }

    /// Keeps a listing for reads during the running update.
    pub(crate) fn share_listing(&self, listing: DiskListing) -> Arc<DiskListing> {
        let listing = Arc::new(listing);
        *locked(&self.listed) = Some(Arc::clone(&listing));
        listing
    }

    pub(crate) fn check_writable(&self) -> Result<()> {
        if !self.is_read_only() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::ReadOnly, "the index cannot be written")
            .hint("Make the repository's folder `.ixmcp` writable."))
    }

    /// Takes the update lock. If the database was removed, perhaps with its folder, creates an empty one: that costs time and
    /// nothing else.
    pub(crate) fn lock(&self, budget: &Budget) -> Result<UpdateLock> {
        let database = self.store()?.path();
        let folder = folder_of(database);
        let is_gone = || !database.exists();
        let was_gone = is_gone();
        if was_gone {
            folder::restore(&self.root, folder, &self.sources.environment)?;
        } else if !folder::is_elsewhere(&self.root, folder) {
            folder::hide_from_git(folder);
        }
        let lock = UpdateLock::take(folder, budget)?;
        if was_gone && is_gone() {
            // SQLite would take a log without its database for the log of the new one.
            Store::make(database, || folder::discard(database))?;
            self.ask_for_sweep();
        }
        Ok(lock)
    }
}

/// Another process may be writing a batch while this one opens the index.
pub(crate) const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a process that only asks waits for others before it looks again what they do, and for its own update to end.
const SHORT_OPEN_TIMEOUT: Duration = Duration::from_secs(1);
const END_TIMEOUT: Duration = Duration::from_secs(1);

fn folder_of(database: &Path) -> &Path {
    database.parent().unwrap_or(database)
}

impl Settings {
    /// Loads the settings of the repository at `root` whose index is in `folder`.
    pub(super) fn load(root: &Path, kind: &RootKind, folder: &Path, sources: &Sources) -> Result<Self> {
        let folders = Folders::from_state(State::load(root, folder, &sources.environment));
        let settings = Self::new(sources.load(root)?, folders, &sources.environment);
        Ok(if kind.follows_git() { settings } else { Self { rules: settings.rules.outside(), ..settings } })
    }

    fn new(config: Config, folders: Folders, environment: &Environment) -> Self {
        // A folder that is named explicitly is read even if git ignores it.
        let notes = config.index.notes.iter().filter_map(|folder| RepoPath::new(folder.as_str()));
        let mut named: Vec<RepoPath> = notes.chain(folders.in_repository()).collect();
        named.sort();
        named.dedup();
        let containers = FORMATS.iter().filter(|format| !format.keeps_text() && !format.only_in_folders);
        let extensions = containers.flat_map(|format| format.extensions).copied().collect();
        let rules = Rules::new(&config.index).with_named(named).with_documents(extensions);
        Self { rules: rules.with_environment(environment), folders, config }
    }

    /// The extraction options of files that are in no document folder.
    pub(crate) fn extraction(&self) -> Options {
        let index = &self.config.index;
        Options {
            chunk_bytes: index.chunk_size,
            folder: None,
            skip_minified: index.skip_minified,
            skip_generated: index.skip_generated,
            skip_secrets: index.skip_secrets,
            mask_secrets: index.mask_secrets,
            notes: index.notes.clone(),
        }
    }
}
