#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace minfer::cli {

/// The bytes of a file, of stdin if `path` is "-". Throws Error{io} naming it; refuses more than
/// `max_text_bytes`.
std::string read_text_file(const std::string& path);
inline constexpr size_t max_text_bytes = size_t(256) << 20;

/// Ids as `1 2 3`, `1,2,3` or `[1, 2, 3]`. Throws Error{bad_request} naming `what` and the word that is none.
std::vector<Token> parse_ids(std::string_view text, std::string_view what);

}  // namespace minfer::cli
