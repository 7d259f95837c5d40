use super::plan::Chain;
use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::Vectorized;
use crate::error::Error;
use crate::rng;
use crate::scalar::{Complex, DType, Element, Real, Scalar};
use crate::tensor::train::{Cores, Shape};
use crate::trains::scaled::Scaled;

type C = Complex<f64>;

/// A train and the memory of its cores.
struct Train<T> {
    shape: Shape,
    cores: Vec<Vec<T>>,
}

impl<T: Scalar> Train<T> {
    fn random(seed: u64, modes: &[usize], ranks: &[usize]) -> Self {
        let shape = Shape::new("x", modes, ranks).unwrap();
        let cores = (0..shape.len()).map(|k| {
            let number = |i: usize| rng::normals(seed, 7, i as u64, k as u32);
            (0..shape.core_len(k)).map(number).map(|(re, im)| T::from_parts(re, im)).collect()
        });
        Self { cores: cores.collect(), shape }
    }

    fn cores(&self) -> Cores<'_, T> {
        Cores::new(&self.shape, self.cores.iter().map(|c| &c[..]).collect())
    }

    /// The same train with every entry of core k times 2^power\[k\].
    fn scaled(&self, power: &[i64]) -> Self {
        let times = |(core, &e): (&Vec<T>, &i64)| {
            let part = |x: f64| crate::trains::scaled::scale(x, e);
            core.iter().map(|x| T::from_parts(part(x.re()), part(x.im()))).collect()
        };
        Self { shape: self.shape.clone(), cores: self.cores.iter().zip(power).map(times).collect() }
    }

    fn wide(&self, k: usize, [a, i, b]: [usize; 3]) -> C {
        let [r, n, _] = self.shape.core(k);
        let x = self.cores[k][a + r * (i + n * b)];
        C::new(x.re(), x.im())
    }
}

/// The term of a boundary pair from the definition, left to right in double precision, and the same for the moduli.
fn reference<X: Scalar, Y: Scalar>(
    x: &Train<X>,
    y: &Train<Y>,
    cut: usize,
    conjugate: bool,
    p: (usize, usize),
) -> (C, f64) {
    let d = x.shape.len();
    let size = |k: usize| (x.shape.core(k)[0], y.shape.core(k)[0]);
    let (r, s) = size(cut);
    let mut e = vec![(C::new(0.0, 0.0), 0.0); r * s];
    e[p.0 + r * p.1] = (C::new(1.0, 0.0), 1.0);
    for k in (cut..d).chain(0..cut) {
        let ([r, n, r_next], [s, _, s_next]) = (x.shape.core(k), y.shape.core(k));
        let mut next = vec![(C::new(0.0, 0.0), 0.0); r_next * s_next];
        for i in 0..n {
            for b in 0..s {
                for a_next in 0..r_next {
                    let mut t = (C::new(0.0, 0.0), 0.0);
                    for a in 0..r {
                        let core = x.wide(k, [a, i, a_next]);
                        t = (t.0 + e[a + r * b].0 * core, t.1 + e[a + r * b].1 * core.norm());
                    }
                    for b_next in 0..s_next {
                        let core = y.wide(k, [b, i, b_next]);
                        let core = if conjugate { core.conj() } else { core };
                        let to = &mut next[a_next + r_next * b_next];
                        *to = (to.0 + t.0 * core, to.1 + t.1 * core.norm());
                    }
                }
            }
        }
        e = next;
    }
    e[p.0 + r * p.1]
}

/// Bound of the rounding error relative to the term of the moduli, in units of roundoff: one unit for each operation
/// that enters a product, and more for complex numbers.
fn units<X: Scalar, Y: Scalar>(x: &Train<X>, y: &Train<Y>) -> f64 {
    let site = |k: usize| {
        let ([r, n, _], [s, _, s_next]) = (x.shape.core(k), y.shape.core(k));
        n * (r + s) + s_next + n * x.shape.core(k)[2] + 4
    };
    4.0 * (0..x.shape.len()).map(site).sum::<usize>() as f64
}

