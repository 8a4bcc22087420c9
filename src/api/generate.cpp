#include "engine/generate.h"

#include <fmt/format.h>

#include "api/sampler.h"
#include "api/session.h"
#include "api/support.h"
#include "base/error.h"

using namespace minfer;

namespace minfer::api {
namespace {

constexpr size_t most_stops = 1024;

minfer_generate_options default_options() {
  return {.size = sizeof(minfer_generate_options),
          .sampling = nullptr,
          .max_tokens = GenerateParams().max_tokens,
          .stop = nullptr,
          .n_stop = 0};
}

GenerateParams engine_params(const minfer_generate_options* given, const std::atomic<bool>& cancel) {
  const minfer_generate_options options = read_struct(given, default_options(), "options");
  GenerateParams params;
  params.sampling = engine_sampling(options.sampling);
  params.max_tokens = options.max_tokens;
  if (params.max_tokens < -1)
    throw Error(ErrorCode::bad_request, fmt::format("max_tokens is {}", params.max_tokens),
                "give a number of tokens, or -1 for as many as fit the context");
  if (options.n_stop > most_stops)
    throw Error(ErrorCode::bad_request,
                fmt::format("n_stop is {}, at most {} are taken", options.n_stop, most_stops));
  if (options.n_stop > 0) require(options.stop, "options.stop");
  for (size_t i = 0; i < options.n_stop; ++i) {
    require(options.stop[i], fmt::format("options.stop[{}]", i));
    params.stop.emplace_back(options.stop[i]);
  }
  params.cancel = &cancel;
  return params;
}

minfer_stop_reason stop_reason(StopReason reason) {
  switch (reason) {
    case StopReason::end_token:
      return MINFER_STOP_END_TOKEN;
    case StopReason::stop_string:
      return MINFER_STOP_STRING;
    case StopReason::length:
      return MINFER_STOP_LENGTH;
    case StopReason::cancelled:
      return MINFER_STOP_CANCELLED;
    case StopReason::context_full:
      return MINFER_STOP_CONTEXT_FULL;
  }
  MINFER_CHECK(false, "every reason is named above");
}

minfer_generate_result api_result(const GenerateResult& result) {
  minfer_generate_result values{};
  values.reason = stop_reason(result.reason);
  values.prompt_tokens = result.prompt_tokens;
  values.generated_tokens = result.generated_tokens;
  values.prompt_seconds = result.prompt_seconds;
  values.generate_seconds = result.generate_seconds;
  return values;
}

}  // namespace
}  // namespace minfer::api

extern "C" {

minfer_status minfer_generate_options_init(minfer_generate_options* options, size_t size) {
  return api::guarded([&] { api::write_struct(options, size, api::default_options(), "options"); });
}

minfer_status minfer_session_generate(minfer_session* session, const int32_t* prompt, size_t n_prompt,
                                      const minfer_generate_options* options, minfer_text_callback text,
                                      void* user, minfer_generate_result* result) {
  return api::guarded([&] {
    const api::Computing use(session);
    const auto tokens = api::token_argument(prompt, n_prompt, "prompt");
    const GenerateParams params = api::engine_params(options, use->cancel);
    if (result) api::check_struct_size(result->size, "result");
    use->generated.clear();
    GenerateResult done = generate(*use->session, tokens, params, [&](std::string_view piece) {
      return text == nullptr || text(piece.data(), piece.size(), user);
    });
    use->generated = std::move(done.tokens);
    if (result) api::write_struct(result, result->size, api::api_result(done), "result");
  });
}

minfer_status minfer_session_generated(minfer_session* session, const int32_t** tokens, size_t* count) {
  return api::guarded([&] {
    const api::Use use(session);
    api::require(tokens, "tokens");
    api::require(count, "count");
    *tokens = use->generated.data();
    *count = use->generated.size();
  });
}
}
