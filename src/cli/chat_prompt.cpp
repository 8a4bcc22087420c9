#include "cli/chat_prompt.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace minfer::cli {
namespace {

Token control_token(const Tokenizer& tokenizer, std::string_view text) {
  const std::optional<Token> id = tokenizer.find(text);
  if (!id || !tokenizer.is_control(*id))
    throw Error(ErrorCode::unsupported, fmt::format("the model's vocabulary has no control token {}", text),
                "it was not trained on ChatML; use --raw and write the model's own format into the prompt");
  return *id;
}

}  // namespace

std::vector<Token> chat_prompt(const Tokenizer& tokenizer, std::string_view system, std::string_view user) {
  const Token start = control_token(tokenizer, "<|im_start|>"), end = control_token(tokenizer, "<|im_end|>");
  std::vector<Token> ids;
  if (tokenizer.adds_bos() && tokenizer.bos() != start) ids.push_back(tokenizer.bos().value());
  // A turn's role and text are encoded as one string, as they were in training: the line end after the role
  // may join blanks at the head of the text in one token.
  const auto add_text = [&](const std::string& text) {
    const auto piece = tokenizer.encode(text, {.add_bos = false, .parse_special = false});
    ids.insert(ids.end(), piece.begin(), piece.end());
  };
  const auto add_turn = [&](std::string_view role, std::string_view text) {
    ids.push_back(start);
    add_text(fmt::format("{}\n{}", role, text));
    ids.push_back(end);
    add_text("\n");
  };
  if (!system.empty()) add_turn("system", system);
  add_turn("user", user);
  ids.push_back(start);
  add_text("assistant\n");
  return ids;
}

}  // namespace minfer::cli
