! The structs of the module are those of the header: sizes, places of the last members, defaults.
program test_layout
  use, intrinsic :: iso_c_binding
  use purlin
  use checks
  implicit none
  interface
    subroutine layout_of(which, size, last) bind(c)
      import :: c_int32_t, c_int64_t
      integer(c_int32_t), value :: which
      integer(c_int64_t), intent(out) :: size, last
    end subroutine
  end interface
  type(purlin_device_info), target :: device
  type(purlin_context_options), target :: context_options
  type(purlin_context_info), target :: context_info
  type(purlin_tensor_info), target :: tensor_info
  type(purlin_matrix_info), target :: matrix_info
  type(purlin_sshopm_options), target :: sshopm_options
  type(purlin_sshopm_results), target :: sshopm_results
  type(purlin_sshopm_info), target :: sshopm_info
  type(purlin_sshopm_all_options), target :: all_options
  type(purlin_dwi_fit_options), target :: fit_options
  type(purlin_dwi_csa_options), target :: csa_options
  type(purlin_dwi_peaks_options), target :: peaks_options
  type(purlin_array_info), target :: array_info
  type(purlin_fdk_geometry), target :: fdk_geometry
  type(purlin_fdk_grid), target :: fdk_grid
  type(purlin_fdk_options), target :: fdk_options
  type(purlin_fdk_info), target :: fdk_info
  type(purlin_rpca_options), target :: rpca_options
  type(purlin_rpca_info), target :: rpca_info
  type(purlin_rsvd_options), target :: rsvd_options
  type(purlin_rsvd_info), target :: rsvd_info
  type(purlin_pca_options), target :: pca_options
  type(purlin_pca_info), target :: pca_info
  type(purlin_tt_info), target :: tt_info
  type(purlin_tt_contraction_options), target :: tt_contraction_options
  type(purlin_tt_contraction_info), target :: tt_contraction_info
  type(purlin_tt_round_options), target :: tt_round_options
  type(purlin_tt_round_info), target :: tt_round_info
  type(purlin_tt_scaled), target :: tt_scaled
  type(purlin_spmv_options), target :: spmv_options
  type(purlin_spmv_info), target :: spmv_info
  type(purlin_lanczos_options), target :: lanczos_options
  type(purlin_lanczos_info), target :: lanczos_info
  type(purlin_lanczos_accepted), target :: lanczos_accepted

  call compare(0, 'device_info', c_sizeof(device), c_loc(device), c_loc(device%name))
  call compare(1, 'context_options', c_sizeof(context_options), c_loc(context_options), c_loc(context_options%log_user))
  call compare(2, 'context_info', c_sizeof(context_info), c_loc(context_info), c_loc(context_info%device_name))
  call compare(3, 'tensor_info', c_sizeof(tensor_info), c_loc(tensor_info), c_loc(tensor_info%data))
  call compare(4, 'matrix_info', c_sizeof(matrix_info), c_loc(matrix_info), c_loc(matrix_info%owned))
  call compare(5, 'sshopm_options', c_sizeof(sshopm_options), c_loc(sshopm_options), &
    c_loc(sshopm_options%progress_user))
  call compare(6, 'sshopm_results', c_sizeof(sshopm_results), c_loc(sshopm_results), c_loc(sshopm_results%found))
  call compare(7, 'sshopm_info', c_sizeof(sshopm_info), c_loc(sshopm_info), c_loc(sshopm_info%unconverged_tensors))
  call compare(8, 'sshopm_all_options', c_sizeof(all_options), c_loc(all_options), c_loc(all_options%progress_user))
  call compare(9, 'dwi_fit_options', c_sizeof(fit_options), c_loc(fit_options), c_loc(fit_options%progress_user))
  call compare(10, 'dwi_csa_options', c_sizeof(csa_options), c_loc(csa_options), c_loc(csa_options%progress_user))
  call compare(11, 'dwi_peaks_options', c_sizeof(peaks_options), c_loc(peaks_options), &
    c_loc(peaks_options%progress_user))
  call compare(12, 'array_info', c_sizeof(array_info), c_loc(array_info), c_loc(array_info%reserved))
  call compare(13, 'fdk_geometry', c_sizeof(fdk_geometry), c_loc(fdk_geometry), c_loc(fdk_geometry%reserved))
  call compare(14, 'fdk_grid', c_sizeof(fdk_grid), c_loc(fdk_grid), c_loc(fdk_grid%z0))
  call compare(15, 'fdk_options', c_sizeof(fdk_options), c_loc(fdk_options), c_loc(fdk_options%progress_user))
  call compare(16, 'fdk_info', c_sizeof(fdk_info), c_loc(fdk_info), c_loc(fdk_info%pixels_not_finite))
  call compare(17, 'rpca_options', c_sizeof(rpca_options), c_loc(rpca_options), c_loc(rpca_options%contexts_count))
  call compare(18, 'rpca_info', c_sizeof(rpca_info), c_loc(rpca_info), c_loc(rpca_info%device_bytes))
  call compare(19, 'rsvd_options', c_sizeof(rsvd_options), c_loc(rsvd_options), c_loc(rsvd_options%read_rate))
  call compare(20, 'rsvd_info', c_sizeof(rsvd_info), c_loc(rsvd_info), c_loc(rsvd_info%reason))
  call compare(21, 'pca_options', c_sizeof(pca_options), c_loc(pca_options), c_loc(pca_options%whiten))
  call compare(22, 'pca_info', c_sizeof(pca_info), c_loc(pca_info), c_loc(pca_info%noise_variance))
  call compare(23, 'tt_info', c_sizeof(tt_info), c_loc(tt_info), c_loc(tt_info%bytes))
  call compare(24, 'tt_contraction_options', c_sizeof(tt_contraction_options), c_loc(tt_contraction_options), &
    c_loc(tt_contraction_options%progress_user))
  call compare(25, 'tt_contraction_info', c_sizeof(tt_contraction_info), c_loc(tt_contraction_info), &
    c_loc(tt_contraction_info%reason))
  call compare(26, 'tt_round_options', c_sizeof(tt_round_options), c_loc(tt_round_options), &
    c_loc(tt_round_options%reserved))
  call compare(27, 'tt_round_info', c_sizeof(tt_round_info), c_loc(tt_round_info), c_loc(tt_round_info%max_rank))
  call compare(28, 'tt_scaled', c_sizeof(tt_scaled), c_loc(tt_scaled), c_loc(tt_scaled%phase_im))
  call compare(29, 'spmv_options', c_sizeof(spmv_options), c_loc(spmv_options), c_loc(spmv_options%upper))
  call compare(30, 'spmv_info', c_sizeof(spmv_info), c_loc(spmv_info), c_loc(spmv_info%degree))
  call compare(31, 'lanczos_options', c_sizeof(lanczos_options), c_loc(lanczos_options), &
    c_loc(lanczos_options%start))
  call compare(32, 'lanczos_info', c_sizeof(lanczos_info), c_loc(lanczos_info), &
    c_loc(lanczos_info%orthogonality))
  call compare(33, 'lanczos_accepted', c_sizeof(lanczos_accepted), c_loc(lanczos_accepted), &
    c_loc(lanczos_accepted%copies))

  call purlin_init(sshopm_options)
  call check(sshopm_options%struct_size == c_sizeof(sshopm_options), 'an initialised struct knows its size')
  call check(sshopm_options%goal == PURLIN_SSHOPM_MAXIMA .and. sshopm_options%method == PURLIN_SSHOPM_HYBRID, 'goal')
  call check(sshopm_options%max_iterations == 500, 'max_iterations is 500')
  call check(sshopm_options%seed == 0 .and. .not. c_associated(sshopm_options%progress), 'seed and progress are 0')
  call purlin_init(fit_options)
  call check(abs(fit_options%b0_threshold - 50) <= 0, 'b0_threshold is 50')
  call purlin_init(csa_options)
  call check(abs(csa_options%smoothing - 0.006_c_double) <= 0, 'smoothing is 0.006')
  call purlin_init(peaks_options)
  call check(abs(peaks_options%relative_threshold - 0.1_c_double) <= 0, 'relative_threshold is 0.1')
  call check(abs(peaks_options%min_separation - acos(-1.0_c_double) / 12) < 1e-12_c_double, '15 degrees')
  call check(peaks_options%basis == 0, 'no basis')
  call purlin_init(sshopm_results)
  call check(.not. c_associated(sshopm_results%trace) .and. .not. c_associated(sshopm_results%count), 'no results')
  call purlin_init(lanczos_options)
  call check(lanczos_options%count == 6 .and. lanczos_options%block == 1, 'Lanczos')
  call check(lanczos_options%check_symmetry == 0, 'no check of symmetry')
  call purlin_init(spmv_options)
  call check(spmv_options%degree == 0 .and. abs(spmv_options%upper) <= 0, 'no filter')
  call purlin_init(rpca_options)
  call check(rpca_options%max_iterations == 1000 .and. abs(rpca_options%rho - 1.5_c_double) <= 0, 'robust PCA')
  call purlin_init(rsvd_options)
  call check(rsvd_options%oversampling == 10 .and. rsvd_options%power_iterations == 2, 'randomized SVD')
  call purlin_init(pca_options)
  call check(pca_options%center == 1 .and. pca_options%whiten == 0, 'PCA')
  call check_none_live()

contains

  subroutine compare(which, name, size, first, last)
    integer(c_int32_t), intent(in) :: which
    character(*), intent(in) :: name
    integer(c_size_t), intent(in) :: size
    type(c_ptr), intent(in) :: first, last
    integer(c_int64_t) :: c_size, c_last
    call layout_of(which, c_size, c_last)
    call check(int(size, c_int64_t) == c_size, 'size of purlin_' // name)
    call check(transfer(last, 0_c_intptr_t) - transfer(first, 0_c_intptr_t) == c_last, 'last member of purlin_' // name)
  end subroutine
end program test_layout
