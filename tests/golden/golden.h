#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/session.h"

/// Reference runs of small random-weight models: a float64 forward pass of the exact weights in each file.
namespace minfer::golden {

struct Case {
  std::vector<Token> prompt;
  std::vector<double> last_logits;  ///< of the prompt's last token
  std::vector<Token> argmax;        ///< at every position of the prompt
  double max_abs_logit = 0;         ///< over all positions: the unit of every tolerance here
  double mean_nll = 0;              ///< natural log, over the prompt's tokens but the first
  std::vector<Token> greedy;        ///< the continuation, end tokens included
  std::vector<double> greedy_gap;   ///< best logit minus second best at each step
};

struct Reference {
  std::string name;
  double tolerance;  ///< of max_abs_logit, with f32 KV: the class of the file's weights
};

/// Every model of tests/data/golden with its tolerance class.
const std::vector<Reference>& references();
std::vector<Case> cases(const std::string& name);
/// Loaded once a program.
std::shared_ptr<const Model> model(const std::string& name);

/// Two threads, 1024 cells, no environment: what the tests change, they change from here.
SessionOptions options();
std::unique_ptr<Session> session(const std::string& name, const SessionOptions& with = options());

/// The logits of every token, row after row; `step` tokens a call, 0: all at once.
std::vector<float> all_logits(Session& session, const std::vector<Token>& tokens, size_t step = 0);

struct Top {
  Token id;
  double gap;  ///< to the second best
};
Top top(std::span<const float> row);

}  // namespace minfer::golden
