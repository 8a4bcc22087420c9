#pragma once
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "chat/jinja/limits.h"

namespace minfer::test {

/// A template rendered with variables, a JSON object, which are untrusted as messages are; as pieces of one
/// provenance each.
std::vector<std::pair<std::string, bool>> render_pieces(std::string_view source,
                                                        std::string_view variables = "{}",
                                                        chat::jinja::Limits limits = {});

std::string render(std::string_view source, std::string_view variables = "{}",
                   chat::jinja::Limits limits = {});

/// What the template is refused with: "CODE: message". Fails the test if it is not.
std::string refusal(std::string_view source, std::string_view variables = "{}",
                    chat::jinja::Limits limits = {});

}  // namespace minfer::test
