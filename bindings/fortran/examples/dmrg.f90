! The ground state of an open chain of spins 1/2, H = sum_i S_i . S_i+1, by two-site DMRG (White, PRL 69, 1992).
!
!   dmrg [SPINS]
!
! Each step minimizes <x|H|x> over two neighbouring cores by a few steps of Lanczos, splits the result by a singular value
! decomposition, and hands the new cores with their new rank to the environments, which keep all that does not depend on
! them.
program dmrg
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use purlin
  implicit none
  integer, parameter :: krylov = 3, sweeps = 6
  integer, parameter :: largest(sweeps) = [8, 16, 32, 64, 128, 128]
  real(real64), parameter :: truncation = 1e-7_real64
  ! Of 20 spins, by exact diagonalization.
  real(real64), parameter :: exact = -8.682473334398_real64

  !> A core a(left rank, spin, right rank).
  type :: site
    real(real64), allocatable :: a(:, :, :)
  end type

  type(site), allocatable, target :: cores(:)
  type(purlin_context) :: context
  type(purlin_context_info) :: where_it_runs
  type(purlin_tt) :: states(0:1)
  type(purlin_tt_matrix) :: hamiltonian
  type(purlin_tt_contraction) :: contraction
  type(purlin_tt_environments) :: environments
  real(real64) :: energy, check
  integer :: spins, sweep, k, current
  character(16) :: word

  spins = 20
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) spins
  end if
  if (spins < 4) error stop 'SPINS: at least 4'
  call context%create()
  call context%properties(where_it_runs)
  print '(2a)', 'purlin on ', purlin_string(where_it_runs%device_name)

  ! The Neel state: up, down, up, ..
  allocate (cores(spins))
  do k = 1, spins
    allocate (cores(k)%a(1, 2, 1))
    cores(k)%a(1, :, 1) = merge([1, 0], [0, 1], mod(k, 2) == 1)
  end do
  current = 0
  call hamiltonian%heisenberg(context, int(spins, int64))
  call contraction%create(context)
  call borrow_cores(states(current))
  call environments%create(contraction, states(current), states(current), hamiltonian)

  print '(a)', '  sweep   largest rank   energy'
  do sweep = 1, sweeps
    do k = 1, spins - 2
      call step(k, .true.)
    end do
    do k = spins - 1, 1, -1
      call step(k, .false.)
    end do
    print '(i7, i15, f20.12)', sweep, maxval([(size(cores(k)%a, 3), k=1, spins)]), energy
  end do
  call contraction%rayleigh(hamiltonian, states(current), check)
  print '(a, f20.12)', '  <x|H|x> / <x|x>       ', check
  if (spins == 20) print '(a, f20.12)', '  exact                 ', exact
  if (abs(check - energy) > 1e-10_real64) error stop 'the energies differ'
  if (spins == 20 .and. abs(energy - exact) > 1e-11_real64) error stop 'the energy is wrong'

