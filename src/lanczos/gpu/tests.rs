//! Results of the device against those of the host.

mod polled;

use std::sync::Arc;

use super::GpuKrylov;
use crate::backend::BackendChoice;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::kernels::spmv::Finish as DeviceFinish;
use crate::context::{self, Context};
use crate::group::Group;
use crate::lanczos::algorithm::cullum::recurrence;
use crate::lanczos::cpu::CpuKrylov;
use crate::lanczos::cycles::Cycles;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::ops::{Affine, LanczosOps, Space};
use crate::lanczos::shared::tests as shared;
use crate::lanczos::solve::{SolveInputs, Vectors, eigenpairs_to};
use crate::lanczos::tests::inputs::{edges, symmetric};
use crate::lanczos::tests::orders;
use crate::lanczos::{Filter, Method, Options, Orthogonalization, Pairs, Verify, Which, eigenpairs, eigenpairs_over};
use crate::matrix::sparse::Ordering;
use crate::matrix::{Enqueue, Enqueued, Matrix};
use crate::progress::Progress;
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::shape::Order;
use crate::spmv::{self, Plan};
use crate::tensor::Location;
use crate::testing::sparse::{all_on_device, cpu, from_entries, golden, recorded};

fn gpu() -> Arc<Context> {
    Context::new(context::Options { backend: BackendChoice::Cuda, ..context::Options::default() }).unwrap()
}

fn graph<T: Scalar>(c: &Arc<Context>, n: usize) -> Matrix {
    let weight = |k: usize| T::from_parts(0.1 + (k * 7 % 11) as f64, if k.is_multiple_of(3) { 0.5 } else { -0.25 });
    let mut list: Vec<_> = (0..4 * n).map(|k| (k % n, (k * k + k / n + 1) % n, weight(k))).collect();
    list.retain(|(i, j, _)| i < j);
    symmetric(c, n, &list)
}

fn near<T: Scalar>(a: &[T], b: &[T], limit: f64, what: &str) {
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let off = (a.re() - b.re()).hypot(a.im() - b.im());
        assert!(off <= limit, "{what}: element {i}: {a:?} and {b:?}");
    }
}

