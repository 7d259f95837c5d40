//! Work on several devices: the rows of each, a thread for each.

use std::sync::atomic::AtomicU64;

use crate::error::Result;
use crate::team;

/// The rows `first .. first + rows` of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) first: usize,
    pub(super) rows: usize,
}

/// The rows of each of at most `count` devices: whole blocks of `grain` rows, and nearly the same number on each. Devices
/// without rows are left out.
pub(super) fn shares(rows: usize, count: usize, grain: usize) -> Vec<Share> {
    let (grain, count) = (grain.max(1), count.max(1));
    let blocks = rows.div_ceil(grain);
    let end = |k: usize| (blocks / count * k + (blocks % count * k).div_ceil(count)).saturating_mul(grain).min(rows);
    let shares = (0..count).map(|k| Share { first: end(k), rows: end(k + 1) - end(k) });
    let some: Vec<Share> = shares.filter(|s| s.rows > 0).collect();
    if some.is_empty() { vec![Share { first: 0, rows }] } else { some }
}

/// Called before each block by the device whose work is on the thread of the call: the caller's progress function.
pub(super) type ProgressCheck<'t> = Option<&'t dyn Fn() -> Result<()>>;

/// [`team::together`] on the devices.
pub(super) fn together<J: Send, R: Send>(
    stop: &AtomicU64,
    jobs: Vec<J>,
    tick: ProgressCheck<'_>,
    work: impl Fn(J, ProgressCheck<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    team::together("purlin-device", stop, jobs, tick, None, |job, here: Option<ProgressCheck<'_>>| {
        work(job, here.flatten())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_blocks_and_nearly_equal() {
        let rows = |rows, count, grain| -> Vec<usize> {
            let shares = shares(rows, count, grain);
            let mut first = 0;
            for share in &shares {
                assert_eq!(share.first, first);
                first += share.rows;
            }
            assert_eq!(first, rows);
            shares.iter().map(|s| s.rows).collect()
        };
        assert_eq!(rows(10, 2, 0), [5, 5]);
        assert_eq!(rows(11, 2, 1), [6, 5]);
        assert_eq!(rows(10, 3, 4), [4, 4, 2]);
        assert_eq!(rows(17, 2, 4), [12, 5]);
        assert_eq!(rows(3, 2, 100), [3]);
        assert_eq!(rows(2, 5, 1), [1, 1]);
        assert_eq!(rows(1, 4, 1), [1]);
        assert_eq!(rows(0, 3, 7), [0]);
        assert_eq!(rows(usize::MAX, 3, 1 << 40).len(), 3);
        for count in 1..9 {
            let all = rows(1003, count, 1);
            assert!(all.iter().max().unwrap() - all.iter().min().unwrap() <= 1, "{all:?}");
        }
    }
}
