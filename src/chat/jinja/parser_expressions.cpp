#include "chat/jinja/parser.h"
#include "chat/jinja/print.h"

namespace minfer::chat::jinja {
namespace {

std::optional<Comparison> comparison_of(const Token& token) {
  if (token.kind != TokenKind::op) return std::nullopt;
  if (token.text == "==") return Comparison::equal;
  if (token.text == "!=") return Comparison::not_equal;
  if (token.text == "<") return Comparison::less;
  if (token.text == "<=") return Comparison::less_equal;
  if (token.text == ">") return Comparison::greater;
  if (token.text == ">=") return Comparison::greater_equal;
  return std::nullopt;
}

std::optional<BinaryOperator> product_of(const Token& token) {
  if (token.kind != TokenKind::op) return std::nullopt;
  if (token.text == "*") return BinaryOperator::multiply;
  if (token.text == "/") return BinaryOperator::divide;
  if (token.text == "//") return BinaryOperator::floor_divide;
  if (token.text == "%") return BinaryOperator::modulo;
  return std::nullopt;
}

}  // namespace

/// One expression, or several with commas between them as a tuple. `end_name` is a name that ends it.
Expression* Parser::parse_tuple(bool with_conditional, bool in_parentheses, std::string_view end_name) {
  const auto at_end = [&] {
    const TokenKind kind = current().kind;
    return kind == TokenKind::output_end || kind == TokenKind::block_end || current().is_op(")") ||
           (!end_name.empty() && current().is_name(end_name));
  };
  const Position at = current().at;
  std::vector<Expression*> items;
  bool is_tuple = false;
  while (true) {
    if (!items.empty()) expect_op(",");
    if (at_end()) break;
    items.push_back(with_conditional ? parse_conditional() : parse_or());
    if (!current().is_op(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return items[0];
  if (!is_tuple && !in_parentheses) fail(current().at, "an expression is missing");
  auto* tuple = make<Sequence>(at, ExpressionKind::tuple);
  tuple->items = std::move(items);
  for (const Expression* item : tuple->items) raise(tuple, item);
  return tuple;
}

Expression* Parser::parse_conditional() {
  const Level level(*this);
  const Position at = current().at;
  const size_t unknown_before = unknown_.size();
  Expression* node = parse_or();
  while (skip_name("if")) {
    auto* conditional = make<Conditional>(at);
    conditional->yes = node;
    conditional->test = parse_or();
    if (skip_name("else")) conditional->no = parse_conditional();
    node = over(conditional, {conditional->yes, conditional->test, conditional->no});
    unknown_.resize(unknown_before);  // see soft_
  }
  return node;
}

Expression* Parser::parse_or() {
  const Position at = current().at;
  Expression* left = parse_and();
  while (skip_name("or")) {
    Expression* right = parse_and();
    left = over(make<Logical>(at, false, left, right), {left, right});
  }
  return left;
}

Expression* Parser::parse_and() {
  const Position at = current().at;
  Expression* left = parse_not();
  while (skip_name("and")) {
    Expression* right = parse_not();
    left = over(make<Logical>(at, true, left, right), {left, right});
  }
  return left;
}

Expression* Parser::parse_not() {
  if (!current().is_name("not")) return parse_compare();
  const Level level(*this);
  const Position at = take().at;
  Expression* operand = parse_not();
  return over(make<Unary>(at, Unary::Operator::invert, operand), {operand});
}

Expression* Parser::parse_compare() {
  Expression* first = parse_sum();
  Compare* compare = nullptr;
  while (true) {
    const Position at = current().at;
    std::optional<Comparison> comparison = comparison_of(current());
    if (comparison) {
      take();
    } else if (skip_name("in")) {
      comparison = Comparison::in;
    } else if (current().is_name("not") && look().is_name("in")) {
      take();
      take();
      comparison = Comparison::not_in;
    } else {
      break;
    }
    if (!compare) compare = over(make<Compare>(at, first), {first});
    compare->rest.emplace_back(*comparison, parse_sum());
    raise(compare, compare->rest.back().second);
  }
  return compare ? compare : first;
}

Expression* Parser::parse_sum() {
  Expression* left = parse_concat();
  while (current().is_op("+") || current().is_op("-")) {
    const Token& op = take();
    Expression* right = parse_concat();
    left = over(
        make<Binary>(op.at, op.text == "+" ? BinaryOperator::add : BinaryOperator::subtract, left, right),
        {left, right});
  }
  return left;
}

Expression* Parser::parse_concat() {
  const Position at = current().at;
  Expression* first = parse_product();
  if (!current().is_op("~")) return first;
  auto* concat = over(make<Concat>(at), {first});
  concat->parts.push_back(first);
  while (skip_op("~")) {
    concat->parts.push_back(parse_product());
    raise(concat, concat->parts.back());
  }
  return concat;
}

Expression* Parser::parse_product() {
  Expression* left = parse_power();
  while (const auto op = product_of(current())) {
    const Position at = take().at;
    Expression* right = parse_power();
    left = over(make<Binary>(at, *op, left, right), {left, right});
  }
  return left;
}

Expression* Parser::parse_power() {
  Expression* left = parse_unary(true);
  while (current().is_op("**")) {
    const Position at = take().at;
    Expression* right = parse_unary(true);
    left = over(make<Binary>(at, BinaryOperator::power, left, right), {left, right});
  }
  return left;
}

Expression* Parser::parse_unary(bool with_filter) {
  const Level level(*this);
  Expression* node = nullptr;
  if (current().is_op("-") || current().is_op("+")) {
    const Token& sign = take();
    Expression* operand = parse_unary(false);
    node = over(
        make<Unary>(sign.at, sign.text == "-" ? Unary::Operator::negate : Unary::Operator::plus, operand),
        {operand});
  } else {
    node = parse_primary();
  }
  node = parse_postfix(node);
  return with_filter ? parse_filters_and_tests(node) : node;
}

Expression* Parser::parse_name() {
  const Token& token = take();
  const std::string& name = token.text;
  if (name == "true" || name == "True") return make<Constant>(token.at, Value(true));
  if (name == "false" || name == "False") return make<Constant>(token.at, Value(false));
  if (name == "none" || name == "None") return make<Constant>(token.at, Value());
  for (MacroDefinition* macro : open_macros_) {
    macro->uses_caller |= name == "caller";
    macro->uses_kwargs |= name == "kwargs";
    macro->uses_varargs |= name == "varargs";
  }
  return make<Name>(token.at, name);
}

Expression* Parser::parse_primary() {
  const Position at = current().at;
  switch (current().kind) {
    case TokenKind::name:
      return parse_name();
    case TokenKind::string: {
      std::string text;
      while (current().kind == TokenKind::string) text += take().text;
      return make<Constant>(at, Value(std::make_shared<const Str>(std::move(text))));
    }
    case TokenKind::integer:
      return make<Constant>(at, Value(take().integer));
    case TokenKind::floating:
      return make<Constant>(at, Value(take().number));
    default:
      break;
  }
  if (skip_op("(")) {
    Expression* inner = parse_tuple(true, true);
    expect_op(")");
    return inner;
  }
  if (current().is_op("[")) return parse_list();
  if (current().is_op("{")) return parse_dict();
  expect(TokenKind::name, "an expression");
  return nullptr;  // not reached
}

Expression* Parser::parse_list() {
  const Position at = take().at;
  auto* list = make<Sequence>(at, ExpressionKind::list);
  while (!current().is_op("]")) {
    if (!list->items.empty()) expect_op(",");
    if (current().is_op("]")) break;
    list->items.push_back(parse_expression());
    raise(list, list->items.back());
  }
  expect_op("]");
  return list;
}

Expression* Parser::parse_dict() {
  const Position at = take().at;
  auto* dict = make<DictLiteral>(at);
  while (!current().is_op("}")) {
    if (!dict->entries.empty()) expect_op(",");
    if (current().is_op("}")) break;
    Expression* key = parse_expression();
    expect_op(":");
    Expression* value = parse_expression();
    dict->entries.emplace_back(key, value);
    over(dict, {key, value});
  }
  expect_op("}");
  return dict;
}

Expression* Parser::parse_postfix(Expression* node) {
  while (true) {
    if (current().is_op(".")) {
      node = parse_dot(node);
    } else if (current().is_op("[")) {
      node = parse_subscript(node);
    } else if (current().is_op("(")) {
      node = parse_call(node);
    } else {
      return node;
    }
  }
}

Expression* Parser::parse_filters_and_tests(Expression* node) {
  while (true) {
    if (current().is_op("|")) {
      node = parse_filters(node, false);
    } else if (current().is_name("is")) {
      node = parse_test(node);
    } else if (current().is_op("(")) {
      node = parse_call(node);
    } else {
      return node;
    }
  }
}

Expression* Parser::parse_dot(Expression* node) {
  const Position at = take().at;
  if (current().kind == TokenKind::integer) {
    auto* index = make<Constant>(at, Value(take().integer));
    return over(make<Subscript>(at, node, index), {node, index});
  }
  const std::string name = expect(TokenKind::name, "a name or number after the dot").text;
  return over(make<Attribute>(at, node, name), {node});
}

Expression* Parser::parse_subscript(Expression* node) {
  const Position at = take().at;
  std::vector<Expression*> indices;
  while (!current().is_op("]")) {
    if (!indices.empty()) expect_op(",");
    indices.push_back(parse_subscript_item());
  }
  expect_op("]");
  Expression* index = nullptr;
  if (indices.size() == 1) {
    index = indices[0];
  } else {
    auto* tuple = make<Sequence>(at, ExpressionKind::tuple);
    tuple->items = std::move(indices);
    for (const Expression* item : tuple->items) raise(tuple, item);
    index = tuple;
  }
  return over(make<Subscript>(at, node, index), {node, index});
}

Expression* Parser::parse_subscript_item() {
  const Position at = current().at;
  Expression* start = nullptr;
  if (!current().is_op(":")) {
    start = parse_expression();
    if (!current().is_op(":")) return start;
  }
  take();
  const auto part = [&]() -> Expression* {
    const bool absent = current().is_op(":") || current().is_op("]") || current().is_op(",");
    return absent ? nullptr : parse_expression();
  };
  auto* slice = make<SliceExpression>(at);
  slice->start = start;
  slice->stop = part();
  if (skip_op(":")) slice->step = part();
  return over(slice, {slice->start, slice->stop, slice->step});
}

void Parser::add_argument(ArgumentList& list, Position open) {
  const auto ensure = [&](bool ok) {
    if (!ok) fail(open, "these arguments are in no order that a call allows");
  };
  if (skip_op("*")) {
    ensure(!list.more_positional && !list.more_named);
    list.more_positional = parse_expression();
  } else if (skip_op("**")) {
    ensure(!list.more_named);
    list.more_named = parse_expression();
  } else if (current().kind == TokenKind::name && look().is_op("=")) {
    ensure(!list.more_named);
    std::string name = take().text;
    take();
    list.named.emplace_back(std::move(name), parse_expression());
  } else {
    ensure(!list.more_positional && !list.more_named && list.named.empty());
    list.positional.push_back(parse_expression());
  }
}

ArgumentList Parser::parse_arguments() {
  const Position open = current().at;
  expect_op("(");
  ArgumentList list;
  bool first = true;
  while (!current().is_op(")")) {
    if (!first) {
      expect_op(",");
      if (current().is_op(")")) break;
    }
    first = false;
    add_argument(list, open);
  }
  expect_op(")");
  return list;
}

Expression* Parser::parse_call(Expression* node) {
  auto* call = make<Call>(current().at, node);
  call->arguments = parse_arguments();
  raise(call, call->arguments);
  return over(call, {node});
}

std::string Parser::parse_dotted_name() {
  std::string name = expect(TokenKind::name, "a name").text;
  while (skip_op(".")) name += "." + expect(TokenKind::name, "a name after the dot").text;
  return name;
}

Expression* Parser::parse_filters(Expression* input, bool first_without_pipe) {
  while (first_without_pipe || current().is_op("|")) {
    if (!first_without_pipe) take();
    first_without_pipe = false;
    const Position at = current().at;
    auto* filter = make<FilterCall>(at, input, parse_dotted_name());
    filter->code = find_filter(filter->name);
    if (!filter->code && !soft_)
      unknown_.emplace_back(at, fmt::format("no filter named {}", quoted(filter->name)));
    if (current().is_op("(")) filter->arguments = parse_arguments();
    raise(filter, filter->arguments);
    input = over(filter, {input});
  }
  return input;
}

Expression* Parser::parse_test(Expression* node) {
  const Position at = take().at;
  const bool negated = skip_name("not");
  auto* test = make<TestCall>(at, node, parse_dotted_name());
  test->code = find_test(test->name);
  if (!test->code && !soft_) unknown_.emplace_back(at, fmt::format("no test named {}", quoted(test->name)));
  const TokenKind kind = current().kind;
  const bool starts_argument = kind == TokenKind::name || kind == TokenKind::string ||
                               kind == TokenKind::integer || kind == TokenKind::floating ||
                               current().is_op("[") || current().is_op("{");
  const bool ends_test = current().is_name("else") || current().is_name("or") || current().is_name("and");
  if (current().is_op("(")) {
    test->arguments = parse_arguments();
  } else if (starts_argument && !ends_test) {
    if (current().is_name("is")) fail(current().at, "tests with `is` cannot be chained");
    test->arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  raise(test, test->arguments);
  over(test, {node});
  if (!negated) return test;
  return over(make<Unary>(at, Unary::Operator::invert, test), {test});
}

}  // namespace minfer::chat::jinja
