//! Calls in a context on a GPU, with vectors in host memory, or in tensors in any memory.

use super::operator::packed;
use super::upload::upload_first;
use crate::alloc;
use crate::backend::gpu::kernels::spmv::Finish as DeviceFinish;
use crate::backend::gpu::kernels::spmv::{Strided, Vectors};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::backend::memory::Memory;
use crate::error::{Error, Result};
use crate::matrix::{Dense, DenseMut, Matrix};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::shape::{Layout, Order, product};
use crate::spmv::cpu::Finish;
use crate::spmv::plan::Plan;
use crate::tensor::Tensor;

const WHAT: &str = "vectors of a sparse product";

fn wide<T: Scalar>(v: T) -> Complex<f64> {
    Complex::new(v.re(), v.im())
}

/// A vector on the device: the caller's, or a copy.
enum Vector<'a> {
    Borrowed(&'a DeviceMemory),
    Copied(DeviceMemory),
}

impl Vector<'_> {
    fn memory(&self) -> &DeviceMemory {
        match self {
            Self::Borrowed(memory) => memory,
            Self::Copied(memory) => memory,
        }
    }
}

/// The vector `t` of numbers of type `dtype` on the device.
fn vector<'a>(dtype: DType, (gpu, stream): (&Gpu, &GpuStream), argument: &str, t: &'a Tensor) -> Result<Vector<'a>> {
    unit_stride(argument, t)?;
    t.expect_dtype(argument, dtype)?;
    Ok(match t.memory() {
        Memory::Device(memory) => Vector::Borrowed(memory),
        Memory::Host(memory) => Vector::Copied(upload_first(dtype, gpu, stream, WHAT, memory, t.dims()[0])?),
    })
}

fn unit_stride(argument: &str, t: &Tensor) -> Result<()> {
    let (length, stride) = (t.dims()[0], t.layout().strides()[0]);
    if stride == 1 || length <= 1 {
        return Ok(());
    }
    Err(Error::NotSupported(format!("{argument}: has stride {stride}, 1 is needed")))
}

impl Plan {
    pub(in crate::spmv) fn apply_on_device(
        &self,
        (gpu, stream): (&Gpu, &GpuStream),
        a: &Matrix,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        x: &Tensor,
        y: &mut Tensor,
    ) -> Result<()> {
        let dtype = a.dtype();
        y.check_writable("y")?;
        unit_stride("y", y)?;
        y.expect_dtype("y", dtype)?;
        let x = vector(dtype, (gpu, stream), "x", x)?;
        let rows = y.dims()[0];
        let zero = Complex::new(0.0, 0.0);
        let multiply = |x: Region<'_>, y: Region<'_>| {
            self.multiply_there((gpu, stream), a, (alpha, beta), 1, (packed(x, 1), packed(y, 1)))
        };
        let run = |y: &DeviceMemory| {
            let (x, y) = (x.memory().whole(), y.whole());
            // With alpha = 0, x is not read, and the order does not matter.
            match self.renumbering().filter(|_| alpha != zero) {
                None => multiply(x, y),
                Some(order) => {
                    let vectors = (Strided::vector(x), Strided::vector(y));
                    self.ordered_on_device(dtype, (gpu, stream), order, (1, beta != zero), vectors, multiply)
                }
            }
        };
        match y.memory_mut("y")? {
            Memory::Device(y) => run(y),
            Memory::Host(y) => {
                let there = match beta == zero {
                    true => gpu.allocate_uninitialized(WHAT, product(WHAT, rows, dtype.size())?)?,
                    false => upload_first(dtype, gpu, stream, WHAT, y, rows)?,
                };
                run(&there)?;
                with_scalar!(dtype, "a", T => gpu.download_numbers(stream, &there, &mut y.as_mut_slice::<T>()?[..rows]))
            }
        }
    }

