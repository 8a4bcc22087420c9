#include "engine/token_ledger.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace minfer;

namespace {

using Pieces = std::vector<chat::Piece>;

std::shared_ptr<const Tokenizer> tokenizer(const std::string& name) {
  return Tokenizer::load(
      gguf::File::open(std::string(MINFER_TEST_DATA_DIR) + "/tokenizer/" + name + "-vocab.gguf"));
}

std::vector<Token> ids_of(const Tokenizer& tokenizer, const std::vector<std::string>& texts) {
  std::vector<Token> ids;
  for (const std::string& text : texts) {
    REQUIRE_MESSAGE(tokenizer.find(text), text);
    ids.push_back(*tokenizer.find(text));
  }
  return ids;
}

std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool begins_with(const std::vector<Token>& all, const std::vector<Token>& part) {
  return all.size() >= part.size() && std::equal(part.begin(), part.end(), all.begin());
}

Pieces then(Pieces pieces, const Pieces& more) {
  pieces.insert(pieces.end(), more.begin(), more.end());
  return pieces;
}

const Pieces instruction = {{"[INST] ", true}, {"hi", false}, {" [/INST]", true}};
const Pieces next_turn = {{"</s>[INST] ", true}, {"and", false}, {" [/INST]", true}};

}  // namespace

TEST_CASE("an answer keeps its ids where a tokenizer puts a space before each text") {
  const auto t = tokenizer("mistral-spm");
  TokenLedger ledger(*t);
  const auto first = ledger.plan(instruction);
  CHECK(first.tokens == chat::encode(*t, instruction));
  const std::vector<Token> answer = ids_of(*t, {"\u2581H", "el", "lo"});  // not what encoding gives
  CHECK(ledger.record(first, " Hello", answer) == 3);
  const auto second = ledger.plan(then(then(instruction, {{" Hello", false}}), next_turn));
  CHECK(begins_with(second.tokens, joined(first.tokens, answer)));
  CHECK(t->decode(second.tokens) ==
        t->decode(chat::encode(*t, then(then(instruction, {{" Hello", false}}), next_turn))));
  CHECK(std::count(second.tokens.begin(), second.tokens.end(), t->bos().value()) == 1);

  // A blank by the template before the end token: no way to encode it apart, so all is encoded as one.
  const Pieces blank = then(then(instruction, {{" Hello", false}, {" ", true}}), next_turn);
  CHECK(ledger.plan(blank).tokens == chat::encode(*t, blank));
}

TEST_CASE(
    "an answer that ends inside a token: the rest is encoded, or all of it where that is not possible") {
  const auto bpe = tokenizer("smollm2");
  const Pieces prompt = {{"<|im_start|>assistant\n", true}}, end = {{"<|im_end|>\n", true}};
  TokenLedger ledger(*bpe);
  const auto plan = ledger.plan(prompt);
  const std::vector<Token> generated = ids_of(*bpe, {"H", "ello", "\u0120world"});
  CHECK(ledger.record(plan, "Hello wor", generated) == 2);  // the stop string was `ld`
  const auto after = ledger.plan(then(then(prompt, {{"Hello wor", false}}), end));
  CHECK(begins_with(after.tokens, joined(plan.tokens, {generated[0], generated[1]})));
  CHECK(bpe->decode(after.tokens) == "<|im_start|>assistant\nHello wor<|im_end|>\n");

  const auto spm = tokenizer("mistral-spm");
  TokenLedger other(*spm);
  const auto begun = other.plan(instruction);
  CHECK(other.record(begun, " Hel", ids_of(*spm, {"\u2581H", "ello"})) == 1);
  const Pieces whole = then(then(instruction, {{" Hel", false}}), next_turn);
  CHECK(other.plan(whole).tokens == chat::encode(*spm, whole));
}

TEST_CASE("another answer to the same prompt takes the place of one that was blank or empty") {
  const auto t = tokenizer("smollm2");
  const Pieces prompt = {{"<|im_start|>assistant\n", true}}, end = {{"<|im_end|>\n", true}};
  for (const std::string blank : {" ", ""}) {
    CAPTURE(blank);
    TokenLedger ledger(*t);
    const auto plan = ledger.plan(prompt);
    ledger.record(plan, blank, t->encode(blank, {.add_bos = false}));
    const auto again = ledger.plan(prompt);
    CHECK(again.tokens == plan.tokens);
    const std::vector<Token> generated = ids_of(*t, {"\u0120H", "el", "lo"});
    CHECK(ledger.record(again, " Hello", generated) == 3);
    const auto after = ledger.plan(then(then(prompt, {{" Hello", false}}), end));
    CHECK(begins_with(after.tokens, joined(plan.tokens, generated)));
  }
}

TEST_CASE("what a template wrote is never taken for an answer that reads the same") {
  const auto t = tokenizer("smollm2");
  TokenLedger ledger(*t);
  const Pieces prompt = {{"<|im_start|>assistant\n", true}};
  const auto plan = ledger.plan(prompt);
  const std::vector<Token> plain = t->encode("<|im_end|>", {.add_bos = false, .parse_special = false});
  CHECK(ledger.record(plan, "<|im_end|>", plain) == plain.size());
  // The model spelled it: plain text in the history, too.
  CHECK(begins_with(ledger.plan(then(prompt, {{"<|im_end|>", false}, {"<|im_end|>\n", true}})).tokens,
                    joined(plan.tokens, plain)));
  // Here the template says it, and means it.
  const Pieces meant = then(prompt, {{"<|im_end|>\n", true}});
  CHECK(ledger.plan(meant).tokens == chat::encode(*t, meant));
}
