!> Graphs by their eigenvectors: coordinates, clusters, cuts; components, densities, graphs of images. Labels,
!> sides, components and vertices count from 1.
module purlin_graph_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_float, c_double, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c_spectra
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tensors
  use purlin_matrices
  use purlin_lanczos_module, only: purlin_lanczos
  implicit none
  private
  public :: purlin_graph_embed, purlin_graph_cluster, purlin_graph_k_means, purlin_graph_pivoted_qr, &
    purlin_graph_fiedler, purlin_graph_bisect, purlin_graph_components, purlin_graph_component, &
    purlin_graph_density, purlin_graph_density_trace, purlin_graph_density_histogram, purlin_graph_of_image, &
    purlin_graph_operator_of_image

  !> Labels 1 to `clusters` of the rows of `points`, a matrix object or an array of either precision, by k-means, the best of
  !> `start_count` (10).
  interface purlin_graph_k_means
    module procedure k_means_objects, k_means_r32, k_means_r64
  end interface

  !> Labels of the rows of `points`, whose columns are orthonormal, by column-pivoted QR: as many as columns.
  interface purlin_graph_pivoted_qr
    module procedure pivoted_qr_objects, pivoted_qr_r32, pivoted_qr_r64
  end interface

  !> The graph of neighbouring pixels, of the image's precision: of image(y, x) pixel (y, x) is vertex
  !> (x - 1) * size(image, 1) + y. Without `distance` distances do not weigh.
  interface purlin_graph_of_image
    module procedure image_objects, image_r32, image_r64
  end interface

  !> The same graph as an operator that is never formed, for products, solves, embeddings, clusters and Fiedler vectors.
  interface purlin_graph_operator_of_image
    module procedure unformed_objects, unformed_r32, unformed_r64
  end interface

  include 'integers/graph_generic.inc'

