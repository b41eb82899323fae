//! Who answers the page: the repository's daemon when it runs, else this process. No daemon is started for a page.
//!
//! Owns the way of one question, and that it ends when nobody waits for the answer any more.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::budget::Budget;
use crate::config::Environment;
use crate::error::Result;
use crate::index::Workspaces;
use crate::panics;
use crate::serve::client::{Age, Peer};
use crate::serve::place::Place;
use crate::serve::{CallContext, Hello, Reach, Registry, Reporter, Service, asked};

/// The most bytes of one answer: more than a page shows at once, less than a browser minds.
const CAP: usize = 4 << 20;

pub struct Asked {
    pub root: PathBuf,
    start: PathBuf,
    environment: Environment,
    registry: Arc<Registry>,
}

/// A question of the page.
#[derive(Clone, Copy)]
pub enum Question {
    Tool(&'static str),
    View(&'static str),
}

impl Asked {
    pub fn new(root: PathBuf, start: PathBuf, environment: Environment, workspaces: Arc<Workspaces>) -> Self {
        Self { root, start, environment, registry: Arc::new(Registry::new(workspaces)) }
    }

    pub async fn ask(&self, question: Question, arguments: Value) -> Result<Value> {
        if let Some(daemon) = self.daemon().await {
            let (method, params) = match question {
                Question::Tool(name) => {
                    let mut params = asked(name, &arguments, Some(CAP), false);
                    // What a person looks at is not what agents asked.
                    params.insert("unseen".to_owned(), json!(true));
                    ("ixmcp/call", params)
                }
                Question::View(name) => {
                    let params = json!({ "view": name, "arguments": &arguments, "cap": CAP });
                    ("ixmcp/view", object(params))
                }
            };
            // One that went away leaves the question to this process.
            if let Some(answer) = heard(daemon, method, params).await {
                return answer;
            }
        }
        let budget = Budget::unlimited();
        let call = CallContext {
            root: self.root.clone(),
            cap: Some(CAP),
            budget: budget.clone(),
            progress: Reporter::default(),
            reach: Reach::Machine,
            hello: Some(Arc::new(self.hello())),
        };
        let registry = Arc::clone(&self.registry);
        let _until_answered = Cancel(budget);
        let work = move || {
            panics::caught(|| match question {
                Question::Tool(name) => registry.call(name, arguments, call),
                Question::View(name) => registry.view(name, arguments, call),
            })
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panics::error(None)))
    }

    /// What the daemon answers to a control; `None` when none runs.
    pub async fn control(&self, method: &'static str, params: Value) -> Option<Result<Value>> {
        heard(self.daemon().await?, method, object(params)).await
    }

    async fn daemon(&self) -> Option<Peer> {
        let place = Place::of(&self.root, &self.environment);
        let found = Peer::connect(&place, &self.hello()).await;
        let peer = found.inspect_err(|error| tracing::warn!(%error, "the daemon is not asked")).ok()??;
        (peer.about.age() == Age::Usable).then_some(peer)
    }

    fn hello(&self) -> Hello {
        Hello { env: self.environment.python(), ..Hello::ours(self.start.clone()) }
    }
}

/// Ends the work when the one who waited for it goes.
struct Cancel(Budget);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// `None`: the daemon went away. It is told to stop when nobody waits any more.
async fn heard(mut daemon: Peer, method: &'static str, params: Map<String, Value>) -> Option<Result<Value>> {
    let budget = Budget::unlimited();
    let _until_answered = Cancel(budget.clone());
    let asking = tokio::spawn(async move { daemon.ask(method, params, &budget, &|_| {}).await });
    asking.await.ok()?.ok()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
