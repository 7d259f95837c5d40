//! Sessions by one of the kernels.

use std::sync::Arc;

use crate::context::Context;
use crate::contraction::Contraction;
use crate::trains::Options;
use crate::trains::info::Kernel;

/// A session that computes by matrix products, also for small ranks.
pub fn session(context: &Arc<Context>, options: Options) -> Contraction {
    let kernel = Some(options.kernel.unwrap_or(Kernel::Products));
    Contraction::new(context, Options { kernel, ..options }).unwrap()
}

/// A session with options and one of [`KERNELS`](crate::trains::testing::KERNELS).
pub fn session_by(context: &Arc<Context>, kernel: Option<Kernel>, options: Options) -> Contraction {
    Contraction::new(context, Options { kernel, ..options }).unwrap()
}
