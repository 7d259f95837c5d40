use super::*;
use crate::backend::BackendChoice;
use crate::backend::memory::{Budget, Memory};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::{Number, encode};
use crate::blocks::source::{CallbackSource, HostSource, Source};
use crate::context::Options;
use crate::dense::sketch::Distribution;
use crate::matrix::{Csr, CsrParts, IndexType, Operator};
use crate::rng::stream;
use crate::scalar::{Complex, DType, Real};
use crate::shape::Order;
use crate::tensor::Location;

type C64 = Complex<f64>;

fn context(threads: usize, limit: u64) -> Arc<Context> {
    let options = Options { backend: BackendChoice::Cpu, threads, host_memory_limit: limit, ..Options::default() };
    Context::new(options).unwrap()
}

fn setting() -> Setting {
    Setting {
        block_rows: 0,
        resident: Resident::Auto,
        alternate: false,
        center: Center::None,
        scale: false,
        factor: 1.0,
        tall_columns: 0,
        small_elements: 0,
    }
}

fn eps<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

fn sketch(stream: u32) -> Sketch {
    Sketch { distribution: Distribution::Gaussian, seed: 11, stream }
}

/// A plain matrix in double precision.
#[derive(Clone)]
struct Plain {
    rows: usize,
    cols: usize,
    data: Vec<C64>,
}

impl Plain {
    fn new(rows: usize, cols: usize, f: impl Fn(usize, usize) -> C64) -> Self {
        Self { rows, cols, data: (0..rows * cols).map(|e| f(e % rows.max(1), e / rows.max(1))).collect() }
    }

    fn at(&self, i: usize, j: usize) -> C64 {
        self.data[j * self.rows + i]
    }

    fn adjoint(&self) -> Self {
        Self::new(self.cols, self.rows, |i, j| self.at(j, i).conj())
    }

    fn times(&self, b: &Self) -> Self {
        assert_eq!(self.cols, b.rows);
        Self::new(self.rows, b.cols, |i, j| (0..self.cols).map(|k| self.at(i, k) * b.at(k, j)).sum())
    }

    fn block(&self, first: usize, count: usize) -> Self {
        Self::new(count, self.cols, |i, j| self.at(first + i, j))
    }

    /// What the setting makes of it.
    fn treated(&self, s: &Setting) -> Self {
        let (m, n) = (self.rows as f64, self.cols as f64);
        let means: Vec<C64> = (0..self.cols).map(|j| (0..self.rows).map(|i| self.at(i, j)).sum::<C64>() / m).collect();
        let rows: Vec<C64> = (0..self.rows).map(|i| (0..self.cols).map(|j| self.at(i, j)).sum::<C64>() / n).collect();
        let deviation = |j: usize| {
            let spread: f64 = (0..self.rows).map(|i| (self.at(i, j) - means[j]).norm_sqr()).sum();
            let d = (spread / (m - 1.0).max(1.0)).sqrt();
            if d > 0.0 { d } else { 1.0 }
        };
        let gains: Vec<f64> =
            (0..self.cols).map(|j| if s.scale { s.factor / deviation(j) } else { s.factor }).collect();
        Self::new(self.rows, self.cols, |i, j| {
            let mean = match s.center {
                Center::None => C64::default(),
                Center::Columns => means[j],
                Center::Rows => rows[i],
            };
            (self.at(i, j) - mean) * gains[j]
        })
    }

