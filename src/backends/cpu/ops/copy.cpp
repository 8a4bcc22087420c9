#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {
namespace {

constexpr size_t element = 4;  ///< views carry f32 and i32

Access whole(const Operand& operand) { return {operand.buffer->host(), operand.desc.bytes()}; }

void emit_copy(Encoder& encoder, const Operand& to, const Operand& from, int64_t offset) {
  std::byte* y = to.buffer->host();
  const std::byte* x = from.buffer->host() + size_t(offset) * element;
  if (y == x) return;
  const int64_t n = to.desc.elements();
  const auto work = [=](const Lane& lane) {
    const Range mine = share(n, 1024, lane.worker);
    std::memmove(y + size_t(mine.begin) * element, x + size_t(mine.begin) * element,
                 size_t(mine.end - mine.begin) * element);
  };
  encoder.step({"copy", work, {whole(from)}, {whole(to)}});
}

/// Output dimension d is source dimension dims[d].
void emit_permute(Encoder& encoder, const Operand& to, const Operand& from, const std::array<int, 4>& dims) {
  std::array<int64_t, 4> source_stride{1, 1, 1, 1}, stride{};
  for (size_t d = 1; d < 4; ++d) source_stride[d] = source_stride[d - 1] * from.desc.shape[d - 1];
  for (size_t d = 0; d < 4; ++d) stride[d] = source_stride[size_t(dims[d])];
  std::byte* y = to.buffer->host();
  const std::byte* x = from.buffer->host();
  const auto work = [=, shape = to.desc.shape](const Lane& lane) {
    const Range mine = share(shape[1] * shape[2] * shape[3], 1, lane.worker);
    for (int64_t row = mine.begin; row < mine.end; ++row) {
      const int64_t i1 = row % shape[1], i2 = row / shape[1] % shape[2], i3 = row / shape[1] / shape[2];
      const int64_t base = i1 * stride[1] + i2 * stride[2] + i3 * stride[3];
      for (int64_t i0 = 0; i0 < shape[0]; ++i0) {
        std::memcpy(y + size_t(row * shape[0] + i0) * element, x + size_t(base + i0 * stride[0]) * element,
                    element);
      }
    }
  };
  encoder.step({"permute", work, {whole(from)}, {whole(to)}});
}

}  // namespace

void encode_copy(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const Operand &to = placed.output, &from = placed.sources[0];
  const auto* view = std::get_if<View>(&node.op);
  const int64_t offset = view ? view->offset : 0;
  const int64_t room = from.desc.elements() - offset;
  if (offset < 0 || to.desc.elements() > room || (!view && to.desc.elements() != room)) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("the output is {}, the source {} from element {}", to_string(to.desc),
                       to_string(from.desc), offset));
  }
  const auto* permute = std::get_if<Permute>(&node.op);
  if (permute == nullptr) return emit_copy(encoder, to, from, offset);
  if (to.buffer == from.buffer) refuse(node, ErrorCode::unsupported, "it cannot permute in place");
  emit_permute(encoder, to, from, permute->dims);
}

void encode_capture(Encoder& encoder, const PlacedNode& placed) {
  emit_copy(encoder, {placed.capture, placed.output.desc}, placed.output, 0);
}

}  // namespace minfer::cpu
