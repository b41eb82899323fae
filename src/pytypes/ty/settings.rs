//! Converts a project's settings for the checker: search paths, Python version, rules, and the files to check.
//!
//! Owns the conversion from [`Options`] to the types of the database. Nothing in a repository can start a program: a
//! virtual environment is read, never executed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::api::{
    AnalysisSettings, FallibleStrategy, GetLintError, LintId, LintSource, ModuleGlobSet, ProgramSettings,
    PythonEnvironment, PythonPlatform, PythonVersion, PythonVersionFileSource, PythonVersionSource,
    PythonVersionWithSource, ReturnTypeInference, RuleSelection, SearchPathSettings, SearchPaths,
    Severity as LintSeverity, SitePackagesPaths, SysPrefixPathOrigin, System, SystemPath, SystemPathBuf,
    UseDefaultStrategy, bundled_stubs, default_lint_registry,
};
use super::disk::Disk;
use super::rule_names::{self, RuleName};
use crate::model::Span;
use crate::platform::paths::PATH_SEPARATOR;
use crate::pytypes::globs::Filter;
use crate::pytypes::options::{
    self, Environment, FileSpan, Level, Options, Problem, ProblemKind, ProjectOptions, Rule,
};
use crate::pytypes::supported;
use crate::pytypes::values::{Diagnostic, INVALID_SETTING, Severity};

/// Settings that apply to all files of a project, or to some.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tuning {
    pub rules: RuleSelection,
    /// Levels of the rules into which newer releases split one of `rules`: of all its parts, if one has a level of its own.
    pub parts: BTreeMap<&'static str, Level>,
    pub analysis: AnalysisSettings,
}

/// The settings of one project, without those of its program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub root: PathBuf,
    pub general: Tuning,
    overrides: Vec<Override>,
    pub files: Filter,
    pub respect_ignore_files: bool,
    pub exclude_scripts: bool,
    pub warnings_pass: bool,
    /// Settings that were not applied.
    pub problems: Vec<Diagnostic>,
    /// The oldest Python version that the project supports, if only its build files say so.
    pub oldest_python: Option<PythonVersion>,
    /// Library folders that a caller may read. Folders named by a file in the repository are not among them.
    pub libraries: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
struct Override {
    files: Filter,
    written: options::Tuning,
}

impl Settings {
    /// The settings for a file that an override matches; `None` if there is none. Overrides apply in their order.
    pub fn tuning_of(&self, path: &Path) -> Option<Arc<Tuning>> {
        let relative = path.strip_prefix(&self.root).ok()?;
        let mut tuning: Option<Tuning> = None;
        for one in self.overrides.iter().filter(|one| one.files.takes_anywhere(relative)) {
            let tuning = tuning.get_or_insert_with(|| self.general.clone());
            // Problems in overrides were reported when the settings were read.
            tuning.apply(&one.written, &mut Vec::new());
        }
        tuning.map(Arc::new)
    }
}

impl Tuning {
    fn new(written: &options::Tuning, problems: &mut Vec<Diagnostic>) -> Self {
        let rules = RuleSelection::from_registry(default_lint_registry());
        let mut tuning = Self { rules, parts: BTreeMap::new(), analysis: AnalysisSettings::default() };
        tuning.apply(written, problems);
        tuning
    }

    fn apply(&mut self, written: &options::Tuning, problems: &mut Vec<Diagnostic>) {
        let mut of_parts = Vec::new();
        for rule in &written.rules {
            match rule_names::named(&rule.name, |name| default_lint_registry().get(name).is_ok()) {
                RuleName::Rule(name) => self.apply_rule(name, rule, problems),
                RuleName::Part(name) => of_parts.push((name, rule)),
                RuleName::Newer => {}
            }
        }
        // A part takes precedence over the whole, in whichever order they are written.
        for (name, rule) in of_parts {
            self.apply_part(name, rule);
        }
        let analysis = &mut self.analysis;
        if let Some(always) = written.return_type_inference {
            analysis.return_type_inference =
                if always { ReturnTypeInference::Always } else { ReturnTypeInference::Never };
        }
        let set = |flag: &mut bool, value: Option<bool>| *flag = value.unwrap_or(*flag);
        set(&mut analysis.strict_generic_narrowing, written.strict_generic_narrowing);
        set(&mut analysis.strict_equality_semantics, written.strict_equality_semantics);
        set(&mut analysis.respect_type_ignore_comments, written.respect_type_ignore_comments);
        for (globs, patterns) in [
            (&mut analysis.allowed_unresolved_imports, &written.allowed_unresolved_imports),
            (&mut analysis.replace_imports_with_any, &written.replace_imports_with_any),
        ] {
            let Some(patterns) = patterns else { continue };
            match ModuleGlobSet::from_patterns(patterns) {
                Ok(made) => *globs = made,
                Err(error) => problems.push(without_position(&error.to_string())),
            }
        }
    }

