//! What each kind of node does, by the definitions of ONNX.
//!
//! Owns the list of what is known. One row an operator; the work itself is in `arithmetic` and `shapes`.

use super::arithmetic::{self as math, Tensor, tensor};
use super::proto::{Attribute, Node};
use super::{Value, shapes};
use crate::embed::transformer::unfit;
use crate::error::{Error, Result};

/// A node with what flows into it.
pub struct Inputs<'n> {
    node: &'n Node,
    values: Vec<Option<Value>>,
    opset: i64,
}

/// Declares the operators with what they do, and the list of their names.
macro_rules! operators {
    ($($($name:literal)|+ => $work:expr;)*) => {
        pub const KNOWN: &[&str] = &[$($($name),+),*];

        /// Runs one node.
        pub fn run(mut inputs: Inputs) -> Result<Vec<Value>> {
            let node = inputs.node;
            match node.operator.as_str() {
                $($($name)|+ => {
                    let work: fn(&mut Inputs) -> Result<Vec<Value>> = $work;
                    work(&mut inputs)
                })*
                other => Err(unfit(format!("the operator {other:?} is not known here"))),
            }
        }
    };
}

operators! {
    "Identity" | "Dropout" => |i| i.value(0).map(one);
    "Constant" => constant;
    "ConstantOfShape" => constant_of_shape;
    "Shape" => shape;
    "Cast" => cast;
    "Add" => |i| i.binary(|a, b| a + b, i64::wrapping_add);
    "Sub" => |i| i.binary(|a, b| a - b, i64::wrapping_sub);
    "Mul" => |i| i.binary(|a, b| a * b, i64::wrapping_mul);
    "Div" => |i| i.binary(|a, b| a / b, |a, b| a.checked_div(b).unwrap_or_default());
    "Mod" => |i| i.binary(|a, b| a % b, |a, b| a.checked_rem_euclid(b).unwrap_or_default());
    "Pow" => pow;
    "Max" => |i| i.binary(f32::max, i64::max);
    "Min" => |i| i.binary(f32::min, i64::min);
    "Sqrt" => |i| i.unary(f32::sqrt);
    "Erf" => |i| i.unary(math::erf);
    "Exp" => |i| i.unary(math::exp);
    "Log" => |i| i.unary(f32::ln);
    "Sin" => |i| i.unary(f32::sin);
    "Cos" => |i| i.unary(f32::cos);
    "Tanh" => |i| i.unary(math::tanh);
    "Sigmoid" => |i| i.unary(|x| 1.0 / (1.0 + math::exp(-x)));
    "Relu" => |i| i.unary(|x| x.max(0.0));
    "Reciprocal" => |i| i.unary(|x| 1.0 / x);
    "Neg" => |i| match i.value(0)? {
        Value::Ints(values) => Ok(one(Value::Ints(math::each(values, |all| all.iter_mut().for_each(|x| *x = x.wrapping_neg()))?))),
        Value::Floats(values) => Ok(one(Value::Floats(math::each(values, |all| all.iter_mut().for_each(|x| *x = -*x))?))),
    };
    "Abs" => |i| i.unary(f32::abs);
    "Gelu" => gelu;
    "Clip" => clip;
    "Softmax" => softmax;
    "LayerNormalization" => layer_normalization;
    "ReduceMean" => |i| i.reduce(|row| row.mean().unwrap_or_default());
    "ReduceSum" => |i| i.reduce(|row| row.sum());
    "ReduceMax" => |i| i.reduce(|row| row.fold(f32::NEG_INFINITY, |a, &b| a.max(b)));
    "ReduceL2" => |i| i.reduce(|row| row.dot(&row).sqrt());
    "MatMul" => |i| Ok(one(Value::Floats(math::product(&i.floats(0)?, &i.floats(1)?)?)));
    "Gemm" => gemm;
    "Equal" => |i| i.compare(|a, b| a == b, |a, b| a == b);
    "Less" => |i| i.compare(|a, b| a < b, |a, b| a < b);
    "LessOrEqual" => |i| i.compare(|a, b| a <= b, |a, b| a <= b);
    "Greater" => |i| i.compare(|a, b| a > b, |a, b| a > b);
    "GreaterOrEqual" => |i| i.compare(|a, b| a >= b, |a, b| a >= b);
    "And" => |i| i.compare(|_, _| false, |a, b| a != 0 && b != 0);
    "Or" => |i| i.compare(|_, _| false, |a, b| a != 0 || b != 0);
    "Not" => |i| Ok(one(Value::Ints(math::each(i.ints(0)?, |all| all.iter_mut().for_each(|x| *x = i64::from(*x == 0)))?)));
    "IsNaN" => |i| {
        let values = i.floats(0)?;
        let found: Vec<i64> = values.iter().map(|x| i64::from(x.is_nan())).collect();
        Ok(one(Value::Ints(tensor(values.shape(), found)?)))
    };
    "Where" => choose;
    "Gather" => |i| {
        let (at, along) = (i.ints(1)?, i.int("axis", 0));
        i.moved(|v| shapes::gather(&v, &at, along), |v| shapes::gather(&v, &at, along))
    };
    "Reshape" => |i| {
        let (wanted, keeps) = (i.list(1)?, i.int("allowzero", 0) != 0);
        i.moved(|v| shapes::reshape(&v, &wanted, keeps), |v| shapes::reshape(&v, &wanted, keeps))
    };
    "Flatten" => |i| {
        let value = i.values.first().and_then(Option::as_ref).ok_or_else(missing)?;
        let at = usize::try_from(i.int("axis", 1)).unwrap_or(1).min(value.shape().len());
        let first: usize = value.shape()[..at].iter().product();
        let wanted = [i64::try_from(first).unwrap_or(i64::MAX), -1];
        i.moved(|v| shapes::reshape(&v, &wanted, true), |v| shapes::reshape(&v, &wanted, true))
    };
    "Transpose" => |i| {
        let order = i.ints_of("perm").map(<[i64]>::to_vec);
        i.moved(|v| shapes::transpose(v, order.as_deref()), |v| shapes::transpose(v, order.as_deref()))
    };
    "Unsqueeze" => |i| {
        let axes = i.axes()?.ok_or_else(missing)?;
        i.moved(|v| shapes::unsqueeze(v, &axes), |v| shapes::unsqueeze(v, &axes))
    };
    "Squeeze" => |i| {
        let axes = i.axes()?;
        i.moved(|v| shapes::squeeze(v, axes.as_deref()), |v| shapes::squeeze(v, axes.as_deref()))
    };
    "Expand" => |i| {
        let wanted = i.list(1)?;
        i.moved(|v| shapes::expand(&v, &wanted), |v| shapes::expand(&v, &wanted))
    };
    "Slice" => slice;
    "Concat" => concat;
    "Split" => split;
    "Range" => range;
    "CumSum" => cumulative;
}

