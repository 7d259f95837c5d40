"""Arrays and numbers of every kind as arguments: right, or refused by name, and never a result that is lost or cut."""

from __future__ import annotations

import copy
import errno
import multiprocessing
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import blocks, dwi, fdk, graph, lanczos, pca, rpca, rsvd, sparse, spmv, sshopm, symmetric, tt

N = 30
ENDS = np.arange(N - 1)
WEIGHTS = np.zeros((N, N))
WEIGHTS[ENDS, ENDS + 1] = WEIGHTS[ENDS + 1, ENDS] = 1 + np.arange(N - 1) % 3
DENSE = np.random.default_rng(5).standard_normal((20, 12))
TENSORS = np.random.default_rng(6).standard_normal((4, 15))
CORES = [np.random.default_rng(7 + k).standard_normal(s) for k, s in enumerate([(1, 2, 3), (3, 2, 1)])]
COEFFICIENTS = np.random.default_rng(8).standard_normal((5, 15))

# Each function of an array, with its result as numbers to compare.
FUNCTIONS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "lanczos.solve": (WEIGHTS, lambda a: lanczos.solve(a, 3, vectors=False).values),
    "lanczos.solve, start": (np.arange(1.0, N + 1), lambda x: lanczos.solve(WEIGHTS, 2, start=x).values),
    "lanczos.singular": (DENSE, lambda a: lanczos.singular(a, 3, vectors=False).triplets.values),
    "lanczos.tridiagonalize": (WEIGHTS, lambda a: lanczos.tridiagonalize(a, 4)[0]),
    "lanczos.tridiagonal_eigenvalues": (np.arange(5.0), lambda d: lanczos.tridiagonal_eigenvalues(d, np.ones(4))[0]),
    "graph.fiedler": (WEIGHTS, lambda a: graph.fiedler(a).value),
    "graph.components": (WEIGHTS, lambda a: graph.components(a)[1]),
    "graph.bisect": (np.arange(N) - 7.5, lambda x: graph.bisect(WEIGHTS, x).cut),
    "graph.k_means": (np.r_[np.zeros(4), np.ones(4)][:, None], lambda a: graph.k_means(a, 2).inertia),
    "graph.of_image": (DENSE, lambda a: sparse.to_dense(graph.of_image(a))),
    "sparse.to_dense": (DENSE, lambda a: sparse.to_dense(a)),
    "sparse.scale": (np.arange(1.0, N + 1), lambda x: sparse.to_dense(sparse.scale(WEIGHTS, x))),
    "sparse.from_coordinates": (
        np.arange(1.0, 4.0),
        lambda v: sparse.to_dense(sparse.from_coordinates([0, 1, 2], [2, 1, 0], v, (3, 3))),
    ),
    "spmv.Plan": (np.arange(1.0, N + 1), lambda x: spmv.Plan(WEIGHTS) @ x),
    "Matrix @": (np.arange(1.0, N + 1), lambda x: sparse.of(WEIGHTS) @ x),
    "rsvd.compute": (DENSE, lambda a: rsvd.compute(a, 3)[1]),
    "pca.PCA": (DENSE, lambda a: pca.PCA(2).fit(a).singular_values_),
    "rpca.compute": (DENSE, lambda a: rpca.compute(a, max_iterations=500)[0]),
    "sshopm.solve": (TENSORS, lambda a: sshopm.solve(a).values),
    "symmetric.norm": (TENSORS, lambda a: symmetric.norm(a)),
    "dwi.peaks": (COEFFICIENTS, lambda a: dwi.peaks(a, basis="mrtrix3").peaks),
    "tt.norm": (CORES[0], lambda a: tt.norm([a, CORES[1]])),
    "tt.svd": (DENSE, lambda a: tt.norm(tt.svd(a).train)),
    "tt.product_state": (np.arange(1.0, 4.0), lambda v: tt.norm(tt.product_state([v, v]))),
    "Source.from_array": (DENSE, lambda a: rsvd.compute(blocks.Source.from_array(a), 3)[1]),
}


def strided(a: Any) -> Any:
    wide = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return wide[tuple(slice(None, None, 2) for _ in a.shape)]


def read_only(a: Any) -> Any:
    a = a.copy()
    a.flags.writeable = False
    return a


