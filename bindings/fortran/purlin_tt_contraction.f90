!> Contractions of tensor trains: inner products, norms, expectation values. Ownership and copies: as for purlin_context.
!> Plain results are of kind real64; a real one is the real part, which is all where the trains are real.
module purlin_tt_contraction_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_double, c_double_complex, c_int32_t, &
    c_int64_t
  use purlin_types
  use purlin_c
  use purlin_c_tt
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors, only: purlin_tensor
  use purlin_tt_cores
  use purlin_tt_module
  use purlin_tt_matrix_module
  implicit none
  private
  public :: purlin_tt_contraction, expect_real_numbers

  !> Options on a context, for trains of any shape: calls of the same shapes plan and allocate once.
  type :: purlin_tt_contraction
    private
    type(c_ptr) :: key = c_null_ptr
    type(c_ptr) :: context = c_null_ptr
  contains
    procedure :: create => contraction_create
    procedure :: last_info => contraction_last_info
    procedure, private :: inner_real, inner_complex, inner_scaled
    !> <x|y>, x conjugated: a real(real64), a complex(real64) or a purlin_tt_scaled.
    generic :: inner => inner_real, inner_complex, inner_scaled
    procedure :: set_workspace => contraction_set_workspace
    procedure :: enqueue_inner => contraction_enqueue_inner
    procedure, private :: norm_real, norm_scaled
    !> The norm of a train: a real(real64) or a purlin_tt_scaled.
    generic :: norm => norm_real, norm_scaled
    procedure, private :: distance_real, distance_scaled
    !> The norm of x - y, which keeps its digits where they nearly agree.
    generic :: distance => distance_real, distance_scaled
    procedure, private :: batch_real, batch_complex
    !> <x_k|y_k> of many pairs in one call.
    generic :: inner_batch => batch_real, batch_complex
    procedure, private :: gram_real, gram_complex
    !> The matrix of all <x_i|y_j>; of x with itself without `y`.
    generic :: gram => gram_real, gram_complex
    procedure, private :: sandwich_real, sandwich_complex, sandwich_scaled
    !> <y|H|x>, y conjugated: likewise.
    generic :: sandwich => sandwich_real, sandwich_complex, sandwich_scaled
    procedure, private :: rayleigh_real, rayleigh_complex
    !> <x|H|x> / <x|x>.
    generic :: rayleigh => rayleigh_real, rayleigh_complex
    procedure, private :: expect_real, expect_complex
    !> <x|A_k|x> / <x|x> at sites k.
    generic :: expect_local => expect_real, expect_complex
    procedure, private :: correlation_real, correlation_complex
    !> <x|A_k B_l|x> / <x|x> for all sites k and l.
    generic :: correlation => correlation_real, correlation_complex
    procedure :: cancel => contraction_cancel
    include 'integers/tt_contraction_bound.inc'
    include 'generated/object_tt_contraction_bound.inc'
  end type

