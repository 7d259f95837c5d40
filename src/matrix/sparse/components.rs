//! Connected components.

use super::entries::{WHAT, csr};
use super::index::Rows;
use crate::alloc;
use crate::error::Result;
use crate::matrix::Matrix;

/// The connected components of a graph, numbered by their lowest vertex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// Component of each vertex.
    pub labels: Vec<usize>,
    /// Vertices of each component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// The component with the most vertices, the first of several such; `None` for a graph without vertices.
    pub fn largest(&self) -> Option<usize> {
        (0..self.sizes.len()).max_by_key(|&c| (self.sizes[c], std::cmp::Reverse(c)))
    }
}

/// The connected components of the graph whose edges are the stored entries of a square matrix, whatever their direction;
/// O((n + nnz) a(n)), a the inverse of Ackermann's function.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) for a matrix that is not square;
/// [`Error::NotSupported`](crate::error::Error::NotSupported) for another storage; out of memory.
pub fn components(a: &Matrix) -> Result<Components> {
    let from = csr("a", a)?;
    a.expect_size("a", a.rows(), a.rows())?;
    let n = a.rows();
    let rows = Rows::new(from)?;
    // A forest whose roots are the lowest vertices of their trees.
    let mut parent = alloc::with_capacity(WHAT, n)?;
    parent.extend(0..n);
    fn root(parent: &mut [usize], mut v: usize) -> usize {
        while parent[v] != v {
            parent[v] = parent[parent[v]];
            v = parent[v];
        }
        v
    }
    for i in 0..n {
        for k in rows.row(i) {
            let (a, b) = (root(&mut parent, i), root(&mut parent, rows.col(k)));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut sizes = Vec::new();
    // A root comes before the other vertices of its tree, so its label is known when they are reached.
    let mut labels = alloc::filled(WHAT, n, 0usize)?;
    for v in 0..n {
        let r = root(&mut parent, v);
        if r == v {
            labels[v] = sizes.len();
            alloc::push(WHAT, &mut sizes, 1)?;
        } else {
            labels[v] = labels[r];
            sizes[labels[r]] += 1;
        }
    }
    Ok(Components { labels, sizes })
}
