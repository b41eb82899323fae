//! The path of a repository's daemon socket, and the claim to be that daemon.
//!
//! Owns `.flashgrep/`, the socket's path, the lock that decides which process is the daemon, and the checks against files
//! that a clone or another user put there. Does not own the protocol on the socket.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::platform::files::{self, is_own};
use crate::platform::own_folder;
use crate::platform::process;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::platform::socket::{self, BoundSocket};
use crate::scan;

const FOLDER: &str = ".flashgrep";
const SOCKET: &str = "mcp.sock";
/// A file with the socket's path, used if the path in the repository would be too long.
const POINTER: &str = "mcp.sock.path";
/// How long a new daemon waits for the lock of one that is ending.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Where the daemon of one repository listens.
#[derive(Clone, Debug)]
pub struct SocketPath {
    pub root: PathBuf,
    pub socket: PathBuf,
    /// The file that contains the socket's path, if the socket is not in the repository.
    pointer: Option<PathBuf>,
}

impl SocketPath {
    /// Determines the path without changing anything. `root` is a repository's root without symbolic links.
    pub fn find(root: &Path, environment: &Environment) -> Self {
        let folder = root.join(FOLDER);
        let inside = folder.join(SOCKET);
        // Another user's folder cannot hold the socket, and neither can one that is not writable.
        let is_usable = match folder.symlink_metadata() {
            Ok(data) => !data.is_dir() || (is_own(&data) && files::may_write(&folder)),
            Err(_) => files::may_write(root),
        };
        if socket::IN_REPOSITORY && is_usable && inside.as_os_str().len() <= socket::MAX_PATH_LEN {
            return Self { root: root.to_owned(), socket: inside, pointer: None };
        }
        let pointer = is_usable.then(|| folder.join(POINTER));
        let pointed = pointer.as_deref().and_then(read_pointer);
        let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let socket = pointed.unwrap_or_else(|| environment.runtime_folder().join(format!("{}.sock", &name[..16])));
        Self { root: root.to_owned(), socket, pointer }
    }

    fn folder(&self) -> &Path {
        self.socket.parent().unwrap_or(&self.root)
    }

    fn lock(&self) -> PathBuf {
        self.socket.with_extension("lock")
    }

    /// Whether the socket exists. Fails if it belongs to another user, so that nothing connects to it.
    pub fn check(&self) -> Result<bool> {
        let Ok(data) = self.socket.symlink_metadata() else { return Ok(false) };
        let folder = self.folder();
        let keeps_out = |data: Metadata| data.is_dir() && is_own(&data);
        if !folder.symlink_metadata().is_ok_and(keeps_out) || !is_own(&data) {
            return Err(Error::invalid_path(format!("{} belongs to another user or is a link", shown(&self.socket)))
                .hint("Remove it."));
        }
        Ok(socket::is_socket(data.file_type()))
    }

    fn prepare(&self) -> Result<()> {
        let folder = self.root.join(FOLDER);
        if scan::tracks_under(&self.root, FOLDER) {
            tracing::warn!(folder = %shown(&folder), "git tracks files in this folder: they are not used");
        }
        let in_repository = if self.folder() == folder || self.pointer.is_some() {
            private_folder(&folder).and_then(|()| own_folder::hide_from_git(&folder))
        } else {
            tracing::warn!(folder = %shown(&folder), "this folder cannot be used: the socket is in another one");
            Ok(())
        };
        let failed = |folder: &Path, error: io::Error| {
            Error::new(ErrorKind::ReadOnly, format!("cannot use {}: {error}", shown(folder)))
                .hint("Take ownership of the folder, or remove it.")
                .caused_by(error)
        };
        in_repository.map_err(|error| failed(&folder, error))?;
        if let Some(pointer) = &self.pointer {
            private_folder(self.folder()).map_err(|error| failed(self.folder(), error))?;
            let bytes = self.socket.as_os_str().as_encoded_bytes();
            put(pointer, bytes).map_err(|error| failed(pointer, error))?;
        } else if self.folder() != folder {
            private_folder(self.folder()).map_err(|error| failed(self.folder(), error))?;
        }
        Ok(())
    }

