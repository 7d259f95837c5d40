//! One GPU of a run: its streams, its memory, and the slab that it computes.

use std::collections::VecDeque;
use std::sync::Arc;

use super::buffers::Buffers;
use super::clock::Clock;
use super::launch::shape_of;
use super::tables::Tables;
use crate::backend::gpu::kernels::fdk::{Layout, Shape};
use crate::backend::gpu::{Event, Gpu, GpuStream};
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::Result;
use crate::fdk::counts::Counts;
use crate::fdk::cut::Cut;
use crate::fdk::ops::{Job, Slices, Tally};
use crate::fdk::plan::Plan;

/// Streams for uploads, kernels and downloads; the order is that of the lanes in `run_overlapped`.
pub struct Streams {
    pub(super) upload: GpuStream,
    pub(super) compute: GpuStream,
    pub(super) download: GpuStream,
}

/// Indices of the copy lanes of a [`ScopedTransfers`](crate::backend::gpu::ScopedTransfers).
pub(super) const UPLOAD: usize = 0;
pub(super) const DOWNLOAD: usize = 1;

/// The operations on one GPU. Uploads, kernels and downloads have a stream each.
pub struct GpuOps {
    pub(super) context: Arc<Context>,
    pub(super) gpu: Gpu,
    pub(super) streams: Arc<Streams>,
    pub(super) shape: Shape,
    pub(super) counts: Option<Arc<Counts>>,
    pub(super) tables: Option<Tables>,
    pub(super) buffers: Option<Buffers>,
    pub(super) cut: Option<Cut>,
    pub(super) output: Number,
    pub(super) slices: Slices,
    /// Views whose images are stored, and how many of the last ones are not back-projected yet.
    pub(super) stored: usize,
    pub(super) pending: usize,
    pub(super) layout: Layout,
    pub(super) in_flight: VecDeque<Event>,
    pub(super) clock: Clock,
    pub(super) tally: Tally,
}

impl GpuOps {
    /// Creates the streams of a run; `FdkOps::prepare` allocates the memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(context: &Arc<Context>, gpu: &Gpu, plan: &Plan, counts: Option<Arc<Counts>>) -> Result<Self> {
        let streams = Streams {
            upload: gpu.create_independent_stream()?,
            compute: gpu.create_independent_stream()?,
            download: gpu.create_independent_stream()?,
        };
        Ok(Self {
            context: Arc::clone(context),
            gpu: gpu.clone(),
            streams: Arc::new(streams),
            shape: shape_of(plan),
            counts,
            tables: None,
            buffers: None,
            cut: None,
            output: Number::F32,
            slices: Slices::default(),
            stored: 0,
            pending: 0,
            layout: Layout::packed(0, 0, 0),
            in_flight: VecDeque::new(),
            clock: Clock::default(),
            tally: Tally::default(),
        })
    }

    /// If there is a plane of symmetry: the number of tiles on its larger side, their depth, and the first slice of the
    /// first tile above it. A slab then includes its mirror image.
    pub(super) fn mirrored(&self, plan: &Plan) -> Option<(usize, usize, usize)> {
        let mirror = self.shape.mirror?;
        let (depth, plane) = (self.shape.slice_group(), mirror.slices.div_ceil(2));
        let above = plan.grid.size[2].saturating_sub(plane);
        let below = (mirror.slices + 1).saturating_sub(plane);
        Some((above.max(below).div_ceil(depth).max(1), depth, plane))
    }

    /// Whether pixels need a conversion before the filter. Only line integrals in f32 without further options do not.
    pub(super) fn converts(&self, plan: &Plan, number: Number) -> bool {
        self.counts.is_some() || plan.options.sanitize || plan.scan.is_by_pixel || number != Number::F32
    }

    /// Whether stored slices are converted into memory of their own: those of another type, and those of a pushed scan,
    /// whose slab must stay unchanged for a repeated finish.
    pub(super) fn leaves_apart(&self, plan: &Plan) -> bool {
        let is_pushed = self.cut.as_ref().is_some_and(|c| c.any_order);
        self.output != Number::F32 || (is_pushed && !plan.is_plain())
    }

    /// The pieces of the current slab: first slice, number of slices, and byte offset in its memory. In the volume's
    /// own memory the offset is that of the slice in the volume.
    pub(super) fn pieces(&self, job: Job<'_>, slice: usize) -> Vec<(usize, usize, usize)> {
        let mut at = 0;
        let place = |(first, slices)| {
            let begin = if job.volume.is_some() { first * slice } else { at };
            at += slices * slice;
            (first, slices, begin)
        };
        self.slices.pieces().map(place).collect()
    }
}
