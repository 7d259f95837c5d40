"""`purlin rpca`: a matrix as the sum of one of low rank and a sparse one."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from .. import Context, Matrix, rpca
from .._options import RpcaOptions
from .._results import computing_type
from ..blocks import Sink, Source
from .arrays import expect_inputs, matrix_of, stored_type
from .failures import Failure, Usage
from .options import bar, chosen, command, library_options, machine, say
from .outputs import Outputs, npy_header, require_suffix, save_npz, write_begin

_EXAMPLE = """purlin example rpca
purlin rpca frames.npy --low-rank background.npy --sparse foreground.npy"""

_TEXT = """Splits a matrix into one of low rank and a sparse one: the background and the moving foreground of a video, whose
frames are its columns or its rows. A .npy file is read and the two parts are written in blocks, so that neither need fit
in memory."""

_TEXTS = {
    "lambda_": "weight of the sparse part; 0 = 1 / sqrt(max(rows, columns))",
    "tolerance": "residual at which the iteration ends, relative to the matrix; at least 1e-6 in single precision",
    "max_iterations": "most iterations",
    "rho": "growth of the penalty from iteration to iteration",
    "max_rank": "most rank of the low-rank part; 0 = no limit",
    "block_rows": "rows read at a time; 0 = as memory allows",
    "seed": "of the random numbers",
}


def add(commands: Any) -> None:
    """Declares the command."""
    made = command(commands, "rpca", run, "low-rank and sparse part of a matrix", _TEXT, _EXAMPLE)
    made.add_argument("matrix", metavar="MATRIX", help=".npy or .npz")
    made.add_argument("--key", metavar="NAME", help="array of a .npz file (default: the only one)")
    made.add_argument(
        "--dtype", choices=("float32", "float64"), help="type of the computation (default: that of the matrix)"
    )
    made.add_argument(
        "--mask",
        metavar="FILE",
        help=".npy of the same shape, uint8, 0 where an entry was not observed (default: all were)",
    )
    library_options(made.add_argument_group("method"), "rpca_options", RpcaOptions, _TEXTS)
    made.add_argument("--low-rank", metavar="FILE", help="the low-rank part, .npy (default: not written)")
    made.add_argument("--sparse", metavar="FILE", help="the sparse part, .npy (default: not written)")
    made.add_argument(
        "--out", metavar="FILE", help="both in memory and then in one .npz as low_rank and sparse (default: no)"
    )


def _run_to_files(
    given: argparse.Namespace, session: rpca.Rpca, matrix: Any, mask: Any, context: Context, outputs: Outputs
) -> rpca.Info:
    """Splits the matrix block by block into `.npy` files."""
    held = Matrix.of(matrix, context=context, name="m", dtype=given.dtype)
    rows, cols = held.shape
    dtype = computing_type(held, given.dtype)
    # A sink lies in memory as the matrix does.
    is_fortran = isinstance(matrix, Source) and matrix.fortran_order
    header = npy_header((rows, cols), dtype, is_fortran)
    shape = (cols, rows) if is_fortran else (rows, cols)
    places: list[Path] = []
    with ExitStack() as stack:
        sinks: list[Sink | None] = []
        for option, path in (("--low-rank", given.low_rank), ("--sparse", given.sparse)):
            if path is None:
                sinks.append(None)
                continue
            places.append(outputs.add(option, path))
            sinks.append(stack.enter_context(Sink.to_file(places[-1], shape, dtype, len(header), context=context)))
        info = session.compute_to_sinks(matrix, sinks[0], sinks[1], mask=mask)
    for place in places:
        write_begin(place, header)
    return info


def run(given: argparse.Namespace) -> None:
    """Splits the matrix."""
    options = chosen(given, ["dtype", *_TEXTS])
    given.names.update(m="MATRIX", mask="--mask", threads="--threads")
    if given.out is None and given.low_rank is None and given.sparse is None:
        raise Usage("--low-rank: is not given, and neither --sparse nor --out")
    if given.out is not None and (given.low_rank is not None or given.sparse is not None):
        raise Usage("--out: is given beside --low-rank or --sparse")
    for option, name, ending in (
        ("--out", given.out, ".npz"),
        ("--low-rank", given.low_rank, ".npy"),
        ("--sparse", given.sparse, ".npy"),
        ("--mask", given.mask, ".npy"),
    ):
        if name is not None:
            require_suffix(option, name, ending)
    expect_inputs(given, ("MATRIX", given.matrix), ("--mask", given.mask))
    with Outputs(given.force, given.files) as outputs, machine(given) as (context, group):
        place = None if given.out is None else outputs.add("--out", given.out)
        matrix = matrix_of(given, "MATRIX", given.matrix, context, given.key)
        mask = None if given.mask is None else matrix_of(given, "--mask", given.mask, context)
        if isinstance(mask, Source) and mask.info.dtype != np.uint8:
            raise Failure(f"--mask: {given.mask}: is {stored_type(given.mask)}, expected uint8")
        with (
            bar(given, "residual") as progress,
            rpca.Rpca(progress=progress, context=context, **options, **group) as session,
        ):
            if place is None:
                info = _run_to_files(given, session, matrix, mask, context, outputs)
            else:
                parts, info = session.run(matrix, mask=mask)
                save_npz(place, parts._asdict())
    written = ", ".join(path for path in (given.low_rank, given.sparse, given.out) if path is not None)
    say(given, f"{written}: rank {info.rank}, {info.nonzeros} entries in the sparse part, residual {info.residual:.3g}")
    say(given, f"{info.iterations} iterations, {info.seconds:.3g} s")
