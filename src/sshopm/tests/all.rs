//! All pairs: published tables, complete reference sets, tensors whose pairs are known exactly.

use super::support::*;
use crate::error::Error;
use crate::progress::Progress;
use crate::scalar::Real;
use crate::sshopm::{NO_MORSE_INFORMATION, Options, PairClass, Results, TensorStatus, all};
use crate::tensor::Tensor;

pub struct All {
    pub count: usize,
    pub found: usize,
    pub info: crate::sshopm::Info,
    pub values: Vec<f64>,
    pub vectors: Vec<f64>,
    pub residuals: Vec<f64>,
    pub classes: Vec<i32>,
    pub basins: Vec<i32>,
    pub hessian: Vec<f64>,
    pub status: i32,
    pub morse: i32,
    pub expected: i32,
}

fn find(c: &std::sync::Arc<crate::context::Context>, a: &Tensor, o: &Options, k: usize) -> All {
    find_as::<f64>(c, a, o, k)
}

/// All pairs of one tensor of type T, as f64, at most `k`.
pub fn find_as<T: Real>(c: &std::sync::Arc<crate::context::Context>, a: &Tensor, o: &Options, k: usize) -> All {
    let n = a.symmetric().unwrap().dimension;
    let (mut count, mut status) = (dense::<i32>(c, &[1]), dense::<i32>(c, &[1]));
    let mut found = dense::<i32>(c, &[1]);
    let (mut morse, mut expected) = (dense::<i32>(c, &[1]), dense::<i32>(c, &[1]));
    let (mut values, mut residuals) = (dense::<T>(c, &[k, 1]), dense::<T>(c, &[k, 1]));
    let (mut vectors, mut hessian) = (dense::<T>(c, &[n, k, 1]), dense::<T>(c, &[n - 1, k, 1]));
    let (mut classes, mut basins) = (dense::<i32>(c, &[k, 1]), dense::<i32>(c, &[k, 1]));
    let mut r = Results {
        count: Some(&mut count),
        values: Some(&mut values),
        vectors: Some(&mut vectors),
        residuals: Some(&mut residuals),
        classes: Some(&mut classes),
        basins: Some(&mut basins),
        hessian: Some(&mut hessian),
        status: Some(&mut status),
        found: Some(&mut found),
        ..Results::default()
    };
    let info = all(c, None, a, o, &mut r, Some(&mut morse), Some(&mut expected), &Progress::none()).unwrap();
    All {
        count: data::<i32>(&count)[0] as usize,
        found: data::<i32>(&found)[0] as usize,
        info,
        values: numbers::<T>(&values),
        vectors: numbers::<T>(&vectors),
        residuals: numbers::<T>(&residuals),
        classes: data(&classes),
        basins: data(&basins),
        hessian: numbers::<T>(&hessian),
        status: data::<i32>(&status)[0],
        morse: data::<i32>(&morse)[0],
        expected: data::<i32>(&expected)[0],
    }
}

fn numbers<T: Real>(t: &Tensor) -> Vec<f64> {
    data::<T>(t).into_iter().map(Real::to_f64).collect()
}

const NS: i32 = PairClass::NegativeStable as i32;
const PS: i32 = PairClass::PositiveStable as i32;
const SADDLE: i32 = PairClass::Unstable as i32;
const FLAT: i32 = PairClass::Degenerate as i32;

