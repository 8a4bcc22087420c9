#include "chat/jinja/parser.h"
#include "chat/jinja/print.h"

namespace minfer::chat::jinja {
namespace {

/// Sets a variable for as long as it lives.
template <class T>
class Temporarily {
 public:
  Temporarily(T& variable, T value) : variable_(variable), before_(variable) { variable = value; }
  ~Temporarily() { variable_ = before_; }

 private:
  T& variable_;
  T before_;
};

bool is_one_of(const Token& token, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (token.is_name(name)) return true;
  return false;
}

bool is_constant_name(std::string_view name) {
  return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" ||
         name == "None";
}

}  // namespace

/// Text, output and statements up to one of the end tags, which stays the current token, or up to the end of
/// the template if there are none.
Body Parser::parse_body(Names end_tags) {
  Body body;
  while (true) {
    const Token& token = current();
    switch (token.kind) {
      case TokenKind::data:
        body.push_back(make<TextStatement>(token.at, take().text));
        break;
      case TokenKind::output_begin:
        body.push_back(parse_output());
        break;
      case TokenKind::block_begin:
        take();
        if (is_one_of(current(), end_tags)) return body;
        body.push_back(parse_statement());
        expect(TokenKind::block_end, "'%}'");
        break;
      default:
        if (end_tags.size() > 0)
          fail(token.at, fmt::format("the template ends where {} is expected", quoted(*end_tags.begin())));
        return body;
    }
  }
}

/// The body of a block statement: from the end of its tag to one of the end tags.
Body Parser::parse_block_body(Names end_tags) {
  skip_op(":");
  expect(TokenKind::block_end, "'%}'");
  return parse_body(end_tags);
}

Statement* Parser::parse_output() {
  const Position at = take().at;
  auto* output = make<OutputStatement>(at);
  output->values.push_back(parse_tuple(true, false));
  expect(TokenKind::output_end, "'}}'");
  return output;
}

Statement* Parser::parse_statement() {
  const Level level(*this);
  const Token& tag = expect(TokenKind::name, "the name of a statement");
  return parse_named_statement(tag);
}

Statement* Parser::parse_named_statement(const Token& tag) {
  if (tag.text == "if") return parse_if(tag.at);
  if (tag.text == "for") return parse_for(tag.at);
  if (tag.text == "set") return parse_set(tag.at);
  if (tag.text == "macro") return parse_macro(tag.at);
  if (tag.text == "call") return parse_call_block(tag.at);
  if (tag.text == "filter") return parse_filter_block(tag.at);
  if (tag.text == "with") return parse_with(tag.at);
  if (tag.text == "print") return parse_print(tag.at);
  if (tag.text == "block") return parse_block(tag.at);
  if (tag.text == "generation") return parse_generation(tag.at);
  if (tag.text == "break" || tag.text == "continue") return parse_loop_control(tag);
  if (is_one_of(tag, {"extends", "include", "import", "from", "autoescape"}))
    fail(tag.at,
         fmt::format("the statement {} is not supported: a chat template is one text", quoted(tag.text)));
  fail(tag.at, fmt::format("unknown statement {}", quoted(tag.text)));
}

Statement* Parser::parse_print(Position at) {
  auto* output = make<OutputStatement>(at);
  while (current().kind != TokenKind::block_end) {
    if (!output->values.empty()) expect_op(",");
    output->values.push_back(parse_expression());
  }
  return output;
}

Statement* Parser::parse_for(Position at) {
  const Temporarily<int> in_loop(loops_, loops_ + 1);
  auto* loop = make<ForStatement>(at);
  loop->target = parse_target(false, "in");
  expect_name("in");
  loop->items = parse_tuple(false, false, "recursive");
  const Temporarily<bool> hard(soft_, false);
  if (skip_name("if")) loop->condition = parse_expression();
  loop->recursive = skip_name("recursive");
  loop->body = parse_block_body({"endfor", "else"});
  if (take().text == "else") {
    loop->otherwise = parse_block_body({"endfor"});
    take();
  }
  return loop;
}

Statement* Parser::parse_if(Position at) {
  const Temporarily<bool> soft(soft_, true);
  auto* statement = make<IfStatement>(at);
  while (true) {
    Expression* test = parse_tuple(false, false);
    statement->branches.emplace_back(test, parse_block_body({"elif", "else", "endif"}));
    const std::string tag = take().text;
    if (tag == "elif") continue;
    if (tag == "else") {
      statement->otherwise = parse_block_body({"endif"});
      take();
    }
    return statement;
  }
}

Statement* Parser::parse_set(Position at) {
  Target target = parse_target(true, {});
  if (skip_op("=")) {
    auto* set = make<SetStatement>(at);
    set->target = std::move(target);
    set->value = parse_tuple(true, false);
    return set;
  }
  const Temporarily<bool> hard(soft_, false);
  auto* block = make<SetBlock>(at);
  block->target = std::move(target);
  if (current().is_op("|")) block->filter = parse_filters(nullptr, false);
  block->body = parse_block_body({"endset"});
  take();
  return block;
}

void Parser::parse_signature(MacroDefinition& macro) {
  expect_op("(");
  while (!current().is_op(")")) {
    if (!macro.parameters.empty()) expect_op(",");
    const Position at = current().at;
    macro.parameters.push_back(parse_target_name());
    if (skip_op("=")) {
      macro.defaults.push_back(parse_expression());
    } else if (!macro.defaults.empty()) {
      fail(at, "a parameter without default follows one with a default");
    }
  }
  expect_op(")");
}

void Parser::parse_macro_body(MacroDefinition& macro, Position at, std::string_view end_tag) {
  const Temporarily<int> outside_loops(loops_,
                                       0);  // a macro is a function: nothing in it breaks a loop around
  open_macros_.push_back(&macro);
  macro.body = parse_block_body({end_tag});
  take();
  open_macros_.pop_back();
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const bool has_default = i + macro.defaults.size() >= macro.parameters.size();
    if (macro.parameters[i] == "caller" && macro.uses_caller && !has_default)
      fail(at, "the special parameter `caller` must be left out or have a default");
  }
}

