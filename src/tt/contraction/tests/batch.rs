//! Many products in one call, and the CPU's chain kernel.

use super::closed_forms::uniform;
use crate::contraction::Contraction;
use crate::contraction::batch::{plain_batch, plain_gram};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::info::{Kernel, Outcome};
use crate::trains::options::{Conjugate, Method, Scaling};
use crate::trains::testing::{Plain, bare, cpu, inner};
use crate::trains::{Options, Scaled};

/// Open trains and rings of three shapes, one for each seed.
fn mixed(seeds: std::ops::Range<u64>, complex: bool) -> Vec<Plain> {
    seeds
        .map(|seed| match seed % 3 {
            0 => Plain::uniform_ranks(5, 2, 4, false, complex, seed),
            1 => Plain::random(&[2; 10], &[2, 5, 3, 4, 2, 5, 3, 9, 2, 3, 2], complex, seed),
            _ => Plain::uniform_ranks(5, 2, 17, false, complex, seed),
        })
        .collect()
}

#[test]
fn a_batch_has_the_bits_of_single_calls_for_any_number_of_threads() {
    let (x, y) = (mixed(0..13, true), mixed(30..43, true));
    let mut before: Option<Vec<Scaled>> = None;
    for threads in [1, 2, 3] {
        let c = cpu(threads);
        let trains = |list: &[Plain]| list.iter().map(|t| t.train(&c, DType::CF64)).collect::<Vec<_>>();
        let (tx, ty) = (trains(&x), trains(&y));
        let (rx, ry) = (tx.iter().collect::<Vec<_>>(), ty.iter().collect::<Vec<_>>());
        let mut session = Contraction::new(&c, Options::default()).unwrap();
        let mut sums = vec![Scaled::ONE; 13];
        let info = session.inner_batch(None, &rx, &ry, &mut sums, None).unwrap();
        assert_eq!(info.kernel, Kernel::Chain);
        for k in 0..13 {
            let (alone, _) = session.inner_scaled(None, rx[k], ry[k], None).unwrap();
            assert_eq!(sums[k], alone, "place {k}");
            let (value, outcome) = sums[k].plain(DType::CF64);
            assert_eq!(outcome, Outcome::Ok);
            let error = (value - inner(&x[k], &y[k], true)).norm();
            assert!(error <= 1e-13 * x[k].norm() * y[k].norm(), "place {k}: {error}");
        }
        assert_eq!(*before.get_or_insert(sums.clone()), sums, "{threads} threads");
    }
}

/// A number of a batch is rounded to the type of the trains as in a single call.
#[test]
fn plain_numbers_of_a_batch_are_those_of_single_calls() {
    let c = cpu(2);
    let (x, y) = (mixed(0..9, true), mixed(30..39, true));
    let mut is_shorter = 0;
    for dtype in [DType::F32, DType::CF32, DType::F64, DType::CF64] {
        let (tx, ty): (Vec<_>, Vec<_>) =
            x.iter().zip(&y).map(|(x, y)| (x.train(&c, dtype), y.train(&c, dtype))).unzip();
        let (rx, ry) = (tx.iter().collect::<Vec<_>>(), ty.iter().collect::<Vec<_>>());
        let mut session = Contraction::new(&c, Options::default()).unwrap();
        let mut sums = vec![Scaled::ONE; 9];
        session.inner_batch(None, &rx, &ry, &mut sums, None).unwrap();
        let (numbers, outcome) = plain_batch(&sums, &rx, &ry).unwrap();
        assert_eq!(outcome, Outcome::Ok);
        for (k, &sum) in sums.iter().enumerate() {
            let (alone, info) = session.inner(None, rx[k], ry[k], None).unwrap();
            assert_eq!((numbers[k], Outcome::Ok), (alone, info.outcome), "{dtype:?}, place {k}");
            is_shorter += usize::from(numbers[k] != sum.plain(DType::CF64).0);
        }
        let same = [rx[0], rx[3], rx[6]];
        let mut gram = vec![Scaled::ONE; 6];
        session.gram(None, &same, &[ry[3], ry[0]], &mut gram, None).unwrap();
        let (numbers, _) = plain_gram(&gram, &same, &[ry[3], ry[0]]).unwrap();
        for (k, number) in numbers.iter().enumerate() {
            let (alone, _) = session.inner(None, same[k % 3], ry[[3, 0][k / 3]], None).unwrap();
            assert_eq!(*number, alone, "{dtype:?}, entry {k}");
        }
    }
    assert!(is_shorter > 9, "{is_shorter} of 18 sums in single precision are longer");
}

