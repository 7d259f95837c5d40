//! Tensors with whole circles, spheres or subspaces of eigenvectors: their extreme values are known in closed form.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::all::{All, find_as};
use super::support::*;
use crate::context::Context;
use crate::rng;
use crate::scalar::Real;
use crate::sshopm::{NO_MORSE_INFORMATION, Options, PairClass, TensorStatus};
use crate::tensor::Symmetric;
use crate::tensor::symmetric::{Monomials, multinomial};

/// Degenerate pairs of an F32 tensor are one where their lambdas agree to 1e-3 of the norm.
const SINGLE: f64 = 2e-3;

/// A polynomial: coefficients by exponents.
type Polynomial = BTreeMap<Vec<usize>, f64>;

fn times(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let mut product = Polynomial::new();
    for (i, x) in a {
        for (j, y) in b {
            let k = i.iter().zip(j).map(|(i, j)| i + j).collect();
            *product.entry(k).or_insert(0.0) += x * y;
        }
    }
    product
}

fn power(a: &Polynomial, exponent: usize, n: usize) -> Polynomial {
    (0..exponent).fold(Polynomial::from([(vec![0; n], 1.0)]), |p, _| times(&p, a))
}

/// The polynomial (v . x)^2.
fn square_of(v: &[f64]) -> Polynomial {
    let mut p = Polynomial::new();
    for (i, x) in v.iter().enumerate() {
        for (j, y) in v.iter().enumerate() {
            let mut k = vec![0; v.len()];
            k[i] += 1;
            k[j] += 1;
            *p.entry(k).or_insert(0.0) += x * y;
        }
    }
    p
}

fn sum(parts: impl IntoIterator<Item = Polynomial>) -> Polynomial {
    let mut total = Polynomial::new();
    for (k, x) in parts.into_iter().flatten() {
        *total.entry(k).or_insert(0.0) += x;
    }
    total
}

fn scaled(a: &Polynomial, factor: f64) -> Polynomial {
    a.iter().map(|(k, x)| (k.clone(), factor * x)).collect()
}

/// Packed entries of a homogeneous polynomial of degree m in n variables.
fn packed(m: usize, n: usize, p: &Polynomial) -> Vec<f64> {
    let mut walk = Monomials::new(Symmetric { order: m, dimension: n }).unwrap();
    let mut out = Vec::new();
    while let Some((_, tuple)) = walk.next_tuple() {
        let mut k = vec![0; n];
        tuple.iter().for_each(|i| k[*i] += 1);
        out.push(p.get(&k).copied().unwrap_or(0.0) / multinomial(tuple).unwrap() as f64);
    }
    out
}

fn normals(seed: u64, row: u64, count: usize) -> Vec<f64> {
    (0..count).map(|i| rng::normal(seed, 77, row, u32::try_from(i).unwrap())).collect()
}

fn unit(n: usize, i: usize) -> Vec<f64> {
    (0..n).map(|j| f64::from(u8::from(i == j))).collect()
}

/// n orthonormal vectors, drawn from `seed`.
fn frame(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut q: Vec<Vec<f64>> = Vec::new();
    for k in 0..n {
        let mut v = normals(seed, k as u64, n);
        for _ in 0..2 {
            for p in &q {
                let s: f64 = p.iter().zip(&v).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(p).for_each(|(v, p)| *v -= s * p);
            }
        }
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        q.push(v.into_iter().map(|x| x / norm).collect());
    }
    q
}

/// Sum of w_j s^j r^(w.len() - 1 - j): a form of degree m in the squared lengths s and r of two parts of x.
fn in_two(w: &[f64], s: &Polynomial, r: &Polynomial, n: usize) -> Polynomial {
    let top = w.len() - 1;
    sum(w.iter().enumerate().map(|(j, w)| scaled(&times(&power(s, j, n), &power(r, top - j, n)), *w)))
}

