//! Launches of the solvers and of the selection of pairs.

use super::super::mirrors::{SelectParams, SshopmParams};
use super::super::{constants as c, size};
use super::arrays::{Batch, Pairs, StartResults, Starts, Tables};
use super::settings::Settings;
use super::sizes::{
    COUNTERS, FUSED_MAX_PAIRS, FUSED_MAX_STARTS, MAX_DIMENSION, MAX_ORDER, SELECT_MAX_PAIRS, SELECT_MAX_STARTS,
    has_fused,
};
use crate::backend::gpu::kernels::{filling, optional, product, small, suffix_of};
use crate::backend::gpu::launch::launch;
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// One solve: T tensors, V starts each.
#[derive(Clone, Copy)]
pub struct Solve<'a> {
    /// The T tensors to solve.
    pub batch: Batch<'a>,
    /// U8 `[T]`: 0 leaves a tensor out.
    pub mask: Option<Region<'a>>,
    /// Real [U, U]: the transform that is applied to the entries when they are read; fused kernels only.
    pub transform: Option<Region<'a>>,
    /// Start vectors of all tensors.
    pub starts: Starts<'a>,
    /// Method, tests and thresholds, the same for all tensors.
    pub settings: Settings,
    /// Where the selected pairs of each tensor go.
    pub pairs: Pairs<'a>,
    /// Where the results of the starts go.
    pub start_results: StartResults<'a>,
    /// Real `[L]`: lambda of the first start of the first tensor at each step; general kernel only.
    pub trace: Option<(Region<'a>, usize)>,
    /// U64 [[`COUNTERS`]], added to.
    pub counters: Option<Region<'a>>,
    /// Index tuples and coefficients; `None` for the fused kernels alone.
    pub tables: Option<Tables<'a>>,
}

