"""The type of a sparse matrix: that of its values, or `dtype`, to which they are converted where it holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from purlin import Matrix, sparse


def coordinates(values: Any, **options: Any) -> Matrix:
    return sparse.from_coordinates([0, 1], [1, 0], values, (2, 2), **options)


def rows(values: Any, **options: Any) -> Matrix:
    return Matrix.csr([0, 1, 2], [1, 0], values, (2, 2), **options)


MADE = pytest.mark.parametrize("made", [coordinates, rows])


@MADE
@pytest.mark.parametrize(
    ("values", "dtype", "wanted"),
    [
        ([1.5, 2.5], np.float32, np.float32),
        (np.ones(2, np.float32), np.float64, np.float64),
        ([1, 2], "complex64", np.complex64),
        ([True, False], np.float32, np.float32),
        (np.ones(2, np.float32), None, np.float32),
        (np.ones(2, np.float16), np.float32, np.float32),
        (None, None, np.float64),
        (None, np.float32, np.float32),
    ],
)
def test_values_become_the_type_that_is_asked_for(made: Callable[..., Matrix], values: Any, dtype: Any, wanted: Any) -> None:
    with made(values, dtype=dtype) as matrix:
        assert matrix.dtype == wanted
        given = np.ones(2) if values is None else np.asarray(values)
        np.testing.assert_array_equal(matrix.scipy().toarray(), np.diag(given).astype(wanted)[:, ::-1])


def test_values_of_half_precision_become_single_ones() -> None:
    with coordinates(np.ones(2, np.float16)) as matrix:
        assert matrix.dtype == np.float32


@MADE
@pytest.mark.parametrize(
    ("values", "dtype", "error", "text"),
    [
        ([1j, 2], np.float64, TypeError, "values: is complex128, expected float64"),
        ([1.0, 1e39], np.float32, ValueError, "values: has numbers that float32 does not hold"),
        ([1, 2**24 + 1], np.float32, ValueError, "values: has 16777217 at index 1"),
    ],
)
def test_values_that_would_change_are_refused(
    made: Callable[..., Matrix], values: Any, dtype: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=f"^{text}"):
        made(values, dtype=dtype)
