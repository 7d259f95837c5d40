//! Blocks of boundary pairs by cuBLAS, in one of two layouts.
//!
//! In the layout F[b, a, p], pair after pair, a site takes two products for each pair, and one library call computes a
//! product for all pairs. In the merged layout F[b, p, a], a product is one matrix product for all pairs, but it is
//! computed once for each value of the mode, and the second product is added to the earlier ones. The merged layout is
//! used for single pairs, if the workspace is too small for products with a whole core, and for arithmetic without
//! batched library calls.

use std::ops::Range;

use super::call::{Call, Sums};
use super::careful::Scaling;
use super::products::{Products, adjoint};
use crate::backend::gpu::kernels::tt::{self, Edge, RESULT_WORDS, STATE_BYTES, Site};
use crate::backend::gpu::{Blas, DeviceMemory, Region, Series, Transpose, View};
use crate::contraction::cost::First;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{product, to_u64};
use crate::trains::options::Math;

/// Terms that the host reads together. Until then it does not wait for the device.
const TERMS: usize = 1 << 16;
/// Number of sites from one measured environment to the next in double precision, whose range is wide enough.
const INTERVAL: usize = 4;

/// Slice i of a core r x n x r'.
pub(super) fn slice(dtype: DType, core: Region<'_>, [left, right]: [usize; 2], n: usize, i: usize) -> Result<View<'_>> {
    let skip = i * left * dtype.size();
    let rest = core.bytes().checked_sub(skip);
    let rest = rest.ok_or_else(|| Error::Internal(format!("slice {i} of a core of {} bytes", core.bytes())))?;
    Ok(View { memory: core.part(skip, rest)?, rows: left, cols: right, ld: left * n })
}

/// Number of sites from one measured environment to the next.
pub(super) fn interval(call: &Call<'_>) -> usize {
    if call.plan().dtype.is_single() { 1 } else { INTERVAL }
}

/// Elements of the largest environment, and of the largest product with a slice of a core, for one pair.
fn largest(call: &Call<'_>) -> Result<(usize, usize)> {
    let plan = call.plan();
    let (mut environment, mut products) = (1, 1);
    for i in 0..call.sites.len() {
        let Site { r, s, .. } = call.sites[i];
        let inner = i + 1 < call.sites.len() || call.length > call.sites.len();
        if inner {
            environment = environment.max(product("rank", r[1], s[1])?);
        }
        products = products.max(match plan.order[plan.core(to_u64(i))] {
            First::X => product("rank", s[0], r[1])?,
            First::Y => product("rank", r[0], s[1])?,
        });
    }
    Ok((environment, products))
}

/// Elements of the product of one pair's environment with a whole core, the largest of all sites.
fn whole_products(call: &Call<'_>) -> Result<usize> {
    let plan = call.plan();
    let mut most = 1;
    for (i, Site { r, s, n }) in call.sites.iter().copied().enumerate() {
        let one = match plan.order[plan.core(to_u64(i))] {
            First::X => product("rank", s[0], r[1])?,
            First::Y => product("rank", r[0], s[1])?,
        };
        most = most.max(product("rank", one, n)?);
    }
    Ok(most)
}

/// Memory for the environments and products of a block of pairs.
pub(super) struct Workspace<'a> {
    pub(super) f: Region<'a>,
    /// The next environments. `None` in the layout pair after pair, in which they overwrite `f`.
    pub(super) g: Option<Region<'a>>,
    pub(super) t: Region<'a>,
    pub(super) state: Region<'a>,
    pub(super) scaling: Scaling<'a>,
}

/// Bytes for the largest block: of F, of G in the merged layout, and of T.
pub(super) fn bytes(call: &Call<'_>, math: Math) -> Result<(usize, Option<usize>, usize)> {
    let plan = call.plan();
    let most = plan.block.min(plan.pairs.len()).max(1);
    let (environment, products) = largest(call)?;
    let whole = whole_products(call)?;
    // The plan counts three environments for each pair of a block. Products use two of them here. For a single pair it
    // counts one environment and one product.
    let fits = if most > 1 { whole <= 2 * environment } else { whole < environment + products };
    let bytes = |elements: usize| product("pairs", product("pairs", elements, most)?, call.dtype().size());
    let one = bytes(environment)?;
    if Products::takes_many(math) && fits {
        return Ok((one, None, bytes(whole)?));
    }
    Ok((one, Some(one), bytes(products)?))
}

