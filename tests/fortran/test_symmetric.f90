! Packed symmetric tensors: tables against counting, conversions against the full tensor.
program test_symmetric
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use purlin
  use checks
  implicit none

  call tables()
  call refusals()
  call full_doubles()
  call full_singles()
  call norms_and_identity()
  call packings()
  call objects()
  call check_none_live()

contains

  subroutine tables()
    integer(int64), allocatable :: indices(:, :), exponents(:, :), multinomials(:)
    integer :: r, i
    call check(purlin_symmetric_count(4_int64, 3_int64) == 15, 'count of (4,3)')
    call check(purlin_symmetric_count(6_int64, 10_int64) == 5005, 'count of (6,10)')
    call purlin_symmetric_indices(4_int64, 3_int64, indices)
    call check(all(shape(indices) == [4, 15]), 'a tuple an entry')
    call check(all(indices(:, 1) == 1) .and. all(indices(:, 15) == 3), 'from 1111 to 3333')
    call check(all(indices(:, 8) == [1, 2, 2, 3]), 'the eighth is 1223')
    call purlin_symmetric_exponents(4_int64, 3_int64, exponents)
    do r = 1, 15
      do i = 1, 3
        call check(count(indices(:, r) == i) == exponents(i, r), 'exponents count the indices')
      end do
    end do
    call purlin_symmetric_multinomials(4_int64, 3_int64, multinomials)
    call check(sum(multinomials) == 81, 'all entries of the full tensor')
    call check(multinomials(1) == 1 .and. multinomials(8) == 12, 'multinomials of 1111 and 1223')
  end subroutine

  subroutine refusals()
    integer(int64), allocatable :: indices(:, :)
    integer(int64) :: entries
    integer(int32) :: stat
    character(100) :: message
    message = ''
    entries = purlin_symmetric_count(1_int64, 3_int64, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'order') == 1, 'an order of 1')
    call check(entries == 0, 'nothing is counted')
    call purlin_symmetric_indices(4_int64, 0_int64, indices, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. size(indices) == 0, 'a dimension of 0')
    entries = purlin_symmetric_count(30_int64, 1000000_int64, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'more entries than there may be')
  end subroutine

  subroutine full_doubles()
    type(purlin_context) :: context
    real(real64) :: packed(15, 2), back(15, 2), full(3, 3, 3, 3, 2)
    integer(int64), allocatable :: indices(:, :)
    integer(int32) :: stat
    character(100) :: message
    integer :: i, r, t
    packed = reshape([(sin(real(i, real64)), i=1, 30)], [15, 2])
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_symmetric_to_full(context, 4_int64, 3_int64, packed, full)
    call purlin_symmetric_indices(4_int64, 3_int64, indices)
    do t = 1, 2
      do r = 1, 15
        associate (k => indices(:, r))
          call check(abs(full(k(1), k(2), k(3), k(4), t) - packed(r, t)) <= 0, 'entries in their place')
          call check(abs(full(k(4), k(3), k(1), k(2), t) - packed(r, t)) <= 0, 'and in a permuted one')
        end associate
      end do
    end do
    call purlin_symmetric_from_full(context, 4_int64, 3_int64, full, back)
    call check(maxval(abs(back - packed)) <= 0, 'packed again')
    full(1, 2, 3, 1, 2) = full(1, 2, 3, 1, 2) + 1.2_real64
    message = ''
    call purlin_symmetric_from_full(context, 4_int64, 3_int64, full, back, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. message /= '', 'an asymmetric tensor is refused')
    call purlin_symmetric_from_full(context, 4_int64, 3_int64, full, back, symmetrize=.true.)
    call check(abs(back(6, 1) - packed(6, 1)) <= 1e-14_real64, 'the other tensor stays')
    ! 1123 is entry 5 and represents 12 entries of the full tensor.
    call check(abs(back(5, 2) - packed(5, 2) - 0.1_real64) < 1e-14_real64, 'or averaged')
    call purlin_symmetric_to_full(context, 4_int64, 3_int64, packed, full(:, :, :, :, 1), stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'full: has 81') == 1, 'one of two tensors')
  end subroutine

  subroutine full_singles()
    type(purlin_context) :: context
    real(real32) :: packed(4), full(2, 2, 2)
    packed = [1.0, 2.0, 3.0, 4.0]
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_symmetric_to_full(context, 3_int64, 2_int64, packed, full)
    call check(abs(full(2, 1, 1) - 2) <= 0 .and. abs(full(2, 1, 2) - 3) <= 0, 'single precision')
  end subroutine

  subroutine norms_and_identity()
    type(purlin_context) :: context
    real(real64) :: packed(15, 3), full(3, 3, 3, 3, 3), norms(3), x(3, 2), products(2, 3)
    integer(int32) :: stat
    integer :: i
    packed = reshape([(cos(real(i * i, real64)), i=1, 45)], [15, 3])
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_symmetric_to_full(context, 4_int64, 3_int64, packed, full)
    call purlin_symmetric_norm(context, 4_int64, 3_int64, packed, PURLIN_NORM_FROBENIUS, norms)
    do i = 1, 3
      call check(abs(norms(i) - sqrt(sum(full(:, :, :, :, i)**2))) < 1e-13_real64, 'Frobenius norm')
    end do
    call purlin_symmetric_norm(context, 4_int64, 3_int64, packed, PURLIN_NORM_ONE, norms)
    call check(abs(norms(2) - sum(abs(full(:, :, :, :, 2)))) < 1e-12_real64, 'one norm')
    call purlin_symmetric_norm(context, 4_int64, 3_int64, packed, PURLIN_NORM_MAX, norms)
    call check(abs(norms(3) - maxval(abs(packed(:, 3)))) <= 0, 'largest entry')
    call purlin_symmetric_norm(context, 4_int64, 3_int64, packed, 9, norms, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an unknown norm')
    call purlin_symmetric_identity(context, 4_int64, 3_int64, 2.0_real64, packed)
    x(:, 1) = [0.0_real64, 0.6_real64, 0.8_real64]
    x(:, 2) = [1.0_real64, -2.0_real64, 2.0_real64]
    call purlin_sshopm_product(context, 4_int64, 3_int64, packed, x, 4_int64, products)
    call check(all(abs(products(1, :) - 2) < 1e-14_real64), 'E x^4 is 1 on the sphere')
    call check(all(abs(products(2, :) - 162) < 1e-12_real64), 'and |x|^4 elsewhere')
    call purlin_symmetric_identity(context, 3_int64, 3_int64, 1.0_real64, packed(:10, 1), stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'there is none of odd order')
  end subroutine

  subroutine packings()
    type(purlin_context) :: context
    real(real32) :: entries(3, 2), polynomial(3, 2)
    entries = reshape([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])
    call context%create(backend=PURLIN_BACKEND_CPU)
    call purlin_symmetric_convert(context, 2_int64, 2_int64, entries, PURLIN_PACKING_ENTRIES, polynomial, &
      PURLIN_PACKING_POLYNOMIAL)
    call check(all(abs(polynomial(2, :) - [4.0, 10.0]) <= 0), 'mixed terms count twice')
    call check(all(abs(polynomial(1, :) - [1.0, 4.0]) <= 0), 'pure ones once')
  end subroutine

  subroutine objects()
    type(purlin_context) :: context
    type(purlin_tensor) :: packed, full, norms
    real(real64), target :: values(1), dense(2, 2)
    dense = reshape([2.0_real64, 1.0_real64, 1.0_real64, 3.0_real64], [2, 2])
    call context%create(backend=PURLIN_BACKEND_CPU)
    call packed%create_symmetric(context, PURLIN_F64, 2_int64, 2_int64, 1_int64)
    call full%borrow(context, dense)
    call norms%borrow(context, values)
    call purlin_symmetric_from_full(context, full, packed)
    call purlin_symmetric_norm(context, packed, PURLIN_NORM_FROBENIUS, norms)
    call check(abs(values(1) - sqrt(15.0_real64)) < 1e-14_real64, 'the same on objects')
    dense = 0
    call purlin_symmetric_to_full(context, packed, full)
    call check(abs(dense(1, 2) - 1) <= 0, 'and back')
  end subroutine
end program test_symmetric
