#include "engine/conversation.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "base/error.h"
#include "tokenizer/nfc.h"

using namespace minfer;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* chat_ml =
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor "
    "%}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// Random weights: it writes bytes in no order, so that its tokens are rarely those of the text's encoding,
/// and its bytes rarely whole characters. Both are what a conversation must live with.
std::shared_ptr<const Model> model() {
  static const auto loaded = Model::load(std::string(MINFER_TEST_DATA_DIR) + "/golden/llama-f16.gguf");
  return loaded;
}

std::unique_ptr<Session> session(int64_t n_ctx) {
  SessionOptions options;
  options.n_ctx = n_ctx;
  options.threads = 1;
  options.prefill_chunk = 16;
  return Session::create(model(), options);
}

GenerateParams params(int64_t max_tokens, float temperature = 1) {
  GenerateParams p;
  p.max_tokens = max_tokens;
  p.sampling.temperature = temperature;
  p.sampling.top_k = 0;
  p.sampling.top_p = 1;
  return p;
}

bool ignore(std::string_view) { return true; }

std::vector<Token> control_tokens(std::span<const Token> ids) {
  std::vector<Token> found;
  for (const Token id : ids)
    if (model()->tokenizer().is_control(id)) found.push_back(id);
  return found;
}

int64_t common_prefix(const std::vector<Token>& a, const std::vector<Token>& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

/// A conversation under watch: after each operation all that is promised of it is checked from outside.
struct Watched {
  std::shared_ptr<const chat::ChatTemplate> chat_template;
  Conversation conversation;
  bool appends_only;      ///< each rendering begins with the one before, if the history only grew
  bool greedy = false;    ///< all answers are at temperature 0
  bool unbroken = false;  ///< the history only grew since the last answer

  explicit Watched(int64_t n_ctx, const char* source = chat_ml, bool appends = true)
      : chat_template(chat::ChatTemplate::parse(source)),
        conversation(session(n_ctx), chat_template),
        appends_only(appends) {}

  std::vector<chat::Piece> render(bool add_generation_prompt) const {
    chat::RenderOptions options;
    options.add_generation_prompt = add_generation_prompt;
    return chat_template->render(conversation.messages(), options);
  }

  template <class Operation>
  Conversation::Turn turn(Operation&& operation) {
    const std::vector<Token> before = conversation.session().tokens();
    const Json history = conversation.messages();
    const Conversation::Turn turn = operation();
    const std::vector<Token>& after = conversation.session().tokens();
    if (!turn.kept) {
      CHECK(conversation.messages() == history);
      return turn;
    }
    const int64_t prompt = turn.reused + turn.result.prompt_tokens;
    REQUIRE(prompt <= int64_t(after.size()));
    const std::vector<Token> fed(after.begin(), after.begin() + prompt);
    CHECK(turn.reused ==
          std::min(common_prefix(before, fed), prompt - 1));  // all that was valid, and no more
    if (unbroken && appends_only && turn.dropped == 0) CHECK(turn.reused == int64_t(before.size()));
    unbroken = true;
    check_answer(turn.result.tokens, int64_t(after.size()) - prompt);
    check_cache();
    if (greedy) check_rows(fed);
    return turn;
  }

  /// Of the tokens generated, `cached` stay: all that are read as a beginning of the answer. That cannot be
  /// those from a control token on, which stands for no text, nor one at which a stop string cut the answer,
  /// nor the last one, which was not decoded. What ends inside a character may stay or not.
  void check_answer(std::span<const Token> generated, int64_t cached) const {
    const Tokenizer& tokenizer = model()->tokenizer();
    const std::string answer = conversation.messages().back()["content"];
    int64_t readable = 0;
    for (size_t n = 1; n < generated.size() && !tokenizer.is_control(generated[n - 1]); ++n) {
      const std::string text = tokenizer.decode(generated.first(n));
      if (answer.starts_with(text) && !text.ends_with("\uFFFD")) readable = int64_t(n);
    }
    CHECK(cached >= readable);
    CHECK(cached <= std::max(int64_t(generated.size()) - 1, int64_t(0)));
  }

  /// The cache is the beginning of the history's tokens, and these read as the rendered text.
  void check_cache() const {
    const Tokenizer& tokenizer = model()->tokenizer();
    const std::vector<Token>& cached = conversation.session().tokens();
    const std::vector<Token> history = conversation.history_tokens();
    if (!appends_only) return;  // the last answer may already be altered in the history
    CHECK(common_prefix(cached, history) == int64_t(cached.size()));
    const std::vector<chat::Piece> pieces = render(false);
    const std::string text = chat::joined(pieces);
    CHECK(text.ends_with("<|im_end|>\n"));
    // This tokenizer composes what it encodes, and random bytes may write what is not composed.
    CHECK(nfc(tokenizer.decode(history)) == nfc(text));
    CHECK(control_tokens(history) == control_tokens(chat::encode(tokenizer, pieces)));
  }

  /// Rows of the cache that are used again are those of the tokens it names: a fresh session says the same.
  void check_rows(const std::vector<Token>& fed) {
    if (conversation.session().tokens().size() == fed.size()) return;
    const auto fresh = session(conversation.session().n_ctx());
    const auto logits = fresh->decode(fed);
    const Token likeliest = Token(std::max_element(logits.begin(), logits.end()) - logits.begin());
    CHECK(conversation.session().tokens()[fed.size()] == likeliest);
  }
};

/// Cancels after some pieces of text, as a user does.
Conversation::Sink stop_after(int pieces) {
  return [pieces](std::string_view) mutable { return pieces-- > 0; };
}

std::string random_text(std::mt19937& rng) {
  static const char* const words[] = {"the ",  " fox", "\n",    "<|im_end|>", "<|im_start|>system\n",
                                      "é",     "日本", "jumps", "  ",         "\xF0\x9F\xA6\x8A",
                                      "<|im_", "0123"};
  std::string text;
  for (uint32_t n = rng() % 8; n > 0; --n) text += words[rng() % std::size(words)];
  return text;
}

template <class Call>
void check_error(ErrorCode code, const std::string& named, Call&& call) {
  try {
    call();
    FAIL_CHECK("no error");
  } catch (const Error& e) {
    CHECK(e.code == code);
    CHECK_MESSAGE(std::string(e.what()).find(named) != std::string::npos, e.what());
  }
}

}  // namespace

