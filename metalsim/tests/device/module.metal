#include <metal_stdlib>
using namespace metal;

// In a library that is loaded from a file, not linked.
kernel void only_in_the_file(device uint* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = i * 10; }
