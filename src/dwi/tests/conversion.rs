//! Conversions between spherical harmonics and symmetric tensors.

use super::arrays::{batch, context, distance, elements, f32s, numbers, tensor, zeros};
use super::volume::VOXELS;
use crate::dwi::sh::{
    canonical_of, canonical_row, coefficients, degree, monomial_row, monomials, sh_to_tensor_matrix,
    tensor_to_sh_matrix,
};
use crate::dwi::{Basis, sh_to_tensor, tensor_to_sh};
use crate::scalar::{DType, Real};
use crate::shape::Order;
use crate::tensor::Tensor;

#[test]
fn monomials_are_lexicographic_with_their_multinomials() {
    let all: Vec<_> = monomials(4).collect();
    assert_eq!(all.len(), 15);
    assert_eq!(all[..3], [([4, 0, 0], 1.0), ([3, 1, 0], 4.0), ([3, 0, 1], 4.0)]);
    assert_eq!(all[4], ([2, 1, 1], 12.0));
    assert_eq!(all[14], ([0, 0, 4], 1.0));
    // (x + y + z)^m at ones.
    assert_eq!(monomials(8).map(|(_, w)| w).sum::<f64>(), 3.0f64.powi(8));
}

#[test]
fn matrices_agree_with_the_golden_ones() {
    for (l, text) in [
        (2, include_str!("../../../tests/golden/dwi/tensor_to_sh_L2.csv")),
        (4, include_str!("../../../tests/golden/dwi/tensor_to_sh_L4.csv")),
        (6, include_str!("../../../tests/golden/dwi/tensor_to_sh_L6.csv")),
        (8, include_str!("../../../tests/golden/dwi/tensor_to_sh_L8.csv")),
    ] {
        let found = tensor_to_sh_matrix(l, Basis::Canonical).unwrap();
        assert!(distance(&found, &numbers(text)) < 1e-13, "degree {l}");
    }
}