/// Every operation on both backends, on the same columns.
fn operations<T: Scalar>(n: usize) {
    let (on_gpu, on_cpu) = (gpu(), cpu(2));
    let (a, b) = (graph::<T>(&on_gpu, n), graph::<T>(&on_cpu, n));
    let mut op_a = Symmetric::<T>::new(&on_gpu, &a, Kind::Matrix, 0.25).unwrap();
    let mut op_b = Symmetric::<T>::new(&on_cpu, &b, Kind::Matrix, 0.25).unwrap();
    let mut device = GpuKrylov::new(&on_gpu, &mut op_a, None, 20).unwrap();
    let mut host = CpuKrylov::new(&on_cpu, &mut op_b, None, 20).unwrap();
    let eps = T::Part::EPSILON.to_f64();
    let column = |k: &mut dyn FnMut(&mut [T])| {
        let mut v = vec![T::default(); n];
        k(&mut v);
        v
    };
    for j in 0..8 {
        device.random(5, j, j as usize).unwrap();
        host.random(5, j, j as usize).unwrap();
        let got = column(&mut |v| device.read(j as usize, v).unwrap());
        assert_eq!(got, column(&mut |v| host.read(j as usize, v).unwrap()), "random numbers");
    }
    for j in 0..8 {
        let (d, h) = (device.orthogonalize(j, j).unwrap(), host.orthogonalize(j, j).unwrap());
        let limit = 1e3 * eps * (n as f64).sqrt();
        assert!((d.along - h.along).abs() < limit && (d.before - h.before).abs() < limit, "{d:?} {h:?}");
        assert!((d.after - h.after).abs() < limit, "{d:?} {h:?}");
        device.scale(j, 1.0 / d.after).unwrap();
        host.scale(j, 1.0 / d.after).unwrap();
    }
    let gram = device.gram(0, 8).unwrap();
    for (k, g) in gram.iter().enumerate() {
        let want = if k / 8 == k % 8 { 1.0 } else { 0.0 };
        assert!((g.re() - want).hypot(g.im()) < 100.0 * eps, "{k}: {g:?}");
    }
    let step = Affine { scale: -0.5, center: 1.5, keep: 2.0 };
    let norm = 100.0;
    let check = |device: &mut GpuKrylov<'_, T>, host: &mut CpuKrylov<'_, '_, '_, T>, j: usize, what: &str| {
        let got = column(&mut |v| device.read(j, v).unwrap());
        near(&got, &column(&mut |v| host.read(j, v).unwrap()), 1e3 * eps * norm, what);
    };
    device.affine(step, 0, 1).unwrap();
    host.affine(step, 0, 1).unwrap();
    check(&mut device, &mut host, 1, "affine");
    let weights = [0.5, -2.0, 0.0];
    device.spread(0, &weights, 3, true).unwrap();
    host.spread(0, &weights, 3, true).unwrap();
    (3..6).for_each(|j| check(&mut device, &mut host, j, "spread"));
    let (d, h) = (device.three_term(Some((6, 0.3)), 7, 6).unwrap(), host.three_term(Some((6, 0.3)), 7, 6).unwrap());
    assert!((d.0 - h.0).abs() + (d.1 - h.1).abs() < 1e3 * eps * norm, "{d:?} {h:?}");
    check(&mut device, &mut host, 6, "three terms");
    let turn: Vec<T::Wide> =
        (0..12).map(|k| <T::Wide as Scalar>::from_parts(0.1 * f64::from(k), 0.3 - 0.1 * f64::from(k % 4))).collect();
    device.rotate(2, 4, &turn, 3).unwrap();
    host.rotate(2, 4, &turn, 3).unwrap();
    (2..5).for_each(|j| check(&mut device, &mut host, j, "turned"));
    let mut h_d = vec![<T::Wide as Scalar>::from_parts(0.0, 0.0); 6];
    let mut h_h = h_d.clone();
    let rest_d = device.project(0, 3, 4, 2, &mut h_d).unwrap();
    let rest_h = host.project(0, 3, 4, 2, &mut h_h).unwrap();
    near(&h_d, &h_h, 1e4 * eps * norm, "coefficients");
    near(&rest_d, &rest_h, 1e4 * eps * norm, "norms");
    check(&mut device, &mut host, 4, "projected");
    let (d, h) = (device.distance(4, 0.7, 0).unwrap(), host.distance(4, 0.7, 0).unwrap());
    assert!((d - h).abs() < 1e4 * eps * norm, "{d} {h}");
    // Steps of a cycle, which do not wait.
    let space = Space { locked: 0, norm: 0.0, epsilon: eps };
    device.orthogonalize(0, 0).unwrap();
    let again = device.extend(space, (0, 10), &mut || Ok(())).unwrap();
    let basis = device.gram(0, 11).unwrap();
    assert_eq!(again.len(), 10);
    for (k, g) in basis.iter().enumerate().filter(|(k, _)| k % 11 > 0 && k / 11 > 0) {
        let want = if k / 11 == k % 11 { 1.0 } else { 0.0 };
        assert!((g.re() - want).hypot(g.im()) < 1e3 * eps, "{k}: {g:?}");
    }
    // The same bits again, from the fourth run on by a graph.
    let first = column(&mut |v| device.read(10, v).unwrap());
    for run in 2..7 {
        assert_eq!(device.extend(space, (0, 10), &mut || Ok(())).unwrap(), again, "run {run}");
        assert_eq!(first, column(&mut |v| device.read(10, v).unwrap()), "run {run}");
    }
    // The plain recurrence, and a combination of its vectors.
    let combined = [vec![0.5, -1.0, 2.0], vec![1.0, 0.0, 0.0, -3.0]];
    device.random(5, 3, 5).unwrap();
    host.random(5, 3, 5).unwrap();
    let start = device.orthogonalize(0, 5).unwrap().after;
    device.scale(5, 1.0 / start).unwrap();
    host.scale(5, 1.0 / start).unwrap();
    let d = recurrence(&mut device, 5, 6, eps, Some(&combined), &mut |_| Ok(())).unwrap();
    let h = recurrence(&mut host, 5, 6, eps, Some(&combined), &mut |_| Ok(())).unwrap();
    near(&d.alpha, &h.alpha, 1e4 * eps * norm, "alpha");
    near(&d.beta, &h.beta, 1e4 * eps * norm, "beta");
    (0..2).for_each(|j| check(&mut device, &mut host, j, "combined"));
}

