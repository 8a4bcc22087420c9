// How values print: what Python's str() and repr() give, written down from Python's documentation and a
// session with it. The oracle compares far more of them.
#include "chat/render.h"

#include <nlohmann/json.hpp>

using minfer::test::render;

TEST_CASE("numbers print as Python's") {
  const std::pair<const char*, const char*> cases[] = {{"1", "1"},
                                                       {"-5", "-5"},
                                                       {"1.0", "1.0"},
                                                       {"0.1", "0.1"},
                                                       {"1e16", "1e+16"},
                                                       {"1e15", "1000000000000000.0"},
                                                       {"1e-5", "1e-05"},
                                                       {"0.0001", "0.0001"},
                                                       {"1.5e300", "1.5e+300"},
                                                       {"-0.0", "-0.0"},
                                                       {"10 / 4", "2.5"},
                                                       {"10 / 5", "2.0"},
                                                       {"7 // 2", "3"},
                                                       {"-7 // 2", "-4"},
                                                       {"-7 % 3", "2"},
                                                       {"7 % -3", "-2"},
                                                       {"2 ** 10", "1024"},
                                                       {"2 ** -1", "0.5"},
                                                       {"7.5 // 2", "3.0"},
                                                       {"-7.5 % 2", "0.5"},
                                                       {"true + 1", "2"},
                                                       {"0.1 + 0.2", "0.30000000000000004"},
                                                       {"1 == 1.0", "True"},
                                                       {"9223372036854775807", "9223372036854775807"},
                                                       {"1_000", "1000"},
                                                       {"0x1F", "31"},
                                                       {"0b101", "5"},
                                                       {"2.5 | round", "2.0"},
                                                       {"3.14159 | round(2)", "3.14"}};
  for (const auto& [expression, expected] : cases) {
    CAPTURE(expression);
    CHECK(render(std::string("{{ ") + expression + " }}") == expected);
  }
}

TEST_CASE("None, booleans and the undefined") {
  CHECK(render("{{ none }}|{{ true }}|{{ false }}|{{ missing }}|{{ [missing, none, true] }}") ==
        "None|True|False||[Undefined, None, True]");
}

TEST_CASE("containers print their items as repr does") {
  CHECK(render("{{ [1, 'a', 2.5, none] }}") == "[1, 'a', 2.5, None]");
  CHECK(render("{{ (1,) }}{{ () }}{{ (1, 'b') }}") == "(1,)()(1, 'b')");
  CHECK(render("{{ {'a': 1, 2: [true]} }}") == "{'a': 1, 2: [True]}");
  CHECK(render("{{ x }}", R"({"x": {"k": [1, null, {"n": "v"}]}})") == "{'k': [1, None, {'n': 'v'}]}");
  CHECK(render("{{ range(3) }}{{ range(1, 9, 2) }}") == "range(0, 3)range(1, 9, 2)");
  CHECK(render("{{ {'a': 1}.items() }}{{ {'a': 1}.keys() }}") == "dict_items([('a', 1)])dict_keys(['a'])");
  CHECK(render("{{ namespace(a=1) }}") == "<Namespace {'a': 1}>");
}

TEST_CASE("repr quotes and escapes strings") {
  const std::pair<std::string, const char*> cases[] = {
      {"plain", "['plain']"},
      {"it's", "[\"it's\"]"},
      {"say \"x\"", "['say \"x\"']"},
      {"both ' and \"", "['both \\' and \"']"},
      {"a\nb\tc\rd\\", "['a\\nb\\tc\\rd\\\\']"},
      {std::string("\0\x1b\x7f", 3), "['\\x00\\x1b\\x7f']"},
      {"\u00e9 \u4f60 \U0001f970", "['\u00e9 \u4f60 \U0001f970']"},
      {"\u00a0\u200b\u2028\ufeff", "['\\xa0\\u200b\\u2028\\ufeff']"},
      {"\U000e0001", "['\\U000e0001']"}};
  for (const auto& [text, expected] : cases)
    CHECK(render("{{ [x] }}", nlohmann::json{{"x", text}}.dump()) == expected);
}

TEST_CASE("an object that holds itself prints once") {
  CHECK(render("{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns.me }}") ==
        "[<Namespace {'me': [...]}>]");
}

TEST_CASE("tojson writes as Python's json.dumps") {
  const char* variables = R"({"x": {"b": [1, 2.0, null, true], "a": "é\"<\n\u0001", "e": {}}})";
  CHECK(render("{{ x | tojson }}", variables) ==
        R"({"b": [1, 2.0, null, true], "a": "é\"<\n\u0001", "e": {}})");
  CHECK(render("{{ x | tojson(ensure_ascii=true, sort_keys=true, separators=(',', ':')) }}", variables) ==
        R"({"a":"\u00e9\"<\n\u0001","b":[1,2.0,null,true],"e":{}})");
  CHECK(render("{{ {'a': [1, {}], 'b': []} | tojson(indent=2) }}") ==
        "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
  CHECK(render("{{ '\\U0001f642' | tojson(ensure_ascii=true) }}") == "\"\\ud83d\\ude42\"");
}

TEST_CASE("string methods count characters, not bytes") {
  const char* variables = "{\"s\": \"h\u00e9llo \u4f60\u597d \U0001f642\"}";
  CHECK(render("{{ s | length }}|{{ s[1] }}|{{ s[-1] }}|{{ s[1:4] }}|{{ s[::-1] }}|{{ s.find('\u597d') }}",
               variables) == "10|\u00e9|\U0001f642|\u00e9ll|\U0001f642 \u597d\u4f60 oll\u00e9h|7");
  CHECK(
      render(
          "{{ 'stra\u00dfe'.upper() }} {{ '\u039f\u0394\u039f\u03a3'.lower() }} {{ '\u01c6x y'.title() }}") ==
      "STRASSE \u03bf\u03b4\u03bf\u03c2 \u01c5x Y");
  CHECK(render("{{ s.center(14, '*') }}", variables) == "**h\u00e9llo \u4f60\u597d \U0001f642**");
}
