#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/builtins.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace minfer::chat::jinja {

// The parsed template. Nodes belong to the Program and point at each other.

enum class ExpressionKind : uint8_t {
  constant,
  name,
  attribute,
  subscript,
  slice,
  call,
  filter,
  test,
  unary,
  binary,
  logical,
  concat,
  compare,
  conditional,
  list,
  tuple,
  dict
};

struct Node {
  virtual ~Node() = default;
};

struct Expression : Node {
  Expression(ExpressionKind expression_kind, Position position) : kind(expression_kind), at(position) {}
  const ExpressionKind kind;
  const Position at;
  int height = 1;  ///< of the tree below, bounded by max_source_depth
};

struct Constant : Expression {
  Constant(Position position, Value constant)
      : Expression(ExpressionKind::constant, position), value(std::move(constant)) {}
  Value value;
};

struct Name : Expression {
  Name(Position position, std::string text)
      : Expression(ExpressionKind::name, position), name(std::move(text)) {}
  std::string name;
};

/// `object.name`: the attribute first, then the item.
struct Attribute : Expression {
  Attribute(Position position, Expression* of, std::string text)
      : Expression(ExpressionKind::attribute, position), object(of), name(std::move(text)) {}
  Expression* object;
  std::string name;
};

/// `object[index]`: the item first, then the attribute.
struct Subscript : Expression {
  Subscript(Position position, Expression* of, Expression* by)
      : Expression(ExpressionKind::subscript, position), object(of), index(by) {}
  Expression *object, *index;
};

/// `start:stop:step` in a subscript; null where left out.
struct SliceExpression : Expression {
  explicit SliceExpression(Position position) : Expression(ExpressionKind::slice, position) {}
  Expression *start = nullptr, *stop = nullptr, *step = nullptr;
};

/// What stands in the parentheses of a call.
struct ArgumentList {
  std::vector<Expression*> positional;
  std::vector<std::pair<std::string, Expression*>> named;
  Expression *more_positional = nullptr, *more_named = nullptr;  ///< *args, **kwargs
};

struct Call : Expression {
  Call(Position position, Expression* called) : Expression(ExpressionKind::call, position), callee(called) {}
  Expression* callee;
  ArgumentList arguments;
};

/// `input|name(arguments)`. `code` is null for an unknown filter where the language allows one: inside `if`,
/// it fails only when it is reached.
struct FilterCall : Expression {
  FilterCall(Position position, Expression* filtered, std::string text)
      : Expression(ExpressionKind::filter, position), input(filtered), name(std::move(text)) {}
  Expression* input;  ///< null: what the block around it wrote
  std::string name;
  FilterCode code = nullptr;
  ArgumentList arguments;
};

/// `input is name(arguments)`.
struct TestCall : Expression {
  TestCall(Position position, Expression* tested, std::string text)
      : Expression(ExpressionKind::test, position), input(tested), name(std::move(text)) {}
  Expression* input;
  std::string name;
  TestCode code = nullptr;
  ArgumentList arguments;
};

struct Unary : Expression {
  enum class Operator : uint8_t { negate, plus, invert };  ///< -x, +x, not x
  Unary(Position position, Operator unary_operator, Expression* of)
      : Expression(ExpressionKind::unary, position), op(unary_operator), operand(of) {}
  Operator op;
  Expression* operand;
};

enum class BinaryOperator : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };

struct Binary : Expression {
  Binary(Position position, BinaryOperator binary_operator, Expression* first, Expression* second)
      : Expression(ExpressionKind::binary, position), op(binary_operator), left(first), right(second) {}
  BinaryOperator op;
  Expression *left, *right;
};

/// `and`, `or`: gives one of its operands.
struct Logical : Expression {
  Logical(Position position, bool both, Expression* first, Expression* second)
      : Expression(ExpressionKind::logical, position), is_and(both), left(first), right(second) {}
  bool is_and;
  Expression *left, *right;
};

/// `a ~ b ~ c`.
struct Concat : Expression {
  explicit Concat(Position position) : Expression(ExpressionKind::concat, position) {}
  std::vector<Expression*> parts;
};

enum class Comparison : uint8_t { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };

/// `a < b < c`, each operand evaluated once.
struct Compare : Expression {
  Compare(Position position, Expression* left) : Expression(ExpressionKind::compare, position), first(left) {}
  Expression* first;
  std::vector<std::pair<Comparison, Expression*>> rest;
};

