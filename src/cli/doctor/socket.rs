//! Whether only this user can access the daemon's socket.

use std::path::Path;

use super::{DoctorContext, Finding, Level};
use crate::error::{Error, Result};
use crate::platform::files;
use crate::serve::socket_path::SocketPath;

fn socket_path(context: &DoctorContext) -> SocketPath {
    SocketPath::find(&context.root, &context.session.sources.environment)
}

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let socket_path = socket_path(context);
    let shown = socket_path.socket.display();
    if !socket_path.check()? {
        return Ok(vec![Finding::new(Level::Ok, format!("the daemon will create {shown}"))]);
    }
    let is_open = |path: &Path| path.symlink_metadata().is_ok_and(|data| !files::is_private(&data));
    let is_open = is_open(&socket_path.socket) || socket_path.socket.parent().is_some_and(is_open);
    if is_open {
        let message = format!("other users can access {shown} or its folder");
        let remedy = format!("Run `chmod 700` on its folder and `chmod 600` on {shown}.");
        return Ok(vec![Finding::new(Level::Error, message).remedy(remedy).fixed_by(close)]);
    }
    if !socket_path.is_held() {
        let message = format!("a daemon that was killed left {shown} behind");
        return Ok(vec![Finding::new(Level::Note, message).remedy("Nothing to do: the next daemon creates it again.")]);
    }
    Ok(vec![Finding::new(Level::Ok, format!("only you can access {shown}"))])
}

fn close(context: &DoctorContext) -> Result<()> {
    let socket = socket_path(context).socket;
    let close = |path: &Path| files::make_private(path).map_err(|error| Error::io("close", path, error));
    socket.parent().map_or(Ok(()), close)?;
    close(&socket)
}
