"""Normalized Laplacians of weights, for products and for solves."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .._memory import Array

SIGMA = -1e-5
"""Shift of the solves: a Laplacian itself is singular."""


def without_loops(affinity: Any) -> Any:
    """Weights in double precision with a diagonal of zeros, which has no effect on a Laplacian: an array or CSR."""
    if hasattr(affinity, "tocoo"):
        entries = affinity.tocoo()
        kept = entries.row != entries.col
        places = entries.row[kept], entries.col[kept]
        return type(entries)((entries.data[kept].astype(np.float64), places), shape=entries.shape).tocsr()
    weights = np.array(affinity, np.float64)
    np.fill_diagonal(weights, 0)
    return weights


def factorized(weights: Any, roots: Array) -> tuple[Any, Any]:
    """The normalized Laplacian L as an array or CSR, and a function or an object that solves (L - SIGMA I) x = b, by LU of
    SciPy. `roots` of the degrees are 0 for vertices without edges, whose rows are 0."""
    scale = np.where(roots > 0, roots, 1)
    diagonal = (roots > 0).astype(np.float64)
    if not hasattr(weights, "tocsr"):
        linalg: Any = importlib.import_module("scipy.linalg")
        laplacian = np.diag(diagonal) - weights / scale[:, None] / scale
        factors = linalg.lu_factor(laplacian - SIGMA * np.eye(len(roots)), overwrite_a=True)
        return laplacian, lambda b: linalg.lu_solve(factors, b)
    sparse: Any = importlib.import_module("scipy.sparse")
    direct: Any = importlib.import_module("scipy.sparse.linalg")
    inverse = sparse.diags(1 / scale)
    laplacian = sparse.csr_matrix(sparse.diags(diagonal) - inverse @ sparse.csr_matrix(weights) @ inverse)
    shifted = sparse.csc_matrix(laplacian - SIGMA * sparse.identity(len(roots)))
    # Of weights that are not negative the matrix is positive definite, and needs no pivots.
    definite: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    return laplacian, direct.splu(shifted, **(definite if weights.data.min(initial=0) >= 0 else {}))
