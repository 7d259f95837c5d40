//! The terms that are added to the sum of a row.

use super::super::mirrors::SpmvFinish;
use super::super::optional;
use crate::backend::gpu::Region;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};

/// The result of the sum s of row i: y_i = alpha f r_i s + (shift + weight d_i) x_i + gamma g z_i + beta y_i. With beta
/// = 0 nothing of y is read.
#[derive(Clone, Copy)]
pub struct Finish<'a> {
    /// y, as many numbers as there are rows.
    pub y: Region<'a>,
    /// Factor alpha of the sum.
    pub alpha: Complex<f64>,
    /// Factor beta of the old y; with 0 y is not read.
    pub beta: Complex<f64>,
    /// f, an F64 on the device; 1 if there is none.
    pub alpha_factor: Option<Region<'a>>,
    /// r, real parts; `None` for ones.
    pub row_scale: Option<Region<'a>>,
    /// Factor of x, the same in every row.
    pub shift: Complex<f64>,
    /// d, real parts; `None` for zeros.
    pub diagonal: Option<Region<'a>>,
    /// Factor of d, before it multiplies x.
    pub weight: Complex<f64>,
    /// x; needed where a shift or a diagonal is added.
    pub x: Option<Region<'a>>,
    /// gamma and z, as many numbers as rows; `None` adds nothing.
    pub more: Option<(f64, Region<'a>)>,
    /// g, an F64 on the device; 1 if there is none.
    pub gamma_factor: Option<Region<'a>>,
}

impl<'a> Finish<'a> {
    /// y = alpha A x + beta y.
    pub fn plain(y: Region<'a>, alpha: Complex<f64>, beta: Complex<f64>) -> Self {
        Self {
            y,
            alpha,
            beta,
            alpha_factor: None,
            row_scale: None,
            shift: Complex::new(0.0, 0.0),
            diagonal: None,
            weight: Complex::new(1.0, 0.0),
            x: None,
            more: None,
            gamma_factor: None,
        }
    }

    /// x, where something of it is added.
    pub(super) fn own(&self) -> Result<Option<Region<'a>>> {
        let is_diagonal = self.shift != Complex::new(0.0, 0.0) || self.diagonal.is_some();
        if is_diagonal && self.x.is_none() {
            return Err(Error::Internal("a diagonal without the vector that it multiplies".into()));
        }
        Ok(self.x.filter(|_| is_diagonal))
    }

    pub(super) fn params(&self, dtype: DType, rows: usize) -> Result<SpmvFinish> {
        Ok(SpmvFinish {
            y: self.y.array("y", rows, dtype.size())?,
            x: optional(dtype.size(), "x", self.own()?, rows)?,
            z: optional(dtype.size(), "z", self.more.map(|m| m.1), rows)?,
            scale: optional(dtype.part_size(), "row_scale", self.row_scale, rows)?,
            diagonal: optional(dtype.part_size(), "diagonal", self.diagonal, rows)?,
            alpha_factor: optional(8, "alpha_factor", self.alpha_factor, 1)?,
            gamma_factor: optional(8, "gamma_factor", self.gamma_factor, 1)?,
            alpha: [self.alpha.re, self.alpha.im],
            beta: [self.beta.re, self.beta.im],
            gamma: self.more.map_or(0.0, |m| m.0),
            shift: [self.shift.re, self.shift.im],
            weight: [self.weight.re, self.weight.im],
        })
    }
}
