!> Cone-beam CT: Feldkamp, Davis and Kress's reconstruction. Lengths in mm, angles in radians; projections are
!> (columns, rows, views), volumes (nx, ny, nz). Views are numbered from 1. Ownership and copies: as for purlin_context.
module purlin_fdk_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_blocks
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  use purlin_blocks
  implicit none
  private
  public :: purlin_fdk, purlin_fdk_reconstruct_once, purlin_fdk_log_transform, purlin_fdk_shepp_logan

  !> A checked geometry, grid and options on a context: made once, used for many scans.
  type :: purlin_fdk
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => fdk_create
    procedure :: plan => fdk_plan
    procedure :: last_info => fdk_last_info
    procedure :: weights => fdk_weights
    procedure :: set_counts => fdk_set_counts
    procedure, private :: reconstruct_array, reconstruct_tensor, reconstruct_blocks
    generic :: reconstruct => reconstruct_array, reconstruct_tensor, reconstruct_blocks
    procedure :: begin => fdk_begin
    procedure, private :: push_array, push_arrays, push_tensor
    generic :: push => push_array, push_arrays, push_tensor
    procedure, private :: finish_array, finish_tensor, finish_sink
    generic :: finish => finish_array, finish_tensor, finish_sink
    procedure :: cancel => fdk_cancel
    procedure, private :: fdk_weight
    generic :: weight => fdk_weight
    procedure, private :: fdk_filter
    generic :: filter => fdk_filter
    procedure, private :: fdk_backproject
    generic :: backproject => fdk_backproject
    procedure :: ellipsoids => fdk_ellipsoids
    procedure :: ellipsoid_volume => fdk_ellipsoid_volume
    include 'integers/fdk_bound.inc'
    include 'generated/object_fdk_bound.inc'
  end type

  !> `reconstruct` of arrays or tensors by an object for this run alone, with the arguments of `create`.
  interface purlin_fdk_reconstruct_once
    module procedure once_array, once_tensor
  end interface

  include 'integers/fdk_generic.inc'

