// Included by features.metal and by the test of its kernels.
#pragma once

#define POSITION_VALUES 15

#ifdef __METAL__
constant int header_table[3] = {10, 20, 30};
#endif
