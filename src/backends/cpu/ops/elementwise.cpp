#include "backends/cpu/ops/ops.h"

namespace minfer::cpu {
namespace {

constexpr int64_t line_floats = 16;  ///< shares end on cache lines

/// y = f(a[, b]) over equal shares of the flat values.
template <class F>
void emit_flat(Encoder& encoder, std::string_view name, const Values& y, const Values& a, const Values& b,
               F f) {
  const int64_t n = y.elements();
  const auto flat = [f, y = y.data, a = a.data, b = b.data](Range mine) {
    if (mine.begin < mine.end) {
      f(y + mine.begin, a + mine.begin, b + mine.begin, mine.end - mine.begin);
    }
  };
  const auto work = [n, flat](const Lane& lane) { flat(share(n, line_floats, lane.worker)); };
  const auto of_tokens = [flat, cols = y.cols](Range tokens, std::byte*) {
    flat({tokens.begin * cols, tokens.end * cols});
  };
  encoder.step(
      {name, work, {a.access(), b.access()}, {y.access()}, {y.tokens, of_tokens}, n <= solo_elements});
}

void emit_softmax(Encoder& encoder, const Values& y, const Values& x) {
  const auto work = [y, x, kernel = encoder.kernels.softmax_f32](const Lane& lane) {
    const Range mine = share(x.tokens, 1, lane.worker);
    for (int64_t t = mine.begin; t < mine.end; ++t) kernel(y.data + t * x.cols, x.data + t * x.cols, x.cols);
  };
  encoder.step({"softmax", work, {x.access()}, {y.access()}});
}

struct Encode {
  Encoder& encoder;
  const PlacedNode& placed;

  Values in(size_t index) const {
    const Values x = source(placed, index);
    if (x.elements() != output(placed).elements()) {
      refuse(*placed.node, ErrorCode::bad_model,
             "source " + std::to_string(index) + " is " + to_string(placed.sources[index].desc) +
                 ", expected the output's " + to_string(placed.output.desc));
    }
    return x;
  }
  void operator()(const Add&) const {
    emit_flat(encoder, "add", output(placed), in(0), in(1), encoder.kernels.add_f32);
  }
  void operator()(const Mul&) const {
    emit_flat(encoder, "mul", output(placed), in(0), in(1), encoder.kernels.mul_f32);
  }
  void operator()(const Silu&) const {
    const auto f = [kernel = encoder.kernels.silu_f32](float* y, const float* x, const float*, int64_t n) {
      kernel(y, x, n);
    };
    emit_flat(encoder, "silu", output(placed), in(0), in(0), f);
  }
  void operator()(const Scale& op) const {
    const auto f = [kernel = encoder.kernels.scale_f32, factor = op.factor](
                       float* y, const float* x, const float*, int64_t n) { kernel(y, x, factor, n); };
    emit_flat(encoder, "scale", output(placed), in(0), in(0), f);
  }
  void operator()(const SwiGlu&) const { emit_swiglu(encoder, output(placed), in(0), in(1)); }
  void operator()(const Softmax&) const { emit_softmax(encoder, output(placed), in(0)); }
  template <class Other>
  void operator()(const Other&) const {
    MINFER_CHECK(false, "not an elementwise op");
  }
};

}  // namespace

void emit_swiglu(Encoder& encoder, const Values& y, const Values& gate, const Values& up) {
  emit_flat(encoder, "swiglu", y, gate, up, encoder.kernels.swiglu_f32);
}

void encode_elementwise(Encoder& encoder, const PlacedNode& placed) {
  std::visit(Encode{encoder, placed}, placed.node->op);
}

}  // namespace minfer::cpu
