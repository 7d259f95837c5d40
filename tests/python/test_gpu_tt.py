"""Tensor trains on a GPU: results that stay on the device, and graphs that capture the calls."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import tt

pytestmark = pytest.mark.skipif(not purlin.devices(), reason="no GPU")
cupy = pytest.importorskip("cupy")

RANKS = {
    "chain": [1, 2, 9, 16, 4, 1],
    "ring": [6, 3, 5, 4, 7, 6],
    "grid": [1, 2, 90, 130, 70, 1],
    "ends": [1, 2, 300, 280, 4, 1],
    "blocks": [40, 3, 9, 20, 7, 40],
}


def cores(ranks: list[int], dtype: Any, seed: int) -> list[Any]:
    """Random cores on the device, first index fastest."""
    random = np.random.default_rng(seed)
    made = []
    for left, right in zip(ranks, ranks[1:]):
        parts = random.uniform(-1, 1, (2, left, 2, right))
        core = parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]
        made.append(cupy.asfortranarray(cupy.asarray(core.astype(dtype))))
    return made


def number(result: Any) -> complex:
    re, im, exponent, outcome = result.get()
    assert outcome == 0
    return complex(re, im) * 2.0**exponent


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("kind", list(RANKS))
def test_a_graph_is_replayed_with_other_cores(gpu: purlin.Context, dtype: Any, kind: str) -> None:
    x, y = cores(RANKS[kind], dtype, 1), cores(RANKS[kind], dtype, 2)
    result, norm, workspace = cupy.full(4, np.nan), cupy.full(4, np.nan), cupy.zeros(32 << 20)
    queue = cupy.cuda.Stream(non_blocking=True)
    with (
        tt.Contraction(context=gpu) as session,
        tt.Train(x, context=gpu) as a,
        tt.Train(y, context=gpu) as b,
        purlin.Tensor.borrow(result, context=gpu) as place,
        purlin.Tensor.borrow(norm, context=gpu) as size,
        purlin.Stream(gpu, cuda_stream=queue.ptr) as stream,
    ):
        session.set_workspace(workspace)
        session.enqueue_inner(a, b, place, stream=stream)
        session.enqueue_norm(a, size, stream=stream)
        queue.synchronize()
        first, bound = session.inner(a, b), 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-12
        assert abs(number(result) - first) <= bound * session.norm(a) * session.norm(b)
        queue.begin_capture()
        try:
            session.enqueue_inner(a, b, place, stream=stream)
            session.enqueue_norm(a, size, stream=stream)
            for call in (lambda: session.inner(a, b, stream=stream), lambda: session.inner_batch([a], [b], stream=stream)):
                with pytest.raises(purlin.Error, match="stream: is being captured"):
                    call()
        finally:
            graph = queue.end_capture()
        for seed in (3, 4):
            for old, new in zip(x, cores(RANKS[kind], dtype, seed)):
                old[...] = new
            result[...] = norm[...] = np.nan
            cupy.cuda.get_current_stream().synchronize()
            graph.launch(queue)
            queue.synchronize()
            again = session.inner(a, b)
            assert abs(number(result) - again) <= bound * session.norm(a) * session.norm(b)
            assert abs(number(norm) - session.norm(a)) <= bound * session.norm(a)
            assert abs(again - first) > bound * abs(first)


def nodes(graph: Any) -> int:
    """Number of operations in a captured graph."""
    count = ctypes.c_size_t(-1)
    get = ctypes.CDLL("libcuda.so.1").cuGraphGetNodes
    assert get(ctypes.c_void_p(graph.graph), None, ctypes.byref(count)) == 0
    return count.value


@pytest.mark.parametrize("on_device", [True, False])
@pytest.mark.parametrize("kind", ["chain", "ring", "grid"])
def test_calls_that_wait_leave_nothing_in_a_graph(gpu: purlin.Context, kind: str, on_device: bool) -> None:
    x, y = cores(RANKS[kind], np.float64, 1), cores(RANKS[kind], np.float64, 2)
    h = [cupy.asfortranarray(cupy.ones((1, 2, 2, 1))) for _ in x]
    if not on_device:
        x, y, h = ([core.get(order="F") for core in given] for given in (x, y, h))
    queue = cupy.cuda.Stream(non_blocking=True)
    with (
        tt.Contraction(context=gpu) as session,
        tt.Contraction(context=gpu, norm_method="qr") as factors,
        tt.Train(x, context=gpu) as a,
        tt.Train(y, context=gpu) as b,
        tt.TrainMatrix(h, context=gpu) as operator,
        purlin.Stream(gpu, cuda_stream=queue.ptr) as stream,
    ):
        calls = [
            lambda: session.inner(a, b, stream=stream),
            lambda: session.inner_scaled(a, b, stream=stream),
            lambda: session.norm(a, stream=stream),
            lambda: session.distance(a, b, stream=stream),
            lambda: session.inner_batch([a], [b], stream=stream),
            lambda: session.gram([a, b], stream=stream),
            lambda: session.sandwich(a, operator, b, stream=stream),
            lambda: session.rayleigh(operator, a, stream=stream),
            lambda: factors.norm(a, stream=stream),
            lambda: factors.distance(a, b, stream=stream),
        ]
        for number_of_call, call in enumerate(calls):
            queue.begin_capture()
            try:
                with pytest.raises(purlin.NotSupported, match="stream: is being captured"):
                    call()
            finally:
                graph = queue.end_capture()
            assert nodes(graph) == 0, number_of_call
        # The session is as before.
        assert np.isfinite(session.norm(a)) and np.isfinite(factors.norm(a))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("kind", ["ring", "grid"])
@pytest.mark.parametrize("gives_workspace", [True, False])
def test_a_graph_of_halves_powers_and_factors_is_replayed(gpu: purlin.Context, dtype: Any, kind: str, gives_workspace: bool) -> None:
    x, y = cores(RANKS[kind], dtype, 1), cores(RANKS[kind], dtype, 2)
    results = [cupy.full(4, np.nan) for _ in range(4)]
    workspace = cupy.zeros(32 << 20)
    queue = cupy.cuda.Stream(non_blocking=True)
    bound = 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-11
    with (
        tt.Contraction(context=gpu, method="halves") as halves,
        tt.Contraction(context=gpu, method="power", repeat=5) as power,
        tt.Contraction(context=gpu, norm_method="qr") as factors,
        tt.Train(x, context=gpu) as a,
        tt.Train(y, context=gpu) as b,
        purlin.Tensor.borrow(results[0], context=gpu) as product,
        purlin.Tensor.borrow(results[1], context=gpu) as trace,
        purlin.Tensor.borrow(results[2], context=gpu) as size,
        purlin.Tensor.borrow(results[3], context=gpu) as apart,
        purlin.Stream(gpu, cuda_stream=queue.ptr) as stream,
    ):
        sessions = (halves, power, factors)

        def enqueue() -> None:
            halves.enqueue_inner(a, b, product, stream=stream)
            power.enqueue_inner(a, b, trace, stream=stream)
            factors.enqueue_norm(a, size, stream=stream)
            factors.enqueue_distance(a, b, apart, stream=stream)

        queue.begin_capture()
        try:
            for call in (lambda: power.enqueue_inner(a, b, trace, stream=stream), lambda: factors.enqueue_norm(a, size, stream=stream)):
                with pytest.raises(purlin.NotSupported, match="stream: is being captured"):
                    call()
        finally:
            queue.end_capture()
        if gives_workspace:
            for session in sessions:
                session.set_workspace(workspace)
        enqueue()
        queue.synchronize()
        queue.begin_capture()
        try:
            enqueue()
        finally:
            graph = queue.end_capture()
        for seed in (3, 4):
            for old, new in zip(x, cores(RANKS[kind], dtype, seed)):
                old[...] = new
            for result in results:
                result[...] = np.nan
            cupy.cuda.get_current_stream().synchronize()
            # Other calls of the same objects do not overwrite the graph's workspace.
            want, around, norm = halves.inner(a, b), power.inner_scaled(a, b), factors.norm(a)
            graph.launch(queue)
            queue.synchronize()
            assert abs(number(results[0]) - want) <= bound * norm * halves.norm(b)
            re, im, exponent, outcome = results[1].get()
            assert outcome == 0
            relative = complex(re, im) * 2.0 ** (exponent - around.exponent) / around.mantissa
            assert abs(relative - 1) <= 100 * bound
            assert abs(number(results[2]) - norm) <= bound * norm
            assert abs(number(results[3]) - factors.distance(a, b)) <= bound * norm


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("kind", ["chain", "ring"])
def test_a_graph_of_an_operator_is_replayed_with_other_cores(gpu: purlin.Context, dtype: Any, kind: str) -> None:
    x = cores(RANKS[kind], dtype, 1)
    value, quotient, workspace = cupy.full(4, np.nan), cupy.full(4, np.nan), cupy.zeros(32 << 20)
    queue = cupy.cuda.Stream(non_blocking=True)
    precision = np.float32 if np.finfo(dtype).eps > 1e-10 else np.float64
    bound = 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-12
    with (
        tt.Contraction(context=gpu) as session,
        tt.Train(x, context=gpu) as a,
        tt.ising(len(x), 1.0, 0.7, cyclic=kind == "ring", dtype=precision, context=gpu) as h,
        purlin.Tensor.borrow(value, context=gpu) as numerator,
        purlin.Tensor.borrow(quotient, context=gpu) as ratio,
        purlin.Stream(gpu, cuda_stream=queue.ptr) as stream,
    ):
        session.set_workspace(workspace)
        session.enqueue_sandwich(a, h, a, numerator, stream=stream)
        session.enqueue_rayleigh(h, a, ratio, stream=stream)
        queue.synchronize()
        queue.begin_capture()
        try:
            session.enqueue_sandwich(a, h, a, numerator, stream=stream)
            session.enqueue_rayleigh(h, a, ratio, stream=stream)
        finally:
            graph = queue.end_capture()
        for seed in (3, 4):
            for old, new in zip(x, cores(RANKS[kind], dtype, seed)):
                old[...] = new
            value[...] = quotient[...] = np.nan
            cupy.cuda.get_current_stream().synchronize()
            graph.launch(queue)
            queue.synchronize()
            size = session.norm(a) ** 2
            assert abs(number(value) - session.sandwich(a, h, a)) <= 8 * bound * size
            assert abs(number(quotient) - session.rayleigh(h, a)) <= 8 * bound


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_a_graph_applies_environments_to_other_vectors(gpu: purlin.Context, dtype: Any) -> None:
    x = cores(RANKS["chain"], dtype, 1)
    queue = cupy.cuda.Stream(non_blocking=True)
    precision = np.float32 if np.finfo(dtype).eps > 1e-10 else np.float64
    v, out = cupy.asfortranarray(cupy.ones((2, 2, 9), dtype)), cupy.asfortranarray(cupy.zeros((2, 2, 9), dtype))
    bound = 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-12
    with (
        tt.ising(len(x), 1.0, 0.7, dtype=precision, context=gpu) as h,
        tt.Environments(x, x, h, context=gpu) as kept,
        purlin.Tensor.borrow(v, context=gpu) as given,
        purlin.Tensor.borrow(out, context=gpu) as found,
        purlin.Stream(gpu, cuda_stream=queue.ptr) as stream,
    ):
        exponent = kept.apply_to(1, given, found, stream=stream)
        queue.synchronize()
        queue.begin_capture()
        try:
            assert kept.apply_to(1, given, found, stream=stream) == exponent
            with pytest.raises(purlin.NotSupported, match="stream: is being captured"):
                kept.value(1, stream=stream)
        finally:
            graph = queue.end_capture()
        random = np.random.default_rng(5)
        for _ in range(2):
            new = random.uniform(-1, 1, v.shape).astype(dtype)
            v[...], out[...] = cupy.asarray(new), np.nan
            cupy.cuda.get_current_stream().synchronize()
            graph.launch(queue)
            queue.synchronize()
            want, power = kept.apply(1, new)
            assert np.abs(out.get() * 2.0**exponent - want * 2.0**power).max() <= bound * np.abs(want * 2.0**power).max()
        with pytest.raises(purlin.Error):
            kept.apply_to(1, np.ones((2, 2, 9), dtype, order="F"), found)


def test_a_workspace_that_is_too_small_is_measured(gpu: purlin.Context) -> None:
    x = cores(RANKS["grid"], np.float64, 1)
    result = cupy.zeros(4)
    with tt.Contraction(context=gpu) as session, tt.Train(x, context=gpu) as a:
        session.enqueue_inner(a, a, None)
        needed = session.last_info().workspace_bytes
        session.set_workspace(cupy.zeros(needed // 8 - 1))
        with pytest.raises(purlin.InvalidArgument, match=f"workspace: has {needed - 8} bytes, {needed} are needed"):
            session.enqueue_inner(a, a, result)
        session.set_workspace(None)
        session.enqueue_inner(a, a, result)
        assert abs(number(result) - session.inner(a, a)) <= 1e-12 * abs(session.inner(a, a))
