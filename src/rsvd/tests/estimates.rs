//! Tolerances, Hermitian matrices, bases and errors.

use super::support::{
    Dense, PACKED, adjoint, blank, cpu, disorder, factor, golden_numbers, held, leading, matrix, numbers, orthonormal,
    read_npy, residual, vector, with_spectrum,
};
use crate::dense::sketch::Distribution;
use crate::error::Error;
use crate::rsvd::options::{ErrorKind, Method, Right};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};
use crate::tensor::Tensor;

#[test]
fn a_tolerance_is_met_with_few_vectors_more_than_needed() {
    let context = cpu();
    for name in ["geo_200x120", "poly_150x150", "wide_60x200"] {
        let a = read_npy::<f64>(&format!("{name}.npy"));
        let golden = golden_numbers(name, "singular_values");
        for tolerance in [1e-1, 1e-2, 1e-4, 1e-6] {
            let options = Options { tolerance, block_columns: 8, ..Options::default() };
            let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
            let rank = usize::try_from(f.info.rank).unwrap();
            let error = residual(&a, &f.u, &f.s, &f.v) / a.norm();
            assert!(error <= tolerance * (1.0 + 1e-6) && f.info.converged, "{name} {tolerance}: {error}");
            let allowed = tolerance * a.norm();
            let tail = |k: usize| golden[k..].iter().map(|s| s * s).sum::<f64>().sqrt();
            let least = (0..golden.len()).find(|k| tail(*k) <= allowed).unwrap_or(golden.len());
            assert!(rank <= least + 8, "{name} {tolerance}: {rank} for {least}");
            assert!(disorder(&leading(&f.u, rank)) < 1e-13 && disorder(&leading(&f.v, rank)) < 1e-13);
            assert!(f.s[rank..].iter().all(|s| *s == 0.0));
            assert!(f.u.data[rank * a.rows..].iter().chain(&f.v.data[rank * a.columns..]).all(|x| *x == 0.0));
        }
    }
}

/// Below the tolerance that the difference of the squares resolves, the estimate that replaces it has to be safe.
fn small_tolerance<T: Scalar>(tolerance: f64, rounding: f64) {
    let context = cpu();
    let s: Vec<f64> = (0..97).map(|j| 10f64.powf(-f64::from(j) / 8.0)).collect();
    let a = with_spectrum::<T>(&context, 200, 97, &s, 3);
    let tail = |k: usize| s[k..].iter().map(|s| s * s).sum::<f64>().sqrt();
    let least = (0..s.len()).find(|k| tail(*k) <= tolerance * tail(0)).unwrap();
    for seed in 0..12 {
        let options = Options { tolerance, seed, ..Options::default() };
        let f = factor::<T>(&context, &matrix(&context, &a, PACKED), options).unwrap();
        let rank = usize::try_from(f.info.rank).unwrap();
        let error = residual(&a, &f.u, &f.s, &f.v) / a.norm();
        assert!(f.info.converged, "{tolerance} {seed}: {error} {}", f.info.reason);
        assert!(error <= tolerance * 1.001 + rounding, "{tolerance} {seed}: {error} of rank {rank}");
        assert!(rank <= least + 12, "{tolerance} {seed}: {rank} for {least}");
    }
}

#[test]
fn a_tolerance_that_the_difference_of_squares_does_not_resolve_is_met() {
    small_tolerance::<f32>(1e-4, 1e-6);
    small_tolerance::<Complex<f32>>(1e-3, 1e-6);
    small_tolerance::<Complex<f32>>(1e-4, 1e-6);
    small_tolerance::<f64>(1e-9, 1e-14);
    small_tolerance::<Complex<f64>>(1e-10, 1e-14);
}

#[test]
fn a_tolerance_stops_at_the_largest_rank_and_says_so() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("poly_150x150.npy"), PACKED);
    let options = Options { tolerance: 1e-3, max_rank: 20, ..Options::default() };
    let info = factor::<f64>(&context, &a, options).unwrap().info;
    assert_eq!((info.rank, info.converged), (20, false));
}

