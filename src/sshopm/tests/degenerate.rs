//! Pairs whose Hessian is 0 or nearly so, and loose tolerances: each pair is listed once.

use super::all::{All, find_as};
use super::support::*;
use crate::rng;
use crate::scalar::Real;
use crate::sshopm::{Options, PairClass, TensorStatus};
use crate::tensor::Symmetric;
use crate::tensor::symmetric::{Monomials, multinomial};

/// Packed entries of w_0 (u_0 . x)^m + w_1 (u_1 . x)^m + ..
fn powers(m: usize, n: usize, terms: &[(f64, Vec<f64>)]) -> Vec<f64> {
    let mut walk = Monomials::new(Symmetric { order: m, dimension: n }).unwrap();
    let mut out = Vec::new();
    while let Some((_, tuple)) = walk.next_tuple() {
        out.push(terms.iter().map(|(w, u)| w * tuple.iter().map(|i| u[*i]).product::<f64>()).sum());
    }
    out
}

/// n orthonormal vectors, drawn from `seed`.
fn frame(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut q: Vec<Vec<f64>> = Vec::new();
    for k in 0..n {
        let mut v: Vec<f64> = (0..n).map(|i| rng::normal(seed, 91, k as u64, u32::try_from(i).unwrap())).collect();
        for p in q.iter().chain(&q.clone()) {
            let s: f64 = p.iter().zip(&v).map(|(a, b)| a * b).sum();
            v.iter_mut().zip(p).for_each(|(v, p)| *v -= s * p);
        }
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        q.push(v.into_iter().map(|x| x / norm).collect());
    }
    q
}

/// Cosine of the angle between the axes x and y.
fn along(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>().abs()
}

fn search<T: Real>(m: usize, n: usize, entries: &[f64], o: &Options) -> All {
    let c = context(2);
    find_as::<T>(&c, &symmetric::<T>(&c, m, n, entries), o, 64)
}

/// (u . x)^m + (v . x)^m / 2 in three dimensions: the third direction is a pair whose Hessian is 0, and it is alone.
fn two_fibres<T: Real>() {
    for seed in 0..3 {
        let q = frame(3, seed);
        for (m, truth) in [(4, 5), (5, 4), (6, 5), (7, 4), (8, 5)] {
            let a = powers(m, 3, &[(1.0, q[0].clone()), (0.5, q[1].clone())]);
            let r = search::<T>(m, 3, &a, &Options { starts: 100, ..Options::default() });
            let what = format!("seed {seed}, order {m}: {:?} {:?}", &r.values[..r.count], &r.classes[..r.count]);
            assert_eq!((r.count, r.found, r.status), (truth, truth, TensorStatus::Degenerate as i32), "{what}");
            let flat: Vec<usize> = (0..truth).filter(|k| r.classes[*k] == PairClass::Degenerate as i32).collect();
            assert_eq!(flat.len(), 1, "{what}");
            let k = flat[0];
            assert!(along(&r.vectors[3 * k..3 * k + 3], &q[2]) > 15f64.to_radians().cos(), "{what}");
            for axis in &q[..2] {
                assert!((0..truth).any(|k| along(&r.vectors[3 * k..3 * k + 3], axis) > 1.0 - 1e-6), "{what}");
            }
        }
    }
}

#[test]
fn the_third_direction_of_two_fibres_is_one_entry() {
    two_fibres::<f64>();
    two_fibres::<f32>();
}

#[test]
fn two_fibres_in_four_dimensions_leave_one_circle() {
    for seed in 0..2 {
        let q = frame(4, seed);
        let a = powers(4, 4, &[(1.0, q[0].clone()), (0.5, q[1].clone())]);
        for r in [
            search::<f64>(4, 4, &a, &Options { starts: 150, ..Options::default() }),
            search::<f32>(4, 4, &a, &Options { starts: 150, ..Options::default() }),
        ] {
            assert_eq!((r.count, r.status), (5, TensorStatus::Degenerate as i32), "{seed}: {:?}", &r.values[..r.count]);
        }
    }
}

#[test]
fn a_loose_tolerance_lists_each_pair_once() {
    for seed in 0..3 {
        let q = frame(3, seed);
        let a = powers(4, 3, &q.iter().map(|u| (1.0, u.clone())).collect::<Vec<_>>());
        for tolerance in [3e-5, 1e-4, 1e-3, 1e-2] {
            let o = Options { starts: 500, tolerance, ..Options::default() };
            for r in [search::<f64>(4, 3, &a, &o), search::<f32>(4, 3, &a, &o)] {
                let what = format!("seed {seed}, {tolerance}: {:?}", &r.values[..r.count]);
                assert_eq!((r.found, r.count), (13, 13), "{what}");
                assert!(r.residuals[..13].iter().all(|e| *e <= 1e-6), "{what}: {:?}", &r.residuals[..13]);
                // A start may end where there is no pair but to the tolerance.
                assert!([TensorStatus::Ok as i32, TensorStatus::Incomplete as i32].contains(&r.status), "{what}");
            }
        }
    }
}