#[test]
fn bases_are_those_of_dipy() {
    let rows = numbers(include_str!("../../../tests/golden/dwi/dipy_bases_L4.csv"));
    let bases = [Basis::Mrtrix3, Basis::Tournier07Legacy, Basis::Descoteaux07Legacy, Basis::Descoteaux07];
    for row in rows.chunks_exact(3 + 4 * 15) {
        let mut y = [0.0; 15];
        canonical_row(4, [row[0], row[1], row[2]], &mut y);
        for (basis, expected) in bases.iter().zip(row[3..].chunks_exact(15)) {
            let found: Vec<f64> = canonical_of(*basis, 4).map(|(j, factor)| factor * y[j]).collect();
            assert!(distance(&found, expected) < 1e-13, "{basis:?}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn a_tensor_and_its_harmonics_have_the_same_values() {
    for l in [2, 4, 6, 8, 16] {
        let u = coefficients(l);
        assert_eq!(degree("sh", u).unwrap(), l);
        let packed: Vec<f64> = (0..u).map(|k| ((k * k + 1) as f64).sin()).collect();
        let (mut row, mut y) = (vec![0.0; u], vec![0.0; u]);
        for basis in Basis::ALL {
            let c = tensor_to_sh_matrix(l, basis).unwrap();
            let sh: Vec<f64> = c.chunks_exact(u).map(|r| r.iter().zip(&packed).map(|(a, b)| a * b).sum()).collect();
            for g in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.6, -0.8, 0.0], [0.48, 0.6, 0.64]] {
                monomial_row(l, g, &mut row);
                canonical_row(l, g, &mut y);
                let tensor: f64 = row.iter().zip(&packed).map(|(a, b)| a * b).sum();
                let scale: f64 = row.iter().zip(&packed).map(|(a, b)| (a * b).abs()).sum();
                let harmonics: f64 = canonical_of(basis, l).zip(&sh).map(|((j, f), c)| f * c * y[j]).sum();
                // The sum's own rounding: U terms, each with the 1e-15 of its coefficient.
                assert!((tensor - harmonics).abs() < 1e-14 * (u as f64) * scale.max(1.0), "{l} {basis:?} {g:?}");
            }
            let inverse = sh_to_tensor_matrix(l, basis).unwrap();
            let back: Vec<f64> = inverse.chunks_exact(u).map(|r| r.iter().zip(&sh).map(|(a, b)| a * b).sum()).collect();
            // The condition number grows from 1.6 at degree 2 to 29 at 8 and about 1e3 at 16.
            assert!(distance(&back, &packed) < 1e-12, "{l} {basis:?}");
        }
    }
}

fn golden_tensors<T: Real>(tolerance: f64, convert: impl Fn(f32) -> T) {
    let c = context(2);
    for (order, sh, expected) in [
        (
            4,
            f32s(include_bytes!("../../../tests/golden/dwi/csa4_sh_mrtrix.f32")),
            f32s(include_bytes!("../../../tests/golden/dwi/csa4_tensor.f32")),
        ),
        (
            8,
            f32s(include_bytes!("../../../tests/golden/dwi/csa8_sh_mrtrix.f32")),
            f32s(include_bytes!("../../../tests/golden/dwi/csa8_tensor.f32")),
        ),
    ] {
        let u = sh.len() / VOXELS;
        let typed: Vec<T> = sh.iter().map(|x| convert(*x)).collect();
        let original: Vec<f64> = sh.iter().map(|x| f64::from(*x)).collect();
        let expected: Vec<f64> = expected.iter().map(|x| f64::from(*x)).collect();
        // Both storage orders: coefficients of a voxel together, and one image a coefficient.
        for storage in [Order::ColumnMajor, Order::RowMajor] {
            let source = tensor(&c, storage, &[u, VOXELS], &typed);
            let mut packed = batch(&c, T::DTYPE, order, VOXELS);
            sh_to_tensor(&c, None, &source, Basis::Mrtrix3, &mut packed).unwrap();
            let d = distance(&elements::<T>(&packed), &expected);
            assert!(d < 1e-5, "order {order}: {d}");
            let mut back = tensor(&c, Order::ColumnMajor, &[u, VOXELS], &typed);
            back.view_mut::<T>("test").unwrap().data().fill(T::ZERO);
            tensor_to_sh(&c, None, &packed, Basis::Mrtrix3, &mut back).unwrap();
            let d = distance(&elements::<T>(&back), &original);
            assert!(d < tolerance, "order {order}: {d}");
        }
    }
}

#[test]
fn golden_orientation_functions_become_tensors_and_return_f64() {
    golden_tensors::<f64>(1e-13, f64::from);
}

#[test]
fn golden_orientation_functions_become_tensors_and_return_f32() {
    golden_tensors::<f32>(1e-5, |x| x);
}

#[test]
fn bases_convert_into_each_other() {
    let c = context(1);
    let sh: Vec<f64> = (0..15).map(|k| (f64::from(k) + 0.5).cos()).collect();
    let source = tensor(&c, Order::ColumnMajor, &[15, 1], &sh);
    let (mut packed, mut out) = (batch(&c, DType::F64, 4, 1), zeros(&c, DType::F64, &[15, 1]));
    sh_to_tensor(&c, None, &source, Basis::Mrtrix3, &mut packed).unwrap();
    tensor_to_sh(&c, None, &packed, Basis::Tournier07Legacy, &mut out).unwrap();
    // The two differ by the square root of 2 off the zonal coefficients alone.
    let expected: Vec<f64> =
        sh.iter().enumerate().map(|(k, x)| if [0, 3, 10].contains(&k) { *x } else { x * 2.0f64.sqrt() }).collect();
    assert!(distance(&elements::<f64>(&out), &expected) < 1e-14);
}

#[test]
fn wrong_arguments_are_named() {
    let c = context(1);
    let sh = zeros(&c, DType::F32, &[15, 2]);
    let message = |r: crate::error::Result<()>| r.unwrap_err().to_string();
    let to = |t: &mut Tensor| sh_to_tensor(&c, None, &sh, Basis::Canonical, t);
    assert!(message(to(&mut batch(&c, DType::F32, 3, 2))).starts_with("tensors: has the odd order 3"));
    assert!(message(to(&mut batch(&c, DType::F32, 2, 2))).starts_with("sh: has dimensions [15, 2], [6, 2]"));
    assert!(message(to(&mut batch(&c, DType::F64, 4, 2))).starts_with("tensors: is F64, F32"));
    assert!(message(to(&mut zeros(&c, DType::F32, &[15, 2]))).starts_with("tensors: is a dense tensor"));
    assert!(message(to(&mut batch(&c, DType::F32, 18, 2))).contains("outside 2 .. 16"));
    assert!(Basis::from_code("basis", 0).unwrap_err().to_string().contains("no default"));
    assert_eq!(Basis::from_code("basis", 2).unwrap(), Basis::Mrtrix3);
    let e = degree("sh", 16).unwrap_err().to_string();
    assert!(e.starts_with("sh: has 16 coefficients"), "{e}");
}

#[test]
fn an_empty_batch_is_nothing_to_do() {
    let c = context(1);
    let mut packed = batch(&c, DType::F32, 4, 0);
    sh_to_tensor(&c, None, &zeros(&c, DType::F32, &[15, 0]), Basis::Mrtrix3, &mut packed).unwrap();
}
