//! Resolution by name alone, where no rule finds what a reference refers to.
//!
//! Owns which definition of a name is the likeliest.

use std::collections::HashSet;
use std::rc::Rc;

use super::opened::ParsedFile;
use super::resolution::{Declarations, Resolution, ResolutionRule, Resolver};
use super::{kinds, modules};
use crate::store::{Definition, DefinitionNode};

/// Targets kept of an ambiguous name.
const TARGETS: usize = 10;

/// Sort key of a definition (whether it belongs to tests, whether it has no body, the number of folders that it shares
/// with the reference), and the definition.
type RankedItem = ((bool, bool, std::cmp::Reverse<usize>), Rc<DefinitionNode>);

impl Resolver<'_> {
    /// A resolution to the first of some definitions; `None` without any.
    pub(super) fn one(how: ResolutionRule, mut targets: Declarations) -> Option<Resolution> {
        let mut seen = HashSet::new();
        targets.retain(|target| seen.insert(target.id));
        targets.truncate(TARGETS);
        (!targets.is_empty()).then_some(Resolution { how, targets })
    }

    /// By name alone: one definition is it, several are ranked.
    pub(super) fn ranked(&mut self, file: &ParsedFile, mut all: Declarations, is_common: bool) -> Option<Resolution> {
        let first = all.first()?;
        let Definition { path, container, .. } = &first.definition;
        let alone = all.iter().all(|d| (&d.definition.path, &d.definition.container) == (path, container));
        let pair = file.family.headers
            && all.iter().filter(|d| kinds::has_body(d)).count() <= 1
            && all.iter().all(|d| d.definition.container == first.definition.container);
        let how = if (alone || pair) && !is_common { ResolutionRule::Name } else { ResolutionRule::Ambiguous };
        if all.len() > 1 {
            let is_in_test = self.library.is_test(&file.path);
            let mut keyed: Vec<_> = all
                .into_iter()
                .map(|d| {
                    let path = &d.definition.path;
                    let is_of_tests = !is_in_test && self.library.is_test(path);
                    ((is_of_tests, !kinds::has_body(&d), std::cmp::Reverse(shared(&file.path, path))), d)
                })
                .collect();
            // A common name has hundreds.
            let order = |a: &RankedItem, b: &RankedItem| {
                let (one, other) = (&a.1.definition, &b.1.definition);
                a.0.cmp(&b.0).then_with(|| (&one.path, one.line).cmp(&(&other.path, other.line)))
            };
            if keyed.len() > TARGETS {
                keyed.select_nth_unstable_by(TARGETS, order);
                keyed.truncate(TARGETS);
            }
            keyed.sort_by(order);
            all = keyed.into_iter().map(|(_, d)| d).collect();
        }
        Some(Resolution { how, targets: all })
    }
}

/// Folders that two paths share.
pub(super) fn shared(a: &str, b: &str) -> usize {
    let (a, b) = (modules::folder(a), modules::folder(b));
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}