/// Computes the terms of all pairs of these blocks. Returns whether digits may be lost, so that `chain` must recompute
/// them with care.
pub(super) fn contract(
    call: &Call<'_>,
    blas: &Blas,
    math: Math,
    blocks: Range<usize>,
    sums: &mut Sums<'_>,
) -> Result<bool> {
    let plan = call.plan();
    let (gpu, stream) = (call.gpu, call.stream);
    let most = plan.block.min(plan.pairs.len()).max(1);
    let (f, g, t) = bytes(call, math)?;
    // Zeroed, because the library may multiply old contents by a factor 0 that it reads from device memory. With old
    // contents of NaN the product would be NaN.
    let work_space = |bytes| gpu.allocate_on(stream, "work space of a contraction", bytes);
    let by_cublas = Products::new(call.dtype(), gpu, blas, math)?;
    let (f, g, t) = (work_space(f)?, g.map(work_space).transpose()?, work_space(t)?);
    let state = gpu.allocate_on(stream, "state of a contraction", STATE_BYTES)?;
    let g = g.as_ref().map(DeviceMemory::whole);
    let mut workspace = Workspace { f: f.whole(), g, t: t.whole(), state: state.whole(), scaling: Scaling::Measured };
    let capacity = TERMS.max(most);
    let results = call.results(capacity.min(plan.pairs.len()))?;
    let (mut from, mut held, mut doubt) = (plan.pairs.block(blocks.start, plan.block).start, 0, false);
    for index in blocks {
        let pairs = plan.pairs.block(index, plan.block);
        if held + pairs.len() > capacity {
            doubt |= sums.add(from, &call.read(&results, held)?)?;
            (from, held) = (pairs.start, 0);
        }
        let word = RESULT_WORDS * 8;
        let out = results.region(held * word, pairs.len() * word)?;
        held += pairs.len();
        block(call, &by_cublas, &mut workspace, pairs, out)?;
    }
    doubt |= sums.add(from, &call.read(&results, held)?)?;
    Ok(doubt && call.rescues())
}

/// Enqueues the sweep of one block of pairs.
pub(super) fn block(
    call: &Call<'_>,
    products: &Products<'_>,
    workspace: &mut Workspace<'_>,
    pairs: Range<usize>,
    results: Region<'_>,
) -> Result<()> {
    let (plan, gpu, stream) = (call.plan(), call.gpu, call.stream);
    let count = pairs.len();
    let (core, apart) = (|i: usize| i % call.sites.len(), workspace.g.is_none());
    // Sites between the first and the last: the core, and whether X is multiplied first.
    let inner = |i: usize| (i + 1 < call.length).then(|| (core(i), plan.order[plan.core(to_u64(i))] == First::X));
    let edge = |i: usize| Edge {
        x: call.x[core(i)],
        y: call.y[core(i)],
        site: call.sites[core(i)],
        pairs: (pairs.start, count),
        halved: plan.pairs.halved,
        conjugate: plan.conjugate,
        apart,
        careful: workspace.scaling.edge(core(i), if i == 0 { inner(1) } else { None }),
    };
    let (first, last) = (edge(0), edge(call.length - 1));
    gpu.clear(stream, workspace.state)?;
    tt::begin(call.dtype(), gpu, stream, &first, workspace.f, workspace.state)?;
    let mut measured = false;
    for i in 0..call.length - 1 {
        if i > 0 {
            if apart {
                site_apart(call, products, workspace, i, count, measured)?;
            } else {
                site(call, products, workspace, i, count, measured)?;
            }
            if let Some(g) = &mut workspace.g {
                std::mem::swap(&mut workspace.f, g);
            }
        }
        let Site { r, s, .. } = call.sites[core(i)];
        let elements = product("pairs", product("rank", r[1], s[1])?, count)?;
        measured = match workspace.scaling {
            Scaling::Measured if i.is_multiple_of(interval(call)) || i + 2 == call.length => {
                tt::measure(call.dtype(), gpu, stream, workspace.f, elements, workspace.state, call.unscaled)?;
                true
            }
            Scaling::Measured => false,
            Scaling::Careful(careful) => {
                let (now, next) = (inner(i + 1), inner(i + 2));
                careful.measure(gpu, stream, (workspace.f, elements), now, next, workspace.state)?;
                true
            }
        };
        call.work.step()?;
    }
    tt::end(call.dtype(), gpu, stream, &last, workspace.f, workspace.state, results)?;
    call.work.step()
}

