//! Loops over the rows of vectors on the pool. Sums are of pieces that depend on the number of rows alone, in order.

use super::panel::Panel;
use super::space::WHAT;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::cpu::sums::squares;
use crate::error::Result;
use crate::lanczos::ops::{LIGHT, PIECE};
use crate::scalar::Scalar;

/// to += factor from, element by element.
pub(super) fn add<T: Scalar>(context: &Context, factor: f64, from: &[T], to: &mut [T]) {
    let factor = T::from_parts(factor, 0.0);
    context.pool().run_here(|| {
        to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).with_min_len(LIGHT).for_each(|(to, from)| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * *from);
        });
    });
}

/// The sum of `of` over the pieces of `v`; `of` takes the first row of a piece and the piece.
pub(super) fn sum<T: Scalar>(context: &Context, v: &[T], of: impl Fn(usize, &[T]) -> f64 + Sync) -> f64 {
    let pieces: Vec<f64> = context.pool().run_here(|| {
        v.par_chunks(PIECE).enumerate().with_min_len(LIGHT).map(|(i, piece)| of(i * PIECE, piece)).collect()
    });
    pieces.iter().sum()
}

/// Partial coefficients of a vector, one column for each piece.
pub(super) struct Coefficients<T> {
    pub(super) count: usize,
    pub(super) partial: Vec<T>,
}

impl<T: Scalar> Coefficients<T> {
    pub(super) fn new(n: usize, count: usize) -> Result<Self> {
        Ok(Self { count, partial: alloc::filled(WHAT, n.div_ceil(PIECE).max(1) * count, T::default())? })
    }

    /// The sums over the pieces, in order.
    pub(super) fn total(&self) -> Result<Vec<T>> {
        let mut out = alloc::with_capacity(WHAT, self.count)?;
        out.extend(self.wide()?.into_iter().map(T::narrow));
        Ok(out)
    }

    /// The sums of [`Coefficients::total`] before they are rounded.
    pub(super) fn wide(&self) -> Result<Vec<T::Wide>> {
        let mut total = alloc::filled(WHAT, self.count, T::Wide::from_parts(0.0, 0.0))?;
        for piece in self.partial.chunks_exact(self.count.max(1)) {
            total.iter_mut().zip(piece).for_each(|(t, p)| *t += p.widen());
        }
        Ok(total)
    }
}

/// Computes w -= V h if there is an `h`, then, if `into` is given, the coefficients V^H w of each piece. Returns the
/// sums of squares of w before and after. `v` has the columns of V.
pub(super) fn project<T: Scalar>(
    context: &Context,
    v: &[T],
    w: &mut [T],
    h: Option<&[T]>,
    into: Option<&mut Coefficients<T>>,
) -> (f64, f64) {
    let (n, isa) = (w.len(), context.isa());
    let count = v.len() / n.max(1);
    let mut nothing = Vec::new();
    let partial = into.map_or(&mut nothing, |c| &mut c.partial);
    let work = |first: usize, w: &mut [T], out: &mut [T]| {
        let panel = Panel { data: v.get(first..).unwrap_or_default(), stride: n, count };
        let before = squares(w);
        let Some(h) = h else {
            if !out.is_empty() {
                panel.coefficients(isa, w, out);
            }
            return (before, before);
        };
        panel.subtract(isa, h, w);
        if !out.is_empty() {
            panel.coefficients(isa, w, out);
        }
        (before, squares(w))
    };
    let pieces: Vec<(f64, f64)> = context.pool().run_here(|| {
        let rows = w.par_chunks_mut(PIECE).enumerate();
        if partial.is_empty() {
            rows.map(|(i, w)| work(i * PIECE, w, &mut [])).collect()
        } else {
            rows.zip(partial.par_chunks_mut(count)).map(|((i, w), out)| work(i * PIECE, w, out)).collect()
        }
    });
    pieces.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d))
}
