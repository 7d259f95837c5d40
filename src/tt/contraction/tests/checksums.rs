//! Checksums of contractions: a change of the code's structure must not change a bit.

use std::sync::Arc;

use crate::context::Context;
use crate::contraction::Contraction;
use crate::error::Result;
use crate::scalar::DType;
use crate::testing::checksums::{Cases, Checksum, checksum_tests};
use crate::trains::info::Kernel;
use crate::trains::options::{Conjugate, Method, NormMethod, Scaling};
use crate::trains::testing::{Plain, TYPES, add_scaled};
use crate::trains::{Options, Scaled};

checksum_tests!("tt_contraction", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    for (dtype, _) in TYPES {
        let complex = dtype.is_complex();
        for (shape, x, y) in [
            (
                "open",
                Plain::uniform_ranks(7, 3, 6, false, complex, 1),
                Plain::uniform_ranks(7, 3, 5, false, complex, 2),
            ),
            ("ring", Plain::uniform_ranks(6, 2, 4, true, complex, 3), Plain::uniform_ranks(6, 2, 3, true, complex, 4)),
            (
                "mixed",
                Plain::uniform_ranks(5, 2, 3, true, complex, 5),
                Plain::uniform_ranks(5, 2, 9, false, complex, 6),
            ),
            (
                "uneven",
                Plain::random(&[2, 1, 4, 3, 2], &[1, 2, 3, 17, 5, 1], complex, 7),
                Plain::random(&[2, 1, 4, 3, 2], &[1, 4, 1, 6, 2, 1], complex, 8),
            ),
        ] {
            trains(c, out, dtype, shape, [&x, &y]);
        }
        uniform(c, out, dtype);
        many(c, out, dtype);
    }
}

const KERNELS: [(Option<Kernel>, &str); 3] =
    [(None, ""), (Some(Kernel::Products), " products"), (Some(Kernel::Chain), " chain")];

fn trains(c: &Arc<Context>, out: &mut Cases, dtype: DType, shape: &str, [x, y]: [&Plain; 2]) {
    let (x, y) = (x.train(c, dtype), y.train(c, dtype));
    let name = format!("{} {shape}", dtype.name());
    let inner = |options: Options| -> Result<Checksum> {
        let (sum, _) = Contraction::new(c, options)?.inner_scaled(None, &x, &y, None)?;
        Ok(add_scaled(Checksum::new(), &[sum]))
    };
    let base = Options::default();
    for method in [Method::Auto, Method::Open, Method::Full, Method::Reduced, Method::Blocked, Method::Halves] {
        for (kernel, by) in KERNELS {
            let options = Options { method, kernel, ..base.clone() };
            out.add(format!("{name} {method:?}{by}"), inner(options.clone()));
            let options = Options { scaling: Scaling::Always, conjugate: Conjugate::None, ..options };
            out.add(format!("{name} {method:?}{by} scaled"), inner(options));
        }
    }
    for (what, options) in [
        ("never scaled", Options { scaling: Scaling::Never, ..base.clone() }),
        ("cut", Options { cut: Some(2), kernel: Some(Kernel::Products), ..base.clone() }),
        ("blocks of 2", Options { method: Method::Blocked, block: 2, ..base.clone() }),
        ("workspace", Options { workspace_limit: 40_000, kernel: Some(Kernel::Products), ..base.clone() }),
    ] {
        out.add(format!("{name} {what}"), inner(options));
    }
    for norm_method in [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
        for (kernel, by) in KERNELS {
            let run = || {
                let options = Options { norm_method, kernel, ..base.clone() };
                let (norm, _) = Contraction::new(c, options)?.norm_scaled(None, &x, None)?;
                Ok(add_scaled(Checksum::new(), &[norm]))
            };
            out.add(format!("{name} norm {norm_method:?}{by}"), run());
        }
    }
    let run = || {
        let (distance, _) = Contraction::new(c, base.clone())?.distance_scaled(None, &x, &y, None)?;
        Ok(add_scaled(Checksum::new(), &[distance]))
    };
    out.add(format!("{name} distance"), run());
}

/// Repeated cells, and results beyond the range of the type.
fn uniform(c: &Arc<Context>, out: &mut Cases, dtype: DType) {
    let complex = dtype.is_complex();
    let [x, y] = [1, 2].map(|seed| Plain::uniform_ranks(1, 2, 3 + seed as usize, true, complex, seed));
    let cell = |t: &Plain| t.train(c, dtype);
    for repeat in [1, 5, 200, 1_000_003] {
        for method in [Method::Auto, Method::Power] {
            for scaling in [Scaling::Auto, Scaling::Always] {
                let run = || {
                    let options = Options { method, scaling, repeat, ..Options::default() };
                    let (sum, _) = Contraction::new(c, options)?.inner_scaled(None, &cell(&x), &cell(&y), None)?;
                    Ok(add_scaled(Checksum::new(), &[sum]))
                };
                out.add(format!("{} {repeat} cells {method:?} {scaling:?}", dtype.name()), run());
            }
        }
    }
    for (what, factor) in [("huge", 1e15), ("tiny", 1e-15)] {
        for cyclic in [false, true] {
            let run = || {
                let t = |seed| Plain::uniform_ranks(12, 2, 4, cyclic, complex, seed).scaled(factor).train(c, dtype);
                let (sum, _) = Contraction::new(c, Options::default())?.inner_scaled(None, &t(1), &t(2), None)?;
                Ok(add_scaled(Checksum::new(), &[sum]))
            };
            out.add(format!("{} {what} {}", dtype.name(), if cyclic { "ring" } else { "open" }), run());
        }
    }
}

/// Checksums of batches and Gram matrices.
fn many(c: &Arc<Context>, out: &mut Cases, dtype: DType) {
    let complex = dtype.is_complex();
    let list = |first: u64, cyclic: bool| -> Vec<_> {
        (first..first + 4)
            .map(|seed| Plain::uniform_ranks(6, 2, 3 + seed as usize % 3, cyclic, complex, seed).train(c, dtype))
            .collect()
    };
    for cyclic in [false, true] {
        let (x, y) = (list(1, cyclic), list(31, cyclic));
        let (x, y): (Vec<_>, Vec<_>) = (x.iter().collect(), y.iter().collect());
        let what = format!("{} {}", dtype.name(), if cyclic { "rings" } else { "open" });
        for (kernel, by) in KERNELS {
            let session = || Contraction::new(c, Options { kernel, ..Options::default() });
            let run = || {
                let mut sums = vec![Scaled::ONE; 4];
                session()?.inner_batch(None, &x, &y, &mut sums, None)?;
                Ok(add_scaled(Checksum::new(), &sums))
            };
            out.add(format!("{what} batch{by}"), run());
            for (gram, other) in [("gram", &x), ("gram of two lists", &y)] {
                let run = || {
                    let mut sums = vec![Scaled::ONE; 16];
                    session()?.gram(None, &x, other, &mut sums, None)?;
                    Ok(add_scaled(Checksum::new(), &sums))
                };
                out.add(format!("{what} {gram}{by}"), run());
            }
        }
    }
}
