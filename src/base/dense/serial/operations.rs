//! Products and factorizations on the calling thread.

use std::marker::PhantomData;

use super::super::view::{Accum, Mat, MatMut};
use super::reflections;
use crate::alloc;
use crate::error::Result;
use crate::scalar::{ByScalar, Complex, Generic, Scalar};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul_with_conj;
use faer::linalg::matmul::triangular::{BlockStructure, matmul_with_conj as matmul_of_blocks};
use faer::linalg::svd::{ComputeSvdVectors, svd as thin_svd, svd_scratch as thin_svd_scratch};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place_with_conj;
use faer::{Conj, Par};

/// The name of a factorization's working memory in errors.
pub(in crate::dense) const STACK: &str = "working memory of a factorization";

/// Calls `work` with the working memory of a factorization, which is charged to nobody.
pub(in crate::dense) fn with_uncharged_stack<R>(need: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> Result<R> {
    let bytes = need.unaligned_bytes_required();
    alloc::fault_point(STACK, bytes)?;
    let mut memory = alloc::refusable(|| MemBuffer::try_new(need)).map_err(|_| alloc::out_of_memory(STACK, bytes))?;
    Ok(work(MemStack::new(&mut memory)))
}

/// Calls a function of [`Kernels`] for the type that `T` is.
macro_rules! for_every_type {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        $(#[$doc])*
        #[inline]
        $visibility fn $name<'a, T: Scalar>($($arg: $type),*) $(-> $result)? {
            struct Arguments<'a>(PhantomData<&'a ()>);
            impl<'a> Generic for Arguments<'a> {
                type Of<T: Scalar> = ($($type,)*);
            }
            match T::known::<Arguments<'a>>(($($arg,)*)) {
                ByScalar::F32(($($arg,)*)) => <f32 as Kernels>::$name($($arg),*),
                ByScalar::F64(($($arg,)*)) => <f64 as Kernels>::$name($($arg),*),
                ByScalar::CF32(($($arg,)*)) => <Complex<f32> as Kernels>::$name($($arg),*),
                ByScalar::CF64(($($arg,)*)) => <Complex<f64> as Kernels>::$name($($arg),*),
            }
        }
    )*};
}

/// Calls a function of [`WideKernels`] for the double-precision type of `T`.
macro_rules! for_double_precision {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        $(#[$doc])*
        #[inline]
        $visibility fn $name<'a, T: Scalar>($($arg: $type),*) $(-> $result)? {
            struct Arguments<'a>(PhantomData<&'a ()>);
            impl<'a> Generic for Arguments<'a> {
                type Of<T: Scalar> = ($($type,)*);
            }
            match T::known::<Arguments<'a>>(($($arg,)*)) {
                ByScalar::F32(($($arg,)*)) | ByScalar::F64(($($arg,)*)) => <f64 as WideKernels>::$name($($arg),*),
                ByScalar::CF32(($($arg,)*)) | ByScalar::CF64(($($arg,)*)) => {
                    <Complex<f64> as WideKernels>::$name($($arg),*)
                }
            }
        }
    )*};
}

