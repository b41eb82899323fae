//! Whether a daemon serves the repository, and is of this release.

use super::{DoctorContext, Finding, Level};
use crate::error::Result;
use crate::serve::client::Compatibility;
use crate::serve::launch;

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let Some(client) = launch::find(&context.root, &context.session.sources.environment)? else {
        let note = Finding::new(Level::Note, "no daemon is running for this repository");
        return Ok(vec![note.remedy("None is needed: `ixmcp mcp` starts it, and so does `ixmcp daemon start`.")]);
    };
    let about = client.about();
    Ok(vec![match about.compatibility() {
        Compatibility::Usable => {
            Finding::new(Level::Ok, format!("the daemon is running: process {}, release {}", about.pid, about.version))
        }
        Compatibility::Older => Finding::new(
            Level::Warning,
            format!("the daemon is of an earlier release: process {}, release {}", about.pid, about.version),
        )
        .remedy("Run `ixmcp daemon stop`: the next client starts this release.")
        .fixed_by(stop),
        Compatibility::Incompatible => {
            let message = format!("the daemon is of a later release: process {}, release {}", about.pid, about.version);
            Finding::new(Level::Warning, message).remedy("Update this program.")
        }
    }])
}

fn stop(context: &DoctorContext) -> Result<()> {
    launch::stop(&context.root, &context.session.sources.environment).map(drop)
}
