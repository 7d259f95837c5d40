!> Where the elements of an array that the library uses in place are.
!>
!> Such an array is a pointer argument, so that the compiler passes no copy, whose memory would be free after the call.
!> It may be a component of an array of a derived type, whose elements are apart.
module purlin_strides
  use, intrinsic :: iso_c_binding, only: c_ptr, c_float, c_double, c_float_complex, c_double_complex, c_int8_t, c_int32_t, &
    c_int64_t, c_intptr_t
  use, intrinsic :: iso_fortran_env, only: compiler_version
  implicit none
  private
  public :: is_packed, distance

  !> Whether the elements are one after another in memory, in the order of Fortran.
  interface is_packed
    module procedure packed_r32, packed_r64, packed_c32, packed_c64, packed_i32, packed_i64, packed_u8
  end interface

  interface is_packed_vector
    module procedure vector_r32, vector_r64, vector_c32, vector_c64, vector_i32, vector_i64, vector_u8
  end interface

  character(80), parameter :: version = compiler_version()
  logical, parameter :: is_gfortran = index(version, 'GCC ') == 1
  logical, parameter :: is_old = index(version, 'GCC version') == 1 .and. &
    (version(14:14) == '.' .or. any(version(13:14) == ['10', '11']))
  !> This division by zero keeps gfortran 11 and older from compiling the module: they would borrow components of arrays
  !> of two axes or more with other components between, and nothing would show it when the program runs.
  integer, parameter :: gfortran_12_is_the_oldest = 1 / merge(0, 1, is_old)

contains

  !> Whether the elements are as far apart as they are long, where the stride is 1. `descriptor` is that of a pointer of
  !> rank 1.
  !>
  !> Word 5 of gfortran's descriptors is the span, the unit of strides in bytes. For components it is the size of the
  !> derived type, which is_contiguous of gfortran 12 ignores. Even one element has to be refused then, since the address
  !> may be wrong: gfortran 12 passes a(2:2)%z with the address of the first component of a(2), and computes that of a
  !> section p(2:2) of a pointer p => a%z with the size of an element.
  pure function spans_elements(descriptor, bytes) result(spans)
    integer(c_intptr_t), intent(in) :: descriptor(:)
    integer(c_int64_t), intent(in) :: bytes
    logical :: spans
    spans = .true.
    if (is_gfortran) spans = descriptor(5) == bytes
  end function

  pure function distance(from, to) result(bytes)
    type(c_ptr), intent(in) :: from, to
    integer(c_int64_t) :: bytes
    bytes = int(transfer(to, 0_c_intptr_t) - transfer(from, 0_c_intptr_t), c_int64_t)
  end function

  function vector_r32(array) result(packed)
    real(c_float), pointer, intent(in) :: array(:)
    logical :: packed
    type :: pointer_holder
      real(c_float), pointer :: array(:) => null()
    end type
    type(pointer_holder) :: holder
    include 'purlin_strides_vector.inc'
  end function

  function vector_r64(array) result(packed)
    real(c_double), pointer, intent(in) :: array(:)
    logical :: packed
    type :: pointer_holder
      real(c_double), pointer :: array(:) => null()
    end type
    type(pointer_holder) :: holder
    include 'purlin_strides_vector.inc'
  end function

  function vector_c32(array) result(packed)
    complex(c_float_complex), pointer, intent(in) :: array(:)
    logical :: packed
    type :: pointer_holder
      complex(c_float_complex), pointer :: array(:) => null()
    end type
    type(pointer_holder) :: holder
    include 'purlin_strides_vector.inc'
  end function

  function vector_c64(array) result(packed)
    complex(c_double_complex), pointer, intent(in) :: array(:)
    logical :: packed
    type :: pointer_holder
      complex(c_double_complex), pointer :: array(:) => null()
    end type
    type(pointer_holder) :: holder
    include 'purlin_strides_vector.inc'
  end function

  function vector_i32(array) result(packed)
    integer(c_int32_t), pointer, intent(in) :: array(:)
    logical :: packed
    type :: pointer_holder
      integer(c_int32_t), pointer :: array(:) => null()
    end type
    type(pointer_holder) :: holder
    include 'purlin_strides_vector.inc'
  end function

  function vector_i64(array) result(packed)
    integer(c_int64_t), pointer, intent(in) :: array(:)
    logical :: packed
    type :: pointer_holder
      integer(c_int64_t), pointer :: array(:) => null()
    end type
    type(pointer_holder) :: holder
    include 'purlin_strides_vector.inc'
  end function

  function vector_u8(array) result(packed)
    integer(c_int8_t), pointer, intent(in) :: array(:)
    logical :: packed
    type :: pointer_holder
      integer(c_int8_t), pointer :: array(:) => null()
    end type
    type(pointer_holder) :: holder
    include 'purlin_strides_vector.inc'
  end function

  function packed_r32(array) result(packed)
    real(c_float), pointer, intent(in) :: array(..)
    logical :: packed
    real(c_float), pointer :: q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_r64(array) result(packed)
    real(c_double), pointer, intent(in) :: array(..)
    logical :: packed
    real(c_double), pointer :: q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_c32(array) result(packed)
    complex(c_float_complex), pointer, intent(in) :: array(..)
    logical :: packed
    complex(c_float_complex), pointer :: q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_c64(array) result(packed)
    complex(c_double_complex), pointer, intent(in) :: array(..)
    logical :: packed
    complex(c_double_complex), pointer :: q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_i32(array) result(packed)
    integer(c_int32_t), pointer, intent(in) :: array(..)
    logical :: packed
    integer(c_int32_t), pointer :: q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_i64(array) result(packed)
    integer(c_int64_t), pointer, intent(in) :: array(..)
    logical :: packed
    integer(c_int64_t), pointer :: q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function

  function packed_u8(array) result(packed)
    integer(c_int8_t), pointer, intent(in) :: array(..)
    logical :: packed
    integer(c_int8_t), pointer :: q2(:, :), q3(:, :, :), q4(:, :, :, :), q5(:, :, :, :, :), &
      q6(:, :, :, :, :, :), q7(:, :, :, :, :, :, :), q8(:, :, :, :, :, :, :, :), q9(:, :, :, :, :, :, :, :, :), &
      q10(:, :, :, :, :, :, :, :, :, :), q11(:, :, :, :, :, :, :, :, :, :, :), &
      q12(:, :, :, :, :, :, :, :, :, :, :, :), q13(:, :, :, :, :, :, :, :, :, :, :, :, :), &
      q14(:, :, :, :, :, :, :, :, :, :, :, :, :, :), q15(:, :, :, :, :, :, :, :, :, :, :, :, :, :, :)
    include 'purlin_strides.inc'
  end function
end module purlin_strides
