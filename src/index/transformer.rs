//! The embedding model that the user selected for a repository: when it is read, what it is asked, where its vectors go.
//!
//! Owns the choice (`state.toml`), the loaded model, and the work in the background: vectors of hits that a query had
//! no time for, and then of all chunks. The built-in table answers all the while; a model's own space answers when it is
//! whole, from one transaction on. Vectors of two models never meet.

use std::collections::VecDeque;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::lock::UpdateLock;
use super::state::State;
use super::vectors::{if_free, key};
use super::{Workspace, locked};
use crate::budget::Budget;
use crate::config::warn_once;
use crate::embed::transformer::{Gpu, Recipe, RunnerConfig, Transformer};
use crate::embed::{Embedder, Purpose, Vector, built_in, model_store};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Stat;
use crate::panics;
use crate::store::{ChunkId, SpaceKey, Unembedded};

/// Chunks of a model's own batch: between two a question has its turn.
const BATCH: usize = 8;
/// How long the workspace must be idle before all chunks are embedded.
const IDLE: Duration = Duration::from_secs(2);
/// How long vectors wait to be stored together.
const LOOK: Duration = Duration::from_millis(250);
/// Hits that wait for their vectors; more are forgotten.
const MOST_WANTED: usize = 400;
/// A model that failed is not tried again for so long.
const TRY_AGAIN: Duration = Duration::from_secs(300);
/// Threads of one who waits for all vectors; in the background it is one.
const MOST_THREADS: usize = 2;
/// Said where nothing is known of a model but that it is not the one that was used before.
const REPLACED: &str = "its files are others than when it was last used: what it knew of the index counts no more";
/// How often its progress is reported.
const TELL: Duration = Duration::from_secs(5);

/// What a workspace has of its model.
#[derive(Default)]
pub(super) struct Chosen {
    /// What the state said when it was last written.
    name: Mutex<(Option<Stat>, Option<String>)>,
    model: Mutex<Loaded>,
    /// Of the model's files, as they were when somebody wanted to know.
    hash: Mutex<Option<(Wanted, String)>>,
    /// Chunks of the best hits of questions, the newest first.
    wanted: Mutex<VecDeque<ChunkId>>,
    last_asked: Mutex<Option<Instant>>,
    /// Whether a thread is at work.
    at_work: AtomicBool,
    pace: Mutex<Pace>,
    /// Held by the thread that embeds chunk after chunk.
    in_turn: Mutex<()>,
}

#[derive(Default)]
enum Loaded {
    #[default]
    None,
    Ready(Wanted, Arc<Transformer>),
    Failed(Wanted, Instant, Error),
}

/// Which model is to be read: another one once any of this is another.
#[derive(Clone, PartialEq)]
struct Wanted {
    name: String,
    folder: PathBuf,
    runner: RunnerConfig,
    files: model_store::Stamp,
}

impl Loaded {
    /// What is known of that model; `None` where it is to be read, or tried again.
    fn known(&self, wanted: &Wanted) -> Option<Result<Arc<Transformer>>> {
        match self {
            Self::Ready(known, model) if known == wanted => Some(Ok(Arc::clone(model))),
            Self::Failed(known, when, error) if known == wanted && when.elapsed() < TRY_AGAIN => {
                Some(Err(error.duplicate()))
            }
            _ => None,
        }
    }
}

/// The chosen model as a question meets it.
pub enum AtHand {
    /// None is chosen.
    Unwanted,
    Ready(Arc<Transformer>),
    /// It cannot be used, for this reason.
    Missing(String),
}

impl AtHand {
    /// The warning of an answer that the model should have reranked.
    fn without(name: &str, why: &Error) -> Self {
        Self::Missing(told_without(name, &why.to_warning()))
    }
}

fn told_without(name: &str, why: &str) -> String {
    format!("the built-in table answered without the model {}: {why}", crate::model::printable(name))
}

/// How fast the work in the background went of late.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    chunks: u32,
    time: Duration,
}

/// The state of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelState {
    /// `None` where nothing was ever embedded with it, and it was not read.
    pub dimension: Option<usize>,
    /// `None` until it is read.
    pub device: Option<String>,
    /// Chunks that have a vector of it, of all.
    pub done: u64,
    pub total: u64,
    /// Whether its space answers.
    pub whole: bool,
    /// What is left, in the background; `None` where nothing is left or no chunk was timed yet.
    pub seconds_left: Option<u64>,
    pub warning: Option<String>,
}