    fn norm(&self) -> f64 {
        self.data.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    fn off(&self, other: &Self) -> f64 {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        self.data.iter().zip(&other.data).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>().sqrt()
    }
}

fn plain<T: Scalar>(m: &CpuMatrix<T>) -> Plain {
    let data = m.slice().unwrap().iter().map(|x| C64::new(x.re(), x.im())).collect();
    Plain { rows: m.rows(), cols: m.cols(), data }
}

/// Small whole numbers, which every element type holds, a third of them 0 and every column with a mean of its own.
fn whole(rows: usize, cols: usize, complex: bool) -> Plain {
    let value = |seed: u64, i: usize, j: usize| {
        let word = crate::rng::words(seed, 9, i as u64, j as u32)[0];
        if word.is_multiple_of(3) { 0.0 } else { f64::from(word / 3 % 19) + 3.0 * (j % 5) as f64 }
    };
    Plain::new(rows, cols, |i, j| C64::new(value(1, i, j), if complex { value(2, i, j) } else { 0.0 }))
}

fn bytes_of(number: Number, values: &[C64]) -> Vec<u8> {
    let mut bytes = vec![0u8; values.len() * number.size()];
    if number.is_complex() {
        encode(number, values, &mut bytes);
    } else {
        let real: Vec<f64> = values.iter().map(|x| x.re).collect();
        encode(number, &real, &mut bytes);
    }
    bytes
}

/// The matrix as `number`, with a gap of `gap` elements that hold what no product may see.
fn laid_out(a: &Plain, number: Number, order: Order, gap: usize) -> (Memory, usize, usize) {
    let (outer, inner) = if order == Order::RowMajor { (a.rows, a.cols) } else { (a.cols, a.rows) };
    let mut values = Vec::new();
    for o in 0..outer {
        for i in 0..inner {
            values.push(if order == Order::RowMajor { a.at(o, i) } else { a.at(i, o) });
        }
        if o + 1 < outer {
            values.extend(vec![C64::new(if number.size() > 2 { f64::NAN } else { 99.0 }, 7.0); gap]);
        }
    }
    let bytes = bytes_of(number, &values);
    let mut memory = HostMemory::allocate("test", bytes.len(), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<u8>().unwrap().copy_from_slice(&bytes);
    let strides = if order == Order::RowMajor { (inner + gap, 1) } else { (1, inner + gap) };
    (Memory::Host(memory), strides.0, strides.1)
}

fn packed(a: &Plain, number: Number, order: Order) -> (ArrayInfo, Vec<u8>) {
    let (info, values) = match order {
        Order::RowMajor => ([a.cols, a.rows], a.adjoint().data.iter().map(|x| x.conj()).collect::<Vec<_>>()),
        Order::ColumnMajor => ([a.rows, a.cols], a.data.clone()),
    };
    (ArrayInfo::new(number, &info).unwrap(), bytes_of(number, &values))
}

struct Known(Plain, usize);

impl<T: Scalar> Operator<T> for Known {
    fn shape(&self) -> (usize, usize) {
        (self.0.rows, self.0.cols)
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        self.1 += 1;
        let a = if op == Op::Plain { self.0.clone() } else { self.0.adjoint() };
        let x = Plain { rows: a.cols, cols: count, data: x.iter().map(|v| C64::new(v.re(), v.im())).collect() };
        for (to, v) in y.iter_mut().zip(a.times(&x).data) {
            *to = T::from_parts(v.re, v.im);
        }
        Ok(())
    }
}

fn host<E: crate::scalar::Element>(values: &[E]) -> HostMemory {
    let mut memory = HostMemory::allocate("test", size_of_val(values), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<E>().unwrap().copy_from_slice(values);
    memory
}

fn sparse<T: Scalar>(a: &Plain, base: i64, long: bool) -> Csr {
    let (mut offsets, mut columns, mut values) = (vec![base], Vec::new(), Vec::new());
    for i in 0..a.rows {
        for j in 0..a.cols {
            let x = a.at(i, j);
            if x.norm() != 0.0 {
                columns.push(j as i64 + base);
                values.push(T::from_parts(x.re, x.im));
            }
        }
        offsets.push(columns.len() as i64 + base);
    }
    let short = |v: &[i64]| host(&v.iter().map(|x| *x as i32).collect::<Vec<_>>());
    let parts = if long {
        CsrParts {
            row_ptr: host(&offsets),
            row_ptr_type: IndexType::I64,
            col_idx: short(&columns),
            col_idx_type: IndexType::I32,
            values: Some(Memory::Host(host(&values))),
        }
    } else {
        CsrParts {
            row_ptr: short(&offsets),
            row_ptr_type: IndexType::I32,
            col_idx: host(&columns),
            col_idx_type: IndexType::I64,
            values: Some(Memory::Host(host(&values))),
        }
    };
    Csr::new(parts, a.rows, a.cols, values.len(), base).unwrap()
}

fn filled<T: Scalar>(ops: &mut CpuOps<'_, T>, rows: usize, cols: usize, stream: u32) -> CpuMatrix<T> {
    let mut m = ops.zeros("test", rows, cols).unwrap();
    ops.fill(&mut m, &sketch(stream), 0, 0).unwrap();
    m
}

/// A matrix whose numbers must not be read.
fn poisoned<T: Scalar>(ops: &mut CpuOps<'_, T>, rows: usize, cols: usize) -> CpuMatrix<T> {
    let mut m = ops.zeros("test", rows, cols).unwrap();
    m.slice_mut().unwrap().fill(T::from_parts(f64::NAN, f64::NAN));
    m
}

/// Every pass against plain loops; `a` is the data before treatment.
fn check_passes<'a, T: Scalar>(
    (c, progress): (&'a Arc<Context>, &'a Progress<'a>),
    problem: Problem<'a, T>,
    a: &Plain,
    setting: Setting,
    name: &str,
) -> Traffic {
    let exact_norm = !matches!(problem.data, Data::Operator(_));
    let treated = a.treated(&setting);
    let (m, n, l) = (a.rows, a.cols, 5);
    // Products of sums of at most m n terms; implicit centring subtracts numbers as large as the untreated ones.
    let size = a.norm() * setting.factor * if setting.scale { 3.0 } else { 1.0 } + treated.norm() + 1e-300;
    let bound = |scale: f64| 40.0 * eps::<T>() * size * scale;
    let mut ops = CpuOps::new(c, problem, setting, progress).unwrap();
    let w = filled(&mut ops, n, l, stream::SKETCH);
    let q = filled(&mut ops, m, l, stream::TEST);
    let (wp, qp) = (plain(&w), plain(&q));
    let p_want = treated.times(&wp);
    let t_want = treated.adjoint().times(&p_want);
    let length = (((m + n) * l) as f64).sqrt();

    let mut p = poisoned(&mut ops, m, l);
    ops.pass_multiply(&w, &mut p).unwrap();
    assert!(plain(&p).off(&p_want) <= bound(length), "{name}: A W off by {:e}", plain(&p).off(&p_want));
    let s = ops.statistics().unwrap().clone();
    if exact_norm {
        let norm2 = treated.norm() * treated.norm();
        let slack = 1e-13 * norm2 + 4.0 * eps::<T>() * treated.norm() * size;
        assert!((s.norm2 - norm2).abs() <= slack, "{name}: {} {norm2}", s.norm2);
        let most = a.data.iter().fold(0.0f64, |most, x| most.max(x.re.abs()).max(x.im.abs()));
        assert_eq!(s.max_abs, most, "{name}");
    } else {
        assert!((0.2..5.0).contains(&(s.norm2 / (treated.norm() * treated.norm()))), "{name}: {}", s.norm2);
    }
    if setting.center == Center::Columns {
        let mean = (0..m).map(|i| a.at(i, n - 1)).sum::<C64>() / m as f64;
        assert!((s.means[n - 1] - mean.re).abs() < 50.0 * eps::<T>() * (1.0 + mean.norm()), "{name}");
        assert_eq!(s.means.len(), if T::IS_COMPLEX { 2 * n } else { n });
    }

    let mut t = poisoned(&mut ops, n, l);
    ops.pass_adjoint(&q, &mut t).unwrap();
    let want = treated.adjoint().times(&qp);
    assert!(plain(&t).off(&want) <= bound(length), "{name}: A^H Q off by {:e}", plain(&t).off(&want));

    for with_p in [false, true] {
        let (mut p, mut t) = (poisoned(&mut ops, m, l), poisoned(&mut ops, n, l));
        ops.pass_fused(&w, with_p.then_some(&mut p), &mut t).unwrap();
        let bound = bound(length * (size + 1.0));
        assert!(plain(&t).off(&t_want) <= bound, "{name}: A^H A W off by {:e}", plain(&t).off(&t_want));
        if with_p {
            assert!(plain(&p).off(&p_want) <= bound, "{name}: A W off by {:e}", plain(&p).off(&p_want));
        }
    }

    let (mut p, mut z) = (poisoned(&mut ops, m, l), poisoned(&mut ops, n, 7));
    ops.pass_two_sketches(&w, &mut p, &sketch(stream::TEST), &mut z).unwrap();
    let psi = filled(&mut ops, m, 7, stream::TEST);
    let want = treated.adjoint().times(&plain(&psi));
    assert!(plain(&z).off(&want) <= bound(2.0 * length), "{name}: A^H Psi off by {:e}", plain(&z).off(&want));
    assert!(plain(&p).off(&p_want) <= bound(length), "{name}: A W beside a sketch");

    let mut g = poisoned(&mut ops, n, n);
    ops.pass_gram(&mut g).unwrap();
    let want = treated.adjoint().times(&treated);
    assert!(plain(&g).off(&want) <= bound(size + 1.0), "{name}: A^H A off by {:e}", plain(&g).off(&want));
    *ops.traffic()
}

/// Every kind of treatment that data with entries allow.
fn settings() -> Vec<Setting> {
    let mut all = Vec::new();
    for center in [Center::None, Center::Columns, Center::Rows] {
        for scale in [false, true] {
            for factor in [1.0, 0.25] {
                if !(scale && center == Center::Rows) {
                    all.push(Setting { center, scale, factor, block_rows: 17, ..setting() });
                }
            }
        }
    }
    all
}

fn dense_passes<T: Scalar>() {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n) in [(1, 1), (61, 13), (13, 61), (200, 7)] {
        let a = whole(m, n, T::IS_COMPLEX);
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for s in settings() {
                let (memory, row_stride, column_stride) = laid_out(&a, Number::of("a", T::DTYPE).unwrap(), order, 3);
                let data = Data::Dense { memory: &memory, dtype: T::DTYPE, row_stride, column_stride };
                let name = format!("{} {m} {n} {order:?} {s:?}", T::DTYPE.name());
                let traffic = check_passes::<T>((&c, &progress), Problem { rows: m, columns: n, data }, &a, s, &name);
                let extra = u64::from(s.scale || s.center == Center::Columns);
                assert_eq!((traffic.passes, traffic.bytes_read), (6 + extra, 0), "{name}");
            }
        }
    }
}

#[test]
fn passes_over_dense_data() {
    dense_passes::<f32>();
    dense_passes::<f64>();
    dense_passes::<Complex<f32>>();
    dense_passes::<Complex<f64>>();
}

#[test]
fn passes_over_converted_data() {
    let (c, progress) = (context(2, 0), Progress::none());
    for number in [Number::U8, Number::I16, Number::U16, Number::F16, Number::F32, Number::I32, Number::F64] {
        let a = whole(53, 11, false);
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for s in settings().into_iter().step_by(3) {
                let (memory, row_stride, column_stride) = laid_out(&a, number, order, 2);
                let name = format!("{number:?} {order:?} {s:?}");
                macro_rules! check {
                    ($t:ty) => {
                        let data = Data::Dense { memory: &memory, dtype: number.dtype(), row_stride, column_stride };
                        check_passes::<$t>((&c, &progress), Problem { rows: 53, columns: 11, data }, &a, s, &name);
                    };
                }
                check!(f32);
                check!(f64);
                check!(Complex<f64>);
            }
        }
    }
}

