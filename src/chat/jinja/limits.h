#pragma once
#include <cstddef>

namespace minfer::chat::jinja {

/// What a template may use. A template comes inside a model file and may be hostile: each limit ends the
/// rendering with Error{bad_model} that names line and column.
struct Limits {
  size_t steps =
      10'000'000;       ///< nodes evaluated, items visited and, 32 at a time, bytes written: about a second
  size_t depth = 1200;  ///< nested evaluations: bounds the C++ stack at about 1 MiB
  size_t text_bytes = size_t(64) << 20;     ///< of one string, the output among them
  size_t memory_bytes = size_t(256) << 20;  ///< of all strings and containers alive
};

/// Of the template's source; the largest published ones have some 30 KiB.
inline constexpr size_t max_template_bytes = size_t(1) << 20;
/// Nested brackets, blocks or operators in the source. (Python's own compiler stops at 100 to 200.)
inline constexpr int max_source_depth = 200;

}  // namespace minfer::chat::jinja
