//! The programs of tests/fuzz, for the fuzzer.

#[path = "../../tests/fuzz/base.rs"]
pub mod base;
#[path = "../../tests/fuzz/families.rs"]
pub mod families;
#[path = "../../tests/fuzz/fdk.rs"]
pub mod fdk;
#[path = "../../tests/fuzz/options.rs"]
pub mod options;
#[path = "../../tests/fuzz/program.rs"]
pub mod program;
#[path = "../../tests/fuzz/readers.rs"]
pub mod readers;
#[path = "../../tests/fuzz/rsvd.rs"]
pub mod rsvd;
#[path = "../../tests/fuzz/source.rs"]
pub mod source;
#[path = "../../tests/fuzz/spectra.rs"]
pub mod spectra;
#[path = "../../tests/fuzz/structs.rs"]
pub mod structs;
#[path = "../../tests/fuzz/tt.rs"]
pub mod tt;
#[path = "../../tests/fuzz/world.rs"]
pub mod world;
