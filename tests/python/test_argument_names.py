"""Messages name the argument as Python's caller knows it, with shapes and indices in the order of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import purlin
import pytest
from purlin import dwi, fdk, sparse, sshopm, symmetric, tt
from purlin.blocks import Source

TENSORS = np.random.default_rng(3).standard_normal((5, 15))
CORES = [np.ones((1 if k == 0 else 2, 3, 1 if k == 3 else 2)) for k in range(4)]
SHORT = [np.ones((1, 3, 1))] * 2
SIGNALS, BVALS = np.ones((2, 4)), [0, 1000, 1000, 1000]
ONES = [np.ones((1, 2, 2, 1))] * 3
LARGE, SMALL = [np.full((1, 2, 1), 1e200)] * 3, [np.ones((1, 2, 1))] * 3
SKEW = np.array([[1.0, 2.0, 5.0], [2.0, 1.0, 0.0], [4.0, 0.0, 1.0]])


def environments() -> tt.Environments:
    train = tt.Train(CORES)
    return tt.Environments(train, train)


def repeated(call: Callable[..., object]) -> object:
    ring = [np.full((2, 2, 2), 1.5)]
    return call(*[ring] * (1 if call is tt.norm else 2), repeat=2**31)


def scanned() -> tuple[Any, Any, Any]:
    scheme = np.random.default_rng(0).standard_normal((24, 3))
    scheme /= np.linalg.norm(scheme, axis=1)[:, None]
    return np.full((2, 24), 0.5), [0, *[1000] * 23], scheme


def weighted() -> object:
    return dwi.fit(*scanned(), 2, weighting="wls", weights=np.ones((2, 24)))


def grid(size: Any, spacing: Any = (1.0, 1.0, 1.0)) -> fdk.Reconstruction:
    panel = fdk.Geometry(8, 6, 2.0, 2.0, 500.0, 1000.0, angles=np.arange(0, 6.2, 0.5))
    return fdk.Reconstruction(panel, fdk.Grid(size, spacing, (0.0, 0.0, 0.0)))


CALLS: list[tuple[str, Callable[[], object]]] = [
    # Indices and shapes in the order of NumPy.
    ("full: tensor 0 is not symmetric: 5e0 at (0, 2), 4e0 at (2, 0)", lambda: symmetric.from_full(SKEW)),
    ("starts: has shape (4, 2), expected (V, n) with n = 3", lambda: sshopm.solve(TENSORS, starts=np.ones((4, 2)))),
    ("starts: has shape (2, 4, 3), expected (V, n)", lambda: sshopm.solve(TENSORS, starts=np.ones((2, 4, 3)))),
    ("starts: has shape (0, 3), at least 1 vector", lambda: sshopm.runs(TENSORS, np.ones((0, 3)))),
    ("starts: row 1 is zero", lambda: sshopm.solve(TENSORS, starts=[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])),
    ("starts: row 1 has a component that is not finite", lambda: sshopm.runs(TENSORS, [[1.0, 0.0, 0.0], [0.0, np.nan, 0.0]])),
    ("vectors: has shape (4, 2), expected (n,), (V, n)", lambda: sshopm.product(TENSORS, np.ones((4, 2)), 3)),
    ("vectors: has shape (2,), expected (n,), (V, n)", lambda: sshopm.product(TENSORS, np.ones(2), 3)),
    ("vectors: has shape (4, 4, 3), expected (5,) first", lambda: sshopm.product(TENSORS, np.ones((4, 4, 3)), 3)),
    ("bvecs: row 3 has norm 0", lambda: dwi.fit(SIGNALS, BVALS, np.eye(4, 3), 2)),
    # Names of arguments.
    ("k: is 9, outside 0 to 3", lambda: environments().apply(9, np.ones((1, 3, 2)))),
    ("k: is 3, outside 0 to 2", lambda: environments().apply(3, np.ones((1, 3, 3, 2)))),
    ("v: has 5 axes, 2 to 4 are needed", lambda: environments().apply(0, np.ones((1, 3, 3, 3, 2)))),
    ("v: has 1 axes, 2 to 4 are needed", lambda: environments().apply(0, np.ones(3))),
    ("count: is 0, at least 1", lambda: dwi.peaks(TENSORS, 0, basis="tensor")),
    ("count: is -1, at least 1", lambda: dwi.peaks(TENSORS, -1, basis="mrtrix3")),
    ("source: has the odd order 3", lambda: dwi.peaks(np.ones((5, 10)), 2, basis="tensor")),
    ("source: has 7 entries", lambda: dwi.peaks(np.ones((5, 7)), 2, basis="tensor")),
    ("order: is 3; functions of diffusion are even", lambda: dwi.fit(SIGNALS, BVALS, np.eye(4, 3), 3)),
    ("order: is 20, outside 2 .. 16", lambda: dwi.fit(SIGNALS, BVALS, np.eye(4, 3), 20)),
    ("degree: is 3, an even number from 2 to 16", lambda: dwi.csa(SIGNALS, BVALS, np.eye(4, 3), 3, "mrtrix3")),
    ("degree: is 0, less than 2", lambda: dwi.csa(SIGNALS, BVALS, np.eye(4, 3), 0, "mrtrix3")),
    ("sh: has 10 coefficients", lambda: dwi.sh_to_tensor(np.ones((2, 10)), "mrtrix3")),
    ("sh: has 7 entries", lambda: dwi.sh_to_tensor(np.ones((2, 7)), "mrtrix3")),
    ("kind: is 'x', expected one of 'gaussian'", lambda: purlin.rsvd.sketch(3, 2, kind="x")),
    ("dtype: is nan, expected one of", lambda: purlin.rsvd.sketch(3, 2, float("nan"))),
    ("dtype: is 'junk', expected one of", lambda: sparse.from_coordinates([0], [0], [1.0], (3, 3), dtype="junk")),
    ("kind: is array([1, 2]), expected one of", lambda: purlin.lanczos.solve(np.eye(9), 2, kind=np.array([1, 2]))),
    ("order: is 3, an even order", lambda: symmetric.identity(3)),
    ("dtype: is int32, expected one of float32, float64", lambda: symmetric.identity(2, dtype=np.int32)),
    ("tensors: has 7 entries along the last axis", lambda: symmetric.norm(np.ones((2, 7)))),
    ("kind: 'fibonacci_hemisphere' is for dimension 3", lambda: sshopm.starts(5, 4, "fibonacci_hemisphere")),
    ("count: is 7; an icosahedral set has", lambda: sshopm.starts(7, 3, "icosahedral")),
    ("count: is -1, at least 0", lambda: sshopm.starts(-1)),
    ("dimension: is 0, at least 1", lambda: sshopm.starts(2, 0)),
    ("y: the first rank is 1 and the last 2", lambda: tt.inner(CORES, CORES[:2])),
    ("y: core 1 has left rank 2, the right rank before is 1", lambda: tt.distance(CORES, [CORES[0][:, :, :1], CORES[3]])),
    ("x: has no cores", lambda: tt.norm([])),
    ("h: core 0 has 3 axes, expected 4", lambda: tt.sandwich(CORES, CORES, CORES)),
    ("y: is a int", lambda: tt.inner(CORES, 5)),
    ("x: core 0 has mode size 3", lambda: tt.rayleigh(tt.ising(4, 1.0, 1.0), CORES)),
    ("x: core 0 has mode size 3", lambda: tt.Contraction().plan_rayleigh(tt.ising(4, 1.0, 1.0), CORES)),
    ("x[1]: has 2 cores, x[0] has 4", lambda: tt.Contraction().gram([CORES, SHORT])),
    ("x[1]: has 2 cores, x[0] has 4", lambda: tt.Contraction().gram_scaled([CORES, SHORT])),
    ("x[1]: has 2 cores, x[0] has 4", lambda: tt.Contraction().plan_gram([CORES, SHORT])),
    ("y[1]: has 2 cores, x[0] has 4", lambda: tt.Contraction().gram([CORES], [CORES, SHORT])),
    ("y[1]: is a str", lambda: tt.Contraction().gram([CORES], [CORES, "a"])),
    ("op: is object, expected", lambda: tt.Contraction().expect_local(CORES, np.full((3, 3), "a", object))),
    ("index: element 3 is 9, outside 0 to 2", lambda: tt.element(CORES, (0, 0, 0, 9))),
    ("vectors: is empty", lambda: tt.product_state([])),
    ("vectors: vector 1 is empty", lambda: tt.product_state([[1.0, 2.0], []])),
    ("modes: is empty", lambda: tt.random([], [1])),
    ("modes: is empty", lambda: tt.zeros([])),
    ("rows: is empty", lambda: tt.TrainMatrix.create([], [], [1])),
    ("values: has shape (3, 0)", lambda: tt.svd(np.zeros((3, 0)))),
    ("values: has shape ()", lambda: tt.svd(np.array(3.0))),
    ("size[2]: is 0, at least 1", lambda: grid((4, 4, 0))),
    ("spacing[1]: is -1, ", lambda: grid((4, 4, 4), (1.0, -1.0, 1.0))),
    ("row: element 1 is 7, outside 0 to 2", lambda: sparse.from_coordinates([0, 7], [0, 1], None, (3, 3))),
    ("col: element 0 is -1, outside 0 to 2", lambda: sparse.from_coordinates([0, 1], [-1, 1], None, (3, 3))),
    ("shape[1]: is -3, ", lambda: sparse.from_coordinates([0], [0], None, (3, -3))),
    # Constants, types and functions, which the library has in C's words.
    ("numerical failure: the result is beyond the range of its type; tt.Contraction.inner_scaled gives", lambda: repeated(tt.inner)),
    ("numerical failure: the result is beyond the range of its type; tt.Contraction.norm_scaled gives", lambda: repeated(tt.norm)),
    ("numerical failure: the result is beyond the range of its type; tt.Contraction.distance_scaled", lambda: tt.distance(LARGE, SMALL)),
    ("numerical failure: the result is beyond the range of its type; tt.Contraction.sandwich_scaled", lambda: tt.sandwich(LARGE, ONES, LARGE)),
    ("numerical failure: the result is beyond the range of its type; a train scaled by tt.scale", lambda: tt.element(LARGE, (0, 0, 0))),
    ("numerical failure: the result is beyond the range of its type; the method of that name with _scaled", lambda: tt.Contraction().gram([LARGE])),
    (
        "numerical failure: the result is beyond the range of its type; tt.Contraction.sandwich_scaled and inner_scaled give",
        lambda: tt.rayleigh([1e200 * core for core in ONES], LARGE),
    ),
    ("start_kind: is 'random', but start vectors are", lambda: sshopm.solve(TENSORS, starts=np.eye(3), start_kind="random")),
    ("basis: is 'mrtrix3', but that of the options is 'descoteaux07'", lambda: dwi.Dwi(basis="descoteaux07").csa(*scanned(), 2, "mrtrix3")),
    ("'rank' is not an option; there are ", lambda: purlin.pca.PCA(2, rank=3).fit(np.eye(5))),  # type: ignore[call-arg]
    ("weighting: is 'wls', but `weights` are given", lambda: weighted()),
    ("sigma: is 1, but which = 'largest': 'nearest' is needed", lambda: purlin.lanczos.solve(np.eye(9), 2, sigma=1.0)),
    ("oversampling: is 3 for 'direct', which", lambda: purlin.rsvd.compute(np.eye(9), 2, method="direct", oversampling=3)),
    ("op: is 'adjoint', 'gram' is its own adjoint", lambda: purlin.spmv.Plan(np.eye(9), kind="gram", op="adjoint")),
    ("test: is 'step', but compatibility 'tensor_toolbox'", lambda: sshopm.solve(TENSORS, test="step", compatibility="tensor_toolbox")),
    ("goal: is 'both', by which a start has two ends", lambda: sshopm.runs(TENSORS[:1], np.ones((1, 3)), goal="both")),
    ("factor: has the imaginary part 1 for float64", lambda: tt.scale(CORES, 1j)),
    # Options beyond every range.
    ("starts: is 9223372036854775807: start vectors: ", lambda: sshopm.solve(TENSORS, starts=2**63 - 1)),
    ("starts: is 9223372036854775807: start vectors: ", lambda: sshopm.Sshopm(starts=2**63 - 1).plan(TENSORS)),
    ("starts: is 9223372036854775807: start vectors: ", lambda: dwi.peaks(TENSORS, 2, basis="tensor", starts=2**63 - 1)),
    ("shift: is 1e+308, at most 1.3e+154 in magnitude", lambda: purlin.lanczos.solve(np.eye(9), 2, shift=1e308)),
    ("shift: is -2e+154, at most 1.3e+154 in magnitude", lambda: purlin.lanczos.Lanczos(2, shift=-2e154).solve(np.eye(9))),
    ("shift: is 1e+39, at most 3.4e+38 in magnitude", lambda: purlin.lanczos.plan(np.eye(9, dtype=np.float32), 2, shift=1e39)),
    ("shift: is 1e+308, at most 1.3e+154 in magnitude", lambda: purlin.graph.density(np.eye(9), 4, shift=1e308)),
    ("shape: element 1 is -1, negative", lambda: purlin.Tensor.create((3, -1))),
]


@pytest.mark.parametrize(("text", "call"), CALLS, ids=[text for text, _ in CALLS])
def test_the_argument_has_its_name_in_python(text: str, call: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError, MemoryError, ArithmeticError)) as caught:
        call()
    assert str(caught.value).startswith(text), str(caught.value)


def test_file_names_stay_as_they_are() -> None:
    with pytest.raises(OSError, match="^/nonexistent/A MERGE F32.mtx: "):
        sparse.read_market("/nonexistent/A MERGE F32.mtx")


def test_a_batch_of_the_library_takes_vectors_of_its_own_size_alone() -> None:
    batch = purlin.Tensor.symmetric(TENSORS)
    assert sshopm.product(batch, np.ones((5, 4, 3)), 3).shape == (5, 4, 3)
    with pytest.raises(ValueError, match=r"^vectors: has shape \(4, 4, 3\), expected \(5,\) first, as tensors"):
        sshopm.product(batch, np.ones((4, 4, 3)), 3)


def test_sources_of_one_axis_are_named_as_the_argument(cpu: purlin.Context, tmp_path: Any) -> None:
    line = Source.from_array(np.arange(5.0), context=cpu)
    file = tmp_path / "line.npy"
    np.save(file, np.arange(5.0))
    for given in (line, file):
        for name, call in (
            ("a", lambda: purlin.rsvd.compute(given, 1, context=cpu)),
            ("m", lambda: purlin.rpca.compute(given, context=cpu)),
            ("mask", lambda: purlin.rpca.compute(np.eye(5), mask=given, context=cpu)),
            ("X", lambda: purlin.pca.PCA(1, context=cpu).fit(given)),
        ):
            with pytest.raises(purlin.InvalidArgument) as caught:
                call()
            assert str(caught.value) == f"{name}: has dimensions (5,), at least two are needed"
    with pytest.raises(purlin.InvalidArgument, match="^source: has dimensions"):
        purlin.Matrix.from_source(line)
