//! The graph of neighbouring pixels without its matrix: it stores one weight for each pair of neighbours, and no
//! indices.

use std::marker::PhantomData;
use std::sync::Arc;

use super::image::{Weights, offsets};
use crate::alloc;
use crate::backend::Backend;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::kernels::spmv::Finish as DeviceFinish;
use crate::backend::gpu::kernels::spmv::{Pixels, pixels};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::context::Context;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::lanczos::operator::{Adjacency, Kind, Symmetric};
use crate::matrix::{Matrix, OnDevice, Operator};
use crate::progress::CancelWatch;
use crate::scalar::{Complex, Real, Scalar};
use crate::shape::product;
use crate::spmv::cpu::Finish;

const WHAT: &str = "weights of an image";

/// Pixels that a thread processes at a time, rounded up to whole rows of the image.
const PIECE: usize = 4096;

/// An offset (rows down, columns to the right), and one weight for each pixel.
type Pairs<R> = ((usize, isize), Vec<R>);

/// Weights of the pairs of neighbouring pixels.
struct PixelGraph<T: Scalar> {
    context: Arc<Context>,
    height: usize,
    width: usize,
    /// Each pair of neighbours has two opposite offsets; one of them is stored. For each pixel, the weight of its pair
    /// with the pixel at that offset; 0 if there is none.
    pairs: Vec<Pairs<T::Part>>,
    /// The same weights on the context's device, if it has one.
    there: Option<DevicePairs<T>>,
}

/// Weights and offsets on a device.
struct DevicePairs<T> {
    gpu: Gpu,
    weights: DeviceMemory,
    offsets: DeviceMemory,
    count: usize,
    size: (usize, usize),
    number: PhantomData<fn() -> T>,
}

/// Operator `kind` of the graph of [`super::image::image_graph`], plus `shift` times the identity. It has half the
/// numbers of the matrix and no indices: 8 bytes for each pixel and pair in F64.
///
/// # Errors
/// As [`super::image::image_graph`] and [`Symmetric::of_graph`].
pub fn image_operator<T: Scalar>(
    context: &Arc<Context>,
    pixels: &[f64],
    (height, width): (usize, usize),
    weights: Weights,
    kind: Kind,
    shift: f64,
) -> Result<Symmetric<'static, T>> {
    let graph = PixelGraph::<T>::new(context, pixels, (height, width), weights)?;
    Symmetric::of_graph(context, Box::new(graph), kind, shift)
}

/// The same graph as a matrix that is known only by its products. Functions that take operators accept it, also those
/// that make operators of graphs. Products are computed on the context's device or on the CPU, O(pixels radius^2).
/// Products with vectors on the host are computed on the host.
///
/// # Errors
/// As [`super::image::image_graph`].
pub fn image_adjacency_of<T: Scalar>(
    context: &Arc<Context>,
    pixels: &[f64],
    size: (usize, usize),
    weights: Weights,
) -> Result<Matrix> {
    let mut graph = PixelGraph::<T>::new(context, pixels, size, weights)?;
    if let Backend::Gpu(gpu) = context.backend() {
        graph.there = Some(DevicePairs::new(gpu, size, &graph.pairs)?);
    }
    Ok(Matrix::from_operator::<T>(context, Box::new(graph)))
}

/// [`image_adjacency_of`] in F64.
///
/// # Errors
/// As [`image_adjacency_of`].
pub fn image_adjacency(
    context: &Arc<Context>,
    pixels: &[f64],
    size: (usize, usize),
    weights: Weights,
) -> Result<Matrix> {
    image_adjacency_of::<f64>(context, pixels, size, weights)
}

impl<T: Scalar> PixelGraph<T> {
    fn new(context: &Arc<Context>, pixels: &[f64], (height, width): (usize, usize), weights: Weights) -> Result<Self> {
        let cancel = context.cancel_watch();
        weights.check(pixels, height, width)?;
        let pairs = pairs(pixels, (height, width), weights, cancel)?;
        Ok(Self { context: Arc::clone(context), height, width, pairs, there: None })
    }
}

impl<T: Scalar> DevicePairs<T> {
    fn new(gpu: &Gpu, size: (usize, usize), pairs: &[Pairs<T::Part>]) -> Result<Self> {
        let (stream, each) = (gpu.default_stream(), product("width", size.0, size.1)?);
        let mut offsets = alloc::with_capacity(WHAT, 2 * pairs.len())?;
        let bytes = product(WHAT, product(WHAT, each, pairs.len())?, size_of::<T::Part>())?;
        let mut weights = gpu.allocate_uninitialized(WHAT, bytes)?;
        for (k, ((dy, dx), of)) in pairs.iter().enumerate() {
            gpu.store_numbers(stream, of, &mut weights, k * each * size_of::<T::Part>())?;
            for offset in [i32::try_from(*dy), i32::try_from(*dx)] {
                offsets.push(
                    offset
                        .map_err(|_| Error::NotSupported("radius: is 2^31 or more, less is needed on a GPU".into()))?,
                );
            }
        }
        let mut there = gpu.allocate_uninitialized(WHAT, size_of_val(offsets.as_slice()))?;
        gpu.store_numbers(stream, &offsets, &mut there, 0)?;
        // Any stream may multiply after this.
        stream.synchronize()?;
        Ok(Self { gpu: gpu.clone(), weights, offsets: there, count: pairs.len(), size, number: PhantomData })
    }
}

impl<T: Scalar> OnDevice for DevicePairs<T> {
    fn multiply(&self, stream: &GpuStream, _: Op, gathered: Region<'_>, finish: &DeviceFinish<'_>) -> Result<()> {
        let (weights, offsets) = (self.weights.whole(), self.offsets.whole());
        let image = Pixels { weights, offsets, pairs: self.count, size: self.size };
        pixels(T::DTYPE, &self.gpu, stream, image, gathered, finish)
    }

