//! Uniform trains by squaring of the transfer matrix of a cell.
//!
//! Pairs lie apart, F[b, a, p] with p = p_x + r p_y. Of the whole cell that is a matrix of [b, a] and [p_x, p_y], whose
//! columns are put into the order of its rows before it is squared. Nothing waits for an exponent: each product counts its
//! own, and what they add up to is found in the end.

use super::Call;
use super::blocks::slice;
use super::products::{Products, adjoint};
use super::scale::Exponents;
use crate::alloc;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::kernels::tt::{self, Edge, Site};
use crate::backend::gpu::{Blas, DeviceMemory, Region, Series, Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};
use crate::shape::{product, to_u64};
use crate::tt::cost::First;
use crate::tt::options::Math;
use crate::tt::scaled::Scaled;

/// Order of a matrix whose products are waited for, so that a call can be cancelled between them: each takes milliseconds.
const WAITED: usize = 2048;

/// trace(M^repeat) for the transfer matrix M of all cores.
pub(super) fn contract<T: Scalar>(call: &Call<'_>, blas: &Blas, math: Math) -> Result<Scaled> {
    let plan = call.plan();
    let order = plan.pairs.len();
    let bits = plan.repeat.ilog2();
    // That of the cell comes first.
    let exponents = Exponents::new(call.gpu, call.stream, 1 + 2 * bits as usize)?;
    let products = Products::new::<T>(call.gpu, blas, math)?;
    let [f, g, t] = cell::<T>(call, &products, &exponents)?;
    if order == 1 {
        let value = trace::<T>(call, &f, 1, &t)?;
        return Ok(Scaled::new(value, exponents.read()?.first().copied().unwrap_or(0)).power(plan.repeat));
    }
    in_order::<T>(call, &f, &g)?;
    let size = product("rank", order, order)?;
    let (mut result, mut made) = (&g, 0);
    let mut multiply = |a: &DeviceMemory, b: &DeviceMemory| {
        let to = [&f, &t][made % 2];
        made += 1;
        let [a, b, c] = [a, b, to].map(|memory| View::packed(memory.whole(), order, order));
        products.multiply::<T>(None, false, (a, Transpose::Plain), (b, Transpose::Plain), c)?;
        exponents.take::<T>(to.whole(), size, made)?;
        if order >= WAITED {
            call.stream.synchronize()?;
        }
        call.work.cancel.check()?;
        Ok::<_, Error>(to)
    };
    for bit in (0..bits).rev() {
        result = multiply(result, result)?;
        if plan.repeat >> bit & 1 == 1 {
            result = multiply(result, &g)?;
        }
    }
    let value = trace::<T>(call, result, order, [&f, &t][made % 2])?;
    let counted = exponents.read()?;
    call.work.step()?;
    Ok(Scaled::new(value, in_all(&counted, plan.repeat)))
}

/// The exponent of M^repeat from that of M and those of the products that made it, in their order.
fn in_all(counted: &[i64], repeat: u64) -> i64 {
    let mut counted = counted.iter().copied();
    let mut next = || counted.next().unwrap_or(0);
    let base = next();
    (0..repeat.ilog2()).rev().fold(base, |exponent, bit| {
        let squared = exponent.saturating_mul(2).saturating_add(next());
        if repeat >> bit & 1 == 1 { squared.saturating_add(base).saturating_add(next()) } else { squared }
    })
}

/// The environments of all pairs behind the cell, F[b, a, p], and as much room twice.
fn cell<T: Scalar>(call: &Call<'_>, products: &Products<'_>, exponents: &Exponents<'_>) -> Result<[DeviceMemory; 3]> {
    let (plan, gpu, stream) = (call.plan(), call.gpu, call.stream);
    let pairs = plan.pairs.len();
    let mut environment = 1;
    for site in &call.sites {
        environment = environment.max(product("rank", site.r[1], site.s[1])?);
    }
    let bytes = product("pairs", product("pairs", pairs, environment)?, size_of::<T>())?;
    // Zeroed, as are those of blocks. Of one mode index a product is no larger than an environment, in the order that takes
    // fewer operations.
    let room = || gpu.allocate_on(stream, "work space of a contraction", bytes);
    let (mut f, mut g, t) = (room()?, room()?, room()?);
    for (i, site) in call.sites.iter().enumerate() {
        // With cores and environments of the order of one no product leaves the range of its type.
        let (x, y) = (core::<T>(call, exponents, call.x[i])?, core::<T>(call, exponents, call.y[i])?);
        if i == 0 {
            let (x, y) = (x.whole(), y.whole());
            let pairs = (0, pairs);
            let (conjugate, site) = (plan.conjugate, *site);
            let edge = Edge { x, y, site, pairs, halved: false, conjugate, apart: true, careful: None };
            tt::begin::<T>(gpu, stream, &edge, f.whole(), exponents.states(0, 1)?)?;
        } else {
            step::<T>(call, products, i, (x.whole(), y.whole()), [f.whole(), t.whole(), g.whole()])?;
            std::mem::swap(&mut f, &mut g);
        }
        exponents.take::<T>(f.whole(), product("pairs", pairs, site.r[1] * site.s[1])?, 0)?;
        call.work.cancel.check()?;
    }
    Ok([f, g, t])
}

