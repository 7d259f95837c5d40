//! What the computations with tensor trains (matrix-product states) share: options and reports, numbers beyond the range
//! of their type, balanced bonds, and examinations of cores.
//!
//! The trains themselves are in [`crate::tensor::train`].
//!
//! | file | subject |
//! |---|---|
//! | [`options`], [`info`] | options and reports of a call |
//! | [`scaled`] | numbers beyond the range of their type |
//! | [`watch`] | cancellation and progress of a call |
//! | [`balance`] | bonds whose values differ by many orders of magnitude |
//! | [`largest`] | the largest entry of each core |
//! | [`finite`] | examination of cores for numbers that are not finite |
//! | `testing` | fixtures of the unit tests, with the feature `testing` |

pub mod balance;
pub mod finite;
pub mod info;
pub mod largest;
pub mod options;
pub mod scaled;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod watch;

pub use info::Info;
pub use options::Options;
pub use scaled::Scaled;
