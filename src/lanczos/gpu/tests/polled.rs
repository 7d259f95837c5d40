//! Cancellation within a cycle: the poll between products ends it.

use super::{golden, gpu};
use crate::error::{Error, Result};
use crate::lanczos::algorithm::transform::{Transform, Transformed};
use crate::lanczos::cycles::Cycles;
use crate::lanczos::gpu::GpuKrylov;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::ops::{LanczosOps, Poll, Space};

/// Steps of a cycle, by each method: all call the given function, and end early after its error.
#[test]
#[ignore = "needs a GPU"]
fn cycles_are_polled_while_they_run() {
    type StepFunction = fn(&mut GpuKrylov<'_, f64>, &mut Poll<'_>) -> Result<usize>;
    const M: usize = 64;
    let c = gpu();
    let a = golden(&c, "ca-AstroPh-cc");
    let mut operator = Symmetric::<f64>::new(&c, &a, Kind::Matrix, 0.0).unwrap();
    let mut krylov = GpuKrylov::new(&c, &mut operator, None, M + 8).unwrap();
    const SPACE: Space = Space { locked: 0, norm: 0.0, epsilon: f64::EPSILON };
    let ways: [(&str, StepFunction); 5] = [
        ("steps", |k, poll| k.extend(SPACE, (0, M), poll).map(|s| s.len())),
        ("watched steps", |k, poll| {
            k.extend_watched(SPACE, (0, M), &[0.0; M * M], poll).map(|s| s.unwrap_or_default().len())
        }),
        ("blocks", |k, poll| k.extend_block(0, (0, M), 2, poll).map(|s| 2 * s.len())),
        ("a polynomial", |k, poll| {
            // The interval contains the spectrum. A filter that magnifies few values would not give a space of M
            // columns.
            let transform = Transform::End { center: 0.0, half: 95.0, top: 100.0, degree: 8, fold: None };
            let mut filtered = Transformed { inner: k, transform, work: M + 2, poll: &|| Ok(()) };
            filtered.extend(SPACE, (0, M), poll).map(|s| s.len())
        }),
        ("the recurrence", |k, poll| k.recur(M - 2, (0, M), 0.0, None, poll).map(|s| s.len())),
    ];
    for (name, way) in ways {
        // Different start columns, and a last column that only the last step writes to.
        let start = |k: &mut GpuKrylov<'_, f64>| {
            for j in [0, 1, M - 2] {
                k.random(9, j as u32, j).unwrap();
                let norm = k.orthogonalize(j.min(1), j).unwrap().after;
                k.scale(j, 1.0 / norm).unwrap();
            }
            k.random(9, 77, M).unwrap();
        };
        let marked = |k: &mut GpuKrylov<'_, f64>| {
            let (mut last, mut fresh) = (vec![0.0; k.order()], vec![0.0; k.order()]);
            k.read(M, &mut last).unwrap();
            k.random(9, 77, M + 1).unwrap();
            k.read(M + 1, &mut fresh).unwrap();
            last == fresh
        };
        start(&mut krylov);
        let mut polls = 0;
        let made = way(&mut krylov, &mut || {
            polls += 1;
            Ok(())
        });
        assert_eq!(made.unwrap(), M, "{name}");
        assert!(polls >= M / 8, "{name}: {polls} calls in {M} steps");
        start(&mut krylov);
        let mut left = 3;
        let ended = way(&mut krylov, &mut || {
            left -= 1;
            if left == 0 { Err(Error::Cancelled) } else { Ok(()) }
        });
        assert_eq!(ended.unwrap_err(), Error::Cancelled, "{name}");
        assert!(name == "the recurrence" || marked(&mut krylov), "{name}: all steps were made after a cancellation");
    }
    // The space can still be used.
    krylov.random(9, 0, 0).unwrap();
    let norm = krylov.orthogonalize(0, 0).unwrap().after;
    krylov.scale(0, 1.0 / norm).unwrap();
    assert_eq!(krylov.extend(SPACE, (0, 10), &mut || Ok(())).unwrap().len(), 10);
}
