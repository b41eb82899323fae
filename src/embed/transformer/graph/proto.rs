//! A model's file, read: ONNX is a protocol buffer of few messages.
//!
//! Owns the reading of bytes that anybody may have written: every length is checked, nothing is asked for that the file
//! does not hold, and nesting ends. What nodes do is `operators`'.

use std::collections::HashMap;

use ndarray::{ArcArray, IxDyn};

use super::Value;
use crate::embed::transformer::unfit;
use crate::error::Result;

/// Nobody's model has more nodes.
const MOST_NODES: usize = 100_000;
/// Dimensions of a tensor.
const MOST_AXES: usize = 16;

/// A model that can be run.
#[derive(Debug, Default)]
pub struct Model {
    pub nodes: Vec<Node>,
    pub constants: HashMap<String, Value>,
    /// In order, without those that are constants.
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub opset: i64,
}

#[derive(Debug, Default)]
pub struct Node {
    pub operator: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub attributes: HashMap<String, Attribute>,
}

#[derive(Debug)]
pub enum Attribute {
    Int(i64),
    Float(f32),
    Text(String),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Tensor(Value),
    /// A graph, or what else no operator here has.
    Other,
}

impl Model {
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut model = Self::default();
        let mut has_graph = false;
        let mut message = Message(bytes);
        while let Some((field, content)) = message.next()? {
            match (field, content) {
                (7, Content::Bytes(graph)) => {
                    has_graph = true;
                    model.read_graph(graph)?;
                }
                (8, Content::Bytes(set)) => {
                    let (mut domain, mut version) = ("", 0);
                    let mut message = Message(set);
                    while let Some((field, content)) = message.next()? {
                        match (field, content) {
                            (1, Content::Bytes(name)) => domain = text(name)?,
                            (2, Content::Number(number)) => version = number.cast_signed(),
                            _ => {}
                        }
                    }
                    if matches!(domain, "" | "ai.onnx") {
                        model.opset = version;
                    }
                }
                _ => {}
            }
        }
        if !has_graph || model.nodes.is_empty() || model.outputs.is_empty() {
            return Err(unfit("it holds no ONNX graph"));
        }
        let constants = &model.constants;
        model.inputs.retain(|name| !constants.contains_key(name));
        Ok(model)
    }

    fn read_graph(&mut self, bytes: &[u8]) -> Result<()> {
        let mut message = Message(bytes);
        while let Some((field, content)) = message.next()? {
            let Content::Bytes(bytes) = content else { continue };
            match field {
                1 => {
                    if self.nodes.len() == MOST_NODES {
                        return Err(unfit("it has too many nodes"));
                    }
                    self.nodes.push(node(bytes)?);
                }
                5 => {
                    let (name, value) = tensor(bytes)?;
                    self.constants.insert(name, value);
                }
                11 => self.inputs.push(name_of(bytes)?),
                12 => self.outputs.push(name_of(bytes)?),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What of a message has not been read yet.
struct Message<'a>(&'a [u8]);

enum Content<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
    Fixed64,
}

impl<'a> Message<'a> {
    fn next(&mut self) -> Result<Option<(u64, Content<'a>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.number()?;
        let content = match key & 7 {
            0 => Content::Number(self.number()?),
            1 => {
                self.take(8)?;
                Content::Fixed64
            }
            2 => {
                let length = usize::try_from(self.number()?).map_err(|_| cut())?;
                Content::Bytes(self.take(length)?)
            }
            5 => Content::Fixed32(self.take(4)?.try_into().map_err(|_| cut())?),
            _ => return Err(unfit("it is no ONNX file")),
        };
        Ok(Some((key >> 3, content)))
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or_else(cut)?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(unfit("it is no ONNX file"))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(cut)?;
        self.0 = rest;
        Ok(taken)
    }
}

fn cut() -> crate::error::Error {
    unfit("it is no ONNX file, or not all of one")
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| unfit("it is no ONNX file"))
}

/// The name of a graph's input or output.
fn name_of(bytes: &[u8]) -> Result<String> {
    let mut message = Message(bytes);
    while let Some((field, content)) = message.next()? {
        if let (1, Content::Bytes(name)) = (field, content) {
            return Ok(text(name)?.to_owned());
        }
    }
    Ok(String::new())
}

