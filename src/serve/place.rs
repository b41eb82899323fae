//! Where the daemon of a repository listens, and the claim to be that daemon.
//!
//! Owns `.flashgrep/`, the socket's path, the lock that settles who is the daemon, and the distrust of whatever a
//! clone or another user put there. Does not own what is said on the socket.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::platform::files::{self, is_own};
use crate::platform::process::user_id;
use crate::platform::replace::{Durability, Permissions, replace};
use crate::platform::socket::{self, BoundSocket};
use crate::scan;

const FOLDER: &str = ".flashgrep";
const SOCKET: &str = "mcp.sock";
/// Says where the socket is when its path would be too long here.
const POINTER: &str = "mcp.sock.path";
/// How long one who may become the daemon waits for one who is ending.
const PATIENCE: Duration = Duration::from_secs(20);
const RETRY: Duration = Duration::from_millis(10);

/// Where to find the daemon of one repository.
#[derive(Clone, Debug)]
pub struct Place {
    pub root: PathBuf,
    pub socket: PathBuf,
    /// The file that names the socket, where that is not in the repository.
    pointer: Option<PathBuf>,
}

impl Place {
    /// Looks, and changes nothing. `root` is a repository's, without links.
    pub fn of(root: &Path, environment: &Environment) -> Self {
        let folder = root.join(FOLDER);
        let inside = folder.join(SOCKET);
        let is_foreign = folder.symlink_metadata().is_ok_and(|data| data.is_dir() && !is_own(&data));
        if socket::IN_REPOSITORY && !is_foreign && inside.as_os_str().len() <= socket::MAX_PATH_LEN {
            return Self { root: root.to_owned(), socket: inside, pointer: None };
        }
        let pointer = (!is_foreign).then(|| folder.join(POINTER));
        let pointed = pointer.as_deref().and_then(read_pointer);
        let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let socket = pointed.unwrap_or_else(|| runtime_folder(environment).join(format!("{}.sock", &name[..16])));
        Self { root: root.to_owned(), socket, pointer }
    }

    fn folder(&self) -> &Path {
        self.socket.parent().unwrap_or(&self.root)
    }

    fn lock(&self) -> PathBuf {
        self.socket.with_extension("lock")
    }

    /// Whether the socket is there and this user's: nobody else's is ever connected to.
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
            tracing::warn!(folder = %shown(&folder), "git tracks files there: they are not used");
        }
        // A repository that cannot be written has no daemon: there is nobody to write its index.
        let in_repository = if self.folder() == folder || self.pointer.is_some() {
            own_folder(&folder).and_then(|()| put(&folder.join(".gitignore"), b"*\n"))
        } else {
            tracing::warn!(folder = %shown(&folder), "another user owns it: the socket is elsewhere");
            Ok(())
        };
        let failed = |folder: &Path, error: io::Error| {
            Error::new(ErrorKind::ReadOnly, format!("cannot use {}: {error}", shown(folder)))
                .hint("Make it a folder of your own, or remove it.")
                .caused_by(error)
        };
        in_repository.map_err(|error| failed(&folder, error))?;
        if let Some(pointer) = &self.pointer {
            own_folder(self.folder()).map_err(|error| failed(self.folder(), error))?;
            let bytes = self.socket.as_os_str().as_encoded_bytes();
            put(pointer, bytes).map_err(|error| failed(pointer, error))?;
        } else if self.folder() != folder {
            own_folder(self.folder()).map_err(|error| failed(self.folder(), error))?;
        }
        Ok(())
    }

    /// Becomes the daemon; `None` when there is one. Waits for one that is ending.
    pub fn claim(mut self, environment: &Environment) -> Result<Option<Claim>> {
        if self.pointer.is_some() && !self.is_alive() {
            // What a pointer of old names may be in a folder that this session cannot have.
            let _ = self.pointer.as_deref().map(fs::remove_file);
            self = Self::of(&self.root, environment);
        }
        self.prepare()?;
        let path = self.lock();
        let give_up = Instant::now() + PATIENCE;
        loop {
            let lock = open_own(&path).map_err(|error| Error::io("open", &path, error))?;
            match lock.try_lock() {
                Ok(()) if identity(&lock.metadata().ok()) == identity(&path.symlink_metadata().ok()) => {
                    return self.listen(lock).map(Some);
                }
                // Somebody removed the file meanwhile: this lock keeps nobody out.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if self.is_alive() => return Ok(None),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path, error)),
            }
            if Instant::now() >= give_up {
                return Err(Error::new(
                    ErrorKind::Busy,
                    format!("{} is held by a process that does not answer", shown(&path)),
                )
                .hint("See which by `fuser` on that file, and end it."));
            }
            std::thread::sleep(RETRY);
        }
    }

    /// Whether a process is the daemon, is becoming it, or has not ended yet.
    pub fn is_held(&self) -> bool {
        let lock = File::open(self.lock());
        lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
    }

    fn is_alive(&self) -> bool {
        socket::is_listening(&self.socket)
    }

    /// Only the holder of the lock comes here, and only what nobody listens on is removed.
    fn listen(self, lock: File) -> Result<Claim> {
        if let Ok(data) = self.socket.symlink_metadata() {
            if socket::is_socket(data.file_type()) && self.is_alive() {
                return Err(Error::new(ErrorKind::Busy, format!("another program listens on {}", shown(&self.socket)))
                    .hint("End it, or use --no-daemon."));
            }
            fs::remove_file(&self.socket).map_err(|error| Error::io("remove", &self.socket, error))?;
        }
        let bound = BoundSocket::at(&self.socket).and_then(|bound| Ok((bound, self.socket.symlink_metadata()?)));
        let (bound, data) = bound.map_err(|error| Error::io("listen on", &self.socket, error))?;
        let root_data = self.root.metadata().ok();
        Ok(Claim { root: identity(&root_data), socket: identity(&Some(data)), bound, place: self, lock })
    }
}

