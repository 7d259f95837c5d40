"""Attacks on environments, local expectations, correlations, canonical forms and decompositions of tensor trains. Oracles:
dense tensors, contracted by einsum."""

from __future__ import annotations

from typing import Any

import numpy as np
import purlin

from attack import ALL, Bench, epsilon, orthonormal, pick, require
from trains import dense_of, random_train


def modes_of(rng: np.random.Generator) -> list[int]:
    return [int(n) for n in rng.integers(1, 4, int(pick(rng, 1, 2, 3, 4, 5)))]


def operator_train(rng: np.random.Generator, modes: list[int], cyclic: bool, dtype: Any) -> list[np.ndarray]:
    """Random cores (w, m, n, w') of an operator."""
    d = len(modes)
    ranks = [int(r) for r in rng.integers(1, 4, d + 1)]
    ranks[0] = ranks[d] = int(rng.integers(1, 4)) if cyclic else 1
    made = []
    for k, n in enumerate(modes):
        core = rng.standard_normal((ranks[k], n, n, ranks[k + 1]))
        if np.dtype(dtype).kind == "c":
            core = core + 1j * rng.standard_normal(core.shape)
        made.append(np.asfortranarray(core.astype(dtype)))
    return made


def left_of(bra: list[np.ndarray], h: list[np.ndarray], ket: list[np.ndarray], bond: int, size: bool = False) -> np.ndarray:
    """All of the network left of a bond with its first bonds open: (a0, w0, b0, a, w, b). With `size` of moduli."""
    take = (lambda c: np.abs(c).astype(float)) if size else (lambda c: c.astype(np.complex128))
    a, w, b = bra[0].shape[0], h[0].shape[0], ket[0].shape[0]
    state = np.einsum("ax,by,cz->abcxyz", np.eye(a), np.eye(w), np.eye(b))
    for k in range(bond):
        state = np.einsum("abcxyz,xmp,ymnq,znr->abcpqr", state, take(bra[k]).conj(), take(h[k]), take(ket[k]), optimize=True)
    return state


def right_of(bra: list[np.ndarray], h: list[np.ndarray], ket: list[np.ndarray], bond: int, size: bool = False) -> np.ndarray:
    """All of the network right of a bond with its last bonds open: (a, w, b, ad, wd, bd)."""
    if bond == len(bra):
        a, w, b = bra[-1].shape[2], h[-1].shape[3], ket[-1].shape[2]
        return np.einsum("ax,by,cz->abcxyz", np.eye(a), np.eye(w), np.eye(b))
    return left_of(bra[bond:], h[bond:], ket[bond:], len(bra) - bond, size)


def network(rng: np.random.Generator, wide: bool) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], bool, Any, str]:
    """A bra, an operator and a ket; open, or rings."""
    modes, dtype, cyclic = modes_of(rng), pick(rng, *ALL), rng.random() < 0.3
    bra, ket = (random_train(rng, modes, cyclic, dtype, False) for _ in range(2))
    bra, ket = ([c[: 3 if k or cyclic else 1, :, : 3 if k < len(t) - 1 or cyclic else 1] for k, c in enumerate(t)] for t in (bra, ket))
    bra, ket = ([np.asfortranarray(c) for c in t] for t in (bra, ket))
    has_operator = wide and rng.random() < 0.7
    h = operator_train(rng, modes, cyclic and rng.random() < 0.5, dtype) if has_operator else [np.eye(n)[None, :, :, None] for n in modes]
    label = f"{modes} ranks {[c.shape[0] for c in bra]} {[c.shape[0] for c in ket]} {np.dtype(dtype).name} cyclic={cyclic} operator={has_operator}"
    return bra, h, ket, has_operator, dtype, label


def scaled(values: np.ndarray, exponent: int) -> np.ndarray:
    return np.asarray(values, np.complex128) * 2.0**exponent


