//! Quantities of a sweep that follow from its plan: sites, length, and the bond at which both ends meet.

use crate::alloc;
use crate::backend::gpu::kernels::tt::{self, Site};
use crate::contraction::plan::Plan;
use crate::error::{Error, Result};
use crate::shape::to_u64;
use crate::tensor::train::Shape;

/// Number of sites of a sweep. Returns an error beyond 2^31 - 1.
pub(super) fn length(plan: &Plan) -> Result<usize> {
    usize::try_from(plan.sites())
        .ok()
        .filter(|&n| n <= i32::MAX.unsigned_abs() as usize)
        .ok_or_else(|| Error::NotSupported(format!("repeat: {} sites, at most {} on a GPU", plan.sites(), i32::MAX)))
}

/// Shapes of the cores of both trains, from the cut on.
pub(super) fn sites(plan: &Plan, x: &Shape, y: &Shape) -> Result<Vec<Site>> {
    let mut sites = alloc::with_capacity("sites of a contraction", plan.cores)?;
    for i in 0..plan.cores {
        let k = plan.core(to_u64(i));
        let ([r, n, r2], [s, _, s2]) = (x.core(k), y.core(k));
        sites.push(Site { r: [r, r2], s: [s, s2], n });
    }
    Ok(sites)
}

/// The bond at which both ends meet, as the number of sites from the left. Both ends then take about the same time.
pub(super) fn middle(sites: &[Site]) -> usize {
    let cost = |site: &Site| {
        let ([r, r2], [s, s2]) = (site.r.map(|v| v as f64), site.s.map(|v| v as f64));
        // The constant stands for the latency, which counts even for rank 1.
        site.n as f64 * (s * r2 * (r + s2) + 1e4)
    };
    let all: f64 = sites.iter().map(cost).sum();
    let mut left = 0.0;
    let reached = sites.iter().position(|site| {
        left += cost(site);
        2.0 * left >= all
    });
    reached.map_or(1, |k| k + 1).clamp(1, sites.len().saturating_sub(1).max(1))
}

/// Whether purlin's own kernels contract this product from both ends.
pub(super) fn is_two_ended(plan: &Plan, sites: &[Site], length: usize) -> bool {
    plan.pairs.len() == 1 && length == sites.len() && length >= 2
}

/// Whether the plan forbids scaling.
pub(super) fn is_unscaled(plan: &Plan) -> bool {
    !plan.scaled && !plan.rescue
}

/// A sweep over all sites from the left.
pub(super) fn sweep(plan: &Plan, length: usize) -> tt::Sweep {
    tt::Sweep {
        length,
        middle: None,
        pairs_x: plan.pairs.r,
        halved: plan.pairs.halved,
        conjugate: plan.conjugate,
        unscaled: is_unscaled(plan),
    }
}
