# add_metal_library(NAME kernels/a.metal kernels/b.metal ... [INCLUDE dir ...] [DEFINE name[=value] ...])
#
# Kernels from unmodified Metal sources. On Linux, for each of the two flavours `fast` and `checked`:
#   NAME_fast, NAME_checked                  link one of them into a program: its kernels are the default library
#   NAME_fast_module, NAME_checked_module    the same as a file that newLibrary(path) loads; $<TARGET_FILE:...>
#   NAME_lint                                checks address spaces as Apple's compiler does, without making anything
# fast runs kernels at full speed; checked finds their defects. Only what is asked for is built.
# On macOS NAME is a target that makes NAME.metallib with Apple's tools. Where those are missing it collects the
# sources in a folder instead, for newLibrary(source) at start-up. Its property METAL_LIBRARY_FILE is the path of either.
#
# Paths are relative to the calling folder, and so are they in errors and reports. Included files are tracked.

set(METALSIM_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. CACHE INTERNAL "")

if(NOT APPLE)
  find_program(METALSIM_CLANG NAMES clang++-19 clang++-20 clang++-21)
  if(NOT METALSIM_CLANG)
    message(FATAL_ERROR "metalsim compiles kernels with clang 19 or later, for its half and bfloat types.\n"
      "  Debian: apt-get install clang-19 libclang-rt-19-dev libblocksruntime-dev")
  endif()
endif()

# Half and bfloat round after every operation; a kernel may read memory as another type (half4 through half*).
set(METALSIM_KERNEL_FLAGS -std=c++17 -fdeclspec -fPIC -fno-exceptions -fno-rtti -fno-strict-aliasing
  -fno-math-errno -fno-trapping-math
  -Xclang -ffloat16-excess-precision=none -Xclang -fbfloat16-excess-precision=none
  -Wall -Wno-unknown-pragmas -Wno-unknown-attributes -Wno-duplicate-decl-specifier -Wno-unused-function
  -Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-const-variable -Wno-pass-failed)
# The checked build stays at -O1 without vectors: the sanitizer passes over accesses of more than 16 bytes.
# A kernel's variables without an initialiser hold NaN there, and integers bytes of 0xAA, so that their use shows.
set(METALSIM_FAST_FLAGS -O3 -ffast-math -fno-finite-math-only -gline-tables-only)
set(METALSIM_CHECKED_FLAGS -O1 -fno-vectorize -fno-slp-vectorize -gline-tables-only -DMETALSIM_CHECKED
  -ftrivial-auto-var-init=pattern
  -fsanitize=thread,alignment,array-bounds,integer-divide-by-zero,shift,signed-integer-overflow
  -fsanitize=unsigned-integer-overflow,implicit-integer-truncation -mllvm -tsan-instrument-func-entry-exit=0 -mllvm -tsan-instrument-read-before-write)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # The processor's own conversion to bfloat drops subnormals.
  list(APPEND METALSIM_FAST_FLAGS -march=native -mno-avx512bf16)
  list(APPEND METALSIM_CHECKED_FLAGS -march=x86-64-v3)
endif()

# The lint reads kernels as C++ for OpenCL, whose address spaces are Metal's; see lint/metal_stdlib. Its language has
# no errors for unused or generic things, so only what it refuses counts.
set(METALSIM_LINT_FLAGS -x clcpp -cl-std=clc++2021 -cl-no-stdinc -fsyntax-only -Xclang -cl-ext=+cl_khr_fp16
  -isystem ${METALSIM_ROOT}/lint -w)

# Headers of Metal that a kernel may include: the preprocessor finds empty files of these names, because mslgen has to
# see Metal's own words and not what the library makes of them.
set(METALSIM_STANDARD_HEADERS metal_stdlib metal_array metal_atomic metal_common metal_compute metal_geometric
  metal_integer metal_limits metal_math metal_matrix metal_pack metal_quadgroup metal_relational metal_simdgroup
  metal_simdgroup_matrix metal_type_traits metal_types metal_uniform simd/simd.h)
set(METALSIM_EMPTY_HEADERS ${CMAKE_BINARY_DIR}/metalsim/empty_headers)
foreach(header ${METALSIM_STANDARD_HEADERS})
  if(NOT EXISTS ${METALSIM_EMPTY_HEADERS}/${header})
    file(WRITE ${METALSIM_EMPTY_HEADERS}/${header} "")
  endif()
