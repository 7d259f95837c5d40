!> The C interface of streamed and implicit matrices, randomized SVD, PCA and robust PCA, argument for argument.
module purlin_c_rsvd
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t

  interface
    function c_matrix_from_source(context, source, flags, matrix) bind(c, name='purlin_matrix_from_source') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, source
      integer(c_int32_t), value :: flags
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_from_operator(context, dtype, rows, cols, apply, user, location, matrix) bind(c, &
      name='purlin_matrix_from_operator') result(s)
      import :: c_funptr, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, user
      integer(c_int32_t), value :: dtype, location
      integer(c_int64_t), value :: rows, cols
      type(c_funptr), value :: apply
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_rsvd_options_init(object, struct_size) bind(c, name='purlin_rsvd_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_rsvd_options
      type(purlin_rsvd_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_rsvd_info_init(object, struct_size) bind(c, name='purlin_rsvd_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_rsvd_info
      type(purlin_rsvd_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_pca_options_init(object, struct_size) bind(c, name='purlin_pca_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_pca_options
      type(purlin_pca_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_pca_info_init(object, struct_size) bind(c, name='purlin_pca_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_pca_info
      type(purlin_pca_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_rpca_options_init(object, struct_size) bind(c, name='purlin_rpca_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_rpca_options
      type(purlin_rpca_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_rpca_info_init(object, struct_size) bind(c, name='purlin_rpca_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_rpca_info
      type(purlin_rpca_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_rsvd_create(context, options, rsvd) bind(c, name='purlin_rsvd_create') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_options
      type(c_ptr), value :: context
      type(purlin_rsvd_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: rsvd
      integer(c_int32_t) :: s
    end function
    function c_rsvd_add_context(rsvd, context) bind(c, name='purlin_rsvd_add_context') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: rsvd, context
      integer(c_int32_t) :: s
    end function
    function c_rsvd_destroy(rsvd) bind(c, name='purlin_rsvd_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: rsvd
      integer(c_int32_t) :: s
    end function
    function c_rsvd_cancel(rsvd) bind(c, name='purlin_rsvd_cancel') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: rsvd
      integer(c_int32_t) :: s
    end function
    function c_rsvd_set_sketch(rsvd, omega) bind(c, name='purlin_rsvd_set_sketch') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: rsvd, omega
      integer(c_int32_t) :: s
    end function
    function c_rsvd_plan(rsvd, a, info) bind(c, name='purlin_rsvd_plan') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_info
      type(c_ptr), value :: rsvd, a
      type(purlin_rsvd_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_rsvd_compute(rsvd, stream, a, u, values, v, info) bind(c, name='purlin_rsvd_compute') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_info
      type(c_ptr), value :: rsvd, stream, a, u, values, v
      type(purlin_rsvd_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rsvd_range(rsvd, stream, a, q, b, info) bind(c, name='purlin_rsvd_range') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_info
      type(c_ptr), value :: rsvd, stream, a, q, b
      type(purlin_rsvd_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rsvd_symmetric(rsvd, stream, a, lambda, v, info) bind(c, name='purlin_rsvd_symmetric') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_info
      type(c_ptr), value :: rsvd, stream, a, lambda, v
      type(purlin_rsvd_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rsvd_error(rsvd, stream, a, u, values, v, frobenius, spectral, info) bind(c, &
      name='purlin_rsvd_error') result(s)
      import :: c_double, c_int32_t, c_ptr, purlin_rsvd_info
      type(c_ptr), value :: rsvd, stream, a, u, values, v
      real(c_double), intent(out) :: frobenius
      real(c_double), intent(inout), optional :: spectral
      type(purlin_rsvd_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rsvd_residuals(rsvd, stream, a, u, values, v, left, right, info) bind(c, &
      name='purlin_rsvd_residuals') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_info
      type(c_ptr), value :: rsvd, stream, a, u, values, v, left, right
      type(purlin_rsvd_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rsvd_sketch(context, stream, options, omega) bind(c, name='purlin_rsvd_sketch') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_options
      type(c_ptr), value :: context, stream, omega
      type(purlin_rsvd_options), intent(in), optional :: options
      integer(c_int32_t) :: s
    end function
    function c_pca_fit(rsvd, stream, x, options, scores, pca, info) bind(c, name='purlin_pca_fit') result(s)
      import :: c_int32_t, c_ptr, purlin_pca_options, purlin_rsvd_info
      type(c_ptr), value :: rsvd, stream, x, scores
      type(purlin_pca_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: pca
      type(purlin_rsvd_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_pca_properties(pca, info) bind(c, name='purlin_pca_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_pca_info
      type(c_ptr), value :: pca
      type(purlin_pca_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_pca_mean(pca, mean) bind(c, name='purlin_pca_mean') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca, mean
      integer(c_int32_t) :: s
    end function
    function c_pca_scale(pca, scale) bind(c, name='purlin_pca_scale') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca, scale
      integer(c_int32_t) :: s
    end function
    function c_pca_singular_values(pca, values) bind(c, name='purlin_pca_singular_values') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca, values
      integer(c_int32_t) :: s
    end function
    function c_pca_explained_variance(pca, values) bind(c, name='purlin_pca_explained_variance') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca, values
      integer(c_int32_t) :: s
    end function
    function c_pca_explained_variance_ratio(pca, values) bind(c, name='purlin_pca_explained_variance_ratio') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca, values
      integer(c_int32_t) :: s
    end function
    function c_pca_components(pca, stream, components) bind(c, name='purlin_pca_components') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca, stream, components
      integer(c_int32_t) :: s
    end function
    function c_pca_transform(pca, stream, x, scores, info) bind(c, name='purlin_pca_transform') result(s)
      import :: c_int32_t, c_ptr, purlin_rsvd_info
      type(c_ptr), value :: pca, stream, x, scores
      type(purlin_rsvd_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_pca_inverse_transform(pca, stream, scores, x) bind(c, name='purlin_pca_inverse_transform') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca, stream, scores, x
      integer(c_int32_t) :: s
    end function
    function c_pca_destroy(pca) bind(c, name='purlin_pca_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: pca
      integer(c_int32_t) :: s
    end function
    function c_rpca_plan(context, m, mask, options, info) bind(c, name='purlin_rpca_plan') result(s)
      import :: c_int32_t, c_ptr, purlin_rpca_info, purlin_rpca_options
      type(c_ptr), value :: context, m, mask
      type(purlin_rpca_options), intent(in), optional :: options
      type(purlin_rpca_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rpca_compute(context, stream, m, mask, options, low_rank, sparse, info) bind(c, &
      name='purlin_rpca_compute') result(s)
      import :: c_int32_t, c_ptr, purlin_rpca_info, purlin_rpca_options
      type(c_ptr), value :: context, stream, m, mask, low_rank, sparse
      type(purlin_rpca_options), intent(in), optional :: options
      type(purlin_rpca_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rpca_compute_csr(context, stream, m, mask, options, low_rank, sparse, info) bind(c, &
      name='purlin_rpca_compute_csr') result(s)
      import :: c_int32_t, c_ptr, purlin_rpca_info, purlin_rpca_options
      type(c_ptr), value :: context, stream, m, mask, low_rank
      type(purlin_rpca_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: sparse
      type(purlin_rpca_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_rpca_stream(context, stream, m, mask, options, low_rank, sparse, info) bind(c, &
      name='purlin_rpca_stream') result(s)
      import :: c_int32_t, c_ptr, purlin_rpca_info, purlin_rpca_options
      type(c_ptr), value :: context, stream, m, mask, low_rank, sparse
      type(purlin_rpca_options), intent(in), optional :: options
      type(purlin_rpca_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_rsvd
