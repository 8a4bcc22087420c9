#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "api/api_test.h"

using namespace minfer::test;

namespace {

bool any_row(size_t, const float*, size_t, void*) { return true; }

/// Everything that the calls below need, valid, so that each changes one argument.
struct Valid {
  ApiModel model;
  ApiSession session{model};
  minfer_sampler* sampler = nullptr;
  int32_t ids[8] = {};
  char text[64] = {};
  size_t count = 0;
  Valid() {
    expect_ok(minfer_sampler_create(nullptr, &sampler));
    expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
  }
  ~Valid() { minfer_sampler_free(sampler); }
};

void expect_null(minfer_status got, const std::string& name) {
  expect(got, MINFER_BAD_REQUEST, "`" + name + "` is null");
}

}  // namespace

TEST_CASE("model calls: each pointer is checked and named") {
  Valid v;
  minfer_model* loaded = nullptr;
  const int32_t* view = nullptr;
  const char* bytes = nullptr;
  bool flag = false;
  minfer_model_facts facts{};
  facts.size = sizeof facts;
  expect_null(minfer_model_load(nullptr, &loaded), "path");
  expect_null(minfer_model_load("x", nullptr), "model");
  expect_null(minfer_model_get_facts(nullptr, &facts), "model");
  expect_null(minfer_model_get_facts(v.model, nullptr), "facts");
  expect_null(minfer_model_end_tokens(nullptr, &view, &v.count), "model");
  expect_null(minfer_model_end_tokens(v.model, nullptr, &v.count), "tokens");
  expect_null(minfer_model_end_tokens(v.model, &view, nullptr), "count");
  expect_null(minfer_model_token_text(nullptr, 0, &bytes, &v.count), "model");
  expect_null(minfer_model_token_text(v.model, 0, nullptr, &v.count), "text");
  expect_null(minfer_model_token_text(v.model, 0, &bytes, nullptr), "count");
  expect_null(minfer_model_find_token(nullptr, "a", 1, v.ids), "model");
  expect_null(minfer_model_find_token(v.model, nullptr, 1, v.ids), "text");
  expect_null(minfer_model_find_token(v.model, "a", 1, nullptr), "token");
  expect_null(minfer_model_is_control(nullptr, 0, &flag), "model");
  expect_null(minfer_model_is_control(v.model, 0, nullptr), "is_control");
  expect_null(minfer_tokenize(nullptr, "a", 1, true, true, v.ids, 8, &v.count), "model");
  expect_null(minfer_tokenize(v.model, nullptr, 1, true, true, v.ids, 8, &v.count), "text");
  expect_null(minfer_tokenize(v.model, "a", 1, true, true, v.ids, 8, nullptr), "count");
  expect_null(minfer_tokenize(v.model, "a", 1, true, true, nullptr, 8, &v.count), "the buffer");
  expect_null(minfer_detokenize(nullptr, v.ids, 1, true, v.text, 64, &v.count), "model");
  expect_null(minfer_detokenize(v.model, nullptr, 1, true, v.text, 64, &v.count), "tokens");
  expect_null(minfer_detokenize(v.model, v.ids, 1, true, v.text, 64, nullptr), "count");
  expect_null(minfer_detokenize(v.model, v.ids, 1, true, nullptr, 64, &v.count), "the buffer");
  CHECK(loaded == nullptr);
  minfer_model_free(nullptr);
}

