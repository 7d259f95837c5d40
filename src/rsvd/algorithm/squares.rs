//! Checks that squares of the data are in the range of the type, and that subtracting the means leaves digits.

use super::Run;
use super::rescale::{expect_same_data, repeated_with};
use crate::error::{Error, Result};
use crate::rsvd::statistics::{CorrectionError, LEAST_DEVIATION, Statistics};

impl Run<'_> {
    /// Called before A^H (A W) is formed: refuses an operator whose product would overflow. Other data are checked after
    /// their first pass.
    ///
    /// # Errors
    /// As [`Run::check_range`].
    pub fn look(&mut self) -> Result<()> {
        self.ops.look()?;
        if self.ops.statistics().is_some() { self.check_range() } else { Ok(()) }
    }

    /// Refuses data whose squares overflow or vanish, and sets `rescale` to the factor that they need.
    ///
    /// # Errors
    /// [`Error::Numerical`] if `rescale` is set, for columns whose deviation is lost in spite of the factor, and for
    /// sparse data and operators that are lost in the correction for means; [`Error::InvalidArgument`] for data that
    /// are not those of a saved state; [`Error::Internal`] before the first pass.
    pub fn check_range(&mut self) -> Result<()> {
        self.check_range_of(|statistics| statistics.size)
    }

    /// [`Run::check_range`] by the `size` of the numbers that are squared.
    fn check_range_of(&mut self, size: fn(&Statistics) -> f64) -> Result<()> {
        let roundoff = self.roundoff();
        if let (Some(restart), Some(statistics)) = (self.restart.as_mut(), self.ops.statistics()) {
            restart.note(statistics, roundoff)?;
        }
        if self.ops.factor() == 1.0 {
            let statistics = self.statistics()?;
            let size = size(statistics);
            self.rescale = repeated_with(self.ops.dtype(), statistics, size);
            if self.rescale.is_some() {
                return Err(Error::Numerical(format!("entries of up to {size:e} cannot be squared")));
            }
        }
        let Some(statistics) = self.ops.statistics() else { return Ok(()) };
        expect_same_data(self.ops.factor(), statistics)?;
        if let Some(j) = statistics.lost {
            let line = if self.transposed { "row" } else { "column" };
            let most = statistics.max_abs;
            let problem = format!(
                "is below about {LEAST_DEVIATION:e} times the largest entry, {most:.3e}, and cannot be computed"
            );
            return Err(Error::Numerical(format!("scale: the deviation of {line} {j} (from 0) {problem}")));
        }
        if let Some(CorrectionError { line, is_row, mean, norm: error }) = statistics.hidden_by {
            let name = if is_row { "row" } else { "column" };
            let problem =
                format!("the mean {mean:e} of {name} {line} (from 0) is subtracted from products of an operator");
            let rounding = format!("whose rounding error, about {:e}, hides the centred data", error / self.factor);
            return Err(Error::Numerical(format!("center: {problem}, {rounding}")));
        }
        let norm = statistics.norm2.max(0.0).sqrt();
        match statistics.correction {
            Some(CorrectionError { line, is_row, mean, norm: error }) if error > norm && norm > 0.0 => {
                let name = if is_row { "row" } else { "column" };
                let problem = format!("the mean {mean:e} of {name} {line} (from 0) is subtracted from products");
                let error = error / self.factor;
                let norm = norm / self.factor;
                let rounding =
                    format!("whose rounding error, up to {error:e}, exceeds the norm {norm:e} of the centred data");
                Err(Error::Numerical(format!("center: {problem}, {rounding}")))
            }
            _ => Ok(()),
        }
    }

    /// After a failure within a pass, sets `rescale` if the data cannot be squared. A pass without squares finds that out.
    pub fn diagnose(&mut self) {
        if self.rescale.is_some() || self.ops.factor() != 1.0 {
            return;
        }
        let n = self.ops.columns();
        let looked = self.ops.statistics().is_some()
            || self
                .ops
                .zeros("zero", n, 1)
                .and_then(|w| self.ops.tall("zero", 1).map(|p| (w, p)))
                .and_then(|(w, mut p)| self.ops.pass_multiply(&w, &mut p))
                .is_ok();
        if looked {
            // The check sets `rescale`. The caller reports the original failure. Products of sparse matrices are formed of entries
            // that are not centred.
            let _ = self.check_range_of(|statistics| statistics.size.max(statistics.read));
        }
    }
}
