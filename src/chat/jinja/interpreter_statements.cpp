#include "chat/jinja/interpreter.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/print.h"

namespace minfer::chat::jinja {

Value* Scope::find(std::string_view name) {
  for (auto& [known, value] : names)
    if (known == name) return &value;
  return nullptr;
}

void Scope::set(std::string_view name, Value value) {
  if (Value* known = find(name)) {
    *known = std::move(value);
  } else {
    names.emplace_back(name, std::move(value));
  }
}

StrPtr Interpreter::run(const std::vector<std::pair<std::string, Value>>& variables) {
  TextBuilder output(runtime_);
  out_ = &output;
  // Variables are a scope around the template's own, so that a `set` hides and does not replace them.
  auto* context = runtime_.keep<Scope>(nullptr);
  for (const auto& [name, value] : variables) context->set(name, value);
  root_ = runtime_.keep<Scope>(context);
  execute(program_.body, *root_);
  return output.finish();
}

Interpreter::Flow Interpreter::execute(const Body& body, Scope& scope) {
  for (const Statement* statement : body)
    if (const Flow flow = execute(*statement, scope); flow != Flow::next) return flow;
  return Flow::next;
}

Interpreter::Flow Interpreter::execute(const Statement& statement, Scope& scope) {
  runtime_.set_position(statement.at);
  runtime_.step();
  const Runtime::Level level(runtime_);
  switch (statement.kind) {
    case StatementKind::text:
      out_->append(static_cast<const TextStatement&>(statement).text, true);
      return Flow::next;
    case StatementKind::output:
      for (const Expression* value : static_cast<const OutputStatement&>(statement).values)
        print(*out_, runtime_, evaluate(*value, scope));
      return Flow::next;
    case StatementKind::if_:
      return execute_if(static_cast<const IfStatement&>(statement), scope);
    case StatementKind::for_:
      execute_for(static_cast<const ForStatement&>(statement), scope);
      return Flow::next;
    case StatementKind::set: {
      const auto& set = static_cast<const SetStatement&>(statement);
      assign(set.target, evaluate(*set.value, scope), scope);
      return Flow::next;
    }
    case StatementKind::set_block:
      return execute_set_block(static_cast<const SetBlock&>(statement), scope);
    case StatementKind::macro:
      execute_macro(static_cast<const MacroStatement&>(statement), scope);
      return Flow::next;
    case StatementKind::call_block:
      execute_call_block(static_cast<const CallBlock&>(statement), scope);
      return Flow::next;
    case StatementKind::filter_block:
      return execute_filter_block(static_cast<const FilterBlock&>(statement), scope);
    case StatementKind::with:
      return execute_with(static_cast<const WithStatement&>(statement), scope);
    case StatementKind::scope: {
      const auto& block = static_cast<const ScopeStatement&>(statement);
      return execute(block.body, *runtime_.keep<Scope>(block.outermost ? root_ : &scope));
    }
    case StatementKind::break_:
      return Flow::break_loop;
    case StatementKind::continue_:
      return Flow::continue_loop;
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::execute_if(const IfStatement& statement, Scope& scope) {
  for (const auto& [test, body] : statement.branches)
    if (truthy(evaluate(*test, scope))) return execute(body, scope);
  return execute(statement.otherwise, scope);
}

Interpreter::Flow Interpreter::execute_with(const WithStatement& statement, Scope& scope) {
  auto* inner = runtime_.keep<Scope>(&scope);
  for (const auto& [target, value] : statement.values) assign(target, evaluate(*value, scope), *inner);
  return execute(statement.body, *inner);
}

Interpreter::Flow Interpreter::execute_set_block(const SetBlock& block, Scope& scope) {
  TextBuilder captured(runtime_);
  auto* inner = runtime_.keep<Scope>(&scope);
  Flow flow = Flow::next;
  {
    const Capture capture(*this, captured);
    flow = execute(block.body, *inner);
  }
  if (flow != Flow::next) return flow;  // a loop control leaves the block before it assigns
  const Value text = captured.finish();
  assign(block.target,
         block.filter ? apply_filter(static_cast<const FilterCall&>(*block.filter), text, *inner) : text,
         scope);
  return Flow::next;
}

Interpreter::Flow Interpreter::execute_filter_block(const FilterBlock& block, Scope& scope) {
  TextBuilder captured(runtime_);
  auto* inner = runtime_.keep<Scope>(&scope);
  Flow flow = Flow::next;
  {
    const Capture capture(*this, captured);
    flow = execute(block.body, *inner);
  }
  if (flow != Flow::next) return flow;
  const Value text = captured.finish();
  write_block(apply_filter(static_cast<const FilterCall&>(*block.filter), text, *inner));
  return Flow::next;
}

void Interpreter::execute_for(const ForStatement& statement, Scope& scope) {
  Items items = items_of(runtime_, evaluate(*statement.items, scope));
  run_loop(statement, std::move(items), scope, 0);
}

/// The items for which the loop's `if` holds.
Items Interpreter::filtered(const ForStatement& statement, Items items, Scope& scope) {
  if (!statement.condition) return items;
  Items kept(runtime_);
  auto* inner = runtime_.keep<Scope>(&scope);
  for (const Value& item : items) {
    assign(statement.target, item, *inner);
    if (truthy(evaluate(*statement.condition, *inner))) kept.add(item);
    if (inner->captured) inner = runtime_.keep<Scope>(&scope);
  }
  return kept;
}

void Interpreter::run_loop(const ForStatement& statement, Items items, Scope& scope, int64_t depth0) {
  const Runtime::Level level(runtime_);
  auto* loop = runtime_.make<Loop>(filtered(statement, std::move(items), scope));
  loop->depth0 = depth0;
  loop->scope = &scope;
  if (statement.recursive) loop->recursive = &statement;
  // Jinja2 runs `else` unless one round came to its end: a `break` or `continue` in each leaves it on.
  bool any_round_ended = false;
  Scope* inner = runtime_.keep<Scope>(&scope);
  for (size_t i = 0; i < loop->items.size(); ++i) {
    runtime_.set_position(statement.at);
    runtime_.step();
    loop->index0 = i;
    if (inner->captured) inner = runtime_.keep<Scope>(&scope);
    inner->names.clear();
    inner->set("loop", loop);
    assign(statement.target, loop->items[i], *inner);
    const Flow flow = execute(statement.body, *inner);
    if (flow == Flow::break_loop) break;
    any_round_ended |= flow == Flow::next;
  }
  if (!any_round_ended) execute(statement.otherwise, *runtime_.keep<Scope>(&scope));
}

void Interpreter::assign(const Target& target, const Value& value, Scope& scope) {
  if (target.is_tuple) {
    const Items items = items_of(runtime_, value);
    if (items.size() != target.parts.size()) {
      runtime_.set_position(target.at);
      runtime_.fail(fmt::format("{} values to unpack, {} expected", items.size(), target.parts.size()));
    }
    for (size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i], scope);
    return;
  }
  if (!target.attribute) {
    runtime_.step(scope.names.size() / 8);  // names are looked up one by one
    return scope.set(target.name, value);
  }
  runtime_.set_position(target.at);
  Value object;
  for (Scope* around = &scope; around; around = around->parent)
    if (const Value* found = around->find(target.name)) {
      object = *found;
      break;
    }
  const auto* ns = object.as<Namespace>();
  if (!ns) runtime_.fail("cannot assign attribute on non-namespace object");
  ns->attributes->set(runtime_.text(*target.attribute), value);
}

Value Interpreter::make_macro(const MacroDefinition& definition, Scope& scope) {
  for (Scope* around = &scope; around && !around->captured; around = around->parent) around->captured = true;
  return runtime_.make<Macro>(definition, &scope);
}

void Interpreter::execute_macro(const MacroStatement& statement, Scope& scope) {
  scope.set(statement.macro.name, make_macro(statement.macro, scope));
}

void Interpreter::execute_call_block(const CallBlock& block, Scope& scope) {
  const Value caller = make_macro(block.caller, scope);
  write_block(evaluate_call(*block.call, scope, &caller));
}

/// Unlike {{ }}, what a filter or call block gives must be text already.
void Interpreter::write_block(const Value& value) {
  if (!value.is_string()) runtime_.fail(fmt::format("a block must give a string, not {}", type_name(value)));
  out_->append(value.str());
}

}  // namespace minfer::chat::jinja
