"""The lines of docs/benchmarks.md: the measurements of each family, and which rows of which bench a line gathers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    """Rows of one bench against one peer, for each device that ran them.

    `bench` is the name of the script in benches/compare, of the harness in benches/gpu, or of a bench of cargo. `case` and
    `peer` are regular expressions of whole texts. `headline` puts the line on the README's row of the family.
    """

    bench: str
    what: str
    case: str
    peer: str
    headline: bool = False


@dataclass(frozen=True)
class Rate:
    """Rows of a bench for which there is no program to compare with: only purlin's rate is shown."""

    bench: str
    what: str
    case: str


@dataclass(frozen=True)
class Beside:
    """Two rows of a bench that times a published method, written anew, beside purlin's."""

    bench: str
    what: str
    ours: str
    theirs: str
    peer: str
    headline: bool = False


@dataclass(frozen=True)
class Family:
    """A section of the page. `measured` explains the rates, `commands` are Markdown, in the order of the README."""

    name: str
    title: str
    chapter: str
    does: str
    measured: str
    commands: tuple[str, ...]
    lines: tuple[Line | Rate | Beside, ...]
    remarks: tuple[str, ...] = field(default=())


_ANY = r".*"
_MATRIX = r"(BA|R-MAT|mesh|Poisson|as-caida|ca-AstroPh|email-Enron|4elt|bcsstk13).* f(32|64)"
_MV = r"cuSPARSE CSR_ALG[12]"
_KERNEL_OF_2010 = "kernel of Ballard, Kolda and Plantenga (2010), rewritten"

