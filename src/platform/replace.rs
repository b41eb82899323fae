//! Putting a file in place of another: the new one stands there whole, or the old one stays.
//!
//! Owns the draft beside it, which nobody else writes and which never stays behind.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::files;
use super::random::secret;

/// Who may do what with the new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// This user alone.
    Private,
    /// Whoever might with the old one; where there is none, as the system has it.
    Kept,
}

/// Whether the file must outlast a failure of the machine, which takes a while to make sure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// It is made anew when it is lost.
    No,
    Yes,
}

/// Letters of a draft's name that nobody else has.
const OWN: usize = 16;

/// Of several that write at once the last one stays, whole.
pub fn replace(file: &Path, bytes: &[u8], rights: Rights, lasting: Lasting) -> io::Result<()> {
    let name = file.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
    let draft = file.with_file_name(format!(".{name}.{}", &secret()?[..OWN]));
    let mut opened = match rights {
        Rights::Private => files::create_private(&draft)?,
        Rights::Kept => File::create_new(&draft)?,
    };
    let mut write = || {
        if let (Rights::Kept, Ok(old)) = (rights, fs::metadata(file)) {
            opened.set_permissions(old.permissions())?;
        }
        opened.write_all(bytes)?;
        if lasting == Lasting::Yes {
            opened.sync_all()?;
        }
        fs::rename(&draft, file)
    };
    write().inspect_err(|_| drop(fs::remove_file(&draft)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_several_write_at_once_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    (0..50).for_each(|_| replace(&path, b"all of it", Rights::Private, Lasting::No).unwrap());
                });
            }
        });
        assert_eq!(fs::read(&path).unwrap(), b"all of it");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_cannot_be_put_in_place_is_not_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir_all(path.join("by a folder")).unwrap();
        assert!(replace(&path, b"text", Rights::Kept, Lasting::Yes).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
