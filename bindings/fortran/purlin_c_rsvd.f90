!> The C interface of streamed and implicit matrices, argument for argument.
module purlin_c_rsvd
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_int32_t, c_int64_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_funptr, c_int32_t, c_int64_t

  interface
    function c_matrix_from_source(context, source, flags, matrix) bind(c, name='purlin_matrix_from_source') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, source
      integer(c_int32_t), value :: flags
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_matrix_from_operator(context, dtype, rows, cols, apply, user, location, matrix) bind(c, &
      name='purlin_matrix_from_operator') result(s)
      import :: c_funptr, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, user
      integer(c_int32_t), value :: dtype, location
      integer(c_int64_t), value :: rows, cols
      type(c_funptr), value :: apply
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_rsvd
