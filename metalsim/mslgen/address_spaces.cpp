#include "reader.h"

namespace metalsim::mslgen {
namespace {

bool is_space(const Token& token) {
  return token.is("device") || token.is("constant") || token.is("threadgroup") || token.is("thread");
}

/// Words that begin a statement which is no declaration.
bool begins_expression(const Token& token) {
  for (const std::string_view word :
       {"return", "else", "case", "goto", "do", "auto", "using", "sizeof", "new"})
    if (token.is(word)) return true;
  return false;
}

}  // namespace

/// Whether a type's words, from `i` on, contain no address space; `i` becomes the index after them.
bool Reader::skip_type_words(size_t& i) const {
  bool has_space = false;
  while (at(i).kind == TokenKind::word || at(i).is("::") || (at(i).is("<") && match_angles(i) != i)) {
    has_space |= is_space(at(i));
    i = at(i).is("<") ? match_angles(i) + 1 : i + 1;
  }
  return !has_space;
}

/// Metal wants an address space in every pointer and reference type: in casts and template arguments, in
/// parameters, and in declarations that begin a statement. The host compiler has none, so it is looked at
/// here.
void Reader::check_address_spaces(Range range) const {
  for (size_t i = range.begin; i < range.end; ++i) {
    const bool opens = at(i).is("(") || at(i).is("<");
    const Token& before = at(i > 0 ? i - 1 : 0);
    const bool statement = i == 0 || before.is(";") || before.is("{") || before.is("}") ||
                           (before.is("(") && i > 1 && at(i - 2).is("for"));
    if (opens) check_cast(i);
    if (statement && at(i).kind == TokenKind::word && !begins_expression(at(i))) check_local(i);
  }
}

/// `(float*)` and `<float*>` name a type.
void Reader::check_cast(size_t open) const {
  size_t i = open + 1;
  if (at(i).kind != TokenKind::word || !skip_type_words(i) || !at(i).is("*")) return;
  const size_t star = i;
  while (at(i).is("*") || at(i).is("const")) ++i;
  if (at(i).is(at(open).is("(") ? ")" : ">") && at(open + 1).kind == TokenKind::word &&
      !at(open + 1).is("auto"))
    missing_space(star);
}

/// `float* p = ...`, also as a member of a structure or the result of a function.
void Reader::check_local(size_t begin) const {
  size_t i = begin;
  bool deduced = false;
  if (!skip_type_words(i)) return;
  for (size_t k = begin; k < i; ++k) deduced |= at(k).is("auto") || at(k).is("decltype");
  if (deduced || !(at(i).is("*") || at(i).is("&"))) return;
  const size_t sign = i;
  while (at(i).is("*") || at(i).is("&") || at(i).is("const")) ++i;
  if (at(i).kind == TokenKind::word && (at(i + 1).is("=") || at(i + 1).is(";")) && !at(i + 2).is("="))
    missing_space(sign);
}

/// The parameters of a function, between its parentheses.
void Reader::check_parameter_spaces(Range list) const {
  for (const Range& parameter : split(list)) {
    bool has_space = false;
    size_t sign = 0;
    for (size_t i = parameter.begin; i < parameter.end && !at(i).is("="); ++i) {
      if (attribute_begins(i)) {
        i = match(i);
        continue;
      }
      has_space |= is_space(at(i));
      if (!sign && (at(i).is("*") || at(i).is("&"))) sign = i;
      if (at(i).is("<")) i = match_angles(i);
    }
    if (sign && !has_space) missing_space(sign);
  }
}

void Reader::missing_space(size_t sign) const {
  unit_.fail(sign, std::string(at(sign).is("*") ? "pointer" : "reference") +
                       " type without an address space: write device, constant, threadgroup or thread");
}

}  // namespace metalsim::mslgen
