! Library, devices, contexts, groups and streams: their properties, failures and lifetimes.
module log_counter
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int32_t, c_associated
  use purlin
  implicit none
  integer(c_int32_t), volatile :: log_lines = 0

contains

  subroutine count_line(level, message, user) bind(c)
    integer(c_int32_t), value :: level
    type(c_ptr), value :: message, user
    character(:), allocatable :: line
    line = purlin_string(message)
    if (level > PURLIN_LOG_OFF .and. len(line) > 0 .and. .not. c_associated(user)) log_lines = log_lines + 1
  end subroutine
end module log_counter

program test_objects
  use, intrinsic :: iso_c_binding, only: c_funloc, c_associated
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use log_counter
  use purlin
  use checks
  implicit none

  call library()
  call devices()
  call contexts()
  call failures()
  call streams()
  call groups()
  call lifetimes()
  call check_none_live()

contains

  subroutine library()
    call check(purlin_version() == PURLIN_VERSION_MAJOR * 10000 + PURLIN_VERSION_MINOR * 100 + PURLIN_VERSION_PATCH, &
      'the library is of the version of the module')
    call check(len(purlin_build_info()) > 0, 'a description of the build')
    call check(purlin_status_string(PURLIN_ERROR_BUSY) == 'PURLIN_ERROR_BUSY', 'a status has its name')
    call check(len(purlin_status_string(12345)) > 0, 'any number is accepted for a status')
  end subroutine

  subroutine devices()
    type(purlin_device_info) :: info
    integer(int32) :: count, stat
    character(200) :: message
    count = purlin_device_count()
    call check(count >= 0, 'the number of GPUs')
    if (count > 0) then
      call purlin_device_properties(0, info)
      call check(len(purlin_string(info%name)) > 0, 'a GPU has a name')
      call check(info%memory_total > 0 .and. info%multiprocessors > 0, 'a GPU has memory and multiprocessors')
    end if
    message = ''
    call purlin_device_properties(99, info, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_NO_DEVICE .or. stat == PURLIN_ERROR_INVALID_ARGUMENT, 'there is no GPU 99')
    call check(message /= '', 'a failure has a message')
  end subroutine

  subroutine contexts()
    type(purlin_context) :: context
    type(purlin_context_options) :: options
    type(purlin_context_info) :: info
    integer(int32) :: stat
    call purlin_init(options)
    options%backend = PURLIN_BACKEND_CPU
    options%threads = 1
    options%host_memory_limit = 123456789_int64
    call context%create(options, threads=2, stat=stat)
    call check(stat == PURLIN_SUCCESS, 'a CPU context is created')
    call check(c_associated(context%handle()), 'a context has a handle')
    call context%properties(info)
    call check(info%backend == PURLIN_BACKEND_CPU, 'the backend asked for')
    call check(info%threads == 2, 'the keyword replaces the option')
    call check(info%host_memory_limit == 123456789_int64, 'the option is kept')
    call check(len(purlin_string(info%device_name)) > 0, 'the device has a name')
    call context%set_log(PURLIN_LOG_DEBUG, c_funloc(count_line))
    call context%cancel()
    call context%destroy()
    call check(.not. c_associated(context%handle()), 'a destroyed context has no handle')
    call context%destroy(stat=stat)
    call check(stat == PURLIN_SUCCESS, 'destroying nothing succeeds')
  end subroutine

  subroutine failures()
    type(purlin_context) :: context
    type(purlin_context_options) :: never_initialized, settings
    type(purlin_context_info) :: info
    integer(int32) :: stat
    character(200) :: message
    character(8) :: short
    message = ''
    call context%create(backend=77, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'an unknown backend is refused')
    call check(index(message, 'backend') == 1, 'the message names the argument')
    call check(purlin_live_handles() == 0_int64, 'a refused context leaves nothing')
    call context%create(backend=PURLIN_BACKEND_CPU, device=100, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'the CPU has no other device')
    call check(message == 'device: is 100, the backend CPU has no device but 0', message)
    call purlin_init(settings)
    settings%backend = PURLIN_BACKEND_CPU
    settings%device_memory_limit = 4096
    call context%create(settings, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'the CPU has no limit of device memory')
    call check(message == 'device_memory_limit: is 4096, the backend CPU has no device memory', message)
    short = ''
    call context%create(threads=-5, stat=stat, errmsg=short)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a negative number of threads is refused')
    call check(short == 'threads:', 'the message is cut to the length of errmsg')
    call context%create(never_initialized, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'options that nobody initialized are refused')
    message = 'untouched'
    call context%create(backend=PURLIN_BACKEND_CPU, stat=stat, errmsg=message)
    call check(stat == PURLIN_SUCCESS .and. message == 'untouched', 'errmsg is left alone by a success')
    call context%destroy()
    call context%properties(info, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_HANDLE, 'a destroyed context is refused')
    call check(index(message, 'context') > 0, 'the message names the context')
    call check(purlin_last_error_message() == message, 'it is the library''s last message')
    if (purlin_device_count() == 0) then
      call context%create(backend=PURLIN_BACKEND_CUDA, stat=stat)
      call check(stat == PURLIN_ERROR_NO_DEVICE, 'without a GPU there is no CUDA context')
    end if
  end subroutine

  subroutine streams()
    type(purlin_context) :: context
    type(purlin_stream) :: stream
    integer(int32) :: stat
    call stream%create(context, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_HANDLE, 'a stream needs a context')
    call context%create(backend=PURLIN_BACKEND_CPU)
    call stream%create(context)
    call stream%synchronize()
    call context%destroy()
    call stream%synchronize()
    call stream%destroy()
  end subroutine

  subroutine groups()
    type(purlin_context) :: contexts(2)
    type(purlin_group) :: group
    type(purlin_group_info) :: info
    type(purlin_group_options) :: options
    integer(int32) :: stat
    character(200) :: message
    call group%create(contexts, stat=stat)
    call check(stat == PURLIN_ERROR_INVALID_HANDLE, 'a group needs contexts')
    call contexts(1)%create(backend=PURLIN_BACKEND_CPU, threads=1)
    call contexts(2)%create(backend=PURLIN_BACKEND_CPU, threads=1)
    call group%create(contexts)
    call group%properties(info)
    call check(info%members == 2_int64, 'a group of two')
    call group%create([contexts(2)%handle()])
    call contexts(2)%destroy()
    call group%properties(info)
    call check(info%members == 1_int64, 'a group keeps its members')
    call group%create([contexts(1)%handle(), contexts(1)%handle()], stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'a context is given once')
    call check(index(message, 'contexts[1]: is given twice') == 1, 'the message names the second')
    call check(.not. c_associated(group%handle()), 'nothing is left of it')
    call purlin_init(options)
    call group%create([contexts(1)%handle()], options)
    call group%properties(info)
    call check(info%members == 1_int64, 'a group with options')
    options%struct_size = 1
    call group%create(contexts(1:1), options, stat=stat, errmsg=message)
    call check(stat == PURLIN_ERROR_INVALID_ARGUMENT, 'options of another size')
    call check(index(message, 'options: struct_size is 1') == 1, 'the message names the options')
    call group%destroy()
  end subroutine

  subroutine lifetimes()
    integer(int64) :: before
    before = purlin_live_handles()
    call make_and_leave()
    call check(purlin_live_handles() == before, 'leaving a procedure destroys its objects')
    call make_array_and_leave()
    call check(purlin_live_handles() == before, 'and those in arrays')
    call make_allocated_and_leave()
    call check(purlin_live_handles() == before, 'and allocated ones')
  end subroutine

  subroutine make_and_leave()
    type(purlin_context) :: context
    type(purlin_stream) :: stream
    call context%create(backend=PURLIN_BACKEND_CPU)
    call stream%create(context)
    call context%create(backend=PURLIN_BACKEND_CPU)
    call stream%create(context)
    call check(purlin_live_handles() == 2_int64, 'creating again replaces')
  end subroutine

  subroutine make_array_and_leave()
    type(purlin_context) :: contexts(3)
    integer :: i
    do i = 1, 3
      call contexts(i)%create(backend=PURLIN_BACKEND_CPU, threads=1)
    end do
    call check(purlin_live_handles() == 3_int64, 'three contexts')
  end subroutine

  subroutine make_allocated_and_leave()
    type(purlin_context), allocatable :: context
    allocate (context)
    call context%create(backend=PURLIN_BACKEND_CPU, threads=1)
    call check(purlin_live_handles() == 1_int64, 'one context')
  end subroutine
end program test_objects
