//! How a scan is cut into slabs and batches, inside the memory limits.

use super::algorithm::FdkOps;
use super::plan::Plan;
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::{Error, Result};

/// How an array is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Block by block through buffers.
    Buffered,
    /// In host memory that the device copies from or to by itself.
    Lent,
    /// On the device.
    Resident,
}

/// An array of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Type of its elements.
    pub number: Number,
    /// How it is reached.
    pub way: Way,
}

/// Bytes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// On the host.
    pub host: u64,
    /// On the device.
    pub device: u64,
}

/// How a scan is cut, for one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Slices of a slab.
    pub slices: usize,
    /// Number of slabs of the volume.
    pub slabs: usize,
    /// Devices that share the slabs.
    pub devices: usize,
    /// Views of a batch.
    pub batch: usize,
    /// Most panel rows of a batch.
    pub rows: usize,
    /// Slices that are handed to the writer together.
    pub write_slices: usize,
    /// The projections.
    pub input: Flow,
    /// The volume.
    pub output: Flow,
    /// Bytes that the run takes besides the arrays it is given.
    pub needs: Needs,
}

/// Memory that a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// On the host.
    pub host: u64,
    /// On the device.
    pub device: u64,
    /// The context's limit of host memory, for messages.
    pub host_limit: Option<u64>,
    /// That of device memory.
    pub device_limit: Option<u64>,
}

impl Cut {
    /// Whether a device works on more than one slab, so that one may be on its way out while the next is made.
    pub fn alternates(&self) -> bool {
        self.slabs > self.devices
    }
}

impl Room {
    /// What a context has left.
    pub fn of(context: &Context) -> Result<Self> {
        let (host, device) = (context.host_budget(), context.device_budget());
        let free = match context.backend() {
            crate::backend::Backend::Cpu => u64::MAX,
            crate::backend::Backend::Gpu(gpu) => gpu.memory_available()?,
        };
        Ok(Self { host: host.available(), device: free, host_limit: host.limit(), device_limit: device.limit() })
    }

    /// What both have.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        let (host, device) = if other.host < self.host { (other, self) } else { (self, other) };
        let device = if device.device < host.device { device } else { host };
        Self { host: host.host, device: device.device, host_limit: host.host_limit, device_limit: device.device_limit }
    }

    fn holds(&self, needs: Needs) -> bool {
        needs.host <= self.host && needs.device <= self.device
    }

    fn check(&self, needs: Needs) -> Result<()> {
        if needs.device > self.device {
            let limit = self.device_limit.or(Some(self.device));
            return Err(Error::OutOfDeviceMemory { what: "slab of the volume", bytes: needs.device, limit });
        }
        if needs.host > self.host {
            return Err(Error::OutOfMemory { what: "slab of the volume", bytes: needs.host, limit: self.host_limit });
        }
        Ok(())
    }
}

/// The slabs and batches that suit the device best among those that fit `room`, for each of `devices` that share the
/// slabs.
///
/// # Errors
/// [`Error::OutOfMemory`] or [`Error::OutOfDeviceMemory`] if not even the smallest fit; the bytes they need are named.
pub fn cut(ops: &impl FdkOps, plan: &Plan, input: Flow, output: Flow, devices: usize, room: &Room) -> Result<Cut> {
    let (nz, views) = (plan.grid.size[2], plan.views.len());
    let group = ops.slice_group();
    let options = &plan.options;
    let with = |slices: usize, batch: usize| {
        let rows = |slices| slab_rows(plan, slices, batch);
        trial(ops, plan, input, output, devices, slices, batch, &rows)
    };
    let share = nz.div_ceil(devices.max(1));
    let wanted = if options.slab == 0 { ops.preferred_slices(plan, output).min(share) } else { options.slab };
    let batch = if options.view_batch == 0 { ops.preferred_batch() } else { options.view_batch }.min(views);
    let mut best = with(wanted, batch);
    while !room.holds(best.needs) && best.slices > group {
        // Slabs of about equal size, fewer slices each time.
        let groups = nz.div_ceil(group);
        let slabs = groups.div_ceil(best.slices.div_ceil(group)) + 1;
        let next = (groups.div_ceil(slabs) * group).min(best.slices - 1) / group * group;
        best = with(next.max(group), batch);
    }
    while !room.holds(best.needs) && best.batch > 1 {
        best = with(best.slices, best.batch / 2);
    }
    room.check(best.needs).map(|()| best)
}

/// One slab for each device, so that views can be taken as they come; `None` if that does not fit.
pub fn cut_in_core(
    ops: &impl FdkOps,
    plan: &Plan,
    input: Flow,
    output: Flow,
    devices: usize,
    room: &Room,
) -> Option<Cut> {
    let (nz, views) = (plan.grid.size[2], plan.views.len());
    let options = &plan.options;
    if options.slab != 0 && options.slab < nz {
        return None;
    }
    // Views come in any order: rows for all of them.
    let rows = |slices: usize| {
        let slabs = (0..nz).step_by(slices.max(1));
        slabs.map(|first| plan.rows_of(0..views, first, slices.min(nz - first)).len()).max().unwrap_or(0)
    };
    let slices = nz.div_ceil(devices.max(1));
    let mut batch = if options.view_batch == 0 { ops.preferred_batch() } else { options.view_batch }.min(views);
    loop {
        let best = trial(ops, plan, input, output, devices, slices, batch, &rows);
        if room.holds(best.needs) {
            return Some(best);
        }
        if batch == 1 {
            return None;
        }
        batch /= 2;
    }
}

/// A cut and what it needs.
#[expect(clippy::too_many_arguments, reason = "the parts of a cut")]
fn trial(
    ops: &impl FdkOps,
    plan: &Plan,
    input: Flow,
    output: Flow,
    devices: usize,
    slices: usize,
    batch: usize,
    rows: &dyn Fn(usize) -> usize,
) -> Cut {
    let nz = plan.grid.size[2];
    let slices = slices.next_multiple_of(ops.slice_group()).min(nz);
    let mut cut = Cut {
        slices,
        slabs: nz.div_ceil(slices),
        devices,
        batch,
        rows: rows(slices),
        write_slices: ops.write_slices(plan).min(slices),
        input,
        output,
        needs: Needs::default(),
    };
    cut.needs = ops.needs(plan, &cut);
    cut
}

/// Most panel rows that a batch of some slab needs.
fn slab_rows(plan: &Plan, slices: usize, batch: usize) -> usize {
    let (nz, views) = (plan.grid.size[2], plan.views.len());
    let slabs = (0..nz).step_by(slices.max(1));
    slabs
        .flat_map(|first| {
            let count = slices.min(nz - first);
            (0..views).step_by(batch.max(1)).map(move |v| plan.rows_of(v..(v + batch).min(views), first, count).len())
        })
        .max()
        .unwrap_or(0)
}
