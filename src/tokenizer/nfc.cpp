#include "tokenizer/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace minfer {
namespace {

/// Canonical decomposition, marks not yet in order.
std::vector<utf8proc_int32_t> decomposed(std::string_view text) {
  std::vector<utf8proc_int32_t> code_points;
  code_points.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t code_point = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i,
                                         utf8proc_ssize_t(text.size() - i), &code_point);
    MINFER_CHECK(length > 0, "nfc takes well-formed UTF-8 only");
    i += size_t(length);
    utf8proc_int32_t parts[4];  // no canonical decomposition is longer (UAX #15, section 14)
    const auto count = utf8proc_decompose_char(code_point, parts, 4, UTF8PROC_DECOMPOSE, nullptr);
    MINFER_CHECK(count >= 0 && count <= 4, "a canonical decomposition has at most four code points");
    code_points.insert(code_points.end(), parts, parts + count);
  }
  return code_points;
}

/// The Canonical Ordering Algorithm. utf8proc's own is an insertion sort: quadratic in the length of a run.
void order_marks(std::vector<utf8proc_int32_t>& code_points) {
  const auto combining_class = [](utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; };
  const auto is_starter = [&](utf8proc_int32_t c) { return combining_class(c) == 0; };
  for (auto run = code_points.begin(); run != code_points.end();) {
    run = std::find_if_not(run, code_points.end(), is_starter);
    const auto end = std::find_if(run, code_points.end(), is_starter);
    std::stable_sort(run, end, [&](auto a, auto b) { return combining_class(a) < combining_class(b); });
    run = end;
  }
}

}  // namespace

std::string nfc(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return uint8_t(c) < 0x80; }))
    return std::string(text);
  std::vector<utf8proc_int32_t> code_points = decomposed(text);
  order_marks(code_points);
  const auto composed = utf8proc_normalize_utf32(code_points.data(), utf8proc_ssize_t(code_points.size()),
                                                 utf8proc_option_t(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  MINFER_CHECK(composed >= 0, "composition works in place and cannot fail");
  std::string out;
  out.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < composed; ++i) {
    utf8proc_uint8_t utf8[4];
    const auto length = utf8proc_encode_char(code_points[size_t(i)], utf8);
    out.append(reinterpret_cast<const char*>(utf8), size_t(length));
  }
  return out;
}

}  // namespace minfer