/// Least and largest value of the polynomial with coefficients c in [0, 1]: samples, then a ternary search about the best.
fn extremes(c: impl Fn(f64) -> f64) -> (f64, f64) {
    const SAMPLES: usize = 20_000;
    let best = |sign: f64| {
        let f = |u: f64| sign * c(u);
        let k = (0..=SAMPLES).max_by(|a, b| f(*a as f64 / SAMPLES as f64).total_cmp(&f(*b as f64 / SAMPLES as f64)));
        let u = k.unwrap() as f64 / SAMPLES as f64;
        let (mut a, mut b) = ((u - 1e-4).max(0.0), (u + 1e-4).min(1.0));
        for _ in 0..100 {
            let (p, q) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
            if f(p) < f(q) { a = p } else { b = q }
        }
        sign * f(0.5 * (a + b)).max(f(u))
    };
    (best(-1.0), best(1.0))
}

/// Both extremes are listed, and the status says rightly that the set is complete.
fn check(r: &All, (low, high): (f64, f64), tolerance: f64, what: &str) {
    let has = |value: f64| r.values[..r.count].iter().any(|v| (v - value).abs() <= tolerance);
    let values = &r.values[..r.count];
    assert!(has(high) && has(low), "{what}: {low} and {high} are not both among {values:?}, {:?}", r.classes);
    let flat = r.classes[..r.count].contains(&(PairClass::Degenerate as i32));
    let status = if flat { TensorStatus::Degenerate } else { TensorStatus::Ok };
    assert_eq!((r.status, r.expected == NO_MORSE_INFORMATION), (status as i32, flat), "{what}: {values:?}");
    assert_eq!((r.found, r.info.truncated_tensors), (r.count, 0), "{what}");
}

fn search<T: Real>(c: &Arc<Context>, m: usize, n: usize, form: &Polynomial) -> All {
    let a = symmetric::<T>(c, m, n, &packed(m, n, form));
    // Few starts: these forms have few pairs.
    find_as::<T>(c, &a, &Options { starts: 200, ..Options::default() }, 64)
}

/// Of a form in (axis . x)^2 and the rest of |x|^2, with weights w.
fn axisymmetric(w: &[f64], n: usize, seed: u64) -> Polynomial {
    let q = frame(n, seed);
    let along = square_of(&q[0]);
    let across = sum(q[1..].iter().map(|v| square_of(v)));
    in_two(w, &along, &across, n)
}

fn value(w: &[f64], u: f64) -> f64 {
    let top = w.len() - 1;
    w.iter().enumerate().map(|(j, w)| w * u.powi(j as i32) * (1.0 - u).powi((top - j) as i32)).sum()
}

fn size(w: &[f64]) -> f64 {
    w.iter().fold(0.0, |m, w| m.max(w.abs()))
}

#[test]
fn circles_of_axisymmetric_forms_are_listed_with_both_extremes() {
    let c = context(2);
    for k in 0..60 {
        let m = [4, 6, 8][k as usize % 3];
        let w = normals(k, 100, m / 2 + 1);
        let form = axisymmetric(&w, 3, k);
        let expected = extremes(|u| value(&w, u));
        check(&search::<f64>(&c, m, 3, &form), expected, 1e-9 * size(&w), &format!("f64, form {k}, order {m}"));
        check(&search::<f32>(&c, m, 3, &form), expected, SINGLE * size(&w), &format!("f32, form {k}, order {m}"));
    }
}

#[test]
fn the_maximum_on_a_circle_is_not_lost() {
    let c = context(2);
    // (x^2 + y^2)^2 + (x^2 + y^2) z^2 / 2: 1 on the equator, 0 at the pole.
    let across = sum([square_of(&[1.0, 0.0, 0.0]), square_of(&[0.0, 1.0, 0.0])]);
    let form = in_two(&[1.0, 0.5, 0.0], &square_of(&[0.0, 0.0, 1.0]), &across, 3);
    for r in [search::<f64>(&c, 4, 3, &form), search::<f32>(&c, 4, 3, &form)] {
        assert_eq!((r.count, r.status), (2, TensorStatus::Degenerate as i32), "{:?}", r.values);
        assert!((r.values[0] - 1.0).abs() < 1e-6 && r.values[1].abs() < 1e-6, "{:?}", r.values);
        assert_eq!(r.classes[..2], [PairClass::Degenerate as i32, PairClass::PositiveStable as i32]);
        assert_eq!(r.expected, NO_MORSE_INFORMATION);
    }
}

