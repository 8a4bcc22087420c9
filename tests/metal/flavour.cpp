#include "metal/metal_device.h"

// The one object that differs between the two programs of a test.
namespace minfer::test {

#ifdef MINFER_METAL_CHECKED
const bool checked = true;
#else
const bool checked = false;
#endif

}  // namespace minfer::test
