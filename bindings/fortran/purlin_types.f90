!> Constants and interoperable structs of purlin.h, field for field.
!>
!> Each struct starts with struct_size. It is 0 until `purlin_init` has been called, so that the library refuses a
!> struct which nobody initialized. Users get all of this through `use purlin`.
module purlin_types
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_null_ptr, c_null_funptr, c_char, c_double, &
    c_int32_t, c_int64_t, c_size_t
  implicit none
  public
  private :: c_ptr, c_funptr, c_null_ptr, c_null_funptr, c_char, c_double, c_int32_t, c_int64_t, c_size_t

  include 'purlin_constants.inc'

  include 'generated/purlin_types.inc'

  abstract interface
    include 'generated/purlin_callbacks.inc'
  end interface
end module purlin_types
