!> Environments of tensor trains, kept for sweeps of DMRG or ALS. Sites count from 1; bond k lies before site k, so that
!> there are bonds 1 to d + 1. Ownership and copies: as for purlin_context. The trains have to live as long.
module purlin_tt_environments_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, c_float_complex, &
    c_double_complex, c_int32_t, c_int64_t
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
  use purlin_tt_contraction_module
  implicit none
  private
  public :: purlin_tt_environments

  type :: purlin_tt_environments
    private
    type(c_ptr) :: key = c_null_ptr
    type(c_ptr) :: context = c_null_ptr
  contains
    procedure :: create => environments_create
    procedure, private :: environments_build
    generic :: build => environments_build
    procedure, private :: environments_update_core
    generic :: update_core => environments_update_core
    procedure, private :: environments_set_trains
    generic :: set_trains => environments_set_trains
    procedure, private :: environments_shape
    generic :: shape => environments_shape
    procedure, private :: get_r32, get_r64, get_c32, get_c64
    generic :: get => get_r32, get_r64, get_c32, get_c64
    procedure, private :: apply_r32, apply_r64, apply_c32, apply_c64, apply_tensors
    generic :: apply => apply_r32, apply_r64, apply_c32, apply_c64, apply_tensors
    procedure, private :: environments_value
    generic :: value => environments_value
    procedure, private :: environments_local
    generic :: local => environments_local
    include 'integers/tt_environments_bound.inc'
    include 'generated/object_tt_environments_bound.inc'
  end type

