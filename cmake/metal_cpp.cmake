# Apple's C++ headers for Metal: METAL_CPP_DIR where set, else fetched once. Sets METAL_CPP_INCLUDE.
if(METAL_CPP_DIR)
  set(METAL_CPP_INCLUDE ${METAL_CPP_DIR})
else()
  include(FetchContent)
  FetchContent_Declare(metal_cpp
    URL https://developer.apple.com/metal/cpp/files/metal-cpp_macOS15_iOS18.zip
    URL_HASH SHA256=0433df1e0ab13c2b0becbd78665071e3fa28381e9714a3fce28a497892b8a184
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
  FetchContent_MakeAvailable(metal_cpp)
  set(METAL_CPP_INCLUDE ${metal_cpp_SOURCE_DIR})
endif()
if(NOT EXISTS ${METAL_CPP_INCLUDE}/Metal/Metal.hpp)
  message(FATAL_ERROR "metal-cpp: ${METAL_CPP_INCLUDE} has no Metal/Metal.hpp. Unset METAL_CPP_DIR to fetch it, or set it to "
    "the folder that holds Metal and Foundation.")
endif()
