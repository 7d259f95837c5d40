//! The backend trait of the methods: a Hermitian operator, and columns of n numbers that hold vectors.

use crate::alloc;
use crate::error::{Error, Result};
use crate::matrix::DenseMut;
use crate::scalar::{Real, Scalar};

/// Rows of a piece of a vector on threads. A piece of a few dozen columns stays in a core's cache from one product to the next.
pub(super) const PIECE: usize = 2048;

/// Fewest pieces of a vector for a thread, in loops with an operation or two for each element.
pub(super) const LIGHT: usize = 8;

/// The norms of a vector before and after its orthogonalisation, and one coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Real part of the component along the last of the vectors before it.
    pub along: f64,
    /// Norm of the vector before the orthogonalisation.
    pub before: f64,
    /// Norm of the vector after it.
    pub after: f64,
}

/// y = scale (A - center) x + keep y. With `keep` 0, y is not read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Affine {
    /// Factor of (A - center) x.
    pub scale: f64,
    /// Subtracted from the diagonal of A.
    pub center: f64,
    /// Factor of the old y.
    pub keep: f64,
}

impl Affine {
    /// The product alone: y = A x.
    pub const PLAIN: Self = Self { scale: 1.0, center: 0.0, keep: 0.0 };
}

/// The columns of a space, and the norm that its steps have found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Space {
    /// Number of columns before the space, which the space is kept orthogonal to.
    pub locked: usize,
    /// Largest norm of A v so far; at least [`Krylov::terms_norm`].
    pub norm: f64,
    /// Unit roundoff of the number type.
    pub epsilon: f64,
}

impl Space {
    /// Whether a remainder of norm `rest` is rounding error only: at most 10 epsilon norm.
    pub fn is_rounding(&self, rest: f64) -> bool {
        rest <= 10.0 * self.epsilon * self.norm
    }

    /// The steps up to and including the first whose remainder is rounding error only or not finite. Later steps were
    /// computed from that remainder and are meaningless.
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

/// The figures of a step with blocks of b vectors. The products are orthogonalised twice. Each time, the step records
/// the coefficients along the columns before the new block (column-major), the norms of the remainders, and the
/// triangle R that makes the block orthonormal in itself.
pub struct BlockStep<W> {
    /// Coefficients of the first time.
    pub along: Vec<W>,
    /// Norms of the remainders of the first time.
    pub rest: Vec<f64>,
    /// The triangle of the first time, b-by-b.
    pub first: Vec<W>,
    /// Coefficients of the second time.
    pub again: Vec<W>,
    /// Norms of the remainders of the second time. The vectors had norm 1 before it.
    pub left: Vec<f64>,
    /// The triangle of the second time.
    pub second: Vec<W>,
}

/// Is called between steps; an error that it returns ends the steps.
pub type Poll<'a> = dyn FnMut() -> Result<()> + 'a;

/// The double-precision type of a backend's numbers.
pub type Wide<K> = <<K as Krylov>::Number as Scalar>::Wide;

/// Any backend for numbers of type `T`: the methods are compiled once for all of them.
pub type Columns<'a, T> = dyn Krylov<Number = T> + 'a;

/// A Hermitian operator and columns of n numbers. Columns are numbered from 0; a column is written before it is read.
/// If the operator has a row order of its own, columns are in that order. Vectors that are copied to or from the host
/// are in the matrix's order.
pub trait Krylov {
    /// Type of the numbers of a column.
    type Number: Scalar;

    /// Order n of the operator.
    fn order(&self) -> usize;

    /// The norm of the diagonal and the other terms that are added to a product with the matrix. Rounding errors of the
    /// operator's products are relative to it even where the sum is smaller. Example: the normalized Laplacian of a
    /// graph that has only loops is 0.
    fn terms_norm(&self) -> f64 {
        0.0
    }

    /// Fills column `to` with random vector number `vector` of `seed`. All backends draw the same numbers.
    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()>;

    /// Computes `step` with x = column `from` and y = column `to`.
    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()>;

    /// Column `to` = (A - sigma I)^-1 times column `from`, by the caller's solve.
    ///
    /// # Errors
    /// Errors of the solve; [`crate::error::Error::NotSupported`] if there is no solve.
    fn invert(&mut self, from: usize, to: usize) -> Result<()>;

    /// Column `to` = A times column `from`.
    fn apply(&mut self, from: usize, to: usize) -> Result<()> {
        self.affine(Affine::PLAIN, from, to)
    }

    /// Columns `to .. to + count` = A times columns `from .. from + count`. The two ranges do not overlap.
    fn apply_block(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        (0..count).try_for_each(|c| self.apply(from + c, to + c))
    }