fn one(value: Value) -> Vec<Value> {
    vec![value]
}

fn missing() -> Error {
    unfit("a node lacks an input")
}

impl<'n> Inputs<'n> {
    pub fn new(node: &'n Node, values: Vec<Option<Value>>, opset: i64) -> Self {
        Self { node, values, opset }
    }

    fn has(&self, at: usize) -> bool {
        self.values.get(at).is_some_and(Option::is_some)
    }

    /// Takes an input out.
    fn value(&mut self, at: usize) -> Result<Value> {
        self.values.get_mut(at).and_then(Option::take).ok_or_else(missing)
    }

    fn floats(&mut self, at: usize) -> Result<Tensor<f32>> {
        match self.value(at)? {
            Value::Floats(values) => Ok(values),
            Value::Ints(_) => Err(unfit("a node is given whole numbers")),
        }
    }

    fn ints(&mut self, at: usize) -> Result<Tensor<i64>> {
        match self.value(at)? {
            Value::Ints(values) => Ok(values),
            Value::Floats(_) => Err(unfit("a node is given numbers with fractions")),
        }
    }

    fn list(&mut self, at: usize) -> Result<Vec<i64>> {
        Ok(self.ints(at)?.iter().copied().collect())
    }

    fn int(&self, name: &str, default: i64) -> i64 {
        match self.node.attributes.get(name) {
            Some(Attribute::Int(number)) => *number,
            _ => default,
        }
    }

