//! Bonds whose values differ by many orders of magnitude are brought to one size before trains are contracted.
//!
//! A train does not change where value b of a bond is multiplied by a number in one core and divided by it in the next. An
//! environment holds products of two such numbers: with 2^40 and 2^-40 at one bond its entries are 2^160 apart, and what is
//! small in it vanishes in single precision, though the next core makes it large again. Powers of two that are moved from
//! core to core make the columns before a bond as large as the rows behind it, exactly.
//!
//! The copy of such a train is memory beside the workspace of a plan, of the context's budget.

use std::sync::Arc;

use super::scaled::{exponent_of, scale};
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Cores, Shape, TensorTrain};

const WHAT: &str = "copy of a tensor train with balanced bonds";

/// Powers of two by which the values of a bond may differ. Environments of two trains differ by four times as much.
fn limit(dtype: DType) -> i64 {
    if matches!(dtype, DType::F32 | DType::CF32) { 12 } else { 120 }
}

/// A train with the same tensor whose bonds are balanced; `None` where they are, and for a train that lies on a device or
/// has one core in many places.
///
/// # Errors
/// Out of memory.
pub(super) fn balanced(context: &Arc<Context>, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    let (one, ring) = (train.shape().len() == 1, train.shape().is_cyclic());
    if train.is_device() || (one && !ring) || (!one && train.is_uniform()) {
        return Ok(None);
    }
    with_scalar!(train.dtype(), "x", T => copy_of::<T>(context, train))
}

/// Balanced copies of two trains, of which the second may be the first.
pub(super) struct Balanced {
    x: Option<TensorTrain>,
    y: Option<TensorTrain>,
    same: bool,
}

impl Balanced {
    /// Copies where they are needed.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn new(context: &Arc<Context>, x: &TensorTrain, y: &TensorTrain) -> Result<Self> {
        let same = x.is_same(y);
        let y = if same { None } else { balanced(context, y)? };
        Ok(Self { x: balanced(context, x)?, y, same })
    }

    /// The trains to contract in place of `x` and `y`.
    pub(super) fn of<'a>(&'a self, x: &'a TensorTrain, y: &'a TensorTrain) -> (&'a TensorTrain, &'a TensorTrain) {
        let first = self.x.as_ref().unwrap_or(x);
        let second = match &self.y {
            Some(y) => y,
            None if self.same && self.x.is_some() => first,
            None => y,
        };
        (first, second)
    }
}

/// Balanced copies of the trains of a list where they are needed; nothing at all where none is.
///
/// # Errors
/// Out of memory.
pub(super) fn balanced_all(context: &Arc<Context>, trains: &[&TensorTrain]) -> Result<Vec<Option<TensorTrain>>> {
    let mut copies = Vec::new();
    for (i, train) in trains.iter().enumerate() {
        let Some(copy) = balanced(context, train)? else { continue };
        if copies.is_empty() {
            copies = alloc::with_capacity(WHAT, trains.len())?;
            copies.resize_with(trains.len(), || None);
        }
        copies[i] = Some(copy);
    }
    Ok(copies)
}

/// The trains of a list, or their copies.
pub(super) fn listed<'a>(
    trains: &[&'a TensorTrain],
    copies: &'a [Option<TensorTrain>],
) -> Result<Vec<&'a TensorTrain>> {
    let mut list = alloc::with_capacity(WHAT, trains.len())?;
    list.extend(trains.iter().enumerate().map(|(i, train)| copies.get(i).and_then(Option::as_ref).unwrap_or(train)));
    Ok(list)
}

/// The largest modulus of every row and of every column of a core, 0 where all are 0 or not finite.
fn sizes<T: Scalar>(core: &[T], [r, _, s]: [usize; 3], rows: &mut [f64], columns: &mut [f64]) {
    rows.fill(0.0);
    let width = core.len() / s.max(1);
    for (column, largest) in core.chunks_exact(width.max(1)).zip(columns.iter_mut()) {
        let mut most = 0.0f64;
        for values in column.chunks_exact(r) {
            for (row, x) in rows.iter_mut().zip(values) {
                let size = x.re().abs().max(x.im().abs());
                *row = row.max(size);
                most = most.max(size);
            }
        }
        *largest = most;
    }
}

