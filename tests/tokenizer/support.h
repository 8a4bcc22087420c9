#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gguf/gguf.h"
#include "tokenizer/tokenizer.h"

namespace minfer::test {

/// Path of a file in tests/data/tokenizer.
std::string data_path(const std::string& name);
nlohmann::json read_json(const std::string& path);
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);
/// The Qwen3 vocabulary, loaded once.
const Tokenizer& qwen3();
/// A part of Mistral 7B's SentencePiece vocabulary, loaded once.
const Tokenizer& mistral();

/// A GGUF file of metadata alone, written in memory.
class MetadataFile {
 public:
  using Value = std::variant<bool, int32_t, std::string, std::vector<std::string>, std::vector<int32_t>,
                             std::vector<float>>;
  std::map<std::string, Value> values;
  /// The parsed file; keeps its bytes alive.
  std::shared_ptr<const gguf::File> open() const;
};

/// A byte-level BPE vocabulary: the 256 byte tokens in byte order (ids 0 to 255), then `words`, every normal
/// token. pre = gpt-2, merges as given.
MetadataFile byte_vocabulary(const std::vector<std::string>& words, const std::vector<std::string>& merges);

/// Encodes with no BOS and special tokens parsed: what every golden row is.
std::vector<Token> ids_of(const Tokenizer& tokenizer, std::string_view text);

}  // namespace minfer::test
