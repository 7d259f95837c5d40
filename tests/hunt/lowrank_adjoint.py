"""Attacks with operators whose second product is not the adjoint of the first. Oracle: dense LAPACK through NumPy."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import purlin

from attack import ALL, Bench, Finding, epsilon, pick, require
from lowrank import near_best, range_of


def adjoint(rng: np.random.Generator, bench: Bench) -> None:
    """A for A^T, a conjugate that is forgotten, a factor: refused with a text about the adjoint, or the result is right."""
    dtype = pick(rng, *ALL)
    is_complex = np.dtype(dtype).kind == "c"
    wrong = pick(rng, "right", "twice", "minus", *(["conjugate"] if is_complex else []), "not transposed", "not transposed")
    m = int(pick(rng, 2, 5, 17, 60, 150))
    n = m if wrong == "not transposed" else int(pick(rng, 2, 5, 17, 60, 150))
    is_one_pass = rng.random() < 0.25
    if is_one_pass and wrong != "not transposed" and rng.random() < 0.3:
        # Random vectors of this length do not test an adjoint in single precision.
        m, n = 60_000, min(n, 17)
    r = min(m, n)
    low = int(pick(rng, 1, r, max(r // 3, 1)))
    a = rng.standard_normal((m, low)) @ rng.standard_normal((low, n)) + 1e-2 * rng.standard_normal((m, n))
    if is_complex:
        a = a + 1j * (rng.standard_normal((m, low)) @ rng.standard_normal((low, n)))
    a = a.astype(dtype)
    second: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "right": lambda x: a.conj().T @ x, "twice": lambda x: (2 * (a.conj().T @ x)).astype(dtype), "minus": lambda x: -(a.conj().T @ x),
        "conjugate": lambda x: a.T @ x, "not transposed": lambda x: a @ x,
    }
    k = int(rng.integers(1, min(r, 12) + 1))
    call = "compute" if is_one_pass else pick(rng, "compute", "qb", "range_finder", "singular")
    options: dict[str, Any] = {"seed": int(rng.integers(1 << 30)), "context": bench.context}
    if is_one_pass:
        options["method"] = "one_pass"
    elif call != "singular" and rng.random() < 0.5:
        options["power_iterations"] = int(rng.integers(0, 4))
    label = f"{call} of {m}x{n} {np.dtype(dtype).name} k={k} with an adjoint that is {wrong}, {options.get('method')}, {options.get('power_iterations')}, {options['seed']}"
    given = purlin.Matrix.from_operator(lambda x: a @ x, second[wrong], a.shape, dtype, context=bench.context)
    functions = {"compute": purlin.rsvd.compute, "qb": purlin.rsvd.qb, "range_finder": purlin.rsvd.range_finder, "singular": purlin.lanczos.singular}
    wide = a.astype(np.complex128 if is_complex else np.float64)
    try:
        found = functions[call](given, k, **options)
    except purlin.InternalError as error:
        raise Finding(f"{label}: internal error {error}") from error
    except purlin.Error as error:
        # Lanczos sees residuals that do not become small.
        is_told = "adjoint" in str(error) or (call == "singular" and isinstance(error, (purlin.NoConvergence, purlin.Numerical)))
        require(wrong != "right" and is_told, f"{label}: {type(error).__name__}: {error}")
        bench.outcomes["refused"] += 1
        return
    if call == "compute":
        near_best(wide, found, 5.0 if is_one_pass else 1.0, dtype, label)
    elif call == "singular":
        near_best(wide, (found.triplets.u, found.triplets.values, found.triplets.v.conj().T), 1.0, dtype, label)
    elif call == "qb":
        again = lambda: functions[call](given, k, **{**options, "seed": int(rng.integers(1 << 30))})
        range_of(a, np.asarray(found[0]), np.asarray(found[1]), again, dtype, label)
    else:
        q = np.asarray(found)
        range_of(a, q, q.conj().T @ wide, lambda: (q, q.conj().T @ wide), dtype, label)
    bench.outcomes[f"{wrong} and right"] += 1


ATTACKS = {"adjoint": adjoint}
