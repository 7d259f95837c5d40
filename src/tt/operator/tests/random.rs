//! <y|H|x> of random trains against full tensors.

use super::support::*;
use crate::operator::{Trains, rayleigh, sandwich};
use crate::scalar::DType;
use crate::trains::options::{Conjugate, Method, Options, Scaling};

/// Types of y, H and x that may be combined.
const TYPES: [[DType; 3]; 10] = [
    [DType::F64, DType::F64, DType::F64],
    [DType::CF64, DType::CF64, DType::CF64],
    [DType::CF64, DType::F64, DType::CF64],
    [DType::F64, DType::CF64, DType::F64],
    [DType::F64, DType::F64, DType::CF64],
    [DType::CF64, DType::F64, DType::F64],
    [DType::F32, DType::F32, DType::F32],
    [DType::CF32, DType::CF32, DType::CF32],
    [DType::CF32, DType::F32, DType::CF32],
    [DType::F32, DType::CF32, DType::CF32],
];

struct Case {
    y: Plain,
    h: PlainMatrix,
    x: Plain,
    types: [DType; 3],
}

/// 1 to 6 sites, boundary ranks of 1 or more, modes of H that differ, some ranks of 1.
fn case(seed: usize) -> Case {
    let mut draw = Draw::new(seed as u64);
    let d = 1 + seed % 6;
    let most = if d > 4 { 3 } else { 4 };
    let (rows, cols) = (draw.sizes(d, most), draw.sizes(d, most));
    let end = |draw: &mut Draw, cyclic: bool| if cyclic { 2 + draw.below(2) } else { 1 };
    let bits = seed / 6 % 8;
    let [ry, rh, rx] = [1, 2, 4].map(|bit| {
        let ends = end(&mut draw, bits & bit != 0);
        draw.ranks(d, if bit == 2 { 3 } else { 4 }, ends)
    });
    let types = TYPES[seed % TYPES.len()];
    let complex = types.map(|t| t.is_complex());
    Case {
        y: Plain::random(&mut draw, &rows, &ry, complex[0]),
        h: PlainMatrix::random(&mut draw, &rows, &cols, &rh, complex[1]),
        x: Plain::random(&mut draw, &cols, &rx, complex[2]),
        types,
    }
}

#[test]
fn all_shapes_types_and_ways_agree_with_full_tensors() {
    let context = cpu(2);
    for seed in 0..240 {
        let Case { y, h, x, types } = case(seed);
        let (full_y, full) = (y.full(), h.apply(&x).full());
        let (value, size) = (dot(&full_y, &full), norm(&full_y) * norm(&full));
        // If a sum cancels, its error is relative to the largest term.
        let size = size.max(1e-3);
        let (ty, th, tx) = (y.train(&context, types[0]), h.matrix(&context, types[1]), x.train(&context, types[2]));
        let trains = Trains::new(&ty, Some(&th), &tx);
        let tolerance = 100.0 * tolerance(types[0]) * size;
        let d = x.modes.len();
        let ways = [
            Options::default(),
            Options { method: Method::Reduced, ..Options::default() },
            Options { method: Method::Full, ..Options::default() },
            Options { block: 2, scaling: Scaling::Never, ..Options::default() },
            Options { cut: Some(seed % d), ..Options::default() },
        ];
        for options in ways {
            let (found, info) = sandwich(&context, &options, &trains).unwrap();
            let error = (number(found) - value).norm();
            assert!(error <= tolerance, "case {seed}: {found:?} for {value}, {options:?}, {info:?}");
        }
        let bilinear = Options { conjugate: Conjugate::None, ..Options::default() };
        let (found, _) = sandwich(&context, &bilinear, &trains).unwrap();
        let value: C = full_y.iter().zip(&full).map(|(y, x)| y * x).sum();
        assert!((number(found) - value).norm() <= tolerance, "case {seed}, not conjugated");
    }
}

