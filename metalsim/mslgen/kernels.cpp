#include "attributes.h"
#include "reader.h"

namespace metalsim::mslgen {

/// Reads a kernel's parameters (open and close: their parentheses) into `out` and adds it to the unit.
void Reader::kernel(const Head& head, size_t open, size_t close, const std::string& scope, Kernel& out) {
  size_t name = head.name;
  out.name = std::string(at(name).text);
  out.name_token = at(name);
  out.host_name = scope + out.name;
  out.is_template = head.template_parameters.end != 0;
  for (const Range& parameter : split(head.template_parameters)) {
    size_t last = parameter.begin;
    for (size_t i = parameter.begin; i < parameter.end && !at(i).is("="); ++i) last = i;
    out.template_parameters.push_back(std::string(at(last).text));
  }
  out.is_specialization = head.name_has_arguments;
  if (const Attribute* host_name = find(head.attributes, "host_name")) out.host_name = unquoted(*host_name);
  if (const Attribute* limit = find(head.attributes, "max_total_threads_per_threadgroup")) {
    out.max_threads = unit_.text(limit->arguments);
    for (size_t i = limit->arguments.begin; i < limit->arguments.end; ++i)
      out.max_threads_words.push_back(std::string(at(i).text));
  }

  bool returns_void = false;
  for (size_t i = head.begin; i < name; ++i) returns_void |= at(i).is("void");
  if (!returns_void) unit_.fail(name, "kernel `" + out.name + "` must return void");

  for (const Range& range : split({open + 1, close})) {
    const bool none = range.end == range.begin + 1 && at(range.begin).is("void");
    if (!none) out.parameters.push_back(parameter(range, out.name));
  }
  if (!out.has_body || out.is_specialization) return;
  for (const Kernel& other : unit_.kernels)
    if (other.name == out.name && other.host_name == out.host_name)
      unit_.fail(name, "kernel `" + out.name + "` is defined twice");
  unit_.kernels.push_back(out);
}

Parameter Reader::parameter(Range range, const std::string& kernel_name) {
  Parameter parameter;
  size_t name = range.begin;
  std::vector<Attribute> attributes;
  for (size_t i = range.begin; i < range.end;) {
    if (attribute_begins(i)) {
      i = read_attributes(i, attributes);
      continue;
    }
    if (at(i).kind == TokenKind::word) name = i;
    ++i;
  }
  for (const Attribute& attribute : attributes) {
    const AttributeUse use = use_of_attribute(attribute.name);
    if (use == AttributeUse::constant) parameter.conditional = true;
    if (use != AttributeUse::binding && use != AttributeUse::position) continue;
    if (!parameter.attribute.empty())
      unit_.fail(attribute.token, "parameter `" + std::string(at(name).text) + "` has both [[" +
                                      parameter.attribute + "]] and [[" + attribute.name + "]]");
    parameter.attribute = attribute.name;
    parameter.index = unit_.text(attribute.arguments);
    if (use == AttributeUse::binding && parameter.index.empty())
      unit_.fail(attribute.token, "[[" + attribute.name + "]] needs an index");
  }
  if (parameter.attribute.empty())
    unit_.fail(name, "parameter `" + std::string(at(name).text) + "` of kernel `" + kernel_name +
                         "` has no attribute that says where its value comes from, such as [[buffer(0)]]");
  return parameter;
}

/// The function as an expression that holds in its own body, also where a local variable has its name.
std::string Reader::function_text(const Head& head, const std::string& scope) const {
  std::string text = "::" + scope + std::string(at(head.name).text);
  if (head.name_has_arguments) return text + unit_.text({head.name + 1, match_angles(head.name + 1) + 1});
  std::string arguments;
  for (const Range& parameter : split(head.template_parameters)) {
    size_t name = parameter.begin;
    bool pack = false;
    for (size_t i = parameter.begin; i < parameter.end && !at(i).is("="); ++i) {
      if (at(i).kind == TokenKind::word) name = i;
      pack |= at(i).is(".") || at(i).is("...");
    }
    arguments += (arguments.empty() ? "" : ",") + std::string(at(name).text) + (pack ? "..." : "");
  }
  return arguments.empty() ? text : text + "<" + arguments + ">";
}

/// Looks through the body of a function or type for declarations that Metal treats specially. `kernel`: whose
/// body it is, and `function` how it is named there; null for other functions.
void Reader::body(Range range, const Kernel* kernel, const std::string& function) {
  for (size_t i = range.begin; i < range.end;) {
    if (attribute_begins(i)) {
      std::vector<Attribute> attributes;
      i = read_attributes(i, attributes);
    } else if (at(i).is("threadgroup")) {
      i = threadgroup_declaration(i, range.end, kernel, function);
    } else {
      ++i;
    }
  }
}

/// At the word `threadgroup` in a body: records the variables if it declares some, and passes over a pointer,
/// reference, cast or template argument.
size_t Reader::threadgroup_declaration(size_t i, size_t end, const Kernel* kernel,
                                       const std::string& function) {
  const size_t begin = i;
  size_t name = 0, type_end = i + 1;
  for (++i; i < end; ++i) {  // words of the type; the last one is the name if this is a variable
    if (at(i).is("::")) continue;
    if (at(i).is("<")) {
      i = match_angles(i);
      name = 0;
    } else if (at(i).kind == TokenKind::word) {
      type_end = i;
      name = i;
    } else {
      break;
    }
  }
  const bool pointer =
      at(i).is("*") || at(i).is("&") || at(i).is("(") || at(i).is(">") || at(i).is(",") || at(i).is(")");
  if (pointer && !(name && at(i).is(",") && type_end > begin + 1)) return begin + 1;
  if (name == 0) unit_.fail(begin, "expected the name of a threadgroup variable");

  const Token& before = at(begin - 1);
  const bool statement_begins =
      before.is(";") || before.is("{") || before.is("}") || before.is(")") || before.is(":");
  if (!statement_begins) {
    if (at(i).is(",")) return begin + 1;  // an argument of a template or function
    unit_.fail(begin, "a threadgroup variable is declared by a statement that begins with `threadgroup`");
  }
  if (!kernel)
    unit_.fail(begin,
               "a threadgroup variable can be declared in a kernel only; pass its address to this function");

  ThreadgroupStatement statement;
  statement.kernel = kernel->name;
  statement.function = function;
  for (;; ++i) {
    std::string bounds;
    for (i = name + 1; at(i).is("["); i = match(i) + 1) bounds += unit_.text({i, match(i) + 1});
    if (at(i).is("=") || at(i).is("{"))
      unit_.fail(i, "threadgroup variable `" + std::string(at(name).text) + "` cannot be initialised");
    statement.variables.push_back({{begin + 1, type_end}, std::string(at(name).text), bounds});
    if (!at(i).is(",")) break;
    name = i + 1;
    if (at(name).kind != TokenKind::word)
      unit_.fail(name, "threadgroup variables and pointers are declared in statements of their own");
  }
  if (!at(i).is(";"))
    unit_.fail(i, "expected `;` after threadgroup variable `" + statement.variables.back().name + "`");
  statement.tokens = {begin, i + 1};
  unit_.threadgroup_statements.push_back(statement);
  return i + 1;
}

}  // namespace metalsim::mslgen
