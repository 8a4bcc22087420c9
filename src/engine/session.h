#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/weight_pages.h"
#include "graph/kv_format.h"
#include "models/model.h"

namespace minfer {

struct SessionOptions {
  int64_t n_ctx = 0;                   ///< 0: the model's trained length, at most 4096
  std::optional<KvFormat> kv_format;   ///< absent: MINFER_CACHE_TYPE, else the device's policy (CPU: f32)
  std::optional<WeightPages> weights;  ///< absent: MINFER_WEIGHTS, else automatic; matters to the CPU alone
  int threads = 0;                     ///< 0: the cores this process may use
  /// "auto", "cpu" or another device of this build: one that cannot run is refused, only auto may choose the
  /// CPU.
  std::string device = "auto";
  std::string
      gpu_layers;  ///< "N" blocks on the device, "auto": what fits; empty: MINFER_GPU_LAYERS, else all
  bool half_staging = false;  ///< a GPU multiplies prompts with operands rounded to half
  int64_t prefill_chunk = 0;  ///< tokens of one forward pass; 0: what suits device and model
  std::set<std::string> disabled_passes;
  bool explain = false;
  std::string dump_dir;
};

/// One sequence: a KV cache and the tokens in it.
/// Throws Error{context_length_exceeded} with both numbers before any work, Error{device} if logits are not
/// finite (naming position and value); after any Error the tokens in the cache are as before the call.
class Session {
 public:
  static std::unique_ptr<Session> create(std::shared_ptr<const Model> model, const SessionOptions& options);
  virtual ~Session() = default;
  /// Appends tokens and returns the logits of the last one: [vocab], valid until the next call. Once
  /// `*cancel` is true the call ends soon, within a chunk, and returns no logits; whole chunks done by then
  /// stay in tokens().
  virtual std::span<const float> decode(std::span<const Token> tokens,
                                        const std::atomic<bool>* cancel = nullptr) = 0;
  /// The same with the logits of every token: calls `row(i, logits)` for i = 0 .. tokens.size()-1.
  virtual void decode_all(std::span<const Token> tokens,
                          const std::function<void(int64_t, std::span<const float>)>& row) = 0;
  /// Forgets every token from position `length` on.
  virtual void truncate(int64_t length) = 0;
  virtual const std::vector<Token>& tokens() const = 0;
  virtual int64_t n_ctx() const = 0;
  virtual KvFormat kv_format() const = 0;
  virtual std::string device() const = 0;
  virtual const Model& model() const = 0;
};

}  // namespace minfer
