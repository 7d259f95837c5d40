# Untested: vcpkg has not run this port.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
vcpkg_download_distfile(archive
  URLS "URL/purlin-${VERSION}.tar.gz" FILENAME "purlin-${VERSION}.tar.gz" SHA512 CHECKSUM)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")
set(ENV{PURLIN_CUDA} off)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}/cmake")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Purlin CONFIG_PATH lib/cmake/Purlin)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE")
