#include "api/model.h"

#include "api/support.h"

using namespace minfer;

namespace {

const Tokenizer& tokenizer_of(const minfer_model* model) {
  api::require(model, "model");
  return model->model->tokenizer();
}

}  // namespace

extern "C" {

minfer_status minfer_model_load(const char* path, minfer_model** model) {
  return api::guarded([&] {
    api::require(path, "path");
    api::require(model, "model");
    auto handle = std::make_unique<minfer_model>();
    handle->model = Model::load(path);
    handle->name = handle->model->file().get_string("general.name").value_or("");
    *model = handle.release();
  });
}

void minfer_model_free(minfer_model* model) { delete model; }

minfer_status minfer_model_get_facts(const minfer_model* model, minfer_model_facts* facts) {
  return api::guarded([&] {
    const Tokenizer& tokenizer = tokenizer_of(model);
    api::require(facts, "facts");
    const Hyperparams& h = model->model->hyperparams();
    minfer_model_facts values{};
    values.architecture = h.architecture.c_str();
    values.name = model->name.c_str();
    values.vocab = tokenizer.size();
    values.logits = h.vocab;
    values.context_length = h.context_length;
    values.dim = h.dim;
    values.n_layers = h.n_layers;
    values.n_heads = h.n_heads;
    values.n_kv_heads = h.n_kv_heads;
    values.head_dim = h.head_dim;
    values.ffn_dim = h.ffn_dim;
    values.weight_bytes = model->model->weight_bytes();
    values.file_bytes = model->model->file().file_bytes();
    values.bos_token = tokenizer.bos().value_or(-1);
    values.adds_bos = tokenizer.adds_bos();
    api::write_struct(facts, facts->size, values, "facts");
  });
}

minfer_status minfer_model_end_tokens(const minfer_model* model, const int32_t** tokens, size_t* count) {
  return api::guarded([&] {
    const Tokenizer& tokenizer = tokenizer_of(model);
    api::require(tokens, "tokens");
    api::require(count, "count");
    *tokens = tokenizer.end_tokens().data();
    *count = tokenizer.end_tokens().size();
  });
}

minfer_status minfer_model_token_text(const minfer_model* model, int32_t token, const char** text,
                                      size_t* count) {
  return api::guarded([&] {
    const Tokenizer& tokenizer = tokenizer_of(model);
    api::require(text, "text");
    api::require(count, "count");
    const std::string_view bytes = tokenizer.token_bytes(token, true);
    *text = bytes.data();
    *count = bytes.size();
  });
}

minfer_status minfer_model_find_token(const minfer_model* model, const char* text, size_t text_bytes,
                                      int32_t* token) {
  return api::guarded([&] {
    const Tokenizer& tokenizer = tokenizer_of(model);
    const std::string_view wanted = api::text_argument(text, text_bytes, "text");
    api::require(token, "token");
    *token = tokenizer.find(wanted).value_or(-1);
  });
}

minfer_status minfer_model_is_control(const minfer_model* model, int32_t token, bool* is_control) {
  return api::guarded([&] {
    const Tokenizer& tokenizer = tokenizer_of(model);
    api::require(is_control, "is_control");
    *is_control = tokenizer.is_control(token);
  });
}

minfer_status minfer_tokenize(const minfer_model* model, const char* text, size_t text_bytes, bool add_bos,
                              bool parse_special, int32_t* tokens, size_t capacity, size_t* count) {
  return api::guarded([&] {
    const Tokenizer& tokenizer = tokenizer_of(model);
    const std::string_view input = api::text_argument(text, text_bytes, "text");
    api::require(count, "count");
    const std::vector<Token> ids =
        tokenizer.encode(input, {.add_bos = add_bos, .parse_special = parse_special});
    api::give(std::span(ids), tokens, capacity, count);
  });
}

minfer_status minfer_detokenize(const minfer_model* model, const int32_t* tokens, size_t n_tokens,
                                bool special, char* text, size_t capacity, size_t* count) {
  return api::guarded([&] {
    const Tokenizer& tokenizer = tokenizer_of(model);
    const std::span<const Token> ids = api::token_argument(tokens, n_tokens, "tokens");
    api::require(count, "count");
    const std::string output = tokenizer.decode(ids, special);
    api::give(std::span<const char>(output), text, capacity, count);
  });
}
}
