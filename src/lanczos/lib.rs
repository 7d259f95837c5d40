//! Eigenvalues of symmetric matrices and singular values: the family [`lanczos`], a member of purlin's workspace.
//!
//! The modules of `base` and of the families that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::lanczos`, with its modules under the same names.
//!
//! An example: the smallest eigenvalues of a path's Laplacian.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::matrix::sparse::{Coordinates, Duplicates, Indices, Symmetrize, from_coordinates, symmetrize};
//! use purlin_base::scalar::DType;
//! use purlin_base::tensor::Tensor;
//! use purlin_lanczos::lanczos::outputs::Outputs;
//! use purlin_lanczos::lanczos::session::{Inputs, Lanczos, Problem};
//! use purlin_lanczos::lanczos::{Options, Which};
//! use purlin_spmv::spmv::Kind;
//!
//! let context = Context::new(ContextOptions::default())?;
//! // A path of 100 vertices as a pattern: all weights are 1.
//! let (tails, heads): (Vec<i32>, Vec<i32>) = (0..99).map(|i| (i, i + 1)).unzip();
//! let edges = Coordinates {
//!     rows: 100,
//!     cols: 100,
//!     row_idx: Indices::I32(&tails),
//!     col_idx: Indices::I32(&heads),
//!     base: 0,
//!     dtype: DType::F64,
//!     values: None,
//! };
//! let path = symmetrize(&context, &from_coordinates(&context, &edges, Duplicates::Refuse)?, Symmetrize::Union)?;
//!
//! // The three smallest eigenvalues of its Laplacian.
//! let options = Options { count: 3, which: Which::Smallest, ..Options::default() };
//! let lanczos = Lanczos::new(&context, Problem { options, kind: Kind::Laplacian, ..Problem::default() })?;
//! let mut values = Tensor::from_list(&context, &[0.0; 3])?;
//! let outputs = Outputs { values: &mut values, vectors: None, residuals: None };
//! let info = lanczos.solve(&path, Inputs::default(), outputs, None)?;
//! info.check_converged(3)?;
//! for (k, value) in values.view::<f64>("values")?.iter().enumerate() {
//!     let exact = 2.0 - 2.0 * (k as f64 * std::f64::consts::PI / 100.0).cos();
//!     assert!((value - exact).abs() < 1e-9);
//! }
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_comm::group;
use purlin_spmv::spmv;

#[path = "mod.rs"]
pub mod lanczos;
