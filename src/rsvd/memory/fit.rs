//! Plans whose blocks and panels fit into the available host memory.

use super::Planned;
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::rsvd::options::Method;
use crate::rsvd::plan::{Goal, Plan, Request, Results};
use crate::shape::to_u64;

impl Plan {
    /// The plan for a matrix. `AUTO` skips methods that do not fit into the available host memory.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the argument that does not fit the matrix; [`Error::OutOfMemory`] with the bytes
    /// that the run needs on the CPU, where the context's limit leaves fewer.
    pub fn new(request: Request<'_>) -> Result<Self> {
        let mut excluded = crate::alloc::copied("methods", request.excluded)?;
        let mut refusal: Option<Error> = None;
        loop {
            let found = Self::with(&Request { excluded: &excluded, ..request });
            let mut plan = match found {
                Ok(plan) => plan,
                // No method fits: report the smallest number of bytes that any of them needs.
                Err(e) => return Err(refusal.unwrap_or(e)),
            };
            match plan.fit(&request) {
                Ok(()) => return Ok(plan),
                // An error without a limit comes from an allocation of the plan itself.
                Err(e @ Error::OutOfMemory { limit: Some(_), .. }) if plan.is_chosen(&request) => {
                    refusal = Some(refusal.filter(|before| bytes_of(before) <= bytes_of(&e)).unwrap_or(e));
                    crate::alloc::push("methods", &mut excluded, plan.method)?;
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Whether the cost model chose the method.
    pub fn is_chosen(&self, request: &Request<'_>) -> bool {
        let Request { options, goal, .. } = request;
        *goal == Goal::Decompose && options.method == Method::Auto && options.tolerance == 0.0
    }

    /// Sets blocks and panels that fit into the available host memory. Does nothing on a GPU.
    fn fit(&mut self, request: &Request<'_>) -> Result<()> {
        let context = &request.contexts[0];
        if self.rows == 0 || self.columns == 0 || !matches!(context.backend(), Backend::Cpu) {
            return Ok(());
        }
        let own = self.clone();
        let planned = Planned::new(context, &own, request);
        let Results { elements, numbers } = request.results;
        let results =
            elements.saturating_mul(self.dtype.size()).saturating_add(numbers.saturating_mul(size_of::<f64>()));
        let results = to_u64(results);
        let whole = |e| match e {
            Error::OutOfMemory { what, bytes, limit: limit @ Some(_) } => {
                Error::OutOfMemory { what, bytes: bytes.saturating_add(results), limit }
            }
            e => e,
        };
        let fit = planned.fit(context.host_budget().available().saturating_sub(results)).map_err(whole)?;
        self.host_bytes = planned.expected(&fit, request.wanted)?.saturating_add(results);
        fit.apply(&mut self.setting);
        Ok(())
    }
}

fn bytes_of(error: &Error) -> u64 {
    if let Error::OutOfMemory { bytes, .. } = error { *bytes } else { u64::MAX }
}
