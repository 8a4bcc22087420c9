#include "memory.h"

#include <algorithm>

#include "../runtime/dispatch.h"
#include "memory_record.h"

namespace metalsim {

Memory* memory_create(const void* base, size_t bytes, bool written) {
  Memory* memory = new Memory;
  memory->base = static_cast<const unsigned char*>(base);
  memory->bytes = bytes;
  if (!written) {
    memory->written = std::make_unique<ByteSet>(bytes);
    memory->all_written = false;
  }
  return memory;
}

void memory_destroy(Memory* memory) { delete memory; }

void memory_set_label(Memory* memory, const std::string& label) {
  std::lock_guard lock(memory->mutex);
  memory->label = label;
}

void memory_mapped(Memory* memory) { memory->all_written = true; }

void memory_mark_written(Memory* memory, size_t offset, size_t bytes) {
  std::lock_guard lock(memory->mutex);
  if (memory->all_written || offset >= memory->bytes) return;
  memory->written->add(offset, std::min(bytes, memory->bytes - offset));
}

void memory_mark_unwritten(Memory* memory, size_t offset, size_t bytes) {
  std::lock_guard lock(memory->mutex);
  if (offset >= memory->bytes) return;
  if (!memory->written) memory->written = std::make_unique<ByteSet>(memory->bytes);
  if (memory->all_written) memory->written->add(0, memory->bytes);
  memory->written->remove(offset, std::min(bytes, memory->bytes - offset));
  memory->all_written = false;
}

void memory_narrow(Memory* memory, size_t offset, size_t bytes, const std::string& label) {
  std::lock_guard lock(memory->mutex);
  if (bytes == 0)
    memory->ranges.erase(offset);
  else
    memory->ranges[offset] = {bytes, label};
}

void memory_bind(Memory* memory, size_t offset, bool writable, Binding& binding) {
  std::lock_guard lock(memory->mutex);
  binding.data = const_cast<unsigned char*>(memory->base) + offset;
  binding.bytes = memory->bytes - offset;
  binding.memory = memory;
  binding.memory_offset = offset;
  auto range = memory->ranges.upper_bound(offset);
  if (range != memory->ranges.begin()) {
    --range;
    const size_t end = range->first + range->second.bytes;
    if (offset < end) binding.bytes = std::min(binding.bytes, end - offset);
  }
  if (writable && !memory->shadow) memory->shadow = std::make_unique<Shadow>(memory->bytes);
}

void memory_barrier(Memory* memory) { memory->ordered_before = newest_dispatch() + 1; }

void memory_host_access(Memory* memory, size_t offset, size_t bytes, bool write) {
  if (write) memory_mark_written(memory, offset, bytes);
}

std::string Memory::name_at(size_t& offset) {
  std::lock_guard lock(mutex);
  auto range = ranges.upper_bound(offset);
  if (range != ranges.begin()) {
    --range;
    if (offset < range->first + range->second.bytes) {
      offset -= range->first;
      return range->second.label;
    }
  }
  return label.empty() ? "buffer without a label" : label;
}

}  // namespace metalsim
