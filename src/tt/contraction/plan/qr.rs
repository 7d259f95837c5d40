//! Plans of norms and distances by QR factors.

use super::super::cost::Sizes;
use super::super::pairs::Pairs;
use super::{Plan, Planner, whole};
use crate::dense::cpu::factor::working_bytes;
use crate::dense::serial;
use crate::error::Result;
use crate::scalar::{Complex, DType};
use crate::trains::options::Method;

impl Planner<'_> {
    /// Plans the norm of x, or of x - y if `difference`.
    pub(super) fn by_qr(mut self, difference: bool) -> Result<Plan> {
        let Sizes { modes, r, s, .. } = self.sizes;
        let d = modes.len();
        let wide = |cut: usize, k: usize| {
            (r[cut] as f64 * r[k % d] as f64) + if difference { s[cut] as f64 * s[k % d] as f64 } else { 0.0 }
        };
        if self.request.options.cut.is_none() {
            // The width of every matrix is a multiple of the ranks at the cut: cut where they are smallest.
            self.cut = (1..d).fold(0, |best, c| if wide(c, c) < wide(best, best) { c } else { best });
        }
        let mut plan = self.start(Method::Full, "QR factors, nothing is squared".into())?;
        plan.pairs = Pairs { r: r[self.cut], s: if difference { s[self.cut] } else { r[self.cut] }, halved: false };
        let operations = if self.dtype.is_complex() { 8.0 } else { 2.0 };
        let (mut rows, mut most) = (1.0, 0.0f64);
        plan.flops = 0.0;
        for i in 0..d {
            let (k, last) = ((self.cut + i) % d, i + 1 == d);
            let n = modes[k] as f64;
            let (before, after) =
                (wide(self.cut, self.cut + i), if last { 1.0 } else { wide(self.cut, self.cut + i + 1) });
            let tall = rows * n;
            // Each value of the bond at the cut is multiplied only with the columns that belong to it.
            let values = r[self.cut] as f64;
            plan.flops += if i > 0 { operations * tall * before * after / values } else { 0.0 };
            if tall > after && !last {
                plan.flops += operations * after * after * (tall - after / 3.0);
            }
            // The peak is R together with its product, or the product together with the factorization's own memory. A
            // GPU also stores the matrix before the first site.
            let held = if i > 0 || self.is_gpu() { rows * before } else { 0.0 };
            // At the last site the CPU has one column for each train.
            let made = if last && difference && !self.is_gpu() { 2.0 } else { after };
            most = most.max(self.bytes(held + tall * made));
            if tall > after && !last {
                most = most.max(if self.is_gpu() {
                    self.triangle(tall, after)
                } else {
                    self.bytes(tall * after) + self.factorization(whole(tall), whole(after))
                });
            }
            rows = if last { 1.0 } else { tall.min(after) };
        }
        let needed = most;
        self.expect_within(needed)?;
        plan.workspace = needed as u64;
        Ok(plan)
    }

    /// Bytes in which a GPU factorizes a matrix: the matrix in double precision, in place or as a copy, and one
    /// coefficient for each column. cuSOLVER's own workspace is not included.
    fn triangle(&self, rows: f64, columns: f64) -> f64 {
        let (own, wide) = (self.dtype.size() as f64, if self.dtype.is_complex() { 16.0 } else { 8.0 });
        let copy = if own < wide { own * rows * columns } else { 0.0 };
        wide * rows * columns + copy.max(wide * columns + own * columns * columns)
    }

    /// Bytes to factorize a matrix with more rows than columns, without the matrix itself: R, coefficients and working
    /// memory.
    fn factorization(&self, rows: usize, columns: usize) -> f64 {
        let scratch = match self.dtype {
            DType::F32 => working_bytes::reflect::<f32>(rows, columns),
            DType::CF32 => working_bytes::reflect::<Complex<f32>>(rows, columns),
            DType::CF64 => working_bytes::reflect::<Complex<f64>>(rows, columns),
            _ => working_bytes::reflect::<f64>(rows, columns),
        };
        let kept = (columns as f64 + serial::coefficient_rows(columns) as f64) * columns as f64;
        self.bytes(kept) + scratch as f64
    }
}
