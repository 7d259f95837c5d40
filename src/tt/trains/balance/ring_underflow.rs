//! Finds rings in which entries that contribute to the result underflow although the bonds are balanced.
//!
//! A value of a bond may lead only to zeros for one value of the boundary bond and contribute for another. Then no
//! powers of two at the bonds bring the contributing entries near the largest ones, and an environment with one
//! exponent loses them.

use std::sync::Arc;

use super::norms::{NONE, Parts};
use super::powers::WHAT;
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::train::{Cores, Shape, TensorTrain};

/// Largest allowed exponent difference between entries at one bond. An environment of two trains squares the entries,
/// so this is below half of the type's range.
pub(super) fn half_range(dtype: DType) -> f64 {
    if dtype.is_single() { 32.0 } else { 400.0 }
}

/// Exponent difference from which on a term no longer changes a sum.
pub(super) fn digits(dtype: DType) -> f64 {
    if dtype.is_single() { 26.0 } else { 56.0 }
}

/// Whether a host ring has, at some bond, products that contribute to the result and are more than [`half_range`] below
/// the largest product at that bond. A contraction passes through the cores `repeat` times. Returns `false` for an open
/// train, and for a train with a number that is not finite. O(d r^3) operations, and one pass over the entries.
///
/// # Errors
/// Out of memory.
pub(super) fn ring_underflows(context: &Arc<Context>, train: &TensorTrain, repeat: usize) -> Result<bool> {
    if train.is_device() || !train.shape().is_cyclic() {
        return Ok(false);
    }
    with_scalar!(train.dtype(), "x", T => search::<T>(context, train, repeat))
}

/// Number of passes through a ring of `cores` cores that a search needs, at most `repeat`. After twice as many cores as
/// the rank, a path between any two values of a bond has been found if there is one.
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
    let Some(parts) = Parts::new(context, cores, cell, None, context.cancel_watch())? else { return Ok(false) };
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
    has_small_terms(&list, &Shape::new("x", &modes, &ranks)?, T::DTYPE)
}

/// For one value of the boundary bond: at each value of each bond, the logarithm of the largest product from that
/// boundary value (`forward`), and of the largest product back to it (`backward`).
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

/// Whether terms that contribute to the trace contain products far below the largest ones of their bond. `sizes` are
/// logarithms of the entries of each core, left bond fastest.
fn has_small_terms(sizes: &[&[f64]], shape: &Shape, dtype: DType) -> Result<bool> {
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
