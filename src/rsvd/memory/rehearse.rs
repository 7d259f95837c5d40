//! The calls of a session, run with sizes instead of matrices.

use super::Planned;
use super::ledger::Ledger;
use super::shape::{DataAssumption, Shape};
use crate::error::Result;
use crate::rsvd::algorithm::{self, Factors, Phase, Run, estimate, find, rehearse_adaptive};
use crate::rsvd::calls::{decompose_task, error_of, symmetric_task, task_of};
use crate::rsvd::erased::{Tall, Typed};
use crate::rsvd::pca::{map_means_bytes, map_shifts_bytes};
use crate::rsvd::plan::{Goal, WantedFactors};
use crate::scalar::Scalar;

/// Peak of the bytes that the CPU backend charges for a call, without the buffers of a source.
pub(super) fn peak<T: Scalar>(
    planned: &Planned<'_>,
    wanted: WantedFactors,
    shape: Shape,
    course: DataAssumption,
) -> Result<u64> {
    let Planned { context, plan, options, goal, given, .. } = *planned;
    let mut ledger = Ledger::<T>::new(shape, course, options.orthonormalization.kind());
    let task = match goal {
        Goal::Decompose => decompose_task(options, plan, wanted.u, wanted.v),
        Goal::Symmetric => symmetric_task(options, plan),
        Goal::Basis(_) | Goal::Products(_) | Goal::Map { .. } => task_of(options, plan),
    };
    let mut operations = Typed::new(&mut ledger);
    let mut run = Run::new(&mut operations, &task, context, 0);
    (run.given, run.saves_state) = (given, options.restart_path.is_some());
    match goal {
        Goal::Decompose => decompose(&mut run, wanted)?,
        Goal::Symmetric => symmetric(&mut run)?,
        Goal::Basis(_) if plan.transposed => {
            let (_w, p) = find::rows(&mut run, true)?;
            if let Some(mut p) = p {
                scaled(&mut run, &mut p, task.columns)?;
            }
        }
        Goal::Basis(_) => drop(find::columns(&mut run, true)?),
        Goal::Products(width) => products(&mut run, width)?,
        Goal::Map { width, is_centred } => map(&mut run, width, is_centred, course != DataAssumption::Regular)?,
    }
    Ok(ledger.peak())
}

fn scaled(run: &mut Run<'_>, p: &mut Tall, k: usize) -> Result<()> {
    let diagonal = run.identity(k, k)?;
    run.ops.tall_transform(p, &diagonal)
}

fn decompose(run: &mut Run<'_>, wanted: WantedFactors) -> Result<()> {
    let factors = if run.task.tolerance > 0.0 { rehearse_adaptive(run)? } else { algorithm::decompose(run)? };
    error_of(run, &factors)?;
    if run.task.tolerance > 0.0 {
        return padded(run, factors);
    }
    // Scores of principal components.
    let (k, Factors { u, v, .. }) = (run.task.rank, factors);
    if let Some(mut u) = u.filter(|_| wanted.u && run.task.phase == Phase::Right) {
        let k = k.min(run.ops.tall_width(&u));
        scaled(run, &mut u, k)?;
    }
    drop(v);
    Ok(())
}

/// Factors extended to the largest rank.
fn padded(run: &mut Run<'_>, factors: Factors) -> Result<()> {
    let (rank, n) = (run.task.rank, run.ops.columns());
    let _place = run.identity(factors.s.len(), rank)?;
    if factors.u.is_some() {
        run.ops.tall("U", rank)?;
    }
    drop(factors.u);
    if factors.v.is_some() {
        run.ops.zeros("V", n, rank)?;
    }
    Ok(())
}

fn symmetric(run: &mut Run<'_>) -> Result<()> {
    let factors = algorithm::symmetric(run)?;
    if let Some(u) = factors.u.as_ref().filter(|_| run.task.error.is_probed()) {
        let v = run.ops.matrix_of(run.context, "eigenvectors", u)?;
        estimate::probe(run, estimate::Relation::of(run.task.method), u, &factors.s, &v)?;
    }
    Ok(())
}

/// A W, shifted and scaled in each column. Products that overflow are computed anew, beside those that do not.
fn map(run: &mut Run<'_>, width: usize, is_centred: bool, rescales: bool) -> Result<()> {
    let count = crate::shape::product("weights", run.ops.columns(), width)?;
    let _weights = run.ops.charge(run.context, "weights", count.saturating_mul(run.ops.element_bytes()))?;
    let w = run.ops.zeros("weights", run.ops.columns(), width)?;
    let _means = run.ops.charge(run.context, "means of columns", map_means_bytes(run.ops.columns(), is_centred))?;
    let _shifts = run.ops.charge(run.context, "shifts of products", map_shifts_bytes(width))?;
    // Of a try before.
    let _known = if rescales { Some(run.ops.tall("known products", width)?) } else { None };
    let mut p = run.ops.tall("products", width)?;
    run.ops.pass_multiply(&w, &mut p)?;
    drop(w);
    if !rescales {
        return Ok(());
    }
    let ones = run.ops.tall_ones(run.context)?;
    let offset = run.ops.zeros("offsets", 1, width)?;
    run.ops.tall_multiply(1.0, &ones, &offset, 1.0, &mut p)
}

/// Errors and residuals of given factors.
fn products(run: &mut Run<'_>, width: usize) -> Result<()> {
    let (u, v) = (run.ops.tall("u", width)?, run.ops.zeros("v", run.ops.columns(), width)?);
    let s = crate::alloc::filled("singular values", width, 1.0)?;
    estimate::probe(run, estimate::Relation::Given, &u, &s, &v)?;
    estimate::residuals(run, &u, &s, &v)?;
    Ok(())
}
