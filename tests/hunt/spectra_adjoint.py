"""Attacks with operators of A^H A, A A^H and (0 A; A^H 0) whose second product is not the adjoint of the first. Oracle: dense LAPACK
through NumPy."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import purlin

from attack import ALL, Bench, Finding, epsilon, pick, require


def adjoint(rng: np.random.Generator, bench: Bench) -> None:
    """A wrong adjoint is refused with a text about it, also where A or the second product is 0; with the right one the
    results are right."""
    dtype = pick(rng, *ALL)
    is_complex = np.dtype(dtype).kind == "c"
    wrong = pick(rng, "right", "twice", "minus", "another", "zero", "of zero", "late", "skew", *(["conjugate", "conjugate", "transposed"] if is_complex else []))
    m, n = (int(pick(rng, 1, 2, 3, 5, 17, 60, 150)) for _ in range(2))
    r = int(pick(rng, 1, min(m, n)))

    def of_rank(scale: float) -> np.ndarray:
        a = rng.standard_normal((m, r)) @ rng.standard_normal((r, n))
        if is_complex:
            a = a + 1j * (rng.standard_normal((m, r)) @ rng.standard_normal((r, n)))
        return np.asarray((scale * a).astype(dtype))

    scale = float(pick(rng, 1.0, 1.0, *((1e-12, 1e12) if np.dtype(dtype).itemsize in (4, 8) and dtype != np.float64 else (1e-50, 1e60))))
    a, other = of_rank(scale), of_rank(scale)
    calls = 0

    def late(y: np.ndarray) -> np.ndarray:
        """Right in the first product alone."""
        nonlocal calls
        calls += 1
        product = a.conj().T @ y
        return product if calls == 1 else -product

    if wrong == "skew" and not (dtype == np.float64 and m >= n == r > 1):
        wrong = "right"
    drawn = rng.standard_normal((n, n))
    # The error times A is antisymmetric. In single precision random vectors may miss it.
    skew = (drawn - drawn.T) @ np.linalg.pinv(a) * np.linalg.norm(a) ** 2 / np.linalg.norm(drawn) if wrong == "skew" else None
    second: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "right": lambda y: a.conj().T @ y, "twice": lambda y: (2 * (a.conj().T @ y)).astype(dtype), "minus": lambda y: -(a.conj().T @ y),
        "another": lambda y: other.conj().T @ y, "late": late, "skew": lambda y: a.T @ y + skew @ y,
        "zero": lambda y: 0 * (a.conj().T @ y), "of zero": lambda y: a.conj().T @ y,
        # The conjugate of the product, and that of the matrix alone.
        "conjugate": lambda y: (a.T @ y.conj()), "transposed": lambda y: a.T @ y,
    }
    first = (lambda x: 0 * (a @ x)) if wrong == "of zero" else (lambda x: a @ x)
    kind = pick(rng, "gram", "outer_gram", "augmented")
    call = pick(rng, "solve", "tridiagonalize", "density")
    wide = a.astype(np.complex128 if is_complex else np.float64)
    adjoint_of = wide.conj().T
    zeros = [np.zeros((k, k), wide.dtype) for k in (m, n)]
    dense = {"gram": adjoint_of @ wide, "outer_gram": wide @ adjoint_of, "augmented": np.block([[zeros[0], wide], [adjoint_of, zeros[1]]])}[kind]
    exact = np.linalg.eigvalsh(dense)
    given = purlin.Matrix.from_operator(first, second[wrong], a.shape, dtype, context=bench.context)
    label = f"{call} of {kind} of {m}x{n} {np.dtype(dtype).name} rank {r} scale {scale:g} with an adjoint that is {wrong}"
    options: dict[str, Any] = {"kind": kind, "seed": int(rng.integers(1 << 30)), "context": bench.context}
    size = float(np.abs(exact).max())
    limit = (1e-4 if np.dtype(dtype).itemsize == 4 or dtype == np.complex64 else 1e-8) * size
    try:
        if call == "solve":
            values = np.asarray(purlin.lanczos.solve(given, 1, **options)[0])
            error = abs(float(values[0]) - float(exact[-1]))
        elif call == "tridiagonalize":
            alpha, beta = (np.asarray(part) for part in purlin.lanczos.tridiagonalize(given, min(len(dense), 12), **options)[:2])
            steps = len(alpha)
            ritz = np.linalg.eigvalsh(np.diag(alpha) + np.diag(beta[: steps - 1], 1) + np.diag(beta[: steps - 1], -1))
            error = max(0.0, float(ritz[-1] - exact[-1]), float(exact[0] - ritz[0]))
        else:
            points = np.asarray(purlin.graph.density(given, vector_count=2, steps=min(len(dense), 12), **options)[0])
            error = max(0.0, float(points.max() - exact[-1]), float(exact[0] - points.min()))
    except purlin.InternalError as error_:
        raise Finding(f"{label}: internal error {error_}") from error_
    except purlin.Error as error_:
        is_named = isinstance(error_, purlin.InvalidArgument) and "adjoint" in str(error_)
        # A solve may end before the test that follows it.
        is_failed = wrong == "late" and isinstance(error_, (purlin.Numerical, purlin.NoConvergence))
        require(wrong != "right" and (is_named or is_failed), f"{label}: {type(error_).__name__}: {error_}")
        bench.outcomes["refused"] += 1
        return
    # Another matrix of one row and one column may be nearly the same one.
    is_same = wrong == "another" and bool(np.linalg.norm(wide - other) <= 0.3 * np.linalg.norm(wide))
    is_real = wrong in ("conjugate", "transposed") and bool(np.linalg.norm(wide.imag) <= epsilon(dtype) * np.linalg.norm(wide))
    require(wrong == "right" or is_same or is_real, f"{label}: no refusal")
    require(error <= limit, f"{label}: off by {error:g} of {size:g}")
    bench.outcomes[f"{call} right"] += 1


ATTACKS = {"adjoint": adjoint}