impl Workspace {
    /// The name or path of the model that is chosen.
    pub fn chosen_model(&self) -> Option<String> {
        let stamp = State::stamp(&self.root)?;
        let mut known = locked(&self.chosen.name);
        if known.0 != Some(stamp) {
            *known = (Some(stamp), State::load(&self.root, &self.sources.environment).model);
        }
        known.1.clone()
    }

    /// Chooses a model for this repository from now on: by name or by the absolute path of its folder; `None`: the built-in
    /// table alone.
    pub fn choose_model(&self, model: Option<String>, budget: &Budget) -> Result<()> {
        if self.store.is_read_only() {
            return Err(Error::new(ErrorKind::ReadOnly, "the index cannot be written")
                .hint("Make the repository's folder `.ixmcp` writable."));
        }
        let _turn = UpdateLock::take(&self.root, budget)?;
        let mut state = State::to_change(&self.root, &self.sources.environment)?;
        if state.model != model {
            state.model = model;
            state.save(&self.root, &self.sources.environment)?;
        }
        if state.model.is_none() {
            let table = key(built_in());
            self.store.write(|batch| batch.keep_only(&table, table.model))?;
        }
        Ok(())
    }

    /// The chosen model, read if it is not; `None` where none is chosen.
    pub fn transformer(&self) -> Result<Option<Arc<Transformer>>> {
        let Some(name) = self.chosen_model() else {
            *locked(&self.chosen.model) = Loaded::None;
            return Ok(None);
        };
        let wanted = self.wanted(name)?;
        let mut loaded = locked(&self.chosen.model);
        if let Some(known) = loaded.known(&wanted) {
            return known.map(Some);
        }
        match Transformer::shared(&wanted.name, &wanted.folder, &wanted.runner) {
            Ok(model) => {
                if self.watch.get().is_some() {
                    // It takes as long as many texts do, and no question is to wait for it.
                    model.calibration();
                }
                if let Some(warning) = model.warning() {
                    warn_once(warning.to_owned());
                }
                *loaded = Loaded::Ready(wanted, Arc::clone(&model));
                Ok(Some(model))
            }
            Err(error) => {
                if self.watch.get().is_some() {
                    // Elsewhere the caller receives the error.
                    warn_once(error.to_string());
                }
                *loaded = Loaded::Failed(wanted, Instant::now(), error.duplicate());
                Err(error)
            }
        }
    }

    fn wanted(&self, name: String) -> Result<Wanted> {
        let folder = self.folder_of_model(&name)?;
        Ok(Wanted { files: model_store::stamp(&folder), runner: self.runner(), name, folder })
    }

    /// `GPU_NOT_AVAILABLE` where a model is chosen and must run on a GPU, and cannot: for those who have just brought the
    /// index up to date, which that does not stop.
    pub(super) fn insist_on_gpu(&self) -> Result<()> {
        if self.chosen_model().is_none() || self.runner().gpu != Gpu::Required {
            return Ok(());
        }
        match self.transformer() {
            Err(error) if error.kind == ErrorKind::GpuNotAvailable => {
                let hint = error.hint.as_deref().unwrap_or_default();
                let told = format!("The index is up to date all the same, by words and the built-in table. {hint}");
                Err(error.duplicate().hint(told))
            }
            _ => Ok(()),
        }
    }

    fn runner(&self) -> RunnerConfig {
        RunnerConfig::of(&self.config().model, self.sources.environment.program())
    }

    /// Does without a model that failed at a text, until it is tried again.
    pub fn give_up_model(&self, model: &Arc<Transformer>, error: Error) -> AtHand {
        if self.watch.get().is_some() {
            tracing::warn!("{error}");
        }
        let missing = AtHand::without(&model.space().model, &error);
        Transformer::unshare(model);
        let mut loaded = locked(&self.chosen.model);
        *loaded = match std::mem::take(&mut *loaded) {
            Loaded::Ready(wanted, known) if Arc::ptr_eq(&known, model) => Loaded::Failed(wanted, Instant::now(), error),
            other => other,
        };
        missing
    }

    /// Where the files of a model are.
    fn folder_of_model(&self, name: &str) -> Result<PathBuf> {
        let folder = if name.starts_with('/') {
            PathBuf::from(name)
        } else {
            model_store::folder_of(&model_store::location(&self.sources.environment)?, name)?
        };
        if model_store::is_model(&folder) {
            return Ok(folder);
        }
        Err(model_store::missing(name))
    }

