//! `ixmcp model pull`: download a model from a hub into the model store, or copy it from a folder.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::super::{Outcome, Session, output};
use super::hub::Hub;
use super::{BUILT_IN, runner_config, store_folder};
use crate::embed::model_store;
use crate::embed::transformer::{MODEL_FILES, MODEL_FOLDER_HINT, OTHER_FILES, Transformer, model_file};
use crate::error::{Error, Result};
use crate::model::printable;

/// Download a model from the Hugging Face hub, or copy it from a folder
///
/// No other command downloads a model. An interrupted download is resumed, and checksums are verified.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The name of the model on the hub [default: Xenova/paraphrase-albert-small-v2]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    name: Option<String>,
    /// Copy the model from this folder instead
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// The branch, tag or commit on the hub
    #[arg(long, default_value = "main")]
    revision: String,
}

pub(super) fn run(session: &Session, typed: &Arguments) -> Result<Outcome> {
    let name = typed.name.as_deref().unwrap_or(model_store::DEFAULT);
    if name == BUILT_IN {
        return Err(Error::invalid_argument("the built-in embeddings are part of the program")
            .hint("Run `ixmcp model use built-in` to use only the built-in embeddings; `pull` without a name downloads a transformer."));
    }
    let store = store_folder(session)?;
    if !model_store::is_name(name) && session.start.join(name).exists() {
        return Err(is_here(name, &session.start.join(name)));
    }
    let to = model_store::folder_of(&store, name)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if typed.revision.is_empty() || typed.revision.contains("..") || !typed.revision.chars().all(is_plain) {
        return Err(Error::invalid_argument("--revision is not the name of a branch, tag or commit")
            .hint("The default is `main`."));
    }
    // Until the download is complete it is in a folder that is not listed, where the next attempt resumes it.
    let parts = store.join(".partial");
    let pulled = pull(session, typed, name, &parts.join(name), &to);
    remove_empty(&parts);
    pulled?;
    output::note(&format!("To use it in this repository: ixmcp model use {name}"));
    Ok(Outcome::Found)
}

/// A path instead of a name.
fn is_here(typed: &str, path: &Path) -> Error {
    let shown = printable(typed);
    let error = Error::invalid_argument(format!("{shown} is a path; `pull` takes a name"));
    if model_store::is_model(path) {
        return error.hint(format!(
            "`ixmcp model use {shown}` uses the model in place, `ixmcp model pull NAME --from {shown}` copies it."
        ));
    }
    error.hint(format!(
        "It contains no model either. {MODEL_FOLDER_HINT} An example of a name is {}.",
        model_store::DEFAULT
    ))
}

fn pull(session: &Session, typed: &Arguments, name: &str, partial: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(partial).map_err(|error| Error::io("make", partial, error))?;
    match &typed.from {
        Some(from) => copy(from, partial)?,
        None => fetch(session, name, &typed.revision, partial)?,
    }
    let model = Transformer::open(name, partial, &runner_config(session)).inspect_err(|_| {
        let _ = fs::remove_dir_all(partial);
    })?;
    if to.exists() {
        fs::remove_dir_all(to).map_err(|error| Error::io("replace", to, error))?;
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, error))?;
    }
    fs::rename(partial, to).map_err(|error| Error::io("put", to, error))?;
    let size = model_store::size(to);
    let dimension = crate::embed::Embedder::space(&model).dimension;
    output::line(&format!("{name}: {} MB, {dimension} dimensions, runs on {}.", size >> 20, model.device()));
    Ok(())
}

/// Takes away folders in which nothing came to lie.
fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    // One that holds something stays.
    let _ = fs::remove_dir(folder);
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let model = model_file(from)?;
    for file in OTHER_FILES.iter().chain([&model]).filter(|file| from.join(file).is_file()) {
        let target = to.join(file);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io("make", folder, error))?;
        }
        fs::copy(from.join(file), &target).map_err(|error| Error::io("copy to", &target, error))?;
    }
    Ok(())
}

fn fetch(session: &Session, name: &str, revision: &str, to: &Path) -> Result<()> {
    let hub = Hub::new(&session.sources.environment)?;
    output::note(&format!("Downloading {name} from {}", hub.base()));
    for file in OTHER_FILES {
        let target = to.join(file);
        if !target.is_file() && !hub.fetch(name, revision, file, &target)? && *file == OTHER_FILES[0] {
            return Err(missing(name, file));
        }
    }
    for file in MODEL_FILES {
        let target = to.join(file);
        if target.is_file() || hub.fetch(name, revision, file, &target)? {
            return Ok(());
        }
    }
    Err(missing(name, MODEL_FILES[0]))
}

fn missing(name: &str, file: &str) -> Error {
    Error::not_found(format!("the hub has no {file} of {name}"))
        .hint("Check the name. The model must be exported to ONNX, as those of `Xenova/…` and `onnx-community/…` are.")
}
