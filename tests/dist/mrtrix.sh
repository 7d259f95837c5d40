# In a Debian with MRtrix3: its programs read the peaks of the command, in an image that lies oblique in the scanner.
python3 -m venv /work
cd /work
bin/pip install --disable-pip-version-check --no-index --find-links /wheels "$(echo /dist/purlin-*.whl)" nibabel
bin/purlin example peaks
bin/python /source/tests/dist/mrtrix.py turn
bin/purlin peaks oblique.nii --bval dwi.bval --bvec dwi.bvec --out peaks.nii
mrinfo peaks.nii
mrinfo -size peaks.nii >size.txt
mrinfo -spacing peaks.nii >spacing.txt
mrinfo -transform peaks.nii >transform.txt
mrdump peaks.nii values.txt
# The first eigenvectors of MRtrix's own fit, in the axes of the scanner as peaks are.
dwi2tensor -fslgrad dwi.bvec dwi.bval oblique.nii tensor.nii
tensor2metric tensor.nii -vector vectors.nii -num 1 -modulate none
bin/python /source/tests/dist/mrtrix.py compare