#[test]
#[ignore = "needs a GPU"]
fn operations_are_those_of_the_host() {
    for n in [20, 511, 512, 513, 5000, 200_003] {
        operations::<f64>(n);
    }
    for n in [33, 1025] {
        operations::<f32>(n);
        operations::<Complex<f64>>(n);
        operations::<Complex<f32>>(n);
    }
}

/// Products of a block of vectors against products of each vector.
fn blocks<T: Scalar>(n: usize, kind: Kind) {
    let c = gpu();
    let a = graph::<T>(&c, n);
    let mut operator = Symmetric::<T>::new(&c, &a, kind, 0.25).unwrap();
    let mut device = GpuKrylov::new(&c, &mut operator, None, 12).unwrap();
    let order = device.order();
    (0..12).for_each(|j| device.random(3, j, j as usize).unwrap());
    device.apply_block(0, 5, 5).unwrap();
    let (mut want, mut found) = (vec![T::default(); order], vec![T::default(); order]);
    for j in 0..5 {
        device.apply(j, 11).unwrap();
        device.read(11, &mut want).unwrap();
        device.read(5 + j, &mut found).unwrap();
        let largest = want.iter().map(|v| v.re().hypot(v.im())).fold(1.0, f64::max);
        near(&found, &want, 100.0 * T::Part::EPSILON.to_f64() * largest, &format!("{kind:?}, n = {n}, column {j}"));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn products_of_blocks_are_those_of_vectors() {
    for kind in Kind::HERMITIAN {
        blocks::<f64>(701, kind);
        blocks::<f32>(33, kind);
    }
    blocks::<Complex<f64>>(1025, Kind::Matrix);
    blocks::<Complex<f32>>(64, Kind::Matrix);
}

fn solved<T: Scalar>(c: &Arc<Context>, a: &Matrix, kind: Kind, options: &Options) -> Pairs<T> {
    let mut operator = Symmetric::<T>::new(c, a, kind, 0.0).unwrap();
    eigenpairs(c, &mut operator, options, &SolveInputs::default(), &Progress::none()).unwrap()
}

#[test]
#[ignore = "needs a GPU"]
fn graphs_have_the_recorded_eigenvalues() {
    let c = gpu();
    for name in ["as-caida20071105", "ca-AstroPh-cc", "email-Enron"] {
        let a = golden(&c, name);
        let options = Options { count: 10, ..Options::default() };
        let pairs = solved::<f64>(&c, &a, Kind::Matrix, &options);
        assert_eq!(pairs.info.converged, 10, "{name}");
        near(&pairs.values, &recorded(name, "A_LA")[..10], 1e-10 * pairs.info.norm, name);
        assert!(pairs.residuals.iter().all(|r| *r <= 2e-10 * pairs.info.norm), "{name}: {:?}", pairs.residuals);
        let again = solved::<f64>(&c, &a, Kind::Matrix, &options);
        assert!(pairs.vectors == again.vectors, "{name}: other bits");
        for other in [
            Options { block: 4, ..options },
            Options { orthogonalization: Orthogonalization::Partial, basis: 40, ..options },
            Options { method: Method::Plain, basis: 200, ..options },
        ] {
            let pairs = solved::<f64>(&c, &a, Kind::Matrix, &other);
            near(&pairs.values, &recorded(name, "A_LA")[..10], 1e-10 * pairs.info.norm, name);
        }
    }
    let a = golden(&c, "as-caida20071105");
    let s = recorded("as-caida20071105", "N_LA_largest_cc");
    let eight = Options { count: 8, ..Options::default() };
    near(&solved::<f64>(&c, &a, Kind::NormalizedAdjacency, &eight).values, &s[..8], 1e-10, "S");
    let l = recorded("as-caida20071105", "L_LA");
    near(&solved::<f64>(&c, &a, Kind::Laplacian, &eight).values, &l[..8], 1e-9 * 2629.0, "L");
    let mesh = golden(&c, "4elt");
    let filtered = Options { count: 4, filter: Filter::Chebyshev, which: Which::Smallest, tolerance: 1e-9, ..eight };
    for kind in [Kind::NormalizedLaplacian, Kind::Laplacian] {
        let key = if kind == Kind::Laplacian { "L_SA" } else { "Nlap_SA" };
        near(&solved::<f64>(&c, &mesh, kind, &filtered).values, &recorded("4elt", key)[..4], 1e-11, key);
    }
}

/// Pairs of vertices beside a large graph: their bound is that of their values, which are on the device.
#[test]
#[ignore = "needs a GPU"]
fn copies_in_other_components_are_found() {
    let c = gpu();
    for (heavy, recovered) in [(1.0, 0), (50.0, 1)] {
        let mut list: Vec<_> = (0..600).map(|i| (i, (i * i + 1) % 600, 3.0)).filter(|(i, j, _)| i < j).collect();
        list.extend((1..600).map(|i| (0, i, 1.0)));
        // The second pair has the value of the first.
        list.extend([(600, 601, heavy), (602, 603, heavy)]);
        let a = all_on_device::<f64>(&c, &symmetric(&c, 604, &list));
        let of = |verify| Options { count: 2, verify, ..Options::default() };
        let [auto, off] = [Verify::Auto, Verify::Off].map(|v| solved::<f64>(&c, &a, Kind::Matrix, &of(v)));
        if recovered == 0 {
            assert!(auto.info.verified && auto.info.recovered == 0 && !off.info.verified);
            near(&auto.values, &off.values, 1e-12, "light pairs");
        } else {
            assert!(auto.info.products > off.info.products);
            near(&auto.values, &[50.0; 2], 1e-9, "heavy pairs");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn copies_are_found_and_operators_are_the_hosts() {
    let (on_gpu, on_cpu) = (gpu(), cpu(2));
    let list =
        edges((0..1024).flat_map(|v| (0..10).filter(move |b| v & (1 << b) != 0).map(move |b| (v, v ^ (1 << b)))));
    let cube = symmetric(&on_gpu, 1024, &list);
    let mut want = vec![10.0];
    want.extend([8.0; 10]);
    want.push(6.0);
    let pairs = solved::<f64>(&on_gpu, &cube, Kind::Matrix, &Options { count: 12, basis: 40, ..Options::default() });
    near(&pairs.values, &want, 1e-9 * 10.0, "Q10");
    for kind in Kind::HERMITIAN {
        let options = Options { count: 3, verify: Verify::Off, ..Options::default() };
        let real = |c: &Arc<Context>| solved::<f64>(c, &graph::<f64>(c, 700), kind, &options);
        let (d, h) = (real(&on_gpu), real(&on_cpu));
        near(&d.values, &h.values, 1e-9 * h.info.norm, &format!("{kind:?}"));
        near(&d.residuals, &h.residuals, 1e-9 * h.info.norm, &format!("{kind:?}"));
        let by_blocks = solved::<f64>(&on_gpu, &graph::<f64>(&on_gpu, 700), kind, &Options { block: 3, ..options });
        near(&by_blocks.values, &h.values, 1e-9 * h.info.norm, &format!("{kind:?} by blocks"));
    }
    let complex = |c: &Arc<Context>| {
        let a = graph::<Complex<f64>>(c, 700);
        solved::<Complex<f64>>(c, &a, Kind::Matrix, &Options { count: 5, ..Options::default() })
    };
    let (d, h) = (complex(&on_gpu), complex(&on_cpu));
    near(&d.values, &h.values, 1e-9 * h.info.norm, "complex");
    let identity = symmetric(&on_gpu, 300, &(0..300).map(|i| (i, i, 1.0)).collect::<Vec<_>>());
    near(&solved::<f64>(&on_gpu, &identity, Kind::Matrix, &Options::default()).values, &[1.0; 6], 1e-13, "identity");
    let zero = symmetric::<f64>(&on_gpu, 300, &[]);
    near(&solved::<f64>(&on_gpu, &zero, Kind::Matrix, &Options::default()).values, &[0.0; 6], 0.0, "zero");
}

/// Eigenpairs of matrices on the device, the vectors there too, against those of the same matrix on the host.
fn stays<T: Scalar>(n: usize) {
    let c = gpu();
    let a = graph::<T>(&c, n);
    let there = all_on_device::<T>(&c, &a);
    let single = T::Part::EPSILON.to_f64() > 1e-10;
    for orthogonalization in [Orthogonalization::Full, Orthogonalization::Partial] {
        let options = Options { count: 5, orthogonalization, ..Options::default() };
        let host = solved::<T>(&c, &a, Kind::Matrix, &options);
        let mut vectors = Matrix::create(&c, T::DTYPE, Location::Device, Order::ColumnMajor, n, 5).unwrap();
        let mut operator = Symmetric::<T>::new(&c, &there, Kind::Matrix, 0.0).unwrap();
        let place = Vectors::Device(vectors.dense_mut("vectors").unwrap());
        let given = SolveInputs::default();
        let pairs = eigenpairs_to(&c, &mut operator, &options, &given, &Progress::none(), place).unwrap();
        let (limit, norm) = (if single { 1e-4 } else { 1e-10 }, pairs.info.norm);
        assert_eq!(pairs.values, host.values, "{orthogonalization:?}");
        assert!(pairs.vectors.is_empty());
        assert!(pairs.residuals.iter().all(|r| *r <= limit * norm), "{orthogonalization:?}: {:?}", pairs.residuals);
        let mut read = vec![T::default(); 5 * n];
        let stored = vectors.dense("vectors").unwrap().memory.device("vectors").unwrap();
        let gpu = c.gpu("test").unwrap();
        gpu.download_numbers(gpu.default_stream(), stored, &mut read).unwrap();
        assert!(read == host.vectors, "{orthogonalization:?}: other vectors");
        for (x, &value) in read.chunks_exact(n).zip(&pairs.values) {
            let length: f64 = x.iter().map(|v| v.re() * v.re() + v.im() * v.im()).sum();
            assert!((length.sqrt() - 1.0).abs() < limit, "{length}");
            let size = |v: &T| v.re().hypot(v.im());
            let most = x.iter().map(size).fold(0.0, f64::max);
            let first = x.iter().find(|v| size(v) >= most * (1.0 - 8.0 * T::Part::EPSILON.to_f64())).unwrap();
            assert!(first.re() > 0.0 && first.im().abs() <= 1e-6 * most, "{value}: {first:?}");
        }
        // A second call finds the plan there, and the same bits.
        let mut operator = Symmetric::<T>::new(&c, &there, Kind::Matrix, 0.0).unwrap();
        let again = eigenpairs_to(&c, &mut operator, &options, &given, &Progress::none(), Vectors::Left).unwrap();
        assert!(again.values == pairs.values && again.residuals == pairs.residuals && again.vectors.is_empty());
    }
}

#[test]
#[ignore = "needs a GPU"]
fn matrices_and_vectors_stay_on_the_device() {
    stays::<f64>(3000);
    stays::<f32>(3000);
    stays::<Complex<f64>>(2000);
    stays::<Complex<f32>>(2000);
    stays::<f64>(150_001);
}

#[test]
#[ignore = "needs a GPU"]
fn another_order_changes_nothing_but_rounding() {
    let c = gpu();
    let a = golden(&c, "as-caida20071105");
    let options = Options { count: 4, ..Options::default() };
    let kinds = [Kind::Matrix, Kind::Laplacian, Kind::NormalizedAdjacency, Kind::Modularity];
    orders::check::<f64>(&c, &a, &kinds, &options);
    orders::check::<f64>(
        &c,
        &a,
        &[Kind::Matrix],
        &Options { orthogonalization: Orthogonalization::Partial, ..options },
    );
    orders::check::<f64>(&c, &a, &[Kind::Matrix], &Options { method: Method::Plain, basis: 100, ..options });
    orders::check::<f32>(&c, &graph::<f32>(&c, 3000), &[Kind::Matrix], &Options { count: 2, ..options });
    // Arrays and vectors on the device, twice: the plan is cached with the matrix and uses its new values.
    let there = all_on_device::<f64>(&c, &a);
    let n = a.rows();
    let solve = |a: &Matrix, order| {
        let mut vectors = Matrix::create(&c, DType::F64, Location::Device, Order::ColumnMajor, n, 4).unwrap();
        let mut operator = Symmetric::<f64>::in_order(&c, a, Kind::Laplacian, 0.0, order).unwrap();
        let place = Vectors::Device(vectors.dense_mut("vectors").unwrap());
        let pairs =
            eigenpairs_to(&c, &mut operator, &options, &SolveInputs::default(), &Progress::none(), place).unwrap();
        let gpu = c.gpu("test").unwrap();
        let mut read = vec![0.0; 4 * n];
        let stored = vectors.dense("vectors").unwrap().memory.device("vectors").unwrap();
        gpu.download_numbers(gpu.default_stream(), stored, &mut read).unwrap();
        (pairs.values, read)
    };
    let (values, vectors) = solve(&a, None);
    for _ in 0..2 {
        let (found, turned) = solve(&there, Some(Ordering::Degree));
        near(&found, &values, 1e-9 * values[0], "values");
        near(&turned, &vectors, 1e-6, "vectors");
    }
}

/// `count` contexts, on all GPUs in turn.
fn several(count: usize) -> Vec<Arc<Context>> {
    let devices = Gpu::device_count().unwrap();
    let on = |device| context::Options { backend: BackendChoice::Cuda, device, ..context::Options::default() };
    (0..devices).cycle().take(count).map(|device| Context::new(on(device)).unwrap()).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn several_contexts_find_what_one_finds() {
    // Also on one GPU, where transfers stay on the device.
    shared::everything(&[gpu(), gpu()]);
    shared::everything(&several(2));
    shared::everything(&several(3));
}

/// Results of several contexts for a matrix on the device, with vectors there too.
fn shares<T: Scalar>(contexts: &[Arc<Context>]) {
    let c = &contexts[0];
    let a = shared::web::<T>(c);
    let (there, n) = (all_on_device::<T>(c, &a), a.rows());
    let options = Options { count: 3, ..Options::default() };
    let host = shared::over::<T>(contexts, &a, Kind::Matrix, &options, &SolveInputs::default()).unwrap();
    let mut vectors = Matrix::create(c, T::DTYPE, Location::Device, Order::ColumnMajor, n, 3).unwrap();
    let place = Vectors::Device(vectors.dense_mut("vectors").unwrap());
    let (given, none) = (SolveInputs::default(), Progress::none());
    let (what, group) = ((Kind::Matrix, 0.25), Group::new(contexts.to_vec()).unwrap());
    let found = eigenpairs_over::<T>(&group, &there, what, &options, &given, &none, place).unwrap();
    assert_eq!(found.values, host.values);
    let mut read = vec![T::default(); 3 * n];
    let stored = vectors.dense("vectors").unwrap().memory.device("vectors").unwrap();
    let gpu = c.gpu("test").unwrap();
    gpu.download_numbers(gpu.default_stream(), stored, &mut read).unwrap();
    assert!(read == host.vectors, "other vectors");
}

#[test]
#[ignore = "needs a GPU"]
fn several_contexts_share_matrices_on_the_device() {
    for contexts in [vec![gpu(), gpu()], several(2)] {
        shares::<f64>(&contexts);
        shares::<Complex<f32>>(&contexts);
    }
    // The symmetry of a matrix on the device is tested by products there.
    let contexts = several(2);
    let mut list: Vec<_> = (0..3000).map(|i| (i, (i + 1) % 3000, 1.0)).collect();
    list.extend((0..3000).map(|i| ((i + 1) % 3000, i, 1.0 + f64::from(i == 1234))));
    let there = all_on_device::<f64>(&contexts[0], &from_entries(&contexts[0], (3000, 3000), &list));
    let e =
        shared::over::<f64>(&contexts, &there, Kind::Matrix, &Options::default(), &SolveInputs::default()).unwrap_err();
    assert!(e.to_string().contains("not symmetric"), "{e}");
    // Contexts on other kinds of device.
    let mixed = [gpu(), cpu(1)];
    let a = shared::web::<f64>(&mixed[0]);
    let e = shared::over::<f64>(&mixed, &a, Kind::Matrix, &Options::default(), &SolveInputs::default()).unwrap_err();
    assert!(e.to_string().contains("contexts[1]: is on the CPU"), "{e}");
}

#[test]
#[ignore = "needs a GPU"]
fn watched_spaces_are_orthogonal_to_the_root_of_the_roundoff() {
    let c = gpu();
    let a = golden(&c, "ca-AstroPh-cc");
    let mut operator = Symmetric::<f64>::new(&c, &a, Kind::Matrix, 0.0).unwrap();
    let mut krylov = GpuKrylov::new(&c, &mut operator, None, 62).unwrap();
    let m = 60;
    let space = Space { locked: 0, norm: 0.0, epsilon: f64::EPSILON };
    let mut found = Vec::new();
    for watched in [false, true] {
        krylov.random(9, 0, 0).unwrap();
        let first = krylov.orthogonalize(0, 0).unwrap();
        krylov.scale(0, 1.0 / first.after).unwrap();
        let t = vec![0.0; m * m];
        let steps = match watched {
            true => krylov.extend_watched(space, (0, m), &t, &mut || Ok(())).unwrap().unwrap(),
            false => krylov.extend(space, (0, m), &mut || Ok(())).unwrap(),
        };
        let gram = krylov.gram(0, m).unwrap();
        let far = |k: usize, g: f64| if k / m == k % m { g - 1.0 } else { g };
        let worst = gram.iter().enumerate().map(|(k, g)| far(k, *g).abs()).fold(0.0, f64::max);
        // Full orthogonality: a few roundoffs. Partial: a larger loss, within the bound of the estimate; otherwise the
        // estimate was not used.
        assert!(if watched { worst > 1e-13 && worst < 1e-7 } else { worst < 1e-13 }, "{watched}: {worst}");
        found.push(steps);
    }
    for (j, (a, b)) in found[0].iter().zip(&found[1]).enumerate() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * 100.0;
        assert!(j > 20 || (near(a.along, b.along) && near(a.after, b.after)), "step {j}: {a:?} {b:?}");
    }
}

/// A matrix known by enqueued products: those of a plan, times `factor`.
fn enqueued<T: Scalar>(c: &Arc<Context>, n: usize, factor: f64) -> Matrix {
    let (a, device) = (graph::<T>(c, n), c.gpu("test").unwrap().clone());
    let plan = Plan::new(c, &a, spmv::Options::default()).unwrap();
    let own = device.clone();
    let multiply = move |asked: Enqueue| {
        let stream = own.wrap_stream(asked.stream)?;
        let space = plan.device_space(&stream)?;
        for j in 0..asked.count {
            let vector = |from: u64| own.borrow("x", from + (j * n * size_of::<T>()) as u64, n * size_of::<T>(), None);
            let (x, y) = (vector(asked.x)?, vector(asked.y)?);
            let made = DeviceFinish::plain(y.whole(), Complex::new(factor, 0.0), Complex::new(0.0, 0.0));
            plan.multiply_device(&a, &stream, &space, x.whole(), &made)?;
        }
        Ok(())
    };
    Matrix::from_operator::<T>(c, Box::new(Enqueued::<T, _>::new(&device, (n, n), multiply)))
}

fn by_enqueued_products<T: Scalar>() {
    let (c, n) = (gpu(), 700);
    let stored = graph::<T>(&c, n);
    let unformed = enqueued::<T>(&c, n, 1.0);
    let eps = T::Part::EPSILON.to_f64();
    let run = |a: &Matrix, shift: f64, options: &Options| {
        let mut operator = Symmetric::<T>::new(&c, a, Kind::Matrix, shift).unwrap();
        eigenpairs(&c, &mut operator, options, &SolveInputs::default(), &Progress::none()).unwrap()
    };
    let plain = Options { tolerance: 1e3 * eps, ..Options::default() };
    for (shift, options) in [(0.0, plain), (-3.0, plain), (1.0, Options { block: 3, ..plain })] {
        let (want, got) = (run(&stored, shift, &options), run(&unformed, shift, &options));
        near(&got.values, &want.values, 1e4 * eps, &format!("{:?} by enqueued products", T::DTYPE));
        assert!(got.residuals.iter().all(|r| *r < 1e5 * eps), "{:?}", got.residuals);
    }
    // The same with host vectors; with a factor of -2, by its own products.
    let mut operator = Symmetric::<T>::new(&c, &unformed, Kind::Matrix, 0.0).unwrap();
    let twice = enqueued::<T>(&c, n, -2.0);
    let mut other = Symmetric::<T>::new(&c, &twice, Kind::Matrix, 0.0).unwrap();
    let x: Vec<T> = (0..2 * n).map(|i| T::from_parts((i * i % 17) as f64 - 8.0, (i % 3) as f64)).collect();
    let (mut y, mut z) = (vec![T::from_parts(f64::NAN, 0.0); 2 * n], vec![T::from_parts(f64::NAN, 0.0); 2 * n]);
    operator.apply_block(&x, 2, &mut y).unwrap();
    other.apply_block(&x, 2, &mut z).unwrap();
    y.iter_mut().for_each(|y| *y = T::from_parts(-2.0, 0.0) * *y);
    near(&z, &y, 1e4 * eps, "products of host vectors");
}

#[test]
#[ignore = "needs a GPU"]
fn products_that_callers_enqueue_are_as_good_as_stored_matrices() {
    by_enqueued_products::<f64>();
    by_enqueued_products::<f32>();
    by_enqueued_products::<Complex<f64>>();
    by_enqueued_products::<Complex<f32>>();
}

#[test]
#[ignore = "needs a GPU"]
fn cycles_that_repeat_are_recorded_and_give_the_same_bits() {
    let c = gpu();
    let a = golden(&c, "ca-AstroPh-cc");
    for kind in [Kind::Matrix, Kind::NormalizedLaplacian] {
        let mut operator = Symmetric::<f64>::new(&c, &a, kind, 0.0).unwrap();
        let mut krylov = GpuKrylov::new(&c, &mut operator, None, 42).unwrap();
        let space = Space { locked: 0, norm: 0.0, epsilon: f64::EPSILON };
        let mut first = None;
        for round in 0..7 {
            krylov.random(9, 0, 0).unwrap();
            let norm = krylov.orthogonalize(0, 0).unwrap().after;
            krylov.scale(0, 1.0 / norm).unwrap();
            let steps = krylov.extend(space, (0, 40), &mut || Ok(())).unwrap();
            let numbers: Vec<_> = steps.iter().map(|s| [s.along, s.before, s.after].map(f64::to_bits)).collect();
            let mut last = vec![0.0; krylov.order()];
            krylov.read(40, &mut last).unwrap();
            assert_eq!(krylov.is_recorded(), round >= 3, "{kind:?}, cycle {round}");
            let wanted = first.get_or_insert_with(|| (numbers.clone(), last.clone()));
            assert!(*wanted == (numbers, last), "{kind:?}, cycle {round}: other bits");
        }
    }
}
