//! Clusters of points: k-means, and pivoted QR of coordinates.

use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::small::{self, Matrix};
use crate::error::{Error, Result, real};
use crate::matrix::not_finite;
use crate::progress::{Progress, UNCHECKED};
use crate::rng;
use crate::scalar::{Complex, power_of_two};
use crate::shape::to_u64;

const WHAT: &str = "clusters";

/// Rows in a piece of work; it does not depend on the number of threads.
const PIECE: usize = 4096;

/// Largest number of rounds of Lloyd's iteration.
const ROUNDS: usize = 300;

/// Cluster of each of n points, and how tight the clusters are.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// Cluster of each point, 0 to k - 1.
    pub labels: Vec<usize>,
    /// Sum of the squared distances of the points from their centres.
    pub inertia: f64,
}

fn check(points: &[f64], n: usize, clusters: usize) -> Result<usize> {
    if n == 0 || !points.len().is_multiple_of(n) || points.is_empty() {
        return Err(Error::invalid("points", format!("has {} elements for {n} points", points.len())));
    }
    if clusters == 0 || clusters > n {
        return Err(Error::invalid("clusters", format!("is {clusters}, outside 1 to n = {n}")));
    }
    if let Some(k) = points.iter().position(|x| !x.is_finite()) {
        return Err(not_finite::entry("points", (k % n, k / n), false, Complex::new(points[k], 0.0)));
    }
    Ok(points.len() / n)
}

/// Charges the context's memory limit for `numbers` of 8 bytes.
fn charged(context: &Context, numbers: usize) -> Result<Charge> {
    context.host_budget().charge_host(WHAT, numbers.saturating_mul(size_of::<f64>()))
}

/// Converts points to row-major order.
fn by_rows(points: &[f64], n: usize, dims: usize) -> Result<Vec<f64>> {
    let mut rows = alloc::filled(WHAT, points.len(), 0.0)?;
    for (j, column) in points.chunks_exact(n).enumerate() {
        column.iter().enumerate().for_each(|(i, x)| rows[i * dims + j] = *x);
    }
    Ok(rows)
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Squared distances, and sums of them, below this have lost digits to underflow or are 0: one far point scales the
/// others down.
const SMALL2: f64 = 1e-280;

/// Sums of squared distances of scaled points below the square of this may be sums of digits that scaling lost.
const LEAST: f64 = 1e-290;

/// The distance itself, whose squares do not underflow.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let most = a.iter().zip(b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    if most == 0.0 {
        return 0.0;
    }
    most * a.iter().zip(b).map(|(a, b)| ((a - b) / most) * ((a - b) / most)).sum::<f64>().sqrt()
}

/// The centre that a point is nearest to, and its squared distance.
fn nearest_of(point: &[f64], centres: &[f64]) -> (f64, usize) {
    let dims = point.len();
    let mut nearest = (f64::INFINITY, 0);
    for (c, centre) in centres.chunks_exact(dims).enumerate() {
        let d = distance2(point, centre);
        if d < nearest.0 {
            nearest = (d, c);
        }
    }
    if nearest.0 >= SMALL2 {
        return nearest;
    }
    let mut least = (f64::INFINITY, 0);
    for (c, centre) in centres.chunks_exact(dims).enumerate() {
        let d = distance(point, centre);
        if d < least.0 {
            least = (d, c);
        }
    }
    (least.0 * least.0, least.1)
}

/// Squares of the points' distances from the nearest of `centres`, all over the largest square.
fn relative_squares(rows: &[f64], dims: usize, centres: &[f64], out: &mut [f64]) {
    for (to, point) in out.iter_mut().zip(rows.chunks_exact(dims)) {
        *to = centres.chunks_exact(dims).map(|centre| distance(point, centre)).fold(f64::INFINITY, f64::min);
    }
    let most = out.iter().fold(0.0f64, |most, d| most.max(*d));
    if most > 0.0 {
        out.iter_mut().for_each(|d| *d = (*d / most) * (*d / most));
    }
}

/// k-means by Lloyd's iteration from start centres of k-means++ (Arthur and Vassilvitskii, SODA 2007). The best of
/// `start_count` runs. `points` is n-by-dims, column-major. O(start_count n k dims) a round. The same seed gives the
/// same labels for any number of threads.
///
/// # Errors
/// [`Error::InvalidArgument`] for no points, numbers that are not finite, no clusters, more clusters than points, or no
/// starts; [`Error::Numerical`] for squared distances whose sum overflows, and for points that differ by so little
/// beside the largest number that one unit does not hold both; [`Error::Cancelled`] after [`Context::cancel`];
/// [`Error::OutOfMemory`].
pub fn k_means(
    context: &Context,
    points: &[f64],
    n: usize,
    clusters: usize,
    start_count: u32,
    seed: u64,
) -> Result<Labels> {
    let progress = Progress::new(context.cancel_epoch(), None);
    k_means_until(context, points, n, (clusters, start_count, seed), &progress)
}

