#include "chat/render.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/interpreter.h"

namespace minfer::test {

std::vector<std::pair<std::string, bool>> render_pieces(std::string_view source, std::string_view variables,
                                                        chat::jinja::Limits limits) {
  const auto program = chat::jinja::Program::parse(source);
  chat::jinja::Runtime runtime(program->source, limits, 0);
  std::vector<std::pair<std::string, chat::jinja::Value>> values;
  const auto parsed = parse_json(variables, "a test's variables");
  for (const auto& [name, value] : parsed.items())
    values.emplace_back(name, chat::jinja::from_json(runtime, value));
  const auto text = chat::jinja::Interpreter(runtime, *program).run(values);
  std::vector<std::pair<std::string, bool>> pieces;
  chat::jinja::for_each_run(*text, 0, text->bytes.size(), [&](size_t begin, size_t end, bool trusted) {
    pieces.emplace_back(text->bytes.substr(begin, end - begin), trusted);
  });
  return pieces;
}

std::string render(std::string_view source, std::string_view variables, chat::jinja::Limits limits) {
  std::string text;
  for (const auto& piece : render_pieces(source, variables, limits)) text += piece.first;
  return text;
}

std::string refusal(std::string_view source, std::string_view variables, chat::jinja::Limits limits) {
  try {
    const std::string text = render(source, variables, limits);
    FAIL_CHECK("rendered: " << text.substr(0, 200));
  } catch (const Error& error) {
    return std::string(error_code_name(error.code)) + ": " + error.what();
  }
  return {};
}

}  // namespace minfer::test
