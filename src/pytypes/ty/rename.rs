//! Renaming: the edits that give something another name, or the reasons why there are none.
//!
//! Owns the proof. The edits are tried in a second engine: there the new name must mean the same thing at exactly the
//! places that were edited, and nothing may be found wrong that was not before. Nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use ruff_db::files::File;
use ruff_db::parsed::parsed_module;
use ruff_db::source::source_text;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal};
use ruff_python_ast::{self as ast, AnyNodeRef, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};
use salsa::Database as _;
use ty_python_core::Db as _;
use ty_python_semantic::types::Type;
use ty_python_semantic::{
    Db as _, HasType, ImportAliasResolution, ResolvedDefinition, SemanticModel, contains_identifier,
    definitions_for_name,
};

use super::db::Database;
use super::edits::{self, Edit};
use super::family::{self, Families};
use super::lines::{Lines, Place};
use super::references::{self, Scope, Wanted};
use super::shown::module_name;
use super::target;
use super::trial::{self, Trial};
use super::{View, on_disk};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::pytypes::values::{Position, Refusal, Renamed, TextEdit};

/// Of the files without an edit, more are not checked once more. What means the renamed thing has an edit, and all files are
/// looked through for that: these are there for what is not known.
const MOST_OTHERS: usize = 24;
/// More of a kind are not listed.
const MOST_TOLD: usize = 50;
/// A member whose relatives have relatives … ends somewhere.
const MOST_ROUNDS: usize = 8;

/// Everywhere that one thing has its name.
#[derive(Default)]
struct Meaning {
    name: String,
    /// By file, absolute.
    places: BTreeSet<(String, Range)>,
    /// In `__all__`.
    listed: BTreeSet<(String, Range)>,
    refused: Vec<(String, TextSize, String)>,
    is_member: bool,
}

/// Ordered, which the library's own are not.
type Range = (TextSize, TextSize);

impl View {
    /// `goes_on` is called at every stage: it unwinds when the answer is not wanted any more.
    pub(super) fn rename(
        &self,
        at: &Position,
        new_name: &str,
        files: Option<&[String]>,
        goes_on: &dyn Fn(),
    ) -> Result<Renamed> {
        require_identifier(new_name)?;
        let (own, offset) = self.place(at)?;
        let own_path = own.file(&self.db).path(&self.db).as_str().to_owned();
        let files: Vec<String> = match files {
            Some(files) => {
                files.iter().cloned().chain([own_path.clone()]).collect::<BTreeSet<_>>().into_iter().collect()
            }
            None => self.files().into_iter().map(|file| file.path(&self.db).as_str().to_owned()).collect(),
        };
        let meaning = meaning(&self.db, own.file(&self.db), offset, &files).ok_or_else(|| {
            Error::not_found("nothing that has a name stands there").hint("Point at a name, in code, not in a comment.")
        })?;
        if meaning.name == new_name {
            return Ok(Renamed::default());
        }
        let mut refused = meaning.refused.clone();
        if let Some(reason) = unfit(&meaning, new_name) {
            refused.push((own_path.clone(), offset, reason));
        }
        let Some(place) =
            meaning.places.iter().find(|(path, (start, end))| *path == own_path && *start <= offset && offset <= *end)
        else {
            refused.push((own_path, offset, format!("what `{}` means here cannot be followed", meaning.name)));
            return Ok(self.refusal(&refused));
        };
        let mut by_file: BTreeMap<&str, Vec<Edit>> = BTreeMap::new();
        for (path, (start, end)) in meaning.places.iter().chain(&meaning.listed) {
            let edit = Edit { range: TextRange::new(*start, *end), text: new_name.to_owned() };
            by_file.entry(path).or_default().push(edit);
        }
        for path in by_file.keys() {
            if on_disk(&self.db, Path::new(path)).is_some_and(|file| source_text(&self.db, file).is_notebook()) {
                refused.push((
                    (*path).to_owned(),
                    TextSize::default(),
                    "it is a notebook, which no edits are made for".to_owned(),
                ));
            }
        }
        if refused.is_empty() {
            let start = edits::moved(place.1.0, &by_file[own_path.as_str()]);
            goes_on();
            refused = self.try_out(&meaning, &by_file, (&own_path, start), new_name, &files, goes_on)?;
        }
        if !refused.is_empty() {
            return Ok(self.refusal(&refused));
        }
        let mut told = Vec::new();
        for (path, edits) in &by_file {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let text = source_text(&self.db, file);
            let lines = Lines::of_source(&text);
            let shown = self.shown.path(&self.db, file);
            told.extend(
                edits
                    .iter()
                    .map(|edit| TextEdit { span: lines.span(shown.clone(), edit.range), new_text: edit.text.clone() }),
            );
        }
        told.sort_by(|a, b| a.span.cmp(&b.span));
        let unsure = if meaning.is_member { self.unsure(&meaning, &files) } else { Vec::new() };
        Ok(Renamed { edits: told, refused: Vec::new(), unsure })
    }

