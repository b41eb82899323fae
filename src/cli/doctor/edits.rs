//! Whether a command was killed while it replaced files, so that some are replaced and others are not.

use super::{DoctorContext, Finding, Level, output};
use crate::cli::rewrite::{self, Interrupted};
use crate::error::{ErrorKind, Result};

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let found = rewrite::interrupted(&context.root, &context.session.sources.environment);
    Ok(vec![match found {
        Ok(None) => Finding::new(Level::Ok, "no interrupted edits"),
        Ok(Some(Interrupted { replaced, total })) => {
            let files = output::count(total as u64, "file", "files");
            let message =
                format!("`rename --apply` or `infer --apply` was interrupted: {replaced} of {files} replaced");
            let remedy = "Finish or undo it, as the next such command does.";
            Finding::new(Level::Warning, message).remedy(remedy).fixed_by(settle)
        }
        Err(error) if error.kind == ErrorKind::Busy => Finding::from_error(Level::Note, &error),
        Err(error) => return Err(error),
    }])
}

fn settle(context: &DoctorContext) -> Result<()> {
    rewrite::settle(&context.root, &context.session.sources.environment).map(drop)
}
