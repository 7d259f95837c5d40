//! Graphs by their eigenvectors: embeddings, clusters, bisections; also the graph of an image.
//!
//! | file | subject |
//! |---|---|
//! | [`embed`] | coordinates of the vertices |
//! | [`cluster`] | labels from coordinates: k-means++ and pivoted QR |
//! | [`bisect`] | the Fiedler vector, and cuts from it |
//! | [`image`], [`stencil`] | the graph of neighbouring pixels, as a matrix and without one |
//! | `sort` | a sort of vertices that a cancellation ends |
//! | `degrees` | row sums of graphs, with or without a stored matrix |
//! | [`density`] | the density of a spectrum |
//! | [`calls`] | the calls on matrices and tensors of any type |

pub mod bisect;
pub mod calls;
pub mod cluster;
mod degrees;
pub mod density;
pub mod embed;
pub mod image;
mod sort;
pub mod stencil;
#[cfg(test)]
mod tests;

use degrees::degrees;
