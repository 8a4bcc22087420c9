// The one type of CoreFoundation that metal-cpp's compute part names.
#pragma once

typedef double CFTimeInterval;
