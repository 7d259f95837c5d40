//! Uniform trains by squaring the transfer matrix of a cell.

use super::products::{Block, Buffer, Threads, largest, multiply};
use super::sweep::{Care, Pair, Sweep, Workspace, shrink};
use crate::backend::cpu::flags;
use crate::contraction::algorithm::power::Vanished;
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::shape::to_u64;
use crate::trains::scaled::{self, Scaled};

/// trace(M^repeat) for the transfer matrix M of all cores.
pub fn power<T: Scalar>(pair: &Pair<'_, T>, workspace: &mut Workspace) -> Result<Scaled> {
    let plan = pair.work.plan;
    let order = plan.pairs.len();
    let mut sweep = Sweep::new(workspace, Care::Products);
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
        let value = workspace.f.get::<T>()?[0];
        return Ok(Scaled::new(Complex::new(value.re(), value.im()), base).power(plan.repeat));
    }
    // F[b', p, a'] with p = p_x + r p_y becomes a square matrix with rows [b', a'] and columns [p_y, p_x].
    let Workspace { f, g: Some(g), t } = workspace else { return Ok(Scaled::ZERO) };
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
    // Small entries of a power may underflow beside large ones. Usually they do not affect the trace.
    let (found, lost) = flags::watch(|| by_squaring::<T>(pair, (t, f), g, base));
    let (trace, exponent, vanished) = found?;
    flags::hand_on(lost && vanished.counts(trace));
    Ok(Scaled::new(trace, exponent))
}

/// trace(M^repeat), its exponent, and the bound of its error from underflow. `result` and `cell` both hold M 2^-base.
fn by_squaring<T: Scalar>(
    pair: &Pair<'_, T>,
    (mut result, mut spare): (&mut Buffer, &mut Buffer),
    cell: &Buffer,
    base: i64,
) -> Result<(Complex<f64>, i64, Vanished)> {
    let plan = pair.work.plan;
    let order = plan.pairs.len();
    let size = order * order;
    let mut vanished = Vanished::new(T::DTYPE, order);
    let mut exponent = base;
    let all = Block::packed(order, order);
    let bits = plan.repeat.ilog2();
    for bit in (0..bits).rev() {
        let squared = {
            let from = all.view::<T>(result.get::<T>()?);
            multiply(Threads::All, 1.0, from, from, false, all.view_mut(spare.get_mut::<T>()?));
            let to = &mut spare.get_mut::<T>()?[..size];
            shrink(to, scaled::exponent_of(largest(to)))
        };
        exponent = exponent.saturating_mul(2).saturating_add(squared);
        vanished.multiply(squared);
        std::mem::swap(&mut result, &mut spare);
        if plan.repeat >> bit & 1 == 1 {
            let (a, b) = (all.view::<T>(result.get::<T>()?), all.view::<T>(cell.get::<T>()?));
            multiply(Threads::All, 1.0, a, b, false, all.view_mut(spare.get_mut::<T>()?));
            let to = &mut spare.get_mut::<T>()?[..size];
            let q = shrink(to, scaled::exponent_of(largest(to)));
            exponent = exponent.saturating_add(base).saturating_add(q);
            vanished.multiply(q);
            std::mem::swap(&mut result, &mut spare);
        }
        pair.work.cancel.check()?;
    }
    let diagonal = result.get::<T>()?[..size].iter().step_by(order + 1);
    let trace = diagonal.fold(Complex::new(0.0, 0.0), |sum, v| sum + Complex::new(v.re(), v.im()));
    Ok((trace, exponent, vanished))
}
