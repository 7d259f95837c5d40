"""How long arrays live that functions are given, and arrays over the memory of objects that are closed."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import fdk, lanczos, rsvd, spmv, tt
from purlin._callback import LogSink
from purlin._context import Handle
from purlin._lifetime import Copies
from purlin._operator_functions import DeviceProducts, DeviceVectors
from purlin._structs import LOG
from purlin.blocks import Sink, Source

N = 300
FULL = np.random.default_rng(28).standard_normal((N, N))
SYMMETRIC = FULL + FULL.T


def owner(array: Any) -> Any:
    """The object at the end of an array's bases."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array


class Kept:
    """Arrays that a function was given, or parts of them, beside copies of that moment."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def add(self, array: Any) -> None:
        self.pairs.append((array, array.copy()))

    def check(self) -> None:
        assert self.pairs
        for array, _ in self.pairs:
            # Before any element is read: memory of the library's may be gone.
            assert isinstance(owner(array), np.ndarray) and owner(array).flags.owndata
        for array, then in self.pairs:
            np.testing.assert_array_equal(array, then)
        owners = {id(owner(array)) for array, _ in self.pairs}
        assert len(owners) == len(self.pairs)


def interrupted(number: int, work: Callable[[], object]) -> bool:
    """Whether Ctrl-C before instruction `number` of Python in `work` has ended it; else it had fewer instructions."""
    count = 0

    def trace(frame: Any, event: str, _argument: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        if event == "opcode":
            if count == number:
                raise KeyboardInterrupt
            count += 1
        return trace

    before = sys.gettrace()
    # From 3.12 on settrace follows instructions only if some frame asked for it before.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("to", [Sink.to_file, Sink.to_metaimage, Sink.to_tiff], ids=["file", "metaimage", "tiff"])
def test_ctrl_c_at_any_instruction_leaves_no_file_of_a_sink(cpu: purlin.Context, tmp_path: Path, to: Any) -> None:
    made: list[Sink] = []

    def make() -> None:
        made.append(to(tmp_path / "x", (2, 3, 4), np.float32, context=cpu))

    number = 0
    while interrupted(number, make):
        made.clear()
        assert list(tmp_path.iterdir()) == [], f"instruction {number} of the creation"
        number += 1
    assert number > 100 and len(list(tmp_path.iterdir())) == 1
    number = 0
    while interrupted(number, made.pop().close):
        assert list(tmp_path.iterdir()) == [], f"instruction {number} of the end"
        number += 1
        make()
    assert number > 10 and list(tmp_path.iterdir()) == []


def solver_of(function: Callable[[Any], Any]) -> Any:
    linalg: Any = pytest.importorskip("scipy.sparse.linalg", reason="no SciPy")
    return linalg.LinearOperator((N, N), matvec=function, rmatvec=function, dtype=np.float64)


@pytest.mark.parametrize("part", [lambda x: x, lambda x: x.reshape(N, -1)[3:9, :1], lambda x: x.T], ids=["whole", "slice", "transpose"])
@pytest.mark.parametrize("call", ["operator", "linear operator", "rsvd", "solve"])
def test_functions_may_keep_the_vectors(call: str, part: Callable[[Any], Any]) -> None:
    kept = Kept()
    inverse = np.linalg.inv(SYMMETRIC - 0.1 * np.eye(N))

    def product(x: Any) -> Any:
        assert not x.flags.writeable
        kept.add(part(x))
        return SYMMETRIC @ x

    def solve(b: Any) -> Any:
        kept.add(part(b.reshape(N, -1)))
        return inverse @ b

    with purlin.Context("cpu", threads=2) as context:
        if call == "operator":
            with purlin.Matrix.from_operator(product, product, (N, N), context=context) as a:
                lanczos.solve(a, 2, block=2, basis=40, context=context)
        elif call == "linear operator":
            lanczos.tridiagonalize(solver_of(product), 5, context=context)
        elif call == "rsvd":
            with purlin.Matrix.from_operator(product, product, (N, N), context=context) as a:
                rsvd.compute(a, 4, context=context)
        else:
            lanczos.solve(SYMMETRIC, 2, "nearest", sigma=0.1, solve=solver_of(solve), context=context)
    gc.collect()
    kept.check()


def test_vectors_that_nobody_keeps_are_copied_to_the_same_memory(cpu: purlin.Context) -> None:
    seen: list[int] = []
    kept: list[Any] = []

    def product(x: Any) -> Any:
        assert isinstance(owner(x), np.ndarray)
        seen.append(x.ctypes.data)
        if len(seen) == 4:
            kept.append(x[:2])
        return SYMMETRIC @ x

    with purlin.Matrix.from_operator(product, product, (N, N), context=cpu) as a:
        lanczos.tridiagonalize(a, 10, context=cpu)
    assert len(seen) >= 10
    assert len(set(seen[:4])) == 1 and len(set(seen[4:])) == 1 and seen[3] != seen[4]


def test_a_copy_during_the_use_of_another_has_memory_of_its_own() -> None:
    copies = Copies()
    seen: list[int] = []

    def outer(x: Any) -> None:
        seen.append(x.ctypes.data)
        copies.use(np.full(x.shape, 7.0), inner)
        np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))

    def inner(x: Any) -> None:
        seen.append(x.ctypes.data)
        np.testing.assert_array_equal(x, 7.0)

    for order in ("C", "F"):
        copies.use(np.arange(6.0).reshape(2, 3).copy(order), outer)  # type: ignore[arg-type]
        assert seen[-1] != seen[-2]


def test_results_that_are_the_vectors_themselves_are_right(cpu: purlin.Context) -> None:
    given = np.random.default_rng(1).standard_normal((N, 3))
    with purlin.Matrix.from_operator(lambda x: x, lambda x: x, (N, N), context=cpu) as a:
        for _ in range(3):
            np.testing.assert_array_equal(a @ given, given)


def test_functions_may_keep_the_blocks_of_a_sink(cpu: purlin.Context) -> None:
    angles = np.arange(16) * np.pi / 8
    geometry = fdk.Geometry(32, 32, 2.0, 2.0, 500.0, 1000.0, angles=angles)
    views = np.random.default_rng(3).random((16, 32, 32)).astype(np.float32)
    kept, places = Kept(), list[Any]()

    def write(where: Any, block: Any) -> None:
        places.append(where)
        kept.add(block)

    with fdk.Reconstruction(geometry, slab=8, context=cpu) as solver:
        volume = solver.reconstruct(views)
        with Sink.to_function(write, solver.shape, np.float32, context=cpu) as sink:
            solver.reconstruct(views, sink)
    assert len(places) > 1
    kept.check()
    for where, (block, _) in zip(places, kept.pairs):
        np.testing.assert_array_equal(block, volume[where])


def exports(context: purlin.Context) -> dict[str, tuple[Any, Callable[[Any], list[Any]]]]:
    """Objects with 100 kB or more in memory of the library's, and what shows it."""
    rows = np.arange(20001)
    csr = purlin.Matrix.csr(rows, np.zeros(20000, np.int64), np.ones(20000), (20000, 1), copy=True, context=context)
    return {
        "matrix": (purlin.Matrix.create(200, 100, context=context), lambda a: [a.numpy()]),
        "rows": (purlin.Matrix.create(200, 100, order="C", context=context), lambda a: [a.numpy()]),
        "tensor": (purlin.Tensor.create((200, 100), context=context), lambda a: [a.numpy()]),
        "batch": (purlin.Tensor.create_symmetric(4, 3, 1000, context=context), lambda a: [a.numpy()]),
        "dlpack": (purlin.Tensor.create((200, 100), context=context), lambda a: [np.from_dlpack(a)]),
        "csr": (csr, lambda a: list(a.arrays())),
    }


