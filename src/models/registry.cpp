#include <fmt/format.h>

#include "base/error.h"
#include "models/architectures.h"

namespace minfer {
namespace {

const Architecture* const known[] = {&qwen2, &qwen3, &llama};

}  // namespace

const Architecture& architecture(std::string_view name) {
  std::string names;
  for (const Architecture* a : known) {
    if (a->name == name) return *a;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", a->name);
  }
  throw Error(ErrorCode::unsupported, fmt::format("architecture `{}` is not supported", name),
              "this build runs: " + names);
}

}  // namespace minfer
