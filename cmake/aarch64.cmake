# The kernel tests for 64-bit Arm, run on this machine by qemu's user mode: the NEON table without an Arm machine.
# minfer_aarch64_test(NAME CPU cpu ... FILES a.cpp ...): a program of these sources, built by the cross compiler
# when a test of label `qemu` asks for it, and one ctest entry for each qemu processor.
find_program(AARCH64_CXX aarch64-linux-gnu-g++)
find_program(QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)

function(minfer_aarch64_test name)
  cmake_parse_arguments(ARG "" "" "CPU;FILES" ${ARGN})
  if(NOT AARCH64_CXX OR NOT QEMU_AARCH64)
    message(STATUS "${name}: not built, it needs aarch64-linux-gnu-g++ and qemu-aarch64 "
      "(Debian: apt-get install g++-aarch64-linux-gnu qemu-user)")
    return()
  endif()

  # Header-only libraries by links of their own: the host's include folder would shadow the target's libc.
  set(work ${CMAKE_BINARY_DIR}/aarch64)
  file(MAKE_DIRECTORY ${work}/include ${work}/${name}.objects)
  find_path(fmt_headers fmt/format.h NO_CACHE)
  foreach(headers ${DOCTEST_INCLUDE}/doctest ${fmt_headers}/fmt)
    get_filename_component(folder ${headers} NAME)
    file(CREATE_LINK ${headers} ${work}/include/${folder} SYMBOLIC)
  endforeach()

  set(objects)
  foreach(source ${ARG_FILES})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE relative)
    string(REPLACE "/" "_" object ${relative})
    set(object ${work}/${name}.objects/${object}.o)
    set(march)
    if(relative MATCHES "/isa/neon")
      set(march -march=armv8.2-a+dotprod+fp16)
    endif()
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${AARCH64_CXX} -std=c++20 -O2 -Wall -Wextra -Wshadow
        -Wno-missing-field-initializers -Wno-psabi -ffp-contract=off ${march} -DMINFER_ISA_NEON -DFMT_HEADER_ONLY
        -DMINFER_TEST_DATA_DIR="${CMAKE_SOURCE_DIR}/tests/data" -I${CMAKE_SOURCE_DIR}/src
        -I${CMAKE_SOURCE_DIR}/tests -I${work}/include -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_command(OUTPUT ${work}/${name}
    COMMAND ${AARCH64_CXX} -static ${objects} -o ${work}/${name}
    DEPENDS ${objects} VERBATIM)
  add_custom_target(${name} DEPENDS ${work}/${name})

  add_test(NAME ${name}_build COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ${name})
  set_tests_properties(${name}_build PROPERTIES FIXTURES_SETUP ${name} LABELS qemu)
  foreach(cpu ${ARG_CPU})
    add_test(NAME ${name}_${cpu} COMMAND ${QEMU_AARCH64} -cpu ${cpu} ${work}/${name})
    set_tests_properties(${name}_${cpu} PROPERTIES FIXTURES_REQUIRED ${name} LABELS qemu)
  endforeach()
endfunction()
