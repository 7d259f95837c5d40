!> Robust PCA: a matrix as the sum of one of low rank and a sparse one, by the inexact augmented Lagrangian method. After
!> PURLIN_ERROR_NO_CONVERGENCE the outputs hold the last iterate. Ownership and copies: as for purlin_context.
module purlin_rpca_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, &
    c_float_complex, c_double_complex, c_int8_t, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_rsvd
  use purlin_library
  use purlin_execution
  use purlin_matrices
  use purlin_blocks
  implicit none
  private
  public :: purlin_rpca, purlin_rpca_compute_once

  !> Options and contexts, for matrices of any shape; one run at a time. `mask`, bytes and like `m`, is 0 where an entry
  !> was not observed.
  type :: purlin_rpca
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => rpca_create
    procedure :: plan => rpca_plan
    procedure :: compute => rpca_compute
    procedure :: compute_csr => rpca_compute_csr
    procedure :: compute_to_sinks => rpca_compute_to_sinks
    procedure :: last_info => rpca_last_info
    procedure :: cancel => rpca_cancel
    include 'generated/object_rpca_bound.inc'
  end type

  !> M ~ L + S of matrix objects or of arrays, whose sections are taken in place where their columns are contiguous, by an
  !> object for this run alone.
  interface purlin_rpca_compute_once
    module procedure compute_objects, separate_r32, separate_r64, separate_c32, separate_c64
  end interface

