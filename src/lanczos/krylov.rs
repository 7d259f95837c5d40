//! What the methods need of a backend: an operator, and columns of n numbers to keep vectors in.

use crate::alloc;
use crate::error::{Error, Result};
use crate::matrix::DenseMut;
use crate::scalar::{Real, Scalar};

/// How a vector lies to those before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Component along the last of the vectors before it, its real part.
    pub along: f64,
    /// Norm before.
    pub before: f64,
    /// Norm of what is left.
    pub after: f64,
}

/// y = scale (A - center) x + keep y. With keep 0 nothing of y is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// What the product is multiplied by.
    pub scale: f64,
    /// What is taken off the diagonal.
    pub center: f64,
    /// What stays of y.
    pub keep: f64,
}

impl Affine {
    /// y = A x.
    pub const PLAIN: Self = Self { scale: 1.0, center: 0.0, keep: 0.0 };
}

/// The columns of a space, and what its steps have shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// Columns before it that it is kept orthogonal to.
    pub locked: usize,
    /// Largest norm of A v so far, at least [`Krylov::terms_norm`].
    pub norm: f64,
    /// Unit roundoff.
    pub epsilon: f64,
}

impl Space {
    /// Whether a remainder is rounding alone.
    pub fn is_rounding(&self, rest: f64) -> bool {
        rest <= 10.0 * self.epsilon * self.norm
    }

    /// Steps up to the first that left rounding alone, or what is not finite: what was computed from it has no meaning.
    pub(super) fn sound(mut self, mut steps: Vec<Projection>) -> Vec<Projection> {
        let end = steps.iter().position(|step| {
            self.norm = self.norm.max(step.before);
            step.after.is_nan() || self.is_rounding(step.after)
        });
        if let Some(end) = end {
            steps.truncate(end + 1);
        }
        steps
    }
}

/// What a step of blocks of b vectors found: coefficients of the products along the columns before the new block, column-major,
/// and the norms of what was left, then the block's triangle; and both again of what had become of it.
pub struct BlockStep<W> {
    /// Coefficients.
    pub along: Vec<W>,
    /// Norms after it.
    pub rest: Vec<f64>,
    /// The triangle, b-by-b.
    pub first: Vec<W>,
    /// Coefficients of the second time.
    pub again: Vec<W>,
    /// Norms after it, which were 1 before.
    pub left: Vec<f64>,
    /// The triangle of the second time.
    pub second: Vec<W>,
}

/// Is called while steps are made; its error ends them.
pub type Poll<'a> = dyn FnMut() -> Result<()> + 'a;

/// Double precision of the numbers of a backend.
pub type Wide<K> = <<K as Krylov>::Number as Scalar>::Wide;

/// Any backend for numbers of type `T`: the methods are compiled once for all of them.
pub type Columns<'a, T> = dyn Krylov<Number = T> + 'a;

/// A Hermitian operator and columns of n numbers. Columns are numbered from 0; none is read before it is written. Those of an
/// operator with an order of its own are in that order, and what goes to the host or comes from there is in the matrix's.
pub trait Krylov {
    /// Type of the numbers.
    type Number: Scalar;

    /// Order n of the operator.
    fn order(&self) -> usize;

    /// The norm of the diagonal and the other terms that a product with the matrix is added to. Rounding errors of the operator's
    /// products are relative to it also where the sum is smaller, as of the normalised Laplacian of a graph of loops, which is 0.
    fn terms_norm(&self) -> f64 {
        0.0
    }

    /// Fills column `to` with random numbers: those of vector `vector` for the seed, whatever the backend.
    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()>;

    /// What `step` says, x being column `from` and y column `to`.
    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()>;

    /// Column `to` = (A - sigma I)^-1 times column `from`, by the caller's solve.
    ///
    /// # Errors
    /// What the solve reports; [`crate::error::Error::NotSupported`] where there is none.
    fn invert(&mut self, from: usize, to: usize) -> Result<()>;