/// The right to be the daemon of a repository, and its socket. Dropping it removes the socket; the lock goes with it,
/// and with the process in any case.
pub struct Claim {
    pub bound: BoundSocket,
    pub place: Place,
    lock: File,
    root: Option<(u64, u64)>,
    socket: Option<(u64, u64)>,
}

impl Claim {
    /// Whether clients still find this daemon here: repository, socket and lock are those that it claimed.
    pub fn holds(&self) -> bool {
        let at = |path: &Path| identity(&path.symlink_metadata().ok());
        at(&self.place.root) == self.root
            && at(&self.place.socket) == self.socket
            && at(&self.place.lock()) == identity(&self.lock.metadata().ok())
    }

    /// From here on nobody finds the socket; the lock stays held.
    pub fn withdraw(&self) {
        if identity(&self.place.socket.symlink_metadata().ok()) == self.socket {
            // It may have gone with its folder.
            let _ = fs::remove_file(&self.place.socket);
            let _ = self.place.pointer.as_deref().map(fs::remove_file);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// `$XDG_RUNTIME_DIR/ixmcp`, else a folder of this user's among the temporary ones.
fn runtime_folder(environment: &Environment) -> PathBuf {
    let of_session = environment.runtime_folder().filter(|folder| {
        folder.parent().and_then(|base| base.metadata().ok()).is_some_and(|data| data.is_dir() && is_own(&data))
    });
    of_session.unwrap_or_else(|| environment.temporary_folder().join(temporary_name()))
}

fn temporary_name() -> std::ffi::OsString {
    format!("ixmcp-{}", user_id()).into()
}

/// Trusted only as this user's own file in this user's own folder.
fn read_pointer(pointer: &Path) -> Option<PathBuf> {
    let folder = pointer.parent()?.symlink_metadata().ok()?;
    let data = pointer.symlink_metadata().ok()?;
    if !folder.is_dir() || !is_own(&folder) || !data.is_file() || !is_own(&data) {
        return None;
    }
    let mut text = String::new();
    File::open(pointer).ok()?.take(4096).read_to_string(&mut text).ok()?;
    let socket = PathBuf::from(text);
    // What a repository ships may not lead to the sockets of other programs.
    let is_ours_by_name = socket.extension().is_some_and(|extension| extension == "sock")
        && socket
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|folder| folder == "ixmcp" || folder == temporary_name());
    (is_ours_by_name && socket.is_absolute() && socket.as_os_str().len() <= socket::MAX_PATH_LEN).then_some(socket)
}

/// Makes the folder, or makes it private: never through a link, never another user's.
fn own_folder(folder: &Path) -> io::Result<()> {
    if let Ok(data) = folder.symlink_metadata()
        && !data.is_dir()
    {
        tracing::warn!(folder = %shown(folder), "it is a link or a file: it is made anew");
        fs::remove_file(folder)?;
    }
    match files::create_private_folder(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let data = folder.symlink_metadata()?;
    if !data.is_dir() || !is_own(&data) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    if files::is_private(&data) { Ok(()) } else { files::make_private(folder) }
}

/// A private file, which is made anew when it is lost.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Permissions::Private, Durability::Unsynced)
}

/// Opens a private file of this user's, made when absent; a link or another's file there is made anew.
pub fn open_own(path: &Path) -> io::Result<File> {
    if let Ok(data) = path.symlink_metadata()
        && !(data.is_file() && is_own(&data))
    {
        tracing::warn!(file = %shown(path), "it is not ours: it is made anew");
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
