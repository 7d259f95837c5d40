//! Inner products by way of dense tensors: for short trains of large ranks.

use super::Call;
use super::products::Products;
use super::scale::Exponents;
use crate::alloc;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::kernels::tt::{self, RESULT_WORDS, Site};
use crate::backend::gpu::{Blas, DeviceMemory, Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};
use crate::shape::product;
use crate::tt::options::Math;
use crate::tt::scaled::Scaled;

/// Partial sums that are read together: until then nothing waits for the device.
const SUMS: usize = 1 << 10;

/// A train as a product of two matrices, L[I, m] R[m, J], divided by a power of two. I and J are all mode indices of either
/// half, m is the bond between them and, counting slower, that at the cut.
struct Halves {
    left: DeviceMemory,
    right: DeviceMemory,
    rows: usize,
    inner: usize,
    columns: usize,
}

/// A contraction by way of them.
struct Dense<'a> {
    call: &'a Call<'a>,
    products: Products<'a>,
    exponents: Exponents<'a>,
}

/// S by dense tensors.
pub(super) fn contract<T: Scalar>(call: &Call<'_>, blas: &Blas, math: Math) -> Result<Scaled> {
    let products = Products::new::<T>(call.gpu, blas, math)?;
    // Those of x and y, and two that stay 0, which sums of scaled numbers begin with.
    let dense = Dense { call, products, exponents: Exponents::new(call.gpu, call.stream, 4)? };
    let x = dense.halves::<T>(true)?;
    let same = call.work.x.is_same(call.work.y);
    let y = if same { None } else { Some(dense.halves::<T>(false)?) };
    let sum = dense.sum::<T>(&x, y.as_ref())?;
    let exponents = dense.exponents.read()?;
    let of = |index: usize| exponents.get(index).copied().unwrap_or(0);
    let exponent = of(0).saturating_add(of(if same { 0 } else { 1 }));
    call.work.step()?;
    Ok(sum.times(Scaled::new(Complex::new(1.0, 0.0), exponent)))
}

