//! The optional first line of a connection, with which `ixmcp mcp` describes its client.
//!
//! Owns its fields. The connection decides what the client may do because of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::token::is_same;

/// The version of the hello and the controls. A client does not use a daemon with another version.
pub const PROTO: u32 = 1;

/// Unknown fields are ignored, so that newer clients can add some.
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
    /// Sent by `ixmcp http`, whose clients may be on other machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restriction: Option<Restriction>,
}

/// Limits a connection to MCP and to one repository, for clients that are not processes of this user.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Restriction {
    /// Whether tools that write may be called.
    pub allow_write: bool,
}

impl Hello {
    pub const METHOD: &str = "ixmcp/hello";

    /// The hello of this program for a client with the current directory `cwd`.
    pub fn ours(cwd: PathBuf) -> Self {
        let version = Some(env!("CARGO_PKG_VERSION").to_owned());
        Self { proto: Some(PROTO), version, cwd: Some(cwd), ..Self::default() }
    }

    /// The hello as a line of JSON.
    pub fn line(&self) -> String {
        serde_json::json!({ "jsonrpc": "2.0", "method": Self::METHOD, "params": self }).to_string()
    }

    /// The client's current directory, if it is an absolute path.
    pub fn root(&self) -> Option<PathBuf> {
        self.cwd.as_ref().filter(|cwd| cwd.is_absolute()).cloned()
    }

    /// Whether the client sent this token. Compares in constant time.
    pub fn has_token(&self, token: &str) -> bool {
        let Some(sent) = &self.token else { return false };
        !token.is_empty() && is_same(sent.as_bytes(), token.as_bytes())
    }
}
