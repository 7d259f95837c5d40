! The structs of the module are those of the header: sizes, places of all fields, defaults.
program test_layout
  use, intrinsic :: iso_c_binding
  use purlin
  use checks
  implicit none
  type(purlin_sshopm_options) :: sshopm_options
  type(purlin_sshopm_results) :: sshopm_results
  type(purlin_dwi_options) :: dwi_options
  type(purlin_rpca_options) :: rpca_options
  type(purlin_rsvd_options) :: rsvd_options
  type(purlin_pca_options) :: pca_options
  type(purlin_spmv_options) :: spmv_options
  type(purlin_lanczos_options) :: lanczos_options

  call check_layouts()

  call purlin_init(sshopm_options)
  call check(sshopm_options%struct_size == c_sizeof(sshopm_options), 'an initialized struct knows its size')
  call check(sshopm_options%goal == PURLIN_SSHOPM_MAXIMA .and. sshopm_options%method == PURLIN_SSHOPM_HYBRID, 'goal')
  call check(sshopm_options%max_iterations == 0, 'max_iterations is the default of each call')
  call check(sshopm_options%seed == 0 .and. .not. c_associated(sshopm_options%progress), 'seed and progress are 0')
  call purlin_init(dwi_options)
  call check(abs(dwi_options%b0_threshold - 50) <= 0, 'b0_threshold is 50')
  call check(abs(dwi_options%smoothing - 0.006_c_double) <= 0, 'smoothing is 0.006')
  call check(abs(dwi_options%relative_threshold - 0.1_c_double) <= 0, 'relative_threshold is 0.1')
  call check(abs(dwi_options%min_separation - acos(-1.0_c_double) / 12) < 1e-12_c_double, '15 degrees')
  call check(dwi_options%basis == 0, 'no basis')
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

  subroutine check_size(name, found, expected)
    character(*), intent(in) :: name
    integer(c_size_t), intent(in) :: found, expected
    call check(found == expected, 'size of ' // name)
  end subroutine

  subroutine check_place(name, first, field, expected)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: first, field
    integer(c_intptr_t), intent(in) :: expected
    call check(transfer(field, 0_c_intptr_t) - transfer(first, 0_c_intptr_t) == expected, 'place of ' // name)
  end subroutine

  include 'generated/layout.inc'
end program test_layout
