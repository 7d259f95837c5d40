//! Rows over several contexts. Tests that need GPUs use several contexts on one: `cargo test -- --ignored`.

use std::sync::Arc;

use super::calls::{compute, compute_csr, difference, split};
use super::device::{gpu_context, low_rank_and_spikes};
use super::inputs::{context, entries, matrix, noise, synthetic};
use super::memory::streamed;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::source::{CallbackSource, HostSource};
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::Error;
use crate::matrix::{self, Matrix, SharedSource, Storage};
use crate::rpca::input::Entries;
use crate::rpca::{Info, Options};
use crate::scalar::{Complex, DType, Element, Scalar};
use crate::shape::Order;
use crate::tensor::Location;

fn team(count: usize) -> Vec<Arc<Context>> {
    (0..count).map(|_| gpu_context(0)).collect()
}

/// The parts, row by row, and the figures, from several contexts.
fn shared<T: Scalar>(
    contexts: &[Arc<Context>],
    m: &Matrix,
    mask: Option<&Matrix>,
    options: &Options,
) -> (Vec<T>, Vec<T>, Info) {
    let part =
        || Matrix::create(&contexts[0], T::DTYPE, Location::Host, Order::ColumnMajor, m.rows(), m.cols()).unwrap();
    let (mut low_rank, mut sparse) = (part(), part());
    let info = compute(contexts, None, m, mask, options, Some(&mut low_rank), Some(&mut sparse), None).unwrap();
    assert!(contexts.iter().all(|c| c.device_budget().used() == 0), "device memory is left");
    assert!(contexts[1..].iter().all(|c| c.host_memory_used() == 0), "host memory is left");
    (entries(&low_rank), entries(&sparse), info)
}

/// The rounding of the sums alone differs: 1e-12 of the parts in double precision. In single precision the method stops
/// at a residual of 1e-6, and singular values that are cut off there differ from others by no more than that.
fn bound<T: Scalar>() -> f64 {
    if size_of::<T::Part>() == 8 { 1e-12 } else { 2e-5 }
}

/// The bound for matrices that are not of rank 3 and few others: there singular values s just over 1 / mu are kept, and
/// the rounding u of X^H X leaves an error of u ||M||^2 / s in them, up to u ||M||^2 mu.
fn bound_of<T: Scalar>(info: &Info) -> f64 {
    if info.rank > 3 { bound::<T>().max(f64::EPSILON * info.mu * info.norm2) } else { bound::<T>() }
}

/// ||a - b||_F / ||scale||_F, 0 for zeros.
fn apart<T: Scalar>(a: &[T], b: &[T], scale: &[T]) -> f64 {
    let square = |v: T| v.re() * v.re() + v.im() * v.im();
    let above: f64 = a.iter().zip(b).map(|(a, b)| square(*a - *b)).sum();
    let below: f64 = scale.iter().map(|b| square(*b)).sum();
    if above == 0.0 { 0.0 } else { (above / below).sqrt() }
}

/// Iterations after which parts are compared digit by digit, whatever the matrix. Each shrinks twice, which takes parts
/// no farther apart while the penalty grows: the rounding errors of the shrinks add up, and are 1e-12 and 2e-5 at the
/// most as long as the penalty is a few times 1 / ||M||. Later it grows into the rounding of Y = mu (M - L - S) + ..,
/// and begins anew from that Y, so that no bound holds of a matrix that does not determine its parts.
const FEW_STEPS: usize = 6;

/// Whether the penalty grew from iteration to iteration and never began anew.
fn is_straight(info: &Info, options: &Options) -> bool {
    let growth = options.rho.powi(i32::try_from(info.iterations).unwrap() - 1).min(Options::MU_GROWTH);
    (info.mu * info.norm2 / 1.25 - growth).abs() < 1e-6 * growth
}

