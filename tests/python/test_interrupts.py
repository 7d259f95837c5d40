"""Ctrl-C during calls without a progress function: they end soon, and everything is as before."""

from __future__ import annotations

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
from purlin import tt
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
