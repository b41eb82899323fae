//! `rename_symbol`: the edits that give something another name, or why it cannot have it.
//!
//! Owns the proof. The edits are made on a database of its own; then whoever means the renamed thing must be exactly those
//! who meant it before, and no file may have a diagnostic that it had not. So a name that would be captured, shadowed or
//! lost is found whatever the reason.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use ruff_db::files::{File, FileRange};
use ruff_db::parsed::parsed_module;
use ruff_db::source::{SourceText, source_text};
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};
use salsa::Setter as _;
use ty_python_semantic::{Db as _, ImportAliasResolution, ResolvedDefinition, contains_identifier};

use super::db::{Database, Db as _};
use super::lines::Lines;
use super::references::{self, Wanted};
use super::shown::Shown;
use super::{Embedded, check, heirs, on_disk};
use crate::error::{Error, Result};
use crate::pytypes::values::{Position, Refusal, Renamed, Span, TextEdit};

/// Reasons that one answer gives.
const MOST_REASONS: usize = 20;

/// What is asked for.
pub(super) struct Asked<'a> {
    pub at: &'a Position,
    pub new_name: &'a str,
    /// Files that hold the old or the new name; `None`: look at all.
    pub files: Option<&'a [String]>,
}

pub(super) fn rename(root: &Path, asked: &Asked, is_over: &dyn Fn() -> bool) -> Result<Renamed> {
    let is_name = |text: &str| {
        ruff_python_parser::parse_expression(text).is_ok_and(|parsed| parsed.expr().is_name_expr())
            && text.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    if !is_name(asked.new_name) {
        return Err(Error::invalid_argument("argument `new_name` is no name of Python").hint("Give an identifier."));
    }
    let mut engine = Embedded::open(root)?;
    let shown = engine.shown.clone();
    let plan = match Plan::make(&engine.db, asked, &shown)? {
        Ok(plan) => plan,
        Err(refused) => return Ok(Renamed { edits: Vec::new(), refused }),
    };
    if is_over() {
        return Ok(Renamed::default());
    }
    let refused = plan.prove(&mut engine.db, asked.new_name, &shown);
    if !refused.is_empty() {
        return Ok(Renamed { edits: Vec::new(), refused });
    }
    Ok(Renamed { edits: plan.edits(asked.new_name, &shown, &engine.db), refused })
}

/// The places of the old name, by file, with the files as they were.
struct Plan {
    old_name: String,
    /// Where the thing is defined: it is asked for again there.
    home: FileRange,
    places: BTreeMap<File, BTreeSet<Place>>,
    texts: BTreeMap<File, SourceText>,
    /// Files that hold one of the names.
    searched: Vec<File>,
    /// Names of things outside the file cannot mean it.
    is_local: bool,
    before: HashSet<Fault>,
}

/// A range by its start and end: ranges have no order.
type Place = (TextSize, TextSize);
/// A diagnostic: its file, what it says, and where that was before.
type Fault = (File, String, TextSize);

impl Plan {
    fn make(db: &Database, asked: &Asked, shown: &Shown) -> Result<std::result::Result<Self, Vec<Refusal>>> {
        let file = on_disk(db, Path::new(&asked.at.file));
        let file = file.ok_or_else(|| Error::invalid_path("the file is not there any more").hint("Use list_files."))?;
        let text = source_text(db, file);
        let offset = Lines::of(&text).offset(asked.at.line, asked.at.column);
        let offset = offset.ok_or_else(|| Error::not_found("the place is past the end of the file"))?;
        let aliases = ImportAliasResolution::PreserveAliases;
        let wanted = references::wanted(db, db.program_file(file), offset, aliases);
        let mut wanted = wanted.ok_or_else(|| {
            Error::not_found("nothing with a definition stands there").hint("Point at a name of the project.")
        })?;
        let here = Refusal { file: asked.at.file.clone(), line: asked.at.line, reason: String::new() };
        let refuse = |reason: String| {
            Ok(Err(vec![Refusal { file: shown.relative(Path::new(&here.file)), reason, ..here.clone() }]))
        };
        if wanted.name == asked.new_name {
            return refuse("it has that name already".to_owned());
        }
        if wanted.name.starts_with("__") && wanted.name.ends_with("__") {
            return refuse(format!("`{}` is a name that Python itself calls", wanted.name));
        }
        let searched = match asked.files {
            Some(files) => files.iter().filter_map(|path| on_disk(db, Path::new(path))).collect(),
            None => db.project().files(db).iter().copied().collect::<Vec<_>>(),
        };
        let holds = |file: &File, name: &str| contains_identifier(&source_text(db, *file), name);
        let mut searched: Vec<File> =
            searched.into_iter().filter(|one| holds(one, &wanted.name) || holds(one, asked.new_name)).collect();
        if !searched.contains(&file) {
            searched.push(file);
        }
        searched.sort();
        // A method is one with those that it overrides and that override it.
        let outside = heirs::widen(db, &mut wanted, &searched);
        let own = db.project().files(db);
        let is_foreign = |one: &ResolvedDefinition<'_>| !own.contains(&one.focus_range(db).file());
        if wanted.definitions.iter().any(is_foreign) || outside.is_some() {
            let what = outside
                .map_or_else(|| "it is defined".to_owned(), |class| format!("it overrides what `{class}` defines"));
            return refuse(format!("{what} outside the project"));
        }
        if wanted.definitions.iter().any(|one| matches!(one, ResolvedDefinition::Module(_))) {
            return refuse("it is a module: its file would have to be renamed".to_owned());
        }
        Ok(Ok(Self::of(db, file, &wanted, searched)))
    }

    fn of(db: &Database, file: File, wanted: &Wanted<'_>, searched: Vec<File>) -> Self {
        let mut plan = Self {
            old_name: wanted.name.clone(),
            home: home(db, wanted, file),
            places: BTreeMap::new(),
            texts: BTreeMap::new(),
            is_local: wanted.scope == references::Scope::File,
            searched,
            before: HashSet::new(),
        };
        for one in plan.looked_at(file) {
            let scope = if one == file { references::Scope::Project } else { wanted.scope };
            let found = references::in_file(db, one, wanted, scope).into_iter().map(|found| found.range);
            let mut places: BTreeSet<Place> = found.map(|range| (range.start(), range.end())).collect();
            if !places.is_empty() && is_global(db, wanted) {
                places.extend(listed(db, one, &wanted.name));
            }
            if !places.is_empty() {
                plan.texts.insert(one, source_text(db, one));
                plan.places.insert(one, places);
            }
        }
        plan.before = plan.faults(db, "");
        plan
    }

    fn looked_at(&self, own: File) -> Vec<File> {
        if self.is_local { vec![own] } else { self.searched.clone() }
    }

    fn faults(&self, db: &Database, new_name: &str) -> HashSet<Fault> {
        let mut faults = HashSet::new();
        for file in self.places.keys() {
            for found in check::diagnostics(db, db.program_file(*file)) {
                let range = found.primary_span().and_then(|span| span.range()).unwrap_or_default();
                let at = if new_name.is_empty() { range.start() } else { self.back(*file, range.start(), new_name) };
                faults.insert((*file, found.id().as_str().to_owned(), at));
            }
        }
        faults
    }

    /// Makes the edits, and says what is wrong with them.
    fn prove(&self, db: &mut Database, new_name: &str, shown: &Shown) -> Vec<Refusal> {
        for (file, text) in &self.texts {
            let edited = text.with_text(self.edited(*file, text, new_name), &ruff_diagnostics::SourceMap::default());
            file.set_source_text_override(db).to(Some(edited));
        }
        let db: &Database = db;
        let line = |file: File, at: TextSize| {
            let original = self.texts.get(&file).cloned().unwrap_or_else(|| source_text(db, file));
            Lines::of(&original).place(at).0
        };
        let refusal = |file: File, at: TextSize, reason: String| Refusal {
            file: shown.path(db, file),
            line: line(file, at),
            reason,
        };
        let mut refused = Vec::new();
        let home = self.forth(self.home.file(), self.home.range().start(), new_name);
        let program_file = db.program_file(self.home.file());
        let aliases = ImportAliasResolution::PreserveAliases;
        let Some(mut wanted) = references::wanted(db, program_file, home, aliases) else {
            let range = self.home.range();
            return vec![refusal(self.home.file(), range.start(), format!("`{new_name}` would mean nothing here"))];
        };
        heirs::widen(db, &mut wanted, &self.searched);
        for file in self.looked_at(self.home.file()) {
            let scope = if file == self.home.file() { references::Scope::Project } else { wanted.scope };
            let found = references::in_file(db, file, &wanted, scope);
            let now: BTreeSet<TextSize> =
                found.iter().map(|found| self.back(file, found.range.start(), new_name)).collect();
            let then: BTreeSet<TextSize> =
                self.places.get(&file).into_iter().flatten().map(|(start, _)| *start).collect();
            let text = self.texts.get(&file).cloned();
            let is_listed =
                |at: &TextSize| text.as_ref().is_some_and(|text| text[..at.to_usize()].ends_with(['"', '\'']));
            for at in now.difference(&then) {
                refused.push(refusal(
                    file,
                    *at,
                    format!("`{new_name}` stands here already and would mean the renamed one"),
                ));
            }
            for at in then.difference(&now).filter(|at| !is_listed(at)) {
                refused.push(refusal(file, *at, format!("`{new_name}` would mean something else here")));
            }
        }
        for (file, code, at) in self.faults(db, new_name).difference(&self.before) {
            refused.push(refusal(*file, *at, format!("it would bring a new diagnostic, {code}")));
        }
        refused.sort_by(|a, b| (&a.file, a.line, &a.reason).cmp(&(&b.file, b.line, &b.reason)));
        refused.dedup();
        refused.truncate(MOST_REASONS);
        refused
    }

    fn edited(&self, file: File, text: &str, new_name: &str) -> String {
        let mut edited = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end) in self.places.get(&file).into_iter().flatten() {
            edited.push_str(&text[done..start.to_usize()]);
            edited.push_str(new_name);
            done = end.to_usize();
        }
        edited.push_str(&text[done..]);
        edited
    }

    /// Where an offset of the original is after the edits.
    fn forth(&self, file: File, at: TextSize, new_name: &str) -> TextSize {
        let before = self.places.get(&file).into_iter().flatten().filter(|(start, _)| *start < at).count();
        shifted(at.to_usize() + before * new_name.len(), before * self.old_name.len())
    }

    /// Where an offset of the edited text was before.
    fn back(&self, file: File, at: TextSize, new_name: &str) -> TextSize {
        let mut before = 0;
        for (start, _) in self.places.get(&file).into_iter().flatten() {
            if self.forth(file, *start, new_name) >= at {
                break;
            }
            before += 1;
        }
        shifted(at.to_usize() + before * self.old_name.len(), before * new_name.len())
    }

    fn edits(&self, new_name: &str, shown: &Shown, db: &Database) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        for (file, places) in &self.places {
            let Some(text) = self.texts.get(file) else { continue };
            let lines = Lines::of(text);
            let path = shown.path(db, *file);
            for (start, end) in places {
                let span: Span = lines.span(path.clone(), TextRange::new(*start, *end));
                edits.push(TextEdit { span, new_text: new_name.to_owned() });
            }
        }
        edits.sort_by(|a, b| a.span.cmp(&b.span));
        edits
    }
}

