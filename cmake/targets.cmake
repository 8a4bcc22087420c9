# Flags of code that runs once a file, a model or a conversation, or that only tells a GPU what to run, and never for each
# weight: half of what a compiler does at -O3 is of no use there.
set(MINFER_ONCE_FLAGS $<$<CONFIG:Release>:-O1>)

# minfer_library(NAME [ONCE] [GLOB dir/*.cpp ...] [DEPS target ...]): one static library per folder of src/.
# ONCE: its code has MINFER_ONCE_FLAGS.
function(minfer_library name)
  cmake_parse_arguments(ARG "ONCE" "" "GLOB;DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${ARG_GLOB})
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  set(headers_from minfer_base)
  if(ARG_ONCE)
    target_compile_options(${name} PRIVATE ${MINFER_ONCE_FLAGS})
    set(headers_from minfer_gguf)
  endif()
  if(name STREQUAL headers_from)  # the lowest of its flags, so the one that all others can share with
    target_precompile_headers(${name} PRIVATE ${MINFER_COMMON_HEADERS})
  else()
    target_precompile_headers(${name} REUSE_FROM ${headers_from})
  endif()
endfunction()

# How every file of tests is compiled.
function(minfer_test_flags name)
  target_precompile_headers(${name} REUSE_FROM doctest_main)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE MINFER_TEST_DATA_DIR="${CMAKE_SOURCE_DIR}/tests/data")
endfunction()

# minfer_test_objects(NAME FILES a.cpp ... DEPS target ...): test files that are linked into several programs.
function(minfer_test_objects name)
  cmake_parse_arguments(ARG "" "" "FILES;DEPS" ${ARGN})
  add_library(${name} OBJECT ${ARG_FILES})
  target_link_libraries(${name} PRIVATE doctest_main ${ARG_DEPS})
  minfer_test_flags(${name})
endfunction()

# minfer_test(NAME FILES a.cpp ... DEPS target ... [LABELS label ...]): one doctest program, one ctest entry.
function(minfer_test name)
  cmake_parse_arguments(ARG "" "" "FILES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_FILES})
  target_link_libraries(${name} PRIVATE doctest_main ${ARG_DEPS})
  minfer_test_flags(${name})
  add_test(NAME ${name} COMMAND ${name})
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()
