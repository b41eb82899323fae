//! The embedded engine: Astral's checker as a library.
//!
//! Owns every use of its crates. Nothing of theirs leaves this folder.

mod above;
mod analyze;
mod check;
mod db;
mod depth;
mod edits;
mod family;
mod files;
mod implied;
mod imports;
mod infer;
mod lines;
mod references;
mod rename;
mod settings;
mod shown;
mod spelt;
mod symbols;
mod target;
mod texts;
mod trial;
mod twins;
mod type_at;
mod unspoken;

use std::collections::{BTreeSet, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ruff_db::Db as _;
use ruff_db::files::{File, FileRootKind, Files, system_path_to_file, vendored_path_to_file};
use ruff_db::source::{SourceTextError, source_text};
use ruff_db::system::{OsSystem, SystemPath};
use ruff_text_size::TextSize;
use salsa::{Database as _, Setter as _};
use ty_python_core::ProgramFile;
use ty_python_semantic::{Db as _, ImportAliasResolution};

use self::check::Also;
use self::db::{Database, Db as _};
use self::depth::too_deep;
use self::lines::{Lines, Place};
use self::settings::Settings;
use self::shown::{STUBS, Shown};
use super::engine::{Answered, Answerer, Engine, Witness};
use super::values::{Answer, Changes, Checked, Diagnostic, Libraries, Position, Question, Severity, Span};
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;

/// The checker over one repository.
pub struct Embedded {
    db: Database,
    shown: Shown,
    system: OsSystem,
    /// No file's text may change: then nobody keeps account of what depends on it, which is time and memory.
    is_frozen: bool,
    /// Trees that questions may have loaded since those that are not needed were let go.
    loaded: usize,
}

/// So many trees are kept, which is what the checker's own crates keep from one change to the next.
const TREES_KEPT: usize = 200;

/// Imports that are looked through for what keeps a file from coming to an end.
const MOST_IMPORTS: usize = 40;

impl Embedded {
    pub fn open(root: &Path, is_frozen: bool) -> Result<Self> {
        let shown = Shown { root: root.to_owned() };
        let path = SystemPath::from_std_path(root).ok_or_else(|| {
            Error::invalid_path("the repository's path is not UTF-8, which the type engine needs")
                .hint("Rename the folder.")
        })?;
        let system = OsSystem::new(path);
        let mut db = Database::new(system.clone());
        if is_frozen {
            db.files().freeze();
        }
        // Before any search path is registered: the project's own files are those that change.
        db.files().try_add_root(&db, path, FileRootKind::Project);
        let (settings, program) = settings::of_project(root, &system);
        let (paths, inner) = files::list(&settings, root, &system);
        db.begin(settings, program, inner, &paths, is_frozen);
        Ok(Self { db, shown, system, is_frozen, loaded: 0 })
    }

    /// Lets files change, where they could not.
    fn thaw(&mut self) -> Result<bool> {
        let was_frozen = self.is_frozen;
        if was_frozen {
            *self = Self::open(&self.shown.root, false)?;
        }
        Ok(was_frozen)
    }

    /// Sees that files which are asked for by name are checked.
    fn name(&mut self, paths: &[String]) -> Result<()> {
        let is_new = |db: &Database, path: &String| {
            let file = on_disk(db, Path::new(path));
            file.filter(|file| !db.is_own(*file) && !db.project().named(db).contains(file))
        };
        if paths.iter().any(|path| is_new(&self.db, path).is_some()) {
            self.thaw()?;
        }
        for path in paths {
            if let Some(file) = is_new(&self.db, path) {
                self.db.name(file);
            }
        }
        Ok(())
    }

    fn reload_settings(&mut self) {
        let (settings, program) = settings::of_project(&self.shown.root, &self.system);
        self.db.set_settings(settings, program);
    }

    fn list_files(&mut self) {
        let settings = Arc::clone(self.db.project().settings(&self.db));
        let (paths, inner) = files::list(&settings, &self.shown.root, &self.system);
        self.db.set_inner(inner);
        self.db.set_files(on_disk_all(&self.db, &paths));
    }
}

/// Files by which a project's settings or its list of files may change.
fn is_settings_file(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
        matches!(name, "pyproject.toml" | "ty.toml" | "pyvenv.cfg" | ".gitignore" | ".ignore" | "exclude")
    })
}