    /// Makes the edits in a second engine and compares.
    fn try_out(
        &self,
        meaning: &Meaning,
        by_file: &BTreeMap<&str, Vec<Edit>>,
        place: (&str, TextSize),
        new_name: &str,
        files: &[String],
        goes_on: &dyn Fn(),
    ) -> Result<Vec<(String, TextSize, String)>> {
        let mut checked: Vec<String> = by_file.keys().map(|path| (*path).to_owned()).collect();
        let holds_new = |path: &String| {
            let file = on_disk(&self.db, Path::new(path));
            file.is_some_and(|file| contains_identifier(&source_text(&self.db, file), new_name))
        };
        let mut others: Vec<&String> = files.iter().filter(|path| !by_file.contains_key(path.as_str())).collect();
        // Whoever has the new name already is the likelier to be broken.
        others.sort_by_key(|path| !holds_new(path));
        checked.extend(others.into_iter().take(MOST_OTHERS).cloned());
        let before = trial::findings(&self.db, &checked);
        goes_on();
        let mut trial = Trial::open(&self.shown.root, Arc::default())?;
        let is_wanted = || self.db.unwind_if_revision_cancelled();
        let texts = by_file.iter().filter_map(|(path, edits)| {
            let file = on_disk(&self.db, Path::new(path))?;
            Some(((*path).to_owned(), edits::apply(&source_text(&self.db, file), edits)))
        });
        trial.set(texts.collect());
        goes_on();
        let mut refused = Vec::new();
        let none = Vec::new();
        let after = trial.findings(&checked, &is_wanted);
        for path in &checked {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let edits = by_file.get(path.as_str()).unwrap_or(&none);
            let (old, new) = (&before[path], &after[path]);
            let added = trial::added(old, new, &source_text(&self.db, file), edits);
            let reason = |one: &trial::Finding| format!("it would break this: {} ({})", one.message, one.rule);
            refused.extend(added.iter().map(|one| (path.clone(), edits::back(one.at, edits), reason(one))));
        }
        goes_on();
        let renamed = trial.with(&is_wanted, |db| {
            let file = on_disk(db, Path::new(place.0))?;
            self::meaning(db, file, place.1, files)
        });
        let renamed = renamed.unwrap_or_default();
        let at = |path: &str, start: TextSize| (path.to_owned(), edits::moved(start, &by_file[path]));
        let expected: BTreeSet<(String, TextSize)> =
            meaning.places.iter().map(|(path, (start, _))| at(path, *start)).collect();
        let found: BTreeSet<(String, TextSize)> =
            renamed.places.iter().map(|(path, (start, _))| (path.clone(), *start)).collect();
        let old_place = |(path, start): &(String, TextSize)| {
            (path.clone(), edits::back(*start, by_file.get(path.as_str()).unwrap_or(&none)))
        };
        for extra in found.difference(&expected) {
            let (path, start) = old_place(extra);
            refused.push((path, start, format!("`{new_name}` stands here already and would mean the renamed one")));
        }
        for missing in expected.difference(&found) {
            let (path, start) = old_place(missing);
            refused.push((path, start, format!("`{new_name}` would mean something else here")));
        }
        refused.extend(renamed.refused.iter().map(|(path, start, reason)| {
            let (path, start) = old_place(&(path.clone(), *start));
            (path, start, format!("as `{new_name}`: {reason}"))
        }));
        Ok(refused)
    }

