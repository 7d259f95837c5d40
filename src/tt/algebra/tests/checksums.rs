//! Checksums of the algebra's results: a change of the code's structure must not change a bit.

use super::support::{C, SHAPES, matrix, train};
use crate::algebra::matrix as matrices;
use crate::algebra::{
    Place, Spread, Truncated, Truncation, add, apply, apply_round, canonicalize, cast, conj, copy, create, elements,
    full, hadamard, hadamard_round, reverse, rotate, round, scale, to_open, tt_svd,
};
use crate::context::Context;
use crate::error::Result;
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::shape::Order;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::tensor::{Location, Tensor};
use crate::testing::checksums::{Cases, Checksum, checksum_tests, scalar};
use crate::trains::scaled::Scaled;
use crate::trains::testing::add_scaled;
use std::sync::Arc;

checksum_tests!("tt_algebra", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    of::<f32>(c, out);
    of::<f64>(c, out);
    of::<Complex<f32>>(c, out);
    of::<Complex<f64>>(c, out);
}

/// Checksum of a train's ranks and cores.
fn train_sum(x: &TensorTrain) -> Result<Checksum> {
    with_scalar!(x.dtype(), "x", T => {
        let cores = x.cores::<T>("x")?;
        let sum = Checksum::new().integers(x.shape().ranks().iter().map(|r| *r as u64));
        Ok((0..x.shape().len()).fold(sum, |sum, k| sum.numbers(cores.core(k))))
    })
}

fn truncated_sum((x, found): (TensorTrain, Truncated)) -> Result<Checksum> {
    let sum = train_sum(&x)?.numbers(&found.discarded).number(found.error);
    Ok(add_scaled(sum, &[found.norm]))
}

fn matrix_sum(h: &TrainMatrix) -> Result<Checksum> {
    train_sum(h.train())
}

fn tensor_sum<T: Scalar>(t: &Tensor) -> Result<Checksum> {
    Ok(Checksum::new().numbers(t.view::<T>("t")?.data()))
}

fn truncations() -> [(&'static str, Truncation<'static>); 5] {
    let base = Truncation::default();
    [
        ("noise", base),
        ("relative", Truncation { epsilon: 0.3, ..base }),
        ("absolute", Truncation { epsilon: 0.5, absolute: true, ..base }),
        ("rank 2", Truncation { max_rank: 2, ..base }),
        ("both", Truncation { epsilon: 0.1, max_rank: 3, ..base }),
    ]
}

fn of<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let at = Place::host(c);
    for (s, (modes, ranks)) in SHAPES.into_iter().enumerate() {
        let (x, y) = (train::<T>(c, modes, ranks, 1), train::<T>(c, modes, ranks, 2));
        let name = format!("{} shape {s}", T::DTYPE.name());
        let (alpha, beta) = (C::new(2.5, 0.0), C::new(-0.75, 0.0));
        out.add(format!("{name} add"), add(&at, alpha, &x, beta, &y).and_then(|x| train_sum(&x)));
        for spread in [Spread::Auto, Spread::First, Spread::Even] {
            let factor = Scaled::new(C::new(-1.7, 0.0), 9);
            out.add(format!("{name} scale {spread:?}"), scale(&at, factor, &x, spread).and_then(|x| train_sum(&x)));
        }
        out.add(format!("{name} hadamard"), hadamard(&at, &x, &y).and_then(|x| train_sum(&x)));
        out.add(format!("{name} copy"), copy(&at, &x).and_then(|x| train_sum(&x)));
        out.add(format!("{name} conj"), conj(&at, &x).and_then(|x| train_sum(&x)));
        out.add(format!("{name} reverse"), reverse(&at, &x).and_then(|x| train_sum(&x)));
        out.add(format!("{name} rotate"), rotate(&at, &x, modes.len() / 2).and_then(|x| train_sum(&x)));
        out.add(format!("{name} to open"), to_open(&at, &x).and_then(|x| train_sum(&x)));
        for dtype in [DType::F32, DType::CF64] {
            out.add(format!("{name} to {}", dtype.name()), cast(&at, &x, dtype).and_then(|x| train_sum(&x)));
        }
        let run = || {
            let mut t = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, modes)?;
            full(&at, &x, &mut t, false)?;
            let indices: Vec<usize> = (0..5).flat_map(|k| modes.iter().map(move |n| (3 * k + 1) % n)).collect();
            Ok(add_scaled(tensor_sum::<T>(&t)?, &elements(&at, &x, &indices)?))
        };
        out.add(format!("{name} entries"), run());
        for (what, truncation) in truncations() {
            out.add(format!("{name} round {what}"), round(&at, &x, &truncation).and_then(truncated_sum));
            let product = hadamard_round(&at, &x, &y, &truncation);
            out.add(format!("{name} rounded hadamard {what}"), product.and_then(truncated_sum));
        }
        let mut centres = vec![0, modes.len() / 2, modes.len() - 1];
        centres.dedup();
        for centre in centres {
            let run = || {
                let found = canonicalize(&at, &x, centre)?;
                Ok(train_sum(&found.train)?.integers([found.exponent.cast_unsigned()]))
            };
            out.add(format!("{name} canonical about {centre}"), run());
        }
        operators::<T>(c, out, &name, (modes, ranks), &x);
    }
    dense::<T>(c, out);
    created::<T>(c, out);
}

