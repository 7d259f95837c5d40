//! Singular triplets by Lanczos' method.

use super::lanczos::{check_lists, hand_over, read_options};
use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::matrix::{self, purlin_matrix};
use super::overlap::{self, ranges, stored};
use super::sparse::alive;
use super::tensor::{self, purlin_tensor};
use super::{callback, guard, options, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::lanczos::operator::Kind;
use crate::lanczos::singular::{Request, Through, singular_triplets};
use crate::lanczos::{Info, Options};
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::scalar::{Scalar, with_scalar};
use crate::tensor::Tensor;

/// The arguments beside the matrix.
struct Call<'a> {
    through: Through,
    options: &'a Options,
    start: Option<&'a Tensor>,
    u: Option<&'a mut Matrix>,
    values: &'a mut Tensor,
    v: Option<&'a mut Matrix>,
    residuals: Option<&'a mut Tensor>,
}

impl Call<'_> {
    fn run<T: Scalar>(mut self, a: &Matrix, report: Option<&ProgressFn<'_>>) -> Result<(Info, usize)> {
        let (context, k) = (a.context(), self.options.count);
        check_lists(context, k, &[("values", Some(&*self.values)), ("residuals", self.residuals.as_deref())])?;
        for (name, vectors, n) in [("u", &mut self.u, a.rows()), ("v", &mut self.v, a.cols())] {
            let Some(vectors) = vectors else { continue };
            vectors.expect_context(name, context)?;
            vectors.expect_dtype(name, T::DTYPE)?;
            vectors.expect_size(name, n, k)?;
            vectors.dense_mut(name)?.memory.host(name)?;
        }
        let start = match self.start {
            None => None,
            Some(start) => {
                let n = a.rows().min(a.cols());
                start.expect_context("start", context)?;
                start.expect_dims("start", &[n])?;
                let mut packed = crate::alloc::filled("start vector", n, T::default())?;
                start.view::<T>("start")?.read_column(&[], &mut packed);
                Some(packed)
            }
        };
        let vectors = [self.u.is_some(), self.v.is_some()];
        let request = Request { through: self.through, start: start.as_deref(), vectors };
        let found = singular_triplets::<T>(context, a, request, self.options, &context.progress(report))?;
        self.values.set_first("values", &found.values)?;
        for (name, vectors, columns) in [("u", &mut self.u, &found.left), ("v", &mut self.v, &found.right)] {
            if let Some(vectors) = vectors {
                vectors.dense_mut(name)?.set_columns(name, columns)?;
            }
        }
        if let Some(residuals) = &mut self.residuals {
            residuals.set_first("residuals", &found.residuals)?;
        }
        Ok((found.info, found.values.len()))
    }
}

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
/// `options` and `info` are NULL or initialised structs; `options->progress` may be called with its user pointer during
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
        let request = read_options(&o)?;
        request.expect_alone()?;
        request.expect_no_order()?;
        let through = match request.kind {
            Kind::Matrix => Through::Auto,
            Kind::Gram => Through::Gram,
            Kind::Augmented => Through::Augmented,
            other => {
                let problem = format!("is {} ({other:?}), Matrix, Gram or Augmented is needed", o.kind);
                return Err(Error::invalid("kind", problem));
            }
        };
        if request.shift != 0.0 {
            return Err(Error::invalid("shift", format!("is {}, singular values have none", request.shift)));
        }
        let wanted = request.options.count;
        let outputs = ranges(
            &[("u", u.as_deref()), ("v", v.as_deref())],
            &[("values", Some(&values)), ("residuals", residuals.as_deref())],
        );
        let given = ranges(&[], &[("options->start", start.as_deref())]);
        overlap::check(&[stored("a", &a), given].concat(), &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let report = report.as_ref().map(|f| f as &ProgressFn<'_>);
        let call = Call {
            through,
            options: &request.options,
            start: start.as_deref(),
            u: u.as_deref_mut(),
            values: &mut values,
            v: v.as_deref_mut(),
            residuals: residuals.as_deref_mut(),
        };
        let (found, count) = with_scalar!(a.dtype(), "a", T => call.run::<T>(&a, report))?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { hand_over(info, &found, count, wanted) }
    })
}
