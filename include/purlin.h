/* purlin: heavy numerical jobs on CPUs and NVIDIA GPUs. Generated from src/ffi: do not edit. */

#ifndef PURLIN_H
#define PURLIN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define PURLIN_MUST_USE __attribute__((warn_unused_result))
#else
#define PURLIN_MUST_USE
#endif

/**
 * Major version of the header.
 */
#define PURLIN_VERSION_MAJOR 0

/**
 * Minor version of the header.
 */
#define PURLIN_VERSION_MINOR 1

/**
 * Patch version of the header.
 */
#define PURLIN_VERSION_PATCH 0

/**
 * The GPU if there is one, else the CPU; a GPU with a `device` other than 0.
 */
#define PURLIN_BACKEND_AUTO 0

/**
 * The CPU, even if there is a GPU.
 */
#define PURLIN_BACKEND_CPU 1

/**
 * A GPU; an error if there is none.
 */
#define PURLIN_BACKEND_CUDA 2

/**
 * The best vector instructions the machine has.
 */
#define PURLIN_ISA_AUTO 0

/**
 * No vector instructions beyond the build's target.
 */
#define PURLIN_ISA_PORTABLE 1

/**
 * Vectors of 256 bits: AVX2 and FMA.
 */
#define PURLIN_ISA_AVX2 2

/**
 * Vectors of 512 bits: AVX-512 F, DQ, VL and BW, and FMA.
 */
#define PURLIN_ISA_AVX512 3

/**
 * No messages are logged.
 */
#define PURLIN_LOG_OFF 0

/**
 * A call failed, with the reason.
 */
#define PURLIN_LOG_ERROR 1

/**
 * Something is not as asked, but the call goes on.
 */
#define PURLIN_LOG_WARN 2

/**
 * The choices that purlin made, with the reason.
 */
#define PURLIN_LOG_INFO 3

/**
 * Details for developers; no message has this level yet.
 */
#define PURLIN_LOG_DEBUG 4

/**
 * Every entry is stored, with a leading dimension.
 */
#define PURLIN_DENSE 0

/**
 * Compressed sparse rows: offsets, columns and values.
 */
#define PURLIN_CSR 1

/**
 * Read in blocks from a source.
 */
#define PURLIN_STREAMED 2

/**
 * Known by its products alone.
 */
#define PURLIN_OPERATOR 3

/**
 * Added to an `index_base`: the caller's word that every column is in range. They are not looked at then, which makes
 * O(rows) of O(rows + nnz). With a column out of range results are wrong, calls fail, and a GPU may read memory that
 * is not the matrix's.
 */
#define PURLIN_TRUSTED 16

/**
 * Packed values are the tensor's entries.
 */
#define PURLIN_PACKING_ENTRIES 0

/**
 * Packed values are the coefficients of the polynomial A x^m: entries times their multinomials.
 */
#define PURLIN_PACKING_POLYNOMIAL 1

/**
 * Square root of the sum of squares over all n^m entries.
 */
#define PURLIN_NORM_FROBENIUS 0

/**
 * Sum of magnitudes over all n^m entries.
 */
#define PURLIN_NORM_ONE 1

/**
 * Largest magnitude over all places.
 */
#define PURLIN_NORM_MAX 2

/**
 * Local maxima of A x^m on the unit sphere. For odd m, (lambda, x) and (-lambda, -x) are one pair, a maximum and a
 * minimum: it is listed as the maximum, whatever the sign of lambda.
 */
#define PURLIN_SSHOPM_MAXIMA 0

/**
 * Local minima. For odd m they are the maxima turned over, and listed as minima.
 */
#define PURLIN_SSHOPM_MINIMA 1

/**
 * Both: maxima descending, then minima ascending. For odd m and the canonical sign each pair is listed once, with
 * lambda >= 0, as a maximum or as a minimum.
 */
#define PURLIN_SSHOPM_BOTH 2

/**
 * Safeguarded Newton steps. For n = 3 the Hessian is shifted as far as the step then goes uphill and no further than
 * 2/m; for other n, or with a constant shift, power steps where the Hessian is not definite or the step is long.
 */
#define PURLIN_SSHOPM_HYBRID 0

/**
 * The shifted power method alone.
 */
#define PURLIN_SSHOPM_POWER 1

/**
 * The smallest shift that keeps each step monotone (Kolda and Mayo 2014).
 */
#define PURLIN_SSHOPM_SHIFT_ADAPTIVE 0

/**
 * The constant `shift` of the options.
 */
#define PURLIN_SSHOPM_SHIFT_FIXED 1

/**
 * (m - 1) times the Frobenius norm: monotone for certain, slow.
 */
#define PURLIN_SSHOPM_SHIFT_GUARANTEED 2

/**
 * |A x^(m-1) - lambda x| <= tolerance * max(|lambda|, 1e-3 |A|).
 */
#define PURLIN_SSHOPM_TEST_RESIDUAL 0

/**
 * Change of lambda <= tolerance * |lambda|. Where a fixed shift is f > 1 times the product of order and Frobenius norm, the
 * tolerance is divided by f; see PURLIN_SSHOPM_TEST_STEP.
 */
#define PURLIN_SSHOPM_TEST_LAMBDA 1

/**
 * Change of x <= tolerance. With a fixed shift as PURLIN_SSHOPM_TEST_LAMBDA. If rounding hides changes that small, a start
 * converges only where its residual is within rounding.
 */
#define PURLIN_SSHOPM_TEST_STEP 2

/**
 * Fibonacci points where n = 3 (a hemisphere for even order, the sphere for odd), else random ones.
 */
#define PURLIN_STARTS_AUTO 0

/**
 * Fibonacci lattice on the hemisphere z > 0; n = 3. From these starts the solver can miss maxima of odd orders in
 * the half z < 0.
 */
#define PURLIN_STARTS_FIBONACCI_HEMISPHERE 1

/**
 * Fibonacci lattice on the sphere; n = 3.
 */
#define PURLIN_STARTS_FIBONACCI_SPHERE 2

/**
 * Vertices of a subdivided icosahedron; n = 3. 10 f^2 + 2 starts cover the sphere; 5 f^2 + 1 cover half of it, and from
 * them the solver can miss maxima of odd orders in the other half.
 */
#define PURLIN_STARTS_ICOSAHEDRAL 3

/**
 * Normal numbers, normalized: uniform on the sphere.
 */
#define PURLIN_STARTS_RANDOM 4

/**
 * Uniform numbers in [-1, 1], normalized: not uniform on the sphere; as in Kolda and Mayo's experiments.
 */
#define PURLIN_STARTS_RANDOM_CUBE 5

/**
 * One representative of (lambda, x) and its mirror image. Even order: the component of largest magnitude is positive. Odd
 * order: lambda >= 0 for PURLIN_SSHOPM_BOTH and purlin_sshopm_solve_all; MAXIMA and MINIMA determine it by themselves.
 */
#define PURLIN_SSHOPM_SIGN_CANONICAL 0

/**
 * The iterate as it stands.
 */
#define PURLIN_SSHOPM_SIGN_RAW 1

/**
 * The conventions of this documentation.
 */
#define PURLIN_SSHOPM_COMPAT_NONE 0

/**
 * The MATLAB Tensor Toolbox's tests, tolerances and shift: its iteration counts are reproduced.
 */
#define PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX 1

/**
 * A start met its stopping test.
 */
#define PURLIN_START_CONVERGED 0

/**
 * A start used up its iterations.
 */
#define PURLIN_START_MAX_ITERATIONS 1

/**
 * A start met the zero vector.
 */
#define PURLIN_START_ZERO_VECTOR 2

/**
 * A start met a number that is not finite.
 */
#define PURLIN_START_NONFINITE 3

/**
 * A start met a singular system (purlin_sshopm_solve_all).
 */
#define PURLIN_START_SINGULAR 4

/**
 * There is a result, and no other status applies.
 */
#define PURLIN_TENSOR_OK 0

/**
 * An entry or a signal is not finite; there is no result.
 */
#define PURLIN_TENSOR_NONFINITE 1

/**
 * All entries are zero: every direction is an eigenvector. A solve lists one that stands for all; there is no peak.
 */
#define PURLIN_TENSOR_ZERO 2

/**
 * A multiple of the identity: every direction is an eigenvector. A solve lists one that stands for all; there is no
 * peak.
 */
#define PURLIN_TENSOR_ISOTROPIC 3

/**
 * The mask leaves the tensor out.
 */
#define PURLIN_TENSOR_MASKED 4

/**
 * No start converged to a pair that was asked for.
 */
#define PURLIN_TENSOR_NO_PAIR 5

/**
 * The mean signal without diffusion weighting is not positive, or too few signals are usable.
 */
#define PURLIN_TENSOR_SIGNAL 6

/**
 * A signal was not positive; it was clamped or left out, and the result stands.
 */
#define PURLIN_TENSOR_CLAMPED 7

/**
 * Pairs are missing or may be (purlin_sshopm_solve_all): the numbers of pairs of each kind cannot be those of a
 * complete set, starts ended at singular points, or the starts were used up before a round that found nothing new, or
 * while a pair had been reached by fewer than four starts.
 */
#define PURLIN_TENSOR_INCOMPLETE 8

/**
 * There are degenerate pairs, so that nothing vouches for completeness. One pair stands for a continuum of eigenvectors.
 */
#define PURLIN_TENSOR_DEGENERATE 9

/**
 * Pairs were found, but a start did not converge, or a GPU kernel had no memory for more distinct ends of starts: pairs
 * may be missing.
 */
#define PURLIN_TENSOR_PARTIAL 10

/**
 * The projected Hessian is negative definite: a local maximum.
 */
#define PURLIN_PAIR_NEGATIVE_STABLE 0

/**
 * The projected Hessian is positive definite: a local minimum.
 */
#define PURLIN_PAIR_POSITIVE_STABLE 1

/**
 * The projected Hessian is indefinite: a saddle.
 */
#define PURLIN_PAIR_UNSTABLE 2

/**
 * An eigenvalue of the projected Hessian is zero within the tolerance.
 */
#define PURLIN_PAIR_DEGENERATE 3

/**
 * Not classified: an eigenvalue or the residual is not finite.
 */
#define PURLIN_PAIR_UNCLASSIFIED 4

/**
 * There is no pair: a place beyond the tensor's count.
 */
#define PURLIN_PAIR_NONE -1

/**
 * Orthonormal real spherical harmonics Y(l, m) without the Condon-Shortley sign: cosines for m > 0, sines for m < 0.
 */
#define PURLIN_SH_CANONICAL 1

/**
 * MRtrix3, and dipy's tournier07 with legacy=False: (-1)^m Y(l, m).
 */
#define PURLIN_SH_MRTRIX3 2

/**
 * dipy's tournier07 with legacy=True, MRtrix 0.2: Y(l, 0), else (-1)^m Y(l, m) / sqrt(2).
 */
#define PURLIN_SH_TOURNIER07_LEGACY 3

/**
 * dipy's default, descoteaux07 with legacy=True: (-1)^m Y(l, -m).
 */
#define PURLIN_SH_DESCOTEAUX07_LEGACY 4

/**
 * dipy's descoteaux07 with legacy=False: Y(l, -m) for m < 0, else (-1)^m Y(l, -m).
 */
#define PURLIN_SH_DESCOTEAUX07 5

/**
 * `basis` of purlin_dwi_peaks: the input is a batch of symmetric tensors, not of coefficients.
 */
#define PURLIN_SH_TENSOR -1

/**
 * All measurements weigh the same.
 */
#define PURLIN_DWI_OLS 0

/**
 * Each measurement weighs as its squared signal: the noise of a logarithm grows as the signal falls.
 */
#define PURLIN_DWI_WLS 1

/**
 * A signal that is not positive is raised to a small part of S0.
 */
#define PURLIN_DWI_CLAMP 0

/**
 * A signal that is not above `clamp` times S0 is left out of its voxel's fit.
 */
#define PURLIN_DWI_SKIP 1

/**
 * A peak is x, y, z (a unit vector) and its value.
 */
#define PURLIN_PEAKS_UNIT_VALUE 0

/**
 * A peak is x, y, z times its value, as MRtrix3's peak images.
 */
#define PURLIN_PEAKS_MRTRIX 1

/**
 * All numbers of an absent peak are NaN.
 */
#define PURLIN_MISSING_NAN 0

/**
 * All numbers of an absent peak are 0.
 */
#define PURLIN_MISSING_ZERO 1

/**
 * The least significant byte of a number comes first.
 */
#define PURLIN_LITTLE_ENDIAN 0

/**
 * The most significant byte of a number comes first.
 */
#define PURLIN_BIG_ENDIAN 1

/**
 * The band-limited ramp, without a window.
 */
#define PURLIN_FDK_WINDOW_NONE 0

/**
 * The ramp times sin(pi x / 2) / (pi x / 2), x the frequency over the cut-off.
 */
#define PURLIN_FDK_WINDOW_SHEPP_LOGAN 1

/**
 * The ramp times cos(pi x / 2).
 */
#define PURLIN_FDK_WINDOW_COSINE 2

/**
 * The ramp times 0.54 + 0.46 cos(pi x).
 */
#define PURLIN_FDK_WINDOW_HAMMING 3

/**
 * The ramp times (1 + cos(pi x)) / 2.
 */
#define PURLIN_FDK_WINDOW_HANN 4

/**
 * Chosen from angles and panel: SHORT for a gap of more than 20 degrees and three times the median one (views at the
 * same angle have none), or of more than half a circle, else HALF_FAN for a panel whose centre is more than a tenth of
 * its width off the projected axis, else FULL. The width counts that all views cover on both sides of the axis.
 */
#define PURLIN_FDK_REDUNDANCY_AUTO 0

/**
 * Every ray is measured once: all weights 1.
 */
#define PURLIN_FDK_REDUNDANCY_NONE 1

/**
 * A full circle measures every ray twice: all weights 1/2. A gap as for SHORT is refused.
 */
#define PURLIN_FDK_REDUNDANCY_FULL 2

/**
 * Parker's weights (Med. Phys. 9, 1982), for an arc of at least 180 degrees.
 */
#define PURLIN_FDK_REDUNDANCY_SHORT 3

/**
 * A panel shifted sideways on a full circle, whose two halves see the object from opposite sides. Its short side has to
 * reach beyond the axis by 3 columns, and by the cube root of the number of columns from the axis to its far rim. The
 * weights rise within these columns, and over fewer the filter takes that rise for an edge.
 */
#define PURLIN_FDK_REDUNDANCY_HALF_FAN 4

/**
 * Pixels outside the panel are 0, interpolated linearly over one pixel.
 */
#define PURLIN_FDK_EDGE_ZERO 0

/**
 * A sample counts only if all four of its pixels exist.
 */
#define PURLIN_FDK_EDGE_SKIP 1

/**
 * Bilinear interpolation between four pixels, in f32.
 */
#define PURLIN_FDK_INTERPOLATION_EXACT 0

/**
 * Leave to round positions where that is faster, up to 6e-4 of the density scale off. At present the same as EXACT,
 * which no other kernel outruns.
 */
#define PURLIN_FDK_INTERPOLATION_FAST 1

/**
 * Arithmetic in f32; positions and weights are prepared in f64.
 */
#define PURLIN_FDK_PRECISION_F32 0

/**
 * Everything in f64 on the CPU threads, whatever the context: slow, for checks.
 */
#define PURLIN_FDK_PRECISION_F64 1

/**
 * Weights, ramp filter and back-projection.
 */
#define PURLIN_FDK_MODE_FDK 0

/**
 * Back-projection alone with the factor 1/w^2 and the matrices as given, as the RabbitCT benchmark asks (Rohkohl et
 * al., Med. Phys. 36, 2009).
 */
#define PURLIN_FDK_MODE_RABBITCT 1

/**
 * The panel stands upright in every view: a row of voxels along z is seen along a panel column.
 */
#define PURLIN_FDK_KERNEL_VERTICAL 0

/**
 * Any 3 x 4 matrices: panels that are tilted against the z axis too.
 */
#define PURLIN_FDK_KERNEL_GENERAL 1

/**
 * The cost model chooses among GRAM, FUSED, MERGE, KRYLOV and DIRECT.
 */
#define PURLIN_RSVD_METHOD_AUTO 0

/**
 * Published, for comparison: row space of (A^H A)^q, 2q + 1 passes over the data.
 */
#define PURLIN_RSVD_METHOD_BASIC 1

/**
 * Published: BASIC with every second pass backwards, so that the block that was read last is used first.
 */
#define PURLIN_RSVD_METHOD_FIFO 2

/**
 * Published as "fused": BASIC with A^H A in one pass; q + 1 passes.
 */
#define PURLIN_RSVD_METHOD_ROW_FUSED 3

/**
 * A^H A is formed: 2 passes whatever q. Singular values below about 1e-7 of the largest (F32: 3e-4 unless summed in
 * F64) are not resolved; two more passes are made where that is found.
 */
#define PURLIN_RSVD_METHOD_GRAM 4

/**
 * Published: sums of the ranges of blocks, 2 passes. More iterations can make it worse.
 */
#define PURLIN_RSVD_METHOD_BRSVD 5

/**
 * Halko, Martinsson, Tropp (SIAM Review 53, 2011): range of (A A^H)^q A Omega; 2q + 2 passes.
 */
#define PURLIN_RSVD_METHOD_RANGE 6

/**
 * RANGE's subspace in q + 1 passes.
 */
#define PURLIN_RSVD_METHOD_FUSED 7

/**
 * Decompositions of blocks, merged (after Iwen, Ong, SIMAX 37, 2016); 2 passes, or 1 with `one_pass`.
 */
#define PURLIN_RSVD_METHOD_MERGE 8

/**
 * Block Krylov (Musco, Musco, NIPS 2015): the space of all iterates; q + 1 passes.
 */
#define PURLIN_RSVD_METHOD_KRYLOV 9

/**
 * Two sketches of data that are seen once (Tropp et al., SIMAX 38, 2017): far less accurate than two passes.
 */
#define PURLIN_RSVD_METHOD_ONE_PASS 10

/**
 * No projection, for l near min(m, n): exact.
 */
#define PURLIN_RSVD_METHOD_DIRECT 11

/**
 * purlin_rsvd_symmetric alone: Nystroem's method for positive semidefinite matrices.
 */
#define PURLIN_RSVD_METHOD_NYSTROM 12

/**
 * purlin_rsvd_symmetric alone: W^H A W, for any Hermitian matrix; AUTO there.
 */
#define PURLIN_RSVD_METHOD_RAYLEIGH 13

/**
 * CholeskyQR2, and a safer method where its result is not orthonormal.
 */
#define PURLIN_RSVD_ORTH_AUTO 0

/**
 * Householder reflections: safe and slow. Vectors as long as A has rows may lie in pieces and take SHIFTED_CHOLESKY3, which
 * the report then names.
 */
#define PURLIN_RSVD_ORTH_HOUSEHOLDER 1

/**
 * CholeskyQR2 first, and a safer method where it fails.
 */
#define PURLIN_RSVD_ORTH_CHOLESKY2 2

/**
 * Shifted CholeskyQR3 (Fukaya et al., SISC 42, 2020) first.
 */
#define PURLIN_RSVD_ORTH_SHIFTED_CHOLESKY3 3

/**
 * Standard normal entries; for complex types each part.
 */
#define PURLIN_SKETCH_GAUSSIAN 0

/**
 * Uniform in [-1, 1); for complex types each part.
 */
#define PURLIN_SKETCH_UNIFORM 1

/**
 * -1 or 1; for complex types each part.
 */
#define PURLIN_SKETCH_RADEMACHER 2

/**
 * One entry in eight columns of each row -1 or 1, the others 0; RADEMACHER for sketches of fewer than eight columns.
 */
#define PURLIN_SKETCH_SPARSE_SIGN 3

/**
 * In reports: the one of purlin_rsvd_set_sketch.
 */
#define PURLIN_SKETCH_GIVEN 4

/**
 * The matrix as it is.
 */
#define PURLIN_RSVD_CENTER_NONE 0

/**
 * Less the mean of each column, without forming the difference.
 */
#define PURLIN_RSVD_CENTER_COLUMNS 1

/**
 * Less the mean of each row.
 */
#define PURLIN_RSVD_CENTER_ROWS 2

/**
 * Signs, or phases, of the vectors as they come.
 */
#define PURLIN_RSVD_SIGN_NONE 0

/**
 * The entry of largest modulus of each right vector, the first on ties, is real and positive.
 */
#define PURLIN_RSVD_SIGN_V_MAX 1

/**
 * That of each left vector is.
 */
#define PURLIN_RSVD_SIGN_U_MAX 2

/**
 * The right factor is V, n x k, with A = U diag(s) V^H.
 */
#define PURLIN_RSVD_V 0

/**
 * The right factor is V^H, k x n.
 */
#define PURLIN_RSVD_VH 1

/**
 * The error is not found.
 */
#define PURLIN_RSVD_ERROR_NONE 0

/**
 * From ||A - A_k||_F^2 = ||A||_F^2 - sum of s_j^2, which costs nothing. It cannot distinguish a relative error below 1e-7
 * (F32: 3e-3) from 0.
 */
#define PURLIN_RSVD_ERROR_IDENTITY 1

/**
 * From random probes of the residual: the Frobenius norm, and an upper bound of the spectral norm that is false with a
 * probability of 10^-probes and mostly some 20 times too large; one more pass.
 */
#define PURLIN_RSVD_ERROR_PROBES 2

/**
 * Like PROBES, with the spectral norm itself in place of the bound, by five power iterations on the residual: close, and
 * from below; 11 more passes.
 */
#define PURLIN_RSVD_ERROR_POWER 3

/**
 * Products inside power iterations like all others.
 */
#define PURLIN_RSVD_PRECISION_FULL 0

/**
 * With factors of 11 bits where the GPU is faster so (F32 and CF32 matrices that are stored entry by entry). The space
 * that the iterations find is nearly the same; the products that give the factors from it are computed in full.
 */
#define PURLIN_RSVD_PRECISION_FAST 1

/**
 * A row of the data is a sample, a column a feature.
 */
#define PURLIN_PCA_SAMPLES_ROWS 0

/**
 * A column of the data is a sample, a row a feature.
 */
#define PURLIN_PCA_SAMPLES_COLUMNS 1

/**
 * A column of the matrix is a frame.
 */
#define PURLIN_RPCA_FRAMES_COLUMNS 0

/**
 * A row of the matrix is a frame.
 */
#define PURLIN_RPCA_FRAMES_ROWS 1

/**
 * The cost model chooses from shapes and workspace.
 */
#define PURLIN_TT_METHOD_AUTO 0

/**
 * One boundary pair: for trains that are open at some bond.
 */
#define PURLIN_TT_METHOD_OPEN 1

/**
 * All boundary pairs of a ring at once: most memory.
 */
#define PURLIN_TT_METHOD_FULL 2

/**
 * One boundary pair at a time: least memory.
 */
#define PURLIN_TT_METHOD_REDUCED 3

/**
 * As many boundary pairs at a time as memory and cache allow.
 */
#define PURLIN_TT_METHOD_BLOCKED 4

/**
 * The dense tensors of both halves: for short trains of large ranks.
 */
#define PURLIN_TT_METHOD_HALVES 5

/**
 * Repeated squaring of the transfer matrix: for uniform trains.
 */
#define PURLIN_TT_METHOD_POWER 6

/**
 * Intermediate results are scaled by powers of two, which is exact, when there are more than 30 sites or a bound on
 * their magnitude asks for it.
 */
#define PURLIN_TT_SCALING_AUTO 0

/**
 * They are scaled at every site.
 */
#define PURLIN_TT_SCALING_ALWAYS 1

/**
 * They are not: a result beyond the range is infinite or NaN.
 */
#define PURLIN_TT_SCALING_NEVER 2

/**
 * The first train, the bra, is conjugated: an inner product.
 */
#define PURLIN_TT_CONJ_BRA 0

/**
 * Nothing is conjugated: the bilinear form.
 */
#define PURLIN_TT_CONJ_NONE 1

/**
 * IEEE arithmetic of the element type.
 */
#define PURLIN_TT_MATH_DEFAULT 0

/**
 * GPU: F32 products in TF32, 10 bits of mantissa.
 */
#define PURLIN_TT_MATH_TF32 1

/**
 * GPU: F32 products of matrices from 2048 rows and columns on as three in TF32 of factors split into two parts,
 * smaller ones as DEFAULT, which is faster there. Closer than TF32, but tensor cores cut sums off, and that error adds
 * up along a train.
 */
#define PURLIN_TT_MATH_TF32X3 2

/**
 * GPU: complex products by three real ones.
 */
#define PURLIN_TT_MATH_GEMM3M 3

/**
 * GPU: large F32 products as six of 8-bit digits, which tensor cores add up exactly: as accurate as F32 relative to the
 * norms of rows and columns, not to the single products.
 */
#define PURLIN_TT_MATH_INT8X6 4

/**
 * The fastest method that is stable for these trains.
 */
#define PURLIN_TT_NORM_AUTO 0

/**
 * The bits of the inner product.
 */
#define PURLIN_TT_NORM_INNER 1

/**
 * One triangle of each environment, of open trains; for rings as AUTO.
 */
#define PURLIN_TT_NORM_TRIANGLE 2

/**
 * By QR factors: nothing is squared, so that small norms keep all their digits.
 */
#define PURLIN_TT_NORM_QR 3

/**
 * In options: chosen by the ranks.
 */
#define PURLIN_TT_KERNEL_AUTO -1

/**
 * Matrix products of a library.
 */
#define PURLIN_TT_KERNEL_PRODUCTS 0

/**
 * One kernel that keeps the environment in registers, cache or shared memory for the whole train.
 */
#define PURLIN_TT_KERNEL_CHAIN 1

/**
 * A factor goes to the first core, unless that would leave the range of its type: then its power of two goes to all.
 */
#define PURLIN_TT_SPREAD_AUTO 0

/**
 * It goes to the first core.
 */
#define PURLIN_TT_SPREAD_FIRST 1

/**
 * Its phase and leading digits go to the first core, an equal power of two to each.
 */
#define PURLIN_TT_SPREAD_EVEN 2

/**
 * Of the sites before a bond.
 */
#define PURLIN_TT_LEFT 0

/**
 * Of the sites after it.
 */
#define PURLIN_TT_RIGHT 1

/**
 * The plain result is the number.
 */
#define PURLIN_TT_RESULT_OK 0

/**
 * It is infinite: the number is beyond the type's range, though its scaled form is not.
 */
#define PURLIN_TT_RESULT_OVERFLOW 1

/**
 * It is 0: the number is not, but too small for the type.
 */
#define PURLIN_TT_RESULT_UNDERFLOW 2

/**
 * It is NaN, for a core holds a number that is not finite; or an enqueued call in single precision by a library's products
 * met a core whose largest number is beyond 2^60 or below 2^-61.
 */
#define PURLIN_TT_RESULT_NONFINITE 3

/**
 * Entries at one place are added, in the order given.
 */
#define PURLIN_DUPLICATES_SUM 0

/**
 * The entry that is given first stays.
 */
#define PURLIN_DUPLICATES_FIRST 1

/**
 * The entry that is given last stays.
 */
#define PURLIN_DUPLICATES_LAST 2

/**
 * The largest stays: by value for real types, by modulus for complex ones.
 */
#define PURLIN_DUPLICATES_MAX 3

/**
 * An entry that is given twice is an error.
 */
#define PURLIN_DUPLICATES_REFUSE 4

/**
 * Entries of A or A^H; the larger where there are both. Loops once.
 */
#define PURLIN_SYMMETRIZE_UNION 0

/**
 * A + A^H. Loops count twice.
 */
#define PURLIN_SYMMETRIZE_SUM 1

/**
 * (A + A^H) / 2.
 */
#define PURLIN_SYMMETRIZE_AVERAGE 2

/**
 * Entries that are in both; the smaller of the two.
 */
#define PURLIN_SYMMETRIZE_INTERSECTION 3

/**
 * A holds each pair once, in one triangle: the other is its mirror image. Loops once.
 */
#define PURLIN_SYMMETRIZE_MIRROR 4

/**
 * As an element type of a file's values: PURLIN_CF64 where they are complex, else PURLIN_F64.
 */
#define PURLIN_DTYPE_OF_FILE -1

/**
 * Largest sum of moduli of a row, of a sparse matrix.
 */
#define PURLIN_NORM_INFINITY 3

/**
 * Rows and columns as they are.
 */
#define PURLIN_ORDERING_NONE -1

/**
 * The vertices with the longest rows first, equal ones as they are.
 */
#define PURLIN_ORDERING_DEGREE 0

/**
 * Reverse Cuthill-McKee: neighbours get near numbers (Cuthill and McKee, 1969; George and Liu, 1979).
 */
#define PURLIN_ORDERING_CUTHILL_MCKEE 1

/**
 * The columns of every row ascend.
 */
#define PURLIN_CHECK_SORTED 1

/**
 * No place is stored twice.
 */
#define PURLIN_CHECK_DISTINCT 2

/**
 * Values are neither NaN nor infinite.
 */
#define PURLIN_CHECK_FINITE 4

/**
 * All three checks together.
 */
#define PURLIN_CHECK_FULL 7

/**
 * Chosen by the lengths of the rows.
 */
#define PURLIN_SPMV_METHOD_AUTO 0

/**
 * A row a thread, summed in order.
 */
#define PURLIN_SPMV_METHOD_SCALAR 1

/**
 * A row a vector (on a GPU a warp).
 */
#define PURLIN_SPMV_METHOD_VECTOR 2

/**
 * A row a group of G lanes, G the smallest power of two not below the mean length (Lin and Liu, 2015).
 */
#define PURLIN_SPMV_METHOD_ROW_GROUP 3

/**
 * Rows of like length together.
 */
#define PURLIN_SPMV_METHOD_ROW_BIN 4

/**
 * Shares of as many rows and entries together (Merrill and Garland, SC16): no row is too long.
 */
#define PURLIN_SPMV_METHOD_MERGE 5

/**
 * Shares of as many entries.
 */
#define PURLIN_SPMV_METHOD_ENTRY_SPLIT 6

/**
 * Products by columns, then sums by rows; in contexts on a GPU alone.
 */
#define PURLIN_SPMV_METHOD_SWEEPS 7

/**
 * Products with A itself: x has a number for each column of A.
 */
#define PURLIN_SPMV_PLAIN 0

/**
 * Products with A^T: x has a number for each row of A.
 */
#define PURLIN_SPMV_TRANSPOSE 1

/**
 * Products with A^H: x has a number for each row of A.
 */
#define PURLIN_SPMV_ADJOINT 2

/**
 * The largest, in descending order.
 */
#define PURLIN_LANCZOS_LARGEST 0

/**
 * The smallest, in ascending order.
 */
#define PURLIN_LANCZOS_SMALLEST 1

/**
 * Those of largest modulus, in descending order of that.
 */
#define PURLIN_LANCZOS_LARGEST_MAGNITUDE 2

/**
 * Half from the top, the odd one with them, and half from the bottom; in descending order.
 */
#define PURLIN_LANCZOS_BOTH_ENDS 3

/**
 * Those nearest `sigma`, the nearest first: with the caller's solve, or else by a filter.
 */
#define PURLIN_LANCZOS_NEAREST 4

/**
 * A itself.
 */
#define PURLIN_LANCZOS_MATRIX 0

/**
 * The Laplacian D - W, W being A and D the diagonal of its row sums.
 */
#define PURLIN_LANCZOS_LAPLACIAN 1

/**
 * The normalized Laplacian I - D^-1/2 W D^-1/2, 0 for isolated vertices, so that 0 comes once a component. A vertex
 * counts as isolated if its row sum is 0, even where weights of both signs cancel: D^-1/2 is a pseudo-inverse, here
 * and in the kinds below.
 */
#define PURLIN_LANCZOS_NORMALIZED_LAPLACIAN 2

/**
 * The signless Laplacian D + W.
 */
#define PURLIN_LANCZOS_SIGNLESS_LAPLACIAN 3

/**
 * D^-1/2 W D^-1/2, whose largest eigenvalues are 1 less the smallest of the normalized Laplacian, but for isolated
 * vertices: each has a 0 of both.
 */
#define PURLIN_LANCZOS_NORMALIZED_ADJACENCY 4

/**
 * The modularity matrix W - d d^T / sum(d) (Newman, PNAS 103, 2006).
 */
#define PURLIN_LANCZOS_MODULARITY 5

/**
 * A^H A, of order cols: the squares of the singular values.
 */
#define PURLIN_LANCZOS_GRAM 6

/**
 * A A^H, of order rows.
 */
#define PURLIN_LANCZOS_OUTER_GRAM 7

/**
 * [0 A; A^H 0], of order rows + cols: the singular values, and their negatives.
 */
#define PURLIN_LANCZOS_AUGMENTED 8

/**
 * The random-walk Laplacian I - D^-1 W, 0 for isolated vertices: of products (purlin_spmv_create), not of eigenpairs,
 * since it is not symmetric. PURLIN_LANCZOS_NORMALIZED_LAPLACIAN has its eigenvalues.
 */
#define PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN 9

/**
 * Thick-restart Lanczos with full reorthogonalization.
 */
#define PURLIN_LANCZOS_METHOD_RESTART 0

/**
 * The three-term recurrence, `basis` steps of it, with the test of Cullum and Willoughby; eigenvectors by running it
 * again. Three vectors of memory beside those returned; sees one copy of each eigenvalue.
 */
#define PURLIN_LANCZOS_METHOD_PLAIN 1

/**
 * Vectors of the space are made orthogonal each to all before it, twice.
 */
#define PURLIN_LANCZOS_ORTHOGONALIZATION_FULL 0

/**
 * To the root of the unit roundoff, when an estimate of it says so (Simon, Math. Comp. 42, 1984).
 */
#define PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL 1

/**
 * The operator itself is iterated with.
 */
#define PURLIN_LANCZOS_FILTER_OFF 0

/**
 * A Chebyshev polynomial of it, which separates the wanted eigenvalues from the others: one end of the spectrum (Zhou
 * and Saad, SIAM J. Matrix Anal. Appl. 29, 2007), or an interval about `sigma` (Li, Xi, Erlandson and Saad, SIAM J.
 * Sci. Comput. 41, 2019). `degree` products a step.
 */
#define PURLIN_LANCZOS_FILTER_CHEBYSHEV 1

/**
 * Once all pairs have converged, a test with a random vector shows whether a copy of a wanted eigenvalue may be
 * missing, with a chance of one in a million to miss one. Where one may, a search from new vectors finds those that
 * are.
 */
#define PURLIN_LANCZOS_VERIFY_AUTO 0

/**
 * The search for copies is made without the test: 30 to 90 products more where nothing is missing.
 */
#define PURLIN_LANCZOS_VERIFY_ON 1

/**
 * Neither: multiple eigenvalues may come with too few copies, and `verified` of the info is 0.
 */
#define PURLIN_LANCZOS_VERIFY_OFF 2

/**
 * Every pair that was asked for has converged.
 */
#define PURLIN_LANCZOS_CONVERGED 0

/**
 * The restarts, or the steps of the plain recurrence, are used up.
 */
#define PURLIN_LANCZOS_RESTARTS 1

/**
 * The Krylov space is the whole space: the pairs are exact.
 */
#define PURLIN_LANCZOS_EXHAUSTED 2

/**
 * The iteration had converged, but residuals or inner products computed from the vectors returned contradict it:
 * products differ from call to call, or the caller's solve is less accurate than the tolerance.
 */
#define PURLIN_LANCZOS_CONTRADICTED 3

/**
 * Coordinates are the eigenvectors: orthonormal columns.
 */
#define PURLIN_GRAPH_SCALING_NONE 0

/**
 * Rows of length 1 (Ng, Jordan and Weiss, NIPS 14, 2001); a row of zeros stays.
 */
#define PURLIN_GRAPH_SCALING_UNIT_ROWS 1

/**
 * Rows over the root of the degree: eigenvectors of the random walk (Shi and Malik, IEEE PAMI 22, 2000).
 */
#define PURLIN_GRAPH_SCALING_DEGREES 2

/**
 * Labels by k-means from rows of length 1.
 */
#define PURLIN_GRAPH_LABELS_K_MEANS 0

/**
 * Labels by column-pivoted QR of the eigenvectors (Damle, Minden and Ying, Information and Inference 8, 2019).
 */
#define PURLIN_GRAPH_LABELS_PIVOTED_QR 1

/**
 * A vector is cut at 0.
 */
#define PURLIN_GRAPH_CUT_SIGN 0

/**
 * At its median: halves that differ by one vertex at most.
 */
#define PURLIN_GRAPH_CUT_MEDIAN 1

/**
 * Where cut/vol(S) + cut/vol(rest) is least (Shi and Malik, IEEE PAMI 22, 2000).
 */
#define PURLIN_GRAPH_CUT_SWEEP 2

/**
 * Result of every fallible function: 0, or negative. Values are never reused.
 */
enum purlin_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The call succeeded, or its work was enqueued.
   */
  PURLIN_SUCCESS = 0,
  /**
   * An argument lies outside its documented domain.
   */
  PURLIN_ERROR_INVALID_ARGUMENT = -1,
  /**
   * A handle is null, destroyed or of another type.
   */
  PURLIN_ERROR_INVALID_HANDLE = -2,
  /**
   * An object is in use by another call.
   */
  PURLIN_ERROR_BUSY = -3,
  /**
   * Host memory cannot be allocated, the context's limit included, or the system refused to start a thread.
   */
  PURLIN_ERROR_OUT_OF_MEMORY = -4,
  /**
   * Device memory cannot be allocated, the context's limit included, or the driver, cuBLAS or cuSOLVER says that it got
   * no memory.
   */
  PURLIN_ERROR_OUT_OF_DEVICE_MEMORY = -5,
  /**
   * The tolerance was not met; outputs hold the last iterate.
   */
  PURLIN_ERROR_NO_CONVERGENCE = -6,
  /**
   * Cancelled by the progress callback, by `purlin_context_cancel`, or by the cancel function of the call's object, such
   * as `purlin_rsvd_cancel`.
   */
  PURLIN_ERROR_CANCELLED = -7,
  /**
   * No driver, or no such GPU.
   */
  PURLIN_ERROR_NO_DEVICE = -8,
  /**
   * The CUDA driver failed; the message has its name and number for the error. After a fault of a kernel (700, 702,
   * 714 to 719) the driver answers all calls of the process so until it ends.
   */
  PURLIN_ERROR_CUDA = -9,
  /**
   * This type, shape or device combination is not supported.
   */
  PURLIN_ERROR_NOT_SUPPORTED = -10,
  /**
   * Overflow, breakdown or singularity; the message says which.
   */
  PURLIN_ERROR_NUMERICAL = -11,
  /**
   * A file could not be read or written.
   */
  PURLIN_ERROR_IO = -12,
  /**
   * The context was made before `fork()` and is used in the child.
   */
  PURLIN_ERROR_FORKED = -13,
  /**
   * A bug in purlin; the object is unusable from now on.
   */
  PURLIN_ERROR_INTERNAL = -14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum purlin_status purlin_status;
#else
typedef int32_t purlin_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Backend, thread pool, memory limits and log; everything else belongs to one. Thread-safe.
 */
typedef struct purlin_context purlin_context;

/**
 * Diffusion MRI: options on a context, for volumes of any size. Several threads may use it at a time.
 */
typedef struct purlin_dwi purlin_dwi;

/**
 * A cone-beam reconstruction: a checked geometry, grid and options on a context. Made once, used for many scans.
 */
typedef struct purlin_fdk purlin_fdk;

/**
 * Contexts that share the work of a call: an option `group` of the families that distribute work over several devices. The
 * first member is the context of the call's matrices, tensors and streams. Thread-safe, and never changed.
 */
typedef struct purlin_group purlin_group;

/**
 * An eigensolver: options on a context, for matrices of any size. Matrices keep the plans of their products, so that an
 * object holds no work space between calls.
 */
typedef struct purlin_lanczos purlin_lanczos;

/**
 * A matrix: dense with a leading dimension, on the host or on the context's GPU; compressed sparse rows; read in
 * blocks from a source; or known by its products alone. A function that needs the entries in memory refuses the last
 * two.
 */
typedef struct purlin_matrix purlin_matrix;

/**
 * The principal components of a matrix of samples, with the mean and the scale that transforms of other samples need.
 */
typedef struct purlin_pca purlin_pca;

/**
 * A robust PCA: options on a context, for matrices of any shape. One run at a time.
 */
typedef struct purlin_rpca purlin_rpca;

/**
 * A randomized singular value decomposition: options on a context, for matrices of any shape. It keeps its workspaces:
 * a second call of the same shape allocates little.
 */
typedef struct purlin_rsvd purlin_rsvd;

/**
 * An array of up to four axes that a run writes in blocks: a tensor, a file, or a caller's function that takes the
 * blocks. It may be larger than memory.
 *
 * A file is written under a provisional name in its folder, made durable, and renamed when the run has succeeded. A
 * failed or cancelled run, or a sink that is destroyed unused, leaves the old file as it was. A path names no file, a
 * regular file that this process may write to, or a symbolic link to one: the link is followed and stays. Directories,
 * FIFOs, sockets, devices and links to nothing are refused with `PURLIN_ERROR_IO`; to write to one, take
 * purlin_sink_to_callback. The new file has the permissions of the one that it replaces, and its owner and group where
 * this process may set them; otherwise the permissions of any new file. Of a file with several hard links only the name
 * that was given gets the new contents. These rules hold for every file that purlin writes.
 *
 * The provisional file of a sink that is not destroyed, in a program that ends by `exit` or a signal, stays.
 *
 * A run refuses a sink that goes to a file that it reads, by whatever name, and two sinks that go to one file. It refuses
 * a sink to a tensor that overlaps another argument in memory, from the first element to the last: strided tensors that
 * interleave without a common element are refused, too.
 *
 * A run uses a sink up, whether it succeeds or fails; a call
 * that is refused for its arguments (`PURLIN_ERROR_INVALID_ARGUMENT`, `_INVALID_HANDLE`, `_BUSY`, `_NOT_SUPPORTED`,
 * `_FORKED`) does not. A sink that is used up is refused by every later call.
 */
typedef struct purlin_sink purlin_sink;

/**
 * An array of up to four axes that a run reads in blocks: a tensor, a file, or a caller's function that delivers the
 * blocks. It may be larger than memory. It may be used again and again, by one run at a time.
 *
 * A file is a regular file, or a symbolic link to one. Directories, FIFOs, sockets and devices are refused with
 * `PURLIN_ERROR_IO` before they are opened; to read one, take purlin_source_from_callback. This holds for every file that
 * purlin reads.
 */
typedef struct purlin_source purlin_source;

/**
 * A product with a sparse matrix that has been thought through: for every matrix of one structure, whatever its values.
 * Any number of calls may use it at once.
 */
typedef struct purlin_spmv purlin_spmv;

/**
 * A solver of eigenpairs of symmetric tensors: options on a context, for batches of any shape. Several threads may use it
 * at a time.
 */
typedef struct purlin_sshopm purlin_sshopm;

/**
 * An ordered queue of work of a context. On a GPU it is a CUDA stream; on the CPU calls are complete on return.
 */
typedef struct purlin_stream purlin_stream;

/**
 * An array of numbers: dense of any rank, or a batch of packed symmetric tensors; on the host or on the context's GPU.
 */
typedef struct purlin_tensor purlin_tensor;

/**
 * A tensor train (matrix-product state): d cores, core k an array of r_k x n_k x r_k+1, first index fastest. The entry
 * at i_0 .. i_d-1 is the trace of the product of the matrices G_k[:, i_k, :]. It is open if r_0 = r_d = 1 and else
 * cyclic, a tensor ring.
 */
typedef struct purlin_tt purlin_tt;

/**
 * Contractions of tensor trains: options on a context, made once and used for many trains. It keeps the plan and the
 * workspace of its last call: calls of the same shapes plan and allocate nothing.
 */
typedef struct purlin_tt_contraction purlin_tt_contraction;

/**
 * The environments of <y|H|x>, or of <y|x>, at the bonds of a train, as sweeps of DMRG or ALS need them: built when they
 * are needed, and kept until a core they depend on is said to have changed.
 */
typedef struct purlin_tt_environments purlin_tt_environments;

/**
 * A TT-matrix (matrix-product operator): d cores, core k an array of w_k x m_k x n_k x w_k+1, first index fastest: left
 * bond, row (bra, out), column (ket, in), right bond. It is open if w_0 = w_d = 1 and else cyclic.
 */
typedef struct purlin_tt_matrix purlin_tt_matrix;

/**
 * Properties of a GPU, as the driver reports them.
 */
typedef struct purlin_device_info {
  /**
   * Size of the caller's struct; set by purlin_device_info_init.
   */
  size_t struct_size;
  /**
   * Ordinal of the device, as the driver counts.
   */
  int32_t ordinal;
  /**
   * Major part of the compute capability.
   */
  int32_t compute_capability_major;
  /**
   * Minor part of the compute capability.
   */
  int32_t compute_capability_minor;
  /**
   * Version of the driver's CUDA interface, 13000 for 13.0.
   */
  int32_t driver_version;
  /**
   * Multiprocessors; each runs several blocks of threads at a time.
   */
  int64_t multiprocessors;
  /**
   * Bytes of device memory, free or not.
   */
  int64_t memory_total;
  /**
   * Bytes of device memory that are free now.
   */
  int64_t memory_free;
  /**
   * Bytes of the L2 cache.
   */
  int64_t l2_bytes;
  /**
   * Most bytes of shared memory that a block can have.
   */
  int64_t shared_memory_per_block;
  /**
   * Peak clock of the multiprocessors in kHz.
   */
  int64_t clock_khz;
  /**
   * The driver's name of the device, terminated.
   */
  char name[128];
} purlin_device_info;

/**
 * Takes one log message: one line of UTF-8, valid during the call. May be called from any thread. It must not
 * throw, longjmp or unwind.
 */
typedef void (*purlin_log_fn)(int32_t level,
                              const char *message,
                              void *user);

/**
 * How a context is made.
 */
typedef struct purlin_context_options {
  /**
   * Size of the caller's struct; set by purlin_context_options_init.
   */
  size_t struct_size;
  /**
   * Where the context computes, one of PURLIN_BACKEND_*; default AUTO.
   */
  int32_t backend;
  /**
   * Ordinal of the GPU; default 0. Another one is refused on the CPU, and with AUTO asks for that GPU: without it there is
   * PURLIN_ERROR_NO_DEVICE, and no context on the CPU.
   */
  int32_t device;
  /**
   * Instruction set of kernels on the host, one of PURLIN_ISA_*; default AUTO.
   */
  int32_t cpu_isa;
  /**
   * Least important messages that the log gets, one of PURLIN_LOG_*; default OFF.
   */
  int32_t log_level;
  /**
   * Threads of the context's pool, up to 4096; 0, the default, is one a core.
   */
  int64_t threads;
  /**
   * Bytes of host memory that purlin may allocate; 0, the default, is no limit.
   */
  int64_t host_memory_limit;
  /**
   * Bytes of device memory that purlin may allocate; 0, the default, is no limit. A limit is refused with the backend CPU; it
   * has no effect where AUTO chooses the CPU.
   */
  int64_t device_memory_limit;
  /**
   * Takes the messages; default NULL.
   */
  purlin_log_fn log;
  /**
   * Passed to `log` as its last argument, not dereferenced; default NULL.
   */
  void *log_user;
} purlin_context_options;

/**
 * Backend, device, threads, limits and memory use of a context.
 */
typedef struct purlin_context_info {
  /**
   * Size of the caller's struct; set by purlin_context_info_init.
   */
  size_t struct_size;
  /**
   * PURLIN_BACKEND_CPU or PURLIN_BACKEND_CUDA, never AUTO.
   */
  int32_t backend;
  /**
   * Ordinal of the GPU, -1 on the CPU.
   */
  int32_t device;
  /**
   * One of PURLIN_ISA_*, not AUTO.
   */
  int32_t cpu_isa;
  /**
   * Always 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Threads of the pool, at least 1.
   */
  int64_t threads;
  /**
   * Bytes of host memory that purlin may allocate, 0 for no limit.
   */
  int64_t host_memory_limit;
  /**
   * Bytes of device memory that purlin may allocate, 0 for no limit.
   */
  int64_t device_memory_limit;
  /**
   * Bytes of host memory held by this context's objects.
   */
  int64_t host_memory_used;
  /**
   * Bytes of device memory held by this context's objects.
   */
  int64_t device_memory_used;
  /**
   * Name of the GPU, or "CPU"; terminated.
   */
  char device_name[128];
} purlin_context_info;

/**
 * Options of a group. This version has none: a later one appends fields, and purlin_group_create keeps its arguments.
 */
typedef struct purlin_group_options {
  /**
   * Size of the caller's struct; set by purlin_group_options_init.
   */
  size_t struct_size;
} purlin_group_options;

/**
 * Number of the members of a group.
 */
typedef struct purlin_group_info {
  /**
   * Size of the caller's struct; set by purlin_group_info_init.
   */
  size_t struct_size;
  /**
   * Number of contexts, at least 1.
   */
  int64_t members;
} purlin_group_info;

/**
 * Element type: one of PURLIN_F32 to PURLIN_U32. I8, I16, U32 and F16 are stored, copied and exchanged, and read and
 * written by sources and sinks; solvers say which types they compute with.
 */
typedef int32_t purlin_dtype;

/**
 * Where memory lies: PURLIN_HOST or PURLIN_DEVICE.
 */
typedef int32_t purlin_location;

/**
 * A set of PURLIN_ROW_MAJOR, PURLIN_READ_ONLY, PURLIN_PINNED and PURLIN_ENTRY_MAJOR, or 0.
 */
typedef int32_t purlin_flags;

/**
 * Properties of a tensor, and the address of its elements.
 */
typedef struct purlin_tensor_info {
  /**
   * Size of the caller's struct; set by purlin_tensor_info_init.
   */
  size_t struct_size;
  /**
   * Element type, one of PURLIN_F32 to PURLIN_U32.
   */
  int32_t dtype;
  /**
   * PURLIN_HOST or PURLIN_DEVICE: where the elements are.
   */
  int32_t location;
  /**
   * PURLIN_READ_ONLY where it holds, or 0.
   */
  int32_t flags;
  /**
   * 1 if purlin allocated the memory, else 0.
   */
  int32_t owned;
  /**
   * Number of dimensions; 2 for a symmetric batch (packed entries, tensors).
   */
  int64_t ndim;
  /**
   * Order of the symmetric tensors; 0 for a dense tensor.
   */
  int64_t symmetric_order;
  /**
   * Dimension of the symmetric tensors; 0 for a dense tensor.
   */
  int64_t symmetric_dimension;
  /**
   * Product of the sizes of all dimensions.
   */
  int64_t elements;
  /**
   * Bytes from the first element to one past the last.
   */
  int64_t bytes;
  /**
   * Address of the first element, on the host or the device.
   */
  uint64_t data;
} purlin_tensor_info;

/**
 * Properties of a matrix, and the address of its entries.
 */
typedef struct purlin_matrix_info {
  /**
   * Size of the caller's struct; set by purlin_matrix_info_init.
   */
  size_t struct_size;
  /**
   * Type of the entries, of a pattern too.
   */
  int32_t dtype;
  /**
   * PURLIN_HOST or PURLIN_DEVICE: where the entries are.
   */
  int32_t location;
  /**
   * PURLIN_DENSE, PURLIN_CSR, PURLIN_STREAMED or PURLIN_OPERATOR.
   */
  int32_t storage;
  /**
   * PURLIN_ROW_MAJOR and PURLIN_READ_ONLY, where they hold.
   */
  int32_t flags;
  /**
   * Number of rows m.
   */
  int64_t rows;
  /**
   * Number of columns n.
   */
  int64_t cols;
  /**
   * Leading dimension in elements; 0 unless dense.
   */
  int64_t ld;
  /**
   * Stored entries: rows * cols for a dense or streamed matrix, 0 for an operator.
   */
  int64_t nnz;
  /**
   * Bytes of all arrays; of a streamed matrix, of the source's; 0 for an operator.
   */
  int64_t bytes;
  /**
   * Address of the entries or values; 0 for a pattern, a streamed matrix and an operator.
   */
  uint64_t data;
  /**
   * Address of the row offsets; 0 unless sparse.
   */
  uint64_t row_ptr;
  /**
   * Address of the column indices; 0 unless sparse.
   */
  uint64_t col_idx;
  /**
   * First index of a sparse matrix, 0 or 1.
   */
  int32_t index_base;
  /**
   * Type of the row offsets.
   */
  int32_t row_ptr_type;
  /**
   * Type of the column indices.
   */
  int32_t col_idx_type;
  /**
   * 1 if purlin allocated the memory, else 0.
   */
  int32_t owned;
} purlin_matrix_info;

/**
 * Progress of a call: `step` of `steps` are done; `measure` is the family's own (a residual, say). Called on the
 * calling thread alone, at most about 20 times a second and once at the end. Nonzero cancels the call. It must not
 * throw, longjmp or unwind.
 */
typedef int32_t (*purlin_progress_fn)(int64_t step,
                                      int64_t steps,
                                      double measure,
                                      void *user);

/**
 * How eigenpairs are sought: local maxima and minima (purlin_sshopm_solve), or all pairs (purlin_sshopm_solve_all).
 * Either call refuses, by name, the options that only the other uses: `max_starts`, and `goal`, `method`,
 * `shift_kind`, `shift`, `test`, `warmup`, `tau`, `start_kind`, `compatibility` and `remove_isotropic`.
 */
typedef struct purlin_sshopm_options {
  /**
   * Size of the caller's struct; set by purlin_sshopm_options_init.
   */
  size_t struct_size;
  /**
   * Pairs that are looked for: PURLIN_SSHOPM_MAXIMA (default), MINIMA or BOTH.
   */
  int32_t goal;
  /**
   * Newton or power steps: PURLIN_SSHOPM_HYBRID (default) or POWER.
   */
  int32_t method;
  /**
   * Shift of power steps: PURLIN_SSHOPM_SHIFT_ADAPTIVE (default), FIXED or GUARANTEED.
   */
  int32_t shift_kind;
  /**
   * Test that ends an iteration: PURLIN_SSHOPM_TEST_RESIDUAL (default), LAMBDA or STEP.
   */
  int32_t test;
  /**
   * Where iterations start, one of PURLIN_STARTS_*; default AUTO.
   */
  int32_t start_kind;
  /**
   * Which of (lambda, x) and its mirror image a pair is listed as: PURLIN_SSHOPM_SIGN_CANONICAL (default) or RAW.
   */
  int32_t sign;
  /**
   * Conventions of tests, tolerances and shift: PURLIN_SSHOPM_COMPAT_NONE (default) or TENSOR_TOOLBOX.
   */
  int32_t compatibility;
  /**
   * 1 (default): iterate on A less a multiple of the identity where that saves steps, which changes no eigenvector.
   * 0: always on A itself, as also by default for odd order, which has no identity, for HYBRID without power steps
   * for n = 3, whose steps are the same on both, and for TENSOR_TOOLBOX, which always iterates on A and does not
   * refuse 0.
   */
  int32_t remove_isotropic;
  /**
   * Most iterations of a start, up to 2147483647; 0, the default, is 500 (1000 for PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX),
   * or 200 Newton steps for all pairs.
   */
  int64_t max_iterations;
  /**
   * Power steps before the first Newton step, up to 2147483647; -1, the default, is 0.
   */
  int64_t warmup;
  /**
   * Starts of each tensor; 0, the default, chooses: for n = 3, 32 up to order 4 and 64 above, twice as many for odd
   * orders, whose starts cover the whole sphere; else 20 n; an icosahedral set has the next size up. All pairs: starts of
   * the first round; 0 chooses (2000 for n = 3).
   */
  int64_t starts;
  /**
   * All pairs: most starts of a tensor over all rounds; 0, the default, is 32 times `starts`.
   */
  int64_t max_starts;
  /**
   * Seed of random starts, which each tensor has of its own, by its number in the batch; default 0. Refused with other
   * starts. All pairs: of the starts, which are the same for every tensor.
   */
  uint64_t seed;
  /**
   * Fixed shift: at least 0 for maxima, at most 0 for minima; default 0.
   */
  double shift;
  /**
   * Tolerance of the test, less than 1 except for PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX; 0, the default, is 1e-10 for F64
   * and 1e-5 for F32. All pairs: largest residual relative to the Frobenius norm; 0 is 1e-11 for F64 and 1e-5 for F32.
   */
  double tolerance;
  /**
   * Margin of the adaptive shift; 0, the default, is 1e-6 times the Frobenius norm.
   */
  double tau;
  /**
   * Pairs nearer than this angle are one, radians; 0, the default, is 1 degree. All pairs: 0 is 1e-5 for F64 and 1e-3 for
   * F32; less than 8 eps of the type counts as that.
   */
  double merge_angle;
  /**
   * Pairs whose eigenvalues differ by more than this, relative to the larger, are two; 0, the default: unused. Less
   * than 256 eps of the type counts as that. All pairs: relative to the Frobenius norm; 0 is 1e-6 for F64 and 1e-3
   * for F32.
   */
  double merge_value;
  /**
   * A Hessian eigenvalue of at most this times the Frobenius norm counts as 0; 0, the default, is 1e-7 for F64 and 1e-3
   * for F32.
   */
  double degeneracy_tolerance;
  /**
   * Called with the tensors done, all tensors, and the share of their starts that has converged (of
   * purlin_sshopm_solve_all 0, and 1 at the end); default NULL.
   */
  purlin_progress_fn progress;
  /**
   * Passed to `progress` as its last argument, not dereferenced; default NULL.
   */
  void *progress_user;
} purlin_sshopm_options;

/**
 * Where results go: each member is a caller's tensor or NULL, default NULL. T tensors, V starts of each, dimension n;
 * K, the pairs kept of each tensor, is the extent of the arrays given. "Real" is the element type of the tensors.
 */
typedef struct purlin_sshopm_results {
  /**
   * Size of the caller's struct; set by purlin_sshopm_results_init.
   */
  size_t struct_size;
  /**
   * I32, T: pairs listed, at most K. The rest of a tensor's row is NaN, PURLIN_PAIR_NONE in `classes`, 0 in `basins`.
   */
  struct purlin_tensor *count;
  /**
   * Real, K x T: eigenvalues; maxima descending, then minima ascending.
   */
  struct purlin_tensor *values;
  /**
   * Real, n x K x T: unit eigenvectors.
   */
  struct purlin_tensor *vectors;
  /**
   * Real, K x T: |A x^(m-1) - lambda x|.
   */
  struct purlin_tensor *residuals;
  /**
   * I32, K x T: one of PURLIN_PAIR_*.
   */
  struct purlin_tensor *classes;
  /**
   * Real, (n - 1) x K x T: eigenvalues of the projected Hessian, ascending.
   */
  struct purlin_tensor *hessian;
  /**
   * I32, K x T: number of starts that ended in the pair.
   */
  struct purlin_tensor *basins;
  /**
   * I32, T: one of PURLIN_TENSOR_*.
   */
  struct purlin_tensor *status;
  /**
   * Real, V x T: last eigenvalue of each start. The start_* members go with one goal, not with BOTH.
   */
  struct purlin_tensor *start_values;
  /**
   * Real, n x V x T: last iterate of each start.
   */
  struct purlin_tensor *start_vectors;
  /**
   * Real, V x T: its residual.
   */
  struct purlin_tensor *start_residuals;
  /**
   * I32, V x T: its iterations.
   */
  struct purlin_tensor *start_iterations;
  /**
   * Real, V x T: its last shift, of the power step, or for n = 3 and HYBRID of the Hessian.
   */
  struct purlin_tensor *start_shifts;
  /**
   * I32, V x T: one of PURLIN_START_*.
   */
  struct purlin_tensor *start_status;
  /**
   * I32, V x T: how often lambda moved the wrong way.
   */
  struct purlin_tensor *start_violations;
  /**
   * Real, any length; for one tensor and one start: lambda at each iteration, NaN after the last.
   */
  struct purlin_tensor *trace;
  /**
   * I32, T: distinct pairs found. More than `count` where K has no place for all of them.
   */
  struct purlin_tensor *found;
} purlin_sshopm_results;

/**
 * The report or the plan of a solve.
 */
typedef struct purlin_sshopm_info {
  /**
   * Size of the caller's struct; set by purlin_sshopm_info_init.
   */
  size_t struct_size;
  /**
   * Tensors of the batch, masked ones included.
   */
  int64_t tensors;
  /**
   * Starts of each tensor, V.
   */
  int64_t starts;
  /**
   * Starts that converged, over all tensors.
   */
  int64_t converged_starts;
  /**
   * Iterations, over all starts of all tensors.
   */
  int64_t iterations;
  /**
   * Tensors, or voxels, without a result: masked, zero, isotropic, not finite, without usable signals. -1 after a
   * fit on a GPU, which does not count them.
   */
  int64_t skipped_tensors;
  /**
   * Chunks that the batch was cut into; 0 in a plan for a GPU, where they follow from the memory that is free.
   */
  int64_t chunks;
  /**
   * Tolerance that was used, after defaults and limits.
   */
  double tolerance;
  /**
   * Seconds from the call to its return.
   */
  double seconds;
  /**
   * 1 if the tolerance of the options was below the smallest that the element type can reach, and was raised to
   * that.
   */
  int32_t tolerance_raised;
  /**
   * Always 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Tensors with more pairs than were listed: K is too small for them.
   */
  int64_t truncated_tensors;
  /**
   * Tensors with a start that did not converge; of purlin_sshopm_solve_all tensors with a start that ended without a
   * pair, whose status is PURLIN_TENSOR_INCOMPLETE, or NO_PAIR.
   */
  int64_t unconverged_tensors;
  /**
   * Bytes of host memory for the work of a solve or of peaks: work space of the threads, start vectors, one chunk of
   * results. A plan has those of a solve for `count` and `status` alone. 0 after other calls.
   */
  int64_t host_bytes;
  /**
   * Where the call ran, or would run, and why; "" after purlin_sshopm_solve_all.
   */
  char reason[128];
} purlin_sshopm_info;

/**
 * How diffusion tensors are fitted (purlin_dwi_fit), constant-solid-angle orientation functions made (purlin_dwi_csa),
 * and peaks found (purlin_dwi_peaks). Each call refuses, by name, the options that it does not use.
 */
typedef struct purlin_dwi_options {
  /**
   * Size of the caller's struct; set by purlin_dwi_options_init.
   */
  size_t struct_size;
  /**
   * Fit: weights of the least squares where the caller gives none: PURLIN_DWI_OLS (default) or PURLIN_DWI_WLS.
   */
  int32_t weighting;
  /**
   * Fit: treatment of signals that have no logarithm: PURLIN_DWI_CLAMP (default) or PURLIN_DWI_SKIP.
   */
  int32_t nonpositive;
  /**
   * Peaks: basis of the input's coefficients, one of PURLIN_SH_*, or PURLIN_SH_TENSOR. 0 (default): not stated,
   * which only a symmetric batch allows, since its type determines it. purlin_dwi_csa takes its own argument of that
   * value.
   */
  int32_t basis;
  /**
   * Peaks: layout of the numbers of a peak: PURLIN_PEAKS_UNIT_VALUE (default) or PURLIN_PEAKS_MRTRIX.
   */
  int32_t format;
  /**
   * Peaks: numbers where a voxel has fewer peaks: PURLIN_MISSING_NAN (default) or PURLIN_MISSING_ZERO.
   */
  int32_t missing;
  /**
   * Peaks: where iterations start, one of PURLIN_STARTS_*; default AUTO.
   */
  int32_t start_kind;
  /**
   * Peaks: Newton or power steps: PURLIN_SSHOPM_HYBRID (default) or POWER.
   */
  int32_t method;
  /**
   * Must be 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Peaks: most iterations of a start, up to 2147483647; 0, the default, is 500.
   */
  int64_t max_iterations;
  /**
   * Peaks: starts of each voxel; 0, the default, chooses: 32 up to order 4, 64 above.
   */
  int64_t starts;
  /**
   * Peaks: seed of random starts; default 0. Refused with other starts, so also with the default ones.
   */
  uint64_t seed;
  /**
   * Fit and orientation functions: largest b-value of an unweighted volume, s/mm^2; default 50.
   */
  double b0_threshold;
  /**
   * Fit: smallest signal as part of S0, for both choices of `nonpositive`: PURLIN_DWI_SKIP leaves out signals up to it,
   * PURLIN_DWI_CLAMP raises them to it. 0, the default, is 1e-6.
   */
  double clamp;
  /**
   * Orientation functions: weight of the Laplace-Beltrami penalty, at least 0; default 0.006.
   */
  double smoothing;
  /**
   * Orientation functions: smallest S / S0; smaller ones are raised to it; default 0.001.
   */
  double minimum_signal;
  /**
   * Orientation functions: largest S / S0, below 1; larger ones are lowered to it; default 0.999.
   */
  double maximum_signal;
  /**
   * Peaks: smallest value of a peak, at least 0; maxima of 0 and less are no peaks; default 0.
   */
  double absolute_threshold;
  /**
   * Peaks: smallest value of a peak relative to the voxel's largest, 0 to 1; default 0.1.
   */
  double relative_threshold;
  /**
   * Peaks: smallest angle between two peaks, radians; the lower one goes; 0 for none; default pi/12, 15 degrees.
   */
  double min_separation;
  /**
   * Peaks: relative residual of a peak; 0, the default, is 1e-10 for F64 and 1e-5 for F32.
   */
  double tolerance;
  /**
   * Peaks: results nearer than this angle are one peak, radians; 0, the default, is 1 degree.
   */
  double merge_angle;
  /**
   * Called with the voxels done, all voxels, and of peaks the share of their starts that has converged, else 0;
   * default NULL.
   */
  purlin_progress_fn progress;
  /**
   * Passed to `progress` as its last argument, not dereferenced; default NULL.
   */
  void *progress_user;
} purlin_dwi_options;

/**
 * Element type, shape, spacing and position of the array that a source or a file holds.
 */
typedef struct purlin_array_info {
  /**
   * Size of the caller's struct; set by purlin_array_info_init.
   */
  size_t struct_size;
  /**
   * Element type, one of PURLIN_F32 to PURLIN_U32.
   */
  int32_t dtype;
  /**
   * PURLIN_ROW_MAJOR for a file that says that its last index runs fastest (`dims` are fastest first all the same),
   * or 0.
   */
  int32_t flags;
  /**
   * Number of axes, 1 to 4.
   */
  int64_t ndim;
  /**
   * Size of each axis, the one that runs fastest first; 1 beyond the last.
   */
  int64_t dims[4];
  /**
   * Distance of two elements along each axis, mm; NaN where the array does not say.
   */
  double spacing[4];
  /**
   * Position of the first element's centre, mm; NaN where the array does not say.
   */
  double origin[4];
  /**
   * Bytes of all elements, packed.
   */
  int64_t bytes;
} purlin_array_info;

/**
 * Reads one block of an array.
 *
 * `first` and `count` have one number an axis: the first element and how many. `block` holds exactly those
 * elements, packed with the first axis fastest, in the machine's byte order and aligned as the element type. A return
 * other than 0 ends the run with `PURLIN_ERROR_IO`, whose message has the number. It is called from a thread of
 * purlin's, one call at a time, and must not throw, longjmp, unwind or use the objects of the run, but to
 * cancel it.
 */
typedef int32_t (*purlin_read_fn)(const int64_t *first,
                                  const int64_t *count,
                                  void *block,
                                  void *user);

/**
 * Writes one block of an array.
 *
 * `first` and `count` have one number an axis: the first element and how many. `block` holds exactly those elements,
 * packed with the first axis fastest, in the machine's byte order and aligned as the element type; it is the
 * function's to read until it returns. A return other than 0 ends the run with `PURLIN_ERROR_IO`, whose message has
 * the number. Blocks come in any order, and each element comes in exactly one. The function is called from threads of
 * purlin's, one call at a time, and must not throw, longjmp, unwind or use the objects of the run, but to cancel it.
 */
typedef int32_t (*purlin_write_fn)(const int64_t *first,
                                   const int64_t *count,
                                   const void *block,
                                   void *user);

/**
 * Where source and panel stand at each view. Lengths in mm, angles in rad.
 *
 * World axes are right-handed, z is the axis of rotation, the origin the isocentre. On a circular orbit the source of
 * angle b stands at `source_to_axis` (cos b, sin b, 0), and the flat panel stands perpendicular to the line from it to
 * the axis, with axes e_u = (-sin b, cos b, 0) along its columns' index and e_v = (0, 0, 1) along its rows'. The
 * centre of pixel (i, j) lies at u = (i - (detector_columns - 1) / 2) column_pitch + column_offset from the foot of
 * the perpendicular, likewise v.
 *
 * The arrays are read by purlin_fdk_create and not kept.
 */
typedef struct purlin_fdk_geometry {
  /**
   * Size of the caller's struct; set by purlin_fdk_geometry_init.
   */
  size_t struct_size;
  /**
   * Source to axis, positive; 0 with matrices, which hold it.
   */
  double source_to_axis;
  /**
   * Source to panel, positive; 0 with matrices.
   */
  double source_to_detector;
  /**
   * Distance of two columns, positive; with matrices too, where it scales the filter.
   */
  double column_pitch;
  /**
   * Distance of two rows, positive; with matrices 0, or within 5 % of the pitch that each matrix implies.
   */
  double row_pitch;
  /**
   * Shift of the panel along e_u; default 0; 0 with matrices.
   */
  double column_offset;
  /**
   * Shift of the panel along e_v; default 0; 0 with matrices.
   */
  double row_offset;
  /**
   * Pixels along u, 2 to 8388608.
   */
  int64_t detector_columns;
  /**
   * Pixels along v, 1 to 8388608.
   */
  int64_t detector_rows;
  /**
   * Number of views, at least 1.
   */
  int64_t views;
  /**
   * `views` angles in any order, not necessarily of equal steps; NULL with matrices.
   */
  const double *angles;
  /**
   * `views` 3 x 4 matrices, row after row, from (x, y, z, 1) in mm to pixel indices (column w, row w, w), 0 at the
   * centre of the first pixel; of any scale and sign. NULL with angles.
   */
  const double *matrices;
  /**
   * 1: a panel between source and axis is accepted; default 0; 0 with matrices.
   */
  int32_t allow_inside_panel;
  /**
   * Must be 0: kept for later fields.
   */
  int32_t reserved;
} purlin_fdk_geometry;

/**
 * The voxels. With `nx`, `ny` and `nz` all 0, the default, they are the standard grid: cubes of the panel's column
 * pitch scaled to the axis, `detector_columns` of them along x and y, `detector_rows` along z, centred on the
 * isocentre.
 */
typedef struct purlin_fdk_grid {
  /**
   * Size of the caller's struct; set by purlin_fdk_grid_init.
   */
  size_t struct_size;
  /**
   * Voxels along x, at most 2^20.
   */
  int64_t nx;
  /**
   * Voxels along y, as `nx`.
   */
  int64_t ny;
  /**
   * Voxels along z, as `nx`.
   */
  int64_t nz;
  /**
   * Distance of two voxels along x, mm, positive.
   */
  double dx;
  /**
   * Distance of two voxels along y.
   */
  double dy;
  /**
   * Distance of two voxels along z.
   */
  double dz;
  /**
   * x of the centre of the first voxel, mm.
   */
  double x0;
  /**
   * y of the centre of the first voxel.
   */
  double y0;
  /**
   * z of the centre of the first voxel.
   */
  double z0;
} purlin_fdk_grid;

/**
 * How a scan is reconstructed.
 */
typedef struct purlin_fdk_options {
  /**
   * Size of the caller's struct; set by purlin_fdk_options_init.
   */
  size_t struct_size;
  /**
   * Window of the ramp filter, one of PURLIN_FDK_WINDOW_*; default NONE.
   */
  int32_t window;
  /**
   * Weights of rays that a scan measures twice, one of PURLIN_FDK_REDUNDANCY_*; default AUTO.
   */
  int32_t redundancy;
  /**
   * Samples at the rim of the panel, one of PURLIN_FDK_EDGE_*; default ZERO.
   */
  int32_t edge;
  /**
   * How exactly samples between pixels are interpolated, one of PURLIN_FDK_INTERPOLATION_*; default EXACT.
   */
  int32_t interpolation;
  /**
   * Precision of the arithmetic, one of PURLIN_FDK_PRECISION_*; default F32.
   */
  int32_t precision;
  /**
   * Steps of a reconstruction, one of PURLIN_FDK_MODE_*; default FDK.
   */
  int32_t mode;
  /**
   * 1: voxels that some view does not see are 0; default 0. A grid may then reach the sources and lie behind them,
   * as long as the box of the columns that every view sees does not: only that box is reconstructed, and the volume
   * is a tensor in host memory or a sink.
   */
  int32_t fov_mask;
  /**
   * 1: a streamed scan may be finished with views missing, which count as zero; default 0.
   */
  int32_t allow_missing;
  /**
   * 1: go on with an arc of less than 180 degrees, or with FULL although views leave a gap in the circle; no volume
   * is complete then; default 0.
   */
  int32_t allow_short_arc;
  /**
   * 1: pixels that are not finite become 0. Default 0: such a pixel makes its filtered row NaN; a GPU filters rows in
   * pairs, so there both. Voxels that these rows reach are NaN (0 in integer volumes). Such pixels are counted either
   * way, and the log has one warning a run. The same holds for pixels that are too large for the sums of the precision;
   * the warning says how large they may be, far more than any line integral is.
   */
  int32_t sanitize;
  /**
   * Cut-off of the window as part of the largest frequency, above 0 and at most 1; default 1.
   */
  double cutoff;
  /**
   * Width of the smooth extrapolation beyond both ends of a row, of a half fan beyond its long side alone, as part of
   * the panel's columns, 0 to 1, for objects wider than the panel; default 0.
   */
  double truncation;
  /**
   * Voxels are written times this; default 1. Volumes of F64 take any, others in F32 precision one that F32 holds.
   */
  double output_scale;
  /**
   * Number that is added to the scaled voxels; default 0. Likewise.
   */
  double output_offset;
  /**
   * Slices that are worked on at once, rounded up to a multiple of the slices that a kernel takes together; 0, the
   * default, chooses by the memory limits and the memory that is free.
   */
  int64_t slab;
  /**
   * Views that are filtered and back-projected together; 0, the default, chooses.
   */
  int64_t view_batch;
  /**
   * Length of the transforms, even, at least twice the filtered columns and at most 16777216; 0, the default, chooses.
   */
  int64_t fft_length;
  /**
   * Called by reconstruct and finish with the steps done, all steps, 0, and by push with the views pushed, all views, 0;
   * default NULL. It must be callable while the object lives.
   */
  purlin_progress_fn progress;
  /**
   * Passed to `progress` as its last argument, not dereferenced; default NULL.
   */
  void *progress_user;
  /**
   * Contexts that slabs of the volume are distributed over, with the same bits as on one; begins with the context of
   * purlin_fdk_create. Default NULL: that context alone.
   */
  const struct purlin_group *group;
} purlin_fdk_options;

/**
 * The choices for a scan, and the report of its last run. Times are of work, waiting left out; stages overlap, so they
 * add up to more than the total.
 */
typedef struct purlin_fdk_info {
  /**
   * Size of the caller's struct; set by purlin_fdk_info_init.
   */
  size_t struct_size;
  /**
   * The redundancy in force, one of PURLIN_FDK_REDUNDANCY_*, not AUTO.
   */
  int32_t redundancy;
  /**
   * PURLIN_FDK_KERNEL_VERTICAL or PURLIN_FDK_KERNEL_GENERAL.
   */
  int32_t kernel;
  /**
   * Angle from the first view to the last across the scan, rad: 2 pi less the largest gap.
   */
  double arc;
  /**
   * Largest angle between a ray and the one through the axis, seen along the axis, rad.
   */
  double fan_half_angle;
  /**
   * Largest gap between neighbouring views, rad.
   */
  double largest_gap;
  /**
   * Radius about the z axis within which the object is measured completely, mm.
   */
  double fov_radius;
  /**
   * Voxels of the grid along x.
   */
  int64_t nx;
  /**
   * Voxels of the grid along y.
   */
  int64_t ny;
  /**
   * Voxels of the grid along z.
   */
  int64_t nz;
  /**
   * Distance of two voxels along x, mm.
   */
  double dx;
  /**
   * Distance of two voxels along y.
   */
  double dy;
  /**
   * Distance of two voxels along z.
   */
  double dz;
  /**
   * x of the centre of the first voxel, mm.
   */
  double x0;
  /**
   * y of the centre of the first voxel.
   */
  double y0;
  /**
   * z of the centre of the first voxel.
   */
  double z0;
  /**
   * Slices of the thickest slab.
   */
  int64_t slab;
  /**
   * Slabs of the volume, of all contexts together.
   */
  int64_t slabs;
  /**
   * Views of a batch, which are filtered and back-projected together.
   */
  int64_t view_batch;
  /**
   * Length of the transforms: samples of a row with its padding.
   */
  int64_t fft_length;
  /**
   * Columns of a filtered row: the panel's, and zeros added on one side for a half fan.
   */
  int64_t filtered_columns;
  /**
   * Of these, how many stand before the panel's first.
   */
  int64_t filtered_left;
  /**
   * Number of contexts that the slabs go over.
   */
  int64_t contexts;
  /**
   * Planned peak of device memory of each context, bytes.
   */
  int64_t device_bytes;
  /**
   * Planned peak of host memory of each context, bytes.
   */
  int64_t host_bytes;
  /**
   * Measured peak of device memory in the last run, of the context that took most, bytes.
   */
  int64_t device_bytes_used;
  /**
   * Measured peak of host memory in the last run, likewise, bytes.
   */
  int64_t host_bytes_used;
  /**
   * Views pushed since the last purlin_fdk_begin; 0 after the scan was cancelled or dropped.
   */
  int64_t views_pushed;
  /**
   * Pixels of the last run that were not finite or too large and were replaced by 0, in the panel rows that the volume
   * is seen through; a run reads no others. A pixel that two slabs need counts twice. Of a pushed scan that is stored
   * in host memory all pixels count, once.
   */
  int64_t pixels_sanitized;
  /**
   * Counts of it that were raised to the least; counted like `pixels_sanitized`.
   */
  int64_t pixels_clamped;
  /**
   * Bytes of it that were copied to devices.
   */
  int64_t bytes_uploaded;
  /**
   * Bytes of it that were copied from devices.
   */
  int64_t bytes_downloaded;
  /**
   * Seconds of all contexts together: of reading.
   */
  double seconds_read;
  /**
   * Seconds of copying to devices.
   */
  double seconds_upload;
  /**
   * Seconds of converting, weighting and filtering.
   */
  double seconds_filter;
  /**
   * Seconds of back-projecting, of all contexts together.
   */
  double seconds_backproject;
  /**
   * Seconds of copying from devices; on the CPU of bringing slices into their order.
   */
  double seconds_download;
  /**
   * Seconds of writing slices, of all contexts together.
   */
  double seconds_write;
  /**
   * Seconds from the call to its return; of a pushed scan from the first view on.
   */
  double seconds;
  /**
   * 1e9 voxel updates a second: views times voxels over `seconds`.
   */
  double gups;
  /**
   * Why this redundancy was chosen; ends with a NUL.
   */
  char reason[128];
  /**
   * Counts of the last run above those without an object, whose line integrals are negative and kept; counted like
   * `pixels_sanitized`.
   */
  int64_t pixels_negative;
  /**
   * Pixels of the last run that were not finite (NaN or infinite) or too large for the precision, whether `sanitize`
   * replaced them or not; counted like `pixels_sanitized`. Where it did not, the voxels that their rows contribute to
   * are NaN, or 0 in volumes of integers.
   */
  int64_t pixels_not_finite;
} purlin_fdk_info;

/**
 * Multiplies vectors by a matrix: Y = A X (`adjoint` 0), or Y = A^H X (`adjoint` 1).
 *
 * X has `count` columns of the matrix's columns (adjoint: rows) elements, `ldx` apart; Y has `count` columns of its
 * rows (adjoint: columns), `ldy` apart; all of Y's columns are to be written. Both are of the matrix's element type,
 * aligned as a part of it, and where the matrix was made for: in host memory, `cuda_stream` being 0, or on the device.
 * There X is ready in the order of `cuda_stream`, a `CUstream` (`cudaStream_t`), and the function enqueues its work on
 * it, or on others that wait for it and that it waits for; the device's context is the thread's. A return other than 0
 * ends the run with `PURLIN_ERROR_IO`, whose message has the number. It is called by the thread that makes the call or
 * one of purlin's, one call at a time, and must not throw, longjmp, unwind or use the objects of the run, but to cancel
 * it.
 */
typedef int32_t (*purlin_apply_fn)(int32_t adjoint,
                                   int64_t count,
                                   const void *x,
                                   int64_t ldx,
                                   void *y,
                                   int64_t ldy,
                                   uint64_t cuda_stream,
                                   void *user);

/**
 * How a matrix is decomposed. A field that has no effect on a call is refused by name unless it has its default. k is the
 * rank, l = k + oversampling the number of columns of the sketch, q the power iterations, A is m x n.
 */
typedef struct purlin_rsvd_options {
  /**
   * Size of the caller's struct; set by purlin_rsvd_options_init.
   */
  size_t struct_size;
  /**
   * k, at most min(m, n); default 0, which is refused unless there is a tolerance. Not used by purlin_rsvd_range, whose
   * result has as many columns as its memory.
   */
  int64_t rank;
  /**
   * Columns of the sketch beyond k, held to min(m, n) in all; default 10; -1: max(10, k / 10). Another number is
   * refused for DIRECT and with a tolerance, which have no use for it. Not used by purlin_rsvd_range.
   */
  int64_t oversampling;
  /**
   * Power iterations q; default 2; -1: 7 for k less than a tenth of min(m, n), else 4. For DIRECT and ONE_PASS,
   * which do not iterate, more than 0 is refused but for the default.
   */
  int64_t power_iterations;
  /**
   * With a tolerance, the largest rank; 0, the default, for min(m, n). Refused without one.
   */
  int64_t max_rank;
  /**
   * With a tolerance, columns that are added at a time; 0, the default, for 16.
   */
  int64_t block_columns;
  /**
   * Rows (columns, where the work is on A^H) that are read at once; 0, the default, chooses by the memory limits. Refused
   * for sparse matrices and operators.
   */
  int64_t block_rows;
  /**
   * Rows that stay on the device between passes; -1, the default, for as many as fit.
   */
  int64_t resident_rows;
  /**
   * MERGE: columns that are kept of each merge, at least l; 0, the default, for 2 l. Refused for other methods.
   */
  int64_t merge_width;
  /**
   * Vectors that an error is estimated with; 0 for 10; default 10. So for purlin_rsvd_error.
   */
  int64_t probes;
  /**
   * Seed of the sketch and everything else that is drawn; default 0.
   */
  uint64_t seed;
  /**
   * Relative error ||A - A_k||_F / ||A||_F to go on to, less than 1; small ones are confirmed by probes; 0, the
   * default, for the fixed rank `rank`.
   */
  double tolerance;
  /**
   * Least s_k / s_1 that has to be resolved, where it is known: AUTO leaves out methods that cannot; default 0. Refused
   * for other methods and with a tolerance.
   */
  double smallest_ratio;
  /**
   * Type that is computed with, and of the factors: PURLIN_F32, PURLIN_F64, PURLIN_CF32, PURLIN_CF64, or
   * PURLIN_DTYPE_AUTO, the default. Entries of other types are converted, complex ones to complex ones alone; those of
   * sparse matrices and operators are not.
   */
  int32_t dtype;
  /**
   * How the space of the leading vectors is found, one of PURLIN_RSVD_METHOD_*; default AUTO. With a tolerance,
   * where the rank grows block by block (Yu, Gu, Li, SIMAX 39, 2018), AUTO or RANGE; so for purlin_rsvd_range.
   */
  int32_t method;
  /**
   * How bases are made orthonormal, one of PURLIN_RSVD_ORTH_*; default AUTO.
   */
  int32_t orthonormalization;
  /**
   * Random entries of the sketch, one of PURLIN_SKETCH_GAUSSIAN to SPARSE_SIGN; default GAUSSIAN. Others are refused
   * for DIRECT, which has none.
   */
  int32_t sketch;
  /**
   * Means that are subtracted, one of PURLIN_RSVD_CENTER_*; default NONE, which purlin_pca_fit needs: it has an
   * option of its own.
   */
  int32_t center;
  /**
   * 1: each column is divided by its standard deviation (of m - 1); one whose deviation is at most 8 2^-52 times its mean
   * counts as constant and is divided by 1. CENTER_COLUMNS is needed; default 0.
   */
  int32_t scale;
  /**
   * Signs, or phases, of the singular vectors, one of PURLIN_RSVD_SIGN_*; default V_MAX, which purlin_rsvd_range and
   * purlin_pca_fit need.
   */
  int32_t sign;
  /**
   * Form of the right factor: PURLIN_RSVD_V, the default, or PURLIN_RSVD_VH. It is that of `v` of
   * purlin_rsvd_compute and the functions that take it.
   */
  int32_t right;
  /**
   * How the error of the report is found, one of PURLIN_RSVD_ERROR_*; default IDENTITY. purlin_rsvd_range takes
   * IDENTITY and NONE.
   */
  int32_t error;
  /**
   * 1: MERGE without its second pass, with less accurate values and no factor along the axis that is cut;
   * default 0.
   */
  int32_t one_pass;
  /**
   * File that the state is written to after each pass but the last; a run of the same problem and options goes on
   * from it, and removes it at its end. `sign`, `right`, `error`, `probes`, `smallest_ratio`, `read_rate`, threads,
   * devices, the backend and limits of memory may differ. A run that differs otherwise, in a given sketch or in its
   * data, is refused: the message names the first difference. Passes for means and errors, and those that a method
   * adds, are made again. The state of RANGE, BASIC and FIFO after A W is as long as the data; a GPU's that the
   * host's memory does not hold is not saved. A path that cannot be written to (PURLIN_ERROR_IO) and a symbolic link
   * are refused before the data are read. A file that appears at the path during a run is not replaced:
   * PURLIN_ERROR_IO. Else it is written as a sink's file. Copied by purlin_rsvd_create. Default NULL: none.
   */
  const char *restart_path;
  /**
   * Called with the steps done and all steps, which are blocks: `passes` times `blocks` of the report, unless a pass
   * is added or the run repeated with scaled data; and the relative error so far with a tolerance, else 0; default
   * NULL. Sparse matrices and operators report whole passes, several GPUs the blocks of the first, each for one of
   * every GPU. It must be callable while the object lives.
   */
  purlin_progress_fn progress;
  /**
   * Passed to `progress` as its last argument, not dereferenced; default NULL.
   */
  void *progress_user;
  /**
   * Precision of products inside power iterations, one of PURLIN_RSVD_PRECISION_*; default FULL. Iterations in FAST
   * gain nothing along directions below about 1e-3 s_1.
   */
  int32_t iteration_precision;
  /**
   * Must be 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Bytes a second that a matrix that is read in blocks is delivered at, for AUTO and `seconds_predicted`: a slow reader
   * is read in fewer passes. Default 0: 2e9. Refused for a matrix that is in memory and with a tolerance.
   */
  double read_rate;
  /**
   * GPUs that blocks of rows are distributed over, with one reduction a pass; begins with the context of
   * purlin_rsvd_create. Default NULL: that context alone.
   */
  const struct purlin_group *group;
} purlin_rsvd_options;

/**
 * The choices for a matrix, the work of a run and the error of its result. purlin_rsvd_plan fills in the members that
 * are known beforehand. Times are of work, waiting left out; stages overlap, so they may add up to more than the
 * total.
 */
typedef struct purlin_rsvd_info {
  /**
   * Size of the caller's struct; set by purlin_rsvd_info_init.
   */
  size_t struct_size;
  /**
   * The method in force, not AUTO; RANGE with a tolerance.
   */
  int32_t method;
  /**
   * The strongest orthonormalization that was needed, one of PURLIN_RSVD_ORTH_*.
   */
  int32_t orthonormalization;
  /**
   * Type that was computed with.
   */
  int32_t dtype;
  /**
   * 1 if the work was on A^H: its rows, the columns of A, were cut into blocks.
   */
  int32_t transposed;
  /**
   * 1 unless a tolerance was not met within the largest rank.
   */
  int32_t converged;
  /**
   * 1 if the run went on from a restart file.
   */
  int32_t restarted;
  /**
   * How the error below was found, one of PURLIN_RSVD_ERROR_*.
   */
  int32_t error_kind;
  /**
   * One of PURLIN_SKETCH_*.
   */
  int32_t sketch;
  /**
   * Columns of the factors that hold something.
   */
  int64_t rank;
  /**
   * Columns of the sketch, l; of the whole basis for KRYLOV and DIRECT.
   */
  int64_t columns;
  /**
   * Power iterations q of the plan.
   */
  int64_t power_iterations;
  /**
   * Passes over the data that this run made, also that of a try which found that the data had to be scaled.
   */
  int64_t passes;
  /**
   * Passes that a restart file saved: with `passes` those of a run without interruption.
   */
  int64_t passes_restarted;
  /**
   * Number of contexts at work.
   */
  int64_t contexts;
  /**
   * Blocks that the rows are read in, in one pass.
   */
  int64_t blocks;
  /**
   * Rows of a block; the last may have fewer.
   */
  int64_t block_rows;
  /**
   * Rows that stay on the device.
   */
  int64_t resident_rows;
  /**
   * Times that more than CholeskyQR2 was needed.
   */
  int64_t orthonormalization_fallbacks;
  /**
   * Bytes of the data that went to devices.
   */
  int64_t bytes_to_device;
  /**
   * Bytes of long factors that went either way between host and devices.
   */
  int64_t bytes_tall;
  /**
   * Bytes that sources were read for, also to compare them with a restart file.
   */
  int64_t bytes_read;
  /**
   * Predicted bytes of the data's transfers, known once the data are cut into blocks: `bytes_to_device` equals it
   * or, on the CPU, `bytes_read`, unless a method has to repeat a pass, data have to be scaled, or a restart file is
   * used. 0 where the passes are not known beforehand: with a tolerance, and for bases, errors and residuals.
   */
  int64_t bytes_predicted;
  /**
   * Planned peak of device memory of each context, bytes: an upper bound. A flat 12 MiB of it stand for the work space of
   * small factorizations and of cuSOLVER, so that runs of a few MiB use less.
   */
  int64_t device_bytes;
  /**
   * Planned peak of host memory of each context, bytes. On the CPU of a run whose columns stay independent, which
   * `host_bytes_used` meets within a tenth; rank-deficient data may take more, up to the context's limit.
   */
  int64_t host_bytes;
  /**
   * Measured peak of device memory, of the context that took most, bytes.
   */
  int64_t device_bytes_used;
  /**
   * Measured peak of host memory, likewise, bytes.
   */
  int64_t host_bytes_used;
  /**
   * ||A||_F, centred and scaled if it is; NaN if not known.
   */
  double frobenius;
  /**
   * Largest modulus of an entry as it was read; NaN if not known.
   */
  double max_abs;
  /**
   * ||A - A_k||_F of the factors as returned; NaN if not found.
   */
  double error_frobenius;
  /**
   * The same over ||A||_F; NaN if not found.
   */
  double error_relative;
  /**
   * Upper bound of ||A - A_k||_2, false with a probability of 10^-probes; with ERROR_POWER an estimate from below; NaN
   * unless probed.
   */
  double error_spectral;
  /**
   * Seconds of reading sources, of all contexts together.
   */
  double seconds_read;
  /**
   * Seconds of copying data to devices.
   */
  double seconds_link;
  /**
   * Seconds of products with the data.
   */
  double seconds_multiply;
  /**
   * Seconds of making columns orthonormal.
   */
  double seconds_orthonormalize;
  /**
   * Seconds of factorizations of small matrices.
   */
  double seconds_small;
  /**
   * Seconds from the call to its return.
   */
  double seconds;
  /**
   * Seconds that the cost model predicted; NaN with a tolerance.
   */
  double seconds_predicted;
  /**
   * Why this method was chosen, and remarks on the run; terminated.
   */
  char reason[128];
} purlin_rsvd_info;

/**
 * Options of a fit: layout, centring, scaling and whitening of the samples. The rank, and how it is computed, are the
 * session's options.
 */
typedef struct purlin_pca_options {
  /**
   * Size of the caller's struct; set by purlin_pca_options_init.
   */
  size_t struct_size;
  /**
   * Axis of the samples: PURLIN_PCA_SAMPLES_ROWS, the default, or PURLIN_PCA_SAMPLES_COLUMNS.
   */
  int32_t samples;
  /**
   * 1 (default): the mean of each feature is subtracted, without forming the difference.
   */
  int32_t center;
  /**
   * 1: each feature is divided by its standard deviation (of count - 1); one whose deviation is at most 8 2^-52 times
   * its mean counts as constant and is divided by 1. Needs `center`; default 0.
   */
  int32_t scale;
  /**
   * 1: scores are divided by the standard deviations along the components, so that each has variance 1. They are 0 along
   * components whose singular value is at most 64 eps times the largest; eps is 2^-52, in single precision 2^-23.
   * Default 0.
   */
  int32_t whiten;
} purlin_pca_options;

/**
 * Report of a principal component analysis.
 */
typedef struct purlin_pca_info {
  /**
   * Size of the caller's struct; set by purlin_pca_info_init.
   */
  size_t struct_size;
  /**
   * Type that was computed with.
   */
  int32_t dtype;
  /**
   * PURLIN_PCA_SAMPLES_ROWS or PURLIN_PCA_SAMPLES_COLUMNS: the axis of the samples.
   */
  int32_t samples;
  /**
   * 1 if the mean of each feature is subtracted.
   */
  int32_t centered;
  /**
   * 1 if each feature is divided by its standard deviation.
   */
  int32_t scaled;
  /**
   * 1 if scores have variance 1.
   */
  int32_t whitened;
  /**
   * Always 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Samples that the fit was made from.
   */
  int64_t count;
  /**
   * Features: numbers of a sample and of a component.
   */
  int64_t features;
  /**
   * Components that are kept.
   */
  int64_t rank;
  /**
   * Sum of the variances of all features, after scaling if there is one.
   */
  double total_variance;
  /**
   * Total variance less that of the components, over min(count, features) - rank, as in scikit-learn: the noise
   * variance of Tipping and Bishop (J. R. Stat. Soc. B 61, 1999) where there are as many samples as features; 0 if
   * rank is min(count, features).
   */
  double noise_variance;
  /**
   * Singular values up to this are rounding errors of the fit: whitened scores along them are 0.
   */
  double rounding;
} purlin_pca_info;

/**
 * How a matrix M is split into a low-rank part L and a sparse part S.
 */
typedef struct purlin_rpca_options {
  /**
   * Size of the caller's struct; set by purlin_rpca_options_init.
   */
  size_t struct_size;
  /**
   * Weight of the sparse part in ||L||_* + lambda ||S||_1; 0, the default, for 1 / sqrt(max(rows, cols)).
   */
  double lambda;
  /**
   * The iteration ends when ||M - L - S||_F is less than this times ||M||_F; default 1e-7; held to 1e-6 in F32 and
   * CF32, which cannot reach less.
   */
  double tolerance;
  /**
   * First penalty; 0, the default, for 1.25 / ||M||_2. One below about 1e-15 / ||M||_2 or above 1e15 / ||M||_2 is
   * refused, in F32 and CF32 1e-6 and 1e6, because rounding errors would hide M or the penalty.
   */
  double mu;
  /**
   * Factor by which the penalty grows in each iteration, more than 1; default 1.5.
   */
  double rho;
  /**
   * Entries of S of no larger modulus are neither counted nor stored as sparse rows; default 0.
   */
  double threshold;
  /**
   * Factor of the entries as they are read, not 0: 1.0 / 255 for bytes that stand for 0 to 1; default 1.
   */
  double scale;
  /**
   * Most iterations, at least 1; default 1000.
   */
  int64_t max_iterations;
  /**
   * Largest rank of L; 0, the default, for no bound. Refused beside `fixed_rank`.
   */
  int64_t max_rank;
  /**
   * Singular values that are computed in each iteration; 0, the default, follows the rank. One below the rank of the
   * solution solves another problem.
   */
  int64_t fixed_rank;
  /**
   * Power iterations of each partial decomposition; default 1.
   */
  int64_t power_iterations;
  /**
   * Columns of the sketch of a partial decomposition beyond the predicted rank; default 10.
   */
  int64_t oversampling;
  /**
   * Rows that are read at once; 0, the default, chooses by the memory limits.
   */
  int64_t block_rows;
  /**
   * Seed of the sketches; default 0.
   */
  uint64_t seed;
  /**
   * 1 (default): a sketch begins with the right singular vectors of the iteration before.
   */
  int32_t warm_start;
  /**
   * Axis of the frames where both are equally long: PURLIN_RPCA_FRAMES_COLUMNS, the default, or
   * PURLIN_RPCA_FRAMES_ROWS. The other one is cut into blocks. Where they are not, the shorter one counts as frames, and
   * ROWS is refused. The result is the same to rounding.
   */
  int32_t frames;
  /**
   * Type that is computed with: PURLIN_F32, PURLIN_F64, PURLIN_CF32, PURLIN_CF64, or PURLIN_DTYPE_AUTO, the default.
   */
  int32_t dtype;
  /**
   * Must be 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Called with the iteration, the most iterations and the residual, again before blocks of the next iteration where
   * these take long, and at the end of a run with the most iterations twice; default NULL.
   */
  purlin_progress_fn progress;
  /**
   * Passed to `progress` as its last argument, not dereferenced; default NULL.
   */
  void *progress_user;
  /**
   * GPUs that the longer axis of M is distributed over; begins with the context of purlin_rpca_create. An M or a
   * mask in device memory is worked on where it lies; of a source, rows are read from several threads, one at a
   * time. Default NULL: that context alone.
   */
  const struct purlin_group *group;
} purlin_rpca_options;

/**
 * Report of a split. Norms are those of the scaled matrix. One beyond the range of double precision is infinite, also
 * where the parts are not.
 */
typedef struct purlin_rpca_info {
  /**
   * Size of the caller's struct; set by purlin_rpca_info_init.
   */
  size_t struct_size;
  /**
   * 1 if the tolerance was met.
   */
  int32_t converged;
  /**
   * Type that was computed with.
   */
  int32_t dtype;
  /**
   * Iterations made, at most `max_iterations`.
   */
  int64_t iterations;
  /**
   * Rank of the low-rank part L.
   */
  int64_t rank;
  /**
   * Entries of S of modulus over `threshold`.
   */
  int64_t nonzeros;
  /**
   * Passes over the matrix and the working arrays.
   */
  int64_t passes;
  /**
   * Blocks of a pass, of all contexts together.
   */
  int64_t blocks;
  /**
   * Rows of a block; the last block may have fewer.
   */
  int64_t block_rows;
  /**
   * Bytes that went to devices.
   */
  int64_t bytes_to_device;
  /**
   * Bytes that sources were read for.
   */
  int64_t bytes_read;
  /**
   * Measured peak of device memory, bytes, in the context that took most.
   */
  int64_t device_bytes_used;
  /**
   * Measured peak of host memory, bytes, in the context that took most.
   */
  int64_t host_bytes_used;
  /**
   * Weight of the norm of S that was used, also of the default.
   */
  double lambda;
  /**
   * Penalty of the last iteration.
   */
  double mu;
  /**
   * ||M||_2, to about 1 %.
   */
  double norm2;
  /**
   * ||M||_F over the observed entries.
   */
  double frobenius;
  /**
   * ||M - L - S||_F / ||M||_F over the observed entries.
   */
  double residual;
  /**
   * ||L||_* + lambda ||S||_1, which the method minimizes.
   */
  double objective;
  /**
   * ||L||_*, the sum of the singular values.
   */
  double nuclear_norm;
  /**
   * ||S||_1 over the observed entries, the sum of the moduli.
   */
  double one_norm;
  /**
   * Seconds of decompositions beyond the elementwise passes.
   */
  double seconds_svd;
  /**
   * Seconds of the elementwise passes, with the products that they carry along.
   */
  double seconds_elementwise;
  /**
   * Seconds of reading sources, of all contexts together.
   */
  double seconds_read;
  /**
   * Seconds from the call to its return.
   */
  double seconds;
  /**
   * Contexts that worked: fewer than were given where there are fewer blocks of rows, or where M or the mask lies in
   * device memory.
   */
  int64_t contexts;
  /**
   * Planned peak of host memory, bytes: on the CPU of a run whose low-rank part has few columns. A limit has to leave
   * memory for as many columns as `max_rank` allows.
   */
  int64_t host_bytes;
  /**
   * Planned peak of device memory, bytes, in the context that needs most, likewise.
   */
  int64_t device_bytes;
  /**
   * Where the iterates are held, and why: in memory, or in a file or in host memory if it does not suffice; terminated.
   */
  char reason[128];
} purlin_rpca_info;

/**
 * Type, location, number of cores and size of a tensor train or a TT-matrix. purlin_tt_shape and
 * purlin_tt_matrix_shape give the modes and ranks.
 */
typedef struct purlin_tt_info {
  /**
   * Size of the caller's struct; set by purlin_tt_info_init.
   */
  size_t struct_size;
  /**
   * Type of the elements, the same in all cores.
   */
  int32_t dtype;
  /**
   * PURLIN_HOST or PURLIN_DEVICE: where the cores are.
   */
  int32_t location;
  /**
   * PURLIN_READ_ONLY where it holds, or 0.
   */
  int32_t flags;
  /**
   * 1 if the first and the last rank are more than 1, so that the trace goes round a ring; else 0.
   */
  int32_t cyclic;
  /**
   * 1 if all cores are the same memory.
   */
  int32_t uniform;
  /**
   * 1 if purlin allocated the memory, else 0.
   */
  int32_t owned;
  /**
   * Number of cores d, at least 1.
   */
  int64_t length;
  /**
   * Largest rank of a bond.
   */
  int64_t max_rank;
  /**
   * Elements of all cores together.
   */
  int64_t elements;
  /**
   * Bytes of all cores, without gaps between them.
   */
  int64_t bytes;
} purlin_tt_info;

/**
 * Options of contractions, with defaults from purlin_tt_contraction_options_init.
 */
typedef struct purlin_tt_contraction_options {
  /**
   * Size of the caller's struct; set by purlin_tt_contraction_options_init.
   */
  size_t struct_size;
  /**
   * How boundary pairs are gone through, one of PURLIN_TT_METHOD_*; default AUTO.
   */
  int32_t method;
  /**
   * Where intermediate results are scaled by powers of two, one of PURLIN_TT_SCALING_*; default AUTO.
   */
  int32_t scaling;
  /**
   * Train that is conjugated, one of PURLIN_TT_CONJ_*; default BRA.
   */
  int32_t conjugate;
  /**
   * Arithmetic of products on a GPU, one of PURLIN_TT_MATH_*; default DEFAULT.
   */
  int32_t math;
  /**
   * How a norm is found, one of PURLIN_TT_NORM_*; default AUTO.
   */
  int32_t norm_method;
  /**
   * 1: of results that are real for a Hermitian operator the real part alone is computed; default 0.
   */
  int32_t assume_hermitian;
  /**
   * Whether sites are contracted by matrix products or all by one kernel, one of PURLIN_TT_KERNEL_*; default AUTO.
   */
  int32_t kernel;
  /**
   * Must be 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Bond at which a ring is cut, 0 to d - 1; -1, the default, for the cheapest.
   */
  int64_t cut;
  /**
   * Boundary pairs at a time; 0, the default, to choose.
   */
  int64_t block;
  /**
   * How often the cores are gone round: the trains have `repeat` d sites, as a uniform train of a cell of d cores
   * has; default 1.
   */
  int64_t repeat;
  /**
   * Bytes of workspace; 0, the default, for 64 MiB on the CPU and 256 MiB on a GPU.
   */
  int64_t workspace_limit;
  /**
   * Called with the steps done and all steps (sites, counted in blocks of boundary pairs); default NULL. It must be
   * callable while the object lives.
   */
  purlin_progress_fn progress;
  /**
   * Passed to `progress` as its last argument, not dereferenced; default NULL.
   */
  void *progress_user;
  /**
   * GPUs that boundary pairs of rings and the items of batches are distributed over; begins with the context of
   * purlin_tt_contraction_create. Default NULL: that context alone.
   */
  const struct purlin_group *group;
} purlin_tt_contraction_options;

/**
 * Report of a contraction: its plan and its outcome.
 */
typedef struct purlin_tt_contraction_info {
  /**
   * Size of the caller's struct; set by purlin_tt_contraction_info_init.
   */
  size_t struct_size;
  /**
   * The method in force, one of PURLIN_TT_METHOD_*.
   */
  int32_t method;
  /**
   * The kernel that does the arithmetic, one of PURLIN_TT_KERNEL_*.
   */
  int32_t kernel;
  /**
   * How the result came out, one of PURLIN_TT_RESULT_*: a scaled one OK or NONFINITE, of several the largest number.
   */
  int32_t outcome;
  /**
   * 1 if only one of each two conjugate terms is computed, as for a norm.
   */
  int32_t halved;
  /**
   * 1 if both ends are contracted at once, to meet in the middle.
   */
  int32_t two_ended;
  /**
   * 1 if intermediate results are scaled at every site.
   */
  int32_t scaled;
  /**
   * Bond at which the ring is cut.
   */
  int64_t cut;
  /**
   * Pairs of indices of the bonds where rings are cut; 1 for open trains.
   */
  int64_t pairs;
  /**
   * Most of these pairs that are contracted together.
   */
  int64_t block;
  /**
   * Contexts that took part, at least 1.
   */
  int64_t contexts;
  /**
   * Bytes of workspace that the call uses at most.
   */
  int64_t workspace_bytes;
  /**
   * Floating-point operations: 2 a real multiply-add, 8 a complex one.
   */
  double flops;
  /**
   * Bytes of cores that are read.
   */
  double bytes;
  /**
   * Seconds from the call to its return.
   */
  double seconds;
  /**
   * Why this method was chosen; ends with a NUL.
   */
  char reason[128];
} purlin_tt_contraction_info;

/**
 * A number with an exponent of its own: results of long trains lie far beyond the range of their type. The struct never
 * changes.
 */
typedef struct purlin_tt_scaled {
  /**
   * Real part of the mantissa; the larger part lies in [0.5, 1), or both are 0.
   */
  double re;
  /**
   * Imaginary part of the mantissa; 0 for real types.
   */
  double im;
  /**
   * The number is the mantissa times two to this power.
   */
  int64_t exponent;
  /**
   * Natural logarithm of the modulus; minus infinity for 0.
   */
  double log_abs;
  /**
   * Real part of the number over its modulus; 0 for 0.
   */
  double phase_re;
  /**
   * Imaginary part of the phase.
   */
  double phase_im;
} purlin_tt_scaled;

/**
 * How a train is truncated.
 */
typedef struct purlin_tt_round_options {
  /**
   * Size of the caller's struct; set by purlin_tt_round_options_init.
   */
  size_t struct_size;
  /**
   * The error that may be made, ||A - TT||_F <= epsilon ||A||_F; 0, the default, drops rounding noise alone.
   */
  double epsilon;
  /**
   * Largest rank; 0, the default, for any. The error may then exceed `epsilon`.
   */
  int64_t max_rank;
  /**
   * 1: `epsilon` is the error itself and not relative to the norm; default 0. Refused where `epsilon` is 0: rounding noise
   * is relative to the norm.
   */
  int32_t absolute;
  /**
   * Must be 0: kept for later fields.
   */
  int32_t reserved;
} purlin_tt_round_options;

/**
 * Report of a truncation, of one train or tensor.
 */
typedef struct purlin_tt_round_info {
  /**
   * Size of the caller's struct; set by purlin_tt_round_info_init.
   */
  size_t struct_size;
  /**
   * Bound of the error over the norm: the root of the sum of the squares of all that was dropped.
   */
  double error;
  /**
   * Natural logarithm of the Frobenius norm of the train or tensor before the truncation.
   */
  double log_norm;
  /**
   * Largest rank of the result.
   */
  int64_t max_rank;
} purlin_tt_round_info;

/**
 * How a product is planned.
 */
typedef struct purlin_spmv_options {
  /**
   * Size of the caller's struct; set by purlin_spmv_options_init.
   */
  size_t struct_size;
  /**
   * How rows are distributed over threads, one of PURLIN_SPMV_METHOD_*; default AUTO. All give the same products but
   * for rounding.
   */
  int32_t method;
  /**
   * Whether products are with the matrix, its transpose or its adjoint: PURLIN_SPMV_PLAIN, the default, TRANSPOSE or
   * ADJOINT. The latter two keep a copy of the transpose, so that they
   * are as fast and as reproducible as the first.
   */
  int32_t op;
  /**
   * 1: the caller's word that A = A^T (with ADJOINT A = A^H), so that no copy is needed; default 0.
   */
  int32_t symmetric;
  /**
   * Must be 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Order of rows and columns in which the plan keeps a copy of a square A, so that products gather from fewer
   * places, while x and y go into it and back in each product: PURLIN_ORDERING_NONE, the default, DEGREE or
   * CUTHILL_MCKEE.
   */
  int32_t ordering;
  /**
   * Operator made of the matrix, which is never formed: PURLIN_LANCZOS_MATRIX, the default, to
   * PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN, as for purlin_lanczos_solve. The matrix need not be symmetric; row sums
   * are those of A, real parts if it is complex, also where `op` is TRANSPOSE or ADJOINT. GRAM, OUTER_GRAM and
   * AUGMENTED keep a copy of the adjoint and take neither `op` nor `ordering`.
   */
  int32_t kind;
  /**
   * Number that is added to the operator's diagonal; default 0.
   */
  double shift;
  /**
   * Degree d of a filter, at most 20000; 0, the default, for none: with one products are with T_d((2 Op - (lower +
   * upper) I) / (upper - lower)) in the place of the operator Op that the options above make, d products each. T_d
   * is Chebyshev's polynomial: within 1 where Op's spectrum is between `lower` and `upper`, and large beyond. Of
   * square operators.
   */
  int64_t degree;
  /**
   * Where the filter's interval begins, finite; 0 without a filter.
   */
  double lower;
  /**
   * Where the filter's interval ends, finite and above `lower`; 0 without a filter.
   */
  double upper;
} purlin_spmv_options;

/**
 * Properties of a plan: its method and the statistics of the rows.
 */
typedef struct purlin_spmv_info {
  /**
   * Size of the caller's struct; set by purlin_spmv_info_init.
   */
  size_t struct_size;
  /**
   * Method that the plan uses.
   */
  int32_t method;
  /**
   * Always 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Lanes that share a row of ROW_GROUP.
   */
  int64_t row_lanes;
  /**
   * Rows of the matrix or operator.
   */
  int64_t rows;
  /**
   * Stored entries, explicit zeros included.
   */
  int64_t nnz;
  /**
   * Entries of the longest row.
   */
  int64_t longest;
  /**
   * Rows without a stored entry.
   */
  int64_t empty;
  /**
   * Mean length of a row.
   */
  double mean;
  /**
   * Standard deviation of the lengths.
   */
  double deviation;
  /**
   * Rows of up to 32 entries, as a share of all.
   */
  double short_rows;
  /**
   * Entries in rows longer than 32, as a share of all.
   */
  double beyond_32;
  /**
   * Entries in rows longer than 1024, as a share of all.
   */
  double beyond_1024;
  /**
   * Shares that the work is cut into, whatever the number of threads.
   */
  int64_t tiles;
  /**
   * Bytes that the plan holds.
   */
  int64_t bytes;
  /**
   * Seconds that it took to plan.
   */
  double seconds;
  /**
   * Why this method, in words.
   */
  char reason[128];
  /**
   * PURLIN_ORDERING_* of the copy that the plan keeps; NONE without one.
   */
  int32_t ordering;
  /**
   * Operator made of the matrix: PURLIN_LANCZOS_MATRIX to PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN.
   */
  int32_t kind;
  /**
   * Degree of the filter; 0 without one.
   */
  int64_t degree;
} purlin_spmv_info;

/**
 * Which eigenpairs of which operator are computed, and how.
 */
typedef struct purlin_lanczos_options {
  /**
   * Size of the caller's struct; set by purlin_lanczos_options_init.
   */
  size_t struct_size;
  /**
   * How many eigenpairs k, 1 to n less the known vectors; default 6.
   */
  int64_t count;
  /**
   * Eigenvalues that are wanted: PURLIN_LANCZOS_LARGEST, the default, SMALLEST, LARGEST_MAGNITUDE, BOTH_ENDS or
   * NEAREST.
   */
  int32_t which;
  /**
   * Operator made of the matrix: PURLIN_LANCZOS_MATRIX, the default, to PURLIN_LANCZOS_AUGMENTED. None is formed.
   */
  int32_t kind;
  /**
   * Number that is added to the operator's diagonal; default 0.
   */
  double shift;
  /**
   * Where eigenvalues are looked for, with NEAREST; refused without. Default 0.
   */
  double sigma;
  /**
   * A pair has converged when its residual is estimated to be at most this times its eigenvalue's modulus, or a few
   * eps ||A|| where that is more: next to 0 no residual could be as small; less than 1; 0, the default, for 1e-10 in
   * double and 1e-5 in single precision.
   */
  double tolerance;
  /**
   * Vectors of the Krylov space m, more than k; at least k + 3 are taken. 0, the default, for the whole space up to
   * n = max(64, 3k), which filters take whatever m is, and beyond for min(n, max(2k + 10, 30)). Of METHOD_PLAIN the
   * steps; 0 for min(n, max(10k, 100)).
   */
  int64_t basis;
  /**
   * Most restarts; 0, the default, for max(300, 10 n / m). A limit: a space that is the whole one needs none.
   */
  int64_t restarts;
  /**
   * Seed of the start vector, which depends on it alone: default 0.
   */
  uint64_t seed;
  /**
   * Whether copies of multiple eigenvalues are looked for: PURLIN_LANCZOS_VERIFY_AUTO, the default, ON or OFF.
   */
  int32_t verify;
  /**
   * Recurrence that finds the eigenpairs: PURLIN_LANCZOS_METHOD_RESTART, the default, or PLAIN.
   */
  int32_t method;
  /**
   * Vectors that the operator is applied to at once, 1 to 16: a block of b holds b copies of a multiple eigenvalue;
   * default 1.
   */
  int64_t block;
  /**
   * How far vectors of the space are kept orthogonal: PURLIN_LANCZOS_ORTHOGONALIZATION_FULL, the default, or
   * PARTIAL.
   */
  int32_t orthogonalization;
  /**
   * Polynomial of the operator that is iterated with: PURLIN_LANCZOS_FILTER_OFF, the default, or CHEBYSHEV.
   */
  int32_t filter;
  /**
   * Degree of the filter; 0, the default, for one that the spectrum asks for. Refused without a filter.
   */
  int64_t degree;
  /**
   * Takes the progress: pairs that have converged, k, and the largest residual of those wanted, of the operator that
   * is iterated with (a filter's polynomial, the inverse by `solve`), infinite while none is known; NULL for none.
   */
  purlin_progress_fn progress;
  /**
   * Passed to `progress` as its last argument, not dereferenced; default NULL.
   */
  void *progress_user;
  /**
   * Order of rows and columns in which a copy of the matrix is iterated with, so that products gather from fewer
   * places, while start, known and found vectors are in the matrix's own: PURLIN_ORDERING_NONE, the default, DEGREE
   * or CUTHILL_MCKEE. Of sparse matrices, with MATRIX to MODULARITY, in purlin_lanczos_solve and
   * purlin_lanczos_tridiagonalize. The copy stays with the matrix for later calls.
   */
  int32_t ordering;
  /**
   * 1: products with two random vectors u and v are to show that the operator is symmetric, |u.(A v) - v.(A u)| <=
   * 100 eps (|u| |A v| + |v| |A u|), as for one that a function of the caller's is; default 0.
   */
  int32_t check_symmetry;
  /**
   * Contexts that the rows of a sparse matrix are distributed over; begins with the matrix's context. Those on the
   * CPU take turns. Used by purlin_lanczos_solve and the functions of graphs that solve, with PURLIN_LANCZOS_MATRIX
   * to MODULARITY and no ordering. The contexts and the parts of the matrix, copies of its rows, stay with a matrix
   * that keeps its values, for later calls. Default NULL: the matrix's context alone.
   */
  const struct purlin_group *group;
} purlin_lanczos_options;

/**
 * Report of a solve, or of a plan.
 */
typedef struct purlin_lanczos_info {
  /**
   * Size of the caller's struct; set by purlin_lanczos_info_init.
   */
  size_t struct_size;
  /**
   * Why it ended: PURLIN_LANCZOS_CONVERGED, RESTARTS, EXHAUSTED or CONTRADICTED.
   */
  int32_t stop_reason;
  /**
   * Always 0: kept for later fields.
   */
  int32_t reserved;
  /**
   * Times that the space was invariant and a new vector had to be found.
   */
  int64_t breakdowns;
  /**
   * Pairs returned, converged or not.
   */
  int64_t count;
  /**
   * Pairs that have converged, the first of those returned.
   */
  int64_t converged;
  /**
   * Products with the operator, or with the caller's solve, and those that test an adjoint, a norm far above the values,
   * and, where not all pairs converge, known vectors and a solve; those of the residuals are not counted.
   */
  int64_t products;
  /**
   * Restarts of the solve and of its searches for copies. The limit of the options holds for each of these, so that it
   * may be more.
   */
  int64_t restarts;
  /**
   * Eigenvalues that the check for copies found.
   */
  int64_t recovered;
  /**
   * Vectors of the Krylov space.
   */
  int64_t basis;
  /**
   * Degree of the filter; 0 without one.
   */
  int64_t degree;
  /**
   * Largest norm of A v met, an estimate of the norm of A from below; or that of the diagonal, the shift and other
   * terms that are added to the matrix, if it is more: rounding errors are relative to it.
   */
  double norm;
  /**
   * Seconds from the beginning of the solve to its end; 0 in a plan.
   */
  double seconds;
  /**
   * Contexts that had rows, of several; 0 of a single one, as the five numbers that follow are. A plan has them of a
   * single one too.
   */
  int64_t contexts;
  /**
   * Most rows of one of them.
   */
  int64_t part_rows;
  /**
   * Most entries of one of them.
   */
  int64_t part_entries;
  /**
   * Numbers that go from one to another in a product with the matrix, all together.
   */
  int64_t halo;
  /**
   * Bytes of the numbers of `halo`.
   */
  int64_t halo_bytes;
  /**
   * Most bytes that one of them reads and writes in a product with the matrix, if all that is gathered is read once.
   */
  int64_t product_bytes;
  /**
   * 1 if a test or a search has shown that no copy of a wanted eigenvalue is missing; 0 if that is not verified:
   * `verify` is off, the method is plain, pairs have not converged, or neither test nor search came to an end.
   */
  int32_t verified;
  /**
   * PURLIN_LANCZOS_METHOD_RESTART or PLAIN.
   */
  int32_t method;
  /**
   * Largest ||A x - lambda x||_2 of the converged pairs, computed from the vectors returned.
   */
  double residual;
  /**
   * Largest |x_i . x_j - delta_ij| of the vectors returned.
   */
  double orthogonality;
  /**
   * Planned peak of host memory, bytes: vectors of the space and workspace on the CPU, copies of the matrix, projected
   * problems, and vectors that are returned there.
   */
  int64_t host_bytes;
  /**
   * Planned peak of device memory of all contexts, bytes: vectors of the space, workspace, and the copy of the matrix that
   * stays on the device, unless it is there already.
   */
  int64_t device_bytes;
  /**
   * Why this method and space: one line of text.
   */
  char reason[128];
} purlin_lanczos_info;

/**
 * A value that passed the test of Cullum and Willoughby.
 */
typedef struct purlin_lanczos_accepted {
  /**
   * Eigenvalue of the tridiagonal matrix.
   */
  double value;
  /**
   * Estimate of its residual, from the last component of its eigenvector.
   */
  double residual;
  /**
   * Copies of it among the eigenvalues of the tridiagonal matrix, which say nothing of its multiplicity.
   */
  int64_t copies;
} purlin_lanczos_accepted;

/**
 * A function of a real number; `user` is the pointer that was passed to the call.
 */
typedef double (*purlin_function_fn)(double x,
                                     void *user);

/**
 * 32-bit IEEE float.
 */
#define PURLIN_F32 0

/**
 * 64-bit IEEE float.
 */
#define PURLIN_F64 1

/**
 * Complex of two 32-bit floats, {re, im}.
 */
#define PURLIN_CF32 2

/**
 * Complex of two 64-bit floats, {re, im}.
 */
#define PURLIN_CF64 3

/**
 * Signed 32-bit integer.
 */
#define PURLIN_I32 4

/**
 * Signed 64-bit integer.
 */
#define PURLIN_I64 5

/**
 * Unsigned 8-bit integer.
 */
#define PURLIN_U8 6

/**
 * Unsigned 16-bit integer.
 */
#define PURLIN_U16 7

/**
 * 16-bit IEEE float.
 */
#define PURLIN_F16 8

/**
 * Signed 8-bit integer.
 */
#define PURLIN_I8 9

/**
 * Signed 16-bit integer.
 */
#define PURLIN_I16 10

/**
 * Unsigned 32-bit integer.
 */
#define PURLIN_U32 11

/**
 * The type that an options struct asks to compute with: the matrix's own if it is F32, F64, CF32 or CF64, F64 for I32 and
 * U32, whose numbers F32 would round, and F32 for shorter integers and F16.
 */
#define PURLIN_DTYPE_AUTO -1

/**
 * Host memory, page-locked or not.
 */
#define PURLIN_HOST 0

/**
 * Memory of the context's GPU.
 */
#define PURLIN_DEVICE 1

/**
 * Packed storage runs through the last index fastest.
 */
#define PURLIN_ROW_MAJOR 1

/**
 * The memory is only read; a call that would write to it is refused.
 */
#define PURLIN_READ_ONLY 2

/**
 * Host memory that a GPU copies to and from at full speed; ordinary memory in a context on the CPU.
 */
#define PURLIN_PINNED 4

/**
 * Symmetric batches: all tensors' first entries, then all second ones.
 */
#define PURLIN_ENTRY_MAJOR 8

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Version of the library: major * 10000 + minor * 100 + patch. A program compares it with the header's.
 */
PURLIN_MUST_USE
int32_t purlin_version(void);

/**
 * How the library was built, as one line of text: version, target, and the GPU architectures of its kernels, or that
 * it has none. Never NULL; lives as long as the library.
 */
PURLIN_MUST_USE
const char *purlin_build_info(void);

/**
 * Name of a status, as its constant is spelled. Any integer is accepted. Never NULL.
 */
PURLIN_MUST_USE
const char *purlin_status_string(int32_t status);

/**
 * Message of the error in this thread's last call: one line of UTF-8 with the argument, the value found and the value
 * expected; "" after a success. At most 1024 bytes; a message that was cut ends in "...". Never NULL;
 * valid until this thread's next purlin call.
 *
 * All functions may be called while a thread or the program ends: from destructors of static and thread-local objects,
 * of thread-specific data and from `atexit` handlers. Calls from there may run on a thread of their own, callbacks
 * included, and so do calls from a thread with less than 384 KiB of stack left. A call delays `pthread_cancel` (with
 * the deferred type) until it has returned.
 */
PURLIN_MUST_USE
const char *purlin_last_error_message(void);

/**
 * Number of objects that were made and not destroyed, in the whole process. A program that cleans up ends at 0.
 */
PURLIN_MUST_USE
int64_t purlin_live_handles(void);

/**
 * Number of GPUs. Without a driver the answer is 0 and the call succeeds.
 *
 * @param[out] count  number of GPUs.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer), `PURLIN_ERROR_CUDA`.
 *
 * @pre `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_device_count(int32_t *count);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_device_info_init(struct purlin_device_info *info,
                                      size_t size);

/**
 * Properties of a GPU.
 *
 * @param      ordinal  0 to the number of GPUs less 1.
 * @param[out] info     filled in; initialize it with purlin_device_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size),
 * `PURLIN_ERROR_NO_DEVICE` (no driver, no such GPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_device_properties(int32_t ordinal,
                                       struct purlin_device_info *info);

/**
 * Writes the defaults: the GPU if there is one, all cores, no limits, no log.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_context_options_init(struct purlin_context_options *options,
                                          size_t size);

/**
 * Makes a context.
 *
 * On a GPU it uses the device's primary context, so that memory of the caller's CUDA runtime code is shared.
 *
 * @param      options  NULL for the defaults.
 * @param[out] context  the context; destroy it with purlin_context_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown constant, negative number, a
 * device other than 0 on the CPU), `PURLIN_ERROR_NO_DEVICE` (a GPU is asked for and there is none),
 * `PURLIN_ERROR_NOT_SUPPORTED` (vector instructions that the machine lacks), `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 *
 * @pre `options` is NULL or an initialized struct, `context` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_context_create(const struct purlin_context_options *options,
                                    struct purlin_context **context);

/**
 * Destroys a context. Objects that belong to it keep working; it goes when the last of them is gone.
 *
 * @param context  the context; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_context_destroy(struct purlin_context *context);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_context_info_init(struct purlin_context_info *info,
                                       size_t size);

/**
 * Backend, device, threads and limits of a context, and the memory that its objects hold.
 *
 * @param      context  the context.
 * @param[out] info     filled in; initialize it with purlin_context_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size), `PURLIN_ERROR_FORKED`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_context_properties(const struct purlin_context *context,
                                        struct purlin_context_info *info);

/**
 * Replaces the log of a context.
 *
 * @param context  the context; no other call may use it meanwhile.
 * @param level    one of PURLIN_LOG_*.
 * @param log      takes the messages from any thread; NULL for none.
 * @param user     handed to `log`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown level),
 * `PURLIN_ERROR_BUSY` (a message is being logged; also from within the log function).
 *
 * @pre `log` may be called with `user` from any thread until the context is gone or has another log.
 */
PURLIN_MUST_USE
purlin_status purlin_context_set_log(struct purlin_context *context,
                                     int32_t level,
                                     purlin_log_fn log,
                                     void *user);

/**
 * Cancels the calls that run in this context now; each returns `PURLIN_ERROR_CANCELLED` within one tile of its work
 * and frees its memory. Later calls are not touched. May be called from any thread and from a progress function.
 *
 * A call is cancelled if the list of its statuses has `PURLIN_ERROR_CANCELLED`, or refers to a function whose list does. All
 * other calls run to their end. These of them go over all of their data:
 *
 * - copies of trains and copies to and from a device, and purlin_tt_set_core;
 * - purlin_spmv_apply and purlin_spmv_apply_block;
 * - purlin_matrix_borrow_csr, purlin_matrix_copy_csr, purlin_matrix_copy_to and purlin_matrix_set_values;
 * - purlin_symmetric_*, purlin_sshopm_product, purlin_sshopm_starts and purlin_sshopm_classify;
 * - purlin_fdk_weights and purlin_fdk_shepp_logan;
 * - purlin_lanczos_cullum_willoughby and purlin_tridiagonal_eigenvalues, which have no context.
 *
 * @param context  the context.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_FORKED`.
 */
PURLIN_MUST_USE
purlin_status purlin_context_cancel(const struct purlin_context *context);

/**
 * Makes a stream.
 *
 * @param      context  the context it belongs to.
 * @param[out] stream   the stream; destroy it with purlin_stream_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `stream` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_create(const struct purlin_context *context,
                                   struct purlin_stream **stream);

/**
 * Lets purlin enqueue on a caller's CUDA stream, which stays the caller's and must outlive the handle.
 *
 * @param      context      a context on the GPU of that stream.
 * @param      cuda_stream  the `CUstream` (or `cudaStream_t`) as an integer; 0 is the legacy default stream. The per-thread
 *                          default stream, 2, is refused: each thread has its own by that name.
 * @param[out] stream       the stream; destroying it leaves the caller's alone.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a stream of
 * another device, the per-thread default stream), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `cuda_stream` is a live stream or 0, `stream` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_wrap(const struct purlin_context *context,
                                 uint64_t cuda_stream,
                                 struct purlin_stream **stream);

/**
 * Waits until all work enqueued on a stream is done.
 *
 * @param stream  the stream.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, or the status with which an asynchronous call failed.
 */
PURLIN_MUST_USE
purlin_status purlin_stream_synchronize(const struct purlin_stream *stream);

/**
 * Destroys a stream. Work enqueued on it still completes.
 *
 * @param stream  the stream; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_stream_destroy(struct purlin_stream *stream);

/**
 * Sets `struct_size` and the defaults of all options.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_group_options_init(struct purlin_group_options *options,
                                        size_t size);

/**
 * Makes a group of contexts on devices of one kind: GPUs of the same model, or the CPU with the same vector instructions.
 * Two contexts may be on the same device. The group keeps its members: they may be destroyed before it, and it before the
 * objects that use it.
 *
 * Results depend on the number of members only where the family's chapter says so.
 *
 * @param      count     number of contexts, 1 to 1024.
 * @param      contexts  the members, in the order in which they share work.
 * @param      options   NULL for the defaults.
 * @param[out] group     the group; destroy it with purlin_group_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `count`, a
 * context given twice, another kind of device than the first's, struct_size), `PURLIN_ERROR_NOT_SUPPORTED` (an option
 * that this version does not know), `PURLIN_ERROR_FORKED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `contexts` is NULL or valid for `count` handles; `options` is NULL or an initialized struct; `group` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_group_create(int64_t count,
                                  const struct purlin_context *const *contexts,
                                  const struct purlin_group_options *options,
                                  struct purlin_group **group);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_group_info_init(struct purlin_group_info *info,
                                     size_t size);

/**
 * The number of contexts of a group.
 *
 * @param      group  the group.
 * @param[out] info   filled in; initialize it with purlin_group_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size),
 * `PURLIN_ERROR_FORKED`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_group_properties(const struct purlin_group *group,
                                      struct purlin_group_info *info);

/**
 * Destroys a group. Objects and calls that use it go on.
 *
 * @param group  the group; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_group_destroy(struct purlin_group *group);

/**
 * Makes a dense tensor of purlin's own memory, zeroed.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     element type.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
 * @param      ndim      number of dimensions, 0 to 32; 0 is a single number.
 * @param[in]  dims      `ndim` sizes, not negative.
 * @param[out] tensor    the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant,
 * negative or too large size, NULL pointer), `PURLIN_ERROR_NOT_SUPPORTED` (device memory in a context on the CPU),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
 *
 * @pre `dims` is NULL or valid for `ndim` elements, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_create(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_location location,
                                   purlin_flags flags,
                                   int64_t ndim,
                                   const int64_t *dims,
                                   struct purlin_tensor **tensor);

/**
 * Makes a dense tensor over the caller's host memory, which must outlive the handle.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
 * @param      ndim     number of dimensions, 0 to 32.
 * @param[in]  dims     `ndim` sizes, not negative.
 * @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
 * @param[in]  data     the first element, aligned as its component type.
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant,
 * more than 32 dimensions, a negative size or stride, more than 2^63 bytes, a NULL or misaligned pointer),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `data` is valid for the extent of `dims` and `strides` while the handle lives, the arrays for `ndim` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_flags flags,
                                   int64_t ndim,
                                   const int64_t *dims,
                                   const int64_t *strides,
                                   void *data,
                                   struct purlin_tensor **tensor);

/**
 * Makes a dense tensor over the caller's device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR (for `strides` NULL), PURLIN_READ_ONLY or 0.
 * @param      ndim     number of dimensions, 0 to 32.
 * @param[in]  dims     `ndim` sizes, not negative.
 * @param[in]  strides  `ndim` strides in elements, not negative; NULL for packed storage.
 * @param      data     the `CUdeviceptr` of the first element (a pointer of the CUDA runtime, as an integer).
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_borrow; `PURLIN_ERROR_INVALID_ARGUMENT` also for memory that is not this GPU's,
 * `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre As for purlin_tensor_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_device(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          purlin_flags flags,
                                          int64_t ndim,
                                          const int64_t *dims,
                                          const int64_t *strides,
                                          uint64_t data,
                                          struct purlin_tensor **tensor);

/**
 * Copies a tensor into another of the same dimensions and element type, in any direction between host and device.
 *
 * Host destinations are complete on return, device destinations in stream order. Host tensors may have any strides;
 * device tensors must be packed, in either order. From device to device, matrices of 4, 8 or 16 bytes an element need
 * only have contiguous rows or columns; for other tensors of different orders the call waits, and needs each twice in
 * host memory. One pass over the elements; a strided host tensor takes a second on its way to or from a device,
 * and a packed copy in host memory.
 *
 * @param      context      the context of both tensors.
 * @param      stream       NULL for the context's own.
 * @param      source       read.
 * @param      destination  written.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (other dimensions, type or
 * context, overlap, read-only destination), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory),
 * `PURLIN_ERROR_CANCELLED` (on the host, which leaves some elements copied), `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_copy(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tensor *source,
                                 struct purlin_tensor *destination);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_info_init(struct purlin_tensor_info *info,
                                      size_t size);

/**
 * Properties of a tensor. Its sizes are in purlin_tensor_shape.
 *
 * @param      tensor  the tensor.
 * @param[out] info    filled in; initialize it with purlin_tensor_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_properties(const struct purlin_tensor *tensor,
                                       struct purlin_tensor_info *info);

/**
 * Sizes and strides of a tensor.
 *
 * @param      tensor    the tensor.
 * @param      capacity  length of each array, at least the number of dimensions.
 * @param[out] dims      sizes; may be NULL.
 * @param[out] strides   strides in elements; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (capacity).
 *
 * @pre Each array is NULL or valid for `capacity` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_shape(const struct purlin_tensor *tensor,
                                  int64_t capacity,
                                  int64_t *dims,
                                  int64_t *strides);

/**
 * Destroys a tensor, and frees its memory if that is purlin's.
 *
 * @param tensor  the tensor; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_tensor_destroy(struct purlin_tensor *tensor);

/**
 * Makes a batch of packed symmetric tensors of purlin's own memory, zeroed.
 *
 * Each tensor has U = C(order + dimension - 1, order) entries in lexicographic order of the nondecreasing index
 * tuples (purlin_symmetric_indices lists them), not multiplied by the number of their permutations.
 *
 * @param      context    the context it belongs to.
 * @param      dtype      PURLIN_F32 or PURLIN_F64.
 * @param      location   PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags      PURLIN_PINNED, PURLIN_ENTRY_MAJOR or 0.
 * @param      order      number of indices, at least 2.
 * @param      dimension  range of each index, at least 1; U may not exceed 2^31 - 1.
 * @param      count      number of tensors, not negative.
 * @param[out] tensor     the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_create.
 *
 * @pre `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_create_symmetric(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             purlin_location location,
                                             purlin_flags flags,
                                             int64_t order,
                                             int64_t dimension,
                                             int64_t count,
                                             struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors over the caller's host memory, which must outlive the handle.
 *
 * @param      context        the context it belongs to.
 * @param      dtype          PURLIN_F32 or PURLIN_F64.
 * @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
 * @param      order          number of indices, at least 2.
 * @param      dimension      range of each index, at least 1.
 * @param      count          number of tensors, not negative.
 * @param      entry_stride   elements from one entry of a tensor to its next.
 * @param      tensor_stride  elements from one tensor to the next; both 0 mean packed: 1 and U, or `count` and 1 with
 *                            PURLIN_ENTRY_MAJOR.
 * @param[in]  data           first entry of the first tensor.
 * @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_borrow.
 *
 * @pre `data` is valid for the extent of the batch while the handle lives, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_symmetric(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             purlin_flags flags,
                                             int64_t order,
                                             int64_t dimension,
                                             int64_t count,
                                             int64_t entry_stride,
                                             int64_t tensor_stride,
                                             void *data,
                                             struct purlin_tensor **tensor);

/**
 * Makes a batch of packed symmetric tensors over the caller's device memory, which must outlive the handle.
 *
 * @param      context        a context on the GPU of that memory.
 * @param      dtype          PURLIN_F32 or PURLIN_F64.
 * @param      flags          PURLIN_ENTRY_MAJOR (for zero strides), PURLIN_READ_ONLY or 0.
 * @param      order          number of indices, at least 2.
 * @param      dimension      range of each index, at least 1.
 * @param      count          number of tensors, not negative.
 * @param      entry_stride   as purlin_tensor_borrow_symmetric.
 * @param      tensor_stride  as purlin_tensor_borrow_symmetric.
 * @param      data           `CUdeviceptr` of the first entry of the first tensor.
 * @param[out] tensor         the batch; destroy it with purlin_tensor_destroy.
 * @return as purlin_tensor_borrow_device.
 *
 * @pre As for purlin_tensor_borrow_symmetric.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_borrow_symmetric_device(const struct purlin_context *context,
                                                    purlin_dtype dtype,
                                                    purlin_flags flags,
                                                    int64_t order,
                                                    int64_t dimension,
                                                    int64_t count,
                                                    int64_t entry_stride,
                                                    int64_t tensor_stride,
                                                    uint64_t data,
                                                    struct purlin_tensor **tensor);

/**
 * Takes a DLPack tensor. Its memory is used in place; its deleter is called exactly once: when the handle is gone, or
 * before this call returns a failure.
 *
 * @param      context  the context it will belong to.
 * @param      managed  a `DLManagedTensorVersioned *` of DLPack 1.x, owned by purlin from now on.
 * @param[out] tensor   the tensor; destroy it with purlin_tensor_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, more than 32
 * dimensions, a size, stride or `byte_offset` that is out of range, misaligned data, memory of another GPU),
 * `PURLIN_ERROR_NOT_SUPPORTED` (another DLPack version, type or kind of device, memory of a GPU in a context on the
 * CPU), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `managed` is NULL or a live capsule, `tensor` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_from_dlpack(const struct purlin_context *context,
                                        void *managed,
                                        struct purlin_tensor **tensor);

/**
 * Gives a tensor to another library by DLPack, in place. The memory stays alive until the capsule's deleter is
 * called, also after the handle is destroyed. On a GPU the receiver must order its work behind the tensor's stream.
 *
 * @param      tensor   the tensor. A symmetric batch goes out as its array of packed entries.
 * @param[out] managed  a `DLManagedTensorVersioned *`; whoever receives it calls its deleter.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer).
 *
 * @pre `managed` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tensor_to_dlpack(const struct purlin_tensor *tensor,
                                      void **managed);

/**
 * Makes a dense matrix of purlin's own memory, zeroed and packed.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     element type.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
 * @param      rows      number of rows, not negative.
 * @param      cols      number of columns, not negative.
 * @param[out] matrix    the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_create.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_create(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_location location,
                                   purlin_flags flags,
                                   int64_t rows,
                                   int64_t cols,
                                   struct purlin_matrix **matrix);

/**
 * Makes a dense matrix over the caller's host memory, which must outlive the handle.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type; families say which they take.
 * @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
 * @param      rows     number of rows, not negative.
 * @param      cols     number of columns, not negative.
 * @param      ld       elements from one column to the next, at least `rows` (row-major: from one row to the next, at
 *                      least `cols`), and at least 1.
 * @param[in]  data     the first entry.
 * @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_borrow; `PURLIN_ERROR_INVALID_ARGUMENT` also for an `ld` that is too small.
 *
 * @pre `data` is valid for `(cols - 1) * ld + rows` elements (row-major: rows and cols exchanged) while the handle lives,
 * `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow(const struct purlin_context *context,
                                   purlin_dtype dtype,
                                   purlin_flags flags,
                                   int64_t rows,
                                   int64_t cols,
                                   int64_t ld,
                                   void *data,
                                   struct purlin_matrix **matrix);

/**
 * Makes a dense matrix over the caller's device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    element type.
 * @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
 * @param      rows     number of rows, not negative.
 * @param      cols     number of columns, not negative.
 * @param      ld       as purlin_matrix_borrow.
 * @param      data     `CUdeviceptr` of the first entry.
 * @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_tensor_borrow_device; `PURLIN_ERROR_INVALID_ARGUMENT` also for an `ld` that is too small.
 *
 * @pre As for purlin_matrix_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow_device(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          purlin_flags flags,
                                          int64_t rows,
                                          int64_t cols,
                                          int64_t ld,
                                          uint64_t data,
                                          struct purlin_matrix **matrix);

/**
 * Makes a sparse matrix over the caller's compressed sparse rows, which must outlive the handle. The indices are
 * checked once, here, and must stay as they are; rows need not be sorted. The matrix is read-only. Values that the caller
 * writes are those of the next call.
 *
 * @param      context       the context it belongs to.
 * @param      dtype         element type, also of a pattern (`values` NULL).
 * @param      index_base    0 or 1: the first row and column number; plus PURLIN_TRUSTED for columns that are known to
 *                           be in range.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_ptr       host, `rows + 1` offsets that start at `index_base`, do not decrease and end at
 *                           `nnz + index_base`.
 * @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  col_idx       host, `nnz` columns.
 * @param[in]  values        host, `nnz` values; NULL for a pattern whose entries are all 1.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant, negative
 * size, a NULL or misaligned pointer; the first wrong offset or column is named), `PURLIN_ERROR_OUT_OF_MEMORY`.
 * O(rows + nnz), with PURLIN_TRUSTED O(rows).
 *
 * @pre The arrays are valid for the stated numbers of elements while the handle lives; with PURLIN_TRUSTED columns are in range.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow_csr(const struct purlin_context *context,
                                       purlin_dtype dtype,
                                       int32_t index_base,
                                       int64_t rows,
                                       int64_t cols,
                                       int64_t nnz,
                                       purlin_dtype row_ptr_type,
                                       const void *row_ptr,
                                       purlin_dtype col_idx_type,
                                       const void *col_idx,
                                       const void *values,
                                       struct purlin_matrix **matrix);

/**
 * As purlin_matrix_borrow_csr, but copies the arrays, which may go after the call. O(rows + nnz).
 *
 * @param      context       the context it belongs to.
 * @param      dtype         element type, also of a pattern (`values` NULL).
 * @param      index_base    0 or 1: the first row and column number; plus PURLIN_TRUSTED for columns that are known to
 *                           be in range.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_ptr       host, `rows + 1` offsets.
 * @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  col_idx       host, `nnz` columns.
 * @param[in]  values        host, `nnz` values; NULL for a pattern.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_borrow_csr.
 *
 * @pre The arrays are valid for the stated numbers of elements during the call; with PURLIN_TRUSTED columns are in range.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_copy_csr(const struct purlin_context *context,
                                     purlin_dtype dtype,
                                     int32_t index_base,
                                     int64_t rows,
                                     int64_t cols,
                                     int64_t nnz,
                                     purlin_dtype row_ptr_type,
                                     const void *row_ptr,
                                     purlin_dtype col_idx_type,
                                     const void *col_idx,
                                     const void *values,
                                     struct purlin_matrix **matrix);

/**
 * Copies a dense matrix into another of the same size and element type, in any direction between host and device.
 *
 * @param      context      the context of both matrices.
 * @param      stream       NULL for the context's own.
 * @param      source       read.
 * @param      destination  written.
 * @return as purlin_tensor_copy; `PURLIN_ERROR_NOT_SUPPORTED` for matrices that are not dense.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_copy(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_matrix *source,
                                 struct purlin_matrix *destination);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_info_init(struct purlin_matrix_info *info,
                                      size_t size);

/**
 * Properties of a matrix.
 *
 * @param      matrix  the matrix.
 * @param[out] info    filled in; initialize it with purlin_matrix_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_properties(const struct purlin_matrix *matrix,
                                       struct purlin_matrix_info *info);

/**
 * Destroys a matrix, and frees its memory if that is purlin's.
 *
 * @param matrix  the matrix; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_matrix_destroy(struct purlin_matrix *matrix);

/**
 * Makes a sparse matrix over the caller's compressed sparse rows in device memory, which must outlive the handle.
 * Products and solvers of a context on a GPU read the arrays where they are (indices of 32 bits from 0; others are
 * converted once); functions that need the structure use a copy of the indices on the host, which is made and checked
 * here. The indices must stay as they are; values that the caller writes are those of the next call. The matrix is
 * read-only, and functions that read values on the host refuse it.
 *
 * Work on other streams that writes to the arrays must be complete before this call and before each later call with
 * the matrix.
 *
 * @param      context       a context on the GPU of that memory.
 * @param      dtype         element type, also of a pattern (`values` 0): PURLIN_F32, PURLIN_F64, PURLIN_CF32 or
 *                           PURLIN_CF64.
 * @param      index_base    0 or 1: the first row and column number; plus PURLIN_TRUSTED for columns that are known to
 *                           be in range.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param      row_ptr       `CUdeviceptr` of `rows + 1` offsets, as for purlin_matrix_borrow_csr.
 * @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param      col_idx       `CUdeviceptr` of `nnz` columns.
 * @param      values        `CUdeviceptr` of `nnz` values; 0 for a pattern whose entries are all 1.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_borrow_csr, and `PURLIN_ERROR_INVALID_ARGUMENT` (memory that is not this device's, or too short
 * as far as the driver reports sizes), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 *
 * @pre The arrays are valid for the stated numbers of elements while the handle lives; with PURLIN_TRUSTED columns are in range;
 * `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_borrow_csr_device(const struct purlin_context *context,
                                              purlin_dtype dtype,
                                              int32_t index_base,
                                              int64_t rows,
                                              int64_t cols,
                                              int64_t nnz,
                                              purlin_dtype row_ptr_type,
                                              uint64_t row_ptr,
                                              purlin_dtype col_idx_type,
                                              uint64_t col_idx,
                                              uint64_t values,
                                              struct purlin_matrix **matrix);

/**
 * Number of packed entries of a symmetric tensor, U = C(order + dimension - 1, order).
 *
 * @param      order      number of indices m, 2 to 2^20.
 * @param      dimension  range n of each index, at least 1.
 * @param[out] count      U.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `order` or `dimension` out of range, U
 * over 2^31 - 1).
 *
 * @pre `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_count(int64_t order,
                                     int64_t dimension,
                                     int64_t *count);

/**
 * Index tuples of the packed entries, 0-based and nondecreasing, in packed (lexicographic) order. O(m U).
 *
 * @param      order      number of indices m, at least 2.
 * @param      dimension  range n of each index, at least 1.
 * @param[out] indices    host, m x U, column-major: the tuple of entry r starts at `indices[r * m]`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `order` or `dimension` out of range, U
 * over 2^31 - 1), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `indices` is NULL or valid for m * U initialized elements.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_indices(int64_t order,
                                       int64_t dimension,
                                       int64_t *indices);

/**
 * Exponents of the packed entries' monomials: how often each index stands in the tuple. O((m + n) U).
 *
 * @param      order      number of indices m, at least 2.
 * @param      dimension  range n of each index, at least 1.
 * @param[out] exponents  host, n x U, column-major.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_symmetric_indices),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `exponents` is NULL or valid for n * U initialized elements.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_exponents(int64_t order,
                                         int64_t dimension,
                                         int64_t *exponents);

/**
 * Multinomials of the packed entries: m! / (k1! .. kn!), the number of tensor entries that each stands for. O(m U).
 *
 * @param      order         number of indices m, at least 2.
 * @param      dimension     range n of each index, at least 1.
 * @param[out] multinomials  host, U elements.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_symmetric_indices; a multinomial above
 * 2^63 - 1), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `multinomials` is NULL or valid for U initialized elements.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_multinomials(int64_t order,
                                            int64_t dimension,
                                            int64_t *multinomials);

/**
 * Converts a symmetric batch between tensor entries and polynomial coefficients, or copies it. O(m U + T U). On the
 * device the result is complete in stream order.
 *
 * @param      context              the context of both tensors.
 * @param      stream               NULL for the context's own.
 * @param      source               symmetric batch, host or device, F32 or F64.
 * @param      source_packing       PURLIN_PACKING_ENTRIES or PURLIN_PACKING_POLYNOMIAL.
 * @param      destination          symmetric batch of the same order, dimension and count, F32 or F64, where `source` is.
 * @param      destination_packing  as `source_packing`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (another order, dimension
 * or count, a dense tensor, type, `source_packing` or `destination_packing`, a read-only `destination`, another
 * context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the device),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_convert(const struct purlin_context *context,
                                       const struct purlin_stream *stream,
                                       const struct purlin_tensor *source,
                                       int32_t source_packing,
                                       struct purlin_tensor *destination,
                                       int32_t destination_packing);

/**
 * Packs dense tensors. O(m n^m T). On the device the result is complete in stream order if `symmetrize` is 1; else
 * the call waits for the outcome of the check, which is the same as on the host.
 *
 * @param      context          the context of both tensors.
 * @param      stream           NULL for the context's own.
 * @param      full             dense, n x .. x n (m times) or n x .. x n x T, host or device, F32 or F64.
 * @param      symmetrize       0: a tensor that is not symmetric is refused; 1: each entry is the mean over the
 *                              permutations of its indices.
 * @param      check_tolerance  largest asymmetry allowed, relative to the tensor's largest magnitude; 0 means 1e-12
 *                              for F64 and 1e-5 for F32.
 * @param      packed           symmetric batch of T tensors, where `full` is, the element type of `full`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types,
 * `symmetrize`, a `check_tolerance` below 0 or NaN, asymmetry: the entry is named; a read-only `packed`, another
 * context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the device, or on the device a
 * tensor of 2^31 elements or more), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_from_full(const struct purlin_context *context,
                                         const struct purlin_stream *stream,
                                         const struct purlin_tensor *full,
                                         int32_t symmetrize,
                                         double check_tolerance,
                                         struct purlin_tensor *packed);

/**
 * Unpacks symmetric tensors into dense ones. O(m n^m T). On the device the result is complete in stream order.
 *
 * @param      context  the context of both tensors.
 * @param      stream   NULL for the context's own.
 * @param      packed   symmetric batch of T tensors, host or device, F32 or F64.
 * @param      full     dense, n x .. x n x T, or without the T if it is 1; where `packed` is, of its element type.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, a read-only
 * `full`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the device, or
 * on the device a tensor of 2^31 elements or more), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_to_full(const struct purlin_context *context,
                                       const struct purlin_stream *stream,
                                       const struct purlin_tensor *packed,
                                       struct purlin_tensor *full);

/**
 * Norms of symmetric tensors, over all n^m entries. O(m U + T U). On the device the result is complete in stream
 * order.
 *
 * @param      context  the context of both tensors.
 * @param      stream   NULL for the context's own.
 * @param      packed   symmetric batch of T tensors, host or device, F32 or F64.
 * @param      kind     PURLIN_NORM_FROBENIUS, PURLIN_NORM_ONE or PURLIN_NORM_MAX.
 * @param      norms    dense, T elements, where `packed` is, of its element type.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`kind`, sizes, types,
 * read-only `norms`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (one tensor on the host, another on the
 * device), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_norm(const struct purlin_context *context,
                                    const struct purlin_stream *stream,
                                    const struct purlin_tensor *packed,
                                    int32_t kind,
                                    struct purlin_tensor *norms);

/**
 * Fills a symmetric batch with multiples of the identity tensor E, for which E x^m = |x|^m. Adding c E to a tensor
 * keeps its eigenvectors and adds c to its eigenvalues. O(m U + T U). On the device the result is complete in stream
 * order.
 *
 * @param      context  the context of the batch.
 * @param      stream   NULL for the context's own.
 * @param      scale    multiple c; finite.
 * @param      packed   symmetric batch of even order, host or device, F32 or F64.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a dense tensor, type, an
 * odd order, a `scale` that is not finite, a read-only `packed`, another context), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_symmetric_identity(const struct purlin_context *context,
                                        const struct purlin_stream *stream,
                                        double scale,
                                        struct purlin_tensor *packed);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_options_init(struct purlin_sshopm_options *options,
                                         size_t size);

/**
 * Sets every member to NULL.
 *
 * @param[out] results  the struct.
 * @param      size     `sizeof *results`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `results` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_results_init(struct purlin_sshopm_results *results,
                                         size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_info_init(struct purlin_sshopm_info *info,
                                      size_t size);

/**
 * Products A x^m, A x^(m-1) or A x^(m-2) of symmetric tensors with vectors. O(U) a product.
 *
 * @param      context   the context of all tensors.
 * @param      stream    NULL for the context's own.
 * @param      tensors   symmetric batch of T tensors, order m, dimension n; F32 or F64.
 * @param      vectors   n x V, the same for all tensors, or n x V x T; the type of `tensors`. Not normalized.
 * @param      power     m, m - 1 or m - 2: how many indices are contracted.
 * @param      products  V x T, n x V x T or n x n x V x T for the three powers; the type of `tensors`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`power`, sizes, types,
 * read-only `products`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in `products`;
 * an order above 32 or a dimension above 16 with a tensor on the device), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_product(const struct purlin_context *context,
                                    const struct purlin_stream *stream,
                                    const struct purlin_tensor *tensors,
                                    const struct purlin_tensor *vectors,
                                    int64_t power,
                                    struct purlin_tensor *products);

/**
 * Start vectors, unit and the same on every backend. O(n V).
 *
 * @param      context  the context of the result.
 * @param      stream   NULL for the context's own.
 * @param      kind     one of PURLIN_STARTS_*, not AUTO. The Fibonacci and icosahedral sets need n = 3. Random vectors
 *                      are those of the first tensor of a solve with the same seed.
 * @param      seed     seed of random vectors; 0 for other kinds.
 * @param      starts   n x V, F32 or F64, on the host or the device.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (AUTO or an unknown
 * `kind`, a kind that has no points for n or V, a seed that is not used, sizes, type, read-only, another context),
 * `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_starts(const struct purlin_context *context,
                                   const struct purlin_stream *stream,
                                   int32_t kind,
                                   uint64_t seed,
                                   struct purlin_tensor *starts);

/**
 * Residuals, projected Hessians and classes of given pairs.
 *
 * The projected Hessian is U^T ((m - 1) A x^(m-2) - lambda I) U with U an orthonormal basis of the tangent plane at
 * x. One product A x^(m-2) and O(n^3) operations a pair.
 *
 * @param      context               the context of all tensors.
 * @param      stream                NULL for the context's own.
 * @param      tensors               symmetric batch of T tensors, order m, dimension n; F32 or F64.
 * @param      values                V x T, the type of `tensors`.
 * @param      vectors               n x V x T unit vectors, the type of `tensors`.
 * @param      degeneracy_tolerance  as in purlin_sshopm_options.
 * @param      residuals             V x T; may be NULL.
 * @param      hessian               (n - 1) x V x T, eigenvalues ascending; may be NULL.
 * @param      classes               I32, V x T: one of PURLIN_PAIR_*; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types,
 * `degeneracy_tolerance`, read-only outputs, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided device
 * memory in `values` or an output; an order above 32 or a dimension above 16 with a tensor on the device),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_classify(const struct purlin_context *context,
                                     const struct purlin_stream *stream,
                                     const struct purlin_tensor *tensors,
                                     const struct purlin_tensor *values,
                                     const struct purlin_tensor *vectors,
                                     double degeneracy_tolerance,
                                     struct purlin_tensor *residuals,
                                     struct purlin_tensor *hessian,
                                     struct purlin_tensor *classes);

/**
 * Makes a solver of eigenpairs (lambda, x) of symmetric tensors, A x^(m-1) = lambda x and |x| = 1: of the local maxima and
 * minima of A x^m on the unit sphere (purlin_sshopm_solve), or of all real pairs (purlin_sshopm_solve_all).
 *
 * @param      context  the context of all tensors.
 * @param      options  NULL for the defaults.
 * @param[out] sshopm   the solver; destroy it with purlin_sshopm_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * unknown constant, a number outside its domain, an option without effect), `PURLIN_ERROR_NOT_SUPPORTED` (an option
 * that this library does not know), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `options` is NULL or an initialized struct; `sshopm` is NULL or valid for writing; `options->progress` may be called with
 * its user pointer while the object lives.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_create(const struct purlin_context *context,
                                   const struct purlin_sshopm_options *options,
                                   struct purlin_sshopm **sshopm);

/**
 * Destroys a solver. A call that runs goes on to its end.
 *
 * @param sshopm  the solver; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_sshopm_destroy(struct purlin_sshopm *sshopm);

/**
 * Cancels the calls that run on a solver, which then return `PURLIN_ERROR_CANCELLED` within the time of one tensor, on
 * a GPU of one chunk. Later calls are not touched. May be called from any thread and from a progress function; it
 * waits for nothing.
 *
 * @param sshopm  the solver.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_cancel(const struct purlin_sshopm *sshopm);

/**
 * The plan of purlin_sshopm_solve for a batch with the starts of the options: starts, chunks, tolerance, host memory, and
 * where it would run. The chunks and the memory are those for the results `count` and `status`; arrays of pairs and starts
 * come on top. Nothing is solved.
 *
 * @param      sshopm   the solver.
 * @param      tensors  the batch.
 * @param[out] info     filled in; initialize it with purlin_sshopm_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * type, another context, options that purlin_sshopm_solve refuses), `PURLIN_ERROR_NOT_SUPPORTED` (`tensors` on the
 * device beyond the limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY` (the work space does not fit).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_plan(const struct purlin_sshopm *sshopm,
                                 const struct purlin_tensor *tensors,
                                 struct purlin_sshopm_info *info);

/**
 * The report of the last call of purlin_sshopm_solve or purlin_sshopm_solve_all that succeeded on a solver.
 *
 * @param      sshopm  the solver.
 * @param[out] info    filled in; initialize it with purlin_sshopm_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size, no
 * call has succeeded yet).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_last_info(const struct purlin_sshopm *sshopm,
                                      struct purlin_sshopm_info *info);

/**
 * Eigenpairs (lambda, x) of symmetric tensors, A x^(m-1) = lambda x and |x| = 1, that are local maxima or minima of
 * A x^m on the unit sphere, from many starts.
 *
 * The shifted symmetric higher-order power method of Kolda and Mayo (SIAM J. Matrix Anal. Appl. 32, 2011; adaptive
 * shift: 35, 2014), by default with safeguarded Newton steps; then the results of a tensor's starts are classified by
 * the projected Hessian, made unique and sorted. A step costs O(U) for general shapes; n = 3 with m = 3, 4, 6 and 8
 * has kernels of its own. Each tensor is scaled by a power of two, so that any magnitude works; a tensor with bad
 * values gets a status and harms no other. Results are bitwise the same for any number of threads.
 *
 * Host tensors in a context on a GPU are streamed through it in chunks, copies overlapping the work.
 *
 * @param      sshopm   the solver; its options are those of a solve.
 * @param      stream   NULL for the context's own.
 * @param      tensors  symmetric batch of T tensors, order m, dimension n; F32 or F64, any strides.
 * @param      starts   n x V start vectors, of the type of `tensors`, on the host or the device, normalized on entry;
 *                      NULL for those of the options.
 * @param      results  where results go, each on the host or on the device.
 * @param[out] info     may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, options, a
 * start that is zero or not finite, read-only outputs, another context, overlap), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in an output, `tensors` on the device
 * beyond the limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`. Starts that do not converge are not an error of the call: see `status` and `start_status`.
 *
 * @pre `results` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_solve(const struct purlin_sshopm *sshopm,
                                  const struct purlin_stream *stream,
                                  const struct purlin_tensor *tensors,
                                  const struct purlin_tensor *starts,
                                  const struct purlin_sshopm_results *results,
                                  struct purlin_sshopm_info *info);

/**
 * purlin_sshopm_solve without an object: makes a solver, solves, and destroys it.
 *
 * @param      context  the context of all tensors.
 * @param      stream   NULL for the context's own.
 * @param      tensors  as purlin_sshopm_solve.
 * @param      starts   as purlin_sshopm_solve.
 * @param      options  NULL for the defaults.
 * @param      results  as purlin_sshopm_solve.
 * @param[out] info     may be NULL.
 * @return as purlin_sshopm_create and purlin_sshopm_solve.
 *
 * @pre `options`, `results` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_solve_once(const struct purlin_context *context,
                                       const struct purlin_stream *stream,
                                       const struct purlin_tensor *tensors,
                                       const struct purlin_tensor *starts,
                                       const struct purlin_sshopm_options *options,
                                       const struct purlin_sshopm_results *results,
                                       struct purlin_sshopm_info *info);

/**
 * All real eigenpairs of symmetric tensors, saddles included, by Newton's method on the sphere from many random
 * starts (Jaffe, Weiss and Nadler, SIAM J. Matrix Anal. Appl. 39, 2018), with a check of completeness. A step of a
 * start costs one product A x^(m-2), O(U), and O(n^3) operations.
 *
 * For nondegenerate tensors the sum of (-1)^k over all pairs, one of each +-x, is 1 where n is odd and 0 where n and m
 * are even, by Morse theory; k is the number of negative eigenvalues of a pair's projected Hessian. For odd m and even
 * n it says nothing, nor where a pair is degenerate. The Morse inequalities bound the numbers of pairs with each k as well,
 * and for odd m the number of pairs is odd. If one of these relations is violated, pairs are missing for certain: the
 * tensor's status is PURLIN_TENSOR_INCOMPLETE. The converse does not hold. Rounds of starts are added until the relations
 * hold, a doubling found nothing new, and each pair was reached by four starts, or `max_starts` is reached, which makes the
 * status INCOMPLETE as well. So PURLIN_TENSOR_OK says that these tests were passed; it is no proof of completeness. m = 2
 * uses a symmetric matrix eigensolver; eigenvalues that differ by at most 8 n eps times the Frobenius norm are one entry.
 *
 * A continuum of eigenvectors, a circle of an axisymmetric form say, is one entry of class PURLIN_PAIR_DEGENERATE: three
 * degenerate pairs of one lambda are taken for one. A tensor with a degenerate pair has the status
 * PURLIN_TENSOR_DEGENERATE.
 *
 * Arrays may lie on the host or on the device, each where it likes; the search takes one tensor at a time, and those
 * on the device are copied from and to it.
 *
 * @param      sshopm          the solver; its options are those of a search for all pairs.
 * @param      stream          NULL for the context's own.
 * @param      tensors         symmetric batch of T tensors, order m, dimension n; F32 or F64.
 * @param      results         as purlin_sshopm_solve, values descending; the start_* members and `trace` are NULL.
 * @param      morse_sum       I32, T: the sum found; may be NULL.
 * @param      morse_expected  I32, T: the sum of a complete set, -2147483648 where the theory predicts none: odd order
 *                             in even dimension, or a degenerate pair; may be NULL.
 * @param[out] info            may be NULL.
 * @return as purlin_sshopm_solve.
 *
 * @pre `results` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_solve_all(const struct purlin_sshopm *sshopm,
                                      const struct purlin_stream *stream,
                                      const struct purlin_tensor *tensors,
                                      const struct purlin_sshopm_results *results,
                                      struct purlin_tensor *morse_sum,
                                      struct purlin_tensor *morse_expected,
                                      struct purlin_sshopm_info *info);

/**
 * purlin_sshopm_solve_all without an object: makes a solver, solves, and destroys it.
 *
 * @param      context         the context of all tensors.
 * @param      stream          NULL for the context's own.
 * @param      tensors         as purlin_sshopm_solve_all.
 * @param      options         NULL for the defaults.
 * @param      results         as purlin_sshopm_solve_all.
 * @param      morse_sum       as purlin_sshopm_solve_all; may be NULL.
 * @param      morse_expected  as purlin_sshopm_solve_all; may be NULL.
 * @param[out] info            may be NULL.
 * @return as purlin_sshopm_create and purlin_sshopm_solve_all.
 *
 * @pre `options`, `results` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_sshopm_solve_all_once(const struct purlin_context *context,
                                           const struct purlin_stream *stream,
                                           const struct purlin_tensor *tensors,
                                           const struct purlin_sshopm_options *options,
                                           const struct purlin_sshopm_results *results,
                                           struct purlin_tensor *morse_sum,
                                           struct purlin_tensor *morse_expected,
                                           struct purlin_sshopm_info *info);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_options_init(struct purlin_dwi_options *options,
                                      size_t size);

/**
 * Symmetric tensors that take on the unit sphere the values of functions given in spherical harmonics. O(U^2) a
 * voxel.
 *
 * @param      context  the context of both tensors.
 * @param      stream   NULL for the context's own.
 * @param      sh       U x T coefficients of even degree L, U = (L + 1)(L + 2) / 2; F32 or F64.
 * @param      basis    their basis, one of PURLIN_SH_*; there is no default.
 * @param      tensors  symmetric batch of T tensors of order L, dimension 3, the type of `sh`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`basis`, an order that is
 * odd or above 16, a dimension other than 3, sizes, types, read-only `tensors`, another context, overlap),
 * `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in the result), `PURLIN_ERROR_CANCELLED` (by
 * purlin_context_cancel), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_sh_to_tensor(const struct purlin_context *context,
                                      const struct purlin_stream *stream,
                                      const struct purlin_tensor *sh,
                                      int32_t basis,
                                      struct purlin_tensor *tensors);

/**
 * Spherical-harmonic coefficients of the functions that symmetric tensors are on the unit sphere: the inverse of
 * purlin_dwi_sh_to_tensor. O(U^2) a voxel.
 *
 * @param      context  the context of both tensors.
 * @param      stream   NULL for the context's own.
 * @param      tensors  symmetric batch of T tensors of even order L, dimension 3; F32 or F64.
 * @param      basis    basis of the result, one of PURLIN_SH_*; there is no default.
 * @param      sh       U x T coefficients, U = (L + 1)(L + 2) / 2, the type of `tensors`.
 * @return as purlin_dwi_sh_to_tensor.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_tensor_to_sh(const struct purlin_context *context,
                                      const struct purlin_stream *stream,
                                      const struct purlin_tensor *tensors,
                                      int32_t basis,
                                      struct purlin_tensor *sh);

/**
 * Makes an object for diffusion MRI: tensors from signals (purlin_dwi_fit), orientation functions (purlin_dwi_csa),
 * and fibre directions (purlin_dwi_peaks). Conversions of spherical harmonics need none.
 *
 * @param      context  the context of all tensors.
 * @param      options  NULL for the defaults.
 * @param[out] dwi      the object; destroy it with purlin_dwi_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * unknown constant, a number outside its domain), `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `options` is NULL or an initialized struct; `dwi` is NULL or valid for writing; `options->progress` may be called
 * with its user pointer while the object lives.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_create(const struct purlin_context *context,
                                const struct purlin_dwi_options *options,
                                struct purlin_dwi **dwi);

/**
 * Destroys an object. A call that runs goes on to its end.
 *
 * @param dwi  the object; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_dwi_destroy(struct purlin_dwi *dwi);

/**
 * Cancels the calls that run on an object, which then return `PURLIN_ERROR_CANCELLED`. Later calls are not touched. May be
 * called from any thread and from a progress function; it waits for nothing.
 *
 * @param dwi  the object.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_cancel(const struct purlin_dwi *dwi);

/**
 * The plan of purlin_dwi_peaks for a volume: starts, chunks, tolerance, host memory for five peaks of a voxel beside the
 * array of peaks, and where it would run. Nothing is solved.
 *
 * @param      dwi    the object; its options are those of peaks.
 * @param      input  as purlin_dwi_peaks.
 * @param[out] info   filled in; initialize it with purlin_sshopm_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * the arguments that purlin_dwi_peaks refuses), `PURLIN_ERROR_NOT_SUPPORTED` (an `input` on the device beyond the
 * limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY` (the work space does not fit).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_plan(const struct purlin_dwi *dwi,
                              const struct purlin_tensor *input,
                              struct purlin_sshopm_info *info);

/**
 * The report of the last call of purlin_dwi_fit, purlin_dwi_csa or purlin_dwi_peaks that succeeded on an object: the
 * `info` of that call.
 *
 * @param      dwi   the object.
 * @param[out] info  filled in; initialize it with purlin_sshopm_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size, no
 * call has succeeded yet).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_last_info(const struct purlin_dwi *dwi,
                                   struct purlin_sshopm_info *info);

/**
 * Fits to each voxel the symmetric tensor A of order m for which A g^m is nearest, by least squares, to the apparent
 * diffusion coefficients D = -ln(S / S0) / b of its signals S; S0 is the mean of the unweighted ones. m = 2 is the
 * diffusion tensor; higher orders are those of Ozarslan and Mareci (Magn. Reson. Med. 50, 2003). With U coefficients,
 * O(U N) a voxel; O(U^2 N) with weights, and where signals are left out.
 *
 * Maxima of the fitted profile are NOT fibre directions where fibres cross: they fall between the fibres. Only for
 * m = 2, and in voxels of a single fibre, may they be read so. For directions use purlin_dwi_csa or a fibre orientation
 * function of another package, with purlin_dwi_peaks.
 *
 * Directions stay in the frame of the gradients: no image affine is applied.
 *
 * In a context on a GPU the fit runs there, but for left-out signals, orders above 8 and weights of your own on
 * several shells. Arrays may lie on the host or the device.
 *
 * @param      dwi      the object; its options are those of fits.
 * @param      stream   NULL for the context's own.
 * @param      signals  N x T, any strides; F32, F64, U16, I32 or U8. A volume stored (X, Y, Z, N) with N fastest is
 *                      packed; one stored volume after volume has strides (T, 1).
 * @param      bvals    N diffusion weightings, s/mm^2; F32 or F64.
 * @param      bvecs    3 x N unit vectors; F32 or F64. Those of unweighted volumes are ignored.
 * @param      mask     U8, T: nonzero inside; NULL for everywhere.
 * @param      weights  N x T weights of the measurements, F32 or F64, at least 0; NULL for those of the options.
 *                      Those of unweighted volumes are not read.
 * @param      tensors  symmetric batch of T tensors, even order m, dimension 3, F32 or F64; mm^2/s; zero where there
 *                      is no result.
 * @param      s0       T, of the type of `tensors`: S0; may be NULL.
 * @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
 * @param[out] info     voxels, chunks, voxels without a result, seconds, and where the fit ran; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (struct_size, an option
 * that fits do not use, an order that is odd or above 16, a dimension other than 3, too few distinct axes, vectors
 * that are not unit, b-values that are negative or not finite, no unweighted or no weighted volume, `weights` with
 * PURLIN_DWI_WLS, sizes, types, read-only outputs, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided
 * device memory in an output), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_NUMERICAL` (singular
 * values of the gradient scheme that do not converge), `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_fit(const struct purlin_dwi *dwi,
                             const struct purlin_stream *stream,
                             const struct purlin_tensor *signals,
                             const struct purlin_tensor *bvals,
                             const struct purlin_tensor *bvecs,
                             const struct purlin_tensor *mask,
                             const struct purlin_tensor *weights,
                             struct purlin_tensor *tensors,
                             struct purlin_tensor *s0,
                             struct purlin_tensor *status,
                             struct purlin_sshopm_info *info);

/**
 * purlin_dwi_fit without an object: makes one, fits, and destroys it.
 *
 * @param      context  the context of all tensors.
 * @param      stream   NULL for the context's own.
 * @param      signals  as purlin_dwi_fit.
 * @param      bvals    as purlin_dwi_fit.
 * @param      bvecs    as purlin_dwi_fit.
 * @param      mask     as purlin_dwi_fit; may be NULL.
 * @param      weights  as purlin_dwi_fit; may be NULL.
 * @param      options  NULL for the defaults.
 * @param      tensors  as purlin_dwi_fit.
 * @param      s0       as purlin_dwi_fit; may be NULL.
 * @param      status   as purlin_dwi_fit; may be NULL.
 * @param[out] info     as purlin_dwi_fit; may be NULL.
 * @return as purlin_dwi_create and purlin_dwi_fit.
 *
 * @pre `options` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_fit_once(const struct purlin_context *context,
                                  const struct purlin_stream *stream,
                                  const struct purlin_tensor *signals,
                                  const struct purlin_tensor *bvals,
                                  const struct purlin_tensor *bvecs,
                                  const struct purlin_tensor *mask,
                                  const struct purlin_tensor *weights,
                                  const struct purlin_dwi_options *options,
                                  struct purlin_tensor *tensors,
                                  struct purlin_tensor *s0,
                                  struct purlin_tensor *status,
                                  struct purlin_sshopm_info *info);

/**
 * Orientation functions from signals by q-ball imaging in constant solid angle (Aganj et al., Magn. Reson. Med. 64,
 * 2010): densities on the sphere, integral 1, whose maxima are fibre directions. With the default options the result
 * is that of dipy's CsaOdfModel. O(U N) a voxel.
 *
 * The arithmetic is the host's in any context; arrays on the device are copied from and to it.
 *
 * @param      dwi      the object; its options are those of orientation functions.
 * @param      stream   NULL for the context's own.
 * @param      signals  N x T, as purlin_dwi_fit; one shell.
 * @param      bvals    as purlin_dwi_fit.
 * @param      bvecs    as purlin_dwi_fit.
 * @param      mask     as purlin_dwi_fit; may be NULL.
 * @param      basis    basis of the result, one of PURLIN_SH_*; there is no default.
 * @param      sh       U x T coefficients, U = (L + 1)(L + 2) / 2 for an even degree L; F32 or F64; zero where there
 *                      is no result.
 * @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
 * @param[out] info     as purlin_dwi_fit; may be NULL.
 * @return as purlin_dwi_fit, with `sh` in the place of `tensors`; `PURLIN_ERROR_INVALID_ARGUMENT` also for several
 * shells, an option that orientation functions do not use, and another `basis` than that of the options.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_csa(const struct purlin_dwi *dwi,
                             const struct purlin_stream *stream,
                             const struct purlin_tensor *signals,
                             const struct purlin_tensor *bvals,
                             const struct purlin_tensor *bvecs,
                             const struct purlin_tensor *mask,
                             int32_t basis,
                             struct purlin_tensor *sh,
                             struct purlin_tensor *status,
                             struct purlin_sshopm_info *info);

/**
 * purlin_dwi_csa without an object: makes one, runs, and destroys it.
 *
 * @param      context  the context of all tensors.
 * @param      stream   NULL for the context's own.
 * @param      signals  as purlin_dwi_csa.
 * @param      bvals    as purlin_dwi_csa.
 * @param      bvecs    as purlin_dwi_csa.
 * @param      mask     as purlin_dwi_csa; may be NULL.
 * @param      basis    as purlin_dwi_csa.
 * @param      options  NULL for the defaults.
 * @param      sh       as purlin_dwi_csa.
 * @param      status   as purlin_dwi_csa; may be NULL.
 * @param[out] info     as purlin_dwi_fit; may be NULL.
 * @return as purlin_dwi_create and purlin_dwi_csa.
 *
 * @pre `options` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_csa_once(const struct purlin_context *context,
                                  const struct purlin_stream *stream,
                                  const struct purlin_tensor *signals,
                                  const struct purlin_tensor *bvals,
                                  const struct purlin_tensor *bvecs,
                                  const struct purlin_tensor *mask,
                                  int32_t basis,
                                  const struct purlin_dwi_options *options,
                                  struct purlin_tensor *sh,
                                  struct purlin_tensor *status,
                                  struct purlin_sshopm_info *info);

/**
 * Peaks of orientation functions: the local maxima above the thresholds, highest first, each at least
 * `min_separation` from every higher one. Signs are such that z >= 0. O(U) a step of each start, as
 * purlin_sshopm_solve; coefficients of spherical harmonics take O(U^2) a voxel more.
 *
 * Host arrays in a context on a GPU are streamed through it in chunks, copies overlapping the work. A voxel with bad
 * values gets a status and harms no other.
 *
 * @param      dwi      the object; its options are those of peaks.
 * @param      stream   NULL for the context's own.
 * @param      input    symmetric batch of T tensors of even order and dimension 3, or U x T spherical-harmonic
 *                      coefficients in the basis of the options; F32 or F64, any strides.
 * @param      mask     U8, T: nonzero inside; NULL for everywhere.
 * @param      peaks    4 x K x T (x, y, z, value) or, for PURLIN_PEAKS_MRTRIX, 3 x K x T; the type of `input`. K is
 *                      the most peaks of a voxel.
 * @param      count    I32, T: peaks of each voxel; may be NULL.
 * @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
 * @param[out] info     report of the call; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (struct_size, an option
 * that peaks do not use, an order that is odd or above 16, a dimension other than 3, a basis that is missing or not
 * needed, sizes, types, read-only outputs, another context, overlap), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`,
 * `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in `mask` or an output, an `input` on the device beyond the
 * limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_peaks(const struct purlin_dwi *dwi,
                               const struct purlin_stream *stream,
                               const struct purlin_tensor *input,
                               const struct purlin_tensor *mask,
                               struct purlin_tensor *peaks,
                               struct purlin_tensor *count,
                               struct purlin_tensor *status,
                               struct purlin_sshopm_info *info);

/**
 * purlin_dwi_peaks without an object: makes one, runs, and destroys it.
 *
 * @param      context  the context of all tensors.
 * @param      stream   NULL for the context's own.
 * @param      input    as purlin_dwi_peaks.
 * @param      mask     as purlin_dwi_peaks; may be NULL.
 * @param      options  NULL for the defaults.
 * @param      peaks    as purlin_dwi_peaks.
 * @param      count    as purlin_dwi_peaks; may be NULL.
 * @param      status   as purlin_dwi_peaks; may be NULL.
 * @param[out] info     report of the call; may be NULL.
 * @return as purlin_dwi_create and purlin_dwi_peaks.
 *
 * @pre `options` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_dwi_peaks_once(const struct purlin_context *context,
                                    const struct purlin_stream *stream,
                                    const struct purlin_tensor *input,
                                    const struct purlin_tensor *mask,
                                    const struct purlin_dwi_options *options,
                                    struct purlin_tensor *peaks,
                                    struct purlin_tensor *count,
                                    struct purlin_tensor *status,
                                    struct purlin_sshopm_info *info);

/**
 * Sets `struct_size`, `spacing` and `origin` to NaN, and the rest to 0.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_array_info_init(struct purlin_array_info *info,
                                     size_t size);

/**
 * A source over a tensor, which it keeps alive; the tensor's handle may be destroyed before it. During a run the
 * tensor is locked for reading.
 *
 * @param      context  the context of the tensor.
 * @param      tensor   dense, of 1 to 4 axes, any strides, on the host or the device; no 64-bit integers.
 * @param[out] source   the source; destroy it with purlin_source_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a symmetric
 * batch, number of axes, another context), `PURLIN_ERROR_NOT_SUPPORTED` (element type), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `source` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_source_from_tensor(const struct purlin_context *context,
                                        const struct purlin_tensor *tensor,
                                        struct purlin_source **source);

/**
 * A source over a raw file: elements from some byte on, packed, the first axis fastest.
 *
 * @param      context     the context it belongs to.
 * @param      path        the file.
 * @param      offset      bytes before the first element, not negative.
 * @param      dtype       element type; no 64-bit integers.
 * @param      endianness  PURLIN_LITTLE_ENDIAN or PURLIN_BIG_ENDIAN.
 * @param      ndim        number of axes, 1 to 4.
 * @param[in]  dims        `ndim` sizes, fastest first, not negative.
 * @param[out] source      the source; destroy it with purlin_source_destroy. It keeps the file open.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, negative number, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type), `PURLIN_ERROR_IO` (no
 * such file, or it is too short; the message has both sizes), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `path` is NULL or a terminated string, `dims` is NULL or valid for `ndim` elements, `source` is NULL or valid for
 * writing.
 */
PURLIN_MUST_USE
purlin_status purlin_source_from_file(const struct purlin_context *context,
                                      const char *path,
                                      int64_t offset,
                                      purlin_dtype dtype,
                                      int32_t endianness,
                                      int64_t ndim,
                                      const int64_t *dims,
                                      struct purlin_source **source);

/**
 * The same as purlin_source_from_file, for programs that call it: despite its name, the file is read and not mapped
 * into memory. If it becomes shorter, a read returns PURLIN_ERROR_IO. Pages that the system still caches from an
 * earlier pass are not read from the disk again.
 *
 * @param      context     the context it belongs to.
 * @param      path        the file.
 * @param      offset      bytes before the first element, not negative.
 * @param      dtype       element type; no 64-bit integers.
 * @param      endianness  PURLIN_LITTLE_ENDIAN or PURLIN_BIG_ENDIAN.
 * @param      ndim        number of axes, 1 to 4.
 * @param[in]  dims        `ndim` sizes, fastest first, not negative.
 * @param[out] source      the source; destroy it with purlin_source_destroy. It keeps the file open.
 * @return as purlin_source_from_file.
 *
 * @pre As for purlin_source_from_file.
 */
PURLIN_MUST_USE
purlin_status purlin_source_from_mapped_file(const struct purlin_context *context,
                                             const char *path,
                                             int64_t offset,
                                             purlin_dtype dtype,
                                             int32_t endianness,
                                             int64_t ndim,
                                             const int64_t *dims,
                                             struct purlin_source **source);

/**
 * A source over a file of NumPy's format .npy, versions 1 to 3, either byte order. 64-bit integers are read as F64, and
 * refused beyond 2^53 when they are read. Its axes are given fastest first, as those of every source: an array of shape
 * (r, c) in C order has the dimensions [c, r] and the flag PURLIN_ROW_MAJOR in purlin_source_info, one in Fortran order [r, c] and no flag. Handed to purlin_matrix_from_source
 * with that flag, either is the r x c matrix.
 *
 * @param      context  the context it belongs to.
 * @param      path     the file.
 * @param[out] source   the source; destroy it with purlin_source_destroy. It keeps the file open.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, empty path),
 * `PURLIN_ERROR_IO` (no such file, no .npy file, elements that are objects, structures, text or long
 * doubles, no or more than 4 axes, too short), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `path` is NULL or a terminated string, `source` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_source_from_npy(const struct purlin_context *context,
                                     const char *path,
                                     struct purlin_source **source);

/**
 * A source over a MetaImage: an .mha file, or an .mhd header with its raw file. Uncompressed, of one channel.
 *
 * @param      context  the context it belongs to.
 * @param      path     the file.
 * @param[out] source   the source; destroy it with purlin_source_destroy. Its sizes, spacing and origin are in
 *                      purlin_source_info.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, empty path),
 * `PURLIN_ERROR_IO` (no such file, no MetaImage, compressed, several channels, scaled values, a key twice, too short),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `path` is NULL or a terminated string, `source` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_source_from_metaimage(const struct purlin_context *context,
                                           const char *path,
                                           struct purlin_source **source);

/**
 * A source over TIFF files: three axes, [width, height, pages]. The pages of all files follow one another in the order
 * given; all have one size and one type. A stack as ImageJ writes it beyond 4 GiB, with one directory and a description
 * that counts the images behind the first, has as many pages.
 *
 * @param      context  the context it belongs to.
 * @param      count    number of files, at least 1.
 * @param[in]  paths    `count` files of one or more pages each: grey, 8-, 16- or 32-bit integers or 32- or 64-bit
 *                      floats, in strips or tiles.
 * @param[out] source   the source; destroy it with purlin_source_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (count, NULL pointer, empty
 * path), `PURLIN_ERROR_IO` (no such file, no TIFF of a kind named above, pages that differ, images of such a stack that
 * are not there or are compressed; the message names the file and page), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `paths` is NULL or valid for `count` pointers to terminated strings, `source` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_source_from_tiff(const struct purlin_context *context,
                                      int64_t count,
                                      const char *const *paths,
                                      struct purlin_source **source);

/**
 * A source whose elements a caller's function delivers, as they are asked for: each run asks for each block it needs,
 * mostly in order, some of them more than once.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type; no 64-bit integers.
 * @param      ndim     number of axes, 1 to 4.
 * @param[in]  dims     `ndim` sizes, fastest first, not negative.
 * @param      read     the function.
 * @param      user     handed to `read`.
 * @param[out] source   the source; destroy it with purlin_source_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, negative size, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `read` may be called with `user` from any thread while the source lives; `dims` is NULL or valid for `ndim`
 * elements, `source` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_source_from_callback(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          int64_t ndim,
                                          const int64_t *dims,
                                          purlin_read_fn read,
                                          void *user,
                                          struct purlin_source **source);

/**
 * Type, sizes and, where a file says so, the order and the place in space of a source's array.
 *
 * @param      source  the source.
 * @param[out] info    filled in; initialize it with purlin_array_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size), `PURLIN_ERROR_BUSY` (a run reads from it).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_source_info(const struct purlin_source *source,
                                 struct purlin_array_info *info);

/**
 * Destroys a source and closes its file. A run that reads from it goes on to its end.
 *
 * @param source  the source; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_source_destroy(struct purlin_source *source);

/**
 * A sink that writes to a tensor, which it keeps alive. During a run the tensor is locked for that run alone. After a
 * run that failed its elements are unspecified.
 *
 * @param      context  the context of the tensor.
 * @param      tensor   dense, of 1 to 4 axes, any strides, on the host or the device; no 64-bit integers.
 *                      Integers are rounded to the nearest and held to their range, NaN becomes 0 in them.
 * @param[out] sink     the sink; destroy it with purlin_sink_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a symmetric
 * batch, number of axes, read-only, another context), `PURLIN_ERROR_NOT_SUPPORTED` (element type),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `sink` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_sink_to_tensor(const struct purlin_context *context,
                                    struct purlin_tensor *tensor,
                                    struct purlin_sink **sink);

/**
 * A sink that writes a raw file: elements from some byte on, packed, the first axis fastest.
 *
 * @param      context     the context it belongs to.
 * @param      path        the file; one of that name is replaced when the run has succeeded.
 * @param      offset      zero bytes before the first element, not negative.
 * @param      dtype       element type; no 64-bit integers. Integers are rounded to the nearest and held to
 *                         their range, NaN becomes 0 in them.
 * @param      endianness  PURLIN_LITTLE_ENDIAN or PURLIN_BIG_ENDIAN.
 * @param      ndim        number of axes, 1 to 4.
 * @param[in]  dims        `ndim` sizes, fastest first, not negative.
 * @param[out] sink        the sink; destroy it with purlin_sink_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, negative number, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type), `PURLIN_ERROR_IO` (no
 * file can be made there, or not of that size), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `path` is NULL or a terminated string, `dims` is NULL or valid for `ndim` elements, `sink` is NULL or valid for
 * writing.
 */
PURLIN_MUST_USE
purlin_status purlin_sink_to_file(const struct purlin_context *context,
                                  const char *path,
                                  int64_t offset,
                                  purlin_dtype dtype,
                                  int32_t endianness,
                                  int64_t ndim,
                                  const int64_t *dims,
                                  struct purlin_sink **sink);

/**
 * A sink that writes a MetaImage, which ITK, RTK and 3D Slicer read: one .mha file, or for a name that ends in .mhd a
 * header beside a .raw file. The header gets its name last. A .raw file that is there, or comes while the run is under
 * way, is only replaced (else `PURLIN_ERROR_IO`) if a .mhd file says that it holds its elements: it may be something else.
 * Where the name is a link, the file that it names decides: the .raw file stands beside that one, and another file of
 * its name beside the link is refused, because readers would take it.
 *
 * @param      context  the context it belongs to.
 * @param      path     the file; one of that name is replaced when the run has succeeded.
 * @param      dtype    element type, as purlin_sink_to_file, but not `PURLIN_F16`, which ITK's MetaImages do not have.
 * @param      ndim     number of axes, 1 to 4.
 * @param[in]  dims     `ndim` sizes, fastest first, not negative.
 * @param[in]  spacing  `ndim` distances of two elements, mm, positive; NULL for those of the grid where a reconstruction
 *                      writes its volume, else 1.
 * @param[in]  origin   `ndim` coordinates of the first element's centre, mm; NULL for that of the grid likewise, else 0.
 * @param[out] sink     the sink; destroy it with purlin_sink_destroy.
 * @return as purlin_sink_to_file; `PURLIN_ERROR_INVALID_ARGUMENT` also for spacings that are not positive and numbers
 * that are not finite.
 *
 * @pre `path` is NULL or a terminated string; `dims`, `spacing` and `origin` are NULL or valid for `ndim` elements; `sink`
 * is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_sink_to_metaimage(const struct purlin_context *context,
                                       const char *path,
                                       purlin_dtype dtype,
                                       int64_t ndim,
                                       const int64_t *dims,
                                       const double *spacing,
                                       const double *origin,
                                       struct purlin_sink **sink);

/**
 * A sink that writes one TIFF file of one page for each slice, grey, uncompressed; BigTIFF above 4 GiB.
 *
 * @param      context  the context it belongs to.
 * @param      path     the file; one of that name is replaced when the run has succeeded.
 * @param      dtype    element type, as purlin_sink_to_file.
 * @param      width    pixels of a row, at least 1: the first axis.
 * @param      height   rows of a page, at least 1: the second axis.
 * @param      pages    number of pages, at least 1: the third axis.
 * @param[out] sink     the sink; destroy it with purlin_sink_destroy.
 * @return as purlin_sink_to_file.
 *
 * @pre `path` is NULL or a terminated string, `sink` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_sink_to_tiff(const struct purlin_context *context,
                                  const char *path,
                                  purlin_dtype dtype,
                                  int64_t width,
                                  int64_t height,
                                  int64_t pages,
                                  struct purlin_sink **sink);

/**
 * A sink whose elements a caller's function takes, block after block.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    element type, as purlin_sink_to_file.
 * @param      ndim     number of axes, 1 to 4.
 * @param[in]  dims     `ndim` sizes, fastest first, not negative.
 * @param      write    the function.
 * @param      user     handed to `write`.
 * @param[out] sink     the sink; destroy it with purlin_sink_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, negative size, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (element type),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `write` may be called with `user` from any thread while the sink lives; `dims` is NULL or valid for `ndim` elements,
 * `sink` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_sink_to_callback(const struct purlin_context *context,
                                      purlin_dtype dtype,
                                      int64_t ndim,
                                      const int64_t *dims,
                                      purlin_write_fn write,
                                      void *user,
                                      struct purlin_sink **sink);

/**
 * Destroys a sink; a file that no run has finished goes with it. A run that writes to it goes on to its end.
 *
 * @param sink  the sink; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_sink_destroy(struct purlin_sink *sink);

/**
 * Sets `struct_size` and zeroes the rest: every length and size has to be given.
 *
 * @param[out] geometry  the struct.
 * @param      size      `sizeof *geometry`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `geometry` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_geometry_init(struct purlin_fdk_geometry *geometry,
                                       size_t size);

/**
 * Sets `struct_size` and zeroes the rest: the standard grid.
 *
 * @param[out] grid  the struct.
 * @param      size  `sizeof *grid`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `grid` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_grid_init(struct purlin_fdk_grid *grid,
                                   size_t size);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_options_init(struct purlin_fdk_options *options,
                                      size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_info_init(struct purlin_fdk_info *info,
                                   size_t size);

/**
 * Makes a reconstruction: cone-beam filtered back-projection after Feldkamp, Davis and Kress (J. Opt. Soc. Am. A 1,
 * 1984). Everything that does not depend on the projections is checked and prepared here.
 *
 * Projections are line integrals of the attenuation, [detector_columns, detector_rows, views], the columns fastest;
 * volumes are [nx, ny, nz], x fastest, in 1/mm. The same build, device model, input and options give the same bits,
 * for any number of threads and devices and any memory limit.
 *
 * @param      context   the context to run on; `options->group` has more.
 * @param      geometry  panel and views; its arrays are read here and not kept.
 * @param      grid      the voxels; NULL for the standard grid.
 * @param      options   NULL for the defaults.
 * @param[out] fdk       the reconstruction; destroy it with purlin_fdk_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * unknown constant, a length that is not positive or outside 1e-12 to 1e12 mm, in F64 precision 1e-60 to 1e60 mm, an
 * angle that is not finite, a matrix that is singular or not finite: the message names the view; a shift of more than
 * 1000 times `source_to_detector`; both or neither of angles and matrices; a shift of the panel together with
 * matrices, which hold it; a grid that reaches the source of a view; an arc of less than 180 degrees or a half fan
 * that does not reach far enough beyond the axis; a full circle with a gap; a panel whose rows, or an orbit that,
 * stand at more than 45 degrees to the plane across z, since rows are filtered; cut-off not above 0 or above 1;
 * truncation outside 0 to 1; an option that can have no effect: distances beside matrices, spacing or origin without
 * sizes of the grid, `allow_short_arc` with HALF_FAN or NONE, a truncation of less than half a column, and window,
 * cut-off, truncation, redundancy, transform length or `allow_short_arc` in RabbitCT mode; a group that begins with
 * another context), `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre The structs are NULL or initialized, the arrays of `geometry` NULL or valid for the sizes in it; `fdk` is NULL or
 * valid for writing; `options->progress` may be called with its user pointer while the object lives.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_create(const struct purlin_context *context,
                                const struct purlin_fdk_geometry *geometry,
                                const struct purlin_fdk_grid *grid,
                                const struct purlin_fdk_options *options,
                                struct purlin_fdk **fdk);

/**
 * Destroys a reconstruction. A call that runs goes on to its end.
 *
 * @param fdk  the reconstruction; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_fdk_destroy(struct purlin_fdk *fdk);

/**
 * The choices that were made, and the plan of a run from a source to a sink. A run with arrays takes less memory, and
 * may fit where this plan has no slabs. From purlin_fdk_begin until the volume of that scan has been handed over, or
 * the scan was cancelled or dropped after a failure, the plan is that of the scan, and `views_pushed` moves on with
 * every push. Counts, bytes and times of a run are 0. May be called from any thread while another call runs: it does
 * not wait, and gives the plan from before that call.
 *
 * @param      fdk   the reconstruction.
 * @param[out] info  filled in; initialize it with purlin_fdk_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_plan(const struct purlin_fdk *fdk,
                              struct purlin_fdk_info *info);

/**
 * Report of the last run of a reconstruction, of a whole scan or of one that was pushed: the `info` of the call that
 * ended it with `PURLIN_SUCCESS`. A run that is under way, or that failed, changes nothing. May be called from any
 * thread; it waits for nothing.
 *
 * @param      fdk   the reconstruction.
 * @param[out] info  filled in; initialize it with purlin_fdk_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * no run that ended so).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_last_info(const struct purlin_fdk *fdk,
                                   struct purlin_fdk_info *info);

/**
 * The weights that a scan is reconstructed with, in f64. O(columns views).
 *
 * Where the reconstruction scales the angular weights of a short scan, because it exceeds 180 degrees by less than a
 * step of its views, `angular` has the scaled ones: `angular` times `redundancy`, summed over the views, is pi on the
 * axis. PURLIN_FDK_MODE_RABBITCT applies neither of the two weights.
 *
 * Where the columns of the panel are not parallel to the axis (rolled, or pitched and off the middle), each pixel of a
 * short scan or half fan has a weight of its own: here stands that of the ray through each column in the plane of the
 * orbit, or in the panel's nearest row. purlin_fdk_weight applies that of each pixel.
 *
 * @param fdk         the reconstruction.
 * @param redundancy  F64 on the host, detector_columns x views: the weights of rays that are measured twice; may be
 *                    NULL.
 * @param angular     F64 on the host, views: the weight of each view, rad, which is half of the gaps to its neighbours,
 *                    scaled as said above; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (dimensions, type,
 * read-only, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_BUSY`.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_weights(const struct purlin_fdk *fdk,
                                 struct purlin_tensor *redundancy,
                                 struct purlin_tensor *angular);

/**
 * Says that the input of later runs is raw counts, which become line integrals on the way in: -ln(max(I - dark,
 * epsilon) / max(I0 - dark, epsilon)). A count less dark that is below epsilon, zero and negative ones included, is
 * raised to it and counted in `pixels_clamped`; one above I0 less dark keeps its negative line integral and is counted
 * in `pixels_negative`; one that is not finite, of either sign, is a pixel that is not finite. Counts of U32, I32 and
 * F64, and counts beside an image that F32 does not hold exactly, are subtracted in double precision. Counts whose
 * differences or quotient are out of the range of F32 are converted in double precision. One pixel at least has an I0
 * above its dark count. One pass over the images; each later run computes one logarithm for each pixel of its views.
 *
 * @param fdk       the reconstruction; no scan is being pushed.
 * @param i0        counts without an object, positive; 0 where `i0_image` is given. 0 with NULL images: the input is line
 *                  integrals again, and `epsilon` is 0.
 * @param i0_image  counts without an object, F32 or F64, detector_columns x detector_rows, on the host, copied; NULL for
 *                  `i0`.
 * @param dark      counts without radiation, as `i0_image`; NULL for 0.
 * @param epsilon   least count that a logarithm is taken of, 1.18e-38 to 3.40e38 (the normal numbers of F32); 0 for
 *                  half a count.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (numbers, dimensions, type,
 * while a scan is being pushed), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_set_counts(struct purlin_fdk *fdk,
                                    double i0,
                                    const struct purlin_tensor *i0_image,
                                    const struct purlin_tensor *dark,
                                    double epsilon);

/**
 * Reconstructs a scan that a source delivers into a volume that a sink takes. Neither need fit in memory: the volume
 * is cut into slabs inside the memory limits of the contexts and the memory that is free, on the host and on devices.
 * A slab takes only the panel rows that it is seen through; reading, copies, arithmetic and writing overlap. O(views
 * voxels) for the back-projection and O(log columns) a pixel for the filter; with several slabs about 1.3 times the
 * scan is read.
 *
 * @param      fdk          the reconstruction; a scan that is being pushed is not touched.
 * @param      stream       NULL for the context's own.
 * @param      projections  source of [detector_columns, detector_rows, views]: line integrals, or counts after
 *                          purlin_fdk_set_counts; of any element type.
 * @param      volume       sink of [nx, ny, nz], of any element type. One to a MetaImage without spacing or origin gets
 *                          those of the grid.
 * @param[out] info         report of the call; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (dimensions, another
 * context, a sink that is used up or goes to a file of `projections`, overlap, struct_size, an `output_scale` or
 * `output_offset` that the volume's type does not take), `PURLIN_ERROR_NUMERICAL` (voxels beyond the range of the
 * volume's type: the message says how many), `PURLIN_ERROR_BUSY` (an object or its tensor is in use),
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_IO` (a file, or an error that the caller's function returned),
 * `PURLIN_ERROR_OUT_OF_MEMORY` and `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest slab fits; the message says
 * how many bytes are needed), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory), `PURLIN_ERROR_CUDA`. After a failure
 * the object is ready for another run.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_reconstruct_to_sink(struct purlin_fdk *fdk,
                                             const struct purlin_stream *stream,
                                             struct purlin_source *projections,
                                             struct purlin_sink *volume,
                                             struct purlin_fdk_info *info);

/**
 * The same as purlin_fdk_reconstruct_to_sink, from a tensor to a tensor. Host tensors are complete on return, device
 * tensors in the order of the stream. It costs the same.
 *
 * @param      fdk          the reconstruction; a scan that is being pushed is not touched.
 * @param      stream       NULL for the context's own.
 * @param      projections  detector_columns x detector_rows x views: line integrals, or counts after
 *                          purlin_fdk_set_counts; any element type but complex and 64-bit integers; any strides on the
 *                          host, packed on the device.
 * @param      volume       nx x ny x nz, likewise; integers are rounded to the nearest and held to their range.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_fdk_reconstruct_to_sink.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_reconstruct(struct purlin_fdk *fdk,
                                     const struct purlin_stream *stream,
                                     const struct purlin_tensor *projections,
                                     struct purlin_tensor *volume,
                                     struct purlin_fdk_info *info);

/**
 * purlin_fdk_reconstruct by an object for this run alone: purlin_fdk_create, purlin_fdk_reconstruct,
 * purlin_fdk_destroy.
 *
 * @param      context      the context of the tensors.
 * @param      stream       NULL for the context's own.
 * @param      projections  as for purlin_fdk_reconstruct: line integrals.
 * @param      geometry     as for purlin_fdk_create.
 * @param      grid         likewise; NULL for the standard grid.
 * @param      options      NULL for the defaults.
 * @param      volume       as for purlin_fdk_reconstruct.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_fdk_create and purlin_fdk_reconstruct.
 *
 * @pre The structs are NULL or initialized, the arrays of `geometry` NULL or valid for the sizes in it.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_reconstruct_once(const struct purlin_context *context,
                                          const struct purlin_stream *stream,
                                          const struct purlin_tensor *projections,
                                          const struct purlin_fdk_geometry *geometry,
                                          const struct purlin_fdk_grid *grid,
                                          const struct purlin_fdk_options *options,
                                          struct purlin_tensor *volume,
                                          struct purlin_fdk_info *info);

/**
 * Begins a scan whose views are pushed as they are measured: allocates the memory of the volume. A scan that was begun
 * before and not finished is dropped.
 *
 * @param fdk     the reconstruction.
 * @param stream  the scan's work is enqueued there; it is kept until the scan is over. NULL for the context's own.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a stream of another
 * context), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_begin(struct purlin_fdk *fdk,
                               const struct purlin_stream *stream);

/**
 * Pushes views of the scan, in any order and any number at a time, from any thread, one call at a time. The pixels
 * are copied; the call returns before the device is done with them, and waits only while all its buffers are in use.
 * Views are weighted, filtered and back-projected in batches: pushed in order, the volume has the bits of
 * purlin_fdk_reconstruct_to_sink; in another order it differs by rounding. O(voxels) a view.
 *
 * @param     fdk          the reconstruction, after purlin_fdk_begin.
 * @param     count        number of views, not negative.
 * @param[in] views        `count` numbers of views, 0 to the number of views less 1, each pushed once in a scan.
 * @param     projections  detector_columns x detector_rows x `count`, or for one view detector_columns x
 *                         detector_rows, as purlin_fdk_reconstruct; of one element type in the whole scan.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (no scan was begun; a view
 * out of range, given twice or pushed before: the message names it; dimensions; another type than before. Nothing is
 * taken), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (by the progress function or purlin_fdk_cancel since the
 * begin; later pushes and finishes say so too, until the next begin), `PURLIN_ERROR_NOT_SUPPORTED` (element type;
 * projections on a device that are strided, that several contexts share, or of a scan kept as line integrals),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`. After a failure other than of its arguments the scan is dropped.
 *
 * @pre `views` is NULL or valid for `count` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_push(struct purlin_fdk *fdk,
                              int64_t count,
                              const int64_t *views,
                              const struct purlin_tensor *projections);

/**
 * Ends the scan and hands its volume to a sink. The object is then ready for another scan.
 *
 * A scan is only given up when its volume has been handed over, when it was cancelled, and after a failure of the
 * device: after any other failure, such as a full disk, it is kept for another finish.
 *
 * @param      fdk     the reconstruction, after purlin_fdk_begin.
 * @param      volume  sink of [nx, ny, nz], of any element type.
 * @param[out] info    report of the call; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (no scan was begun; a view
 * was not pushed, which the message names, unless `allow_missing` is set; dimensions; another context; a sink that is
 * used up; `output_scale` and `output_offset`), `PURLIN_ERROR_NUMERICAL` (as purlin_fdk_reconstruct_to_sink),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_IO`, `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_NOT_SUPPORTED`: the scan is kept. `PURLIN_ERROR_CANCELLED` (by the
 * progress function or by purlin_fdk_cancel since the begin, whether views are missing or not), `PURLIN_ERROR_CUDA`: the
 * scan is dropped.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_finish_to_sink(struct purlin_fdk *fdk,
                                        struct purlin_sink *volume,
                                        struct purlin_fdk_info *info);

/**
 * The same as purlin_fdk_finish_to_sink, into a tensor.
 *
 * @param      fdk     the reconstruction, after purlin_fdk_begin.
 * @param      volume  nx x ny x nz, as purlin_fdk_reconstruct.
 * @param[out] info    report of the call; may be NULL.
 * @return as purlin_fdk_finish_to_sink.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_finish(struct purlin_fdk *fdk,
                                struct purlin_tensor *volume,
                                struct purlin_fdk_info *info);

/**
 * Cancels the call that runs on a reconstruction, which then returns `PURLIN_ERROR_CANCELLED` within one batch of its
 * work, on the CPU within a part of a batch, and drops a scan that is being pushed: pushes and finishes return
 * `PURLIN_ERROR_CANCELLED` until the next begin. On the host it also ends a single step (purlin_fdk_weight, _filter,
 * _backproject, _ellipsoids and _ellipsoid_volume) that runs. If no call of the object runs, the scan's memory is free on
 * return. Later runs are not touched. May be called from any thread and from a progress function; it waits for nothing.
 *
 * @param fdk  the reconstruction.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_cancel(const struct purlin_fdk *fdk);

/**
 * Raw counts to line integrals: -ln(max(I - dark, epsilon) / max(I0 - dark, epsilon)) at every pixel. A count below
 * epsilon is raised to it and counted, zero and negative ones included; one above I0 keeps its negative line
 * integral. A count that is not finite, of either sign, gives NaN, and the log has one warning with the number of
 * them. Counts of U32, I32 and F64, and counts beside an image that F32 does not hold exactly, are subtracted in
 * double precision. Counts whose differences or quotient are out of the range of F32 are converted in double
 * precision: every finite count has a finite line integral. One pixel at least has an I0 above its dark count. O(1) a
 * pixel.
 *
 * @param      context      the context of all tensors.
 * @param      stream       NULL for the context's own.
 * @param      counts       columns x rows x views (or columns x rows); any type but complex and 64-bit integers.
 * @param      i0           counts without an object, positive; 0 where `i0_image` is given.
 * @param      i0_image     counts without an object, F32 or F64, columns x rows; NULL for `i0`.
 * @param      dark         counts without radiation, F32 or F64, columns x rows; NULL for 0.
 * @param      epsilon      least count that a logarithm is taken of, 1.18e-38 to 3.40e38 (the normal numbers of F32); 0 for
 *                          half a count.
 * @param      projections  F32, the dimensions of `counts`.
 * @param[out] clamped      how many counts were raised; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (numbers, dimensions,
 * types, read-only `projections`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (element type of `counts`;
 * strided memory or memory of the device, where the context's backend takes none), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_CANCELLED` (on the host, which leaves some rows converted), `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 *
 * @pre `clamped` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_log_transform(const struct purlin_context *context,
                                       const struct purlin_stream *stream,
                                       const struct purlin_tensor *counts,
                                       double i0,
                                       const struct purlin_tensor *i0_image,
                                       const struct purlin_tensor *dark,
                                       double epsilon,
                                       struct purlin_tensor *projections,
                                       int64_t *clamped);

/**
 * Cosine and redundancy weights: every pixel times the cosine of the angle between its ray and the central one, and
 * the weight of rays that are measured twice. A pixel that is not finite becomes NaN. It is not counted here:
 * purlin_fdk_filter counts it. O(1) a pixel.
 *
 * @param     fdk          the reconstruction.
 * @param     stream       NULL for the context's own.
 * @param     count        number of views, not negative.
 * @param[in] views        `count` numbers of views.
 * @param     projections  F32, detector_columns x detector_rows x `count`.
 * @param     weighted     F32, the same dimensions.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a view out of range,
 * dimensions, types, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided memory or memory of the device,
 * where the context's backend takes none), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (on the host, which leaves some
 * rows of the output written), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `views` is NULL or valid for `count` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_weight(const struct purlin_fdk *fdk,
                                const struct purlin_stream *stream,
                                int64_t count,
                                const int64_t *views,
                                const struct purlin_tensor *projections,
                                struct purlin_tensor *weighted);

/**
 * The ramp filter along the rows, with the window, cut-off and truncation of the options; no weights. A half fan's
 * rows come out longer than they went in: `filtered_columns` and `filtered_left` of purlin_fdk_info. By fast Fourier
 * transforms, O(log columns) a pixel.
 *
 * Column `i` of a filtered row stands for panel column `i` - `filtered_left`. The unit is that of the projections over
 * mm, at the panel's column pitch. A number that is not finite, or too large for the sums of F32, makes
 * its row NaN, and on a GPU the one that is filtered with it; with `sanitize` it counts as 0. The log has one warning
 * with the number of them. Arrays on a device are filtered in the order of the stream, but the call waits for that
 * number.
 *
 * @param     fdk       the reconstruction.
 * @param     stream    NULL for the context's own.
 * @param     count     number of views, not negative.
 * @param[in] views     `count` numbers of views.
 * @param     weighted  F32, detector_columns x detector_rows x `count`.
 * @param     filtered  F32, filtered_columns x detector_rows x `count`.
 * @return as purlin_fdk_weight; `PURLIN_ERROR_NOT_SUPPORTED` also for arrays on a device with PURLIN_FDK_PRECISION_F64,
 * whose filter runs on the CPU.
 *
 * @pre `views` is NULL or valid for `count` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_filter(const struct purlin_fdk *fdk,
                                const struct purlin_stream *stream,
                                int64_t count,
                                const int64_t *views,
                                const struct purlin_tensor *weighted,
                                struct purlin_tensor *filtered);

/**
 * Back-projection: adds to every voxel its value in each filtered view, interpolated where the voxel projects, times
 * the distance and angular weight of that view. The volume is not scaled. O(voxels) a view.
 *
 * @param     fdk       the reconstruction.
 * @param     stream    NULL for the context's own.
 * @param     count     number of views, not negative.
 * @param[in] views     `count` numbers of views.
 * @param     filtered  F32, filtered_columns x detector_rows x `count`.
 * @param     volume    F32, nx x ny x nz; added to.
 * @return as purlin_fdk_weight; `PURLIN_ERROR_CANCELLED` leaves parts of the sum in the volume.
 *
 * @pre `views` is NULL or valid for `count` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_backproject(const struct purlin_fdk *fdk,
                                     const struct purlin_stream *stream,
                                     int64_t count,
                                     const int64_t *views,
                                     const struct purlin_tensor *filtered,
                                     struct purlin_tensor *volume);

/**
 * Exact line integrals of ellipsoids at the centre of every pixel of every view: projections of a test object whose
 * reconstruction is known. O(E) a pixel.
 *
 * @param fdk          the reconstruction.
 * @param stream       NULL for the context's own.
 * @param ellipsoids   F64 on the host, 8 x E: density (1/mm), semi-axes a, b, c (mm), centre x0, y0, z0 (mm), rotation
 *                     about z (rad, counter-clockwise). Densities add up where ellipsoids overlap.
 * @param projections  F32, detector_columns x detector_rows x views.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (an ellipsoid without size
 * or with a number that is not finite: the message names its column; dimensions, types, another context, overlap),
 * `PURLIN_ERROR_NOT_SUPPORTED` (strided memory or memory of the device, where the context's backend takes none),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (on the host, within a view or slice), `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_ellipsoids(const struct purlin_fdk *fdk,
                                    const struct purlin_stream *stream,
                                    const struct purlin_tensor *ellipsoids,
                                    struct purlin_tensor *projections);

/**
 * The three-dimensional Shepp-Logan head of ten ellipsoids (Kak and Slaney, Principles of Computerized Tomographic
 * Imaging, 1988, table 3.1), with densities raised for contrast: 1 in the skull, 0.2 in the brain.
 *
 * @param radius      radius of the ball that holds the head, mm, positive.
 * @param ellipsoids  F64 on the host, 8 x 10, as purlin_fdk_ellipsoids takes.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (radius, dimensions, type,
 * read-only), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_BUSY`.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_shepp_logan(double radius,
                                     struct purlin_tensor *ellipsoids);

/**
 * The ellipsoids themselves, sampled at the centres of the voxels: the exact volume that a reconstruction
 * approximates. O(E) a voxel.
 *
 * @param fdk         the reconstruction.
 * @param ellipsoids  as purlin_fdk_ellipsoids.
 * @param volume      F32 on the host, nx x ny x nz.
 * @return as purlin_fdk_ellipsoids.
 */
PURLIN_MUST_USE
purlin_status purlin_fdk_ellipsoid_volume(const struct purlin_fdk *fdk,
                                          const struct purlin_tensor *ellipsoids,
                                          struct purlin_tensor *volume);

/**
 * A matrix that is read in blocks from a source, as often as a function goes over it. It shares the source, whose
 * handle may be destroyed before or used for other matrices; one run at a time reads it.
 *
 * A source over a function of the caller's is a reader of blocks of rows (PURLIN_ROW_MAJOR) or of columns (0). All
 * axes of a source but the last count as one: a stack of images is a matrix with an image a column (0) or a row.
 *
 * @param      context  the context of the source.
 * @param      source   of two to four axes and any element type; a tensor's must be on the host.
 * @param      flags    0: the source's dimensions are [rows, cols], a column is contiguous; PURLIN_ROW_MAJOR: [cols,
 *                      rows], a row is.
 * @param[out] matrix   the matrix, read-only, of the source's element type; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, flags,
 * number of axes, another context), `PURLIN_ERROR_NOT_SUPPORTED` (a tensor on the device), `PURLIN_ERROR_BUSY` (a run
 * reads from it), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `matrix` is NULL or valid for writing; the promises made for the source hold while the matrix lives.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_from_source(const struct purlin_context *context,
                                        const struct purlin_source *source,
                                        purlin_flags flags,
                                        struct purlin_matrix **matrix);

/**
 * A matrix that is known by its products with vectors.
 *
 * With products on the device the eigensolvers keep their vectors there and do not wait for a product; for methods on
 * host vectors (randomized decompositions) the vectors are copied.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     element type of the vectors: PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      rows      number of rows, not negative.
 * @param      cols      number of columns, not negative.
 * @param      apply     the function.
 * @param      user      handed to `apply`.
 * @param      location  where `apply` takes the vectors: PURLIN_HOST, or PURLIN_DEVICE in a context on a GPU.
 * @param[out] matrix    the matrix, read-only; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, element type, negative size, more than 2^63 bytes), `PURLIN_ERROR_NOT_SUPPORTED` (vectors on
 * the device, the context is on the CPU), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `apply` may be called with `user` from any thread while the matrix lives; `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_from_operator(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          int64_t rows,
                                          int64_t cols,
                                          purlin_apply_fn apply,
                                          void *user,
                                          purlin_location location,
                                          struct purlin_matrix **matrix);

/**
 * Writes the defaults. `rank` or `tolerance` has to be set besides.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_options_init(struct purlin_rsvd_options *options,
                                       size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_info_init(struct purlin_rsvd_info *info,
                                    size_t size);

/**
 * Makes a decomposition: A = U diag(s) V^H to rank k by random projection (Halko, Martinsson, Tropp, SIAM Review 53,
 * 2011) of a matrix that need not fit the device, nor the host. The methods, their cost in passes over the data and
 * their sources are at PURLIN_RSVD_METHOD_*.
 *
 * The same build, device model, input and options give the same bits. Random numbers follow from the seed and their
 * place alone (Philox 4x32-10): blocks, threads and devices see the same sketch.
 *
 * @param      context  the context to run on; `options->group` has more.
 * @param      options  NULL for the defaults, which have no rank and no tolerance: only good for purlin_rsvd_range,
 *                      purlin_rsvd_error and purlin_rsvd_sketch.
 * @param[out] rsvd     the decomposition; destroy it with purlin_rsvd_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * unknown constant, a negative size, a tolerance or ratio below 0 or not less than 1, `scale` without CENTER_COLUMNS,
 * `one_pass` without MERGE, a group on the CPU or that begins with another context), `PURLIN_ERROR_NOT_SUPPORTED` (an
 * option that this library does not know, a restart file with a tolerance), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `options` is NULL or initialized, its `restart_path` NULL or a terminated string; `rsvd` is NULL or valid for
 * writing; `options->progress` may be called with its user pointer while the object lives.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_create(const struct purlin_context *context,
                                 const struct purlin_rsvd_options *options,
                                 struct purlin_rsvd **rsvd);

/**
 * Destroys a decomposition. A call that runs goes on to its end.
 *
 * @param rsvd  the decomposition; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_rsvd_destroy(struct purlin_rsvd *rsvd);

/**
 * Cancels the call that runs on a decomposition, which then returns `PURLIN_ERROR_CANCELLED` within one block of its
 * work. Later calls are not touched. May be called from any thread and from a progress function; it waits for nothing.
 *
 * @param rsvd  the decomposition.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_cancel(const struct purlin_rsvd *rsvd);

/**
 * Gives the sketch that later calls use instead of a drawn one. It multiplies A from the right, also where the library
 * would have worked on A^H.
 *
 * @param rsvd   the decomposition.
 * @param omega  dense, on the host, of the type that is computed with; as many rows as A has columns, and at least l
 *               columns. The first l are used, and copied. NULL: sketches are drawn again.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (element type, another
 * context, an entry that is not finite), `PURLIN_ERROR_NOT_SUPPORTED` (storage, device memory), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_CANCELLED` (by purlin_context_cancel; the sketch stays as it was), `PURLIN_ERROR_OUT_OF_MEMORY`.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_set_sketch(struct purlin_rsvd *rsvd,
                                     const struct purlin_matrix *omega);

/**
 * The plan of purlin_rsvd_compute for a matrix: the method and why, passes, blocks, bytes and seconds. No entry is
 * read.
 *
 * @param      rsvd    the decomposition.
 * @param      a       the matrix, of any storage.
 * @param      with_u  1 for a run with U, 0 for one without, which may take less memory.
 * @param      with_v  1 for a run with V, 0 for one without.
 * @param[out] info    filled in; initialize it with purlin_rsvd_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * the arguments that purlin_rsvd_compute refuses), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY` and
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest block fits), `PURLIN_ERROR_CUDA`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_plan(const struct purlin_rsvd *rsvd,
                               const struct purlin_matrix *a,
                               int32_t with_u,
                               int32_t with_v,
                               struct purlin_rsvd_info *info);

/**
 * Report of the last run of a decomposition that ended with `PURLIN_SUCCESS` or `PURLIN_ERROR_NO_CONVERGENCE`: the
 * `info` of that call, of purlin_pca_fit too. A run that is under way, or that ended in another way, changes nothing.
 * May be called from any thread; it does not wait.
 *
 * @param      rsvd  the decomposition.
 * @param[out] info  filled in; initialize it with purlin_rsvd_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * no run that ended so).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_last_info(const struct purlin_rsvd *rsvd,
                                    struct purlin_rsvd_info *info);

/**
 * Fills a matrix with the sketch that the options draw, also where purlin_rsvd_set_sketch gave another: entry (i, j)
 * is the same for every matrix with more than i columns. O(1) an entry.
 *
 * @param      rsvd    the decomposition; `sketch` and `seed` of its options count.
 * @param      stream  NULL for the context's own.
 * @param      omega   dense, F32, F64, CF32 or CF64, of any size; on the host (complete on return) or the device.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (element type, read-only,
 * another context), `PURLIN_ERROR_NOT_SUPPORTED` (storage), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (also by
 * purlin_rsvd_cancel; may leave a part of `omega` written), `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_sketch(const struct purlin_rsvd *rsvd,
                                 const struct purlin_stream *stream,
                                 struct purlin_matrix *omega);

/**
 * Computes the leading k singular triplets: A = U diag(s) V^H, s not increasing and not negative, the columns of U and
 * V orthonormal also where A has a lower rank. A matrix with more columns than rows is worked on as A^H, without a
 * copy.
 *
 * Costs 2 to 2q + 2 passes over A by method; a pass multiplies by l = k + oversampling columns, 2 m n l operations (4
 * where A and A^H are both applied). A matrix in host memory or a source is read in blocks of rows while the block
 * before is worked on; as many rows as fit stay on the device.
 *
 * With a tolerance the rank is the smallest found that meets it. The factors have `max_rank` columns, or min(m, n)
 * where that is 0: the first info.rank hold the result and the others are 0.
 *
 * @param      rsvd    the decomposition.
 * @param      stream  NULL for the context's own.
 * @param      a       m x n, of any storage and of any element type that a source may have; neither NaN nor infinite.
 * @param      u       dense, m x k, of the computing type, any order, on the host (complete on return) or the device
 *                     (in the order of the stream); NULL if not wanted, which may save a pass.
 * @param      s       k values, F64 or F32, on the host; NULL if not wanted.
 * @param      v       dense, n x k, or k x n with PURLIN_RSVD_VH, as `u`; NULL if not wanted.
 * @param[out] info    report of the call; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (rank 0 without a tolerance
 * or more than min(m, n); sizes, types, read-only outputs, overlap, another context, struct_size; a method that is not
 * for this call; a restart file of another run; an entry that is NaN or infinite: the message names the block; an
 * operator whose products with A^H are not those of the adjoint of A), `PURLIN_ERROR_BUSY` (an object or the matrix's
 * source is in use), `PURLIN_ERROR_NO_CONVERGENCE` (the tolerance is not met at the largest rank; the outputs hold
 * that rank), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_IO` (a file, or an error that the caller's function returned),
 * `PURLIN_ERROR_NOT_SUPPORTED` (a combination of storage, method and options that the message names),
 * `PURLIN_ERROR_NUMERICAL` (a result that its type does not hold: it overflows, or it counts and is below the normal
 * numbers), `PURLIN_ERROR_OUT_OF_MEMORY` and `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest block fits;
 * the message says how many bytes are needed), `PURLIN_ERROR_CUDA`. After a failure the object is ready for another
 * call.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_compute(struct purlin_rsvd *rsvd,
                                  const struct purlin_stream *stream,
                                  const struct purlin_matrix *a,
                                  struct purlin_matrix *u,
                                  struct purlin_tensor *s,
                                  struct purlin_matrix *v,
                                  struct purlin_rsvd_info *info);

/**
 * purlin_rsvd_compute by an object for this run alone: purlin_rsvd_create, purlin_rsvd_compute, purlin_rsvd_destroy.
 *
 * @param      context  the context of the matrices.
 * @param      stream   NULL for the context's own.
 * @param      a        as for purlin_rsvd_compute.
 * @param      options  NULL for the defaults, which have no rank and no tolerance.
 * @param      u        as for purlin_rsvd_compute; NULL if not wanted.
 * @param      s        likewise; NULL if not wanted.
 * @param      v        likewise; NULL if not wanted.
 * @param[out] info     report of the call; may be NULL.
 * @return as purlin_rsvd_create and purlin_rsvd_compute.
 *
 * @pre `options` and `info` are NULL or initialized structs, the `restart_path` of `options` is NULL or a terminated string.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_compute_once(const struct purlin_context *context,
                                       const struct purlin_stream *stream,
                                       const struct purlin_matrix *a,
                                       const struct purlin_rsvd_options *options,
                                       struct purlin_matrix *u,
                                       struct purlin_tensor *s,
                                       struct purlin_matrix *v,
                                       struct purlin_rsvd_info *info);

/**
 * Computes an orthonormal basis Q of the range of A, and B = Q^H A, so that A is close to Q B (the range finder of
 * Halko, Martinsson and Tropp). The number of columns is that of `q`: `rank` and `oversampling` are not used, nor is
 * `right`. The passes over A are those of the method, each with 2 m n l operations, or 4 where A and A^H are both
 * applied.
 *
 * @param      rsvd    the decomposition.
 * @param      stream  NULL for the context's own.
 * @param      a       m x n, as for purlin_rsvd_compute.
 * @param      q       dense, m x l, l at most min(m, n), as `u` of purlin_rsvd_compute.
 * @param      b       dense, l x n, likewise; NULL if not wanted.
 * @param[out] info    report of the call; may be NULL.
 * @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for options that such a basis does not use: a
 * `method` other than AUTO and RANGE, `smallest_ratio`, a `sign` other than V_MAX, PROBES and POWER of `error`;
 * `PURLIN_ERROR_NOT_SUPPORTED` also for a tolerance and a restart file.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_range(struct purlin_rsvd *rsvd,
                                const struct purlin_stream *stream,
                                const struct purlin_matrix *a,
                                struct purlin_matrix *q,
                                struct purlin_matrix *b,
                                struct purlin_rsvd_info *info);

/**
 * Computes the k eigenvalues of largest modulus of a Hermitian matrix, and their eigenvectors: A close to V
 * diag(lambda) V^H. Nystroem's method (PURLIN_RSVD_METHOD_NYSTROM) is the more accurate one for positive semidefinite
 * matrices, and for these alone. Only products with A are used. Its projection on the basis has to be Hermitian, to
 * rounding; of an operator to the next lower precision, 2^-17 in double precision. q + 1 passes over A, 2 with q = 0
 * and a method other than NYSTROM; each multiplies by l = k + oversampling columns, 2 n^2 l operations.
 *
 * @param      rsvd    the decomposition.
 * @param      stream  NULL for the context's own.
 * @param      a       n x n, as for purlin_rsvd_compute.
 * @param      lambda  k values by modulus, not increasing, F64 or F32, on the host; NULL if not wanted.
 * @param      v       dense, n x k, as `u` of purlin_rsvd_compute; NULL if not wanted.
 * @param[out] info    report of the call; may be NULL.
 * @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a matrix that is not square, and
 * `PURLIN_ERROR_NUMERICAL` for NYSTROM of a matrix that is not positive semidefinite, where that shows.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_symmetric(struct purlin_rsvd *rsvd,
                                    const struct purlin_stream *stream,
                                    const struct purlin_matrix *a,
                                    struct purlin_tensor *lambda,
                                    struct purlin_matrix *v,
                                    struct purlin_rsvd_info *info);

/**
 * Estimates how far U diag(s) V^H is from A, with `probes` random vectors of a stream of their own: one pass, or 11 if
 * the option `error` is PURLIN_RSVD_ERROR_POWER.
 *
 * @param      rsvd       the decomposition; its centring and scaling are those of A.
 * @param      stream     NULL for the context's own.
 * @param      a          m x n, as for purlin_rsvd_compute.
 * @param      u          dense, m x k, of the computing type.
 * @param      s          k values, F64 or F32, on the host.
 * @param      v          dense, n x k, or k x n with PURLIN_RSVD_VH.
 * @param[out] frobenius  estimate of ||A - U diag(s) V^H||_F, within 15 % for 10 probes.
 * @param[out] spectral   upper bound of the same in the spectral norm, false with a probability of 10^-probes and
 *                        mostly some 20 times too large (Halko, Martinsson, Tropp, section 4.3); with
 *                        PURLIN_RSVD_ERROR_POWER an estimate from below by power iteration instead; may be NULL.
 * @param[out] info       report of the call; may be NULL.
 * @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a NULL `frobenius`.
 *
 * @pre `frobenius` and `spectral` are NULL or valid for writing, `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_error(struct purlin_rsvd *rsvd,
                                const struct purlin_stream *stream,
                                const struct purlin_matrix *a,
                                const struct purlin_matrix *u,
                                const struct purlin_tensor *s,
                                const struct purlin_matrix *v,
                                double *frobenius,
                                double *spectral,
                                struct purlin_rsvd_info *info);

/**
 * Computes how well each triplet fulfils its two equations: two passes.
 *
 * @param      rsvd    the decomposition; its centring and scaling are those of A.
 * @param      stream  NULL for the context's own.
 * @param      a       m x n, as for purlin_rsvd_compute.
 * @param      u       dense, m x k, of the computing type.
 * @param      s       k values, F64 or F32, on the host.
 * @param      v       dense, n x k, or k x n with PURLIN_RSVD_VH.
 * @param      left    k values ||A v_j - s_j u_j||, F64 or F32, on the host.
 * @param      right   k values ||A^H u_j - s_j v_j||, likewise.
 * @param[out] info    report of the call; may be NULL.
 * @return as purlin_rsvd_compute.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rsvd_residuals(struct purlin_rsvd *rsvd,
                                    const struct purlin_stream *stream,
                                    const struct purlin_matrix *a,
                                    const struct purlin_matrix *u,
                                    const struct purlin_tensor *s,
                                    const struct purlin_matrix *v,
                                    struct purlin_tensor *left,
                                    struct purlin_tensor *right,
                                    struct purlin_rsvd_info *info);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_options_init(struct purlin_pca_options *options,
                                      size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_info_init(struct purlin_pca_info *info,
                                   size_t size);

/**
 * The plan of purlin_pca_fit for samples: the method and why, passes, blocks, bytes and seconds. It refuses the same
 * options and samples as the fit, with the same status and message. No entry is read, and no function of a source or of
 * an operator is called. The time depends on the sizes and on the number of blocks, not on the number of entries.
 *
 * @param      rsvd         the decomposition to use.
 * @param      x            the samples, as for purlin_pca_fit.
 * @param      options      as for purlin_pca_fit; NULL for the defaults.
 * @param      with_scores  1: of a fit that gives scores, which take memory, and with RANGE and FUSED a pass; 0: of one
 *                          without.
 * @param[out] info         filled in; initialize it with purlin_rsvd_info_init. `host_bytes` contains the components and
 *                          the means on a CPU.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL `info`, struct_size,
 * `with_scores`, the arguments that purlin_pca_fit refuses), `PURLIN_ERROR_NOT_SUPPORTED` as purlin_pca_fit,
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY` and `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest
 * block fits), `PURLIN_ERROR_CUDA`.
 *
 * @pre `options` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_plan(const struct purlin_rsvd *rsvd,
                              const struct purlin_matrix *x,
                              const struct purlin_pca_options *options,
                              int32_t with_scores,
                              struct purlin_rsvd_info *info);

/**
 * Finds the principal components of the rows (or columns) of a matrix: the right (left) singular vectors of the
 * matrix less its mean, which is never formed; a sparse matrix stays sparse. It costs as purlin_rsvd_compute, and one
 * more pass for the means and deviations where the method needs them beforehand.
 *
 * Rank, method, seed, the computing type and the estimate of the error are the session's options. Centring and scaling
 * are options of the fit, and of each component the entry of largest modulus is positive: the session's `center`,
 * `scale` and `sign` are refused unless they are the defaults. Its `right` is not used.
 *
 * @param      rsvd     the decomposition to use.
 * @param      stream   NULL for the context's own.
 * @param      x        count x features, or features x count with PURLIN_PCA_SAMPLES_COLUMNS, at least 2 samples; of
 *                      any storage.
 * @param      options  NULL for the defaults: samples are rows, centred, neither scaled nor whitened.
 * @param      scores   dense, count x k (k x count with PURLIN_PCA_SAMPLES_COLUMNS), of the computing type: the
 *                      samples in the components' coordinates, as purlin_pca_transform gives them but for rounding;
 *                      NULL if not wanted.
 * @param[out] pca      the components; destroy them with purlin_pca_destroy.
 * @param[out] info     report of the call; may be NULL.
 * @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a NULL `pca`, fewer than 2 samples, `scale`
 * without `center`, or centring, scaling or a sign rule of the session; `PURLIN_ERROR_NOT_SUPPORTED` also for a
 * tolerance or one pass of MERGE.
 *
 * @pre `pca` is NULL or valid for writing, `options` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_fit(struct purlin_rsvd *rsvd,
                             const struct purlin_stream *stream,
                             const struct purlin_matrix *x,
                             const struct purlin_pca_options *options,
                             struct purlin_matrix *scores,
                             struct purlin_pca **pca,
                             struct purlin_rsvd_info *info);

/**
 * Destroys an analysis.
 *
 * @param pca  the analysis; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_pca_destroy(struct purlin_pca *pca);

/**
 * Sizes, options and variances of an analysis.
 *
 * @param      pca   the analysis.
 * @param[out] info  filled in; initialize it with purlin_pca_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_properties(const struct purlin_pca *pca,
                                    struct purlin_pca_info *info);

/**
 * The mean of each feature; zeros where it is not subtracted.
 *
 * @param pca   the analysis.
 * @param mean  `features` elements of the type that was computed with, or of the same in double precision, on the host.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (size, type, read-only,
 * another context), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_NUMERICAL` (a number that the type does
 * not hold), `PURLIN_ERROR_BUSY`.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_mean(const struct purlin_pca *pca,
                              struct purlin_tensor *mean);

/**
 * Divisor of each feature; 1 for features that are not scaled.
 *
 * @param pca    the analysis.
 * @param scale  `features` elements, F64 or F32, on the host.
 * @return as purlin_pca_mean.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_scale(const struct purlin_pca *pca,
                               struct purlin_tensor *scale);

/**
 * Which features count as constant: the fit multiplies their distances from the mean by 0, and so do the transforms. Their
 * deviation is at most 8 2^-52 times their mean. Without `scale` there are none.
 *
 * @param pca       the analysis.
 * @param constant  `features` elements, F64 or F32, on the host: 1 for a constant feature, 0 for others.
 * @return as purlin_pca_mean.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_constant(const struct purlin_pca *pca,
                                  struct purlin_tensor *constant);

/**
 * The singular values of the centred and scaled data.
 *
 * @param pca              the analysis.
 * @param singular_values  `rank` elements, not increasing, F64 or F32, on the host.
 * @return as purlin_pca_mean.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_singular_values(const struct purlin_pca *pca,
                                         struct purlin_tensor *singular_values);

/**
 * The variance along each component: s^2 / (count - 1).
 *
 * @param pca                 the analysis.
 * @param explained_variance  `rank` elements, not increasing, F64 or F32, on the host.
 * @return as purlin_pca_mean.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_explained_variance(const struct purlin_pca *pca,
                                            struct purlin_tensor *explained_variance);

/**
 * The variance along each component over that of all features together; zeros where that is 0.
 *
 * @param pca                       the analysis.
 * @param explained_variance_ratio  `rank` elements, not increasing, F64 or F32, on the host.
 * @return as purlin_pca_mean.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_explained_variance_ratio(const struct purlin_pca *pca,
                                                  struct purlin_tensor *explained_variance_ratio);

/**
 * The components.
 *
 * @param pca         the analysis.
 * @param stream      NULL for the context's own.
 * @param components  dense, features x rank, of the type that was computed with, any order, on the host (complete on
 *                    return) or the device: orthonormal columns, by variance.
 * @return as purlin_pca_mean; `PURLIN_ERROR_CANCELLED` (on the host, which leaves some elements written).
 */
PURLIN_MUST_USE
purlin_status purlin_pca_components(const struct purlin_pca *pca,
                                    const struct purlin_stream *stream,
                                    struct purlin_matrix *components);

/**
 * Brings samples into the components' coordinates: (x - mean) / scale times the components, over the standard
 * deviations where scores are whitened. One pass over `x`, 2 count features rank operations. May be called from several
 * threads at a time.
 *
 * @param      pca     the analysis.
 * @param      stream  NULL for the context's own.
 * @param      x       any number of samples, orientation and number of features as fitted, of any storage.
 * @param      scores  dense, count x rank (rank x count with PURLIN_PCA_SAMPLES_COLUMNS), of the type that was
 *                     computed with, on the host (complete on return) or the device.
 * @param[out] info    report of the call; may be NULL.
 * @return as purlin_rsvd_compute; `PURLIN_ERROR_NUMERICAL` for a score beyond the range of the type.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_transform(struct purlin_pca *pca,
                                   const struct purlin_stream *stream,
                                   const struct purlin_matrix *x,
                                   struct purlin_matrix *scores,
                                   struct purlin_rsvd_info *info);

/**
 * Brings scores back to samples: the inverse of purlin_pca_transform within the components' span. May be called from
 * several threads at a time. 2 count features rank operations.
 *
 * @param pca     the analysis.
 * @param stream  NULL for the context's own.
 * @param scores  dense, count x rank (rank x count with PURLIN_PCA_SAMPLES_COLUMNS), of the type that was computed
 *                with.
 * @param x       dense, count x features (features x count with PURLIN_PCA_SAMPLES_COLUMNS), likewise, on the host
 *                (complete on return) or the device.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, read-only,
 * overlap, another context), `PURLIN_ERROR_NOT_SUPPORTED` (storage), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_NUMERICAL` (a
 * sample beyond the range of the type), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`,
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_pca_inverse_transform(struct purlin_pca *pca,
                                           const struct purlin_stream *stream,
                                           const struct purlin_matrix *scores,
                                           struct purlin_matrix *x);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_options_init(struct purlin_rpca_options *options,
                                       size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_info_init(struct purlin_rpca_info *info,
                                    size_t size);

/**
 * Makes a robust PCA, which splits matrices into a low-rank and a sparse part: purlin_rpca_compute says how.
 *
 * @param      context  the context to run on; `options->group` has more.
 * @param      options  NULL for the defaults.
 * @param[out] rpca     the robust PCA; destroy it with purlin_rpca_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size, an
 * option outside its domain, a group on the CPU or that begins with another context),
 * `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `options` is NULL or initialized; `rpca` is NULL or valid for writing;
 * `options->progress` may be called with its user pointer while the object lives.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_create(const struct purlin_context *context,
                                 const struct purlin_rpca_options *options,
                                 struct purlin_rpca **rpca);

/**
 * Destroys a robust PCA. A call that runs goes on to its end.
 *
 * @param rpca  the robust PCA; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_rpca_destroy(struct purlin_rpca *rpca);

/**
 * Cancels the run of a robust PCA, which then returns `PURLIN_ERROR_CANCELLED` within one block of its work. Later runs are
 * not touched. May be called from any thread and from a progress function; it waits for nothing.
 *
 * @param rpca  the robust PCA.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_cancel(const struct purlin_rpca *rpca);

/**
 * The plan of a run: `host_bytes`, `device_bytes`, `blocks`, `block_rows`, `contexts`, `reason`. No entry is read. A run that
 * the plan accepts stays inside the limits of the contexts, whatever rank is found up to `max_rank`; the sparse part
 * of purlin_rpca_compute_csr and the pieces of at most 8 MiB that purlin_rpca_compute_to_sinks hands to its sinks come
 * on top.
 *
 * @param      rpca  the robust PCA.
 * @param      m     as for purlin_rpca_compute.
 * @param      mask  likewise; NULL: all entries are observed.
 * @param[out] info  the members above; the rest is 0. May be NULL.
 * @return as purlin_rpca_compute; a run that does not fit: `PURLIN_ERROR_OUT_OF_MEMORY` and
 * `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` with the bytes that are needed.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_plan(const struct purlin_rpca *rpca,
                               const struct purlin_matrix *m,
                               const struct purlin_matrix *mask,
                               struct purlin_rpca_info *info);

/**
 * Report of the last run of a robust PCA that ended with `PURLIN_SUCCESS` or `PURLIN_ERROR_NO_CONVERGENCE`: the `info`
 * of that call. A run that is under way, or that ended in another way, changes nothing. May be called from any thread;
 * it does not wait.
 *
 * @param      rpca  the robust PCA.
 * @param[out] info  filled in; initialize it with purlin_rpca_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * no run that ended so).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_last_info(const struct purlin_rpca *rpca,
                                    struct purlin_rpca_info *info);

/**
 * Splits a matrix into a low-rank and a sparse part, M = L + S: the minimum of ||L||_* + lambda ||S||_1 (Candes, Li,
 * Ma, Wright, JACM 58, 2011), by the inexact augmented Lagrangian method (Lin, Chen, Ma, arXiv 1009.5055). Of a video
 * whose frames are the columns, L is the background and S the objects that move before it.
 *
 * The rank is found, with partial decompositions that begin from the iteration before. One iteration costs a few
 * passes over arrays of the size of M: about 6 m n (r + oversampling) operations for rank r, and two such arrays
 * beside M.
 *
 * @param      rpca      the robust PCA; its first context is that of the matrices.
 * @param      stream    NULL for the context's own.
 * @param      m         rows x cols, dense on the host or the device or streamed, of any element type that a source
 *                       may have; finite where it is observed.
 * @param      mask      U8, of M's size, dense or streamed: 0 where an entry is not observed. There M may be anything,
 *                       S is 0 and L follows from the other entries. NULL: all are observed.
 * @param      low_rank  L, dense, rows x cols, of the computing type, any order; NULL if not wanted.
 * @param      sparse    S, likewise; NULL if not wanted.
 * @param[out] info      report of the call; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (struct_size, sizes, types,
 * read-only outputs, overlap, another context, an entry that is NaN or infinite, or that times `scale` is beyond the
 * largest number of the computing type), `PURLIN_ERROR_BUSY` (an object or the matrix's source is in use),
 * `PURLIN_ERROR_NO_CONVERGENCE` (after `max_iterations`; the outputs hold the last iterate), `PURLIN_ERROR_CANCELLED`,
 * `PURLIN_ERROR_IO` (a file, or an error that the caller's function returned), `PURLIN_ERROR_NOT_SUPPORTED` (storage),
 * `PURLIN_ERROR_NUMERICAL` (a part with an entry beyond the largest number of its type, before any is written; entries
 * that all vanish in the precision of the run), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`. After a failure the object is ready for another call.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_compute(struct purlin_rpca *rpca,
                                  const struct purlin_stream *stream,
                                  const struct purlin_matrix *m,
                                  const struct purlin_matrix *mask,
                                  struct purlin_matrix *low_rank,
                                  struct purlin_matrix *sparse,
                                  struct purlin_rpca_info *info);

/**
 * purlin_rpca_compute by an object for this run alone: purlin_rpca_create, purlin_rpca_compute, purlin_rpca_destroy.
 *
 * @param      context   the context of the matrices.
 * @param      stream    NULL for the context's own.
 * @param      m         as for purlin_rpca_compute.
 * @param      mask      likewise; NULL: all entries are observed.
 * @param      options   NULL for the defaults.
 * @param      low_rank  as for purlin_rpca_compute; NULL if not wanted.
 * @param      sparse    likewise; NULL if not wanted.
 * @param[out] info      report of the call; may be NULL.
 * @return as purlin_rpca_create and purlin_rpca_compute.
 *
 * @pre `options` and `info` are NULL or initialized structs.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_compute_once(const struct purlin_context *context,
                                       const struct purlin_stream *stream,
                                       const struct purlin_matrix *m,
                                       const struct purlin_matrix *mask,
                                       const struct purlin_rpca_options *options,
                                       struct purlin_matrix *low_rank,
                                       struct purlin_matrix *sparse,
                                       struct purlin_rpca_info *info);

/**
 * purlin_rpca_compute with the sparse part in compressed rows: the entries of modulus over `threshold`.
 *
 * @param      rpca      the robust PCA.
 * @param      stream    NULL for the context's own.
 * @param      m         as for purlin_rpca_compute.
 * @param      mask      likewise; NULL: all entries are observed.
 * @param      low_rank  as for purlin_rpca_compute; NULL if not wanted.
 * @param[out] sparse    a new sparse matrix on the host, from 0, its columns in order; destroy it with
 *                       purlin_matrix_destroy. It is made on `PURLIN_ERROR_NO_CONVERGENCE` too.
 * @param[out] info      report of the call; may be NULL.
 * @return as purlin_rpca_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a NULL `sparse`.
 *
 * @pre `sparse` is NULL or valid for writing, `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_compute_csr(struct purlin_rpca *rpca,
                                      const struct purlin_stream *stream,
                                      const struct purlin_matrix *m,
                                      const struct purlin_matrix *mask,
                                      struct purlin_matrix *low_rank,
                                      struct purlin_matrix **sparse,
                                      struct purlin_rpca_info *info);

/**
 * purlin_rpca_compute with parts that sinks take, which need not fit in memory. The working arrays, two of the size of
 * M in the computing type, are in the host's memory.
 *
 * @param      rpca      the robust PCA; its first context is that of matrices and sinks.
 * @param      stream    NULL for the context's own.
 * @param      m         as for purlin_rpca_compute.
 * @param      mask      likewise; NULL: all entries are observed.
 * @param      low_rank  sink of [rows, cols], or [cols, rows] of a row-major M; real elements of any type for a real
 *                       M. Integers are rounded to the nearest and held to their range, which is no error; an entry
 *                       beyond the range of a floating-point type is PURLIN_ERROR_NUMERICAL. NULL if not wanted.
 * @param      sparse    likewise; NULL if not wanted.
 * @param[out] info      report of the call; may be NULL.
 * @return as purlin_rpca_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a sink that is used up, that goes to the file
 * of the other or to one that `m` or `mask` is read from, or whose tensor overlaps that of the other.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_rpca_compute_to_sinks(struct purlin_rpca *rpca,
                                           const struct purlin_stream *stream,
                                           const struct purlin_matrix *m,
                                           const struct purlin_matrix *mask,
                                           struct purlin_sink *low_rank,
                                           struct purlin_sink *sparse,
                                           struct purlin_rpca_info *info);

/**
 * Makes a tensor train in purlin's own memory. Each core has to be set before the train is used.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_PINNED or 0.
 * @param      length    number of cores d, at least 1.
 * @param[in]  modes     d mode sizes n_k, at least 1.
 * @param[in]  ranks     d + 1 ranks r_k, at least 1; the first and the last are equal: 1 for an open train.
 * @param[out] tt        the train; destroy it with purlin_tt_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant, element
 * type, sizes: the message names the core; NULL pointer), `PURLIN_ERROR_NOT_SUPPORTED` (device memory in a context on
 * the CPU), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
 *
 * @pre `modes` is NULL or valid for `length` elements, `ranks` for `length + 1`; `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_create(const struct purlin_context *context,
                               purlin_dtype dtype,
                               purlin_location location,
                               purlin_flags flags,
                               int64_t length,
                               const int64_t *modes,
                               const int64_t *ranks,
                               struct purlin_tt **tt);

/**
 * Makes a tensor train over the caller's cores in host memory, which must outlive the handle. Nothing is copied; the
 * same core may stand at several places, and where it is the same at all the train is uniform.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      flags    PURLIN_READ_ONLY or 0.
 * @param      length   number of cores d, at least 1.
 * @param[in]  modes    d mode sizes n_k, at least 1.
 * @param[in]  ranks    d + 1 ranks r_k, at least 1, the first equal to the last.
 * @param[in]  cores    d addresses of cores, each packed with the first index fastest: a Fortran array `a(r, n, s)`.
 * @param[out] tt       the train; destroy it with purlin_tt_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_tt_create; a
 * core that is NULL or not aligned), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre As for purlin_tt_create; `cores` is NULL or valid for `length` addresses, each valid for its core while the handle
 * lives.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_borrow(const struct purlin_context *context,
                               purlin_dtype dtype,
                               purlin_flags flags,
                               int64_t length,
                               const int64_t *modes,
                               const int64_t *ranks,
                               void *const *cores,
                               struct purlin_tt **tt);

/**
 * Makes a tensor train over the caller's cores in device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      flags    PURLIN_READ_ONLY or 0.
 * @param      length   number of cores d, at least 1.
 * @param[in]  modes    d mode sizes n_k, at least 1.
 * @param[in]  ranks    d + 1 ranks r_k, at least 1, the first equal to the last.
 * @param[in]  cores    d `CUdeviceptr` of cores, each packed with the first index fastest.
 * @param[out] tt       the train; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_borrow; `PURLIN_ERROR_INVALID_ARGUMENT` also for memory that is not this GPU's,
 * `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_CUDA`.
 *
 * @pre As for purlin_tt_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_borrow_device(const struct purlin_context *context,
                                      purlin_dtype dtype,
                                      purlin_flags flags,
                                      int64_t length,
                                      const int64_t *modes,
                                      const int64_t *ranks,
                                      const uint64_t *cores,
                                      struct purlin_tt **tt);

/**
 * Writes a core: a copy of a tensor. Strides of the tensor bring a core in any order of its axes into the train's, as
 * that of C arrays.
 *
 * @param tt      the train.
 * @param stream  NULL for the context's own.
 * @param k       the core, 0 to d - 1.
 * @param core    r_k x n_k x r_k+1, of the train's element type; any strides on the host, packed on a device.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`k`, dimensions, type,
 * another context, a train that was borrowed read-only, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_set_core(struct purlin_tt *tt,
                                 const struct purlin_stream *stream,
                                 int64_t k,
                                 const struct purlin_tensor *core);

/**
 * Reads a core into a tensor.
 *
 * @param tt      the train.
 * @param stream  NULL for the context's own.
 * @param k       the core, 0 to d - 1.
 * @param core    r_k x n_k x r_k+1, of the train's element type; any strides on the host, where it is complete on
 *                return; packed on a device.
 * @return as purlin_tt_set_core; `PURLIN_ERROR_INVALID_ARGUMENT` also for a core that has not been set.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_core(const struct purlin_tt *tt,
                             const struct purlin_stream *stream,
                             int64_t k,
                             struct purlin_tensor *core);

/**
 * Address of a core, on the host or the device: r_k x n_k x r_k+1 elements, first index fastest, as long as the train
 * lives.
 *
 * @param      tt       the train.
 * @param      k        the core, 0 to d - 1.
 * @param[out] address  of its first element.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`k`, NULL pointer).
 *
 * @pre `address` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_core_address(const struct purlin_tt *tt,
                                     int64_t k,
                                     uint64_t *address);

/**
 * Copies the cores of a train into another of the same mode sizes, ranks and element type, in any direction between
 * host and device.
 *
 * @param context      the context of both trains.
 * @param stream       NULL for the context's own.
 * @param source       read.
 * @param destination  written; complete on return on the host, in stream order on a device.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (another shape, type or
 * context, a core that has not been set, read-only destination, overlap), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_copy(const struct purlin_context *context,
                             const struct purlin_stream *stream,
                             const struct purlin_tt *source,
                             struct purlin_tt *destination);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_info_init(struct purlin_tt_info *info,
                                  size_t size);

/**
 * Type, location, number of cores and size of a tensor train. purlin_tt_shape gives its modes and ranks.
 *
 * @param      tt    the train.
 * @param[out] info  filled in; initialize it with purlin_tt_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_properties(const struct purlin_tt *tt,
                                   struct purlin_tt_info *info);

/**
 * Mode sizes and ranks of a tensor train.
 *
 * @param      tt        the train.
 * @param      capacity  cores that the arrays hold, at least d.
 * @param[out] modes     mode sizes, d; may be NULL.
 * @param[out] ranks     ranks, d + 1; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (capacity).
 *
 * @pre `modes` is NULL or valid for `capacity` elements, `ranks` for `capacity + 1`.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_shape(const struct purlin_tt *tt,
                              int64_t capacity,
                              int64_t *modes,
                              int64_t *ranks);

/**
 * Destroys a tensor train, and frees its memory if that is purlin's.
 *
 * @param tt  the train; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_tt_destroy(struct purlin_tt *tt);

/**
 * Makes a TT-matrix in purlin's own memory. Each core has to be set before it is used.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      flags     PURLIN_PINNED or 0.
 * @param      length    number of cores d, at least 1.
 * @param[in]  rows      d row (bra) mode sizes m_k, at least 1.
 * @param[in]  cols      d column (ket) mode sizes n_k, at least 1.
 * @param[in]  ranks     d + 1 ranks w_k, at least 1, the first equal to the last.
 * @param[out] matrix    the TT-matrix; destroy it with purlin_tt_matrix_destroy.
 * @return as purlin_tt_create.
 *
 * @pre `rows` and `cols` are NULL or valid for `length` elements, `ranks` for `length + 1`; `matrix` is NULL or valid for
 * writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_create(const struct purlin_context *context,
                                      purlin_dtype dtype,
                                      purlin_location location,
                                      purlin_flags flags,
                                      int64_t length,
                                      const int64_t *rows,
                                      const int64_t *cols,
                                      const int64_t *ranks,
                                      struct purlin_tt_matrix **matrix);

/**
 * Makes a TT-matrix over the caller's cores in host memory, which must outlive the handle.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      flags    PURLIN_READ_ONLY or 0.
 * @param      length   number of cores d, at least 1.
 * @param[in]  rows     d row (bra) mode sizes m_k, at least 1.
 * @param[in]  cols     d column (ket) mode sizes n_k, at least 1.
 * @param[in]  ranks    d + 1 ranks w_k, at least 1, the first equal to the last.
 * @param[in]  cores    d addresses of cores, each packed with the first index fastest: a Fortran array `a(w, m, n, v)`.
 * @param[out] matrix   the TT-matrix; destroy it with purlin_tt_matrix_destroy.
 * @return as purlin_tt_borrow.
 *
 * @pre As for purlin_tt_matrix_create; `cores` is NULL or valid for `length` addresses, each valid for its core while the
 * handle lives.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_borrow(const struct purlin_context *context,
                                      purlin_dtype dtype,
                                      purlin_flags flags,
                                      int64_t length,
                                      const int64_t *rows,
                                      const int64_t *cols,
                                      const int64_t *ranks,
                                      void *const *cores,
                                      struct purlin_tt_matrix **matrix);

/**
 * Makes a TT-matrix over the caller's cores in device memory, which must outlive the handle.
 *
 * @param      context  a context on the GPU of that memory.
 * @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      flags    PURLIN_READ_ONLY or 0.
 * @param      length   number of cores d, at least 1.
 * @param[in]  rows     d row (bra) mode sizes m_k, at least 1.
 * @param[in]  cols     d column (ket) mode sizes n_k, at least 1.
 * @param[in]  ranks    d + 1 ranks w_k, at least 1, the first equal to the last.
 * @param[in]  cores    d `CUdeviceptr` of cores, each packed with the first index fastest.
 * @param[out] matrix   the TT-matrix; destroy it with purlin_tt_matrix_destroy.
 * @return as purlin_tt_borrow_device.
 *
 * @pre As for purlin_tt_matrix_borrow.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_borrow_device(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             purlin_flags flags,
                                             int64_t length,
                                             const int64_t *rows,
                                             const int64_t *cols,
                                             const int64_t *ranks,
                                             const uint64_t *cores,
                                             struct purlin_tt_matrix **matrix);

/**
 * Writes a core: a copy of a tensor.
 *
 * @param matrix  the TT-matrix.
 * @param stream  NULL for the context's own.
 * @param k       the core, 0 to d - 1.
 * @param core    w_k x m_k x n_k x w_k+1, of the TT-matrix's element type; any strides on the host, packed on a device.
 * @return as purlin_tt_set_core.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_set_core(struct purlin_tt_matrix *matrix,
                                        const struct purlin_stream *stream,
                                        int64_t k,
                                        const struct purlin_tensor *core);

/**
 * Reads a core into a tensor.
 *
 * @param matrix  the TT-matrix.
 * @param stream  NULL for the context's own.
 * @param k       the core, 0 to d - 1.
 * @param core    w_k x m_k x n_k x w_k+1, of the TT-matrix's element type; any strides on the host, where it is complete
 *                on return; packed on a device.
 * @return as purlin_tt_core.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_core(const struct purlin_tt_matrix *matrix,
                                    const struct purlin_stream *stream,
                                    int64_t k,
                                    struct purlin_tensor *core);

/**
 * Type, location, number of cores and size of a TT-matrix. purlin_tt_matrix_shape gives its modes and ranks.
 *
 * @param      matrix  the TT-matrix.
 * @param[out] info    filled in; initialize it with purlin_tt_info_init.
 * @return as purlin_tt_properties.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_properties(const struct purlin_tt_matrix *matrix,
                                          struct purlin_tt_info *info);

/**
 * Mode sizes and ranks of a TT-matrix.
 *
 * @param      matrix    the TT-matrix.
 * @param      capacity  cores that the arrays hold, at least d.
 * @param[out] rows      row (bra) mode sizes, d; may be NULL.
 * @param[out] cols      column (ket) mode sizes, d; may be NULL.
 * @param[out] ranks     ranks, d + 1; may be NULL.
 * @return as purlin_tt_shape.
 *
 * @pre `rows` and `cols` are NULL or valid for `capacity` elements, `ranks` for `capacity + 1`.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_shape(const struct purlin_tt_matrix *matrix,
                                     int64_t capacity,
                                     int64_t *rows,
                                     int64_t *cols,
                                     int64_t *ranks);

/**
 * Destroys a TT-matrix, and frees its memory if that is purlin's.
 *
 * @param matrix  the TT-matrix; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_tt_matrix_destroy(struct purlin_tt_matrix *matrix);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_contraction_options_init(struct purlin_tt_contraction_options *options,
                                                 size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_contraction_info_init(struct purlin_tt_contraction_info *info,
                                              size_t size);

/**
 * Makes a contraction.
 *
 * Inner products of open trains go from core to core with two products a site, 2 n s r (r + s) operations (Schollwoeck,
 * Ann. Phys. 326, 96, 2011); rings go round once for each pair of boundary indices, in blocks that fit the workspace and
 * the cache. PURLIN_TT_METHOD_* lists the methods; purlin_tt_plan_inner reports which
 * one is chosen, and why.
 *
 * The same build, device model, input and options give the same bits, whatever the number of threads. Intermediate
 * results are scaled by powers of two, so that no length overflows; where nothing would, the bits do not depend on it.
 *
 * @param      context      the context to run on; `options->group` has more.
 * @param      options      NULL for the defaults.
 * @param[out] contraction  the contraction; destroy it with purlin_tt_contraction_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * unknown constant, a negative size, a group on the CPU or that begins with another context),
 * `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know, a device
 * that it has no contractions for), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `options` is NULL or initialized; `contraction` is NULL or valid for writing; `options->progress` may be called with
 * its user pointer while the object lives.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_contraction_create(const struct purlin_context *context,
                                           const struct purlin_tt_contraction_options *options,
                                           struct purlin_tt_contraction **contraction);

/**
 * Destroys a contraction. A call that runs goes on to its end.
 *
 * @param contraction  the contraction; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_tt_contraction_destroy(struct purlin_tt_contraction *contraction);

/**
 * Cancels the call that runs on a contraction or on environments made with it, which then returns
 * `PURLIN_ERROR_CANCELLED`. Later calls are not touched. May be called from any thread and from a progress function;
 * it waits for nothing.
 *
 * @param contraction  the contraction.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_contraction_cancel(const struct purlin_tt_contraction *contraction);

/**
 * The report of the last call on a contraction that gave one: of an inner product, norm or distance, a batch, an
 * expectation value, or of an enqueued call, whose `outcome` and `seconds` stay 0. Calls that end with
 * `PURLIN_ERROR_NUMERICAL` and have written their result count, too. A call that is under way, or that ended with
 * another error, changes nothing; environments and plans have none. May be called from any thread; it waits for
 * nothing.
 *
 * @param      contraction  the contraction.
 * @param[out] info         filled in; initialize it with purlin_tt_contraction_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * no call that ended so).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_contraction_last_info(const struct purlin_tt_contraction *contraction,
                                              struct purlin_tt_contraction_info *info);

/**
 * The plan of purlin_tt_inner for two trains: the method and why, kernel, operations, bytes, workspace. No element is
 * read. With the same train twice it is that inner product; the norm has purlin_tt_plan_norm.
 *
 * @param      contraction  the contraction.
 * @param      x            the bra.
 * @param      y            the ket.
 * @param[out] info         filled in; initialize it with purlin_tt_contraction_info_init. `workspace_bytes` is the
 *                          most that the call will use; on a GPU, copies of cores that lie elsewhere, tables of
 *                          addresses and single results are not counted, nor the workspace of cuBLAS, 32 MiB at most.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * the arguments that purlin_tt_inner refuses, a `workspace_limit` that is too small among them), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_plan_inner(struct purlin_tt_contraction *contraction,
                                   const struct purlin_tt *x,
                                   const struct purlin_tt *y,
                                   struct purlin_tt_contraction_info *info);

/**
 * The plan of purlin_tt_norm, by the method of the option `norm_method`.
 *
 * @param      contraction  the contraction.
 * @param      x            the train.
 * @param[out] info         filled in, as by purlin_tt_plan_inner.
 * @return as purlin_tt_plan_inner; `PURLIN_ERROR_NOT_SUPPORTED` in the cases of purlin_tt_norm.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_plan_norm(struct purlin_tt_contraction *contraction,
                                  const struct purlin_tt *x,
                                  struct purlin_tt_contraction_info *info);

/**
 * The plan of purlin_tt_distance.
 *
 * @param      contraction  the contraction.
 * @param      x            a train.
 * @param      y            another.
 * @param[out] info         filled in, as by purlin_tt_plan_inner.
 * @return as purlin_tt_plan_norm.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_plan_distance(struct purlin_tt_contraction *contraction,
                                      const struct purlin_tt *x,
                                      const struct purlin_tt *y,
                                      struct purlin_tt_contraction_info *info);

/**
 * The plan of purlin_tt_inner_batch: method and kernel of the first pair, operations and bytes of all together, and
 * the most workspace that is in use at a time.
 *
 * @param      contraction  the contraction.
 * @param      count        number of pairs.
 * @param[in]  x            `count` bras.
 * @param[in]  y            `count` kets.
 * @param[out] info         filled in, as by purlin_tt_plan_inner.
 * @return as purlin_tt_plan_inner; messages name the pair as in `x[3]`.
 *
 * @pre `x` and `y` are NULL or valid for `count` handles, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_plan_batch(struct purlin_tt_contraction *contraction,
                                   int64_t count,
                                   const struct purlin_tt *const *x,
                                   const struct purlin_tt *const *y,
                                   struct purlin_tt_contraction_info *info);

/**
 * The plan of purlin_tt_gram, as purlin_tt_plan_batch has it.
 *
 * @param      contraction  the contraction.
 * @param      rows         number of bras.
 * @param[in]  x            the bras.
 * @param      cols         number of kets; not looked at where `y` is NULL.
 * @param[in]  y            the kets; NULL for `x`, which is half the work.
 * @param[out] info         filled in, as by purlin_tt_plan_inner.
 * @return as purlin_tt_plan_batch.
 *
 * @pre `x` is NULL or valid for `rows` handles, `y` for `cols`, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_plan_gram(struct purlin_tt_contraction *contraction,
                                  int64_t rows,
                                  const struct purlin_tt *const *x,
                                  int64_t cols,
                                  const struct purlin_tt *const *y,
                                  struct purlin_tt_contraction_info *info);

/**
 * The plan of purlin_tt_sandwich. Of the elements, those of the operator alone are read: its zeros cost nothing.
 *
 * @param      contraction  the contraction.
 * @param      y            the bra.
 * @param      h            the operator.
 * @param      x            the ket.
 * @param[out] info         filled in, as by purlin_tt_plan_inner.
 * @return as purlin_tt_plan_inner, with the refusals of purlin_tt_sandwich; `PURLIN_ERROR_NOT_SUPPORTED` (an operator
 * on a device, `repeat`).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_plan_sandwich(struct purlin_tt_contraction *contraction,
                                      const struct purlin_tt *y,
                                      const struct purlin_tt_matrix *h,
                                      const struct purlin_tt *x,
                                      struct purlin_tt_contraction_info *info);

/**
 * The plan of purlin_tt_rayleigh, as purlin_tt_plan_sandwich has it.
 *
 * @param      contraction  the contraction.
 * @param      h            the operator.
 * @param      x            the train.
 * @param[out] info         filled in, as by purlin_tt_plan_inner.
 * @return as purlin_tt_plan_sandwich.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_plan_rayleigh(struct purlin_tt_contraction *contraction,
                                      const struct purlin_tt_matrix *h,
                                      const struct purlin_tt *x,
                                      struct purlin_tt_contraction_info *info);

/**
 * Inner product: the sum over all indices of conj(x[i]) y[i], the first factor conjugated unless the options say
 * PURLIN_TT_CONJ_NONE. O(n r s (r + s)) a site of open trains with ranks r and s; in a ring that for each pair of
 * boundary indices, where no cheaper method is chosen. purlin_tt_plan_inner counts the operations.
 *
 * The trains have the same mode sizes and precision; each may be open or cyclic, real or complex. Trains in host memory
 * are copied to a GPU for the call.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      x            the bra.
 * @param      y            the ket; may be `x`, and then half the work is saved.
 * @param[out] result       2 elements: real and imaginary part, in the precision of the trains; the second is 0 where
 *                          both are real.
 * @param[out] info         report of the call; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (mode sizes: the message
 * names the core; precision, another context, a core that has not been set, options that do not fit the trains, NULL
 * pointer, struct_size; a `workspace_limit` that is too small: the message says how many bytes are needed),
 * `PURLIN_ERROR_NUMERICAL` (the number is beyond the range of the type: `result` is infinite, or 0, or NaN where a
 * core holds a number that is not finite, and `info` is filled in; purlin_tt_inner_scaled has no range),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`. After a failure the object is ready for another call.
 *
 * @pre `result` is NULL or valid for 2 elements, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_inner(struct purlin_tt_contraction *contraction,
                              const struct purlin_stream *stream,
                              const struct purlin_tt *x,
                              const struct purlin_tt *y,
                              double *result,
                              struct purlin_tt_contraction_info *info);

/**
 * purlin_tt_inner without an object: makes a contraction, computes the product, and destroys it. Options that have
 * no effect on this call of these trains are refused; an object keeps them for its other calls.
 *
 * @param      context  the context of all trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the bra.
 * @param      y        the ket; may be `x`.
 * @param      options  NULL for the defaults.
 * @param[out] result   as purlin_tt_inner.
 * @param[out] info     report of the call; may be NULL.
 * @return as purlin_tt_contraction_create and purlin_tt_inner, and INVALID_ARGUMENT for options without effect.
 *
 * @pre `options` and `info` are NULL or initialized structs, `result` is NULL or valid for 2 elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_inner_once(const struct purlin_context *context,
                                   const struct purlin_stream *stream,
                                   const struct purlin_tt *x,
                                   const struct purlin_tt *y,
                                   const struct purlin_tt_contraction_options *options,
                                   double *result,
                                   struct purlin_tt_contraction_info *info);

/**
 * purlin_tt_inner with an exponent of its own, which no train exceeds.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      x            the bra.
 * @param      y            the ket; may be `x`.
 * @param[out] result       mantissa and exponent, logarithm and phase; the mantissa is NaN where a core holds a number
 *                          that is not finite; info.outcome is then NONFINITE.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner, without `PURLIN_ERROR_NUMERICAL`.
 *
 * @pre `result` is NULL or valid for writing, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_inner_scaled(struct purlin_tt_contraction *contraction,
                                     const struct purlin_stream *stream,
                                     const struct purlin_tt *x,
                                     const struct purlin_tt *y,
                                     struct purlin_tt_scaled *result,
                                     struct purlin_tt_contraction_info *info);

/**
 * Norm: the square root of the inner product of a train with itself. O(n r^3) a site of an open train, as
 * purlin_tt_inner of `x` with itself.
 *
 * @param      contraction  the contraction; `norm_method` says how, and nothing but the bra is ever conjugated.
 * @param      stream       NULL for the context's own.
 * @param      x            the train.
 * @param[out] result       the norm, real and not negative.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner.
 *
 * @pre `result` is NULL or valid for writing, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_norm(struct purlin_tt_contraction *contraction,
                             const struct purlin_stream *stream,
                             const struct purlin_tt *x,
                             double *result,
                             struct purlin_tt_contraction_info *info);

/**
 * purlin_tt_norm without an object: makes a contraction, computes the norm, and destroys it. Options that have
 * no effect on this call of these trains are refused; an object keeps them for its other calls.
 *
 * @param      context  the context of all trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param      options  NULL for the defaults.
 * @param[out] result   as purlin_tt_norm.
 * @param[out] info     report of the call; may be NULL.
 * @return as purlin_tt_contraction_create and purlin_tt_norm, and INVALID_ARGUMENT for options without effect.
 *
 * @pre `options` and `info` are NULL or initialized structs, `result` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_norm_once(const struct purlin_context *context,
                                  const struct purlin_stream *stream,
                                  const struct purlin_tt *x,
                                  const struct purlin_tt_contraction_options *options,
                                  double *result,
                                  struct purlin_tt_contraction_info *info);

/**
 * purlin_tt_norm with an exponent of its own; `log_abs` of the result is the logarithm of the norm.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      x            the train.
 * @param[out] result       mantissa and exponent, logarithm and phase, as purlin_tt_inner_scaled.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner_scaled.
 *
 * @pre `result` is NULL or valid for writing, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_norm_scaled(struct purlin_tt_contraction *contraction,
                                    const struct purlin_stream *stream,
                                    const struct purlin_tt *x,
                                    struct purlin_tt_scaled *result,
                                    struct purlin_tt_contraction_info *info);

/**
 * Distance: the norm of x - y, by QR factors of the difference, so that it keeps its digits where the trains nearly
 * agree. From inner products, half of them would be lost. O(n (r + s)^3) a site of open trains.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      x            a train.
 * @param      y            another of the same mode sizes and precision.
 * @param[out] result       the distance, not negative.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner.
 *
 * @pre `result` is NULL or valid for writing, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_distance(struct purlin_tt_contraction *contraction,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tt *x,
                                 const struct purlin_tt *y,
                                 double *result,
                                 struct purlin_tt_contraction_info *info);

/**
 * purlin_tt_distance without an object: makes a contraction, computes the distance, and destroys it. Options that have
 * no effect on this call of these trains are refused; an object keeps them for its other calls.
 *
 * @param      context  the context of all trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the one train.
 * @param      y        the other.
 * @param      options  NULL for the defaults.
 * @param[out] result   as purlin_tt_distance.
 * @param[out] info     report of the call; may be NULL.
 * @return as purlin_tt_contraction_create and purlin_tt_distance, and INVALID_ARGUMENT for options without effect.
 *
 * @pre `options` and `info` are NULL or initialized structs, `result` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_distance_once(const struct purlin_context *context,
                                      const struct purlin_stream *stream,
                                      const struct purlin_tt *x,
                                      const struct purlin_tt *y,
                                      const struct purlin_tt_contraction_options *options,
                                      double *result,
                                      struct purlin_tt_contraction_info *info);

/**
 * purlin_tt_distance with an exponent of its own.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      x            a train.
 * @param      y            another of the same mode sizes and precision.
 * @param[out] result       mantissa and exponent, logarithm and phase, as purlin_tt_inner_scaled.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner_scaled.
 *
 * @pre `result` is NULL or valid for writing, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_distance_scaled(struct purlin_tt_contraction *contraction,
                                        const struct purlin_stream *stream,
                                        const struct purlin_tt *x,
                                        const struct purlin_tt *y,
                                        struct purlin_tt_scaled *result,
                                        struct purlin_tt_contraction_info *info);

/**
 * Sets the workspace of enqueued calls, in the caller's device memory: later ones allocate nothing. Calls on several
 * streams, and graphs that captured them, use the same memory: the caller ensures that they do not run at the same
 * time, and that other work on the memory is complete, or ordered before the call in its stream.
 *
 * @param contraction  the contraction.
 * @param memory       a `CUdeviceptr` on the GPU of the contraction's first context; it must stay until the work that
 *                     was enqueued is done, and while a graph that captured such a call may be replayed. 0 ends its use.
 * @param bytes        its size in bytes; ignored where `memory` is 0.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`memory` is not device memory
 * of this GPU, not aligned to 256 bytes, or shorter than `bytes`; `bytes` less than 1), `PURLIN_ERROR_NOT_SUPPORTED` (a
 * context on the CPU), `PURLIN_ERROR_BUSY`.
 *
 * @pre `memory` is 0 or valid for `bytes` bytes on the device, until another workspace is set.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_contraction_set_workspace(struct purlin_tt_contraction *contraction,
                                                  uint64_t memory,
                                                  int64_t bytes);

/**
 * Enqueues an inner product and returns: the result goes to device memory, in stream order.
 *
 * Nothing waits for the host and nothing is copied from it, so the stream may be captured to a graph, which can be
 * replayed with other numbers in the cores. A captured call must not be the first of its kind: kernels and cuBLAS are
 * loaded by the first, and a call without `result`, which reports the workspace, loads cuBLAS. While a graph may be
 * replayed the trains, the result and the workspace must stay. Without a workspace of the caller the memory is
 * allocated, in a graph too. Boundary pairs are summed as purlin_tt_inner does it, by kernels of its own (open trains
 * up to rank 256, rings up to 32) or by cuBLAS, always scaled by the largest numbers of the cores; POWER and HALVES go
 * by cuBLAS, POWER also where AUTO takes it. Both trains lie on the device and are of one type. Calls that wait for
 * their result refuse a stream that is being captured.
 *
 * @param      contraction  the contraction; more contexts than the first are not used.
 * @param      stream       NULL for the context's own.
 * @param      x            the bra.
 * @param      y            the ket; may be `x`, and then half of the work is saved.
 * @param      result       4 elements of F64 on the device: real and imaginary part of the mantissa, the larger in
 *                          [0.5, 1) or both 0; its power of two; one of PURLIN_TT_RESULT_*, OK or NONFINITE.
 *                          NULL to report the workspace alone.
 * @param[out] info         the plan; `workspace_bytes` is the need of this call. May be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_tt_inner;
 * `result` of another type or length; a result, trains and a workspace that overlap; a workspace that is too small,
 * with the bytes that are needed), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU, trains on the host or of two
 * types, cuBLAS that is not there, or not yet and the stream is being captured), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `info` is NULL or an initialized struct; trains, `result` and workspace stay until the work is done.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_inner_enqueue(struct purlin_tt_contraction *contraction,
                                      const struct purlin_stream *stream,
                                      const struct purlin_tt *x,
                                      const struct purlin_tt *y,
                                      struct purlin_tensor *result,
                                      struct purlin_tt_contraction_info *info);

/**
 * Enqueues the norm of a train and returns: purlin_tt_inner_enqueue of the train with itself, and the square root of
 * that, which has as many digits as the square. With `norm_method` QR by factors of cuSOLVER, as purlin_tt_norm: where
 * the sums of a ring cancel it has more. The rules for cuBLAS in captured streams (purlin_tt_inner_enqueue) hold for
 * cuSOLVER, too.
 *
 * @param      contraction  the contraction; `conjugate` in its options has no effect.
 * @param      stream       NULL for the context's own.
 * @param      x            the train, on the device.
 * @param      result       as purlin_tt_inner_enqueue has it, with an imaginary part of 0; NULL to report the workspace
 *                          alone.
 * @param[out] info         as there.
 * @return as purlin_tt_inner_enqueue; `PURLIN_ERROR_NOT_SUPPORTED` also for cuSOLVER that is not there, or not yet.
 *
 * @pre As purlin_tt_inner_enqueue.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_norm_enqueue(struct purlin_tt_contraction *contraction,
                                     const struct purlin_stream *stream,
                                     const struct purlin_tt *x,
                                     struct purlin_tensor *result,
                                     struct purlin_tt_contraction_info *info);

/**
 * Enqueues the norm of the difference of two trains and returns: purlin_tt_distance, whose result goes to device memory.
 *
 * By QR factors, as purlin_tt_norm_enqueue with `norm_method` QR.
 *
 * @param      contraction  the contraction; of its options `cut` and `workspace_limit` count.
 * @param      stream       NULL for the context's own.
 * @param      x            a train, on the device.
 * @param      y            the other.
 * @param      result       as purlin_tt_norm_enqueue has it; NULL to report the workspace alone.
 * @param[out] info         as there.
 * @return as purlin_tt_norm_enqueue.
 *
 * @pre As purlin_tt_inner_enqueue.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_distance_enqueue(struct purlin_tt_contraction *contraction,
                                         const struct purlin_stream *stream,
                                         const struct purlin_tt *x,
                                         const struct purlin_tt *y,
                                         struct purlin_tensor *result,
                                         struct purlin_tt_contraction_info *info);

/**
 * Enqueues an operator between two trains and returns: purlin_tt_sandwich, whose result goes to device memory.
 *
 * The trains lie on the device, real and complex ones of one precision may be mixed; the operator lies on the host,
 * and its numbers travel with the launches, so that a graph keeps those it captured and can be replayed with other
 * numbers in the cores alone. Exponents stay on the device. Everything is done by cuBLAS and kernels between its
 * products, in one queue. The rules of purlin_tt_inner_enqueue for capturing and for the workspace hold here.
 *
 * @param      contraction  the contraction; of its options `conjugate`, `cut`, `workspace_limit` and
 *                          `assume_hermitian` count.
 * @param      stream       NULL for the context's own.
 * @param      y            the bra: its mode sizes are the rows of `h`.
 * @param      h            the operator.
 * @param      x            the ket: its mode sizes are the columns of `h`; may be `y`.
 * @param      result       4 elements of F64 on the device, as purlin_tt_inner_enqueue has them; NULL to report the
 *                          workspace alone.
 * @param[out] info         the plan; `workspace_bytes` is the need of this call. May be NULL.
 * @return as purlin_tt_sandwich and purlin_tt_inner_enqueue.
 *
 * @pre As purlin_tt_inner_enqueue; the operator is not needed once the call has returned.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_sandwich_enqueue(struct purlin_tt_contraction *contraction,
                                         const struct purlin_stream *stream,
                                         const struct purlin_tt *y,
                                         const struct purlin_tt_matrix *h,
                                         const struct purlin_tt *x,
                                         struct purlin_tensor *result,
                                         struct purlin_tt_contraction_info *info);

/**
 * Enqueues the Rayleigh quotient <x|H|x> / <x|x> and returns: both in one sweep, divided on the device. Where <x|x> is
 * 0 the outcome is NONFINITE.
 *
 * @param      contraction  the contraction, as for purlin_tt_sandwich_enqueue; the bra is conjugated in any case.
 * @param      stream       NULL for the context's own.
 * @param      h            the operator.
 * @param      x            the train, on the device.
 * @param      result       as there; the imaginary part is rounding noise for a Hermitian operator, 0 with
 *                          `assume_hermitian`.
 * @param[out] info         as there.
 * @return as purlin_tt_sandwich_enqueue.
 *
 * @pre As purlin_tt_sandwich_enqueue.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_rayleigh_enqueue(struct purlin_tt_contraction *contraction,
                                         const struct purlin_stream *stream,
                                         const struct purlin_tt_matrix *h,
                                         const struct purlin_tt *x,
                                         struct purlin_tensor *result,
                                         struct purlin_tt_contraction_info *info);

/**
 * Inner products of pairs of trains in one call: far faster than a call each where the trains are small. Their shapes
 * may differ from pair to pair. The operations are those of purlin_tt_inner for each pair.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      count        number of pairs; 0 does nothing.
 * @param[in]  x            `count` bras.
 * @param[in]  y            `count` kets.
 * @param      values       `count` elements on the host, of CF64, or of F64 for the real parts; of mantissas where
 *                          there are exponents.
 * @param      exponents    `count` elements of I64 on the host: each product is its mantissa times two to this power; NULL
 *                          for plain numbers.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner; messages name the pair as in `x[3]`. `PURLIN_ERROR_NUMERICAL`: a plain number is NaN,
 * because a core holds a number that is not finite, or beyond the range of the trains' type, to which plain numbers
 * are rounded as those of purlin_tt_inner are; all the same `values` are written. With `exponents` the call succeeds,
 * the mantissa is NaN and info.outcome NONFINITE.
 *
 * @pre `x` and `y` are NULL or valid for `count` handles, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_inner_batch(struct purlin_tt_contraction *contraction,
                                    const struct purlin_stream *stream,
                                    int64_t count,
                                    const struct purlin_tt *const *x,
                                    const struct purlin_tt *const *y,
                                    struct purlin_tensor *values,
                                    struct purlin_tensor *exponents,
                                    struct purlin_tt_contraction_info *info);

/**
 * Gram matrix: element (i, j) is the inner product of x_i and y_j, each with the operations of purlin_tt_inner. Where
 * both lists are the same, half of the products are computed.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      rows         number of bras.
 * @param[in]  x            the bras.
 * @param      cols         number of kets; not looked at where `y` is NULL.
 * @param[in]  y            the kets; NULL for `x`.
 * @param      values       rows x cols on the host, of CF64, or of F64 for the real parts; of mantissas where there are
 *                          exponents.
 * @param      exponents    rows x cols of I64 on the host, as for purlin_tt_inner_batch; may be NULL.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner_batch.
 *
 * @pre `x` is NULL or valid for `rows` handles, `y` for `cols`, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_gram(struct purlin_tt_contraction *contraction,
                             const struct purlin_stream *stream,
                             int64_t rows,
                             const struct purlin_tt *const *x,
                             int64_t cols,
                             const struct purlin_tt *const *y,
                             struct purlin_tensor *values,
                             struct purlin_tensor *exponents,
                             struct purlin_tt_contraction_info *info);

/**
 * An operator between two trains: the sum over all indices of conj(y[i]) H[i, j] x[j]. O(n w r s (r + s) + z r s) a
 * site of open trains with ranks r and s, where the operator has ranks w and z numbers other than 0 in its core.
 *
 * The bra `y` is the conjugated one. Each of the three may be open or cyclic, real or complex; the precision is one. It is
 * computed where the trains are, on a GPU if one of them is there, in the order of `stream`; the operator lies on the host.
 *
 * @param      contraction  the contraction; of its options `scaling`, `conjugate`, `cut`, `workspace_limit` and
 *                          `assume_hermitian` count. Its progress function hears of the sites, and
 *                          purlin_tt_contraction_cancel cancels.
 * @param      stream       NULL for the context's own.
 * @param      y            the bra: its mode sizes are the rows of `h`.
 * @param      h            the operator.
 * @param      x            the ket: its mode sizes are the columns of `h`; may be `y`.
 * @param[out] result       2 elements: real and imaginary part.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_inner, and `PURLIN_ERROR_NOT_SUPPORTED` (an operator on a device).
 *
 * @pre `result` is NULL or valid for 2 elements, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_sandwich(struct purlin_tt_contraction *contraction,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tt *y,
                                 const struct purlin_tt_matrix *h,
                                 const struct purlin_tt *x,
                                 double *result,
                                 struct purlin_tt_contraction_info *info);

/**
 * purlin_tt_sandwich with an exponent of its own.
 *
 * @param      contraction  the contraction.
 * @param      stream       NULL for the context's own.
 * @param      y            the bra.
 * @param      h            the operator.
 * @param      x            the ket; may be `y`.
 * @param[out] result       mantissa and exponent, logarithm and phase; the mantissa is NaN where a core of a train or
 *                          of `h` holds a number that is not finite; info.outcome is then NONFINITE.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_sandwich, without `PURLIN_ERROR_NUMERICAL`.
 *
 * @pre `result` is NULL or valid for writing, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_sandwich_scaled(struct purlin_tt_contraction *contraction,
                                        const struct purlin_stream *stream,
                                        const struct purlin_tt *y,
                                        const struct purlin_tt_matrix *h,
                                        const struct purlin_tt *x,
                                        struct purlin_tt_scaled *result,
                                        struct purlin_tt_contraction_info *info);

/**
 * Rayleigh quotient <x|H|x> / <x|x>, both in one sweep. It is right also where neither of the two fits its type. O(n
 * w r^3 + z r^2) a site, as purlin_tt_sandwich.
 *
 * @param      contraction  the contraction, as for purlin_tt_sandwich; the bra is conjugated in any case.
 * @param      stream       NULL for the context's own.
 * @param      h            the operator.
 * @param      x            the train, on the host or the context's device.
 * @param[out] quotient     2 elements: real and imaginary part. The second is rounding noise for a Hermitian operator: a
 *                          check of it; 0 with `assume_hermitian`.
 * @param[out] numerator    <x|H|x>; may be NULL.
 * @param[out] denominator  <x|x>; may be NULL.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_sandwich; `PURLIN_ERROR_NUMERICAL` also where <x|x> is 0, and then nothing is written.
 *
 * @pre `quotient` is NULL or valid for 2 elements, `numerator` and `denominator` are NULL or valid for writing, `info` NULL or
 * an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_rayleigh(struct purlin_tt_contraction *contraction,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tt_matrix *h,
                                 const struct purlin_tt *x,
                                 double *quotient,
                                 struct purlin_tt_scaled *numerator,
                                 struct purlin_tt_scaled *denominator,
                                 struct purlin_tt_contraction_info *info);

/**
 * Expectation values <x|A_k|x> / <x|x> of an operator at single sites, all in one sweep from either end. O(n r^3) a
 * site of an open train, and O(n r^3 + n^2 r^2) for each of `sites`.
 *
 * @param      contraction  the contraction, as for purlin_tt_sandwich; of its options `scaling`, `cut` and
 *                          `workspace_limit` count.
 * @param      stream       NULL for the context's own.
 * @param      x            the train, on the host or the context's device.
 * @param      op           the operator A, n x n on the host, element (i, j) taking state j to state i; F32, F64, CF32 or
 *                          CF64; n is the mode size of the sites.
 * @param      count        number of sites.
 * @param[in]  sites        their numbers, 0 to d - 1.
 * @param      values       `count` elements on the host, of CF64, or of F64 for the real parts.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_rayleigh, `values` being written where one of them is NaN or beyond the range of F64;
 * `PURLIN_ERROR_INVALID_ARGUMENT` also for a site out of range and dimensions. A `workspace_limit` below the need of
 * the environments of all bonds is refused with the bytes needed.
 *
 * @pre `sites` is NULL or valid for `count` elements, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_expect_local(struct purlin_tt_contraction *contraction,
                                     const struct purlin_stream *stream,
                                     const struct purlin_tt *x,
                                     const struct purlin_tensor *op,
                                     int64_t count,
                                     const int64_t *sites,
                                     struct purlin_tensor *values,
                                     struct purlin_tt_contraction_info *info);

/**
 * Correlations <x|A_k B_l|x> / <x|x> of two operators at all pairs of sites; where k = l the product A B stands at
 * the site. O(d^2 (n r^3 + n^2 r^2)) for an open train.
 *
 * @param      contraction  the contraction, as for purlin_tt_expect_local.
 * @param      stream       NULL for the context's own.
 * @param      x            the train, on the host or the context's device, all of whose mode sizes are n.
 * @param      a            the operator A, n x n, as for purlin_tt_expect_local.
 * @param      b            the operator B, likewise; may be `a`, and then half the work is saved.
 * @param      values       d x d on the host, of CF64, or of F64 for the real parts: element (k, l) is that of A_k B_l.
 * @param[out] info         report of the call; may be NULL.
 * @return as purlin_tt_expect_local.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_correlation(struct purlin_tt_contraction *contraction,
                                    const struct purlin_stream *stream,
                                    const struct purlin_tt *x,
                                    const struct purlin_tensor *a,
                                    const struct purlin_tensor *b,
                                    struct purlin_tensor *values,
                                    struct purlin_tt_contraction_info *info);

/**
 * The Hamiltonian of the transverse-field Ising chain, -J sum of sigma_x sigma_x over bonds - h sum of sigma_z over
 * sites, with Pauli matrices: rank 3, and on a ring 2 at the first bond.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      length    number of sites d, at least 1.
 * @param      cyclic    1 couples the last site to the first, where there are three or more; 0 does not.
 * @param      coupling  J.
 * @param      field     h.
 * @param[out] matrix    the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (element type, length, a
 * number that is not finite, NULL pointer), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_ising(const struct purlin_context *context,
                                     purlin_dtype dtype,
                                     int64_t length,
                                     int32_t cyclic,
                                     double coupling,
                                     double field,
                                     struct purlin_tt_matrix **matrix);

/**
 * The Hamiltonian of a Heisenberg chain of spins S, the sum over bonds of J_x S_x S_x + J_y S_y S_y + J_z S_z S_z less h
 * times the sum of S_z over sites: real, rank 5, and on a ring 4 at the first bond. States count from the largest S_z.
 *
 * @param      context     the context it belongs to.
 * @param      dtype       PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      length      number of sites d, at least 1.
 * @param      cyclic      1 couples the last site to the first, where there are three or more; 0 does not.
 * @param      twice_spin  2 S, at least 1.
 * @param[in]  couplings   J_x, J_y, J_z; positive ones are antiferromagnetic; NULL for 1, 1, 1.
 * @param      field       h.
 * @param[out] matrix      the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
 * @return as purlin_tt_matrix_ising.
 *
 * @pre `couplings` is NULL or valid for 3 elements, `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_heisenberg(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          int64_t length,
                                          int32_t cyclic,
                                          int64_t twice_spin,
                                          const double *couplings,
                                          double field,
                                          struct purlin_tt_matrix **matrix);

/**
 * The identity: rank 1.
 *
 * @param      context  the context it belongs to.
 * @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      length   number of sites d, at least 1.
 * @param[in]  modes    d mode sizes, at least 1.
 * @param[out] matrix   the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
 * @return as purlin_tt_matrix_ising.
 *
 * @pre `modes` is NULL or valid for `length` elements, `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_identity(const struct purlin_context *context,
                                        purlin_dtype dtype,
                                        int64_t length,
                                        const int64_t *modes,
                                        struct purlin_tt_matrix **matrix);

/**
 * A sum of products of operators at single sites, as a TT-matrix of small ranks: the finite automaton of its terms
 * (Ren, Li, Jiang and Shuai, J. Chem. Phys. 153, 084118, 2020). O(t^2) at a site that t terms begin at or go across,
 * and O(n^2 w^2) for a core of ranks w.
 *
 * Term t is `coefficients[t]` times the product of its `factors[t]` operators; those of one site are multiplied, the
 * first on the left. A term without factors is a multiple of the identity.
 *
 * @param      context       the context it belongs to.
 * @param      dtype         PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      length        number of sites d, at least 1.
 * @param[in]  modes         d mode sizes, at least 1.
 * @param      cyclic        1 lets terms go round the boundary of a ring where that is their shorter way; 0 does not.
 * @param      count         number of terms, not negative.
 * @param[in]  coefficients  real and imaginary part of each, 2 `count` elements.
 * @param[in]  factors       number of factors of each term, `count` elements.
 * @param[in]  sites         site of each factor, term by term, 0 to d - 1.
 * @param[in]  operators     operator of each factor, likewise: n x n on the host, element (i, j) taking state j to state
 *                           i; F32, F64, CF32 or CF64. The same tensor may stand at many places.
 * @param[out] matrix        the TT-matrix, on the host; destroy it with purlin_tt_matrix_destroy.
 * @return as purlin_tt_matrix_ising; `PURLIN_ERROR_INVALID_ARGUMENT` also for a site that there is not, an operator of
 * another size than its site, and complex terms in a real type.
 *
 * @pre The arrays are NULL or valid for the stated numbers of elements, `sites` and `operators` for the sum of `factors`;
 * `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_matrix_from_terms(const struct purlin_context *context,
                                          purlin_dtype dtype,
                                          int64_t length,
                                          const int64_t *modes,
                                          int32_t cyclic,
                                          int64_t count,
                                          const double *coefficients,
                                          const int64_t *factors,
                                          const int64_t *sites,
                                          const struct purlin_tensor *const *operators,
                                          struct purlin_tt_matrix **matrix);

/**
 * Makes the environments of <y|H|x>, or of <y|x>. None is computed yet.
 *
 * They take at most 2 sum of r_k w_k s_k elements of the context's memory. The trains are those of later calls too, until
 * purlin_tt_environments_set_trains: a call after one of them was destroyed is refused.
 *
 * @param      contraction   `scaling` and `conjugate` of its options count; it is not needed any longer than this
 *                           call. While it lives, purlin_tt_contraction_cancel cancels calls of the environments.
 * @param      y             the bra, on the host or the context's device.
 * @param      h             the operator; NULL for the identity.
 * @param      x             the ket, likewise; may be `y`. The environments are computed and kept where the trains are, on
 *                           the GPU if one of them is there.
 * @param[out] environments  the environments; destroy them with purlin_tt_environments_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (mode sizes, precision, another
 * context, a core that has not been set), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `environments` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_create(struct purlin_tt_contraction *contraction,
                                            const struct purlin_tt *y,
                                            const struct purlin_tt_matrix *h,
                                            const struct purlin_tt *x,
                                            struct purlin_tt_environments **environments);

/**
 * Builds the environment of one side of a bond, and those on the way to it, where they are missing: a step of a
 * sweep. Each of them costs a site of purlin_tt_sandwich.
 *
 * Calls of the same environments may be given different streams: each begins after those before it, without waiting
 * for them on the host. This one waits for the exponents of its steps.
 *
 * @param environments  the environments.
 * @param stream        NULL for the context's own.
 * @param side          PURLIN_TT_LEFT: of the sites before the bond; PURLIN_TT_RIGHT: of those after it.
 * @param bond          0 to d.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE` (also a train that was destroyed),
 * `PURLIN_ERROR_INVALID_ARGUMENT` (side, bond, ranks that changed unannounced, a stream of another context),
 * `PURLIN_ERROR_NOT_SUPPORTED` (an operator on a device, a stream that is being captured), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_build(struct purlin_tt_environments *environments,
                                           const struct purlin_stream *stream,
                                           int32_t side,
                                           int64_t bond);

/**
 * Declares that core k of the bra or of the ket has changed: environments that depend on it are computed anew when
 * they are needed.
 *
 * @param environments  the environments.
 * @param k             the core, 0 to d - 1.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`k` out of range),
 * `PURLIN_ERROR_BUSY`.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_update_core(struct purlin_tt_environments *environments,
                                                 int64_t k);

/**
 * Takes other trains from now on, which differ from those before in the cores `first` to `last` alone, and in the
 * ranks between these: the change of a two-site step of DMRG. Environments that depend on none of these cores are
 * kept.
 *
 * The trains before may be destroyed then. Numbers of the other cores must be the same; only their sizes are checked.
 *
 * @param environments  the environments.
 * @param y             the bra from now on.
 * @param x             the ket from now on; may be `y`. The operator stays.
 * @param first         the first core that differs, 0 to d - 1.
 * @param last          the last, `first` to d - 1.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (cores, trains of another
 * length, mode size, type, device or context, a rank that differs elsewhere), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure the environments are as before.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_set_trains(struct purlin_tt_environments *environments,
                                                const struct purlin_tt *y,
                                                const struct purlin_tt *x,
                                                int64_t first,
                                                int64_t last);

/**
 * Sizes and type of the environments at a bond.
 *
 * @param      environments  the environments.
 * @param      bond          0 to d.
 * @param[out] dims          4 sizes: rank of the bra, of the operator, boundary values (1 for open trains), rank of the
 *                           ket.
 * @param[out] dtype         element type, complex if a train or the operator is; may be NULL.
 * @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for a NULL pointer.
 *
 * @pre `dims` is NULL or valid for 4 elements, `dtype` NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_shape(struct purlin_tt_environments *environments,
                                           int64_t bond,
                                           int64_t *dims,
                                           int32_t *dtype);

/**
 * The environment of one side of a bond, built if it is missing.
 *
 * @param      environments  the environments.
 * @param      stream        NULL for the context's own.
 * @param      side          PURLIN_TT_LEFT or PURLIN_TT_RIGHT.
 * @param      bond          0 to d.
 * @param      values        of the dimensions and the type that purlin_tt_environments_shape gives, packed, on the host.
 *                           The third index is p_w + w (p_y + r p_x) of the boundary values of operator, bra and ket.
 * @param[out] exponent      the environment is `values` times two to this power.
 * @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for dimensions, type, and overlap with
 * a train.
 *
 * @pre `exponent` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_get(struct purlin_tt_environments *environments,
                                         const struct purlin_stream *stream,
                                         int32_t side,
                                         int64_t bond,
                                         struct purlin_tensor *values,
                                         int64_t *exponent);

/**
 * Applies the effective operator of 0, 1 or 2 sites from k on to a vector: the product of a local eigensolver.
 * Environments that are missing are built. With one site O(n w r s (r + s) + z r s), as for purlin_tt_sandwich; with
 * two O(n^2 w r s (r + s) + n (z + z') r s).
 *
 * With one site, out[a, i, a'] = sum over b, j, b' of L[a, w, b] H_k[w, i, j, w'] R[a', w', b'] v[b, j, b'].
 *
 * Vectors in the memory of the device where the environments are stay there: the call enqueues and returns. Once the
 * environments and one such call are done a graph may capture it; whoever replays that changes neither environments nor
 * trains, lets no other call of these environments run beside it, and keeps them. The graph keeps the operator's numbers.
 *
 * @param      environments  the environments.
 * @param      stream        NULL for the context's own.
 * @param      k             the first site, 0 to d - `sites`.
 * @param      sites         0 (v is a matrix of bond k), 1 or 2.
 * @param      v             ranks and modes of the ket at these sites, of the environments' type, packed, on the host
 *                           or on the device; neighbouring dimensions may be joined to one.
 * @param      out           those of the bra, likewise, in the same place. It may lie in cores `k` to `k` + `sites` -
 *                           1 of a train, but in no other core: the environments are made of those.
 * @param[out] exponent      the result is `out` times two to this power.
 * @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for sizes, type and overlap;
 * `PURLIN_ERROR_NOT_SUPPORTED` for one vector on the device, for both where the environments are on the host, and for
 * a stream that is being captured while something is missing or vectors are on the host; `PURLIN_ERROR_NUMERICAL` for
 * vectors on the device between bonds whose values differ by more than the range of the type.
 *
 * @pre `exponent` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_apply(struct purlin_tt_environments *environments,
                                           const struct purlin_stream *stream,
                                           int64_t k,
                                           int64_t sites,
                                           const struct purlin_tensor *v,
                                           struct purlin_tensor *out,
                                           int64_t *exponent);

/**
 * <y|H|x>, or <y|x>, from the environments that meet at a bond; they are built if they are missing. O(w r s), with
 * those at hand.
 *
 * @param      environments  the environments.
 * @param      stream        NULL for the context's own.
 * @param      bond          0 to d.
 * @param[out] result        mantissa and exponent, logarithm and phase; the mantissa is NaN where a core of a train or
 *                           of the operator holds a number that is not finite.
 * @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for a NULL pointer.
 *
 * @pre `result` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_value(struct purlin_tt_environments *environments,
                                           const struct purlin_stream *stream,
                                           int64_t bond,
                                           struct purlin_tt_scaled *result);

/**
 * <y|A_k|x> for an operator at one site, from environments without an operator: the work of one site, O(n r s (r + s)
 * + n^2 r s).
 *
 * @param      environments  the environments, made with a NULL operator.
 * @param      stream        NULL for the context's own.
 * @param      k             the site, 0 to d - 1.
 * @param      op            the operator, n x n, as for purlin_tt_expect_local.
 * @param[out] result        mantissa and exponent, logarithm and phase; the mantissa is NaN where a core of a train or
 *                           of the operator holds a number that is not finite.
 * @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for dimensions, a complex operator between
 * real trains, environments with an operator.
 *
 * @pre `result` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_environments_local(struct purlin_tt_environments *environments,
                                           const struct purlin_stream *stream,
                                           int64_t k,
                                           const struct purlin_tensor *op,
                                           struct purlin_tt_scaled *result);

/**
 * Destroys environments; their trains stay.
 *
 * @param environments  the environments; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_tt_environments_destroy(struct purlin_tt_environments *environments);

/**
 * alpha x + beta y, exactly: its ranks are the sums of those of x and y, but for the ends of open trains. The factors
 * go into the first core. O(n (r + s)^2) a site.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param[in]  alpha    2 elements: real and imaginary part; the latter is 0 for real trains.
 * @param      x        the train.
 * @param[in]  beta     likewise.
 * @param      y        a train of the same mode sizes and precision.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (precision, mode sizes; another
 * context, a core that has not been set, NULL pointer), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (by
 * purlin_context_cancel, at the next core), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`. After a failure `tt` is as before.
 *
 * @pre `alpha` and `beta` are NULL or valid for 2 elements, `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_add(const struct purlin_context *context,
                            const struct purlin_stream *stream,
                            const double *alpha,
                            const struct purlin_tt *x,
                            const double *beta,
                            const struct purlin_tt *y,
                            struct purlin_tt **tt);

/**
 * factor 2^exponent x, for factors that may lie beyond the range of the type. O(n r^2) a site.
 *
 * @param      context   the context of the trains.
 * @param      stream    NULL for the context's own.
 * @param      x         the train.
 * @param[in]  factor    2 elements: real and imaginary part; the latter is 0 for a real train.
 * @param      exponent  a power of two.
 * @param      spread    one of PURLIN_TT_SPREAD_*: which cores it goes to.
 * @param[out] tt        the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add. `PURLIN_ERROR_NUMERICAL`: the cores would leave the range of the type.
 *
 * @pre `factor` is NULL or valid for 2 elements, `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_scale(const struct purlin_context *context,
                              const struct purlin_stream *stream,
                              const struct purlin_tt *x,
                              const double *factor,
                              int64_t exponent,
                              int32_t spread,
                              struct purlin_tt **tt);

/**
 * The complex conjugate. O(n r^2) a site.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add.
 *
 * @pre `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_conj(const struct purlin_context *context,
                             const struct purlin_stream *stream,
                             const struct purlin_tt *x,
                             struct purlin_tt **tt);

/**
 * The product entry by entry: ranks multiply. O(n r^2 s^2) a site.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param      y        a train of the same mode sizes and precision.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add.
 *
 * @pre `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_hadamard(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tt *x,
                                 const struct purlin_tt *y,
                                 struct purlin_tt **tt);

/**
 * H x: ranks multiply. O(n^2 w^2 r^2) a site, where `h` has the ranks w.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param      h        the operator.
 * @param      x        a train whose mode sizes are the columns of `h`.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add.
 *
 * @pre `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_apply(const struct purlin_context *context,
                              const struct purlin_stream *stream,
                              const struct purlin_tt_matrix *h,
                              const struct purlin_tt *x,
                              struct purlin_tt **tt);

/**
 * The train read backwards: entry (i, j, ..) is that of x at (.., j, i). O(n r^2) a site.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add.
 *
 * @pre `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_reverse(const struct purlin_context *context,
                                const struct purlin_stream *stream,
                                const struct purlin_tt *x,
                                struct purlin_tt **tt);

/**
 * The ring that begins with another core. Of an open train that is a ring too. O(n r^2) a site.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param      first    the core that comes first, 0 to d - 1.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add.
 *
 * @pre `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_rotate(const struct purlin_context *context,
                               const struct purlin_stream *stream,
                               const struct purlin_tt *x,
                               int64_t first,
                               struct purlin_tt **tt);

/**
 * The open train of a ring, exactly: the boundary index is carried along, so that ranks multiply by r_0. O(n r^2
 * r_0^2) a site.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add.
 *
 * @pre `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_to_open(const struct purlin_context *context,
                                const struct purlin_stream *stream,
                                const struct purlin_tt *x,
                                struct purlin_tt **tt);

/**
 * A copy of another type: of another precision, or complex for a real train. O(n r^2) a site.
 *
 * Where single precision does not hold the largest number of a core, all cores get equal powers of two.
 *
 * @param      context  the context of the trains.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add. A complex train has no real copy.
 *
 * @pre `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_cast(const struct purlin_context *context,
                             const struct purlin_stream *stream,
                             const struct purlin_tt *x,
                             purlin_dtype dtype,
                             struct purlin_tt **tt);

/**
 * The train with orthonormal cores but for one: left of it they have orthonormal columns as (r n) x s matrices, right
 * of it orthonormal rows as r x (n s) ones, and the norm is that of the centre. Triangular factors have diagonals
 * that are not negative, so that the form is unique. Open trains alone. O(n r^3) a site.
 *
 * @param      context   the context of the trains.
 * @param      stream    NULL for the context's own.
 * @param      x         the train.
 * @param      centre    the core that holds the norm, 0 to d - 1.
 * @param[out] exponent  the train is to be multiplied with two to this power; 0 unless the centre would leave the range of its type.
 * @param[out] tt        the result, which lies where the first train does; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_add. `PURLIN_ERROR_NOT_SUPPORTED`: a ring; a train on the device and a stream that is being
 * captured.
 *
 * @pre `exponent` and `tt` are NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_canonicalize(const struct purlin_context *context,
                                     const struct purlin_stream *stream,
                                     const struct purlin_tt *x,
                                     int64_t centre,
                                     int64_t *exponent,
                                     struct purlin_tt **tt);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_round_options_init(struct purlin_tt_round_options *options,
                                           size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_round_info_init(struct purlin_tt_round_info *info,
                                        size_t size);

/**
 * The train of smallest ranks within an error of a given one: orthonormal from the right, truncated from the left
 * (Oseledets, SIAM J. Sci. Comput. 33, 2295, 2011). O(n r^3) a site.
 *
 * @param      context    the context of the train.
 * @param      stream     NULL for the context's own.
 * @param      x          an open train; purlin_tt_to_open makes one of a ring.
 * @param      options    NULL for the defaults, which drop rounding noise alone.
 * @param[out] tt         the result, which lies where `x` does; destroy it with purlin_tt_destroy.
 * @param      discarded  d - 1 elements of F64 on the host: norm of the part dropped at each bond, over the norm of
 *                        the input; may be NULL.
 * @param[out] info       report of the truncation; may be NULL.
 * @return as purlin_tt_add; `PURLIN_ERROR_NOT_SUPPORTED` (a ring; a train on the device and a stream that is being
 * captured), `PURLIN_ERROR_INVALID_ARGUMENT` also for options out of range and numbers that are not finite.
 *
 * @pre `options` is NULL or initialized, `tt` is NULL or valid for writing, `info` NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_round(const struct purlin_context *context,
                              const struct purlin_stream *stream,
                              const struct purlin_tt *x,
                              const struct purlin_tt_round_options *options,
                              struct purlin_tt **tt,
                              struct purlin_tensor *discarded,
                              struct purlin_tt_round_info *info);

/**
 * The product entry by entry, truncated without its cores together in memory. Where its numbers are so far apart that
 * its bonds must be balanced, its cores are in memory together. O(n r^3 s^3) a site.
 *
 * @param      context  the context of both.
 * @param      stream   NULL for the context's own.
 * @param      x        an open train.
 * @param      y        another of the same mode sizes and precision.
 * @param      options  NULL for the defaults, which drop rounding noise alone.
 * @param[out] tt       the result, which lies where `x` does; destroy it with purlin_tt_destroy.
 * @param[out] info     report of the truncation; may be NULL.
 * @return as purlin_tt_round.
 *
 * @pre As for purlin_tt_round.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_hadamard_round(const struct purlin_context *context,
                                       const struct purlin_stream *stream,
                                       const struct purlin_tt *x,
                                       const struct purlin_tt *y,
                                       const struct purlin_tt_round_options *options,
                                       struct purlin_tt **tt,
                                       struct purlin_tt_round_info *info);

/**
 * H x, truncated without its cores together in memory. Where its numbers are so far apart that its bonds must be
 * balanced, its cores are in memory together. O(n w^3 r^3 + n^2 w^2 r^2) a site, where `h` has the ranks w.
 *
 * @param      context  the context of both.
 * @param      stream   NULL for the context's own.
 * @param      h        the operator.
 * @param      x        a train whose mode sizes are the columns of `h`.
 * @param      options  NULL for the defaults, which drop rounding noise alone.
 * @param[out] tt       the result, which lies where `x` does; destroy it with purlin_tt_destroy.
 * @param[out] info     report of the truncation; may be NULL.
 * @return as purlin_tt_round.
 *
 * @pre As for purlin_tt_round.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_apply_round(const struct purlin_context *context,
                                    const struct purlin_stream *stream,
                                    const struct purlin_tt_matrix *h,
                                    const struct purlin_tt *x,
                                    const struct purlin_tt_round_options *options,
                                    struct purlin_tt **tt,
                                    struct purlin_tt_round_info *info);

/**
 * The train of a dense tensor, of the smallest ranks that the options allow. Bond k costs O(r n) operations for each
 * element that is left there: all elements at the first bond, r/n of the last bond's at each later one.
 *
 * @param      context    the context of the tensor.
 * @param      stream     NULL for the context's own.
 * @param      values     the tensor: F32, F64, CF32 or CF64, of any strides on the host, packed on a device.
 * @param      length     number of cores d; 0: the tensor's own dimensions are the mode sizes.
 * @param[in]  modes      d mode sizes of as many elements together, the first index fastest; NULL where `length` is 0.
 * @param      options    NULL for the defaults, which drop rounding noise alone.
 * @param[out] tt         the train, which lies where `values` does; destroy it with purlin_tt_destroy.
 * @param      discarded  d - 1 elements of F64 on the host: norm of the part dropped at each bond, over the norm of
 *                        the input; may be NULL.
 * @param[out] info       report of the truncation; may be NULL.
 * @return as purlin_tt_round, but `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory);
 * `PURLIN_ERROR_INVALID_ARGUMENT` also for the type, no elements, and mode sizes of another product.
 *
 * @pre As for purlin_tt_round; `modes` is NULL or valid for `length` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_svd(const struct purlin_context *context,
                            const struct purlin_stream *stream,
                            const struct purlin_tensor *values,
                            int64_t length,
                            const int64_t *modes,
                            const struct purlin_tt_round_options *options,
                            struct purlin_tt **tt,
                            struct purlin_tensor *discarded,
                            struct purlin_tt_round_info *info);

/**
 * A train of given mode sizes and ranks with normally distributed cores, such that the squared norm is 1 in the mean.
 * The same seed gives the same train on every backend. O(n r^2) a site.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      length    number of cores d, at least 1.
 * @param[in]  modes     d mode sizes, at least 1.
 * @param[in]  ranks     d + 1 ranks, at least 1, the first equal to the last.
 * @param      seed      seed of the numbers.
 * @param[out] tt        the train; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_create, and `PURLIN_ERROR_CANCELLED`.
 *
 * @pre `modes` is NULL or valid for `length` elements, `ranks` for `length + 1`; `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_random(const struct purlin_context *context,
                               purlin_dtype dtype,
                               purlin_location location,
                               int64_t length,
                               const int64_t *modes,
                               const int64_t *ranks,
                               uint64_t seed,
                               struct purlin_tt **tt);

/**
 * A train of rank 1 whose entries are all 0.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      length    number of cores d, at least 1.
 * @param[in]  modes     d mode sizes, at least 1.
 * @param[out] tt        the train; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_create, and `PURLIN_ERROR_CANCELLED`.
 *
 * @pre `modes` is NULL or valid for `length` elements; `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_zeros(const struct purlin_context *context,
                              purlin_dtype dtype,
                              purlin_location location,
                              int64_t length,
                              const int64_t *modes,
                              struct purlin_tt **tt);

/**
 * A train of rank 1 whose entries are all 1.
 *
 * @param      context   the context it belongs to.
 * @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      location  PURLIN_HOST or PURLIN_DEVICE.
 * @param      length    number of cores d, at least 1.
 * @param[in]  modes     d mode sizes, at least 1.
 * @param[out] tt        the train; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_create, and `PURLIN_ERROR_CANCELLED`.
 *
 * @pre `modes` is NULL or valid for `length` elements; `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_ones(const struct purlin_context *context,
                             purlin_dtype dtype,
                             purlin_location location,
                             int64_t length,
                             const int64_t *modes,
                             struct purlin_tt **tt);

/**
 * A product state: the train of rank 1 whose entry at (i, j, ..) is v_0[i] v_1[j] and so on. O(n) a site.
 *
 * @param      context   the context it belongs to.
 * @param      length    number of cores d, at least 1.
 * @param[in]  modes     d mode sizes, at least 1.
 * @param      vectors   the vectors one after another, on the host, packed: as many elements as the mode sizes together;
 *                       of the type that the train has, F32, F64, CF32 or CF64.
 * @param[out] tt        the train, on the host; destroy it with purlin_tt_destroy.
 * @return as purlin_tt_create, and `PURLIN_ERROR_INVALID_ARGUMENT` for `vectors`.
 *
 * @pre `modes` is NULL or valid for `length` elements; `tt` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_product_state(const struct purlin_context *context,
                                      int64_t length,
                                      const int64_t *modes,
                                      const struct purlin_tensor *vectors,
                                      struct purlin_tt **tt);

/**
 * An entry of the tensor that a train stands for. O(r^2) a site of an open train.
 *
 * @param      context  the context of the train.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param[in]  indices  d indices, from 0.
 * @param[out] result   2 elements: real and imaginary part, in the precision of the train.
 * @return as purlin_tt_add, and `PURLIN_ERROR_INVALID_ARGUMENT` for an index that there is not;
 * `PURLIN_ERROR_NUMERICAL` as purlin_tt_inner.
 *
 * @pre `indices` is NULL or valid for d elements, `result` NULL or valid for 2.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_element(const struct purlin_context *context,
                                const struct purlin_stream *stream,
                                const struct purlin_tt *x,
                                const int64_t *indices,
                                double *result);

/**
 * Entries of the tensor that a train stands for. Tuples that begin alike share that part of the work. O(r^2) a site
 * of each, in an open train, without such beginnings.
 *
 * @param      context  the context of the train.
 * @param      stream   NULL for the context's own.
 * @param      x        the train.
 * @param      count    number of entries.
 * @param[in]  indices  `count` tuples of d indices from 0, one after another.
 * @param      values   `count` elements on the host, of CF64, or of F64 for the real parts; infinite or 0 where an entry is
 *                      beyond their range.
 * @return as purlin_tt_element, without `PURLIN_ERROR_NUMERICAL`.
 *
 * @pre `indices` is NULL or valid for d `count` elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tt_elements(const struct purlin_context *context,
                                 const struct purlin_stream *stream,
                                 const struct purlin_tt *x,
                                 int64_t count,
                                 const int64_t *indices,
                                 struct purlin_tensor *values);

/**
 * The dense tensor that a train stands for. O(N r) for N elements, where r is the rank in the middle of an open
 * train. Entries whose ratio to the largest one is below the range of the type may be 0: purlin_tt_elements has an
 * exponent for each entry.
 *
 * @param context  the context of both.
 * @param stream   NULL for the context's own.
 * @param x        the train.
 * @param values   of the mode sizes as dimensions and of the train's element type, of any strides on the host (complete on
 *                 return); or packed, of as many elements in other dimensions.
 * @return as purlin_tt_add, and `PURLIN_ERROR_INVALID_ARGUMENT` for sizes, type, more than 2^31 elements, overlap;
 * `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory; a train on the device and a stream that is being captured);
 * `PURLIN_ERROR_NUMERICAL` (halves of the train beyond the range of the type).
 */
PURLIN_MUST_USE
purlin_status purlin_tt_full(const struct purlin_context *context,
                             const struct purlin_stream *stream,
                             const struct purlin_tt *x,
                             struct purlin_tensor *values);

/**
 * Makes a sparse matrix from coordinates, in any order, in memory of purlin's own. The columns of each of its rows
 * ascend and no place comes twice; its indices are zero-based, of 32 bits where that is enough. O(nnz log(longest
 * row)).
 *
 * @param      context     the context it belongs to.
 * @param      dtype       PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64, also of a pattern (`values` NULL).
 * @param      index_base  0 or 1: the first row and column number.
 * @param      rows        number of rows, not negative.
 * @param      cols        number of columns, not negative.
 * @param      nnz         number of entries given, not negative.
 * @param      index_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_idx     host, `nnz` rows.
 * @param[in]  col_idx     host, `nnz` columns.
 * @param[in]  values      host, `nnz` values; NULL for a pattern whose entries are all 1, and whose duplicates are one.
 * @param      duplicates  PURLIN_DUPLICATES_*.
 * @param[out] matrix      the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, negative size; the first entry outside the matrix or the first duplicate refused is named),
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre The arrays are NULL or valid for `nnz` elements during the call; `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_from_coordinates(const struct purlin_context *context,
                                             purlin_dtype dtype,
                                             int32_t index_base,
                                             int64_t rows,
                                             int64_t cols,
                                             int64_t nnz,
                                             purlin_dtype index_type,
                                             const void *row_idx,
                                             const void *col_idx,
                                             const void *values,
                                             int32_t duplicates,
                                             struct purlin_matrix **matrix);

/**
 * Makes a sparse matrix from compressed sparse columns, as MATLAB and SciPy's CSC have them: compressed rows in memory
 * of purlin's own. Of a symmetric matrix both are the same: purlin_matrix_borrow_csr then needs no copy. O(nnz + rows +
 * cols).
 *
 * @param      context       the context it belongs to.
 * @param      dtype         PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64, also of a pattern (`values` NULL).
 * @param      index_base    0 or 1: the first row and column number.
 * @param      rows          number of rows, not negative.
 * @param      cols          number of columns, not negative.
 * @param      nnz           number of stored entries, not negative.
 * @param      col_ptr_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  col_ptr       host, `cols + 1` offsets that start at `index_base`, do not decrease and end at
 *                           `nnz + index_base`.
 * @param      row_idx_type  PURLIN_I32 or PURLIN_I64.
 * @param[in]  row_idx       host, `nnz` rows.
 * @param[in]  values        host, `nnz` values; NULL for a pattern.
 * @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, negative size; the first wrong offset or row is named), `PURLIN_ERROR_CANCELLED`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre The arrays are NULL or valid for the stated numbers of elements during the call; `matrix` is NULL or valid for
 * writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_from_columns(const struct purlin_context *context,
                                         purlin_dtype dtype,
                                         int32_t index_base,
                                         int64_t rows,
                                         int64_t cols,
                                         int64_t nnz,
                                         purlin_dtype col_ptr_type,
                                         const void *col_ptr,
                                         purlin_dtype row_idx_type,
                                         const void *row_idx,
                                         const void *values,
                                         struct purlin_matrix **matrix);

/**
 * The entries of a dense matrix whose modulus is larger than `threshold`, as a sparse one; with 0 all that are not 0.
 * NaN is kept. O(rows cols).
 *
 * @param      a          dense, on the host, of a floating-point type.
 * @param      threshold  not negative.
 * @param[out] matrix     the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a threshold
 * below 0 or NaN, element type), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory),
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_from_dense(const struct purlin_matrix *a,
                                       double threshold,
                                       struct purlin_matrix **matrix);

/**
 * Writes every entry of a sparse matrix to a dense one; entries at one place are added. O(rows cols + nnz).
 *
 * @param a    sparse, on the host.
 * @param out  dense, of the same size and type, any order, on the host.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (size, type, read-only,
 * another context), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_CANCELLED` (which leaves some rows written).
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_to_dense(const struct purlin_matrix *a,
                                     struct purlin_matrix *out);

/**
 * A sparse matrix with the columns of each row ascending and every place once, zero-based. O(nnz log(longest row)).
 *
 * @param      a           sparse, on the host.
 * @param      duplicates  PURLIN_DUPLICATES_*.
 * @param[out] matrix      the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant, duplicates that are refused), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory),
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_canonical(const struct purlin_matrix *a,
                                      int32_t duplicates,
                                      struct purlin_matrix **matrix);

/**
 * The places of a sparse matrix's entries, each once, without values: every entry is 1. Products with it read 4 bytes an
 * entry, not 12. O(nnz log(longest row)).
 *
 * @param      a       sparse, on the host.
 * @param[out] matrix  the pattern; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_transpose.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_pattern(const struct purlin_matrix *a,
                                    struct purlin_matrix **matrix);

/**
 * The transpose of a sparse matrix. O(nnz + rows + cols).
 *
 * @param      a          sparse, on the host.
 * @param      conjugate  1 for the conjugate transpose, else 0.
 * @param[out] matrix     the transpose; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * `conjugate`), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_CANCELLED`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_transpose(const struct purlin_matrix *a,
                                      int32_t conjugate,
                                      struct purlin_matrix **matrix);

/**
 * A symmetric matrix (Hermitian if complex) from a square one without duplicates. Of a pattern UNION, INTERSECTION and
 * MIRROR are patterns; SUM and AVERAGE count with ones. The diagonal of a complex matrix becomes real.
 * O(nnz log(longest row)).
 *
 * @param      a       sparse, square, on the host.
 * @param      rule    PURLIN_SYMMETRIZE_*.
 * @param[out] matrix  the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for a matrix that is not square, duplicates,
 * and with MIRROR entries in both triangles or a diagonal that is not real.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_symmetrize(const struct purlin_matrix *a,
                                       int32_t rule,
                                       struct purlin_matrix **matrix);

/**
 * D_r A D_c of a sparse matrix and diagonal ones: its entries in their order, each with a value, of a pattern too, so
 * that a plan for one serves the other. O(nnz).
 *
 * @param      a       sparse, on the host.
 * @param      rows    as many elements as there are rows, of the matrix's type, on the host, which they are multiplied by;
 *                     NULL for ones.
 * @param      cols    as many as there are columns, likewise.
 * @param[out] matrix  the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for another number or type of factors.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_scale(const struct purlin_matrix *a,
                                  const struct purlin_tensor *rows,
                                  const struct purlin_tensor *cols,
                                  struct purlin_matrix **matrix);

/**
 * Row i of the result is row `rows[i]` of a sparse matrix, column j its column `cols[j]`. The same list for both numbers
 * the vertices of a graph anew. O(nnz log(longest row)).
 *
 * @param      a       sparse, on the host.
 * @param[in]  rows    a permutation of the rows, from 0; NULL keeps them.
 * @param[in]  cols    a permutation of the columns, from 0; NULL keeps them.
 * @param[out] matrix  the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for a list that is no permutation, naming the
 * element.
 *
 * @pre `rows` and `cols` are NULL or valid for as many elements as `a` has rows and columns; `matrix` is NULL or valid for
 * writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_permute(const struct purlin_matrix *a,
                                    const int64_t *rows,
                                    const int64_t *cols,
                                    struct purlin_matrix **matrix);

/**
 * The submatrix of the rows and columns listed, in that order. O(nnz log(longest row)).
 *
 * @param      a          sparse, on the host.
 * @param      row_count  number of rows listed, not negative; not used where `rows` is NULL.
 * @param[in]  rows       different rows, from 0; NULL for all.
 * @param      col_count  number of columns listed, not negative; not used where `cols` is NULL.
 * @param[in]  cols       different columns, from 0; NULL for all.
 * @param[out] matrix     the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for an index outside the matrix or listed
 * twice.
 *
 * @pre `rows` is NULL or valid for `row_count` elements, `cols` for `col_count`; `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_select(const struct purlin_matrix *a,
                                   int64_t row_count,
                                   const int64_t *rows,
                                   int64_t col_count,
                                   const int64_t *cols,
                                   struct purlin_matrix **matrix);

/**
 * Replaces the values of a sparse matrix in purlin's own memory; plans for it stay valid, but for those that
 * purlin_spmv_update updates. A borrowed matrix takes its values from the caller's array whenever it is used. O(nnz).
 *
 * @param matrix  sparse, not borrowed, with values.
 * @param values  as many elements as there are stored entries, in their order, of the matrix's type, on the host.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (number or type of values, a
 * pattern, a borrowed matrix), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_BUSY`.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_set_values(struct purlin_matrix *matrix,
                                       const struct purlin_tensor *values);

/**
 * A copy without entries of modulus at most `threshold`; 0 drops stored zeros only. Entries at one place count by
 * their sum, and the others keep their order; NaN stays, and the entries of a pattern are 1. Zero-based. O(rows +
 * nnz).
 *
 * @param      a          sparse, on the host.
 * @param      threshold  not negative.
 * @param[out] matrix     the matrix; destroy it with purlin_matrix_destroy.
 * @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for a threshold below 0 or NaN.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_drop_zeros(const struct purlin_matrix *a,
                                       double threshold,
                                       struct purlin_matrix **matrix);

/**
 * A copy of a sparse matrix in memory of purlin's own: on the host, where functions that make matrices of others need
 * it, or on the context's GPU, where products and solvers read it in place, and indices stay on the host too. It has
 * the values that `a` has now; only purlin_matrix_set_values changes them, so that data which solvers cache with the
 * matrix stay valid. O(rows + nnz).
 *
 * @param      a         sparse, anywhere; its queues' work is done.
 * @param      location  PURLIN_HOST, or PURLIN_DEVICE in a context on a GPU.
 * @param[out] matrix    the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, a device in a context on the CPU),
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
 *
 * @pre `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_copy_to(const struct purlin_matrix *a,
                                    purlin_location location,
                                    struct purlin_matrix **matrix);

/**
 * Reads a sparse matrix from a Matrix Market file of coordinates (Boisvert, Pozo, Remington, NISTIR 5935, 1996), plain
 * or compressed by gzip. Of a symmetric file, which holds one triangle, the other is its mirror image. Entries at one
 * place are added; of a pattern they are one. One pass over the file, and O(nnz log(longest row)).
 *
 * @param      context  the context it belongs to.
 * @param[in]  path     the file.
 * @param      dtype    type of the values, a floating-point one, or PURLIN_DTYPE_OF_FILE.
 * @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, element
 * type; a real one for complex values), `PURLIN_ERROR_NOT_SUPPORTED` (a file of a dense array), `PURLIN_ERROR_IO` (the
 * message names the line of an entry that is missing, malformed or beyond the range of the type; integers of a modulus
 * above 2^53, and those that single precision would round, are beyond it), `PURLIN_ERROR_CANCELLED`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `path` is NULL or a terminated string; `matrix` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_read_market(const struct purlin_context *context,
                                        const char *path,
                                        purlin_dtype dtype,
                                        struct purlin_matrix **matrix);

/**
 * Writes a sparse matrix to a Matrix Market file, its values with all their digits. The file gets its name once it is
 * complete. O(rows + nnz).
 *
 * @param     a          sparse, on the host.
 * @param[in] path       the file; one of that name is replaced. It is compressed by gzip if the name ends in `.gz`.
 * @param     symmetric  1: only the lower triangle, of a matrix that is symmetric (Hermitian if complex) bit for bit; 0:
 *                       every entry.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `symmetric`, a
 * matrix that is not), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_IO`,
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `path` is NULL or a terminated string.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_write_market(const struct purlin_matrix *a,
                                         const char *path,
                                         int32_t symmetric);

/**
 * Reads the adjacency matrix of a graph from an edge list, plain or compressed by gzip: two vertices a line, row and
 * column, and a weight if there is one, separated by blanks, tabs or commas. Lines that begin with `#` or `%` are passed
 * over. Edges are directed: purlin_matrix_symmetrize makes them undirected. One pass over the file, and
 * O(nnz log(longest row)).
 *
 * @param      context     the context it belongs to.
 * @param[in]  path        the file.
 * @param      dtype       PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
 * @param      weighted    1: the third number of a line is its value; 0: the matrix is a pattern.
 * @param      duplicates  PURLIN_DUPLICATES_*, for an edge that comes several times. A pattern has one entry for it,
 *                         whichever of SUM, FIRST, LAST and MAX is given.
 * @param[out] matrix      the matrix; destroy it with purlin_matrix_destroy.
 * @param[out] vertices    NULL: a vertex's number, not negative, is its row, and the largest says how many there are.
 *                         Else vertices are numbered in the order in which they first come, and this is a tensor of
 *                         PURLIN_I64 with the number in the file of each; destroy it with purlin_tensor_destroy.
 * @return as purlin_matrix_read_market.
 *
 * @pre `path` is NULL or a terminated string; `matrix` and `vertices` are NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_read_edges(const struct purlin_context *context,
                                       const char *path,
                                       purlin_dtype dtype,
                                       int32_t weighted,
                                       int32_t duplicates,
                                       struct purlin_matrix **matrix,
                                       struct purlin_tensor **vertices);

/**
 * Writes the stored entries of a real sparse matrix as edges: row, column, both from 0, and the value unless it is a
 * pattern. The file gets its name once it is complete. O(rows + nnz).
 *
 * @param     a          sparse, real, on the host.
 * @param[in] path       the file; one of that name is replaced. It is compressed by gzip if the name ends in `.gz`.
 * @param     symmetric  1: each edge of a symmetric matrix once, from the larger vertex to the smaller; 0: every entry.
 * @return as purlin_matrix_write_market.
 *
 * @pre `path` is NULL or a terminated string.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_write_edges(const struct purlin_matrix *a,
                                        const char *path,
                                        int32_t symmetric);

/**
 * An order of the vertices of a graph that brings the entries together that a product gathers: row i of the reordered
 * matrix is row `order[i]` of `a`. purlin_matrix_permute makes that matrix with this list for rows and columns. By
 * degree O(rows log(rows)), for power-law graphs; by Cuthill-McKee O(nnz log(longest row)), for meshes.
 *
 * @param a       sparse, square, on the host; one whose pattern is not symmetric is ordered by its rows alone.
 * @param method  PURLIN_ORDERING_DEGREE or PURLIN_ORDERING_CUTHILL_MCKEE.
 * @param order   n elements of PURLIN_I64 on the host: a permutation, from 0.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant, a matrix
 * that is not square, another size or type of `order`, an order in the memory of `a`), `PURLIN_ERROR_NOT_SUPPORTED`
 * (another storage),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (Cuthill-McKee), `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure `order`
 * is as before.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_order(const struct purlin_matrix *a,
                                  int32_t method,
                                  struct purlin_tensor *order);

/**
 * A norm of a sparse matrix, in double precision; entries at one place are added. NaN if an entry is.
 * O(nnz).
 *
 * @param      a     sparse, on the host.
 * @param      kind  PURLIN_NORM_FROBENIUS, PURLIN_NORM_ONE, PURLIN_NORM_MAX or PURLIN_NORM_INFINITY.
 * @param[out] norm  the norm.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
 * constant), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_CANCELLED`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `norm` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_norm(const struct purlin_matrix *a,
                                 int32_t kind,
                                 double *norm);

/**
 * Whether a sparse matrix is symmetric (Hermitian if complex): entries at the same places on both sides of the diagonal,
 * their values within `tolerance` times the largest modulus. Several entries at one place are added. O(nnz).
 *
 * @param      a          sparse, on the host; a rectangular one is not symmetric.
 * @param      tolerance  not negative.
 * @param[out] symmetric  1 or 0.
 * @return as purlin_matrix_norm; `PURLIN_ERROR_INVALID_ARGUMENT` also for a tolerance below 0 or NaN.
 *
 * @pre `symmetric` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_is_symmetric(const struct purlin_matrix *a,
                                         double tolerance,
                                         int32_t *symmetric);

/**
 * Reads a sparse matrix and refuses it if it is not as asked for, naming row, column and entry of the first that is not. Offsets
 * and columns were checked when the matrix was made; nothing else need hold for products, while Matrix Market files, solvers of
 * others and whoever looks for NaN may ask for more. O(nnz).
 *
 * @param a       sparse; on the host where values are checked.
 * @param checks  PURLIN_CHECK_SORTED, PURLIN_CHECK_DISTINCT and PURLIN_CHECK_FINITE, added; PURLIN_CHECK_FULL for all. Of
 *                symmetry see purlin_matrix_is_symmetric.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix that is not as
 * asked for, unknown flags), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, values on a device),
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_check(const struct purlin_matrix *a,
                                  int32_t checks);

/**
 * Sums of the rows of a sparse matrix: the degrees of a graph, a loop counted once. Summed in double precision. O(nnz).
 *
 * @param a     sparse, on the host.
 * @param sums  as many elements as there are rows, of the matrix's type, on the host.
 * @return as purlin_matrix_norm; `PURLIN_ERROR_INVALID_ARGUMENT` also for another size or type of `sums`,
 * `PURLIN_ERROR_BUSY`.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_row_sums(const struct purlin_matrix *a,
                                     struct purlin_tensor *sums);

/**
 * The diagonal of a sparse matrix; entries at one place are added. O(nnz).
 *
 * @param a         sparse, on the host.
 * @param diagonal  min(rows, cols) elements of the matrix's type, on the host.
 * @return as purlin_matrix_row_sums.
 */
PURLIN_MUST_USE
purlin_status purlin_matrix_diagonal(const struct purlin_matrix *a,
                                     struct purlin_tensor *diagonal);

/**
 * The connected components of a graph whose edges are the stored entries of a square matrix, whatever their direction
 * and value. Components are numbered by their lowest vertices. O(n + nnz), but for the inverse of Ackermann's function.
 *
 * @param      graph   sparse, square, on the host.
 * @param      labels  n elements of PURLIN_I64 on the host, the component of each vertex; NULL if not wanted.
 * @param[out] count   number of components; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix that is not
 * square, another size or type of `labels`, labels in the memory of `graph`), `PURLIN_ERROR_NOT_SUPPORTED` (another
 * storage), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_components(const struct purlin_matrix *graph,
                                      struct purlin_tensor *labels,
                                      int64_t *count);

/**
 * One connected component of a graph as a graph of its own. O(n + nnz log(longest row)).
 *
 * @param      graph      sparse, square, on the host.
 * @param      which      the component, as purlin_graph_components numbers them; -1 for the largest.
 * @param[out] component  the graph of the component; destroy it with purlin_matrix_destroy.
 * @param[out] vertices   tensor of PURLIN_I64 with the vertices of `graph` that it has, ascending; destroy it with
 *                        purlin_tensor_destroy; NULL if not wanted.
 * @return as purlin_graph_components; `PURLIN_ERROR_INVALID_ARGUMENT` also for a component that there is not.
 *
 * @pre `component` and `vertices` are NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_component(const struct purlin_matrix *graph,
                                     int64_t which,
                                     struct purlin_matrix **component,
                                     struct purlin_tensor **vertices);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_spmv_options_init(struct purlin_spmv_options *options,
                                       size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_spmv_info_init(struct purlin_spmv_info *info,
                                    size_t size);

/**
 * Plans products with a sparse matrix, or with an operator that is made of it (`options->kind`): looks at the lengths
 * of its rows, O(rows), and where SWEEPS is asked for or chosen sorts its entries, O(nnz); arrays in host memory are
 * copied to a GPU, O(nnz); with TRANSPOSE or ADJOINT of one that is not symmetric also makes a copy of the transpose,
 * O(nnz), with an order one in that order, O(nnz log(longest row)), and with a kind of graphs takes the row sums,
 * O(nnz). On the CPU the plan keeps nothing else of the matrix; on a GPU it keeps the structure and values that are in
 * host memory. purlin_spmv_update renews the values that it keeps.
 *
 * RANDOM_WALK_LAPLACIAN is the same of rows in any unit. Where a row's largest weight is beyond 2^256 or below 2^-256, in single
 * precision 2^32, the plan also keeps a copy whose rows are multiplied by powers of two. LAPLACIAN, SIGNLESS_LAPLACIAN and
 * MODULARITY need row sums whose double does not overflow.
 *
 * A matrix that is known by its products alone forms them itself, where it does so, one call at a time: with vectors elsewhere
 * than there they are copied, and the call waits. Row sums, for kinds of graphs, that of an image knows.
 *
 * @param      a        sparse; or an operator, by purlin_graph_operator_of_image or purlin_matrix_from_operator.
 * @param      options  NULL for the defaults. Of an operator `method` is AUTO, and there is no `ordering`.
 * @param[out] plan     the plan; destroy it with purlin_spmv_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * unknown constant, `symmetric`, `ordering`, `shift` or a kind of graphs of a rectangular matrix, `op` or `ordering`
 * of a kind that has none, for kinds of graphs an entry that is not finite, row sums below 0 of the normalized kinds
 * and not above 0 in total of the modularity, an interval of a filter that is none), `PURLIN_ERROR_NUMERICAL` (row
 * sums that overflow; of LAPLACIAN, SIGNLESS_LAPLACIAN and MODULARITY those whose double overflows, of
 * RANDOM_WALK_LAPLACIAN those whose inverse does), `PURLIN_ERROR_NOT_SUPPORTED` (another storage; of an operator a
 * method, an order, TRANSPOSE of complex numbers, a kind of graphs if it does not know its row sums),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `options` is NULL or initialized; `plan` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_spmv_create(const struct purlin_matrix *a,
                                 const struct purlin_spmv_options *options,
                                 struct purlin_spmv **plan);

/**
 * Updates a plan to new values if it stores row sums or a copy of the matrix: transposed, reordered or rescaled, or
 * on a GPU that of values in host memory. O(nnz). Other plans read the matrix itself and need no update. CUDA graphs
 * of its products that were captured before must not be launched any more: memory that they read may be gone.
 *
 * @param plan  the plan.
 * @param a     sparse, of the structure that was planned for.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (another number of rows,
 * columns or entries, another context, row sums as for purlin_spmv_create), `PURLIN_ERROR_NUMERICAL` (as there),
 * `PURLIN_ERROR_NOT_SUPPORTED` (another storage), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (row sums),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 */
PURLIN_MUST_USE
purlin_status purlin_spmv_update(struct purlin_spmv *plan,
                                 const struct purlin_matrix *a);

/**
 * y = alpha op(A) x + beta y, or with the operator of the plan's `kind` and `shift` in the place of op(A). With beta = 0 nothing
 * of y is read, with alpha = 0 nothing of A and x; rows without entries are written too. Reads 12 bytes an entry in F64 with 32-bit
 * indices, 4 of a pattern, and gathers x. O(nnz + rows).
 *
 * Of the kinds LAPLACIAN, SIGNLESS_LAPLACIAN and RANDOM_WALK_LAPLACIAN a product takes the row sums along and nothing more, on a
 * GPU in one kernel; the other normalized ones scale x first, the modularity adds a product of vectors, GRAM, OUTER_GRAM and
 * AUGMENTED take two products.
 *
 * Sums are of the element type; their order depends on the structure of A alone: equal calls give equal bits, whatever
 * the number of threads. |y_i - exact| <= 2 (length of row i + 2) eps (|alpha| |A| |x| + |beta| |y|)_i, if no product and no sum
 * on the way overflows or underflows, as in BLAS: alpha multiplies the sum of the row, and the terms of a kind are added to that.
 *
 * With x and y on a device nothing waits, and a graph may capture the call. The graph works in memory of the plan, which must
 * outlive it; of two instances of one such graph only one may run at a time.
 *
 * @param      plan    the plan.
 * @param      stream  NULL for the context's own. Outputs in host memory are complete on return.
 * @param[in]  alpha   a number of A's type; NULL for 1.
 * @param      a       the matrix that was planned for, or a sparse one of the same structure.
 * @param      x       columns of op(A), or of the operator, elements of A's type, without gaps.
 * @param[in]  beta    a number of A's type; NULL for 0.
 * @param      y       rows of the same, elements of A's type, without gaps; must not overlap x.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix of another
 * number of rows, columns or entries; sizes, types, overlap, read-only, another context), `PURLIN_ERROR_NOT_SUPPORTED` (strides, a device that
 * there are no products for), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
 * `PURLIN_ERROR_CUDA`.
 *
 * @pre `alpha` and `beta` are NULL or point to a number of A's element type.
 */
PURLIN_MUST_USE
purlin_status purlin_spmv_apply(const struct purlin_spmv *plan,
                                const struct purlin_stream *stream,
                                const void *alpha,
                                const struct purlin_matrix *a,
                                const struct purlin_tensor *x,
                                const void *beta,
                                struct purlin_tensor *y);

/**
 * Y = alpha op(A) X + beta Y for the columns of dense matrices. O((nnz + rows) b). Row-major ones without gaps are
 * read once for all of their columns, and the numbers that an entry of A multiplies are adjacent: the fast layout for
 * 2 to 16 columns. Column-major ones, of any leading dimension, take a product a column.
 *
 * @param      plan    the plan.
 * @param      stream  NULL for the context's own. Outputs in host memory are complete on return.
 * @param[in]  alpha   a number of A's type; NULL for 1.
 * @param      a       the matrix that was planned for, or a sparse one of the same structure.
 * @param      x       dense, columns of op(A) x b, of A's type.
 * @param[in]  beta    a number of A's type; NULL for 0.
 * @param      y       dense, rows of op(A) x b, of A's type and X's order; must not overlap X.
 * @return as purlin_spmv_apply; `PURLIN_ERROR_NOT_SUPPORTED` also for different orders, or row-major with gaps.
 *
 * @pre As for purlin_spmv_apply.
 */
PURLIN_MUST_USE
purlin_status purlin_spmv_apply_block(const struct purlin_spmv *plan,
                                      const struct purlin_stream *stream,
                                      const void *alpha,
                                      const struct purlin_matrix *a,
                                      const struct purlin_matrix *x,
                                      const void *beta,
                                      struct purlin_matrix *y);

/**
 * Properties of a plan.
 *
 * @param      plan  the plan.
 * @param[out] info  filled in; initialize it with purlin_spmv_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
 * struct_size).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_spmv_properties(const struct purlin_spmv *plan,
                                     struct purlin_spmv_info *info);

/**
 * Destroys a plan.
 *
 * @param plan  the plan; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_spmv_destroy(struct purlin_spmv *plan);

/**
 * Writes the defaults.
 *
 * @param[out] options  the struct.
 * @param      size     `sizeof *options`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `options` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_options_init(struct purlin_lanczos_options *options,
                                          size_t size);

/**
 * Sets `struct_size` and zeroes the rest.
 *
 * @param[out] info  the struct.
 * @param      size  `sizeof *info`.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
 *
 * @pre `info` is NULL or valid for `size` writable bytes.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_info_init(struct purlin_lanczos_info *info,
                                       size_t size);

/**
 * Makes an eigensolver with options, for any number of matrices. The object's calls are made one at a time; two threads
 * that solve at the same time have an object each.
 *
 * @param      context  the context of all matrices and outputs of later calls; `options->group` has more.
 * @param      options  NULL for the defaults: the 6 largest eigenvalues.
 * @param[out] lanczos  the solver; destroy it with purlin_lanczos_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * unknown constant, an option that is out of range for every matrix, options that exclude each other, a group that begins
 * with another context), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `options` is NULL or initialized; `lanczos` is NULL or valid for writing;
 * `options->progress` may be called with its user pointer while the object lives.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_create(const struct purlin_context *context,
                                    const struct purlin_lanczos_options *options,
                                    struct purlin_lanczos **lanczos);

/**
 * Destroys a solver. A call that runs goes on to its end.
 *
 * @param lanczos  the solver; NULL does nothing.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
purlin_status purlin_lanczos_destroy(struct purlin_lanczos *lanczos);

/**
 * Cancels the call that runs on a solver, which then returns `PURLIN_ERROR_CANCELLED` after the product that it is at.
 * Later calls are not touched. May be called from any thread and from a progress function; it waits for nothing.
 *
 * @param lanczos  the solver.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_cancel(const struct purlin_lanczos *lanczos);

/**
 * Gives the report of the solver's last run: purlin_lanczos_solve, purlin_lanczos_singular,
 * purlin_lanczos_tridiagonalize and the functions of graphs that take a solver, with success or
 * `PURLIN_ERROR_NO_CONVERGENCE`; a run that fails otherwise leaves it. Of the recurrences of
 * purlin_lanczos_tridiagonalize and purlin_graph_density, `basis` has the steps asked for, `products` those made, and
 * `stop_reason` is EXHAUSTED if a space was invariant, else RESTARTS; there are no pairs. May be called from any
 * thread, also while a call runs, which it does not wait for.
 *
 * @param      lanczos  the solver.
 * @param[out] info     the report; initialize it with purlin_lanczos_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size;
 * no run so far).
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_last_info(const struct purlin_lanczos *lanczos,
                                       struct purlin_lanczos_info *info);

/**
 * Gives the plan of a purlin_lanczos_solve: the method and why, the vectors of the space, the memory of the run, and
 * of a square sparse matrix how its rows are distributed over the solver's contexts and how much data a product moves.
 * If only purlin can change the values (purlin_matrix_copy_csr, patterns), the matrix caches the parts, copies of the
 * rows, for the solve. O(nnz); no products.
 *
 * The plan refuses the same options, inputs and limits of memory as purlin_lanczos_solve with vectors in host memory,
 * with the same status and message, and accepts all others. Entries are not read: a matrix that is not symmetric, row
 * sums below 0 and numbers that are not finite show in the solve.
 *
 * @param      lanczos  the solver.
 * @param      a        the matrix, as for purlin_lanczos_solve.
 * @param      known    as for purlin_lanczos_solve; NULL for none.
 * @param      solve    as for purlin_lanczos_solve; NULL for none.
 * @param[out] info     `method`, `reason`, `basis`, `degree`, `host_bytes`, `device_bytes`, `contexts`, `part_rows`,
 *                      `part_entries`, `halo`, `halo_bytes` and `product_bytes` are filled in, the rest is 0; initialize it
 *                      with purlin_lanczos_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * options that the matrix is too small for or that the inputs exclude, a matrix that is not square or of another
 * context), `PURLIN_ERROR_NOT_SUPPORTED` (storage, an option that there is not for it), `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_plan(const struct purlin_lanczos *lanczos,
                                  const struct purlin_matrix *a,
                                  const struct purlin_matrix *known,
                                  const struct purlin_matrix *solve,
                                  struct purlin_lanczos_info *info);

/**
 * Computes k eigenpairs of a symmetric or Hermitian matrix, of a Laplacian of a graph, or of another operator that is
 * never formed (`options->kind`).
 *
 * Thick-restart Lanczos with full reorthogonalization (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 2000), which finds
 * the same pairs as ARPACK with about as many products: n (m + k + 1) numbers of memory, 6 n m^2 operations of
 * orthogonalization a restart. A test shows whether copies of multiple eigenvalues are missing, which a Krylov space
 * of one vector cannot hold, and a search finds them (`options->verify`). Residuals and inner products are computed
 * from the vectors returned, and a pair for which they contradict the iteration counts as not converged. A sparse
 * matrix is checked to be symmetric, O(nnz); one with values on the device by two products with random vectors.
 *
 * On a GPU the plan of the products stays with the matrix for the next call. Of matrices by purlin_matrix_copy_csr and
 * purlin_matrix_borrow_csr_device, and of patterns, later calls then do nothing on the host that grows with the
 * entries. Vectors that stay on the device save their way to the host.
 *
 * With several contexts (`options->group`) each has some rows, and takes the others' numbers that it needs for a product,
 * `info->halo` of them in all; device outputs belong to the matrix's context.
 *
 * The same build, input and options give the same bits, whatever the number of threads; other numbers of contexts give
 * other roundings.
 *
 * @param      lanczos    the solver.
 * @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      a          sparse (with PURLIN_LANCZOS_MATRIX, GRAM, OUTER_GRAM and AUGMENTED also an operator of the
 *                        caller's, see purlin_matrix_from_operator), or with MATRIX to MODULARITY a graph by
 *                        purlin_graph_operator_of_image; neither NaN nor infinite; W of the graph operators
 *                        is real. Row sums of the normalized kinds are not negative, and their sum is above 0 for the
 *                        modularity; other kinds take any.
 * @param      start      n elements of a's type, the start vector; NULL for a random one.
 * @param      known      dense, n x j, of a's type: vectors to keep out of the space, independent, which need not be
 *                        orthonormal: eigenvectors that are known, or other vectors of their span. Residuals are no
 *                        smaller than these leave them. Where not all pairs converge, one product with each shows by
 *                        how much it leaves the span: by more than 1e-3 ||A|| it is refused. NULL for none.
 * @param      solve      with PURLIN_LANCZOS_NEAREST: an operator of the caller's that solves (A - sigma I) x = b; NULL
 *                        for none. Where not all pairs converge or a number is not finite, it is tested with one b.
 * @param      values     k elements of PURLIN_F64 on the host: eigenvalues in the order that `which` says.
 * @param      vectors    dense, n x k, of a's type, any order on the host, column-major on the device of a context on a
 *                        GPU, where they then stay: eigenvectors of 2-norm 1, the entry of largest modulus of each real
 *                        and positive; NULL if not wanted.
 * @param      residuals  k elements of PURLIN_F64 on the host: ||A x - lambda x||_2, from the vectors returned; NULL if
 *                        not wanted.
 * @param[out] info       report of the call; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix that is not
 * square or not symmetric, or has an entry that is not finite, row sums as for purlin_spmv_create, options that the
 * matrix is too small for, sizes, types, overlap, another context; vectors that are 0, not finite or dependent; known
 * vectors that are no eigenvectors and a solve that does not invert, if pairs have not converged),
 * `PURLIN_ERROR_NO_CONVERGENCE` (`info->count` pairs are in the outputs, the first `info->converged` of them good; the
 * rest of the outputs is unchanged), `PURLIN_ERROR_NOT_SUPPORTED` (storage, an option that there is not for it),
 * `PURLIN_ERROR_NUMERICAL` (products that are not finite, an operator's norm above 1.3e154, in single precision
 * 3.4e38, row sums as for purlin_spmv_create, residuals that show that the operator is not symmetric),
 * `PURLIN_ERROR_IO` (the caller's function reported an error), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure the object is ready for another call.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_solve(struct purlin_lanczos *lanczos,
                                   const struct purlin_stream *stream,
                                   const struct purlin_matrix *a,
                                   const struct purlin_tensor *start,
                                   const struct purlin_matrix *known,
                                   const struct purlin_matrix *solve,
                                   struct purlin_tensor *values,
                                   struct purlin_matrix *vectors,
                                   struct purlin_tensor *residuals,
                                   struct purlin_lanczos_info *info);

/**
 * Makes one purlin_lanczos_solve with options of its own.
 *
 * @param      context    the context of the matrix and the outputs; `options->group` has more.
 * @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      a          as for purlin_lanczos_solve.
 * @param      start      n elements of a's type, the start vector; NULL for a random one.
 * @param      known      as for purlin_lanczos_solve; NULL for none.
 * @param      solve      as for purlin_lanczos_solve; NULL for none.
 * @param      options    NULL for the defaults: the 6 largest eigenvalues of `a`.
 * @param      values     k elements of PURLIN_F64 on the host: eigenvalues.
 * @param      vectors    dense, n x k, as for purlin_lanczos_solve; NULL if not wanted.
 * @param      residuals  k elements of PURLIN_F64 on the host; NULL if not wanted.
 * @param[out] info       report of the call; may be NULL.
 * @return as purlin_lanczos_create and purlin_lanczos_solve.
 *
 * @pre `options` and `info` are NULL or initialized structs; `options->progress` may be called with its user pointer during the
 * call.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_solve_once(const struct purlin_context *context,
                                        const struct purlin_stream *stream,
                                        const struct purlin_matrix *a,
                                        const struct purlin_tensor *start,
                                        const struct purlin_matrix *known,
                                        const struct purlin_matrix *solve,
                                        const struct purlin_lanczos_options *options,
                                        struct purlin_tensor *values,
                                        struct purlin_matrix *vectors,
                                        struct purlin_tensor *residuals,
                                        struct purlin_lanczos_info *info);

/**
 * Gives the plan of a purlin_lanczos_singular: the method and why, the vectors of its first space, and the memory of
 * the run, with Golub-Kahan-Lanczos where that begins or may follow. The run reports the same `method`, `reason`,
 * `host_bytes` and `device_bytes`. O(1), on a GPU O(nnz) until the matrix is there; no products.
 *
 * The plan refuses the same options, matrices and limits of memory as purlin_lanczos_singular, with the same status and
 * message, and accepts all others. Entries are not read.
 *
 * @param      lanczos  the solver, as for purlin_lanczos_singular.
 * @param      a        the matrix, as for purlin_lanczos_singular.
 * @param[out] info     `method`, `reason`, `basis`, `degree`, `host_bytes`, `device_bytes` and `contexts`, which is 1, are
 *                      filled in, of a sparse matrix also `part_rows`, `part_entries` and `product_bytes`, of a product with
 *                      A and one with A^H; the rest is 0. Initialize it with purlin_lanczos_info_init.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
 * options that purlin_lanczos_singular does not use or the matrix is too small for, another kind, several contexts, a
 * matrix of another context), `PURLIN_ERROR_NOT_SUPPORTED` (storage, the smallest with PURLIN_LANCZOS_AUGMENTED),
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_plan_singular(const struct purlin_lanczos *lanczos,
                                           const struct purlin_matrix *a,
                                           struct purlin_lanczos_info *info);

/**
 * Computes k singular triplets A v = s u, A^H u = s v of a sparse matrix: the largest or the smallest.
 *
 * The largest begin with the eigenvectors of A^H A or A A^H, whichever is smaller (`options->kind`
 * PURLIN_LANCZOS_MATRIX, the default, or GRAM), or of [0 A; A^H 0] (AUGMENTED; Golub and Kahan, SIAM J. Numer. Anal.
 * 2, 1965). None of these is formed. A Rayleigh-Ritz step follows, and the residuals of both equations are computed.
 * Values below sqrt(eps) ||A|| are lost in A^H A: where the residuals are too large, and for the smallest values of
 * the default kind at once, Golub-Kahan-Lanczos with thick restart finds the triplets (Baglama and Reichel, SIAM J.
 * Sci. Comput. 27, 2005). It squares nothing, and keeps `basis` vectors of both sizes. Values are then accurate to
 * about eps ||A||, and u and v are orthonormal also where values are 0. A step takes one product with A, one with
 * A^H, and O(basis min(rows, cols)) operations of orthogonalization, O(basis (rows + cols)) with Golub-Kahan-Lanczos.
 *
 * A triplet has converged when the larger of its residuals is at most 2 `tolerance` s, or 16 sqrt(m) eps ||A|| where
 * that is more. Copies of multiple values are looked for unless `verify` is OFF. `method`, `block`,
 * `orthogonalization` and `filter` are of the eigenvectors of A^H A: with them the search begins there whatever the
 * kind and `which`.
 *
 * The same build, input and options give the same bits, whatever the number of threads.
 *
 * @param      lanczos    the solver, on one context: `count` is k, at most min(rows, cols); `which`
 *                        PURLIN_LANCZOS_LARGEST or, not with PURLIN_LANCZOS_AUGMENTED, PURLIN_LANCZOS_SMALLEST;
 *                        `shift` is 0.
 * @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      a          sparse or an operator of the caller's, rows x cols, neither NaN nor infinite.
 * @param      start      min(rows, cols) elements of a's type on the host, the start vector: a right singular vector if
 *                        cols <= rows, else a left one; NULL for a random one.
 * @param      u          dense, rows x k, of a's type, any order, on the host: left vectors, orthonormal; NULL if not
 *                        wanted.
 * @param      values     k elements of PURLIN_F64 on the host: singular values in the order that `which` says.
 * @param      v          dense, cols x k, as `u`: right vectors.
 * @param      residuals  k elements of PURLIN_F64 on the host: the larger of ||A v - s u||_2 and ||A^H u - s v||_2,
 *                        computed from the vectors; NULL if not wanted.
 * @param[out] info       report of the call: a product counts one with A and one with A^H, `norm` is that of A, and
 *                        `basis` is that of Golub-Kahan-Lanczos where that followed; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (options that this call
 * does not use or the matrix is too small for, another kind, sizes, types, overlap; a start vector that is 0 or not
 * finite; an operator whose adjoint a product shows to be another's), `PURLIN_ERROR_NO_CONVERGENCE`
 * (`info->count` triplets are in the outputs, the first `info->converged` of
 * them good; the rest of the outputs is unchanged), `PURLIN_ERROR_NOT_SUPPORTED` (storage, the smallest with
 * PURLIN_LANCZOS_AUGMENTED), `PURLIN_ERROR_NUMERICAL` (products that are not finite, a norm above 1.3e154, in single
 * precision 3.4e38), `PURLIN_ERROR_IO` (the caller's function reported an error), `PURLIN_ERROR_CANCELLED`,
 * `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure the object is ready for another call.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_singular(struct purlin_lanczos *lanczos,
                                      const struct purlin_stream *stream,
                                      const struct purlin_matrix *a,
                                      const struct purlin_tensor *start,
                                      struct purlin_matrix *u,
                                      struct purlin_tensor *values,
                                      struct purlin_matrix *v,
                                      struct purlin_tensor *residuals,
                                      struct purlin_lanczos_info *info);

/**
 * Makes one purlin_lanczos_singular with options of its own.
 *
 * @param      context    the context of the matrix and the outputs.
 * @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      a          as for purlin_lanczos_singular.
 * @param      start      min(rows, cols) elements of a's type, the start vector; NULL for a random one.
 * @param      options    NULL for the defaults: the 6 largest singular values of `a`.
 * @param      u          dense, rows x k, as for purlin_lanczos_singular; NULL if not wanted.
 * @param      values     k elements of PURLIN_F64 on the host: singular values.
 * @param      v          dense, cols x k, as `u`; NULL if not wanted.
 * @param      residuals  k elements of PURLIN_F64 on the host; NULL if not wanted.
 * @param[out] info       report of the call; may be NULL.
 * @return as purlin_lanczos_create and purlin_lanczos_singular.
 *
 * @pre `options` and `info` are NULL or initialized structs; `options->progress` may be called with its user pointer during the
 * call.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_singular_once(const struct purlin_context *context,
                                           const struct purlin_stream *stream,
                                           const struct purlin_matrix *a,
                                           const struct purlin_tensor *start,
                                           const struct purlin_lanczos_options *options,
                                           struct purlin_matrix *u,
                                           struct purlin_tensor *values,
                                           struct purlin_matrix *v,
                                           struct purlin_tensor *residuals,
                                           struct purlin_lanczos_info *info);

/**
 * Runs the plain three-term recurrence of Lanczos, in Paige's order and without reorthogonalization: its coefficients
 * are those of rounding as well. For purlin_lanczos_cullum_willoughby, spectral densities and functions of matrices.
 * Three vectors of memory, one product and O(n) operations a step.
 *
 * @param      lanczos  the solver, on one context; `kind`, `shift`, `ordering`, `check_symmetry`, `seed` and
 *                      `progress` of its options are used; others, but for `count`, are refused where they are set.
 * @param      stream   NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      a        as for purlin_lanczos_solve.
 * @param      steps    number of steps m, at least 1.
 * @param      start    n elements of a's type, the start vector; NULL for a random one.
 * @param[out] alpha    m numbers: the diagonal.
 * @param[out] beta     m numbers: beside it, and the last, which leads out of the space.
 * @param[out] count    steps made: fewer than m where the space is invariant; the rest of `alpha` and `beta` is as it was.
 * @return as purlin_lanczos_solve, but for NO_CONVERGENCE.
 *
 * @pre `alpha` and `beta` are NULL or valid for `steps` numbers; `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_tridiagonalize(struct purlin_lanczos *lanczos,
                                            const struct purlin_stream *stream,
                                            const struct purlin_matrix *a,
                                            int64_t steps,
                                            const struct purlin_tensor *start,
                                            double *alpha,
                                            double *beta,
                                            int64_t *count);

/**
 * The eigenvalues of A among those of a recurrence's tridiagonal matrix T, by the test of Cullum and Willoughby
 * (Lanczos Algorithms for Large Symmetric Eigenvalue Computations, 1985). Of values nearer to each other than
 * `cluster` times the largest one is taken; a single one is spurious if T without its first row and column has it too;
 * only values whose residuals are at most `converged` times the largest pass. It sees one copy of each eigenvalue.
 * O(m^2), about 6e-8 m^2 seconds: 1 s for m = 4000, 6 s for 10 000. It has no progress and cannot be cancelled; a
 * solve with METHOD_PLAIN can.
 *
 * @param      m          number of steps, not negative.
 * @param[in]  alpha      m numbers.
 * @param[in]  beta       m numbers, as purlin_lanczos_tridiagonalize gives them.
 * @param      cluster    0 to 1; 1e-12 for double precision.
 * @param      converged  0 to 1.
 * @param[out] accepted   memory for m values; ascending.
 * @param[out] count      number of values accepted.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a negative size, tolerances out of range,
 * numbers that are not finite), `PURLIN_ERROR_NUMERICAL` (an eigenvalue of T does not converge),
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `alpha` and `beta` are NULL or valid for `m` numbers, `accepted` for `m` values; `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_lanczos_cullum_willoughby(int64_t m,
                                               const double *alpha,
                                               const double *beta,
                                               double cluster,
                                               double converged,
                                               struct purlin_lanczos_accepted *accepted,
                                               int64_t *count);

/**
 * Eigenvalues of a symmetric tridiagonal matrix, with the first and last components of its eigenvectors of 2-norm 1:
 * all that residuals and quadratures of a recurrence need. Implicit QL with Wilkinson's shift (Bowdler, Martin,
 * Reinsch, Wilkinson, Numer. Math. 11, 1968), O(m^2), about 3e-8 m^2 seconds: 1 s for m = 6000, 3 s for 10 000. It has
 * no progress and cannot be cancelled.
 *
 * @param      m         order, not negative.
 * @param[in]  diagonal  m numbers.
 * @param[in]  off       the m - 1 numbers beside it.
 * @param[out] values    m eigenvalues, ascending.
 * @param[out] first     m first components; NULL if not wanted.
 * @param[out] last      m last components; NULL if not wanted.
 * @return as purlin_lanczos_cullum_willoughby.
 *
 * @pre The arrays are NULL or valid for the stated numbers of elements.
 */
PURLIN_MUST_USE
purlin_status purlin_tridiagonal_eigenvalues(int64_t m,
                                             const double *diagonal,
                                             const double *off,
                                             double *values,
                                             double *first,
                                             double *last);

/**
 * Coordinates of the vertices of a graph, in which those that hang together lie together: eigenvectors of the k
 * smallest eigenvalues of the normalized Laplacian I - D^-1/2 W D^-1/2, found as the largest of D^-1/2 W D^-1/2. It
 * costs purlin_lanczos_solve for k pairs, and O(n k).
 *
 * @param      lanczos      the solver: `count` of its options is k, `which` SMALLEST or the default, `kind` and `shift` are not
 *                          to be set.
 * @param      stream       NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      graph        sparse, PURLIN_F64 or PURLIN_F32, symmetric, row sums not negative; or by
 *                          purlin_graph_operator_of_image. Weights below 0 draw their vertices apart: eigenvalues may then be
 *                          below 0 or above 2.
 * @param      scaling      PURLIN_GRAPH_SCALING_*.
 * @param      coordinates  dense, n x k, PURLIN_F64, any order, on the host.
 * @param      values       k elements of PURLIN_F64: the eigenvalues of the normalized Laplacian, ascending; NULL if not
 *                          wanted.
 * @param[out] info         report of the eigensolver; may be NULL.
 * @return as purlin_lanczos_solve.
 *
 * @pre `info` is NULL or an initialized struct.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_embed(struct purlin_lanczos *lanczos,
                                 const struct purlin_stream *stream,
                                 const struct purlin_matrix *graph,
                                 int32_t scaling,
                                 struct purlin_matrix *coordinates,
                                 struct purlin_tensor *values,
                                 struct purlin_lanczos_info *info);

/**
 * Clusters of a graph, from an embedding: as many as `count` of the solver's options. It costs purlin_graph_embed,
 * and purlin_graph_k_means or purlin_graph_pivoted_qr.
 *
 * @param      lanczos      the solver: `count` of its options is the number of clusters, `which` SMALLEST or the
 *                          default, `kind` and `shift` are not to be set; k-means has the same seed.
 * @param      stream       NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      graph        as for purlin_graph_embed.
 * @param      assignment   PURLIN_GRAPH_LABELS_K_MEANS or PURLIN_GRAPH_LABELS_PIVOTED_QR.
 * @param      start_count  starts of k-means, at least 1; 10 is usual. The best result stays. Not used by pivoted QR,
 *                          which has none.
 * @param      labels       n elements of PURLIN_I64 on the host: the cluster of each vertex, 0 to k - 1.
 * @param[out] inertia      sum of the squared distances of the coordinates from their centres; may be NULL.
 * @param[out] info         report of the eigensolver; may be NULL.
 * @return as purlin_lanczos_solve; after `PURLIN_ERROR_NO_CONVERGENCE` the labels are those of the last iterate, if that
 * has k pairs, and as they were if not.
 *
 * @pre `info` is NULL or an initialized struct; `inertia` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_cluster(struct purlin_lanczos *lanczos,
                                   const struct purlin_stream *stream,
                                   const struct purlin_matrix *graph,
                                   int32_t assignment,
                                   int64_t start_count,
                                   struct purlin_tensor *labels,
                                   double *inertia,
                                   struct purlin_lanczos_info *info);

/**
 * k-means by Lloyd's iteration from the starts of k-means++ (Arthur and Vassilvitskii, SODA 2007), the best of
 * `start_count`. O(start_count n k dims) a round. The same seed gives the same labels for any number of threads.
 *
 * @param      points       dense, n x dims, PURLIN_F64 or PURLIN_F32 (computed with in F64), any order, on the host.
 * @param      clusters     number of clusters k, 1 to n.
 * @param      start_count  at least 1.
 * @param      seed         of the starts.
 * @param      labels       n elements of PURLIN_I64 on the host: the cluster of each point, 0 to k - 1.
 * @param[out] inertia      sum of the squared distances from the centres; may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, numbers that
 * are not finite), `PURLIN_ERROR_NUMERICAL` (a sum of squared distances that overflows, numbers that are too far apart for one
 * unit), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_BUSY`,
 * `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `inertia` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_k_means(const struct purlin_matrix *points,
                                   int64_t clusters,
                                   int64_t start_count,
                                   uint64_t seed,
                                   struct purlin_tensor *labels,
                                   double *inertia);

/**
 * Labels by column-pivoted QR (Damle, Minden and Ying, Information and Inference 8, 2019): as many clusters as columns,
 * O(n k^2).
 *
 * @param      points   dense, n x k, orthonormal columns, PURLIN_F64 or PURLIN_F32 (computed with in F64), any order, on the host.
 * @param      labels   n elements of PURLIN_I64 on the host: the cluster of each point, 0 to k - 1.
 * @param[out] inertia  sum of the squared distances from the points that stand for the clusters, infinite if it overflows;
 *                      may be NULL.
 * @return as purlin_graph_k_means.
 *
 * @pre `inertia` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_pivoted_qr(const struct purlin_matrix *points,
                                      struct purlin_tensor *labels,
                                      double *inertia);

/**
 * The Fiedler vector of a graph: the eigenvector of the second smallest eigenvalue of its Laplacian (Fiedler, Czechoslovak
 * Math. J. 23, 1973), by purlin_lanczos_solve. The known vector of eigenvalue 0 is kept out of the search. O(nnz + n basis) a
 * product, O(sqrt(largest eigenvalue / (third - second)) log(1/tolerance)) products; n (basis + 3) numbers of memory.
 *
 * @param      lanczos     the solver: `count` of its options is 1 or the default, `which` SMALLEST or the default, `kind` and
 *                         `shift` are not to be set.
 * @param      stream      NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      graph       sparse, PURLIN_F64 or PURLIN_F32, symmetric, at least 2 vertices; or by
 *                         purlin_graph_operator_of_image.
 * @param      normalized  0: of D - W; 1: of the normalized Laplacian, its entries over the roots of the degrees.
 * @param[out] value       the eigenvalue: with `normalized` 0 the algebraic connectivity; may be NULL.
 * @param      vector      n elements of PURLIN_F64 on the host: the vector, of 2-norm 1.
 * @param[out] info        report of the eigensolver; may be NULL.
 * @return as purlin_lanczos_solve.
 *
 * @pre `info` is NULL or an initialized struct; `value` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_fiedler(struct purlin_lanczos *lanczos,
                                   const struct purlin_stream *stream,
                                   const struct purlin_matrix *graph,
                                   int32_t normalized,
                                   double *value,
                                   struct purlin_tensor *vector,
                                   struct purlin_lanczos_info *info);

/**
 * Cuts a graph in two by a vector: the Fiedler vector for spectral bisection (Pothen, Simon and Liou, SIAM J. Matrix Anal.
 * Appl. 11, 1990). O(nnz + n log n).
 *
 * @param      graph           sparse, PURLIN_F64 or PURLIN_F32, on the host.
 * @param      vector          n finite elements of PURLIN_F64 on the host.
 * @param      method          PURLIN_GRAPH_CUT_SIGN, MEDIAN or SWEEP, which cuts at the median where every normalized cut is
 *                             infinite.
 * @param      sides           n elements of PURLIN_I64 on the host: the side of each vertex, 0 or 1.
 * @param[out] cut             weight of the edges between the sides, each once; may be NULL.
 * @param[out] normalized_cut  cut/vol(S) + cut/vol(rest), vol a side's sum of degrees; infinite unless both are above 0;
 *                             may be NULL.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, overlap, numbers
 * that are not finite), `PURLIN_ERROR_NUMERICAL` (weights whose sum overflows), `PURLIN_ERROR_NOT_SUPPORTED` (another
 * storage, device memory), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `cut` and `normalized_cut` are NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_bisect(const struct purlin_matrix *graph,
                                  const struct purlin_tensor *vector,
                                  int32_t method,
                                  struct purlin_tensor *sides,
                                  double *cut,
                                  double *normalized_cut);

/**
 * The density of a spectrum, by Lanczos recurrences from random vectors (Lin, Saad and Yang, SIAM Review 58, 2016):
 * points and weights, which sum to 1, of a quadrature. The sum of f(point) weight is about trace(f(A)) / n; its error
 * falls with the root of `vector_count`. A step of a vector takes one product and O(n) operations, and a vector
 * O(steps^2).
 *
 * @param      lanczos       the solver, on one context; `kind`, `shift`, `ordering`, `check_symmetry`, `seed` and
 *                           `progress` of its options are used; others, but for `count`, are refused where they are
 *                           set.
 * @param      stream        NULL for the context's own; the call begins after its work, and is complete on return.
 * @param      a             as for purlin_lanczos_solve.
 * @param      steps         points of a vector, at least 1.
 * @param      vector_count  at least 1.
 * @param      points        vector_count * steps elements of PURLIN_F64 on the host, ascending for each vector, one
 *                           after another.
 * @param      weights       as many elements of PURLIN_F64 on the host.
 * @param[out] count         points found: fewer where a space is invariant; the rest of `points` and `weights` is as
 *                           it was.
 * @return as purlin_lanczos_solve, but for NO_CONVERGENCE.
 *
 * @pre `count` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_density(struct purlin_lanczos *lanczos,
                                   const struct purlin_stream *stream,
                                   const struct purlin_matrix *a,
                                   int64_t steps,
                                   int64_t vector_count,
                                   struct purlin_tensor *points,
                                   struct purlin_tensor *weights,
                                   int64_t *count);

/**
 * The weighted graph of an image: vertex i is pixel i, and neighbours p and q have weight exp(-(I_p - I_q)^2 /
 * intensity^2) exp(-|p - q|^2 / distance^2) + floor (Shi and Malik, IEEE PAMI 22, 2000). Symmetric, no loops. O(pixels
 * radius^2).
 *
 * @param      context    the context it belongs to.
 * @param      image      dense, height x width, PURLIN_F64 or PURLIN_F32, on the host: row-major (PURLIN_ROW_MAJOR) pixel (y, x) is
 *                        vertex y width + x, column-major x height + y.
 * @param      radius     pixels up to this distance are neighbours, 1 to 100: 1 for 4 neighbours, 1.5 for 8.
 * @param      intensity  difference at which the weight has fallen to 1/e; infinite for none.
 * @param      distance   distance at which the weight has fallen to 1/e; infinite for none.
 * @param      floor      added to every weight, not negative.
 * @param[out] graph      the graph, sparse, of the image's type; destroy it with purlin_matrix_destroy.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (an empty image, element type,
 * pixels that are not finite, options out of range), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory),
 * `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `graph` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_of_image(const struct purlin_context *context,
                                    const struct purlin_matrix *image,
                                    double radius,
                                    double intensity,
                                    double distance,
                                    double floor,
                                    struct purlin_matrix **graph);

/**
 * The graph of purlin_graph_of_image as an operator that is never formed: one weight for each pair of neighbours and
 * no indices, 8 bytes a pixel for each of two neighbours in F64. purlin_lanczos_solve takes it with
 * PURLIN_LANCZOS_MATRIX to MODULARITY, and purlin_spmv_create with the random-walk Laplacian too; purlin_graph_embed,
 * purlin_graph_cluster, purlin_graph_fiedler, purlin_graph_density and purlin_lanczos_tridiagonalize take it as a
 * graph; functions that need entries, such as purlin_graph_bisect, do not. O(pixels radius^2), and so is a product.
 * Products are formed where the context is. One call at a time uses it.
 *
 * @param      context    the context it belongs to.
 * @param      image      as for purlin_graph_of_image.
 * @param      radius     as for purlin_graph_of_image, as are the numbers that follow.
 * @param      intensity  difference at which the weight has fallen to 1/e; infinite for none.
 * @param      distance   distance at which the weight has fallen to 1/e; infinite for none.
 * @param      floor      added to every weight, not negative.
 * @param[out] graph      the operator, of the image's type; destroy it with purlin_matrix_destroy.
 * @return as purlin_graph_of_image.
 *
 * @pre `graph` is NULL or valid for writing.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_operator_of_image(const struct purlin_context *context,
                                             const struct purlin_matrix *image,
                                             double radius,
                                             double intensity,
                                             double distance,
                                             double floor,
                                             struct purlin_matrix **graph);

/**
 * trace(f(A)), from the density of A's spectrum: n times the sum of f(point) weight. Its error falls with the root of
 * the density's vectors, and polynomials f of a degree below twice its steps have no other. O(`count`).
 *
 * @param      count     number of points, not negative.
 * @param[in]  points    `count` numbers, as purlin_graph_density gives them.
 * @param[in]  weights   `count` numbers likewise.
 * @param      n         order of the operator, not negative.
 * @param      function  f, called `count` times on this thread.
 * @param      user      handed to `function`.
 * @param[out] trace     the trace.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a negative size, points or weights that are not
 * finite), `PURLIN_ERROR_NUMERICAL` (a trace that is not finite).
 *
 * @pre `points` and `weights` are NULL or valid for `count` numbers, `trace` is NULL or valid for writing, and `function` may be
 * called with `user` during the call.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_density_trace(int64_t count,
                                         const double *points,
                                         const double *weights,
                                         int64_t n,
                                         purlin_function_fn function,
                                         void *user,
                                         double *trace);

/**
 * Shares of a spectrum in equal parts of an interval, from its density; points below and above the interval count in
 * the first and the last part. O(`count` + `bins`).
 *
 * @param      count    number of points, not negative.
 * @param[in]  points   `count` numbers, as purlin_graph_density gives them.
 * @param[in]  weights  `count` numbers likewise.
 * @param      from     where the first part begins, finite.
 * @param      to       where the last ends, above `from`.
 * @param      bins     number of parts, at least 1.
 * @param[out] shares   `bins` numbers, whose sum is that of the weights.
 * @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a size or an interval out of range, points or weights that
 * are not finite), `PURLIN_ERROR_OUT_OF_MEMORY`.
 *
 * @pre `points` and `weights` are NULL or valid for `count` numbers, `shares` for `bins`.
 */
PURLIN_MUST_USE
purlin_status purlin_graph_density_histogram(int64_t count,
                                             const double *points,
                                             const double *weights,
                                             double from,
                                             double to,
                                             int64_t bins,
                                             double *shares);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PURLIN_H */