impl Dense<'_> {
    fn memory<T: Scalar>(&self, what: &'static str, elements: usize) -> Result<DeviceMemory> {
        // Zeroed, as is all that a product by way of factors in device memory is written to.
        self.call.gpu.allocate_on(self.call.stream, what, product("workspace_limit", elements, size_of::<T>())?)
    }

    /// Left bond, mode size and right bond of a site.
    fn core(&self, is_x: bool, i: usize) -> [usize; 3] {
        let Site { r, s, n } = self.call.sites[i];
        let [left, right] = if is_x { r } else { s };
        [left, n, right]
    }

    fn halves<T: Scalar>(&self, is_x: bool) -> Result<Halves> {
        let (call, split) = (self.call, self.call.plan().split);
        let all = self.call.sites.len();
        let p = self.core(is_x, 0)[0];
        let [_, _, bond] = self.core(is_x, split - 1);
        let inner = product("workspace_limit", bond, p)?;
        let (mut left, rows) = self.grown::<T>(is_x, 0..split, false)?;
        let rows = rows / p;
        if p > 1 {
            // [p, I, a]: the bond at the cut goes to the end.
            let turned = self.memory::<T>("half of a dense tensor", product("workspace_limit", rows, inner)?)?;
            let from = View::packed(left.whole(), p, rows * bond);
            let to = View::packed(turned.whole(), rows * bond, p);
            dense::place::<T>(call.gpu, call.stream, from, to, true, false)?;
            left = turned;
        }
        if split == all {
            let mut identity = alloc::filled("half of a dense tensor", inner, T::default())?;
            identity.iter_mut().step_by(p + 1).for_each(|v| *v = T::from_parts(1.0, 0.0));
            let mut right = self.memory::<T>("half of a dense tensor", inner)?;
            call.gpu.store_numbers(call.stream, &identity, &mut right, 0)?;
            return Ok(Halves { left, right, rows, inner, columns: 1 });
        }
        let (mut right, columns) = self.grown::<T>(is_x, (split..all).rev(), true)?;
        let columns = columns / p;
        if p > 1 {
            // [a, J, p]: the bond at the cut comes before the mode indices.
            let turned = self.memory::<T>("half of a dense tensor", product("workspace_limit", inner, columns)?)?;
            let from = View::packed(right.whole(), bond, columns * p);
            let to = View::packed(turned.whole(), inner, columns);
            for q in 0..p {
                let (from, to) = (from.columns::<T>(columns * q, columns)?, to.rows::<T>(bond * q, bond)?);
                dense::place::<T>(call.gpu, call.stream, from, to, false, false)?;
            }
            right = turned;
        }
        Ok(Halves { left, right, rows, inner, columns })
    }

    /// The dense tensor over some sites, met in this order: [p, I, a], or leftwards [a, J, p]. Also the size of (p I).
    fn grown<T: Scalar>(
        &self,
        is_x: bool,
        sites: impl Iterator<Item = usize>,
        leftwards: bool,
    ) -> Result<(DeviceMemory, usize)> {
        let call = self.call;
        let mut held: Option<DeviceMemory> = None;
        let mut rows = self.core(is_x, 0)[0];
        for i in sites {
            let [left, n, right] = self.core(is_x, i);
            let (near, far) = if leftwards { (right, left) } else { (left, right) };
            let core = if is_x { call.x[i] } else { call.y[i] };
            let size = product("workspace_limit", product("workspace_limit", rows, n)?, far)?;
            let next = self.memory::<T>("half of a dense tensor", size)?;
            match &held {
                // The bond at the cut stands for the rows.
                None => {
                    let (from, to) = (View::packed(core, size, 1), View::packed(next.whole(), size, 1));
                    dense::place::<T>(call.gpu, call.stream, from, to, false, false)?;
                }
                Some(held) => {
                    let (a, b, shape) = if leftwards {
                        let core = View::packed(core, far * n, near);
                        (core, View::packed(held.whole(), near, rows), (far * n, rows))
                    } else {
                        let core = View::packed(core, near, n * far);
                        (View::packed(held.whole(), rows, near), core, (rows, n * far))
                    };
                    let to = View::packed(next.whole(), shape.0, shape.1);
                    self.products.multiply::<T>(None, false, (a, Transpose::Plain), (b, Transpose::Plain), to)?;
                }
            }
            self.exponents.take::<T>(next.whole(), size, if is_x { 0 } else { 1 })?;
            rows *= n;
            held = Some(next);
            call.work.cancel.check()?;
        }
        let held = held.ok_or_else(|| Error::Internal("half of a tensor train without sites".into()))?;
        Ok((held, rows))
    }

    /// Columns of the dense tensor [I, J] from `first` on.
    fn columns<T: Scalar>(&self, of: &Halves, first: usize, to: View<'_>) -> Result<()> {
        let left = View::packed(of.left.whole(), of.rows, of.inner);
        let right = View::packed(of.right.whole(), of.inner, of.columns).columns::<T>(first, to.cols)?;
        self.products.multiply::<T>(None, false, (left, Transpose::Plain), (right, Transpose::Plain), to)
    }

    /// The sum over all entries of x[i] cj(y[i]), or of x alone: panels of columns of both, each summed on its own, added in
    /// order.
    fn sum<T: Scalar>(&self, x: &Halves, y: Option<&Halves>) -> Result<Scaled> {
        let (call, plan) = (self.call, self.call.plan());
        let panel = plan.panel.clamp(1, x.columns);
        let size = product("workspace_limit", x.rows, panel)?;
        let a = self.memory::<T>("panel of a dense tensor", size)?;
        let b = if y.is_some() { Some(self.memory::<T>("panel of a dense tensor", size)?) } else { None };
        let zeros = self.exponents.states(2, 2)?;
        // The last panel may be narrower, and so have fewer sums.
        let most = tt::sum_blocks(size);
        let capacity = SUMS.max(most).min(most.saturating_mul(x.columns.div_ceil(panel)));
        let results = call.results(capacity)?;
        let (mut sum, mut held) = (Scaled::ZERO, 0);
        for first in (0..x.columns).step_by(panel) {
            let width = panel.min(x.columns - first);
            let count = x.rows * width;
            self.columns::<T>(x, first, View::packed(a.whole(), x.rows, width))?;
            let mut other = &a;
            if let (Some(y), Some(b)) = (y, &b) {
                self.columns::<T>(y, first, View::packed(b.whole(), x.rows, width))?;
                other = b;
            }
            let (word, blocks) = (RESULT_WORDS * 8, tt::sum_blocks(count));
            let out = results.region(held * word, blocks * word)?;
            let flags = (plan.conjugate, false);
            let (left, right) = (a.whole(), Some(other.whole()));
            tt::join::<T>(call.gpu, call.stream, left, right, (count, 0), zeros, None, flags, out)?;
            held += blocks;
            if first + width == x.columns || held + most > capacity {
                sum = call.read(&results, held)?.iter().fold(sum, |sum, part| sum.plus(part.value));
                held = 0;
                call.work.cancel.check()?;
            }
        }
        Ok(sum)
    }
}