/// |x|^4 + e (x^4 + y^4 + z^4), turned: 13 pairs for every e.
fn nearly_isotropic(e: f64, q: &[Vec<f64>]) -> Vec<f64> {
    let mut a = powers(4, 3, &q.iter().map(|u| (e, u.clone())).collect::<Vec<_>>());
    let mut walk = Monomials::new(Symmetric { order: 4, dimension: 3 }).unwrap();
    for a in &mut a {
        let (_, tuple) = walk.next_tuple().unwrap();
        let mut k = [0usize; 3];
        tuple.iter().for_each(|i| k[*i] += 1);
        if k.iter().all(|k| k % 2 == 0) {
            *a += if k.contains(&4) { 1.0 } else { 2.0 } / multinomial(tuple).unwrap() as f64;
        }
    }
    a
}

#[test]
fn nearly_isotropic_forms_have_all_their_pairs_once() {
    for seed in 0..4 {
        let mut q = frame(3, seed);
        if seed == 0 {
            q = (0..3).map(|i| (0..3).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        }
        for e in [0.1, 0.02, 0.01, 0.005, 0.003] {
            let a = nearly_isotropic(e, &q);
            let o = Options { starts: 1000, ..Options::default() };
            for (r, close) in [(search::<f64>(4, 3, &a, &o), 1e-10), (search::<f32>(4, 3, &a, &o), 2e-6)] {
                let what = format!("seed {seed}, {e}: {:?} {:?}", &r.values[..r.count], &r.classes[..r.count]);
                assert_eq!((r.count, r.found), (13, 13), "{what}");
                let truth = [[1.0; 3].as_slice(), &[0.5; 6], &[1.0 / 3.0; 4]].concat();
                for (value, t) in r.values.iter().zip(truth) {
                    assert!((value - 1.0 - e * t).abs() <= close, "{what}");
                }
                for axis in &q {
                    let best = (0..3).map(|k| along(&r.vectors[3 * k..3 * k + 3], axis)).fold(0.0, f64::max);
                    assert!(best > 1.0 - 1e-6, "{what}");
                }
                // Above the degeneracy tolerance (1e-3 of the norm in F32) no pair is degenerate.
                assert!(e < 0.01 || r.status == TensorStatus::Ok as i32, "{what}: status {}", r.status);
            }
        }
    }
}

/// Packed entries of cos 4t + a cos 2t + b sin 2t on the circle x = cos t, y = sin t.
fn on_the_circle(a: f64, b: f64) -> Vec<f64> {
    vec![1.0 + a, 0.5 * b, -1.0, 0.5 * b, 1.0 - a]
}

/// Beyond a fold two pairs have met and are gone: the place where they were has a small gradient, but it is no pair.
fn beside_a_fold<T: Real>(beyond: &[f64]) {
    let z = 0.7f64;
    // The form whose first and second derivatives vanish at z.
    let (p, q) = (2.0 * (2.0 * z).sin(), 4.0 * (2.0 * z).cos());
    let (a, b) = (-p * z.sin() - q * z.cos(), p * z.cos() - q * z.sin());
    for e in beyond {
        let r = search::<T>(4, 2, &on_the_circle(a, b * (1.0 + e)), &Options::default());
        let what = format!("{e:e}: {:?} {:?}", &r.values[..r.count], &r.residuals[..r.count]);
        assert_eq!(r.found, 2, "{what}");
        // Starts may end there, and so without a pair.
        assert!([TensorStatus::Ok, TensorStatus::Incomplete].map(|s| s as i32).contains(&r.status), "{what}");
    }
}

#[test]
fn pairs_that_have_met_and_are_gone_are_not_listed() {
    beside_a_fold::<f64>(&[1e-9, 1e-11, 1e-12]);
    beside_a_fold::<f32>(&[1e-3, 1e-4]);
}

/// Starts that end beyond a fold have no pair. The status reports them, though both pairs are found, the Morse sum is the
/// expected one and the last round found nothing new.
fn lost_beyond_a_fold<T: Real>(at: f64, options: &Options, is_lost: bool) {
    let z = 0.7f64;
    let (p, q) = (2.0 * (2.0 * z).sin(), 4.0 * (2.0 * z).cos());
    let (a, b) = (-p * z.sin() - q * z.cos(), p * z.cos() - q * z.sin());
    let r = search::<T>(4, 2, &on_the_circle(a, b * (1.0 + at)), options);
    let what = format!("{} {at:e} {options:?}: {:?}", std::any::type_name::<T>(), &r.values[..r.count]);
    assert_eq!((r.found, r.morse, r.expected), (2, 0, 0), "{what}");
    let status = if is_lost { TensorStatus::Incomplete } else { TensorStatus::Ok };
    assert_eq!((r.status, r.info.unconverged_tensors), (status as i32, i64::from(is_lost)), "{what}");
}

#[test]
fn starts_that_end_without_a_pair_make_the_set_incomplete() {
    let o = Options { starts: 50, ..Options::default() };
    lost_beyond_a_fold::<f64>(0.1, &o, false);
    lost_beyond_a_fold::<f32>(0.1, &o, false);
    for at in [1e-4, 1e-6, 1e-8] {
        lost_beyond_a_fold::<f64>(at, &o, true);
    }
    lost_beyond_a_fold::<f32>(1e-4, &o, true);
    // With a loose tolerance, starts end also where the gradient is larger.
    let loose = Options { tolerance: 1e-2, ..o };
    lost_beyond_a_fold::<f64>(1e-2, &loose, true);
    lost_beyond_a_fold::<f32>(1e-2, &loose, true);
}

#[test]
fn a_small_gradient_without_a_pair_is_not_listed_in_f32() {
    // By f64: 11 pairs, none of them degenerate.
    let entries = [
        0.18611538410186768,
        5.7348770496901125e-5,
        9.008785127662122e-5,
        -4.8082070861710235e-5,
        0.29960620403289795,
        0.010558980517089367,
        -0.615004301071167,
        0.0018916574772447348,
        -0.015720602124929428,
        -0.5365607738494873,
        -0.017194878309965134,
        -0.00015136401634663343,
        0.0003619111957959831,
        -0.00019103258091490716,
        -0.00033514777896925807,
        -0.006880963686853647,
        -0.0012411383213475347,
        0.002639773301780224,
        -0.0009370790794491768,
        -0.11806093901395798,
        -0.026128381490707397,
    ];
    for seed in [0, 1, 4] {
        let r = search::<f32>(5, 3, &entries, &Options { seed, ..Options::default() });
        assert_eq!(r.found, 11, "seed {seed}: {:?} {:?}", &r.values[..r.count], &r.residuals[..r.count]);
    }
}

#[test]
fn a_merge_angle_below_rounding_lists_each_pair_once() {
    // y, and y turned by 0.6 degrees to either side.
    let options = Options { merge_angle: 1e-9, degeneracy_tolerance: 1e-13, ..Options::default() };
    let r = search::<f32>(4, 2, &on_the_circle(4.0 - 1.0 / 1024.0, 0.0), &options);
    assert_eq!((r.found, r.status), (4, TensorStatus::Ok as i32), "{:?}", &r.values[..r.count.min(8)]);
}

#[test]
fn a_merge_value_below_rounding_lists_each_pair_once() {
    // At most 3 pairs exist for order 3 in the plane.
    let entries = [1.0, 0.2, -0.5, 0.7];
    let of = |merge_value: f64| Options { merge_value, ..Options::default() };
    for value in [1e-14, 1e-15, 1e-16, 1e-300] {
        let r = search::<f64>(3, 2, &entries, &of(value));
        assert_eq!((r.found, r.status), (3, TensorStatus::Ok as i32), "{value:e}: {:?}", &r.values[..r.count.min(8)]);
    }
    for value in [1e-6, 1e-8, 1e-300] {
        let r = search::<f32>(3, 2, &entries, &of(value));
        assert_eq!((r.found, r.status), (3, TensorStatus::Ok as i32), "{value:e}: {:?}", &r.values[..r.count.min(8)]);
    }
}

#[test]
fn a_merge_value_below_rounding_lists_each_maximum_once() {
    fn check<T: Real>() {
        let c = context(2);
        for (m, entries) in [(4, &KOFIDIS_REGALIA[..]), (3, &KOLDA_MAYO[..])] {
            let a = symmetric::<T>(&c, m, 3, entries);
            let of = |merge_value: f64| {
                let o = Options { merge_value, ..Options::default() };
                let r = run::<T>(&c, &a, None, &o, 40);
                r.found[0]
            };
            let want = of(0.0);
            for value in [1e-3, T::EPSILON.to_f64(), 1e-300] {
                assert_eq!(of(value), want, "order {m}, {value:e}");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

/// The form's derivative along the circle is sin(t) sin(t - gap) sin(t - 1.1): two of its three pairs have nearly met.
#[test]
fn pairs_nearer_than_the_merge_angle_are_one_in_a_set_that_is_not_complete() {
    let c = context(2);
    let (gap, far): (f64, f64) = (1e-6, 1.1);
    let middle = -gap.cos() * far.cos() / 3.0;
    let first = 2.0 * middle - gap.sin() * far.sin() / 3.0;
    let last = -(gap.cos() * far.sin() + gap.sin() * far.cos()) / 3.0;
    let a = symmetric::<f64>(&c, 3, 2, &[first, 0.0, middle, last]);
    let o = Options { starts: 200, ..Options::default() };
    let r = find_as::<f64>(&c, &a, &o, 8);
    assert_eq!((r.count, r.status), (2, TensorStatus::Incomplete as i32), "{:?}", r.values);
    let r = find_as::<f64>(&c, &a, &Options { merge_angle: 1e-8, ..o }, 8);
    assert_eq!((r.count, r.status), (3, TensorStatus::Ok as i32), "{:?}", r.values);
}
