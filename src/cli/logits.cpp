#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "cli/text_input.h"

namespace minfer::cli {
namespace {

std::vector<std::vector<Token>> read_prompts(const std::string& path) {
  std::vector<std::vector<Token>> prompts;
  std::istringstream lines(read_text_file(path));
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::vector<Token> ids = parse_ids(line, fmt::format("{}, line {}", path, ++number));
    if (!ids.empty()) prompts.push_back(std::move(ids));
  }
  if (prompts.empty())
    throw Error(ErrorCode::bad_request, fmt::format("{}: no prompt in it", path),
                "write one prompt a line, as token ids");
  return prompts;
}

Token argmax(std::span<const float> logits) {
  return Token(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// -ln softmax(logits)[id], summed in double.
double negative_log_likelihood(std::span<const float> logits, Token id) {
  const double top = *std::max_element(logits.begin(), logits.end());
  const double sum = std::accumulate(logits.begin(), logits.end(), 0.0,
                                     [top](double s, float x) { return s + std::exp(double(x) - top); });
  return std::log(sum) + top - double(logits[size_t(id)]);
}

/// Every token here is the first maximum over all rows of the head: no end token stops it, no row is masked.
std::vector<Token> continue_greedily(Session& session, Token next, int64_t count) {
  std::vector<Token> chosen;
  while (int64_t(chosen.size()) < count) {
    chosen.push_back(next);
    if (int64_t(chosen.size()) < count) next = argmax(session.decode({&next, 1}));
  }
  return chosen;
}

nlohmann::ordered_json measure(Session& session, const std::vector<Token>& prompt, int64_t greedy) {
  std::vector<Token> best;
  std::vector<float> last;
  double nll = 0;
  session.truncate(0);
  session.decode_all(prompt, [&](int64_t i, std::span<const float> logits) {
    best.push_back(argmax(logits));
    if (size_t(i) + 1 < prompt.size())
      nll += negative_log_likelihood(logits, prompt[size_t(i) + 1]);
    else
      last.assign(logits.begin(), logits.end());
  });
  nlohmann::ordered_json json;
  json["last_logits"] = last;  // as doubles, so to the last bit
  json["argmax_per_position"] = best;
  json["mean_nll"] = prompt.size() > 1 ? nlohmann::ordered_json(nll / double(prompt.size() - 1)) : nullptr;
  if (greedy > 0) json["greedy"] = continue_greedily(session, best.back(), greedy);
  return json;
}

}  // namespace

int logits(const LogitsOptions& options) {
  const auto prompts = read_prompts(options.ids_file);
  const auto model = Model::load(find_model(options.model));
  SessionOptions session_options = options.session;
  if (session_options.n_ctx == 0) {
    const auto longest = std::max_element(prompts.begin(), prompts.end(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    session_options.n_ctx = int64_t(longest->size()) + options.greedy;
  }
  const auto session = Session::create(model, session_options);
  for (const std::vector<Token>& prompt : prompts)
    if (!write_out(json_line(measure(*session, prompt, options.greedy)))) break;
  return exit_ok;
}

}  // namespace minfer::cli
