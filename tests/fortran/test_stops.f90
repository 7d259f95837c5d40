! Ends with the error that the command line names. The test fails if the program reaches its end.
program test_stops
  use, intrinsic :: iso_fortran_env, only: int64
  use purlin
  implicit none
  character(16) :: which
  call get_command_argument(1, which)
  if (which == 'copy') then
    call copy()
  else
    call unhandled()
  end if
  print '(a)', 'the program went on'

contains

  subroutine unhandled()
    type(purlin_context) :: context
    call context%create(backend=77)
  end subroutine

  subroutine copy()
    type(purlin_context) :: context
    type(purlin_tensor) :: one, two
    call context%create(backend=PURLIN_BACKEND_CPU)
    call one%create(context, PURLIN_F64, [3_int64])
    two = one
    call two%destroy()
  end subroutine
end program test_stops
