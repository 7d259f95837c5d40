//! Calls a loop's body for each index.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::super::flags::LostDigits;
use super::here;
use crate::error::Result;

pub(super) fn each(count: usize, least: usize, work: &(dyn Fn(usize) + Sync)) {
    use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};

    match (count, here::team()) {
        (0, _) => {}
        (1, _) => work(0),
        (_, Some(team)) => here::each(&team, count, least, work),
        (_, None) => {
            let lost = LostDigits::default();
            let numbers = rayon::iter::IntoParallelIterator::into_par_iter(0..count);
            // Rayon makes a state for each range of numbers on the thread that processes it, and drops it there.
            numbers.with_min_len(least).for_each_init(|| lost.begin(), |_, number| work(number));
            lost.hand_on();
        }
    }
}

pub(super) fn try_each(count: usize, least: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let (first, error) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
    each(count, least, &|index| {
        if index > first.load(Ordering::Relaxed) {
            return;
        }
        if let Err(e) = work(index) {
            let mut kept = error.lock().unwrap_or_else(PoisonError::into_inner);
            if first.fetch_min(index, Ordering::Relaxed) > index {
                *kept = Some(e);
            }
        }
    });
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
