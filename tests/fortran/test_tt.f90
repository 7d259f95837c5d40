! Tensor trains: arrays as cores, in place and copied.
program test_tt
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_value, ieee_quiet_nan
  use purlin
  use checks
  implicit none
  type(purlin_context) :: context
  call context%create(backend=PURLIN_BACKEND_CPU, threads=2)
  call trains()
  call matrices()
  call contractions()
  call not_finite()
  call plans()
  call operators()
  call sweeps()
  call algebra()
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
    call cores(1)%borrow(a)
    call cores(2)%borrow(b)
    call cores(3)%borrow(c)
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
    ! One core at every site of a ring.
    z = cmplx(1, 2, real32)
    call ring(1)%borrow(z)
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
    call cores(1)%borrow(a)
    call cores(2)%borrow(b)
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

  !> A train of `d` random cores of rank 3, which borrow `data`(3, 2, 3, d).
  subroutine chain(x, data)
    type(purlin_tt), intent(inout) :: x
    real(real64), intent(inout), target :: data(:, :, :, :)
    type(purlin_tt_core), allocatable :: cores(:)
    integer :: k
    allocate (cores(size(data, 4)))
    call random_number(data)
    do k = 1, size(cores)
      call cores(k)%borrow(data(:, :, :, k))
    end do
    call x%borrow(context, cores)
  end subroutine

  !> The dense tensor of a ring of three cores.
  pure function dense(data) result(full)
    real(real64), intent(in) :: data(:, :, :, :)
    real(real64) :: full(2, 2, 2), product(3, 3)
    integer :: i, j, k, a
    full = 0
    do k = 1, 2
      do j = 1, 2
        do i = 1, 2
          product = matmul(matmul(data(:, i, :, 1), data(:, j, :, 2)), data(:, k, :, 3))
          full(i, j, k) = sum([(product(a, a), a=1, 3)])
        end do
      end do
    end do
  end function

  !> Sx Sx + Sy Sy + Sz Sz in a real type: Sy is imaginary, its products are real.
  subroutine spins(x, c)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt_contraction), intent(inout) :: c
    type(purlin_tt_matrix) :: h, heisenberg
    complex(real64) :: matrices(2, 2, 3)
    real(real64) :: energy, same
    integer :: stat
    character(128) :: text
    matrices(:, :, 1) = reshape([0.0_real64, 0.5_real64, 0.5_real64, 0.0_real64], [2, 2])
    matrices(:, :, 2) = reshape([(0.0_real64, 0.0_real64), (0.0_real64, 0.5_real64), (0.0_real64, -0.5_real64), &
      (0.0_real64, 0.0_real64)], [2, 2])
    matrices(:, :, 3) = reshape([0.5_real64, 0.0_real64, 0.0_real64, -0.5_real64], [2, 2])
    call h%from_terms(context, [2_int64, 2_int64, 2_int64], [complex(real64) :: 1, 1, 1, 1, 1, 1], &
      [2_int64, 2_int64, 2_int64, 2_int64, 2_int64, 2_int64], &
      [1_int64, 2_int64, 2_int64, 3_int64, 1_int64, 2_int64, 2_int64, 3_int64, 1_int64, 2_int64, 2_int64, 3_int64], &
      [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3], matrices)
    call heisenberg%heisenberg(context, 3_int64, [1.0_real64, 1.0_real64, 1.0_real64], 0.0_real64)
    call c%sandwich(x, heisenberg, x, energy)
    call c%sandwich(x, h, x, same)
    call check(abs(energy) > 1e-3_real64 .and. near(same, energy), 'spins in a real type')
    call h%from_terms(context, [2_int64, 2_int64, 2_int64], [complex(real64) :: 1], [1_int64], [1_int64], [2], matrices, &
      stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'one of them alone is not real')
    call h%from_terms(context, [2_int64, 2_int64, 2_int64], [complex(real64) :: 1], [2_int64], [1_int64, 0_int64], [1, 1], &
      matrices, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'sites: element 2 is 0, outside 1 to 3', text)
    call h%from_terms(context, [2_int64, 2_int64, 2_int64], [complex(real64) :: 1], [2_int64], [4_int64, 1_int64], [1, 1], &
      matrices, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'sites: element 1 is 4, outside 1 to 3', text)
  end subroutine

  subroutine contractions()
    real(real64), target :: a(3, 2, 3, 3), b(3, 2, 3, 3)
    complex(real64) :: both
    real(real64) :: value, norm, distance, once
    type(purlin_tt) :: x, y, z, several(2)
    real(real64) :: batch(2), gram(2, 2)
    integer(int64) :: powers(2)
    type(purlin_tt_matrix) :: h
    type(purlin_tt_contraction) :: c
    type(purlin_tt_contraction_options) :: options
    type(purlin_tt_contraction_info) :: info, last
    type(purlin_tt_scaled) :: scaled
    integer(int32) :: stat
    integer :: at
    character(128) :: text
    call chain(x, a)
    call chain(y, b)
    call purlin_init(options)
    call check(options%cut == -1 .and. options%repeat == 1, 'defaults')
    options%cut = 0
    call c%create(context, options, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'cut: is 0, bonds count from 1', text)
    options%cut = 3
    call c%create(context, options)
    call purlin_tt_plan_inner(c, x, y, info)
    call check(info%cut == 3, 'the last bond of three')
    at = index(purlin_string(info%reason), 'at bond ')
    call check(at == 0 .or. index(purlin_string(info%reason), 'at bond 3') == at, 'a bond in a reason')
    options%cut = 9
    call c%create(context, options)
    call purlin_tt_plan_inner(c, x, y, info, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. &
      text == 'cut: is 9, outside 1 to 3', text)
    options%cut = 3
    call c%create(context, options)
    options%cut = -1
    options%method = PURLIN_TT_METHOD_REDUCED
    call c%create(context, options)
    call purlin_tt_plan_inner(c, x, y, info)
    call check(info%method == PURLIN_TT_METHOD_REDUCED .and. info%pairs == 9 .and. info%flops > 0, 'plan')
    call c%inner(x, y, value, info)
    call check(near(value, sum(dense(a) * dense(b))), 'inner')
    call c%last_info(last)
    call check(last%method == info%method .and. last%cut == info%cut .and. last%flops >= info%flops, 'last report')
    call purlin_tt_inner_once(context, x, y, once, options, last)
    call check(abs(once - value) <= 0 .and. last%method == PURLIN_TT_METHOD_REDUCED, 'inner without an object')
    call purlin_tt_norm_once(context, x, once)
    call check(near(once, sqrt(sum(dense(a)**2))), 'norm without an object')
    call purlin_tt_distance_once(context, x, y, once)
    call check(near(once, sqrt(sum((dense(a) - dense(b))**2))), 'distance without an object')
    options%cut = 0
    call purlin_tt_norm_once(context, x, once, options, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'cut: is 0, bonds count from 1', text)
    options%cut = -1
    call c%inner(x, y, both)
    call check(near(real(both), value) .and. abs(aimag(both)) <= 0, 'a complex result')
    call c%inner(x, y, scaled)
    call check(near(scaled%re * 2.0_real64**scaled%exponent, value), 'scaled')
    call c%norm(x, norm)
    call check(near(norm, sqrt(sum(dense(a)**2))), 'norm')
    call c%norm(x, scaled)
    call check(near(scaled%log_abs, log(norm)), 'logarithm of the norm')
    call c%distance(x, y, distance)
    call check(near(distance, sqrt(sum((dense(a) - dense(b))**2))), 'distance')
    call chain(several(1), a)
    call chain(several(2), b)
    call c%inner_batch(several, several, batch, powers)
    call check(near(batch(1) * 2.0_real64**powers(1), sum(dense(a)**2)), 'a batch')
    call c%inner_batch(several, several, batch)
    call check(near(batch(2), sum(dense(b)**2)), 'a batch of plain numbers')
    call c%gram(several, gram)
    call check(near(gram(1, 2), sum(dense(a) * dense(b))) .and. near(gram(2, 1), gram(1, 2)), 'Gram matrix')
    call c%gram(several, gram, y=several(2:1:-1))
    call check(near(gram(1, 1), sum(dense(a) * dense(b))), 'of two lists')
    call chain(x, a)
    call purlin_tt_cast(x, PURLIN_CF64, z)
    value = 7
    call c%inner(z, y, value, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'result: is real, the numbers are complex', text)
    call check(abs(value - 7) <= 0, 'a refused call leaves the result alone')
    call c%inner(z, y, both)
    call check(near(real(both), sum(dense(a) * dense(b))), 'real beside complex')
    call c%enqueue_inner(x, y, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED .and. index(text, 'result: needs a context on a GPU') > 0, text)
    call purlin_tt_enqueue_norm(c, x, info, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED .and. index(text, 'result: needs a context on a GPU') > 0, text)
    call purlin_tt_enqueue_distance(c, x, y, info, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED .and. index(text, 'result: needs a context on a GPU') > 0, text)
    call h%ising(context, 3_int64, 1.0_real64, 0.5_real64)
    call purlin_tt_enqueue_sandwich(c, x, h, x, info, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED .and. index(text, 'result: needs a context on a GPU') > 0, text)
    call purlin_tt_enqueue_rayleigh(c, h, x, info, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED .and. index(text, 'result: needs a context on a GPU') > 0, text)
    call c%set_workspace(256_int64, 1_int64, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED .and. index(text, 'workspace: needs a context on a GPU') > 0, text)
  end subroutine

  !> A number that is not finite makes every result NaN. Scaled calls report it in the info, plain ones by the status.
  subroutine not_finite()
    real(real64), target :: a(3, 2, 3, 3), b(3, 2, 3, 3)
    real(real64) :: value, batch(2)
    type(purlin_tt) :: x, y, several(2)
    type(purlin_tt_contraction) :: c
    type(purlin_tt_contraction_info) :: info
    type(purlin_tt_scaled) :: scaled
    integer(int64) :: powers(2)
    integer(int32) :: stat
    character(128) :: text
    call chain(x, a)
    call chain(y, b)
    call chain(several(1), b)
    a(2, 1, 3, 2) = ieee_value(value, ieee_quiet_nan)
    call c%create(context)
    call c%inner(x, y, scaled, info)
    call check(ieee_is_nan(scaled%re) .and. info%outcome == PURLIN_TT_RESULT_NONFINITE, 'inner is not finite')
    call c%norm(x, scaled, info)
    call check(ieee_is_nan(scaled%re) .and. info%outcome == PURLIN_TT_RESULT_NONFINITE, 'norm is not finite')
    call c%distance(y, x, scaled, info)
    call check(ieee_is_nan(scaled%re) .and. info%outcome == PURLIN_TT_RESULT_NONFINITE, 'distance is not finite')
    call chain(several(2), a)
    a(2, 1, 3, 2) = ieee_value(value, ieee_quiet_nan)
    call c%inner_batch(several, several, batch, powers, info)
    call check(ieee_is_nan(batch(2)) .and. batch(1) > 0 .and. info%outcome == PURLIN_TT_RESULT_NONFINITE, &
      'one of a batch is not finite')
    text = ''
    call c%inner(x, y, value, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_NUMERICAL .and. index(text, 'not finite') > 0 .and. ieee_is_nan(value), text)
  end subroutine

  !> Plans report the figures of the calls; the refusal of a workspace that is too small reports the bytes needed.
  subroutine plans()
    real(real64), target :: a(3, 2, 3, 3), b(3, 2, 3, 3)
    real(real64) :: value, batch(2), gram(2, 2)
    type(purlin_tt) :: x, y, several(2)
    type(purlin_tt_matrix) :: h
    type(purlin_tt_contraction) :: c, small
    type(purlin_tt_contraction_options) :: options
    type(purlin_tt_contraction_info) :: plan, done
    integer(int64) :: needed
    integer(int32) :: stat
    character(128) :: text
    call chain(x, a)
    call chain(y, b)
    call chain(several(1), a)
    call chain(several(2), b)
    call h%ising(context, 3_int64, 1.0_real64, 0.5_real64)
    call c%create(context)
    call purlin_tt_plan_norm(c, x, plan)
    call c%norm(x, value, done)
    call check(same(plan, done), 'plan of a norm')
    call purlin_tt_plan_distance(c, x, y, plan)
    call c%distance(x, y, value, done)
    call check(same(plan, done), 'plan of a distance')
    call purlin_tt_plan_batch(c, several, several, plan)
    call c%inner_batch(several, several, batch, info=done)
    call check(same(plan, done), 'plan of a batch')
    call purlin_tt_plan_gram(c, several, plan)
    call c%gram(several, gram, info=done)
    call check(same(plan, done), 'plan of a Gram matrix')
    call purlin_tt_plan_gram(c, several, plan, y=several(2:1:-1))
    call c%gram(several, gram, y=several(2:1:-1), info=done)
    call check(same(plan, done), 'of two lists')
    call purlin_tt_plan_sandwich(c, y, h, x, plan)
    call c%sandwich(y, h, x, value, done)
    call check(same(plan, done), 'plan of a sandwich')
    call purlin_tt_plan_rayleigh(c, h, x, plan)
    call c%rayleigh(h, x, value, info=done)
    call check(same(plan, done), 'plan of a quotient')
    call purlin_tt_plan_batch(c, several, several(1:1), plan, stat, text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'y: not as many trains as x', text)
    call purlin_init(options)
    options%workspace_limit = 8
    call small%create(context, options)
    call small%inner(x, y, value, stat=stat, errmsg=text)
    needed = bytes_of(stat, text)
    call purlin_tt_plan_batch(small, several, several, plan, stat, text)
    call check(bytes_of(stat, text) == needed, 'a batch needs as much')
    options%workspace_limit = needed
    call small%create(context, options)
    call small%inner(x, y, value, done)
    call check(done%workspace_bytes <= needed .and. near(value, sum(dense(a) * dense(b))), 'the bytes needed suffice')
    options%workspace_limit = 8
    call small%create(context, options)
    call small%sandwich(y, h, x, value, stat=stat, errmsg=text)
    needed = bytes_of(stat, text)
    options%workspace_limit = needed
    call small%create(context, options)
    call small%sandwich(y, h, x, value, done)
    call check(done%workspace_bytes <= needed, 'for an operator too')
  end subroutine

  pure function same(plan, done)
    type(purlin_tt_contraction_info), intent(in) :: plan, done
    logical :: same
    same = plan%method == done%method .and. plan%kernel == done%kernel .and. plan%workspace_bytes > 0 .and. &
      plan%workspace_bytes == done%workspace_bytes .and. abs(plan%flops - done%flops) <= 0
  end function

  !> The bytes that a refused workspace of 8 bytes should have had.
  function bytes_of(stat, text) result(bytes)
    integer(int32), intent(in) :: stat
    character(*), intent(in) :: text
    integer(int64) :: bytes
    character(*), parameter :: start = 'workspace_limit: is 8, at least '
    bytes = 0
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, start) == 1, text)
    if (index(text, start) == 1) read (text(len(start) + 1:index(text, ' bytes are needed') - 1), *) bytes
  end function

  subroutine operators()
    integer(int32) :: stat
    character(128) :: text
    real(real64), target :: a(3, 2, 3, 3)
    real(real64) :: energy, top, bottom, local(3), pairs(3, 3)
    real(real64), parameter :: sz(2, 2) = reshape([1, 0, 0, -1], [2, 2])
    complex(real64) :: matrices(2, 2, 2)
    type(purlin_tt) :: x
    type(purlin_tt_matrix) :: h, same, one
    type(purlin_tt_contraction_info) :: info
    type(purlin_tt_contraction) :: c
    call chain(x, a)
    call c%create(context)
    call h%ising(context, 3_int64, 1.0_real64, 0.5_real64)
    matrices(:, :, 1) = reshape([0, 1, 1, 0], [2, 2])
    matrices(:, :, 2) = sz
    call same%from_terms(context, [2_int64, 2_int64, 2_int64], [complex(real64) :: -1, -1, -0.5, -0.5, -0.5], &
      [2_int64, 2_int64, 1_int64, 1_int64, 1_int64], [1_int64, 2_int64, 2_int64, 3_int64, 1_int64, 2_int64, 3_int64], &
      [1, 1, 1, 1, 2, 2, 2], matrices)
    call spins(x, c)
    call c%rayleigh(h, x, energy)
    call c%sandwich(x, same, x, top)
    call c%inner(x, x, bottom)
    call check(near(energy, top / bottom), 'Rayleigh quotient')
    call one%identity(context, [2_int64, 2_int64, 2_int64])
    call c%sandwich(x, one, x, top)
    call check(near(top, bottom), 'identity')
    call c%expect_local(x, sz, [4_int64], local(:1), stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'sites: element 1 is 4, outside 1 to 3', text)
    call c%expect_local(x, sz, [1_int64, 2_int64, 3_int64], local, info)
    call check(info%flops > 0 .and. info%pairs == 9 .and. info%cut == 1, 'report of local values')
    call check(near(local(2), sum(dense(a)**2 * reshape([1, 1, -1, -1, 1, 1, -1, -1], [2, 2, 2])) / bottom), 'local')
    call c%correlation(x, sz, sz, pairs)
    call check(near(pairs(1, 1), 1.0_real64) .and. near(pairs(1, 3), pairs(3, 1)), 'correlations')
    call h%heisenberg(context, 3_int64, cyclic=.true.)
    call c%rayleigh(h, x, energy)
    call check(energy > -0.7500001_real64 .and. energy < 0.7500001_real64, 'within the spectrum')
  end subroutine

  subroutine sweeps()
    real(real64), target :: a(3, 2, 3, 3)
    real(real64) :: energy, left(3, 3, 9, 3), out(3, 2, 3)
    integer(int64) :: dims(4), exponent
    integer(int32) :: stat
    character(128) :: text
    type(purlin_tt) :: x
    type(purlin_tt_matrix) :: h
    type(purlin_tt_contraction) :: c
    type(purlin_tt_environments) :: e
    type(purlin_tt_scaled) :: value
    call chain(x, a)
    call c%create(context)
    call h%ising(context, 3_int64, 1.0_real64, 0.5_real64)
    call c%sandwich(x, h, x, energy)
    call e%create(c, x, x, h)
    call e%build(PURLIN_TT_LEFT, 2_int64)
    call e%shape(2_int64, dims)
    call check(all(dims == [3, 3, 9, 3]), 'shape of environments')
    call e%get(PURLIN_TT_LEFT, 2_int64, left, exponent)
    call e%value(3_int64, value)
    call check(near(value%re * 2.0_real64**value%exponent, energy), 'value of environments')
    call e%apply(2_int64, 1_int64, a(:, :, :, 2), out, exponent)
    call check(near(sum(a(:, :, :, 2) * out) * 2.0_real64**exponent, energy), 'effective operator')
    a(:, :, :, 2) = 2 * a(:, :, :, 2)
    call e%update_core(2_int64)
    call e%value(1_int64, value)
    call check(near(value%re * 2.0_real64**value%exponent, 4 * energy), 'a core that changed')
    call e%update_core(4_int64, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'k: is 4, outside 1 to 3', text)
    call e%apply(0_int64, 1_int64, a(:, :, :, 2), out, exponent, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'k: is 0, outside 1 to 3', text)
    call e%set_trains(x, x, 0_int64, 2_int64, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'first: is 0, outside 1 to 3', text)
    call e%set_trains(x, x, 1_int64, 4_int64, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'last: is 4, outside 1 to 3', text)
    call e%set_trains(x, x, 3_int64, 2_int64, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'first, last: are 3 and 2, not in order from 1 to 3', text)
  end subroutine

  subroutine algebra()
    integer(int32) :: stat
    character(128) :: text
    real(real64), target :: a(3, 2, 3, 3), b(3, 2, 3, 3)
    real(real64) :: full(2, 2, 2), value, several(2)
    real(real64), target :: tensor(2, 2, 2), vectors(6)
    type(purlin_tt) :: x, y, z, w
    type(purlin_tt_matrix) :: one
    type(purlin_tt_round_options) :: options
    type(purlin_tt_round_info) :: info
    integer(int64), allocatable :: modes(:), ranks(:)
    call chain(x, a)
    call chain(y, b)
    call purlin_tt_add(2.0_real64, x, -1.0_real64, y, z)
    call purlin_tt_full(z, full)
    call check(all(abs(full - 2 * dense(a) + dense(b)) < 1e-12_real64), 'add')
    call purlin_tt_scale(0.5_real64, x, z, exponent=2_int64)
    call purlin_tt_full(z, full)
    call check(all(abs(full - 2 * dense(a)) < 1e-12_real64), 'scale')
    call purlin_tt_hadamard(x, y, z)
    call purlin_tt_full(z, full)
    call check(all(abs(full - dense(a) * dense(b)) < 1e-11_real64), 'hadamard')
    call purlin_tt_to_open(x, z)
    call purlin_tt_to_open(y, w)
    call purlin_tt_hadamard_round(z, w, y, info=info)
    call purlin_tt_full(y, full)
    call check(all(abs(full - dense(a) * dense(b)) < 1e-11_real64) .and. info%max_rank == 2, 'hadamard and round')
    call purlin_tt_zeros(context, PURLIN_F64, [2_int64, 2_int64, 2_int64], w)
    call purlin_tt_full(w, full)
    call check(all(abs(full) <= 0), 'zeros')
    call one%identity(context, [2_int64, 2_int64, 2_int64])
    call purlin_tt_apply(one, x, z)
    call purlin_tt_element(z, [2_int64, 1_int64, 2_int64], value)
    tensor = dense(a)
    call check(near(value, tensor(2, 1, 2)), 'apply and element')
    call purlin_tt_elements(x, reshape([1_int64, 1_int64, 1_int64, 2_int64, 2_int64, 1_int64], [3, 2]), several)
    call check(near(several(1), tensor(1, 1, 1)) .and. near(several(2), tensor(2, 2, 1)), 'elements')
    call purlin_tt_rotate(x, 0_int64, z, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. &
      text == 'first: is 0, outside 1 to 3', text)
    call purlin_tt_canonicalize(x, 0_int64, z, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'centre: is 0, outside 1 to 3', text)
    call purlin_tt_rotate(x, 2_int64, z)
    call purlin_tt_element(z, [1_int64, 2_int64, 2_int64], value)
    call check(near(value, tensor(2, 1, 2)), 'rotate')
    call purlin_tt_to_open(x, z)
    call purlin_tt_svd(context, tensor, w)
    call purlin_init(options)
    options%absolute = 1
    call purlin_tt_round(z, y, options, info, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(text, 'absolute: is set without epsilon') == 1, text)
    options%absolute = 0
    options%epsilon = 1e-12_real64
    call purlin_tt_round(z, y, options, info)
    call w%shape(modes, ranks)
    call check(info%error <= 1e-12_real64 .and. info%max_rank == maxval(ranks), 'round finds the ranks of the SVD')
    call purlin_tt_canonicalize(z, 2_int64, w)
    call purlin_tt_full(w, full)
    call check(all(abs(full - tensor) < 1e-12_real64), 'canonicalize')
    call purlin_tt_random(context, PURLIN_F64, [2_int64, 2_int64], [1_int64, 2_int64, 1_int64], 1_int64, w)
    call purlin_tt_ones(context, PURLIN_F64, [2_int64, 2_int64, 2_int64], w)
    call purlin_tt_full(w, full)
    call check(all(abs(full - 1) <= 0), 'ones')
    vectors = [1, 2, 3, 4, 5, 6]
    call purlin_tt_product_state(context, [2_int64, 2_int64, 2_int64], vectors, w)
    call purlin_tt_element(w, [2_int64, 1_int64, 2_int64], value)
    call check(near(value, 36.0_real64), 'product state')
  end subroutine

  pure function near(a, b) result(close)
    real(real64), intent(in) :: a, b
    logical :: close
    close = abs(a - b) <= 1e-12_real64 * (1 + abs(b))
  end function

  subroutine refusals()
    real(real64), target :: a(1, 2, 3), b(4, 2, 1), wide(6, 2, 1)
    real(real64), pointer, save :: absent(:)
    real(real32), target :: single(3, 2, 1)
    integer(int64) :: none(0)
    type(purlin_tt_core) :: cores(2)
    type(purlin_tt) :: x
    integer(int32) :: stat
    character(128) :: text
    a = 0
    b = 0
    wide = 0
    single = 0
    call x%borrow(context, cores, stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'cores: core 1 has no array', text)
    call cores(1)%borrow(a)
    call cores(2)%borrow(b)
    call x%borrow(context, cores, stat=stat, errmsg=text)
    call check(text == 'cores: core 2 has the left rank 4, the right rank of core 1 is 3', text)
    call cores(2)%borrow(single)
    call x%borrow(context, cores, stat=stat, errmsg=text)
    call check(text == 'cores: core 2 is of another type than core 1', text)
    call cores(2)%borrow(wide(1:5:2, :, :))
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
    call x%borrow_flat(context, none, [1_int64], wide(:, 1, 1), stat=stat, errmsg=text)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. text == 'modes: has 0 elements, expected at least 1', text)
    call x%borrow_flat(context, [2_int64, 0_int64], [1_int64, 1_int64, 1_int64], wide(:, 1, 1), stat=stat, errmsg=text)
    call check(text == 'modes: element 2 is 0, expected at least 1', text)
    call x%borrow_flat(context, [2_int64, 2_int64], [1_int64, -2_int64, 1_int64], wide(:, 1, 1), stat=stat, errmsg=text)
    call check(text == 'ranks: element 2 is -2, expected at least 1', text)
    absent => null()
    call x%borrow_flat(context, [2_int64], [1_int64, 1_int64], absent, stat=stat, errmsg=text)
    call check(text == 'data: is not associated', text)
  end subroutine
end program test_tt
