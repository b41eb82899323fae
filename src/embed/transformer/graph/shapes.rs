//! What moves numbers about: cut, put together, turned, given another shape.

use ndarray::{Array, Axis, IxDyn, Slice};

use super::arithmetic::{Tensor, common, tensor};
use super::volume;
use crate::embed::transformer::unfit;
use crate::error::{Error, Result};

fn misfit<E>(_: E) -> Error {
    unfit("shapes do not fit together")
}

/// An axis as ONNX counts: negative from the end.
pub fn axis(number: i64, axes: usize) -> Result<usize> {
    let axes_i = i64::try_from(axes).map_err(misfit)?;
    let at = if number < 0 { number + axes_i } else { number };
    usize::try_from(at).ok().filter(|&at| at < axes).ok_or_else(|| unfit("there is no such axis"))
}

/// A place in `length`, negative from the end, moved into it.
fn within(number: i64, length: usize) -> usize {
    let length_i = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if number < 0 { number.saturating_add(length_i) } else { number };
    usize::try_from(at.clamp(0, length_i)).unwrap_or(length)
}

pub fn reshape<T: Clone>(value: &Tensor<T>, wanted: &[i64], keeps_zero: bool) -> Result<Tensor<T>> {
    let mut shape = Vec::with_capacity(wanted.len());
    let mut open = None;
    for (at, &axis) in wanted.iter().enumerate() {
        shape.push(match axis {
            -1 if open.is_none() => {
                open = Some(at);
                1
            }
            0 if !keeps_zero => *value.shape().get(at).ok_or_else(|| misfit(()))?,
            axis => usize::try_from(axis).map_err(misfit)?,
        });
    }
    if let Some(at) = open {
        let rest = volume(&shape)?;
        shape[at] = value.len().checked_div(rest).unwrap_or(0);
    }
    if volume(&shape)? != value.len() {
        return Err(misfit(()));
    }
    let flat = if value.is_standard_layout() { value.clone() } else { value.as_standard_layout().into_shared() };
    flat.into_shape_with_order(IxDyn(&shape)).map_err(misfit)
}

pub fn transpose<T: Clone>(value: Tensor<T>, order: Option<&[i64]>) -> Result<Tensor<T>> {
    let axes = value.ndim();
    let order: Vec<usize> = match order {
        None => (0..axes).rev().collect(),
        Some(order) => order.iter().map(|&number| axis(number, axes)).collect::<Result<_>>()?,
    };
    let mut seen = vec![false; axes];
    order.iter().for_each(|&at| seen[at] = true);
    if order.len() != axes || seen.contains(&false) {
        return Err(misfit(()));
    }
    Ok(value.permuted_axes(IxDyn(&order)))
}

pub fn unsqueeze<T: Clone>(mut value: Tensor<T>, axes: &[i64]) -> Result<Tensor<T>> {
    let total = value.ndim() + axes.len();
    let mut places = axes.iter().map(|&number| axis(number, total)).collect::<Result<Vec<_>>>()?;
    places.sort_unstable();
    for place in places {
        if place > value.ndim() {
            return Err(misfit(()));
        }
        value = value.insert_axis(Axis(place));
    }
    Ok(value)
}

pub fn squeeze<T: Clone>(mut value: Tensor<T>, axes: Option<&[i64]>) -> Result<Tensor<T>> {
    let mut places: Vec<usize> = match axes {
        Some(axes) => axes.iter().map(|&number| axis(number, value.ndim())).collect::<Result<_>>()?,
        None => (0..value.ndim()).filter(|&at| value.shape()[at] == 1).collect(),
    };
    places.sort_unstable();
    places.dedup();
    for place in places.into_iter().rev() {
        if value.shape()[place] != 1 {
            return Err(misfit(()));
        }
        value = value.index_axis_move(Axis(place), 0);
    }
    Ok(value)
}

/// Parts along one axis, by whole numbers that may count from the end.
pub fn gather<T: Clone>(value: &Tensor<T>, at: &Tensor<i64>, along: i64) -> Result<Tensor<T>> {
    let along = axis(along, value.ndim())?;
    let length = value.shape()[along];
    let places = at.iter().map(|&number| {
        let place = if number < 0 { number.saturating_add(i64::try_from(length).unwrap_or(i64::MAX)) } else { number };
        usize::try_from(place)
            .ok()
            .filter(|&place| place < length)
            .ok_or_else(|| unfit("it looks beyond a table's end"))
    });
    let places = places.collect::<Result<Vec<_>>>()?;
    let mut shape = value.shape()[..along].to_vec();
    shape.extend(at.shape());
    shape.extend(&value.shape()[along + 1..]);
    let mut values = Vec::with_capacity(volume(&shape)?);
    let standard = value.as_standard_layout();
    let slice = standard.as_slice().unwrap_or_default();
    let row: usize = value.shape()[along + 1..].iter().product();
    for block in slice.chunks_exact((row * length).max(1)) {
        for &place in &places {
            values.extend_from_slice(&block[place * row..(place + 1) * row]);
        }
    }
    tensor(&shape, values)
}

