#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/model_store.h"
#include "cli/output.h"

namespace minfer::cli {
namespace {

struct Measurement {
  std::string test;           ///< pp512, tg128: the words of other benchmarks; tg128@2048 after 2,048 tokens
  std::vector<double> rates;  ///< tokens/s of each run
  double mean() const { return std::accumulate(rates.begin(), rates.end(), 0.0) / double(rates.size()); }
  double deviation() const {
    if (rates.size() < 2) return 0;
    double squares = 0;
    for (double rate : rates) squares += (rate - mean()) * (rate - mean());
    return std::sqrt(squares / double(rates.size() - 1));
  }
};

/// Ids of no meaning, the same in every run: speed does not depend on them.
std::vector<Token> filler(int64_t count, int32_t vocabulary) {
  std::vector<Token> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(Token((i * 7919 + 1) % vocabulary));
  return ids;
}

/// Runs `work` after the tokens of `context`, once untimed and then `repeats` times.
Measurement measure(Session& session, std::string test, int64_t tokens, const std::vector<Token>& context,
                    int repeats, const std::function<void()>& work) {
  if (!context.empty()) test += fmt::format("@{}", context.size());
  Measurement result{std::move(test), {}};
  session.truncate(0);
  if (!context.empty()) session.decode(context);
  for (int i = 0; i <= repeats; ++i) {
    session.truncate(int64_t(context.size()));
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (i > 0) result.rates.push_back(double(tokens) / seconds.count());
  }
  return result;
}

std::vector<Measurement> measure_all(Session& session, const BenchOptions& options) {
  const int32_t vocabulary = session.model().tokenizer().size();
  const std::vector<Token> context = filler(options.context_tokens, vocabulary);
  std::vector<Measurement> all;
  if (const int64_t count = options.prompt_tokens) {
    const std::vector<Token> prompt = filler(count, vocabulary);
    all.push_back(measure(session, fmt::format("pp{}", count), count, context, options.repeats,
                          [&] { session.decode(prompt); }));
  }
  if (const int64_t count = options.generated_tokens) {
    const std::vector<Token> ids = filler(count, vocabulary);
    all.push_back(measure(session, fmt::format("tg{}", count), count, context, options.repeats, [&] {
      for (const Token& id : ids) session.decode({&id, 1});
    }));
  }
  return all;
}

struct Setting {
  std::string model, device, kv;
  int threads;
  int64_t n_ctx;
};

std::string as_markdown(const Setting& s, const std::vector<Measurement>& all) {
  std::string text =
      "| model | device | threads | kv | n_ctx | test | tokens/s |\n|---|---|---:|---|---:|---|---:|\n";
  for (const Measurement& m : all)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {:.2f} ± {:.2f} |\n", s.model, s.device, s.threads,
                        s.kv, s.n_ctx, m.test, m.mean(), m.deviation());
  return text;
}

std::string as_csv(const Setting& s, const std::vector<Measurement>& all) {
  std::string quoted = "\"";  // a file's name may hold commas and quotes
  for (char c : s.model) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  quoted += '"';
  std::string text = "model,device,threads,kv,n_ctx,test,tokens_per_second,deviation,runs\n";
  for (const Measurement& m : all)
    text += fmt::format("{},{},{},{},{},{},{:.4f},{:.4f},{}\n", quoted, s.device, s.threads, s.kv, s.n_ctx,
                        m.test, m.mean(), m.deviation(), m.rates.size());
  return text;
}

std::string as_json(const Setting& s, const std::vector<Measurement>& all) {
  nlohmann::ordered_json json = {
      {"model", s.model}, {"device", s.device}, {"threads", s.threads}, {"kv", s.kv}, {"n_ctx", s.n_ctx}};
  auto& tests = json["tests"] = nlohmann::ordered_json::array();
  for (const Measurement& m : all)
    tests.push_back(
        {{"test", m.test}, {"tokens_per_second", m.mean()}, {"deviation", m.deviation()}, {"runs", m.rates}});
  return json_line(json);
}

}  // namespace

int bench(const BenchOptions& options) {
  if (options.prompt_tokens == 0 && options.generated_tokens == 0)
    throw Error(ErrorCode::bad_request, "nothing to measure: -p and -n are both 0",
                "give one of them a count");
  const std::string path = find_model(options.model);
  const auto model = Model::load(path);
  SessionOptions session_options = options.session;
  // Room for both tests and a little more, as far as the model was trained.
  const int64_t wanted = std::max(
      session_options.n_ctx, options.context_tokens + options.prompt_tokens + options.generated_tokens + 16);
  session_options.n_ctx = std::min(wanted, model->hyperparams().context_length);
  const auto session = Session::create(model, session_options);
  const std::vector<Measurement> all = measure_all(*session, options);
  const Setting setting{std::filesystem::path(path).stem().string(), session->device(),
                        std::string(name(session->kv_format())),
                        session_options.threads ? session_options.threads : usable_cores(), session->n_ctx()};
  write_out(options.format == "md"    ? as_markdown(setting, all)
            : options.format == "csv" ? as_csv(setting, all)
                                      : as_json(setting, all));
  return exit_ok;
}

}  // namespace minfer::cli
