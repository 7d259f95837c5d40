//! Sweeps from site to site with one environment, or with the environments of a block of boundary pairs.
//!
//! A left environment is F[b, p, a], with the bond b of y fastest, then the pair p, then the bond a of x. A right
//! environment is G[b, a].

use super::products::{Block, Bra, Buffer, Taken, Threads, by_x, by_y, largest, mirror};
use super::square;
use crate::backend::memory::Budget;
use crate::contraction::cost::First;
use crate::contraction::ops::Work;
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::tensor::train::Cores;
use crate::trains::scaled::{self, Scaled};
use std::ops::Range;
use std::sync::Arc;

/// How environments are kept within the range of their type, from the fastest to the safest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// Nothing is scaled: products of many cores may overflow.
    None,
    /// Each environment is scaled after its site.
    Sites,
    /// The product between the two multiplications of a site is scaled, too: for cores with entries near the ends of
    /// the range.
    Products,
}

/// Returned instead of a sum that may have lost digits: an environment came near an end of the type's range.
pub struct Suspicious;

/// The cores of a contraction.
pub struct Pair<'a, T: Scalar> {
    /// Plan, trains and cancellation of the call.
    pub work: &'a Work<'a>,
    /// Cores of the train that is not conjugated.
    pub x: &'a Bra<'a, T>,
    /// Cores of the other train.
    pub y: &'a Cores<'a, T>,
    /// Threads that share one product.
    pub threads: Threads,
}

impl<T: Scalar> Pair<'_, T> {
    /// r, n, r', s, s' of core k.
    pub fn sizes(&self, k: usize) -> [usize; 5] {
        let [r, n, r2] = self.work.x.shape().core(k);
        let [s, _, s2] = self.work.y.shape().core(k);
        [n, r, r2, s, s2]
    }

    fn conj(&self) -> bool {
        self.work.plan.conjugate
    }
}

/// Buffers for the environments of a block of pairs.
pub struct Workspace {
    /// The environments of a block's pairs.
    pub f: Buffer,
    /// The next environments. `None` for one pair, whose next environment overwrites `f`.
    pub g: Option<Buffer>,
    /// Product of an environment with the first of the two cores of a site.
    pub t: Buffer,
}

impl Workspace {
    /// Allocates for `block` pairs. `largest` has the elements of the largest environment and of the largest product of
    /// one pair.
    pub fn new<T: Scalar>(block: usize, largest: (usize, usize), budget: &Arc<Budget>) -> Result<Self> {
        let (environment, product) = largest;
        if block == 1 {
            let t = Buffer::new::<T>(product, budget)?;
            return Ok(Self { f: Buffer::new::<T>(environment, budget)?, g: None, t });
        }
        let all = crate::shape::product("workspace_limit", block, environment)?;
        let g = Some(Buffer::new::<T>(all, budget)?);
        Ok(Self { f: Buffer::new::<T>(all, budget)?, g, t: Buffer::new::<T>(all, budget)? })
    }

    /// Whether the buffers are large enough for the arguments of [`Workspace::new`].
    pub fn holds<T: Scalar>(&self, block: usize, largest: (usize, usize)) -> bool {
        let fits = |b: &Buffer, elements: usize| Some(b.bytes()) >= elements.checked_mul(size_of::<T>());
        match &self.g {
            None => block == 1 && fits(&self.f, largest.0) && fits(&self.t, largest.1),
            Some(g) => block > 1 && block.checked_mul(largest.0).is_some_and(|all| fits(g, all)),
        }
    }
}

/// State of a sweep: the environment is 2^`exponent` `alpha` times the contents of `f`.
pub struct Sweep<'r> {
    workspace: &'r mut Workspace,
    care: Care,
    alpha: f64,
    exponent: i64,
    zero: bool,
    /// Order of the environment if `f` holds only its lower triangle; 0 if it holds all of it.
    lower: usize,
}

impl<'r> Sweep<'r> {
    /// A sweep before its first site.
    pub fn new(workspace: &'r mut Workspace, care: Care) -> Self {
        Self { workspace, care, alpha: 1.0, exponent: 0, zero: false, lower: 0 }
    }