    /// Applies the level of a rule into which newer releases split one. The checker reports at the highest level of all parts, and
    /// `rule_names` gives each diagnostic the level of its part.
    fn apply_part(&mut self, whole: &str, rule: &Rule) {
        let Ok(lint) = default_lint_registry().get(whole) else { return };
        let before = match self.rules.iter().find(|(one, _)| *one == lint) {
            Some((_, LintSeverity::Error)) => Level::Error,
            Some(_) => Level::Warn,
            None => Level::Ignore,
        };
        let names = rule_names::parts(whole);
        for name in &names {
            let level = if rule.name == *name { rule.level } else { self.parts.get(name).copied().unwrap_or(before) };
            self.parts.insert(name, level);
        }
        if let Some(highest) = names.iter().filter_map(|name| self.parts.get(name)).max().copied() {
            self.set(lint, highest);
        }
    }

    fn apply_rule(&mut self, name: &str, rule: &Rule, problems: &mut Vec<Diagnostic>) {
        let registry = default_lint_registry();
        let lints = match registry.get(name) {
            _ if rule.name == "all" => registry.lints().to_vec(),
            Ok(lint) => vec![lint],
            Err(error) => {
                let mut message = format!("Unknown rule `{}`", rule.name);
                if let GetLintError::PrefixedWithCategory { suggestion, .. } = error {
                    message = format!("{message}. Did you mean `{suggestion}`?");
                }
                problems.push(diagnostic(&rule.at, Severity::Warning, "unknown-rule", message));
                return;
            }
        };
        for lint in lints {
            self.set(lint, rule.level);
            let parts = rule_names::parts(lint.name().as_str());
            self.parts.retain(|part, _| !parts.contains(part));
        }
    }

    fn set(&mut self, lint: LintId, level: Level) {
        match level {
            Level::Ignore => self.rules.disable(lint),
            Level::Warn => self.rules.enable(lint, LintSeverity::Warning, LintSource::File),
            Level::Error => self.rules.enable(lint, LintSeverity::Error, LintSource::File),
        }
    }
}

/// The settings of the project in `root`: its own, or those of the nearest enclosing project.
pub(super) fn of_project(root: &Path, system: &Disk) -> (Settings, ProgramSettings) {
    let (home, written) = options::nearest(root).unwrap_or_else(|| (root.to_owned(), ProjectOptions::default()));
    resolve(&home, &written, Some(&home), system)
}

/// The settings of a nested project in the repository at `root`. Without an environment of its own, it uses that of the
/// nearest enclosing folder that has one.
pub(super) fn of_inner(
    home: &Path,
    root: &Path,
    written: &ProjectOptions,
    system: &Disk,
) -> (Settings, ProgramSettings) {
    let mut around = home.ancestors().take_while(|folder| folder.starts_with(root));
    let environment = around.find(|folder| folder.join(".venv").is_dir()).unwrap_or(home);
    resolve(home, written, Some(environment), system)
}

/// The settings of a member of a uv workspace: those of the project around it, with the Python version that the member
/// requires. `None` if the folder is not a member, or if nothing differs.
pub(super) fn of_member(
    home: &Path,
    written: &ProjectOptions,
    (settings, program): (&Settings, &ProgramSettings),
) -> Option<(Settings, ProgramSettings)> {
    let around = options::read(&settings.root)?;
    let is_member = around.workspace.is_some_and(|one| one.has(home.strip_prefix(&settings.root).unwrap_or(home)));
    if !is_member {
        return None;
    }
    let mut program = program.clone();
    let before = program.python_version.version;
    // A version in the settings for the checker applies to all members.
    if !around.has_version
        && let Some((major, minor)) = written.options.environment.python_version
    {
        let file = SystemPath::from_std_path(home)?.join("pyproject.toml");
        let source = PythonVersionSource::ConfigFile(PythonVersionFileSource::new(Arc::new(file), None));
        program.python_version = PythonVersionWithSource { version: PythonVersion { major, minor }, source };
    }
    if program.python_version.version == before && written.problems.is_empty() {
        return None;
    }
    let problems = written.problems.iter().map(option_problem).collect();
    Some((Settings { problems, ..settings.clone() }, program))
}

/// The settings of a script, which inherit nothing. Relative paths start at its folder.
pub(super) fn of_script(path: &Path, block: &str, system: &Disk) -> (Settings, ProgramSettings) {
    let folder = path.parent().unwrap_or(path);
    let mut written = options::read_script(path, block);
    // A script cannot import its neighbours unless its settings say so.
    written.options.environment.root.get_or_insert_with(Vec::new);
    resolve(folder, &written, None, system)
}

