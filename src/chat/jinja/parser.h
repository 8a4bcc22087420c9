#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "chat/jinja/lexer.h"
#include "chat/jinja/program.h"

namespace minfer::chat::jinja {

/// Builds a Program from its tokens, by recursive descent. The grammar is that of Jinja2's own parser,
/// oddities included: templates are written against it.
class Parser {
 public:
  explicit Parser(Program& program) : program_(program), tokens_(tokenize(program.source)) {}
  void run();

 private:
  using Names = std::initializer_list<std::string_view>;

  /// One level of nesting in the source, and of C++ recursion, while it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > max_source_depth) parser_.fail_depth();
    }
    ~Level() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  // Tokens.
  const Token& current() const { return tokens_[next_]; }
  const Token& look() const { return tokens_[std::min(next_ + 1, tokens_.size() - 1)]; }
  const Token& take();
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  const Token& expect(TokenKind kind, std::string_view what);
  void expect_op(std::string_view op);
  void expect_name(std::string_view name);
  [[noreturn]] void fail(Position at, const std::string& message) const;
  [[noreturn]] void fail_depth() const;

  // Nodes.
  template <class T, class... Args>
  T* make(Position at, Args&&... args) {
    auto node = std::make_unique<T>(at, std::forward<Args>(args)...);
    T* raw = node.get();
    program_.nodes.push_back(std::move(node));
    return raw;
  }
  /// `node` with its height set from its operands' (nulls are none).
  template <class T>
  T* over(T* node, std::initializer_list<const Expression*> operands) {
    for (const Expression* operand : operands) raise(node, operand);
    return node;
  }
  void raise(Expression* node, const Expression* operand) const;
  void raise(Expression* node, const ArgumentList& arguments) const;

  // Statements (parser_statements.cpp).
  Body parse_body(Names end_tags);
  Body parse_block_body(Names end_tags);
  Statement* parse_statement();
  Statement* parse_named_statement(const Token& tag);
  Statement* parse_output();
  Statement* parse_print(Position at);
  Statement* parse_for(Position at);
  Statement* parse_if(Position at);
  Statement* parse_set(Position at);
  Statement* parse_macro(Position at);
  Statement* parse_call_block(Position at);
  Statement* parse_filter_block(Position at);
  Statement* parse_with(Position at);
  Statement* parse_block(Position at);
  Statement* parse_generation(Position at);
  Statement* parse_loop_control(const Token& tag);
  void parse_signature(MacroDefinition& macro);
  void parse_macro_body(MacroDefinition& macro, Position at, std::string_view end_tag);
  Target parse_target(bool with_namespace, std::string_view end_name);
  Target parse_target_item(bool with_namespace);
  std::string parse_target_name();

  // Expressions (parser_expressions.cpp).
  Expression* parse_tuple(bool with_conditional, bool in_parentheses, std::string_view end_name = {});
  Expression* parse_expression() { return parse_conditional(); }
  Expression* parse_conditional();
  Expression* parse_or();
  Expression* parse_and();
  Expression* parse_not();
  Expression* parse_compare();
  Expression* parse_sum();
  Expression* parse_concat();
  Expression* parse_product();
  Expression* parse_power();
  Expression* parse_unary(bool with_filter);
  Expression* parse_primary();
  Expression* parse_name();
  Expression* parse_list();
  Expression* parse_dict();
  Expression* parse_postfix(Expression* node);
  Expression* parse_filters_and_tests(Expression* node);
  Expression* parse_dot(Expression* node);
  Expression* parse_subscript(Expression* node);
  Expression* parse_subscript_item();
  Expression* parse_call(Expression* node);
  Expression* parse_filters(Expression* input, bool first_without_pipe);
  Expression* parse_test(Expression* node);
  std::string parse_dotted_name();
  ArgumentList parse_arguments();
  void add_argument(ArgumentList& list, Position open);

  Program& program_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
  int depth_ = 0;
  int loops_ = 0;  ///< for statements around
  /// Inside `if`, an unknown filter or test fails only when it is reached: templates ask first whether it is
  /// there. Elsewhere it is an error of the template, reported after the syntax has been read.
  bool soft_ = false;
  std::vector<std::pair<Position, std::string>> unknown_;
  std::vector<MacroDefinition*> open_macros_;
};

}  // namespace minfer::chat::jinja
