//! Whether the daemon's socket is this user's alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{Finding, Ground, Level};
use crate::error::{Error, Result};
use crate::serve::place::Place;

/// What the socket and its folder are to be.
const SOCKET: u32 = 0o600;
const FOLDER: u32 = 0o700;

fn place(ground: &Ground) -> Place {
    Place::of(&ground.root, &ground.session.sources.environment)
}

pub(super) fn look(ground: &Ground) -> Result<Vec<Finding>> {
    let place = place(ground);
    let shown = place.socket.display();
    if !place.check()? {
        return Ok(vec![Finding::new(Level::Ok, format!("the daemon will make {shown}"))]);
    }
    let is_open = [(Some(place.socket.as_path()), SOCKET), (place.socket.parent(), FOLDER)]
        .into_iter()
        .any(|(path, mode)| path.and_then(mode_of).is_some_and(|found| found & 0o777 & !mode != 0));
    if is_open {
        let message = format!("others may use {shown} or its folder");
        let remedy = format!("Run `chmod 700` on its folder and `chmod 600` on {shown}.");
        return Ok(vec![Finding::new(Level::Error, message).remedy(remedy).mended_by(close)]);
    }
    if !place.is_held() {
        let message = format!("a daemon that was killed left {shown} behind");
        return Ok(vec![Finding::new(Level::Note, message).remedy("Nothing to do: the next daemon makes it anew.")]);
    }
    Ok(vec![Finding::new(Level::Ok, format!("{shown} is yours alone"))])
}

fn mode_of(path: &Path) -> Option<u32> {
    path.symlink_metadata().ok().map(|data| data.permissions().mode())
}

fn close(ground: &Ground) -> Result<()> {
    let socket = place(ground).socket;
    let set = |path: &Path, mode: u32| {
        fs::set_permissions(path, Permissions::from_mode(mode)).map_err(|error| Error::io("close", path, error))
    };
    if let Some(folder) = socket.parent() {
        set(folder, FOLDER)?;
    }
    set(&socket, SOCKET)
}
