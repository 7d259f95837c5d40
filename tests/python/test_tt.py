"""Tensor trains against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purlin
from purlin import tt

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def random_cores(
    modes: list[int], ranks: list[int], dtype: Any = np.float64, seed: int = 0, order: Any = "F"
) -> list[Any]:
    """Cores (r, n, s) of random numbers."""
    rng = np.random.default_rng(seed)
    cores = []
    for k, n in enumerate(modes):
        core = rng.standard_normal((ranks[k], n, ranks[k + 1]))
        if np.dtype(dtype).kind == "c":
            core = core + 1j * rng.standard_normal(core.shape)
        cores.append(np.asarray(core, dtype=dtype, order=order))
    return cores


@pytest.mark.parametrize("dtype", DTYPES)
def test_cores_in_fortran_order_are_used_in_place(cpu: purlin.Context, dtype: Any) -> None:
    cores = random_cores([2, 3, 4], [2, 3, 5, 2], dtype)
    with tt.Train(cores, context=cpu) as x:
        assert x.modes == (2, 3, 4) and x.ranks == (2, 3, 5, 2) and len(x) == 3 and x.cyclic
        assert x.dtype == dtype and x.location == "host" and x.max_rank == 5 and x.info.owned == 0
        cores[1][0, 0, 0] = 7
        assert x.core(1)[0, 0, 0] == 7
        for mine, theirs in zip(cores, x.cores):
            np.testing.assert_array_equal(mine, theirs)
        assert "3 cores, cyclic" in repr(x)
    assert x.closed and "closed" in repr(x)


def test_cores_in_c_order_or_of_other_types_are_copied(cpu: purlin.Context) -> None:
    cores = random_cores([2, 3], [1, 4, 1], order="C")
    x = tt.Train([cores[0], cores[1].astype(np.float32)], context=cpu)
    assert x.dtype == np.float64
    np.testing.assert_array_equal(x.core(0), cores[0])
    cores[0][0, 0, 0] = 7
    assert x.core(0)[0, 0, 0] != 7
    z = tt.Train([np.ones((1, 2, 1), np.int32), np.ones((1, 2, 1))], context=cpu)
    assert z.dtype == np.float64


def test_one_array_at_every_place_is_a_uniform_train(cpu: purlin.Context) -> None:
    core = random_cores([2], [3, 3])[0]
    assert tt.Train([core] * 100, context=cpu).info.uniform == 1
    assert tt.Train([core, core.copy(order="F")], context=cpu).info.uniform == 0


def test_own_memory_is_set_core_by_core(cpu: purlin.Context) -> None:
    x = tt.Train.create([2, 3], [1, 4, 1], np.complex128, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="core 1 has not been set"):
        x.core(1)
    cores = random_cores([2, 3], [1, 4, 1], np.complex128, order="C")
    for k, core in enumerate(cores):
        x.set_core(k, core)
    np.testing.assert_array_equal(x.core(-1), cores[1])
    y = tt.Train.create([2, 3], [1, 4, 1], np.complex128, context=cpu)
    x.copy_to(y)
    np.testing.assert_array_equal(y.core(0), cores[0])
    with pytest.raises(IndexError, match="has 2 cores"):
        x.core(2)
    with pytest.raises(purlin.InvalidArgument, match="core: has dimensions"):
        x.set_core(0, cores[1])


def test_matrices(cpu: purlin.Context) -> None:
    rng = np.random.default_rng(1)
    cores = [np.asfortranarray(rng.standard_normal(s)) for s in [(1, 2, 3, 4), (4, 3, 1, 1)]]
    with tt.TrainMatrix(cores, context=cpu) as h:
        assert h.rows == (2, 3) and h.cols == (3, 1) and h.ranks == (1, 4, 1) and not h.cyclic
        np.testing.assert_array_equal(h.core(1), cores[1])
        assert "2 cores, open" in repr(h)
        own = tt.TrainMatrix.create(h.rows, h.cols, h.ranks, context=cpu)
        own.set_core(0, cores[0])
        np.testing.assert_array_equal(own.core(0), cores[0])


def test_refusals(cpu: purlin.Context) -> None:
    a, b = random_cores([2, 3], [1, 4, 1])
    with pytest.raises(ValueError, match="cores: has no cores"):
        tt.Train([], context=cpu)
    with pytest.raises(ValueError, match="core 1 has left rank 1, the right rank before is 4"):
        tt.Train([a, a], context=cpu)
    with pytest.raises(ValueError, match="core 0 has 2 axes, expected 3"):
        tt.Train([a[0], b], context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="the first rank is 1 and the last 4"):
        tt.Train([a], context=cpu)
    with pytest.raises(TypeError, match="are of type"):
        tt.Train([a.astype("U8"), b], context=cpu)
    with pytest.raises(ValueError, match="ranks: are 2, expected 3"):
        tt.Train.create([2, 2], [1, 1], context=cpu)
    frozen = a.copy(order="F")
    frozen.flags.writeable = False
    with pytest.raises(purlin.InvalidArgument, match="borrowed read-only"):
        tt.Train([frozen, b], context=cpu).set_core(0, a)
    with pytest.raises(purlin.NotSupported, match="location"):
        tt.Train.create([2], [1, 1], location="device", context=cpu)
    with pytest.raises(TypeError, match="expected a Train"):
        tt.Train.of(3, cpu)
