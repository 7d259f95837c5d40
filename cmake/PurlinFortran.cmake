# Purlin::fortran from the Fortran sources in a folder. A .mod file belongs to one version of one compiler, so the
# package has the source, and its user compiles it: the build tree, and find_package if no module for the user's
# compiler is installed.

function(purlin_add_fortran folder)
  if(TARGET Purlin::fortran)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.f90")
  if(NOT sources)
    message(FATAL_ERROR "Purlin: no Fortran source in ${folder}")
  endif()
  set(modules "${CMAKE_CURRENT_BINARY_DIR}/purlin_fortran_modules")
  add_library(purlin_fortran STATIC ${sources})
  set_target_properties(purlin_fortran PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    Fortran_MODULE_DIRECTORY "${modules}")
  target_include_directories(purlin_fortran PRIVATE "${folder}" INTERFACE "${modules}")
  target_link_libraries(purlin_fortran PUBLIC Purlin::purlin)
  add_library(Purlin::fortran ALIAS purlin_fortran)
endfunction()