#[test]
fn the_published_tables_are_complete() {
    let c = context(2);
    for (m, a, table) in [
        (
            4,
            &KOFIDIS_REGALIA[..],
            &[
                (0.889_322_010_679_401, NS, [-1.846, -0.886]),
                (0.816_881_344_983_623, NS, [-2.258, -0.902]),
                (0.510_473_279_544_884, SADDLE, [-2.340, 0.594]),
                (0.363_306_048_438_438, NS, [-1.177, -0.571]),
                (0.268_241_648_878_448, SADDLE, [-1.179, 0.785]),
                (0.262_802_292_9, SADDLE, [-2.174, 0.618]),
                (0.243_340_532_6, SADDLE, [-1.194, 1.463]),
                (0.173_456_485_4, SADDLE, [-1.097, 0.863]),
                (-0.045_092_181_1, PS, [0.821, 1.246]),
                (-0.562_917_132_7, PS, [1.629, 2.382]),
                (-1.095_351_698_9, PS, [1.863, 2.747]),
            ][..],
        ),
        (
            3,
            &KOLDA_MAYO[..],
            &[
                (0.872_985_144_4, NS, [f64::NAN; 2]),
                (0.430_586_371_8, NS, [f64::NAN; 2]),
                (0.229_418_671_3, SADDLE, [f64::NAN; 2]),
                (0.017_981_316_2, NS, [f64::NAN; 2]),
                (0.003_263_501_8, SADDLE, [f64::NAN; 2]),
                (0.001_834_344_1, SADDLE, [f64::NAN; 2]),
                (0.000_565_454_0, PS, [f64::NAN; 2]),
            ][..],
        ),
    ] {
        let r = find(&c, &symmetric::<f64>(&c, m, 3, a), &Options::default(), 16);
        assert_eq!((r.count, r.status, r.morse, r.expected), (table.len(), 0, 1, 1), "{:?}", r.values);
        for (k, (lambda, class, hessian)) in table.iter().enumerate() {
            // The tables have ten decimals, the Hessians three.
            assert!((r.values[k] - lambda).abs() < 1e-10, "{k}: {} {lambda}", r.values[k]);
            assert!(r.residuals[k] < 1e-13, "{k}: {}", r.residuals[k]);
            assert_eq!(r.classes[k], *class, "{k}");
            for (got, want) in r.hessian[2 * k..2 * k + 2].iter().zip(hessian) {
                assert!(want.is_nan() || (got - want).abs() < 6e-4, "{k}: {got} {want}");
            }
        }
    }
}

/// Packed entries of sum w_i q_i^m.
fn odeco(m: usize, w: &[f64], q: &[Vec<f64>]) -> Vec<f64> {
    let shape = crate::tensor::Symmetric { order: m, dimension: w.len() };
    let mut walk = crate::tensor::symmetric::Monomials::new(shape).unwrap();
    let mut out = Vec::new();
    while let Some((_, tuple)) = walk.next_tuple() {
        out.push(w.iter().zip(q).map(|(w, q)| w * tuple.iter().map(|i| q[*i]).product::<f64>()).sum());
    }
    out
}

