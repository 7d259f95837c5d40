! Tensors and matrices: borrowed, owned, copied, described, refused.
module storage_callbacks
  use, intrinsic :: iso_c_binding
  implicit none

contains

  function no_products(adjoint, count, x, ldx, y, ldy, cuda_stream, user) bind(c) result(failed)
    integer(c_int32_t), value :: adjoint
    integer(c_int64_t), value :: count, ldx, ldy, cuda_stream
    type(c_ptr), value :: x, y, user
    integer(c_int32_t) :: failed
    failed = merge(0, 1, adjoint >= 0 .and. count > 0 .and. min(ldx, ldy) > 0 .and. c_associated(x) .and. &
      c_associated(y) .and. cuda_stream == 0 .and. .not. c_associated(user))
  end function
end module storage_callbacks

program test_storage
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_funloc, c_null_ptr, c_associated
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use purlin
  use checks
  use storage_callbacks, only: no_products
  implicit none

  call borrowing()
  call sections()
  call components()
  call single_components()
  call single_elements()
  call lower_bounds()
  call copying()
  call symmetric()
  call dlpack()
  call dense_matrices()
  call sparse_matrices()
  call outside()
  call check_none_live()

contains

  subroutine borrowing()
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    type(purlin_tensor_info) :: info
    integer(int64), allocatable :: dims(:), strides(:)
    real(real64), target :: doubles(2, 3, 4)
    real(real32), target :: singles(5)
    complex(real64), target :: complex_doubles(2, 2)
    integer(int32), target :: integers(4)
    integer(int8), target :: bytes(3)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensor%borrow(context, doubles)
    call tensor%properties(info)
    call check(info%dtype == PURLIN_F64 .and. info%ndim == 3 .and. info%elements == 24, 'doubles of rank 3')
    call check(info%owned == 0 .and. info%location == PURLIN_HOST, 'they are the caller''s and on the host')
    call tensor%layout(dims, strides)
    call check(all(dims == [2_int64, 3_int64, 4_int64]), 'extents as in Fortran')
    call check(all(strides == [1_int64, 2_int64, 6_int64]), 'strides as in Fortran')
    call tensor%borrow(context, singles)
    call tensor%properties(info)
    call check(info%dtype == PURLIN_F32 .and. info%bytes == 20, 'single precision')
    call tensor%borrow(context, complex_doubles)
    call tensor%properties(info)
    call check(info%dtype == PURLIN_CF64 .and. info%bytes == 64, 'complex')
    call tensor%borrow(context, integers)
    call tensor%properties(info)
    call check(info%dtype == PURLIN_I32, 'integers')
    call tensor%borrow(context, bytes, flags=PURLIN_READ_ONLY)
    call tensor%properties(info)
    call check(info%dtype == PURLIN_U8 .and. iand(info%flags, PURLIN_READ_ONLY) /= 0, 'bytes, read only')
    call check(purlin_live_handles() == 2_int64, 'borrowing again replaces')
  end subroutine

  subroutine sections()
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    real(real64), target :: a(4, 5)
    integer(int64), allocatable :: dims(:), strides(:)
    integer(int32) :: stat
    character(100) :: message
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensor%borrow(context, a(:, 2:3))
    call tensor%layout(dims)
    call check(all(dims == [4_int64, 2_int64]), 'a contiguous section is borrowed')
    message = ''
    call tensor%borrow(context, a(1:2, :), stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'another section is refused')
    call check(index(message, 'array: is not contiguous') == 1, 'and the message says why')
    call tensor%borrow_address(context, PURLIN_F64, [2_int64, 5_int64], c_loc(a), strides=[1_int64, 4_int64])
    call tensor%layout(dims, strides)
    call check(all(strides == [1_int64, 4_int64]), 'strides of one''s own')
    call tensor%borrow_address(context, PURLIN_F64, [2_int64, 5_int64], c_loc(a), strides=[1_int64], stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'strides that are too few')
    call tensor%borrow_address(context, PURLIN_F64, [-2_int64], c_loc(a), stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'dims') > 0, 'a negative extent')
    call tensor%borrow_address(context, PURLIN_F64, [2_int64], c_null_ptr, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'no address')
  end subroutine

  !> The compiler must pass components of arrays themselves, whose elements are apart, and no packed copies.
  subroutine components()
    type :: pair
      real(real64) :: z, w
    end type
    type :: three
      complex(real32) :: z
      real(real32) :: w
    end type
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    type(purlin_matrix) :: matrix
    type(purlin_tt) :: train
    type(purlin_tt_core) :: core
    type(pair), target :: pairs(6, 4), line(8), cube(1, 2, 3)
    type(three), target :: threes(6, 4)
    complex(real64), target :: numbers(3, 2)
    integer(int32), target :: starts(3), columns(4)
    integer(int32) :: stat
    character(200) :: message
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensor%borrow(context, pairs%z, stat=stat, errmsg=message)
    call refused(stat, message, 'array: is not contiguous')
    call tensor%borrow(context, cube%w, stat=stat, errmsg=message)
    call refused(stat, message, 'array: is not contiguous')
    call tensor%borrow(context, threes(:, 1)%z, stat=stat, errmsg=message)
    call refused(stat, message, 'array: is not contiguous')
    call tensor%borrow(context, numbers%im, stat=stat, errmsg=message)
    call refused(stat, message, 'array: is not contiguous')
    call tensor%borrow_symmetric(context, 2_int64, 2_int64, line(1:6)%z, stat=stat, errmsg=message)
    call refused(stat, message, 'array: is not contiguous')
    call matrix%borrow(context, pairs%z, stat=stat, errmsg=message)
    call refused(stat, message, 'array: its columns are not contiguous')
    call matrix%borrow(context, threes%z, stat=stat, errmsg=message)
    call refused(stat, message, 'array: its columns are not contiguous')
    starts = [1, 3, 5]
    columns = [1, 2, 1, 2]
    call matrix%csr(context, 2_int64, starts, columns, line(1:4)%z, stat=stat, errmsg=message)
    call refused(stat, message, 'values: is not contiguous')
    call train%borrow_flat(context, [2_int64, 2_int64], [1_int64, 2_int64, 1_int64], line%z, stat=stat, errmsg=message)
    call refused(stat, message, 'data: is not contiguous')
    call core%borrow(cube%z)
    call train%borrow(context, [core], stat=stat, errmsg=message)
    call refused(stat, message, 'cores: core 1 is not contiguous')
  end subroutine

  !> One element, or one row, of a component. Its strides do not show that gfortran passes the address of the first
  !> component.
  subroutine single_components()
    type :: all_types
      real(real32) :: r32
      real(real64) :: r64
      complex(real32) :: c32
      complex(real64) :: c64
      integer(int32) :: i32
      integer(int64) :: i64
      integer(int8) :: u8
    end type
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    type(purlin_matrix) :: matrix
    type(purlin_tt) :: train
    type(purlin_tt_core) :: core
    type(all_types), target :: line(5), grid(4, 6), cube(2, 3, 2), deep(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)
    complex(real32), target :: singles(4, 6)
    complex(real64), target :: doubles(4, 6)
    real(real64), pointer :: few(:), row(:, :)
    integer(int32), target :: starts(2), columns(1)
    integer(int32) :: stat
    character(200) :: message
    character(*), parameter :: apart = 'array: is not contiguous'
    character(*), parameter :: columns_apart = 'array: its columns are not contiguous'
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensor%borrow(context, line(3:3)%r32, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, line(3:3)%r64, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, line(3:3)%c32, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, line(3:3)%c64, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, line(3:3)%i32, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, line(3:3)%i64, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, line(3:3)%u8, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, singles(2:2, 3)%im, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, doubles(2:2, 3:3)%im, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, cube(2:2, 3:3, 1:1)%r64, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow(context, deep(:, :, :, :, :, :, :, :, :, :, :, :, :, :, 2:2)%c32, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call tensor%borrow_symmetric(context, 2_int64, 1_int64, line(3:3)%r64, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    call matrix%borrow(context, grid(4:4, :)%r32, stat=stat, errmsg=message)
    call refused(stat, message, columns_apart)
    call matrix%borrow(context, grid(4:4, :)%r64, stat=stat, errmsg=message)
    call refused(stat, message, columns_apart)
    call matrix%borrow(context, grid(4:4, 3:3)%c32, stat=stat, errmsg=message)
    call refused(stat, message, columns_apart)
    call matrix%borrow(context, grid(4:4, :)%c64, stat=stat, errmsg=message)
    call refused(stat, message, columns_apart)
    call matrix%borrow(context, singles(2:2, :)%im, stat=stat, errmsg=message)
    call refused(stat, message, columns_apart)
    call matrix%borrow(context, doubles(2:2, :)%im, stat=stat, errmsg=message)
    call refused(stat, message, columns_apart)
    starts = [1, 2]
    columns = 1
    call matrix%csr(context, 1_int64, starts, columns, line(3:3)%r64, stat=stat, errmsg=message)
    call refused(stat, message, 'values: is not contiguous')
    call matrix%csr(context, 1_int64, starts, line(3:3)%i32, stat=stat, errmsg=message)
    call refused(stat, message, 'col_idx: is not contiguous')
    call train%borrow_flat(context, [1_int64], [1_int64, 1_int64], line(3:3)%r64, stat=stat, errmsg=message)
    call refused(stat, message, 'data: is not contiguous')
    call core%borrow(cube(2:2, 3:3, 1:1)%c64)
    call train%borrow(context, [core], stat=stat, errmsg=message)
    call refused(stat, message, 'cores: core 1 is not contiguous')
    ! A pointer to a component has the right address. A section of such a pointer looks the same and has a wrong one.
    few => line%r64
    call tensor%borrow(context, few(3:3), stat=stat, errmsg=message)
    call refused(stat, message, apart)
    few => line(3:3)%r64
    call tensor%borrow(context, few, stat=stat, errmsg=message)
    call refused(stat, message, apart)
    row => grid(4:4, :)%r64
    call matrix%borrow(context, row, stat=stat, errmsg=message)
    call refused(stat, message, columns_apart)
    ! One element that is no array.
    call tensor%borrow(context, line(3)%r64)
    call lies_at(tensor, c_loc(line(3)%r64), 'a component of one element')
    call tensor%borrow(context, doubles(2, 3)%im)
    call lies_at(tensor, c_loc(doubles(2, 3)%im), 'an imaginary part')
  end subroutine

  subroutine lies_at(tensor, address, text)
    type(purlin_tensor), intent(in) :: tensor
    type(c_ptr), intent(in) :: address
    character(*), intent(in) :: text
    type(purlin_tensor_info) :: info
    call tensor%properties(info)
    call check(info%data == transfer(address, 0_int64), text)
  end subroutine

  !> One element, or one row, of an array of numbers has its own address, whatever the strides.
  subroutine single_elements()
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    type(purlin_matrix) :: matrix
    type(purlin_matrix_info) :: info
    real(real32), target :: singles(4, 6)
    real(real64), target :: doubles(4, 6), cube(2, 3, 2), deep(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)
    complex(real32), target :: complex_singles(4, 6)
    complex(real64), target :: complex_doubles(4, 6)
    real(real64), allocatable, target :: made(:)
    real(real64), pointer :: row(:)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensor%borrow(context, singles(2:2, 3))
    call lies_at(tensor, c_loc(singles(2, 3)), 'an element of a column')
    call tensor%borrow(context, doubles(2:2:2, 3:3))
    call lies_at(tensor, c_loc(doubles(2, 3)), 'an element with a step')
    call tensor%borrow(context, complex_singles(4:4, 6:6))
    call lies_at(tensor, c_loc(complex_singles(4, 6)), 'the last element')
    row => doubles(4, :)
    call tensor%borrow(context, row(3:3))
    call lies_at(tensor, c_loc(doubles(4, 3)), 'an element of a row')
    call tensor%borrow(context, cube(2:2, 3:3, 2:2))
    call lies_at(tensor, c_loc(cube(2, 3, 2)), 'an element of three axes')
    call tensor%borrow(context, deep(:, :, :, :, :, :, :, :, :, :, :, :, :, :, 2:2))
    call lies_at(tensor, c_loc(deep(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)), 'an element of fifteen axes')
    made = [1.0_real64]
    call tensor%borrow(context, made)
    call lies_at(tensor, c_loc(made), 'an allocated element')
    call matrix%borrow(context, singles(4:4, :))
    call matrix%properties(info)
    call check(info%data == transfer(c_loc(singles(4, 1)), 0_int64) .and. info%ld == 4 .and. info%cols == 6, 'a row')
    call matrix%borrow(context, doubles(2:2:3, ::2))
    call matrix%properties(info)
    call check(info%data == transfer(c_loc(doubles(2, 1)), 0_int64) .and. info%ld == 8, 'a row with a step')
    call matrix%borrow(context, complex_singles(:, 3:3))
    call matrix%properties(info)
    call check(info%data == transfer(c_loc(complex_singles(1, 3)), 0_int64) .and. info%rows == 4, 'a column')
    call matrix%borrow(context, complex_doubles(2:2, 3:3))
    call matrix%properties(info)
    call check(info%data == transfer(c_loc(complex_doubles(2, 3)), 0_int64) .and. info%rows == 1, 'an element')
  end subroutine

  subroutine refused(stat, message, text)
    integer(int32), intent(in) :: stat
    character(*), intent(in) :: message, text
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, text) == 1, text)
  end subroutine

  !> Pointers, and arrays whose bounds do not begin at 1.
  subroutine lower_bounds()
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    type(purlin_matrix) :: matrix
    type(purlin_matrix_info) :: info
    real(real64), target :: a(0:9, -1:2), scalar, none(0, 3)
    real(real64), pointer :: part(:, :), nothing(:, :)
    integer(int64), allocatable :: dims(:)
    integer(int64) :: first
    integer(int32) :: stat
    character(100) :: message
    call context%create(backend=PURLIN_BACKEND_CPU)
    first = transfer(c_loc(a), first)
    call matrix%borrow(context, a)
    call matrix%properties(info)
    call check(info%data == first .and. info%ld == 10, 'a matrix whose bounds begin elsewhere')
    part(3:, 5:) => a(2:4, 0:1)
    call matrix%borrow(context, part)
    call matrix%properties(info)
    call check(info%data == first + 12 * 8 .and. info%ld == 10 .and. info%rows == 3, 'a pointer to a section')
    call tensor%borrow(context, a)
    call tensor%layout(dims)
    call check(all(dims == [10_int64, 4_int64]), 'a tensor whose bounds begin elsewhere')
    call tensor%borrow(context, scalar)
    call tensor%borrow(context, none)
    call matrix%borrow(context, none)
    nothing => null()
    call matrix%borrow(context, nothing, stat=stat, errmsg=message)
    call refused(stat, message, 'array: is not associated')
    call tensor%borrow(context, nothing, stat=stat, errmsg=message)
    call refused(stat, message, 'array: is not associated')
  end subroutine

  subroutine copying()
    type(purlin_context) :: context
    type(purlin_tensor) :: owned, borrowed, other
    type(purlin_stream) :: stream
    real(real64), target :: a(3, 2), b(3, 2)
    integer(int32) :: stat
    integer :: i
    a = reshape([(real(i, real64), i=1, 6)], [3, 2])
    b = 0
    call context%create(backend=PURLIN_BACKEND_CPU)
    call stream%create(context)
    call borrowed%borrow(context, a)
    call owned%create(context, PURLIN_F64, [3_int64, 2_int64])
    call owned%copy_from(context, borrowed, stream)
    call stream%synchronize()
    call borrowed%borrow(context, b)
    call borrowed%copy_from(context, owned)
    call check(maxval(abs(a - b)) <= 0, 'into the library and back')
    call other%create(context, PURLIN_F64, [2_int64, 3_int64])
    call other%copy_from(context, borrowed, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'another shape is refused')
    call borrowed%borrow(context, b, flags=PURLIN_READ_ONLY)
    call borrowed%copy_from(context, owned, stat=stat)
    call check(stat /= PURLIN_SUCCESS, 'a read-only tensor is not written')
  end subroutine

  subroutine symmetric()
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    type(purlin_tensor_info) :: info
    real(real64), target :: voxels(15, 2, 3), wrong(14)
    integer(int32) :: stat
    character(100) :: message
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensor%borrow_symmetric(context, 4_int64, 3_int64, voxels)
    call tensor%properties(info)
    call check(info%symmetric_order == 4 .and. info%symmetric_dimension == 3, 'order and dimension')
    call check(info%elements == 90, 'all voxels')
    message = ''
    call tensor%borrow_symmetric(context, 4_int64, 3_int64, wrong, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'array: has 14') == 1, 'not whole tensors')
    call tensor%create_symmetric(context, PURLIN_F32, 3_int64, 10_int64, 7_int64, flags=PURLIN_ENTRY_MAJOR)
    call tensor%properties(info)
    call check(info%owned == 1 .and. info%bytes == 4 * 220 * 7, 'owned ones')
    call tensor%borrow_symmetric_address(context, PURLIN_F64, 4_int64, 3_int64, 6_int64, c_loc(voxels), 1_int64, 15_int64)
    call tensor%properties(info)
    call check(info%elements == 90, 'by address and strides')
    call tensor%create_symmetric(context, PURLIN_F32, 0_int64, 3_int64, 1_int64, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an order of 0')
  end subroutine

  subroutine dlpack()
    type(purlin_context) :: context
    type(purlin_tensor) :: one, two
    type(purlin_tensor_info) :: info
    type(c_ptr) :: managed
    real(real32), target :: a(2, 3)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call one%borrow(context, a)
    managed = c_null_ptr
    call one%to_dlpack(managed)
    call check(c_associated(managed), 'a DLPack tensor')
    call two%from_dlpack(context, managed)
    call two%properties(info)
    call check(info%dtype == PURLIN_F32 .and. info%elements == 6, 'and back')
  end subroutine

  subroutine dense_matrices()
    type(purlin_context) :: context
    type(purlin_matrix) :: section, owned, back
    type(purlin_matrix_info) :: info
    real(real64), target :: a(4, 5), b(2, 3)
    integer(int32) :: stat
    character(100) :: message
    integer :: i
    a = reshape([(real(i, real64), i=1, 20)], [4, 5])
    call context%create(backend=PURLIN_BACKEND_CPU)
    call section%borrow(context, a(2:3, 2:4))
    call section%properties(info)
    call check(info%rows == 2 .and. info%cols == 3 .and. info%ld == 4, 'a section with its leading dimension')
    call check(info%storage == PURLIN_DENSE .and. info%dtype == PURLIN_F64, 'dense doubles')
    call owned%create(context, PURLIN_F64, 2_int64, 3_int64)
    call owned%copy_from(context, section)
    call back%borrow(context, b)
    call back%copy_from(context, owned)
    call check(maxval(abs(b - a(2:3, 2:4))) <= 0, 'into the library and back')
    message = ''
    call section%borrow(context, a(1:4:2, :), stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'array:') == 1, 'rows that are apart')
    call section%borrow_address(context, PURLIN_F64, 4_int64, 5_int64, 3_int64, c_loc(a), stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT .and. index(message, 'ld') == 1, 'a leading dimension too small')
  end subroutine

  !> Matrices that are not in memory: read in blocks, or known by their products.
  subroutine outside()
    type(purlin_context) :: context
    type(purlin_tensor) :: tensor
    type(purlin_source) :: source
    type(purlin_matrix) :: matrix
    type(purlin_matrix_info) :: info
    real(real64), target :: values(3, 2)
    integer(int32) :: stat
    values = 1
    call context%create(backend=PURLIN_BACKEND_CPU)
    call tensor%borrow(context, values)
    call source%from_tensor(context, tensor)
    call matrix%from_source(context, source)
    call source%destroy()
    call matrix%properties(info)
    call check(info%storage == PURLIN_STREAMED .and. info%rows == 3 .and. info%cols == 2, 'a matrix read in blocks')
    call matrix%from_operator(context, PURLIN_F64, 4_int64, 5_int64, c_funloc(no_products))
    call matrix%properties(info)
    call check(info%storage == PURLIN_OPERATOR .and. info%cols == 5, 'a matrix known by its products')
    call matrix%from_operator(context, PURLIN_F64, 4_int64, 5_int64, c_funloc(no_products), location=PURLIN_DEVICE, &
      stat=stat)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED, 'products on the device of a context without one')
    call source%from_npy(context, 'no such file.npy', stat=stat)
    call check(stat == PURLIN_ERROR_IO, 'no such file')
    call source%from_mapped_file(context, 'no such file', PURLIN_F64, [3_int64, 2_int64], stat=stat)
    call check(stat == PURLIN_ERROR_IO, 'no such file to map')
  end subroutine

  subroutine sparse_matrices()
    type(purlin_context) :: context
    type(purlin_matrix) :: matrix
    type(purlin_matrix_info) :: info
    integer(int32), target :: row_ptr(4), col_idx(4)
    integer(int64), target :: long_ptr(4), long_idx(4)
    real(real64), target :: values(4)
    real(real32), target :: singles(4)
    integer(int32) :: stat
    row_ptr = [1, 3, 3, 5]
    col_idx = [1, 4, 2, 3]
    values = [1, 2, 3, 4]
    singles = real(values, real32)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call matrix%csr(context, 4_int64, row_ptr, col_idx, values)
    call matrix%properties(info)
    call check(info%storage == PURLIN_CSR .and. info%nnz == 4, 'sparse rows')
    call check(info%rows == 3 .and. info%cols == 4 .and. info%index_base == 1, 'from 1, as in Fortran')
    call check(info%owned == 0, 'and not copied')
    long_ptr = row_ptr - 1
    long_idx = col_idx - 1
    call matrix%csr(context, 4_int64, long_ptr, long_idx, singles, index_base=0, copied=.true.)
    call matrix%properties(info)
    call check(info%row_ptr_type == PURLIN_I64 .and. info%dtype == PURLIN_F32 .and. info%owned == 1, 'a copy')
    call matrix%csr_address(context, PURLIN_F64, 3_int64, 4_int64, 4_int64, PURLIN_I32, c_loc(row_ptr), PURLIN_I32, &
      c_loc(col_idx), c_null_ptr)
    call matrix%properties(info)
    call check(info%nnz == 4, 'a pattern without values')
    call matrix%csr_device(context, PURLIN_F64, 3_int64, 4_int64, 4_int64, PURLIN_I32, 4096_int64, PURLIN_I32, &
      8192_int64, 0_int64, stat=stat)
    call check(stat == PURLIN_ERROR_NOT_SUPPORTED, 'device memory without a device')
    col_idx(2) = 5
    call matrix%csr(context, 4_int64, row_ptr, col_idx, values, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a column that is not there')
    call matrix%csr(context, 4_int64, row_ptr, col_idx(:3), values, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'more values than columns')
  end subroutine
end program test_storage