    fn float(&self, name: &str, default: f32) -> f32 {
        match self.node.attributes.get(name) {
            Some(Attribute::Float(number)) => *number,
            _ => default,
        }
    }

    fn ints_of(&self, name: &str) -> Option<&'n [i64]> {
        match self.node.attributes.get(name) {
            Some(Attribute::Ints(numbers)) => Some(numbers),
            _ => None,
        }
    }

    /// Axes are an attribute in old files, the second input in new ones.
    fn axes(&mut self) -> Result<Option<Vec<i64>>> {
        if let Some(axes) = self.ints_of("axes") {
            return Ok(Some(axes.to_vec()));
        }
        if self.has(1) { self.list(1).map(Some) } else { Ok(None) }
    }

    fn unary(&mut self, work: impl Fn(f32) -> f32) -> Result<Vec<Value>> {
        let values = self.floats(0)?;
        Ok(one(Value::Floats(math::each(values, |all| all.iter_mut().for_each(|x| *x = work(*x)))?)))
    }

    fn binary(&mut self, floats: fn(f32, f32) -> f32, ints: fn(i64, i64) -> i64) -> Result<Vec<Value>> {
        let value = match (self.value(0)?, self.value(1)?) {
            (Value::Floats(a), Value::Floats(b)) => Value::Floats(math::floats(a, &b, floats)?),
            (Value::Ints(a), Value::Ints(b)) => Value::Ints(math::both(&a, &b, ints)?),
            _ => return Err(unfit("a node is given numbers of two sorts")),
        };
        Ok(one(value))
    }

    fn compare(&mut self, floats: fn(f32, f32) -> bool, ints: fn(i64, i64) -> bool) -> Result<Vec<Value>> {
        let value = match (self.value(0)?, self.value(1)?) {
            (Value::Floats(a), Value::Floats(b)) => math::both(&a, &b, |a, b| i64::from(floats(a, b)))?,
            (Value::Ints(a), Value::Ints(b)) => math::both(&a, &b, |a, b| i64::from(ints(a, b)))?,
            _ => return Err(unfit("a node is given numbers of two sorts")),
        };
        Ok(one(Value::Ints(value)))
    }

    fn reduce(&mut self, work: fn(ndarray::ArrayView1<f32>) -> f32) -> Result<Vec<Value>> {
        let axes = self.axes()?;
        if axes.as_ref().is_some_and(Vec::is_empty) && self.int("noop_with_empty_axes", 0) != 0 {
            return self.value(0).map(one);
        }
        let axes = axes.filter(|axes| !axes.is_empty());
        let keeps = self.int("keepdims", 1) != 0;
        Ok(one(Value::Floats(shapes::reduce(&self.floats(0)?, axes.as_deref(), keeps, work)?)))
    }

    /// The first input moved about, of whichever sort it is.
    fn moved(
        &mut self,
        floats: impl FnOnce(Tensor<f32>) -> Result<Tensor<f32>>,
        ints: impl FnOnce(Tensor<i64>) -> Result<Tensor<i64>>,
    ) -> Result<Vec<Value>> {
        let value = match self.value(0)? {
            Value::Floats(values) => Value::Floats(floats(values)?),
            Value::Ints(values) => Value::Ints(ints(values)?),
        };
        Ok(one(value))
    }
}

