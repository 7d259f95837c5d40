//! Parameter structs of the kernels of `cuda/tt.cu`.

use super::super::{constants as c, size};
use crate::backend::gpu::launch::Parameters;

/// `purlin_tt_chain_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ChainParams {
    pub(super) sites: u64,
    pub(super) x_bases: u64,
    pub(super) y_bases: u64,
    pub(super) x_index: u64,
    pub(super) y_index: u64,
    pub(super) x_keys: u64,
    pub(super) y_keys: u64,
    pub(super) results: u64,
    pub(super) environments: u64,
    pub(super) states: u64,
    pub(super) environment_stride: i64,
    pub(super) x_train_stride: i64,
    pub(super) y_train_stride: i64,
    pub(super) x_core_stride: i64,
    pub(super) y_core_stride: i64,
    pub(super) first_pair: i64,
    pub(super) pairs: i64,
    pub(super) pairs_x: i64,
    pub(super) length: i32,
    pub(super) cores: i32,
    pub(super) middle: i32,
    pub(super) edge: i32,
    pub(super) flags: i32,
    pub(super) reserved: i32,
}

/// `purlin_tt_grid_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct GridParams {
    pub(super) sites: u64,
    pub(super) x_bases: u64,
    pub(super) y_bases: u64,
    pub(super) space: u64,
    pub(super) states: u64,
    pub(super) keys: u64,
    pub(super) places: u64,
    pub(super) x_keys: u64,
    pub(super) y_keys: u64,
    pub(super) environment_stride: i64,
    pub(super) product_stride: i64,
    pub(super) pair_x: i64,
    pub(super) pair_y: i64,
    pub(super) length: i32,
    pub(super) cores: i32,
    pub(super) middle: i32,
    pub(super) core_bases: i32,
    pub(super) flags: i32,
    pub(super) reserved: i32,
}

/// `purlin_tt_join_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct JoinParams {
    pub(super) left: u64,
    pub(super) right: u64,
    pub(super) states: u64,
    pub(super) places: u64,
    pub(super) results: u64,
    pub(super) stride: i64,
    pub(super) count: i64,
    pub(super) flags: i64,
}

/// `purlin_tt_measure_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct MeasureParams {
    pub(super) environment: u64,
    pub(super) state: u64,
    pub(super) count: i64,
    pub(super) flags: i64,
}

/// `purlin_tt_factors_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FactorsParams {
    pub(super) environment: u64,
    pub(super) state: u64,
    pub(super) second: u64,
    pub(super) first_key: u64,
    pub(super) second_key: u64,
    pub(super) next_key: u64,
    pub(super) count: i64,
}

/// `purlin_tt_edge_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct EdgeParams {
    pub(super) x: u64,
    pub(super) y: u64,
    pub(super) environment: u64,
    pub(super) state: u64,
    pub(super) results: u64,
    pub(super) x_key: u64,
    pub(super) y_key: u64,
    pub(super) next_key: u64,
    pub(super) first_pair: i64,
    pub(super) pairs: i64,
    pub(super) pairs_x: i64,
    pub(super) pairs_y: i64,
    pub(super) r: i64,
    pub(super) s: i64,
    pub(super) n: i64,
    pub(super) flags: i64,
}

/// `purlin_tt_keys_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct KeysParams {
    pub(super) bases: u64,
    pub(super) sizes: u64,
    pub(super) keys: u64,
    pub(super) count: i64,
}

/// `purlin_tt_promote_params`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct PromoteParams {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) count: i64,
}

const _: () = assert!(size_of::<ChainParams>() == size(c::TT_CHAIN_PARAMS_BYTES));
const _: () = assert!(size_of::<GridParams>() == size(c::TT_GRID_PARAMS_BYTES));
const _: () = assert!(size_of::<JoinParams>() == size(c::TT_JOIN_PARAMS_BYTES));
const _: () = assert!(size_of::<MeasureParams>() == size(c::TT_MEASURE_PARAMS_BYTES));
const _: () = assert!(size_of::<FactorsParams>() == size(c::TT_FACTORS_PARAMS_BYTES));
const _: () = assert!(size_of::<EdgeParams>() == size(c::TT_EDGE_PARAMS_BYTES));
const _: () = assert!(size_of::<KeysParams>() == size(c::TT_KEYS_PARAMS_BYTES));
const _: () = assert!(size_of::<PromoteParams>() == size(c::TT_PROMOTE_PARAMS_BYTES));

// SAFETY: each has the same members in the same order as in cuda/tt_launch.h, where the sizes are asserted too.
unsafe impl Parameters for ChainParams {}
// SAFETY: as above.
unsafe impl Parameters for GridParams {}
// SAFETY: as above.
unsafe impl Parameters for JoinParams {}
// SAFETY: as above.
unsafe impl Parameters for MeasureParams {}
// SAFETY: as above.
unsafe impl Parameters for FactorsParams {}
// SAFETY: as above.
unsafe impl Parameters for EdgeParams {}
// SAFETY: as above.
unsafe impl Parameters for KeysParams {}
// SAFETY: as above.
unsafe impl Parameters for PromoteParams {}
