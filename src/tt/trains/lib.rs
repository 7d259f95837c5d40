//! What computations with tensor trains share: the module [`trains`], a member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as
//! `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this module's items in `purlin::tt`.
//!
//! An example: a number beyond the range of its type.
//!
//! ```
//! use purlin_base::scalar::DType;
//! use purlin_tt_trains::trains::Scaled;
//! use purlin_tt_trains::trains::info::Outcome;
//!
//! // 2^2000 has a logarithm, but it is infinite as a number of double precision.
//! let large = Scaled::real(2.0).power(2000);
//! assert!((large.log_abs() - 2000.0 * 2f64.ln()).abs() < 1e-9);
//! assert_eq!(large.plain(DType::F64).1, Outcome::Overflow);
//! ```

#![deny(unsafe_code)]

use purlin_base::*;

#[path = "mod.rs"]
pub mod trains;