fn run<X, Y>(isa: Isa, x: &Train<X>, y: &Train<Y>, cut: usize, conjugate: bool, together: usize) -> Vec<Scaled>
where
    X: Scalar<Part: Vectorized>,
    Y: Scalar<Part = X::Part>,
{
    let (r, s) = (x.shape.ranks()[cut], y.shape.ranks()[cut]);
    let chain =
        Chain::new(isa, (&x.shape, <X as Element>::DTYPE), (&y.shape, <Y as Element>::DTYPE), (cut, 1), conjugate);
    // The kernel must not read workspace before it has written it.
    let mut work = vec![X::Part::from_f64(f64::NAN); chain.workspace(together)];
    let mut terms = vec![Scaled::ONE; r * s];
    chain.run(&x.cores(), &y.cores(), &|q| (q % r, q / r), &mut work, &mut terms).unwrap();
    terms
}

fn check<X, Y>(isa: Isa, x: &Train<X>, y: &Train<Y>, cut: usize, conjugate: bool, shift: i64)
where
    X: Scalar<Part: Vectorized>,
    Y: Scalar<Part = X::Part>,
{
    let (power, rest) = (vec![shift; x.shape.len()], vec![-shift / 2; x.shape.len()]);
    let found = run(isa, &x.scaled(&power), &y.scaled(&rest), cut, conjugate, 3);
    let exponent = (shift - shift / 2) * x.shape.len() as i64;
    let r = x.shape.ranks()[cut];
    for (q, term) in found.iter().enumerate() {
        let (value, magnitude) = reference(x, y, cut, conjugate, (q % r, q / r));
        let back = |m: f64| crate::trains::scaled::scale(m, term.exponent - exponent);
        let off = (C::new(back(term.mantissa.re), back(term.mantissa.im)) - value).norm();
        let allowed = units(x, y) * X::Part::EPSILON.to_f64() * magnitude;
        assert!(
            off <= allowed,
            "{isa:?} {:?} {:?} cut {cut} conjugate {conjugate} shift {shift} term {q}: {term:?} for {value}, off {off:e} of {allowed:e}",
            x.shape,
            y.shape
        );
    }
}

/// Random modes, and ranks of two trains: open, or rings whose boundary bonds have up to 4 values.
fn shapes(case: u64, largest: usize) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let draw = |what: u32, k: usize, most: usize| 1 + rng::words(case, 11, k as u64, what)[0] as usize % most;
    let d = draw(0, 0, 12);
    let modes = (0..d).map(|k| draw(1, k, 6)).collect();
    let ring = |what: u32| if case.is_multiple_of(2) { 1 } else { draw(what, 1, 4) };
    let ranks = |what: u32, ring: usize| {
        let most = draw(what, 0, largest);
        (0..=d).map(|k| if k == 0 || k == d { ring } else { draw(what, 9 + k, most) }).collect()
    };
    (modes, ranks(2, ring(4)), ranks(3, ring(5)))
}

const ISAS: [Isa; 3] = [Isa::Portable, Isa::Avx2, Isa::Avx512];

fn random_trains<X, Y>(cases: std::ops::Range<u64>)
where
    X: Scalar<Part: Vectorized>,
    Y: Scalar<Part = X::Part>,
{
    for case in cases {
        let (modes, r, s) = shapes(case, 20);
        let (x, y) = (Train::<X>::random(case, &modes, &r), Train::<Y>::random(case + 1000, &modes, &s));
        let cut = (case as usize / 2) % modes.len();
        // Any bond may be the cut, but inner ones with many pairs take too long.
        let cut = if r[cut] * s[cut] > 30 { 0 } else { cut };
        for isa in ISAS {
            check(isa, &x, &y, cut, case.is_multiple_of(3), 0);
        }
    }
}

