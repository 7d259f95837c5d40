//! Plans are promises of memory: a run stays within the bytes of its plan and takes most of them, a limit of these bytes
//! suffices, and one byte less is refused by plan and run with one error.

use std::sync::Arc;

use super::inputs::symmetric;
use super::operators::rectangular;
use super::plans::problem;
use crate::backend::memory::{Budget, Memory};
use crate::backend::{Backend, BackendChoice};
use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::group::Group;
use crate::lanczos::memory::Bytes;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::outputs::{Outputs, TripletOutputs};
use crate::lanczos::session::{Inputs, Lanczos, Problem};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Filter, Info, Method, Options, Orthogonalization, Verify, Which};
use crate::matrix::sparse::Ordering;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Operator};
use crate::progress::Progress;
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::testing::sparse::{cpu, from_entries, stored};

/// A context like `c` with limits; 0 for none.
fn limited(c: &Context, limit: Bytes) -> Arc<Context> {
    let backend = match c.backend() {
        Backend::Cpu => BackendChoice::Cpu,
        Backend::Gpu(_) => BackendChoice::Cuda,
    };
    let device_memory_limit = if backend == BackendChoice::Cpu { 0 } else { limit.device as u64 };
    let host_memory_limit = limit.host as u64;
    let options =
        context::Options { backend, threads: 2, host_memory_limit, device_memory_limit, ..Default::default() };
    Context::new(options).unwrap()
}

/// The results of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Pairs,
    /// Pairs with one known vector and a start vector.
    Known,
    /// Pairs nearest to 0, by a solve.
    Solve,
    Triplets,
    /// Pairs of a matrix with many entries, of which no row ascends.
    Descending,
    /// Triplets of a matrix with so many entries that copies of it take most of the memory.
    DenseTriplets,
    /// Pairs of a caller's operator.
    Own,
    /// Triplets of a caller's operator.
    OwnTriplets,
}

impl Call {
    fn is_singular(self) -> bool {
        matches!(self, Self::Triplets | Self::DenseTriplets | Self::OwnTriplets)
    }
}

struct Case {
    name: &'static str,
    call: Call,
    shape: (usize, usize),
    dtype: DType,
    problem: Problem,
    /// Whether nothing that the plan counts is left out by the run.
    is_close: bool,
}

/// The inverse of the diagonal matrix of 1, 2, ... n.
struct Inverse(usize);

impl Operator<f64> for Inverse {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.0)
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> Result<()> {
        y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = *x / (1.0 + i as f64));
        Ok(())
    }
}

/// A matrix of this shape whose diagonal is 1, 2, ... and all else 0.
struct Diagonal(usize, usize);

impl Operator<f64> for Diagonal {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.1)
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> Result<()> {
        y.fill(0.0);
        y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = (1.0 + i as f64) * *x);
        Ok(())
    }
}

fn matrix<T: Scalar>(c: &Arc<Context>, case: &Case) -> Matrix {
    let (m, n) = case.shape;
    let number = |i: usize| T::from_parts(1.0 + i as f64, 0.0);
    match case.call {
        Call::Own | Call::OwnTriplets => Matrix::from_operator::<f64>(c, Box::new(Diagonal(m, n))),
        Call::Triplets => rectangular::<T>(c, m, n, 5),
        Call::DenseTriplets => {
            let entry =
                |i: usize, j: usize| if i == j { number(i) } else { T::from_parts(1e-3 * i.min(j) as f64, 0.0) };
            from_entries(c, (m, n), &(0..m * n).map(|at| (at / n, at % n, entry(at / n, at % n))).collect::<Vec<_>>())
        }
        Call::Solve => from_entries(c, (n, n), &(0..n).map(|i| (i, i, number(i))).collect::<Vec<_>>()),
        Call::Descending => {
            let row_ptr: Vec<i64> = (0..=n as i64).map(|i| i * n as i64).collect();
            let col_idx: Vec<i32> = (0..n * n).map(|at| (n - 1 - at % n) as i32).collect();
            let entry =
                |i: usize, j: usize| if i == j { number(i) } else { T::from_parts(1e-3 / (i.max(j) as f64), 0.0) };
            let values: Vec<T> = (0..n * n).map(|at| entry(at / n, n - 1 - at % n)).collect();
            let parts = CsrParts {
                row_ptr: stored(c, &row_ptr),
                row_ptr_type: IndexType::I64,
                col_idx: stored(c, &col_idx),
                col_idx_type: IndexType::I32,
                values: Some(Memory::Host(stored(c, &values))),
            };
            Matrix::from_csr(c, T::DTYPE, Csr::new(parts, n, n, n * n, 0).unwrap(), false)
        }
        Call::Pairs | Call::Known => {
            let path = (0..n - 1).map(|i| (i, i + 1, T::from_parts(1.0, 0.0)));
            symmetric(c, n, &path.chain((0..n).map(|i| (i, i, number(i % 17)))).collect::<Vec<_>>())
        }
    }
}