#[test]
fn a_tolerance_ends_where_there_is_no_more() {
    let context = cpu();
    // Of exact rank 7: one more block would be rounding errors, which orthogonalized once spoil everything.
    let a = read_npy::<f64>("rank7_120x90.npy");
    let options = Options { tolerance: 1e-6, block_columns: 4, ..Options::default() };
    let f = factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
    assert_eq!((f.info.rank, f.info.converged), (7, true), "{}", f.info.reason);
    assert!(residual(&a, &f.u, &f.s, &f.v) < 1e-12);
    let zeros = Dense { rows: 100, columns: 40, data: vec![0.0f64; 4000] };
    let f = factor::<f64>(
        &context,
        &matrix(&context, &zeros, PACKED),
        Options { tolerance: 1e-3, max_rank: 5, ..Options::default() },
    )
    .unwrap();
    assert_eq!((f.info.rank, f.info.converged), (0, true));
}

/// U diag(s) U^H with random orthonormal U.
fn hermitian<T: Scalar>(n: usize, s: &[f64]) -> Dense<T> {
    let u = orthonormal::<T>(&cpu(), n, s.len(), 5);
    let mut data = vec![T::default(); n * n];
    for j in 0..n {
        for i in 0..n {
            let (mut re, mut im) = (0.0, 0.0);
            for (k, s) in s.iter().enumerate() {
                let (x, y) = (u.at(i, k), u.at(j, k));
                re += s * (x.re() * y.re() + x.im() * y.im());
                im += s * (x.im() * y.re() - x.re() * y.im());
            }
            data[j * n + i] = T::from_parts(re, im);
        }
    }
    Dense { rows: n, columns: n, data }
}

fn eigenpairs<T: Scalar>(a: &Dense<T>, options: Options) -> Result<(Vec<f64>, Dense<T>, crate::rsvd::Info), Error> {
    let context = cpu();
    let m = matrix(&context, a, PACKED);
    let k = options.rank;
    let mut rsvd = Rsvd::new(&context, options)?;
    let (mut lambda, mut v) = (vector(&context, k), blank::<T>(&context, a.rows, k));
    let info = rsvd.symmetric(None, &m, Some(&mut lambda), Some(&mut v), None)?;
    Ok((numbers(&lambda), held(&v), info))
}

fn semidefinite<T: Scalar>() {
    let s: Vec<f64> = (0..60).map(|j| 0.7f64.powi(j)).collect();
    let a = hermitian::<T>(90, &s);
    for method in [Method::Auto, Method::Nystrom, Method::Rayleigh] {
        let options = Options { rank: 8, method, error: ErrorKind::Probes, ..Options::default() };
        let (lambda, v, info) = eigenpairs(&a, options).unwrap();
        for (x, y) in lambda.iter().zip(&s) {
            assert!((x - y).abs() < 1e-8, "{method:?}: {x} {y}");
        }
        assert!(disorder(&v) < 1e-13);
        let error = residual(&a, &v, &lambda, &v);
        let best = s[8..].iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(error < 1.001 * best, "{method:?}");
        assert!((0.6..1.6).contains(&(info.error_frobenius / error)), "{method:?}");
        assert_eq!(info.passes, 4, "{method:?}: q + 1 and the probes' one");
    }
}

#[test]
fn eigenpairs_of_semidefinite_matrices() {
    semidefinite::<f64>();
    semidefinite::<Complex<f64>>();
}

