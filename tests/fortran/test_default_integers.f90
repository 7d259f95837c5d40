! Trains by default integers of either size: compiled with -fdefault-integer-8 by by_hand.sh, and without it by CMake.
program test_default_integers
  use, intrinsic :: iso_c_binding, only: c_int32_t
  use, intrinsic :: iso_fortran_env, only: real64
  use purlin
  implicit none
  integer, parameter :: d = 4
  real(real64), target :: data(64), core(3, 2, 3), first(1, 2, 3), last(3, 2, 1), out(3, 2, 3), two(3, 2, 2, 3), image(3, 2, 2, 3)
  real(real64) :: norm2, values(d), energy, z(2, 2), value
  integer :: k
  integer(selected_int_kind(18)) :: exponent
  type(purlin_context) :: context
  type(purlin_tt) :: x, y, w
  type(purlin_tt_matrix) :: h, terms
  type(purlin_tt_contraction) :: c
  type(purlin_tt_environments) :: e
  type(purlin_tt_scaled) :: scaled
  type(purlin_matrix) :: m
  integer(c_int32_t), pointer :: absent(:) => null()
  integer(c_int32_t), target :: starts(3) = [1, 2, 3]
  real(real64), pointer :: nothing(:) => null()
  integer(c_int32_t) :: stat
  character(80) :: text

  data = [(sin(real(k, real64)), k=1, size(data))]
  z = reshape([1, 0, 0, -1], [2, 2])
  call context%create()
  call x%borrow_flat(context, [2, 2, 2, 2], [1, 3, 3, 3, 1], data(:48))
  call y%create(context, PURLIN_F64, [2, 2, 2, 2], [1, 3, 3, 3, 1])
  do k = 1, d
    if (k == 1 .or. k == d) cycle
    call x%core(k, core)
    call y%set_core(k, core)
  end do
  call x%core(1, first)
  call y%set_core(1, first)
  call x%core(d, last)
  call y%set_core(d, last)
  call h%heisenberg(context, d)
  call terms%ising(context, d, 1.0_real64, 0.5_real64)
  call c%create(context)
  call c%inner(x, y, norm2)
  call c%expect_local(x, z, [(k, k=1, d)], values)
  if (any(abs(values) > 1)) error stop 'expect_local'
  call c%sandwich(x, h, x, energy)
  call e%create(c, x, x, h)
  call e%build(PURLIN_TT_LEFT, 2)
  call e%value(3, scaled)
  if (abs(scaled%re * 2.0_real64**scaled%exponent - energy) > 1e-12_real64 * norm2) error stop 'value'
  call x%core(2, core)
  call e%apply(2, 1, core, out, exponent)
  if (abs(sum(core * out) * 2.0_real64**exponent - energy) > 1e-12_real64 * norm2) error stop 'apply'
  two = 1
  call e%apply(2, 2, two, image, exponent)
  call e%update_core(2)
  call e%set_trains(y, y, 1, d)
  call e%value(1, scaled)
  if (abs(scaled%re * 2.0_real64**scaled%exponent - energy) > 1e-12_real64 * norm2) error stop 'set_trains'
  call purlin_tt_canonicalize(x, 2, w)
  ! The exponent too.
  call purlin_tt_scale(2.0_real64, x, w, exponent=-3)
  call c%inner(x, w, value)
  if (abs(value * 4 - norm2) > 1e-12_real64 * norm2) error stop 'scale'
  call purlin_tt_scale((0.5_real64, 0.0_real64), x, w, exponent=1)
  call purlin_tt_scale(2.0_real64, x, y, exponent=40)
  call purlin_tt_canonicalize(y, 1, w, exponent=k)
  call c%inner(x, w, value)
  if (abs(value * 2.0_real64**k - norm2 * 2.0_real64**41) > 1e-12_real64 * norm2 * 2.0_real64**41) error stop 'canonicalize'
  call purlin_tt_scale(2.0_real64, y, y, exponent=3)
  call purlin_tt_random(context, PURLIN_F64, [2, 2], [1, 2, 1], 1, w)
  ! The module must not ask such pointers for their sizes: compilers' checks would stop the program.
  call m%csr(context, 2, absent, starts(:2), data(:2), stat=stat, errmsg=text)
  if (text /= 'row_ptr: is not associated') error stop 'row_ptr'
  call m%csr(context, 2, starts, starts(:2), nothing, stat=stat, errmsg=text)
  if (text /= 'values: is not associated') error stop 'values'
  call m%csr(context, 2, starts, absent, stat=stat, errmsg=text)
  if (text /= 'col_idx: is not associated') error stop 'col_idx'
  call w%borrow_flat(context, [2], [1, 1], nothing, stat=stat, errmsg=text)
  if (text /= 'data: is not associated') error stop 'data'
  print '(a)', 'default integers are taken'
  call e%destroy()
  call c%destroy()
  call terms%destroy()
  call h%destroy()
  call x%destroy()
  call y%destroy()
  call w%destroy()
  call context%destroy()
end program test_default_integers