/// [`k_means`] with numbers of clusters and starts and a seed, cancelled by `progress`.
///
/// # Errors
/// As [`k_means`]; [`Error::Cancelled`].
pub(super) fn k_means_until(
    context: &Context,
    points: &[f64],
    n: usize,
    (clusters, start_count, seed): (usize, u32, u64),
    progress: &Progress<'_>,
) -> Result<Labels> {
    let dims = check(points, n, clusters)?;
    if start_count == 0 {
        return Err(Error::invalid("start_count", "is 0, at least 1 is needed"));
    }
    // Charge the points by rows, distances, labels of the best and of the last run, and sums of every piece.
    let sums = n.div_ceil(PIECE).saturating_mul(clusters.saturating_mul(3 * dims + 1));
    let _charge = charged(context, points.len().saturating_add(3 * n).saturating_add(sums))?;
    let mut rows = by_rows(points, n, dims)?;
    let scale = unit(points);
    rows.iter_mut().for_each(|x| *x /= scale);
    let mut best: Option<(f64, Labels)> = None;
    for start in 0..start_count {
        let mut centres = start_centres(&rows, dims, clusters, seed, start, progress)?;
        let mut found = lloyd(context, &rows, dims, &mut centres, progress)?;
        let root = match found.inertia {
            inertia if inertia >= SMALL2 => inertia.sqrt(),
            _ => root_of_inertia(&rows, dims, &centres, &found.labels),
        };
        found.inertia = if found.inertia >= SMALL2 { found.inertia * scale * scale } else { (root * scale).powi(2) };
        if best.as_ref().is_none_or(|b| root < b.0) {
            best = Some((root, found));
        }
    }
    let (root, best) = best.ok_or_else(|| Error::Internal("no clusters".into()))?;
    if root < LEAST && has_lost_digits(points, scale) && !are_equal_within(points, n, &best.labels)? {
        return Err(Error::Numerical(format!(
            "points: some that differ are equal beside the largest number, {}, which is more than 1e440 times their distance",
            real(points.iter().fold(0.0f64, |most, x| most.max(x.abs())))
        )));
    }
    if !best.inertia.is_finite() {
        let problem = "points: the sum of squared distances to the centres overflows, a finite sum is needed";
        return Err(Error::Numerical(problem.into()));
    }
    Ok(best)
}

/// The power of two that the points are divided by. Their largest number is then 2^470, so that sums of squared
/// distances do not overflow, and numbers that are far smaller keep their digits. Distances whose squares underflow are
/// compared without squares.
fn unit(points: &[f64]) -> f64 {
    let most = power_of_two(points.iter().fold(0.0f64, |most, x| most.max(x.abs())));
    (most.log2() - 470.0).max(-1000.0).exp2()
}

/// Whether a number over `scale` is too small for all of its digits.
fn has_lost_digits(points: &[f64], scale: f64) -> bool {
    points.iter().any(|x| (x / scale) * scale != *x)
}

/// Whether the points of each cluster are equal, so that each is its centre.
fn are_equal_within(points: &[f64], n: usize, labels: &[usize]) -> Result<bool> {
    let clusters = labels.iter().fold(0, |most, c| most.max(c + 1));
    let mut first = alloc::filled(WHAT, clusters, usize::MAX)?;
    Ok(labels.iter().enumerate().all(|(i, c)| {
        if first[*c] == usize::MAX {
            first[*c] = i;
        }
        points.chunks_exact(n).all(|column| column[i] == column[first[*c]])
    }))
}

/// The root of the sum of squared distances of points from the centres of their clusters.
fn root_of_inertia(rows: &[f64], dims: usize, centres: &[f64], labels: &[usize]) -> f64 {
    let each = || rows.chunks_exact(dims).zip(labels).map(|(p, c)| distance(p, &centres[c * dims..(c + 1) * dims]));
    let most = each().fold(0.0f64, f64::max);
    if most == 0.0 {
        return 0.0;
    }
    most * each().map(|d| (d / most) * (d / most)).sum::<f64>().sqrt()
}

