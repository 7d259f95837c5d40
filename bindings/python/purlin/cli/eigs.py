"""`purlin eigs`: eigenpairs of a sparse matrix, clusters and coordinates of a graph, and a picture of them."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from .. import Context, Matrix, graph, lanczos, sparse
from .._lanczos import order_of
from .._options import LanczosOptions
from . import png
from .arrays import existing, expect_inputs, load_npy, matrix_of
from .failures import Failure, Usage
from .options import bar, chosen, command, library_options, machine, say, show, warn, whole
from .outputs import ArrayFiles, Outputs, require_suffix, suffix_of

_EXAMPLE = """purlin example eigs
purlin eigs graph.txt --count 6 --kind normalized_laplacian --which smallest --out pairs.npz
purlin eigs graph.txt --clusters 3 --picture graph.png"""

_TEXT = """Computes eigenpairs of a symmetric matrix, or of an operator of a graph that is never formed; without --out the
values are printed. With --clusters, --embed or --picture the matrix is the weighted adjacency of a graph, and the
eigenvectors of the smallest eigenvalues of its normalized Laplacian are coordinates of the vertices. --out then has
values and coordinates, with --clusters labels (from 0), with --component the numbers of the vertices. Row k is of vertex k,
with --base 1 of vertex k + 1."""

_TEXTS = {
    "kind": "operator made of the matrix",
    "shift": "number added to the diagonal",
    "sigma": "the number next to which eigenvalues are looked for, with --which nearest",
    "tolerance": "of residuals, relative to the eigenvalue; 0 = 1e-10 in double, 1e-5 in single precision",
    "basis": "vectors of the Krylov space; 0 = by the order and the count",
    "restarts": "most restarts; 0 = max(300, 10 n / basis)",
    "method": "thick restarts, or the plain recurrence",
    "block": "vectors that the matrix multiplies at once, 1 to 16",
    "filter": "Chebyshev filter",
    "degree": "degree of the filter; 0 = by the spectrum",
    "ordering": "order of rows in which products are formed",
    "seed": "of the random numbers",
}
# Of these an embedding has its own values.
_OF_PAIRS = ("which", "kind", "shift", "sigma")
_EDGES = (".txt", ".edges", ".tsv", ".el", ".gz")
# The arrays of --out.
_OF_MATRIX, _OF_GRAPH, _MORE = ["values", "vectors", "residuals"], ["values", "coordinates"], ["labels", "vertices"]


def add(commands: Any) -> None:
    """Declares the command."""
    made = command(commands, "eigs", run, "eigenpairs, clusters and pictures of sparse matrices", _TEXT, _EXAMPLE)
    made.add_argument(
        "matrix",
        metavar="MATRIX",
        help=".mtx, .mtx.gz, .npz (SciPy's sparse matrix or an array), .npy, or an edge list: .txt, .edges, .tsv, .el, .txt.gz",
    )
    made.add_argument("--key", metavar="NAME", help="array of a .npz file (default: the only one)")
    made.add_argument(
        "--weighted",
        action="store_true",
        help="the third number of a line of an edge list is its weight (default: ignored, weights are 1)",
    )
    made.add_argument(
        "--base",
        type=whole,
        choices=(0, 1),
        help="the number from which an edge list counts vertices (default: 0); the largest number says how many there are",
    )
    made.add_argument(
        "--symmetrize",
        choices=("none", "union", "sum", "average", "intersection", "mirror"),
        help="how a directed graph becomes symmetric (default: union for edge lists, else none)",
    )
    made.add_argument("--component", action="store_true", help="the largest connected component alone (default: all)")
    made.add_argument(
        "--count",
        type=whole,
        metavar="K",
        help="number of pairs, or of coordinates (default: 6; of coordinates 3 or the number of clusters; at most n)",
    )
    made.add_argument(
        "--which",
        choices=("largest", "smallest", "largest_magnitude", "both_ends", "nearest"),
        help="which eigenvalues (default: largest)",
    )
    library_options(made.add_argument_group("method"), "lanczos_options", LanczosOptions, _TEXTS)
    shown = made.add_argument_group("graphs")
    shown.add_argument("--embed", action="store_true", help="coordinates of the vertices (default: eigenpairs)")
    shown.add_argument(
        "--scaling", choices=("none", "unit_rows", "degrees"), help="of the coordinates (default: none)"
    )
    shown.add_argument("--clusters", type=whole, metavar="K", help="number of spectral clusters (default: none)")
    shown.add_argument(
        "--assignment",
        choices=("k_means", "pivoted_qr"),
        help="how vertices get their cluster (default: k_means)",
    )
    shown.add_argument(
        "--picture", metavar="FILE", help=".png of the second and third coordinate, clusters in colours (default: none)"
    )
    made.add_argument(
        "--out",
        metavar="FILE",
        help=".npz, or .npy for a file NAME_ARRAY.npy each: values, vectors, residuals (default: the values are printed alone)",
    )


def _check(given: argparse.Namespace) -> None:
    """Refuses options without effect, before the matrix is read."""
    ending = suffix_of(given.matrix)
    if ending not in _EDGES:
        for name, value in (("weighted", given.weighted or None), ("base", given.base)):
            if value is not None:
                raise Usage(f"--{name}: is given, but {given.matrix} is not an edge list")
    if given.key is not None and ending != ".npz":
        raise Usage(f"--key: is {given.key!r}, but {given.matrix} is not a .npz file")
    refused: list[tuple[str, str]] = []
    if not _is_graph(given):
        refused += [("scaling", "it is of coordinates, which --embed or --picture asks for")]
    elif given.clusters is not None and given.out is None and given.picture is None:
        text = "without --out and --picture the labels of --clusters are printed alone"
        refused += [(name, text) for name in ("embed", "scaling", "count")]
    if _is_graph(given):
        text = "coordinates are of the smallest eigenvalues of the normalized Laplacian"
        refused += [(name, text) for name in _OF_PAIRS]
    if given.clusters is None:
        refused += [("assignment", "it is of --clusters, which is not given")]
    for name, reason in refused:
        if getattr(given, name) not in (None, False):
            raise Usage(f"--{name}: is given, but {reason}")
    if given.picture is not None:
        require_suffix("--picture", given.picture, ".png")
        if given.count is not None and given.count < 3:
            raise Usage(f"--count: is {given.count}, a picture needs at least 3")


def _is_graph(given: argparse.Namespace) -> bool:
    return given.embed or given.clusters is not None or given.picture is not None


def _edges(given: argparse.Namespace, context: Context) -> Matrix:
    """The graph of an edge list, whose rows are numbered from 0."""
    path = existing(given, "MATRIX", given.matrix)
    found = sparse.read_edges(path, weighted=given.weighted, context=context)[0]
    n = found.shape[0]
    starts, columns, _ = found.arrays()
    has_zero = n > 0 and bool(starts[1] > starts[0] or columns.min() == 0)
    if given.base == 1:
        if has_zero:
            raise Usage(f"--base: is 1, but {path} has the vertex 0")
        rows = np.arange(1, n)
        return sparse.select(found, rows, rows, context=context) if n > 0 else found
    given.lacks_zero = n > 0 and not has_zero
    return found


def _read(given: argparse.Namespace, context: Context) -> Any:
    """The matrix of the file, symmetric where that is asked for."""
    is_edges = suffix_of(given.matrix) in _EDGES
    if is_edges:
        found: Any = _edges(given, context)
    elif suffix_of(given.matrix) == ".npy":
        # Entries are gathered in compressed rows, which needs all of them.
        found = load_npy("MATRIX", existing(given, "MATRIX", given.matrix))
    else:
        found = matrix_of(given, "MATRIX", given.matrix, context, given.key, _EDGES)
    rule: Any = given.symmetrize or ("union" if is_edges else "none")
    return found if rule == "none" else sparse.symmetrize(found, rule, context=context)


def _count(given: argparse.Namespace, matrix: Any) -> int:
    """The number of pairs or coordinates: as asked for, or by default as many as there are where these are few."""
    default = max(3, given.clusters or 0) if _is_graph(given) else 6
    if len(matrix.shape) != 2 or 0 in matrix.shape:
        # The library refuses such a matrix.
        return default if given.count is None else given.count
    n = order_of(matrix, given.kind or "matrix")
    for option, number in (("--count", given.count), ("--clusters", given.clusters)):
        if number is not None and not 1 <= number <= n:
            raise Usage(f"{option}: is {number}, outside 1 to n = {n}")
    if given.picture is not None and n < 3:
        raise Failure(f"MATRIX: {given.matrix}: has {n} vertices, a picture needs at least 3")
    return min(default, n) if given.count is None else given.count


def _lines(matrix: Any) -> tuple[Any, Any] | None:
    """The vertices that each edge of a graph joins, once."""
    if not isinstance(matrix, Matrix) or matrix.storage != "csr":
        return None
    starts, columns, _ = matrix.arrays()
    base = matrix.info.index_base
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(starts))
    upper = rows < columns - base
    return rows[upper], columns[upper].astype(np.int64) - base


def _colours(coordinates: Any, labels: Any) -> Any:
    """The labels, or without clusters the sign of the second coordinate."""
    return labels if labels is not None else (coordinates[:, 1] > 0).astype(np.int64)


def _unit_rows(coordinates: Any) -> Any:
    """Rows divided by their lengths, with the bits of the library's scaling "unit_rows"."""
    squares = np.zeros(len(coordinates))
    for column in coordinates.T:
        squares += column * column
    lengths = np.where(squares > 0, np.sqrt(squares), 1.0)
    return coordinates / lengths[:, None]