/// A call with its operands.
struct Made {
    context: Arc<Context>,
    a: Matrix,
    solve: Option<Matrix>,
    known: Option<Matrix>,
    start: Option<Tensor>,
    outputs: [Option<Matrix>; 2],
    values: Tensor,
    lanczos: Lanczos,
    is_singular: bool,
}

impl Made {
    fn new(context: &Arc<Context>, case: &Case) -> Self {
        let (c, count, (rows, cols)) = (context, case.problem.options.count, case.shape);
        let dense = |rows, cols| Matrix::create(c, case.dtype, Location::Host, Order::ColumnMajor, rows, cols).unwrap();
        let tensor = |dtype, n| Tensor::create(c, dtype, Location::Host, Order::ColumnMajor, &[n]).unwrap();
        let a = match case.dtype {
            DType::F32 => matrix::<f32>(c, case),
            DType::CF32 => matrix::<Complex<f32>>(c, case),
            DType::CF64 => matrix::<Complex<f64>>(c, case),
            _ => matrix::<f64>(c, case),
        };
        let (mut known, mut start) = (None, None);
        if case.call == Call::Known {
            // An eigenvector found before, with another copy of the matrix.
            let options = Options { count: 1, basis: 40, ..Options::default() };
            let pair = eigenpairs(
                c,
                &mut Symmetric::<f64>::new(c, &matrix::<f64>(c, case), Kind::Matrix, 0.0).unwrap(),
                &options,
                &SolveInputs::default(),
                &Progress::none(),
            );
            let mut one = dense(cols, 1);
            one.dense_mut("known").unwrap().set_columns("known", &pair.unwrap().vectors).unwrap();
            known = Some(one);
            let mut first = tensor(DType::F64, cols);
            first.set_first("start", &vec![1.0; cols]).unwrap();
            start = Some(first);
        }
        let is_singular = case.call.is_singular();
        let length = if is_singular { cols } else { case.problem.kind.order((rows, cols)) };
        Self {
            a,
            solve: (case.call == Call::Solve).then(|| Matrix::from_operator::<f64>(c, Box::new(Inverse(cols)))),
            known,
            start,
            outputs: [is_singular.then(|| dense(rows, count)), Some(dense(length, count))],
            values: tensor(DType::F64, count),
            lanczos: Lanczos::new(c, case.problem).unwrap(),
            context: Arc::clone(c),
            is_singular,
        }
    }

    fn plan(&self) -> Result<Info> {
        let inputs = Inputs { start: self.start.as_ref(), known: self.known.as_ref(), solve: self.solve.as_ref() };
        if self.is_singular { self.lanczos.plan_singular(&self.a) } else { self.lanczos.plan(&self.a, inputs) }
    }

