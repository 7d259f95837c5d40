!> The C interface of tensor trains, argument for argument.
module purlin_c_tt
  use, intrinsic :: iso_c_binding, only: c_ptr, c_double, c_int32_t, c_int64_t, c_size_t
  use purlin_types
  implicit none
  public
  private :: c_ptr, c_double, c_int32_t, c_int64_t, c_size_t

  interface
    function c_tt_create(context, dtype, location, flags, length, modes, ranks, tt) bind(c, &
      name='purlin_tt_create') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*), ranks(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_borrow(context, dtype, flags, length, modes, ranks, cores, tt) bind(c, &
      name='purlin_tt_borrow') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*), ranks(*)
      type(c_ptr), intent(in) :: cores(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_borrow_device(context, dtype, flags, length, modes, ranks, cores, tt) bind(c, &
      name='purlin_tt_borrow_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*), ranks(*), cores(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_set_core(tt, stream, k, core) bind(c, name='purlin_tt_set_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_core(tt, stream, k, core) bind(c, name='purlin_tt_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_core_address(tt, k, address) bind(c, name='purlin_tt_core_address') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt
      integer(c_int64_t), value :: k
      integer(c_int64_t), intent(inout) :: address
      integer(c_int32_t) :: s
    end function
    function c_tt_copy(context, stream, source, destination) bind(c, name='purlin_tt_copy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, source, destination
      integer(c_int32_t) :: s
    end function
    function c_tt_info_init(object, struct_size) bind(c, name='purlin_tt_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_tt_info
      type(purlin_tt_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_tt_properties(tt, info) bind(c, name='purlin_tt_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_info
      type(c_ptr), value :: tt
      type(purlin_tt_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_shape(tt, capacity, modes, ranks) bind(c, name='purlin_tt_shape') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: tt, modes, ranks
      integer(c_int64_t), value :: capacity
      integer(c_int32_t) :: s
    end function
    function c_tt_destroy(tt) bind(c, name='purlin_tt_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_create(context, dtype, location, flags, length, rows, cols, ranks, matrix) bind(c, &
      name='purlin_tt_matrix_create') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: rows(*), cols(*), ranks(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_borrow(context, dtype, flags, length, rows, cols, ranks, cores, matrix) bind(c, &
      name='purlin_tt_matrix_borrow') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: rows(*), cols(*), ranks(*)
      type(c_ptr), intent(in) :: cores(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_borrow_device(context, dtype, flags, length, rows, cols, ranks, cores, matrix) bind(c, &
      name='purlin_tt_matrix_borrow_device') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, flags
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: rows(*), cols(*), ranks(*), cores(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_set_core(matrix, stream, k, core) bind(c, name='purlin_tt_matrix_set_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: matrix, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_core(matrix, stream, k, core) bind(c, name='purlin_tt_matrix_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: matrix, stream, core
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_properties(matrix, info) bind(c, name='purlin_tt_matrix_properties') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_info
      type(c_ptr), value :: matrix
      type(purlin_tt_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_shape(matrix, capacity, rows, cols, ranks) bind(c, name='purlin_tt_matrix_shape') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: matrix, rows, cols, ranks
      integer(c_int64_t), value :: capacity
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_destroy(matrix) bind(c, name='purlin_tt_matrix_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_contraction_options_init(object, struct_size) bind(c, &
      name='purlin_tt_contraction_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_tt_contraction_options
      type(purlin_tt_contraction_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_tt_contraction_info_init(object, struct_size) bind(c, name='purlin_tt_contraction_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_tt_contraction_info
      type(purlin_tt_contraction_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_tt_contraction_create(context, options, contraction) bind(c, &
      name='purlin_tt_contraction_create') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_options
      type(c_ptr), value :: context
      type(purlin_tt_contraction_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: contraction
      integer(c_int32_t) :: s
    end function
    function c_tt_contraction_add_context(contraction, context) bind(c, &
      name='purlin_tt_contraction_add_context') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: contraction, context
      integer(c_int32_t) :: s
    end function
    function c_tt_contraction_destroy(contraction) bind(c, name='purlin_tt_contraction_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: contraction
      integer(c_int32_t) :: s
    end function
    function c_tt_contraction_cancel(contraction) bind(c, name='purlin_tt_contraction_cancel') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: contraction
      integer(c_int32_t) :: s
    end function
    function c_tt_plan(contraction, x, y, info) bind(c, name='purlin_tt_plan') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, x, y
      type(purlin_tt_contraction_info), intent(inout) :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_contraction_set_workspace(contraction, memory, bytes) bind(c, &
      name='purlin_tt_contraction_set_workspace') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: contraction
      integer(c_int64_t), value :: memory, bytes
      integer(c_int32_t) :: s
    end function
    function c_tt_inner_enqueue(contraction, stream, x, y, result, info) bind(c, &
      name='purlin_tt_inner_enqueue') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, x, y, result
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_inner(contraction, stream, x, y, result, info) bind(c, name='purlin_tt_inner') result(s)
      import :: c_double, c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, x, y
      real(c_double), intent(inout) :: result(*)
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_inner_scaled(contraction, stream, x, y, result, info) bind(c, &
      name='purlin_tt_inner_scaled') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info, purlin_tt_scaled
      type(c_ptr), value :: contraction, stream, x, y
      type(purlin_tt_scaled), intent(inout) :: result
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_norm(contraction, stream, x, result, info) bind(c, name='purlin_tt_norm') result(s)
      import :: c_double, c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, x
      real(c_double), intent(inout) :: result
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_norm_scaled(contraction, stream, x, result, info) bind(c, name='purlin_tt_norm_scaled') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info, purlin_tt_scaled
      type(c_ptr), value :: contraction, stream, x
      type(purlin_tt_scaled), intent(inout) :: result
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_distance(contraction, stream, x, y, result, info) bind(c, name='purlin_tt_distance') result(s)
      import :: c_double, c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, x, y
      real(c_double), intent(inout) :: result
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_distance_scaled(contraction, stream, x, y, result, info) bind(c, &
      name='purlin_tt_distance_scaled') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info, purlin_tt_scaled
      type(c_ptr), value :: contraction, stream, x, y
      type(purlin_tt_scaled), intent(inout) :: result
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_inner_batch(contraction, stream, count, x, y, values, exponents, info) bind(c, &
      name='purlin_tt_inner_batch') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, values, exponents
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: x(*), y(*)
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_gram(contraction, stream, rows, x, cols, y, values, exponents, info) bind(c, &
      name='purlin_tt_gram') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, y, values, exponents
      integer(c_int64_t), value :: rows, cols
      type(c_ptr), intent(in) :: x(*)
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_sandwich(contraction, stream, y, h, x, result, info) bind(c, name='purlin_tt_sandwich') result(s)
      import :: c_double, c_int32_t, c_ptr, purlin_tt_contraction_info
      type(c_ptr), value :: contraction, stream, y, h, x
      real(c_double), intent(inout) :: result(*)
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_sandwich_scaled(contraction, stream, y, h, x, result, info) bind(c, &
      name='purlin_tt_sandwich_scaled') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_contraction_info, purlin_tt_scaled
      type(c_ptr), value :: contraction, stream, y, h, x
      type(purlin_tt_scaled), intent(inout) :: result
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_rayleigh(contraction, stream, h, x, quotient, numerator, denominator, info) bind(c, &
      name='purlin_tt_rayleigh') result(s)
      import :: c_double, c_int32_t, c_ptr, purlin_tt_contraction_info, purlin_tt_scaled
      type(c_ptr), value :: contraction, stream, h, x
      real(c_double), intent(inout) :: quotient(*)
      type(purlin_tt_scaled), intent(inout), optional :: numerator, denominator
      type(purlin_tt_contraction_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_expect_local(contraction, stream, x, op, count, sites, values) bind(c, &
      name='purlin_tt_expect_local') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: contraction, stream, x, op, values
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: sites(*)
      integer(c_int32_t) :: s
    end function
    function c_tt_correlation(contraction, stream, x, a, b, values) bind(c, &
      name='purlin_tt_correlation') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: contraction, stream, x, a, b, values
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_ising(context, dtype, length, cyclic, coupling, field, matrix) bind(c, &
      name='purlin_tt_matrix_ising') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, cyclic
      integer(c_int64_t), value :: length
      real(c_double), value :: coupling, field
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_heisenberg(context, dtype, length, cyclic, twice_spin, couplings, field, matrix) bind(c, &
      name='purlin_tt_matrix_heisenberg') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, cyclic, twice_spin
      integer(c_int64_t), value :: length
      real(c_double), intent(in) :: couplings(*)
      real(c_double), value :: field
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_identity(context, dtype, length, modes, matrix) bind(c, &
      name='purlin_tt_matrix_identity') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_matrix_from_terms(context, dtype, length, modes, cyclic, count, coefficients, factors, &
      sites, operators, matrix) bind(c, name='purlin_tt_matrix_from_terms') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, cyclic
      integer(c_int64_t), value :: length, count
      integer(c_int64_t), intent(in) :: modes(*), factors(*), sites(*)
      real(c_double), intent(in) :: coefficients(*)
      type(c_ptr), intent(in) :: operators(*)
      type(c_ptr), intent(inout) :: matrix
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_create(contraction, y, h, x, environments) bind(c, &
      name='purlin_tt_environments_create') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: contraction, y, h, x
      type(c_ptr), intent(inout) :: environments
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_build(environments, stream, side, bond) bind(c, name='purlin_tt_environments_build') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: environments, stream
      integer(c_int32_t), value :: side
      integer(c_int64_t), value :: bond
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_update_core(environments, k) bind(c, &
      name='purlin_tt_environments_update_core') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: environments
      integer(c_int64_t), value :: k
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_set_trains(environments, y, x, first, last) bind(c, &
      name='purlin_tt_environments_set_trains') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: environments, y, x
      integer(c_int64_t), value :: first, last
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_shape(environments, bond, dims, dtype) bind(c, &
      name='purlin_tt_environments_shape') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: environments, dims, dtype
      integer(c_int64_t), value :: bond
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_get(environments, stream, side, bond, values, exponent) bind(c, &
      name='purlin_tt_environments_get') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: environments, stream, values
      integer(c_int32_t), value :: side
      integer(c_int64_t), value :: bond
      integer(c_int64_t), intent(inout) :: exponent
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_apply(environments, stream, k, sites, v, out, exponent) bind(c, &
      name='purlin_tt_environments_apply') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: environments, stream, v, out
      integer(c_int64_t), value :: k
      integer(c_int32_t), value :: sites
      integer(c_int64_t), intent(inout) :: exponent
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_value(environments, stream, bond, result) bind(c, &
      name='purlin_tt_environments_value') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_tt_scaled
      type(c_ptr), value :: environments, stream
      integer(c_int64_t), value :: bond
      type(purlin_tt_scaled), intent(inout) :: result
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_local(environments, stream, k, op, result) bind(c, &
      name='purlin_tt_environments_local') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_tt_scaled
      type(c_ptr), value :: environments, stream, op
      integer(c_int64_t), value :: k
      type(purlin_tt_scaled), intent(inout) :: result
      integer(c_int32_t) :: s
    end function
    function c_tt_environments_destroy(environments) bind(c, name='purlin_tt_environments_destroy') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: environments
      integer(c_int32_t) :: s
    end function
    function c_tt_add(context, stream, alpha, x, beta, y, tt) bind(c, name='purlin_tt_add') result(s)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, x, y
      real(c_double), intent(in) :: alpha(*), beta(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_scale(context, stream, x, factor, exponent, spread, tt) bind(c, name='purlin_tt_scale') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, stream, x
      real(c_double), intent(in) :: factor(*)
      integer(c_int64_t), value :: exponent
      integer(c_int32_t), value :: spread
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_conj(context, stream, x, tt) bind(c, name='purlin_tt_conj') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, x
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_hadamard(context, stream, x, y, tt) bind(c, name='purlin_tt_hadamard') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, x, y
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_apply(context, stream, h, x, tt) bind(c, name='purlin_tt_apply') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, h, x
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_reverse(context, stream, x, tt) bind(c, name='purlin_tt_reverse') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, x
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_rotate(context, stream, x, first, tt) bind(c, name='purlin_tt_rotate') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, stream, x
      integer(c_int64_t), value :: first
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_to_open(context, stream, x, tt) bind(c, name='purlin_tt_to_open') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, x
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_cast(context, stream, x, dtype, tt) bind(c, name='purlin_tt_cast') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, x
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_canonicalise(context, stream, x, centre, exponent, tt) bind(c, &
      name='purlin_tt_canonicalise') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, stream, x
      integer(c_int64_t), value :: centre
      integer(c_int64_t), intent(inout) :: exponent
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_round_options_init(object, struct_size) bind(c, name='purlin_tt_round_options_init') result(s)
      import :: c_int32_t, c_size_t, purlin_tt_round_options
      type(purlin_tt_round_options), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_tt_round_info_init(object, struct_size) bind(c, name='purlin_tt_round_info_init') result(s)
      import :: c_int32_t, c_size_t, purlin_tt_round_info
      type(purlin_tt_round_info), intent(inout) :: object
      integer(c_size_t), value :: struct_size
      integer(c_int32_t) :: s
    end function
    function c_tt_round(context, stream, x, options, tt, discarded, info) bind(c, name='purlin_tt_round') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_round_info, purlin_tt_round_options
      type(c_ptr), value :: context, stream, x, discarded
      type(purlin_tt_round_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: tt
      type(purlin_tt_round_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_hadamard_round(context, stream, x, y, options, tt, info) bind(c, &
      name='purlin_tt_hadamard_round') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_round_info, purlin_tt_round_options
      type(c_ptr), value :: context, stream, x, y
      type(purlin_tt_round_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: tt
      type(purlin_tt_round_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_apply_round(context, stream, h, x, options, tt, info) bind(c, &
      name='purlin_tt_apply_round') result(s)
      import :: c_int32_t, c_ptr, purlin_tt_round_info, purlin_tt_round_options
      type(c_ptr), value :: context, stream, h, x
      type(purlin_tt_round_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: tt
      type(purlin_tt_round_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_svd(context, stream, values, length, modes, options, tt, discarded, info) bind(c, &
      name='purlin_tt_svd') result(s)
      import :: c_int32_t, c_int64_t, c_ptr, purlin_tt_round_info, purlin_tt_round_options
      type(c_ptr), value :: context, stream, values, discarded
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*)
      type(purlin_tt_round_options), intent(in), optional :: options
      type(c_ptr), intent(inout) :: tt
      type(purlin_tt_round_info), intent(inout), optional :: info
      integer(c_int32_t) :: s
    end function
    function c_tt_random(context, dtype, location, length, modes, ranks, seed, tt) bind(c, &
      name='purlin_tt_random') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location
      integer(c_int64_t), value :: length, seed
      integer(c_int64_t), intent(in) :: modes(*), ranks(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_zeros(context, dtype, location, length, modes, tt) bind(c, name='purlin_tt_zeros') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_ones(context, dtype, location, length, modes, tt) bind(c, name='purlin_tt_ones') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), value :: dtype, location
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_product_state(context, length, modes, vectors, tt) bind(c, name='purlin_tt_product_state') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, vectors
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(in) :: modes(*)
      type(c_ptr), intent(inout) :: tt
      integer(c_int32_t) :: s
    end function
    function c_tt_element(context, stream, x, indices, result) bind(c, name='purlin_tt_element') result(s)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, stream, x
      integer(c_int64_t), intent(in) :: indices(*)
      real(c_double), intent(inout) :: result(*)
      integer(c_int32_t) :: s
    end function
    function c_tt_elements(context, stream, x, count, indices, values) bind(c, name='purlin_tt_elements') result(s)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: context, stream, x, values
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: indices(*)
      integer(c_int32_t) :: s
    end function
    function c_tt_full(context, stream, x, values) bind(c, name='purlin_tt_full') result(s)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, stream, x, values
      integer(c_int32_t) :: s
    end function
  end interface
end module purlin_c_tt
