#include "backends/cpu/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace minfer::cpu {
namespace {

constexpr size_t line = 64;
size_t to_line(size_t bytes) { return (bytes + line - 1) / line * line; }

constexpr int64_t q8_block = 32;

/// Quantises what `n` blocks of values lost when they were rounded to `plane`.
void quantise_rest(decltype(KernelTable::quantise_q8) kernel, const Q8Rows& to, const Q8Rows& plane,
                   const float* values, int64_t n) {
  for (int64_t b = 0; b < n; ++b) {
    float rest[q8_block];
    for (int64_t i = 0; i < q8_block; ++i) {
      rest[i] = values[b * q8_block + i] - float(plane.q[b * q8_block + i]) * plane.d[b];
    }
    kernel(to.q + b * q8_block, to.d + b, to.sum + b, rest, q8_block);
  }
}

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
  program_.q8.bytes = std::max(program_.q8.bytes, q8_bytes(x.cols, x.tokens * planes));
  const auto work = [x, planes, store = q8(), kernel = kernels.quantise_q8](const Lane& lane) {
    const Q8Rows rows = q8_rows(store->memory.data(), x.cols, x.tokens * planes);
    // Blocks are independent, so one token is shared by blocks and many by tokens.
    const int64_t blocks = x.cols / q8_block, step = x.tokens == 1 ? 16 : blocks;
    const Range mine = share(x.tokens * blocks, step, lane.worker);
    for (int64_t at = mine.begin; at < mine.end;) {
      const int64_t token = at / blocks, first = at % blocks, n = std::min(mine.end - at, blocks - first);
      const Q8Rows to = rows.from(token * planes, first);
      const float* values = x.data + at * q8_block;
      kernel(to.q, to.d, to.sum, values, n * q8_block);
      if (planes == 2) quantise_rest(kernel, rows.from(token * planes + 1, first), to, values, n);
      at += n;
    }
  };
  step({"quantise_q8", work, {x.access()}, {q8_access()}, x.elements() <= solo_elements});
  quantised_ = x;
  planes_ = planes;
}

void Encoder::finish() {
  program_.q8.memory = AlignedMemory(program_.q8.bytes);
  program_.scratch = AlignedMemory(program_.scratch_bytes * size_t(threads_));
  plan_barriers(program_.steps);
}

size_t q8_bytes(int64_t cols, int64_t tokens) {
  const size_t blocks = size_t(cols / 32 * tokens);
  return to_line(size_t(cols * tokens)) + 2 * to_line(blocks * sizeof(float));
}

Q8Rows q8_rows(std::byte* memory, int64_t cols, int64_t tokens) {
  std::byte* scales = memory + to_line(size_t(cols * tokens));
  std::byte* sums = scales + to_line(size_t(cols / 32 * tokens) * sizeof(float));
  return {reinterpret_cast<int8_t*>(memory), reinterpret_cast<float*>(scales),
          reinterpret_cast<int32_t*>(sums), cols};
}

}  // namespace minfer::cpu
