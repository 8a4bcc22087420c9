# Flags of every target. No fast-math anywhere: results are bitwise reproducible, and a multiply and an add are
# fused only where the source says so (docs/numerics.md).
add_compile_options(-Wall -Wextra -Wshadow -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-psabi)
endif()

if(MINFER_SANITIZE)
  string(REPLACE ";" "," MINFER_SANITIZE_LIST "${MINFER_SANITIZE}")
  add_compile_options(-fsanitize=${MINFER_SANITIZE_LIST} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${MINFER_SANITIZE_LIST})
  if("undefined" IN_LIST MINFER_SANITIZE)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache asks for where headers are precompiled; nothing here depends on __TIME__.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

# For the many programs of tests/: gold, a part of Debian's binutils, takes a third of ld's time.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT MINFER_SANITIZE)
  find_program(GOLD_LINKER ld.gold)
  if(GOLD_LINKER)
    set(MINFER_TEST_LINK_OPTIONS -fuse-ld=gold)
  endif()
endif()

# One compilation serves the program and the shared library. Hidden symbols keep calls within a library direct.
if(MINFER_SHARED)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
