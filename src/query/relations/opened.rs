//! A cache of files and names for the resolver: each database query runs once.
//!
//! Owns the cache of one query, and the facts of a single file: its imports, the definitions around a line.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::families::{Family, Plain, Spelling};
use super::kinds;
use super::modules::{self, Module};
use super::packages::Packages;
use crate::error::Result;
use crate::extract::CodeWords;
use crate::extract::position::{self, Extent};
use crate::model::RepoPath;
use crate::store::{Definition, DefinitionNode, FileId, Import, NamingFile, Reference, Snapshot, TextVersion};
use crate::threads::{WorkList, on_threads};

/// Definitions of one name that are considered.
const NAMED: usize = 2_000;
/// Files whose text is kept.
const TEXTS: usize = 16;
/// Files that one file's includes are followed to.
const INCLUDED: usize = 64;

/// Imports of one name that are looked at.
const IMPORTERS: usize = 1_000;

/// First words of paths in Rust that are not names of crates.
const OWN_ROOTS: &[&str] = &["crate", "self", "super", "std", "core", "alloc"];

/// A file that the resolver reads.
pub(super) struct ParsedFile {
    pub path: String,
    pub id: FileId,
    pub language: String,
    pub family: &'static Family,
    pub imports: Vec<Import>,
    symbols: OnceCell<Rc<[Rc<DefinitionNode>]>>,
    included: OnceCell<Rc<HashSet<String>>>,
    extents: OnceCell<Rc<[Extent]>>,
    /// Folder and name of the Go module around it.
    package: Option<(String, String)>,
}

pub(super) struct Library<'s> {
    pub snapshot: &'s Snapshot<'s>,
    files: HashMap<String, Option<Rc<ParsedFile>>>,
    named: HashMap<String, Rc<[Rc<DefinitionNode>]>>,
    texts: HashMap<String, Rc<Text>>,
    tests: HashMap<String, bool>,
    indexed: HashMap<String, bool>,
    found: HashMap<(String, String), Rc<[String]>>,
    packages: HashMap<String, Option<(String, String)>>,
    starts: HashMap<String, bool>,
    /// Read when the first module is named by a package.
    scripts: OnceCell<Packages>,
    crates: OnceCell<Packages>,
}

/// The lines of a file, in one piece.
pub(super) struct Text {
    whole: String,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl Text {
    pub(super) fn new(whole: String) -> Self {
        let breaks = whole.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).filter(|start| *start < whole.len()).collect();
        Self { whole, starts }
    }

