#include "variant.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace minfer::test {
namespace fs = std::filesystem;

std::string golden_path(const std::string& name) {
  return std::string(MINFER_TEST_DATA_DIR) + "/golden/" + name + ".gguf";
}

Variant::Variant(const std::string& golden_name) : file_(gguf::File::open(golden_path(golden_name))) {}

Variant& Variant::drop(const std::string& key_or_tensor) {
  REQUIRE((file_->find(key_or_tensor) || file_->find_tensor(key_or_tensor)));
  dropped_.insert(key_or_tensor);
  return *this;
}

Variant& Variant::tensor(const std::string& name, DType type, std::vector<int64_t> shape,
                         std::vector<std::byte> data) {
  dropped_.insert(name);
  tensors_.push_back({name, type, std::move(shape), std::move(data)});
  return *this;
}

Variant& Variant::floats(const std::string& name, std::vector<int64_t> shape,
                         const std::vector<float>& values) {
  std::vector<std::byte> data(values.size() * sizeof(float));
  std::memcpy(data.data(), values.data(), data.size());
  return tensor(name, DType::f32, std::move(shape), std::move(data));
}

std::shared_ptr<const Model> Variant::load() const {
  gguf::Writer writer;
  const std::vector<std::byte> replaced_bytes = metadata_.bytes();
  const auto replaced = gguf::File::parse(replaced_bytes, "replaced keys");
  for (const auto& [key, value] : file_->metadata())
    if (!dropped_.count(key) && key != "general.alignment") writer.set(key, value);
  for (const std::string& key : added_) writer.set(key, *replaced->find(key));
  for (const gguf::TensorInfo& t : file_->tensors())
    if (!dropped_.count(t.name)) writer.add_tensor(t.name, t.type, t.shape, t.data);
  for (const Tensor& t : tensors_) writer.add_tensor(t.name, t.type, t.shape, t.data);

  std::string folder = (fs::temp_directory_path() / "minfer-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  struct Cleanup {
    std::string path;
    ~Cleanup() { fs::remove_all(path); }
  } cleanup{folder};
  const std::string path = folder + "/variant.gguf";
  gguf::write_file(path, writer.bytes());
  return Model::load(path);
}

}  // namespace minfer::test
