/// The checker's record of one device buffer: what is written, who accessed what last, names of ranges.
/// The device makes one for each buffer and binds it through Binding::memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "../runtime/abi_state.h"

namespace metalsim {

struct Memory;

/// `written`: whether the memory has contents at birth (made from bytes, or wrapping the host's pages).
/// Otherwise reads are reported until the host maps it (memory_mapped), a blit or kernel writes it, or
/// memory_mark_written is called.
Memory* memory_create(const void* base, size_t bytes, bool written);

/// After the last dispatch that binds it.
void memory_destroy(Memory* memory);

void memory_set_label(Memory* memory, const std::string& label);

/// The host asked for the contents() pointer: what it writes cannot be seen, so all of it counts as written.
void memory_mapped(Memory* memory);
void memory_mark_written(Memory* memory, size_t offset, size_t bytes);
void memory_mark_unwritten(Memory* memory, size_t offset, size_t bytes);

/// Names a range; bindings that start inside it end where it ends. See metalsim::narrow.
void memory_narrow(Memory* memory, size_t offset, size_t bytes, const std::string& label);

/// Fills `binding` for this buffer at `offset`: data, length (narrowed), record. `writable`: whether the
/// kernel may write it. Call when the dispatch is encoded: accesses of earlier dispatches of the same
/// encoder, which execute later, are then recorded although they only read.
void memory_bind(Memory* memory, size_t offset, bool writable, Binding& binding);

/// memoryBarrier(resources): orders what dispatches up to now did to this buffer before what follows.
/// Call when the barrier executes, between dispatches.
void memory_barrier(Memory* memory);

/// A blit or the like read or wrote the range on behalf of the host: a write marks it written.
void memory_host_access(Memory* memory, size_t offset, size_t bytes, bool write);

}  // namespace metalsim
