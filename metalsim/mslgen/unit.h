/// What mslgen finds in a Metal source.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lexer.h"

namespace metalsim::mslgen {

/// Tokens [begin, end) by index.
struct Range {
  size_t begin = 0, end = 0;
};

/// One parameter of a kernel, by the attribute that says where its value comes from.
struct Parameter {
  std::string attribute;     ///< "buffer", "thread_position_in_grid" ...
  std::string index;         ///< of buffer and threadgroup: a constant expression
  bool conditional = false;  ///< [[function_constant(name)]] may switch it off
};

/// `threadgroup float tile[64]` in a kernel's body: one declarator.
struct ThreadgroupVariable {
  Range type;
  std::string name;
  std::string bounds;  ///< "[64]" of an array
};
struct ThreadgroupStatement {
  std::string kernel;    ///< its name
  std::string function;  ///< as an expression in its body: "::scope::name<T,N>"
  Range tokens;          ///< to the semicolon, inclusive
  std::vector<ThreadgroupVariable> variables;
};

struct Kernel {
  std::string name;
  Token name_token;
  std::string host_name;                       ///< [[host_name("...")]]; else the qualified name
  std::string max_threads;                     ///< [[max_total_threads_per_threadgroup(...)]]; else empty
  std::vector<std::string> max_threads_words;  ///< its tokens
  bool is_template = false;
  std::vector<std::string> template_parameters;  ///< names
  bool is_specialization = false;                ///< `template <> kernel void f<float>(...)`
  std::vector<Parameter> parameters;
  size_t last_token = 0;  ///< the body's closing brace, or the semicolon of a declaration
  bool has_body = false;
};

/// `template [[host_name("...")]] kernel void f<float>(...);`
struct Instantiation {
  std::string host_name;
  std::string max_threads;
  std::string function;                ///< "f<float>"
  std::vector<std::string> arguments;  ///< of the template
  std::string base;                    ///< "f"
  Range tokens;                        ///< to the semicolon, inclusive
  Token name_token;
};

/// A program-scope constant whose value the host gives, or that is computed from such: it becomes a function.
struct LateConstant {
  std::string name;
  std::string type;
  std::string index;  ///< of a function constant; empty for a computed one
  Range initializer;  ///< of a computed one
  Range tokens;       ///< of the declaration, to the semicolon, inclusive
  size_t name_token = 0;
};

struct Unit {
  const Source& source;
  std::vector<Token> tokens;

  std::vector<Kernel> kernels;
  std::vector<Instantiation> instantiations;
  std::vector<LateConstant> late_constants;
  std::vector<ThreadgroupStatement> threadgroup_statements;
  std::vector<Range> attributes;  ///< Metal's own, to be removed

  /// Names that `using` or `typedef` give to other types, with the words of those; for the lint.
  std::map<std::string, std::string> aliases;

  /// Words that stand in the definition of a function or type, for everything defined at program scope: who
  /// may call whom, by name. A test of a function constant is one word, "is_function_constant_defined(name)".
  std::map<std::string, std::set<std::string>> words_of;

  std::string text(Range range) const;
  [[noreturn]] void fail(size_t token, const std::string& message) const;
};

/// Finds all of this. Throws SourceError where the source is not understood or uses what the simulator lacks.
Unit read_unit(const Source& source);

/// The words of a function of this name, and of all functions, types and constants that it may use.
std::set<std::string> words_within_reach(const Unit& unit, const std::string& name);

/// Whether a function of this name, or one that it may call, has a barrier or an operation among lanes.
bool may_wait(const Unit& unit, const std::string& name);

/// Names of the function constants without which the kernel has no meaning: it uses them, and nothing in it
/// asks whether they are defined.
std::set<std::string> required_constants(const Unit& unit, const std::string& kernel);

/// The C++ source: the text with Metal's own syntax replaced in place, and registrations of the kernels.
/// `library` names the kernel library that it becomes part of.
std::string write_cpp(const Unit& unit, const std::string& library);

/// The same for the lint of address spaces: C++ for OpenCL, to be checked and not run. See lint.h.
std::string write_lint(const Unit& unit);

}  // namespace metalsim::mslgen
