//! Limits of host memory: a run that the plan accepts stays inside the limit, and one that does not fit is refused
//! before work starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::backend::BackendChoice;
use crate::backend::memory::{Budget, HostMemory, Memory};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::{Number, encode};
use crate::blocks::source::CallbackSource;
use crate::context::{Context, Options as ContextOptions};
use crate::error::{Error, Result};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, SharedSource};
use crate::rsvd::options::{Centering, ErrorKind, Method};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::{Info, Options, Rsvd};
use crate::scalar::{Complex, DType};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

pub(super) fn context(limit: u64) -> Arc<Context> {
    let options = ContextOptions {
        backend: BackendChoice::Cpu,
        threads: 2,
        host_memory_limit: limit,
        ..ContextOptions::default()
    };
    Context::new(options).unwrap()
}

/// A number between -1 and 1 (integers between 0 and 100) that depends on the place alone.
fn entry(data: Data, i: usize, j: usize) -> f64 {
    let hash = |i: usize, j: usize| {
        let x = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (j as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((x ^ x >> 32) % 2001) as f64 / 1000.0 - 1.0
    };
    match data {
        Data::Full => hash(i, j),
        // Two directions, and every fifth column zero.
        Data::Deficient if j.is_multiple_of(5) => 0.0,
        Data::Deficient => hash(i, 1) * hash(2, j) + hash(i, 3) * hash(4, j),
        // Squares overflow.
        Data::Huge => hash(i, j) * 1e200,
        Data::Single => j as f64 + 1.0,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Data {
    Full,
    Deficient,
    Huge,
    /// A matrix of rank one.
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum From {
    Memory,
    Rows,
    Columns,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub rows: usize,
    pub columns: usize,
    pub number: Number,
    pub from: From,
    pub data: Data,
}

/// Memory that the limit does not count.
fn outside(bytes: usize) -> HostMemory {
    HostMemory::allocate("test", bytes, &Budget::new(0)).unwrap()
}

pub(super) fn blank(context: &Arc<Context>, dtype: DType, rows: usize, columns: usize) -> Matrix {
    let layout = Matrix::dense_layout(dtype, Order::ColumnMajor, rows, columns, rows.max(1)).unwrap();
    let memory = Memory::Host(outside(layout.extent() * dtype.size()));
    Matrix::from_memory(context, dtype, Order::ColumnMajor, layout, memory, false).unwrap()
}

/// The case's matrix, and how often its source was read.
pub(super) fn matrix(context: &Arc<Context>, case: Case) -> (Matrix, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    let Case { rows, columns, number, data, .. } = case;
    let value = move |i: usize, j: usize| {
        let x = entry(data, i, j);
        if number.is_complex() || matches!(number, Number::F32 | Number::F64) { x } else { (x * 50.0 + 50.0).round() }
    };
    let fill = move |places: &[(usize, usize)], out: &mut [u8]| {
        let numbers: Vec<Complex<f64>> = places
            .iter()
            .map(|&(i, j)| Complex::new(value(i, j), if number.is_complex() { value(j, i) } else { 0.0 }))
            .collect();
        if number.is_complex() {
            encode(number, &numbers, out);
        } else {
            let real: Vec<f64> = numbers.iter().map(|x| x.re).collect();
            encode(number, &real, out);
        }
    };
    if case.from == From::Memory {
        let dtype = number.dtype();
        let layout = Matrix::dense_layout(dtype, Order::RowMajor, rows, columns, columns.max(1)).unwrap();
        let mut memory = outside(layout.extent() * dtype.size());
        let places: Vec<(usize, usize)> = (0..rows * columns).map(|e| (e / columns, e % columns)).collect();
        fill(&places, memory.as_mut_slice::<u8>().unwrap());
        let memory = Memory::Host(memory);
        return (Matrix::from_memory(context, dtype, Order::RowMajor, layout, memory, true).unwrap(), reads);
    }
    let by_rows = case.from == From::Rows;
    let info = ArrayInfo::new(number, &if by_rows { [columns, rows] } else { [rows, columns] }).unwrap();
    let count = Arc::clone(&reads);
    let reader = move |block: &Block, out: &mut [u8]| {
        count.fetch_add(1, Ordering::Relaxed);
        let mut places = Vec::new();
        for slow in 0..block.count()[1] {
            for fast in 0..block.count()[0] {
                let at = (block.first()[0] + fast, block.first()[1] + slow);
                places.push(if by_rows { (at.1, at.0) } else { at });
            }
        }
        fill(&places, out);
        Ok(())
    };
    let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(reader))));
    let order = if by_rows { Order::RowMajor } else { Order::ColumnMajor };
    (Matrix::from_source(context, source, order).unwrap(), reads)
}

pub(super) fn compute(context: &Arc<Context>, a: &Matrix, options: &Options) -> Result<Info> {
    let mut session = Rsvd::new(context, options.clone())?;
    let least = a.rows().min(a.cols());
    let k = match (options.tolerance > 0.0, options.max_rank) {
        (true, 0) => least,
        (true, most) => most,
        (false, _) => options.rank,
    };
    let dtype = options.dtype.unwrap_or_else(|| a.dtype().computing());
    let (mut u, mut v) = (blank(context, dtype, a.rows(), k), blank(context, dtype, a.cols(), k));
    let unlimited = self::context(0);
    let mut s = Tensor::create(&unlimited, DType::F64, Location::Host, Order::ColumnMajor, &[k])?;
    let both = !options.one_pass;
    let wide = a.cols() > a.rows();
    let outputs = Outputs {
        u: Some(&mut u).filter(|_| both || wide),
        s: Some(&mut s),
        v: Some(&mut v).filter(|_| both || !wide),
    };
    session.compute(None, a, outputs, None)
}

/// Runs a case under limits from far too little to ample.
fn sweep(case: Case, options: &Options) {
    let name = format!("{case:?} {:?} tolerance {} {:?}", options.method, options.tolerance, options.center);
    let free = context(0);
    let (a, _) = matrix(&free, case);
    let ample = compute(&free, &a, options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (mut accepted, mut refused) = (0, 0);
    for eighths in [1, 5, 7, 8, 10, 16, 40] {
        let limit = u64::try_from(ample.host_bytes_used).unwrap() * eighths / 8;
        let context = context(limit);
        let (a, reads) = matrix(&context, case);
        let planned = Rsvd::new(&context, options.clone()).unwrap().plan(&a);
        assert_eq!((context.host_budget().used(), reads.load(Ordering::Relaxed)), (0, 0), "{name}");
        match planned {
            Ok(planned) => {
                accepted += 1;
                let info = compute(&context, &a, options);
                let info =
                    info.unwrap_or_else(|e| panic!("{name}: limit {limit}, planned {}: {e}", planned.host_bytes));
                let used = u64::try_from(info.host_bytes_used).unwrap();
                assert!(used <= limit, "{name}: {used} bytes of {limit}");
                if case.data == Data::Full && !options.one_pass && options.tolerance == 0.0 {
                    assert_eq!(planned.method, info.method, "{name}");
                    let ratio = planned.host_bytes as f64 / info.host_bytes_used as f64;
                    assert!((0.9..=1.1).contains(&ratio), "{name}: limit {limit}: {planned:?} {info:?}");
                }
            }
            Err(e @ Error::OutOfMemory { bytes, limit: named, .. }) => {
                refused += 1;
                assert!(bytes > limit && named == Some(limit), "{name}: {e}");
                let again = compute(&context, &a, options).map(|_| ()).unwrap_err();
                assert_eq!((again, reads.load(Ordering::Relaxed)), (e, 0), "{name}");
            }
            Err(e) => panic!("{name}: {e}"),
        }
    }
    assert!(accepted > 0 && refused > 0, "{name}: {accepted} accepted, {refused} refused");
}

pub(super) fn options(method: Method) -> Options {
    // Refused where there is no sketch, and where nothing is iterated.
    let oversampling = Some(if method == Method::Direct { 10 } else { 4 });
    let power_iterations = Some(if matches!(method, Method::Direct | Method::OnePass) { 0 } else { 1 });
    Options { rank: 4, oversampling, power_iterations, method, ..Options::default() }
}

/// Types that entries come in, and that they are computed with.
const TYPES: [(Number, Option<DType>); 6] = [
    (Number::F64, None),
    (Number::F32, None),
    (Number::Cf64, None),
    (Number::Cf32, None),
    (Number::U8, Some(DType::F64)),
    (Number::I16, Some(DType::F64)),
];

#[test]
fn what_a_plan_accepts_runs_inside_the_limit() {
    let mut round = 0;
    for method in Method::ALL {
        for from in [From::Memory, From::Rows, From::Columns] {
            for step in 0..2 {
                round += 1;
                let (rows, columns) = [(240, 36), (36, 240), (80, 80)][round % 3];
                let (number, dtype) = TYPES[(round / 2 + 3 * step) % TYPES.len()];
                let case = Case { rows, columns, number, from, data: Data::Full };
                sweep(case, &Options { dtype, ..options(method) });
            }
        }
    }
}

#[test]
fn dependent_columns_and_entries_that_cannot_be_squared_stay_inside() {
    for (method, from) in Method::ALL.into_iter().zip([From::Memory, From::Rows, From::Columns].into_iter().cycle()) {
        for data in [Data::Deficient, Data::Huge] {
            let case = Case { rows: 260, columns: 50, number: Number::F64, from, data };
            sweep(case, &options(method));
        }
    }
}

/// Of rank-one data all columns of a basis but one are random, which takes the most memory to append.
#[test]
fn the_least_limit_that_a_plan_accepts_is_enough() {
    for (method, data) in Method::ALL.into_iter().flat_map(|m| [Data::Single, Data::Deficient].map(|d| (m, d))) {
        let case = Case { rows: 98, columns: 38, number: Number::F64, from: From::Memory, data };
        let options = Options { rank: 15, oversampling: Some(10), ..options(method) };
        let plan = |limit| {
            let context = context(limit);
            let (a, _) = matrix(&context, case);
            Rsvd::new(&context, options.clone()).unwrap().plan(&a).is_ok()
        };
        let (mut refused, mut accepted) = (1, 1 << 24);
        assert!(plan(accepted) && !plan(refused), "{case:?} {method:?}");
        while accepted - refused > 8 {
            let middle = (accepted + refused) / 2;
            if plan(middle) { accepted = middle } else { refused = middle }
        }
        let context = context(accepted);
        let (a, _) = matrix(&context, case);
        let info = compute(&context, &a, &options).unwrap_or_else(|e| panic!("{case:?} {method:?} {accepted}: {e}"));
        assert!(u64::try_from(info.host_bytes_used).unwrap() <= accepted, "{case:?} {method:?}: {info:?}");
    }
}

#[test]
fn centring_tolerances_and_estimates_count() {
    let case = |from| Case { rows: 240, columns: 48, number: Number::F64, from, data: Data::Full };
    for method in [Method::Auto, Method::Fused, Method::Gram, Method::Merge] {
        let from = if method == Method::Gram { From::Memory } else { From::Rows };
        sweep(case(from), &Options { center: Centering::Columns, scale: true, ..options(method) });
        sweep(case(from), &Options { center: Centering::Rows, ..options(method) });
        sweep(case(From::Rows), &Options { error: ErrorKind::Probes, ..options(method) });
        sweep(case(From::Rows), &Options { error: ErrorKind::Power, ..options(method) });
    }
    sweep(case(From::Rows), &Options { one_pass: true, ..options(Method::Merge) });
    for max_rank in [0, 20] {
        let own = Options { rank: 0, oversampling: Some(10), ..options(Method::Auto) };
        let by_tolerance = Options { tolerance: 0.3, max_rank, block_columns: 4, ..own };
        sweep(case(From::Columns), &by_tolerance);
        sweep(Case { data: Data::Deficient, ..case(From::Memory) }, &by_tolerance);
    }
}

#[test]
fn bytes_that_are_converted_count_as_they_are_computed_with() {
    let context = context(0);
    let case = Case { rows: 4000, columns: 64, number: Number::U8, from: From::Rows, data: Data::Full };
    let (a, _) = matrix(&context, case);
    let info = |dtype| {
        let options = Options { dtype: Some(dtype), rank: 4, method: Method::Fused, ..Options::default() };
        Rsvd::new(&context, options).unwrap().plan(&a).unwrap()
    };
    assert!(info(DType::F64).host_bytes > info(DType::F32).host_bytes);
    // 64 MiB of blocks as they are computed with.
    let wide = Case { rows: 1 << 20, columns: 64, ..case };
    let (a, _) = matrix(&context, wide);
    let options = Options { dtype: Some(DType::F64), rank: 4, method: Method::Merge, ..Options::default() };
    let planned = Rsvd::new(&context, options).unwrap().plan(&a).unwrap();
    assert_eq!(planned.block_rows, 64 << 20 >> 9, "{planned:?}");
}

/// The file of the report: 4 GB of rows under 256 MiB, of which nothing is read to plan.
#[test]
fn large_sources_are_planned_or_refused_at_once() {
    let limited = context(256 << 20);
    let case = Case { rows: 1_000_000, columns: 500, number: Number::F64, from: From::Rows, data: Data::Full };
    let (a, reads) = matrix(&limited, case);
    let plan = |method, rank| {
        let options = Options { rank, method, ..Options::default() };
        Rsvd::new(&limited, options).unwrap().plan(&a)
    };
    for method in [Method::Auto, Method::Fused, Method::RowFused, Method::Gram, Method::Merge] {
        match plan(method, 5) {
            Ok(info) => assert!(info.host_bytes > 100 << 20 && info.host_bytes <= 256 << 20, "{info:?}"),
            Err(e) => assert!(e.to_string().contains("under the context's limit of 268435456 bytes"), "{e}"),
        }
    }
    // U alone takes 800 MB.
    for method in Method::ALL {
        let e = plan(method, 100).map(|i| format!("{i:?}")).unwrap_err();
        let Error::OutOfMemory { bytes, .. } = e else { panic!("{method:?}: {e}") };
        assert!(bytes > 800_000_000, "{method:?}: {e}");
    }
    assert_eq!(reads.load(Ordering::Relaxed), 0);
}

/// 32 MB of numbers, which are generated, under limits of an eighth and a quarter of them, and under one that is refused.
#[test]
fn large_sources_run_inside_limits_far_below_their_size() {
    let (rows, columns) = (8000, 500);
    let info = ArrayInfo::new(Number::F64, &[columns, rows]).unwrap();
    let source = |context: &Arc<Context>| {
        let reader = |block: &Block, out: &mut [u8]| {
            let (first, count) = (block.first(), block.count());
            for (k, number) in out.chunks_exact_mut(8).enumerate() {
                let (i, j) = (first[1] + k / count[0], first[0] + k % count[0]);
                let x = (31 * i + 17 * j + i * j % 13) % 101;
                number.copy_from_slice(&(x as f64).to_ne_bytes());
            }
            Ok(())
        };
        let source = SharedSource::new(Box::new(CallbackSource::new(info.clone(), Box::new(reader))));
        Matrix::from_source(context, source, Order::RowMajor).unwrap()
    };
    for method in [Method::Auto, Method::Merge] {
        let mut accepted = 0;
        for limit in [2 << 20, 4 << 20, 8 << 20] {
            let context = context(limit);
            let a = source(&context);
            let options = Options { rank: 5, method, ..Options::default() };
            match Rsvd::new(&context, options.clone()).unwrap().plan(&a) {
                Ok(planned) => {
                    accepted += 1;
                    let done = compute(&context, &a, &options).unwrap_or_else(|e| panic!("{method:?} {limit}: {e}"));
                    let used = u64::try_from(done.host_bytes_used).unwrap();
                    let ratio = planned.host_bytes as f64 / done.host_bytes_used as f64;
                    assert!(used <= limit && (0.9..=1.1).contains(&ratio), "{method:?} {limit}: {planned:?} {done:?}");
                }
                Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }), "{method:?} {limit}: {e}"),
            }
        }
        assert_eq!(accepted, 2, "{method:?}");
    }
}

