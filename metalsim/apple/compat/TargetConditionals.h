// metal-cpp asks which of Apple's systems it is built for. It is none of them.
#pragma once

#define TARGET_OS_OSX 0
#define TARGET_OS_IPHONE 0
#define TARGET_OS_SIMULATOR 0
