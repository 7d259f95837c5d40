//! Construction of sparse matrices: from coordinates, compressed columns, dense and other sparse matrices; their
//! measures; and files of them.
//!
//! In every result the columns of each row ascend, without duplicates. Results are zero-based, in host memory that
//! purlin owns. They do not depend on the number of threads.
//!
//! | file | subject |
//! |---|---|
//! | `index` | indices of 32 and 64 bits |
//! | `entries` | the sources of a result's entries, and their values |
//! | `coordinates` | from coordinates, with duplicates |
//! | `canonical` | sorted rows without duplicates; patterns |
//! | `copies` | copies without zeros, and copies to other memory |
//! | `dense` | from and to dense matrices |
//! | `scale` | rows and columns multiplied by numbers |
//! | `transform` | transposition, permutation, submatrices |
//! | `symmetrize` | symmetric matrices of directed graphs |
//! | `components` | connected components |
//! | `order` | orders of a graph's vertices |
//! | `measures` | degrees, norms, symmetry |
//! | `checks` | sorted rows, duplicates, values that are not finite |
//! | `market`, `edges`, `lines`, `list` | Matrix Market files, edge lists |

#[cfg(test)]
mod cancel_tests;
mod canonical;
mod checks;
mod components;
mod coordinates;
mod copies;
mod dense;
#[cfg(test)]
mod duplicate_tests;
mod edges;
mod entries;
mod index;
#[cfg(test)]
mod limit_tests;
mod lines;
mod list;
mod market;
mod measures;
mod order;
#[cfg(test)]
mod range_tests;
mod scale;
mod symmetrize;
#[cfg(test)]
mod tests;
mod transform;

pub use canonical::{canonical, pattern};
pub use checks::{Checks, check};
pub use components::{Components, component, components};
pub use coordinates::{Coordinates, Duplicates, from_coordinates};
pub use copies::{copy_to, drop_zeros};
pub use dense::{from_dense, to_dense};
pub use edges::{EdgeList, read_edges, write_edges};
pub use entries::{Values, values};
pub use index::{Index, Indices, Rows};
pub use list::List;
pub use market::{read_market, write_market};
pub use measures::{
    Norm, diagonal, entry_not_finite, first_not_finite, has_symmetric_values, is_symmetric, norm, row_sums,
    symmetry_bytes,
};
pub use order::{Ordering, order, order_bytes};
pub use scale::scale;
pub use symmetrize::{Symmetrize, symmetrize};
pub use transform::{CopyBytes, reordered, reordered_bytes, transpose_bytes};
pub use transform::{from_columns, permute, select, transpose};
