//! The optional first line of a connection, by which `ixmcp mcp` says on whose behalf it speaks.
//!
//! Owns its shape. What a door lets the client do because of it is the connection's business.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// Fields that are not known are ignored, so that a newer client can say more.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hello {
    pub proto: Option<u32>,
    pub version: Option<String>,
    pub cwd: Option<PathBuf>,
    pub token: Option<String>,
    /// `VIRTUAL_ENV`, `CONDA_PREFIX`, `PYTHONPATH` of the client.
    pub env: BTreeMap<String, String>,
    pub tools: Option<String>,
}

impl Hello {
    pub const METHOD: &str = "ixmcp/hello";

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
