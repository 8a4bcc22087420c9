#include "engine/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "engine/devices.h"
#include "graph/pipeline.h"

namespace minfer {
namespace {

constexpr int64_t default_n_ctx = 4096;  // a longer cache is a choice, since it is memory

WeightPages weight_pages_from_environment() {
  const char* text = std::getenv("MINFER_WEIGHTS");
  return text && *text ? weight_pages_from_name(text) : WeightPages::automatic;
}

int64_t context_size(const Model& model, const SessionOptions& options) {
  const int64_t trained = model.hyperparams().context_length;
  if (options.n_ctx < 0 || options.n_ctx > std::numeric_limits<int32_t>::max())
    throw Error(ErrorCode::bad_request, fmt::format("a context of {} tokens", options.n_ctx),
                "use 1 or more");
  if (options.n_ctx == 0) return std::min(trained, default_n_ctx);
  if (options.n_ctx > trained)
    log(LogLevel::warning, "a context of {} tokens exceeds the {} the model was trained for", options.n_ctx,
        trained);
  return options.n_ctx;
}

/// Tokens of a pass: many, since each pass reads all weights, but on a CPU half as many where the model is
/// wide. Less of what lies between a block's products then leaves the caches, and it takes half the memory.
int64_t chunk_size(const Hyperparams& h, const Devices& devices) {
  constexpr int64_t most = 512, wide_bytes = 8 << 20;
  const int64_t gate_and_up_bytes = 2 * most * h.ffn_dim * int64_t(sizeof(float));
  return devices.device || gate_and_up_bytes <= wide_bytes ? most : most / 2;
}

class OneSequence final : public Session {
 public:
  OneSequence(std::shared_ptr<const Model> model, const SessionOptions& options) : model_(std::move(model)) {
    if (options.prefill_chunk < 0)
      throw Error(ErrorCode::bad_request, fmt::format("a prefill chunk of {} tokens", options.prefill_chunk),
                  "use 1 or more, or 0 for what suits device and model");
    context_.n_ctx = context_size(*model_, options);
    context_.disabled_passes = options.disabled_passes;
    devices_ = open_devices(*model_, options, context_);
    device_name_ = devices_.name();
    chunk_ = options.prefill_chunk ? options.prefill_chunk : chunk_size(model_->hyperparams(), devices_);
    kv_row_bytes(context_.kv_format,
                 model_->hyperparams().kv_dim());  // refuses a format that cannot hold the rows
    pipeline_ = Pipeline::create(devices_.in_order(),
                                 [this](const GraphParams& params) { return model_->build(params); },
                                 {.explain = options.explain, .dump_dir = options.dump_dir});
    const WeightPages pages = options.weights ? *options.weights : weight_pages_from_environment();
    if (!devices_.device) move_.emplace(model_, pages);  // a device keeps the pages that it was given
  }

  std::span<const float> decode(std::span<const Token> tokens, const std::atomic<bool>* cancel) override {
    if (!forward(tokens, nullptr, cancel)) return {};
    return std::span(logits_).last(size_t(model_->hyperparams().vocab));
  }

  void decode_all(std::span<const Token> tokens,
                  const std::function<void(int64_t, std::span<const float>)>& row) override {
    forward(tokens, &row, nullptr);
  }

  void truncate(int64_t length) override {
    MINFER_CHECK(length >= 0 && length <= int64_t(tokens_.size()),
                 "a cache is cut at one of its own positions");
    tokens_.resize(size_t(length));
  }

  const std::vector<Token>& tokens() const override { return tokens_; }
  int64_t n_ctx() const override { return context_.n_ctx; }
  KvFormat kv_format() const override { return context_.kv_format; }
  std::string device() const override { return device_name_; }
  const Model& model() const override { return *model_; }

 private:
  using Row = std::function<void(int64_t, std::span<const float>)>;

  void check(std::span<const Token> tokens) const {
    if (tokens.empty()) throw Error(ErrorCode::bad_request, "no tokens to decode", "give at least one token");
    const int64_t vocab = model_->hyperparams().vocab;
    for (size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] < 0 || tokens[i] >= vocab)
        throw Error(ErrorCode::bad_request,
                    fmt::format("token {} is {}, the model has ids 0 to {}", i, tokens[i], vocab - 1),
                    "tokenise with this model's own vocabulary");
    const int64_t total = int64_t(tokens_.size() + tokens.size());
    if (total > context_.n_ctx)
      throw Error(ErrorCode::context_length_exceeded,
                  fmt::format("{} tokens do not fit the context of {}", total, context_.n_ctx),
                  "shorten the prompt or raise --n-ctx");
  }