contains

  !> Without `options` the defaults are taken.
  subroutine rpca_create(self, context, options, stat, errmsg)
    class(purlin_rpca), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_rpca_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_rpca(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_rpca_create(context%handle(), options, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The plan of a run; nothing is read.
  subroutine rpca_plan(self, m, info, mask, stat, errmsg)
    class(purlin_rpca), intent(in) :: self
    type(purlin_matrix), intent(in) :: m
    type(purlin_rpca_info), intent(inout) :: info
    type(purlin_matrix), intent(in), optional :: mask
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_rpca_plan(self%key, m%handle(), matrix_key(mask), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> M ~ L + S, both dense and like `m`.
  subroutine rpca_compute(self, m, low_rank, sparse, mask, info, stream, stat, errmsg)
    class(purlin_rpca), intent(inout) :: self
    type(purlin_matrix), intent(in) :: m
    type(purlin_matrix), intent(inout), optional :: low_rank, sparse
    type(purlin_matrix), intent(in), optional :: mask
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rpca_compute(self%key, stream_key(stream), m%handle(), matrix_key(mask), matrix_key(low_rank), &
      matrix_key(sparse), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> The same with S in compressed sparse rows: entries of modulus over options%threshold.
  subroutine rpca_compute_csr(self, m, sparse, low_rank, mask, info, stream, stat, errmsg)
    class(purlin_rpca), intent(inout) :: self
    type(purlin_matrix), intent(in) :: m
    type(purlin_matrix), intent(inout) :: sparse
    type(purlin_matrix), intent(inout), optional :: low_rank
    type(purlin_matrix), intent(in), optional :: mask
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(c_ptr) :: made
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    made = c_null_ptr
    call absorb(o, c_rpca_compute_csr(self%key, stream_key(stream), m%handle(), matrix_key(mask), matrix_key(low_rank), &
      made, info))
    call sparse%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  !> The same into sinks of [rows, cols], or [cols, rows] of a row-major `m`. Nothing need fit in memory.
  subroutine rpca_compute_to_sinks(self, m, low_rank, sparse, mask, info, stream, stat, errmsg)
    class(purlin_rpca), intent(inout) :: self
    type(purlin_matrix), intent(in) :: m
    type(purlin_sink), intent(inout), optional :: low_rank, sparse
    type(purlin_matrix), intent(in), optional :: mask
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rpca_compute_to_sinks(self%key, stream_key(stream), m%handle(), matrix_key(mask), &
      sink_key(low_rank), sink_key(sparse), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> The report of the last run that met its tolerance or ran out of iterations.
  subroutine rpca_last_info(self, info, stat, errmsg)
    class(purlin_rpca), intent(in) :: self
    type(purlin_rpca_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_rpca_last_info(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Makes the running call end with PURLIN_ERROR_CANCELLED, from any thread.
  subroutine rpca_cancel(self, stat, errmsg)
    class(purlin_rpca), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_rpca_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_rpca.inc'

  subroutine compute_objects(context, m, low_rank, sparse, mask, options, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: m
    type(purlin_matrix), intent(inout), optional :: low_rank, sparse
    type(purlin_matrix), intent(in), optional :: mask
    type(purlin_rpca_options), intent(in), optional :: options
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_rpca_compute_once(context%handle(), stream_key(stream), m%handle(), matrix_key(mask), options, &
      matrix_key(low_rank), matrix_key(sparse), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine separate_r32(context, m, low_rank, sparse, mask, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), target :: m(:, :)
    real(c_float), intent(inout), target, optional :: low_rank(:, :), sparse(:, :)
    integer(c_int8_t), intent(in), contiguous, target, optional :: mask(:, :)
    type(purlin_rpca_options), intent(in), optional :: options
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, low, rest, seen
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, m, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'm')
    if (o%status == PURLIN_SUCCESS .and. present(low_rank)) call low%borrow(context, low_rank, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'low_rank')
    if (o%status == PURLIN_SUCCESS .and. present(sparse)) call rest%borrow(context, sparse, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'sparse')
    if (o%status == PURLIN_SUCCESS .and. present(mask)) call seen%borrow_address(context, PURLIN_U8, &
      size(mask, 1, c_int64_t), size(mask, 2, c_int64_t), max(size(mask, 1, c_int64_t), 1_c_int64_t), c_loc(mask), &
      PURLIN_READ_ONLY, o%status, o%message)
    if (o%status == PURLIN_SUCCESS) call compute_objects(context, given, low, rest, seen, options, info, stat=o%status, &
      errmsg=o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine separate_r64(context, m, low_rank, sparse, mask, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in), target :: m(:, :)
    real(c_double), intent(inout), target, optional :: low_rank(:, :), sparse(:, :)
    integer(c_int8_t), intent(in), contiguous, target, optional :: mask(:, :)
    type(purlin_rpca_options), intent(in), optional :: options
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, low, rest, seen
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, m, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'm')
    if (o%status == PURLIN_SUCCESS .and. present(low_rank)) call low%borrow(context, low_rank, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'low_rank')
    if (o%status == PURLIN_SUCCESS .and. present(sparse)) call rest%borrow(context, sparse, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'sparse')
    if (o%status == PURLIN_SUCCESS .and. present(mask)) call seen%borrow_address(context, PURLIN_U8, &
      size(mask, 1, c_int64_t), size(mask, 2, c_int64_t), max(size(mask, 1, c_int64_t), 1_c_int64_t), c_loc(mask), &
      PURLIN_READ_ONLY, o%status, o%message)
    if (o%status == PURLIN_SUCCESS) call compute_objects(context, given, low, rest, seen, options, info, stat=o%status, &
      errmsg=o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine separate_c32(context, m, low_rank, sparse, mask, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    complex(c_float_complex), intent(in), target :: m(:, :)
    complex(c_float_complex), intent(inout), target, optional :: low_rank(:, :), sparse(:, :)
    integer(c_int8_t), intent(in), contiguous, target, optional :: mask(:, :)
    type(purlin_rpca_options), intent(in), optional :: options
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, low, rest, seen
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, m, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'm')
    if (o%status == PURLIN_SUCCESS .and. present(low_rank)) call low%borrow(context, low_rank, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'low_rank')
    if (o%status == PURLIN_SUCCESS .and. present(sparse)) call rest%borrow(context, sparse, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'sparse')
    if (o%status == PURLIN_SUCCESS .and. present(mask)) call seen%borrow_address(context, PURLIN_U8, &
      size(mask, 1, c_int64_t), size(mask, 2, c_int64_t), max(size(mask, 1, c_int64_t), 1_c_int64_t), c_loc(mask), &
      PURLIN_READ_ONLY, o%status, o%message)
    if (o%status == PURLIN_SUCCESS) call compute_objects(context, given, low, rest, seen, options, info, stat=o%status, &
      errmsg=o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine separate_c64(context, m, low_rank, sparse, mask, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    complex(c_double_complex), intent(in), target :: m(:, :)
    complex(c_double_complex), intent(inout), target, optional :: low_rank(:, :), sparse(:, :)
    integer(c_int8_t), intent(in), contiguous, target, optional :: mask(:, :)
    type(purlin_rpca_options), intent(in), optional :: options
    type(purlin_rpca_info), intent(inout), optional :: info
    type(purlin_matrix) :: given, low, rest, seen
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, m, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'm')
    if (o%status == PURLIN_SUCCESS .and. present(low_rank)) call low%borrow(context, low_rank, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'low_rank')
    if (o%status == PURLIN_SUCCESS .and. present(sparse)) call rest%borrow(context, sparse, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'sparse')
    if (o%status == PURLIN_SUCCESS .and. present(mask)) call seen%borrow_address(context, PURLIN_U8, &
      size(mask, 1, c_int64_t), size(mask, 2, c_int64_t), max(size(mask, 1, c_int64_t), 1_c_int64_t), c_loc(mask), &
      PURLIN_READ_ONLY, o%status, o%message)
    if (o%status == PURLIN_SUCCESS) call compute_objects(context, given, low, rest, seen, options, info, stat=o%status, &
      errmsg=o%message)
    call finish(o, stat, errmsg)
  end subroutine

  pure function sink_key(sink) result(key)
    type(purlin_sink), intent(in), optional :: sink
    type(c_ptr) :: key
    key = c_null_ptr
    if (present(sink)) key = sink%handle()
  end function
end module purlin_rpca_module
