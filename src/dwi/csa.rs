//! Orientation functions from signals: q-ball imaging in constant solid angle.

use super::arguments::matrix_dims;
use super::design::{csa_constant, csa_matrix};
use super::options::CsaOptions;
use super::scheme::Scheme;
use super::sh::{Basis, degree};
use super::signal::{Attenuation, Range};
use super::voxels::{LANES, Mask, Number, Outputs, Source, converted, for_blocks, is_rejected, on_host};
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::DType;
use crate::sshopm::Info;
use crate::stream::{self, Stream};
use crate::tensor::{HostInput, Tensor};

/// The orientation function of every voxel as spherical harmonics, by q-ball imaging in constant solid angle (Aganj et
/// al., Magn. Reson. Med. 64, 2010): a density on the sphere, integral 1, whose maxima are fibre directions.
///
/// One matrix is used for the whole volume. With the default options the result is that of dipy's `CsaOdfModel`.
///
/// - `signals`, `bvals`, `bvecs`, `mask`: as for [`super::fit()`]. One shell: b-values within a fifth of the largest.
/// - `sh`: U x T, U = 6, 15, 28, 45, .. for degree 2, 4, 6, 8, ..; F32 or F64. Zero if a voxel has no result.
/// - `status`: T, I32, see [`TensorStatus`](crate::sshopm::TensorStatus). `Clamped` marks voxels with a signal that is
///   not positive.
///
/// The report is that of [`super::fit()`].
///
/// # Errors
/// [`Error::InvalidArgument`] for options outside their range, a size of `sh` that no even degree has, more than
/// one shell, too few axes for the smoothing, and all errors of [`super::fit()`].
#[allow(clippy::too_many_arguments, reason = "the arguments of the C function, in its order")]
pub fn csa(
    context: &Context,
    queue: Option<&Stream>,
    signals: &Tensor,
    bvals: &Tensor,
    bvecs: &Tensor,
    mask: Option<&Tensor>,
    basis: Basis,
    options: &CsaOptions,
    sh: &mut Tensor,
    status: Option<&mut Tensor>,
    progress: &Progress<'_>,
) -> Result<Info> {
    let queue = stream::select(context, queue)?;
    options.check()?;
    signals.expect_context("signals", context)?;
    let (volumes, voxels) = matrix_dims("signals", signals)?;
    let (count, _) = matrix_dims("sh", sh)?;
    let lmax = degree("sh", count)?;
    let budget = context.host_budget();
    let (scheme, _scheme) =
        alloc::limited(budget, || Scheme::read(context, queue, bvals, bvecs, volumes, options.b0_threshold))?;
    scheme.expect_one_shell("the orientation function in constant solid angle")?;
    let outputs = Outputs { name: "sh", values: sh, s0: None, status };
    let dtype = outputs.values.dtype();
    outputs.check(context, dtype, [count, voxels])?;
    let signals = HostInput::new(queue, "signals", signals)?;
    let mask = HostInput::optional(queue, "mask", mask)?;
    let (matrix, _matrix) =
        context.pool().run(|| alloc::limited(budget, || csa_matrix(&scheme, lmax, basis, options.smoothing)))?;
    let task = Task {
        signals: Source::new("signals", &signals)?,
        matrix,
        scheme,
        range: Range { low: options.minimum_signal, high: options.maximum_signal, flag: 0.0 },
    };
    let mask = Mask::new(context, mask.as_deref(), voxels)?;
    on_host(queue, outputs, |outputs| match dtype {
        DType::F32 => task.run::<f32>(context, progress, mask, outputs),
        DType::F64 => task.run::<f64>(context, progress, mask, outputs),
        other => Err(Error::invalid("sh", format!("is {}, F32 or F64 is needed", other.name()))),
    })
}

/// The orientation functions of one volume.
struct Task<'a> {
    signals: Source<'a>,
    scheme: Scheme,
    matrix: Vec<f64>,
    range: Range,
}

impl Task<'_> {
    fn run<T: Number>(
        &self,
        context: &Context,
        progress: &Progress<'_>,
        mask: Mask<'_>,
        outputs: Outputs<'_>,
    ) -> Result<Info> {
        let (matrix, _charge) =
            alloc::limited(context.host_budget(), || converted::<T>("orientation function", &self.matrix))?;
        let n = self.scheme.weighted.len();
        let constant = T::from_f64(csa_constant());
        let scratch = || Ok((alloc::filled("block of logarithms", n * LANES, T::ZERO)?, Attenuation::new()?));
        for_blocks(context, progress, mask, outputs, scratch, |(logs, attenuation), lanes, block| {
            attenuation.read(&self.signals, &self.scheme, lanes, self.range, logs, block);
            T::ln_all(logs);
            logs.iter_mut().for_each(|x| *x = -*x);
            T::ln_all(logs);
            T::product(&matrix, logs, &mut block.values);
            block.values[..LANES].fill(constant);
            for lane in 0..lanes.len() {
                if is_rejected(block.status[lane]) {
                    block.reject(lane, block.status[lane]);
                }
            }
            Ok(())
        })
    }
}
