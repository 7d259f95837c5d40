//! Sizes beyond 32 bits, and beyond the available memory.

use std::sync::Arc;

use super::inputs::{edges, symmetric};
use super::solves::near;
use crate::backend::BackendChoice;
use crate::context::{self, Context};
use crate::error::Error;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Options, Verify};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix};
use crate::progress::Progress;
use crate::scalar::DType;
use crate::testing::sparse::{cpu, gpu, stored};

/// A basis of more than 2^31 numbers: 50 million rows, 45 vectors.
fn check_basis_beyond_32_bits(c: &Arc<Context>) {
    let (n, basis) = (50_000_000usize, 45usize);
    assert!(n * basis > 1 << 31);
    let wanted = [(n - 1, 4.0f32), (n / 2, 3.0), (0, 2.5)];
    // A spectrum in 0 to 1, and three values above it.
    let spread = |i: usize| ((i as u64 * 2_654_435_761) % (1 << 20)) as f32 / (1u64 << 20) as f32;
    let value = |i: usize| wanted.iter().find(|w| w.0 == i).map_or(spread(i), |w| w.1);
    let row_ptr: Vec<i32> = (0..=n as i32).collect();
    let parts = CsrParts {
        row_ptr: stored(c, &row_ptr),
        row_ptr_type: IndexType::I32,
        col_idx: stored(c, &row_ptr[..n]),
        col_idx_type: IndexType::I32,
        values: Some(crate::backend::memory::Memory::Host(stored(c, &(0..n).map(value).collect::<Vec<_>>()))),
    };
    let a = Matrix::from_csr(c, DType::F32, Csr::new(parts, n, n, n, 0).unwrap(), true);
    let options = Options { count: 3, basis, verify: Verify::Off, ..Options::default() };
    let mut operator = Symmetric::<f32>::new(c, &a, Kind::Matrix, 0.0).unwrap();
    let pairs = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap();
    assert_eq!((pairs.info.basis, pairs.info.converged), (basis, 3), "{:?}", pairs.info);
    for ((x, found), (at, value)) in pairs.vectors.chunks_exact(n).zip(&pairs.values).zip(wanted) {
        assert!((found - f64::from(value)).abs() <= 1e-5 * 4.0, "{found}, not {value}");
        assert!((x[at] - 1.0).abs() < 1e-3, "{value}: {} at {at}", x[at]);
        let rest: f64 = x.iter().enumerate().filter(|e| e.0 != at).map(|(_, v)| f64::from(*v).powi(2)).sum();
        // At most the residual over the gap.
        assert!(rest.sqrt() < 1e-3, "{value}: {} elsewhere", rest.sqrt());
    }
}

#[test]
#[ignore = "needs 20 GB of memory"]
fn bases_beyond_32_bits_are_reached() {
    check_basis_beyond_32_bits(&cpu(0));
}

#[test]
#[ignore = "needs a GPU, and 20 GB of its memory"]
fn bases_beyond_32_bits_are_reached_on_a_gpu() {
    check_basis_beyond_32_bits(&gpu());
}

/// A circulant pattern of more than 2^31 entries, whose eigenvalues are values of the Dirichlet kernel.
fn check_entries_beyond_32_bits(c: &Arc<Context>) {
    let (n, half) = (50_001usize, 21_475usize);
    let each = 2 * half + 1;
    let nnz = n * each;
    assert!(nnz > 1 << 31);
    let allocate = |bytes| crate::backend::memory::HostMemory::allocate("test", bytes, c.host_budget()).unwrap();
    let (mut row_ptr, mut col_idx) = (allocate(8 * (n + 1)), allocate(4 * nnz));
    for (i, p) in row_ptr.as_mut_slice::<i64>().unwrap().iter_mut().enumerate() {
        *p = (i * each) as i64;
    }
    for (i, row) in col_idx.as_mut_slice::<i32>().unwrap()[..nnz].chunks_exact_mut(each).enumerate() {
        // Columns i - half ... i + half modulo n, sorted.
        row.iter_mut().enumerate().for_each(|(k, col)| *col = ((i + n - half + k) % n) as i32);
        row.sort_unstable();
    }
    let parts = CsrParts { row_ptr, row_ptr_type: IndexType::I64, col_idx, col_idx_type: IndexType::I32, values: None };
    let a = Matrix::from_csr(c, DType::F64, Csr::new(parts, n, n, nnz, 0).unwrap(), true);
    let angle = |j: usize| std::f64::consts::PI * j as f64 / n as f64;
    let kernel = |j: usize| (angle(j) * each as f64).sin() / angle(j).sin();
    let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, 0.0).unwrap();
    let mut wave = vec![0.0; n];
    // One product with a vector whose image is known, row by row.
    let x: Vec<f64> = (0..n).map(|i| (2.0 * angle(i % n) * 3.0).cos()).collect();
    operator.apply(&x, &mut wave).unwrap();
    for (i, (y, x)) in wave.iter().zip(&x).enumerate() {
        assert!((y - kernel(3) * x).abs() <= 1e-9 * each as f64, "row {i}: {y}");
    }
    // The largest eigenvalue is the sum of a row; the next is a sixth of it.
    let options = Options { count: 1, basis: 12, verify: Verify::Off, ..Options::default() };
    let pairs = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap();
    near(&pairs.values, &[each as f64], 1e-10 * each as f64, "circulant");
}

