//! Whether the daemon's socket is this user's alone.

use std::path::Path;

use super::{Finding, Ground, Level};
use crate::error::{Error, Result};
use crate::platform::files;
use crate::serve::socket_path::SocketPath;

fn place(ground: &Ground) -> SocketPath {
    SocketPath::of(&ground.root, &ground.session.sources.environment)
}

pub(super) fn look(ground: &Ground) -> Result<Vec<Finding>> {
    let place = place(ground);
    let shown = place.socket.display();
    if !place.check()? {
        return Ok(vec![Finding::new(Level::Ok, format!("the daemon will make {shown}"))]);
    }
    let is_open = |path: &Path| path.symlink_metadata().is_ok_and(|data| !files::is_private(&data));
    let is_open = is_open(&place.socket) || place.socket.parent().is_some_and(is_open);
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

fn close(ground: &Ground) -> Result<()> {
    let socket = place(ground).socket;
    let close = |path: &Path| files::make_private(path).map_err(|error| Error::io("close", path, error));
    socket.parent().map_or(Ok(()), close)?;
    close(&socket)
}
