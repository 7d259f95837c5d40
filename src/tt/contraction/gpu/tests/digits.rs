//! Products of f32 matrices by int8 digits and by TF32 parts, against double precision. Trains contracted by such
//! products.

use std::sync::Arc;

use super::inputs::{Disorder, Plain, options, put};
use super::oracle::{assert_close, bound, expected};
use crate::backend::gpu::kernels::tt::digits;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Transpose, View};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::options::{Conjugate, Math, Method};
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

/// A column-major host matrix, with gaps between columns and before the first.
struct Matrix {
    numbers: Vec<f32>,
    rows: usize,
    cols: usize,
    ld: usize,
    skip: usize,
}

impl Matrix {
    fn new((rows, cols): (usize, usize), gap: usize, mut number: impl FnMut(usize, usize) -> f32) -> Self {
        let (ld, skip) = (rows + gap, gap.min(1));
        // A NaN in a gap shows if it is read.
        let mut numbers = vec![f32::NAN; skip + ld * cols];
        for j in 0..cols {
            for i in 0..rows {
                numbers[skip + i + j * ld] = number(i, j);
            }
        }
        Self { numbers, rows, cols, ld, skip }
    }

    fn get(&self, i: usize, j: usize) -> f64 {
        f64::from(self.numbers[self.skip + i + j * self.ld])
    }

    /// Entry (i, j) of op(A).
    fn taken(&self, op: Transpose, i: usize, j: usize) -> f64 {
        if op == Transpose::Plain { self.get(i, j) } else { self.get(j, i) }
    }
}

/// The arguments of a product other than A and B.
#[derive(Clone, Copy)]
struct Beside {
    alpha: f32,
    add: bool,
}

/// The memory of C after the kernels, and before them.
fn multiply(
    (gpu, stream): (&Gpu, &GpuStream),
    beside: Beside,
    (a, op_a): (&Matrix, Transpose),
    (b, op_b): (&Matrix, Transpose),
    c: &Matrix,
) -> Vec<f32> {
    let mut scalar = gpu.allocate_on(stream, "test", 16).unwrap();
    gpu.store_numbers(stream, &[beside.alpha], &mut scalar, 0).unwrap();
    let load = |m: &Matrix| {
        let mut memory = gpu.allocate_on(stream, "test", m.numbers.len() * 4).unwrap();
        gpu.store_numbers(stream, &m.numbers, &mut memory, 0).unwrap();
        memory
    };
    let (on_a, on_b, on_c) = (load(a), load(b), load(c));
    fn view<'m>(m: &Matrix, memory: &'m DeviceMemory) -> View<'m> {
        let memory = memory.region(4 * m.skip, memory.bytes() - 4 * m.skip).unwrap();
        View { memory, rows: m.rows, cols: m.cols, ld: m.ld }
    }
    let (a, b, c_view) = ((view(a, &on_a), op_a), (view(b, &on_b), op_b), view(c, &on_c));
    digits::multiply(gpu, stream, &mut None, (scalar.whole(), beside.add), a, b, c_view).unwrap();
    let mut got = vec![0f32; c.numbers.len()];
    gpu.load_numbers(stream, &on_c, 0, &mut got).unwrap();
    got
}

