//! Whether the embedding model works, and whether all chunks are embedded.

use super::super::model::answers_nothing;
use super::{DoctorContext, Finding, Level};
use crate::embed::{Embedder, Purpose, built_in};
use crate::error::Result;
use crate::model::printable;
use crate::store::SpaceKey;

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let embedder = built_in();
    let space = embedder.space();
    let knows_words = embedder.embed(Purpose::Query, &["open a file"])?.iter().any(|vector| !vector.is_zero());
    if !knows_words {
        return Ok(vec![
            Finding::new(Level::Error, "the built-in embedding table is empty").remedy("Reinstall ixmcp."),
        ]);
    }
    let key = SpaceKey { model: &space.model, hash: &space.hash, dimension: space.dimension };
    let pending = context.ask(|snapshot| snapshot.vectors_pending(&key));
    let table = match pending {
        Some(pending) if pending > 0 => {
            let message = format!("{pending} chunks have no vector yet: they are found by their words");
            Finding::new(Level::Note, message).remedy("Run `ixmcp sync`.")
        }
        _ => Finding::new(Level::Ok, format!("{}, built in, {} dimensions", space.model, space.dimension)),
    };
    Ok(std::iter::once(table).chain(chosen(context)?).collect())
}

/// The model that a person chose, tried.
fn chosen(context: &DoctorContext) -> Result<Option<Finding>> {
    // A look makes no index.
    if !context.database().exists() {
        return Ok(None);
    }
    let workspace = context.session.workspaces.at(&context.root)?;
    let Some(name) = workspace.model.selected() else { return Ok(None) };
    let shown = printable(&name);
    Ok(Some(match workspace.model.load() {
        Ok(Some(model)) => match model.warning() {
            Some(warning) => Finding::new(Level::Warning, format!("{shown}: {warning}")),
            None => Finding::new(Level::Ok, format!("{shown}, on {}", model.device())),
        },
        Ok(None) => return Ok(None),
        Err(error) => Finding::from_error(Level::Warning, &answers_nothing(&name, &error)),
    }))
}
