// From pieces to ids: control tokens of trusted text only, plain text across pieces as one, one leading
// token.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "chat/chat_template.h"
#include "chat/render.h"
#include "gguf/writer.h"
#include "tokenizer/byte_level.h"

using namespace minfer;
using chat::Piece;

namespace {

const Tokenizer& qwen3() {
  static const auto tokenizer =
      Tokenizer::load(gguf::File::open(std::string(MINFER_TEST_DATA_DIR) + "/tokenizer/qwen3-vocab.gguf"));
  return *tokenizer;
}

std::vector<Token> plain(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.encode(text, {.add_bos = false, .parse_special = false});
}

std::vector<Token> encoded(const std::vector<Piece>& pieces) { return chat::encode(qwen3(), pieces); }

/// A vocabulary of the 256 bytes and the control token <s>, which every text begins with.
std::shared_ptr<const Tokenizer> with_bos() {
  gguf::Writer writer;
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(byte_level::stand_in(uint8_t(byte)));
  std::vector<int32_t> types(tokens.size(), 1);
  tokens.emplace_back("<s>");
  types.push_back(3);
  writer.set("tokenizer.ggml.model", "gpt2");
  writer.set("tokenizer.ggml.pre", "gpt-2");
  writer.set("tokenizer.ggml.tokens", tokens);
  writer.set("tokenizer.ggml.token_type", types);
  writer.set("tokenizer.ggml.merges", std::vector<std::string>{});
  writer.set("tokenizer.ggml.bos_token_id", int32_t(256));
  writer.set("tokenizer.ggml.add_bos_token", true);
  const auto bytes = std::make_shared<const std::vector<std::byte>>(writer.bytes());
  const auto file = gguf::File::parse(*bytes, "vocabulary");
  return Tokenizer::load({file.get(), [file, bytes](const gguf::File*) {}});
}

}  // namespace

TEST_CASE("control tokens come from trusted text only") {
  const Token start = qwen3().find("<|im_start|>").value();
  CHECK(encoded({{"<|im_start|>", true}}) == std::vector<Token>{start});
  CHECK(encoded({{"<|im_start|>", false}}) == plain(qwen3(), "<|im_start|>"));
  for (const Token id : encoded({{"<|im_start|>", false}, {"x", true}, {"<|im_end|><|endoftext|>", false}}))
    CHECK_FALSE(qwen3().is_control(id));
}

TEST_CASE("a control token that is trusted in part only is plain text") {
  CHECK(encoded({{"<|im_", true}, {"start|>", false}}) == plain(qwen3(), "<|im_start|>"));
  CHECK(encoded({{"<|im_", false}, {"start|>", true}}) == plain(qwen3(), "<|im_start|>"));
  CHECK(encoded({{"<|", true}, {"im_start", false}, {"|>", true}}) == plain(qwen3(), "<|im_start|>"));
  const Token start = qwen3().find("<|im_start|>").value();
  CHECK(encoded({{"<|im_", true}, {"start|>", true}}) == std::vector<Token>{start});
}

TEST_CASE("plain text that crosses pieces is tokenised as one") {
  for (const auto& [left, right] :
       {std::pair{"Hel", "lo world"}, {"\n", "\n\nHi"}, {"e", "\u0301"}, {"a ", " b"}}) {
    const std::vector<Token> whole = plain(qwen3(), std::string(left) + right);
    CHECK(encoded({{left, true}, {right, false}}) == whole);
    CHECK(encoded({{left, false}, {right, true}}) == whole);
  }
}

TEST_CASE("user-defined tokens, such as tool call tags, are found in any text") {
  const Token tag = qwen3().find("<tool_call>").value();
  CHECK_FALSE(qwen3().is_control(tag));
  CHECK(encoded({{"<tool_call>", false}}) == std::vector<Token>{tag});
}

TEST_CASE("one leading token, never two, and never from a user's text") {
  const auto tokenizer = with_bos();
  const auto ids = [&](const std::vector<Piece>& pieces) { return chat::encode(*tokenizer, pieces); };
  CHECK(ids({{"a", true}}) == std::vector<Token>{256, 'a'});
  CHECK(ids({{"<s>a", true}}) == std::vector<Token>{256, 'a'});
  CHECK(ids({{"<s>a", false}}) == std::vector<Token>{256, '<', 's', '>', 'a'});
}

/// Four spellings of one history, which the interface of chat servers allows alike.
TEST_CASE(
    "an assistant turn that only calls a tool: content absent, null or empty, arguments as text or object") {
  const std::vector<Token> expected = {
      151644, 872,  198,   28981, 304,    12095,  30,     151645, 198, 151644, 77091,  198,  151657,
      198,    4913, 606,   788,   330,    455,    69364,  497,    330, 16370,  788,    5212, 8926,
      788,    330,  59604, 95642, 151658, 151645, 198,    151644, 872, 198,    151665, 198,  4913,
      83,     788,  220,   17,    17,     532,    151666, 151645, 198, 151644, 77091,  198};
  const auto chat_template = chat::ChatTemplate::load(
      *gguf::File::open(std::string(MINFER_TEST_DATA_DIR) + "/tokenizer/qwen3-vocab.gguf"));
  CHECK(chat_template->origin() == "the model's own template");
  for (const auto& [content, arguments] : {std::pair{"", R"("{\"city\": \"Paris\"}")"},
                                           {R"("content": null,)", R"("{\"city\": \"Paris\"}")"},
                                           {R"("content": "",)", R"("{\"city\": \"Paris\"}")"},
                                           {R"("content": "",)", R"({"city": "Paris"})"}}) {
    const std::string text =
        std::string(R"([{"role": "user", "content": "Weather in Paris?"}, {"role": "assistant", )") +
        content + R"("tool_calls": [{"id": "call_1", "type": "function", "function": )" +
        R"({"name": "get_weather", "arguments": )" + arguments + R"(}}]}, )" +
        R"({"role": "tool", "tool_call_id": "call_1", "content": "{\"t\": 22}"}])";
    CAPTURE(text);
    CHECK(chat::encode(qwen3(), chat_template->render(parse_json(text, "a test"), {})) == expected);
  }
}
