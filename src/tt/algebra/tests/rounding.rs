use super::support::*;
use crate::algebra::{Place, Spread, Truncation, add, canonicalize, create, element, round, scale, to_open};
use crate::scalar::{Complex, DType, Scalar};
use crate::tensor::train::TensorTrain;
use crate::trains::scaled::Scaled;

four_types! {
    sums_with_themselves_get_their_ranks_back => doubled;
    rounding_keeps_its_promise => promised;
    canonical_forms_are_orthonormal => canonical;
    zero_trains_have_rank_one => zero;
}

const ONE: C = C::new(1.0, 0.0);

fn doubled<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in open_shapes() {
        let x = train::<T>(&c, modes, ranks, 1);
        let twice = add(&at, ONE, &x, ONE, &x).unwrap();
        let (y, info) = round(&at, &twice, &Truncation::relative(1e2 * roundoff::<T>())).unwrap();
        // The ranks are no larger than those of generic unfoldings.
        let d = modes.len();
        let (mut left, mut right) = (vec![1; d + 1], vec![1; d + 1]);
        for k in 0..d {
            left[k + 1] = ranks[k + 1].min(left[k] * modes[k]);
            right[d - k - 1] = ranks[d - k - 1].min(right[d - k] * modes[d - k - 1]);
        }
        let expected: Vec<usize> = (0..=d).map(|k| left[k].min(right[k])).collect();
        assert_eq!(y.shape().ranks(), expected, "{modes:?} {ranks:?}");
        let whole: Vec<C> = dense::<T>(&x).iter().map(|z| 2.0 * z).collect();
        let bound = 1e3 * roundoff::<T>() * norm(&whole);
        assert!(distance(&dense::<T>(&y), &whole) <= bound);
        let found = info.norm.plain(DType::F64).0.re;
        assert!((found - norm(&whole)).abs() <= bound);
        assert_eq!(info.discarded.len(), d - 1);
        assert_orthonormal::<T>(&y, d - 1);
    }
}

fn promised<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (s, (modes, ranks)) in open_shapes().enumerate() {
        let x = train::<T>(&c, modes, ranks, 20 + s as u64);
        let values = dense::<T>(&x);
        let whole = norm(&values);
        for epsilon in [0.7, 0.3, 0.1, 0.01] {
            let (y, info) = round(&at, &x, &Truncation::relative(epsilon)).unwrap();
            let error = distance(&dense::<T>(&y), &values);
            let slack = 100.0 * roundoff::<T>() * whole;
            assert!(error <= epsilon * whole + slack, "{error} of {whole}");
            // The truncations are orthogonal to each other, so the bound is the error.
            assert!((error - info.error * whole).abs() <= slack, "{error} {}", info.error);
            let absolute = Truncation { epsilon: epsilon * whole, absolute: true, ..Truncation::default() };
            let (z, _) = round(&at, &x, &absolute).unwrap();
            assert!(distance(&dense::<T>(&z), &values) <= epsilon * whole + slack);
        }
        let caps = vec![2; modes.len() - 1];
        let (y, _) = round(&at, &x, &Truncation { max_ranks: &caps, ..Truncation::default() }).unwrap();
        assert!(y.shape().max_rank() <= 2);
        let (y, info) = round(&at, &x, &Truncation { max_rank: 1, ..Truncation::default() }).unwrap();
        assert_eq!(y.shape().max_rank(), 1);
        let error = distance(&dense::<T>(&y), &values);
        assert!((error - info.error * whole).abs() <= 100.0 * roundoff::<T>() * whole);
    }
}

