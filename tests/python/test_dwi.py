"""Diffusion MRI against the golden volumes: fit, bases, directions of MRtrix3's sh2peaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import GOLDEN

import purlin
from purlin import dwi

rng = np.random.default_rng(21)


def golden(order: int) -> Any:
    with np.load(GOLDEN / f"dwi_small64d_csa{order}.npz") as file:
        return dict(file)


def angles(a: Any, b: Any) -> Any:
    """Angles in degrees between axes, well-conditioned near 0."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    chord = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.degrees(2 * np.arcsin(chord / 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", [4, 8])
def test_directions_are_those_of_mrtrix3(cpu: purlin.Context, order: int, dtype: Any) -> None:
    data = golden(order)
    found = dwi.peaks(
        data["sh_mrtrix"].astype(dtype).reshape(10, 10, 10, -1),
        3,
        basis="mrtrix3",
        relative_threshold=0.0,
        min_separation=0.0,
        context=cpu,
    )
    assert found.peaks.shape == (10, 10, 10, 3, 4) and found.peaks.dtype == dtype
    directions = found.directions.reshape(1000, 3, 3)
    values = found.values.reshape(1000, 3)
    # Where the golden file has that peak, confirmed by a second solver.
    there = data["agree"][:, None] & np.isfinite(data["peaks"][:, :3, 0])
    there[228] = False  # exactly isotropic: every direction is a maximum
    amplitude = np.linalg.norm(data["peaks"][:, :3], axis=-1)
    close = angles(directions[there], data["peaks"][:, :3][there]) < 0.1
    equal = abs(values[there] - amplitude[there]) <= 1e-4 * amplitude[there]
    # 64 starts do not see every small maximum of every voxel (reference figures: 0.990 to 0.997 of the voxels).
    assert (close & equal).mean() > 0.985
    strongest = there[:, 0]
    np.testing.assert_allclose(values[strongest, 0], amplitude[strongest, 0], rtol=1e-4)
    assert angles(directions[strongest, 0], data["peaks"][strongest, 0]).max() < 0.1
    assert (directions[..., 2][np.isfinite(directions[..., 2])] >= -1e-6).all()
    np.testing.assert_allclose(np.linalg.norm(directions[strongest, 0], axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize("order", [4, 8])
def test_spherical_harmonics_to_tensors(cpu: purlin.Context, order: int) -> None:
    data = golden(order)
    tensors = dwi.sh_to_tensor(data["sh_mrtrix"].astype(float), "mrtrix3", context=cpu)
    np.testing.assert_allclose(tensors, data["tensor"], atol=1e-12 * abs(data["tensor"]).max())
    single = dwi.sh_to_tensor(data["sh_mrtrix"], "mrtrix3", context=cpu)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, data["tensor"], atol=1e-5 * abs(data["tensor"]).max())


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_canonical_basis_is_the_golden_matrix(cpu: purlin.Context, order: int) -> None:
    matrix = np.loadtxt(GOLDEN.parent / "dwi" / f"tensor_to_sh_L{order}.csv", delimiter=",")
    identity = np.eye(len(matrix))
    sh = dwi.tensor_to_sh(identity, "canonical", context=cpu)
    np.testing.assert_allclose(sh, matrix.T, atol=1e-13)


@pytest.mark.parametrize("basis", list(dwi.BASES))
def test_bases_by_their_definition(cpu: purlin.Context, basis: Any) -> None:
    degrees = [(degree, m) for degree in (0, 2, 4) for m in range(-degree, degree + 1)]
    canonical = rng.standard_normal(15)
    expected = np.empty(15)
    for j, (degree, m) in enumerate(degrees):
        odd = -1.0 if m % 2 else 1.0
        mirrored = canonical[degrees.index((degree, -m))]
        expected[j] = {
            "canonical": canonical[j],
            "mrtrix3": odd * canonical[j],
            "tournier07_legacy": canonical[j] if m == 0 else odd * canonical[j] * np.sqrt(2),
            "descoteaux07_legacy": odd * mirrored,
            "descoteaux07": mirrored if m < 0 else odd * mirrored,
        }[basis]
    tensor = dwi.sh_to_tensor(canonical, "canonical", context=cpu)
    np.testing.assert_allclose(dwi.tensor_to_sh(tensor, basis, context=cpu), expected, atol=1e-14)
    np.testing.assert_allclose(dwi.sh_to_tensor(expected, basis, context=cpu), tensor, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16, np.int16])
