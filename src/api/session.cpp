#include "api/session.h"

#include <fmt/format.h>

#include "api/model.h"
#include "api/support.h"
#include "base/error.h"

using namespace minfer;

namespace minfer::api {
namespace {

constexpr minfer_session_options default_options = {.size = sizeof(minfer_session_options),
                                                    .n_ctx = 0,
                                                    .threads = 0,
                                                    .prefill_chunk = 0,
                                                    .device = nullptr,
                                                    .kv_format = nullptr,
                                                    .gpu_layers = nullptr};

SessionOptions engine_options(const minfer_session_options& given) {
  SessionOptions options;
  options.n_ctx = given.n_ctx;
  options.threads = given.threads;
  options.prefill_chunk = given.prefill_chunk;
  if (given.device) options.device = given.device;
  if (given.gpu_layers) options.gpu_layers = given.gpu_layers;
  if (given.kv_format) options.kv_format = kv_format_from_name(given.kv_format);
  return options;
}

[[noreturn]] void end_cancelled() { throw Failure{MINFER_CANCELLED, "decoding was cancelled"}; }

}  // namespace

Use::Use(minfer_session* session) : session_((require(session, "session"), *session)) {
  if (session_.busy.exchange(true, std::memory_order_acquire))
    throw Error(ErrorCode::bad_request, "the session is in use by another call",
                "one call at a time: wait until the other ends, or give each thread a session of its own");
}

std::span<const float> decode(minfer_session& session, std::span<const Token> tokens) {
  const size_t before = session.session->tokens().size();
  const std::span<const float> logits = session.session->decode(tokens, &session.cancel);
  if (!logits.empty()) return logits;
  session.session->truncate(int64_t(before));  // whole chunks may have been done
  end_cancelled();
}

}  // namespace minfer::api

extern "C" {

minfer_status minfer_session_options_init(minfer_session_options* options, size_t size) {
  return api::guarded([&] { api::write_struct(options, size, api::default_options, "options"); });
}

minfer_status minfer_session_create(const minfer_model* model, const minfer_session_options* options,
                                    minfer_session** session) {
  return api::guarded([&] {
    api::require(model, "model");
    api::require(session, "session");
    const auto given = api::read_struct(options, api::default_options, "options");
    auto handle = std::make_unique<minfer_session>();
    handle->session = Session::create(model->model, api::engine_options(given));
    handle->device = handle->session->device();
    handle->kv_format = name(handle->session->kv_format());
    *session = handle.release();
  });
}

void minfer_session_free(minfer_session* session) { delete session; }

minfer_status minfer_session_get_facts(minfer_session* session, minfer_session_facts* facts) {
  return api::guarded([&] {
    const api::Use use(session);
    api::require(facts, "facts");
    minfer_session_facts values{};
    values.n_ctx = use->session->n_ctx();
    values.device = use->device.c_str();
    values.kv_format = use->kv_format.c_str();
    api::write_struct(facts, facts->size, values, "facts");
  });
}

minfer_status minfer_session_decode(minfer_session* session, const int32_t* tokens, size_t n_tokens) {
  return api::guarded([&] {
    const api::Computing use(session);
    use->logits = api::decode(*use, api::token_argument(tokens, n_tokens, "tokens"));
  });
}

minfer_status minfer_session_decode_all(minfer_session* session, const int32_t* tokens, size_t n_tokens,
                                        minfer_row_callback row, void* user) {
  return api::guarded([&] {
    const api::Computing use(session);
    const auto ids = api::token_argument(tokens, n_tokens, "tokens");
    if (row == nullptr) api::require(nullptr, "row");
    if (use->cancel) api::end_cancelled();
    std::span<const float> last;
    // The engine takes back what it decoded if the callback throws.
    use->session->decode_all(ids, [&](int64_t index, std::span<const float> logits) {
      last = logits;
      if (!row(size_t(index), logits.data(), logits.size(), user) || use->cancel) api::end_cancelled();
    });
    use->logits = last;
  });
}

minfer_status minfer_session_logits(minfer_session* session, const float** logits, size_t* count) {
  return api::guarded([&] {
    const api::Use use(session);
    api::require(logits, "logits");
    api::require(count, "count");
    if (use->logits.empty())
      throw Error(ErrorCode::bad_request, "the session has no logits",
                  "decode at least one token since the last truncate, generate or failure");
    *logits = use->logits.data();
    *count = use->logits.size();
  });
}

minfer_status minfer_session_tokens(minfer_session* session, const int32_t** tokens, size_t* count) {
  return api::guarded([&] {
    const api::Use use(session);
    api::require(tokens, "tokens");
    api::require(count, "count");
    *tokens = use->session->tokens().data();
    *count = use->session->tokens().size();
  });
}

minfer_status minfer_session_truncate(minfer_session* session, size_t length) {
  return api::guarded([&] {
    const api::Use use(session);
    const size_t present = use->session->tokens().size();
    if (length > present)
      throw Error(ErrorCode::bad_request,
                  fmt::format("argument `length` is {}, the cache holds {} tokens", length, present));
    if (length < present) use->logits = {};
    use->session->truncate(int64_t(length));
  });
}

minfer_status minfer_session_cancel(minfer_session* session) {
  return api::guarded([&] {
    api::require(session, "session");
    session->cancel = true;
  });
}

minfer_status minfer_session_clear_cancel(minfer_session* session) {
  return api::guarded([&] {
    api::require(session, "session");
    session->cancel = false;
  });
}
}
