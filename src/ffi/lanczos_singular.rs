//! The eigensolver: singular triplets, by an object or by one call.

use super::handle::{Exclusive, Shared};
use super::lanczos::{LanczosObject, purlin_lanczos};
use super::lanczos_convert::{session_of, write_and_check};
use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::matrix::{self, purlin_matrix};
use super::overlap::{self, ranges, stored};
use super::sparse::alive;
use super::tensor::{self, purlin_tensor};
use super::{callback, context, guard, options, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::lanczos::Info;
use crate::lanczos::outputs::TripletOutputs;
use crate::lanczos::session::Lanczos;
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::tensor::Tensor;

/// The locked arguments beside the matrix.
struct Arguments {
    start: Option<Shared<Tensor>>,
    u: Option<Exclusive<Matrix>>,
    values: Exclusive<Tensor>,
    v: Option<Exclusive<Matrix>>,
    residuals: Option<Exclusive<Tensor>>,
}

impl Arguments {
    fn lock(
        start: *const purlin_tensor,
        (u, v): (*mut purlin_matrix, *mut purlin_matrix),
        (values, residuals): (*mut purlin_tensor, *mut purlin_tensor),
    ) -> Result<Self> {
        Ok(Self {
            start: tensor::input_or_null("start", start)?,
            u: matrix::output_or_null("u", u)?,
            values: tensor::output("values", values)?,
            v: matrix::output_or_null("v", v)?,
            residuals: tensor::output_or_null("residuals", residuals)?,
        })
    }

    fn check_overlap(&self, a: &Matrix) -> Result<()> {
        let outputs = ranges(
            &[("u", self.u.as_deref()), ("v", self.v.as_deref())],
            &[("values", Some(&self.values)), ("residuals", self.residuals.as_deref())],
        );
        let given = ranges(&[], &[("start", self.start.as_deref())]);
        overlap::check(&[stored("a", a), given].concat(), &outputs)
    }

    fn run(&mut self, lanczos: &Lanczos, a: &Matrix, report: Option<&ProgressFn<'_>>) -> Result<Info> {
        let outputs = TripletOutputs {
            u: self.u.as_deref_mut(),
            values: &mut self.values,
            v: self.v.as_deref_mut(),
            residuals: self.residuals.as_deref_mut(),
        };
        lanczos.singular(a, self.start.as_deref(), outputs, report)
    }
}

/// Gives the plan of a purlin_lanczos_singular: the method and why, the vectors of its first space, and the memory of
/// the run, with Golub-Kahan-Lanczos where that begins or may follow. The run reports the same `method`, `reason`,
/// `host_bytes` and `device_bytes`. O(1), on a GPU O(nnz) until the matrix is there; no products.
///
/// The plan refuses the same options, matrices and limits of memory as purlin_lanczos_singular, with the same status and
/// message, and accepts all others. Entries are not read.
///
/// @param      lanczos  the solver, as for purlin_lanczos_singular.
/// @param      a        the matrix, as for purlin_lanczos_singular.
/// @param[out] info     `method`, `reason`, `basis`, `degree`, `host_bytes`, `device_bytes` and `contexts`, which is 1, are
///                      filled in, of a sparse matrix also `part_rows`, `part_entries` and `product_bytes`, of a product with
///                      A and one with A^H; the rest is 0. Initialize it with purlin_lanczos_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// options that purlin_lanczos_singular does not use or the matrix is too small for, another kind, several contexts, a
/// matrix of another context), `PURLIN_ERROR_NOT_SUPPORTED` (storage, the smallest with PURLIN_LANCZOS_AUGMENTED),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_plan_singular(
    lanczos: *const purlin_lanczos,
    a: *const purlin_matrix,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let lanczos = LanczosObject::shared(lanczos)?;
        let a = alive("a", a)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::check("info", info) }?;
        let plan = lanczos.plan_singular(&a)?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_lanczos_info::of(&plan)) }
    })
}

