! The smallest program that shows that the module, the library and the compiler match.
program package_fortran
  use, intrinsic :: iso_fortran_env, only: int64
  use purlin
  implicit none
  call use_context()
  if (purlin_live_handles() /= 0_int64) error stop 'a handle is left'
  print '(a)', purlin_build_info()
contains
  subroutine use_context()
    type(purlin_context) :: context
    call context%create(backend=PURLIN_BACKEND_CPU)
    if (purlin_live_handles() /= 1_int64) error stop 'no handle was made'
  end subroutine use_context
end program package_fortran