#[test]
fn eigenpairs_of_indefinite_matrices_come_by_modulus() {
    let s: Vec<f64> = (0..40).map(|j| 0.7f64.powi(j) * if j % 3 == 1 { -1.0 } else { 1.0 }).collect();
    let a = hermitian::<Complex<f64>>(70, &s);
    let options = Options { rank: 6, power_iterations: Some(4), ..Options::default() };
    let (lambda, v, _) = eigenpairs(&a, options.clone()).unwrap();
    for (x, y) in lambda.iter().zip(&s) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
    assert!(disorder(&v) < 1e-13);
    let e = eigenpairs(&a, Options { method: Method::Nystrom, ..options.clone() }).unwrap_err();
    assert!(e.to_string().starts_with("numerical failure: a has a negative eigenvalue"), "{e}");
    let mut skewed = a;
    skewed.data[1] = Complex::new(3.0, 0.0);
    let e = eigenpairs(&skewed, options.clone()).unwrap_err();
    assert!(e.to_string().starts_with("a: is not Hermitian"), "{e}");
    let e = eigenpairs(&read_npy::<f64>("geo_200x120.npy"), options).unwrap_err();
    assert_eq!(e.to_string(), "a: is 200 x 120, not square");
}

#[test]
fn nystrom_takes_low_rank_and_zeros() {
    for s in [&[3.0, 2.0, 1.0][..], &[0.0][..]] {
        let a = hermitian::<f64>(50, s);
        let options = Options { rank: 6, method: Method::Nystrom, ..Options::default() };
        let (lambda, v, _) = eigenpairs(&a, options).unwrap();
        for (j, x) in lambda.iter().enumerate() {
            assert!((x - s.get(j).copied().unwrap_or(0.0)).abs() < 1e-12, "{lambda:?}");
        }
        assert!(disorder(&v) < 1e-13);
    }
}

fn basis<T: Scalar>(a: &Dense<T>) {
    let context = cpu();
    for width in [1, 12] {
        let options = Options { rank: 1, ..Options::default() };
        let mut rsvd = Rsvd::new(&context, options).unwrap();
        let (mut q, mut b) = (blank::<T>(&context, a.rows, width), blank::<T>(&context, width, a.columns));
        let m = matrix(&context, a, PACKED);
        let info = rsvd.range(None, &m, &mut q, Some(&mut b), None).unwrap();
        let (q, b) = (held::<T>(&q), held::<T>(&b));
        assert!(disorder(&q) < 1e-13);
        let error = residual(a, &q, &vec![1.0; width], &adjoint(&b));
        assert!((info.error_frobenius - error).abs() < 1e-10, "{} {error}", info.error_frobenius);
        let best = with_all_values(a)[width..].iter().map(|s| s * s).sum::<f64>().sqrt();
        assert!(error >= best * (1.0 - 1e-12) && error < 1.1 * best, "{width}: {error} {best}");
    }
}

fn with_all_values<T: Scalar>(a: &Dense<T>) -> Vec<f64> {
    let context = cpu();
    let rank = a.rows.min(a.columns);
    let options = Options { rank, method: Method::Direct, ..Options::default() };
    factor::<T>(&context, &matrix(&context, a, PACKED), options).unwrap().s
}

#[test]
fn bases_of_the_range_of_tall_and_wide_matrices() {
    basis(&read_npy::<f64>("geo_200x120.npy"));
    basis(&read_npy::<f64>("wide_60x200.npy"));
    let complex = read_npy::<Complex<f64>>("cplx_100x70.npy");
    basis(&adjoint(&complex));
    basis(&complex);
}

