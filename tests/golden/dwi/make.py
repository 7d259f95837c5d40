"""Writes the arrays of this folder from dwi_small64d_csa{4,8}.npz, and dipy's own harmonics at a few directions.

Usage: python make.py FOLDER_OF_THE_NPZ_FILES   (pip install numpy dipy; README.md says where the npz files come from)
"""

import sys
import warnings

import numpy as np
from dipy.reconst.shm import real_sh_descoteaux, real_sh_tournier

warnings.simplefilter("ignore")
for degree in (4, 8):
    z = np.load(f"{sys.argv[1]}/dwi_small64d_csa{degree}.npz")
    z["sh_mrtrix"].astype("<f4").tofile(f"csa{degree}_sh_mrtrix.f32")
    z["tensor"].astype("<f4").tofile(f"csa{degree}_tensor.f32")
    z["peaks"][:, :3].astype("<f4").tofile(f"csa{degree}_peaks.f32")
    z["agree"].astype("u1").tofile(f"csa{degree}_agree.u8")
    if degree == 4:
        np.where(z["adc_valid"][:, None], z["adc4_tensor"], np.nan).astype("<f8").tofile("adc4_tensor.f64")

# One row a direction: x y z, then the 15 even functions up to degree 4 of dipy's four bases.
rng = np.random.default_rng(7)
g = rng.normal(size=(12, 3))
g /= np.linalg.norm(g, axis=1)[:, None]
theta, phi = np.arccos(g[:, 2]), np.arctan2(g[:, 1], g[:, 0])
bases = [
    real_sh_tournier(4, theta, phi, legacy=False)[0],
    real_sh_tournier(4, theta, phi, legacy=True)[0],
    real_sh_descoteaux(4, theta, phi, legacy=True)[0],
    real_sh_descoteaux(4, theta, phi, legacy=False)[0],
]
np.savetxt("dipy_bases_L4.csv", np.hstack([g, *bases]), delimiter=",", fmt="%.17g")
