//! The sweep over the sites, from right to left. In this direction the rows of both products of a site are the fastest
//! index of a core or of the environment, so nothing is transposed.
//!
//! With the cores Y (s, n, s') in the rows and X (r, n, r') in the columns, the environment behind a site is
//! E'[b', a'] and the one before it
//!
//! E[b, a] = sum_{i, b', a'} Y[b, i, b'] E'[b', a'] X[a, i, a'],
//!
//! Either T[(b i), a'] = Y E' or T[b', (a i)] = E' X is computed first, whichever is cheaper. If b has fewer values
//! than a vector has lanes, the other lanes are and stay 0.

use super::layout::{Form, Site, Sites, Sizes};
use super::range::{State, Term, finish, rescale, safe_range, scale_operand};
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, Vectorized};
use crate::backend::cpu::small::{Product, prefetch};

/// A train as an array of real numbers, starting at the cut.
#[derive(Clone, Copy)]
pub(super) struct Side<'s, 'c, T> {
    /// The numbers of the core of a site, counted from the cut.
    pub core: &'s dyn Fn(usize) -> &'c [T],
    /// r, n, r' of a site.
    pub shape: Sites<'c>,
    /// Real numbers of an element: 1, or 2 if it is complex.
    pub parts: usize,
}

/// Boundary pairs that are computed together; one pair, (0, 0), for an open train.
pub(super) struct Sweep<'w, 's, 'c, T> {
    /// The train in the rows of all products.
    pub rows: Side<'s, 'c, T>,
    /// The train in the columns of all products. If only one train is real, it is this one.
    pub columns: Side<'s, 'c, T>,
    /// Whether the train in the columns is conjugated.
    pub conjugate: bool,
    /// The values of the bonds at the cut: of the rows' train and of the columns' train.
    pub pair: &'w dyn Fn(usize) -> [usize; 2],
    /// Whether each product's operand is scaled so that the product cannot overflow.
    pub careful: bool,
    /// Whether the cores of the next site are prefetched, because they are probably in no cache.
    pub ahead: bool,
    /// [`Sizes::total`] real numbers of workspace, overwritten.
    pub work: &'w mut [T],
    /// Sizes of the parts of `work`.
    pub sizes: Sizes,
    /// One term for each pair.
    pub terms: &'w mut [Term],
}

