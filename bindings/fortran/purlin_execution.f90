!> Contexts, groups of contexts, and streams: where calls run and in which order.
!>
!> An object owns its handle: it is destroyed by `destroy`, or when a local variable of the type goes out of scope.
!> Variables of a main program live until it ends, which is after Fortran finalizes; call `destroy` for those.
!> An object is never copied, as both copies would own the same handle: assignment stops the program.
module purlin_execution
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_null_ptr, c_associated, c_int32_t, c_int64_t
  use purlin_types
  use purlin_c
  use purlin_library
  implicit none
  private
  public :: purlin_context, purlin_group, purlin_stream, stream_key

  type :: purlin_context
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure, private :: context_create
    generic :: create => context_create
    procedure :: properties => context_properties
    procedure :: set_log => context_set_log
    procedure :: cancel => context_cancel
    include 'integers/context_bound.inc'
    include 'generated/object_context_bound.inc'
  end type

  !> Contexts that share the work of a call, on devices of one kind: `options%group = group%handle()`. Matrices, tensors and
  !> streams belong to the first. The library keeps the members.
  type :: purlin_group
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure, private :: group_create, group_create_from_handles
    generic :: create => group_create, group_create_from_handles
    procedure :: properties => group_properties
    include 'generated/object_group_bound.inc'
  end type

  type :: purlin_stream
    private
    type(c_ptr) :: key = c_null_ptr
  contains
    procedure :: create => stream_create
    procedure :: wrap => stream_wrap
    procedure :: synchronize => stream_synchronize
    include 'generated/object_stream_bound.inc'
  end type

contains

  !> Creates the context, destroying the one held before. `options` come first, then the three that have a keyword of
  !> their own replace their members.
  subroutine context_create(self, options, backend, device, threads, stat, errmsg)
    class(purlin_context), intent(inout) :: self
    type(purlin_context_options), intent(in), optional :: options
    integer(c_int32_t), intent(in), optional :: backend, device
    integer(c_int64_t), intent(in), optional :: threads
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(purlin_context_options) :: chosen
    type(outcome) :: o
    character(64) :: text

    ! Below version 1.0 the minor number marks an incompatible library.
    if (purlin_version() / 100 /= PURLIN_VERSION_MAJOR * 100 + PURLIN_VERSION_MINOR) then
      write (text, '(a, i0, a, i0, a, i0)') 'libpurlin: is version ', purlin_version(), ', expected ', &
        PURLIN_VERSION_MAJOR, '.', PURLIN_VERSION_MINOR
      call refuse(o, trim(text))
      call finish(o, stat, errmsg)
      return
    end if
    call purlin_init(chosen)
    if (present(options)) chosen = options
    if (present(backend)) chosen%backend = backend
    if (present(device)) chosen%device = device
    if (present(threads)) chosen%threads = threads
    call drop_context(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_context_create(chosen, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_context.inc'

  !> Backend chosen, threads, instruction set, memory limits and use.
  subroutine context_properties(self, info, stat, errmsg)
    class(purlin_context), intent(in) :: self
    type(purlin_context_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_context_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Log level and receiver: `c_funloc` of a procedure with the interface purlin_log, which any thread may call.
  subroutine context_set_log(self, level, log, user, stat, errmsg)
    class(purlin_context), intent(inout) :: self
    integer(c_int32_t), intent(in) :: level
    type(c_funptr), value :: log
    type(c_ptr), intent(in), optional :: user
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    type(c_ptr) :: data
    data = c_null_ptr
    if (present(user)) data = user
    call absorb(o, c_context_set_log(self%key, level, log, data))
    call finish(o, stat, errmsg)
  end subroutine

  !> Cancels the call that runs on the context, from any thread; that call ends with PURLIN_ERROR_CANCELLED.
  subroutine context_cancel(self, stat, errmsg)
    class(purlin_context), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_context_cancel(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A group of `contexts`, in the order in which they share work.
  subroutine group_create(self, contexts, options, stat, errmsg)
    class(purlin_group), intent(inout) :: self
    type(purlin_context), intent(in) :: contexts(:)
    type(purlin_group_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: keys(size(contexts))
    integer :: k
    do k = 1, size(contexts)
      keys(k) = contexts(k)%key
    end do
    call self%group_create_from_handles(keys, options, stat, errmsg)
  end subroutine

  !> A group of the contexts of `handles`, as in `call group%create([first%handle(), second%handle()])`.
  subroutine group_create_from_handles(self, handles, options, stat, errmsg)
    class(purlin_group), intent(inout) :: self
    type(c_ptr), intent(in) :: handles(:)
    type(purlin_group_options), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_group(self, o)
    if (o%status == PURLIN_SUCCESS) then
      call absorb(o, c_group_create(size(handles, kind=c_int64_t), handles, options, self%key))
    end if
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_group.inc'

  !> The number of members.
  subroutine group_properties(self, info, stat, errmsg)
    class(purlin_group), intent(in) :: self
    type(purlin_group_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call purlin_init(info)
    call absorb(o, c_group_properties(self%key, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> A new ordered queue of the context.
  subroutine stream_create(self, context, stat, errmsg)
    class(purlin_stream), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_stream(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_stream_create(context%key, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> A stream around the caller's CUstream, which stays the caller's.
  subroutine stream_wrap(self, context, cuda_stream, stat, errmsg)
    class(purlin_stream), intent(inout) :: self
    type(purlin_context), intent(in) :: context
    integer(c_int64_t), intent(in) :: cuda_stream
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call drop_stream(self, o)
    if (o%status == PURLIN_SUCCESS) call absorb(o, c_stream_wrap(context%key, cuda_stream, self%key))
    call finish(o, stat, errmsg)
  end subroutine

  !> Waits for everything on the stream and reports the error of failed work.
  subroutine stream_synchronize(self, stat, errmsg)
    class(purlin_stream), intent(in) :: self
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call absorb(o, c_stream_synchronize(self%key))
    call finish(o, stat, errmsg)
  end subroutine

  include 'generated/object_stream.inc'

  !> The handle of an optional stream; NULL, the context's own stream, when it is absent.
  pure function stream_key(stream) result(key)
    type(purlin_stream), intent(in), optional :: stream
    type(c_ptr) :: key
    key = c_null_ptr
    if (present(stream)) key = stream%key
  end function

  include 'integers/execution.inc'
end module purlin_execution
