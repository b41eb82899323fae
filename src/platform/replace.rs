//! Atomic replacement of a file: either the whole new file is in place, or the old one remains.
//!
//! Owns the temporary file next to it. Only [`stage`] leaves it there, for a caller that replaces several files together.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::files;
use super::random::secret;

/// Permissions of the new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// Accessible by this user only.
    Private,
    /// Permissions of the old file; the system's default if there is none.
    Keep,
}

/// Whether the file must survive a system crash, which requires a slow sync to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A lost file is recreated.
    Unsynced,
    Synced,
}

/// The length of the random part of the temporary file's name.
const RANDOM_LEN: usize = 16;

/// Replaces a file. Of concurrent calls the last one wins, as a whole.
pub fn replace(file: &Path, bytes: &[u8], permissions: Permissions, durability: Durability) -> io::Result<()> {
    let temporary = temporary_for(file)?;
    write_temporary(&temporary, file, bytes, permissions, durability)?;
    fs::rename(&temporary, file).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Replaces a file, with its permissions, if it still holds `before`; creates it if that is `None` and there is still no
/// file. Returns whether it did. What another program puts there at the same moment is not lost.
pub fn replace_unchanged(file: &Path, before: Option<&[u8]>, bytes: &[u8]) -> io::Result<bool> {
    let temporary = temporary_for(file)?;
    stage(&temporary, file, bytes)?;
    let replaced = match before {
        Some(before) => exchange_unchanged(&temporary, file, before, bytes),
        None => files::rename_new(&temporary, file),
    };
    // After an error it may hold what the other program wrote.
    if replaced.is_ok() || fs::read(&temporary).is_ok_and(|left| left == bytes) {
        let _is_renamed = fs::remove_file(&temporary);
    }
    replaced
}

/// Deletes a file if it still holds `before`. Returns whether it did.
pub fn remove_unchanged(file: &Path, before: &[u8]) -> io::Result<bool> {
    let temporary = temporary_for(file)?;
    fs::rename(file, &temporary)?;
    if fs::read(&temporary)? == before {
        return fs::remove_file(&temporary).map(|()| true);
    }
    // If there is a file again, it is a newer one.
    if !files::rename_new(&temporary, file)? {
        fs::remove_file(&temporary)?;
    }
    Ok(false)
}

/// Writes the next version of `file` to `staged`, a name from [`temporary_for`], with the permissions of `file`.
pub fn stage(staged: &Path, file: &Path, bytes: &[u8]) -> io::Result<()> {
    write_temporary(staged, file, bytes, Permissions::Keep, Durability::Synced)
}

/// Exchanges `file` with the one staged next to it, which holds `bytes`, if `file` holds `before`. Returns whether it did; then
/// the staged file holds `before`. The exchanged file shows what was really replaced: if that is a newer version, it is put back.
pub fn exchange_unchanged(staged: &Path, file: &Path, before: &[u8], bytes: &[u8]) -> io::Result<bool> {
    let is_unchanged = match fs::read(file) {
        Ok(now) => now == before,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    if !is_unchanged {
        return Ok(false);
    }
    match exchange(staged, file) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    let mut replaced = fs::read(staged)?;
    if replaced == before {
        return Ok(true);
    }
    let mut put = bytes.to_vec();
    loop {
        exchange(staged, file)?;
        let newest = fs::read(staged)?;
        if newest == put {
            return Ok(false);
        }
        (put, replaced) = (replaced, newest);
    }
}

fn exchange(staged: &Path, file: &Path) -> io::Result<()> {
    match files::exchange(staged, file) {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {
            exchange_in_steps(staged, file)
        }
        exchanged => exchanged,
    }
}

/// Exchanges the files where the file system cannot in one step. Of a process that is killed between the steps,
/// [`complete_exchange`] does the rest.
fn exchange_in_steps(staged: &Path, file: &Path) -> io::Result<()> {
    let kept = kept_for(staged);
    if fs::hard_link(file, &kept).is_err() {
        fs::copy(file, &kept).inspect_err(|_| drop(fs::remove_file(&kept)))?;
    }
    fs::rename(staged, file).inspect_err(|_| drop(fs::remove_file(&kept)))?;
    fs::rename(kept, staged)
}

/// Makes whole an exchange of a killed process: the staged file holds either the next version or the previous one.
pub fn complete_exchange(staged: &Path) -> io::Result<()> {
    let kept = kept_for(staged);
    match (kept.try_exists()?, staged.try_exists()?) {
        (false, _) => Ok(()),
        (true, true) => fs::remove_file(kept),
        (true, false) => fs::rename(kept, staged),
    }
}

/// Where the previous version is until the next one is in place.
fn kept_for(staged: &Path) -> PathBuf {
    staged.with_added_extension("old")
}

/// Writes the new bytes to the temporary file, or leaves none.
fn write_temporary(
    temporary: &Path,
    file: &Path,
    bytes: &[u8],
    permissions: Permissions,
    durability: Durability,
) -> io::Result<()> {
    let mut opened = match permissions {
        Permissions::Private => files::create_private(temporary)?,
        Permissions::Keep => File::create_new(temporary)?,
    };
    let mut write = || {
        if let (Permissions::Keep, Ok(old)) = (permissions, fs::metadata(file)) {
            opened.set_permissions(old.permissions())?;
        }
        opened.write_all(bytes)?;
        if durability == Durability::Synced {
            opened.sync_all()?;
        }
        Ok(())
    };
    write().inspect_err(|_: &io::Error| drop(fs::remove_file(temporary)))
}

/// A name next to a file that no file has.
pub fn temporary_for(file: &Path) -> io::Result<PathBuf> {
    let name = file.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy();
    Ok(file.with_file_name(format!(".{name}.{}", &secret()?[..RANDOM_LEN])))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn concurrent_replacements_are_atomic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    (0..50).for_each(|_| {
                        replace(&path, b"all of it", Permissions::Private, Durability::Unsynced).unwrap();
                    });
                });
            }
        });
        assert_eq!(fs::read(&path).unwrap(), b"all of it");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    fn yield_to_others() -> bool {
        std::thread::sleep(std::time::Duration::from_millis(1));
        false
    }

    #[test]
    fn what_another_program_writes_at_the_same_moment_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "0").unwrap();
        let attempts = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                for count in 1..=2_000_u32 {
                    let text = count.to_string();
                    replace(&path, text.as_bytes(), Permissions::Keep, Durability::Unsynced).unwrap();
                    // Until it is put back, an older version can be there.
                    let is_there = || fs::read_to_string(&path).unwrap().trim_end_matches('x') == text;
                    assert!((0..1_000).any(|_| is_there() || yield_to_others()), "version {count} was lost");
                    // The second attempt from here begins and ends while nothing else writes: it replaces the file.
                    let two_more = attempts.load(Ordering::SeqCst) + 2;
                    let are_made = || attempts.load(Ordering::SeqCst) >= two_more;
                    assert!(count % 100 != 0 || (0..60_000).any(|_| are_made() || yield_to_others()));
                }
            });
            let (mut replaced, mut refused) = (0, 0);
            while !other.is_finished() {
                let before = fs::read(&path).unwrap();
                let after = [before.as_slice(), b"x"].concat();
                match replace_unchanged(&path, Some(&before), &after).unwrap() {
                    true => replaced += 1,
                    false => refused += 1,
                }
                attempts.fetch_add(1, Ordering::SeqCst);
            }
            assert!(replaced >= 20, "{replaced} replaced, {refused} refused");
        });
        assert!(fs::read_to_string(&path).unwrap().starts_with("2000"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_version_that_came_in_between_refuses_the_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "newer").unwrap();
        assert!(!replace_unchanged(&path, Some(b"older"), b"mine").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_file_is_created_or_deleted_only_as_it_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(replace_unchanged(&path, None, b"a").unwrap());
        assert!(!replace_unchanged(&path, None, b"b").unwrap());
        assert!(!remove_unchanged(&path, b"b").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"a");
        assert!(remove_unchanged(&path, b"a").unwrap());
        assert!(!replace_unchanged(&path, Some(b"a"), b"b").unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_exchange_in_steps_can_be_completed_after_each_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let [file, staged] = ["file", "staged"].map(|name| folder.path().join(name));
        let kept = kept_for(&staged);
        let held = |path: &Path| fs::read_to_string(path).unwrap();
        fs::write(&file, "old").unwrap();
        fs::write(&staged, "new").unwrap();
        exchange_in_steps(&staged, &file).unwrap();
        assert_eq!((held(&file).as_str(), held(&staged).as_str()), ("new", "old"));
        fs::hard_link(&file, &kept).unwrap();
        complete_exchange(&staged).unwrap();
        assert_eq!((held(&file).as_str(), held(&staged).as_str()), ("new", "old"), "nothing was replaced yet");
        fs::hard_link(&file, &kept).unwrap();
        fs::rename(&staged, &file).unwrap();
        complete_exchange(&staged).unwrap();
        assert_eq!((held(&file).as_str(), held(&staged).as_str()), ("old", "new"));
        complete_exchange(&staged).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_failed_replacement_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir_all(path.join("by a folder")).unwrap();
        assert!(replace(&path, b"text", Permissions::Keep, Durability::Synced).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
