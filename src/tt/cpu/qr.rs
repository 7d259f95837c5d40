//! Norms by QR factors: R_k of R_{k-1} X_k from site to site. Nothing is squared, so that the norm of a difference keeps
//! the digits that inner products lose.

use std::sync::Arc;

use faer::MatMut;

use super::products::{Block, Bra, Buffer, Taken, Threads, by_x, largest};
use super::sweep::{careful_dot, shrink};
use crate::context::Context;
use crate::dense::cpu::factor::with_stack;
use crate::dense::cpu::reflections;
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::shape::{product, to_u64};
use crate::tensor::train::TensorTrain;
use crate::tt::ops::Work;
use crate::tt::scaled::{self, Scaled};

/// The norm of the sum of `trains`, each times a factor. Every value of the bond at the cut has columns of its own, as in
/// the open train of the same tensor.
pub fn norm<T: Scalar>(context: &Arc<Context>, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
    let mut bras = crate::alloc::with_capacity("trains of a norm", trains.len())?;
    for &(train, _) in trains {
        bras.push(Bra::<T>::new(train)?);
    }
    let plan = work.plan;
    let budget = context.host_budget();
    let core = |i: usize| plan.core(to_u64(i));
    // Columns of each train at the bond before site i.
    let wide = |t: usize, i: usize| trains[t].0.shape().ranks()[plan.cut] * trains[t].0.shape().ranks()[core(i)];
    let total = |i: usize| (0..trains.len()).map(|t| wide(t, i)).sum::<usize>();
    let mut rows = 1;
    let mut factor: Option<Buffer> = None;
    // Of each train's columns: two trains may be the same one with factors moved from core to core.
    let mut exponents = crate::alloc::filled("trains of a norm", trains.len(), 0i64)?;
    for i in 0..plan.cores - 1 {
        let (k, columns) = (core(i), total(i + 1));
        let n = work.x.shape().modes()[k];
        let tall = product("x", rows, n)?;
        let mut next = Buffer::new::<T>(product("x", tall, columns)?, budget)?;
        let (mut at, mut all) = (0, 0.0f64);
        for (t, bra) in bras.iter().enumerate() {
            let [r, _, r2] = trains[t].0.shape().core(k);
            let p = trains[t].0.shape().ranks()[plan.cut];
            let begins = at;
            if let Some(held) = &mut factor {
                // Half of the core's exponent: neither factor nor product leaves the range.
                let q = half_of(bra.largest(k));
                exponents[t] = exponents[t].saturating_add(q);
                let start = rows * offset(&wide, t, i);
                shrink(&mut held.get_mut::<T>()?[start..start + rows * p * r], q);
            }
            for q in 0..p {
                match &factor {
                    None => {
                        let to = &mut next.get_mut::<T>()?[at..][..n * r2];
                        to.iter_mut().enumerate().for_each(|(j, v)| *v = bra.at(k, q + r * j));
                    }
                    Some(held) => {
                        let from = Block { start: rows * (offset(&wide, t, i) + q * r), ..Block::packed(rows, r) };
                        let to = Block { start: at, ..Block::packed(rows, n * r2) };
                        let taken = Taken::plain(Block::packed(r, n * r2));
                        by_x(Threads::All, 1.0, (held, from), bra, k, taken, false, (&mut next, to))?;
                    }
                }
                at += tall * r2;
            }
            let values = &mut next.get_mut::<T>()?[begins..at];
            let most = largest(values);
            if !most.is_finite() {
                return Ok(Scaled::new(Complex::new(most, 0.0), 0));
            }
            exponents[t] = exponents[t].saturating_add(shrink(values, scaled::exponent_of(most)));
            all = all.max(most);
        }
        if all == 0.0 {
            return Ok(Scaled::ZERO);
        }
        rows = tall;
        // The factorisation needs its room.
        drop(factor.take());
        if tall > columns {
            next = triangle::<T>(context, next, tall, columns)?;
            rows = columns;
        }
        factor = Some(next);
        work.step()?;
    }
    last(&bras, trains, work, (factor, rows, &exponents), budget)
}

