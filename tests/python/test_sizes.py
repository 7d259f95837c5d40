"""Shapes, lists of sizes, counts and flags: what stands for integers is taken, anything else refused by its argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import Matrix, Tensor, dwi, fdk, graph, lanczos, rsvd, sparse, sshopm, tt

A = np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1)
D = np.random.default_rng(0).standard_normal((12, 5))
PACKED = np.random.default_rng(1).standard_normal((2, 15))
TRAIN = [np.ones((1, 2, 1))] * 2
HUGE = 2**63 - 1


def identity(x: Any) -> Any:
    return x


MATRICES: dict[str, Callable[[Any], Matrix]] = {
    "from_coordinates": lambda shape: sparse.from_coordinates([0], [0], None, shape),
    "csr": lambda shape: Matrix.csr([0, 1, 1, 1], [0], None, shape),
    "from_operator": lambda shape: Matrix.from_operator(identity, identity, shape),
}


@pytest.mark.parametrize("name", MATRICES)
def test_the_shape_of_a_matrix_is_two_integers(name: str) -> None:
    for shape in ((3, 3), [3, 3], np.array([3, 3]), (np.int8(3), np.array(3))):
        with MATRICES[name](shape) as made:
            assert made.shape == (3, 3)
    for shape, error, text in (
        ((3, 3, 3), ValueError, r"is \(3, 3, 3\), expected the numbers of rows and columns"),
        ((3,), ValueError, r"is \(3,\), expected the numbers of rows and columns"),
        ((3.0, 3), TypeError, "is 3.0, expected an integer"),
        ((True, 3), TypeError, "is True, expected an integer"),
        (3, TypeError, "is 3, expected a sequence of integers"),
        (None, TypeError, "is None, expected a sequence of integers"),
    ):
        with pytest.raises(error, match=f"^shape: {text}$"):
            MATRICES[name](shape)


LISTS: list[tuple[str, Callable[[Any], object]]] = [
    ("modes", lambda given: tt.zeros(given)),
    ("modes", lambda given: tt.identity(given)),
    ("modes", lambda given: tt.random(given, [1, 1, 1])),
    ("ranks", lambda given: tt.random([2], given)),
    ("modes", lambda given: tt.Train.create(given, [1, 1, 1])),
    ("cols", lambda given: tt.TrainMatrix.create([2, 2], given, [1, 1, 1])),
    ("index", lambda given: tt.element(TRAIN, given)),
    ("sites", lambda given: tt.Contraction().expect_local(TRAIN, np.eye(2), given)),
]


@pytest.mark.parametrize(("name", "call"), LISTS)
def test_lists_of_integers_are_named(name: str, call: Callable[[Any], object]) -> None:
    call([1, 1])
    call(np.array([1, 1]))
    call(iter((1, 1)))
    for given, text in (
        (3, "is 3, expected a sequence of integers"),
        ("11", "is '11', expected a sequence of integers"),
        ({0, 1}, r"is \{0, 1\}, expected a sequence of integers"),
        ([1.0, 1], "is 1.0, expected an integer"),
        ([True, 1], "is True, expected an integer"),
        (np.ma.array([1, 1], mask=[False, True]), "is masked, expected an integer"),
    ):
        with pytest.raises(TypeError, match=f"^{name}: {text}$"):
            call(given)


def test_an_integer_is_the_shape_of_one_axis() -> None:
    for shape in (3, np.int64(3), [3]):
        with Tensor.create(shape) as made:
            assert made.shape == (3,)


@pytest.mark.parametrize("make", [lambda order: Tensor.create((2, 3), order=order), lambda order: Matrix.create(2, 3, order=order)])
def test_another_order_of_the_elements_is_refused(make: Callable[[Any], object]) -> None:
    for order in ("c", "K", "A", None):
        with pytest.raises(ValueError, match="^order: is .*, expected one of 'C', 'F'$"):
            make(order)


def test_an_array_without_axes_is_its_element() -> None:
    assert rsvd.compute(D, np.array(3)).s.shape == (3,)
    assert sshopm.solve(PACKED, starts=np.array(7)).info.starts == 7
    assert rsvd.compute(D, 2, left=np.array(False)).U is None  # type: ignore[call-overload]
    geometry = fdk.Geometry(8, 8, 1.0, 1.0, 500.0, 1000.0, angles=np.arange(8) * np.pi / 4)
    with fdk.Reconstruction(geometry, allow_missing=True) as plan:
        plan.begin()
        plan.push(np.array(0), np.ones((8, 8), np.float32))  # type: ignore[arg-type]


def test_masked_numbers_are_no_integers() -> None:
    for masked in (np.ma.masked, np.ma.array(3, mask=True)):
        for call, name in (
            (lambda masked=masked: rsvd.compute(D, masked), "rank"),
            (lambda masked=masked: lanczos.solve(A, 2, basis=masked), "basis"),
        ):
            with pytest.raises(TypeError, match=f"^{name}: is masked, expected an integer$"):
                call()


def test_options_tell_flags_from_counts() -> None:
    for value in (True, np.True_):
        with pytest.raises(TypeError, match="^oversampling: is .*True_?, expected an integer$"):
            rsvd.compute(D, 2, oversampling=value)
    for flag in (2, -1, "yes", None, 1.0):
        with pytest.raises(TypeError, match="^one_pass: is .*, expected True or False$"):
            rsvd.compute(D, 2, one_pass=flag)  # type: ignore[arg-type]


def test_messages_have_one_line() -> None:
    for value in (np.ones((20, 3)), list(range(100)), "x" * 100, "two\nlines", np.ma.ones(4)):
        for call in (
            lambda value=value: rsvd.compute(D, value),
            lambda value=value: rsvd.compute(D, 2, left=value),
            lambda value=value: rsvd.compute(D, 2, tolerance=value),
        ):
            with pytest.raises(TypeError) as caught:
                call()
            assert "\n" not in str(caught.value) and len(str(caught.value)) < 140, str(caught.value)


TOO_LARGE: list[tuple[str, Callable[[], object]]] = [
    ("k", lambda: lanczos.solve(A, HUGE)),
    ("k", lambda: lanczos.singular(A, HUGE)),
    ("k", lambda: lanczos.Lanczos(HUGE).solve(A)),
    ("k", lambda: graph.embed(A, HUGE)),
    ("steps", lambda: lanczos.tridiagonalize(A, HUGE)),
    ("steps", lambda: graph.density(A, HUGE)),
    ("vector_count", lambda: graph.density(A, 4, HUGE)),
    ("bins", lambda: graph.density(A, 4).histogram(0.0, 1.0, HUGE)),
    ("count", lambda: sshopm.starts(HUGE)),
    ("pairs", lambda: sshopm.solve(PACKED, HUGE)),
    ("pairs", lambda: sshopm.solve_all(PACKED, HUGE)),
    ("trace", lambda: sshopm.runs(PACKED[:1], np.ones((1, 3)), trace=HUGE)),
    ("count", lambda: dwi.peaks(PACKED, HUGE, basis="tensor")),
    ("rows", lambda: rsvd.sketch(HUGE, 2)),
    ("columns", lambda: rsvd.sketch(2, HUGE)),
]


@pytest.mark.parametrize(("name", "call"), TOO_LARGE)
def test_counts_whose_results_fit_nowhere_are_named(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(purlin.OutOfMemory, match=f"^{name}: is {HUGE}: results of that size cannot be allocated$"):
        call()


def test_what_is_no_array_is_named() -> None:
    for call in (lambda value: rsvd.compute(value, 1), lambda value: lanczos.solve(value, 1)):
        for value, text in ((None, "None"), ({"x": 1}, r"\{'x': 1\}"), (object(), "<object .*>")):
            with pytest.raises(TypeError, match=f"^a: is {text}, expected an array of numbers$"):
                call(value)
        with pytest.raises(ValueError, match="^a: setting an array element with a sequence"):
            call([[1.0, 2.0], [3.0]])