fn operators<T: Scalar>(
    c: &Arc<Context>,
    out: &mut Cases,
    name: &str,
    (modes, ranks): (&[usize], &[usize]),
    x: &TensorTrain,
) {
    let at = Place::host(c);
    let rows: Vec<usize> = modes.iter().map(|n| n % 3 + 1).collect();
    let mut small: Vec<usize> = ranks.iter().map(|r| (r + 1).min(3)).collect();
    let ends = if ranks[0] == 1 { 1 } else { 2 };
    (small[0], small[modes.len()]) = (ends, ends);
    let (g, h) = (matrix::<T>(c, &rows, modes, &small, 4), matrix::<T>(c, &rows, modes, &small, 5));
    out.add(format!("{name} apply"), apply(&at, &h, x).and_then(|x| train_sum(&x)));
    for (what, truncation) in truncations() {
        out.add(format!("{name} rounded apply {what}"), apply_round(&at, &h, x, &truncation).and_then(truncated_sum));
    }
    let (alpha, beta) = (C::new(2.0, 0.0), C::new(-0.5, 0.0));
    out.add(format!("{name} matrix sum"), matrices::add(&at, alpha, &g, beta, &h).and_then(|h| matrix_sum(&h)));
    let run = || {
        let adjoint = matrices::adjoint(&at, &h)?;
        let product = matrices::multiply(&at, &g, &adjoint)?;
        let mut dense = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, &[rows.iter().product(); 2])?;
        matrices::to_dense(&at, &product, &mut dense, false)?;
        let sums = [matrix_sum(&adjoint)?, matrix_sum(&product)?, tensor_sum::<T>(&dense)?];
        Ok(Checksum::new().all(&sums))
    };
    out.add(format!("{name} matrix product"), run());
    let truncation = Truncation { epsilon: 0.2, ..Truncation::default() };
    let run = || {
        let (product, found) = matrices::multiply_round(&at, &g, &matrices::adjoint(&at, &h)?, &truncation)?;
        Ok(matrix_sum(&product)?.numbers(&found.discarded))
    };
    out.add(format!("{name} rounded matrix product"), run());
    let rounded = matrices::round(&at, &h, &truncation);
    out.add(format!("{name} rounded matrix"), rounded.and_then(|(h, _)| matrix_sum(&h)));
    out.add(format!("{name} open matrix"), matrices::to_open(&at, &h).and_then(|h| matrix_sum(&h)));
}

/// Trains of dense tensors and matrices.
fn dense<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let at = Place::host(c);
    let name = T::DTYPE.name();
    for dims in [&[3usize, 4, 5][..], &[6], &[2, 1, 3, 1], &[24, 3, 2], &[2; 8]] {
        let elements: usize = dims.iter().product();
        let mut t = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, dims).unwrap();
        let values: Vec<T> = (0..elements).map(scalar).collect();
        t.view_mut::<T>("t").unwrap().data().copy_from_slice(&values);
        for (what, truncation) in truncations() {
            out.add(
                format!("{name} svd of {dims:?} {what}"),
                tt_svd(&at, &t, None, &truncation).and_then(truncated_sum),
            );
        }
    }
    let mut t = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, &[12, 8]).unwrap();
    let values: Vec<T> = (0..96).map(|k| scalar(k + 7)).collect();
    t.view_mut::<T>("t").unwrap().data().copy_from_slice(&values);
    for (what, truncation) in truncations() {
        let found = matrices::from_dense(&at, &t, &[3, 4], &[4, 2], &truncation);
        out.add(format!("{name} svd of a matrix {what}"), found.and_then(|(h, _)| matrix_sum(&h)));
    }
}

fn created<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let at = Place::host(c);
    let name = T::DTYPE.name();
    let modes = [2, 3, 2];
    out.add(format!("{name} ones"), create::ones(&at, T::DTYPE, &modes).and_then(|x| train_sum(&x)));
    out.add(format!("{name} zeros"), create::zeros(&at, T::DTYPE, &modes).and_then(|x| train_sum(&x)));
    let vectors: Vec<T> = (0..7).map(scalar).collect();
    out.add(format!("{name} product"), create::product_state(&at, &modes, &vectors).and_then(|x| train_sum(&x)));
    let basis = create::basis_state(&at, T::DTYPE, &modes, &[1, 2, 0]);
    out.add(format!("{name} basis state"), basis.and_then(|x| train_sum(&x)));
    out.add(format!("{name} identity"), create::identity(&at, T::DTYPE, &modes).and_then(|h| matrix_sum(&h)));
}
