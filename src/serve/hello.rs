//! The optional first line of a connection, by which `ixmcp mcp` says on whose behalf it speaks.
//!
//! Owns its shape. What a door lets the client do because of it is the connection's business.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Which hello and controls a daemon understands. A client of another number does not use it.
pub const PROTO: u32 = 1;

/// Fields that are not known are ignored, so that a newer client can say more.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Hello {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proto: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// `VIRTUAL_ENV`, `CONDA_PREFIX`, `PYTHONPATH` of the client.
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<String>,
}

impl Hello {
    pub const METHOD: &str = "ixmcp/hello";

    /// What this program says of itself, for a client that stands in `cwd`.
    pub fn ours(cwd: PathBuf) -> Self {
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        Self { proto: Some(PROTO), version, cwd: Some(cwd), ..Self::default() }
    }

    /// The line that says it.
    pub fn line(&self) -> String {
        serde_json::json!({ "jsonrpc": "2.0", "method": Self::METHOD, "params": self }).to_string()
    }

    /// The client's directory, when it is one that means the same to every process.
    pub fn root(&self) -> Option<PathBuf> {
        self.cwd.as_ref().filter(|cwd| cwd.is_absolute()).cloned()
    }

    /// Whether the client knows the door's token. Takes the same time wherever the two differ.
    pub fn brings(&self, token: &str) -> bool {
        let Some(brought) = &self.token else { return false };
        let differing = brought.bytes().zip(token.bytes()).fold(0, |differing, (a, b)| differing | (a ^ b));
        !token.is_empty() && brought.len() == token.len() && differing == 0
    }
}