/// `environment_of` is the folder whose `.venv` is used, if it exists.
fn resolve(
    home: &Path,
    written: &ProjectOptions,
    environment_of: Option<&Path>,
    system: &Disk,
) -> (Settings, ProgramSettings) {
    let mut problems: Vec<Diagnostic> = written.problems.iter().map(option_problem).collect();
    let Options { environment, source, tuning, overrides, .. } = &written.options;
    let general = Tuning::new(tuning, &mut problems);
    let mut filter = |made: Result<Filter, String>| match made {
        Ok(filter) => filter,
        Err(error) => {
            problems.push(without_position(&error));
            Filter::of_project(home, None, &[]).expect("the default patterns are valid")
        }
    };
    let files = filter(Filter::of_project(home, source.include.as_deref(), &source.exclude));
    let overrides: Vec<Override> = overrides
        .iter()
        .map(|one| Override {
            files: filter(Filter::new(home, one.include.as_deref(), &one.exclude)),
            written: one.tuning.clone(),
        })
        .collect();
    for one in &overrides {
        general.clone().apply(&one.written, &mut problems);
    }
    let name = written.name.clone().or_else(|| home.file_name()?.to_str().map(str::to_owned)).unwrap_or_default();
    let (program, libraries) = program(home, &name, environment, environment_of, system, &mut problems);
    let files_of_settings = ["ty.toml", "pyproject.toml"].map(|name| home.join(name));
    let file = files_of_settings.iter().find(|file| file.is_file()).map_or(home, PathBuf::as_path);
    for problem in problems.iter_mut().filter(|problem| problem.span.file.is_empty()) {
        problem.span.file = file.to_string_lossy().into_owned();
    }
    let is_specified = environment.python_version.is_some();
    let oldest = if is_specified { None } else { supported::oldest(home) };
    let oldest_python = oldest.map(|(major, minor)| PythonVersion { major, minor });
    let settings = Settings {
        root: home.to_owned(),
        general,
        overrides,
        files,
        respect_ignore_files: source.respect_ignore_files.unwrap_or(true),
        warnings_pass: written.options.error_on_warning == Some(false),
        exclude_scripts: source.exclude_scripts.unwrap_or(false),
        problems,
        oldest_python,
        libraries,
    };
    (settings, program)
}

/// Search paths, version and platform; and the library folders that the user, not the repository, selected.
fn program(
    home: &Path,
    name: &str,
    environment: &Environment,
    environment_of: Option<&Path>,
    system: &Disk,
    problems: &mut Vec<Diagnostic>,
) -> (ProgramSettings, Vec<PathBuf>) {
    let root = SystemPath::from_std_path(home).unwrap_or_else(|| SystemPath::new("/"));
    let absolute = |path: &String| SystemPath::absolute(path, root);
    let found = match &environment.python {
        Some(python) => {
            let origin = SysPrefixPathOrigin::ConfigFileSetting(Arc::new(root.join("pyproject.toml")), None);
            PythonEnvironment::new(absolute(python), origin, system).map(Some)
        }
        None => PythonEnvironment::discover(environment_of.and_then(SystemPath::from_std_path), system),
    };
    // An error in a settings file is reported there. One caused by the shell or a folder is reported at the
    // environment.
    let wrong = |message: String| {
        let mut problem = without_position(&message);
        if environment.python.is_none() {
            let named = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().find_map(|name| system.env_var(name).ok());
            let folder = named.map_or_else(|| environment_of.unwrap_or(home).join(".venv"), PathBuf::from);
            problem.span.file = folder.to_string_lossy().into_owned();
        }
        problem
    };
    let found = found.unwrap_or_else(|error| {
        problems.push(wrong(format!("no Python environment: {error}")));
        None
    });
    let site_packages = found.as_ref().map(|found| found.site_packages_paths(system));
    let site_packages = match site_packages {
        Some(Ok(paths)) => paths,
        Some(Err(error)) => {
            problems.push(wrong(format!("no site-packages: {error}")));
            SitePackagesPaths::default()
        }
        None => SitePackagesPaths::default(),
    };
    let real_stdlib_path = found.as_ref().and_then(|found| found.real_stdlib_path(system).ok());
    let python_version = version(environment, found.as_ref(), &site_packages, root);
    let site_packages_paths = site_packages.into_vec();
    let is_own_choice = environment.python.is_none();
    let libraries = site_packages_paths
        .iter()
        .chain(&real_stdlib_path)
        .filter(|path| is_own_choice || path.as_std_path().starts_with(home))
        .map(|path| path.as_std_path().to_owned())
        .collect();
    // Files of the repository cannot name what is outside it: strangers may have written them.
    let mut inside = |key: &str, path: &String| {
        let path = absolute(path);
        let is_inside = system.holds(&path);
        if !is_inside {
            let message = format!("`{key}`: {path} is outside the repository, and is not read; PYTHONPATH may name it");
            problems.push(without_position(&message));
        }
        is_inside.then_some(path)
    };
    let src_roots = match &environment.root {
        Some(roots) => roots.iter().filter_map(|path| inside("root", path)).collect(),
        None => source_roots(root, name, system),
    };
    let extra_paths = environment.extra_paths.iter().filter_map(|path| inside("extra-paths", path));
    let extra_paths = extra_paths.chain(python_path(system)).collect();
    let settings = SearchPathSettings {
        extra_paths,
        src_roots,
        custom_typeshed: environment.typeshed.as_ref().and_then(|path| inside("typeshed", path)),
        site_packages_paths,
        real_stdlib_path,
    };
    let search_paths = search_paths(&settings, system, problems);
    let python_platform =
        environment.python_platform.clone().map_or_else(PythonPlatform::default, PythonPlatform::from);
    let settings = ProgramSettings { python_version, python_platform, search_paths, python_environment: Ok(found) };
    (settings, libraries)
}