fn constant(i: &mut Inputs) -> Result<Vec<Value>> {
    let attributes = &i.node.attributes;
    let value = match (attributes.get("value"), attributes.values().next()) {
        (Some(Attribute::Tensor(value)), _) => value.clone(),
        (_, Some(Attribute::Int(number))) => Value::Ints(tensor(&[], vec![*number])?),
        (_, Some(Attribute::Float(number))) => Value::Floats(tensor(&[], vec![*number])?),
        (_, Some(Attribute::Ints(numbers))) => Value::Ints(tensor(&[numbers.len()], numbers.clone())?),
        (_, Some(Attribute::Floats(numbers))) => Value::Floats(tensor(&[numbers.len()], numbers.clone())?),
        _ => return Err(unfit("a constant is of no sort that is known here")),
    };
    Ok(one(value))
}

fn constant_of_shape(i: &mut Inputs) -> Result<Vec<Value>> {
    let shape = i.list(0)?;
    let value = match i.node.attributes.get("value") {
        Some(Attribute::Tensor(Value::Ints(with))) => {
            Value::Ints(shapes::filled(&shape, with.first().copied().unwrap_or_default())?)
        }
        Some(Attribute::Tensor(Value::Floats(with))) => {
            Value::Floats(shapes::filled(&shape, with.first().copied().unwrap_or_default())?)
        }
        _ => Value::Floats(shapes::filled(&shape, 0.0)?),
    };
    Ok(one(value))
}

