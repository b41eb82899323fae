//! Runs a model without ONNX Runtime: by rten, which is part of this program.
//!
//! Owns the loaded model and its threads. Several threads may call it at once: they share the weights, and each call runs
//! on one core.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rten::{DataType, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueType};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};

use super::{Output, Runner, onnx, reason, unusable};
use crate::error::{Error, Result};

/// Calls that run at the same time.
const POOLS: usize = 2;

pub struct RtenSession {
    model: Model,
    inputs: Vec<(NodeId, String)>,
    output: NodeId,
    pools: [Arc<ThreadPool>; POOLS],
    /// Which pool the next call takes.
    next: AtomicUsize,
}

impl RtenSession {
    pub fn load(model: Vec<u8>, outline: &onnx::Outline) -> Result<Self> {
        let model = ModelOptions::with_all_ops().prepack_weights(true).load(model).map_err(|error| refused(&error))?;
        let node = |name: &str| model.node_id(name).map_err(|error| refused(&error));
        let mut inputs = Vec::new();
        for name in outline.inputs() {
            inputs.push((node(name)?, name.to_owned()));
        }
        let output = node(outline.output())?;
        let pools = std::array::from_fn(|_| Arc::new(ThreadPool::with_num_threads(1)));
        Ok(Self { inputs, output, model, pools, next: AtomicUsize::new(0) })
    }

    fn outputs(&self, ids: &[i64]) -> Result<Output> {
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for (node, name) in &self.inputs {
            // rten has no 64-bit integers: it reads those of a model as 32-bit ones.
            let values = onnx::input_values(name, ids).into_iter().map(|id| i32::try_from(id).unwrap_or_default());
            let values: Vec<i32> = values.collect();
            let shape = [1, ids.len()];
            let is_float = self.model.node_info(*node).and_then(|info| info.dtype());
            let value: Value = if is_float == Some(ValueType::Tensor(DataType::Float)) {
                #[expect(clippy::cast_precision_loss, reason = "zeros, ones and positions")]
                let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
                NdTensor::<f32, 2>::from_data(shape, values).into()
            } else {
                NdTensor::<i32, 2>::from_data(shape, values).into()
            };
            inputs.push((*node, value.into()));
        }
        let pool = &self.pools[self.next.fetch_add(1, Ordering::Relaxed) % POOLS];
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let [output] = self.model.run_n(inputs, [self.output], Some(options)).map_err(|error| refused(&error))?;
        let output: Tensor<f32> = output.try_into().map_err(|error| refused(&error))?;
        Ok(Output { shape: output.shape().to_vec(), values: output.into_data() })
    }
}

fn refused(error: &dyn std::fmt::Display) -> Error {
    unusable(reason(error))
}

impl Runner for RtenSession {
    fn run(&self, ids: &[i64]) -> Result<Output> {
        self.outputs(ids)
    }

    fn device(&self) -> String {
        "cpu".to_owned()
    }
}
