//! Uniform trains by squaring the transfer matrix of a cell.
//!
//! The environments of the pairs are F[b, a, p] with p = p_x + r p_y. After the whole cell this is a matrix with rows
//! [b, a] and columns [p_x, p_y]. Its columns are reordered like its rows before it is squared. The host waits for no
//! exponent: the device counts one for each product, and they are added up at the end.

use super::blocks::slice;
use super::call::Call;
use super::pieces;
use super::products::{Products, adjoint};
use super::scale::Exponents;
use crate::alloc;
use crate::backend::cpu::flags;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::kernels::tt::{self, Edge, Site, result};
use crate::backend::gpu::{Blas, DeviceMemory, Region, Series, Transpose, View};
use crate::contraction::algorithm::power::Vanished;
use crate::contraction::cost::First;
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::shape::{product, to_u64};
use crate::trains::options::Math;
use crate::trains::scaled::Scaled;

/// From this order on, a product takes milliseconds. The call then waits for each product, so that it can be cancelled
/// in between.
const WAITED: usize = 2048;

/// Workspace of a power of the transfer matrix.
struct Space<'a> {
    /// Three pieces, each as large as the environments of all pairs.
    environments: [Region<'a>; 3],
    /// One piece for a core of x, and one for a core of y.
    cores: [Region<'a>; 2],
    products: &'a Products<'a>,
    exponents: &'a Exponents<'a>,
    /// Whether the host waits for each long product.
    waits: bool,
}

/// Bytes of the pieces: three of environments, a core of x, a core of y.
pub(super) fn bytes(call: &Call<'_>) -> Result<[usize; 5]> {
    let mut environment = 1;
    let element = call.dtype().size();
    let mut cores = [0; 2];
    for (i, site) in call.sites.iter().enumerate() {
        environment = environment.max(product("rank", site.r[1], site.s[1])?);
        cores = [cores[0].max(call.x[i].bytes()), cores[1].max(call.y[i].bytes())];
    }
    let each = product("pairs", product("pairs", call.plan().pairs.len(), environment)?, element)?;
    Ok([each, each, each, cores[0], cores[1]])
}

/// Upper bound of the number of exponents: one for the cell and one for each product.
pub(super) fn counted(call: &Call<'_>) -> usize {
    1 + 2 * call.plan().repeat.ilog2() as usize
}

/// trace(M^repeat) for the transfer matrix M of all cores.
pub(super) fn contract(call: &Call<'_>, blas: &Blas, math: Math) -> Result<Scaled> {
    let plan = call.plan();
    let order = plan.pairs.len();
    let exponents = Exponents::new(call.dtype(), call.gpu, call.stream, counted(call))?;
    let products = Products::new(call.dtype(), call.gpu, blas, math)?;
    let sizes = bytes(call)?;
    let what = "work space of a contraction";
    let memory = call.gpu.allocate_uninitialized_on(call.stream, what, pieces::in_all(&sizes)?)?;
    let [f, g, t, x, y] = pieces::divide(memory.whole(), sizes)?;
    let (products, exponents) = (&products, &exponents);
    let space = Space { environments: [f, g, t], cores: [x, y], products, exponents, waits: true };
    let environments = cell(call, &space)?;
    if order == 1 {
        let value = trace(call, environments[0])?;
        return Ok(Scaled::new(value, exponents.read()?.first().copied().unwrap_or(0)).power(plan.repeat));
    }
    let (result, _) = powered(call, &space, environments)?;
    let value = trace(call, result)?;
    let counted = exponents.read()?;
    call.work.step()?;
    // A device does not report underflow, so it is bounded.
    let mut vanished = Vanished::new(call.dtype(), order);
    counted[1..].iter().take(products_of(plan.repeat)).for_each(|&q| vanished.multiply(q));
    flags::hand_on(vanished.counts(value));
    Ok(Scaled::new(value, in_all(&counted, plan.repeat)))
}

/// Enqueues the trace. `pieces` have the sizes of [`bytes`], `states` the memory of [`counted`] exponents and two more.
/// Returns the number of terms.
pub(super) fn enqueue(
    call: &Call<'_>,
    products: &Products<'_>,
    space: Region<'_>,
    states: Region<'_>,
    results: Region<'_>,
) -> Result<usize> {
    let (order, count) = (call.plan().pairs.len(), counted(call));
    let exponents = Exponents::in_memory(call.dtype(), call.gpu, call.stream, count + 2, states)?;
    let [f, g, t, x, y] = pieces::divide(space, bytes(call)?)?;
    let space = Space { environments: [f, g, t], cores: [x, y], products, exponents: &exponents, waits: false };
    let environments = cell(call, &space)?;
    let (result, spare) = powered(call, &space, environments)?;
    diagonal(call, result, spare)?;
    let weights = weights(call.plan().repeat)?;
    result::weigh(call.gpu, call.stream, exponents.states(0, count)?, &weights, exponents.states(count, 1)?)?;
    let (all, states) = ((order, 0), exponents.states(count, 2)?);
    tt::join(call.dtype(), call.gpu, call.stream, spare, None, all, states, None, (false, false), results)?;
    Ok(tt::sum_blocks(order))
}

/// Computes M^repeat, for the matrix M in the first of three pieces. Returns the power and a free piece.
fn powered<'a>(call: &Call<'_>, space: &Space<'a>, [f, g, t]: [Region<'a>; 3]) -> Result<(Region<'a>, Region<'a>)> {
    let plan = call.plan();
    let order = plan.pairs.len();
    in_order(call, f, g)?;
    let size = product("rank", order, order)?;
    let (mut result, mut made) = (g, 0);
    let mut multiply = |a: Region<'a>, b: Region<'a>| {
        let to = [f, t][made % 2];
        made += 1;
        let [a, b, c] = [a, b, to].map(|memory| View::packed(memory, order, order));
        space.products.multiply(None, false, (a, Transpose::Plain), (b, Transpose::Plain), c)?;
        space.exponents.take(to, size, made)?;
        if space.waits && order >= WAITED {
            call.stream.synchronize()?;
        }
        call.work.cancel.check()?;
        Ok::<_, Error>(to)
    };
    for bit in (0..plan.repeat.ilog2()).rev() {
        result = multiply(result, result)?;
        if plan.repeat >> bit & 1 == 1 {
            result = multiply(result, g)?;
        }
    }
    Ok((result, [f, t][made % 2]))
}

