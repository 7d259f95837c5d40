//! Report of a contraction, before or after it runs.

use crate::choice::reported;
use std::sync::Arc;

pub use super::options::Kernel;
use super::options::Method;

reported!(Outcome);

/// Outcome of a result. The numbers are those of the C interface. Several results report the largest of their outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(i32)]
pub enum Outcome {
    /// The result is the number.
    #[default]
    Ok = 0,
    /// The result is infinite: the number is beyond the type's range, though its scaled form is not.
    Overflow = 1,
    /// The result is 0: the number is not 0, but too small for the type.
    Underflow = 2,
    /// The result is NaN, because a core holds a number that is not finite.
    NonFinite = 3,
}

/// The plan of a contraction and its figures. The fields are those of the C interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// The chosen method; not [`Method::Auto`] after planning.
    pub method: Method,
    /// The kernel that does the arithmetic.
    pub kernel: Kernel,
    /// Why the method was chosen.
    pub reason: Arc<str>,
    /// Bond at which the ring is cut.
    pub cut: i64,
    /// Boundary pairs P that are summed.
    pub pairs: i64,
    /// Pairs that are contracted together.
    pub block: i64,
    /// Whether only pairs p_x <= p_y are summed.
    pub halved: bool,
    /// Whether both ends are contracted at the same time and meet in the middle.
    pub two_ended: bool,
    /// Whether results are scaled at every site.
    pub scaled: bool,
    /// Number of contexts that take part.
    pub contexts: i64,
    /// Floating-point operations: 2 a real multiply-add, 8 a complex one.
    pub flops: f64,
    /// Bytes of cores that are read.
    pub bytes: f64,
    /// Bytes of workspace that the plan needs.
    pub workspace_bytes: i64,
    /// Outcome of the result. A scaled result is [`Outcome::Ok`] or [`Outcome::NonFinite`].
    pub outcome: Outcome,
    /// Seconds of the last call.
    pub seconds: f64,
}