/// Start centres. Each point is drawn with a probability proportional to its squared distance from the nearest centre
/// before it.
fn start_centres(
    rows: &[f64],
    dims: usize,
    clusters: usize,
    seed: u64,
    start: u32,
    progress: &Progress<'_>,
) -> Result<Vec<f64>> {
    let n = rows.len() / dims;
    let mut near = alloc::filled(WHAT, n, f64::INFINITY)?;
    let mut is_small = false;
    let mut centres: Vec<f64> = alloc::with_capacity(WHAT, clusters * dims)?;
    for cluster in 0..clusters {
        progress.check()?;
        let draw = 0.5 + 0.5 * rng::uniform(seed, rng::stream::CLUSTERS, to_u64(cluster), start);
        let mut total: f64 = near.iter().sum();
        if total < SMALL2 {
            // The rest of the draws has distances from all centres so far, relative to the largest.
            is_small = true;
        }
        if is_small {
            relative_squares(rows, dims, &centres, &mut near);
            total = near.iter().sum();
        }
        let pick = if cluster == 0 || total == 0.0 {
            // The first centre, or every point is a centre already: draw any point.
            ((draw * n as f64) as usize).min(n - 1)
        } else {
            let mut left = draw * total;
            near.iter()
                .position(|d| {
                    left -= d;
                    left < 0.0
                })
                .unwrap_or_else(|| near.iter().rposition(|d| *d > 0.0).unwrap_or(n - 1))
        };
        let centre = &rows[pick * dims..(pick + 1) * dims];
        centres.extend_from_slice(centre);
        near.iter_mut().zip(rows.chunks_exact(dims)).for_each(|(d, p)| *d = d.min(distance2(p, centre)));
    }
    Ok(centres)
}

/// Sums and ranges of the points of each cluster, their number, and all squared distances.
struct Sums {
    centres: Vec<f64>,
    /// Smallest numbers of the points of each cluster, infinite without points.
    least: Vec<f64>,
    /// Largest numbers of the points of each cluster, negative infinite without points.
    most: Vec<f64>,
    counts: Vec<usize>,
    inertia: f64,
    moved: bool,
}

fn lloyd(context: &Context, rows: &[f64], dims: usize, centres: &mut [f64], progress: &Progress<'_>) -> Result<Labels> {
    let flag = progress.flag();
    let (n, k) = (rows.len() / dims, centres.len() / dims);
    let mut labels = alloc::filled(WHAT, n, usize::MAX)?;
    let mut inertia = f64::INFINITY;
    for _ in 0..ROUNDS {
        let centres_now = &*centres;
        let piece = |(rows, labels): (&[f64], &mut [usize])| -> Result<Sums> {
            let mut sums = Sums {
                centres: alloc::filled(WHAT, k * dims, 0.0)?,
                least: alloc::filled(WHAT, k * dims, f64::INFINITY)?,
                most: alloc::filled(WHAT, k * dims, f64::NEG_INFINITY)?,
                counts: alloc::filled(WHAT, k, 0)?,
                inertia: 0.0,
                moved: false,
            };
            flag.check()?;
            for (point, label) in rows.chunks_exact(dims).zip(labels) {
                let (d, c) = nearest_of(point, centres_now);
                sums.moved |= *label != c;
                *label = c;
                sums.inertia += d;
                sums.counts[c] += 1;
                let of = c * dims..(c + 1) * dims;
                sums.centres[of.clone()].iter_mut().zip(point).for_each(|(s, x)| *s += x);
                sums.least[of.clone()].iter_mut().zip(point).for_each(|(s, x)| *s = s.min(*x));
                sums.most[of].iter_mut().zip(point).for_each(|(s, x)| *s = s.max(*x));
            }
            Ok(sums)
        };
        let pieces: Vec<Result<Sums>> =
            context.pool().run(|| rows.par_chunks(PIECE * dims).zip(labels.par_chunks_mut(PIECE)).map(piece).collect());
        let mut moved = false;
        let (mut total, mut counts) = (alloc::filled(WHAT, k * dims, 0.0)?, alloc::filled(WHAT, k, 0usize)?);
        let mut least = alloc::filled(WHAT, k * dims, f64::INFINITY)?;
        let mut most = alloc::filled(WHAT, k * dims, f64::NEG_INFINITY)?;
        inertia = 0.0;
        for part in pieces {
            let part = part?;
            moved |= part.moved;
            inertia += part.inertia;
            total.iter_mut().zip(&part.centres).for_each(|(t, c)| *t += c);
            least.iter_mut().zip(&part.least).for_each(|(l, x)| *l = l.min(*x));
            most.iter_mut().zip(&part.most).for_each(|(m, x)| *m = m.max(*x));
            counts.iter_mut().zip(&part.counts).for_each(|(t, c)| *t += c);
        }
        if !moved {
            break;
        }
        for (c, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // A cluster without points keeps its centre.
            for d in c * dims..(c + 1) * dims {
                // The mean is rounded; that of equal points is their number.
                centres[d] = (total[d] / *count as f64).max(least[d]).min(most[d]);
            }
        }
    }
    Ok(Labels { labels, inertia })
}