#[test]
fn a_circle_with_a_ripple_of_rounding_is_one_entry() {
    let c = context(2);
    // A form in z^2 and x^2 + y^2 with 1 on the equator, and e z (x^3 - 3 x y^2) with further factors |x|^2. The ripple
    // moves the equator's points by about e; its exact pairs have Hessians of e^2, below any rounding.
    let (mut forms, mut listed) = (0, Vec::new());
    for (seed, e) in [1e-14, 3e-14, 1e-13, 2e-13, 3e-13, 5e-13].into_iter().enumerate() {
        for m in [4, 6] {
            let q = if m == 6 { frame(3, 40 + seed as u64) } else { (0..3).map(|i| unit(3, i)).collect() };
            let linear = |v: &[f64]| (0..3).map(|i| (unit(3, i).iter().map(|x| *x as usize).collect(), v[i])).collect();
            let [x, y, z]: [Polynomial; 3] = [linear(&q[0]), linear(&q[1]), linear(&q[2])];
            let across = sum([power(&x, 2, 3), power(&y, 2, 3)]);
            let along = power(&z, 2, 3);
            let w: &[f64] = if m == 4 { &[1.0, -1.0, 0.3] } else { &[1.0, -1.0, 0.5, 0.3] };
            let wave = sum([power(&x, 3, 3), scaled(&times(&x, &power(&y, 2, 3)), -3.0)]);
            let wave = times(&times(&z, &wave), &power(&sum([across.clone(), along.clone()]), m / 2 - 2, 3));
            let form = sum([in_two(w, &along, &across, 3), scaled(&wave, e)]);
            let r = search::<f64>(&c, m, 3, &form);
            let ones = r.values[..r.count].iter().filter(|v| (*v - 1.0).abs() < 1e-9).count();
            forms += 1;
            if (ones, r.status) != (1, TensorStatus::Degenerate as i32) {
                listed.push(format!("order {m}, ripple {e:e}: {:?}, status {}", &r.values[..r.count], r.status));
            }
        }
    }
    assert!(listed.is_empty(), "{} of {forms}: {listed:#?}", listed.len());
}

#[test]
fn spheres_of_eigenvectors_in_other_dimensions() {
    let c = context(2);
    for (k, n) in [2, 4, 5, 4, 5, 2].into_iter().enumerate() {
        let w = normals(1000 + k as u64, 100, 3);
        let form = axisymmetric(&w, n, 1000 + k as u64);
        let expected = extremes(|u| value(&w, u));
        check(&search::<f64>(&c, 4, n, &form), expected, 1e-9 * size(&w), &format!("f64, n = {n}, form {k}"));
        check(&search::<f32>(&c, 4, n, &form), expected, SINGLE * size(&w), &format!("f32, n = {n}, form {k}"));
    }
    // Two planes that both turn.
    for k in 0..4 {
        let q = frame(4, 2000 + k);
        let w = normals(2000 + k, 100, 3);
        let plane = |v: &[Vec<f64>]| sum(v.iter().map(|v| square_of(v)));
        let form = in_two(&w, &plane(&q[..2]), &plane(&q[2..]), 4);
        check(&search::<f64>(&c, 4, 4, &form), extremes(|u| value(&w, u)), 1e-9 * size(&w), &format!("planes {k}"));
    }
}

