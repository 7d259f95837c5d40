!> Constants and interoperable structs of purlin.h, field for field.
!>
!> Each struct starts with struct_size. It is 0 until `purlin_init` has been called, so that the library refuses a
!> struct which nobody initialised. Users get all of this through `use purlin`.
module purlin_types
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_null_ptr, c_null_funptr, c_char, c_double, &
    c_int32_t, c_int64_t, c_size_t
  implicit none
  public
  private :: c_ptr, c_funptr, c_null_ptr, c_null_funptr, c_char, c_double, c_int32_t, c_int64_t, c_size_t

  include 'purlin_constants.inc'

  !> What one GPU is. `name` ends with a NUL character: see purlin_string.
  type, bind(c) :: purlin_device_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: ordinal, compute_capability_major, compute_capability_minor, multiprocessors
    integer(c_int64_t) :: memory_total, memory_free, l2_bytes, shared_memory_per_block
    integer(c_int32_t) :: clock_khz, driver_version
    character(kind=c_char) :: name(128)
  end type

  type, bind(c) :: purlin_context_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: backend, device, threads, cpu_isa
    integer(c_int64_t) :: host_memory_limit, device_memory_limit
    integer(c_int32_t) :: log_level, reserved
    type(c_funptr) :: log
    type(c_ptr) :: log_user
  end type

  type, bind(c) :: purlin_context_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: backend, device, threads, cpu_isa
    integer(c_int64_t) :: host_memory_limit, device_memory_limit, host_memory_used, device_memory_used
    character(kind=c_char) :: device_name(128)
  end type

  type, bind(c) :: purlin_tensor_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: dtype, location, ndim, flags, symmetric_order, owned
    integer(c_int64_t) :: symmetric_dimension, elements, bytes, data
  end type

  type, bind(c) :: purlin_matrix_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: dtype, location, storage, flags
    integer(c_int64_t) :: rows, cols, ld, nnz, bytes, data, row_ptr, col_idx
    integer(c_int32_t) :: index_base, row_ptr_type, col_idx_type, owned
  end type

  type, bind(c) :: purlin_sshopm_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: goal, method, shift_kind, test, start_kind, max_iterations, warmup, sign, compatibility, &
      remove_isotropic
    integer(c_int64_t) :: starts, seed
    real(c_double) :: shift, tolerance, tau, merge_angle, merge_value, degeneracy_tolerance
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
  end type

  !> Handles of the tensors that receive results (`t%handle()`); a null one is not wanted.
  type, bind(c) :: purlin_sshopm_results
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: count, values, vectors, residuals, classes, hessian, basins, status
    type(c_ptr) :: start_values, start_vectors, start_residuals, start_iterations, start_shifts, start_status, &
      start_violations
    type(c_ptr) :: trace
    type(c_ptr) :: found
  end type

  type, bind(c) :: purlin_sshopm_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: tensors, starts, converged_starts, iterations, skipped_tensors, chunks
    real(c_double) :: tolerance, seconds
    integer(c_int32_t) :: tolerance_raised, reserved
    integer(c_int64_t) :: truncated_tensors, unconverged_tensors
  end type

  type, bind(c) :: purlin_sshopm_all_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: starts, max_starts, seed
    integer(c_int32_t) :: max_iterations, sign
    real(c_double) :: tolerance, merge_angle, merge_value, degeneracy_tolerance
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
  end type

  type, bind(c) :: purlin_dwi_fit_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: weighting, nonpositive
    real(c_double) :: b0_threshold, clamp
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
  end type

  type, bind(c) :: purlin_dwi_csa_options
    integer(c_size_t) :: struct_size = 0
    real(c_double) :: b0_threshold, smoothing, minimum_signal, maximum_signal
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
  end type

  type, bind(c) :: purlin_dwi_peaks_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: basis, format, missing, start_kind, max_iterations, method
    integer(c_int64_t) :: starts, seed
    real(c_double) :: absolute_threshold, relative_threshold, min_separation, tolerance, merge_angle
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
  end type

  !> What a source holds: `dims` with the axis that runs fastest first, mm where it says so and NaN where not.
  type, bind(c) :: purlin_array_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: dtype, ndim
    integer(c_int64_t) :: dims(4)
    real(c_double) :: spacing(4), origin(4)
    integer(c_int64_t) :: bytes
    integer(c_int32_t) :: flags, reserved
  end type

  !> Panel and views. `angles` and `matrices` are filled in by the `create` of purlin_fdk from its arguments.
  type, bind(c) :: purlin_fdk_geometry
    integer(c_size_t) :: struct_size = 0
    real(c_double) :: source_to_axis, source_to_detector, column_pitch, row_pitch, column_offset, row_offset
    integer(c_int64_t) :: detector_columns, detector_rows, views
    type(c_ptr) :: angles, matrices
    integer(c_int32_t) :: allow_inside_panel, reserved
  end type

  type, bind(c) :: purlin_fdk_grid
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: nx, ny, nz
    real(c_double) :: dx, dy, dz, x0, y0, z0
  end type

  type, bind(c) :: purlin_fdk_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: window, redundancy, edge, interpolation, precision, mode, fov_mask, allow_missing, &
      allow_short_arc, sanitize
    real(c_double) :: cutoff, truncation, output_scale, output_offset
    integer(c_int64_t) :: slab, view_batch, fft_length
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
  end type

  type, bind(c) :: purlin_fdk_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: redundancy, kernel
    real(c_double) :: arc, fan_half_angle, largest_gap, fov_radius
    integer(c_int64_t) :: nx, ny, nz
    real(c_double) :: dx, dy, dz, x0, y0, z0
    integer(c_int64_t) :: slab, slabs, view_batch, fft_length, filtered_columns, filtered_left, contexts, &
      device_bytes, host_bytes, device_bytes_used, host_bytes_used, views_pushed, pixels_sanitized, &
      pixels_clamped, bytes_uploaded, bytes_downloaded
    real(c_double) :: seconds_read, seconds_upload, seconds_filter, seconds_backproject, seconds_download, &
      seconds_write, seconds_total, gups
    character(kind=c_char) :: reason(128)
    integer(c_int64_t) :: pixels_negative, pixels_not_finite
  end type

  !> `restart_path` is filled in by the `create` of purlin_rsvd from its argument.
  type, bind(c) :: purlin_rsvd_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: rank, oversampling, power_iterations, max_rank, block_columns, block_rows, resident_rows, &
      merge_width, probes, seed
    real(c_double) :: tolerance, smallest_ratio
    integer(c_int32_t) :: dtype, method, orthonormalization, sketch, center, scale, sign, right, error, one_pass
    type(c_ptr) :: restart_path
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
    integer(c_int32_t) :: iteration_precision, reserved
    real(c_double) :: read_rate
  end type

  type, bind(c) :: purlin_rsvd_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: method, orthonormalization, dtype, transposed, converged, restarted, error_kind, sketch
    integer(c_int64_t) :: rank, columns, power_iterations, passes, passes_restarted, contexts, blocks, block_rows, &
      resident_rows, orthonormalization_fallbacks, bytes_to_device, bytes_tall, bytes_read, bytes_predicted, &
      device_bytes, host_bytes, device_bytes_used, host_bytes_used
    real(c_double) :: frobenius, max_abs, error_frobenius, error_relative, error_spectral, seconds_read, seconds_link, &
      seconds_multiply, seconds_orthonormalize, seconds_small, seconds_total, seconds_predicted
    character(kind=c_char) :: reason(128)
  end type

  type, bind(c) :: purlin_pca_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: samples, center, scale, whiten
  end type

  type, bind(c) :: purlin_pca_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: dtype, samples, centered, scaled, whitened, reserved
    integer(c_int64_t) :: count, features, rank
    real(c_double) :: total_variance, noise_variance
  end type

  type, bind(c) :: purlin_rpca_options
    integer(c_size_t) :: struct_size = 0
    real(c_double) :: lambda, tolerance, mu, rho, threshold, scale
    integer(c_int64_t) :: max_iterations, max_rank, fixed_rank, power_iterations, oversampling, block_rows, seed
    integer(c_int32_t) :: warm_start, frames, dtype, reserved
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
    !> c_loc of an array of the handles, context%handle(), of further contexts, and their number.
    type(c_ptr) :: contexts
    integer(c_int64_t) :: contexts_count
  end type

  type, bind(c) :: purlin_rpca_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: converged, dtype
    integer(c_int64_t) :: iterations, rank, nonzeros, passes, blocks, block_rows, bytes_to_device, bytes_read, &
      device_bytes_used, host_bytes_used
    real(c_double) :: lambda, mu, norm2, frobenius, residual, objective, nuclear_norm, one_norm, seconds_svd, &
      seconds_elementwise, seconds_read, seconds_total
    integer(c_int64_t) :: contexts, host_bytes, device_bytes
  end type

  !> What a tensor train or a TT-matrix is.
  type, bind(c) :: purlin_tt_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: dtype, location, flags, cyclic, uniform, owned
    integer(c_int64_t) :: length, max_rank, elements, bytes
  end type

  !> A number: the mantissa re + i im times 2**exponent. It needs no purlin_init.
  type, bind(c) :: purlin_tt_scaled
    real(c_double) :: re, im
    integer(c_int64_t) :: exponent
    real(c_double) :: log_abs, phase_re, phase_im
  end type

  type, bind(c) :: purlin_tt_contraction_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: algorithm, scaling, conjugate, math, norm_way, assume_hermitian, kernel, reserved
    integer(c_int64_t) :: cut, block, repeat, workspace_limit
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
  end type

  type, bind(c) :: purlin_tt_contraction_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: algorithm, kernel, outcome, halved, two_ended, scaled
    integer(c_int64_t) :: cut, pairs, block, contexts, workspace_bytes
    real(c_double) :: flops, bytes, seconds
    character(kind=c_char) :: reason(128)
  end type

  type, bind(c) :: purlin_tt_round_options
    integer(c_size_t) :: struct_size = 0
    real(c_double) :: epsilon
    integer(c_int64_t) :: max_rank
    integer(c_int32_t) :: absolute, reserved
  end type

  type, bind(c) :: purlin_tt_round_info
    integer(c_size_t) :: struct_size = 0
    real(c_double) :: error, log_norm
    integer(c_int64_t) :: max_rank
  end type

  type, bind(c) :: purlin_spmv_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: algorithm, op, symmetric, reserved, order, kind
    real(c_double) :: shift
    integer(c_int64_t) :: degree
    real(c_double) :: lower, upper
  end type

  type, bind(c) :: purlin_spmv_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: algorithm, group
    integer(c_int64_t) :: rows, nnz, longest, empty
    real(c_double) :: mean, deviation, short_rows, beyond_32, beyond_1024
    integer(c_int64_t) :: tiles, bytes
    real(c_double) :: seconds
    character(kind=c_char) :: reason(128)
    integer(c_int32_t) :: order, kind
    integer(c_int64_t) :: degree
  end type

  type, bind(c) :: purlin_lanczos_options
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: count
    integer(c_int32_t) :: which, kind
    real(c_double) :: shift, sigma, tolerance
    integer(c_int64_t) :: basis, restarts, seed
    integer(c_int32_t) :: verify, method
    integer(c_int64_t) :: block
    integer(c_int32_t) :: orthogonality, filter
    integer(c_int64_t) :: degree
    type(c_funptr) :: progress
    type(c_ptr) :: progress_user
    integer(c_int32_t) :: order, check_symmetry
    !> c_loc of an array of the handles, context%handle(), of further contexts, and their number.
    type(c_ptr) :: contexts
    integer(c_int64_t) :: contexts_count
    !> Of purlin_lanczos_singular alone, which sets it to its own `start`.
    type(c_ptr) :: start
  end type

  type, bind(c) :: purlin_lanczos_info
    integer(c_size_t) :: struct_size = 0
    integer(c_int32_t) :: reason, breakdowns
    integer(c_int64_t) :: count, converged, products, restarts, recovered, basis, degree
    real(c_double) :: norm, seconds
    integer(c_int64_t) :: contexts, part_rows, part_entries, halo, halo_bytes, product_bytes
    integer(c_int32_t) :: verified, reserved
    real(c_double) :: residual, orthogonality
  end type

  !> A value that passed the test of Cullum and Willoughby. It needs no purlin_init.
  type, bind(c) :: purlin_lanczos_accepted
    real(c_double) :: value, residual
    integer(c_int64_t) :: copies
  end type

  abstract interface
    !> Reads one block of an array into `block`, packed: `first` and `count` point to one number an axis. Nonzero
    !> ends the run. It is called from a thread of the library, one call at a time.
    function purlin_read(first, count, block, user) bind(c) result(failed)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: first, count, block, user
      integer(c_int32_t) :: failed
    end function

    !> Takes one block, likewise.
    function purlin_write(first, count, block, user) bind(c) result(failed)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: first, count, block, user
      integer(c_int32_t) :: failed
    end function

    !> Products of a matrix A with `count` vectors: y = A x, or with `adjoint` 1 y = A^H x. `x` and `y` point to columns
    !> that are `ldx` and `ldy` elements apart; on a device, work is enqueued on `cuda_stream`, which is 0 on the host.
    !> Nonzero ends the run. One call at a time, from any thread.
    function purlin_apply(adjoint, count, x, ldx, y, ldy, cuda_stream, user) bind(c) result(failed)
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int32_t), value :: adjoint
      integer(c_int64_t), value :: count, ldx, ldy, cuda_stream
      type(c_ptr), value :: x, y, user
      integer(c_int32_t) :: failed
    end function

    !> Progress of a long call: set `options%progress = c_funloc(mine)`. A nonzero result cancels the call.
    function purlin_progress(step, steps, measure, user) bind(c) result(cancel)
      import :: c_int32_t, c_int64_t, c_double, c_ptr
      integer(c_int64_t), value :: step, steps
      real(c_double), value :: measure
      type(c_ptr), value :: user
      integer(c_int32_t) :: cancel
    end function

    !> One line of the log (see purlin_string). It may come from any thread.
    subroutine purlin_log(level, message, user) bind(c)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: level
      type(c_ptr), value :: message, user
    end subroutine
  end interface
end module purlin_types
