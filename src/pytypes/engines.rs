//! The type engines of one repository, by the Python environment of the callers. Usually there is only one.
//!
//! Owns how many there are. Does not own how one is started or queried (`service`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::TypeService;
use crate::error::Result;
use crate::locked::locked;

/// The environment variables that select a caller's Python.
pub type Environment = BTreeMap<String, String>;

/// The maximum number of engines, which bounds memory use. The least recently used one is stopped first.
const MAX_ENGINES: usize = 2;

#[derive(Default)]
pub struct Engines(Mutex<Vec<(Environment, Arc<TypeService>)>>);

impl Engines {
    /// The engine for that environment, which `create` makes if there is none.
    pub fn get(
        &self,
        environment: &Environment,
        create: impl FnOnce() -> Result<Arc<TypeService>>,
    ) -> Result<Arc<TypeService>> {
        let mut services = locked(&self.0);
        let found = services.iter().position(|(known, _)| known == environment);
        let entry = match found {
            Some(at) => services.remove(at),
            None => (environment.clone(), create()?),
        };
        if services.len() >= MAX_ENGINES {
            services.remove(0).1.stop();
        }
        let service = Arc::clone(&entry.1);
        services.push(entry);
        Ok(service)
    }
}
