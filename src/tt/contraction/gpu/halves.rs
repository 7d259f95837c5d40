//! Inner products by dense tensors, for short trains of large ranks.

use super::call::Call;
use super::pieces::{self, Piece};
use super::products::Products;
use super::scale::Exponents;
use crate::alloc;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::kernels::tt::{self, RESULT_WORDS, Site};
use crate::backend::gpu::{Blas, Region, Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::Complex;
use crate::shape::product;
use crate::trains::options::Math;
use crate::trains::scaled::Scaled;

/// Partial sums that the host reads together. Until then it does not wait for the device.
const SUMS: usize = 1 << 10;

/// One half of the cores of x or of y.
#[derive(Clone, Copy)]
struct Half {
    is_x: bool,
    leftwards: bool,
}

impl Half {
    /// All four halves, in the order of [`Half::index`].
    const ALL: [Self; 4] = [
        Self { is_x: true, leftwards: false },
        Self { is_x: true, leftwards: true },
        Self { is_x: false, leftwards: false },
        Self { is_x: false, leftwards: true },
    ];

    fn index(self) -> usize {
        2 * usize::from(!self.is_x) + usize::from(self.leftwards)
    }
}

/// A train as a product of two matrices, L[I, m] R[m, J], divided by a power of two. I and J are the mode indices of
/// the left and of the right half. m is the bond between them and, slower, the bond at the cut.
struct Halves<'a> {
    left: Piece<'a>,
    right: Piece<'a>,
    rows: usize,
    inner: usize,
    columns: usize,
}

