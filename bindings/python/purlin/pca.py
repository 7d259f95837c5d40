"""Principal components of dense, sparse and streamed data, centred without a copy.

    model = purlin.pca.PCA(20).fit(X)
    scores = model.transform(X)

Methods and attributes are those of scikit-learn's `PCA`.
"""

from __future__ import annotations

import ctypes
import importlib
from ctypes import c_void_p
from types import TracebackType
from typing import Any, Literal, overload

import numpy as np

from . import _constants as c
from . import _pca_copy as copies
from ._callback import Progress, expect_progress
from ._checked import flag, how_many
from ._context import Context, Handle, Stream, default_context, home, initialized, listed
from ._error import check, renaming
from ._interrupts import Interruption
from ._keywords import known, refuse_unknown
from ._lib import lib
from ._matrix import Matrix
from ._memory import Array
from ._pca_copy import Numbers, Transform, taken
from ._results import computing_type, output, queue_for
from ._structs import PcaInfo, PcaOptions, RsvdInfo
from ._tensor import Tensor
from ._types import DeviceMatrix, HostMatrix, MatrixLike
from ._typing import Tags, Unpack
from .rsvd import CommonOptions, Info, Rsvd

Samples = Literal["rows", "columns"]


_OPTIONS = known(CommonOptions, "rsvd_options")
# Arguments of the constructor that its `repr` leaves out.
_DEFAULTS = {"center": True, "scale": False, "whiten": False, "samples": "rows", "progress": None, "context": None}

# Arguments that the library calls otherwise.
_NAMES = renaming(x="X", rank="n_components")


class _Model(Handle):
    """The library's handle of a fit."""

    _word = "PCA"


class _Session(Rsvd):
    """The session of a fit."""

    _word = "PCA"

    def _wording(self, text: str) -> str:
        return _NAMES(text)

    def plan_fit(self, x: Matrix, options: Any, with_scores: bool) -> Info:
        """The plan of a fit; `options` is the C struct of the model's options."""
        raw = self._fresh()
        status = lib.purlin_pca_plan(self.handle, x.handle, ctypes.byref(options), with_scores, ctypes.byref(raw))
        self._members.finish(status, wording=self._wording)
        return self._read(raw)