    /// Column `to` = A times column `from`.
    fn apply(&mut self, from: usize, to: usize) -> Result<()> {
        self.affine(Affine::PLAIN, from, to)
    }

    /// Columns `to ..` = A times columns `from ..`, `count` of each, none of which is both.
    fn apply_block(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        (0..count).try_for_each(|c| self.apply(from + c, to + c))
    }

    /// Makes column `column` orthogonal to the first `count`, which are orthonormal and stand before it, by two passes of
    /// classical Gram-Schmidt, of which the second may be spared where the first leaves next to rounding.
    fn orthogonalise(&mut self, count: usize, column: usize) -> Result<Projection>;

    /// Steps `from .. to` of the Lanczos process: column `locked + j + 1` = A times column `locked + j`, made orthogonal to
    /// all before it, and of norm 1. Ends early after a step that leaves rounding alone, whose column is then of no use. `poll`
    /// is called every few steps.
    fn extend(&mut self, space: Space, (from, to): (usize, usize), poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        extend_once(self, space, (from, to), poll)
    }

    /// Calls `poll`. A backend that enqueues work first waits until little of what was enqueued before is left, and calls `poll`
    /// meanwhile: what `poll` cancels ends soon.
    fn pace(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        poll()
    }

    /// Whether [`Krylov::defer`] is there: where to wait for each step takes longer than the step.
    fn defers(&self) -> bool {
        false
    }

    /// Makes column `column` orthogonal to all before it and of norm 1, and waits for nothing: what was found is told by
    /// [`Krylov::deferred`] as that of step `at`. After one that left rounding alone columns are of no use.
    ///
    /// # Errors
    /// [`Error::NotSupported`] where [`Krylov::defers`] says no.
    fn defer(&mut self, _column: usize, _at: usize) -> Result<()> {
        Err(Error::NotSupported("steps whose figures come later, on this backend".into()))
    }

    /// What steps 0 to `steps` found, of which step j made column `first + j` orthogonal; calls `poll` while it waits for them.
    ///
    /// # Errors
    /// As [`Krylov::defer`].
    fn deferred(&mut self, _first: usize, _steps: usize, _poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        Err(Error::NotSupported("steps whose figures come later, on this backend".into()))
    }

    /// Steps of the block process with blocks of `b` columns, from the block at column `locked + from` on: each block's products
    /// come after all columns before them, are made orthogonal to these and among themselves, twice, and there is one block more
    /// for each until column `locked + to`. None where the backend leaves that to the method. After a step whose new
    /// column is only rounding error, neither its coefficients nor the later columns are meaningful. `poll` is called every few
    /// steps.
    fn extend_block(
        &mut self,
        _locked: usize,
        (_from, _to): (usize, usize),
        _b: usize,
        _poll: &mut Poll<'_>,
    ) -> Result<Vec<BlockStep<Wide<Self>>>> {
        Ok(Vec::new())
    }

    /// Steps `from .. m` of a space without columns before it, whose orthogonality an estimate watches as `partial` has it; `t`
    /// is the projected matrix with `m` rows, of which what stands before step `from` is known. `None` where the backend leaves
    /// that to the method. `poll` is called every few steps.
    fn extend_watched(
        &mut self,
        _space: Space,
        (_from, _m): (usize, usize),
        _t: &[Wide<Self>],
        _poll: &mut Poll<'_>,
    ) -> Result<Option<Vec<Projection>>> {
        Ok(None)
    }

    /// One pass of classical Gram-Schmidt: W -= V H with H = V^H W, V being the `count` columns from `first` on and W the
    /// `width` from `column` on. H, count-by-width, is written to `h`, column-major; returns the norms of the columns of W
    /// after it.
    fn project(
        &mut self,
        first: usize,
        count: usize,
        column: usize,
        width: usize,
        h: &mut [Wide<Self>],
    ) -> Result<Vec<f64>>;

