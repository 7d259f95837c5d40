//! Randomized singular value decomposition and principal components: the family [`rsvd`], a member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as
//! `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::rsvd`, with its modules under the same names.
//!
//! An example: the five largest singular values of a matrix, with left vectors.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::matrix::Matrix;
//! use purlin_base::scalar::DType;
//! use purlin_base::shape::Order::ColumnMajor;
//! use purlin_base::tensor::{Location, Tensor};
//! use purlin_rsvd::rsvd::outputs::Outputs;
//! use purlin_rsvd::rsvd::{Options, Rsvd};
//!
//! let context = Context::new(ContextOptions::default())?;
//! // a(i, j) = 1 / (i + j + 1), whose singular values fall quickly.
//! let (rows, columns) = (300, 200);
//! let mut a = Matrix::create(&context, DType::F64, Location::Host, ColumnMajor, rows, columns)?;
//! let entries: Vec<f64> = (0..rows * columns).map(|k| 1.0 / (k % rows + k / rows + 1) as f64).collect();
//! a.dense_mut("a")?.set_columns("a", &entries)?;
//!
//! let mut u = Matrix::create(&context, DType::F64, Location::Host, ColumnMajor, rows, 5)?;
//! let mut s = Tensor::create(&context, DType::F64, Location::Host, ColumnMajor, &[5])?;
//! let mut rsvd = Rsvd::new(&context, Options { rank: 5, ..Options::default() })?;
//! let outputs = Outputs { u: Some(&mut u), s: Some(&mut s), v: None };
//! let info = rsvd.compute(None, &a, outputs, None)?;
//! // The error of the approximation, relative to the norm of the matrix.
//! assert!(info.error_relative < 0.01);
//! let squares: f64 = entries.iter().map(|x| x * x).sum();
//! let found: f64 = s.view::<f64>("s")?.iter().map(|x| x * x).sum();
//! assert!((1.0 - found / squares - info.error_relative.powi(2)).abs() < 1e-12);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_comm::group;

#[path = "mod.rs"]
pub mod rsvd;
