//! Calls of the C boundary in any order, with promises kept.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_fuzz::program::{self, Tally};

fuzz_target!(|bytes: &[u8]| program::run(bytes, &mut Tally::default()));