/// `yes if test else no`; without else it is undefined.
struct Conditional : Expression {
  explicit Conditional(Position position) : Expression(ExpressionKind::conditional, position) {}
  Expression *test = nullptr, *yes = nullptr, *no = nullptr;
};

struct Sequence : Expression {
  Sequence(Position position, ExpressionKind list_or_tuple) : Expression(list_or_tuple, position) {}
  std::vector<Expression*> items;
};

struct DictLiteral : Expression {
  explicit DictLiteral(Position position) : Expression(ExpressionKind::dict, position) {}
  std::vector<std::pair<Expression*, Expression*>> entries;
};

/// What `set` and `for` assign to: a name, a namespace's attribute, or several targets to unpack into.
struct Target {
  Position at = 0;
  std::string name;
  std::optional<std::string> attribute;
  std::vector<Target> parts;
  bool is_tuple = false;
};

enum class StatementKind : uint8_t {
  text,
  output,
  if_,
  for_,
  set,
  set_block,
  macro,
  call_block,
  filter_block,
  with,
  scope,
  break_,
  continue_
};

struct Statement : Node {
  Statement(StatementKind statement_kind, Position position) : kind(statement_kind), at(position) {}
  const StatementKind kind;
  const Position at;
};
using Body = std::vector<Statement*>;

/// Text of the template itself.
struct TextStatement : Statement {
  TextStatement(Position position, std::string data)
      : Statement(StatementKind::text, position), text(std::move(data)) {}
  std::string text;
};

struct OutputStatement : Statement {
  explicit OutputStatement(Position position) : Statement(StatementKind::output, position) {}
  std::vector<Expression*> values;
};

struct IfStatement : Statement {
  explicit IfStatement(Position position) : Statement(StatementKind::if_, position) {}
  std::vector<std::pair<Expression*, Body>> branches;
  Body otherwise;
};

struct ForStatement : Statement {
  explicit ForStatement(Position position) : Statement(StatementKind::for_, position) {}
  Target target;
  Expression *items = nullptr, *condition = nullptr;
  bool recursive = false;
  Body body, otherwise;
};

struct SetStatement : Statement {
  explicit SetStatement(Position position) : Statement(StatementKind::set, position) {}
  Target target;
  Expression* value = nullptr;
};

/// `{% set x | filter %} … {% endset %}`.
struct SetBlock : Statement {
  explicit SetBlock(Position position) : Statement(StatementKind::set_block, position) {}
  Target target;
  Expression* filter = nullptr;  ///< may be null
  Body body;
};

/// A macro's parameters and body, or a call block's.
struct MacroDefinition {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<Expression*> defaults;  ///< of the last parameters
  Body body;
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
};

struct MacroStatement : Statement {
  explicit MacroStatement(Position position) : Statement(StatementKind::macro, position) {}
  MacroDefinition macro;
};

struct CallBlock : Statement {
  explicit CallBlock(Position position) : Statement(StatementKind::call_block, position) {}
  Call* call = nullptr;
  MacroDefinition caller;
};

struct FilterBlock : Statement {
  explicit FilterBlock(Position position) : Statement(StatementKind::filter_block, position) {}
  Expression* filter = nullptr;
  Body body;
};

struct WithStatement : Statement {
  explicit WithStatement(Position position) : Statement(StatementKind::with, position) {}
  std::vector<std::pair<Target, Expression*>> values;
  Body body;
};

/// A body with names of its own: `block` (which sees the template's outermost names only) and `generation`.
struct ScopeStatement : Statement {
  ScopeStatement(Position position, bool from_root)
      : Statement(StatementKind::scope, position), outermost(from_root) {}
  bool outermost;
  Body body;
};

struct LoopControl : Statement {
  LoopControl(Position position, StatementKind break_or_continue) : Statement(break_or_continue, position) {}
};

/// Names and their values, in one body; the names of the bodies around it are looked up in `parent`.
struct Scope : Object {
  explicit Scope(Scope* around) : Object(ObjectType::name_space), parent(around) {}
  Value* find(std::string_view name);
  void set(std::string_view name, Value value);
  Scope* parent;
  std::vector<std::pair<std::string_view, Value>> names;  ///< views into the Program
  bool captured = false;  ///< a macro made here refers to it: it must not be used again
};

/// A macro as a value.
struct Macro : Object {
  Macro(const MacroDefinition& of, Scope* made_in)
      : Object(ObjectType::macro), definition(of), name(of.name), scope(made_in) {}
  static bool is(ObjectType type) { return type == ObjectType::macro; }
  const MacroDefinition& definition;
  std::string name;
  Scope* scope;
};

}  // namespace minfer::chat::jinja
