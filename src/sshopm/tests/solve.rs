//! The solver on published tensors.

use super::support::*;
use crate::sshopm::{Compatibility, Goal, Method, Options, Shift};

#[test]
fn the_toolboxes_iteration_counts_are_reproduced() {
    let c = context(1);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let start = from_slice(&c, &[3, 1], &[1.0, 0.5, -0.3]);
    let compatible = Options { compatibility: Compatibility::TensorToolbox, ..Options::default() };
    for (o, expected) in [
        (Options { shift_kind: Shift::Fixed, shift: 2.0, ..compatible }, 46),
        (Options { shift_kind: Shift::Adaptive, ..compatible }, 23),
    ] {
        let e = run_starts::<f64>(&c, &a, Some(&start), &o, 1);
        // The tolerance is nine units in the last place: another order of the sums ends a step sooner or later.
        let slack = i32::from(matches!(c.backend(), crate::backend::Backend::Gpu(_)));
        assert!((e.iterations[0] - expected).abs() <= slack, "{:?}: {}", o.shift_kind, e.iterations[0]);
        assert_eq!(e.status[0], 0);
        assert!((e.values[0] - 0.889_322_010_679_401).abs() < 1e-14);
    }
}

#[test]
fn maxima_and_minima_of_the_published_tensor_are_found_by_every_method() {
    let c = context(2);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let maxima = [0.889_322_010_7, 0.816_881_345_0, 0.363_306_048_4];
    let minima = [-1.095_351_698_9, -0.562_917_132_7, -0.045_092_181_1];
    for method in [Method::Hybrid, Method::Power] {
        for (shift_kind, shift) in [(Shift::Adaptive, 0.0), (Shift::Fixed, 2.0), (Shift::Guaranteed, 0.0)] {
            let o = Options { method, shift_kind, shift, tolerance: 1e-13, max_iterations: 3000, ..Options::default() };
            let s = run::<f64>(&c, &a, None, &o, 5);
            assert_eq!((s.count[0], s.status[0]), (3, 0), "{o:?}");
            for (k, l) in maxima.iter().enumerate() {
                assert!((s.values[k] - l).abs() < 1e-10, "{o:?} {:?}", s.values);
                assert!(s.residuals[k] < 1e-13 * 2.0);
                assert_eq!(s.classes[k], 0);
                assert!(s.hessian[2 * k] <= s.hessian[2 * k + 1] && s.hessian[2 * k + 1] < -0.5);
            }
            assert!(s.values[3].is_nan() && s.vectors[9].is_nan() && s.basins[3] == 0);
            assert_eq!(s.basins[..3].iter().sum::<i32>(), 32);
            let o = Options { goal: Goal::Minima, shift: -shift, ..o };
            let s = run::<f64>(&c, &a, None, &o, 3);
            assert_eq!((s.count[0], s.classes[0]), (3, 1), "{o:?}");
            for (k, l) in minima.iter().enumerate() {
                assert!((s.values[k] - l).abs() < 1e-10, "{o:?} {:?}", s.values);
            }
        }
    }
    let s = run::<f64>(&c, &a, None, &Options { goal: Goal::Both, ..Options::default() }, 8);
    assert_eq!((s.count[0], &s.classes[..6]), (6, &[0, 0, 0, 1, 1, 1][..]));
    for (v, l) in s.values.iter().zip(maxima.iter().chain(&minima)) {
        assert!((v - l).abs() < 1e-10, "{:?}", s.values);
    }
}

#[test]
fn the_maxima_of_complete_reference_sets_are_found() {
    let c = context(2);
    let golden = Golden::open("random_n3_all_eigenpairs.npz");
    for m in [3, 4, 5, 6, 8] {
        let entries = golden.f64(&format!("m{m}_tensors"));
        let counts = golden.i32(&format!("m{m}_count"));
        let (lambda, index) = (golden.f64(&format!("m{m}_lambda")), golden.i32(&format!("m{m}_morse_index")));
        let o = Options { starts: 400, ..Options::default() };
        let s = run::<f64>(&c, &symmetric::<f64>(&c, m, 3, &entries), None, &o, 20);
        let mut first = 0;
        for (t, count) in counts.iter().enumerate() {
            // For odd order the golden pairs have lambda >= 0: those that are minima are maxima turned over.
            let mut expected: Vec<f64> = (first..first + *count as usize)
                .filter(|k| index[*k] == 2 || (m % 2 == 1 && index[*k] == 0))
                .map(|k| if index[k] == 2 { lambda[k] } else { -lambda[k] })
                .collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            let found = &s.values[20 * t..20 * t + s.count[t] as usize];
            assert_eq!(found.len(), expected.len(), "m = {m}, tensor {t}: {found:?} {expected:?}");
            for (f, e) in found.iter().zip(&expected) {
                assert!((f - e).abs() < 1e-9, "m = {m}, tensor {t}: {found:?} {expected:?}");
            }
            first += *count as usize;
        }
    }
}

#[test]
fn general_kernels_find_the_maxima_of_decomposable_tensors() {
    let c = context(2);
    // Sum of w_i e_i^m: every e_i is a maximum with value w_i, and there are no others.
    for (m, n) in [(3, 5), (4, 6), (5, 4), (6, 4), (4, 17)] {
        let shape = crate::tensor::Symmetric { order: m, dimension: n };
        let mut a = vec![0.0; shape.count()];
        for i in 0..n {
            a[crate::tensor::symmetric::rank(shape, &vec![i; m]).unwrap()] = 1.0 + i as f64;
        }
        for method in [Method::Hybrid, Method::Power] {
            let o = Options { method, starts: 60 * n as i64, max_iterations: 3000, ..Options::default() };
            let s = run::<f64>(&c, &symmetric::<f64>(&c, m, n, &a), None, &o, n + 2);
            let found = &s.values[..s.count[0] as usize];
            // The weakest maxima of a large tensor have small basins: the strongest half must be there.
            let sure = if n > 6 { n / 3 } else { n };
            for k in 0..sure {
                assert!((found[k] - (n - k) as f64).abs() < 1e-8, "({m},{n}) {method:?} {found:?}");
            }
            // Odd order has one more: the minimum at which all terms are alike is, turned over, a maximum below 0.
            let p = (m - 2) as f64;
            let alike = (1..=n).map(|w| (w as f64).powf(-2.0 / p)).sum::<f64>().powf(-p / 2.0);
            for (value, class) in found.iter().zip(&s.classes) {
                let turned = m % 2 == 1 && *class == 1 && (value - alike).abs() < 1e-8;
                assert!(*class == 0 || turned, "({m},{n}) {method:?} {value} {class}");
            }
        }
    }
}
