//! The operations on a GPU over the data of a case, and copies of device matrices.

use std::sync::Arc;

use super::super::{GpuOps, Tall};
use super::cases::{Case, From, hold, problem};
use super::oracle::{C64, sketched};
use crate::backend::BackendChoice;
use crate::backend::gpu::GpuStream;
use crate::context::{Context, Options};
use crate::dense::Algebra;
use crate::dense::gpu::GpuMatrix;
use crate::dense::sketch::{Distribution, Sketch};
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::rsvd::data::{LongColumns, Setting};
use crate::rsvd::ops::RsvdOps;
use crate::scalar::Scalar;
use crate::shape::Order;
use crate::tensor::Location;

/// A context on a GPU with a limit of device memory, 0 for none.
pub(super) fn gpu(limit: u64) -> Arc<Context> {
    let backend = BackendChoice::Cuda;
    Context::new(Options { backend, threads: 4, device_memory_limit: limit, ..Options::default() }).unwrap()
}

pub(super) fn cpu() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 2, ..Options::default() }).unwrap()
}

pub(super) fn setting() -> Setting {
    Setting {
        tall_columns: 32,
        long: LongColumns { replaced: 32, product: 32, ..LongColumns::default() },
        small_elements: 100_000,
        ..Setting::plain()
    }
}

/// Runs `work` with the operations on a case.
pub(super) fn with<T: Scalar, R>(
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

pub(super) fn sketch(stream: u32) -> Sketch {
    Sketch { distribution: Distribution::Gaussian, seed: 7, stream }
}

/// A drawn matrix, here and there.
pub(super) fn drawn<T: Scalar>(
    ops: &mut GpuOps<'_, T>,
    rows: usize,
    cols: usize,
    stream: u32,
) -> (GpuMatrix<T>, Vec<Vec<C64>>) {
    let mut m: GpuMatrix<T> = ops.zeros("test", rows, cols).unwrap();
    ops.fill(&mut m, &sketch(stream), 0, 0).unwrap();
    (m, sketched::<T>(&sketch(stream), 0, rows, cols))
}

pub(super) fn fetched<T: Scalar>(ops: &mut GpuOps<'_, T>, m: &GpuMatrix<T>) -> Vec<Vec<C64>> {
    let (rows, cols) = ops.shape(m);
    let mut data = vec![T::default(); rows * cols];
    ops.download(m, &mut data, rows.max(1)).unwrap();
    (0..rows).map(|i| (0..cols).map(|j| C64::new(data[i + rows * j].re(), data[i + rows * j].im())).collect()).collect()
}

pub(super) fn fetched_tall<T: Scalar>(ops: &mut GpuOps<'_, T>, p: &Tall<T>) -> Vec<Vec<C64>> {
    let (rows, cols) = (ops.rows(), ops.tall_width(p));
    let context = Arc::clone(&ops.devices.parts[0].site.context);
    let mut out = Matrix::create(&context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, cols).unwrap();
    ops.tall_write(p, &mut out, false, false).unwrap();
    let data = out.dense("test").unwrap().memory.host("test").unwrap();
    let data = data.as_slice::<T>().unwrap();
    (0..rows).map(|i| (0..cols).map(|j| C64::new(data[i + rows * j].re(), data[i + rows * j].im())).collect()).collect()
}
