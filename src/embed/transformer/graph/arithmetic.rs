//! What is done to numbers one by one, in two values that are made alike, and to rows of them.
//!
//! Owns the loops that a model spends its time in beside the matrix product: straight ones over slices.

use ndarray::{ArcArray, Array, Axis, Dimension, Ix2, IxDyn};

use super::volume;
use crate::embed::transformer::unfit;
use crate::error::Result;

pub type Tensor<T> = ArcArray<T, IxDyn>;

/// The shape that two shapes have in common, by ONNX's rules.
pub fn common(a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let axes = a.len().max(b.len());
    let of = |shape: &[usize], at: usize| if at + shape.len() < axes { 1 } else { shape[at + shape.len() - axes] };
    let shape = (0..axes).map(|at| match (of(a, at), of(b, at)) {
        (1, other) | (other, 1) => Ok(other),
        (one, other) if one == other => Ok(one),
        _ => Err(unfit("shapes do not fit together")),
    });
    let shape = shape.collect::<Result<Vec<_>>>()?;
    volume(&shape)?;
    Ok(shape)
}

/// The values in a row, without a copy where nobody else has them.
pub fn owned<T: Clone>(tensor: Tensor<T>) -> (Vec<usize>, Vec<T>) {
    let shape = tensor.shape().to_vec();
    if !tensor.is_standard_layout() {
        return (shape, tensor.iter().cloned().collect());
    }
    let volume = tensor.len();
    let (values, offset) = tensor.into_owned().into_raw_vec_and_offset();
    let offset = offset.unwrap_or_default();
    if offset == 0 && values.len() == volume {
        (shape, values)
    } else {
        (shape, values[offset..offset + volume].to_vec())
    }
}

pub fn tensor<T: Clone>(shape: &[usize], values: Vec<T>) -> Result<Tensor<T>> {
    ArcArray::from_shape_vec(IxDyn(shape), values).map_err(|_| unfit("shapes do not fit together"))
}

/// Each number by itself.
pub fn each<T: Clone>(values: Tensor<T>, work: impl Fn(&mut [T])) -> Result<Tensor<T>> {
    let (shape, mut values) = owned(values);
    work(&mut values);
    tensor(&shape, values)
}

/// Two values, number by number.
pub fn both<T: Copy, U: Copy>(a: &Tensor<T>, b: &Tensor<T>, work: impl Fn(T, T) -> U) -> Result<Tensor<U>> {
    let shape = common(a.shape(), b.shape())?;
    let (a, b) = (a.as_standard_layout(), b.as_standard_layout());
    let (one, other) = (a.as_slice().unwrap_or_default(), b.as_slice().unwrap_or_default());
    let values: Vec<U> = if a.shape() == b.shape() {
        one.iter().zip(other).map(|(&a, &b)| work(a, b)).collect()
    } else if b.len() == 1 && a.shape() == shape {
        one.iter().map(|&a| work(a, other[0])).collect()
    } else if is_tail(b.shape(), &shape) && a.shape() == shape && !other.is_empty() {
        one.chunks(other.len()).flat_map(|row| row.iter().zip(other).map(|(&a, &b)| work(a, b))).collect()
    } else {
        let fit = || unfit("shapes do not fit together");
        let a = a.broadcast(IxDyn(&shape)).ok_or_else(fit)?;
        let b = b.broadcast(IxDyn(&shape)).ok_or_else(fit)?;
        a.iter().zip(b.iter()).map(|(&a, &b)| work(a, b)).collect()
    };
    tensor(&shape, values)
}

/// Floats likewise, in the place of the first where it can be.
pub fn floats(a: Tensor<f32>, b: &Tensor<f32>, work: impl Fn(f32, f32) -> f32) -> Result<Tensor<f32>> {
    let fits = common(a.shape(), b.shape())? == a.shape();
    let b = b.as_standard_layout();
    let alike = a.shape() == b.shape();
    if !fits || b.is_empty() || !(alike || b.len() == 1 || is_tail(b.shape(), a.shape())) {
        return both(&a, &b.into_shared(), work);
    }
    let other = b.as_slice().unwrap_or_default();
    each(a, |values| match other {
        [one] => values.iter_mut().for_each(|value| *value = work(*value, *one)),
        _ => {
            for row in values.chunks_mut(other.len()) {
                row.iter_mut().zip(other).for_each(|(value, &other)| *value = work(*value, other));
            }
        }
    })
}

/// Whether a shape is the last axes of another, ones before them aside.
fn is_tail(tail: &[usize], shape: &[usize]) -> bool {
    let bare = &tail[tail.iter().take_while(|&&axis| axis == 1).count()..];
    shape.ends_with(bare)
}

/// e to the power of each; nearer than a millionth.
pub fn exp(value: f32) -> f32 {
    // 2^n · 2^f, with 2^f by its first terms around 0: a loop of plain arithmetic, which the compiler can do four abreast.
    let value = value.clamp(-87.3, 88.0);
    let whole = (value * std::f32::consts::LOG2_E + 12_582_912.0) - 12_582_912.0;
    // The logarithm of 2 in two parts: the first has so few digits that its product is exact.
    let rest = (value - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let series = 1.0
        + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6.0 + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest / 720.0)))));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 254")]
    let power = f32::from_bits(((whole + 127.0) as u32) << 23);
    power * series
}

