//! The embedding model that a user selected for a repository: when it is loaded, and where its vectors go.
//!
//! Owns the selection (`state.toml`), the loaded model, and the background work: vectors of hits that a query had no time for,
//! and then of all chunks. Until then the static embeddings answer. The model's own vector space answers once it is complete,
//! from one transaction on. Vectors of two models are never compared.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::static_embeddings::{if_free, key};
use crate::budget::Budget;
use crate::config::warn_once;
use crate::embed::transformer::{Gpu, Recipe, RunnerConfig, Transformer};
use crate::embed::{Embedder, Purpose, Vector, built_in, model_store};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::model::Stat;
use crate::panics;
use crate::repository::{Repository, State, UpdateLock};
use crate::store::{ChunkId, SpaceKey, Unembedded};
use crate::threads::cores;

/// Chunks of one batch. Queries have their turn between two batches.
const BATCH: usize = 8;
/// All chunks are embedded after so long without a query.
const IDLE: Duration = Duration::from_secs(2);
/// How often background work checks whether it may continue.
const POLL: Duration = Duration::from_millis(250);
/// Hits that wait for their vectors; more are dropped.
const MAX_WANTED: usize = 400;
/// A model that failed is not loaded again for so long.
const RETRY_AFTER: Duration = Duration::from_secs(300);
/// Threads if a caller waits for all vectors; in the background it is one.
const MAX_THREADS: usize = 2;
/// The warning about a model that is not the one that was used before.
const REPLACED: &str = "its files have changed since it was last used, so its vectors no longer apply";
/// How often progress is reported to a caller that waits for all vectors.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// The selected embedding model of one repository.
pub struct EmbeddingModel {
    repository: Arc<Repository>,
    /// The selection and the version of the state file that it is from.
    name: Mutex<(Option<Stat>, Option<String>)>,
    model: Mutex<Loaded>,
    /// The hash of the model's files when it was last computed.
    hash: Mutex<Option<(ModelIdentity, String)>>,
    /// Chunks of the best hits of queries, the newest first.
    wanted: Mutex<VecDeque<ChunkId>>,
    last_query: Mutex<Option<Instant>>,
    /// Whether the background thread is running.
    is_working: AtomicBool,
    pace: Mutex<Pace>,
    /// Held by the thread that embeds all chunks.
    embedding: Mutex<()>,
}

#[derive(Default)]
enum Loaded {
    #[default]
    None,
    Ready(ModelIdentity, Arc<Transformer>),
    Failed(ModelIdentity, Instant, Error),
}

/// Values that identify a model to load.
#[derive(Clone, PartialEq)]
struct ModelIdentity {
    name: String,
    folder: PathBuf,
    runner: RunnerConfig,
    files: model_store::Stamp,
}

impl Loaded {
    /// The outcome of loading that model; `None` if it must be loaded, or loaded again.
    fn known(&self, wanted: &ModelIdentity) -> Option<Result<Arc<Transformer>>> {
        match self {
            Self::Ready(known, model) if known == wanted => Some(Ok(Arc::clone(model))),
            Self::Failed(known, when, error) if known == wanted && when.elapsed() < RETRY_AFTER => {
                Some(Err(error.duplicate()))
            }
            _ => None,
        }
    }
}

/// Whether a query can use the selected model.
pub enum ModelAvailability {
    NotSelected,
    Ready(Arc<Transformer>),
    /// It cannot be used, for this reason.
    Missing(String),
}

impl ModelAvailability {
    fn missing(name: &str, why: &Error) -> Self {
        Self::Missing(answered_without(name, &why.to_warning()))
    }
}

/// The warning of an answer that the model should have had a part in.
fn answered_without(name: &str, why: &str) -> String {
    format!("the built-in embeddings answered without the model {}: {why}", crate::model::printable(name))
}

/// The recent speed of the background work.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    chunks: u32,
    time: Duration,
}

/// The state of a model in an index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelState {
    /// `None` if nothing was ever embedded with it and it was not loaded.
    pub dimension: Option<usize>,
    /// `None` until it is loaded.
    pub device: Option<String>,
    /// Chunks that have its vector, and all chunks.
    pub done: u64,
    pub total: u64,
    /// Whether its vector space answers.
    pub whole: bool,
    /// The estimated time of the remaining background work; `None` if nothing is left or no chunk was timed yet.
    pub seconds_left: Option<u64>,
    pub warning: Option<String>,
}

