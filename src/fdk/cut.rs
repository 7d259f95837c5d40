//! Cuts a scan into slabs and batches that fit the memory limits.
//!
//! `cut.rs` and `ops.rs` import each other: a backend computes the memory of a cut, and its operations take the cut.

use std::ops::Range;

use super::ops::{FdkOps, Slices};
use super::plan::Plan;
use crate::backend::Backend;
use crate::backend::free::host_memory_free;
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// How a run gets at an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// In blocks, through host buffers.
    Buffered,
    /// In host memory that the device copies from or to directly.
    Direct,
    /// In the memory of the device that computes.
    Resident,
}

/// An array of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Type of its elements in memory or in the file.
    pub number: Number,
    /// Access to the array: in blocks, in place in host memory, or on the device.
    pub access: Access,
}

/// Bytes of memory that a run allocates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Bytes of host memory.
    pub host: u64,
    /// Bytes of device memory; 0 on the CPU.
    pub device: u64,
}

/// Limit of the number of panel windows (slabs times views) that a cut computes one by one.
const MOST_WINDOWS: usize = 1 << 20;

/// Distribution of a volume's units to devices. Each round gives every device one slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deal {
    /// Units of the volume, each a group of slices.
    pub units: usize,
    /// Units of a slab in the first round and in every other round. The last round divides the remaining units evenly.
    pub each: [usize; 2],
    /// Number of devices. Each gets one slab a round.
    pub devices: usize,
}

impl Deal {
    /// First unit of a round, and number of units in each of its slabs.
    fn round(&self, round: usize) -> (usize, usize) {
        let start = if round == 0 { 0 } else { self.devices * (self.each[0] + (round - 1) * self.each[1]) };
        let left = self.units.saturating_sub(start);
        (start, self.each[round.min(1)].min(left.div_ceil(self.devices)))
    }

    /// Number of slabs. No slab is empty.
    pub fn slabs(&self) -> usize {
        let rest = self.units.saturating_sub(self.devices * self.each[0]);
        let rounds = 1 + rest.div_ceil(self.devices * self.each[1]);
        let (start, each) = self.round(rounds - 1);
        self.devices * (rounds - 1) + (self.units - start).div_ceil(each.max(1))
    }

    /// The units of slab `k`, which belongs to device `k % devices`.
    pub fn slab(&self, k: usize) -> Range<usize> {
        let (start, each) = self.round(k / self.devices);
        let begin = (start + k % self.devices * each).min(self.units);
        begin..(begin + each).min(self.units)
    }
}

/// The slabs and batches of a scan, for one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Most slices of each device's first slab.
    pub first: usize,
    /// Most slices of every other slab.
    pub slices: usize,
    /// Number of slabs of the volume.
    pub slabs: usize,
    /// Distribution of the slabs to devices.
    pub deal: Deal,
    /// Devices that share the slabs.
    pub devices: usize,
    /// Views that are back-projected together.
    pub launch: usize,
    /// Views that are read and filtered together.
    pub batch: usize,
    /// Whether the device keeps the filtered views for all slabs, instead of filtering them again for each.
    pub keep: bool,
    /// Whether views arrive in any order, as in a pushed scan.
    pub any_order: bool,
    /// Most panel rows of a batch.
    pub rows: usize,
    /// Slices that are handed to the writer together.
    pub write_slices: usize,
    /// Type of the projections, and access to them.
    pub input: Flow,
    /// Type of the volume, and access to it.
    pub output: Flow,
    /// Bytes that the run allocates, without the caller's arrays.
    pub needs: Needs,
}

impl Cut {
    /// The slices of slab `k`.
    pub fn slab(&self, ops: &impl FdkOps, plan: &Plan, k: usize) -> Slices {
        ops.slices_of(plan, self.deal.slab(k))
    }

    /// Whether a device computes more than one slab, so that it can store one while it computes the next.
    pub fn alternates(&self) -> bool {
        self.slabs > self.devices
    }