    /// Makes column `column` orthogonal to the first `count` columns, which are orthonormal and come before it, by two
    /// passes of classical Gram-Schmidt. A backend may omit the second pass if the first leaves hardly more than
    /// rounding error.
    fn orthogonalise(&mut self, count: usize, column: usize) -> Result<Projection>;

    /// Steps `from .. to` of the Lanczos process: column `locked + j + 1` = A times column `locked + j`, made
    /// orthogonal to all columns before it, and scaled to norm 1. Ends early after a step whose remainder is rounding
    /// error only; the column of that step is meaningless. `poll` is called every few steps.
    fn extend(&mut self, space: Space, (from, to): (usize, usize), poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        extend_once(self, space, (from, to), poll)
    }

    /// Calls `poll`. A backend that enqueues work first waits until most of the work enqueued before has finished, and
    /// calls `poll` while it waits. Cancellation therefore takes effect soon.
    fn pace(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        poll()
    }

    /// Whether the backend has [`Krylov::defer`]: it does where waiting for a step takes longer than the step.
    fn defers(&self) -> bool {
        false
    }

    /// Makes column `column` orthogonal to all columns before it and scales it to norm 1, without waiting.
    /// [`Krylov::deferred`] returns the figures as those of step `at`. After a step whose remainder is rounding error
    /// only, its column and later ones are meaningless.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if [`Krylov::defers`] is false.
    fn defer(&mut self, _column: usize, _at: usize) -> Result<()> {
        Err(Error::NotSupported("steps whose figures come later, on this backend".into()))
    }

    /// Figures of steps 0 to `steps` - 1; step j made column `first + j` orthogonal. Calls `poll` while it waits for
    /// them.
    ///
    /// # Errors
    /// As [`Krylov::defer`].
    fn deferred(&mut self, _first: usize, _steps: usize, _poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        Err(Error::NotSupported("steps whose figures come later, on this backend".into()))
    }

    /// Steps of the block process with blocks of `b` columns, from the block at column `locked + from` up to column
    /// `locked + to`. The products of each block are written behind the last column, and are made orthogonal to all
    /// columns before them and among themselves, twice. They are the next block. The list is empty if the backend
    /// leaves these steps to the method. After a step whose new column is only rounding error, neither its coefficients
    /// nor the later columns are meaningful. `poll` is called every few steps.
    fn extend_block(
        &mut self,
        _locked: usize,
        (_from, _to): (usize, usize),
        _b: usize,
        _poll: &mut Poll<'_>,
    ) -> Result<Vec<BlockStep<Wide<Self>>>> {
        Ok(Vec::new())
    }

    /// Steps `from .. m` of a space without locked columns. Vectors are reorthogonalised when an estimate of their
    /// orthogonality asks for it, as in `partial`. `t` is the projected matrix with `m` rows; its part before step
    /// `from` is known. `None` if the backend leaves these steps to the method. `poll` is called every few steps.
    fn extend_watched(
        &mut self,
        _space: Space,
        (_from, _m): (usize, usize),
        _t: &[Wide<Self>],
        _poll: &mut Poll<'_>,
    ) -> Result<Option<Vec<Projection>>> {
        Ok(None)
    }

    /// One pass of classical Gram-Schmidt: W -= V H with H = V^H W. V is the `count` columns from `first` on, and W the
    /// `width` columns from `column` on. H, count-by-width, is written to `h`, column-major. Returns the norms of the
    /// columns of W after the pass.
    fn project(
        &mut self,
        first: usize,
        count: usize,
        column: usize,
        width: usize,
        h: &mut [Wide<Self>],
    ) -> Result<Vec<f64>>;

    /// One step of the three-term recurrence: column w = A v - beta u, then alpha = w . v, w -= alpha v. `u` is
    /// (column, beta). Returns alpha and the norm of w. Without `u` there is no term beta u. Column u may be w itself.
    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)>;

    /// Makes one or more of the steps `from .. to` of the plain recurrence v_{j+1} beta_{j+1} = A v_j - alpha_j v_j -
    /// beta_j v_{j-1} in Paige's order. Returns a pair (alpha_j, beta_{j+1}) for each step. `beta` is beta_from. The
    /// vectors are in the three columns from `first` on; before step 0, v_0 is in the first of them. With
    /// `coordinates`, v_j times `coordinates[i][j]` is summed up in column i for every i; coordinates beyond the end of a
    /// list are 0. Results after a beta that is rounding error are meaningless. `poll` is called every few steps.
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

    /// Multiplies a column by `factor`.
    fn scale(&mut self, column: usize, factor: f64) -> Result<()>;

