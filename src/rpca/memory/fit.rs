//! The largest cut that fits into the available host memory.

use super::super::algorithm::{FIRST_RANK, rehearse, solve};
use super::super::cpu::cut::Cut;
use super::super::cpu::elementwise::Elementwise;
use super::super::options::Options;
use super::ledger::Ledger;
use super::shape::Shape;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Options of a counting run of at most two iterations: the first converges, the second writes the parts. It has at
/// least one power iteration, because each run may use one to confirm its values. A given penalty is left out: it
/// changes no memory, and its limits depend on the norm of the matrix, which is not known.
pub(super) fn rehearsed(options: &Options) -> Options {
    let (max_iterations, power_iterations) = (options.max_iterations.min(2), options.power_iterations.max(1));
    Options { mu: 0.0, tolerance: 1.0, max_iterations, power_iterations, ..options.clone() }
}

/// A cut that fits, and its memory.
#[derive(Debug, Clone, Copy)]
pub struct Fit {
    /// Rows of panels, groups and blocks.
    pub cut: Cut,
    /// Peak in bytes of a run whose low-rank part has few columns.
    pub expected: u64,
}

/// A run whose memory is to be computed.
struct Planned<'a> {
    context: &'a Context,
    shape: &'a Shape,
    options: &'a Options,
}

/// The largest cut that fits into the available host memory of `context`.
///
/// # Errors
/// [`Error::OutOfMemory`] with the bytes that the smallest cut needs.
pub fn fit<T: Elementwise>(context: &Context, shape: &Shape, options: &Options) -> Result<Fit> {
    let planned = Planned { context, shape, options };
    let budget = context.host_budget();
    let available = budget.available();
    let fitting = |cut| Ok(Fit { cut, expected: planned.expected::<T>(cut)? });
    if budget.limit().is_none() {
        return fitting(shape.sheet.cut(true));
    }
    let mut least = u64::MAX;
    for in_memory in [true, false] {
        if in_memory && to_u64(shape.sheet.arrays()) > available {
            continue;
        }
        let mut next = Some(shape.sheet.cut(in_memory));
        while let Some(cut) = next {
            let most = planned.most::<T>(cut)?;
            if most <= available {
                return fitting(cut);
            }
            least = least.min(most);
            next = shape.sheet.smaller(cut);
        }
    }
    let what = "robust PCA with a low-rank part of up to max_rank columns";
    Err(Error::OutOfMemory { what, bytes: least.saturating_add(budget.used()), limit: budget.limit() })
}

impl Planned<'_> {
    /// Peak in bytes of a run whose low-rank part has few columns.
    fn expected<T: Elementwise>(&self, cut: Cut) -> Result<u64> {
        let mut ledger = Ledger::<T>::new(self.shape, cut, FIRST_RANK / 2, self.context.pool().threads())?;
        solve(&mut ledger, &rehearsed(self.options))?;
        ledger.deliver()?;
        Ok(ledger.peak())
    }

    /// Upper bound of the bytes for any ranks. It assumes a thread for every group, because the cut must not depend on the
    /// number of threads.
    fn most<T: Elementwise>(&self, cut: Cut) -> Result<u64> {
        let mut ledger = Ledger::<T>::new(self.shape, cut, usize::MAX, cut.groups)?;
        rehearse(&mut ledger, self.options)?;
        ledger.deliver()?;
        Ok(ledger.peak())
    }
}
