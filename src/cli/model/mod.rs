//! `ixmcp model list|pull|use|remove|info`: embedding models that the user selects, in addition to the static embeddings.

mod hub;
mod pull;

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Outcome, Session, output};
use crate::budget::Budget;
use crate::config::warn_once;
use crate::embed::transformer::{MODEL_FOLDER_HINT, RunnerConfig, Transformer};
use crate::embed::{Embedder, built_in, model_store};
use crate::error::{Error, Result};
use crate::model::printable;
use crate::platform::paths::canonical;
use crate::tools::stats::{self, Answer as Stats};

/// Manage the optional embedding model that reranks the best hits
///
/// The built-in static embeddings are always available. A sentence transformer is more accurate and slower: it reranks
/// the best hits of a query, and embeds all chunks while the process is idle.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the installed models
    List,
    Pull(pull::Arguments),
    Use(Use),
    Remove(Remove),
    /// Show the model of this repository and its progress
    Info,
}

/// Select the model for this repository
#[derive(Debug, Args)]
struct Use {
    /// A name that `list` prints, the path of a folder with a model, or `built-in` for the static embeddings only
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    model: String,
    /// Embed all chunks now instead of in the background
    #[arg(long)]
    now: bool,
}

/// Remove a model
#[derive(Debug, Args)]
struct Remove {
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    name: String,
}

/// Name of the static embeddings where a model is to be named.
const BUILT_IN: &str = "built-in";

pub(super) fn run(session: &Session, arguments: &Arguments) -> Result<Outcome> {
    match &arguments.command {
        Command::List => list(session),
        Command::Pull(typed) => pull::run(session, typed),
        Command::Use(typed) => choose(session, typed),
        Command::Remove(typed) => remove(session, typed),
        Command::Info => info(session),
    }
}

/// Settings with which a model is tried.
fn runner_config(session: &Session) -> RunnerConfig {
    RunnerConfig::from_settings(&session.config.model, session.sources.environment.program())
}

/// Where the models of this person lie.
fn store_folder(session: &Session) -> Result<PathBuf> {
    model_store::location(&session.sources.environment)
}

fn list(session: &Session) -> Result<Outcome> {
    let models = model_store::list(&store_folder(session)?);
    // Outside a repository nothing is in use.
    let used = session.workspace().ok().and_then(|workspace| workspace.model.selected());
    let table = &built_in().space().model;
    let shown: Vec<_> = models
        .iter()
        .map(|one| json!({ "name": one.name, "bytes": one.bytes, "path": one.folder, "used": used.as_ref() == Some(&one.name) }))
        .collect();
    session.show(&json!({ "built_in": table, "models": shown, "used": used }), true, || {
        output::line(&format!("  {table} (built in)"));
        for one in &models {
            let mark = if used.as_ref() == Some(&one.name) { '*' } else { ' ' };
            output::line(&format!("{mark} {} ({} MB)", one.name, one.bytes >> 20));
        }
        if let Some(path) = used.as_ref().filter(|used| used.starts_with('/')) {
            output::line(&format!("* {}", printable(path)));
        }
    })
}

fn choose(session: &Session, typed: &Use) -> Result<Outcome> {
    let workspace = session.workspace()?;
    let budget = Budget::unlimited();
    if typed.model == BUILT_IN {
        workspace.model.select(None, &budget)?;
        output::line("This repository uses only the built-in embeddings.");
        return Ok(Outcome::Found);
    }
    let store = store_folder(session)?;
    let in_store = model_store::is_name(&typed.model)
        .then(|| store.join(&typed.model))
        .filter(|folder| model_store::is_model(folder));
    let (name, folder) = match in_store {
        Some(folder) => (typed.model.clone(), folder),
        None => {
            let folder = resolved_folder(session, &typed.model)?;
            let name = folder
                .to_str()
                .ok_or_else(|| Error::invalid_path("the folder's path is not UTF-8").hint("Rename the folder."))?;
            (name.to_owned(), folder.clone())
        }
    };
    let model = Transformer::open(&name, &folder, &runner_config(session))?;
    workspace.model.select(Some(name.clone()), &budget)?;
    if let Some(warning) = model.warning() {
        warn_once(warning.to_owned());
    }
    output::line(&format!("This repository uses {}, on {}.", printable(&name), model.device()));
    if typed.now {
        super::freshen(&workspace, &budget)?;
        workspace.model.embed_all(&budget, &|state| {
            let left = state.seconds_left.map_or_else(String::new, |left| format!(", {}", time_left(left)));
            output::note(&format!("{} of {} chunks{left}", state.done, state.total));
        })?;
        output::line("All chunks are embedded: it is used for search.");
    }
    Ok(Outcome::Found)
}

