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
    """<x|y> of open trains and rings, all methods, cores graded over the whole range."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    cyclic, graded = rng.random() < 0.4, rng.random() < 0.5
    x, y = random_train(rng, modes, cyclic, dtype, graded), random_train(rng, modes, rng.random() < 0.5 and cyclic, dtype, graded)
    if rng.random() < 0.1:
        x[int(rng.integers(len(x)))][:] = 0
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["method"] = pick(rng, "auto", "open", "full", "reduced", "blocked", "halves")
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


def random_operator(rng: np.random.Generator, modes: list[int], cyclic: bool, dtype: Any) -> list[np.ndarray]:
    """Cores r x n x n x r' of an operator; an open one begins and ends with rank 1."""
    d = len(modes)
    ranks = [int(r) for r in rng.integers(1, 4, d + 1)]
    ranks[0] = ranks[d] = int(rng.integers(1, 3)) if cyclic else 1
    cores = [rng.standard_normal((ranks[k], n, n, ranks[k + 1])) for k, n in enumerate(modes)]
    if np.dtype(dtype).kind == "c":
        cores = [core + 1j * rng.standard_normal(core.shape) for core in cores]
    return [np.asfortranarray(core.astype(dtype)) for core in cores]


def unbounded(value: Any) -> bool:
    """Whether a number is NaN, in either part."""
    return bool(np.isnan(complex(value)))


