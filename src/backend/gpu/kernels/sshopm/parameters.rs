//! The parameter structs of `cuda/purlin_launch.h`, member by member.

use crate::backend::gpu::kernels::{constants as c, size};
use crate::backend::gpu::launch::Parameters;

/// `purlin_sshopm_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct SolveParams {
    pub(super) tensors: u64,
    pub(super) entry_stride: i64,
    pub(super) tensor_stride: i64,
    pub(super) index: u64,
    pub(super) mask: u64,
    pub(super) transform: u64,
    pub(super) starts: u64,
    pub(super) start_stride: i64,
    pub(super) count: i64,
    pub(super) shift: f64,
    pub(super) tolerance: f64,
    pub(super) tau: f64,
    pub(super) merge_chord2: f64,
    pub(super) merge_value: f64,
    pub(super) degeneracy: f64,
    pub(super) level: f64,
    pub(super) isotropy: f64,
    pub(super) absolute_threshold: f64,
    pub(super) relative_threshold: f64,
    pub(super) separation_chord2: f64,
    pub(super) pair_count: u64,
    pub(super) values: u64,
    pub(super) vectors: u64,
    pub(super) residuals: u64,
    pub(super) classes: u64,
    pub(super) hessian: u64,
    pub(super) basins: u64,
    pub(super) status: u64,
    pub(super) peaks: u64,
    pub(super) start_values: u64,
    pub(super) start_vectors: u64,
    pub(super) start_residuals: u64,
    pub(super) start_iterations: u64,
    pub(super) start_shifts: u64,
    pub(super) start_status: u64,
    pub(super) start_violations: u64,
    pub(super) trace: u64,
    pub(super) counters: u64,
    pub(super) indices: u64,
    pub(super) multinomials: u64,
    pub(super) identity: u64,
    pub(super) entries: i64,
    pub(super) trace_length: i64,
    pub(super) order: i32,
    pub(super) dimension: i32,
    pub(super) start_count: i32,
    pub(super) goal: i32,
    pub(super) method: i32,
    pub(super) shift_kind: i32,
    pub(super) test: i32,
    pub(super) max_iterations: i32,
    pub(super) warmup: i32,
    pub(super) sign: i32,
    pub(super) flags: i32,
    pub(super) keep_classes: i32,
    pub(super) pairs: i32,
    pub(super) thresholds: i32,
    pub(super) window: i32,
    pub(super) reserved: i32,
    pub(super) found: u64,
}

const _: () = assert!(size_of::<SolveParams>() == size(c::SSHOPM_PARAMS_BYTES));
// SAFETY: the same members in the same order as in cuda/purlin_launch.h, where the size is asserted too.
unsafe impl Parameters for SolveParams {}

/// `purlin_select_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct SelectParams {
    pub(super) solve: SolveParams,
    pub(super) scratch: u64,
    pub(super) morse: u64,
    pub(super) found_limit: i64,
}

const _: () = assert!(size_of::<SelectParams>() == size(c::SELECT_PARAMS_BYTES));
// SAFETY: as above.
unsafe impl Parameters for SelectParams {}

/// `purlin_product_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ProductParams {
    pub(super) tensors: u64,
    pub(super) entry_stride: i64,
    pub(super) tensor_stride: i64,
    pub(super) vectors: u64,
    pub(super) component_stride: i64,
    pub(super) vector_stride: i64,
    pub(super) batch_stride: i64,
    pub(super) products: u64,
    pub(super) values: u64,
    pub(super) residuals: u64,
    pub(super) hessian: u64,
    pub(super) classes: u64,
    pub(super) indices: u64,
    pub(super) multinomials: u64,
    pub(super) degeneracy: f64,
    pub(super) entries: i64,
    pub(super) vector_count: i64,
    pub(super) count: i64,
    pub(super) order: i32,
    pub(super) dimension: i32,
    pub(super) power: i32,
    pub(super) reserved: i32,
}

const _: () = assert!(size_of::<ProductParams>() == size(c::PRODUCT_PARAMS_BYTES));
// SAFETY: as above.
unsafe impl Parameters for ProductParams {}

/// `purlin_starts_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct StartsParams {
    pub(super) starts: u64,
    pub(super) index: u64,
    pub(super) seed: u64,
    pub(super) first_row: i64,
    pub(super) count: i64,
    pub(super) first_start: i64,
    pub(super) start_count: i64,
    pub(super) dimension: i32,
    pub(super) cube: i32,
}

const _: () = assert!(size_of::<StartsParams>() == size(c::STARTS_PARAMS_BYTES));
// SAFETY: as above.
unsafe impl Parameters for StartsParams {}
