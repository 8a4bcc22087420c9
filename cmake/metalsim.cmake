# Adds metalsim where what it needs is there, and says what is missing where it is not.
option(MINFER_METALSIM "Build the software Metal device, if its compiler and libraries are found" ON)
if(NOT MINFER_METALSIM)
  return()
endif()

# A Mac has the real thing: only the function that compiles kernels is needed.
if(APPLE)
  include(${CMAKE_SOURCE_DIR}/metalsim/cmake/AddMetalLibrary.cmake)
  return()
endif()

set(metalsim_missing)
find_program(METALSIM_CLANG NAMES clang++-19 clang++-20 clang++-21)
find_library(METALSIM_BLOCKS BlocksRuntime)
find_path(METALSIM_LIBDW_INCLUDE elfutils/libdwfl.h)
foreach(part METALSIM_CLANG METALSIM_BLOCKS METALSIM_LIBDW_INCLUDE)
  if(NOT ${part})
    list(APPEND metalsim_missing ${part})
  endif()
endforeach()
if(metalsim_missing)
  message(STATUS "metalsim: not built, it needs clang 19, the block runtime and libdw "
    "(Debian: apt-get install clang-19 libclang-rt-19-dev libblocksruntime-dev libdw-dev)")
  return()
endif()

set(METALSIM_TESTS ${MINFER_TESTS} CACHE BOOL "" FORCE)
set(METALSIM_BENCH ${MINFER_BENCH} CACHE BOOL "" FORCE)
add_subdirectory(metalsim)
