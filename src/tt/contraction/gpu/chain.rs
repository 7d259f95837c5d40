//! Sweeps by purlin's own kernels: one product for each thread block, or one product by all blocks of the device.

use std::ops::Range;

use super::call::{Call, Sums, Term};
use crate::backend::gpu::Gpu;
use crate::backend::gpu::kernels::tt::{self, Form, GridSpace, Places, STATE_BYTES, Site, Tables};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::product;

/// Largest number of pairs of one launch. A call can be cancelled between launches.
const PAIRS: usize = 1 << 16;
/// Number of products up to which each gets a block of many warps. More products fill the device with smaller blocks.
const FEW: usize = 264;

/// The form of the chain kernel for `count` products; `None` if no form supports these ranks on this device.
pub(super) fn form_of(dtype: DType, gpu: &Gpu, sites: &[Site], length: usize, count: usize) -> Result<Option<Form>> {
    let edge = tt::chain_edge(sites, length);
    // As measured, a block of sixteen warps is never faster than one of four, which receives its slices as early.
    let order = if count <= FEW { [Form::B, Form::D, Form::C, Form::A] } else { [Form::A, Form::B, Form::D, Form::C] };
    for form in order {
        if tt::chain_fits(dtype, gpu, form, edge)? {
            return Ok(Some(form));
        }
    }
    Ok(None)
}

fn tables<'a>(call: &Call<'a>, careful: bool) -> Result<Tables<'a>> {
    let sites = crate::alloc::copied("sites of a contraction", &call.sites)?;
    let (x, y) = ([call.x.clone()], [call.y.clone()]);
    let (x, y) = (Places::Cores(&x), Places::Cores(&y));
    let mut tables = Tables::new(call.dtype(), call.gpu, call.stream, sites, x, y, &[(0, 0)])?;
    if careful {
        tables.measure(call.dtype(), call.gpu, call.stream)?;
    }
    Ok(tables)
}

/// Computes the terms of pairs, one thread block for each. Returns whether digits may be lost, so that they must be
/// repeated with care.
pub(super) fn pairs(call: &Call<'_>, form: Form, terms: Range<usize>, sums: &mut Sums<'_>) -> Result<bool> {
    let tables = tables(call, false)?;
    swept(call, form, &tables, terms, false, sums)
}

fn swept(
    call: &Call<'_>,
    form: Form,
    tables: &Tables<'_>,
    terms: Range<usize>,
    careful: bool,
    sums: &mut Sums<'_>,
) -> Result<bool> {
    let sweep = call.sweep(None);
    let results = call.results(terms.len().min(PAIRS))?;
    let mut doubt = false;
    let mut first = terms.start;
    while first < terms.end {
        let count = PAIRS.min(terms.end - first);
        let at = (first, count);
        tt::chain_pairs(call.dtype(), call.gpu, call.stream, form, tables, &sweep, at, careful, results.whole())?;
        doubt |= sums.add(first, &call.read(&results, count)?)?;
        first += count;
        call.steps(call.length.saturating_mul(count.div_ceil(call.plan().block.max(1))))?;
    }
    Ok(doubt && call.rescues())
}

/// Computes an open product from both ends at once, one thread block for each end.
pub(super) fn two_ended(call: &Call<'_>, form: Form, sums: &mut Sums<'_>) -> Result<bool> {
    let middle = call.middle();
    let tables = tables(call, false)?;
    let site = call.sites[middle];
    let count = product("rank", site.r[0], site.s[0])?;
    let bytes = product("rank", count, 2 * call.dtype().size())?;
    let environments = call.gpu.allocate_uninitialized_on(call.stream, "environments of a contraction", bytes)?;
    let states = call.gpu.allocate_on(call.stream, "states of a contraction", 2 * STATE_BYTES)?;
    let sweep = call.sweep(Some(middle));
    let space = (environments.whole(), count);
    tt::chain_ends(call.dtype(), call.gpu, call.stream, form, &tables, &sweep, false, space, states.whole())?;
    let (left, right) = (environments.region(0, bytes / 2)?, environments.region(bytes / 2, bytes / 2)?);
    let results = call.results(tt::sum_blocks(count))?;
    let flags = (false, call.unscaled);
    let all = (count, 0);
    tt::join(
        call.dtype(),
        call.gpu,
        call.stream,
        left,
        Some(right),
        all,
        states.whole(),
        None,
        flags,
        results.whole(),
    )?;
    let doubt = joined(call, &results, count, sums)?;
    call.steps(call.length)?;
    Ok(doubt && call.rescues())
}

