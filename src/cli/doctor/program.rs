//! Which program this is: its version, what installed it, how it is updated, and whether a shell starts the same one.

use super::super::installation::{Installation, on_path};
use super::{DoctorContext, Finding, Level};
use crate::error::Result;

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let environment = &context.session.sources.environment;
    let version = concat!("ixmcp ", env!("CARGO_PKG_VERSION"));
    let (Some(installation), Some(program)) = (Installation::find(environment), environment.program()) else {
        return Ok(vec![Finding::new(Level::Note, format!("{version}; the system does not say where it is"))]);
    };
    let message = format!("{version}, installed {}: {}", installation.from, program.display());
    let mut findings =
        vec![Finding::new(Level::Ok, message).remedy(format!("To update: {}", lower_first(&installation.update)))];
    if let Some((other, false)) = on_path(environment).filter(|_| installation.launcher.is_none()) {
        let message = format!("a shell, and clients that start ixmcp by name, start another one: {}", other.display());
        let remedy = "Remove the one that you do not want, or change the order of PATH.";
        findings.push(Finding::new(Level::Note, message).remedy(remedy));
    }
    Ok(findings)
}

fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
