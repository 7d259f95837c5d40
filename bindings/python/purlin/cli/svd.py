"""`purlin svd`: the leading singular triplets of a matrix in a file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import rsvd
from .._options import RsvdOptions
from .arrays import expect_inputs, matrix_of
from .failures import Usage
from .options import bar, chosen, command, library_options, machine, say, show, whole
from .outputs import ArrayFiles, Outputs, is_same

_EXAMPLE = """purlin example svd
purlin svd matrix.npy --rank 8 --out factors.npz"""

_TEXT = """Computes the largest singular values by randomized SVD, and with --out the factors U, s, Vt with A ~ (U * s) @ Vt. A
.npy file is read in blocks and need not fit in memory."""

COMMON = {
    "oversampling": "columns of the sketch beyond the rank; -1 = max(10, rank / 10)",
    "power_iterations": "power iterations, which sharpen the sketch; -1 = 4 or 7, by the rank",
    "method": "algorithm",
    "sketch": "kind of the random matrix",
    "block_rows": "rows read at a time; 0 = as memory allows",
    "seed": "of the random numbers",
}
_TEXTS = {
    **COMMON,
    "tolerance": "relative error to reach, in place of a rank; 0 = off",
    "max_rank": "most triplets with --tolerance; 0 = no limit",
    "center": "subtract the means of columns or of rows",
    "scale": "divide columns by their standard deviations, with --center columns",
    "sign": "make the entry of largest modulus of each right, or left, vector positive",
}
_NAMES = ["U", "s", "Vt"]


def add_matrix(made: Any, name: str, text: str) -> None:
    """Declares the input of a command on a dense matrix, and the type of its computation."""
    made.add_argument("matrix", metavar=name, help=text)
    made.add_argument("--key", metavar="NAME", help="array of a .npz file (default: the only one)")
    made.add_argument(
        "--dtype", choices=("float32", "float64"), help="type of the computation (default: that of the matrix)"
    )


def add(commands: Any) -> None:
    """Declares the command."""
    made = command(commands, "svd", run, "largest singular triplets of a matrix", _TEXT, _EXAMPLE)
    add_matrix(made, "MATRIX", ".npy, .npz (an array or SciPy's sparse matrix), .mtx or .mtx.gz")
    made.add_argument("--rank", type=whole, metavar="K", help="number of triplets (needed without --tolerance)")
    library_options(made.add_argument_group("method"), "rsvd_options", RsvdOptions, _TEXTS)
    made.add_argument(
        "--restart",
        dest="restart_path",
        metavar="FILE",
        help="state of the run: written while it runs, read if it is there, removed at the end (default: none)",
    )
    made.add_argument(
        "--out",
        metavar="FILE",
        help="factors: .npz, or .npy for NAME_U.npy, NAME_s.npy, NAME_Vt.npy (default: the values are printed alone)",
    )


def run(given: argparse.Namespace) -> None:
    """Computes the factors."""
    options = chosen(given, ["dtype", "restart_path", *_TEXTS])
    given.names.update(rank="--rank", restart_path="--restart", threads="--threads", a="MATRIX")
    if given.rank is None and given.tolerance is None:
        raise Usage("--rank: is not given, and no --tolerance either")
    if given.rank is None and given.tolerance == 0:
        raise Usage("--tolerance: is 0, which turns it off, and --rank is not given")
    if given.restart_path is not None and is_same(Path(os.path.realpath(given.restart_path)), given.matrix):
        raise Usage(f"--restart: is {given.restart_path}, which is MATRIX too")
    expect_inputs(given, ("MATRIX", given.matrix), ("--restart", given.restart_path))
    with Outputs(given.force, given.files) as outputs:
        files = ArrayFiles(outputs, "--out", given.out, _NAMES) if given.out is not None else None
        with machine(given) as (context, group), bar(given) as progress:
            matrix = matrix_of(given, "MATRIX", given.matrix, context, given.key)
            with rsvd.Rsvd(given.rank or 0, progress=progress, context=context, **options, **group) as session:
                factors = session.compute(matrix, left=files is not None, right=files is not None)
                info = session.last_info()
        if files is not None:
            files.write({"U": factors.U, "s": factors.s, "Vt": factors.Vt})
    if files is None:
        show("\n".join(f"{value:.17g}" for value in factors.s))
        return
    # Where it is too small to be measured, the reason below says so.
    error = "" if np.isnan(info.error_relative) else f", relative error {info.error_relative:.3g}"
    say(given, f"{', '.join(files.written)}: {info.rank} triplets{error}")
    say(given, f"method {info.method} ({info.reason}), {info.seconds:.3g} s")
