//! Reads the bytes of a file with a stat that belongs to them, and decides when a stored stat can be trusted.
//!
//! Owns that pairing, and the rule for racily clean files. The hash itself is `model::ContentHash`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::{RepoPath, Stat};
use crate::platform::beneath::Folder;
use crate::platform::files::stat_of;

/// A write in the same tick of the kernel's clock as our look leaves no trace in the times. Ticks last up to 10 ms;
/// the rest is for file servers whose clock is not quite ours.
const SLACK_NS: i64 = 50_000_000;

/// Where a file system keeps whole seconds (two, on FAT).
const COARSE_SLACK_NS: i64 = 2_000_000_000;

const NS_PER_SECOND: i64 = 1_000_000_000;

/// A file that is written while we read is read again, this often.
const ATTEMPTS: usize = 3;

/// A file's bytes and what was known when they were read.
#[derive(Clone, Debug)]
pub struct Content {
    pub bytes: Vec<u8>,
    /// Belongs to the bytes: had they changed since, the stat would differ (but see [`trusted`]).
    pub stat: Stat,
    /// Our clock just before the stat was taken. Nanoseconds since 1970.
    pub seen_ns: i64,
}

/// Reads a regular file of at most `limit` bytes. Follows no link, waits for no pipe.
///
/// A larger file is `io::ErrorKind::FileTooLarge`.
pub fn read(root: &Path, path: &RepoPath, limit: u64) -> io::Result<Content> {
    read_below(&Folder::open(root)?, path, limit)
}

/// Reads a file below a folder that is open, for many files. Otherwise like [`read`].
pub fn read_below(folder: &Folder, path: &RepoPath, limit: u64) -> io::Result<Content> {
    let seen_ns = now_ns();
    let (file, metadata) = folder.open_file(Path::new(path.as_str()))?;
    let mut content = read_once(&file, (stat_of(&metadata), seen_ns), limit)?;
    for _ in 1..ATTEMPTS {
        let seen_ns = now_ns();
        let stat = stat_of(&file.metadata()?);
        if stat == content.stat {
            break;
        }
        io::Seek::rewind(&mut &file)?;
        content = read_once(&file, (stat, seen_ns), limit)?;
    }
    // Still changing: the stat taken before the bytes is the older one, so the next comparison sees a difference.
    Ok(content)
}

fn read_once(file: &File, (stat, seen_ns): (Stat, i64), limit: u64) -> io::Result<Content> {
    if stat.size > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or(0) + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Content { bytes, stat, seen_ns })
}

/// The time in nanoseconds since 1970.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Whether the bytes read at `seen_ns` with the stat `stored` are still the file's, now that its stat is `now`.
///
/// Equal stats are not enough: a file saved again in the same tick of the clock keeps its times. As git does, a stat
/// is believed only if the later of its times was safely past when the bytes were read; any later write then has a
/// later time. Where both times are whole seconds, the file system is taken to keep no finer ones.
pub fn trusted(stored: &Stat, seen_ns: i64, now: &Stat) -> bool {
    let is_coarse = stored.mtime_ns % NS_PER_SECOND == 0 && stored.ctime_ns % NS_PER_SECOND == 0;
    let slack = if is_coarse { COARSE_SLACK_NS } else { SLACK_NS };
    stored == now && stored.mtime_ns.max(stored.ctime_ns).saturating_add(slack) < seen_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(mtime_ns: i64, ctime_ns: i64) -> Stat {
        Stat { size: 3, mtime_ns, ctime_ns, inode: 7 }
    }

    #[test]
    fn a_stat_is_trusted_only_when_it_was_old_at_reading() {
        let old = stat(1_000_000_001, 1_000_000_001);
        assert!(trusted(&old, 1_060_000_001, &old));
        assert!(!trusted(&old, 1_040_000_001, &old), "within the slack");
        assert!(!trusted(&old, 900_000_000, &old), "read before it was written: the clock went back");
        // `cp -p` and `git checkout` set an old mtime; only the ctime shows it.
        let copied = stat(5, 1_000_000_001);
        assert!(!trusted(&copied, 1_040_000_001, &copied));
        let coarse = stat(3_000_000_000, 3_000_000_000);
        assert!(!trusted(&coarse, 4_900_000_000, &coarse));
        assert!(trusted(&coarse, 5_100_000_000, &coarse));
    }

    #[test]
    fn any_difference_is_a_change() {
        let old = stat(1, 1);
        let seen = 10 * NS_PER_SECOND;
        for other in [
            Stat { size: 4, ..old },
            Stat { mtime_ns: 2, ..old },
            Stat { ctime_ns: 2, ..old },
            Stat { inode: 8, ..old },
        ] {
            assert!(!trusted(&old, seen, &other), "{other:?}");
        }
    }

    #[test]
    fn a_file_is_read_with_its_stat() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "text").unwrap();
        let path = RepoPath::new("a.txt").unwrap();
        let content = read(dir.path(), &path, 4).unwrap();
        assert_eq!(content.bytes, b"text");
        assert_eq!(content.stat, stat_of(&std::fs::metadata(dir.path().join("a.txt")).unwrap()));
        assert!(!trusted(&content.stat, content.seen_ns, &content.stat), "just written");
        assert_eq!(read(dir.path(), &path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
