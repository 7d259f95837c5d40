//! The graph of neighbouring pixels.

use std::sync::Arc;

use crate::backend::memory::HostMemory;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::matrix::Matrix;
use crate::matrix::sparse::{Coordinates, Duplicates, Indices, List, from_coordinates};
use crate::range;
use crate::scalar::Real;
use crate::shape::{product, to_i64};

const WHAT: &str = "graph of an image";

/// Which pixels are neighbours, and the weights of their edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Pixels up to this distance are neighbours: 1 for 4, 1.5 for 8.
    pub radius: f64,
    /// Difference of intensity at which the weight has fallen to 1/e; infinite for none.
    pub intensity: f64,
    /// Distance at which the weight has fallen to 1/e; infinite for none.
    pub distance: f64,
    /// Added to every weight of a pair of neighbours; not negative.
    pub floor: f64,
}

impl Weights {
    /// Refuses weights that are out of range, and images of a wrong size or with numbers that are not finite.
    pub(super) fn check(&self, pixels: &[f64], height: usize, width: usize) -> Result<()> {
        let count = product("width", height, width)?;
        if count == 0 || pixels.len() != count {
            let problem = format!("has {} elements for an image of {height} x {width}", pixels.len());
            return Err(Error::invalid("pixels", problem));
        }
        if let Some(i) = pixels.iter().position(|x| !x.is_finite()) {
            return Err(Error::invalid("pixels", format!("element {i} is {}", pixels[i])));
        }
        if !(1.0..=100.0).contains(&self.radius) {
            return Err(Error::invalid("radius", format!("is {}, outside 1 to 100", real(self.radius))));
        }
        for (name, scale) in [("intensity", self.intensity), ("distance", self.distance)] {
            if scale.is_nan() || scale <= 0.0 {
                return Err(Error::invalid(name, format!("is {}, more than 0 is needed", real(scale))));
            }
        }
        range::not_negative("floor", self.floor)?;
        Ok(())
    }

    /// The weight of two pixels whose intensities differ by `difference`, at the distance that [`offsets`] gave.
    pub(super) fn of(&self, difference: f64, far: f64) -> f64 {
        let step = difference / self.intensity;
        (-step * step - far).exp() + self.floor
    }
}

/// The offsets of a pixel's neighbours (rows down, columns to the right), and for each the square of its distance over
/// `distance`.
pub(super) fn offsets(weights: &Weights) -> Vec<(i64, i64, f64)> {
    let reach = weights.radius as i64;
    let mut offsets = Vec::new();
    for dy in -reach..=reach {
        for dx in -reach..=reach {
            let squared = (dx * dx + dy * dy) as f64;
            if squared > 0.0 && squared <= weights.radius * weights.radius {
                offsets.push((dy, dx, squared / (weights.distance * weights.distance)));
            }
        }
    }
    offsets
}

/// The weighted graph of an image of `height` rows of `width` pixels, row by row: vertex i is pixel i, and neighbours p and
/// q have weight exp(-(I_p - I_q)^2 / intensity^2) exp(-|p - q|^2 / distance^2) + floor (Shi and Malik, IEEE PAMI 22,
/// 2000). Symmetric, no loops; weights are computed in double precision.
///
/// # Errors
/// [`Error::InvalidArgument`] for an empty image, another number of pixels, pixels that are not finite, a radius below 1 or
/// above 100, scales not above 0, a floor below 0; [`Error::OutOfMemory`]; [`Error::Cancelled`], at the next row of pixels.
pub fn image_graph_of<T: Real>(
    context: &Arc<Context>,
    pixels: &[f64],
    height: usize,
    width: usize,
    weights: Weights,
) -> Result<Matrix> {
    let cancel = context.cancel_watch();
    weights.check(pixels, height, width)?;
    let count = product("width", height, width)?;
    let offsets = offsets(&weights);
    let most = product(WHAT, count, offsets.len())?;
    let budget = context.host_budget();
    let (mut rows, mut cols) = (List::with_capacity(most, budget)?, List::with_capacity(most, budget)?);
    let mut values = List::with_capacity(most, budget)?;
    let (high, wide) = (to_i64(height), to_i64(width));
    for y in 0..high {
        cancel.check()?;
        for x in 0..wide {
            let here = y * wide + x;
            for &(dy, dx, far) in &offsets {
                if !(0..high).contains(&(y + dy)) || !(0..wide).contains(&(x + dx)) {
                    continue;
                }
                let there = (y + dy) * wide + x + dx;
                rows.push(here)?;
                cols.push(there)?;
                values.push(weights.of(pixels[here as usize] - pixels[there as usize], far))?;
            }
        }
    }
    let bytes = product(WHAT, values.len(), size_of::<T>())?;
    let mut held = HostMemory::allocate(WHAT, bytes, budget)?;
    held.as_mut_slice::<T>()?.iter_mut().zip(values.as_slice()?).for_each(|(to, v)| *to = T::from_f64(*v));
    let from = Coordinates {
        rows: count,
        cols: count,
        row_idx: Indices::I64(rows.as_slice()?),
        col_idx: Indices::I64(cols.as_slice()?),
        base: 0,
        dtype: T::DTYPE,
        values: Some(&held),
    };
    from_coordinates(context, &from, Duplicates::Refuse)
}

/// [`image_graph_of`] in F64.
///
/// # Errors
/// As [`image_graph_of`].
pub fn image_graph(
    context: &Arc<Context>,
    pixels: &[f64],
    height: usize,
    width: usize,
    weights: Weights,
) -> Result<Matrix> {
    image_graph_of::<f64>(context, pixels, height, width, weights)
}
