//! The running daemons of the repositories that one call names.
//!
//! Owns how they are asked. Starts none: a call to fifty repositories must not leave fifty daemons.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::client::Client;
use crate::budget::Budget;
use crate::config::Environment;
use crate::error::{ErrorKind, Result};
use crate::tools::Daemons;

pub struct MemberDaemons {
    environment: Environment,
    /// The root of this process's own repository, if this process is its daemon.
    own: Option<PathBuf>,
}

impl MemberDaemons {
    pub fn new(environment: Environment, own: Option<PathBuf>) -> Self {
        Self { environment, own }
    }
}

impl Daemons for MemberDaemons {
    fn call(&self, root: &Path, method: &str, params: Map<String, Value>, budget: &Budget) -> Option<Result<Value>> {
        if self.own.as_deref() == Some(root) {
            return None;
        }
        let mut daemon = Client::find(root, root, &self.environment)?;
        let answer = daemon.call(method, params, budget, &|_| ()).ok()?;
        // One of an earlier release does not know every method.
        let is_unknown = answer.as_ref().is_err_and(|error| error.kind == ErrorKind::UnknownTool);
        (!is_unknown).then_some(answer)
    }
}