fn errors<T: Scalar>(a: &Dense<T>, right: Right) {
    let context = cpu();
    let m = matrix(&context, a, PACKED);
    let options = Options { rank: 5, right, ..Options::default() };
    let f = factor::<T>(&context, &m, options.clone()).unwrap();
    // Errors put in on purpose.
    let spoil = |x: &Dense<T>| {
        let data = x.data.iter().enumerate().map(|(i, x)| *x + T::from_parts(1e-4 * (i % 7) as f64, 0.0)).collect();
        Dense { rows: x.rows, columns: x.columns, data }
    };
    let (u, v) = (spoil(&f.u), spoil(&f.v));
    let mut s: Tensor = vector(&context, 5);
    f.s.iter().enumerate().for_each(|(j, x)| s.view_mut::<f64>("s").unwrap().set(&[j], *x));
    let plain = if right == Right::V { v.clone() } else { adjoint(&v) };
    let truth = residual(a, &u, &f.s, &plain);
    let (u_m, v_m) = (matrix(&context, &u, PACKED), matrix(&context, &v, PACKED));
    let mut rsvd = Rsvd::new(&context, Options { probes: 20, ..options }).unwrap();
    let (frobenius, spectral, info) = rsvd.error(None, &m, (&u_m, &s, &v_m), None).unwrap();
    assert!((0.7..1.4).contains(&(frobenius / truth)), "{frobenius} {truth}");
    assert!(spectral > f.s[4] * 0.9 * 0.5 && spectral < 100.0 * truth && info.passes == 1);
    let (mut left, mut right_norms) = (vector(&context, 5), vector(&context, 5));
    rsvd.residuals(None, &m, (&u_m, &s, &v_m), &mut left, &mut right_norms, None).unwrap();
    for j in 0..5 {
        let one =
            |x: &Dense<T>| Dense { rows: x.rows, columns: 1, data: x.data[j * x.rows..(j + 1) * x.rows].to_vec() };
        let (uj, vj) = (one(&u), one(&plain));
        let apply = |a: &Dense<T>, x: &Dense<T>, y: &Dense<T>| {
            let mut sum = 0.0;
            for i in 0..a.rows {
                let (mut re, mut im) = (-f.s[j] * y.at(i, 0).re(), -f.s[j] * y.at(i, 0).im());
                for k in 0..a.columns {
                    let (p, q) = (a.at(i, k), x.at(k, 0));
                    re += p.re() * q.re() - p.im() * q.im();
                    im += p.re() * q.im() + p.im() * q.re();
                }
                sum += re * re + im * im;
            }
            sum.sqrt()
        };
        let (l, r) = (numbers(&left)[j], numbers(&right_norms)[j]);
        assert!((l - apply(a, &vj, &uj)).abs() < 1e-12, "{l}");
        assert!((r - apply(&adjoint(a), &uj, &vj)).abs() < 1e-12, "{r}");
    }
}

#[test]
fn errors_of_given_factors() {
    errors(&read_npy::<f64>("geo_200x120.npy"), Right::V);
    errors(&read_npy::<f64>("wide_60x200.npy"), Right::Vh);
    let complex = read_npy::<Complex<f64>>("cplx_100x70.npy");
    errors(&complex, Right::Vh);
    errors(&adjoint(&complex), Right::V);
}

/// ||A - U diag(s) V^H||_2 from all singular values of the difference.
fn spectral<T: Scalar>(a: &Dense<T>, f: &super::support::Factored<T>) -> f64 {
    let mut left = a.clone();
    for j in 0..a.columns {
        for i in 0..a.rows {
            for (k, s) in f.s.iter().enumerate() {
                let product = f.u.at(i, k) * f.v.at(j, k).conjugate();
                left.data[j * a.rows + i] -= product * T::from_parts(*s, 0.0);
            }
        }
    }
    with_all_values(&left)[0]
}

fn power<T: Scalar>(a: &Dense<T>) {
    let context = cpu();
    let m = matrix(&context, a, PACKED);
    let name = format!("{} x {}", a.rows, a.columns);
    for probes in [3, 10, 1000] {
        let options = Options { rank: 5, error: ErrorKind::Power, probes, ..Options::default() };
        let mut rsvd = Rsvd::new(&context, options).unwrap();
        let f = super::support::factor_with::<T>(&mut rsvd, &m).unwrap();
        let truth = spectral(a, &f);
        // From below but for rounding; ten powers separate three probes with gaps of 0.9.
        let least = if probes == 3 { 0.9 } else { 0.99 };
        let within = |x: f64| (least..1.0 + 1e-9).contains(&(x / truth));
        assert!(within(f.info.error_spectral), "{name}: {} of {truth}", f.info.error_spectral);
        assert_eq!(f.info.error_kind, ErrorKind::Power);
        let (u, v) = (matrix(&context, &f.u, PACKED), matrix(&context, &f.v, PACKED));
        let mut s: Tensor = vector(&context, 5);
        f.s.iter().enumerate().for_each(|(j, x)| s.view_mut::<f64>("s").unwrap().set(&[j], *x));
        let (frobenius, spectral, info) = rsvd.error(None, &m, (&u, &s, &v), None).unwrap();
        assert!(within(spectral) && info.passes == 11, "{name}: {spectral} of {truth}");
        let whole = residual(a, &f.u, &f.s, &f.v);
        assert!((0.5..2.0).contains(&(frobenius / whole)), "{name}: {frobenius} of {whole}");
    }
}