def test_fit_is_the_golden_least_squares(cpu: purlin.Context, dtype: Any) -> None:
    data = golden(4)
    signals = data["S"].astype(dtype)
    fit = dwi.fit(signals.reshape(10, 10, 10, -1), data["bvals"], data["bvecs"], 4, context=cpu)
    assert fit.tensors.shape == (10, 10, 10, 15)
    assert fit.tensors.dtype == (np.float64 if dtype == np.float64 else np.float32)
    valid, expected = data["adc_valid"], data["adc4_tensor"]
    tolerance = (1e-9 if dtype == np.float64 else 1e-4) * abs(expected[valid]).max()
    np.testing.assert_allclose(fit.tensors.reshape(1000, 15)[valid], expected[valid], atol=tolerance)
    assert (fit.status.ravel()[valid] == purlin.TENSOR_OK).all()
    assert np.isin(fit.status.ravel()[~valid], [purlin.TENSOR_CLAMPED, purlin.TENSOR_SIGNAL]).all()
    np.testing.assert_allclose(fit.s0.ravel(), data["S"][:, data["bvals"] <= 50].mean(-1), rtol=1e-6)
    lost = ~np.isin(fit.status, [purlin.TENSOR_OK, purlin.TENSOR_CLAMPED])
    assert (fit.info.tensors, fit.info.skipped_tensors, fit.info.chunks) == (1000, lost.sum(), 1)
    assert fit.info.reason == "on the CPU of the context"


@pytest.mark.parametrize("order", [4, 8])
def test_orientation_functions_are_dipys(cpu: purlin.Context, order: int) -> None:
    data, scan = golden(order), golden(4)
    signals = np.asfortranarray(scan["S"].reshape(10, 10, 10, -1))
    made = dwi.csa(signals, scan["bvals"], scan["bvecs"], order, "mrtrix3", context=cpu)
    assert made.sh.shape == (10, 10, 10, (order + 1) * (order + 2) // 2)
    usable = scan["adc_valid"]
    expected = data["sh_mrtrix"]
    np.testing.assert_allclose(
        made.sh.reshape(1000, -1)[usable], expected[usable], atol=1e-4 * abs(expected[usable]).max()
    )
    assert (made.status.ravel()[usable] == purlin.TENSOR_OK).all()
    assert made.info.tensors == 1000 and made.info.seconds > 0
    smooth = dwi.csa(signals, scan["bvals"], scan["bvecs"], order, "mrtrix3", smoothing=0.1, context=cpu)
    assert abs(smooth.sh[5, 5, 5, 1:]).sum() < abs(made.sh[5, 5, 5, 1:]).sum()


def test_fit_in_either_order_with_mask_and_weights(cpu: purlin.Context) -> None:
    data = golden(4)
    volume = data["S"].astype(float).reshape(10, 10, 10, -1)
    mask = rng.random((10, 10, 10)) < 0.5
    scheme: Any = {"bvals": data["bvals"], "bvecs": data["bvecs"], "order": 4, "context": cpu}
    rows = dwi.fit(volume, mask=mask, **scheme)
    columns = dwi.fit(np.asfortranarray(volume), mask=mask, **scheme)
    np.testing.assert_array_equal(rows.status, columns.status)
    np.testing.assert_allclose(columns.tensors[mask], rows.tensors[mask], rtol=1e-9, atol=1e-18)
    assert (rows.status[~mask] == purlin.TENSOR_MASKED).all()
    assert (rows.status[mask] != purlin.TENSOR_MASKED).all()
    same = dwi.fit(volume, mask=mask, weights=np.asfortranarray(np.full(volume.shape, 2.0)), **scheme)
    valid = mask & (rows.status == purlin.TENSOR_OK)
    np.testing.assert_allclose(same.tensors[valid], rows.tensors[valid], rtol=1e-6, atol=1e-12)
    heavier = dwi.fit(volume, mask=mask, weighting="wls", **scheme)
    assert abs(heavier.tensors[valid] - rows.tensors[valid]).max() > 1e-9


def test_empty_and_masked_voxels(cpu: purlin.Context) -> None:
    data = golden(4)
    sh = data["sh_mrtrix"].astype(float)
    mask = np.ones(1000, bool)
    mask[:7] = False
    found = dwi.peaks(sh, basis="mrtrix3", mask=mask, context=cpu)
    assert (found.status[:7] == purlin.TENSOR_MASKED).all() and (found.count[:7] == 0).all()
    assert np.isnan(found.peaks[:7]).all()
    assert found.status[228] == purlin.TENSOR_ISOTROPIC
    nothing = dwi.peaks(sh[:5], basis="mrtrix3", mask=np.zeros(5), missing="zero", context=cpu)
    assert (nothing.peaks == 0).all()
    bad = sh[100:103].copy()
    bad[1, 0] = np.inf
    spoiled = dwi.peaks(bad, basis="mrtrix3", context=cpu)
    assert spoiled.status[1] == purlin.TENSOR_NONFINITE
    np.testing.assert_array_equal(spoiled.peaks[[0, 2]], dwi.peaks(sh[[100, 102]], basis="mrtrix3", context=cpu).peaks)


def test_thresholds_separation_and_format(cpu: purlin.Context) -> None:
    tensors = golden(4)["tensor"][::50]
    plain = dwi.peaks(tensors, basis="tensor", context=cpu)
    scaled = dwi.peaks(tensors, basis="tensor", format="mrtrix", context=cpu)
    assert scaled.peaks.shape == (20, 5, 3)
    np.testing.assert_allclose(scaled.peaks, plain.directions * plain.values[..., None], rtol=1e-6)
    np.testing.assert_allclose(scaled.values, plain.values, rtol=1e-6)
    strict = dwi.peaks(tensors, basis="tensor", relative_threshold=0.9, context=cpu)
    assert (strict.count <= plain.count).all() and strict.count.sum() < plain.count.sum()
    kept = strict.values[:, 1:]
    assert (kept[np.isfinite(kept)] > 0.9 * np.broadcast_to(strict.values[:, :1], kept.shape)[np.isfinite(kept)]).all()
    apart = dwi.peaks(tensors, basis="tensor", min_separation=np.pi / 2, context=cpu)
    assert (apart.count <= 3).all()
    top = dwi.peaks(tensors, 1, basis="tensor", context=cpu)
    np.testing.assert_array_equal(top.peaks[:, 0], plain.peaks[:, 0])


def test_refusals(cpu: purlin.Context) -> None:
    data = golden(4)
    scheme: Any = {"bvals": data["bvals"], "bvecs": data["bvecs"], "context": cpu}
    with pytest.raises(purlin.InvalidArgument):
        dwi.fit(data["S"], order=3, **scheme)
    with pytest.raises(purlin.InvalidArgument):
        dwi.fit(data["S"][:, :20], data["bvals"][:20], data["bvecs"][:20], 6, context=cpu)
    with pytest.raises(ValueError, match="bvecs"):
        dwi.fit(data["S"], data["bvals"], data["bvecs"].T, 4, context=cpu)
    with pytest.raises(ValueError, match="basis: is 'dipy'"):
        dwi.peaks(data["sh_mrtrix"], basis="dipy", context=cpu)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="basis: is not given"):
        dwi.peaks(data["sh_mrtrix"], context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="weighting"):
        dwi.fit(data["S"], order=4, weights=np.ones_like(data["S"], dtype=np.float64), weighting="wls", **scheme)
    with pytest.raises(ValueError, match="mask"):
        dwi.peaks(data["sh_mrtrix"], basis="mrtrix3", mask=np.ones(3), context=cpu)
    with pytest.raises(ValueError):
        dwi.peaks(np.zeros((2, 10)), basis="tensor", context=cpu)  # order 3 has no directions
    with pytest.raises(ValueError):
        dwi.sh_to_tensor(np.zeros((2, 14)), "canonical", context=cpu)
    with pytest.raises(purlin.InvalidArgument):
        dwi.peaks(data["tensor"], basis="tensor", relative_threshold=-1.0, context=cpu)
    with pytest.raises(purlin.InvalidArgument, match="seed: is 3"):
        dwi.peaks(data["tensor"], basis="tensor", seed=3, context=cpu)
    dwi.peaks(data["tensor"], basis="tensor", seed=3, start_kind="random", context=cpu)


