//! The state and the results of resolving references.
//!
//! Owns what a resolver has looked up, the name that is asked for, and what is found. Does not own the rules (`resolve`, `types`,
//! `fields`), which are in `impl` blocks of their own.

use std::collections::HashMap;
use std::rc::Rc;

use strum_macros::IntoStaticStr;

use super::families::Family;
use super::modules::{self, DefiningModule, Module};
use super::opened::{Library, ParsedFile};
use crate::store::{Definition, DefinitionNode, Heritage, Snapshot, SymbolId};

/// The rule by which a reference was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ResolutionRule {
    /// A SCIP file states it.
    Scip,
    /// By the type around it, or one that this inherits from.
    Container,
    /// A definition in the same file.
    File,
    /// An import names it, or its module or type.
    Import,
    /// A definition in the same folder, which is one package.
    Package,
    /// Nothing else has that name.
    Name,
    /// Several have.
    Ambiguous,
}

impl ResolutionRule {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether the code states it, not only the lack of other definitions.
    pub const fn is_proof(self) -> bool {
        !matches!(self, Self::Name | Self::Ambiguous)
    }
}

/// The targets of a reference, best first. Several targets that are not `Ambiguous` are one symbol: overloads, clauses,
/// a prototype and its body. No target: an import takes it from outside the repository.
#[derive(Clone, Debug)]
pub struct Resolution {
    pub how: ResolutionRule,
    pub targets: Vec<Rc<DefinitionNode>>,
}

impl Resolution {
    /// Marks a name of Go with definitions in several files as ambiguous: build tags decide which one is compiled.
    pub(super) fn with_variants(mut self, from: &str) -> Self {
        let is_test = |path: &str| path.ends_with("_test.go");
        // Only tests see the definitions in tests.
        if !is_test(from) && self.targets.iter().any(|target| !is_test(&target.definition.path)) {
            self.targets.retain(|target| !is_test(&target.definition.path));
        }
        let is_of_several = self.targets.windows(2).any(|pair| pair[0].definition.path != pair[1].definition.path);
        if is_of_several && self.how != ResolutionRule::Scip {
            self.how = ResolutionRule::Ambiguous;
        }
        self
    }
}

/// The resolution of an import from outside the repository.
pub(super) const OUTSIDE: Resolution = Resolution { how: ResolutionRule::Import, targets: Vec::new() };

pub(super) type Declarations = Vec<Rc<DefinitionNode>>;

/// Imports followed from file to file, and types from subtype to base.
pub(super) const DEEPEST: usize = 6;

/// Resolves references in one snapshot; what it has looked up serves the next one.
pub struct Resolver<'s> {
    pub(super) library: Library<'s>,
    /// Exports of files, by path, name and kind of use.
    pub(super) exports: HashMap<(String, String, String), Declarations>,
    /// Bases of types, by type and depth. A base is looked for among the members of the types around it, which asks
    /// what those inherit from: without this, the time grows with the number of bases to the power of the depth.
    pub(super) heritage: HashMap<(SymbolId, usize), Bases>,
    /// Where definitions are, by the first language of the family and whether files are named with their extension.
    pub(super) homes: HashMap<(SymbolId, &'static str, bool), Rc<DefiningModule>>,
    /// Definitions that modules offer: without this, a header is searched again for every file that includes it.
    pub(super) offers: HashMap<Offer, Offered>,
    /// Whether the name that is resolved now is known to be no variable of a block.
    pub(super) is_free: bool,
    /// Where a block binds the variable through which the name is reached.
    pub(super) root_at: Option<(u32, u32)>,
    /// Whether any SCIP file is loaded, once that was asked.
    pub(super) has_scip: Option<bool>,
}

/// A name that a module may offer to a language, as it is used.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Offer {
    pub module: Module,
    pub language: String,
    pub name: String,
    pub kind: String,
    /// Whether only values are meant.
    pub is_value: bool,
}

/// Definitions, each with how many folders lead to the module that offers it.
pub(super) type Offered = Rc<[(usize, Rc<DefinitionNode>)]>;

/// A name to resolve, with its context.
pub(super) struct NameQuery<'a> {
    pub file: &'a Rc<ParsedFile>,
    pub line: u32,
    pub name: &'a str,
    pub kind: &'a str,
    pub depth: usize,
}

impl<'s> Resolver<'s> {
    pub fn new(snapshot: &'s Snapshot<'s>) -> Self {
        Self {
            library: Library::new(snapshot),
            exports: HashMap::new(),
            heritage: HashMap::new(),
            homes: HashMap::new(),
            offers: HashMap::new(),
            is_free: false,
            root_at: None,
            has_scip: None,
        }
    }

    /// Where a definition is. A common name has hundreds of definitions, and each import of it is compared with all of them.
    pub(super) fn home(
        &mut self,
        family: &'static Family,
        declared: &DefinitionNode,
        with_extension: bool,
    ) -> Rc<DefiningModule> {
        let language = family.languages.first().copied().unwrap_or_default();
        let key = (declared.id, language, with_extension);
        let home = self.homes.entry(key).or_insert_with(|| {
            let Definition { path, container, .. } = &declared.definition;
            Rc::new(DefiningModule::new(family, path, container.as_deref(), with_extension))
        });
        Rc::clone(home)
    }
}

/// The known type of a value.
pub(super) enum Typed {
    /// The type's definitions, by the least certain rule on the way.
    Known(Declarations, ResolutionRule),
    /// A type from outside the repository.
    Outside,
    Unknown,
}

/// The bases that a type states, with their targets.
pub(super) type Bases = Rc<[(Heritage, Option<Resolution>)]>;

/// The folder of a package. Tests next to the sources have the same one.
pub(crate) fn package_of(path: &str) -> &str {
    let folder = modules::folder(path);
    ["/java/", "/kotlin/", "/scala/"].iter().find_map(|root| folder.split_once(root)).map_or(folder, |(_, rest)| rest)
}
