//! TT-matrices from sums of terms.

use super::support::*;
use crate::error::Error;
use crate::operator::models::Heisenberg;
use crate::operator::slots::Slots;
use crate::operator::spin::{pauli, spin};
use crate::operator::{Terms, Trains, heisenberg, identity, ising, sandwich};
use crate::scalar::DType;
use crate::tensor::train::TrainMatrix;
use crate::trains::options::Options;

type Term = (C, Vec<(usize, Vec<C>)>);

/// A sum of terms applied to a full tensor, from the definition.
fn sum_of(terms: &[Term], modes: &[usize], x: &[C]) -> Vec<C> {
    let mut out = vec![c(0.0, 0.0); x.len()];
    for (coefficient, factors) in terms {
        let image = factors.iter().rev().fold(x.to_vec(), |x, (k, op)| act(&x, modes, *k, op));
        out.iter_mut().zip(image).for_each(|(o, x)| *o += coefficient * x);
    }
    out
}

fn built(terms: &[Term], modes: &[usize]) -> Terms {
    let mut sum = Terms::new(modes).unwrap();
    for (coefficient, factors) in terms {
        let factors: Vec<(usize, &[C])> = factors.iter().map(|(k, op)| (*k, &op[..])).collect();
        sum.add(*coefficient, &factors).unwrap();
    }
    sum
}

#[test]
fn sums_of_any_terms_are_what_they_say() {
    let context = cpu(1);
    for seed in 0..150 {
        let mut draw = Draw::new(seed);
        let d = 1 + seed as usize % 6;
        let modes = draw.sizes(d, 3);
        // Few matrices, so that terms have parts in common; one is the identity.
        let pool: Vec<Vec<Vec<C>>> = modes
            .iter()
            .map(|&n| {
                let eye = (0..n * n).map(|at| c(f64::from(u8::from(at % n == at / n)), 0.0)).collect();
                vec![draw.numbers(n * n, true), draw.numbers(n * n, true), eye]
            })
            .collect();
        let terms: Vec<Term> = (0..draw.below(12))
            .map(|_| {
                let factors = (0..draw.below(4)).map(|_| {
                    let k = draw.below(d);
                    (k, pool[k][draw.below(3)].clone())
                });
                let factors = factors.collect();
                (c(draw.eighth(), draw.eighth()), factors)
            })
            .collect();
        let x = Plain::random(&mut draw, &modes, &vec![1; d + 1], true);
        let value = sum_of(&terms, &modes, &x.full());
        for ring in [false, true] {
            let h = built(&terms, &modes).build(&context, DType::CF64, ring).unwrap();
            assert!(ring || !h.train().shape().is_cyclic());
            let found = PlainMatrix::of(&h).apply(&x).full();
            let error = norm(&found.iter().zip(&value).map(|(f, v)| f - v).collect::<Vec<_>>());
            assert!(error <= 1e-12 * norm(&value).max(1.0), "case {seed}, ring {ring}: {error}");
        }
    }
}

