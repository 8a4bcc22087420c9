// minfer.hpp: the C interface for C++20: handles that free themselves, exceptions instead of status codes,
// spans and strings instead of pointers and counts. Only what minfer.h does; its comments say what each call
// does, how long a view is valid and which thread may call. Header-only: it is compiled into your program, so
// only the C interface has to match the library.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minfer/minfer.h"

namespace minfer_cpp {

/// What every call throws when the C call does not return MINFER_OK. `what()`: the message.
class Error : public std::runtime_error {
 public:
  Error(minfer_status code, const char* message, const char* what_to_do)
      : std::runtime_error(message), status(code), hint(what_to_do) {}
  const minfer_status status;
  const std::string hint;
};

inline void check(minfer_status status) {
  if (status != MINFER_OK) throw Error(status, minfer_error_message(), minfer_error_hint());
}

struct SessionOptions : minfer_session_options {
  SessionOptions() { check(minfer_session_options_init(this, sizeof(minfer_session_options))); }
};
struct Sampling : minfer_sampling {
  Sampling() { check(minfer_sampling_init(this, sizeof(minfer_sampling))); }
};

struct ChatOptions : minfer_chat_options {
  ChatOptions() { check(minfer_chat_options_init(this, sizeof(minfer_chat_options))); }
};

struct GenerateOptions {
  Sampling sampling;
  int64_t max_tokens = 512;  ///< -1: until the context is full
  std::vector<std::string> stop;
};

namespace detail {

/// The two calls of a result in a buffer: first its size, then its elements.
template <class Container, class Call>
Container from_buffer(Call&& call) {
  size_t count = 0;
  check(call(nullptr, 0, &count));
  Container result(count, {});
  check(call(result.data(), result.size(), &count));
  return result;
}

/// A callback with the exception that must not pass through C: it is kept and thrown again afterwards.
template <class Function>
struct Callback {
  const Function& function;
  std::exception_ptr thrown = nullptr;

  template <class... Arguments>
  bool operator()(Arguments&&... arguments) {
    try {
      return function(std::forward<Arguments>(arguments)...);
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }
  void check(minfer_status status) const {
    if (thrown) std::rethrow_exception(thrown);
    minfer_cpp::check(status);
  }
};

template <class Handle, void (*release)(Handle*)>
struct Release {
  void operator()(Handle* handle) const { release(handle); }
};
template <class Handle, void (*release)(Handle*)>
using Owned = std::unique_ptr<Handle, Release<Handle, release>>;

}  // namespace detail

/// A loaded file; any number of threads may use it.
class Model {
 public:
  explicit Model(const std::string& path) {
    minfer_model* model = nullptr;
    check(minfer_model_load(path.c_str(), &model));
    handle_.reset(model);
  }
  const minfer_model* get() const { return handle_.get(); }

  minfer_model_facts facts() const {
    minfer_model_facts facts{};
    facts.size = sizeof facts;
    check(minfer_model_get_facts(get(), &facts));
    return facts;
  }
  std::span<const int32_t> end_tokens() const {
    const int32_t* tokens = nullptr;
    size_t count = 0;
    check(minfer_model_end_tokens(get(), &tokens, &count));
    return {tokens, count};
  }
  std::string_view token_text(int32_t token) const {
    const char* text = nullptr;
    size_t count = 0;
    check(minfer_model_token_text(get(), token, &text, &count));
    return {text, count};
  }
  /// -1 if there is none.
  int32_t find_token(std::string_view text) const {
    int32_t token = -1;
    check(minfer_model_find_token(get(), text.data(), text.size(), &token));
    return token;
  }
  bool is_control(int32_t token) const {
    bool answer = false;
    check(minfer_model_is_control(get(), token, &answer));
    return answer;
  }
  std::vector<int32_t> tokenize(std::string_view text, bool add_bos, bool parse_special) const {
    return detail::from_buffer<std::vector<int32_t>>([&](int32_t* buffer, size_t capacity, size_t* count) {
      return minfer_tokenize(get(), text.data(), text.size(), add_bos, parse_special, buffer, capacity,
                             count);
    });
  }
  std::string detokenize(std::span<const int32_t> tokens, bool special = true) const {
    return detail::from_buffer<std::string>([&](char* buffer, size_t capacity, size_t* count) {
      return minfer_detokenize(get(), tokens.data(), tokens.size(), special, buffer, capacity, count);
    });
  }
  /// `messages`: JSON, see minfer_chat_render.
  std::string chat_render(std::string_view messages, const ChatOptions& options = {}) const {
    return detail::from_buffer<std::string>([&](char* buffer, size_t capacity, size_t* count) {
      return minfer_chat_render(get(), messages.data(), messages.size(), &options, buffer, capacity, count);
    });
  }
  std::vector<int32_t> chat_encode(std::string_view messages, const ChatOptions& options = {}) const {
    return detail::from_buffer<std::vector<int32_t>>([&](int32_t* buffer, size_t capacity, size_t* count) {
      return minfer_chat_encode(get(), messages.data(), messages.size(), &options, buffer, capacity, count);
    });
  }