    /// Call it after a site. Measures `elements` numbers of the environment and sets `alpha`, so that the next product
    /// scales them to [0.5, 1). With [`Care::Products`] scales them at once.
    pub fn scale<T: Scalar>(&mut self, elements: usize) -> Result<std::result::Result<(), Suspicious>> {
        self.alpha = 1.0;
        if self.care == Care::None {
            return Ok(Ok(()));
        }
        let most = largest(&self.workspace.f.get::<T>()?[..elements]);
        let bound = if size_of::<T::Part>() == 4 { 60 } else { 500 };
        let q = scaled::exponent_of(most);
        if self.care == Care::Products {
            self.zero |= most == 0.0;
            self.exponent = self.exponent.saturating_add(shrink(&mut self.workspace.f.get_mut::<T>()?[..elements], q));
            return Ok(Ok(()));
        }
        if most == 0.0 || !most.is_finite() || q.abs() > bound {
            return Ok(Err(Suspicious));
        }
        (self.alpha, self.exponent) = (scaled::scale(1.0, -q), self.exponent.saturating_add(q));
        Ok(Ok(()))
    }

    /// With [`Care::Products`], scales the product between the two multiplications of a site to the order of
    /// 2^-`second`, so that the second multiplication, by a core of 2^`second`, loses no digits.
    fn scale_product<T: Scalar>(&mut self, elements: usize, second: i64) -> Result<()> {
        if self.care == Care::Products {
            let t = &mut self.workspace.t.get_mut::<T>()?[..elements];
            let q = scaled::exponent_of(largest(t)) + second;
            self.exponent = self.exponent.saturating_add(shrink(t, q));
        }
        Ok(())
    }

    /// With [`Care::Products`], scales the environment of `elements` numbers before a site to the order of 2^-q, for a
    /// first core of 2^q. The exponents of the cores are clamped to the range of the type. Returns that of the second
    /// core.
    fn meet_cores<T: Scalar>(&mut self, pair: &Pair<'_, T>, k: usize, elements: usize, x_first: bool) -> Result<i64> {
        if self.care != Care::Products {
            return Ok(0);
        }
        let bound = if size_of::<T::Part>() == 4 { 60 } else { 500 };
        let [x, y] = [pair.x.largest(k), largest(pair.y.core(k))].map(|q| scaled::exponent_of(q).clamp(-bound, bound));
        let (first, second) = if x_first { (x, y) } else { (y, x) };
        let f = &mut self.workspace.f.get_mut::<T>()?[..elements];
        self.exponent = self.exponent.saturating_add(shrink(f, first));
        Ok(second)
    }

    /// The environments after the first site, one for each pair: for each mode index, the outer product of two vectors
    /// is added.
    pub fn first<T: Scalar>(&mut self, pair: &Pair<'_, T>, k: usize, pairs: Range<usize>) -> Result<()> {
        let ([n, r, r2, s, s2], plan, count) = (pair.sizes(k), pair.work.plan, pairs.len());
        let (y, conj) = (pair.y.core(k), pair.conj());
        let (mut qx, mut qy) = (0, 0);
        if self.care == Care::Products {
            (qx, qy) = (scaled::exponent_of(pair.x.largest(k)), scaled::exponent_of(largest(y)));
            self.exponent = self.exponent.saturating_add(qx + qy);
        }
        let f = self.workspace.f.get_mut::<T>()?;
        f[..s2 * count * r2].fill(T::default());
        for (p, q) in pairs.enumerate() {
            let (px, py) = plan.pairs.get(q);
            for a in 0..r2 {
                let column = &mut f[(a * count + p) * s2..][..s2];
                for i in 0..n {
                    let mut factor = [pair.x.at(k, px + r * (i + n * a))];
                    shrink(&mut factor, qx);
                    let row = y[py + s * i..].iter().step_by(s * n);
                    for (value, &y) in column.iter_mut().zip(row) {
                        let mut y = [if conj { y.conjugate() } else { y }];
                        shrink(&mut y, qy);
                        *value += factor[0] * y[0];
                    }
                }
            }
        }
        Ok(())
    }

    /// The environment before the last site of an open train, where the sweep from the right begins.
    pub fn first_left<T: Scalar>(&mut self, pair: &Pair<'_, T>, k: usize) -> Result<()> {
        let ([n, r, _, s, _], y, conj) = (pair.sizes(k), pair.y.core(k), pair.conj());
        let (mut qx, mut qy) = (0, 0);
        if self.care == Care::Products {
            (qx, qy) = (scaled::exponent_of(pair.x.largest(k)), scaled::exponent_of(largest(y)));
            self.exponent = self.exponent.saturating_add(qx + qy);
        }
        let g = &mut self.workspace.f.get_mut::<T>()?[..s * r];
        g.fill(T::default());
        for (a, column) in g.chunks_exact_mut(s).enumerate() {
            for i in 0..n {
                let mut factor = [pair.x.at(k, a + r * i)];
                shrink(&mut factor, qx);
                for (value, &y) in column.iter_mut().zip(&y[s * i..]) {
                    let mut y = [if conj { y.conjugate() } else { y }];
                    shrink(&mut y, qy);
                    *value += factor[0] * y[0];
                }
            }
        }
        Ok(())
    }

