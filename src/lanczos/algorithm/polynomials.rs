//! The choice of the polynomial that replaces the operator in a filtered solve.

use super::transform::Transform;
use crate::alloc;
use crate::error::{Error, Result};

const WHAT: &str = "filtered Lanczos iteration";

/// Largest degree that is chosen for an end of the spectrum.
const END: f64 = 1000.0;

/// Values that differ by less than this many eps ||A|| count as copies of one eigenvalue.
const ROUNDINGS: f64 = 200.0;

/// Distance from copies to the interval of a polynomial, in units of sqrt(eps) ||A||. A rounding error of eps ||A|| in a
/// product changes the value of the polynomial by about 2.4 eps ||A|| over this distance. In single precision these are
/// 5e-5, a few times the default tolerance.
const CLEARANCE: f64 = 16.0;

/// The distance that a polynomial's interval must keep from `values`, for an operator of norm `norm`: 0 unless all of
/// them are copies of one eigenvalue. The distances of copies are rounding errors. An interval that ended as near would
/// need a polynomial of a high degree, whose rounding errors exceed the tolerance.
pub(super) fn clearance(values: &[f64], norm: f64, epsilon: f64) -> f64 {
    let are_copies = (values[0] - values[values.len() - 1]).abs() <= ROUNDINGS * epsilon * norm;
    if are_copies { CLEARANCE * epsilon.sqrt() * norm } else { 0.0 }
}

/// The polynomial for the end of the spectrum where `values` lie, the most wanted first; `far` is the other end.
/// Eigenvalues between `far` and the last of `values` are damped, but for those nearer to the first than `clearance`.
pub(super) fn end_filter(
    values: &[f64],
    wanted: usize,
    (far, clearance): (f64, f64),
    degree: usize,
    epsilon: f64,
) -> Transform {
    let (top, last) = (values[0], values[values.len() - 1]);
    let span = top - far;
    // If all values are equal, the interval must still not include them.
    let most = ((1.0 - 1e-6) * span.abs()).min(span.abs() - clearance.min(0.5 * span.abs()));
    let edge = far + (last - far).signum() * (last - far).abs().min(most);
    let (center, half) = (0.5 * (far + edge), 0.5 * (edge - far).abs().max(f64::MIN_POSITIVE));
    let growth = |v: f64| ((v - center).abs() / half).max(1.0 + 1e-12).acosh();
    let at = wanted.min(values.len()) - 1;
    // At the last wanted value the polynomial is ten times as large as in the interval. At the first it is so small
    // that rounding errors leave digits to the last one.
    let most = epsilon.powf(-0.25).max(20.0);
    let chosen = (10f64.acosh() / growth(values[at])).min(most.acosh() / growth(top)).clamp(4.0, END);
    let degree = if degree > 0 { degree } else { chosen.ceil() as usize };
    Transform::End { center, half, top, degree, fold: None }
}

/// Half the length of the interval around `sigma` that holds `share` of the spectrum, from the density around it. The
/// density uses as many nodes as that share takes, and at least six, because one node's place is random. Nodes on the
/// same side of `sigma` that are nearer to each other than `apart` count once: copies of one value would hold any share
/// in an interval of length 0.
pub(super) fn window(points: &[f64], weights: &[f64], sigma: f64, share: f64, apart: f64) -> f64 {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let far = |i: usize| (points[i] - sigma).abs();
    order.sort_by(|&i, &j| far(i).total_cmp(&far(j)));
    let (mut held, mut reach) = (0.0, 0.0);
    let (mut count, mut last) = (0, [f64::NEG_INFINITY, f64::INFINITY]);
    for &i in &order {
        // `last` is the previous node on the same side of sigma.
        let side = usize::from(points[i] < sigma);
        let is_copy = (points[i] - last[side]).abs() <= apart;
        if held >= share && count >= 6 && !is_copy {
            break;
        }
        held += weights[i];
        reach = far(i);
        last[side] = points[i];
        count += usize::from(!is_copy);
    }
    if held > 0.0 { (reach * share / held).max(f64::MIN_POSITIVE) } else { 1.0 }
}

/// The polynomial that is 1 at `sigma` and decreases to about a third at distance `width`: the Chebyshev series of a
/// delta function with Lanczos' sigma damping (Li, Xi, Erlandson and Saad, SIAM J. Sci. Comput. 41, 2019). With
/// `degree` 0, the degree is chosen for that width, at most `most`.
pub(super) fn delta_filter(
    [low, high]: [f64; 2],
    sigma: f64,
    width: f64,
    (degree, most): (usize, usize),
) -> Result<Transform> {
    let (center, half) = (0.5 * (low + high), 0.5 * (high - low).max(f64::MIN_POSITIVE));
    let angle = ((sigma - center) / half).clamp(-1.0, 1.0).acos();
    let lobe = width / half / angle.sin().max((width / half).sqrt());
    let degree = if degree > 0 { degree.max(2) } else { (2.5 / lobe).clamp(8.0, most as f64).ceil() as usize };
    let mut coefficients = alloc::with_capacity(WHAT, degree + 1)?;
    for k in 0..=degree {
        let x = k as f64 * std::f64::consts::PI / (degree + 1) as f64;
        let damping = if k == 0 { 0.5 } else { x.sin() / x };
        coefficients.push(damping * (k as f64 * angle).cos());
    }
    let value: f64 = coefficients.iter().enumerate().map(|(k, c)| c * (k as f64 * angle).cos()).sum();
    coefficients.iter_mut().for_each(|c| *c /= value);
    Ok(Transform::Series { center, half, coefficients })
}

/// The square of sigma's distance from the farther end of the spectrum: the norm of (A - sigma I)^2.
///
/// # Errors
/// [`Error::InvalidArgument`] if that leaves the range of numbers of roundoff `epsilon`.
pub(super) fn squared_distance(sigma: f64, [low, high]: [f64; 2], epsilon: f64) -> Result<f64> {
    let far = (low - sigma).abs().max((high - sigma).abs());
    let (largest, name) = if epsilon > f64::EPSILON { (f64::from(f32::MAX), "single") } else { (f64::MAX, "double") };
    if far * far <= largest {
        return Ok(far * far);
    }
    let limit = largest.sqrt();
    Err(Error::invalid(
        "sigma",
        format!(
            "is {sigma:e}, {far:.1e} from an eigenvalue: above {limit:.1e} the square leaves the range of {name} precision"
        ),
    ))
}
