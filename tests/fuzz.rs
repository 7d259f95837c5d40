//! The C boundary under random calls: every exported function, with arguments that keep a caller's promises (true
//! sizes, live buffers) and are otherwise arbitrary: handles of any kind and age, options of any bits, any order of
//! creation and destruction; option structs of any bits; files of any contents. No call may crash, report a bug of
//! purlin's, or leave anything behind. fuzz/ runs the same programs under a coverage-guided fuzzer.
//!
//! `PURLIN_FUZZ_SECONDS` (default 5) sets the time, `PURLIN_FUZZ_SEED` repeats a run. A failure prints the seed of the
//! program that failed; `PURLIN_FUZZ_SEED=that PURLIN_FUZZ_SECONDS=0` runs it alone.

#[path = "fuzz/base.rs"]
mod base;
#[path = "fuzz/families.rs"]
mod families;
#[path = "fuzz/fdk.rs"]
mod fdk;
#[path = "fuzz/options.rs"]
mod options;
#[path = "fuzz/program.rs"]
mod program;
#[path = "fuzz/readers.rs"]
mod readers;
#[path = "fuzz/rsvd.rs"]
mod rsvd;
#[path = "fuzz/source.rs"]
mod source;
#[path = "fuzz/spectra.rs"]
mod spectra;
#[path = "fuzz/structs.rs"]
mod structs;
#[path = "fuzz/tt.rs"]
mod tt;
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
fn random_calls_structs_and_files_keep_the_boundarys_promises() {
    let first = number("PURLIN_FUZZ_SEED").unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(number("PURLIN_FUZZ_SECONDS").unwrap_or(5));
    let [mut calls, mut options, mut files] = [program::Tally::default(); 3];
    let folder = readers::Folder::new();
    let mut seed = first;
    loop {
        let witness = Witness(seed);
        let bytes = source::bytes(seed);
        program::run(&bytes, &mut calls);
        // A little of each: one file costs as much as many calls.
        structs::run(&bytes[..512], &mut options);
        for piece in bytes.chunks(256) {
            readers::run(piece, &folder, &mut files);
        }
        drop(witness);
        seed += 1;
        if Instant::now() >= end {
            break;
        }
    }
    fdk::clean();
    println!("seeds {first} to {}", seed - 1);
    for (what, tally) in [("calls", calls), ("options", options), ("files", files)] {
        println!("{what}: {tally}");
        // A driver whose calls are all refused tests nothing behind the first check.
        assert!(seed < first + 100 || tally.successes * 10 > tally.calls, "{what}: {tally}");
    }
}
