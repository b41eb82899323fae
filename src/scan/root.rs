//! Which folder is the repository, and which folders never are one.
//!
//! Owns the way from a start folder to a root, and the list of folders that hold people's secrets or the system.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::model::printable;
use crate::platform::files::is_own;
use crate::platform::paths::canonical;

/// A folder that holds one of these is a repository's root.
const MARKERS: &[&str] = &[".ixmcp", ".ixchel", ".git"];

/// Below any home: keys, tokens and settings of other programs.
const PRIVATE_IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    "Library",
    "AppData/Roaming",
];

/// The system's own, with everything below.
const SYSTEM_TREES: &[&str] = &[
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/boot",
    "/run",
    "/var/run",
    "/System",
    "/private/etc",
    "/private/var/db",
    "C:/Windows",
];

/// Temporary folders in one of these trees; what people put below may be a repository.
const TEMPORARY: &[&str] = &["/dev/shm"];

/// The system's own; what people put below may be a repository.
const SYSTEM_FOLDERS: &[&str] = &[
    "/",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/share",
    "/usr/local",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/cache",
    "/var/spool",
    "/opt",
    "/srv",
    "/mnt",
    "/media",
    "/home",
    "/Users",
    "/Library",
    "/Applications",
    "/Volumes",
    "/private",
    "/private/var",
];

/// Below this user number accounts belong to services, whose "home" may be anything. macOS starts at 501.
const FIRST_PERSON: u32 = 500;

/// The user that owns files of unknown owners, in its two customary numbers.
const OVERFLOW_USER: &[u32] = &[65_534, 4_294_967_294];

/// The home folders of this machine.
#[derive(Clone, Debug, Default)]
pub struct HomeFolders(Vec<PathBuf>);

impl HomeFolders {
    /// Reads the home folders in the user database, and adds the one that the environment names.
    pub fn load(home: Option<&Path>) -> Self {
        let passwd = std::fs::read("/etc/passwd").unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&passwd), home)
    }

    fn parse(passwd: &str, home: Option<&Path>) -> Self {
        let of_line = |line: &str| {
            let mut fields = line.split(':');
            let user: u32 = fields.nth(2)?.parse().ok()?;
            let is_person = (user == 0 || user >= FIRST_PERSON) && !OVERFLOW_USER.contains(&user);
            is_person.then(|| fields.nth(2).map(PathBuf::from)).flatten()
        };
        let named = passwd.lines().filter_map(of_line).chain(home.map(Path::to_path_buf));
        let mut homes: Vec<PathBuf> = named
            .filter(|home| home.is_absolute() && home.parent().is_some())
            .flat_map(|home| [canonical(&home).unwrap_or_else(|_| home.clone()), home])
            .collect();
        homes.sort();
        homes.dedup();
        Self(homes)
    }

    /// Why `folder` (absolute, without links) can be no repository and no indexed folder.
    fn refusal(&self, folder: &Path) -> Option<&'static str> {
        let is_system = SYSTEM_FOLDERS.iter().any(|system| folder == Path::new(system))
            || SYSTEM_TREES.iter().any(|system| folder.starts_with(system)) && !is_below(folder, TEMPORARY);
        let is_private = |home: &PathBuf| PRIVATE_IN_HOME.iter().any(|private| folder.starts_with(home.join(private)));
        if is_system {
            Some("a folder of the system")
        } else if self.0.iter().any(|home| home == folder) {
            Some("a home folder")
        } else if self.0.iter().any(|home| home.starts_with(folder)) {
            Some("a folder around a home folder")
        } else if self.0.iter().any(is_private) {
            Some("a private folder of a user")
        } else {
            None
        }
    }

    /// The folder without links, if it may be a repository or be indexed; else `INVALID_PATH`.
    pub fn admit(&self, folder: &Path) -> Result<PathBuf> {
        let folder = existing(folder)?;
        match self.refusal(&folder) {
            None => Ok(folder),
            Some(reason) => Err(refused(&folder, reason)),
        }
    }
}

/// The repository that contains `start`: the nearest folder at or above it that may be one and holds `.ixmcp`,
/// `.ixchel` or `.git`; else the folder itself. `INVALID_PATH` where that may be none.
pub fn repository_root(start: &Path, homes: &HomeFolders) -> Result<PathBuf> {
    let start = existing(start)?;
    let marked = start.ancestors().find(|folder| homes.refusal(folder).is_none() && holds_marker(folder));
    match (marked, homes.refusal(&start)) {
        (Some(root), _) => Ok(root.to_path_buf()),
        (None, None) => Ok(start),
        (None, Some(reason)) => Err(refused(&start, reason)),
    }
}

