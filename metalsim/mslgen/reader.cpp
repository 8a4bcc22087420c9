#include "reader.h"

#include <algorithm>

#include "attributes.h"

namespace metalsim::mslgen {
namespace {

constexpr std::string_view tests_constant = "is_function_constant_defined";

/// The word that stands for a test of this function constant; no identifier is spelled so.
std::string test_of(const std::string& constant) {
  return std::string(tests_constant) + "(" + constant + ")";
}

}  // namespace

std::string Unit::text(Range range) const {
  std::string joined;
  for (size_t i = range.begin; i < range.end; ++i) {
    const bool words = !joined.empty() && is_word(joined.back()) && is_word(tokens[i].text.front());
    const bool operators = !joined.empty() && joined.back() == tokens[i].text.front() &&
                           tokens[i].kind == TokenKind::sign && tokens[i - 1].end != tokens[i].begin;
    if (words || operators) joined += ' ';
    joined += tokens[i].text;
  }
  return joined;
}

void Unit::fail(size_t token, const std::string& message) const {
  throw SourceError(source.place(tokens[token].begin, tokens[token].end), message);
}

Unit read_unit(const Source& source) {
  Unit unit{source, lex(source), {}, {}, {}, {}, {}, {}, {}};
  Reader(unit).run();
  return unit;
}

void Reader::run() {
  const size_t end = tokens_.size() - 1;
  refuse({0, end});
  collect_aliases({0, end});
  declarations(0, end, "");
  check_address_spaces({0, end});
}

/// Index of the bracket that closes the one at `open`.
size_t Reader::match(size_t open) const {
  std::vector<char> expected;
  for (size_t i = open; at(i).kind != TokenKind::end; ++i) {
    if (at(i).kind != TokenKind::sign) continue;
    const char c = at(i).text.front();
    if (c == '(' || c == '[' || c == '{') {
      expected.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (c == ')' || c == ']' || c == '}') {
      if (c != expected.back())
        unit_.fail(i, std::string("unexpected `") + c + "`, `" + expected.back() + "` is open");
      expected.pop_back();
      if (expected.empty()) return i;
    }
  }
  unit_.fail(open, "`" + std::string(at(open).text) + "` is never closed");
}

/// Index of the `>` that closes the `<` at `open`; `open` itself if it is not a template argument list.
size_t Reader::match_angles(size_t open) const {
  int depth = 0;
  for (size_t i = open; at(i).kind != TokenKind::end; ++i) {
    if (at(i).is("<")) ++depth;
    if (at(i).is(">") && --depth == 0) return i;
    if (at(i).is("(") || at(i).is("[")) i = match(i);
    if (at(i).is(";") || at(i).is("{") || at(i).is("}") || at(i).is(")")) break;
  }
  return open;
}

/// Index of the next `sign` outside brackets, from `i`.
size_t Reader::skip_to(std::string_view sign, size_t i) const {
  for (; at(i).kind != TokenKind::end && !at(i).is(sign); ++i)
    if (at(i).is("(") || at(i).is("[") || at(i).is("{")) i = match(i);
  if (at(i).kind == TokenKind::end)
    unit_.fail(i, "the file ends where `" + std::string(sign) + "` is expected");
  return i;
}

bool Reader::attribute_begins(size_t i) const {
  return at(i).is("[") && at(i + 1).is("[") && at(i).end == at(i + 1).begin;
}

/// Reads `[[a, b(1)]]` at `i` and returns the index after it. Metal's own attributes are marked for removal.
size_t Reader::read_attributes(size_t i, std::vector<Attribute>& out) {
  const size_t end = match(i);  // the outer bracket
  bool metals_own = true;
  for (size_t k = i + 2; k + 1 < end; ++k) {
    if (at(k).is(",")) continue;
    if (at(k).is("metal") && at(k + 1).is("::")) k += 2;
    Attribute attribute{std::string(at(k).text), k, {}};
    switch (use_of_attribute(attribute.name)) {
      case AttributeUse::unknown:
        unit_.fail(k, "unknown attribute [[" + attribute.name + "]]");
      case AttributeUse::unsupported:
        unit_.fail(
            k,
            "attribute [[" + attribute.name +
                "]] is not supported: metalsim runs compute kernels on buffers, without textures, argument "
                "buffers, function tables or graphics");
      case AttributeUse::standard:
        metals_own = false;
        while (at(k + 1).is("::")) k += 2;
        break;
      default:
        break;
    }
    if (at(k + 1).is("(")) {
      const size_t close = match(k + 1);
      attribute.arguments = {k + 2, close};
      k = close;
    }
    out.push_back(attribute);
  }
  if (metals_own) unit_.attributes.push_back({i, end + 1});
  return end + 1;
}

const Attribute* Reader::find(const std::vector<Attribute>& attributes, std::string_view name) const {
  for (const Attribute& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

/// The string of [[host_name("...")]]; adjacent literals are joined.
std::string Reader::unquoted(const Attribute& attribute) const {
  std::string value;
  for (size_t i = attribute.arguments.begin; i < attribute.arguments.end; ++i) {
    if (at(i).kind != TokenKind::text || at(i).text.front() != '"')
      unit_.fail(i, "[[" + attribute.name + "]] needs a string");
    value += at(i).text.substr(1, at(i).text.size() - 2);
  }
  if (value.empty()) unit_.fail(attribute.token, "[[" + attribute.name + "]] needs a name in quotes");
  return value;
}

/// The parts of a list between commas that stand outside brackets of any kind.
std::vector<Range> Reader::split(Range list) const {
  std::vector<Range> parts;
  size_t first = list.begin;
  int angles = 0;
  for (size_t i = first; i < list.end; ++i) {
    if (at(i).is("(") || at(i).is("[") || at(i).is("{")) i = match(i);
    angles += at(i).is("<") ? 1 : at(i).is(">") ? -1 : 0;
    if (!at(i).is(",") || angles != 0) continue;
    parts.push_back({first, i});
    first = i + 1;
  }
  if (first < list.end) parts.push_back({first, list.end});
  return parts;
}

void Reader::collect_words(const std::string& name, Range range) {
  std::set<std::string>& words = unit_.words_of[name];
  for (size_t i = range.begin; i < range.end; ++i) {
    if (at(i).kind != TokenKind::word) continue;
    const bool tests = at(i).is(tests_constant) && at(i + 1).is("(") && at(i + 2).kind == TokenKind::word;
    words.insert(tests ? test_of(std::string(at(i + 2).text)) : std::string(at(i).text));
    if (tests) i += 2;
  }
}

/// `using name = type;` and `typedef type name;`, wherever they stand.
void Reader::collect_aliases(Range range) {
  for (size_t i = range.begin; i < range.end; ++i) {
    if (!at(i).is("using") && !at(i).is("typedef")) continue;
    const bool named_first = at(i).is("using");
    if (named_first && !at(i + 2).is("=")) continue;
    const size_t semicolon = skip_to(";", i);
    Range type = named_first ? Range{i + 3, semicolon} : Range{i + 1, semicolon - 1};
    if (at(type.begin).is("metal") && at(type.begin + 1).is("::")) type.begin += 2;
    const size_t name = named_first ? i + 1 : semicolon - 1;
    if (at(name).kind == TokenKind::word) unit_.aliases[std::string(at(name).text)] = unit_.text(type);
  }
}

std::set<std::string> words_within_reach(const Unit& unit, const std::string& name) {
  std::set<std::string> seen{name};
  std::vector<std::string> open{name};
  while (!open.empty()) {
    const auto found = unit.words_of.find(open.back());
    open.pop_back();
    if (found == unit.words_of.end()) continue;
    for (const std::string& word : found->second)
      if (seen.insert(word).second) open.push_back(word);
  }
  return seen;
}

bool may_wait(const Unit& unit, const std::string& name) {
  for (const ThreadgroupStatement& statement : unit.threadgroup_statements)
    if (statement.kernel == name) return true;
  const std::set<std::string> words = words_within_reach(unit, name);
  return std::any_of(words.begin(), words.end(), is_waiting_function);
}

std::set<std::string> required_constants(const Unit& unit, const std::string& kernel) {
  const std::set<std::string> words = words_within_reach(unit, kernel);
  std::set<std::string> required;
  for (const LateConstant& constant : unit.late_constants)
    if (!constant.index.empty() && words.count(constant.name) && !words.count(test_of(constant.name)))
      required.insert(constant.name);
  return required;
}

}  // namespace metalsim::mslgen