fn streamed_passes<T: Scalar>(number: Number) {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n) in [(61, 13), (200, 7)] {
        let a = whole(m, n, number.is_complex());
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for (k, mut s) in settings().into_iter().enumerate() {
                s.alternate = k % 2 == 1;
                let (info, bytes) = packed(&a, number, order);
                let mut source = HostSource::new(info, &bytes).unwrap();
                let data = Data::Streamed { source: &mut source, order };
                let name = format!("{number:?} {m} {n} {order:?} {s:?}");
                let traffic = check_passes::<T>((&c, &progress), Problem { rows: m, columns: n, data }, &a, s, &name);
                let passes = 6 + u64::from(s.scale || s.center == Center::Columns);
                assert_eq!(traffic.bytes_read, passes * to_u64(m * n * number.size()), "{name}");
                assert_eq!((traffic.blocks, traffic.block_rows), (to_u64(m.div_ceil(17)), 17), "{name}");
            }
        }
    }
}

#[test]
fn passes_over_streamed_data() {
    streamed_passes::<f64>(Number::F64);
    streamed_passes::<f32>(Number::U8);
    streamed_passes::<Complex<f32>>(Number::Cf32);
}

fn sparse_passes<T: Scalar>() {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n, base, long) in [(61, 13, 0, false), (13, 61, 1, true)] {
        let a = whole(m, n, T::IS_COMPLEX);
        let csr = sparse::<T>(&a, base, long);
        for s in settings() {
            let name = format!("sparse {} {m} {n} {s:?}", T::DTYPE.name());
            check_passes((&c, &progress), Problem { rows: m, columns: n, data: Data::<T>::Csr(&csr) }, &a, s, &name);
        }
    }
}

