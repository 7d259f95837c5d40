//! Option structs of any bits on one problem that fits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_fuzz::{program::Tally, structs};

fuzz_target!(|bytes: &[u8]| structs::run(bytes, &mut Tally::default()));