def environments(rng: np.random.Generator, bench: Bench) -> None:
    """<y|H|x> at every bond, the effective operator of 0 to 2 sites, one-site values, before and after a core is changed."""
    bra, h, ket, has_operator, dtype, label = network(rng, True)
    d = len(bra)
    made = bench.call(
        purlin.tt.Environments, bra, ket, [c for c in h] if has_operator else None, context=bench.context, allowed=(purlin.NotSupported,)
    )
    with made:
        for step in range(2):
            exact = np.einsum("abcabc->", left_of(bra, h, ket, d))
            size = float(np.einsum("abcabc->", left_of(bra, h, ket, d, True)))
            # The rounding of a contraction is a few eps for each index that it sums over, of the sum of moduli.
            limit = 500 * epsilon(dtype) * size
            for bond in rng.permutation(d + 1):
                found = bench.call(made.value, int(bond))
                value = complex(found.mantissa) * 2.0**found.exponent
                require(abs(value - exact) <= limit, f"environments {label} bond {bond} step {step}: {value}, exact {exact}, limit {limit:.1e}")
            sites = int(rng.integers(0, min(2, d) + 1))
            k = int(rng.integers(0, d - sites + 1))
            shape = (ket[k].shape[0] if k < d else ket[-1].shape[2], *(c.shape[1] for c in ket[k : k + sites]), ket[k + sites - 1].shape[2] if sites else (ket[k].shape[0] if k < d else ket[-1].shape[2]))
            v = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else 0)
            v = v.astype(dtype)
            inside = [h[k + i] for i in range(sites)]

            def effective(parts: Any, given: np.ndarray, moduli: bool) -> np.ndarray:
                left, right = left_of(bra, h, ket, k, moduli), right_of(bra, h, ket, k + sites, moduli)
                if sites == 0:
                    return np.einsum("abcxyz,uyvabc,zv->xu", left, right, given, optimize=True)
                if sites == 1:
                    return np.einsum("abcxyz,ymns,usvabc,znv->xmu", left, parts[0], right, given, optimize=True)
                return np.einsum("abcxyz,ymns,spqt,utvabc,znqv->xmpu", left, parts[0], parts[1], right, given, optimize=True)

            out, exponent = bench.call(made.apply, k, v)
            wanted = effective(inside, v.astype(np.complex128), False)
            bound = effective([np.abs(c) for c in inside], np.abs(v).astype(float), True)
            error = np.abs(scaled(out, exponent) - wanted)
            # Environments have one power of two for all entries, so small entries have the largest one's rounding error.
            require(error.max() <= 500 * epsilon(dtype) * bound.max(), f"environments {label} apply {sites} sites from {k}: off by {error.max():.2e} of {bound.max():.2e}")
            if not has_operator:
                at = int(rng.integers(d))
                op = rng.standard_normal((bra[at].shape[1],) * 2)
                turned = [*h[:at], op[None, :, :, None], *h[at + 1 :]]
                wanted = np.einsum("abcabc->", left_of(bra, turned, ket, d))
                bound = float(np.einsum("abcabc->", left_of(bra, turned, ket, d, True)))
                found = bench.call(made.local, at, op)
                value = complex(found.mantissa) * 2.0**found.exponent
                require(abs(value - wanted) <= 500 * epsilon(dtype) * bound, f"environments {label} local {at}: {value}, exact {wanted}")
            at = int(rng.integers(d))
            # In place: the trains use these arrays.
            bra[at][...] = bra[at] * 2 + np.array(0.5, dtype)
            ket[at][...] = ket[at] - np.array(0.25, dtype)
            bench.call(made.update_core, at)
    bench.outcomes["solved"] += 1


def dense_state(x: list[np.ndarray]) -> np.ndarray:
    """The tensor of a train or a ring."""
    state = np.einsum("ab->ab", np.eye(x[0].shape[0], dtype=np.complex128))[:, None, :]
    for core in x:
        state = np.einsum("apb,bnc->apnc", state, core.astype(np.complex128)).reshape(x[0].shape[0], -1, core.shape[2])
    return np.einsum("apa->p", state).reshape([c.shape[1] for c in x])


