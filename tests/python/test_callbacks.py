"""Progress and log functions, cancellation, and exceptions out of them."""

from __future__ import annotations

import _thread
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import dwi, fdk, graph, lanczos, pca, rpca, rsvd, sshopm, tt
from purlin.blocks import Source

TENSORS = np.random.default_rng(31).standard_normal((3000, 15))


class Stop(Exception):
    """An exception of the test's own, which the library must pass through."""


def test_progress_is_reported_to_the_end(cpu: purlin.Context) -> None:
    calls: list[tuple[int, int, float]] = []
    main = threading.get_ident()

    def progress(step: int, steps: int, measure: float) -> None:
        assert threading.get_ident() == main
        calls.append((step, steps, measure))

    sshopm.solve(TENSORS, progress=progress, context=cpu)
    assert calls
    steps = [step for step, _, _ in calls]
    assert steps == sorted(steps)
    assert calls[-1][0] == calls[-1][1]


def calls_with_a_line(cpu: purlin.Context) -> dict[str, Any]:
    """One call of each family that takes `progress`."""
    rng = np.random.default_rng(3)
    dense, graph_ = rng.standard_normal((60, 40)), np.ones((30, 30)) - np.eye(30)
    train = [rng.standard_normal(shape) for shape in ((1, 2, 3), (3, 2, 1))]
    geometry = fdk.Geometry(24, 20, 2.0, 2.0, 80.0, 120.0, angles=2 * np.pi / 24 * np.arange(24))
    grid = fdk.Grid.centred((12, 12, 12), (2.0, 2.0, 2.0))
    views = np.ones((24, 20, 24), np.float32)
    signals = np.exp(-np.ones((50, 41)))
    bvals, bvecs = np.r_[0.0, np.full(40, 1000.0)], np.vstack([np.zeros(3), sshopm.starts(40, context=cpu)])

    def fitted(progress: Any) -> None:
        with pca.PCA(3, progress=progress, context=cpu) as model:
            model.fit(dense)
            assert model.get_params()["progress"] is progress

    return {
        "sshopm": lambda p: sshopm.solve(TENSORS[:9], progress=p, context=cpu),
        "dwi": lambda p: dwi.fit(signals, bvals, bvecs, 4, progress=p, context=cpu),
        "fdk": lambda p: fdk.reconstruct(views, geometry, grid, progress=p, context=cpu),
        "rsvd": lambda p: rsvd.compute(dense, 3, progress=p, context=cpu),
        "pca": fitted,
        "rpca": lambda p: rpca.compute(dense, progress=p, context=cpu),
        "lanczos": lambda p: lanczos.solve(graph_, 2, progress=p, context=cpu),
        "graph": lambda p: graph.embed(graph_, 2, progress=p, context=cpu),
        "tt": lambda p: tt.Contraction(progress=p, context=cpu).inner(train, train),
    }


@pytest.mark.parametrize("family", ["sshopm", "dwi", "fdk", "rsvd", "pca", "rpca", "lanczos", "graph", "tt"])
def test_true_prints_one_line_where_there_is_no_terminal(cpu: purlin.Context, capsys: pytest.CaptureFixture[str], family: str) -> None:
    call = calls_with_a_line(cpu)[family]
    for silent in (False, None):
        call(silent)
        assert capsys.readouterr() == ("", "")
    call(True)
    out, err = capsys.readouterr()
    text = r"ended, at most \d+ steps" if family == "rpca" else r"step \d+ of \d+"
    assert not out and re.fullmatch(rf"purlin: {text}(, \S+)?\n", err), err


