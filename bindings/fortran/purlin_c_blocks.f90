!> The C interface of sources, sinks and cone-beam CT, argument for argument.
module purlin_c_blocks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_funptr, c_double, c_int32_t, c_int64_t, c_size_t

  interface
    function c_array_info_init(object, struct_size) bind(c, name='purlin_array_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_array_info
      type(purlin_array_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_source_from_tensor(context, tensor, source) bind(c, name='purlin_source_from_tensor') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, tensor
      type(c_ptr), intent(inout) :: source
      integer(c_int32_t) :: s
    end function
    function c_source_from_file(context, path, offset, dtype, endianness, ndim, dims, source) bind(c, &
      name='purlin_source_from_file') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, path
      integer(c_int64_t), value :: offset, ndim
      integer(c_int32_t), value :: dtype, endianness
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_ptr), intent(inout) :: source
      integer(c_int32_t) :: s
    end function
    function c_source_from_mapped_file(context, path, offset, dtype, endianness, ndim, dims, source) bind(c, &
      name='purlin_source_from_mapped_file') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, path
      integer(c_int64_t), value :: offset, ndim
      integer(c_int32_t), value :: dtype, endianness
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_ptr), intent(inout) :: source
      integer(c_int32_t) :: s
    end function
    function c_source_from_npy(context, path, source) bind(c, name='purlin_source_from_npy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, path
      type(c_ptr), intent(inout) :: source
      integer(c_int32_t) :: s
    end function
    function c_source_from_metaimage(context, path, source) bind(c, name='purlin_source_from_metaimage') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, path
      type(c_ptr), intent(inout) :: source
      integer(c_int32_t) :: s
    end function
    function c_source_from_tiff(context, count, paths, source) bind(c, name='purlin_source_from_tiff') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, paths
      integer(c_int64_t), value :: count
      type(c_ptr), intent(inout) :: source
      integer(c_int32_t) :: s
    end function
    function c_source_from_callback(context, dtype, ndim, dims, read, user, source) bind(c, &
      name='purlin_source_from_callback') result(s)
      import :: c_funptr, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, user
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: ndim
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_funptr), value :: read
      type(c_ptr), intent(inout) :: source
      integer(c_int32_t) :: s
    end function
    function c_source_info(source, info) bind(c, name='purlin_source_info') result(s)
      import :: c_int32_t, c_ptr, purlin_array_info
      type(c_ptr), value :: source
      type(purlin_array_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_source_destroy(source) bind(c, name='purlin_source_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: source
      integer(c_int32_t) :: s
    end function
    function c_sink_to_tensor(context, tensor, sink) bind(c, name='purlin_sink_to_tensor') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, tensor
      type(c_ptr), intent(inout) :: sink
      integer(c_int32_t) :: s
    end function
    function c_sink_to_file(context, path, offset, dtype, endianness, ndim, dims, sink) bind(c, &
      name='purlin_sink_to_file') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, path
      integer(c_int64_t), value :: offset, ndim
      integer(c_int32_t), value :: dtype, endianness
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_ptr), intent(inout) :: sink
      integer(c_int32_t) :: s
    end function
    function c_sink_to_metaimage(context, path, dtype, ndim, dims, spacing, origin, sink) bind(c, &
      name='purlin_sink_to_metaimage') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, path, spacing, origin
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: ndim
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_ptr), intent(inout) :: sink
      integer(c_int32_t) :: s
    end function
    function c_sink_to_tiff(context, path, dtype, width, height, pages, sink) bind(c, &
      name='purlin_sink_to_tiff') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, path
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: width, height, pages
      type(c_ptr), intent(inout) :: sink
      integer(c_int32_t) :: s
    end function
    function c_sink_to_callback(context, dtype, ndim, dims, write, user, sink) bind(c, &
      name='purlin_sink_to_callback') result(s)
      import :: c_funptr, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, user
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: ndim
      integer(c_int64_t), intent(in) :: dims(*)
      type(c_funptr), value :: write
      type(c_ptr), intent(inout) :: sink
      integer(c_int32_t) :: s
    end function
    function c_sink_destroy(sink) bind(c, name='purlin_sink_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: sink
      integer(c_int32_t) :: s
    end function
    function c_fdk_geometry_init(object, struct_size) bind(c, name='purlin_fdk_geometry_init') result(s)
      import :: c_int32_t, c_size_t, purlin_fdk_geometry
      type(purlin_fdk_geometry), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_fdk_grid_init(object, struct_size) bind(c, name='purlin_fdk_grid_init') result(s)
      import :: c_int32_t, c_size_t, purlin_fdk_grid
      type(purlin_fdk_grid), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_fdk_options_init(object, struct_size) bind(c, name='purlin_fdk_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_fdk_options
      type(purlin_fdk_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_fdk_info_init(object, struct_size) bind(c, name='purlin_fdk_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_fdk_info
      type(purlin_fdk_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_fdk_create(context, geometry, grid, options, fdk) bind(c, name='purlin_fdk_create') result(s)
      import :: c_int32_t, c_ptr, purlin_fdk_geometry, purlin_fdk_grid, purlin_fdk_options
      type(c_ptr), value :: context
      type(purlin_fdk_geometry), intent(in) :: geometry
      type(purlin_fdk_grid), intent(in), optional :: grid
      type(purlin_fdk_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: fdk
      integer(c_int32_t) :: s
    end function
    function c_fdk_add_context(fdk, context) bind(c, name='purlin_fdk_add_context') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: fdk, context
      integer(c_int32_t) :: s
    end function
    function c_fdk_destroy(fdk) bind(c, name='purlin_fdk_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: fdk
      integer(c_int32_t) :: s
    end function
    function c_fdk_query(fdk, info) bind(c, name='purlin_fdk_query') result(s)
      import :: c_int32_t, c_ptr, purlin_fdk_info
      type(c_ptr), value :: fdk
      type(purlin_fdk_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_fdk_weights(fdk, redundancy, angular) bind(c, name='purlin_fdk_weights') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: fdk, redundancy, angular
      integer(c_int32_t) :: s
    end function
    function c_fdk_set_counts(fdk, i0, i0_image, dark, epsilon) bind(c, name='purlin_fdk_set_counts') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: fdk, i0_image, dark
      real(c_double), value :: i0, epsilon
      integer(c_int32_t) :: s
    end function
    function c_fdk_reconstruct(fdk, stream, projections, volume, info) bind(c, &
      name='purlin_fdk_reconstruct') result(s)
      import :: c_int32_t, c_ptr, purlin_fdk_info
      type(c_ptr), value :: fdk, stream, projections, volume
      type(purlin_fdk_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_fdk_reconstruct_tensor(fdk, stream, projections, volume, info) bind(c, &
      name='purlin_fdk_reconstruct_tensor') result(s)
      import :: c_int32_t, c_ptr, purlin_fdk_info
      type(c_ptr), value :: fdk, stream, projections, volume
      type(purlin_fdk_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_fdk_begin(fdk, stream) bind(c, name='purlin_fdk_begin') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: fdk, stream
      integer(c_int32_t) :: s
    end function
    function c_fdk_push(fdk, count, views, projections) bind(c, name='purlin_fdk_push') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: fdk, projections
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: views(*)
      integer(c_int32_t) :: s
    end function
    function c_fdk_finish(fdk, volume, info) bind(c, name='purlin_fdk_finish') result(s)
      import :: c_int32_t, c_ptr, purlin_fdk_info
      type(c_ptr), value :: fdk, volume
      type(purlin_fdk_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_fdk_finish_tensor(fdk, volume, info) bind(c, name='purlin_fdk_finish_tensor') result(s)
      import :: c_int32_t, c_ptr, purlin_fdk_info
      type(c_ptr), value :: fdk, volume
      type(purlin_fdk_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_fdk_cancel(fdk) bind(c, name='purlin_fdk_cancel') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: fdk
      integer(c_int32_t) :: s
    end function
    function c_fdk_log_transform(context, stream, counts, i0, i0_image, dark, epsilon, projections, &
      clamped) bind(c, name='purlin_fdk_log_transform') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, stream, counts, i0_image, dark, projections
      real(c_double), value :: i0, epsilon
      integer(c_int64_t), intent(out) :: clamped
      integer(c_int32_t) :: s
    end function
    function c_fdk_weight(fdk, stream, count, views, projections, weighted) bind(c, &
      name='purlin_fdk_weight') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: fdk, stream, projections, weighted
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: views(*)
      integer(c_int32_t) :: s
    end function
    function c_fdk_filter(fdk, stream, count, views, weighted, filtered) bind(c, name='purlin_fdk_filter') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: fdk, stream, weighted, filtered
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: views(*)
      integer(c_int32_t) :: s
    end function
    function c_fdk_backproject(fdk, stream, count, views, filtered, volume) bind(c, &
      name='purlin_fdk_backproject') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: fdk, stream, filtered, volume
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: views(*)
      integer(c_int32_t) :: s
    end function
    function c_fdk_ellipsoids(fdk, stream, ellipsoids, projections) bind(c, name='purlin_fdk_ellipsoids') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: fdk, stream, ellipsoids, projections
      integer(c_int32_t) :: s
    end function
    function c_fdk_shepp_logan(radius, ellipsoids) bind(c, name='purlin_fdk_shepp_logan') result(s)
      import :: c_double, c_int32_t, c_ptr
      real(c_double), value :: radius
      type(c_ptr), value :: ellipsoids
      integer(c_int32_t) :: s
    end function
    function c_fdk_ellipsoid_volume(fdk, ellipsoids, volume) bind(c, name='purlin_fdk_ellipsoid_volume') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: fdk, ellipsoids, volume
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_blocks