/// Number of products that [`powered`] computes.
fn products_of(repeat: u64) -> usize {
    (repeat.ilog2() + repeat.count_ones() - 1) as usize
}

/// Weight of each exponent in that of M^repeat: an exponent is doubled by each later squaring.
fn weights(repeat: u64) -> Result<Vec<u64>> {
    let mut weights = alloc::with_capacity("exponents of a contraction", 2 * 64)?;
    weights.push(repeat);
    for bit in (0..repeat.ilog2()).rev() {
        weights.push(1 << bit);
        // Without a multiplication by M at this bit there is no exponent either.
        if repeat >> bit & 1 == 1 {
            weights.push(1 << bit);
        }
    }
    Ok(weights)
}

/// The exponent of M^repeat. `counted` has the exponent of M and then those of the products, in their order.
fn in_all(counted: &[i64], repeat: u64) -> i64 {
    let mut counted = counted.iter().copied();
    let mut next = || counted.next().unwrap_or(0);
    let base = next();
    (0..repeat.ilog2()).rev().fold(base, |exponent, bit| {
        let squared = exponent.saturating_mul(2).saturating_add(next());
        if repeat >> bit & 1 == 1 { squared.saturating_add(base).saturating_add(next()) } else { squared }
    })
}

/// The environments of all pairs after the whole cell, F[b, a, p], and two free pieces of the same size.
fn cell<'a>(call: &Call<'_>, space: &Space<'a>) -> Result<[Region<'a>; 3]> {
    let (plan, gpu, stream) = (call.plan(), call.gpu, call.stream);
    let pairs = plan.pairs.len();
    // Zeroed for the same reason as in `blocks`. The product with one slice of a core, in the cheaper order, is no
    // larger than an environment.
    space.environments.iter().try_for_each(|part| gpu.clear(stream, *part))?;
    let [mut f, mut g, t] = space.environments;
    for (i, site) in call.sites.iter().enumerate() {
        // If cores and environments have magnitude about 1, no product leaves the range of the type.
        let x = core(call, space.exponents, call.x[i], space.cores[0])?;
        let y = core(call, space.exponents, call.y[i], space.cores[1])?;
        if i == 0 {
            let pairs = (0, pairs);
            let (conjugate, site) = (plan.conjugate, *site);
            let edge = Edge { x, y, site, pairs, halved: false, conjugate, apart: true, careful: None };
            tt::begin(call.dtype(), gpu, stream, &edge, f, space.exponents.states(0, 1)?)?;
        } else {
            step(call, space.products, i, (x, y), [f, t, g])?;
            std::mem::swap(&mut f, &mut g);
        }
        space.exponents.take(f, product("pairs", pairs, site.r[1] * site.s[1])?, 0)?;
        call.work.cancel.check()?;
    }
    Ok([f, g, t])
}

/// Copies a core and divides it by a power of two, which is counted.
fn core<'a>(call: &Call<'_>, exponents: &Exponents<'_>, core: Region<'_>, space: Region<'a>) -> Result<Region<'a>> {
    let count = core.bytes() / call.dtype().size();
    let copy = space.part(0, core.bytes())?;
    let (from, to) = (View::packed(core, count, 1), View::packed(copy, count, 1));
    dense::place(call.dtype(), call.gpu, call.stream, from, to, false, false)?;
    exponents.take(copy, count, 0)?;
    Ok(copy)
}