def not_finite(rng: np.random.Generator, bench: Bench) -> None:
    """NaN or infinity in any core of a train or an operator is treated as docs/tt.md says: plain results fail and their report
    names it, scaled ones are NaN, calls that decompose refuse it, and others pass it on to the numbers that depend on it."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    cyclic = rng.random() < 0.4
    x, y = random_train(rng, modes, cyclic, dtype, False), random_train(rng, modes, cyclic, dtype, False)
    h = random_operator(rng, modes, cyclic and rng.random() < 0.5, dtype)
    kind = pick(rng, "plain", "scaled", "batches", "environments", "refused", "passed on")
    with_operator = {"plain": (x, y, h), "scaled": (x, y, h), "environments": (x, y, h)}
    train = pick(rng, *with_operator.get(kind, (x, y)))
    at = int(rng.integers(len(train)))
    place = tuple(int(rng.integers(n)) for n in train[at].shape)
    train[at][place] = pick(rng, np.nan, np.inf, -np.inf)
    who = "x" if train is x else "y" if train is y else "h"
    label = f"{train[at][place]} in core {at} of {who}, {modes} {np.dtype(dtype).name} cyclic={cyclic}"
    {
        "plain": plain_not_finite, "scaled": scaled_not_finite, "batches": batches_not_finite, "environments": environments_not_finite,
        "refused": decompositions_not_finite, "passed on": algebra_not_finite,
    }[kind](rng, bench, (x, y, h), (who, at, place), label)
    bench.outcomes[kind] += 1


Trains = tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]
Place = tuple[str, int, tuple[int, ...]]


def plain_not_finite(rng: np.random.Generator, bench: Bench, trains: Trains, place: Place, label: str) -> None:
    x, y, h = trains
    n = x[0].shape[1]
    calls: dict[str, tuple[Any, ...]] = {"sandwich": (y, h, x), "rayleigh": (h, x)}
    if place[0] != "h":
        calls.update({"inner": (x, y), "distance": (x, y), "inner_batch": ([x, y], [y, x]), "gram": ([x, y],)})
        calls.update({"norm": (x if place[0] == "x" else y,)})
    if place[0] == "x":
        op = rng.standard_normal((n, n))
        calls.update({"expect_local": (x, op, [0])})
        if len({core.shape[1] for core in x}) == 1:
            calls.update({"correlation": (x, op, op)})
    elif place[0] == "y":
        calls.pop("rayleigh")
    name = pick(rng, *calls)
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        try:
            found = getattr(contraction, name)(*calls[name])
        except purlin.NotSupported:
            bench.outcomes["not supported"] += 1
            return
        except purlin.Numerical:
            outcome = contraction.last_info().outcome
            require(outcome == "nonfinite", f"{name} of {label}: fails with the outcome {outcome}")
            return
        require(False, f"{name} of {label}: gives {found}")


def scaled_not_finite(rng: np.random.Generator, bench: Bench, trains: Trains, place: Place, label: str) -> None:
    x, y, h = trains
    calls: dict[str, tuple[Any, ...]] = {"sandwich_scaled": (y, h, x)}
    if place[0] != "h":
        calls.update({"inner_scaled": (x, y), "distance_scaled": (x, y), "norm_scaled": (x if place[0] == "x" else y,)})
    name = pick(rng, *calls)
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        found = bench.call(getattr(contraction, name), *calls[name], allowed=(purlin.NotSupported,))
        outcome = contraction.last_info().outcome
        require(outcome == "nonfinite", f"{name} of {label}: outcome {outcome}, {found}")
        require(unbounded(found.mantissa) and found.exponent == 0, f"{name} of {label}: {found}")


def batches_not_finite(rng: np.random.Generator, bench: Bench, trains: Trains, place: Place, label: str) -> None:
    """The other numbers of a batch are those without the bad train."""
    x, y, _ = trains
    bad, good = (x, y) if place[0] == "x" else (y, x)
    count, where = int(rng.integers(1, 6)), int(rng.integers(6))
    left = [bad if k == where else good for k in range(count)]
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        whole = bench.call(contraction.inner_scaled, good, good)
        found = bench.call(contraction.inner_batch_scaled, left, [good] * count)
        square = bench.call(contraction.gram_scaled, left)
        outcome = contraction.last_info().outcome
    require((outcome == "nonfinite") == (where < count), f"Gram matrix with {label}: outcome {outcome}")
    for k in range(count):
        entries = [(found.mantissas[k], found.exponents[k], k == where, "batch")]
        entries += [(square.mantissas[k, j], square.exponents[k, j], where in (k, j), "Gram matrix") for j in range(count)]
        for mantissa, exponent, is_bad, name in entries:
            if is_bad:
                require(unbounded(mantissa) and exponent == 0, f"{name} with {label}: {mantissa} 2^{exponent} at {k}")
            else:
                value = complex(mantissa) * 2.0 ** float(np.clip(exponent - whole.exponent, -1000, 1000))
                apart = abs(value - complex(whole.mantissa))
                require(apart <= 1e-2 * abs(complex(whole.mantissa)), f"{name} with {label}: {mantissa} 2^{exponent} at {k}, {whole} alone")


def environments_not_finite(rng: np.random.Generator, bench: Bench, trains: Trains, place: Place, label: str) -> None:
    x, y, h = trains
    operator = h if place[0] == "h" or rng.random() < 0.5 else None
    d = len(x)
    with bench.call(purlin.tt.Environments, y, x, operator, context=bench.context, allowed=(purlin.NotSupported,)) as made:
        for bond in (0, d, int(rng.integers(d + 1))):
            found = bench.call(made.value, bond)
            require(unbounded(found.mantissa) and found.exponent == 0, f"environments of {label}: {found} at bond {bond}")
        k = int(rng.integers(d))
        if operator is None:
            found = bench.call(made.local, k, rng.standard_normal((x[k].shape[1],) * 2))
            require(unbounded(found.mantissa) and found.exponent == 0, f"environments of {label}: {found} of one site {k}")


def decompositions_not_finite(rng: np.random.Generator, bench: Bench, trains: Trains, place: Place, label: str) -> None:
    x, y, h = trains
    bad, good = (x, y) if place[0] == "x" else (y, x)
    tt, k = purlin.tt, int(rng.integers(len(x)))
    calls: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "round": (tt.round, (bad, 1e-3)), "canonicalize": (tt.canonicalize, (bad, k)), "apply_round": (tt.apply_round, (h, bad, 1e-3)),
        "hadamard_round": (tt.hadamard_round, pick(rng, (bad, good, 1e-3), (good, bad, 1e-3))),
    }
    name = pick(rng, *calls)
    function, arguments = calls[name]
    try:
        made = function(*arguments, context=bench.context)
    except purlin.InvalidArgument as error:
        require("finite" in str(error), f"{name} of {label}: {error}")
        return
    except purlin.NotSupported:
        # Of rings.
        require(bad[0].shape[0] > 1 or h[0].shape[0] > 1 or good[0].shape[0] > 1, f"{name} of {label}: not supported")
        return
    require(False, f"{name} of {label}: gives {made}")


def algebra_not_finite(rng: np.random.Generator, bench: Bench, trains: Trains, place: Place, label: str) -> None:
    """Entries that depend on the number are not finite, the others are those of the train in which it is another."""
    x, y, h = trains
    who, at, index = place
    bad, other = (x, y) if who == "x" else (y, x)
    if int(np.prod([core.shape[1] for core in x])) > 2000:
        return
    tt, clean = purlin.tt, [core.copy(order="F") for core in bad]
    clean[at][index] = 1.0
    calls: dict[str, Any] = {
        "full": lambda train: train, "add": lambda train: tt.add(train, other, context=bench.context),
        "scale": lambda train: tt.scale(train, 2.0, context=bench.context),
        "hadamard": lambda train: tt.hadamard(train, other, context=bench.context),
        "apply": lambda train: tt.apply(h, train, context=bench.context),
    }
    name = pick(rng, *calls)
    allowed = (purlin.NotSupported, purlin.Numerical)
    found, reference = (np.asarray(bench.call(tt.full, bench.call(calls[name], t, allowed=allowed), context=bench.context, allowed=allowed)) for t in (bad, clean))
    depends = np.zeros(found.shape, bool)
    # An entry of a ring of one core depends on the diagonal alone.
    if len(bad) > 1 or index[0] == index[2]:
        depends[(slice(None),) * at + (slice(None) if name == "apply" else index[1],)] = True
    require(not np.isfinite(found[depends]).any(), f"{name} of {label}: entries that depend on it are finite")
    # Rounding is measured by the sums of moduli.
    moduli = [[np.asfortranarray(np.abs(core)) for core in given] for given in (clean, other, h)]
    size = {"add": lambda: tt.add(moduli[0], moduli[1]), "hadamard": lambda: tt.hadamard(moduli[0], moduli[1]), "apply": lambda: tt.apply(moduli[2], moduli[0])}
    bound = float(np.abs(np.asarray(tt.full(size[name]() if name in size else moduli[0]))).max(initial=0))
    apart = np.abs(found - reference)[~depends].max(initial=0)
    limit = 1e3 * epsilon(x[0].dtype) * bound
    require(apart <= limit, f"{name} of {label}: entries that do not depend on it are off by {apart:.2e}")


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
    """Rounding reaches the requested error, and reports it."""
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


def gauge(rng: np.random.Generator, x: list[np.ndarray], bits: int) -> list[np.ndarray]:
    """The same tensor: values of bonds are multiplied by powers of two in one core and divided by them in the next."""
    d = len(x)
    powers = [rng.integers(-bits, bits + 1, core.shape[0]) for core in x]
    if x[0].shape[0] == 1:
        powers[0] = np.zeros(1, int)
    out = []
    for k, core in enumerate(x):
        shift = powers[(k + 1) % d][None, None, :] - powers[k][:, None, None]
        out.append(np.asfortranarray((core * 2.0**shift).astype(core.dtype)))
    return out


def gauges(rng: np.random.Generator, bench: Bench) -> None:
    """A gauge, a matrix in one core and its inverse in the next, changes no result."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    cyclic = rng.random() < 0.4
    x, y = random_train(rng, modes, cyclic, dtype, False), random_train(rng, modes, cyclic, dtype, False)
    bits = int(pick(rng, 5, 20, 30) if np.dtype(dtype).char in "fF" else pick(rng, 20, 160, 330))
    gx, gy = gauge(rng, x, bits), gauge(rng, y, bits)
    eps, label = epsilon(dtype), f"gauge 2^{bits} {modes} {np.dtype(dtype).name} cyclic={cyclic}"
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        close(bench.call(contraction.inner_scaled, gx, gy), exact(x, y), eps, label)
        found = bench.call(contraction.gram_scaled, [gx, gy])
        for i, j, (a, b) in ((0, 1, (x, y)), (0, 0, (x, x)), (1, 1, (y, y))):
            one = purlin.tt.Scaled(complex(found.mantissas[i, j]), int(found.exponents[i, j]), 0.0, 0.0)
            close(one, exact(a, b), eps, f"gram {label}")
        unit = bench.call(purlin.tt.identity, modes, dtype=np.float32 if eps > 1e-10 else np.float64, context=bench.context)
        close(bench.call(contraction.sandwich_scaled, gy, unit, gx), exact(y, x), eps, f"sandwich {label}")
        norms = np.abs(bench.call(contraction.expect_local, gx, np.eye(modes[0]), [0], allowed=(purlin.Numerical,)))
        require(np.abs(norms - 1).max() <= 1e4 * eps, f"expect_local of the identity {label}: {norms}")
    bench.outcomes["solved"] += 1


