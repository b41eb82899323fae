//! The memory that all type engines of one user share, whichever process started them.
//!
//! ```text
//! <runtime folder>/engines/<process id>: since when that engine is idle; locked as long as it runs
//! ```
//! Owns that folder, and the rule: beyond the budget, the engine that has been idle longest ends, except the one that was
//! used last. Each process applies it to its own engines. Does not own the limit of a single engine (`child`).

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::locked::locked;
use crate::platform::files;
use crate::platform::own_folder;
use crate::platform::process::resident_memory;
use crate::platform::random::secret;

/// The budget, and the folder in which engines find each other.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    /// The user's own folder, in which `engines` is created.
    pub folder: PathBuf,
    pub bytes: u64,
}

/// Mark that engines in use write.
const BUSY: u64 = u64::MAX;
/// The length of the random part of a temporary name.
const RANDOM_LEN: usize = 16;

/// An engine among all others of its user.
pub(super) struct Member {
    id: u32,
    path: PathBuf,
    budget: u64,
    /// Locked until it is dropped.
    own: Mutex<Own>,
}

struct Own {
    file: File,
    /// The last query as of the last note; `None`: the engine was in use.
    noted: Option<Option<Instant>>,
}

/// State of an engine, as it is noted in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Engine {
    id: u32,
    /// Milliseconds since 1970, or [`BUSY`].
    idle_since: u64,
    memory: u64,
}

impl Member {
    /// Adds the engine that runs as the process `id`.
    pub fn join(budget: &MemoryBudget, id: u32) -> io::Result<Self> {
        let folder = budget.folder.join("engines");
        create_folder(&budget.folder)?;
        create_folder(&folder)?;
        // Others may delete a file that is not locked: it gets its name when it is.
        let temporary = folder.join(format!(".{}", &secret()?[..RANDOM_LEN]));
        let file = files::create_private(&temporary)?;
        let path = folder.join(id.to_string());
        let named = file.lock().and_then(|()| fs::rename(&temporary, &path));
        named.inspect_err(|_| drop(fs::remove_file(&temporary)))?;
        let own = Mutex::new(Own { file, noted: None });
        Ok(Self { id, path, budget: budget.bytes, own })
    }

    /// Notes when the engine was last used (`None`: it is in use), and returns whether it must end now.
    pub fn must_end(&self, last_used: Option<Instant>) -> bool {
        if let Err(error) = self.note(last_used) {
            tracing::debug!(%error, "cannot note when the type engine was used");
        }
        last_used.is_some() && victim(&self.all(), self.budget) == Some(self.id)
    }

    fn note(&self, last_used: Option<Instant>) -> io::Result<()> {
        let mut own = locked(&self.own);
        if own.noted == Some(last_used) {
            return Ok(());
        }
        let since = last_used.map_or(BUSY, |last| millis(SystemTime::now() - last.elapsed()));
        // One line of a fixed length, which is never read half.
        own.file.rewind()?;
        own.file.write_all(format!("{since:020}\n").as_bytes())?;
        own.noted = Some(last_used);
        Ok(())
    }

    /// All running engines.
    fn all(&self) -> Vec<Engine> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| self.engine(&entry.path())).collect()
    }

    fn engine(&self, path: &Path) -> Option<Engine> {
        let id = path.file_name()?.to_str()?.parse().ok()?;
        if id != self.id && !is_locked(path) {
            // Its owner is gone without removing it.
            let _gone_meanwhile = fs::remove_file(path);
            return None;
        }
        let noted = fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
        Some(Engine { id, idle_since: noted.unwrap_or(BUSY), memory: resident_memory(id)? })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.path);
    }
}

/// The engine that ends. The one that was used last stays even if it alone needs more: without it, each query would start
/// another one.
fn victim(engines: &[Engine], budget: u64) -> Option<u32> {
    let used: u64 = engines.iter().map(|engine| engine.memory).sum();
    let last = engines.iter().max_by_key(|engine| (engine.idle_since, engine.id))?;
    let idle = engines.iter().filter(|engine| engine.idle_since != BUSY && engine.id != last.id);
    let longest = idle.min_by_key(|engine| (engine.idle_since, engine.id))?;
    (used > budget).then_some(longest.id)
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(BUSY - 1)
}

/// Creates a folder that only this user can access. One that exists must be such a folder.
fn create_folder(folder: &Path) -> io::Result<()> {
    if files::is_private(&own_folder::create(folder)?) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "other users can access it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_engine_ends_and_the_last_one_stays() {
        let engine = |id, idle_since, memory| Engine { id, idle_since, memory };
        let three = [engine(1, 300, 40), engine(2, 100, 40), engine(3, 200, 40)];
        assert_eq!(victim(&three, 120), None);
        assert_eq!(victim(&three, 119), Some(2));
        assert_eq!(victim(&[three[0], three[2]], 79), Some(3));
        assert_eq!(victim(&[three[0]], 1), None, "each query would start another one");
        assert_eq!(victim(&[engine(1, BUSY, 90), engine(2, 100, 40)], 100), Some(2));
        assert_eq!(victim(&[engine(1, BUSY, 90), engine(2, BUSY, 40)], 100), None);
        assert_eq!(victim(&[], 0), None);
    }

    #[test]
    fn an_engine_whose_owner_is_gone_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let budget = MemoryBudget { folder: folder.path().join("ixmcp"), bytes: 1 };
        let own = Member::join(&budget, std::process::id()).unwrap();
        let engines = budget.folder.join("engines");
        // A process that runs, and is not an engine.
        fs::write(engines.join("1"), "00000000000000000001\n").unwrap();
        fs::write(engines.join("not a number"), "").unwrap();
        assert!(!own.must_end(Some(Instant::now())));
        assert!(!engines.join("1").exists());
        assert_eq!(own.all().len(), 1);
        drop(own);
        assert!(!engines.join(std::process::id().to_string()).exists());
    }
}