#[test]
fn passes_over_sparse_data() {
    sparse_passes::<f32>();
    sparse_passes::<f64>();
    sparse_passes::<Complex<f64>>();
}

#[test]
fn passes_over_operators() {
    for s in settings().into_iter().filter(|s| !s.scale) {
        let a = whole(31, 17, true);
        let mut operator = Known(a.clone(), 0);
        let data = Data::Operator(&mut operator);
        let (c, progress) = (context(2, 0), Progress::none());
        check_passes::<Complex<f64>>(
            (&c, &progress),
            Problem { rows: 31, columns: 17, data },
            &a,
            s,
            &format!("operator {s:?}"),
        );
    }
}

/// Blocks of 17 rows, as the setting says.
fn block_methods<T: Scalar>() {
    let (m, n) = (61, 23);
    let a = whole(m, n, T::IS_COMPLEX);
    let c = context(2, 0);
    let progress = Progress::none();
    for center in [Center::None, Center::Columns] {
        let s = Setting { block_rows: 17, center, ..setting() };
        let treated = a.treated(&s);
        let (memory, row_stride, column_stride) = laid_out(&a, Number::of("a", T::DTYPE).unwrap(), Order::RowMajor, 1);
        let data = Data::Dense { memory: &memory, dtype: T::DTYPE, row_stride, column_stride };
        let mut ops = CpuOps::<T>::new(&c, Problem { rows: m, columns: n, data }, s, &progress).unwrap();
        assert_eq!((ops.traffic().blocks, ops.traffic().block_rows), (4, 17));
        for iterations in [0, 2] {
            let local = Local { width: 4, iterations, sketch: sketch(stream::SKETCH) };
            let mut y = poisoned(&mut ops, n, 4);
            ops.pass_block_sum(&local, &mut y).unwrap();
            let omega = filled(&mut ops, m, 4, stream::SKETCH);
            let mut want = Plain::new(n, 4, |_, _| C64::default());
            for first in (0..m).step_by(17) {
                let block = treated.block(first, 17.min(m - first));
                let mut z = plain(&omega).block(first, block.rows);
                for _ in 0..iterations {
                    z = block.times(&block.adjoint().times(&z));
                }
                for (to, x) in want.data.iter_mut().zip(block.adjoint().times(&z).data) {
                    *to += x;
                }
            }
            // Known up to a factor.
            let got = plain(&y);
            let factor = want.norm() / got.norm();
            let scaled = Plain::new(n, 4, |i, j| got.at(i, j) * factor);
            assert!(
                scaled.off(&want) < 200.0 * eps::<T>() * want.norm(),
                "{iterations}: {:e}",
                scaled.off(&want) / want.norm()
            );
        }
        // Wide enough for each block to be kept whole, the merge is exact.
        let local = Local { width: 23, iterations: 1, sketch: sketch(stream::SKETCH) };
        let mut r = poisoned(&mut ops, n, 23);
        ops.pass_merge(&local, &mut r).unwrap();
        let got = plain(&r).times(&plain(&r).adjoint());
        let want = treated.adjoint().times(&treated);
        assert!(got.off(&want) < 500.0 * eps::<T>() * want.norm(), "{:e}", got.off(&want) / want.norm());
        let order: Vec<f64> = ops.column_norms(&r).unwrap();
        assert!(order.is_sorted_by(|a, b| a >= b), "{order:?}");
        let cross = plain(&r).adjoint().times(&plain(&r));
        for j in 0..23 {
            for i in 0..j {
                assert!(cross.at(i, j).norm() < 500.0 * eps::<T>() * want.norm(), "columns {i} and {j}");
            }
        }
        assert_eq!(ops.traffic().passes, 3 + u64::from(center == Center::Columns));
    }
}

