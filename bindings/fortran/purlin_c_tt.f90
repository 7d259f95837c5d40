!> The C interface of tensor trains, argument for argument.
module purlin_c_tt
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_int32_t, c_int64_t, c_size_t

  interface
    function c_tt_create(context, dtype, location, flags, length, modes, ranks, tt) bind(c, &
      name='purlin_tt_create') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*), ranks(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_borrow(context, dtype, flags, length, modes, ranks, cores, tt) bind(c, &
      name='purlin_tt_borrow') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*), ranks(*)
      type(c_ptr), intent(in) :: cores(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_borrow_device(context, dtype, flags, length, modes, ranks, cores, tt) bind(c, &
      name='purlin_tt_borrow_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*), ranks(*), cores(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_set_core(tt, stream, k, core) bind(c, name='purlin_tt_set_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_core(tt, stream, k, core) bind(c, name='purlin_tt_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_core_address(tt, k, address) bind(c, name='purlin_tt_core_address') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt
      integer(c_int64_t), value :: k
      integer(c_int64_t), intent(inout) :: address
      integer(c_int32_t) :: s
    end function
    function c_tt_copy(context, stream, source, destination) bind(c, name='purlin_tt_copy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, source, destination
      integer(c_int32_t) :: s
    end function
    function c_tt_info_init(object, struct_size) bind(c, name='purlin_tt_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_tt_info
      type(purlin_tt_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_tt_properties(tt, info) bind(c, name='purlin_tt_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_info
      type(c_ptr), value :: tt
      type(purlin_tt_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_shape(tt, capacity, modes, ranks) bind(c, name='purlin_tt_shape') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt, modes, ranks
      integer(c_int64_t), value :: capacity
      integer(c_int32_t) :: s
    end function
    function c_tt_destroy(tt) bind(c, name='purlin_tt_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_create(context, dtype, location, flags, length, rows, cols, ranks, matrix) bind(c, &
      name='purlin_tt_matrix_create') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: rows(*), cols(*), ranks(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_borrow(context, dtype, flags, length, rows, cols, ranks, cores, matrix) bind(c, &
      name='purlin_tt_matrix_borrow') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: rows(*), cols(*), ranks(*)
      type(c_ptr), intent(in) :: cores(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_borrow_device(context, dtype, flags, length, rows, cols, ranks, cores, matrix) bind(c, &
      name='purlin_tt_matrix_borrow_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: rows(*), cols(*), ranks(*), cores(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_set_core(matrix, stream, k, core) bind(c, name='purlin_tt_matrix_set_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: matrix, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_core(matrix, stream, k, core) bind(c, name='purlin_tt_matrix_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: matrix, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_properties(matrix, info) bind(c, name='purlin_tt_matrix_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_info
      type(c_ptr), value :: matrix
      type(purlin_tt_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_shape(matrix, capacity, rows, cols, ranks) bind(c, name='purlin_tt_matrix_shape') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: matrix, rows, cols, ranks
      integer(c_int64_t), value :: capacity
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_destroy(matrix) bind(c, name='purlin_tt_matrix_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: matrix
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_tt