#[test]
fn power_iteration_on_the_residual_gives_its_spectral_norm() {
    power(&read_npy::<f64>("geo_200x120.npy"));
    power(&read_npy::<f64>("wide_60x200.npy"));
    power(&read_npy::<Complex<f64>>("cplx_100x70.npy"));
    // More probes than the matrix has columns, and nothing left.
    let context = cpu();
    let a = matrix(&context, &Dense { rows: 3, columns: 2, data: vec![1.0f64, 2.0, 3.0, -1.0, 4.0, 0.5] }, PACKED);
    let options = Options { rank: 2, error: ErrorKind::Power, ..Options::default() };
    let info = factor::<f64>(&context, &a, options).unwrap().info;
    assert!(info.error_spectral < 1e-14 && info.error_frobenius < 1e-14, "{info:?}");
    let s: Vec<f64> = (0..60).map(|j| 0.7f64.powi(j)).collect();
    let options = Options { rank: 8, error: ErrorKind::Power, ..Options::default() };
    let (.., info) = eigenpairs(&hermitian::<f64>(90, &s), options).unwrap();
    assert!((info.error_spectral / s[8] - 1.0).abs() < 1e-2, "{}", info.error_spectral);
}

#[test]
fn errors_are_free_or_by_probes_and_not_made_up() {
    let context = cpu();
    let s: Vec<f64> = (0..30).map(|j| 10f64.powi(-j)).collect();
    let a = with_spectrum::<f64>(&context, 120, 80, &s, 1);
    let m = matrix(&context, &a, PACKED);
    let run = |rank, error| factor::<f64>(&context, &m, Options { rank, error, ..Options::default() }).unwrap();
    let f = run(4, ErrorKind::Identity);
    let truth = residual(&a, &f.u, &f.s, &f.v);
    assert!((f.info.error_frobenius - truth).abs() < 1e-6 * truth && f.info.error_kind == ErrorKind::Identity);
    let f = run(12, ErrorKind::Identity);
    assert!(f.info.error_frobenius.is_nan() && f.info.error_kind == ErrorKind::None, "the squares cancel");
    let f = run(12, ErrorKind::Probes);
    let truth = residual(&a, &f.u, &f.s, &f.v);
    assert!((0.5..2.0).contains(&(f.info.error_frobenius / truth)), "{} {truth}", f.info.error_frobenius);
    assert!(f.info.error_spectral >= s[12] && f.info.error_spectral <= 100.0 * s[12]);
    assert!(run(4, ErrorKind::None).info.error_frobenius.is_nan());
}

#[test]
fn a_sketch_is_what_a_run_draws() {
    let context = cpu();
    let a = matrix(&context, &read_npy::<f64>("geo_200x120.npy"), PACKED);
    for kind in [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher, Distribution::SparseSign] {
        let options = Options { rank: 10, seed: 7, sketch: kind, method: Method::RowFused, ..Options::default() };
        let mut omega = blank::<f64>(&context, 120, 20);
        Rsvd::new(&context, options.clone()).unwrap().sketch(None, &mut omega).unwrap();
        let drawn = factor::<f64>(&context, &a, options.clone()).unwrap();
        let mut rsvd = Rsvd::new(&context, options).unwrap();
        rsvd.set_sketch(Some(&omega)).unwrap();
        let given = super::support::factor_with::<f64>(&mut rsvd, &a).unwrap();
        assert_eq!(given.s, drawn.s, "{kind:?}");
        assert!(given.info.sketch_given && !drawn.info.sketch_given);
    }
}