#[test]
#[ignore = "needs 12 GB of memory"]
fn entries_beyond_32_bits_are_iterated_with() {
    check_entries_beyond_32_bits(&cpu(0));
}

#[test]
#[ignore = "needs a GPU, and 12 GB of host and device memory"]
fn entries_beyond_32_bits_are_iterated_with_on_a_gpu() {
    check_entries_beyond_32_bits(&gpu());
}

/// A call that needs more than a limit is refused and frees its memory; smaller calls still work.
#[test]
#[ignore = "needs a GPU"]
fn what_is_larger_than_the_device_is_refused_and_leaves_nothing() {
    // cuBLAS uses 32 MiB of it.
    let limit = 64 << 20;
    let small = context::Options {
        backend: BackendChoice::Cuda,
        threads: 2,
        device_memory_limit: limit,
        ..context::Options::default()
    };
    let c = Context::new(small).unwrap();
    let path = |n: usize| symmetric(&c, n, &edges((1..n).map(|i| (i - 1, i))));
    let run = |a: &Matrix, options: &Options| {
        let mut operator = Symmetric::<f64>::new(&c, a, Kind::Laplacian, 0.0)?;
        eigenpairs(&c, &mut operator, options, &SolveInputs::default(), &Progress::none())
    };
    let options = Options { count: 2, tolerance: 1e-6, ..Options::default() };
    let fits = path(2000);
    let before = run(&fits, &options).unwrap();
    let used = c.device_budget().used();
    // First the matrix does not fit; then the matrix fits, but not the space.
    for (n, basis) in [(3_000_000, 30), (40_000, 200)] {
        let large = path(n);
        for block in [1, 4] {
            let e = run(&large, &Options { basis, block, ..options }).unwrap_err();
            assert!(matches!(e, Error::OutOfDeviceMemory { limit: Some(l), .. } if l == limit), "{n}: {e}");
        }
        drop(large);
        assert_eq!(c.device_budget().used(), used, "{n}: memory stays");
    }
    let after = run(&fits, &options).unwrap();
    assert!(after.values == before.values && after.vectors == before.vectors);
}

/// The same on the host, where the limit covers all memory that purlin allocates.
#[test]
fn what_is_larger_than_the_host_is_refused_and_leaves_nothing() {
    let limit = 32 << 20;
    let small = context::Options {
        backend: BackendChoice::Cpu,
        threads: 2,
        host_memory_limit: limit,
        ..context::Options::default()
    };
    let c = Context::new(small).unwrap();
    let a = symmetric(&c, 40_000, &edges((1..40_000).map(|i| (i - 1, i))));
    let used = c.host_memory_used();
    for block in [1, 4] {
        let mut operator = Symmetric::<f64>::new(&c, &a, Kind::Laplacian, 0.0).unwrap();
        let options = Options { count: 2, basis: 200, block, ..Options::default() };
        let e = eigenpairs(&c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap_err();
        assert!(matches!(e, Error::OutOfMemory { limit: Some(l), .. } if l == limit), "{e}");
    }
    drop(a);
    assert!(c.host_memory_used() <= used);
}
