!> Randomized SVD: the leading singular triplets of dense, sparse, streamed and implicit matrices. Ownership and copies: as
!> for purlin_context. Calls on plain arrays: purlin_rsvd_arrays.
module purlin_rsvd_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_null_char, c_char, c_loc, c_associated, c_double, &
    c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_rsvd
  use purlin_library
  use purlin_execution
  use purlin_tensors
  use purlin_matrices
  implicit none
  private
  public :: purlin_rsvd

  !> Options, work space and contexts, for matrices of any shape.
  type :: purlin_rsvd
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => rsvd_create
    procedure :: set_sketch => rsvd_set_sketch
    procedure :: plan => rsvd_plan
    procedure :: compute => rsvd_compute
    procedure :: range => rsvd_range
    procedure :: symmetric => rsvd_symmetric
    procedure :: error => rsvd_error
    procedure :: residuals => rsvd_residuals
    procedure :: sketch => rsvd_sketch
    procedure :: last_info => rsvd_last_info
    procedure :: cancel => rsvd_cancel
    include 'generated/object_rsvd_bound.inc'
  end type

contains

  !> `restart_path` names the file that is written after each pass and read by a run that goes on; trailing blanks do not
  !> count.
  subroutine rsvd_create(self, context, options, restart_path, stat, errmsg)
    class(purlin_rsvd), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_rsvd_options), intent(in) :: options
    character(*), intent(in), optional :: restart_path
    type(purlin_rsvd_options) :: whole
    character(kind=c_char), allocatable, target :: name(:)
    integer :: i
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_rsvd(self, o)
    whole = options
    if (present(restart_path)) then
      call refuse_null(o, restart_path)
      name = [(restart_path(i:i), i=1, len_trim(restart_path)), c_null_char]
      whole%restart_path = c_loc(name)
    end if
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_rsvd_create(context%handle(), whole, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The sketch to use in place of random numbers, as many rows as A has columns; it is copied. Without `omega` they are
  !> drawn again.
  subroutine rsvd_set_sketch(self, omega, stat, errmsg)
    class(purlin_rsvd), intent(inout) :: self
    type(purlin_matrix), intent(in), optional :: omega
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_rsvd_set_sketch(self%key, matrix_key(omega)))
    call finish(o, stat, errmsg)
  end subroutine

  !> The plan of a run on `a` with U and V, or without the one whose argument is false: method, passes, bytes, blocks,
  !> memory.
  subroutine rsvd_plan(self, a, info, with_u, with_v, stat, errmsg)
    class(purlin_rsvd), intent(in) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_rsvd_info), intent(inout) :: info
    logical, intent(in), optional :: with_u, with_v
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    integer(c_int32_t) :: u, v
    u = 1
    if (present(with_u)) u = merge(1_c_int32_t, 0_c_int32_t, with_u)
    v = 1
    if (present(with_v)) v = merge(1_c_int32_t, 0_c_int32_t, with_v)
    call purlin_init(info)
    call absorb(o, c_rsvd_plan(self%key, a%handle(), u, v, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> A ~ U diag(s) V^H: `u` m x k, `s` of k elements, `v` n x k, or k x n with `options%right` PURLIN_RSVD_VH. With a
  !> tolerance the outputs may be wider: info%rank columns hold something.
  subroutine rsvd_compute(self, a, u, s, v, info, stream, stat, errmsg)
    class(purlin_rsvd), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout), optional :: u, v
    type(purlin_tensor), intent(inout), optional :: s
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rsvd_compute(self%key, stream_key(stream), a%handle(), matrix_key(u), tensor_key(s), &
      matrix_key(v), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> An orthonormal basis `q`, m x l, of the range of A, and `b` = Q^H A, l x n; l is the number of columns of `q`.
  subroutine rsvd_range(self, a, q, b, info, stream, stat, errmsg)
    class(purlin_rsvd), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: q
    type(purlin_matrix), intent(inout), optional :: b
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rsvd_range(self%key, stream_key(stream), a%handle(), q%handle(), matrix_key(b), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> The eigenvalues of largest modulus of a Hermitian matrix, and their vectors, n x k.
  subroutine rsvd_symmetric(self, a, lambda, v, info, stream, stat, errmsg)
    class(purlin_rsvd), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a
    type(purlin_tensor), intent(inout) :: lambda
    type(purlin_matrix), intent(inout), optional :: v
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rsvd_symmetric(self%key, stream_key(stream), a%handle(), lambda%handle(), matrix_key(v), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> ||A - U diag(s) V^H||: the Frobenius norm and an upper bound of the spectral one, from random probes; or, with the
  !> option error = PURLIN_RSVD_ERROR_POWER, an estimate of the latter from below.
  subroutine rsvd_error(self, a, u, s, v, frobenius, spectral, info, stream, stat, errmsg)
    class(purlin_rsvd), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a, u, v
    type(purlin_tensor), intent(in) :: s
    real(c_double), intent(out) :: frobenius
    real(c_double), intent(inout), optional :: spectral
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rsvd_error(self%key, stream_key(stream), a%handle(), u%handle(), s%handle(), v%handle(), &
      frobenius, spectral, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> ||A v - s u|| and ||A^H u - s v|| of each triplet.
  subroutine rsvd_residuals(self, a, u, s, v, left, right, info, stream, stat, errmsg)
    class(purlin_rsvd), intent(inout) :: self
    type(purlin_matrix), intent(in) :: a, u, v
    type(purlin_tensor), intent(in) :: s
    type(purlin_tensor), intent(inout) :: left, right
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rsvd_residuals(self%key, stream_key(stream), a%handle(), u%handle(), s%handle(), v%handle(), &
      left%handle(), right%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Fills `omega` with the sketch that options%seed and options%sketch stand for.
  subroutine rsvd_sketch(self, omega, stream, stat, errmsg)
    class(purlin_rsvd), intent(in) :: self
    type(purlin_matrix), intent(inout) :: omega
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_rsvd_sketch(self%key, stream_key(stream), omega%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> The report of the last run that met its tolerance, or ended at the largest rank without.
  subroutine rsvd_last_info(self, info, stat, errmsg)
    class(purlin_rsvd), intent(in) :: self
    type(purlin_rsvd_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_rsvd_last_info(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Makes the running call end with PURLIN_ERROR_CANCELLED, from any thread.
  subroutine rsvd_cancel(self, stat, errmsg)
    class(purlin_rsvd), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_rsvd_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_rsvd.inc'

end module purlin_rsvd_module
