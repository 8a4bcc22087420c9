# `cmake --install build --prefix FOLDER`: the program, libminfer with its headers, and what lets others find it:
# a CMake package (find_package(minfer), target minfer::minfer) and a pkg-config file.
include(CMakePackageConfigHelpers)

if(TARGET minfer)
  install(TARGETS minfer RUNTIME)
endif()
if(NOT TARGET minfer_shared)
  return()
endif()
install(TARGETS minfer_shared EXPORT minfer LIBRARY)
install(FILES include/minfer/minfer.h include/minfer/minfer.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/minfer)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/minfer)
install(EXPORT minfer NAMESPACE minfer:: FILE minferConfig.cmake DESTINATION ${package})
write_basic_package_version_file(minferConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/minferConfigVersion.cmake DESTINATION ${package})

file(RELATIVE_PATH MINFER_PC_INCLUDEDIR /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/minfer.pc.in minfer.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/minfer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
