!> Tensor trains made of nothing or of dense tensors, and their entries. Indices count from 1.
module purlin_tt_entries_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_float, c_double, c_float_complex, &
    c_double_complex, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c
  use purlin_c_tt
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tt_cores
  use purlin_tt_module
  implicit none
  private
  public :: purlin_tt_random, purlin_tt_zeros, purlin_tt_ones, purlin_tt_product_state, purlin_tt_element, &
    purlin_tt_elements, purlin_tt_full, purlin_tt_svd

  !> Normally distributed cores of `modes`(d) and `ranks`(d + 1), such that the squared norm is 1 in the mean.
  interface purlin_tt_random
    module procedure random_wide
  end interface

  !> The tensor of zeros, ranks 1.
  interface purlin_tt_zeros
    module procedure zeros_wide
  end interface

  !> The tensor of ones, ranks 1.
  interface purlin_tt_ones
    module procedure ones_wide
  end interface

  !> The product state of vectors one after another: `vectors`(sum of modes).
  interface purlin_tt_product_state
    module procedure product_r32, product_r64, product_c32, product_c64
  end interface

  !> The entry at index(d), from 1.
  interface purlin_tt_element
    module procedure element_real, element_complex
  end interface

  !> The entries at indices(d, count), from 1.
  interface purlin_tt_elements
    module procedure elements_real, elements_complex
  end interface

  !> The dense tensor: an array of the mode sizes, or of as many elements.
  interface purlin_tt_full
    module procedure full_r32, full_r64, full_c32, full_c64
  end interface

  !> The train of a dense tensor, of the smallest ranks that the options allow: of an array, or of its elements taken with
  !> other mode sizes.
  interface purlin_tt_svd
    module procedure svd_r32, svd_r64, svd_c32, svd_c64
  end interface

  include 'integers/tt_entries_generic.inc'