    /// One step of the three-term recurrence: column w = A v - beta u, then alpha = w . v, w -= alpha v. Returns alpha and
    /// the norm of w. Without `u` nothing is subtracted first; u may be w itself.
    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)>;

    /// Some of the steps `from .. to` of the plain recurrence, one or more: of v_{j+1} beta_{j+1} = A v_j - alpha_j v_j -
    /// beta_j v_{j-1} in Paige's order the pairs (alpha_j, beta_{j+1}), where `beta` is beta_from. The vectors are in the
    /// three columns from `first` on; those of step 0 begin with v_0 in the first. With `coordinates` each v_j times
    /// `coordinates[i][j]`, nothing beyond the end, is added up in column i. What follows a beta of rounding has no meaning.
    /// `poll` is called every few steps.
    fn recur(
        &mut self,
        first: usize,
        (from, _to): (usize, usize),
        beta: f64,
        coordinates: Option<&[Vec<f64>]>,
        _poll: &mut Poll<'_>,
    ) -> Result<Vec<(f64, f64)>> {
        recur_once(self, first, from, beta, coordinates)
    }

    /// Multiplies a column.
    fn scale(&mut self, column: usize, factor: f64) -> Result<()>;

    /// Column `to` = column `from`.
    fn copy(&mut self, from: usize, to: usize) -> Result<()>;

    /// Columns `to + i` += `weights[i]` times column `from`, or without `add` = that.
    fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()>;

    /// Columns `first .. first + l` = columns `first .. first + m` times `y`, m-by-l, column-major, l <= m.
    fn rotate(&mut self, first: usize, m: usize, y: &[Wide<Self>], l: usize) -> Result<()>;

    /// V^H V of the `count` columns from `first` on, column-major.
    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<Wide<Self>>>;

    /// ||column `w` - lambda column `x`||.
    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64>;

    /// ||A x - value x|| for columns x from `first` on, a value each. Column `work` is written to.
    fn residuals(&mut self, first: usize, values: &[f64], work: usize) -> Result<Vec<f64>> {
        let mut residuals = alloc::with_capacity("residuals", values.len())?;
        for (x, &value) in (first..).zip(values) {
            self.apply(x, work)?;
            residuals.push(self.distance(work, value, x)?);
        }
        Ok(residuals)
    }

    /// Copies columns from `first` on to host memory, n numbers each, as many as there is room for: each with its entry of
    /// largest modulus real and positive, the first of those that are about as large. The columns may be turned likewise.
    fn oriented(&mut self, first: usize, to: &mut [Self::Number]) -> Result<()> {
        let n = self.order();
        for (j, vector) in (first..).zip(to.chunks_exact_mut(n)) {
            self.read(j, vector)?;
            orient(vector);
        }
        Ok(())
    }

    /// As [`Krylov::oriented`], to the first `count` columns of a matrix on the device, column-major.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a matrix elsewhere.
    fn deliver(&mut self, _first: usize, _count: usize, _to: &mut DenseMut<'_>) -> Result<()> {
        Err(Error::NotSupported("vectors: are on a device, the solver is not".into()))
    }

    /// Copies a column to host memory, n numbers.
    fn read(&mut self, column: usize, to: &mut [Self::Number]) -> Result<()>;

    /// Fills a column from host memory, n numbers.
    fn write(&mut self, from: &[Self::Number], column: usize) -> Result<()>;
}

/// Remainders of a step that get more passes of orthogonalisation, in units of eps ||A||.
const SHORT: f64 = 1e4;

