#include "tokenizer/spm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "tokenizer/utf8.h"

namespace minfer {
namespace {

/// Numbers in the opposite order of the floats: the highest score has the lowest rank. IEEE floats of one
/// sign are ordered as their bits are. No number but NaN gives 2^32 - 1.
uint32_t descending(float score) {
  const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);  // -0 becomes +0
  const uint32_t sign = 0x80000000u;
  return (bits & sign) != 0 ? bits : ~(bits | sign);
}

}  // namespace

ScoredPieces::ScoredPieces(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  const auto scores = vocabulary.file().get_floats("tokenizer.ggml.scores");
  if (!scores)
    throw Error(ErrorCode::bad_model,
                "tokenizer.ggml.scores is absent; a SentencePiece vocabulary needs a score for each token");
  if (int64_t(scores->size()) != vocabulary.size())
    throw Error(ErrorCode::bad_model,
                fmt::format("tokenizer.ggml.scores has {} values; {} are expected, one for each token",
                            scores->size(), vocabulary.size()));
  if (!vocabulary.has_types())
    throw Error(
        ErrorCode::bad_model,
        "tokenizer.ggml.token_type is absent; a SentencePiece vocabulary needs it to tell pieces from "
        "control and byte tokens");
  ranks_.reserve(scores->size());
  for (const float score : *scores) {
    if (std::isnan(score))
      throw Error(ErrorCode::bad_model, fmt::format("tokenizer.ggml.scores[{}] is not a number; a number is "
                                                    "expected",
                                                    ranks_.size()));
    ranks_.push_back(descending(score));
  }
  for (Token id = 0; id < vocabulary.size(); ++id) longest_ = std::max(longest_, vocabulary.text(id).size());
}

std::optional<Token> ScoredPieces::find(std::string_view text) const {
  if (text.size() > longest_) return std::nullopt;
  const auto id = vocabulary_.find(text);
  if (!id) return std::nullopt;
  const TokenType type = vocabulary_.type(*id);
  const bool is_piece = type == TokenType::normal || type == TokenType::user_defined ||
                        type == TokenType::unused || type == TokenType::undefined;
  return is_piece ? id : std::nullopt;
}

/// The text of the characters in [first, end); -1 as the end is that of the text.
std::string_view ScoredPairEncoder::span(int32_t first, int32_t end) const {
  const uint32_t begin = starts_[size_t(first)];
  return text_.substr(begin, (end < 0 ? starts_.back() : starts_[size_t(end)]) - begin);
}

std::optional<PairMerger::Merge> ScoredPairEncoder::find_merge(int32_t left, int32_t right) {
  const auto id = pieces_.find(span(left, merger_[right].next));
  if (!id) return std::nullopt;
  if (pieces_.is_unused(*id)) splits_[*id] = span(left, right).size();
  return PairMerger::Merge{pieces_.rank(*id), *id};
}

void ScoredPairEncoder::encode(std::string_view text, std::vector<Part>& out) {
  if (text.empty()) return;
  text_ = text;
  starts_.clear();
  splits_.clear();
  for (size_t at = 0; at < text.size();) {
    starts_.push_back(uint32_t(at));
    const utf8::Step step = utf8::next(text.substr(at));
    at += step.kind == utf8::Kind::character ? step.length : 1;
  }
  const size_t characters = starts_.size();
  starts_.push_back(uint32_t(text.size()));
  merger_.start(characters);
  for (int32_t i = 0; i < int32_t(characters); ++i) merger_[i].id = pieces_.find(span(i, i + 1)).value_or(-1);
  merger_.merge([this](int32_t left, int32_t right) { return find_merge(left, right); });
  for (int32_t i = 0; i >= 0; i = merger_[i].next) append({span(i, merger_[i].next), merger_[i].id}, out);
}

/// An unused piece falls apart where it was put together, and so do its halves.
void ScoredPairEncoder::append(Part part, std::vector<Part>& out) {
  open_.assign(1, part);
  while (!open_.empty()) {
    const Part next = open_.back();
    open_.pop_back();
    const auto split = splits_.find(next.id);
    if (next.id < 0 || split == splits_.end()) {
      out.push_back(next);
      continue;
    }
    for (const std::string_view half : {next.text.substr(split->second), next.text.substr(0, split->second)})
      open_.push_back({half, pieces_.find(half).value_or(-1)});
  }
}

}  // namespace minfer
