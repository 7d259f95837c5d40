//! What computations with tensor trains share: the module [`trains`], a member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as
//! `crate::tensor` is the same in every member.

#![deny(unsafe_code)]

use purlin_base::*;

#[path = "mod.rs"]
pub mod trains;