def _clusters(
    given: argparse.Namespace, matrix: Any, progress: Any, context: Context, options: dict[str, Any]
) -> graph.Clusters:
    assignment: Any = given.assignment or "k_means"
    return graph.cluster(matrix, given.clusters, assignment, progress=progress, context=context, **options)


def _embedding(
    given: argparse.Namespace, count: int, matrix: Any, progress: Any, context: Context, options: dict[str, Any]
) -> tuple[graph.Embedding, Any]:
    """Coordinates, and labels where they are asked for: from the same eigenvectors if as many are wanted of both."""
    scaling: Any = given.scaling or "none"
    is_shared = given.clusters == count and scaling != "degrees"
    if not is_shared:
        found = graph.embed(matrix, count, scaling, progress=progress, context=context, **options)
        wanted = given.clusters is not None
        return found, _clusters(given, matrix, progress, context, options).labels if wanted else None
    found = graph.embed(matrix, count, progress=progress, context=context, **options)
    units = _unit_rows(found.coordinates)
    if given.assignment == "pivoted_qr":
        labels = graph.pivoted_qr(found.coordinates, context=context).labels
    else:
        labels = graph.k_means(units, count, seed=options.get("seed", 0), context=context).labels
    return found._replace(coordinates=units) if scaling == "unit_rows" else found, labels


