#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The alphabet in which byte-level BPE vocabularies write their tokens: every byte has a printable character
/// that stands for it, so that a vocabulary file is readable text. Printable Latin-1 bytes stand for
/// themselves, the 68 others take U+0100, U+0101, ... in byte order (so a space is U+0120, shown as Ġ).
/// Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, and its published
/// encoder.
namespace minfer::byte_level {

/// UTF-8 of the character that stands for `byte`.
std::string_view stand_in(uint8_t byte);

/// Appends the bytes that `text` stands for to `out`. False, with `out` unchanged, if a character of `text`
/// stands for no byte.
bool append_bytes(std::string_view text, std::string& out);

}  // namespace minfer::byte_level
