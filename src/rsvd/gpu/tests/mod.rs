//! The passes on a GPU against loops in double precision, wherever the data lie and however they are cut.

mod cuts;
mod passes;
mod session;
mod survey;
mod tall;

use std::sync::Arc;

use super::GpuOps;
use crate::backend::BackendChoice;
use crate::backend::gpu::GpuStream;
use crate::backend::memory::Memory;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::source::Source;
use crate::context::{Context, Options};
use crate::dense::Algebra;
use crate::dense::gpu::GpuMatrix;
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::rsvd::data::{Center, Data, LongColumns, Problem, Resident, Setting};
use crate::rsvd::ops::RsvdOps;
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

type C64 = Complex<f64>;

/// A context on a GPU with a limit of device memory, 0 for none.
fn gpu(limit: u64) -> Arc<Context> {
    let backend = BackendChoice::Cuda;
    Context::new(Options { backend, threads: 4, device_memory_limit: limit, ..Options::default() }).unwrap()
}

fn cpu() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 2, ..Options::default() }).unwrap()
}

/// Data whose entries follow from their place.
#[derive(Clone, Copy)]
struct Case {
    rows: usize,
    columns: usize,
    dtype: DType,
    /// The number that is added to every entry.
    offset: f64,
}

impl Case {
    fn entry(&self, i: usize, j: usize) -> C64 {
        let x = ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5;
        let y = ((i * 31 + j * 17 + 5) % 101) as f64 / 101.0 - 0.5;
        let value = match self.dtype {
            DType::U8 => (x * 200.0 + 100.0).round(),
            DType::I8 => (x * 200.0).round(),
            DType::U16 | DType::I16 | DType::I32 | DType::U32 => (x * 2000.0 + 1000.0).round(),
            // Exact in 11 bits.
            DType::F16 => (x * 1024.0).round() / 256.0,
            _ => f64::from((x + self.offset) as f32),
        };
        let is_complex = self.dtype.is_complex();
        C64::new(value, if is_complex { f64::from(y as f32) } else { 0.0 })
    }

    fn matrix(&self) -> Vec<Vec<C64>> {
        (0..self.rows).map(|i| (0..self.columns).map(|j| self.entry(i, j)).collect()).collect()
    }

    fn put(&self, i: usize, j: usize, out: &mut [u8]) {
        let v = self.entry(i, j);
        match self.dtype {
            DType::U8 => out.copy_from_slice(&[v.re as u8]),
            DType::I8 => out.copy_from_slice(&(v.re as i8).to_ne_bytes()),
            DType::U16 => out.copy_from_slice(&(v.re as u16).to_ne_bytes()),
            DType::I16 => out.copy_from_slice(&(v.re as i16).to_ne_bytes()),
            DType::U32 => out.copy_from_slice(&(v.re as u32).to_ne_bytes()),
            DType::I32 => out.copy_from_slice(&(v.re as i32).to_ne_bytes()),
            DType::F16 => crate::blocks::number::encode(Number::F16, &[v.re], out),
            DType::F32 => out.copy_from_slice(&(v.re as f32).to_ne_bytes()),
            DType::F64 => out.copy_from_slice(&v.re.to_ne_bytes()),
            DType::CF32 => {
                out[..4].copy_from_slice(&(v.re as f32).to_ne_bytes());
                out[4..].copy_from_slice(&(v.im as f32).to_ne_bytes());
            }
            DType::CF64 => {
                out[..8].copy_from_slice(&v.re.to_ne_bytes());
                out[8..].copy_from_slice(&v.im.to_ne_bytes());
            }
            DType::I64 => unreachable!("no case has such entries"),
        }
    }

    /// The bytes, with `gap` more elements a line than there are.
    fn bytes(&self, order: Order, gap: usize) -> (Vec<u8>, usize) {
        let size = self.dtype.size();
        let (inner, outer) =
            if order == Order::RowMajor { (self.columns, self.rows) } else { (self.rows, self.columns) };
        let stride = inner + gap;
        let mut bytes = vec![0xa5; stride * outer * size];
        for o in 0..outer {
            for i in 0..inner {
                let (row, column) = if order == Order::RowMajor { (o, i) } else { (i, o) };
                let at = (o * stride + i) * size;
                self.put(row, column, &mut bytes[at..at + size]);
            }
        }
        (bytes, stride)
    }
}

