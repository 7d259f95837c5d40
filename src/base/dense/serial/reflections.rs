//! Householder QR, blocked.
//!
//! faer's own factorization leaves out columns whose remainder is below 16 m eps of their norm: for 2000 rows in single
//! precision that is 4e-3. Here every column is reflected, so that X = Q R holds to roundoff whatever the rank.

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
    apply_block_householder_transpose_on_the_left_in_place_scratch,
    apply_block_householder_transpose_on_the_left_in_place_with_conj, make_householder_in_place,
    upgrade_householder_factor,
};
use faer::traits::ComplexField;
use faer::{Conj, MatMut, MatRef, Par};

use crate::scalar::{Real, Scalar};

/// A type of linear algebra of both crates.
pub(super) trait Number: Scalar + ComplexField<Real = <Self as Scalar>::Part> {}

impl<T: Scalar + ComplexField<Real = <T as Scalar>::Part>> Number for T {}

/// Columns of a panel, which are reflected one by one before the rest of the matrix is updated.
const PANEL: usize = 16;

/// Rows of the coefficients of `cols` reflections.
pub fn coefficient_rows(cols: usize) -> usize {
    cols.min(PANEL)
}

/// Working memory of [`factor`] and [`apply`] for a matrix with `rows` rows and `cols` columns.
pub(super) fn scratch<T: Number>(rows: usize, cols: usize) -> StackReq {
    StackReq::any_of(&[
        apply_block_householder_transpose_on_the_left_in_place_scratch::<T>(rows, PANEL, cols),
        apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(rows, PANEL, cols),
    ])
}

/// Factorizes `a`, which has at least as many rows as columns. Its upper triangle becomes R. Below the diagonal are the
/// reflections' vectors, whose first entry is 1. `coefficients` becomes their block coefficients.
pub(super) fn factor<T: Number>(mut a: MatMut<'_, T>, mut coefficients: MatMut<'_, T>, stack: &mut MemStack) {
    let (rows, cols) = a.shape();
    for first in (0..cols).step_by(PANEL) {
        let count = PANEL.min(cols - first);
        let (left, rest) = a.as_mut().subrows_mut(first, rows - first).split_at_col_mut(first + count);
        let mut panel = left.subcols_mut(first, count);
        let mut block = coefficients.as_mut().submatrix_mut(0, first, count, count);
        for j in 0..count {
            let tau = reflect(panel.as_mut(), j);
            block[(j, j)] = T::from_parts(tau, 0.0);
        }
        upgrade_householder_factor(block.as_mut(), panel.as_ref(), count, 1, Par::Seq);
        if rest.ncols() > 0 {
            apply_block_householder_transpose_on_the_left_in_place_with_conj(
                panel.as_ref(),
                block.as_ref(),
                Conj::Yes,
                rest,
                Par::Seq,
                stack,
            );
        }
    }
}

/// Reflects column j of a panel onto its diagonal, and the panel's columns after it. Returns tau of I - v v^H / tau.
fn reflect<T: Number>(panel: MatMut<'_, T>, j: usize) -> f64 {
    let (top, mut below) = panel.split_at_row_mut(j + 1);
    let mut top = top.subrows_mut(j, 1);
    let (head, row) = top.as_mut().split_at_col_mut(j + 1);
    let (left, mut right) = below.as_mut().split_at_col_mut(j + 1);
    let mut row = row.row_mut(0);
    let mut tail = left.col_mut(j);
    let info = make_householder_in_place(&mut head.col_mut(j)[0], tail.as_mut());
    let tau = Real::to_f64(info.tau);
    if !tau.is_finite() {
        // No reflection: the entries below the diagonal are 0 or too small to be normal numbers.
        tail.fill(T::default());
        return f64::INFINITY;
    }
    let inverse = 1.0 / tau;
    for (k, column) in right.as_mut().col_iter_mut().enumerate() {
        let mut dot = row[k];
        for (v, x) in tail.as_ref().iter().zip(column.as_ref().iter()) {
            dot += v.conjugate() * *x;
        }
        let step = T::from_parts(dot.re() * inverse, dot.im() * inverse);
        row[k] -= step;
        for (v, x) in tail.as_ref().iter().zip(column.iter_mut()) {
            *x -= step * *v;
        }
    }
    tau
}

/// `matrix` := Q `matrix` for the square orthogonal matrix Q of the reflections from [`factor`].
pub(super) fn apply<T: Number>(
    factored: MatRef<'_, T>,
    coefficients: MatRef<'_, T>,
    matrix: MatMut<'_, T>,
    stack: &mut MemStack,
) {
    apply_block_householder_sequence_on_the_left_in_place_with_conj(
        factored,
        coefficients,
        Conj::No,
        matrix,
        Par::Seq,
        stack,
    );
}