#[test]
fn gram_matrices_are_hermitian_or_symmetric() {
    let c = cpu(2);
    let plain: Vec<_> = (0..7).map(|seed| Plain::uniform_ranks(6, 2, 5, false, true, seed)).collect();
    let trains: Vec<_> = plain.iter().map(|t| t.train(&c, DType::CF64)).collect();
    let copies: Vec<_> = plain.iter().map(|t| t.train(&c, DType::CF64)).collect();
    let (list, others) = (trains.iter().collect::<Vec<_>>(), copies.iter().collect::<Vec<_>>());
    for conjugate in [Conjugate::Bra, Conjugate::None] {
        let mut session = Contraction::new(&c, Options { conjugate, ..Options::default() }).unwrap();
        let (mut half, mut all) = (vec![Scaled::ONE; 49], vec![Scaled::ONE; 49]);
        let halved = session.gram(None, &list, &list, &mut half, None).unwrap();
        let whole = session.gram(None, &list, &others, &mut all, None).unwrap();
        assert!(halved.flops < 0.6 * whole.flops, "{} of {}", halved.flops, whole.flops);
        for j in 0..7 {
            for i in 0..7 {
                let wanted = inner(&plain[i], &plain[j], conjugate == Conjugate::Bra);
                for g in [half[i + 7 * j], all[i + 7 * j]] {
                    let error = (g.plain(DType::CF64).0 - wanted).norm();
                    assert!(error <= 1e-13 * plain[i].norm() * plain[j].norm(), "{i}, {j}: {error}");
                }
            }
        }
    }
    let mut session = Contraction::new(&c, Options::default()).unwrap();
    let mut wide = vec![Scaled::ONE; 14];
    session.gram(None, &list, &others[..2], &mut wide, None).unwrap();
    assert_eq!(wide[8], session.inner_scaled(None, list[1], others[1], None).unwrap().0);
}

#[test]
fn a_real_list_meets_a_complex_one() {
    let c = cpu(2);
    let (x, y) = (mixed(0..6, false), mixed(60..66, true));
    let tx: Vec<_> = x.iter().map(|t| t.train(&c, DType::F64)).collect();
    let ty: Vec<_> = y.iter().map(|t| t.train(&c, DType::CF64)).collect();
    let (rx, ry) = (tx.iter().collect::<Vec<_>>(), ty.iter().collect::<Vec<_>>());
    let mut session = Contraction::new(&c, Options::default()).unwrap();
    let (mut there, mut back) = (vec![Scaled::ONE; 6], vec![Scaled::ONE; 6]);
    session.inner_batch(None, &rx, &ry, &mut there, None).unwrap();
    session.inner_batch(None, &ry, &rx, &mut back, None).unwrap();
    for k in 0..6 {
        let error = (there[k].plain(DType::CF64).0 - inner(&x[k], &y[k], true)).norm();
        assert!(error <= 1e-13 * x[k].norm() * y[k].norm(), "place {k}: {error}");
        let error = (back[k].plain(DType::CF64).0 - inner(&y[k], &x[k], true)).norm();
        assert!(error <= 1e-13 * x[k].norm() * y[k].norm(), "place {k} back: {error}");
    }
}

