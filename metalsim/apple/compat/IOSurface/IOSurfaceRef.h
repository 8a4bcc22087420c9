// A type that metal-cpp names in signatures.
#pragma once

typedef struct __IOSurface* IOSurfaceRef;
