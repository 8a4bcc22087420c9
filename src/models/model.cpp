#include "models/model.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/log.h"
#include "models/hyperparams.h"

namespace minfer {
namespace {

/// A tensor that no op reads may mean that the file is of a variant whose results would be wrong: say so.
void warn_of_unused(const gguf::File& file, const std::vector<Weight>& used) {
  std::set<std::string_view> names;
  for (const Weight& weight : used) names.insert(weight.ref.name);
  std::string_view first;
  size_t count = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    if (names.count(tensor.name)) continue;
    if (count++ == 0) first = tensor.name;
  }
  if (count > 0)
    log(LogLevel::warning, "{}: {} of {} tensors are not used, `{}` the first", file.path(), count,
        file.tensors().size(), first);
}

}  // namespace

std::shared_ptr<const Model> Model::load(const std::string& path) {
  auto model = std::make_shared<Model>();
  model->file_ = gguf::File::open(path);
  model->hyperparams_ = read_hyperparams(*model->file_);
  const Hyperparams& h = model->hyperparams_;
  model->architecture_ = &architecture(h.architecture);
  for (const WeightRef& ref : model->architecture_->weights(h, *model->file_))
    model->weights_.push_back({ref, model->file_->find_tensor(ref.name)->data});
  warn_of_unused(*model->file_, model->weights_);
  std::vector<std::span<const std::byte>> mappings;
  for (int part = 0; part < model->file_->parts(); ++part) {
    mappings.push_back(model->file_->part_bytes(part));
  }
  model->pages_ = std::make_unique<HugePageMover>(std::move(mappings));
  model->tokenizer_ = Tokenizer::load(model->file_);
  // Fewer tokens than rows is padding; more would be ids without an embedding.
  if (model->tokenizer_->size() > h.vocab)
    throw Error(ErrorCode::bad_model,
                fmt::format("{}: the vocabulary has {} tokens, token_embd.weight {} rows", path,
                            model->tokenizer_->size(), h.vocab),
                "vocabulary and weights belong to different models");
  return model;
}

size_t Model::weight_bytes() const {
  size_t sum = 0;
  for (const Weight& weight : weights_) sum += weight.data.size();
  return sum;
}

Graph Model::build(const GraphParams& params) const {
  return architecture_->build(hyperparams_, *file_, params);
}

}  // namespace minfer
