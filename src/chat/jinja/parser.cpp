#include "chat/jinja/parser.h"

#include "base/error.h"
#include "chat/jinja/print.h"
#include "tokenizer/utf8.h"

namespace minfer::chat::jinja {
namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::data:
      return "text";
    case TokenKind::output_begin:
      return "'{{'";
    case TokenKind::output_end:
      return "'}}'";
    case TokenKind::block_begin:
      return "'{%'";
    case TokenKind::block_end:
      return "'%}'";
    case TokenKind::string:
      return "a string";
    case TokenKind::integer:
    case TokenKind::floating:
      return "a number";
    case TokenKind::end:
      return "the end of the template";
    case TokenKind::name:
    case TokenKind::op:
      break;
  }
  return quoted(token.text);
}

}  // namespace

std::unique_ptr<const Program> Program::parse(std::string_view source) {
  if (source.size() > max_template_bytes)
    throw Error(ErrorCode::bad_model,
                fmt::format("chat template: its source has {} bytes; at most {} are expected", source.size(),
                            max_template_bytes));
  if (const size_t valid = utf8::valid_prefix(source); valid != source.size())
    throw Error(ErrorCode::bad_model, fmt::format("chat template: byte {} of its source is no UTF-8", valid));
  auto program = std::make_unique<Program>();
  program->source = normalise_source(source);
  Parser(*program).run();
  return program;
}

void Parser::run() {
  program_.body = parse_body({});
  if (!unknown_.empty()) fail(unknown_.front().first, unknown_.front().second);
}

const Token& Parser::take() {
  const Token& token = current();
  if (token.kind != TokenKind::end) ++next_;
  return token;
}

bool Parser::skip_op(std::string_view op) {
  if (!current().is_op(op)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  take();
  return true;
}

const Token& Parser::expect(TokenKind kind, std::string_view what) {
  if (current().kind != kind)
    fail(current().at, fmt::format("expected {}, found {}", what, describe(current())));
  return take();
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) fail(current().at, fmt::format("expected '{}', found {}", op, describe(current())));
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) fail(current().at, fmt::format("expected '{}', found {}", name, describe(current())));
}

void Parser::fail(Position at, const std::string& message) const { fail_at(program_.source, at, message); }

void Parser::fail_depth() const {
  fail(current().at, fmt::format("more than {} levels of nesting", max_source_depth));
}

void Parser::raise(Expression* node, const Expression* operand) const {
  if (!operand) return;
  node->height = std::max(node->height, operand->height + 1);
  if (node->height > max_source_depth) fail_depth();
}

void Parser::raise(Expression* node, const ArgumentList& arguments) const {
  for (const Expression* argument : arguments.positional) raise(node, argument);
  for (const auto& argument : arguments.named) raise(node, argument.second);
  raise(node, arguments.more_positional);
  raise(node, arguments.more_named);
}

}  // namespace minfer::chat::jinja
