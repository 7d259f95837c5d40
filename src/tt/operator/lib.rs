//! Operators between tensor trains: the module [`operator`], a member of purlin's workspace.
//!
//! The modules of `base` and of the crates that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this module as `purlin::tt::operator`.
//!
//! An example: the energy of 100 spins that point up.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::scalar::DType;
//! use purlin_tt_algebra::algebra::{Place, create};
//! use purlin_tt_operator::operator::{ising, rayleigh};
//! use purlin_tt_trains::trains::Options;
//!
//! let context = Context::new(ContextOptions::default())?;
//! let up = create::product_state(&Place::host(&context), &[2; 100], &[1.0, 0.0].repeat(100))?;
//! // H = - sum sx sx - 3 sum sz.
//! let hamiltonian = ising(&context, DType::F64, 100, 1.0, 3.0, false)?;
//! let energy = rayleigh(&context, &Options::default(), &up, &hamiltonian)?;
//! assert!((energy.quotient.plain(DType::F64).0.re + 300.0).abs() < 1e-9);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_tt_algebra::algebra;
use purlin_tt_trains::trains;

#[path = "mod.rs"]
pub mod operator;
