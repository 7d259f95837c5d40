//! Products of sparse matrices with vectors: the family [`spmv`], a member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as
//! `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::spmv`, with its modules under the same names.
//!
//! An example: a product with a sparse matrix.
//!
//! ```
//! use purlin_base::backend::memory::HostMemory;
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::matrix::sparse::{Coordinates, Duplicates, Indices, from_coordinates};
//! use purlin_base::scalar::{Complex, DType};
//! use purlin_base::tensor::Tensor;
//! use purlin_spmv::spmv::{Options, Plan};
//!
//! let context = Context::new(ContextOptions::default())?;
//! // Three entries of a 2 x 3 matrix: (1 0 2; 0 3 0).
//! let mut values = HostMemory::allocate("values", 3 * size_of::<f64>(), context.host_budget())?;
//! values.as_mut_slice::<f64>()?.copy_from_slice(&[1.0, 2.0, 3.0]);
//! let entries = Coordinates {
//!     rows: 2,
//!     cols: 3,
//!     row_idx: Indices::I32(&[0, 0, 1]),
//!     col_idx: Indices::I32(&[0, 2, 1]),
//!     base: 0,
//!     dtype: DType::F64,
//!     values: Some(&values),
//! };
//! let a = from_coordinates(&context, &entries, Duplicates::Refuse)?;
//!
//! // y = 1 A x + 0 y.
//! let plan = Plan::new(&context, &a, Options::default())?;
//! let x = Tensor::from_list(&context, &[1.0, 10.0, 100.0])?;
//! let mut y = Tensor::from_list(&context, &[0.0, 0.0])?;
//! plan.apply(Complex::new(1.0, 0.0), &a, &x, Complex::new(0.0, 0.0), &mut y)?;
//! assert_eq!(y.view::<f64>("y")?.data(), [201.0, 30.0]);
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;

#[path = "mod.rs"]
pub mod spmv;
