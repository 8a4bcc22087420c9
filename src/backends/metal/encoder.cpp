#include "backends/metal/encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/metal/buffer.h"

namespace minfer::metal {

void refuse(const Node& node, ErrorCode code, const std::string& why) {
  throw Error(code,
              fmt::format("encoding {} ({}) for {}: {}", node.name, op_name(node.op), Device::kind(), why));
}

Span Scratch::ensure(size_t bytes) {
  const size_t have = generations_.empty() ? 0 : generations_.back()->length();
  if (bytes > have) generations_.push_back(device_.new_buffer(std::max(bytes, have + have / 2), label_));
  return {generations_.back().get(), 0, bytes};
}

size_t Scratch::bytes() const {
  size_t sum = 0;
  for (const auto& buffer : generations_) sum += buffer->length();
  return sum;
}

DispatchBuilder& DispatchBuilder::read(uint32_t index, const Span& span) {
  dispatch_.arguments.push_back({index, span, false});
  return *this;
}

DispatchBuilder& DispatchBuilder::write(uint32_t index, const Span& span) {
  dispatch_.arguments.push_back({index, span, true});
  return *this;
}

DispatchBuilder& DispatchBuilder::threadgroup_memory(size_t bytes) {
  const size_t rounded = (bytes + 15) / 16 * 16;
  if (rounded > limits_.threadgroup_memory) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format(
            "encoding {} for {}: the kernel {} needs {} bytes of threadgroup memory, the device has {}",
            dispatch_.node, Device::kind(), dispatch_.pipeline->name, rounded, limits_.threadgroup_memory),
        "MINFER_GEMM=0 and the switches of attention in docs/metal.md choose other kernels; or use --device "
        "cpu");
  }
  dispatch_.threadgroup_bytes = rounded;
  return *this;
}

DispatchBuilder& DispatchBuilder::grid(Extent groups, Extent threads) {
  const size_t most = dispatch_.pipeline->state->maxTotalThreadsPerThreadgroup();
  if (threads.count() > most) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("encoding {} for {}: the kernel {} needs threadgroups of {} threads, the device runs {}",
                    dispatch_.node, Device::kind(), dispatch_.pipeline->name, threads.count(), most),
        "use --device cpu");
  }
  dispatch_.groups = groups;
  dispatch_.threads = threads;
  return *this;
}

Span Encoder::weight(const Node& node, const WeightRef& ref) const {
  if (ref.name.empty()) refuse(node, ErrorCode::bad_model, "it names no weight, and needs one");
  const WeightRegistry::Entry* found = weights_.find(ref.name);
  if (found == nullptr)
    refuse(node, ErrorCode::bad_model, fmt::format("weight {} is not registered", ref.name));
  if (const WeightRef& have = found->ref; !(have == ref)) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("weight {} is {} [{}, {}], expected {} [{}, {}]", ref.name, info(have.type).name,
                       have.cols, have.rows, info(ref.type).name, ref.cols, ref.rows));
  }
  return found->span;
}

Span Encoder::vector(const Node& node, const WeightRef& ref, int64_t length) const {
  const Span span = weight(node, ref);
  if (ref.type != DType::f32 || ref.cols * ref.rows != length) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("{} is {} with {} values, expected F32 with {}", ref.name, info(ref.type).name,
                       ref.cols * ref.rows, length));
  }
  if (span.offset % alignof(float) != 0) {
    refuse(node, ErrorCode::unsupported, fmt::format("{} does not lie on a 4-byte boundary", ref.name));
  }
  return span;
}

DispatchBuilder Encoder::dispatch(const Node& node, std::string_view kernel,
                                  std::vector<Constant> constants) {
  Dispatch& dispatch = program_.dispatches.emplace_back();
  dispatch.pipeline = &device.pipeline(kernel, constants);
  dispatch.node = node.name;
  return DispatchBuilder(dispatch, device.limits());
}

void Encoder::check(CheckKey key, std::function<void()> check) {
  if (checked_.insert(std::move(key)).second) program_.checks.push_back(std::move(check));
}

Scratch& Encoder::scratch(std::string_view name) {
  const auto at = scratch_.find(name);
  if (at != scratch_.end()) return at->second;
  return scratch_.emplace(std::string(name), Scratch(device, std::string(name))).first->second;
}

const int32_t* Encoder::indices(const Node& node, const Operand& operand, int64_t count) const {
  if (operand.desc.dtype != DType::i32 || operand.desc.elements() < count) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("indices are {}, expected {} i32 values", to_string(operand.desc), count));
  }
  const Span span = span_of(node, operand);
  for (const Dispatch& dispatch : program_.dispatches) {
    for (const Argument& argument : dispatch.arguments) {
      if (argument.written && argument.span.buffer == span.buffer) {
        refuse(node, ErrorCode::unsupported, "its indices are computed; they must be an input of the graph");
      }
    }
  }
  return reinterpret_cast<const int32_t*>(span.host());
}

void Encoder::finish() { plan_barriers(program_.dispatches, settings.barriers); }

Span span_of(const Node& node, const Operand& operand) {
  auto* buffer = dynamic_cast<MetalBuffer*>(operand.buffer);
  MINFER_CHECK(buffer != nullptr, "an operand lies on the backend that encodes its node");
  if (buffer->bytes() < operand.desc.bytes()) {
    refuse(node, ErrorCode::unsupported,
           fmt::format("an operand is {} in a buffer of {} bytes", to_string(operand.desc), buffer->bytes()));
  }
  return {buffer->mtl(), 0, operand.desc.bytes()};
}

}  // namespace minfer::metal