impl EmbeddingModel {
    pub(in crate::update) fn new(repository: Arc<Repository>) -> Self {
        Self {
            repository,
            name: Mutex::default(),
            model: Mutex::default(),
            hash: Mutex::default(),
            wanted: Mutex::default(),
            last_query: Mutex::default(),
            is_working: AtomicBool::new(false),
            pace: Mutex::default(),
            embedding: Mutex::new(()),
        }
    }

    /// The name of the selected model, or the path of its folder.
    pub fn selected(&self) -> Option<String> {
        let stamp = State::stamp(self.repository.folder())?;
        let mut known = locked(&self.name);
        if known.0 != Some(stamp) {
            *known = (Some(stamp), self.repository.state().model);
        }
        known.1.clone()
    }

    /// Selects the model of this repository by its name or the absolute path of its folder. `None` selects the static
    /// embeddings.
    pub fn select(&self, model: Option<String>, budget: &Budget) -> Result<()> {
        self.repository.check_writable()?;
        let _lock = UpdateLock::take(self.repository.folder(), budget)?;
        let mut state = self.repository.state_to_change()?;
        if state.model != model {
            state.model = model;
            self.repository.save_state(&state)?;
        }
        if state.model.is_none() {
            let built_in = key(built_in());
            self.repository.store()?.write(|batch| batch.keep_only(&built_in, built_in.model))?;
        }
        Ok(())
    }

    /// Loads the selected model, unless it is loaded; `None` if none is selected.
    pub fn load(&self) -> Result<Option<Arc<Transformer>>> {
        let Some(name) = self.selected() else {
            *locked(&self.model) = Loaded::None;
            return Ok(None);
        };
        let wanted = self.wanted(name)?;
        let mut loaded = locked(&self.model);
        if let Some(known) = loaded.known(&wanted) {
            return known.map(Some);
        }
        match Transformer::shared(&wanted.name, &wanted.folder, &wanted.runner) {
            Ok(model) => {
                if self.repository.watch().is_some() {
                    // It takes as long as embedding many texts, and no query should wait for it.
                    model.calibration();
                }
                if let Some(warning) = model.warning() {
                    warn_once(warning.to_owned());
                }
                *loaded = Loaded::Ready(wanted, Arc::clone(&model));
                Ok(Some(model))
            }
            Err(error) => {
                if self.repository.watch().is_some() {
                    // Otherwise the caller gets the error.
                    warn_once(error.to_string());
                }
                *loaded = Loaded::Failed(wanted, Instant::now(), error.duplicate());
                Err(error)
            }
        }
    }

    fn wanted(&self, name: String) -> Result<ModelIdentity> {
        let folder = self.folder_of_model(&name)?;
        Ok(ModelIdentity { files: model_store::stamp(&folder), runner: self.runner(), name, folder })
    }

    /// `GPU_NOT_AVAILABLE` if the selected model must run on a GPU and cannot. It does not prevent an update, so it is checked
    /// afterwards.
    pub(in crate::update) fn check_required_gpu(&self) -> Result<()> {
        if self.selected().is_none() || self.runner().gpu != Gpu::Required {
            return Ok(());
        }
        match self.load() {
            Err(error) if error.kind == ErrorKind::GpuNotAvailable => {
                let hint = error.hint.as_ref().map(ToString::to_string).unwrap_or_default();
                let hint = format!("The index is up to date nevertheless, with the built-in embeddings. {hint}");
                Err(error.duplicate().hint(hint))
            }
            _ => Ok(()),
        }
    }

    fn runner(&self) -> RunnerConfig {
        RunnerConfig::from_settings(
            &self.repository.settings().config.model,
            self.repository.sources.environment.program(),
        )
    }

    /// Stops using a model that failed at a text, until it is loaded again.
    pub fn give_up(&self, model: &Arc<Transformer>, error: Error) -> ModelAvailability {
        if self.repository.watch().is_some() {
            tracing::warn!("{error}");
        }
        let missing = ModelAvailability::missing(&model.space().model, &error);
        Transformer::unshare(model);
        let mut loaded = locked(&self.model);
        *loaded = match std::mem::take(&mut *loaded) {
            Loaded::Ready(wanted, known) if Arc::ptr_eq(&known, model) => Loaded::Failed(wanted, Instant::now(), error),
            other => other,
        };
        missing
    }

