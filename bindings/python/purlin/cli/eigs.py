"""`purlin eigs`: eigenpairs of a sparse matrix, clusters and coordinates of a graph, and a picture of them."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from .. import Context, Matrix, graph, lanczos, sparse
from .._options import LanczosOptions
from . import png
from .arrays import existing, load_npy, matrix_of
from .failures import Usage
from .options import bar, chosen, command, library_options, machine, say, show
from .outputs import ArrayFiles, Outputs, require_suffix, suffix_of

_EXAMPLE = """purlin example eigs
purlin eigs graph.txt --count 6 --kind normalized_laplacian --which smallest --out pairs.npz
purlin eigs graph.txt --clusters 3 --picture graph.png"""

_TEXT = """Computes eigenpairs of a symmetric matrix, or of an operator of a graph that is never formed; without --out the
values are printed. With --clusters, --embed or --picture the matrix is the weighted adjacency of a graph, and the
eigenvectors of the smallest eigenvalues of its normalized Laplacian are coordinates of the vertices. --out then has
values and coordinates, with --clusters labels (from 0), with --component the numbers of the vertices (from 0)."""

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
        "--symmetrize",
        choices=("none", "union", "sum", "average", "intersection", "mirror"),
        help="how a directed graph becomes symmetric (default: union for edge lists, else none)",
    )
    made.add_argument("--component", action="store_true", help="the largest connected component alone (default: all)")
    made.add_argument(
        "--count",
        type=int,
        metavar="K",
        help="number of pairs, or of coordinates (default: 6; of coordinates 3 or the number of clusters)",
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
        "--scaling", choices=("none", "unit_rows", "degrees"), default="none", help="of the coordinates (default: none)"
    )
    shown.add_argument("--clusters", type=int, metavar="K", help="number of spectral clusters (default: none)")
    shown.add_argument(
        "--assignment",
        choices=("k_means", "pivoted_qr"),
        default="k_means",
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


def _read(given: argparse.Namespace, context: Context) -> Any:
    """The matrix of the file, symmetric where that is asked for."""
    is_edges = suffix_of(given.matrix) in _EDGES
    if is_edges:
        existing(given, "MATRIX", given.matrix)
        found: Any = sparse.read_edges(given.matrix, weighted=given.weighted, context=context)[0]
    elif given.weighted:
        raise Usage(f"--weighted: is given, but {given.matrix} is not an edge list")
    elif suffix_of(given.matrix) == ".npy":
        # Entries are gathered in compressed rows, which needs all of them.
        found = load_npy("MATRIX", existing(given, "MATRIX", given.matrix))
    else:
        found = matrix_of(given, "MATRIX", given.matrix, context, given.key)
    rule: Any = given.symmetrize or ("union" if is_edges else "none")
    return found if rule == "none" else sparse.symmetrize(found, rule, context=context)


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


def _run_graph(
    given: argparse.Namespace, matrix: Any, outputs: Outputs, context: Context, options: dict[str, Any]
) -> tuple[dict[str, Any], Any]:
    """Coordinates, labels and the picture."""
    for name in _OF_PAIRS:
        if getattr(given, name) is not None:
            raise Usage(
                f"--{name}: is given, but coordinates are of the smallest eigenvalues of the normalized Laplacian"
            )
    count = given.count or max(3, given.clusters or 0)
    picture = None
    if given.picture is not None:
        require_suffix("--picture", given.picture, ".png")
        picture = outputs.add("--picture", given.picture)
        if count < 3:
            raise Usage(f"--count: is {count}, a picture needs at least 3")
    arrays: dict[str, Any] = {}
    with bar(given, "residual") as progress:
        embedding = graph.embed(matrix, count, given.scaling, progress=progress, context=context, **options)
        arrays.update(values=embedding.values, coordinates=embedding.coordinates)
        labels = None
        if given.clusters is not None:
            labels = graph.cluster(
                matrix, given.clusters, given.assignment, progress=progress, context=context, **options
            ).labels
            arrays["labels"] = labels
    if picture is not None:
        points = embedding.coordinates[:, 1:3]
        png.write(picture, png.scatter(points, _colours(embedding.coordinates, labels), _lines(matrix)))
    return arrays, embedding.info


def _run_pairs(
    given: argparse.Namespace, matrix: Any, context: Context, options: dict[str, Any]
) -> tuple[dict[str, Any], Any]:
    """Eigenpairs with their residuals."""
    count = 6 if given.count is None else given.count
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
    is_graph = given.embed or given.clusters is not None or given.picture is not None
    names = ["values", "coordinates"] if is_graph else ["values", "vectors", "residuals"]
    names += ["labels"] * (given.clusters is not None) + ["vertices"] * given.component
    with Outputs(given.force) as outputs, machine(given) as (context, group):
        files = ArrayFiles(outputs, "--out", given.out, names) if given.out else None
        matrix = _read(given, context)
        vertices = None
        if given.component:
            matrix, vertices = graph.component(matrix, context=context)
        if is_graph:
            arrays, info = _run_graph(given, matrix, outputs, context, {**options, **group})
        else:
            arrays, info = _run_pairs(given, matrix, context, {**options, **group})
        if vertices is not None:
            arrays["vertices"] = vertices
        if files is not None:
            files.write(arrays)
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