fn is_below(folder: &Path, folders: &[&str]) -> bool {
    folders.iter().any(|above| folder != Path::new(above) && folder.starts_with(above))
}

/// Whether the folder has a mark of a repository.
fn holds_marker(folder: &Path) -> bool {
    MARKERS.iter().any(|marker| std::fs::symlink_metadata(folder.join(marker)).is_ok())
}

/// Whether the folder is a repository that this user made: one may only be named that somebody chose to keep.
pub fn is_own_repository(folder: &Path) -> bool {
    [".git", ".ixchel", ".ixmcp/index.db"].iter().any(|marker| {
        std::fs::symlink_metadata(folder.join(marker)).is_ok_and(|data| is_own(&data) && !data.is_symlink())
    })
}

/// A file stands for the folder it is in.
fn existing(folder: &Path) -> Result<PathBuf> {
    let shown = || printable(&folder.to_string_lossy());
    let found = canonical(folder).map_err(|error| {
        let what = format!("{} cannot be used: {error}", shown());
        Error::invalid_path(what).hint("Name the repository by --repo.").caused_by(error)
    })?;
    let folder = if found.is_dir() { Some(found.as_path()) } else { found.parent() };
    folder.map(Path::to_path_buf).ok_or_else(|| Error::invalid_path(format!("{} is not a folder", shown())))
}

fn refused(folder: &Path, reason: &str) -> Error {
    Error::invalid_path(format!("{} is {reason} and never indexed", printable(&folder.to_string_lossy())))
        .hint("Name a project's folder by --repo.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn homes() -> HomeFolders {
        let passwd = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1::/usr/games:/x\nann:x:1000:1000:Ann:/home/ann:/bin/sh\n\
                      nobody:x:65534:65534::/work:/x\nbroken line\nshort:x:1001\n";
        HomeFolders::parse(passwd, Some(Path::new("/people/bob")))
    }

    #[test]
    fn homes_systems_and_secrets_are_refused_and_projects_are_not() {
        let homes = homes();
        for folder in [
            "/",
            "/root",
            "/home",
            "/home/ann",
            "/people",
            "/people/bob",
            "/home/ann/.ssh",
            "/home/ann/.config/x/y",
            "/root/.aws",
            "/etc",
            "/etc/nginx",
            "/proc/1",
            "/dev/shm",
            "/run/user/1000",
            "/usr",
            "/var",
        ] {
            assert!(homes.refusal(Path::new(folder)).is_some(), "{folder}");
        }
        for folder in [
            "/root/project",
            "/home/ann/project",
            "/home/ann/.configs",
            "/home/annabel/x",
            "/tmp/x",
            "/dev/shm/x",
            "/work",
            "/work/x",
            "/usr/src/linux",
            "/var/www/site",
            "/people/bob/x",
            "/usr/games",
            "/opt/x",
            "/home/ann/project/.config",
        ] {
            assert_eq!(homes.refusal(Path::new(folder)), None, "{folder}");
        }
    }

    #[test]
    fn the_nearest_marked_folder_is_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().canonicalize().unwrap();
        for folder in ["home/.git", "home/.ssh", "home/a/.git", "home/a/b/c", "home/a/d/.ixchel", "home/plain/x"] {
            std::fs::create_dir_all(at.join(folder)).unwrap();
        }
        std::fs::write(at.join("home/a/b/file"), "").unwrap();
        let homes = HomeFolders::parse("", Some(&at.join("home")));
        let root = |start: &str| repository_root(&at.join(start), &homes);
        assert_eq!(root("home/a/b/c").unwrap(), at.join("home/a"));
        assert_eq!(root("home/a/b/file").unwrap(), at.join("home/a"));
        assert_eq!(root("home/a/d").unwrap(), at.join("home/a/d"));
        assert_eq!(root("home/plain/x").unwrap(), at.join("home/plain/x"), "a home with .git is passed over");
        for start in ["home", "home/.ssh", ".", "home/missing"] {
            let error = root(start).unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidPath);
            assert!(error.to_string().contains("--repo"), "{error}");
        }
        std::os::unix::fs::symlink("home", at.join("way")).unwrap();
        assert!(root("way").is_err(), "however reached");
        assert!(homes.admit(&at.join("home/a/b")).is_ok());
        assert!(is_own_repository(&at.join("home/a")) && is_own_repository(&at.join("home/a/d")));
        assert!(!is_own_repository(&at.join("home/a/b")));
    }
}