fn on_disk(db: &Database, path: &Path) -> Option<File> {
    system_path_to_file(db, SystemPath::from_std_path(path)?).ok()
}

fn on_disk_all(db: &Database, paths: &[PathBuf]) -> HashSet<File> {
    paths.iter().filter_map(|path| on_disk(db, path)).collect()
}

impl Engine for Embedded {
    fn apply(&mut self, changes: &Changes) -> Result<()> {
        if self.thaw()? {
            return Ok(());
        }
        match changes {
            Changes::Everything => {
                Files::sync_all(&mut self.db);
                self.reload_settings();
                self.list_files();
            }
            Changes::Paths(paths) => {
                let mut list_again = false;
                for path in paths.iter().map(Path::new) {
                    let Some(system_path) = SystemPath::from_std_path(path) else { continue };
                    let known = self.db.files().try_system(&self.db, system_path);
                    let is_listed = known.is_some_and(|file| self.db.project().files(&self.db).contains(&file));
                    if path.is_dir() || (!path.exists() && path.extension().is_none()) {
                        Files::sync_all_recursive(&mut self.db, [system_path]);
                        list_again = true;
                    } else {
                        File::sync_path(&mut self.db, system_path);
                        list_again |= is_listed != path.is_file();
                    }
                    if is_settings_file(path) {
                        self.reload_settings();
                        list_again = true;
                    }
                }
                if list_again {
                    self.list_files();
                }
            }
        }
        Ok(())
    }

    fn shelve(&mut self, files: &[String]) -> Result<()> {
        self.thaw()?;
        // Every name of such a module is there, and of no known type.
        const NOTHING_KNOWN: &str = "def __getattr__(name): ...\n";
        for path in files {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let text = source_text(&self.db, file);
            let text = text.with_text(NOTHING_KNOWN.to_owned(), &ruff_diagnostics::SourceMap::default());
            file.set_source_text_override(&mut self.db).to(Some(text));
        }
        Ok(())
    }

    fn libraries(&self) -> Vec<String> {
        libraries(&self.db)
    }

    /// Without this, what was loaded, and what was superseded within a circle of definitions, stays until a file changes.
    fn settle(&mut self) {
        if self.loaded >= TREES_KEPT {
            self.loaded = 0;
            self.db.trigger_lru_eviction();
        }
    }

    fn answerer(&mut self, question: &Question) -> Result<Box<dyn Answerer>> {
        match question {
            Question::Check { file: Some(file), .. } => self.name(std::slice::from_ref(file))?,
            Question::Check { file: None, within, .. } => self.name(within)?,
            _ => {}
        }
        self.loaded += match question {
            Question::Check { file: None, .. } | Question::Analyze | Question::Rename { .. } => TREES_KEPT,
            Question::References { files: Some(files), .. } => files.len().min(TREES_KEPT),
            _ => 1,
        };
        Ok(match question {
            // It edits: on a database of its own, so that nobody waits for it.
            Question::Infer { .. } => Box::new(Apart { root: self.shown.root.clone(), is_over: Arc::default() }),
            _ => Box::new(View { db: self.db.held(Arc::default()), shown: self.shown.clone(), stays: !self.is_frozen }),
        })
    }
}

/// Work for one question shows for so long that it goes on.
const LONGEST_APART: Duration = Duration::from_secs(60);

/// Work on a database that is made for one question.
struct Apart {
    root: PathBuf,
    is_over: Arc<AtomicBool>,
}

