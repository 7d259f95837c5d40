//! Fits and conversions on a GPU, in chunks of voxels.

use super::design::{adc_factors, adc_matrix};
use super::options::{FitOptions, Nonpositive, Weighting};
use super::scheme::Scheme;
use super::sh::coefficients;
use super::voxels::Outputs;
use crate::alloc;
use crate::backend::Backend;
use crate::backend::gpu::kernels::dwi::{Fit, MAX_ENTRIES, Model, Volume};
use crate::backend::gpu::kernels::linear::{Items, linear};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::blocks::{self, Chunk, Field, Input};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Real, with_real};
use crate::shape::to_i64;
use crate::sshopm::Info;
use crate::tensor::Tensor;

/// The device of a call.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    context: &'a Context,
    gpu: &'a Gpu,
    queue: &'a GpuStream,
}

impl<'a> Site<'a> {
    /// The device of `context`, if it has one.
    pub fn of(context: &'a Context, queue: Option<&'a GpuStream>) -> Option<Self> {
        match (context.backend(), queue) {
            (Backend::Gpu(gpu), Some(queue)) => Some(Self { context, gpu, queue }),
            _ => None,
        }
    }

    /// A matrix of `rows` x `columns` numbers `at(row, column)`, column-major on the device.
    fn matrix<T: Real>(&self, rows: usize, columns: usize, at: impl Fn(usize, usize) -> f64) -> Result<DeviceMemory> {
        let mut numbers = alloc::with_capacity("matrix", rows * columns)?;
        for column in 0..columns {
            numbers.extend((0..rows).map(|row| T::from_f64(at(row, column))));
        }
        self.gpu.upload_numbers(self.queue, "matrix", &numbers)
    }

    /// Uploads the indices of measurements.
    fn numbers(&self, measurements: &[usize]) -> Result<DeviceMemory> {
        let mut numbers = alloc::with_capacity("measurements", measurements.len())?;
        for m in measurements {
            let problem = || Error::NotSupported(format!("signals: measurement {m}, at most {} on a GPU", i32::MAX));
            numbers.push(i32::try_from(*m).map_err(|_| problem())?);
        }
        self.gpu.upload_numbers(self.queue, "measurements", &numbers)
    }
}

/// `destination = matrix * source` for each voxel. The arrays are checked and have `rows` rows; `matrix` is row-major.
pub(crate) fn map<T: Real>(
    site: Site<'_>,
    matrix: &[f64],
    rows: usize,
    (argument, source): (&str, &Tensor),
    (name, destination): (&str, &mut Tensor),
) -> Result<()> {
    let matrix = site.matrix::<T>(rows, rows, |r, c| matrix[r * rows + c])?;
    let items = source.dims()[1];
    let progress = site.context.progress(None);
    let Site { context, gpu, queue } = site;
    let plan = blocks::Plan { context, gpu, queue, progress: &progress, items, scratch: &[] };
    blocks::for_chunks(&plan, &[Input::any(argument, source)], &mut [(name, destination)], &mut |chunk| {
        let (input, output) = (elements(&chunk.inputs[0]), elements(&chunk.outputs[0]));
        linear(T::DTYPE, gpu, chunk.stream, matrix.whole(), (rows, rows), chunk.count, input, output)
    })?;
    Ok(())
}

fn elements<'a>(field: &Field<'a>) -> Items<'a> {
    Items { memory: field.region, stride: field.strides[0], item_stride: field.strides[1] }
}

fn volume<'a>(field: &Field<'a>) -> Volume<'a> {
    Volume { memory: field.region, measurement_stride: field.strides[0], voxel_stride: field.strides[1] }
}

/// Whether the kernels support `options` and `weights`. Skipped signals, orders above 8, and the caller's own weights on
/// several shells need the CPU.
pub(crate) fn can_fit(scheme: &Scheme, options: &FitOptions, weights: Option<&Tensor>, tensors: &Tensor) -> bool {
    let one_shell = scheme.bvals.iter().all(|b| (b - scheme.bvals[0]).abs() <= 1e-9 * b.abs());
    tensors.dims()[0] <= MAX_ENTRIES
        && options.nonpositive == Nonpositive::Clamp
        && weights.is_none_or(|w| one_shell && w.dtype() == tensors.dtype())
}

/// The fit of one volume.
pub(crate) struct Task<'a> {
    signals: &'a Tensor,
    weights: Option<&'a Tensor>,
    mask: Option<&'a Tensor>,
    scheme: &'a Scheme,
    /// Whether every voxel has its own weights.
    is_weighted: bool,
    /// Smallest signal as a fraction of S0.
    floor: f64,
}

/// The matrices of a fit on the device.
enum Algebra {
    /// The map from logarithms to entries, the same for all voxels.
    Shared(DeviceMemory),
    /// The design in orthonormal coordinates, and the map from those to entries.
    Own(DeviceMemory, DeviceMemory),
}

impl<'a> Task<'a> {
    /// A fit of arrays whose sizes are checked, except the mask.
    pub fn new(
        signals: &'a Tensor,
        weights: Option<&'a Tensor>,
        mask: Option<&'a Tensor>,
        scheme: &'a Scheme,
        options: &FitOptions,
        floor: f64,
    ) -> Self {
        let is_weighted = weights.is_some() || options.weighting == Weighting::Signal;
        Self { signals, weights, mask, scheme, is_weighted, floor }
    }

