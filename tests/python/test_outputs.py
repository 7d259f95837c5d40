"""A caller's arrays for results, in every form: either they get the results, or they are refused and stay unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import fdk, lanczos, rsvd, spmv, tt
from purlin.blocks import Sink, Source

N, K = 24, 3
A = np.diag(np.arange(1.0, N + 1)) + np.diag(np.full(N - 1, 0.5), 1) + np.diag(np.full(N - 1, 0.5), -1)
X = np.random.default_rng(4).standard_normal((N, K))


def field(shape: Any, dtype: Any) -> Any:
    return np.zeros(shape, [("a", dtype), ("b", dtype)])["a"]


def frozen(shape: Any, dtype: Any) -> Any:
    made = np.zeros(shape, dtype)
    made.flags.writeable = False
    return made


def unaligned(shape: Any, dtype: Any) -> Any:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.zeros(size + 1, np.uint8)[1:].view(dtype).reshape(shape)


def overlapping(shape: Any, dtype: Any) -> Any:
    step = np.dtype(dtype).itemsize
    return np.lib.stride_tricks.as_strided(np.zeros(int(np.prod(shape)), dtype), shape, (step,) * len(shape))


def reversed_order(shape: Any, dtype: Any) -> Any:
    return np.zeros(shape[::-1], dtype).T


FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "C order": np.zeros,
    "Fortran order": lambda s, d: np.zeros(s, d, order="F"),
    "transposed": reversed_order,
    "reversed": lambda s, d: np.zeros(s, d)[::-1],
    "last axis reversed": lambda s, d: np.zeros(s, d)[..., ::-1],
    "every second row": lambda s, d: np.zeros((2 * s[0], *s[1:]), d)[::2],
    "every second column": lambda s, d: np.zeros((*s[:-1], 2 * s[-1]), d)[..., ::2],
    "every second row and column": lambda s, d: np.zeros(tuple(2 * n for n in s), d)[tuple(slice(None, None, 2) for _ in s)],
    "every second row, columns first": lambda s, d: np.zeros((2 * s[0], *s[1:]), d, order="F")[::2],
    "part of a larger one": lambda s, d: np.zeros(tuple(n + 2 for n in s), d)[tuple(slice(1, -1) for _ in s)],
    "field": field,
    "field of mixed sizes": lambda s, d: np.zeros(s, [("a", "u1"), ("b", d)])["b"],
    "other byte order": lambda s, d: np.zeros(s, np.dtype(d).newbyteorder()),
    "unaligned": unaligned,
    "read-only": frozen,
    "broadcast": lambda s, d: np.broadcast_to(np.zeros((1,) * len(s), d), s),
    "overlapping": overlapping,
    "0-d": lambda s, d: np.zeros((), d),
    "scalar": lambda s, d: np.dtype(d).type(0),
    "one axis": lambda s, d: np.zeros(int(np.prod(s)), d),
    "numpy.matrix": lambda s, d: np.zeros(s, d).view(np.matrix) if len(s) == 2 else np.zeros(s, d),
    "subclass": lambda s, d: np.zeros(s, d).view(type("Own", (np.ndarray,), {})),
    "masked": np.ma.zeros,
    "objects": lambda s, d: np.zeros(s, object),
    "too few rows": lambda s, d: np.zeros((s[0] - 1, *s[1:]), d),
    "too few columns": lambda s, d: np.zeros((*s[:-1], s[-1] - 1), d),
    "other precision": lambda s, d: np.zeros(s, np.float32 if np.dtype(d) == np.float64 else np.float64),
    "integers": lambda s, d: np.zeros(s, np.int64),
    "complex numbers": lambda s, d: np.zeros(s, np.complex128),
    "structured": lambda s, d: np.zeros(s, [("a", d)]),
    "list": lambda s, d: np.zeros(s, d).tolist(),
}
RIGHT = {"C order", "Fortran order", "transposed", "part of a larger one", "numpy.matrix", "subclass"}


def geometry() -> fdk.Geometry:
    return fdk.Geometry(
        detector_columns=8,
        detector_rows=6,
        column_pitch=2.0,
        row_pitch=2.0,
        source_to_axis=300.0,
        source_to_detector=600.0,
        angles=np.arange(9) * 2 * np.pi / 9,
    )


def reconstruction(out: Any, how: str) -> None:
    with fdk.Reconstruction(geometry()) as plan:
        given = plan.project([[1, 5, 5, 5, 0, 0, 0, 0.0]])
        if how == "array":
            plan.reconstruct(given, out)
        elif how == "sink":
            with Sink.to_array(out) as sink:
                plan.reconstruct(given, sink)
        elif how == "pushed":
            plan.begin()
            plan.push(range(9), given)
            plan.finish(out)
        else:
            plan.backproject(range(9), plan.filter(range(9), plan.weight(range(9), given)), out)


def vectors(out: Any) -> None:
    lanczos.solve(A, K, vectors=out)
    # Eigenvectors have no sign of their own.
    given = np.asarray(out)
    given[...] = np.abs(given)


def product(x: Any, out: Any) -> None:
    spmv.Plan(A).apply(x, out)


def sizes() -> tuple[int, ...]:
    with fdk.Reconstruction(geometry()) as plan:
        return plan.shape


CORES = [np.random.default_rng(7 + k).standard_normal(s) for k, s in enumerate([(2, 2, 3), (3, 2, 2)])]


def train_copied(out: Any) -> None:
    tt.Train(CORES).copy_to(tt.Train([out, np.zeros((3, 2, 2), order="F")]))


def batch_copied(out: Any) -> None:
    with purlin.Tensor.symmetric(np.arange(24.0).reshape(4, 6)) as source, purlin.Tensor.symmetric(out) as target:
        source.copy_to(target)


def environment(out: Any) -> None:
    with tt.Environments([np.ones((1, 2, 1))] * 2, [np.ones((1, 2, 1))] * 2) as held:
        held.apply_to(0, np.full((1, 2, 1), 3.0, order="F"), out)


# Calls that write a result, with its shape and type.
WAYS: dict[str, tuple[Callable[[Any], None], tuple[int, ...], Any]] = {
    "lanczos.solve": (vectors, (N, K), np.float64),
    "Plan.apply, block": (lambda out: product(X, out), (N, K), np.float64),
    "Plan.apply, vector": (lambda out: product(X[:, 0].copy(), out), (N,), np.float64),
    "Matrix.copy_to": (lambda out: purlin.Matrix.dense(X).copy_to(purlin.Matrix.dense(out)), (N, K), np.float64),
    "Matrix.of": (lambda out: purlin.Matrix.dense(X).copy_to(purlin.Matrix.of(out)), (N, K), np.float64),
    "Tensor.copy_to": (lambda out: purlin.Tensor.borrow(X).copy_to(purlin.Tensor.borrow(out)), (N, K), np.float64),
    "Tensor.symmetric": (batch_copied, (4, 6), np.float64),
    "Train.copy_to": (train_copied, (2, 2, 3), np.float64),
    "Environments.apply_to": (environment, (1, 2, 1), np.float64),
    "fdk.reconstruct": (lambda out: reconstruction(out, "array"), sizes(), np.float32),
    "fdk, sink": (lambda out: reconstruction(out, "sink"), sizes(), np.float32),
    "fdk, finish": (lambda out: reconstruction(out, "pushed"), sizes(), np.float32),
    "fdk.backproject": (lambda out: reconstruction(out, "pieces"), sizes(), np.float32),
}
# Forms that must be accepted where some of RIGHT are refused: trains and environments need Fortran order, others C order.
FORTRAN, C_ORDER = {"Fortran order", "transposed"}, {"C order", "subclass"}
TAKEN: dict[str, set[str]] = {
    "Train.copy_to": FORTRAN,
    "Environments.apply_to": FORTRAN,
    "Plan.apply, block": C_ORDER,
    "Plan.apply, vector": C_ORDER,
    "fdk.backproject": C_ORDER,
}
REFUSALS = (ValueError, TypeError, purlin.InvalidArgument, purlin.NotSupported)


@pytest.mark.parametrize("way", WAYS)
def test_results_are_in_the_given_array_or_it_is_refused(way: str) -> None:
    write, shape, dtype = WAYS[way]
    expected = np.zeros(shape, dtype, order="F" if TAKEN.get(way) is FORTRAN else "C")
    write(expected)
    assert np.abs(expected).max() > 0
    for form, make in FORMS.items():
        out = make(shape, dtype)
        before = np.array(out)
        try:
            write(out)
        except REFUSALS as error:
            assert str(error), form
            np.testing.assert_array_equal(np.array(out), before, err_msg=form)
            assert form not in TAKEN.get(way, RIGHT), f"{form}: {error}"
            continue
        assert np.shape(out) == shape or form in ("one axis",), form
        np.testing.assert_allclose(np.asarray(out).reshape(shape), expected, rtol=1e-5, atol=1e-12, err_msg=form)


@pytest.mark.parametrize(
    ("out", "text"),
    [
        (field((N, K), "f8"), "strides of .* bytes, of which one must be 8"),
        (np.zeros((2 * N, 2 * K))[::2, ::2], "strides of .* bytes, of which one must be 8"),
        (overlapping((N, K), "f8"), "elements that overlap"),
        (np.zeros(N * K), "has 1 dimensions, expected 2"),
        (np.zeros((N, K))[::-1], "strides that are negative"),
    ],
)
def test_refusals_name_the_argument_and_why(out: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^vectors: .*{text}"):
        lanczos.solve(A, K, vectors=out)
    with pytest.raises(ValueError, match=f"^y: .*{text}"):
        spmv.Plan(A).apply(X, out)


def test_copies_do_not_take_results() -> None:
    """A matrix or tensor that had to copy its array is read-only."""
    scattered = np.zeros((2 * N, 2 * K))[::2, ::2]
    numbers = np.zeros((N, K), np.int64)
    for target in (purlin.Matrix.dense(scattered), purlin.Matrix.of(numbers), purlin.Matrix.of(X.tolist())):
        with target, pytest.raises(purlin.InvalidArgument, match="destination: was borrowed read-only"):
            purlin.Matrix.dense(X).copy_to(target)
    with purlin.Tensor.borrow(np.float64(1)) as scalar, pytest.raises(purlin.InvalidArgument, match="read-only"):
        purlin.Tensor.borrow(np.array(2.0)).copy_to(scalar)
    with tt.Train([np.ascontiguousarray(core) for core in CORES]) as train:
        with pytest.raises(purlin.InvalidArgument, match="borrowed read-only"):
            train.set_core(0, CORES[0])


def test_results_that_overlap_what_is_read_are_refused() -> None:
    held = np.array(X)
    with pytest.raises(purlin.InvalidArgument, match="y"):
        spmv.Plan(A).apply(held, held)
    with pytest.raises(purlin.InvalidArgument):
        purlin.Matrix.dense(held[1:]).copy_to(purlin.Matrix.dense(held[:-1]))
    np.testing.assert_array_equal(held, X)


def test_inputs_may_have_any_strides() -> None:
    """Copies are refused for results alone."""
    wide = np.zeros((2 * N, 2 * N))
    wide[::2, ::2] = A
    np.testing.assert_allclose(lanczos.solve(wide[::2, ::2], 2).values, np.linalg.eigvalsh(A)[::-1][:2], rtol=1e-10)
    np.testing.assert_allclose(spmv.Plan(A).apply(wide[::2, ::2]), A @ A, rtol=1e-12, atol=1e-12)
    assert np.isclose(rsvd.compute(Source.from_array(wide[::2, ::2]), 1)[1][0], np.linalg.norm(A, 2), rtol=1e-2)


def test_cores_that_are_not_aligned_keep_their_order() -> None:
    def moved(core: Any) -> Any:
        raw = np.frombuffer(bytearray(b"\0" + core.tobytes("F")), np.uint8)[1:]
        return raw.view(np.float64).reshape(core.shape, order="F")

    assert not moved(CORES[0]).flags.aligned
    assert np.isclose(tt.norm([moved(core) for core in CORES]), tt.norm(CORES), rtol=1e-14)
