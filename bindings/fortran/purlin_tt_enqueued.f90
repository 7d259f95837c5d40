!> Contractions of tensor trains that wait for nothing, as `contraction%enqueue_inner`: in stream order `result`, four
!> real(real64) on the device, gets real and imaginary part of the mantissa, exponent and outcome. `info` says how much
!> workspace the call needs; without `result` it does nothing else.
module purlin_tt_enqueued_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_int32_t
  use purlin_types
  use purlin_c_tt_enqueue
  use purlin_library
  use purlin_execution
  use purlin_tensors
  use purlin_tt_cores, only: tt_cut_from_one
  use purlin_tt_module
  use purlin_tt_matrix_module
  use purlin_tt_contraction_module
  implicit none
  private
  public :: purlin_tt_enqueue_norm, purlin_tt_enqueue_distance, purlin_tt_enqueue_sandwich, purlin_tt_enqueue_rayleigh

contains

  !> The norm of a train.
  subroutine purlin_tt_enqueue_norm(contraction, x, info, result, stream, stat, errmsg)
    type(purlin_tt_contraction), intent(inout) :: contraction
    type(purlin_tt), intent(in) :: x
    type(purlin_tt_contraction_info), intent(inout) :: info
    type(purlin_tensor), intent(in), optional :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_norm_enqueue(contraction%handle(), stream_key(stream), x%handle(), place(result), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> The norm of x - y.
  subroutine purlin_tt_enqueue_distance(contraction, x, y, info, result, stream, stat, errmsg)
    type(purlin_tt_contraction), intent(inout) :: contraction
    type(purlin_tt), intent(in) :: x, y
    type(purlin_tt_contraction_info), intent(inout) :: info
    type(purlin_tensor), intent(in), optional :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_distance_enqueue(contraction%handle(), stream_key(stream), x%handle(), y%handle(), &
      place(result), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> <y|H|x>; the operator's numbers go along.
  subroutine purlin_tt_enqueue_sandwich(contraction, y, h, x, info, result, stream, stat, errmsg)
    type(purlin_tt_contraction), intent(inout) :: contraction
    type(purlin_tt), intent(in) :: y, x
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt_contraction_info), intent(inout) :: info
    type(purlin_tensor), intent(in), optional :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_sandwich_enqueue(contraction%handle(), stream_key(stream), y%handle(), h%handle(), x%handle(), &
      place(result), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> <x|H|x> / <x|x>.
  subroutine purlin_tt_enqueue_rayleigh(contraction, h, x, info, result, stream, stat, errmsg)
    type(purlin_tt_contraction), intent(inout) :: contraction
    type(purlin_tt_matrix), intent(in) :: h
    type(purlin_tt), intent(in) :: x
    type(purlin_tt_contraction_info), intent(inout) :: info
    type(purlin_tensor), intent(in), optional :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_rayleigh_enqueue(contraction%handle(), stream_key(stream), h%handle(), x%handle(), &
      place(result), info))
    call tt_cut_from_one(info)
    call finish(o, stat, errmsg)
  end subroutine

  !> Where a result goes.
  function place(result) result(key)
    type(purlin_tensor), intent(in), optional :: result
    type(c_ptr) :: key
    key = c_null_ptr
    if (present(result)) key = result%handle()
  end function
end module purlin_tt_enqueued_module
