//! The report of a run: its plan and its figures.

use super::algorithm::Outcome;
use super::options::{ErrorKind, Method, Options, Orthonormalization};
use super::plan::Plan;
use super::traffic::Traffic;
use crate::choice::with_defaults;
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

with_defaults! {
    /// A run's plan and its figures. The fields are those of the C interface.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Info {
        /// The method in force, never [`Method::Auto`] after a run.
        pub method: Method = Method::Auto,
        /// Why the method was chosen, and remarks of the run.
        pub reason: String = String::new(),
        /// The strongest orthonormalization that was needed.
        pub orthonormalization: Orthonormalization = Orthonormalization::Cholesky2,
        /// Type of the computation, after defaults.
        pub dtype: DType = DType::F64,
        /// Whether the columns were the axis that is cut.
        pub transposed: bool = false,
        /// Whether the tolerance was met; always so for a fixed rank.
        pub converged: bool = false,
        /// Whether the run continued from a restart file.
        pub restarted: bool = false,
        /// How the error was found.
        pub error_kind: ErrorKind = ErrorKind::None,
        /// Whether the sketch was given.
        pub sketch_given: bool = false,
        /// Rank of the result, k.
        pub rank: i64 = 0,
        /// Columns of the sketch, l; of the whole basis for KRYLOV and DIRECT.
        pub columns: i64 = 0,
        /// Power iterations q of the plan.
        pub power_iterations: i64 = 0,
        /// Passes over the data that this run made, also those of a try before the data were scaled.
        pub passes: i64 = 0,
        /// Passes that a restart file saved: with `passes` those of a run without interruption.
        pub passes_restarted: i64 = 0,
        /// Contexts that the run used.
        pub contexts: i64 = 0,
        /// Blocks that the rows are read in, in one pass.
        pub blocks: i64 = 0,
        /// Rows of a block; the last may be shorter.
        pub block_rows: i64 = 0,
        /// Rows that stay on the device.
        pub resident_rows: i64 = 0,
        /// Times that more than CholeskyQR2 was needed.
        pub orthonormalization_fallbacks: i64 = 0,
        /// Bytes of the data that were copied to the device, without tall matrices.
        pub bytes_to_device: i64 = 0,
        /// Bytes of tall matrices that were copied between host and device, in both directions.
        pub bytes_tall: i64 = 0,
        /// Bytes that were read from sources.
        pub bytes_read: i64 = 0,
        /// Predicted value of `bytes_to_device`, on the CPU of `bytes_read`; known once the data are cut. 0 if the
        /// number of passes is not known in advance.
        pub bytes_predicted: i64 = 0,
        /// Planned peak of device memory.
        pub device_bytes: i64 = 0,
        /// Planned peak of host memory. On the CPU the plan assumes that columns stay linearly independent.
        pub host_bytes: i64 = 0,
        /// Measured peak of device memory.
        pub device_bytes_used: i64 = 0,
        /// Measured peak of host memory.
        pub host_bytes_used: i64 = 0,
        /// ||A||_F, of the centred and scaled matrix if it is centred and scaled.
        pub frobenius: f64 = f64::NAN,
        /// Largest modulus of an entry as read.
        pub max_abs: f64 = f64::NAN,
        /// ||A - A_k||_F; NaN if not asked for.
        pub error_frobenius: f64 = f64::NAN,
        /// ||A - A_k||_F / ||A||_F.
        pub error_relative: f64 = f64::NAN,
        /// Relative error that was compared with the tolerance, also where no error is asked for.
        pub error_compared: f64 = f64::NAN,
        /// Upper bound of ||A - A_k||_2, false with probability 10^-probes, or an estimate from below by power
        /// iteration; NaN unless probed.
        pub error_spectral: f64 = f64::NAN,
        /// Seconds spent reading sources, of all readers together.
        pub seconds_read: f64 = 0.0,
        /// Seconds of copies to the device.
        pub seconds_link: f64 = 0.0,
        /// Seconds of products with the data.
        pub seconds_multiply: f64 = 0.0,
        /// Seconds of making columns orthonormal.
        pub seconds_orthonormalize: f64 = 0.0,
        /// Seconds of factorizations of small matrices.
        pub seconds_small: f64 = 0.0,
        /// Seconds of the whole call.
        pub seconds: f64 = 0.0,
        /// Seconds predicted by the cost model.
        pub seconds_predicted: f64 = f64::NAN,
    }
}

