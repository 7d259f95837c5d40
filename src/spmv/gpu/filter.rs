//! Chebyshev filters of vectors in device memory.

use super::operator::{Block, packed};
use crate::backend::gpu::kernels::spmv as kernels;
use crate::backend::gpu::kernels::spmv::Finish as DeviceFinish;
use crate::backend::gpu::{Gpu, GpuStream};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::Complex;
use crate::shape::product;
use crate::spmv::plan::Plan;

const WHAT: &str = "filter of a sparse product";

impl Plan {
    /// As [`Plan::filter`], in the order of `stream`.
    pub(super) fn filter_there(
        &self,
        (gpu, stream): (&Gpu, &GpuStream),
        a: &Matrix,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        width: usize,
        (x, y): (Block<'_>, Block<'_>),
    ) -> Result<()> {
        let (options, rows, dtype) = (self.options(), self.size().0, a.dtype());
        let real = |v: f64| Complex::new(v, 0.0);
        let bytes = product(WHAT, product(WHAT, rows, width)?, dtype.size())?;
        let buffer = || gpu.allocate_uninitialized_on(stream, WHAT, bytes);
        let (first, second) = (buffer()?, buffer()?);
        let (mut here, mut there) = (packed(first.whole(), width), packed(second.whole(), width));
        // Y = shift X + beta Y.
        let spread = |shift: Complex<f64>, beta: Complex<f64>, from: Block<'_>, to: Block<'_>| {
            let made = DeviceFinish { shift, x: Some(from.memory), ..DeviceFinish::plain(to.memory, real(0.0), beta) };
            kernels::rest_block(dtype, gpu, stream, (rows, width), &made, (from.stride, to.stride))
        };
        self.once_there((gpu, stream), a, (real(1.0 / options.half()), real(0.0)), width, (x, here))?;
        for step in 1..options.degree {
            if step == 1 {
                spread(real(1.0), real(0.0), x, there)?;
            }
            self.once_there((gpu, stream), a, (real(2.0 / options.half()), real(-1.0)), width, (here, there))?;
            std::mem::swap(&mut here, &mut there);
        }
        spread(alpha, beta, here, y)
    }
}
