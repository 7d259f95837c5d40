! Messages name the argument as Fortran's caller knows it, its value and the limit.
program test_messages
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use, intrinsic :: iso_c_binding
  use purlin
  use checks
  implicit none
  character(*), parameter :: problem = &
    ': its columns are not contiguous and ascending; copy a section or transpose(x) to an array first'
  type(purlin_context) :: context
  integer(c_int32_t) :: stat
  character(512) :: text

  call context%create(backend=PURLIN_BACKEND_CPU)
  call trains()
  call eigenpairs()
  call no_tensors()
  call views()
  call sections()
  call sections_of_families()
  call compressed_rows()
  call context%destroy()
  call check_none_live()

contains

  subroutine refused(expected)
    character(*), intent(in) :: expected
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == expected, trim(text) // ', expected ' // expected)
  end subroutine

  subroutine trains()
    real(real64), target :: cores(2, 3, 2, 4)
    type(purlin_tt_core) :: parts(4)
    type(purlin_tt) :: x
    type(purlin_tt_contraction) :: c
    type(purlin_tt_environments) :: e
    real(real64) :: entry, values(1), out(2, 3, 2)
    integer(int64) :: exponent
    integer :: k
    call random_number(cores)
    do k = 1, 4
      call parts(k)%borrow(cores(:, :, :, k))
    end do
    call x%borrow(context, parts)
    call purlin_tt_element(x, [1_int64, 1_int64, 4_int64, 1_int64], entry, stat=stat, errmsg=text)
    call refused('index: element 3 is 4, outside 1 to 3')
    call purlin_tt_element(x, [0, 1, 1, 1], entry, stat=stat, errmsg=text)
    call refused('index: element 1 is 0, outside 1 to 3')
    call purlin_tt_elements(x, reshape([1_int64, 1_int64, 4_int64, 1_int64], [4, 1]), values, stat=stat, errmsg=text)
    call refused('indices: tuple 1: element 3 is 4, outside 1 to 3')
    call c%create(context)
    call e%create(c, x, x)
    call e%apply(3_int64, 3_int64, cores(:, :, :, 1), out, exponent, stat=stat, errmsg=text)
    call refused('sites: is 3, 0 to 2 are possible')
    call e%apply(5_int64, 1_int64, cores(:, :, :, 1), out, exponent, stat=stat, errmsg=text)
    call refused('k: is 5, outside 1 to 4')
    call e%destroy()
    call x%destroy()
    call x%borrow(context, parts(:3))
    call e%create(c, x, x)
    call e%apply(3_int64, 3_int64, cores(:, :, :, 1), out, exponent, stat=stat, errmsg=text)
    call refused('sites: is 3, 0 to 2 are possible')
    call e%apply(3, 3, cores(:, :, :, 1), out, exponent, stat=stat, errmsg=text)
    call refused('sites: is 3, 0 to 2 are possible')
    call e%apply(3_int64, 2_int64, cores(:, :, :, 1), out, exponent, stat=stat, errmsg=text)
    call refused('k: is 3, outside 1 to 2')
    call e%destroy()
    call x%destroy()
    call x%borrow(context, parts(:1))
    call e%create(c, x, x)
    call e%apply(1_int64, 2_int64, cores(:, :, :, 1), out, exponent, stat=stat, errmsg=text)
    call refused('sites: is 2, the trains have 1 cores')
    call e%destroy()
    call c%destroy()
    call x%destroy()
  end subroutine

  subroutine eigenpairs()
    type(purlin_matrix) :: a
    integer(c_int32_t), target :: row_ptr(6) = [1, 2, 3, 4, 5, 6], col_idx(5) = [1, 2, 3, 4, 5]
    real(real64), target :: diagonal(5) = [1, 2, 3, 4, 5], vectors(5, 6)
    real(c_double), target :: values(6)
    call a%csr(context, 5_int64, row_ptr, col_idx, diagonal)
    call purlin_lanczos_solve_once(context, a, values, stat=stat, errmsg=text)
    call refused('size(values): is 6, outside 1 to n = 5')
    call purlin_lanczos_solve_once(context, a, values, vectors, stat=stat, errmsg=text)
    call refused('size(values): is 6, outside 1 to n = 5')
    call purlin_lanczos_solve_once(context, a, values(:0), stat=stat, errmsg=text)
    call refused('size(values): is 0, less than 1')
    call purlin_lanczos_singular_once(context, a, values, stat=stat, errmsg=text)
    call refused('size(values): is 6, outside 1 to 5')
    call a%destroy()
  end subroutine

  !> A batch without tensors, beside room for results and without.
  subroutine no_tensors()
    real(real64) :: tensors(0), values(3), vectors(3, 3)
    call purlin_sshopm_solve_once(context, 4, 3, tensors, values, vectors, stat=stat, errmsg=text)
    call refused('tensors: has 0 elements, expected at least one tensor for the results')
    call purlin_sshopm_solve_once(context, 4, 3, tensors, values(:0), vectors(:, :0), stat=stat, errmsg=text)
    call check(stat == PURLIN_SUCCESS, text)
  end subroutine

  subroutine views()
    type(purlin_fdk_geometry) :: geometry
    type(purlin_fdk) :: plan
    real(c_double) :: angles(20), matrices(4, 3, 20)
    integer :: k
    angles = [(0.1_c_double * acos(-1.0_c_double) * (k - 1), k = 1, 20)]
    matrices = 0
    call purlin_init(geometry)
    geometry%source_to_axis = 500
    geometry%source_to_detector = 1000
    geometry%column_pitch = 3
    geometry%row_pitch = 3
    geometry%detector_columns = 16
    geometry%detector_rows = 12
    geometry%views = 7
    call plan%create(context, geometry, angles=angles, stat=stat, errmsg=text)
    call refused('views: is 7, angles has 20')
    call plan%create(context, geometry, matrices=matrices, stat=stat, errmsg=text)
    call refused('views: is 7, matrices has 20')
    geometry%views = 20
    call plan%create(context, geometry, angles=angles)
    call plan%destroy()
  end subroutine

  !> Which of the arrays cannot be used, and how many elements each has.
  subroutine compressed_rows()
    type(purlin_matrix) :: matrix
    integer(c_int32_t), target :: starts(6), columns(8)
    real(real64), target :: values(8)
    integer(c_int32_t), pointer, save :: absent(:)
    real(real64), pointer, save :: no_values(:)
    starts = [1, 1, 3, 3, 5, 5]
    columns = 1
    values = 1
    absent => null()
    no_values => null()
    call matrix%csr(context, 2_int64, starts(::2), columns(1:4), values(1:4), stat=stat, errmsg=text)
    call refused('row_ptr: is not contiguous')
    call matrix%csr(context, 2_int64, starts(::2), columns(1:4), stat=stat, errmsg=text)
    call refused('row_ptr: is not contiguous')
    call matrix%csr(context, 2_int64, starts, columns(::2), values(1:4), stat=stat, errmsg=text)
    call refused('col_idx: is not contiguous')
    call matrix%csr(context, 2_int64, starts, columns(1:4), values(::2), stat=stat, errmsg=text)
    call refused('values: is not contiguous')
    call matrix%csr(context, 2_int64, absent, columns(1:4), values(1:4), stat=stat, errmsg=text)
    call refused('row_ptr: is not associated')
    call matrix%csr(context, 2_int64, starts, columns(1:4), no_values, stat=stat, errmsg=text)
    call refused('values: is not associated')
    call matrix%csr(context, 2_int64, starts, columns(1:4), values(1:3), stat=stat, errmsg=text)
    call refused('values: has 3 elements, col_idx has 4')
  end subroutine

  !> The name of the caller's argument, where it is not `array`.
  subroutine sections_of_families()
    real(real64), target :: a(8, 5), apart(16, 5)
    integer(int64) :: labels(8)
    type(purlin_matrix) :: graph
    call random_number(a)
    call random_number(apart)
    call purlin_rpca_compute_once(context, apart(::2, :), low_rank=a, stat=stat, errmsg=text)
    call refused('m' // problem)
    call purlin_rpca_compute_once(context, a, low_rank=apart(::2, :), stat=stat, errmsg=text)
    call refused('low_rank' // problem)
    call purlin_rpca_compute_once(context, a, sparse=apart(::2, :), stat=stat, errmsg=text)
    call refused('sparse' // problem)
    call purlin_graph_k_means(context, apart(::2, :), 2_int64, labels, stat=stat, errmsg=text)
    call refused('points' // problem)
    call purlin_graph_pivoted_qr(context, apart(::2, :), labels, stat=stat, errmsg=text)
    call refused('points' // problem)
    call purlin_graph_of_image(context, apart(::2, :), graph, 1.0_real64, 0.1_real64, stat=stat, errmsg=text)
    call refused('image' // problem)
  end subroutine

  !> Sections, and sizes of arrays without elements.
  subroutine sections()
    real(real64), target :: a(10, 6), u(20, 2), v(6, 2)
    real(real64) :: s(2)
    call random_number(a)
    call purlin_rsvd_compute_once(context, a(1:10:2, :), s, stat=stat, errmsg=text)
    call refused('a' // problem)
    call purlin_rsvd_compute_once(context, a, s, u(1:20:2, :), v, stat=stat, errmsg=text)
    call refused('u' // problem)
    ! gfortran passes the transpose as a section of `a`, and its copy in parentheses as an array.
    call purlin_rsvd_compute_once(context, transpose(a), s, stat=stat, errmsg=text)
    call refused('a' // problem)
    call purlin_rsvd_compute_once(context, (transpose(a)), s)
    call purlin_rsvd_compute_once(context, a(1:0, :), s, stat=stat, errmsg=text)
    call refused('rank: is 2, more than min(m, n) = 0')
    call purlin_rsvd_compute_once(context, a(:, 1:0), s, stat=stat, errmsg=text)
    call refused('rank: is 2, more than min(m, n) = 0')
    call purlin_rsvd_compute_once_ld(context, 10, 6, 2, a, 9, s, u, 20, v, 6, stat=stat, errmsg=text)
    call refused('lda: is 9, less than m = 10')
    call purlin_rsvd_compute_once_ld(context, 10, 6, 2, a, 10, s, u, 9, v, 6, stat=stat, errmsg=text)
    call refused('ldu: is 9, less than m = 10')
    call purlin_rsvd_compute_once_ld(context, 10, 6, 2, a, 10, s, u, 20, v, 5, stat=stat, errmsg=text)
    call refused('ldv: is 5, less than n = 6')
    call purlin_rsvd_compute_once_ld(context, -1, 6, 2, a, 10, s, u, 20, v, 6, stat=stat, errmsg=text)
    call refused('m: is -1, less than 0')
  end subroutine
end program test_messages