    /// If only the lower triangle of a norm's environment is there, mirrors it to the upper one.
    fn complete<T: Scalar>(&mut self) -> Result<()> {
        if self.lower > 0 {
            mirror(Block::packed(self.lower, self.lower), self.workspace.f.get_mut::<T>()?);
            self.lower = 0;
        }
        Ok(())
    }

    /// Applies a site of a norm by [`square::step`]. If that is not possible, completes the environment and returns
    /// `false`.
    fn squared<T: Scalar>(&mut self, pair: &Pair<'_, T>, k: usize, leftwards: bool) -> Result<bool> {
        let [_, r, r2, ..] = pair.sizes(k);
        let wanted = pair.work.plan.triangle && self.care != Care::Products;
        // [`square::step`] reads only the lower triangle. Other methods read the whole environment.
        if wanted && square::step(pair, self.workspace, k, self.alpha, leftwards)? {
            self.lower = if leftwards { r } else { r2 };
            return Ok(true);
        }
        self.complete::<T>()?;
        Ok(false)
    }

    /// Applies site k from the left, for one pair: F of the next bond.
    pub fn right<T: Scalar>(&mut self, pair: &Pair<'_, T>, k: usize) -> Result<()> {
        if self.squared(pair, k, false)? {
            return Ok(());
        }
        let ([n, r, r2, s, s2], y) = (pair.sizes(k), pair.y.core(k));
        let (threads, alpha, conj) = (pair.threads, self.alpha, pair.conj());
        let f = Block::packed(s, r);
        let second = self.meet_cores(pair, k, s * r, pair.work.plan.order[k] == First::X)?;
        match pair.work.plan.order[k] {
            First::X => {
                let core = Taken::plain(Block::packed(r, n * r2));
                let t = Block::packed(s, n * r2);
                by_x(threads, alpha, (&self.workspace.f, f), pair.x, k, core, false, (&mut self.workspace.t, t))?;
                self.scale_product::<T>(s * n * r2, second)?;
                let core = Taken::transposed(Block::packed(s * n, s2)).conj(conj);
                let (t, to) = (Block::packed(s * n, r2), Block::packed(s2, r2));
                if pair.work.plan.triangle && s2 >= square::LEAST {
                    self.lower = s2;
                    return square::second(threads, self.workspace, core.view(y), t, to, false);
                }
                by_y(threads, 1.0, y, core, (&self.workspace.t, t), false, (&mut self.workspace.f, to))
            }
            First::Y => {
                for i in 0..n {
                    let slice = Block { start: i * s, rows: s, cols: s2, step: s * n };
                    let core = Taken::transposed(slice).conj(conj);
                    let t = Block { start: i * s2 * r, ..Block::packed(s2, r) };
                    by_y(threads, alpha, y, core, (&self.workspace.f, f), false, (&mut self.workspace.t, t))?;
                }
                self.scale_product::<T>(s2 * r * n, second)?;
                // T[b', (i, a)], a fastest, times X[a, i, a'].
                let (t, core) = (Block::packed(s2, r * n), Taken::plain(Block::packed(r * n, r2)));
                by_x(
                    threads,
                    1.0,
                    (&self.workspace.t, t),
                    pair.x,
                    k,
                    core,
                    false,
                    (&mut self.workspace.f, Block::packed(s2, r2)),
                )
            }
        }
    }

