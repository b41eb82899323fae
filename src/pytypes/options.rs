//! The settings of a Python project as written in its files: `[tool.ty]`, `ty.toml`, `[project]`.
//!
//! Owns the valid names and reports where a file has an unknown one. What the settings mean for the checker is decided
//! in `ty::settings`; nothing here depends on the checker.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::globs::{self, Filter};

/// Larger files are not settings files.
const MAX_FILE_SIZE: u64 = 4 << 20;

/// Settings as written. Paths are not yet joined to the project's root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    pub environment: Environment,
    pub source: Source,
    pub tuning: Tuning,
    pub overrides: Vec<Override>,
    /// Whether warnings make the check fail.
    pub error_on_warning: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    pub root: Option<Vec<String>>,
    /// Major and minor.
    pub python_version: Option<(u8, u8)>,
    pub python_platform: Option<String>,
    pub extra_paths: Vec<String>,
    pub typeshed: Option<String>,
    pub python: Option<String>,
}

/// Which files belong to the project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    pub respect_ignore_files: Option<bool>,
    pub exclude_scripts: Option<bool>,
    pub include: Option<Vec<String>>,
    pub exclude: Vec<String>,
}

/// Settings that apply to all files and can be overridden for some.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tuning {
    pub rules: Vec<Rule>,
    /// Whether functions without a return annotation return what their body returns.
    pub return_type_inference: Option<bool>,
    pub strict_generic_narrowing: Option<bool>,
    pub strict_equality_semantics: Option<bool>,
    pub respect_type_ignore_comments: Option<bool>,
    pub allowed_unresolved_imports: Option<Vec<String>>,
    pub replace_imports_with_any: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub name: String,
    pub level: Level,
    pub at: FileSpan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Ignore,
    Warn,
    Error,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Override {
    pub include: Option<Vec<String>>,
    pub exclude: Vec<String>,
    pub tuning: Tuning,
}

/// A range in a settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSpan {
    pub file: PathBuf,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// A setting that was not applied, or has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub at: FileSpan,
    pub message: String,
    pub kind: ProblemKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    Invalid,
    /// The setting is valid, but this engine does not support it.
    Unsupported,
    /// The setting is valid, and ty warns of it by this name.
    Suspicious(&'static str),
}

/// The contents of a project's settings files.
#[derive(Clone, Debug, Default)]
pub struct ProjectOptions {
    pub options: Options,
    pub problems: Vec<Problem>,
    /// `[project] name`.
    pub name: Option<String>,
    /// Whether the files have a table for the checker.
    pub has_table: bool,
    /// Whether the settings for the checker name a Python version.
    pub has_version: bool,
    /// `[tool.uv.workspace]`.
    pub workspace: Option<Workspace>,
}

/// The patterns of the folders that are members of a workspace, relative to its root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workspace {
    members: Vec<String>,
    exclude: Vec<String>,
}

impl Workspace {
    /// Whether a folder, given relative to the workspace's root, is a member.
    pub fn has(&self, folder: &Path) -> bool {
        globs::match_folder(&self.members, folder) && !globs::match_folder(&self.exclude, folder)
    }
}

/// The folder of the project that `folder` belongs to, with its settings: the nearest at or above it that has settings for the
/// checker, else the nearest that has any settings file.
pub fn nearest(folder: &Path) -> Option<(PathBuf, ProjectOptions)> {
    let mut nearest = None;
    for folder in folder.ancestors() {
        let Some(written) = read(folder) else { continue };
        let has_table = written.has_table;
        if has_table || nearest.is_none() {
            nearest = Some((folder.to_owned(), written));
        }
        if has_table {
            break;
        }
    }
    nearest
}

/// The settings in `folder` itself; `None` if it has no settings file.
pub fn read(folder: &Path) -> Option<ProjectOptions> {
    let pyproject = read_file(&folder.join("pyproject.toml"));
    let own = read_file(&folder.join("ty.toml"));
    if pyproject.is_none() && own.is_none() {
        return None;
    }
    let mut written = ProjectOptions::default();
    if let Some((path, text)) = pyproject {
        let mut reader = Reader::new(&path, &text);
        // `ty.toml` takes precedence over the table in pyproject.toml.
        reader.pyproject(own.is_none(), &mut written);
        written.problems.append(&mut reader.problems);
    }
    if let Some((path, text)) = own {
        let mut reader = Reader::new(&path, &text);
        if let Some(table) = reader.parse() {
            let fallback = written.options.environment.python_version.take();
            reader.options(table.get_ref(), &mut written.options);
            let version = &mut written.options.environment.python_version;
            written.has_version = version.is_some();
            *version = version.or(fallback);
        }
        written.has_table = true;
        written.problems.append(&mut reader.problems);
    }
    Some(written)
}

