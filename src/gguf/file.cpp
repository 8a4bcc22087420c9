// Opening a model: one file, or all parts of a split one.
#include <fmt/format.h>

#include <numeric>

#include "base/error.h"
#include "base/mapped_file.h"
#include "gguf/gguf.h"
#include "gguf/name_index.h"
#include "gguf/part.h"
#include "gguf/printable.h"
#include "gguf/split_name.h"

namespace minfer::gguf {
namespace {

class OpenedFile final : public File {
 public:
  OpenedFile(std::string path, Part first) : path_(std::move(path)), first_(std::move(first)) {}

  const std::string& path() const override { return path_; }
  uint32_t version() const override { return first_.version; }
  size_t file_bytes() const override {
    return std::accumulate(parts_.begin(), parts_.end(), size_t(0),
                           [](size_t sum, const auto& bytes) { return sum + bytes.size(); });
  }
  int parts() const override { return int(parts_.size()); }
  std::span<const std::byte> part_bytes(int part) const override {
    MINFER_CHECK(part >= 0 && part < parts(), "part number");
    return parts_[size_t(part)];
  }
  const Metadata& metadata() const override { return first_.metadata; }
  const std::vector<TensorInfo>& tensors() const override { return first_.tensors; }
  const TensorInfo* find_tensor(std::string_view name) const override {
    const auto at = tensor_index_.find(name);
    return at ? &first_.tensors[*at] : nullptr;
  }
  const Value* find(std::string_view key) const override {
    const auto at = key_index_.find(key);
    return at ? &first_.metadata[*at].second : nullptr;
  }

  void add_part(std::span<const std::byte> bytes) { parts_.push_back(bytes); }
  void keep(MappedFile mapping) { mappings_.push_back(std::move(mapping)); }
  void append_tensors(std::vector<TensorInfo> tensors) {
    std::move(tensors.begin(), tensors.end(), std::back_inserter(first_.tensors));
  }
  void index_keys() {
    key_index_ =
        NameIndex(first_.metadata, [](const auto& entry) -> std::string_view { return entry.first; });
  }
  /// Call once no more tensors come: the index points at their names.
  void index_tensors() {
    tensor_index_ = NameIndex(first_.tensors, [](const TensorInfo& t) -> std::string_view { return t.name; });
    const auto twice = tensor_index_.duplicate();
    if (!twice) return;
    const TensorInfo &a = first_.tensors[twice->first], &b = first_.tensors[twice->second];
    throw Error(ErrorCode::bad_model,
                fmt::format("{}: tensor '{}' is in part {} and in part {}, expected it once", path_,
                            printable(a.name), a.part + 1, b.part + 1));
  }

 private:
  std::string path_;
  Part first_;  // holds the tensors of all parts
  std::vector<MappedFile> mappings_;
  std::vector<std::span<const std::byte>> parts_;
  NameIndex key_index_, tensor_index_;
};

std::shared_ptr<OpenedFile> read_first(std::span<const std::byte> bytes, const std::string& label) {
  auto file = std::make_shared<OpenedFile>(label, parse_part(bytes, label, 0));
  file->add_part(bytes);
  file->index_keys();
  return file;
}

[[noreturn]] void fail_split(const std::string& path, std::string message, std::string hint = {}) {
  throw Error(ErrorCode::bad_model, fmt::format("{}: {}", path, message), std::move(hint));
}

/// The file's place in a split model: {part from 0, parts}. {0, 1} for a model in one file.
struct Place {
  int64_t part, parts;
};

Place place_of(const File& file) {
  const Place place{file.get_int("split.no").value_or(0), file.get_int("split.count").value_or(1)};
  // Some writers give whole models a count of 0.
  if (place.parts == 0 && place.part == 0) return {0, 1};
  if (place.parts < 1 || place.part < 0 || place.part >= place.parts)
    fail_split(file.path(), fmt::format("split.no is {} of split.count {}, expected 0 to count - 1",
                                        place.part, place.parts));
  return place;
}

/// The name that the file must have if it is part 1 of several; nothing if it is a whole model.
std::optional<SplitName> check_entry(const File& file) {
  const Place place = place_of(file);
  const auto split = parse_split_name(file.path());
  if (!split) {
    if (place.parts == 1) return std::nullopt;
    fail_split(file.path(),
               fmt::format("is part {} of {}, expected a name ending in -{:05}-of-{:05}.gguf", place.part + 1,
                           place.parts, place.part + 1, place.parts),
               "give all parts their original names and keep them in one folder");
  }
  if (split->count != place.parts)
    fail_split(file.path(),
               fmt::format("its name says {} parts, split.count says {}", split->count, place.parts));
  if (split->number != 1 || place.part != 0)
    fail_split(file.path(), fmt::format("is part {} of {}, expected part 1", place.part + 1, place.parts),
               fmt::format("open {}", split->path_of(1)));
  if (split->count == 1) return std::nullopt;
  return split;
}

/// Only its split keys and tensors count: names, tokenizer and template come from part 1.
void add_further_part(OpenedFile& file, const SplitName& split, int number) {
  const std::string path = split.path_of(number);
  MappedFile mapping(path);
  const auto bytes = mapping.bytes();
  file.keep(std::move(mapping));
  OpenedFile part(path, parse_part(bytes, path, number - 1));
  part.index_keys();
  const Place place = place_of(part);
  if (place.parts != split.count || place.part != number - 1)
    fail_split(path, fmt::format("is part {} of {}, expected part {} of {}", place.part + 1, place.parts,
                                 number, split.count));
  file.add_part(bytes);
  file.append_tensors(part.tensors());
}

void check_tensor_count(const File& file) {
  const auto expected = file.get_int("split.tensors.count");
  if (expected && *expected != int64_t(file.tensors().size()))
    fail_split(file.path(), fmt::format("all parts hold {} tensors, split.tensors.count says {}",
                                        file.tensors().size(), *expected));
}

}  // namespace

std::shared_ptr<const File> File::open(const std::string& path) {
  MappedFile mapping(path);
  const auto file = read_first(mapping.bytes(), path);
  file->keep(std::move(mapping));
  if (const auto split = check_entry(*file)) {
    for (int number = 2; number <= split->count; ++number) add_further_part(*file, *split, number);
    check_tensor_count(*file);
  }
  file->index_tensors();
  return file;
}

std::shared_ptr<const File> File::parse(std::span<const std::byte> bytes, const std::string& label) {
  const auto file = read_first(bytes, label);
  const Place place = place_of(*file);
  if (place.parts != 1)
    fail_split(label,
               fmt::format("is part {} of {}, expected a model in one part", place.part + 1, place.parts));
  file->index_tensors();
  return file;
}

}  // namespace minfer::gguf
