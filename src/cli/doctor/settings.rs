//! Whether the settings can be read, and which of them are ignored.

use super::{DoctorContext, Finding, Level};
use crate::config::{Config, Warning};
use crate::error::Result;

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let sources = &context.session.sources;
    let (_, warnings) = Config::load(&sources.flags, &sources.environment, Some(&context.root))?;
    if warnings.is_empty() {
        return Ok(vec![Finding::new(Level::Ok, "all settings are valid")]);
    }
    let remedy = "Correct it. docs/settings.md lists all settings.";
    Ok(warnings.into_iter().map(|Warning(text)| Finding::new(Level::Warning, text).remedy(remedy)).collect())
}