for_every_type! {
    /// C = alpha A B, or with [`Accum::Add`] C += alpha A B.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn multiply(c: MatMut<'a, T>, accumulate: Accum, a: Mat<'a, T>, b: Mat<'a, T>, alpha: T);

    /// Replaces the lower triangle of `a` by L of A = L L^H. Only the lower triangle of `a` is read. Returns whether A is
    /// positive definite; else `a` is undefined.
    pub(in crate::dense) fn cholesky(a: MatMut<'a, T>, stack: &'a mut MemStack) -> bool;

    /// Working memory of [`cholesky`] for a matrix of that order.
    pub(in crate::dense) fn cholesky_scratch(order: usize) -> StackReq;

    /// Factorizes `a`, which has at least as many rows as columns, by Householder reflections. Its upper triangle becomes
    /// R. Below the diagonal are the reflections' vectors, whose first entry is 1. `coefficients`, with
    /// [`coefficient_rows`] rows, become their block coefficients.
    pub(in crate::dense) fn reflect(a: MatMut<'a, T>, coefficients: MatMut<'a, T>, stack: &'a mut MemStack);

    /// Working memory of [`reflect`] and [`apply_reflections`] for a matrix of that shape.
    pub(in crate::dense) fn reflections_scratch(rows: usize, cols: usize) -> StackReq;
}

for_double_precision! {
    /// Adds the lower triangle of A B to that of C. The upper triangle of C is neither read nor written.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn add_lower(c: MatMut<'a, T::Wide>, a: Mat<'a, T::Wide>, b: Mat<'a, T::Wide>);

    /// X := L^-1 X for a lower triangle L.
    pub(in crate::dense) fn solve_lower(l: Mat<'a, T::Wide>, x: MatMut<'a, T::Wide>);

    /// `matrix` := Q `matrix` for the square orthogonal matrix Q of the reflections from [`reflect`].
    pub(in crate::dense) fn apply_reflections(
        factored: Mat<'a, T::Wide>,
        coefficients: Mat<'a, T::Wide>,
        matrix: MatMut<'a, T::Wide>,
        stack: &'a mut MemStack
    );

    /// Singular values and vectors of a square matrix. Returns whether the iteration converged.
    pub(in crate::dense) fn svd(
        a: Mat<'a, T::Wide>,
        values: &'a mut [T::Wide],
        u: MatMut<'a, T::Wide>,
        v: MatMut<'a, T::Wide>,
        stack: &'a mut MemStack
    ) -> bool;

    /// Working memory of [`svd`] for a matrix of that order.
    pub(in crate::dense) fn svd_scratch(order: usize) -> StackReq;

    /// Eigenvalues, ascending, and eigenvectors of the Hermitian matrix whose lower triangle is that of `a`. Returns whether
    /// the iteration converged.
    pub(in crate::dense) fn eigen(
        a: Mat<'a, T::Wide>,
        values: &'a mut [T::Wide],
        u: MatMut<'a, T::Wide>,
        stack: &'a mut MemStack
    ) -> bool;

    /// Working memory of [`eigen`] for a matrix of that order.
    pub(in crate::dense) fn eigen_scratch(order: usize) -> StackReq;
}

/// faer's functions for one type. Nothing outside this file can call or implement it.
trait Kernels: Sized {
    fn multiply(c: MatMut<'_, Self>, accumulate: Accum, a: Mat<'_, Self>, b: Mat<'_, Self>, alpha: Self);
    fn cholesky(a: MatMut<'_, Self>, stack: &mut MemStack) -> bool;
    fn cholesky_scratch(order: usize) -> StackReq;
    fn reflect(a: MatMut<'_, Self>, coefficients: MatMut<'_, Self>, stack: &mut MemStack);
    fn reflections_scratch(rows: usize, cols: usize) -> StackReq;
}

/// The same, of double precision alone.
trait WideKernels: Sized {
    fn add_lower(c: MatMut<'_, Self>, a: Mat<'_, Self>, b: Mat<'_, Self>);
    fn solve_lower(l: Mat<'_, Self>, x: MatMut<'_, Self>);
    fn apply_reflections(
        factored: Mat<'_, Self>,
        coefficients: Mat<'_, Self>,
        matrix: MatMut<'_, Self>,
        stack: &mut MemStack,
    );
    fn svd(
        a: Mat<'_, Self>,
        values: &mut [Self],
        u: MatMut<'_, Self>,
        v: MatMut<'_, Self>,
        stack: &mut MemStack,
    ) -> bool;
    fn svd_scratch(order: usize) -> StackReq;
    fn eigen(a: Mat<'_, Self>, values: &mut [Self], u: MatMut<'_, Self>, stack: &mut MemStack) -> bool;
    fn eigen_scratch(order: usize) -> StackReq;
}

fn conj<T>(m: Mat<'_, T>) -> Conj {
    if m.is_conjugated() { Conj::Yes } else { Conj::No }
}

macro_rules! kernels {
    ($($t:ty),*) => {$(
        impl Kernels for $t {
            #[inline(never)]
            fn multiply(c: MatMut<'_, Self>, accumulate: Accum, a: Mat<'_, Self>, b: Mat<'_, Self>, alpha: Self) {
                let accumulate = match accumulate {
                    Accum::Replace => faer::Accum::Replace,
                    Accum::Add => faer::Accum::Add,
                };
                let (conj_a, conj_b) = (conj(a), conj(b));
                matmul_with_conj(c.into_inner(), accumulate, a.stored(), conj_a, b.stored(), conj_b, alpha, Par::Seq);
            }

            #[inline(never)]
            fn cholesky(a: MatMut<'_, Self>, stack: &mut MemStack) -> bool {
                cholesky_in_place(a.into_inner(), Default::default(), Par::Seq, stack, Default::default()).is_ok()
            }

            fn cholesky_scratch(order: usize) -> StackReq {
                cholesky_in_place_scratch::<Self>(order, Par::Seq, Default::default())
            }

            #[inline(never)]
            fn reflect(a: MatMut<'_, Self>, coefficients: MatMut<'_, Self>, stack: &mut MemStack) {
                reflections::factor(a.into_inner(), coefficients.into_inner(), stack);
            }

            fn reflections_scratch(rows: usize, cols: usize) -> StackReq {
                reflections::scratch::<Self>(rows, cols)
            }
        }
    )*};
}
kernels!(f32, f64, Complex<f32>, Complex<f64>);

macro_rules! wide_kernels {
    ($($t:ty),*) => {$(
        impl WideKernels for $t {
            #[inline(never)]
            fn add_lower(c: MatMut<'_, Self>, a: Mat<'_, Self>, b: Mat<'_, Self>) {
                matmul_of_blocks(
                    c.into_inner(),
                    BlockStructure::TriangularLower,
                    faer::Accum::Add,
                    a.stored(),
                    BlockStructure::Rectangular,
                    conj(a),
                    b.stored(),
                    BlockStructure::Rectangular,
                    conj(b),
                    Self::from_parts(1.0, 0.0),
                    Par::Seq,
                );
            }

            #[inline(never)]
            fn solve_lower(l: Mat<'_, Self>, x: MatMut<'_, Self>) {
                solve_lower_triangular_in_place_with_conj(l.stored(), conj(l), x.into_inner(), Par::Seq);
            }

            #[inline(never)]
            fn apply_reflections(
                factored: Mat<'_, Self>,
                coefficients: Mat<'_, Self>,
                matrix: MatMut<'_, Self>,
                stack: &mut MemStack,
            ) {
                reflections::apply(factored.stored(), coefficients.stored(), matrix.into_inner(), stack);
            }

            #[inline(never)]
            fn svd(
                a: Mat<'_, Self>,
                values: &mut [Self],
                u: MatMut<'_, Self>,
                v: MatMut<'_, Self>,
                stack: &mut MemStack,
            ) -> bool {
                let (diagonal, u, v) = (DiagMut::from_slice_mut(values), u.into_inner(), v.into_inner());
                thin_svd(a.stored(), diagonal, Some(u), Some(v), Par::Seq, stack, Default::default()).is_ok()
            }

            fn svd_scratch(order: usize) -> StackReq {
                let thin = ComputeSvdVectors::Thin;
                thin_svd_scratch::<Self>(order, order, thin, thin, Par::Seq, Default::default())
            }

            #[inline(never)]
            fn eigen(a: Mat<'_, Self>, values: &mut [Self], u: MatMut<'_, Self>, stack: &mut MemStack) -> bool {
                let (diagonal, u) = (DiagMut::from_slice_mut(values), u.into_inner());
                self_adjoint_evd(a.stored(), diagonal, Some(u), Par::Seq, stack, Default::default()).is_ok()
            }

            fn eigen_scratch(order: usize) -> StackReq {
                self_adjoint_evd_scratch::<Self>(order, ComputeEigenvectors::Yes, Par::Seq, Default::default())
            }
        }
    )*};
}
wide_kernels!(f64, Complex<f64>);
