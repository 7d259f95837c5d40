//! Uniform trains by squaring the transfer matrix of a cell.

use faer::Conj;

use super::products::{Block, Buffer, Threads, largest, multiply};
use super::sweep::{Care, Pair, Room, Sweep, shrink};
use crate::backend::cpu::flags;
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::shape::to_u64;
use crate::tt::scaled::{self, Scaled};
use crate::tt::session::is_single;

/// trace(M^repeat) for the transfer matrix M of all cores.
pub fn power<T: Scalar>(pair: &Pair<'_, T>, room: &mut Room) -> Result<Scaled> {
    let plan = pair.work.plan;
    let order = plan.pairs.len();
    let mut sweep = Sweep::new(room, Care::Products);
    for i in 0..to_u64(plan.cores) {
        let k = plan.core(i);
        match i {
            0 => sweep.first(pair, k, 0..order)?,
            _ if order == 1 => sweep.right(pair, k)?,
            _ => sweep.right_block(pair, k, order)?,
        }
        let [_, _, r, _, s] = pair.sizes(k);
        sweep.scale::<T>(r * s * order)?.ok();
        pair.work.cancel.check()?;
    }
    let base = sweep.exponent();
    let s = plan.pairs.s;
    if order == 1 {
        let value = room.f.get::<T>()?[0];
        return Ok(Scaled::new(Complex::new(value.re(), value.im()), base).power(plan.repeat));
    }
    // F[b', p, a'] with p = p_x + r p_y becomes the matrix of [b', a'] and [p_y, p_x].
    let Room { f, g: Some(g), t } = room else { return Ok(Scaled::ZERO) };
    let size = order * order;
    {
        let (from, to) = (f.get::<T>()?, g.get_mut::<T>()?);
        for (a, group) in from[..size].chunks_exact(s * order).enumerate() {
            for (p, column) in group.chunks_exact(s).enumerate() {
                let (px, py) = plan.pairs.get(p);
                to[order * (py + s * px) + s * a..][..s].copy_from_slice(column);
            }
        }
    }
    t.get_mut::<T>()?[..size].copy_from_slice(&g.get::<T>()?[..size]);
    // Small numbers of powers vanish beside large ones, mostly without harm.
    let (found, lost) = flags::watch(|| by_squaring::<T>(pair, (t, f), g, base));
    let (trace, error) = found?;
    flags::hand_on(lost && error > if is_single(T::DTYPE) { -30 } else { -60 });
    Ok(trace)
}

/// trace(M^repeat) for M 2^base in `result` and in `cell`. Also a bound of its relative error from numbers that became 0, as
/// the exponent of a power of two. A power, whose largest number is about 1, has lost numbers below the least of the type and
/// what its factors had lost. The square of a matrix may be much smaller than that of its largest number, and the trace
/// much smaller than that.
fn by_squaring<T: Scalar>(
    pair: &Pair<'_, T>,
    (mut result, mut spare): (&mut Buffer, &mut Buffer),
    cell: &Buffer,
    base: i64,
) -> Result<(Scaled, i64)> {
    let plan = pair.work.plan;
    let order = plan.pairs.len();
    let size = order * order;
    let terms = 1 + i64::from(order.next_power_of_two().ilog2());
    let least = if is_single(T::DTYPE) { -126 } else { -1022 };
    let mut error = least;
    let mut exponent = base;
    let all = Block::packed(order, order);
    let bits = plan.repeat.ilog2();
    for bit in (0..bits).rev() {
        let squared = {
            let from = all.view::<T>(result.get::<T>()?);
            multiply(Threads::All, 1.0, (from, Conj::No), (from, Conj::No), false, all.view_mut(spare.get_mut::<T>()?));
            let to = &mut spare.get_mut::<T>()?[..size];
            shrink(to, scaled::exponent_of(largest(to)))
        };
        exponent = exponent.saturating_mul(2).saturating_add(squared);
        error = error.max(least) + terms - squared;
        std::mem::swap(&mut result, &mut spare);
        if plan.repeat >> bit & 1 == 1 {
            let (a, b) = (all.view::<T>(result.get::<T>()?), all.view::<T>(cell.get::<T>()?));
            multiply(Threads::All, 1.0, (a, Conj::No), (b, Conj::No), false, all.view_mut(spare.get_mut::<T>()?));
            let to = &mut spare.get_mut::<T>()?[..size];
            let q = shrink(to, scaled::exponent_of(largest(to)));
            exponent = exponent.saturating_add(base).saturating_add(q);
            error = error.max(least) + terms - q;
            std::mem::swap(&mut result, &mut spare);
        }
        pair.work.cancel.check()?;
    }
    let diagonal = result.get::<T>()?[..size].iter().step_by(order + 1);
    let trace = diagonal.fold(Complex::new(0.0, 0.0), |sum, v| sum + Complex::new(v.re(), v.im()));
    let size = scaled::exponent_of(trace.re.abs().max(trace.im.abs()));
    // A trace of 0 may be all that was lost.
    let error = if trace == Complex::new(0.0, 0.0) { 0 } else { error + terms - size };
    Ok((Scaled::new(trace, exponent), error))
}