#[test]
fn methods_on_blocks() {
    block_methods::<f32>();
    block_methods::<f64>();
    block_methods::<Complex<f64>>();
    let csr = sparse::<f64>(&whole(5, 4, false), 0, true);
    let (c, progress) = (context(1, 0), Progress::none());
    let problem = Problem { rows: 5, columns: 4, data: Data::Csr(&csr) };
    let mut ops = CpuOps::<f64>::new(&c, problem, setting(), &progress).unwrap();
    let mut y = ops.zeros("test", 4, 2).unwrap();
    let local = Local { width: 2, iterations: 0, sketch: sketch(stream::SKETCH) };
    assert!(matches!(ops.pass_block_sum(&local, &mut y), Err(Error::NotSupported(_))));
}

#[test]
fn centring_by_panels_cancels_nothing() {
    // Means of 1e8 in double precision would leave eight digits if they were subtracted from products.
    let small = whole(301, 9, false).treated(&Setting { center: Center::Columns, ..setting() });
    let a = Plain::new(301, 9, |i, j| small.at(i, j) + 1e8);
    let rounded = Plain::new(301, 9, |i, j| a.at(i, j));
    let s = Setting { center: Center::Columns, ..setting() };
    let want = rounded.treated(&s);
    let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
    let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
    let (c, progress) = (context(2, 0), Progress::none());
    let mut ops = CpuOps::<f64>::new(&c, Problem { rows: 301, columns: 9, data }, s, &progress).unwrap();
    let mut g = ops.zeros("test", 9, 9).unwrap();
    ops.pass_gram(&mut g).unwrap();
    let exact = want.adjoint().times(&want);
    // The means themselves are known to 1e8 eps, which counts once, squared, in each of the 301 rows.
    assert!(plain(&g).off(&exact) < 1e-12 * exact.norm(), "{:e}", plain(&g).off(&exact) / exact.norm());
}

