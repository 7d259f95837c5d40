//! Eigenpairs of symmetric tensors: options, results, and the calls besides the solver.

use super::handle::Exclusive;
use super::options::{self, Struct as _};
use super::overlap::{self, Range};
use super::sshopm_types::*;
use super::tensor::{self, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::sshopm::{self, Info, Options, Results, StartKind};
use crate::tensor::Tensor;

/// Writes the defaults.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_options_init(options: *mut purlin_sshopm_options, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Sets every member to NULL.
///
/// @param[out] results  the struct.
/// @param      size     `sizeof *results`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `results` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_results_init(results: *mut purlin_sshopm_results, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("results", results, size) })
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_info_init(info: *mut purlin_sshopm_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// A caller's results, locked until the call returns.
pub(super) struct LockedResults {
    members: [(&'static str, Option<Exclusive<Tensor>>); 17],
}

impl LockedResults {
    pub(super) fn ranges(&self) -> Vec<Range<'static>> {
        self.members.iter().filter_map(|(name, t)| t.as_deref().map(|t| Range::of(name, t))).collect()
    }
}

macro_rules! locked_results {
    ($($name:ident),*) => {
        impl LockedResults {
            pub(super) fn new(r: &purlin_sshopm_results) -> Result<Self> {
                let lock = |name, handle| Ok((name, tensor::output_or_null(name, handle)?));
                Ok(Self { members: [$(lock(stringify!($name), r.$name)?),*] })
            }

            pub(super) fn as_results(&mut self) -> Results<'_> {
                let [$($name),*] = self.members.each_mut().map(|(_, t)| t.as_deref_mut());
                Results { $($name),* }
            }
        }
    };
}
locked_results!(
    count,
    values,
    vectors,
    residuals,
    classes,
    hessian,
    basins,
    status,
    start_values,
    start_vectors,
    start_residuals,
    start_iterations,
    start_shifts,
    start_status,
    start_violations,
    trace,
    found
);

pub(super) fn inputs(tensors: &Tensor, starts: Option<&Tensor>) -> Vec<Range<'static>> {
    std::iter::once(Range::of("tensors", tensors)).chain(starts.map(|s| Range::of("starts", s))).collect()
}

pub(super) fn read_options(o: &purlin_sshopm_options) -> Result<Options> {
    let mut options = Options::default();
    o.read_into(&mut options)?;
    Ok(options)
}

pub(super) fn info_of(info: &Info) -> purlin_sshopm_info {
    let mut made = purlin_sshopm_info::zeroed();
    made.set(info);
    made
}

/// Fills an info struct that has to be there.
///
/// # Safety
/// `info` is NULL or an initialized struct.
pub(super) unsafe fn report(info: *mut purlin_sshopm_info, make: impl FnOnce() -> Result<Info>) -> Result<()> {
    if info.is_null() {
        return Err(Error::invalid("info", "is NULL"));
    }
    // SAFETY: as promised above.
    unsafe { options::check("info", info) }?;
    let made = make()?;
    // SAFETY: as above.
    unsafe { options::write("info", info, info_of(&made)) }
}

/// Products A x^m, A x^(m-1) or A x^(m-2) of symmetric tensors with vectors. O(U) a product.
///
/// @param      context   the context of all tensors.
/// @param      stream    NULL for the context's own.
/// @param      tensors   symmetric batch of T tensors, order m, dimension n; F32 or F64.
/// @param      vectors   n x V, the same for all tensors, or n x V x T; the type of `tensors`. Not normalized.
/// @param      power     m, m - 1 or m - 2: how many indices are contracted.
/// @param      products  V x T, n x V x T or n x n x V x T for the three powers; the type of `tensors`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`power`, sizes, types,
/// read-only `products`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in `products`;
/// an order above 32 or a dimension above 16 with a tensor on the device), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_sshopm_product(
    context: *const purlin_context,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    vectors: *const purlin_tensor,
    power: i64,
    products: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let tensors = tensor::input("tensors", tensors)?;
        let vectors = tensor::input("vectors", vectors)?;
        let mut products = tensor::output("products", products)?;
        overlap::check(
            &[Range::of("tensors", &tensors), Range::of("vectors", &vectors)],
            &[Range::of("products", &products)],
        )?;
        sshopm::product(&context, stream.as_deref(), &tensors, &vectors, power, &mut products)
    })
}

/// Start vectors, unit and the same on every backend. O(n V).
///
/// @param      context  the context of the result.
/// @param      stream   NULL for the context's own.
/// @param      kind     one of PURLIN_STARTS_*, not AUTO. The Fibonacci and icosahedral sets need n = 3. Random vectors
///                      are those of the first tensor of a solve with the same seed.
/// @param      seed     seed of random vectors; 0 for other kinds.
/// @param      starts   n x V, F32 or F64, on the host or the device.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (AUTO or an unknown
/// `kind`, a kind that has no points for n or V, a seed that is not used, sizes, type, read-only, another context),
/// `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_sshopm_starts(
    context: *const purlin_context,
    stream: *const purlin_stream,
    kind: i32,
    seed: u64,
    starts: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let mut starts = tensor::output("starts", starts)?;
        let kind = StartKind::from_code("kind", kind)?;
        sshopm::starts(&context, stream.as_deref(), kind, seed, &mut starts)
    })
}

/// Residuals, projected Hessians and classes of given pairs.
///
/// The projected Hessian is U^T ((m - 1) A x^(m-2) - lambda I) U with U an orthonormal basis of the tangent plane at
/// x. One product A x^(m-2) and O(n^3) operations a pair.
///
/// @param      context               the context of all tensors.
/// @param      stream                NULL for the context's own.
/// @param      tensors               symmetric batch of T tensors, order m, dimension n; F32 or F64.
/// @param      values                V x T, the type of `tensors`.
/// @param      vectors               n x V x T unit vectors, the type of `tensors`.
/// @param      degeneracy_tolerance  as in purlin_sshopm_options.
/// @param      residuals             V x T; may be NULL.
/// @param      hessian               (n - 1) x V x T, eigenvalues ascending; may be NULL.
/// @param      classes               I32, V x T: one of PURLIN_PAIR_*; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types,
/// `degeneracy_tolerance`, read-only outputs, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided device
/// memory in `values` or an output; an order above 32 or a dimension above 16 with a tensor on the device),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_sshopm_classify(
    context: *const purlin_context,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    values: *const purlin_tensor,
    vectors: *const purlin_tensor,
    degeneracy_tolerance: f64,
    residuals: *mut purlin_tensor,
    hessian: *mut purlin_tensor,
    classes: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let tensors = tensor::input("tensors", tensors)?;
        let values = tensor::input("values", values)?;
        let vectors = tensor::input("vectors", vectors)?;
        let mut residuals = tensor::output_or_null("residuals", residuals)?;
        let mut hessian = tensor::output_or_null("hessian", hessian)?;
        let mut classes = tensor::output_or_null("classes", classes)?;
        let outputs: Vec<_> = [("residuals", &residuals), ("hessian", &hessian), ("classes", &classes)]
            .into_iter()
            .filter_map(|(name, t)| t.as_deref().map(|t| Range::of(name, t)))
            .collect();
        overlap::check(
            &[Range::of("tensors", &tensors), Range::of("values", &values), Range::of("vectors", &vectors)],
            &outputs,
        )?;
        sshopm::classify(
            &context,
            stream.as_deref(),
            &tensors,
            &values,
            &vectors,
            degeneracy_tolerance,
            residuals.as_deref_mut(),
            hessian.as_deref_mut(),
            classes.as_deref_mut(),
        )
    })
}
