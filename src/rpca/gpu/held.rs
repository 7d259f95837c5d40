//! The matrix and the mask on the device.

use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region, StagingRing};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::rpca::input::Entries;
use crate::scalar::DType;
use crate::shape::to_u64;

/// Sizes and layout of the panels of a matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Rows, the axis that is cut.
    pub(super) m: usize,
    /// Columns, the axis that stays whole.
    pub(super) n: usize,
    /// Rows of a panel; the last may be shorter.
    pub(super) rows: usize,
    /// Whether each row of a panel is contiguous; else each column is.
    pub(super) by_rows: bool,
}

impl Cut {
    pub(super) fn panels(&self) -> usize {
        self.m.div_ceil(self.rows.max(1))
    }

    /// First row and number of rows of a panel.
    pub(super) fn range(&self, panel: usize) -> (usize, usize) {
        let first = panel * self.rows;
        (first, self.rows.min(self.m - first))
    }

    /// The contiguous axis and the other one, of `rows` rows.
    pub(super) fn axes(&self, rows: usize) -> (usize, usize) {
        if self.by_rows { (self.n, rows) } else { (rows, self.n) }
    }
}

/// Entries of a panel on the device: element (f, s) of its axes is element `f * fast + s * slow`.
pub(super) struct DeviceEntries<'b> {
    pub(super) memory: Region<'b>,
    pub(super) fast: usize,
    pub(super) slow: usize,
}

/// Where the entries of a device's rows are.
pub(super) enum EntryStorage<'a> {
    /// In the caller's device memory, used in place.
    Borrowed { memory: &'a DeviceMemory, dtype: DType, first: usize, row_stride: usize, column_stride: usize },
    /// Panels on the device, packed.
    Copied { memory: DeviceMemory, dtype: DType },
    /// Memory for one panel on the device; every pass copies each panel to it.
    Sent { entries: Entries<'a>, memory: DeviceMemory, ring: StagingRing, dtype: DType },
}

/// Bytes and seconds of copying entries to the device.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sending {
    pub(super) to_device: u64,
    pub(super) read: u64,
    pub(super) seconds: f64,
}

/// Copies a panel's entries, packed, to `memory` at `offset`.
#[allow(clippy::too_many_arguments, reason = "source, destination and sizes of a copy")]
fn send(
    context: &Context,
    stream: &GpuStream,
    entries: &mut Entries<'_>,
    cut: &Cut,
    panel: usize,
    ring: &mut StagingRing,
    memory: &mut DeviceMemory,
    offset: usize,
) -> Result<Sending> {
    let (first, rows) = cut.range(panel);
    let size = entries.dtype().size();
    let bytes = rows * cut.n * size;
    let began = std::time::Instant::now();
    let mut sending = Sending { to_device: to_u64(bytes), ..Sending::default() };
    let (window, reader) = entries.split("m")?;
    match reader {
        Some(mut reader) => {
            sending.read = to_u64(bytes);
            ring.upload(stream, bytes, memory, offset, |_, part| reader.read(first, rows, part))?;
        }
        None => {
            let strided = window.rows(0, cut.m, cut.n, &[]);
            let pack = |_: usize, part: &mut [u8]| strided.pack(context, first, (rows, cut.n), cut.by_rows, part);
            ring.upload(stream, bytes, memory, offset, pack)?;
        }
    }
    sending.seconds = began.elapsed().as_secs_f64();
    Ok(sending)
}

impl<'a> EntryStorage<'a> {
    /// Bytes of device memory for entries that stay on the device, and for entries that are copied panel by panel.
    pub(super) fn bytes(entries: &Entries<'_>, cut: &Cut) -> (usize, usize) {
        if entries.is_device() {
            return (0, 0);
        }
        let size = entries.dtype().size();
        (cut.m * cut.n * size, cut.rows.min(cut.m) * cut.n * size)
    }

    /// Storage for `entries`, which stay on the device if `resident`. `check` is called before each panel.
    pub(super) fn new(
        context: &Context,
        gpu: &Gpu,
        stream: &GpuStream,
        mut entries: Entries<'a>,
        cut: &Cut,
        resident: bool,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<(Self, Sending)> {
        let dtype = entries.dtype();
        if let Entries::Memory { memory: Memory::Device(memory), first, row_stride, column_stride, .. } = entries {
            return Ok((Self::Borrowed { memory, dtype, first, row_stride, column_stride }, Sending::default()));
        }
        const WHAT: &str = "matrix of robust PCA";
        let (all, panel_bytes) = Self::bytes(&entries, cut);
        let mut ring = StagingRing::new(gpu, WHAT, 2, panel_bytes.max(1), context.host_budget())?;
        if !resident {
            let memory = gpu.allocate_uninitialized_on(stream, WHAT, panel_bytes)?;
            return Ok((Self::Sent { entries, memory, ring, dtype }, Sending::default()));
        }
        let mut memory = gpu.allocate_uninitialized_on(stream, WHAT, all)?;
        let mut total = Sending::default();
        for panel in 0..cut.panels() {
            check()?;
            let offset = cut.range(panel).0 * cut.n * dtype.size();
            let sent = send(context, stream, &mut entries, cut, panel, &mut ring, &mut memory, offset)?;
            total.to_device += sent.to_device;
            total.read += sent.read;
            total.seconds += sent.seconds;
        }
        Ok((Self::Copied { memory, dtype }, total))
    }

    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Borrowed { dtype, .. } | Self::Copied { dtype, .. } | Self::Sent { dtype, .. } => *dtype,
        }
    }

    /// Copies a panel to the device, if it is not there.
    pub(super) fn bring(&mut self, context: &Context, stream: &GpuStream, cut: &Cut, panel: usize) -> Result<Sending> {
        match self {
            Self::Borrowed { .. } | Self::Copied { .. } => Ok(Sending::default()),
            Self::Sent { entries, memory, ring, .. } => send(context, stream, entries, cut, panel, ring, memory, 0),
        }
    }

    /// The entries of a panel that is on the device.
    pub(super) fn find(&self, cut: &Cut, panel: usize) -> Result<DeviceEntries<'_>> {
        let (first, rows) = cut.range(panel);
        let (fast, _) = cut.axes(rows);
        let bytes = rows * cut.n * self.dtype().size();
        match self {
            Self::Copied { memory, dtype } => {
                let offset = first * cut.n * dtype.size();
                Ok(DeviceEntries { memory: memory.region(offset, bytes)?, fast: 1, slow: fast })
            }
            Self::Sent { memory, .. } => Ok(DeviceEntries { memory: memory.region(0, bytes)?, fast: 1, slow: fast }),
            Self::Borrowed { memory, dtype, first: origin, row_stride, column_stride } => {
                let begin = (origin + first) * row_stride * dtype.size();
                let rest = memory.bytes().checked_sub(begin);
                let rest = rest.ok_or_else(|| Error::Internal("a panel past the end of the matrix".into()))?;
                let (fast, slow) = match cut.by_rows {
                    true => (*column_stride, *row_stride),
                    false => (*row_stride, *column_stride),
                };
                Ok(DeviceEntries { memory: memory.region(begin, rest)?, fast, slow })
            }
        }
    }
}
