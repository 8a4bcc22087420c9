// What all headers of this folder include. Methods are messages, as in Foundation (see NSPrivate.hpp).
#pragma once

#include <CoreFoundation/CoreFoundation.h>
#include <Foundation/Foundation.hpp>

#include <cstdint>
#include <functional>

#include "MTLDefines.hpp"
