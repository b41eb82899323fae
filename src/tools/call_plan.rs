//! A call, planned once: its tool, arguments, repositories, size and deadline.
//!
//! Owns that each of these is decided in one place, from what the caller sent. Does not own what a tool does with them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::{ClientScope, DEADLINE, Declaration, MODEL_BYTES, Request, Tools, across, arguments, normalize, render};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;
use crate::organisation::MirrorRequest;
use crate::wording::Command;
use crate::workspace::Members;

/// The maximum size of an answer that a model reads if no argument sets the size: clients cut larger ones.
const DEFAULT_BYTES: usize = 10_000;
/// Arguments that set the size of the answer.
const SIZES: &[&str] = &["limit", "budget_tokens", "end_line"];
/// Bytes of `"warning":,` in an answer.
const WARNING_FIELD: usize = 12;
/// A call before it runs.
pub struct CallPlan {
    pub(super) tool: &'static Declaration,
    /// Arguments by the tool's own schema, without those that all tools take.
    pub(super) arguments: Map<String, Value>,
    pub(super) scope: CallScope,
    /// The request of the caller, with the maximum size of the answer and the deadline.
    pub(super) request: Request,
    /// How long the caller waits for a job.
    pub(super) timeout: Option<Duration>,
    /// About ignored arguments.
    pub(super) warning: Option<String>,
}

/// The repositories of a call.
pub(super) enum CallScope {
    One(PathBuf),
    Several(Members),
}

impl CallPlan {
    /// The repositories that are asked, without those that cannot be.
    pub fn roots(&self) -> &[PathBuf] {
        match &self.scope {
            CallScope::One(root) => std::slice::from_ref(root),
            CallScope::Several(members) => &members.roots,
        }
    }
}

impl Tools {
    /// Plans a call of a tool; `root` is the repository that it is about, if that is known.
    pub fn plan(&self, tool: &'static Declaration, mut request: Request, root: Option<PathBuf>) -> Result<CallPlan> {
        let given = match request.arguments.take() {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => {
                let message = format!("the arguments of {} must be an object", tool.name);
                return Err(Error::new(ErrorKind::UnknownTool, message));
            }
        };
        let schema =
            Arc::clone(locked(&self.schemas).entry(tool.name).or_insert_with(|| Arc::new(tool.input_schema())));
        let (mut arguments, warning) = normalize::normalize(given, &schema, tool.access)?;
        arguments.values_mut().for_each(arguments::make_whole);
        let common = arguments::common(&mut arguments)?;
        request.cap = request.cap.map(|cap| {
            let warned = warning.as_ref().map_or(0, |warning| render::json_size(warning) + WARNING_FIELD);
            let cap = cap.saturating_sub(warned);
            if cap > MODEL_BYTES || asks_for_size(&arguments) { cap } else { cap.min(DEFAULT_BYTES) }
        });
        let timeout = common.timeout_ms.map(Duration::from_millis);
        request.has_timeout |= timeout.is_some();
        // If the call may have waited in a queue, its transport has set the deadline.
        let limited = match timeout {
            None if request.is_patient || request.budget.deadline().is_some() => request.budget.clone(),
            timeout => request.budget.with_deadline(Instant::now().checked_add(timeout.unwrap_or(DEADLINE))),
        };
        let wanted = || across::mirror_request(tool, &arguments);
        let scope = match root {
            Some(root) => CallScope::One(root),
            None => self.named(&common.repo, wanted, &request, &limited)?,
        };
        // A job has no deadline: its callers stop waiting, and it continues.
        if !tool.long || matches!(scope, CallScope::Several(_)) {
            request.budget = limited;
        }
        Ok(CallPlan { tool, arguments, scope, request, timeout, warning })
    }

    /// The repositories that a call is about.
    fn named(
        &self,
        names: &[String],
        wanted: impl Fn() -> Result<MirrorRequest>,
        request: &Request,
        budget: &Budget,
    ) -> Result<CallScope> {
        if !self.workspaces.may_be_several(names, &request.root) {
            let root = self.workspaces.root_of(names.first().map(String::as_str), &request.root)?;
            return Ok(CallScope::One(root));
        }
        if request.scope != ClientScope::Machine {
            return Err(Error::invalid_path("this connection reaches one repository").hint((
                "Use ",
                Command("mcp"),
                " or the command line to search several.",
            )));
        }
        let members = self.workspaces.members_with(names, &wanted()?, &request.root, budget)?;
        match &members.roots[..] {
            [only] if members.failed.is_empty() && !members.names_published => Ok(CallScope::One(only.clone())),
            _ => Ok(CallScope::Several(members)),
        }
    }
}

/// Whether the arguments say how large the answer may be.
fn asks_for_size(arguments: &Map<String, Value>) -> bool {
    let names_size = |arguments: &Map<String, Value>| SIZES.iter().any(|name| arguments.contains_key(*name));
    names_size(arguments) || arguments.get("options").and_then(Value::as_object).is_some_and(names_size)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::{Environment, Flags, Sources};
    use crate::workspace::{Watching, Workspaces};

    /// On a loaded machine, the first query in a repository took longer than the deadline of clients.
    #[test]
    fn a_call_of_a_person_has_only_the_deadline_that_its_arguments_give() {
        let folder = tempfile::tempdir().unwrap();
        let around = folder.path().canonicalize().unwrap();
        let root = around.join("shop");
        std::fs::create_dir_all(root.join(".ixchel")).unwrap();
        let environment = Environment::new([], around.join("home"), root.clone());
        let tools =
            Tools::new(Arc::new(Workspaces::new(Sources { flags: Flags::default(), environment }, Watching::No)));
        let has_deadline = |is_patient, arguments| {
            let request = Request { is_patient, ..Request::new("query", arguments, root.clone()) };
            tools.plan(super::super::find("query").unwrap(), request, None).unwrap().request.budget.deadline().is_some()
        };
        assert!(has_deadline(false, json!({ "text": "a" })));
        assert!(!has_deadline(true, json!({ "text": "a" })));
        assert!(has_deadline(true, json!({ "text": "a", "timeout_ms": 1000 })));
    }
}
