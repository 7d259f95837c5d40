//! A session: options on a context, created once and used for many volumes.

use std::sync::Arc;
use std::time::Instant;

use super::csa::csa;
use super::fit::fit;
use super::options::{CsaOptions, FitOptions, Options, PeaksOptions};
use super::peaks::{PeaksOutputs, peaks, plan};
use super::sh::Basis;
use crate::choice::Value;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::{Progress, ProgressFn};
use crate::session::{CancelHandle, LastInfo};
use crate::sshopm::Info;
use crate::stream::Stream;
use crate::tensor::Tensor;

/// Signals with their scheme, and the voxels that count.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    /// Signals, N x T: a column for each voxel.
    pub signals: &'a Tensor,
    /// N b-values, in s/mm^2.
    pub bvals: &'a Tensor,
    /// Gradient directions, 3 x N.
    pub bvecs: &'a Tensor,
    /// U8, T: 0 leaves a voxel out.
    pub mask: Option<&'a Tensor>,
}

/// The results of a fit.
pub struct FitOutputs<'a> {
    /// [U, T], packed symmetric tensors.
    pub tensors: &'a mut Tensor,
    /// T, of the type of the tensors.
    pub s0: Option<&'a mut Tensor>,
    /// I32, T: [`crate::sshopm::TensorStatus`] of each voxel.
    pub status: Option<&'a mut Tensor>,
}

/// Diffusion MRI with given options. The calls do not change it, so that several threads may make them at a time.
pub struct Dwi {
    contexts: [Arc<Context>; 1],
    options: Options,
    cancel: CancelHandle,
    last: LastInfo<Info>,
}