    /// Places that may mean a member, for all that is known.
    fn unsure(&self, meaning: &Meaning, files: &[String]) -> Vec<Refusal> {
        let mut unsure = Vec::new();
        for path in files {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let text = source_text(&self.db, file);
            if !contains_identifier(&text, &meaning.name) {
                continue;
            }
            let program_file = self.db.program_file(file);
            let parsed = parsed_module(&self.db, program_file.python_file(&self.db)).load(&self.db);
            let model = SemanticModel::new(&self.db, program_file);
            let mut unknown = Unknown { model: &model, name: &meaning.name, found: Vec::new() };
            AnyNodeRef::from(parsed.syntax()).visit_source_order(&mut unknown);
            let lines = Lines::of_source(&text);
            let shown = self.shown.path(&self.db, file);
            unsure.extend(unknown.found.into_iter().map(|(at, reason)| {
                let Place { cell, line, .. } = lines.place(at);
                Refusal { file: shown.clone(), cell, line, reason: reason.to_owned() }
            }));
            if unsure.len() >= MOST_TOLD {
                break;
            }
        }
        unsure.truncate(MOST_TOLD);
        unsure
    }

    fn refusal(&self, refused: &[(String, TextSize, String)]) -> Renamed {
        let mut told: Vec<Refusal> = refused
            .iter()
            .map(|(path, at, reason)| {
                let file = on_disk(&self.db, Path::new(path));
                let place = file.map(|file| Lines::of_source(&source_text(&self.db, file)).place(*at));
                let (cell, line) = place.map_or((None, 1), |place| (place.cell, place.line));
                Refusal { file: self.shown.relative(Path::new(path)), cell, line, reason: reason.clone() }
            })
            .collect();
        told.sort();
        told.dedup();
        told.truncate(MOST_TOLD);
        Renamed { refused: told, ..Renamed::default() }
    }
}

/// Keywords parse as something else than a name, or not at all.
fn require_identifier(name: &str) -> Result<()> {
    let parsed = ruff_python_parser::parse_expression(name);
    let is_name = parsed.is_ok_and(|parsed| {
        let whole = TextRange::up_to(TextSize::of(name));
        matches!(parsed.expr(), Expr::Name(found) if found.id.as_str() == name && found.range == whole)
    });
    if is_name {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("argument `new_name`: {:?} is no name in Python", printable(name)))
        .hint("Give an identifier that is no keyword."))
}

/// Why a name does not fit, whoever uses it.
fn unfit(meaning: &Meaning, new_name: &str) -> Option<String> {
    let is_special = |name: &str| name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    if is_special(&meaning.name) {
        return Some(format!("`{}` is a name that Python itself looks for", meaning.name));
    }
    if is_special(new_name) {
        return Some(format!("`{new_name}` would be a name that Python itself looks for"));
    }
    let is_mangled = |name: &str| name.starts_with("__") && !name.ends_with("__");
    if meaning.is_member && is_mangled(&meaning.name) != is_mangled(new_name) {
        return Some(
            "names with two underscores in front are private to their class: who may see it would change".to_owned(),
        );
    }
    None
}

