use super::support::*;
use crate::algebra::{Place, create};
use crate::scalar::{Complex, DType, Scalar};
use crate::tensor::train::Shape;

four_types! {
    states_of_rank_one => states;
    random_trains_have_norms_near_one => random;
}

fn states<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    let modes = [2, 1, 3];
    assert_eq!(norm(&dense::<T>(&create::zeros(&at, T::DTYPE, &modes).unwrap())), 0.0);
    assert!(dense::<T>(&create::ones(&at, T::DTYPE, &modes).unwrap()).iter().all(|z| *z == C::new(1.0, 0.0)));
    let basis = create::basis_state(&at, T::DTYPE, &modes, &[1, 0, 2]).unwrap();
    let expected: Vec<C> = (0..6).map(|k| C::new(f64::from(k == 5), 0.0)).collect();
    assert_eq!(dense::<T>(&basis), expected);
    let vectors: Vec<T> = (1..=6).map(|k| T::from_parts(f64::from(k), f64::from(k % 2))).collect();
    let z: Vec<C> = vectors.iter().map(|z| C::new(z.re(), z.im())).collect();
    let product = create::product_state(&at, &modes, &vectors).unwrap();
    let expected: Vec<C> = tuples(&modes).iter().map(|t| z[t[0]] * z[2] * z[3 + t[2]]).collect();
    assert_eq!(dense::<T>(&product), expected);
    let identity = create::identity(&at, T::DTYPE, &modes).unwrap();
    let (a, _, m, _) = super::products::dense_matrix::<T>(&identity);
    assert!(a.iter().enumerate().all(|(k, z)| *z == C::new(f64::from(k / m == k % m), 0.0)));
}

fn random<T: Scalar>() {
    let c = context(2);
    let (mut sum, count) = (0.0, 400);
    for (modes, ranks) in [(&[3, 2, 3][..], &[1, 3, 2, 1][..]), (&[2, 2, 2, 2], &[3, 2, 3, 2, 3])] {
        for seed in 0..count {
            sum += norm(&dense::<T>(&train::<T>(&c, modes, ranks, seed))).powi(2);
        }
    }
    // The squared norm of such a train has a standard deviation below 2. The bound is five times that of the mean of
    // 800.
    let mean = sum / (2 * count) as f64;
    assert!((mean - 1.0).abs() < 5.0 * 2.0 / ((2 * count) as f64).sqrt(), "{mean}");
}

#[test]
fn random_numbers_follow_from_seed_and_place_alone() {
    let shape = || Shape::new("x", &[70, 90], &[1, 3, 1]).unwrap();
    let (one, three) = (context(1), context(3));
    let x = create::random(&Place::host(&one), DType::F64, shape(), 5).unwrap();
    let y = create::random(&Place::host(&three), DType::F64, shape(), 5).unwrap();
    assert!(same::<f64>(&x, &y));
    assert!(!same::<f64>(&x, &create::random(&Place::host(&one), DType::F64, shape(), 6).unwrap()));
    let cores = x.cores::<f64>("x").unwrap();
    let deviation = (1.0 / (90.0 * 3f64.sqrt())).sqrt();
    let expected = crate::rng::normal(5, crate::rng::stream::TRAINS, 7, 1) * deviation;
    assert_eq!(cores.core(1)[7], expected);
    let z = create::random(&Place::host(&one), DType::CF64, shape(), 5).unwrap();
    let normal = |column| crate::rng::normal(5, crate::rng::stream::TRAINS, 7, column);
    let deviation = (1.0 / (2.0 * 90.0 * 3f64.sqrt())).sqrt();
    let expected = Complex::new(normal(2) * deviation, normal(3) * deviation);
    assert_eq!(z.cores::<Complex<f64>>("z").unwrap().core(1)[7], expected);
}
