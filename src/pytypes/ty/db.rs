//! The checker's database: its files, its settings, and the callbacks that the checker requires from its host.
//!
//! Owns what salsa needs. `settings` decides the settings, and `files` the list of files.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use salsa::Setter;

use super::api::{
    AnalysisSettings, CoreDb, DependencyMetadata, Diagnostic, File, Files, LintRegistry, ModuleDb, Program,
    ProgramFile, ProgramSettings, PythonVersionWithSource, RuleSelection, ScriptTag, SemanticDb, SourceDb, System,
    VendoredFileSystem, bundled_stubs, check_file, default_lint_registry, source_text,
};
use super::disk::Disk;
use super::settings::{self, Settings, Tuning};
use crate::pytypes::options::Level;

/// The settings and the files to check. Changed only through its setters: queries depend on it.
#[salsa::input]
pub(super) struct Project {
    #[returns(ref)]
    pub settings: Arc<Settings>,
    #[returns(ref)]
    pub program_settings: ProgramSettings,
    #[returns(ref)]
    pub files: HashSet<File>,
    /// Files outside the project that a query named explicitly.
    #[returns(ref)]
    pub named: HashSet<File>,
    /// Nested projects, inner before outer.
    #[returns(ref)]
    pub inner: Vec<Inner>,
}

/// A project in a folder of another one, with its own settings, or a member of a workspace, with those of the workspace
/// and its own Python version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Inner {
    pub folder: PathBuf,
    pub settings: Settings,
    pub program: ProgramSettings,
}

/// The trait that our own queries take: the checker's, plus access to the project.
#[salsa::db]
pub(super) trait Db: SemanticDb {
    fn project(&self) -> Project;

    fn disk(&self) -> &Disk;

    /// The database itself, for what is not a query.
    fn itself(&self) -> &Database;
}

#[salsa::db]
#[derive(Clone)]
pub(super) struct Database {
    files: Files,
    system: Arc<Disk>,
    project: Option<Project>,
    /// Set when the query that uses this database is cancelled. Shared by all clones, unlike salsa's own cancellation.
    is_over: Arc<AtomicBool>,
    // Last, so that a clone drops it after everything else: a writer waits for it.
    storage: salsa::Storage<Self>,
}

impl Database {
    pub fn new(system: Disk) -> Self {
        Self {
            files: Files::default(),
            system: Arc::new(system),
            project: None,
            is_over: Arc::default(),
            storage: salsa::Storage::new(None),
        }
    }

    /// A clone for one query, which is cancelled by setting `is_over`.
    pub fn held(&self, is_over: Arc<AtomicBool>) -> Self {
        Self { is_over, ..self.clone() }
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The flag that cancels the query when set.
    pub fn is_over_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_over)
    }

    /// Sets the initial settings. Called once, before any other use.
    pub fn begin(
        &mut self,
        settings: Settings,
        program: ProgramSettings,
        inner: Vec<Inner>,
        paths: &[PathBuf],
        is_frozen: bool,
    ) {
        for one in std::iter::once(&program).chain(inner.iter().map(|inner| &inner.program)) {
            one.search_paths.try_register_static_roots(self);
        }
        let files = super::on_disk_all(self, paths);
        // Every query depends on the settings. An edit then needs no revalidation of what follows from them and the standard
        // library alone.
        let durability = if is_frozen { salsa::Durability::NEVER_CHANGE } else { salsa::Durability::HIGH };
        let project =
            Project::builder(Arc::new(settings), program, files, HashSet::new(), inner).durability(durability);
        self.project = Some(project.new(self));
    }

    pub fn set_settings(&mut self, settings: Settings, program: ProgramSettings) {
        let project = self.project();
        if **project.settings(self) != settings {
            project.set_settings(self).to(Arc::new(settings));
        }
        if *project.program_settings(self) != program {
            program.search_paths.try_register_static_roots(self);
            project.set_program_settings(self).to(program);
        }
    }

    pub fn set_inner(&mut self, inner: Vec<Inner>) {
        let project = self.project();
        if *project.inner(self) != inner {
            for one in &inner {
                one.program.search_paths.try_register_static_roots(self);
            }
            project.set_inner(self).to(inner);
        }
    }

    /// The settings of the project that a file belongs to.
    pub fn settings_of(&self, file: File) -> &Settings {
        inner(self, file).map_or_else(|| &**self.project().settings(self), |inner| &inner.settings)
    }

    /// Adds a file to those that are checked, even if the settings exclude it.
    pub fn name(&mut self, file: File) {
        let project = self.project();
        let mut named = project.named(self).clone();
        if named.insert(file) {
            project.set_named(self).to(named);
        }
    }

    /// Whether a file belongs to the project.
    pub fn is_own(&self, file: File) -> bool {
        is_own(self, file)
    }

    pub fn set_files(&mut self, files: HashSet<File>) {
        let project = self.project();
        if *project.files(self) != files {
            project.set_files(self).to(files);
        }
    }
}

/// Memoized, because creating it hashes every search path.
#[salsa::tracked(returns(copy))]
fn program(db: &dyn Db, project: Project) -> Program<'_> {
    Program::from_settings(db, project.program_settings(db))
}

fn inner(db: &dyn Db, file: File) -> Option<&Inner> {
    let all = db.project().inner(db);
    // Most repositories are one project.
    if all.is_empty() { None } else { all.get(inner_number(db, file)?) }
}

#[salsa::tracked(returns(copy))]
fn inner_number(db: &dyn Db, file: File) -> Option<usize> {
    let path = file.path(db).as_system_path()?.as_std_path();
    db.project().inner(db).iter().position(|inner| path.starts_with(&inner.folder))
}