/// Cores left of the centre have orthonormal columns, those right of it orthonormal rows.
fn assert_orthonormal<T: Scalar>(x: &TensorTrain, centre: usize) {
    let cores = x.cores::<T>("x").unwrap();
    for k in (0..x.shape().len()).filter(|&k| k != centre) {
        let [r, n, s] = x.shape().core(k);
        let value = |row: usize, column: usize| {
            let z = if k < centre { cores.core(k)[row + r * n * column] } else { cores.core(k)[column + r * row] };
            C::new(z.re(), z.im())
        };
        let (rows, cols) = if k < centre { (r * n, s) } else { (n * s, r) };
        for a in 0..cols {
            for b in 0..cols {
                let dot: C = (0..rows).map(|i| value(i, a).conj() * value(i, b)).sum();
                let expected = f64::from(a == b);
                let bound = 8.0 * (rows + cols) as f64 * roundoff::<T>();
                assert!((dot - expected).norm() <= bound, "core {k}: {a} {b} {dot}");
            }
        }
    }
}

fn canonical<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in open_shapes() {
        let x = train::<T>(&c, modes, ranks, 3);
        let values = dense::<T>(&x);
        for centre in 0..modes.len() {
            let y = canonicalize(&at, &x, centre).unwrap();
            assert_eq!(y.exponent, 0);
            assert!(distance(&dense::<T>(&y.train), &values) <= 100.0 * roundoff::<T>() * norm(&values));
            assert_orthonormal::<T>(&y.train, centre);
            // The canonical form of a train in canonical form is the train.
            let z = canonicalize(&at, &y.train, centre).unwrap().train;
            assert_eq!(z.shape(), y.train.shape());
            let (a, b) = (y.train.cores::<T>("y").unwrap(), z.cores::<T>("z").unwrap());
            for k in 0..modes.len() {
                let pairs = a.core(k).iter().zip(b.core(k));
                let most = pairs.map(|(a, b)| (a.re() - b.re()).abs() + (a.im() - b.im()).abs()).fold(0.0, f64::max);
                assert!(most <= 100.0 * roundoff::<T>(), "{modes:?} {ranks:?} centre {centre} core {k}: {most}");
            }
            if centre > 0 {
                assert_positive_triangle(x.cores::<T>("x").unwrap().core(0), a.core(0), modes[0]);
            }
        }
    }
}

/// X = Q R for the first cores X of a train and Q of its canonical form: R is a triangle with a positive diagonal.
fn assert_positive_triangle<T: Scalar>(x: &[T], q: &[T], rows: usize) {
    let wide = |z: &T| C::new(z.re(), z.im());
    for (j, x) in x.chunks_exact(rows).enumerate() {
        for (i, q) in q.chunks_exact(rows).enumerate().skip(j) {
            let r: C = q.iter().zip(x).map(|(q, x)| wide(q).conj() * wide(x)).sum();
            let bound = 32.0 * roundoff::<T>();
            assert!(if i == j { r.re > bound && r.im.abs() < bound } else { r.norm() < bound }, "{i} {j}: {r}");
        }
    }
}

fn zero<T: Scalar>() {
    let c = context(1);
    let at = Place::host(&c);
    let x = train::<T>(&c, &[2, 3, 2], &[1, 2, 2, 1], 1);
    let nothing = add(&at, ONE, &x, -ONE, &x).unwrap();
    let (y, _) = round(&at, &nothing, &Truncation { epsilon: 1e-3, absolute: true, ..Truncation::default() }).unwrap();
    assert_eq!(y.shape().ranks(), [1, 1, 1, 1]);
    let zeros = scale(&at, Scaled::ZERO, &x, Spread::Auto).unwrap();
    let (y, info) = round(&at, &zeros, &Truncation::default()).unwrap();
    assert_eq!((y.shape().ranks(), info.norm, &info.discarded[..]), (&[1, 1, 1, 1][..], Scaled::ZERO, &[0.0, 0.0][..]));
    assert_eq!(norm(&dense::<T>(&y)), 0.0);
    let y = canonicalize(&at, &zeros, 1).unwrap();
    assert_eq!((y.train.shape().ranks(), y.exponent), (&[1, 1, 1, 1][..], 0));
}

