#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gguf/writer.h"
#include "models/model.h"

namespace minfer::test {

/// A reference model with some of its keys and tensors replaced: each test changes one thing.
class Variant {
 public:
  explicit Variant(const std::string& golden_name);

  Variant& drop(const std::string& key_or_tensor);
  template <class T>
  Variant& set(const std::string& key, const T& value) {
    dropped_.insert(key);
    metadata_.set(key, value);
    added_.push_back(key);
    return *this;
  }
  /// Replaces the tensor of this name, or adds one.
  Variant& tensor(const std::string& name, DType type, std::vector<int64_t> shape,
                  std::vector<std::byte> data);
  Variant& floats(const std::string& name, std::vector<int64_t> shape, const std::vector<float>& values);

  const gguf::File& original() const { return *file_; }
  /// Writes the file into a folder of its own and loads it; the folder goes as soon as it is mapped.
  std::shared_ptr<const Model> load() const;

 private:
  struct Tensor {
    std::string name;
    DType type;
    std::vector<int64_t> shape;
    std::vector<std::byte> data;
  };
  std::shared_ptr<const gguf::File> file_;
  gguf::Writer metadata_;  ///< the replaced keys, until load() reads them back
  std::vector<std::string> added_;
  std::set<std::string> dropped_;
  std::vector<Tensor> tensors_;
};

std::string golden_path(const std::string& name);

}  // namespace minfer::test