/// An orthonormal basis: Gram and Schmidt on counter-based normals.
fn basis(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut q: Vec<Vec<f64>> = Vec::new();
    for k in 0..n {
        let mut v: Vec<f64> =
            (0..n).map(|i| crate::rng::normal(seed, 77, k as u64, u32::try_from(i).unwrap())).collect();
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

#[test]
fn orthogonally_decomposable_tensors_have_their_exact_pairs() {
    let c = context(2);
    for (m, n) in [(3, 3), (3, 5), (4, 3), (4, 4), (5, 4)] {
        let w: Vec<f64> = (0..n).map(|i| 1.0 + 0.37 * i as f64).collect();
        let a = odeco(m, &w, &basis(n, m as u64));
        let r = find(&c, &symmetric::<f64>(&c, m, n, &a), &Options::default(), 128);
        // A pair for each non-empty subset and, for even order, each choice of signs up to a common one.
        let p = (m - 2) as f64;
        let mut expected = Vec::new();
        for subset in 1u32..1 << n {
            let members: Vec<usize> = (0..n).filter(|i| subset >> i & 1 == 1).collect();
            let lambda = members.iter().map(|i| w[*i].powf(-2.0 / p)).sum::<f64>().powf(-p / 2.0);
            let copies = if m % 2 == 0 { 1 << (members.len() - 1) } else { 1 };
            expected.extend(std::iter::repeat_n((lambda, n - members.len()), copies));
        }
        expected.sort_by(|a, b| b.0.total_cmp(&a.0));
        let isolated: Vec<usize> = (0..r.count).filter(|k| r.classes[*k] != FLAT).collect();
        let found: Vec<f64> = isolated.iter().map(|k| r.values[*k]).collect();
        if m <= 4 {
            assert_eq!(r.count, expected.len(), "({m},{n}) {found:?}");
            assert!(r.expected == NO_MORSE_INFORMATION || r.morse == r.expected);
        }
        for (lambda, negative) in expected {
            // Rounding of the entries and of the residual, over the smallest Hessian eigenvalue: 1e-12 is ample.
            let k = isolated.iter().find(|k| (r.values[**k] - lambda).abs() < 1e-12);
            let k = *k.unwrap_or_else(|| panic!("({m},{n}): {lambda} is not among {found:?}"));
            assert!(
                isolated.iter().any(|k| {
                    let h = &r.hessian[k * (n - 1)..(k + 1) * (n - 1)];
                    (r.values[*k] - lambda).abs() < 1e-12
                        && h.iter().filter(|e| **e < 0.0).count() == if negative == n - 1 { n - 1 } else { negative }
                }),
                "({m},{n}) {lambda} {negative} {:?}",
                &r.hessian[k * (n - 1)..(k + 1) * (n - 1)]
            );
        }
    }
}

/// Packed entries of a form, from (exponents, coefficient).
fn form(m: usize, terms: &[([usize; 3], f64)]) -> Vec<f64> {
    let shape = crate::tensor::Symmetric { order: m, dimension: 3 };
    let mut walk = crate::tensor::symmetric::Monomials::new(shape).unwrap();
    let mut out = Vec::new();
    while let Some((_, tuple)) = walk.next_tuple() {
        let mut k = [0; 3];
        tuple.iter().for_each(|i| k[*i] += 1);
        let weight = crate::tensor::symmetric::multinomial(tuple).unwrap() as f64;
        out.push(terms.iter().filter(|t| t.0 == k).map(|t| t.1).sum::<f64>() / weight);
    }
    out
}

fn classes_at(r: &All, lambda: f64, tolerance: f64) -> Vec<i32> {
    let mut c: Vec<i32> =
        (0..r.count).filter(|k| (r.values[*k] - lambda).abs() < tolerance).map(|k| r.classes[k]).collect();
    c.sort_unstable();
    c
}

#[test]
fn the_motzkin_and_choi_lam_forms() {
    let c = context(2);
    let motzkin = form(6, &[([4, 2, 0], 1.0), ([2, 4, 0], 1.0), ([0, 0, 6], 1.0), ([2, 2, 2], -3.0)]);
    // At the degenerate minima the gradient grows as the fifth power of the distance: a residual of 1e-11 leaves 6e-3 on
    // either side, which the merge angle must take together.
    let o = Options { merge_angle: 2e-2, degeneracy_tolerance: 1e-4, ..Options::default() };
    let r = find(&c, &symmetric::<f64>(&c, 6, 3, &motzkin), &o, 64);
    assert_eq!(classes_at(&r, 1.0, 1e-10), [NS]);
    assert_eq!(classes_at(&r, 0.25, 1e-10), [NS, NS]);
    assert_eq!(classes_at(&r, 1.0 / 64.0, 1e-10), [SADDLE; 8]);
    assert_eq!(classes_at(&r, 0.0, 1e-9), [PS, PS, PS, PS, FLAT, FLAT]);
    assert_eq!(r.count, 17, "{:?}", r.values);
    let choi = form(6, &[([4, 2, 0], 1.0), ([0, 4, 2], 1.0), ([2, 0, 4], 1.0), ([2, 2, 2], -3.0)]);
    let r = find(&c, &symmetric::<f64>(&c, 6, 3, &choi), &o, 64);
    assert_eq!(classes_at(&r, 4.0 / 27.0, 1e-10), [NS; 6]);
    assert_eq!(classes_at(&r, 1.0 / 27.0, 1e-10), [SADDLE; 12]);
    let zero = classes_at(&r, 0.0, 1e-9);
    assert_eq!(zero.iter().filter(|k| **k == PS).count(), 4, "{zero:?}");
    assert!(zero.contains(&FLAT));
}

#[test]
fn a_tensor_of_low_rank_has_its_pairs_and_a_continuum() {
    let c = context(2);
    let g = |i: usize| if i.is_multiple_of(2) { -1.0 / (i + 1) as f64 } else { 1.0 / (i + 1) as f64 };
    let shape = crate::tensor::Symmetric { order: 3, dimension: 5 };
    let mut walk = crate::tensor::symmetric::Monomials::new(shape).unwrap();
    let mut a = Vec::new();
    while let Some((_, t)) = walk.next_tuple() {
        a.push(t.iter().map(|i| g(*i)).sum::<f64>());
    }
    let r = find(&c, &symmetric::<f64>(&c, 3, 5, &a), &Options { starts: 2000, ..Options::default() }, 8);
    assert!((r.values[0] - 9.977_893).abs() < 1e-6 && (r.values[1] - 4.287_620).abs() < 1e-6, "{:?}", r.values);
    let x = [0.7313, 0.1375, 0.4674, 0.2365, 0.4146];
    for (i, x) in x.iter().enumerate() {
        assert!((r.vectors[i].abs() - x).abs() < 1e-4);
    }
    assert_eq!(r.status, TensorStatus::Degenerate as i32, "{:?} {:?}", r.values, r.classes);
    assert!((2..r.count).all(|k| r.values[k].abs() < 1e-6), "{:?}", r.values);
}

#[test]
fn order_two_is_the_symmetric_eigenproblem() {
    let c = context(1);
    // Eigenvalues 1, 2 and 4 of a rotated diagonal matrix.
    let q = basis(3, 5);
    let a = odeco(2, &[1.0, 2.0, 4.0], &q);
    let r = find(&c, &symmetric::<f64>(&c, 2, 3, &a), &Options::default(), 3);
    assert_eq!((r.count, r.morse, r.expected), (3, 1, 1));
    for (v, e) in r.values.iter().zip([4.0, 2.0, 1.0]) {
        assert!((v - e).abs() < 1e-14);
    }
    assert_eq!(r.classes, [NS, SADDLE, PS]);
    assert!((r.hessian[0] + 3.0).abs() < 1e-14 && (r.hessian[1] + 2.0).abs() < 1e-14);
    assert!(r.residuals.iter().all(|r| *r < 1e-14));
}

#[test]
fn complete_reference_sets_are_found_with_no_extra_pair() {
    let c = context(2);
    let golden = Golden::open("random_n3_all_eigenpairs.npz");
    for m in [3, 4, 5, 6, 8] {
        let entries = golden.f64(&format!("m{m}_tensors"));
        let counts = golden.i32(&format!("m{m}_count"));
        let (lambda, x) = (golden.f64(&format!("m{m}_lambda")), golden.f64(&format!("m{m}_x")));
        let hessian = golden.f64(&format!("m{m}_hess"));
        let packed = entries.len() / counts.len();
        let mut first = 0;
        for (t, count) in counts.iter().enumerate() {
            let count = *count as usize;
            let a = symmetric::<f64>(&c, m, 3, &entries[t * packed..(t + 1) * packed]);
            let r = find(&c, &a, &Options { starts: 1000, ..Options::default() }, 64);
            assert_eq!((r.count, r.morse), (count, 1), "m = {m}, tensor {t}");
            for k in first..first + count {
                let expected = &x[3 * k..3 * k + 3];
                let hit = (0..count).find(|p| {
                    let y = &r.vectors[3 * p..3 * p + 3];
                    let dot: f64 = expected.iter().zip(y).map(|(a, b)| a * b).sum();
                    // The smallest Hessian eigenvalue is 1e-3 of the largest lambda: residual 1e-13 over that.
                    (1.0 - dot.abs()) < 1e-12 && (r.values[*p] - lambda[k]).abs() < 1e-9
                });
                let p = hit.unwrap_or_else(|| panic!("m = {m}, tensor {t}: {} is missing", lambda[k]));
                let mut h = [hessian[2 * k], hessian[2 * k + 1]];
                h.sort_by(f64::total_cmp);
                for j in 0..2 {
                    assert!((r.hessian[2 * p + j] - h[j]).abs() < 1e-8, "{:?} {h:?}", &r.hessian[2 * p..2 * p + 2]);
                }
            }
            first += count;
        }
    }
}

#[test]
fn the_caller_can_end_the_search_of_one_tensor() {
    let c = context(2);
    let a = symmetric::<f64>(&c, 4, 3, &KOFIDIS_REGALIA);
    let calls = std::cell::RefCell::new(Vec::new());
    // The first report comes before the search, so that it is the second that a search without reports would not make.
    let report = |step: i64, steps: i64, _: f64| {
        calls.borrow_mut().push((step, steps));
        calls.borrow().len() < 2
    };
    let o = Options { starts: 10_000_000, ..Options::default() };
    let mut count = dense::<i32>(&c, &[1]);
    let mut r = Results { count: Some(&mut count), ..Results::default() };
    let outcome = all(&c, None, &a, &o, &mut r, None, None, &c.progress(Some(&report)));
    assert_eq!(outcome, Err(Error::Cancelled));
    assert_eq!(*calls.borrow(), [(0, 1), (0, 1)]);
}

/// Count, distinct pairs found and values of every tensor of a batch, with memory for `k` pairs each.
pub(super) fn lists(c: &std::sync::Arc<crate::context::Context>, a: &Tensor, o: &Options, k: usize) -> Lists {
    let t = a.dims()[1];
    let (mut count, mut found, mut status) = (dense::<i32>(c, &[t]), dense::<i32>(c, &[t]), dense::<i32>(c, &[t]));
    let (mut morse, mut values) = (dense::<i32>(c, &[t]), dense::<f64>(c, &[k, t]));
    let mut residuals = dense::<f64>(c, &[k, t]);
    let mut r = Results {
        count: Some(&mut count),
        found: Some(&mut found),
        status: Some(&mut status),
        values: Some(&mut values),
        residuals: Some(&mut residuals),
        ..Results::default()
    };
    let info = all(c, None, a, o, &mut r, Some(&mut morse), None, &Progress::none()).unwrap();
    let (count, found, status, morse) = (data(&count), data(&found), data(&status), data(&morse));
    Lists { count, found, status, morse, values: data(&values), residuals: data(&residuals), info }
}

pub(super) struct Lists {
    count: Vec<i32>,
    pub(super) found: Vec<i32>,
    pub(super) status: Vec<i32>,
    morse: Vec<i32>,
    values: Vec<f64>,
    residuals: Vec<f64>,
    info: crate::sshopm::Info,
}

#[test]
fn random_tensors_of_order_eight_are_listed_whole_or_said_to_be_cut() {
    const TENSORS: usize = 300;
    // ((m - 1)^n - 1) / (m - 2) pairs over the complex numbers, of which those that are not real come in twos.
    const MOST: usize = (7 * 7 * 7 - 1) / 6;
    const FEW: usize = 16;
    let c = context(2);
    let size = crate::tensor::Symmetric { order: 8, dimension: 3 }.count();
    let entries: Vec<f64> =
        (0..TENSORS * size).map(|i| crate::rng::normal(2020, 78, 0, u32::try_from(i).unwrap())).collect();
    let a = symmetric::<f64>(&c, 8, 3, &entries);
    let o = Options { starts: 400, ..Options::default() };
    let whole = lists(&c, &a, &o, MOST);
    assert_eq!((whole.info.truncated_tensors, whole.info.unconverged_tensors), (0, 0));
    for t in 0..TENSORS {
        let count = whole.count[t] as usize;
        assert_eq!((whole.found[t], whole.morse[t]), (whole.count[t], 1), "tensor {t}");
        assert_eq!(whole.status[t], TensorStatus::Ok as i32, "tensor {t}: {count} pairs");
        assert!(count % 2 == MOST % 2 && count <= MOST, "tensor {t}: {count} pairs");
        let list = &whole.values[MOST * t..MOST * t + count];
        // Random tensors have no two pairs of one lambda.
        assert!(list.windows(2).all(|w| w[0] > w[1] + 1e-9), "tensor {t}: {list:?}");
        assert!(whole.residuals[MOST * t..MOST * t + count].iter().all(|r| *r < 1e-10), "tensor {t}");
    }
    // The same lists, cut.
    let cut = lists(&c, &a, &o, FEW);
    let larger = whole.found.iter().filter(|f| **f > 16).count();
    assert!(larger > TENSORS / 2, "{larger}");
    assert_eq!(cut.info.truncated_tensors as usize, larger);
    assert_eq!(cut.found, whole.found);
    for t in 0..TENSORS {
        let count = (whole.count[t] as usize).min(FEW);
        assert_eq!(cut.count[t] as usize, count, "tensor {t}");
        assert_eq!(cut.values[FEW * t..FEW * t + count], whole.values[MOST * t..MOST * t + count], "tensor {t}");
    }
    // Ten times as many starts, and others, find no more.
    let some = symmetric::<f64>(&c, 8, 3, &entries[..20 * size]);
    let more = lists(&c, &some, &Options { starts: 4000, seed: 9, ..Options::default() }, MOST);
    assert_eq!(more.found, whole.found[..20]);
}

#[test]
fn a_tensor_has_the_same_bits_at_any_place_of_a_batch() {
    let c = context(2);
    for (m, entries) in [(4, &KOFIDIS_REGALIA[..]), (3, &KOLDA_MAYO[..])] {
        let (count, k) = (5, 16);
        let a = symmetric::<f64>(&c, m, 3, &entries.repeat(count));
        let (mut values, mut vectors) = (dense::<f64>(&c, &[k, count]), dense::<f64>(&c, &[3, k, count]));
        let mut basins = dense::<i32>(&c, &[k, count]);
        let mut r = Results {
            values: Some(&mut values),
            vectors: Some(&mut vectors),
            basins: Some(&mut basins),
            ..Results::default()
        };
        let o = Options { starts: 700, ..Options::default() };
        all(&c, None, &a, &o, &mut r, None, None, &Progress::none()).unwrap();
        let (values, vectors) = (data::<f64>(&values), data::<f64>(&vectors));
        let basins = data::<i32>(&basins);
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for t in 1..count {
            assert_eq!(bits(&values[t * k..(t + 1) * k]), bits(&values[..k]), "order {m}, tensor {t}");
            assert_eq!(bits(&vectors[3 * t * k..3 * (t + 1) * k]), bits(&vectors[..3 * k]), "order {m}, tensor {t}");
            assert_eq!(basins[t * k..(t + 1) * k], basins[..k], "order {m}, tensor {t}");
        }
    }
}