/// The settings in a script's metadata block (PEP 723). Positions are relative to the first line of the block.
pub fn read_script(path: &Path, block: &str) -> ProjectOptions {
    let mut written = ProjectOptions::default();
    let mut reader = Reader::new(path, block);
    let Some(table) = reader.parse() else {
        written.problems = reader.problems;
        return written;
    };
    reader.script(table.get_ref(), &mut written);
    written.problems.append(&mut reader.problems);
    written
}

pub(super) fn read_file(path: &Path) -> Option<(PathBuf, String)> {
    let data = std::fs::metadata(path).ok()?;
    if !data.is_file() || data.len() > MAX_FILE_SIZE {
        return None;
    }
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    Some((path.to_owned(), text))
}

type Value<'t> = Spanned<DeValue<'t>>;

/// Reads one file and collects the problems in it.
struct Reader<'t> {
    path: &'t Path,
    text: &'t str,
    problems: Vec<Problem>,
}

impl<'t> Reader<'t> {
    fn new(path: &'t Path, text: &'t str) -> Self {
        Self { path, text, problems: Vec::new() }
    }

    fn parse(&mut self) -> Option<Spanned<DeTable<'t>>> {
        match DeTable::parse(self.text) {
            Ok(table) => Some(table),
            Err(error) => {
                self.problem(&error.span().unwrap_or_default(), format!("not TOML: {}", error.message()));
                None
            }
        }
    }

    fn file_span(&self, span: &Range<usize>) -> FileSpan {
        let (line, column) = position(self.text, span.start);
        let (end_line, end_column) = position(self.text, span.end);
        FileSpan { file: self.path.to_owned(), line, column, end_line, end_column }
    }

    fn problem(&mut self, span: &Range<usize>, message: String) {
        let at = self.file_span(span);
        self.problems.push(Problem { at, message, kind: ProblemKind::Invalid });
    }

    /// Calls `take` for each known entry of a table and reports unknown names.
    fn each(
        &mut self,
        what: &str,
        known: &[&str],
        table: &DeTable<'t>,
        mut take: impl FnMut(&mut Self, &str, &Value<'t>),
    ) {
        for (key, value) in table {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                take(self, name, value);
            } else {
                let names = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                self.problem(&key.span(), format!("unknown setting `{name}` in {what}; valid settings: {names}"));
            }
        }
    }

    fn table<'v>(&mut self, name: &str, value: &'v Value<'t>) -> Option<&'v DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.problem(&value.span(), format!("`{name}` must be a table"));
        }
        table
    }

    fn text(&mut self, name: &str, value: &Value<'t>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.problem(&value.span(), format!("`{name}` must be a string"));
        }
        text
    }

    fn flag(&mut self, name: &str, value: &Value<'t>) -> Option<bool> {
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.problem(&value.span(), format!("`{name}` must be true or false"));
        }
        flag
    }

    fn texts(&mut self, name: &str, value: &Value<'t>) -> Option<Vec<String>> {
        let texts = value.get_ref().as_array().and_then(|items| {
            items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        if texts.is_none() {
            self.problem(&value.span(), format!("`{name}` must be a list of strings"));
        }
        texts
    }

    /// Reads glob patterns. Reports and drops the invalid ones.
    fn patterns(&mut self, name: &str, value: &Value<'t>) -> Option<Vec<String>> {
        self.texts(name, value)?;
        let mut patterns = Vec::new();
        for item in value.get_ref().as_array().into_iter().flatten() {
            let Some(pattern) = item.get_ref().as_str() else { continue };
            match Filter::validate(name, pattern) {
                Ok(()) => patterns.push(pattern.to_owned()),
                Err(what) => self.problem(&item.span(), what),
            }
        }
        Some(patterns)
    }

    fn pyproject(&mut self, with_table: bool, written: &mut ProjectOptions) {
        let Some(table) = self.parse() else { return };
        let table = table.get_ref();
        let project = table.get("project").and_then(|value| value.get_ref().as_table());
        written.name = project
            .and_then(|project| project.get("name"))
            .and_then(|value| value.get_ref().as_str())
            .map(str::to_owned);
        let tool = table.get("tool").and_then(|value| value.get_ref().as_table());
        if let Some(own) = tool.and_then(|tool| tool.get("ty")) {
            written.has_table = true;
            if with_table && let Some(own) = self.table("tool.ty", own) {
                self.options(own, &mut written.options);
            }
        }
        written.has_version = written.options.environment.python_version.is_some();
        let uv = tool.and_then(|tool| tool.get("uv")).and_then(|value| value.get_ref().as_table());
        let workspace = uv.and_then(|uv| uv.get("workspace")).and_then(|value| value.get_ref().as_table());
        // What is wrong in a table of uv is reported by uv.
        let patterns = |table: &DeTable<'t>, name: &str| {
            let items = table.get(name).and_then(|value| value.get_ref().as_array()).into_iter().flatten();
            items.filter_map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
        };
        written.workspace = workspace
            .map(|table| Workspace { members: patterns(table, "members"), exclude: patterns(table, "exclude") });
        let required = project.and_then(|project| project.get("requires-python"));
        self.requires_python(required, &mut written.options);
    }

    fn script(&mut self, table: &DeTable<'t>, written: &mut ProjectOptions) {
        let tool = table.get("tool").and_then(|value| value.get_ref().as_table());
        if let Some(own) = tool.and_then(|tool| tool.get("ty")) {
            written.has_table = true;
            if let Some(own) = self.table("tool.ty", own) {
                self.options(own, &mut written.options);
            }
        }
        self.requires_python(table.get("requires-python"), &mut written.options);
    }

    fn requires_python(&mut self, required: Option<&Value<'t>>, options: &mut Options) {
        let Some(required) = required else { return };
        let Some(text) = self.text("requires-python", required) else { return };
        if options.environment.python_version.is_some() {
            return;
        }
        match lower_bound(&text) {
            Ok(Some(version)) => options.environment.python_version = Some(version),
            Ok(None) => {
                let hint = "add one, such as `>=3.13`, or set `environment.python-version`";
                self.problem(&required.span(), format!("`requires-python`: `{text}` has no lower bound; {hint}"));
            }
            Err(what) => self.problem(&required.span(), format!("`requires-python`: {what}")),
        }
    }

    fn options(&mut self, table: &DeTable<'t>, options: &mut Options) {
        let known = ["baseline", "environment", "src", "rules", "terminal", "analysis", "overrides"];
        self.each("`[tool.ty]`", &known, table, |reader, name, value| {
            if name == "baseline" {
                if reader.text(name, value).is_some() {
                    reader.unsupported(name, value);
                }
                return;
            }
            if name == "overrides" {
                reader.overrides(value, &mut options.overrides);
                return;
            }
            let Some(table) = reader.table(name, value) else { return };
            match name {
                "environment" => reader.environment(table, &mut options.environment),
                "src" => reader.source(table, &mut options.source),
                "rules" => reader.rules(table, &mut options.tuning.rules),
                "analysis" => reader.analysis(table, &mut options.tuning),
                _ => reader.terminal(table, &mut options.error_on_warning),
            }
        });
    }

    fn environment(&mut self, table: &DeTable<'t>, environment: &mut Environment) {
        let known = ["root", "python-version", "python-platform", "extra-paths", "typeshed", "python"];
        self.each("`environment`", &known, table, |reader, name, value| match name {
            "root" => environment.root = reader.texts(name, value),
            "python-version" => environment.python_version = reader.version(name, value),
            "python-platform" => environment.python_platform = reader.text(name, value),
            "extra-paths" => environment.extra_paths = reader.texts(name, value).unwrap_or_default(),
            "typeshed" => environment.typeshed = reader.text(name, value),
            _ => environment.python = reader.text(name, value),
        });
    }

    fn version(&mut self, name: &str, value: &Value<'t>) -> Option<(u8, u8)> {
        let text = self.text(name, value)?;
        let version = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        if !version.is_some_and(is_supported) {
            self.problem(&value.span(), format!("`{name}` must be a version from \"3.7\" to \"3.15\""));
            return None;
        }
        version
    }

    fn source(&mut self, table: &DeTable<'t>, source: &mut Source) {
        let known = ["respect-ignore-files", "exclude-scripts", "include", "exclude"];
        self.each("`src`", &known, table, |reader, name, value| match name {
            "respect-ignore-files" => source.respect_ignore_files = reader.flag(name, value),
            "exclude-scripts" => source.exclude_scripts = reader.flag(name, value),
            "include" => source.include = reader.included(name, value),
            _ => source.exclude = reader.patterns(name, value).unwrap_or_default(),
        });
    }

    fn rules(&mut self, table: &DeTable<'t>, rules: &mut Vec<Rule>) {
        let mut found: Vec<(usize, Rule)> = Vec::new();
        for (key, value) in table {
            let name: &str = key.get_ref();
            let level = match value.get_ref().as_str() {
                Some("ignore") => Level::Ignore,
                Some("warn") => Level::Warn,
                Some("error") => Level::Error,
                _ => {
                    self.problem(&value.span(), format!("rule `{name}` must be \"ignore\", \"warn\" or \"error\""));
                    continue;
                }
            };
            found.push((key.span().start, Rule { name: name.to_owned(), level, at: self.file_span(&key.span()) }));
        }
        // `all` applies first regardless of its position; the others apply in file order.
        found.sort_by_key(|(at, rule)| (rule.name != "all", *at));
        rules.extend(found.into_iter().map(|(_, rule)| rule));
    }

    fn analysis(&mut self, table: &DeTable<'t>, tuning: &mut Tuning) {
        let known = [
            "return-type-inference",
            "strict-generic-narrowing",
            "strict-equality-semantics",
            "strict-literal-narrowing",
            "respect-type-ignore-comments",
            "allowed-unresolved-imports",
            "replace-imports-with-any",
        ];
        self.each("`analysis`", &known, table, |reader, name, value| match name {
            "return-type-inference" => tuning.return_type_inference = reader.always(name, value),
            "strict-generic-narrowing" => tuning.strict_generic_narrowing = reader.flag(name, value),
            "strict-equality-semantics" => tuning.strict_equality_semantics = reader.flag(name, value),
            "respect-type-ignore-comments" => tuning.respect_type_ignore_comments = reader.flag(name, value),
            "allowed-unresolved-imports" => tuning.allowed_unresolved_imports = reader.texts(name, value),
            "replace-imports-with-any" => tuning.replace_imports_with_any = reader.texts(name, value),
            _ => reader.unsupported(name, value),
        });
    }

    fn suspicious(&mut self, span: &Range<usize>, code: &'static str, message: &str) {
        let at = self.file_span(span);
        self.problems.push(Problem { at, message: message.to_owned(), kind: ProblemKind::Suspicious(code) });
    }

    /// The patterns of files to include; a list without any is valid, and takes no file.
    fn included(&mut self, name: &str, value: &Value<'t>) -> Option<Vec<String>> {
        let patterns = self.patterns(name, value)?;
        if patterns.is_empty() {
            let message = "Empty include matches no files: This `include` list is empty";
            self.suspicious(&value.span(), "empty-include", message);
        }
        Some(patterns)
    }

    fn unsupported(&mut self, name: &str, value: &Value<'t>) {
        let (at, message) = (self.file_span(&value.span()), format!("`{name}`: this engine does not support it"));
        self.problems.push(Problem { at, message, kind: ProblemKind::Unsupported });
    }

    fn always(&mut self, name: &str, value: &Value<'t>) -> Option<bool> {
        match value.get_ref().as_str() {
            Some("always") => Some(true),
            Some("never") => Some(false),
            _ => {
                self.problem(&value.span(), format!("`{name}` must be \"never\" or \"always\""));
                None
            }
        }
    }

    fn terminal(&mut self, table: &DeTable<'t>, error_on_warning: &mut Option<bool>) {
        let known = ["output-format", "error-on-warning"];
        self.each("`terminal`", &known, table, |reader, name, value| match name {
            "error-on-warning" => *error_on_warning = reader.flag(name, value),
            // The output format of our own commands is set on their command line.
            _ => {
                let formats = ["full", "concise", "gitlab", "github", "junit", "sarif"];
                if reader.text(name, value).is_some_and(|format| !formats.contains(&format.as_str())) {
                    reader.problem(&value.span(), format!("`{name}` must be one of {}", formats.join(", ")));
                }
            }
        });
    }

    fn overrides(&mut self, value: &Value<'t>, overrides: &mut Vec<Override>) {
        let Some(items) = value.get_ref().as_array() else {
            self.problem(&value.span(), "`overrides` must be a list of tables".to_owned());
            return;
        };
        let known = ["include", "exclude", "rules", "analysis"];
        for item in items {
            let Some(table) = self.table("overrides", item) else { continue };
            let mut one = Override::default();
            self.each("`overrides`", &known, table, |reader, name, value| match name {
                "include" => one.include = reader.included(name, value),
                "exclude" => one.exclude = reader.patterns(name, value).unwrap_or_default(),
                _ => {
                    let Some(table) = reader.table(name, value) else { return };
                    match name {
                        "rules" => reader.rules(table, &mut one.tuning.rules),
                        _ => reader.analysis(table, &mut one.tuning),
                    }
                }
            });
            if one.tuning == Tuning::default() {
                let message = "Useless `overrides` section: This overrides section overrides no settings";
                self.suspicious(&item.span(), "useless-overrides-section", message);
            } else if one.include.is_none() && one.exclude.is_empty() {
                let message = "Unnecessary `overrides` section: This overrides section applies to all files";
                self.suspicious(&item.span(), "unnecessary-overrides-section", message);
            }
            overrides.push(one);
        }
    }
}

