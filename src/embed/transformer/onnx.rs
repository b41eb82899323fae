//! Checks that an ONNX file is safe and usable before any runtime loads it.
//!
//! Owns the refusals that hold for every runtime: not an ONNX model, inputs that a text does not have, weights in other
//! files. Reads only the outline of the protocol buffers message: names, counts and nesting, never weights.

use super::unusable;
use crate::error::Result;

/// The inputs that a text encoder may declare.
const INPUTS: &[&str] = &["input_ids", "attention_mask", "token_type_ids", "position_ids"];
const MAX_NODES: usize = 100_000;
/// Messages inside messages. A loop body within a function takes about ten; deeper files only exhaust the stack of a parser.
const MAX_DEPTH: usize = 32;

/// Names and sizes that a model declares.
#[derive(Debug, Default)]
pub struct Outline {
    inputs: Vec<String>,
    outputs: Vec<String>,
    initializers: Vec<String>,
    nodes: usize,
    graphs: usize,
    has_external_weights: bool,
}

impl Outline {
    /// Reads the outline of a model, or says why a text cannot be given to it.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut outline = Self::default();
        let parsed = outline.walk(Message::Model, bytes, 0, &mut Vec::new());
        parsed.ok_or_else(|| unusable("it is not an ONNX file, or not all of one"))?;
        if outline.graphs != 1 || outline.nodes == 0 || outline.outputs.is_empty() {
            return Err(unusable("it holds no ONNX graph"));
        }
        if outline.nodes > MAX_NODES {
            return Err(unusable("it has too many nodes"));
        }
        if let Some(unknown) = outline.inputs().find(|name| !INPUTS.contains(name)) {
            return Err(unusable(format!("it asks for an input that no text has: {unknown:?}")));
        }
        if outline.has_external_weights {
            return Err(unusable("its weights are in another file, which is not read"));
        }
        Ok(outline)
    }

    /// The inputs without a default value, in the file's order.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().filter(|name| !self.initializers.contains(name)).map(String::as_str)
    }

    /// The output that holds the vectors.
    pub fn output(&self) -> &str {
        preferred_output(&self.outputs.iter().map(String::as_str))
    }

    /// Walks one message. `path` holds the numbers of the fields that lead to it. `None` if the bytes are malformed.
    fn walk(&mut self, message: Message, mut bytes: &[u8], depth: usize, path: &mut Vec<u64>) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        while !bytes.is_empty() {
            let (number, value) = field(&mut bytes)?;
            path.push(number);
            self.note(path, &value);
            if message == Message::Tensor {
                self.has_external_weights |= matches!((number, &value), (13, Value::Bytes(_)) | (14, Value::Number(1)));
            }
            if let (Some(child), Value::Bytes(content)) = (message.child(number), value) {
                self.walk(child, content, depth + 1, path)?;
            }
            path.pop();
        }
        Some(())
    }

    /// Notes what the main graph declares, by the field numbers of `onnx.proto`.
    fn note(&mut self, path: &[u64], value: &Value<'_>) {
        let Value::Bytes(bytes) = value else { return };
        let name = || String::from_utf8_lossy(bytes).into_owned();
        match path {
            [7] => self.graphs += 1,
            [7, 1] => self.nodes += 1,
            [7, 5, 8] | [7, 15, 1, 8] => self.initializers.push(name()),
            [7, 11, 1] => self.inputs.push(name()),
            [7, 12, 1] => self.outputs.push(name()),
            _ => {}
        }
    }
}

/// The messages of `onnx.proto` that can contain a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Message {
    Model,
    TrainingInfo,
    Function,
    Graph,
    Node,
    Attribute,
    SparseTensor,
    Tensor,
    /// The declaration of an input or an output: only its name is read.
    ValueInfo,
}

impl Message {
    /// The message in a field, if it is one that leads to a tensor or to a name that matters.
    fn child(self, field: u64) -> Option<Self> {
        Some(match (self, field) {
            (Self::Model, 7) | (Self::TrainingInfo, 1 | 2) | (Self::Attribute, 6 | 11) => Self::Graph,
            (Self::Model, 20) => Self::TrainingInfo,
            (Self::Model, 25) => Self::Function,
            (Self::Graph, 1) | (Self::Function, 7) => Self::Node,
            (Self::Graph, 5) | (Self::Attribute, 5 | 10) | (Self::SparseTensor, 1 | 2) => Self::Tensor,
            (Self::Graph, 11 | 12) => Self::ValueInfo,
            (Self::Graph, 15) | (Self::Attribute, 22 | 23) => Self::SparseTensor,
            (Self::Node, 5) | (Self::Function, 11) => Self::Attribute,
            _ => return None,
        })
    }
}

enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
    Fixed,
}

/// Takes one field off the front: its number and its value.
fn field<'b>(bytes: &mut &'b [u8]) -> Option<(u64, Value<'b>)> {
    let key = varint(bytes)?;
    let value = match key & 7 {
        0 => Value::Number(varint(bytes)?),
        1 => take(bytes, 8).map(|_| Value::Fixed)?,
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            Value::Bytes(take(bytes, length)?)
        }
        5 => take(bytes, 4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    Some((key >> 3, value)).filter(|(number, _)| *number != 0)
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (front, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(front)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Chooses the output that holds the vectors.
pub fn preferred_output<'o>(outputs: &(impl Iterator<Item = &'o str> + Clone)) -> &'o str {
    let known = ["last_hidden_state", "token_embeddings", "sentence_embedding"];
    let named = known.iter().find_map(|known| outputs.clone().find(|name| name == known));
    named.or_else(|| outputs.clone().next()).unwrap_or_default()
}

/// The value of an input for a text of these tokens.
pub fn input_values(input: &str, ids: &[i64]) -> Vec<i64> {
    match input {
        "input_ids" => ids.to_vec(),
        "attention_mask" => vec![1; ids.len()],
        "position_ids" => (0..).take(ids.len()).collect(),
        _ => vec![0; ids.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that holds a message or a text.
    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        let length = content.len();
        let mut field = vec![number << 3 & 0x7f | 2];
        if number > 15 {
            field = vec![number << 3 | 0x82, number >> 4];
        }
        field.extend([u8::try_from(length & 0x7f).unwrap() | 0x80, u8::try_from(length >> 7).unwrap()]);
        field.extend(content);
        field
    }

    /// A model with one node, the given attribute in it, and an output.
    fn model(attribute: &[u8]) -> Vec<u8> {
        let node = bytes(1, &bytes(5, attribute));
        let input = bytes(11, &bytes(1, b"input_ids"));
        let output = bytes(12, &bytes(1, b"last_hidden_state"));
        bytes(7, &[node, input, output].concat())
    }

    #[test]
    fn a_file_that_is_not_a_model_is_refused() {
        for bytes in [&b""[..], b"\x08\x07", b"not a model", b"\x3a\xff\xff\xff\xff\x7f", &[0xff; 64]] {
            assert!(Outline::read(bytes).is_err(), "{bytes:?}");
        }
        for cut in 1..model(b"").len() {
            assert!(Outline::read(&model(b"")[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn names_of_inputs_and_the_output_are_read() {
        let outline = Outline::read(&model(b"")).unwrap();
        assert_eq!(outline.inputs().collect::<Vec<_>>(), ["input_ids"]);
        assert_eq!(outline.output(), "last_hidden_state");
    }

    #[test]
    fn weights_in_other_files_are_refused_wherever_they_are_named() {
        let tensor = bytes(13, b"\x0a\x08location");
        let marked = [14 << 3, 1];
        let sparse = bytes(1, &tensor);
        let graph = bytes(5, &tensor);
        for attribute in [
            bytes(5, &tensor),
            bytes(5, &marked),
            bytes(10, &tensor),
            bytes(22, &sparse),
            bytes(23, &sparse),
            bytes(11, &graph),
        ] {
            let error = Outline::read(&model(&attribute)).unwrap_err();
            assert!(error.message.to_string().contains("another file"), "{error:?}");
        }
        let body = bytes(25, &bytes(7, &bytes(5, &bytes(5, &tensor))));
        assert!(Outline::read(&[model(b""), body].concat()).is_err());
    }

    #[test]
    fn graphs_nested_without_end_are_refused() {
        let mut graph = bytes(1, b"");
        for _ in 0..40 {
            graph = bytes(1, &bytes(5, &bytes(6, &graph)));
        }
        assert!(Outline::read(&model(&bytes(6, &graph))).is_err());
    }
}
