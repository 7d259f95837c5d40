!> Where the elements of an array that the library uses in place are.
!>
!> Such an array is a pointer argument, so that the compiler passes no copy, whose memory would be free after the call.
!> It may be a component of an array of a derived type, whose elements are apart.
module purlin_strides
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_float, c_double, c_float_complex, c_double_complex, c_int8_t, &
    c_int32_t, c_int64_t, c_intptr_t
  implicit none
  private
  public :: is_packed, distance

  !> Whether the elements are one after another in memory, in the order of Fortran.
  interface is_packed
    module procedure packed_r32, packed_r64, packed_c32, packed_c64, packed_i32, packed_i64, packed_u8
  end interface

contains

  pure function distance(from, to) result(bytes)
    type(c_ptr), intent(in) :: from, to
    integer(c_int64_t) :: bytes
    bytes = int(transfer(to, 0_c_intptr_t) - transfer(from, 0_c_intptr_t), c_int64_t)
  end function

  function packed_r32(array) result(packed)
    real(c_float), pointer, intent(in) :: array(..)
    logical :: packed
    real(c_float), pointer :: q1(:), q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_r64(array) result(packed)
    real(c_double), pointer, intent(in) :: array(..)
    logical :: packed
    real(c_double), pointer :: q1(:), q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_c32(array) result(packed)
    complex(c_float_complex), pointer, intent(in) :: array(..)
    logical :: packed
    complex(c_float_complex), pointer :: q1(:), q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_c64(array) result(packed)
    complex(c_double_complex), pointer, intent(in) :: array(..)
    logical :: packed
    complex(c_double_complex), pointer :: q1(:), q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_i32(array) result(packed)
    integer(c_int32_t), pointer, intent(in) :: array(..)
    logical :: packed
    integer(c_int32_t), pointer :: q1(:), q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_i64(array) result(packed)
    integer(c_int64_t), pointer, intent(in) :: array(..)
    logical :: packed
    integer(c_int64_t), pointer :: q1(:), q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_u8(array) result(packed)
    integer(c_int8_t), pointer, intent(in) :: array(..)
    logical :: packed
    integer(c_int8_t), pointer :: q1(:), q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function
end module purlin_strides