fn shifted(grown: usize, shrunk: usize) -> TextSize {
    TextSize::try_from(grown.saturating_sub(shrunk)).unwrap_or_default()
}

/// The definition that is asked for again: one in the file at hand, if there is any.
fn home(db: &Database, wanted: &Wanted<'_>, file: File) -> FileRange {
    let ranges: Vec<FileRange> =
        wanted.definitions.iter().map(|one| name_in(db, one.focus_range(db), &wanted.name)).collect();
    ranges
        .iter()
        .find(|range| range.file() == file)
        .or(ranges.first())
        .copied()
        .unwrap_or(FileRange::new(file, TextRange::default()))
}

/// The name at the end of what a definition focuses on: `self.name`.
fn name_in(db: &Database, focus: FileRange, name: &str) -> FileRange {
    let text = source_text(db, focus.file());
    let range = focus.range();
    let within = text.get(range.start().to_usize()..range.end().to_usize()).and_then(|text| text.rfind(name));
    let start = shifted(range.start().to_usize() + within.unwrap_or(0), 0);
    FileRange::new(focus.file(), TextRange::new(start, range.end().max(start)))
}

/// Whether it is a name at the top of a module.
fn is_global(db: &Database, wanted: &Wanted<'_>) -> bool {
    wanted.definitions.iter().any(|one| {
        one.definition().is_some_and(|one| one.scope(db).scope(db).kind() == ty_python_core::scope::ScopeKind::Module)
    })
}

