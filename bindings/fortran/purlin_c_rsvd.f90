!> The C interface of streamed and implicit matrices and robust PCA, argument for argument.
module purlin_c_rsvd
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_funptr, c_int32_t, c_int64_t, c_size_t

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