SAME: dict[str, Callable[[Any], Any]] = {
    "strided": strided,
    "fortran": np.asfortranarray,
    "negative strides": lambda a: np.flip(np.flip(a).copy()),
    "big-endian": lambda a: a.astype(">f8"),
    "read-only": read_only,
    "unmasked": np.ma.array,
    "unaligned": lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.float64).reshape(a.shape),
}


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (purlin.InvalidArgument, purlin.NotSupported, ValueError, TypeError) as error:
        assert str(error), error
        return error


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_in_every_form_give_the_same(name: str) -> None:
    given, function = FUNCTIONS[name]
    expected = np.asarray(function(given))
    for form, make in SAME.items():
        found = outcome(lambda make=make: function(make(given)))  # type: ignore[misc]
        if not isinstance(found, Exception):
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-8, err_msg=form)
        elif form not in ("unaligned",):
            raise AssertionError(f"{name}, {form}: {type(found).__name__}: {found}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_that_are_not_arrays_of_numbers_are_refused(name: str) -> None:
    given, function = FUNCTIONS[name]
    masked = np.ma.array(given, mask=np.arange(given.size).reshape(given.shape) == 1)
    wrong = [np.full(given.shape, "1"), np.full(given.shape, None), None, "x", np.zeros(given.shape, "M8[s]")]
    # Masked entries are those that robust PCA was not given.
    wrong += [] if name == "rpca.compute" else [masked]
    for value in wrong:
        if name in ("sparse.scale", "sparse.from_coordinates", "lanczos.solve, start") and value is None:
            continue
        with pytest.raises((ValueError, TypeError, purlin.Error, AttributeError, OSError)) as caught:
            function(value)
        assert str(caught.value), value


@pytest.mark.parametrize(
    "name",
    [
        "lanczos.solve, start",
        "lanczos.tridiagonal_eigenvalues",
        "graph.fiedler",
        "graph.bisect",
        "graph.k_means",
        "graph.of_image",
        "sparse.scale",
        "spmv.Plan",
        "sshopm.solve",
        "symmetric.norm",
        "dwi.peaks",
    ],
)
def test_complex_numbers_are_not_cut_to_real_ones(name: str) -> None:
    given, function = FUNCTIONS[name]
    with pytest.raises(TypeError, match="complex128, expected"):
        function(given + 1j)


def volume_plan() -> tuple[fdk.Reconstruction, Any]:
    geometry = fdk.Geometry(
        detector_columns=8,
        detector_rows=6,
        column_pitch=2.0,
        row_pitch=2.0,
        source_to_axis=300.0,
        source_to_detector=600.0,
        angles=np.arange(9) * 2 * np.pi / 9,
    )
    plan = fdk.Reconstruction(geometry)
    return plan, plan.project([[1, 5, 5, 5, 0, 0, 0, 0.0]])


def test_results_are_written_in_place_or_refused() -> None:
    plan, given = volume_plan()
    expected = plan.reconstruct(given)
    shape = expected.shape
    kept = np.zeros(shape, np.float32)
    assert plan.reconstruct(given, kept) is kept and np.array_equal(kept, expected)

    def pushed(out: Any) -> None:
        plan.begin()
        plan.push(range(9), given)
        plan.finish(out)

    writes: list[Callable[[Any], object]] = [
        lambda out: plan.reconstruct(given, out),
        lambda out: plan.reconstruct(given, blocks.Sink.to_array(out)),
        lambda out: plan.backproject(range(9), plan.filter(range(9), plan.weight(range(9), given)), out),
        pushed,
    ]
    wrong: list[tuple[Any, str]] = [
        (np.zeros(shape, ">f4"), "bytes in the other order"),
        (np.zeros(shape, np.float32)[::-1], "strides"),
        (np.broadcast_to(np.zeros((1, 1, 1), np.float32), shape), "read-only"),
        (np.zeros(shape, np.float32).tolist(), "is a list"),
        (np.ma.zeros(shape, np.float32), "masked"),
    ]
    for write in writes:
        for out, text in wrong:
            with pytest.raises((ValueError, TypeError), match=f"(volume|array): .*{text}"):
                write(out)
    # A tensor around a copy does not take results either.
    tensor = purlin.Tensor.borrow(np.zeros((2, 3), ">f8"))
    with pytest.raises(purlin.InvalidArgument, match="read-only"):
        purlin.Tensor.borrow(np.ones((2, 3))).copy_to(tensor)
    plan_of = spmv.Plan(WEIGHTS)
    for y in (np.zeros(N)[::-1], read_only(np.zeros(N)), np.zeros(N, ">f8"), np.zeros(N, np.float32)):
        with pytest.raises(ValueError, match="^y: "):
            plan_of.apply(np.ones(N), y)
    with pytest.raises(ValueError, match="vectors: has bytes in the other order"):
        lanczos.solve(WEIGHTS, 2, vectors=np.zeros((N, 2), ">f8"))


def test_integers_that_do_not_fit_are_not_cut() -> None:
    large = 2**64 + 2
    calls: list[Callable[[], object]] = [
        lambda: purlin.Tensor.create((large, 3)),
        lambda: graph.k_means(np.ones((4, 1)), large),
        lambda: lanczos.solve(WEIGHTS, 2, basis=large),
        lambda: lanczos.solve(WEIGHTS, 2, seed=-1),
        lambda: tt.element(CORES, (large, 0)),
        lambda: sparse.from_coordinates(np.array([2**63], np.uint64), [0], None, (3, 3)),
        lambda: graph.component(WEIGHTS, large),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"(is|from) -?\d+"):
            call()
    with pytest.raises(TypeError, match="^clusters: is 2.5, expected an integer"):
        graph.k_means(np.ones((4, 1)), 2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="basis: is 20.0, expected an integer"):
        lanczos.solve(WEIGHTS, 2, basis=20.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="tolerance: is '1e-3', expected a number"):
        lanczos.solve(WEIGHTS, 2, tolerance="1e-3")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="indices: is float64, expected integers"):
        tt.elements(CORES, [[0.5, 1.0]])
    assert lanczos.solve(WEIGHTS, 2, basis=np.int64(20)).values.shape == (2,)  # type: ignore[arg-type]


