//! Contractions of tensor trains: the module [`contraction`], a member of purlin's workspace.
//!
//! The modules of `base` and of the crates that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this module's items in `purlin::tt`.
//!
//! An example: the norm and the energy of a state of 100 spins, a vector of 2^100 numbers.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::scalar::DType;
//! use purlin_tt_algebra::algebra::{Place, create};
//! use purlin_tt_contraction::contraction::Contraction;
//! use purlin_tt_operator::operator::ising;
//! use purlin_tt_trains::trains::Options;
//!
//! let context = Context::new(ContextOptions::default())?;
//! // 100 spins that point up: a train of rank 1.
//! let at = Place::host(&context);
//! let up = create::product_state(&at, &[2; 100], &[1.0, 0.0].repeat(100))?;
//! let mut contraction = Contraction::new(&context, Options::default())?;
//! let (square, _) = contraction.inner(None, &up, &up, None)?;
//! assert_eq!((square.re, square.im), (1.0, 0.0));
//!
//! // The energy of H = - sum sx sx - 3 sum sz.
//! let hamiltonian = ising(&context, DType::F64, 100, 1.0, 3.0, false)?;
//! let energy = contraction.rayleigh(None, &up, &hamiltonian, None)?;
//! let (energy, _) = energy.quotient.plain(DType::F64);
//! assert!((energy.re + 300.0).abs() < 1e-9);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_comm::group;
#[cfg(test)]
use purlin_tt_algebra::algebra;
use purlin_tt_operator::operator;
use purlin_tt_trains::trains;

#[path = "mod.rs"]
pub mod contraction;
