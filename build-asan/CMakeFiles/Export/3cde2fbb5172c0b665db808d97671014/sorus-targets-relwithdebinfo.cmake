#----------------------------------------------------------------
# Generated CMake target import file for configuration "RelWithDebInfo".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "sorus::sorus" for configuration "RelWithDebInfo"
set_property(TARGET sorus::sorus APPEND PROPERTY IMPORTED_CONFIGURATIONS RELWITHDEBINFO)
set_target_properties(sorus::sorus PROPERTIES
  IMPORTED_LINK_DEPENDENT_LIBRARIES_RELWITHDEBINFO "DNNL::dnnl;hwy::hwy;spdlog::spdlog"
  IMPORTED_LOCATION_RELWITHDEBINFO "${_IMPORT_PREFIX}/lib/libsorus.so.0.1.0"
  IMPORTED_SONAME_RELWITHDEBINFO "libsorus.so.0"
  )

list(APPEND _cmake_import_check_targets sorus::sorus )
list(APPEND _cmake_import_check_files_for_sorus::sorus "${_IMPORT_PREFIX}/lib/libsorus.so.0.1.0" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