    /// Panel rows that `slices` need from the views which are back-projected in one launch with view `view`.
    pub fn rows_of(&self, plan: &Plan, slices: Slices, view: usize) -> Range<usize> {
        let count = plan.views.len();
        if self.keep {
            return plan.rows_of(0..count, 0, plan.grid.size[2]);
        }
        let start = view / self.launch * self.launch;
        let views = if self.any_order { 0..count } else { start..(start + self.launch).min(count) };
        let pieces = slices.pieces().map(|(first, n)| plan.rows_of(views.clone(), first, n)).filter(|r| !r.is_empty());
        pieces.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0)
    }

    /// [`Cut::rows_of`] as two ranges, one for a slab and one for its mirror image, if the gap between them is large
    /// enough to save reading; else as one range.
    pub fn bands_of(&self, plan: &Plan, slices: Slices, view: usize) -> [Range<usize>; 2] {
        let whole = self.rows_of(plan, slices, view);
        if self.keep || self.any_order {
            return [whole, 0..0];
        }
        let of = |(first, count)| self.rows_of(plan, Slices::row(first, count), view);
        let (a, b) = (of(slices.main), of(slices.mirror));
        let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
        if a.is_empty() || b.is_empty() || a.end + WORTHWHILE_GAP > b.start { [whole, 0..0] } else { [a, b] }
    }

    /// Most panel rows of a batch.
    fn most_rows(&self, ops: &impl FdkOps, plan: &Plan) -> usize {
        let views = plan.views.len();
        // If visiting every slab would take too long, take the whole panel as an upper bound.
        if self.slabs.saturating_mul(views) > MOST_WINDOWS {
            return plan.geometry.detector.rows;
        }
        let step = if self.keep || self.any_order { views } else { self.launch };
        (0..self.slabs)
            .flat_map(|k| {
                let slices = self.slab(ops, plan, k);
                (0..views).step_by(step.max(1)).map(move |v| self.rows_of(plan, slices, v).len())
            })
            .max()
            .unwrap_or(0)
    }
}

/// Least gap, in rows, between two ranges of rows for which they are read separately.
const WORTHWHILE_GAP: usize = 16;

/// Names of a slab in errors: for a caller's limit that is exceeded, and for too little free memory.
const SLAB: [&str; 2] = ["slab of the volume", "slab of the volume, which is more than is free"];

/// The same for a pushed scan: its volume in one slab for each device, or its line integrals and the smallest slab.
pub(super) const PUSHED: [&str; 2] = ["scan that is pushed", "scan that is pushed, which is more than is free"];

/// Rewrites the error of a slab that does not fit beside the `views` bytes of a scan's line integrals: it then names
/// the sum.
pub(super) fn beside_views(e: Error, views: u64) -> Error {
    match e {
        Error::OutOfMemory { what, bytes, limit } if SLAB.contains(&what) => {
            let bytes = bytes.saturating_add(views);
            let (what, limit) = reason(PUSHED, bytes, limit);
            Error::OutOfMemory { what, bytes, limit }
        }
        other => other,
    }
}

/// The text of an error, with its limit: the first text if `bytes` exceed the caller's limit, else the one for free memory.
fn reason(what: [&'static str; 2], bytes: u64, limit: Option<u64>) -> (&'static str, Option<u64>) {
    // Part of a limit may already be in use, so `bytes` below the limit can fail too.
    match limit {
        Some(limit) if bytes > limit => (what[0], Some(limit)),
        Some(limit) => (what[1], Some(limit)),
        None => (what[1], None),
    }
}

/// Whether an error reports that even the smallest slab does not fit.
pub(super) fn is_too_little(e: &Error) -> bool {
    matches!(e, Error::OutOfMemory { what, .. } | Error::OutOfDeviceMemory { what, .. } if SLAB.contains(what))
}

/// Memory that a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Available {
    /// Bytes of host memory.
    pub host: u64,
    /// Bytes of device memory; unused on the CPU.
    pub device: u64,
    /// The context's limit of host memory, for messages.
    pub host_limit: Option<u64>,
    /// The context's limit of device memory, for messages.
    pub device_limit: Option<u64>,
}

impl Available {
    /// Limits `host` to the host memory that is free now, divided by `contexts`. 1/16 stays unused: the free memory changes,
    /// and allocations outside the plan take some.
    #[must_use]
    pub fn inside_free(mut self, contexts: usize) -> Self {
        let free = host_memory_free();
        self.host = self.host.min((free - free / 16) / to_u64(contexts.max(1)));
        self
    }

