//! `ixchel_context`: everything about an entity that fits a budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare};
use crate::error::Result;
use crate::query::context::{self, ContextBudget};

pub(super) static IXCHEL_CONTEXT: Declaration = declare! {
    run;
    name: "ixchel_context",
    title: "Gather context on an entity",
    about: "What to read before working on an issue or decision: the entity, its neighbours by importance, each whole and \
        with why it is there, and the files and symbols that their texts name, within budget_tokens. What did not fit is \
        listed. Example: {\"id\": \"iss-1a2b3c\"}. Find ids with ixchel_search.",
    access: Access::Read,
    core: true,
    list: None,
    example: r#"{"id": "dec-1a2b3c", "budget_tokens": 1000}"#,
};

/// Arguments of `ixchel_context`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The entity's id.
    id: String,
    /// About how many tokens the answer may have (default 4000).
    #[serde(default)]
    budget_tokens: Option<u64>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    pub id: String,
    pub items: Vec<Item>,
    pub code: Vec<Code>,
    pub left_out: Vec<LeftOut>,
    /// Where `left_out` does not name them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out_total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_left_out: Option<usize>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Item {
    pub id: String,
    pub title: String,
    pub kind: String,
    pub body: String,
    pub why: String,
    /// The body goes on; ixchel_show has the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Code {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub why: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct LeftOut {
    pub id: String,
    pub title: String,
}

const BUDGET: usize = 4000;
/// Neighbours that are named although they did not fit.
const NAMED: usize = 30;
/// Bytes that their names take, and the frame around all.
const RESERVED: usize = 6 << 10;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let tokens = arguments.budget_tokens.map_or(BUDGET, |tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
    let budget = ContextBudget { tokens, bytes: call.cap().map(|cap| cap.saturating_sub(RESERVED)) };
    let pack = call.read_entities(|snapshot| context::pack(snapshot, &arguments.id, budget))?;
    let left_out_total = (pack.left_out.len() > NAMED).then_some(pack.left_out.len());
    let short =
        |title: String| if title.len() > 120 { title.chars().take(100).chain(['…']).collect() } else { title };
    Ok(Answer {
        id: pack.id,
        items: pack
            .items
            .into_iter()
            .map(|item| Item {
                id: item.id,
                title: item.title,
                kind: item.kind,
                body: item.body,
                why: item.why,
                truncated: item.is_cut.then_some(true),
            })
            .collect(),
        code: pack
            .code
            .into_iter()
            .map(|code| Code {
                path: code.mention.path,
                symbol: code.mention.symbol,
                line: code.mention.line,
                why: code.why,
            })
            .collect(),
        left_out: pack
            .left_out
            .into_iter()
            .take(NAMED)
            .map(|(id, title)| LeftOut { id, title: short(title) })
            .collect(),
        left_out_total,
        code_left_out: (pack.code_left_out > 0).then_some(pack.code_left_out),
    })
}