fn is_supported((major, minor): (u8, u8)) -> bool {
    major == 3 && (7..=15).contains(&minor)
}

/// 1-based line and column of an offset.
fn position(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// The lowest Python version that a specifier such as `>=3.9,<4` allows, if it sets a lower bound.
pub(super) fn lower_bound(specifier: &str) -> Result<Option<(u8, u8)>, String> {
    let mut lowest: Option<(u8, u8)> = None;
    for part in specifier.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let digits = part.find(|c: char| c.is_ascii_digit()).ok_or_else(|| format!("`{part}` is not a version"))?;
        let (operator, version) = part.split_at(digits);
        let mut numbers = version
            .trim()
            .split('.')
            .map(|number| number.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u8>().ok());
        let major = numbers.next().flatten().ok_or_else(|| format!("`{part}` is not a version"))?;
        let minor = numbers.next().flatten();
        match operator.trim() {
            ">=" | ">" | "==" | "~=" | "===" => lowest = lowest.max(Some((major, minor.unwrap_or(0)))),
            "<" | "<=" | "!=" => {}
            other => return Err(format!("`{other}` is not a comparison operator")),
        }
    }
    match lowest {
        None => Ok(None),
        Some(bound) if bound < (3, 7) => Ok(Some((3, 7))),
        Some(bound) if is_supported(bound) => Ok(Some(bound)),
        Some((major, minor)) => Err(format!("Python {major}.{minor} is not supported")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_lower_bound_decides() {
        for (specifier, version) in [
            (">=3.9", Some((3, 9))),
            (">=3.9, <4", Some((3, 9))),
            (">3.10.1", Some((3, 10))),
            ("~=3.11", Some((3, 11))),
            ("==3.12.*", Some((3, 12))),
            (">= 3", Some((3, 7))),
            ("<4", None),
            (">=2.7, !=3.0.*, >=3.8", Some((3, 8))),
        ] {
            assert_eq!(lower_bound(specifier), Ok(version), "{specifier}");
        }
        assert!(lower_bound("three").is_err());
        assert!(lower_bound(">=4.0").is_err());
    }

    #[test]
    fn unknown_settings_are_reported_at_their_position() {
        let text = "[environment]\npython-version = \"3.11\"\nbogus = 1\n[rules]\ncall-non-callable = \"loud\"\n[[overrides]]\ninclude = \"x\"\n";
        let mut reader = Reader::new(Path::new("ty.toml"), text);
        let table = reader.parse().unwrap();
        let mut options = Options::default();
        reader.options(table.get_ref(), &mut options);
        let mut said: Vec<String> = reader.problems.iter().map(|p| format!("{} {}", p.at.line, p.message)).collect();
        said.sort();
        assert_eq!(options.environment.python_version, Some((3, 11)));
        expect_test::expect![[r#"
            3 unknown setting `bogus` in `environment`; valid settings: `root`, `python-version`, `python-platform`, `extra-paths`, `typeshed`, `python`
            5 rule `call-non-callable` must be "ignore", "warn" or "error"
            6 Useless `overrides` section: This overrides section overrides no settings
            7 `include` must be a list of strings"#]].assert_eq(&said.join("\n"));
    }
}