#[test]
fn one_straight_fibre_and_the_identity() {
    let c = context(2);
    for (m, n) in [(4, 3), (6, 3), (8, 3), (4, 4)] {
        let along = square_of(&frame(n, 5)[0]);
        let fibre = power(&along, m / 2, n);
        for (r, close) in [(search::<f64>(&c, m, n, &fibre), 1e-9), (search::<f32>(&c, m, n, &fibre), 1e-4)] {
            check(&r, (0.0, 1.0), close, &format!("order {m}, n = {n}"));
            assert_eq!(r.classes[0], PairClass::NegativeStable as i32);
            assert_eq!((r.count, r.status), (2, TensorStatus::Degenerate as i32), "{:?}", r.values);
        }
    }
    for n in [2, 3, 4] {
        let identity = power(&sum(frame(n, 6).iter().map(|v| square_of(v))), 2, n);
        let r = search::<f64>(&c, 4, n, &identity);
        assert_eq!((r.count, r.status), (1, TensorStatus::Isotropic as i32), "{:?}", r.values);
        assert!((r.values[0] - 1.0).abs() < 1e-12 && r.expected == NO_MORSE_INFORMATION);
    }
}

#[test]
fn equal_eigenvalues_of_a_matrix_are_one_entry() {
    let c = context(1);
    let q = frame(3, 9);
    let form = sum([square_of(&q[0]), square_of(&q[1]), scaled(&square_of(&q[2]), 3.0)]);
    let a = symmetric::<f64>(&c, 2, 3, &packed(2, 3, &form));
    let r = find_as::<f64>(&c, &a, &Options::default(), 64);
    assert_eq!((r.count, r.status), (2, TensorStatus::Degenerate as i32), "{:?}", r.values);
    assert!((r.values[0] - 3.0).abs() < 1e-12 && (r.values[1] - 1.0).abs() < 1e-12);
}

/// A matrix of order `n` with eigenvalues 1 and 1 + `gap`, and others up to 2, in directions of `seed`.
fn close_eigenvalues<T: Real>(n: usize, gap: f64, seed: u64) {
    let c = context(1);
    let mut values: Vec<f64> = (0..n).map(|k| 1.0 + k as f64 / (n - 1) as f64).collect();
    values[1] = 1.0 + gap;
    let form = sum(frame(n, seed).iter().zip(&values).map(|(q, value)| scaled(&square_of(q), *value)));
    let a = symmetric::<T>(&c, 2, n, &packed(2, n, &form));
    values.sort_by(|a, b| b.total_cmp(a));
    // The matrix is rounded to its type.
    let close = 4.0 * n as f64 * T::EPSILON.to_f64();
    let r = find_as::<T>(&c, &a, &Options::default(), 64);
    assert_eq!(r.count, n, "{n} {gap}: {:?}", r.values);
    for (found, value) in r.values.iter().zip(&values) {
        assert!((found - value).abs() <= close, "{n} {gap}: {:?}", r.values);
    }
    // By the default `degeneracy_tolerance` their Hessians are singular. A smaller one gives their classes, too.
    let o = Options { degeneracy_tolerance: T::EPSILON.to_f64(), ..Options::default() };
    let r = find_as::<T>(&c, &a, &o, 64);
    assert_eq!((r.count, r.status, r.morse), (n, TensorStatus::Ok as i32, r.expected), "{n} {gap}: {:?}", r.values);
}

#[test]
fn eigenvalues_of_a_matrix_farther_apart_than_rounding_are_entries_of_their_own() {
    for n in [2, 3, 5] {
        // 8 n |A| is below 170 here.
        for gap in [3e-13, 1e-11, 1e-9, 3e-8, 1e-7, 3e-7, 1e-3] {
            close_eigenvalues::<f64>(n, gap, 9);
        }
        for gap in [4e-5, 3e-4, 1e-3, 3e-3] {
            close_eigenvalues::<f32>(n, gap, 9);
        }
    }
}

#[test]
fn a_search_that_ends_before_a_round_found_nothing_new_is_not_complete() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let o = Options { starts: 40, max_starts: 40, ..Options::default() };
    let r = find_as::<f64>(&c, &a, &o, 16);
    // No start ended without a pair.
    assert_eq!((r.status, r.info.unconverged_tensors), (TensorStatus::Incomplete as i32, 0));
}