    /// Checks the outputs, the mask and the signals' type, then fits every voxel.
    pub fn run(&self, site: Site<'_>, order: usize, outputs: Outputs<'_>, progress: &Progress<'_>) -> Result<Info> {
        let voxels = self.signals.dims()[1];
        let dtype = outputs.values.dtype();
        outputs.check(site.context, dtype, [coefficients(order), voxels])?;
        if let Some(mask) = self.mask {
            mask.expect_context("mask", site.context)?;
            mask.expect_dims("mask", &[voxels])?;
            mask.expect_dtype("mask", DType::U8)?;
        }
        if !matches!(self.signals.dtype(), DType::F32 | DType::F64 | DType::U16 | DType::I32 | DType::U8) {
            let found = self.signals.dtype().name();
            return Err(Error::invalid("signals", format!("is {found}, one of F32, F64, U16, I32 and U8 is needed")));
        }
        let chunks = with_real!(dtype, "tensors", T => self.fit::<T>(site, order, outputs, progress))?;
        let reason = "on the GPU of the context; chunks follow from the memory that is free";
        Ok(Info { tensors: to_i64(voxels), chunks, skipped_tensors: -1, reason, ..Info::default() })
    }

    /// Computes the matrices. Weighted fits use the orthonormal coordinates of the unweighted problem, as on the CPU. With
    /// `-ln(S/S0) = b q.c` and weights S^2, the residuals of `D = q.c` have the weights (b S)^2.
    fn algebra<T: Real>(&self, site: Site<'_>, order: usize) -> Result<Algebra> {
        let (u, n) = (coefficients(order), self.scheme.weighted.len());
        if !self.is_weighted {
            let matrix = adc_matrix(self.scheme, order)?;
            return Ok(Algebra::Shared(site.matrix::<T>(u, n, |r, j| matrix[r * n + j])?));
        }
        let factors = adc_factors(self.scheme, order)?;
        let b = &self.scheme.bvals;
        // Relative to the largest b-value, so that the sums stay near one.
        let largest = b.iter().fold(0.0f64, |a, b| a.max(*b));
        let design = site.matrix::<T>(u, n, |r, j| factors.left[j * u + r] * b[j] / largest)?;
        Ok(Algebra::Own(design, site.matrix::<T>(u, u, |r, k| factors.back[r * u + k] / largest)?))
    }

    /// Returns the number of chunks.
    fn fit<T: Real>(&self, site: Site<'_>, order: usize, outputs: Outputs<'_>, progress: &Progress<'_>) -> Result<i64> {
        let Site { context, gpu, queue } = site;
        let u = coefficients(order);
        let items = self.signals.dims()[1];
        let (algebra, staging) = alloc::limited(context.host_budget(), || self.algebra::<T>(site, order))?;
        drop(staging);
        let baseline = site.numbers(&self.scheme.unweighted)?;
        let weighted = site.numbers(&self.scheme.weighted)?;

        let mut inputs = vec![Input::any("signals", self.signals)];
        inputs.extend(self.mask.map(|m| Input::packed("mask", m)));
        inputs.extend(self.weights.map(|w| Input::any("weights", w)));
        let at_weights = 1 + usize::from(self.mask.is_some());
        let mut list: Vec<(&str, &mut Tensor)> = vec![(outputs.name, outputs.values)];
        let mut add = |name, tensor: Option<_>| {
            tensor.map(|t| {
                list.push((name, t));
                list.len() - 1
            })
        };
        let (at_s0, at_status) = (add("s0", outputs.s0), add("status", outputs.status));
        let scratch: &[usize] = if self.is_weighted { &[u * size_of::<T>()] } else { &[] };
        let plan = blocks::Plan { context, gpu, queue, progress, items, scratch };
        blocks::for_chunks(&plan, &inputs, &mut list, &mut |chunk: &Chunk<'_>| {
            let region = |at: Option<usize>| at.and_then(|k| chunk.outputs.get(k)).map(|f| f.region);
            let out = elements(&chunk.outputs[0]);
            let coordinates = chunk.scratch.first().map(|s| Items { memory: *s, stride: 1, item_stride: u });
            let target = coordinates.unwrap_or(out);
            let weights = self.weights.and_then(|_| chunk.inputs.get(at_weights)).map(volume);
            let fit = Fit {
                signals: volume(&chunk.inputs[0]),
                signal_type: self.signals.dtype(),
                measurements: self.signals.dims()[0],
                voxels: chunk.count,
                mask: self.mask.and_then(|_| chunk.inputs.get(1)).map(|f| f.region),
                baseline: (baseline.whole(), self.scheme.unweighted.len()),
                weighted: (weighted.whole(), self.scheme.weighted.len()),
                model: match &algebra {
                    Algebra::Shared(matrix) => Model::Shared(matrix.whole()),
                    Algebra::Own(design, _) => Model::Weighted { design: design.whole(), weights },
                },
                entries: u,
                tensors: (target.memory, target.stride, target.item_stride),
                s0: region(at_s0),
                status: region(at_status),
                clamp: Some(self.floor),
            };
            fit.run::<T>(gpu, chunk.stream)?;
            if let Algebra::Own(_, back) = &algebra {
                linear(T::DTYPE, gpu, chunk.stream, back.whole(), (u, u), chunk.count, target, out)?;
            }
            Ok(())
        })
    }
}
