"""Single numbers as arguments: taken without loss, or refused by name."""

from __future__ import annotations

import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import fdk, graph, lanczos, pca, rpca, rsvd, sparse, spmv, sshopm, symmetric, tt

DIAGONAL = np.diag(np.arange(1.0, 31.0))
SINGLE = np.eye(2, dtype=np.float32)
CORES = [np.ones((1, 2, 1)), np.ones((1, 2, 1))]
SHORT = [core.astype(np.float32) for core in CORES]
COUNTS = np.full((1, 2, 4), 5.0)
PANEL: tuple[Any, ...] = (4, 2, 1.0, 1.0, 100.0, 200.0)
TURN = np.linspace(0, 2 * np.pi, 8, endpoint=False)
IMAGE = np.arange(6.0).reshape(2, 3)


def scan(**options: Any) -> fdk.Reconstruction:
    return fdk.Reconstruction(fdk.Geometry(*PANEL, angles=TURN), **options)


def panel(pitch: Any) -> fdk.Reconstruction:
    return fdk.Reconstruction(fdk.Geometry(4, 2, pitch, 1.0, 100.0, 200.0, angles=TURN))


# Each by the name that a message has.
REAL: list[tuple[str, Callable[[Any], Any]]] = [
    ("alpha", lambda z: spmv.Plan(DIAGONAL).apply(np.ones(30), alpha=z)),
    ("beta", lambda z: spmv.Plan(DIAGONAL).apply(np.ones(30), np.ones(30), beta=z)),
    ("coupling", lambda z: tt.ising(2, z, 1.0)),
    ("field", lambda z: tt.ising(2, 1.0, z)),
    ("couplings: element 1", lambda z: tt.heisenberg(2, (1, z, 1))),
    ("field", lambda z: tt.heisenberg(2, field=z)),
    ("epsilon", lambda z: tt.round(CORES, z)),
    ("scale", lambda z: symmetric.identity(2, 2, scale=z)),
    ("check_tolerance", lambda z: symmetric.from_full(np.eye(3), check_tolerance=z)),
    ("sigma", lambda z: lanczos.solve(DIAGONAL, 1, "nearest", sigma=z)),
    ("shift", lambda z: lanczos.solve(DIAGONAL, 1, shift=z)),
    ("tolerance", lambda z: lanczos.solve(DIAGONAL, 1, tolerance=z)),
    ("cluster", lambda z: lanczos.cullum_willoughby([1.0], [0.0], z)),
    ("shift", lambda z: sshopm.solve(np.arange(15.0), shift=z)),
    ("lambda_", lambda z: rpca.compute(np.eye(3), lambda_=z)),
    ("threshold", lambda z: sparse.from_dense(np.eye(2), z)),
    ("threshold", lambda z: sparse.drop_zeros(np.eye(2), z)),
    ("tolerance", lambda z: sparse.is_symmetric(np.eye(2), z)),
    ("intensity", lambda z: graph.of_image(IMAGE, intensity=z)),
    ("radius", lambda z: graph.operator_of_image(IMAGE, radius=z)),
    ("start", lambda z: graph.Density(np.ones(1), np.ones(1)).histogram(z, 3, 2)),
    ("stop", lambda z: graph.Density(np.ones(1), np.ones(1)).histogram(0, z, 2)),
    ("i0", lambda z: fdk.log_transform(COUNTS, z)),
    ("dark", lambda z: fdk.log_transform(COUNTS, 10.0, z)),
    ("epsilon", lambda z: fdk.log_transform(COUNTS, 10.0, None, z)),
    ("i0", lambda z: scan().set_counts(z)),
    ("dark", lambda z: scan().set_counts(10.0, z)),
    ("epsilon", lambda z: scan().set_counts(10.0, None, z)),
    ("column_pitch", panel),
    ("output_scale", lambda z: scan(output_scale=z)),
    ("output_offset", lambda z: scan(output_offset=z)),
    ("radius", lambda z: fdk.shepp_logan(z)),
]
COMPLEX: list[tuple[str, Callable[[Any], Any]]] = [
    ("factor", lambda z: tt.scale(CORES, z)),
    ("alpha", lambda z: tt.add(CORES, CORES, z)),
    ("beta", lambda z: tt.add(CORES, CORES, 1, z)),
    ("terms: coefficient 0", lambda z: tt.from_terms([2], [(z, [(0, np.eye(2))])])),
    ("alpha", lambda z: spmv.Plan(DIAGONAL + 0j).apply(np.ones(30), alpha=z)),
]


