//! Limits of memory for sparse matrices and operators, on both backends: a run that the plan accepts stays inside the
//! limit, and one that it refuses is refused alike, before a function of the caller is called.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::memory::{blank, compute, options};
use crate::backend::BackendChoice;
use crate::backend::memory::{Budget, HostMemory, Memory};
use crate::context::{Context, Options as ContextOptions};
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Operator};
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::{Info, Options, Rsvd};
use crate::scalar::{DType, Element};

/// Which memory a context limits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limited {
    Host,
    Device,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Storage {
    Sparse,
    /// Without values.
    Pattern,
    Operator,
}

#[derive(Debug, Clone, Copy)]
struct Sizes {
    rows: usize,
    columns: usize,
}

fn context(backend: BackendChoice, limited: Limited, limit: u64) -> Arc<Context> {
    let [host_memory_limit, device_memory_limit] = match limited {
        Limited::Host => [limit, 0],
        Limited::Device => [0, limit],
    };
    let options =
        ContextOptions { backend, threads: 2, host_memory_limit, device_memory_limit, ..ContextOptions::default() };
    Context::new(options).unwrap()
}

/// Columns with an entry in row i.
fn places(i: usize, columns: usize) -> [usize; 2] {
    [i % columns, columns + i % (columns - 1) + 1].map(|j| j % columns)
}

/// The entries of row i in these columns.
fn entries(i: usize) -> [f64; 2] {
    [1.0 + (i * 7919 % 101) as f64 / 101.0, 0.5 - (i * 31 % 17) as f64 / 17.0]
}

/// The same entries, by products.
struct Counted {
    sizes: Sizes,
    calls: Arc<AtomicUsize>,
}

impl Operator<f64> for Counted {
    fn shape(&self) -> (usize, usize) {
        (self.sizes.rows, self.sizes.columns)
    }

    fn apply(&mut self, op: Op, x: &[f64], count: usize, y: &mut [f64]) -> Result<()> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let Sizes { rows, columns } = self.sizes;
        let (inner, outer) = if op == Op::Plain { (columns, rows) } else { (rows, columns) };
        y.fill(0.0);
        for (x, y) in x.chunks_exact(inner).zip(y.chunks_exact_mut(outer)).take(count) {
            for i in 0..rows {
                for (j, a) in places(i, columns).into_iter().zip(entries(i)) {
                    let (to, from) = if op == Op::Plain { (i, j) } else { (j, i) };
                    y[to] += a * x[from];
                }
            }
        }
        Ok(())
    }
}

/// Memory that no limit counts.
fn outside<E: Element>(values: &[E]) -> HostMemory {
    let mut memory = HostMemory::allocate("test", size_of_val(values), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<E>().unwrap().copy_from_slice(values);
    memory
}

/// A matrix, and how often it was multiplied if it is an operator.
fn matrix(context: &Arc<Context>, storage: Storage, sizes: Sizes) -> (Matrix, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let Sizes { rows, columns } = sizes;
    if storage == Storage::Operator {
        let operator = Counted { sizes, calls: Arc::clone(&calls) };
        return (Matrix::from_operator::<f64>(context, Box::new(operator)), calls);
    }
    let offsets: Vec<i64> = (0..=rows).map(|i| 2 * i as i64).collect();
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let mut row: Vec<(usize, f64)> = places(i, columns).into_iter().zip(entries(i)).collect();
        row.sort_by_key(|(j, _)| *j);
        indices.extend(row.iter().map(|(j, _)| *j as i64));
        values.extend(row.iter().map(|(_, a)| *a));
    }
    let parts = CsrParts {
        row_ptr: outside(&offsets),
        row_ptr_type: IndexType::I64,
        col_idx: outside(&indices),
        col_idx_type: IndexType::I64,
        values: (storage == Storage::Sparse).then(|| Memory::Host(outside(&values))),
    };
    let csr = Csr::new(parts, rows, columns, values.len(), 0).unwrap();
    (Matrix::from_csr(context, DType::F64, csr, true), calls)
}

fn fit(context: &Arc<Context>, x: &Matrix, options: &Options) -> Result<Info> {
    let mut scores = blank(context, DType::F64, x.rows(), options.rank);
    let mut session = Rsvd::new(context, options.clone())?;
    session.fit_pca(None, x, &PcaOptions::default(), Some(&mut scores), None).map(|(_, info)| info)
}

