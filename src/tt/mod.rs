//! Contractions of tensor trains (matrix-product states): inner products, open and cyclic, norms, expectation values of
//! TT-matrices (matrix-product operators), and the algebra around them (Oseledets, SIAM J. Sci. Comput. 33, 2295, 2011;
//! Schollwoeck, Ann. Phys. 326, 96, 2011).
//!
//! The trains themselves are in [`crate::tensor::train`].
//!
//! | file | subject |
//! |---|---|
//! | [`options`], [`info`] | how, and what came of it |
//! | [`scaled`] | numbers beyond the range of their type |

pub mod info;
pub mod options;
pub mod scaled;

pub use info::Info;
pub use options::Options;
pub use scaled::Scaled;