/// Applies a site: G of the next bond from F. If `measured`, F is multiplied by the state's factor.
fn site(
    call: &Call<'_>,
    products: &Products<'_>,
    workspace: &Workspace<'_>,
    i: usize,
    count: usize,
    measured: bool,
) -> Result<()> {
    let plan = call.plan();
    let k = i % call.sites.len();
    let Site { r: [r, r2], s: [s, s2], n } = call.sites[k];
    let Some(g) = &workspace.g else {
        return Err(Error::Internal("merged pairs without memory for the next environment".into()));
    };
    let (f, g, t) = (workspace.f, *g, workspace.t);
    let (alpha, second) = (measured.then_some(workspace.state), workspace.scaling.second());
    let taken = adjoint(plan.conjugate);
    for j in 0..n {
        let x = (slice(call.dtype(), call.x[k], [r, r2], n, j)?, Transpose::Plain);
        let y = (slice(call.dtype(), call.y[k], [s, s2], n, j)?, taken);
        let plain = |memory, rows, cols| (View::packed(memory, rows, cols), Transpose::Plain);
        match plan.order[plan.core(to_u64(i))] {
            First::X => {
                products.multiply(alpha, false, plain(f, s * count, r), x, View::packed(t, s * count, r2))?;
                products.multiply(second, j > 0, y, plain(t, s, count * r2), View::packed(g, s2, count * r2))?;
            }
            First::Y => {
                products.multiply(alpha, false, y, plain(f, s, count * r), View::packed(t, s2, count * r))?;
                products.multiply(second, j > 0, plain(t, s2 * count, r), x, View::packed(g, s2 * count, r2))?;
            }
        }
    }
    Ok(())
}

/// Applies a site in the layout pair after pair: the next environments overwrite the last ones.
fn site_apart(
    call: &Call<'_>,
    products: &Products<'_>,
    workspace: &Workspace<'_>,
    i: usize,
    count: usize,
    measured: bool,
) -> Result<()> {
    let plan = call.plan();
    let k = i % call.sites.len();
    let Site { r: [r, r2], s: [s, s2], n } = call.sites[k];
    let (f, t) = (workspace.f, workspace.t);
    let (alpha, second) = (measured.then_some(workspace.state), workspace.scaling.second());
    let taken = adjoint(plan.conjugate);
    let all = |first, stride| Series { first, stride };
    let (core_x, core_y) = (call.x[k], call.y[k]);
    let next = all(View::packed(f, s2, r2), s2 * r2);
    match plan.order[plan.core(to_u64(i))] {
        First::X => {
            // T[b, (i a')] = F[b, a] X[a, (i a')], F'[b', a'] = cj(Y[(b i), b']) T[(b i), a'].
            let each = s * n * r2;
            let from = (all(View::packed(f, s, r), s * r), Transpose::Plain);
            let x = (all(View::packed(core_x, r, n * r2), 0), Transpose::Plain);
            products.multiply_all(alpha, false, from, x, all(View::packed(t, s, n * r2), each), count)?;
            let y = (all(View::packed(core_y, s * n, s2), 0), taken);
            let made = (all(View::packed(t, s * n, r2), each), Transpose::Plain);
            products.multiply_all(second, false, y, made, next, count)
        }
        First::Y => {
            // T[b', (a i)] = cj(Y[b, i, b']) F[b, a], F'[b', a'] = T[b', (a i)] X[(a i), a'].
            let each = s2 * r * n;
            for j in 0..n {
                let y = (all(slice(call.dtype(), core_y, [s, s2], n, j)?, 0), taken);
                let from = (all(View::packed(f, s, r), s * r), Transpose::Plain);
                let skip = j * s2 * r * call.dtype().size();
                let part = t.part(skip, t.bytes() - skip)?;
                products.multiply_all(alpha, false, y, from, all(View::packed(part, s2, r), each), count)?;
            }
            // The core as (a i) x a'.
            let x = (all(View::packed(core_x, r * n, r2), 0), Transpose::Plain);
            let made = (all(View::packed(t, s2, r * n), each), Transpose::Plain);
            products.multiply_all(second, false, made, x, next, count)
        }
    }
}