#[test]
fn numbers_that_are_not_finite_are_refused_with_their_rows() {
    let (c, progress) = (context(2, 0), Progress::none());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut a = whole(50, 4, false);
        a.data[2 * 50 + 37] = C64::new(bad, 0.0);
        for center in [Center::None, Center::Columns, Center::Rows] {
            let s = Setting { center, block_rows: 10, ..setting() };
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let (info, bytes) = packed(&a, Number::F64, order);
                let mut source = HostSource::new(info, &bytes).unwrap();
                let problem = Problem { rows: 50, columns: 4, data: Data::Streamed { source: &mut source, order } };
                let mut ops = CpuOps::<f64>::new(&c, problem, s, &progress).unwrap();
                let w = filled(&mut ops, 4, 2, 1);
                let mut p = ops.tall("test", 2).unwrap();
                let e = ops.pass_multiply(&w, &mut p).unwrap_err();
                assert_eq!(
                    e,
                    Error::invalid("a", "holds a number that is not finite in rows 30 to 39"),
                    "{bad} {center:?}"
                );
            }
            let csr = sparse::<f64>(&a, 0, true);
            let problem = Problem { rows: 50, columns: 4, data: Data::Csr(&csr) };
            let mut ops = CpuOps::<f64>::new(&c, problem, s, &progress).unwrap();
            let w = filled(&mut ops, 4, 2, 1);
            let mut p = ops.tall("test", 2).unwrap();
            assert!(matches!(ops.pass_multiply(&w, &mut p), Err(Error::InvalidArgument { .. })), "{bad} {center:?}");
        }
    }
}

