//! A model run without ONNX Runtime: by tract, which is part of this program.
//!
//! Owns what tract is told of a file, and what it is given for a text. Several threads may ask at once and share the weights.

use std::collections::HashSet;
use std::sync::Arc;

use tract_onnx::Onnx;
use tract_onnx::pb::{ModelProto, type_proto};
use tract_onnx::prelude::{
    DatumType, InferenceFact, InferenceModelExt, IntoRunnable, IntoTValue, TDim, TVec, Tensor, TractError, TractResult,
    TypedRunnableModel,
};
use tract_onnx::tract_hir::infer::Factoid;

use super::{Output, Runner, onnx, unfit};
use crate::error::{Error, Result};

/// Characters of what is told of a failure.
const LONGEST_REASON: usize = 80;

pub struct Inside {
    model: Arc<TypedRunnableModel>,
    /// By name, in order.
    inputs: Vec<(String, DatumType)>,
}

impl Inside {
    pub fn of(mut model: ModelProto) -> Result<Self> {
        let reader = tract_onnx::onnx();
        leave_out(&mut model);
        let mut nodes = model.graph.iter().flat_map(|graph| &graph.node);
        if let Some(node) = nodes.find(|node| !reader.op_register.0.contains_key(&node.op_type)) {
            let operator: String = crate::model::printable(&node.op_type).chars().take(60).collect();
            return Err(unfit(format!("the operator {operator:?} is not known here")));
        }
        Self::prepared(&reader, &model).map_err(|error| refused(&error))
    }

    fn prepared(reader: &Onnx, model: &ModelProto) -> TractResult<Self> {
        let graph = model.graph.as_ref().ok_or_else(|| TractError::msg("no graph"))?;
        let parsed = reader.parse(model, None)?;
        let output = onnx::wanted(&graph.output.iter().map(|output| output.name.as_str()));
        let output = *parsed.outlets_by_name.get(output).ok_or_else(|| TractError::msg("it gives nothing"))?;
        if let Some(name) = parsed.unresolved_inputs.first() {
            return Err(TractError::msg(format!("nothing gives {name:?}")));
        }
        let mut model = parsed.model;
        model.select_output_outlets(&[output])?;
        let length: TDim = model.symbols.sym("length").into();
        let mut inputs = Vec::new();
        for at in 0..model.inputs.len() {
            let outlet = model.inputs[at];
            let sort = model.outlet_fact(outlet)?.datum_type.concretize().unwrap_or(DatumType::I64);
            inputs.push((model.node(outlet.node).name.clone(), sort));
            model.set_input_fact(at, InferenceFact::dt_shape(sort, [1.into(), length.clone()]))?;
        }
        Ok(Self { model: model.into_optimized()?.into_runnable()?, inputs })
    }

    fn given(&self, ids: &[i64]) -> TractResult<Output> {
        let mut given = TVec::new();
        for (name, sort) in &self.inputs {
            let values = Tensor::from_shape(&[1, ids.len()], &onnx::values(name, ids))?;
            given.push(values.cast_to_dt(*sort)?.into_owned().into_tvalue());
        }
        let given = self.model.run(given)?;
        let output = given.first().ok_or_else(|| TractError::msg("it gives nothing"))?;
        let values = output.cast_to::<f32>()?;
        Ok(Output { shape: values.shape().to_vec(), values: values.try_as_plain_ram()?.as_slice::<f32>()?.to_vec() })
    }
}

/// Leaves out what the wanted output does not need, a pooler or a classifier, and what is told of shapes: they follow from
/// those of the inputs, and what a file tells may be in words of its exporter's own, or wrong since a quantizer went over it.
fn leave_out(model: &mut ModelProto) {
    let Some(graph) = &mut model.graph else { return };
    let output = onnx::wanted(&graph.output.iter().map(|output| output.name.as_str())).to_owned();
    graph.output.retain(|known| known.name == output);
    let mut needed = HashSet::from([output]);
    let mut nodes = std::mem::take(&mut graph.node);
    while let Some(node) = nodes.pop() {
        if node.output.iter().any(|name| needed.contains(name)) {
            needed.extend(node.input.iter().cloned());
            graph.node.push(node);
        }
    }
    graph.node.reverse();
    graph.value_info.clear();
    for value in graph.input.iter_mut().chain(&mut graph.output) {
        if let Some(type_proto::Value::TensorType(tensor)) = value.r#type.as_mut().and_then(|told| told.value.as_mut())
        {
            tensor.shape = None;
        }
    }
}

/// What tract says: where, and why. It shows the numbers of what it stumbles over, too, which nobody wants to read.
fn refused(error: &TractError) -> Error {
    let reasons: Vec<String> = error.chain().map(ToString::to_string).collect();
    let told = reasons.iter().take(1).chain(reasons.iter().skip(1).next_back());
    let told = told.map(|reason| crate::model::printable(reason).chars().take(LONGEST_REASON).collect::<String>());
    unfit(told.collect::<Vec<_>>().join(": "))
}

impl Runner for Inside {
    fn run(&self, ids: &[i64]) -> Result<Output> {
        self.given(ids).map_err(|error| refused(&error))
    }

    fn device(&self) -> String {
        "cpu".to_owned()
    }
}
