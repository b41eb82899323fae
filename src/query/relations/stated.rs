//! Resolution by SCIP files: what an indexer of the language states about a reference.
//!
//! Owns which definitions of the index are the stated ones. Does not own whether a statement still counts (`query::scip`).

use std::rc::Rc;

use super::resolve::{Resolution, ResolutionRule, Resolver};
use crate::error::Result;
use crate::query::scip;
use crate::store::Reference;

impl Resolver<'_> {
    /// The definitions that a SCIP file states for a reference, none for one outside the repository. `None` if no SCIP file
    /// says what is there, or if the index has no symbol where it is defined, such as a whole file.
    pub(super) fn stated(&mut self, used: &Reference) -> Result<Option<Resolution>> {
        let snapshot = self.library.snapshot;
        let has_scip = match self.has_scip {
            Some(known) => known,
            None => *self.has_scip.insert(snapshot.has_scip()?),
        };
        if !has_scip {
            return Ok(None);
        }
        let Some(subject) = scip::subject(snapshot, &used.path, used.line, used.column)? else { return Ok(None) };
        let stated = scip::definitions(snapshot, &subject)?;
        if stated.is_empty() {
            let is_elsewhere = subject.external().is_some();
            return Ok(is_elsewhere.then_some(Resolution { how: ResolutionRule::Scip, targets: Vec::new() }));
        }
        let mut targets = Vec::new();
        for one in stated {
            let Some(file) = self.library.open(&one.path)? else { continue };
            let symbols = self.library.symbols(&file)?;
            let defined = symbols
                .iter()
                .find(|symbol| (symbol.definition.line, symbol.definition.column) == (one.line, one.column));
            targets.extend(defined.map(Rc::clone));
        }
        Ok((!targets.is_empty()).then_some(Resolution { how: ResolutionRule::Scip, targets }))
    }
}
