//! A model run inside this program: the nodes of its graph, one after the other.
//!
//! Owns values and the order of work. `proto` reads the file, `operators` says what each node does. It knows the operators
//! of encoders as they are exported; for others there is ONNX Runtime. `tract-onnx` would run more of them, at a third of the
//! speed of ONNX Runtime as this does, for 24 MB of program, forty crates and eight minutes of building.

mod arithmetic;
mod operators;
mod proto;
mod shapes;

use std::collections::HashMap;

use ndarray::{ArcArray, IxDyn};

use super::{Output, Runner, unfit};
use crate::error::Result;
use proto::Node;

pub use proto::Model;

/// Elements of one value: a graph that wants more is no encoder's, or its text no window.
const MOST_ELEMENTS: usize = 1 << 28;

/// What flows between nodes. Whole numbers and truth values are alike here.
#[derive(Clone, Debug)]
pub enum Value {
    Floats(ArcArray<f32, IxDyn>),
    Ints(ArcArray<i64, IxDyn>),
}

impl Value {
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Floats(values) => values.shape(),
            Self::Ints(values) => values.shape(),
        }
    }
}

/// How many elements a shape has, where that is bearable.
fn volume(shape: &[usize]) -> Result<usize> {
    let volume = shape.iter().try_fold(1_usize, |volume, &axis| volume.checked_mul(axis));
    volume.filter(|&volume| volume <= MOST_ELEMENTS).ok_or_else(|| unfit("a value in it would not fit into memory"))
}

/// A graph, ready to run.
pub struct Graph {
    model: Model,
    /// Of each node the inputs that nothing later asks for.
    spent: Vec<Vec<String>>,
    /// Which output to give.
    output: String,
}

impl Graph {
    pub fn of(mut model: Model) -> Result<Self> {
        let known = super::INPUTS;
        if let Some(strange) = model.inputs.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(unfit(format!("it asks for an input that no text has: {strange:?}")));
        }
        let output = super::wanted(&model.outputs.iter().map(String::as_str)).to_owned();
        // Nodes that the output does not need are left out: a pooler, a classifier.
        let mut needed: std::collections::HashSet<&str> = std::collections::HashSet::from([output.as_str()]);
        let mut kept = vec![false; model.nodes.len()];
        for (at, node) in model.nodes.iter().enumerate().rev() {
            if node.outputs.iter().any(|name| needed.contains(name.as_str())) {
                kept[at] = true;
                needed.extend(node.inputs.iter().map(String::as_str));
            }
        }
        let mut kept = kept.into_iter();
        model.nodes.retain(|_| kept.next().unwrap_or_default());
        if let Some(node) = model.nodes.iter().find(|node| !operators::KNOWN.contains(&node.operator.as_str())) {
            return Err(unfit(format!("the operator {:?} is not known here", node.operator)));
        }
        let mut spent = vec![Vec::new(); model.nodes.len()];
        let mut later: std::collections::HashSet<&str> = std::collections::HashSet::from([output.as_str()]);
        for (at, node) in model.nodes.iter().enumerate().rev() {
            for name in &node.inputs {
                if !model.constants.contains_key(name) && later.insert(name) {
                    spent[at].push(name.clone());
                }
            }
        }
        Ok(Self { model, spent, output })
    }

    fn evaluate(&self, ids: &[i64]) -> Result<Value> {
        let length = ids.len();
        let mut values: HashMap<&str, Value> = HashMap::new();
        for name in &self.model.inputs {
            let input = match name.as_str() {
                "input_ids" => ids.to_vec(),
                "attention_mask" => vec![1; length],
                "position_ids" => (0..).take(length).collect(),
                _ => vec![0; length],
            };
            let input = ArcArray::from_shape_vec(IxDyn(&[1, length]), input).map_err(|_| unfit("it takes no text"))?;
            values.insert(name, Value::Ints(input));
        }
        for (node, spent) in self.model.nodes.iter().zip(&self.spent) {
            let results = self.step(node, spent, &mut values)?;
            for (name, value) in node.outputs.iter().zip(results) {
                volume(value.shape())?;
                values.insert(name, value);
            }
        }
        values.remove(self.output.as_str()).ok_or_else(|| unfit("it gives nothing"))
    }

    fn step(&self, node: &Node, spent: &[String], values: &mut HashMap<&str, Value>) -> Result<Vec<Value>> {
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for name in &node.inputs {
            // One that is left out has no name.
            let value = match self.model.constants.get(name) {
                Some(constant) => Some(constant.clone()),
                None if name.is_empty() => None,
                None => {
                    Some(values.get(name.as_str()).cloned().ok_or_else(|| unfit(format!("nothing gives {name:?}")))?)
                }
            };
            inputs.push(value);
        }
        // What nobody else has can be changed in its place.
        for name in spent {
            values.remove(name.as_str());
        }
        let inputs = operators::Inputs::new(node, inputs, self.model.opset);
        operators::run(inputs).map_err(|mut error| {
            error.message = format!("{} (at a node of kind {})", error.message, node.operator);
            error
        })
    }
}

impl Runner for Graph {
    fn run(&self, ids: &[i64]) -> Result<Output> {
        let Value::Floats(values) = self.evaluate(ids)? else {
            return Err(unfit("it gives no numbers with fractions"));
        };
        let shape = values.shape().to_vec();
        Ok(Output { shape, values: values.as_standard_layout().iter().copied().collect() })
    }

    fn device(&self) -> String {
        "cpu".to_owned()
    }
}
