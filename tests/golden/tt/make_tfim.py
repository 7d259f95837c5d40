"""Ground-state matrix-product states from TeNPy (pip install physics-tenpy==1.1.1, Apache-2.0), saved as flat Fortran-order .npy.

usage: make_tfim.py OUTDIR tfim 16 24     critical transverse-field Ising chain, open, H = -sum sx sx - sum sz
Files: NAME_mps.npy, NAME_mpo.npy (all cores concatenated, each flattened with the first index fastest), NAME.json (shapes, energies).
MPS core index order (left bond, site, right bond); MPO core index order (left bond, bra/out, ket/in, right bond).
"""
import sys, json, warnings
import numpy as np
warnings.filterwarnings("ignore")
from tenpy.algorithms import dmrg
from tenpy.models.tf_ising import TFIChain
from tenpy.networks.mps import MPS
import tenpy

out, kind, L, chi = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
M = TFIChain(dict(L=L, J=1.0, g=1.0, bc_MPS="finite", conserve=None)); init = ["up"] * L
psi = MPS.from_product_state(M.lat.mps_sites(), init, bc="finite")
info = dmrg.run(psi, M, dict(mixer=True, trunc_params=dict(chi_max=chi, svd_min=1e-14), max_E_err=1e-13, max_sweeps=16, N_sweeps_check=1))
E = float(info["E"]); Eexp = float(np.real(M.H_MPO.expectation_value(psi)))
cores = [np.ascontiguousarray(psi.get_B(i, "B").itranspose(["vL", "p", "vR"]).to_ndarray()) for i in range(L)]
W = []
for i in range(L):
    w = M.H_MPO.get_W(i).itranspose(["wL", "p", "p*", "wR"]).to_ndarray()
    if i == 0: w = w[M.H_MPO.get_IdL(0)][None] if w.shape[0] > 1 else w
    if i == L - 1: w = w[..., M.H_MPO.get_IdR(L - 1)][..., None] if w.shape[-1] > 1 else w
    W.append(np.ascontiguousarray(w))
assert all(np.abs(np.imag(c)).max() == 0 for c in cores + W)
cores = [np.real(c) for c in cores]; W = [np.real(c) for c in W]
name = f"{kind}_L{L}_chi{chi}"
np.save(f"{out}/{name}_mps.npy", np.concatenate([c.flatten(order="F") for c in cores]))
np.save(f"{out}/{name}_mpo.npy", np.concatenate([c.flatten(order="F") for c in W]))
# direct numpy evaluation for the record
def contract(bra, H, ket):
    F = np.ones((1, 1, 1))
    for b, h, k in zip(bra, H, ket):
        F = np.einsum("awb,asc,wstv,btd->cvd", F, b.conj(), h, k, optimize=True)
    return F[0, 0, 0]
I = [np.eye(w.shape[1])[None, :, :, None] for w in W]
n2 = contract(cores, I, cores)
json.dump({"name": name, "tool": "TeNPy " + tenpy.__version__, "L": L, "chi_max": chi,
           "mps_shapes": [list(c.shape) for c in cores], "mpo_shapes": [list(c.shape) for c in W],
           "E_tenpy_dmrg": E, "E_tenpy_expectation": Eexp, "E_numpy_rayleigh": float(contract(cores, W, cores) / n2), "norm2_numpy": float(n2),
           "E_exact_infinite_chi": float(1 - 1 / np.sin(np.pi / (2 * (2 * L + 1))))},
          open(f"{out}/{name}.json", "w"), indent=1)
print(open(f"{out}/{name}.json").read()[-420:])
