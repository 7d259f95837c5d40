//! purlin: heavy numerical jobs behind one C ABI, on CPUs and NVIDIA GPUs.
//!
//! The crate is a safe Rust library; [`ffi`] is the thin C boundary over it. Dependencies point one way:
//! `ffi` -> family -> tensor, matrix, backend -> shape, alloc, error. Only `backend` and `ffi` hold `unsafe` code,
//! and only `backend::gpu` knows the CUDA driver.
//!
//! A call takes a [`context::Context`], arrays that belong to it, and an object with options. The same call runs on the CPU
//! or on a GPU, as the context says; its arrays may lie in either memory. The page of each family has an example. The
//! five largest singular values of a matrix, with left vectors:
//!
//! ```
//! use purlin::context::{Context, Options as ContextOptions};
//! use purlin::matrix::Matrix;
//! use purlin::rsvd::outputs::Outputs;
//! use purlin::rsvd::{Options, Rsvd};
//! use purlin::scalar::DType;
//! use purlin::shape::Order::ColumnMajor;
//! use purlin::tensor::{Location, Tensor};
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
//! # Ok::<(), purlin::error::Error>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`context`], [`stream`] | backend, thread pool, limits, log; an ordered queue |
//! | [`group`], [`parts`] | contexts on devices of one kind that share the work of a call; sums over fixed parts, whose bits do not depend on their number |
//! | [`session`] | shared parts of objects that are created once and used for many calls |
//! | [`tensor`], [`matrix`] | dense, symmetric-packed and sparse storage, owned or borrowed; matrices read in blocks or known by products |
//! | [`blocks`] | arrays larger than memory: sources, sinks, and the pipeline between them |
//! | [`sshopm`] | eigenpairs of symmetric tensors |
//! | [`dwi`] | diffusion MRI: tensors from signals, spherical harmonics, fibre directions |
//! | [`fdk`] | cone-beam CT: projections to volumes, at once or view by view |
//! | [`dense`] | dense linear algebra of a backend, for the families that compute with matrices |
//! | [`rsvd`] | randomized singular value decomposition and principal components, larger than memory |
//! | [`rpca`] | a matrix as low rank plus sparse |
//! | [`spmv`] | products of sparse matrices with vectors |
//! | [`lanczos`] | eigenvalues of symmetric matrices and of graphs |
//! | [`graph`] | embeddings, clusters and bisections of graphs; the graph of an image |
//! | [`tt`] | tensor trains: inner products open and cyclic, norms, expectation values, algebra |

#![deny(unsafe_code)]

#[cfg(feature = "fault-injection")]
pub use purlin_base::fault;
pub use purlin_base::{
    alloc, backend, blocks, context, dense, error, log, matrix, progress, rng, scalar, session, shape, stream, tensor,
    thread,
};
pub use purlin_comm::{group, parts};
pub use purlin_dwi::dwi;
pub use purlin_fdk::fdk;
pub use purlin_graph::graph;
pub use purlin_lanczos::lanczos;
pub use purlin_rpca::rpca;
pub use purlin_rsvd::rsvd;
pub use purlin_spmv::spmv;
pub use purlin_sshopm::sshopm;

use purlin_base::{choice, message};

/// Contractions of tensor trains (matrix-product states): inner products, open and cyclic, norms, expectation values of
/// TT-matrices (matrix-product operators), and the algebra around them (Oseledets, SIAM J. Sci. Comput. 33, 2295, 2011;
/// Schollwoeck, Ann. Phys. 326, 96, 2011).
///
/// The trains themselves are in [`crate::tensor::train`].
pub mod tt {
    pub use purlin_tt_algebra::algebra;
    pub use purlin_tt_contraction::contraction::{
        Contraction, batch, cost, cpu, enqueued, gpu, once, ops, pairs, peaks, plan, session,
    };
    pub use purlin_tt_operator::operator;
    pub use purlin_tt_trains::trains::{Info, Options, Scaled, info, options, scaled, watch};
}

#[allow(unsafe_code, reason = "the C boundary: pointers of the caller, exported names")]
pub mod ffi;

/// Description of this build of the library, in one line.
pub fn build_info() -> String {
    let gpu = match backend::gpu::build_cuda() {
        "none" => String::new(),
        version => format!(" and GPU (CUDA {version}: {})", backend::gpu::build_archs()),
    };
    format!("purlin {}, {}, CPU{gpu}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
}