def test_complex_numbers_are_not_cut() -> None:
    for name, call in REAL:
        for value in (0.5 + 2j, np.complex128(0.5 + 2j), np.complex64(0.5 + 2j), np.array(0.5 + 2j)):
            with pytest.raises(TypeError, match=rf"^{name}: is .*0.5\+2.*j.*, expected a real number$"):
                call(value)


def test_integers_beyond_double_precision_are_refused() -> None:
    for name, call in REAL + COMPLEX:
        large = 2**53 + 1
        for value in (large, -large, np.int64(large), np.array(large), fractions.Fraction(large), np.uint64(2**63 + 1)):
            with pytest.raises(ValueError, match=rf"^{name}: is -?\d+, which (float64|complex128) does not hold$"):
                call(value)
        with pytest.raises(ValueError, match=rf"^{name}: is an integer of 20001 bits, which (float64|complex128) does"):
            call(2**20000)


def test_what_is_no_number_is_refused() -> None:
    for name, call in REAL + COMPLEX:
        wrong: list[Any] = ["2", b"2", np.array("2"), np.str_("2"), np.timedelta64(2), object()]
        if name not in ("i0", "dark"):
            wrong += [None, [2.0, 3.0], np.array([2.0]), np.array([2.0, 3.0])]
        for value in wrong:
            with pytest.raises(TypeError, match=rf"^{name}: is .*, expected a number$"):
                call(value)


def test_masked_numbers_are_refused() -> None:
    for name, call in REAL + COMPLEX:
        for value in (np.ma.masked, np.ma.array(3.0, mask=True)):
            with pytest.raises(ValueError, match=f"^{name}: is masked, expected a number$"):
                call(value)


def test_integers_beyond_single_precision_are_refused_where_it_is_wanted() -> None:
    large = 2**24 + 1
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("alpha", lambda: spmv.Plan(SINGLE).apply(np.ones(2, np.float32), alpha=large)),
        ("sigma", lambda: lanczos.solve(SINGLE, 1, "nearest", sigma=large)),
        ("shift", lambda: lanczos.singular(SINGLE, 1, shift=large)),
        ("shift", lambda: lanczos.tridiagonalize(SINGLE, 1, shift=large)),
        ("shift", lambda: lanczos.plan(SINGLE, 1, shift=large)),
        ("shift", lambda: graph.embed(SINGLE, 1, shift=large)),
        ("beta", lambda: spmv.Plan(SINGLE).apply(np.ones(2, np.float32), np.ones(2, np.float32), beta=large)),
        ("factor", lambda: tt.scale(SHORT, large)),
        ("alpha", lambda: tt.add(SHORT, SHORT, large)),
        ("coupling", lambda: tt.ising(2, large, 0, dtype=np.float32)),
        ("field", lambda: tt.ising(2, 0, large, dtype=np.complex64)),
        ("couplings: element 0", lambda: tt.heisenberg(2, (large, 1, 1), dtype=np.float32)),
        ("terms: coefficient 0", lambda: tt.from_terms([2], [(large, [(0, np.eye(2))])], dtype=np.float32)),
        ("scale", lambda: symmetric.identity(2, 2, scale=large, dtype=np.float32)),
    ]
    for name, call in calls:
        with pytest.raises(ValueError, match=rf"^{name}: is {large}, which (float32|complex64) does not hold$"):
            call()
    with pytest.raises(ValueError, match=r"^terms: operator of term 0: has 16777217 at index \(0, 0\) \(from 0\), which float32"):
        tt.from_terms([2], [(1, [(0, [[large, 0], [0, 1]])])], dtype=np.float32)
    # Those that are held, and fractions, which are rounded as usual.
    assert spmv.Plan(SINGLE).apply(np.ones(2, np.float32), alpha=2**24 + 2)[0] == 2**24 + 2
    assert spmv.Plan(SINGLE).apply(np.ones(2, np.float32), alpha=0.1)[0] == np.float32(0.1)


