//! Plans fits: the checks and the sizes that a fit and its plan share.

use super::{PcaOptions, Samples};
use crate::backend::Backend;
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::rsvd::calls;
use crate::rsvd::info::Info;
use crate::rsvd::open;
use crate::rsvd::options::{Centering, ErrorKind, Method, Options};
use crate::rsvd::plan::{Goal, Plan, Request, Results, WantedFactors};
use crate::rsvd::session::Rsvd;
use crate::scalar::with_scalar;
use crate::shape::to_i64;

/// A fit resolved to plain numbers before it reads an entry.
pub(in crate::rsvd) struct PlannedFit {
    /// The session's options, with the centring and scaling of the fit.
    pub options: Options,
    /// The decomposition; its oriented problem has the samples as rows.
    pub plan: Plan,
    /// Samples, at least 2.
    pub count: usize,
    /// Features: numbers of a sample.
    pub features: usize,
    /// Numbers in double precision that the result holds.
    numbers: usize,
}

impl AsRef<Plan> for PlannedFit {
    fn as_ref(&self) -> &Plan {
        &self.plan
    }
}

impl PlannedFit {
    /// Charges the numbers in double precision of the result.
    pub fn charge_numbers(&self, context: &Context) -> Result<Charge> {
        context.host_budget().charge_host("means and scales of features", self.number_bytes())
    }

    fn number_bytes(&self) -> usize {
        self.numbers.saturating_mul(size_of::<f64>())
    }

    fn component_bytes(&self) -> usize {
        self.features.saturating_mul(self.plan.rank).saturating_mul(self.plan.dtype.size())
    }

    /// Adds the result, which is allocated before the decomposition, to the plan in `info` on a GPU. On the CPU the
    /// decomposition's plan has it.
    pub fn add_planned_result(&self, context: &Context, info: &mut Info) {
        if matches!(context.backend(), Backend::Gpu(_)) {
            info.host_bytes = info.host_bytes.saturating_add(self.result_bytes());
        }
    }

    /// Adds the result to the memory that the decomposition used.
    pub fn add_used_result(&self, info: &mut Info) {
        info.host_bytes_used = info.host_bytes_used.saturating_add(self.result_bytes());
    }

    fn result_bytes(&self) -> i64 {
        to_i64(self.component_bytes().saturating_add(self.number_bytes()))
    }
}

/// Whether U diag(s) of a method differs from A V by more than rounding. It does for methods that do not form A W for a
/// basis W that gives V. One-pass methods are excluded: the data are not read again for them.
pub(super) fn has_other_scores(method: Method) -> bool {
    matches!(method, Method::Range | Method::Fused)
}

impl Rsvd {
    /// The plan of [`Rsvd::fit_pca`] on `x`, with or without scores: the fields of [`Info`] that are known before it runs.
    ///
    /// # Errors
    /// As [`Rsvd::fit_pca`] for arguments and sizes that do not fit.
    pub fn plan_pca(&self, x: &Matrix, options: &PcaOptions, with_scores: bool) -> Result<Info> {
        self.predicted(x, options, with_scores).map_err(|e| e.renamed("a", "x"))
    }

    /// [`Rsvd::plan_pca`], whose errors call the samples `a`.
    fn predicted(&self, x: &Matrix, options: &PcaOptions, with_scores: bool) -> Result<Info> {
        let plan = |excluded: &[Method]| self.planned_fit(x, options, with_scores, excluded);
        self.choosing(&Progress::none(), plan, |planned| {
            let plan = &planned.plan;
            let mut info = self.planned_info(plan);
            // A fit allocates its result first, so that the run has less host memory.
            let _components = self.context().host_budget().charge_host("matrix", planned.component_bytes())?;
            let _numbers = planned.charge_numbers(self.context())?;
            with_scalar!(plan.dtype, "dtype", T => {
                open::check_type::<T>("a", x)?;
                calls::predict::<T>(self.contexts(), x, plan, &mut info)
            })?;
            planned.add_planned_result(self.context(), &mut info);
            Ok(info)
        })
    }

    /// Checks the arguments of a fit and plans its decomposition by a method that is not excluded.
    pub(in crate::rsvd) fn planned_fit(
        &self,
        x: &Matrix,
        options: &PcaOptions,
        with_scores: bool,
        excluded: &[Method],
    ) -> Result<PlannedFit> {
        self.check_matrix("x", x)?;
        let by_columns = options.samples == Samples::Columns;
        let (count, features) = if by_columns { (x.cols(), x.rows()) } else { (x.rows(), x.cols()) };
        if count < 2 {
            return Err(Error::invalid("x", format!("has {count} samples, at least 2 are needed")));
        }
        if options.scale && !options.center {
            return Err(Error::invalid("scale", "is set without center: a deviation is one from the mean"));
        }
        self.options().expect_used_by_components()?;
        let mut own = self.options().clone();
        if own.restart_path.is_some() {
            return Err(Error::NotSupported("restart_path: is set, principal components have no restart file".into()));
        }
        if self.given.is_some() {
            return Err(Error::NotSupported("omega: is set, principal components take no sketch".into()));
        }
        if own.tolerance > 0.0 {
            let tolerance = own.tolerance;
            return Err(Error::NotSupported(format!(
                "tolerance: is {tolerance}, 0 is needed for principal components"
            )));
        }
        if own.one_pass {
            return Err(Error::NotSupported("one_pass: is 1, 0 is needed for principal components".into()));
        }
        own.center = match (options.center, by_columns) {
            (false, _) => Centering::None,
            (true, false) => Centering::Columns,
            (true, true) => Centering::Rows,
        };
        own.scale = options.scale;
        // Means (real and imaginary parts), deviations, indices of constant features; values and their roundings.
        let numbers = features.saturating_mul(4).saturating_add(own.rank.saturating_mul(2));
        let request = Request {
            options: &own,
            contexts: self.contexts(),
            matrix: x,
            goal: Goal::Decompose,
            given: None,
            transposed: Some(by_columns),
            wanted: WantedFactors { u: with_scores, v: true },
            // The result owns a copy of the components.
            results: Results { elements: features.saturating_mul(own.rank), numbers },
            excluded,
        };
        let mut plan = Plan::new(request)?;
        if with_scores && has_other_scores(plan.method) {
            plan.passes = plan.passes.map(|passes| passes + 1);
        }
        if plan.estimates_norm && own.error == ErrorKind::None {
            // Probes give the total variance of an operator, and a pass of its own the norm beside factors that are no
            // projection.
            let more = 1 + usize::from(!plan.method.is_projection());
            plan.passes = plan.passes.map(|passes| passes + more);
        }
        Ok(PlannedFit { options: own, plan, count, features, numbers })
    }
}
