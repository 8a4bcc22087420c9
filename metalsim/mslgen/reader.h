/// The parser behind read_unit. It knows brackets, attributes, declarations at program scope and kernel
/// signatures; everything else it passes over, for the C++ compiler to judge.
#pragma once
#include "unit.h"

namespace metalsim::mslgen {

struct Attribute {
  std::string name;
  size_t token;     // of the name
  Range arguments;  // between its parentheses
};

/// Limits of the runtime: bits of a mask that has one for each.
inline constexpr size_t max_constants = 64, max_threadgroup_variables = 64;

class Reader {
 public:
  explicit Reader(Unit& unit) : unit_(unit), tokens_(unit.tokens) {}

  void run();

 private:
  /// What stands before a declarator.
  struct Head {
    size_t begin = 0;
    Range template_parameters;  // between the angle brackets
    std::vector<Attribute> attributes;
    bool is_kernel = false, is_constant = false;
    bool names_type = false;  // struct, class, union or enum
    size_t name = 0;          // last word outside angle brackets
    bool name_has_arguments = false;
    int words = 0;
  };

  // reader.cpp: brackets and attributes
  const Token& at(size_t i) const { return tokens_[i]; }
  size_t match(size_t open) const;
  size_t match_angles(size_t open) const;
  size_t skip_to(std::string_view sign, size_t i) const;
  bool attribute_begins(size_t i) const;
  size_t read_attributes(size_t i, std::vector<Attribute>& out);
  const Attribute* find(const std::vector<Attribute>& attributes, std::string_view name) const;
  std::string unquoted(const Attribute& attribute) const;
  std::vector<Range> split(Range list) const;
  void collect_words(const std::string& name, Range range);
  void collect_aliases(Range range);

  // declarations.cpp: program scope
  void declarations(size_t begin, size_t end, const std::string& scope);
  size_t namespace_declaration(size_t i, const std::string& scope);
  size_t template_declaration(size_t i, size_t end, const std::string& scope);
  size_t explicit_instantiation(size_t i);
  size_t declaration(size_t i, size_t end, const Range& template_parameters, const std::string& scope);
  size_t type_definition(size_t i);
  size_t function(const Head& head, size_t open, const std::string& scope);
  size_t variable(const Head& head, size_t i);
  void late_constant(const Head& head, Range tokens, const Attribute* function_constant, Range initializer);

  // kernels.cpp: signatures and bodies
  void kernel(const Head& head, size_t open, size_t close, const std::string& scope, Kernel& kernel);
  Parameter parameter(Range range, const std::string& kernel_name);
  std::string function_text(const Head& head, const std::string& scope) const;
  void body(Range range, const Kernel* kernel, const std::string& function);
  size_t threadgroup_declaration(size_t i, size_t end, const Kernel* kernel, const std::string& function);

  // address_spaces.cpp
  bool skip_type_words(size_t& i) const;
  void check_address_spaces(Range range) const;
  void check_cast(size_t open) const;
  void check_local(size_t begin) const;
  void check_parameter_spaces(Range list) const;
  [[noreturn]] void missing_space(size_t sign) const;

  // refusals.cpp
  void refuse(Range range) const;
  void refuse_lambda(size_t i) const;

  Unit& unit_;
  const std::vector<Token>& tokens_;
  size_t function_constants_ = 0;
};

}  // namespace metalsim::mslgen
