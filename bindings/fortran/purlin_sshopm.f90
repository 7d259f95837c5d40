!> Eigenpairs of symmetric tensors on tensor objects; purlin_arrays.inc has the same calls on arrays.
module purlin_sshopm_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated, c_double, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  implicit none
  private
  public :: purlin_sshopm, purlin_sshopm_solve_once, purlin_sshopm_solve_all_once, purlin_sshopm_product
  public :: purlin_sshopm_starts, purlin_sshopm_classify

  !> Options on a context, for batches of any shape. purlin_sshopm_solve_once and purlin_sshopm_solve_all_once make one
  !> for one call.
  type :: purlin_sshopm
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => sshopm_create
    procedure :: plan => sshopm_plan
    procedure :: solve => sshopm_solve
    procedure :: solve_all => sshopm_solve_all
    procedure :: cancel => sshopm_cancel
    procedure :: last_info => sshopm_last_info
    include 'generated/object_sshopm_bound.inc'
  end type

  interface purlin_sshopm_solve_once
    module procedure solve
  end interface
  interface purlin_sshopm_solve_all_once
    module procedure all_pairs
  end interface
  interface purlin_sshopm_product
    module procedure product_of
  end interface
  interface purlin_sshopm_starts
    module procedure starts_of
  end interface
  interface purlin_sshopm_classify
    module procedure classify
  end interface

  include 'integers/sshopm_generic.inc'

contains

  subroutine sshopm_create(self, context, options, stat, errmsg)
    class(purlin_sshopm), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_sshopm_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_sshopm(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_sshopm_create(context%handle(), options, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The plan of solve: starts, chunks, tolerance, host memory beside the results, and where it runs.
  subroutine sshopm_plan(self, tensors, info, stat, errmsg)
    class(purlin_sshopm), intent(in) :: self
    type(purlin_tensor), intent(in) :: tensors
    type(purlin_sshopm_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_sshopm_plan(self%key, tensors%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> As purlin_sshopm_solve_once.
  subroutine sshopm_solve(self, tensors, results, starts, info, stream, stat, errmsg)
    class(purlin_sshopm), intent(in) :: self
    type(purlin_tensor), intent(in) :: tensors
    type(purlin_sshopm_results), intent(in) :: results
    type(purlin_tensor), intent(in), optional :: starts
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_sshopm_solve(self%key, stream_key(stream), tensors%handle(), tensor_key(starts), results, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> As purlin_sshopm_solve_all_once.
  subroutine sshopm_solve_all(self, tensors, results, morse_sum, morse_expected, info, stream, stat, errmsg)
    class(purlin_sshopm), intent(in) :: self
    type(purlin_tensor), intent(in) :: tensors
    type(purlin_sshopm_results), intent(in) :: results
    type(purlin_tensor), intent(inout), optional :: morse_sum, morse_expected
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_sshopm_solve_all(self%key, stream_key(stream), tensors%handle(), results, tensor_key(morse_sum), &
      tensor_key(morse_expected), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Makes the running call end with PURLIN_ERROR_CANCELLED, from any thread.
  subroutine sshopm_cancel(self, stat, errmsg)
    class(purlin_sshopm), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_sshopm_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The report of the last call that succeeded.
  subroutine sshopm_last_info(self, info, stat, errmsg)
    class(purlin_sshopm), intent(in) :: self
    type(purlin_sshopm_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_sshopm_last_info(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_sshopm.inc'

  !> Local maxima or minima of A x^m on the unit sphere, and their values, for every tensor of a batch. `results`
  !> holds the handles of the tensors to fill; `starts` is real [n,V].
  subroutine solve(context, tensors, results, starts, options, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensors
    type(purlin_sshopm_results), intent(in) :: results
    type(purlin_tensor), intent(in), optional :: starts
    type(purlin_sshopm_options), intent(in), optional :: options
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_sshopm_solve_once(context%handle(), stream_key(stream), tensors%handle(), tensor_key(starts), &
      options, results, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> All real pairs, saddles too; morse_sum and morse_expected are I32 [T] (expected is -huge-1 where nothing is known).
  subroutine all_pairs(context, tensors, results, options, morse_sum, morse_expected, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensors
    type(purlin_sshopm_results), intent(in) :: results
    type(purlin_sshopm_options), intent(in), optional :: options
    type(purlin_tensor), intent(inout), optional :: morse_sum, morse_expected
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_sshopm_solve_all_once(context%handle(), stream_key(stream), tensors%handle(), options, &
      results, tensor_key(morse_sum), tensor_key(morse_expected), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> A x^m (power = m), A x^(m-1) or A x^(m-2) for vectors [n,V] or [n,V,T].
  subroutine product_of(context, tensors, vectors, power, products, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensors, vectors
    integer(c_int64_t), intent(in) :: power
    type(purlin_tensor), intent(inout) :: products
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_sshopm_product(context%handle(), stream_key(stream), tensors%handle(), vectors%handle(), power, &
      products%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Unit start vectors of a kind PURLIN_STARTS_*, real [n,V].
  subroutine starts_of(context, kind, starts, seed, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: kind
    type(purlin_tensor), intent(inout) :: starts
    integer(c_int64_t), intent(in), optional :: seed
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    integer(c_int64_t) :: chosen
    chosen = 0
    if (present(seed)) chosen = seed
    call absorb(o, c_sshopm_starts(context%handle(), stream_key(stream), kind, chosen, starts%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Residuals, eigenvalues of the projected Hessian and classes PURLIN_PAIR_* of given pairs.
  subroutine classify(context, tensors, values, vectors, residuals, hessian, classes, degeneracy_tolerance, stream, &
    stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensors, values, vectors
    type(purlin_tensor), intent(inout), optional :: residuals, hessian, classes
    real(c_double), intent(in), optional :: degeneracy_tolerance
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    real(c_double) :: tolerance
    tolerance = 0
    if (present(degeneracy_tolerance)) tolerance = degeneracy_tolerance
    call absorb(o, c_sshopm_classify(context%handle(), stream_key(stream), tensors%handle(), values%handle(), &
      vectors%handle(), tolerance, tensor_key(residuals), tensor_key(hessian), tensor_key(classes)))
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/sshopm.inc'
end module purlin_sshopm_module
