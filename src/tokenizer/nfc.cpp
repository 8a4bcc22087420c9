#include "tokenizer/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/error.h"

namespace minfer {
namespace {

using CodePoint = utf8proc_int32_t;

struct CodePointRange {
  CodePoint first, last;
};

/// What Unicode 10 to 15 added to the code points that take part in normalisation: marks with a combining
/// class, and U+11938, which decomposes into U+11935 U+11930.
constexpr CodePointRange unknown_to_unicode_9[] = {
    {0x007FD, 0x007FD}, {0x00898, 0x0089F}, {0x008CA, 0x008D3}, {0x009FE, 0x009FE}, {0x00C3C, 0x00C3C},
    {0x00D3B, 0x00D3C}, {0x00EBA, 0x00EBA}, {0x01715, 0x01715}, {0x01ABF, 0x01ACE}, {0x01DF6, 0x01DFA},
    {0x0A82C, 0x0A82C}, {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50},
    {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x1183A},
    {0x11930, 0x11930}, {0x11938, 0x11938}, {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0},
    {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45},
    {0x11D97, 0x11D97}, {0x11F41, 0x11F42}, {0x16FF0, 0x16FF1}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136},
    {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF},
};

bool is_unknown_to_unicode_9(CodePoint c) {
  if (c < unknown_to_unicode_9[0].first) return false;
  const auto range = std::lower_bound(std::begin(unknown_to_unicode_9), std::end(unknown_to_unicode_9), c,
                                      [](CodePointRange r, CodePoint point) { return r.last < point; });
  return range != std::end(unknown_to_unicode_9) && range->first <= c;
}

void append_decomposition(CodePoint c, std::vector<CodePoint>& out) {
  CodePoint parts[4];  // no canonical decomposition is longer (UAX #15, section 14)
  const auto count = utf8proc_decompose_char(c, parts, 4, UTF8PROC_DECOMPOSE, nullptr);
  MINFER_CHECK(count >= 0 && count <= 4, "a canonical decomposition has at most four code points");
  out.insert(out.end(), parts, parts + count);
}

/// The Canonical Ordering Algorithm. utf8proc's own is an insertion sort: quadratic in the length of a run.
void order_marks(std::vector<CodePoint>& code_points) {
  const auto combining_class = [](CodePoint c) { return utf8proc_get_property(c)->combining_class; };
  const auto is_starter = [&](CodePoint c) { return combining_class(c) == 0; };
  for (auto run = code_points.begin(); run != code_points.end();) {
    run = std::find_if_not(run, code_points.end(), is_starter);
    const auto end = std::find_if(run, code_points.end(), is_starter);
    std::stable_sort(run, end, [&](auto a, auto b) { return combining_class(a) < combining_class(b); });
    run = end;
  }
}

/// Composes what was decomposed and moves it to `out`.
void flush(std::vector<CodePoint>& decomposed, std::string& out) {
  order_marks(decomposed);
  const auto count = utf8proc_normalize_utf32(decomposed.data(), utf8proc_ssize_t(decomposed.size()),
                                              utf8proc_option_t(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  MINFER_CHECK(count >= 0, "composition works in place and cannot fail");
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    utf8proc_uint8_t utf8[4];
    const auto length = utf8proc_encode_char(decomposed[size_t(i)], utf8);
    out.append(reinterpret_cast<const char*>(utf8), size_t(length));
  }
  decomposed.clear();
}

}  // namespace

std::string nfc(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return uint8_t(c) < 0x80; }))
    return std::string(text);
  std::string out;
  std::vector<CodePoint> decomposed;
  out.reserve(text.size());
  decomposed.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    CodePoint c = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i,
                                         utf8proc_ssize_t(text.size() - i), &c);
    MINFER_CHECK(length > 0, "nfc takes well-formed UTF-8 only");
    if (is_unknown_to_unicode_9(c)) {
      flush(decomposed, out);
      out += text.substr(i, size_t(length));
    } else {
      append_decomposition(c, decomposed);
    }
    i += size_t(length);
  }
  flush(decomposed, out);
  return out;
}

}  // namespace minfer
