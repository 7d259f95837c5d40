//! Tall matrices on the device and on the host; sparse matrices and operators.

use std::sync::Arc;

use super::super::GpuOps;
use super::cases::{Case, From};
use super::oracle::{C64, adjoint_times, centred, distance, frobenius, sketched, times, tolerance};
use super::runs::{drawn, fetched, fetched_tall, gpu, setting, sketch, with};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::dense::gpu::GpuMatrix;
use crate::dense::{Algebra, Op, Step};
use crate::error::Result;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Operator};
use crate::progress::Progress;
use crate::rsvd::data::{Center, Data, Problem, Resident, Setting};
use crate::rsvd::ops::RsvdOps;
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::shape::Order;
use crate::tensor::Location;

fn check<T: Scalar>(context: &Arc<Context>, setting: Setting, on_host: bool) {
    let dtype = T::DTYPE;
    let case = Case { rows: 1201, columns: 20, dtype, offset: 0.0 };
    let eps = T::Part::EPSILON.to_f64();
    let (m, l) = (case.rows, 7);
    with::<T, _>(context, &case, (From::Pinned, Order::RowMajor, 0), setting, |ops| {
        for part in &mut ops.devices.parts {
            part.feed.cut.tall_on_device = !on_host;
        }
        let mut p = ops.tall("test", l).unwrap();
        ops.tall_fill(&mut p, &sketch(2), 3).unwrap();
        let here: Vec<Vec<C64>> = sketched::<T>(&sketch(2), 0, m, l + 3).into_iter().map(|r| r[3..].to_vec()).collect();
        assert_eq!(fetched_tall(ops, &p), here);

        let (w, w_here) = drawn(ops, l, 4, 5);
        let mut q = ops.tall("test", 4).unwrap();
        ops.tall_multiply(2.0, &p, &w, 0.0, &mut q).unwrap();
        ops.tall_multiply(-1.0, &p, &w, 1.0, &mut q).unwrap();
        let product = times(&here, &w_here);
        let got = fetched_tall(ops, &q);
        assert!(distance(&got, &product) < 20.0 * eps * frobenius(&here) * frobenius(&w_here));

        let mut c: GpuMatrix<T> = ops.zeros("test", l, 4).unwrap();
        ops.tall_cross(&p, &q, &mut c).unwrap();
        let got = fetched(ops, &c);
        let want = adjoint_times(&here, &product, l);
        assert!(distance(&got, &want) < tolerance::<T>(m) * frobenius(&here) * frobenius(&product));

        let norms = ops.tall_column_norms(&q).unwrap();
        let peaks = ops.tall_column_peaks(&p).unwrap();
        for j in 0..4 {
            let norm = product.iter().map(|r| r[j].norm_sqr()).sum::<f64>().sqrt();
            assert!((norms[j] / norm - 1.0).abs() < 20.0 * eps, "{} {norm}", norms[j]);
            let peak =
                here.iter().map(|r| r[j]).fold(C64::new(0.0, 0.0), |a, b| if b.norm() > a.norm() { b } else { a });
            assert_eq!(C64::new(peaks[j].0, peaks[j].1), peak);
        }

        ops.tall_transform(&mut p, &w).unwrap();
        assert_eq!(ops.tall_width(&p), 4);
        let got = fetched_tall(ops, &p);
        assert!(distance(&got, &product) < 20.0 * eps * frobenius(&here) * frobenius(&w_here));

        let mut r: GpuMatrix<T> = ops.zeros("test", 4, 4).unwrap();
        let step = ops.tall_cholesky_step(&mut p, 0.0, &mut r).unwrap();
        assert!(matches!(step, Step::Done { spread } if spread > 0.1 && spread <= 1.0), "{step:?}");
        let (basis, r) = (fetched_tall(ops, &p), fetched(ops, &r));
        assert!(distance(&times(&basis, &r), &product) < 20.0 * eps * frobenius(&product));
        let gram = adjoint_times(&basis, &basis, 4);
        let unit: Vec<Vec<C64>> =
            (0..4).map(|i| (0..4).map(|j| C64::new(f64::from(u8::from(i == j)), 0.0)).collect()).collect();
        assert!(distance(&gram, &unit) < 200.0 * eps);

        // A repeated column has no Cholesky factor, and the block is unchanged.
        let twice: Vec<T> = (0..12).map(|k| T::from_parts(f64::from(u8::from(k % 4 == 0 || k == 4)), 0.0)).collect();
        let twice: GpuMatrix<T> = ops.upload("test", 4, 3, &twice, 4).unwrap();
        let mut q = ops.tall("test", 3).unwrap();
        ops.tall_multiply(1.0, &p, &twice, 0.0, &mut q).unwrap();
        let mut r: GpuMatrix<T> = ops.zeros("test", 3, 3).unwrap();
        let before = fetched_tall(ops, &q);
        let step = ops.tall_cholesky_step(&mut q, 0.0, &mut r).unwrap();
        match step {
            Step::Failed => assert_eq!(fetched_tall(ops, &q), before),
            Step::Done { spread } => assert!(spread < 1e-6, "{spread}"),
        }
        assert_eq!(ops.traffic().bytes_tall > 0, on_host);
    });
}