def at_site(psi: np.ndarray, op: np.ndarray, k: int) -> np.ndarray:
    return np.moveaxis(np.tensordot(op, psi, axes=(1, k)), 0, k)


def expectations(rng: np.random.Generator, bench: Bench) -> None:
    """<x|A_k|x> / <x|x> and <x|A_k B_l|x> / <x|x> of any pair of sites, elements and the dense tensor."""
    d, n, dtype, cyclic = int(pick(rng, 1, 2, 3, 5)), int(rng.integers(1, 4)), pick(rng, *ALL), rng.random() < 0.3
    x = random_train(rng, [n] * d, cyclic, dtype, False)
    psi = dense_state(x)
    # The largest that the sums of moduli of its entries may be: rounding is measured by it.
    size = float(np.linalg.norm(dense_state([np.abs(c) for c in x]))) ** 2 / max(float(np.linalg.norm(psi)) ** 2, 1e-300)
    a, b = (rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if rng.random() < 0.4 else 0) for _ in range(2))
    label = f"expectations of {d} sites of {n} {np.dtype(dtype).name} cyclic={cyclic}"
    limit = 500 * epsilon(dtype) * size
    if not limit < 1e-2:
        return
    square = np.vdot(psi, psi)
    values = np.array([np.vdot(psi, at_site(psi, a, k)) for k in range(d)]) / square
    strength = np.linalg.norm(np.abs(a)), np.linalg.norm(np.abs(b))
    with bench.call(purlin.tt.Contraction, context=bench.context) as contraction:
        sites = [int(k) for k in rng.integers(0, d, int(rng.integers(0, 2 * d + 1)))]
        found = bench.call(contraction.expect_local, x, a, sites, allowed=(purlin.NotSupported,))
        require(np.abs(found - values[sites]).max(initial=0) <= limit * strength[0], f"{label} at {sites}: {found}, exact {values[sites]}")
        matrix = bench.call(contraction.correlation, x, a, b, allowed=(purlin.NotSupported,))
    wanted = np.array([[np.vdot(psi, at_site(at_site(psi, b, l), a, k)) for l in range(d)] for k in range(d)]) / square
    require(np.abs(matrix - wanted).max() <= limit * strength[0] * strength[1], f"{label}: correlation {matrix}, exact {wanted}")
    bound = 100 * epsilon(dtype) * np.abs(dense_state([np.abs(c) for c in x])).max()
    require(np.abs(np.asarray(bench.call(purlin.tt.full, x, context=bench.context)) - psi).max() <= bound, f"{label}: full")
    tuples = rng.integers(0, n, (int(rng.integers(0, 6)), d))
    found = bench.call(purlin.tt.elements, x, tuples, context=bench.context)
    require(np.abs(found - psi[tuple(tuples.T)]).max(initial=0) <= bound, f"{label}: elements")
    bench.outcomes["solved"] += 1


def canonical(rng: np.random.Generator, bench: Bench) -> None:
    """The same tensor with orthonormal cores left and right of the centre; cores of any scale, of deficient rank, of zeros."""
    modes, dtype = modes_of(rng), pick(rng, *ALL)
    x = random_train(rng, modes, False, dtype, False)
    d, kind = len(x), pick(rng, "plain", "zero", "deficient", "graded")
    if kind == "zero":
        x[int(rng.integers(d))][:] = 0
    if kind == "deficient":
        for core in x[1:]:
            core[-1] = core[0]
    shifts = np.zeros(d, int)
    if kind == "graded":
        reach = 100 if np.dtype(dtype).char in "fF" else 900
        shifts = rng.integers(-reach, reach + 1, d)
    given = [np.asfortranarray(np.ldexp(1.0, int(e)).astype(c.real.dtype) * c) for c, e in zip(x, shifts)]
    centre = int(rng.integers(d))
    found, exponent = bench.call(purlin.tt.canonicalize, given, centre, context=bench.context)
    cores = [np.asarray(c) for c in found.cores]
    label = f"canonical {modes} {np.dtype(dtype).name} {kind} centre {centre} {shifts}"
    eps = epsilon(dtype)
    for k, core in enumerate(cores):
        if k == centre or kind == "zero":
            continue
        unfolded = core.reshape(-1, core.shape[2], order="F") if k < centre else core.reshape(core.shape[0], -1, order="F").conj().T
        orthonormal(unfolded, 100 * eps * max(unfolded.shape), f"{label}: core {k}")
    # The power of two of both sides is taken out of the centre.
    shift = exponent - int(shifts.sum())
    middle = cores[centre].astype(np.complex128)
    cores[centre] = np.ldexp(middle.real, shift) + 1j * np.ldexp(middle.imag, shift)
    wanted, made = dense_of(x), dense_of(cores)
    bound = 200 * eps * d * float(np.prod([np.linalg.norm(c.ravel()) for c in x]))
    require(np.linalg.norm(made - wanted) <= bound, f"{label}: differs by {np.linalg.norm(made - wanted):.2e}, limit {bound:.2e}")
    bench.outcomes["solved"] += 1