    /// The chosen model if it is at hand. If it must be read first, that begins in the background; but
    /// `GPU_NOT_AVAILABLE` is returned to the caller.
    pub fn transformer_at_hand(self: &Arc<Self>) -> Result<AtHand> {
        *locked(&self.chosen.last_asked) = Some(Instant::now());
        let Some(name) = self.chosen_model() else { return Ok(AtHand::Unwanted) };
        let unless_asked_for = |read: Result<Arc<Transformer>>| match read {
            Err(error) if error.kind != ErrorKind::GpuNotAvailable => Ok(AtHand::without(&name, &error)),
            read => read.map(AtHand::Ready),
        };
        if self.watch.get().is_none() {
            // A process for one query does nothing in the background.
            return match self.transformer().transpose() {
                Some(read) => unless_asked_for(read),
                None => Ok(AtHand::Unwanted),
            };
        }
        let wanted = match self.wanted(name.clone()) {
            Ok(wanted) => wanted,
            Err(error) => return unless_asked_for(Err(error)),
        };
        // The thread that reads it holds the lock.
        if let Some(loaded) = if_free(&self.chosen.model) {
            if let Some(known) = loaded.known(&wanted) {
                return unless_asked_for(known);
            }
            drop(loaded);
            self.work_on();
        }
        Ok(AtHand::Missing(told_without(&name, "it is being read, ask again in a few seconds")))
    }

    /// How long a question may spend on vectors.
    pub fn rerank_time(&self) -> Duration {
        self.config().model.time
    }

    /// What one text took of late; nothing before any was timed.
    pub fn time_of_text(&self) -> Duration {
        let pace = *locked(&self.chosen.pace);
        pace.time.checked_div(pace.chunks).unwrap_or_default()
    }

    /// Keeps what a question learnt, and sees to what it had no time for.
    pub fn remember(
        self: &Arc<Self>,
        model: &Transformer,
        learnt: &[(Vec<u8>, Vector)],
        wanted: &[ChunkId],
    ) -> Result<()> {
        if self.store.is_read_only() {
            return Ok(());
        }
        if !learnt.is_empty() {
            let key = key(model);
            self.store.write(|batch| {
                let space = batch.use_space(&key)?;
                let vectors = learnt.iter().map(|(hash, vector)| (hash.as_slice(), vector.components()));
                batch.keep_text_vectors(space, vectors)
            })?;
        }
        if !wanted.is_empty() {
            let mut waiting = locked(&self.chosen.wanted);
            waiting.retain(|chunk| !wanted.contains(chunk));
            wanted.iter().rev().for_each(|&chunk| waiting.push_front(chunk));
            waiting.truncate(MOST_WANTED);
        }
        self.work_on();
        Ok(())
    }

    /// Starts the work in the background where none is going on: in a process that stays, and with a model.
    pub(super) fn work_on(self: &Arc<Self>) {
        if self.watch.get().is_none() || self.store.is_read_only() || self.chosen_model().is_none() {
            return;
        }
        if self.chosen.at_work.swap(true, Ordering::SeqCst) {
            return;
        }
        let workspace = Arc::downgrade(self);
        let spawned = std::thread::Builder::new().name("transformer".to_owned()).spawn(move || {
            loop {
                let Some(workspace) = workspace.upgrade() else { return };
                match panics::caught(|| workspace.work_a_little()) {
                    Ok(true) => {}
                    Ok(false) => {
                        workspace.chosen.at_work.store(false, Ordering::SeqCst);
                        return;
                    }
                    Err(error) => {
                        warn_once(error.to_string());
                        workspace.chosen.at_work.store(false, Ordering::SeqCst);
                        return;
                    }
                }
            }
        });
        if spawned.is_err() {
            self.chosen.at_work.store(false, Ordering::SeqCst);
        }
    }

    /// A batch of what is to be done; whether there may be more.
    fn work_a_little(&self) -> Result<bool> {
        let Some(model) = self.transformer()? else { return Ok(false) };
        let wanted: Vec<ChunkId> = {
            let mut wanted = locked(&self.chosen.wanted);
            let count = wanted.len().min(BATCH);
            wanted.drain(..count).collect()
        };
        if !wanted.is_empty() {
            self.embed_wanted(&model, &wanted)?;
            return Ok(true);
        }
        let is_idle = locked(&self.chosen.last_asked).is_none_or(|asked| asked.elapsed() >= IDLE);
        if !is_idle || self.progress().is_some() {
            std::thread::sleep(LOOK);
            return Ok(true);
        }
        self.embed_some(&model, 1)
    }

