//! Contractions on a GPU against the CPU: every kernel and library path, all types, odd sizes, extreme numbers.

mod balance;
mod batch;
mod dense;
mod digits;
mod enqueue;
mod enqueue_dense;
mod enqueue_operators;
mod factors;
mod golden;
mod hard;
mod inputs;
mod lost;
mod norms;
mod operators;
mod oracle;
mod paths;
mod powers;
mod ring_underflow;