def moved(rng: np.random.Generator, bench: Bench) -> None:
    """Factors of 300 orders of magnitude in any core: norms by all methods and distances have exact exponents."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    x = random_train(rng, modes, False, dtype, False)
    top = 100 if np.dtype(dtype).char in "fF" else 980
    d = len(x)
    shifts = [rng.integers(-top, top + 1, d) for _ in range(2)]
    a, b = ([np.asfortranarray(np.ldexp(1.0, int(e)).astype(c.real.dtype) * c) for c, e in zip(x, s)] for s in shifts)
    value, exponent, bound = exact(x, x)
    with bench.call(purlin.tt.Contraction, context=bench.context, norm_method=pick(rng, "auto", "inner", "triangle", "qr")) as contraction:
        norm = bench.call(contraction.norm_scaled, a)
        shift = int(np.clip(2 * (norm.exponent - int(shifts[0].sum())) - exponent, -3000, 3000))
        square = np.ldexp(complex(norm.mantissa).real ** 2, shift)
        require(abs(square - value.real) <= 4000 * epsilon(dtype) * bound, f"norm of {modes} with {shifts[0]}: {square}, exact {value.real}")
        if shifts[0].sum() != shifts[1].sum():
            more = int(shifts[0].sum() - shifts[1].sum())
            parts = np.full(d, more // d) + (np.arange(d) < more % d)
            if np.abs(shifts[1] + parts).max() > top:
                return
            b = [np.asfortranarray(np.ldexp(1.0, int(e)).astype(c.real.dtype) * c) for c, e in zip(x, shifts[1] + parts)]
        apart = bench.call(contraction.distance_scaled, a, b)
        size = float(norm.log_abs) + np.log(1e3 * epsilon(dtype) * max(np.sqrt(bound / max(value.real, 1e-300)), 1))
        require(complex(apart.mantissa) == 0 or apart.log_abs <= size, f"distance of {modes} to itself with {shifts}: {apart}, norm {norm}")
    bench.outcomes["solved"] += 1


def hidden(rng: np.random.Generator, bench: Bench) -> None:
    """NaN behind a core of zeros, or where an operator multiplies by zeros alone, makes results NaN."""
    n = int(rng.integers(2, 6))
    x, y = random_train(rng, [2] * n, False, np.float64, False), random_train(rng, [2] * n, False, np.float64, False)
    at, value = int(rng.integers(n)), int(rng.integers(2))
    x[at][int(rng.integers(x[at].shape[0])), value, int(rng.integers(x[at].shape[2]))] = pick(rng, np.nan, np.inf)
    if rng.random() < 0.5:
        x[(at + 1) % n][:] = 0
    keep = np.zeros((2, 2))
    keep[1 - value, 1 - value] = 1.0
    h = bench.call(purlin.tt.from_terms, [2] * n, [(1.0, [(k, keep) for k in range(n)])], context=bench.context)
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        for bra, ket in ((x, y), (y, x), (x, x)):
            found = bench.call(contraction.sandwich_scaled, bra, h, ket)
            require(np.isnan(complex(found.mantissa)), f"sandwich of a projector with NaN at {at}: {found}")
            require(np.isnan(complex(bench.call(contraction.inner_scaled, bra, ket).mantissa)), "inner")
        require(np.isnan(complex(bench.call(contraction.norm_scaled, x).mantissa)), "norm")
    for call, arguments in ((purlin.tt.round, (x,)), (purlin.tt.canonicalize, (x, int(rng.integers(n))))):
        try:
            call(*arguments)
            require(False, f"{call.__name__} took a train with NaN")
        except purlin.InvalidArgument:
            pass
    bench.outcomes["reported"] += 1


def workspace(rng: np.random.Generator, bench: Bench) -> None:
    """The plan's bytes suffice as a workspace limit; one byte less is refused, or leads to a plan within it."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    x, y = random_train(rng, modes, True, dtype, False), random_train(rng, modes, rng.random() < 0.5, dtype, False)
    method = pick(rng, "auto", "full", "reduced", "blocked", "halves")
    call = pick(rng, "inner", "norm", "distance")
    arguments = (x,) if call == "norm" else (x, y)
    plan_of = lambda c: getattr(c, {"inner": "plan_inner", "norm": "plan_norm", "distance": "plan_distance"}[call])(*arguments)  # noqa: E731
    refusals = (purlin.InvalidArgument, purlin.NotSupported)
    with purlin.tt.Contraction(context=bench.context, method=method, norm_method="qr" if call == "norm" else "auto") as contraction:
        need = bench.call(plan_of, contraction, allowed=refusals).workspace_bytes
        whole = bench.call(getattr(contraction, call + "_scaled"), *arguments)
    for limit in (need - 1, need, need + 1, need + int(rng.integers(1, 4096))):
        if limit < 1:
            continue
        with purlin.tt.Contraction(
            context=bench.context, method=method, workspace_limit=limit, norm_method="qr" if call == "norm" else "auto"
        ) as contraction:
            try:
                planned = plan_of(contraction).workspace_bytes
            except purlin.InvalidArgument as error:
                require(limit < need, f"{call} {method}: {limit} bytes are refused, {need} were planned: {error}")
                try:
                    getattr(contraction, call + "_scaled")(*arguments)
                    require(False, f"{call} {method}: the plan refuses {limit} bytes, the call takes them")
                except purlin.InvalidArgument:
                    continue
            require(planned <= limit, f"{call} {method}: {planned} bytes are planned within {limit}")
            found = bench.call(getattr(contraction, call + "_scaled"), *arguments)
            info = contraction.last_info()
            require(info.workspace_bytes == planned, f"{call} {method}: {info.workspace_bytes} bytes, {planned} were planned")
            if complex(whole.mantissa) != 0:
                require(abs(found.log_abs - whole.log_abs) < 1e-1, f"{call} {method} within {limit}: {found}, {whole}")
    bench.outcomes["solved"] += 1


