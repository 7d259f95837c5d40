//! Cores of very different magnitude. Environments stay in the range of the type, but products on the way do not.

use super::support::session_by;
use crate::scalar::DType;
use crate::trains::info::Kernel;
use crate::trains::options::{Method, NormMethod, Scaling};
use crate::trains::scaled::scale;
use crate::trains::testing::{C, Disorder, KERNELS, Plain, TYPES, cpu};
use crate::trains::{Options, Scaled};

/// The same train with core k times 2^powers\[k\].
fn sized(p: &Plain, powers: &[i64]) -> Plain {
    let cores = p.cores.iter().zip(powers);
    let cores = cores.map(|(core, &e)| core.iter().map(|v| C::new(scale(v.re, e), scale(v.im, e))).collect());
    Plain { cores: cores.collect(), ..p.clone() }
}

/// The error of `found` times 2^-`moved`, relative to |x| |y|.
fn error(found: Scaled, moved: i64, near: Scaled, norms: f64) -> f64 {
    let at = |v: Scaled, e: i64| C::new(scale(v.mantissa.re, e), scale(v.mantissa.im, e));
    (at(found, found.exponent - moved) - at(near, near.exponent)).norm() / norms
}

/// Powers of the cores of x and of y with which an earlier version lost digits: the largest number of a product was
/// subnormal, while the environments were not.
pub const LOST: [(bool, [&[i64]; 2]); 6] = [
    (false, [&[486, -245, -619, -394, -334], &[-810, -196, 682, 855, 180]]),
    (false, [&[-265, -265, 265, 265], &[-265, -265, 265, 265]]),
    (false, [&[-150, -150, -150, -60, 400], &[-150, -150, -150, 400, 0]]),
    (true, [&[-52, -88], &[-2, 77]]),
    (true, [&[-20, -20, -20, 0, 60], &[-20, -20, -20, 60, 0]]),
    (true, [&[-30, -33, 60, 0, 0], &[-30, -33, 60, 0, 0]]),
];

#[test]
fn products_on_the_way_lose_no_digits() {
    let c = cpu(2);
    for (single, [ex, ey]) in LOST {
        for (dtype, bound) in TYPES.into_iter().filter(|(t, _)| t.is_single() == single) {
            for (cyclic, rank) in [(false, 4), (true, 3), (false, 34)] {
                let of = |r, seed| Plain::uniform_ranks(ex.len(), 2, r, cyclic, dtype.is_complex(), seed);
                check(&c, (dtype, bound), [&of(rank, 81), &of(rank + 1, 82)], [ex, ey]);
            }
        }
    }
}

#[test]
fn cores_of_any_sizes_are_contracted_to_all_digits() {
    let c = cpu(2);
    for (dtype, bound) in TYPES {
        let far = if dtype.is_single() { 110 } else { 1000 };
        for seed in 0..12 {
            let mut d = Disorder::new(seed);
            let sites = d.pick(2, 6);
            let powers =
                |d: &mut Disorder| (0..sites).map(|_| (d.number() * f64::from(far)) as i64).collect::<Vec<_>>();
            let (ex, ey) = (powers(&mut d), powers(&mut d));
            let of = |r, seed| Plain::uniform_ranks(sites, 2, r, seed % 2 == 0, dtype.is_complex(), seed);
            check(&c, (dtype, bound), [&of(3, 2 * seed + 100), &of(4, 2 * seed + 102)], [&ex, &ey]);
        }
    }
}

fn check(
    c: &std::sync::Arc<crate::context::Context>,
    (dtype, bound): (DType, f64),
    [x, y]: [&Plain; 2],
    [ex, ey]: [&[i64]; 2],
) {
    let norms = x.norm() * y.norm();
    let near = [x.train(c, dtype), y.train(c, dtype)];
    let far = [sized(x, ex).train(c, dtype), sized(y, ey).train(c, dtype)];
    let moved = ex.iter().chain(ey).sum::<i64>();
    for method in [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves] {
        for kernel in KERNELS {
            if method == Method::Halves && kernel == Some(Kernel::Chain) {
                continue;
            }
            for scaling in [Scaling::Auto, Scaling::Always] {
                let mut s = session_by(c, kernel, Options { method, scaling, ..Options::default() });
                let (want, _) = s.inner_scaled(None, &near[0], &near[1], None).unwrap();
                let (found, _) = s.inner_scaled(None, &far[0], &far[1], None).unwrap();
                let off = error(found, moved, want, norms);
                let label = format!("{dtype:?} {method:?} {kernel:?} {scaling:?} {:?} {ex:?} {ey:?}", x.ranks);
                assert!(off < bound, "{label}: {found:?} for {want:?}, off by {off:e}");
                let mut batch = [Scaled::ZERO; 2];
                s.inner_batch(None, &[&far[0]; 2], &[&far[1]; 2], &mut batch, None).unwrap();
                assert!(error(batch[0], moved, want, norms) < bound, "batch {label}");
            }
        }
    }
    let twice = 2 * ex.iter().sum::<i64>();
    for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
        let mut s = session_by(c, Some(Kernel::Products), Options { norm_method, ..Options::default() });
        let (want, _) = s.norm_scaled(None, &near[0], None).unwrap();
        let (found, _) = s.norm_scaled(None, &far[0], None).unwrap();
        let off = error(found.times(found), twice, want.times(want), x.norm().powi(2));
        assert!(off < 2.0 * bound, "{dtype:?} {norm_method:?} {:?} {ex:?}: {found:?} for {want:?}", x.ranks);
    }
}
