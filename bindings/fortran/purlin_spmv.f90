!> Products of sparse matrices with vectors and blocks of vectors, planned once and used many times.
module purlin_spmv_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, c_float_complex, &
    c_double_complex, c_int32_t
  use purlin_types
  use purlin_c_spectra
  use purlin_library
  use purlin_execution
  use purlin_tensors
  use purlin_matrices
  implicit none
  private
  public :: purlin_spmv

  !> A plan: for every matrix of one structure, whatever its values, or with `kind` and `shift` in the options for an
  !> operator that is made of the matrix and never formed, and with `degree`, `lower` and `upper` for a polynomial of
  !> that. `apply` is y = alpha op(A) x + beta y of objects or of arrays of A's type; without `alpha` and `beta` they
  !> are 1 and 0. Blocks of several vectors are matrix objects.
  type :: purlin_spmv
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => spmv_create
    procedure, private :: apply_objects, apply_blocks, apply_r32, apply_r64, apply_c32, apply_c64
    procedure, private :: add_objects, add_objects_complex, add_blocks, add_blocks_complex
    generic :: apply => apply_objects, apply_blocks, apply_r32, apply_r64, apply_c32, apply_c64, &
      add_objects, add_objects_complex, add_blocks, add_blocks_complex
    procedure :: update => spmv_update
    procedure :: properties => spmv_properties
    include 'generated/object_spmv_bound.inc'
  end type

  !> Holds alpha and beta of any element type.
  type :: factors
    real(c_float) :: single(4) = 0
    real(c_double) :: double(4) = 0
  end type