def test_paths_that_the_system_does_not_have_are_refused(tmp_path: Path) -> None:
    kept = tmp_path / "thesis"
    kept.write_text("the only copy")
    cut = os.fspath(kept) + "\0.raw"
    calls: list[Callable[[], object]] = [
        lambda: blocks.Sink.to_file(cut, (2, 3), np.float32),
        lambda: blocks.Sink.to_metaimage(cut, (2, 3)),
        lambda: blocks.Sink.to_tiff(cut, (2, 3, 4)),
        lambda: blocks.Source.from_file(cut, (2, 3), np.uint8),
        lambda: blocks.Source.from_npy(cut),
        lambda: blocks.Source.from_metaimage(cut),
        lambda: blocks.Source.from_tiff([cut]),
        lambda: sparse.write_market(WEIGHTS, cut),
        lambda: sparse.write_edges(WEIGHTS, cut),
        lambda: sparse.read_market(cut),
        lambda: rsvd.compute(DENSE, 2, restart_path=cut),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="path: .* has an embedded null byte"):
            call()
    cut = ""
    for call in calls:
        with pytest.raises(purlin.InvalidArgument, match="^(restart_path|path|paths, element 0): is empty$"):
            call()
    assert [p.name for p in tmp_path.iterdir()] == ["thesis"] and kept.read_text() == "the only copy"


