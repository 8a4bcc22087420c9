#include <algorithm>
#include <sstream>

#include "unit.h"

namespace metalsim::mslgen {
namespace {

/// A string as a C++ literal.
std::string quoted(const std::string& value) {
  std::string literal = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "\"";
}

/// Replaces pieces of the source in place. Line breaks inside a replaced piece stay, so that line numbers
/// hold.
class Rewriter {
 public:
  explicit Rewriter(const Unit& unit) : unit_(unit) {}

  void replace(size_t begin, size_t end, const std::string& by) {
    edits_.push_back({begin, end, by, edits_.size()});
  }
  void replace(const Token& token, const std::string& by) { replace(token.begin, token.end, by); }
  void replace(Range range, const std::string& by) {
    replace(unit_.tokens[range.begin].begin, unit_.tokens[range.end - 1].end, by);
  }
  void insert_after(const Token& token, const std::string& what) { replace(token.end, token.end, what); }

  std::string result() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    const std::string& text = unit_.source.text();
    std::string out;
    size_t at = 0;
    for (const Edit& edit : edits_) {
      if (edit.begin < at) continue;  // inside a piece that is replaced as a whole
      out.append(text, at, edit.begin - at);
      out += edit.by;
      for (size_t i = edit.begin; i < edit.end; ++i)
        if (text[i] == '\n') out += '\n';
      at = edit.end;
    }
    out.append(text, at, std::string::npos);
    return out;
  }

 private:
  struct Edit {
    size_t begin, end;
    std::string by;
    size_t order;
  };
  const Unit& unit_;
  std::vector<Edit> edits_;
};

class Writer {
 public:
  Writer(const Unit& unit, const std::string& library) : unit_(unit), library_(library), rewriter_(unit) {}

  std::string run() {
    for (const Range& attribute : unit_.attributes) rewriter_.replace(attribute, "");
    late_constants();
    threadgroup_variables();
    registrations();
    words_and_numbers();
    std::ostringstream out;
    out << "#include <metal_stdlib>\n"
        << "METALSIM_UNIT(" << quoted(library_) << ", " << quoted(unit_.source.main_file()) << ")\n"
        << constant_registrations_ << rewriter_.result() << "\n";
    return out.str();
  }

 private:
  /// Function constants become functions: their value is known when a dispatch runs.
  void late_constants() {
    int slot = 0;
    for (const LateConstant& constant : unit_.late_constants) {
      std::string body;
      if (constant.index.empty()) {
        body = expression(constant.initializer);
      } else {
        const std::string number = std::to_string(slot++);
        body = "metalsim::function_constant<" + constant.type + ", " + number + ">()";
        constant_registrations_ += "METALSIM_FUNCTION_CONSTANT(" + number + ", " + constant.name + ", " +
                                   constant.type + ", " + constant.index + ")\n";
        slots_[constant.name] = number;
      }
      rewriter_.replace(constant.tokens, "static inline " + constant.type + " " + constant.name +
                                             "() { return " + body + "; }");
      functions_.insert(constant.name);
    }
  }

  void threadgroup_variables() {
    int id = 0;
    for (const ThreadgroupStatement& statement : unit_.threadgroup_statements) {
      std::string text;
      for (const ThreadgroupVariable& variable : statement.variables)
        text += "auto& " + variable.name + " = metalsim::threadgroup_variable<" + variable.type + ">(" +
                std::to_string(id++) + "); ";
      rewriter_.replace(statement.tokens, text);
    }
  }

  /// Each kernel is registered right after its definition, and an instantiation where it stands: names in
  /// template arguments and indices then mean what they mean there.
  void registrations() {
    std::map<std::string, const Token*> host_names;
    const auto claim = [&](const std::string& name, const Token& token) {
      if (!host_names.emplace(name, &token).second)
        throw SourceError(unit_.source.place(token.begin, token.end),
                          "two kernels have the host name \"" + name + "\"");
    };
    int id = 0;
    for (const Kernel& kernel : unit_.kernels) {
      if (kernel.is_template) continue;
      claim(kernel.host_name, kernel.name_token);
      rewriter_.insert_after(
          unit_.tokens[kernel.last_token],
          " " + registration(id++, kernel.host_name, kernel.max_threads, kernel.name, kernel));
    }
    for (const Instantiation& instantiation : unit_.instantiations) {
      const auto kernel =
          std::find_if(unit_.kernels.begin(), unit_.kernels.end(), [&](const Kernel& candidate) {
            return candidate.name == instantiation.base && candidate.is_template;
          });
      const Token& token = instantiation.name_token;
      if (kernel == unit_.kernels.end())
        throw SourceError(unit_.source.place(token.begin, token.end),
                          "no kernel template `" + instantiation.base + "` to instantiate");
      claim(instantiation.host_name, token);
      const std::string limit =
          instantiation.max_threads.empty() ? substituted(*kernel, instantiation) : instantiation.max_threads;
      rewriter_.replace(instantiation.tokens,
                        registration(id++, instantiation.host_name, limit, instantiation.function, *kernel));
    }
  }

