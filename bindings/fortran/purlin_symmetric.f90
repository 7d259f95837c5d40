!> Packed symmetric tensors: counts, tables, conversions and norms. Indices are 1-based here.
module purlin_symmetric
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  implicit none
  private
  public :: purlin_symmetric_count, purlin_symmetric_indices, purlin_symmetric_exponents
  public :: purlin_symmetric_multinomials, purlin_symmetric_convert, purlin_symmetric_from_full
  public :: purlin_symmetric_to_full, purlin_symmetric_norm, purlin_symmetric_identity

  ! The generics of these names also take arrays: see purlin_arrays.inc.
  interface purlin_symmetric_convert
    module procedure convert
  end interface
  interface purlin_symmetric_from_full
    module procedure from_full
  end interface
  interface purlin_symmetric_to_full
    module procedure to_full
  end interface
  interface purlin_symmetric_norm
    module procedure norm
  end interface
  interface purlin_symmetric_identity
    module procedure identity
  end interface

  include 'integers/symmetric_generic.inc'

contains

  !> Number of distinct entries, C(order + dimension - 1, order); 0 after an error.
  function purlin_symmetric_count(order, dimension, stat, errmsg) result(count)
    integer(c_int64_t), intent(in) :: order, dimension
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: count
    type(outcome) :: o
    count = 0
    call absorb(o, c_symmetric_count(order, dimension, count))
    call finish(o, stat, errmsg)
  end function

  !> indices(:, r): the nondecreasing index tuple, from 1, of the packed entry r.
  subroutine purlin_symmetric_indices(order, dimension, indices, stat, errmsg)
    integer(c_int64_t), intent(in) :: order, dimension
    integer(c_int64_t), allocatable, intent(out) :: indices(:, :)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call table(o, order, dimension, order, indices)
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_symmetric_indices(order, dimension, indices))
      indices = indices + 1
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> exponents(i, r): how often the index i occurs in the packed entry r.
  subroutine purlin_symmetric_exponents(order, dimension, exponents, stat, errmsg)
    integer(c_int64_t), intent(in) :: order, dimension
    integer(c_int64_t), allocatable, intent(out) :: exponents(:, :)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call table(o, order, dimension, dimension, exponents)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_symmetric_exponents(order, dimension, exponents))
    call finish(o, stat, errmsg)
  end subroutine

  !> multinomials(r): how often the packed entry r occurs in the full tensor.
  subroutine purlin_symmetric_multinomials(order, dimension, multinomials, stat, errmsg)
    integer(c_int64_t), intent(in) :: order, dimension
    integer(c_int64_t), allocatable, intent(out) :: multinomials(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: column(:, :)
    type(outcome) :: o
    call table(o, order, dimension, 1_c_int64_t, column)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_symmetric_multinomials(order, dimension, column))
    multinomials = column(1, :)
    call finish(o, stat, errmsg)
  end subroutine

  !> Space for a table of `rows` numbers an entry; empty after an error.
  subroutine table(o, order, dimension, rows, space)
    type(outcome), intent(inout) :: o
    integer(c_int64_t), intent(in) :: order, dimension, rows
    integer(c_int64_t), allocatable, intent(out) :: space(:, :)
    integer(c_int64_t) :: count
    integer :: failed
    count = 0
    call absorb(o, c_symmetric_count(order, dimension, count))
    if (o%status /= PURLIN_SUCCESS) count = 0
    allocate (space(rows, count), stat=failed)
    if (failed /= 0) then
      o%status = PURLIN_ERROR_OUT_OF_MEMORY
      o%message = 'table: no memory for its numbers'
      allocate (space(1, 0))
    end if
  end subroutine

  !> Entries to polynomial coefficients (entry times multinomial) or back.
  subroutine convert(context, source, source_packing, destination, destination_packing, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: source
    integer(c_int32_t), intent(in) :: source_packing
    type(purlin_tensor), intent(inout) :: destination
    integer(c_int32_t), intent(in) :: destination_packing
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_symmetric_convert(context%handle(), stream_key(stream), source%handle(), source_packing, &
      destination%handle(), destination_packing))
    call finish(o, stat, errmsg)
  end subroutine

  !> Packs full tensors [n,..,n] or [n,..,n,T]. Asymmetry beyond check_tolerance*max|a| (0: the default) is an error,
  !> unless `symmetrize`, which averages.
  subroutine from_full(context, full, packed, symmetrize, check_tolerance, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: full
    type(purlin_tensor), intent(inout) :: packed
    logical, intent(in), optional :: symmetrize
    real(c_double), intent(in), optional :: check_tolerance
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    integer(c_int32_t) :: average
    real(c_double) :: tolerance
    average = 0
    tolerance = 0
    if (present(symmetrize)) average = merge(1_c_int32_t, 0_c_int32_t, symmetrize)
    if (present(check_tolerance)) tolerance = check_tolerance
    call absorb(o, c_symmetric_from_full(context%handle(), stream_key(stream), full%handle(), average, tolerance, &
      packed%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine to_full(context, packed, full, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: packed
    type(purlin_tensor), intent(inout) :: full
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_symmetric_to_full(context%handle(), stream_key(stream), packed%handle(), full%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> norms(t) of every tensor; `kind` is PURLIN_NORM_FROBENIUS, _ONE or _MAX, over the full tensor.
  subroutine norm(context, packed, kind, norms, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: packed
    integer(c_int32_t), intent(in) :: kind
    type(purlin_tensor), intent(inout) :: norms
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_symmetric_norm(context%handle(), stream_key(stream), packed%handle(), kind, norms%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Writes `scale` times the tensor E with E x^m = |x|^m, of even order, into every tensor of the batch.
  subroutine identity(context, scale, packed, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in) :: scale
    type(purlin_tensor), intent(inout) :: packed
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_symmetric_identity(context%handle(), stream_key(stream), scale, packed%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/symmetric.inc'
end module purlin_symmetric