#[test]
fn spin_chains_have_their_known_ranks() {
    let context = cpu(1);
    let ranks = |h: TrainMatrix| h.train().shape().ranks().to_vec();
    let model = Heisenberg { field: 1.0, ..Heisenberg::default() };
    assert_eq!(ranks(heisenberg(&context, DType::F32, 6, &model).unwrap()), [1, 5, 5, 5, 5, 5, 1]);
    let ring = Heisenberg { ring: true, ..model };
    assert_eq!(ranks(heisenberg(&context, DType::F64, 6, &ring).unwrap()), [4, 5, 5, 5, 5, 5, 4]);
    // Without a field, no term is complete after the first site, and none begins at the last.
    let plain = Heisenberg::default();
    assert_eq!(ranks(heisenberg(&context, DType::F64, 6, &plain).unwrap()), [1, 4, 5, 5, 5, 4, 1]);
    assert_eq!(ranks(ising(&context, DType::F64, 5, 1.0, 1.0, false).unwrap()), [1, 3, 3, 3, 3, 1]);
    assert_eq!(ranks(ising(&context, DType::F64, 5, 1.0, 1.0, true).unwrap()), [2, 3, 3, 3, 3, 2]);
    assert_eq!(ranks(identity(&context, DType::F64, &[2, 3, 1]).unwrap()), [1, 1, 1, 1]);
    // A sum of fields needs only the states "nothing yet" and "all done".
    let field = Heisenberg { couplings: [0.0; 3], ..model };
    assert_eq!(ranks(heisenberg(&context, DType::F64, 4, &field).unwrap()), [1, 2, 2, 2, 1]);
    let all = |d: usize| {
        let z = pauli("z").unwrap();
        let mut terms = Terms::uniform(d, 2).unwrap();
        for l in 0..d {
            for k in 0..l {
                terms.add(c(1.0 / (l - k) as f64, 0.0), &[(k, &z), (l, &z)]).unwrap();
            }
        }
        terms.build(&context, DType::F64, false).unwrap()
    };
    // All pairs are coupled: the bond has one state for each site of the shorter side, and two more.
    assert_eq!(ranks(all(8)), [1, 2, 4, 5, 6, 5, 4, 2, 1]);
    assert_eq!(ranks(heisenberg(&context, DType::F64, 1, &ring).unwrap()), [1, 1]);
    assert_eq!(ranks(heisenberg(&context, DType::F64, 1, &plain).unwrap()), [1, 1]);
}

#[test]
fn slots_are_those_that_paths_touch() {
    let context = cpu(1);
    let ring = Heisenberg { ring: true, ..Heisenberg::default() };
    let h = heisenberg(&context, DType::F64, 7, &ring).unwrap();
    let blocks = h.blocks("h").unwrap();
    let counts = |slots: &Slots| (0..8).map(|t| slots.count(t)).collect::<Vec<_>>();
    // 4 boundary values with 5 states each. Of one value all 5 are on paths; of each other only the entering state and
    // "all done".
    let all = Slots::on_closed_paths(&blocks, 7, 0, 0, 4, false).unwrap();
    assert_eq!(counts(&all), [4, 7, 8, 8, 8, 8, 7, 4]);
    let with_identity = Slots::on_closed_paths(&blocks, 7, 0, 0, 4, true).unwrap();
    assert_eq!(counts(&with_identity), [5, 8, 9, 9, 9, 9, 8, 5]);
    // One boundary value at a time gives the same slots.
    for t in 0..8 {
        let each = (0..4).map(|p| Slots::on_closed_paths(&blocks, 7, 0, p, 1, false).unwrap().count(t)).sum::<usize>();
        assert_eq!(each, all.count(t));
    }
    assert_eq!(counts(&Slots::all(h.train().shape().ranks()).unwrap())[3], 20);
}

#[test]
fn sums_without_terms_and_constants() {
    let context = cpu(1);
    let none = Terms::new(&[2, 3]).unwrap().build(&context, DType::F64, true).unwrap();
    let x = Plain::product(vec![vec![c(1.0, 0.0); 2], vec![c(1.0, 0.0); 3]]);
    assert_eq!(norm(&PlainMatrix::of(&none).apply(&x).full()), 0.0);
    let mut terms = Terms::new(&[2, 3]).unwrap();
    terms.add(c(1.5, 0.0), &[]).unwrap();
    terms.add(c(1.0, 0.0), &[]).unwrap();
    let h = terms.build(&context, DType::F32, false).unwrap();
    assert_eq!(PlainMatrix::of(&h).apply(&x).full(), vec![c(2.5, 0.0); 6]);
}

