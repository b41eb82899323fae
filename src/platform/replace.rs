//! Atomic replacement of a file: either the whole new file is in place, or the old one remains.
//!
//! Owns the temporary file next to it, which is never left behind.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::files;
use super::random::secret;

/// Permissions of the new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// Accessible by this user only.
    Private,
    /// Those of the old file; the system's default if there is none.
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
    let name = file.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let temporary = file.with_file_name(format!(".{name}.{}", &secret()?[..RANDOM_LEN]));
    let mut opened = match permissions {
        Permissions::Private => files::create_private(&temporary)?,
        Permissions::Keep => File::create_new(&temporary)?,
    };
    let mut write = || {
        if let (Permissions::Keep, Ok(old)) = (permissions, fs::metadata(file)) {
            opened.set_permissions(old.permissions())?;
        }
        opened.write_all(bytes)?;
        if durability == Durability::Synced {
            opened.sync_all()?;
        }
        fs::rename(&temporary, file)
    };
    write().inspect_err(|_| drop(fs::remove_file(&temporary)))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_failed_replacement_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir_all(path.join("by a folder")).unwrap();
        assert!(replace(&path, b"text", Permissions::Keep, Durability::Synced).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
