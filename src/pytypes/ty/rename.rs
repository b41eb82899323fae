//! Renaming: the edits that rename a symbol, or the reasons why it cannot be renamed.
//!
//! Owns the verification. The edits are applied in a scratch engine: there the new name must refer to the same symbol
//! at exactly the edited ranges, and no new diagnostic may appear. Nothing is written to disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use salsa::Database as _;

use super::api::{
    Expr, File, ImportAliasResolution, Ranged, ResolvedDefinition, SemanticDb as _, TextRange, TextSize,
    contains_identifier, parse_expression, source_text,
};
use super::class_members::{self, Member};
use super::db::Database;
use super::display::module_name;
use super::edits::{self, Edit};
use super::family::Families;
use super::implicit::is_special;
use super::imports;
use super::lines::{CellPosition, Lines};
use super::name_literals;
use super::references;
use super::search_target::{Scope, SearchTarget};
use super::string_names::{self, UncertainSearch};
use super::stubs;
use super::target;
use super::trial::{self, Trial};
use super::{View, on_disk};
use crate::error::{Error, Result};
use crate::model::{Position, TextEdit, printable};
use crate::pytypes::values::{Refusal, Renamed};
use crate::wording::Argument;

/// The maximum number of files without edits that are checked again. The search for references covers all files; these
/// checks only guard against references that the search cannot see.
const MAX_UNEDITED_FILES: usize = 24;
/// The maximum number of refusals and of uncertain occurrences in an answer.
const MAX_LISTED: usize = 50;
/// The maximum number of rounds in which related members are added.
const MAX_ROUNDS: usize = 8;

/// Every occurrence that a rename edits.
#[derive(Default)]
struct Occurrences {
    name: String,
    /// By file (absolute path).
    ranges: BTreeSet<(String, Range)>,
    /// Occurrences as strings, in `__all__` and the like.
    listed: BTreeSet<(String, Range)>,
    refused: Vec<(String, TextSize, String)>,
    is_member: bool,
}

/// The occurrences, and the symbol that they belong to.
type RenameTarget<'db> = (Occurrences, SearchTarget<'db>);

/// A range as an ordered pair; `TextRange` is not `Ord`.
type Range = (TextSize, TextSize);

impl View {
    /// The files that have the name and that the engine cannot read, such as files in another encoding than UTF-8.
    fn unreadable(&self, name: &str, files: &[String]) -> Vec<(String, TextSize, String)> {
        let has_name = |path: &&String| {
            let file = on_disk(&self.db, Path::new(path));
            file.is_some_and(|file| source_text(&self.db, file).read_error().is_some())
                && std::fs::read(path).is_ok_and(|bytes| contains_identifier(&String::from_utf8_lossy(&bytes), name))
        };
        let reason =
            format!("`{name}` occurs in this file, which the type engine cannot read, so that it is not edited");
        files.iter().filter(has_name).map(|path| (path.clone(), TextSize::default(), reason.clone())).collect()
    }

