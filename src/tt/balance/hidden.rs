//! Finds rings whose balanced numbers still hide numbers that count.
//!
//! A value of a bond may lead to zeros for one value of the boundary bond and not for another. No powers of two at the bonds
//! then bring the numbers that count near the others, which an environment of one exponent loses.

use std::sync::Arc;

use super::norms::{NONE, Parts};
use super::powers::WHAT;
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::train::{Cores, Shape, TensorTrain};

/// How far below the largest number of a bond another may lie, as a power of two: an environment of two trains squares it.
pub(super) fn half_range(dtype: DType) -> f64 {
    if dtype.is_single() { 32.0 } else { 400.0 }
}

/// How far below the sum a part of it may lie without counting.
pub(super) fn digits(dtype: DType) -> f64 {
    if dtype.is_single() { 26.0 } else { 56.0 }
}

/// Whether a ring on the host, whose cores are gone through `repeat` times, has numbers that count and are far below others
/// at the same bond; `false` for an open train, and one with a number that is not finite. O(d r^3) operations beside one
/// pass over the numbers.
///
/// # Errors
/// Out of memory.
pub(super) fn is_hiding(context: &Arc<Context>, train: &TensorTrain, repeat: usize) -> Result<bool> {
    if train.is_device() || !train.shape().is_cyclic() {
        return Ok(false);
    }
    with_scalar!(train.dtype(), "x", T => search::<T>(context, train, repeat))
}

/// How often the cores of a ring of `cores` cores of these ranks are gone through at most: after as many cores as twice the
/// rank every way between two values has been gone.
pub(super) fn turns(repeat: usize, cores: usize, rank: usize) -> usize {
    repeat.min((2 * rank + 2).div_ceil(cores))
}

fn search<T: Scalar>(context: &Arc<Context>, train: &TensorTrain, repeat: usize) -> Result<bool> {
    let (cores, shape) = (train.cores::<T>("x")?, train.shape());
    let (single, one);
    let (cores, cell, times) = if train.is_uniform() {
        let [r, n, _] = shape.core(0);
        one = Shape::new("x", &[n], &[r, r])?;
        let mut list = alloc::with_capacity(WHAT, 1)?;
        list.push(cores.core(0));
        single = Cores::new(&one, list);
        (&single, &one, repeat.saturating_mul(shape.len()))
    } else {
        (&cores, shape, repeat)
    };
    let Some(parts) = Parts::new(context, cores, cell, None)? else { return Ok(false) };
    let sizes = parts.into_sizes();
    let times = turns(times, cell.len(), cell.max_rank());
    let count = times * cell.len();
    let mut list: Vec<&[f64]> = alloc::with_capacity(WHAT, count)?;
    let (mut modes, mut ranks) = (alloc::with_capacity(WHAT, count)?, alloc::with_capacity(WHAT, count + 1)?);
    ranks.push(cell.ranks()[0]);
    for k in (0..count).map(|k| k % cell.len()) {
        let [_, n, s] = cell.core(k);
        list.push(&sizes[k]);
        modes.push(n);
        ranks.push(s);
    }
    hides(&list, &Shape::new("x", &modes, &ranks)?, T::DTYPE)
}

/// The largest product of sizes from one value of the first bond to each value of every bond, or back to it.
struct Reach {
    forward: Vec<Vec<f64>>,
    backward: Vec<Vec<f64>>,
}

impl Reach {
    fn new(shape: &Shape) -> Result<Self> {
        let empty = || -> Result<Vec<Vec<f64>>> {
            let mut list = alloc::with_capacity(WHAT, shape.len() + 1)?;
            for rank in shape.ranks() {
                list.push(alloc::filled(WHAT, *rank, NONE)?);
            }
            Ok(list)
        };
        Ok(Self { forward: empty()?, backward: empty()? })
    }

    fn follow(&mut self, sizes: &[&[f64]], boundary: usize) {
        let d = sizes.len();
        for (list, end) in [(&mut self.forward, 0), (&mut self.backward, d)] {
            list[end].fill(NONE);
            list[end][boundary] = 0.0;
        }
        for (k, core) in sizes.iter().enumerate() {
            let (before, after) = self.forward.split_at_mut(k + 1);
            let from = &before[k];
            for (to, column) in after[0].iter_mut().zip(core.chunks_exact(from.len())) {
                *to = column.iter().zip(from).fold(NONE, |most, (size, from)| most.max(size + from));
            }
        }
        for (k, core) in sizes.iter().enumerate().rev() {
            let (before, after) = self.backward.split_at_mut(k + 1);
            let to = &mut before[k];
            to.fill(NONE);
            for (from, column) in after[0].iter().zip(core.chunks_exact(to.len())) {
                to.iter_mut().zip(column).for_each(|(to, size)| *to = to.max(size + from));
            }
        }
    }
}

/// Whether parts of the trace that count go through numbers far below others. Sizes are logarithms, first bond fastest.
fn hides(sizes: &[&[f64]], shape: &Shape, dtype: DType) -> Result<bool> {
    let (d, ring) = (sizes.len(), shape.ranks()[0]);
    let mut reach = Reach::new(shape)?;
    let mut tops = alloc::filled(WHAT, d + 1, [NONE; 2])?;
    let mut total = NONE;
    let largest = |list: &[f64]| list.iter().copied().fold(NONE, f64::max);
    for boundary in 0..ring {
        reach.follow(sizes, boundary);
        total = total.max(reach.forward[d][boundary]);
        for (k, top) in tops.iter_mut().enumerate() {
            *top = [top[0].max(largest(&reach.forward[k])), top[1].max(largest(&reach.backward[k]))];
        }
    }
    let (half, digits) = (half_range(dtype), digits(dtype));
    for boundary in 0..ring {
        reach.follow(sizes, boundary);
        for (k, top) in tops.iter().enumerate() {
            let mut both = reach.forward[k].iter().zip(&reach.backward[k]);
            if both.any(|(f, b)| f + b >= total - digits && (f + half < top[0] || b + half < top[1])) {
                return Ok(total > NONE);
            }
        }
    }
    Ok(false)
}