/// Memory of the dense tensors of both halves.
enum Space<'a> {
    /// One allocation for each tensor, freed when it is no longer needed.
    Own,
    /// The caller's memory. The steps of a half alternate between the half's own piece and `beside`, so that the last
    /// tensor is in the half's own piece. `panels` has one panel for each train.
    Borrowed { halves: [Region<'a>; 4], beside: Region<'a>, panels: [Region<'a>; 2] },
}

/// Contents of a buffer.
#[derive(Clone, Copy)]
enum Tensor {
    /// A tensor of a half, and the number of further tensors until the half is complete.
    Of(Half, usize),
    /// A panel of columns of the dense tensor of x (0) or y (1).
    Panel(usize),
}

/// A contraction by dense tensors.
struct Dense<'a> {
    call: &'a Call<'a>,
    products: &'a Products<'a>,
    exponents: Exponents<'a>,
    space: Space<'a>,
}

/// Left bond, mode size and right bond of a site.
fn core(call: &Call<'_>, is_x: bool, i: usize) -> [usize; 3] {
    let Site { r, s, n } = call.sites[i];
    let [left, right] = if is_x { r } else { s };
    [left, n, right]
}

/// Whether x and y are one train, so that its dense tensor is computed only once.
fn is_one(call: &Call<'_>) -> bool {
    call.work.x.is_same(call.work.y)
}

/// Elements of the successive tensors of a half.
fn tensors(call: &Call<'_>, half: Half) -> Result<Vec<usize>> {
    let (split, all) = (call.plan().split, call.sites.len());
    let p = core(call, half.is_x, 0)[0];
    let size = |a, b| product("workspace_limit", a, b);
    let mut sizes = alloc::with_capacity("half of a dense tensor", all + 1)?;
    if half.leftwards && split == all {
        sizes.push(size(p, p)?);
        return Ok(sizes);
    }
    let mut rows = p;
    for k in 0..if half.leftwards { all - split } else { split } {
        let [left, n, right] = core(call, half.is_x, if half.leftwards { all - 1 - k } else { k });
        rows = size(rows, n)?;
        sizes.push(size(rows, if half.leftwards { left } else { right })?);
    }
    if p > 1 {
        // A copy of the last tensor with its indices in another order.
        sizes.extend_from_within(sizes.len().saturating_sub(1)..);
    }
    Ok(sizes)
}

/// Number of mode index combinations of the left half, and of the right half.
fn indices(call: &Call<'_>) -> Result<[usize; 2]> {
    let all = |sites: &[Site]| sites.iter().try_fold(1, |sum, site| product("workspace_limit", sum, site.n));
    let (left, right) = call.sites.split_at(call.plan().split);
    Ok([all(left)?, all(right)?])
}

/// Number of columns of the dense tensors that are computed at a time.
fn panel(call: &Call<'_>) -> Result<usize> {
    let [_, columns] = indices(call)?;
    Ok(call.plan().panel.clamp(1, columns))
}

/// Bytes of the pieces of workspace for [`enqueue`]: four halves, `beside`, two panels.
pub(super) fn bytes(call: &Call<'_>) -> Result<[usize; 7]> {
    let one = is_one(call);
    let (mut halves, mut beside) = ([0; 4], 0);
    for half in Half::ALL {
        if one && !half.is_x {
            continue;
        }
        let sizes = tensors(call, half)?;
        let most = |after: usize| sizes.iter().rev().skip(after).step_by(2).copied().max().unwrap_or(0);
        halves[half.index()] = most(0);
        beside = beside.max(most(1));
    }
    let columns = product("workspace_limit", indices(call)?[0], panel(call)?)?;
    let [a, b, c, d] = halves;
    let mut sizes = [a, b, c, d, beside, columns, if one { 0 } else { columns }];
    for size in &mut sizes {
        *size = product("workspace_limit", *size, call.dtype().size())?;
    }
    Ok(sizes)
}

/// Exponents of x and of y, and two more that stay 0, the initial exponents of sums.
pub(super) const EXPONENTS: usize = 4;

/// Number of terms that [`enqueue`] writes.
pub(super) fn terms(call: &Call<'_>) -> Result<usize> {
    let ([rows, columns], panel) = (indices(call)?, panel(call)?);
    let of = |width: usize| product("workspace_limit", rows, width).map(tt::sum_blocks);
    let last = columns % panel;
    product("terms", columns / panel, of(panel)?)?
        .checked_add(if last > 0 { of(last)? } else { 0 })
        .ok_or_else(|| Error::invalid("workspace_limit", "is for more terms than there are addresses"))
}

/// The sum S by the dense tensors of both halves.
pub(super) fn contract(call: &Call<'_>, blas: &Blas, math: Math) -> Result<Scaled> {
    let products = Products::new(call.dtype(), call.gpu, blas, math)?;
    let exponents = Exponents::new(call.dtype(), call.gpu, call.stream, EXPONENTS)?;
    let dense = Dense { call, products: &products, exponents, space: Space::Own };
    let x = dense.halves(true)?;
    let y = if is_one(call) { None } else { Some(dense.halves(false)?) };
    let sum = dense.sum(&x, y.as_ref())?;
    let exponents = dense.exponents.read()?;
    let of = |index: usize| exponents.get(index).copied().unwrap_or(0);
    let exponent = of(0).saturating_add(of(usize::from(!is_one(call))));
    call.work.step()?;
    Ok(sum.times(Scaled::new(Complex::new(1.0, 0.0), exponent)))
}

/// Enqueues the sum S. `space` has the pieces of [`bytes`], `states` the memory of [`EXPONENTS`] exponents. Writes and
/// returns [`terms`] terms.
pub(super) fn enqueue(
    call: &Call<'_>,
    products: &Products<'_>,
    space: Region<'_>,
    states: Region<'_>,
    results: Region<'_>,
) -> Result<usize> {
    let [a, b, c, d, beside, p, q] = pieces::divide(space, bytes(call)?)?;
    let exponents = Exponents::in_memory(call.dtype(), call.gpu, call.stream, EXPONENTS, states)?;
    let space = Space::Borrowed { halves: [a, b, c, d], beside, panels: [p, q] };
    let dense = Dense { call, products, exponents, space };
    let x = dense.halves(true)?;
    let y = if is_one(call) {
        dense.exponents.copy(0, 1)?;
        None
    } else {
        Some(dense.halves(false)?)
    };
    let (panels, width) = (dense.panels(&x, y.is_some())?, panel(call)?);
    let (states, word) = (dense.exponents.states(0, 2)?, RESULT_WORDS * 8);
    let mut held = 0;
    for first in (0..x.columns).step_by(width) {
        let width = width.min(x.columns - first);
        let blocks = tt::sum_blocks(x.rows * width);
        let out = results.part(held * word, blocks * word)?;
        dense.panel((&x, y.as_ref()), &panels, first..first + width, states, out)?;
        held += blocks;
    }
    Ok(held)
}

impl<'a> Dense<'a> {
    fn memory(&self, tensor: Tensor, elements: usize) -> Result<Piece<'a>> {
        let bytes = product("workspace_limit", elements, self.call.dtype().size())?;
        // Zeroed, as every output of a library product whose factors are in device memory.
        let (gpu, stream) = (self.call.gpu, self.call.stream);
        let place = match (&self.space, tensor) {
            (Space::Own, Tensor::Of(..)) => {
                return Ok(Piece::Own(gpu.allocate_on(stream, "half of a dense tensor", bytes)?));
            }
            (Space::Own, Tensor::Panel(_)) => {
                return Ok(Piece::Own(gpu.allocate_on(stream, "panel of a dense tensor", bytes)?));
            }
            (Space::Borrowed { halves, .. }, Tensor::Of(half, after)) if after % 2 == 0 => halves[half.index()],
            (Space::Borrowed { beside, .. }, Tensor::Of(..)) => *beside,
            (Space::Borrowed { panels, .. }, Tensor::Panel(index)) => panels[index],
        };
        let place = place.part(0, bytes)?;
        gpu.clear(stream, place)?;
        Ok(Piece::Borrowed(place))
    }

    fn halves(&self, is_x: bool) -> Result<Halves<'a>> {
        let (call, split) = (self.call, self.call.plan().split);
        let all = self.call.sites.len();
        let p = core(call, is_x, 0)[0];
        let [_, _, bond] = core(call, is_x, split - 1);
        let inner = product("workspace_limit", bond, p)?;
        let [rows, columns] = indices(call)?;
        let half = Half { is_x, leftwards: false };
        let mut left = self.grown(half)?;
        if p > 1 {
            // Reorder [p, I, a] to [I, a, p], with the bond at the cut last.
            let turned = self.memory(Tensor::Of(half, 0), product("workspace_limit", rows, inner)?)?;
            let from = View::packed(left.whole(), p, rows * bond);
            let to = View::packed(turned.whole(), rows * bond, p);
            dense::place(call.dtype(), call.gpu, call.stream, from, to, true, false)?;
            left = turned;
        }
        let half = Half { is_x, leftwards: true };
        if split == all {
            let right = self.memory(Tensor::Of(half, 0), inner)?;
            pieces::identity(call.dtype(), call.gpu, call.stream, self.products.numbers(), right.whole(), p)?;
            return Ok(Halves { left, right, rows, inner, columns });
        }
        let mut right = self.grown(half)?;
        if p > 1 {
            // Reorder [a, J, p] to [a, p, J], with the bond at the cut before the mode indices.
            let turned = self.memory(Tensor::Of(half, 0), product("workspace_limit", inner, columns)?)?;
            let from = View::packed(right.whole(), bond, columns * p);
            let to = View::packed(turned.whole(), inner, columns);
            for q in 0..p {
                let from = from.columns(call.dtype(), columns * q, columns)?;
                let to = to.rows(call.dtype(), bond * q, bond)?;
                dense::place(call.dtype(), call.gpu, call.stream, from, to, false, false)?;
            }
            right = turned;
        }
        Ok(Halves { left, right, rows, inner, columns })
    }

    /// The dense tensor over the sites of a half: [p, I, a], or [a, J, p] if `leftwards`.
    fn grown(&self, half: Half) -> Result<Piece<'a>> {
        let (call, Half { is_x, leftwards }) = (self.call, half);
        let (split, all) = (call.plan().split, call.sites.len());
        let sizes = tensors(call, half)?;
        let mut held: Option<Piece<'a>> = None;
        let mut rows = core(call, is_x, 0)[0];
        for k in 0..if leftwards { all - split } else { split } {
            let i = if leftwards { all - 1 - k } else { k };
            let [left, n, right] = core(call, is_x, i);
            let (near, far) = if leftwards { (right, left) } else { (left, right) };
            let core = if is_x { call.x[i] } else { call.y[i] };
            let size = sizes[k];
            let next = self.memory(Tensor::Of(half, sizes.len() - 1 - k), size)?;
            match &held {
                // The first core is already the matrix: its bond at the cut is the row index p.
                None => {
                    let (from, to) = (View::packed(core, size, 1), View::packed(next.whole(), size, 1));
                    dense::place(call.dtype(), call.gpu, call.stream, from, to, false, false)?;
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
                    self.products.multiply(None, false, (a, Transpose::Plain), (b, Transpose::Plain), to)?;
                }
            }
            self.exponents.take(next.whole(), size, usize::from(!is_x))?;
            rows *= n;
            held = Some(next);
            call.work.cancel.check()?;
        }
        held.ok_or_else(|| Error::Internal("half of a tensor train without sites".into()))
    }

    /// Memory for a panel of x and, if `has_y`, for one of y.
    fn panels(&self, x: &Halves<'_>, has_y: bool) -> Result<[Option<Piece<'a>>; 2]> {
        let size = product("workspace_limit", x.rows, panel(self.call)?)?;
        let first = self.memory(Tensor::Panel(0), size)?;
        Ok([Some(first), if has_y { Some(self.memory(Tensor::Panel(1), size)?) } else { None }])
    }

    /// Writes columns of the dense tensor [I, J], from `first` on, to `to`.
    fn columns(&self, of: &Halves<'_>, first: usize, to: View<'_>) -> Result<()> {
        let left = View::packed(of.left.whole(), of.rows, of.inner);
        let right = View::packed(of.right.whole(), of.inner, of.columns).columns(self.call.dtype(), first, to.cols)?;
        self.products.multiply(None, false, (left, Transpose::Plain), (right, Transpose::Plain), to)
    }

    /// Enqueues the partial sums over some columns of x[i] cj(y[i]), or of x[i] cj(x[i]) without y, with the exponents
    /// of two states.
    fn panel(
        &self,
        (x, y): (&Halves<'_>, Option<&Halves<'_>>),
        panels: &[Option<Piece<'_>>; 2],
        columns: std::ops::Range<usize>,
        states: Region<'_>,
        out: Region<'_>,
    ) -> Result<()> {
        let (call, width) = (self.call, columns.len());
        let of = |index: usize| panels[index].as_ref().map(Piece::whole);
        let a = of(0).ok_or_else(|| Error::Internal("a dense tensor without a panel".into()))?;
        self.columns(x, columns.start, View::packed(a, x.rows, width))?;
        let mut other = a;
        if let (Some(y), Some(b)) = (y, of(1)) {
            self.columns(y, columns.start, View::packed(b, x.rows, width))?;
            other = b;
        }
        let all = (x.rows * width, 0);
        let flags = (call.plan().conjugate, false);
        tt::join(call.dtype(), call.gpu, call.stream, a, Some(other), all, states, None, flags, out)
    }

    /// The sum over all entries. Panels of columns of both tensors are computed and summed one by one; the partial sums
    /// are added in their order.
    fn sum(&self, x: &Halves<'_>, y: Option<&Halves<'_>>) -> Result<Scaled> {
        let call = self.call;
        let panel = panel(call)?;
        let panels = self.panels(x, y.is_some())?;
        let zeros = self.exponents.states(2, 2)?;
        // The last panel may have fewer columns and then has fewer partial sums.
        let most = tt::sum_blocks(x.rows * panel);
        let capacity = SUMS.max(most).min(most.saturating_mul(x.columns.div_ceil(panel)));
        let results = call.results(capacity)?;
        let (mut sum, mut held) = (Scaled::ZERO, 0);
        for first in (0..x.columns).step_by(panel) {
            let end = x.columns.min(first + panel);
            let (word, blocks) = (RESULT_WORDS * 8, tt::sum_blocks(x.rows * (end - first)));
            let out = results.region(held * word, blocks * word)?;
            self.panel((x, y), &panels, first..end, zeros, out)?;
            held += blocks;
            if end == x.columns || held + most > capacity {
                sum = call.read(&results, held)?.iter().fold(sum, |sum, part| sum.plus(part.value));
                held = 0;
                call.work.cancel.check()?;
            }
        }
        Ok(sum)
    }
}
