//! What eigenvectors say about a graph: embeddings, clusters, bisections; the graph of an image.
//!
//! | file | subject |
//! |---|---|
//! | [`embed`] | coordinates of the vertices |
//! | [`cluster`] | labels from coordinates: k-means++ and pivoted QR |
//! | [`bisect`] | the Fiedler vector, and the cuts it gives |
//! | [`image`], [`stencil`] | the graph of neighbouring pixels, as a matrix and without one |
//! | `degrees` | row sums of graphs, stored or not |
//! | [`density`] | the density of a spectrum |

pub mod bisect;
pub mod cluster;
mod degrees;
pub mod density;
pub mod embed;
pub mod image;
pub mod stencil;
#[cfg(test)]
mod tests;

use degrees::degrees;