    /// A line, from 1; empty if the file has no such line.
    pub(super) fn line(&self, number: u32) -> &str {
        let at = (number as usize).wrapping_sub(1);
        let Some(start) = self.starts.get(at) else { return "" };
        let end = self.starts.get(at + 1).copied().unwrap_or(self.whole.len());
        let line = &self.whole[*start..end];
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Lines from the last to the first of a range, from 1.
    pub(super) fn backwards(&self, from: u32, to: u32) -> impl Iterator<Item = &str> {
        (from..=to.min(self.count())).rev().map(|number| self.line(number))
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }
}

/// The words of a text, which are kept for the next query.
pub(crate) fn words_of(snapshot: &Snapshot, version: TextVersion, path: &str) -> Result<Arc<Option<CodeWords>>> {
    snapshot.kept(version, |text| {
        let words = CodeWords::read(path, text);
        let bytes = words.as_ref().map_or(0, CodeWords::bytes);
        (words, bytes)
    })
}

/// Reads the words of several files at once, which are kept for the next query.
pub(crate) fn read_words(snapshot: &Snapshot, files: &[NamingFile]) -> Result<()> {
    let texts = snapshot.unkept_texts(files)?;
    if texts.len() < 2 {
        return Ok(());
    }
    let list = WorkList::new(&texts);
    let read = on_threads(list.threads(), || {
        let next = || list.take().map(|(at, (file, text))| (at, CodeWords::read(&file.path, text)));
        std::iter::from_fn(next).collect::<Vec<_>>()
    })?;
    for (at, words) in read.into_iter().flatten() {
        let bytes = words.as_ref().map_or(0, CodeWords::bytes);
        snapshot.keep(texts[at].0.version, words, bytes);
    }
    Ok(())
}

/// Whether a position is within a definition, as far as extents show.
fn is_within(extents: &[Extent], of: &DefinitionNode, position: (u32, u32)) -> bool {
    let name = (of.definition.line, of.definition.column);
    extents.iter().find(|extent| extent.name == name).is_none_or(|extent| extent.holds(position))
}

/// Whether an import brings all names of its module.
pub(super) fn is_wildcard(family: &Family, import: &Import) -> bool {
    match (&import.name, &import.alias) {
        (Some(name), None) => name == "*",
        (None, None) => family.plain == Plain::Everything,
        _ => false,
    }
}

/// The name that an import gives to something here; `None` for what brings many or none.
pub(super) fn local<'i>(family: &Family, import: &'i Import) -> Option<&'i str> {
    if let Some(alias) = &import.alias {
        return Some(alias);
    }
    match import.name.as_deref() {
        Some("*") => None,
        Some(name) => name.rsplit(['.', ':', '\\', '/']).next(),
        None if family.plain == Plain::Last => {
            let mut parts = import.target.rsplit(['.', ':', '\\', '/']).filter(|part| !part.is_empty());
            let last = parts.next();
            // `example.com/cart/v2` is called `cart`.
            let version = last.and_then(|last| last.strip_prefix('v')).is_some_and(|n| n.parse::<u32>().is_ok());
            if version && family.spelling == Spelling::Go { parts.next() } else { last }
        }
        None => None,
    }
}

