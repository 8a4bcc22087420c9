#pragma once
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace minfer::cli {

/// One user turn in ChatML, ready for the assistant's answer; a system turn before it unless `system` is
/// empty. `system` and `user` are plain text: whatever they contain, they never become control tokens. Throws
/// Error{unsupported} for a vocabulary without ChatML's two control tokens.
std::vector<Token> chat_prompt(const Tokenizer& tokenizer, std::string_view system, std::string_view user);

}  // namespace minfer::cli