class PCA:
    """Principal component analysis by randomized SVD.

    `components_` is (rank, features), whichever way the samples lie. With `samples="columns"` data are (features, count)
    and scores (rank, count). The options below are those of `purlin.rsvd.compute`; `center`, `scale` and `whiten` are the model's
    own. Of each component the entry of largest modulus is positive, whatever `sign` a decomposition would have.

    Models can be copied and pickled. The copy has the default context, and neither `group` nor `progress`. They are steps of
    scikit-learn's pipelines, and its `clone` makes a model that is not fitted of them.
    """

    n_components_: int
    n_features_in_: int
    n_samples_: int
    mean_: Array
    _mean: Array  # `mean_` in double precision
    scale_: Array
    constant_: Array  # whether a feature is constant and contributes nothing to scores
    _divisor: Array  # `scale_` in double precision, infinite for constant features
    components_: Array
    singular_values_: Array
    _values: Array  # `singular_values_` in double precision
    _rounding: float  # values up to this are rounding errors
    _mean_epsilon: float = float(np.finfo(np.float64).eps)  # rounding of means in products of the fit, relative to them
    explained_variance_: Array
    explained_variance_ratio_: Array
    total_variance_: float
    noise_variance_: float
    info_: Info

    def __init__(
        self,
        n_components: int,
        *,
        center: bool = True,
        scale: bool = False,
        whiten: bool = False,
        samples: Samples = "rows",
        progress: Progress | None = None,
        context: Context | None = None,
        **options: Unpack[CommonOptions],
    ) -> None:
        if samples not in ("rows", "columns"):
            raise ValueError(f"samples: is {samples!r}, expected 'rows' or 'columns'")
        expect_progress(progress)
        self._parameters: dict[str, Any] = {
            "n_components": n_components,
            "center": center,
            "scale": scale,
            "whiten": whiten,
            "samples": samples,
            "progress": progress,
            "context": context,
            **options,
        }
        self.n_components = n_components
        self.context = home(context, options.get("group"))
        self._flags = (center, scale, whiten)
        self._by_rows = samples == "rows"
        self._progress = progress
        self._options = options
        self._model: _Model | None = None

    def __getstate__(self) -> dict[str, Any]:
        # The context, its group, the handle and the progress function belong to this process.
        state = dict(self.__dict__)
        for name in ("context", "_model", "_progress"):
            state.pop(name)
        state["_options"] = {name: value for name, value in self._options.items() if name != "group"}
        left = {name: value for name, value in self._parameters.items() if name != "group"}
        state["_parameters"] = {**left, "progress": None, "context": None}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.context, self._model, self._progress = default_context(), None, None

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The arguments of the constructor, with the options that were given; `deep` is scikit-learn's and has no effect."""
        return dict(self._parameters)

    def set_params(self, **params: Any) -> PCA:
        """Changes arguments of the constructor, options included. The model then has to be fitted again."""
        for name in params:
            if name not in self._parameters and name not in _OPTIONS.written:
                names = sorted({*self._parameters, *_OPTIONS.written})
                raise ValueError(f"{name!r} is not a parameter; there are {', '.join(names)}")
        if params:
            changed = type(self)(**{**self._parameters, **params})
            self.close()
            self.__dict__.clear()
            self.__dict__.update(changed.__dict__)
        return self

    def __sklearn_clone__(self) -> PCA:
        """An unfitted model with the same arguments, on the same context."""
        return type(self)(**self._parameters)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def __sklearn_tags__(self) -> Tags:
        utils: Any = importlib.import_module("sklearn.utils")
        return utils.Tags(
            estimator_type="transformer",
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags(preserves_dtype=["float64", "float32"]),
            input_tags=utils.InputTags(sparse=True),
        )

    def __repr__(self) -> str:
        parameters = getattr(self, "_parameters", {}).items()
        try:
            given = listed(**{name: value for name, value in parameters if value is not _DEFAULTS.get(name)})()
        except Exception:  # of an option that cannot be shown
            given = ""
        fitted = f", fitted to {self.n_samples_} samples" if self.__sklearn_is_fitted__() else ""
        return f"<purlin.pca.{type(self).__name__} {given}{fitted}>"

    def __enter__(self) -> PCA:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the library's memory back; the attributes stay."""
        if self._model is not None:
            self._model.close()

    def plan(self, X: MatrixLike, *, with_scores: bool = False) -> Info:
        """The plan of `fit`, or of `fit_transform` if `with_scores`: method, passes, bytes, blocks, memory. No entry of `X` is
        read."""
        with self._session() as session:
            matrix = Matrix.of(X, context=self.context, name="X", dtype=self._options.get("dtype"))
            return session.plan_fit(matrix, self._model_options(), flag("with_scores", with_scores))

    def fit(self, X: MatrixLike, y: object = None, *, stream: Stream | None = None) -> PCA:
        """Finds the components of `X`. `y` has no effect: pipelines of scikit-learn pass it on."""
        self._fit(X, False, stream)
        return self

    @overload
    def fit_transform(self, X: DeviceMatrix, y: object = None, *, stream: Stream | None = None) -> Array | Tensor: ...

    @overload
    def fit_transform(self, X: HostMatrix, y: object = None, *, stream: Stream | None = None) -> Array: ...

    def fit_transform(self, X: MatrixLike, y: object = None, *, stream: Stream | None = None) -> Array | Tensor:
        """`fit`, and the scores of `X`. They cost one pass more with the methods RANGE and FUSED."""
        scores: Array | Tensor = self._fit(X, True, stream)
        return scores

    @overload
    def transform(self, X: DeviceMatrix, *, stream: Stream | None = None) -> Array | Tensor: ...

    @overload
    def transform(self, X: HostMatrix, *, stream: Stream | None = None) -> Array: ...

    def transform(self, X: MatrixLike, *, stream: Stream | None = None) -> Array | Tensor:
        """Scores of data, which lie as those of the fit did. May be called from several threads. A copy of a model, and one
        that was pickled, computes them with NumPy, from arrays and sparse matrices of SciPy."""
        if self._is_copy:
            return self._copied(copies.scores, X, "X")
        handle = self._handle
        stream = queue_for(X, stream, self.context)
        matrix = Matrix.of(X, context=self.context, stream=stream, name="X", dtype=self.components_.dtype)
        count = matrix.shape[0 if self._by_rows else 1]
        scores = output(self._oriented(count), self.components_.dtype, matrix, self.context)
        raw = initialized(RsvdInfo, "rsvd_info")
        with Interruption(self.context.cancel) as running:
            status = lib.purlin_pca_transform(
                handle, stream.handle if stream else None, matrix.handle, scores[1].handle, ctypes.byref(raw)
            )
        matrix.raise_caught()
        self.context.finish(status, running, _NAMES)
        return scores[0]

    @overload
    def inverse_transform(self, scores: DeviceMatrix, *, stream: Stream | None = None) -> Array | Tensor: ...

    @overload
    def inverse_transform(self, scores: HostMatrix, *, stream: Stream | None = None) -> Array: ...

    def inverse_transform(self, scores: MatrixLike, *, stream: Stream | None = None) -> Array | Tensor:
        """Samples from scores: the inverse of `transform` within the components' span."""
        if self._is_copy:
            return self._copied(copies.samples, scores, "scores")
        handle = self._handle
        stream = queue_for(scores, stream, self.context)
        given = Matrix.of(scores, context=self.context, stream=stream, name="scores", dtype=self.components_.dtype)
        rows, cols = given.shape
        shape = (rows, self.n_features_in_) if self._by_rows else (self.n_features_in_, cols)
        data = output(shape, self.components_.dtype, given, self.context)
        queue = stream.handle if stream else None
        with Interruption(self.context.cancel) as running:
            status = lib.purlin_pca_inverse_transform(handle, queue, given.handle, data[1].handle)
        self.context.finish(status, running, _NAMES)
        return data[0]

    @property
    def _is_copy(self) -> bool:
        return self._model is None and hasattr(self, "components_")

    def _stretch(self) -> Array:
        """Divisors of the scores; 0 along directions without variance, by the rule of the library."""
        if not self._flags[2]:
            return np.ones(self.n_components_)
        # Along a component the means of the features that have weight in it may hide more than `_rounding`.
        with np.errstate(over="ignore"):
            along = np.abs(self.components_).astype(np.float64) @ (np.abs(self._mean) / self._divisor)
        hidden = 64 * self._mean_epsilon * np.sqrt(self.n_samples_ - 1) * along
        stretch = self._values / np.sqrt(self.n_samples_ - 1)
        return np.where(self._values > np.maximum(hidden, self._rounding), stretch, 0)

    def _copied(self, transform: Transform, given: object, name: str) -> Array:
        scales, whitens = self._flags[1], self._flags[2]
        numbers = Numbers(
            self.components_,
            self._mean,
            self._divisor,
            self.constant_,
            self._values,
            self._stretch(),
            scales,
            whitens,
            self._by_rows,
        )
        found = transform(numbers, taken(given, name, self._by_rows, self.components_.dtype))
        return found if self._by_rows else found.T

    @property
    def _handle(self) -> int:
        if self._model is None:
            raise ValueError("PCA: is not fitted; call fit first")
        return self._model.handle

    def _oriented(self, count: int) -> tuple[int, int]:
        return (count, self.n_components_) if self._by_rows else (self.n_components_, count)

    def _model_options(self) -> Any:
        """The model's own options as the C struct."""
        raw = initialized(PcaOptions, "pca_options")
        raw.samples = c.PCA_SAMPLES_ROWS if self._by_rows else c.PCA_SAMPLES_COLUMNS
        raw.center, raw.scale, raw.whiten = self._flags
        return raw

    def _session(self) -> _Session:
        """A session for one call."""
        rank = how_many("n_components", self.n_components)
        refuse_unknown(_OPTIONS, [name for name in self._options if name not in _OPTIONS.written])
        return _Session(rank, progress=self._progress, context=self.context, **self._options)

    def _fit(self, X: MatrixLike, wanted: bool, stream: Stream | None) -> Any:
        raw = self._model_options()
        given = self._options.get("dtype")
        with self._session() as session:
            rank = session._rank
            stream = queue_for(X, stream, self.context)
            matrix = Matrix.of(X, context=self.context, stream=stream, name="X", dtype=given)
            rows, cols = matrix.shape
            dtype = computing_type(matrix, given)
            shape = (rows, rank) if self._by_rows else (rank, cols)
            scores = output(shape, dtype, matrix, self.context) if wanted else None
            made = c_void_p()

            def call(handle: int, queue: int | None, x: int, info: Any) -> int:
                borrowed = scores[1].handle if scores else None
                status: int = lib.purlin_pca_fit(handle, queue, x, ctypes.byref(raw), borrowed, ctypes.byref(made), info)
                return status

            try:
                info = session.run(matrix, stream, call)
            except BaseException:
                # The fit before, if there was one, stays.
                if made.value:
                    self._owner(made.value).close()
                raise
        model = self._owner(made.value)
        try:
            found = self._read(model.handle, info)
            # A GPU subtracts means from products of sparse matrices after it has rounded these to the type.
            is_rounded_first = matrix.storage == "csr" and self.context.properties.backend == "cuda"
            found["_mean_epsilon"] = float(np.finfo(info.dtype if is_rounded_first else np.float64).eps)
        except BaseException:
            model.close()
            raise
        self.close()
        self._model = model
        self.__dict__.update(found)
        return scores and scores[0]

    def _owner(self, handle: int | None) -> _Model:
        # The library's model works on the contexts of the group.
        return _Model(handle, lib.purlin_pca_destroy, self.context._sinks, self._options.get("group"))

    def _read(self, handle: int, info: Info) -> dict[str, Any]:
        """The attributes from the handle of a fit."""
        raw = initialized(PcaInfo, "pca_info")
        check(lib.purlin_pca_properties(handle, ctypes.byref(raw)))
        dtype = info.dtype
        real = np.dtype(dtype.char.lower())

        def vector(call: Any, length: int, kind: np.dtype[Any]) -> Array:
            values = np.empty(length, kind)
            borrowed = Tensor.borrow(values, context=self.context)
            self.context.finish(call(handle, borrowed.handle))
            return values

        columns = np.empty((raw.features, raw.rank), dtype, order="F")
        borrowed = Matrix.dense(columns, context=self.context)
        self.context.finish(lib.purlin_pca_components(handle, None, borrowed.handle))
        values = vector(lib.purlin_pca_singular_values, raw.rank, np.dtype(np.float64))
        constant = vector(lib.purlin_pca_constant, raw.features, np.dtype(np.float64)) > 0
        divisor = vector(lib.purlin_pca_scale, raw.features, np.dtype(np.float64))
        return {
            "info_": info,
            "n_samples_": raw.count,
            "n_features_in_": raw.features,
            "n_components_": raw.rank,
            "total_variance_": raw.total_variance,
            "noise_variance_": raw.noise_variance,
            "mean_": vector(lib.purlin_pca_mean, raw.features, dtype),
            "_mean": vector(lib.purlin_pca_mean, raw.features, np.dtype(np.result_type(dtype, np.float64))),
            "scale_": vector(lib.purlin_pca_scale, raw.features, real),
            "constant_": constant,
            "_divisor": np.where(constant, np.inf, divisor),
            "_values": values,
            "_rounding": raw.rounding,
            "singular_values_": vector(lib.purlin_pca_singular_values, raw.rank, real),
            "explained_variance_": vector(lib.purlin_pca_explained_variance, raw.rank, real),
            "explained_variance_ratio_": vector(lib.purlin_pca_explained_variance_ratio, raw.rank, real),
            "components_": columns.conj().T,
        }


__all__ = ["PCA"]
