// Templates made to harm: each ends in an Error that names a place, at once and within bounded memory.
#include <sys/resource.h>

#include <chrono>
#include <ctime>

#include "chat/render.h"
#include "tolerance.h"

using minfer::test::refusal;
using minfer::test::render;

namespace {

// A sanitizer multiplies time and memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

std::string times(std::string_view text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("hostile templates end in an Error with a place, in bounded time and memory") {
  const std::string deep = times("(", 20'000) + "1" + times(")", 20'000);
  const std::pair<std::string, std::string> cases[] = {
      {"parentheses", "{{ " + deep + " }}"},
      {"lists", "{{ " + times("[", 20'000) + times("]", 20'000) + " }}"},
      {"dicts", "{{ " + times("{1:", 20'000) + "1" + times("}", 20'000) + " }}"},
      {"calls", "{{ x" + times("(x", 20'000) + times(")", 20'000) + " }}"},
      {"subscripts", "{{ x" + times("[x", 20'000) + times("]", 20'000) + " }}"},
      {"nots", "{{ " + times("not ", 100'000) + "x }}"},
      {"signs", "{{ " + times("-", 100'000) + "1 }}"},
      {"sum", "{{ 1" + times("+1", 100'000) + " }}"},
      {"attributes", "{{ x" + times(".a", 100'000) + " }}"},
      {"filters", "{{ x" + times("|string", 100'000) + " }}"},
      {"conditionals", "{{ " + times("1 if 1 else ", 50'000) + "1 }}"},
      {"blocks", times("{% if 1 %}", 20'000)},
      {"closed blocks", times("{% for i in x %}", 20'000) + times("{% endfor %}", 20'000)},
      {"targets", "{% set " + times("(", 20'000) + "a" + times(")", 20'000) + " = 1 %}"},
      {"macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"},
      {"macros that call each other",
       "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}"},
      {"caller of itself", "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}"},
      {"default of itself", "{% macro m(x=m()) %}{% endmacro %}{{ m() }}"},
      {"recursive loop", "{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}"},
      {"range", "{% for i in range(100000000) %}{% endfor %}"},
      {"range of ranges", times("{% for i in range(100000) %}", 5) + "x" + times("{% endfor %}", 5)},
      {"empty loops", times("{% for i in range(100000) %}", 9) + times("{% endfor %}", 9)},
      {"doubled text",
       "{% set ns = namespace(s='x') %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}"},
      {"doubled text by ~",
       "{% set ns = namespace(s='x') %}{% for i in range(40) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"},
      {"doubled list",
       "{% set ns = namespace(s=[1]) %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}"},
      {"doubled reference",
       "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ "
       "ns.s }}"},
      {"doubled reference as JSON",
       "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ "
       "ns.s | tojson }}"},
      {"doubled references compared",
       "{% set ns = namespace(s=[1], t=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% set "
       "ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.s == ns.t }}"},
      {"doubled output",
       "{% set a %}{{ 'x' * 1000000 }}{% endset %}{% for i in range(1000) %}{{ a }}{% endfor %}"},
      {"repeated text", "{{ 'a' * 10 ** 9 }}"},
      {"repeated text, huge", "{{ 'a' * 9223372036854775807 }}"},
      {"repeated list", "{{ [0] * 10 ** 9 }}"},
      {"repeated list of none", "{{ ([0] * 10000) * 10000 }}"},
      {"join", "{{ range(100000) | join('x' * 100000) }}"},
      {"replace", "{{ ('a' * 100000) | replace('', 'b' * 100000) }}"},
      {"replace each", "{{ ('a' * 100000).replace('a', 'b' * 100000) }}"},
      {"format width", "{{ '%1000000000d' % 1 }}"},
      {"format precision", "{{ '%.1000000000f' % 1 }}"},
      {"format star", "{{ '%*d' % (1000000000, 1) }}"},
      {"braces width", "{{ '{:1000000000}'.format(1) }}"},
      {"braces precision", "{{ '{:.1000000000f}'.format(1.0) }}"},
      {"nested braces", "{{ '" + times("{", 10'001) + "'.format(1) }}"},
      {"center", "{{ 'x' | center(1000000000) }}"},
      {"ljust", "{{ 'x'.ljust(1000000000) }}"},
      {"zfill", "{{ 'x'.zfill(1000000000) }}"},
      {"expandtabs", "{{ '\\t'.expandtabs(1000000000) }}"},
      {"indent", "{{ 'a\\nb' | indent(1000000000) }}"},
      {"indent of JSON", "{{ [1] | tojson(indent=1000000000) }}"},
      {"batch", "{{ [1] | batch(1000000000, 0) | list }}"},
      {"slice", "{{ [1] | slice(1000000000) | list }}"},
      {"power", "{{ 10 ** 10 ** 10 }}"},
      {"sums",
       "{% set ns = namespace(x=1) %}{% for i in range(100) %}{% set ns.x = ns.x * 10 %}{% endfor %}"},
      {"deep list",
       "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x "
       "}}"},
      {"deep list as JSON",
       "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x "
       "| tojson }}"},
      {"deep list compared",
       "{% set ns = namespace(x=[], y=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% set ns.y = "
       "[ns.y] %}{% endfor %}{{ ns.x == ns.y }}"},
      {"deep list sorted",
       "{% set ns = namespace(x=[], y=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% set ns.y = "
       "[ns.y] %}{% endfor %}{{ [ns.x, ns.y] | sort }}"},
      {"deep tuple as a key",
       "{% set ns = namespace(x=()) %}{% for i in range(100000) %}{% set ns.x = (ns.x,) %}{% endfor %}{{ "
       "{ns.x: 1} }}"},
      {"list that holds itself as JSON",
       "{% set ns = namespace() %}{% set ns.l = [ns] %}{{ ns.l | tojson }}"},
      {"lists of characters", "{{ ('a' * 60000000) | list | length }}"},
      {"split", "{{ ('a,' * 30000000).split(',') | length }}"},
      {"mapped map",
       "{{ [[[1]]] | map('map', 'map', 'map', 'map') | list | map('list') | list | nofilter }}"},
      {"searches",
       "{% for i in range(100000) %}{% if ('a' * 30000000) in ('a' * 30000001) %}{% endif %}{% endfor %}"},
      {"upper case",
       "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set t = s | upper %}{% endfor %}"},
      {"big source", "{{ x }}" + times(" ", 2'000'000)},
  };
  for (const auto& [name, source] : cases) {
    CAPTURE(name);
    const std::clock_t start = std::clock();
    const std::string message = refusal(source, R"({"x": 1})");
    const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    CHECK(message.starts_with("bad_model: chat template"));
    if (!sanitized) CHECK_MESSAGE(seconds < minfer::tol::hostile_template_seconds, seconds);
  }
  // Peak of the whole program: what one rendering may use, with the growth of a vector or string besides.
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __linux__
  if (!sanitized) CHECK(usage.ru_maxrss / 1024 < minfer::tol::hostile_template_mib);
#endif
}

TEST_CASE("errors name line and column, in characters") {
  CHECK(refusal("line one\n  \u00e9\u00e9 {{ 1 + 'a' }}") ==
        "bad_model: chat template, line 2, column 11: unsupported operand type(s) for +: 'int' and 'str'");
  CHECK(refusal("{% if x %}").find("line 1, column 11") != std::string::npos);
  CHECK(refusal("{{ x | nofilter }}").find("line 1, column 8: no filter named 'nofilter'") !=
        std::string::npos);
  CHECK(refusal("\n{{ x is notest }}").find("line 2, column 6: no test named 'notest'") != std::string::npos);
  CHECK(refusal("{% do x %}").find("unknown statement 'do'") != std::string::npos);
  CHECK(refusal("{% include 'x' %}").find("not supported") != std::string::npos);
  CHECK(refusal("a\n\n  {# never closed").find("line 3, column 3") != std::string::npos);
  CHECK(refusal("{{ 'open }}").find("line 1, column 4") != std::string::npos);
  CHECK(refusal("{{ 99999999999999999999 }}").find("64 bits") != std::string::npos);
  CHECK(refusal("{{ 9223372036854775807 + 1 }}").find("64 bits") != std::string::npos);
  CHECK(refusal("{{ '\xff' }}").find("no UTF-8") != std::string::npos);
}

TEST_CASE("what is unknown fails only when it is reached, where the language allows to ask first") {
  CHECK(render("{% if 'nofilter' is filter %}{{ 1 | nofilter }}{% else %}no{% endif %}") == "no");
  CHECK(render("{{ (1 | nofilter) if false else 'no' }}") == "no");
  CHECK(refusal("{% if true %}{{ 1 | nofilter }}{% endif %}").find("line 1, column 21") != std::string::npos);
  CHECK(
      refusal("{% if false %}{% for x in y %}{{ 1 | nofilter }}{% endfor %}{% endif %}").find("no filter") !=
      std::string::npos);
}

TEST_CASE("limits are those that were asked for") {
  minfer::chat::jinja::Limits limits;
  limits.steps = 100;
  CHECK(refusal("{% for i in range(1000) %}{{ i }}{% endfor %}", "{}", limits).find("more than 100 steps") !=
        std::string::npos);
  limits = {};
  limits.text_bytes = 10;
  CHECK(refusal("0123456789a", "{}", limits).find("more than 10 bytes") != std::string::npos);
  CHECK(render("0123456789", "{}", limits) == "0123456789");
  limits = {};
  limits.depth = 5;
  CHECK(refusal("{{ [[[[[[1]]]]]] }}", "{}", limits).find("more than 5 nested") != std::string::npos);
  limits = {};
  limits.memory_bytes = 10'000;
  CHECK(refusal("{{ range(1000) | list }}", "{}", limits).find("more than 10000 bytes of memory") !=
        std::string::npos);
}
