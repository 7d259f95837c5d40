"""Packed symmetric tensors against the definitions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import symmetric

rng = np.random.default_rng(3)
SHAPES = [(2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (6, 3), (3, 5), (4, 4)]


def unpack(entries: Any, order: int, dimension: int) -> Any:
    """The full tensor, from the definition of the packing."""
    full = np.empty((dimension,) * order)
    tuples = itertools.combinations_with_replacement(range(dimension), order)
    for value, index in zip(entries, tuples):
        for permuted in itertools.permutations(index):
            full[permuted] = value
    return full


@pytest.mark.parametrize(("order", "dimension"), SHAPES)
def test_tables(order: int, dimension: int) -> None:
    tuples = list(itertools.combinations_with_replacement(range(dimension), order))
    exponents = np.array([[index.count(i) for i in range(dimension)] for index in tuples])
    assert symmetric.count(order, dimension) == len(tuples)
    np.testing.assert_array_equal(symmetric.indices(order, dimension), tuples)
    np.testing.assert_array_equal(symmetric.exponents(order, dimension), exponents)
    multinomials = [math.factorial(order) // math.prod(map(math.factorial, row)) for row in exponents]
    np.testing.assert_array_equal(symmetric.multinomials(order, dimension), multinomials)


def test_counts_of_the_literature() -> None:
    table = {(3, 3): 10, (4, 3): 15, (6, 3): 28, (8, 3): 45, (4, 4): 35, (3, 10): 220, (6, 10): 5005}
    assert {shape: symmetric.count(*shape) for shape in table} == table


@pytest.mark.parametrize(("order", "dimension"), [(0, 3), (4, 0), (4, -1), (64, 1000)])
def test_impossible_shapes(order: int, dimension: int) -> None:
    with pytest.raises(purlin.InvalidArgument):
        symmetric.count(order, dimension)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("order", "dimension"), SHAPES)
def test_full_and_back(cpu: purlin.Context, order: int, dimension: int, dtype: Any) -> None:
    packed = rng.standard_normal((4, symmetric.count(order, dimension))).astype(dtype)
    full = symmetric.to_full(packed, order=order, dimension=dimension, context=cpu)
    assert full.dtype == dtype
    np.testing.assert_array_equal(full, [unpack(row, order, dimension).astype(dtype) for row in packed])
    np.testing.assert_array_equal(symmetric.from_full(full, order=order, context=cpu), packed)
    np.testing.assert_array_equal(symmetric.from_full(full[0], context=cpu), packed[0])


def test_asymmetry_is_refused_or_averaged(cpu: purlin.Context) -> None:
    full = np.array([[1.0, 2.0], [4.0, 0.0]])
    with pytest.raises(purlin.InvalidArgument):
        symmetric.from_full(full, context=cpu)
    np.testing.assert_array_equal(symmetric.from_full(full, symmetrize=True, context=cpu), [1, 3, 0])
    np.testing.assert_array_equal(symmetric.from_full(full, check_tolerance=0.6, context=cpu)[[0, 2]], [1, 0])
    with pytest.raises(ValueError, match="equal sides"):
        symmetric.from_full(np.zeros((2, 3)), context=cpu)


def test_packings(cpu: purlin.Context) -> None:
    entries = rng.standard_normal((2, 3, 15))
    coefficients = symmetric.convert(entries, "entries", "polynomial", context=cpu)
    np.testing.assert_array_equal(coefficients, entries * symmetric.multinomials(4))
    back = symmetric.convert(coefficients, "polynomial", "entries", context=cpu)
    np.testing.assert_allclose(back, entries, rtol=1e-15)


@pytest.mark.parametrize(("order", "dimension"), SHAPES)
def test_norms(cpu: purlin.Context, order: int, dimension: int) -> None:
    packed = rng.standard_normal((3, symmetric.count(order, dimension)))
    full = [unpack(row, order, dimension) for row in packed]
    shape: Any = {"order": order, "dimension": dimension, "context": cpu}
    np.testing.assert_allclose(symmetric.norm(packed, **shape), [np.sqrt((a**2).sum()) for a in full], rtol=1e-14)
    np.testing.assert_allclose(symmetric.norm(packed, "one", **shape), [abs(a).sum() for a in full], rtol=1e-14)
    np.testing.assert_array_equal(symmetric.norm(packed, "max", **shape), [abs(a).max() for a in full])


def test_identity(cpu: purlin.Context) -> None:
    expected = np.zeros(15)
    for row, index in enumerate(symmetric.exponents(4)):
        if sorted(index) == [0, 0, 4]:
            expected[row] = 2
        elif sorted(index) == [0, 2, 2]:
            expected[row] = 2 / 3
    np.testing.assert_allclose(symmetric.identity(4, scale=2, context=cpu), expected, rtol=1e-15)
    with pytest.raises(purlin.InvalidArgument):
        symmetric.identity(3, context=cpu)


def test_the_order_follows_from_the_entries() -> None:
    for order in (2, 3, 4, 6, 8):
        with purlin.Tensor.symmetric(np.zeros((2, symmetric.count(order, 3)))) as tensor:
            assert tensor.symmetric_order == order
    with pytest.raises(ValueError, match="entries: has 14 entries along the last axis"):
        purlin.Tensor.symmetric(np.zeros((2, 14)))
    with pytest.raises(ValueError, match="15 entries.*have 10"):
        purlin.Tensor.symmetric(np.zeros((2, 15)), order=3)
    with pytest.raises(ValueError, match="dense"):
        symmetric.norm(purlin.Tensor.create((15, 2)))


def volumes() -> list[Any]:
    """The same batch of 2 x 3 x 4 tensors in every layout a user may have."""
    entries = np.random.default_rng(5).standard_normal((2, 3, 4, 15))
    wide = np.zeros((2, 3, 4, 20))
    wide[..., 2:17] = entries
    every_other = np.zeros((2, 3, 8, 15))
    every_other[:, :, ::2] = entries
    return [
        pytest.param(entries, True, id="C order"),
        pytest.param(np.asfortranarray(entries), True, id="Fortran order"),
        pytest.param(np.ascontiguousarray(entries.transpose(3, 0, 1, 2)).transpose(1, 2, 3, 0), True, id="entry-major"),
        pytest.param(wide[..., 2:17], True, id="slice of entries"),
        pytest.param(every_other[:, :, ::2], True, id="slice of voxels"),
        pytest.param(np.ascontiguousarray(entries.transpose(1, 0, 2, 3)).transpose(1, 0, 2, 3), False, id="swapped"),
        pytest.param(entries.tolist(), False, id="nested lists"),
    ]


@pytest.mark.parametrize(("volume", "in_place"), volumes())
def test_volumes_in_every_layout(cpu: purlin.Context, volume: Any, in_place: bool) -> None:
    plain = np.array(volume)
    expected = np.sqrt((plain**2 * symmetric.multinomials(4)).sum(-1))
    np.testing.assert_allclose(symmetric.norm(volume, context=cpu), expected, rtol=1e-14)
    full = symmetric.to_full(volume, context=cpu)
    assert full.shape == (2, 3, 4, 3, 3, 3, 3)
    np.testing.assert_array_equal(full[1, 2, 3], unpack(plain[1, 2, 3], 4, 3))
    with purlin.Tensor.symmetric(volume, context=cpu) as tensor:
        assert tensor.shape == (15, 24)
        if isinstance(volume, np.ndarray):
            assert np.shares_memory(tensor.numpy(), volume) == in_place
