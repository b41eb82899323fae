//! What is asked of a type engine and what it answers, as plain values that also travel over the pipe.
//!
//! Owns their shapes. Paths are relative to the repository where they lie in it, else absolute; lines and columns are
//! 1-based, columns count code points, and `end_column` is the one just past the end.

use serde::{Deserialize, Serialize};

/// A place in a file that a caller points at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    /// Absolute.
    pub file: String,
    /// Of a notebook, the cell that the line counts in; `None`: through the code of all cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
}

/// A stretch of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    pub file: String,
    /// Of a notebook, the cell that the lines count in: its cells are numbered from 1, those of prose too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// One question; each has the [`Answer`] of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Question {
    /// Diagnostics of one file, or of every file that the project checks.
    Check {
        #[serde(default)]
        file: Option<String>,
        /// Without `file`: only these files, and what is checked below these folders, absolute. Empty: everything.
        #[serde(default)]
        within: Vec<String>,
        /// Also as the engine itself would print each.
        #[serde(default)]
        rendered: bool,
        /// Also what is noted beside each.
        #[serde(default)]
        notes: bool,
    },
    TypeAt(Position),
    Symbols {
        file: String,
    },
    Definition(Position),
    /// What `References` will look for.
    Subject(Position),
    References {
        at: Position,
        include_declaration: bool,
        /// Files that hold the name, absolute; `None`: look at all.
        files: Option<Vec<String>>,
    },
    /// Annotations that a file, or one symbol of it, could have.
    Infer {
        file: String,
        symbol: Option<String>,
    },
    /// The edits that give something another name.
    Rename {
        at: Position,
        new_name: String,
        /// Files that hold the old or the new name, absolute; `None`: look at all.
        files: Option<Vec<String>>,
    },
    /// The shape of the project.
    Analyze,
    /// The files of the project, absolute.
    Files,
    /// Files of the project that a file imports, straight or through others, the nearest first; the answer is `Files`.
    Imports {
        file: String,
    },
    /// Where library sources lie that answers may name.
    Libraries,
}

impl Question {
    /// The one file that it is about.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Check { file, .. } => file.as_deref(),
            Self::Symbols { file } | Self::Infer { file, .. } | Self::Imports { file } => Some(file),
            Self::TypeAt(Position { file, .. })
            | Self::Definition(Position { file, .. })
            | Self::Subject(Position { file, .. })
            | Self::References { at: Position { file, .. }, .. }
            | Self::Rename { at: Position { file, .. }, .. } => Some(file),
            Self::Analyze | Self::Files | Self::Libraries => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    Check(Checked),
    TypeAt { found: Option<Box<Typed>> },
    Symbols { symbols: Vec<Outline> },
    Definition { definitions: Vec<Definition> },
    Subject { found: Option<Subject> },
    References { references: Vec<Reference> },
    Infer(Inferred),
    Rename(Renamed),
    Analyze(Box<Analysis>),
    Files { files: Vec<String> },
    Libraries(Libraries),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// By file, then by place.
    pub diagnostics: Vec<Diagnostic>,
    pub files: usize,
    /// The project's settings let warnings pass.
    #[serde(default)]
    pub warnings_pass: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    #[serde(flatten)]
    pub span: Span,
    pub severity: Severity,
    /// The rule's name.
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// The rule of what a settings file has that cannot be taken.
pub const INVALID_SETTING: &str = "invalid-setting";

/// What is noted beside a diagnostic: a place that has to do with it, or advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// `info`, `help`, …; `None`: it only says what stands at the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub message: String,
}

/// How bad it is, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Error,
    Fatal,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }
}

/// What stands at a place, and its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    pub shown: String,
    pub expression: String,
    #[serde(flatten)]
    pub span: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Definition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docstring: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    #[serde(flatten)]
    pub span: Span,
    pub name: String,
    pub kind: String,
    /// Its line.
    pub preview: String,
}

/// A name that references are looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub name: String,
    /// Nothing outside of the file can mean it.
    pub is_local: bool,
    /// Classes whose files are looked through for uses where the name does not stand.
    #[serde(default)]
    pub classes: Vec<String>,
    /// In words, which uses are not looked for.
    #[serde(default)]
    pub left_out: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    #[serde(flatten)]
    pub span: Span,
    pub role: Role,
    pub preview: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Definition,
    Import,
    Write,
    Read,
    /// Its name does not stand there: a class is called, an operator written.
    Call,
}

impl Role {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Import => "import",
            Self::Write => "write",
            Self::Read => "read",
            Self::Call => "call",
        }
    }
}

/// A symbol of a file with what it contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    pub name: String,
    pub kind: String,
    pub shown: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    pub children: Vec<Self>,
}

/// Annotations that were found, and why others were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inferred {
    pub suggestions: Vec<Suggestion>,
    pub skipped: Vec<Skipped>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    pub name: String,
    /// The qualified name around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// parameter, return, variable or attribute.
    pub kind: String,
    pub line: u32,
    pub column: u32,
    pub shown: String,
    /// In words, what speaks for it.
    pub evidence: String,
    pub edit: Insertion,
    pub imports: Vec<Insertion>,
}

/// Text to put in at a place of the file as it is. Equal ones of several suggestions are one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insertion {
    pub line: u32,
    pub column: u32,
    pub insert: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub name: String,
    pub kind: String,
    pub reason: String,
}

/// A rename, whole, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    pub edits: Vec<TextEdit>,
    /// Not empty: there are no edits.
    pub refused: Vec<Refusal>,
    /// Places that are not edited and may have to be: nobody knows their types.
    pub unsure: Vec<Refusal>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    #[serde(flatten)]
    pub span: Span,
    pub new_text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refusal {
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub reason: String,
}

/// A project in numbers. Every list is bounded, the largest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    pub packages: Vec<Package>,
    pub totals: Totals,
    pub imports: Imports,
    pub entry_points: Vec<EntryPoint>,
    pub annotated: Annotated,
    /// By rule.
    pub diagnostics: Vec<Counted>,
    /// Modules by lines.
    pub largest: Vec<Counted>,
    pub types: Known,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    pub name: String,
    pub modules: usize,
    pub files: usize,
    pub lines: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imports {
    pub edges: usize,
    pub cycles: Vec<Vec<String>>,
    pub most_imported: Vec<Counted>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub name: String,
    pub count: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryPoint {
    pub name: String,
    pub target: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// Names, attributes and calls whose type is known, and others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub known: usize,
    pub unknown: usize,
}

/// Folders outside the repository of which Python sources may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libraries {
    pub folders: Vec<String>,
}

/// What changed on disk since the engine last looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// These files or folders, absolute.
    Paths(Vec<String>),
    /// Nobody knows: look at everything.
    Everything,
}
