//! Connected components.

use std::sync::Arc;

use super::entries::{WHAT, csr};
use super::index::{Indices, Rows};
use super::transform::select;
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::shape::to_i64;

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
/// [`Error::InvalidArgument`] for a matrix that is not square; [`Error::NotSupported`] for another storage; out of memory.
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

/// The graph of one connected component, of the largest if `which` is `None`, and the vertices that it has in the whole
/// graph, ascending.
///
/// # Errors
/// As [`components`]; [`Error::InvalidArgument`] for a component that there is not.
pub fn component(context: &Arc<Context>, a: &Matrix, which: Option<usize>) -> Result<(Matrix, Vec<i64>)> {
    let found = components(a)?;
    let count = found.sizes.len();
    let which = match which {
        Some(c) if c < count => c,
        Some(c) => return Err(Error::invalid("which", format!("is {c}, there are {count} components"))),
        None => found.largest().ok_or_else(|| Error::invalid("a", "is a graph without vertices"))?,
    };
    let mut vertices = alloc::with_capacity(WHAT, found.sizes[which])?;
    vertices.extend(found.labels.iter().enumerate().filter(|(_, c)| **c == which).map(|(v, _)| to_i64(v)));
    let list = Indices::I64(&vertices);
    let part = select(context, a, Some(&list), Some(&list))?;
    Ok((part, vertices))
}
