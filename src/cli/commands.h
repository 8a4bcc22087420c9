#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/generate.h"
#include "engine/session.h"

namespace minfer::cli {

// One struct and one function a command. Each function returns the exit code and throws Error. `model` is
// always what the user typed: a path, the name of a cached model, or `default`.

struct RunOptions {
  std::string model, prompt;
  std::string prompt_file;  ///< instead of `prompt`, if set
  std::string system;       ///< empty: no system message
  bool raw = false;         ///< the prompt as it stands, control tokens included, without ChatML
  SessionOptions session;
  GenerateParams generate;
};
int run(const RunOptions& options);

struct InfoOptions {
  std::string model;
  bool json = false;
};
int info(const InfoOptions& options);

struct BenchOptions {
  std::string model;
  int64_t prompt_tokens = 512, generated_tokens = 128;  ///< 0 skips the test
  int repeats = 5;
  std::string format = "md";  ///< md, csv or json
  SessionOptions session;
};
int bench(const BenchOptions& options);

struct TokenizeOptions {
  std::string model, text;
  std::string text_file;  ///< instead of `text`, if set
  bool add_bos = true, parse_special = true, json = false;
};
int tokenize(const TokenizeOptions& options);

struct DetokenizeOptions {
  std::string model;
  std::vector<std::string> ids;  ///< each an id or a list of ids, see parse_ids
  bool json = false;
};
int detokenize(const DetokenizeOptions& options);

struct LogitsOptions {
  std::string model, ids_file;
  int64_t greedy = 0;  ///< tokens to choose after each prompt
  bool json = true;    ///< the only format
  SessionOptions session;
};
int logits(const LogitsOptions& options);

struct PullOptions {
  std::string source;  ///< hf:…, ollama:…, a URL, or `default`
};
/// Prints the path of the model.
int pull(const PullOptions& options);

struct ListOptions {
  bool json = false;
};
int list(const ListOptions& options);

struct RemoveOptions {
  std::string model;
};
int remove(const RemoveOptions& options);

}  // namespace minfer::cli
