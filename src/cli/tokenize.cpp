#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace minfer::cli {
namespace {

/// Only the vocabulary is read: a file without tensors will do.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& model) {
  return Tokenizer::load(gguf::File::open(find_model(model)));
}

}  // namespace

int tokenize(const TokenizeOptions& options) {
  const auto tokenizer = load_tokenizer(options.model);
  const std::string text = options.text_file.empty() ? options.text : read_text_file(options.text_file);
  const std::vector<Token> ids = tokenizer->encode(
      text, {.add_bos = options.add_bos, .parse_special = options.parse_special, .add_eos = options.add_bos});
  if (!options.json) {
    write_out(fmt::format("{}\n", fmt::join(ids, " ")));
    return exit_ok;
  }
  nlohmann::ordered_json json;
  json["count"] = ids.size();
  json["ids"] = ids;
  auto& pieces = json["pieces"] = nlohmann::ordered_json::array();
  for (Token id : ids) pieces.push_back(tokenizer->token_bytes(id, true));
  write_out(json_line(json));
  return exit_ok;
}

int detokenize(const DetokenizeOptions& options) {
  const auto tokenizer = load_tokenizer(options.model);
  std::vector<Token> ids;
  for (const std::string& word : options.ids) {
    const std::vector<Token> some = parse_ids(word, "IDS");
    ids.insert(ids.end(), some.begin(), some.end());
  }
  const std::string text = tokenizer->decode(ids);
  write_out(options.json ? json_line({{"text", text}}) : text + "\n");
  return exit_ok;
}

}  // namespace minfer::cli