#[salsa::tracked(returns(copy))]
fn inner_program(db: &dyn Db, project: Project, number: usize) -> Option<Program<'_>> {
    project.inner(db).get(number).map(|inner| Program::from_settings(db, &inner.program))
}

/// The program of the project that a file belongs to.
fn program_of(db: &dyn Db, file: File) -> Program<'_> {
    let project = db.project();
    let number = if project.inner(db).is_empty() { None } else { inner_number(db, file) };
    number.and_then(|number| inner_program(db, project, number)).unwrap_or_else(|| program(db, project))
}

/// One query per file, so that adding or removing a file does not invalidate the others.
#[salsa::tracked(returns(copy))]
fn is_own(db: &dyn Db, file: File) -> bool {
    db.project().files(db).contains(&file)
}

#[salsa::tracked(returns(copy))]
fn is_checked(db: &dyn Db, file: File) -> bool {
    is_own(db, file) || db.project().named(db).contains(&file)
}

/// A file with a metadata block (PEP 723). It is a program of its own.
#[derive(Debug, PartialEq)]
pub(super) struct Script {
    pub settings: Settings,
    program: ProgramSettings,
}

/// The text of the block, as a separate query: an edit elsewhere in the file does not change it.
#[salsa::tracked(returns(ref))]
fn script_block(db: &dyn Db, file: File) -> Option<String> {
    let text = source_text(db, file);
    // Most files have no block, which this check finds out without parsing.
    if text.is_notebook() || !text.contains("# /// script") {
        return None;
    }
    ScriptTag::parse(text.as_bytes()).map(|tag| tag.metadata().to_owned())
}

#[salsa::tracked(returns(as_deref))]
pub(super) fn script(db: &dyn Db, file: File) -> Option<Box<Script>> {
    let path = file.path(db).as_system_path()?;
    if !is_checked(db, file) {
        return None;
    }
    let block = script_block(db, file).as_ref()?;
    let (settings, program) = settings::of_script(path.as_std_path(), block, db.disk());
    program.search_paths.try_register_static_roots(db);
    Some(Box::new(Script { settings, program }))
}

#[salsa::tracked(returns(copy))]
fn script_program(db: &dyn Db, file: File) -> Option<Program<'_>> {
    script(db, file).map(|script| Program::from_settings(db, &script.program))
}

/// Levels of the rules that newer releases split out of others.
pub(super) fn rule_parts(db: &dyn Db, file: File) -> &BTreeMap<&'static str, Level> {
    match tuning(db, file) {
        Some(tuning) => &tuning.parts,
        None => &db.project().settings(db).general.parts,
    }
}

/// The settings for one file, if they differ from those of the project.
#[salsa::tracked(returns(ref))]
fn tuning(db: &dyn Db, file: File) -> Option<Arc<Tuning>> {
    if let Some(script) = script(db, file) {
        return Some(Arc::new(script.settings.general.clone()));
    }
    let path = file.path(db).as_system_path()?.as_std_path();
    match inner(db, file) {
        Some(inner) => Some(inner.settings.tuning_of(path).unwrap_or_else(|| Arc::new(inner.settings.general.clone()))),
        None => db.project().settings(db).tuning_of(path),
    }
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl SourceDb for Database {
    fn vendored(&self) -> &VendoredFileSystem {
        bundled_stubs()
    }

    fn system(&self) -> &dyn System {
        &*self.system
    }

    fn files(&self) -> &Files {
        &self.files
    }
}

#[salsa::db]
impl ModuleDb for Database {}

#[salsa::db]
impl CoreDb for Database {
    fn should_check_file(&self, file: File) -> bool {
        !file.path(self).is_vendored_path() && is_checked(self, file)
    }
}

#[salsa::db]
impl SemanticDb for Database {
    fn check_file(&self, file: File) -> Vec<Diagnostic> {
        // Only the checker's own fixes ask for it.
        check_file(self, self.program_file(file)).map_or_else(|unreadable| vec![unreadable], Vec::from)
    }

    fn program_file(&self, file: File) -> ProgramFile<'_> {
        script_program(self, file).unwrap_or_else(|| program_of(self, file)).program_file(self, file)
    }

    fn python_version_with_source(&self, file: File) -> &PythonVersionWithSource {
        let own = script(self, file).map(|script| &script.program);
        let own = own.or_else(|| inner(self, file).map(|inner| &inner.program));
        &own.unwrap_or_else(|| self.project().program_settings(self)).python_version
    }

    fn rule_selection(&self, file: File) -> &RuleSelection {
        match tuning(self, file) {
            Some(tuning) => &tuning.rules,
            None => &self.project().settings(self).general.rules,
        }
    }

    fn lint_registry(&self) -> &LintRegistry {
        default_lint_registry()
    }

    fn analysis_settings(&self, file: File) -> &AnalysisSettings {
        match tuning(self, file) {
            Some(tuning) => &tuning.analysis,
            None => &self.project().settings(self).general.analysis,
        }
    }

    /// Only a package manager knows it, and none is started.
    fn dependency_metadata(&self, _file: File) -> Option<&DependencyMetadata> {
        None
    }

    fn verbose(&self) -> bool {
        false
    }

    fn is_open_file(&self, _file: File) -> bool {
        false
    }

    fn dyn_clone(&self) -> Box<dyn SemanticDb> {
        Box::new(self.clone())
    }
}

#[salsa::db]
impl Db for Database {
    fn project(&self) -> Project {
        self.project.expect("the settings are set before the first query")
    }

    fn disk(&self) -> &Disk {
        &self.system
    }

    fn itself(&self) -> &Database {
        self
    }
}
