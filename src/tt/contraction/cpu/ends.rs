//! Contractions of open trains from both ends at the same time.

use super::products::{Block, Bra, Buffer, multiply};
use super::sweep::{Care, Pair, Suspicious, Sweep, Workspace};
use crate::backend::cpu::parallel;
use crate::dense::Mat;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::shape::to_u64;
use crate::trains::scaled::Scaled;

type Tried<T> = Result<std::result::Result<T, Suspicious>>;

/// S of an open train with at least two cores.
pub fn open<T: Scalar>(pair: &Pair<'_, T>, workspaces: &mut [Workspace], care: Care) -> Tried<Scaled> {
    let plan = pair.work.plan;
    let Some((workspace, rest)) = workspaces.split_first_mut() else { return Ok(Ok(Scaled::ZERO)) };
    let Some(other) = rest.first_mut().filter(|_| plan.meet < plan.cores) else {
        let k = plan.core(to_u64(plan.cores) - 1);
        return Ok(match from_left(pair, workspace, care, plan.cores - 1)? {
            Ok(sweep) if sweep.is_zero() => Ok(Scaled::ZERO),
            Ok(sweep) => Ok(sweep.last(pair, k, 0..1)?),
            Err(e) => Err(e),
        });
    };
    let (left, right) =
        parallel::join(|| from_left(pair, workspace, care, plan.meet), || from_right(pair, other, care));
    let k = plan.core(to_u64(plan.meet));
    let [_, r, _, s, _] = pair.sizes(k);
    Ok(match (left?, right?) {
        (Ok(left), Ok(right)) if left.is_zero() || right.is_zero() => Ok(Scaled::ZERO),
        (Ok(left), Ok(right)) => Ok(left.meet::<T>(right, r * s)?),
        _ => Err(Suspicious),
    })
}

/// The environment after the first `sites` sites.
fn from_left<'r, T: Scalar>(
    pair: &Pair<'_, T>,
    workspace: &'r mut Workspace,
    care: Care,
    sites: usize,
) -> Tried<Sweep<'r>> {
    let plan = pair.work.plan;
    let dense = if care == Care::Products { 0 } else { plan.grow[0] };
    if dense > 1 {
        grow(pair, workspace, dense, false)?;
    }
    let mut sweep = Sweep::new(workspace, care);
    for i in dense.max(1) - 1..sites {
        let k = plan.core(to_u64(i));
        if i == 0 {
            sweep.first(pair, k, 0..1)?;
        } else if i >= dense {
            sweep.right(pair, k)?;
        }
        let [_, _, r, _, s] = pair.sizes(k);
        if sweep.scale::<T>(r * s)?.is_err() {
            return Ok(Err(Suspicious));
        }
        pair.work.step()?;
        if sweep.is_zero() {
            break;
        }
    }
    Ok(Ok(sweep))
}

/// The environment before site `plan.meet`.
fn from_right<'r, T: Scalar>(pair: &Pair<'_, T>, workspace: &'r mut Workspace, care: Care) -> Tried<Sweep<'r>> {
    let plan = pair.work.plan;
    let dense = if care == Care::Products { 0 } else { plan.grow[1] };
    if dense > 1 {
        grow(pair, workspace, dense, true)?;
    }
    let mut sweep = Sweep::new(workspace, care);
    let count = plan.cores - plan.meet;
    for i in dense.max(1) - 1..count {
        let k = plan.core(to_u64(plan.cores - 1 - i));
        if i == 0 {
            sweep.first_left(pair, k)?;
        } else if i >= dense {
            sweep.left(pair, k)?;
        }
        let [_, r, _, s, _] = pair.sizes(k);
        if sweep.scale::<T>(r * s)?.is_err() {
            return Ok(Err(Suspicious));
        }
        pair.work.step()?;
        if sweep.is_zero() {
            break;
        }
    }
    Ok(Ok(sweep))
}

/// Computes the environment after `sites` sites at one end from the dense tensors of both trains over these sites.
fn grow<T: Scalar>(pair: &Pair<'_, T>, workspace: &mut Workspace, sites: usize, leftwards: bool) -> Result<()> {
    let Bra::Same(x) = pair.x else { return Ok(()) };
    let middle = workspace.t.bytes() / size_of::<T>() / 2;
    let (rows, r) = dense(pair, x, workspace, 0, sites, leftwards)?;
    let (_, s) = dense(pair, pair.y, workspace, middle, sites, leftwards)?;
    let Workspace { f, t, .. } = workspace;
    let t = t.get::<T>()?;
    // The bond is the last index of the dense tensors at the left end, the first at the right end.
    let view = |start: usize, bond: usize| {
        let (rows, cols) = if leftwards { (bond, rows) } else { (rows, bond) };
        Mat::from_columns(&t[start..start + rows * cols], rows, cols)
    };
    let (x, y) = (view(0, r), view(middle, s));
    let (x, y) = if leftwards { (x.transpose(), y) } else { (x, y.transpose()) };
    let y = y.conjugate_if(pair.work.plan.conjugate);
    multiply(pair.threads, 1.0, y, x, false, Block::packed(s, r).view_mut(f.get_mut::<T>()?));
    Ok(())
}

/// Writes the dense tensor of a train over `sites` sites at one end to `workspace.t`, from element `start` on. Returns
/// the number of mode index combinations and the size of the bond.
fn dense<T: Scalar>(
    pair: &Pair<'_, T>,
    train: &crate::tensor::train::Cores<'_, T>,
    workspace: &mut Workspace,
    start: usize,
    sites: usize,
    leftwards: bool,
) -> Result<(usize, usize)> {
    let plan = pair.work.plan;
    let core = |i: usize| plan.core(to_u64(if leftwards { plan.cores - 1 - i } else { i }));
    let (mut rows, mut bond) = (1, 1);
    for i in 0..sites {
        let k = core(i);
        let [left, n, right] = train.shape().core(k);
        // The steps alternate between `t` and `f` so that the last one writes to `t`.
        let into_t = (sites - 1 - i).is_multiple_of(2);
        let far = if leftwards { left } else { right };
        if i == 0 {
            let to = if into_t { &mut workspace.t.get_mut::<T>()?[start..] } else { workspace.f.get_mut::<T>()? };
            to[..n * far].copy_from_slice(train.core(k));
        } else {
            let (from, to): (&Buffer, &mut Buffer) =
                if into_t { (&workspace.f, &mut workspace.t) } else { (&workspace.t, &mut workspace.f) };
            let from = &from.get::<T>()?[if into_t { 0 } else { start }..];
            let to = &mut to.get_mut::<T>()?[if into_t { start } else { 0 }..];
            let (a, b, c) = if leftwards {
                // R'[(a i), M] = X[(a i), a'] R[a', M].
                (
                    Mat::from_columns(train.core(k), left * n, right),
                    Mat::from_columns(&from[..bond * rows], bond, rows),
                    Block::packed(left * n, rows),
                )
            } else {
                // L'[N, (i a')] = L[N, a] X[a, (i a')].
                (
                    Mat::from_columns(&from[..rows * bond], rows, bond),
                    Mat::from_columns(train.core(k), left, n * right),
                    Block::packed(rows, n * right),
                )
            };
            multiply(pair.threads, 1.0, a, b, false, c.view_mut(to));
        }
        (rows, bond) = (rows * n, far);
    }
    Ok((rows, bond))
}