impl<'s> Library<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>) -> Self {
        Self {
            snapshot,
            files: HashMap::new(),
            named: HashMap::new(),
            texts: HashMap::new(),
            tests: HashMap::new(),
            indexed: HashMap::new(),
            found: HashMap::new(),
            packages: HashMap::new(),
            starts: HashMap::new(),
            scripts: OnceCell::new(),
            crates: OnceCell::new(),
        }
    }

    pub(super) fn open(&mut self, path: &str) -> Result<Option<Rc<ParsedFile>>> {
        if let Some(known) = self.files.get(path) {
            return Ok(known.clone());
        }
        let opened = match self.snapshot.file(path)? {
            None => None,
            Some((id, language)) => {
                let family = Family::for_language(&language);
                let package = if family.spelling == Spelling::Go { self.package(modules::folder(path))? } else { None };
                Some(Rc::new(ParsedFile {
                    path: path.to_owned(),
                    id,
                    language,
                    family,
                    imports: self.snapshot.imports_of(id)?,
                    symbols: OnceCell::new(),
                    included: OnceCell::new(),
                    extents: OnceCell::new(),
                    package,
                }))
            }
        };
        self.files.insert(path.to_owned(), opened.clone());
        Ok(opened)
    }

    /// Folder and name of the Go module that a folder belongs to.
    fn package(&mut self, folder: &str) -> Result<Option<(String, String)>> {
        if let Some(known) = self.packages.get(folder) {
            return Ok(known.clone());
        }
        let lines = self.snapshot.lines(&modules::joined(folder, "go.mod"), 1, 50)?;
        let name = lines.iter().find_map(|line| line.trim().strip_prefix("module "));
        let package = match name {
            Some(name) => Some((folder.to_owned(), name.trim().trim_matches('"').to_owned())),
            None if folder.is_empty() => None,
            None => self.package(modules::folder(folder))?,
        };
        self.packages.insert(folder.to_owned(), package.clone());
        Ok(package)
    }

    /// All definitions of a name.
    pub(super) fn named(&mut self, name: &str) -> Result<Rc<[Rc<DefinitionNode>]>> {
        if let Some(known) = self.named.get(name) {
            return Ok(Rc::clone(known));
        }
        let found: Rc<[Rc<DefinitionNode>]> =
            self.snapshot.declared_as(name, NAMED)?.into_iter().map(Rc::new).collect();
        self.named.insert(name.to_owned(), Rc::clone(&found));
        Ok(found)
    }

    pub(super) fn symbols(&self, file: &ParsedFile) -> Result<Rc<[Rc<DefinitionNode>]>> {
        if let Some(known) = file.symbols.get() {
            return Ok(Rc::clone(known));
        }
        let found: Rc<[Rc<DefinitionNode>]> = self.snapshot.declared_in(file.id)?.into_iter().map(Rc::new).collect();
        Ok(Rc::clone(file.symbols.get_or_init(|| found)))
    }

    /// Definitions around a line, innermost first.
    pub(super) fn around(&self, file: &ParsedFile, line: u32) -> Result<Vec<Rc<DefinitionNode>>> {
        let symbols = self.symbols(file)?;
        let holds = |d: &DefinitionNode| d.definition.start_line <= line && line <= d.definition.end_line;
        let mut around: Vec<Rc<DefinitionNode>> = symbols.iter().filter(|d| holds(d)).cloned().collect();
        around.reverse();
        Ok(around)
    }

    /// The words of a file's code; `None` if the file is not indexed, or its language's scopes are not known.
    pub(super) fn words(&self, path: &str) -> Result<Arc<Option<CodeWords>>> {
        let Some(version) = self.snapshot.text_version(path)? else { return Ok(Arc::default()) };
        words_of(self.snapshot, version, path)
    }

    /// Definitions around a position, innermost first. Where one begins or ends on its line, the file is parsed.
    pub(super) fn around_position(
        &mut self,
        file: &ParsedFile,
        (line, column): (u32, u32),
    ) -> Result<Vec<Rc<DefinitionNode>>> {
        let mut around = self.around(file, line)?;
        if around.iter().any(|d| [d.definition.start_line, d.definition.end_line].contains(&line)) {
            let extents = self.extents(file)?;
            around.retain(|d| is_within(&extents, d, (line, column)));
        }
        Ok(around)
    }

    /// The calls within a definition, in order.
    pub(super) fn calls_within(&mut self, file: &ParsedFile, of: &DefinitionNode) -> Result<Vec<Reference>> {
        let Definition { start_line, end_line, .. } = of.definition;
        let mut calls = self.snapshot.references_within(file.id, start_line, end_line)?;
        calls.retain(|used| used.kind == "call");
        if calls.iter().any(|used| [start_line, end_line].contains(&used.line)) {
            let extents = self.extents(file)?;
            calls.retain(|used| is_within(&extents, of, (used.line, used.column)));
        }
        Ok(calls)
    }

    fn extents(&mut self, file: &ParsedFile) -> Result<Rc<[Extent]>> {
        if let Some(known) = file.extents.get() {
            return Ok(Rc::clone(known));
        }
        let path = RepoPath::new(file.path.as_str()).or_else(|| RepoPath::outside(file.path.as_str()));
        let text = self.text(&file.path)?;
        let extents = path.map(|path| position::extents(&path, &text.whole)).unwrap_or_default();
        Ok(Rc::clone(file.extents.get_or_init(|| extents.into())))
    }

    /// The text of a line before a column.
    pub(super) fn before(&mut self, path: &str, line: u32, column: u32) -> Result<String> {
        let text = self.text(path)?;
        Ok(text.line(line).chars().take(column.saturating_sub(1) as usize).collect())
    }

    /// Whether a file is indexed. The same few are asked for from every folder.
    fn is_indexed(&mut self, path: &str) -> Result<bool> {
        if let Some(known) = self.indexed.get(path) {
            return Ok(*known);
        }
        let is_indexed = self.snapshot.file(path)?.is_some();
        self.indexed.insert(path.to_owned(), is_indexed);
        Ok(is_indexed)
    }

    /// Whether a file is one of tests.
    pub(super) fn is_test(&mut self, path: &str) -> bool {
        match self.tests.get(path) {
            Some(known) => *known,
            None => *self.tests.entry(path.to_owned()).or_insert_with(|| kinds::is_test(path)),
        }
    }

    pub(super) fn text(&mut self, path: &str) -> Result<Rc<Text>> {
        if let Some(known) = self.texts.get(path) {
            return Ok(Rc::clone(known));
        }
        if self.texts.len() >= TEXTS {
            self.texts.clear();
        }
        let text = Rc::new(Text::new(self.snapshot.text_of(path)?));
        self.texts.insert(path.to_owned(), Rc::clone(&text));
        Ok(text)
    }

    /// Lists the modules that a module's name can refer to at a line of a file.
    pub(super) fn modules(&self, file: &ParsedFile, written: &str, line: u32) -> Result<Vec<Module>> {
        let package = file.package.as_ref().map(|(folder, name)| (folder.as_str(), name.as_str()));
        let mut inline = 0;
        if file.family.spelling == Spelling::Rust && written.starts_with("super") {
            inline = self.around(file, line)?.iter().filter(|d| d.definition.kind == "module").count();
        }
        let mut modules = self.named_here(file, written)?;
        modules.extend(Module::read(file.family, &file.path, written, inline, package));
        Ok(modules)
    }

    /// The modules of this repository that are imported by the name of their package, or by an alias.
    fn named_here(&self, file: &ParsedFile, written: &str) -> Result<Vec<Module>> {
        match file.family.spelling {
            Spelling::Script if !written.starts_with('.') && !written.contains(':') => {
                let packages = match self.scripts.get() {
                    Some(packages) => packages,
                    None => {
                        let packages = Packages::read_scripts(self.snapshot)?;
                        self.scripts.get_or_init(|| packages)
                    }
                };
                Ok(packages.script(&file.path, written))
            }
            Spelling::Rust => {
                let words = modules::parts(written);
                if words.first().is_none_or(|first| OWN_ROOTS.contains(&first.as_str())) {
                    return Ok(Vec::new());
                }
                let packages = match self.crates.get() {
                    Some(packages) => packages,
                    None => {
                        let packages = Packages::read_crates(self.snapshot)?;
                        self.crates.get_or_init(|| packages)
                    }
                };
                Ok(packages.rust(&words))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether a path of Rust that begins with a name may lead into the repository: a crate, or a definition or module that
    /// the file can see, has that name.
    pub(super) fn leads_into(&mut self, file: &ParsedFile, root: &str) -> Result<bool> {
        if OWN_ROOTS[..3].contains(&root) || !self.named_here(file, root)?.is_empty() {
            return Ok(true);
        }
        let has_wildcards = file.imports.iter().any(|import| is_wildcard(file.family, import));
        let is_owner =
            |node: &&Rc<DefinitionNode>| node.definition.language == "rust" && kinds::contains(&node.definition.kind);
        for node in self.named(root)?.iter().filter(is_owner) {
            if node.definition.kind != "module" || has_wildcards || node.definition.path == file.path {
                return Ok(true);
            }
        }
        let is_plain = |import: &Import| import.name.is_none() && import.alias.is_none();
        let mut declared: Vec<(String, u32)> = Vec::new();
        if has_wildcards {
            let importers = self.snapshot.importers_of(root, IMPORTERS)?;
            declared.extend(importers.into_iter().filter(|(_, i)| is_plain(i)).map(|(path, i)| (path, i.line)));
        } else {
            let own = file.imports.iter().filter(|import| import.target == root && is_plain(import));
            declared.extend(own.map(|import| (file.path.clone(), import.line)));
        }
        for (path, line) in declared {
            if self.text(&path)?.line(line).split(' ').any(|word| word == "mod") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Files that a module can be, in the order of its paths.
    pub(super) fn files_of(&mut self, file: &ParsedFile, module: &Module) -> Result<Rc<[String]>> {
        let anchor = module.anchor.as_ref().map_or_else(String::new, |anchor| format!("/{}", anchor.join("/")));
        let key = (
            format!("{}:{}", file.language, modules::folder(&file.path)),
            format!("{anchor}:{}", module.parts.join("/")),
        );
        if let Some(known) = self.found.get(&key) {
            return Ok(Rc::clone(known));
        }
        let mut found = Vec::new();
        let mut paths = Vec::new();
        for base in module.bases(file.family, &file.path) {
            let first = module.parts.first().map_or("", String::as_str);
            if self.leads_on(&modules::joined(&base, first))? {
                paths.extend(module.paths_below(file.family, &base));
            }
        }
        for path in paths {
            if !found.contains(&path) && self.is_indexed(&path)? && self.may_root(file, module, &path)? {
                found.push(path);
            }
        }
        // A module that is written in the file of another one.
        if found.is_empty()
            && file.family.spelling == Spelling::Rust
            && let [parts @ .., last] = module.parts.as_slice()
        {
            let around = Module { anchor: module.anchor.clone(), parts: parts.to_vec() };
            let named = self.named(last)?;
            let is_in =
                |path: &String| named.iter().any(|one| one.definition.kind == "module" && one.definition.path == *path);
            found.extend(self.files_of(file, &around)?.iter().filter(|path| is_in(path)).cloned());
        }
        let found: Rc<[String]> = found.into();
        self.found.insert(key, Rc::clone(&found));
        Ok(found)
    }

    /// Whether any path begins like this: most folders in which a module could be do not have its name.
    fn leads_on(&mut self, start: &str) -> Result<bool> {
        if let Some(known) = self.starts.get(start) {
            return Ok(*known);
        }
        let leads = self.snapshot.any_path_from(start)?;
        self.starts.insert(start.to_owned(), leads);
        Ok(leads)
    }

    /// Whether absolute imports may start from where `path` has the module: in Python not from inside a package, and
    /// a name of one part from nowhere but around the importing file.
    pub(super) fn may_root(&mut self, file: &ParsedFile, module: &Module, path: &str) -> Result<bool> {
        if file.family.spelling != Spelling::Dotted || module.anchor.is_some() {
            return Ok(true);
        }
        let is_index = file.family.index.contains(&modules::stem(path));
        let mut root = if is_index { modules::folder(path) } else { path };
        for _ in &module.parts {
            root = modules::folder(root);
        }
        let own = modules::folder(&file.path);
        let around = root.is_empty() || own == root || own.starts_with(&format!("{root}/"));
        let is_root = file.family.roots.contains(&root.rsplit('/').next().unwrap_or(root));
        if module.parts.len() < 2 && !around && !is_root {
            return Ok(false);
        }
        Ok(root.is_empty() || !self.is_indexed(&format!("{root}/__init__.py"))?)
    }

    /// The files that a file includes, and those include.
    pub(super) fn included(&mut self, file: &Rc<ParsedFile>) -> Result<Rc<HashSet<String>>> {
        if let Some(known) = file.included.get() {
            return Ok(Rc::clone(known));
        }
        let mut all = HashSet::new();
        let mut next = vec![Rc::clone(file)];
        let mut at = 0;
        while at < next.len() && all.len() < INCLUDED {
            let opened = Rc::clone(&next[at]);
            at += 1;
            for import in opened.imports.iter().filter(|import| is_wildcard(opened.family, import)) {
                for module in self.modules(&opened, &import.target, import.line)? {
                    let Some(path) = self.files_of(&opened, &module)?.first().cloned() else { continue };
                    if all.insert(path.clone())
                        && let Some(included) = self.open(&path)?
                    {
                        next.push(included);
                    }
                }
            }
        }
        Ok(Rc::clone(file.included.get_or_init(|| Rc::new(all))))
    }
}
