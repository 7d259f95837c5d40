//! Which polynomials take an operator's place in a filtered solve.

use super::transform::Transform;
use crate::alloc;
use crate::error::Result;

const WHAT: &str = "filtered Lanczos iteration";

/// Most degree that is chosen for an end of the spectrum.
const END: f64 = 1000.0;

/// The polynomial for the end where `values` lie, the most wanted first, `far` being the other end: what is not as far out
/// as the last of them is damped.
pub(super) fn end_filter(values: &[f64], wanted: usize, far: f64, degree: usize, epsilon: f64) -> Transform {
    let (top, last) = (values[0], values[values.len() - 1]);
    let span = top - far;
    // Where all are one the end is still no more than a point of the interval.
    let edge = far + (last - far).signum() * (last - far).abs().min((1.0 - 1e-6) * span.abs());
    let (center, half) = (0.5 * (far + edge), 0.5 * (edge - far).abs().max(f64::MIN_POSITIVE));
    let growth = |v: f64| ((v - center).abs() / half).max(1.0 + 1e-12).acosh();
    let at = wanted.min(values.len()) - 1;
    // The last wanted value is lifted to ten times the rest, the first no higher than leaves digits to the last.
    let most = epsilon.powf(-0.25).max(20.0);
    let chosen = (10f64.acosh() / growth(values[at])).min(most.acosh() / growth(top)).clamp(4.0, END);
    let degree = if degree > 0 { degree } else { chosen.ceil() as usize };
    Transform::End { center, half, top, degree, fold: None }
}

/// Half the length of the interval around `sigma` that holds `share` of the spectrum, by the density around it: of as many
/// nodes as it takes, and some more than one, whose own place says nothing. Nodes nearer to each other than `apart` count once:
/// a value of many copies holds any share in no length at all.
pub(super) fn window(points: &[f64], weights: &[f64], sigma: f64, share: f64, apart: f64) -> f64 {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let far = |i: usize| (points[i] - sigma).abs();
    order.sort_by(|&i, &j| far(i).total_cmp(&far(j)));
    let (mut held, mut reach) = (0.0, 0.0);
    let (mut count, mut last) = (0, [f64::NEG_INFINITY, f64::INFINITY]);
    for &i in &order {
        // The nearest node so far on the same side of sigma.
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

/// The polynomial that is 1 at `sigma` and falls to about a third `width` away: the Chebyshev series of a delta function with
/// Lanczos' sigma damping (Li, Xi, Erlandson and Saad, SIAM J. Sci. Comput. 41, 2019). A `degree` of 0 is one that does so, but
/// at most `most`.
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