#[test]
fn known_functions_have_their_ranks() {
    // f = sum of k_i has rank 2, and its squared norm is known (n = 5, d = 6).
    let c = context(1);
    let at = Place::host(&c);
    let (d, n) = (6, 5);
    let digits: Vec<f64> = (0..n).map(f64::from).collect();
    let mut sum: Option<TensorTrain> = None;
    for k in 0..d {
        let vectors: Vec<f64> = (0..d).flat_map(|j| if j == k { digits.clone() } else { vec![1.0; 5] }).collect();
        let term = create::product_state(&at, &[5; 6], &vectors).unwrap();
        sum = Some(match sum {
            None => term,
            Some(s) => add(&at, ONE, &s, ONE, &term).unwrap(),
        });
    }
    let (y, info) = round(&at, &sum.unwrap(), &Truncation::relative(1e-13)).unwrap();
    assert_eq!(y.shape().ranks(), [1, 2, 2, 2, 2, 2, 1]);
    let square = info.norm.plain(DType::F64).0.re.powi(2);
    assert!((square - 2_437_500.0).abs() < 1e-13 * 2_437_500.0 * 40.0, "{square}");
}

#[test]
fn norms_beyond_the_range_of_the_type_are_spread() {
    let c = context(1);
    let at = Place::host(&c);
    let d = 400;
    let x = train::<f32>(&c, &vec![2; d], &[&[1][..], &vec![3; d - 1], &[1]].concat(), 2);
    // 2^150 is beyond single precision, but its share for each core is not.
    for exponent in [3001i64, -2999, 150, 260, -150] {
        let big = scale(&at, Scaled { mantissa: C::new(0.5, 0.0), exponent }, &x, Spread::Even).unwrap();
        let (y, info) = round(&at, &big, &Truncation::relative(1e-6)).unwrap();
        let (_, plain) = round(&at, &x, &Truncation::relative(1e-6)).unwrap();
        assert_eq!(info.norm, Scaled { exponent: plain.norm.exponent + exponent - 1, ..plain.norm });
        let index = vec![1; d];
        let (a, b) = (element(&at, &big, &index).unwrap(), element(&at, &y, &index).unwrap());
        assert!((a.log_abs() - b.log_abs()).abs() < 1e-2, "{a:?} {b:?}");
        let z = canonicalize(&at, &big, 200).unwrap();
        assert!((z.exponent - exponent).abs() < 20, "{}", z.exponent);
        assert_orthonormal::<f32>(&z.train, 200);
    }
}

#[test]
fn a_ring_is_rounded_once_it_is_open() {
    let c = context(1);
    let at = Place::host(&c);
    let x = train::<Complex<f64>>(&c, &[3; 4], &[3, 2, 3, 2, 3], 1);
    let (y, _) = round(&at, &to_open(&at, &x).unwrap(), &Truncation::default()).unwrap();
    let values = dense::<Complex<f64>>(&x);
    assert!(distance(&dense::<Complex<f64>>(&y), &values) < 1e-14);
    assert_eq!(y.shape().ranks(), [1, 3, 9, 3, 1]);
}

#[test]
fn large_cores_take_the_ladder_and_keep_the_accuracy() {
    let c = context(2);
    let at = Place::host(&c);
    let x = train::<f64>(&c, &[8, 8, 8, 8, 8], &[1, 8, 64, 64, 8, 1], 1);
    let twice = add(&at, ONE, &x, C::new(-0.5, 0.0), &x).unwrap();
    let (y, _) = round(&at, &twice, &Truncation::relative(1e-12)).unwrap();
    assert_eq!(y.shape().ranks(), x.shape().ranks());
    assert_orthonormal::<f64>(&y, 4);
    let difference = add(&at, C::new(0.5, 0.0), &x, -ONE, &y).unwrap();
    let (_, info) = round(&at, &difference, &Truncation::default()).unwrap();
    assert!(info.norm.plain(DType::F64).0.re < 1e-13, "{:?}", info.norm);
}
