//! Fits of diffusion tensors of any even order to signals.

use super::arguments::{matrix_dims, order_of};
use super::design::{adc_factors, adc_matrix};
use super::options::{FitOptions, Nonpositive, Weighting};
use super::scheme::Scheme;
use super::sh::coefficients;
use super::signal::{Attenuation, Range};
use super::voxels::{LANES, Mask, Number, Outputs, Source, converted, for_blocks, is_rejected, on_host};
use super::weighted::{Design, Solver};
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::DType;
use crate::sshopm::{Info, TensorStatus};
use crate::stream::{self, Stream};
use crate::tensor::{HostInput, Tensor};

/// Fits a tensor A of order m to every voxel. It minimizes the sum of `w_j (D_j - A g_j^m)^2` over the weighted volumes, with
/// `D_j = -ln(S_j / S0) / b_j` and S0 the mean of the unweighted ones. m = 2 is the diffusion tensor.
///
/// `w_j` is 1, or `(b_j S_j)^2` for [`Weighting::Signal`], or the caller's `weights` if given. One decomposition is used for
/// the whole volume; weighted fits and voxels with skipped signals solve a small system each.
///
/// Maxima of the fitted profile are **not** fibre directions if fibres cross: they lie between them. They are only for m = 2
/// in voxels of a single fibre. For directions see [`super::csa`] and [`super::peaks`].
///
/// - `signals`: N x T, any strides; F32, F64, U16, I32 or U8. A volume stored (X, Y, Z, N) has strides (XYZ, 1).
/// - `bvals`: N, s/mm^2; `bvecs`: 3 x N, unit vectors; either real type. Directions stay in the gradients' frame.
/// - `mask`: U8, T; `weights`: N x T, real, at least 0.
/// - `tensors`: order 2, 4, 6, .., dimension 3, T of them, F32 or F64, in mm^2/s. Zero if a voxel has no result.
/// - `s0`: T, the type of `tensors`; `status`: T, I32, see [`TensorStatus`].
///
/// The report has voxels, chunks, the voxels without a result (-1 on a GPU, which does not count them), and where they were
/// computed.
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd order, too few distinct axes, vectors that are not unit, no unweighted volume,
/// or types and sizes that do not match.
#[allow(clippy::too_many_arguments, reason = "the arguments of the C function, in its order")]
pub fn fit(
    context: &Context,
    queue: Option<&Stream>,
    signals: &Tensor,
    bvals: &Tensor,
    bvecs: &Tensor,
    mask: Option<&Tensor>,
    weights: Option<&Tensor>,
    options: &FitOptions,
    tensors: &mut Tensor,
    s0: Option<&mut Tensor>,
    status: Option<&mut Tensor>,
    progress: &Progress<'_>,
) -> Result<Info> {
    let queue = stream::select(context, queue)?;
    let site = super::gpu::Site::of(context, queue);
    let floor = options.floor()?;
    signals.expect_context("signals", context)?;
    let (volumes, voxels) = matrix_dims("signals", signals)?;
    let order = order_of("tensors", tensors)?;
    let budget = context.host_budget();
    let (scheme, _scheme) =
        alloc::limited(budget, || Scheme::read(context, queue, bvals, bvecs, volumes, options.b0_threshold))?;
    let outputs = Outputs { name: "tensors", values: tensors, s0, status };
    if let Some(w) = weights {
        w.expect_context("weights", context)?;
        w.expect_dims("weights", &[volumes, voxels])?;
        if !matches!(w.dtype(), DType::F32 | DType::F64) {
            return Err(Error::invalid("weights", format!("are {}, F32 or F64 is needed", w.dtype().name())));
        }
    }
    if weights.is_some() && options.weighting == Weighting::Signal {
        return Err(Error::invalid("weighting", "is PURLIN_DWI_WLS, but `weights` are given, which take its place"));
    }
    let dtype = outputs.values.dtype();
    if let Some(site) = site.filter(|_| super::gpu::can_fit(&scheme, options, weights, outputs.values)) {
        let task = super::gpu::Task::new(signals, weights, mask, &scheme, options, floor);
        return task.run(site, order, outputs, progress);
    }
    outputs.check(context, dtype, [coefficients(order), voxels])?;
    let own = weights.is_some() || options.weighting == Weighting::Signal || options.nonpositive == Nonpositive::Skip;
    // Run on a pool thread, like all arithmetic, because the caller's thread may have another rounding mode.
    let ((matrix, design), _matrices) = context.pool().run(|| {
        alloc::limited(budget, || {
            let design = own.then(|| Design::new(adc_factors(&scheme, order)?, coefficients(order))).transpose()?;
            Ok((adc_matrix(&scheme, order)?, design))
        })
    })?;
    let signals = HostInput::new(queue, "signals", signals)?;
    let weights = HostInput::optional(queue, "weights", weights)?;
    let mask = HostInput::optional(queue, "mask", mask)?;
    let task = Task {
        signals: Source::new("signals", &signals)?,
        weights: weights.as_deref().map(|w| Source::new("weights", w)).transpose()?,
        matrix,
        design,
        scheme,
        options: *options,
        floor,
    };
    let mask = Mask::new(context, mask.as_deref(), voxels)?;
    on_host(queue, outputs, |outputs| match dtype {
        DType::F32 => task.run::<f32>(context, progress, mask, outputs),
        DType::F64 => task.run::<f64>(context, progress, mask, outputs),
        other => Err(Error::invalid("tensors", format!("are {}, F32 or F64 is needed", other.name()))),
    })
}