fn shape(i: &mut Inputs) -> Result<Vec<Value>> {
    let value = i.value(0)?;
    let axes = value.shape().len();
    let place = |number: i64| {
        let at = if number < 0 { number + i64::try_from(axes).unwrap_or(i64::MAX) } else { number };
        usize::try_from(at).unwrap_or(0).min(axes)
    };
    let (start, end) = (place(i.int("start", 0)), place(i.int("end", i64::MAX)));
    let part = &value.shape()[start.min(end)..end];
    let numbers: Vec<i64> = part.iter().map(|&axis| i64::try_from(axis).unwrap_or(i64::MAX)).collect();
    Ok(one(Value::Ints(tensor(&[numbers.len()], numbers)?)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a cast is what is asked for")]
fn cast(i: &mut Inputs) -> Result<Vec<Value>> {
    let to = i.int("to", 1);
    let value = match (i.value(0)?, to) {
        (Value::Floats(values), 1 | 10 | 11 | 16) => Value::Floats(values),
        (Value::Ints(values), 1 | 10 | 11 | 16) => Value::Floats(values.mapv(|x| x as f32).into_shared()),
        (Value::Floats(values), 9) => Value::Ints(values.mapv(|x| i64::from(x != 0.0)).into_shared()),
        (Value::Ints(values), 9) => Value::Ints(values.mapv(|x| i64::from(x != 0)).into_shared()),
        (Value::Floats(values), 6 | 7) => Value::Ints(values.mapv(|x| x as i64).into_shared()),
        (Value::Ints(values), 6 | 7) => Value::Ints(values),
        _ => return Err(unfit("a cast to a type that is not known here")),
    };
    Ok(one(value))
}

#[expect(clippy::cast_precision_loss, reason = "exponents are small")]
fn pow(i: &mut Inputs) -> Result<Vec<Value>> {
    let to = match i.value(1)? {
        Value::Floats(values) => values,
        Value::Ints(values) => values.mapv(|x| x as f32).into_shared(),
    };
    let base = i.floats(0)?;
    let is_square = to.len() == 1 && to.first().is_some_and(|&to| to == 2.0);
    let value = if is_square { math::floats(base, &to, |x, _| x * x)? } else { math::floats(base, &to, f32::powf)? };
    Ok(one(Value::Floats(value)))
}

fn gelu(i: &mut Inputs) -> Result<Vec<Value>> {
    let is_rough = matches!(i.node.attributes.get("approximate"), Some(Attribute::Text(text)) if text == "tanh");
    i.unary(if is_rough {
        |x: f32| 0.5 * x * (1.0 + math::tanh(0.797_884_6 * (x + 0.044_715 * x * x * x)))
    } else {
        |x: f32| 0.5 * x * (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2))
    })
}

fn clip(i: &mut Inputs) -> Result<Vec<Value>> {
    let first = |tensor: Tensor<f32>| tensor.first().copied();
    let least = if i.has(1) { first(i.floats(1)?) } else { None }.unwrap_or_else(|| i.float("min", f32::MIN));
    let most = if i.has(2) { first(i.floats(2)?) } else { None }.unwrap_or_else(|| i.float("max", f32::MAX));
    i.unary(move |x| x.max(least).min(most))
}

fn softmax(i: &mut Inputs) -> Result<Vec<Value>> {
    let values = i.floats(0)?;
    let axes = values.ndim();
    let along = shapes::axis(i.int("axis", if i.opset < 13 { 1 } else { -1 }), axes)?;
    if along + 1 != axes {
        return Err(unfit("shares along another axis than the last, which is not known here"));
    }
    let width = values.shape()[along].max(1);
    Ok(one(Value::Floats(math::each(values, |all| all.chunks_mut(width).for_each(math::softmax))?)))
}

fn layer_normalization(i: &mut Inputs) -> Result<Vec<Value>> {
    let values = i.floats(0)?;
    let along = shapes::axis(i.int("axis", -1), values.ndim())?;
    let width: usize = values.shape()[along..].iter().product();
    let scale = i.floats(1)?;
    let bias = if i.has(2) { Some(i.floats(2)?) } else { None };
    let (_, scale) = math::owned(scale);
    let bias = bias.map(|bias| math::owned(bias).1);
    if scale.len() != width || bias.as_ref().is_some_and(|bias| bias.len() != width) {
        return Err(unfit("shapes do not fit together"));
    }
    let epsilon = i.float("epsilon", 1e-5);
    let rows = |all: &mut [f32]| {
        all.chunks_mut(width.max(1)).for_each(|row| math::normalise(row, &scale, bias.as_deref(), epsilon));
    };
    Ok(one(Value::Floats(math::each(values, rows)?)))
}

fn gemm(i: &mut Inputs) -> Result<Vec<Value>> {
    let turned = |tensor: Tensor<f32>, turn: i64| if turn != 0 { shapes::transpose(tensor, None) } else { Ok(tensor) };
    let a = turned(i.floats(0)?, i.int("transA", 0))?;
    let b = turned(i.floats(1)?, i.int("transB", 0))?;
    let alpha = i.float("alpha", 1.0);
    let mut product = math::product(&a, &b)?;
    if alpha != 1.0 {
        product = math::each(product, |all| all.iter_mut().for_each(|x| *x *= alpha))?;
    }
    if i.has(2) {
        let beta = i.float("beta", 1.0);
        product = math::floats(product, &i.floats(2)?, |x, c| x + c)?;
        if beta != 1.0 {
            return Err(unfit("a sum with a weight, which is not known here"));
        }
    }
    Ok(one(Value::Floats(product)))
}

fn choose(i: &mut Inputs) -> Result<Vec<Value>> {
    fn chosen<T: Copy>(which: &Tensor<i64>, a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
        let shape = math::common(&math::common(which.shape(), a.shape())?, b.shape())?;
        let fit = || unfit("shapes do not fit together");
        let dim = || ndarray::IxDyn(&shape);
        let which = which.broadcast(dim()).ok_or_else(fit)?;
        let (a, b) = (a.broadcast(dim()).ok_or_else(fit)?, b.broadcast(dim()).ok_or_else(fit)?);
        let pairs = a.iter().zip(b.iter());
        tensor(&shape, which.iter().zip(pairs).map(|(&which, (&a, &b))| if which != 0 { a } else { b }).collect())
    }
    let which = i.ints(0)?;
    let value = match (i.value(1)?, i.value(2)?) {
        (Value::Floats(a), Value::Floats(b)) => Value::Floats(chosen(&which, &a, &b)?),
        (Value::Ints(a), Value::Ints(b)) => Value::Ints(chosen(&which, &a, &b)?),
        _ => return Err(unfit("a node is given numbers of two sorts")),
    };
    Ok(one(value))
}

fn slice(i: &mut Inputs) -> Result<Vec<Value>> {
    // Places are attributes in old files, inputs in new ones.
    let (starts, ends, axes, steps);
    if let (Some(from), Some(to)) = (i.ints_of("starts"), i.ints_of("ends")) {
        (starts, ends, axes, steps) = (from.to_vec(), to.to_vec(), i.ints_of("axes").map(<[i64]>::to_vec), None);
    } else {
        (starts, ends) = (i.list(1)?, i.list(2)?);
        axes = if i.has(3) { Some(i.list(3)?) } else { None };
        steps = if i.has(4) { Some(i.list(4)?) } else { None };
    }
    let (axes, steps) = (axes.as_deref(), steps.as_deref());
    i.moved(|v| shapes::slice(v, &starts, &ends, axes, steps), |v| shapes::slice(v, &starts, &ends, axes, steps))
}

fn concat(i: &mut Inputs) -> Result<Vec<Value>> {
    let along = i.int("axis", 0);
    let (mut floats, mut ints) = (Vec::new(), Vec::new());
    for at in 0..i.values.len() {
        match i.value(at)? {
            Value::Floats(values) => floats.push(values),
            Value::Ints(values) => ints.push(values),
        }
    }
    let value = match (floats.is_empty(), ints.is_empty()) {
        (false, true) => Value::Floats(shapes::concatenate(&floats, along)?),
        (true, false) => Value::Ints(shapes::concatenate(&ints, along)?),
        _ => return Err(unfit("a node is given numbers of two sorts")),
    };
    Ok(one(value))
}

fn split(i: &mut Inputs) -> Result<Vec<Value>> {
    let sizes = match i.ints_of("split") {
        Some(sizes) => Some(sizes.to_vec()),
        None if i.has(1) => Some(i.list(1)?),
        None => None,
    };
    let (along, count) = (i.int("axis", 0), i.node.outputs.len());
    Ok(match i.value(0)? {
        Value::Floats(values) => {
            shapes::split(&values, along, sizes.as_deref(), count)?.into_iter().map(Value::Floats).collect()
        }
        Value::Ints(values) => {
            shapes::split(&values, along, sizes.as_deref(), count)?.into_iter().map(Value::Ints).collect()
        }
    })
}

fn range(i: &mut Inputs) -> Result<Vec<Value>> {
    let mut number = |at: usize| -> Result<i64> { i.ints(at)?.first().copied().ok_or_else(missing) };
    let (start, end, step) = (number(0)?, number(1)?, number(2)?);
    let count = if step == 0 { None } else { end.checked_sub(start).and_then(|all| all.checked_div(step)) };
    let count =
        count.and_then(|count| usize::try_from(count.max(0)).ok()).ok_or_else(|| unfit("a range without end"))?;
    super::volume(&[count.saturating_add(1)])?;
    let numbers: Vec<i64> = (0..)
        .map(|at: i64| start.wrapping_add(at.wrapping_mul(step)))
        .take_while(|&number| if step > 0 { number < end } else { number > end })
        .take(count + 1)
        .collect();
    Ok(one(Value::Ints(tensor(&[numbers.len()], numbers)?)))
}

fn cumulative(i: &mut Inputs) -> Result<Vec<Value>> {
    if i.int("exclusive", 0) != 0 || i.int("reverse", 0) != 0 {
        return Err(unfit("sums from the end, which are not known here"));
    }
    let mut values = i.ints(0)?.to_owned();
    let along = i.ints(1)?.first().copied().ok_or_else(missing)?;
    let along = ndarray::Axis(shapes::axis(along, values.ndim())?);
    values.accumulate_axis_inplace(along, |&before, value| *value = value.wrapping_add(before));
    Ok(one(Value::Ints(values.into_shared())))
}
