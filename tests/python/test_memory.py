"""Tensors and matrices: in place or copied, strides and order, DLPack."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin.blocks import Source

rng = np.random.default_rng(1)


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "complex64", "complex128", "int32", "int64", "uint8", "uint16", "float16"]
    + ["int8", "int16", "uint32"],
)
def test_every_type_is_borrowed_in_place(cpu: purlin.Context, dtype: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype)
    tensor = purlin.Tensor.borrow(array, context=cpu)
    view = tensor.numpy()
    assert (tensor.shape, tensor.strides, tensor.dtype) == ((3, 4), (4, 1), np.dtype(dtype))
    assert np.shares_memory(view, array)
    np.testing.assert_array_equal(view, array)


@pytest.mark.parametrize(
    "select",
    [
        lambda a: a,
        lambda a: np.asfortranarray(a),
        lambda a: a.T,
        lambda a: a[::2, 1:],
        lambda a: a.transpose(2, 0, 1),
        lambda a: a[:, :1],
        lambda a: a[:0],
    ],
)
def test_strided_arrays_are_walked_in_place(cpu: purlin.Context, select: Any) -> None:
    array = select(rng.standard_normal((4, 5, 6)))
    tensor = purlin.Tensor.borrow(array, context=cpu)
    assert tensor.shape == array.shape
    np.testing.assert_array_equal(tensor.numpy(), array)
    if array.size:
        assert np.shares_memory(tensor.numpy(), array)
    copy = purlin.Tensor.create(array.shape, context=cpu)
    tensor.copy_to(copy)
    np.testing.assert_array_equal(copy.numpy(), array)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0)[::-1],
        np.arange(6.0).astype(">f8"),
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.frombuffer(b"\0" + np.arange(3.0).tobytes(), dtype=np.uint8)[1:].view(np.float64),
        np.zeros(3, dtype=[("a", "f4"), ("b", "f8")])["b"],
    ],
    ids=["backwards", "foreign byte order", "broadcast", "unaligned", "field of a record"],
)
def test_arrays_that_cannot_be_borrowed_are_copied_once(cpu: purlin.Context, array: Any) -> None:
    tensor = purlin.Tensor.borrow(array, context=cpu)
    np.testing.assert_array_equal(tensor.numpy(), array)
    assert not np.shares_memory(tensor.numpy(), array)


def test_unknown_types_are_refused(cpu: purlin.Context) -> None:
    with pytest.raises(TypeError, match="array: is uint64"):
        purlin.Tensor.borrow(np.zeros(3, np.uint64), context=cpu)


def test_borrowed_arrays_live_as_long_as_the_tensor(cpu: purlin.Context) -> None:
    array = np.arange(5.0)
    watch = weakref.ref(array)
    tensor = purlin.Tensor.borrow(array, context=cpu)
    view = tensor.numpy()
    del array, tensor
    gc.collect()
    assert watch() is not None
    np.testing.assert_array_equal(view, np.arange(5.0))
    del view
    gc.collect()
    assert watch() is None


def test_read_only_arrays_stay_so(cpu: purlin.Context) -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    tensor = purlin.Tensor.borrow(array, context=cpu)
    assert not tensor.numpy().flags.writeable
    with purlin.Tensor.create((3,), context=cpu) as source, pytest.raises(purlin.InvalidArgument):
        source.copy_to(tensor)


def test_created_tensors(cpu: purlin.Context) -> None:
    rows = purlin.Tensor.create((2, 3), np.float32, context=cpu)
    columns = purlin.Tensor.create((2, 3), np.float32, order="F", context=cpu)
    assert (rows.strides, columns.strides) == ((3, 1), (1, 2))
    rows.numpy()[...] = [[1, 2, 3], [4, 5, 6]]
    rows.copy_to(columns)
    np.testing.assert_array_equal(columns.numpy(), rows.numpy())
    assert purlin.Tensor.create((), context=cpu).shape == ()
    batch = purlin.Tensor.create_symmetric(4, 3, 7, entry_major=True, context=cpu)
    assert (batch.shape, batch.strides) == ((15, 7), (7, 1))
    assert (batch.symmetric_order, batch.symmetric_dimension) == (4, 3)
    assert "symmetric order 4" in repr(batch)
    batch.close()
    assert repr(batch) == "<purlin.Tensor closed>"


def test_sizes_are_checked(cpu: purlin.Context) -> None:
    with pytest.raises(purlin.InvalidArgument, match="shape"):
        purlin.Tensor.create((3, -1), context=cpu)
    with (
        purlin.Tensor.create((3,), context=cpu) as three,
        purlin.Tensor.create((4,), context=cpu) as four,
        pytest.raises(purlin.InvalidArgument),
    ):
        three.copy_to(four)


def test_device_memory_needs_a_device(cpu: purlin.Context) -> None:
    with pytest.raises(purlin.NotSupported):
        purlin.Tensor.create((3,), location="device", context=cpu)


def test_numpy_takes_a_tensor_by_dlpack(cpu: purlin.Context) -> None:
    tensor = purlin.Tensor.create((2, 3), context=cpu)
    tensor.numpy()[...] = np.arange(6.0).reshape(2, 3)
    array = np.from_dlpack(tensor)
    address = tensor.numpy().ctypes.data
    del tensor  # the elements stay, NumPy holds them
    gc.collect()
    assert array.ctypes.data == address
    np.testing.assert_array_equal(array, np.arange(6.0).reshape(2, 3))


def test_an_exported_array_outlives_its_tensor(cpu: purlin.Context) -> None:
    source = np.arange(6.0).reshape(2, 3)
    watch = weakref.ref(source)
    array = np.from_dlpack(purlin.Tensor.borrow(source, context=cpu))
    del source
    gc.collect()
    np.testing.assert_array_equal(array, np.arange(6.0).reshape(2, 3))
    assert watch() is not None
    del array
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_an_unused_capsule_is_released(cpu: purlin.Context, version: Any) -> None:
    source = np.arange(3.0)
    watch = weakref.ref(source)
    capsule = purlin.Tensor.borrow(source, context=cpu).__dlpack__(max_version=version)
    del source
    gc.collect()
    assert watch() is not None
    del capsule
    gc.collect()
    assert watch() is None


def test_dlpack_objects_are_taken_without_a_copy(cpu: purlin.Context) -> None:
    source = rng.standard_normal((3, 4))

    class Foreign:
        """An array of another library."""

        def __dlpack__(self, **arguments: Any) -> Any:
            return source.__dlpack__(**arguments)

        def __dlpack_device__(self) -> Any:
            return source.__dlpack_device__()

    class Old(Foreign):
        """One from before DLPack 1.0."""

        def __dlpack__(self, **arguments: Any) -> Any:
            if "max_version" in arguments:
                raise TypeError("max_version")
            return source.__dlpack__(**arguments)

    for foreign in (Foreign(), Old()):
        for tensor in (
            purlin.Tensor.borrow(foreign, context=cpu),
            purlin.Tensor.from_dlpack(foreign, context=cpu),
        ):
            assert tensor.shape == (3, 4)
            assert np.shares_memory(tensor.numpy(), source)
            tensor.close()


def test_the_library_calls_the_deleter_once(cpu: purlin.Context) -> None:
    source = np.arange(4.0)
    watch = weakref.ref(source)
    tensor = purlin.Tensor.from_dlpack(source, context=cpu)
    np.testing.assert_array_equal(tensor.numpy(), source)
    del source
    gc.collect()
    assert watch() is not None
    tensor.close()
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        # It has capsules of the older kind alone, and an array behind one is borrowed.
        del tensor
    gc.collect()
    assert watch() is None
    refused = np.zeros(3, np.uint64)  # a type that the library does not have
    watch_refused = weakref.ref(refused)
    with pytest.raises((purlin.Error, TypeError)):
        purlin.Tensor.from_dlpack(refused, context=cpu)
    del refused
    gc.collect()
    assert watch_refused() is None


def test_dlpack_requests_for_a_copy_or_another_device_are_refused(cpu: purlin.Context) -> None:
    with purlin.Tensor.create((1,), context=cpu) as tensor:
        assert tensor.__dlpack_device__() == (1, 0)
        with pytest.raises(BufferError):
            tensor.__dlpack__(copy=True)
        with pytest.raises(BufferError):
            tensor.__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_matrices(cpu: purlin.Context, order: Any) -> None:
    array = np.asarray(rng.standard_normal((5, 4)), order=order)
    whole = purlin.Matrix.dense(array, context=cpu)
    assert (whole.shape, whole.storage, whole.location, whole.nnz) == ((5, 4), "dense", "host", 20)
    assert np.shares_memory(whole.numpy(), array)
    part = purlin.Matrix.dense(array[1:4, 1:3], context=cpu)
    np.testing.assert_array_equal(part.numpy(), array[1:4, 1:3])
    assert np.shares_memory(part.numpy(), array)
    scattered = purlin.Matrix.dense(array[::2, ::2], context=cpu)
    np.testing.assert_array_equal(scattered.numpy(), array[::2, ::2])
    copy = purlin.Matrix.create(5, 4, order=order, context=cpu)
    whole.copy_to(copy)
    np.testing.assert_array_equal(copy.numpy(), array)
    with pytest.raises(ValueError, match="expected 2"):
        purlin.Matrix.dense(array[0], context=cpu)
    with pytest.raises(ValueError, match="storage"):
        whole.arrays()


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (0, 3), (3, 0)])
def test_thin_and_empty_matrices(cpu: purlin.Context, shape: tuple[int, int]) -> None:
    with purlin.Matrix.dense(np.ones(shape), context=cpu) as matrix:
        assert matrix.shape == shape
        assert matrix.numpy().shape == shape


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_compressed_rows(cpu: purlin.Context, copy: bool, index: Any) -> None:
    row_ptr = np.array([0, 2, 2, 3], index)
    col_idx = np.array([0, 3, 1], index)
    values = np.array([1.0, 2.0, 3.0])
    matrix = purlin.Matrix.csr(row_ptr, col_idx, values, (3, 4), copy=copy, context=cpu)
    assert (matrix.shape, matrix.nnz, matrix.storage) == ((3, 4), 3, "csr")
    assert matrix.dtype == np.float64
    rows, cols, stored = matrix.arrays()
    assert stored is not None
    np.testing.assert_array_equal(rows, row_ptr)
    np.testing.assert_array_equal(cols, col_idx)
    np.testing.assert_array_equal(stored, values)
    assert np.shares_memory(stored, values) != copy
    with pytest.raises(ValueError, match="storage"):
        matrix.numpy()
    pattern = purlin.Matrix.csr(row_ptr + 1, col_idx + 1, None, (3, 4), index_base=1, dtype="f4", context=cpu)
    assert pattern.arrays()[2] is None and pattern.dtype == np.float32


def test_the_structure_of_shared_rows_is_read_only(cpu: purlin.Context) -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="no SciPy")
    entries = (np.array([0, 0, 1, 2]), np.array([0, 2, 1, 0]), np.array([1.0, 0.0, 3.0, 4.0]))
    matrix = purlin.sparse.from_coordinates(*entries, (3, 3), context=cpu)
    full = sparse.coo_matrix((entries[2], entries[:2]), (3, 3)).toarray()
    shared = matrix.scipy(copy=False)
    for change in (shared.eliminate_zeros, lambda: shared.indices.fill(1), lambda: shared.indptr.fill(0)):
        with pytest.raises(ValueError, match="read-only"):
            change()
    np.testing.assert_array_equal(matrix @ np.eye(3), full)
    np.testing.assert_array_equal(shared.toarray(), full)
    shared.data[...] *= 2
    np.testing.assert_array_equal(matrix @ np.eye(3), 2 * full)
    own = matrix.scipy()
    own.eliminate_zeros()
    assert (own.nnz, matrix.nnz) == (3, 4)


def test_wrong_compressed_rows_are_refused(cpu: purlin.Context) -> None:
    row_ptr, col_idx = np.array([0, 1, 2]), np.array([0, 5])
    with pytest.raises(purlin.InvalidArgument, match="col_idx"):
        purlin.Matrix.csr(row_ptr, col_idx, np.ones(2), (2, 4), context=cpu)
    with pytest.raises(purlin.InvalidArgument):
        purlin.Matrix.csr(row_ptr[::-1], np.array([0, 1]), np.ones(2), (2, 4), context=cpu)
    with pytest.raises(ValueError, match="row_ptr"):
        purlin.Matrix.csr(row_ptr, col_idx, np.ones(2), (3, 4), context=cpu)
    with pytest.raises(ValueError, match="values"):
        purlin.Matrix.csr(row_ptr, col_idx, np.ones(3), (2, 8), context=cpu)


def test_sparse_matrices_of_scipy(cpu: purlin.Context) -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="no SciPy")
    source = sparse.random(30, 20, 0.2, format="csr", random_state=2)
    matrix = purlin.Matrix.from_scipy(source, context=cpu)
    stored = matrix.arrays()[2]
    assert stored is not None and np.shares_memory(stored, source.data)
    converted = purlin.Matrix.from_scipy(source.tocsc(), context=cpu)
    assert converted.nnz == source.nnz
    again = converted.scipy()
    assert (again != source).nnz == 0 and not np.shares_memory(again.data, source.data)


@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_of_files(cpu: purlin.Context, tmp_path: Path, order: Any) -> None:
    array = np.arange(12, dtype=np.uint16).reshape(3, 4)
    path = tmp_path / "a.npy"
    np.save(path, np.asarray(array, order=order))
    source = Source.from_npy(path, context=cpu)
    assert source.fortran_order == (order == "F")
    assert source.info.shape == ((4, 3) if order == "F" else (3, 4)) and source.info.dtype == np.uint16
    matrix = purlin.Matrix.from_source(source)
    source.close()
    assert matrix.storage == "streamed" and matrix.shape == (3, 4) and matrix.dtype == np.uint16 and matrix.nnz == 12
    with pytest.raises(ValueError, match="storage: is streamed"):
        matrix.numpy()
    mapped = Source.from_mapped_file(path, (3, 4), "<u2", 128, context=cpu)
    assert purlin.Matrix.of(mapped, context=cpu).shape == (3, 4)
    assert purlin.Matrix.from_source(mapped, "F").shape == (4, 3)


def test_files_that_are_no_matrices(cpu: purlin.Context, tmp_path: Path) -> None:
    with pytest.raises(purlin.FileError, match=r"none\.npy"):
        Source.from_npy(tmp_path / "none.npy", context=cpu)
    np.save(tmp_path / "text.npy", np.array(["one", "two"]))
    with pytest.raises(purlin.FileError):
        Source.from_npy(tmp_path / "text.npy", context=cpu)
    np.save(tmp_path / "line.npy", np.zeros(5, np.float32))
    with pytest.raises(purlin.InvalidArgument):
        purlin.Matrix.from_source(Source.from_npy(tmp_path / "line.npy", context=cpu))
    with pytest.raises(purlin.FileError):
        Source.from_mapped_file(tmp_path / "line.npy", (100, 100), "f4", context=cpu)


def test_stacks_of_images_are_matrices(cpu: purlin.Context, tmp_path: Path) -> None:
    np.save(tmp_path / "stack.npy", np.zeros((5, 3, 4), np.uint8))
    stack = Source.from_npy(tmp_path / "stack.npy", context=cpu)
    assert purlin.Matrix.from_source(stack).shape == (5, 12)
    assert purlin.Matrix.from_source(stack, "F").shape == (12, 5)


def test_implicit_matrices(cpu: purlin.Context) -> None:
    matrix = purlin.Matrix.from_operator(lambda x: x, lambda x: x, (5, 5), np.complex64, context=cpu)
    assert matrix.storage == "operator" and matrix.shape == (5, 5) and matrix.dtype == np.complex64
    with pytest.raises(ValueError, match="storage: is operator"):
        matrix.numpy()
    with pytest.raises(purlin.InvalidArgument, match="dtype"):
        purlin.Matrix.from_operator(lambda x: x, lambda x: x, (5, 5), np.uint8, context=cpu)
    with pytest.raises(purlin.NotSupported, match="location"):
        purlin.Matrix.from_device_operator(lambda x, y, s: None, lambda x, y, s: None, (5, 5), context=cpu)


ROUNDED = 2**53 + 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_floating_point_rounds_are_refused(cpu: purlin.Context, dtype: Any) -> None:
    held = np.array([[0, 2**53], [2**62, 5]], dtype)
    assert purlin.Matrix.of(held, context=cpu).numpy()[1, 0] == 2.0**62
    rounded = held.copy()
    rounded[1, 0] = ROUNDED
    at = rf"has {ROUNDED} at index \(1, 0\) \(from 0\), which float64 does not hold"
    many = np.array([0, ROUNDED], dtype)
    calls: list[tuple[str, Any]] = [
        (f"X: {at}", lambda: purlin.pca.PCA(1, context=cpu).fit(rounded)),
        (f"a: {at}", lambda: purlin.rsvd.compute(rounded, 1, context=cpu)),
        (r"a: block 1: has .* at index \(0, 1\) ", lambda: purlin.rsvd.compute(iter([many * 0.5, many]), 1, context=cpu)),
        (f"full: {at}", lambda: purlin.symmetric.from_full(rounded, context=cpu)),
        (f"image: {at}", lambda: purlin.graph.of_image(rounded, context=cpu)),
        ("vectors: vector 1: has .* at index 1 ", lambda: purlin.tt.product_state([[0.5, 1], many], context=cpu)),
        ("cores: core 0: has .* at index .0, 1, 0. ", lambda: purlin.tt.Train([many.reshape(1, 2, 1)], context=cpu)),
        (f"values: {at}", lambda: purlin.tt.svd(rounded, context=cpu)),
        ("values: has .* at index 1 ", lambda: purlin.sparse.from_coordinates([0, 1], [0, 1], many, (2, 2), context=cpu)),
    ]
    for problem, call in calls:
        with pytest.raises(ValueError, match="^" + problem):
            call()
    scipy: Any = pytest.importorskip("scipy.sparse", reason="no SciPy")
    w = np.array([[0, ROUNDED], [ROUNDED, 0]], dtype)
    for form in ("csr", "csc", "coo"):
        with pytest.raises(ValueError, match=rf"has {ROUNDED} at index \((0, 1|1, 0)\) \(from 0\), which float64"):
            purlin.lanczos.solve(scipy.coo_matrix(w).asformat(form), 1, context=cpu)
        with pytest.raises(ValueError, match="^w: has"):
            purlin.graph.bisect(scipy.coo_matrix(w).asformat(form), [0.0, 1.0], context=cpu)
    # A vector for a matrix in single precision.
    single = purlin.Matrix.csr([0, 1], [0], np.ones(1, np.float32), (1, 1), context=cpu)
    assert (single @ np.array([2**24]))[0] == 2.0**24
    with pytest.raises(ValueError, match=r"^x: has 16777217 at index 0 \(from 0\), which float32 does not hold"):
        single @ np.array([2**24 + 1])


def test_arrays_and_operators_are_converted_to_matrices(cpu: purlin.Context) -> None:
    matrix = purlin.Matrix.of(np.eye(3, 2), context=cpu)
    assert purlin.Matrix.of(matrix) is matrix and matrix.shape == (3, 2)
    assert purlin.Matrix.of([[1, 2], [3, 4], [5, 6]], context=cpu).dtype == np.float64
    assert purlin.Matrix.of(np.array([[True, False]]), context=cpu).dtype == np.uint8
    assert purlin.Matrix.of(np.zeros((2, 2), np.int16), context=cpu).dtype == np.int16
    sparse = pytest.importorskip("scipy.sparse", reason="no SciPy")
    linalg: Any = pytest.importorskip("scipy.sparse.linalg", reason="no SciPy")
    for dtype in (np.int8, np.int32, np.int64, np.uint16, np.bool_):
        integers = purlin.Matrix.of(sparse.eye(4, dtype=dtype, format="csr"), context=cpu)
        assert integers.storage == "csr" and integers.dtype == np.float64
    assert purlin.Matrix.of(linalg.aslinearoperator(np.eye(4, 3)), context=cpu).storage == "operator"
