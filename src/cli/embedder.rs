//! `ixmcp embedder`: the process in which a model runs that a person chose.

use std::path::PathBuf;

use clap::Args;

use super::Outcome;
use crate::embed::transformer::{self, Gpu, RunnerConfig};
use crate::error::Result;

/// Run a model on stdin and stdout, within a limit of memory
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Arguments {
    /// Its ONNX file
    model: PathBuf,
    /// Where: off, auto or required
    #[arg(long, default_value = "off")]
    gpu: String,
    /// ONNX Runtime's library
    #[arg(long)]
    library: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome> {
    let library = arguments.library.clone();
    let config = RunnerConfig { gpu: Gpu::named(&arguments.gpu), library, ..RunnerConfig::default() };
    transformer::serve(&arguments.model, &config).map(|()| Outcome::Found)
}