  /// The template's thread limit with its parameters replaced by the instantiation's arguments.
  static std::string substituted(const Kernel& kernel, const Instantiation& instantiation) {
    std::string text;
    for (const std::string& word : kernel.max_threads_words) {
      const auto& names = kernel.template_parameters;
      const size_t index = size_t(std::find(names.begin(), names.end(), word) - names.begin());
      text += index < instantiation.arguments.size() ? "(" + instantiation.arguments[index] + ")" : word;
      text += ' ';
    }
    return text;
  }

  std::string registration(int id, const std::string& host_name, const std::string& max_threads,
                           const std::string& function, const Kernel& kernel) const {
    std::string text =
        "METALSIM_KERNEL(" + std::to_string(id) + ", " + quoted(host_name) + ", " +
        (max_threads.empty() ? "1024" : "(" + max_threads + ")") + ", " +
        (may_wait(unit_, kernel.name) || !unit_.threadgroup_statements.empty() ? "true" : "false") + ", (" +
        function + ")";
    for (const Parameter& parameter : kernel.parameters) {
      text += ", metalsim::encode(metalsim::Attribute::" + parameter.attribute;
      if (!parameter.index.empty()) text += ", (" + parameter.index + ")";
      if (parameter.conditional) text += parameter.index.empty() ? ", 0, true" : ", true";
      text += ")";
    }
    return text + ")";
  }

  /// Address spaces and `kernel` vanish, `constant` is const, uses of function constants become calls, and
  /// literals get the types that they have in Metal.
  void words_and_numbers() {
    for (size_t i = 0; i < unit_.tokens.size(); ++i)
      if (const auto by = replacement(i)) rewriter_.replace(unit_.tokens[i], *by);
  }

  /// The text of tokens with those replacements made.
  std::string expression(Range range) const {
    std::string text;
    for (size_t i = range.begin; i < range.end; ++i)
      text += replacement(i).value_or(std::string(unit_.tokens[i].text)) + " ";
    return text;
  }

  std::optional<std::string> replacement(size_t i) const {
    const Token& token = unit_.tokens[i];
    if (token.kind == TokenKind::number) return number(token.text);
    if (token.kind != TokenKind::word) return std::nullopt;
    for (const std::string_view word : {"device", "threadgroup", "thread", "kernel"})
      if (token.text == word) return std::string(word.size(), ' ');
    if (token.text == "constant") return "const   ";
    return constant_use(i);
  }

  std::optional<std::string> constant_use(size_t i) const {
    const auto tokens = [&](size_t k) -> const Token& { return unit_.tokens[k]; };
    if (tokens(i).is("is_function_constant_defined") && tokens(i + 1).is("(")) {
      const auto slot = slots_.find(std::string(tokens(i + 2).text));
      if (slot == slots_.end() || !tokens(i + 3).is(")"))
        throw SourceError(unit_.source.place(tokens(i).begin, tokens(i).end),
                          "is_function_constant_defined needs the name of a function constant");
      return "metalsim::function_constant_defined<" + slot->second + ">";
    }
    if (!functions_.count(std::string(tokens(i).text))) return std::nullopt;
    if (i > 0 && (tokens(i - 1).is(".") || tokens(i - 1).is("->"))) return std::nullopt;
    const bool asked_for = i > 1 && tokens(i - 1).is("(") && tokens(i - 2).is("is_function_constant_defined");
    return asked_for ? std::string() : std::string(tokens(i).text) + "()";
  }

  /// A floating-point literal without suffix is a float in Metal; `h` makes a half and `bf` a bfloat.
  static std::optional<std::string> number(std::string_view text) {
    const bool hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
    const bool has_exponent = text.find_first_of(hexadecimal ? "pP" : "eE") != text.npos;
    const auto ends = [&](std::string_view suffix) {
      return text.size() > suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
    };
    if (hexadecimal && !has_exponent) return std::nullopt;
    if (ends("bf") || ends("BF")) return "bfloat(" + std::string(text.substr(0, text.size() - 2)) + "f)";
    if (ends("h") || ends("H")) return std::string(text.substr(0, text.size() - 1)) + "f16";
    const bool floating = has_exponent || text.find('.') != text.npos;
    if (floating && (is_digit(text.back()) || text.back() == '.')) return std::string(text) + "f";
    return std::nullopt;
  }

  const Unit& unit_;
  const std::string library_;
  Rewriter rewriter_;
  std::string constant_registrations_;
  std::map<std::string, std::string> slots_;  // of function constants, by name
  std::set<std::string> functions_;           // constants that became functions
};

}  // namespace

std::string write_cpp(const Unit& unit, const std::string& library) { return Writer(unit, library).run(); }

}  // namespace metalsim::mslgen