/// The column of train t at which the bond before site i begins.
fn offset(wide: &impl Fn(usize, usize) -> usize, t: usize, i: usize) -> usize {
    (0..t).map(|t| wide(t, i)).sum()
}

/// R of a matrix with more rows than columns.
fn triangle<T: Scalar>(context: &Arc<Context>, mut a: Buffer, rows: usize, columns: usize) -> Result<Buffer> {
    let budget = context.host_budget();
    let mut coefficients = Buffer::new::<T>(reflections::coefficient_rows(columns) * columns, budget)?;
    let mut r = Buffer::new::<T>(columns * columns, budget)?;
    with_stack(context, reflections::scratch::<T>(rows, columns), |stack| -> Result<()> {
        let height = reflections::coefficient_rows(columns);
        let a = &mut a.get_mut::<T>()?[..rows * columns];
        let coefficients = &mut coefficients.get_mut::<T>()?[..height * columns];
        let coefficients = MatMut::from_column_major_slice_mut(coefficients, height, columns);
        reflections::factor(MatMut::from_column_major_slice_mut(&mut *a, rows, columns), coefficients, stack);
        for (j, (to, from)) in r.get_mut::<T>()?.chunks_exact_mut(columns).zip(a.chunks_exact(rows)).enumerate() {
            to[..=j].copy_from_slice(&from[..=j]);
        }
        Ok(())
    })??;
    Ok(r)
}

/// Half of the exponent of a core's largest number.
fn half_of(largest: f64) -> i64 {
    scaled::exponent_of(largest) / 2
}

/// The last site makes one column of each train: the norm of their sum.
fn last<T: Scalar>(
    bras: &[Bra<'_, T>],
    trains: &[(&TensorTrain, f64)],
    work: &Work<'_>,
    (mut factor, rows, exponents): (Option<Buffer>, usize, &[i64]),
    budget: &Arc<crate::backend::memory::Budget>,
) -> Result<Scaled> {
    let plan = work.plan;
    let k = plan.core(to_u64(plan.cores) - 1);
    let n = work.x.shape().modes()[k];
    let mut column = Buffer::new::<T>(rows * n, budget)?;
    let to = Block::packed(rows, n);
    // What each train's column is at most, and the exponent that all share.
    let mut sizes = crate::alloc::with_capacity("trains of a norm", trains.len())?;
    sizes.extend(bras.iter().zip(exponents).map(|(bra, e)| e.saturating_add(scaled::exponent_of(bra.largest(k)))));
    let shared = sizes.iter().copied().max().unwrap_or(0);
    let mut start = 0;
    for (((bra, (train, sign)), exponent), add) in bras.iter().zip(trains).zip(exponents).zip(0..) {
        let [r, _, p] = train.shape().core(k);
        // In two steps, as one alone may be no number of the type.
        let shift = exponent.saturating_sub(shared);
        let before = shift.clamp(-4000, 4000) / 2;
        let sign = sign * scaled::scale(1.0, shift.clamp(-4000, 4000) - before);
        if let Some(held) = &mut factor {
            shrink(&mut held.get_mut::<T>()?[start..start + rows * r * p], -before);
        }
        for j in 0..p {
            match &factor {
                Some(held) => {
                    let from = Block { start, ..Block::packed(rows, r) };
                    let taken = Taken::plain(Block { start: r * n * j, ..Block::packed(r, n) });
                    by_x(Threads::All, sign, (held, from), bra, k, taken, add + j > 0, (&mut column, to))?;
                    start += rows * r;
                }
                None => {
                    let values = column.get_mut::<T>()?.iter_mut().enumerate();
                    values.for_each(|(i, v)| {
                        let x = bra.at(k, j + r * (i + n * j));
                        let x = T::from_parts(scaled::scale(x.re(), before), scaled::scale(x.im(), before));
                        *v += x * T::from_parts(sign, 0.0);
                    });
                }
            }
        }
    }
    let values = &mut column.get_mut::<T>()?[..rows * n];
    let exponent = shared.saturating_add(shrink(values, scaled::exponent_of(largest(values))));
    let square = careful_dot(values, values, true, 0).re;
    work.step()?;
    Ok(Scaled::new(Complex::new(square.sqrt(), 0.0), exponent))
}
