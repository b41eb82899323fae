//! Renaming: the edits that give something another name, or the reasons why there are none.
//!
//! Owns the proof. The edits are tried in a second engine: there the new name must mean the same thing at exactly the
//! places that were edited, and nothing may be found wrong that was not before. Nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use ruff_db::files::File;
use ruff_db::source::source_text;
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange, TextSize};
use salsa::Database as _;
use ty_python_semantic::{Db as _, ImportAliasResolution, ResolvedDefinition, contains_identifier};

use super::db::Database;
use super::edits::{self, Edit};
use super::family::{self, Families};
use super::implied::is_special;
use super::lines::{Lines, Place};
use super::references::{self, Scope, Wanted};
use super::shown::module_name;
use super::spelt;
use super::target;
use super::texts::{self, Sought};
use super::trial::{self, Trial};
use super::twins;
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
    /// As text, in `__all__` and the like.
    listed: BTreeSet<(String, Range)>,
    refused: Vec<(String, TextSize, String)>,
    is_member: bool,
}

/// A [`Meaning`], and what it is the meaning of.
type Meant<'db> = (Meaning, Wanted<'db>);

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
        let Some((meaning, wanted)) = meaning(&self.db, own.file(&self.db), offset, &files) else {
            let name = target::at(&self.db, own, offset, |_, target| target.name().map(str::to_owned)).flatten();
            let name = name.ok_or_else(|| {
                Error::not_found("nothing that has a name stands there")
                    .hint("Point at a name, in code, not in a comment.")
            })?;
            let reason =
                format!("`{name}` is defined nowhere that can be followed: by its name as text, or at run time");
            return Ok(self.refusal(&[(own_path, offset, reason)]));
        };
        if meaning.name == new_name {
            return Ok(Renamed::default());
        }
        let mut refused = meaning.refused.clone();
        if let Some(reason) = unfit(&meaning, new_name) {
            refused.push((own_path.clone(), offset, reason));
        }
        refused.extend(self.hidden(&meaning, new_name));
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
        let unsure = self.unsure(&meaning, &wanted, &own_path, &files);
        Ok(Renamed { edits: told, refused: Vec::new(), unsure })
    }

    /// Inside of classes Python reads two underscores in front as the class's own, whatever the name stands for.
    fn hidden(&self, meaning: &Meaning, new_name: &str) -> Option<(String, TextSize, String)> {
        if meaning.is_member || !is_mangled(new_name) {
            return None;
        }
        let is_in_class = |(path, (start, end)): &&(String, (TextSize, TextSize))| {
            let range = TextRange::new(*start, *end);
            on_disk(&self.db, Path::new(path)).is_some_and(|file| family::class_around(&self.db, file, range).is_some())
        };
        let (path, (start, _)) = meaning.places.iter().find(is_in_class)?;
        let reason = format!("inside of a class `{new_name}` would be a name of the class's own");
        Some((path.clone(), *start, reason))
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
            self::meaning(db, file, place.1, files).map(|(meaning, _)| meaning)
        });
        let renamed = renamed.unwrap_or_default();
        let at = |path: &str, start: TextSize| (path.to_owned(), edits::moved(start, &by_file[path]));
        let expected: BTreeSet<(String, TextSize)> =
            meaning.places.iter().chain(&meaning.listed).map(|(path, (start, _))| at(path, *start)).collect();
        let found: BTreeSet<(String, TextSize)> =
            renamed.places.iter().chain(&renamed.listed).map(|(path, (start, _))| (path.clone(), *start)).collect();
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

    /// Places that may mean it, for all that is known.
    fn unsure(&self, meaning: &Meaning, wanted: &Wanted<'_>, own: &str, files: &[String]) -> Vec<Refusal> {
        let mut unsure = Vec::new();
        let sought = Sought::new(&self.db, wanted, meaning.is_member);
        for path in files.iter().filter(|path| wanted.scope != Scope::File || *path == own) {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let text = source_text(&self.db, file);
            if !contains_identifier(&text, &meaning.name) {
                continue;
            }
            let known = meaning.places.iter().chain(&meaning.listed).filter(|(edited, _)| edited == path);
            let known: Vec<TextSize> = known.map(|(_, (start, _))| *start).collect();
            let lines = Lines::of_source(&text);
            let shown = self.shown.path(&self.db, file);
            unsure.extend(sought.unsure(&self.db, file, &known).into_iter().map(|(at, reason)| {
                let Place { cell, line, .. } = lines.place(at);
                Refusal { file: shown.clone(), cell, line, reason: reason.to_owned() }
            }));
            if unsure.len() >= MOST_TOLD {
                break;
            }
        }
        unsure.sort();
        unsure.dedup();
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
    if is_special(&meaning.name) {
        return Some(format!("`{}` is a name that Python itself looks for", meaning.name));
    }
    if is_special(new_name) {
        return Some(format!("`{new_name}` would be a name that Python itself looks for"));
    }
    if meaning.is_member && is_mangled(&meaning.name) != is_mangled(new_name) {
        return Some(
            "names with two underscores in front are private to their class: who may see it would change".to_owned(),
        );
    }
    None
}

/// Whether Python puts the class's name before it, inside of a class.
fn is_mangled(name: &str) -> bool {
    name.starts_with("__") && !name.ends_with("__")
}

/// What stands at a place, and everywhere that means it; `None` where nothing has a name.
fn meaning<'db>(db: &'db Database, own: File, at: TextSize, paths: &[String]) -> Option<Meant<'db>> {
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
            for twin in twins::of_import(db, (file, range)) {
                add(db, twin, aliases, &mut wanted);
            }
            found.places.insert((path_of(db, file), (range.start(), range.end())));
        }
        if wanted.definitions.len() == known {
            for file in &files {
                let listed = texts::listed(db, *file, &name, &wanted, aliases);
                let keys = if found.is_member { spelt::keys(db, *file, &wanted) } else { Vec::new() };
                let texts = listed.into_iter().chain(keys);
                found.listed.extend(texts.map(|range| (path_of(db, *file), (range.start(), range.end()))));
            }
            let again = spelt::said_again(db, &wanted).into_iter();
            found.listed.extend(again.map(|(file, range)| (path_of(db, file), (range.start(), range.end()))));
            return Some((found, wanted));
        }
        db.unwind_if_revision_cancelled();
    }
    let reason = "more is related to it than can be followed".to_owned();
    found.refused.push((path_of(db, own), at, reason));
    Some((found, wanted))
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
        if !db.is_own(focus.file()) {
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
            let (named, quoted) = families.members(class);
            members.extend(named);
            found.listed.extend(quoted.iter().map(|(file, range)| (path_of(db, *file), (range.start(), range.end()))));
        }
        members.extend(twins::of(db, (focus.file(), focus.range())));
        let Some(function) = family::function_of(db, one) else { continue };
        let choices = family::overloads(db, function).into_iter();
        members.extend(choices.filter_map(|other| family::parameter(db, other, &wanted.name)));
        let Some(class) = family::class_around(db, function.0, function.1) else { continue };
        let method = source_text(db, function.0)[function.1].to_owned();
        let overriding = Families::new(db, &method, files).members(class).0;
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
