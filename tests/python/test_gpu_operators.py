"""Matrices known by products that the caller enqueues on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purlin
from purlin import graph, lanczos, rsvd, sparse, spmv

pytestmark = pytest.mark.skipif(not purlin.devices(), reason="no GPU")
N = 700


@pytest.fixture
def cupy() -> Any:
    return pytest.importorskip("cupy")


def hermitian(dtype: str) -> Any:
    random = np.random.default_rng(11)
    a = random.standard_normal((N, N))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * random.standard_normal((N, N))
    return ((a + a.conj().T) / np.sqrt(N)).astype(dtype)


class Counted:
    """Products with a dense matrix of CuPy's on the stream that is named; counts vectors."""

    def __init__(self, cupy: Any, a: Any) -> None:
        self.cupy, self.a, self.calls, self.streams = cupy, a, 0, set[int]()

    def __call__(self, x: Any, y: Any, stream: int) -> None:
        self.calls += x.shape[1]
        self.streams.add(stream)
        with self.cupy.cuda.ExternalStream(stream):
            self.cupy.asarray(y)[...] = self.a @ self.cupy.asarray(x)


def test_pytorch_takes_the_vectors_in_place(gpu: purlin.Context) -> None:
    torch = pytest.importorskip("torch")
    full = hermitian("float64")
    there = torch.as_tensor(full, device="cuda")

    def product(x: Any, y: Any, stream: int) -> None:
        with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
            torch.as_tensor(y, device="cuda").copy_(there @ torch.as_tensor(x, device="cuda"))

    a = purlin.Matrix.from_device_operator(product, product, (N, N), "float64", context=gpu)
    exact = np.linalg.eigvalsh(full)
    np.testing.assert_allclose(np.sort(lanczos.run(a, 3).pairs.values), exact[-3:], rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("block", [1, 4])
def test_eigenpairs_of_a_device_operator(gpu: purlin.Context, cupy: Any, dtype: str, block: int) -> None:
    full = hermitian(dtype)
    product = Counted(cupy, cupy.asarray(full))
    a = purlin.Matrix.from_device_operator(product, product, (N, N), dtype, context=gpu)
    fine = np.finfo(dtype).eps * 1e3
    solution = lanczos.run(a, 5, "both_ends", block=block, tolerance=fine)
    exact = np.linalg.eigvalsh(full)
    np.testing.assert_allclose(np.sort(solution.pairs.values), np.r_[exact[:2], exact[-3:]], atol=20 * fine)
    x = solution.pairs.vectors
    assert x is not None
    assert np.abs(full @ x - x * solution.pairs.values).max() < 200 * fine
    assert product.calls >= solution.info.products and all(product.streams)


def test_shifts_and_gram_matrices_of_device_operators(gpu: purlin.Context, cupy: Any) -> None:
    random = np.random.default_rng(5)
    full = random.standard_normal((400, 90))
    there = cupy.asarray(full)
    a = purlin.Matrix.from_device_operator(
        Counted(cupy, there), Counted(cupy, there.T.copy()), full.shape, context=gpu
    )
    exact = np.linalg.svd(full, compute_uv=False)
    found = lanczos.solve(a, 3, kind="gram", vectors=False).values
    np.testing.assert_allclose(found, exact[:3] ** 2, rtol=1e-9)
    found = lanczos.solve(a, 3, kind="augmented", vectors=False).values
    np.testing.assert_allclose(found, exact[:3], rtol=1e-9)
    symmetric = hermitian("float64")
    product = Counted(cupy, cupy.asarray(symmetric))
    b = purlin.Matrix.from_device_operator(product, product, (N, N), context=gpu)
    found = lanczos.solve(b, 2, shift=10.0, vectors=False).values
    np.testing.assert_allclose(found, 10 + np.linalg.eigvalsh(symmetric)[:-3:-1], rtol=1e-9)
    decomposed = rsvd.compute(a, 5, power_iterations=12, seed=1, context=gpu)
    np.testing.assert_allclose(decomposed.s, exact[:5], rtol=2e-2)


def test_another_matrix_for_the_adjoint_of_a_device_operator_is_refused(gpu: purlin.Context, cupy: Any) -> None:
    full = np.random.default_rng(6).standard_normal((300, 80))
    there, back = cupy.asarray(full), cupy.asarray(full.T.copy())
    back[:, 7] *= -1.0
    a = purlin.Matrix.from_device_operator(Counted(cupy, there), Counted(cupy, back), full.shape, context=gpu)
    for kind in ["gram", "outer_gram", "augmented"]:
        with pytest.raises(purlin.InvalidArgument, match="adjoint is not that of A"):
            lanczos.solve(a, 3, kind=kind)
    for which in ["largest", "smallest"]:
        with pytest.raises(purlin.InvalidArgument, match="adjoint is not that of A"):
            lanczos.singular(a, 3, which)


def test_inner_eigenpairs_by_solves_on_the_device(gpu: purlin.Context, cupy: Any) -> None:
    full = hermitian("float64")
    product = Counted(cupy, cupy.asarray(full))
    inverse = Counted(cupy, cupy.linalg.inv(cupy.asarray(full) - 0.1 * cupy.eye(N)))
    a, solve = (
        purlin.Matrix.from_device_operator(f, f, (N, N), context=gpu) for f in (product, inverse)
    )
    found = lanczos.run(a, 4, "nearest", sigma=0.1, solve=solve)
    exact = np.linalg.eigvalsh(full)
    wanted = exact[np.argsort(np.abs(exact - 0.1))[:4]]
    np.testing.assert_allclose(found.pairs.values, wanted, atol=1e-9)
    assert inverse.calls > 4


def test_an_exception_of_a_device_operator_is_raised(gpu: purlin.Context, cpu: purlin.Context, cupy: Any) -> None:
    def fails(x: Any, y: Any, stream: int) -> None:
        raise KeyError("mine")

    a = purlin.Matrix.from_device_operator(fails, fails, (300, 300), context=gpu)
    with pytest.raises(KeyError, match="mine"):
        lanczos.solve(a, 3)

    def skewed(x: Any, y: Any, stream: int) -> None:
        with cupy.cuda.ExternalStream(stream):
            cupy.asarray(y)[...] = cupy.nan

    with pytest.raises(purlin.Error):
        lanczos.solve(purlin.Matrix.from_device_operator(skewed, skewed, (300, 300), context=gpu), 3)
    with pytest.raises(purlin.NotSupported, match="location: needs a context on a GPU"):
        purlin.Matrix.from_device_operator(fails, fails, (300, 300), context=cpu)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_filters_and_images_are_multiplied_on_the_device(gpu: purlin.Context, cpu: purlin.Context, cupy: Any, dtype: str) -> None:
    random = np.random.default_rng(3)
    image = random.random((23, 31)).astype(dtype)
    x = random.standard_normal((image.size, 3)).astype(dtype)
    given: dict[str, Any] = {"radius": 2.5, "intensity": 0.3, "floor": 1e-3}
    on = {c: graph.operator_of_image(image, context=c, **given) for c in (cpu, gpu)}
    formed = graph.of_image(image, context=gpu, **given)
    eps = np.finfo(dtype).eps
    for kind in ("matrix", "normalized_laplacian", "random_walk_laplacian", "modularity"):
        for degree in (0, 5):
            how: dict[str, Any] = {"kind": kind, "shift": 0.25}
            if degree:
                how.update(degree=degree, lower=-1.0, upper=20.0)
            want = spmv.Plan(on[cpu], **how) @ x
            for w in (on[gpu], formed):
                plan = spmv.Plan(w, **how)
                for block in (x, np.asfortranarray(x), x[:, 0].copy()):
                    near = want if block.ndim == 2 else want[:, 0]
                    assert np.abs(plan @ block - near).max() < 300 * eps * np.abs(want).max()
                    there = cupy.asnumpy(plan @ cupy.asarray(block)) if block.flags.c_contiguous else near
                    assert np.abs(there - near).max() < 300 * eps * np.abs(want).max()


def test_functions_on_the_host_are_planned_in_a_context_on_a_gpu(gpu: purlin.Context, cupy: Any) -> None:
    full = np.random.default_rng(6).standard_normal((40, 30))
    a = purlin.Matrix.from_operator(lambda x: full @ x, lambda x: full.T @ x, full.shape, np.float64, context=gpu)
    x = np.random.default_rng(7).standard_normal((30, 2))
    plan, gram = spmv.Plan(a), spmv.Plan(a, kind="gram", shift=2.0)
    for given in (x, cupy.asarray(x)):
        np.testing.assert_allclose(cupy.asnumpy(cupy.asarray(plan @ given)), full @ x, rtol=1e-12)
        want = full.T @ (full @ x) + 2 * x
        np.testing.assert_allclose(cupy.asnumpy(cupy.asarray(gram @ given)), want, rtol=1e-12, atol=1e-12)


def test_sparse_matrices_are_copied_to_the_device_and_back(gpu: purlin.Context) -> None:
    full = np.where(np.random.default_rng(9).random((50, 50)) < 0.2, 1.5, 0.0)
    full = full + full.T
    a = sparse.from_dense(full, context=gpu)
    there = sparse.copy_to(a, "device")
    np.testing.assert_allclose(spmv.Plan(there) @ np.ones(50), full.sum(1))
    np.testing.assert_allclose(lanczos.solve(there, 2).values, np.linalg.eigvalsh(full)[::-1][:2], rtol=1e-10)
    np.testing.assert_array_equal(sparse.to_dense(sparse.transpose(there)), full.T)
    back = sparse.copy_to(there, "host")
    np.testing.assert_array_equal(sparse.to_dense(sparse.transpose(back)), full.T)
    sparse.set_values(there, 2 * np.asarray(back.arrays()[2]))
    np.testing.assert_allclose(spmv.Plan(there) @ np.ones(50), 2 * full.sum(1))


def test_graphs_in_single_precision_and_symmetry(gpu: purlin.Context, cpu: purlin.Context) -> None:
    n = 200
    i = np.arange(n - 1)
    path = [
        sparse.from_coordinates(
            np.r_[i, i + 1], np.r_[i + 1, i], np.ones(2 * n - 2, dtype), (n, n), context=gpu
        )
        for dtype in (np.float32, np.float64)
    ]
    single, wide = (graph.embed(w, 2, basis=60).values for w in path)
    assert np.abs(single - wide).max() < 1e-5
    own = purlin.Matrix.from_operator(
        lambda x: np.triu(np.ones((9, 9))) @ x, lambda x: np.tril(np.ones((9, 9))) @ x, (9, 9), np.float64, context=gpu
    )
    with pytest.raises(purlin.InvalidArgument, match="a: is not symmetric"):
        lanczos.solve(own, 1, check_symmetry=True)