/// The kind of memory that holds the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Pageable,
    Pinned,
    Device,
    Source,
}

const PLACES: [From; 4] = [From::Pageable, From::Pinned, From::Device, From::Source];

/// A source over bytes in memory.
struct Bytes {
    info: ArrayInfo,
    bytes: Vec<u8>,
    /// Reads after which it fails.
    left: usize,
}

impl Source for Bytes {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        if self.left == 0 {
            return Err(crate::error::Error::Io { path: "test".into(), problem: "no more".into() });
        }
        self.left -= 1;
        let size = self.info.number.size();
        block.for_runs(&self.info.dims, |from, to, length| {
            out[to * size..(to + length) * size].copy_from_slice(&self.bytes[from * size..(from + length) * size]);
            Ok(())
        })
    }
}

/// Data of a case in their place.
enum Held {
    Memory(Tensor, usize),
    Source(Bytes),
}

fn hold(case: &Case, context: &Arc<Context>, from: From, order: Order, gap: usize) -> Held {
    let gap = if from == From::Source { 0 } else { gap };
    let (bytes, stride) = case.bytes(order, gap);
    let location = match from {
        From::Source => {
            let dims = if order == Order::RowMajor { [case.columns, case.rows] } else { [case.rows, case.columns] };
            let info = ArrayInfo::new(Number::of("test", case.dtype).unwrap(), &dims).unwrap();
            return Held::Source(Bytes { info, bytes, left: usize::MAX });
        }
        From::Pageable => Location::Host,
        From::Pinned => Location::PinnedHost,
        From::Device => Location::Device,
    };
    let mut host = Tensor::create(context, DType::U8, Location::Host, Order::ColumnMajor, &[bytes.len()]).unwrap();
    host.memory_mut("test").unwrap().host_mut("test").unwrap().as_mut_slice().unwrap().copy_from_slice(&bytes);
    let mut there = Tensor::create(context, DType::U8, location, Order::ColumnMajor, &[bytes.len()]).unwrap();
    crate::tensor::copy(context, None, &host, &mut there).unwrap();
    if location == Location::Device {
        context.gpu("test").unwrap().default_stream().synchronize().unwrap();
    }
    Held::Memory(there, stride)
}

fn problem<'a, T: Scalar>(case: &Case, held: &'a mut Held, order: Order) -> Problem<'a, T> {
    let data = match held {
        Held::Source(source) => Data::Streamed { source, order },
        Held::Memory(tensor, stride) => {
            let (row_stride, column_stride) = if order == Order::RowMajor { (*stride, 1) } else { (1, *stride) };
            let memory: &Memory = tensor.memory();
            Data::Dense { memory, dtype: case.dtype, row_stride, column_stride }
        }
    };
    Problem::new(case.rows, case.columns, data)
}

fn setting() -> Setting {
    Setting {
        block_rows: 0,
        resident: Resident::Auto,
        alternate: false,
        center: Center::None,
        scale: false,
        factor: 1.0,
        tall_columns: 32,
        long: LongColumns { replaced: 32, product: 32, ..LongColumns::default() },
        small_elements: 100_000,
        panel_rows: 0,
    }
}

