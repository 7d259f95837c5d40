! Modes of a flow, from snapshots in memory and the same with outliers, which robust PCA takes out.
!
!   snapshots
program snapshots
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use purlin
  implicit none
  integer, parameter :: points = 2000, count = 200, rank = 6
  real(real64), parameter :: pi = acos(-1.0_real64)
  real(real64), allocatable :: clean(:, :), spoilt(:, :), low_rank(:, :), outliers(:, :), draw(:, :)
  real(real64), allocatable :: truth(:, :), modes(:, :)
  real(real64) :: s(rank)
  type(purlin_context) :: context
  type(purlin_context_info) :: where_it_runs
  type(purlin_rsvd_info) :: info
  type(purlin_rpca_options) :: options
  integer :: i, j, k

  allocate (clean(points, count), spoilt(points, count), low_rank(points, count), outliers(points, count), &
    draw(points, count), truth(points, rank), modes(points, rank))
  ! Three travelling waves, each a matrix of rank 2.
  do j = 1, count
    do i = 1, points
      clean(i, j) = sum([(0.5_real64**k * cos((k + 1) * (2 * pi * i / points - 6 * pi * j / count)), k=0, 2)])
    end do
  end do
  call context%create()
  call context%properties(where_it_runs)
  print '(2a)', 'purlin on ', purlin_string(where_it_runs%device_name)
  call purlin_rsvd_compute_once(context, clean, s, truth, info=info)
  print '(a, i0, a, i0, a, i0, a)', '  ', points, ' points x ', count, ' snapshots, ', info%passes, ' passes'
  print '(a, 6f9.3)', '  singular values     ', s

  ! One number in fifty becomes an outlier.
  call random_init(repeatable=.true., image_distinct=.false.)
  call random_number(draw)
  spoilt = merge(clean, 40 * (draw / 0.02_real64 - 0.5_real64), draw > 0.02_real64)
  call purlin_rsvd_compute_once(context, spoilt, s, modes)
  print '(a, f8.3)', '  kept of the true modes with outliers, of 6  ', overlap(modes)
  call purlin_init(options)
  options%tolerance = 1e-6_real64
  call purlin_rpca_compute_once(context, spoilt, low_rank, outliers, options=options)
  call purlin_rsvd_compute_once(context, low_rank, s, modes)
  print '(a, f8.3)', '  the same after robust PCA                   ', overlap(modes)
  print '(a, f8.3, a)', '  outliers found                              ', &
    100 * real(size(pack(outliers, abs(outliers) > 1), kind=int64), real64) / size(outliers), ' %'
  call context%destroy()

contains

  !> Sum of the squared cosines of the angles to the true modes.
  function overlap(found) result(kept)
    real(real64), intent(in) :: found(:, :)
    real(real64) :: kept
    kept = sum(matmul(transpose(found), truth)**2)
  end function
end program snapshots
