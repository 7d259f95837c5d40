//! The workspace in a plan is exactly the smallest limit that the call accepts.

use std::sync::Arc;

use crate::context::Context;
use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{Disorder, KERNELS, Plain, cpu, placed};
use crate::trains::{Info, Options};

const METHODS: [Method; 5] = [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves];

/// The number of bytes that an error names.
fn needed(text: &str) -> u64 {
    let rest = text.split("at least ").nth(1).unwrap_or_else(|| panic!("{text}"));
    rest.split(' ').next().and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

/// Checks limits of one byte, of the necessary bytes, and of one byte less. `run` returns a plan and a report.
fn limits(what: &str, run: &dyn Fn(u64) -> crate::error::Result<(Info, Info)>) {
    let least = match run(1) {
        Ok((plan, done)) => {
            assert!(plan.workspace_bytes <= 1 && done.workspace_bytes <= 1, "{what}: {plan:?}");
            return;
        }
        Err(refused) => needed(&refused.to_string()),
    };
    let (plan, done) = run(least).unwrap_or_else(|e| panic!("{what}, limit {least}: {e}"));
    assert!(plan.workspace_bytes as u64 <= least, "{what}: {plan:?} under {least}");
    assert_eq!(plan.workspace_bytes, done.workspace_bytes, "{what}");
    let refused = run(least - 1).expect_err(what).to_string();
    assert_eq!(needed(&refused), least, "{what}: {refused}");
}

/// Checks all methods, kernels and norms, for trains in the memory of `location`.
pub fn check(context: &Arc<Context>, location: Location) {
    let mut draw = Disorder::new(7);
    for round in 0..6 {
        let d = [1, 2, 3, 5, 7, 4][round];
        let most = [40, 13, 5, 7, 3, 70][round];
        let modes: Vec<usize> = (0..d).map(|_| draw.pick(1, 3)).collect();
        let ends = if round % 2 == 0 { 1 } else { draw.pick(2, 4) };
        let ranks = |draw: &mut Disorder| -> Vec<usize> {
            (0..=d).map(|k| if k == 0 || k == d { ends } else { draw.pick(1, most) }).collect()
        };
        let (r, s) = (ranks(&mut draw), ranks(&mut draw));
        for dtype in [DType::F64, DType::CF32] {
            let [x, y] = [(&r, 1), (&s, 2)].map(|(ranks, seed)| {
                let plain = Plain::random(&modes, ranks, dtype.is_complex(), seed);
                placed(context, plain.train(context, dtype), location)
            });
            for kernel in KERNELS {
                for method in METHODS {
                    let what = format!("{method:?} {kernel:?} {dtype:?} {modes:?} {r:?} {s:?}");
                    limits(&what, &|workspace_limit| {
                        let options = Options { method, kernel, workspace_limit, ..Options::default() };
                        let mut session = Contraction::new(context, options)?;
                        Ok((session.plan_inner(&x, &y)?, session.inner_scaled(None, &x, &y, None)?.1))
                    });
                }
                for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                    let what = format!("norm {norm_method:?} {kernel:?} {dtype:?} {modes:?} {r:?}");
                    limits(&what, &|workspace_limit| {
                        let options = Options { norm_method, kernel, workspace_limit, ..Options::default() };
                        let mut session = Contraction::new(context, options)?;
                        Ok((session.plan_norm(&x)?, session.norm_scaled(None, &x, None)?.1))
                    });
                }
            }
        }
    }
}

#[test]
fn plans_and_needs_agree() {
    check(&cpu(2), Location::Host);
}
