"""Arrays on a GPU, in place from CuPy or PyTorch and against the CPU. Skipped without a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import dwi, rpca, rsvd, sshopm
from purlin.blocks import Source
from purlin.pca import PCA

pytestmark = pytest.mark.skipif(not purlin.devices(), reason="no GPU")
VOLUME = np.random.default_rng(41).standard_normal((4, 5, 6, 15))


@pytest.fixture(params=["cupy", "torch"])
def to_device(request: pytest.FixtureRequest) -> Any:
    """A function that copies a NumPy array to the device, for each installed library."""
    module: Any = pytest.importorskip(request.param)
    return module.asarray if request.param == "cupy" else lambda array: module.from_numpy(array.copy()).cuda()


def test_the_per_thread_default_stream_is_refused(gpu: purlin.Context) -> None:
    with pytest.raises(purlin.InvalidArgument, match="cuda_stream: is the per-thread default stream"):
        purlin.Stream(gpu, cuda_stream=2)


def test_context_is_on_the_device(gpu: purlin.Context) -> None:
    info = gpu.properties
    assert (info.backend, info.device) == ("cuda", 0)
    assert info.device_name == purlin.devices()[0].name


def test_copies_there_and_back(gpu: purlin.Context) -> None:
    array = np.arange(12.0).reshape(3, 4)
    there = purlin.Tensor.create((3, 4), location="device", context=gpu)
    with purlin.Stream(gpu) as stream:
        purlin.Tensor.borrow(array, context=gpu).copy_to(there, stream=stream)
        stream.synchronize()
    assert there.location == "device" and there.__dlpack_device__() == (2, 0)
    np.testing.assert_array_equal(there.numpy(), array)
    pinned = purlin.Tensor.create((3, 4), pinned=True, context=gpu)
    there.copy_to(pinned)
    np.testing.assert_array_equal(pinned.numpy(), array)
    matrix = purlin.Matrix.create(3, 4, location="device", context=gpu)
    purlin.Matrix.dense(np.asfortranarray(array), context=gpu).copy_to(matrix)
    np.testing.assert_array_equal(matrix.numpy(), array)


def test_device_memory_limit() -> None:
    with purlin.Context("cuda", device_memory_limit=1 << 20) as context:
        with pytest.raises(purlin.OutOfDeviceMemory) as caught:
            purlin.Tensor.create((1 << 20,), location="device", context=context)
        assert isinstance(caught.value, MemoryError)


def test_arrays_of_other_libraries_are_taken_in_place(gpu: purlin.Context, to_device: Any) -> None:
    array = to_device(VOLUME)
    tensor = purlin.Tensor.borrow(array, context=gpu)
    assert tensor.location == "device" and tensor.shape == VOLUME.shape
    address = array.data_ptr() if hasattr(array, "data_ptr") else array.data.ptr
    assert tensor.info.data == address
    np.testing.assert_array_equal(tensor.numpy(), VOLUME)
    owned = purlin.Tensor.from_dlpack(array, context=gpu)
    assert owned.info.data == address


def test_a_device_tensor_is_shared_with_pytorch(gpu: purlin.Context) -> None:
    torch: Any = pytest.importorskip("torch")
    tensor = purlin.Tensor.create((2, 3), location="device", context=gpu)
    purlin.Tensor.borrow(np.arange(6.0).reshape(2, 3), context=gpu).copy_to(tensor)
    shared = torch.from_dlpack(tensor)
    del tensor
    assert shared.is_cuda and shared.cpu().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_device_results_are_the_cpus(gpu: purlin.Context, cpu: purlin.Context, to_device: Any, dtype: Any) -> None:
    volume = VOLUME.astype(dtype)
    expected = sshopm.solve(volume, 4, context=cpu)
    for array in (to_device(volume), volume, to_device(np.asfortranarray(volume))):
        found = sshopm.solve(array, 4, context=gpu)
        assert found.values.shape == (4, 5, 6, 4) and found.values.dtype == dtype
        same = found.count == expected.count
        assert same.mean() > 0.97  # another rounding may lead a start elsewhere
        tolerance = 1e-4 if dtype == np.float32 else 1e-9
        np.testing.assert_allclose(found.values[same], expected.values[same], atol=tolerance)


def test_products_and_classes_on_the_device(gpu: purlin.Context, cpu: purlin.Context, to_device: Any) -> None:
    array = to_device(VOLUME)
    vectors = sshopm.starts(7, context=cpu)
    for power in (4, 3, 2):
        np.testing.assert_allclose(
            sshopm.product(array, vectors, power, context=gpu),
            sshopm.product(VOLUME, vectors, power, context=cpu),
            atol=1e-12,
        )
    pairs = sshopm.solve(VOLUME, 1, context=cpu)
    classes = sshopm.classify(array, pairs.values, pairs.vectors, context=gpu)
    np.testing.assert_array_equal(classes.classes, pairs.classes)


def test_peaks_of_a_device_volume(gpu: purlin.Context, cpu: purlin.Context, to_device: Any) -> None:
    expected = dwi.peaks(VOLUME, 3, basis="mrtrix3", context=cpu)
    mask = np.ones((4, 5, 6), bool)
    mask[0] = False
    found = dwi.peaks(to_device(VOLUME), 3, basis="mrtrix3", mask=mask, context=gpu)
    assert (found.status[0] == purlin.TENSOR_MASKED).all()
    strongest = abs(found.values[1:, ..., 0] - expected.values[1:, ..., 0])
    assert np.nanmax(strongest) < 1e-9


def test_results_stay_on_the_device(gpu: purlin.Context, to_device: Any) -> None:
    batch = purlin.Tensor.symmetric(to_device(VOLUME), context=gpu)
    values = purlin.Tensor.create((4, 120), location="device", order="F", context=gpu)
    info = sshopm.solve_into(batch, sshopm.Results(values=values))
    assert info.tensors == 120
    assert np.isfinite(values.numpy()[0]).all()


def test_results_of_a_device_batch_may_go_to_the_host(gpu: purlin.Context, to_device: Any) -> None:
    batch = purlin.Tensor.symmetric(to_device(VOLUME), context=gpu)
    host = purlin.Tensor.create((4, 120), order="F", context=gpu)
    sshopm.solve_into(batch, sshopm.Results(values=host))
    expected = sshopm.solve(VOLUME, 4, context=gpu).values.reshape(120, 4)
    np.testing.assert_allclose(host.numpy()[0], expected[:, 0], rtol=1e-12)


def test_a_strided_device_array_is_refused_and_not_copied(gpu: purlin.Context, to_device: Any) -> None:
    with pytest.raises(ValueError, match="common stride"):
        sshopm.solve(to_device(VOLUME)[:, ::2, ::2], context=gpu)


def snapshots(dtype: Any = np.float64) -> Any:
    """300 x 180 with singular values 0.8^j."""
    rng = np.random.default_rng(11)
    u, v = (np.linalg.qr(rng.standard_normal((n, 60)))[0] for n in (300, 180))
    return ((u * 0.8 ** np.arange(60)) @ v.T).astype(dtype)


@pytest.mark.parametrize("method", ["fused", "gram", "krylov", "range", "direct"])
def test_triplets_are_the_cpus(gpu: purlin.Context, cpu: purlin.Context, method: Any) -> None:
    a = snapshots()
    found = rsvd.compute(a, 8, method=method, seed=3, context=gpu)
    expected = rsvd.compute(a, 8, method=method, seed=3, context=cpu)
    np.testing.assert_allclose(found.s, expected.s, atol=1e-11)
    np.testing.assert_allclose(found.U, expected.U, atol=1e-8)
    np.testing.assert_allclose(found.Vt, expected.Vt, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_triplets_of_a_device_array_stay_there(gpu: purlin.Context, to_device: Any, dtype: Any) -> None:
    a = snapshots(dtype)
    u, s, vt = rsvd.compute(to_device(a), 6, power_iterations=4, context=gpu)
    assert isinstance(u, purlin.Tensor) and u.location == "device" and vt.location == "device"
    assert u.dtype == dtype and vt.shape == (6, 180)
    tolerance = 1e-10 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(s, 0.8 ** np.arange(6), atol=tolerance)
    left, right = u.numpy(), vt.numpy()
    assert np.abs(left.T @ left - np.eye(6)).max() < tolerance
    assert np.linalg.norm(a - (left * s) @ right) < 1.01 * 0.8**6 / 0.6


def test_tolerances_take_device_arrays_by_rows(gpu: purlin.Context, to_device: Any) -> None:
    rng = np.random.default_rng(4)
    left, right = (np.linalg.qr(rng.standard_normal((rows, 40)))[0] for rows in (90, 60))
    full = np.ascontiguousarray((left * 0.7 ** np.arange(40)) @ right.T)
    u, s, vt = rsvd.compute(to_device(full), tolerance=1e-3, context=gpu)
    assert np.linalg.norm(full - (u.numpy() * s) @ vt.numpy()) <= 1e-3 * np.linalg.norm(full)


@pytest.mark.parametrize("method", ["fused", "gram", "merge"])
def test_streaming_moves_what_the_formula_says(method: Any) -> None:
    a = np.tile(snapshots(np.float32), (40, 1))
    with purlin.Context("cuda", device_memory_limit=128 << 20) as context:
        options: Any = {"method": method, "block_rows": 1024, "resident_rows": 0, "power_iterations": 2}
        with rsvd.Rsvd(6, context=context, **options) as session:
            s = session.compute(Source.from_array(a, context=context)).s
            info = session.last_info()
    assert info.bytes_to_device == info.passes * a.nbytes
    np.testing.assert_allclose(s, np.sqrt(40) * 0.8 ** np.arange(6), rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_that_cannot_be_page_locked_gives_the_same_bits(tmp_path: Path, dtype: Any, order: Any) -> None:
    """Pages of a file mapped for reading are none that a driver locks: they go through buffers that are."""
    a = np.asarray(100 * snapshots() + 100, dtype, order=order)
    a = np.tile(a, (7, 1)) if order == "C" else np.asfortranarray(np.tile(a, (7, 1)))
    path = tmp_path / "matrix"
    path.write_bytes(a.tobytes(order))
    mapped = np.memmap(path, dtype, "r", shape=a.shape, order=order)
    found = []
    with purlin.Context("cuda", device_memory_limit=128 << 20) as context:
        pinned = purlin.Tensor.create(a.shape, dtype, order=order, pinned=True, context=context)
        pinned.numpy()[...] = a
        for matrix in (pinned.numpy(), a, mapped):
            # Nothing stays on the device, so that each pass reads the memory anew.
            options: Any = {"block_rows": 300, "resident_rows": 0, "power_iterations": 2}
            found.append(rsvd.compute(matrix, 6, seed=5, context=context, **options))
    for other in found[1:]:
        for one, two in zip(found[0], other):
            np.testing.assert_array_equal(one, two)


def test_sketches_have_the_cpus_bits(gpu: purlin.Context, cpu: purlin.Context) -> None:
    for dtype in (np.float32, np.float64):
        np.testing.assert_array_equal(
            rsvd.sketch(500, 40, dtype, seed=9, context=gpu), rsvd.sketch(500, 40, dtype, seed=9, context=cpu)
        )


def test_components_of_a_device_array(gpu: purlin.Context, cpu: purlin.Context, to_device: Any) -> None:
    x = snapshots() + 50.0
    there = PCA(5, power_iterations=4, context=gpu)
    scores = there.fit_transform(to_device(x))
    here = PCA(5, power_iterations=4, context=cpu).fit(x)
    np.testing.assert_allclose(there.singular_values_, here.singular_values_, atol=1e-9)
    assert isinstance(scores, purlin.Tensor)
    np.testing.assert_allclose(scores.numpy(), here.transform(x), atol=1e-6)
    there.close()


def test_robust_pca_on_the_device(gpu: purlin.Context, to_device: Any) -> None:
    rng = np.random.default_rng(4)
    low = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 150))
    spikes = np.where(rng.random(low.shape) < 0.05, 8.0, 0.0)
    for given in (low + spikes, to_device(low + spikes)):
        found, info = rpca.run(given, context=gpu)
        back = found.low_rank if isinstance(found.low_rank, np.ndarray) else found.low_rank.numpy()
        assert info.converged and info.rank == 3
        assert np.linalg.norm(back - low) < 1e-5 * np.linalg.norm(low)


def test_a_sparse_matrix_larger_than_the_device_leaves_nothing() -> None:
    def path(n: int, context: purlin.Context) -> purlin.Matrix:
        i = np.arange(n - 1)
        edges = np.r_[i, i + 1], np.r_[i + 1, i]
        return purlin.sparse.from_coordinates(*edges, np.ones(2 * n - 2), (n, n), context=context)

    # cuBLAS works in 32 MiB of it.
    with purlin.Context("cuda", device_memory_limit=64 << 20) as context:
        small, large = path(2000, context), path(3_000_000, context)
        options: Any = dict(kind="laplacian", tolerance=1e-6)
        first = purlin.lanczos.solve(small, 2, **options)
        used = context.properties.device_memory_used
        for further in ({}, {"block": 4}, {"method": "plain"}):
            with pytest.raises(purlin.OutOfDeviceMemory):
                purlin.lanczos.solve(large, 2, **options, **further)
            assert context.properties.device_memory_used == used
        with pytest.raises(purlin.OutOfDeviceMemory):
            purlin.spmv.Plan(large) @ np.ones(3_000_000)
        assert context.properties.device_memory_used == used
        np.testing.assert_array_equal(purlin.lanczos.solve(small, 2, **options).values, first.values)


@pytest.mark.parametrize("orthogonalization", ["full", "partial"])
def test_eigenpairs_of_a_device_matrix_stay_there(gpu: purlin.Context, cpu: purlin.Context, orthogonalization: Any) -> None:
    cupy: Any = pytest.importorskip("cupy")
    sparse: Any = pytest.importorskip("cupyx.scipy.sparse")
    n = 3000
    random = np.random.default_rng(7)
    i, j = random.integers(0, n, 9 * n), random.integers(0, n, 9 * n)
    rows, cols, values = np.r_[i, j], np.r_[j, i], np.tile(random.uniform(size=9 * n), 2)
    a = purlin.sparse.from_coordinates(rows, cols, values, (n, n), context=cpu)
    there = sparse.csr_matrix(a.scipy())
    matrix = purlin.Matrix.of(there, context=gpu)
    assert (matrix.location, matrix.storage, matrix.nnz) == ("device", "csr", there.nnz)
    with pytest.raises(ValueError, match="location"):
        matrix.scipy()
    vectors = cupy.zeros((n, 4), order="F")
    wanted = purlin.lanczos.run(a, 4, context=cpu)
    for factor in (1.0, 2.0):
        there.data[...] = factor * cupy.asarray(a.arrays()[2])
        found = purlin.lanczos.run(matrix, 4, vectors=vectors, orthogonalization=orthogonalization)
        assert found.pairs.vectors is vectors
        np.testing.assert_allclose(found.pairs.values, factor * wanted.pairs.values, rtol=1e-9)
        np.testing.assert_allclose(vectors.get(), wanted.pairs.vectors, atol=1e-6)
    row_major = cupy.zeros((n, 4))
    with pytest.raises(purlin.Error, match="vectors"):
        purlin.lanczos.run(matrix, 4, vectors=row_major)


@pytest.mark.parametrize("ordering", ["none", "degree", "cuthill_mckee"])
def test_products_with_device_arrays_stay_there(gpu: purlin.Context, to_device: Any, ordering: Any) -> None:
    full = np.random.default_rng(3).standard_normal((500, 500))
    full[np.abs(full) < 1.5] = 0
    plan = purlin.spmv.Plan(full, ordering=ordering, context=gpu)
    x = np.random.default_rng(4).standard_normal((500, 3))
    back = lambda array: np.asarray(array.get() if hasattr(array, "get") else array.cpu())  # noqa: E731
    for given in (x[:, 0].copy(), x):
        there = to_device(given)
        found = plan @ there
        assert type(found) is type(there)
        np.testing.assert_allclose(back(found), full @ given, atol=1e-11)
        assert plan.apply(there, found, alpha=2.0, beta=-1.0) is found
        np.testing.assert_allclose(back(found), full @ given, atol=1e-11)
    with pytest.raises(ValueError, match="y: an array on the device"):
        plan.apply(to_device(x[:, 0].copy()), np.zeros(500))
    with pytest.raises(ValueError, match="beta: needs y"):
        plan.apply(to_device(x), beta=1.0)