    fn run(&mut self) -> Result<Info> {
        let [u, v] = &mut self.outputs;
        let (u, v, values) = (u.as_mut(), v.as_mut(), &mut self.values);
        if self.is_singular {
            let outputs = TripletOutputs { u, values, v, residuals: None };
            return self.lanczos.singular(&self.a, None, outputs, None);
        }
        let inputs = Inputs { start: self.start.as_ref(), known: self.known.as_ref(), solve: self.solve.as_ref() };
        self.lanczos.solve(&self.a, inputs, Outputs { values, vectors: v, residuals: None }, None)
    }

    /// Bytes that are charged now, and the most since the last call.
    fn charged(&self) -> [Bytes; 2] {
        let (host, device) = (self.context.host_budget(), self.context.device_budget());
        let bytes = |host: u64, device: u64| Bytes { host: host as usize, device: device as usize };
        let peak = bytes(host.peak(), device.peak());
        [bytes(host.restart_peak(), device.restart_peak()), peak]
    }
}

fn cases() -> Vec<Case> {
    let case = |name, call, shape, problem| Case { name, call, shape, dtype: DType::F64, problem, is_close: true };
    let sure = |p: &mut Problem| (p.options.basis, p.options.verify) = (35, Verify::Off);
    let mut all = Vec::new();
    for n in [90, 700] {
        let one = |name, change: &dyn Fn(&mut Problem)| case(name, Call::Pairs, (n, n), problem(|p| change(p)));
        all.push(one("default", &|p| p.options.basis = 35));
        all.push(one("all of a small basis", &|p| p.options.verify = Verify::On));
        all.push(one("block", &|p| (p.options.block, p.options.basis) = (3, 36)));
        all.push(one("plain", &|p| (p.options.method, p.options.basis) = (Method::Plain, 60)));
        all.push(one("partial", &|p| {
            (p.options.orthogonalization, p.options.basis) = (Orthogonalization::Partial, 40);
        }));
        all.push(one("filter", &|p| {
            (p.options.filter, p.options.which, p.options.tolerance) = (Filter::Chebyshev, Which::Smallest, 1e-6);
        }));
        all.push(one("filter of the interior", &|p| {
            (p.options.which, p.options.sigma, p.options.tolerance) = (Which::Nearest, 9.5, 1e-6);
            (p.options.basis, p.options.degree) = (30, 40);
        }));
        all.push(one("ordered", &|p| {
            sure(p);
            p.ordering = Some(Ordering::CuthillMckee);
        }));
        for kind in [Kind::Laplacian, Kind::NormalizedLaplacian, Kind::Modularity, Kind::Gram, Kind::Augmented] {
            all.push(one("kind", &|p| {
                sure(p);
                p.kind = kind;
            }));
        }
        all.push(case("known", Call::Known, (n, n), problem(sure)));
        all.push(case(
            "solve",
            Call::Solve,
            (n, n),
            problem(|p| (p.options.which, p.options.basis) = (Which::Nearest, 30)),
        ));
    }
    for method in [Method::ThickRestart, Method::Plain] {
        let own = problem(|p| (p.options.method, p.options.basis, p.options.verify) = (method, 30, Verify::Off));
        all.push(case("descending", Call::Descending, (250, 250), own));
    }
    for shape in [(60, 500), (500, 60), (40, 30), (900, 700)] {
        for (name, kind, which) in [
            ("triplets", Kind::Matrix, Which::Largest),
            ("triplets, smallest", Kind::Matrix, Which::Smallest),
            ("triplets, Gram", Kind::Gram, Which::Largest),
            ("triplets, augmented", Kind::Augmented, Which::Largest),
        ] {
            let own = problem(|p| (p.kind, p.options.which, p.options.basis) = (kind, which, 25));
            // Eigenvectors suffice, so that Golub-Kahan-Lanczos does not follow.
            let is_close = which == Which::Smallest;
            all.push(Case { is_close, ..case(name, Call::Triplets, shape, own) });
            if shape == (60, 500) {
                all.push(Case { is_close, ..case(name, Call::DenseTriplets, (300, 200), own) });
            }
        }
    }
    // The vectors that test the adjoint are longer than all others.
    for shape in [(5000, 20), (300, 200)] {
        for (call, kind) in [(Call::Own, Kind::Gram), (Call::Own, Kind::Augmented), (Call::OwnTriplets, Kind::Matrix)] {
            let own = problem(|p| (p.kind, p.options.basis, p.options.count) = (kind, 18, 2));
            all.push(Case { is_close: false, ..case("operator", call, shape, own) });
        }
    }
    let of = |dtype: DType| {
        let pairs = Case { dtype, ..case("type", Call::Pairs, (300, 300), problem(sure)) };
        let triplets = problem(|p| (p.options.which, p.options.basis) = (Which::Smallest, 35));
        [pairs, Case { dtype, ..case("type", Call::Triplets, (300, 200), triplets) }]
    };
    all.extend([DType::F32, DType::CF32, DType::CF64].into_iter().flat_map(of));
    all
}

