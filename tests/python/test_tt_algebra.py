"""Algebra of tensor trains against NumPy's of the dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_tt import DTYPES, random_cores
from test_tt_contraction import dense, dense_matrix

import purlin
from purlin import tt

MODES = [2, 3, 4]


def near(value: Any, expected: Any, dtype: Any) -> None:
    """Within the rounding of a type at the size of the numbers."""
    limit = 30 * np.finfo(np.dtype(dtype).char.lower()).eps * np.abs(expected).max()
    np.testing.assert_allclose(value, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("edge", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_and_products(cpu: purlin.Context, dtype: Any, edge: int) -> None:
    x = random_cores(MODES, [edge, 3, 2, edge], dtype, 1)
    y = random_cores(MODES, [edge, 2, 4, edge], dtype, 2)
    a, b = dense(x), dense(y)
    alpha = 2 - 1j if np.dtype(dtype).kind == "c" else 2
    near(tt.full(tt.add(x, y, alpha, -3, context=cpu)), alpha * a - 3 * b, dtype)
    near(tt.full(tt.scale(x, 0.5, 3, context=cpu)), 4 * a, dtype)
    near(tt.full(tt.conj(x, context=cpu)), a.conj(), dtype)
    near(tt.full(tt.hadamard(x, y, context=cpu)), a * b, dtype)
    near(tt.full(tt.reverse(x, context=cpu)), a.transpose(2, 1, 0), dtype)
    opened = tt.to_open(x, context=cpu)
    assert not opened.cyclic
    rounded = tt.hadamard_round(opened, tt.to_open(y, context=cpu), context=cpu)
    near(tt.full(rounded.train), a * b, dtype)
    assert rounded.train.ranks[1] <= MODES[0]
    assert not tt.full(tt.zeros(MODES, dtype, context=cpu)).any()
    near(tt.full(opened), a, dtype)
    near(tt.full(tt.rotate(x, 1, context=cpu)), a.transpose(1, 2, 0), dtype)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    assert tt.cast(x, wide, context=cpu).dtype == wide
    indices = np.array([[0, 0, 0], [1, 2, 3], [1, 0, 2]])
    near(tt.elements(x, indices, context=cpu), a[tuple(indices.T)], dtype)
    near(tt.element(x, [1, 2, 3], context=cpu), a[1, 2, 3], dtype)


def test_operators_are_applied(cpu: purlin.Context) -> None:
    rng = np.random.default_rng(3)
    x = random_cores(MODES, [1, 3, 2, 1], np.float64, 4)
    h = [rng.standard_normal(s) for s in [(1, 2, 2, 2), (2, 3, 3, 3), (3, 1, 4, 1)]]
    expected = (dense_matrix(h) @ dense(x).ravel()).reshape(2, 3, 1)
    np.testing.assert_allclose(tt.full(tt.apply(h, x, context=cpu)), expected, atol=1e-12)
    rounded = tt.apply_round(h, x, 1e-12, context=cpu)
    np.testing.assert_allclose(tt.full(rounded.train), expected, atol=1e-10)


def test_rounding_and_canonical_forms(cpu: purlin.Context) -> None:
    x = random_cores([3] * 5, [1, 2, 3, 3, 2, 1], np.float64, 5)
    twice = tt.add(x, x, context=cpu)
    rounded = tt.round(twice, 1e-10)
    assert rounded.train.ranks == (1, 2, 3, 3, 2, 1) and rounded.error <= 1e-10 and rounded.discarded.shape == (4,)
    assert abs(rounded.log_norm - np.log(2 * np.linalg.norm(dense(x)))) < 1e-12
    assert tt.distance(rounded.train, twice, context=cpu) <= 1e-9 * np.exp(rounded.log_norm)
    assert tt.round(twice, max_rank=1).train.max_rank == 1
    centred, exponent = tt.canonicalize(x, 2, context=cpu)
    np.testing.assert_allclose(tt.full(centred) * 2.0**exponent, dense(x), atol=1e-12)
    for k in (0, 1):
        left = centred.core(k).reshape(-1, centred.ranks[k + 1], order="F")
        np.testing.assert_allclose(left.T @ left, np.eye(left.shape[1]), atol=1e-13)
    with pytest.raises(purlin.NotSupported):
        tt.round(random_cores([2, 2], [2, 3, 2]), context=cpu)


def test_dense_arrays(cpu: purlin.Context) -> None:
    i = np.indices((8,) * 4).sum(axis=0) + 4.0
    a = 1 / i
    found = tt.svd(a, 1e-6, context=cpu)
    assert np.linalg.norm(tt.full(found.train) - a) <= 1e-6 * np.linalg.norm(a)
    assert found.train.max_rank <= 6 and found.error <= 1e-6
    capped = tt.svd(np.asfortranarray(a), max_rank=2, context=cpu)
    assert capped.train.max_rank == 2
    exact = np.linalg.norm(tt.full(capped.train) - a) / np.linalg.norm(a)
    assert exact <= capped.error * 1.01 + 1e-12
    integers = tt.svd(np.arange(30).reshape(2, 3, 5), context=cpu).train
    assert integers.dtype == np.float64
    np.testing.assert_allclose(tt.full(integers), np.arange(30).reshape(2, 3, 5), atol=1e-12)


def test_trains_of_nothing(cpu: purlin.Context) -> None:
    first = tt.random(MODES, [1, 2, 3, 1], seed=7, context=cpu)
    again = tt.random(MODES, [1, 2, 3, 1], seed=7, context=cpu)
    other = tt.random(MODES, [1, 2, 3, 1], seed=8, context=cpu)
    np.testing.assert_array_equal(first.core(1), again.core(1))
    assert not np.array_equal(first.core(1), other.core(1))
    np.testing.assert_array_equal(tt.full(tt.ones(MODES, np.complex64, context=cpu)), np.ones(MODES))
    vectors = [np.arange(1.0, n + 1) for n in MODES]
    expected = np.einsum("i,j,k->ijk", *vectors)
    np.testing.assert_allclose(tt.full(tt.product_state(vectors, context=cpu)), expected)


def test_refusals(cpu: purlin.Context) -> None:
    x = random_cores(MODES, [1, 2, 2, 1])
    with pytest.raises(purlin.InvalidArgument, match="imaginary"):
        tt.add(x, x, 1j, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="core 0 has mode size"):
        tt.hadamard(x, random_cores([3, 3, 4], [1, 2, 2, 1]), context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="first: is 3"):
        tt.rotate(x, 3, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="centre: is 5"):
        tt.canonicalize(x, 5, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="absolute: is set without epsilon"):
        tt.round(x, absolute=True, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="absolute: is set without epsilon"):
        tt.svd(np.ones((2, 3)), absolute=True, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="epsilon: is -1"):
        tt.round(x, -1, context=cpu)
    with pytest.raises(ValueError, match="has 2 numbers, the train has 3 cores"):
        tt.element(x, [0, 0], context=cpu)
    with pytest.raises(purlin.InvalidArgument):
        tt.element(x, [0, 0, 4], context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="dtype"):
        tt.cast(random_cores(MODES, [1, 2, 2, 1], np.complex128), np.float64, context=cpu)
