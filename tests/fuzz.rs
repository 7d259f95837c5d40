//! The C boundary under random calls: every exported function, with arguments that keep a caller's promises (true
//! sizes, live buffers) and are otherwise arbitrary: handles of any kind and age, options of any bits, any order of
//! creation and destruction. No call may crash, report a bug of purlin's, or leave anything behind.
//!
//! `PURLIN_FUZZ_SECONDS` (default 5) sets the time, `PURLIN_FUZZ_SEED` repeats a run. A failure prints the seed of the
//! program that failed; `PURLIN_FUZZ_SEED=that PURLIN_FUZZ_SECONDS=0` runs it alone.

#[path = "fuzz/base.rs"]
mod base;
#[path = "fuzz/families.rs"]
mod families;
#[path = "fuzz/options.rs"]
mod options;
#[path = "fuzz/program.rs"]
mod program;
#[path = "fuzz/source.rs"]
mod source;
#[path = "fuzz/world.rs"]
mod world;

use std::time::{Duration, Instant};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// Prints the seed if the program it belongs to panics.
struct Witness(u64);

impl Drop for Witness {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the program of PURLIN_FUZZ_SEED={} failed", self.0);
        }
    }
}

#[test]
fn random_calls_keep_the_boundarys_promises() {
    let first = number("PURLIN_FUZZ_SEED").unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(number("PURLIN_FUZZ_SECONDS").unwrap_or(5));
    let mut tally = program::Tally::default();
    let mut seed = first;
    loop {
        let witness = Witness(seed);
        program::run(&source::bytes(seed), &mut tally);
        drop(witness);
        seed += 1;
        if Instant::now() >= end {
            break;
        }
    }
    println!("seeds {first} to {}: {tally}", seed - 1);
    // A driver whose calls are all refused tests nothing behind the first check.
    assert!(seed < first + 100 || tally.successes * 10 > tally.calls, "{tally}");
}
