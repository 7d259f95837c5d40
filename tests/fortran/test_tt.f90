! Tensor trains: arrays as cores, in place and copied.
program test_tt
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use purlin
  use checks
  implicit none
  type(purlin_context) :: context
  call context%create(backend=PURLIN_BACKEND_CPU, threads=2)
  call trains()
  call matrices()
  call refusals()
  call context%destroy()
  call check_none_live()

contains

  subroutine trains()
    real(real64), target :: a(1, 2, 3), b(3, 2, 3), c(3, 4, 1), out(3, 2, 3), flat(100)
    complex(real32), target :: z(2, 3, 2)
    type(purlin_tt_core) :: cores(3), ring(4)
    type(purlin_tt) :: x, y, u
    type(purlin_tt_info) :: info
    integer(int64), allocatable :: modes(:), ranks(:)
    integer(int64) :: address
    call random_number(a)
    call random_number(b)
    call random_number(c)
    call random_number(flat)
    call cores(1)%lend(a)
    call cores(2)%lend(b)
    call cores(3)%lend(c)
    call x%borrow(context, cores)
    call x%properties(info)
    call check(info%length == 3 .and. info%max_rank == 3 .and. info%cyclic == 0 .and. info%owned == 0, 'properties')
    call check(info%dtype == PURLIN_F64 .and. info%elements == 6 + 18 + 12, 'type and size')
    call x%shape(modes, ranks)
    call check(all(modes == [2, 2, 4]) .and. all(ranks == [1, 3, 3, 1]), 'shape')
    call x%core_address(2_int64, address)
    call check(address == transfer(c_loc(b), address), 'no copy')
    call x%core(2_int64, out)
    call check(all(abs(out - b) <= 0), 'core')
    b = 2 * b
    call x%core(2_int64, out)
    call check(all(abs(out - b) <= 0), 'the train is where the array is')
    call y%create(context, PURLIN_F64, modes, ranks)
    call y%copy_from(context, x)
    call y%set_core(2_int64, -b)
    call y%core(2_int64, out)
    call check(all(abs(out + b) <= 0), 'set_core')
    ! Cores one after another in one array.
    call u%borrow_flat(context, modes, ranks, flat)
    call u%core(2_int64, out)
    call check(all(abs(out - reshape(flat(7:24), [3, 2, 3])) <= 0), 'borrow_flat')
    ! A core that stands at every place of a ring.
    z = cmplx(1, 2, real32)
    call ring(1)%lend(z)
    ring = ring(1)
    call u%borrow(context, ring, PURLIN_READ_ONLY)
    call u%properties(info)
    call check(info%uniform == 1 .and. info%cyclic == 1 .and. info%dtype == PURLIN_CF32, 'a uniform ring')
    call check(info%flags == PURLIN_READ_ONLY, 'read-only')
  end subroutine

  subroutine matrices()
    real(real64), target :: a(1, 2, 3, 2), b(2, 3, 1, 1), out(2, 3, 1, 1)
    type(purlin_tt_core) :: cores(2)
    type(purlin_tt_matrix) :: h, own
    type(purlin_tt_info) :: info
    integer(int64), allocatable :: rows(:), cols(:), ranks(:)
    call random_number(a)
    call random_number(b)
    call cores(1)%lend(a)
    call cores(2)%lend(b)
    call h%borrow(context, cores)
    call h%shape(rows, cols, ranks)
    call check(all(rows == [2, 3]) .and. all(cols == [3, 1]) .and. all(ranks == [1, 2, 1]), 'shape of a TT-matrix')
    call own%create(context, PURLIN_F64, rows, cols, ranks)
    call own%set_core(2_int64, b)
    call own%core(2_int64, out)
    call check(all(abs(out - b) <= 0), 'core of a TT-matrix')
    call own%properties(info)
    call check(info%owned == 1 .and. info%elements == 18, 'properties of a TT-matrix')
  end subroutine

  subroutine refusals()
    real(real64), target :: a(1, 2, 3), b(4, 2, 1), wide(6, 2, 1)
    real(real32), target :: single(3, 2, 1)
    type(purlin_tt_core) :: cores(2)
    type(purlin_tt) :: x
    integer(int32) :: stat
    character(128) :: text
    a = 0
    b = 0
    wide = 0
    single = 0
    call x%borrow(context, cores, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'cores: core 1 has not been lent', text)
    call cores(1)%lend(a)
    call cores(2)%lend(b)
    call x%borrow(context, cores, stat=stat, errmsg=text)
    call check(text == 'cores: core 2 has the left rank 4, the right rank of core 1 is 3', text)
    call cores(2)%lend(single)
    call x%borrow(context, cores, stat=stat, errmsg=text)
    call check(text == 'cores: core 2 is of another type than core 1', text)
    call cores(2)%lend(wide(1:5:2, :, :))
    call x%borrow(context, cores, stat=stat, errmsg=text)
    call check(text == 'cores: core 2 is not contiguous', text)
    call x%create(context, PURLIN_F64, [2_int64], [1_int64], stat=stat, errmsg=text)
    call check(text == 'ranks: are 1, expected 2 for d = 1', text)
    call x%create(context, PURLIN_F64, [2_int64], [1_int64, 2_int64], stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'the first rank is 1') > 0, text)
    call x%create(context, PURLIN_F64, [2_int64], [1_int64, 1_int64])
    call x%set_core(1_int64, a, stat=stat, errmsg=text)
    call check(index(text, 'core: has dimensions [1, 2, 3], [1, 2, 1] are needed') > 0, text)
    call x%set_core(3_int64, a, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'there is no core 3')
    call x%borrow_flat(context, [2_int64, 2_int64], [1_int64, 5_int64, 1_int64], wide(:, 1, 1), stat=stat, errmsg=text)
    call check(text == 'data: has 6 elements, which end inside core 1', text)
  end subroutine
end program test_tt
