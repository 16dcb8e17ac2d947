# What `cmake --install` puts in place: the library, its public headers and what find_package(sorus) needs.
# A wheel has its own rules, in python/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(SORUS_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sorus)
install(TARGETS sorus EXPORT sorus-targets COMPONENT sorus
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT sorus)
install(TARGETS sorus_text COMPONENT sorus LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/sorus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT sorus
  FILES_MATCHING PATTERN "*.h" PATTERN "detail" EXCLUDE PATTERN "kernels" EXCLUDE PATTERN "math" EXCLUDE
  PATTERN "passes" EXCLUDE PATTERN "plugin" EXCLUDE)
install(EXPORT sorus-targets NAMESPACE sorus:: DESTINATION ${SORUS_PACKAGE_DIR} COMPONENT sorus)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sorus-config.cmake.in
  ${PROJECT_BINARY_DIR}/sorus-config.cmake INSTALL_DESTINATION ${SORUS_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sorus-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sorus-config.cmake ${PROJECT_BINARY_DIR}/sorus-config-version.cmake
  DESTINATION ${SORUS_PACKAGE_DIR} COMPONENT sorus)