    fn multiply_block(&self, stream: &GpuStream, op: Op, count: usize, x: Region<'_>, y: Region<'_>) -> Result<()> {
        let length = product("width", self.size.0, self.size.1)? * size_of::<T>();
        let (one, zero) = (Complex::new(1.0, 0.0), Complex::new(0.0, 0.0));
        (0..count).try_for_each(|j| {
            let made = DeviceFinish::plain(y.part(j * length, length)?, one, zero);
            self.multiply(stream, op, x.part(j * length, length)?, &made)
        })
    }

    fn repeats(&self) -> bool {
        true
    }
}

fn pairs<R: Real>(
    pixels: &[f64],
    (height, width): (usize, usize),
    weights: Weights,
    cancel: CancelWatch<'_>,
) -> Result<Vec<Pairs<R>>> {
    let count = product("width", height, width)?;
    let mut pairs = Vec::new();
    for (dy, dx, far) in offsets(&weights) {
        // Of two opposite offsets, store the one that leads to later pixels.
        if dy < 0 || dy == 0 && dx < 0 {
            continue;
        }
        cancel.check()?;
        let mut of = alloc::filled(WHAT, count, R::ZERO)?;
        let (dy, dx) = (dy as usize, dx as isize);
        for y in 0..height.saturating_sub(dy) {
            let (begin, end) = columns(width, dx);
            for x in begin..end {
                let (here, there) = (y * width + x, (y + dy) * width + x.wrapping_add_signed(dx));
                of[here] = R::from_f64(weights.of(pixels[here] - pixels[there], far));
            }
        }
        alloc::push(WHAT, &mut pairs, ((dy, dx), of))?;
    }
    Ok(pairs)
}

/// The range of columns from which `dx` stays inside the image.
fn columns(width: usize, dx: isize) -> (usize, usize) {
    let away = dx.unsigned_abs().min(width);
    if dx < 0 { (away, width) } else { (0, width - away) }
}

impl<T: Scalar> PixelGraph<T> {
    /// sums += W x for the pixels of row `y`.
    fn row(&self, y: usize, x: &[T], sums: &mut [T]) {
        let width = self.width;
        for ((dy, dx), weights) in &self.pairs {
            let (begin, end) = columns(width, *dx);
            if begin == end {
                continue;
            }
            let first = begin.wrapping_add_signed(*dx);
            let length = end - begin;
            let add = |sums: &mut [T], weights: &[T::Part], x: &[T]| {
                sums.iter_mut().zip(weights).zip(x).for_each(|((s, w), x)| *s += T::from_parts(w.re(), 0.0) * *x);
            };
            if y + dy < self.height {
                // Pairs of pixels of this row with later pixels.
                let (here, there) = (y * width + begin, (y + dy) * width + first);
                add(&mut sums[begin..end], &weights[here..here + length], &x[there..there + length]);
            }
            if y >= *dy {
                // Pairs of earlier pixels with pixels of this row.
                let there = (y - dy) * width + begin;
                add(&mut sums[first..first + length], &weights[there..there + length], &x[there..there + length]);
            }
        }
    }
}

impl<T: Scalar> Adjacency<T> for PixelGraph<T> {
    fn order(&self) -> usize {
        self.height * self.width
    }

    fn degrees(&self) -> Result<Vec<f64>> {
        let mut degrees = alloc::filled("degrees of a graph", self.order(), 0.0)?;
        for ((dy, dx), weights) in &self.pairs {
            let ahead = (dy * self.width).wrapping_add_signed(*dx);
            for (i, w) in weights.iter().enumerate().filter(|(_, w)| **w != T::Part::ZERO) {
                degrees[i] += w.to_f64();
                degrees[i + ahead] += w.to_f64();
            }
        }
        Ok(degrees)
    }

    fn compute(&self, context: &Context, finish: Finish<'_, T>, gathered: &[T], x: &[T], y: &mut [T]) -> Result<()> {
        let rows = PIECE.div_ceil(self.width).max(1);
        context.pool().run(|| {
            y.par_chunks_mut(rows * self.width).enumerate().try_for_each(|(piece, y)| {
                let mut sums = alloc::filled("sums of an image", self.width, T::default())?;
                for (row, y) in (piece * rows..).zip(y.chunks_exact_mut(self.width)) {
                    sums.fill(T::default());
                    self.row(row, gathered, &mut sums);
                    for (i, (y, sum)) in (row * self.width..).zip(y.iter_mut().zip(&sums)) {
                        *y = finish.of(i, x, *sum, *y);
                    }
                }
                Ok(())
            })
        })
    }
}

impl<T: Scalar> Operator<T> for PixelGraph<T> {
    fn shape(&self) -> (usize, usize) {
        (self.order(), self.order())
    }

    fn apply(&mut self, _: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        let once = Finish::plain(T::from_parts(1.0, 0.0), T::default());
        let n = self.order();
        // The graph is real and symmetric, so it is its own adjoint.
        let mut vectors = x.chunks_exact(n).zip(y.chunks_exact_mut(n)).take(count);
        vectors.try_for_each(|(x, y)| self.compute(&self.context, once, x, x, y))
    }

    fn row_sums(&self) -> Result<Option<Vec<f64>>> {
        self.degrees().map(Some)
    }

    fn has_row_sums(&self) -> bool {
        true
    }

    fn on_device(&self) -> Option<&dyn OnDevice> {
        self.there.as_ref().map(|there| there as &dyn OnDevice)
    }
}
