//! `ixchel_tags`: the tags in use, and the entities without tags.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, render};
use crate::error::Result;
use crate::query::Page;
use crate::query::entities::{self, Untagged};

pub(super) static IXCHEL_TAGS: Declaration = declare! {
    run;
    name: "ixchel_tags",
    title: "List tags",
    about: "List the tags of the knowledge graph with the number of entities, in byte order, or what has no tag.",
    access: Access::Read,
    core: false,
    list: None,
    example: "{}",
};

/// Arguments of `ixchel_tags`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Only entities of this kind: decision, issue, …; document: other Markdown files.
    kind: Option<String>,
    /// List what has no tag (default false).
    untagged: Option<bool>,
    /// Items to return (default: all that fit).
    limit: Option<u64>,
    /// Items to skip (default 0).
    offset: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Tag>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Untagged>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

impl Answer {
    /// The fields that any list has.
    fn about<T>(page: &Page<T>) -> Self {
        Self {
            total: page.total.unwrap_or(0),
            tags: None,
            items: None,
            truncated: page.is_cut.then_some(true),
            next_offset: page.next_offset(),
        }
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Tag {
    pub tag: String,
    pub count: u64,
}

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let (offset, limit) = super::page(arguments.offset, arguments.limit, usize::MAX, usize::MAX);
    let kind = arguments.kind.as_deref();
    if arguments.untagged.unwrap_or(false) {
        let all = call.read_entities(|snapshot| entities::untagged(snapshot, kind))?;
        return Ok(render::shrunk(all.len().min(limit), call.cap(), |kept| {
            let page = Page::from_list(all.clone(), offset, kept);
            let answer = Answer::about(&page);
            Answer { items: Some(page.items), ..answer }
        }));
    }
    let all = call.read_entities(|snapshot| entities::tags(snapshot, kind))?;
    Ok(render::shrunk(all.len().min(limit), call.cap(), |kept| {
        let page = Page::from_list(all.clone(), offset, kept);
        let answer = Answer::about(&page);
        let tags = page.items.into_iter().map(|(tag, count)| Tag { tag, count });
        Answer { tags: Some(tags.collect()), ..answer }
    }))
}