/// A copy of a core, divided by a power of two.
fn core<T: Scalar>(call: &Call<'_>, exponents: &Exponents<'_>, core: Region<'_>) -> Result<DeviceMemory> {
    let count = core.bytes() / size_of::<T>();
    let copy = call.gpu.allocate_uninitialised_on(call.stream, "copy of a core", core.bytes())?;
    let (from, to) = (View::packed(core, count, 1), View::packed(copy.whole(), count, 1));
    dense::place::<T>(call.gpu, call.stream, from, to, false, false)?;
    exponents.take::<T>(copy.whole(), count, 0)?;
    Ok(copy)
}

/// G of the next bond from F, by way of T: for one mode index after another, so that T stays small.
fn step<T: Scalar>(
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
        let x = (Series { first: slice::<T>(x, [r, r2], n, j)?, stride: 0 }, Transpose::Plain);
        let y = (Series { first: slice::<T>(y, [s, s2], n, j)?, stride: 0 }, taken);
        match plan.order[plan.core(to_u64(i))] {
            First::X => {
                let t = each(t, s, r2);
                products.multiply_all::<T>(None, false, from, x, t, pairs)?;
                products.multiply_all::<T>(None, j > 0, y, (t, Transpose::Plain), to, pairs)?;
            }
            First::Y => {
                let t = each(t, s2, r);
                products.multiply_all::<T>(None, false, y, from, t, pairs)?;
                products.multiply_all::<T>(None, j > 0, (t, Transpose::Plain), x, to, pairs)?;
            }
        }
    }
    Ok(())
}

/// Columns p_x + r p_y of `from` to columns p_y + s p_x of `to`, whose rows are b + s a.
fn in_order<T: Scalar>(call: &Call<'_>, from: &DeviceMemory, to: &DeviceMemory) -> Result<()> {
    let pairs = call.plan().pairs;
    let order = pairs.len();
    let matrix = View::packed(from.whole(), order, order);
    for p in 0..pairs.s {
        let all = to.whole();
        let skip = order * p * size_of::<T>();
        let memory = all.part(skip, all.bytes() - skip)?;
        let columns = View { memory, rows: order, cols: pairs.r, ld: order * pairs.s };
        dense::place::<T>(call.gpu, call.stream, matrix.columns::<T>(pairs.r * p, pairs.r)?, columns, false, false)?;
    }
    Ok(())
}

/// The sum of the diagonal of a matrix. Waits.
fn trace<T: Scalar>(
    call: &Call<'_>,
    matrix: &DeviceMemory,
    order: usize,
    spare: &DeviceMemory,
) -> Result<Complex<f64>> {
    let diagonal = View { memory: matrix.whole(), rows: 1, cols: order, ld: order + 1 };
    dense::place::<T>(call.gpu, call.stream, diagonal, View::packed(spare.whole(), 1, order), false, false)?;
    let mut values = alloc::filled("diagonal of a transfer matrix", order, T::default())?;
    call.gpu.load_numbers(call.stream, spare, 0, &mut values)?;
    Ok(values.iter().fold(Complex::new(0.0, 0.0), |sum, v| sum + Complex::new(v.re(), v.im())))
}

#[cfg(test)]
mod tests {
    use super::in_all;

    #[test]
    fn exponents_of_powers_are_those_of_their_products() {
        // A matrix that is 2^3 exactly, whose products take nothing out.
        for repeat in 1..70 {
            assert_eq!(in_all(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], repeat), 3 * repeat as i64);
        }
        assert_eq!(in_all(&[1; 127], 1 << 62), i64::MAX);
        assert_eq!(in_all(&[1, 0], 2), 2);
        // M^2 twice, then times M.
        assert_eq!(in_all(&[10, 1, 2, 3], 5), 2 * (2 * 10 + 1) + 2 + 10 + 3);
        assert_eq!(in_all(&[-1; 127], u64::MAX), i64::MIN);
    }
}
