#include "backends/metal/device/weights.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"

namespace minfer::metal {
namespace {

/// Metal wraps whole pages; what lies behind the end of a file in its last one is zero.
size_t to_page(size_t bytes) {
  static const size_t page = size_t(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

bool has_kernels(DType type) { return type != DType::i32; }

/// Kernels read F32 by four bytes and the other types by two; a file may put a tensor anywhere.
size_t alignment(DType type) { return type == DType::f32 ? 4 : 2; }

}  // namespace

void WeightRegistry::add_mapping(std::span<const std::byte> bytes, size_t longest_weight) {
  if (copy_all_ || bytes.empty()) return;
  const AutoreleasePool pool;
  const size_t page = to_page(1), longest = device_.limits().buffer_bytes / page * page;
  const size_t whole = to_page(bytes.size()), overlap = to_page(longest_weight) + page;
  if (whole > longest && overlap >= longest) {
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a weight of {} bytes does not fit the longest buffer of {}, {} bytes",
                            longest_weight, Device::kind(), longest),
                "use --device cpu");
  }
  for (size_t at = 0;; at += longest - overlap) {
    const size_t length = std::min(whole - at, longest);
    auto buffer =
        adopt(device_.mtl()->newBuffer(bytes.data() + at, length, MTL::ResourceStorageModeShared, nullptr));
    if (!buffer) {
      throw Error(ErrorCode::device, fmt::format("{} cannot wrap {} mapped bytes", Device::kind(), length),
                  "set MINFER_WEIGHT_COPY=1 to copy the weights instead");
    }
    buffer->setLabel(ns_string(fmt::format("weights {}", windows_.size())));
    windows_.push_back({bytes.data() + at, length, buffer});
    if (at + length == whole) return;
  }
}

std::optional<Span> WeightRegistry::in_mapping(std::span<const std::byte> bytes) const {
  for (const Window& window : windows_) {
    const bool inside =
        bytes.data() >= window.begin && bytes.data() + bytes.size() <= window.begin + window.bytes;
    if (inside) return Span{window.buffer.get(), size_t(bytes.data() - window.begin), bytes.size()};
  }
  return std::nullopt;
}

Span WeightRegistry::copy(const Weight& weight) {
  auto buffer = device_.new_buffer(weight.data.size(), weight.ref.name);
  std::memcpy(buffer->contents(), weight.data.data(), weight.data.size());
  copies_.push_back(buffer);
  copied_ += weight.data.size();
  return {buffer.get(), 0, weight.data.size()};
}

void WeightRegistry::add(const Weight& weight) {
  const WeightRef& ref = weight.ref;
  const auto fail = [&](ErrorCode code, const std::string& why, const std::string& hint = {}) {
    throw Error(code, fmt::format("registering {} on {}: {}", ref.name, Device::kind(), why), hint);
  };
  if (!has_kernels(ref.type)) {
    fail(ErrorCode::unsupported, fmt::format("it is {}, which has no kernel", info(ref.type).name));
  }
  const size_t expected = row_bytes(ref.type, ref.cols) * size_t(ref.rows);
  if (weight.data.size() != expected) {
    fail(ErrorCode::bad_model, fmt::format("{} bytes for {} [{}, {}], expected {}", weight.data.size(),
                                           info(ref.type).name, ref.cols, ref.rows, expected));
  }
  if (const auto at = entries_.find(ref.name); at != entries_.end()) {
    const Entry& known = at->second;
    const bool same = known.ref == ref && (known.host == weight.data.data() ||
                                           std::memcmp(known.span.host(), weight.data.data(), expected) == 0);
    if (!same) {
      fail(ErrorCode::bad_model, "other bytes are known under this name",
           "two models cannot share one backend unless their weights have different names");
    }
    return;
  }
  const std::optional<Span> wrapped = in_mapping(weight.data);
  const bool in_place = wrapped && wrapped->offset % alignment(ref.type) == 0;
  entries_.emplace(ref.name, Entry{ref, in_place ? *wrapped : copy(weight), weight.data.data()});
  bytes_ += expected;
}

const WeightRegistry::Entry* WeightRegistry::find(std::string_view name) const {
  const auto at = entries_.find(name);
  return at == entries_.end() ? nullptr : &at->second;
}

std::vector<Ref<MTL::Buffer>> WeightRegistry::buffers() const {
  std::vector<Ref<MTL::Buffer>> all = copies_;
  for (const Window& window : windows_) all.push_back(window.buffer);
  return all;
}

}  // namespace minfer::metal
