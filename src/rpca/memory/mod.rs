//! Memory of a run, known before it starts.
//!
//! The method is run on sizes alone, by a backend that counts bytes and allocates nothing. The rank is found by the run:
//! memory for the largest one that the options allow has to be there, and the cut is made smaller until it is.
//!
//! | file | subject |
//! |---|---|
//! | `ledger` | the backend that counts what the CPU needs |
//! | `device` | panels on a GPU, and the backend that counts what it needs |

mod device;
mod ledger;

use super::algorithm::{FIRST_RANK, solve};
use super::cpu::cut::{Cut, Sheet};
use super::cpu::elementwise::Elementwise;
use super::options::Options;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;
pub use device::{DeviceFit, DeviceShape, fit_device, host_bytes};
use ledger::Ledger;

/// A value that no threshold cuts off, as an eigenvalue of X^H X.
const LARGE: f64 = 1e200;

/// Ranks that differ in what is kept at one time.
fn ranks(n: usize) -> impl Iterator<Item = usize> {
    const PARTS: usize = 16;
    (0..=PARTS).map(move |k| n / PARTS * k + n % PARTS * k / PARTS).chain([n / 2 + 1])
}

/// Bytes that ranks between those, and ranks that change from iteration to iteration, need at the most besides.
fn between(n: usize, element: usize) -> u64 {
    to_u64(n.saturating_mul(n).saturating_mul(element)) / 2
}

/// Options of a run on sizes of two iterations: the first converges, the second writes the parts. Each run may take a step
/// of the power iteration to confirm its values.
fn rehearsed(options: &Options) -> Options {
    let (max_iterations, power_iterations) = (options.max_iterations.min(2), options.power_iterations.max(1));
    Options { tolerance: 1.0, max_iterations, power_iterations, ..options.clone() }
}

/// What a run reads and writes.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// What is cut.
    pub sheet: Sheet,
    /// Bytes of an entry of the matrix and of the mask as they are read from sources; 0 for what is in memory.
    pub read: usize,
    /// Whether there is a mask.
    pub is_masked: bool,
    /// Bytes of an entry of the larger of the parts that sinks take; 0 without sinks.
    pub sink: usize,
}

/// A cut that fits, and its memory.
#[derive(Debug, Clone, Copy)]
pub struct Fit {
    /// The cut.
    pub cut: Cut,
    /// Bytes at the peak of a run whose low-rank part has few columns.
    pub expected: u64,
}

/// A run whose memory is asked for.
struct Planned<'a> {
    context: &'a Context,
    shape: &'a Shape,
    options: Options,
}

/// The largest cut that fits into the host memory that `context` has left.
///
/// # Errors
/// [`Error::OutOfMemory`] with the bytes that the smallest cut needs.
pub fn fit<T: Elementwise>(context: &Context, shape: &Shape, options: &Options) -> Result<Fit> {
    let options = rehearsed(options);
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
    /// Bytes at the peak where `rank` singular values are found to be large and the groups are worked on by `threads`.
    fn peak<T: Elementwise>(&self, cut: Cut, rank: usize, threads: usize) -> Result<u64> {
        let mut ledger = Ledger::<T>::new(self.shape, cut, rank, threads)?;
        solve(&mut ledger, &self.options)?;
        ledger.deliver()?;
        Ok(ledger.peak())
    }

    fn expected<T: Elementwise>(&self, cut: Cut) -> Result<u64> {
        let threads = self.context.pool().threads();
        self.peak::<T>(cut, FIRST_RANK / 2, threads)
    }

    /// Most bytes that any rank needs. Every group may have a thread: the cut must not depend on how many there are.
    fn most<T: Elementwise>(&self, cut: Cut) -> Result<u64> {
        let n = self.shape.sheet.size.1;
        let most = ranks(n).try_fold(0, |most: u64, rank| Ok(most.max(self.peak::<T>(cut, rank, cut.groups)?)))?;
        Ok(most.saturating_add(between(n, size_of::<T::Wide>())))
    }
}
