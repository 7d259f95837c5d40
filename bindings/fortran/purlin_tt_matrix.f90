!> TT-matrices: matrix-product operators. Cores are arrays `a(w, m, n, v)`, used where they lie or copied, and count
!> from 1. Ownership and copies: as for purlin_context.
module purlin_tt_matrix_module
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc, c_associated, c_float, c_double, c_float_complex, &
    c_double_complex, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c
  use purlin_c_tt
  use purlin_library
  use purlin_integers
  use purlin_execution
  use purlin_tt_cores
  implicit none
  private
  public :: purlin_tt_matrix, tt_matrix_adopt, tt_matrix_key, tt_matrix_is_complex

  !> A TT-matrix, open or cyclic.
  type :: purlin_tt_matrix
    private
    type(c_ptr) :: key = c_null_ptr
    type(c_ptr) :: context = c_null_ptr
  contains
    procedure, private :: matrix_create
    generic :: create => matrix_create
    procedure, private :: matrix_ising
    generic :: ising => matrix_ising
    procedure, private :: matrix_heisenberg
    generic :: heisenberg => matrix_heisenberg
    procedure, private :: matrix_identity
    generic :: identity => matrix_identity
    procedure, private :: matrix_from_terms
    generic :: from_terms => matrix_from_terms
    procedure :: borrow => matrix_borrow
    procedure, private :: matrix_borrow_address
    generic :: borrow_address => matrix_borrow_address
    procedure, private :: matrix_borrow_device
    generic :: borrow_device => matrix_borrow_device
    procedure, private :: matrix_set_core_r32, matrix_set_core_r64, matrix_set_core_c32, matrix_set_core_c64
    generic :: set_core => matrix_set_core_r32, matrix_set_core_r64, matrix_set_core_c32, matrix_set_core_c64
    procedure, private :: matrix_core_r32, matrix_core_r64, matrix_core_c32, matrix_core_c64
    generic :: core => matrix_core_r32, matrix_core_r64, matrix_core_c32, matrix_core_c64
    procedure :: properties => matrix_properties
    procedure, private :: matrix_shape
    generic :: shape => matrix_shape
    include 'integers/tt_matrix_bound.inc'
    include 'generated/object_tt_matrix_bound.inc'
  end type