#[test]
fn methods_are_passed_over_before_a_plan_is_refused() {
    let case = Case { rows: 2000, columns: 200, number: Number::F64, from: From::Rows, data: Data::Full };
    let free = context(0);
    let (a, _) = matrix(&free, case);
    let auto = Options { rank: 10, power_iterations: Some(4), ..Options::default() };
    let need = |method| {
        let mut limit = 1u64 << 16;
        loop {
            let context = context(limit);
            let (a, _) = matrix(&context, case);
            let options = Options { method, ..auto.clone() };
            if Rsvd::new(&context, options).unwrap().plan(&a).is_ok() {
                return limit;
            }
            limit += limit / 8;
        }
    };
    let least = need(Method::Auto);
    let chosen = Rsvd::new(&free, auto.clone()).unwrap().plan(&a).unwrap().method;
    assert!(least <= need(chosen), "{least} bytes and {chosen:?}");
    for method in [Method::Fused, Method::Krylov, Method::Gram, Method::Merge] {
        assert!(least <= need(method), "{method:?}");
    }
}

pub(super) fn sparse(context: &Arc<Context>, rows: usize, columns: usize) -> Matrix {
    let (mut offsets, mut places, mut values) = (vec![0i64], Vec::new(), Vec::new());
    for i in 0..rows {
        for j in (i % 3..columns).step_by(3) {
            places.push(j as i64);
            values.push(entry(Data::Full, i, j));
        }
        offsets.push(places.len() as i64);
    }
    let held = |from: &[u8]| {
        let mut memory = outside(from.len());
        memory.as_mut_slice::<u8>().unwrap().copy_from_slice(from);
        memory
    };
    let ints = |v: &[i64]| held(&v.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>());
    let reals = held(&values.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>());
    let parts = CsrParts {
        row_ptr: ints(&offsets),
        row_ptr_type: IndexType::I64,
        col_idx: ints(&places),
        col_idx_type: IndexType::I64,
        values: Some(Memory::Host(reals)),
    };
    Matrix::from_csr(context, DType::F64, Csr::new(parts, rows, columns, values.len(), 0).unwrap(), true)
}

