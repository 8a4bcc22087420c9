#pragma once
#include <deque>
#include <memory>
#include <string>

#include "chat/jinja/ast.h"

namespace minfer::chat::jinja {

/// A parsed template. Immutable; safe from any thread.
struct Program {
  /// Throws Error{bad_model}, with line and column, for what is no template: wrong syntax, unknown
  /// statements, filters and tests, more nesting than max_source_depth, a source of more than
  /// max_template_bytes.
  static std::unique_ptr<const Program> parse(std::string_view source);

  std::string source;  ///< normalised
  Body body;
  std::deque<std::unique_ptr<Node>> nodes;  ///< owns them all, so that no deep tree is destroyed recursively
};

}  // namespace minfer::chat::jinja
