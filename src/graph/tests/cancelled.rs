//! Calls without progress that a context or an object cancels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;
use crate::graph::bisect::{Cut, bisect};
use crate::graph::cluster::{k_means_until, pivoted_qr, pivoted_qr_until};
use crate::progress::Progress;
use crate::testing::cancel::is_cancelled;
use crate::testing::sparse::{cpu, from_entries};

#[test]
fn clusters_of_points_end_by_the_objects_cancellation() {
    let (c, epoch) = (cpu(1), Arc::new(AtomicU64::new(0)));
    let progress = Progress::none().and(&epoch, 0);
    let points = [0.0, 1.0, 5.0];
    assert!(k_means_until(&c, &points, 3, (2, 1, 0), &progress).is_ok());
    assert!(pivoted_qr_until(&c, &points, 3, &progress).is_ok());
    epoch.store(1, Ordering::Relaxed);
    let e = k_means_until(&c, &points, 3, (2, 1, 0), &progress).map(drop).unwrap_err();
    assert!(matches!(e, Error::Cancelled), "{e}");
    let e = pivoted_qr_until(&c, &points, 3, &progress).map(drop).unwrap_err();
    assert!(matches!(e, Error::Cancelled), "{e}");
}

/// A cut of a long path and labels of many points, whose passes take some blocks each.
#[test]
fn cuts_and_labels_end_when_the_context_is_cancelled() {
    let (c, n) = (cpu(2), 100_000);
    let edges: Vec<_> = (1..n).flat_map(|i| [(i - 1, i, 1.0), (i, i - 1, 1.0)]).collect();
    let path = from_entries(&c, (n, n), &edges);
    let vector: Vec<f64> = (0..n).map(|i| (i as f64 * 12.9898).sin()).collect();
    for rule in [Cut::Sign, Cut::Median, Cut::Sweep] {
        is_cancelled(&|| c.cancel(), "bisect", || bisect(&path, &vector, rule));
    }
    let points: Vec<f64> = (0..4 * n).map(|i| ((i * i) as f64 * 0.618).sin()).collect();
    is_cancelled(&|| c.cancel(), "pivoted_qr", || pivoted_qr(&c, &points, n));
}