/// Labels by column-pivoted QR of the coordinates (Damle, Minden and Ying, Information and Inference 8, 2019). k points
/// represent the clusters. The rows are rotated so that these k become nearly the unit vectors; the largest component
/// of a point's row is its cluster. There are as many clusters as dimensions. Needs no start values and no iteration,
/// O(n k^2). `points` is n-by-k, column-major, with orthonormal columns.
/// # Errors
/// As [`k_means`].
pub fn pivoted_qr(context: &Context, points: &[f64], n: usize) -> Result<Labels> {
    pivoted_qr_until(context, points, n, &Progress::new(context.cancel_epoch(), None))
}

/// [`pivoted_qr`], cancelled by `progress`.
///
/// # Errors
/// As [`k_means`]; [`Error::Cancelled`].
pub(super) fn pivoted_qr_until(context: &Context, points: &[f64], n: usize, progress: &Progress<'_>) -> Result<Labels> {
    let k = check(points, n, 1)?;
    // Charge the points by rows, twice, and the labels.
    let _charge = charged(context, points.len().saturating_mul(2).saturating_add(n))?;
    let mut rows = by_rows(points, n, k)?;
    // The labels do not depend on the unit. Squares of entries of about 1 keep their digits.
    let unit = power_of_two(rows.iter().fold(0.0f64, |most, x| most.max(x.abs())));
    rows.iter_mut().for_each(|x| *x /= unit);
    // Greedy choice: the row with the largest component that the chosen rows do not span.
    let mut rest = alloc::copied(WHAT, &rows)?;
    let mut basis: Vec<f64> = alloc::with_capacity(WHAT, k * k)?;
    let mut chosen = alloc::with_capacity(WHAT, k)?;
    let mut least = 0.0f64;
    // Numbers of the rows between two checks for a cancellation.
    let block = (UNCHECKED / k).max(1) * k;
    for _ in 0..k {
        let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
        let mut longest = (-1.0, 0);
        for (rows, first) in rest.chunks(block).zip((0..).step_by(block / k)) {
            progress.check()?;
            for (i, row) in rows.chunks_exact(k).enumerate() {
                let l = length(row);
                if l > longest.0 {
                    longest = (l, first + i);
                }
            }
        }
        let (squared, pick) = longest;
        if chosen.is_empty() {
            // The squared length that rounding errors give to a row that depends on the chosen ones.
            least = squared * (64.0 * k as f64 * f64::EPSILON).powi(2);
        }
        if squared <= least {
            return Err(Error::invalid("points", format!("have {} independent columns, {k} are needed", chosen.len())));
        }
        chosen.push(pick);
        let mut direction = alloc::copied(WHAT, &rest[pick * k..(pick + 1) * k])?;
        direction.iter_mut().for_each(|x: &mut f64| *x /= squared.sqrt());
        for rows in rest.chunks_mut(block) {
            progress.check()?;
            for row in rows.chunks_exact_mut(k) {
                let along: f64 = row.iter().zip(&direction).map(|(r, u)| r * u).sum();
                row.iter_mut().zip(&direction).for_each(|(r, u)| *r -= along * u);
            }
        }
        basis.extend_from_slice(&direction);
    }
    let turn = polar(&chosen, &rows, k)?;
    let mut labels = alloc::with_capacity(WHAT, n)?;
    let mut inertia = 0.0;
    for (i, row) in rows.chunks_exact(k).enumerate() {
        // Each row takes k times its numbers.
        if i.is_multiple_of((block / k / k).max(1)) {
            progress.check()?;
        }
        let turned = |c: usize| -> f64 { row.iter().enumerate().map(|(j, x)| x * turn[j * k + c]).sum() };
        let mut most = (f64::NEG_INFINITY, 0);
        for c in 0..k {
            let size = turned(c).abs();
            if size > most.0 {
                most = (size, c);
            }
        }
        labels.push(most.1);
        inertia += distance2(row, &rows[chosen[most.1] * k..(chosen[most.1] + 1) * k]);
    }
    Ok(Labels { labels, inertia: inertia * unit * unit })
}

/// The orthogonal factor of the polar decomposition of the chosen rows, transposed: row-major, k-by-k.
fn polar(chosen: &[usize], rows: &[f64], k: usize) -> Result<Vec<f64>> {
    // Column c of C is row chosen[c]. With C = U S V^T, the rotation of the rows is U V^T.
    let c = Matrix::from_fn(k, k, |j, c| rows[chosen[c] * k + j])?;
    let turned = small::orthogonal_factor(&c)?
        .ok_or_else(|| Error::Numerical("the polar factor of clusters does not converge".into()))?;
    let mut out = alloc::with_capacity(WHAT, k * k)?;
    for j in 0..k {
        out.extend((0..k).map(|c| turned[(j, c)]));
    }
    Ok(out)
}