def product(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: change(WEIGHTS @ x)


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        (lambda y: y, None, ""),
        (lambda y: y.tolist(), None, ""),
        (lambda y: None, TypeError, "returned NoneType, expected float64"),
        (lambda y: y[:-1], ValueError, r"returned shape \(29, 1\), expected \(30, 1\)"),
        (lambda y: y * 1j, TypeError, "returned complex128, expected float64"),
        (lambda y: [[1], [1, 2]], ValueError, "returned no array"),
        (lambda y: np.full(y.shape, "1"), TypeError, "returned <U1, expected float64"),
        (lambda y: np.ma.masked_less(y, np.inf), ValueError, "masks 30 entries"),
        (lambda y: np.where(np.arange(N)[:, None] == 7, np.nan, y), ValueError, r"returned nan in row 7 of vector 0 \(from 0\), given numbers of up to \d\.\de[+-]\d\d$"),
        (lambda y: dict[str, int]()["none"], KeyError, "none"),
    ],
)
def test_products_and_solvers_are_checked(change: Any, kind: Any, text: str) -> None:
    own = purlin.Matrix.from_operator(product(change), product(change), (N, N))
    inverse = np.linalg.inv(WEIGHTS - 0.3 * np.eye(N))

    def solver(b: Any) -> Any:
        found = change((inverse @ b)[:, None])
        return [x for [x] in found] if isinstance(found, list) and found[0] != [1] else found

    calls: list[Callable[[], Any]] = [
        lambda: lanczos.solve(own, 2).values,
        lambda: lanczos.solve(WEIGHTS, 2, "nearest", sigma=0.3, solve=solver).values,
    ]
    for call, name in zip(calls, ("product", "solve")):
        if kind is None:
            call()
            continue
        expected = text if kind is KeyError or "shape" not in text or name == "product" else "returned shape"
        with pytest.raises(kind, match=expected if kind is KeyError else f"^{name}: {expected}"):
            call()


def test_solvers_are_functions_and_objects() -> None:
    values = np.linalg.eigvalsh(WEIGHTS)
    sigma = 0.3
    expected = np.sort(values[np.argsort(np.abs(values - sigma))[:3]])
    inverse = np.linalg.inv(WEIGHTS - sigma * np.eye(N))

    class Solver:
        shape = (N, N)

        def solve(self, b: Any) -> Any:
            assert b.shape == (N,)
            return inverse @ b

    for solve in (lambda b: inverse @ b, Solver(), Solver().solve, inverse, purlin.Matrix.of(inverse), sparse.of(inverse)):
        for block in (1, 2):
            found = lanczos.solve(WEIGHTS, 3, "nearest", sigma=sigma, solve=solve, block=block)
            np.testing.assert_allclose(np.sort(found.values), expected, atol=1e-10)
    single = lanczos.solve(WEIGHTS.astype(np.float32), 3, "nearest", sigma=sigma, solve=Solver()).values
    np.testing.assert_allclose(np.sort(single), expected, atol=1e-4)
    with pytest.raises(TypeError, match="solve: is a int"):
        lanczos.solve(WEIGHTS, 3, "nearest", sigma=sigma, solve=5)
    Solver.shape = (3, 3)
    with pytest.raises(ValueError, match=r"solve: has shape \(3, 3\)"):
        lanczos.solve(WEIGHTS, 3, "nearest", sigma=sigma, solve=Solver())


def test_superlu_solves() -> None:
    scipy_sparse, linalg = pytest.importorskip("scipy.sparse"), pytest.importorskip("scipy.sparse.linalg")
    a = scipy_sparse.csc_matrix(WEIGHTS)
    lu = linalg.splu(a - 0.3 * scipy_sparse.eye(N, format="csc"))
    values = np.linalg.eigvalsh(WEIGHTS)
    expected = np.sort(values[np.argsort(np.abs(values - 0.3))[:3]])
    for solve in (lu, lu.solve, linalg.LinearOperator((N, N), matvec=lu.solve, dtype=np.float64)):
        found = lanczos.solve(a, 3, "nearest", sigma=0.3, solve=solve).values
        np.testing.assert_allclose(np.sort(found), expected, atol=1e-10)


def test_matrices_multiply() -> None:
    rng = np.random.default_rng(4)
    x, block = rng.standard_normal(12), rng.standard_normal((12, 3))
    own = purlin.Matrix.from_operator(lambda v: DENSE @ v, lambda v: DENSE.T @ v, (20, 12))
    left: Any = np.ones((3, 20))
    for a in (sparse.of(DENSE), purlin.Matrix.of(DENSE), own):
        for given in (x, block, np.asfortranarray(block), x + 1j, strided(x), block[:, :1]):
            np.testing.assert_allclose(a @ given, DENSE @ given, atol=1e-12)
        assert a.matvec(x).shape == (20,) and a.matvec(x[:, None]).shape == (20, 1) and a.matmat(block).shape == (20, 3)
        for wrong, text in ((x[:-1], "x: has 11 rows, expected 12"), (np.zeros((12, 1, 1)), "x: has 3 dimensions")):
            with pytest.raises(ValueError, match=text):
                a @ wrong
        with pytest.raises(TypeError):
            a @ a
        with pytest.raises(TypeError):
            left @ a
        a.close()
    bytes_ = purlin.Matrix.of(np.full((2, 3), 200, np.uint8))
    assert (bytes_ @ np.full(3, 2)).tolist() == [1200, 1200]
    before = purlin.live_handles()
    other = sparse.of(DENSE)
    other @ x
    del other
    assert purlin.live_handles() == before


