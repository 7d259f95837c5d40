//! Constants and structs of tensor trains and their contractions.

use std::ffi::{c_char, c_void};

use super::callback::purlin_progress_fn;
use super::group::purlin_group;
use super::options::versioned;

/// The cost model chooses from shapes and workspace.
pub const PURLIN_TT_METHOD_AUTO: i32 = 0;
/// One boundary pair: for trains that are open at some bond.
pub const PURLIN_TT_METHOD_OPEN: i32 = 1;
/// All boundary pairs of a ring at once: most memory.
pub const PURLIN_TT_METHOD_FULL: i32 = 2;
/// One boundary pair at a time: least memory.
pub const PURLIN_TT_METHOD_REDUCED: i32 = 3;
/// As many boundary pairs at a time as memory and cache allow.
pub const PURLIN_TT_METHOD_BLOCKED: i32 = 4;
/// The dense tensors of both halves: for short trains of large ranks.
pub const PURLIN_TT_METHOD_HALVES: i32 = 5;
/// Repeated squaring of the transfer matrix: for uniform trains.
pub const PURLIN_TT_METHOD_POWER: i32 = 6;

/// Intermediate results are scaled by powers of two, which is exact, when there are more than 30 sites or a bound on
/// their magnitude asks for it.
pub const PURLIN_TT_SCALING_AUTO: i32 = 0;
/// They are scaled at every site.
pub const PURLIN_TT_SCALING_ALWAYS: i32 = 1;
/// They are not: a result beyond the range is infinite or NaN.
pub const PURLIN_TT_SCALING_NEVER: i32 = 2;

/// The first train, the bra, is conjugated: an inner product.
pub const PURLIN_TT_CONJ_BRA: i32 = 0;
/// Nothing is conjugated: the bilinear form.
pub const PURLIN_TT_CONJ_NONE: i32 = 1;

/// IEEE arithmetic of the element type.
pub const PURLIN_TT_MATH_DEFAULT: i32 = 0;
/// GPU: F32 products in TF32, 10 bits of mantissa.
pub const PURLIN_TT_MATH_TF32: i32 = 1;
/// GPU: F32 products of matrices from 2048 rows and columns on as three in TF32 of factors split into two parts,
/// smaller ones as DEFAULT, which is faster there. Closer than TF32, but tensor cores cut sums off, and that error adds
/// up along a train.
pub const PURLIN_TT_MATH_TF32X3: i32 = 2;
/// GPU: complex products by three real ones.
pub const PURLIN_TT_MATH_GEMM3M: i32 = 3;
/// GPU: large F32 products as six of 8-bit digits, which tensor cores add up exactly: as accurate as F32 relative to the
/// norms of rows and columns, not to the single products.
pub const PURLIN_TT_MATH_INT8X6: i32 = 4;

/// The fastest method that is stable for these trains.
pub const PURLIN_TT_NORM_AUTO: i32 = 0;
/// The bits of the inner product.
pub const PURLIN_TT_NORM_INNER: i32 = 1;
/// One triangle of each environment, of open trains; for rings as AUTO.
pub const PURLIN_TT_NORM_TRIANGLE: i32 = 2;
/// By QR factors: nothing is squared, so that small norms keep all their digits.
pub const PURLIN_TT_NORM_QR: i32 = 3;

/// In options: chosen by the ranks.
pub const PURLIN_TT_KERNEL_AUTO: i32 = -1;
/// Matrix products of a library.
pub const PURLIN_TT_KERNEL_PRODUCTS: i32 = 0;
/// One kernel that keeps the environment in registers, cache or shared memory for the whole train.
pub const PURLIN_TT_KERNEL_CHAIN: i32 = 1;

/// A factor goes to the first core, unless that would leave the range of its type: then its power of two goes to all.
pub const PURLIN_TT_SPREAD_AUTO: i32 = 0;
/// It goes to the first core.
pub const PURLIN_TT_SPREAD_FIRST: i32 = 1;
/// Its phase and leading digits go to the first core, an equal power of two to each.
pub const PURLIN_TT_SPREAD_EVEN: i32 = 2;

/// Of the sites before a bond.
pub const PURLIN_TT_LEFT: i32 = 0;
/// Of the sites after it.
pub const PURLIN_TT_RIGHT: i32 = 1;

/// The plain result is the number.
pub const PURLIN_TT_RESULT_OK: i32 = 0;
/// It is infinite: the number is beyond the type's range, though its scaled form is not.
pub const PURLIN_TT_RESULT_OVERFLOW: i32 = 1;
/// It is 0: the number is not, but too small for the type.
pub const PURLIN_TT_RESULT_UNDERFLOW: i32 = 2;
/// It is NaN, for a core holds a number that is not finite; or an enqueued call in single precision by a library's products
/// met a core whose largest number is beyond 2^60 or below 2^-61.
pub const PURLIN_TT_RESULT_NONFINITE: i32 = 3;

