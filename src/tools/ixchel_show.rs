//! `ixchel_show`: one entity's file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, render};
use crate::error::Result;
use crate::query::entities;

pub(super) static IXCHEL_SHOW: Declaration = declare! {
    run;
    name: "ixchel_show",
    title: "Read an entity",
    about: "Read the file of one entity. A long one continues at next_offset. To read its neighbours too use \
        ixchel_context.",
    access: Access::Read,
    core: true,
    list: None,
    example: r#"{"id": "dec-1a2b3c"}"#,
};

/// Arguments of `ixchel_show`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The entity's id.
    id: String,
    /// Characters to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub id: String,
    pub kind: String,
    pub title: String,
    pub path: String,
    pub raw: String,
    /// In characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

/// Bytes of an answer in addition to the text.
const AROUND: usize = 1024;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (entity, stored) = call.read_entities(|snapshot| {
        let entity = entities::find(snapshot, &arguments.id)?;
        let stored = snapshot.text_of(&entity.path)?;
        Ok((entity, stored))
    })?;
    // As it is on disk, where that is text as most is; the index has what others decode to.
    let on_disk = call.workspace().files.read(&entity.path).ok().and_then(|(_, bytes)| String::from_utf8(bytes).ok());
    let text = on_disk.unwrap_or(stored);
    let (offset, _) = super::page(arguments.offset, None, 0, 0);
    let rest: String = text.chars().skip(offset).collect();
    let kept = call.cap().map_or(rest.len(), |cap| render::fitting(&rest, cap.saturating_sub(AROUND)));
    let next = (kept < rest.len()).then(|| offset + rest[..kept].chars().count());
    let is_part = offset > 0 || next.is_some();
    Ok(Answer {
        id: entity.key,
        kind: entity.kind,
        title: entity.title,
        path: entity.path,
        total: is_part.then(|| text.chars().count()),
        truncated: next.map(|_| true),
        next_offset: next,
        raw: rest[..kept].to_owned(),
    })
}