/// An option by its name, and its value.
type Named = (&'static str, Value);

fn of_fit(o: &FitOptions) -> [Named; 3] {
    [
        ("weighting", Value::from(o.weighting as i32)),
        ("nonpositive", Value::from(o.nonpositive as i32)),
        ("clamp", Value::from(o.clamp)),
    ]
}

fn of_csa(o: &CsaOptions) -> [Named; 3] {
    [
        ("smoothing", Value::from(o.smoothing)),
        ("minimum_signal", Value::from(o.minimum_signal)),
        ("maximum_signal", Value::from(o.maximum_signal)),
    ]
}

fn of_peaks(o: &PeaksOptions) -> [Named; 12] {
    [
        ("format", Value::from(o.format as i32)),
        ("missing", Value::from(o.missing as i32)),
        ("start_kind", Value::from(o.start_kind as i32)),
        ("max_iterations", Value::from(o.max_iterations)),
        ("method", Value::from(o.method as i32)),
        ("starts", Value::from(o.starts)),
        ("seed", Value::from(o.seed)),
        ("absolute_threshold", Value::from(o.absolute_threshold)),
        ("relative_threshold", Value::from(o.relative_threshold)),
        ("min_separation", Value::from(o.min_separation)),
        ("tolerance", Value::from(o.tolerance)),
        ("merge_angle", Value::from(o.merge_angle)),
    ]
}

/// Refuses options that differ from the defaults and that `what` does not use.
fn refuse<const N: usize>(what: &str, given: [Named; N], default: [Named; N]) -> Result<()> {
    match given.into_iter().zip(default).find(|((_, value), (_, default))| value != default) {
        Some(((name, value), _)) => Err(Error::invalid(name, format!("is {value}, but {what} do not use it"))),
        None => Ok(()),
    }
}

impl Dwi {
    /// Checks the options, as far as that is possible without data.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option that is outside its domain.
    pub fn new(context: &Arc<Context>, options: Options) -> Result<Self> {
        context.check_alive()?;
        options.fit.check()?;
        options.csa.check()?;
        options.peaks.check()?;
        let contexts = [Arc::clone(context)];
        Ok(Self { contexts, options, cancel: CancelHandle::default(), last: LastInfo::default() })
    }

    /// The context that the calls run on, to which arrays must belong.
    pub fn context(&self) -> &Arc<Context> {
        &self.contexts[0]
    }

    /// A handle that cancels this object's calls. Any thread may use it while a call runs.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// A diffusion tensor for every voxel, as [`super::fit()`].
    ///
    /// # Errors
    /// As [`super::fit()`]; [`Error::InvalidArgument`] for an option that fits do not use.
    pub fn fit(
        &self,
        stream: Option<&Stream>,
        scan: Scan<'_>,
        weights: Option<&Tensor>,
        outputs: FitOutputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        const FITS: &str = "fits";
        let default = Options::default();
        refuse(FITS, of_csa(&self.options.csa), of_csa(&default.csa))?;
        refuse(FITS, of_peaks(&self.options.peaks), of_peaks(&default.peaks))?;
        self.refuse_basis(FITS, None)?;
        let start = Instant::now();
        let Scan { signals, bvals, bvecs, mask } = scan;
        let FitOutputs { tensors, s0, status } = outputs;
        let progress = self.progress(report);
        let o = &self.options.fit;
        let info =
            fit(self.context(), stream, signals, bvals, bvecs, mask, weights, o, tensors, s0, status, &progress)?;
        Ok(self.keep(info, start))
    }

    /// The orientation function of every voxel, as [`super::csa()`].
    ///
    /// # Errors
    /// As [`super::csa()`]; [`Error::InvalidArgument`] for an option that orientation functions do not use, and for another
    /// basis than that of the options, where they name one.
    pub fn csa(
        &self,
        stream: Option<&Stream>,
        scan: Scan<'_>,
        basis: Basis,
        sh: &mut Tensor,
        status: Option<&mut Tensor>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        const FUNCTIONS: &str = "orientation functions";
        let default = Options::default();
        refuse(FUNCTIONS, of_fit(&self.options.fit), of_fit(&default.fit))?;
        refuse(FUNCTIONS, of_peaks(&self.options.peaks), of_peaks(&default.peaks))?;
        self.refuse_basis(FUNCTIONS, Some(basis))?;
        let start = Instant::now();
        let Scan { signals, bvals, bvecs, mask } = scan;
        let progress = self.progress(report);
        let o = &self.options.csa;
        let info = csa(self.context(), stream, signals, bvals, bvecs, mask, basis, o, sh, status, &progress)?;
        Ok(self.keep(info, start))
    }

    /// The peaks of every voxel, as [`super::peaks()`].
    ///
    /// # Errors
    /// As [`super::peaks()`]; [`Error::InvalidArgument`] for an option that peaks do not use.
    pub fn peaks(
        &self,
        stream: Option<&Stream>,
        input: &Tensor,
        mask: Option<&Tensor>,
        outputs: PeaksOutputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        self.refuse_for_peaks()?;
        let progress = self.progress(report);
        let info = peaks(self.context(), stream, input, mask, &self.options.peaks, outputs, &progress)?;
        self.last.set(info);
        Ok(info)
    }

    /// The figures of [`Dwi::peaks`] that are known before it runs, with the memory for five peaks of a voxel.
    ///
    /// # Errors
    /// As [`Dwi::peaks`].
    pub fn plan(&self, input: &Tensor) -> Result<Info> {
        self.refuse_for_peaks()?;
        plan(self.context(), input, &self.options.peaks)
    }

    /// The report of the last call that succeeded.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there was none.
    pub fn last_info(&self) -> Result<Info> {
        self.last.get("dwi")
    }

    fn refuse_for_peaks(&self) -> Result<()> {
        const PEAKS: &str = "peaks";
        let default = Options::default();
        refuse(PEAKS, of_fit(&self.options.fit), of_fit(&default.fit))?;
        refuse(PEAKS, of_csa(&self.options.csa), of_csa(&default.csa))?;
        let threshold = |o: &Options| [("b0_threshold", Value::from(o.fit.b0_threshold))];
        refuse(PEAKS, threshold(&self.options), threshold(&default))
    }

    /// Refuses a basis in the options that is not `used`.
    fn refuse_basis(&self, what: &str, used: Option<Basis>) -> Result<()> {
        match (self.options.peaks.basis, used) {
            (Some(named), Some(used)) if named != used => {
                let problem = format!("is {}, but that of the options is {}", used as i32, named as i32);
                Err(Error::invalid("basis", problem))
            }
            (Some(named), None) => {
                Err(Error::invalid("basis", format!("is {}, but {what} do not use it", named as i32)))
            }
            _ => Ok(()),
        }
    }

    fn keep(&self, info: Info, start: Instant) -> Info {
        let info = Info { seconds: start.elapsed().as_secs_f64(), ..info };
        self.last.set(info);
        info
    }

    fn progress<'p>(&self, report: Option<&'p ProgressFn<'p>>) -> Progress<'p> {
        self.cancel.progress(&self.contexts, report, self.cancel.epoch())
    }
}
