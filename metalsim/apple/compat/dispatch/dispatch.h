// Types that metal-cpp names in signatures. Nothing of libdispatch is there: the simulator calls handlers on
// threads of its own.
#pragma once

typedef struct dispatch_queue_s* dispatch_queue_t;
typedef struct dispatch_data_s* dispatch_data_t;
