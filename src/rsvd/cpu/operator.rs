//! Passes over matrices that are known by their products alone.

use super::implicit;
use super::implicit::Gains;
use super::panel::{Findings, Transform};
use super::state::CpuOps;
use super::survey::Survey;
use super::work::Work;
use crate::alloc;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op};
use crate::error::{Error, Result};
use crate::rng::stream;
use crate::rsvd::data::{Center, Data, Operator};
use crate::rsvd::rounding;
use crate::rsvd::statistics::{CorrectionError, Statistics};
use crate::scalar::{Complex, Scalar, is_finite};

/// Random vectors from which ||A||_F is estimated.
pub const PROBES: usize = 16;

/// Index of the first column of these probes in their stream. Other probes begin at 0.
const FIRST: u32 = 1 << 30;

/// y = op(A) x. Refuses a result that is not finite.
fn apply<T: Scalar>(
    operator: &mut dyn Operator<T>,
    adjoint: bool,
    x: &CpuMatrix<T>,
    y: &mut CpuMatrix<T>,
) -> Result<()> {
    let op = if adjoint { Op::Adjoint } else { Op::Plain };
    let count = x.cols();
    operator.apply(op, x.slice()?, count, y.slice_mut()?)?;
    if y.slice()?.iter().all(|v| is_finite(*v)) {
        return Ok(());
    }
    let name = if adjoint { "A^H X" } else { "A X" };
    Err(Error::invalid("a", format!("gives a number that is not finite in {name} for {count} vectors")))
}

impl<T: Scalar> CpuOps<'_, T> {
    /// Forms the products of `work` by calls of the operator.
    pub(super) fn operator_pass(&mut self, work: Work<'_, T>) -> Result<()> {
        self.look_at_operator()?;
        let sizes = (self.problem.rows, self.problem.columns);
        let (progress, pace) = (self.progress, self.pace());
        let Data::Operator(operator) = &mut self.problem.data else {
            return Err(Error::Internal("an operator pass over other data".into()));
        };
        let context = self.context;
        implicit::pass(
            context,
            sizes,
            self.transform.as_ref(),
            Gains::Outside,
            work,
            &mut |adjoint, x, y, correction| {
                progress.repeat(pace.within(0))?;
                apply(*operator, adjoint, x, y)?;
                correction.map_or(Ok(()), |correction| correction.subtract(context, y))
            },
        )
    }

    /// Surveys the operator, unless that was done.
    pub(super) fn look_at_operator(&mut self) -> Result<()> {
        if self.statistics.is_none() && matches!(self.problem.data, Data::Operator(_)) {
            let known = self.transform.take();
            self.survey_operator()?;
            self.transform = known.or(self.transform.take());
        }
        Ok(())
    }

    /// Finds means by products with ones, and estimates the norm by probes, because the entries are not available.
    fn survey_operator(&mut self) -> Result<()> {
        let (m, n) = (self.problem.rows, self.problem.columns);
        let factor = self.setting.factor;
        let budget = self.context.host_budget();
        let bytes = super::implicit_moments_bytes(&self.setting, (m, n), false);
        self.moments = Some(budget.charge_host("means of columns", bytes)?);
        let Data::Operator(operator) = &mut self.problem.data else {
            return Err(Error::Internal("an operator pass over other data".into()));
        };
        let mut transform = Transform { factor, ..Transform::default() };
        let mut ones = |adjoint: bool, from: usize, to: usize| -> Result<Vec<Complex<f64>>> {
            let mut x = CpuMatrix::<T>::zeros("ones", from, 1, budget)?;
            x.slice_mut()?.fill(T::from_parts(1.0, 0.0));
            let mut y = CpuMatrix::<T>::zeros("means", to, 1, budget)?;
            apply(*operator, adjoint, &x, &mut y)?;
            let mut means = alloc::with_capacity("means", to)?;
            means.extend(y.slice()?.iter().map(|v| Complex::new(v.re(), v.im()) / from.max(1) as f64));
            Ok(means)
        };
        match self.setting.center {
            Center::None => {}
            Center::Columns => {
                // The entries of A^H 1 are the conjugates of the columns' sums.
                transform.means = ones(true, m, n)?;
                transform.means.iter_mut().for_each(|mean| *mean = mean.conj());
            }
            Center::Rows => {
                transform.rows = true;
                transform.row_means = ones(false, n, m)?;
            }
        }
        let mut w = CpuMatrix::<T>::zeros("probes", n, PROBES, budget)?;
        let sketch = Sketch { distribution: Distribution::Gaussian, seed: 0, stream: stream::PROBES };
        self.algebra.fill(&mut w, &sketch, 0, FIRST)?;
        let mut p = CpuMatrix::<T>::zeros("products with probes", m, PROBES, budget)?;
        implicit::gain_rows(self.context, &transform, &mut w)?;
        apply(*operator, false, &w, &mut p)?;
        if let Some(correction) = implicit::Correction::new(self.context, &transform, &w, false, Gains::Outside)? {
            correction.subtract(self.context, &mut p)?;
        }
        // Both parts of a complex probe are standard normal.
        let variance = if T::IS_COMPLEX { 2.0 } else { 1.0 };
        // A norm whose square overflows or vanishes fails the range check, and the run is repeated with a factor.
        let norm = self.algebra.column_norms(&p)?.into_iter().fold(0.0, f64::hypot) / (variance * PROBES as f64).sqrt();
        let mut survey = Survey::default();
        let found = Findings { squares: norm * norm, most: norm / factor, size: norm };
        if !found.are_finite() {
            return Err(Error::invalid("a", "has products whose norm is not finite"));
        }
        survey.add(found);
        let found = survey.finish(&transform, T::IS_COMPLEX)?;
        drop((w, p));
        let hidden_by = self.hidden_by(&transform, norm)?;
        self.statistics = Some(Statistics { is_estimate: true, hidden_by, ..found });
        self.transform = Some(transform);
        Ok(())
    }

    /// The rounding error of products that hides the centred operator, whose `norm` was estimated: see [`rounding`].
    fn hidden_by(&mut self, transform: &Transform, norm: f64) -> Result<Option<CorrectionError>> {
        let (m, n) = (self.problem.rows, self.problem.columns);
        let by_rows = transform.rows;
        // A product has as many entries as a line, a vector one for each line.
        let (means, length, lines) = if by_rows { (&transform.row_means, n, m) } else { (&transform.means, m, n) };
        let means = means.iter().map(|mean| (*mean, transform.factor));
        let Some(expected) = rounding::suspect(means, (by_rows, length), norm, T::DTYPE.epsilon()) else {
            return Ok(None);
        };
        let Data::Operator(operator) = &mut self.problem.data else {
            return Err(Error::Internal("an operator pass over other data".into()));
        };
        let (context, budget) = (self.context, self.context.host_budget());
        let mut x = CpuMatrix::<T>::zeros("vectors of a test", lines, rounding::VECTORS, budget)?;
        let mut y = CpuMatrix::<T>::zeros("products of a test", length, rounding::VECTORS, budget)?;
        rounding::draw(x.slice_mut()?, lines);
        if !by_rows {
            implicit::gain_rows(context, transform, &mut x)?;
        }
        apply(*operator, by_rows, &x, &mut y)?;
        if let Some(correction) = implicit::Correction::new(context, transform, &x, by_rows, Gains::Outside)? {
            correction.subtract(context, &mut y)?;
        }
        if by_rows {
            implicit::gain_rows(context, transform, &mut y)?;
        }
        Ok(rounding::confirm(expected, y.slice()?, length))
    }
}
