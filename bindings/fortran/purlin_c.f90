!> The functions of purlin.h as they are, each named c_<name without purlin_>.
!>
!> This module is the layer below `purlin`; use it only for what the friendly layer does not offer. Handles are
!> `type(c_ptr)`; optional structs may be absent, which passes NULL.
module purlin_c
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public

  interface
    ! ---- library ----
    function c_version() bind(c, name='purlin_version') result(r)
      import :: c_int32_t
      integer(c_int32_t) :: r
    end function
    function c_build_info() bind(c, name='purlin_build_info') result(r)
      import :: c_ptr
      type(c_ptr) :: r
    end function
    function c_status_string(status) bind(c, name='purlin_status_string') result(r)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: status
      type(c_ptr) :: r
    end function
    function c_last_error_message() bind(c, name='purlin_last_error_message') result(r)
      import :: c_ptr
      type(c_ptr) :: r
    end function
    function c_live_handles() bind(c, name='purlin_live_handles') result(r)
      import :: c_int64_t
      integer(c_int64_t) :: r
    end function

    ! ---- devices ----
    function c_device_count(count) bind(c, name='purlin_device_count') result(s)
      import :: c_int32_t
      integer(c_int32_t), intent(inout) :: count
      integer(c_int32_t) :: s
    end function
    function c_device_info_init(object, struct_size) bind(c, name='purlin_device_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_device_info
      type(purlin_device_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_device_properties(ordinal, info) bind(c, name='purlin_device_properties') result(s)
      import :: c_int32_t, purlin_device_info
      integer(c_int32_t), value :: ordinal
      type(purlin_device_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function

    ! ---- context ----
    function c_context_options_init(object, struct_size) bind(c, name='purlin_context_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_context_options
      type(purlin_context_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_context_create(options, context) bind(c, name='purlin_context_create') result(s)
      import :: c_int32_t, c_ptr, purlin_context_options
      type(purlin_context_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: context
      integer(c_int32_t) :: s
    end function
    function c_context_destroy(context) bind(c, name='purlin_context_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t) :: s
    end function
    function c_context_info_init(object, struct_size) bind(c, name='purlin_context_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_context_info
      type(purlin_context_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_context_properties(context, info) bind(c, name='purlin_context_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_context_info
      type(c_ptr), value :: context
      type(purlin_context_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_context_set_log(context, level, log, user) bind(c, name='purlin_context_set_log') result(s)
      import :: c_funptr, c_int32_t, c_ptr
      type(c_ptr), value :: context, user
      integer(c_int32_t), value :: level
      type(c_funptr), value :: log
      integer(c_int32_t) :: s
    end function
    function c_context_cancel(context) bind(c, name='purlin_context_cancel') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t) :: s
    end function

    ! ---- stream ----
    function c_stream_create(context, stream) bind(c, name='purlin_stream_create') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), intent(inout) :: stream
      integer(c_int32_t) :: s
    end function
    function c_stream_wrap(context, cuda_stream, stream) bind(c, name='purlin_stream_wrap') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int64_t), value :: cuda_stream
      type(c_ptr), intent(inout) :: stream
      integer(c_int32_t) :: s
    end function
    function c_stream_synchronize(stream) bind(c, name='purlin_stream_synchronize') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int32_t) :: s
    end function
    function c_stream_destroy(stream) bind(c, name='purlin_stream_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int32_t) :: s
    end function

    ! ---- tensor ----
    function c_tensor_create(context, dtype, location, flags, ndim, dims, tensor) bind(c, &
      name='purlin_tensor_create') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location, flags, ndim
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: s
    end function
    function c_tensor_borrow(context, dtype, flags, ndim, dims, strides, data, tensor) bind(c, &
      name='purlin_tensor_borrow') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, strides, data
      integer(c_int32_t), value :: dtype, flags, ndim
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: s
    end function
    function c_tensor_borrow_device(context, dtype, flags, ndim, dims, strides, data, tensor) bind(c, &
      name='purlin_tensor_borrow_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, strides
      integer(c_int32_t), value :: dtype, flags, ndim
      integer(c_int64_t), intent(in) :: dims(*)
      integer(c_int64_t), value :: data
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: s
    end function
    function c_tensor_create_symmetric(context, dtype, location, flags, order, dimension, count, tensor) bind(c, &
      name='purlin_tensor_create_symmetric') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location, flags, order
      integer(c_int64_t), value :: dimension, count
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: s
    end function
    function c_tensor_borrow_symmetric(context, dtype, flags, order, dimension, count, entry_stride, tensor_stride, &
      data, tensor) bind(c, name='purlin_tensor_borrow_symmetric') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, data
      integer(c_int32_t), value :: dtype, flags, order
      integer(c_int64_t), value :: dimension, count, entry_stride, tensor_stride
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: s
    end function
    function c_tensor_borrow_symmetric_device(context, dtype, flags, order, dimension, count, entry_stride, &
      tensor_stride, data, tensor) bind(c, name='purlin_tensor_borrow_symmetric_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags, order
      integer(c_int64_t), value :: dimension, count, entry_stride, tensor_stride, data
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: s
    end function
    function c_tensor_from_dlpack(context, managed, tensor) bind(c, name='purlin_tensor_from_dlpack') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, managed
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: s
    end function
    function c_tensor_to_dlpack(tensor, managed) bind(c, name='purlin_tensor_to_dlpack') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: tensor
      type(c_ptr), intent(inout) :: managed
      integer(c_int32_t) :: s
    end function
    function c_tensor_copy(context, stream, source, destination) bind(c, name='purlin_tensor_copy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, source, destination
      integer(c_int32_t) :: s
    end function
    function c_tensor_info_init(object, struct_size) bind(c, name='purlin_tensor_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_tensor_info
      type(purlin_tensor_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_tensor_properties(tensor, info) bind(c, name='purlin_tensor_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_tensor_info
      type(c_ptr), value :: tensor
      type(purlin_tensor_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tensor_shape(tensor, capacity, dims, strides) bind(c, name='purlin_tensor_shape') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: tensor, dims, strides
      integer(c_int32_t), value :: capacity
      integer(c_int32_t) :: s
    end function
    function c_tensor_destroy(tensor) bind(c, name='purlin_tensor_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: tensor
      integer(c_int32_t) :: s
    end function

    ! ---- matrix ----
    function c_matrix_create(context, dtype, location, flags, rows, cols, matrix) bind(c, &
      name='purlin_matrix_create') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location, flags
      integer(c_int64_t), value :: rows, cols
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_borrow(context, dtype, flags, rows, cols, ld, data, matrix) bind(c, &
      name='purlin_matrix_borrow') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, data
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: rows, cols, ld
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_borrow_device(context, dtype, flags, rows, cols, ld, data, matrix) bind(c, &
      name='purlin_matrix_borrow_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: rows, cols, ld, data
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_borrow_csr(context, dtype, index_base, rows, cols, nnz, row_ptr_type, row_ptr, col_idx_type, &
      col_idx, values, matrix) bind(c, name='purlin_matrix_borrow_csr') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, row_ptr, col_idx, values
      integer(c_int32_t), value :: dtype, index_base, row_ptr_type, col_idx_type
      integer(c_int64_t), value :: rows, cols, nnz
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_borrow_csr_device(context, dtype, index_base, rows, cols, nnz, row_ptr_type, row_ptr, &
      col_idx_type, col_idx, values, matrix) bind(c, name='purlin_matrix_borrow_csr_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, index_base, row_ptr_type, col_idx_type
      integer(c_int64_t), value :: rows, cols, nnz, row_ptr, col_idx, values
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_copy_csr(context, dtype, index_base, rows, cols, nnz, row_ptr_type, row_ptr, col_idx_type, &
      col_idx, values, matrix) bind(c, name='purlin_matrix_copy_csr') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, row_ptr, col_idx, values
      integer(c_int32_t), value :: dtype, index_base, row_ptr_type, col_idx_type
      integer(c_int64_t), value :: rows, cols, nnz
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_copy(context, stream, source, destination) bind(c, name='purlin_matrix_copy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, source, destination
      integer(c_int32_t) :: s
    end function
    function c_matrix_info_init(object, struct_size) bind(c, name='purlin_matrix_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_matrix_info
      type(purlin_matrix_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_matrix_properties(matrix, info) bind(c, name='purlin_matrix_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_matrix_info
      type(c_ptr), value :: matrix
      type(purlin_matrix_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_matrix_destroy(matrix) bind(c, name='purlin_matrix_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: matrix
      integer(c_int32_t) :: s
    end function

    ! ---- symmetric tensors ----
    function c_symmetric_count(order, dimension, count) bind(c, name='purlin_symmetric_count') result(s)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: order
      integer(c_int64_t), value :: dimension
      integer(c_int64_t), intent(inout) :: count
      integer(c_int32_t) :: s
    end function
    function c_symmetric_indices(order, dimension, indices) bind(c, name='purlin_symmetric_indices') result(s)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: order
      integer(c_int64_t), value :: dimension
      integer(c_int64_t), intent(inout) :: indices(*)
      integer(c_int32_t) :: s
    end function
    function c_symmetric_exponents(order, dimension, exponents) bind(c, name='purlin_symmetric_exponents') result(s)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: order
      integer(c_int64_t), value :: dimension
      integer(c_int64_t), intent(inout) :: exponents(*)
      integer(c_int32_t) :: s
    end function
    function c_symmetric_multinomials(order, dimension, multinomials) bind(c, &
      name='purlin_symmetric_multinomials') result(s)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: order
      integer(c_int64_t), value :: dimension
      integer(c_int64_t), intent(inout) :: multinomials(*)
      integer(c_int32_t) :: s
    end function
    function c_symmetric_convert(context, stream, source, source_packing, destination, destination_packing) bind(c, &
      name='purlin_symmetric_convert') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, source, destination
      integer(c_int32_t), value :: source_packing, destination_packing
      integer(c_int32_t) :: s
    end function
    function c_symmetric_from_full(context, stream, full, symmetrize, check_tolerance, packed) bind(c, &
      name='purlin_symmetric_from_full') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, full, packed
      integer(c_int32_t), value :: symmetrize
      real(c_double), value :: check_tolerance
      integer(c_int32_t) :: s
    end function
    function c_symmetric_to_full(context, stream, packed, full) bind(c, name='purlin_symmetric_to_full') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, packed, full
      integer(c_int32_t) :: s
    end function
    function c_symmetric_norm(context, stream, packed, kind, norms) bind(c, name='purlin_symmetric_norm') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, packed, norms
      integer(c_int32_t), value :: kind
      integer(c_int32_t) :: s
    end function
    function c_symmetric_identity(context, stream, scale, packed) bind(c, name='purlin_symmetric_identity') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, packed
      real(c_double), value :: scale
      integer(c_int32_t) :: s
    end function

    ! ---- SS-HOPM ----
    function c_sshopm_options_init(object, struct_size) bind(c, name='purlin_sshopm_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_sshopm_options
      type(purlin_sshopm_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_sshopm_results_init(object, struct_size) bind(c, name='purlin_sshopm_results_init') result(s)
      import :: c_int32_t, c_size_t, purlin_sshopm_results
      type(purlin_sshopm_results), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_sshopm_info_init(object, struct_size) bind(c, name='purlin_sshopm_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_sshopm_info
      type(purlin_sshopm_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_sshopm_solve(context, stream, tensors, starts, options, results, info) bind(c, &
      name='purlin_sshopm_solve') result(s)
      import :: c_int32_t, c_ptr, purlin_sshopm_info, purlin_sshopm_options, purlin_sshopm_results
      type(c_ptr), value :: context, stream, tensors, starts
      type(purlin_sshopm_options), intent(in), optional :: options
      type(purlin_sshopm_results), intent(in) :: results
      type(purlin_sshopm_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_sshopm_product(context, stream, tensors, vectors, power, products) bind(c, &
      name='purlin_sshopm_product') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, tensors, vectors, products
      integer(c_int32_t), value :: power
      integer(c_int32_t) :: s
    end function
    function c_sshopm_starts(context, stream, kind, seed, starts) bind(c, name='purlin_sshopm_starts') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, stream, starts
      integer(c_int32_t), value :: kind
      integer(c_int64_t), value :: seed
      integer(c_int32_t) :: s
    end function
    function c_sshopm_classify(context, stream, tensors, values, vectors, degeneracy_tolerance, residuals, hessian, &
      classes) bind(c, name='purlin_sshopm_classify') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, tensors, values, vectors, residuals, hessian, classes
      real(c_double), value :: degeneracy_tolerance
      integer(c_int32_t) :: s
    end function
    function c_sshopm_all_options_init(object, struct_size) bind(c, name='purlin_sshopm_all_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_sshopm_all_options
      type(purlin_sshopm_all_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_sshopm_all(context, stream, tensors, options, results, morse_sum, morse_expected, info) bind(c, &
      name='purlin_sshopm_all') result(s)
      import :: c_int32_t, c_ptr, purlin_sshopm_all_options, purlin_sshopm_info, purlin_sshopm_results
      type(c_ptr), value :: context, stream, tensors, morse_sum, morse_expected
      type(purlin_sshopm_all_options), intent(in), optional :: options
      type(purlin_sshopm_results), intent(in) :: results
      type(purlin_sshopm_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function

    ! ---- diffusion MRI ----
    function c_dwi_fit_options_init(object, struct_size) bind(c, name='purlin_dwi_fit_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_dwi_fit_options
      type(purlin_dwi_fit_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_dwi_fit(context, stream, signals, bvals, bvecs, mask, weights, options, tensors, s0, status) bind(c, &
      name='purlin_dwi_fit') result(s)
      import :: c_int32_t, c_ptr, purlin_dwi_fit_options
      type(c_ptr), value :: context, stream, signals, bvals, bvecs, mask, weights, tensors, s0, status
      type(purlin_dwi_fit_options), intent(in), optional :: options
      integer(c_int32_t) :: s
    end function
    function c_dwi_csa_options_init(object, struct_size) bind(c, name='purlin_dwi_csa_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_dwi_csa_options
      type(purlin_dwi_csa_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_dwi_csa(context, stream, signals, bvals, bvecs, mask, basis, options, sh, status) bind(c, &
      name='purlin_dwi_csa') result(s)
      import :: c_int32_t, c_ptr, purlin_dwi_csa_options
      type(c_ptr), value :: context, stream, signals, bvals, bvecs, mask, sh, status
      integer(c_int32_t), value :: basis
      type(purlin_dwi_csa_options), intent(in), optional :: options
      integer(c_int32_t) :: s
    end function
    function c_dwi_sh_to_tensor(context, stream, sh, basis, tensors) bind(c, name='purlin_dwi_sh_to_tensor') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, sh, tensors
      integer(c_int32_t), value :: basis
      integer(c_int32_t) :: s
    end function
    function c_dwi_tensor_to_sh(context, stream, tensors, basis, sh) bind(c, name='purlin_dwi_tensor_to_sh') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, tensors, sh
      integer(c_int32_t), value :: basis
      integer(c_int32_t) :: s
    end function
    function c_dwi_peaks_options_init(object, struct_size) bind(c, name='purlin_dwi_peaks_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_dwi_peaks_options
      type(purlin_dwi_peaks_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_dwi_peaks(context, stream, input, mask, options, peaks, count, status, info) bind(c, &
      name='purlin_dwi_peaks') result(s)
      import :: c_int32_t, c_ptr, purlin_dwi_peaks_options, purlin_sshopm_info
      type(c_ptr), value :: context, stream, input, mask, peaks, count, status
      type(purlin_dwi_peaks_options), intent(in), optional :: options
      type(purlin_sshopm_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c
