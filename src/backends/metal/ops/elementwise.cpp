#include <fmt/format.h>

#include "backends/metal/kernels/elementwise_args.h"
#include "backends/metal/ops/ops.h"

namespace minfer::metal {
namespace {

constexpr size_t group_threads = 256, values_a_thread = 4;

Extent groups_for(int64_t count) {
  const size_t threads = (size_t(count) + values_a_thread - 1) / values_a_thread;
  return {(threads + group_threads - 1) / group_threads};
}

/// Kernels count in 32 bits.
ElementwiseArgs args_for(const Node& node, int64_t count, int64_t period = 1) {
  if (count < 1 || count > INT32_MAX) {
    refuse(node, ErrorCode::unsupported, fmt::format("{} values, expected 1 to {}", count, INT32_MAX));
  }
  return {uint32_t(count), uint32_t(period)};
}

void emit_binary(Encoder& encoder, const Node& node, std::string_view kernel, const Span& y, const Span& a,
                 const Span& b, int64_t count) {
  encoder.dispatch(node, kernel)
      .args(args_for(node, count))
      .write(1, y)
      .read(2, a)
      .read(3, b)
      .grid(groups_for(count), {group_threads});
}

void emit_unary(Encoder& encoder, const Node& node, std::string_view kernel, const Span& y, const Span& x,
                int64_t count) {
  encoder.dispatch(node, kernel)
      .args(args_for(node, count))
      .write(1, y)
      .read(2, x)
      .grid(groups_for(count), {group_threads});
}

struct Emit {
  Encoder& encoder;
  const Node& node;
  const Values& y;
  const PlacedNode& placed;

  Span from(size_t index) const { return source(placed, index).span; }
  void operator()(const Add&) const { emit_add(encoder, node, y.span, from(0), from(1), y.elements()); }
  void operator()(const Mul&) const {
    emit_binary(encoder, node, "mul_f32", y.span, from(0), from(1), y.elements());
  }
  void operator()(const Silu&) const { emit_unary(encoder, node, "silu_f32", y.span, from(0), y.elements()); }
  void operator()(const SwiGlu&) const { emit_swiglu(encoder, node, y.span, from(0), from(1), y.elements()); }
  template <class Other>
  void operator()(const Other&) const {
    MINFER_CHECK(false, "only elementwise ops come here");
  }
};

}  // namespace

KernelNames elementwise_kernels() {
  return {"add_f32", "mul_f32", "swiglu_f32", "silu_f32", "add_row_f32", "copy_f32"};
}

void encode_elementwise(Encoder& encoder, const PlacedNode& placed) {
  const Values y = output(placed);
  for (size_t i = 0; i < placed.sources.size(); ++i) {
    if (const Values x = source(placed, i); x.elements() != y.elements()) {
      refuse(*placed.node, ErrorCode::bad_model,
             fmt::format("source {} has {} values, expected {}", i, x.elements(), y.elements()));
    }
  }
  std::visit(Emit{encoder, *placed.node, y, placed}, placed.node->op);
}

void encode_copy(Encoder& encoder, const PlacedNode& placed) {
  const Values y = output(placed), x = source(placed, 0);
  const auto* view = std::get_if<View>(&placed.node->op);
  const size_t offset = view == nullptr ? 0 : size_t(view->offset) * sizeof(float);
  emit_copy(encoder, *placed.node, y.span, x.span.part(offset, y.span.bytes));
}

void encode_capture(Encoder& encoder, const PlacedNode& placed) {
  const Span copy = span_of(*placed.node, {placed.capture, placed.output.desc});
  emit_copy(encoder, *placed.node, copy, output(placed).span);
}

void emit_add(Encoder& encoder, const Node& node, const Span& y, const Span& a, const Span& b,
              int64_t count) {
  emit_binary(encoder, node, "add_f32", y, a, b, count);
}

void emit_swiglu(Encoder& encoder, const Node& node, const Span& y, const Span& gate, const Span& up,
                 int64_t count) {
  emit_binary(encoder, node, "swiglu_f32", y, gate, up, count);
}

void emit_add_row(Encoder& encoder, const Node& node, const Values& y, const Span& row) {
  encoder.dispatch(node, "add_row_f32")
      .args(args_for(node, y.elements(), y.cols))
      .write(1, y.span)
      .read(2, row)
      .grid(groups_for(y.elements()), {group_threads});
}

void emit_copy(Encoder& encoder, const Node& node, const Span& to, const Span& from) {
  emit_unary(encoder, node, "copy_f32", to, from, int64_t(from.bytes / sizeof(float)));
}

}  // namespace minfer::metal