contains

  !> size(coordinates, 2) eigenvectors of the normalized Laplacian as coordinates of the vertices. With a `solver`,
  !> which finds as many, its options hold, as in the other functions that take one.
  subroutine purlin_graph_embed(context, graph, coordinates, values, scaling, options, info, stream, solver, &
    stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: graph
    real(c_double), intent(inout), target :: coordinates(:, :)
    real(c_double), intent(inout), contiguous, target, optional :: values(:)
    integer(c_int32_t), intent(in), optional :: scaling
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_lanczos_options) :: settings
    type(purlin_lanczos), intent(in), optional :: solver
    type(purlin_lanczos) :: own
    type(c_ptr) :: key
    type(purlin_matrix) :: places
    type(purlin_tensor) :: found
    integer(c_int32_t) :: chosen
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    chosen = PURLIN_GRAPH_SCALING_NONE
    if (present(scaling)) chosen = scaling
    call prepare(settings, size(coordinates, 2, c_int64_t), options, info)
    call places%borrow(context, coordinates, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'coordinates')
    if (o%status == PURLIN_SUCCESS .and. present(values)) call found%borrow(context, values, stat=o%status, &
      errmsg=o%message)
    call name_argument(o, 'array', 'values')
    if (o%status == PURLIN_SUCCESS) call solver_key(own, key, context, settings, present(options), solver, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_embed(key, stream_key(stream), graph%handle(), &
      chosen, places%handle(), found%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Labels 1 to `clusters` of the vertices, by PURLIN_GRAPH_LABELS_K_MEANS (the best of `start_count`, 10) or
  !> PIVOTED_QR, which has no starts. After PURLIN_ERROR_NO_CONVERGENCE they are those of the last iterate.
  subroutine purlin_graph_cluster(context, graph, clusters, labels, assignment, start_count, inertia, options, info, &
    stream, solver, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: graph
    integer(c_int64_t), intent(in) :: clusters
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    integer(c_int32_t), intent(in), optional :: assignment
    integer(c_int64_t), intent(in), optional :: start_count
    real(c_double), intent(inout), optional :: inertia
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_lanczos_options) :: settings
    type(purlin_lanczos), intent(in), optional :: solver
    type(purlin_lanczos) :: own
    type(c_ptr) :: key
    type(purlin_tensor) :: found
    integer(c_int32_t) :: way
    integer(c_int64_t) :: kept(1)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    way = PURLIN_GRAPH_LABELS_K_MEANS
    if (present(assignment)) way = assignment
    call prepare(settings, clusters, options, info)
    if (present(start_count) .and. way == PURLIN_GRAPH_LABELS_PIVOTED_QR) call refuse(o, &
      'start_count: is set, pivoted QR has none')
    if (o%status == PURLIN_SUCCESS) call found%borrow(context, labels, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'labels')
    ! After PURLIN_ERROR_NO_CONVERGENCE there may be labels, those of the last iterate.
    kept = 0
    if (size(labels) > 0) then
      kept = labels(:1)
      labels(1) = -1
    end if
    if (o%status == PURLIN_SUCCESS) call solver_key(own, key, context, settings, present(options), solver, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_cluster(key, stream_key(stream), graph%handle(), &
      way, many(start_count), found%handle(), inertia, info))
    if (size(labels) > 0) then
      if (labels(1) >= 0) then
        labels = labels + 1
      else
        labels(:1) = kept
      end if
    end if
    call finish(o, stat, errmsg)
  end subroutine

  subroutine k_means_objects(context, points, clusters, labels, start_count, seed, inertia, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: points
    integer(c_int64_t), intent(in) :: clusters
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    integer(c_int64_t), intent(in), optional :: start_count, seed
    real(c_double), intent(inout), optional :: inertia
    type(purlin_tensor) :: found
    integer(c_int64_t) :: first
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    first = 0
    if (present(seed)) first = seed
    call found%borrow(context, labels, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'labels')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_k_means(points%handle(), clusters, many(start_count), &
      first, found%handle(), inertia))
    if (o%status == PURLIN_SUCCESS) labels = labels + 1
    call finish(o, stat, errmsg)
  end subroutine

  subroutine k_means_r32(context, points, clusters, labels, start_count, seed, inertia, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), target :: points(:, :)
    integer(c_int64_t), intent(in) :: clusters
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    integer(c_int64_t), intent(in), optional :: start_count, seed
    real(c_double), intent(inout), optional :: inertia
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, points, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'points')
    if (o%status == PURLIN_SUCCESS) call k_means_objects(context, given, clusters, labels, start_count, seed, inertia, &
      o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine k_means_r64(context, points, clusters, labels, start_count, seed, inertia, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in), target :: points(:, :)
    integer(c_int64_t), intent(in) :: clusters
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    integer(c_int64_t), intent(in), optional :: start_count, seed
    real(c_double), intent(inout), optional :: inertia
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, points, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'points')
    if (o%status == PURLIN_SUCCESS) call k_means_objects(context, given, clusters, labels, start_count, seed, inertia, &
      o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine pivoted_qr_objects(context, points, labels, inertia, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: points
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    real(c_double), intent(inout), optional :: inertia
    type(purlin_tensor) :: found
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call found%borrow(context, labels, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'labels')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_pivoted_qr(points%handle(), found%handle(), inertia))
    if (o%status == PURLIN_SUCCESS) labels = labels + 1
    call finish(o, stat, errmsg)
  end subroutine

  subroutine pivoted_qr_r32(context, points, labels, inertia, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), target :: points(:, :)
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    real(c_double), intent(inout), optional :: inertia
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, points, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'points')
    if (o%status == PURLIN_SUCCESS) call pivoted_qr_objects(context, given, labels, inertia, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine pivoted_qr_r64(context, points, labels, inertia, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in), target :: points(:, :)
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    real(c_double), intent(inout), optional :: inertia
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, points, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'points')
    if (o%status == PURLIN_SUCCESS) call pivoted_qr_objects(context, given, labels, inertia, o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> The eigenvector of the second smallest eigenvalue of D - W, or of the normalized Laplacian over the roots of the
  !> degrees.
  subroutine purlin_graph_fiedler(context, graph, vector, value, normalized, options, info, stream, solver, &
    stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: graph
    real(c_double), intent(inout), contiguous, target :: vector(:)
    real(c_double), intent(inout), optional :: value
    logical, intent(in), optional :: normalized
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_lanczos), intent(in), optional :: solver
    type(purlin_lanczos) :: own
    type(c_ptr) :: key
    type(purlin_tensor) :: found
    integer(c_int32_t) :: scaled
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    scaled = 0
    if (present(normalized)) scaled = merge(1_c_int32_t, 0_c_int32_t, normalized)
    if (present(info)) call purlin_init(info)
    call found%borrow(context, vector, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'vector')
    if (o%status == PURLIN_SUCCESS) call solver_key(own, key, context, options, present(options), solver, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_fiedler(key, stream_key(stream), graph%handle(), &
      scaled, value, found%handle(), info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Sides 1 and 2 of a graph, by a vector; `method` is one of PURLIN_GRAPH_CUT_*, SWEEP unless given.
  subroutine purlin_graph_bisect(context, graph, vector, sides, method, cut, normalized_cut, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: graph
    real(c_double), intent(in), contiguous, target :: vector(:)
    integer(c_int64_t), intent(inout), contiguous, target :: sides(:)
    integer(c_int32_t), intent(in), optional :: method
    real(c_double), intent(inout), optional :: cut, normalized_cut
    type(purlin_tensor) :: given, found
    integer(c_int32_t) :: way
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    way = PURLIN_GRAPH_CUT_SWEEP
    if (present(method)) way = method
    call given%borrow(context, vector, flags=PURLIN_READ_ONLY, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'vector')
    if (o%status == PURLIN_SUCCESS) call found%borrow(context, sides, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'sides')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_bisect(graph%handle(), given%handle(), way, found%handle(), &
      cut, normalized_cut))
    if (o%status == PURLIN_SUCCESS) sides = sides + 1
    call finish(o, stat, errmsg)
  end subroutine

  !> The connected component, from 1, of each vertex, and their number.
  subroutine purlin_graph_components(context, graph, labels, count, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: graph
    integer(c_int64_t), intent(inout), contiguous, target :: labels(:)
    integer(c_int64_t), intent(inout), optional :: count
    type(purlin_tensor) :: found
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call found%borrow(context, labels, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'labels')
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_components(graph%handle(), found%handle(), count))
    if (o%status == PURLIN_SUCCESS) labels = labels + 1
    call finish(o, stat, errmsg)
  end subroutine

  !> The graph of component `which`, the largest unless given, and the vertices of the whole graph that it has: a tensor of
  !> PURLIN_I64, which counts from 0.
  subroutine purlin_graph_component(graph, component, which, vertices, stat, errmsg)
    type(purlin_matrix), intent(in) :: graph
    type(purlin_matrix), intent(inout) :: component
    integer(c_int64_t), intent(in), optional :: which
    type(purlin_tensor), intent(inout), optional :: vertices
    type(c_ptr) :: made, place
    type(c_ptr), target :: names
    integer(c_int64_t) :: number
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    names = c_null_ptr
    place = c_null_ptr
    if (present(vertices)) place = c_loc(names)
    number = -1
    if (present(which)) then
      if (which < 1) call refuse(o, 'which: is less than 1')
      number = which - 1
    end if
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_component(graph%handle(), number, made, place))
    if (o%status == PURLIN_SUCCESS) call component%adopt(made)
    if (o%status == PURLIN_SUCCESS .and. present(vertices)) call vertices%adopt(names)
    call finish(o, stat, errmsg)
  end subroutine

  !> The density of a spectrum: the first `count` of `points` and `weights`, which are steps * vector_count long.
  subroutine purlin_graph_density(context, a, steps, vector_count, points, weights, count, options, stream, solver, &
    stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: a
    integer(c_int64_t), intent(in) :: steps, vector_count
    real(c_double), intent(inout), contiguous, target :: points(:), weights(:)
    integer(c_int64_t), intent(inout) :: count
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_stream), intent(in), optional :: stream
    type(purlin_lanczos), intent(in), optional :: solver
    type(purlin_lanczos) :: own
    type(c_ptr) :: key
    type(purlin_tensor) :: at, of
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call at%borrow(context, points, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'points')
    if (o%status == PURLIN_SUCCESS) call of%borrow(context, weights, stat=o%status, errmsg=o%message)
    call name_argument(o, 'array', 'weights')
    if (o%status == PURLIN_SUCCESS) call solver_key(own, key, context, options, present(options), solver, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_density(key, stream_key(stream), a%handle(), &
      steps, vector_count, at%handle(), of%handle(), count))
    call finish(o, stat, errmsg)
  end subroutine

  !> trace(f(A)) of an operator of order `n`, from the density of its spectrum.
  function purlin_graph_density_trace(n, points, weights, f) result(trace)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: points(:), weights(:)
    interface
      function f(x) result(y)
        import :: c_double
        real(c_double), intent(in) :: x
        real(c_double) :: y
      end function
    end interface
    real(c_double) :: trace
    integer :: i
    trace = 0
    do i = 1, min(size(points), size(weights))
      trace = trace + f(points(i)) * weights(i)
    end do
    trace = trace * real(n, c_double)
  end function

  !> size(shares) shares of a spectrum in equal parts of from .. to; values outside count in the first and the last.
  subroutine purlin_graph_density_histogram(points, weights, from, to, shares, stat, errmsg)
    real(c_double), intent(in), contiguous :: points(:), weights(:)
    real(c_double), intent(in) :: from, to
    real(c_double), intent(inout), contiguous :: shares(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call expect_as_many(o, 'weights', size(weights, kind=c_int64_t), 'points', size(points, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_graph_density_histogram(size(points, kind=c_int64_t), points, &
      weights, from, to, size(shares, kind=c_int64_t), shares))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine image_objects(context, image, graph, radius, intensity, distance, floor, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: image
    type(purlin_matrix), intent(inout) :: graph
    real(c_double), intent(in) :: radius, intensity
    real(c_double), intent(in), optional :: distance, floor
    type(c_ptr) :: made
    real(c_double) :: far, least
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    ! exp(-(100 / far)^2) is 1 in either precision.
    far = 1e30_c_double
    if (present(distance)) far = distance
    least = 0
    if (present(floor)) least = floor
    call absorb(o, c_graph_of_image(context%handle(), image%handle(), radius, intensity, far, least, made))
    if (o%status == PURLIN_SUCCESS) call graph%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine image_r32(context, image, graph, radius, intensity, distance, floor, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), target :: image(:, :)
    type(purlin_matrix), intent(inout) :: graph
    real(c_double), intent(in) :: radius, intensity
    real(c_double), intent(in), optional :: distance, floor
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, image, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'image')
    if (o%status == PURLIN_SUCCESS) call image_objects(context, given, graph, radius, intensity, distance, floor, &
      o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine image_r64(context, image, graph, radius, intensity, distance, floor, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in), target :: image(:, :)
    type(purlin_matrix), intent(inout) :: graph
    real(c_double), intent(in) :: radius, intensity
    real(c_double), intent(in), optional :: distance, floor
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, image, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'image')
    if (o%status == PURLIN_SUCCESS) call image_objects(context, given, graph, radius, intensity, distance, floor, &
      o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine unformed_objects(context, image, graph, radius, intensity, distance, floor, stat, errmsg)
    type(purlin_context), intent(in) :: context
    type(purlin_matrix), intent(in) :: image
    type(purlin_matrix), intent(inout) :: graph
    real(c_double), intent(in) :: radius, intensity
    real(c_double), intent(in), optional :: distance, floor
    type(c_ptr) :: made
    real(c_double) :: far, least
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    made = c_null_ptr
    ! exp(-(100 / far)^2) is 1 in either precision.
    far = 1e30_c_double
    if (present(distance)) far = distance
    least = 0
    if (present(floor)) least = floor
    call absorb(o, c_graph_operator_of_image(context%handle(), image%handle(), radius, intensity, far, least, made))
    if (o%status == PURLIN_SUCCESS) call graph%adopt(made)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine unformed_r32(context, image, graph, radius, intensity, distance, floor, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_float), intent(in), target :: image(:, :)
    type(purlin_matrix), intent(inout) :: graph
    real(c_double), intent(in) :: radius, intensity
    real(c_double), intent(in), optional :: distance, floor
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, image, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'image')
    if (o%status == PURLIN_SUCCESS) call unformed_objects(context, given, graph, radius, intensity, distance, floor, &
      o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  subroutine unformed_r64(context, image, graph, radius, intensity, distance, floor, stat, errmsg)
    type(purlin_context), intent(in) :: context
    real(c_double), intent(in), target :: image(:, :)
    type(purlin_matrix), intent(inout) :: graph
    real(c_double), intent(in) :: radius, intensity
    real(c_double), intent(in), optional :: distance, floor
    type(purlin_matrix) :: given
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call given%borrow(context, image, PURLIN_READ_ONLY, o%status, o%message)
    call name_argument(o, 'array', 'image')
    if (o%status == PURLIN_SUCCESS) call unformed_objects(context, given, graph, radius, intensity, distance, floor, &
      o%status, o%message)
    call finish(o, stat, errmsg)
  end subroutine

  !> Options with as many pairs as are wanted, and a report to fill in.
  !> The caller's solver, or `own` made with options.
  subroutine solver_key(own, key, context, options, has_options, solver, o)
    type(purlin_lanczos), intent(inout) :: own
    type(c_ptr), intent(out) :: key
    type(purlin_context), intent(in) :: context
    type(purlin_lanczos_options), intent(in), optional :: options
    logical, intent(in) :: has_options
    type(purlin_lanczos), intent(in), optional :: solver
    type(outcome), intent(inout) :: o
    key = c_null_ptr
    if (present(solver)) then
      if (has_options) call refuse(o, 'options: are given, the solver has its own')
      key = solver%handle()
    else
      call own%create(context, options, o%status, o%message)
      key = own%handle()
    end if
  end subroutine

  subroutine prepare(settings, count, options, info)
    type(purlin_lanczos_options), intent(inout) :: settings
    integer(c_int64_t), intent(in) :: count
    type(purlin_lanczos_options), intent(in), optional :: options
    type(purlin_lanczos_info), intent(inout), optional :: info
    call purlin_init(settings)
    if (present(options)) settings = options
    settings%count = count
    if (present(info)) call purlin_init(info)
  end subroutine

  pure function many(start_count) result(number)
    integer(c_int64_t), intent(in), optional :: start_count
    integer(c_int64_t) :: number
    number = 10
    if (present(start_count)) number = start_count
  end function

  include 'integers/graph.inc'
end module purlin_graph_module
