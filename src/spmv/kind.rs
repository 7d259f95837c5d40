//! The operators that can be made of a matrix.

use crate::choice::numbered;

/// The operator of a matrix A, or of a graph with adjacency matrix W. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// A itself, of any shape.
    Matrix = 0,
    /// The Laplacian D - W.
    Laplacian = 1,
    /// The normalized Laplacian I - D^-1/2 W D^-1/2, 0 for isolated vertices: for row sums of 0, even where weights cancel.
    NormalizedLaplacian = 2,
    /// The signless Laplacian D + W.
    SignlessLaplacian = 3,
    /// D^-1/2 W D^-1/2. Its largest eigenvalues are 1 minus the smallest ones of the normalized Laplacian.
    NormalizedAdjacency = 4,
    /// The modularity matrix W - d d^T / sum(d) (Newman, PNAS 103, 2006).
    Modularity = 5,
    /// A^H A, of order cols. Its eigenvalues are the squares of the singular values.
    Gram = 6,
    /// A A^H, of order rows.
    OuterGram = 7,
    /// [0 A; A^H 0], of order rows + cols. Its eigenvalues are the singular values and their negatives.
    Augmented = 8,
    /// The random-walk Laplacian I - D^-1 W, 0 for isolated vertices. It is not symmetric.
    RandomWalkLaplacian = 9,
}

numbered!(
    Kind,
    Matrix,
    Laplacian,
    NormalizedLaplacian,
    SignlessLaplacian,
    NormalizedAdjacency,
    Modularity,
    Gram,
    OuterGram,
    Augmented,
    RandomWalkLaplacian
);

impl Kind {
    /// The Hermitian kinds, in the order of their numbers.
    pub const HERMITIAN: [Self; 9] = [
        Self::Matrix,
        Self::Laplacian,
        Self::NormalizedLaplacian,
        Self::SignlessLaplacian,
        Self::NormalizedAdjacency,
        Self::Modularity,
        Self::Gram,
        Self::OuterGram,
        Self::Augmented,
    ];

    /// Whether the matrix has to be square.
    pub fn is_of_square(self) -> bool {
        !matches!(self, Self::Gram | Self::OuterGram | Self::Augmented)
    }

    /// Whether it uses the degrees of a graph.
    pub fn is_of_graph(self) -> bool {
        self.is_of_square() && self != Self::Matrix
    }

    /// Order of the operator of a matrix of `rows` and `cols`.
    pub fn order(self, (rows, cols): (usize, usize)) -> usize {
        match self {
            Self::Gram => cols,
            Self::Augmented => rows.saturating_add(cols),
            _ => rows,
        }
    }
}
