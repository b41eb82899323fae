//! The symbol that a call is about: given by its position in a file, or by its name.
//!
//! Owns how a name becomes a position, and the candidates of a name that several symbols have. Does not own what is looked up
//! there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Call;
use super::engine::{self, File};
use crate::error::{Error, Result};
use crate::model::{Position, printable};
use crate::query::{near, symbols};
use crate::store::Definition;
use crate::wording::{self, Argument, Name, Tool, Wording};

/// The arguments that give a symbol.
pub(super) struct Target<'a> {
    pub file: Option<&'a str>,
    pub cell: Option<u32>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub symbol_name: Option<&'a str>,
}

/// Gives the arguments of a tool, which name a symbol in these fields, a method `target`. The fields themselves stay in each
/// tool's struct: a flattened struct would lose their order in the schema.
macro_rules! has_target {
    ($arguments:ty) => {
        impl $arguments {
            fn target(&self) -> $crate::tools::target::Target<'_> {
                let Self { cell, line, column, .. } = *self;
                let (file, symbol_name) = (self.file.as_deref(), self.symbol_name.as_deref());
                $crate::tools::target::Target { file, cell, line, column, symbol_name }
            }
        }
    };
}
pub(super) use has_target;

/// A position in a file.
pub(super) struct Located {
    pub file: File,
    pub cell: Option<u32>,
    pub line: u32,
    pub column: u32,
}

pub(super) enum Subject {
    At(Located),
    /// Several symbols have the name.
    OneOf(Vec<Candidate>),
}

/// A symbol that has the given name, and the position of its definition.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Candidate {
    pub name: String,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// Candidates that one answer lists.
const MAX_CANDIDATES: usize = 50;

impl Located {
    /// The position as the type engine takes it.
    pub fn position(&self) -> Result<Position> {
        engine::position(&self.file, self.cell, self.line, self.column)
    }
}

impl Target<'_> {
    /// The position, or the definition's if the symbol is given by name. With `prefers_python`, definitions in Python
    /// are considered before all others.
    pub fn locate(&self, call: &Call, prefers_python: bool) -> Result<Subject> {
        if let (Some(file), Some(line), Some(column)) = (self.file, self.line, self.column) {
            let file = engine::file(call, file)?;
            return Ok(Subject::At(Located { file, cell: self.cell, line, column }));
        }
        match self.symbol_name {
            Some(name) => self.named(call, name, prefers_python),
            None => Err(self.incomplete()),
        }
    }

    fn incomplete(&self) -> Error {
        let absent = [("file", self.file.is_none()), ("line", self.line.is_none()), ("column", self.column.is_none())];
        let first = absent.iter().find(|(_, is_absent)| *is_absent).map_or("file", |(name, _)| name);
        Error::invalid_argument((Argument(first), " is missing")).hint(Wording::from((
            "Give ",
            wording::Position,
            ", or ",
            Name("symbol_name"),
            ".",
        )))
    }

    fn named(&self, call: &Call, name: &str, prefers_python: bool) -> Result<Subject> {
        let file = self.file.map(|file| engine::file(call, file)).transpose()?;
        let path = file.as_ref().map(|file| file.path.as_str());
        let found = call.read_name(name, |snapshot| {
            let found = symbols::with_name(snapshot, name, path)?;
            let similar = if found.is_empty() { symbols::similar_names(snapshot, name)? } else { Vec::new() };
            Ok((found, similar))
        });
        let (mut found, similar) = found?;
        if prefers_python && found.iter().any(|one| one.language == "python") {
            found.retain(|one| one.language == "python");
        }
        if found.len() > 1 {
            return Ok(Subject::OneOf(found.into_iter().take(MAX_CANDIDATES).map(Candidate::from).collect()));
        }
        let Some(one) = found.pop() else { return Err(unknown(name, path, &similar)) };
        let located = Located { file: engine::file(call, &one.path)?, cell: None, line: one.line, column: one.column };
        Ok(Subject::At(located))
    }
}

fn unknown(name: &str, path: Option<&str>, similar: &[String]) -> Error {
    const MAX_NAME: usize = 80;
    let shown: String = printable(name).chars().take(MAX_NAME).collect();
    let place = path.map_or_else(String::new, |path| format!(" in {}", printable(path)));
    let similar: Vec<&str> = similar.iter().map(String::as_str).collect();
    Error::not_found(format!("no definition of `{shown}` is indexed{place}")).hint(
        near::did_you_mean(&similar).map_or_else(
            || Wording::from(("Give ", wording::Position, ".")).then(("Search with ", Tool("query"), ".")),
            Wording::from,
        ),
    )
}

impl From<Definition> for Candidate {
    fn from(found: Definition) -> Self {
        let Definition { path: file, name, kind, container, line, column, .. } = found;
        Self { name, kind, container, file, line, column }
    }
}
