% PURLIN  Heavy numerical jobs on CPUs and NVIDIA GPUs.
%
% Library
%   version                - Version of the library that is loaded.
%   devices                - The GPUs that the library can use.
%   configure              - Chooses where and how purlin computes.
%   context_info           - Backend, device and memory of this process.
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
%   sshopm_solve_all       - All real Z-eigenpairs of symmetric tensors, saddles too.
%   sshopm_plan            - The plan of sshopm_solve.
%   sshopm_product         - Products of symmetric tensors with vectors.
%   sshopm_classify        - Residual, curvature and class of given eigenpairs.
%   sshopm_starts          - Unit start vectors.
%
% Diffusion MRI
%   dwi_fit                - Apparent-diffusion tensors from signals.
%   dwi_csa                - Orientation functions from signals.
%   dwi_peaks              - The strongest directions of every voxel.
%   dwi_plan               - The plan of dwi_peaks.
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
%   rsvd_plan              - The plan of rsvd: method, passes, bytes, memory.
%   rsvd_range             - An orthonormal basis that nearly spans the range of a matrix.
%   rsvd_symmetric         - The eigenvalues of largest modulus of a Hermitian matrix.
%   rsvd_error             - How far factors are from a matrix, from random probes.
%   rsvd_residuals         - Residuals of singular triplets.
%   rsvd_sketch            - The random matrix that a run draws.
%   pca                    - Principal components of data, centred without a copy.
%   pca_plan               - The plan of a fit of principal components: method, passes, bytes, memory.
%   PcaModel               - A principal component analysis fitted once, used for more data.
%   rpca                   - A matrix as the sum of one of low rank and a sparse one.
%   rpca_plan              - The plan of rpca: memory, blocks.
%
% Sparse spectra
%   lanczos                - Some eigenvalues and eigenvectors of a symmetric matrix, or of a Laplacian of a graph.
%   lanczos_singular       - Some singular values and vectors of a sparse matrix, to full accuracy.
%   lanczos_tridiagonalize - Coefficients of the plain Lanczos recurrence.
%   lanczos_cullum_willoughby - Eigenvalues of a matrix among those of its recurrence.
%   tridiagonal_eigenvalues - Eigenvalues of a symmetric tridiagonal matrix.
%   spmv                   - Product of a sparse matrix with one or several vectors.
%   SpmvPlan               - Products with a sparse matrix, planned once.
%   graph_embed            - Coordinates of the vertices of a graph.
%   graph_cluster          - Clusters of a graph by its eigenvectors.
%   graph_k_means          - Clusters of the rows of a matrix by k-means.
%   graph_pivoted_qr       - Clusters of the rows of a matrix with orthonormal columns.
%   graph_fiedler          - The second eigenvector of the Laplacian of a graph.
%   graph_bisect           - Cuts a graph in two by a vector.
%   graph_components       - Connected components of a graph.
%   graph_component        - One connected component as a graph of its own.
%   graph_density          - The density of a spectrum.
%   graph_density_trace    - The trace of a function of a matrix, from that.
%   graph_density_histogram - Shares of a spectrum in parts of an interval, from that.
%   graph_of_image         - The graph of neighbouring pixels of an image.
%   graph_operator_of_image - That graph, never formed.
%   lanczos_plan_singular  - The plan of lanczos_singular: method, memory.
%   lanczos_plan           - The plan of purlin.lanczos: method, memory, rows of each GPU.
%   order                  - An order of the vertices that brings neighbours together.
%   from_coordinates       - A sparse matrix from its entries, several at one place included.
%   pattern                - The places of the entries of a sparse matrix.
%   drop_zeros             - A sparse matrix without its small entries.
%   matrix_norm            - A norm of a sparse matrix.
%   is_symmetric           - Whether a sparse matrix is symmetric, within a tolerance.
%   symmetrize             - A symmetric matrix from a square one.
%   scale                  - Rows and columns of a sparse matrix multiplied by numbers.
%   check                  - Refuses a sparse matrix that is not as asked for.
%   read_market            - A sparse matrix from a Matrix Market file.
%   write_market           - A sparse matrix to a Matrix Market file.
%   read_edges             - A sparse matrix from a list of edges.
%   write_edges            - The entries of a sparse matrix as a list of edges.
%
% Tensor trains
%   TT                     - A tensor train in memory of the library's own.
%   TTMatrix               - A TT-matrix in memory of the library's own.
%   tt_inner               - Inner product of tensor trains.
%   tt_inner_scaled        - The same with an exponent of its own.
%   tt_inner_batch         - Inner products of many pairs in one call.
%   tt_inner_batch_scaled  - The same with an exponent for each number.
%   tt_gram                - Matrix of the inner products of many trains.
%   tt_gram_scaled         - The same with an exponent for each number.
%   tt_norm                - Norm of a tensor train.
%   tt_norm_scaled         - The same with an exponent of its own.
%   tt_distance            - Norm of the difference of two tensor trains.
%   tt_distance_scaled     - The same with an exponent of its own.
%   TTContraction          - Options of contractions, kept with plan and workspace for many calls.
%   tt_plan_inner          - The plan of tt_inner: method, operations, workspace.
%   tt_plan_norm           - The plan of tt_norm.
%   tt_plan_distance       - The plan of tt_distance.
%   tt_plan_batch          - The plan of tt_inner_batch.
%   tt_plan_gram           - The plan of tt_gram.
%   tt_plan_sandwich       - The plan of tt_sandwich.
%   tt_plan_rayleigh       - The plan of tt_rayleigh.
%   tt_sandwich            - An operator between two tensor trains.
%   tt_sandwich_scaled     - The same with an exponent of its own.
%   tt_rayleigh            - Rayleigh quotient of a tensor train.
%   tt_expect_local        - Expectation values of an operator at single sites.
%   tt_correlation         - Correlations of two operators at all pairs of sites.
%   tt_ising               - Hamiltonian of the transverse-field Ising chain.
%   tt_heisenberg          - Hamiltonian of a Heisenberg chain.
%   tt_identity            - The identity as a TT-matrix.
%   tt_from_terms          - A sum of products of operators at single sites.
%   TTEnvironments         - Environments kept for sweeps.
%   tt_add                 - Sum of tensor trains.
%   tt_scale               - A tensor train times a number.
%   tt_conj                - Complex conjugate of a tensor train.
%   tt_reverse             - A tensor train read backwards.
%   tt_to_open             - The open tensor train of a ring, exactly: ranks multiply by that of the boundary.
%   tt_hadamard            - Product of tensor trains entry by entry.
%   tt_apply               - A TT-matrix times a tensor train.
%   tt_rotate              - A ring that begins with another core.
%   tt_cast                - A tensor train of another class.
%   tt_canonicalize        - A tensor train with orthonormal cores but for one.
%   tt_round               - The tensor train of smallest ranks within an error of a given one.
%   tt_svd                 - The tensor train of a full array.
%   tt_random              - A tensor train of normally distributed cores.
%   tt_zeros               - A tensor train whose entries are all 0.
%   tt_ones                - A tensor train whose entries are all 1.
%   tt_product_state       - The tensor train of rank 1 of one vector a site.
%   tt_elements            - Entries of the tensor that a train stands for.
%   tt_full                - The full array of a tensor train.
%
% Every function raises errors with identifiers purlin:invalidArgument and so on, one for each status of the C
% interface. purlin_build builds the gateway.