TEST_CASE("session calls: each pointer is checked and named") {
  Valid v;
  minfer_session* created = nullptr;
  const int32_t* view = nullptr;
  const float* logits = nullptr;
  minfer_session_facts facts{};
  facts.size = sizeof facts;
  expect_null(minfer_session_options_init(nullptr, sizeof(minfer_session_options)), "options");
  expect_null(minfer_session_create(nullptr, nullptr, &created), "model");
  expect_null(minfer_session_create(v.model, nullptr, nullptr), "session");
  expect_null(minfer_session_get_facts(nullptr, &facts), "session");
  expect_null(minfer_session_get_facts(v.session, nullptr), "facts");
  expect_null(minfer_session_decode(nullptr, v.ids, 1), "session");
  expect_null(minfer_session_decode(v.session, nullptr, 1), "tokens");
  expect_null(minfer_session_decode_all(nullptr, v.ids, 1, any_row, nullptr), "session");
  expect_null(minfer_session_decode_all(v.session, nullptr, 1, any_row, nullptr), "tokens");
  expect_null(minfer_session_decode_all(v.session, v.ids, 1, nullptr, nullptr), "row");
  expect_null(minfer_session_logits(nullptr, &logits, &v.count), "session");
  expect_null(minfer_session_logits(v.session, nullptr, &v.count), "logits");
  expect_null(minfer_session_logits(v.session, &logits, nullptr), "count");
  expect_null(minfer_session_tokens(nullptr, &view, &v.count), "session");
  expect_null(minfer_session_tokens(v.session, nullptr, &v.count), "tokens");
  expect_null(minfer_session_tokens(v.session, &view, nullptr), "count");
  expect_null(minfer_session_truncate(nullptr, 0), "session");
  expect_null(minfer_session_cancel(nullptr), "session");
  expect_null(minfer_session_clear_cancel(nullptr), "session");
  CHECK(created == nullptr);
  minfer_session_free(nullptr);
}

TEST_CASE("sampler and generation calls: each pointer is checked and named") {
  Valid v;
  const int32_t* view = nullptr;
  const float logit = 1;
  expect_null(minfer_sampling_init(nullptr, sizeof(minfer_sampling)), "sampling");
  expect_null(minfer_sampler_create(nullptr, nullptr), "sampler");
  expect_null(minfer_sampler_sample(nullptr, v.session, v.ids), "sampler");
  expect_null(minfer_sampler_sample(v.sampler, nullptr, v.ids), "session");
  expect_null(minfer_sampler_sample(v.sampler, v.session, nullptr), "token");
  expect_null(minfer_sampler_sample_logits(nullptr, &logit, 1, nullptr, 0, v.ids), "sampler");
  expect_null(minfer_sampler_sample_logits(v.sampler, nullptr, 1, nullptr, 0, v.ids), "logits");
  expect_null(minfer_sampler_sample_logits(v.sampler, &logit, 1, nullptr, 1, v.ids), "history");
  expect_null(minfer_sampler_sample_logits(v.sampler, &logit, 1, nullptr, 0, nullptr), "token");
  expect_null(minfer_generate_options_init(nullptr, sizeof(minfer_generate_options)), "options");
  expect_null(minfer_session_generate(nullptr, v.ids, 1, nullptr, nullptr, nullptr, nullptr), "session");
  expect_null(minfer_session_generate(v.session, nullptr, 1, nullptr, nullptr, nullptr, nullptr), "prompt");
  minfer_generate_options options;
  expect_ok(minfer_generate_options_init(&options, sizeof options));
  options.n_stop = 2;
  expect_null(minfer_session_generate(v.session, v.ids, 1, &options, nullptr, nullptr, nullptr),
              "options.stop");
  const char* stops[] = {"a", nullptr};
  options.stop = stops;
  expect_null(minfer_session_generate(v.session, v.ids, 1, &options, nullptr, nullptr, nullptr),
              "options.stop[1]");
  expect_null(minfer_session_generated(nullptr, &view, &v.count), "session");
  expect_null(minfer_session_generated(v.session, nullptr, &v.count), "tokens");
  expect_null(minfer_session_generated(v.session, &view, nullptr), "count");
  minfer_sampler_free(nullptr);
}

