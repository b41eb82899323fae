//! `analyze_project`: a summary of a Python project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Call, Declaration, declare, engine};
use crate::error::Result;
use crate::pytypes::values::{Analysis, Answer as Answered, Query};

pub(super) static ANALYZE_PROJECT: Declaration = Declaration {
    asks_index: false,
    ..declare! {
        long run;
        name: "analyze_project",
        title: "Summary of a Python project",
        about: "Summarize the Python project: packages, counts, import graph and cycles, entry points, annotation \
            coverage, diagnostics by rule, largest modules.",
        access: Access::Read,
        core: false,
        list: None,
        example: "{}",
    }
};

/// Arguments of `analyze_project`. It takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Answer {
    #[serde(flatten)]
    analysis: Analysis,
    precision: String,
}

fn run(call: &Call, _: &Arguments) -> Result<Answer> {
    let Answered::Analyze(analysis) = engine::ask(call, &Query::Analyze)? else { return Err(engine::unexpected()) };
    Ok(Answer { analysis: *analysis, precision: "types".to_owned() })
}