#[test]
fn wrong_terms_are_named() {
    let context = cpu(1);
    let one = c(1.0, 0.0);
    let mut terms = Terms::new(&[2, 3]).unwrap();
    let problem = |e: crate::error::Result<()>| e.unwrap_err().to_string();
    assert_eq!(problem(terms.add(one, &[(2, &[one; 4])])), "sites: is 2, outside 0 to 1");
    assert_eq!(problem(terms.add(one, &[(1, &[one; 4])])), "operators: has 4 elements, 3 x 3 are needed");
    assert_eq!(problem(terms.add(c(f64::NAN, 0.0), &[])), "coefficients: have NaN+0i, not finite");
    let bad = [c(f64::INFINITY, 0.0); 4];
    assert_eq!(problem(terms.add(one, &[(0, &bad)])), "operators: at site 0 have numbers that are not finite");
    terms.add(one, &[(0, &pauli("y").unwrap())]).unwrap();
    let complex = problem(terms.build(&context, DType::F64, false).map(|_| ()));
    assert!(complex.starts_with("dtype: is F64, the terms are complex"), "{complex}");
    assert!(terms.build(&context, DType::I32, false).is_err());
    assert!(Terms::new(&[]).is_err() && Terms::new(&[2, 0]).is_err() && Terms::uniform(0, 2).is_err());
    assert!(spin(0, "sz").is_err() && spin(1, "up").is_err() && pauli("w").is_err());
    assert!(heisenberg(&context, DType::F64, 0, &Heisenberg::default()).is_err());
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let chain = |coupling, field| problem(ising(&context, DType::F64, 3, coupling, field, false).map(|_| ()));
        assert_eq!(chain(value, 1.0), format!("coupling: is {text}, not finite"));
        assert_eq!(chain(1.0, value), format!("field: is {text}, not finite"));
        let spins = |couplings, field| {
            let model = Heisenberg { couplings, field, ..Heisenberg::default() };
            problem(heisenberg(&context, DType::F64, 3, &model).map(|_| ()))
        };
        assert_eq!(spins([1.0, value, 1.0], 0.0), format!("couplings: element 1 is {text}, not finite"));
        assert_eq!(spins([1.0; 3], value), format!("field: is {text}, not finite"));
        assert!(spins([1e308, 1e308, 0.0], 0.0).starts_with("couplings: J_x = 1e308 and J_y = 1e308 have"));
    }
}

#[test]
fn spin_matrices_obey_their_algebra() {
    for twice in 1..6 {
        let n = twice + 1;
        let of = |name: &str| spin(twice, name).unwrap();
        let times = |a: &[C], b: &[C]| -> Vec<C> {
            (0..n * n).map(|at| (0..n).map(|k| a[at % n + n * k] * b[k + n * (at / n)]).sum()).collect()
        };
        let (x, y, z) = (of("sx"), of("sy"), of("sz"));
        let commutator: Vec<C> = times(&x, &y).iter().zip(times(&y, &x)).map(|(a, b)| a - b).collect();
        let close = |a: &[C], b: &[C]| a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-13);
        assert!(close(&commutator, &z.iter().map(|z| z * c(0.0, 1.0)).collect::<Vec<_>>()));
        let s = twice as f64 / 2.0;
        let squares = [&x, &y, &z].map(|m| times(m, m));
        let total: Vec<C> = (0..n * n).map(|at| squares[0][at] + squares[1][at] + squares[2][at]).collect();
        assert!(close(&total, &of("id").iter().map(|i| i * (s * (s + 1.0))).collect::<Vec<_>>()));
        let raise: Vec<C> = x.iter().zip(&y).map(|(x, y)| x + y * c(0.0, 1.0)).collect();
        assert!(close(&raise, &of("s+")));
        assert!(close(&of("s-"), &x.iter().zip(&y).map(|(x, y)| x - y * c(0.0, 1.0)).collect::<Vec<_>>()));
    }
    assert_eq!(pauli("y").unwrap(), [c(0.0, 0.0), c(0.0, 1.0), c(0.0, -1.0), c(0.0, 0.0)]);
}

