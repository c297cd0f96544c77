# cmake --install: the program, the public headers, and the package that find_package(ekvi) reads.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ekvi)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ekviConfig.cmake.in ${PROJECT_BINARY_DIR}/ekviConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ekviConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ekviConfig.cmake ${PROJECT_BINARY_DIR}/ekviConfigVersion.cmake
  DESTINATION ${package_folder})
install(EXPORT ekvi NAMESPACE ekvi:: FILE ekviTargets.cmake DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ekvi
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
