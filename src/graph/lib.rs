//! Embeddings, clusters and bisections of graphs: the family [`graph`], a member of purlin's workspace.
//!
//! The modules of `base` and of the families that this one is built on are imported under their own names, so that a
//! path such as `crate::tensor` is the same in every member.
//!
//! The crate `purlin` has this family as `purlin::graph`, with its modules under the same names.
//!
//! An example: two clusters of a graph.
//!
//! ```
//! use purlin_base::context::{Context, Options as ContextOptions};
//! use purlin_base::matrix::sparse::{Coordinates, Duplicates, Indices, Symmetrize, from_coordinates, symmetrize};
//! use purlin_base::scalar::DType;
//! use purlin_base::tensor::Tensor;
//! use purlin_graph::graph::calls::clusters;
//! use purlin_graph::graph::embed::Assignment;
//! use purlin_lanczos::lanczos::Options;
//! use purlin_lanczos::lanczos::session::{Lanczos, Problem};
//!
//! let context = Context::new(ContextOptions::default())?;
//! // Two triangles, joined by the edge from 2 to 3.
//! let edges = Coordinates {
//!     rows: 6,
//!     cols: 6,
//!     row_idx: Indices::I32(&[0, 1, 2, 2, 3, 4, 5]),
//!     col_idx: Indices::I32(&[1, 2, 0, 3, 4, 5, 3]),
//!     base: 0,
//!     dtype: DType::F64,
//!     values: None,
//! };
//! let graph = symmetrize(&context, &from_coordinates(&context, &edges, Duplicates::Refuse)?, Symmetrize::Union)?;
//!
//! // As many clusters as the options count eigenvectors; ten starts of k-means.
//! let options = Options { count: 2, ..Options::default() };
//! let lanczos = Lanczos::new(&context, Problem { options, ..Problem::default() })?;
//! let mut labels = Tensor::from_list(&context, &[0i64; 6])?;
//! clusters(&lanczos, &graph, Assignment::KMeans, 10, &mut labels, None)?;
//! let labels: Vec<i64> = labels.view::<i64>("labels")?.iter().collect();
//! assert!(labels[..3].iter().all(|l| *l == labels[0]) && labels[3..].iter().all(|l| *l == 1 - labels[0]));
//! # Ok::<(), purlin_base::error::Error>(())
//! ```

#![deny(unsafe_code)]

use purlin_base::*;
use purlin_comm::group;
use purlin_lanczos::lanczos;
use purlin_spmv::spmv;

#[path = "mod.rs"]
pub mod graph;
