"""Calls of all families that the attacks of `calls.py` and `memory.py` make: under limits, on other threads, cancelled, refused.

A job is made from a random generator, which draws its input. It is a function of a context, a progress function and `put`, which
places input arrays (on a device), and gives its results as arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import purlin

from attack import Bench, Refused, pick, require
from diffusion import directions
from spectra import csr, cycle, product, structured_graph

Results = tuple[np.ndarray, ...]
Job = Callable[..., Results]


def on_host(array: Any) -> np.ndarray:
    """A result as a NumPy array, copied from the device if needed: CuPy's arrays have `get`, torch's `cpu`."""
    if isinstance(array, (purlin.Tensor, purlin.Matrix)):
        return array.numpy()
    if hasattr(array, "get"):
        return np.asarray(array.get())
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def keep(array: np.ndarray) -> Any:
    return array


def sparse_of(a: np.ndarray, context: Any) -> purlin.Matrix:
    return csr(a, SimpleNamespace(context=context))


def spectral(rng: np.random.Generator) -> Job:
    _, a = structured_graph(rng)
    k, seed = int(rng.integers(1, min(len(a), 5) + 1)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        pairs = purlin.lanczos.solve(sparse_of(a, context), k, context=context, seed=seed, progress=progress)
        return pairs.values, on_host(pairs.vectors)

    return run


def filtered(rng: np.random.Generator) -> Job:
    """Chebyshev filters, and blocks of vectors."""
    _, a = structured_graph(rng)
    k, seed = int(rng.integers(1, min(len(a), 4) + 1)), int(rng.integers(1 << 30))
    ways: list[dict[str, Any]] = [{"filter": "chebyshev"}, {"filter": "chebyshev", "degree": 12}, {"block": 2}, {"block": 3}]
    options = pick(rng, *ways)

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        pairs = purlin.lanczos.solve(sparse_of(a, context), k, context=context, seed=seed, progress=progress, **options)
        return pairs.values, on_host(pairs.vectors)

    return run


def singular(rng: np.random.Generator) -> Job:
    m, n = (int(v) for v in rng.integers(2, 200, 2))
    a = (rng.random((m, n)) < 0.2) * rng.standard_normal((m, n))
    k, seed = int(rng.integers(1, min(m, n, 5) + 1)), int(rng.integers(1 << 30))
    through = pick(rng, "auto", "gram", "augmented")

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        found = purlin.lanczos.singular(sparse_of(a, context), k, through=through, context=context, seed=seed, progress=progress)
        u, s, v = found.triplets
        return on_host(u), np.asarray(s), on_host(v)

    return run


def eigenpairs(rng: np.random.Generator) -> Job:
    entries, seed = rng.standard_normal((int(rng.integers(1, 400)), 15)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        found = purlin.sshopm.solve(put(entries), 4, context=context, start_kind="random", seed=seed, progress=progress)
        return found.values, found.vectors, found.count

    return run


def every_pair(rng: np.random.Generator) -> Job:
    order, n = pick(rng, (3, 3), (4, 2), (4, 3), (3, 4))
    entries = rng.standard_normal((int(rng.integers(1, 12)), purlin.symmetric.count(order, n)))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        found = purlin.sshopm.solve_all(put(entries), order=order, dimension=n, context=context, progress=progress)
        return found.values, found.vectors, found.count, found.status, found.morse_sum

    return run


def low_rank(rng: np.random.Generator) -> Job:
    m, n = (int(v) for v in rng.integers(1, 300, 2))
    a, k, seed = rng.standard_normal((m, n)), int(rng.integers(1, min(m, n) + 1)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        found = purlin.rsvd.compute(put(a), k, context=context, seed=seed, progress=progress)
        return on_host(found.U), np.asarray(found.s), on_host(found.Vt)

    run.error = lambda found: truncation(a, k, (found[0] * found[1]) @ found[2])  # type: ignore[attr-defined]
    return run


def streamed(rng: np.random.Generator) -> Job:
    """Singular triplets of a matrix that a function delivers."""
    m, n = (int(v) for v in rng.integers(2, 200, 2))
    a, k, seed = rng.standard_normal((m, n)), int(rng.integers(1, min(m, n, 20) + 1)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        source = purlin.blocks.Source.from_function(lambda where: a[where], a.shape, a.dtype, context=context)
        with source:
            found = purlin.rsvd.compute(source, k, context=context, seed=seed, progress=progress)
        return on_host(found.U), np.asarray(found.s), on_host(found.Vt)

    run.error = lambda found: truncation(a, k, (found[0] * found[1]) @ found[2])  # type: ignore[attr-defined]
    return run


def components(rng: np.random.Generator) -> Job:
    m, n = (int(v) for v in rng.integers(2, 200, 2))
    a, k, seed = rng.standard_normal((m, n)), int(rng.integers(1, min(m, n, 10) + 1)), int(rng.integers(1 << 30))
    centred = a - a.mean(axis=0)

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        with purlin.pca.PCA(k, context=context, seed=seed, progress=progress) as model:
            scores = on_host(model.fit_transform(put(a)))
            return scores, np.asarray(model.components_), np.asarray(model.mean_)

    run.error = lambda found: truncation(centred, k, found[0] @ found[1])  # type: ignore[attr-defined]
    return run


def robust(rng: np.random.Generator) -> Job:
    m, n = (int(v) for v in rng.integers(4, 60, 2))
    a = np.outer(rng.standard_normal(m), rng.standard_normal(n)) + (rng.random((m, n)) < 0.05) * 5.0

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        found = purlin.rpca.compute(put(a), context=context, progress=progress)
        return on_host(found.low_rank), on_host(found.sparse)

    return run


def random_cores(rng: np.random.Generator, d: int, r: int, n: int = 3) -> list[np.ndarray]:
    return [np.asfortranarray(rng.standard_normal((1 if k == 0 else r, n, 1 if k == d - 1 else r))) for k in range(d)]


def train(rng: np.random.Generator) -> Job:
    cores = random_cores(rng, int(rng.integers(2, 30)), int(rng.integers(1, 20)))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        given = [put(core) for core in cores]
        with purlin.tt.Contraction(context=context, progress=progress) as contraction:
            found = contraction.inner_scaled(given, given)
        return np.array([found.mantissa.real]), np.array([found.exponent])

    return run


def operators(rng: np.random.Generator) -> Job:
    """<y|H|x>, <x|H|x> / <x|x> and local values of spin chains."""
    d, r = int(rng.integers(2, 10)), int(rng.integers(1, 12))
    x, y = random_cores(rng, d, r, 2), random_cores(rng, d, r, 2)
    coupling, field = rng.standard_normal(2)

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        h = purlin.tt.ising(d, coupling, field, context=context)
        with purlin.tt.Contraction(context=context, progress=progress) as contraction:
            value = contraction.sandwich_scaled(y, h, x)
            energy = contraction.rayleigh(h, x)
            local = contraction.expect_local(x, np.diag([1.0, -1.0]))
            batch = contraction.inner_batch_scaled([x, y, x], [y, y, x])
        scaled = np.array([value.mantissa.real]), np.array([value.exponent])
        return *scaled, np.array([energy]), local, np.asarray(batch.mantissas), np.asarray(batch.exponents)

    return run


def rounded(rng: np.random.Generator) -> Job:
    """Trains that are truncated, applied to, added and multiplied."""
    d, r = int(rng.integers(2, 8)), int(rng.integers(1, 8))
    x, y = random_cores(rng, d, r, 2), random_cores(rng, d, r, 2)
    epsilon = 10.0 ** -float(rng.integers(1, 13))
    centre = int(rng.integers(d))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        h = purlin.tt.ising(d, 1.0, 0.5, context=context)
        made = [
            purlin.tt.round(x, epsilon, context=context).train, purlin.tt.apply(h, x, context=context),
            purlin.tt.apply_round(h, x, epsilon, context=context).train, purlin.tt.add(x, y, context=context),
            purlin.tt.hadamard_round(x, y, epsilon, context=context).train, purlin.tt.canonicalize(x, centre, context=context)[0],
        ]
        return tuple(core for result in made for core in result.cores)

    return run


def environments(rng: np.random.Generator) -> Job:
    d, r = int(rng.integers(2, 12)), int(rng.integers(1, 12))
    cores, bond = random_cores(rng, d, r), int(rng.integers(0, d + 1))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        with purlin.tt.Environments(cores, cores, context=context, progress=progress) as found:
            found.build("left", bond)
            found.build("right", bond)
            left, value = found.get("left", bond), found.value(bond)
        return left[0], np.array([left[1]]), np.array([value.mantissa.real]), np.array([value.exponent])

    return run


def scan(rng: np.random.Generator) -> tuple[Any, np.ndarray, Any]:
    views, columns, rows = int(rng.integers(20, 60)), int(rng.integers(9, 40)), int(rng.integers(3, 20))
    geometry = purlin.fdk.Geometry(columns, rows, 4.0, 4.0, 500.0, 900.0, angles=np.arange(views) * 2 * np.pi / views)
    return geometry, rng.random((views, rows, columns)).astype(np.float32), purlin.fdk.Grid.centred((11, 12, 7), (3.0, 3.0, 3.0))


def tomography(rng: np.random.Generator) -> Job:
    geometry, projections, grid = scan(rng)

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        made = on_host(purlin.fdk.reconstruct(put(projections), geometry, grid, context=context, progress=progress, redundancy="full"))
        # A volume on a device has its extents in the order of the library.
        return (made.T if made.shape == (11, 12, 7) else made,)

    return run


def streamed_scan(rng: np.random.Generator) -> Job:
    """Projections that a function delivers to a volume that a function takes, and a scan that is pushed."""
    geometry, projections, grid = scan(rng)
    pushes = bool(rng.random() < 0.5)

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        volume = np.full((7, 12, 11), np.nan, np.float32)

        def take(where: Any, block: np.ndarray) -> None:
            volume[where] = block

        with purlin.fdk.Reconstruction(geometry, grid, redundancy="full", progress=progress, context=context) as session:
            if pushes:
                session.begin()
                for k in range(0, len(projections), 5):
                    session.push(range(k, min(k + 5, len(projections))), projections[k : k + 5])
                session.finish(volume)
            else:
                blocks = purlin.blocks
                source = blocks.Source.from_function(lambda where: projections[where], projections.shape, np.float32, context=context)
                with source, blocks.Sink.to_function(take, volume.shape, np.float32, context=context) as sink:
                    session.reconstruct(source, sink)
        return (volume,)

    return run


def graph(rng: np.random.Generator) -> Job:
    a = product(cycle(int(rng.integers(3, 12))), cycle(int(rng.integers(3, 12))))
    k, seed = int(rng.integers(2, 5)), int(rng.integers(1 << 30))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        found = purlin.graph.embed(sparse_of(a, context), k, context=context, seed=seed, progress=progress)
        return found.values, on_host(found.coordinates)

    return run


def partitions(rng: np.random.Generator) -> Job:
    """Clusters, the Fiedler vector and the better of the two sides by it."""
    n = int(rng.integers(8, 80))
    a = np.triu(rng.random((n, n)) < 0.3, 1) * rng.random((n, n)) + np.diag(np.ones(n - 1), 1)
    a, seed = a + a.T, int(rng.integers(1 << 30))
    how, parts = pick(rng, "k_means", "pivoted_qr"), int(rng.integers(2, 4))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        given = sparse_of(a, context)
        options: Any = {"context": context, "seed": seed, "progress": progress}
        labels = purlin.graph.cluster(given, parts, how, **options).labels
        found = purlin.graph.fiedler(given, **options)
        sides = purlin.graph.bisect(given, found.vector, context=context).sides
        return labels, np.array([found.value]), np.asarray(found.vector), sides

    return run


def sparse(rng: np.random.Generator) -> Job:
    m, n = (int(v) for v in rng.integers(1, 300, 2))
    a = (rng.random((m, n)) < 0.05) * rng.standard_normal((m, n))
    x = rng.standard_normal(n)

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        plan = purlin.spmv.Plan(sparse_of(a, context), context=context)
        try:
            return (on_host(plan.apply(put(x))),)
        finally:
            plan.close()

    return run


def diffusion(rng: np.random.Generator) -> Job:
    entries = rng.standard_normal((int(rng.integers(1, 200)), 15))

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        found = purlin.dwi.peaks(put(entries), 3, basis="tensor", context=context, progress=progress)
        return np.asarray(found.directions), np.asarray(found.values)

    return run


def signals(rng: np.random.Generator) -> Job:
    """Diffusion tensors, and orientation functions in constant solid angle."""
    voxels, measurements = int(rng.integers(1, 200)), int(rng.integers(40, 60))
    gradients = np.vstack([np.zeros((4, 3)), directions(3, rng, measurements - 4)])
    bvals = np.r_[np.zeros(4), np.full(measurements - 4, 1000.0)]
    given = 1000.0 * np.exp(-rng.random((voxels, measurements)))
    degree, weighting = int(pick(rng, 2, 4, 6)), pick(rng, "ols", "wls")

    def run(context: Any, progress: Any = None, put: Any = keep) -> Results:
        options: Any = {"context": context, "progress": progress}
        fit = purlin.dwi.fit(put(given), bvals, gradients, 4, weighting=weighting, **options)
        csa = purlin.dwi.csa(put(given), bvals, gradients, degree, "mrtrix3", **options)
        return np.asarray(fit.tensors), np.asarray(fit.s0), fit.status, np.asarray(csa.sh), csa.status

    return run


JOBS: dict[str, Callable[[np.random.Generator], Job]] = {
    "spectral": spectral, "filtered": filtered, "singular": singular, "eigenpairs": eigenpairs, "every_pair": every_pair,
    "low_rank": low_rank, "streamed": streamed, "components": components, "robust": robust, "train": train, "operators": operators,
    "rounded": rounded, "environments": environments, "tomography": tomography, "streamed_scan": streamed_scan, "graph": graph,
    "partitions": partitions, "sparse": sparse, "diffusion": diffusion, "signals": signals,
}
# Jobs whose plan, and so the order of sums, depends on the memory limit, with the allowed relative change of their results.
# Robust PCA ends at a residual of 1e-7, and rounding is amplified until then.
ROUNDED_UNDER_LIMITS = {"robust": 1e-6, "train": 1e-9, "operators": 1e-9}
# The same for limits of device memory, under which cuBLAS has a smaller workspace and chooses other orders of sums.
ROUNDED_UNDER_DEVICE_LIMITS = {"rounded": 1e-12}
# Jobs that take arrays on a device, and by how much their results may then differ from those of the same arrays on the host.
ON_DEVICE = {"low_rank": 0.0, "components": 0.0, "robust": 1e-6, "train": 1e-9, "tomography": 1e-5, "sparse": 1e-12, "signals": 1e-9}
# Errors of a job on random input that break no promise.
ALLOWED = (purlin.NoConvergence, purlin.NotSupported, purlin.Numerical)


def finished(bench: Bench, job: Job, context: Any) -> Results:
    try:
        return job(context)
    except ALLOWED as error:
        bench.outcomes[type(error).__name__] += 1
        raise Refused(str(error)) from error


def same(a: Results, b: Results) -> bool:
    return len(a) == len(b) and all(np.array_equal(p, q, equal_nan=True) for p, q in zip(a, b))


def truncation(a: np.ndarray, rank: int, product: np.ndarray) -> tuple[float, float]:
    """The error of a decomposition in the Frobenius norm, and its bound. A memory limit may change the method; without decay
    of the singular values, one with two power iterations comes within a few percent of the best."""
    all_values = np.linalg.svd(a, compute_uv=False)
    best = float(np.sqrt((all_values[rank:] ** 2).sum()))
    return float(np.linalg.norm(a - product)), 1.1 * best + 1e-9 * float(np.linalg.norm(a))


def near(job: Job, most: float, reference: Results, result: Results, label: str) -> None:
    """A result of another order of operations is right: it is as good a decomposition, or differs by rounding."""
    if hasattr(job, "error"):
        error, best = job.error(result)
        require(error <= best, f"{label}: error {error:.3e}, expected {best:.3e} at most")
        return
    require([p.shape for p in reference] == [p.shape for p in result], f"{label}: other shapes")
    apart = max(float(np.abs(p - q).max() / np.abs(p).max()) for p, q in zip(reference, result) if p.any() or q.any())
    require(apart <= most, f"{label}: differs by {apart:.2e}, beyond rounding")


def right(name: str, job: Job, reference: Results, result: Results, label: str) -> None:
    """A result under a limit is that without one, but for rounding where a limit changes the plan."""
    if hasattr(job, "error") or name in ROUNDED_UNDER_LIMITS:
        near(job, ROUNDED_UNDER_LIMITS.get(name, 0.0), reference, result, label)
    else:
        require(same(reference, result), f"{label}: other bits")
