// Renders templates for other programs: reads one JSON object a line, {"template": …, "context": {…}}, and
// answers each with a line {"text": …} or {"error": …}. Used by jinja_oracle.py.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/interpreter.h"

using namespace minfer;

namespace {

nlohmann::ordered_json answer(const std::string& line) {
  const auto request = parse_json(line, "request");
  try {
    const auto program = chat::jinja::Program::parse(request.at("template").get<std::string>());
    chat::jinja::Runtime runtime(program->source, {}, 1'700'000'000);
    std::vector<std::pair<std::string, chat::jinja::Value>> variables;
    for (const auto& [name, value] : request.at("context").items())
      variables.emplace_back(name, chat::jinja::from_json(runtime, value));
    return {{"text", chat::jinja::Interpreter(runtime, *program).run(variables)->bytes}};
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << answer(line).dump() << std::endl;
  return 0;
}