pub fn slice<T: Clone>(
    mut value: Tensor<T>,
    starts: &[i64],
    ends: &[i64],
    axes: Option<&[i64]>,
    steps: Option<&[i64]>,
) -> Result<Tensor<T>> {
    for (number, (&start, &end)) in starts.iter().zip(ends).enumerate() {
        let along = match axes {
            Some(axes) => axis(*axes.get(number).ok_or_else(|| misfit(()))?, value.ndim())?,
            None => axis(i64::try_from(number).map_err(misfit)?, value.ndim())?,
        };
        let step = steps.and_then(|steps| steps.get(number)).copied().unwrap_or(1);
        if step < 1 {
            return Err(unfit("it cuts backwards, which is not known here"));
        }
        let length = value.shape()[along];
        let (start, end) = (within(start, length), within(end, length));
        let step = isize::try_from(step).map_err(misfit)?;
        value
            .slice_axis_inplace(Axis(along), Slice::new(start.cast_signed(), Some(end.max(start).cast_signed()), step));
    }
    Ok(value)
}

pub fn concatenate<T: Clone>(values: &[Tensor<T>], along: i64) -> Result<Tensor<T>> {
    let first = values.first().ok_or_else(|| misfit(()))?;
    let along = axis(along, first.ndim())?;
    let mut total = first.shape().to_vec();
    total[along] = 0;
    for value in values {
        total[along] = total[along].saturating_add(*value.shape().get(along).ok_or_else(|| misfit(()))?);
    }
    volume(&total)?;
    let views: Vec<_> = values.iter().map(|value| value.view()).collect();
    Ok(ndarray::concatenate(Axis(along), &views).map_err(misfit)?.into_shared())
}

pub fn split<T: Clone>(value: &Tensor<T>, along: i64, sizes: Option<&[i64]>, count: usize) -> Result<Vec<Tensor<T>>> {
    let along = axis(along, value.ndim())?;
    let length = value.shape()[along];
    let sizes: Vec<usize> = match sizes {
        Some(sizes) => sizes.iter().map(|&size| usize::try_from(size).map_err(misfit)).collect::<Result<_>>()?,
        None => {
            let each = length.div_ceil(count.max(1));
            (0..count).map(|part| each.min(length.saturating_sub(part * each))).collect()
        }
    };
    if sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size)) != Some(length) {
        return Err(misfit(()));
    }
    let mut start = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for size in sizes {
        let mut part = value.clone();
        part.slice_axis_inplace(Axis(along), Slice::from(start..start + size));
        start += size;
        parts.push(part);
    }
    Ok(parts)
}

pub fn expand<T: Clone>(value: &Tensor<T>, wanted: &[i64]) -> Result<Tensor<T>> {
    let wanted = wanted.iter().map(|&axis| usize::try_from(axis).map_err(misfit)).collect::<Result<Vec<_>>>()?;
    let shape = common(value.shape(), &wanted)?;
    let spread = value.broadcast(IxDyn(&shape)).ok_or_else(|| misfit(()))?;
    Ok(spread.to_owned().into_shared())
}

pub fn filled<T: Clone>(shape: &[i64], with: T) -> Result<Tensor<T>> {
    let shape = shape.iter().map(|&axis| usize::try_from(axis).map_err(misfit)).collect::<Result<Vec<_>>>()?;
    volume(&shape)?;
    Ok(Array::from_elem(IxDyn(&shape), with).into_shared())
}

/// Axes brought to one number each, by what `work` makes of the numbers along them.
pub fn reduce(
    value: &Tensor<f32>,
    axes: Option<&[i64]>,
    keeps: bool,
    work: impl Fn(ndarray::ArrayView1<f32>) -> f32,
) -> Result<Tensor<f32>> {
    let count = value.ndim();
    let mut axes: Vec<usize> = match axes {
        Some(axes) => axes.iter().map(|&number| axis(number, count)).collect::<Result<_>>()?,
        None => (0..count).collect(),
    };
    axes.sort_unstable();
    axes.dedup();
    // All of them become the last axis, which is one then.
    let kept: Vec<usize> = (0..count).filter(|at| !axes.contains(at)).collect();
    let order: Vec<usize> = kept.iter().chain(&axes).copied().collect();
    let turned = value.clone().permuted_axes(IxDyn(&order));
    let turned = turned.as_standard_layout();
    let slice = turned.as_slice().unwrap_or_default();
    let along: usize = axes.iter().map(|&at| value.shape()[at]).product();
    let values: Vec<f32> = slice.chunks_exact(along.max(1)).map(|row| work(ndarray::ArrayView1::from(row))).collect();
    let of = |at: usize| if axes.contains(&at) { 1 } else { value.shape()[at] };
    let shape: Vec<usize> =
        if keeps { (0..count).map(of).collect() } else { kept.iter().map(|&at| value.shape()[at]).collect() };
    tensor(&shape, values)
}