contains

  subroutine spmv_create(self, a, options, stat, errmsg)
    class(purlin_spmv), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_spmv_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_spmv(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_spmv_create(a%handle(), options, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Updates a plan that keeps row sums or a copy of the matrix, after a change of values.
  subroutine spmv_update(self, a, stat, errmsg)
    class(purlin_spmv), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_spmv_update(self%key, a%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Vectors as objects; the product alone.
  subroutine apply_objects(self, a, x, y, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_tensor), intent(in) :: x
    type(purlin_tensor), intent(inout) :: y
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_spmv_apply(self%key, stream_key(stream), c_null_ptr, a%handle(), x%handle(), c_null_ptr, y%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Columns of dense matrices; the product alone. Row-major ones are read once for all of their columns.
  subroutine apply_blocks(self, a, x, y, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_matrix), intent(in) :: a, x
    type(purlin_matrix), intent(inout) :: y
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_spmv_apply_block(self%key, stream_key(stream), c_null_ptr, a%handle(), x%handle(), c_null_ptr, &
      y%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> With numbers of double precision, which are converted to A's type.
  subroutine add_objects(self, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_tensor), intent(in) :: x
    type(purlin_tensor), intent(inout) :: y
    real(c_double), intent(in) :: alpha, beta
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%apply(a, x, y, cmplx(alpha, kind=c_double_complex), cmplx(beta, kind=c_double_complex), stream, stat, errmsg)
  end subroutine

  subroutine add_objects_complex(self, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_tensor), intent(in) :: x
    type(purlin_tensor), intent(inout) :: y
    complex(c_double_complex), intent(in) :: alpha, beta
    type(purlin_stream), intent(in), optional :: stream
    type(factors), target :: numbers
    type(c_ptr) :: places(2)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call prepare(o, a, alpha, beta, numbers, places)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_spmv_apply(self%key, stream_key(stream), places(1), &
      a%handle(), x%handle(), places(2), y%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine add_blocks(self, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_matrix), intent(in) :: a, x
    type(purlin_matrix), intent(inout) :: y
    real(c_double), intent(in) :: alpha, beta
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%apply(a, x, y, cmplx(alpha, kind=c_double_complex), cmplx(beta, kind=c_double_complex), stream, stat, errmsg)
  end subroutine

  subroutine add_blocks_complex(self, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_matrix), intent(in) :: a, x
    type(purlin_matrix), intent(inout) :: y
    complex(c_double_complex), intent(in) :: alpha, beta
    type(purlin_stream), intent(in), optional :: stream
    type(factors), target :: numbers
    type(c_ptr) :: places(2)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call prepare(o, a, alpha, beta, numbers, places)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_spmv_apply_block(self%key, stream_key(stream), places(1), &
      a%handle(), x%handle(), places(2), y%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> alpha and beta as numbers of A's type, and where they are.
  subroutine prepare(o, a, alpha, beta, numbers, places)
    type(outcome), intent(inout) :: o
    type(purlin_matrix), intent(in) :: a
    complex(c_double_complex), intent(in) :: alpha, beta
    type(factors), intent(inout), target :: numbers
    type(c_ptr), intent(out) :: places(2)
    type(purlin_matrix_info) :: info
    numbers%double = [real(alpha), aimag(alpha), real(beta), aimag(beta)]
    numbers%single = real(numbers%double, c_float)
    places = c_null_ptr
    call a%properties(info, o%status, o%message)
    if (o%status /= PURLIN_SUCCESS) return
    select case (info%dtype)
    case (PURLIN_F32, PURLIN_CF32)
      places = [c_loc(numbers%single(1)), c_loc(numbers%single(3))]
    case default
      places = [c_loc(numbers%double(1)), c_loc(numbers%double(3))]
    end select
    if (info%dtype == PURLIN_CF32 .or. info%dtype == PURLIN_CF64) return
    if (abs(aimag(alpha)) > 0) call refuse(o, 'alpha: is not real, the matrix is')
    if (abs(aimag(beta)) > 0) call refuse(o, 'beta: is not real, the matrix is')
  end subroutine

  subroutine apply_r32(self, context, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_float), intent(in), contiguous, target :: x(:)
    real(c_float), intent(inout), contiguous, target :: y(:)
    real(c_float), intent(in), optional :: alpha, beta
    real(c_float), target :: factor(2)
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor) :: from, to
    type(purlin_matrix_info) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    factor = [1.0, 0.0]
    if (present(alpha)) factor(1) = alpha
    if (present(beta)) factor(2) = beta
    call a%properties(info, o%status, o%message)
    if (o%status == PURLIN_SUCCESS .and. info%dtype /= PURLIN_F32) call refuse(o, 'x: is not of the type of the matrix')
    if (o%status == PURLIN_SUCCESS) call from%borrow(context, x, flags=PURLIN_READ_ONLY, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'x')
    if (o%status == PURLIN_SUCCESS) call to%borrow(context, y, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'y')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_spmv_apply(self%key, stream_key(stream), c_loc(factor(1)), &
      a%handle(), from%handle(), c_loc(factor(2)), to%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine apply_r64(self, context, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    real(c_double), intent(in), contiguous, target :: x(:)
    real(c_double), intent(inout), contiguous, target :: y(:)
    real(c_double), intent(in), optional :: alpha, beta
    real(c_double), target :: factor(2)
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor) :: from, to
    type(purlin_matrix_info) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    factor = [1.0, 0.0]
    if (present(alpha)) factor(1) = alpha
    if (present(beta)) factor(2) = beta
    call a%properties(info, o%status, o%message)
    if (o%status == PURLIN_SUCCESS .and. info%dtype /= PURLIN_F64) call refuse(o, 'x: is not of the type of the matrix')
    if (o%status == PURLIN_SUCCESS) call from%borrow(context, x, flags=PURLIN_READ_ONLY, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'x')
    if (o%status == PURLIN_SUCCESS) call to%borrow(context, y, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'y')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_spmv_apply(self%key, stream_key(stream), c_loc(factor(1)), &
      a%handle(), from%handle(), c_loc(factor(2)), to%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine apply_c32(self, context, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    complex(c_float_complex), intent(in), contiguous, target :: x(:)
    complex(c_float_complex), intent(inout), contiguous, target :: y(:)
    complex(c_float_complex), intent(in), optional :: alpha, beta
    complex(c_float_complex), target :: factor(2)
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor) :: from, to
    type(purlin_matrix_info) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    factor = [1.0, 0.0]
    if (present(alpha)) factor(1) = alpha
    if (present(beta)) factor(2) = beta
    call a%properties(info, o%status, o%message)
    if (o%status == PURLIN_SUCCESS .and. info%dtype /= PURLIN_CF32) call refuse(o, 'x: is not of the type of the matrix')
    if (o%status == PURLIN_SUCCESS) call from%borrow(context, x, flags=PURLIN_READ_ONLY, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'x')
    if (o%status == PURLIN_SUCCESS) call to%borrow(context, y, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'y')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_spmv_apply(self%key, stream_key(stream), c_loc(factor(1)), &
      a%handle(), from%handle(), c_loc(factor(2)), to%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine apply_c64(self, context, a, x, y, alpha, beta, stream, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    complex(c_double_complex), intent(in), contiguous, target :: x(:)
    complex(c_double_complex), intent(inout), contiguous, target :: y(:)
    complex(c_double_complex), intent(in), optional :: alpha, beta
    complex(c_double_complex), target :: factor(2)
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tensor) :: from, to
    type(purlin_matrix_info) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    factor = [1.0, 0.0]
    if (present(alpha)) factor(1) = alpha
    if (present(beta)) factor(2) = beta
    call a%properties(info, o%status, o%message)
    if (o%status == PURLIN_SUCCESS .and. info%dtype /= PURLIN_CF64) call refuse(o, 'x: is not of the type of the matrix')
    if (o%status == PURLIN_SUCCESS) call from%borrow(context, x, flags=PURLIN_READ_ONLY, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'x')
    if (o%status == PURLIN_SUCCESS) call to%borrow(context, y, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'y')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_spmv_apply(self%key, stream_key(stream), c_loc(factor(1)), &
      a%handle(), from%handle(), c_loc(factor(2)), to%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine spmv_properties(self, info, stat, errmsg)
    class(purlin_spmv), intent(in) :: self
    type(purlin_spmv_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_spmv_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_spmv.inc'

end module purlin_spmv_module
