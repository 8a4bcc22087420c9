// Rows by index: y[t] = table[ids[t]], decoded to f32. The host has checked the ids.
#include <metal_stdlib>
#include "dequantise.h"
#include "get_rows_args.h"
using namespace metal;

// Of quantised types a thread decodes a part of a step, sixteen values. position: (parts of a row, token).
template <typename Block, short block_values>
kernel void get_rows(constant GetRowsArgs& args [[buffer(0)]],
                     device float* y [[buffer(1)]],
                     device const uchar* table [[buffer(2)]],
                     device const int* ids [[buffer(3)]],
                     uint2 position [[thread_position_in_grid]]) {
  constexpr short steps = block_values / 32;
  const int step = position.x / 2;
  if (step * 32 >= args.cols) return;
  const short part = position.x % 2;
  device const Block* block =
      (device const Block*)(table + ulong(ids[position.y]) * args.row_bytes) + step / steps;
  const StepColumns columns = step_columns(block, step % steps);
  const Part values = dequantise(block, step % steps, part);
  device float* to =
      y + ulong(position.y) * args.cols + step / steps * block_values + columns.first + part * 8;
  device float4* first = (device float4*)to;
  device float4* second = (device float4*)(to + columns.gap);
  first[0] = values.quads[0];
  first[1] = values.quads[1];
  second[0] = values.quads[2];
  second[1] = values.quads[3];
}
typedef decltype(get_rows<BlockQ4_0, 32>) GetRows;
template [[host_name("get_rows_q4_0")]] kernel GetRows get_rows<BlockQ4_0, 32>;
template [[host_name("get_rows_q4_1")]] kernel GetRows get_rows<BlockQ4_1, 32>;
template [[host_name("get_rows_q5_0")]] kernel GetRows get_rows<BlockQ5_0, 32>;
template [[host_name("get_rows_q5_1")]] kernel GetRows get_rows<BlockQ5_1, 32>;
template [[host_name("get_rows_q8_0")]] kernel GetRows get_rows<BlockQ8_0, 32>;
template [[host_name("get_rows_q4_k")]] kernel GetRows get_rows<BlockQ4_K, 256>;
template [[host_name("get_rows_q5_k")]] kernel GetRows get_rows<BlockQ5_K, 256>;
template [[host_name("get_rows_q6_k")]] kernel GetRows get_rows<BlockQ6_K, 256>;

// Of the others a thread has four values, a row's last one maybe fewer. position: (fours of a row, token).
template <typename T>
kernel void get_plain_rows(constant GetRowsArgs& args [[buffer(0)]],
                           device float* y [[buffer(1)]],
                           device const uchar* table [[buffer(2)]],
                           device const int* ids [[buffer(3)]],
                           uint2 position [[thread_position_in_grid]]) {
  const int first = position.x * 4;
  if (first >= args.cols) return;
  device const T* row = (device const T*)(table + ulong(ids[position.y]) * args.row_bytes);
  device float* to = y + ulong(position.y) * args.cols;
  if (first + 4 <= args.cols) {
    *(device packed_float4*)(to + first) = packed_float4(widen4(row + first));
  } else {
    for (int i = first; i < args.cols; ++i) to[i] = widen(row[i]);
  }
}
typedef decltype(get_plain_rows<float>) GetPlainRows;
template [[host_name("get_rows_f32")]] kernel GetPlainRows get_plain_rows<float>;
template [[host_name("get_rows_f16")]] kernel GetPlainRows get_plain_rows<half>;
template [[host_name("get_rows_bf16")]] kernel GetPlainRows get_plain_rows<ushort>;