#[test]
#[ignore = "needs a GPU"]
fn tall_matrices_are_the_same_in_both_places() {
    let context = gpu(0);
    for on_host in [false, true] {
        for block_rows in [0, 100] {
            let setting = Setting { block_rows, resident: Resident::AtMost(300), ..setting() };
            check::<f64>(&context, setting, on_host);
            check::<f32>(&context, setting, on_host);
            check::<Complex<f64>>(&context, setting, on_host);
            check::<Complex<f32>>(&context, setting, on_host);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn callers_matrices_are_read_and_written_in_every_order() {
    let context = gpu(0);
    let case = Case { rows: 333, columns: 21, dtype: DType::CF64, offset: 0.0 };
    let setting = Setting { block_rows: 100, resident: Resident::AtMost(100), ..setting() };
    with::<Complex<f64>, _>(&context, &case, (From::Pinned, Order::RowMajor, 0), setting, |ops| {
        let (w, here) = drawn(ops, 21, 5, 2);
        for location in [Location::Host, Location::PinnedHost, Location::Device] {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                for (adjoint, conjugate) in [(false, false), (false, true), (true, false), (true, true)] {
                    let name = format!("{location:?} {order:?} {adjoint} {conjugate}");
                    let (rows, cols) = if adjoint { (5, 21) } else { (21, 5) };
                    let mut out = Matrix::create(&context, DType::CF64, location, order, rows, cols).unwrap();
                    ops.write(&w, &mut out, adjoint, conjugate).unwrap();
                    let back = ops.read("test", &out, adjoint, conjugate).unwrap();
                    assert_eq!(fetched(ops, &back), here, "{name}");
                    // Without the conjugation that was asked for, entries are each other's conjugates.
                    let other = ops.read("test", &out, adjoint, !conjugate).unwrap();
                    assert_eq!(fetched(ops, &other)[2][1], here[2][1].conj(), "{name}");

                    let mut p = ops.tall("test", 5).unwrap();
                    ops.tall_fill(&mut p, &sketch(3), 0).unwrap();
                    let (rows, cols) = if adjoint { (5, 333) } else { (333, 5) };
                    let mut out = Matrix::create(&context, DType::CF64, location, order, rows, cols).unwrap();
                    ops.tall_write(&p, &mut out, adjoint, conjugate).unwrap();
                    let back = ops.tall_read("test", &out, adjoint, conjugate).unwrap();
                    assert_eq!(fetched_tall(ops, &back), fetched_tall(ops, &p), "{name}");
                }
            }
        }
        let wrong = Matrix::create(&context, DType::F64, Location::Host, Order::RowMajor, 21, 5).unwrap();
        assert!(ops.read("test", &wrong, false, false).is_err());
    });
}

/// An operator over a matrix in memory.
struct Plain(Vec<Vec<C64>>);

impl Operator<Complex<f64>> for Plain {
    fn shape(&self) -> (usize, usize) {
        (self.0.len(), self.0[0].len())
    }

    fn apply(&mut self, op: Op, x: &[C64], count: usize, y: &mut [C64]) -> Result<()> {
        let (m, n) = Operator::shape(self);
        let inner = if op == Op::Plain { n } else { m };
        let x: Vec<Vec<C64>> = (0..inner).map(|i| (0..count).map(|k| x[i + inner * k]).collect()).collect();
        let out = if op == Op::Plain { times(&self.0, &x) } else { adjoint_times(&self.0, &x, n) };
        for (i, row) in out.iter().enumerate() {
            for (k, v) in row.iter().enumerate() {
                y[i + out.len() * k] = *v;
            }
        }
        Ok(())
    }
}

fn products<'a>(
    context: &Arc<Context>,
    progress: &'a Progress<'a>,
    data: Data<'a, C64>,
    a: &[Vec<C64>],
    setting: Setting,
) {
    let exact = matches!(data, Data::Csr(_));
    let (m, n, l) = (a.len(), a[0].len(), 37);
    let contexts = [Arc::clone(context)];
    let queue = context.gpu("test").unwrap().create_stream().unwrap();
    let mut ops = GpuOps::<C64>::new(&contexts, &queue, Problem::new(m, n, data), setting, progress).unwrap();
    let (w, w_here) = drawn(&mut ops, n, l, 2);
    let mut p = ops.tall("test", l).unwrap();
    let mut t: GpuMatrix<C64> = ops.zeros("test", n, l).unwrap();
    ops.pass_fused(&w, Some(&mut p), &mut t).unwrap();
    let want = times(a, &w_here);
    let scale = frobenius(a) * frobenius(&w_here);
    assert!(distance(&fetched_tall(&mut ops, &p), &want) < tolerance::<C64>(n) * scale);
    let want = adjoint_times(a, &want, n);
    assert!(distance(&fetched(&mut ops, &t), &want) < tolerance::<C64>(m) * scale * frobenius(a));
    let ratio = ops.statistics().unwrap().norm2 / frobenius(a).powi(2);
    // An operator's is that of 16 complex probes: five standard deviations of an estimate where one direction has it all.
    assert!((ratio - 1.0).abs() < if exact { 1e-12 } else { 5.0 / 4.0 }, "{ratio}");
}

#[test]
#[ignore = "needs a GPU"]
fn sparse_matrices_and_operators_are_multiplied() {
    let context = gpu(0);
    let (m, n) = (130, 71);
    let progress = Progress::none();
    let zero = C64::new(0.0, 0.0);
    let mut a = vec![vec![zero; n]; m];
    let case = Case { rows: m, columns: n, dtype: DType::CF64, offset: 0.0 };
    let (mut row_ptr, mut columns, mut values) = (vec![1i64], Vec::<i32>::new(), Vec::<C64>::new());
    for (i, row) in a.iter_mut().enumerate() {
        for (j, v) in row.iter_mut().enumerate().filter(|(j, _)| (i * 13 + j * 7) % 11 == 0 && i % 9 != 4) {
            *v = case.entry(i, j);
            columns.push(j as i32 + 1);
            values.push(if (i + j) % 2 == 0 { *v * 2.0 } else { *v });
        }
        // Half of the places are stored twice: 2 x and -x make x.
        for (j, v) in row.iter().enumerate().filter(|(j, v)| (i + j) % 2 == 0 && **v != zero) {
            columns.push(j as i32 + 1);
            values.push(-*v);
        }
        row_ptr.push(columns.len() as i64 + 1);
    }
    let budget = context.host_budget();
    fn held<E: crate::scalar::Element>(values: &[E], budget: &Arc<crate::backend::memory::Budget>) -> HostMemory {
        let mut memory = HostMemory::allocate("test", size_of_val(values), budget).unwrap();
        memory.as_mut_slice::<E>().unwrap().copy_from_slice(values);
        memory
    }
    let parts = CsrParts {
        row_ptr: held(&row_ptr, budget),
        row_ptr_type: IndexType::I64,
        col_idx: held(&columns, budget),
        col_idx_type: IndexType::I32,
        values: Some(Memory::Host(held(&values, budget))),
    };
    let csr = Csr::new(parts, m, n, values.len(), 1).unwrap();
    for (center, scale) in
        [(Center::None, false), (Center::Columns, false), (Center::Rows, false), (Center::Columns, true)]
    {
        let setting = Setting { center, scale, tall_columns: 64, ..setting() };
        products(&context, &progress, Data::Csr(&csr), &centred(&a, center, scale), setting);
    }
    let (mut operator, progress) = (Plain(a.clone()), Progress::none());
    products(&context, &progress, Data::Operator(&mut operator), &a, Setting { tall_columns: 64, ..setting() });
}
