//! Orientation functions from signals.

use super::arrays::{context, distance, elements, f32s, status, tensor, zeros};
use super::volume::{VOLUMES, VOXELS, volume_tensors};
use crate::context::Context;
use crate::dwi::{Basis, CsaOptions, csa};
use crate::error::Result;
use crate::progress::Progress;
use crate::scalar::{DType, Real};
use crate::shape::Order;
use crate::sshopm::{Info, TensorStatus};
use crate::tensor::Tensor;

fn run(
    c: &Context,
    input: &[Tensor; 3],
    basis: Basis,
    options: &CsaOptions,
    sh: &mut Tensor,
    status: Option<&mut Tensor>,
) -> Result<Info> {
    csa(c, None, &input[0], &input[1], &input[2], None, basis, options, sh, status, &Progress::none())
}

fn golden<T: Real>(u: usize, expected: &[u8]) {
    let c = context(2);
    let expected: Vec<f64> = f32s(expected).into_iter().map(f64::from).collect();
    let input = volume_tensors(&c, Order::RowMajor, |x| x);
    let (mut sh, mut outcome) = (zeros(&c, T::DTYPE, &[u, VOXELS]), zeros(&c, DType::I32, &[VOXELS]));
    run(&c, &input, Basis::Mrtrix3, &CsaOptions::default(), &mut sh, Some(&mut outcome)).unwrap();
    let (found, outcome) = (elements::<T>(&sh), status(&outcome));
    let mut compared = 0;
    for v in 0..VOXELS {
        if outcome[v] == TensorStatus::Signal as i32 {
            continue;
        }
        compared += 1;
        let (f, e) = (&found[u * v..u * v + u], &expected[u * v..u * v + u]);
        let d = distance(f, e);
        assert!(d < 2e-5, "voxel {v}: {d}");
        let clamped = [75, 178, 549, 818].contains(&v);
        assert_eq!(outcome[v], if clamped { TensorStatus::Clamped } else { TensorStatus::Ok } as i32, "voxel {v}");
    }
    assert_eq!(compared, VOXELS);
}

#[test]
fn functions_are_those_of_dipy() {
    let four = include_bytes!("../../../tests/golden/dwi/csa4_sh_mrtrix.f32");
    let eight = include_bytes!("../../../tests/golden/dwi/csa8_sh_mrtrix.f32");
    golden::<f64>(15, four);
    golden::<f32>(15, four);
    golden::<f64>(45, eight);
    golden::<f32>(45, eight);
}

#[test]
fn a_voxel_without_signal_is_zero_and_says_so() {
    let c = context(1);
    let [mut s, b, g] = volume_tensors(&c, Order::ColumnMajor, f64::from);
    s.view_mut::<f64>("s").unwrap().set(&[0, 10], 0.0);
    s.view_mut::<f64>("s").unwrap().set(&[20, 11], f64::NAN);
    let input = [s, b, g];
    let (mut sh, mut outcome) = (zeros(&c, DType::F64, &[15, VOXELS]), zeros(&c, DType::I32, &[VOXELS]));
    run(&c, &input, Basis::Canonical, &CsaOptions::default(), &mut sh, Some(&mut outcome)).unwrap();
    let (found, outcome) = (elements::<f64>(&sh), status(&outcome));
    assert_eq!(outcome[9..13], [0, TensorStatus::Signal as i32, TensorStatus::Nonfinite as i32, 0]);
    assert!(found[150..180].iter().all(|x| *x == 0.0));
    assert!(found.iter().all(|x| x.is_finite()));
}

#[test]
fn wrong_arguments_are_named() {
    let c = context(1);
    let input = volume_tensors(&c, Order::ColumnMajor, |x| x);
    let good = CsaOptions::default();
    let message = |options: CsaOptions, u: usize| {
        let mut sh = zeros(&c, DType::F32, &[u, VOXELS]);
        run(&c, &input, Basis::Canonical, &options, &mut sh, None).unwrap_err().to_string()
    };
    assert!(message(good, 16).starts_with("sh: has 16 coefficients"));
    assert!(message(good, 1).starts_with("sh: has order 0"));
    assert!(message(CsaOptions { smoothing: -1.0, ..good }, 15).starts_with("smoothing: is -1"));
    assert!(message(CsaOptions { smoothing: 0.0, ..good }, 66).starts_with("bvecs: 64 directions"));
    // Beyond the penalty at which the column of degree 0 is lost in rounding.
    for smoothing in [1e12, 1e300] {
        let text = message(CsaOptions { smoothing, ..good }, 15);
        assert!(text.starts_with("smoothing: is 1") && text.ends_with("e10 with degree 4 and 64 directions"), "{text}");
    }
    assert!(message(CsaOptions { minimum_signal: 0.0, ..good }, 15).starts_with("minimum_signal: is 0"));
    assert!(message(CsaOptions { maximum_signal: 1.0, ..good }, 15).starts_with("maximum_signal: is 1"));
    assert!(message(CsaOptions { b0_threshold: 2000.0, ..good }, 15).starts_with("bvals: none of 65 is above"));
    let [s, b, g] = volume_tensors(&c, Order::ColumnMajor, |x| x);
    let mut shells = elements::<f64>(&b);
    shells[5] = 3000.0;
    let input = [s, tensor(&c, Order::ColumnMajor, &[VOLUMES], &shells), g];
    let mut sh = zeros(&c, DType::F32, &[15, VOXELS]);
    let e = run(&c, &input, Basis::Canonical, &good, &mut sh, None).unwrap_err().to_string();
    assert!(e.starts_with("bvals: run from") && e.contains("one shell"), "{e}");
}
