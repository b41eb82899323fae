//! The embedded engine: Astral's type checker as a library.
//!
//! Owns every use of its crates. Their types do not leave this folder.

mod analyze;
mod api;
mod by_syntax;
mod check;
mod checker_panics;
mod class_members;
mod db;
mod depth;
mod disk;
mod display;
mod edits;
mod expressions;
mod family;
mod file_diagnostics;
mod files;
mod implicit;
mod imports;
mod infer;
mod keyword_members;
mod lines;
mod name_literals;
mod newer_ignores;
mod projects;
mod quoted_names;
mod references;
mod rename;
mod rule_names;
mod run_time_names;
mod search_target;
mod settings;
mod string_names;
mod stubs;
mod super_members;
mod symbols;
mod target;
mod trial;
mod type_at;

use std::collections::{BTreeSet, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use salsa::{Database as _, Setter as _};

use self::api::{
    File, FileRootKind, Files, ImportAliasResolution, PanicError, ProgramFile, SemanticDb as _, SourceDb as _,
    SourceMap, SourceTextError, SystemPath, TextSize, catch_unwind, source_text, system_path_to_file,
    vendored_path_to_file,
};
use self::check::Extras;
use self::db::{Database, Db as _};
use self::depth::too_deep;
use self::disk::Disk;
use self::display::{PathDisplay, STUBS};
use self::file_diagnostics::{TOO_DEEP, diagnostics};
use self::lines::{CellPosition, Lines};
use self::search_target::SearchTarget;
use self::settings::Settings;
use super::engine::{Answered, Observer};
use super::values::{Answer, Changes, Checked, Confidence, Diagnostic, Libraries, Query, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Position, Span, printable};
use crate::wording::{Tool, Wording};

/// The type checker for one repository.
pub struct Embedded {
    db: Database,
    display: PathDisplay,
    system: Disk,
    /// No file may change. Dependencies are not tracked then, which saves time and memory.
    is_frozen: bool,
    /// Syntax trees that queries may have loaded since the last eviction.
    loaded: usize,
}

/// How many syntax trees are kept between evictions, the same number as in the checker's own crates.
const TREES_KEPT: usize = 200;

/// The maximum number of imports that are searched for the cause of a hang.
const MAX_IMPORTS: usize = 40;

impl Embedded {
    pub fn open(root: &Path, is_frozen: bool) -> Result<Self> {
        let display = PathDisplay { root: root.to_owned() };
        let path = SystemPath::from_std_path(root).ok_or_else(|| {
            Error::invalid_path("the type engine requires that the repository's path is UTF-8")
                .hint("Rename the folder.")
        })?;
        let system = Disk::new(path);
        let mut db = Database::new(system.clone());
        if is_frozen {
            db.files().freeze();
        }
        // Before any search path is registered: the project's own files are those that change.
        db.files().try_add_root(&db, path, FileRootKind::Project);
        let (settings, program) = settings::of_project(root, &system);
        let (paths, inner) = files::list(&settings, &program, root, &system);
        db.begin(settings, program, inner, &paths, is_frozen);
        Ok(Self { db, display, system, is_frozen, loaded: 0 })
    }

    /// Unfreezes the database so that files can change.
    fn thaw(&mut self) -> Result<bool> {
        let was_frozen = self.is_frozen;
        if was_frozen {
            *self = Self::open(&self.display.root, false)?;
        }
        Ok(was_frozen)
    }

    /// Makes sure that files named by a query are checked.
    fn check_named(&mut self, paths: &[String]) -> Result<()> {
        let is_new = |db: &Database, path: &PathBuf| {
            let file = on_disk(db, path);
            file.filter(|file| !db.is_own(*file) && !db.project().named(db).contains(file))
        };
        let paths = files::named(&self.db, paths, &self.display.root);
        if paths.iter().any(|path| is_new(&self.db, path).is_some()) {
            self.thaw()?;
        }
        for path in &paths {
            if let Some(file) = is_new(&self.db, path) {
                self.db.name(file);
            }
        }
        Ok(())
    }

    fn reload_settings(&mut self) {
        let (settings, program) = settings::of_project(&self.display.root, &self.system);
        self.db.set_settings(settings, program);
    }

    fn list_files(&mut self) {
        let settings = Arc::clone(self.db.project().settings(&self.db));
        let program = self.db.project().program_settings(&self.db);
        let (paths, inner) = files::list(&settings, program, &self.display.root, &self.system);
        self.db.set_inner(inner);
        self.db.set_files(on_disk_all(&self.db, &paths));
    }
}

/// Whether a change of the file may change a project's settings or its list of files.
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

/// The one thread that owns the engine changes it. Other threads answer queries with [`Answerer`]s.
impl Embedded {
    /// Applies changes on disk. Running answerers end with [`Answered::Interrupted`].
    pub fn apply(&mut self, changes: &Changes) -> Result<()> {
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

    /// Treats these files (absolute paths) as modules without any known types until they change.
    pub fn quarantine(&mut self, files: &[String]) -> Result<()> {
        self.thaw()?;
        // In such a module every name exists, with an unknown type.
        const NOTHING_KNOWN: &str = "def __getattr__(name): ...\n";
        for path in files {
            let Some(file) = on_disk(&self.db, Path::new(path)) else { continue };
            let text = source_text(&self.db, file);
            let text = text.with_text(NOTHING_KNOWN.to_owned(), &SourceMap::default());
            file.set_source_text_override(&mut self.db).to(Some(text));
        }
        Ok(())
    }

    /// Folders outside the repository that answers depend on.
    pub fn libraries(&self) -> Vec<String> {
        libraries(&self.db)
    }

    /// Frees memory that no answer needs, when no query is running. Without eviction, loaded syntax trees and superseded values
    /// of definition cycles would stay until a file changes.
    pub fn trim_memory(&mut self) {
        if self.loaded >= TREES_KEPT {
            self.loaded = 0;
            self.db.trigger_lru_eviction();
        }
    }

    /// A handle on the engine's state for one query. Drop it after the query: pending changes wait for it.
    pub fn answerer(&mut self, query: &Query) -> Result<Answerer> {
        match query {
            Query::Check { file: Some(file), .. } => self.check_named(std::slice::from_ref(file))?,
            Query::Check { file: None, within, .. } | Query::Projects { within } => self.check_named(within)?,
            _ => {}
        }
        self.loaded += match query {
            Query::Check { file: None, .. } | Query::Analyze | Query::Rename { .. } => TREES_KEPT,
            Query::References { files: Some(files), .. } => files.len().min(TREES_KEPT),
            _ => 1,
        };
        Ok(match query {
            // It applies edits, so it works on a database of its own and blocks no other query.
            Query::Infer { .. } | Query::InferAll { .. } => {
                let root = self.display.root.clone();
                Answerer::Isolated(Isolated { root, is_over: Arc::default(), stays: !self.is_frozen })
            }
            _ => Answerer::View(Box::new(View {
                db: self.db.held(Arc::default()),
                display: self.display.clone(),
                stays: !self.is_frozen,
            })),
        })
    }
}

/// Answers one query on its own thread.
pub enum Answerer {
    View(Box<View>),
    Isolated(Isolated),
}

impl Answerer {
    pub fn answer(&self, query: &Query, observer: &dyn Observer) -> Result<Answered> {
        match self {
            Self::View(view) => view.answer(query, observer),
            Self::Isolated(isolated) => isolated.answer(query, observer),
        }
    }

    /// A function that cancels the answer from another thread. The work stops as soon as it notices.
    pub fn canceller(&self) -> Box<dyn Fn() + Send + Sync> {
        match self {
            Self::View(view) => view.canceller(),
            Self::Isolated(isolated) => isolated.canceller(),
        }
    }
}

/// How long an isolated query keeps reporting its file as in progress.
const MAX_ISOLATED_REPORTING: Duration = Duration::from_secs(60);

/// The size in bytes of the largest file that is annotated without its project: about 5,000 lines.
const MAX_ALONE: u64 = 200_000;

/// Answers a query on a database that is created for it alone.
pub struct Isolated {
    root: PathBuf,
    is_over: Arc<AtomicBool>,
    /// The process will answer further queries.
    stays: bool,
}

impl Isolated {
    /// Infers annotations of many files.
    fn infer_all(&self, within: &[String], min_confidence: Confidence, observer: &dyn Observer) -> Result<Answered> {
        let work = AssertUnwindSafe(|| {
            infer::infer_all(&self.root, within, min_confidence, observer, &self.is_over, self.stays)
        });
        match catch_unwind(work) {
            Ok(_) if self.is_over.load(Ordering::Relaxed) => Ok(Answered::Cancelled),
            Ok(inferred) => Ok(Answered::Done(Box::new(Answer::Infer(inferred?)))),
            Err(panic) => Err(failed(&panic)),
        }
    }

    fn answer(&self, query: &Query, observer: &dyn Observer) -> Result<Answered> {
        if let Query::InferAll { within, min_confidence } = query {
            return self.infer_all(within, *min_confidence, observer);
        }
        let Some(file) = query.file() else { return Err(wrong_answerer()) };
        // In one pass over the project, annotations are verified in far fewer checks.
        if let Query::Infer { symbol: None, min_confidence, .. } = query
            && std::fs::metadata(file).is_ok_and(|file| file.len() > MAX_ALONE)
        {
            return self.infer_all(&[file.to_owned()], *min_confidence, observer);
        }
        let path = PathDisplay { root: self.root.clone() }.relative(Path::new(file));
        // The query processes many files and reports progress with each step, so only a hang counts as stuck. Reporting
        // stops after a time limit that covers any hand-written file: with hostile input every step may end and the
        // whole never.
        let begun = Instant::now();
        observer.begins(&path);
        let is_over = || {
            if begun.elapsed() < MAX_ISOLATED_REPORTING {
                observer.begins(&path);
            }
            self.is_over.load(Ordering::Relaxed)
        };
        let work = AssertUnwindSafe(|| match query {
            Query::Infer { file, symbol, min_confidence } => {
                let (path, flag) = (Path::new(file), Arc::clone(&self.is_over));
                infer::infer(&self.root, path, symbol.as_deref(), *min_confidence, &is_over, flag).map(Answer::Infer)
            }
            _ => Err(wrong_answerer()),
        });
        match catch_unwind(work) {
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

/// Fails if the engine cannot read or parse the text.
fn require_readable(db: &Database, file: File, display: &PathDisplay) -> Result<()> {
    let text = source_text(db, file);
    let what = if let Some(error) = text.read_error() {
        match error {
            SourceTextError::FailedToReadNotebook(why) => {
                format!("is not a valid notebook: {}", printable(why))
            }
            SourceTextError::FailedToReadFile(why) if why.contains("UTF-8") => {
                "is not UTF-8, which the type engine requires".to_owned()
            }
            SourceTextError::FailedToReadFile(_) => return Err(gone(&display.path(db, file))),
        }
    } else if let Some(at) = too_deep(&text) {
        let line = Lines::from_source(&text).position(TextSize::try_from(at).unwrap_or_default()).line;
        format!("is not analyzed: {}, line {line}", TOO_DEEP)
    } else {
        return Ok(());
    };
    let file = printable(&display.path(db, file));
    Err(Error::new(ErrorKind::UnsupportedFormat, format!("{file} {what}"))
        .hint(Wording::from((Tool("check"), " reports it too.")).then((Tool("get_slice"), " can read it."))))
}

fn gone(file: &str) -> Error {
    Error::invalid_path(format!("{} no longer exists, or is not a file", printable(file)))
        .hint((Tool("list_files"), " lists the files."))
}

fn wrong_answerer() -> Error {
    Error::internal("the query was passed to the wrong answerer")
}

fn failed(panic: &PanicError) -> Error {
    // Its message may quote the text of a file.
    let position = panic.location.as_deref().unwrap_or("an unknown position");
    Error::internal(format!("the type engine panicked at {position}")).hint("Try another position, or report a bug.")
}

/// One thread's handle on the database.
pub struct View {
    db: Database,
    display: PathDisplay,
    /// The engine will answer further queries.
    stays: bool,
}

impl View {
    fn answer(&self, query: &Query, observer: &dyn Observer) -> Result<Answered> {
        let work = AssertUnwindSafe(|| salsa::attach_allow_change(&self.db, || self.ask(query, observer)));
        match catch_unwind(work) {
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

    fn ask(&self, query: &Query, observer: &dyn Observer) -> Result<Answer> {
        let (db, display) = (&self.db, &self.display);
        if let Some(path) = query.file() {
            observer.begins(&display.relative(Path::new(path)));
            if !matches!(query, Query::Check { .. }) {
                require_readable(db, self.file(path)?.file(db), display)?;
            }
        }
        Ok(match query {
            Query::Check { file, within, rendered, notes } => {
                let extras = Extras { rendered: *rendered, notes: *notes };
                Answer::Check(match file {
                    Some(file) => self.check_file(file, extras)?,
                    None => self.check(within, extras, observer),
                })
            }
            Query::TypeAt(at) => {
                let (file, offset) = self.resolve(at)?;
                Answer::TypeAt { found: type_at::type_at(db, file, offset, display).map(Box::new) }
            }
            Query::Symbols { file } => Answer::Symbols { symbols: symbols::outline(db, self.file(file)?) },
            Query::Definition(at) => {
                let (file, offset) = self.resolve(at)?;
                Answer::Definition { definitions: type_at::definitions(db, file, offset, display) }
            }
            Query::Subject(at) => Answer::Subject { found: self.search_target(at)?.as_ref().map(references::subject) },
            Query::References { at, include_declaration, files } => {
                let Some(wanted) = self.search_target(at)? else {
                    return Ok(Answer::References { references: Vec::new(), unresolved: 0 });
                };
                let own = self.file(&at.file)?.file(db);
                let files = match files {
                    Some(files) => files.iter().filter_map(|path| on_disk(db, Path::new(path))).collect(),
                    None => self.files(),
                };
                let (references, unresolved) =
                    references::find_all(db, own, &wanted, &files, display, *include_declaration);
                Answer::References { references, unresolved }
            }
            Query::Infer { .. } | Query::InferAll { .. } => return Err(wrong_answerer()),
            Query::Rename { at, new_name, files } => {
                let checkpoint = || {
                    db.unwind_if_revision_cancelled();
                    observer.begins(&display.relative(Path::new(&at.file)));
                };
                Answer::Rename(self.rename(at, new_name, files.as_deref(), &checkpoint)?)
            }
            Query::Analyze => Answer::Analyze(Box::new(analyze::analyze(db, &self.files(), display, observer))),
            Query::Files => {
                let paths = self.files().into_iter().filter_map(|file| file.path(db).as_system_path());
                let mut files: Vec<String> = paths.map(|path| path.as_str().to_owned()).collect();
                files.sort();
                Answer::Files { files }
            }
            Query::Projects { within } => {
                Answer::Projects(projects::covered(db, &self.files_within(within), within, &display.root))
            }
            Query::Imports { file } => {
                let found = imports::transitive(db, self.file(file)?.file(db), MAX_IMPORTS);
                Answer::Files { files: found.into_iter().map(|file| file.path(db).as_str().to_owned()).collect() }
            }
            Query::Libraries => Answer::Libraries(Libraries { folders: libraries(db) }),
        })
    }

    /// The files that a query about the whole project covers. Scripts that the settings exclude are checked only by
    /// name.
    fn files(&self) -> Vec<File> {
        let db = &self.db;
        let is_left_out = |file: &File| db.settings_of(*file).exclude_scripts && db::script(db, *file).is_some();
        db.project().files(db).iter().copied().filter(|file| !is_left_out(file)).collect()
    }

    /// The checked files among these and below these folders; all of them if there are none.
    fn files_within(&self, within: &[String]) -> Vec<File> {
        let db = &self.db;
        let mut files = self.files();
        if !within.is_empty() {
            let is_included = |file: &File| {
                let path = file.path(db).as_system_path();
                path.is_some_and(|path| within.iter().any(|one| path.as_std_path().starts_with(one)))
            };
            files.retain(is_included);
            // What is named explicitly is checked even if the settings exclude it.
            let named = files::named(db, within, &self.display.root);
            let known: HashSet<File> = files.iter().copied().collect();
            files.extend(on_disk_all(db, &named).into_iter().filter(|file| !known.contains(file)));
        }
        files
    }

    /// The diagnostics in these files and folders; everywhere if there are none.
    fn check(&self, within: &[String], extras: Extras, observer: &dyn Observer) -> Checked {
        let db = &self.db;
        let files = self.files_within(within);
        let mut checked = check::all(db, &files, &self.display, extras, self.stays, observer);
        let general = &**db.project().settings(db);
        let inner = db.project().inner(db).iter().map(|inner| &inner.settings);
        let is_used = |settings: &&Settings| files.iter().any(|file| std::ptr::eq(db.settings_of(*file), *settings));
        let all = std::iter::once(general).chain(inner.filter(|settings| within.is_empty() || is_used(settings)));
        checked.diagnostics.extend(all.flat_map(|settings| self.problems(settings)));
        check::sort(&mut checked.diagnostics);
        checked.warnings_pass = self.warnings_pass(&checked.diagnostics);
        checked
    }

    fn check_file(&self, path: &str, extras: Extras) -> Result<Checked> {
        let file = self.file(path)?;
        let found = diagnostics(&self.db, file);
        let file = file.file(&self.db);
        let mut diagnostics = check::to_diagnostics(&self.db, file, found, &self.display, extras);
        diagnostics.extend(check::script_problems(&self.db, file, &self.display));
        // The settings that apply to the file are part of the answer.
        diagnostics.extend(self.problems(self.db.settings_of(file)));
        check::sort(&mut diagnostics);
        let warnings_pass = self.warnings_pass(&diagnostics);
        Ok(Checked { diagnostics, files: 1, warnings_pass })
    }

    /// The problems in a project's settings.
    fn problems(&self, settings: &Settings) -> Vec<Diagnostic> {
        let convert = |problem: &Diagnostic| {
            let file = match self.display.relative(Path::new(&problem.span.file)) {
                // The repository itself.
                file if file.is_empty() => ".".to_owned(),
                file => file,
            };
            Diagnostic { span: Span { file, ..problem.span.clone() }, ..problem.clone() }
        };
        settings.problems.iter().map(convert).collect()
    }

    /// Whether every project that has warnings lets them pass.
    fn warnings_pass(&self, found: &[Diagnostic]) -> bool {
        let warned = found.iter().filter(|one| one.severity == Severity::Warning);
        let files: HashSet<&str> = warned.map(|one| one.span.file.as_str()).collect();
        files.into_iter().all(|file| {
            let file = on_disk(&self.db, &self.display.root.join(file));
            let settings = file.map_or(&**self.db.project().settings(&self.db), |file| self.db.settings_of(file));
            settings.warnings_pass
        })
    }

    fn search_target(&self, at: &Position) -> Result<Option<SearchTarget<'_>>> {
        let (file, offset) = self.resolve(at)?;
        Ok(references::search_target(&self.db, file, offset, ImportAliasResolution::ResolveAliases))
    }

    fn file(&self, path: &str) -> Result<ProgramFile<'_>> {
        let stub = Path::new(path).strip_prefix(self.display.root.join(STUBS)).ok().and_then(Path::to_str);
        let file = stub.and_then(|stub| vendored_path_to_file(&self.db, stub).ok());
        let file = file.or_else(|| on_disk(&self.db, Path::new(path)));
        let file = file.ok_or_else(|| gone(&self.display.relative(Path::new(path))))?;
        Ok(self.db.program_file(file))
    }

    fn resolve(&self, at: &Position) -> Result<(ProgramFile<'_>, TextSize)> {
        let file = self.file(&at.file)?;
        let text = source_text(&self.db, file.file(&self.db));
        let position = CellPosition { cell: at.cell, line: at.line, column: at.column };
        let offset = Lines::from_source(&text)
            .offset(position)
            .map_err(|what| Error::not_found(what).hint("Lines and columns are 1-based; columns count characters."))?;
        Ok((file, offset))
    }
}