def test_one_object_for_functions_and_peaks(cpu: purlin.Context) -> None:
    data = golden(4)
    sh = data["sh_mrtrix"].astype(np.float64)[:60]
    options: Any = {"relative_threshold": 0.0, "min_separation": 0.0, "basis": "mrtrix3"}
    with dwi.Dwi(context=cpu, **options) as session:
        with pytest.raises(purlin.InvalidArgument, match="dwi: has no report yet"):
            session.last_info()
        plan = session.plan(sh)
        for part in (sh, sh[:7], sh.reshape(6, 10, -1)):
            found = session.peaks(part, 3)
            alone = dwi.peaks(part, 3, context=cpu, **options)
            assert np.array_equal(found.peaks, alone.peaks, equal_nan=True)
            assert np.array_equal(found.count, alone.count)
            assert session.last_info() == found.info
        assert plan.tensors == 60 and plan.starts == found.info.starts and 0 < plan.host_bytes
        session.cancel()
        with pytest.raises(purlin.InvalidArgument, match="relative_threshold: is 0, but fits do not use it"):
            session.fit(np.ones((2, 20)), np.ones(20), np.ones((20, 3)), 2)
    with pytest.raises(purlin.InvalidHandle):
        session.last_info()


def test_an_object_fits(cpu: purlin.Context) -> None:
    bvecs = purlin.sshopm.starts(30, dtype=np.float64, context=cpu)
    bvals = np.where(np.arange(30) == 0, 0.0, 1000.0)
    signals = 100 * np.exp(-bvals * (4e-4 + 1e-3 * bvecs[:, 0] ** 2))
    with dwi.Dwi(weighting="wls", context=cpu) as session:
        fitted = session.fit(signals, bvals, bvecs, 2)
        alone = dwi.fit(signals, bvals, bvecs, 2, weighting="wls", context=cpu)
        assert np.array_equal(fitted.tensors, alone.tensors) and np.array_equal(fitted.s0, alone.s0)
        assert session.last_info().tensors == 1
        with pytest.raises(purlin.InvalidArgument, match="weighting: is 1, but orientation functions"):
            session.csa(signals, bvals, bvecs, 4, "canonical")
    with dwi.Dwi(context=cpu) as session:
        made = session.csa(signals, bvals, bvecs, 4, "canonical")
        assert np.array_equal(made.sh, dwi.csa(signals, bvals, bvecs, 4, "canonical", context=cpu).sh)