/// Runs `work` with the operations on a case.
fn with<T: Scalar, R>(
    context: &Arc<Context>,
    case: &Case,
    (from, order, gap): (From, Order, usize),
    setting: Setting,
    work: impl FnOnce(&mut GpuOps<'_, T>) -> R,
) -> R {
    let mut held = hold(case, context, from, order, gap);
    let contexts = [Arc::clone(context)];
    let queue: GpuStream = context.gpu("test").unwrap().create_stream().unwrap();
    let progress = Progress::none();
    let problem = problem::<T>(case, &mut held, order);
    let mut ops = GpuOps::new(&contexts, &queue, problem, setting, &progress).unwrap();
    work(&mut ops)
}

fn sketch(stream: u32) -> Sketch {
    Sketch { distribution: Distribution::Gaussian, seed: 7, stream }
}

/// A drawn matrix, here and there.
fn drawn<T: Scalar>(ops: &mut GpuOps<'_, T>, rows: usize, cols: usize, stream: u32) -> (GpuMatrix<T>, Vec<Vec<C64>>) {
    let mut m: GpuMatrix<T> = ops.zeros("test", rows, cols).unwrap();
    ops.fill(&mut m, &sketch(stream), 0, 0).unwrap();
    (m, sketched::<T>(&sketch(stream), 0, rows, cols))
}

fn sketched<T: Scalar>(sketch: &Sketch, first: usize, rows: usize, cols: usize) -> Vec<Vec<C64>> {
    let entry = |i: usize, j: usize| {
        let v: T = sketch.entry((first + i) as u64, j as u32);
        C64::new(v.re(), v.im())
    };
    (0..rows).map(|i| (0..cols).map(|j| entry(i, j)).collect()).collect()
}

fn fetched<T: Scalar>(ops: &mut GpuOps<'_, T>, m: &GpuMatrix<T>) -> Vec<Vec<C64>> {
    let (rows, cols) = ops.shape(m);
    let mut data = vec![T::default(); rows * cols];
    ops.download(m, &mut data, rows.max(1)).unwrap();
    (0..rows).map(|i| (0..cols).map(|j| C64::new(data[i + rows * j].re(), data[i + rows * j].im())).collect()).collect()
}

fn fetched_tall<T: Scalar>(ops: &mut GpuOps<'_, T>, p: &super::Tall<T>) -> Vec<Vec<C64>> {
    let (rows, cols) = (ops.rows(), ops.tall_width(p));
    let context = Arc::clone(&ops.parts[0].site.context);
    let mut out = Matrix::create(&context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, cols).unwrap();
    ops.tall_write(p, &mut out, false, false).unwrap();
    let data = out.dense("test").unwrap().memory.host("test").unwrap();
    let data = data.as_slice::<T>().unwrap();
    (0..rows).map(|i| (0..cols).map(|j| C64::new(data[i + rows * j].re(), data[i + rows * j].im())).collect()).collect()
}

fn times(a: &[Vec<C64>], b: &[Vec<C64>]) -> Vec<Vec<C64>> {
    let columns = b.first().map_or(0, Vec::len);
    let row = |a: &Vec<C64>| (0..columns).map(|j| a.iter().zip(b).map(|(x, y)| x * y[j]).sum()).collect();
    a.iter().map(row).collect()
}

/// a^H b, for matrices given row by row.
fn adjoint_times(a: &[Vec<C64>], b: &[Vec<C64>], rows: usize) -> Vec<Vec<C64>> {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |i: usize, j: usize| a.iter().zip(b).map(|(x, y)| x[i].conj() * y[j]).sum();
    (0..rows).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect()
}

fn frobenius(a: &[Vec<C64>]) -> f64 {
    a.iter().flatten().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
}

fn distance(a: &[Vec<C64>], b: &[Vec<C64>]) -> f64 {
    assert_eq!((a.len(), a.first().map(Vec::len)), (b.len(), b.first().map(Vec::len)));
    let squares: f64 = a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| (x - y).norm_sqr()).sum();
    squares.sqrt()
}

/// Two sums of up to `terms` products each: relative to the norms of the factors.
fn tolerance<T: Scalar>(terms: usize) -> f64 {
    T::Part::EPSILON.to_f64() * 4.0 * (terms as f64).sqrt()
}

/// The data as they are computed with.
fn centred(a: &[Vec<C64>], center: Center, scale: bool) -> Vec<Vec<C64>> {
    let (m, n) = (a.len(), a[0].len());
    let column = |j: usize| a.iter().map(|r| r[j]).sum::<C64>() / m as f64;
    let means: Vec<C64> = (0..n).map(column).collect();
    let deviation = |j: usize| {
        let squares: f64 = a.iter().map(|r| (r[j] - means[j]).norm_sqr()).sum();
        let d = (squares / (m as f64 - 1.0).max(1.0)).sqrt();
        if scale && d > 0.0 { d } else { 1.0 }
    };
    let deviations: Vec<f64> = (0..n).map(deviation).collect();
    let row = |r: &Vec<C64>| {
        let mean = r.iter().sum::<C64>() / n as f64;
        let shift = |j: usize| match center {
            Center::None => C64::new(0.0, 0.0),
            Center::Columns => means[j],
            Center::Rows => mean,
        };
        (0..n).map(|j| (r[j] - shift(j)) / deviations[j]).collect()
    };
    a.iter().map(row).collect()
}
