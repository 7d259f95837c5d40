//! SS-HOPM on the CPU, one thread: fixed work and peaks, by instruction set and precision.
//!
//! `cargo bench --bench sshopm`. Elements are steps of one start for the fixed work and tensors for peaks. The rates, from
//! the steps that the solver counts, are printed at the end and written as JSON to the file that PURLIN_BENCH_JSON names.

use std::sync::Arc;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group};
use purlin::backend::BackendChoice;
use purlin::backend::cpu::Isa;
use purlin::context::{Context, Options as ContextOptions};
use purlin::progress::Progress;
use purlin::rng;
use purlin::scalar::Real;
use purlin::shape::Order;
use purlin::sshopm::{self, Goal, Method, Options, Results, Shift, Test};
use purlin::tensor::{Location, Symmetric, Tensor};

fn context(isa: Isa) -> Option<Arc<Context>> {
    Context::new(ContextOptions {
        backend: BackendChoice::Cpu,
        threads: 1,
        isa: Some(isa),
        ..ContextOptions::default()
    })
    .ok()
}

/// Orientation functions of two crossing fibres each, in directions of their own: w1 (u.x)^m + w2 (v.x)^m plus a
/// smooth background, the case that peaks are made for.
fn crossings<T: Real>(c: &Arc<Context>, order: usize, count: usize) -> Tensor {
    let shape = Symmetric { order, dimension: 3 };
    let mut t = Tensor::create_symmetric(c, T::DTYPE, Location::Host, Order::ColumnMajor, shape, count).unwrap();
    let mut exponents = vec![0i64; 3 * shape.count()];
    purlin::tensor::symmetric::exponents(shape, &mut exponents).unwrap();
    let mut view = t.view_mut::<T>("tensors").unwrap();
    for (k, column) in view.data().chunks_exact_mut(shape.count()).enumerate() {
        let direction = |d: u32| {
            let x: Vec<f64> = (0..3).map(|i| rng::normal(3, 9, k as u64, 3 * d + i)).collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.into_iter().map(|x| x / norm).collect::<Vec<_>>()
        };
        let fibres = [(1.0, direction(0)), (0.6, direction(1)), (0.2, direction(2))];
        for (a, e) in column.iter_mut().zip(exponents.chunks_exact(3)) {
            let power = |x: &[f64]| x.iter().zip(e).map(|(x, e)| x.powi(*e as i32)).product::<f64>();
            *a = T::from_f64(fibres.iter().map(|(w, x)| w * power(x)).sum());
        }
    }
    t
}

fn dense<T: purlin::scalar::Element>(c: &Arc<Context>, dims: &[usize]) -> Tensor {
    Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, dims).unwrap()
}

/// 128 starts of 20 power steps, the test of lambda on, with a shift so large that no start meets it. Returns the steps.
fn fixed_work(c: &Arc<Context>, tensors: &Tensor, values: &mut Tensor) -> i64 {
    let o = Options {
        goal: Goal::Maxima,
        method: Method::Power,
        shift_kind: Shift::Fixed,
        shift: 20.0,
        test: Test::Lambda,
        tolerance: 1e-30,
        max_iterations: 20,
        starts: 128,
        remove_isotropic: false,
        ..Options::default()
    };
    let mut r = Results { start_values: Some(values), ..Results::default() };
    sshopm::solve(c, None, tensors, None, &o, &mut r, &Progress::none()).unwrap().iterations
}

/// 64 starts, hybrid, five strongest maxima.
fn peaks(c: &Arc<Context>, tensors: &Tensor, out: &mut [Tensor; 3]) {
    let [values, vectors, count] = out;
    let o = Options { starts: 64, ..Options::default() };
    let mut r = Results { values: Some(values), vectors: Some(vectors), count: Some(count), ..Results::default() };
    sshopm::solve(c, None, tensors, None, &o, &mut r, &Progress::none()).unwrap();
}

fn by_type<T: Real>(criterion: &mut Criterion, isa: Isa) {
    let Some(c) = context(isa) else { return };
    let name = format!("{isa:?} {:?}", T::DTYPE);
    let count = 2000;
    let mut group = criterion.benchmark_group("sshopm");
    group.sample_size(10);
    let a = crossings::<T>(&c, 4, count);
    let mut values = dense::<T>(&c, &[128, count]);
    group.throughput(Throughput::Elements(count as u64 * 128 * 20));
    group.bench_function(format!("power steps, order 4, {name}"), |b| b.iter(|| fixed_work(&c, &a, &mut values)));
    for order in [4, 6, 8] {
        let a = crossings::<T>(&c, order, count);
        let mut out = [dense::<T>(&c, &[5, count]), dense::<T>(&c, &[3, 5, count]), dense::<i32>(&c, &[count])];
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("peaks, order {order}, {name}"), |b| b.iter(|| peaks(&c, &a, &mut out)));
    }
    group.finish();
}

/// Median of the rates of 21 runs; `work` returns how many elements it did.
fn rate(mut work: impl FnMut() -> i64) -> f64 {
    work();
    let mut rates: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            let elements = work();
            elements as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Rows of rates on one core: case, unit, rate.
fn rates<T: Real>(isa: Isa, rows: &mut Vec<(String, &str, f64)>) {
    let Some(c) = context(isa) else { return };
    let count = 2000;
    let a = crossings::<T>(&c, 4, count);
    let mut values = dense::<T>(&c, &[128, count]);
    let steps = rate(|| fixed_work(&c, &a, &mut values));
    rows.push((format!("power steps, order 4, {isa:?} {:?}", T::DTYPE), "steps/s", steps));
    for order in [4, 6, 8] {
        let a = crossings::<T>(&c, order, count);
        let mut out = [dense::<T>(&c, &[5, count]), dense::<T>(&c, &[3, 5, count]), dense::<i32>(&c, &[count])];
        let tensors = rate(|| {
            peaks(&c, &a, &mut out);
            count as i64
        });
        rows.push((format!("peaks of 64 starts, order {order}, {isa:?} {:?}", T::DTYPE), "tensors/s", tensors));
    }
}

fn report() {
    let mut rows = Vec::new();
    for isa in [Isa::Avx512, Isa::Avx2] {
        rates::<f32>(isa, &mut rows);
        rates::<f64>(isa, &mut rows);
    }
    let mut json = Vec::new();
    for (case, unit, rate) in &rows {
        println!("{case:<48} {rate:10.4e} {unit}");
        json.push(format!(r#"  {{"case": "{case}", "unit": "{unit}", "rate": {rate}}}"#));
    }
    if let Some(path) = std::env::var_os("PURLIN_BENCH_JSON") {
        let body = format!("{{\n \"title\": \"SS-HOPM on one core\",\n \"rows\": [\n{}\n ]\n}}\n", json.join(",\n"));
        std::fs::write(path, body).unwrap();
    }
}

fn benches(criterion: &mut Criterion) {
    for isa in [Isa::Avx512, Isa::Avx2, Isa::Portable] {
        by_type::<f32>(criterion, isa);
        by_type::<f64>(criterion, isa);
    }
}

criterion_group!(all, benches);

fn main() {
    all();
    Criterion::default().configure_from_args().final_summary();
    report();
}
