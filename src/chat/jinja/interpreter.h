#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chat/jinja/program.h"

namespace minfer::chat::jinja {

/// Runs a program once. Recursion of the template is recursion here, one Runtime::Level a node.
class Interpreter {
 public:
  Interpreter(Runtime& runtime, const Program& program) : runtime_(runtime), program_(program) {}

  /// What the template prints, given the values of its outermost names.
  StrPtr run(const std::vector<std::pair<std::string, Value>>& variables);

 private:
  enum class Flow { next, break_loop, continue_loop };

  // Statements (interpreter_statements.cpp).
  Flow execute(const Body& body, Scope& scope);
  Flow execute(const Statement& statement, Scope& scope);
  Flow execute_if(const IfStatement& statement, Scope& scope);
  Flow execute_with(const WithStatement& statement, Scope& scope);
  Flow execute_set_block(const SetBlock& block, Scope& scope);
  Flow execute_filter_block(const FilterBlock& block, Scope& scope);
  void execute_for(const ForStatement& statement, Scope& scope);
  void execute_macro(const MacroStatement& statement, Scope& scope);
  void execute_call_block(const CallBlock& block, Scope& scope);
  void write_block(const Value& value);
  void run_loop(const ForStatement& statement, Items items, Scope& scope, int64_t depth0);
  Items filtered(const ForStatement& statement, Items items, Scope& scope);
  void assign(const Target& target, const Value& value, Scope& scope);
  Value make_macro(const MacroDefinition& definition, Scope& scope);

  // Expressions (interpreter_expressions.cpp).
  Value evaluate(const Expression& expression, Scope& scope);
  Value evaluate_name(const Name& name, Scope& scope);
  Value evaluate_subscript(const Subscript& subscript, Scope& scope);
  Value evaluate_slice(const Value& object, const SliceExpression& slice, Scope& scope);
  Value evaluate_concat(const Concat& concat, Scope& scope);
  Value evaluate_compare(const Compare& compare, Scope& scope);
  Value evaluate_conditional(const Conditional& conditional, Scope& scope);
  Value evaluate_sequence(const Sequence& sequence, Scope& scope);
  Value evaluate_dict(const DictLiteral& literal, Scope& scope);
  Value evaluate_unary(const Unary& unary, Scope& scope);
  Value evaluate_call(const Call& call, Scope& scope, const Value* caller = nullptr);
  Value evaluate_test(const TestCall& test, Scope& scope);
  Value apply_filter(const FilterCall& filter, const Value& block_output, Scope& scope);
  Arguments evaluate_arguments(const ArgumentList& list, Scope& scope);
  Value call(const Value& callee, Arguments arguments);
  Value call_macro(const Macro& macro, Arguments arguments);
  void bind_macro_arguments(const Macro& macro, Arguments& arguments, Scope& scope);
  Value call_loop(const Loop& loop, const Arguments& arguments);

  /// Where statements write. A capture replaces it for a while.
  TextBuilder* out_ = nullptr;
  Scope* root_ = nullptr;
  Runtime& runtime_;
  const Program& program_;

  /// Sends what is written to `to` for as long as it lives.
  class Capture {
   public:
    Capture(Interpreter& interpreter, TextBuilder& to)
        : interpreter_(interpreter), before_(interpreter.out_) {
      interpreter.out_ = &to;
    }
    ~Capture() { interpreter_.out_ = before_; }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

   private:
    Interpreter& interpreter_;
    TextBuilder* before_;
  };
};

}  // namespace minfer::chat::jinja