#[test]
fn sparse_matrices_and_components_stay_inside() {
    let free = context(0);
    for method in [Method::Auto, Method::Fused, Method::RowFused, Method::Range, Method::Krylov, Method::OnePass] {
        for center in [Centering::None, Centering::Columns] {
            let options = Options { center, ..options(method) };
            let ample = compute(&free, &sparse(&free, 200, 60), &options).unwrap();
            for eighths in [2, 6, 8, 11, 16, 30] {
                let limit = u64::try_from(ample.host_bytes_used).unwrap() * eighths / 8;
                let context = context(limit);
                let a = sparse(&context, 200, 60);
                match Rsvd::new(&context, options.clone()).unwrap().plan(&a) {
                    Ok(planned) => {
                        let info = compute(&context, &a, &options).unwrap();
                        let ratio = planned.host_bytes as f64 / info.host_bytes_used as f64;
                        assert!((0.9..=1.1).contains(&ratio), "{method:?} {center:?}: {planned:?} {info:?}");
                        assert!(u64::try_from(info.host_bytes_used).unwrap() <= limit);
                    }
                    Err(e) => assert!(matches!(e, Error::OutOfMemory { .. }), "{e}"),
                }
            }
        }
    }
    let case = Case { rows: 220, columns: 40, number: Number::I16, from: From::Rows, data: Data::Full };
    let mut outcomes = [0, 0];
    for kilobytes in [20, 60, 80, 100, 120, 160, 200, 300, 600] {
        let context = context(kilobytes << 10);
        let (x, reads) = matrix(&context, case);
        let options = Options { dtype: Some(DType::F64), ..options(Method::Auto) };
        let mut scores = blank(&context, DType::F64, 220, 4);
        let mut session = Rsvd::new(&context, options).unwrap();
        match session.fit_pca(None, &x, &PcaOptions::default(), Some(&mut scores), None) {
            Ok((pca, info)) => {
                outcomes[0] += 1;
                assert!(u64::try_from(info.host_bytes_used).unwrap() <= kilobytes << 10);
                // Less is needed than for the fit.
                pca.transform(None, &x, &mut scores, None).unwrap();
            }
            Err(e) => {
                outcomes[1] += 1;
                assert!(matches!(e, Error::OutOfMemory { .. }), "{e}");
                assert_eq!(reads.load(Ordering::Relaxed), 0, "{e}");
            }
        }
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}

/// A transform whose sums overflow keeps its first products while it makes others. Its plan has room for both.
#[test]
fn a_repeated_transform_stays_within_its_plan() {
    let samples = |context: &Arc<Context>, rows: usize, entry: &dyn Fn(usize, usize) -> f64| {
        let data = (0..16).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect();
        let dense = super::support::Dense { rows, columns: 16, data };
        super::support::matrix(context, &dense, super::support::PACKED)
    };
    let far = |i: usize, j: usize| if j < 8 { 1.7e308 } else { -1.7e308 / (1 + i % 2) as f64 };
    let mut outcomes = [0, 0];
    for kilobytes in (330..520).step_by(5) {
        let context = context(kilobytes << 10);
        let mut session = Rsvd::new(&context, Options { rank: 3, ..Options::default() }).unwrap();
        let of_fit = |i: usize, j: usize| if i == 0 { 1.0 } else { ((i * 16 + j) as f64 * 0.7).sin() };
        let x = samples(&context, 6, &of_fit);
        let pca = PcaOptions { center: false, ..PcaOptions::default() };
        let (pca, _) = session.fit_pca(None, &x, &pca, None, None).unwrap();
        let (x, mut scores) = (samples(&context, 2000, &far), blank(&context, DType::F64, 2000, 3));
        match pca.transform(None, &x, &mut scores, None) {
            Ok(info) => {
                outcomes[0] += 1;
                assert!(info.passes > 1, "{info:?}");
            }
            Err(e) => {
                outcomes[1] += 1;
                assert!(e.to_string().contains("products with the matrix in the smallest blocks"), "{kilobytes}: {e}");
            }
        }
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}