/// Type, location, number of cores and size of a tensor train or a TT-matrix. purlin_tt_shape and
/// purlin_tt_matrix_shape give the modes and ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_tt_info {
    /// Size of the caller's struct; set by purlin_tt_info_init.
    pub struct_size: usize,
    /// Type of the elements, the same in all cores.
    pub dtype: i32,
    /// PURLIN_HOST or PURLIN_DEVICE: where the cores are.
    pub location: i32,
    /// PURLIN_READ_ONLY where it holds, or 0.
    pub flags: i32,
    /// 1 if the first and the last rank are more than 1, so that the trace goes round a ring; else 0.
    pub cyclic: i32,
    /// 1 if all cores are the same memory.
    pub uniform: i32,
    /// 1 if purlin allocated the memory, else 0.
    pub owned: i32,
    /// Number of cores d, at least 1.
    pub length: i64,
    /// Largest rank of a bond.
    pub max_rank: i64,
    /// Elements of all cores together.
    pub elements: i64,
    /// Bytes of all cores, without gaps between them.
    pub bytes: i64,
}

versioned!(purlin_tt_info, first = size_of::<Self>());

/// A number with an exponent of its own: results of long trains lie far beyond the range of their type. The struct never
/// changes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct purlin_tt_scaled {
    /// Real part of the mantissa; the larger part lies in [0.5, 1), or both are 0.
    pub re: f64,
    /// Imaginary part of the mantissa; 0 for real types.
    pub im: f64,
    /// The number is the mantissa times two to this power.
    pub exponent: i64,
    /// Natural logarithm of the modulus; minus infinity for 0.
    pub log_abs: f64,
    /// Real part of the number over its modulus; 0 for 0.
    pub phase_re: f64,
    /// Imaginary part of the phase.
    pub phase_im: f64,
}

/// Options of contractions, with defaults from purlin_tt_contraction_options_init.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_tt_contraction_options {
    /// Size of the caller's struct; set by purlin_tt_contraction_options_init.
    pub struct_size: usize,
    /// How boundary pairs are gone through, one of PURLIN_TT_METHOD_*; default AUTO.
    pub method: i32,
    /// Where intermediate results are scaled by powers of two, one of PURLIN_TT_SCALING_*; default AUTO.
    pub scaling: i32,
    /// Train that is conjugated, one of PURLIN_TT_CONJ_*; default BRA.
    pub conjugate: i32,
    /// Arithmetic of products on a GPU, one of PURLIN_TT_MATH_*; default DEFAULT.
    pub math: i32,
    /// How a norm is found, one of PURLIN_TT_NORM_*; default AUTO.
    pub norm_method: i32,
    /// 1: of results that are real for a Hermitian operator the real part alone is computed; default 0.
    pub assume_hermitian: i32,
    /// Whether sites are contracted by matrix products or all by one kernel, one of PURLIN_TT_KERNEL_*; default AUTO.
    pub kernel: i32,
    /// Must be 0: kept for later fields.
    pub reserved: i32,
    /// Bond at which a ring is cut, 0 to d - 1; -1, the default, for the cheapest.
    pub cut: i64,
    /// Boundary pairs at a time; 0, the default, to choose.
    pub block: i64,
    /// How often the cores are gone round: the trains have `repeat` d sites, as a uniform train of a cell of d cores
    /// has; default 1.
    pub repeat: i64,
    /// Bytes of workspace; 0, the default, for 64 MiB on the CPU and 256 MiB on a GPU.
    pub workspace_limit: i64,
    /// Called with the steps done and all steps (sites, counted in blocks of boundary pairs); default NULL. It must be
    /// callable while the object lives.
    pub progress: purlin_progress_fn,
    /// Passed to `progress` as its last argument, not dereferenced; default NULL.
    pub progress_user: *mut c_void,
    /// GPUs that boundary pairs of rings and the items of batches are distributed over; begins with the context of
    /// purlin_tt_contraction_create. Default NULL: that context alone.
    pub group: *const purlin_group,
}

versioned!(
    purlin_tt_contraction_options,
    first = size_of::<Self>(),
    of = crate::tt::Options;
    kernel: PURLIN_TT_KERNEL_AUTO
);

/// Report of a contraction: its plan and its outcome.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_tt_contraction_info {
    /// Size of the caller's struct; set by purlin_tt_contraction_info_init.
    pub struct_size: usize,
    /// The method in force, one of PURLIN_TT_METHOD_*.
    pub method: i32,
    /// The kernel that does the arithmetic, one of PURLIN_TT_KERNEL_*.
    pub kernel: i32,
    /// How the result came out, one of PURLIN_TT_RESULT_*: a scaled one OK or NONFINITE, of several the largest number.
    pub outcome: i32,
    /// 1 if only one of each two conjugate terms is computed, as for a norm.
    pub halved: i32,
    /// 1 if both ends are contracted at once, to meet in the middle.
    pub two_ended: i32,
    /// 1 if intermediate results are scaled at every site.
    pub scaled: i32,
    /// Bond at which the ring is cut.
    pub cut: i64,
    /// Pairs of indices of the bonds where rings are cut; 1 for open trains.
    pub pairs: i64,
    /// Most of these pairs that are contracted together.
    pub block: i64,
    /// Contexts that took part, at least 1.
    pub contexts: i64,
    /// Bytes of workspace that the call uses at most.
    pub workspace_bytes: i64,
    /// Floating-point operations: 2 a real multiply-add, 8 a complex one.
    pub flops: f64,
    /// Bytes of cores that are read.
    pub bytes: f64,
    /// Seconds from the call to its return.
    pub seconds: f64,
    /// Why this method was chosen; ends with a NUL.
    pub reason: [c_char; 128],
}

versioned!(purlin_tt_contraction_info, first = size_of::<Self>());
