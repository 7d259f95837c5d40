"""Helpers of all attacks: findings, contexts, and calls that may be refused.

An attack is a function of a random generator and a `Bench`. It returns nothing; it raises `Finding` where the library broke
a promise: a wrong number returned as a success, an undocumented kind of error, a leak. An error that the documentation
allows is no finding, but it is counted, so that an attack that is always refused is seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import purlin


class Finding(AssertionError):
    """A broken promise; the text has the inputs and numbers that show it."""


class Refused(Exception):
    """The library refused or reported the case; the attack ends without a finding."""


class Skipped(Exception):
    """The attack has no meaning on this backend. The text is the reason; the case is counted as skipped, not as passed."""


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """Names the case in a finding that does not."""
    try:
        yield
    except Finding as problem:
        raise Finding(f"{label}: {problem}") from problem


def require(condition: Any, text: str) -> None:
    if not bool(condition):
        raise Finding(text)


class Bench:
    """The contexts an attack runs on, and the counts of its outcomes."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.context = purlin.Context(backend, threads=2)
        # The default context of calls without one counts as a handle from the start.
        purlin.default_context()
        self.outcomes: Counter[str] = Counter()

    def call(self, function: Callable[..., Any], *arguments: Any, allowed: tuple[type[BaseException], ...] = (), **options: Any) -> Any:
        """The result of a call. An error in `allowed` ends the attack as `Refused`; any other is a finding."""
        try:
            return function(*arguments, **options)
        except allowed as error:
            self.outcomes[type(error).__name__] += 1
            raise Refused(str(error)) from error
        except purlin.InternalError as error:
            raise Finding(f"internal error: {error}") from error
        except (purlin.Error, ValueError, TypeError) as error:
            raise Finding(f"{function.__name__} failed: {type(error).__name__}: {error}") from error


def orthonormal(x: np.ndarray, tolerance: float, name: str) -> None:
    """Columns of norm 1, orthogonal to each other."""
    if x.shape[1] == 0:
        return
    x = np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64)
    error = np.abs(x.conj().T @ x - np.eye(x.shape[1])).max()
    require(error <= tolerance, f"{name}: columns are orthonormal to {error:.2e}, expected {tolerance:.2e}")


def random_orthogonal(rng: np.random.Generator, n: int, complex_: bool = False) -> np.ndarray:
    a = rng.standard_normal((n, n))
    if complex_:
        a = a + 1j * rng.standard_normal((n, n))
    q, r = np.linalg.qr(a)
    return q * (np.diag(r) / np.abs(np.diag(r)))


def pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


REAL = (np.float32, np.float64)
ALL = (np.float32, np.float64, np.complex64, np.complex128)


def epsilon(dtype: Any) -> float:
    return float(np.finfo(np.dtype(dtype)).eps)
