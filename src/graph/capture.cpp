#include "graph/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "graph/node_rules.h"

namespace minfer {
namespace {

void write_file(const std::filesystem::path& path, const void* data, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), std::streamsize(bytes));
  file.close();
  if (!file) {
    throw Error(ErrorCode::io, fmt::format("writing {}: it cannot be written", path.string()),
                "MINFER_GRAPH_DUMP needs a folder with room for every value");
  }
}

/// What two dumps of one model on two devices are compared by, before the files are.
std::string statistics(const Node& node, std::string_view backend, const std::vector<float>& values) {
  float low = INFINITY, high = -INFINITY;
  double sum = 0, squares = 0;
  size_t not_finite = 0;
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++not_finite;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    squares += double(value) * value;
  }
  const double n = std::max<double>(1, double(values.size() - not_finite));
  return fmt::format(
      "{:>4} {:<28} {:<16} {:<9} {:<20} min {:<12.6g} max {:<12.6g} mean {:<12.6g} rms {:<12.6g}{}\n",
      node.id, node.name, op_name(node.op), backend, to_string(node.desc), low, high, sum / n,
      std::sqrt(squares / n), not_finite ? fmt::format(" not finite {}", not_finite) : "");
}

}  // namespace

std::string capture_folder() {
  const char* text = std::getenv("MINFER_GRAPH_DUMP");
  return text == nullptr ? "" : text;
}

bool is_captured(const Node& node) {
  return !node.dead && node.desc.dtype == DType::f32 && !is_kv_region(node.op) &&
         !std::holds_alternative<Input>(node.op);
}

void write_captures(const std::string& folder, uint64_t uid, int run, const Graph& graph,
                    const std::vector<Buffer*>& captures, Backends backends) {
  std::error_code ignored;  // what cannot be made cannot be written either, and that is an error
  std::filesystem::create_directories(folder, ignored);
  const std::string head = fmt::format("graph{}.run{}", uid, run);
  std::string lines;
  for (const Node& node : graph.nodes) {
    Buffer* const capture = captures[size_t(node.id)];
    if (capture == nullptr) continue;
    Backend& backend = *backends[size_t(node.backend)];
    std::vector<float> values(size_t(node.desc.elements()));
    backend.copy_out(*capture, 0, std::as_writable_bytes(std::span(values)));
    write_file(std::filesystem::path(folder) / fmt::format("{}.{:04}.{}.f32", head, node.id, node.name),
               values.data(), values.size() * sizeof(float));
    lines += statistics(node, backend.name(), values);
  }
  write_file(std::filesystem::path(folder) / (head + ".txt"), lines.data(), lines.size());
}

}  // namespace minfer
