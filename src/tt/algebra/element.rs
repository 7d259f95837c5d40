//! Entries of the tensor, one by one.

mod careful;
mod chain;

use chain::Chain;

use super::place::{Place, read};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::error::{Error, Result};
use crate::scalar::with_scalar;
use crate::shape::{index_in_list, index_in_tuple, to_i64};
use crate::tensor::train::TensorTrain;
use crate::trains::scaled::Scaled;

/// Entries that one task computes.
const CHUNK: usize = 256;

/// Returns an error for an index tuple outside the tensor.
pub(super) fn check_index(argument: &str, modes: &[usize], index: &[usize]) -> Result<()> {
    if index.len() != modes.len() {
        let problem = format!("has {} indices, the train has {} cores", index.len(), modes.len());
        return Err(Error::invalid(argument, problem));
    }
    index.iter().zip(modes).enumerate().try_for_each(|(k, (&i, &n))| index_in_list(argument, k, to_i64(i), n).map(drop))
}

/// The entry at `index`, however large or small.
///
/// # Errors
/// [`Error::InvalidArgument`] for an index that is outside its mode; as [`super::copy`].
pub fn element(at: &Place<'_>, x: &TensorTrain, index: &[usize]) -> Result<Scaled> {
    check_index("indices", x.shape().modes(), index)?;
    Ok(elements(at, x, index)?.first().copied().unwrap_or(Scaled::ZERO))
}

/// The entries at the index tuples of d numbers each, which follow one another in `indices`. Tuples with a common
/// beginning share that part of the work, in any order.
///
/// An entry has the same bits whichever others are requested.
///
/// # Errors
/// [`Error::InvalidArgument`] naming the first tuple that is outside the tensor; as [`super::copy`].
pub fn elements(at: &Place<'_>, x: &TensorTrain, indices: &[usize]) -> Result<Vec<Scaled>> {
    at.check()?;
    let modes = x.shape().modes();
    let d = modes.len();
    if !indices.len().is_multiple_of(d) {
        let problem = format!("has {} numbers, not a multiple of the {d} cores", indices.len());
        return Err(Error::invalid("indices", problem));
    }
    for (t, tuple) in indices.chunks_exact(d).enumerate() {
        for (k, (&i, &n)) in tuple.iter().zip(modes).enumerate() {
            index_in_tuple("indices", (t, k), to_i64(i), n)?;
        }
    }
    let x = read(at, "x", x)?;
    let count = indices.len() / d;
    let what = "order of index tuples";
    let mut order = alloc::with_capacity(what, count)?;
    order.extend(0..count);
    let tuple = |t: usize| &indices[t * d..(t + 1) * d];
    let by_tuple = |&a: &usize, &b: &usize| tuple(a).cmp(tuple(b)).then(a.cmp(&b));
    at.context.pool().run(|| rayon::slice::ParallelSliceMut::par_sort_unstable_by(order.as_mut_slice(), by_tuple));
    let mut sorted = alloc::filled("entries", count, Scaled::ZERO)?;
    with_scalar!(x.dtype(), "x", T => {
        let cores = x.cores::<T>("x")?;
        at.context.pool().run(|| {
            sorted.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).try_for_each(|(out, order)| {
                at.cancel.check()?;
                let mut chain = Chain::new(&cores)?;
                for (value, &t) in out.iter_mut().zip(order) {
                    *value = chain.entry(tuple(t))?;
                }
                Ok(())
            })
        })
    })?;
    let mut values = alloc::filled("entries", count, Scaled::ZERO)?;
    for (&t, value) in order.iter().zip(&sorted) {
        values[t] = *value;
    }
    Ok(values)
}
