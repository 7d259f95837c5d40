//! Eigenpairs of symmetric tensors: the family [`sshopm`], a member of purlin's workspace.
//!
//! The modules of `base` are imported under their own names, so that a path such as
//! `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::sshopm`, with its modules under the same names.
//!
//! An example: the three local maxima of a quartic form that Kolda and Mayo (2011) list.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::scalar::DType;
//! use purlin_base::shape::Order::ColumnMajor;
//! use purlin_base::tensor::{Location, Symmetric, Tensor};
//! use purlin_sshopm::sshopm::{Options, Results, Sshopm};
//!
//! let context = Context::new(ContextOptions::default())?;
//! let shape = Symmetric::new(4, 3)?;
//! let mut tensor = Tensor::create_symmetric(&context, DType::F64, Location::Host, ColumnMajor, shape, 1)?;
//! // The distinct entries: a1111, a1112, a1113, a1122, .., indices that do not fall.
//! let entries = [
//!     0.2883, -0.0031, 0.1973, -0.2485, -0.2939, 0.3847, 0.2972, 0.1862, 0.0919, -0.3619, 0.1241, -0.3420, 0.2127,
//!     0.2727, -0.3054,
//! ];
//! tensor.view_mut::<f64>("tensor")?.data().copy_from_slice(&entries);
//!
//! // The three largest local maxima, from the starts that the options choose.
//! let mut values = Tensor::create(&context, DType::F64, Location::Host, ColumnMajor, &[3, 1])?;
//! let mut results = Results { values: Some(&mut values), ..Results::default() };
//! Sshopm::new(&context, Options::default())?.solve(None, &tensor, None, &mut results, None)?;
//! let values = values.view::<f64>("values")?;
//! for (k, published) in [0.8893, 0.8169, 0.3633].into_iter().enumerate() {
//!     assert!((values.get(&[k, 0]) - published).abs() < 1e-4);
//! }
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;

#[path = "mod.rs"]
pub mod sshopm;
