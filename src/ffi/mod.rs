//! The C boundary: checks, converts, delegates. No behaviour of its own, no loop over data.
//!
//! One file a handle type or family. Every exported body is one call of `guard::run`; every object is reached
//! through the tables of `handle`; every options and info struct is read and written by `options`.

// The names are those of the C header.
#![allow(non_camel_case_types, reason = "these are the names of the C interface")]
// doxygen reads these comments: `@param[out]` is its own.
#![allow(rustdoc::broken_intra_doc_links, reason = "the comments are the C header's")]

mod array;
mod callback;
mod context;
mod device;
mod dlpack;
mod dwi;
mod dwi_peaks;
mod dwi_types;
mod environment;
mod fdk;
mod fdk_convert;
mod fdk_pieces;
mod fdk_run;
mod fdk_types;
mod guard;
mod handle;
mod library;
mod matrix;
mod matrix_outside;
mod options;
mod overlap;
mod pca;
mod pca_types;
mod rpca;
mod rpca_types;
mod rsvd;
mod rsvd_convert;
mod rsvd_run;
mod rsvd_types;
mod sink;
mod source;
mod sshopm;
mod sshopm_all;
mod sshopm_types;
mod status;
mod stream;
mod symmetric;
mod tensor;
mod tensor_symmetric;
mod tt;
mod tt_algebra;
mod tt_batch;
mod tt_contraction;
mod tt_cores;
mod tt_entries;
mod tt_environments;
mod tt_expect;
mod tt_inner;
mod tt_matrix;
mod tt_options;
mod tt_round;
mod tt_special;
mod tt_types;

pub use array::*;
pub use callback::{purlin_log_fn, purlin_progress_fn};
pub use context::*;
pub use device::*;
pub use dlpack::*;
pub use dwi::*;
pub use dwi_peaks::*;
pub use dwi_types::*;
pub use fdk::*;
pub use fdk_convert::*;
pub use fdk_pieces::*;
pub use fdk_run::*;
pub use fdk_types::*;
pub use library::*;
pub use matrix::*;
pub use matrix_outside::*;
pub use pca::*;
pub use pca_types::*;
pub use rpca::*;
pub use rpca_types::*;
pub use rsvd::*;
pub use rsvd_convert::*;
pub use rsvd_run::*;
pub use rsvd_types::*;
pub use sink::*;
pub use source::*;
pub use sshopm::*;
pub use sshopm_all::*;
pub use sshopm_types::*;
pub use status::purlin_status;
pub use stream::*;
pub use symmetric::*;
pub use tensor::*;
pub use tensor_symmetric::*;
pub use tt::*;
pub use tt_algebra::*;
pub use tt_batch::*;
pub use tt_contraction::*;
pub use tt_entries::*;
pub use tt_environments::*;
pub use tt_expect::*;
pub use tt_inner::*;
pub use tt_matrix::*;
pub use tt_options::*;
pub use tt_round::*;
pub use tt_special::*;
pub use tt_types::*;
