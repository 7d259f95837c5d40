use super::support::*;
use crate::algebra::{Place, Truncation, apply, apply_round, create, hadamard, hadamard_round, round, to_open};
use crate::scalar::{Complex, DType, Scalar};

four_types! {
    products_of_entries => entries;
    matrices_applied_to_trains => applied;
    rounded_products_are_those_of_formed_ones => fused;
}

fn entries<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (modes, ranks) in SHAPES {
        let ring = vec![2; modes.len() + 1];
        for others in [ranks, &ring] {
            let (x, y) = (train::<T>(&c, modes, ranks, 1), train::<T>(&c, modes, others, 2));
            let z = hadamard(&at, &x, &y).unwrap();
            assert!((0..=modes.len()).all(|k| z.shape().ranks()[k] == ranks[k] * others[k]));
            let expected: Vec<C> = dense::<T>(&x).iter().zip(dense::<T>(&y)).map(|(a, b)| a * b).collect();
            let scales: Vec<f64> = moduli::<T>(&x).iter().zip(moduli::<T>(&y)).map(|(a, b)| a * b).collect();
            assert_close::<T>(&dense::<T>(&z), &expected, &scales, modes.len() + 1, "Hadamard product");
        }
    }
}

/// The dense M x N matrix of a TT-matrix, from the definition, and the same of the moduli.
pub fn dense_matrix<T: Scalar>(h: &crate::tensor::train::TrainMatrix) -> (Vec<C>, Vec<f64>, usize, usize) {
    let (values, scales) = (dense::<T>(h.train()), moduli::<T>(h.train()));
    let (rows, cols) = (h.rows().iter().product::<usize>(), h.cols().iter().product::<usize>());
    let (mut out, mut sizes) = (vec![C::new(0.0, 0.0); rows * cols], vec![0.0; rows * cols]);
    for (place, t) in tuples(h.train().shape().modes()).iter().enumerate() {
        let (mut i, mut j) = (0, 0);
        for k in (0..t.len()).rev() {
            i = i * h.rows()[k] + t[k] % h.rows()[k];
            j = j * h.cols()[k] + t[k] / h.rows()[k];
        }
        out[i + rows * j] = values[place];
        sizes[i + rows * j] = scales[place];
    }
    (out, sizes, rows, cols)
}

fn applied<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for (cols, ranks) in SHAPES {
        let d = cols.len();
        let rows: Vec<usize> = (0..d).map(|k| 1 + (cols[k] + k) % 3).collect();
        let open: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { 1 } else { 3 }).collect();
        for w in [open, vec![2; d + 1]] {
            let mut h = matrix::<T>(&c, &rows, cols, &w, 3);
            // Blocks of zeros, as Hamiltonians have.
            h.train_mut().cores_mut::<T>("h").unwrap().core(0)[0] = T::default();
            let x = train::<T>(&c, cols, ranks, 4);
            let y = apply(&at, &h, &x).unwrap();
            assert_eq!(y.shape().modes(), rows);
            let (a, sizes, m, n) = dense_matrix::<T>(&h);
            let (b, scale) = (dense::<T>(&x), moduli::<T>(&x));
            let expected: Vec<C> = (0..m).map(|i| (0..n).map(|j| a[i + m * j] * b[j]).sum()).collect();
            let scales: Vec<f64> = (0..m).map(|i| (0..n).map(|j| sizes[i + m * j] * scale[j]).sum()).collect();
            let terms = cols.iter().sum::<usize>() + d;
            assert_close::<T>(&dense::<T>(&y), &expected, &scales, terms, "matrix times train");
        }
    }
}

fn fused<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    let truncation = Truncation::relative(0.05);
    for (modes, ranks) in open_shapes() {
        let (x, y) = (train::<T>(&c, modes, ranks, 1), train::<T>(&c, modes, ranks, 2));
        let (z, info) = hadamard_round(&at, &x, &y, &truncation).unwrap();
        let (formed, same_info) = round(&at, &hadamard(&at, &x, &y).unwrap(), &truncation).unwrap();
        assert!(same::<T>(&z, &formed));
        assert_eq!(info, same_info);
        let h = matrix::<T>(&c, modes, modes, ranks, 3);
        let (z, _) = apply_round(&at, &h, &x, &truncation).unwrap();
        assert!(same::<T>(&z, &round(&at, &apply(&at, &h, &x).unwrap(), &truncation).unwrap().0));
    }
}

#[test]
fn a_real_matrix_meets_a_complex_train() {
    let c = context(1);
    let at = Place::host(&c);
    let h = matrix::<f64>(&c, &[2, 2], &[2, 2], &[1, 2, 1], 1);
    let x = train::<Complex<f64>>(&c, &[2, 2], &[1, 2, 1], 2);
    let y = apply(&at, &h, &x).unwrap();
    assert_eq!(y.dtype(), DType::CF64);
    let (a, _, m, n) = dense_matrix::<f64>(&h);
    let b = dense::<Complex<f64>>(&x);
    let expected: Vec<C> = (0..m).map(|i| (0..n).map(|j| a[i + m * j] * b[j]).sum()).collect();
    assert!(distance(&dense::<Complex<f64>>(&y), &expected) < 1e-14);
}

#[test]
fn products_are_the_same_with_any_number_of_threads() {
    let build = |threads| {
        let c = context(threads);
        let at = Place::host(&c);
        let x = train::<f64>(&c, &[4; 5], &[1, 4, 6, 6, 4, 1], 1);
        let h = matrix::<f64>(&c, &[4; 5], &[4; 5], &[1, 3, 3, 3, 3, 1], 2);
        let (y, info) = apply_round(&at, &h, &x, &Truncation::relative(1e-3)).unwrap();
        let y = to_open(&at, &y).unwrap();
        let cores = y.cores::<f64>("y").unwrap();
        ((0..5).map(|k| cores.core(k).to_vec()).collect::<Vec<_>>(), info)
    };
    assert!(build(1) == build(3));
}

/// Zeros of a TT-matrix times a NaN or infinity of the train give NaN, as all other numbers do.
#[test]
fn zeros_of_a_matrix_hide_no_nan() {
    let c = context(1);
    let at = Place::host(&c);
    let mut h = create::identity(&at, DType::F64, &[2; 3]).unwrap();
    // At each site the projector to index 0.
    (0..3).for_each(|k| h.train_mut().cores_mut::<f64>("h").unwrap().core(k)[3] = 0.0);
    for bad in [f64::NAN, f64::INFINITY] {
        for site in 0..3 {
            let mut x = train::<f64>(&c, &[2; 3], &[1, 2, 2, 1], 3);
            let r = x.shape().ranks()[site];
            // The bad number is in a row of index 1, which the projector multiplies by 0.
            x.cores_mut::<f64>("x").unwrap().core(site)[r] = bad;
            let product = apply(&at, &h, &x).unwrap();
            let [_, n, s] = product.shape().core(site);
            let cores = product.cores::<f64>("x").unwrap();
            assert_eq!(n, 2);
            let core = cores.core(site);
            // Both mode indices of the first row and column.
            assert!(core[0].is_nan() && core[r].is_nan(), "{bad} at {site}: {core:?}");
            assert!((s == 1) || core[2 * r..].iter().all(|v| v.is_finite()), "{bad} at {site}: {core:?}");
            assert!((0..3).filter(|k| *k != site).all(|k| cores.core(k).iter().all(|v| v.is_finite())));
        }
    }
}
