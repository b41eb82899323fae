//! The queries and answers of a type engine, as plain values that also travel over the pipe and in the answers of tools.
//!
//! Owns their shapes. Paths are relative to the repository if they are inside it, and absolute otherwise. Lines and
//! columns are 1-based, columns count code points, and `end_column` is exclusive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum_macros::IntoStaticStr;

use crate::model::{Definition, Position, Reference, Span, TextEdit};

/// A query. Its answer is the [`Answer`] variant of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Query {
    /// Diagnostics of one file, or of every file that the project checks.
    Check {
        file: Option<String>,
        /// Without `file`: check only these files, and the checked files below these folders (absolute paths). Empty:
        /// everything.
        #[serde(default)]
        within: Vec<String>,
        /// Include each diagnostic as the engine itself would print it.
        #[serde(default)]
        rendered: bool,
        /// Include the notes attached to each diagnostic.
        #[serde(default)]
        notes: bool,
    },
    TypeAt(Position),
    Symbols {
        file: String,
    },
    Definition(Position),
    /// The symbol that `References` would search for.
    Subject(Position),
    References {
        at: Position,
        include_declaration: bool,
        /// Files that contain the name (absolute paths); `None`: search all files.
        files: Option<Vec<String>>,
    },
    /// Annotations that could be added to a file, or to one symbol of it.
    Infer {
        file: String,
        symbol: Option<String>,
        min_confidence: Confidence,
    },
    /// Annotations that could be added to the files of the project that are, or lie below, these (absolute paths), all at once. The answer
    /// is `Infer`.
    InferAll {
        within: Vec<String>,
        min_confidence: Confidence,
    },
    /// The edits that rename a symbol.
    Rename {
        at: Position,
        new_name: String,
        /// Files that contain the old or the new name (absolute paths); `None`: search all files.
        files: Option<Vec<String>>,
    },
    /// A summary of the project.
    Analyze,
    /// The files of the project (absolute paths).
    Files,
    /// The projects that a check of these files and folders (absolute paths) covers.
    Projects {
        within: Vec<String>,
    },
    /// The project files that a file imports, directly or transitively, nearest first. The answer is `Files`.
    Imports {
        file: String,
    },
    /// Folders with library sources that answers may refer to.
    Libraries,
}

impl Query {
    /// The file that the query is about, if it is a single one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Check { file, .. } => file.as_deref(),
            Self::Symbols { file } | Self::Infer { file, .. } | Self::Imports { file } => Some(file),
            Self::TypeAt(Position { file, .. })
            | Self::Definition(Position { file, .. })
            | Self::Subject(Position { file, .. })
            | Self::References { at: Position { file, .. }, .. }
            | Self::Rename { at: Position { file, .. }, .. } => Some(file),
            Self::InferAll { .. } | Self::Analyze | Self::Files | Self::Projects { .. } | Self::Libraries => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    Check(Checked),
    TypeAt {
        found: Option<Box<Typed>>,
    },
    Symbols {
        symbols: Vec<Outline>,
    },
    Definition {
        definitions: Vec<Definition>,
    },
    Subject {
        found: Option<Subject>,
    },
    /// `unresolved`: the number of files in which some may be missing, as a relative import there cannot be resolved.
    References {
        references: Vec<Reference>,
        unresolved: usize,
    },
    Infer(Inferred),
    Rename(Renamed),
    Analyze(Box<Analysis>),
    Files {
        files: Vec<String>,
    },
    Projects(Projects),
    Libraries(Libraries),
}

/// The projects of a repository, and which of them a check covers. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projects {
    /// The folder of every project: a file belongs to the innermost one around it.
    pub roots: Vec<String>,
    pub checks: Vec<ProjectCheck>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectCheck {
    pub root: String,
    /// Files and folders that are checked in it; empty: everything.
    pub paths: Vec<String>,
    /// The number of files.
    pub files: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Sorted by file, then by position.
    pub diagnostics: Vec<Diagnostic>,
    pub files: usize,
    /// Whether the project's settings let a check with warnings pass.
    #[serde(default)]
    pub warnings_pass: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Diagnostic {
    #[serde(flatten)]
    pub span: Span,
    #[schemars(with = "String")]
    pub severity: Severity,
    /// The name of the rule.
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// The rule for files that cannot be read.
pub const UNREADABLE: &str = "io";

/// The rule for files at which the checker panicked.
pub const PANICKED: &str = "panic";

/// The rule for invalid settings.
pub const INVALID_SETTING: &str = "invalid-setting";

/// A note attached to a diagnostic: a related location, or advice.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Note {
    #[serde(flatten)]
    pub span: Option<Span>,
    /// `info`, `help`, …; `None` if it describes a location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub message: String,
}

/// Severities, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Error,
    Fatal,
}

impl Severity {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The expression at a position and its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    pub display: String,
    pub expression: String,
    #[serde(flatten)]
    pub span: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Definition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docstring: Option<String>,
}