/// Computes k singular triplets A v = s u, A^H u = s v of a sparse matrix: the largest or the smallest.
///
/// The largest begin with the eigenvectors of A^H A or A A^H, whichever is smaller (`options->kind`
/// PURLIN_LANCZOS_MATRIX, the default, or GRAM), or of [0 A; A^H 0] (AUGMENTED; Golub and Kahan, SIAM J. Numer. Anal.
/// 2, 1965). None of these is formed. A Rayleigh-Ritz step follows, and the residuals of both equations are computed.
/// Values below sqrt(eps) ||A|| are lost in A^H A: where the residuals are too large, and for the smallest values of
/// the default kind at once, Golub-Kahan-Lanczos with thick restart finds the triplets (Baglama and Reichel, SIAM J.
/// Sci. Comput. 27, 2005). It squares nothing, and keeps `basis` vectors of both sizes. Values are then accurate to
/// about eps ||A||, and u and v are orthonormal also where values are 0. A step takes one product with A, one with
/// A^H, and O(basis min(rows, cols)) operations of orthogonalization, O(basis (rows + cols)) with Golub-Kahan-Lanczos.
///
/// A triplet has converged when the larger of its residuals is at most 2 `tolerance` s, or 16 sqrt(m) eps ||A|| where
/// that is more. Copies of multiple values are looked for unless `verify` is OFF. `method`, `block`,
/// `orthogonalization` and `filter` are of the eigenvectors of A^H A: with them the search begins there whatever the
/// kind and `which`.
///
/// The same build, input and options give the same bits, whatever the number of threads.
///
/// @param      lanczos    the solver, on one context: `count` is k, at most min(rows, cols); `which`
///                        PURLIN_LANCZOS_LARGEST or, not with PURLIN_LANCZOS_AUGMENTED, PURLIN_LANCZOS_SMALLEST;
///                        `shift` is 0.
/// @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      a          sparse or an operator of the caller's, rows x cols, neither NaN nor infinite.
/// @param      start      min(rows, cols) elements of a's type on the host, the start vector: a right singular vector if
///                        cols <= rows, else a left one; NULL for a random one.
/// @param      u          dense, rows x k, of a's type, any order, on the host: left vectors, orthonormal; NULL if not
///                        wanted.
/// @param      values     k elements of PURLIN_F64 on the host: singular values in the order that `which` says.
/// @param      v          dense, cols x k, as `u`: right vectors.
/// @param      residuals  k elements of PURLIN_F64 on the host: the larger of ||A v - s u||_2 and ||A^H u - s v||_2,
///                        computed from the vectors; NULL if not wanted.
/// @param[out] info       report of the call: a product counts one with A and one with A^H, `norm` is that of A, and
///                        `basis` is that of Golub-Kahan-Lanczos where that followed; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (options that this call
/// does not use or the matrix is too small for, another kind, sizes, types, overlap; a start vector that is 0 or not
/// finite; an operator whose adjoint a product shows to be another's), `PURLIN_ERROR_NO_CONVERGENCE`
/// (`info->count` triplets are in the outputs, the first `info->converged` of
/// them good; the rest of the outputs is unchanged), `PURLIN_ERROR_NOT_SUPPORTED` (storage, the smallest with
/// PURLIN_LANCZOS_AUGMENTED), `PURLIN_ERROR_NUMERICAL` (products that are not finite, a norm above 1.3e154, in single
/// precision 3.4e38), `PURLIN_ERROR_IO` (the caller's function reported an error), `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure the object is ready for another call.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_singular(
    lanczos: *mut purlin_lanczos,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    start: *const purlin_tensor,
    u: *mut purlin_matrix,
    values: *mut purlin_tensor,
    v: *mut purlin_matrix,
    residuals: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let (object, lanczos) = LanczosObject::exclusive(lanczos)?;
        let _stream = stream::before(lanczos.context(), stream)?;
        let a = alive("a", a)?;
        let mut arguments = Arguments::lock(start, (u, v), (values, residuals))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        arguments.check_overlap(&a)?;
        let found = object.run(|report| arguments.run(&lanczos, &a, report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_and_check(info, &found, lanczos.problem().options.count) }
    })
}

/// Makes one purlin_lanczos_singular with options of its own.
///
/// @param      context    the context of the matrix and the outputs.
/// @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      a          as for purlin_lanczos_singular.
/// @param      start      min(rows, cols) elements of a's type, the start vector; NULL for a random one.
/// @param      options    NULL for the defaults: the 6 largest singular values of `a`.
/// @param      u          dense, rows x k, as for purlin_lanczos_singular; NULL if not wanted.
/// @param      values     k elements of PURLIN_F64 on the host: singular values.
/// @param      v          dense, cols x k, as `u`; NULL if not wanted.
/// @param      residuals  k elements of PURLIN_F64 on the host; NULL if not wanted.
/// @param[out] info       report of the call; may be NULL.
/// @return as purlin_lanczos_create and purlin_lanczos_singular.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs; `options->progress` may be called with its user pointer during the
/// call.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_singular_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    start: *const purlin_tensor,
    options: *const purlin_lanczos_options,
    u: *mut purlin_matrix,
    values: *mut purlin_tensor,
    v: *mut purlin_matrix,
    residuals: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let _stream = stream::before(&context, stream)?;
        let a = alive("a", a)?;
        let mut arguments = Arguments::lock(start, (u, v), (values, residuals))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let o = unsafe { options::read("options", options) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let lanczos = session_of(&context, &o)?;
        arguments.check_overlap(&a)?;
        let report = callback::progress(o.progress, o.progress_user);
        let found = arguments.run(&lanczos, &a, report.as_ref().map(|f| f as &ProgressFn<'_>))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_and_check(info, &found, lanczos.problem().options.count) }
    })
}