FAMILIES = (
    Family(
        "sshopm",
        "Eigenpairs of symmetric tensors",
        "sshopm.md",
        "eigenpairs of symmetric tensors of any order (SS-HOPM), in batches, with a completeness check",
        "Tensors of order 4 and dimension 3 a second on a GPU, each from 128 starts with 20 power steps and the test of "
        "convergence. The peer is the unrolled kernel of Ballard, Kolda and Plantenga (2010), written anew in benches/gpu and "
        "timed in the same process, with its test of convergence and without it; we know no package to time instead.",
        ("`make gpu-bundle`, there `./run.sh results benches`", "`cargo bench --bench sshopm`"),
        (
            Beside(
                "sshopm_kernels",
                "128 starts, 20 power steps, f32",
                "power, lambda test, 128 x 20, pairs, f32",
                "baseline, unrolled, with the test, 128 x 20, f32",
                _KERNEL_OF_2010,
                headline=True,
            ),
            Beside(
                "sshopm_kernels",
                "128 starts, 20 power steps, f64",
                "power, lambda test, 128 x 20, pairs, f64",
                "baseline, unrolled, with the test, 128 x 20, f64",
                _KERNEL_OF_2010,
            ),
            *(
                Beside(
                    "sshopm_kernels",
                    f"128 starts, 20 power steps, the peer without its test, {dtype}",
                    f"power, lambda test, 128 x 20, pairs, {dtype}",
                    f"baseline, unrolled, no test, 128 x 20, {dtype}",
                    _KERNEL_OF_2010,
                )
                for dtype in ("f32", "f64")
            ),
            Rate("sshopm_kernels", "all real pairs by Newton steps, 2000 starts, f64", r"all pairs, Newton, m=4, 2000 starts, f64"),
            Rate("sshopm", "peaks of 64 starts on one core, order 4, f32", r"peaks of 64 starts, order 4, Avx512 F32"),
            Rate("sshopm", "peaks of 64 starts on one core, order 4, f64", r"peaks of 64 starts, order 4, Avx512 F64"),
        ),
        ("On a CPU no program is timed beside this family by itself; the peaks of diffusion MRI below are the same method.",),
    ),
    Family(
        "dwi",
        "Fibre directions of diffusion MRI",
        "sshopm.md",
        "tensors and orientation functions of diffusion MRI signals, and their peaks",
        "Voxels a second from spherical harmonics to peaks, on the coefficients of a real volume. MRtrix3's `sh2peaks` is timed "
        "as a command, from file to file; dipy's `peak_directions` a voxel at a time on one thread, its sampling of the function "
        "left out, while purlin uses two threads.",
        ("`benches/compare/peaks_cpu.py`", "`benches/compare/peaks_gpu.py`"),
        (
            Rate("peaks_gpu", "peaks of order 4, 64 starts, on the device, f32", r"m = 4, 64 starts, hybrid, top 5, f32, resident"),
            Rate("peaks_gpu", "peaks of order 4, 64 starts, on the device, f64", r"m = 4, 64 starts, hybrid, top 5, f64, resident"),
            Rate("peaks_gpu", "the same from pinned host memory and back, f32", r"the same, pinned host to pinned host, f32"),
            Line("peaks_cpu", "peaks, degree 4 and 8, f32", r"sh to peaks, lmax [48], f32", "MRtrix3 sh2peaks", headline=True),
            Line("peaks_cpu", "peaks, degree 4, f32", r"sh to peaks, lmax 4, f32, one thread of dipy", "dipy peak_directions"),
        ),
        ("On a GPU neither MRtrix3 nor dipy does this.",),
    ),
    Family(
        "fdk",
        "Cone-beam CT",
        "fdk.md",
        "cone-beam CT reconstruction (FDK), at once or view by view, larger than memory",
        "Voxel updates a second (GUPS: views times voxels over 10^9 and the time) of a whole reconstruction: weights, ramp filter "
        "and back-projection, from array to array. ASTRA takes pageable arrays only, so it is compared with both kinds of "
        "purlin's. The kernel of 2016 is the back-projection of Lu, Ino and Hagihara, written anew in benches/gpu and compared "
        "with purlin's back-projection alone.",
        ("`benches/compare/fdk_cpu.py`", "`benches/compare/fdk_gpu.py`", "`make gpu-bundle`, there `./run.sh results benches`"),
        (
            Line("fdk_gpu", "pageable arrays to pageable arrays", r".*, pageable arrays", r"ASTRA FDK_CUDA.*", headline=True),
            Line("fdk_gpu", "pinned arrays to pinned arrays", r".*, pinned arrays", r"ASTRA FDK_CUDA.*"),
            Line("fdk_kernels", "back-projection alone, beside the kernel of 2016", r"whole back-projection, .*", "layered texture"),
            Line("fdk_cpu", "arrays to arrays", _ANY, "RTK", headline=True),
        ),
    ),
    Family(
        "low_rank",
        "Randomized SVD, PCA and robust PCA",
        "rsvd.md",
        "randomized SVD and PCA of dense, sparse, streamed and implicit matrices; robust PCA",
        "Decompositions a second of a dense matrix in memory, with the same rank, oversampling and power iterations for all; the "
        "errors of the results are in the raw files. Robust PCA splits 200 frames of a video; NumPy's is the same method with "
        "exact decompositions, sporco's has penalties of its own.",
        (
            "`benches/compare/rsvd_cpu.py`",
            "`benches/compare/rpca_cpu.py`",
            "`benches/compare/rsvd_gpu.py core`",
            "`benches/compare/rpca_gpu.py`",
        ),
        (
            Line("rsvd_gpu", "SVD, method chosen by purlin", r".*, auto", "torch.svd_lowrank", headline=True),
            Line("rsvd_gpu", "SVD, methods range and fused", r".*, (range|fused)", "torch.svd_lowrank"),
            Line("rsvd_gpu", "SVD, methods range and fused", r".*, (range|fused)", "CuPy loop"),
            Line("rsvd_gpu", "SVD, methods range and fused", r".*, (range|fused)", "cuSOLVER Xgesvdr"),
            Line("rsvd_gpu", "SVD, fused, products of fewer digits", r".*, fused, fast", "torch.svd_lowrank"),
            Line("rsvd_gpu", "SVD, fused, products of fewer digits", r".*, fused, fast", "CuPy loop"),
            Line("rsvd_gpu", "SVD, fused, products of fewer digits", r".*, fused, fast", "cuSOLVER Xgesvdr"),
            Rate("rpca_gpu", "robust PCA, a thousand frames of two million pixels", r"2073600 x 1000 float32"),
            Rate("rpca_gpu", "robust PCA of a video of 795 frames", r"vtest\.npy, .*"),
            Line("rsvd_cpu", "SVD, rank 50, two power iterations", _ANY, "scikit-learn, LU", headline=True),
            Line("rsvd_cpu", "SVD, rank 50, two power iterations", _ANY, "scikit-learn, QR"),
            Line("rsvd_cpu", "SVD, rank 50, two power iterations", _ANY, "fbpca"),
            Line("rsvd_cpu", "SVD, rank 50, two power iterations", _ANY, "dask"),
            Line("rpca_cpu", "robust PCA of a video", r"video, float(32|64), to .*", "NumPy, exact"),
            Line("rpca_cpu", "robust PCA of a video", r"video, float64", "sporco"),
        ),
    ),
    Family(
        "spectra",
        "Sparse products and eigenpairs",
        "spectra.md",
        "products of sparse matrices, eigenpairs by Lanczos, graphs: clusters, cuts, layouts",
        "Products, or whole solutions for k eigenpairs, a second; the same k for all, and tolerances that leave like residuals, "
        "which the raw files have. cuSPARSE is the better of its two algorithms, each after its preprocessing. SciPy's products "
        "use one thread, purlin's and MKL's two. A row that orders by degree permutes both vectors each time.",
        (
            "`benches/compare/spmv_gpu.py`",
            "`benches/compare/spectra_gpu.py`",
            "`benches/compare/spectra_cpu.py`",
        ),
        (
            Line("spmv_gpu", "product, plan chosen by purlin", _MATRIX, _MV, headline=True),
            Line("spmv_gpu", "product of a pattern", _MATRIX + ", pattern", _MV),
            Line("spmv_gpu", "product of a Laplacian, not formed", _MATRIX + ", laplacian", _MV),
            Line("spmv_gpu", "product of a normalized Laplacian, not formed", _MATRIX + ", normalised laplacian", _MV),
            Line("spmv_gpu", "product, matrix and vectors in order of degree", _MATRIX + ", in order of degree", _MV),
            Line("spmv_gpu", "product, ordered by degree in each call", _MATRIX + ", by degree", _MV),
            Line("spmv_gpu", "product, row groups as published", _MATRIX + ", row group as published", _MV),
            Line("spmv_gpu", "product with 4 columns", _MATRIX + ", 4 columns", r"cuSPARSE SpMM CSR_ALG1, (rows|columns)"),
            Line("spectra_gpu", "10 largest eigenpairs, full orthogonalization", r".*, k = 10", "CuPy eigsh"),
            Line("spectra_gpu", "10 largest eigenpairs, partial", r".*, k = 10, partial", "CuPy eigsh", headline=True),
            Line("spectra_gpu", "10 largest eigenpairs, partial, by degree", r".*, k = 10, partial, by degree", "CuPy eigsh"),
            Line("spectra_gpu", "10 largest eigenpairs, the three lines above", r".*, k = 10.*", "RAFT eigsh"),
            Line("spectra_cpu", "product, f64", r"product, .*, float64", "scipy"),
            Line("spectra_cpu", "product, f32", r"product, .*, float32", "scipy"),
            Line("spectra_cpu", "product, f64", r"product, .*, float64", "MKL"),
            Line("spectra_cpu", "product, f32", r"product, .*, float32", "MKL"),
            Line("spectra_cpu", "10 largest eigenpairs, full orthogonalization", r"largest, .*, k = 10, full", "scipy eigsh"),
            Line("spectra_cpu", "10 largest eigenpairs, partial", r"largest, .*, k = 10, partial", "scipy eigsh", headline=True),
            Line("spectra_cpu", "10 largest eigenpairs, full orthogonalization", r"largest, .*, k = 10, full", "SLEPc krylovschur"),
            Line("spectra_cpu", "10 largest eigenpairs, partial", r"largest, .*, k = 10, partial", "SLEPc krylovschur"),
            Line("spectra_cpu", "smallest of a normalized Laplacian", r"smallest .*, k = \d+", "scipy eigsh"),
            Line("spectra_cpu", "the same with Chebyshev filters", r"smallest .*, k = \d+, filtered", "scipy eigsh"),
        ),
        (
            "The runs of eigenpairs are older than commit ec80c49f86 of 2026-11-24. Since then a solve tests by default that no copy "
            "of an eigenvalue is missing (`verify`). The test takes further products, so today's rates may be lower than these.",
        ),
    ),
    Family(
        "tt",
        "Tensor trains",
        "tt.md",
        "inner products, expectation values and algebra of tensor trains (matrix-product states)",
        "Inner products a second of two trains with random cores. torch's loop is two matrix products a site as a user writes it, "
        "torch.bmm contracts rings and batches. The lines of TF32 and of 8-bit digits show options of purlin that change the "
        "arithmetic; torch's loop beside them is in plain single precision.",
        ("`benches/compare/tt_cpu.py`", "`benches/compare/tt_gpu.py`"),
        (
            Line("tt_gpu", "open, 100 sites, rank 16 to 64", r"open, d=100 n=2 rank (16|32|64) .*", "torch loop", headline=True),
            Line("tt_gpu", "open, 100 sites, rank 128 to 1024", r"open, d=100 n=2 rank (128|256|512|1024) .*", "torch loop"),
            Line("tt_gpu", "open, 50 sites, rank 4 to 16, single calls", r"open, d=50 rank (4|8|16), a call", "torch loop"),
            Line("tt_gpu", "open, rank 512 to 2048, f32", r"open, d=\d+ rank \d+ float32, default", "torch loop"),
            Line("tt_gpu", "the same, three products in TF32", r"open, d=\d+ rank \d+ float32, tf32x3", "torch loop"),
            Line("tt_gpu", "the same by 8-bit digits", r"open, d=\d+ rank \d+ float32, int8x6", "torch loop"),
            Line("tt_gpu", "the same in TF32, fewer digits", r"open, d=\d+ rank \d+ float32, tf32", "torch loop"),
            Line("tt_gpu", "rings, 50 sites, rank 16 to 64", r"ring, .*", "torch.bmm"),
            Line("tt_gpu", "a batch of 10000, rank 16", r"batch of .*", "torch.bmm"),
            Line("tt_cpu", "open, 50 sites, rank 4 to 256", r"open rank .*", r"NumPy .*, loop of products"),
            Line("tt_cpu", "norms, rank 64 to 256", r"norm rank .*", r"NumPy .*, loop of products"),
            Line("tt_cpu", "open, 50 sites, rank 4 to 256", r"open rank .*", r"quimb .*", headline=True),
            Line("tt_cpu", "rings, rank 8 to 32", r"ring rank .*", r"quimb .*"),
            Line("tt_cpu", "open, 50 sites, rank 4 to 256", r"open rank .*", r"TeNPy .*"),
            Line("tt_cpu", "open, 50 sites, rank 4 to 32", r"open rank .*", r"teneva .*"),
            Line("tt_cpu", "open, 50 sites, rank 4 to 256", r"open rank .*", "ttpy"),
        ),
    ),
)

# Rows that are not on the page, by bench, case and peer, with the reason.
LEFT_OUT = (
    (_ANY, _ANY, r"one GPU|one vector|looped calls|calls one by one|inner|basic|basic anew", "purlin beside itself"),
    (_ANY, _ANY, r"back-projection alone|slower of .*|two passes at .*|slowest of .*", "purlin beside a limit of the machine"),
    (_ANY, _ANY, r"first build|commit .*", "purlin beside an earlier build"),
    ("fdk_kernels", r"(columns|general|plain|weights and ramp).*", _ANY, "single kernels; whole back-projections are on the page"),
    ("spmv_gpu", r"geometric mean.*", "cuSPARSE", "means of rows that are on the page"),
    ("spectra_cpu", r"product, geometric mean.*", _ANY, "means of rows that are on the page"),
)