#[test]
fn every_place_has_an_outcome_of_its_own() {
    let c = cpu(2);
    let d = 60;
    let fill = |value: f32| -> TensorTrain {
        let shape = Shape::new("x", &vec![2; d], &vec![1; d + 1]).unwrap();
        let mut t = TensorTrain::create(&c, DType::F32, Location::Host, shape).unwrap();
        let mut cores = t.cores_mut::<f32>("x").unwrap();
        (0..d).for_each(|k| cores.core(k).fill(value));
        t
    };
    let trains = [fill(1.0), fill(1e10), fill(1e-10), fill(0.0), fill(f32::NAN)];
    let list: Vec<_> = trains.iter().collect();
    let mut sums = vec![Scaled::ONE; 5];
    let mut session = Contraction::new(&c, Options::default()).unwrap();
    session.inner_batch(None, &list, &list, &mut sums, None).unwrap();
    let outcomes: Vec<_> = sums.iter().map(|s| s.plain(DType::F32).1).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Overflow, Outcome::Underflow, Outcome::Ok, Outcome::NonFinite]);
    assert_eq!(sums[0], Scaled { exponent: 61, ..Scaled::real(0.5) });
    assert_eq!(sums[3], Scaled::ZERO);
    for (some, worst) in [(0..1, Outcome::Ok), (0..2, Outcome::Overflow), (1..4, Outcome::Underflow)] {
        let (numbers, outcome) = plain_batch(&sums[some.clone()], &list[some.clone()], &list[some.clone()]).unwrap();
        assert_eq!((numbers.len(), outcome), (some.len(), worst));
    }
    assert_eq!(plain_batch(&sums, &list, &list).unwrap().1, Outcome::NonFinite);
    assert_eq!(plain_gram(&sums[4..], &list[4..], &list[4..]).unwrap().1, Outcome::NonFinite);
    let refused = plain_batch(&sums[..2], &list, &list).unwrap_err().to_string();
    assert_eq!(refused, "results: has 2 elements, 5 are needed");
}

#[test]
fn pairs_that_lose_digits_have_the_bits_of_single_calls() {
    let c = cpu(2);
    let root = |e: f64| (e * std::f64::consts::LN_2).exp();
    for (dtype, m) in [(DType::F32, 127.0), (DType::F64, 1020.0)] {
        let ring = |core: [f64; 4]| bare(&[2, 2, 2], vec![core.to_vec(); 2]).train(&c, dtype);
        let hiding = ring([0.0, root(0.6 * m), root(0.4 * m), root(-0.6 * m)]);
        let graded = bare(&[1, 2, 1], vec![vec![1.3, root(0.4 * m)], vec![0.7, root(-0.4 * m)]]).train(&c, dtype);
        let plain = Plain::random(&[1, 1], &[1, 3, 1], false, 5).train(&c, dtype);
        let wrong = bare(&[1, 1, 1], vec![vec![0.0], vec![f64::NAN]]).train(&c, dtype);
        let list = [&hiding, &graded, &plain, &wrong];
        for scaling in [Scaling::Auto, Scaling::Always, Scaling::Never] {
            let mut session = Contraction::new(&c, Options { scaling, ..Options::default() }).unwrap();
            let mut single = Vec::new();
            for (i, x) in list.iter().enumerate() {
                for y in list {
                    single.push((session.inner_scaled(None, x, y, None).unwrap().0, i));
                }
            }
            let (x, y): (Vec<_>, Vec<_>) = list.iter().flat_map(|x| list.map(|y| (*x, y))).unzip();
            for some in [0..16, 0..2, 3..8, 10..11, 5..11] {
                let mut sums = vec![Scaled::ONE; some.len()];
                let (x, y) = (&x[some.clone()], &y[some.clone()]);
                let info = session.inner_batch(None, x, y, &mut sums, None).unwrap();
                for (sum, (alone, i)) in sums.iter().zip(&single[some.clone()]) {
                    let is_same = sum == alone || !sum.is_finite() && !alone.is_finite();
                    assert!(is_same, "{dtype:?} {scaling:?} {some:?}, train {i}: {sum:?}, alone {alone:?}");
                }
                let worst = sums.iter().map(|sum| sum.outcome()).max();
                assert_eq!(Some(info.outcome), worst, "{dtype:?} {scaling:?} {some:?}");
            }
            let mut gram = vec![Scaled::ONE; 16];
            session.gram(None, &list, &list, &mut gram, None).unwrap();
            for (sum, (alone, i)) in gram.iter().step_by(5).zip(single.iter().step_by(5)) {
                assert!(sum == alone || !sum.is_finite() && !alone.is_finite(), "gram, train {i}: {sum:?}, {alone:?}");
            }
        }
    }
}

#[test]
fn powers_in_a_batch_have_the_bits_of_single_calls() {
    let c = cpu(2);
    let mut core: Vec<f64> = Plain::random(&[3], &[4, 4], false, 6).cores[0].iter().map(|v| v.re).collect();
    core[0] = 1e-300;
    let ring = uniform(&c, &mut core, 12, 4, 3);
    let mut session = Contraction::new(&c, Options { method: Method::Power, ..Options::default() }).unwrap();
    let (alone, info) = session.inner_scaled(None, &ring, &ring, None).unwrap();
    assert_eq!(info.method, Method::Power);
    let mut sums = [Scaled::ONE; 3];
    session.inner_batch(None, &[&ring; 3], &[&ring; 3], &mut sums, None).unwrap();
    assert_eq!(sums, [alone; 3]);
}

