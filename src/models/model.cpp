#include "models/model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "models/hyperparams.h"

namespace minfer {

std::shared_ptr<const Model> Model::load(const std::string& path) {
  auto model = std::make_shared<Model>();
  model->file_ = gguf::File::open(path);
  model->hyperparams_ = read_hyperparams(*model->file_);
  const Hyperparams& h = model->hyperparams_;
  model->architecture_ = &architecture(h.architecture);
  for (const WeightRef& ref : model->architecture_->weights(h, *model->file_))
    model->weights_.push_back({ref, model->file_->find_tensor(ref.name)->data});
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