/// A count as the C interface's `int64_t`.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Info {
    /// The fields that are known before a run; the others have their defaults.
    pub(super) fn planned(options: &Options, dtype: DType, transposed: bool, contexts: usize) -> Self {
        Self {
            method: options.method,
            dtype,
            transposed,
            error_kind: options.error,
            contexts: to_i64(contexts),
            ..Self::default()
        }
    }

    /// Sets the fields that a plan determines.
    pub(super) fn set_plan(&mut self, plan: &Plan) {
        self.method = plan.method;
        self.reason.clone_from(&plan.reason);
        self.rank = to_i64(plan.rank);
        self.columns = to_i64(plan.basis_columns());
        self.power_iterations = to_i64(plan.iterations);
        self.seconds_predicted = plan.seconds;
        self.host_bytes = number(plan.host_bytes);
        self.bytes_predicted = 0;
        self.passes = to_i64(plan.passes.unwrap_or_else(|| plan.own_passes()));
    }

    /// Sets the fields that are known once the backend has cut the data, including the predicted bytes.
    pub(super) fn set_cut(&mut self, cut: &Traffic, plan: &Plan, device_bytes: u64) {
        self.blocks = number(cut.blocks);
        self.block_rows = number(cut.block_rows);
        self.resident_rows = number(cut.resident_rows);
        self.device_bytes = self.device_bytes.max(number(device_bytes));
        let later = plan.passes.map_or(0, |passes| to_u64(passes).saturating_sub(1).saturating_mul(cut.bytes_later));
        let all = cut.bytes_first.saturating_add(later);
        self.bytes_predicted = if plan.passes.is_some() { number(all) } else { 0 };
    }

    /// Sets the passes, bytes and seconds that a backend has measured.
    pub(super) fn set_traffic(&mut self, traffic: &Traffic) {
        self.passes = number(traffic.passes);
        self.blocks = number(traffic.blocks);
        self.block_rows = number(traffic.block_rows);
        self.resident_rows = number(traffic.resident_rows);
        self.bytes_to_device = number(traffic.bytes_to_device);
        self.bytes_tall = number(traffic.bytes_tall);
        self.bytes_read = number(traffic.bytes_read);
        self.seconds_read = traffic.seconds_read;
        self.seconds_link = traffic.seconds_link;
        self.seconds_multiply = traffic.seconds_multiply;
        self.seconds_orthonormalize = traffic.seconds_orthonormalize;
        self.seconds_small = traffic.seconds_small;
    }

    /// Sets the fields of a method's outcome. `unscale` is the inverse of the factor on the data.
    pub(super) fn set_outcome(&mut self, outcome: &Outcome, unscale: f64) {
        self.method = outcome.method;
        if !outcome.remark.is_empty() {
            self.reason.push_str("; ");
            self.reason.push_str(&outcome.remark);
        }
        self.orthonormalization = Orthonormalization::strongest(&outcome.orthonormal);
        self.orthonormalization_fallbacks = number(outcome.orthonormal.fallbacks());
        self.converged = outcome.converged;
        self.restarted = outcome.passes_restarted > 0;
        self.passes_restarted = number(outcome.passes_restarted);
        self.rank = to_i64(outcome.rank);
        self.columns = to_i64(outcome.columns);
        self.frobenius = outcome.norm * unscale;
        self.max_abs = outcome.max_abs;
        self.error_kind = outcome.error.kind;
        self.error_frobenius = outcome.error.frobenius * unscale;
        self.error_relative = if outcome.norm > 0.0 { outcome.error.frobenius / outcome.norm } else { 0.0 };
        if outcome.error.frobenius.is_nan() || outcome.norm.is_nan() {
            self.error_relative = f64::NAN;
        }
        self.error_compared = outcome.measure;
        self.error_spectral = outcome.error.spectral * unscale;
    }
}