/// Plans and runs under limits from far too little to ample.
fn sweep(backend: BackendChoice, limited: Limited, (storage, sizes): (Storage, Sizes), options: &Options, pca: bool) {
    let name = format!("{limited:?} {storage:?} {:?} {:?} pca {pca}", options.method, options.center);
    let plan = |context: &Arc<Context>, a: &Matrix| {
        let session = Rsvd::new(context, options.clone()).unwrap();
        if pca { session.plan_pca(a, &PcaOptions::default(), true) } else { session.plan(a) }
    };
    let run =
        |context: &Arc<Context>, a: &Matrix| if pca { fit(context, a, options) } else { compute(context, a, options) };
    let bytes = |info: &Info| {
        let [planned, used] = match limited {
            Limited::Host => [info.host_bytes, info.host_bytes_used],
            Limited::Device => [info.device_bytes, info.device_bytes_used],
        };
        (u64::try_from(planned).unwrap(), u64::try_from(used).unwrap())
    };
    let free = context(backend, limited, 0);
    let ample = bytes(&plan(&free, &matrix(&free, storage, sizes).0).unwrap_or_else(|e| panic!("{name}: {e}"))).0;
    let (mut accepted, mut refused) = (0, 0);
    for eighths in [1, 3, 6, 7, 8, 9, 12, 24] {
        let limit = ample * eighths / 8;
        let context = context(backend, limited, limit);
        let (a, calls) = matrix(&context, storage, sizes);
        let planned = plan(&context, &a);
        assert_eq!(calls.load(Ordering::Relaxed), 0, "{name}: a plan called the operator");
        match planned {
            Ok(planned) => {
                accepted += 1;
                let done = run(&context, &a).unwrap_or_else(|e| panic!("{name}: limit {limit}: {e}: {planned:?}"));
                let (of_plan, (of_run, used)) = (bytes(&planned).0, bytes(&done));
                println!("{name}: limit {limit}: {of_plan} planned, {used} used");
                assert_eq!((planned.method, of_plan), (done.method, of_run), "{name}: limit {limit}");
                assert!(used <= limit && of_plan <= limit, "{name}: limit {limit}: {planned:?} {done:?}");
                if backend == BackendChoice::Cpu {
                    let ratio = of_plan as f64 / used as f64;
                    assert!((0.9..=1.1).contains(&ratio), "{name}: limit {limit}: {planned:?} {done:?}");
                } else {
                    assert!(used <= of_plan, "{name}: limit {limit}: {planned:?} {done:?}");
                    assert_eq!((planned.blocks, planned.block_rows), (done.blocks, done.block_rows), "{name}");
                }
                if storage == Storage::Operator {
                    assert!(calls.load(Ordering::Relaxed) > 0, "{name}");
                }
            }
            Err(e @ (Error::OutOfMemory { .. } | Error::OutOfDeviceMemory { .. })) => {
                refused += 1;
                assert_eq!(run(&context, &a).unwrap_err(), e, "{name}: limit {limit}");
                assert_eq!(calls.load(Ordering::Relaxed), 0, "{name}: a run that was refused called the operator");
            }
            Err(e) => panic!("{name}: limit {limit}: {e}"),
        }
    }
    assert!(accepted > 0 && refused > 0, "{name}: {accepted} accepted, {refused} refused");
}

fn sweeps(backend: BackendChoice, limits: &[Limited], sizes: Sizes) {
    use Method::{Auto, Fused, Krylov, OnePass, Range, RowFused};
    for limited in limits {
        for storage in [Storage::Sparse, Storage::Pattern, Storage::Operator] {
            for (method, center) in [
                (Auto, Centering::None),
                (Fused, Centering::Columns),
                (Fused, Centering::None),
                (Range, Centering::Rows),
                (Krylov, Centering::None),
                (RowFused, Centering::Columns),
                (OnePass, Centering::None),
            ] {
                let options = Options { dtype: Some(DType::F64), center, ..options(method) };
                sweep(backend, *limited, (storage, sizes), &options, false);
            }
            let options = Options { dtype: Some(DType::F64), ..options(Auto) };
            sweep(backend, *limited, (storage, sizes), &options, true);
        }
    }
}

#[test]
fn sparse_matrices_and_operators_stay_inside_host_limits() {
    sweeps(BackendChoice::Cpu, &[Limited::Host], Sizes { rows: 2000, columns: 60 });
}

#[test]
#[ignore = "needs a GPU"]
fn sparse_matrices_and_operators_stay_inside_device_limits() {
    sweeps(BackendChoice::Cuda, &[Limited::Device, Limited::Host], Sizes { rows: 200_000, columns: 300 });
}