/// The fit of one volume.
struct Task<'a> {
    signals: Source<'a>,
    weights: Option<Source<'a>>,
    scheme: Scheme,
    options: FitOptions,
    floor: f64,
    matrix: Vec<f64>,
    /// For voxels that need their own system; `None` if no voxel can.
    design: Option<Design>,
}

/// A thread's scratch memory for one block of voxels.
struct Scratch<'a, T> {
    /// `S / S0`, then its logarithm: N rows of lanes.
    logs: Vec<T>,
    attenuation: Attenuation<T>,
    solver: Option<Solver<'a>>,
    /// Lanes whose voxel has invalid weights.
    refused: Vec<bool>,
}

impl Task<'_> {
    fn run<T: Number>(
        &self,
        context: &Context,
        progress: &Progress<'_>,
        mask: Mask<'_>,
        outputs: Outputs<'_>,
    ) -> Result<Info> {
        let (matrix, _charge) = alloc::limited(context.host_budget(), || converted::<T>("fit matrix", &self.matrix))?;
        let n = self.scheme.weighted.len();
        let weighted = self.weights.is_some() || self.options.weighting == Weighting::Signal;
        let range = Range { low: self.floor, high: f64::MAX, flag: self.floor };
        let scratch = || {
            Ok(Scratch {
                logs: alloc::filled("block of logarithms", n * LANES, T::ZERO)?,
                attenuation: Attenuation::new()?,
                solver: self.design.as_ref().map(Solver::new).transpose()?,
                refused: alloc::filled("block of weights", LANES, false)?,
            })
        };
        for_blocks(context, progress, mask, outputs, scratch, |scratch, lanes, block| {
            let Scratch { logs, attenuation, solver, refused } = scratch;
            attenuation.read(&self.signals, &self.scheme, lanes, range, logs, block);
            // All voxels of a weighted fit solve their own system, or only those with skipped signals.
            let own = |status: TensorStatus| weighted || status == TensorStatus::Clamped;
            let solver = solver.as_mut().filter(|_| block.status[..lanes.len()].iter().any(|s| own(*s)));
            if let Some(solver) = solver {
                self.read_weights(lanes, logs, solver, refused);
                T::ln_all(logs);
                self.weigh(logs, solver);
                solver.assemble();
                if !weighted {
                    T::product(&matrix, logs, &mut block.values);
                }
                for lane in (0..lanes.len()).filter(|l| refused[*l]) {
                    block.status[lane] = TensorStatus::Nonfinite;
                }
                for lane in 0..lanes.len() {
                    let status = block.status[lane];
                    if is_rejected(status) || !own(status) {
                        continue;
                    }
                    match solver.solve(lane) {
                        Some(solution) => {
                            for (row, x) in block.values.chunks_exact_mut(LANES).zip(solution) {
                                row[lane] = T::from_f64(*x);
                            }
                        }
                        None => block.status[lane] = TensorStatus::Signal,
                    }
                }
            } else {
                T::ln_all(logs);
                T::product(&matrix, logs, &mut block.values);
            }
            for lane in 0..lanes.len() {
                if is_rejected(block.status[lane]) {
                    block.reject(lane, block.status[lane]);
                }
            }
            Ok(())
        })
    }

    /// Fills the solver's weights from the caller's, or from the attenuations `S / S0`, up to a factor for each voxel.
    fn read_weights<T: Number>(
        &self,
        lanes: &[usize],
        attenuations: &[T],
        solver: &mut Solver<'_>,
        refused: &mut [bool],
    ) {
        let skip = self.options.nonpositive == Nonpositive::Skip;
        let floor = T::from_f64(self.floor);
        let largest = self.scheme.bvals.iter().fold(0.0, |a: f64, b| a.max(*b));
        refused.fill(false);
        let rows = solver.weights.chunks_exact_mut(LANES).zip(attenuations.chunks_exact(LANES));
        for (j, (weights, attenuations)) in rows.enumerate() {
            match (&self.weights, self.options.weighting) {
                (Some(source), _) => source.gather(self.scheme.weighted[j], lanes, weights),
                (None, Weighting::Ordinary) => weights.fill(1.0),
                (None, Weighting::Signal) => {
                    let b = self.scheme.bvals[j] / largest;
                    for (w, e) in weights.iter_mut().zip(attenuations) {
                        *w = (b * e.to_f64()) * (b * e.to_f64());
                    }
                }
            }
            for ((w, e), refused) in weights.iter_mut().zip(attenuations).zip(refused.iter_mut()) {
                let usable = w.is_finite() && *w >= 0.0;
                *refused |= !usable;
                if !usable || (skip && *e <= floor) {
                    *w = 0.0;
                }
            }
        }
    }

    /// Fills the solver's weighted measurements `w D`, `D = -ln(S / S0) / b`.
    fn weigh<T: Number>(&self, logs: &[T], solver: &mut Solver<'_>) {
        let rows = solver.weighted.chunks_exact_mut(LANES).zip(solver.weights.chunks_exact(LANES));
        for (((weighted, weights), logs), b) in rows.zip(logs.chunks_exact(LANES)).zip(&self.scheme.bvals) {
            let scale = -1.0 / b;
            for ((x, w), l) in weighted.iter_mut().zip(weights).zip(logs) {
                *x = w * (scale * l.to_f64());
            }
        }
    }
}
