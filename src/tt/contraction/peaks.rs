//! Bounds on intermediate results from the largest entries of the cores. They show whether a matrix library may lose
//! digits.
//!
//! A library computes a product F X before the factor that scales F is applied, and the magnitude of the product is not
//! measured. With F of 2^-440 and X of 2^-620 the product is subnormal and has only a few digits, although the next
//! core may make its numbers large again. purlin's own kernels measure every product. For a library this bound decides:
//! numbers between two measured environments differ from those of the environments by at most the factors by which the
//! cores between them differ from 1.

use super::plan::Plan;
use crate::alloc;
use crate::error::Result;
use crate::shape::to_u64;
use crate::tensor::train::Shape;
use crate::trains::info::Kernel;
use crate::trains::options::Method;

const WHAT: &str = "largest numbers of cores";

/// Bounds on the intermediate results of a contraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Whether products that are not measured may lose digits. Then every product is scaled by the exponents of the
    /// cores.
    pub far: bool,
    /// Bound of the exponent by which an environment grows from any site to the last.
    pub growth: i64,
}

/// Whether a plan multiplies by a library and therefore needs [`Sizes`]. [`Method::Power`] does not: it scales every
/// core.
pub(super) fn matter(plan: &Plan) -> bool {
    plan.rescue && plan.kernel == Kernel::Products && plan.method != Method::Power && plan.sites() > 1
}

/// Number of cores between two environments that a GPU measures in double precision, plus one.
const WINDOW: usize = 5;

/// Number of cores in a window between two measured environments, and two limits of exponent sums: of the cores in such
/// a window, and of the cores at an end, whose dense tensors are not measured. A measured environment is within 2^60
/// (single) or 2^500 (double) of 1. The rest of the range, down to the smallest number of the type, holds the digits
/// and the differences between the values of balanced bonds.
fn most(single: bool) -> (usize, i64, i64) {
    if single { (1, 40, 90) } else { (WINDOW, 320, 800) }
}

/// The [`Sizes`] of a contraction by `plan`. `peaks` has the exponents of the cores of x and of y.
pub(super) fn sizes(plan: &Plan, shapes: [&Shape; 2], peaks: [&[i64]; 2]) -> Result<Sizes> {
    let at = |t: usize, k: usize| peaks[t].get(k).or(peaks[t].first()).copied().unwrap_or(0);
    let (window, most, most_dense) = most(plan.dtype.is_single());
    let mut away = alloc::with_capacity(WHAT, plan.cores)?;
    let mut growth = 0i64;
    for i in 0..plan.cores {
        let k = plan.core(to_u64(i));
        let (qx, qy) = (at(0, k), at(1, k));
        away.push(qx.abs() + qy.abs());
        let ([r, n, _], [s, ..]) = (shapes[0].core(k), shapes[1].core(k));
        let terms = [r, n, s].map(|size| i64::from(size.next_power_of_two().ilog2())).iter().sum::<i64>();
        growth += (qx + qy + terms).max(0);
    }
    let growth = growth.saturating_mul(i64::try_from(plan.repeat).unwrap_or(i64::MAX));
    let d = away.len();
    let around = |first: usize| (0..window.min(d)).map(|j| away[(first + j) % d]).sum::<i64>();
    let dense = |sites: usize, last: bool| {
        let of = |i: usize| away[if last { d - 1 - i } else { i }];
        (0..sites.min(d)).map(of).sum::<i64>()
    };
    let far = (0..d).any(|first| around(first) > most)
        || dense(plan.grow[0], false) > most_dense
        || dense(plan.grow[1], true) > most_dense;
    Ok(Sizes { far, growth })
}
