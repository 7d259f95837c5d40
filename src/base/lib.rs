//! The crate below the families of purlin: memory, devices, matrices, tensors, files.
//!
//! Dependencies point one way: tensor, matrix, dense -> backend -> shape, alloc, error. Only [`backend`] holds `unsafe` code,
//! and only [`backend::gpu`] knows the CUDA driver.
//!
//! | module | contents |
//! |---|---|
//! | [`context`], [`stream`] | backend, thread pool, limits, log; an ordered queue |
//! | [`session`] | shared parts of objects that are created once and used for many calls |
//! | [`tensor`], [`matrix`] | dense, symmetric-packed and sparse storage, owned or borrowed; matrices read in blocks or known by products |
//! | [`blocks`] | arrays larger than memory: sources, sinks, and the pipeline between them |
//! | [`dense`] | dense linear algebra of a backend, for the families that compute with matrices |
//! | [`backend`] | the CPU: threads, vector instructions; the GPU: driver, kernels, libraries |
//! | [`refusal`], [`alloc`], [`thread`] | refused requests for memory; fallible buffers and threads |
//! | [`team`], [`pump`] | work on several threads of a call; reports of progress while they work |
//! | [`error`], [`message`], [`log`], [`progress`] | errors and their texts; log and progress of a run |
//! | [`dtype`], [`real`], [`scalar`], [`shape`], [`range`], [`choice`], [`rng`] | number types, checked sizes and ranges, choices by number, random numbers |
//! | [`erased`] | values whose type only their backend knows |
//! | `fault` | fault injection for tests, with the feature `fault-injection` |
//! | `testing` | fixtures for the tests of several families, with the feature `testing` |
//! | [`instances`] | generic functions that are compiled once for each number type |

#![deny(unsafe_code)]

pub mod alloc;
#[allow(unsafe_code, reason = "kernels, the CUDA driver, memory, and the functions of the C library")]
pub mod backend;
pub mod blocks;
pub mod choice;
pub mod context;
pub mod dense;
pub mod dtype;
pub mod erased;
pub mod error;
#[cfg(feature = "fault-injection")]
pub mod fault;
pub mod instances;
pub mod log;
pub mod matrix;
pub mod message;
pub mod progress;
pub mod pump;
pub mod range;
pub mod real;
pub mod refusal;
pub mod rng;
pub mod scalar;
pub mod session;
pub mod shape;
pub mod stream;
pub mod team;
pub mod tensor;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod thread;
