//! Resolution by SCIP files: what an indexer of the language states about a reference.
//!
//! Owns the choice of the definitions in the index that match a statement. Does not own whether a statement is
//! still valid (`query::scip`).

use std::rc::Rc;

use super::resolution::{Declarations, Resolution, ResolutionRule, Resolver};
use crate::error::Result;
use crate::query::scip;
use crate::store::{Reference, ScipOccurrence};

impl Resolver<'_> {
    /// The definitions that a SCIP file states for a reference; empty if the symbol is defined outside the repository.
    /// `None` if no SCIP file says what is at the reference, or if the index has no symbol at the stated position, such
    /// as that of a whole file.
    pub(super) fn stated(&mut self, used: &Reference) -> Result<Option<Resolution>> {
        if !self.has_scip()? {
            return Ok(None);
        }
        let snapshot = self.library.snapshot;
        let Some(subject) = scip::subject(snapshot, &used.path, used.line, used.column)? else { return Ok(None) };
        let stated = scip::definitions(snapshot, &subject)?;
        if stated.is_empty() {
            let is_elsewhere = subject.external().is_some();
            return Ok(is_elsewhere.then_some(Resolution { how: ResolutionRule::Scip, targets: Vec::new() }));
        }
        // The constructed type comes before its constructor, and is the target if no constructor is written.
        let stated: Vec<ScipOccurrence> = scip::kin(snapshot, &subject)?.into_iter().chain(stated).collect();
        let targets = self.defined_at(&stated)?;
        Ok((!targets.is_empty()).then_some(Resolution { how: ResolutionRule::Scip, targets }))
    }

    /// Whether any SCIP file is loaded.
    pub(super) fn has_scip(&mut self) -> Result<bool> {
        match self.has_scip {
            Some(known) => Ok(known),
            None => Ok(*self.has_scip.insert(self.library.snapshot.has_scip()?)),
        }
    }

    /// The definitions that the index has at these positions.
    pub(super) fn defined_at(&mut self, positions: &[ScipOccurrence]) -> Result<Declarations> {
        let mut found = Vec::new();
        for one in positions {
            let Some(file) = self.library.open(&one.path)? else { continue };
            let symbols = self.library.symbols(&file)?;
            let defined = symbols
                .iter()
                .find(|symbol| (symbol.definition.line, symbol.definition.column) == (one.line, one.column));
            found.extend(defined.map(Rc::clone));
        }
        Ok(found)
    }
}
