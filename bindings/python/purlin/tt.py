"""Tensor trains (matrix-product states) and TT-matrices (matrix-product operators).

    x = purlin.tt.Train(cores)      # arrays (r, n, s), in place where they are in Fortran order

Sites, bonds and indices count from 0.
"""

from __future__ import annotations

from ._train import Train, TrainMatrix

__all__ = ["Train", "TrainMatrix"]
