% PURLIN  Heavy numerical jobs on CPUs and NVIDIA GPUs.
%
% Library
%   version                - Version of the library that is loaded.
%   devices                - The GPUs that the library can use.
%   configure              - Chooses where and how purlin computes.
%   context_info           - What the calls of this process run on.
%   release                - Gives the context of the library back.
%   live_handles           - Number of objects of the library that are alive.
%   codes                  - The numbers that results hold, by name.
%   Tensor                 - An array in memory of the library's own.
%   Matrix                 - A matrix in memory of the library's own.
%
% Symmetric tensors
%   symmetric_count        - Number of distinct entries of a symmetric tensor.
%   symmetric_indices      - Index tuples of the packed entries.
%   symmetric_exponents    - How often each index occurs in the packed entries.
%   symmetric_multinomials - How often the packed entries occur in the full tensor.
%   symmetric_convert      - Entries of a tensor to coefficients of its polynomial, or back.
%   symmetric_from_full    - Packs full symmetric tensors.
%   symmetric_to_full      - Full arrays of packed symmetric tensors.
%   symmetric_norm         - Norms of symmetric tensors.
%   symmetric_identity     - The tensor E with E x^m = |x|^m, of even order.
%
% Eigenpairs
%   sshopm_solve           - Local maxima and minima of A x^m on the unit sphere.
%   sshopm_all             - All real Z-eigenpairs of symmetric tensors, saddles too.
%   sshopm_product         - Products of symmetric tensors with vectors.
%   sshopm_classify        - Residual, curvature and class of given eigenpairs.
%   sshopm_starts          - Unit start vectors.
%
% Diffusion MRI
%   dwi_fit                - Apparent-diffusion tensors from signals.
%   dwi_csa                - Orientation functions from signals.
%   dwi_peaks              - The strongest directions of every voxel.
%   sh_to_tensor           - Even spherical-harmonic coefficients to symmetric tensors.
%   tensor_to_sh           - Symmetric tensors to spherical-harmonic coefficients.
%
% Cone-beam CT
%   fdk_reconstruct        - A volume from cone-beam projections, in one call.
%   Fdk                    - A reconstruction made once, for many scans or for views as they arrive.
%   fdk_log_transform      - Line integrals from raw detector counts.
%   fdk_shepp_logan        - The ten ellipsoids of the Shepp-Logan head in three dimensions.
%
% Low-rank approximation
%   rsvd                   - The largest singular values and vectors of a matrix, by random projection.
%   rsvd_plan              - What rsvd would do: method, passes, bytes, memory.
%   rsvd_range             - An orthonormal basis that nearly spans the range of a matrix.
%   rsvd_symmetric         - The eigenvalues of largest modulus of a Hermitian matrix.
%   rsvd_error             - How far factors are from a matrix, from random probes.
%   rsvd_residuals         - Residuals of singular triplets.
%   rsvd_sketch            - The random matrix that a run draws.
%   pca                    - Principal components of data, centred without a copy.
%   PcaModel               - A principal component analysis fitted once, used for more data.
%   rpca                   - A matrix as the sum of one of low rank and a sparse one.
%
% Tensor trains
%   TT                     - A tensor train in memory of the library's own.
%   TTMatrix               - A TT-matrix in memory of the library's own.
%
% Every function raises errors with identifiers purlin:invalidArgument and so on, one for each status of the C
% interface. purlin_build builds the gateway.