/// The symbol whose references are searched for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub name: String,
    /// It cannot be referenced from another file.
    pub is_local: bool,
    /// Classes whose files are also searched, because they may reference the symbol implicitly.
    #[serde(default)]
    pub classes: Vec<String>,
    /// A sentence about references that are not searched for.
    pub left_out: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    Definition,
    Import,
    Write,
    Read,
    /// An implicit reference: a call of the class, or an operator.
    Call,
}

impl Role {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A symbol of a file with its children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    pub name: String,
    pub kind: String,
    #[serde(rename = "type")]
    pub display: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    pub children: Vec<Self>,
}

/// Suggested annotations, and the symbols without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inferred {
    pub suggestions: Vec<Suggestion>,
    pub skipped: Vec<Skipped>,
    /// The number of files at which the checker panicked.
    #[serde(default)]
    pub panicked: usize,
}

/// How well the evidence supports an annotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Only an indication.
    Low,
    /// Likely: some of the values, a docstring, or related methods.
    #[default]
    Medium,
    /// Declared, or all values are known.
    High,
}

#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Suggestion {
    /// File of the suggestion, if several files were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub name: String,
    /// The qualified name of the enclosing symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// parameter, return, variable or attribute.
    pub kind: String,
    pub line: u32,
    pub column: u32,
    #[serde(rename = "type")]
    pub display: String,
    /// A sentence about what the annotation is based on.
    pub evidence: String,
    pub confidence: Confidence,
    pub edit: Insertion,
    pub imports: Vec<Insertion>,
}

/// Text to insert at a position. Identical insertions of several suggestions count as one.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Insertion {
    pub line: u32,
    pub column: u32,
    pub insert: String,
}

#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Skipped {
    /// File of the symbol, if several files were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub name: String,
    pub kind: String,
    pub reason: String,
}

/// The edits of a rename, or the reasons why it was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    pub edits: Vec<TextEdit>,
    /// If not empty, there are no edits.
    pub refused: Vec<Refusal>,
    /// Occurrences that are not edited but may refer to the symbol: their types are unknown.
    pub unsure: Vec<Refusal>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub struct Refusal {
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub reason: String,
}

/// A summary of a project. Every list is bounded and sorted in descending order. `list_totals` has the number of items of each
/// list before it was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Analysis {
    pub list_totals: ListTotals,
    pub packages: Vec<Package>,
    pub totals: Totals,
    pub imports: Imports,
    pub entry_points: Vec<EntryPoint>,
    pub annotated: Annotated,
    /// Counts by rule.
    pub diagnostics: Vec<RuleCount>,
    /// Modules by number of lines.
    pub largest: Vec<ModuleSize>,
    pub types: Known,
}

/// The number of items that each list of an [`Analysis`] had before it was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ListTotals {
    pub packages: usize,
    pub cycles: usize,
    /// The modules in each listed cycle; a cycle lists the first twelve.
    pub cycle_modules: Vec<usize>,
    /// Modules that another module imports.
    pub imported: usize,
    pub entry_points: usize,
    /// Rules with diagnostics.
    pub rules: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Package {
    pub name: String,
    pub modules: usize,
    pub files: usize,
    pub lines: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Totals {
    pub modules: usize,
    pub classes: usize,
    pub functions: usize,
    pub methods: usize,
    pub variables: usize,
    pub lines: usize,
}

impl Totals {
    pub fn add(&mut self, other: &Self) {
        self.modules += other.modules;
        self.classes += other.classes;
        self.functions += other.functions;
        self.methods += other.methods;
        self.variables += other.variables;
        self.lines += other.lines;
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Imports {
    pub edges: usize,
    pub cycles: Vec<Vec<String>>,
    pub most_imported: Vec<ModuleCount>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RuleCount {
    pub code: String,
    pub count: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ModuleCount {
    pub module: String,
    pub count: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ModuleSize {
    pub module: String,
    pub lines: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct EntryPoint {
    pub name: String,
    /// `module:function`, or `__main__` for a module that can be run.
    pub target: String,
    /// Group of an entry point in `[project.entry-points]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Annotated {
    pub parameters: usize,
    pub returns: usize,
    pub of_parameters: usize,
    pub of_returns: usize,
}

impl Annotated {
    pub fn add(&mut self, other: &Self) {
        self.parameters += other.parameters;
        self.returns += other.returns;
        self.of_parameters += other.of_parameters;
        self.of_returns += other.of_returns;
    }
}

/// How many names, attributes and calls have a known type, and how many do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Known {
    pub known: usize,
    pub unknown: usize,
}

/// Folders outside the repository whose Python sources may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libraries {
    pub folders: Vec<String>,
}

/// Changes on disk since the engine last read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// These files or folders (absolute paths).
    Paths(Vec<String>),
    /// Unknown: everything may have changed.
    Everything,
}