contains

  !> Of <y|H|x>, or of <y|x> without `h`. None is computed yet.
  subroutine environments_create(self, contraction, y, x, h, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    type(purlin_tt_contraction), intent(in) :: contraction
    type(purlin_tt), intent(in) :: y, x
    type(purlin_tt_matrix), intent(in), optional :: h
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt_environments(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_environments_create(contraction%handle(), y%handle(), &
      tt_matrix_key(h), x%handle(), self%key))
    self%context = tt_context(x)
    call finish(o, stat, errmsg)
  end subroutine

  !> A step of a sweep: the environment of `side`, PURLIN_TT_LEFT or PURLIN_TT_RIGHT, at a bond, and those on the way.
  subroutine environments_build(self, side, bond, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int32_t), intent(in) :: side
    integer(c_int64_t), intent(in) :: bond
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_environments_build(self%key, stream_key(stream), side, bond - 1))
    call finish(o, stat, errmsg)
  end subroutine

  !> Core `k` of the bra or of the ket has changed.
  subroutine environments_update_core(self, k, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_environments_update_core(self%key, k - 1))
    call finish(o, stat, errmsg)
  end subroutine

  !> Other trains from now on, which differ in the cores `first` to `last` and in the ranks between these alone: a
  !> two-site step. Environments that do not depend on these cores are kept. The trains before are not needed any
  !> longer.
  subroutine environments_set_trains(self, y, x, first, last, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    type(purlin_tt), intent(in) :: y, x
    integer(c_int64_t), intent(in) :: first, last
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_environments_set_trains(self%key, y%handle(), x%handle(), first - 1, last - 1))
    call finish(o, stat, errmsg)
  end subroutine

  !> Ranks of bra and operator, boundary values and rank of the ket at a bond, and the element type there.
  subroutine environments_shape(self, bond, dims, dtype, stat, errmsg)
    class(purlin_tt_environments), intent(in) :: self
    integer(c_int64_t), intent(in) :: bond
    integer(c_int64_t), intent(out), target :: dims(4)
    integer(c_int32_t), intent(out), target, optional :: dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: place
    type(outcome) :: o
    dims = 0
    place = c_null_ptr
    if (present(dtype)) place = c_loc(dtype)
    call absorb(o, c_tt_environments_shape(self%key, bond - 1, c_loc(dims), place))
    call finish(o, stat, errmsg)
  end subroutine

  !> The environment of `side` at a bond: `values`, of the extents that `shape` gives, times 2**exponent.
  subroutine get_r32(self, side, bond, values, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int32_t), intent(in) :: side
    integer(c_int64_t), intent(in) :: bond
    real(c_float), intent(inout), contiguous, target :: values(:, :, :, :)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_any(self, side, bond, PURLIN_F32, shape(values, kind=c_int64_t), c_loc(values), exponent, stream, &
      stat, errmsg)
  end subroutine

  subroutine get_r64(self, side, bond, values, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int32_t), intent(in) :: side
    integer(c_int64_t), intent(in) :: bond
    real(c_double), intent(inout), contiguous, target :: values(:, :, :, :)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_any(self, side, bond, PURLIN_F64, shape(values, kind=c_int64_t), c_loc(values), exponent, stream, &
      stat, errmsg)
  end subroutine

  subroutine get_c32(self, side, bond, values, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int32_t), intent(in) :: side
    integer(c_int64_t), intent(in) :: bond
    complex(c_float_complex), intent(inout), contiguous, target :: values(:, :, :, :)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_any(self, side, bond, PURLIN_CF32, shape(values, kind=c_int64_t), c_loc(values), exponent, stream, &
      stat, errmsg)
  end subroutine

  subroutine get_c64(self, side, bond, values, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int32_t), intent(in) :: side
    integer(c_int64_t), intent(in) :: bond
    complex(c_double_complex), intent(inout), contiguous, target :: values(:, :, :, :)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call get_any(self, side, bond, PURLIN_CF64, shape(values, kind=c_int64_t), c_loc(values), exponent, stream, &
      stat, errmsg)
  end subroutine

  !> The effective operator of `sites` sites, 0, 1 or 2, from site `k` on times `v`: `out` times 2**exponent.
  subroutine apply_r32(self, k, sites, v, out, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k, sites
    real(c_float), intent(in), contiguous, target :: v(..)
    real(c_float), intent(inout), contiguous, target :: out(..)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_any(self, k, sites, PURLIN_F32, shape(v, kind=c_int64_t), c_loc(v), shape(out, kind=c_int64_t), c_loc(out), &
      exponent, stream, stat, errmsg)
  end subroutine

  subroutine apply_r64(self, k, sites, v, out, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k, sites
    real(c_double), intent(in), contiguous, target :: v(..)
    real(c_double), intent(inout), contiguous, target :: out(..)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_any(self, k, sites, PURLIN_F64, shape(v, kind=c_int64_t), c_loc(v), shape(out, kind=c_int64_t), c_loc(out), &
      exponent, stream, stat, errmsg)
  end subroutine

  subroutine apply_c32(self, k, sites, v, out, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k, sites
    complex(c_float_complex), intent(in), contiguous, target :: v(..)
    complex(c_float_complex), intent(inout), contiguous, target :: out(..)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_any(self, k, sites, PURLIN_CF32, shape(v, kind=c_int64_t), c_loc(v), shape(out, kind=c_int64_t), c_loc(out), &
      exponent, stream, stat, errmsg)
  end subroutine

  subroutine apply_c64(self, k, sites, v, out, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k, sites
    complex(c_double_complex), intent(in), contiguous, target :: v(..)
    complex(c_double_complex), intent(inout), contiguous, target :: out(..)
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call apply_any(self, k, sites, PURLIN_CF64, shape(v, kind=c_int64_t), c_loc(v), shape(out, kind=c_int64_t), c_loc(out), &
      exponent, stream, stat, errmsg)
  end subroutine

  !> The same to tensors, which may be on the device of the environments: then the call enqueues, and a graph may capture it.
  subroutine apply_tensors(self, k, sites, v, out, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k, sites
    type(purlin_tensor), intent(in) :: v, out
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_environments_apply(self%key, stream_key(stream), k - 1, sites, v%handle(), out%handle(), exponent))
    call finish(o, stat, errmsg)
  end subroutine

  !> <y|H|x>, or <y|x>, from the environments that meet at a bond.
  subroutine environments_value(self, bond, result, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: bond
    type(purlin_tt_scaled), intent(inout) :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_tt_environments_value(self%key, stream_key(stream), bond - 1, result))
    call finish(o, stat, errmsg)
  end subroutine

  !> <y|A_k|x> with `op`(n, n) at site `k`, from environments without an operator.
  subroutine environments_local(self, k, op, result, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_double_complex), intent(in), contiguous, target :: op(:, :)
    type(purlin_tt_scaled), intent(inout) :: result
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    type(outcome) :: o
    call core_tensor(o, self%context, PURLIN_CF64, PURLIN_READ_ONLY, shape(op, kind=c_int64_t), .true., c_loc(op), given)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_environments_local(self%key, stream_key(stream), k - 1, given, result))
    call absorb(o, c_tensor_destroy(given))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_tt_environments.inc'

  subroutine get_any(self, side, bond, dtype, dims, address, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int32_t), intent(in) :: side, dtype
    integer(c_int64_t), intent(in) :: bond, dims(:)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    type(outcome) :: o
    call core_tensor(o, self%context, dtype, 0_c_int32_t, dims, .true., address, found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_environments_get(self%key, stream_key(stream), side, bond - 1, &
      found, exponent))
    call absorb(o, c_tensor_destroy(found))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine apply_any(self, k, sites, dtype, v_dims, v, out_dims, out, exponent, stream, stat, errmsg)
    class(purlin_tt_environments), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k, sites, v_dims(:), out_dims(:)
    integer(c_int32_t), intent(in) :: dtype
    type(c_ptr), intent(in) :: v, out
    integer(c_int64_t), intent(inout) :: exponent
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: given, found
    type(outcome) :: o
    call core_tensor(o, self%context, dtype, PURLIN_READ_ONLY, v_dims, .true., v, given)
    call core_tensor(o, self%context, dtype, 0_c_int32_t, out_dims, .true., out, found)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_environments_apply(self%key, stream_key(stream), k - 1, sites, &
      given, found, exponent))
    call absorb(o, c_tensor_destroy(found))
    call absorb(o, c_tensor_destroy(given))
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/tt_environments.inc'
end module purlin_tt_environments_module