    /// The model that finds chunks: the selected one once it has embedded all of them; `None` for the static embeddings, and
    /// if the selected one cannot run.
    pub fn searching_model(&self) -> Result<Option<Arc<Transformer>>> {
        let model = match self.load() {
            Ok(Some(model)) => model,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::warn!("{error}");
                return Ok(None);
            }
        };
        let space = key(model.as_ref());
        let is_complete = self.repository.read(&Budget::unlimited(), |snapshot| match snapshot.space(&space)? {
            Some(space) => snapshot.is_whole(space),
            None => Ok(false),
        })?;
        Ok(is_complete.then_some(model))
    }

    /// Where the files of a model are.
    fn folder_of_model(&self, name: &str) -> Result<PathBuf> {
        let folder = if name.starts_with('/') {
            PathBuf::from(name)
        } else {
            model_store::folder_of(&model_store::location(&self.repository.sources.environment)?, name)?
        };
        if model_store::is_model(&folder) {
            return Ok(folder);
        }
        Err(model_store::missing(name))
    }

    /// The selected model if it is loaded. If it is not, loading begins in the background, and no caller waits for it.
    /// `GPU_NOT_AVAILABLE` is an error.
    pub fn availability(self: &Arc<Self>) -> Result<ModelAvailability> {
        *locked(&self.last_query) = Some(Instant::now());
        let Some(name) = self.selected() else { return Ok(ModelAvailability::NotSelected) };
        let unless_gpu_required = |read: Result<Arc<Transformer>>| match read {
            Err(error) if error.kind != ErrorKind::GpuNotAvailable => Ok(ModelAvailability::missing(&name, &error)),
            read => read.map(ModelAvailability::Ready),
        };
        if self.repository.watch().is_none() {
            // A process of one query has no background in which to load it.
            return match self.load().transpose() {
                Some(read) => unless_gpu_required(read),
                None => Ok(ModelAvailability::NotSelected),
            };
        }
        let wanted = match self.wanted(name.clone()) {
            Ok(wanted) => wanted,
            Err(error) => return unless_gpu_required(Err(error)),
        };
        // A thread that loads it holds the lock.
        if let Some(loaded) = if_free(&self.model) {
            if let Some(known) = loaded.known(&wanted) {
                return unless_gpu_required(known);
            }
            drop(loaded);
            self.work_in_background();
        }
        Ok(ModelAvailability::Missing(answered_without(&name, "it is being loaded, ask again in a few seconds")))
    }

    /// How long a query may spend on vectors.
    pub fn rerank_time(&self) -> Duration {
        self.repository.settings().config.model.time
    }

    /// The recent time for one text; zero before any was timed.
    pub fn text_time(&self) -> Duration {
        let pace = *locked(&self.pace);
        pace.time.checked_div(pace.chunks).unwrap_or_default()
    }

    /// Stores the vectors that a query computed, and embeds the chunks that it had no time for in the background.
    pub fn remember(
        self: &Arc<Self>,
        model: &Transformer,
        computed: &[(Vec<u8>, Vector)],
        wanted: &[ChunkId],
    ) -> Result<()> {
        if self.repository.is_read_only() {
            return Ok(());
        }
        if !computed.is_empty() {
            let key = key(model);
            self.repository.store()?.write(|batch| {
                let space = batch.use_space(&key)?;
                let vectors = computed.iter().map(|(hash, vector)| (hash.as_slice(), vector.components()));
                batch.keep_text_vectors(space, vectors)
            })?;
        }
        if !wanted.is_empty() {
            let mut waiting = locked(&self.wanted);
            waiting.retain(|chunk| !wanted.contains(chunk));
            wanted.iter().rev().for_each(|&chunk| waiting.push_front(chunk));
            waiting.truncate(MAX_WANTED);
        }
        self.work_in_background();
        Ok(())
    }

    /// Starts the background work unless it is running, in a process that stays and with a model.
    pub(in crate::update) fn work_in_background(self: &Arc<Self>) {
        if self.repository.watch().is_none() || self.repository.is_read_only() || self.selected().is_none() {
            return;
        }
        if self.is_working.swap(true, Ordering::SeqCst) {
            return;
        }
        let weak = Arc::downgrade(self);
        let spawned = std::thread::Builder::new().name("transformer".to_owned()).spawn(move || {
            loop {
                let Some(model) = weak.upgrade() else { return };
                match panics::caught(|| model.work_a_little()) {
                    Ok(true) => {}
                    Ok(false) => {
                        model.is_working.store(false, Ordering::SeqCst);
                        return;
                    }
                    Err(error) => {
                        warn_once(error.to_string());
                        model.is_working.store(false, Ordering::SeqCst);
                        return;
                    }
                }
            }
        });
        if spawned.is_err() {
            self.is_working.store(false, Ordering::SeqCst);
        }
    }

    /// Embeds one batch. Returns whether there may be more to do.
    fn work_a_little(&self) -> Result<bool> {
        let Some(model) = self.load()? else { return Ok(false) };
        let wanted: Vec<ChunkId> = {
            let mut wanted = locked(&self.wanted);
            let count = wanted.len().min(BATCH);
            wanted.drain(..count).collect()
        };
        if !wanted.is_empty() {
            self.embed_wanted(&model, &wanted)?;
            return Ok(true);
        }
        let is_idle = locked(&self.last_query).is_none_or(|asked| asked.elapsed() >= IDLE);
        if !is_idle || self.repository.in_flight.progress().is_some() {
            std::thread::sleep(POLL);
            return Ok(true);
        }
        self.embed_some(&model, 1)
    }

    /// Embeds the best hits of queries.
    fn embed_wanted(&self, model: &Transformer, wanted: &[ChunkId]) -> Result<()> {
        let key = key(model);
        let space = self.repository.store()?.write(|batch| batch.use_space(&key))?;
        let chunks = self.repository.store()?.read(&Budget::unlimited(), |snapshot| {
            let mut chunks = snapshot.to_embed(wanted)?;
            let mut missing = Vec::with_capacity(chunks.len());
            for chunk in chunks.drain(..) {
                if snapshot.known_vector(space, chunk.id, &chunk.hash)?.is_none() {
                    missing.push(chunk);
                }
            }
            Ok(missing)
        })?;
        let vectors = self.timed(model, &chunks, 1)?;
        self.repository.store()?.write(|batch| {
            let space = batch.use_space(&key)?;
            let kept = chunks.iter().zip(&vectors).map(|(chunk, vector)| (chunk.hash.as_slice(), vector.components()));
            batch.keep_text_vectors(space, kept)
        })
    }

    /// Embeds the next chunks without a vector; `false` if the vector space is complete.
    fn embed_some(&self, model: &Transformer, threads: usize) -> Result<bool> {
        let Some(_alone) = if_free(&self.embedding) else { return Ok(false) };
        let key = key(model);
        let space = self.repository.store()?.write(|batch| batch.use_space(&key))?;
        let (batch, known) = self.repository.store()?.read(&Budget::unlimited(), |snapshot| {
            let batch = snapshot.unembedded(space, BATCH * threads)?;
            let known = batch.iter().map(|chunk| snapshot.text_vector(space, &chunk.hash));
            let known = known.collect::<Result<Vec<_>>>()?;
            Ok((batch, known))
        })?;
        if batch.is_empty() {
            let was_whole = self.repository.store()?.read(&Budget::unlimited(), |snapshot| snapshot.is_whole(space))?;
            if !was_whole && self.repository.store()?.write(|batch| batch.make_whole(space))? {
                tracing::info!("{} answers from now on", key.model);
                self.repository.store()?.write(|batch| batch.keep_only(&key, &built_in().space().model))?;
            }
            return Ok(false);
        }
        let missing: Vec<Unembedded> =
            batch.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(chunk, _)| chunk.clone()).collect();
        let mut made = self.timed(model, &missing, threads)?.into_iter();
        let vectors: Vec<Vec<i8>> = known
            .into_iter()
            .map(|known| known.or_else(|| made.next().map(|vector| vector.components().to_vec())).unwrap_or_default())
            .collect();
        self.repository.store()?.write(|changes| {
            // The database file may have been replaced: the space has another number there.
            let space = changes.use_space(&key)?;
            let rows: Vec<_> = batch
                .iter()
                .zip(&vectors)
                .map(|(chunk, vector)| (chunk, Some(vector.as_slice()).filter(|vector| vector.iter().any(|&c| c != 0))))
                .collect();
            changes.add_vectors(space, &rows)
        })?;
        Ok(true)
    }

    /// Embeds chunks and measures the time.
    fn timed(&self, model: &Transformer, chunks: &[Unembedded], threads: usize) -> Result<Vec<Vector>> {
        let begun = Instant::now();
        let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        let each = texts.len().div_ceil(threads.min(cores())).max(1);
        let vectors = std::thread::scope(|scope| {
            let parts: Vec<_> =
                texts.chunks(each).map(|part| scope.spawn(move || model.embed(Purpose::Passage, part))).collect();
            let mut vectors = Vec::with_capacity(texts.len());
            for part in parts {
                vectors.extend(part.join().map_err(|_| Error::internal("a model failed"))??);
            }
            Ok::<_, Error>(vectors)
        })?;
        if !chunks.is_empty() {
            let mut pace = locked(&self.pace);
            // Only the last hundred or so count.
            if pace.chunks > 100 {
                *pace = Pace { chunks: pace.chunks / 2, time: pace.time / 2 };
            }
            pace.chunks += u32::try_from(chunks.len()).unwrap_or(u32::MAX);
            pace.time += begun.elapsed();
        }
        Ok(vectors)
    }

    /// Embeds all chunks with the selected model, as the background work does without queries, and reports progress.
    pub fn embed_all(&self, budget: &Budget, on_progress: &dyn Fn(&ModelState)) -> Result<()> {
        let Some(model) = self.load()? else { return Ok(()) };
        let mut reported = Instant::now();
        while self.embed_some(&model, MAX_THREADS)? {
            budget.check()?;
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                on_progress(&self.state(&model.space().model, budget)?);
            }
        }
        Ok(())
    }

    /// The state of the model with that name, which is not loaded for this.
    pub fn state(&self, name: &str, budget: &Budget) -> Result<ModelState> {
        let wanted = self.wanted(name.to_owned())?;
        let (mut state, mut own) = (ModelState::default(), None);
        // A thread that loads it holds the lock.
        if let Some(loaded) = if_free(&self.model) {
            match loaded.known(&wanted) {
                Some(Ok(model)) => {
                    state.device = Some(model.device());
                    state.warning = model.warning().map(str::to_owned);
                    own = Some(model);
                }
                Some(Err(error)) => return Err(error),
                None => {}
            }
        }
        state = self.repository.read(budget, |snapshot| {
            let space = match own.as_deref().map(|model| key(model)) {
                Some(key) => snapshot.space(&key)?.map(|_| (key.hash.to_owned(), key.dimension)),
                None => match snapshot.last_space_of(name)? {
                    Some((hash, _)) if hash != self.hash_of(&wanted)? => {
                        state.warning = Some(REPLACED.to_owned());
                        None
                    }
                    last => last,
                },
            };
            state.total = snapshot.chunk_count()?;
            state.dimension = own.as_deref().map(|model| model.space().dimension);
            if let Some((hash, dimension)) = space {
                let key = SpaceKey { model: name, hash: &hash, dimension };
                state.dimension = Some(dimension);
                state.done = state.total.saturating_sub(snapshot.vectors_pending(&key)?);
                state.whole = snapshot.space(&key)?.map_or(Ok(false), |space| snapshot.is_whole(space))?;
            }
            Ok(state)
        })?;
        let pace = *locked(&self.pace);
        let left = u32::try_from(state.total - state.done).unwrap_or(u32::MAX);
        state.seconds_left = (left > 0 && pace.chunks > 0).then(|| (pace.time * left / pace.chunks).as_secs());
        Ok(state)
    }

    /// The hash of a model's files, which takes a while and is cached.
    fn hash_of(&self, wanted: &ModelIdentity) -> Result<String> {
        let mut known = locked(&self.hash);
        if let Some((_, hash)) = known.as_ref().filter(|(of, _)| of == wanted) {
            return Ok(hash.clone());
        }
        let hash = Recipe::read(&wanted.folder)?.hash;
        *known = Some((wanted.clone(), hash.clone()));
        Ok(hash)
    }

    /// Unloads the model after that time without a query.
    pub(crate) fn unload_after(&self, time: Duration) {
        let is_idle = locked(&self.last_query).is_none_or(|asked| asked.elapsed() >= time);
        if is_idle
            && !self.is_working.load(Ordering::SeqCst)
            && let Some(mut loaded) = if_free(&self.model)
            && matches!(*loaded, Loaded::Ready(..))
        {
            *loaded = Loaded::None;
        }
    }
}
