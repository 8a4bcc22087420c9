// Published templates with conversations, and what Jinja2 made of them, errors included: byte for byte.
//
// tests/data/chat/qwen3.json is committed. Other families' templates come under licences of their own: with
// MINFER_TEST_DATA=<folder that holds chat_cases.json> they are tested too.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "chat/chat_template.h"
#include "chat/render.h"

using namespace minfer;

namespace {

nlohmann::ordered_json read_json(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), "cannot read " << path);
  return parse_json(std::string(std::istreambuf_iterator(file), {}), path);
}

std::optional<std::string> text_or_nothing(const nlohmann::ordered_json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

chat::RenderOptions options_of(const nlohmann::ordered_json& json) {
  chat::RenderOptions options;
  options.add_generation_prompt = json.value("add_generation_prompt", false);
  if (json.contains("enable_thinking")) options.enable_thinking = json["enable_thinking"].get<bool>();
  if (json.contains("tools")) options.tools = std::make_shared<nlohmann::ordered_json>(json["tools"]);
  return options;
}

void check_family(const std::string& name, const nlohmann::ordered_json& family) {
  CAPTURE(name);
  const auto chat_template = chat::ChatTemplate::parse(
      family["template"].get<std::string>(),
      {.bos = text_or_nothing(family["bos_token"]), .eos = text_or_nothing(family["eos_token"])});
  for (const auto& test : family["cases"]) {
    CAPTURE(test["name"].get<std::string>());
    const auto render = [&] {
      return chat::joined(chat_template->render(test["messages"], options_of(test["options"])));
    };
    if (test.contains("error")) {
      try {
        FAIL_CHECK("rendered: " << render());
      } catch (const Error& error) {
        CHECK(error.code == ErrorCode::bad_request);
        CHECK(std::string(error.what()).ends_with(": " + test["error"].get<std::string>()));
      }
    } else {
      CHECK(render() == test["expected"].get<std::string>());
    }
  }
}

}  // namespace

TEST_CASE("Qwen3's template") {
  const auto families = read_json(std::string(MINFER_TEST_DATA_DIR) + "/chat/qwen3.json");
  for (const auto& [name, family] : families.items()) check_family(name, family);
}

TEST_CASE("templates of other families") {
  const char* folder = std::getenv("MINFER_TEST_DATA");
  if (!folder) {
    MESSAGE("skipped: MINFER_TEST_DATA names no folder with chat_cases.json");
    return;
  }
  const auto families = read_json(std::string(folder) + "/chat_cases.json");
  for (const auto& [name, family] : families.items()) check_family(name, family);
}