def failing(_: int) -> None:
    raise lanczos.Unfinished(purlin.ERROR_NO_CONVERGENCE, "in a worker")


def test_errors_survive_copies_and_processes() -> None:
    for kind in (purlin.InvalidArgument, purlin.FileError, purlin.OutOfMemory, purlin.NoConvergence, lanczos.Unfinished):
        error = kind(-1, "text")
        setattr(error, "solution", 3)
        twins: list[Any] = [pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)]
        for twin in twins:
            assert twin.solution == 3 and twin.status == -1 and str(twin) == "text" and type(twin) is kind
    with pytest.raises(OSError) as caught:
        blocks.Source.from_npy("/there/is/none.npy")
    assert caught.value.errno == errno.ENOENT
    assert pickle.loads(pickle.dumps(caught.value)).errno == errno.ENOENT
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(lanczos.Unfinished, match="in a worker"):
        pool.map_async(failing, [1]).get(timeout=60)


@pytest.mark.parametrize("call", ["solve", "singular", "tridiagonalize", "fiedler", "embed", "cluster", "density"])
def test_progress_reports_the_documented_steps(call: str) -> None:
    seen: list[tuple[int, int, float]] = []

    def progress(step: int, steps: int, measure: float) -> None:
        seen.append((step, steps, measure))

    ring = sparse.from_coordinates(np.r_[0:400, 1:400, 0], np.r_[1:400, 0, 0:400], None, (400, 400))
    wanted = {"tridiagonalize": 60, "density": 60, "fiedler": 1}.get(call, 3)
    calls: dict[str, Callable[[], object]] = {
        "solve": lambda: lanczos.solve(ring, 3, basis=12, progress=progress),
        "singular": lambda: lanczos.singular(ring, 3, basis=12, progress=progress),
        "tridiagonalize": lambda: lanczos.tridiagonalize(ring, 60, progress=progress),
        "fiedler": lambda: graph.fiedler(ring, basis=12, progress=progress),
        "embed": lambda: graph.embed(ring, 3, basis=12, progress=progress),
        "cluster": lambda: graph.cluster(ring, 3, basis=12, progress=progress),
        "density": lambda: graph.density(ring, 20, 3, progress=progress),
    }
    calls[call]()
    assert seen
    assert seen[-1][0] == seen[-1][1], seen
    assert {steps for _, steps, _ in seen} == {wanted}, seen
    assert all(0 <= step <= steps and measure >= 0 for step, steps, measure in seen)


WORDS = np.full((4, 4), "a", object)
LINE = np.ones(3)

