//! What a model's file says before anything runs it.
//!
//! Owns the refusals that hold for whatever runs the model: no graph, inputs that no text has, weights in other files.

use tract_onnx::pb::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, tensor_proto::DataLocation};
use tract_onnx::prelude::Framework;

use super::unfit;
use crate::error::Result;

/// What a model may ask for.
const INPUTS: &[&str] = &["input_ids", "attention_mask", "token_type_ids", "position_ids"];
/// Nobody's model has more nodes.
const MOST_NODES: usize = 100_000;

/// The model in a file, if it is one that a text can be given to.
pub fn read(mut bytes: &[u8]) -> Result<ModelProto> {
    let model = tract_onnx::onnx().proto_model_for_read(&mut bytes);
    let model = model.map_err(|_| unfit("it is no ONNX file, or not all of one"))?;
    let graph = model.graph.as_ref().filter(|graph| !graph.node.is_empty() && !graph.output.is_empty());
    let graph = graph.ok_or_else(|| unfit("it holds no ONNX graph"))?;
    if graph.node.len() > MOST_NODES {
        return Err(unfit("it has too many nodes"));
    }
    if let Some(strange) = inputs(graph).find(|name| !INPUTS.contains(name)) {
        return Err(unfit(format!("it asks for an input that no text has: {strange:?}")));
    }
    let functions = model.functions.iter().flat_map(|function| &function.node);
    if reaches_outside(graph) || functions.flat_map(|node| &node.attribute).any(is_outside) {
        return Err(unfit("its weights lie in a file beside it, which is not read"));
    }
    Ok(model)
}

/// In order, without those that have a value already.
pub fn inputs(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let has_value = |name: &str| graph.initializer.iter().any(|tensor| tensor.name == name);
    graph.input.iter().map(|input| input.name.as_str()).filter(move |name| !has_value(name))
}

/// Of a graph's outputs the one to take.
pub fn wanted<'o>(outputs: &(impl Iterator<Item = &'o str> + Clone)) -> &'o str {
    let known = ["last_hidden_state", "token_embeddings", "sentence_embedding"];
    let named = known.iter().find_map(|known| outputs.clone().find(|name| name == known));
    named.or_else(|| outputs.clone().next()).unwrap_or_default()
}

/// The value of an input for a text of these tokens.
pub fn values(input: &str, ids: &[i64]) -> Vec<i64> {
    match input {
        "input_ids" => ids.to_vec(),
        "attention_mask" => vec![1; ids.len()],
        "position_ids" => (0..).take(ids.len()).collect(),
        _ => vec![0; ids.len()],
    }
}

fn reaches_outside(graph: &GraphProto) -> bool {
    let sparse = graph.sparse_initializer.iter().flat_map(|sparse| sparse.values.iter().chain(&sparse.indices));
    graph.initializer.iter().chain(sparse).any(lies_outside)
        || graph.node.iter().flat_map(|node: &NodeProto| &node.attribute).any(is_outside)
}

/// How deep graphs lie in each other is bounded by the reader of the file.
fn is_outside(attribute: &AttributeProto) -> bool {
    let sparse = attribute.sparse_tensor.iter().chain(&attribute.sparse_tensors);
    let sparse = sparse.flat_map(|sparse| sparse.values.iter().chain(&sparse.indices));
    attribute.t.iter().chain(&attribute.tensors).chain(sparse).any(lies_outside)
        || attribute.g.iter().chain(&attribute.graphs).any(reaches_outside)
}

fn lies_outside(tensor: &TensorProto) -> bool {
    !tensor.external_data.is_empty() || tensor.data_location == Some(DataLocation::External.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_model_is_refused() {
        for bytes in [&b""[..], b"\x08\x07", b"not a model", b"\x3a\xff\xff\xff\xff\x7f", &[0xff; 64]] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }
}