/// The steps of [`Krylov::extend`], one after another.
pub(super) fn extend_once<K: Krylov + ?Sized>(
    krylov: &mut K,
    mut space: Space,
    (from, to): (usize, usize),
    poll: &mut Poll<'_>,
) -> Result<Vec<Projection>> {
    let mut steps = alloc::with_capacity("Lanczos steps", to - from)?;
    let first = space.locked + from;
    for j in first..space.locked + to {
        if j > first {
            poll()?;
        }
        krylov.apply(j, j + 1)?;
        let mut step = krylov.orthogonalise(j + 1, j + 1)?;
        space.norm = space.norm.max(step.before);
        let mut length = step.after;
        // Rounding errors along the space are a large part of a short remainder. Without more passes each such step would magnify
        // those of the steps before it. Each further pass at least halves the remainder, or is the last.
        while step.after <= SHORT * space.epsilon * space.norm && !space.is_rounding(step.after) {
            krylov.scale(j + 1, 1.0 / length)?;
            length = krylov.orthogonalise(j + 1, j + 1)?.after;
            step.after *= length;
            if length > 0.5 {
                break;
            }
        }
        steps.push(step);
        // What is not finite ends the steps too.
        if step.after.is_nan() || space.is_rounding(step.after) {
            break;
        }
        krylov.scale(j + 1, 1.0 / length)?;
    }
    Ok(steps)
}

/// Column `w` = A times column `v`, less `u`'s factor times `u`'s column, which may be `w` itself: the product of
/// [`Krylov::three_term`].
pub(super) fn product_less<K: Krylov + ?Sized>(
    krylov: &mut K,
    u: Option<(usize, f64)>,
    v: usize,
    w: usize,
) -> Result<()> {
    match u {
        Some((u, beta)) if u == w => krylov.affine(Affine { keep: -beta, ..Affine::PLAIN }, v, w),
        Some((u, beta)) => {
            krylov.apply(v, w)?;
            krylov.spread(u, &[-beta], w, true)
        }
        None => krylov.apply(v, w),
    }
}

/// Step `j` of the plain recurrence, as [`Krylov::recur`] has it, by what every backend has: in two columns, where each new
/// vector takes the place of the last but one.
pub(super) fn recur_once<K: Krylov + ?Sized>(
    krylov: &mut K,
    first: usize,
    j: usize,
    beta: f64,
    coordinates: Option<&[Vec<f64>]>,
) -> Result<Vec<(f64, f64)>> {
    let (v, w) = (first + j % 2, first + (j + 1) % 2);
    combine(krylov, coordinates, j, v)?;
    let found = krylov.three_term((j > 0).then_some((w, beta)), v, w)?;
    if found.1 > 0.0 {
        krylov.scale(w, 1.0 / found.1)?;
    }
    let mut one = alloc::with_capacity("Lanczos steps", 1)?;
    one.push(found);
    Ok(one)
}

/// Adds vector `j`, which is in column `v`, to the columns from 0 on, as [`Krylov::recur`] has it.
pub(super) fn combine<K: Krylov + ?Sized>(
    krylov: &mut K,
    coordinates: Option<&[Vec<f64>]>,
    j: usize,
    v: usize,
) -> Result<()> {
    let Some(coordinates) = coordinates else { return Ok(()) };
    let mut weights = alloc::with_capacity("weights of a vector", coordinates.len())?;
    weights.extend(coordinates.iter().map(|c| c.get(j).copied().unwrap_or(0.0)));
    krylov.spread(v, &weights, 0, j > 0)
}

/// Makes the entry of largest modulus real and positive, the first of those that are about as large.
pub(super) fn orient<T: Scalar>(v: &mut [T]) {
    let turn = phase(v);
    v.iter_mut().for_each(|v| *v = turn * *v);
}

/// The number of modulus 1 that makes the entry of largest modulus real and positive, the first of those that are about as
/// large; 1 for a vector that is 0.
pub(super) fn phase<T: Scalar>(v: &[T]) -> T {
    let size = |x: &T| if T::IS_COMPLEX { x.re().hypot(x.im()) } else { x.re().abs() };
    let largest = v.iter().map(size).fold(0.0, f64::max);
    let near = largest * (1.0 - 8.0 * T::Part::EPSILON.to_f64());
    match v.iter().map(|x| (x, size(x))).find(|(_, size)| *size >= near && *size > 0.0) {
        Some((x, modulus)) => T::from_parts(x.re() / modulus, -x.im() / modulus),
        None => T::from_parts(1.0, 0.0),
    }
}