/// Promises of a success: the parts add up to M, and the objective is theirs.
fn keeps_its_promise<T: Scalar>((rows, cols): (usize, usize), whole: &[T], parts: [&[T]; 2], info: &Info) {
    let is_double = size_of::<T::Part>() == 8;
    let (tolerance, rounding) = if is_double { (1e-7, 1e-9) } else { (Options::LEAST_SINGLE, 2e-7) };
    let sum: Vec<T> = parts[0].iter().zip(parts[1]).map(|(l, s)| *l + *s).collect();
    let residual = apart(&sum, whole, whole);
    assert!(info.converged && info.residual < tolerance && residual < tolerance + rounding, "{residual} {info:?}");
    let cpu = context();
    let mut algebra = CpuAlgebra::new(&cpu);
    // Row by row, a matrix is its transpose column by column.
    let low_rank: CpuMatrix<T> = algebra.upload("test", cols, rows, parts[0], cols).unwrap();
    let nuclear: f64 = algebra.svd(&low_rank).unwrap().s.iter().sum();
    let one: f64 = parts[1].iter().map(|v| v.re().hypot(v.im())).sum();
    let objective = nuclear + info.lambda * one;
    let most = if is_double { 1e-6 } else { 1e-4 };
    assert!((info.objective - objective).abs() <= most * objective, "{objective} {info:?}");
}

/// Holds runs of the same matrix against each other that differ in the order of their sums. `run` is given the options and
/// whether the rows are cut otherwise.
fn alike<T: Scalar>(
    name: &str,
    shape: (usize, usize),
    whole: &[T],
    options: &Options,
    run: impl Fn(&Options, bool) -> (Vec<T>, Vec<T>, Info),
) -> f64 {
    let few = Options { max_iterations: FEW_STEPS, ..options.clone() };
    let ((l, s, one), (on_l, on_s, several)) = (run(&few, false), run(&few, true));
    let case = format!("{name} {} {shape:?}: {one:?}\n{several:?}", T::DTYPE.name());
    let (low_rank, sparse) = (apart(&on_l, &l, whole), apart(&on_s, &s, whole));
    assert!(low_rank < bound::<T>() && sparse < bound::<T>(), "{low_rank} {sparse} {case}");
    assert!((one.frobenius - several.frobenius).abs() <= bound::<T>() * one.frobenius, "{case}");

    let ((l, s, one), (on_l, on_s, several)) = (run(options, false), run(options, true));
    let case = format!("{name} {} {shape:?}: {one:?}\n{several:?}", T::DTYPE.name());
    keeps_its_promise(shape, whole, [&l, &s], &one);
    keeps_its_promise(shape, whole, [&on_l, &on_s], &several);
    if is_straight(&one, options) && is_straight(&several, options) {
        let (low_rank, sparse) = (apart(&on_l, &l, whole), apart(&on_s, &s, whole));
        let most = bound_of::<T>(&one);
        assert!(low_rank < most && sparse < most && several.rank == one.rank, "{low_rank} {sparse} {case}");
        assert!((one.objective - several.objective).abs() <= most * one.objective, "{case}");
        return low_rank.max(sparse);
    }
    // A success has mu ||S - S'||_F <= 0.01 ||Y||_F, and ||Y||_F <= lambda sqrt(m n). With d = 0.01 lambda sqrt(m n),
    // <Y, M> / (1 + d) bounds the objective from below, and the parts' is <Y, M> + d ||L||_* at the most.
    let d = 0.01 * one.lambda * ((shape.0 * shape.1) as f64).sqrt();
    let (least, most) = (one.objective.min(several.objective), one.objective.max(several.objective));
    assert!(most * (1.0 - d) <= least * (1.0 + d), "{case}");
    0.0
}

