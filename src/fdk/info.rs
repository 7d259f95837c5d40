//! Figures of a reconstruction: its plan and its last run.

use std::sync::{Arc, Mutex, PoisonError};

use super::algorithm::Times;
use super::cut::Cut;
use super::geometry::Grid;
use super::ops::Tally;
use super::plan::Plan;
use super::weights::Redundancy;
use crate::choice::reported;
use crate::shape::to_i64;

reported!(KernelKind);

/// Kernel of the back-projection. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum KernelKind {
    /// Panels parallel to the z axis: rows are affine in z along a column of voxels.
    Vertical = 0,
    /// Any 3x4 matrices, oblique panels included.
    General = 1,
}

/// A reconstruction's plan and the figures of its last run.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// The redundancy in force, never [`Redundancy::Auto`].
    pub redundancy: Redundancy,
    /// Why this redundancy was chosen, as a sentence.
    pub reason: String,
    /// Kernel of the back-projection, chosen from the matrices.
    pub kernel: KernelKind,
    /// Angle from the first view of the arc to the last, rad.
    pub arc: f64,
    /// Largest angle between a ray and the one through the axis, seen along the axis, rad.
    pub fan_half_angle: f64,
    /// Largest gap between neighbouring views, rad.
    pub largest_gap: f64,
    /// Radius about the z axis within which the object is measured completely, mm.
    pub fov_radius: f64,
    /// The reconstructed voxels: their number, spacing and position.
    pub grid: Grid,
    /// Slices of the thickest slab.
    pub slab: i64,
    /// Slabs of the volume, of all contexts together.
    pub slabs: i64,
    /// Views that are back-projected together.
    pub view_batch: i64,
    /// Length of the transforms, in padded samples of a row.
    pub fft_length: i64,
    /// Columns of a filtered view.
    pub filtered_columns: i64,
    /// Added columns on the left of the panel's columns, included in `filtered_columns`.
    pub filtered_left: i64,
    /// Contexts that share the slabs.
    pub contexts: i64,
    /// Planned peak of device memory, each context.
    pub device_bytes: i64,
    /// Planned peak of host memory, each context.
    pub host_bytes: i64,
    /// Measured peak of device memory in the last run, of the context that took most.
    pub device_bytes_used: i64,
    /// Measured peak of host memory in the last run, of the context that took most.
    pub host_bytes_used: i64,
    /// Views pushed since the last begin; 0 after the scan was cancelled or dropped.
    pub views_pushed: i64,
    /// Pixels of the last run that were not finite and were replaced by 0, in the panel rows that the volume is seen
    /// through. A row that two slabs need counts twice. Of a pushed scan that is stored all pixels count, once.
    pub pixels_sanitized: i64,
    /// Counts of the last run that were raised to the least. Counted as `pixels_sanitized`.
    pub pixels_clamped: i64,
    /// Bytes copied to the devices.
    pub bytes_uploaded: i64,
    /// Bytes copied from the devices.
    pub bytes_downloaded: i64,
    /// Seconds of reading, summed over all contexts, as for the next five members.
    pub seconds_read: f64,
    /// Seconds of copies to the devices.
    pub seconds_upload: f64,
    /// Seconds of conversion, weighting and filtering.
    pub seconds_filter: f64,
    /// Seconds of back-projection.
    pub seconds_backproject: f64,
    /// Copying from the devices; on a CPU, reordering slices so that x is fastest.
    pub seconds_download: f64,
    /// Writing slices to a tensor or sink.
    pub seconds_write: f64,
    /// Seconds of the last run, from its call to its return; for a pushed scan, from the first view on.
    pub seconds: f64,
    /// Voxel updates of the last run, 10^9 each second: views times voxels over `seconds`.
    pub gups: f64,
    /// Counts of the last run above the unattenuated count: their line integrals are negative. Counted as
    /// `pixels_sanitized`.
    pub pixels_negative: i64,
    /// Pixels of the last run that were not finite, replaced or not; counted as `pixels_sanitized`.
    pub pixels_not_finite: i64,
}

impl Info {
    /// Figures of a plan, with those of the run at 0.
    pub fn of(plan: &Plan, contexts: usize) -> Self {
        let upright = plan.geometry.is_vertical();
        Self {
            redundancy: plan.scan.redundancy,
            reason: plan.scan.reason.clone(),
            kernel: if upright { KernelKind::Vertical } else { KernelKind::General },
            arc: plan.scan.arc,
            fan_half_angle: plan.scan.half_fan_angle,
            largest_gap: plan.scan.largest_gap,
            fov_radius: plan.fov_radius(),
            grid: *plan.volume_grid(),
            slab: 0,
            slabs: 0,
            view_batch: 0,
            fft_length: to_i64(plan.length),
            filtered_columns: to_i64(plan.columns),
            filtered_left: to_i64(plan.left),
            contexts: to_i64(contexts),
            device_bytes: 0,
            host_bytes: 0,
            device_bytes_used: 0,
            host_bytes_used: 0,
            views_pushed: 0,
            pixels_sanitized: 0,
            pixels_clamped: 0,
            bytes_uploaded: 0,
            bytes_downloaded: 0,
            seconds_read: 0.0,
            seconds_upload: 0.0,
            seconds_filter: 0.0,
            seconds_backproject: 0.0,
            seconds_download: 0.0,
            seconds_write: 0.0,
            seconds: 0.0,
            gups: 0.0,
            pixels_negative: 0,
            pixels_not_finite: 0,
        }
    }

    /// Sets the figures that depend on the cut.
    pub(super) fn set_cut(&mut self, cut: &Cut) {
        self.slab = to_i64(cut.first.max(cut.slices));
        self.slabs = to_i64(cut.slabs);
        self.view_batch = to_i64(cut.launch);
        self.device_bytes = number(cut.needs.device);
        self.host_bytes = number(cut.needs.host);
    }

    /// Sets the figures of a finished run.
    pub(super) fn set_run(&mut self, times: &Times, tally: &Tally, seconds: f64, updates: f64, sanitize: bool) {
        self.pixels_not_finite = number(tally.not_finite);
        self.pixels_sanitized = if sanitize { self.pixels_not_finite } else { 0 };
        self.pixels_clamped = number(tally.defects.clamped);
        self.pixels_negative = number(tally.defects.negative);
        self.bytes_uploaded = number(tally.uploaded);
        self.bytes_downloaded = number(tally.downloaded);
        self.seconds_read = times.read.as_secs_f64();
        self.seconds_upload = tally.upload;
        self.seconds_filter = tally.filter;
        self.seconds_backproject = tally.backproject;
        self.seconds_download = tally.download;
        self.seconds_write = times.write.as_secs_f64();
        self.seconds = seconds;
        self.gups = if seconds > 0.0 { updates / seconds / 1e9 } else { 0.0 };
    }
}

/// Shared figures of a reconstruction. Other threads can read them while one of its calls runs.
#[derive(Clone)]
pub struct SharedInfo(Arc<Mutex<Info>>);

impl SharedInfo {
    /// Figures that begin as `info`.
    pub(super) fn new(info: Info) -> Self {
        Self(Arc::new(Mutex::new(info)))
    }

    /// A copy of the current figures.
    pub fn get(&self) -> Info {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, info: Info) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = info;
    }

    /// Changes figures under the lock.
    pub(super) fn change(&self, change: impl FnOnce(&mut Info)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A count as the C interface's `int64_t`.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
