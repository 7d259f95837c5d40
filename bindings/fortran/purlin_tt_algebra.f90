!> Algebra of tensor trains: results are new trains, which lie where the first operand does. Cores count from 1.
module purlin_tt_algebra_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_double, c_double_complex, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c
  use purlin_c_tt
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tt_cores
  use purlin_tt_module
  use purlin_tt_matrix_module
  implicit none
  private
  public :: purlin_tt_add, purlin_tt_scale, purlin_tt_conj, purlin_tt_hadamard, purlin_tt_apply, purlin_tt_reverse, &
    purlin_tt_rotate, purlin_tt_to_open, purlin_tt_cast, purlin_tt_canonicalize, purlin_tt_round, purlin_tt_hadamard_round, &
    purlin_tt_apply_round

  !> z = alpha x + beta y, exactly: ranks add. Without factors they are 1.
  interface purlin_tt_add
    module procedure add_plain, add_real, add_complex
  end interface

  !> z = factor 2**exponent x.
  interface purlin_tt_scale
    module procedure scale_real, scale_complex, scale_real_short, scale_complex_short
  end interface

  !> z is x, whose first core is core `first` of the ring.
  interface purlin_tt_rotate
    module procedure rotate_wide
  end interface

  !> z is x with the norm in core `centre` and orthonormal cores on both sides.
  interface purlin_tt_canonicalize
    module procedure canonicalize_wide, canonicalize_short
  end interface

  include 'integers/tt_algebra_generic.inc'

