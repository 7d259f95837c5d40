//! Singular triplets by Lanczos' method.

use super::lanczos::{session_of, write_and_check};
use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::matrix::{self, purlin_matrix};
use super::overlap::{self, ranges, stored};
use super::sparse::alive;
use super::tensor::{self, purlin_tensor};
use super::{callback, guard, options, purlin_status, purlin_stream, stream};
use crate::lanczos::outputs::TripletOutputs;
use crate::progress::ProgressFn;

/// Computes k singular triplets A v = s u, A^H u = s v of a sparse matrix: the largest or the smallest.
///
/// The largest begin with the eigenvectors of A^H A or A A^H, whichever is smaller (`options->kind` PURLIN_LANCZOS_MATRIX, the
/// default, or GRAM), or of [0 A; A^H 0] (AUGMENTED; Golub and Kahan, SIAM J. Numer. Anal. 2, 1965), none of which is formed. A
/// Rayleigh-Ritz step follows, and the residuals of both equations are computed. Values below sqrt(eps) ||A|| are lost in A^H A:
/// where the residuals are too large, and for the smallest values of the default kind at once, Golub-Kahan-Lanczos with thick
/// restart finds the triplets (Baglama and Reichel, SIAM J. Sci. Comput. 27, 2005). It squares nothing, and keeps `basis`
/// vectors of both sizes. Values are then accurate to about eps ||A||, and u and v are orthonormal also where values are 0.
///
/// A triplet has converged when the larger of its residuals is at most 2 `tolerance` s, or 16 sqrt(m) eps ||A|| where that is more.
/// Copies of multiple values are looked for unless `verify` is OFF. `method`, `block`, `orthogonality` and `filter` are of the
/// eigenvectors of A^H A: with them the search begins there whatever the kind and `which`.
///
/// The same build, input and options give the same bits, whatever the number of threads.
///
/// @param      a          sparse or an operator of the caller's, rows x cols, neither NaN nor infinite.
/// @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      options    `count` is k, at most min(rows, cols); `which` PURLIN_LANCZOS_LARGEST or, not with
///                        PURLIN_LANCZOS_AUGMENTED, PURLIN_LANCZOS_SMALLEST; `shift` is 0; `start` a start vector or NULL.
///                        NULL for the defaults: the 6 largest.
/// @param      u          dense, rows x k, of a's type, any order, on the host: left vectors, orthonormal; NULL if not wanted.
/// @param      values     k elements of PURLIN_F64 on the host: singular values in the order that `which` says.
/// @param      v          dense, cols x k, as `u`: right vectors.
/// @param      residuals  k elements of PURLIN_F64 on the host: the larger of ||A v - s u||_2 and ||A^H u - s v||_2, computed from
///                        the vectors; NULL if not wanted.
/// @param[out] info       what was done, where a product is one with A and one with A^H, and `norm` is that of A; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (options out of range, another
/// kind, sizes, types, overlap; a start vector that is 0 or not finite), `PURLIN_ERROR_NO_CONVERGENCE` (`info->count` triplets are
/// in the outputs, the first `info->converged` of them good; what is beyond is as it was), `PURLIN_ERROR_NOT_SUPPORTED` (storage,
/// the smallest with PURLIN_LANCZOS_AUGMENTED), `PURLIN_ERROR_NUMERICAL` (products that are not finite), `PURLIN_ERROR_IO` (the
/// caller's function reported an error), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` and `info` are NULL or initialised structs, the contexts of `options` as many as it says; `options->progress` may be called with its user pointer during
/// the call.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_singular(
    a: *const purlin_matrix,
    stream: *const purlin_stream,
    options: *const purlin_lanczos_options,
    u: *mut purlin_matrix,
    values: *mut purlin_tensor,
    v: *mut purlin_matrix,
    residuals: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        let _stream = stream::before(a.context(), stream)?;
        let mut u = matrix::output_or_null("u", u)?;
        let mut values = tensor::output("values", values)?;
        let mut v = matrix::output_or_null("v", v)?;
        let mut residuals = tensor::output_or_null("residuals", residuals)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        let o = unsafe { options::read("options", options) }?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { options::check("info", info) }?;
        let start = tensor::input_or_null("options->start", o.start)?;
        // SAFETY: the caller promises as many contexts as it says.
        let lanczos = unsafe { session_of(a.context(), &o) }?;
        let outputs = ranges(
            &[("u", u.as_deref()), ("v", v.as_deref())],
            &[("values", Some(&values)), ("residuals", residuals.as_deref())],
        );
        let given = ranges(&[], &[("options->start", start.as_deref())]);
        overlap::check(&[stored("a", &a), given].concat(), &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let report = report.as_ref().map(|f| f as &ProgressFn<'_>);
        let outputs = TripletOutputs {
            u: u.as_deref_mut(),
            values: &mut values,
            v: v.as_deref_mut(),
            residuals: residuals.as_deref_mut(),
        };
        let found = lanczos.singular(&a, start.as_deref(), outputs, report)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { write_and_check(info, &found, lanczos.problem().options.count) }
    })
}
