// Simdgroup matrices of each type: loads and stores with strides, origins and transposition, products, elements.
#include <metal_stdlib>
using namespace metal;

// in: 16 x 24 elements in rows of 24. out: three 8x8 matrices, and one in rows of 20.
template <typename T>
kernel void load_store(device const T* in [[buffer(0)]], device T* out [[buffer(1)]],
                       threadgroup T* tile [[threadgroup(0)]], ushort lane [[thread_index_in_simdgroup]]) {
  simdgroup_matrix<T, 8, 8> m;
  simdgroup_load(m, in, 24);
  simdgroup_store(m, out);
  simdgroup_load(m, in, 24, ulong2(5, 3), true);
  simdgroup_store(m, out + 64, 8);
  simdgroup_store(m, out + 128, 8, 0, true);
  for (ushort i = lane; i < 64; i += 32) tile[i] = in[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(m, tile, 8, 0, true);
  simdgroup_store(m, out + 192, 20, ulong2(2, 1), false);
}
template [[host_name("load_store_float")]] kernel decltype(load_store<float>) load_store<float>;
template [[host_name("load_store_half")]] kernel decltype(load_store<half>) load_store<half>;
template [[host_name("load_store_bfloat")]] kernel decltype(load_store<bfloat>) load_store<bfloat>;

// out: a * b, a * b + c, and (a * b) as D through the operator where the types agree.
template <typename D, typename A, typename C>
kernel void products(device const A* a [[buffer(0)]], device const A* b [[buffer(1)]], device const C* c [[buffer(2)]],
                     device D* out [[buffer(3)]]) {
  simdgroup_matrix<A, 8, 8> ma, mb;
  simdgroup_matrix<C, 8, 8> mc;
  simdgroup_matrix<D, 8, 8> md;
  simdgroup_load(ma, a);
  simdgroup_load(mb, b);
  simdgroup_load(mc, c);
  simdgroup_multiply(md, ma, mb);
  simdgroup_store(md, out);
  simdgroup_multiply_accumulate(md, ma, mb, mc);
  simdgroup_store(md, out + 64);
}
template [[host_name("products_float")]] kernel decltype(products<float, float, float>) products<float, float, float>;
template [[host_name("products_half")]] kernel decltype(products<half, half, half>) products<half, half, half>;
template [[host_name("products_bfloat")]] kernel decltype(products<bfloat, bfloat, bfloat>)
    products<bfloat, bfloat, bfloat>;
template [[host_name("products_half_float")]] kernel decltype(products<float, half, float>)
    products<float, half, float>;
template [[host_name("products_bfloat_float")]] kernel decltype(products<float, bfloat, float>)
    products<float, bfloat, float>;

// Each lane changes its own two elements, between matrix operations and through a copy.
kernel void elements(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                     ushort lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m, filled = make_filled_simdgroup_matrix<float, 8, 8>(3.0f), diagonal(2.0f);
  simdgroup_load(m, in);
  thread float2& mine = m.thread_elements();
  mine[0] += 100 * lane;
  mine.y = -mine.y;
  simdgroup_store(m, out);
  simdgroup_float8x8 copy = m;
  copy.thread_elements() *= 2.0f;
  simdgroup_store(copy, out + 64);
  simdgroup_multiply(m, m, diagonal);  // twice what the lanes made of it
  mine.x += 1;
  simdgroup_store(m, out + 128);
  simdgroup_store(filled, out + 192);
  simdgroup_store(diagonal, out + 256);
}
