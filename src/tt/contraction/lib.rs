//! Contractions of tensor trains: the module [`contraction`], a member of purlin's workspace.
//!
//! The modules of `base` and of the crates that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.

#![deny(unsafe_code)]

use purlin_base::*;
#[cfg(test)]
use purlin_tt_algebra::algebra;
use purlin_tt_operator::operator;
use purlin_tt_trains::trains;

#[path = "mod.rs"]
pub mod contraction;