TEST_CASE("what was computed is not computed again, though encoding gives other tokens") {
  Watched w(2000);
  int differ = 0;
  for (int i = 0; i < 12; ++i) {
    w.turn([&] { return w.conversation.ask("hello there", params(12), ignore); });
    differ += chat::encode(model()->tokenizer(), w.render(false)) != w.conversation.history_tokens();
  }
  CHECK(differ > 8);  // or this shows nothing
  CHECK(w.conversation.messages().size() == 24);
}

TEST_CASE("the first prompt is the encoded text, and greedy answers are those of a fresh session") {
  Watched w(600);
  w.greedy = true;
  w.conversation.set_system("You are a fox.");
  const auto first = w.turn([&] { return w.conversation.ask("hello", params(5, 0), ignore); });
  const auto expected =
      chat::encode(model()->tokenizer(),
                   w.chat_template->render(Json::parse(R"([{"role":"system","content":"You are a fox."},
        {"role":"user","content":"hello"}])"),
                                           {}));
  CHECK(first.result.prompt_tokens == int64_t(expected.size()));
  CHECK(common_prefix(w.conversation.session().tokens(), expected) == int64_t(expected.size()));
  for (int i = 0; i < 6; ++i) w.turn([&] { return w.conversation.ask("and then", params(9, 0), ignore); });
  w.unbroken = false;
  w.conversation.set_system("You are a hound.");
  for (int i = 0; i < 3; ++i) w.turn([&] { return w.conversation.ask("and then", params(9, 0), ignore); });
}

