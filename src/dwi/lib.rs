//! Diffusion MRI: the family [`dwi`], a member of purlin's workspace.
//!
//! The modules of `base` and of the families that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::dwi`, with its modules under the same names.
//!
//! An example: the directions of two fibres that cross.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::scalar::DType;
//! use purlin_base::shape::Order::ColumnMajor;
//! use purlin_base::tensor::{Location, Symmetric, Tensor};
//! use purlin_dwi::dwi::{Dwi, Options, PeaksOutputs};
//!
//! let context = Context::new(ContextOptions::default())?;
//! // The orientation function x^4 + 0.8 y^4 of one voxel: fibres along x and y. The entries are a1111, a1112, ..
//! let shape = Symmetric::new(4, 3)?;
//! let mut function = Tensor::create_symmetric(&context, DType::F64, Location::Host, ColumnMajor, shape, 1)?;
//! let mut entries = [0.0; 15];
//! (entries[0], entries[10]) = (1.0, 0.8);
//! function.view_mut::<f64>("function")?.data().copy_from_slice(&entries);
//!
//! // Up to three peaks: x, y, z and the value of each.
//! let mut peaks = Tensor::create(&context, DType::F64, Location::Host, ColumnMajor, &[4, 3, 1])?;
//! let mut count = Tensor::create(&context, DType::I32, Location::Host, ColumnMajor, &[1])?;
//! let outputs = PeaksOutputs { peaks: &mut peaks, count: Some(&mut count), status: None };
//! Dwi::new(&context, Options::default())?.peaks(None, &function, None, outputs, None)?;
//! assert_eq!(count.view::<i32>("count")?.get(&[0]), 2);
//! let peaks = peaks.view::<f64>("peaks")?;
//! assert!((peaks.get(&[0, 0, 0]).abs() - 1.0).abs() < 1e-6 && (peaks.get(&[3, 0, 0]) - 1.0).abs() < 1e-6);
//! assert!((peaks.get(&[1, 1, 0]).abs() - 1.0).abs() < 1e-6 && (peaks.get(&[3, 1, 0]) - 0.8).abs() < 1e-6);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_sshopm::sshopm;

#[path = "mod.rs"]
pub mod dwi;