contains

  subroutine add_plain(x, y, z, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_add(tt_context(x), stream_key(stream), [1.0_c_double, 0.0_c_double], x%handle(), &
      [1.0_c_double, 0.0_c_double], y%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine add_real(alpha, x, beta, y, z, stream, stat, errmsg)
    real(c_double), intent(in) :: alpha, beta
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_add(tt_context(x), stream_key(stream), [alpha, 0.0_c_double], x%handle(), &
      [beta, 0.0_c_double], y%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine add_complex(alpha, x, beta, y, z, stream, stat, errmsg)
    complex(c_double_complex), intent(in) :: alpha, beta
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_add(tt_context(x), stream_key(stream), [real(alpha), aimag(alpha)], x%handle(), &
      [real(beta), aimag(beta)], y%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine scale_real(factor, x, z, exponent, spread, stream, stat, errmsg)
    real(c_double), intent(in) :: factor
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    integer(c_int64_t), intent(in), optional :: exponent
    integer(c_int32_t), intent(in), optional :: spread
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    integer(c_int64_t) :: power
    type(outcome) :: o
    power = 0
    if (present(exponent)) power = exponent
    key = c_null_ptr
    call absorb(o, c_tt_scale(tt_context(x), stream_key(stream), x%handle(), [factor, 0.0_c_double], power, &
      either(spread, PURLIN_TT_SPREAD_AUTO), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine scale_real_short(factor, x, z, exponent, spread, stream, stat, errmsg)
    real(c_double), intent(in) :: factor
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(in) :: exponent
    integer(c_int32_t), intent(in), optional :: spread
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call scale_real(factor, x, z, int(exponent, c_int64_t), spread, stream, stat, errmsg)
  end subroutine

  subroutine scale_complex(factor, x, z, exponent, spread, stream, stat, errmsg)
    complex(c_double_complex), intent(in) :: factor
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    integer(c_int64_t), intent(in), optional :: exponent
    integer(c_int32_t), intent(in), optional :: spread
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    integer(c_int64_t) :: power
    type(outcome) :: o
    power = 0
    if (present(exponent)) power = exponent
    key = c_null_ptr
    call absorb(o, c_tt_scale(tt_context(x), stream_key(stream), x%handle(), [real(factor), aimag(factor)], power, &
      either(spread, PURLIN_TT_SPREAD_AUTO), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine scale_complex_short(factor, x, z, exponent, spread, stream, stat, errmsg)
    complex(c_double_complex), intent(in) :: factor
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(in) :: exponent
    integer(c_int32_t), intent(in), optional :: spread
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call scale_complex(factor, x, z, int(exponent, c_int64_t), spread, stream, stat, errmsg)
  end subroutine

  !> The complex conjugate.
  subroutine purlin_tt_conj(x, z, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_conj(tt_context(x), stream_key(stream), x%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> The train read backwards.
  subroutine purlin_tt_reverse(x, z, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_reverse(tt_context(x), stream_key(stream), x%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> The open train of a ring, exactly: ranks multiply by that of the boundary.
  subroutine purlin_tt_to_open(x, z, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_to_open(tt_context(x), stream_key(stream), x%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> The product entry by entry: ranks multiply.
  subroutine purlin_tt_hadamard(x, y, z, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_hadamard(tt_context(x), stream_key(stream), x%handle(), y%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> z = H x: ranks multiply.
  subroutine purlin_tt_apply(h, x, z, stream, stat, errmsg)
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_apply(tt_context(x), stream_key(stream), h%handle(), x%handle(), key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> The ring that begins with core `first`.
  subroutine rotate_wide(x, first, z, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    integer(c_int64_t), intent(in) :: first
    type(purlin_tt), intent(inout) :: z
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_rotate(tt_context(x), stream_key(stream), x%handle(), first - 1, key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> A copy of another type.
  subroutine purlin_tt_cast(x, dtype, z, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(in) :: dtype
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_cast(tt_context(x), stream_key(stream), x%handle(), dtype, key))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> The same with both integers of 32 bits; an exponent that does not fit is refused.
  subroutine canonicalize_short(x, centre, z, exponent, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(in) :: centre
    integer(c_int32_t), intent(out) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    integer(c_int64_t) :: power
    type(outcome) :: o
    power = 0
    exponent = 0
    key = c_null_ptr
    call absorb(o, c_tt_canonicalize(tt_context(x), stream_key(stream), x%handle(), int(centre, c_int64_t) - 1, power, key))
    call tt_adopt(z, tt_context(x), key, o)
    call narrow(o, 'exponent', power, exponent)
    call finish(o, stat, errmsg)
  end subroutine

  !> Orthonormal cores but for `centre`; z 2**exponent is the train.
  subroutine canonicalize_wide(x, centre, z, exponent, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    integer(c_int64_t), intent(in) :: centre
    integer(c_int64_t), intent(out), optional :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    integer(c_int64_t) :: power
    type(outcome) :: o
    power = 0
    key = c_null_ptr
    call absorb(o, c_tt_canonicalize(tt_context(x), stream_key(stream), x%handle(), centre - 1, power, key))
    call tt_adopt(z, tt_context(x), key, o)
    if (present(exponent)) exponent = power
    call finish(o, stat, errmsg)
  end subroutine

  !> The train of smallest ranks within options%epsilon of x; `discarded`(d - 1) is the norm of the part dropped at each
  !> bond, over the norm of x.
  subroutine purlin_tt_round(x, z, options, info, discarded, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    type(purlin_tt_round_info), intent(inout), optional :: info
    real(c_double), intent(inout), contiguous, target, optional :: discarded(:)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key, parts
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    parts = c_null_ptr
    if (present(discarded)) call core_tensor(o, tt_context(x), PURLIN_F64, 0_c_int32_t, shape(discarded, kind=c_int64_t), .true., &
      c_loc(discarded), parts)
    key = c_null_ptr
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_round(tt_context(x), stream_key(stream), x%handle(), options, key, &
      parts, info))
    call absorb(o, c_tensor_destroy(parts))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> z = x y entry by entry, of open trains, truncated without its cores together in memory.
  subroutine purlin_tt_hadamard_round(x, y, z, options, info, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    type(purlin_tt_round_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    key = c_null_ptr
    call absorb(o, c_tt_hadamard_round(tt_context(x), stream_key(stream), x%handle(), y%handle(), options, &
      key, info))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> z = H x, truncated without its cores together in memory.
  subroutine purlin_tt_apply_round(h, x, z, options, info, stream, stat, errmsg)
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt), intent(in) :: x
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    type(purlin_tt_round_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    key = c_null_ptr
    call absorb(o, c_tt_apply_round(tt_context(x), stream_key(stream), h%handle(), x%handle(), options, key, &
      info))
    call tt_adopt(z, tt_context(x), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/tt_algebra.inc'
end module purlin_tt_algebra_module
