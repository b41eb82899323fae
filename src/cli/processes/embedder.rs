//! `ixmcp embedder`: the child process that runs the embedding model that a user selected.

use std::path::PathBuf;

use clap::Args;

use crate::cli::Outcome;
use crate::embed::transformer::{self, Gpu, RunnerConfig};
use crate::error::Result;

/// Run a model on stdin and stdout, within a memory limit
#[derive(Debug, Args)]
#[command(hide = true)]
pub(in crate::cli) struct Arguments {
    /// The model's ONNX file
    model: PathBuf,
    /// Whether to use a GPU: off, auto or required
    #[arg(long, default_value = "off")]
    gpu: String,
    /// The library of ONNX Runtime
    #[arg(long)]
    library: Option<PathBuf>,
}

pub(in crate::cli) fn run(arguments: &Arguments) -> Result<Outcome> {
    let library = arguments.library.clone();
    let config = RunnerConfig { gpu: Gpu::named(&arguments.gpu), library, ..RunnerConfig::default() };
    transformer::serve(&arguments.model, &config).map(|()| Outcome::Found)
}
