//! `ixmcp sql`: the index as a database, read-only, with all extensions loaded.

use std::cell::RefCell;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use clap::Args;
use faster_hex::hex_string;
use serde_json::{Map, Value};

use super::{Outcome, Session, output};
use crate::embed::transformer::Transformer;
use crate::embed::{Embedder, Purpose, built_in};
use crate::error::{Error, ErrorKind, Result};
use crate::model::printable;
use crate::repository;
use crate::store::{self, SpaceKey, SqlValue, Store};
use crate::workspace::Workspaces;

/// Query the index with SQL, read-only
///
/// The sqlite3 program can read .ixmcp/index.db, too. This command adds the functions of sqlite-vec, such as
/// vec_distance_cosine; embed(TEXT), the vector of a text; and embedding_space(), the id of its embedding space.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The SQL statements [default: read from stdin]
    query: Option<String>,
    /// Print each row as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let sql = match &typed.query {
        Some(query) => query.clone(),
        None => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| Error::invalid_argument("stdin is not text").caused_by(error))?;
            text
        }
    };
    let root = session.workspaces.root(&session.start)?;
    let path = repository::database(&root, &session.sources.environment);
    if !path.exists() {
        return Err(Error::new(ErrorKind::IndexNotFound, format!("there is no index at {}", path.display()))
            .hint("Run `ixmcp sync` first."));
    }
    if Store::is_of_another_build(&path) {
        // Opening it builds it again.
        session.read(|_| Ok(()))?;
    }
    let embedding = Embedding { workspaces: Arc::clone(&session.workspaces), root, model: OnceLock::new() };
    let names: RefCell<Vec<String>> = RefCell::default();
    let mut rows = 0_usize;
    store::ask(
        &path,
        &sql,
        Arc::new(embedding),
        |columns| {
            *names.borrow_mut() = columns.iter().map(|&name| name.to_owned()).collect();
            if !typed.json && !columns.is_empty() {
                output::line(&columns.iter().map(|column| printable(column)).collect::<Vec<_>>().join("\t"));
            }
            Ok(())
        },
        |cells| {
            rows += 1;
            if typed.json {
                let names = names.borrow();
                let row: Map<String, Value> = names.iter().cloned().zip(cells.iter().map(value)).collect();
                output::json(&row);
            } else {
                output::line(&cells.iter().map(shown).collect::<Vec<_>>().join("\t"));
            }
            Ok(())
        },
    )?;
    Ok(Outcome::found_if(rows > 0))
}

/// Embeds texts as queries are embedded. The index is opened, and the model loaded, when a statement asks for either.
struct Embedding {
    workspaces: Arc<Workspaces>,
    root: PathBuf,
    /// `None` for the built-in one.
    model: OnceLock<Option<Arc<Transformer>>>,
}

impl Embedding {
    fn embedder(&self) -> Result<&dyn Embedder> {
        let model = match self.model.get() {
            Some(model) => model,
            None => {
                let model = self.workspaces.at(&self.root)?.model.searching_model()?;
                self.model.get_or_init(|| model)
            }
        };
        Ok(match model {
            Some(model) => model.as_ref(),
            None => built_in(),
        })
    }
}

impl store::Embedding for Embedding {
    fn space(&self) -> Result<SpaceKey<'_>> {
        let space = self.embedder()?.space();
        Ok(SpaceKey { model: &space.model, hash: &space.hash, dimension: space.dimension })
    }

    fn embed(&self, text: &str) -> Result<Vec<i8>> {
        let vector = self.embedder()?.embed(Purpose::Query, &[text])?.into_iter().next();
        let vector = vector.ok_or_else(|| Error::internal("the model returned no vector"))?;
        Ok(vector.components().to_vec())
    }
}

fn shown(cell: &SqlValue) -> String {
    match cell {
        SqlValue::Null => String::new(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => printable(text),
        SqlValue::Blob(bytes) => format!("x'{}'", hex_string(bytes)),
    }
}

fn value(cell: &SqlValue) -> Value {
    match cell {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(number) => Value::from(*number),
        SqlValue::Real(number) => Value::from(*number),
        SqlValue::Text(text) => Value::from(text.as_str()),
        SqlValue::Blob(bytes) => Value::from(hex_string(bytes)),
    }
}