    /// The unused part of a context's limits, and at most `free` bytes of its device.
    pub fn of(context: &Context, free: u64) -> Self {
        let (host, device) = (context.host_budget(), context.device_budget());
        let free = match context.backend() {
            Backend::Cpu => u64::MAX,
            // Keep 1/32 in reserve: free memory is fragmented, and kernels allocate some themselves.
            Backend::Gpu(_) => device.available().min(free - free / 32),
        };
        Self { host: host.available(), device: free, host_limit: host.limit(), device_limit: device.limit() }
    }

    /// The smaller of both, for host and device separately.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        let host = if other.host < self.host { other } else { self };
        let device = if other.device < self.device { other } else { self };
        Self { host: host.host, host_limit: host.host_limit, device: device.device, device_limit: device.device_limit }
    }

    fn holds(&self, needs: Needs) -> bool {
        needs.host <= self.host && needs.device <= self.device
    }

    fn check(&self, needs: Needs) -> Result<()> {
        if needs.device > self.device {
            let (what, limit) = reason(SLAB, needs.device, self.device_limit);
            return Err(Error::OutOfDeviceMemory { what, bytes: needs.device, limit });
        }
        self.check_host(SLAB, needs.host)
    }

    /// Refuses `bytes` that do not fit the host. The texts of `what` name them in the error: the first for a caller's limit,
    /// the second for too little free memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn check_host(&self, what: [&'static str; 2], bytes: u64) -> Result<()> {
        if bytes > self.host {
            let (what, limit) = reason(what, bytes, self.host_limit);
            return Err(Error::OutOfMemory { what, bytes, limit });
        }
        Ok(())
    }
}

/// A scan, its arrays and the memory that its cut must fit.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The scan's geometry and options.
    pub plan: &'a Plan,
    /// Type of the projections, and access to them.
    pub input: Flow,
    /// Type of the volume, and access to it.
    pub output: Flow,
    /// Devices that share the slabs.
    pub devices: usize,
    /// Available memory of each device.
    pub available: Available,
}

/// Candidate sizes of a cut.
#[derive(Clone, Copy)]
struct Trial {
    first: usize,
    slices: usize,
    launch: usize,
    batch: usize,
    keep: bool,
    any_order: bool,
}

