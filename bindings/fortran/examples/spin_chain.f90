! The ground state of the critical Ising chain from a DMRG code: its energy, its correlations; and a ring of AKLT spins.
!
!   spin_chain FOLDER [TABLE]
!
! FOLDER holds tfim_L16_chi24_mps.npy: cores one after another, first index fastest. The correlations go to TABLE too.
program spin_chain
  use, intrinsic :: iso_fortran_env, only: int16, int64, real64
  use purlin
  implicit none
  integer, parameter :: sites = 16, rank = 24
  real(real64), parameter :: pi = acos(-1.0_real64)
  real(real64), parameter :: sigma_x(2, 2) = reshape([0, 1, 1, 0], [2, 2]), sigma_z(2, 2) = reshape([1, 0, 0, -1], [2, 2])
  integer(int64) :: modes(sites), ranks(0:sites)
  real(real64), allocatable, target :: cores(:)
  real(real64) :: energy, exact, magnetization(sites), xx(sites, sites)
  type(purlin_context) :: context
  type(purlin_context_info) :: where_it_runs
  type(purlin_tt) :: state
  type(purlin_tt_matrix) :: hamiltonian
  type(purlin_tt_contraction) :: contraction
  integer :: k, length, unit
  character(:), allocatable :: path

  call context%create()
  call context%properties(where_it_runs)
  print '(2a)', 'purlin on ', purlin_string(where_it_runs%device_name)
  modes = 2
  ranks = [(min(2**min(k, sites - k), rank), k=0, sites)]
  call get_command_argument(1, length=length)
  allocate (character(length) :: path)
  call get_command_argument(1, path)
  allocate (cores(sum(ranks(:sites - 1) * modes * ranks(1:))))
  call read_npy(path // '/tfim_L16_chi24_mps.npy', cores)

  ! The cores are used in place.
  call state%borrow_flat(context, modes, ranks, cores, PURLIN_READ_ONLY)
  call hamiltonian%ising(context, int(sites, int64), 1.0_real64, 1.0_real64)
  call contraction%create(context)
  call contraction%rayleigh(hamiltonian, state, energy)
  exact = 1 - 1 / sin(pi / (2 * (2 * sites + 1)))
  print '(a)', '  open chain of 16 sites, H = -sum sx sx - sum sz'
  print '(a, f20.15)', '  energy per site          ', energy / sites
  print '(a, f20.15)', '  from free fermions       ', exact / sites
  call contraction%expect_local(state, sigma_z, [(int(k, int64), k=1, sites)], magnetization)
  call contraction%correlation(state, sigma_x, sigma_x, xx)
  print '(a)', '  site    <sz>      <sx(4) sx>'
  do k = 1, sites
    print '(i6, f10.5, f14.5)', k, magnetization(k), xx(4, k)
  end do
  if (command_argument_count() > 1) then
    call get_command_argument(2, length=length)
    deallocate (path)
    allocate (character(length) :: path)
    call get_command_argument(2, path)
    open (newunit=unit, file=path, status='replace', action='write')
    write (unit, '(i4, 2f16.10)') (k, magnetization(k), xx(4, k), k=1, sites)
    close (unit)
  end if
  call aklt()
  call contraction%destroy()
  call hamiltonian%destroy()
  call state%destroy()
  call context%destroy()

contains

  !> Rings of spins 1 in the AKLT state, one core at every site: <x|x> = 3^N + 3 (-1)^N.
  subroutine aklt()
    real(real64), target :: core(2, 3, 2)
    type(purlin_tt_core) :: cell
    type(purlin_tt) :: ring
    type(purlin_tt_scaled) :: scaled
    type(purlin_tt_contraction_info) :: info
    real(real64) :: norm2
    integer :: n
    core = 0
    core(1, 1, 2) = sqrt(2.0_real64)
    core(1, 2, 1) = -1
    core(2, 2, 2) = 1
    core(2, 3, 1) = -sqrt(2.0_real64)
    call cell%borrow(core)
    print '(a)', '  AKLT ring of N spins     <x|x>                  3^N + 3 (-1)^N'
    do n = 3, 12, 3
      call ring%borrow(context, spread(cell, 1, n))
      call contraction%inner(ring, ring, norm2)
      print '(i12, 2f27.6)', n, norm2, 3.0_real64**n + 3 * (-1)**n
    end do
    call ring%borrow(context, spread(cell, 1, 100000))
    call contraction%inner(ring, ring, scaled, info)
    print '(a, f18.10, 3a)', '      100000   ln <x|x> / N ', scaled%log_abs / 100000, '  (ln 3 = 1.0986122887; ', &
      purlin_string(info%reason), ')'
  end subroutine

  !> The numbers of a file of NumPy's, whose header holds its own length.
  subroutine read_npy(name, numbers)
    character(*), intent(in) :: name
    real(real64), intent(out) :: numbers(:)
    integer(int16) :: header
    integer :: file
    open (newunit=file, file=name, status='old', action='read', access='stream', form='unformatted')
    read (file, pos=9) header
    read (file, pos=11 + header) numbers
    close (file)
  end subroutine
end program spin_chain