/// What stands at a place, and everywhere that means it; `None` where nothing has a name.
fn meaning(db: &Database, own: File, at: TextSize, paths: &[String]) -> Option<Meaning> {
    let mut aliases = ImportAliasResolution::ResolveAliases;
    let mut wanted = references::wanted(db, db.program_file(own), at, aliases)?;
    // `C` of `import Cart as C` is renamed alone; what a definition calls itself, everywhere.
    if !wanted.definitions.iter().any(|one| calls_itself(db, one, &wanted.name)) {
        aliases = ImportAliasResolution::PreserveAliases;
        wanted = references::wanted(db, db.program_file(own), at, aliases)?;
    }
    let files: Vec<File> = paths.iter().filter_map(|path| on_disk(db, Path::new(path))).collect();
    let name = wanted.name.clone();
    let mut found = Meaning { name: name.clone(), ..Meaning::default() };
    let mut families = Families::new(db, &name, &files);
    for _ in 0..MOST_ROUNDS {
        let known = wanted.definitions.len();
        for member in relatives(db, &wanted, &mut families, &files, &mut found) {
            add(db, member, aliases, &mut wanted);
        }
        found.places.clear();
        for (file, range) in places(db, own, &wanted, &files) {
            add(db, (file, range), aliases, &mut wanted);
            found.places.insert((path_of(db, file), (range.start(), range.end())));
        }
        if wanted.definitions.len() == known {
            for file in &files {
                let listed = listed(db, *file, &name, &wanted, aliases);
                found.listed.extend(listed.into_iter().map(|range| (path_of(db, *file), (range.start(), range.end()))));
            }
            return Some(found);
        }
        db.unwind_if_revision_cancelled();
    }
    let reason = "more is related to it than can be followed".to_owned();
    found.refused.push((path_of(db, own), at, reason));
    Some(found)
}

fn path_of(db: &Database, file: File) -> String {
    file.path(db).as_str().to_owned()
}

fn calls_itself(db: &Database, one: &ResolvedDefinition<'_>, name: &str) -> bool {
    let range = one.focus_range(db);
    let text = source_text(db, range.file());
    match one {
        ResolvedDefinition::Module(_) => module_name(range.file().path(db).as_str()) == name,
        _ => text[range.range()].rsplit('.').next().is_some_and(|last| last.trim() == name),
    }
}

/// Members that must have the same name; says what stands against it.
fn relatives(
    db: &Database,
    wanted: &Wanted<'_>,
    families: &mut Families<'_>,
    files: &[File],
    found: &mut Meaning,
) -> Vec<family::Member> {
    let mut members = Vec::new();
    for one in &wanted.definitions {
        let focus = one.focus_range(db);
        let mut refuse = |reason: String| {
            found.refused.push((path_of(db, focus.file()), focus.range().start(), reason));
        };
        if !db.should_check_file(focus.file()) {
            refuse("it is defined outside the project".to_owned());
            continue;
        }
        if matches!(one, ResolvedDefinition::Module(_)) {
            refuse("it is a module: its name is that of its file".to_owned());
            continue;
        }
        if let Some(class) = family::class_of(db, one) {
            for (file, _) in families.foreign(class) {
                refuse(format!("it overrides a member of a class outside the project: {}", file.path(db)));
            }
            found.is_member = true;
            members.extend(families.members(class));
        }
        let Some(function) = family::function_of(db, one) else { continue };
        let Some(class) = family::class_around(db, function.0, function.1) else { continue };
        let method = source_text(db, function.0)[function.1].to_owned();
        let overriding = Families::new(db, &method, files).members(class);
        members.extend(overriding.into_iter().filter_map(|one| family::parameter(db, one, &wanted.name)));
    }
    members
}

/// Takes what stands there as meant, too.
fn add<'db>(
    db: &'db Database,
    (file, range): family::Member,
    aliases: ImportAliasResolution,
    wanted: &mut Wanted<'db>,
) {
    let declared =
        target::at(db, db.program_file(file), range.start(), |model, target| target.declared(model, aliases));
    for one in declared.unwrap_or_default() {
        if !wanted.definitions.contains(&one) {
            if family::class_of(db, &one).is_some() {
                wanted.scope = Scope::Project;
            }
            wanted.add(db, one);
        }
    }
}

