!> Inner products, norms and distances of tensor trains without an object: each call makes a contraction for itself.
module purlin_tt_once_module
  use, intrinsic :: iso_c_binding, only: c_double, c_double_complex, c_int32_t
  use purlin_types
  use purlin_c_tt_once
  use purlin_library
  use purlin_execution
  use purlin_tt_cores, only: tt_cut_from_one, tt_cut_from_zero
  use purlin_tt_module
  use purlin_tt_contraction_module, only: expect_real_numbers
  implicit none
  private
  public :: purlin_tt_inner_once, purlin_tt_norm_once, purlin_tt_distance_once

  !> As contraction%inner: a real(real64) or a complex(real64).
  interface purlin_tt_inner_once
    module procedure inner_once_real, inner_once_complex
  end interface

contains

  !> The inner product as real and imaginary part. With `is_real` complex trains are refused.
  subroutine inner_parts(o, context, x, y, parts, is_real, options, info, stream)
    type(outcome), intent(inout) :: o
    type(purlin_context), intent(in) :: context
    type(purlin_tt), intent(in) :: x, y
    real(c_double), intent(inout) :: parts(2)
    logical, intent(in) :: is_real
    type(purlin_tt_contraction_options), intent(in), optional :: options
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_tt_contraction_options) :: given
    if (present(info)) call purlin_init(info)
    call tt_cut_from_zero(o, options, given)
    if (is_real) call expect_real_numbers(o, any([tt_is_complex(x), tt_is_complex(y)]))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_inner_once(context%handle(), stream_key(stream), x%handle(), &
      y%handle(), given, parts, info))
    call tt_cut_from_one(info)
  end subroutine

  subroutine inner_once_real(context, x, y, result, options, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tt), intent(in) :: x, y
    real(c_double), intent(inout) :: result
    type(purlin_tt_contraction_options), intent(in), optional :: options
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    parts = [result, 0.0_c_double]
    call inner_parts(o, context, x, y, parts, .true., options, info, stream)
    result = parts(1)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine inner_once_complex(context, x, y, result, options, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tt), intent(in) :: x, y
    complex(c_double_complex), intent(inout) :: result
    type(purlin_tt_contraction_options), intent(in), optional :: options
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    parts = [real(result, c_double), aimag(result)]
    call inner_parts(o, context, x, y, parts, .false., options, info, stream)
    result = cmplx(parts(1), parts(2), c_double)
    call finish(o, stat, errmsg)
  end subroutine

  !> As contraction%norm.
  subroutine purlin_tt_norm_once(context, x, result, options, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tt), intent(in) :: x
    real(c_double), intent(inout) :: result
    type(purlin_tt_contraction_options), intent(in), optional :: options
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_tt_contraction_options) :: given
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call tt_cut_from_zero(o, options, given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_norm_once(context%handle(), stream_key(stream), x%handle(), &
      given, result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> As contraction%distance.
  subroutine purlin_tt_distance_once(context, x, y, result, options, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tt), intent(in) :: x, y
    real(c_double), intent(inout) :: result
    type(purlin_tt_contraction_options), intent(in), optional :: options
    type(purlin_tt_contraction_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_tt_contraction_options) :: given
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call tt_cut_from_zero(o, options, given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_distance_once(context%handle(), stream_key(stream), x%handle(), &
      y%handle(), given, result, info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine
end module purlin_tt_once_module