contains

  !> Memory of the library's own for a TT-matrix of row modes `rows`(d), column modes `cols`(d) and `ranks`(d + 1).
  subroutine matrix_create(self, context, dtype, rows, cols, ranks, location, flags, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows(:), cols(:), ranks(:)
    integer(c_int32_t), intent(in), optional :: location, flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt_matrix(self, o)
    call one_more_rank(o, size(rows), size(ranks))
    call expect_as_many(o, 'cols', size(cols, kind=c_int64_t), 'rows', size(rows, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_matrix_create(context%handle(), dtype, either(location, PURLIN_HOST), either(flags, 0_c_int32_t), &
        size(rows, kind=c_int64_t), rows, cols, ranks, self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> -`coupling` sum of sigma_x sigma_x over bonds - `field` sum of sigma_z over sites, with Pauli matrices; `cyclic` couples
  !> the last site to the first.
  subroutine matrix_ising(self, context, length, coupling, field, cyclic, dtype, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: length
    real(c_double), intent(in) :: coupling, field
    logical, intent(in), optional :: cyclic
    integer(c_int32_t), intent(in), optional :: dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_matrix_ising(context%handle(), either(dtype, PURLIN_F64), length, &
      flag(cyclic), coupling, field, self%key))
    self%context = context%handle()
    call finish(o, stat, errmsg)
  end subroutine

  !> Spins `twice_spin` / 2 with couplings J_x, J_y, J_z (default 1) between neighbours in a field along z.
  subroutine matrix_heisenberg(self, context, length, couplings, field, twice_spin, cyclic, dtype, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: length
    real(c_double), intent(in), optional :: couplings(3), field
    integer(c_int64_t), intent(in), optional :: twice_spin
    integer(c_int32_t), intent(in), optional :: dtype
    logical, intent(in), optional :: cyclic
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: all_couplings(3), strength
    integer(c_int64_t) :: spin
    type(outcome) :: o
    all_couplings = 1
    if (present(couplings)) all_couplings = couplings
    strength = 0
    if (present(field)) strength = field
    spin = 1
    if (present(twice_spin)) spin = twice_spin
    call drop_tt_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_matrix_heisenberg(context%handle(), either(dtype, PURLIN_F64), &
      length, flag(cyclic), spin, all_couplings, strength, self%key))
    self%context = context%handle()
    call finish(o, stat, errmsg)
  end subroutine

  !> The identity of mode sizes `modes`(d).
  subroutine matrix_identity(self, context, modes, dtype, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:)
    integer(c_int32_t), intent(in), optional :: dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt_matrix(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_matrix_identity(context%handle(), either(dtype, PURLIN_F64), &
      size(modes, kind=c_int64_t), modes, self%key))
    self%context = context%handle()
    call finish(o, stat, errmsg)
  end subroutine

  !> The sum over t of coefficients(t) times a product of factors(t) operators at single sites. Factor f of all, term by
  !> term, is operators(:, :, which(f)) at sites(f), which count from 1, as do the operators; all sites have `modes` n.
  subroutine matrix_from_terms(self, context, modes, coefficients, factors, sites, which, operators, cyclic, dtype, stat, &
    errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: modes(:), factors(:), sites(:)
    integer, intent(in) :: which(:)
    complex(c_double_complex), intent(in) :: coefficients(:)
    complex(c_double_complex), intent(in), contiguous, target :: operators(:, :, :)
    logical, intent(in), optional :: cyclic
    integer(c_int32_t), intent(in), optional :: dtype
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(c_double) :: parts(2 * size(coefficients))
    type(c_ptr) :: keys(size(operators, 3)), list(size(which))
    type(outcome) :: o
    integer :: k
    call drop_tt_matrix(self, o)
    keys = c_null_ptr
    call expect_as_many(o, 'factors', size(factors, kind=c_int64_t), 'coefficients', size(coefficients, kind=c_int64_t))
    if (size(sites) /= sum(factors) .or. size(which) /= sum(factors)) call refuse(o, 'sites, which: not as many as factors')
    if (any(which < 1) .or. any(which > size(operators, 3))) call refuse(o, 'which: names an operator that there is not')
    parts(1::2) = real(coefficients)
    parts(2::2) = aimag(coefficients)
    do k = 1, size(operators, 3)
      call core_tensor(o, context%handle(), PURLIN_CF64, PURLIN_READ_ONLY, shape(operators(:, :, k), kind=c_int64_t), &
        .true., c_loc(operators(1, 1, k)), keys(k))
    end do
    if (o%status == PURLIN_SUCCESS) then
      list = keys(which)
      call absorb(o, c_tt_matrix_from_terms(context%handle(), either(dtype, PURLIN_F64), size(modes, kind=c_int64_t), &
        modes, flag(cyclic), size(coefficients, kind=c_int64_t), parts, factors, sites - 1, list, self%key))
    end if
    do k = 1, size(keys)
      call absorb(o, c_tensor_destroy(keys(k)))
    end do
    self%context = context%handle()
    call finish(o, stat, errmsg)
  end subroutine

  pure function flag(given) result(number)
    logical, intent(in), optional :: given
    integer(c_int32_t) :: number
    number = 0
    if (present(given)) number = merge(1_c_int32_t, 0_c_int32_t, given)
  end function

  !> Arrays `a(w, m, n, v)` in place: `cores`(d), each with its array (`cores(k)%borrow`).
  subroutine matrix_borrow(self, context, cores, flags, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    type(purlin_tt_core), intent(in) :: cores(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt_matrix(self, o)
    call cores_chained(o, cores, 4)
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_matrix_borrow(context%handle(), cores(1)%dtype, either(flags, 0_c_int32_t), &
        size(cores, kind=c_int64_t), cores%dims(2), cores%dims(3), [cores(1)%dims(1), cores%dims(4)], cores%address, &
        self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> Host memory by address: `addresses`(d) of packed cores.
  subroutine matrix_borrow_address(self, context, dtype, rows, cols, ranks, addresses, flags, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows(:), cols(:), ranks(:)
    type(c_ptr), intent(in) :: addresses(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt_matrix(self, o)
    call one_more_rank(o, size(rows), size(ranks))
    call expect_as_many(o, 'cols', size(cols, kind=c_int64_t), 'rows', size(rows, kind=c_int64_t))
    call expect_as_many(o, 'addresses', size(addresses, kind=c_int64_t), 'rows', size(rows, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_matrix_borrow(context%handle(), dtype, either(flags, 0_c_int32_t), size(rows, kind=c_int64_t), rows, &
        cols, ranks, addresses, self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  !> Device memory: `addresses`(d) hold the CUdeviceptr of each core.
  subroutine matrix_borrow_device(self, context, dtype, rows, cols, ranks, addresses, flags, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: rows(:), cols(:), ranks(:), addresses(:)
    integer(c_int32_t), intent(in), optional :: flags
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_tt_matrix(self, o)
    call one_more_rank(o, size(rows), size(ranks))
    call expect_as_many(o, 'cols', size(cols, kind=c_int64_t), 'rows', size(rows, kind=c_int64_t))
    call expect_as_many(o, 'addresses', size(addresses, kind=c_int64_t), 'rows', size(rows, kind=c_int64_t))
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_tt_matrix_borrow_device(context%handle(), dtype, either(flags, 0_c_int32_t), &
        size(rows, kind=c_int64_t), rows, cols, ranks, addresses, self%key))
      self%context = context%handle()
    end if
    call finish(o, stat, errmsg)
  end subroutine

  subroutine matrix_properties(self, info, stat, errmsg)
    class(purlin_tt_matrix), intent(in) :: self
    type(purlin_tt_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_matrix_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Row and column mode sizes (d) and ranks (d + 1).
  subroutine matrix_shape(self, rows, cols, ranks, stat, errmsg)
    class(purlin_tt_matrix), intent(in) :: self
    integer(c_int64_t), allocatable, target, intent(out) :: rows(:), cols(:), ranks(:)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_tt_info) :: info
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_tt_matrix_properties(self%key, info))
    if (o%status /= PURLIN_SUCCESS) info%length = 0
    allocate (rows(info%length), cols(info%length), ranks(merge(info%length + 1, 0_c_int64_t, info%length > 0)))
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_matrix_shape(self%key, info%length, c_loc(rows), c_loc(cols), &
      c_loc(ranks)))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_tt_matrix.inc'

  subroutine tt_matrix_adopt(matrix, context, key, o)
    type(purlin_tt_matrix), intent(inout) :: matrix
    type(c_ptr), intent(in) :: context, key
    type(outcome), intent(inout) :: o
    if (o%status /= PURLIN_SUCCESS) return
    call drop_tt_matrix(matrix, o)
    matrix%key = key
    matrix%context = context
  end subroutine

  !> Copies an array into core `k`, w x m x n x v.
  subroutine matrix_set_core_r32(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_float), intent(in), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_put_core(self%key, self%context, k, PURLIN_F32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine matrix_set_core_r64(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_double), intent(in), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_put_core(self%key, self%context, k, PURLIN_F64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine matrix_set_core_c32(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_float_complex), intent(in), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_put_core(self%key, self%context, k, PURLIN_CF32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine matrix_set_core_c64(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(inout) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_double_complex), intent(in), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_put_core(self%key, self%context, k, PURLIN_CF64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  !> Copies core `k`, w x m x n x v, into an array.
  subroutine matrix_core_r32(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_float), intent(inout), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_get_core(self%key, self%context, k, PURLIN_F32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine matrix_core_r64(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    real(c_double), intent(inout), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_get_core(self%key, self%context, k, PURLIN_F64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine matrix_core_c32(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_float_complex), intent(inout), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_get_core(self%key, self%context, k, PURLIN_CF32, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  subroutine matrix_core_c64(self, k, array, stream, stat, errmsg)
    class(purlin_tt_matrix), intent(in) :: self
    integer(c_int64_t), intent(in) :: k
    complex(c_double_complex), intent(inout), target :: array(:, :, :, :)
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call matrix_get_core(self%key, self%context, k, PURLIN_CF64, shape(array, kind=c_int64_t), &
      is_contiguous(array), c_loc(array), stream, stat, errmsg)
  end subroutine

  !> Whether the elements of a TT-matrix are complex; false for an invalid handle, which the next call refuses.
  function tt_matrix_is_complex(matrix) result(complex_elements)
    type(purlin_tt_matrix), intent(in) :: matrix
    logical :: complex_elements
    type(purlin_tt_info) :: info
    call purlin_init(info)
    complex_elements = .false.
    if (c_tt_matrix_properties(matrix%key, info) /= PURLIN_SUCCESS) return
    complex_elements = info%dtype == PURLIN_CF32 .or. info%dtype == PURLIN_CF64
  end function

  !> The handle of an optional TT-matrix, NULL when it is absent.
  pure function tt_matrix_key(matrix) result(key)
    type(purlin_tt_matrix), intent(in), optional :: matrix
    type(c_ptr) :: key
    key = c_null_ptr
    if (present(matrix)) key = matrix%key
  end function

  subroutine matrix_put_core(train, context, k, dtype, dims, packed, address, stream, stat, errmsg)
    type(c_ptr), intent(in) :: train, context, address
    integer(c_int64_t), intent(in) :: k, dims(:)
    integer(c_int32_t), intent(in) :: dtype
    logical, intent(in) :: packed
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: tensor
    type(outcome) :: o
    call core_tensor(o, context, dtype, PURLIN_READ_ONLY, dims, packed, address, tensor)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_matrix_set_core(train, stream_key(stream), k - 1, tensor))
    call absorb(o, c_tensor_destroy(tensor))
    call finish(o, stat, errmsg)
  end subroutine

  subroutine matrix_get_core(train, context, k, dtype, dims, packed, address, stream, stat, errmsg)
    type(c_ptr), intent(in) :: train, context, address
    integer(c_int64_t), intent(in) :: k, dims(:)
    integer(c_int32_t), intent(in) :: dtype
    logical, intent(in) :: packed
    type(purlin_stream), intent(in), optional :: stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: tensor
    type(outcome) :: o
    call core_tensor(o, context, dtype, 0_c_int32_t, dims, packed, address, tensor)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_tt_matrix_core(train, stream_key(stream), k - 1, tensor))
    call absorb(o, c_tensor_destroy(tensor))
    call finish(o, stat, errmsg)
  end subroutine

  include 'integers/tt_matrix.inc'
end module purlin_tt_matrix_module
