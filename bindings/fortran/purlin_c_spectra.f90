!> The C interface of sparse matrices, their products, eigenpairs and graphs, argument for argument.
module purlin_c_spectra
  use, intrinsic :: iso_c_binding, only: c_ptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_double, c_int32_t, c_int64_t, c_size_t

  interface
    function c_matrix_from_coordinates(context, dtype, index_base, rows, cols, nnz, index_type, row_idx, col_idx, &
      values, duplicates, matrix) bind(c, name='purlin_matrix_from_coordinates') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, row_idx, col_idx, values
      integer(c_int32_t), value :: dtype, index_base, index_type, duplicates
      integer(c_int64_t), value :: rows, cols, nnz
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_from_columns(context, dtype, index_base, rows, cols, nnz, col_ptr_type, col_ptr, &
      row_idx_type, row_idx, values, matrix) bind(c, name='purlin_matrix_from_columns') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, col_ptr, row_idx, values
      integer(c_int32_t), value :: dtype, index_base, col_ptr_type, row_idx_type
      integer(c_int64_t), value :: rows, cols, nnz
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_from_dense(a, threshold, matrix) bind(c, name='purlin_matrix_from_dense') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: a
      real(c_double), value :: threshold
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_to_dense(a, out) bind(c, name='purlin_matrix_to_dense') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, out
      integer(c_int32_t) :: s
    end function
    function c_matrix_canonical(a, duplicates, matrix) bind(c, name='purlin_matrix_canonical') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a
      integer(c_int32_t), value :: duplicates
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_drop_zeros(a, threshold, matrix) bind(c, name='purlin_matrix_drop_zeros') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: a
      real(c_double), value :: threshold
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_copy_to(a, place, matrix) bind(c, name='purlin_matrix_copy_to') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a
      integer(c_int32_t), value :: place
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_pattern(a, matrix) bind(c, name='purlin_matrix_pattern') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_transpose(a, conjugate, matrix) bind(c, name='purlin_matrix_transpose') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a
      integer(c_int32_t), value :: conjugate
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_symmetrise(a, how, matrix) bind(c, name='purlin_matrix_symmetrise') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a
      integer(c_int32_t), value :: how
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_permute(a, rows, cols, matrix) bind(c, name='purlin_matrix_permute') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, rows, cols
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_select(a, row_count, rows, col_count, cols, matrix) bind(c, &
      name='purlin_matrix_select') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: a, rows, cols
      integer(c_int64_t), value :: row_count, col_count
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_scale(a, rows, cols, matrix) bind(c, name='purlin_matrix_scale') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, rows, cols
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_set_values(matrix, values) bind(c, name='purlin_matrix_set_values') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: matrix, values
      integer(c_int32_t) :: s
    end function
    function c_matrix_read_market(context, path, dtype, matrix) bind(c, name='purlin_matrix_read_market') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, path
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_write_market(a, path, symmetric) bind(c, name='purlin_matrix_write_market') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, path
      integer(c_int32_t), value :: symmetric
      integer(c_int32_t) :: s
    end function
    function c_matrix_read_edges(context, path, dtype, weighted, duplicates, matrix, vertices) bind(c, &
      name='purlin_matrix_read_edges') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, path, vertices
      integer(c_int32_t), value :: dtype, weighted, duplicates
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_write_edges(a, path, symmetric) bind(c, name='purlin_matrix_write_edges') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, path
      integer(c_int32_t), value :: symmetric
      integer(c_int32_t) :: s
    end function
    function c_matrix_order(a, how, order) bind(c, name='purlin_matrix_order') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, order
      integer(c_int32_t), value :: how
      integer(c_int32_t) :: s
    end function
    function c_matrix_norm(a, kind, norm) bind(c, name='purlin_matrix_norm') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: a
      integer(c_int32_t), value :: kind
      real(c_double), intent(inout) :: norm
      integer(c_int32_t) :: s
    end function
    function c_matrix_check(a, checks) bind(c, name='purlin_matrix_check') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a
      integer(c_int32_t), value :: checks
      integer(c_int32_t) :: s
    end function
    function c_matrix_is_symmetric(a, tolerance, symmetric) bind(c, name='purlin_matrix_is_symmetric') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: a
      real(c_double), value :: tolerance
      integer(c_int32_t), intent(inout) :: symmetric
      integer(c_int32_t) :: s
    end function
    function c_matrix_row_sums(a, sums) bind(c, name='purlin_matrix_row_sums') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, sums
      integer(c_int32_t) :: s
    end function
    function c_matrix_diagonal(a, diagonal) bind(c, name='purlin_matrix_diagonal') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: a, diagonal
      integer(c_int32_t) :: s
    end function
    function c_graph_components(graph, labels, count) bind(c, name='purlin_graph_components') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: graph, labels
      integer(c_int64_t), intent(inout), optional :: count
      integer(c_int32_t) :: s
    end function
    function c_graph_component(graph, which, component, vertices) bind(c, name='purlin_graph_component') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: graph, vertices
      integer(c_int64_t), value :: which
      type(c_ptr), intent(inout) :: component
      integer(c_int32_t) :: s
    end function
    function c_spmv_options_init(options, size) bind(c, name='purlin_spmv_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_spmv_options
      type(purlin_spmv_options), intent(inout) :: options
      integer(c_size_t), value :: size
      integer(c_int32_t) :: s
    end function
    function c_spmv_info_init(info, size) bind(c, name='purlin_spmv_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_spmv_info
      type(purlin_spmv_info), intent(inout) :: info
      integer(c_size_t), value :: size
      integer(c_int32_t) :: s
    end function
    function c_spmv_create(a, options, plan) bind(c, name='purlin_spmv_create') result(s)
      import :: c_int32_t, c_ptr, purlin_spmv_options
      type(c_ptr), value :: a
      type(purlin_spmv_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: plan
      integer(c_int32_t) :: s
    end function
    function c_spmv_update(plan, a) bind(c, name='purlin_spmv_update') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan, a
      integer(c_int32_t) :: s
    end function
    function c_spmv_apply(plan, stream, alpha, a, x, beta, y) bind(c, name='purlin_spmv_apply') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan, stream, alpha, a, x, beta, y
      integer(c_int32_t) :: s
    end function
    function c_spmv_apply_block(plan, stream, alpha, a, x, beta, y) bind(c, name='purlin_spmv_apply_block') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan, stream, alpha, a, x, beta, y
      integer(c_int32_t) :: s
    end function
    function c_spmv_properties(plan, info) bind(c, name='purlin_spmv_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_spmv_info
      type(c_ptr), value :: plan
      type(purlin_spmv_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_spmv_destroy(plan) bind(c, name='purlin_spmv_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan
      integer(c_int32_t) :: s
    end function
    function c_lanczos_options_init(options, size) bind(c, name='purlin_lanczos_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_lanczos_options
      type(purlin_lanczos_options), intent(inout) :: options
      integer(c_size_t), value :: size
      integer(c_int32_t) :: s
    end function
    function c_lanczos_info_init(info, size) bind(c, name='purlin_lanczos_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_lanczos_info
      type(purlin_lanczos_info), intent(inout) :: info
      integer(c_size_t), value :: size
      integer(c_int32_t) :: s
    end function
    function c_lanczos_solve(a, stream, options, start, known, solve, values, vectors, residuals, info) bind(c, &
      name='purlin_lanczos_solve') result(s)
      import :: c_int32_t, c_ptr, purlin_lanczos_info, purlin_lanczos_options
      type(c_ptr), value :: a, stream, start, known, solve, values, vectors, residuals
      type(purlin_lanczos_options), intent(in), optional :: options
      type(purlin_lanczos_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_lanczos_partition(a, options, info) bind(c, name='purlin_lanczos_partition') result(s)
      import :: c_int32_t, c_ptr, purlin_lanczos_info, purlin_lanczos_options
      type(c_ptr), value :: a
      type(purlin_lanczos_options), intent(in), optional :: options
      type(purlin_lanczos_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_lanczos_singular(a, stream, options, u, values, v, residuals, info) bind(c, &
      name='purlin_lanczos_singular') result(s)
      import :: c_int32_t, c_ptr, purlin_lanczos_info, purlin_lanczos_options
      type(c_ptr), value :: a, stream, u, values, v, residuals
      type(purlin_lanczos_options), intent(in), optional :: options
      type(purlin_lanczos_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_lanczos_tridiagonalise(a, stream, options, steps, start, alpha, beta, count) bind(c, &
      name='purlin_lanczos_tridiagonalise') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_lanczos_options
      type(c_ptr), value :: a, stream, start, alpha, beta
      type(purlin_lanczos_options), intent(in), optional :: options
      integer(c_int64_t), value :: steps
      integer(c_int64_t), intent(inout), optional :: count
      integer(c_int32_t) :: s
    end function
    function c_lanczos_filter(m, alpha, beta, cluster, converged, accepted, count) bind(c, &
      name='purlin_lanczos_filter') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: m
      type(c_ptr), value :: alpha, beta, accepted
      real(c_double), value :: cluster, converged
      integer(c_int64_t), intent(inout), optional :: count
      integer(c_int32_t) :: s
    end function
    function c_tridiagonal_eigenvalues(m, diagonal, off, values, first, last) bind(c, &
      name='purlin_tridiagonal_eigenvalues') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: m
      type(c_ptr), value :: diagonal, off, values, first, last
      integer(c_int32_t) :: s
    end function
    function c_graph_embed(graph, stream, options, scaling, coordinates, values, info) bind(c, &
      name='purlin_graph_embed') result(s)
      import :: c_int32_t, c_ptr, purlin_lanczos_info, purlin_lanczos_options
      type(c_ptr), value :: graph, stream, coordinates, values
      type(purlin_lanczos_options), intent(in), optional :: options
      integer(c_int32_t), value :: scaling
      type(purlin_lanczos_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_graph_cluster(graph, stream, options, how, starts, labels, inertia, info) bind(c, &
      name='purlin_graph_cluster') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr, purlin_lanczos_info, purlin_lanczos_options
      type(c_ptr), value :: graph, stream, labels
      type(purlin_lanczos_options), intent(in), optional :: options
      integer(c_int32_t), value :: how
      integer(c_int64_t), value :: starts
      real(c_double), intent(inout), optional :: inertia
      type(purlin_lanczos_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_graph_k_means(points, clusters, starts, seed, labels, inertia) bind(c, &
      name='purlin_graph_k_means') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: points, labels
      integer(c_int64_t), value :: clusters, starts, seed
      real(c_double), intent(inout), optional :: inertia
      integer(c_int32_t) :: s
    end function
    function c_graph_pivoted_qr(points, labels, inertia) bind(c, name='purlin_graph_pivoted_qr') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: points, labels
      real(c_double), intent(inout), optional :: inertia
      integer(c_int32_t) :: s
    end function
    function c_graph_fiedler(graph, stream, normalised, options, value, vector, info) bind(c, &
      name='purlin_graph_fiedler') result(s)
      import :: c_double, c_int32_t, c_ptr, purlin_lanczos_info, purlin_lanczos_options
      type(c_ptr), value :: graph, stream, vector
      integer(c_int32_t), value :: normalised
      type(purlin_lanczos_options), intent(in), optional :: options
      real(c_double), intent(inout), optional :: value
      type(purlin_lanczos_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_graph_bisect(graph, vector, how, sides, cut, normalised_cut) bind(c, &
      name='purlin_graph_bisect') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: graph, vector, sides
      integer(c_int32_t), value :: how
      real(c_double), intent(inout), optional :: cut, normalised_cut
      integer(c_int32_t) :: s
    end function
    function c_graph_density(a, stream, options, steps, vectors, points, weights, count) bind(c, &
      name='purlin_graph_density') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_lanczos_options
      type(c_ptr), value :: a, stream, points, weights
      type(purlin_lanczos_options), intent(in), optional :: options
      integer(c_int64_t), value :: steps, vectors
      integer(c_int64_t), intent(inout), optional :: count
      integer(c_int32_t) :: s
    end function
    function c_graph_density_histogram(count, points, weights, from, to, bins, shares) bind(c, &
      name='purlin_graph_density_histogram') result(s)
      import :: c_double, c_int32_t, c_int64_t
      integer(c_int64_t), value :: count, bins
      real(c_double), intent(in) :: points(*), weights(*)
      real(c_double), value :: from, to
      real(c_double), intent(inout) :: shares(*)
      integer(c_int32_t) :: s
    end function
    function c_graph_of_image(context, image, radius, intensity, distance, floor, graph) bind(c, &
      name='purlin_graph_of_image') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: context, image
      real(c_double), value :: radius, intensity, distance, floor
      type(c_ptr), intent(inout) :: graph
      integer(c_int32_t) :: s
    end function
    function c_graph_operator_of_image(context, image, radius, intensity, distance, floor, graph) bind(c, &
      name='purlin_graph_operator_of_image') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: context, image
      real(c_double), value :: radius, intensity, distance, floor
      type(c_ptr), intent(inout) :: graph
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_spectra
