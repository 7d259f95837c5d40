!> The functions of purlin.h as they are, each named c_<name without purlin_>.
!>
!> This module is the layer below `purlin`; use it only for functions that the friendly layer does not offer. Handles
!> are `type(c_ptr)`; optional structs may be absent, which passes NULL.
module purlin_c
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public

  interface
    include 'generated/purlin_c.inc'
  end interface
end module purlin_c
