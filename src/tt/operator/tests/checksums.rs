//! Checksums of expectation values and environments: a change of the code's structure must not change a bit.

use std::sync::Arc;

use super::support::*;
use crate::context::Context;
use crate::error::Result;
use crate::operator::models::Heisenberg;
use crate::operator::{Environments, Side, Trains, correlation, expect_local, heisenberg, ising, rayleigh, sandwich};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::testing::checksums::{Cases, Checksum, checksum_tests};
use crate::trains::options::{Conjugate, Options, Scaling};
use crate::trains::testing::add_scaled;

checksum_tests!("tt_operator", cases);

fn cases(context: &Arc<Context>, out: &mut Cases) {
    for dtype in [DType::F32, DType::F64, DType::CF32, DType::CF64] {
        with_scalar!(dtype, "dtype", T => {
            of::<T>(context, out);
            Ok::<(), crate::error::Error>(())
        })
        .unwrap();
    }
}

/// Ranks at the boundary of y, H and x.
const ENDS: [(&str, [usize; 3]); 4] =
    [("open", [1, 1, 1]), ("ring", [2, 2, 3]), ("ring of the operator", [1, 3, 1]), ("open operator", [2, 1, 2])];

fn of<T: Scalar>(context: &Arc<Context>, out: &mut Cases) {
    let name = T::DTYPE.name();
    let complex = T::IS_COMPLEX;
    for (shape, [ey, eh, ex]) in ENDS {
        let mut draw = Draw::new(5);
        let d = 5;
        let (rows, cols) = (draw.sizes(d, 3), draw.sizes(d, 3));
        let [ry, rh, rx] = [(ey, 5), (eh, 3), (ex, 4)].map(|(ends, most)| draw.ranks(d, most, ends));
        let y = Plain::random(&mut draw, &rows, &ry, complex).train(context, T::DTYPE);
        let h = PlainMatrix::random(&mut draw, &rows, &cols, &rh, complex).matrix(context, T::DTYPE);
        let x = Plain::random(&mut draw, &cols, &rx, complex).train(context, T::DTYPE);
        let square = PlainMatrix::random(&mut draw, &cols, &cols, &rh, complex).matrix(context, T::DTYPE);
        values(context, out, &format!("{name} {shape}"), [&y, &x], &h, &square);
        environments::<T>(context, out, &format!("{name} {shape}"), &Trains::new(&y, Some(&h), &x));
    }
    let mut draw = Draw::new(9);
    let state = Plain::random(&mut draw, &[2; 8], &[1, 2, 4, 8, 9, 8, 4, 2, 1], complex).train(context, T::DTYPE);
    for ring in [false, true] {
        let model = Heisenberg { couplings: [1.0, 0.75, -0.5], field: 0.25, ring, ..Heisenberg::default() };
        let run = || quotient(context, &state, &heisenberg(context, T::DTYPE, 8, &model)?, &Options::default());
        out.add(format!("{name} heisenberg ring {ring}"), run());
        let run = || quotient(context, &state, &ising(context, T::DTYPE, 8, 1.0, 0.5, ring)?, &Options::default());
        out.add(format!("{name} ising ring {ring}"), run());
    }
    locals(context, out, name, &state);
}

fn quotient(context: &Arc<Context>, x: &TensorTrain, h: &TrainMatrix, options: &Options) -> Result<Checksum> {
    let found = rayleigh(context, options, x, h)?;
    Ok(add_scaled(Checksum::new(), &[found.numerator, found.denominator, found.quotient]))
}

