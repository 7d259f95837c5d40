//! Memory that a plan is charged for, known before it is made.

use std::sync::Arc;

use super::gpu::{DeviceBytes, Multiplied, expected};
use super::known;
use super::options::{Op, Options};
use super::plan::Plan;
use super::planning::{row_lanes, statistics};
use super::tiles::csr;
use crate::alloc;
use crate::backend::Backend;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::sparse::{CopyBytes, Rows, order_bytes, reordered_bytes, transpose_bytes};
use crate::matrix::{Csr, Matrix};

impl Plan {
    /// Host bytes that [`Plan::cached`] is charged for: those of copies of the matrix. Beside a plan that the matrix keeps
    /// already they are 0; where that plan has to be renewed they are those beyond its own. Of a kind of
    /// [`Options::kind`] other than the matrix itself, only these copies are counted.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn host_bytes(context: &Arc<Context>, a: &Matrix, options: Options) -> Result<CopyBytes> {
        if known::operator(a).is_some() {
            return Ok(CopyBytes::default());
        }
        let from = csr(a)?;
        let is_turned = options.op != Op::Plain && !options.symmetric;
        let mut most = CopyBytes::default();
        if options.ordering.is_some() {
            most.peak = order_bytes(a.rows());
        }
        // A copy that is both is made of a transpose, which is freed then.
        let turned = if is_turned { transpose_bytes(a)? } else { CopyBytes::default() };
        most = CopyBytes { peak: most.peak.max(turned.peak), kept: turned.kept };
        if options.ordering.is_some() {
            let ordered = reordered_bytes(context, a)?;
            most = CopyBytes { peak: most.peak.max(turned.kept.saturating_add(ordered.peak)), kept: ordered.kept };
        }
        if matches!(context.backend(), Backend::Cpu) && options.ordering.is_none() {
            return Ok(most);
        }
        let held = from.cache().find(|plan: &Self| plan.options == options);
        Ok(match held {
            None => most,
            Some((made_of, plan)) if plan.is_current(a, made_of)? => CopyBytes::default(),
            Some((_, plan)) => {
                let own = plan.other.as_ref().map_or(0, |m| m.storage_bytes());
                CopyBytes { peak: most.peak.saturating_sub(own), kept: most.kept.saturating_sub(own) }
            }
        })
    }
    /// Device bytes that [`Plan::cached`] is charged for, and those of its products with `width` vectors. At most 16
    /// vectors are multiplied at once. A new plan counts the device copy of the matrix. A cached plan counts 0, or the new
    /// values if it must be updated. 0 on the CPU. Of a kind of [`Options::kind`] other than the matrix itself, only the
    /// products with the matrix are counted. O(rows) for a plan that is not made yet, with a transpose O(entries).
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn device_bytes(context: &Arc<Context>, a: &Matrix, options: Options, width: usize) -> Result<DeviceBytes> {
        if matches!(context.backend(), Backend::Cpu) || known::operator(a).is_some() {
            return Ok(DeviceBytes::default());
        }
        let from = csr(a)?;
        if let Some((made_of, plan)) = from.cache().find(|plan: &Self| plan.options == options) {
            let mut bytes = plan.bytes_of_products(a, width)?;
            if !plan.is_current(a, made_of)? {
                let renewed = plan.device.as_ref().map_or(0, |device| device.bytes_of_update());
                bytes.plan.peak = bytes.plan.peak.max(renewed);
            }
            return Ok(bytes);
        }
        let is_turned = options.op != Op::Plain && !options.symmetric;
        let offsets = if is_turned { columns(from)? } else { Vec::new() };
        let (rows, cols) = match is_turned {
            true => (Rows::of_offsets(&offsets), a.rows()),
            false => (Rows::new(from)?, a.cols()),
        };
        let figures = statistics(&rows);
        let figures = (figures, row_lanes(&figures));
        let made = Multiplied { from, is_copied: is_turned || options.ordering.is_some(), rows, cols, figures };
        expected(a.dtype().expect_scalar("a")?, &made, &options, width)
    }

    /// Device bytes of products of this plan with `width` vectors, beside those that the plan has already. 0 on the CPU.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) for another matrix than the plan's.
    pub fn bytes_of_products(&self, a: &Matrix, width: usize) -> Result<DeviceBytes> {
        let Some(device) = self.device.as_deref() else { return Ok(DeviceBytes::default()) };
        let own = csr(self.matrix(a))?;
        device.bytes_of_products(a.dtype().expect_scalar("a")?, own, width)
    }
}

/// The offsets of a matrix's columns: where each would begin if the entries were stored by columns, and the end.
fn columns(a: &Csr) -> Result<Vec<i64>> {
    let mut offsets = alloc::filled("columns of a sparse matrix", a.cols() + 1, 0i64)?;
    let rows = Rows::new(a)?;
    (0..a.nnz()).for_each(|k| offsets[rows.col(k) + 1] += 1);
    (1..offsets.len()).for_each(|j| offsets[j] += offsets[j - 1]);
    Ok(offsets)
}
