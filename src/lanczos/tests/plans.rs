//! A plan refuses the same inputs as the run, with the same text, and accepts all others.

use std::sync::Arc;

use super::inputs::symmetric;
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::Number;
use crate::blocks::source::CallbackSource;
use crate::context::Context;
use crate::group::Group;
use crate::lanczos::operator::Kind;
use crate::lanczos::outputs::Outputs;
use crate::lanczos::session::{Inputs, Lanczos, Problem};
use crate::lanczos::{Filter, Method, Options, Orthogonalization, Which};
use crate::matrix::sparse::Ordering;
use crate::matrix::{Matrix, Operator, SharedSource};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::testing::sparse::{cpu, from_entries};

pub(super) const N: usize = 120;

pub(super) fn path<T: Scalar>(c: &Arc<Context>) -> Matrix {
    symmetric(c, N, &(0..N - 1).map(|i| (i, i + 1, T::from_parts(1.0, 0.0))).collect::<Vec<_>>())
}

/// A third of the identity, which is no inverse of any matrix here.
pub(super) struct Scaled;

impl Operator<f64> for Scaled {
    fn shape(&self) -> (usize, usize) {
        (N, N)
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = *x / 3.0);
        Ok(())
    }
}

pub(super) fn problem(change: impl FnOnce(&mut Problem)) -> Problem {
    let options = Options { count: 2, basis: 20, ..Options::default() };
    let mut made = Problem { options, kind: Kind::Matrix, shift: 0.0, ordering: None };
    change(&mut made);
    made
}

pub(super) fn streamed(c: &Arc<Context>) -> Matrix {
    let info = ArrayInfo::new(Number::F64, &[N, N]).unwrap();
    let source = CallbackSource::new(info, Box::new(|_, _| Ok(())));
    Matrix::from_source(c, SharedSource::new(Box::new(source)), Order::ColumnMajor).unwrap()
}

#[test]
fn a_plan_refuses_what_the_run_refuses() {
    let (c, other) = (&cpu(1), cpu(1));
    let both = Group::new(vec![Arc::clone(c), cpu(1)]).unwrap();
    let dense = |dtype, rows, cols| Matrix::create(c, dtype, Location::Host, Order::ColumnMajor, rows, cols).unwrap();
    let matrices = [
        ("path", path::<f64>(c)),
        ("complex path", path::<Complex<f64>>(c)),
        ("dense", dense(DType::F64, N, N)),
        ("streamed", streamed(c)),
        ("operator", Matrix::from_operator::<f64>(c, Box::new(Scaled))),
        ("wide", from_entries(c, (N, N + 1), &[(0, 1, 1.0), (3, 4, 2.0)])),
        ("empty", from_entries::<f64>(c, (0, 0), &[])),
        ("of another context", path::<f64>(&other)),
    ];
    let mut problems = vec![
        ("default", problem(|_| {})),
        ("NaN shift", problem(|p| p.shift = f64::NAN)),
        ("ordering", problem(|p| p.ordering = Some(Ordering::Degree))),
        ("ordering of a Gram operator", problem(|p| (p.ordering, p.kind) = (Some(Ordering::Degree), Kind::Gram))),
        ("random walk", problem(|p| p.kind = Kind::RandomWalkLaplacian)),
        ("count", problem(|p| p.options.count = 10 * N)),
        ("basis", problem(|p| p.options.basis = 1)),
        ("nearest", problem(|p| p.options.which = Which::Nearest)),
        ("nearest, block", problem(|p| (p.options.which, p.options.block) = (Which::Nearest, 2))),
        ("nearest, degree", problem(|p| (p.options.which, p.options.degree) = (Which::Nearest, 8))),
        ("plain", problem(|p| p.options.method = Method::Plain)),
        ("partial", problem(|p| p.options.orthogonalization = Orthogonalization::Partial)),
        ("filter", problem(|p| p.options.filter = Filter::Chebyshev)),
        ("block", problem(|p| p.options.block = 2)),
    ];
    problems.extend(Kind::HERMITIAN.map(|kind| ("kind", problem(|p| p.kind = kind))));
    // Few restarts: the run is only to begin.
    problems.iter_mut().filter(|(_, p)| p.options.method != Method::Plain).for_each(|(_, p)| p.options.restarts = 1);
    let (mut known, mut long) = (dense(DType::F64, N, 1), dense(DType::F64, N + 1, 1));
    known.dense_mut("known").unwrap().set_columns("known", &[1.0; N]).unwrap();
    long.dense_mut("known").unwrap().set_columns("known", &[1.0; N + 1]).unwrap();
    let solve = Matrix::from_operator::<f64>(c, Box::new(Scaled));
    let inputs = [
        ("nothing", Inputs::default()),
        ("known", Inputs { known: Some(&known), ..Inputs::default() }),
        ("long known", Inputs { known: Some(&long), ..Inputs::default() }),
        ("sparse known", Inputs { known: Some(&matrices[0].1), ..Inputs::default() }),
        ("solve", Inputs { solve: Some(&solve), ..Inputs::default() }),
        ("dense solve", Inputs { solve: Some(&matrices[2].1), ..Inputs::default() }),
        ("wide solve", Inputs { solve: Some(&matrices[5].1), ..Inputs::default() }),
    ];
    let (mut refused, mut accepted) = (0, 0);
    for group in [&Group::of(c), &both] {
        for (a_name, a) in &matrices {
            for (problem_name, problem) in &problems {
                for (input_name, given) in inputs {
                    let name = format!("{} contexts, {a_name}, {problem_name}, {input_name}", group.members().len());
                    let lanczos = Lanczos::over(group, *problem).unwrap();
                    let count = problem.options.count;
                    let mut values =
                        Tensor::create(c, DType::F64, Location::Host, Order::ColumnMajor, &[count]).unwrap();
                    let outputs = Outputs { values: &mut values, vectors: None, residuals: None };
                    let plan = lanczos.plan(a, given);
                    let run = lanczos.solve(a, given, outputs, None);
                    match (plan, run) {
                        (Err(plan), Err(run)) => {
                            assert_eq!(plan.to_string(), run.to_string(), "{name}");
                            refused += 1;
                        }
                        (Ok(plan), Ok(run)) => {
                            assert_eq!(
                                (plan.basis, plan.method, plan.reason),
                                (run.basis, run.method, run.reason),
                                "{name}"
                            );
                            accepted += 1;
                        }
                        // The run finds out by products that the solve is no inverse, and the known vector no eigenvector.
                        (Ok(_), Err(run)) => {
                            let text = run.to_string();
                            let is_named = match input_name {
                                "known" | "long known" => text.starts_with("known: vector 0 is no eigenvector: "),
                                _ => text.starts_with("solve: is not the inverse of A - sigma I"),
                            };
                            assert!(is_named, "{name}: {text}");
                            accepted += 1;
                        }
                        (Err(plan), Ok(_)) => panic!("{name}: only the plan refuses: {plan}"),
                    }
                }
            }
        }
    }
    assert!(refused > 500 && accepted > 100, "{refused} refused, {accepted} accepted");
}
