# The installed files and their folders. None of them contains the prefix, so the tree may be moved or packed afterwards.

set(purlin_data_dir "${CMAKE_INSTALL_DATADIR}/purlin")
set(purlin_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Purlin")
set(purlin_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(purlin_module_dir "${CMAKE_INSTALL_LIBDIR}/purlin/fortran")

install(FILES
  "${purlin_lib_dir}/${purlin_file}" "${purlin_lib_dir}/${purlin_soname}" "${purlin_lib_dir}/libpurlin.so"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(DIRECTORY "${PURLIN_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY "${PURLIN_SOURCE_DIR}/bindings/fortran/" DESTINATION "${purlin_data_dir}/fortran"
  FILES_MATCHING PATTERN "*.f90" PATTERN "*.inc" PATTERN "order.txt")
install(DIRECTORY "${PURLIN_SOURCE_DIR}/bindings/matlab/" DESTINATION "${purlin_data_dir}/matlab"
  FILES_MATCHING PATTERN "*.m" PATTERN "*.c" PATTERN "*.cpp" PATTERN "*.h")
install(FILES "${PURLIN_SOURCE_DIR}/LICENSE-MIT" "${PURLIN_SOURCE_DIR}/LICENSE-APACHE"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/purlin")

# The compiler whose modules are installed; empty when none are.
set(purlin_fortran_compiler "")
set(purlin_fortran_archive "")
if(PURLIN_FORTRAN)
  set(purlin_fortran_compiler "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  install(FILES "$<TARGET_FILE:purlin_fortran>" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/purlin_fortran_modules/" DESTINATION "${purlin_module_dir}"
    FILES_MATCHING PATTERN "*.mod" PATTERN "*.smod")
endif()

configure_file("${CMAKE_CURRENT_LIST_DIR}/PurlinConfigVersion.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/PurlinConfigVersion.cmake" @ONLY)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/PurlinConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/PurlinConfig.cmake"
  INSTALL_DESTINATION "${purlin_package_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR purlin_data_dir purlin_module_dir
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/PurlinConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/PurlinConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/PurlinFortran.cmake"
  DESTINATION "${purlin_package_dir}")

# ${pcfiledir} makes purlin.pc relocatable; the way up from it depends on the layout (lib/x86_64-linux-gnu).
set(purlin_pc_full "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${purlin_pc_full}" OUTPUT_VARIABLE purlin_pc_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
  OUTPUT_VARIABLE purlin_pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
  OUTPUT_VARIABLE purlin_pc_includedir)
configure_file("${CMAKE_CURRENT_LIST_DIR}/purlin.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/purlin.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/purlin.pc" DESTINATION "${purlin_pc_dir}")
if(PURLIN_FORTRAN)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/purlin-fortran.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/purlin-fortran.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/purlin-fortran.pc" DESTINATION "${purlin_pc_dir}")
endif()