contains

  subroutine contraction_create(self, context, options, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_tt_contraction_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_tt_contraction_options) :: given
    type(outcome) :: o
    call drop_tt_contraction(self, o)
    call tt_cut_from_zero(o, options, given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_contraction_create(context%handle(), given, self%key))
    self%context = context%handle()
    call finish(o, stat, errmsg)
  end subroutine

  subroutine inner_real(self, x, y, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x, y
    real(c_double), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    ! A refused call leaves the result as it is.
    parts = [result, 0.0_c_double]
    call expect_real_numbers(o, any([tt_is_complex(x), tt_is_complex(y)]))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_inner(self%key, stream_key(stream), x%handle(), y%handle(), &
      parts, info))
    call tt_cut_from_one(info)
    result = parts(1)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine inner_complex(self, x, y, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x, y
    complex(c_double_complex), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    parts = [real(result, c_double), aimag(result)]
    call absorb(o, c_tt_inner(self%key, stream_key(stream), x%handle(), y%handle(), &
      parts, info))
    call tt_cut_from_one(info)
    result = cmplx(parts(1), parts(2), c_double)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine inner_scaled(self, x, y, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt_scaled), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_tt_inner_scaled(self%key, stream_key(stream), x%handle(), y%handle(), result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Sets the device memory, by its address, that enqueued calls use as their workspace; 0 for none.
  subroutine contraction_set_workspace(self, memory, bytes, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    integer(c_int64_t), intent(in) :: memory, bytes
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_contraction_set_workspace(self%key, memory, bytes))
    call finish(o, stat, errmsg)
  end subroutine

  !> Enqueues <x|y>: in stream order `result`, four real(real64) on the device, gets real and imaginary part of the
  !> mantissa, exponent and outcome. Nothing waits, so a graph may capture it. Without `result`, info%workspace_bytes alone.
  subroutine contraction_enqueue_inner(self, x, y, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tensor), intent(in), optional :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    place = c_null_ptr
    if (present(result)) place = result%handle()
    call absorb(o, c_tt_inner_enqueue(self%key, stream_key(stream), x%handle(), y%handle(), place, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine norm_real(self, x, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x
    real(c_double), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_tt_norm(self%key, stream_key(stream), x%handle(), result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine norm_scaled(self, x, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x
    type(purlin_tt_scaled), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_tt_norm_scaled(self%key, stream_key(stream), x%handle(), result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine distance_real(self, x, y, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x, y
    real(c_double), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_tt_distance(self%key, stream_key(stream), x%handle(), y%handle(), result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine distance_scaled(self, x, y, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt_scaled), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_tt_distance_scaled(self%key, stream_key(stream), x%handle(), y%handle(), result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  include 'purlin_tt_contraction_lists.inc'

  subroutine sandwich_real(self, y, h, x, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: y, x
    type(purlin_tt_matrix), intent(in) :: h
    real(c_double), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    parts = [result, 0.0_c_double]
    call expect_real_numbers(o, any([tt_is_complex(y), tt_is_complex(x), tt_matrix_is_complex(h)]))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_sandwich(self%key, stream_key(stream), y%handle(), &
      h%handle(), x%handle(), parts, info))
    call tt_cut_from_one(info)
    result = parts(1)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine sandwich_complex(self, y, h, x, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: y, x
    type(purlin_tt_matrix), intent(in) :: h
    complex(c_double_complex), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    parts = [real(result, c_double), aimag(result)]
    call absorb(o, c_tt_sandwich(self%key, stream_key(stream), y%handle(), &
      h%handle(), x%handle(), parts, info))
    call tt_cut_from_one(info)
    result = cmplx(parts(1), parts(2), c_double)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine sandwich_scaled(self, y, h, x, result, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: y, x
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt_scaled), intent(inout) :: result
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_tt_sandwich_scaled(self%key, stream_key(stream), y%handle(), h%handle(), x%handle(), &
      result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> A real quotient is the real part: all of it for a Hermitian operator, also where the numbers are complex.
  subroutine rayleigh_real(self, h, x, result, numerator, denominator, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt), intent(in) :: x
    real(c_double), intent(inout) :: result
    type(purlin_tt_scaled), intent(inout), optional :: numerator, denominator
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    parts = [result, 0.0_c_double]
    call absorb(o, c_tt_rayleigh(self%key, stream_key(stream), h%handle(), x%handle(), parts, numerator, &
      denominator, info))
    call tt_cut_from_one(info)
    result = parts(1)
    call finish(o, stat, errmsg)
  end subroutine

  !> Its imaginary part is a check of the operator.
  subroutine rayleigh_complex(self, h, x, result, numerator, denominator, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt), intent(in) :: x
    complex(c_double_complex), intent(inout) :: result
    type(purlin_tt_scaled), intent(inout), optional :: numerator, denominator
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    parts = [real(result, c_double), aimag(result)]
    call absorb(o, c_tt_rayleigh(self%key, stream_key(stream), h%handle(), x%handle(), parts, numerator, &
      denominator, info))
    call tt_cut_from_one(info)
    result = cmplx(parts(1), parts(2), c_double)
    call finish(o, stat, errmsg)
  end subroutine

  !> `op`(n, n) at each of `sites`(:), which count from 1.
  subroutine expect_real(self, x, op, sites, values, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x
    real(c_double), intent(in), contiguous, target :: op(:, :)
    integer(c_int64_t), intent(in) :: sites(:)
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given, found
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call core_tensor(o, self%context, PURLIN_F64, PURLIN_READ_ONLY, shape(op, kind=c_int64_t), .true., c_loc(op), given)
    call core_tensor(o, self%context, PURLIN_F64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_expect_local(self%key, stream_key(stream), x%handle(), given, &
      size(sites, kind=c_int64_t), sites - 1, found, info))
    call tt_cut_from_one(info)
    call absorb(o, c_tensor_destroy(found))
    call absorb(o, c_tensor_destroy(given))
    call finish(o, stat, errmsg)
  end subroutine

  !> `op`(n, n) at each of `sites`(:), which count from 1.
  subroutine expect_complex(self, x, op, sites, values, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x
    complex(c_double_complex), intent(in), contiguous, target :: op(:, :)
    integer(c_int64_t), intent(in) :: sites(:)
    complex(c_double_complex), intent(inout), contiguous, target :: values(:)
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given, found
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call core_tensor(o, self%context, PURLIN_CF64, PURLIN_READ_ONLY, shape(op, kind=c_int64_t), .true., c_loc(op), given)
    call core_tensor(o, self%context, PURLIN_CF64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_expect_local(self%key, stream_key(stream), x%handle(), given, &
      size(sites, kind=c_int64_t), sites - 1, found, info))
    call tt_cut_from_one(info)
    call absorb(o, c_tensor_destroy(found))
    call absorb(o, c_tensor_destroy(given))
    call finish(o, stat, errmsg)
  end subroutine

  !> `a`(n, n) and `b`(n, n) at all pairs of sites: `values`(d, d).
  subroutine correlation_real(self, x, a, b, values, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x
    real(c_double), intent(in), contiguous, target :: a(:, :), b(:, :)
    real(c_double), intent(inout), contiguous, target :: values(:, :)
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: left, right, found
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call core_tensor(o, self%context, PURLIN_F64, PURLIN_READ_ONLY, shape(a, kind=c_int64_t), .true., c_loc(a), left)
    call core_tensor(o, self%context, PURLIN_F64, PURLIN_READ_ONLY, shape(b, kind=c_int64_t), .true., c_loc(b), right)
    call core_tensor(o, self%context, PURLIN_F64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_correlation(self%key, stream_key(stream), &
      x%handle(), left, right, found, info))
    call tt_cut_from_one(info)
    call absorb(o, c_tensor_destroy(found))
    call absorb(o, c_tensor_destroy(right))
    call absorb(o, c_tensor_destroy(left))
    call finish(o, stat, errmsg)
  end subroutine

  !> `a`(n, n) and `b`(n, n) at all pairs of sites: `values`(d, d).
  subroutine correlation_complex(self, x, a, b, values, info, stream, stat, errmsg)
    class(purlin_tt_contraction), intent(inout) :: self
    type(purlin_tt), intent(in) :: x
    complex(c_double_complex), intent(in), contiguous, target :: a(:, :), b(:, :)
    complex(c_double_complex), intent(inout), contiguous, target :: values(:, :)
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: left, right, found
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call core_tensor(o, self%context, PURLIN_CF64, PURLIN_READ_ONLY, shape(a, kind=c_int64_t), .true., c_loc(a), left)
    call core_tensor(o, self%context, PURLIN_CF64, PURLIN_READ_ONLY, shape(b, kind=c_int64_t), .true., c_loc(b), right)
    call core_tensor(o, self%context, PURLIN_CF64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_correlation(self%key, stream_key(stream), &
      x%handle(), left, right, found, info))
    call tt_cut_from_one(info)
    call absorb(o, c_tensor_destroy(found))
    call absorb(o, c_tensor_destroy(right))
    call absorb(o, c_tensor_destroy(left))
    call finish(o, stat, errmsg)
  end subroutine

  !> The report of the last call that gave one; plans and environments give none.
  subroutine contraction_last_info(self, info, stat, errmsg)
    class(purlin_tt_contraction), intent(in) :: self
    type(purlin_tt_contraction_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_contraction_last_info(self%key, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Makes the running call end with PURLIN_ERROR_CANCELLED, from any thread.
  subroutine contraction_cancel(self, stat, errmsg)
    class(purlin_tt_contraction), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_contraction_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_tt_contraction.inc'

  !> Refuses a real result for numbers that may be complex.
  subroutine expect_real_numbers(o, complex_numbers)
    type(outcome), intent(inout) :: o
    logical, intent(in) :: complex_numbers
    if (complex_numbers) call refuse(o, 'result: is real, the numbers are complex')
  end subroutine

  include 'integers/tt_contraction.inc'
end module purlin_tt_contraction_module
