!> Version, errors, devices and the initializers of the option and info structs.
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
  public :: outcome, absorb, refuse, refuse_null, expect_as_many, finish, counted_from_one, name_argument

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

  !> The message of the error in this thread's last call of the library; empty after a success.
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
    if (status == PURLIN_ERROR_IO .or. index(o%message, 'restart_path: ') == 1) return
    o%message = counted_from_one(trim(o%message))
  end subroutine

  !> A text of the library, which counts indices from 0, with its indices counted from 1.
  pure function counted_from_one(text) result(counted)
    character(*), intent(in) :: text
    character(:), allocatable :: counted
    logical :: is_known
    call count_an_index(text, counted, is_known)
    if (.not. is_known) call count_indices(text, counted)
  end function

  !> A message about an index that there is not with its numbers counted from 1, if it is one of those below as a whole:
  !> each % is an index, and a 0 the first index. MATLAB has the same list, and a test compares both with the library's
  !> calls.
  pure subroutine count_an_index(message, text, is_counted)
    character(*), intent(in) :: message
    character(:), allocatable, intent(out) :: text
    logical, intent(out) :: is_counted
    character(50), parameter :: forms(19) = [character(50) :: &
      'bond: is %, outside 0 to %', 'cut: is %, outside 0 to %', 'k: is %, outside 0 to %', &
      'sites: is %, outside 0 to %', 'first: is %, outside 0 to %', 'last: is %, outside 0 to %', &
      'centre: is %, outside 0 to %', 'sites: element % is %, outside 0 to %', &
      'views: element % is %, outside 0 to %', 'rows: element % is %, outside 0 to %', &
      'cols: element % is %, outside 0 to %', 'views: element % is %, which was pushed before', &
      'views: name view % twice', 'rows: elements % and % are both %', 'cols: elements % and % are both %', &
      'first, last: are % and %, not in order from 0 to %', 'which: is %, outside 0 to %', &
      'indices: element % is %, outside 0 to %', 'indices: tuple %: element % is %, outside 0 to %']
    character(24) :: digits
    integer(c_int64_t) :: number
    integer :: i, j, at, length, failed
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
      if (is_counted) return
    end do
  end subroutine

  !> A text of the library with its indices counted from 1: those behind words, and those of a list behind "at". The library
  !> counts them from 0, and says so in some texts. MATLAB has the same words, and a test compares them.
  pure subroutine count_indices(text, counted)
    character(*), intent(in) :: text
    character(:), allocatable, intent(out) :: counted
    logical :: is_list, is_plural
    integer :: at, length
    counted = ''
    is_list = .false.
    at = 1
    do while (at <= len(text))
      if (begins(text(at:), ' (from 0)')) then
        at = at + 9
        cycle
      end if
      if (begins(text(at:), ' at [')) is_list = .true.
      if (text(at:at) == ']') is_list = .false.
      call word_of_index(text, at, length, is_plural)
      if (length == 0 .and. is_list .and. at > 1) then
        if (scan(text(at - 1:at - 1), '[ ') > 0 .and. index_length(text(at:)) > 0) then
          call copy_index(text, at, counted)
          cycle
        end if
      end if
      if (length == 0) then
        counted = counted // text(at:at)
        at = at + 1
        cycle
      end if
      counted = counted // text(at:at + length - 1)
      at = at + length
      call copy_index(text, at, counted)
      if (.not. is_plural) cycle
      length = 0
      if (begins(text(at:), ' to ')) length = 4
      if (begins(text(at:), ' and ')) length = 5
      if (length == 0) cycle
      if (index_length(text(at + length:)) == 0) cycle
      counted = counted // text(at:at + length - 1)
      at = at + length
      call copy_index(text, at, counted)
    end do
  end subroutine

  pure function begins(text, with)
    character(*), intent(in) :: text, with
    logical :: begins
    begins = .false.
    if (len(text) >= len(with)) begins = text(:len(with)) == with
  end function

  !> The length of the index that `text` begins with, 0 for none. A number with a fraction is none, and a part of a name of a
  !> file is none.
  pure function index_length(text) result(length)
    character(*), intent(in) :: text
    integer :: length, sign
    sign = 0
    if (begins(text, '-')) sign = 1
    length = sign + verify(text(sign + 1:) // ' ', '0123456789') - 1
    if (length == sign .or. length > 18) then
      length = 0
      return
    end if
    associate (behind => text(length + 1:) // '  ')
      if (behind(1:1) == '.' .and. scan(behind(2:2), ' ,:;)]') > 0) return
      if (scan(behind(1:1), ' ,:;)]') == 0) length = 0
    end associate
  end function

  !> Appends the index at `at` plus 1, and moves `at` behind it.
  pure subroutine copy_index(text, at, counted)
    character(*), intent(in) :: text
    integer, intent(inout) :: at
    character(:), allocatable, intent(inout) :: counted
    character(24) :: digits
    integer(c_int64_t) :: number
    integer :: length
    length = index_length(text(at:))
    read (text(at:at + length - 1), *) number
    write (digits, '(i0)') number + 1
    counted = counted // trim(digits)
    at = at + length
  end subroutine

  !> The length of a word of the library's messages that begins at `at` and stands directly before an index; 0 for none.
  !> Behind one that `is_plural` a second index may follow.
  pure subroutine word_of_index(text, at, length, is_plural)
    character(*), intent(in) :: text
    integer, intent(in) :: at
    integer, intent(out) :: length
    logical, intent(out) :: is_plural
    integer, parameter :: singulars = 29
    character(13), parameter :: words(36) = [character(13) :: &
      'core', 'bond', 'site', 'tuple', 'element', 'entry', 'index', 'term', 'operator', 'train', 'view', 'voxel', 'pixel', &
      'tensor', 'vector', 'pair', 'row', 'column', 'vertex', 'component', 'feature', 'sample', 'number', 'mode', 'axis', &
      'block', 'x[', 'y[', 'cut: is', 'cores', 'bonds', 'sites', 'elements', 'rows', 'columns', 'tensors from']
    character(:), allocatable :: word
    integer :: i
    length = 0
    is_plural = .false.
    if (at > 1) then
      if (scan(text(at - 1:at - 1), 'abcdefghijklmnopqrstuvwxyz_') > 0) return
    end if
    do i = 1, size(words)
      word = trim(words(i))
      if (index(word, '[') == 0) word = word // ' '
      if (.not. begins(text(at:), word)) cycle
      if (index_length(text(at + len(word):)) == 0) cycle
      length = len(word)
      is_plural = i > singulars
      return
    end do
  end subroutine

  !> Records an invalid argument found by the Fortran layer itself.
  subroutine refuse(o, message)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: message
    if (o%status /= PURLIN_SUCCESS) return
    o%status = PURLIN_ERROR_INVALID_ARGUMENT
    o%message = message
  end subroutine

  !> Refuses an array that has more or fewer elements than another one.
  subroutine expect_as_many(o, name, elements, other, expected)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: name, other
    integer(c_int64_t), intent(in) :: elements, expected
    character(128) :: text
    if (elements == expected) return
    write (text, '(2a, i0, 3a, i0)') name, ': has ', elements, ' elements, ', other, ' has ', expected
    call refuse(o, trim(text))
  end subroutine

  !> Gives an argument, which the library calls otherwise, the name in this module in the message about it.
  subroutine name_argument(o, library, name)
    type(outcome), intent(inout) :: o
    character(*), intent(in) :: library, name
    if (o%status == PURLIN_SUCCESS) return
    if (index(o%message, library // ':') == 1) o%message = name // o%message(len(library) + 1:)
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

  !> An initializer fails only when the struct is unknown to the library, which nobody could handle at run time.
  subroutine initialized(status)
    integer(c_int32_t), intent(in) :: status
    type(outcome) :: o
    call absorb(o, status)
    call finish(o)
  end subroutine
end module purlin_library