#[test]
fn terms_are_those_of_the_definition() {
    random_trains::<f64, f64>(0..40);
    random_trains::<f32, f32>(40..80);
    random_trains::<Complex<f64>, Complex<f64>>(80..110);
    random_trains::<Complex<f32>, Complex<f32>>(110..140);
}

#[test]
fn a_real_train_meets_a_complex_one() {
    random_trains::<f64, Complex<f64>>(200..220);
    random_trains::<Complex<f64>, f64>(220..240);
    random_trains::<f32, Complex<f32>>(240..250);
}

#[test]
fn ranks_beyond_a_tile_and_equal_ranks() {
    for rank in [15, 16, 17, 24, 31, 33, 48] {
        for n in [2, 3] {
            let ranks = [1, rank, rank, rank, 1];
            let (x, y) = (Train::<f64>::random(1, &[n; 4], &ranks), Train::<f64>::random(2, &[n; 4], &ranks));
            ISAS.into_iter().for_each(|isa| check(isa, &x, &y, 0, true, 0));
            let (x, y) = (Train::<Complex<f32>>::random(1, &[n; 4], &ranks), Train::random(2, &[n; 4], &ranks));
            ISAS.into_iter().for_each(|isa| check::<_, Complex<f32>>(isa, &x, &y, 0, true, 0));
        }
    }
}

#[test]
fn magnitudes_may_lie_anywhere_in_the_range_of_the_type() {
    for case in 0..12 {
        let (modes, r, s) = shapes(case, 9);
        let (x, y) = (Train::<f64>::random(case, &modes, &r), Train::<f64>::random(case + 50, &modes, &s));
        for shift in [-960, -300, 20, 400, 1000] {
            check(Isa::detect(), &x, &y, 0, true, shift);
        }
        let (x, y) = (Train::<f32>::random(case, &modes, &r), Train::<Complex<f32>>::random(case, &modes, &s));
        for shift in [-100, -60, -8, 30, 80, 120] {
            check(Isa::detect(), &x, &y, 0, true, shift);
        }
    }
}

#[test]
fn powers_of_two_change_no_digit() {
    let ranks = [2, 5, 9, 17, 4, 2];
    let (x, y) = (Train::<f64>::random(3, &[2; 5], &ranks), Train::<f64>::random(4, &[2; 5], &ranks));
    let plain = run(Isa::detect(), &x, &y, 0, true, 1);
    for power in [[350, -360, 340, 20, -100], [-200, -200, -200, -200, -200], [0, 600, 600, -900, 500]] {
        let total: i64 = power.iter().sum();
        let moved = run(Isa::detect(), &x.scaled(&power), &y, 0, true, 1);
        for (a, b) in plain.iter().zip(&moved) {
            assert_eq!((a.mantissa, a.exponent + total), (b.mantissa, b.exponent), "{power:?}");
        }
    }
}

#[test]
fn long_trains_stay_in_range() {
    let d = 3000;
    let mut ranks = vec![4; d + 1];
    (ranks[0], ranks[d]) = (1, 1);
    let x = Train::<f32>::random(5, &vec![2; d], &ranks);
    let once = run(Isa::detect(), &x, &x, 0, true, 1)[0];
    assert!(once.is_finite() && once.exponent > 1000);
    let wide = Train::<f64> {
        shape: x.shape.clone(),
        cores: x.cores.iter().map(|c| c.iter().map(|v| f64::from(*v)).collect()).collect(),
    };
    let double = run(Isa::detect(), &wide, &wide, 0, true, 1)[0];
    // Only positive numbers are added: each site adds a few units of rounding error.
    let ratio = once.over(double).unwrap();
    let ratio = crate::trains::scaled::scale(ratio.mantissa.re, ratio.exponent);
    assert!((ratio - 1.0).abs() < 8.0 * d as f64 * f64::from(f32::EPSILON), "{ratio}");
}

