//! A plan of singular triplets refuses the same inputs as the run, with the same text, and accepts all others. The run
//! reports the method, the reason and the memory of the plan.

use std::sync::Arc;

use super::operators::rectangular;
use super::plans::{N, Scaled, path, problem, streamed};
use super::singular::of_values;
use crate::context::Context;
use crate::group::Group;
use crate::lanczos::operator::Kind;
use crate::lanczos::outputs::TripletOutputs;
use crate::lanczos::session::{Lanczos, Problem};
use crate::lanczos::{Filter, Info, Method, Orthogonalization, Which};
use crate::matrix::Matrix;
use crate::matrix::sparse::Ordering;
use crate::scalar::{Complex, DType};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::testing::sparse::{cpu, from_entries};

fn values(c: &Arc<Context>, count: usize) -> Tensor {
    Tensor::create(c, DType::F64, Location::Host, Order::ColumnMajor, &[count]).unwrap()
}

fn run(lanczos: &Lanczos, a: &Matrix) -> crate::error::Result<Info> {
    let mut values = values(lanczos.context(), lanczos.problem().options.count);
    lanczos.singular(a, None, TripletOutputs { u: None, values: &mut values, v: None, residuals: None }, None)
}

#[test]
fn a_plan_refuses_what_the_run_refuses() {
    let (c, other) = (&cpu(1), cpu(1));
    let both = Group::new(vec![Arc::clone(c), cpu(1)]).unwrap();
    let matrices = [
        ("path", path::<f64>(c)),
        ("complex path", path::<Complex<f64>>(c)),
        ("dense", Matrix::create(c, DType::F64, Location::Host, Order::ColumnMajor, N, N).unwrap()),
        ("streamed", streamed(c)),
        ("operator", Matrix::from_operator::<f64>(c, Box::new(Scaled))),
        ("tall", rectangular::<f64>(c, 90, 40, 3)),
        ("wide", rectangular::<f32>(c, 40, 90, 3)),
        ("empty", from_entries::<f64>(c, (0, 0), &[])),
        ("of another context", path::<f64>(&other)),
    ];
    let mut problems = vec![
        ("default", problem(|_| {})),
        ("smallest", problem(|p| p.options.which = Which::Smallest)),
        ("both ends", problem(|p| p.options.which = Which::BothEnds)),
        ("nearest", problem(|p| p.options.which = Which::Nearest)),
        ("shift", problem(|p| p.shift = 0.5)),
        ("ordering", problem(|p| p.ordering = Some(Ordering::Degree))),
        ("count", problem(|p| p.options.count = 41)),
        ("count and basis", problem(|p| (p.options.count, p.options.basis) = (10 * N, 1))),
        ("small basis", problem(|p| p.options.basis = 1)),
        ("basis beyond the short side", problem(|p| p.options.basis = 50)),
        ("large basis", problem(|p| p.options.basis = 1000)),
        ("symmetry", problem(|p| p.options.check_symmetry = true)),
        ("plain", problem(|p| p.options.method = Method::Plain)),
        ("plain, smallest", problem(|p| (p.options.method, p.options.which) = (Method::Plain, Which::Smallest))),
        ("partial", problem(|p| p.options.orthogonalization = Orthogonalization::Partial)),
        ("filter", problem(|p| p.options.filter = Filter::Chebyshev)),
        ("block", problem(|p| p.options.block = 2)),
    ];
    let mut kinds = Vec::new();
    for kind in [Kind::Gram, Kind::OuterGram, Kind::Augmented, Kind::Laplacian] {
        kinds.extend(problems.iter().map(|(name, p)| (*name, Problem { kind, ..*p })));
    }
    problems.extend(kinds);
    // Few restarts: the run is only to begin.
    problems.iter_mut().filter(|(_, p)| p.options.method != Method::Plain).for_each(|(_, p)| p.options.restarts = 1);
    let (mut refused, mut accepted) = (0, 0);
    for group in [&Group::of(c), &both] {
        for (a_name, a) in &matrices {
            for (problem_name, problem) in &problems {
                let name = format!("{} contexts, {a_name}, {problem_name}, {:?}", group.members().len(), problem.kind);
                let lanczos = Lanczos::over(group, *problem).unwrap();
                match (lanczos.plan_singular(a), run(&lanczos, a)) {
                    (Err(plan), Err(run)) => {
                        assert_eq!(plan.to_string(), run.to_string(), "{name}");
                        refused += 1;
                    }
                    (Ok(plan), Ok(run)) => {
                        let of = |i: &Info| (i.method, i.reason, i.host_bytes, i.device_bytes);
                        assert_eq!(of(&plan), of(&run), "{name}");
                        assert_eq!((plan.products, plan.count, plan.seconds), (0, 0, 0.0), "{name}");
                        accepted += 1;
                    }
                    (Ok(_), Err(run)) => panic!("{name}: only the run refuses: {run}"),
                    (Err(plan), Ok(_)) => panic!("{name}: only the plan refuses: {plan}"),
                }
            }
        }
    }
    assert!(refused > 500 && accepted > 100, "{refused} refused, {accepted} accepted");
}