@pytest.mark.parametrize("name", ["matrix", "rows", "tensor", "batch", "dlpack", "csr"])
def test_arrays_keep_the_memory_of_an_object_that_is_closed(cpu: purlin.Context, name: str) -> None:
    made, show = exports(cpu)[name]
    gc.collect()
    size = cpu.properties.host_memory_used
    with made:
        arrays = show(made)
        for array in arrays:
            if array.flags.writeable:
                array[...] = 3
        parts = [array[5:7] for array in arrays]
        expected = [array.copy() for array in arrays]
    assert made.closed
    word = "tensor" if isinstance(made, purlin.Tensor) else "matrix"
    with pytest.raises(purlin.InvalidHandle, match=f"^{word}: is closed"):
        made.info
    with pytest.raises(purlin.InvalidHandle, match=f"^{word}: is closed"):
        show(made)
    made.close()
    del made, array
    # The memory is there, so it can be read.
    assert cpu.properties.host_memory_used == size > 100_000
    for array, then in zip(arrays, expected):
        np.testing.assert_array_equal(array, then)
    del array, arrays
    gc.collect()
    assert cpu.properties.host_memory_used == size
    np.testing.assert_array_equal(parts[0], expected[0][5:7])
    parts.clear()
    gc.collect()
    assert cpu.properties.host_memory_used < size - 100_000


