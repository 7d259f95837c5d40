//! Embeddings, clusters and bisections of graphs: the family [`graph`], a member of purlin's workspace.
//!
//! The modules of `base` and of the families that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_lanczos::lanczos;
use purlin_spmv::spmv;

#[path = "mod.rs"]
pub mod graph;
