"""Multiple eigenvalues of grids and cycles, against closed forms: default options find every copy and report it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purlin
from purlin import graph, lanczos


def of_edges(n: int, i: Any, j: Any) -> purlin.Matrix:
    """The graph of n vertices with the edges i - j, of weight 1."""
    pairs = np.concatenate([np.stack([i, j], 1), np.stack([j, i], 1)])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=n))]).astype(np.int64)
    return purlin.Matrix.csr(offsets, np.ascontiguousarray(pairs[:, 1]), np.ones(len(pairs)), (n, n))


def cycle(n: int) -> tuple[purlin.Matrix, Any]:
    """A cycle and its eigenvalues, falling."""
    i = np.arange(n, dtype=np.int64)
    return of_edges(n, i, (i + 1) % n), np.sort(2 * np.cos(2 * np.pi * i / n))[::-1]


def grid(side: int) -> tuple[purlin.Matrix, Any]:
    """A square grid and its eigenvalues, falling."""
    at = np.arange(side * side, dtype=np.int64).reshape(side, side)
    i, j = (np.concatenate(ends) for ends in ((at[:-1].ravel(), at[:, :-1].ravel()), (at[1:].ravel(), at[:, 1:].ravel())))
    line = 2 * np.cos(np.pi * np.arange(1, side + 1) / (side + 1))
    return of_edges(side * side, i, j), np.sort((line[:, None] + line).ravel())[::-1]


@pytest.mark.parametrize(("make", "size"), [(grid, 40), (grid, 60), (grid, 80), (cycle, 200), (cycle, 500), (cycle, 2000)])
def test_default_options_find_every_copy(make: Any, size: int) -> None:
    a, exact = make(size)
    for k in (3, 4, 5):
        found = lanczos.run(a, k, seed=k)
        assert found.info.verified, (size, k)
        assert np.abs(found.pairs.values - exact[:k]).max() < 1e-9, (size, k, found.pairs.values, exact[:k])


@pytest.mark.parametrize(("make", "size"), [(grid, 40), (grid, 60), (grid, 80), (cycle, 500), (cycle, 2000)])
def test_sixty_solves_in_a_space_of_sixty_are_complete(make: Any, size: int) -> None:
    """Twelve solves of each graph: three numbers of pairs, four seeds."""
    a, exact = make(size)
    for k in (3, 4, 5):
        for seed in range(4):
            found = lanczos.run(a, k, basis=60, seed=seed, vectors=False)
            assert found.info.verified, (size, k, seed)
            assert np.abs(found.pairs.values - exact[:k]).max() < 1e-9, (size, k, seed, found.pairs.values, exact[:k])


@pytest.mark.parametrize(("make", "size"), [(grid, 40), (grid, 60), (grid, 80), (cycle, 500), (cycle, 2000)])
def test_the_sixty_solves_agree_with_arpack_at_tolerance_0(make: Any, size: int) -> None:
    """SciPy's eigsh finds every copy in the same space, to the accuracy of the arithmetic."""
    linalg = pytest.importorskip("scipy.sparse.linalg")
    a, exact = make(size)
    host = a.scipy()
    for k in (3, 4, 5):
        for seed in range(4):
            start = np.random.default_rng(seed).standard_normal(len(exact))
            peer = np.sort(linalg.eigsh(host, k, which="LA", ncv=60, tol=0, v0=start, return_eigenvectors=False))[::-1]
            ours = lanczos.run(a, k, basis=60, seed=seed, vectors=False).pairs.values
            assert np.abs(peer - exact[:k]).max() < 1e-9, (size, k, seed, peer, exact[:k])
            assert np.abs(ours - peer).max() < 1e-9, (size, k, seed, ours, peer)


@pytest.mark.parametrize(("size", "k"), [(200, 3), (200, 5), (500, 3)])
def test_an_embedding_has_every_copy(size: int, k: int) -> None:
    a, exact = cycle(size)
    found = graph.embed(a, k)
    assert found.info.verified
    assert np.abs(found.values - (1 - exact[:k] / 2)).max() < 1e-10
    spanned = np.linalg.svd(found.coordinates, compute_uv=False)
    assert spanned[-1] > 1 - 1e-8


def test_clusters_use_every_copy() -> None:
    """A ring of cliques, whose low eigenvalues are double: without one copy the coordinates do not part the cliques."""
    count, size = 7, 20
    truth = np.arange(count * size) // size
    full = np.triu(truth[:, None] == truth, 1)
    first = np.arange(count) * size
    full[np.minimum(first, np.roll(first, -1) + 1), np.maximum(first, np.roll(first, -1) + 1)] = True
    i, j = np.nonzero(full)
    a = of_edges(count * size, i, j)
    values = lanczos.solve(a, 3, kind="normalized_adjacency", vectors=False).values
    assert values[1] == pytest.approx(values[2], abs=1e-9)
    every: tuple[dict[str, Any], ...] = ({}, {"block": 2})
    for options in every:
        found = graph.cluster(a, count, "pivoted_qr", **options)
        assert found.info is not None and found.info.verified
        assert len(set(zip(found.labels.tolist(), truth.tolist()))) == count


@pytest.mark.parametrize("block", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [200, 500])
def test_the_fiedler_value_with_blocks(size: int, block: int) -> None:
    """The Laplacian's value 0 is excluded, the next is double. Blocks stop at roundings of the norm, not of the value."""
    a, exact = cycle(size)
    found = graph.fiedler(a, block=block, restarts=2000)
    x, want = np.asarray(found.vector), 2 - exact[1]
    assert found.info.verified and found.info.converged == 1
    assert abs(found.value - want) < 1e-8 * want + 1e-12
    image = 2 * x - np.roll(x, 1) - np.roll(x, -1)
    assert np.linalg.norm(image - found.value * x) < 1e-7 and abs(np.linalg.norm(x) - 1) < 1e-12
    assert abs(x.sum()) < 1e-6
