//! Algebra of tensor trains: the module [`algebra`], a member of purlin's workspace.
//!
//! The modules of `base` and of the crates that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this module as `purlin::tt::algebra`.
//!
//! An example: a sum of two states of 100 spins, and one entry of it.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::scalar::{Complex, DType};
//! use purlin_tt_algebra::algebra::{Place, add, create, element};
//!
//! let context = Context::new(ContextOptions::default())?;
//! let at = Place::host(&context);
//! let up = create::product_state(&at, &[2; 100], &[1.0, 0.0].repeat(100))?;
//! let down = create::product_state(&at, &[2; 100], &[0.0, 1.0].repeat(100))?;
//! let sum = add(&at, Complex::new(1.0, 0.0), &up, Complex::new(3.0, 0.0), &down)?;
//! assert_eq!(element(&at, &sum, &[1; 100])?.plain(DType::F64).0.re, 3.0);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_tt_trains::trains;

#[path = "mod.rs"]
pub mod algebra;