def test_factors_that_single_precision_does_not_reach_are_refused() -> None:
    plan, x = spmv.Plan(SINGLE), np.ones(2, np.float32)
    for value in (1e300, 1e-300, 2**200, -1e39):
        with pytest.raises(ValueError, match=r"^alpha: is .*, which float32 does not hold$"):
            plan.apply(x, alpha=value)
        with pytest.raises(ValueError, match=r"^beta: is .*, which float32 does not hold$"):
            plan.apply(x, x.copy(), beta=value)
    with pytest.raises(ValueError, match=r"^alpha: is .*, which complex64 does not hold$"):
        spmv.Plan(SINGLE + 0j).apply(x, alpha=1 + 1e300j)
    assert np.isinf(plan.apply(x, alpha=np.inf)).all() and np.isnan(plan.apply(x, alpha=np.nan)).all()


def test_numbers_of_every_kind_are_taken() -> None:
    plan, x = spmv.Plan(DIAGONAL), np.ones(30)
    for two in (2, 2.0, np.int8(2), np.float16(2), np.float32(2), np.array(2), np.array(2.0), fractions.Fraction(2)):
        assert plan.apply(x, alpha=two)[0] == 2.0  # type: ignore[arg-type]
    assert plan.apply(x, alpha=True)[0] == 1.0 and plan.apply(x, alpha=np.True_)[0] == 1.0  # type: ignore[arg-type]
    assert plan.apply(x, alpha=fractions.Fraction(1, 3))[0] == 1 / 3  # type: ignore[arg-type]
    assert plan.apply(x, alpha=2**60)[0] == 2.0**60
    assert spmv.Plan(DIAGONAL + 0j).apply(x, alpha=1 + 2j)[0] == 1 + 2j
    with pytest.raises(purlin.InvalidArgument, match="^factor: has the imaginary part 1 for float64"):
        tt.scale(CORES, np.complex128(1 + 1j))


def test_numbers_of_things_are_named() -> None:
    calls: list[tuple[str, Callable[[Any], Any]]] = [
        ("k", lambda k: lanczos.solve(DIAGONAL, k)),
        ("k", lambda k: lanczos.singular(DIAGONAL, k)),
        ("k", lambda k: lanczos.Lanczos(k)),
        ("k", lambda k: graph.embed(DIAGONAL, k)),
        ("clusters", lambda k: graph.cluster(DIAGONAL, k)),
        ("bins", lambda k: graph.Density(np.ones(1), np.ones(1)).histogram(0, 3, k)),
        ("rank", lambda k: rsvd.compute(DIAGONAL, k)),
        ("n_components", lambda k: pca.PCA(k).fit(DIAGONAL)),
    ]
    for name, call in calls:
        for value in (2.0, True, "2", np.True_):
            with pytest.raises(TypeError, match=f"^{name}: is .*, expected an integer$"):
                call(value)
        call(np.int8(2))


def test_the_ends_of_a_histogram_are_named() -> None:
    density = graph.Density(np.ones(1), np.ones(1))
    with pytest.raises(purlin.InvalidArgument, match="^stop: is 5, more than start = 5 is needed"):
        density.histogram(5, 5, 3)
    with pytest.raises(purlin.InvalidArgument, match="^start: is NaN"):
        density.histogram(np.nan, 5, 3)


def test_singular_values_of_residuals_keep_no_mask() -> None:
    a, u, vt = np.eye(3), np.eye(3)[:, :2], np.eye(3)[:2]
    with rsvd.Rsvd(2) as session:
        with pytest.raises(ValueError, match="^s: masks 1 entries"):
            session.residuals(a, u, np.ma.array([1.0, 1.0], mask=[1, 0]), vt)
        with pytest.raises(ValueError, match="^s: has 9007199254740993 at index 0"):
            session.error(a, u, np.array([2**53 + 1, 1]), vt)
        assert np.abs(session.residuals(a, u, np.array([1, 1]), vt)).max() == 0