endforeach()
file(GLOB METALSIM_LIBRARY_HEADERS ${METALSIM_ROOT}/include/metal_stdlib ${METALSIM_ROOT}/include/metal/*.h
  ${METALSIM_ROOT}/runtime/abi*.h)

# Metal's library is half of what a small kernel file costs, so each flavour compiles it once. Not with ccache: a
# precompiled header names its folder, so that no kernel would be found again from another checkout.
set(METALSIM_FAST_LIBRARY)
set(METALSIM_CHECKED_LIBRARY)
if(NOT APPLE AND NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  foreach(flavour FAST CHECKED)
    set(METALSIM_${flavour}_LIBRARY ${CMAKE_BINARY_DIR}/metalsim/metal_stdlib.${flavour}.pch)
    if(NOT TARGET metalsim_${flavour}_library)
      add_custom_command(OUTPUT ${METALSIM_${flavour}_LIBRARY}
        COMMAND ${METALSIM_CLANG} ${METALSIM_KERNEL_FLAGS} ${METALSIM_${flavour}_FLAGS}
          -isystem ${METALSIM_ROOT}/include -x c++-header ${METALSIM_ROOT}/include/metal_stdlib
          -o ${METALSIM_${flavour}_LIBRARY}
        DEPENDS ${METALSIM_LIBRARY_HEADERS} VERBATIM COMMENT "Compiling Metal's library (${flavour})")
      add_custom_target(metalsim_${flavour}_library DEPENDS ${METALSIM_${flavour}_LIBRARY})
    endif()
  endforeach()
endif()

# The function works in folders that did not include this file, too.
foreach(variable KERNEL_FLAGS FAST_FLAGS CHECKED_FLAGS FAST_LIBRARY CHECKED_LIBRARY LINT_FLAGS EMPTY_HEADERS LIBRARY_HEADERS)
  set(METALSIM_${variable} "${METALSIM_${variable}}" CACHE INTERNAL "")
endforeach()

function(add_metal_library name)
  cmake_parse_arguments(ARG "" "" "INCLUDE;DEFINE" ${ARGN})
  list(TRANSFORM ARG_DEFINE PREPEND -D)
  set(includes)
  foreach(folder ${ARG_INCLUDE})
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND includes -I${folder})
  endforeach()
  if(APPLE)
    metalsim_apple_library(${name} "${includes}" "${ARG_DEFINE}" ${ARG_UNPARSED_ARGUMENTS})
  else()
    metalsim_host_library(${name} "${includes}" "${ARG_DEFINE}" ${ARG_UNPARSED_ARGUMENTS})
  endif()
endfunction()

function(metalsim_host_library name includes defines)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.metalsim)
  file(MAKE_DIRECTORY ${folder})
  set(lint_stamps)
  set(fast_objects)
  set(checked_objects)
  foreach(flavour FAST CHECKED)
    set(with_${flavour} ${METALSIM_${flavour}_LIBRARY})
    list(TRANSFORM with_${flavour} PREPEND "-include-pch;")
  endforeach()
  foreach(source ${ARGN})
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" stem ${source})
    set(base ${folder}/${stem})
    add_custom_command(OUTPUT ${base}.ii
      COMMAND ${METALSIM_CLANG} -E -x c++ -std=c++17 -undef -nostdinc -D__METAL__=1 -D__METAL_VERSION__=310
        -D__METAL_MACOS__=1 -D__HAVE_BFLOAT__=1 -isystem ${METALSIM_EMPTY_HEADERS} ${includes} ${defines}
        -MD -MF ${base}.d -MT ${base}.ii ${source} -o ${base}.ii
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${base}.d VERBATIM
      COMMENT "Preprocessing ${source}")
    add_custom_command(OUTPUT ${base}.cpp
      COMMAND mslgen ${base}.ii --library ${name} -o ${base}.cpp
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${base}.ii mslgen VERBATIM COMMENT "Translating ${source}")
    add_custom_command(OUTPUT ${base}.lint
      COMMAND mslgen ${base}.ii --lint -o ${base}.clcpp
      COMMAND ${METALSIM_CLANG} ${METALSIM_LINT_FLAGS} ${base}.clcpp
      COMMAND ${CMAKE_COMMAND} -E touch ${base}.lint
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${base}.ii mslgen ${METALSIM_ROOT}/lint/metal_stdlib VERBATIM COMMENT "Checking ${source}")
    list(APPEND lint_stamps ${base}.lint)
    add_custom_command(OUTPUT ${base}.fast.o
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${METALSIM_CLANG} ${METALSIM_KERNEL_FLAGS} ${METALSIM_FAST_FLAGS}
        -isystem ${METALSIM_ROOT}/include ${with_FAST} -c ${base}.cpp -o ${base}.fast.o
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${base}.cpp ${METALSIM_FAST_LIBRARY} ${METALSIM_LIBRARY_HEADERS} VERBATIM
      COMMENT "Compiling ${source} (fast)")
    # Checked code goes through LLVM's text form, where a count of flops is put into every block.
    add_custom_command(OUTPUT ${base}.checked.o
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${METALSIM_CLANG} ${METALSIM_KERNEL_FLAGS} ${METALSIM_CHECKED_FLAGS}
        -isystem ${METALSIM_ROOT}/include ${with_CHECKED} -S -emit-llvm ${base}.cpp -o ${base}.checked.ll
      COMMAND metalsim_count_flops ${base}.checked.ll > ${base}.counted.ll
      COMMAND ${METALSIM_CLANG} -O1 -fPIC -Xclang -disable-llvm-passes -Wno-override-module -c ${base}.counted.ll
        -o ${base}.checked.o
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      DEPENDS ${base}.cpp metalsim_count_flops ${METALSIM_CHECKED_LIBRARY} ${METALSIM_LIBRARY_HEADERS} VERBATIM
      COMMENT "Compiling ${source} (checked)")
    list(APPEND fast_objects ${base}.fast.o)
    list(APPEND checked_objects ${base}.checked.o)
  endforeach()

  add_custom_target(${name}_lint DEPENDS ${lint_stamps})
  foreach(flavour fast checked)
    add_custom_target(${name}_${flavour}_objects DEPENDS ${${flavour}_objects})
    add_library(${name}_${flavour} OBJECT IMPORTED GLOBAL)
    set_target_properties(${name}_${flavour} PROPERTIES IMPORTED_OBJECTS "${${flavour}_objects}")
    add_dependencies(${name}_${flavour} ${name}_${flavour}_objects)
    string(TOUPPER ${flavour} upper)
    if(METALSIM_${upper}_LIBRARY)
      add_dependencies(${name}_${flavour}_objects metalsim_${upper}_library)
    endif()

    # No libraries: the program that loads it brings the runtime.
    set(module ${CMAKE_CURRENT_BINARY_DIR}/${name}.${flavour}.so)
    add_custom_command(OUTPUT ${module}
      COMMAND ${METALSIM_CLANG} -shared -o ${module} ${${flavour}_objects} -lm
      DEPENDS ${${flavour}_objects} VERBATIM COMMENT "Linking ${name}.${flavour}.so")
    add_custom_target(${name}_${flavour}_file DEPENDS ${module})
    add_library(${name}_${flavour}_module MODULE IMPORTED GLOBAL)
    set_target_properties(${name}_${flavour}_module PROPERTIES IMPORTED_LOCATION ${module})
    add_dependencies(${name}_${flavour}_module ${name}_${flavour}_file)
  endforeach()
endfunction()

function(metalsim_apple_library name includes defines)
  execute_process(COMMAND xcrun -sdk macosx --find metal RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  set(sources)
  foreach(source ${ARGN})
    list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  if(missing)
    message(STATUS "${name}: Apple's Metal compiler was not found (xcrun metal); the sources are compiled at start-up")
    set(result ${CMAKE_CURRENT_BINARY_DIR}/${name}.sources)
    list(TRANSFORM includes REPLACE "^-I(.*)" "\\1/*.h" OUTPUT_VARIABLE header_globs)
    file(GLOB headers CONFIGURE_DEPENDS ${header_globs})
    add_custom_target(${name} ALL
      COMMAND ${CMAKE_COMMAND} -E make_directory ${result}
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${sources} ${headers} ${result})
  else()
    set(result ${CMAKE_CURRENT_BINARY_DIR}/${name}.metallib)
    set(objects)
    foreach(source ${sources})
      get_filename_component(stem ${source} NAME_WE)
      set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.${stem}.air)
      add_custom_command(OUTPUT ${object}
        COMMAND xcrun -sdk macosx metal -std=metal3.1 -O2 ${includes} ${defines} -MD -MF ${object}.d -c ${source}
          -o ${object}
        DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
      list(APPEND objects ${object})
    endforeach()
    add_custom_command(OUTPUT ${result} COMMAND xcrun -sdk macosx metallib ${objects} -o ${result}
      DEPENDS ${objects} VERBATIM)
    add_custom_target(${name} ALL DEPENDS ${result})
  endif()
  set_target_properties(${name} PROPERTIES METAL_LIBRARY_FILE ${result})
endfunction()
