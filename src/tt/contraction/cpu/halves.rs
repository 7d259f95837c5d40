//! Inner products by dense tensors, for short trains of large ranks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::products::{Bra, Buffer, Threads, largest, multiply};
use super::sweep::{dot, shrink};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::backend::memory::Budget;
use crate::context::Context;
use crate::contraction::ops::Work;
use crate::contraction::plan::Plan;
use crate::dense::{Mat, MatMut};
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::shape::{product, to_u64};
use crate::tensor::train::Cores;
use crate::trains::scaled::{self, Scaled};

/// The dense tensors of both halves of a train, L[I, a, p] and R[a, J, p], divided by a power of two. I and J are the
/// mode indices of the halves, a the bond between them, p the bond at the cut.
struct Halves<S> {
    left: Buffer,
    right: Buffer,
    /// Sizes of I, J, a and p.
    sizes: [usize; 4],
    exponent: i64,
    element: std::marker::PhantomData<S>,
}

/// The sum S by the dense tensors of both halves.
pub fn halves<T: Scalar>(context: &Arc<Context>, work: &Work<'_>) -> Result<Scaled> {
    let budget = context.host_budget();
    let (x, y) = (Bra::<T>::new(work.x)?, work.y.cores::<T>("y")?);
    context.pool().run(|| {
        let y = Halves::new(&y, work.plan, budget)?;
        match &x {
            Bra::Same(x) => sum(&Halves::new(x, work.plan, budget)?, &y, work, budget),
            Bra::Real(x) => sum(&Halves::new(x, work.plan, budget)?, &y, work, budget),
        }
    })
}

impl<S: Scalar> Halves<S> {
    fn new(train: &Cores<'_, S>, plan: &Plan, budget: &Arc<Budget>) -> Result<Self> {
        let d = plan.cores;
        let core = |i: usize| plan.core(to_u64(i));
        let p = train.shape().ranks()[plan.cut];
        let (mut left, rows, mut exponent) = grown(train, (0..plan.split).map(core), p, false, budget)?;
        let bond = train.shape().ranks()[core(plan.split)];
        let size = rows / p;
        if p > 1 {
            // Store p slowest, so that each of its values has a contiguous matrix.
            let mut turned = Buffer::new::<S>(rows * bond, budget)?;
            let from = left.get::<S>()?;
            for (q, to) in turned.get_mut::<S>()?[..rows * bond].chunks_exact_mut(size * bond).enumerate() {
                to.iter_mut().zip(from[q..].iter().step_by(p)).for_each(|(to, from)| *to = *from);
            }
            left = turned;
        }
        let (right, columns) = if plan.split == d {
            let mut identity = Buffer::new::<S>(p * p, budget)?;
            identity.get_mut::<S>()?.iter_mut().step_by(p + 1).for_each(|v| *v = S::from_parts(1.0, 0.0));
            (identity, 1)
        } else {
            let (right, columns, e) = grown(train, (plan.split..d).rev().map(core), p, true, budget)?;
            exponent = exponent.saturating_add(e);
            (right, columns / p)
        };
        Ok(Self { left, right, sizes: [size, columns, bond, p], exponent, element: std::marker::PhantomData })
    }

    /// Writes columns of the dense tensor [I, J] from `first` on, `out.len() / I` of them.
    fn columns(&self, first: usize, out: &mut [S]) -> Result<()> {
        let [rows, columns, bond, p] = self.sizes;
        let (left, right) = (self.left.get::<S>()?, self.right.get::<S>()?);
        let count = out.len() / rows;
        for q in 0..p {
            let l = Mat::from_columns(&left[q * rows * bond..][..rows * bond], rows, bond);
            let r = Mat::from_columns(&right[(q * columns + first) * bond..][..bond * count], bond, count);
            let c = MatMut::from_columns(&mut *out, rows, count);
            multiply(Threads::One, 1.0, l, r, q > 0, c);
        }
        Ok(())
    }
}

/// The dense tensor over `cores`, which are multiplied in this order: [p, I, a], or [a, J, p] if `leftwards`. Also
/// returns the size of (p I) or (J p), and the exponent of the power of two by which the tensor was divided.
fn grown<S: Scalar>(
    train: &Cores<'_, S>,
    cores: impl Iterator<Item = usize>,
    p: usize,
    leftwards: bool,
    budget: &Arc<Budget>,
) -> Result<(Buffer, usize, i64)> {
    let mut held: Option<Buffer> = None;
    let (mut rows, mut exponent) = (p, 0i64);
    for k in cores {
        let [r, n, r2] = train.shape().core(k);
        let (near, far) = if leftwards { (r2, r) } else { (r, r2) };
        let size = product("workspace_limit", product("workspace_limit", rows, n)?, far)?;
        let mut next = Buffer::new::<S>(size, budget)?;
        let to = &mut next.get_mut::<S>()?[..size];
        match &held {
            // The first core is already the matrix: its bond at the cut is the row index p.
            None => to.copy_from_slice(train.core(k)),
            Some(held) => {
                let from = &held.get::<S>()?[..rows * near];
                let (a, b, shape) = if leftwards {
                    let core = Mat::from_columns(train.core(k), far * n, near);
                    (core, Mat::from_columns(from, near, rows), (far * n, rows))
                } else {
                    let core = Mat::from_columns(train.core(k), near, n * far);
                    (Mat::from_columns(from, rows, near), core, (rows, n * far))
                };
                let c = MatMut::from_columns(&mut *to, shape.0, shape.1);
                multiply(Threads::All, 1.0, a, b, false, c);
            }
        }
        exponent = exponent.saturating_add(shrink(to, scaled::exponent_of(largest(to))));
        rows *= n;
        held = Some(next);
    }
    let held = held.map_or_else(|| Buffer::new::<S>(0, budget), Ok)?;
    Ok((held, rows, exponent))
}

/// The sum over all entries x[i] cj(y[i]). Panels of columns of both tensors are computed and summed one by one; the
/// partial sums are added in their order.
fn sum<S: Scalar, T: Scalar>(x: &Halves<S>, y: &Halves<T>, work: &Work<'_>, budget: &Arc<Budget>) -> Result<Scaled> {
    let [rows, columns, ..] = y.sizes;
    let (panel, conj) = (work.plan.panel, work.plan.conjugate);
    let count = columns.div_ceil(panel);
    let mut partials = alloc::filled("partial sums of a contraction", count, Complex::new(0.0, 0.0))?;
    let next = AtomicUsize::new(0);
    let out = Mutex::new(&mut partials);
    (0..work.plan.workers).into_par_iter().try_for_each(|_| -> Result<()> {
        let (mut a, mut b) = (Buffer::new::<S>(rows * panel, budget)?, Buffer::new::<T>(rows * panel, budget)?);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return Ok(());
            }
            let size = rows * panel.min(columns - index * panel);
            let (a, b) = (&mut a.get_mut::<S>()?[..size], &mut b.get_mut::<T>()?[..size]);
            x.columns(index * panel, a)?;
            y.columns(index * panel, b)?;
            out.lock().unwrap_or_else(PoisonError::into_inner)[index] = dot(a, b, conj);
            work.cancel.check()?;
        }
    })?;
    work.step()?;
    let total = partials.into_iter().fold(Complex::new(0.0, 0.0), |sum, part| sum + part);
    Ok(Scaled::new(total, x.exponent.saturating_add(y.exponent)))
}
