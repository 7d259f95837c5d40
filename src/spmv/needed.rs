//! Host memory that a plan is charged for, known before it is made.

use std::sync::Arc;

use super::known;
use super::options::{Op, Options};
use super::plan::Plan;
use super::tiles::csr;
use crate::backend::Backend;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::matrix::sparse::{CopyBytes, order_bytes, reordered_bytes, transpose_bytes};

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
}
