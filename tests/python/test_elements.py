"""Elements of arrays and lists as arguments: integers that floating point would round, masks and wide types are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import fdk, graph, lanczos, rsvd, sparse, spmv, sshopm, symmetric, tt

ONES = np.ones((1, 2, 1))


def test_integers_beside_fractions_in_a_list_are_not_rounded() -> None:
    large, half = 2**53 + 1, 0.5
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("array", lambda: purlin.Matrix.dense([[large, half]])),
        ("a", lambda: rsvd.compute([[large, half], [half, 1]], 1)),
        ("w", lambda: graph.components([[large, half], [half, 1]])),
        ("x", lambda: spmv.Plan(np.eye(2)) @ [large, half]),
        ("start", lambda: lanczos.solve(np.eye(2), 1, start=[large, half])),
        ("diagonal", lambda: lanczos.tridiagonal_eigenvalues([large, half], [1.0])),
        ("values", lambda: sparse.from_coordinates([0, 1], [0, 1], [large, half], (2, 2))),
        ("x: core 0", lambda: tt.full([[[[large], [half]]], ONES])),
        ("vectors: vector 1", lambda: tt.product_state([[1, 2], [half, large]])),
        ("values", lambda: tt.svd([[large, half], [1, 1]])),
        ("terms: operator of term 0", lambda: tt.from_terms([2], [(1, [(0, [[large, half], [0, 1]])])])),
        ("tensors", lambda: sshopm.solve([large, half] + [1] * 13)),
        ("full", lambda: symmetric.from_full([[large, half], [half, 1]])),
        ("i0", lambda: fdk.log_transform(np.full((1, 1, 2), 5.0), [[large, half]])),
    ]
    for name, call in calls:
        with pytest.raises(ValueError, match=rf"^{name}: has {large} at index .* \(from 0\), which float64 does not hold$"):
            call()
    # NumPy makes float64 of these too.
    with pytest.raises(ValueError, match=rf"^x: has {2**63 + 1} at index 0 \(from 0\), which float64 does not hold$"):
        spmv.Plan(np.eye(2)) @ [2**63 + 1, -1]
    with pytest.raises(ValueError, match=rf"^x: has {large} at index \(0, 1\) \(from 0\), which float64 does not hold$"):
        spmv.Plan(np.eye(2)) @ [np.array([1, large]), np.array([half, 1])]
    with pytest.raises(ValueError, match=r"^x: has 16777217 at index 1 \(from 0\), which float32 does not hold$"):
        spmv.Plan(np.eye(2, dtype=np.float32)) @ [half, 2**24 + 1]
    for matrix in (purlin.Matrix.dense(np.eye(2, dtype=np.float32)), sparse.from_dense(np.eye(2, dtype=np.float32))):
        with pytest.raises(ValueError, match=r"^x: has 16777217 at index 1 \(from 0\), which float32 does not hold$"):
            matrix @ [half, 2**24 + 1]
    held = spmv.Plan(np.eye(2)) @ [2**60, half]
    assert held.tolist() == [2.0**60, half]


def test_integers_beside_fractions_that_a_function_returns_are_not_rounded() -> None:
    operator = purlin.Matrix.from_operator(lambda x: [[2**53 + 1], [0.5]], lambda x: x, (2, 2))
    with pytest.raises(ValueError, match=r"^product: has 9007199254740993 at index \(0, 0\)"):
        spmv.Plan(operator) @ np.ones(2)


def test_masks_are_refused_by_the_name_of_the_argument() -> None:
    def masked(values: Any) -> Any:
        array = np.asarray(values, np.float64)
        return np.ma.array(array, mask=np.arange(array.size).reshape(array.shape) == 0)

    indices = np.ma.array([0, 0], mask=[1, 0])
    train = tt.Train([ONES, ONES])
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("x: core 1", lambda: tt.full([ONES, masked(ONES)])),
        ("core", lambda: train.set_core(0, masked(ONES))),
        ("vectors: vector 0", lambda: tt.product_state([masked([1.0, 2.0])])),
        ("values", lambda: sparse.from_coordinates([0, 0], [0, 1], masked([1.0, 2.0]), (1, 2))),
        ("row", lambda: sparse.from_coordinates(indices, [0, 1], [1.0, 2.0], (1, 2))),
        ("col", lambda: sparse.from_coordinates([0, 1], indices, [1.0, 2.0], (2, 1))),
        ("col_idx", lambda: purlin.Matrix.csr([0, 2], indices, [1.0, 2.0], (1, 2))),
        ("terms: operator of term 0", lambda: tt.from_terms([2], [(1.0, [(0, masked(np.eye(2)))])])),
    ]
    for name, call in calls:
        with pytest.raises(ValueError, match=f"^{name}: masks 1 entries"):
            call()


def test_types_that_are_not_computed_in_are_refused_by_the_name_of_the_argument() -> None:
    if np.dtype(np.longdouble) == np.float64:
        pytest.skip("long doubles are doubles here")
    wide = np.array([1.0, 2.0], np.longdouble)
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("values", lambda: tt.svd(np.ones((2, 2), np.longdouble))),
        ("vector", lambda: graph.bisect(np.ones((2, 2)), wide)),
        ("points", lambda: graph.k_means(wide[:, None], 1)),
        ("start", lambda: lanczos.solve(np.eye(2), 1, start=wide)),
        ("x", lambda: spmv.Plan(np.eye(2)) @ wide),
        ("tensors", lambda: sshopm.solve(np.ones(15, np.longdouble))),
        ("x", lambda: tt.full([ONES.astype(np.longdouble), ONES])),
    ]
    for name, call in calls:
        with pytest.raises(TypeError, match=f"^{name}: (is|are of type) {wide.dtype}, expected"):
            call()


def test_half_precision_is_refused_for_a_train() -> None:
    with pytest.raises(TypeError, match="^values: is float16, expected one of float32, float64, complex64, complex128$"):
        tt.svd(np.ones((2, 2), np.float16))