    /// As [`Plan::apply_on_device`] for an operator that multiplies on the host: vectors are copied to the host and
    /// back.
    pub(in crate::spmv) fn apply_through_host<T: Scalar>(
        &self,
        (gpu, stream): (&Gpu, &GpuStream),
        a: &Matrix,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        x: &Tensor,
        y: &mut Tensor,
    ) -> Result<()> {
        a.expect_dtype("a", T::DTYPE)?;
        y.check_writable("y")?;
        for (argument, t) in [("x", x), ("y", &*y)] {
            unit_stride(argument, t)?;
            t.expect_dtype(argument, T::DTYPE)?;
        }
        let zero = Complex::new(0.0, 0.0);
        let (rows, cols) = (y.dims()[0], x.dims()[0]);
        let mut copy;
        let x = match x.memory() {
            Memory::Host(memory) => &memory.as_slice::<T>()?[..cols],
            Memory::Device(memory) => {
                copy = alloc::filled(WHAT, cols, T::default())?;
                if alpha != zero {
                    gpu.download_numbers(stream, memory, &mut copy)?;
                }
                &copy
            }
        };
        let factors = (T::from_parts(alpha.re, alpha.im), T::from_parts(beta.re, beta.im));
        match y.memory_mut("y")? {
            Memory::Host(y) => self.multiply(a, factors, 1, x, &mut y.as_mut_slice::<T>()?[..rows]),
            Memory::Device(there) => {
                let mut y = alloc::filled(WHAT, rows, T::default())?;
                if beta != zero {
                    gpu.download_numbers(stream, there, &mut y)?;
                }
                self.multiply(a, factors, 1, x, &mut y)?;
                gpu.store_numbers(stream, &y, there, 0)
            }
        }
    }

    /// As [`Plan::apply_through_host`] for the columns of matrices on the device. Sizes and types were checked before.
    pub(in crate::spmv) fn apply_block_through_host<T: Scalar>(
        &self,
        stream: &GpuStream,
        a: &Matrix,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        x: Dense<'_>,
        y: DenseMut<'_>,
    ) -> Result<()> {
        let (from, to) = (x.memory.device("x")?, y.memory.device_mut("y")?);
        let gpu = self.context().gpu("plan")?;
        let copy = |memory: &DeviceMemory, layout: &Layout| {
            let mut numbers = alloc::filled(WHAT, layout.extent(), T::default())?;
            gpu.download_numbers(stream, memory, &mut numbers)?;
            Ok::<_, Error>(numbers)
        };
        // The gaps between the columns of y are copied too, and written back unchanged.
        let (x_host, mut y_host) = (copy(from, x.layout)?, copy(to, y.layout)?);
        let factors = (T::from_parts(alpha.re, alpha.im), T::from_parts(beta.re, beta.im));
        self.multiply_lines(a, factors, x.order, (&x_host, x.layout), (&mut y_host, y.layout))?;
        gpu.store_numbers(stream, &y_host, to, 0)
    }

