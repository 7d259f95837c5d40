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