    /// `checkpoint` is called at every stage. It unwinds if the query was cancelled.
    pub(super) fn rename(
        &self,
        at: &Position,
        new_name: &str,
        files: Option<&[String]>,
        checkpoint: &dyn Fn(),
    ) -> Result<Renamed> {
        require_identifier(new_name)?;
        let (own, offset) = self.resolve(at)?;
        let own_path = own.file(&self.db).path(&self.db).as_str().to_owned();
        let files: Vec<String> = match files {
            Some(files) => {
                files.iter().cloned().chain([own_path.clone()]).collect::<BTreeSet<_>>().into_iter().collect()
            }
            None => self.files().into_iter().map(|file| file.path(&self.db).as_str().to_owned()).collect(),
        };
        let Some((occurrences, wanted)) = find_occurrences(&self.db, own.file(&self.db), offset, &files) else {
            let name = target::at(&self.db, own, offset, |_, target| target.name().map(str::to_owned)).flatten();
            let name = name.ok_or_else(|| {
                Error::not_found("there is no name at this position")
                    .hint("Give the position of a name in code, not in a comment.")
            })?;
            let reason = format!(
                "the definition of `{name}` cannot be resolved: it is created at run time, or looked up by its name"
            );
            return Ok(self.refusal(&[(own_path, offset, reason)]));
        };
        if occurrences.name == new_name {
            return Ok(Renamed::default());
        }
        let mut refused = occurrences.refused.clone();
        if let Some(reason) = unsuitable(&occurrences, new_name) {
            refused.push((own_path.clone(), offset, reason));
        }
        refused.extend(self.mangling_clash(&occurrences, new_name));
        let Some(own_range) = occurrences
            .ranges
            .iter()
            .chain(&occurrences.listed)
            .find(|(path, (start, end))| *path == own_path && *start <= offset && offset <= *end)
        else {
            refused.push((own_path, offset, format!("`{}` cannot be resolved here", occurrences.name)));
            return Ok(self.refusal(&refused));
        };
        let mut by_file: BTreeMap<&str, Vec<Edit>> = BTreeMap::new();
        for (path, (start, end)) in occurrences.ranges.iter().chain(&occurrences.listed) {
            let edit = Edit { range: TextRange::new(*start, *end), text: new_name.to_owned() };
            by_file.entry(path).or_default().push(edit);
        }
        for path in by_file.keys() {
            if on_disk(&self.db, Path::new(path)).is_some_and(|file| source_text(&self.db, file).is_notebook()) {
                refused.push(((*path).to_owned(), TextSize::default(), "notebooks cannot be edited".to_owned()));
            }
        }
        if refused.is_empty() {
            let start = edits::new_offset(own_range.1.0, &by_file[own_path.as_str()]);
            checkpoint();
            refused = self.verify(&occurrences, &by_file, (&own_path, start), new_name, &files, checkpoint)?;
        }
        if !refused.is_empty() {
            return Ok(self.refusal(&refused));
        }
        let mut text_edits = Vec::new();
        for (path, edits) in &by_file {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let text = source_text(&self.db, file);
            let lines = Lines::from_source(&text);
            let display_path = self.display.path(&self.db, file);
            text_edits.extend(edits.iter().map(|edit| TextEdit {
                span: lines.span(display_path.clone(), edit.range),
                new_text: edit.text.clone(),
            }));
        }
        text_edits.sort_by(|a, b| a.span.cmp(&b.span));
        let mut unsure = self.unsure(&occurrences, &wanted, &own_path, &files);
        unsure.extend(self.refusal(&self.unreadable(&occurrences.name, &files)).refused);
        Ok(Renamed { edits: text_edits, refused: Vec::new(), unsure })
    }

    /// Inside a class, Python mangles names that start with two underscores, whatever they refer to.
    fn mangling_clash(&self, occurrences: &Occurrences, new_name: &str) -> Option<(String, TextSize, String)> {
        if occurrences.is_member || !is_mangled(new_name) {
            return None;
        }
        let is_in_class = |(path, (start, end)): &&(String, (TextSize, TextSize))| {
            let range = TextRange::new(*start, *end);
            on_disk(&self.db, Path::new(path))
                .is_some_and(|file| class_members::class_around(&self.db, file, range).is_some())
        };
        let (path, (start, _)) = occurrences.ranges.iter().find(is_in_class)?;
        let reason = format!("inside a class, `{new_name}` would be mangled to a private name");
        Some((path.clone(), *start, reason))
    }