  /// Chunk by chunk; all tokens get logits, which go to `row`, or the last alone where it is null. On any
  /// error the cache is as before. False: cancelled, and the chunks already done stay.
  bool forward(std::span<const Token> tokens, const Row* row, const std::atomic<bool>* cancel) {
    check(tokens);
    if (passes_++ > 0 && move_) move_->go_on();
    const size_t before = tokens_.size();
    try {
      for (size_t at = 0; at < tokens.size(); at += size_t(chunk_)) {
        const auto chunk = tokens.subspan(at, std::min(size_t(chunk_), tokens.size() - at));
        const bool is_last = at + chunk.size() == tokens.size();
        if (!run_chunk(chunk, row ? int64_t(chunk.size()) : int64_t(is_last), cancel)) return false;
        const size_t vocab = size_t(model_->hyperparams().vocab);
        for (size_t r = 0; row && r < chunk.size(); ++r)
          (*row)(int64_t(at + r), std::span(logits_).subspan(r * vocab, vocab));
      }
    } catch (...) {
      tokens_.resize(before);
      throw;
    }
    return true;
  }

  /// The last `rows` of the chunk get logits. False, with tokens_ as before, if it was cancelled before its
  /// end: the rows it wrote are then beyond what counts and are written again.
  bool run_chunk(std::span<const Token> chunk, int64_t rows, const std::atomic<bool>* cancel) {
    if (cancel && *cancel) return false;
    const int64_t count = int64_t(chunk.size());
    GraphParams params{count, rows, count == 1 ? GraphParams::Phase::decode : GraphParams::Phase::prefill,
                       context_};
    Executable& executable = pipeline_->prepare(params);
    std::vector<int32_t> positions(chunk.size());
    std::iota(positions.begin(), positions.end(), int32_t(tokens_.size()));
    executable.set_input(InputKind::token_ids, chunk);
    executable.set_input(InputKind::positions, positions);
    executable.set_input(InputKind::cells,
                         positions);  // one sequence from cell 0: cell and position coincide
    if (rows > 0 && rows < count) {
      std::vector<int32_t> tail(static_cast<size_t>(rows));
      std::iota(tail.begin(), tail.end(), int32_t(count - rows));
      executable.set_input(InputKind::tail_ids, tail);
    }
    if (execute_fault_.hit()) throw Error(ErrorCode::device, "running the graph: a test made it fail");
    for (Backend* backend : devices_.in_order()) backend->set_cancel(cancel);
    executable.run();
    if (cancel && *cancel) return false;
    if (rows > 0) {
      logits_.resize(size_t(rows * model_->hyperparams().vocab));
      executable.read_output(0, logits_);
      inject_faults();
      check_finite(int64_t(tokens_.size()) + count - rows);
    }
    tokens_.insert(tokens_.end(), chunk.begin(), chunk.end());
    return true;
  }

  void inject_faults() {
    if (nan_fault_.hit()) std::fill(logits_.begin(), logits_.end(), std::numeric_limits<float>::quiet_NaN());
    if (inf_fault_.hit()) logits_.back() = std::numeric_limits<float>::infinity();
  }

  void check_finite(int64_t first_position) const {
    // One pass over bits, which compilers turn into vectors; sums of floats they may not reorder.
    constexpr uint32_t exponent = 0x7f800000;
    uint32_t bad = 0;
    for (const float x : logits_) bad |= (std::bit_cast<uint32_t>(x) & exponent) == exponent;
    if (bad == 0) return;
    const size_t at =
        size_t(std::find_if(logits_.begin(), logits_.end(), [](float x) { return !std::isfinite(x); }) -
               logits_.begin());
    const size_t vocab = size_t(model_->hyperparams().vocab);
    throw Error(ErrorCode::device,
                fmt::format("the logit of token {} at position {} is {}", at % vocab,
                            first_position + int64_t(at / vocab), logits_[at]),
                "the model file may be damaged; if another engine runs it, please report this");
  }

  std::shared_ptr<const Model> model_;
  int64_t chunk_ = 0;
  ContextParams context_;
  Devices devices_;
  std::string device_name_;
  std::unique_ptr<Pipeline> pipeline_;
  std::optional<WeightMove> move_;
  int64_t passes_ = 0;  ///< calls so far
  std::vector<Token> tokens_;
  std::vector<float> logits_;
  FaultPoint execute_fault_{"execute"}, nan_fault_{"logits_nan"}, inf_fault_{"logits_inf"};
};

}  // namespace

std::unique_ptr<Session> Session::create(std::shared_ptr<const Model> model, const SessionOptions& options) {
  return std::make_unique<OneSequence>(std::move(model), options);
}

}  // namespace minfer