def test_arrays_over_borrowed_memory_keep_it(cpu: purlin.Context) -> None:
    for borrow in (purlin.Matrix.dense, purlin.Tensor.borrow):
        array = np.arange(60000.0).reshape(200, 300)
        watch = weakref.ref(array)
        with borrow(array, context=cpu) as made:
            shown = made.numpy()
        del made, array
        gc.collect()
        assert watch() is not None
        np.testing.assert_array_equal(shown.ravel(), np.arange(60000.0))
        del shown
        gc.collect()
        assert watch() is None


def test_an_object_without_arrays_is_destroyed_when_it_is_closed(cpu: purlin.Context) -> None:
    before, used = purlin.live_handles(), cpu.properties.host_memory_used
    with purlin.Matrix.create(200, 100, context=cpu) as a:
        a.numpy()[...] = 1
        assert purlin.live_handles() == before + 1
    assert purlin.live_handles() == before and cpu.properties.host_memory_used == used


def test_scipy_shares_arrays_of_a_closed_matrix(cpu: purlin.Context) -> None:
    pytest.importorskip("scipy.sparse", reason="no SciPy")
    made, _ = exports(cpu)["csr"]
    with made:
        shared = made.scipy(copy=False)
    assert cpu.properties.host_memory_used > 100_000
    assert shared.sum() == 20000