#[test]
fn squares_may_overflow_where_entries_do_not() {
    let mut a = whole(20, 3, false);
    a.data[5] = C64::new(1e200, 0.0);
    let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
    let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
    let (c, progress) = (context(1, 0), Progress::none());
    let mut ops = CpuOps::<f64>::new(&c, Problem { rows: 20, columns: 3, data }, setting(), &progress).unwrap();
    let w = filled(&mut ops, 3, 2, 1);
    let mut p = ops.tall("test", 2).unwrap();
    ops.pass_multiply(&w, &mut p).unwrap();
    assert_eq!(ops.statistics().unwrap().max_abs, 1e200);
    let small = Setting { factor: 2f64.powi(-664), center: Center::Columns, ..setting() };
    let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
    let mut ops = CpuOps::<f64>::new(&c, Problem { rows: 20, columns: 3, data }, small, &progress).unwrap();
    ops.pass_multiply(&w, &mut p).unwrap();
    // One entry of twenty in its column, beside which the others vanish.
    let (norm2, want) = (ops.statistics().unwrap().norm2, (1e200 * small.factor).powi(2) * 0.95);
    assert!((norm2 - want).abs() < 1e-14 * want, "{norm2} {want}");
}

#[test]
fn readers_errors_and_cancellation_end_a_pass() {
    let c = context(2, 0);
    let info = ArrayInfo::new(Number::F64, &[4, 50]).unwrap();
    let error = || Error::Io { path: "reader".into(), problem: "planted".into() };
    let read = move |block: &Block, out: &mut [u8]| {
        out.fill(0);
        if block.first()[1] >= 20 {
            Err(Error::Io { path: "reader".into(), problem: "planted".into() })
        } else {
            Ok(())
        }
    };
    let mut source = CallbackSource::new(info.clone(), Box::new(read));
    let progress = Progress::none();
    let data = Data::Streamed { source: &mut source as &mut dyn Source, order: Order::RowMajor };
    let s = Setting { block_rows: 10, ..setting() };
    let mut ops = CpuOps::<f64>::new(&c, Problem { rows: 50, columns: 4, data }, s, &progress).unwrap();
    let w = filled(&mut ops, 4, 2, 1);
    let mut p = ops.tall("test", 2).unwrap();
    assert_eq!(ops.pass_multiply(&w, &mut p), Err(error()));

    let progress = c.progress(None);
    let cancel = Arc::clone(&c);
    let read = move |block: &Block, out: &mut [u8]| {
        out.fill(0);
        if block.first()[1] == 20 {
            cancel.cancel();
        }
        Ok(())
    };
    let mut source = CallbackSource::new(info, Box::new(read));
    let data = Data::Streamed { source: &mut source as &mut dyn Source, order: Order::RowMajor };
    let mut ops = CpuOps::<f64>::new(&c, Problem { rows: 50, columns: 4, data }, s, &progress).unwrap();
    assert_eq!(ops.pass_multiply(&w, &mut p), Err(Error::Cancelled));
}

#[test]
fn a_source_is_cut_to_the_memory_there_is() {
    let a = whole(4000, 20, false);
    let (info, bytes) = packed(&a, Number::F64, Order::RowMajor);
    let mut source = HostSource::new(info, &bytes).unwrap();
    let c = context(2, 400_000);
    let progress = Progress::none();
    let data = Data::Streamed { source: &mut source, order: Order::RowMajor };
    let mut ops = CpuOps::<f64>::new(&c, Problem { rows: 4000, columns: 20, data }, setting(), &progress).unwrap();
    assert_eq!(ops.traffic().block_rows, 400_000 / 8 / 160);
    let w = filled(&mut ops, 20, 3, 1);
    let mut p = ops.tall("test", 3).unwrap();
    ops.pass_multiply(&w, &mut p).unwrap();
    let want = a.times(&plain(&w));
    assert!(plain(&p).off(&want) < 1e-13 * want.norm());
    drop((w, p, ops));
    assert_eq!(c.host_memory_used(), 0);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let a = whole(700, 30, false);
    let run = |threads| {
        let c = context(threads, 0);
        let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
        let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
        let progress = Progress::none();
        let s = Setting { center: Center::Columns, scale: true, ..setting() };
        let mut ops = CpuOps::<f64>::new(&c, Problem { rows: 700, columns: 30, data }, s, &progress).unwrap();
        let w = filled(&mut ops, 30, 6, 1);
        let mut t = ops.zeros("test", 30, 6).unwrap();
        ops.pass_fused(&w, None, &mut t).unwrap();
        (t.slice().unwrap().to_vec(), ops.statistics().unwrap().norm2)
    };
    assert!(run(1) == run(4));
}

