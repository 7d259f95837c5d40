//! Calls of the C interface in any order, with arguments that keep a caller's promises.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_fuzz::program::{self, Tally};

fuzz_target!(|bytes: &[u8]| program::run(bytes, &mut Tally::default()));
