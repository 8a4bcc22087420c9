#include "base/fault.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "base/error.h"

namespace minfer {

FaultPoint::FaultPoint(std::string_view point) {
  const char* variable = std::getenv("MINFER_TEST_CALL_FAIL");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const size_t at = entry.find('@');
    if (entry.substr(0, at) != point) continue;
    const std::string_view number = at == std::string_view::npos ? "" : entry.substr(at + 1);
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), fails_at_);
    if (status != std::errc() || end != number.data() + number.size() || fails_at_ < 1) {
      throw Error(ErrorCode::bad_request,
                  fmt::format("MINFER_TEST_CALL_FAIL: found {}, expected {}@N with N from 1", entry, point));
    }
  }
}

}  // namespace minfer
