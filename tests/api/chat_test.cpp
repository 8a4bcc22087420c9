#include "chat/chat_template.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "api/api_test.h"
#include "base/json.h"
#include "minfer/minfer.hpp"
#include "models/model.h"

using namespace minfer;
using namespace minfer::test;

// Chats through the C interface beside the library's own rendering and encoding.

namespace {

const std::string conversation = R"([{"role": "system", "content": "Be brief."},
  {"role": "user", "content": "Say <|im_end|> twice, caf\u00e9."}])";

void refused(const minfer_model* model, const std::string& messages, const std::string& named,
             const minfer_chat_options* options = nullptr) {
  size_t count = 0;
  expect(minfer_chat_render(model, messages.data(), messages.size(), options, nullptr, 0, &count),
         MINFER_BAD_REQUEST, named);
  expect(minfer_chat_encode(model, messages.data(), messages.size(), options, nullptr, 0, &count),
         MINFER_BAD_REQUEST, named);
}

}  // namespace

TEST_CASE("chat: text and tokens are those of the library") {
  const auto engine = Model::load(golden_file("qwen3-f16"));
  const auto chat = chat::ChatTemplate::load(engine->file());
  const minfer_cpp::Model model(golden_file("qwen3-f16"));
  for (const bool prompt_wanted : {true, false}) {
    const auto pieces =
        chat->render(parse_json(conversation, "the conversation"), {.add_generation_prompt = prompt_wanted});
    minfer_cpp::ChatOptions options;
    options.add_generation_prompt = prompt_wanted;
    CHECK(model.chat_render(conversation, options) == chat::joined(pieces));
    CHECK(model.chat_encode(conversation, options) == chat::encode(engine->tokenizer(), pieces));
  }
  const auto ids = model.chat_encode(conversation);
  CHECK(std::count(ids.begin(), ids.end(), model.find_token("<|im_end|>")) == 2);  // the user's is text
}

TEST_CASE("chat: messages and options that cannot be used are named") {
  const ApiModel model("qwen3-f16");
  refused(model, "", "messages");
  refused(model, "[{", "messages");
  refused(model, "[{\"content\": \"no role\"}]", "role");
  refused(model, "[" + std::string(500, '[') + std::string(500, ']') + "]", "levels");
  minfer_chat_options options;
  expect_ok(minfer_chat_options_init(&options, sizeof options));
  const int no_thinking = 7;  // which C can write into an enum, and C++ cannot
  std::memcpy(&options.enable_thinking, &no_thinking, sizeof no_thinking);
  refused(model, conversation, "enable_thinking", &options);
  expect_ok(minfer_chat_options_init(&options, sizeof options));
  options.tools_bytes = 3;
  refused(model, conversation, "`options.tools` is null", &options);
  options.tools = "[}]";
  refused(model, conversation, "options.tools", &options);
  expect_ok(minfer_chat_options_init(&options, sizeof options));
  options.size = 2;
  refused(model, conversation, "size", &options);
}

TEST_CASE("chat: each pointer is checked and named, buffers are as everywhere") {
  const ApiModel model("qwen3-f16");
  const char* text = conversation.data();
  const size_t bytes = conversation.size();
  size_t count = 0, needed = 0;
  char out[4] = {};
  int32_t ids[2] = {-7, -7};
  expect(minfer_chat_options_init(nullptr, sizeof(minfer_chat_options)), MINFER_BAD_REQUEST, "options");
  expect(minfer_chat_render(nullptr, text, bytes, nullptr, out, 4, &count), MINFER_BAD_REQUEST, "`model`");
  expect(minfer_chat_render(model, nullptr, bytes, nullptr, out, 4, &count), MINFER_BAD_REQUEST,
         "`messages`");
  expect(minfer_chat_render(model, text, bytes, nullptr, out, 4, nullptr), MINFER_BAD_REQUEST, "`count`");
  expect(minfer_chat_render(model, text, bytes, nullptr, nullptr, 4, &count), MINFER_BAD_REQUEST, "buffer");
  expect(minfer_chat_encode(nullptr, text, bytes, nullptr, ids, 2, &count), MINFER_BAD_REQUEST, "`model`");
  expect(minfer_chat_encode(model, nullptr, bytes, nullptr, ids, 2, &count), MINFER_BAD_REQUEST,
         "`messages`");
  expect(minfer_chat_encode(model, text, bytes, nullptr, ids, 2, nullptr), MINFER_BAD_REQUEST, "`count`");
  expect(minfer_chat_encode(model, text, bytes, nullptr, nullptr, 2, &count), MINFER_BAD_REQUEST, "buffer");
  expect_ok(minfer_chat_encode(model, text, bytes, nullptr, nullptr, 0, &needed));
  expect(minfer_chat_encode(model, text, bytes, nullptr, ids, 2, &count), MINFER_BUFFER_TOO_SMALL,
         std::to_string(needed));
  CHECK(ids[0] == -7);
}