impl Answerer for Apart {
    fn answer(&self, question: &Question, witness: &dyn Witness) -> Result<Answered> {
        let Some(file) = question.file() else { return Err(apart()) };
        let shown = Shown { root: self.root.clone() }.relative(Path::new(file));
        // It is work on many files and goes on as long as it asks this: only one that stands still is stuck. That holds for as
        // long as any that a person wrote takes; with another, each step may come to an end and the whole never does.
        let begun = Instant::now();
        witness.begins(&shown);
        let is_over = || {
            if begun.elapsed() < LONGEST_APART {
                witness.begins(&shown);
            }
            self.is_over.load(Ordering::Relaxed)
        };
        let work = AssertUnwindSafe(|| match question {
            Question::Infer { file, symbol } => {
                infer::infer(&self.root, Path::new(file), symbol.as_deref(), &is_over, Arc::clone(&self.is_over))
                    .map(Answer::Infer)
            }
            _ => Err(apart()),
        });
        match ruff_db::panic::catch_unwind(work) {
            Ok(_) if is_over() => Ok(Answered::Cancelled),
            Ok(answer) => Ok(Answered::Done(Box::new(answer?))),
            Err(panic) => Err(failed(&panic)),
        }
    }

    fn canceller(&self) -> Box<dyn Fn() + Send + Sync> {
        let is_over = Arc::clone(&self.is_over);
        Box::new(move || is_over.store(true, Ordering::Relaxed))
    }
}

