//! [`OperatorOps`] on the CPU.
//!
//! A step divides the ket's new bond into stretches. Both products of a stretch, and the sums between them, are
//! computed while they are in cache. The stretches are distributed over threads. The division depends only on the
//! sizes, and each stretch writes its own columns, so the result has the same bits for any number of threads.

use std::sync::Arc;

use super::gather::Gather;
use super::kernels::{
    COLUMNS, copy_core, exponent_beyond, peak, product, product_in_bands, shift_all, shifted, sum_block,
};
use super::ops::{CoreView, Extent, OperatorOps, Site, StepBytes};
use crate::alloc;
use crate::backend::cpu::parallel::{self, Items as _, Pieces as _};
use crate::backend::memory::HostMemory;
use crate::context::Context;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::{Mat, MatMut};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Real, Scalar};

/// The operations of a context on its threads. Call them from one of these threads.
pub struct CpuOps {
    context: Arc<Context>,
}

impl CpuOps {
    /// The operations of a context.
    pub fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context) }
    }

    /// Copies numbers to new host memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], the context's limit included.
    pub fn bring<S: Scalar>(&self, values: &[S]) -> Result<HostMemory> {
        let mut memory = HostMemory::allocate(STEP, size_of_val(values), self.context.host_budget())?;
        memory.as_mut_slice::<S>()?.copy_from_slice(values);
        Ok(memory)
    }

    fn buffer<T: Scalar>(&self, what: &'static str, elements: usize) -> Result<CpuMatrix<T>> {
        CpuMatrix::zeros(what, elements, 1, self.context.host_budget())
    }

    /// The first `elements` elements of `buffer`, which is enlarged if necessary.
    fn enlarged<'r, T: Scalar>(&self, buffer: &'r mut Option<CpuMatrix<T>>, elements: usize) -> Result<&'r mut [T]> {
        if buffer.as_ref().is_none_or(|r| r.rows() < elements) {
            // Free the old buffer first: both together might not fit.
            *buffer = None;
            *buffer = Some(self.buffer(STEP, elements)?);
        }
        match buffer {
            Some(buffer) => Ok(&mut buffer.slice_mut()?[..elements]),
            None => Err(Error::Internal("a step without workspace".into())),
        }
    }

    /// A core in the contraction's type and in the order in which a step reads it: the bond where the step starts is
    /// fastest, the bond where it ends slowest. Also returns the exponent of the power of two by which it was divided.
    /// The core is copied only if necessary.
    fn core<'r, T: Scalar>(
        &self,
        view: &CoreView<'r>,
        site: &Site<'_>,
        buffer: &'r mut Option<CpuMatrix<T>>,
    ) -> Result<(&'r [T], i64)> {
        let count = view.dims[0] * view.dims[1] * view.dims[2];
        let range = view.offset..view.offset + count;
        let host = view.memory.host(view.argument)?;
        if view.dtype == T::DTYPE {
            let core = &host.as_slice::<T>()?[range];
            let exponent = exponent_beyond(core, site.limit);
            if exponent == 0 && !site.mirrored {
                return Ok((core, 0));
            }
            let to = self.enlarged(buffer, count)?;
            copy_core(core, view, site.mirrored, to, |x| shifted(x, -exponent));
            return Ok((to, exponent));
        }
        let core = &host.as_slice::<T::Part>()?[range];
        let exponent = exponent_beyond(core, site.limit);
        let to = self.enlarged(buffer, count)?;
        copy_core(core, view, site.mirrored, to, |x| shifted(T::from_parts(x.to_f64(), 0.0), -exponent));
        Ok((to, exponent))
    }
}

const STEP: &str = "workspace of a contraction with an operator";

/// Workspace of steps. Allocated when first needed, and held for later steps.
pub struct Work<T> {
    bra: Option<CpuMatrix<T>>,
    ket: Option<CpuMatrix<T>>,
    lanes: Vec<Option<CpuMatrix<T>>>,
    narrow: bool,
}

/// Bytes of T and U of a stretch, which together fit into the cache of a CPU core.
const CACHE: usize = 1 << 20;

/// Elements of T, and of U, for each index of the ket's new bond.
fn per_index(from: Extent, slots: usize, [m, n]: [usize; 2]) -> (usize, usize) {
    let rows = from.bra.saturating_mul(from.pairs);
    (rows.saturating_mul(from.slots).saturating_mul(n), rows.saturating_mul(m).saturating_mul(slots))
}

/// Number of indices of the ket's new bond in a stretch.
fn stretch(from: Extent, to: Extent, modes: [usize; 2], element: usize, narrow: bool) -> usize {
    let (t, u) = per_index(from, to.slots, modes);
    let cached = if narrow {
        1
    } else {
        (CACHE / t.saturating_add(u).saturating_mul(element).max(1)).max(COLUMNS.div_ceil(modes[1]))
    };
    cached.min(to.ket)
}

