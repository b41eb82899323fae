//! A tool's answer as commands use it: JSON for `--json`, the tool's own type for text.
//!
//! Owns the notes below any answer: whether a list continues, and what the answer may lack.

use std::ops::Deref;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::output;
use super::paint::Paint;
use crate::error::{Error, Result};
use crate::model::printable;

/// An answer in both forms.
pub(super) struct Answer<A> {
    pub json: Value,
    pub typed: A,
    remarks: Remarks,
    paint: Paint,
}

/// Fields that the answer of any tool may have.
#[derive(Deserialize)]
struct Remarks {
    #[serde(default)]
    truncated: bool,
    total: Option<u64>,
    next_offset: Option<u64>,
    warning: Option<String>,
    stale: Option<String>,
    vectors_pending: Option<u64>,
    indexing: Option<Indexing>,
    #[serde(default)]
    problems: Vec<Problem>,
}

/// A repository that did not answer.
#[derive(Deserialize)]
struct Problem {
    #[serde(default)]
    repo: String,
    #[serde(default)]
    reason: String,
}

/// How far a running update is, in files.
#[derive(Deserialize)]
struct Indexing {
    done: u64,
    total: u64,
}

impl<A: DeserializeOwned> Answer<A> {
    /// Reads an answer. If it is from several repositories (`is_across`), the typed items have absolute paths.
    pub(super) fn read(json: Value, is_across: bool, paint: &Paint) -> Result<Self> {
        let typed_answer = if is_across { typed(&with_absolute_paths(json.clone()))? } else { typed(&json)? };
        Ok(Self { typed: typed_answer, remarks: typed(&json)?, json, paint: paint.clone() })
    }

    /// Notes that a list continues after the `shown` items, that it is empty (`empty`) or that the offset is past its end; then the
    /// answer's warnings.
    pub(super) fn note_rest(&self, shown: usize, empty: &str) {
        let Remarks { truncated, total, next_offset, .. } = &self.remarks;
        if *truncated {
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            let more = next_offset.map_or_else(String::new, |next| format!("; more with --offset {next}"));
            output::note(&format!("{shown}{of} shown{more}"));
        } else if shown == 0 {
            match total {
                Some(total @ 1..) => note_past_end(*total),
                _ => output::note(empty),
            }
        }
        self.note_remarks();
    }

    /// Notes the answer's warnings: what may be missing or outdated.
    pub(super) fn note_remarks(&self) {
        let Remarks { warning, stale, vectors_pending, indexing, problems, .. } = &self.remarks;
        for Problem { repo, reason } in problems.iter().filter(|problem| !problem.repo.is_empty()) {
            output::note(&printable(&format!("{repo}: {reason}")));
        }
        if let Some(warning) = warning {
            output::note(&printable(&self.paint.sentence(warning)));
        }
        if let Some(reason) = stale {
            output::note(&format!("may be outdated: {reason}"));
        }
        if let Some(Indexing { done, total }) = indexing {
            output::note_indexing(*done, *total);
        }
        if let Some(pending) = vectors_pending.filter(|pending| *pending > 0) {
            let chunks = output::count(pending, "chunk is", "chunks are");
            output::note(&format!("{chunks} found only by words until they have vectors; ask again in a moment"));
        }
    }
}

/// Notes that there is nothing at an offset in a list.
pub(super) fn note_past_end(total: u64) {
    output::note(&format!("{}; the offset is past the last", output::count(total, "result", "results")));
}

impl<A> Deref for Answer<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.typed
    }
}

/// Makes the paths of all items absolute if the items name their repository.
fn with_absolute_paths(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            if let Some(repo) = fields.get("repo").and_then(Value::as_str).map(PathBuf::from) {
                for name in ["file_path", "filePath", "path"] {
                    if let Some(Value::String(path)) = fields.get_mut(name) {
                        *path = repo.join(&*path).to_string_lossy().into_owned();
                    }
                }
            }
            fields.values_mut().for_each(|field| *field = with_absolute_paths(field.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = with_absolute_paths(item.take())),
        _ => {}
    }
    value
}

/// Reads the answer of a tool or daemon as its own type.
pub(super) fn typed<T: DeserializeOwned>(json: &Value) -> Result<T> {
    T::deserialize(json).map_err(|error| Error::internal("the answer has an unexpected form").caused_by(error))
}
