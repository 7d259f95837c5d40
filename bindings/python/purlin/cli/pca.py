"""`purlin pca`: principal components of samples in a file."""

from __future__ import annotations

import argparse
from typing import Any

from ..pca import PCA
from .._options import CommonOptions
from .arrays import expect_inputs, matrix_of
from .failures import Usage
from .options import bar, chosen, command, library_options, machine, say, show, whole
from .outputs import ArrayFiles, Outputs
from .svd import COMMON, add_matrix

_EXAMPLE = """purlin example pca
purlin pca samples.npy --components 5 --out model.npz"""

_TEXT = """Computes principal components by randomized SVD. --out has the arrays of scikit-learn's PCA without their
underscores: components (K, features), mean, explained_variance, explained_variance_ratio, singular_values and
noise_variance, with --scale also scale, and with --scores also scores. A .npy file is read in blocks and need not fit in
memory."""

_NAMES = [
    "components",
    "mean",
    "explained_variance",
    "explained_variance_ratio",
    "singular_values",
    "noise_variance",
]
# Names of the arrays that options add.
_MORE = ["scale", "scores"]


def add(commands: Any) -> None:
    """Declares the command."""
    made = command(commands, "pca", run, "principal components of samples", _TEXT, _EXAMPLE)
    add_matrix(made, "SAMPLES", ".npy, .npz (an array or SciPy's sparse matrix), .mtx or .mtx.gz")
    made.add_argument("--components", type=whole, required=True, metavar="K", help="number of components")
    made.add_argument(
        "--samples", choices=("rows", "columns"), default="rows", help="where a sample is (default: rows)"
    )
    made.add_argument("--no-center", action="store_true", help="do not subtract the means (default: subtract)")
    made.add_argument("--scale", action="store_true", help="divide features by their standard deviations (default: no)")
    made.add_argument("--whiten", action="store_true", help="scores of variance 1 (default: no)")
    made.add_argument("--scores", action="store_true", help="also the scores of the samples (default: no)")
    library_options(made.add_argument_group("method"), "rsvd_options", CommonOptions, COMMON)
    made.add_argument(
        "--out",
        metavar="FILE",
        help="the model: .npz, or .npy for a file NAME_ARRAY.npy each (default: the ratios of variance are printed alone)",
    )


def run(given: argparse.Namespace) -> None:
    """Fits the model."""
    options: dict[str, Any] = chosen(given, ["dtype", *COMMON])
    given.names.update(
        n_components="--components",
        rank="--components",
        threads="--threads",
        X="SAMPLES",
        whiten="--whiten",
        scale="--scale",
    )
    if given.scores and given.out is None:
        raise Usage("--scores: is given, but --out is not, and the ratios of variance are printed alone")
    if given.whiten and not given.scores:
        raise Usage("--whiten: is given, but --scores is not, and it is of the scores alone")
    names = _NAMES + ["scale"] * given.scale
    expect_inputs(given, ("SAMPLES", given.matrix))
    with Outputs(given.force, given.files) as outputs:
        written = names + ["scores"] * given.scores
        possible = _NAMES + _MORE
        files = ArrayFiles(outputs, "--out", given.out, written, possible) if given.out is not None else None
        with machine(given) as (context, group), bar(given) as progress:
            samples = matrix_of(given, "SAMPLES", given.matrix, context, given.key)
            with PCA(
                given.components,
                center=not given.no_center,
                scale=given.scale,
                whiten=given.whiten,
                samples=given.samples,
                progress=progress,
                context=context,
                **options,
                **group,
            ) as model:
                scores = model.fit_transform(samples) if given.scores else model.fit(samples) and None
        arrays = {name: getattr(model, name + "_") for name in names}
        if given.scores:
            arrays["scores"] = scores
        if files is not None:
            files.write(arrays)
    ratios = model.explained_variance_ratio_
    if files is None:
        show("\n".join(f"{ratio:.17g}" for ratio in ratios))
        return
    share = f"{100 * float(ratios.sum()):.4g} % of the variance"
    say(given, f"{', '.join(files.written)}: {model.n_components_} components, {share}")
    say(given, f"method {model.info_.method} ({model.info_.reason}), {model.info_.seconds:.3g} s")