fn libraries(db: &Database) -> Vec<String> {
    let inner = db.project().inner(db).iter().map(|inner| &inner.settings);
    let folders = std::iter::once(&**db.project().settings(db)).chain(inner).flat_map(|settings| &settings.libraries);
    folders.map(|folder| folder.to_string_lossy().into_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Nothing can be asked of a text that the engine cannot read.
fn require_readable(db: &Database, file: File, shown: &Shown) -> Result<()> {
    let text = source_text(db, file);
    let what = if let Some(error) = text.read_error() {
        match error {
            SourceTextError::FailedToReadNotebook(why) => {
                format!("is no notebook that can be read: {}", printable(why))
            }
            SourceTextError::FailedToReadFile(why) if why.contains("UTF-8") => {
                "is not UTF-8, which the type engine needs".to_owned()
            }
            SourceTextError::FailedToReadFile(_) => return Err(gone(&shown.path(db, file))),
        }
    } else if let Some(at) = too_deep(&text) {
        let line = Lines::of_source(&text).place(TextSize::try_from(at).unwrap_or_default()).line;
        format!("is not looked into: {}, line {line}", check::TOO_DEEP)
    } else {
        return Ok(());
    };
    let file = printable(&shown.path(db, file));
    Err(Error::new(ErrorKind::UnsupportedFormat, format!("{file} {what}"))
        .hint("`check` says so too; `get_slice` reads it."))
}

fn gone(file: &str) -> Error {
    Error::invalid_path(format!("{} is not there any more, or no file", printable(file)))
        .hint("`list_files` shows what there is.")
}

fn apart() -> Error {
    Error::internal("this question was given to the wrong answerer")
}

fn failed(panic: &ruff_db::panic::PanicError) -> Error {
    // Its message may quote the text of a file.
    let place = panic.location.as_deref().unwrap_or("an unknown place");
    Error::internal(format!("the type engine panicked at {place}")).hint("Ask about another place, or report it.")
}

/// One thread's hold on the database.
struct View {
    db: Database,
    shown: Shown,
    /// Other questions follow.
    stays: bool,
}

impl Answerer for View {
    fn answer(&self, question: &Question, witness: &dyn Witness) -> Result<Answered> {
        let work = AssertUnwindSafe(|| salsa::attach_allow_change(&self.db, || self.ask(question, witness)));
        match ruff_db::panic::catch_unwind(work) {
            Ok(_) if self.db.is_over() => Ok(Answered::Cancelled),
            Ok(answer) => answer.map(|answer| Answered::Done(Box::new(answer))),
            Err(panic) => match panic.payload.downcast_ref::<salsa::Cancelled>() {
                Some(salsa::Cancelled::PendingWrite) => Ok(Answered::Interrupted),
                Some(salsa::Cancelled::Local) => Ok(Answered::Cancelled),
                _ => Err(failed(&panic)),
            },
        }
    }

    fn canceller(&self) -> Box<dyn Fn() + Send + Sync> {
        let (token, is_over) = (self.db.cancellation_token(), self.db.is_over_flag());
        Box::new(move || {
            is_over.store(true, Ordering::Relaxed);
            token.cancel();
        })
    }
}

impl View {
    fn ask(&self, question: &Question, witness: &dyn Witness) -> Result<Answer> {
        let (db, shown) = (&self.db, &self.shown);
        if let Some(path) = question.file() {
            witness.begins(&shown.relative(Path::new(path)));
            if !matches!(question, Question::Check { .. }) {
                require_readable(db, self.file(path)?.file(db), shown)?;
            }
        }
        Ok(match question {
            Question::Check { file, within, rendered, notes } => {
                let also = Also { rendered: *rendered, notes: *notes };
                Answer::Check(match file {
                    Some(file) => self.check_file(file, also)?,
                    None => self.check(within, also, witness),
                })
            }
            Question::TypeAt(at) => {
                let (file, offset) = self.place(at)?;
                Answer::TypeAt { found: type_at::type_at(db, file, offset, shown).map(Box::new) }
            }
            Question::Symbols { file } => Answer::Symbols { symbols: symbols::outline(db, self.file(file)?) },
            Question::Definition(at) => {
                let (file, offset) = self.place(at)?;
                Answer::Definition { definitions: type_at::definitions(db, file, offset, shown) }
            }
            Question::Subject(at) => Answer::Subject { found: self.wanted(at)?.as_ref().map(references::subject) },
            Question::References { at, include_declaration, files } => {
                let Some(wanted) = self.wanted(at)? else { return Ok(Answer::References { references: Vec::new() }) };
                let own = self.file(&at.file)?.file(db);
                let files = match files {
                    Some(files) => files.iter().filter_map(|path| on_disk(db, Path::new(path))).collect(),
                    None => self.files(),
                };
                let references = references::all(db, own, &wanted, &files, shown, *include_declaration);
                Answer::References { references }
            }
            Question::Infer { .. } => return Err(apart()),
            Question::Rename { at, new_name, files } => {
                let goes_on = || {
                    db.unwind_if_revision_cancelled();
                    witness.begins(&shown.relative(Path::new(&at.file)));
                };
                Answer::Rename(self.rename(at, new_name, files.as_deref(), &goes_on)?)
            }
            Question::Analyze => Answer::Analyze(Box::new(analyze::analyze(db, &self.files(), shown, witness))),
            Question::Files => {
                let paths = self.files().into_iter().filter_map(|file| file.path(db).as_system_path());
                let mut files: Vec<String> = paths.map(|path| path.as_str().to_owned()).collect();
                files.sort();
                Answer::Files { files }
            }
            Question::Imports { file } => {
                let found = imports::of(db, self.file(file)?.file(db), MOST_IMPORTS);
                Answer::Files { files: found.into_iter().map(|file| file.path(db).as_str().to_owned()).collect() }
            }
            Question::Libraries => Answer::Libraries(Libraries { folders: libraries(db) }),
        })
    }

    /// What a question about the whole project is about. A script that the settings leave out is answered for by name.
    fn files(&self) -> Vec<File> {
        let db = &self.db;
        let is_left_out = |file: &File| db.settings_of(*file).exclude_scripts && db::script(db, *file).is_some();
        db.project().files(db).iter().copied().filter(|file| !is_left_out(file)).collect()
    }

    /// What is wrong within these files and folders; in none of them: everywhere.
    fn check(&self, within: &[String], also: Also, witness: &dyn Witness) -> Checked {
        let db = &self.db;
        let mut files = self.files();
        if !within.is_empty() {
            let is_meant = |file: &File| {
                let path = file.path(db).as_system_path();
                path.is_some_and(|path| within.iter().any(|one| path.as_std_path().starts_with(one)))
            };
            files.retain(is_meant);
            // Who names a file means it, whatever the settings leave out.
            let named = within.iter().filter_map(|path| on_disk(db, Path::new(path)));
            let further: Vec<File> = named.filter(|file| !files.contains(file)).collect();
            files.extend(further);
        }
        let mut checked = check::all(db, &files, &self.shown, also, self.stays, witness);
        let general = &**db.project().settings(db);
        let inner = db.project().inner(db).iter().map(|inner| &inner.settings);
        let is_used = |settings: &&Settings| files.iter().any(|file| std::ptr::eq(db.settings_of(*file), *settings));
        let all = std::iter::once(general).chain(inner.filter(|settings| within.is_empty() || is_used(settings)));
        checked.diagnostics.extend(all.flat_map(|settings| self.problems(settings)));
        check::sort(&mut checked.diagnostics);
        checked.warnings_pass = self.warnings_pass(&checked.diagnostics);
        checked
    }

    fn check_file(&self, path: &str, also: Also) -> Result<Checked> {
        let file = self.file(path)?;
        let found = check::diagnostics(&self.db, file);
        let file = file.file(&self.db);
        let mut diagnostics = check::told(&self.db, file, found, &self.shown, also);
        diagnostics.extend(check::of_settings(&self.db, file, &self.shown));
        // What the file is checked by is part of the answer.
        diagnostics.extend(self.problems(self.db.settings_of(file)));
        check::sort(&mut diagnostics);
        let warnings_pass = self.warnings_pass(&diagnostics);
        Ok(Checked { diagnostics, files: 1, warnings_pass })
    }

    /// What is wrong with a project's settings.
    fn problems(&self, settings: &Settings) -> Vec<Diagnostic> {
        let told = |problem: &Diagnostic| {
            let file = match self.shown.relative(Path::new(&problem.span.file)) {
                // The repository itself.
                file if file.is_empty() => ".".to_owned(),
                file => file,
            };
            Diagnostic { span: Span { file, ..problem.span.clone() }, ..problem.clone() }
        };
        settings.problems.iter().map(told).collect()
    }

    /// Every project that has warnings lets them pass.
    fn warnings_pass(&self, found: &[Diagnostic]) -> bool {
        let warned = found.iter().filter(|one| one.severity == Severity::Warning);
        let files: HashSet<&str> = warned.map(|one| one.span.file.as_str()).collect();
        files.into_iter().all(|file| {
            let file = on_disk(&self.db, &self.shown.root.join(file));
            let settings = file.map_or(&**self.db.project().settings(&self.db), |file| self.db.settings_of(file));
            settings.warnings_pass
        })
    }

    fn wanted(&self, at: &Position) -> Result<Option<references::Wanted<'_>>> {
        let (file, offset) = self.place(at)?;
        Ok(references::wanted(&self.db, file, offset, ImportAliasResolution::ResolveAliases))
    }

    fn file(&self, path: &str) -> Result<ProgramFile<'_>> {
        let stub = Path::new(path).strip_prefix(self.shown.root.join(STUBS)).ok().and_then(Path::to_str);
        let file = stub.and_then(|stub| vendored_path_to_file(&self.db, stub).ok());
        let file = file.or_else(|| on_disk(&self.db, Path::new(path)));
        let file = file.ok_or_else(|| gone(&self.shown.relative(Path::new(path))))?;
        Ok(self.db.program_file(file))
    }

    fn place(&self, at: &Position) -> Result<(ProgramFile<'_>, TextSize)> {
        let file = self.file(&at.file)?;
        let text = source_text(&self.db, file.file(&self.db));
        let place = Place { cell: at.cell, line: at.line, column: at.column };
        let offset = Lines::of_source(&text)
            .offset(place)
            .map_err(|what| Error::not_found(what).hint("Lines and columns are 1-based; columns count characters."))?;
        Ok((file, offset))
    }
}