/// Applies a site: G of the next bond from F. Computes T for one mode index after another, so that T stays small.
fn step(
    call: &Call<'_>,
    products: &Products<'_>,
    i: usize,
    (x, y): (Region<'_>, Region<'_>),
    [f, t, g]: [Region<'_>; 3],
) -> Result<()> {
    let plan = call.plan();
    let (pairs, taken) = (plan.pairs.len(), adjoint(plan.conjugate));
    let Site { r: [r, r2], s: [s, s2], n } = call.sites[i];
    let each = |memory, rows, cols| Series { first: View::packed(memory, rows, cols), stride: rows * cols };
    let (from, to) = ((each(f, s, r), Transpose::Plain), each(g, s2, r2));
    for j in 0..n {
        let x = (Series { first: slice(call.dtype(), x, [r, r2], n, j)?, stride: 0 }, Transpose::Plain);
        let y = (Series { first: slice(call.dtype(), y, [s, s2], n, j)?, stride: 0 }, taken);
        match plan.order[plan.core(to_u64(i))] {
            First::X => {
                let t = each(t, s, r2);
                products.multiply_all(None, false, from, x, t, pairs)?;
                products.multiply_all(None, j > 0, y, (t, Transpose::Plain), to, pairs)?;
            }
            First::Y => {
                let t = each(t, s2, r);
                products.multiply_all(None, false, y, from, t, pairs)?;
                products.multiply_all(None, j > 0, (t, Transpose::Plain), x, to, pairs)?;
            }
        }
    }
    Ok(())
}

/// Reorders the columns of the cell's matrix: copies column p_x + r p_y of `from` to column p_y + s p_x of `to`.
fn in_order(call: &Call<'_>, from: Region<'_>, to: Region<'_>) -> Result<()> {
    let pairs = call.plan().pairs;
    let order = pairs.len();
    let matrix = View::packed(from, order, order);
    for p in 0..pairs.s {
        let skip = order * p * call.dtype().size();
        let memory = to.part(skip, to.bytes() - skip)?;
        let columns = View { memory, rows: order, cols: pairs.r, ld: order * pairs.s };
        dense::place(
            call.dtype(),
            call.gpu,
            call.stream,
            matrix.columns(call.dtype(), pairs.r * p, pairs.r)?,
            columns,
            false,
            false,
        )?;
    }
    Ok(())
}

/// Copies the diagonal of a matrix to `to`, packed.
fn diagonal(call: &Call<'_>, matrix: Region<'_>, to: Region<'_>) -> Result<()> {
    let order = call.plan().pairs.len();
    let diagonal = View { memory: matrix, rows: 1, cols: order, ld: order + 1 };
    dense::place(call.dtype(), call.gpu, call.stream, diagonal, View::packed(to, 1, order), false, false)
}

/// The sum of the diagonal of a matrix. Waits.
fn trace(call: &Call<'_>, matrix: Region<'_>) -> Result<Complex<f64>> {
    let (what, order) = ("diagonal of a transfer matrix", call.plan().pairs.len());
    let memory = call.gpu.allocate_uninitialized_on(call.stream, what, product("rank", order, call.dtype().size())?)?;
    diagonal(call, matrix, memory.whole())?;
    with_scalar!(call.dtype(), "x", T => sum::<T>(call, what, &memory, order))
}

/// The sum of `count` numbers of type `T` in `memory`. Before it waits, the host does its other work.
fn sum<T: Scalar>(call: &Call<'_>, what: &'static str, memory: &DeviceMemory, count: usize) -> Result<Complex<f64>> {
    let mut values = alloc::filled(what, count, T::default())?;
    call.work.run_host_work();
    call.gpu.load_numbers(call.stream, memory, 0, &mut values)?;
    Ok(values.iter().fold(Complex::new(0.0, 0.0), |sum, v| sum + Complex::new(v.re(), v.im())))
}

#[cfg(test)]
mod tests {
    use super::{in_all, products_of, weights};

    #[test]
    fn exponents_of_powers_are_those_of_their_products() {
        // A matrix whose largest entry is 2^3 exactly, and whose products need no scaling.
        for repeat in 1..70 {
            assert_eq!(in_all(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], repeat), 3 * repeat as i64);
        }
        assert_eq!(in_all(&[1; 127], 1 << 62), i64::MAX);
        assert_eq!(in_all(&[1, 0], 2), 2);
        // 5 is 101 in binary: M is squared twice, and the result is multiplied by M.
        assert_eq!(in_all(&[10, 1, 2, 3], 5), 2 * (2 * 10 + 1) + 2 + 10 + 3);
        assert_eq!(in_all(&[-1; 127], u64::MAX), i64::MIN);
    }

    #[test]
    fn weights_add_exponents_up_as_products_do() {
        let counted: Vec<i64> = (0..127).map(|j| 7 * j - 300).collect();
        for repeat in (2..300).chain([u64::from(u32::MAX), (1 << 40) + 12345]) {
            let weights = weights(repeat).unwrap();
            assert_eq!(weights.len(), 1 + products_of(repeat));
            assert!(weights.len() <= 1 + 2 * repeat.ilog2() as usize);
            let sum: i64 = weights.iter().zip(&counted).map(|(&w, e)| i64::try_from(w).unwrap() * e).sum();
            assert_eq!(sum, in_all(&counted, repeat), "{repeat}");
        }
    }
}
