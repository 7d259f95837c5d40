"""Results of the solves of `graph`."""

from __future__ import annotations

from typing import NamedTuple

from ._memory import Array
from ._reports import LanczosInfo as Info


class Embedding(NamedTuple):
    """Coordinates (n, k), the smallest eigenvalues of the normalized Laplacian, and the report of the solve."""

    coordinates: Array
    values: Array
    info: Info


class Clusters(NamedTuple):
    """Label of each vertex, sum of the squared distances from the centres, and the report of the solve, if there was one."""

    labels: Array
    inertia: float
    info: Info | None


class Fiedler(NamedTuple):
    """The second smallest eigenvalue of a Laplacian, its vector, and the report of the solve."""

    value: float
    vector: Array
    info: Info
