"""Graphs by their eigenvectors: coordinates, clusters, cuts; components, densities, graphs of images.

    labels = purlin.graph.cluster(W, 3)
    fiedler = purlin.graph.fiedler(W)
    halves = purlin.graph.bisect(W, fiedler.vector)

`W` is the symmetric weighted adjacency matrix: a sparse matrix of SciPy, a `purlin.Matrix`, or an array.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from ctypes import c_double, c_int64, c_uint64, c_void_p
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _constants as c
from . import _memory as memory
from ._callback import Progress, interruptible
from ._checked import flag, how_many, whole
from ._context import Context, Stream, choice
from ._error import InvalidArgument, check, sized
from ._graph_results import Clusters, Embedding, Fiedler
from ._lanczos import Info, Kind, Options, operand, place, wording
from ._interrupts import Interruption
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._numbers import real
from ._tensor import Tensor
from ._typing import Unpack
from .lanczos import Lanczos
from .sparse import of

_SCALINGS = {
    "none": c.GRAPH_SCALING_NONE,
    "unit_rows": c.GRAPH_SCALING_UNIT_ROWS,
    "degrees": c.GRAPH_SCALING_DEGREES,
}
_ASSIGNMENTS = {"k_means": c.GRAPH_LABELS_K_MEANS, "pivoted_qr": c.GRAPH_LABELS_PIVOTED_QR}
_CUTS = {"sign": c.GRAPH_CUT_SIGN, "median": c.GRAPH_CUT_MEDIAN, "sweep": c.GRAPH_CUT_SWEEP}


# The name of the library's `graph` in messages.
_WORDING = wording("w")


def _ends(text: str) -> str:
    """A message about the ends of a histogram, which the library calls `from` and `to`."""
    text = re.sub("^from:", "start:", re.sub("^to:", "stop:", text))
    return re.sub(r"\bfrom = ", "start = ", text)


class Bisection(NamedTuple):
    """Side of each vertex, weight of the edges between the sides, and cut/vol(S) + cut/vol(rest)."""

    sides: Array
    cut: float
    normalized_cut: float


class Density(NamedTuple):
    """Points and weights, which sum to 1: the sum of f(point) * weight is about trace(f(A)) / n."""

    points: Array
    weights: Array

    def trace(self, n: int, f: Callable[[Array], npt.ArrayLike]) -> float:
        """trace(f(A)) of an operator of order `n`; `f` takes an array and gives its values there."""
        values = memory.converted("f", f(self.points), np.float64)
        if values.shape != self.points.shape:
            raise ValueError(f"f: gives shape {values.shape}, expected {self.points.shape}")
        return float(how_many("n", n) * (values @ self.weights))

    def histogram(self, start: float, stop: float, bins: int) -> Array:
        """Shares of the spectrum in equal parts of an interval; values outside count in the first and the last."""
        parts = how_many("bins", bins)
        with sized("bins", parts):
            shares = np.zeros(max(parts, 1))
        points, weights = (memory.converted("density", list_, np.float64) for list_ in self)
        data = (points.ctypes.data, weights.ctypes.data)
        ends = real("start", start), real("stop", stop)
        status = lib.purlin_graph_density_histogram(points.size, *data, *ends, parts, shares.ctypes.data)
        check(status, _ends)
        return shares


def _real(w: Any, context: Context | None) -> Matrix:
    """A graph in double or single precision: other numbers are copied in double."""
    if isinstance(w, (Matrix, str, os.PathLike)) or memory.on_cuda(w):
        return operand(w, context, "w")
    kind = getattr(w, "dtype", None)
    if kind is not None and np.dtype(kind).kind == "c":
        raise TypeError(f"w: is {kind}, expected real numbers")
    if kind not in (np.float64, np.float32):
        is_sparse = hasattr(w, "tocsr")
        w = memory.floating_sparse("w", w).astype(np.float64) if is_sparse else memory.converted("w", w, np.float64)
    return operand(w, context, "w")


def _numbers(name: str, array: npt.ArrayLike) -> Array:
    """An array of float64, or of float32 if it is one."""
    given = memory.to_numpy(array, name)
    return given if given.dtype == np.float32 else memory.converted(name, given, np.float64)


def _solver(
    k: int, graph: Matrix, progress: Progress | None, options: Options, given: Lanczos | None = None
) -> AbstractContextManager[Lanczos]:
    """The caller's solver, or one for this call."""
    if given is None:
        return Lanczos(k, progress=progress, context=graph.context, **options)
    if (progress is not None and progress is not False) or options:
        raise TypeError("solver: is given, and has options and progress of its own")
    return nullcontext(given)