NAMED: dict[str, Callable[[Any], Any]] = {
    "a": lambda x: rsvd.compute(x, 2),
    "U": lambda x: rsvd.Rsvd(1).residuals(DENSE, x, np.ones(1), np.ones((1, 12))),
    "X": lambda x: pca.PCA(2).fit(DENSE).transform(x),
    "scores": lambda x: pca.PCA(2).fit(DENSE).inverse_transform(x),
    "m": lambda x: rpca.compute(x),
    "mask": lambda x: rpca.compute(DENSE, mask=x),
    "known": lambda x: lanczos.solve(WEIGHTS, 2, known=x),
    "w": lambda x: graph.fiedler(x),
    "points": lambda x: graph.k_means(x, 2),
    "image": lambda x: graph.of_image(x),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_wrong_array_is_refused_by_the_name_of_its_argument(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: has 1 dimensions, expected 2"):
        NAMED[name](LINE)
    with pytest.raises(TypeError, match=f"^{name}: is object, expected"):
        NAMED[name](WORDS)


def test_elements_that_are_no_numbers_are_refused_by_name() -> None:
    panel = fdk.Geometry(8, 6, 2.0, 2.0, 500.0, 1000.0, angles=np.arange(0, 6.2, 0.5))
    others: dict[str, Callable[[], Any]] = {
        "x": lambda: sparse.of(WEIGHTS) @ np.full(N, "a", object),
        "tensors": lambda: sshopm.solve(WORDS),
        "signals": lambda: dwi.fit(WORDS, [0, 1000, 1000, 1000], np.ones((4, 3)), 2),
        "bvals": lambda: dwi.fit(np.ones((2, 4)), WORDS, np.ones((4, 3)), 2),
        "values": lambda: tt.svd(WORDS),
        "full": lambda: symmetric.from_full(WORDS),
        "projections": lambda: fdk.reconstruct(WORDS, panel),
        "counts": lambda: fdk.log_transform(WORDS, 1.0),
    }
    for name, call in others.items():
        with pytest.raises(TypeError, match=f"^{name}: is object, expected"):
            call()


@pytest.mark.parametrize("dtype", [1, "int32", "int64", "float16", "longdouble", object, "foo"])
def test_errors_for_unknown_dtypes_list_the_valid_ones(dtype: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: rsvd.compute(DENSE, 3, dtype=dtype),
        lambda: pca.PCA(2, dtype=dtype).fit(DENSE),
        lambda: rpca.compute(DENSE, dtype=dtype),
        lambda: sparse.read_market("/nonexistent", dtype=dtype),
        lambda: tt.cast(CORES, dtype),
        lambda: tt.random([2, 2], [1, 2, 1], dtype=dtype),
        lambda: tt.ising(3, 1.0, 1.0, dtype=dtype),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="^dtype: is .*, expected one of float32, float64, complex64, complex128$"):
            call()


def test_messages_name_the_option_lambda_with_its_underscore() -> None:
    with pytest.raises(TypeError, match="^lambda_: is 'a', expected a number"):
        rpca.compute(DENSE, lambda_="a")  # type: ignore[arg-type]
    with pytest.raises(purlin.InvalidArgument, match="^lambda_: is -1, "):
        rpca.compute(DENSE, lambda_=-1.0)


def test_swapped_arguments_of_files_are_named(cpu: purlin.Context) -> None:
    """A path in the place of a shape, and an array or a shape in that of a path."""
    path, long = "volume.raw", np.zeros((30, 40))
    for call, text in (
        (lambda: blocks.Sink.to_file((3, 4), path, np.float32, context=cpu), "path: is (3, 4), expected a path"),
        (lambda: blocks.Sink.to_file(long, path, np.float32, context=cpu), "path: is an array of shape (30, 40), expected a path"),
        (lambda: blocks.Sink.to_file([1] * 99, path, np.float32, context=cpu), "path: is a list, expected a path"),
        (
            lambda: blocks.Sink.to_file(path, "other", np.float32, context=cpu),
            "shape: is 'other', expected a sequence of integers",
        ),
        (
            lambda: blocks.Sink.to_file(path, Path("other"), np.float32, context=cpu),
            "shape: is PosixPath('other'), expected a sequence of integers",
        ),
        (
            lambda: blocks.Sink.to_file(path, long, np.float32, context=cpu),
            "shape: is an array of shape (30, 40), expected a sequence of integers",
        ),
        (lambda: blocks.Sink.to_file(path, 5, np.float32, context=cpu), "shape: is 5, expected a sequence of integers"),
        (lambda: blocks.Sink.to_file(path, np.float32, (3, 4), context=cpu), "dtype: is (3, 4), expected a type of NumPy"),
        (lambda: blocks.Source.from_file((3, 4), path, "f4", context=cpu), "path: is (3, 4), expected a path"),
        (lambda: blocks.Sink.to_metaimage((3, 4), path, context=cpu), "path: is (3, 4), expected a path"),
        (
            lambda: blocks.Sink.to_tiff(path, "abc", context=cpu),
            "shape: is 'abc', expected a sequence of integers",
        ),
        (
            lambda: blocks.Sink.to_function(print, path, "f4", context=cpu),
            "shape: is 'volume.raw', expected a sequence of integers",
        ),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
            call()  # type: ignore[no-untyped-call]
    assert not Path(path).exists()