    /// Products with the columns of matrices on the device. Sizes and types were checked before.
    pub(in crate::spmv) fn apply_block_on_device<'a>(
        &self,
        stream: &GpuStream,
        a: &Matrix,
        scalars: (Complex<f64>, Complex<f64>),
        width: usize,
        x: Dense<'a>,
        y: DenseMut<'a>,
    ) -> Result<()> {
        let (from, to) = (x.memory.device("x")?, y.memory.device("y")?);
        let (gpu, dtype) = (self.context().gpu("plan")?, a.dtype());
        let zero = Complex::new(0.0, 0.0);
        let (order, keeps) = (self.renumbering().filter(|_| scalars.0 != zero), scalars.1 != zero);
        if x.order == Order::RowMajor {
            let block = |memory, layout: &Layout| Vectors { memory, stride: layout.strides()[0] };
            let (x, y) = (block(from.whole(), x.layout), block(to.whole(), y.layout));
            let Some(order) = order else {
                return self.multiply_there((gpu, stream), a, scalars, width, (x, y));
            };
            let rows = |of: Vectors<'a>| Strided { memory: of.memory, row: of.stride, column: 1 };
            return self.ordered_on_device(dtype, (gpu, stream), order, (width, keeps), (rows(x), rows(y)), |x, y| {
                self.multiply_there((gpu, stream), a, scalars, width, (packed(x, width), packed(y, width)))
            });
        }
        let multiply = |x: Region<'_>, y: Region<'_>| {
            self.multiply_there((gpu, stream), a, scalars, 1, (packed(x, 1), packed(y, 1)))
        };
        for j in 0..width {
            let (x, y) = (part(dtype, from, x.layout, j)?, part(dtype, to, y.layout, j)?);
            match order {
                None => multiply(x, y)?,
                Some(order) => {
                    let vectors = (Strided::vector(x), Strided::vector(y));
                    self.ordered_on_device(dtype, (gpu, stream), order, (1, keeps), vectors, multiply)?;
                }
            }
        }
        Ok(())
    }

    pub(in crate::spmv) fn compute_on_device<T: Scalar>(
        &self,
        gpu: &Gpu,
        a: &Matrix,
        finish: Finish<'_, T>,
        gathered: &[T],
        x: &[T],
        y: &mut [T],
    ) -> Result<()> {
        let stream = gpu.default_stream();
        a.expect_dtype("a", T::DTYPE)?;
        let gathered = gpu.upload_numbers(stream, WHAT, gathered)?;
        let there = upload(gpu, stream, y, wide(finish.beta))?;
        let arrays = Arrays::new(gpu, &finish, x)?;
        let device = arrays.finish(&finish, there.whole());
        let space = self.cached_space(T::DTYPE, stream)?;
        self.multiply_device(a, stream, &space, gathered.whole(), &device)?;
        gpu.download_numbers(stream, &there, y)
    }

    pub(in crate::spmv) fn compute_block_on_device<T: Scalar>(
        &self,
        gpu: &Gpu,
        a: &Matrix,
        finish: Finish<'_, T>,
        width: usize,
        (gathered, x): (&[T], &[T]),
        y: &mut [T],
    ) -> Result<()> {
        let stream = gpu.default_stream();
        a.expect_dtype("a", T::DTYPE)?;
        let from = gpu.upload_numbers(stream, WHAT, gathered)?;
        let there = upload(gpu, stream, y, wide(finish.beta))?;
        let arrays = Arrays::new(gpu, &finish, x)?;
        let device = arrays.finish(&finish, there.whole());
        self.multiply_device_block_finished(a, stream, width, packed(from.whole(), width), &device, (width, width))?;
        gpu.download_numbers(stream, &there, y)
    }
}

/// The arrays of a [`Finish`] on the device.
struct Arrays {
    scale: Option<DeviceMemory>,
    diagonal: Option<DeviceMemory>,
    own: Option<DeviceMemory>,
}

impl Arrays {
    fn new<T: Scalar>(gpu: &Gpu, finish: &Finish<'_, T>, x: &[T]) -> Result<Self> {
        let stream = gpu.default_stream();
        let parts = |parts: Option<&[T::Part]>| parts.map(|p| gpu.upload_numbers(stream, WHAT, p)).transpose();
        let own = if finish.is_diagonal() { Some(gpu.upload_numbers(stream, WHAT, x)?) } else { None };
        Ok(Self { scale: parts(finish.row_scale)?, diagonal: parts(finish.diagonal)?, own })
    }

    fn finish<'a, T: Scalar>(&'a self, of: &Finish<'_, T>, y: Region<'a>) -> DeviceFinish<'a> {
        DeviceFinish {
            row_scale: self.scale.as_ref().map(DeviceMemory::whole),
            shift: wide(of.shift),
            diagonal: self.diagonal.as_ref().map(DeviceMemory::whole),
            weight: wide(of.weight),
            x: self.own.as_ref().map(DeviceMemory::whole),
            ..DeviceFinish::plain(y, wide(of.alpha), wide(of.beta))
        }
    }
}

/// Column j of a column-major matrix.
fn part<'a>(dtype: DType, memory: &'a DeviceMemory, layout: &Layout, j: usize) -> Result<Region<'a>> {
    // Columns without rows have no address.
    let j = if layout.dims()[0] == 0 { 0 } else { j };
    memory.region(j * layout.strides()[1] * dtype.size(), layout.dims()[0] * dtype.size())
}

/// Memory for y on the device: a copy of y, or with beta = 0 uninitialized.
fn upload<T: Scalar>(gpu: &Gpu, stream: &GpuStream, y: &[T], beta: Complex<f64>) -> Result<DeviceMemory> {
    if beta == Complex::new(0.0, 0.0) {
        return gpu.allocate_uninitialized(WHAT, size_of_val(y));
    }
    gpu.upload_numbers(stream, WHAT, y)
}