#[test]
fn circles_of_nearly_one_lambda_are_several_entries() {
    let c = context(2);
    for gap in [1e-2, 1e-3, 2e-4] {
        // c(u), u = (axis . x)^2, with c' = -6 (u - low) (u - top): 1 on the equator, 1 - gap on the circle at `top`.
        let top = 0.7;
        let low = top / 3.0 + gap / (3.0 * top * top);
        let a = [1.0, -6.0 * low * top, 3.0 * (low + top), -2.0];
        // The same in u and 1 - u, of degree 3 together.
        let w = [a[0], 3.0 * a[0] + a[1], 3.0 * a[0] + 2.0 * a[1] + a[2], a[0] + a[1] + a[2] + a[3]];
        let form = axisymmetric(&w, 3, 12);
        let wanted = [value(&w, 0.0), value(&w, top), value(&w, low), value(&w, 1.0)];
        assert!((wanted[0] - wanted[1] - gap).abs() < 1e-14);
        for (r, close) in [(search::<f64>(&c, 6, 3, &form), 1e-10), (search::<f32>(&c, 6, 3, &form), 1e-5)] {
            let listed = &r.values[..r.count];
            for value in wanted {
                assert!(listed.iter().any(|v| (v - value).abs() <= close), "{gap}: {value} is not in {listed:?}");
            }
            assert_eq!((r.count, r.status), (4, TensorStatus::Degenerate as i32), "{gap}: {listed:?}");
        }
    }
}

#[test]
fn starts_that_run_out_of_steps_go_on() {
    let c = context(2);
    for (m, n) in [(4, 3), (3, 3), (4, 4)] {
        let packed = normals(31 + m as u64, 5, Symmetric { order: m, dimension: n }.count());
        let a = symmetric::<f64>(&c, m, n, &packed);
        let whole = find_as::<f64>(&c, &a, &Options { starts: 300, ..Options::default() }, 200);
        assert_eq!(whole.status, TensorStatus::Ok as i32);
        for max_iterations in [1, 4] {
            let o = Options { starts: 300, max_iterations, ..Options::default() };
            let r = find_as::<f64>(&c, &a, &o, 200);
            // A start that ends without a pair makes the set incomplete, whatever its sum says.
            let says_so = r.status == TensorStatus::Incomplete as i32;
            let what = format!("order {m}, n = {n}, {max_iterations} steps");
            assert_eq!(r.info.unconverged_tensors, i64::from(says_so), "{what}");
            assert!(says_so || (r.status, r.count) == (whole.status, whole.count), "{what}: {} {}", r.status, r.count);
            assert!(n > 3 || !says_so, "{what}");
        }
    }
}

#[test]
fn the_size_of_a_tensor_changes_no_pair() {
    let c = context(1);
    // Circles of eigenvectors, so that steps of minimum norm are taken.
    let form = axisymmetric(&normals(3, 100, 3), 3, 3);
    let entries = packed(4, 3, &form);
    let of = |e: i32| entries.iter().map(|x| x * 2.0f64.powi(e)).collect::<Vec<f64>>();
    let o = Options { starts: 200, ..Options::default() };
    let one = find_as::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries), &o, 16);
    let single = find_as::<f32>(&c, &symmetric::<f32>(&c, 4, 3, &entries), &o, 16);
    for e in [-1010, -500, 500, 1010] {
        let r = find_as::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &of(e)), &o, 16);
        assert_eq!((r.count, r.status), (one.count, one.status), "2^{e}");
        for (a, b) in r.values[..r.count].iter().zip(&one.values) {
            assert!((a * 2.0f64.powi(-e / 2) * 2.0f64.powi(-e - -e / 2) - b).abs() <= 1e-11, "2^{e}: {a}, not {b}");
        }
    }
    for e in [-124, 120] {
        let r = find_as::<f32>(&c, &symmetric::<f32>(&c, 4, 3, &of(e)), &o, 16);
        assert_eq!((r.count, r.status), (single.count, single.status), "2^{e} in f32");
    }
}