impl<T: Scalar> OperatorOps<T> for CpuOps {
    type Environment = CpuMatrix<T>;
    type Work = Work<T>;

    fn environment(&self, elements: usize) -> Result<CpuMatrix<T>> {
        self.buffer("environments of a contraction with an operator", elements)
    }

    fn work(&self, halves: usize, narrow: bool) -> Work<T> {
        let lanes = if narrow { 1 } else { lanes(&self.context, halves) };
        Work { bra: None, ket: None, lanes: (0..lanes).map(|_| None).collect(), narrow }
    }

    fn step_workspace(&self, halves: usize, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes {
        let (t, u) = per_index(from, to.slots, modes);
        let length = stretch(from, to, modes, size_of::<T>(), narrow);
        let lanes = if narrow { 1 } else { lanes(&self.context, halves).min(to.ket.div_ceil(length)) };
        let bytes = |elements: f64| elements * size_of::<T>() as f64;
        StepBytes {
            stretch: bytes((t as f64 + u as f64) * length as f64),
            lanes: lanes as f64,
            cores: [(from.bra, modes[0], to.bra), (from.ket, modes[1], to.ket)]
                .map(|(r, n, s)| bytes(r as f64 * n as f64 * s as f64)),
        }
    }

    fn boundary(&self, to: &mut CpuMatrix<T>, extent: Extent, first: usize, starts: &[bool]) -> Result<()> {
        let Extent { bra, slots, pairs, .. } = extent;
        let to = &mut to.slice_mut()?[..extent.elements()?];
        to.fill(T::default());
        for p in 0..pairs {
            let (a, b) = ((first + p) % bra, (first + p) / bra);
            for (q, _) in starts.iter().enumerate().filter(|(_, s)| **s) {
                to[a + bra * (q + slots * (p + pairs * b))] = T::from_parts(1.0, 0.0);
            }
        }
        Ok(())
    }

    fn step(
        &self,
        work: &mut Work<T>,
        site: &Site<'_>,
        from: &CpuMatrix<T>,
        extent: Extent,
        to: &mut CpuMatrix<T>,
    ) -> Result<i64> {
        let after = site.after(extent)?;
        let gather = site.gather;
        let (rows, width) = (extent.bra * extent.slots * extent.pairs, after.slots * extent.pairs);
        let from = Mat::from_columns(&from.slice()?[..extent.elements()?], rows, extent.ket);
        let to = &mut to.slice_mut()?[..after.elements()?];
        let (m, n) = (gather.rows, gather.cols);
        if to.is_empty() || rows == 0 {
            return Ok(0);
        }

        let Work { bra, ket, lanes, narrow } = work;
        let (x, x_exponent) = self.core::<T>(&site.ket, site, ket)?;
        let (y, y_exponent) =
            if site.bra.is_same(&site.ket) { (x, x_exponent) } else { self.core::<T>(&site.bra, site, bra)? };
        let x = Mat::from_columns(x, extent.ket, n * after.ket);
        let y = Mat::from_columns(y, extent.bra * m, after.bra).transpose().conjugate_if(site.conjugate);

        let length = stretch(extent, after, [m, n], size_of::<T>(), *narrow);
        let (t_size, u_size) = per_index(extent, after.slots, [m, n]);
        let count = after.ket.div_ceil(length).min(lanes.len());
        for lane in &mut lanes[..count] {
            self.enlarged(lane, (t_size + u_size) * length)?;
        }
        // Task l computes the stretches l, l + count, l + 2 count, ...
        let mut shares: Vec<Vec<(usize, &mut [T])>> = (0..count).map(|_| Vec::new()).collect();
        for (s, columns) in to.chunks_mut(after.bra * width * length).enumerate() {
            alloc::push(STEP, &mut shares[s % count], (s * length, columns))?;
        }
        shares.par_iter_mut().zip(&mut lanes[..count]).try_for_each(|(share, lane)| {
            let buffer = self.enlarged(lane, (t_size + u_size) * length)?;
            for (first, columns) in share.drain(..) {
                let now = columns.len() / (after.bra * width);
                let (t, u) = buffer.split_at_mut(t_size * length);
                let (t, u) = (&mut t[..t_size * now], &mut u[..u_size * now]);
                let into = MatMut::from_columns(t, rows, n * now);
                product(from, x.subcols(n * first, n * now), into);
                for (t, u) in t.chunks_exact(t_size).zip(u.chunks_exact_mut(u_size)) {
                    sum_block(gather, extent.bra, extent.pairs, t, u);
                }
                let u = Mat::from_columns(u, extent.bra * m, width * now);
                product(y, u, MatMut::from_columns(columns, after.bra, width * now));
            }
            Ok::<(), Error>(())
        })?;
        Ok(x_exponent + y_exponent)
    }

    fn peaks(&self, environment: &CpuMatrix<T>, extent: Extent, split: usize) -> Result<[f64; 2]> {
        let mut most = [0.0f64; 2];
        let mut raise = |group: usize, values: &[T]| {
            let size = peak(values);
            if size > most[group] || size.is_nan() {
                most[group] = size;
            }
        };
        let block = extent.bra * extent.slots;
        let values = &environment.slice()?[..extent.elements()?];
        if split == extent.slots {
            raise(0, values);
        } else {
            for values in values.chunks_exact(block.max(1)) {
                let (first, second) = values.split_at(extent.bra * split);
                raise(0, first);
                raise(1, second);
            }
        }
        Ok(most)
    }

    fn shift(&self, environment: &mut CpuMatrix<T>, extent: Extent, split: usize, by: [i64; 2]) -> Result<()> {
        let block = extent.bra * extent.slots;
        for values in environment.slice_mut()?[..extent.elements()?].chunks_exact_mut(block.max(1)) {
            let (first, second) = values.split_at_mut(extent.bra * split);
            for (part, e) in [(first, by[0]), (second, by[1])] {
                shift_all(part, e);
            }
        }
        Ok(())
    }

    fn join(&self, left: (&CpuMatrix<T>, Extent), right: (&CpuMatrix<T>, Extent)) -> Result<Vec<Complex<f64>>> {
        let (l, r) = (left.1, right.1);
        if (l.bra, l.pairs, l.ket) != (r.bra, r.pairs, r.ket) || (r.slots != 1 && r.slots != l.slots) {
            return Err(Error::Internal(format!("environments of {l:?} and {r:?} meet")));
        }
        let mut sums = alloc::filled("sums of environments", l.slots, Complex::new(0.0, 0.0))?;
        let (a, b) = (&left.0.slice()?[..l.elements()?], &right.0.slice()?[..r.elements()?]);
        for column in 0..l.pairs * l.ket {
            for (q, sum) in sums.iter_mut().enumerate() {
                let a = &a[l.bra * (q + l.slots * column)..][..l.bra];
                let b = &b[l.bra * (q % r.slots + r.slots * column)..][..l.bra];
                let dot = a.iter().zip(b).fold(T::Wide::default(), |s, (&x, &y)| s + x.widen() * y.widen());
                *sum += Complex::new(dot.re(), dot.im());
            }
        }
        Ok(sums)
    }

    fn apply(
        &self,
        work: &mut Work<T>,
        left: (&CpuMatrix<T>, Extent),
        gathers: &[Gather],
        right: (&CpuMatrix<T>, Extent),
        v: &[T],
        out: &mut [T],
    ) -> Result<()> {
        let (l, r) = (left.1, right.1);
        let rows = l.bra * l.slots * l.pairs;
        let from = Mat::from_columns(&left.0.slice()?[..l.elements()?], rows, l.ket);
        let vector = Mat::from_columns(v, l.ket, v.len() / l.ket);
        let Work { bra: next, ket: now, .. } = work;
        let into = self.enlarged(now, rows * vector.cols())?;
        product_in_bands(from, vector, MatMut::from_columns(into, rows, vector.cols()));
        // T[(a i..), q, p, (j.. b')], site by site.
        let (mut column, mut follow) = (l.bra, vector.cols());
        for gather in gathers {
            follow /= gather.cols;
            let inputs = column * gather.inputs * l.pairs * gather.cols;
            let outputs = column * gather.rows * gather.outputs * l.pairs;
            let source = &self.enlarged(now, inputs * follow)?[..];
            let sums = self.enlarged(next, outputs * follow)?;
            let blocks = sums.par_chunks_exact_mut(outputs).zip(source.par_chunks_exact(inputs));
            blocks.for_each(|(out, from)| sum_block(gather, column, l.pairs, from, out));
            column *= gather.rows;
            std::mem::swap(now, next);
        }
        let width = r.slots * r.pairs * r.ket;
        let now = Mat::from_columns(self.enlarged(now, column * width)?, column, width);
        let right = Mat::from_columns(&right.0.slice()?[..r.elements()?], r.bra, width);
        product_in_bands(now, right.transpose(), MatMut::from_columns(out, column, r.bra));
        Ok(())
    }

    fn read(&self, environment: &CpuMatrix<T>, out: &mut [T]) -> Result<()> {
        let length = out.len();
        out.copy_from_slice(&environment.slice()?[..length]);
        Ok(())
    }

    fn is_concurrent(&self) -> bool {
        true
    }

    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        parallel::join(a, b)
    }
}

/// Number of threads for each of `halves` sweeps that run at the same time.
fn lanes(context: &Context, halves: usize) -> usize {
    context.pool().threads().div_ceil(halves).max(1)
}