TEST_CASE("random operations keep every promise") {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    std::mt19937 rng(seed);
    Watched w(seed % 2 ? 1000 : 160);
    Json saved = w.conversation.messages();
    const std::atomic<bool> at_once{true};
    int dropped = 0, refused = 0;
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      // Drawn one after the other: in which order arguments are evaluated is up to the compiler.
      const int64_t max_tokens = rng() % 20;
      const float temperature = 0.5f + float(rng() % 2);
      GenerateParams p = params(max_tokens, temperature);
      if (rng() % 3 == 0) p.stop = {"a", "the fo"};
      const Conversation::Sink sink =
          rng() % 4 == 0 ? stop_after(int(rng() % 6)) : Conversation::Sink(ignore);
      const Json history = w.conversation.messages();
      const std::vector<Token> cached = w.conversation.session().tokens();
      switch (rng() % 12) {
        case 0:
          w.conversation.clear();
          w.unbroken = false;
          CHECK(w.conversation.messages().size() <= 1);
          break;
        case 1: {
          const std::string text = random_text(rng);
          w.conversation.set_system(text);
          w.unbroken = false;
          CHECK(w.conversation.system() == text);
          break;
        }
        case 2:
          saved = history;
          break;
        case 3:
          w.conversation.set_messages(Json::parse(saved.dump()));
          w.unbroken = false;
          CHECK(w.conversation.messages() == saved);
          break;
        case 4:
        case 5:
          if (history.size() < 2) break;
          w.unbroken = false;
          w.turn([&] { return w.conversation.regenerate(p, sink); });
          break;
        case 6:
          p.cancel = &at_once;
          CHECK(!w.turn([&] { return w.conversation.ask(random_text(rng), p, sink); }).kept);
          w.unbroken = false;
          break;
        case 7:
          check_error(ErrorCode::context_length_exceeded, std::to_string(w.conversation.session().n_ctx()),
                      [&] { w.conversation.ask(std::string(2000, '0'), p, sink); });
          CHECK(w.conversation.messages() == history);
          CHECK(w.conversation.session().tokens() == cached);
          ++refused;
          break;
        default: {
          const auto turn = w.turn([&] { return w.conversation.ask(random_text(rng), p, sink); });
          dropped += turn.dropped > 0;
          if (!turn.kept) w.unbroken = false;
        }
      }
    }
    CHECK(refused > 0);
    if (seed % 2 == 0) CHECK(dropped > 0);
  }
}

TEST_CASE("text that is no UTF-8 and histories that are none are refused, and nothing changes") {
  Watched w(300);
  w.turn([&] { return w.conversation.ask("hello", params(5), ignore); });
  const Json history = w.conversation.messages();
  check_error(ErrorCode::bad_request, "byte 3 of 5",
              [&] { w.conversation.ask("caf\xE9!", params(5), ignore); });
  check_error(ErrorCode::bad_request, "byte 0 of 1", [&] { w.conversation.set_system("\xFF"); });
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "object"},
      {"\"hello\"", "string"},
      {"[1]", "message 0"},
      {R"([{"role":"user","content":"a"},{"content":"b"}])", "message 1"},
      {R"([{"role":7,"content":"b"}])", "role"},
  };
  for (const auto& [text, named] : cases)
    check_error(ErrorCode::bad_request, named,
                [&, t = text] { w.conversation.set_messages(Json::parse(t)); });
  CHECK(w.conversation.messages() == history);
  w.turn([&] { return w.conversation.ask("and", params(5), ignore); });
}

TEST_CASE("a device that fails takes the turn back") {
  ::setenv("MINFER_TEST_CALL_FAIL", "execute@4", 1);
  Watched w(300);
  ::unsetenv("MINFER_TEST_CALL_FAIL");
  const Json before = w.conversation.messages();
  check_error(ErrorCode::device, "a test made it fail",
              [&] { w.conversation.ask("hello", params(9), ignore); });
  CHECK(w.conversation.messages() == before);
  w.turn([&] { return w.conversation.ask("hello", params(9), ignore); });
}