def test_arrays_may_be_read_when_the_program_ends() -> None:
    code = """if True:
    import atexit
    arrays = []
    atexit.register(lambda: print([float(a.sum()) for a in arrays]))
    import numpy as np, purlin
    with purlin.Context("cpu", threads=1) as context:
        matrix = purlin.Matrix.create(3000, 1000, context=context)
        tensor = purlin.Tensor.create((3000, 1000), context=context)
        for made in (matrix, tensor):
            arrays.append(made.numpy())
            arrays[-1][...] = 1
        tensor.close()
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout) == (0, "[3000000.0, 3000000.0]\n"), run.stderr


class Own:
    """An object whose own methods are callbacks of objects of the library that it holds."""

    def __init__(self, make: Callable[[Own], Any]) -> None:
        self.numbers = np.zeros(100_000)
        self.made = make(self)

    def product(self, x: Any) -> Any:
        return 2.0 * x

    def read(self, where: Any) -> Any:
        return np.ones((40, 30))[where]

    def note(self, *_: object) -> None:
        assert self.numbers.size == 100_000


def one_of_all(own: Own) -> Any:
    """Objects on one another, and arrays over memory of a closed one, behind a run with all callbacks."""
    context = purlin.Context("cpu", threads=1, log=own.note, log_level="debug")
    operator = purlin.Matrix.from_operator(own.product, own.product, (40, 40), context=context)
    source = Source.from_function(own.read, (40, 30), "d", context=context)
    matrix = purlin.Matrix.from_source(source, context=context)
    solver = lanczos.Lanczos(2, progress=own.note, context=context)
    session = rsvd.Rsvd(1, progress=own.note, context=context)
    plan = spmv.Plan(operator)
    solver.tridiagonalize(operator, 3)
    session.compute(matrix)
    np.testing.assert_array_equal(plan @ np.ones(40), operator @ np.ones(40))
    source.close()
    return context, operator, source, matrix, solver, session, plan


OWN: dict[str, Callable[[Own, purlin.Context], Any]] = {
    "operator": lambda own, cpu: purlin.Matrix.from_operator(own.product, own.product, (40, 40), context=cpu),
    "source": lambda own, cpu: Source.from_function(own.read, (40, 30), "d", context=cpu),
    "sink": lambda own, cpu: Sink.to_function(own.note, (40, 30), "d", context=cpu),
    "lanczos": lambda own, cpu: lanczos.Lanczos(2, progress=own.note, context=cpu),
    "rsvd": lambda own, cpu: rsvd.Rsvd(2, progress=own.note, context=cpu),
    "contraction": lambda own, cpu: tt.Contraction(progress=own.note, context=cpu),
    "log": lambda own, cpu: purlin.Context("cpu", threads=1, log=own.note, log_level="debug"),
    "all": lambda own, cpu: one_of_all(own),
}


@pytest.mark.parametrize("name", OWN)
def test_objects_whose_methods_are_callbacks_are_freed(cpu: purlin.Context, name: str) -> None:
    gc.collect()
    before = purlin.live_handles()
    watches = []
    for _ in range(3):
        own = Own(lambda own: OWN[name](own, cpu))
        watches.append(weakref.ref(own))
        assert purlin.live_handles() > before
        del own
    gc.collect()
    assert [watch() for watch in watches] == [None] * 3
    assert purlin.live_handles() == before


class CallsBack:
    """An object with a handle whose end calls a function, as the library may: here one of the object's own, or another."""

    def __init__(self, said: list[str], function: Any = None) -> None:
        self.said = said
        sink = LogSink(function or self.log)
        address = ctypes.cast(sink.pointer, ctypes.c_void_p).value or 0
        self.handle = Handle(1, lambda handle: LOG(address)(handle, b"last line", None), sink)

    def log(self, level: int, text: str) -> None:
        self.said.append(f"{level} {text}")


@pytest.mark.parametrize("ends", ["collected", "collected elsewhere", "dropped", "dropped elsewhere", "closed"])
def test_functions_are_there_while_a_handle_is_destroyed(ends: str) -> None:
    said: list[str] = []

    def log(level: int, text: str) -> None:
        said.append(f"{level} {text}")

    made = [CallsBack(said, None if ends.startswith("collected") else log)]
    watch = weakref.ref(made[0])
    gc.disable()
    try:
        if ends == "closed":
            made[0].handle.close()
            assert said == ["1 last line"]
        if ends == "dropped elsewhere":
            thread = threading.Thread(target=made.clear)
        else:
            made.clear()
            thread = threading.Thread(target=gc.collect)
        if ends.endswith("elsewhere"):
            thread.start()
            thread.join()
        elif ends == "collected":
            gc.collect()
        assert said == ["1 last line"] and watch() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("is_garbage", [False, True])