#[test]
fn real_sums_of_imaginary_factors_fit_a_real_type() {
    let context = cpu(1);
    let spin = |name: &str| match name {
        "x" => vec![c(0.0, 0.0), c(0.5, 0.0), c(0.5, 0.0), c(0.0, 0.0)],
        "y" => vec![c(0.0, 0.0), c(0.0, 0.5), c(0.0, -0.5), c(0.0, 0.0)],
        _ => vec![c(0.5, 0.0), c(0.0, 0.0), c(0.0, 0.0), c(-0.5, 0.0)],
    };
    let d = 5;
    let mut terms = Terms::uniform(d, 2).unwrap();
    for k in 0..d - 1 {
        for s in ["x", "y", "z"].map(spin) {
            terms.add(c(1.0, 0.0), &[(k, &s), (k + 1, &s)]).unwrap();
        }
    }
    // An imaginary coefficient with an odd number of imaginary factors, and four imaginary factors.
    terms.add(c(0.0, 2.0), &[(1, &spin("y"))]).unwrap();
    terms.add(c(1.0, 0.0), &[(0, &spin("y")), (1, &spin("y")), (2, &spin("y")), (4, &spin("y"))]).unwrap();
    let mut draw = Draw::new(3);
    let [x, y] = [1, 2].map(|_| Plain::random(&mut draw, &[2; 5], &[1, 2, 4, 4, 2, 1], false));
    let value = |dtype: DType| {
        let h = terms.build(&context, dtype, false).unwrap();
        let (x, y) = (x.train(&context, DType::F64), y.train(&context, DType::F64));
        let options = Options::default();
        number(sandwich(&context, &options, &Trains::new(&y, Some(&h), &x)).unwrap().0)
    };
    let (real, complex) = (value(DType::F64), value(DType::CF64));
    assert!((real - complex).norm() <= 1e-13 * norm(&x.full()) * norm(&y.full()), "{real} {complex}");
    assert!(real.norm() > 1e-3);
    terms.add(c(1.0, 0.0), &[(3, &spin("y"))]).unwrap();
    let problem = terms.build(&context, DType::F64, false).map(|_| ()).unwrap_err().to_string();
    assert!(problem.contains("term 14"), "{problem}");
}

#[test]
fn terms_keep_products_in_the_range_and_refuse_others() {
    let context = cpu(1);
    let x = |size: f64| [c(0.0, 0.0), c(size, 0.0), c(size, 0.0), c(0.0, 0.0)];
    let (large, small, one) = (x(1e300), x(1e-200), x(1.0));
    let sum = |coefficient: f64, factors: &[(usize, &[C])], dtype| {
        let mut terms = Terms::uniform(3, 2)?;
        terms.add(c(coefficient, 0.0), factors)?;
        terms.build(&context, dtype, false)
    };
    let ones = Plain::product(vec![vec![c(1.0, 0.0); 2]; 3]).train(&context, DType::F64);
    // On two sites, and on one site, where the product of both factors is formed first.
    for factors in [[(0, &large[..]), (1, &small[..])], [(2, &large[..]), (2, &small[..])]] {
        let h = sum(1e-300, &factors, DType::F64).unwrap();
        let (value, _) = sandwich(&context, &Options::default(), &Trains::new(&ones, Some(&h), &ones)).unwrap();
        let value = number(value).re / 8.0;
        assert!((value - 1e-200).abs() < 1e-214, "{value}");
    }
    let problem = |r: crate::error::Result<TrainMatrix>| r.map(|_| ()).unwrap_err();
    let beyond = |text: &str| Error::Numerical(text.into());
    let e = problem(sum(1e200, &[(0, &large)], DType::F64));
    assert_eq!(e, beyond("a term of a size below 2^1662 is beyond the range of F64"));
    let e = problem(sum(1e39, &[(0, &one)], DType::F32));
    assert_eq!(e, beyond("a term of the size 1.000e39 is beyond the range of F32"));
    let e = problem(sum(1e-39, &[(1, &one)], DType::F32));
    assert_eq!(e, beyond("a term of the size 1.000e-39 is beyond the range of F32"));
    assert!(ising(&context, DType::F32, 3, 1e39, 1.0, false).is_err());
}
