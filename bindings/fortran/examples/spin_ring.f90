! The lowest states of a Heisenberg ring of spins 1/2 that a flux is threaded through, and how stiff it is against the flux.
!
!   spin_ring [SPINS]
!
! H = sum_i Sz_i Sz_i+1 + (exp(i f / N) S+_i S-_i+1 + h.c.) / 2 among the states with as many spins up as down. The matrix is
! complex Hermitian and borrowed: for another flux f its values are overwritten in place.
program spin_ring
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use, intrinsic :: iso_c_binding, only: c_loc
  use purlin
  implicit none
  integer, parameter :: wanted = 3, fluxes = 4
  real(real64), parameter :: pi = acos(-1.0_real64)
  integer :: spins, step, states
  integer(int32), allocatable :: state(:)
  integer(int64), allocatable, target :: row_ptr(:)
  integer(int32), allocatable, target :: col_idx(:)
  complex(real64), allocatable, target :: values(:)
  ! Flips of an entry in the direction of the flux less those against it.
  integer, allocatable :: turns(:)
  real(real64), target :: energies(wanted), residuals(wanted)
  complex(real64), allocatable, target :: vectors(:, :)
  real(real64) :: flux, ground(0:fluxes)
  character(16) :: word
  type(purlin_context) :: context
  type(purlin_context_info) :: where_it_runs
  type(purlin_matrix) :: hamiltonian
  type(purlin_lanczos_options) :: options
  type(purlin_lanczos_info) :: info

  spins = 16
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) spins
  end if
  if (spins < 4 .or. spins > 24 .or. modulo(spins, 2) /= 0) error stop 'SPINS: an even number from 4 to 24'
  call context%create()
  call context%properties(where_it_runs)
  print '(2a)', 'purlin on ', purlin_string(where_it_runs%device_name)
  call balanced()
  call connect()
  states = size(state)
  print '(a, i0, a, i0, a, i0, a)', '  ', spins, ' spins, ', states, ' states, ', size(col_idx), ' entries'
  call hamiltonian%csr_address(context, PURLIN_CF64, int(states, int64), int(states, int64), size(col_idx, kind=int64), &
    PURLIN_I64, c_loc(row_ptr), PURLIN_I32, c_loc(col_idx), c_loc(values))
  allocate (vectors(states, wanted))
  call purlin_init(options)
  options%which = PURLIN_LANCZOS_SMALLEST
  print '(a)', '  flux / pi   ground state          gap   residual   products'
  do step = 0, fluxes
    flux = step * pi / fluxes
    call thread(flux)
    call purlin_lanczos_solve_once(context, hamiltonian, energies, vectors, residuals, options, info)
    ground(step) = energies(1)
    print '(f11.4, f15.9, f13.9, es11.1, i11)', flux / pi, energies(1), energies(2) - energies(1), maxval(residuals), &
      info%products
  end do
  ! E(f) = E(0) + D f^2 / N to the second order; D is 1/8 for N to infinity (Shastry and Sutherland, PRL 65, 1990).
  print '(a, f10.6)', '  spin stiffness N (E(f) - E(0)) / f^2, 1/8 for N to infinity: ', &
    spins * (ground(1) - ground(0)) / (pi / fluxes)**2
  call hamiltonian%destroy()
  call context%destroy()

contains

  !> The states with as many spins up as down, ascending: bit i is the spin at i.
  subroutine balanced()
    integer(int32) :: bits
    integer :: pass, count
    do pass = 1, 2
      count = 0
      do bits = 0, 2_int32**spins - 1
        if (popcnt(bits) /= spins / 2) cycle
        count = count + 1
        if (pass == 2) state(count) = bits
      end do
      if (pass == 1) allocate (state(count))
    end do
  end subroutine

  !> Where H has entries, rows of all states: the diagonal, and a state for each pair of neighbours that are unlike.
  subroutine connect()
    integer(int32) :: flipped
    integer :: pass, i, j, r
    integer(int64) :: at
    allocate (row_ptr(size(state) + 1))
    do pass = 1, 2
      at = 1
      do r = 1, size(state)
        row_ptr(r) = at
        if (pass == 2) then
          col_idx(at) = r
          turns(at) = 0
        end if
        at = at + 1
        do i = 0, spins - 1
          j = modulo(i + 1, spins)
          if (btest(state(r), i) .eqv. btest(state(r), j)) cycle
          if (pass == 2) then
            flipped = ieor(state(r), ibset(ibset(0_int32, i), j))
            col_idx(at) = place(flipped)
            turns(at) = merge(1, -1, btest(state(r), i))
          end if
          at = at + 1
        end do
      end do
      row_ptr(size(state) + 1) = at
      if (pass == 1) allocate (col_idx(at - 1), turns(at - 1), values(at - 1))
    end do
  end subroutine

  !> The place of a state, by bisection.
  pure integer(int32) function place(bits)
    integer(int32), intent(in) :: bits
    integer(int32) :: low, high, middle
    low = 1
    high = size(state, kind=int32)
    do while (low < high)
      middle = (low + high) / 2
      if (state(middle) < bits) then
        low = middle + 1
      else
        high = middle
      end if
    end do
    place = low
  end function

  !> The values of H with a flux, in the array that the matrix has borrowed.
  subroutine thread(f)
    real(real64), intent(in) :: f
    integer :: r, i, like
    integer(int64) :: at
    values = 0.5_real64 * exp(cmplx(0.0_real64, turns * f / spins, real64))
    do r = 1, size(state)
      like = 0
      do i = 0, spins - 1
        if (btest(state(r), i) .eqv. btest(state(r), modulo(i + 1, spins))) like = like + 1
      end do
      at = row_ptr(r)
      values(at) = 0.25_real64 * (2 * like - spins)
    end do
  end subroutine
end program spin_ring