fn values(
    context: &Arc<Context>,
    out: &mut Cases,
    name: &str,
    [y, x]: [&TensorTrain; 2],
    h: &TrainMatrix,
    square: &TrainMatrix,
) {
    let base = Options::default();
    for (what, options) in [
        ("", base.clone()),
        (" scaled", Options { scaling: Scaling::Always, ..base.clone() }),
        (" never scaled", Options { scaling: Scaling::Never, ..base.clone() }),
        (" bilinear", Options { conjugate: Conjugate::None, ..base.clone() }),
        (" workspace", Options { workspace_limit: 20_000, ..base.clone() }),
        (" blocks", Options { block: 2, ..base.clone() }),
    ] {
        let run = || {
            let (sum, _) = sandwich(context, &options, &Trains::new(y, Some(h), x))?;
            Ok(add_scaled(Checksum::new(), &[sum]))
        };
        out.add(format!("{name} sandwich{what}"), run());
        let run = || {
            let (sum, _) = sandwich(context, &options, &Trains::new(x, None, x))?;
            Ok(add_scaled(Checksum::new(), &[sum]))
        };
        out.add(format!("{name} overlap{what}"), run());
        out.add(format!("{name} rayleigh{what}"), quotient(context, x, square, &options));
    }
    let hermitian = Options { assume_hermitian: true, ..base };
    out.add(format!("{name} rayleigh hermitian"), quotient(context, x, square, &hermitian));
}

/// Adds environments of both sides, values at the bonds, and products with effective operators of zero, one and two
/// sites.
fn environments<T: Scalar>(context: &Arc<Context>, out: &mut Cases, name: &str, trains: &Trains<'_>) {
    let d = trains.len();
    let ([bra, ket], modes) = ([trains.bra, trains.ket].map(|t| t.shape().ranks().to_vec()), trains.operator.unwrap());
    let (rows, cols) = (modes.rows(), modes.cols());
    for (what, scaling) in [("", Scaling::Auto), (" scaled", Scaling::Always)] {
        let options = Options { scaling, ..Options::default() };
        let run = || {
            let mut environments = Environments::new(context, &options, trains)?;
            let mut sum = Checksum::new();
            for k in 0..=d {
                sum = add_scaled(sum, &[environments.value(None, trains, k)?]);
                for side in [Side::Left, Side::Right] {
                    let mut found = vec![T::default(); environments.dims(trains, k)?.iter().product()];
                    let exponent = environments.get(None, trains, side, k, &mut found)?;
                    sum = sum.numbers(&found).integers([exponent.cast_unsigned()]);
                }
            }
            for sites in 0..=2 {
                for k in 0..=d - sites {
                    let size = |ranks: &[usize], modes: &[usize]| {
                        ranks[k] * modes[k..k + sites].iter().product::<usize>() * ranks[k + sites]
                    };
                    let v: Vec<T> = (0..size(&ket, cols)).map(crate::testing::checksums::scalar).collect();
                    let mut found = vec![T::default(); size(&bra, rows)];
                    let exponent = environments.apply(None, trains, (k, sites), &v, &mut found)?;
                    sum = sum.numbers(&found).integers([exponent.cast_unsigned()]);
                }
            }
            environments.update_core(2);
            Ok(add_scaled(sum, &[environments.value(None, trains, 2)?]))
        };
        out.add(format!("{name} environments{what}"), run());
    }
}

fn locals(context: &Arc<Context>, out: &mut Cases, name: &str, x: &TensorTrain) {
    let one = [c(0.5, 0.0), c(0.0, 0.25), c(0.0, -0.25), c(-1.0, 0.0)];
    let other = [c(0.0, 0.0), c(1.0, 0.0), c(1.0, 0.0), c(0.0, 0.0)];
    let two: Vec<C> = (0..16).map(|k| c(f64::from(k % 5) - 2.0, 0.0)).collect();
    let all: Vec<usize> = (0..8).collect();
    for (what, op, sites) in
        [("one site", &one[..], &all[..]), ("some sites", &other[..], &[1, 4, 6][..]), ("pairs", &two[..], &all[..7])]
    {
        let run = || {
            let found = expect_local(context, &Options::default(), x, op, sites)?;
            Ok(Checksum::new().numbers(&found.values))
        };
        out.add(format!("{name} {what}"), run());
    }
    for (what, a, b) in [("correlation", &one, &one), ("correlation of two", &one, &other)] {
        for workspace_limit in [0, 30_000] {
            let run = || {
                let options = Options { workspace_limit, ..Options::default() };
                let found = correlation(context, &options, x, a, b)?;
                Ok(Checksum::new().numbers::<Complex<f64>>(&found.values))
            };
            out.add(format!("{name} {what} within {workspace_limit}"), run());
        }
    }
}