    /// Applies site k from the right, for one pair: G of the bond before.
    pub fn left<T: Scalar>(&mut self, pair: &Pair<'_, T>, k: usize) -> Result<()> {
        if self.squared(pair, k, true)? {
            return Ok(());
        }
        let ([n, r, r2, s, s2], y) = (pair.sizes(k), pair.y.core(k));
        let (threads, alpha, conj) = (pair.threads, self.alpha, pair.conj());
        let g = Block::packed(s2, r2);
        let second = self.meet_cores(pair, k, s2 * r2, pair.work.plan.order[k] == First::Y)?;
        match pair.work.plan.order[k] {
            First::X => {
                // The same product as `right` computes if X is multiplied first.
                let core = Taken::plain(Block::packed(s * n, s2)).conj(conj);
                let t = Block::packed(s * n, r2);
                by_y(threads, alpha, y, core, (&self.workspace.f, g), false, (&mut self.workspace.t, t))?;
                self.scale_product::<T>(s * n * r2, second)?;
                let (t, core) = (Block::packed(s, n * r2), Taken::transposed(Block::packed(r, n * r2)));
                if let (true, Bra::Same(x)) = (pair.work.plan.triangle && s >= square::LEAST, pair.x) {
                    self.lower = s;
                    return square::second(threads, self.workspace, core.view(x.core(k)), t, Block::packed(s, r), true);
                }
                by_x(
                    threads,
                    1.0,
                    (&self.workspace.t, t),
                    pair.x,
                    k,
                    core,
                    false,
                    (&mut self.workspace.f, Block::packed(s, r)),
                )
            }
            First::Y => {
                let core = Taken::transposed(Block::packed(r * n, r2));
                let t = Block::packed(s2, r * n);
                by_x(threads, alpha, (&self.workspace.f, g), pair.x, k, core, false, (&mut self.workspace.t, t))?;
                self.scale_product::<T>(s2 * r * n, second)?;
                for i in 0..n {
                    let slice = Block { start: i * s, rows: s, cols: s2, step: s * n };
                    let core = Taken::plain(slice).conj(conj);
                    let t = Block { start: i * s2 * r, ..Block::packed(s2, r) };
                    by_y(
                        threads,
                        1.0,
                        y,
                        core,
                        (&self.workspace.t, t),
                        i > 0,
                        (&mut self.workspace.f, Block::packed(s, r)),
                    )?;
                }
                Ok(())
            }
        }
    }

    /// Applies site k from the left, for `count` pairs at once: F of the next bond. The pair index lies between the two
    /// bonds, so each of the two products is one matrix product for all pairs.
    pub fn right_block<T: Scalar>(&mut self, pair: &Pair<'_, T>, k: usize, count: usize) -> Result<()> {
        let ([n, r, r2, s, s2], y) = (pair.sizes(k), pair.y.core(k));
        let (threads, alpha, conj) = (pair.threads, self.alpha, pair.conj());
        let care = self.care == Care::Products;
        let second = self.meet_cores(pair, k, s * count * r, pair.work.plan.order[k] == First::X)?;
        let Workspace { f, g, t } = &mut *self.workspace;
        let Some(g) = g.as_mut() else { return Ok(()) };
        let mut exponent = None;
        for i in 0..n {
            let x = Taken::plain(Block { start: i * r, rows: r, cols: r2, step: r * n });
            let slice = Taken::transposed(Block { start: i * s, rows: s, cols: s2, step: s * n }).conj(conj);
            let add = i > 0;
            match pair.work.plan.order[k] {
                First::X => {
                    let (from, to) = (Block::packed(s * count, r), Block::packed(s * count, r2));
                    by_x(threads, alpha, (f, from), pair.x, k, x, false, (t, to))?;
                    let (from, to) = (Block::packed(s, count * r2), Block::packed(s2, count * r2));
                    let beta = careful::<T>((care, second), &mut exponent, t, s * count * r2, g, s2 * count * r2)?;
                    by_y(threads, beta, y, slice, (t, from), add, (g, to))?;
                }
                First::Y => {
                    let (from, to) = (Block::packed(s, count * r), Block::packed(s2, count * r));
                    by_y(threads, alpha, y, slice, (f, from), false, (t, to))?;
                    let (from, to) = (Block::packed(s2 * count, r), Block::packed(s2 * count, r2));
                    let beta = careful::<T>((care, second), &mut exponent, t, s2 * count * r, g, s2 * count * r2)?;
                    by_x(threads, beta, (t, from), pair.x, k, x, add, (g, to))?;
                }
            }
        }
        self.exponent = self.exponent.saturating_add(exponent.unwrap_or(0));
        std::mem::swap(f, g);
        Ok(())
    }

