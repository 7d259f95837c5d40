//! S = sum_i x[i] cj(y[i]) by a plan, on one or several backends.

use std::ops::Range;

use crate::alloc;
use crate::contraction::ops::{ContractOps, Work};
use crate::error::{Error, Result};
use crate::shape::to_u64;
use crate::team;
use crate::trains::options::Method;
use crate::trains::scaled::Scaled;

/// The sum S by the plan's method. Methods by pairs distribute the blocks of pairs over `machines`.
pub fn contract(machines: &mut [Box<dyn ContractOps>], work: &Work<'_>) -> Result<Scaled> {
    let first = machines.first_mut().ok_or_else(|| Error::Internal("a contraction without a context".into()))?;
    match work.plan.method {
        Method::Halves => first.halves(work),
        Method::Power => first.power(work),
        _ if work.plan.triangle => first.triangle(work),
        _ => sum_of_pairs(machines, work),
    }
}

/// The sum over all blocks of pairs. Partial sums are added in the order of the blocks.
fn sum_of_pairs(machines: &mut [Box<dyn ContractOps>], work: &Work<'_>) -> Result<Scaled> {
    let blocks = work.plan.blocks();
    let mut partials = alloc::filled("partial sums of a contraction", blocks, Scaled::ZERO)?;
    let count = machines.len().min(blocks).max(1);
    if let ([one], _) | ([one, ..], 1) = (&mut *machines, count) {
        one.pairs(work, 0..blocks, &mut partials)?;
    } else {
        in_shares(machines, work, count, &mut partials)?;
    }
    Ok(partials.into_iter().fold(Scaled::ZERO, Scaled::plus))
}

/// Gives each machine a contiguous range of the blocks. The machines run at the same time.
fn in_shares(
    machines: &mut [Box<dyn ContractOps>],
    work: &Work<'_>,
    count: usize,
    partials: &mut [Scaled],
) -> Result<()> {
    if let ([first, ..], true) = (&*machines, work.x.is_device() || work.y.is_device()) {
        // Wait once for the caller's stream, before this call enqueues work on it.
        first.await_caller(work.stream)?;
    }
    let blocks = partials.len();
    let share = |i: usize| -> Range<usize> {
        let bound = |i: usize| (to_u64(blocks) * to_u64(i) / to_u64(count)) as usize;
        bound(i)..bound(i + 1)
    };
    let mut rest = partials;
    let works = machines.iter_mut().take(count).enumerate().map(|(i, machine)| {
        let range = share(i);
        let (mine, others) = std::mem::take(&mut rest).split_at_mut(range.len());
        rest = others;
        move || machine.pairs(work, range, mine)
    });
    team::share("purlin-tt", count, works.collect())
}