    /// Claims to be the daemon; `None` if there is one. Waits for a daemon that is ending.
    pub fn claim(mut self, environment: &Environment) -> Result<Option<Claim>> {
        if self.pointer.is_some() && !self.is_alive() {
            // An old pointer may name a folder that this login session cannot access.
            let _ = self.pointer.as_deref().map(fs::remove_file);
            self = Self::find(&self.root, environment);
        }
        self.prepare()?;
        let path = self.lock();
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            let lock = open_own(&path).map_err(|error| Error::io("open", &path, error))?;
            match lock.try_lock() {
                Ok(()) if identity(&lock.metadata().ok()) == identity(&path.symlink_metadata().ok()) => {
                    return self.listen(lock).map(Some);
                }
                // Another process removed the file meanwhile, so this lock excludes no one: open the new file.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if self.is_alive() => return Ok(None),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) if files::lacks_locks(&error) => {
                    return Err(Error::new(ErrorKind::ReadOnly, format!("cannot lock {}: {error}", shown(&path)))
                        .hint("A repository on a file system without locks has no daemon: use --no-daemon.")
                        .caused_by(error));
                }
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path, error)),
            }
            if Instant::now() >= deadline {
                return Err(Error::new(
                    ErrorKind::Busy,
                    format!("{} is held by a process that does not answer", shown(&path)),
                )
                .hint("Find the process with `fuser` on that file, and kill it."));
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Writes the process into the lock file, until the claim is withdrawn. Returns the process whose claim was not.
    fn mark(&self, mut lock: &File) -> Option<u32> {
        let before = fs::read_to_string(self.lock()).ok()?;
        let marked = lock.set_len(0).and_then(|()| lock.write_all(std::process::id().to_string().as_bytes()));
        if let Err(error) = marked {
            tracing::debug!(%error, "the lock file was not marked");
        }
        before.parse().ok()
    }

    /// Whether a process holds the lock: the daemon, or one that starts or ends.
    pub fn is_held(&self) -> bool {
        let lock = File::open(self.lock());
        lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
    }

    fn is_alive(&self) -> bool {
        socket::is_listening(&self.socket)
    }

    /// Listens on the socket. Requires the lock. Removes an existing socket only if no process listens on it.
    fn listen(self, lock: File) -> Result<Claim> {
        if let Ok(data) = self.socket.symlink_metadata() {
            if socket::is_socket(data.file_type()) && self.is_alive() {
                return Err(Error::new(ErrorKind::Busy, format!("another program listens on {}", shown(&self.socket)))
                    .hint("Stop it, or use --no-daemon."));
            }
            fs::remove_file(&self.socket).map_err(|error| Error::io("remove", &self.socket, error))?;
        }
        let bound = BoundSocket::at(&self.socket).and_then(|bound| Ok((bound, self.socket.symlink_metadata()?)));
        let (bound, data) = bound.map_err(|error| Error::io("listen on", &self.socket, error))?;
        if let Some(pid) = self.mark(&lock) {
            tracing::warn!(
                pid,
                "the daemon before this one was ended from outside: it was killed, it crashed, or the system lacked memory"
            );
        }
        let root_data = self.root.metadata().ok();
        Ok(Claim { root: identity(&root_data), socket: identity(&Some(data)), bound, path: self, lock })
    }
}

/// The right to be the daemon of a repository, with its socket. Dropping it removes the socket and releases the lock, which
/// the system also releases when the process ends.
pub struct Claim {
    pub bound: BoundSocket,
    pub path: SocketPath,
    lock: File,
    /// The identities of the root folder and the socket at the time of the claim.
    root: Option<(u64, u64)>,
    socket: Option<(u64, u64)>,
}

impl Claim {
    /// Whether clients can still find this daemon: repository, socket and lock are the claimed ones.
    pub fn holds(&self) -> bool {
        let at = |path: &Path| identity(&path.symlink_metadata().ok());
        at(&self.path.root) == self.root
            && at(&self.path.socket) == self.socket
            && at(&self.path.lock()) == identity(&self.lock.metadata().ok())
    }

    /// Removes the socket, so that no new client connects. Keeps the lock.
    pub fn withdraw(&self) {
        // If it fails, the next daemon takes this one for killed.
        let _ = self.lock.set_len(0);
        if identity(&self.path.socket.symlink_metadata().ok()) == self.socket {
            // It may have been removed with its folder.
            let _ = fs::remove_file(&self.path.socket);
            let _ = self.path.pointer.as_deref().map(fs::remove_file);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// Reads a pointer. It is trusted only if this user owns the file and its folder.
fn read_pointer(pointer: &Path) -> Option<PathBuf> {
    let folder = pointer.parent()?.symlink_metadata().ok()?;
    let data = pointer.symlink_metadata().ok()?;
    if !folder.is_dir() || !is_own(&folder) || !data.is_file() || !is_own(&data) {
        return None;
    }
    let mut text = String::new();
    File::open(pointer).ok()?.take(4096).read_to_string(&mut text).ok()?;
    let socket = PathBuf::from(text);
    // A file in a repository must not direct us to the sockets of other programs.
    let is_ours_by_name = socket.extension().is_some_and(|extension| extension == "sock")
        && socket
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|folder| folder == "ixmcp" || folder == process::own_name().as_str());
    (is_ours_by_name && socket.is_absolute() && socket.as_os_str().len() <= socket::MAX_PATH_LEN).then_some(socket)
}

/// Creates a folder, or makes it private. A link is replaced; folders of other users are rejected.
fn private_folder(folder: &Path) -> io::Result<()> {
    if let Ok(data) = folder.symlink_metadata()
        && !data.is_dir()
    {
        tracing::warn!(folder = %shown(folder), "it is a link or a file: it is replaced by a folder");
        fs::remove_file(folder)?;
    }
    own_folder::create_private(folder)
}

/// Writes a private file. It need not survive a power failure.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Permissions::Private, Durability::Unsynced)
}

/// Opens this user's private file, and creates it if necessary. A link, or a file of another user, is replaced.
pub fn open_own(path: &Path) -> io::Result<File> {
    if let Ok(data) = path.symlink_metadata()
        && !(data.is_file() && is_own(&data))
    {
        tracing::warn!(file = %shown(path), "it is a link or belongs to another user: it is replaced");
        fs::remove_file(path)?;
    }
    files::append_private(path)
}

fn identity(data: &Option<Metadata>) -> Option<(u64, u64)> {
    data.as_ref().map(files::identity)
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
