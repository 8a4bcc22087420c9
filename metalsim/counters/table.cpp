#include <cstdio>

#include "metalsim/metalsim.h"

namespace metalsim {

namespace {

struct Column {
  const char* title;
  uint64_t KernelCounters::*number;
};

void append(std::string& text, const char* format, auto... values) {
  char line[256];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

/// One block of the table: columns of the same subject.
void add_block(std::string& text, const Counters& counters, const char* title,
               std::initializer_list<Column> columns) {
  append(text, "\n%-32s", title);
  for (const Column& column : columns) append(text, " %15s", column.title);
  text += "\n";
  for (const KernelCounters& kernel : counters.kernels) {
    append(text, "%-32.32s", kernel.kernel.c_str());
    for (const Column& column : columns) append(text, " %15llu", (unsigned long long)(kernel.*column.number));
    text += "\n";
  }
}

}  // namespace

std::string counters_table(const Counters& counters) {
  using K = KernelCounters;
  std::string text = "metalsim: what was counted (bytes and flops are of checked kernels only)\n";
  add_block(text, counters, "runs",
            {{"dispatches", &K::dispatches}, {"threadgroups", &K::threadgroups}, {"threads", &K::threads}});
  add_block(text, counters, "device bytes",
            {{"read", &K::device_bytes_read},
             {"read, distinct", &K::device_bytes_read_distinct},
             {"written", &K::device_bytes_written},
             {"writ., distinct", &K::device_bytes_written_distinct},
             {"setBytes read", &K::constant_bytes_read}});
  add_block(text, counters, "threadgroup",
            {{"bytes read", &K::threadgroup_bytes_read},
             {"bytes written", &K::threadgroup_bytes_written},
             {"barriers", &K::threadgroup_barriers},
             {"simd barriers", &K::simdgroup_barriers}});
  add_block(text, counters, "operations",
            {{"simd", &K::simd_operations},
             {"8x8 multiplies", &K::matrix_multiplies},
             {"8x8 loads", &K::matrix_loads},
             {"8x8 stores", &K::matrix_stores},
             {"atomics", &K::atomics}});
  add_block(text, counters, "scalar flops, estimates",
            {{"float", &K::flops_f32},
             {"half", &K::flops_f16},
             {"bfloat", &K::flops_bf16},
             {"bank confl. est", &K::bank_conflicts_estimate},
             {"uncoalesced est", &K::uncoalesced_estimate}});
  EncoderCounters sum;
  for (const EncoderCounters& encoder : counters.encoders) {
    sum.dispatches += encoder.dispatches;
    sum.barriers += encoder.barriers;
    sum.bytes_copied += encoder.bytes_copied;
    sum.bytes_filled += encoder.bytes_filled;
  }
  append(text, "\nencoders %zu: dispatches %llu, barriers %llu, bytes copied %llu, bytes filled %llu\n",
         counters.encoders.size(), (unsigned long long)sum.dispatches, (unsigned long long)sum.barriers,
         (unsigned long long)sum.bytes_copied, (unsigned long long)sum.bytes_filled);
  append(text, "buffers: %llu bytes now, %llu at most\n", (unsigned long long)counters.buffer_bytes,
         (unsigned long long)counters.peak_buffer_bytes);
  return text;
}

}  // namespace metalsim
