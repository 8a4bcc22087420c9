// Apple's metal-cpp puts its implementation into the one file that defines these.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include "backends/metal/device/metal_api.h"
