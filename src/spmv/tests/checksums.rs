//! Bits of the products: a change of structure must not change one.

use super::kinds::{Case, lists};
use super::*;
use crate::error::Result;
use crate::matrix;
use crate::matrix::sparse::Ordering;
use crate::tensor;
use crate::testing::checksums::{Cases, Checksum, checksum_tests, scalar};

checksum_tests!("spmv", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    of::<f32>(c, out);
    of::<f64>(c, out);
    of::<Complex<f32>>(c, out);
    of::<Complex<f64>>(c, out);
}

/// Vectors and blocks of three columns in both orders.
fn products<T: Scalar>(c: &Arc<Context>, a: &Matrix, options: Options) -> Result<Checksum> {
    let plan = Plan::new(c, a, options)?;
    let (rows, cols) = plan.size();
    let case = Case { c, location: Location::Host, options };
    let numbers = |count: usize, seed: usize| (0..count).map(|k| scalar::<T>(seed + k)).collect::<Vec<T>>();
    let i = if T::IS_COMPLEX { 0.25 } else { 0.0 };
    let (alpha, beta) = (Complex::new(-1.5, i), Complex::new(0.5, -i));
    let mut sum = Checksum::new();
    for beta in [Complex::new(0.0, 0.0), beta] {
        let mut y = case.vector(&numbers(rows, 7));
        plan.apply(alpha, a, &case.vector(&numbers(cols, 90)), beta, &mut y)?;
        let mut host = vector(c, &numbers(rows, 7));
        tensor::copy(c, None, &y, &mut host)?;
        sum = sum.numbers(&entries::<T>(&host));
    }
    for order in [Order::RowMajor, Order::ColumnMajor] {
        let mut y = case.dense(order, rows, &numbers(3 * rows, 7));
        plan.apply_block(alpha, a, &case.dense(order, cols, &numbers(3 * cols, 90)), beta, &mut y)?;
        let mut host = Matrix::create(c, T::DTYPE, Location::Host, order, rows, 3)?;
        matrix::copy(c, None, &y, &mut host)?;
        sum = sum.numbers(host.dense("y")?.memory.host("y")?.as_slice::<T>()?);
    }
    Ok(sum)
}

fn of<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let name = T::DTYPE.name();
    for (shape, cols) in [("square", 150), ("tall", 61)] {
        let lists = lists(cols);
        for pattern in [false, true] {
            let (mut a, values) = matrix::<T, i32>(c, &lists, 1, pattern);
            if !pattern {
                // Degrees must not be negative.
                let absolute: Vec<T> = values.iter().map(|v| T::from_parts(v.re().abs(), v.im())).collect();
                a.set_values(&vector(c, &absolute)).unwrap();
            }
            let what = format!("{name} {shape}{}", if pattern { " pattern" } else { "" });
            for method in ALL.into_iter().chain([Method::Sweeps]) {
                for op in [Op::Plain, Op::Transpose, Op::Adjoint] {
                    let options = Options { method, op, ..Options::default() };
                    out.add(format!("{what} {method:?} {op:?}"), products::<T>(c, &a, options));
                }
            }
            for kind in Kind::HERMITIAN.into_iter().chain([Kind::RandomWalkLaplacian]) {
                if kind.is_of_square() && shape != "square" {
                    continue;
                }
                let by_degree = kind.is_of_square().then_some((0.75, Some(Ordering::Degree)));
                for (shift, order) in [(0.0, None), (0.75, None)].into_iter().chain(by_degree) {
                    let options = Options { kind, shift, ordering: order, ..Options::default() };
                    let order = if order.is_some() { " by degree" } else { "" };
                    out.add(format!("{what} {kind:?} + {shift}{order}"), products::<T>(c, &a, options));
                }
                let options = Options { kind, degree: 5, lower: -1.0, upper: 2.0, ..Options::default() };
                out.add(format!("{what} {kind:?} filter"), products::<T>(c, &a, options));
            }
        }
    }
    // Long and empty rows: shares of the work begin and end inside rows.
    for (shape, lists) in super::cases() {
        if matches!(shape, "long" | "short" | "duplicates" | "a column") {
            let a = matrix::<T, i64>(c, &lists, 0, false).0;
            for method in ALL {
                let options = Options { method, ..Options::default() };
                out.add(format!("{name} {shape} {method:?}"), products::<T>(c, &a, options));
            }
        }
    }
}