contains

  !> A plan for a circular orbit with `angles`, or for 3x4 matrices, `matrices(4, 3, views)`: row after row of each, from
  !> mm to pixel indices that begin at 0. Without `grid` the standard one.
  subroutine fdk_create(self, context, geometry, angles, matrices, grid, options, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_fdk_geometry), intent(in) :: geometry
    real(c_double), intent(in), contiguous, target, optional :: angles(:), matrices(:, :, :)
    type(purlin_fdk_grid), intent(in), optional :: grid
    type(purlin_fdk_options), intent(in), optional :: options
    type(purlin_fdk_geometry) :: whole
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_fdk(self, o)
    call complete(geometry, angles, matrices, whole, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_fdk_create(context%handle(), whole, grid, options, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> The choices, and the plan of a run from a source to a sink; while a scan is being pushed, for that scan, with
  !> the views pushed so far.
  subroutine fdk_plan(self, info, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    type(purlin_fdk_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_fdk_plan(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> The report of the last run, of a whole scan or of one that was pushed.
  subroutine fdk_last_info(self, info, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    type(purlin_fdk_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_fdk_last_info(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Weights that a scan is reconstructed with: of rays that are measured twice, F64 [columns, views], and of views,
  !> F64 [views].
  subroutine fdk_weights(self, redundancy, angular, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    type(purlin_tensor), intent(inout), optional :: redundancy, angular
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_weights(self%key, tensor_key(redundancy), tensor_key(angular)))
    call finish(o, stat, errmsg)
  end subroutine

  !> From now on the input is raw counts, with `i0` counts where nothing is in the way, or an image F32 [columns, rows];
  !> `i0` 0 without images: line integrals again.
  subroutine fdk_set_counts(self, i0, i0_image, dark, epsilon, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    real(c_double), intent(in) :: i0
    type(purlin_tensor), intent(in), optional :: i0_image, dark
    real(c_double), intent(in), optional :: epsilon
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_set_counts(self%key, i0, tensor_key(i0_image), tensor_key(dark), least_of(epsilon)))
    call finish(o, stat, errmsg)
  end subroutine

  !> The whole scan at once, from and into arrays.
  subroutine reconstruct_array(self, context, projections, volume, info, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), contiguous, target :: projections(:, :, :)
    real(c_float), intent(inout), contiguous, target :: volume(:, :, :)
    type(purlin_fdk_info), intent(inout), optional :: info
    type(purlin_tensor) :: lines, voxels
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrow_at(o, lines, context, shape(projections, kind=c_int64_t), c_loc(projections), PURLIN_READ_ONLY)
    call borrow_at(o, voxels, context, shape(volume, kind=c_int64_t), c_loc(volume), 0_c_int32_t)
    if (present(info)) call purlin_init(info)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_fdk_reconstruct(self%key, c_null_ptr, lines%handle(), &
      voxels%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> The same on tensors, which may lie on a GPU.
  subroutine reconstruct_tensor(self, projections, volume, info, stream, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_tensor), intent(in) :: projections
    type(purlin_tensor), intent(inout) :: volume
    type(purlin_fdk_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_fdk_reconstruct(self%key, stream_key(stream), projections%handle(), volume%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine once_tensor(context, projections, geometry, volume, angles, matrices, grid, options, info, stream, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_fdk_geometry), intent(in) :: geometry
    type(purlin_tensor), intent(in) :: projections
    type(purlin_tensor), intent(inout) :: volume
    real(c_double), intent(in), contiguous, target, optional :: angles(:), matrices(:, :, :)
    type(purlin_fdk_grid), intent(in), optional :: grid
    type(purlin_fdk_options), intent(in), optional :: options
    type(purlin_fdk_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_fdk_geometry) :: whole
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call complete(geometry, angles, matrices, whole, o)
    if (present(info)) call purlin_init(info)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_fdk_reconstruct_once(context%handle(), stream_key(stream), &
      projections%handle(), whole, grid, options, volume%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine once_array(context, projections, geometry, volume, angles, matrices, grid, options, info, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_fdk_geometry), intent(in) :: geometry
    real(c_float), intent(in), contiguous, target :: projections(:, :, :)
    real(c_float), intent(inout), contiguous, target :: volume(:, :, :)
    real(c_double), intent(in), contiguous, target, optional :: angles(:), matrices(:, :, :)
    type(purlin_fdk_grid), intent(in), optional :: grid
    type(purlin_fdk_options), intent(in), optional :: options
    type(purlin_fdk_info), intent(inout), optional :: info
    type(purlin_tensor) :: lines, voxels
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrow_at(o, lines, context, shape(projections, kind=c_int64_t), c_loc(projections), PURLIN_READ_ONLY)
    call borrow_at(o, voxels, context, shape(volume, kind=c_int64_t), c_loc(volume), 0_c_int32_t)
    if (o%status == PURLIN_SUCCESS) call once_tensor(context, lines, geometry, voxels, angles, matrices, grid, options, info, &
      stat=o%status, errmsg=o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> The geometry with the caller's views; its own number of them is 0, or that of the array.
  subroutine complete(geometry, angles, matrices, whole, o)
    type(purlin_fdk_geometry), intent(in) :: geometry
    real(c_double), intent(in), contiguous, target, optional :: angles(:), matrices(:, :, :)
    type(purlin_fdk_geometry), intent(out) :: whole
    type(outcome), intent(inout) :: o
    whole = geometry
    if (present(angles)) then
      call expect_views(o, geometry, 'angles', size(angles, kind=c_int64_t))
      whole%angles = c_loc(angles)
      whole%views = size(angles, kind=c_int64_t)
    end if
    if (present(matrices)) then
      if (size(matrices, 1) /= 4 .or. size(matrices, 2) /= 3) call refuse(o, 'matrices: is not (4, 3, views)')
      call expect_views(o, geometry, 'matrices', size(matrices, 3, kind=c_int64_t))
      whole%matrices = c_loc(matrices)
      whole%views = size(matrices, 3, kind=c_int64_t)
    end if
  end subroutine

  !> Refuses a number of views in the geometry beside an array of another number of them.
  subroutine expect_views(o, geometry, name, views)
    type(outcome), intent(inout) :: o
    type(purlin_fdk_geometry), intent(in) :: geometry
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: views
    character(24) :: given, needed
    if (geometry%views == 0 .or. geometry%views == views) return
    write (given, '(i0)') geometry%views
    write (needed, '(i0)') views
    call refuse(o, 'views: is ' // trim(given) // ', ' // name // ' has ' // trim(needed))
  end subroutine

  !> The same from a source into a sink, neither of which need fit in memory.
  subroutine reconstruct_blocks(self, projections, volume, info, stream, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_source), intent(inout) :: projections
    type(purlin_sink), intent(inout) :: volume
    type(purlin_fdk_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_fdk_reconstruct_to_sink(self%key, stream_key(stream), projections%handle(), volume%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Starts a scan that arrives in pieces, and drops one that was started before.
  subroutine fdk_begin(self, stream, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_begin(self%key, stream_key(stream)))
    call finish(o, stat, errmsg)
  end subroutine

  !> One view, (columns, rows), in any order, each once. Returns before the GPU is done with it.
  subroutine push_array(self, context, view, projection, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: view
    real(c_float), intent(in), contiguous, target :: projection(:, :)
    type(purlin_tensor) :: lines
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrow_at(o, lines, context, shape(projection, kind=c_int64_t), c_loc(projection), PURLIN_READ_ONLY)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_fdk_push(self%key, 1_c_int64_t, [view - 1], lines%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Several views, (columns, rows, count).
  subroutine push_arrays(self, context, views, projections, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: views(:)
    real(c_float), intent(in), contiguous, target :: projections(:, :, :)
    type(purlin_tensor) :: lines
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrow_at(o, lines, context, shape(projections, kind=c_int64_t), c_loc(projections), PURLIN_READ_ONLY)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_fdk_push(self%key, size(views, kind=c_int64_t), views - 1, &
      lines%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine push_tensor(self, views, projections, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    integer(c_int64_t), intent(in) :: views(:)
    type(purlin_tensor), intent(in) :: projections
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_push(self%key, size(views, kind=c_int64_t), views - 1, projections%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> The volume of the views that were pushed.
  subroutine finish_array(self, context, volume, info, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    real(c_float), intent(inout), contiguous, target :: volume(:, :, :)
    type(purlin_fdk_info), intent(inout), optional :: info
    type(purlin_tensor) :: voxels
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call borrow_at(o, voxels, context, shape(volume, kind=c_int64_t), c_loc(volume), 0_c_int32_t)
    if (present(info)) call purlin_init(info)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_fdk_finish(self%key, voxels%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine finish_tensor(self, volume, info, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_tensor), intent(inout) :: volume
    type(purlin_fdk_info), intent(inout), optional :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_fdk_finish(self%key, volume%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine finish_sink(self, volume, info, stat, errmsg)
    class(purlin_fdk), intent(inout) :: self
    type(purlin_sink), intent(inout) :: volume
    type(purlin_fdk_info), intent(inout), optional :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    if (present(info)) call purlin_init(info)
    call absorb(o, c_fdk_finish_to_sink(self%key, volume%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Makes the running call end with PURLIN_ERROR_CANCELLED, from any thread.
  subroutine fdk_cancel(self, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Cosine and redundancy weights alone, F32 [columns, rows, count].
  subroutine fdk_weight(self, views, projections, weighted, stream, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    integer(c_int64_t), intent(in) :: views(:)
    type(purlin_tensor), intent(in) :: projections
    type(purlin_tensor), intent(inout) :: weighted
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_weight(self%key, stream_key(stream), size(views, kind=c_int64_t), views - 1, &
      projections%handle(), weighted%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> The ramp filter alone: F32 [filtered_columns, rows, count], see plan.
  subroutine fdk_filter(self, views, weighted, filtered, stream, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    integer(c_int64_t), intent(in) :: views(:)
    type(purlin_tensor), intent(in) :: weighted
    type(purlin_tensor), intent(inout) :: filtered
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_filter(self%key, stream_key(stream), size(views, kind=c_int64_t), views - 1, &
      weighted%handle(), filtered%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Adds the back-projection of filtered views to a volume.
  subroutine fdk_backproject(self, views, filtered, volume, stream, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    integer(c_int64_t), intent(in) :: views(:)
    type(purlin_tensor), intent(in) :: filtered
    type(purlin_tensor), intent(inout) :: volume
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_backproject(self%key, stream_key(stream), size(views, kind=c_int64_t), views - 1, &
      filtered%handle(), volume%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Exact projections of ellipsoids, F64 [8, E]: density, three half axes, centre, rotation about z.
  subroutine fdk_ellipsoids(self, ellipsoids, projections, stream, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    type(purlin_tensor), intent(in) :: ellipsoids
    type(purlin_tensor), intent(inout) :: projections
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_ellipsoids(self%key, stream_key(stream), ellipsoids%handle(), projections%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> Their density at the centre of each voxel.
  subroutine fdk_ellipsoid_volume(self, ellipsoids, volume, stat, errmsg)
    class(purlin_fdk), intent(in) :: self
    type(purlin_tensor), intent(in) :: ellipsoids
    type(purlin_tensor), intent(inout) :: volume
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_ellipsoid_volume(self%key, ellipsoids%handle(), volume%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_fdk.inc'

  !> Line integrals from counts: p = -ln(max(I - dark, epsilon) / max(i0 - dark, epsilon)), F32 like `counts`;
  !> `clamped` counts were below epsilon, by default half a count.
  subroutine purlin_fdk_log_transform(context, counts, i0, projections, i0_image, dark, epsilon, clamped, stream, stat, &
    errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_tensor), intent(in) :: counts
    real(c_double), intent(in) :: i0
    type(purlin_tensor), intent(inout) :: projections
    type(purlin_tensor), intent(in), optional :: i0_image, dark
    real(c_double), intent(in), optional :: epsilon
    integer(c_int64_t), intent(out), optional :: clamped
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int64_t) :: raised
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_log_transform(context%handle(), stream_key(stream), counts%handle(), i0, &
      tensor_key(i0_image), tensor_key(dark), least_of(epsilon), projections%handle(), raised))
    if (present(clamped)) clamped = raised
    call finish(o, stat, errmsg)
  end subroutine

  !> The ten ellipsoids of the Shepp-Logan head in a ball of `radius` mm, F64 [8, 10].
  subroutine purlin_fdk_shepp_logan(radius, ellipsoids, stat, errmsg)
    real(c_double), intent(in) :: radius
    type(purlin_tensor), intent(inout) :: ellipsoids
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_fdk_shepp_logan(radius, ellipsoids%handle()))
    call finish(o, stat, errmsg)
  end subroutine

  !> A tensor around a caller's array for the time of one call.
  subroutine borrow_at(o, tensor, context, dims, address, flags)
    type(outcome), intent(inout) :: o
    type(purlin_tensor), intent(inout) :: tensor
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: dims(:)
    type(c_ptr), intent(in) :: address
    integer(c_int32_t), intent(in) :: flags
    integer(c_int32_t) :: stat
    character(512) :: text
    if (o%status /= PURLIN_SUCCESS) return
    text = ''
    call tensor%borrow_address(context, PURLIN_F32, dims, address, flags=flags, stat=stat, errmsg=text)
    if (stat == PURLIN_SUCCESS) return
    o%status = stat
    o%message = text
  end subroutine

  pure function least_of(epsilon) result(least)
    real(c_double), intent(in), optional :: epsilon
    real(c_double) :: least
    least = 0
    if (present(epsilon)) least = epsilon
  end function

  include 'integers/fdk.inc'
end module purlin_fdk_module