    /// Column `to` = column `from`.
    fn copy(&mut self, from: usize, to: usize) -> Result<()>;

    /// Columns `to + i` += `weights[i]` times column `from`; without `add`, the columns are overwritten.
    fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()>;

    /// Columns `first .. first + l` = columns `first .. first + m` times `y`, m-by-l, column-major, l <= m.
    fn rotate(&mut self, first: usize, m: usize, y: &[Wide<Self>], l: usize) -> Result<()>;

    /// V^H V of the `count` columns from `first` on, column-major.
    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<Wide<Self>>>;

    /// ||column `w` - lambda column `x`||.
    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64>;

    /// ||A x - value x|| for the columns x from `first` on, one for each value. Overwrites column `work`.
    fn residuals(&mut self, first: usize, values: &[f64], work: usize) -> Result<Vec<f64>> {
        let mut residuals = alloc::with_capacity("residuals", values.len())?;
        for (x, &value) in (first..).zip(values) {
            self.apply(x, work)?;
            residuals.push(self.distance(work, value, x)?);
        }
        Ok(residuals)
    }

    /// Copies columns from `first` on to host memory, n numbers each, as many as fit into `to`. Each is multiplied by a
    /// number of modulus 1 that makes its entry of largest modulus real and positive. Among entries that are about as
    /// large the first counts. The columns themselves may be multiplied too.
    fn oriented(&mut self, first: usize, to: &mut [Self::Number]) -> Result<()> {
        let n = self.order();
        for (j, vector) in (first..).zip(to.chunks_exact_mut(n)) {
            self.read(j, vector)?;
            orient(vector);
        }
        Ok(())
    }

    /// As [`Krylov::oriented`], but writes to the first `count` columns of a matrix on the device, column-major.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a matrix in other memory.
    fn deliver(&mut self, _first: usize, _count: usize, _to: &mut DenseMut<'_>) -> Result<()> {
        Err(Error::NotSupported("vectors: are on a device, the solver is not".into()))
    }

    /// Copies a column to host memory, n numbers.
    fn read(&mut self, column: usize, to: &mut [Self::Number]) -> Result<()>;

    /// Fills a column from host memory, n numbers.
    fn write(&mut self, from: &[Self::Number], column: usize) -> Result<()>;
}

/// A remainder at most this long, in units of eps ||A||, gets more passes of orthogonalisation.
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
        // A short remainder has relatively large rounding errors along the space. Without more passes each such step
        // would magnify the errors of the steps before it. Each further pass at least halves the remainder, or is the
        // last.
        while step.after <= SHORT * space.epsilon * space.norm && !space.is_rounding(step.after) {
            krylov.scale(j + 1, 1.0 / length)?;
            length = krylov.orthogonalise(j + 1, j + 1)?.after;
            step.after *= length;
            if length > 0.5 {
                break;
            }
        }
        steps.push(step);
        // A remainder that is not finite ends the steps too.
        if step.after.is_nan() || space.is_rounding(step.after) {
            break;
        }
        krylov.scale(j + 1, 1.0 / length)?;
    }
    Ok(steps)
}

/// The product of [`Krylov::three_term`]: column `w` = A times column `v` - beta times column u, with `u` = (column,
/// beta). Column u may be `w` itself.
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

/// Step `j` of the plain recurrence of [`Krylov::recur`], by methods that every backend has. It uses two columns: each
/// new vector overwrites the last but one.
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

/// Adds vector `j`, which is in column `v`, times its coordinates to the columns from 0 on; see [`Krylov::recur`].
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

/// Multiplies a vector by its [`phase`], so that its entry of largest modulus is real and positive.
pub(super) fn orient<T: Scalar>(v: &mut [T]) {
    let turn = phase(v);
    v.iter_mut().for_each(|v| *v = turn * *v);
}

/// The number of modulus 1 that makes the entry of largest modulus real and positive. Among entries that are about as
/// large the first counts. 1 for a zero vector.
pub(super) fn phase<T: Scalar>(v: &[T]) -> T {
    let size = |x: &T| if T::IS_COMPLEX { x.re().hypot(x.im()) } else { x.re().abs() };
    let largest = v.iter().map(size).fold(0.0, f64::max);
    let near = largest * (1.0 - 8.0 * T::Part::EPSILON.to_f64());
    match v.iter().map(|x| (x, size(x))).find(|(_, size)| *size >= near && *size > 0.0) {
        Some((x, modulus)) => T::from_parts(x.re() / modulus, -x.im() / modulus),
        None => T::from_parts(1.0, 0.0),
    }
}
