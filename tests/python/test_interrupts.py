"""Ctrl-C during calls without a progress function: they end soon, and everything is as before."""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import dwi, fdk, graph, pca, rsvd, sparse, sshopm, symmetric, tt
from purlin._interrupts import Interruption


def long_train(context: purlin.Context) -> tt.Train:
    """A train whose rounding takes seconds."""
    return tt.random([8] * 16, [1] + [400] * 15 + [1], context=context)


@pytest.fixture
def handlers() -> Iterator[None]:
    """The handlers of signals stand as before after the test."""
    before, file = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(file)
    yield
    assert signal.set_wakeup_fd(-1) == file
    signal.signal(signal.SIGINT, before)


def signalled(work: Callable[[], Any], number: int = signal.SIGINT, after: float = 0.4) -> tuple[Any, float]:
    """What a call raised or returned, and the seconds from a signal during the call to its end."""
    sent: list[float] = []

    def send() -> None:
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        found: Any = work()
    except (KeyboardInterrupt, purlin.Cancelled) as error:
        # Without the frames that hold the objects of the call.
        found = error.with_traceback(None)
    end = time.monotonic()
    sender.join()
    return found, end - sent[0]


CALLS: dict[str, Callable[[tt.Train], Any]] = {
    "round": lambda x: tt.round(x, 1e-9),
    "canonicalize": lambda x: tt.canonicalize(x, 8),
    "norm": lambda x: [tt.norm(x, norm_method="qr", context=x.context) for _ in iter(int, 1)],
    "environments": lambda x: [tt.Environments(x, x, context=x.context).build("left", 15) for _ in iter(int, 1)],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_ends_soon(name: str, cpu: purlin.Context, handlers: None) -> None:
    x = long_train(cpu)
    former = signal.getsignal(signal.SIGINT)
    found, seconds = signalled(lambda: CALLS[name](x))
    assert isinstance(found, KeyboardInterrupt)
    # A step of a core is a few tenths of a second on a machine without other work.
    assert seconds < 2
    assert signal.getsignal(signal.SIGINT) is former
    # The context takes the next call.
    assert tt.ones([2, 3], context=cpu).modes == (2, 3)
    time.sleep(0.1)
    assert tt.element(tt.ones([2, 3], context=cpu), [0, 0]) == 1


def scanner(context: purlin.Context) -> fdk.Reconstruction:
    angles = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    geometry = fdk.Geometry(512, 512, 1.0, 1.0, 500.0, 1000.0, angles=angles)
    return fdk.Reconstruction(geometry, fdk.Grid((256, 256, 256), (1.0,) * 3, (-128.0,) * 3), context=context)


def coordinates() -> Any:
    return np.random.default_rng(0).integers(0, 10**6, (2, 10**7))


# Each takes seconds: what it needs, and the call.
OTHERS: dict[str, tuple[Callable[[purlin.Context], Any], Callable[[Any, purlin.Context], Any]]] = {
    "sketch": (lambda at: None, lambda _, at: rsvd.sketch(10**6, 60, context=at)),
    "project": (scanner, lambda scan, at: scan.project(fdk.shepp_logan(60.0))),
    "draw": (scanner, lambda scan, at: [scan.draw(fdk.shepp_logan(60.0)) for _ in iter(int, 1)]),
    "random": (lambda at: None, lambda _, at: [tt.random([4] * 8, [1, *[300] * 7, 1], context=at) for _ in iter(int, 1)]),
    "from_coordinates": (
        lambda at: coordinates(),
        lambda given, at: [sparse.from_coordinates(*given, None, (10**6, 10**6), context=at) for _ in iter(int, 1)],
    ),
    "starts": (lambda at: None, lambda _, at: [sshopm.starts(10**6, 8, context=at) for _ in iter(int, 1)]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_call_of_any_family_ends_soon(name: str, cpu: purlin.Context, handlers: None) -> None:
    prepare, call = OTHERS[name]
    with contextlib.ExitStack() as stack:
        given = prepare(cpu)
        if isinstance(given, fdk.Reconstruction):
            stack.enter_context(given)
        found, seconds = signalled(lambda: call(given, cpu))
    assert isinstance(found, KeyboardInterrupt)
    assert seconds < 2


def test_calls_watch_for_signals(cpu: purlin.Context, handlers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that take long for large inputs, by a count of the watches: the inputs here are small."""
    watched: list[object] = []
    enter = Interruption.__enter__
    monkeypatch.setattr(Interruption, "__enter__", lambda self: (watched.append(self), enter(self))[1])
    path = sparse.from_coordinates([0, 1, 1, 2], [1, 0, 2, 1], None, (3, 3), context=cpu)
    model = pca.PCA(1, context=cpu).fit(np.eye(4, 3))
    packed = np.ones((2, 15))
    calls: list[Callable[[], Any]] = [
        lambda: sparse.from_coordinates([0], [0], None, (2, 2), context=cpu),
        lambda: purlin.Matrix.csr([0, 1], [0], [1.0], (1, 1), copy=True, context=cpu),
        lambda: sparse.transpose(path),
        lambda: sparse.to_dense(path),
        lambda: sparse.norm(path),
        lambda: sparse.check(path),
        lambda: sparse.is_symmetric(path),
        lambda: sparse.row_sums(path),
        lambda: sparse.order(path, "degree"),
        lambda: graph.components(path),
        lambda: graph.component(path),
        lambda: graph.bisect(path, [1.0, -1.0, 0.5]),
        lambda: graph.of_image(np.eye(4), context=cpu),
        lambda: model.transform(np.eye(4, 3)),
        lambda: model.inverse_transform(np.ones((2, 1))),
        lambda: rsvd.sketch(3, 2, context=cpu),
        lambda: sshopm.product(packed, np.ones(3), 4, context=cpu),
        lambda: sshopm.starts(4, context=cpu),
        lambda: symmetric.convert(packed, "entries", "polynomial", context=cpu),
        lambda: symmetric.to_full(packed, context=cpu),
        lambda: symmetric.from_full(np.eye(3), context=cpu),
        lambda: symmetric.norm(packed, context=cpu),
        lambda: dwi.sh_to_tensor(packed, "mrtrix3", context=cpu),
        lambda: dwi.tensor_to_sh(packed, "mrtrix3", context=cpu),
        lambda: fdk.log_transform(np.ones((1, 2, 2), np.uint16), 1.0, context=cpu),
    ]
    for call in calls:
        watched.clear()
        call()
        assert watched, inspect.getsource(call)


def test_a_handler_that_does_not_raise_is_called_once(cpu: purlin.Context, handlers: None) -> None:
    x, seen = long_train(cpu), []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    found, _ = signalled(lambda: tt.round(x, 1e-9))
    assert isinstance(found, purlin.Cancelled)
    assert seen == [signal.SIGINT]


def test_a_signal_that_is_ignored_ends_no_call(cpu: purlin.Context, handlers: None) -> None:
    x = tt.random([4] * 8, [1] + [120] * 7 + [1], context=cpu)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    found, _ = signalled(lambda: [tt.round(x, 1e-9) for _ in range(20)], after=0.02)
    assert len(found) == 20


def test_another_signal_ends_no_call_and_reaches_its_handler(cpu: purlin.Context, handlers: None) -> None:
    x, seen = tt.random([4] * 8, [1] + [120] * 7 + [1], context=cpu), []
    former = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        found, _ = signalled(lambda: [tt.round(x, 1e-9) for _ in range(20)], signal.SIGUSR1, 0.02)
    finally:
        signal.signal(signal.SIGUSR1, former)
    assert len(found) == 20 and seen == [signal.SIGUSR1]


def test_a_loop_of_events_gets_its_signals(cpu: purlin.Context, handlers: None) -> None:
    """asyncio waits for the numbers of signals in a file of its own."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    os.set_blocking(read, False)
    former = signal.set_wakeup_fd(write)
    try:
        x = long_train(cpu)
        found, _ = signalled(lambda: tt.round(x, 1e-9))
        assert isinstance(found, KeyboardInterrupt)
        assert signal.set_wakeup_fd(write) == write
        assert signal.SIGINT in os.read(read, 16)
    finally:
        signal.set_wakeup_fd(former)
        os.close(read)
        os.close(write)


def test_a_call_of_another_thread_is_left_alone(cpu: purlin.Context) -> None:
    made: list[Any] = []

    def work() -> None:
        with Interruption(cpu.cancel) as call:
            made.append(signal.getsignal(signal.SIGINT))
        call.raise_caught()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert made == [signal.getsignal(signal.SIGINT)]


def test_an_interrupt_during_an_inner_call_ends_the_outer_one(handlers: None) -> None:
    cancelled: list[str] = []
    found: list[BaseException] = []
    with Interruption(lambda: cancelled.append("outer")) as outer:
        with Interruption(lambda: cancelled.append("inner")) as inner:
            os.kill(os.getpid(), signal.SIGINT)
            latest = time.monotonic() + 5
            while "inner" not in cancelled and time.monotonic() < latest:
                time.sleep(0.01)
        inner.raise_caught()
        while "outer" not in cancelled and time.monotonic() < latest:
            time.sleep(0.01)
    try:
        outer.raise_caught()
    except KeyboardInterrupt as error:
        found.append(error)
    assert {"inner", "outer"} <= set(cancelled) and len(found) == 1


def test_a_small_call_costs_little_more(handlers: None) -> None:
    def empty() -> None:
        with Interruption(int) as call:
            pass
        call.raise_caught()

    assert min(timeit.repeat(empty, number=500, repeat=40)) / 500 < 20e-6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_child_of_a_fork_is_interrupted_too() -> None:
    program = """
        import os, signal, threading, time
        import purlin
        from purlin import tt

        def interrupted():
            with purlin.Context("cpu") as context:
                x = tt.random([8] * 16, [1] + [400] * 15 + [1], context=context)
                threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
                begin = time.monotonic()
                try:
                    tt.round(x, 1e-9)
                except KeyboardInterrupt:
                    return time.monotonic() - begin < 3
                return False

        assert interrupted()
        child = os.fork()
        if child == 0:
            os._exit(0 if interrupted() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print("done")
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
    assert run.stdout == "done\n", run.stderr


def test_results_are_those_of_a_call_without_the_watch(cpu: purlin.Context) -> None:
    x = tt.random([2, 3, 2], [1, 2, 2, 1], seed=5, context=cpu)
    assert np.allclose(tt.full(tt.round(x).train), tt.full(x))