#[test]
fn empty_batches_and_what_does_not_fit() {
    let c = cpu(1);
    let mut session = Contraction::new(&c, Options::default()).unwrap();
    assert_eq!(session.inner_batch(None, &[], &[], &mut [], None).unwrap().flops, 0.0);
    assert_eq!(session.gram(None, &[], &[], &mut [], None).unwrap().flops, 0.0);
    let (a, b) = (Plain::uniform_ranks(4, 2, 3, false, false, 1), Plain::uniform_ranks(4, 3, 3, false, false, 2));
    let (a32, a, b) = (a.train(&c, DType::F32), a.train(&c, DType::F64), b.train(&c, DType::F64));
    let mut sums = [Scaled::ONE; 2];
    let mut text = |x: &[&TensorTrain], y: &[&TensorTrain], length: usize| {
        session.inner_batch(None, x, y, &mut sums[..length], None).unwrap_err().to_string()
    };
    assert_eq!(text(&[&a], &[], 1), "y: has 0 trains, x has 1");
    assert_eq!(text(&[&a], &[&a], 2), "results: has 2 elements, 1 are needed");
    assert_eq!(text(&[&a, &a], &[&a, &b], 2), "y[1]: core 0 has mode size 3, that of x[1] is 2");
    assert_eq!(text(&[&a, &a], &[&a, &a32], 2), "y[1]: is F32, x[1] is F64: precisions differ");
    let other = cpu(1);
    let foreign = Plain::uniform_ranks(4, 2, 3, false, false, 1).train(&other, DType::F64);
    assert_eq!(text(&[&a, &foreign], &[&a, &a], 2), "x[1]: belongs to another context");
    let unset = TensorTrain::create(&c, DType::F64, Location::Host, a.shape().clone()).unwrap();
    assert_eq!(text(&[&a, &a], &[&unset, &a], 2), "y[0]: core 0 has not been set");
}

#[test]
fn rings_go_through_the_chain_in_every_block_size() {
    let x = Plain::uniform_ranks(5, 2, 6, true, true, 5);
    let y = Plain::random(&[2; 5], &[4, 3, 7, 5, 9, 4], true, 6);
    for (a, b) in [(&x, &y), (&y, &x), (&x, &x)] {
        let wanted = inner(a, b, true);
        for threads in [1, 3] {
            let c = cpu(threads);
            let (ta, tb) = (a.train(&c, DType::CF64), b.train(&c, DType::CF64));
            let tb = if std::ptr::eq(a, b) { &ta } else { &tb };
            let forms = [(Method::Blocked, 1), (Method::Blocked, 7), (Method::Full, 0), (Method::Reduced, 0)];
            for (method, block) in forms {
                for cut in [None, Some(0), Some(3)] {
                    let options = Options { method, block, cut, ..Options::default() };
                    let mut session = Contraction::new(&c, options).unwrap();
                    let (value, info) = session.inner(None, &ta, tb, None).unwrap();
                    assert_eq!(info.kernel, Kernel::Chain);
                    let error = (value - wanted).norm();
                    assert!(error <= 1e-13 * a.norm() * b.norm(), "{method:?} {block} {cut:?}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_workspace_too_small_for_the_chain_takes_products() {
    let c = cpu(1);
    let x = Plain::uniform_ranks(5, 2, 3, false, false, 5).train(&c, DType::F64);
    let y = Plain::uniform_ranks(5, 2, 3, false, false, 6).train(&c, DType::F64);
    // One pair needs (n + 1) r s numbers.
    let options = Options { workspace_limit: 3 * 9 * 8, ..Options::default() };
    let (tight, info) = Contraction::new(&c, options).unwrap().inner(None, &x, &y, None).unwrap();
    assert_eq!(info.kernel, Kernel::Products);
    assert!(info.workspace_bytes <= 3 * 9 * 8);
    let (wide, info) = Contraction::new(&c, Options::default()).unwrap().inner(None, &x, &y, None).unwrap();
    assert_eq!(info.kernel, Kernel::Chain);
    assert!((tight - wide).norm() <= 1e-13 * wide.norm().max(1.0), "{tight} {wide}");
}