/// A limit of device memory under which the workspace of cuBLAS hides nothing of a plan: it is at most an eighth of the
/// memory left.
const NARROW: usize = 6 << 20;

/// Runs that may leave out something that their plan counts are within the plan; all others take nine tenths of it. On a
/// device the first run takes the copy of the matrix with it, and the second finds it there.
pub(super) fn runs_take_what_was_planned(c: &Arc<Context>) {
    for case in cases() {
        let mut made = Made::new(&limited(c, Bytes { host: 0, device: NARROW }), &case);
        let mut planned = Vec::new();
        for run in ["first", "second"] {
            let name = format!("{} {:?} {:?} {:?} {run}", case.name, case.shape, case.dtype, case.problem.kind);
            let plan = made.plan().unwrap();
            let [before, _] = made.charged();
            let done = made.run().unwrap();
            let [_, peak] = made.charged();
            assert_eq!((done.host_bytes, done.device_bytes), (plan.host_bytes, plan.device_bytes), "{name}");
            let used = Bytes { host: peak.host - before.host, device: peak.device - before.device };
            eprintln!("{name}: planned {} {}, used {used:?}", plan.host_bytes, plan.device_bytes);
            assert!(used.host <= plan.host_bytes && used.device <= plan.device_bytes, "{name}: {plan:?}, {used:?}");
            if case.is_close {
                let close = |used: usize, planned: usize| used as f64 >= 0.9 * planned as f64;
                assert!(close(used.host, plan.host_bytes), "{name}: {plan:?}, {used:?}");
                assert!(close(used.device, plan.device_bytes), "{name}: {plan:?}, {used:?}");
            }
            planned.push(plan.device_bytes);
        }
        let is_stored = !matches!(case.call, Call::Own | Call::OwnTriplets);
        let keeps = is_stored && matches!(c.backend(), Backend::Gpu(_));
        assert!(planned[1] < planned[0] || !keeps, "{}: {planned:?} with the matrix on the device", case.name);
    }
}

