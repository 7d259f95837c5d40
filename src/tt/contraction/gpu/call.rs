//! One call on a GPU: its trains in the order of the sweep, and the terms that its kernels write.

use std::ops::Range;

use super::load::Loaded;
use super::planned::{is_unscaled, length, middle, sites, sweep};
use crate::alloc;
use crate::backend::gpu::kernels::tt::{self, RESULT_WORDS, Site};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::contraction::ops::Work;
use crate::contraction::plan::Plan;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::shape::{product, to_u64};
use crate::trains::options::Method;
use crate::trains::scaled::Scaled;

/// One call: the trains in the order of the sweep, the device and the stream.
pub(super) struct Call<'a> {
    pub(super) work: &'a Work<'a>,
    pub(super) gpu: &'a Gpu,
    pub(super) stream: &'a GpuStream,
    /// Shapes of the cores, from the cut on.
    pub(super) sites: Vec<Site>,
    pub(super) x: Vec<Region<'a>>,
    pub(super) y: Vec<Region<'a>>,
    /// Number of sites of the sweep, a multiple of the number of cores.
    pub(super) length: usize,
    /// Whether nothing is scaled, so that a result may be infinite. The caller has chosen that.
    pub(super) unscaled: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        work: &'a Work<'a>,
        gpu: &'a Gpu,
        stream: &'a GpuStream,
        x: &'a Loaded<'_>,
        y: &'a Loaded<'_>,
    ) -> Result<Self> {
        let plan = work.plan;
        // [`Method::Power`] contracts the cell once, for any `repeat`.
        let length = if plan.method == Method::Power { plan.cores } else { length(plan)? };
        let (own_x, own_y) = (x.cores()?, y.cores()?);
        let what = "sites of a contraction";
        let sites = sites(plan, work.x.shape(), work.y.shape())?;
        let (mut in_x, mut in_y) = (alloc::with_capacity(what, plan.cores)?, alloc::with_capacity(what, plan.cores)?);
        for i in 0..plan.cores {
            let k = plan.core(to_u64(i));
            in_x.push(own_x[k]);
            in_y.push(own_y[k]);
        }
        let unscaled = is_unscaled(plan);
        Ok(Self { work, gpu, stream, sites, x: in_x, y: in_y, length, unscaled })
    }

    pub(super) fn plan(&self) -> &'a Plan {
        self.work.plan
    }

    /// Element type of the contraction, in which both trains are loaded.
    pub(super) fn dtype(&self) -> DType {
        self.plan().dtype
    }

    pub(super) fn sweep(&self, middle: Option<usize>) -> tt::Sweep {
        tt::Sweep { middle, ..sweep(self.plan(), self.length) }
    }

    /// The bond at which both ends meet, as the number of sites from the left. Both ends then take about the same time.
    pub(super) fn middle(&self) -> usize {
        middle(&self.sites)
    }

    /// Whether a result that may have lost digits is computed again with more care.
    pub(super) fn rescues(&self) -> bool {
        self.plan().scaled || self.plan().rescue
    }

    /// Adds to the counter of steps. Returns an error if the call has been cancelled.
    pub(super) fn steps(&self, count: usize) -> Result<()> {
        self.work.done.fetch_add(to_u64(count), std::sync::atomic::Ordering::Relaxed);
        self.work.cancel.check()
    }

    pub(super) fn results(&self, count: usize) -> Result<DeviceMemory> {
        let bytes = product("pairs", count, RESULT_WORDS * 8)?;
        self.gpu.allocate_uninitialized_on(self.stream, "terms of a contraction", bytes)
    }

    /// Waits for terms and reads them. Before it waits, the host does its other work.
    pub(super) fn read(&self, memory: &DeviceMemory, count: usize) -> Result<Vec<Term>> {
        self.work.run_host_work();
        read(self.gpu, self.stream, memory, count)
    }
}

/// Waits for `count` terms and reads them.
pub(super) fn read(gpu: &Gpu, stream: &GpuStream, memory: &DeviceMemory, count: usize) -> Result<Vec<Term>> {
    let mut words = alloc::filled("terms of a contraction", count * RESULT_WORDS, 0i64)?;
    gpu.load_numbers(stream, memory, 0, &mut words)?;
    let mut terms = alloc::with_capacity("terms of a contraction", count)?;
    for word in words.chunks_exact(RESULT_WORDS) {
        let number = |j: usize| f64::from_bits(u64::from_ne_bytes(word[j].to_ne_bytes()));
        let value = Scaled::new(Complex::new(number(0), number(1)), word[2]);
        let own = if value.is_zero() { 0 } else { value.exponent.saturating_sub(word[2]) };
        terms.push(Term { value, own, doubt: word[3] != 0 || !value.is_finite() });
    }
    Ok(terms)
}

/// One term as a kernel writes it.
#[derive(Clone, Copy)]
pub(super) struct Term {
    pub(super) value: Scaled,
    /// Exponent of the mantissa itself, which the kernel does not normalize.
    pub(super) own: i64,
    pub(super) doubt: bool,
}

impl Term {
    /// The sum of the partial sums of one term. It is doubtful if it is 0 or far from 1, which shows that something
    /// overflowed or underflowed where nothing was measured.
    pub(super) fn of_parts(parts: &[Self], dtype: DType) -> Self {
        let value = parts.iter().fold(Scaled::ZERO, |sum, p| sum.plus(p.value));
        let far = if dtype.is_single() { 60 } else { 400 };
        let own = parts.iter().map(|p| p.own.abs()).max().unwrap_or(0);
        Self { value, own, doubt: value.is_zero() || own > far || parts.iter().any(|p| p.doubt) }
    }
}

/// Adds up the terms of pairs, block by block in the order of the pairs.
pub(super) struct Sums<'a> {
    pub(super) plan: &'a Plan,
    pub(super) first: usize,
    pub(super) partials: &'a mut [Scaled],
}

impl<'a> Sums<'a> {
    pub(super) fn new(plan: &'a Plan, blocks: Range<usize>, partials: &'a mut [Scaled]) -> Self {
        Self { plan, first: blocks.start, partials }
    }

    /// Resets the sums to 0.
    pub(super) fn clear(&mut self) {
        self.partials.fill(Scaled::ZERO);
    }

    /// Adds the terms of the pairs from `first` on. Returns whether one of them is doubtful.
    pub(super) fn add(&mut self, first: usize, terms: &[Term]) -> Result<bool> {
        let mut doubt = false;
        for (q, term) in (first..).zip(terms) {
            let pair = self.plan.pairs.get(q);
            let value = if self.plan.pairs.halved { term.value.re() } else { term.value };
            let weight = self.plan.pairs.weight(pair);
            let value = if weight == 1.0 { value } else { value.times(Scaled::real(weight)) };
            let block = (q / self.plan.block.max(1)).checked_sub(self.first);
            let slot = block.and_then(|b| self.partials.get_mut(b));
            let slot = slot.ok_or_else(|| Error::Internal(format!("a term of pair {q} in no block")))?;
            *slot = slot.plus(value);
            doubt |= term.doubt;
        }
        Ok(doubt)
    }
}
