//! Checks that the grammars of all languages load, and that their queries fit them.

use super::{DoctorContext, Finding, Level};
use crate::error::Result;
use crate::extract::{self, languages};

pub(super) fn look(_: &DoctorContext) -> Result<Vec<Finding>> {
    let all: Vec<_> = languages::LANGUAGES.iter().filter(|language| language.grammar.is_some()).collect();
    let faults: Vec<String> = all.iter().filter_map(|language| extract::fault_of(language)).collect();
    if faults.is_empty() {
        return Ok(vec![Finding::new(Level::Ok, format!("{} languages", all.len()))]);
    }
    let remedy = "Files of that language can be searched by their words only. Reinstall ixmcp, and please report this.";
    Ok(faults.into_iter().map(|fault| Finding::new(Level::Error, fault).remedy(remedy)).collect())
}