    /// Applies the edits in a scratch engine and compares the results.
    fn verify(
        &self,
        occurrences: &Occurrences,
        by_file: &BTreeMap<&str, Vec<Edit>>,
        start: (&str, TextSize),
        new_name: &str,
        files: &[String],
        checkpoint: &dyn Fn(),
    ) -> Result<Vec<(String, TextSize, String)>> {
        let mut checked: Vec<String> = by_file.keys().map(|path| (*path).to_owned()).collect();
        let holds_new = |path: &String| {
            let file = on_disk(&self.db, Path::new(path));
            file.is_some_and(|file| contains_identifier(&source_text(&self.db, file), new_name))
        };
        let mut others: Vec<&String> = files.iter().filter(|path| !by_file.contains_key(path.as_str())).collect();
        // Files that already contain the new name are the most likely to break.
        others.sort_by_key(|path| !holds_new(path));
        checked.extend(others.into_iter().take(MAX_UNEDITED_FILES).cloned());
        let before = trial::findings(&self.db, &checked, &trial::Unobserved);
        checkpoint();
        let mut trial = Trial::open(&self.display.root, Arc::default())?;
        let unwind_if_cancelled = || self.db.unwind_if_revision_cancelled();
        let texts = by_file.iter().filter_map(|(path, edits)| {
            let file = on_disk(&self.db, Path::new(path))?;
            Some(((*path).to_owned(), edits::apply(&source_text(&self.db, file), edits)))
        });
        trial.set(texts.collect());
        checkpoint();
        let mut refused = Vec::new();
        let none = Vec::new();
        let after = trial.findings(&checked, &unwind_if_cancelled);
        for path in &checked {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let edits = by_file.get(path.as_str()).unwrap_or(&none);
            let (old, new) = (&before[path], &after[path]);
            let added = trial::added(old, new, &source_text(&self.db, file), edits);
            let reason =
                |one: &trial::Finding| format!("it would cause a new diagnostic: {} ({})", one.message, one.rule);
            refused.extend(added.iter().map(|one| (path.clone(), edits::old_offset(one.at, edits), reason(one))));
        }
        checkpoint();
        let renamed = trial.with(&unwind_if_cancelled, |db| {
            let file = on_disk(db, Path::new(start.0))?;
            find_occurrences(db, file, start.1, files).map(|(occurrences, _)| occurrences)
        });
        let renamed = renamed.unwrap_or_default();
        let at = |path: &str, start: TextSize| (path.to_owned(), edits::new_offset(start, &by_file[path]));
        let expected: BTreeSet<(String, TextSize)> =
            occurrences.ranges.iter().chain(&occurrences.listed).map(|(path, (start, _))| at(path, *start)).collect();
        let found: BTreeSet<(String, TextSize)> =
            renamed.ranges.iter().chain(&renamed.listed).map(|(path, (start, _))| (path.clone(), *start)).collect();
        let old_offset = |(path, start): &(String, TextSize)| {
            (path.clone(), edits::old_offset(*start, by_file.get(path.as_str()).unwrap_or(&none)))
        };
        for extra in found.difference(&expected) {
            let (path, start) = old_offset(extra);
            refused.push((path, start, format!("an existing `{new_name}` would refer to the renamed symbol")));
        }
        for missing in expected.difference(&found) {
            let (path, start) = old_offset(missing);
            refused.push((path, start, format!("`{new_name}` would refer to something else here")));
        }
        refused.extend(renamed.refused.iter().map(|(path, start, reason)| {
            let (path, start) = old_offset(&(path.clone(), *start));
            (path, start, format!("as `{new_name}`: {reason}"))
        }));
        Ok(refused)
    }

