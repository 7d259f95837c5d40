!> Randomized SVD in one call, of matrix objects or of plain arrays. Array sections are taken in place where their columns
!> are contiguous; the forms with leading dimensions take arrays as LAPACK does.
module purlin_rsvd_arrays
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_float, c_double, c_float_complex, c_double_complex, &
    c_int32_t, c_int64_t
  use purlin_types
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  use purlin_matrices
  use purlin_c_rsvd, only: c_rsvd_compute_once
  implicit none
  private
  public :: purlin_rsvd_compute_once, purlin_rsvd_compute_once_ld

  !> The size(s) largest singular triplets of `a`(m, n): `u`(m, k), `s`(k), `v`(n, k). With options%tolerance as many as
  !> that takes, at most size(s); info%rank says how many. Of objects: as `compute` of purlin_rsvd.
  interface purlin_rsvd_compute_once
    module procedure compute_objects, compute_r32, compute_r64, compute_c32, compute_c64
  end interface

  !> The same with columns of `a`, `u` and `v` `lda`, `ldu` and `ldv` elements apart.
  interface purlin_rsvd_compute_once_ld
    module procedure leading_r32, leading_r64, leading_c32, leading_c64
  end interface

  include 'integers/rsvd_arrays_generic.inc'

contains

  subroutine compute_objects(context, a, options, u, s, v, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    type(purlin_rsvd_options), intent(in) :: options
    type(purlin_matrix), intent(inout), optional :: u, v
    type(purlin_tensor), intent(inout), optional :: s
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rsvd_compute_once(context%handle(), stream_key(stream), a%handle(), options, matrix_key(u), &
      tensor_key(s), matrix_key(v), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine compute_r32(context, a, s, u, v, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), target :: a(:, :)
    real(c_float), intent(inout), contiguous, target :: s(:)
    real(c_float), intent(inout), target, optional :: u(:, :), v(:, :)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, left, right
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, a, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'a')
    if (o%status == PURLIN_SUCCESS) call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    if (o%status == PURLIN_SUCCESS .and. present(u)) call left%borrow(context, u, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS .and. present(v)) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
    call run(o, context, given, left, values, right, size(s, kind=c_int64_t), options, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine compute_r64(context, a, s, u, v, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in), target :: a(:, :)
    real(c_double), intent(inout), contiguous, target :: s(:)
    real(c_double), intent(inout), target, optional :: u(:, :), v(:, :)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, left, right
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, a, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'a')
    if (o%status == PURLIN_SUCCESS) call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    if (o%status == PURLIN_SUCCESS .and. present(u)) call left%borrow(context, u, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS .and. present(v)) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
    call run(o, context, given, left, values, right, size(s, kind=c_int64_t), options, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine compute_c32(context, a, s, u, v, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    complex(c_float_complex), intent(in), target :: a(:, :)
    real(c_float), intent(inout), contiguous, target :: s(:)
    complex(c_float_complex), intent(inout), target, optional :: u(:, :), v(:, :)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, left, right
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, a, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'a')
    if (o%status == PURLIN_SUCCESS) call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    if (o%status == PURLIN_SUCCESS .and. present(u)) call left%borrow(context, u, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS .and. present(v)) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
    call run(o, context, given, left, values, right, size(s, kind=c_int64_t), options, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine compute_c64(context, a, s, u, v, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    complex(c_double_complex), intent(in), target :: a(:, :)
    real(c_double), intent(inout), contiguous, target :: s(:)
    complex(c_double_complex), intent(inout), target, optional :: u(:, :), v(:, :)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, left, right
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, a, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'a')
    if (o%status == PURLIN_SUCCESS) call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    if (o%status == PURLIN_SUCCESS .and. present(u)) call left%borrow(context, u, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'u')
    if (o%status == PURLIN_SUCCESS .and. present(v)) call right%borrow(context, v, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'v')
    call run(o, context, given, left, values, right, size(s, kind=c_int64_t), options, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine leading_r32(context, m, n, k, a, lda, s, u, ldu, v, ldv, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: m, n, k, lda, ldu, ldv
    real(c_float), intent(in), target :: a(lda, *)
    real(c_float), intent(inout), target :: s(k)
    real(c_float), intent(inout), target :: u(ldu, *), v(ldv, *)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    call run_leading(o, context, PURLIN_F32, m, n, k, c_loc(a), lda, values, c_loc(u), ldu, c_loc(v), ldv, options, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine leading_r64(context, m, n, k, a, lda, s, u, ldu, v, ldv, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: m, n, k, lda, ldu, ldv
    real(c_double), intent(in), target :: a(lda, *)
    real(c_double), intent(inout), target :: s(k)
    real(c_double), intent(inout), target :: u(ldu, *), v(ldv, *)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    call run_leading(o, context, PURLIN_F64, m, n, k, c_loc(a), lda, values, c_loc(u), ldu, c_loc(v), ldv, options, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine leading_c32(context, m, n, k, a, lda, s, u, ldu, v, ldv, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: m, n, k, lda, ldu, ldv
    complex(c_float_complex), intent(in), target :: a(lda, *)
    real(c_float), intent(inout), target :: s(k)
    complex(c_float_complex), intent(inout), target :: u(ldu, *), v(ldv, *)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    call run_leading(o, context, PURLIN_CF32, m, n, k, c_loc(a), lda, values, c_loc(u), ldu, c_loc(v), ldv, options, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine leading_c64(context, m, n, k, a, lda, s, u, ldu, v, ldv, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: m, n, k, lda, ldu, ldv
    complex(c_double_complex), intent(in), target :: a(lda, *)
    real(c_double), intent(inout), target :: s(k)
    complex(c_double_complex), intent(inout), target :: u(ldu, *), v(ldv, *)
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_tensor) :: values
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call values%borrow(context, s, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 's')
    call run_leading(o, context, PURLIN_CF64, m, n, k, c_loc(a), lda, values, c_loc(u), ldu, c_loc(v), ldv, options, info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Borrows the arrays of the forms with leading dimensions.
  subroutine run_leading(o, context, dtype, m, n, k, a, lda, values, u, ldu, v, ldv, options, info)
    type(outcome), intent(inout) :: o
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: m, n, k, lda, ldu, ldv
    type(c_ptr), intent(in) :: a, u, v
    type(purlin_tensor), intent(inout) :: values
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, left, right
    if (o%status == PURLIN_SUCCESS) call given%borrow_address(context, dtype, m, n, lda, a, PURLIN_READ_ONLY, o%status, &
      o%message)
    call name_sizes(o, 'lda', 'm', 'n')
    if (o%status == PURLIN_SUCCESS) call left%borrow_address(context, dtype, m, k, ldu, u, 0_c_int32_t, o%status, o%message)
    call name_sizes(o, 'ldu', 'm', 'k')
    if (o%status == PURLIN_SUCCESS) call right%borrow_address(context, dtype, n, k, ldv, v, 0_c_int32_t, o%status, o%message)
    call name_sizes(o, 'ldv', 'n', 'k')
    call run(o, context, given, left, values, right, k, options, info)
  end subroutine

  !> Gives the sizes of a matrix their names in the forms with leading dimensions, in the message about one of them.
  subroutine name_sizes(o, ld, rows, cols)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: ld, rows, cols
    integer :: place
    if (o%status == PURLIN_SUCCESS) return
    place = 0
    if (index(o%message, 'ld: ') == 1) place = index(o%message, 'less than rows = ')
    if (place > 0) o%message = o%message(:place + 9) // rows // o%message(place + 14:)
    call name_argument(o, 'ld', ld)
    call name_argument(o, 'rows', rows)
    call name_argument(o, 'cols', cols)
  end subroutine

  !> One decomposition of `width` triplets. A matrix that nobody borrowed is one that is not wanted.
  subroutine run(o, context, a, u, values, v, width, options, info)
    type(outcome), intent(inout) :: o
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    type(purlin_matrix), intent(inout) :: u, v
    type(purlin_tensor), intent(inout) :: values
    integer(c_int64_t), intent(in) :: width
    type(purlin_rsvd_options), intent(in), optional :: options
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_rsvd_options) :: whole
    if (o%status /= PURLIN_SUCCESS) return
    call purlin_init(whole)
    if (present(options)) whole = options
    if (whole%tolerance > 0) then
      if (whole%max_rank == 0) whole%max_rank = width
    else if (whole%rank == 0) then
      whole%rank = width
    end if
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rsvd_compute_once(context%handle(), c_null_ptr, a%handle(), whole, u%handle(), values%handle(), &
      v%handle(), info))
  end subroutine

  include 'integers/rsvd_arrays.inc'
end module purlin_rsvd_arrays
