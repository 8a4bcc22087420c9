#include "backends/cpu/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/isa/quant_tokens.h"
#include "backends/cpu/ops/ops.h"
#include "base/error.h"

namespace minfer::cpu {
namespace {

constexpr size_t line = 64;
size_t to_line(size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

void refuse(const Node& node, ErrorCode code, const std::string& why) {
  throw Error(code, fmt::format("encoding {} ({}) for the CPU: {}", node.name, op_name(node.op), why));
}

void WeightTable::add(const Weight& weight) {
  const WeightRef& ref = weight.ref;
  const size_t expected = row_bytes(ref.type, ref.cols) * size_t(ref.rows);
  if (weight.data.size() != expected) {
    throw Error(ErrorCode::bad_model,
                fmt::format("registering {}: {} bytes for {} [{}, {}], expected {}", ref.name,
                            weight.data.size(), info(ref.type).name, ref.cols, ref.rows, expected));
  }
  const auto [at, fresh] = weights_.emplace(ref.name, weight);
  if (fresh) {
    bytes_ += expected;
    return;
  }
  const Weight& known = at->second;
  const bool same = known.ref == ref && (known.data.data() == weight.data.data() ||
                                         std::memcmp(known.data.data(), weight.data.data(), expected) == 0);
  if (!same) {
    throw Error(ErrorCode::bad_model,
                fmt::format("registering {}: other bytes are known under this name", ref.name),
                "two models cannot share one backend unless their weights have different names");
  }
}

const Weight* WeightTable::find(std::string_view name) const {
  const auto at = weights_.find(name);
  return at == weights_.end() ? nullptr : &at->second;
}

const std::byte* Encoder::weight(const Node& node, const WeightRef& ref) const {
  if (ref.name.empty()) refuse(node, ErrorCode::bad_model, "it names no weight, and needs one");
  const Weight* found = weights_.find(ref.name);
  if (found == nullptr) {
    refuse(node, ErrorCode::bad_model, fmt::format("weight {} is not registered", ref.name));
  }
  const WeightRef& have = found->ref;
  if (!(have == ref)) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("weight {} is {} [{}, {}], expected {} [{}, {}]", ref.name, info(have.type).name,
                       have.cols, have.rows, info(ref.type).name, ref.cols, ref.rows));
  }
  return found->data.data();
}

const float* Encoder::vector(const Node& node, const WeightRef& ref, int64_t length) const {
  const std::byte* bytes = weight(node, ref);
  if (ref.type != DType::f32 || ref.cols * ref.rows != length) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("{} is {} with {} values, expected F32 with {}", ref.name, info(ref.type).name,
                       ref.cols * ref.rows, length));
  }
  if (reinterpret_cast<uintptr_t>(bytes) % alignof(float) != 0) {
    refuse(node, ErrorCode::unsupported, fmt::format("{} does not lie on a 4-byte boundary", ref.name));
  }
  return reinterpret_cast<const float*>(bytes);
}

void Encoder::step(Step step) {
  const auto* from = reinterpret_cast<const std::byte*>(quantised_.data);
  for (const Access& write : step.writes) {
    const auto* to = static_cast<const std::byte*>(write.begin);
    const bool hits = from != nullptr && from < to + write.bytes &&
                      to < from + size_t(quantised_.elements()) * sizeof(float);
    if (hits) quantised_ = {nullptr, 0, 0};
  }
  program_.steps.push_back(std::move(step));
}

void Encoder::check(CheckKey key, std::function<void()> check) {
  if (checked_.emplace(std::move(key), true).second) program_.checks.push_back(std::move(check));
}

std::byte* Encoder::own(size_t bytes) { return program_.owned.emplace_back(bytes).data(); }

std::byte* Encoder::states(size_t bytes) {
  const auto [at, fresh] = states_.emplace(bytes, nullptr);
  if (fresh) at->second = own(bytes);
  return at->second;
}

void Encoder::need_scratch(size_t bytes) {
  program_.scratch_bytes = std::max(program_.scratch_bytes, to_line(bytes));
}

const int32_t* Encoder::indices(const Node& node, const Operand& operand, int64_t count) const {
  if (operand.desc.dtype != DType::i32 || operand.desc.elements() < count) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("indices are {}, expected {} i32 values", to_string(operand.desc), count));
  }
  const auto* data = reinterpret_cast<const int32_t*>(operand.buffer->host());
  for (const Step& step : program_.steps) {
    for (const Access& write : step.writes) {
      if (write.begin == data) {
        refuse(node, ErrorCode::unsupported, "its indices are computed; they must be an input of the graph");
      }
    }
  }
  return data;
}

void Encoder::quantise(const Values& x, int planes) {
  const bool same_rows =
      quantised_.data == x.data && quantised_.cols == x.cols && quantised_.tokens == x.tokens;
  if (same_rows && planes_ == planes) return;
  program_.q8.bytes = std::max(program_.q8.bytes, q8_token_bytes(x.cols, x.tokens * planes));
  emit_quantise(*this, x, planes);
  quantised_ = x;
  planes_ = planes;
}

void Encoder::finish() {
  join_rows(program_.steps, threads_);
  plan_barriers(program_.steps);
}

}  // namespace minfer::cpu