/// Outputs that do not fit are refused after the options.
#[test]
fn options_are_refused_before_outputs() {
    let c = &cpu(1);
    let a = rectangular::<f64>(c, 90, 40, 3);
    let lanczos = Lanczos::new(c, problem(|p| p.options.count = 41)).unwrap();
    let mut values = values(c, 3);
    let outputs = TripletOutputs { u: None, values: &mut values, v: None, residuals: None };
    let e = lanczos.singular(&a, None, outputs, None).unwrap_err();
    assert_eq!(e, lanczos.plan_singular(&a).unwrap_err());
    assert_eq!(e.to_string(), "count: is 41, outside 1 to 40");
}

/// Eigenvectors of A^H A do not suffice for values far below the norm: the report is that of the plan all the same, and the
/// planned memory holds the vectors of Golub-Kahan-Lanczos.
pub(super) fn a_plan_counts_the_search_that_may_follow(c: &Arc<Context>) {
    let decades: Vec<f64> = (0..60).map(|j| 10f64.powi(-j)).collect();
    for (rows, cols) in [(80, 60), (60, 80)] {
        let a = of_values::<f64>(c, (rows, cols), &decades);
        for (kind, which, is_first) in [
            (Kind::Matrix, Which::Largest, true),
            (Kind::Gram, Which::Largest, true),
            (Kind::Gram, Which::Smallest, true),
            (Kind::Augmented, Which::Largest, true),
            (Kind::Matrix, Which::Smallest, false),
        ] {
            let lanczos = Lanczos::new(c, problem(|p| (p.kind, p.options.which, p.options.count) = (kind, which, 10)));
            let lanczos = lanczos.unwrap();
            let plan = lanczos.plan_singular(&a).unwrap();
            let held = c.host_budget().restart_peak();
            let done = run(&lanczos, &a).unwrap();
            let used = usize::try_from(c.host_budget().peak() - held).unwrap();
            let of = |i: &Info| (i.method, i.reason, i.host_bytes, i.device_bytes);
            assert_eq!(of(&plan), of(&done), "{kind:?} {which:?}");
            let name = plan.reason.text();
            assert_eq!(name.starts_with("eigenvectors"), is_first, "{kind:?} {which:?}: {name}");
            assert!(name.contains("Golub-Kahan-Lanczos") && name.len() < 128, "{name}");
            // 20 vectors of the space, one more, and the 10 found, of both sides; the triplets that are returned.
            let space = (20 + 1 + 10) * (rows + cols) * 8;
            let returned = 10 * (rows + cols) * 8;
            if plan.device_bytes > 0 {
                assert!(plan.device_bytes >= space && plan.host_bytes >= returned, "{plan:?}");
            } else {
                assert!(plan.host_bytes >= space + returned, "{plan:?}");
                // All steps follow, and the run returns no vectors.
                let most = plan.host_bytes as f64;
                assert!(used <= plan.host_bytes && used as f64 >= 0.85 * most, "{used}: {plan:?}");
            }
            assert_eq!((plan.basis, plan.shares.contexts, plan.shares.rows), (20, 1, rows), "{kind:?} {which:?}");
            let entry = 2 * (4 + 8) * plan.shares.entries;
            assert_eq!(plan.shares.product_bytes, entry + (rows + cols) * 24, "{plan:?}");
        }
    }
}

/// The smallest values of a small matrix come from a bidiagonalization of the whole, and the plan has its space.
#[test]
fn the_whole_space_is_planned() {
    let c = &cpu(2);
    let a = rectangular::<f64>(c, 150, 120, 4);
    let smallest = problem(|p| (p.options.which, p.options.basis) = (Which::Smallest, 0));
    let lanczos = Lanczos::new(c, smallest).unwrap();
    let (plan, done) = (lanczos.plan_singular(&a).unwrap(), run(&lanczos, &a).unwrap());
    assert_eq!((plan.basis, done.basis), (120, 120));
    assert_eq!((plan.host_bytes, plan.method, plan.reason), (done.host_bytes, done.method, done.reason));
    assert!(plan.host_bytes >= 8 * (150 + 120) * (120 + 2 + 1 + 2), "{plan:?}");
}