TEST_CASE("files that are no models") {
  namespace fs = std::filesystem;
  minfer_model* model = nullptr;
  expect(minfer_model_load("no-such-file.gguf", &model), MINFER_IO, "no-such-file.gguf");
  const fs::path folder = fs::temp_directory_path() / ("minfer-api-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string page = (folder / "page.gguf").string();
  std::ofstream(page) << "<!DOCTYPE html><html></html>";
  expect(minfer_model_load(page.c_str(), &model), MINFER_BAD_MODEL, "page.gguf");
  CHECK(std::string(minfer_error_hint()).find("web page") != std::string::npos);
  CHECK(model == nullptr);
  fs::remove_all(folder);
}

TEST_CASE("ids outside the model") {
  Valid v;
  const char* bytes = nullptr;
  bool flag = false;
  for (const int32_t bad : {-1, 384, INT32_MAX, INT32_MIN}) {
    const std::string number = std::to_string(bad);
    expect(minfer_model_token_text(v.model, bad, &bytes, &v.count), MINFER_BAD_REQUEST, number);
    expect(minfer_model_is_control(v.model, bad, &flag), MINFER_BAD_REQUEST, number);
    expect(minfer_detokenize(v.model, &bad, 1, true, v.text, 64, &v.count), MINFER_BAD_REQUEST, number);
    expect(minfer_session_decode(v.session, &bad, 1), MINFER_BAD_REQUEST, number);
    expect(minfer_session_decode_all(v.session, &bad, 1, any_row, nullptr), MINFER_BAD_REQUEST, number);
    expect(minfer_session_generate(v.session, &bad, 1, nullptr, nullptr, nullptr, nullptr),
           MINFER_BAD_REQUEST, number);
  }
  CHECK(tokens_of(v.session) == prompt);
}

TEST_CASE("a buffer too small: nothing is written and the count is told") {
  Valid v;
  const std::string_view text = "Hello";
  size_t needed = 0;
  expect_ok(minfer_tokenize(v.model, text.data(), text.size(), false, false, nullptr, 0, &needed));
  REQUIRE(needed > 1);
  REQUIRE(needed <= 8);
  std::fill(std::begin(v.ids), std::end(v.ids), -7);
  expect(minfer_tokenize(v.model, text.data(), text.size(), false, false, v.ids, needed - 1, &v.count),
         MINFER_BUFFER_TOO_SMALL, std::to_string(needed));
  CHECK(v.count == needed);
  for (const int32_t id : v.ids) CHECK(id == -7);
  expect(minfer_tokenize(v.model, text.data(), text.size(), false, false, v.ids, 0, &v.count),
         MINFER_BUFFER_TOO_SMALL);
  expect_ok(minfer_tokenize(v.model, text.data(), text.size(), false, false, v.ids, needed, &v.count));
  expect(minfer_detokenize(v.model, v.ids, needed, true, v.text, text.size() - 1, &v.count),
         MINFER_BUFFER_TOO_SMALL, std::to_string(text.size()));
  CHECK(v.text[0] == '\0');
  CHECK(v.count == text.size());
  expect_ok(minfer_detokenize(v.model, v.ids, needed, true, v.text, text.size(), &v.count));
  CHECK(std::string_view(v.text, v.count) == text);
}

TEST_CASE("sizes beyond any use are refused before they are read") {
  Valid v;
  expect(minfer_tokenize(v.model, "a", SIZE_MAX, true, true, v.ids, 8, &v.count), MINFER_BAD_REQUEST, "text");
  expect(minfer_detokenize(v.model, v.ids, SIZE_MAX, true, v.text, 64, &v.count), MINFER_BAD_REQUEST,
         "tokens");
  expect(minfer_session_decode(v.session, v.ids, SIZE_MAX / 2), MINFER_BAD_REQUEST, "tokens");
  const float logit = 0;
  expect(minfer_sampler_sample_logits(v.sampler, &logit, SIZE_MAX, nullptr, 0, v.ids), MINFER_BAD_REQUEST,
         "n_logits");
  minfer_generate_options options;
  expect_ok(minfer_generate_options_init(&options, sizeof options));
  const char* stops[] = {"a"};
  options.stop = stops;
  options.n_stop = SIZE_MAX;
  expect(minfer_session_generate(v.session, v.ids, 1, &options, nullptr, nullptr, nullptr),
         MINFER_BAD_REQUEST, "n_stop");
}

TEST_CASE("settings that cannot be used are named") {
  const ApiModel model;
  minfer_session* session = nullptr;
  const auto refused = [&](minfer_status status, const std::string& named, auto change) {
    minfer_session_options options = session_options(64);
    change(options);
    expect(minfer_session_create(model, &options, &session), status, named);
  };
  refused(MINFER_BAD_REQUEST, "-5", [](auto& o) { o.n_ctx = -5; });
  refused(MINFER_BAD_REQUEST, "-2 threads", [](auto& o) { o.threads = -2; });
  refused(MINFER_BAD_REQUEST, "threads", [](auto& o) { o.threads = INT32_MAX; });
  refused(MINFER_BAD_REQUEST, "chunk", [](auto& o) { o.prefill_chunk = -1; });
  refused(MINFER_UNSUPPORTED, "teapot", [](auto& o) { o.device = "teapot"; });
  refused(MINFER_BAD_REQUEST, "many", [](auto& o) { o.gpu_layers = "many"; });
  refused(MINFER_BAD_REQUEST, "device cpu", [](auto& o) { o.device = "cpu", o.gpu_layers = "1"; });
  refused(MINFER_BAD_REQUEST, "q3_k", [](auto& o) { o.kv_format = "q3_k"; });
  CHECK(session == nullptr);

  minfer_sampler* sampler = nullptr;
  const auto out_of_range = [&](const std::string& named, auto change) {
    minfer_sampling sampling = sampling_with(1);
    change(sampling);
    expect(minfer_sampler_create(&sampling, &sampler), MINFER_BAD_REQUEST, named);
  };
  out_of_range("temperature", [](auto& s) { s.temperature = -1; });
  out_of_range("temperature", [](auto& s) { s.temperature = NAN; });
  out_of_range("top_k", [](auto& s) { s.top_k = -1; });
  out_of_range("top_p", [](auto& s) { s.top_p = 1.5f; });
  out_of_range("repeat_penalty", [](auto& s) { s.repeat_penalty = 0; });
  out_of_range("frequency_penalty", [](auto& s) { s.frequency_penalty = 1000; });
  out_of_range("presence_penalty", [](auto& s) { s.presence_penalty = -1000; });
  out_of_range("penalty_window", [](auto& s) { s.penalty_window = -1; });
  CHECK(sampler == nullptr);

  const ApiSession usable(model);
  const auto no_generation = [&](const std::string& named, auto change) {
    minfer_generate_options options;
    expect_ok(minfer_generate_options_init(&options, sizeof options));
    change(options);
    expect(minfer_session_generate(usable, prompt.data(), prompt.size(), &options, nullptr, nullptr, nullptr),
           MINFER_BAD_REQUEST, named);
  };
  const minfer_sampling bad = sampling_with(-1);
  const char* stops[] = {""};
  no_generation("max_tokens", [](auto& o) { o.max_tokens = -2; });
  no_generation("temperature", [&](auto& o) { o.sampling = &bad; });
  no_generation("stop", [&](auto& o) { o.stop = stops, o.n_stop = 1; });
  CHECK(tokens_of(usable).empty());
  expect(minfer_log_set_level(minfer_log_level(4)), MINFER_BAD_REQUEST, "level");
}

TEST_CASE("logits that no token can be drawn from") {
  Valid v;
  for (const std::vector<float>& logits : {std::vector<float>{1, NAN}, {INFINITY, 1}, {-INFINITY, -INFINITY}})
    expect(minfer_sampler_sample_logits(v.sampler, logits.data(), logits.size(), nullptr, 0, v.ids),
           MINFER_BAD_REQUEST);
  const float logit = 1;
  expect(minfer_sampler_sample_logits(v.sampler, &logit, 0, nullptr, 0, v.ids), MINFER_BAD_REQUEST,
         "n_logits");
}

TEST_CASE("after a failure the tokens are as before and there are no logits") {
  const ApiModel model;
  const ApiSession session(model, 8);
  const float* logits = nullptr;
  size_t count = 0;
  expect(minfer_session_logits(session, &logits, &count), MINFER_BAD_REQUEST, "no logits");
  expect_ok(minfer_session_decode(session, prompt.data(), prompt.size()));
  expect(minfer_session_decode(session, prompt.data(), prompt.size()), MINFER_CONTEXT_LENGTH_EXCEEDED, "14");
  CHECK(tokens_of(session) == prompt);
  expect(minfer_session_logits(session, &logits, &count), MINFER_BAD_REQUEST, "no logits");
  minfer_sampler* sampler = nullptr;
  int32_t token = 0;
  expect_ok(minfer_sampler_create(nullptr, &sampler));
  expect(minfer_sampler_sample(sampler, session, &token), MINFER_BAD_REQUEST, "no logits");
  minfer_sampler_free(sampler);
  expect(minfer_session_generate(session, prompt.data(), prompt.size(), nullptr, nullptr, nullptr, nullptr),
         MINFER_CONTEXT_LENGTH_EXCEEDED);
  expect(minfer_session_decode(session, nullptr, 0), MINFER_BAD_REQUEST, "no tokens");
  expect(minfer_session_truncate(session, 8), MINFER_BAD_REQUEST, "8");
  CHECK(tokens_of(session) == prompt);

  // A device that fails: the same.
  ::setenv("MINFER_TEST_CALL_FAIL", "execute@2", 1);
  const ApiSession failing(model, 16);
  ::unsetenv("MINFER_TEST_CALL_FAIL");
  expect_ok(minfer_session_decode(failing, prompt.data(), prompt.size()));
  expect(minfer_session_decode(failing, prompt.data(), 1), MINFER_DEVICE);
  CHECK(tokens_of(failing) == prompt);
  expect_ok(minfer_session_decode(failing, prompt.data(), 1));
}

TEST_CASE("a row callback that stops takes the whole call back") {
  const ApiModel model;
  minfer_session_options options = session_options(64);
  options.prefill_chunk = 2;
  const ApiSession session(model, options);
  const auto until_the_fourth = [](size_t index, const float*, size_t, void*) { return index < 3; };
  expect(minfer_session_decode_all(session, prompt.data(), prompt.size(), until_the_fourth, nullptr),
         MINFER_CANCELLED);
  CHECK(tokens_of(session).empty());
}

TEST_CASE("messages belong to the thread that failed") {
  expect(minfer_model_load("mine.gguf", nullptr), MINFER_BAD_REQUEST);
  const std::string before = minfer_error_message();
  std::thread([] {
    CHECK(std::string(minfer_error_message()).empty());
    CHECK(std::string(minfer_error_hint()).empty());
    minfer_model* model = nullptr;
    expect(minfer_model_load("theirs.gguf", &model), MINFER_IO, "theirs.gguf");
  }).join();
  CHECK(minfer_error_message() == before);
  const ApiModel success;  // leaves the message alone
  CHECK(minfer_error_message() == before);
}

TEST_CASE("names of the library and of statuses") {
  CHECK(std::string(minfer_version()) == MINFER_TEST_VERSION);
  CHECK(minfer_abi_version() == MINFER_ABI_VERSION);
  CHECK(std::string(minfer_status_name(MINFER_OK)) == "ok");
  CHECK(std::string(minfer_status_name(MINFER_CONTEXT_LENGTH_EXCEEDED)) == "context_length_exceeded");
  CHECK(std::string(minfer_status_name(minfer_status(99))) == "unknown");
}