    /// Applies the last site: the sum of the terms of the pairs.
    pub fn last<T: Scalar>(mut self, pair: &Pair<'_, T>, k: usize, pairs: Range<usize>) -> Result<Scaled> {
        self.complete::<T>()?;
        let ([n, r, _, s, _], plan, count) = (pair.sizes(k), pair.work.plan, pairs.len());
        self.meet_cores(pair, k, s * r * count, true)?;
        let (y, conj) = (pair.y.core(k), pair.conj());
        let most = self.workspace.t.bytes() / size_of::<T>() / s;
        let mut sum = Scaled::ZERO;
        let mut plain = Complex::new(0.0, 0.0);
        for (p, q) in pairs.enumerate() {
            let (px, py) = plan.pairs.get(q);
            let f = Block { start: p * s, rows: s, cols: r, step: s * count };
            let weight = plan.pairs.weight((px, py));
            let mut i = 0;
            while i < n {
                let some = most.min(n - i);
                let core = Taken::plain(Block { start: r * (i + n * px), ..Block::packed(r, some) });
                let t = Block::packed(s, some);
                by_x(
                    Threads::One,
                    self.alpha,
                    (&self.workspace.f, f),
                    pair.x,
                    k,
                    core,
                    false,
                    (&mut self.workspace.t, t),
                )?;
                let before = self.exponent;
                self.scale_product::<T>(s * some, 0)?;
                let column = &y[s * (i + n * py)..][..s * some];
                let t = &self.workspace.t.get::<T>()?[..s * some];
                let mut q = 0;
                let term = if self.care == Care::Products {
                    q = scaled::exponent_of(largest(column));
                    careful_dot(t, column, conj, q)
                } else {
                    dot(t, column, conj)
                };
                let term = if plan.pairs.halved { Complex::new(term.re, 0.0) } else { term } * weight;
                if self.care == Care::Products {
                    sum = sum.plus(Scaled::new(term, self.exponent.saturating_add(q)));
                } else {
                    plain += term;
                }
                self.exponent = before;
                i += some;
            }
        }
        Ok(if self.care == Care::Products { sum } else { Scaled::new(plain, self.exponent) })
    }

    /// The sum over b and a of F[b, a] G[b, a], where the sweeps from both ends meet.
    pub fn meet<T: Scalar>(mut self, mut other: Sweep<'_>, elements: usize) -> Result<Scaled> {
        self.complete::<T>()?;
        other.complete::<T>()?;
        let (f, g) = (self.workspace.f.get::<T>()?, other.workspace.f.get::<T>()?);
        let sum = dot(&f[..elements], &g[..elements], false) * (self.alpha * other.alpha);
        Ok(Scaled::new(sum, self.exponent.saturating_add(other.exponent)))
    }

    /// The exponent of the power of two by which the environment has been divided.
    pub fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Whether the environment is 0, which makes the result 0.
    pub fn is_zero(&self) -> bool {
        self.zero
    }
}

/// Multiplies by 2^-q, even if the type cannot hold 2^-q. Returns q.
pub(super) fn shrink<T: Scalar>(values: &mut [T], q: i64) -> i64 {
    if q != 0 {
        values.iter_mut().for_each(|v| *v = T::from_parts(scaled::scale(v.re(), -q), scaled::scale(v.im(), -q)));
    }
    q
}

/// With `care`: scales the product t of one mode index for a core of 2^`second`, and brings the sum over earlier mode
/// indices to the same exponent. Returns a factor for the product.
fn careful<T: Scalar>(
    (care, second): (bool, i64),
    exponent: &mut Option<i64>,
    t: &mut Buffer,
    elements: usize,
    sum: &mut Buffer,
    summed: usize,
) -> Result<f64> {
    if !care {
        return Ok(1.0);
    }
    let t = &mut t.get_mut::<T>()?[..elements];
    let most = largest(t);
    let q = scaled::exponent_of(most) + second;
    shrink(t, q);
    if most == 0.0 {
        return Ok(1.0);
    }
    let before = exponent.replace(q.max(exponent.unwrap_or(q)));
    match before {
        Some(before) if q > before => {
            shrink(&mut sum.get_mut::<T>()?[..summed], q - before);
            Ok(1.0)
        }
        Some(before) => Ok(scaled::scale(1.0, (q - before).max(-1000))),
        None => Ok(1.0),
    }
}

/// sum over i of a[i] cj(b[i]) 2^-q, in f64.
pub(super) fn careful_dot<T: Scalar>(a: &[T], b: &[T], conj: bool, q: i64) -> Complex<f64> {
    let terms = a.iter().zip(b).map(|(a, b)| {
        let b = Complex::new(scaled::scale(b.re(), -q), scaled::scale(if conj { -b.im() } else { b.im() }, -q));
        Complex::new(a.re(), a.im()) * b
    });
    terms.fold(Complex::new(0.0, 0.0), |sum, term| sum + term)
}

/// sum over i of a[i] cj(b[i]), in f64.
pub(super) fn dot<S: Scalar, T: Scalar>(a: &[S], b: &[T], conj: bool) -> Complex<f64> {
    let mut lanes = [Complex::new(0.0f64, 0.0f64); 4];
    let sign = if conj { -1.0 } else { 1.0 };
    let term = |a: &S, b: &T| {
        let (b_re, b_im) = (b.re(), sign * b.im());
        Complex::new(a.re() * b_re - a.im() * b_im, a.re() * b_im + a.im() * b_re)
    };
    let (mut left, mut right) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in (&mut left).zip(&mut right) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += term(a, b);
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(left.remainder()).zip(right.remainder()) {
        *lane += term(a, b);
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}