def test_functions_are_there_while_handles_are_destroyed_when_the_program_ends(is_garbage: bool) -> None:
    code = f"""if True:
    import ctypes, gc
    from purlin._callback import LogSink
    from purlin._context import Handle
    from purlin._structs import LOG
    class CallsBack:
        def __init__(self):
            sink = LogSink(self.log)
            address = ctypes.cast(sink.pointer, ctypes.c_void_p).value
            self.handle = Handle(1, lambda handle: LOG(address)(handle, b"last line", None), sink)
        def log(self, level, text):
            print(text)
    gc.disable()
    made = CallsBack()
    if {is_garbage}:
        del made
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "last line\n", "")


def test_an_adjoint_that_fails_is_named(cpu: purlin.Context) -> None:
    full = FULL[:, :40]
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda x: full @ x[:40], ValueError, r"returned shape \(300, 1\), expected \(40, 1\)"),
        (lambda x: None, TypeError, "returned NoneType, expected float64"),
        (lambda x: np.full((40, x.shape[1]), np.nan), ValueError, "returned nan in row 0 of vector 0"),
    ]
    for adjoint, kind, text in wrong:
        with purlin.Matrix.from_operator(lambda x: full @ x, adjoint, full.shape, context=cpu) as a:
            with pytest.raises(kind, match=f"^adjoint: {text}"):
                lanczos.solve(a, 2, kind="gram", context=cpu)


def test_a_linear_operator_without_an_adjoint_is_refused_where_it_is_needed(cpu: purlin.Context) -> None:
    linalg: Any = pytest.importorskip("scipy.sparse.linalg", reason="no SciPy")

    class Own(linalg.LinearOperator):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(np.float64, (N, N))

        def _matvec(self, x: Any) -> Any:
            return SYMMETRIC @ x

    plain = linalg.LinearOperator((N, N), matvec=lambda x: SYMMETRIC @ x, dtype=np.float64)
    block = linalg.LinearOperator(
        (N, N), matvec=lambda x: SYMMETRIC @ x, matmat=lambda x: SYMMETRIC @ x, dtype=np.float64
    )
    exact = np.linalg.eigvalsh(SYMMETRIC)[::-1][:2]
    missing = "a: is a linear operator without rmatvec and rmatmat, this call needs one of them for the adjoint"
    for operator in (plain, block, 2.0 * plain, plain + plain, Own()):
        for kind in ("gram", "augmented"):
            with pytest.raises(TypeError, match=f"^{missing}$"):
                lanczos.solve(operator, 2, kind=kind, context=cpu)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=f"^{missing}$"):
            rsvd.compute(operator, 2, context=cpu)
    np.testing.assert_allclose(lanczos.solve(plain, 2, context=cpu).values, exact)

    def calls_nothing(x: Any) -> Any:
        none: Any = None
        return none(x)

    def refuses(x: Any) -> Any:
        raise NotImplementedError("of the caller's")

    for function, error in ((calls_nothing, TypeError), (refuses, NotImplementedError)):
        own = linalg.LinearOperator((N, N), matvec=lambda x: SYMMETRIC @ x, rmatvec=function, dtype=np.float64)
        with pytest.raises(error, match="^'NoneType' object is not callable$|^of the caller's$"):
            lanczos.solve(own, 2, kind="gram", context=cpu)


def test_vectors_on_a_device_are_refused_when_their_product_has_returned() -> None:
    kept: list[DeviceVectors] = []

    def product(x: DeviceVectors, y: DeviceVectors, stream: int) -> None:
        assert x.__cuda_array_interface__["data"] == (4096, False) and y.__cuda_array_interface__["shape"] == (3, 2)
        kept.extend((x, y))
        if len(kept) > 2:
            raise KeyError("second")

    relay = DeviceProducts(product, product, (3, 3), np.dtype(np.float64))
    assert [relay._call(0, 2, 4096, 3, 8192, 3, 1, None) for _ in range(2)] == [0, 1]
    with pytest.raises(KeyError, match="second"):
        relay.raise_caught()
    for vectors in kept:
        with pytest.raises(ValueError, match="vectors: are of a product that has returned"):
            vectors.__cuda_array_interface__