def _count(name: str, k: int | None, solver: Lanczos | None) -> int:
    """The number of pairs: that of the solver if one is given."""
    if solver is None and k is None:
        raise TypeError(f"{name}: is missing")
    k = None if k is None else how_many(name, k)
    if k is None or (solver is not None and k == solver.count):
        return solver.count if solver is not None else 0
    if solver is not None:
        raise ValueError(f"{name}: is {k}, the solver finds {solver.count}")
    if k < 1:
        raise InvalidArgument(c.ERROR_INVALID_ARGUMENT, f"{name}: is {k}, less than 1")
    return k


def _home(solver: Lanczos | None, context: Context | None, options: Options) -> Context | None:
    if solver is None:
        return place(context, options)
    if context is not None and context is not solver.context:
        raise ValueError("context: is not the solver's")
    return solver.context


def embed(
    w: Any,
    k: int | None = None,
    scaling: Literal["none", "unit_rows", "degrees"] = "none",
    *,
    solver: Lanczos | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Embedding:
    """Eigenvectors of the k smallest eigenvalues of I - D^-1/2 W D^-1/2 as coordinates of the vertices. With the
    `scaling` "unit_rows" rows have norm 1, with "degrees" they are divided by the roots of the degrees. Options as for
    `lanczos.solve`; or `solver` is a `Lanczos` that has them, and k. Raises `lanczos.Unfinished`, whose `solution` has those found, if not all have
    converged."""
    count = _count("k", k, solver)
    graph = _real(w, _home(solver, context, options))
    with sized("k", count):
        coordinates, values = np.zeros((graph.shape[0], max(count, 0)), order="F"), np.zeros(max(count, 0))
    target = Matrix.dense(coordinates, context=graph.context)
    shown = Tensor.borrow(values, context=graph.context)
    chosen = choice("scaling", scaling, _SCALINGS)
    with _solver(count, graph, progress, options, solver) as own:

        def found(info: Info) -> Embedding:
            m = info.count
            return Embedding(coordinates[:, :m], values[:m], info)

        made: Embedding = own.run(
            graph, stream, lib.purlin_graph_embed, found, chosen, target.handle, shown.handle, names=("w", "k")
        )
    return made


def cluster(
    w: Any,
    clusters: int | None = None,
    assignment: Literal["k_means", "pivoted_qr"] = "k_means",
    *,
    start_count: int | None = None,
    solver: Lanczos | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Clusters:
    """Spectral clusters: an embedding, and labels from it by k-means (the best of `start_count`, 10) or column-pivoted
    QR, which has no starts, as `assignment` says. Options or `solver`, and the error without convergence, as for `embed`;
    labels are -1 where fewer than `clusters` pairs were found."""
    way = choice("assignment", assignment, _ASSIGNMENTS)
    if start_count is not None and way == c.GRAPH_LABELS_PIVOTED_QR:
        raise ValueError("start_count: is set, pivoted QR has none")
    k = _count("clusters", clusters, solver)
    graph = _real(w, _home(solver, context, options))
    labels, inertia = np.full(graph.shape[0], -1, np.int64), c_double(np.nan)
    target = Tensor.borrow(labels, context=graph.context)
    count = 10 if start_count is None else how_many("start_count", start_count)
    with _solver(k, graph, progress, options, solver) as own:
        arguments = (way, count, target.handle, ctypes.byref(inertia))
        made: Clusters = own.run(
            graph,
            stream,
            lib.purlin_graph_cluster,
            lambda info: Clusters(labels, inertia.value, info),
            *arguments,
            names=("w", "clusters"),
        )
    return made


def _labels(points: npt.ArrayLike, context: Context | None, function: Any, *arguments: Any) -> Clusters:
    given = Matrix.dense(_numbers("points", points), context=context, name="points")
    labels, inertia = np.zeros(given.shape[0], np.int64), c_double()
    with Tensor.borrow(labels, context=given.context) as target:

        def work() -> None:
            status = function(given.handle, *arguments, target.handle, ctypes.byref(inertia))
            given.context.finish(status)

        interruptible(work, given.context.cancel)
    return Clusters(labels, inertia.value, None)


def k_means(
    points: npt.ArrayLike, clusters: int, *, start_count: int = 10, seed: int = 0, context: Context | None = None
) -> Clusters:
    """k-means of the rows, the best of `start_count` runs from the starts of k-means++."""
    counts = how_many("clusters", clusters), how_many("start_count", start_count)
    return _labels(points, context, lib.purlin_graph_k_means, *counts, whole("seed", seed, c_uint64))


def pivoted_qr(points: npt.ArrayLike, *, context: Context | None = None) -> Clusters:
    """As many clusters of the rows as there are columns, by column-pivoted QR."""
    return _labels(points, context, lib.purlin_graph_pivoted_qr)


def fiedler(
    w: Any,
    *,
    normalized: bool = False,
    solver: Lanczos | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
    stream: Stream | None = None,
    **options: Unpack[Options],
) -> Fiedler:
    """The eigenvector of the second smallest eigenvalue of D - W, or of the normalized Laplacian over the roots of the
    degrees. Options or `solver`, for one pair, and the error without convergence, as for `embed`; NaN where no pair was
    found."""
    graph = _real(w, _home(solver, context, options))
    vector, value = np.full(graph.shape[0], np.nan), c_double(np.nan)
    target = Tensor.borrow(vector, context=graph.context)
    with _solver(1, graph, progress, options, solver) as own:
        arguments = (flag("normalized", normalized), ctypes.byref(value), target.handle)
        made: Fiedler = own.run(
            graph,
            stream,
            lib.purlin_graph_fiedler,
            lambda info: Fiedler(value.value, vector, info),
            *arguments,
            names=("w", "k"),
        )
    return made


def bisect(
    w: Any,
    vector: npt.ArrayLike,
    method: Literal["sign", "median", "sweep"] = "sweep",
    *,
    context: Context | None = None,
) -> Bisection:
    """Two sides of a graph, by a vector cut at 0, at its median, or where the normalized cut is least, as `method` says."""
    graph = _real(w, context)
    chosen = choice("method", method, _CUTS)
    sides, weight, ratio = np.zeros(graph.shape[0], np.int64), c_double(), c_double()
    given = Tensor.borrow(memory.converted("vector", vector, np.float64), context=graph.context)
    target = Tensor.borrow(sides, context=graph.context)
    arguments = (graph.handle, given.handle, chosen, target.handle, ctypes.byref(weight), ctypes.byref(ratio))
    graph.context._run(lib.purlin_graph_bisect, *arguments, wording=_WORDING)
    return Bisection(sides, weight.value, ratio.value)


def components(w: Any, *, context: Context | None = None) -> tuple[int, Array]:
    """Number of connected components, and that of each vertex."""
    graph = of(w, context, name="w")
    labels, count = np.zeros(graph.shape[0], np.int64), c_int64()
    with Tensor.borrow(labels, context=graph.context) as target:
        arguments = (graph.handle, target.handle, ctypes.byref(count))
        graph.context._run(lib.purlin_graph_components, *arguments, wording=_WORDING)
    return count.value, labels


def component(w: Any, which: int = -1, *, context: Context | None = None) -> tuple[Matrix, Array]:
    """The graph of one component (-1 = the largest), and the vertices of the whole graph that it has."""
    graph = of(w, context, name="w")
    made, names = c_void_p(), c_void_p()
    number = how_many("which", which)
    with Interruption(graph.context.cancel) as running:
        status = lib.purlin_graph_component(graph.handle, number, ctypes.byref(made), ctypes.byref(names))
    part, vertices = Matrix(made.value, graph.context), Tensor(names.value, graph.context)
    graph.context.finish(status, running, _WORDING)
    return part, vertices.numpy()


def density(
    a: Any,
    steps: int = 50,
    vector_count: int = 10,
    *,
    kind: Kind = "matrix",
    shift: float = 0.0,
    seed: int = 0,
    solver: Lanczos | None = None,
    progress: Progress | None = None,
    context: Context | None = None,
) -> Density:
    """The density of a spectrum by `vector_count` random vectors, `steps` points each. With a `solver` the
    operator and the random vectors are those of its options."""
    given: Options = {}
    if solver is None or (kind, shift, seed) != ("matrix", 0.0, 0):
        given = {"kind": kind, "shift": shift, "seed": seed}
    matrix = operand(a, _home(solver, context, given), kind=kind if solver is None else solver._kind)
    steps, vector_count = how_many("steps", steps), how_many("vector_count", vector_count)
    most = max(steps, 0) * max(vector_count, 0)
    with sized(*(("steps", steps) if steps >= vector_count else ("vector_count", vector_count))):
        points, weights, count = np.zeros(most), np.zeros(most), c_int64()
    targets = [Tensor.borrow(array, context=matrix.context) for array in (points, weights)]
    with _solver(1, matrix, progress, given, solver) as own:
        handles = [target.handle for target in targets]
        own.call(matrix, None, lib.purlin_graph_density, steps, vector_count, *handles, ctypes.byref(count))
    return Density(points[: count.value], weights[: count.value])


def of_image(
    image: npt.ArrayLike,
    *,
    radius: float = 1.0,
    intensity: float = 0.1,
    distance: float = float("inf"),
    floor: float = 0.0,
    context: Context | None = None,
) -> Matrix:
    """The graph of the pixels of a (height, width) image: vertex y * width + x. Neighbours up to `radius` have weight
    exp(-(I_p - I_q)^2 / intensity^2) exp(-|p - q|^2 / distance^2) + floor."""
    names = {"radius": radius, "intensity": intensity, "distance": distance, "floor": floor}
    numbers = [real(name, value) for name, value in names.items()]
    pixels = np.ascontiguousarray(_numbers("image", image))
    given = Matrix.dense(pixels, context=context, name="image")
    made = c_void_p()
    with Interruption(given.context.cancel) as running:
        status = lib.purlin_graph_of_image(given.context.handle, given.handle, *numbers, ctypes.byref(made))
    return Matrix._made(status, made, given.context, running=running)


def operator_of_image(
    image: npt.ArrayLike,
    *,
    radius: float = 1.0,
    intensity: float = 0.1,
    distance: float = float("inf"),
    floor: float = 0.0,
    context: Context | None = None,
) -> Matrix:
    """The graph of `of_image` as an operator that is never formed: `embed`, `cluster`, `fiedler`, `density` and
    `lanczos.solve` and `spmv.Plan` take it, functions that need entries do not. Products are formed where the context is."""
    names = {"radius": radius, "intensity": intensity, "distance": distance, "floor": floor}
    numbers = [real(name, value) for name, value in names.items()]
    pixels = np.ascontiguousarray(_numbers("image", image))
    given = Matrix.dense(pixels, context=context, name="image")
    made = c_void_p()
    status = lib.purlin_graph_operator_of_image(
        given.context.handle, given.handle, *numbers, ctypes.byref(made)
    )
    return Matrix._made(status, made, given.context)


__all__ = [
    "Bisection",
    "Clusters",
    "Density",
    "Embedding",
    "Fiedler",
    "bisect",
    "cluster",
    "component",
    "components",
    "density",
    "embed",
    "fiedler",
    "k_means",
    "of_image",
    "operator_of_image",
    "pivoted_qr",
]