impl Solve<'_> {
    fn parameters(&self, dtype: DType) -> Result<SshopmParams> {
        let (b, s, o, q) = (&self.batch, &self.settings, &self.pairs, &self.start_results);
        let (n, t, v, k) = (b.dimension, b.count, self.starts.count, o.limit);
        let sets = if self.starts.per_tensor { t } else { 1 };
        let starts = product("starts", &[n, v, sets])?;
        let tv = product("starts", &[v, t])?;
        let tk = product("results", &[k, t])?;
        let scaled = s.flags & c::PEAKS_SCALED != 0;
        let real = dtype.size();
        let tables = self.tables.as_ref();
        let (absolute_threshold, relative_threshold) = s.thresholds.unwrap_or_default();
        Ok(SshopmParams {
            tensors: b.address(dtype)?,
            entry_stride: to_i64(b.entry_stride),
            tensor_stride: to_i64(b.tensor_stride),
            index: 0,
            mask: optional(size_of::<u8>(), "mask", self.mask, t)?,
            transform: optional(
                dtype.size(),
                "transform",
                self.transform,
                product("transform", &[b.entries, b.entries])?,
            )?,
            starts: self.starts.vectors.array("starts", starts, real)?,
            start_stride: if self.starts.per_tensor { to_i64(n * v) } else { 0 },
            count: to_i64(t),
            shift: s.shift,
            tolerance: s.tolerance,
            tau: s.tau,
            merge_chord2: s.merge_chord2,
            merge_value: s.merge_value,
            degeneracy: s.degeneracy,
            level: s.level,
            isotropy: s.isotropy,
            absolute_threshold,
            relative_threshold,
            separation_chord2: s.separation_chord2,
            pair_count: optional(size_of::<i32>(), "count", o.count, t)?,
            values: optional(dtype.size(), "values", o.values, tk)?,
            vectors: optional(dtype.size(), "vectors", o.vectors, product("vectors", &[n, tk])?)?,
            residuals: optional(dtype.size(), "residuals", o.residuals, tk)?,
            classes: optional(size_of::<i32>(), "classes", o.classes, tk)?,
            hessian: optional(dtype.size(), "hessian", o.hessian, product("hessian", &[n - 1, tk])?)?,
            basins: optional(size_of::<i32>(), "basins", o.basins, tk)?,
            status: optional(size_of::<i32>(), "status", o.status, t)?,
            peaks: optional(dtype.size(), "peaks", o.peaks, product("peaks", &[if scaled { 3 } else { 4 }, tk])?)?,
            start_values: optional(dtype.size(), "start_values", q.values, tv)?,
            start_vectors: optional(dtype.size(), "start_vectors", q.vectors, product("start_vectors", &[n, tv])?)?,
            start_residuals: optional(dtype.size(), "start_residuals", q.residuals, tv)?,
            start_iterations: optional(size_of::<i32>(), "start_iterations", q.iterations, tv)?,
            start_shifts: optional(dtype.size(), "start_shifts", q.shifts, tv)?,
            start_status: optional(size_of::<i32>(), "start_status", q.status, tv)?,
            start_violations: optional(size_of::<i32>(), "start_violations", q.violations, tv)?,
            trace: self.trace.map_or(Ok(0), |(r, l)| r.array("trace", l, real))?,
            counters: optional(size_of::<u64>(), "counters", self.counters, COUNTERS)?,
            indices: optional(
                size_of::<u8>(),
                "indices",
                tables.map(|x| x.indices),
                product("tables", &[b.order, b.entries])?,
            )?,
            multinomials: optional(dtype.size(), "multinomials", tables.map(|x| x.multinomials), b.entries)?,
            identity: optional(dtype.size(), "identity", tables.and_then(|x| x.identity), b.entries)?,
            entries: to_i64(b.entries),
            trace_length: self.trace.map_or(0, |(_, l)| to_i64(l)),
            order: small("order", b.order)?,
            dimension: small("dimension", n)?,
            start_count: small("starts", v)?,
            goal: s.goal,
            method: s.method,
            shift_kind: s.shift_kind,
            test: s.test,
            max_iterations: s.max_iterations,
            warmup: s.warmup,
            sign: s.sign,
            flags: s.flags,
            keep_classes: s.keep_classes,
            pairs: small("pairs", k)?,
            thresholds: i32::from(s.thresholds.is_some()),
            window: 0,
            reserved: 0,
            found: optional(size_of::<i32>(), "found", o.found, t)?,
        })
    }

    /// Solves and selects pairs (or, with a limit of 0 pairs, only writes the starts' results) in one kernel of
    /// dimension 3.
    ///
    /// # Errors
    /// [`Error::Internal`] for an order and dimension without a fused kernel, for more starts or pairs than it takes,
    /// for a trace, and for pairs by Newton's method; as for every [launch](crate::backend::gpu::kernels#errors).
    pub fn fused(&self, dtype: DType, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        let (b, s) = (&self.batch, &self.settings);
        let (v, k) = (self.starts.count, self.pairs.limit);
        if !has_fused(b.order, b.dimension) {
            return Err(Error::Internal(format!("no fused kernel of order {}, dimension {}", b.order, b.dimension)));
        }
        if k > FUSED_MAX_PAIRS || (k > 0 && v > FUSED_MAX_STARTS) || self.trace.is_some() {
            return Err(Error::Internal(format!("a fused solve of {v} starts for {k} pairs")));
        }
        if b.count == 0 || v == 0 {
            return Ok(());
        }
        let method = match s.method {
            c::NEWTON if k > 0 => return Err(Error::Internal("Newton's method with a fused selection".into())),
            c::NEWTON => "newton",
            c::POWER if s.shift_kind != c::SHIFT_ADAPTIVE => "power",
            _ => "hybrid",
        };
        let kernel = gpu.kernel("sshopm", &format!("purlin_sshopm_{method}_n3m{}_{}", b.order, suffix_of(dtype)?))?;
        let padded = |reals: usize| reals.next_multiple_of(4);
        let near = if self.starts.per_tensor || v > FUSED_MAX_STARTS { 0 } else { v };
        let shared = |window: usize| {
            let slot = padded(b.entries) + size(c::SLOT_SCALARS) + if k > 0 { padded(5 * v) } else { 0 };
            (padded(2 * b.entries + size(c::SHARED_NUMBERS) + 3 * near) + 4 * window * slot) * dtype.size()
        };
        let mut window = (size(c::FUSED_SLOT_STARTS) / v).clamp(1, size(c::FUSED_MAX_WINDOW));
        while window > 1 && shared(window) > kernel.most_shared() {
            window -= 1;
        }
        let parameters = SshopmParams { window: small("window", window)?, ..self.parameters(dtype)? };
        let grid = filling(&kernel, b.count.div_ceil(4), c::SOLVE_THREADS, shared(window))?;
        // SAFETY: `parameters` has checked every array against the kernel's extents.
        unsafe { launch(&kernel, stream, grid, &parameters) }
    }

    /// Runs the starts in the general kernel; writes their results and the status, selects nothing.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for an order over [`MAX_ORDER`] or a dimension over [`MAX_DIMENSION`];
    /// [`Error::Internal`] without tables, and for a transform; as for every
    /// [launch](crate::backend::gpu::kernels#errors).
    pub fn general(&self, dtype: DType, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        let b = &self.batch;
        self.check_general()?;
        if b.count == 0 || self.starts.count == 0 {
            return Ok(());
        }
        let kernel = gpu.kernel("sshopm_general", &format!("purlin_sshopm_solve_general_{}", suffix_of(dtype)?))?;
        let warps = size(c::GENERAL_THREADS) / 32;
        let work = product("starts", &[b.count, self.starts.count.div_ceil(32)])?;
        let grid = filling(&kernel, work.div_ceil(warps), c::GENERAL_THREADS, 0)?;
        // SAFETY: as above; the tables are there.
        unsafe { launch(&kernel, stream, grid, &self.parameters(dtype)?) }
    }

    /// Turns the starts' results into at most `found_limit` distinct pairs. `morse` (I32 `[T]`) gets the sum of
    /// (-1)^index over the nondegenerate ones. `scratch` allocates in the order of the stream.
    ///
    /// # Errors
    /// As [`Solve::general`]; [`Error::Internal`] for missing values, vectors, residuals or status of the starts;
    /// [`Error::NotSupported`] for more than [`SELECT_MAX_STARTS`] starts or [`SELECT_MAX_PAIRS`] pairs, and for a
    /// `found_limit` below that of the pairs; [`Error::OutOfDeviceMemory`].
    pub fn select(
        &self,
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        found_limit: usize,
        morse: Option<Region<'_>>,
    ) -> Result<()> {
        let (b, q) = (&self.batch, &self.start_results);
        self.check_general()?;
        if [q.values, q.vectors, q.residuals, q.status].iter().any(Option::is_none) {
            return Err(Error::Internal("a selection without start results".into()));
        }
        let v = self.starts.count;
        if found_limit > SELECT_MAX_PAIRS || found_limit < self.pairs.limit || v > SELECT_MAX_STARTS {
            return Err(Error::NotSupported(format!(
                "{v} starts or {found_limit} pairs a tensor are more than the GPU's {SELECT_MAX_STARTS} and \
                 {SELECT_MAX_PAIRS}"
            )));
        }
        if b.count == 0 || v == 0 {
            return Ok(());
        }
        let kernel = gpu.kernel("sshopm_general", &format!("purlin_sshopm_select_{}", suffix_of(dtype)?))?;
        let shared = 4 * v.div_ceil(32) + 16 * found_limit;
        let grid = filling(&kernel, b.count, c::SELECT_THREADS, shared)?;
        let rows = usize::try_from(grid.blocks[0]).unwrap_or(usize::MAX);
        let numbers = product("scratch", &[rows, found_limit, b.dimension])?;
        let scratch =
            gpu.allocate_on(stream, "scratch of the selection", product("scratch", &[numbers, dtype.size()])?)?;
        let parameters = SelectParams {
            solve: self.parameters(dtype)?,
            scratch: scratch.address(),
            morse: optional(size_of::<i32>(), "morse", morse, b.count)?,
            found_limit: to_i64(found_limit),
        };
        // SAFETY: as above; the scratch has the documented size and goes in the stream's order.
        unsafe { launch(&kernel, stream, grid, &parameters) }
    }

    fn check_general(&self) -> Result<()> {
        let b = &self.batch;
        if b.dimension > MAX_DIMENSION || b.order > MAX_ORDER {
            return Err(Error::NotSupported(format!(
                "tensors: order {} with dimension {} is more than the GPU's {MAX_ORDER} and {MAX_DIMENSION}",
                b.order, b.dimension
            )));
        }
        if self.tables.is_none() || self.transform.is_some() {
            return Err(Error::Internal("the general kernels need tables and take no transform".into()));
        }
        Ok(())
    }
}
