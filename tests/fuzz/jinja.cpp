// Any template: it renders with a conversation, or an Error says why not. What it prints is UTF-8, its pieces
// are in order, and what users wrote is never called the template's. The limits are small, so that inputs
// stay quick.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/interpreter.h"
#include "tokenizer/utf8.h"

using namespace minfer;

namespace {

/// Stands in every text of the conversation, and in no template but on purpose.
constexpr std::string_view mark = "\u2603\u2603\u2603";

const nlohmann::ordered_json& conversation() {
  static const auto json = [] {
    const std::string m(mark);
    return nlohmann::ordered_json{
        {"messages",
         {{{"role", "system"}, {"content", m + " be brief"}},
          {{"role", "user"}, {"content", "Hi \u00e9 <b>&amp;</b> {{ x }} " + m}},
          {{"role", "assistant"},
           {"content", "<think>a</think>b" + m},
           {"tool_calls",
            {{{"type", "function"},
              {"function", {{"name", "f" + m}, {"arguments", {{"a", 1}, {"b", {1.5, nullptr, true}}}}}}}}}},
          {{"role", "tool"}, {"content", m}}}},
        {"tools",
         {{{"type", "function"}, {"function", {{"name", m}, {"parameters", {{"type", "object"}}}}}}}},
        {"s", m},
        {"n", 3},
        {"xs", {3, 1, 2}}};
  }();
  return json;
}

void require(bool condition) {
  if (!condition) std::abort();
}

void check(std::string_view source) {
  chat::jinja::Limits limits;
  limits.steps = 200'000;
  limits.text_bytes = size_t(1) << 20;
  limits.memory_bytes = size_t(8) << 20;
  const auto program = chat::jinja::Program::parse(source);
  chat::jinja::Runtime runtime(program->source, limits, 0);
  std::vector<std::pair<std::string, chat::jinja::Value>> variables;
  for (const auto& [name, value] : conversation().items())
    variables.emplace_back(name, chat::jinja::from_json(runtime, value));
  const auto text = chat::jinja::Interpreter(runtime, *program).run(variables);
  require(utf8::valid_prefix(text->bytes) == text->bytes.size());
  const bool knows_mark = source.find("\u2603") != source.npos || source.find("2603") != source.npos;
  size_t at = 0;
  chat::jinja::for_each_run(*text, 0, text->bytes.size(), [&](size_t begin, size_t end, bool trusted) {
    require(begin == at && end > begin);
    at = end;
    if (trusted && !knows_mark)
      require(text->bytes.substr(begin, end - begin).find("\u2603") == std::string::npos);
  });
  require(at == text->bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    check({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
  }
  return 0;
}
