# The headers that most files include, compiled once for all of them: half a second less for each of 300 files.
# GCC takes a precompiled header only where flags are the same, so each group with flags of its own makes one. What
# every file has to include itself is still checked: the preset `dev` and the sanitizers build without these.
set(MINFER_COMMON_HEADERS <algorithm> <cmath> <cstdint> <cstring> <functional> <limits> <memory> <optional> <span>
  <string> <string_view> <utility> <vector> <fmt/format.h>)
if(MINFER_SANITIZE OR MINFER_FUZZ)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
