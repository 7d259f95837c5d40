//! A gradient scheme: which volumes are unweighted, and the b-values and directions of the others.

use crate::alloc;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::error::{Error, Result, real, rounded};
use crate::range;
use crate::scalar::DType;
use crate::tensor::{HostInput, Tensor};

/// Largest difference of a gradient direction's norm from 1. Files contain six digits or fewer. With a larger difference the
/// column is not a direction (a b-value multiplied into the vector, a wrong orientation of the table).
const NORM_TOLERANCE: f64 = 1e-2;

/// Checked b-values and gradient directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheme {
    /// Indices of volumes without diffusion weighting, ascending.
    pub unweighted: Vec<usize>,
    /// Indices of volumes with diffusion weighting, ascending.
    pub weighted: Vec<usize>,
    /// b-value of each weighted volume.
    pub bvals: Vec<f64>,
    /// Unit direction of each weighted volume.
    pub directions: Vec<[f64; 3]>,
}

/// Refuses a limit of unweighted b-values that is none.
pub(super) fn check_threshold(b0_threshold: f64) -> Result<()> {
    range::not_negative("b0_threshold", b0_threshold).map(drop)
}

impl Scheme {
    /// The scheme of one b-value and one gradient for each volume. A volume with b at or below `b0_threshold` is unweighted,
    /// whatever its direction is.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for values that are negative or not finite, directions whose norm is not 1 within
    /// 1 %, and schemes without an unweighted or without a weighted volume.
    pub fn new(bvals: &[f64], bvecs: &[[f64; 3]], b0_threshold: f64) -> Result<Self> {
        check_threshold(b0_threshold)?;
        let n = bvals.len();
        let what = "gradient scheme";
        let mut scheme = Self {
            unweighted: alloc::with_capacity(what, n)?,
            weighted: alloc::with_capacity(what, n)?,
            bvals: alloc::with_capacity(what, n)?,
            directions: alloc::with_capacity(what, n)?,
        };
        for (k, (&b, g)) in bvals.iter().zip(bvecs).enumerate() {
            if !b.is_finite() || b < 0.0 {
                return Err(Error::invalid(
                    "bvals",
                    format!("element {k} is {}, a finite number of at least 0 is needed", real(b)),
                ));
            }
            if b <= b0_threshold {
                scheme.unweighted.push(k);
                continue;
            }
            let norm = (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]).sqrt();
            if norm.is_nan() || (norm - 1.0).abs() > NORM_TOLERANCE {
                return Err(Error::invalid(
                    "bvecs",
                    format!("column {k} has norm {}, a unit vector is needed", rounded(norm, 6)),
                ));
            }
            scheme.weighted.push(k);
            scheme.bvals.push(b);
            scheme.directions.push(g.map(|x| x / norm));
        }
        if scheme.unweighted.is_empty() {
            return Err(Error::invalid(
                "bvals",
                format!(
                    "none of {n} is at or below b0_threshold = {}; the signal without diffusion weighting is needed",
                    real(b0_threshold)
                ),
            ));
        }
        if scheme.weighted.is_empty() {
            return Err(Error::invalid("bvals", format!("none of {n} is above b0_threshold = {}", real(b0_threshold))));
        }
        Ok(scheme)
    }

    /// The scheme in the tensors `bvals`, N, and `bvecs`, 3 x N, of either real type.
    pub(crate) fn read(
        context: &Context,
        queue: Option<&GpuStream>,
        bvals: &Tensor,
        bvecs: &Tensor,
        volumes: usize,
        b0_threshold: f64,
    ) -> Result<Self> {
        bvals.expect_context("bvals", context)?;
        bvecs.expect_context("bvecs", context)?;
        bvals.expect_dims("bvals", &[volumes])?;
        bvecs.expect_dims("bvecs", &[3, volumes])?;
        let (bvals, bvecs) = (HostInput::new(queue, "bvals", bvals)?, HostInput::new(queue, "bvecs", bvecs)?);
        let mut b = alloc::with_capacity("b-values", volumes)?;
        let mut g = alloc::with_capacity("gradient directions", volumes)?;
        for k in 0..volumes {
            b.push(real_at("bvals", &bvals, &[k])?);
            g.push([
                real_at("bvecs", &bvecs, &[0, k])?,
                real_at("bvecs", &bvecs, &[1, k])?,
                real_at("bvecs", &bvecs, &[2, k])?,
            ]);
        }
        Self::new(&b, &g, b0_threshold)
    }

    /// Number of volumes N, of both kinds.
    pub fn volumes(&self) -> usize {
        self.unweighted.len() + self.weighted.len()
    }

    /// Refuses schemes of more than one shell, for models with a single b-value.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the b-values differ by more than a fifth of the largest.
    pub fn expect_one_shell(&self, model: &str) -> Result<()> {
        let (low, high) = self.bvals.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &b| (low.min(b), high.max(b)));
        if high - low > 0.2 * high {
            return Err(Error::invalid(
                "bvals",
                format!(
                    "run from {} to {}; {model} needs one shell, so give it the volumes of one",
                    rounded(low, 0),
                    rounded(high, 0)
                ),
            ));
        }
        Ok(())
    }
}

fn real_at(argument: &str, tensor: &Tensor, index: &[usize]) -> Result<f64> {
    match tensor.dtype() {
        DType::F32 => Ok(f64::from(tensor.view::<f32>(argument)?.get(index))),
        DType::F64 => Ok(tensor.view::<f64>(argument)?.get(index)),
        other => Err(Error::invalid(argument, format!("is {}, F32 or F64 is needed", other.name()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 3] = [1.0, 0.0, 0.0];

    #[test]
    fn volumes_are_sorted_by_weighting_and_directions_made_unit() {
        let s = Scheme::new(&[0.0, 1000.0, 50.0, 2000.0], &[[f64::NAN; 3], [0.0, 0.999, 0.0], X, X], 50.0).unwrap();
        assert_eq!((s.unweighted.as_slice(), s.weighted.as_slice()), (&[0, 2][..], &[1, 3][..]));
        assert_eq!(s.directions, [[0.0, 1.0, 0.0], X]);
        assert_eq!(s.volumes(), 4);
        assert!(s.expect_one_shell("the model").unwrap_err().to_string().contains("1000 to 2000"));
    }

    #[test]
    fn what_is_no_scheme_is_refused_by_name() {
        let message = |b: &[f64], g: &[[f64; 3]]| Scheme::new(b, g, 50.0).unwrap_err().to_string();
        assert!(message(&[1000.0], &[X]).starts_with("bvals: none of 1 is at or below"));
        assert!(message(&[0.0], &[X]).starts_with("bvals: none of 1 is above"));
        assert!(message(&[0.0, f64::NAN], &[X, X]).starts_with("bvals: element 1 is NaN"));
        assert!(message(&[0.0, -5.0], &[X, X]).starts_with("bvals: element 1 is -5"));
        assert!(message(&[0.0, 900.0], &[X, [0.5, 0.0, 0.0]]).starts_with("bvecs: column 1 has norm 0.5"));
        assert!(message(&[0.0, 900.0], &[X, [0.0; 3]]).contains("unit vector"));
        assert!(message(&[0.0, 900.0], &[X, [f64::NAN; 3]]).contains("NaN"));
        assert!(Scheme::new(&[0.0], &[X], f64::NAN).is_err());
    }
}
