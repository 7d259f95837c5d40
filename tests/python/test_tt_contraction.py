"""Contractions of tensor trains against NumPy's dense ones."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from test_tt import DTYPES, random_cores

import purlin
from purlin import tt

GOLDEN = ROOT / "tests" / "golden" / "tt"


def dense(cores: list[Any]) -> Any:
    """The whole tensor of a train."""
    whole = cores[0]
    for core in cores[1:]:
        whole = np.tensordot(whole, core, 1)
    return np.trace(whole, axis1=0, axis2=whole.ndim - 1)


def dense_matrix(cores: list[Any]) -> Any:
    """Rows and columns of a TT-matrix as one matrix, the first site slowest."""
    whole = cores[0]
    for core in cores[1:]:
        whole = np.tensordot(whole, core, 1)
    whole = np.trace(whole, axis1=0, axis2=whole.ndim - 1)
    d = len(cores)
    order = [2 * k for k in range(d)] + [2 * k + 1 for k in range(d)]
    rows = int(np.prod([core.shape[1] for core in cores]))
    return whole.transpose(order).reshape(rows, -1)


def close(value: Any, expected: Any, dtype: Any, scale: float) -> bool:
    """Within the rounding of a type at the scale of the factors."""
    return abs(value - expected) <= 100 * np.finfo(np.dtype(dtype).char.lower()).eps * scale


@pytest.mark.parametrize("edges", [(1, 1), (3, 3), (1, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_inner_products(cpu: purlin.Context, dtype: Any, edges: tuple[int, int]) -> None:
    modes = [2, 3, 1, 4]
    x = random_cores(modes, [edges[0], 3, 4, 2, edges[0]], dtype, 1)
    y = random_cores(modes, [edges[1], 5, 2, 3, edges[1]], dtype, 2)
    a, b = dense(x), dense(y)
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    with tt.Contraction(context=cpu) as contraction:
        assert close(contraction.inner(x, y), np.vdot(a, b), dtype, size)
        assert contraction.last_info().outcome == "ok" and contraction.last_info().reason
        scaled = contraction.inner_scaled(x, y)
        assert close(scaled.mantissa * 2.0**scaled.exponent, np.vdot(a, b), dtype, size)
        assert close(np.exp(scaled.log_abs) * scaled.phase, np.vdot(a, b), dtype, size)
        assert close(contraction.norm(x), np.linalg.norm(a), dtype, float(np.linalg.norm(a)))
        assert close(contraction.distance(x, y), np.linalg.norm(a - b), dtype, float(np.linalg.norm(a - b)))
        plan = contraction.plan_inner(x, y)
        fewest = min(p * q for p, q in zip([edges[0], 3, 4, 2], [edges[1], 5, 2, 3]))
        assert plan.flops > 0 and plan.pairs == fewest and plan.method != "auto"
    bilinear = tt.inner(x, y, conjugate="none", context=cpu)
    assert close(bilinear, np.sum(a * b), dtype, size)
    assert isinstance(bilinear, complex) == (np.dtype(dtype).kind == "c")


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64, np.complex128])
def test_batches_have_the_numbers_of_single_calls(cpu: purlin.Context, dtype: Any) -> None:
    """On the CPU, also where a type is shorter than double precision."""
    trains = [random_cores([2] * 6, [1, r, r + 1, r, 2, r, 1], dtype, r) for r in (1, 2, 3, 8)]
    with tt.Contraction(context=cpu) as contraction:
        single = np.array([[contraction.inner(x, y) for y in trains] for x in trains])
        # Half of the products of one list with itself are computed.
        assert (np.triu(contraction.gram(trains)) == np.triu(single)).all()
        assert (contraction.gram(trains[:2], trains[1:]) == single[:2, 1:]).all()
        assert (contraction.inner_batch(trains, trains[::-1]) == single[range(4), range(3, -1, -1)]).all()
        if dtype in (np.float32, np.complex64):
            huge = [np.full((1, 1, 1), 1e20, dtype) for _ in range(2)]
            with pytest.raises(purlin.Numerical, match="range"):
                contraction.inner_batch([huge], [huge])


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
def test_batches_and_gram_matrices(cpu: purlin.Context, dtype: Any) -> None:
    trains = [random_cores([2] * 4, [1, r, r + 1, r, 1], dtype, r) for r in (1, 2, 3, 8)]
    arrays = [dense(cores) for cores in trains]
    expected = np.array([[np.vdot(a, b) for b in arrays] for a in arrays])
    size = float(np.abs(expected).max())
    with tt.Contraction(context=cpu) as contraction:
        gram = contraction.gram(trains)
        assert gram.shape == (4, 4) and close(np.abs(gram - expected).max(), 0, dtype, size)
        part = contraction.gram(trains[:2], trains[1:])
        assert close(np.abs(part - expected[:2, 1:]).max(), 0, dtype, size)
        batch = contraction.inner_batch(trains, trains[::-1])
        assert close(np.abs(batch - expected[range(4), range(3, -1, -1)]).max(), 0, dtype, size)
        collected = tt.Trains(trains, context=cpu)
        assert len(collected) == 4 and isinstance(collected[-1], tt.Train) and collected.is_complex == (batch.dtype.kind == "c")
        assert (contraction.inner_batch(collected, tt.Trains(trains[::-1], context=cpu)) == batch).all()
        assert (contraction.gram(collected) == gram).all()
        assert contraction.inner_batch([], []).shape == (0,)
        for plain, scaled in (
            (gram, contraction.gram_scaled(trains)),
            (part, contraction.gram_scaled(trains[:2], trains[1:])),
            (batch, contraction.inner_batch_scaled(trains, trains[::-1])),
        ):
            assert scaled.exponents.shape == plain.shape and scaled.exponents.dtype == np.int64
            assert ((scaled.mantissas * 2.0**scaled.exponents).astype(dtype) == plain).all()
        # Three to the power of 700, squared, in each of two products.
        huge = [np.full((1, 1, 1), 3.0) for _ in range(700)]
        found = contraction.inner_batch_scaled([huge, huge], [huge, huge])
        assert np.allclose(np.log2(found.mantissas) + found.exponents, 1400 * np.log2(3.0), rtol=1e-14)
        with pytest.raises(ValueError, match="has 1 trains, x has 2"):
            contraction.inner_batch(trains[:2], trains[:1])


@pytest.mark.parametrize("method", ["full", "reduced", "blocked", "halves"])
def test_algorithms_of_rings_agree(cpu: purlin.Context, method: Any) -> None:
    x = random_cores([2] * 6, [3] * 7, np.complex128, 3)
    y = random_cores([2] * 6, [2] * 7, np.complex128, 4)
    expected = np.vdot(dense(x), dense(y))
    with tt.Contraction(method=method, context=cpu) as contraction:
        assert abs(contraction.inner(x, y) - expected) <= 1e-12 * abs(expected)
        assert contraction.last_info().method == method


@pytest.mark.parametrize("rank", [3, 70])
def test_plans_report_the_figures_of_the_calls(cpu: purlin.Context, rank: int) -> None:
    x, y = (random_cores([2] * 6, [1] + [rank] * 5 + [1], np.float64, seed) for seed in (1, 2))
    h = tt.ising(6, 1.0, 0.5, context=cpu)
    trains = [x, y, x]
    with tt.Contraction(context=cpu) as contraction:
        for plan, call in (
            (contraction.plan_inner(x, y), lambda: contraction.inner(x, y)),
            (contraction.plan_norm(x), lambda: contraction.norm(x)),
            (contraction.plan_distance(x, y), lambda: contraction.distance(x, y)),
            (contraction.plan_sandwich(y, h, x), lambda: contraction.sandwich(y, h, x)),
            (contraction.plan_rayleigh(h, x), lambda: contraction.rayleigh(h, x)),
            (contraction.plan_batch(trains, trains), lambda: contraction.inner_batch(trains, trains)),
            (contraction.plan_gram(trains, [y]), lambda: contraction.gram(trains, [y])),
            (contraction.plan_gram(trains), lambda: contraction.gram(trains)),
        ):
            call()
            done = contraction.last_info()
            assert plan.workspace_bytes > 0
            assert dataclasses.replace(done, seconds=0.0) == plan
        with pytest.raises(ValueError, match="has 1 trains, x has 3"):
            contraction.plan_batch(trains, [y])


def test_contractions_keep_their_group(cpu: purlin.Context) -> None:
    group = purlin.Group([cpu])
    kept = weakref.ref(group)
    contraction = tt.Contraction(group=group)
    del group
    gc.collect()
    alive = kept()
    assert alive is not None and not alive.closed and contraction.context is cpu
    del alive, contraction
    gc.collect()
    assert kept() is None


def test_nothing_is_enqueued_on_the_cpu(cpu: purlin.Context) -> None:
    x = random_cores([2] * 3, [1, 2, 2, 1], np.float64, 3)
    with tt.Contraction(context=cpu) as contraction:
        with pytest.raises(purlin.NotSupported, match="result: needs a context on a GPU"):
            contraction.enqueue_inner(x, x, None)
        with pytest.raises(purlin.NotSupported, match="result: needs a context on a GPU"):
            contraction.enqueue_norm(x, None)
        with pytest.raises(purlin.NotSupported, match="result: needs a context on a GPU"):
            contraction.enqueue_distance(x, x, None)
        with tt.ising(3, 1.0, 0.5, context=cpu) as h:
            with pytest.raises(purlin.NotSupported, match="result: needs a context on a GPU"):
                contraction.enqueue_sandwich(x, h, x, None)
            with pytest.raises(purlin.NotSupported, match="result: needs a context on a GPU"):
                contraction.enqueue_rayleigh(h, x, None)
        with pytest.raises(purlin.NotSupported, match="workspace: needs a context on a GPU"):
            contraction.set_workspace(None)


def test_a_uniform_ring_of_a_million_sites(cpu: purlin.Context) -> None:
    root = np.sqrt(2.0)
    aklt = np.zeros((2, 3, 2), order="F")
    aklt[0, 0, 1], aklt[1, 2, 0] = root, -root
    aklt[0, 1, 0], aklt[1, 1, 1] = -1.0, 1.0
    for d in (3, 4, 7, 10):
        assert abs(tt.inner([aklt] * d, [aklt] * d, context=cpu) - (3**d + 3 * (-1) ** d)) <= 1e-11 * 3**d
    with tt.Contraction(context=cpu, repeat=10**5) as contraction:
        scaled = contraction.inner_scaled([aklt] * 10, [aklt] * 10)
    assert abs(scaled.log_abs - 10**6 * np.log(3.0)) <= 1e-9 * 10**6


def test_overflow_is_reported_with_the_scaled_call(cpu: purlin.Context) -> None:
    core = np.full((1, 2, 1), 1e30, np.float32, order="F")
    with tt.Contraction(context=cpu) as contraction:
        with pytest.raises(purlin.Numerical, match=r"tt\.Contraction\.inner_scaled"):
            contraction.inner([core] * 9, [core] * 9)
        assert contraction.last_info().outcome == "overflow"
        expected = 9 * np.log(2 * float(np.float32(1e30)) ** 2)
        assert abs(contraction.inner_scaled([core] * 9, [core] * 9).log_abs - expected) < 1e-5


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_operators(cpu: purlin.Context, dtype: Any) -> None:
    rng = np.random.default_rng(5)
    x, y = random_cores([3, 2, 3], [1, 3, 2, 1], dtype, 6), random_cores([2, 3, 1], [1, 2, 2, 1], dtype, 7)
    h = [rng.standard_normal(s) for s in [(1, 2, 3, 3), (3, 3, 2, 2), (2, 1, 3, 1)]]
    matrix = dense_matrix(h)
    a, b = dense(x).ravel(), dense(y).ravel()
    expected = np.vdot(b, matrix @ a)
    assert abs(tt.sandwich(y, h, x, context=cpu) - expected) <= 1e-12 * np.linalg.norm(matrix)
    square = [core + core.transpose(0, 2, 1, 3) for core in (rng.standard_normal((1, n, n, 1)) for n in (3, 2, 3))]
    value = tt.rayleigh(square, x, context=cpu)
    assert abs(value - np.vdot(a, dense_matrix(square) @ a) / np.vdot(a, a)) < 1e-12


def test_spin_chains(cpu: purlin.Context) -> None:
    x, z, one = np.array([[0.0, 1], [1, 0]]), np.diag([1.0, -1]), np.eye(2)

    def at(*factors: Any) -> Any:
        whole = np.eye(1)
        for factor in factors:
            whole = np.kron(whole, factor)
        return whole

    exact = -1.5 * (at(x, x, one) + at(one, x, x)) - 0.5 * (at(z, one, one) + at(one, z, one) + at(one, one, z))
    with tt.ising(3, 1.5, 0.5, context=cpu) as h:
        np.testing.assert_allclose(dense_matrix(h.cores), exact, atol=1e-14)
    terms: list[Any] = [(-1.5, [(k, x), (k + 1, x)]) for k in range(2)] + [(-0.5, [(k, z)]) for k in range(3)]
    with tt.from_terms([2, 2, 2], terms, context=cpu) as h:
        np.testing.assert_allclose(dense_matrix(h.cores), exact, atol=1e-14)
    # Sy is imaginary, its products are real.
    spin = [x / 2, np.array([[0, -0.5j], [0.5j, 0]]), z / 2]
    terms = [(1.0, [(k, s), (k + 1, s)]) for s in spin for k in range(2)]
    want = sum(at(s, s, one) + at(one, s, s) for s in spin)
    for dtype in (np.float32, np.float64):
        with tt.from_terms([2, 2, 2], terms, dtype=dtype, context=cpu) as h:
            assert h.cores[0].dtype == dtype
            np.testing.assert_allclose(dense_matrix(h.cores), want.real, atol=1e-6 if dtype == np.float32 else 1e-14)
    with pytest.raises(purlin.InvalidArgument):
        tt.from_terms([2, 2, 2], [(1.0, [(1, spin[1])])], context=cpu)
    ring = exact - 1.5 * at(x, one, x)
    with tt.ising(3, 1.5, 0.5, cyclic=True, context=cpu) as h:
        np.testing.assert_allclose(dense_matrix(h.cores), ring, atol=1e-14)
    values = np.linalg.eigvalsh(dense_matrix(tt.heisenberg(2, context=cpu).cores))
    np.testing.assert_allclose(values, [-0.75, 0.25, 0.25, 0.25], atol=1e-14)
    np.testing.assert_allclose(dense_matrix(tt.identity([2, 3], context=cpu).cores), np.eye(6))


def test_local_values_and_correlations(cpu: purlin.Context) -> None:
    cores = random_cores([2] * 4, [1, 2, 4, 2, 1], np.complex128, 8)
    state = dense(cores)
    state /= np.linalg.norm(state)
    a, b = np.array([[0.3, 1j], [-1j, 0.7]]), np.diag([1.0, -1.0])
    with tt.Contraction(context=cpu) as contraction:
        with pytest.raises(purlin.InvalidArgument, match="has no report yet"):
            contraction.last_info()
        local = contraction.expect_local(cores, a)
        report = contraction.last_info()
        assert report.method == "open" and report.flops > 0 and "4 sites" in report.reason
        pairs = contraction.correlation(cores, a, b)
        assert contraction.last_info().flops > report.flops and contraction.last_info().pairs == 1
        some = contraction.expect_local(cores, b, [2, 0])
    for k in range(4):
        applied = np.moveaxis(np.tensordot(a, state, (1, k)), 0, k)
        assert abs(local[k] - np.vdot(state, applied)) < 1e-13
        for j in range(4):
            both = np.moveaxis(np.tensordot(b, state, (1, j)), 0, j)
            both = np.moveaxis(np.tensordot(a, both, (1, k)), 0, k)
            assert abs(pairs[k, j] - np.vdot(state, both)) < 1e-13
    assert some.shape == (2,)


def test_the_ising_state_of_a_dmrg_code(cpu: purlin.Context) -> None:
    import json

    described = json.loads((GOLDEN / "tfim_L16_chi24.json").read_text())
    flat = np.load(GOLDEN / "tfim_L16_chi24_mps.npy")
    shapes = next(value for key, value in described.items() if "mps" in key and isinstance(value, list))
    cores, first = [], 0
    for shape in shapes:
        count = int(np.prod(shape))
        cores.append(flat[first : first + count].reshape(shape, order="F"))
        first += count
    exact = 1 - 1 / np.sin(np.pi / (2 * (2 * 16 + 1)))
    with tt.Train(cores, context=cpu) as x, tt.ising(16, 1.0, 1.0, context=cpu) as h:
        assert abs(tt.rayleigh(h, x, context=cpu) - exact) < 1e-9


def test_environments(cpu: purlin.Context) -> None:
    cores = random_cores([2] * 4, [1, 2, 3, 2, 1], np.float64, 9)
    with (
        tt.Train(cores, context=cpu) as x,
        tt.ising(4, 1.0, 0.7, context=cpu) as h,
        tt.Environments(x, x, h, context=cpu) as e,
        tt.Environments(x, x, context=cpu) as plain,
    ):
        expected = tt.sandwich(x, h, x, context=cpu)
        for bond in range(5):
            scaled = e.value(bond)
            assert abs(scaled.mantissa * 2.0**scaled.exponent - expected) < 1e-12 * abs(expected)
        left, p = e.get("left", 2)
        right, q = e.get("right", 2)
        assert left.shape == e.shape(2) == (3, 3, 1, 3)
        assert abs(np.sum(left * right) * 2.0 ** (p + q) - expected) < 1e-12 * abs(expected)
        for k, vector in [(1, cores[1]), (1, np.tensordot(cores[1], cores[2], 1)), (2, np.eye(3))]:
            out, exponent = e.apply(k, vector)
            bra = vector
            assert out.shape == vector.shape
            assert abs(np.sum(bra * out) * 2.0**exponent - expected) < 1e-12 * abs(expected)
        for wrong in (cores[1].transpose(2, 1, 0), np.ones((2, 2, 2, 3)), np.ones((2, 3)), np.ones((2, 2, 2))):
            with pytest.raises(ValueError, match="v: has shape"):
                e.apply(1, wrong)
        for call in (e.build, e.get):
            with pytest.raises(ValueError, match="side: is 'up', expected 'left' or 'right'"):
                call("up", 0)  # type: ignore[operator]
        z = np.diag([1.0, -1.0])
        local = plain.local(2, z)
        norm2 = tt.inner(x, x, context=cpu)
        with tt.Contraction(context=cpu) as contraction:
            assert abs(local.mantissa.real * 2.0**local.exponent / norm2 - contraction.expect_local(x, z)[2]) < 1e-13
            with pytest.raises(TypeError, match="sites: is 1.5"):
                contraction.expect_local(x, z, [1.5])  # type: ignore[list-item]
        with pytest.raises(ValueError, match="couplings: has 2 numbers, 3 are needed"):
            tt.heisenberg(3, (1, 1), context=cpu)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="site: is 1.0"):
            tt.from_terms([2, 2], [(1.0, [(1.0, z)])], context=cpu)  # type: ignore[list-item]
        cores[1] *= 2
        e.update_core(1)
        scaled = e.value(3)
        assert abs(scaled.mantissa * 2.0**scaled.exponent - 4 * expected) < 1e-12 * abs(expected)
        # A two-site step, which changes the rank between the sites.
        new = [cores[0], *random_cores([2, 2], [cores[0].shape[2], 2, cores[2].shape[2]]), cores[3]]
        e.set_trains(new, new, 1, 2)
        expected = tt.sandwich(new, h, new, context=cpu)
        for bond in (1, 3):
            scaled = e.value(bond)
            assert abs(scaled.mantissa * 2.0**scaled.exponent - expected) < 1e-12 * abs(expected)
        with pytest.raises(ValueError, match="rank"):
            e.set_trains(cores, cores, 0, 1)


def test_cores_that_were_copied_are_copied_again(cpu: purlin.Context) -> None:
    # NumPy's own order: the first and the last core are used in place, the others are copied.
    x = [np.ones((1, 2, 1)), np.ones((1, 2, 3)), np.ones((3, 2, 2)), np.ones((2, 2, 1))]
    with tt.Environments(x, x, context=cpu) as e:
        for k in range(4):
            x[k] *= 2
            e.update_core(k)
            value = e.value(1)
            assert value.mantissa * 2.0**value.exponent == tt.inner(x, x, context=cpu)
    # One array at all places.
    core = np.arange(12.0).reshape(2, 3, 2)
    with tt.Environments([core] * 3, [core] * 3, context=cpu) as e:
        core += 1
        e.update_core(2)
        value = e.value(0)
        assert abs(value.mantissa * 2.0**value.exponent / tt.inner([core] * 3, [core] * 3, context=cpu) - 1) < 1e-13
    with tt.Environments(x, x, context=cpu) as e:
        x[2].shape = (6, 2, 1)
        with pytest.raises(ValueError, match="core 2 was of shape"):
            e.update_core(2)


def test_numbers_that_are_not_finite_are_reported(cpu: purlin.Context) -> None:
    for at in range(4):
        cores = random_cores([2] * 4, [1, 2, 3, 2, 1])
        cores[at][0, 1, 0] = np.nan
        with tt.Contraction(context=cpu) as c:
            for scaled in (
                lambda: c.inner_scaled(cores, cores),
                lambda: c.norm_scaled(cores),
                lambda: c.distance_scaled(cores, cores),
            ):
                assert np.isnan(scaled().mantissa)
                assert c.last_info().outcome == "nonfinite"
            for plain in (
                lambda: c.inner(cores, cores),
                lambda: c.norm(cores),
                lambda: c.inner_batch([cores], [cores]),
                lambda: c.expect_local(cores, np.diag([1.0, -1.0])),
            ):
                with pytest.raises(purlin.Numerical, match="not finite"):
                    plain()


def test_options_progress_and_refusals(cpu: purlin.Context) -> None:
    x = random_cores([2] * 3, [1, 2, 2, 1])
    asked: list[int] = []

    def stop(step: int, steps: int, measure: float) -> bool:
        asked.append(steps)
        return True

    with tt.Contraction(progress=stop, context=cpu) as contraction, pytest.raises(purlin.Cancelled):
        contraction.inner(x, x)
    assert asked
    with pytest.raises(ValueError, match="method"):
        tt.Contraction(method="fast", context=cpu)  # type: ignore[arg-type]
    with pytest.raises(purlin.InvalidArgument, match="cut: is -5"):
        tt.Contraction(cut=-5, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="core 2 has mode size 3, that of x is 2"):
        tt.inner(x, random_cores([2, 2, 3], [1, 2, 2, 1]), context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="precisions differ"):
        tt.inner(x, random_cores([2] * 3, [1, 2, 2, 1], np.float32), context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="op: has"):
        with tt.Contraction(context=cpu) as contraction:
            contraction.expect_local(x, np.eye(3))


def test_options_without_effect_are_refused(cpu: purlin.Context) -> None:
    modes = [2, 3]
    x, ring = random_cores(modes, [1, 2, 1], np.float64, 1), random_cores(modes, [2, 2, 2], np.float64, 2)
    h = tt.identity(modes, context=cpu)
    calls: dict[str, Any] = {
        "an inner product": lambda x, **o: tt.inner(x, x, context=cpu, **o),
        "a norm": lambda x, **o: tt.norm(x, context=cpu, **o),
        "a distance": lambda x, **o: tt.distance(x, x, context=cpu, **o),
        "a sandwich": lambda x, **o: tt.sandwich(x, h, x, context=cpu, **o),
        "a Rayleigh quotient": lambda x, **o: tt.rayleigh(h, x, context=cpu, **o),
    }
    given = {"norm_method": "inner", "conjugate": "none", "assume_hermitian": True, "kernel": "products"}
    plain = {"norm_method": "auto", "conjugate": "bra", "assume_hermitian": False, "kernel": "auto"}
    idle = {
        "an inner product": ["norm_method", "assume_hermitian"],
        "a norm": ["conjugate", "assume_hermitian"],
        "a distance": ["norm_method", "conjugate", "assume_hermitian", "kernel"],
        "a sandwich": ["norm_method", "kernel"],
        "a Rayleigh quotient": ["norm_method", "conjugate", "kernel"],
    }
    for of, call in calls.items():
        for train in (x, ring):
            for name, value in given.items():
                if name in idle[of]:
                    with pytest.raises(ValueError, match=f"{name}: is .*, {of} (by QR factors )?does not use it"):
                        call(train, **{name: value})
                else:
                    call(train, **{name: value})
                call(train, **{name: plain[name]})
        with pytest.raises(ValueError, match="cut: belongs to rings, the trains are open"):
            call(x, cut=1)
        call(ring, cut=1)
        by_qr = "a distance by QR factors does not use it" if of == "a distance" else ""
        with pytest.raises(ValueError, match=f"block: is 2, {by_qr or 'open trains have one boundary pair'}"):
            call(x, block=2)
        if not by_qr:
            call(ring, block=2)
    for name, value in (("method", "full"), ("kernel", "products"), ("block", 3)):
        with pytest.raises(purlin.InvalidArgument, match=f"{name}: is .*, a distance by QR factors does not use it"):
            tt.distance(ring, ring, context=cpu, **{name: value})  # type: ignore[arg-type]
        with pytest.raises(purlin.InvalidArgument, match=f"{name}: is .*, a norm by QR factors does not use it"):
            tt.norm(ring, norm_method="qr", context=cpu, **{name: value})  # type: ignore[arg-type]
    assert np.isclose(tt.norm(ring, norm_method="qr", context=cpu), tt.norm(ring, context=cpu), rtol=1e-13)
    with pytest.raises(purlin.InvalidArgument, match="norm_method: is 'triangle', which is for open trains"):
        tt.norm(ring, norm_method="triangle", context=cpu)