#[test]
fn pairs_together_give_the_same_bits() {
    let ranks = [5, 9, 3, 12, 5];
    let x = Train::<Complex<f64>>::random(6, &[2, 3, 1, 4], &ranks);
    let y = Train::<Complex<f64>>::random(7, &[2, 3, 1, 4], &[4, 3, 8, 2, 4]);
    let alone = run(Isa::detect(), &x, &y, 0, true, 1);
    for together in [2, 3, 7, 16, 100] {
        assert_eq!(run(Isa::detect(), &x, &y, 0, true, together), alone);
    }
}

#[test]
fn cores_fetched_ahead_give_the_same_bits() {
    let x = Train::<f32>::random(6, &[2, 3, 1, 4], &[1, 9, 3, 12, 1]);
    let chain = Chain::new(Isa::detect(), (&x.shape, DType::F32), (&x.shape, DType::F32), (0, 1), true);
    let mut work = vec![0.0; chain.workspace(1)];
    let mut sum = [Scaled::ONE];
    chain.from_memory().run(&x.cores(), &x.cores(), &|_| (0, 0), &mut work, &mut sum).unwrap();
    assert_eq!(sum[..], run(Isa::detect(), &x, &x, 0, true, 1));
}

#[test]
fn zeros_and_numbers_that_are_not_finite() {
    let ranks = [1, 3, 9, 2, 1];
    let x = Train::<f64>::random(8, &[2; 4], &ranks);
    for k in 0..4 {
        for isa in ISAS {
            let mut zero = Train::<f64>::random(9, &[2; 4], &ranks);
            zero.cores[k].fill(0.0);
            assert_eq!(run(isa, &x, &zero, 0, true, 1), [Scaled::ZERO]);
            assert_eq!(run(isa, &zero, &x, 0, true, 1), [Scaled::ZERO]);
            for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut bad = Train::<f64>::random(9, &[2; 4], &ranks);
                bad.cores[k][1] = wrong;
                assert!(run(isa, &bad, &x, 0, true, 1)[0].mantissa.re.is_nan(), "{isa:?} core {k}");
                assert!(run(isa, &x, &bad, 0, true, 1)[0].mantissa.re.is_nan(), "{isa:?} core {k}");
            }
        }
    }
}

#[test]
fn a_workspace_that_is_too_small_is_refused() {
    let x = Train::<f64>::random(8, &[2; 4], &[1, 3, 9, 2, 1]);
    let chain = Chain::new(Isa::detect(), (&x.shape, DType::F64), (&x.shape, DType::F64), (0, 1), true);
    let mut work = vec![0.0; chain.workspace(1) - 1];
    let refused = chain.run(&x.cores(), &x.cores(), &|_| (0, 0), &mut work, &mut [Scaled::ZERO]);
    assert!(matches!(refused, Err(Error::Internal(_))));
}

#[test]
fn rounds_are_the_sites_of_a_longer_train() {
    let (modes, r, s) = ([2, 3], [3, 4, 3], [2, 9, 2]);
    let (x, y) = (Train::<Complex<f64>>::random(8, &modes, &r), Train::<Complex<f64>>::random(9, &modes, &s));
    let longer = |t: &Train<Complex<f64>>| {
        let (modes, ranks) = (t.shape.modes(), t.shape.ranks());
        let shape = Shape::new("x", &[modes, modes, modes].concat(), &[ranks, &ranks[1..], &ranks[1..]].concat());
        Train { shape: shape.unwrap(), cores: [&t.cores[..], &t.cores[..], &t.cores[..]].concat() }
    };
    let whole = run(Isa::detect(), &longer(&x), &longer(&y), 0, true, 4);
    let chain = Chain::new(Isa::detect(), (&x.shape, DType::CF64), (&y.shape, DType::CF64), (0, 3), true);
    let mut work = vec![0.0; chain.workspace(4)];
    let mut terms = vec![Scaled::ONE; 6];
    chain.run(&x.cores(), &y.cores(), &|q| (q % 3, q / 3), &mut work, &mut terms).unwrap();
    assert_eq!(terms, whole);
}