fn agree<T: Scalar>(
    count: usize,
    shape: (usize, usize),
    order: Order,
    entry: impl Fn(usize, usize) -> T,
    options: &Options,
) -> f64 {
    let contexts = team(count);
    let m = matrix(&contexts[0], order, shape, entry);
    let longer = shape.0.max(shape.1);
    let pieces = longer.div_ceil(options.block_rows.max(1));
    let run = |options: &Options, is_shared: bool| {
        if !is_shared {
            let (l, s, info) = split::<T>(&contexts[0], &m, None, options).unwrap();
            assert_eq!(info.contexts, 1);
            return (l, s, info);
        }
        let (l, s, info) = shared::<T>(&contexts, &m, None, options);
        assert_eq!(info.contexts, count.min(pieces) as u64, "{info:?}");
        if options.max_iterations == FEW_STEPS {
            let (.., one) = split::<T>(&contexts[0], &m, None, options).unwrap();
            assert_eq!(info.bytes_to_device, one.bytes_to_device, "{info:?}");
            return (l, s, info);
        }
        let (again, ..) = shared::<T>(&contexts, &m, None, options);
        assert!(again == l, "the same bits: {info:?}");
        (l, s, info)
    };
    alike(&format!("{count} contexts, {order:?}"), shape, &entries::<T>(&m), options, run)
}

