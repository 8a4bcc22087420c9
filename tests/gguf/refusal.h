#pragma once
#include <doctest/doctest.h>

#include <span>
#include <string>

#include "base/error.h"
#include "gguf/gguf.h"

namespace minfer::test {

struct Refusal {
  std::string message, hint;
  ErrorCode code;
};

/// Runs `action`, which must throw minfer::Error.
template <class Action>
Refusal refusal_of(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return {e.what(), e.hint, e.code};
  }
  FAIL_CHECK("expected an Error");
  return {};
}

inline Refusal parse_refusal(std::span<const std::byte> bytes, const std::string& label = "f.gguf") {
  return refusal_of([&] { gguf::File::parse(bytes, label); });
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace minfer::test
