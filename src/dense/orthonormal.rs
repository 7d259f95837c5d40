//! Orthonormal bases by the ladder of CholeskyQR steps.