    /// Vectors for the best hits of questions.
    fn embed_wanted(&self, model: &Transformer, wanted: &[ChunkId]) -> Result<()> {
        let key = key(model);
        let space = self.store.write(|batch| batch.use_space(&key))?;
        let chunks = self.store.read(&Budget::unlimited(), |snapshot| {
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
        self.store.write(|batch| {
            let space = batch.use_space(&key)?;
            let kept = chunks.iter().zip(&vectors).map(|(chunk, vector)| (chunk.hash.as_slice(), vector.components()));
            batch.keep_text_vectors(space, kept)
        })
    }

    /// The next chunks in turn; `false` when the space is whole and nothing is left.
    fn embed_some(&self, model: &Transformer, threads: usize) -> Result<bool> {
        let Some(_alone) = if_free(&self.chosen.in_turn) else { return Ok(false) };
        let key = key(model);
        let space = self.store.write(|batch| batch.use_space(&key))?;
        let (batch, known) = self.store.read(&Budget::unlimited(), |snapshot| {
            let batch = snapshot.unembedded(space, BATCH * threads)?;
            let known = batch.iter().map(|chunk| snapshot.text_vector(space, &chunk.hash));
            let known = known.collect::<Result<Vec<_>>>()?;
            Ok((batch, known))
        })?;
        if batch.is_empty() {
            let was_whole = self.store.read(&Budget::unlimited(), |snapshot| snapshot.is_whole(space))?;
            if !was_whole && self.store.write(|batch| batch.make_whole(space))? {
                tracing::info!("{} answers from now on", key.model);
                self.store.write(|batch| batch.keep_only(&key, &built_in().space().model))?;
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
        self.store.write(|changes| {
            // Another file may have come in the place of this one: its space has another number.
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

    /// Vectors of these, and how long they took.
    fn timed(&self, model: &Transformer, chunks: &[Unembedded], threads: usize) -> Result<Vec<Vector>> {
        let begun = Instant::now();
        let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let each = texts.len().div_ceil(threads.min(cores)).max(1);
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
            let mut pace = locked(&self.chosen.pace);
            // The last hundred or so count.
            if pace.chunks > 100 {
                *pace = Pace { chunks: pace.chunks / 2, time: pace.time / 2 };
            }
            pace.chunks += u32::try_from(chunks.len()).unwrap_or(u32::MAX);
            pace.time += begun.elapsed();
        }
        Ok(vectors)
    }

    /// Embeds all chunks with the chosen model, and lets its space answer: as the background does when idle.
    /// `tell` receives the progress now and then.
    pub fn embed_all_by_model(&self, budget: &Budget, tell: &dyn Fn(&ModelState)) -> Result<()> {
        let Some(model) = self.transformer()? else { return Ok(()) };
        let mut told = Instant::now();
        while self.embed_some(&model, MOST_THREADS)? {
            budget.check()?;
            if told.elapsed() >= TELL {
                told = Instant::now();
                tell(&self.model_state(&model.space().model, budget)?);
            }
        }
        Ok(())
    }

    /// How far the model of that name has come. It is not read for this: what only reading shows is left out.
    pub fn model_state(&self, name: &str, budget: &Budget) -> Result<ModelState> {
        let wanted = self.wanted(name.to_owned())?;
        let (mut state, mut own) = (ModelState::default(), None);
        // The thread that reads it holds the lock.
        if let Some(loaded) = if_free(&self.chosen.model) {
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
        state = self.read(budget, |snapshot| {
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
        let pace = *locked(&self.chosen.pace);
        let left = u32::try_from(state.total - state.done).unwrap_or(u32::MAX);
        state.seconds_left = (left > 0 && pace.chunks > 0).then(|| (pace.time * left / pace.chunks).as_secs());
        Ok(state)
    }

    /// Of a model's files, which takes a while and is remembered.
    fn hash_of(&self, wanted: &Wanted) -> Result<String> {
        let mut known = locked(&self.chosen.hash);
        if let Some((_, hash)) = known.as_ref().filter(|(of, _)| of == wanted) {
            return Ok(hash.clone());
        }
        let hash = Recipe::read(&wanted.folder)?.hash;
        *known = Some((wanted.clone(), hash.clone()));
        Ok(hash)
    }

    /// Releases the model when the workspace has been idle for a while.
    pub(super) fn rest_model_after(&self, time: Duration) {
        let is_idle = locked(&self.chosen.last_asked).is_none_or(|asked| asked.elapsed() >= time);
        if is_idle
            && !self.chosen.at_work.load(Ordering::SeqCst)
            && let Some(mut loaded) = if_free(&self.chosen.model)
            && matches!(*loaded, Loaded::Ready(..))
        {
            *loaded = Loaded::None;
        }
    }
}