def decompositions(rng: np.random.Generator, bench: Bench) -> None:
    """tt.svd of dense tensors: the requested error, the smallest ranks that reach it, and the reported bound."""
    shape, dtype = [int(n) for n in rng.integers(1, 6, int(rng.integers(1, 6)))], pick(rng, *ALL)
    kind = pick(rng, "random", "train", "zero", "ones", "scaled")
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else 0)
    if kind == "train":
        a = dense_state([c[: (2 if k else 1), :, : (2 if k < len(shape) - 1 else 1)] for k, c in enumerate(random_train(rng, shape, False, np.float64, False))]).real
    if kind in ("zero", "ones"):
        a = np.zeros(shape) if kind == "zero" else np.ones(shape)
    scale = 1.0 if kind != "scaled" else 10.0 ** float(rng.uniform(-30, 30) if epsilon(dtype) > 1e-10 else rng.uniform(-290, 290))
    with np.errstate(over="ignore", under="ignore"):
        a = np.asfortranarray((a * scale).astype(dtype))
    eps = epsilon(dtype)
    requested = float(pick(rng, 0.0, 10.0 ** -rng.uniform(0.3, 6 if eps > 1e-10 else 13)))
    label = f"svd {kind} {shape} {np.dtype(dtype).name} {requested:.1e} scale {scale:.0e}"
    found = bench.call(purlin.tt.svd, a, requested, context=bench.context)
    made = dense_of([np.asarray(c) for c in found.train.cores]).reshape(shape) / scale
    wide = a.astype(np.complex128) / scale
    norm, error = float(np.linalg.norm(wide.ravel())), float(np.linalg.norm((made - wide).ravel()))
    rounding = 50 * eps * len(shape) * np.sqrt(a.size)
    require(error <= (requested * (1 + 1e-6) + rounding) * norm, f"{label}: relative error {error / max(norm, 1e-300):.2e}")
    if norm > 0:
        require(error <= (found.error * (1 + 1e-6) + rounding) * norm, f"{label}: error {error / norm:.2e}, reported are {found.error:.2e}")
        require(abs(found.log_norm - np.log(norm) - np.log(scale)) <= 1e-4 * max(1, abs(np.log(scale))), f"{label}: log_norm {found.log_norm}")
    ranks = [c.shape[2] for c in found.train.cores][:-1]
    for k, rank in enumerate(ranks):
        # A unfolded at the bond: no rank beyond those of all singular values is needed.
        values = np.linalg.svd(wide.reshape(int(np.prod(shape[: k + 1])), -1), compute_uv=False)
        most = max(1, int(np.sum(values > 0.1 * eps * values[0])))
        require(rank <= most, f"{label}: rank {rank} at bond {k}, {most} are all")
    if kind in ("zero", "ones"):
        require(all(r == 1 for r in ranks), f"{label}: ranks {ranks}")
    bench.outcomes["solved"] += 1


ATTACKS = {"environments": environments, "expectations": expectations, "canonical": canonical, "decompositions": decompositions}
