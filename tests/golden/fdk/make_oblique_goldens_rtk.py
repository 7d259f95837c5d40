#!/usr/bin/env python3
"""Makes the golden volumes of panels, sources and orbits that are off their place, with RTK (pip install itk-rtk numpy;
made with itk-rtk 2.7.0.post1, itk 5.4.7, CPU filters: displaced detector, Parker, FDK).
python make_oblique_goldens_rtk.py OUTDIR
Each case is given to RTK as source, panel centre and panel axes of every view, and to purlin as the matrices of
`src/fdk/tests/oblique.rs`, which are built from the same numbers. The projections are exact line integrals, computed here
in double precision and rounded once. Axis map: this folder's (x, y, z) = RTK's (Z, X, Y)."""
import sys
import numpy as np, itk
from itk import RTK as rtk
IT = itk.Image[itk.F, 3]
SID, SDD = 500.0, 1000.0
HEAD = [[1.0, 44, 52, 40, 0, 0, 0], [-.8, 41, 49, 38, 0, 0, 0], [.1, 6, 6, 6, 30, 5, 0], [-.1, 8, 8, 8, -10, -34, 4]]


def view(b, offset, yaw=0., roll=0., pitch=0., source=0., height=0., wobble=0., sway=0.):
    out, across, up = np.array([np.cos(b), np.sin(b), 0]), np.array([-np.sin(b), np.cos(b), 0]), np.array([0, 0, 1.0])
    s = (SID - wobble * np.sin(2 * b)) * out + source * across + height * up
    c = (SID - SDD) * out + (offset + sway * np.sin(3 * b)) * across
    y, p, r = np.radians([yaw, pitch, roll])
    u, n = np.cos(y) * across + np.sin(y) * out, np.cos(y) * out - np.sin(y) * across
    v = np.cos(p) * up + np.sin(p) * n
    return s, c, np.cos(r) * u + np.sin(r) * v, -np.sin(r) * u + np.cos(r) * v


def project(views, nu, nv, du, dv):
    i, j = np.meshgrid((np.arange(nu) - (nu - 1) / 2) * du, (np.arange(nv) - (nv - 1) / 2) * dv)
    P = np.zeros((len(views), nv, nu))
    for n, (s, c, u, v) in enumerate(views):
        d = c + i[..., None] * u + j[..., None] * v - s
        d /= np.linalg.norm(d, axis=-1, keepdims=True)
        for rho, a1, a2, a3, x, y, z in HEAD:
            o, e = (s - [x, y, z]) / [a1, a2, a3], d / [a1, a2, a3]
            a, b = (e * e).sum(-1), (e * o).sum(-1)
            foot = o - (b / a)[..., None] * e
            P[n] += rho * 2 * np.sqrt(np.maximum(1 - (foot * foot).sum(-1), 0) / a)
    return P.astype(np.float32)


def turned(p):
    return [float(p[1]), float(p[2]), float(p[0])]


def reconstruct(P, views, du, dv, shape, spacing, origin, parker, displaced):
    g = rtk.ThreeDCircularProjectionGeometry.New()
    for s, c, u, v in views:
        ok = g.AddProjection(itk.Point[itk.D, 3](turned(s)), itk.Point[itk.D, 3](turned(c)), itk.Vector[itk.D, 3](turned(u)), itk.Vector[itk.D, 3](turned(v)))
        assert ok
    n, nv, nu = P.shape
    im = itk.image_from_array(np.ascontiguousarray(P)); im.SetSpacing([du, dv, 1.0]); im.SetOrigin([-(nu - 1) / 2 * du, -(nv - 1) / 2 * dv, 0.0])
    cur, keep = im, [im]
    if displaced:
        d = rtk.DisplacedDetectorImageFilter[IT].New(); d.SetInput(cur); d.SetGeometry(g); d.Update(); cur = d.GetOutput(); keep.append(d)
    if parker:
        p = rtk.ParkerShortScanImageFilter[IT].New(); p.SetInput(cur); p.SetGeometry(g); p.InPlaceOff(); p.Update(); cur = p.GetOutput(); keep.append(p)
    nz, ny, nx = shape
    s = rtk.ConstantImageSource[IT].New(); s.SetSize([ny, nz, nx]); s.SetSpacing([spacing[1], spacing[2], spacing[0]]); s.SetOrigin([origin[1], origin[2], origin[0]]); s.SetConstant(0.0)
    f = rtk.FDKConeBeamReconstructionFilter[IT].New(); f.SetInput(0, s.GetOutput()); f.SetInput(1, cur); f.SetGeometry(g)
    f.GetRampFilter().SetTruncationCorrection(0.0)
    f.Update()
    return np.ascontiguousarray(itk.array_from_image(f.GetOutput()).transpose(1, 2, 0))


CASES = {  # name: columns, panel offset, views, half fan, short scan, misalignments
    "half_yaw": (90, 55., 180, True, False, dict(yaw=-1.5)),
    "half_roll": (90, 55., 180, True, False, dict(roll=2.)),
    "half_source": (90, -55., 180, True, False, dict(source=20.)),
    "half_all": (90, 55., 180, True, False, dict(yaw=1., roll=.5, pitch=.5, source=6., wobble=3., sway=1.)),
    "short_yaw": (128, 0., 108, False, True, dict(yaw=2.)),
    "short_all": (128, 0., 108, False, True, dict(yaw=-1., roll=.5, pitch=.5, source=6., wobble=3., sway=1.)),
    "full_source": (128, 0., 180, False, False, dict(source=20.)),
    "half_pitch": (90, 55., 180, True, False, dict(pitch=2.)),
    "half_wobble": (90, 55., 180, True, False, dict(wobble=3.)),
    "short_source": (128, 0., 108, False, True, dict(source=20.)),
    "short_roll": (128, 0., 108, False, True, dict(roll=2.)),
    "full_yaw": (128, 0., 180, False, False, dict(yaw=2.)),
    "short_pitch": (128, 0., 108, False, True, dict(pitch=2.)),
    "short_wobble": (128, 0., 108, False, True, dict(wobble=3.)),
    "full_roll": (128, 0., 180, False, False, dict(roll=2.)),
    "full_pitch": (128, 0., 180, False, False, dict(pitch=2.)),
    "full_wobble": (128, 0., 180, False, False, dict(wobble=3.)),
}

if __name__ == "__main__":
    for name, (nu, offset, count, half, short, off) in CASES.items():
        views = [view(k * 2 * np.pi / 180, offset, **off) for k in range(count)]
        P = project(views, nu, 20, 2., 4.)
        F = reconstruct(P, views, 2., 4., (3, 49, 49), (2.2, 2.2, 8.), (-52.8, -52.8, -8.), short, half)
        np.save(f"{sys.argv[1]}/oblique_{name}_rtk.npy", F.astype(np.float32))
        x = -52.8 + 2.2 * np.arange(49); r = np.hypot(*np.meshgrid(x, x))
        print(name, F.shape, F[1][r < 14].mean(), F[1][(r > 14) & (r < 24)].mean())
