//! A checked geometry, grid and options on one or several contexts. It is created once and used for many scans.

use std::sync::Arc;

use super::counts::Counts;
use super::geometry::{Geometry, Grid};
use super::info::{Info, SharedInfo};
use super::inputs::{Projections, Volume};
use super::options::{Options, Precision};
use super::plan::Plan;
use super::ramp::transform_bytes;
use super::run::{self, Setting};
use super::slot::{Cancellation, Slot};
use super::view::MOST_LENGTH;
use crate::backend::Backend;
use crate::backend::free::host_memory_free;
use crate::backend::memory::Charge;
use crate::blocks::number::Number;
use crate::blocks::same_file::refuse_file_of_source;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::log::Level;
use crate::progress::{CancelWatch, Progress, ProgressFn};
use crate::scalar::DType;
use crate::session::{CancelHandle, LastInfo};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;

/// Charges the memory in which the response for a transform of this length is computed, and refuses more than is free.
fn charge_transform(context: &Context, length: usize) -> Result<Charge> {
    /// Less is free on any machine.
    const LITTLE: u64 = 16 << 20;
    let (what, bytes) = ("transform of the ramp filter", transform_bytes(length, 1));
    if bytes > LITTLE && bytes > host_memory_free() {
        return Err(Error::OutOfMemory { what, bytes, limit: None });
    }
    context.host_budget().charge_host(what, usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// A reconstruction: checked geometry and options, with the contexts that run it.
pub struct Fdk {
    // Declared before the contexts, so that it is dropped first: a scan holds memory of their devices.
    pub(super) slot: Slot,
    pub(super) setting: Setting,
    cancel: CancelHandle,
    pub(super) last: LastInfo<Info>,
}

impl Fdk {
    /// Checks all arguments and computes the numbers of the kernels. Without a grid it uses [`Grid::standard`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the argument that is out of range, as for [`Plan::new`].
    pub fn new(context: &Arc<Context>, geometry: Geometry, grid: Option<Grid>, options: Options) -> Result<Self> {
        Self::over(&Group::of(context), geometry, grid, options)
    }

    /// The same on several contexts, which share the slabs. The number of contexts does not change the volume's bits.
    ///
    /// # Errors
    /// As [`Fdk::new`].
    pub fn over(group: &Group, geometry: Geometry, grid: Option<Grid>, options: Options) -> Result<Self> {
        group.check_alive()?;
        let context = group.first();
        let grid = grid.unwrap_or_else(|| Grid::standard(&geometry));
        let _transform = charge_transform(context, options.fft_length.min(MOST_LENGTH))?;
        let mut plan = Plan::new(geometry, grid, options)?;
        let on_gpu = matches!(context.backend(), Backend::Gpu(_)) && options.precision == Precision::F32;
        if on_gpu && options.fft_length == 0 {
            // The GPU's transform lengths are powers of two.
            plan.set_length(plan.length.next_power_of_two().max(16))?;
        }
        for warning in &plan.scan.warnings {
            context.log().log(Level::Warn, || warning.clone());
        }
        let plan = Arc::new(plan);
        let setting = Setting { contexts: group.members().to_vec(), plan, counts: None };
        Ok(Self {
            slot: Slot::new(setting.usual_plan()?),
            setting,
            cancel: CancelHandle::default(),
            last: LastInfo::default(),
        })
    }

    /// The first context, which tensors of calls belong to.
    pub fn context(&self) -> &Arc<Context> {
        &self.setting.contexts[0]
    }

    /// All numbers that do not depend on the projections.
    pub fn plan(&self) -> &Plan {
        &self.setting.plan
    }

    /// A handle that cancels this reconstruction's calls, even while one runs, and the scan that is being pushed.
    pub fn cancel_handle(&self) -> Cancellation {
        self.slot.cancellation(&self.cancel)
    }

    /// Whether a scan is being pushed. One that was cancelled meanwhile is not.
    fn is_taking_scan(&self) -> bool {
        let Some(pushed) = self.slot.take() else { return false };
        self.put_back(pushed).is_ok()
    }

    /// Treats the input of later runs as raw counts; `None` returns to line integrals.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for impossible counts, as for [`Counts::check`], and while a scan is being pushed.
    pub fn set_counts(&mut self, counts: Option<Counts>) -> Result<()> {
        if self.is_taking_scan() {
            return Err(Error::invalid("fdk", "is taking a scan; finish it, or cancel it before setting counts"));
        }
        let d = &self.plan().geometry.detector;
        let panel = [d.columns, d.rows];
        let counts = counts.map(|c| c.check(panel)).transpose()?.map(Arc::new);
        let before = std::mem::replace(&mut self.setting.counts, counts);
        match self.setting.usual_plan() {
            Ok(usual) => {
                self.slot.replan(usual);
                Ok(())
            }
            Err(e) => {
                self.setting.counts = before;
                Err(e)
            }
        }
    }

    /// The figures of the plan of a run from a source to a sink; from [`Fdk::begin`] until [`Fdk::finish`] has handed the
    /// volume over or the scan was dropped, those of the scan that is being pushed. They report the number of pushed
    /// views, 0 of a scan that was dropped; those of a run are 0.
    pub fn planned_info(&self) -> SharedInfo {
        self.slot.planned().clone()
    }

    /// The report of the last run, whole or pushed.
    pub fn last_info(&self) -> LastInfo<Info> {
        self.last.clone()
    }

    /// The weights that a scan is reconstructed with: those of rays that are measured twice, [columns, views], and the
    /// angular ones, rad, one a view; F64 on the host. RabbitCT mode applies neither.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other sizes or types.
    pub fn weights(&self, redundancy: Option<&mut Tensor>, angular: Option<&mut Tensor>) -> Result<()> {
        let plan = self.plan();
        let (columns, views) = (plan.geometry.detector.columns, plan.views.len());
        if let Some(tensor) = redundancy {
            tensor.expect_dims("redundancy", &[columns, views])?;
            let mut view = tensor.view_mut::<f64>("redundancy")?;
            for n in 0..views {
                for i in 0..columns {
                    view.set(&[i, n], plan.ray_weight(n, i));
                }
            }
        }
        if let Some(tensor) = angular {
            tensor.expect_dims("angular", &[views])?;
            let mut view = tensor.view_mut::<f64>("angular")?;
            for (n, weight) in plan.scan.angular.iter().enumerate() {
                view.set(&[n], *weight);
            }
        }
        Ok(())
    }

    /// Progress of a call that begins now, or of a scan; `start` is the value of the cancel counter at its begin.
    pub(super) fn progress<'p>(&self, report: Option<&'p ProgressFn<'p>>, start: u64) -> Progress<'p> {
        self.cancel.progress(&self.setting.contexts, report, start)
    }

    /// The watch of a single step that begins now, which runs on the first context.
    pub(super) fn watch(&self) -> CancelWatch<'_> {
        self.cancel.watch(self.context())
    }

    pub(super) fn epoch(&self) -> u64 {
        self.cancel.epoch()
    }

    /// Reconstructs a whole scan. A scan that is being pushed is not affected. Work begins after the work enqueued on
    /// `stream`. A volume on the host is complete on return, one on the device in the order of the stream.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for arrays of other sizes; [`Error::OutOfMemory`] and [`Error::OutOfDeviceMemory`] if
    /// not even the thinnest slab fits the limits; [`Error::Numerical`] for voxels beyond the range of the volume's type;
    /// [`Error::Cancelled`]; and the errors of source and sink. After any of them
    /// the object can be used again, and the output file has not been renamed to its final name.
    pub fn reconstruct(
        &mut self,
        stream: Option<&Stream>,
        input: Projections<'_>,
        mut output: Volume<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        self.check_alive()?;
        let plan = Arc::clone(&self.setting.plan);
        let d = &plan.geometry.detector;
        let needed = [d.columns, d.rows, plan.views.len()];
        match &input {
            Projections::Tensor(tensor) => self.check_projections(tensor, &needed)?,
            Projections::Source(source) => {
                source.info().expect_dims("projections", &needed)?;
                source.info().number.expect_real("projections")?;
            }
        }
        self.check_volume(&output)?;
        if let (Projections::Source(source), Volume::Sink(sink)) = (&input, &output) {
            refuse_file_of_source("volume", &**sink, "projections", &**source)?;
        }
        let queue = stream::select(self.context(), stream)?;
        let progress = self.progress(report, self.epoch());
        progress.check()?;
        self.place(&mut output)?;
        let mut info = Info::of(&plan, self.setting.contexts.len());
        info.views_pushed = self.slot.planned().get().views_pushed;
        run::whole(&self.setting, queue, input, output, &progress, &mut info)?;
        self.last.set(info.clone());
        Ok(info)
    }

    pub(super) fn check_alive(&self) -> Result<()> {
        self.setting.contexts.iter().try_for_each(|c| c.check_alive())
    }

    pub(super) fn check_projections(&self, tensor: &Tensor, dims: &[usize]) -> Result<()> {
        tensor.expect_context("projections", self.context())?;
        tensor.expect_dims("projections", dims)?;
        check_number("projections", tensor.dtype())
    }

    pub(super) fn check_volume(&self, volume: &Volume<'_>) -> Result<()> {
        let size = &self.plan().volume_grid().size;
        match volume {
            Volume::Tensor(tensor) => {
                tensor.expect_context("volume", self.context())?;
                tensor.expect_dims("volume", size)?;
                tensor.check_writable("volume")?;
                check_number("volume", tensor.dtype())?;
                self.plan().check_output(Number::of("volume", tensor.dtype())?)
            }
            Volume::Sink(sink) => {
                sink.info().expect_dims("volume", size)?;
                self.plan().check_output(sink.info().number.expect_real("volume")?)
            }
        }
    }

    /// Passes the voxels' spacing and origin to a sink.
    pub(super) fn place(&self, volume: &mut Volume<'_>) -> Result<()> {
        let grid = self.plan().volume_grid();
        match volume {
            Volume::Sink(sink) => sink.place(&grid.spacing, &grid.origin),
            Volume::Tensor(_) => Ok(()),
        }
    }

    /// Whether everything is computed in f64, on CPU threads.
    pub fn is_double(&self) -> bool {
        self.plan().options.precision == Precision::F64
    }
}

fn check_number(argument: &str, dtype: DType) -> Result<()> {
    Number::of(argument, dtype)?.expect_real(argument).map(|_| ())
}
