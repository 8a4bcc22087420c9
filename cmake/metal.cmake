# MINFER_METAL: the Metal backend. On a Mac it runs on the GPU through Apple's metal-cpp, which is fetched; on Linux on
# metalsim, the software Metal device, if what that needs is there.
option(MINFER_METAL "Build the Metal backend" ON)
set(METAL_CPP_DIR "" CACHE PATH "Apple's metal-cpp, where it is not to be fetched (macOS)")

# minfer_link_kernels(TARGET): a program that may run on the software device brings that device's kernels.
function(minfer_link_kernels target)
  if(MINFER_HAS_METAL AND NOT APPLE)
    target_link_libraries(${target} PRIVATE minfer_metal_kernels_fast)
  endif()
endfunction()

set(MINFER_HAS_METAL OFF)
if(NOT MINFER_METAL OR MINFER_SANITIZE OR MINFER_FUZZ)  # the software device's fibers do not run under sanitizers
  return()
endif()
if(APPLE)
  include(metal_cpp)
  set(MINFER_HAS_METAL ON)
elseif(TARGET metalsim)
  set(MINFER_HAS_METAL ON)
else()
  message(STATUS "metal-sim: not in this build, because metalsim is not (see above)")
endif()