Statement* Parser::parse_macro(Position at) {
  const Temporarily<bool> hard(soft_, false);
  auto* statement = make<MacroStatement>(at);
  statement->macro.name = parse_target_name();
  parse_signature(statement->macro);
  parse_macro_body(statement->macro, at, "endmacro");
  return statement;
}

Statement* Parser::parse_call_block(Position at) {
  const Temporarily<bool> hard(soft_, false);
  auto* block = make<CallBlock>(at);
  if (current().is_op("(")) parse_signature(block->caller);
  Expression* call = parse_expression();
  if (call->kind != ExpressionKind::call) fail(at, "`call` must be followed by a call");
  block->call = static_cast<Call*>(call);
  parse_macro_body(block->caller, at, "endcall");
  return block;
}

Statement* Parser::parse_filter_block(Position at) {
  const Temporarily<bool> hard(soft_, false);
  auto* block = make<FilterBlock>(at);
  block->filter = parse_filters(nullptr, true);
  block->body = parse_block_body({"endfilter"});
  take();
  return block;
}

Statement* Parser::parse_with(Position at) {
  auto* with = make<WithStatement>(at);
  while (current().kind != TokenKind::block_end) {
    if (!with->values.empty()) expect_op(",");
    Target target = parse_target(false, {});
    expect_op("=");
    with->values.emplace_back(std::move(target), parse_expression());
  }
  const Temporarily<bool> hard(soft_, false);
  with->body = parse_block_body({"endwith"});
  take();
  return with;
}

/// Without other templates to extend, a block is its body, which sees the outermost names only unless it is
/// `scoped`.
Statement* Parser::parse_block(Position at) {
  const std::string name = expect(TokenKind::name, "the name of the block").text;
  const bool scoped = skip_name("scoped");
  if (current().is_name("required")) fail(at, "a required block needs a template that fills it");
  const Temporarily<bool> hard(soft_, false);
  auto* block = make<ScopeStatement>(at, !scoped);
  block->body = parse_block_body({"endblock"});
  take();
  skip_name(name);
  return block;
}

/// Marks what the assistant wrote, for training; rendering goes through it.
Statement* Parser::parse_generation(Position at) {
  const Temporarily<bool> hard(soft_, false);
  auto* block = make<ScopeStatement>(at, false);
  block->body = parse_block_body({"endgeneration"});
  take();
  return block;
}

Statement* Parser::parse_loop_control(const Token& tag) {
  if (loops_ == 0) fail(tag.at, fmt::format("{} outside of a loop", quoted(tag.text)));
  return make<LoopControl>(tag.at, tag.text == "break" ? StatementKind::break_ : StatementKind::continue_);
}

std::string Parser::parse_target_name() {
  const Token& token = expect(TokenKind::name, "a name");
  if (is_constant_name(token.text))
    fail(token.at, fmt::format("{} cannot be assigned to", quoted(token.text)));
  return token.text;
}

Target Parser::parse_target_item(bool with_namespace) {
  const Level level(*this);
  Target target;
  target.at = current().at;
  if (skip_op("(")) {
    target = parse_target(false, {});
    expect_op(")");
    return target;
  }
  target.name = parse_target_name();
  if (with_namespace && skip_op(".")) {
    target.attribute = expect(TokenKind::name, "a name after the dot").text;
  } else if (target.name == "loop" && loops_ > 0) {
    fail(target.at, "`loop` cannot be assigned to inside a for");
  }
  return target;
}

/// One target, or several with commas between them. `end_name` is a name that ends them.
Target Parser::parse_target(bool with_namespace, std::string_view end_name) {
  Target tuple;
  tuple.at = current().at;
  const auto at_end = [&] {
    const TokenKind kind = current().kind;
    return kind == TokenKind::block_end || current().is_op(")") || current().is_op("=") ||
           (!end_name.empty() && current().is_name(end_name));
  };
  while (true) {
    if (!tuple.parts.empty()) expect_op(",");
    if (!tuple.parts.empty() && at_end()) break;
    tuple.parts.push_back(parse_target_item(with_namespace));
    if (!current().is_op(",")) break;
    tuple.is_tuple = true;
  }
  if (!tuple.is_tuple) return Target(std::move(tuple.parts[0]));
  return tuple;
}

}  // namespace minfer::chat::jinja