/// Results of several contexts equal those of one but for rounding: rows are cut otherwise, and summed in another
/// order.
#[test]
fn rows_that_are_cut_otherwise_give_the_same() {
    let context = context();
    let complex = |i: usize, j: usize| Complex::new(low_rank_and_spikes(i, j), low_rank_and_spikes(i + 1000, j));
    fn check<T: Scalar>(context: &Arc<Context>, shape: (usize, usize), entry: impl Fn(usize, usize) -> T) {
        let m = matrix(context, Order::ColumnMajor, shape, entry);
        let run = |options: &Options, is_cut: bool| {
            let block_rows = if is_cut { 7 } else { 0 };
            split::<T>(context, &m, None, &Options { block_rows, ..options.clone() }).unwrap()
        };
        alike("cut", shape, &entries::<T>(&m), &Options::default(), run);
    }
    for shape in [(1, 1), (1, 7), (5, 3), (3, 5), (64, 64), (300, 60), (37, 400), (1025, 16)] {
        check::<f64>(&context, shape, low_rank_and_spikes);
        check::<f32>(&context, shape, |i, j| low_rank_and_spikes(i, j) as f32);
        check::<f64>(&context, shape, |i, j| 1.0 + noise(i, j));
        check::<Complex<f64>>(&context, shape, complex);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn several_contexts_give_what_one_gives() {
    let complex = |i: usize, j: usize| Complex::new(low_rank_and_spikes(i, j), low_rank_and_spikes(i + 1000, j));
    let single = |i, j| {
        let v = complex(i, j);
        Complex::new(v.re as f32, v.im as f32)
    };
    let mut worst = [0.0f64; 2];
    for order in [Order::ColumnMajor, Order::RowMajor] {
        for shape in [(300, 120), (120, 300), (1000, 37), (64, 64), (1025, 16)] {
            for (count, block_rows) in [(2, 0), (2, 100), (3, 7), (3, 0)] {
                let options = Options { block_rows, ..Options::default() };
                worst[1] = worst[1].max(agree::<f64>(count, shape, order, low_rank_and_spikes, &options));
                worst[1] = worst[1].max(agree::<Complex<f64>>(count, shape, order, complex, &options));
                let narrow = |i, j| low_rank_and_spikes(i, j) as f32;
                worst[0] = worst[0].max(agree::<f32>(count, shape, order, narrow, &options));
                worst[0] = worst[0].max(agree::<Complex<f32>>(count, shape, order, single, &options));
            }
        }
    }
    println!("most that the parts of several contexts were off: {:.2e} single, {:.2e} double", worst[0], worst[1]);
}

#[test]
#[ignore = "needs a GPU"]
fn few_rows_are_shared_by_few_contexts() {
    for order in [Order::ColumnMajor, Order::RowMajor] {
        for shape in [(1, 1), (1, 7), (7, 1), (2, 2), (5, 3), (3, 5)] {
            for (count, block_rows) in [(2, 0), (4, 0), (2, 100), (3, 2)] {
                let options = Options { block_rows, ..Options::default() };
                agree::<f64>(count, shape, order, |i, j| 1.0 + noise(i, j), &options);
            }
        }
        for shape in [(0, 5), (5, 0)] {
            let contexts = team(2);
            let m = matrix(&contexts[0], order, shape, |_, _| 0.0f64);
            let (l, s, info) = shared::<f64>(&contexts, &m, None, &Options::default());
            assert!(l.is_empty() && s.is_empty() && info.converged, "{info:?}");
        }
        let contexts = team(2);
        let m = matrix(&contexts[0], order, (9, 4), |_, _| 0.0f64);
        let (l, s, info) = shared::<f64>(&contexts, &m, None, &Options::default());
        assert!(l.iter().chain(&s).all(|v| *v == 0.0));
        assert_eq!((info.rank, info.contexts), (0, 2));
        // Beyond the range of squares: the unit is found in two passes.
        agree::<f64>(2, (40, 3), order, |i, j| 1e120 * (1.0 + noise(i, j)), &Options::default());
    }
}

#[test]
#[ignore = "needs a GPU"]
fn masks_sources_parts_and_compressed_rows_of_several_contexts() {
    let contexts = team(2);
    let (values, truth) = synthetic();
    let hidden = |i: usize, j: usize| noise(i, j) < -0.8;
    for order in [Order::ColumnMajor, Order::RowMajor] {
        let entry = |i: usize, j: usize| if hidden(i, j) { f64::NAN } else { values[i * 200 + j] };
        let m = matrix(&contexts[0], order, (300, 200), entry);
        let mask = matrix(&contexts[0], Order::RowMajor, (300, 200), |i, j| u8::from(!hidden(i, j)));
        let options = Options { block_rows: 64, ..Options::default() };
        let (l, s, one) = split::<f64>(&contexts[0], &m, Some(&mask), &options).unwrap();
        let (on_l, on_s, several) = shared::<f64>(&contexts, &m, Some(&mask), &options);
        assert!(several.contexts == 2 && several.blocks == one.blocks && several.rank == 8, "{several:?}");
        assert!(difference(&on_l, &l) < bound::<f64>(), "{}", difference(&on_l, &l));
        assert!(difference(&on_s, &s) < bound::<f64>(), "{}", difference(&on_s, &s));
        assert!(difference(&on_l, &truth) < 1e-5);

        let flowing = streamed(&contexts[0], &values, order, usize::MAX);
        let (l, _, one) = split::<f64>(&contexts[0], &flowing, None, &options).unwrap();
        let (on_l, _, several) = shared::<f64>(&contexts, &flowing, None, &options);
        assert_eq!((several.contexts, several.bytes_read), (2, one.bytes_read));
        assert!(difference(&on_l, &l) < bound::<f64>(), "{}", difference(&on_l, &l));

        // Parts in the memory of the first device: rows of the others go there. The sparse part in compressed rows.
        let m = matrix(&contexts[0], order, (300, 200), |i, j| values[i * 200 + j]);
        let (l, s, _) = shared::<f64>(&contexts, &m, None, &options);
        for part_order in [Order::ColumnMajor, Order::RowMajor] {
            let part = || Matrix::create(&contexts[0], f64::DTYPE, Location::Device, part_order, 300, 200).unwrap();
            let (mut low_rank, mut sparse) = (part(), part());
            compute(&contexts, None, &m, None, &options, Some(&mut low_rank), Some(&mut sparse), None).unwrap();
            let host = |m: &Matrix| {
                let mut h = Matrix::create(&contexts[0], f64::DTYPE, Location::Host, part_order, 300, 200).unwrap();
                matrix::copy(&contexts[0], None, m, &mut h).unwrap();
                entries::<f64>(&h)
            };
            assert!(host(&low_rank) == l && host(&sparse) == s, "the same bits wherever they go");
        }
        let (sparse, info) = compute_csr(&contexts, None, &m, None, &options, None, None).unwrap();
        let Storage::Csr(csr) = sparse.storage() else { panic!("not sparse") };
        assert_eq!(csr.nnz(), s.iter().filter(|v| **v != 0.0).count());
        assert_eq!((csr.nnz() as u64, info.contexts), (info.nonzeros, 2));

        // A matrix on a device is worked on there.
        let mut on_device = Matrix::create(&contexts[0], f64::DTYPE, Location::Device, order, 300, 200).unwrap();
        matrix::copy(&contexts[0], None, &m, &mut on_device).unwrap();
        let info = compute(&contexts, None, &on_device, None, &options, None, None, None).unwrap();
        assert_eq!((info.contexts, info.bytes_to_device), (1, 0));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn several_contexts_with_little_memory_give_what_one_with_much_gives() {
    let (rows, cols) = (40_000, 120);
    let much = gpu_context(0);
    // Buffers of cuBLAS included, less than X, Y and M of 19 MB each take for half of the rows.
    let little = [gpu_context(60_000_000), gpu_context(60_000_000)];
    for order in [Order::ColumnMajor, Order::RowMajor] {
        let m = matrix(&much, order, (rows, cols), low_rank_and_spikes);
        let (l, s, _) = split::<f64>(&much, &m, None, &Options::default()).unwrap();
        let m = matrix(&little[0], order, (rows, cols), low_rank_and_spikes);
        let (on_l, on_s, info) = shared::<f64>(&little, &m, None, &Options::default());
        assert!(info.contexts == 2 && info.blocks > 3 && info.device_bytes_used <= 60_000_000, "{info:?}");
        assert!(info.bytes_to_device > 10 * 38_000_000, "{info:?}");
        assert!(difference(&on_l, &l) < bound::<f64>(), "{}", difference(&on_l, &l));
        assert!(difference(&on_s, &s) < bound::<f64>(), "{}", difference(&on_s, &s));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_stops_one_context_stops_all_and_is_reported() {
    let contexts = team(2);
    let clean = || {
        assert!(contexts.iter().all(|c| c.device_budget().used() == 0), "device memory is left");
        assert_eq!(contexts[1].host_memory_used(), 0);
    };
    let run = |m: &Matrix, options: &Options| compute(&contexts, None, m, None, options, None, None, None);
    let m =
        matrix(&contexts[0], Order::ColumnMajor, (50, 20), |i, j| if j == 7 && i % 40 == 3 { f32::NAN } else { 1.0 });
    let error = run(&m, &Options::default()).unwrap_err().to_string();
    assert_eq!(error, "m: has 2 numbers that are not finite");
    clean();

    let (values, _) = synthetic();
    for reads in [0, 1, 3, 4] {
        let m = streamed(&contexts[0], &values, Order::RowMajor, reads);
        let options = Options { block_rows: 64, ..Options::default() };
        assert_eq!(run(&m, &options).unwrap_err().to_string(), "camera: is out of film");
        clean();
    }

    let m = matrix(&contexts[0], Order::RowMajor, (300, 200), |i, j| values[i * 200 + j]);
    let no = |_: i64, _: i64, _: f64| false;
    let error = compute(&contexts, None, &m, None, &Options::default(), None, None, Some(&no)).unwrap_err();
    assert_eq!(error, Error::Cancelled);
    clean();
    let other = Arc::clone(&contexts[1]);
    let cancel = move |_: i64, _: i64, _: f64| {
        other.cancel();
        true
    };
    let error = compute(&contexts, None, &m, None, &Options::default(), None, None, Some(&cancel)).unwrap_err();
    assert_eq!(error, Error::Cancelled);
    clean();
    let (_, _, info) = shared::<f64>(&contexts, &m, None, &Options::default());
    assert!(info.converged && info.contexts == 2, "usable afterwards: {info:?}");

    // The memory of the second alone does not suffice.
    let poor = [gpu_context(0), gpu_context(1_000_000)];
    let m = matrix(&poor[0], Order::RowMajor, (300, 200), |i, j| values[i * 200 + j]);
    let error = compute(&poor, None, &m, None, &Options::default(), None, None, None).unwrap_err();
    assert!(matches!(error, Error::OutOfDeviceMemory { limit: Some(1_000_000), .. }), "{error}");
    assert_eq!((poor[0].device_budget().used(), poor[1].device_budget().used()), (0, 0));
}

#[test]
fn rows_are_shared_by_different_gpus_alone() {
    let (first, second) = (context(), context());
    let m = matrix(&first, Order::ColumnMajor, (6, 3), noise);
    let refusal = |contexts: &[Arc<Context>]| {
        compute(contexts, None, &m, None, &Options::default(), None, None, None).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&[Arc::clone(&first), second]),
        "group: has 2 contexts on the CPU: rows are distributed over GPUs alone"
    );
    assert_eq!(refusal(&[Arc::clone(&first), Arc::clone(&first)]), "contexts[1]: is given twice");
    assert_eq!(refusal(&[]), "count: is 0, outside 1 to 1024");
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_is_not_given_twice_nor_with_a_cpu() {
    let contexts = team(2);
    let m = matrix(&contexts[0], Order::ColumnMajor, (6, 3), noise);
    let refusal = |contexts: &[Arc<Context>]| {
        compute(contexts, None, &m, None, &Options::default(), None, None, None).unwrap_err().to_string()
    };
    let [first, second] = [0, 1].map(|k| Arc::clone(&contexts[k]));
    let twice = [Arc::clone(&first), Arc::clone(&second), second];
    assert_eq!(refusal(&twice), "contexts[2]: is given twice");
    let text = refusal(&[first, context()]);
    assert!(text.starts_with("contexts[1]: is on the CPU with "), "{text}");
}

#[test]
fn entries_from_a_row_on_are_those_of_the_whole() {
    let context = context();
    let entry = |i: usize, j: usize| (10 * i + j) as f64;
    let expected = [60.0, 70.0, 61.0, 71.0, 62.0, 72.0];
    for order in [Order::ColumnMajor, Order::RowMajor] {
        let m = matrix(&context, order, (9, 3), entry);
        let dense = m.dense("m").unwrap();
        let (row_stride, column_stride) = (dense.layout.strides()[0], dense.layout.strides()[1]);
        let whole = Entries::Memory { memory: dense.memory, dtype: DType::F64, first: 0, row_stride, column_stride };
        let mut block = [0.0f64; 6];
        let (window, reader) = whole.from_row(1).from_row(3).split("m").unwrap();
        assert!(reader.is_none());
        window.rows(2, 2, 3, &[]).block(0, 3, 1.0, &mut block).unwrap();
        assert_eq!(block, expected);

        let dims = if order == Order::RowMajor { [3, 9] } else { [9, 3] };
        let bytes: Vec<u8> = dense.memory.host("m").unwrap().as_slice::<u8>().unwrap().to_vec();
        let mut source = HostSource::new(ArrayInfo::new(Number::F64, &dims).unwrap(), &bytes).unwrap();
        let whole = Entries::streamed(&mut source, order);
        let (part, mut buffer) = (whole.from_row(4), [0u8; 48]);
        let (window, reader) = part.split("m").unwrap();
        reader.unwrap().read(2, 2, &mut buffer).unwrap();
        window.rows(2, 2, 3, &buffer).block(0, 3, 1.0, &mut block).unwrap();
        assert_eq!(block, expected);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn one_reader_is_used_by_one_device_at_a_time() {
    let contexts = team(3);
    let (values, _) = synthetic();
    let info = ArrayInfo::new(Number::F64, &[200, 300]).unwrap();
    let busy = std::sync::atomic::AtomicBool::new(false);
    let read = move |block: &Block, out: &mut [u8]| {
        assert!(!busy.swap(true, std::sync::atomic::Ordering::SeqCst), "two at a time");
        std::thread::sleep(std::time::Duration::from_micros(200));
        let first = block.first()[1] * 200;
        for (bytes, v) in out.chunks_exact_mut(8).zip(&values[first..]) {
            bytes.copy_from_slice(&v.to_ne_bytes());
        }
        busy.store(false, std::sync::atomic::Ordering::SeqCst);
        Ok(())
    };
    let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(read))));
    let m = Matrix::from_source(&contexts[0], source, Order::RowMajor).unwrap();
    let options = Options { block_rows: 10, ..Options::default() };
    let (_, _, info) = shared::<f64>(&contexts, &m, None, &options);
    assert_eq!((info.contexts, info.blocks, info.rank), (3, 30, 8));
}
