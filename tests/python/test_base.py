"""Version, devices, errors, contexts, groups and streams."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import purlin


def test_version_is_the_headers() -> None:
    numbers = (purlin.VERSION_MAJOR, purlin.VERSION_MINOR, purlin.VERSION_PATCH)
    assert purlin.__version__ == ".".join(map(str, numbers))
    assert purlin.__version__ in purlin.build_info()


def test_devices_have_memory() -> None:
    assert all(device.memory_total > 0 and device.name for device in purlin.devices())


def test_context_properties() -> None:
    with purlin.Context("cpu", threads=2, cpu_isa="portable", host_memory_limit=1 << 20) as context:
        info = context.properties
        assert (info.backend, info.threads, info.cpu_isa) == ("cpu", 2, "portable")
        assert info.host_memory_limit == 1 << 20
        with pytest.raises(purlin.OutOfMemory) as caught:
            purlin.Tensor.create((1 << 20,), context=context)
        assert isinstance(caught.value, MemoryError)
        assert caught.value.status == purlin.ERROR_OUT_OF_MEMORY
        held = purlin.Tensor.create((100,), context=context)
        assert context.properties.host_memory_used >= 800
        held.close()


def test_errors_carry_status_and_text() -> None:
    with pytest.raises(purlin.InvalidArgument, match="threads.*-1") as caught:
        purlin.Context("cpu", threads=-1)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, purlin.Error)
    assert caught.value.status == purlin.ERROR_INVALID_ARGUMENT
    assert purlin.status_name(caught.value.status) == "PURLIN_ERROR_INVALID_ARGUMENT"
    assert purlin.status_name(12345)


def test_a_device_is_used_or_refused() -> None:
    with pytest.raises(purlin.InvalidArgument, match="device: is 100, the backend CPU has no device but 0"):
        purlin.Context("cpu", device=100)
    with pytest.raises(purlin.InvalidArgument, match="device_memory_limit: is 4096, the backend CPU has no device memory"):
        purlin.Context("cpu", device_memory_limit=4096)
    purlin.Context("auto", device_memory_limit=1 << 30).close()
    for backend in ("auto", "cuda"):
        with pytest.raises(purlin.NoDevice):
            purlin.Context(backend, device=100)  # type: ignore[arg-type]


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ValueError, match="'gpu', expected one of 'auto', 'cpu', 'cuda'"):
        purlin.Context("gpu")  # type: ignore[arg-type]


def test_closed_objects_are_refused(cpu: purlin.Context) -> None:
    stream = purlin.Stream(cpu)
    stream.synchronize()
    assert not stream.closed
    stream.close()
    stream.close()
    assert stream.closed
    with pytest.raises(purlin.InvalidHandle, match="stream: is closed"):
        stream.synchronize()


def test_options_are_refused_by_name(cpu: purlin.Context) -> None:
    a = np.eye(8)
    with pytest.raises(TypeError, match="'restart' is not an option; it is 'restart_path' here"):
        purlin.rsvd.Rsvd(2, restart="state", context=cpu)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'foo' is not an option; there are .*dtype, .*group, .*restart_path"):
        purlin.rsvd.Rsvd(2, foo=1, context=cpu)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'foo' is not an option; there are .*dtype, .*group, .*lambda_, "):
        purlin.rpca.Rpca(foo=1, context=cpu)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'foo' is not an option; there are .*group"):
        purlin.lanczos.solve(a, 1, foo=1, context=cpu)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="dtype: is 1, expected one of float32"):
        purlin.rsvd.Rsvd(2, dtype=1, context=cpu)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="dtype: is 1, expected one of float32"):
        purlin.rpca.Rpca(dtype=1, context=cpu)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="restart_path: is 1, expected a path"):
        purlin.rsvd.Rsvd(2, restart_path=1, context=cpu)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="group: is a int, a Group is needed"):
        purlin.lanczos.solve(a, 1, group=1, context=cpu)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="log: is a int, a function is needed"):
        purlin.Context("cpu", log=1)  # type: ignore[arg-type]
    for word in ("bogus", float("nan"), -1):
        with pytest.raises(ValueError, match="log_level: is .*, expected one of"):
            purlin.Context("cpu", log_level=word)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^scale: is 2, expected True or False$"):
        purlin.rsvd.Rsvd(2, scale=2, context=cpu)  # type: ignore[arg-type]


def test_groups_of_contexts(cpu: purlin.Context) -> None:
    before = purlin.live_handles()
    with purlin.Context("cpu", threads=1) as other:
        group = purlin.Group([cpu, other])
        assert len(group) == 2 and group.contexts == (cpu, other)
        with pytest.raises(purlin.InvalidArgument, match=r"contexts\[2\]: is given twice"):
            purlin.Group([cpu, other, other])
    assert len(group) == 2, "the group keeps its members"
    with pytest.raises(purlin.InvalidHandle, match="context: is closed"):
        purlin.Group([cpu, other])
    with pytest.raises(purlin.InvalidArgument, match="count: is 0"):
        purlin.Group([])
    with pytest.raises(TypeError, match=r"contexts\[1\]: is a NoneType, a Context is needed"):
        purlin.Group([cpu, None])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="group: is a list, a Group is needed"):
        purlin.rsvd.Rsvd(3, group=[cpu])  # type: ignore[arg-type]
    group.close()
    with pytest.raises(purlin.InvalidHandle, match="group: is closed"):
        len(group)
    assert purlin.live_handles() == before


def test_handles_of_another_kind_are_refused(cpu: purlin.Context) -> None:
    from purlin._error import check
    from purlin._lib import lib

    with purlin.Tensor.create((1,), context=cpu) as tensor:
        with pytest.raises(purlin.InvalidHandle):
            check(lib.purlin_stream_synchronize(tensor.handle))


def test_any_order_of_destruction() -> None:
    context = purlin.Context("cpu")
    tensor = purlin.Tensor.create((3,), context=context)
    context.close()
    assert tensor.shape == (3,)
    with pytest.raises(purlin.InvalidHandle):
        purlin.Tensor.create((3,), context=context)
    tensor.close()


def test_default_context_is_made_once_and_again() -> None:
    first = purlin.default_context()
    assert purlin.default_context() is first
    purlin.close_default_context()
    assert first.closed
    assert purlin.default_context() is not first


def test_contexts_work_from_any_thread(cpu: purlin.Context) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for size in range(50):
                with purlin.Tensor.create((size,), context=cpu) as tensor:
                    assert tensor.shape == (size,)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_refuses_the_parents_context(cpu: purlin.Context) -> None:
    purlin.default_context()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            purlin.Tensor.create((1,), context=cpu)
        except purlin.Forked:
            # A context of the child's own works, and so does the default one.
            with purlin.Context("cpu") as own, purlin.Tensor.create((1,), context=own):
                code = 0 if purlin.default_context().properties.threads > 0 else 2
        except BaseException:
            code = 3
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_import_names_the_missing_library() -> None:
    environment = dict(os.environ, PURLIN_LIBRARY="/nonexistent/libpurlin.so")
    run = subprocess.run([sys.executable, "-c", "import purlin"], env=environment, capture_output=True, text=True)
    assert run.returncode != 0
    assert "PURLIN_LIBRARY" in run.stderr and "/nonexistent/libpurlin.so" in run.stderr


def test_numpy_is_the_only_dependency() -> None:
    """Modules that only type checkers need are not imported."""
    code = "import sys; sys.modules['typing_extensions'] = None; import purlin"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space and binds to one processor")
def test_threads_of_a_new_context_need_no_memory_any_more() -> None:
    """A thread whose thread-local data is refused ends the process. On one processor it may begin late."""
    code = """if True:
    import ctypes, os, resource, time
    import purlin
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    purlin.Context("cpu", threads=1).close()
    sizes = [1 << k for k in range(20, 3, -1)]
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    context = purlin.Context("cpu", threads=4)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used, limit))
    malloc = libc.malloc
    for size in sizes:
        while malloc(size):
            pass
    time.sleep(0.05)
    libc._exit(0)
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