contains

  !> The train borrows the cores.
  subroutine borrow_cores(state)
    type(purlin_tt), intent(inout) :: state
    type(purlin_tt_core) :: borrowed(spins)
    integer :: j
    do j = 1, spins
      call borrowed(j)%borrow(cores(j)%a)
    end do
    call state%borrow(context, borrowed, PURLIN_READ_ONLY)
  end subroutine

  !> A step at sites `k` and `k` + 1, after which the right one is the centre if `rightwards`, else the left one.
  subroutine step(k, rightwards)
    integer, intent(in) :: k
    logical, intent(in) :: rightwards
    real(real64), allocatable :: pair(:, :), u(:, :), v(:, :)
    integer :: r, s
    r = size(cores(k)%a, 1)
    s = size(cores(k + 1)%a, 3)
    pair = matmul(reshape(cores(k)%a, [2 * r, size(cores(k)%a, 3)]), &
      reshape(cores(k + 1)%a, [size(cores(k + 1)%a, 1), 2 * s]))
    call minimize(k, pair)
    if (rightwards) then
      call split(pair, u, v)
    else
      ! The factor with the singular values comes second.
      call split(transpose(pair), u, v)
      pair = transpose(u)
      u = transpose(v)
      v = pair
    end if
    cores(k)%a = reshape(u, [r, 2, size(u, 2)])
    cores(k + 1)%a = reshape(v, [size(v, 1), 2, s])
    current = 1 - current
    call borrow_cores(states(current))
    call environments%set_trains(states(current), states(current), int(k, int64), int(k + 1, int64))
  end subroutine

  !> Lowers the energy of `pair`, the cores `k` and `k` + 1 in one, by Lanczos in a space of few vectors. Sets `energy`.
  subroutine minimize(k, pair)
    integer, intent(in) :: k
    real(real64), intent(inout) :: pair(:, :)
    real(real64) :: basis(size(pair), krylov + 1), image(size(pair)), t(krylov + 1, krylov + 1)
    real(real64) :: values(krylov), vectors(krylov, krylov)
    integer(int64) :: exponent
    integer :: count, j, pass
    basis(:, 1) = reshape(pair, [size(pair)]) / norm2(pair)
    t = 0
    do count = 1, krylov
      call environments%apply(int(k, int64), 2_int64, basis(:, count), image, exponent)
      image = image * 2.0_real64**exponent
      t(count, count) = dot_product(basis(:, count), image)
      ! Twice is enough.
      do pass = 1, 2
        do j = 1, count
          image = image - dot_product(basis(:, j), image) * basis(:, j)
        end do
      end do
      if (count == krylov) exit
      t(count, count + 1) = norm2(image)
      t(count + 1, count) = t(count, count + 1)
      ! The space is invariant: the state is exact here.
      if (t(count, count + 1) < 1e-10_real64) exit
      basis(:, count + 1) = image / t(count, count + 1)
    end do
    count = min(count, krylov)
    call jacobi(t(:count, :count), values(:count), vectors(:count, :count))
    j = minloc(values(:count), 1)
    energy = values(j)
    image = matmul(basis(:, :count), vectors(:count, j))
    pair = reshape(image / norm2(image), shape(pair))
  end subroutine

  !> `matrix` = u v, u with orthonormal columns, as few as `truncation` and the sweep allow; v of norm 1.
  subroutine split(matrix, u, v)
    real(real64), intent(in), contiguous, target :: matrix(:, :)
    real(real64), allocatable, intent(out) :: u(:, :), v(:, :)
    real(real64), allocatable, target :: first(:, :, :), second(:, :, :)
    integer(int64), allocatable :: modes(:), ranks(:)
    type(purlin_tt_round_options) :: options
    type(purlin_tt) :: factors
    call purlin_init(options)
    options%epsilon = truncation
    options%max_rank = largest(sweep)
    call purlin_tt_svd(context, matrix, factors, options)
    call factors%shape(modes, ranks)
    allocate (first(1, modes(1), ranks(2)), second(ranks(2), modes(2), 1))
    call factors%core(1_int64, first)
    call factors%core(2_int64, second)
    u = first(1, :, :)
    v = second(:, :, 1) / norm2(second)
  end subroutine

  !> Eigenvalues and orthonormal eigenvectors of a small symmetric matrix, by Jacobi's rotations.
  pure subroutine jacobi(matrix, values, vectors)
    real(real64), intent(in) :: matrix(:, :)
    real(real64), intent(out) :: values(:), vectors(:, :)
    real(real64) :: a(size(values), size(values)), rotation(2, 2), angle
    integer :: i, j, turn
    a = matrix
    vectors = 0
    do i = 1, size(values)
      vectors(i, i) = 1
    end do
    do turn = 1, 30
      do i = 1, size(values) - 1
        do j = i + 1, size(values)
          angle = 0.5_real64 * atan2(2 * a(i, j), a(j, j) - a(i, i))
          rotation = reshape([cos(angle), -sin(angle), sin(angle), cos(angle)], [2, 2])
          a(:, [i, j]) = matmul(a(:, [i, j]), rotation)
          a([i, j], :) = matmul(transpose(rotation), a([i, j], :))
          vectors(:, [i, j]) = matmul(vectors(:, [i, j]), rotation)
        end do
      end do
    end do
    values = [(a(i, i), i=1, size(values))]
  end subroutine
end program dmrg