impl Task<'_> {
    fn trial(&self, ops: &impl FdkOps, trial: Trial) -> Cut {
        let Trial { first, slices, launch, batch, keep, any_order } = trial;
        let nz = self.plan.grid.size[2];
        let group = ops.slice_group();
        let whole = |n: usize| n.next_multiple_of(group).min(nz).max(1);
        let (first, slices) = (whole(first), whole(slices));
        let units = ops.units(self.plan);
        let each = [first, slices].map(|n| if n >= nz { units } else { n.div_ceil(group) });
        let deal = Deal { units, each, devices: self.devices.max(1) };
        let mut cut = Cut {
            first,
            slices,
            slabs: deal.slabs(),
            deal,
            devices: self.devices,
            launch,
            batch: batch.min(launch),
            keep,
            any_order,
            rows: 0,
            write_slices: ops.write_slices(self.plan).min(first.max(slices)),
            input: self.input,
            output: self.output,
            needs: Needs::default(),
        };
        cut.keep &= cut.alternates();
        cut.rows = cut.most_rows(ops, self.plan);
        cut.needs = ops.needs(self.plan, &cut);
        cut.needs.host += self.plan.frame.as_ref().map_or(0, |f| f.bytes(self.output.number));
        cut
    }

    /// The preferred views of a launch and of a batch, within the options.
    fn batches(&self, ops: &impl FdkOps) -> (usize, usize) {
        let views = self.plan.views.len();
        let (launch, batch) = ops.preferred_batch(self.plan, self.input);
        let asked = self.plan.options.view_batch;
        let launch = if asked == 0 { launch } else { asked }.clamp(1, views);
        (launch, batch.clamp(1, launch))
    }

    /// Chooses the slabs and batches that suit the device best among those that fit.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::OutOfDeviceMemory`], with the bytes of the smallest ones, if even those do
    /// not fit.
    pub fn cut(&self, ops: &impl FdkOps) -> Result<Cut> {
        let nz = self.plan.grid.size[2];
        let group = ops.slice_group();
        let asked = self.plan.options.slab;
        let (launch, batch) = self.batches(ops);
        let wanted = match asked {
            0 => ops.preferred_slices(self.plan, self.input, self.output, self.devices),
            n => (n, n),
        };
        let mut keeps = [true, false].into_iter().filter(|k| !k || ops.can_keep());
        let fitting = keeps.find_map(|keep| {
            let (mut first, mut slices) = wanted;
            loop {
                let cut = self.trial(ops, Trial { first, slices, launch, batch, keep, any_order: false });
                if self.available.holds(cut.needs) {
                    return Some(cut);
                }
                if cut.first.max(cut.slices) <= group {
                    return None;
                }
                // Slabs of about equal size. Each iteration reduces their slices.
                let groups = nz.div_ceil(group);
                let slabs = groups.div_ceil(cut.first.max(cut.slices).div_ceil(group));
                let slabs = slabs + (slabs / 8).max(1);
                let next = (groups.div_ceil(slabs) * group).min(cut.first.max(cut.slices) - 1) / group * group;
                slices = slices.min(next.max(group));
                first = next.max(group);
            }
        });
        if let Some(cut) = fitting {
            return Ok(cut);
        }
        let (first, slices, keep, any_order) = (group, group, false, false);
        let (mut launch, mut batch) = (launch, batch);
        loop {
            let cut = self.trial(ops, Trial { first, slices, launch, batch, keep, any_order });
            if self.available.holds(cut.needs) || launch == 1 {
                return self.available.check(cut.needs).map(|()| cut);
            }
            if batch > 1 {
                batch /= 2;
            } else {
                launch /= 2;
            }
        }
    }

    /// Memory for the smallest slabs and batches.
    pub fn least(&self, ops: &impl FdkOps) -> Needs {
        let group = ops.slice_group();
        let smallest = Trial { first: group, slices: group, launch: 1, batch: 1, keep: false, any_order: false };
        self.trial(ops, smallest).needs
    }

    /// Memory for one slab for each device with the smallest batches; `None` if the options ask for smaller slabs.
    pub fn least_in_core(&self, ops: &impl FdkOps) -> Option<Needs> {
        let slices = self.slices_in_core()?;
        let cut = self.trial(ops, Trial { first: slices, slices, launch: 1, batch: 1, keep: false, any_order: true });
        (cut.slabs <= self.devices).then_some(cut.needs)
    }

    /// Slices of one slab for each device; `None` if the options ask for fewer.
    fn slices_in_core(&self) -> Option<usize> {
        let (nz, asked) = (self.plan.grid.size[2], self.plan.options.slab);
        (asked == 0 || asked >= nz).then(|| nz.div_ceil(self.devices.max(1)))
    }

    /// A cut with one slab for each device, so that views can be added in any order; `None` if it does not fit.
    pub fn cut_in_core(&self, ops: &impl FdkOps) -> Option<Cut> {
        let slices = self.slices_in_core()?;
        let (mut launch, mut batch) = self.batches(ops);
        loop {
            let trial = Trial { first: slices, slices, launch, batch, keep: false, any_order: true };
            let cut = self.trial(ops, trial);
            if cut.slabs > self.devices {
                return None;
            }
            if self.available.holds(cut.needs) {
                return Some(cut);
            }
            if launch == 1 {
                return None;
            }
            if batch > 1 {
                batch /= 2;
            } else {
                launch /= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_deal_out_every_unit_once_and_evenly() {
        for units in 1..60 {
            for devices in 1..6 {
                for each in [[1, 1], [7, 2], [3, 5], [60, 60], [13, 1]] {
                    let deal = Deal { units, each, devices };
                    let slabs: Vec<_> = (0..deal.slabs()).map(|k| deal.slab(k)).collect();
                    assert!(slabs.iter().all(|s| !s.is_empty()), "{deal:?}");
                    let dealt: Vec<usize> = slabs.iter().cloned().flatten().collect();
                    assert_eq!(dealt, (0..units).collect::<Vec<_>>(), "{deal:?}");
                    assert!(deal.slab(slabs.len()).is_empty(), "{deal:?}");
                    for (k, slab) in slabs.iter().enumerate() {
                        assert!(slab.len() <= each[(k / devices).min(1)], "{deal:?}");
                    }
                    let share = |d: usize| slabs.iter().skip(d).step_by(devices).map(|s| s.len()).sum::<usize>();
                    let most = (0..devices).map(share).max().unwrap();
                    assert_eq!(most, units.div_ceil(devices), "{deal:?}");
                }
            }
        }
    }
}
