//! Loops over the operations. A backend may replace each by a loop of its own: a device runs many steps before the host
//! waits for their figures.

use super::ops::{BlockStep, LanczosOps, Poll, Projection, Space, Wide};
use super::phase::orient;
use crate::alloc;
use crate::error::{Error, Result};
use crate::matrix::DenseMut;

/// Any backend for numbers of type `T`: the methods are compiled once for all of them.
pub type Columns<'a, T> = dyn Cycles<Number = T> + 'a;

/// Loops of the methods, from single steps to whole cycles. Each default is the loop over [`LanczosOps`].
pub trait Cycles: LanczosOps {
    /// Steps `from .. to` of the Lanczos process: column `locked + j + 1` = A times column `locked + j`, made
    /// orthogonal to all columns before it, and scaled to norm 1. Ends early after a step whose remainder is rounding
    /// error only; the column of that step is meaningless. `poll` is called every few steps.
    ///
    /// # Errors
    /// As [`LanczosOps::affine`]; [`Error::OutOfMemory`]; errors of `poll`.
    fn extend(&mut self, space: Space, (from, to): (usize, usize), poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        extend_once(self, space, (from, to), poll)
    }

    /// Calls `poll`. A backend that enqueues work first waits until most of the work enqueued before has finished, and
    /// calls `poll` while it waits. Cancellation therefore takes effect soon.
    ///
    /// # Errors
    /// Errors of `poll` and of the backend.
    fn pace(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        poll()
    }

    /// Whether the backend has [`Cycles::defer`]: it does where waiting for a step takes longer than the step.
    fn defers(&self) -> bool {
        false
    }

    /// Makes column `column` orthogonal to all columns before it and scales it to norm 1, without waiting.
    /// [`Cycles::deferred`] returns the figures as those of step `at`. After a step whose remainder is rounding error
    /// only, its column and later ones are meaningless.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if [`Cycles::defers`] is false.
    fn defer(&mut self, _column: usize, _at: usize) -> Result<()> {
        Err(Error::NotSupported("steps whose figures come later, on this backend".into()))
    }

    /// Figures of steps 0 to `steps` - 1; step j made column `first + j` orthogonal. Calls `poll` while it waits for
    /// them.
    ///
    /// # Errors
    /// As [`Cycles::defer`].
    fn deferred(&mut self, _first: usize, _steps: usize, _poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        Err(Error::NotSupported("steps whose figures come later, on this backend".into()))
    }

    /// Steps of the block process with blocks of `b` columns, from the block at column `locked + from` up to column
    /// `locked + to`. The products of each block are written behind the last column, and are made orthogonal to all
    /// columns before them and among themselves, twice. They are the next block. The list is empty if the backend
    /// leaves these steps to the method. After a step whose new column is only rounding error, neither its coefficients
    /// nor the later columns are meaningful. `poll` is called every few steps.
    ///
    /// # Errors
    /// As [`Cycles::extend`].
    fn extend_block(
        &mut self,
        _locked: usize,
        (_from, _to): (usize, usize),
        _b: usize,
        _poll: &mut Poll<'_>,
    ) -> Result<Vec<BlockStep<Wide<Self>>>> {
        Ok(Vec::new())
    }

    /// Steps `from .. m` of a space without locked columns. Vectors are reorthogonalized when an estimate of their
    /// orthogonality asks for it, as in `partial`. `t` is the projected matrix with `m` rows; its part before step
    /// `from` is known. `None` if the backend leaves these steps to the method. `poll` is called every few steps.
    ///
    /// # Errors
    /// As [`Cycles::extend`].
    fn extend_watched(
        &mut self,
        _space: Space,
        (_from, _m): (usize, usize),
        _t: &[Wide<Self>],
        _poll: &mut Poll<'_>,
    ) -> Result<Option<Vec<Projection>>> {
        Ok(None)
    }

    /// Makes one or more of the steps `from .. to` of the plain recurrence v_{j+1} beta_{j+1} = A v_j - alpha_j v_j -
    /// beta_j v_{j-1} in Paige's order. Returns a pair (alpha_j, beta_{j+1}) for each step. `beta` is beta_from. The
    /// vectors are in the three columns from `first` on; before step 0, v_0 is in the first of them. With
    /// `coordinates`, v_j times `coordinates[i][j]` is summed up in column i for every i; coordinates beyond the end of a
    /// list are 0. Results after a beta that is rounding error are meaningless. `poll` is called every few steps.
    ///
    /// # Errors
    /// As [`Cycles::extend`].
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

    /// ||A x - value x|| for the columns x from `first` on, one for each value. Overwrites column `work`.
    ///
    /// # Errors
    /// As [`LanczosOps::affine`]; [`Error::OutOfMemory`].
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
    ///
    /// # Errors
    /// As [`LanczosOps::read`].
    fn oriented(&mut self, first: usize, to: &mut [Self::Number]) -> Result<()> {
        let n = self.order();
        for (j, vector) in (first..).zip(to.chunks_exact_mut(n)) {
            self.read(j, vector)?;
            orient(vector);
        }
        Ok(())
    }

    /// As [`Cycles::oriented`], but writes to the first `count` columns of a matrix on the device, column-major.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a matrix in other memory.
    fn deliver(&mut self, _first: usize, _count: usize, _to: &mut DenseMut<'_>) -> Result<()> {
        Err(Error::NotSupported("vectors: are on a device, the solver is not".into()))
    }
}

/// A remainder at most this long, in units of eps ||A||, gets more passes of orthogonalization.
const SHORT: f64 = 1e4;

/// The steps of [`Cycles::extend`], one after another.
pub(super) fn extend_once<K: LanczosOps + ?Sized>(
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
        let mut step = krylov.orthogonalize(j + 1, j + 1)?;
        space.norm = space.norm.max(step.before);
        let mut length = step.after;
        // A short remainder has relatively large rounding errors along the space. Without more passes each such step
        // would magnify the errors of the steps before it. Each further pass at least halves the remainder, or is the
        // last.
        while step.after <= SHORT * space.epsilon * space.norm && !space.is_rounding(step.after) {
            krylov.scale(j + 1, 1.0 / length)?;
            length = krylov.orthogonalize(j + 1, j + 1)?.after;
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

/// Step `j` of the plain recurrence of [`Cycles::recur`], by methods that every backend has. It uses two columns: each
/// new vector overwrites the last but one.
pub(super) fn recur_once<K: LanczosOps + ?Sized>(
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

/// Adds vector `j`, which is in column `v`, times its coordinates to the columns from 0 on; see [`Cycles::recur`].
pub(super) fn combine<K: LanczosOps + ?Sized>(
    krylov: &mut K,
    coordinates: Option<&[Vec<f64>]>,
    j: usize,
    v: usize,
) -> Result<()> {
    match coordinates_of(coordinates, j)? {
        Some(weights) => krylov.spread(v, &weights, 0, j > 0),
        None => Ok(()),
    }
}

/// The coordinates of vector `j`; `None` without any.
pub(super) fn coordinates_of(coordinates: Option<&[Vec<f64>]>, j: usize) -> Result<Option<Vec<f64>>> {
    let Some(coordinates) = coordinates else { return Ok(None) };
    let mut weights = alloc::with_capacity("weights of a vector", coordinates.len())?;
    weights.extend(coordinates.iter().map(|c| c.get(j).copied().unwrap_or(0.0)));
    Ok(Some(weights))
}
