//! Norms by QR factors: R_k of R_{k-1} X_k from site to site. No number is squared, so the norm of a difference keeps
//! the digits that inner products lose.

use std::sync::Arc;

use super::products::{Block, Bra, Buffer, Taken, Threads, by_x, largest};
use super::sweep::{careful_dot, shrink};
use crate::context::Context;
use crate::contraction::ops::Work;
use crate::dense::cpu::factor::reflect;
use crate::dense::{MatMut, serial};
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::shape::{product, to_u64};
use crate::tensor::train::TensorTrain;
use crate::trains::scaled::{self, Scaled};

/// The norm of the sum of `trains`, each times a factor. For each value of the bond at the cut the matrices have
/// separate columns, as if the ring were an open train.
pub fn norm<T: Scalar>(context: &Arc<Context>, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
    let mut bras = crate::alloc::with_capacity("trains of a norm", trains.len())?;
    for &(train, _) in trains {
        bras.push(Bra::<T>::new(train)?);
    }
    let plan = work.plan;
    let budget = context.host_budget();
    let core = |i: usize| plan.core(to_u64(i));
    // Columns that belong to train t at the bond before site i.
    let wide = |t: usize, i: usize| trains[t].0.shape().ranks()[plan.cut] * trains[t].0.shape().ranks()[core(i)];
    let total = |i: usize| (0..trains.len()).map(|t| wide(t, i)).sum::<usize>();
    let mut rows = 1;
    let mut factor: Option<Buffer> = None;
    // One exponent for each train. Two trains may be equal although powers of two were moved from core to core in one
    // of them.
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
                // Divide by half of the core's exponent, so that neither the scaled factor nor the product leaves the
                // range.
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
        // Free the factor before the factorization allocates its memory.
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

/// The first column that belongs to train t at the bond before site i.
fn offset(wide: &impl Fn(usize, usize) -> usize, t: usize, i: usize) -> usize {
    (0..t).map(|t| wide(t, i)).sum()
}

/// R of a matrix with more rows than columns.
fn triangle<T: Scalar>(context: &Arc<Context>, mut a: Buffer, rows: usize, columns: usize) -> Result<Buffer> {
    let budget = context.host_budget();
    let height = serial::coefficient_rows(columns);
    let mut coefficients = Buffer::new::<T>(height * columns, budget)?;
    let mut r = Buffer::new::<T>(columns * columns, budget)?;
    let a = &mut a.get_mut::<T>()?[..rows * columns];
    let coefficients = &mut coefficients.get_mut::<T>()?[..height * columns];
    let coefficients = MatMut::from_columns(coefficients, height, columns);
    reflect(context, MatMut::from_columns(&mut *a, rows, columns), coefficients)?;
    for (j, (to, from)) in r.get_mut::<T>()?.chunks_exact_mut(columns).zip(a.chunks_exact(rows)).enumerate() {
        to[..=j].copy_from_slice(&from[..=j]);
    }
    Ok(r)
}

/// Half of the exponent of a core's largest entry.
fn half_of(largest: f64) -> i64 {
    scaled::exponent_of(largest) / 2
}

/// Multiplies the last core of each train, which gives one column for each. Returns the norm of the sum of these
/// columns.
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
    let mut columns = Buffer::new::<T>(product("x", trains.len(), rows * n)?, budget)?;
    // The exponent of each train's column; `None` if the column is zero.
    let mut sizes = crate::alloc::with_capacity("trains of a norm", trains.len())?;
    let mut start = 0;
    for (t, ((bra, (train, _)), exponent)) in bras.iter().zip(trains).zip(exponents).enumerate() {
        let [r, _, p] = train.shape().core(k);
        let to = Block { start: t * rows * n, ..Block::packed(rows, n) };
        // Divide by half of the core's exponent, so that neither the scaled factor nor the product leaves the range.
        let half = match &factor {
            Some(_) => half_of(bra.largest(k)),
            None if p == 1 => 0,
            // The trace of a ring of one core may be larger than its entries.
            None => scaled::exponent_of(p as f64).min(scaled::exponent_of(bra.largest(k)).max(0)),
        };
        if let Some(held) = &mut factor {
            shrink(&mut held.get_mut::<T>()?[start..start + rows * r * p], half);
        }
        for j in 0..p {
            match &factor {
                Some(held) => {
                    let from = Block { start, ..Block::packed(rows, r) };
                    let taken = Taken::plain(Block { start: r * n * j, ..Block::packed(r, n) });
                    by_x(Threads::All, 1.0, (held, from), bra, k, taken, j > 0, (&mut columns, to))?;
                    start += rows * r;
                }
                None => {
                    let values = columns.get_mut::<T>()?[to.start..][..rows * n].iter_mut().enumerate();
                    let value = |i: usize| {
                        let x = bra.at(k, j + r * (i + n * j));
                        let part = |x: f64| scaled::scale(x, -half);
                        if p == 1 { x } else { T::from_parts(part(x.re()), part(x.im())) }
                    };
                    values.for_each(|(i, v)| *v += value(i));
                }
            }
        }
        let values = &mut columns.get_mut::<T>()?[to.start..][..rows * n];
        let most = largest(values);
        let moved = shrink(values, scaled::exponent_of(most));
        sizes.push((most != 0.0).then(|| exponent.saturating_add(half).saturating_add(moved)));
    }
    let shared = sizes.iter().flatten().copied().max().unwrap_or(0);
    let (column, others) = columns.get_mut::<T>()?.split_at_mut(rows * n);
    let factors = trains.iter().zip(&sizes).map(|((_, sign), size)| (*sign, size.map_or(0, |e| e - shared)));
    for (t, (sign, shift)) in factors.enumerate() {
        let times = |x: T| {
            let part = |part: f64| sign * scaled::scale(part, shift);
            T::from_parts(part(x.re()), part(x.im()))
        };
        match t {
            0 => column.iter_mut().for_each(|v| *v = times(*v)),
            _ => {
                let from = &others[(t - 1) * rows * n..][..rows * n];
                column.iter_mut().zip(from).for_each(|(v, x)| *v += times(*x));
            }
        }
    }
    let exponent = shared.saturating_add(shrink(column, scaled::exponent_of(largest(column))));
    let square = careful_dot(column, column, true, 0).re;
    work.step()?;
    Ok(Scaled::new(Complex::new(square.sqrt(), 0.0), exponent))
}
