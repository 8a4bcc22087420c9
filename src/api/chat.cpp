#include "chat/chat_template.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/model.h"
#include "api/support.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"

using namespace minfer;

namespace minfer::api {
namespace {

constexpr minfer_chat_options default_options = {.size = sizeof(minfer_chat_options),
                                                 .add_generation_prompt = true,
                                                 .enable_thinking = MINFER_THINKING_DEFAULT,
                                                 .tools = nullptr,
                                                 .tools_bytes = 0};

chat::RenderOptions render_options(const minfer_chat_options* given) {
  const minfer_chat_options all = read_struct(given, default_options, "options");
  chat::RenderOptions options;
  options.add_generation_prompt = all.add_generation_prompt;
  const int thinking = number_of(all.enable_thinking);
  if (thinking < MINFER_THINKING_DEFAULT || thinking > MINFER_THINKING_ON)
    throw Error(ErrorCode::bad_request,
                fmt::format("options.enable_thinking is {}, expected -1 to 1", thinking));
  if (thinking != MINFER_THINKING_DEFAULT) options.enable_thinking = thinking == MINFER_THINKING_ON;
  const std::string_view tools = text_argument(all.tools, all.tools_bytes, "options.tools");
  if (!tools.empty())
    options.tools = std::make_shared<nlohmann::ordered_json>(parse_json(tools, "options.tools"));
  return options;
}

std::vector<chat::Piece> render(const minfer_model* model, const char* messages, size_t messages_bytes,
                                const minfer_chat_options* options) {
  require(model, "model");
  const std::string_view text = text_argument(messages, messages_bytes, "messages");
  const chat::RenderOptions with = render_options(options);
  return chat_template(*model).render(parse_json(text, "messages"), with);
}

}  // namespace

const chat::ChatTemplate& chat_template(const minfer_model& model) {
  const std::lock_guard lock(model.mutex);
  if (!model.chat) {
    model.chat = chat::ChatTemplate::load(model.model->file());
    if (model.chat->is_fallback()) log(LogLevel::warning, "{}", model.chat->origin());
  }
  return *model.chat;
}

}  // namespace minfer::api

extern "C" {

minfer_status minfer_chat_options_init(minfer_chat_options* options, size_t size) {
  return api::guarded([&] { api::write_struct(options, size, api::default_options, "options"); });
}

minfer_status minfer_chat_render(const minfer_model* model, const char* messages, size_t messages_bytes,
                                 const minfer_chat_options* options, char* text, size_t capacity,
                                 size_t* count) {
  return api::guarded([&] {
    api::require(count, "count");
    const std::string output = chat::joined(api::render(model, messages, messages_bytes, options));
    api::give(std::span<const char>(output), text, capacity, count);
  });
}

minfer_status minfer_chat_encode(const minfer_model* model, const char* messages, size_t messages_bytes,
                                 const minfer_chat_options* options, int32_t* tokens, size_t capacity,
                                 size_t* count) {
  return api::guarded([&] {
    api::require(count, "count");
    const std::vector<chat::Piece> pieces = api::render(model, messages, messages_bytes, options);
    const std::vector<Token> ids = chat::encode(model->model->tokenizer(), pieces);
    api::give(std::span(ids), tokens, capacity, count);
  });
}
}