#[test]
fn options_of_the_search_are_refused_for_matrices() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 2, 3, &[1.0, 0.0, 0.0, 2.0, 0.0, 3.0]);
    let none = Options::default();
    for (name, o) in [
        ("starts", Options { starts: 100, ..none }),
        ("max_starts", Options { max_starts: 100, ..none }),
        ("max_iterations", Options { max_iterations: 100, ..none }),
        ("tolerance", Options { tolerance: 1e-8, ..none }),
        ("merge_angle", Options { merge_angle: 1e-3, ..none }),
        ("merge_value", Options { merge_value: 1e-3, ..none }),
        ("seed", Options { seed: 3, ..none }),
    ] {
        let mut results = crate::sshopm::Results::default();
        let run = crate::sshopm::all(&c, None, &a, &o, &mut results, None, None, &crate::progress::Progress::none());
        let problem = run.unwrap_err().to_string();
        assert!(problem.starts_with(name) && problem.contains("matrices"), "{problem}");
    }
}

/// At x = u x w the form (u.x)^3 + (w.x)^3, its gradient and its Hessian are 0: starts end around it, as far from it as
/// their residual allows.
fn two_cubes<T: Real>(u: [f64; 3], w: [f64; 3], degrees: f64) {
    let c = context(2);
    let form =
        [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 1], [0, 1, 2], [0, 2, 2], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 2]];
    let entries =
        form.map(|k: [usize; 3]| [u, w].iter().map(|v| k.iter().map(|i| v[*i]).product::<f64>()).sum::<f64>());
    let a = symmetric::<T>(&c, 3, 3, &entries);
    let r = find_as::<T>(&c, &a, &Options::default(), 16);
    let x = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
    let length = x.iter().map(|c| c * c).sum::<f64>().sqrt();
    let near = |k: &usize| {
        let cosine = (0..3).map(|i| r.vectors[3 * k + i] * x[i] / length).sum::<f64>().abs();
        cosine > degrees.to_radians().cos()
    };
    let classes: Vec<i32> = (0..r.count).filter(near).map(|k| r.classes[k]).collect();
    assert_eq!(classes, [PairClass::Degenerate as i32], "{:?} {:?}", r.values, r.vectors);
    assert_eq!(r.status, TensorStatus::Degenerate as i32);
}

#[test]
fn the_singular_pair_of_two_cubes_is_listed_once() {
    two_cubes::<f64>([-0.59, -0.13, -0.07], [0.11, -0.03, 0.17], 0.05);
    two_cubes::<f64>([-1.54, 0.62, -0.35], [0.32, -0.34, -0.06], 0.05);
    two_cubes::<f32>([-1.1, -1.13, -0.56], [-0.68, 1.09, 1.38], 0.7);
    two_cubes::<f32>([0.81, 0.25, 0.74], [-1.07, 0.94, 0.57], 0.7);
    // Residuals of single precision leave the position open by degrees.
    two_cubes::<f32>([-0.53, 0.08, -0.17], [1.79, 0.18, -1.88], 4.0);
}

/// One entry for eigenvalues that differ by at most 8 n eps |A|, also where all of them do.
#[test]
fn a_matrix_is_isotropic_only_within_rounding() {
    let c = context(1);
    for n in [2usize, 3] {
        let limit = 8.0 * n as f64 * (n as f64).sqrt();
        for gap in [0.0, 0.9 * limit, 1.1 * limit, 1.6 * limit, 2.7 * limit] {
            let mut packed = vec![0.0; n * (n + 1) / 2];
            let mut place = 0;
            for i in 0..n {
                packed[place] = if i + 1 == n { 1.0 + (gap.round() * f64::EPSILON) } else { 1.0 };
                place += n - i;
            }
            let r = find_as::<f64>(&c, &symmetric::<f64>(&c, 2, n, &packed), &Options::default(), 64);
            let wanted = if gap > limit { (2, TensorStatus::Degenerate) } else { (1, TensorStatus::Isotropic) };
            assert_eq!((r.count, r.status), (wanted.0, wanted.1 as i32), "{n} {gap}: {:?}", r.values);
        }
    }
}