contains

  !> Normally distributed cores, such that the squared norm is 1 in the mean.
  subroutine random_wide(context, dtype, modes, ranks, seed, z, location, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: modes(:), ranks(:), seed
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(in), optional :: location
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call one_more_rank(o, size(modes), size(ranks))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_random(context%handle(), dtype, either(location, PURLIN_HOST), &
      size(modes, kind=c_int64_t), modes, ranks, seed, key))
    call tt_adopt(z, context%handle(), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> All entries are 0.
  subroutine zeros_wide(context, dtype, modes, z, location, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: modes(:)
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(in), optional :: location
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_zeros(context%handle(), dtype, either(location, PURLIN_HOST), size(modes, kind=c_int64_t), modes, &
      key))
    call tt_adopt(z, context%handle(), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  !> All entries are 1.
  subroutine ones_wide(context, dtype, modes, z, location, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: modes(:)
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(in), optional :: location
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key
    type(outcome) :: o
    key = c_null_ptr
    call absorb(o, c_tt_ones(context%handle(), dtype, either(location, PURLIN_HOST), size(modes, kind=c_int64_t), modes, &
      key))
    call tt_adopt(z, context%handle(), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine product_r32(context, modes, vectors, z, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:)
    real(c_float), intent(in), contiguous, target :: vectors(:)
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key, given
    type(outcome) :: o
    key = c_null_ptr
    call core_tensor(o, context%handle(), PURLIN_F32, PURLIN_READ_ONLY, shape(vectors, kind=c_int64_t), .true., c_loc(vectors), &
      given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_product_state(context%handle(), size(modes, kind=c_int64_t), &
      modes, given, key))
    call absorb(o, c_tensor_destroy(given))
    call tt_adopt(z, context%handle(), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine product_r64(context, modes, vectors, z, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:)
    real(c_double), intent(in), contiguous, target :: vectors(:)
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key, given
    type(outcome) :: o
    key = c_null_ptr
    call core_tensor(o, context%handle(), PURLIN_F64, PURLIN_READ_ONLY, shape(vectors, kind=c_int64_t), .true., c_loc(vectors), &
      given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_product_state(context%handle(), size(modes, kind=c_int64_t), &
      modes, given, key))
    call absorb(o, c_tensor_destroy(given))
    call tt_adopt(z, context%handle(), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine product_c32(context, modes, vectors, z, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:)
    complex(c_float_complex), intent(in), contiguous, target :: vectors(:)
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key, given
    type(outcome) :: o
    key = c_null_ptr
    call core_tensor(o, context%handle(), PURLIN_CF32, PURLIN_READ_ONLY, shape(vectors, kind=c_int64_t), .true., c_loc(vectors), &
      given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_product_state(context%handle(), size(modes, kind=c_int64_t), &
      modes, given, key))
    call absorb(o, c_tensor_destroy(given))
    call tt_adopt(z, context%handle(), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine product_c64(context, modes, vectors, z, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:)
    complex(c_double_complex), intent(in), contiguous, target :: vectors(:)
    type(purlin_tt), intent(inout) :: z
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: key, given
    type(outcome) :: o
    key = c_null_ptr
    call core_tensor(o, context%handle(), PURLIN_CF64, PURLIN_READ_ONLY, shape(vectors, kind=c_int64_t), .true., c_loc(vectors), &
      given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_product_state(context%handle(), size(modes, kind=c_int64_t), &
      modes, given, key))
    call absorb(o, c_tensor_destroy(given))
    call tt_adopt(z, context%handle(), key, o)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine element_real(x, index, result, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    integer(c_int64_t), intent(in) :: index(:)
    real(c_double), intent(inout) :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    if (tt_is_complex(x)) call refuse(o, 'result: is real, the train is complex')
    call one_index_a_core(o, x, size(index))
    parts = [result, 0.0_c_double]
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_element(tt_context(x), stream_key(stream), x%handle(), index - 1, parts))
    call name_argument(o, 'indices', 'index')
    result = parts(1)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine element_complex(x, index, result, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    integer(c_int64_t), intent(in) :: index(:)
    complex(c_double_complex), intent(inout) :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2)
    type(outcome) :: o
    call one_index_a_core(o, x, size(index))
    parts = [real(result, c_double), aimag(result)]
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_element(tt_context(x), stream_key(stream), x%handle(), index - 1, parts))
    call name_argument(o, 'indices', 'index')
    result = cmplx(parts(1), parts(2), c_double)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine elements_real(x, indices, values, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    integer(c_int64_t), intent(in) :: indices(:, :)
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    type(outcome) :: o
    if (tt_is_complex(x)) call refuse(o, 'values: are real, the train is complex')
    call one_index_a_core(o, x, size(indices, 1))
    call core_tensor(o, tt_context(x), PURLIN_F64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_elements(tt_context(x), stream_key(stream), x%handle(), &
      size(indices, 2, kind=c_int64_t), indices - 1, found))
    call absorb(o, c_tensor_destroy(found))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine elements_complex(x, indices, values, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    integer(c_int64_t), intent(in) :: indices(:, :)
    complex(c_double_complex), intent(inout), contiguous, target :: values(:)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    type(outcome) :: o
    call one_index_a_core(o, x, size(indices, 1))
    call core_tensor(o, tt_context(x), PURLIN_CF64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_elements(tt_context(x), stream_key(stream), x%handle(), &
      size(indices, 2, kind=c_int64_t), indices - 1, found))
    call absorb(o, c_tensor_destroy(found))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine full_r32(x, values, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    real(c_float), intent(inout), contiguous, target :: values(..)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    type(outcome) :: o
    call core_tensor(o, tt_context(x), PURLIN_F32, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_full(tt_context(x), stream_key(stream), x%handle(), found))
    call absorb(o, c_tensor_destroy(found))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine full_r64(x, values, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    real(c_double), intent(inout), contiguous, target :: values(..)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    type(outcome) :: o
    call core_tensor(o, tt_context(x), PURLIN_F64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_full(tt_context(x), stream_key(stream), x%handle(), found))
    call absorb(o, c_tensor_destroy(found))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine full_c32(x, values, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    complex(c_float_complex), intent(inout), contiguous, target :: values(..)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    type(outcome) :: o
    call core_tensor(o, tt_context(x), PURLIN_CF32, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_full(tt_context(x), stream_key(stream), x%handle(), found))
    call absorb(o, c_tensor_destroy(found))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine full_c64(x, values, stream, stat, errmsg)
    type(purlin_tt), intent(in) :: x
    complex(c_double_complex), intent(inout), contiguous, target :: values(..)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    type(outcome) :: o
    call core_tensor(o, tt_context(x), PURLIN_CF64, 0_c_int32_t, shape(values, kind=c_int64_t), .true., c_loc(values), found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_full(tt_context(x), stream_key(stream), x%handle(), found))
    call absorb(o, c_tensor_destroy(found))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine svd_r32(context, values, z, options, modes, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), contiguous, target :: values(..)
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    integer(c_int64_t), intent(in), optional :: modes(:)
    type(purlin_tt_round_info), intent(inout), optional :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    type(outcome) :: o
    call core_tensor(o, context%handle(), PURLIN_F32, PURLIN_READ_ONLY, shape(values, kind=c_int64_t), .true., c_loc(values), &
      given)
    call decompose(o, context, given, z, options, modes, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine svd_r64(context, values, z, options, modes, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in), contiguous, target :: values(..)
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    integer(c_int64_t), intent(in), optional :: modes(:)
    type(purlin_tt_round_info), intent(inout), optional :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    type(outcome) :: o
    call core_tensor(o, context%handle(), PURLIN_F64, PURLIN_READ_ONLY, shape(values, kind=c_int64_t), .true., c_loc(values), &
      given)
    call decompose(o, context, given, z, options, modes, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine svd_c32(context, values, z, options, modes, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    complex(c_float_complex), intent(in), contiguous, target :: values(..)
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    integer(c_int64_t), intent(in), optional :: modes(:)
    type(purlin_tt_round_info), intent(inout), optional :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    type(outcome) :: o
    call core_tensor(o, context%handle(), PURLIN_CF32, PURLIN_READ_ONLY, shape(values, kind=c_int64_t), .true., c_loc(values), &
      given)
    call decompose(o, context, given, z, options, modes, info)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine svd_c64(context, values, z, options, modes, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    complex(c_double_complex), intent(in), contiguous, target :: values(..)
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    integer(c_int64_t), intent(in), optional :: modes(:)
    type(purlin_tt_round_info), intent(inout), optional :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    type(outcome) :: o
    call core_tensor(o, context%handle(), PURLIN_CF64, PURLIN_READ_ONLY, shape(values, kind=c_int64_t), .true., c_loc(values), &
      given)
    call decompose(o, context, given, z, options, modes, info)
    call finish(o, stat, errmsg)
  end subroutine

  !> The common part of every `svd`, for a tensor over its array, which it destroys.
  subroutine decompose(o, context, given, z, options, modes, info)
    type(outcome), intent(inout) :: o
    type(purlin_context), intent(in) :: context
    type(c_ptr), intent(in) :: given
    type(purlin_tt), intent(inout) :: z
    type(purlin_tt_round_options), intent(in), optional :: options
    integer(c_int64_t), intent(in), optional :: modes(:)
    type(purlin_tt_round_info), intent(inout), optional :: info
    integer(c_int64_t), allocatable :: sizes(:)
    type(c_ptr) :: key
    if (present(info)) call purlin_init(info)
    allocate (sizes(0))
    if (present(modes)) sizes = modes
    key = c_null_ptr
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_svd(context%handle(), c_null_ptr, given, &
      size(sizes, kind=c_int64_t), sizes, options, key, c_null_ptr, info))
    call absorb(o, c_tensor_destroy(given))
    call tt_adopt(z, context%handle(), key, o)
  end subroutine

  subroutine one_index_a_core(o, x, count)
    type(outcome), intent(inout) :: o
    type(purlin_tt), intent(in) :: x
    integer, intent(in) :: count
    type(purlin_tt_info) :: info
    character(96) :: text
    call purlin_init(info)
    call absorb(o, c_tt_properties(x%handle(), info))
    if (o%status /= PURLIN_SUCCESS .or. info%length == count) return
    write (text, '(2(a, i0))') 'index: has ', count, ' numbers, the train has cores ', info%length
    call refuse(o, trim(text))
  end subroutine

  include 'integers/tt_entries.inc'
end module purlin_tt_entries_module
