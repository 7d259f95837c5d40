//! SS-HOPM on the CPU: tensors in parallel over the context's threads, starts over the lanes of vectors.
//!
//! | module | subject |
//! |---|---|
//! | [`CpuOps`] | the operations that the solver asks for (`ops.rs`) |
//! | [`nested`], [`chain`] | products with a tensor: generated for dimension 3, by contraction for any shape |
//! | [`three`], [`general`] | the iterations on these products, with [`steps`], [`uphill`], [`pool`], [`flight`], [`linear`] |
//! | [`engine`] | the interface between the driver of a tensor and the kernels of a shape |
//! | [`tensor`], [`feed`] | one tensor, from its entries to its results; many tensors through one pool of lanes |
//! | [`load`], [`reduce`], [`top`], [`mod@write`] | loading one tensor; reducing starts to pairs; writing pairs |
//! | [`batch`] | products and classification |
//!
//! One thread solves each tensor, and a lane's numbers do not depend on the other lanes. So results are bitwise the same for
//! any number of threads.

pub mod batch;
pub mod chain;
pub mod engine;
pub mod feed;
pub mod flight;
pub mod general;
pub mod linear;
pub mod load;
pub mod nested;
mod ops;
pub mod pool;
pub mod reduce;
pub mod steps;
pub mod tensor;
pub mod three;
pub mod top;
pub mod uphill;
pub mod write;

pub use engine::WIDEST;
pub use ops::{CpuOps, is_nested};