fn places(db: &Database, own: File, wanted: &Wanted<'_>, files: &[File]) -> Vec<family::Member> {
    let defining: BTreeSet<File> = wanted.definitions.iter().map(|one| one.focus_range(db).file()).collect();
    let in_one = |db: &Database, file: File| {
        if db.is_over() {
            return Vec::new();
        }
        let is_own = file == own || defining.contains(&file);
        if (wanted.scope == Scope::File && !is_own) || !contains_identifier(&source_text(db, file), &wanted.name) {
            return Vec::new();
        }
        let scope = if is_own { Scope::Project } else { wanted.scope };
        references::in_file(db, file, wanted, scope).into_iter().map(|found| (file, found.range)).collect()
    };
    let places: Vec<Vec<family::Member>> = files
        .into_par_iter()
        .map_with(db.clone(), |db, file| salsa::attach_allow_change(&*db, || in_one(db, *file)))
        .collect();
    places.concat()
}

/// The name between quotes in `__all__`, where it means what is wanted.
fn listed(
    db: &Database,
    file: File,
    name: &str,
    wanted: &Wanted<'_>,
    aliases: ImportAliasResolution,
) -> Vec<TextRange> {
    let text = source_text(db, file);
    if !text.contains("__all__") {
        return Vec::new();
    }
    let program_file = db.program_file(file);
    let parsed = parsed_module(db, program_file.python_file(db)).load(db);
    let model = SemanticModel::new(db, program_file);
    let is_all = |target: &Expr| matches!(target, Expr::Name(name) if name.id.as_str() == "__all__");
    let mut names = Quoted { name, text: &text, found: Vec::new() };
    for statement in parsed.suite() {
        match statement {
            Stmt::Assign(assign) if assign.targets.iter().any(is_all) => names.visit_expr(&assign.value),
            Stmt::AugAssign(assign) if is_all(&assign.target) => names.visit_expr(&assign.value),
            Stmt::AnnAssign(ast::StmtAnnAssign { target, value: Some(value), .. }) if is_all(target) => {
                names.visit_expr(value);
            }
            Stmt::Expr(ast::StmtExpr { value, .. }) => {
                if let Expr::Call(call) = &**value
                    && let Expr::Attribute(method) = &*call.func
                    && is_all(&method.value)
                {
                    names.visit_arguments(&call.arguments);
                }
            }
            _ => {}
        }
    }
    let means = |node: AnyNodeRef<'_>| {
        definitions_for_name(&model, name, node, aliases).iter().any(|one| wanted.definitions.contains(one))
    };
    names.found.into_iter().filter(|(node, _)| means(*node)).map(|(_, range)| range).collect()
}

struct Quoted<'t, 'a> {
    name: &'t str,
    text: &'t str,
    found: Vec<(AnyNodeRef<'a>, TextRange)>,
}

impl<'a> SourceOrderVisitor<'a> for Quoted<'_, 'a> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        if let AnyNodeRef::ExprStringLiteral(literal) = node
            && literal.value.to_str() == self.name
            && let Some(at) = self.text[literal.range()].find(self.name)
            && let Ok(at) = u32::try_from(at)
        {
            let start = literal.start() + TextSize::new(at);
            self.found.push((node, TextRange::at(start, TextSize::of(self.name))));
        }
        TraversalSignal::Traverse
    }
}

/// Members of that name of which nobody knows whose they are.
struct Unknown<'m, 'db> {
    model: &'m SemanticModel<'db>,
    name: &'m str,
    found: Vec<(TextSize, &'static str)>,
}

impl<'a> SourceOrderVisitor<'a> for Unknown<'_, '_> {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        match node {
            AnyNodeRef::ExprAttribute(attribute) if attribute.attr.as_str() == self.name => {
                if matches!(attribute.value.inferred_type(self.model), None | Some(Type::Dynamic(_))) {
                    self.found.push((attribute.attr.start(), "of what type this is a member is not known"));
                }
            }
            AnyNodeRef::ExprCall(call) => {
                let by_name = ["getattr", "setattr", "hasattr", "delattr"];
                if matches!(&*call.func, Expr::Name(name) if by_name.contains(&name.id.as_str()))
                    && let Some(Expr::StringLiteral(text)) = call.arguments.args.get(1)
                    && text.value.to_str() == self.name
                {
                    self.found.push((text.start(), "it is reached by its name as text"));
                }
            }
            _ => {}
        }
        TraversalSignal::Traverse
    }
}
