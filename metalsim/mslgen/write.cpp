#include <algorithm>

#include "lint.h"
#include "reader.h"
#include "rewriter.h"

namespace metalsim::mslgen {
namespace {

enum class Dialect { cpp, lint };

class Writer {
 public:
  Writer(const Unit& unit, Dialect dialect) : unit_(unit), dialect_(dialect), rewriter_(unit) {}

  std::string run(const std::string& library) {
    for (const Range& attribute : unit_.attributes) rewriter_.replace(attribute, "");
    late_constants();
    threadgroup_variables();
    registrations();
    words_and_numbers();
    std::string head = "#include <metal_stdlib>\n";
    if (dialect_ == Dialect::cpp)
      head += "METALSIM_UNIT(" + quoted(library) + ", " + quoted(unit_.source.main_file()) + ")\n" +
              constant_registrations_;
    return head + rewriter_.result() + "\n";
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

  /// Numbered within their kernel, and in C++ tied to it, which sums up their sizes.
  void threadgroup_variables() {
    std::map<std::string, size_t> counts;
    for (const ThreadgroupStatement& statement : unit_.threadgroup_statements) {
      std::string text;
      size_t& count = counts[statement.function];
      for (const ThreadgroupVariable& variable : statement.variables) {
        const std::string number = std::to_string(count++);
        const bool cpp = dialect_ == Dialect::cpp;
        text += "auto& " + variable.name + " = metalsim::threadgroup_variable<" + type(variable) +
                (cpp ? ", &" + statement.function + ", " + number + ">(); " : ">(" + number + "); ");
      }
      if (count > max_threadgroup_variables)
        unit_.fail(statement.tokens.begin, "more than " + std::to_string(max_threadgroup_variables) +
                                               " threadgroup variables in one kernel");
      rewriter_.replace(statement.tokens, text);
    }
  }

  std::string type(const ThreadgroupVariable& variable) const {
    if (dialect_ == Dialect::cpp) return unit_.text(variable.type) + variable.bounds;
    return expression(variable.type) + variable.bounds;
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
      if (dialect_ == Dialect::lint) continue;
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
      if (dialect_ == Dialect::lint) continue;  // an ordinary instantiation, which checks the body
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
    std::string text = "METALSIM_KERNEL(" + std::to_string(id) + ", " + quoted(host_name) + ", " +
                       (max_threads.empty() ? "1024" : "(" + max_threads + ")") + ", " +
                       (may_wait(unit_, kernel.name) ? "true" : "false") + ", " + required_slots(kernel) +
                       ", (" + function + ")";
    for (const Parameter& parameter : kernel.parameters) {
      text += ", metalsim::encode(metalsim::Attribute::" + parameter.attribute;
      if (!parameter.index.empty()) text += ", (" + parameter.index + ")";
      if (parameter.conditional) text += parameter.index.empty() ? ", 0, true" : ", true";
      text += ")";
    }
    return text + ")";
  }

  /// The slots of the function constants that a kernel needs, as bits.
  std::string required_slots(const Kernel& kernel) const {
    uint64_t slots = 0;
    for (const std::string& name : required_constants(unit_, kernel.name))
      slots |= uint64_t{1} << std::stoi(slots_.at(name));
    return std::to_string(slots) + (slots ? "u" : "");
  }

  /// Address spaces and `kernel` vanish, `constant` is const, uses of function constants become calls, and
  /// literals get the types that they have in Metal.
  void words_and_numbers() {
    for (size_t i = 0; i < unit_.tokens.size(); ++i)
      if (const auto by = replacement(i)) rewriter_.replace(unit_.tokens[i], *by);
  }

  /// The text of tokens with those replacements made. Signs that touch are one operator.
  std::string expression(Range range) const {
    std::string text;
    for (size_t i = range.begin; i < range.end; ++i) {
      text += replacement(i).value_or(std::string(unit_.tokens[i].text));
      const Token &token = unit_.tokens[i], &next = unit_.tokens[i + 1];
      const bool touch =
          token.kind == TokenKind::sign && next.kind == TokenKind::sign && token.end == next.begin;
      if (!touch) text += ' ';
    }
    return text;
  }

  std::optional<std::string> replacement(size_t i) const {
    const Token& token = unit_.tokens[i];
    if (token.kind == TokenKind::number) return metal_number(token.text);
    if (token.kind == TokenKind::word)
      if (auto use = constant_use(i)) return use;
    if (dialect_ == Dialect::lint) return lint_word(unit_, i);
    if (token.kind != TokenKind::word) return std::nullopt;
    for (const std::string_view word : {"device", "threadgroup", "thread", "kernel"})
      if (token.text == word) return std::string(word.size(), ' ');
    if (token.text == "constant") return "const   ";
    return std::nullopt;
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

  const Unit& unit_;
  const Dialect dialect_;
  Rewriter rewriter_;
  std::string constant_registrations_;
  std::map<std::string, std::string> slots_;  // of function constants, by name
  std::set<std::string> functions_;           // constants that became functions
};

}  // namespace

std::string write_cpp(const Unit& unit, const std::string& library) {
  return Writer(unit, Dialect::cpp).run(library);
}

std::string write_lint(const Unit& unit) { return Writer(unit, Dialect::lint).run({}); }

}  // namespace metalsim::mslgen