    /// Occurrences that may refer to the symbol, although that is not certain.
    fn unsure(
        &self,
        occurrences: &Occurrences,
        wanted: &SearchTarget<'_>,
        own: &str,
        files: &[String],
    ) -> Vec<Refusal> {
        let mut unsure = Vec::new();
        let search = UncertainSearch::new(&self.db, wanted, occurrences.is_member);
        for path in files.iter().filter(|path| wanted.scope != Scope::File || *path == own) {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let text = source_text(&self.db, file);
            if !contains_identifier(&text, &occurrences.name) {
                continue;
            }
            let known = occurrences.ranges.iter().chain(&occurrences.listed).filter(|(edited, _)| edited == path);
            let known: Vec<TextSize> = known.map(|(_, (start, _))| *start).collect();
            let lines = Lines::from_source(&text);
            let display_path = self.display.path(&self.db, file);
            let is_defining = wanted.locations.iter().any(|(defining, _)| *defining == file);
            let unresolved = if is_defining { None } else { imports::first_unresolved(&self.db, file) };
            let uncertain = unresolved.map(|at| (at, UNRESOLVED));
            unsure.extend(search.unsure(&self.db, file, &known).into_iter().chain(uncertain).map(|(at, reason)| {
                let CellPosition { cell, line, .. } = lines.position(at);
                Refusal { file: display_path.clone(), cell, line, reason: reason.to_owned() }
            }));
            if unsure.len() >= MAX_LISTED {
                break;
            }
        }
        unsure.sort();
        unsure.dedup();
        unsure.truncate(MAX_LISTED);
        unsure
    }

    fn refusal(&self, refused: &[(String, TextSize, String)]) -> Renamed {
        let mut refusals: Vec<Refusal> = refused
            .iter()
            .map(|(path, at, reason)| {
                let file = on_disk(&self.db, Path::new(path));
                let position = file.map(|file| Lines::from_source(&source_text(&self.db, file)).position(*at));
                let (cell, line) = position.map_or((None, 1), |position| (position.cell, position.line));
                Refusal { file: self.display.relative(Path::new(path)), cell, line, reason: reason.clone() }
            })
            .collect();
        refusals.sort();
        refusals.dedup();
        refusals.truncate(MAX_LISTED);
        Renamed { refused: refusals, ..Renamed::default() }
    }
}

const UNRESOLVED: &str = "the type checker cannot resolve this relative import, so that names in this file may be of the symbol; it \
    does if the project root is above the folder of the package";

/// Rejects keywords as well: they parse as something else, or not at all.
fn require_identifier(name: &str) -> Result<()> {
    let parsed = parse_expression(name);
    let is_name = parsed.is_ok_and(|parsed| {
        let whole = TextRange::up_to(TextSize::of(name));
        matches!(parsed.expr(), Expr::Name(found) if found.id.as_str() == name && found.range == whole)
    });
    if is_name {
        return Ok(());
    }
    Err(Error::invalid_argument((
        Argument("new_name"),
        format!(": \"{}\" is not a valid Python identifier", printable(name)),
    ))
    .hint("Give an identifier that is not a keyword."))
}

/// Why the new name is not suitable, regardless of the references.
fn unsuitable(occurrences: &Occurrences, new_name: &str) -> Option<String> {
    if is_special(&occurrences.name) {
        return Some(format!("Python looks up `{}` by this name", occurrences.name));
    }
    if is_special(new_name) {
        return Some(format!("Python looks up `{new_name}` by this name"));
    }
    if occurrences.is_member && is_mangled(&occurrences.name) != is_mangled(new_name) {
        return Some(
            "names that start with two underscores are private to their class: the visibility would change".to_owned(),
        );
    }
    None
}

/// Whether Python mangles the name inside a class.
fn is_mangled(name: &str) -> bool {
    name.starts_with("__") && !name.ends_with("__")
}

