//! `goto_definition`: where a symbol is defined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::engine::{self, File};
use super::previews::Previews;
use super::target::{Candidate, Subject, has_target};
use super::{Access, Call, Declaration, declare};
use crate::error::{Error, Result};
use crate::extract::position::{self, Named};
use crate::model::{Definition, RepoPath, Span};
use crate::pytypes::values::{Answer as Answered, Query};
use crate::query::scip::{self, ScipSubject};
use crate::query::slice;
use crate::query::{occurrences, positions};
use crate::store::{self, ScipOccurrence, Snapshot};

pub(super) static GOTO_DEFINITION: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        run;
        name: "goto_definition",
        title: "Go to a definition",
        about: "Find the definition of a symbol, given by position or symbol_name: for Python by types, through \
            imports and into libraries; else by syntax. Use it on a name in code; to find a name use get_symbol.",
        access: Access::Read,
        core: true,
        list: Some("definitions"),
        example: r#"{"file": "tests/clients/python_mcp.py", "line": 35, "column": 5}"#,
    }
};

/// Arguments of `goto_definition`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Relative to the repository, or absolute.
    file: Option<String>,
    /// From 1.
    line: Option<u32>,
    /// From 1, in characters.
    column: Option<u32>,
    /// Instead of a position: name, Class.method or module::name; file narrows it.
    symbol_name: Option<String>,
    /// Notebook cell of line, from 1.
    cell: Option<u32>,
}

has_target!(Arguments);

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub definitions: Vec<Definition>,
    /// Symbols with that name, if there are several: give one of their positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    pub precision: String,
    /// Package, version and descriptors of a symbol that is defined outside the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<String>,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let answer = |definitions: Vec<Definition>, precision: &str| Answer {
        definitions,
        candidates: Vec::new(),
        precision: precision.to_owned(),
        external: None,
    };
    let at = match arguments.target().locate(call, false)? {
        Subject::At(at) => at,
        Subject::OneOf(candidates) => return Ok(Answer { candidates, ..answer(Vec::new(), "name") }),
    };
    let position = at.position()?;
    if at.file.is_python {
        let Answered::Definition { definitions } = engine::ask(call, &Query::Definition(position))? else {
            return Err(engine::unexpected());
        };
        return Ok(answer(definitions, "types"));
    }
    let readings = readings(call, &at.file, at.line, at.column)?;
    let Some(first) = readings.first() else { return Ok(answer(Vec::new(), "syntax")) };
    call.refresh_scip()?;
    let (path, line) = (&at.file.path, at.line);
    let definitions = |snapshot: &Snapshot| {
        if let Some(subject) = scip::subject(snapshot, path, line, at.column)? {
            let found = scip::definitions(snapshot, &subject)?;
            let kinds = found.iter().map(|one| kind_of(snapshot, one)).collect::<Result<Vec<_>>>()?;
            return Ok(Found::Stated(subject, found.into_iter().zip(kinds).collect()));
        }
        let found = positions::definitions_at(snapshot, path, line, &readings)?;
        let is_own = |one: &store::Definition| {
            (one.path.as_str(), one.line) == (path.as_str(), line) && one.column == first.column
        };
        if !found.definitions.iter().any(is_own)
            && let Some(local) = occurrences::local_at(snapshot, path, line, first)?
        {
            return Ok(Found::ByName(local));
        }
        Ok(Found::ByName(found))
    };
    let mut previews = Previews::new(call);
    let found = match call.read_name(&first.name, definitions)? {
        Found::Stated(subject, stated) => {
            let external = stated.is_empty().then(|| subject.external()).flatten();
            let item = |(one, kind): (ScipOccurrence, String)| Definition {
                preview: previews.line(&one.path, one.line),
                name: if one.name.is_empty() { first.name.clone() } else { one.name.clone() },
                span: span_of_occurrence(one),
                kind,
                precision: None,
            };
            let definitions = stated.into_iter().map(item).collect();
            return Ok(Answer { external, ..answer(definitions, "scip") });
        }
        Found::ByName(found) => found,
    };
    let is_certain = found.is_certain;
    let items = found.definitions.into_iter().map(|one| Definition {
        preview: previews.line(&one.path, one.line),
        span: span_of(one.path, one.line, one.column, &one.name),
        name: one.name,
        kind: one.kind,
        precision: (!is_certain).then(|| "name".to_owned()),
    });
    Ok(answer(items.collect(), "syntax"))
}

/// Definitions that were found for a name.
enum Found {
    /// By a SCIP file, with kinds.
    Stated(ScipSubject, Vec<(ScipOccurrence, String)>),
    ByName(positions::Referred),
}

/// The kind that the index has for a definition.
fn kind_of(snapshot: &Snapshot, one: &ScipOccurrence) -> Result<String> {
    let known = snapshot.unsigned_between(&one.path, 0, one.line)?;
    let own = known.into_iter().find(|known| (known.line, known.column) == (one.line, one.column));
    Ok(own.map_or_else(|| "definition".to_owned(), |own| own.kind))
}

/// The span of an occurrence.
pub(super) fn span_of_occurrence(one: ScipOccurrence) -> Span {
    let ScipOccurrence { path: file, line, column, end_line, end_column, .. } = one;
    Span { file, cell: None, line, column, end_line, end_column }
}

/// The readings of the name at a position of a file. Fails if the position is past the end of the file or line.
pub(super) fn readings(call: &Call, file: &File, line: u32, column: u32) -> Result<Vec<Named>> {
    let (_, bytes) = call.workspace().files.read(&file.path)?;
    let found = slice::slice(&bytes, line.into(), line.into(), 1, None).map_err(|error| {
        Error::not_found(error.message).hint("Lines and columns are 1-based; columns count characters.")
    })?;
    let text = found.content.trim_end_matches(['\n', '\r']);
    if column as usize > text.chars().count() + 1 {
        return Err(Error::not_found(format!("column {column} is past the end of line {line}"))
            .hint("Lines and columns are 1-based; columns count characters."));
    }
    let path = RepoPath::new(file.path.as_str()).or_else(|| RepoPath::outside(file.path.as_str()));
    Ok(path.map(|path| position::names_at(&path, &bytes, line, column)).unwrap_or_default())
}

/// The span of a name that begins at a position.
pub(super) fn span_of(file: String, line: u32, column: u32, name: &str) -> Span {
    let width = u32::try_from(name.chars().count()).unwrap_or(u32::MAX);
    Span { file, cell: None, line, column, end_line: line, end_column: column.saturating_add(width) }
}