def spins(rng: np.random.Generator, bench: Bench) -> None:
    """A real Hamiltonian of real and imaginary factors is real, and the dense one."""
    n = int(rng.integers(2, 6))
    sx, sy, sz = np.array([[0, 0.5], [0.5, 0]]), np.array([[0, -0.5j], [0.5j, 0]]), np.diag([0.5, -0.5])
    site = lambda op, k: np.kron(np.kron(np.eye(2**k), op), np.eye(2 ** (n - k - 1)))  # noqa: E731
    terms, dense = [], np.zeros((2**n, 2**n), complex)
    for k in range(n - 1):
        for op in (sx, sy, sz):
            weight = float(rng.standard_normal())
            given = op.astype(complex) if rng.random() < 0.5 else op
            terms.append((weight, [(k, given), (k + 1, op)]))
            dense += weight * site(op, k) @ site(op, k + 1)
    h = bench.call(purlin.tt.from_terms, [2] * n, terms, dtype=np.float64, context=bench.context)
    x = random_train(rng, [2] * n, False, np.float64, False)
    v = dense_of(x)
    found, wanted = bench.call(purlin.tt.sandwich, x, h, x, context=bench.context), (v.conj() @ dense @ v).real
    require(abs(found - wanted) <= 1e-11 * np.linalg.norm(v) ** 2 * n, f"spins of {n} sites: {found}, exact {wanted}")
    bench.outcomes["solved"] += 1


