//! `ixchel_context`: everything about an entity that fits a budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, render};
use crate::error::Result;
use crate::query::context::{self, Code, ContextBudget, Item, LeftOut};

pub(super) static IXCHEL_CONTEXT: Declaration = declare! {
    run;
    name: "ixchel_context",
    title: "Gather context on an entity",
    about: "Gather what to read before working on an entity: the entity, its neighbours by importance, and the \
        code that they name, within a budget. What did not fit is listed.",
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
    /// Size of the answer in tokens (default 2500).
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

const BUDGET: usize = 2500;
/// Neighbours that are named although they did not fit.
const NAMED: usize = 30;
/// The part of the answer that is left for their names.
const RESERVED: usize = 5;
/// Bytes of `left_out_total`.
const TOTAL: usize = 32;

fn run(call: &Call, arguments: &Arguments) -> Result<Answer> {
    let tokens = arguments.budget_tokens.map_or(BUDGET, |tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
    let budget = ContextBudget { tokens, bytes: call.cap().map(|cap| cap - cap / RESERVED) };
    let pack = call.read_entities(|snapshot| context::pack(snapshot, &arguments.id, budget))?;
    let total = pack.left_out.len();
    let left_out = pack.left_out.into_iter().take(NAMED).map(|left| LeftOut { title: short(left.title), ..left });
    let mut answer = Answer {
        id: pack.id,
        items: pack.items,
        code: pack.code,
        left_out: left_out.collect(),
        left_out_total: None,
        code_left_out: (pack.code_left_out > 0).then_some(pack.code_left_out),
    };
    while call.cap().is_some_and(|cap| render::json_size(&answer) + TOTAL > cap) && answer.left_out.pop().is_some() {}
    answer.left_out_total = (answer.left_out.len() < total).then_some(total);
    Ok(answer)
}

fn short(title: String) -> String {
    if title.len() > 120 { title.chars().take(100).chain(['…']).collect() } else { title }
}