def test_a_line_that_cannot_be_written_ends_nothing(cpu: purlin.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        assert rsvd.compute(np.eye(5), 2, progress=True, context=cpu).s.shape == (2,)


def test_a_solver_takes_no_other_progress(cpu: purlin.Context) -> None:
    weights = np.ones((9, 9)) - np.eye(9)
    with lanczos.Lanczos(2, context=cpu) as solver:
        assert graph.embed(weights, solver=solver, progress=False).values.shape == (2,)
        with pytest.raises(TypeError, match="solver: is given"):
            graph.embed(weights, solver=solver, progress=True)


def calls_with_progress(cpu: purlin.Context) -> list[Any]:
    scheme = sshopm.starts(40, context=cpu)
    signals = np.exp(-np.ones((2000, 41)))
    bvals = np.r_[0.0, np.full(40, 1000.0)]
    bvecs = np.vstack([np.zeros(3), scheme])
    return [
        lambda progress: sshopm.solve(TENSORS, progress=progress, context=cpu),
        lambda progress: sshopm.runs(TENSORS, scheme, progress=progress, context=cpu),
        lambda progress: sshopm.solve_all(TENSORS[:4], progress=progress, context=cpu),
        lambda progress: dwi.peaks(TENSORS, basis="tensor", progress=progress, context=cpu),
        lambda progress: dwi.fit(signals, bvals, bvecs, 4, progress=progress, context=cpu),
    ]


def test_a_true_result_cancels(cpu: purlin.Context) -> None:
    for call in calls_with_progress(cpu):
        with pytest.raises(purlin.Cancelled) as caught:
            call(lambda *_: True)
        assert caught.value.status == purlin.ERROR_CANCELLED
        call(None)


def test_an_exception_cancels_and_is_raised(cpu: purlin.Context) -> None:
    def progress(*_: object) -> None:
        raise Stop("of the progress")

    for call in calls_with_progress(cpu):
        with pytest.raises(Stop, match="of the progress"):
            call(progress)


def test_ctrl_c_reaches_a_call_without_a_progress_function(cpu: purlin.Context) -> None:
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            sshopm.solve(np.tile(TENSORS, (20, 1)), starts=256, context=cpu)
    timer.join()


def test_ctrl_c_ends_a_pass_over_a_matrix_between_two_blocks(cpu: purlin.Context) -> None:
    x = np.random.default_rng(4).standard_normal((400, 10))
    read = 0

    def slow(where: Any) -> Any:
        nonlocal read
        read += 1
        if read <= 40:
            time.sleep(0.06)
        if read == 3:
            _thread.interrupt_main()
        return x[where]

    with Source.from_function(slow, x.shape, x.dtype, context=cpu) as source:
        with pytest.raises(KeyboardInterrupt):
            rsvd.compute(source, 2, method="direct", block_rows=10, context=cpu)
        # The first pass has forty blocks, some of which are read ahead.
        assert 3 <= read <= 12
        # The next call does not see the interrupt.
        read = 40
        assert rsvd.compute(source, 2, block_rows=10, context=cpu).s.shape == (2,)


@pytest.fixture
def interrupts() -> Iterator[list[str]]:
    """Checks that the test leaves the handler of Ctrl-C in place; the list gets an entry for each of its calls."""
    seen: list[str] = []

    def handler(_signal: int, _frame: object) -> None:
        seen.append("SIGINT")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield seen
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def nested(solver: sshopm.Sshopm, *, ends: Any = None) -> Any:
    """A progress function whose first call makes another call of the same object, and then `ends`."""
    depth = [0]

    def progress(*_: object) -> None:
        depth[0] += 1
        if depth[0] == 1:
            assert solver.solve(TENSORS[:2]).info.tensors == 2
            if ends is not None:
                ends()

    return progress


class Later:
    """A progress function that is given after its object is made."""

    function: Any = None

    def __call__(self, *given: Any) -> object:
        return self.function(*given)


def test_a_call_of_the_same_object_inside_its_progress_leaves_the_handler(
    cpu: purlin.Context, interrupts: list[str]
) -> None:
    later = Later()
    with sshopm.Sshopm(progress=later, context=cpu) as solver:
        later.function = nested(solver)
        assert solver.solve(TENSORS).info.tensors == len(TENSORS)
    # A refused call inside the progress function: its error passes through the callback to the outer call's caller.
    with rpca.Rpca(progress=later, context=cpu) as split:
        later.function = lambda *_: split.compute(np.eye(3))
        with pytest.raises(purlin.Error, match="in use by another call"):
            split.compute(np.random.default_rng(5).standard_normal((60, 40)))
    assert interrupts == []


def test_exceptions_in_and_after_a_nested_call_leave_the_handler(cpu: purlin.Context, interrupts: list[str]) -> None:
    def stop() -> None:
        raise Stop("after the nested call")

    later = Later()
    with sshopm.Sshopm(progress=later, context=cpu) as solver:
        later.function = nested(solver, ends=stop)
        with pytest.raises(Stop, match="after the nested call"):
            solver.solve(TENSORS)

        def both(*_: object) -> None:
            raise Stop("of the inner call")

        inner = sshopm.Sshopm(progress=both, context=cpu)
        later.function = lambda *_: inner.solve(TENSORS)
        with pytest.raises(Stop, match="of the inner call"):
            solver.solve(TENSORS)
    assert interrupts == []


def test_ctrl_c_in_a_nested_call_ends_the_outer_one_too(cpu: purlin.Context, interrupts: list[str]) -> None:
    later = Later()
    with sshopm.Sshopm(progress=later, context=cpu) as solver:
        later.function = nested(solver, ends=_thread.interrupt_main)
        with pytest.raises(KeyboardInterrupt):
            solver.solve(TENSORS)
        assert interrupts == ["SIGINT"]
        inner = sshopm.Sshopm(progress=lambda *_: _thread.interrupt_main(), context=cpu)
        later.function = lambda *_: inner.solve(TENSORS)
        with pytest.raises(KeyboardInterrupt):
            solver.solve(TENSORS)
        assert interrupts == ["SIGINT"] * 2
        later.function = lambda *_: None
        solver.solve(TENSORS[:2])


def test_ctrl_c_ends_a_call_without_a_progress_function(cpu: purlin.Context, interrupts: list[str]) -> None:
    points = np.random.default_rng(4).random((20000, 30))
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        graph.k_means(points, 6, start_count=100_000, context=cpu)
    assert interrupts == ["SIGINT"]
    with pytest.raises(purlin.InvalidArgument, match="clusters"):
        graph.k_means(points, 0, context=cpu)
    with pytest.raises(purlin.Cancelled):
        threading.Timer(0.3, cpu.cancel).start()
        graph.k_means(points, 6, start_count=100_000, context=cpu)


def test_a_call_of_another_thread_leaves_the_handler_and_its_exception_there(
    cpu: purlin.Context, interrupts: list[str]
) -> None:
    x = np.random.default_rng(6).standard_normal((60, 40))
    later = Later()
    with rpca.Rpca(progress=later, context=cpu) as split:
        found: list[BaseException] = []

        def other() -> None:
            try:
                split.compute(x)
            except BaseException as error:
                found.append(error)

        def elsewhere() -> None:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()

        later.function = lambda *_: None if found else elsewhere()
        split.compute(x)
        assert [str(error) for error in found] == ["rpca: is in use by another call"]
        # The call in the other thread raises the exception of its own progress function.
        found.clear()

        def stop(*_: object) -> None:
            raise Stop("in the other thread")

        later.function = stop
        elsewhere()
        assert [type(error) for error in found] == [Stop]
        later.function = lambda *_: None
        split.compute(x)
        found.clear()
    assert interrupts == []


def test_cancel_from_another_thread(cpu: purlin.Context) -> None:
    stop = threading.Event()

    def cancel() -> None:
        while not stop.wait(0.01):
            cpu.cancel()

    other = threading.Thread(target=cancel)
    other.start()
    try:
        with pytest.raises(purlin.Cancelled):
            while True:
                sshopm.solve(np.tile(TENSORS, (20, 1)), starts=256, context=cpu)
    finally:
        stop.set()
        other.join()
    assert sshopm.solve(TENSORS[:2], context=cpu).info.tensors == 2


def test_a_callback_may_query_its_context(cpu: purlin.Context) -> None:
    seen: list[int] = []

    def progress(*_: object) -> None:
        seen.append(cpu.properties.threads)

    sshopm.solve(TENSORS, progress=progress, context=cpu)
    assert seen


def test_log() -> None:
    lines: list[tuple[int, str]] = []
    with purlin.Context("cpu", log=lambda level, text: lines.append((level, text)), log_level="debug") as context:
        assert lines and all(purlin.LOG_ERROR <= level <= purlin.LOG_DEBUG and text for level, text in lines)
        context.set_log(None)
        lines.clear()
        sshopm.solve(TENSORS[:1], context=context)
        assert not lines
        context.set_log(lambda level, text: lines.append((level, text)), "debug")
        sshopm.solve(TENSORS, context=context)
    with purlin.Context("cpu", log=lambda level, text: lines.append((level, text)), log_level="off"):
        lines.clear()
    assert not lines


def test_an_exception_of_the_log_is_raised() -> None:
    def log(_level: int, _text: str) -> None:
        raise Stop("of the log")

    with pytest.raises(Stop, match="of the log"):
        purlin.Context("cpu", log=log, log_level="debug")


ENDS_INSIDE_A_CALL = """
import threading, time
import numpy as np
import purlin
from purlin import blocks, fdk

geometry = fdk.Geometry(64, 48, 4.0, 4.0, 500, 1000, angles=np.arange(60) * 2 * np.pi / 60)
grid = fdk.Grid.centred((24, 24, 24), (4.0, 4.0, 4.0))
lines = np.zeros((60, 48, 64), np.float32)
begun = threading.Event()

def step(*_):
    begun.set()
    time.sleep(0.002)

def read(where):
    begun.set()
    time.sleep(0.001)
    return lines[where]

def work():
    session = fdk.Reconstruction(geometry, grid, view_batch=1, progress=PROGRESS)
    while True:
        session.reconstruct(blocks.Source.from_function(read, lines.shape, np.float32) if READS else lines)
        begun.set()

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.1)
"""


@pytest.mark.parametrize(("progress", "reads"), [("None", False), ("step", False), ("None", True)])
def test_a_program_ends_while_daemon_threads_are_inside_calls(progress: str, reads: bool) -> None:
    """At exit Python ends daemon threads that need the interpreter, but not in a callback: it cannot unwind the library."""
    code = f"READS = {reads}\n" + ENDS_INSIDE_A_CALL.replace("PROGRESS)", f"{progress})")
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr
        assert run.stderr == ""


CALLS_BACK = """
import atexit, sys, threading, time
ended = []
atexit.register(lambda: print(time.monotonic() - ended[0] < 5))
import numpy as np
import purlin
from purlin import blocks, lanczos, pca, rpca, rsvd, spmv

full = np.random.default_rng(0).standard_normal((60, 60))
begun = threading.Event()
x = np.ones(60)
context = purlin.Context("cpu", threads=2)

def slow(x):
    begun.set()
    time.sleep(0.002)
    return full @ x

def read(where):
    begun.set()
    time.sleep(0.002)
    # A call of the library in a thread of its own.
    lanczos.solve(full + full.T, 1, context=context)
    return full[where]

def log(level, text):
    begun.set()
    time.sleep(0.002)

def log_of_a_context():
    purlin.Context("cpu", threads=1, log=log, log_level="debug")

def loop():
    operator = purlin.Matrix.from_operator(slow, lambda x: full.T @ x, full.shape, context=context)
    source = blocks.Source.from_function(read, full.shape, "d", context=context)
    plan, model = spmv.Plan(operator), pca.PCA(2, context=context).fit(full)
    sinks = [blocks.Sink.to_function(lambda where, block: slow(x), full.shape, "d", context=context) for _ in range(100)]
    if sys.argv[1] == "eigsh":
        from scipy.sparse.linalg import aslinearoperator, eigsh
    work = {
        "@": lambda: operator @ x,
        "matvec": lambda: operator.matvec(x),
        "matmat": lambda: operator.matmat(np.ones((60, 3))),
        "plan": lambda: plan.apply(x),
        "eigsh": lambda: eigsh(aslinearoperator(operator), 2, maxiter=10000, tol=1e-15),
        "transform": lambda: model.transform(operator),
        "transform of a source": lambda: model.transform(source),
        "source": lambda: rsvd.compute(source, 2, context=context),
        "sinks": lambda: rpca.compute_to_sinks(full, sinks.pop(), sinks.pop(), context=context),
        "log": log_of_a_context,
    }[sys.argv[1]]
    while True:
        work()

for _ in range(4):
    threading.Thread(target=loop, daemon=True).start()
begun.wait()
time.sleep(0.1)
atexit.register(lambda: ended.append(time.monotonic()))
"""


@pytest.mark.parametrize(
    "call",
    ["@", "matvec", "matmat", "plan", "eigsh", "transform", "transform of a source", "source", "sinks", "log"],
)
def test_a_program_ends_while_daemon_threads_are_in_calls_without_progress(call: str) -> None:
    """And it ends at once: no callback waits for a call of its own."""
    if call == "eigsh":
        pytest.importorskip("scipy.sparse.linalg", reason="no SciPy")
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", CALLS_BACK, call], capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stdout, run.stderr) == (0, "True\n", "")


def test_a_finalizer_in_another_thread_does_not_hold_it_when_the_program_ends() -> None:
    code = """if True:
    import atexit, threading
    lock, begun, go = threading.Lock(), threading.Event(), threading.Event()
    atexit.register(lambda: print(lock.acquire(timeout=30)))
    import purlin
    matrices = [purlin.Matrix.create(3, 3) for _ in range(2)]
    def work():
        with lock:
            begun.set()
            go.wait()
            matrices.pop()
            matrices.pop().close()
    threading.Thread(target=work, daemon=True).start()
    begun.wait()
    from purlin._calls import calls
    ends = calls._end
    def after(): go.set()
    atexit.unregister(ends)
    atexit.register(after)
    atexit.register(ends)
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "True\n", "")


def test_a_program_may_end_in_another_thread_than_the_main_one() -> None:
    """As that of a host which ends the interpreter there: handles are destroyed, and functions at the end may compute."""
    code = """if True:
    import atexit, threading
    atexit.register(lambda: print(float((purlin.Matrix.dense(np.eye(3)) @ np.ones(3)).sum())))
    import numpy as np, purlin
    matrices = [purlin.Matrix.create(3, 3, context=purlin.Context("cpu", threads=1)) for _ in range(3)]
    atexit.register(lambda: print(purlin.live_handles()))
    matrices.append(purlin.Matrix.create(3, 3))
    thread = threading.Thread(target=atexit._run_exitfuncs, daemon=True)
    thread.start()
    thread.join(30)
    print(thread.is_alive(), [one.closed for one in matrices])
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    expected = "8\n3.0\nFalse [True, True, True, True]\n"
    assert (run.returncode, run.stdout, run.stderr) == (0, expected, "")


def test_calls_of_graphs_work_in_functions_at_the_end_of_the_program() -> None:
    code = """if True:
    import atexit
    atexit.register(lambda: print(graph.k_means(np.eye(4)[[0, 0, 3, 3]], 2).inertia))
    import numpy as np
    from purlin import graph
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "0.0\n", "")


def test_a_session_works_in_the_main_thread_and_then_in_another(cpu: purlin.Context) -> None:
    geometry = purlin.fdk.Geometry(16, 8, 4.0, 4.0, 500, 1000, angles=np.arange(12) * np.pi / 6)
    lines = np.ones((12, 8, 16), np.float32)
    session = purlin.fdk.Reconstruction(geometry, purlin.fdk.Grid.centred((3, 3, 3), (4.0, 4.0, 4.0)), context=cpu)
    want = session.reconstruct(lines)
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(session.reconstruct(lines))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], want)


@pytest.mark.parametrize("wrong", [1, "text", []])
def test_a_progress_that_is_no_function_is_refused_by_name(wrong: Any) -> None:
    w = np.diag(np.ones(19), 1) + np.diag(np.ones(19), -1)
    a = np.ones((6, 5))
    panel = purlin.fdk.Geometry(8, 6, 2.0, 2.0, 500.0, 1000.0, angles=np.arange(0, 6.2, 0.5))
    calls: list[Callable[[], Any]] = [
        lambda: purlin.rsvd.compute(a, 2, progress=wrong),
        lambda: purlin.rsvd.Rsvd(2, progress=wrong),
        lambda: purlin.pca.PCA(2, progress=wrong),
        lambda: purlin.rpca.compute(a, progress=wrong),
        lambda: purlin.lanczos.solve(w, 2, progress=wrong),
        lambda: purlin.lanczos.Lanczos(2, progress=wrong),
        lambda: purlin.fdk.Reconstruction(panel, progress=wrong),
        lambda: purlin.tt.Contraction(progress=wrong),
        lambda: purlin.sshopm.solve(np.ones(15), progress=wrong),
        lambda: purlin.dwi.peaks(np.ones((2, 15)), basis="tensor", progress=wrong),
        lambda: purlin.graph.density(w, progress=wrong),
        lambda: purlin.graph.fiedler(w, progress=wrong),
        lambda: purlin.graph.cluster(w, 2, progress=wrong),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="^progress: is .*, expected a function, True, False or None$"):
            call()
