//! Positions and ranges in files, and what is found or replaced there, in every language.
//!
//! Owns their shapes, in which they travel over pipes and in answers. Paths are relative to the repository if they are inside it, and
//! absolute otherwise. Lines and columns are 1-based, columns count code points, and `end_column` is exclusive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    /// An absolute path.
    pub file: String,
    /// For notebooks, the cell that `line` is relative to; `None`: lines count through the code of all cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
}

/// A range in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
pub struct Span {
    pub file: String,
    /// For notebooks, the cell that the lines are relative to. Cells are numbered from 1, including Markdown cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// A definition of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Definition {
    #[serde(flatten)]
    pub span: Span,
    pub name: String,
    pub kind: String,
    /// The text of its line.
    pub preview: String,
    /// `name` if only the name suggests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
}

/// An occurrence of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Reference {
    #[serde(flatten)]
    pub span: Span,
    /// definition, write, read, import, or call for an implicit reference (construction, operator); without types:
    /// definition, call, import, …
    pub role: String,
    pub preview: String,
    /// `syntax` in code that the type checker holds unreachable. Without types: `name` if only the name suggests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
}

/// A range and the text that replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    #[serde(flatten)]
    pub span: Span,
    pub new_text: String,
}
