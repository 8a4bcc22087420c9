// Compiled with NS_PRIVATE_IMPLEMENTATION and MTL_PRIVATE_IMPLEMENTATION: defines what metal-cpp leaves to
// one source file.
#include "apple_headers.h"
