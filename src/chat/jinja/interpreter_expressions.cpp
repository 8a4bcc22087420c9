#include <algorithm>

#include "chat/jinja/compare.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"

namespace minfer::chat::jinja {

Value Interpreter::evaluate(const Expression& expression, Scope& scope) {
  runtime_.set_position(expression.at);
  runtime_.step();
  const Runtime::Level level(runtime_);
  switch (expression.kind) {
    case ExpressionKind::constant:
      return static_cast<const Constant&>(expression).value;
    case ExpressionKind::name:
      return evaluate_name(static_cast<const Name&>(expression), scope);
    case ExpressionKind::attribute: {
      const auto& attribute = static_cast<const Attribute&>(expression);
      const Value object = evaluate(*attribute.object, scope);
      runtime_.set_position(attribute.at);
      return get_attribute(runtime_, object, attribute.name);
    }
    case ExpressionKind::subscript:
      return evaluate_subscript(static_cast<const Subscript&>(expression), scope);
    case ExpressionKind::slice:
      runtime_.fail("a slice can stand alone in a subscript only");
    case ExpressionKind::call:
      return evaluate_call(static_cast<const Call&>(expression), scope);
    case ExpressionKind::filter:
      return apply_filter(static_cast<const FilterCall&>(expression), Value(), scope);
    case ExpressionKind::test:
      return evaluate_test(static_cast<const TestCall&>(expression), scope);
    case ExpressionKind::unary:
      return evaluate_unary(static_cast<const Unary&>(expression), scope);
    case ExpressionKind::binary: {
      const auto& node = static_cast<const Binary&>(expression);
      const Value left = evaluate(*node.left, scope), right = evaluate(*node.right, scope);
      runtime_.set_position(node.at);
      return binary(runtime_, node.op, left, right);
    }
    case ExpressionKind::logical: {
      const auto& node = static_cast<const Logical&>(expression);
      Value left = evaluate(*node.left, scope);
      return truthy(left) == node.is_and ? evaluate(*node.right, scope) : left;
    }
    case ExpressionKind::concat:
      return evaluate_concat(static_cast<const Concat&>(expression), scope);
    case ExpressionKind::compare:
      return evaluate_compare(static_cast<const Compare&>(expression), scope);
    case ExpressionKind::conditional:
      return evaluate_conditional(static_cast<const Conditional&>(expression), scope);
    case ExpressionKind::list:
    case ExpressionKind::tuple:
      return evaluate_sequence(static_cast<const Sequence&>(expression), scope);
    case ExpressionKind::dict:
      return evaluate_dict(static_cast<const DictLiteral&>(expression), scope);
  }
  return Value();
}

Value Interpreter::evaluate_name(const Name& name, Scope& scope) {
  for (Scope* around = &scope; around; around = around->parent) {
    runtime_.step(around->names.size() / 8);
    if (const Value* value = around->find(name.name)) return *value;
  }
  if (const Function::Code code = find_global(name.name))
    return runtime_.make<Function>(name.name, code, Value());
  return undefined(fmt::format("{} is undefined", quoted(name.name)));
}

Value Interpreter::evaluate_subscript(const Subscript& subscript, Scope& scope) {
  const Value object = evaluate(*subscript.object, scope);
  if (subscript.index->kind == ExpressionKind::slice)
    return evaluate_slice(object, static_cast<const SliceExpression&>(*subscript.index), scope);
  const Value index = evaluate(*subscript.index, scope);
  runtime_.set_position(subscript.at);
  return get_item(runtime_, object, index);
}

Value Interpreter::evaluate_slice(const Value& object, const SliceExpression& slice, Scope& scope) {
  const auto part = [&](const Expression* expression) {
    return expression ? evaluate(*expression, scope) : Value();
  };
  const Value start = part(slice.start), stop = part(slice.stop), step = part(slice.step);
  runtime_.set_position(slice.at);
  return get_slice(runtime_, object, start, stop, step);
}

Value Interpreter::evaluate_concat(const Concat& concat, Scope& scope) {
  TextBuilder out(runtime_);
  for (const Expression* part : concat.parts) {
    const Value value = evaluate(*part, scope);
    runtime_.set_position(concat.at);
    print(out, runtime_, value);
  }
  return out.finish();
}

Value Interpreter::evaluate_compare(const Compare& node, Scope& scope) {
  Value left = evaluate(*node.first, scope);
  for (const auto& [comparison, operand] : node.rest) {
    Value right = evaluate(*operand, scope);
    runtime_.set_position(node.at);
    if (!compare(runtime_, comparison, left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Interpreter::evaluate_conditional(const Conditional& conditional, Scope& scope) {
  if (truthy(evaluate(*conditional.test, scope))) return evaluate(*conditional.yes, scope);
  if (conditional.no) return evaluate(*conditional.no, scope);
  return undefined("the inline if-expression evaluated to false and no else section was defined.");
}

Value Interpreter::evaluate_sequence(const Sequence& sequence, Scope& scope) {
  Items items(runtime_);
  for (const Expression* item : sequence.items) items.add(evaluate(*item, scope));
  return sequence.kind == ExpressionKind::list ? runtime_.list(std::move(items))
                                               : runtime_.tuple(std::move(items));
}

Value Interpreter::evaluate_dict(const DictLiteral& literal, Scope& scope) {
  auto* dict = runtime_.make<Dict>(runtime_);
  for (const auto& [key_node, value_node] : literal.entries) {
    Value key = evaluate(*key_node, scope), value = evaluate(*value_node, scope);
    runtime_.set_position(literal.at);
    dict->set(std::move(key), std::move(value));
  }
  return dict;
}

Value Interpreter::evaluate_unary(const Unary& unary, Scope& scope) {
  const Value operand = evaluate(*unary.operand, scope);
  runtime_.set_position(unary.at);
  switch (unary.op) {
    case Unary::Operator::negate:
      return negate(runtime_, operand);
    case Unary::Operator::plus:
      return plus(runtime_, operand);
    case Unary::Operator::invert:
      break;
  }
  return !truthy(operand);
}

Arguments Interpreter::evaluate_arguments(const ArgumentList& list, Scope& scope) {
  Arguments arguments;
  for (const Expression* argument : list.positional)
    arguments.positional.push_back(evaluate(*argument, scope));
  for (const auto& [name, argument] : list.named)
    arguments.named.emplace_back(name, evaluate(*argument, scope));
  if (list.more_positional) {
    const Items items = items_of(runtime_, evaluate(*list.more_positional, scope));
    arguments.positional.insert(arguments.positional.end(), items.begin(), items.end());
  }
  if (list.more_named) {
    const Value more = evaluate(*list.more_named, scope);
    const auto* dict = more.as<Dict>();
    if (!dict) runtime_.fail(fmt::format("argument after ** must be a mapping, not {}", type_name(more)));
    for (const auto& [key, value] : dict->entries) {
      if (!key.is_string()) runtime_.fail("keywords must be strings");
      arguments.named.emplace_back(key.str().bytes, value);
    }
  }
  return arguments;
}

Value Interpreter::evaluate_test(const TestCall& test, Scope& scope) {
  const Value input = evaluate(*test.input, scope);
  const Arguments arguments = evaluate_arguments(test.arguments, scope);
  runtime_.set_position(test.at);
  if (!test.code) runtime_.fail(fmt::format("No test named {} found.", quoted(test.name)));
  return test.code(runtime_, input, arguments);
}

/// `block_output` is the innermost filter's input if it has none of its own.
Value Interpreter::apply_filter(const FilterCall& filter, const Value& block_output, Scope& scope) {
  Value input = block_output;
  if (filter.input) {
    // Filters on a block's output are a chain of filters that ends without an input.
    const bool in_chain = filter.input->kind == ExpressionKind::filter;
    const Runtime::Level level(runtime_);
    input = in_chain ? apply_filter(static_cast<const FilterCall&>(*filter.input), block_output, scope)
                     : evaluate(*filter.input, scope);
  }
  const Arguments arguments = evaluate_arguments(filter.arguments, scope);
  runtime_.set_position(filter.at);
  runtime_.step();
  if (!filter.code) runtime_.fail(fmt::format("No filter named {} found.", quoted(filter.name)));
  return filter.code(runtime_, input, arguments);
}

/// `caller` is what a call block passes besides the arguments.
Value Interpreter::evaluate_call(const Call& node, Scope& scope, const Value* caller) {
  const Value callee = evaluate(*node.callee, scope);
  Arguments arguments = evaluate_arguments(node.arguments, scope);
  if (caller) arguments.named.emplace_back("caller", *caller);
  runtime_.set_position(node.at);
  return call(callee, std::move(arguments));
}

Value Interpreter::call(const Value& callee, Arguments arguments) {
  require_defined(runtime_, callee);
  if (const auto* function = callee.as<Function>())
    return function->code(runtime_, function->self, arguments);
  if (const auto* macro = callee.as<Macro>()) return call_macro(*macro, std::move(arguments));
  if (const auto* loop = callee.as<Loop>()) return call_loop(*loop, arguments);
  if (auto* joiner = callee.as<Joiner>()) {
    if (joiner->used) return joiner->separator;
    joiner->used = true;
    return runtime_.text("");
  }
  runtime_.fail(fmt::format("'{}' object is not callable", type_name(callee)));
}

/// Renders the body of a recursive loop with other items.
Value Interpreter::call_loop(const Loop& loop, const Arguments& arguments) {
  const Parameters parameters(runtime_, "loop", arguments, {"iterable"}, 1);
  if (!loop.recursive) runtime_.fail("The loop must have the 'recursive' marker to be called recursively.");
  TextBuilder captured(runtime_);
  {
    const Capture capture(*this, captured);
    run_loop(*loop.recursive, items_of(runtime_, *parameters[0]), *loop.scope, loop.depth0 + 1);
  }
  return captured.finish();
}

/// Python's binding: by position, by name, defaults; what is left over goes to varargs and kwargs if the body
/// uses them, and is an error if it does not.
void Interpreter::bind_macro_arguments(const Macro& macro, Arguments& arguments, Scope& scope) {
  const MacroDefinition& definition = macro.definition;
  const auto take_named = [&](std::string_view name) -> std::optional<Value> {
    runtime_.step(1 + (arguments.named.size() + scope.names.size()) / 8);
    const auto at = std::find_if(arguments.named.begin(), arguments.named.end(),
                                 [&](const auto& argument) { return argument.first == name; });
    if (at == arguments.named.end()) return std::nullopt;
    Value value = std::move(at->second);
    arguments.named.erase(at);
    return value;
  };
  const size_t count = definition.parameters.size();
  std::vector<std::optional<Value>> bound(count);
  for (size_t i = 0; i < count; ++i) {
    if (i < arguments.positional.size()) {
      bound[i] = arguments.positional[i];
    } else {
      bound[i] = take_named(definition.parameters[i]);
    }
  }
  const bool has_caller_parameter = std::find(definition.parameters.begin(), definition.parameters.end(),
                                              "caller") != definition.parameters.end();
  if (definition.uses_caller && !has_caller_parameter) {
    const auto caller = take_named("caller");
    scope.set("caller", caller && !caller->is_none() ? *caller : undefined("No caller defined"));
  }
  if (definition.uses_kwargs) {
    auto* rest = runtime_.make<Dict>(runtime_);
    for (const auto& [name, value] : arguments.named) rest->set(runtime_.text(name), value);
    scope.set("kwargs", rest);
  } else if (!arguments.named.empty()) {
    runtime_.fail(fmt::format("macro {} takes no keyword argument {}", quoted(macro.name),
                              quoted(arguments.named[0].first)));
  }
  if (definition.uses_varargs) {
    Items rest(runtime_);
    for (size_t i = count; i < arguments.positional.size(); ++i) rest.add(arguments.positional[i]);
    scope.set("varargs", runtime_.tuple(std::move(rest)));
  } else if (arguments.positional.size() > count) {
    runtime_.fail(fmt::format("macro {} takes not more than {} argument(s)", quoted(macro.name), count));
  }
  const size_t first_default = count - definition.defaults.size();
  for (size_t i = 0; i < count; ++i) {
    Value value;
    if (bound[i]) {
      value = *bound[i];
    } else if (i >= first_default) {
      value = evaluate(*definition.defaults[i - first_default], scope);
    } else {
      value = undefined(fmt::format("parameter {} was not provided", quoted(definition.parameters[i])));
    }
    scope.set(definition.parameters[i], std::move(value));
  }
}

Value Interpreter::call_macro(const Macro& macro, Arguments arguments) {
  const Runtime::Level level(runtime_);
  auto* scope = runtime_.keep<Scope>(macro.scope);
  bind_macro_arguments(macro, arguments, *scope);
  TextBuilder captured(runtime_);
  {
    const Capture capture(*this, captured);
    execute(macro.definition.body, *scope);
  }
  return captured.finish();
}

}  // namespace minfer::chat::jinja
