// The headers are C++20 without a warning, each on its own: compiled with -pedantic -Werror.
#include <minfer/minfer.h>
// Then the wrapper; everything it declares is instantiated by results_test.cpp.
#include <minfer/minfer.hpp>

#include "api/api_test.h"

extern "C" int minfer_api_from_c(void);

TEST_CASE("a C program can use the library") { CHECK(minfer_api_from_c() == 0); }
