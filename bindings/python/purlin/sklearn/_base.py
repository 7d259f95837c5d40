"""Parts that all estimators share: scikit-learn's base classes, contexts, seeds, and the refusal of parameters."""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, cast

import numpy as np

from .._context import Context
from .._error import Error, renaming
from .._memory import Array

Place = Union[Context, Literal["auto", "cpu", "cuda"], None]
"""A context, or the backend of one that a fit makes; None for the default context."""

RandomState = Union[int, np.random.RandomState, None]


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "sklearn":
            raise
        text = "purlin.sklearn: scikit-learn is not installed; `pip install 'scikit-learn>=1.6'` installs it"
        raise ImportError(text, name="sklearn") from error


_version: str = _module("sklearn").__version__
if tuple(int(part) for part in _version.split(".")[:2]) < (1, 6):
    raise ImportError(f"purlin.sklearn: scikit-learn is {_version}, at least 1.6 is needed", name="sklearn")

_base, utils, validation = (_module(f"sklearn.{name}") for name in ("base", "utils", "utils.validation"))

if TYPE_CHECKING:
    Self = TypeVar("Self", bound="BaseEstimator")
    Output = TypeVar("Output", bound="TransformerMixin")

    # scikit-learn has no type hints. These are the methods that users of the estimators call.
    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, object]: ...
        def set_params(self: Self, **params: Any) -> Self: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __sklearn_clone__(self: Self) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin:
        def set_output(self: Output, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Output: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: object = None) -> Array: ...

    class ClusterMixin:
        def fit_predict(self, X: object, y: object = None) -> Array: ...

else:
    BaseEstimator, TransformerMixin, ClusterMixin = _base.BaseEstimator, _base.TransformerMixin, _base.ClusterMixin
    ClassNamePrefixFeaturesOutMixin = _base.ClassNamePrefixFeaturesOutMixin


Own = TypeVar("Own", bound="Estimator")


class Estimator(BaseEstimator):
    """An estimator with the parameters `context` and `options`."""

    context: Place
    options: dict[str, Any] | None
    n_features_in_: int
    feature_names_in_: Array

    def __getstate__(self) -> dict[str, Any]:
        # A context and a group of them belong to this process.
        state = dict(super().__getstate__())
        if isinstance(state.get("context"), Context):
            state["context"] = None
        if state.get("options"):
            state["options"] = {name: value for name, value in state["options"].items() if name != "group"}
        return state

    def __sklearn_clone__(self: Own) -> Own:
        # A clone has the same context. scikit-learn itself would copy it, which a context refuses, as a group of them does.
        bare: Any = copy.copy(self)
        bare.context, bare.options = None, None
        made = cast("Own", super(Estimator, bare).__sklearn_clone__())
        made.context, made.options = self.context, self.options and dict(self.options)
        return made

    def _data(self, X: object, *, sparse: bool | str | list[str] = "csr", reset: bool = True, **how: Any) -> Any:
        """Data of a fit, or later ones, as an array or sparse matrix of float64 or float32 whose features are noted or
        compared."""
        kinds = how.pop("dtype", [np.float64, np.float32])
        return validation.validate_data(self, X, accept_sparse=sparse, dtype=kinds, reset=reset, **how)

    def _home(self) -> Context | None:
        """The context of a fit; None for the default one."""
        if self.context is None or isinstance(self.context, Context):
            return self.context
        if not isinstance(self.context, str):
            raise TypeError(f"context: is a {type(self.context).__name__}, expected a purlin.Context, 'cpu', 'cuda' or None")
        try:
            return Context(self.context)
        except ValueError as error:
            raise ValueError(str(error).replace("backend:", "context:", 1)) from None

    def _seed(self) -> int:
        return 0 if self._random is None else int(utils.check_random_state(self._random).randint(2**31 - 1))

    @property
    def _random(self) -> RandomState:
        given: RandomState = getattr(self, "random_state", None)
        return given

    def _refuse(self, names: str, reason: str) -> None:
        """Refuses parameters that are not at their defaults, since they would have no effect."""
        # A class that someone derives may pass its parameters on.
        makers = [inspect.signature(kind.__init__).parameters for kind in type(self).__mro__]  # type: ignore[misc]
        for name in names.split():
            value, default = getattr(self, name), next(maker[name].default for maker in makers if name in maker)
            if value is not default and value != default:
                raise ValueError(f"{name}: is {value!r}, which has no effect {reason}")

    def _further(self, **taken: str) -> dict[str, Any]:
        """A copy of `options`. `taken` are those that a parameter sets, with its name."""
        given = dict(self.options or {})
        for name, parameter in taken.items():
            if name in given:
                raise ValueError(f"options: has {name!r}, which {parameter} sets")
        return given


def expect_choice(name: str, value: object, *words: str | None) -> None:
    """Refuses a value that is not one of the words."""
    if not (value is None or isinstance(value, str)) or value not in words:
        raise ValueError(f"{name}: is {value!r}, expected one of {', '.join(map(repr, words))}")


@contextlib.contextmanager
def named(**names: str) -> Iterator[None]:
    """Errors of purlin name the estimator's parameters in place of its options."""
    wording = renaming(**names)
    try:
        yield
    except Error as error:
        first = str(error)
        if wording(first) == first:
            raise
        made = type(error)(error.status, wording(first))
        made.__dict__.update(error.__dict__)
        raise made from None