/// The text of the name in the module's `__all__`.
fn listed(db: &Database, file: File, name: &str) -> Vec<Place> {
    let parsed = parsed_module(db, db.program_file(file).python_file(db)).load(db);
    let mut finder = Listed { name, found: Vec::new() };
    finder.visit_body(parsed.suite());
    finder.found
}

struct Listed<'n> {
    name: &'n str,
    found: Vec<Place>,
}

impl<'s> SourceOrderVisitor<'s> for Listed<'_> {
    fn visit_stmt(&mut self, statement: &'s Stmt) {
        let is_all = |target: &Expr| matches!(target, Expr::Name(name) if name.id.as_str() == "__all__");
        let value = match statement {
            Stmt::Assign(one) if one.targets.iter().any(is_all) => Some(&*one.value),
            Stmt::AnnAssign(one) if is_all(&one.target) => one.value.as_deref(),
            Stmt::AugAssign(one) if is_all(&one.target) => Some(&*one.value),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            _ => None,
        };
        let Some(value) = value else { return walk_stmt(self, statement) };
        let (Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. })) = value else { return };
        for element in elts {
            let Expr::StringLiteral(text) = element else { continue };
            let Some(part) = text.as_single_part_string().filter(|_| text.value.to_str() == self.name) else {
                continue;
            };
            let inner = part.content_range();
            if inner.len().to_usize() == self.name.len() {
                self.found.push((inner.start(), inner.end()));
            }
        }
    }

    fn visit_expr(&mut self, _expression: &'s Expr) {}
}