/// Adds up the partial sums of [`tt::join`]. Their sum is the term of the only pair.
pub(super) fn joined(
    call: &Call<'_>,
    results: &crate::backend::gpu::DeviceMemory,
    count: usize,
    sums: &mut Sums<'_>,
) -> Result<bool> {
    let parts = call.read(results, tt::sum_blocks(count))?;
    sums.add(0, &[Term::of_parts(&parts, call.plan().dtype)])
}

/// Computes the terms of pairs one after another, each by the whole device: for ranks that no single block supports.
pub(super) fn one_by_one(call: &Call<'_>, terms: Range<usize>, careful: bool, sums: &mut Sums<'_>) -> Result<bool> {
    let tables = tables(call, careful)?;
    let (gpu, stream) = (call.gpu, call.stream);
    let (environment, products) = tt::grid_strides(&call.sites)?;
    let each = product("work space", call.dtype().size(), 2 * environment + products)?;
    let ends = if call.length == call.sites.len() && call.length >= 2 { 2 } else { 1 };
    let elements =
        gpu.allocate_uninitialized_on(stream, "work space of a contraction", product("work space", each, 2)?)?;
    let words = product("sites", call.length, tt::GRID_KEYS * 8)?;
    let mut zeros = gpu.allocate_on(stream, "states of a contraction", 2 * STATE_BYTES + words + 16)?;
    let middle = (ends == 2).then(|| call.middle());
    let sweep = tt::Sweep { halved: false, ..call.sweep(middle) };
    let largest = call.sites.iter().flat_map(|s| [s.r[1], s.s[1]]).max().unwrap_or(1);
    let mut doubt = false;
    for q in terms {
        let bytes = zeros.bytes();
        gpu.fill(stream, &mut zeros, 0, bytes, 0)?;
        let states = zeros.region(0, 2 * STATE_BYTES)?;
        let places = zeros.region(2 * STATE_BYTES + words, 16)?;
        let keys = zeros.region(2 * STATE_BYTES, words)?;
        let space = GridSpace { elements: elements.whole(), states, keys, places };
        tt::grid(call.dtype(), gpu, stream, &tables, &sweep, call.plan().pairs.get(q), careful, largest > 192, space)?;
        let site = call.sites[middle.unwrap_or(0)];
        let count = if middle.is_some() { product("rank", site.r[0], site.s[0])? } else { 1 };
        let results = call.results(tt::sum_blocks(count))?;
        let right = middle.map(|_| elements.region(each, each)).transpose()?;
        let left = elements.region(0, each)?;
        let flags = (false, call.unscaled);
        let all = (count, environment);
        tt::join(call.dtype(), gpu, stream, left, right, all, states, Some(places), flags, results.whole())?;
        let parts = call.read(&results, tt::sum_blocks(count))?;
        doubt |= sums.add(q, &[Term::of_parts(&parts, call.plan().dtype)])?;
        if (q + 1).is_multiple_of(call.plan().block.max(1)) || q + 1 == call.plan().pairs.len() {
            call.steps(call.length)?;
        }
    }
    Ok(doubt && call.rescues())
}

/// Recomputes all terms and scales every product by the largest entries of the cores: for entries near the ends of the
/// range.
pub(super) fn careful(call: &Call<'_>, terms: Range<usize>, sums: &mut Sums<'_>) -> Result<()> {
    sums.clear();
    match form_of(call.dtype(), call.gpu, &call.sites, call.length, terms.len())? {
        Some(form) => {
            let tables = tables(call, true)?;
            swept(call, form, &tables, terms, true, sums).map(|_| ())
        }
        None => one_by_one(call, terms, true, sums).map(|_| ()),
    }
}
