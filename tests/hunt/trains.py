"""Attacks on tensor trains. Oracles: transfer matrices in NumPy with an exponent of their own, dense Kronecker products."""

from __future__ import annotations

from typing import Any

import numpy as np
import purlin

from attack import ALL, Bench, epsilon, pick, require


def random_train(rng: np.random.Generator, modes: list[int], cyclic: bool, dtype: Any, graded: bool) -> list[np.ndarray]:
    d = len(modes)
    ranks = [int(r) for r in rng.integers(1, 8, d + 1)]
    ranks[0] = ranks[d] = int(rng.integers(1, 6)) if cyclic else 1
    cores = []
    for k, n in enumerate(modes):
        core = rng.standard_normal((ranks[k], n, ranks[k + 1]))
        if np.dtype(dtype).kind == "c":
            core = core + 1j * rng.standard_normal(core.shape)
        if graded:
            limit = 30 if np.dtype(dtype).char in "fF" else 280
            core = core * 10.0 ** float(rng.integers(-limit, limit))
        cores.append(np.asfortranarray(core.astype(dtype)))
    return cores


def exact(x: list[np.ndarray], y: list[np.ndarray]) -> tuple[complex, int, float]:
    """<x|y> as mantissa and exponent of 2, and the exponent-free bound of its rounding error."""
    exponent = 0
    r, s = x[0].shape[0], y[0].shape[0]
    state = np.eye(r * s, dtype=np.complex128).reshape(r, s, r * s)
    size = np.abs(state)
    for a, b in zip(x, y):
        a, b = a.astype(np.complex128), b.astype(np.complex128)
        ea, eb = (int(np.frexp(np.abs(c).max(initial=0.0))[1]) if np.abs(c).max(initial=0.0) > 0 else 0 for c in (a, b))
        a, b = a / 2.0**ea if abs(ea) < 1000 else np.ldexp(a.real, -ea) + 1j * np.ldexp(a.imag, -ea), b / 2.0**eb if abs(eb) < 1000 else np.ldexp(b.real, -eb) + 1j * np.ldexp(b.imag, -eb)
        exponent += ea + eb
        state = np.einsum("anc,abw,bnd->cdw", a.conj(), state, b, optimize=True)
        size = np.einsum("anc,abw,bnd->cdw", np.abs(a), size, np.abs(b), optimize=True)
        shift = int(np.frexp(size.max(initial=0.0))[1])
        state, size, exponent = np.ldexp(state.real, -shift) + 1j * np.ldexp(state.imag, -shift), np.ldexp(size, -shift), exponent + shift
    matrix, bound = state.reshape(r * s, r * s), size.reshape(r * s, r * s)
    return complex(np.trace(matrix)), exponent, float(np.trace(bound))


def dense_of(cores: list[np.ndarray]) -> np.ndarray:
    """The tensor of an open train, from its cores."""
    made = np.ones((1, 1))
    for core in cores:
        made = np.tensordot(made, core.astype(np.complex128), axes=1).reshape(-1, core.shape[2])
    return made[:, 0]


def modes_of(rng: np.random.Generator) -> list[int]:
    return [int(n) for n in rng.integers(1, 6, int(pick(rng, 1, 2, 3, 5, 7, 12)))]


def close(found: Any, reference: tuple[complex, int, float], eps: float, label: str) -> None:
    value, exponent, bound = reference
    ours = complex(found.mantissa)
    require(np.isfinite(ours), f"{label}: mantissa {ours}")
    shift = int(np.clip(found.exponent - exponent, -3000, 3000))
    scaled = complex(np.ldexp(ours.real, shift), np.ldexp(ours.imag, shift))
    limit = 2000 * eps * bound
    require(abs(scaled - value) <= limit, f"{label}: {scaled} * 2^{exponent}, exact {value} (bound {limit:.1e})")