fn callers_matrices<T: Scalar>() {
    let c = context(2, 0);
    let progress = Progress::none();
    let a = whole(7, 3, T::IS_COMPLEX);
    let (memory, row_stride, column_stride) = laid_out(&a, Number::of("a", T::DTYPE).unwrap(), Order::RowMajor, 0);
    let data = Data::Dense { memory: &memory, dtype: T::DTYPE, row_stride, column_stride };
    let mut ops = CpuOps::<T>::new(&c, Problem { rows: 7, columns: 3, data }, setting(), &progress).unwrap();
    let p = filled(&mut ops, 7, 4, 1);
    for adjoint in [false, true] {
        for conjugate in [false, true] {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let (rows, cols) = if adjoint { (4, 7) } else { (7, 4) };
                // A leading dimension with a gap, whose numbers stay.
                let ld = if order == Order::RowMajor { cols + 2 } else { rows + 2 };
                let layout = Matrix::dense_layout(T::DTYPE, order, rows, cols, ld).unwrap();
                let mut memory =
                    HostMemory::allocate("test", layout.extent() * size_of::<T>(), c.host_budget()).unwrap();
                memory.as_mut_slice::<T>().unwrap().fill(T::from_parts(99.0, 99.0));
                let mut target = Matrix::from_memory(&c, T::DTYPE, order, layout, Memory::Host(memory), false).unwrap();
                ops.tall_write(&p, &mut target, adjoint, conjugate).unwrap();
                let back = ops.tall_read("test", &target, adjoint, conjugate).unwrap();
                assert_eq!(back.slice().unwrap(), p.slice().unwrap(), "{adjoint} {conjugate} {order:?}");
                let words = target.dense("test").unwrap().memory.host("test").unwrap().as_slice::<T>().unwrap();
                let at = |i: usize, j: usize| words[if order == Order::RowMajor { i * ld + j } else { j * ld + i }];
                let x = if adjoint { at(2, 5) } else { at(5, 2) };
                let want = p.slice().unwrap()[2 * 7 + 5];
                assert_eq!(x, if adjoint != conjugate { want.conjugate() } else { want });
                let untouched = words.iter().filter(|x| x.re() == 99.0).count();
                assert_eq!(untouched, 2 * (if order == Order::RowMajor { rows } else { cols } - 1));
            }
        }
    }
    let mut other = Matrix::create(&c, DType::F16, Location::Host, Order::RowMajor, 7, 4).unwrap();
    assert!(ops.tall_write(&p, &mut other, false, false).is_err());
    let mut other = Matrix::create(&c, T::DTYPE, Location::Host, Order::RowMajor, 4, 7).unwrap();
    assert!(ops.tall_write(&p, &mut other, false, false).is_err());
    assert!(ops.tall_read("test", &other, false, false).is_err(), "four rows are not those of the data");
}

#[test]
fn callers_matrices_go_in_and_out_in_any_order() {
    callers_matrices::<f32>();
    callers_matrices::<Complex<f64>>();
}

#[test]
fn empty_problems_have_empty_products() {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n) in [(0, 4), (4, 0), (0, 0)] {
        let a = whole(m, n, false);
        let (memory, row_stride, column_stride) = laid_out(&a, Number::F64, Order::RowMajor, 0);
        for center in [Center::None, Center::Columns, Center::Rows] {
            let data = Data::Dense { memory: &memory, dtype: DType::F64, row_stride, column_stride };
            let s = Setting { center, ..setting() };
            let mut ops = CpuOps::<f64>::new(&c, Problem { rows: m, columns: n, data }, s, &progress).unwrap();
            let w = filled(&mut ops, n, 2, 1);
            let (mut p, mut t) = (poisoned(&mut ops, m, 2), poisoned(&mut ops, n, 2));
            ops.pass_fused(&w, Some(&mut p), &mut t).unwrap();
            assert!(p.slice().unwrap().iter().chain(t.slice().unwrap()).all(|x| *x == 0.0), "{m} {n}");
            assert_eq!(ops.statistics().unwrap().norm2, 0.0);
        }
    }
}