fn node(bytes: &[u8]) -> Result<Node> {
    let mut node = Node::default();
    let mut message = Message(bytes);
    while let Some((field, content)) = message.next()? {
        let Content::Bytes(bytes) = content else { continue };
        match field {
            1 => node.inputs.push(text(bytes)?.to_owned()),
            2 => node.outputs.push(text(bytes)?.to_owned()),
            4 => text(bytes)?.clone_into(&mut node.operator),
            5 => {
                let (name, value) = attribute(bytes)?;
                node.attributes.insert(name, value);
            }
            _ => {}
        }
    }
    Ok(node)
}

fn attribute(bytes: &[u8]) -> Result<(String, Attribute)> {
    let mut name = String::new();
    let mut value = Attribute::Other;
    let (mut ints, mut floats) = (Vec::new(), Vec::new());
    let (mut sort, mut int) = (0, None);
    let mut message = Message(bytes);
    while let Some((field, content)) = message.next()? {
        match (field, content) {
            (1, Content::Bytes(bytes)) => text(bytes)?.clone_into(&mut name),
            (2, Content::Fixed32(bytes)) => value = Attribute::Float(f32::from_le_bytes(bytes)),
            (3, Content::Number(number)) => int = Some(number.cast_signed()),
            (4, Content::Bytes(bytes)) => value = Attribute::Text(String::from_utf8_lossy(bytes).into_owned()),
            (5, Content::Bytes(bytes)) => value = Attribute::Tensor(tensor(bytes)?.1),
            (7, Content::Fixed32(bytes)) => floats.push(f32::from_le_bytes(bytes)),
            (7, Content::Bytes(bytes)) => floats.extend(fixed(bytes)?),
            (8, content) => numbers(&content, &mut ints)?,
            (20, Content::Number(number)) => sort = number,
            _ => {}
        }
    }
    // Proto3 leaves out what is zero or empty: only the sort tells.
    let value = match (sort, value) {
        (2, _) => Attribute::Int(int.unwrap_or_default()),
        (7, _) => Attribute::Ints(ints),
        (6, _) => Attribute::Floats(floats),
        (1, Attribute::Other) => Attribute::Float(0.0),
        (3, Attribute::Other) => Attribute::Text(String::new()),
        (0, Attribute::Other) if int.is_some() => Attribute::Int(int.unwrap_or_default()),
        (0, Attribute::Other) if !ints.is_empty() => Attribute::Ints(ints),
        (_, value) => value,
    };
    Ok((name, value))
}

/// A repeated number: packed, or one at a time.
fn numbers(content: &Content, found: &mut Vec<i64>) -> Result<()> {
    match content {
        Content::Number(number) => found.push(number.cast_signed()),
        Content::Bytes(bytes) => {
            let mut packed = Message(bytes);
            while !packed.0.is_empty() {
                found.push(packed.number()?.cast_signed());
            }
        }
        Content::Fixed32(_) | Content::Fixed64 => return Err(cut()),
    }
    Ok(())
}

