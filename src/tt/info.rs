//! What a contraction did, or will do.

use super::options::Algorithm;

/// How the arithmetic is carried out. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Kernel {
    /// Matrix products of a library.
    Products = 0,
    /// One kernel of purlin's that keeps the environment in cache, registers or shared memory for the whole train.
    Chain = 1,
}

/// How a result came out. The numbers are those of the C interface; of several results the largest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(i32)]
pub enum Outcome {
    /// It is the number.
    #[default]
    Ok = 0,
    /// It is infinite: the number is beyond the type's range, though its scaled form is not.
    Overflow = 1,
    /// It is 0: the number is not, but too small for the type.
    Underflow = 2,
    /// It is NaN, for a core holds a number that is not finite.
    NonFinite = 3,
}

/// The plan of a contraction and its figures. The fields are those of the C interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// The algorithm in force.
    pub algorithm: Algorithm,
    /// How the arithmetic is carried out.
    pub kernel: Kernel,
    /// Why the algorithm was chosen.
    pub reason: String,
    /// Bond at which the ring is cut.
    pub cut: i64,
    /// Boundary pairs P.
    pub pairs: i64,
    /// Pairs at a time.
    pub block: i64,
    /// Whether only pairs p_x <= p_y are summed.
    pub halved: bool,
    /// Whether both ends are contracted at once, to meet in the middle.
    pub two_ended: bool,
    /// Whether results are scaled at every site.
    pub scaled: bool,
    /// Contexts at work.
    pub contexts: i64,
    /// Floating-point operations: 2 a real multiply-add, 8 a complex one.
    pub flops: f64,
    /// Bytes of cores that are read.
    pub bytes: f64,
    /// Bytes of workspace.
    pub workspace_bytes: i64,
    /// How the result came out; a scaled one is [`Outcome::Ok`] or [`Outcome::NonFinite`].
    pub outcome: Outcome,
    /// Seconds of the last call.
    pub seconds: f64,
}
