!> Eigenpairs of symmetric tensors on tensor objects; purlin_arrays.inc has the same calls on arrays.
module purlin_sshopm
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  implicit none
  private
  public :: purlin_sshopm_solve, purlin_sshopm_all, purlin_sshopm_product, purlin_sshopm_starts, purlin_sshopm_classify

  interface purlin_sshopm_solve
    module procedure solve
  end interface
  interface purlin_sshopm_all
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
    call absorb(o, c_sshopm_solve(context%handle(), stream_key(stream), tensors%handle(), tensor_key(starts), options, &
      results, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> All real pairs, saddles too; morse_sum and morse_expected are I32 [T] (expected is -huge-1 where nothing is known).
  subroutine all_pairs(context, tensors, results, options, morse_sum, morse_expected, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensors
    type(purlin_sshopm_results), intent(in) :: results
    type(purlin_sshopm_all_options), intent(in), optional :: options
    type(purlin_tensor), intent(inout), optional :: morse_sum, morse_expected
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_sshopm_all(context%handle(), stream_key(stream), tensors%handle(), options, results, &
      tensor_key(morse_sum), tensor_key(morse_expected), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> A x^m (power = m), A x^(m-1) or A x^(m-2) for vectors [n,V] or [n,V,T].
  subroutine product_of(context, tensors, vectors, power, products, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensors, vectors
    integer(c_int32_t), intent(in) :: power
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
end module purlin_sshopm