fn fixed(bytes: &[u8]) -> Result<Vec<f32>> {
    let numbers = bytes.chunks_exact(4);
    if !numbers.remainder().is_empty() {
        return Err(cut());
    }
    Ok(numbers.map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

/// The types that tensors have here, by ONNX's numbers.
const FLOAT: u64 = 1;
const UINT8: u64 = 2;
const INT8: u64 = 3;
const INT32: u64 = 6;
const INT64: u64 = 7;
const BOOL: u64 = 9;
const FLOAT16: u64 = 10;
const DOUBLE: u64 = 11;

fn tensor(bytes: &[u8]) -> Result<(String, Value)> {
    let mut name = String::new();
    let (mut axes, mut ints, mut floats) = (Vec::new(), Vec::new(), Vec::new());
    let (mut sort, mut raw) = (0, None);
    let mut message = Message(bytes);
    while let Some((field, content)) = message.next()? {
        match (field, content) {
            (1, content) => numbers(&content, &mut axes)?,
            (2, Content::Number(number)) => sort = number,
            (4, Content::Bytes(bytes)) => floats.extend(fixed(bytes)?),
            (4, Content::Fixed32(bytes)) => floats.push(f32::from_le_bytes(bytes)),
            (5 | 7, content) => numbers(&content, &mut ints)?,
            (8, Content::Bytes(bytes)) => text(bytes)?.clone_into(&mut name),
            (9, Content::Bytes(bytes)) => raw = Some(bytes),
            (13, _) => return Err(unfit("its weights lie in a file beside it, which is not read")),
            _ => {}
        }
    }
    if axes.len() > MOST_AXES {
        return Err(unfit("a tensor has too many axes"));
    }
    let axes: Vec<usize> =
        axes.into_iter().map(|axis| usize::try_from(axis).map_err(|_| cut())).collect::<Result<_>>()?;
    let raw = raw.filter(|raw| !raw.is_empty());
    let value = match (sort, raw) {
        (FLOAT, Some(raw)) => floats_of(&axes, fixed(raw)?)?,
        (FLOAT, None) => floats_of(&axes, floats)?,
        (FLOAT16, Some(raw)) => floats_of(&axes, pairs(raw)?.map(half).collect())?,
        (DOUBLE, Some(raw)) => floats_of(&axes, doubles(raw)?)?,
        (INT64, Some(raw)) => ints_of(&axes, eights(raw)?.map(i64::from_le_bytes).collect())?,
        (INT32, Some(raw)) => {
            let four = fixed(raw)?;
            ints_of(&axes, four.into_iter().map(|bits| i64::from(bits.to_bits().cast_signed())).collect())?
        }
        (BOOL | UINT8, Some(raw)) => ints_of(&axes, raw.iter().map(|&byte| i64::from(byte)).collect())?,
        (INT8, Some(raw)) => ints_of(&axes, raw.iter().map(|&byte| i64::from(byte.cast_signed())).collect())?,
        (INT64 | INT32 | BOOL | UINT8 | INT8, None) => ints_of(&axes, ints)?,
        (other, _) => {
            return Err(unfit(format!("a tensor is of a type that is not known here (ONNX's number {other})")));
        }
    };
    Ok((name, value))
}

fn floats_of(axes: &[usize], values: Vec<f32>) -> Result<Value> {
    ArcArray::from_shape_vec(IxDyn(axes), values).map(Value::Floats).map_err(|_| cut())
}

fn ints_of(axes: &[usize], values: Vec<i64>) -> Result<Value> {
    ArcArray::from_shape_vec(IxDyn(axes), values).map(Value::Ints).map_err(|_| cut())
}

fn pairs(bytes: &[u8]) -> Result<impl Iterator<Item = u16>> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err(cut());
    }
    Ok(pairs.map(|two| u16::from_le_bytes([two[0], two[1]])))
}

fn eights(bytes: &[u8]) -> Result<impl Iterator<Item = [u8; 8]>> {
    let eights = bytes.chunks_exact(8);
    if !eights.remainder().is_empty() {
        return Err(cut());
    }
    Ok(eights.map(|eight| std::array::from_fn(|at| eight[at])))
}

#[expect(clippy::cast_possible_truncation, reason = "weights need no more")]
fn doubles(bytes: &[u8]) -> Result<Vec<f32>> {
    Ok(eights(bytes)?.map(|eight| f64::from_le_bytes(eight) as f32).collect())
}

/// A number of 16 bits: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (u32::from(bits >> 15), u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => f32::from(bits & 0x3ff) * 2.0_f32.powi(-24),
        0x1f => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_they_say() {
        let known =
            [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95), (0x0001, 5.960_464_5e-8), (0x7bff, 65504.0)];
        for (bits, value) in known {
            assert!((half(bits) - value).abs() <= f32::EPSILON * value.abs(), "{bits:x}");
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }

    #[test]
    fn what_is_no_model_is_refused() {
        for bytes in [&b""[..], b"\x08\x07", b"not a model", b"\x3a\xff\xff\xff\xff\x7f", &[0xff; 64]] {
            assert!(Model::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
