//! Contractions on a GPU. For small ranks, a kernel keeps the environment in shared memory for the whole train. For
//! middle ranks, one kernel uses all multiprocessors. Large ranks use cuBLAS, and so do the dense tensors of short
//! trains and the powers of uniform trains. Norms by QR factors use cuSOLVER. Without cuBLAS, the CPU computes dense
//! tensors, powers and QR factors.
//!
//! | file | subject |
//! |---|---|
//! | `ops` | the operations that contractions ask for: each goes to the file of its method |
//! | `state` | the streams and libraries of a context |
//! | `call`, `planned` | one call, its terms; quantities that follow from its plan |
//! | `load` | cores in device memory |
//! | `chain` | sweeps by purlin's own kernels |
//! | `batch` | many contractions in one launch |
//! | `blocks` | blocks of pairs by cuBLAS |
//! | `careful` | scaling that keeps environments within range |
//! | `ends` | open trains from both ends by cuBLAS |
//! | `halves`, `power` | by dense tensors, by squaring |
//! | `qr` | norms by QR factors |
//! | `enqueue` | products that are enqueued without waiting |
//! | `products` | products by cuBLAS, and by digits |
//! | `pieces` | pieces of workspace, owned or the caller's |
//! | `scale` | scaling by powers of two, counted on the device |
//! | `host` | copies for the CPU fallback without cuBLAS |

mod batch;
mod blocks;
mod call;
mod careful;
mod chain;
mod ends;
mod enqueue;
mod halves;
mod host;
mod load;
mod ops;
mod pieces;
mod planned;
mod power;
mod products;
mod qr;
mod scale;
mod state;

#[cfg(test)]
mod tests;

pub use state::GpuContraction;