/// A B in double precision, with the norms of the rows of A and of the columns of B.
fn by_hand(
    (a, op_a): (&Matrix, Transpose),
    (b, op_b): (&Matrix, Transpose),
    (m, n, k): (usize, usize, usize),
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let rows: Vec<Vec<f64>> = (0..m).map(|i| (0..k).map(|p| a.taken(op_a, i, p)).collect()).collect();
    let columns: Vec<Vec<f64>> = (0..n).map(|j| (0..k).map(|p| b.taken(op_b, p, j)).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let all = (0..m * n).map(|at| dot(&rows[at % m], &columns[at / m])).collect();
    let norms = |lines: &[Vec<f64>]| lines.iter().map(|l| dot(l, l).sqrt()).collect();
    (all, norms(&rows), norms(&columns))
}

const OPS: [Transpose; 3] = [Transpose::Plain, Transpose::Transpose, Transpose::Adjoint];

/// Checks one product, and that nothing outside of C is written. Returns the root mean square of the errors, each
/// relative to |a| |b| / sqrt(k).
fn check(
    context: &Arc<Context>,
    beside: Beside,
    a: (&Matrix, Transpose),
    b: (&Matrix, Transpose),
    (m, n, k): (usize, usize, usize),
) -> f64 {
    let gpu = context.gpu("test").unwrap();
    let mut disorder = Disorder(7);
    let c = Matrix::new((m, n), a.0.skip * 5, |_, _| if beside.add { disorder.next() as f32 } else { f32::NAN });
    let got = multiply((gpu, gpu.default_stream()), beside, a, b, &c);
    let (want, rows, columns) = by_hand(a, b, (m, n, k));
    // For k < 64 the errors are relative to |a| |b| / 8.
    let length = (k.max(64) as f64).sqrt();
    let (mut sum, mut inside) = (0.0, vec![false; got.len()]);
    for j in 0..n {
        for i in 0..m {
            let at = c.skip + i + j * c.ld;
            inside[at] = true;
            let before = if beside.add { c.get(i, j) } else { 0.0 };
            let want = f64::from(beside.alpha) * want[i + j * m] + before;
            let size = f64::from(beside.alpha) * rows[i] * columns[j] / length;
            let off = (f64::from(got[at]) - want).abs();
            let allowed = 1.6e-5 * size + 2.0 * f64::from(f32::EPSILON) * (want.abs() + before.abs());
            assert!(off <= allowed, "{m} x {n} x {k}, {:?} {:?}, ({i}, {j}): {} for {want}", a.1, b.1, got[at]);
            sum += if size == 0.0 { 0.0 } else { (off / size).powi(2) };
        }
    }
    for (at, (now, before)) in got.iter().zip(&c.numbers).enumerate() {
        assert!(inside[at] || now.to_bits() == before.to_bits(), "{m} x {n} x {k}: wrote beside C at {at}");
    }
    (sum / (m * n) as f64).sqrt()
}

#[test]
#[ignore = "needs a GPU"]
fn products_by_digits_are_right_for_all_sizes_and_transposes() {
    let context = gpu(0);
    let sizes =
        [(1, 1, 1), (7, 5, 3), (128, 128, 64), (129, 127, 65), (300, 201, 300), (130, 40, 2111), (3, 9, 33_000)];
    for (m, n, k) in sizes {
        for (index, (op_a, op_b)) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))).enumerate() {
            for gap in [0, 3] {
                let mut disorder = Disorder(1 + gap as u64);
                let mut matrix = |(rows, cols): (usize, usize), op| {
                    let shape = if op == Transpose::Plain { (rows, cols) } else { (cols, rows) };
                    Matrix::new(shape, gap, |_, _| disorder.next() as f32)
                };
                let (a, b) = (matrix((m, k), op_a), matrix((k, n), op_b));
                let beside = Beside { alpha: 0.37, add: (index + gap) % 2 == 1 };
                check(&context, beside, (&a, op_a), (&b, op_b), (m, n, k));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn products_by_digits_of_any_lines_are_as_accurate_as_single_precision() {
    let context = gpu(0);
    let (m, n, k) = (256, 64, 1024);
    let mut disorder = Disorder(3);
    let mut noise = || disorder.next() as f32;
    let b = Matrix::new((k, n), 0, |_, _| noise());
    let mut rows = |number: &dyn Fn(usize, usize, f32) -> f32| Matrix::new((m, k), 0, |i, p| number(i, p, noise()));
    let cases = [
        ("noise", 1e-6, rows(&|_, _, x| x)),
        // As in environments, one entry of each row is much larger than the others.
        ("spikes", 1e-6, rows(&|i, p, x| if i == p { 1.0 } else { 0.02 * x })),
        ("constants", 1e-6, rows(&|_, _, _| 0.7)),
        ("positive", 1e-6, rows(&|_, _, x| x.abs())),
        // Rows of all magnitudes, and a row of zeros.
        ("sizes", 1e-6, rows(&|i, _, x| if i == 5 { 0.0 } else { x * 2f32.powi(i as i32 / 2 - 120) })),
        // Most entries are much smaller than the few that determine the product.
        ("decay", 3e-6, rows(&|_, p, x| x * 0.99f32.powi(p as i32))),
    ];
    for (what, most, a) in &cases {
        let plain = Transpose::Plain;
        let error = check(&context, Beside { alpha: 1.0, add: false }, (a, plain), (&b, plain), (m, n, k));
        assert!(error < *most, "{what}: {error:e}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn products_by_digits_keep_what_is_not_finite_to_its_lines() {
    let context = gpu(0);
    let gpu = context.gpu("test").unwrap();
    let mut disorder = Disorder(4);
    let mut a = Matrix::new((140, 100), 0, |_, _| disorder.next() as f32);
    let mut b = Matrix::new((100, 150), 0, |_, _| disorder.next() as f32);
    (a.numbers[17 + 140 * 60], b.numbers[3 + 100 * 149]) = (f32::INFINITY, f32::NAN);
    let c = Matrix::new((140, 150), 0, |_, _| 0.0);
    let plain = Transpose::Plain;
    let beside = Beside { alpha: 1.0, add: false };
    let got = multiply((gpu, gpu.default_stream()), beside, (&a, plain), (&b, plain), &c);
    for (at, x) in got.iter().enumerate() {
        let hit = at % 140 == 17 || at / 140 == 149;
        assert_eq!(x.is_nan(), hit, "{x} at {at}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn trains_are_contracted_by_digits() {
    let context = gpu(0);
    // The ends are dense, products have both orders, and some are large enough.
    let modes = [2, 2, 3, 1, 2, 2, 2, 2];
    let rx = [1, 2, 30, 700, 690, 720, 40, 3, 1];
    let ry = [1, 4, 90, 685, 60, 710, 680, 2, 1];
    let (x, y) = (Plain::random(&modes, &rx, 3, 1.0), Plain::random(&modes, &ry, 4, 1.0));
    for dtype in [DType::F32, DType::CF32, DType::F64] {
        for conjugate in [Conjugate::Bra, Conjugate::None] {
            let given = Options { math: Math::Int8x6, ..options(Method::Open, conjugate) };
            let (a, b) = (x.train(&context, dtype, Location::Device), y.train(&context, dtype, Location::Device));
            let mut session = Contraction::new(&context, given).unwrap();
            let (got, _) = session.inner_scaled(None, &a, &b, None).unwrap();
            let (want, size) = expected(&x, &y, (dtype, dtype), conjugate);
            assert_close(&format!("{dtype:?} {conjugate:?}"), got, want, size, bound(&x, &y, dtype));
        }
    }
}

/// Random trains x and x + b / 10 with `d` sites in f32, and the same in f64. The cores repeat with a period of 7.
fn noise(context: &Arc<Context>, d: usize, rank: usize, seed: u64) -> [[TensorTrain; 2]; 2] {
    let n = 2;
    let mut ranks = vec![rank; d + 1];
    (ranks[0], ranks[d]) = (1, 1);
    let shape = || Shape::new("x", &vec![n; d], &ranks).unwrap();
    let made = |dtype| TensorTrain::create(context, dtype, Location::Device, shape()).unwrap();
    let (mut singles, mut doubles) = ([DType::F32; 2].map(made), [DType::F64; 2].map(made));
    let mut disorder = Disorder(seed);
    let size = (3.0 / (n * rank) as f64).sqrt();
    let bases: [Vec<[f32; 2]>; 7] = std::array::from_fn(|_| {
        let number = |d: &mut Disorder| {
            let x = size * d.next();
            [x as f32, (x + 0.1 * size * d.next()) as f32]
        };
        (0..rank * n * rank).map(|_| number(&mut disorder)).collect()
    });
    for k in 0..d {
        for (t, (single, double)) in singles.iter_mut().zip(&mut doubles).enumerate() {
            let count = ranks[k] * n * ranks[k + 1];
            let numbers: Vec<f32> = bases[k % 7][..count].iter().map(|pair| pair[t]).collect();
            let wide: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
            let (memory, offset) = single.memory_mut("x", k).unwrap();
            put(context, memory, 4 * offset, &numbers);
            let (memory, offset) = double.memory_mut("x", k).unwrap();
            put(context, memory, 8 * offset, &wide);
            single.mark_set(k);
            double.mark_set(k);
        }
    }
    [singles, doubles]
}

/// Root mean squares of the errors of <x|y> over some trains, relative to |x| |y|, for each arithmetic.
fn errors<const N: usize>(
    context: &Arc<Context>,
    (d, rank): (usize, usize),
    samples: u64,
    maths: [Math; N],
) -> [f64; N] {
    let mut errors = [0.0; N];
    for seed in 0..samples {
        let [[x, y], [wide_x, wide_y]] = noise(context, d, rank, 11 + seed);
        let run = |math, x: &TensorTrain, y: &TensorTrain| -> Scaled {
            let mut session = Contraction::new(context, Options { math, ..Options::default() }).unwrap();
            session.inner_scaled(None, x, y, None).unwrap().0
        };
        let want = run(Math::Default, &wide_x, &wide_y);
        let size = run(Math::Default, &wide_x, &wide_x).re().times(run(Math::Default, &wide_y, &wide_y)).sqrt();
        let off = |math| {
            let difference = run(math, &x, &y).plus(want.times(Scaled::real(-1.0)));
            difference.over(size).map_or(0.0, |q| q.log_abs().exp())
        };
        for (error, math) in errors.iter_mut().zip(maths) {
            *error += off(math).powi(2) / samples as f64;
        }
    }
    errors.map(f64::sqrt)
}

#[test]
#[ignore = "needs a GPU"]
fn long_trains_by_digits_are_as_accurate_as_single_precision() {
    let context = gpu(0);
    for (rank, samples) in [(300, 1), (400, 4), (1024, 2)] {
        let [single, digits] = errors(&context, (100, rank), samples, [Math::Default, Math::Int8x6]);
        println!("rank {rank}: {single:.1e} in single precision, {digits:.1e} by digits");
        // With few samples, the error in single precision may be 0 by chance.
        assert!(digits <= 2.0 * single.max(2e-8), "rank {rank}: {digits:e}, {single:e} in single precision");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn short_trains_by_parts_are_far_closer_than_in_tf32() {
    let context = gpu(0);
    // Tensor cores truncate sums, so the errors are larger than those of f32.
    for (d, rank) in [(4, 2048), (5, 2112)] {
        let maths = [Math::Default, Math::Tf32, Math::Tf32x3];
        let [single, one, three] = errors(&context, (d, rank), 2, maths);
        println!("rank {rank}: {one:.1e} in TF32, {three:.1e} in three products of it, {single:.1e} in f32");
        assert!(three <= one / 8.0 && three <= 2e-5, "rank {rank}: {three:e}, {one:e} in TF32");
        assert!(three > single, "rank {rank}: the parts were not used");
    }
}