/// The error function, by Abramowitz and Stegun 7.1.26: off by less than 2e-7.
pub fn erf(value: f32) -> f32 {
    let size = value.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let series = t * (0.254_829_6 + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    (1.0 - series * exp(-size * size)).copysign(value)
}

pub fn tanh(value: f32) -> f32 {
    // Small values lose their digits in the difference of exponentials.
    if value.abs() < 0.01 { value } else { 1.0 - 2.0 / (exp(2.0 * value) + 1.0) }
}

/// Rows of the last axis to shares that add up to one.
pub fn softmax(row: &mut [f32]) {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if most == f32::NEG_INFINITY {
        return row.fill(0.0);
    }
    row.iter_mut().for_each(|value| *value = exp(*value - most));
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
}

/// Rows of the last axis to a mean of nothing and a spread of one.
pub fn normalise(row: &mut [f32], scale: &[f32], bias: Option<&[f32]>, epsilon: f32) {
    #[expect(clippy::cast_precision_loss, reason = "the width of a model")]
    let count = row.len() as f32;
    let mean = row.iter().sum::<f32>() / count;
    let spread = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / count;
    let by = 1.0 / (spread + epsilon).sqrt();
    for (at, (value, scale)) in row.iter_mut().zip(scale).enumerate() {
        *value = (*value - mean) * by * scale + bias.map_or(0.0, |bias| bias[at]);
    }
}

/// Row after row: the product of transposed matrices may come transposed.
fn in_order(matrix: &Array<f32, Ix2>) -> Vec<f32> {
    matrix.as_slice().map_or_else(|| matrix.iter().copied().collect(), <[f32]>::to_vec)
}

/// The product of matrices, of the last two axes; those before are alike or left out.
pub fn product(a: &Tensor<f32>, b: &Tensor<f32>) -> Result<Tensor<f32>> {
    let short = || unfit("a matrix product of what is no matrix");
    // A row or a column by itself is a matrix of one.
    let is_row = a.ndim() == 1;
    let is_column = b.ndim() == 1;
    let a = if is_row { a.clone().insert_axis(Axis(0)) } else { a.clone() };
    let b = if is_column { b.clone().insert_axis(Axis(1)) } else { b.clone() };
    let [.., rows, inner] = *a.shape() else { return Err(short()) };
    let [.., depth, columns] = *b.shape() else { return Err(short()) };
    if inner != depth {
        return Err(unfit("shapes do not fit together"));
    }
    let mut shape = common(&a.shape()[..a.ndim() - 2], &b.shape()[..b.ndim() - 2])?;
    let count = volume(&shape)?;
    shape.extend([rows, columns]);
    volume(&shape)?;
    let result = if b.ndim() == 2 {
        let flat = a.as_standard_layout();
        let flat = flat.view().into_shape_with_order((count * rows, inner)).map_err(|_| short())?;
        let b = b.view().into_dimensionality::<Ix2>().map_err(|_| short())?;
        in_order(&flat.dot(&b))
    } else {
        let batches = |tensor: &Tensor<f32>, last: [usize; 2]| -> Result<Vec<usize>> {
            let mut full = shape[..shape.len() - 2].to_vec();
            full.extend(last);
            tensor.broadcast(IxDyn(&full)).map(|_| full).ok_or_else(short)
        };
        let (full_a, full_b) = (batches(&a, [rows, inner])?, batches(&b, [inner, columns])?);
        let a = a.broadcast(IxDyn(&full_a)).ok_or_else(short)?;
        let b = b.broadcast(IxDyn(&full_b)).ok_or_else(short)?;
        let mut result = Vec::with_capacity(count * rows * columns);
        let lanes = |axes: usize| IxDyn(&shape[..axes]);
        for at in ndarray::indices(lanes(shape.len() - 2)) {
            let (mut a, mut b) = (a.view(), b.view());
            for axis in at.as_array_view() {
                a = a.index_axis_move(Axis(0), *axis);
                b = b.index_axis_move(Axis(0), *axis);
            }
            let a = a.into_dimensionality::<Ix2>().map_err(|_| short())?;
            let b = b.into_dimensionality::<Ix2>().map_err(|_| short())?;
            result.extend(in_order(&a.dot(&b)));
        }
        result
    };
    if is_row {
        shape.remove(shape.len() - 2);
    }
    if is_column {
        shape.pop();
    }
    tensor(&shape, result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_near_enough() {
        for step in -900_i16..=880 {
            let x = f32::from(step) / 10.0;
            let wanted = f64::from(x).exp();
            assert!((f64::from(exp(x)) / wanted - 1.0).abs() < 2e-6 || x < -87.0, "exp {x}");
            let wanted = f64::from(x / 20.0).tanh();
            assert!((f64::from(tanh(x / 20.0)) - wanted).abs() < 1e-6, "tanh {x}");
        }
        // From tables.
        for (x, wanted) in
            [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3), (-1.5, -0.966_105_1)]
        {
            assert!((erf(x) - wanted).abs() < 1e-6, "erf {x}");
        }
    }

    #[test]
    fn batches_of_matrices_are_multiplied_one_by_one() {
        let a = tensor(&[2, 1, 2, 3], (1..=12_u8).map(f32::from).collect()).unwrap();
        let b = tensor(&[3, 2], (1..=6_u8).map(f32::from).collect()).unwrap();
        let wanted = [22.0, 28.0, 49.0, 64.0, 76.0, 100.0, 103.0, 136.0];
        assert_eq!(product(&a, &b).unwrap().iter().copied().collect::<Vec<_>>(), wanted);
        let many = b.broadcast(IxDyn(&[2, 4, 3, 2])).unwrap().to_shared();
        let all = product(&a, &many).unwrap();
        assert_eq!(all.shape(), [2, 4, 2, 2]);
        assert_eq!(all.iter().copied().skip(12).take(4).collect::<Vec<_>>(), wanted[..4]);
        assert!(product(&a, &a).is_err());
    }
}
