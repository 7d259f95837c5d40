!> Diffusion MRI on tensor objects; purlin_arrays.inc has the same calls on arrays.
module purlin_dwi_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated, c_int32_t
  use purlin_types
  use purlin_c
  use purlin_library
  use purlin_execution
  use purlin_tensors
  implicit none
  private
  public :: purlin_dwi, purlin_dwi_fit_once, purlin_dwi_csa_once, purlin_dwi_sh_to_tensor, purlin_dwi_tensor_to_sh
  public :: purlin_dwi_peaks_once

  !> Options on a context, for volumes of any size. The procedures whose names end in _once make one for one call.
  type :: purlin_dwi
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => dwi_create
    procedure :: plan => dwi_plan
    procedure :: fit => dwi_fit
    procedure :: csa => dwi_csa
    procedure :: peaks => dwi_peaks
    procedure :: cancel => dwi_cancel
    procedure :: last_info => dwi_last_info
    include 'generated/object_dwi_bound.inc'
  end type

  interface purlin_dwi_fit_once
    module procedure fit
  end interface
  interface purlin_dwi_csa_once
    module procedure csa
  end interface
  interface purlin_dwi_sh_to_tensor
    module procedure sh_to_tensor
  end interface
  interface purlin_dwi_tensor_to_sh
    module procedure tensor_to_sh
  end interface
  interface purlin_dwi_peaks_once
    module procedure peaks_of
  end interface

contains

  subroutine dwi_create(self, context, options, stat, errmsg)
    class(purlin_dwi), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_dwi_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_dwi(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_dwi_create(context%handle(), options, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The plan of peaks: starts, chunks, tolerance, host memory beside the array of peaks, and where it runs.
  subroutine dwi_plan(self, input, info, stat, errmsg)
    class(purlin_dwi), intent(in) :: self
    type(purlin_tensor), intent(in) :: input
    type(purlin_sshopm_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_dwi_plan(self%key, input%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> As purlin_dwi_fit_once.
  subroutine dwi_fit(self, signals, bvals, bvecs, tensors, mask, weights, s0, status, info, stream, stat, errmsg)
    class(purlin_dwi), intent(in) :: self
    type(purlin_tensor), intent(in) :: signals, bvals, bvecs
    type(purlin_tensor), intent(inout) :: tensors
    type(purlin_tensor), intent(in), optional :: mask, weights
    type(purlin_tensor), intent(inout), optional :: s0, status
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_dwi_fit(self%key, stream_key(stream), signals%handle(), bvals%handle(), bvecs%handle(), &
      tensor_key(mask), tensor_key(weights), tensors%handle(), tensor_key(s0), tensor_key(status), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> As purlin_dwi_csa_once.
  subroutine dwi_csa(self, signals, bvals, bvecs, basis, sh, mask, status, info, stream, stat, errmsg)
    class(purlin_dwi), intent(in) :: self
    type(purlin_tensor), intent(in) :: signals, bvals, bvecs
    integer(c_int32_t), intent(in) :: basis
    type(purlin_tensor), intent(inout) :: sh
    type(purlin_tensor), intent(in), optional :: mask
    type(purlin_tensor), intent(inout), optional :: status
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_dwi_csa(self%key, stream_key(stream), signals%handle(), bvals%handle(), bvecs%handle(), &
      tensor_key(mask), basis, sh%handle(), tensor_key(status), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> As purlin_dwi_peaks_once.
  subroutine dwi_peaks(self, input, peaks, mask, count, status, info, stream, stat, errmsg)
    class(purlin_dwi), intent(in) :: self
    type(purlin_tensor), intent(in) :: input
    type(purlin_tensor), intent(inout) :: peaks
    type(purlin_tensor), intent(in), optional :: mask
    type(purlin_tensor), intent(inout), optional :: count, status
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_dwi_peaks(self%key, stream_key(stream), input%handle(), tensor_key(mask), peaks%handle(), &
      tensor_key(count), tensor_key(status), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Makes the running call end with PURLIN_ERROR_CANCELLED, from any thread.
  subroutine dwi_cancel(self, stat, errmsg)
    class(purlin_dwi), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_dwi_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The report of the last call that succeeded.
  subroutine dwi_last_info(self, info, stat, errmsg)
    class(purlin_dwi), intent(in) :: self
    type(purlin_sshopm_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_dwi_last_info(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_dwi.inc'

  !> Fits the apparent-diffusion tensor of the order of `tensors` to signals [N,T]. Its maxima are no fibre
  !> directions where fibres cross: take purlin_dwi_csa_once and purlin_dwi_peaks_once for those.
  subroutine fit(context, signals, bvals, bvecs, tensors, mask, weights, options, s0, status, info, stream, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: signals, bvals, bvecs
    type(purlin_tensor), intent(inout) :: tensors
    type(purlin_tensor), intent(in), optional :: mask, weights
    type(purlin_dwi_options), intent(in), optional :: options
    type(purlin_tensor), intent(inout), optional :: s0, status
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_dwi_fit_once(context%handle(), stream_key(stream), signals%handle(), bvals%handle(), &
      bvecs%handle(), tensor_key(mask), tensor_key(weights), options, tensors%handle(), tensor_key(s0), &
      tensor_key(status), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Orientation functions from signals [N,T] of one shell, in constant solid angle: coefficients `sh` [U,T] in a
  !> basis PURLIN_SH_*, for purlin_dwi_peaks_once.
  subroutine csa(context, signals, bvals, bvecs, basis, sh, mask, options, status, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: signals, bvals, bvecs
    integer(c_int32_t), intent(in) :: basis
    type(purlin_tensor), intent(inout) :: sh
    type(purlin_tensor), intent(in), optional :: mask
    type(purlin_dwi_options), intent(in), optional :: options
    type(purlin_tensor), intent(inout), optional :: status
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_dwi_csa_once(context%handle(), stream_key(stream), signals%handle(), bvals%handle(), &
      bvecs%handle(), tensor_key(mask), basis, options, sh%handle(), tensor_key(status), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Even spherical-harmonic coefficients [U,T] in a basis PURLIN_SH_* to symmetric tensors of the order lmax.
  subroutine sh_to_tensor(context, sh, basis, tensors, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: sh
    integer(c_int32_t), intent(in) :: basis
    type(purlin_tensor), intent(inout) :: tensors
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_dwi_sh_to_tensor(context%handle(), stream_key(stream), sh%handle(), basis, tensors%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine tensor_to_sh(context, tensors, basis, sh, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: tensors
    integer(c_int32_t), intent(in) :: basis
    type(purlin_tensor), intent(inout) :: sh
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_dwi_tensor_to_sh(context%handle(), stream_key(stream), tensors%handle(), basis, sh%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Strongest maxima of every voxel: `input` is a symmetric tensor, or coefficients [U,T] with options%basis set;
  !> peaks is real [4,K,T] (x y z value), or [3,K,T] with options%format = PURLIN_PEAKS_MRTRIX.
  subroutine peaks_of(context, input, peaks, mask, options, count, status, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: input
    type(purlin_tensor), intent(inout) :: peaks
    type(purlin_tensor), intent(in), optional :: mask
    type(purlin_dwi_options), intent(in), optional :: options
    type(purlin_tensor), intent(inout), optional :: count, status
    type(purlin_sshopm_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_dwi_peaks_once(context%handle(), stream_key(stream), input%handle(), tensor_key(mask), options, &
      peaks%handle(), tensor_key(count), tensor_key(status), info))
    call finish(o, stat, errmsg)
  end subroutine
end module purlin_dwi_module
