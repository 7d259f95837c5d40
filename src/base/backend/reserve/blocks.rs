//! Blocks of one size inside of a static array.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::memory::note_used;

/// Blocks of a word of a bit map.
pub(super) const BLOCKS: usize = u64::BITS as usize;

/// Blocks of one size, each aligned to this size, and a bit for each block in use. There is no lock, so that a child of
/// `fork()` never waits for its parent's threads.
#[repr(C, align(4096))]
pub(super) struct Blocks<const BYTES: usize, const SIZE: usize, const WORDS: usize> {
    memory: UnsafeCell<[MaybeUninit<u8>; BYTES]>,
    used: [AtomicU64; WORDS],
}

impl<const BYTES: usize, const SIZE: usize, const WORDS: usize> Blocks<BYTES, SIZE, WORDS> {
    pub(super) const fn new() -> Self {
        Self {
            memory: UnsafeCell::new([const { MaybeUninit::uninit() }; BYTES]),
            used: [const { AtomicU64::new(0) }; WORDS],
        }
    }

    fn start(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    /// Takes adjacent blocks for `bytes`, at least 1.
    pub(super) fn take(&self, bytes: usize) -> Option<NonNull<u8>> {
        let count = bytes.div_ceil(SIZE);
        if count > BLOCKS {
            return None;
        }
        for (k, word) in self.used.iter().enumerate() {
            let mut now = word.load(Ordering::Relaxed);
            while let Some(first) = free_run(!now, count) {
                match word.compare_exchange_weak(now, now | run(first, count), Ordering::Acquire, Ordering::Relaxed) {
                    Ok(_) => {
                        note_used(count * SIZE, true);
                        return NonNull::new(self.start().wrapping_add((k * BLOCKS + first) * SIZE));
                    }
                    Err(other) => now = other,
                }
            }
        }
        None
    }

    /// Frees the blocks at `start`; `false` if they are not in this array.
    pub(super) fn give(&self, start: *mut u8, bytes: usize) -> bool {
        let offset = start.addr().wrapping_sub(self.start().addr());
        if offset >= BYTES {
            return false;
        }
        let (block, count) = (offset / SIZE, bytes.div_ceil(SIZE));
        if let Some(word) = self.used.get(block / BLOCKS) {
            word.fetch_and(!run(block % BLOCKS, count), Ordering::Release);
            note_used(count * SIZE, false);
        }
        true
    }
}

/// `count` bits from bit `first` on.
fn run(first: usize, count: usize) -> u64 {
    (u64::MAX >> (BLOCKS - count.clamp(1, BLOCKS))) << first
}

/// The first bit of `count` adjacent ones.
fn free_run(mut free: u64, count: usize) -> Option<usize> {
    let mut length = 1;
    while length < count {
        let step = length.min(count - length);
        free &= free >> step;
        length += step;
    }
    if free == 0 { None } else { Some(free.trailing_zeros() as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_free_blocks_are_found() {
        assert_eq!(free_run(u64::MAX, 64), Some(0));
        assert_eq!(free_run(u64::MAX - 1, 64), None);
        assert_eq!(free_run(0b1101_1011, 2), Some(0));
        assert_eq!(free_run(0b1110_1101, 3), Some(5));
        assert_eq!(free_run(0, 1), None);
        assert_eq!(run(3, 2), 0b11000);
        assert_eq!(run(0, 64), u64::MAX);
    }

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let set = Blocks::<{ 2 * 64 * 16 }, 16, 2>::new();
        let mut state = 9u32;
        let mut held: Vec<(NonNull<u8>, usize, u8)> = Vec::new();
        for round in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if held.len() > 20 || (state >> 30) == 0 {
                if let Some((start, bytes, mark)) = held.pop() {
                    // SAFETY: the block is held by this test.
                    let seen = unsafe { std::slice::from_raw_parts(start.as_ptr(), bytes) };
                    assert!(seen.iter().all(|b| *b == mark), "somebody else wrote to it");
                    assert!(set.give(start.as_ptr(), bytes));
                }
            } else {
                let (bytes, mark) = (1 + (state >> 8) as usize % 300, (round % 251) as u8);
                if let Some(start) = set.take(bytes) {
                    // SAFETY: the block was taken for as many bytes.
                    unsafe { start.as_ptr().write_bytes(mark, bytes) };
                    held.insert((state >> 4) as usize % (held.len() + 1), (start, bytes, mark));
                }
            }
        }
        held.drain(..).for_each(|(start, bytes, _)| assert!(set.give(start.as_ptr(), bytes)));
        assert!(set.used.iter().all(|w| w.load(Ordering::Relaxed) == 0));
        assert!(set.take(64 * 16).is_some() && set.take(64 * 16).is_some() && set.take(1).is_none());
        let mut outside = 0u8;
        assert!(!set.give(&raw mut outside, 1));
    }
}
