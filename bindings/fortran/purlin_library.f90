!> Version, errors, devices and the initialisers of the option and info structs.
module purlin_library
  use, intrinsic :: iso_c_binding, only: c_ptr, c_char, c_null_char, c_associated, c_f_pointer, c_int32_t, c_int64_t, c_size_t, &
    c_sizeof
  use, intrinsic :: iso_fortran_env, only: error_unit
  use purlin_types
  use purlin_c
  use purlin_c_blocks
  use purlin_c_rsvd
  use purlin_c_tt
  use purlin_c_spectra
  implicit none
  private
  public :: purlin_version, purlin_build_info, purlin_status_string, purlin_last_error_message, purlin_live_handles
  public :: purlin_string, purlin_device_count, purlin_device_properties, purlin_init
  public :: outcome, absorb, refuse, refuse_null, finish

  !> Defaults into an option, info or result struct: `call purlin_init(options)`. Always the first thing done to one.
  interface purlin_init
    include 'generated/purlin_init_generic.inc'
  end interface

  !> A Fortran string from a NUL-terminated one, given as an address or as an array.
  interface purlin_string
    module procedure string_from_pointer, string_from_array
  end interface

  interface
    function c_strlen(text) bind(c, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

  !> The first failure met inside one call of this module's layers; the text is kept because destroying the
  !> temporaries of the call overwrites the library's own last message.
  type :: outcome
    integer(c_int32_t) :: status = PURLIN_SUCCESS
    character(512) :: message = ''
  end type

contains

  !> major*10000 + minor*100 + patch of the library that is loaded.
  function purlin_version() result(version)
    integer(c_int32_t) :: version
    version = c_version()
  end function

  !> One line: version, CUDA or not, GPU architectures.
  function purlin_build_info() result(text)
    character(:), allocatable :: text
    text = string_from_pointer(c_build_info())
  end function

  !> The name of a status, for instance 'PURLIN_ERROR_BUSY'.
  function purlin_status_string(status) result(text)
    integer(c_int32_t), intent(in) :: status
    character(:), allocatable :: text
    text = string_from_pointer(c_status_string(status))
  end function

  !> What went wrong in this thread's last call of the library; empty after a success.
  function purlin_last_error_message() result(text)
    character(:), allocatable :: text
    text = string_from_pointer(c_last_error_message())
  end function

  !> Objects of the library that have not been destroyed.
  function purlin_live_handles() result(count)
    integer(c_int64_t) :: count
    count = c_live_handles()
  end function

  function string_from_pointer(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    text = ''
    if (.not. c_associated(address)) return
    call c_f_pointer(address, characters, [c_strlen(address)])
    text = joined(characters)
  end function

  function string_from_array(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: text
    integer :: i
    do i = 1, size(characters)
      if (iachar(characters(i)) == 0) exit
    end do
    text = joined(characters(:i - 1))
  end function

  pure function joined(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(size(characters)) :: text
    integer :: i
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function

  !> Number of GPUs; 0, and no error, on a machine without a driver.
  function purlin_device_count(stat, errmsg) result(count)
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: count
    type(outcome) :: o
    count = 0
    call absorb(o, c_device_count(count))
    call finish(o, stat, errmsg)
  end function

  !> Properties of a GPU. `ordinal` is CUDA's: the first one is 0.
  subroutine purlin_device_properties(ordinal, info, stat, errmsg)
    integer(c_int32_t), intent(in) :: ordinal
    type(purlin_device_info), intent(inout) :: info
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(outcome) :: o
    call init_device_info(info)
    call absorb(o, c_device_properties(ordinal, info))
    call finish(o, stat, errmsg)
  end subroutine

  !> Keeps the status of a library call, with its message, unless an earlier one failed.
  subroutine absorb(o, status)
    type(outcome), intent(inout) :: o
    integer(c_int32_t), intent(in) :: status
    if (o%status /= PURLIN_SUCCESS .or. status == PURLIN_SUCCESS) return
    o%status = status
    o%message = purlin_last_error_message()
    ! A message about a file has the numbers of its lines, pages and entries, and begins with its name.
    if (status == PURLIN_ERROR_IO) return
    if (is_counted_from_one(o%message)) return
    associate (word => word_of_index(o%message))
      if (word == '') return
      if (index(o%message, 'outside 1 to ') == 0) then
        o%message = trim(o%message) // ' (counted from 0)'
      else if (index(word, ': is') == 0 .and. index(word, '[') == 0) then
        ! The value and its range are from 1, its place is not.
        o%message = trim(o%message) // ' (' // trim(word) // ' counted from 0)'
      end if
    end associate
  end subroutine

  !> Counts the indices of a message from one, if it is one of those below as a whole: each % is an index, and a 0 the first
  !> index. Other messages may speak of indices, sizes and values in one sentence. MATLAB has the same list, and a test compares
  !> both with the library's calls.
  function is_counted_from_one(message) result(is_counted)
    character(*), intent(inout) :: message
    character(50), parameter :: forms(16) = [character(50) :: &
      'bond: is %, outside 0 to %', 'cut: is %, outside 0 to %', 'k: is %, outside 0 to %', &
      'site: is %, outside 0 to %', 'first: is %, outside 0 to %', 'last: is %, outside 0 to %', &
      'centre: is %, outside 0 to %', 'sites: element % is %, outside 0 to %', &
      'views: element % is %, outside 0 to %', 'rows: element % is %, outside 0 to %', &
      'cols: element % is %, outside 0 to %', 'views: element % is %, which was pushed before', &
      'views: name view % twice', 'rows: elements % and % are both %', 'cols: elements % and % are both %', &
      'first, last: are % and %, not in order from 0 to %']
    character(:), allocatable :: text
    character(24) :: digits
    integer(c_int64_t) :: number
    integer :: i, j, at, length, failed
    logical :: is_counted
    is_counted = .false.
    do i = 1, size(forms)
      text = ''
      at = 1
      do j = 1, len_trim(forms(i))
        if (at > len(message)) exit
        select case (forms(i)(j:j))
        case ('%')
          length = verify(message(at:) // ' ', '-0123456789') - 1
          read (message(at:at + length - 1), *, iostat=failed) number
          if (length == 0 .or. failed /= 0) exit
          write (digits, '(i0)') number + 1
          text = text // trim(digits)
          at = at + length
        case default
          if (message(at:at) /= forms(i)(j:j)) exit
          text = text // merge('1', message(at:at), message(at:at) == '0')
          at = at + 1
        end select
      end do
      is_counted = j > len_trim(forms(i)) .and. at > len_trim(message)
      if (is_counted) then
        message = text
        return
      end if
    end do
  end function

  !> The word of a message of the library before a number that is an index, all of which the library counts from 0: one for
  !> a part of an argument, or an argument that is itself an index. Blank without such a number.
  function word_of_index(message) result(word)
    character(*), intent(in) :: message
    character(13), parameter :: words(41) = [character(13) :: &
      'core', 'cores', 'bond', 'bonds', 'site', 'sites', 'tuple', 'element', 'elements', 'entry', 'index', 'term', &
      'operator', 'train', 'view', 'voxel', 'pixel', 'tensor', 'tensors from', 'vector', 'pair', 'row', 'rows', &
      'column', 'vertex', 'component', 'feature', 'number', 'mode', 'axis', 'not finite in', 'x[', 'y[', &
      'contexts[', 'cut: is', 'centre: is', 'first: is', 'last: is', 'bond: is', 'site: is', 'k: is']
    character(len(words)) :: word
    character(:), allocatable :: key
    integer :: i, at, next, before
    word = ''
    if (index(message, 'from 0)') > 0) return
    do i = 1, size(words)
      key = trim(words(i))
      if (index(key, '[') == 0) key = key // ' '
      at = 1
      do
        next = index(message(at:), key)
        if (next == 0) exit
        before = at + next - 2
        at = at + next + len(key) - 1
        if (at > len(message)) exit
        if (before > 0) then
          if (index('abcdefghijklmnopqrstuvwxyz_', message(before:before)) > 0) cycle
        end if
        if (message(at:at) == '-' .and. at < len(message)) at = at + 1
        if (index('0123456789', message(at:at)) > 0) then
          word = words(i)
          return
        end if
      end do
    end do
  end function

  !> Records an invalid argument found by the Fortran layer itself.
  subroutine refuse(o, message)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: message
    if (o%status /= PURLIN_SUCCESS) return
    o%status = PURLIN_ERROR_INVALID_ARGUMENT
    o%message = message
  end subroutine

  !> Refuses a path with a null character before its end, where C would end it: another file would be meant.
  subroutine refuse_null(o, path)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: path
    integer :: i
    i = index(path, c_null_char)
    if (i == 0) return
    if (verify(path(i:), c_null_char//' ') > 0) call refuse(o, 'path: has an embedded null character')
  end subroutine

  !> Ends a call as `allocate` does: into stat and errmsg, or, with stat absent, by stopping the program.
  subroutine finish(o, stat, errmsg)
    type(outcome), intent(in) :: o
    integer(c_int32_t), intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(stat)) stat = o%status
    if (o%status == PURLIN_SUCCESS) return
    if (present(errmsg)) errmsg = o%message
    if (present(stat)) return
    write (error_unit, '(4a)') 'purlin: ', purlin_status_string(o%status), ': ', trim(o%message)
    error stop 1
  end subroutine

  include 'generated/purlin_init.inc'

  !> An initialiser fails only when the struct is unknown to the library, which nobody could handle at run time.
  subroutine initialised(status)
    integer(c_int32_t), intent(in) :: status
    type(outcome) :: o
    call absorb(o, status)
    call finish(o)
  end subroutine
end module purlin_library
