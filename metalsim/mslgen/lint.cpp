#include "lint.h"

#include <algorithm>

namespace metalsim::mslgen {
namespace {

/// Whether a word is a vector type: float4, packed_half3 ...
bool is_vector_type(std::string_view word) {
  if (word.substr(0, 7) == "packed_") word.remove_prefix(7);
  if (word.empty() || word.back() < '2' || word.back() > '4') return false;
  word.remove_suffix(1);
  for (const std::string_view element : {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long",
                                         "ulong", "half", "bfloat", "float"})
    if (word == element) return true;
  return false;
}

/// The vector type that a word names, itself or through aliases: "float4", or "vec<T,4>"; else nothing.
std::optional<std::string> vector_type(const Unit& unit, std::string_view word) {
  std::string type(word);
  for (int steps = 0; steps < 8; ++steps) {  // an alias may have the name of what it stands for elsewhere
    if (is_vector_type(type) || type.substr(0, 4) == "vec<") return type;
    const auto alias = unit.aliases.find(type);
    if (alias == unit.aliases.end()) break;
    type = alias->second;
  }
  return std::nullopt;
}

/// Words that are ordinary names in Metal and mean something else in OpenCL.
bool is_opencl_word(std::string_view word) {
  for (const std::string_view name :
       {"global", "local", "generic", "pipe", "read_only", "write_only", "read_write", "event_t", "queue_t",
        "atomic_int", "atomic_uint", "atomic_float", "atomic_ulong", "memory_order", "memory_order_relaxed",
        "vec_step", "as_type"})
    if (word == name) return true;
  return false;
}

/// Whether token i is the type in a cast `(float4)x`.
bool is_vector_cast(const Unit& unit, size_t i) {
  if (i < 2 || !is_vector_type(unit.tokens[i].text)) return false;
  const Token& before = unit.tokens[i - 2];
  const bool operand_expected =
      before.is("return") || (before.kind == TokenKind::sign && !before.is(")") && !before.is("]"));
  return unit.tokens[i - 1].is("(") && unit.tokens[i + 1].is(")") && operand_expected;
}

/// Whether token i is `vec` in `vec<T, 4>(...)`.
bool is_vec_constructor(const Unit& unit, size_t i) {
  if (!unit.tokens[i].is("vec") || !unit.tokens[i + 1].is("<")) return false;
  int depth = 0;
  for (size_t k = i + 1; unit.tokens[k].kind != TokenKind::end && !unit.tokens[k].is(";"); ++k) {
    depth += unit.tokens[k].is("<") ? 1 : unit.tokens[k].is(">") ? -1 : 0;
    if (depth == 0) return unit.tokens[k + 1].is("(");
  }
  return false;
}

/// Whether token i opens the arguments of a variable `float4 v(a, b)`, and not the parameters of a function.
bool initialises_vector(const Unit& unit, size_t i) {
  if (i < 2 || !unit.tokens[i].is("(") || unit.tokens[i - 1].kind != TokenKind::word) return false;
  if (!vector_type(unit, unit.tokens[i - 2].text)) return false;
  const Token &first = unit.tokens[i + 1], &second = unit.tokens[i + 2];
  if (first.is(")")) return false;
  const bool names_type =
      first.kind == TokenKind::word &&
      (second.kind == TokenKind::word || second.is("*") || second.is("&") || second.is("<"));
  return !names_type;
}

}  // namespace

std::optional<std::string> lint_word(const Unit& unit, size_t i) {
  const Token& token = unit.tokens[i];
  // A cast between vectors becomes an operator of nearly the same precedence: (float4)h is
  // (cast_to<float4>())->*h.
  if (is_vector_cast(unit, i)) return "metalsim::cast_to<" + std::string(token.text) + ">()";
  if (token.is(")") && i > 2 && is_vector_cast(unit, i - 1)) return ")->*";
  if (token.is("device")) return "__global";
  if (token.is("constant")) return "__constant";
  if (token.is("threadgroup")) return "__local";
  if (token.is("thread")) return "__private";
  if (token.is("kernel")) return std::string();
  if (is_opencl_word(token.text)) return "msl_" + std::string(token.text);
  if (initialises_vector(unit, i)) return " = make_" + *vector_type(unit, unit.tokens[i - 2].text) + "(";
  if (is_vec_constructor(unit, i)) return "make_vec";
  // float4(a, b) is a call there: the language's vectors have no constructors of several arguments.
  const bool member = i > 0 && (unit.tokens[i - 1].is(".") || unit.tokens[i - 1].is("->"));
  if (token.kind == TokenKind::word && unit.tokens[i + 1].is("(") && !member)
    if (const auto type = vector_type(unit, token.text)) return "make_" + *type;
  return std::nullopt;
}

}  // namespace metalsim::mslgen
