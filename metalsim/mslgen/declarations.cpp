#include "attributes.h"
#include "reader.h"

namespace metalsim::mslgen {
namespace {

bool is_any(const Token& token, std::initializer_list<std::string_view> spellings) {
  for (const std::string_view spelling : spellings)
    if (token.is(spelling)) return true;
  return false;
}

}  // namespace

/// Reads the declarations among the tokens [begin, end) of one namespace.
void Reader::declarations(size_t begin, size_t end, const std::string& scope) {
  for (size_t i = begin; i < end;) {
    if (at(i).is(";")) {
      ++i;
    } else if (at(i).is("namespace") || (at(i).is("inline") && at(i + 1).is("namespace"))) {
      i = namespace_declaration(i, scope);
    } else if (at(i).is("extern") && at(i + 1).kind == TokenKind::text && at(i + 2).is("{")) {
      const size_t close = match(i + 2);
      declarations(i + 3, close, scope);
      i = close + 1;
    } else if (is_any(at(i), {"using", "typedef", "static_assert"})) {
      const size_t semicolon = skip_to(";", i);
      const size_t name = at(i).is("using") ? i + 1 : semicolon - 1;
      if (!at(i).is("static_assert") && at(name).kind == TokenKind::word && !at(name).is("namespace"))
        collect_words(std::string(at(name).text), {i + 1, semicolon});
      i = semicolon + 1;
    } else if (at(i).is("template")) {
      i = template_declaration(i, end, scope);
    } else {
      i = declaration(i, end, {}, scope);
    }
  }
}

size_t Reader::namespace_declaration(size_t i, const std::string& scope) {
  std::string inner = scope;
  for (; !at(i).is("{"); ++i) {
    if (at(i).is(";")) return i + 1;  // an alias
    if (at(i).kind == TokenKind::end) unit_.fail(i, "the file ends inside a namespace declaration");
    if (at(i).kind == TokenKind::word && !is_any(at(i), {"namespace", "inline"}))
      inner += std::string(at(i).text) + "::";
  }
  const size_t close = match(i);
  declarations(i + 1, close, inner);
  return close + 1;
}

size_t Reader::template_declaration(size_t i, size_t end, const std::string& scope) {
  if (!at(i + 1).is("<")) return explicit_instantiation(i);
  Range parameters;
  while (at(i).is("template") && at(i + 1).is("<")) {
    const size_t close = match_angles(i + 1);
    if (close == i + 1) unit_.fail(i, "template parameters without closing `>`");
    parameters = {i + 2, close};
    i = close + 1;
  }
  if (at(i).is("using")) return skip_to(";", i) + 1;
  return declaration(i, end, parameters, scope);
}

/// `template [[host_name("x")]] [[kernel]] decltype(f<float>) f<float>;` or with the whole signature.
size_t Reader::explicit_instantiation(size_t i) {
  const size_t begin = i;
  const size_t semicolon = skip_to(";", i);
  std::vector<Attribute> attributes;
  bool is_kernel = false;
  for (++i; i < semicolon;) {
    if (attribute_begins(i)) {
      i = read_attributes(i, attributes);
      continue;
    }
    if (at(i).is("kernel")) is_kernel = true;
    if (at(i).is("(")) {  // decltype(...) or the parameters; their attributes repeat the template's
      const size_t close = match(i);
      for (size_t k = i; k < close;) {
        std::vector<Attribute> repeated;
        k = attribute_begins(k) ? read_attributes(k, repeated) : k + 1;
      }
      i = close;
    }
    ++i;
  }
  const Attribute* const host_name = find(attributes, "host_name");
  if (!is_kernel && !find(attributes, "kernel")) {
    if (host_name) unit_.fail(begin, "an instantiation with [[host_name]] must say `kernel`");
    return semicolon + 1;  // an ordinary explicit instantiation
  }
  if (!host_name) unit_.fail(begin, "an instantiation of a kernel needs [[host_name(\"...\")]]");

  size_t last = semicolon - 1;  // of the template arguments
  if (at(last).is(")")) {
    int depth = 0;
    do {
      depth += at(last).is(")") ? 1 : at(last).is("(") ? -1 : 0;
      --last;
    } while (depth > 0 && last > begin);
  }
  if (!at(last).is(">")) unit_.fail(last, "expected `function<arguments>` in the instantiation of a kernel");
  size_t first = last;
  for (int depth = 0; first > begin; --first) {
    depth += at(first).is(">") ? 1 : at(first).is("<") ? -1 : 0;
    if (depth == 0) break;
  }
  --first;
  if (at(first).kind != TokenKind::word)
    unit_.fail(first, "expected a function name in the instantiation of a kernel");

  Instantiation instantiation;
  instantiation.host_name = unquoted(*host_name);
  instantiation.function = unit_.text({first, last + 1});
  instantiation.base = std::string(at(first).text);
  for (const Range& argument : split({first + 2, last}))
    instantiation.arguments.push_back(unit_.text(argument));
  instantiation.tokens = {begin, semicolon + 1};
  instantiation.name_token = at(host_name->arguments.begin);
  if (const Attribute* limit = find(attributes, "max_total_threads_per_threadgroup"))
    instantiation.max_threads = unit_.text(limit->arguments);
  while (first > begin + 1 && at(first - 1).is("::") && at(first - 2).kind == TokenKind::word) {
    first -= 2;
    instantiation.function = std::string(at(first).text) + "::" + instantiation.function;
  }
  unit_.instantiations.push_back(instantiation);
  return semicolon + 1;
}

/// One declaration that is none of the above. Returns the index after it.
size_t Reader::declaration(size_t i, size_t end, const Range& template_parameters, const std::string& scope) {
  Head head;
  head.begin = i;
  head.template_parameters = template_parameters;
  while (i < end) {
    const Token& token = at(i);
    if (attribute_begins(i)) {
      i = read_attributes(i, head.attributes);
    } else if (is_any(token, {"decltype", "alignas", "__attribute__", "noexcept", "__declspec"}) &&
               at(i + 1).is("(")) {
      i = match(i + 1) + 1;
    } else if (is_any(token, {"struct", "class", "union", "enum"})) {
      head.names_type = true;
      i = type_definition(i);
    } else if (token.is("operator")) {
      head.name = i;
      i = at(i + 1).is("(") ? i + 3 : i + 1;
      while (!at(i).is("(")) ++i;
      return function(head, i, scope);
    } else if (token.is("(")) {
      if (find(head.attributes, "kernel")) head.is_kernel = true;
      return function(head, i, scope);
    } else if (token.is("=") || token.is(";") || token.is("{")) {
      return variable(head, i);
    } else if (token.is("[")) {
      i = match(i) + 1;
    } else if (token.is("<") && i > 0 && at(i - 1).kind == TokenKind::word) {
      head.name_has_arguments = true;
      i = match_angles(i) + 1;
    } else {
      if (token.kind == TokenKind::word) {
        head.is_kernel |= token.is("kernel");
        head.is_constant |= token.is("constant");
        head.name = i;
        head.name_has_arguments = false;
        ++head.words;
      }
      ++i;
    }
  }
  unit_.fail(head.begin, "declaration without end");
}

/// `struct X { ... }` up to its closing brace, or `struct X` alone where it only names the type.
size_t Reader::type_definition(size_t i) {
  size_t open = i;
  while (!is_any(at(open), {"{", ";", "(", "=", ")"}) && at(open).kind != TokenKind::end) {
    if (attribute_begins(open)) {
      std::vector<Attribute> ignored;
      open = read_attributes(open, ignored);
    } else {
      ++open;
    }
  }
  if (!at(open).is("{")) return i + 1;
  const size_t close = match(open);
  body({open + 1, close}, nullptr, {});
  collect_words(std::string(at(i + 1).text), {i, close});
  return close + 1;
}

/// A function from the parenthesis of its parameters on, or a variable initialised in parentheses.
size_t Reader::function(const Head& head, size_t open, const std::string& scope) {
  const size_t close = match(open);
  size_t i = close + 1;
  Kernel kernel_found;
  std::vector<Attribute> trailing;
  while (!is_any(at(i), {"{", ";", "="})) {
    if (at(i).kind == TokenKind::end) unit_.fail(head.name, "function without body or semicolon");
    if (attribute_begins(i)) {
      i = read_attributes(i, trailing);
    } else {
      i = at(i).is("(") ? match(i) + 1 : i + 1;
    }
  }
  Head whole = head;
  whole.attributes.insert(whole.attributes.end(), trailing.begin(), trailing.end());
  if (head.is_constant && !head.is_kernel && at(i).is(";")) return variable(whole, i);

  check_parameter_spaces({open + 1, close});
  const bool has_body = at(i).is("{");
  const size_t last = has_body ? match(i) : skip_to(";", i);
  collect_words(std::string(at(head.name).text), {head.begin, last});
  if (head.is_kernel) {
    kernel_found.has_body = has_body;
    kernel_found.last_token = last;
    kernel(whole, open, close, scope, kernel_found);
  }
  if (has_body) body({i + 1, last}, head.is_kernel ? &kernel_found : nullptr, function_text(head, scope));
  return last + 1;
}

/// A variable, or the end of a type definition, from its `=`, `{` or `;` on.
size_t Reader::variable(const Head& head, size_t i) {
  const size_t semicolon = skip_to(";", i);
  const bool only_a_type = head.names_type && head.words == 0;
  if (only_a_type) return semicolon + 1;
  const bool friend_or_forward = head.names_type && at(i).is(";") && head.words <= 1;
  if (!head.is_constant && !friend_or_forward && head.words > 0)
    unit_.fail(head.name, "program-scope variable `" + std::string(at(head.name).text) +
                              "` must be in the constant address space");
  if (!head.is_constant) return semicolon + 1;

  const Attribute* const function_constant = find(head.attributes, "function_constant");
  Range initializer;
  if (at(i).is("=")) initializer = {i + 1, semicolon};
  bool computed = false;
  for (size_t k = initializer.begin; k < initializer.end; ++k) {
    computed |= at(k).is("is_function_constant_defined");
    for (const LateConstant& other : unit_.late_constants) computed |= at(k).is(other.name);
  }
  if (function_constant || computed)
    late_constant(head, {head.begin, semicolon + 1}, function_constant, initializer);
  return semicolon + 1;
}

void Reader::late_constant(const Head& head, Range tokens, const Attribute* function_constant,
                           Range initializer) {
  LateConstant constant;
  constant.name = std::string(at(head.name).text);
  constant.name_token = head.name;
  constant.tokens = tokens;
  constant.initializer = initializer;
  const auto one_by_one = [&](size_t i) {
    unit_.fail(
        i, "function constants, and what is computed from them, are declared one by one and are no arrays");
  };
  for (size_t i = tokens.begin; i < head.name; ++i) {
    if (at(i).is(",")) one_by_one(i);
    if (attribute_begins(i)) {
      i = match(i);
    } else if (!is_any(at(i), {"constant", "static", "const", "constexpr", "extern", "inline"})) {
      const bool apart = !constant.type.empty() && is_word(at(i).text.front());
      constant.type += (apart ? " " : "") + std::string(at(i).text);
    }
  }
  if (function_constant) {
    constant.index = unit_.text(function_constant->arguments);
    if (constant.index.empty()) unit_.fail(function_constant->token, "[[function_constant]] needs an index");
    const size_t colons = constant.type.rfind("::");
    const std::string type = colons == std::string::npos ? constant.type : constant.type.substr(colons + 2);
    if (!is_constant_type(type))
      unit_.fail(head.name, "function constant `" + constant.name + "` has type `" + constant.type +
                                "`; scalars and vectors of up to 16 bytes can be function constants");
    if (initializer.end != 0)
      unit_.fail(initializer.begin, "a function constant cannot be initialised; the host sets it");
  }
  collect_words(constant.name, initializer);
  for (size_t i = head.name + 1; i + 1 < tokens.end; ++i) {
    if (at(i).is("=")) break;
    if (attribute_begins(i)) {
      i = match(i);
      continue;
    }
    one_by_one(i);
  }
  for (const LateConstant& other : unit_.late_constants) {
    if (other.name == constant.name) unit_.fail(head.name, "`" + constant.name + "` is declared twice");
    if (!constant.index.empty() && other.index == constant.index)
      unit_.fail(head.name, "function constants `" + other.name + "` and `" + constant.name +
                                "` have the same index " + constant.index);
  }
  if (function_constant && ++function_constants_ > max_constants)
    unit_.fail(head.name, "more than " + std::to_string(max_constants) + " function constants in one source");
  unit_.late_constants.push_back(constant);
}

}  // namespace metalsim::mslgen