/// The folder that a person means, if it is not the name of an installed model.
fn resolved_folder(session: &Session, typed: &str) -> Result<PathBuf> {
    let named = std::path::absolute(session.start.join(typed)).ok().and_then(|path| canonical(&path).ok());
    let shown = printable(typed);
    match named {
        Some(folder) if folder.is_dir() && typed.contains('/') => Ok(folder),
        Some(folder) if folder.is_dir() => {
            Err(Error::not_found(format!("the model {shown} was not found")).hint(format!(
                "For the folder, run `ixmcp model use ./{shown}`; to download the model, `ixmcp model pull {shown}`."
            )))
        }
        Some(_) => Err(Error::invalid_path(format!("{shown} is a file")).hint(MODEL_FOLDER_HINT)),
        None => Err(model_store::missing(typed)),
    }
}

fn time_left(seconds: u64) -> String {
    format!("about {} min left", seconds.div_ceil(60))
}

fn remove(session: &Session, typed: &Remove) -> Result<Outcome> {
    let store = store_folder(session)?;
    let folder = model_store::folder_of(&store, &typed.name)?;
    let partial = store.join(".partial").join(&typed.name);
    let _ = std::fs::remove_dir_all(&partial);
    if !model_store::is_model(&folder) {
        output::note(&format!("The model {} is not installed.", printable(&typed.name)));
        return Ok(Outcome::Nothing);
    }
    std::fs::remove_dir_all(&folder).map_err(|error| Error::io("remove", &folder, error))?;
    if let Some(owner) = folder.parent().filter(|owner| **owner != store) {
        // Only an empty one goes.
        let _ = std::fs::remove_dir(owner);
    }
    if let Ok(workspace) = session.workspace()
        && workspace.model.selected().as_ref() == Some(&typed.name)
    {
        workspace.model.select(None, &Budget::unlimited())?;
    }
    output::line(&format!("Removed {}.", typed.name));
    Ok(Outcome::Found)
}

/// The error if the selected model cannot be used.
pub(super) fn answers_nothing(name: &str, why: &Error) -> Error {
    let mut described = why.duplicate();
    described.message = format!("{} cannot embed: {}", printable(name), why.message).into();
    described
}

fn info(session: &Session) -> Result<Outcome> {
    // Only one that was read is known to be whole.
    let workspace = session.workspace()?;
    let wrong = workspace.model.load().err();
    let Stats { model: table, transformer, total_chunks, .. } = session.call("stats", json!({}))?.typed;
    let warning = wrong.as_ref().zip(workspace.model.selected());
    let warning = warning.map(|(error, name)| answers_nothing(&name, error).to_warning());
    let transformer = transformer.map(|model| stats::Transformer { warning: warning.or(model.warning), ..model });
    if session.json {
        output::json(&json!({ "built_in": table, "transformer": transformer }));
        return Ok(Outcome::Found);
    }
    output::line(&format!("{}, {} dimensions", printable(&table.name), table.dimension));
    let Some(model) = transformer else {
        output::line("No other model is selected. `ixmcp model pull` downloads one, `ixmcp model use` selects it.");
        return Ok(Outcome::Found);
    };
    output::line(&printable(&model.name));
    if let Some(dimension) = model.dimension {
        let device = model.device.map_or_else(String::new, |device| format!(", on {}", printable(&device)));
        output::line(&format!("  {dimension} dimensions{device}"));
        let left = model.seconds_left.map_or_else(String::new, |left| format!(", {}", time_left(left)));
        output::line(&format!("  {} of {} chunks embedded{left}", model.vectors, total_chunks));
        let says = if wrong.is_some() {
            "cannot be used"
        } else if model.answers {
            "is used for search"
        } else {
            "reranks the best hits"
        };
        output::line(&format!("  it {says}"));
    }
    if let Some(warning) = model.warning {
        output::line(&format!("  {}", printable(&warning)));
    }
    Ok(Outcome::Found)
}