/// Reports and skips search paths that do not exist.
fn search_paths(settings: &SearchPathSettings, system: &Disk, problems: &mut Vec<Diagnostic>) -> SearchPaths {
    let vendored = bundled_stubs();
    if let Err(error) = settings.to_search_paths(system, vendored, &FallibleStrategy) {
        problems.push(without_position(&error.to_string()));
    }
    let Ok(paths) = settings.to_search_paths(system, vendored, &UseDefaultStrategy);
    paths
}

fn version(
    environment: &Environment,
    found: Option<&PythonEnvironment>,
    site_packages: &SitePackagesPaths,
    root: &SystemPath,
) -> PythonVersionWithSource {
    if let Some((major, minor)) = environment.python_version {
        let file = PythonVersionFileSource::new(Arc::new(root.join("pyproject.toml")), None);
        let source = PythonVersionSource::ConfigFile(file);
        return PythonVersionWithSource { version: PythonVersion { major, minor }, source };
    }
    let version = found.and_then(|found| found.python_version_from_metadata().cloned());
    let version = version.or_else(|| site_packages.python_version_from_layout());
    version.filter(|version| PythonVersion::iter().any(|known| known == version.version)).unwrap_or_default()
}

/// Where the project's own modules are: folders that are not packages themselves, the root last.
fn source_roots(root: &SystemPath, name: &str, system: &Disk) -> Vec<SystemPathBuf> {
    let is_package =
        |folder: &SystemPath| ["__init__.py", "__init__.pyi"].iter().any(|init| system.is_file(&folder.join(init)));
    let own = root.join(name);
    let mut roots = Vec::new();
    for (folder, marker) in [
        (root.join("src"), root.join("src")),
        (own.clone(), own.join(name)),
        (root.join("python"), root.join("python")),
    ] {
        let is_name = !name.is_empty() || folder != own;
        if is_name && system.is_directory(&marker) && !is_package(&folder) && !roots.contains(&folder) {
            roots.push(folder);
        }
    }
    roots.push(root.to_path_buf());
    roots
}

/// The existing folders in `PYTHONPATH`.
fn python_path(system: &Disk) -> Vec<SystemPathBuf> {
    let Ok(paths) = system.env_var("PYTHONPATH") else { return Vec::new() };
    let paths = paths.split(PATH_SEPARATOR).filter(|path| !path.is_empty());
    let absolute = paths.map(|path| SystemPath::absolute(path, system.current_directory()));
    absolute.filter(|path| system.is_directory(path)).collect()
}

fn option_problem(problem: &Problem) -> Diagnostic {
    let (severity, code) = match problem.kind {
        ProblemKind::Invalid => (Severity::Error, INVALID_SETTING),
        ProblemKind::Unsupported => (Severity::Info, "unused-setting"),
        ProblemKind::Suspicious(code) => (Severity::Warning, code),
    };
    diagnostic(&problem.at, severity, code, problem.message.clone())
}

fn diagnostic(at: &FileSpan, severity: Severity, code: &str, message: String) -> Diagnostic {
    let span = Span {
        cell: None,
        file: at.file.to_string_lossy().into_owned(),
        line: at.line,
        column: at.column,
        end_line: at.end_line,
        end_column: at.end_column,
    };
    Diagnostic { span, severity, code: code.to_owned(), message, rendered: None, notes: Vec::new() }
}

/// A problem without a position.
fn without_position(message: &str) -> Diagnostic {
    // The libraries repeat the path and add advice on further lines.
    let first = message.lines().next().unwrap_or_default();
    let at = FileSpan { file: PathBuf::new(), line: 1, column: 1, end_line: 1, end_column: 1 };
    diagnostic(&at, Severity::Error, INVALID_SETTING, first.to_owned())
}
