"""`turn` makes an oblique image of the example; `compare` checks MRtrix's reading of the peaks, and its fit against them."""

import sys

import nibabel
import numpy as np

if sys.argv[1] == "turn":
    image = nibabel.load("dwi.nii")
    c, s = np.cos(0.5), np.sin(0.5)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    affine = np.eye(4)
    affine[:3] = np.c_[turn @ np.diag([2.0, 2.0, 3.0]), [5.0, -7.0, 11.0]]
    nibabel.Nifti1Image(image.get_fdata(dtype=np.float32), affine).to_filename("oblique.nii")
    sys.exit()

peaks = nibabel.load("peaks.nii")
values = peaks.get_fdata()
assert np.loadtxt("size.txt").tolist() == list(values.shape)
spacing = np.loadtxt("spacing.txt")[:3]
np.testing.assert_allclose(spacing, [2, 2, 3], rtol=1e-6)
# Columns of MRtrix's matrix are unit vectors.
transform = np.loadtxt("transform.txt")
np.testing.assert_allclose(transform[:3, :3] * spacing, peaks.affine[:3, :3], atol=1e-5)
np.testing.assert_allclose(transform[:3, 3], peaks.affine[:3, 3], atol=1e-4)
dumped = np.loadtxt("values.txt").reshape(-1)
expected = values.reshape(-1, order="F")
np.testing.assert_allclose(dumped, expected, rtol=1e-5, atol=1e-7, equal_nan=True)
# In the first slice of voxels there is one fibre.
vectors, firsts = nibabel.load("vectors.nii").get_fdata()[0], values[0, ..., :3]
cosines = np.abs((vectors * firsts).sum(-1)) / np.linalg.norm(vectors, axis=-1) / np.linalg.norm(firsts, axis=-1)
degrees = float(np.degrees(np.arccos(np.minimum(cosines, 1))).max())
assert degrees < 3, degrees
print(f"MRtrix: {expected.size} values are equal; fibres differ by {degrees:.2g} degrees at most")