def inner(rng: np.random.Generator, bench: Bench) -> None:
    """<x|y> of open trains and rings, all algorithms, cores graded over the whole range."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    cyclic, graded = rng.random() < 0.4, rng.random() < 0.5
    x, y = random_train(rng, modes, cyclic, dtype, graded), random_train(rng, modes, rng.random() < 0.5 and cyclic, dtype, graded)
    if rng.random() < 0.1:
        x[int(rng.integers(len(x)))][:] = 0
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["algorithm"] = pick(rng, "auto", "open", "full", "reduced", "blocked", "halves")
    if rng.random() < 0.2:
        options["scaling"] = "always"
    label = f"inner {modes} ranks {[c.shape[0] for c in x]} {[c.shape[0] for c in y]} {np.dtype(dtype).name} graded={graded} {options}"
    with bench.call(purlin.tt.Contraction, context=bench.context, **options) as contraction:
        found = bench.call(
            contraction.inner_scaled, x, y, allowed=(purlin.InvalidArgument, purlin.NotSupported, purlin.Numerical)
        )
        close(found, exact(x, y), epsilon(dtype), label)
        norm = bench.call(contraction.norm_scaled, x, allowed=(purlin.InvalidArgument, purlin.NotSupported, purlin.Numerical))
    value, exponent, bound = exact(x, x)
    shift = int(np.clip(2 * norm.exponent - exponent, -3000, 3000))
    square = np.ldexp(complex(norm.mantissa).real ** 2, shift)
    limit = 2000 * epsilon(dtype) * bound
    require(abs(square - value.real) <= limit, f"{label}: norm^2 {square}, exact {value.real}")
    bench.outcomes["solved"] += 1


def not_finite(rng: np.random.Generator, bench: Bench) -> None:
    """NaN or infinity in any core is reported as not finite, never returned as a plain result with outcome ok."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    cyclic = rng.random() < 0.4
    x, y = random_train(rng, modes, cyclic, dtype, False), random_train(rng, modes, cyclic, dtype, False)
    core = pick(rng, x, y)[int(rng.integers(len(x)))]
    core[tuple(int(rng.integers(n)) for n in core.shape)] = pick(rng, np.nan, np.inf, -np.inf)
    call = pick(rng, "inner_scaled", "distance_scaled", "norm_scaled")
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        arguments = (x if np.isnan(sum(abs(c).sum() for c in x)) or np.isinf(sum(abs(c).sum() for c in x)) else y,)
        if call != "norm_scaled":
            arguments = (x, y)
        try:
            found = getattr(contraction, call)(*arguments)
        except purlin.InternalError as error:
            require(False, f"{call}: internal error {error}")
        except purlin.Error:
            bench.outcomes["refused"] += 1
            return
        info = contraction.info
        require(
            info is not None and info.outcome == "nonfinite",
            f"{call} of cores that are not finite: outcome {info and info.outcome}, mantissa {found.mantissa}",
        )
    bench.outcomes["reported"] += 1


def distance(rng: np.random.Generator, bench: Bench) -> None:
    """Distances of trains that nearly agree, against the dense tensors."""
    modes, dtype = modes_of(rng)[:5], pick(rng, np.float64, np.complex128)
    x = random_train(rng, modes, False, dtype, False)
    y = [core.copy(order="F") for core in x]
    size = 10.0 ** -float(rng.integers(0, 12))
    k = int(rng.integers(len(y)))
    y[k] = np.asfortranarray(y[k] + size * rng.standard_normal(y[k].shape))
    dense = [dense_of(t) for t in (x, y)]
    found = bench.call(purlin.tt.distance, x, y, context=bench.context)
    reference = np.linalg.norm((dense[0] - dense[1]).ravel())
    limit = 1e-6 * reference + 100 * epsilon(dtype) * np.linalg.norm(dense[0].ravel())
    require(abs(found - reference) <= limit, f"distance {modes} change {size:g}: {found}, exact {reference}")
    bench.outcomes["solved"] += 1


def truncation(rng: np.random.Generator, bench: Bench) -> None:
    """Rounding keeps the error that it was asked for, and states it."""
    modes, dtype = [int(n) for n in rng.integers(2, 5, int(rng.integers(2, 6)))], pick(rng, np.float64, np.complex128)
    x = random_train(rng, modes, False, dtype, False)
    requested = 10.0 ** -float(rng.integers(1, 13))
    made = bench.call(purlin.tt.round, x, requested, context=bench.context)
    dense, rounded = dense_of(x), dense_of(made[0].cores)
    error = np.linalg.norm(dense - rounded)
    require(error <= 1.01 * requested * np.linalg.norm(dense) + 1e-12 * np.linalg.norm(dense), f"round {modes} {requested:g}: error {error / np.linalg.norm(dense):.2e}")
    bench.outcomes["solved"] += 1


def operators(rng: np.random.Generator, bench: Bench) -> None:
    """<y|H|x> of spin chains against the dense Hamiltonian."""
    n = int(rng.integers(1, 7))
    coupling, field = rng.standard_normal(2)
    z, s = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    site = lambda op, k: np.kron(np.kron(np.eye(2**k), op), np.eye(2 ** (n - k - 1)))  # noqa: E731
    x = random_train(rng, [2] * n, False, np.float64, False)
    y = random_train(rng, [2] * n, False, np.float64, False)
    h = bench.call(purlin.tt.from_terms, [2] * n, [(coupling, [(k, z), (k + 1, z)]) for k in range(n - 1)] + [(field, [(k, s)]) for k in range(n)], context=bench.context, allowed=(TypeError, ValueError, purlin.InvalidArgument))
    dense = sum((coupling * site(z, k) @ site(z, k + 1) for k in range(n - 1)), np.zeros((2**n, 2**n)))
    dense = dense + sum(field * site(s, k) for k in range(n))
    vectors = [dense_of(t) for t in (y, x)]
    found = bench.call(purlin.tt.sandwich, y, h, x, context=bench.context)
    reference = vectors[0].conj() @ dense @ vectors[1]
    limit = 1e-10 * np.linalg.norm(vectors[0]) * np.linalg.norm(vectors[1]) * max(np.abs(dense).sum(axis=0).max(), 1)
    require(abs(found - reference) <= limit, f"sandwich of {n} sites: {found}, exact {reference}")
    bench.outcomes["solved"] += 1


ATTACKS = {
    "inner": inner,
    "not_finite": not_finite,
    "distance": distance,
    "truncation": truncation,
    "operators": operators,
}