#[test]
fn without_an_operator_it_is_the_inner_product() {
    let context = cpu(1);
    for seed in 0..60 {
        let mut draw = Draw::new(seed);
        let d = 1 + seed as usize % 6;
        let modes = draw.sizes(d, 4);
        let ends = [1 + seed as usize % 3, 1 + seed as usize / 3 % 2];
        let [ry, rx] = ends.map(|e| draw.ranks(d, 4, e));
        let (y, x) = (Plain::random(&mut draw, &modes, &ry, true), Plain::random(&mut draw, &modes, &rx, false));
        let (ty, tx) = (y.train(&context, DType::CF64), x.train(&context, DType::F64));
        let (found, _) = sandwich(&context, &Options::default(), &Trains::new(&ty, None, &tx)).unwrap();
        let (y, x) = (y.full(), x.full());
        assert!((number(found) - dot(&y, &x)).norm() <= 1e-13 * (norm(&y) * norm(&x)).max(1e-3), "case {seed}");
    }
}

#[test]
fn rayleigh_quotients_agree_with_full_tensors() {
    let context = cpu(2);
    for seed in 0..120 {
        let mut draw = Draw::new(seed);
        let d = 1 + seed as usize % 6;
        let modes = draw.sizes(d, 4);
        let ends = [1 + seed as usize % 3, 1 + seed as usize / 3 % 3];
        let [rx, rh] = ends.map(|e| draw.ranks(d, 3, e));
        let complex = seed % 2 == 0;
        let x = Plain::random(&mut draw, &modes, &rx, complex);
        let h = PlainMatrix::random(&mut draw, &modes, &modes, &rh, seed % 4 == 0);
        let dtype = if complex { DType::CF64 } else { DType::F64 };
        let (full, image) = (x.full(), h.apply(&x).full());
        if norm(&full) == 0.0 {
            continue;
        }
        let operator = if seed % 4 == 0 { DType::CF64 } else { DType::F64 };
        let (tx, th) = (x.train(&context, dtype), h.matrix(&context, operator));
        let found = rayleigh(&context, &Options::default(), &tx, &th).unwrap();
        let (n, nn) = (dot(&full, &image), dot(&full, &full));
        let size = norm(&full) * norm(&image).max(1e-3);
        assert!((number(found.numerator) - n).norm() <= 1e-12 * size, "case {seed}");
        assert!((number(found.denominator) - nn).norm() <= 1e-13 * nn.re, "case {seed}");
        assert!((number(found.quotient) - n / nn).norm() <= 1e-12 * size / nn.re, "case {seed}");
        let hermitian = Options { assume_hermitian: true, ..Options::default() };
        let real = rayleigh(&context, &hermitian, &tx, &th).unwrap();
        assert_eq!(number(real.quotient), c(number(real.quotient).re, 0.0));
        assert!((number(real.numerator).re - n.re).abs() <= 1e-12 * size);
    }
}

#[test]
fn scaling_changes_no_bit_and_threads_neither() {
    let (one, three) = (cpu(1), cpu(3));
    let mut draw = Draw::new(5);
    let d = 7;
    // Large enough for several stretches in a step.
    let ranks: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { 1 } else { 180 + k }).collect();
    let h_ranks: Vec<usize> = (0..=d).map(|k| if k == 0 || k == d { 2 } else { 3 }).collect();
    let modes = vec![2; d];
    let x = Plain::random(&mut draw, &modes, &ranks, true);
    let h = PlainMatrix::random(&mut draw, &modes, &modes, &h_ranks, false);
    let mut found = Vec::new();
    for context in [&one, &three] {
        let (tx, th) = (x.train(context, DType::CF64), h.matrix(context, DType::F64));
        for scaling in [Scaling::Always, Scaling::Never] {
            let options = Options { scaling, ..Options::default() };
            found.push(rayleigh(context, &options, &tx, &th).unwrap());
        }
    }
    for other in &found[1..] {
        assert_eq!(other.numerator, found[0].numerator);
        assert_eq!(other.denominator, found[0].denominator);
    }
    assert!(!found[0].numerator.is_zero());
}
