! Calls of every family but trains by default integers of either size: compiled with -fdefault-integer-8 by by_hand.sh, and
! without it by CMake. Every generic procedure for them is called once.
module functions
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
contains
  function square(x) result(y)
    real(real64), intent(in) :: x
    real(real64) :: y
    y = x * x
  end function
end module functions

program test_default_families
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use, intrinsic :: iso_c_binding, only: c_loc
  use purlin
  use functions, only: square
  implicit none
  type(purlin_context) :: context
  call context%create(backend=PURLIN_BACKEND_CPU)
  call tensors()
  call eigenpairs()
  call diffusion()
  call files()
  call projections()
  call matrices()
  call graphs()
  call low_rank()
  call context%destroy()
  if (purlin_live_handles() /= 0) error stop 'handles are left'
  print '(a)', 'default integers are taken'

contains

  subroutine expect(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (ok) return
    print '(a)', what
    error stop 1
  end subroutine

  subroutine tensors()
    type(purlin_tensor) :: a, b
    integer, allocatable :: dims(:), strides(:)
    integer(int64), allocatable :: wide(:)
    real(real64), target :: packed(6, 2)
    integer :: many
    call a%create(context, PURLIN_F64, [2, 3, 4])
    call a%layout(dims, strides)
    call expect(all(dims == [2, 3, 4]) .and. all(strides == [1, 2, 6]), 'layout')
    call a%layout(wide)
    call expect(all(wide == dims), 'layout of 64 bits')
    call a%create_symmetric(context, PURLIN_F64, 2, 3, 2)
    call a%layout(dims)
    call expect(all(dims == [6, 2]), 'create_symmetric')
    packed = 1
    call b%borrow_symmetric(context, 2, 3, packed)
    call b%borrow_symmetric_address(context, PURLIN_F64, 2, 3, 2, c_loc(packed), 1, 6)
    call a%copy_from(context, b)
    call b%borrow_address(context, PURLIN_F64, [6, 2], c_loc(packed), [1, 6])
    call b%borrow_address(context, PURLIN_F64, [12], c_loc(packed))
    many = 3
    call expect(purlin_symmetric_count(4, many) == 15, 'symmetric_count')
    call b%destroy()
    call a%destroy()
  end subroutine

  subroutine eigenpairs()
    integer, allocatable :: indices(:, :), exponents(:, :), multinomials(:)
    integer(int64), allocatable :: wide(:, :)
    real(real64) :: full(3, 3), packed(6), norm(1), values(3), vectors(3, 3), products(3), starts(3, 4), found(3)
    integer :: i
    call purlin_symmetric_indices(2, 3, indices)
    call expect(all(indices(:, 6) == 3) .and. size(indices, 2) == 6, 'indices')
    call purlin_symmetric_indices(2_int64, 3_int64, wide)
    call expect(all(wide == indices), 'indices of 64 bits')
    call purlin_symmetric_exponents(2, 3, exponents)
    call expect(all(exponents(:, 6) == [0, 0, 2]), 'exponents')
    call purlin_symmetric_multinomials(2, 3, multinomials)
    call expect(all(multinomials == [1, 2, 2, 1, 2, 1]), 'multinomials')
    full = 0
    do i = 1, 3
      full(i, i) = i
    end do
    call purlin_symmetric_from_full(context, 2, 3, full, packed)
    call expect(abs(packed(6) - 3) < 1e-15, 'from_full')
    call purlin_symmetric_to_full(context, 2, 3, packed, full)
    call purlin_symmetric_norm(context, 2, 3, packed, PURLIN_NORM_FROBENIUS, norm)
    call expect(abs(norm(1)**2 - 14) < 1e-12, 'norm')
    call purlin_symmetric_identity(context, 2, 3, 1.0_real64, packed)
    call purlin_symmetric_from_full(context, 2, 3, full, packed)
    call purlin_sshopm_solve_once(context, 2, 3, packed, values, vectors)
    call expect(abs(values(1) - 3) < 1e-9, 'sshopm_solve')
    call purlin_sshopm_solve_all_once(context, 2, 3, packed, values, vectors)
    call expect(abs(values(3) - 1) < 1e-9, 'sshopm_all')
    call purlin_sshopm_product(context, 2, 3, packed, [0.0_real64, 0.0_real64, 1.0_real64], 1, products)
    call expect(abs(products(3) - 3) < 1e-12, 'sshopm_product')
    call purlin_sshopm_starts(context, PURLIN_STARTS_RANDOM, 3, starts, 7)
    call expect(all(abs(sum(starts**2, 1) - 1) < 1e-12), 'sshopm_starts')
    call purlin_sshopm_classify(context, 2, 3, packed, values, vectors, found)
    call expect(all(found < 1e-8), 'sshopm_classify')
  end subroutine

  subroutine diffusion()
    real(real64) :: coefficients(6), tensor(6), back(6)
    coefficients = [1, 2, 3, 4, 5, 6]
    call purlin_dwi_sh_to_tensor(context, 2, PURLIN_SH_MRTRIX3, coefficients, tensor)
    call purlin_dwi_tensor_to_sh(context, 2, tensor, PURLIN_SH_MRTRIX3, back)
    call expect(all(abs(back - coefficients) < 1e-12), 'spherical harmonics')
  end subroutine

  subroutine files()
    type(purlin_source) :: source
    type(purlin_sink) :: sink
    type(purlin_array_info) :: info
    real(real32) :: zeros(8)
    character(60) :: path, message
    integer(int32) :: stat
    zeros = 0
    call sink%to_file(context, 'default_integers.raw', PURLIN_F32, [3, 2], 8)
    call sink%destroy()
    open (unit=11, file='default_integers.raw', access='stream', form='unformatted', status='replace')
    write (11) zeros
    close (11)
    call source%from_file(context, 'default_integers.raw', PURLIN_F32, [3, 2], 8)
    call source%properties(info)
    call expect(all(info%dims(:2) == [3, 2]), 'from_file')
    ! Trailing blanks of a name do not count, as in an OPEN statement; a null character before its end is refused.
    path = 'default_integers.raw'
    call source%from_file(context, path, PURLIN_F32, [3, 2], 8)
    path = 'default_integers.raw'//achar(0)//'.txt'
    call source%from_file(context, path, PURLIN_F32, [3, 2], 8, stat=stat, errmsg=message)
    call expect(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'null character') > 0, 'null character')
    call sink%to_file(context, path, PURLIN_F32, [3, 2], stat=stat)
    call expect(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'null character')
    call source%from_mapped_file(context, 'default_integers.raw', PURLIN_F32, [2, 3], 8)
    open (unit=11, file='default_integers.raw')
    close (11, status='delete')
    call source%destroy()
  end subroutine

  subroutine projections()
    integer, parameter :: views = 24
    type(purlin_fdk) :: plan
    type(purlin_fdk_geometry) :: geometry
    type(purlin_fdk_grid) :: grid
    type(purlin_tensor) :: counts, lines, more, out
    real(real32), target :: data(8, 6, views), volume(8, 8, 4), found(8, 6, views), filtered(8, 6, views), again(8, 8, 4)
    real(real64) :: angles(views)
    integer :: k, clamped
    angles = [(8 * atan(1.0_real64) / views * k, k=0, views - 1)]
    call purlin_init(geometry)
    geometry%source_to_axis = 500
    geometry%source_to_detector = 1000
    geometry%column_pitch = 4
    geometry%row_pitch = 4
    geometry%detector_columns = 8
    geometry%detector_rows = 6
    call purlin_init(grid)
    grid%nx = 8
    grid%ny = 8
    grid%nz = 4
    grid%dx = 1
    grid%dy = 1
    grid%dz = 1
    grid%x0 = -3.5_real64
    grid%y0 = -3.5_real64
    grid%z0 = -1.5_real64
    data = 1
    call plan%create(context, geometry, angles=angles, grid=grid)
    call plan%reconstruct(context, data, volume)
    call plan%begin()
    do k = 1, views - 2
      call plan%push(context, k, data(:, :, k))
    end do
    call plan%push(context, [views - 1, views], data(:, :, views - 1:))
    call plan%finish(context, again)
    call expect(maxval(abs(again - volume)) < 1e-6, 'push')
    call counts%borrow(context, data, flags=PURLIN_READ_ONLY)
    call lines%borrow(context, found)
    call plan%weight([(k, k=1, views)], counts, lines)
    call more%borrow(context, filtered)
    call plan%filter([(k, k=1, views)], lines, more)
    call out%borrow(context, again)
    again = 0
    call plan%backproject([(k, k=1, views)], more, out)
    call purlin_fdk_log_transform(context, counts, 2.0_real64, lines, clamped=clamped)
    call expect(clamped == 0 .and. abs(found(1, 1, 1) - log(2.0)) < 1e-6, 'log_transform')
    call out%destroy()
    call more%destroy()
    call lines%destroy()
    call counts%destroy()
    call plan%destroy()
  end subroutine

  subroutine matrices()
    type(purlin_matrix) :: a, b
    type(purlin_matrix_info) :: info
    integer, target :: row_ptr(4) = [1, 3, 4, 5], col_idx(4) = [1, 3, 2, 1]
    integer :: order(3)
    integer(int32) :: stat
    character(80) :: message
    real(real64), target :: values(4) = [1, 2, 3, 4], dense(3, 3)
    call a%csr(context, 3, row_ptr, col_idx, values)
    call b%create(context, PURLIN_F64, 3, 3)
    call b%borrow_address(context, PURLIN_F64, 3, 3, 3, c_loc(dense))
    call purlin_to_dense(a, b)
    call expect(abs(dense(1, 3) - 2) < 1e-15, 'csr')
    call a%csr(context, 3, row_ptr, col_idx)
    call purlin_from_coordinates(context, a, 3, 3, [1, 2, 3], [2, 3, 1], [1.0_real64, 2.0_real64, 3.0_real64])
    call purlin_from_columns(context, a, 3, row_ptr, col_idx, values)
    call purlin_to_dense(a, b)
    call expect(abs(dense(3, 1) - 2) < 1e-15, 'from_columns')
    call purlin_permute(a, b, [3, 2, 1])
    call purlin_permute(a, b, cols=[3, 2, 1])
    call purlin_permute(a, b, [3, 2, 1], [1, 3, 2])
    call purlin_select(a, b, [3], [1, 2])
    call b%properties(info)
    call expect(info%rows == 1 .and. info%cols == 2, 'select')
    call purlin_select(a, b, cols=[2, 1])
    call b%properties(info)
    call expect(info%rows == 3 .and. info%cols == 2, 'select of columns')
    call purlin_select(a, b, [2_int64], [1_int64])
    call purlin_select(a, b)
    call purlin_select(a, b, [3, 4], stat=stat, errmsg=message)
    call expect(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. message == 'rows: element 2 is 4, outside 1 to 3', message)
    call purlin_permute(a, b, cols=[0, 1, 2], stat=stat, errmsg=message)
    call expect(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. message == 'cols: element 1 is 0, outside 1 to 3', message)
    call purlin_order(context, a, PURLIN_ORDERING_DEGREE, order)
    call expect(sum(order) == 6, 'order')
    call b%destroy()
    call a%destroy()
  end subroutine

  subroutine graphs()
    type(purlin_matrix) :: w, part
    type(purlin_lanczos) :: solver
    integer :: k, labels(6), count, sides(6)
    integer(int64) :: wide(6)
    real(real64) :: vector(6), points(6, 1), alpha(3), beta(3), at(6), weights(6), trace
    type(purlin_lanczos_accepted), target :: accepted(3)
    ! Two triangles.
    call purlin_from_coordinates(context, w, 6, 6, [1, 2, 2, 3, 3, 1, 4, 5, 5, 6, 6, 4], [2, 1, 3, 2, 1, 3, 5, 4, 6, 5, 4, 6], &
      [(1.0_real64, k=1, 12)])
    call purlin_graph_components(context, w, labels, count)
    call expect(count == 2 .and. all(labels == [1, 1, 1, 2, 2, 2]), 'components')
    call purlin_graph_components(context, w, wide)
    call expect(all(wide == labels), 'components of 64 bits')
    call purlin_graph_component(w, part, 2)
    call purlin_graph_component(w, part)
    call purlin_graph_cluster(context, w, 2, labels, start_count=5)
    call expect(labels(1) == labels(3) .and. labels(4) == labels(6) .and. labels(1) /= labels(4), 'cluster')
    call unfinished()
    points(:, 1) = [0.0, 0.1, 0.2, 5.0, 5.1, 5.2]
    call purlin_graph_k_means(context, points, 2, labels, 5, 1)
    call expect(labels(1) == labels(3) .and. labels(1) /= labels(4), 'k_means')
    call purlin_graph_k_means(context, points, 2_int64, wide)
    call purlin_graph_pivoted_qr(context, reshape([.6, .8, .0, .0, .0, .0, .0, .0, .0, .0, .6, .8], [6, 2]), labels)
    vector = [1, 1, 1, -1, -1, -1]
    call purlin_graph_bisect(context, w, vector, sides, PURLIN_GRAPH_CUT_SIGN)
    call expect(sides(1) /= sides(4) .and. sum(sides) == 9, 'bisect')
    call purlin_graph_density(context, w, 3, 2, at, weights, count)
    call expect(count > 0 .and. abs(sum(weights(:count)) - 1) < 1e-12, 'density')
    trace = purlin_graph_density_trace(6, at(:count), weights(:count), square)
    call expect(trace > 0, 'density_trace')
    call solver%create(context)
    call solver%tridiagonalize(w, alpha, beta, count)
    call expect(count >= 1, 'tridiagonalize')
    call solver%destroy()
    call purlin_lanczos_cullum_willoughby(alpha(:count), beta(:count), accepted, count)
    call expect(count >= 0, 'filter')
    call part%destroy()
    call w%destroy()
  end subroutine

  ! Labels count from 1 as well where the solve has not converged.
  subroutine unfinished()
    integer, parameter :: n = 500
    type(purlin_matrix) :: path
    type(purlin_lanczos_options) :: options
    integer :: k, labels(n)
    integer(int64) :: wide(n)
    integer(int32) :: stat
    call purlin_from_coordinates(context, path, n, n, [(k, k=1, n - 1), (k, k=2, n)], [(k, k=2, n), (k, k=1, n - 1)])
    call purlin_init(options)
    options%basis = 7
    options%restarts = 1
    labels = 77
    call purlin_graph_cluster(context, path, 3, labels, options=options, stat=stat)
    call expect(stat == PURLIN_ERROR_NO_CONVERGENCE, 'a solve that does not converge')
    call expect(minval(labels) == 1 .and. maxval(labels) == 3, 'labels of the last iterate')
    wide = 77
    call purlin_graph_cluster(context, path, 3_int64, wide, options=options, stat=stat)
    call expect(all(wide == labels), 'labels of 64 bits')
    options%basis = -1
    call purlin_graph_cluster(context, path, 3_int64, wide, options=options, stat=stat)
    call expect(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. all(wide == labels), 'labels that stay')
    call path%destroy()
  end subroutine

  subroutine low_rank()
    integer, parameter :: m = 6, n = 5, k = 2, lda = 7, ldu = 8, ldv = 9
    real(real64) :: a(lda, n), s(k), u(ldu, k), v(ldv, k)
    integer :: i
    a = 0
    do i = 1, n
      a(i, i) = n + 1 - i
    end do
    call purlin_rsvd_compute_once_ld(context, m, n, k, a, lda, s, u, ldu, v, ldv)
    call expect(abs(s(1) - 5) < 1e-9 .and. abs(s(2) - 4) < 1e-9, 'rsvd_compute_ld')
  end subroutine
end program test_default_families