impl<T: Vectorized> Kernel<T> for Sweep<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { rows, columns, conjugate, pair, careful, ahead, work, sizes, terms } = self;
        let (wp, cp) = (rows.parts, columns.parts);
        let form = Form { lanes: S::V::LEN, row_parts: wp, column_parts: cp };
        let (least, most) = safe_range::<T>();
        let (environments, rest) = work.split_at_mut(sizes.environment * terms.len());
        let (between, rest) = rest.split_at_mut(sizes.between);
        let (row_buffer, column_buffer) = rest.split_at_mut(sizes.row);
        for (e, term) in environments.chunks_exact_mut(sizes.environment).zip(terms.iter_mut()) {
            e[..form.column(1)].fill(T::ZERO);
            e[0] = T::ONE;
            *term = Term::START;
        }
        let d = rows.shape.count;
        for k in (0..d).rev() {
            if ahead && k > 0 {
                // The hardware prefetcher restarts at each core and at each page.
                prefetch((rows.core)(k - 1));
                prefetch((columns.core)(k - 1));
            }
            let site = Site::at(rows.shape, columns.shape, k);
            let ([s, n, _], [r, _, _]) = (rows.shape.core(k), columns.shape.core(k));
            let (y_core, x_core) = ((rows.core)(k), (columns.core)(k));
            let rows_first = form.rows_first(&site, k == 0);
            let merged = form.merged(&site);
            let (next, here) = (form.column(site.s_next), form.column(site.s));
            // If the rows' core comes first: number of rows of T for one i, and the offset from one i to the next.
            let stretch = if merged { wp * site.s } else { S::V::LEN };
            let blocks = if rows_first && !merged { n } else { 1 };
            let used = form.between(&site, rows_first);
            let all = environments.chunks_exact_mut(sizes.environment).zip(terms.iter_mut());
            for (q, (e, term)) in all.enumerate() {
                if term.state != State::Sound {
                    continue;
                }
                let (mut y, mut x) = (y_core, x_core);
                let pair = if k == 0 || k + 1 == d { pair(q) } else { [0, 0] };
                if k + 1 == d {
                    y = &y[wp * s * n * pair[0]..][..wp * s * n];
                    x = &x[cp * r * n * pair[1]..][..cp * r * n];
                }
                if k == 0 {
                    y = left_row(y, [s, n, site.s_next], pair[0], wp, row_buffer);
                    x = left_row(x, [r, n, site.r_next], pair[1], cp, column_buffer);
                }
                for first in [true, false] {
                    let with_rows = first == rows_first;
                    if careful {
                        let core = if with_rows { y } else { x };
                        let own = if first { &mut e[..next * site.r_next] } else { &mut between[..used] };
                        scale_operand(own, core, term);
                        if term.state != State::Sound {
                            break;
                        }
                    }
                    if k == 0 && !first {
                        let (re, im) = last_sum(y, between, [n, site.s_next], wp, next);
                        finish::<T>(term, re, im, careful);
                        break;
                    }
                    let (own, result): (&[T], &mut [T]) = if first { (e, between) } else { (between, e) };
                    let product = if with_rows {
                        Product {
                            a: y,
                            a_step: [wp * site.s * n, wp * site.s],
                            b: own,
                            b_step: [wp, next * site.r],
                            b_column: next,
                            inner: site.s_next,
                            outer: if first { 1 } else { n },
                            rows: wp * site.s * if first && merged { n } else { 1 },
                            columns: if first { site.r_next } else { site.r },
                            c_column: if first { stretch * n } else { here },
                            complex: (wp == 2).then_some(false),
                            adjacent: false,
                        }
                    } else {
                        Product {
                            a: own,
                            a_step: [if first { next } else { stretch }, 0],
                            b: x,
                            b_step: [cp * site.r * if first { n } else { 1 }, 0],
                            b_column: cp,
                            inner: site.r_next * if first { 1 } else { n },
                            outer: 1,
                            rows: if first { next } else { stretch },
                            columns: site.r * if first { n } else { 1 },
                            c_column: if first { next } else { here },
                            complex: (cp == 2).then_some(conjugate),
                            adjacent: true,
                        }
                    };
                    let mut largest = simd.splat(T::ZERO);
                    for i in 0..if first { blocks } else { 1 } {
                        let (from, to) = (wp * site.s * i, if blocks == 1 { 0 } else { stretch * i });
                        let product = Product { a: &product.a[from..], ..product };
                        largest = product.run(simd, &mut result[to..], largest);
                    }
                    let largest = largest.largest().to_f64();
                    if !(largest >= least && largest <= most) {
                        let size = if first { used } else { here * site.r };
                        rescale(&mut result[..size], largest, careful, term);
                        if term.state != State::Sound {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Row `p` of the left unfolding of a core, as a core with left rank 1.
#[inline(always)]
fn left_row<'a, T: Copy>(
    core: &'a [T],
    [s, n, next]: [usize; 3],
    p: usize,
    parts: usize,
    buffer: &'a mut [T],
) -> &'a [T] {
    if s == 1 {
        return core;
    }
    let row = &mut buffer[..parts * n * next];
    for (to, from) in row.chunks_exact_mut(parts).zip(core.chunks_exact(parts * s)) {
        to.copy_from_slice(&from[parts * p..parts * (p + 1)]);
    }
    row
}

/// sum_{i, b'} Y[i, b'] T[b', i], in double precision.
#[inline(always)]
fn last_sum<T: Vectorized>(y: &[T], between: &[T], [n, next]: [usize; 2], parts: usize, column: usize) -> (f64, f64) {
    let (mut re, mut im) = (0.0, 0.0);
    for i in 0..n {
        let t = &between[column * i..];
        for b in 0..next {
            let (y, t) = (&y[parts * (i + n * b)..], &t[parts * b..]);
            if parts == 1 {
                re += y[0].to_f64() * t[0].to_f64();
            } else {
                let (yr, yi, tr, ti) = (y[0].to_f64(), y[1].to_f64(), t[0].to_f64(), t[1].to_f64());
                re += yr * tr - yi * ti;
                im += yr * ti + yi * tr;
            }
        }
    }
    (re, im)
}