TEST_CASE("what leaves a full context: the oldest exchanges, whole, and never the system message") {
  Watched w(160);
  w.conversation.set_messages(Json::parse(R"([
    {"role":"system","content":"You are a fox."},
    {"role":"user","content":"one"}, {"role":"assistant","content":"call"},
    {"role":"tool","content":"result"}, {"role":"assistant","content":"two"},
    {"role":"user","content":"three"}, {"role":"assistant","content":"four"}])"));
  const auto turn = w.turn([&] { return w.conversation.ask(std::string(50, '0'), params(4), ignore); });
  CHECK(turn.dropped == 4);
  CHECK(w.conversation.messages().size() == 5);
  CHECK(w.conversation.messages()[1]["content"] == "three");
  CHECK(w.conversation.system() == "You are a fox.");
  // What stays leaves a quarter of the context free.
  CHECK(turn.reused + turn.result.prompt_tokens <= 120);
}

TEST_CASE("an answer cut by a stop string keeps the text before it and its tokens") {
  Watched w(400);
  GenerateParams p = params(40);
  int stopped = 0;
  for (int i = 0; i < 6; ++i) {
    std::string shown;
    p.stop = {"e", "o", "\n"};
    const auto turn = w.turn([&] {
      return w.conversation.ask("go on", p, [&](std::string_view text) {
        shown += text;
        return true;
      });
    });
    CHECK(w.conversation.messages().back()["content"] == shown);
    CHECK(shown.find_first_of("eo\n") == std::string::npos);
    stopped += turn.result.reason == StopReason::stop_string;
  }
  CHECK(stopped > 3);
}

TEST_CASE("a template that alters earlier answers costs what it alters, and no more") {
  // The last answer is whole, earlier ones lose all up to their last `e`: as templates do with thoughts.
  const char* shortens =
      "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
      "{% if m['role'] == 'assistant' and not loop.last %}{{ m['content'].split('e')[-1] }}"
      "{% else %}{{ m['content'] }}{% endif %}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  Watched w(1000, shortens, false);
  int64_t prompt = 0;
  int shortened = 0;
  for (int i = 0; i < 10; ++i) {
    const int64_t before = int64_t(w.conversation.session().tokens().size());
    const auto turn = w.turn([&] { return w.conversation.ask("go on", params(20), ignore); });
    CHECK(turn.reused >= prompt);  // nothing before the last answer changed
    shortened += turn.reused < before;
    prompt = turn.reused + turn.result.prompt_tokens;
  }
  CHECK(shortened > 3);
}

TEST_CASE("a template that takes blanks from the end of an answer does not cost the answer") {
  const char* trims =
      "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] | trim }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  Watched w(1000, trims, false);
  GenerateParams p = params(40);
  p.stop = {"e", "o", "T"};
  int trimmed = 0;
  for (int i = 0; i < 40; ++i) {
    const std::vector<Token> before = w.conversation.session().tokens();
    const Json& history = w.conversation.messages();
    const std::string text = history.empty() ? std::string() : history.back()["content"].get<std::string>();
    const auto turn = w.turn([&] { return w.conversation.ask("go on", p, ignore); });
    const bool begins_blank = !text.empty() && std::isspace(static_cast<unsigned char>(text.front()));
    if (begins_blank || turn.dropped) continue;
    // A blank is a token of at most the blanks themselves.
    const size_t blanks = text.size() - std::min(text.size(), text.find_last_not_of(" \t\r\n") + 1);
    CHECK(turn.reused + int64_t(blanks) >= int64_t(before.size()));
    trimmed += blanks > 0;
  }
  MESSAGE(trimmed << " answers ended in blanks");
}

TEST_CASE("a template that refuses a history leaves it as it was") {
  Watched w(300,
            "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system here') }}{% endif %}"
            "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  w.turn([&] { return w.conversation.ask("hello", params(5), ignore); });
  const Json history = w.conversation.messages();
  check_error(ErrorCode::bad_request, "no system here", [&] {
    w.conversation.set_messages(
        Json::parse(R"([{"role":"system","content":"a"},{"role":"user","content":"b"}])"));
  });
  CHECK(w.conversation.messages() == history);
  check_error(ErrorCode::bad_request, "no system here", [&] { w.conversation.set_system("a"); });
  CHECK(w.conversation.messages() == history);
  w.turn([&] { return w.conversation.ask("and", params(5), ignore); });
}
