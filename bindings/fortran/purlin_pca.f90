!> Principal components of dense, sparse and streamed data, centred without a copy. Ownership and copies: as for
!> purlin_context.
module purlin_pca_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated, c_double, c_int32_t
  use purlin_types
  use purlin_c_rsvd
  use purlin_library
  use purlin_execution
  use purlin_tensors
  use purlin_matrices
  use purlin_rsvd_module
  implicit none
  private
  public :: purlin_pca

  !> The result of a fit. It holds its components and means, and needs neither the data nor the session any more.
  type :: purlin_pca
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure, nopass :: plan => pca_plan
    procedure :: fit => pca_fit
    procedure :: properties => pca_properties
    procedure :: mean => pca_mean
    procedure :: components => pca_components
    procedure :: scale => pca_scale
    procedure :: constant => pca_constant
    procedure :: singular_values => pca_singular_values
    procedure :: explained_variance => pca_explained_variance
    procedure :: explained_variance_ratio => pca_explained_variance_ratio
    procedure :: transform => pca_transform
    procedure :: inverse_transform => pca_inverse_transform
    include 'generated/object_pca_bound.inc'
  end type

contains

  !> The plan of fit for `x`, without scores unless `with_scores` is true: method, passes, bytes, blocks, memory. No entry
  !> is read.
  subroutine pca_plan(session, x, info, options, with_scores, stat, errmsg)
    type(purlin_rsvd), intent(in) :: session
    type(purlin_matrix), intent(in) :: x
    type(purlin_rsvd_info), intent(inout) :: info
    type(purlin_pca_options), intent(in), optional :: options
    logical, intent(in), optional :: with_scores
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    integer(c_int32_t) :: scores
    scores = 0
    if (present(with_scores)) scores = merge(1_c_int32_t, 0_c_int32_t, with_scores)
    call purlin_init(info)
    call absorb(o, c_pca_plan(session%handle(), x%handle(), options, scores, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Fits `x` with the rank, method and seed of `session`. `scores` receives the result of transform on `x`. An earlier model
  !> stays if the fit fails.
  subroutine pca_fit(self, session, x, options, scores, info, stream, stat, errmsg)
    class(purlin_pca), intent(inout) :: self
    type(purlin_rsvd), intent(inout) :: session
    type(purlin_matrix), intent(in) :: x
    type(purlin_pca_options), intent(in), optional :: options
    type(purlin_matrix), intent(inout), optional :: scores
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    type(c_ptr) :: made
    made = c_null_ptr
    if (present(info)) call purlin_init(info)
    call absorb(o, c_pca_fit(session%handle(), stream_key(stream), x%handle(), options, matrix_key(scores), made, info))
    if (c_associated(made)) then
      call drop_pca(self, o)
      self%key = made
    end if
    call finish(o, stat, errmsg)
  end subroutine

  subroutine pca_properties(self, info, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_pca_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_pca_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> The mean of each feature, of the type that was computed in.
  subroutine pca_mean(self, mean, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_tensor), intent(inout) :: mean
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_pca_mean(self%key, mean%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> The components as orthonormal columns, features x rank.
  subroutine pca_components(self, components, stream, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_matrix), intent(inout) :: components
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_pca_components(self%key, stream_key(stream), components%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Divisor of each feature: 1 unless scaled.
  subroutine pca_scale(self, context, values, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_context), intent(in) :: context
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_tensor) :: borrowed
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrowed%borrow(context, values, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_pca_scale(self%key, borrowed%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> 1 for each feature that is constant and contributes nothing to scores, 0 for the others.
  subroutine pca_constant(self, context, values, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_context), intent(in) :: context
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_tensor) :: borrowed
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrowed%borrow(context, values, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_pca_constant(self%key, borrowed%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> sigma of each component.
  subroutine pca_singular_values(self, context, values, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_context), intent(in) :: context
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_tensor) :: borrowed
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrowed%borrow(context, values, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_pca_singular_values(self%key, borrowed%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> sigma^2 / (count - 1) of each component.
  subroutine pca_explained_variance(self, context, values, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_context), intent(in) :: context
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_tensor) :: borrowed
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrowed%borrow(context, values, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_pca_explained_variance(self%key, borrowed%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> That as a part of the total variance.
  subroutine pca_explained_variance_ratio(self, context, values, stat, errmsg)
    class(purlin_pca), intent(in) :: self
    type(purlin_context), intent(in) :: context
    real(c_double), intent(inout), contiguous, target :: values(:)
    type(purlin_tensor) :: borrowed
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrowed%borrow(context, values, stat=o%status, errmsg=o%message)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_pca_explained_variance_ratio(self%key, borrowed%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Scores of more data, which lies as that of the fit did.
  subroutine pca_transform(self, x, scores, info, stream, stat, errmsg)
    class(purlin_pca), intent(inout) :: self
    type(purlin_matrix), intent(in) :: x
    type(purlin_matrix), intent(inout) :: scores
    type(purlin_rsvd_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_pca_transform(self%key, stream_key(stream), x%handle(), scores%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Data from scores.
  subroutine pca_inverse_transform(self, scores, x, stream, stat, errmsg)
    class(purlin_pca), intent(inout) :: self
    type(purlin_matrix), intent(in) :: scores
    type(purlin_matrix), intent(inout) :: x
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_pca_inverse_transform(self%key, stream_key(stream), scores%handle(), x%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_pca.inc'

end module purlin_pca_module