/// Where the planned bytes are available the run takes place. With one less on the host, plan and run are refused by the
/// same error, with one less on a device likewise, or both take place with less workspace.
pub(super) fn limits_are_promises(c: &Arc<Context>) {
    let limit = Bytes { host: 1 << 32, device: 1 << 32 };
    let on_device = matches!(c.backend(), Backend::Gpu(_));
    for case in cases() {
        let name = format!("{} {:?} {:?} {:?}", case.name, case.shape, case.dtype, case.problem.kind);
        // On a device each trial has a matrix that is not there yet.
        let fresh = |kept: Option<Made>| match kept {
            Some(made) if !on_device => made,
            _ => Made::new(&limited(c, limit), &case),
        };
        let leave = |made: &Made, (host, device): (usize, usize)| {
            let of = |budget: &Arc<Budget>, left: usize| budget.charge(budget.available() - left as u64).unwrap();
            let (on_host, on_device) = (made.context.host_budget(), made.context.device_budget());
            [Some(of(on_host, host)), on_device.limit().map(|_| of(on_device, device))]
        };
        let made = fresh(None);
        let plan = made.plan().unwrap();
        let (host, device) = (plan.host_bytes, plan.device_bytes);
        let mut trials = vec![(host - 1, 1 << 30), (host / 2, 1 << 30), (1 << 30, device.saturating_sub(1))];
        if on_device {
            // The fewest bytes of the device that a plan accepts where one less is refused.
            let (mut refused, mut accepted) = (1000, device);
            while accepted - refused > 1 {
                let middle = refused + (accepted - refused) / 2;
                let _ballast = leave(&made, (1 << 30, middle));
                if made.plan().is_ok() { accepted = middle } else { refused = middle }
            }
            trials.extend([(1 << 30, 1000), (1 << 30, refused), (1 << 30, accepted)]);
        }
        let mut kept = Some(made);
        for (host, device) in trials {
            let mut made = fresh(kept.take());
            let ballast = leave(&made, (host, device));
            match (made.plan(), made.run()) {
                (Err(plan), Err(run)) => {
                    assert_eq!(plan, run, "{name}");
                    assert!(plan.to_string().ends_with("limit of 4294967296 bytes"), "{name}: {plan}");
                }
                (Ok(_), Ok(_)) if device < 1 << 30 => {}
                other => panic!("{name}: {other:?}"),
            }
            drop(ballast);
            kept = Some(made);
        }
        let mut made = fresh(kept);
        let _ballast = leave(&made, (host, device));
        let again = made.plan().unwrap();
        let done = made.run().unwrap_or_else(|e| panic!("{name}: planned {plan:?}: {e}"));
        assert_eq!((done.host_bytes, done.device_bytes), (again.host_bytes, again.device_bytes), "{name}");
    }
}

/// Several contexts that share a matrix: each has a limit of its own.
#[test]
fn every_context_keeps_its_limit() {
    let case = &cases()[0];
    let free = |host: usize| limited(&cpu(2), Bytes { host, device: 0 });
    let contexts = [free(1 << 32), free(1 << 32)];
    let group = Group::new(contexts.to_vec()).unwrap();
    let a = matrix::<f64>(&contexts[0], case);
    let lanczos = Lanczos::over(&group, case.problem).unwrap();
    let count = case.problem.options.count;
    let c = &contexts[0];
    let mut vectors = Matrix::create(c, DType::F64, Location::Host, Order::ColumnMajor, case.shape.1, count).unwrap();
    let mut values = Tensor::create(c, DType::F64, Location::Host, Order::ColumnMajor, &[count]).unwrap();
    let plan = lanczos.plan(&a, Inputs::default()).unwrap();
    let before: Vec<u64> = contexts.iter().map(|c| c.host_budget().restart_peak()).collect();
    let mut run = || {
        let outputs = Outputs { values: &mut values, vectors: Some(&mut vectors), residuals: None };
        lanczos.solve(&a, Inputs::default(), outputs, None)
    };
    let done = run().unwrap();
    assert_eq!(done.host_bytes, plan.host_bytes);
    let used: Vec<usize> =
        contexts.iter().zip(before).map(|(c, before)| (c.host_budget().peak() - before) as usize).collect();
    let all: usize = used.iter().sum();
    assert!(all <= plan.host_bytes && all as f64 >= 0.9 * plan.host_bytes as f64, "{used:?} of {plan:?}");
    for (c, used) in contexts.iter().zip(used) {
        let leave = |left: usize| c.host_budget().charge(c.host_budget().available() - left as u64).unwrap();
        let ballast = leave(used / 2);
        let (plan, run) = (lanczos.plan(&a, Inputs::default()).unwrap_err(), run().unwrap_err());
        assert_eq!(plan, run);
        assert!(matches!(plan, Error::OutOfMemory { limit: Some(_), .. }), "{plan}");
        drop(ballast);
    }
}
