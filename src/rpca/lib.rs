//! A matrix as low rank plus sparse: the family [`rpca`], a member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as
//! `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::rpca`, with its modules under the same names.
//!
//! An example: a picture that stays, and a spot that moves.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::matrix::Matrix;
//! use purlin_base::scalar::DType;
//! use purlin_base::shape::Order::ColumnMajor;
//! use purlin_base::tensor::Location;
//! use purlin_rpca::rpca::session::Observed;
//! use purlin_rpca::rpca::{Options, Rpca};
//!
//! let context = Context::new(ContextOptions::default())?;
//! // 40 frames of 60 pixels, a frame a column: one picture, and a spot of 5 that moves by a pixel each frame.
//! let (pixels, frames) = (60, 40);
//! let create = || Matrix::create(&context, DType::F64, Location::Host, ColumnMajor, pixels, frames);
//! let spot = |k: usize| k % pixels == k / pixels;
//! let picture = |k: usize| 1.0 + (k % pixels) as f64 / 30.0;
//! let mut m = create()?;
//! let entries: Vec<f64> = (0..pixels * frames).map(|k| picture(k) + if spot(k) { 5.0 } else { 0.0 }).collect();
//! m.dense_mut("m")?.set_columns("m", &entries)?;
//!
//! let (mut background, mut moving) = (create()?, create()?);
//! let given = Observed { m: &m, mask: None };
//! let mut rpca = Rpca::new(&context, Options::default())?;
//! let info = rpca.compute(None, given, Some(&mut background), Some(&mut moving), None)?;
//! assert!(info.converged);
//! let moving = moving.dense("moving")?.columns::<f64>("moving")?;
//! for (k, x) in moving.iter().enumerate() {
//!     assert!((x - if spot(k) { 5.0 } else { 0.0 }).abs() < 1e-3);
//! }
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_comm::group;

#[path = "mod.rs"]
pub mod rpca;