/// Powers of two for the values of one bond: columns before it are divided by them, rows behind it multiplied. `None` where
/// they differ by little.
fn powers(columns: &[f64], rows: &[f64], limit: i64, out: &mut [i64]) -> bool {
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for ((c, r), out) in columns.iter().zip(rows).zip(out.iter_mut()) {
        // A value that nothing depends on goes along with the others.
        if *c == 0.0 || *r == 0.0 || !c.is_finite() || !r.is_finite() {
            *out = i64::MIN;
            continue;
        }
        *out = (exponent_of(*c) - exponent_of(*r)).div_euclid(2);
        (low, high) = (low.min(*out), high.max(*out));
    }
    if low > high || high - low <= limit {
        return false;
    }
    // Nothing moves on the whole.
    let middle = low + (high - low) / 2;
    out.iter_mut().for_each(|p| *p = if *p == i64::MIN { 0 } else { *p - middle });
    true
}

fn copy_of<T: Scalar>(context: &Arc<Context>, train: &TensorTrain) -> Result<Option<TensorTrain>> {
    let shape = train.shape();
    let cores = train.cores::<T>("x")?;
    let Some(powers) = powers_of(&cores, shape, limit(T::DTYPE))? else { return Ok(None) };
    let mut copy = TensorTrain::create(context, T::DTYPE, Location::Host, shape.clone())?;
    {
        let mut to = copy.cores_mut::<T>(WHAT)?;
        for k in 0..shape.len() {
            let [r, n, _] = shape.core(k);
            let (before, after) = (&powers[k], &powers[k + 1]);
            for (at, (to, x)) in to.core(k).iter_mut().zip(cores.core(k)).enumerate() {
                let shift = before.get(at % r).unwrap_or(&0) - after.get(at / (r * n)).unwrap_or(&0);
                *to = if shift == 0 { *x } else { T::from_parts(scale(x.re(), shift), scale(x.im(), shift)) };
            }
        }
    }
    (0..shape.len()).for_each(|k| copy.mark_set(k));
    Ok(Some(copy))
}

/// Powers for every bond, nothing at those that stay; `None` where all do.
fn powers_of<T: Scalar>(cores: &Cores<'_, T>, shape: &Shape, limit: i64) -> Result<Option<Vec<Vec<i64>>>> {
    let d = shape.len();
    let widest = shape.max_rank();
    let room = || alloc::filled(WHAT, widest, 0.0f64);
    let (mut rows, mut columns, mut first, mut before) = (room()?, room()?, room()?, room()?);
    let mut now = alloc::filled(WHAT, widest, 0i64)?;
    let mut all: Option<Vec<Vec<i64>>> = None;
    let mut keep = |bond: usize, powers: &[i64]| -> Result<()> {
        if all.is_none() {
            let mut list = alloc::with_capacity(WHAT, d + 1)?;
            list.resize_with(d + 1, Vec::new);
            all = Some(list);
        }
        if let Some(all) = &mut all {
            all[bond] = alloc::copied(WHAT, powers)?;
        }
        Ok(())
    };
    for k in 0..d {
        let dims @ [r, _, s] = shape.core(k);
        sizes(cores.core(k), dims, &mut rows[..r], &mut columns[..s]);
        if k == 0 {
            first[..r].copy_from_slice(&rows[..r]);
        } else if r > 1 && powers(&before[..r], &rows[..r], limit, &mut now[..r]) {
            keep(k, &now[..r])?;
        }
        before[..s].copy_from_slice(&columns[..s]);
    }
    // The bond that closes a ring.
    let p = shape.ranks()[0];
    if p > 1 && powers(&before[..p], &first[..p], limit, &mut now[..p]) {
        keep(0, &now[..p])?;
        keep(d, &now[..p])?;
    }
    Ok(all)
}