/// The symbol at a position with all its occurrences; `None` if there is no name.
fn find_occurrences<'db>(db: &'db Database, own: File, at: TextSize, paths: &[String]) -> Option<RenameTarget<'db>> {
    let mut aliases = ImportAliasResolution::ResolveAliases;
    let mut wanted = references::search_target(db, db.program_file(own), at, aliases)?;
    // For `import Cart as C`, only `C` is renamed, not `Cart`; the name of a definition is renamed everywhere.
    if !wanted.definitions.iter().any(|one| calls_itself(db, one, &wanted.name)) {
        aliases = ImportAliasResolution::PreserveAliases;
        wanted = references::search_target(db, db.program_file(own), at, aliases)?;
    }
    let files: Vec<File> = paths.iter().filter_map(|path| on_disk(db, Path::new(path))).collect();
    let name = wanted.name.clone();
    let mut found = Occurrences { name: name.clone(), ..Occurrences::default() };
    let mut families = Families::new(db, &name, &files);
    for _ in 0..MAX_ROUNDS {
        let known = wanted.definitions.len();
        for member in relatives(db, &wanted, &mut families, &files, &mut found) {
            add(db, member, aliases, &mut wanted);
        }
        found.ranges.clear();
        for (file, range) in ranges(db, own, &wanted, &files) {
            add(db, (file, range), aliases, &mut wanted);
            for counterpart in stubs::of_import(db, (file, range)) {
                add(db, counterpart, aliases, &mut wanted);
            }
            found.ranges.insert((path_of(db, file), (range.start(), range.end())));
        }
        if wanted.definitions.len() == known {
            for file in &files {
                let listed = string_names::listed(db, *file, &name, &wanted, aliases);
                let keys = if found.is_member { name_literals::keys(db, *file, &wanted) } else { Vec::new() };
                let texts = listed.into_iter().chain(keys.into_iter().map(|(range, _)| range));
                found.listed.extend(texts.map(|range| (path_of(db, *file), (range.start(), range.end()))));
            }
            let again = name_literals::repeated(db, &wanted).into_iter();
            found.listed.extend(again.map(|(file, range)| (path_of(db, file), (range.start(), range.end()))));
            return Some((found, wanted));
        }
        db.unwind_if_revision_cancelled();
    }
    let reason = "it has too many related members".to_owned();
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

/// Members that must have the same name. Adds the reasons that prevent the rename.
fn relatives(
    db: &Database,
    wanted: &SearchTarget<'_>,
    families: &mut Families<'_>,
    files: &[File],
    found: &mut Occurrences,
) -> Vec<Member> {
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
            refuse("it is a module: rename its file instead".to_owned());
            continue;
        }
        if let Some(class) = class_members::class_of(db, one) {
            for (file, _) in families.foreign(class) {
                refuse(format!("it overrides a member of a class outside the project: {}", path_of(db, file)));
            }
            found.is_member = true;
            let (named, quoted) = families.members(class);
            members.extend(named);
            found.listed.extend(quoted.iter().map(|(file, range)| (path_of(db, *file), (range.start(), range.end()))));
        }
        members.extend(stubs::find(db, (focus.file(), focus.range())));
        let Some(function) = class_members::function_of(db, one) else { continue };
        let choices = class_members::overloads(db, function).into_iter();
        members.extend(choices.filter_map(|other| class_members::parameter(db, other, &wanted.name)));
        let Some(class) = class_members::class_around(db, function.0, function.1) else { continue };
        let method = source_text(db, function.0)[function.1].to_owned();
        // A constructor is called by the name of its class: it replaces no other.
        if matches!(method.as_str(), "__init__" | "__new__" | "__post_init__" | "__init_subclass__") {
            continue;
        }
        let overriding = Families::new(db, &method, files).members(class).0;
        members.extend(overriding.into_iter().filter_map(|one| class_members::parameter(db, one, &wanted.name)));
    }
    members
}

/// Adds the definitions at a range to the symbol.
fn add<'db>(db: &'db Database, (file, range): Member, aliases: ImportAliasResolution, wanted: &mut SearchTarget<'db>) {
    let declared = target::at(db, db.program_file(file), range.start(), |model, target| {
        references::declared(db, model, target, aliases).0
    });
    for one in declared.unwrap_or_default() {
        if !wanted.definitions.contains(&one) {
            if class_members::class_of(db, &one).is_some() {
                wanted.scope = Scope::Project;
            }
            wanted.add(db, one);
        }
    }
}

fn ranges(db: &Database, own: File, wanted: &SearchTarget<'_>, files: &[File]) -> Vec<Member> {
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
    let ranges: Vec<Vec<Member>> = files
        .into_par_iter()
        .map_with(db.clone(), |db, file| salsa::attach_allow_change(&*db, || in_one(db, *file)))
        .collect();
    ranges.concat()
}