def ranges(rng: np.random.Generator, bench: Bench) -> None:
    """Products of trains whose cores are near the ends of the range: right, or refused as beyond it."""
    modes = modes_of(rng)
    x, y = random_train(rng, modes, False, np.float64, False), random_train(rng, modes, False, np.float64, False)
    d = len(modes)
    shifts = rng.integers(-900, 901, d)
    shifts[-1] = np.clip(-shifts[:-1].sum(), -900, 900)
    left = int(shifts.sum())
    big = [np.asfortranarray(np.ldexp(c, int(e))) for c, e in zip(x, shifts)]
    for name in ("hadamard", "hadamard_round"):
        found = bench.call(getattr(purlin.tt, name), big, big, context=bench.context, allowed=(purlin.Numerical,))
        train = getattr(found, "train", found)
        with purlin.tt.Contraction(context=bench.context) as contraction:
            got = bench.call(contraction.inner_scaled, y, train)
        square = [np.einsum("anb,cnd->acnbd", c, c).reshape(c.shape[0] ** 2, c.shape[1], -1) for c in x]
        value, exponent, bound = exact(y, square)
        close(got, (value, exponent + 2 * left, bound), 1e-13, f"{name} {modes} {shifts}")
    bench.outcomes["solved"] += 1


ATTACKS = {
    "inner": inner,
    "gauges": gauges,
    "moved": moved,
    "hidden": hidden,
    "workspace": workspace,
    "spins": spins,
    "ranges": ranges,
    "not_finite": not_finite,
    "distance": distance,
    "truncation": truncation,
    "operators": operators,
}