def _run_graph(
    given: argparse.Namespace, matrix: Any, outputs: Outputs, context: Context, options: dict[str, Any]
) -> tuple[dict[str, Any], Any]:
    """Coordinates, labels and the picture."""
    count = _count(given, matrix)
    picture = None if given.picture is None else outputs.add("--picture", given.picture)
    with bar(given, "residual") as progress:
        if picture is None and given.out is None and given.clusters is not None:
            # Only labels are printed.
            clusters = _clusters(given, matrix, progress, context, options)
            return {"labels": clusters.labels}, clusters.info
        embedding, labels = _embedding(given, count, matrix, progress, context, options)
    arrays: dict[str, Any] = {"values": embedding.values, "coordinates": embedding.coordinates}
    if labels is not None:
        arrays["labels"] = labels
    if picture is not None:
        points = embedding.coordinates[:, 1:3]
        png.write(picture, png.scatter(points, _colours(embedding.coordinates, labels), _lines(matrix)))
    return arrays, embedding.info


def _run_pairs(
    given: argparse.Namespace, matrix: Any, context: Context, options: dict[str, Any]
) -> tuple[dict[str, Any], Any]:
    """Eigenpairs with their residuals."""
    count = _count(given, matrix)
    with bar(given, "residual") as progress:
        found = lanczos.run(
            matrix,
            count,
            given.which or "largest",
            vectors=given.out is not None,
            progress=progress,
            context=context,
            **options,
        )
    return {"values": found.pairs.values, "vectors": found.pairs.vectors, "residuals": found.residuals}, found.info


def run(given: argparse.Namespace) -> None:
    """Computes the pairs or the coordinates."""
    options: dict[str, Any] = chosen(given, list(_TEXTS))
    given.names.update(
        k="--count",
        count="--count",
        clusters="--clusters",
        which="--which",
        threads="--threads",
        a="MATRIX",
        w="MATRIX",
    )
    _check(given)
    given.lacks_zero = False
    is_graph = _is_graph(given)
    names = _OF_GRAPH if is_graph else _OF_MATRIX
    names = names + ["labels"] * (given.clusters is not None) + ["vertices"] * given.component
    possible = list(dict.fromkeys(_OF_MATRIX + _OF_GRAPH + _MORE))
    expect_inputs(given, ("MATRIX", given.matrix))
    with Outputs(given.force, given.files) as outputs, machine(given) as (context, group):
        files = ArrayFiles(outputs, "--out", given.out, names, possible) if given.out is not None else None
        matrix = _read(given, context)
        vertices = None
        if given.component:
            matrix, vertices = graph.component(matrix, context=context)
        if is_graph:
            arrays, info = _run_graph(given, matrix, outputs, context, {**options, **group})
        else:
            arrays, info = _run_pairs(given, matrix, context, {**options, **group})
        if vertices is not None:
            arrays["vertices"] = vertices + (given.base or 0)
        if files is not None:
            files.write(arrays)
    if given.lacks_zero and given.base is None and not given.component:
        # Most likely the file counts from 1, and vertex 0 is none of its graph.
        warn(given, f"MATRIX: {given.matrix}: no edge has vertex 0; --base 1 counts vertices from 1, --base 0 from 0")
    if files is None and given.picture is None:
        _print(arrays)
        return
    written = [*(files.written if files else []), *([given.picture] if given.picture else [])]
    say(given, f"{', '.join(written)}: {info.converged} pairs, {info.products} products, {info.seconds:.3g} s")
    if "labels" in arrays:
        sizes = np.bincount(arrays["labels"][arrays["labels"] >= 0])
        say(given, "clusters of " + ", ".join(str(size) for size in sizes) + " vertices")


def _print(arrays: dict[str, Any]) -> None:
    """Labels a line each, or else the values."""
    if "labels" in arrays:
        show("\n".join(str(label) for label in arrays["labels"]))
    else:
        show("\n".join(f"{value:.17g}" for value in arrays["values"]))