 private:
  detail::Owned<minfer_model, minfer_model_free> handle_;
};

/// One sequence; one call at a time, but cancel from anywhere.
class Session {
 public:
  explicit Session(const Model& model, const SessionOptions& options = {}) {
    minfer_session* session = nullptr;
    check(minfer_session_create(model.get(), &options, &session));
    handle_.reset(session);
  }
  minfer_session* get() const { return handle_.get(); }

  minfer_session_facts facts() const {
    minfer_session_facts facts{};
    facts.size = sizeof facts;
    check(minfer_session_get_facts(get(), &facts));
    return facts;
  }
  /// The logits of the last token; a view, see minfer_session_logits.
  std::span<const float> decode(std::span<const int32_t> tokens) {
    check(minfer_session_decode(get(), tokens.data(), tokens.size()));
    return logits();
  }
  using Row = std::function<bool(size_t index, std::span<const float> logits)>;
  void decode_all(std::span<const int32_t> tokens, const Row& row) {
    detail::Callback<Row> callback{row};
    const auto call = [](size_t index, const float* logits, size_t count, void* user) {
      return (*static_cast<detail::Callback<Row>*>(user))(index, std::span(logits, count));
    };
    callback.check(minfer_session_decode_all(get(), tokens.data(), tokens.size(), call, &callback));
  }
  std::span<const float> logits() const {
    const float* logits = nullptr;
    size_t count = 0;
    check(minfer_session_logits(get(), &logits, &count));
    return {logits, count};
  }
  std::span<const int32_t> tokens() const {
    const int32_t* tokens = nullptr;
    size_t count = 0;
    check(minfer_session_tokens(get(), &tokens, &count));
    return {tokens, count};
  }
  void truncate(size_t length) { check(minfer_session_truncate(get(), length)); }
  void cancel() { check(minfer_session_cancel(get())); }
  void clear_cancel() { check(minfer_session_clear_cancel(get())); }

  using Text = std::function<bool(std::string_view text)>;
  minfer_generate_result generate(std::span<const int32_t> prompt, const GenerateOptions& options,
                                  const Text& text) {
    std::vector<const char*> stop;
    for (const std::string& one : options.stop) stop.push_back(one.c_str());
    minfer_generate_options all;
    check(minfer_generate_options_init(&all, sizeof all));
    all.sampling = &options.sampling;
    all.max_tokens = options.max_tokens;
    all.stop = stop.data();
    all.n_stop = stop.size();
    minfer_generate_result result{};
    result.size = sizeof result;
    detail::Callback<Text> callback{text};
    const auto call = [](const char* piece, size_t bytes, void* user) {
      return (*static_cast<detail::Callback<Text>*>(user))(std::string_view(piece, bytes));
    };
    callback.check(
        minfer_session_generate(get(), prompt.data(), prompt.size(), &all, call, &callback, &result));
    return result;
  }
  std::span<const int32_t> generated() const {
    const int32_t* tokens = nullptr;
    size_t count = 0;
    check(minfer_session_generated(get(), &tokens, &count));
    return {tokens, count};
  }

 private:
  detail::Owned<minfer_session, minfer_session_free> handle_;
};

/// Chooses tokens; one call at a time.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling = {}) {
    minfer_sampler* sampler = nullptr;
    check(minfer_sampler_create(&sampling, &sampler));
    handle_.reset(sampler);
  }
  minfer_sampler* get() const { return handle_.get(); }

  int32_t sample(const Session& session) {
    int32_t token = -1;
    check(minfer_sampler_sample(get(), session.get(), &token));
    return token;
  }
  int32_t sample(std::span<const float> logits, std::span<const int32_t> history) {
    int32_t token = -1;
    check(minfer_sampler_sample_logits(get(), logits.data(), logits.size(), history.data(), history.size(),
                                       &token));
    return token;
  }

 private:
  detail::Owned<minfer_sampler, minfer_sampler_free> handle_;
};

}  // namespace minfer_cpp
