// Who wrote what: text of messages stays untrusted through every operation, the template's own stays trusted.
#include "chat/render.h"

using minfer::test::render_pieces;
using Pieces = std::vector<std::pair<std::string, bool>>;

namespace {

Pieces pieces(const std::string& expression, const std::string& user = "a<b>c") {
  const std::string u = '"' + user + '"';
  return render_pieces("{{ " + expression + " }}",
                       R"({"u": )" + u + R"(, "l": [)" + u + R"(, "z"], "d": {"k": )" + u + "}}");
}

}  // namespace

TEST_CASE("text of the template is trusted, text of a variable is not") {
  CHECK(render_pieces("x{{ u }}y", R"({"u": "U"})") == Pieces{{"x", true}, {"U", false}, {"y", true}});
  CHECK(pieces("'x' + u + 'y'") == Pieces{{"x", true}, {"a<b>c", false}, {"y", true}});
  CHECK(pieces("'x' ~ u ~ 1") == Pieces{{"x", true}, {"a<b>c", false}, {"1", true}});
  CHECK(pieces("u ~ u") == Pieces{{"a<b>ca<b>c", false}});
}

TEST_CASE("operations carry provenance along, byte by byte") {
  CHECK(pieces("('xx' + u)[1:4]") == Pieces{{"x", true}, {"a<", false}});
  CHECK(pieces("('xx' + u)[::-1]") == Pieces{{"c>b<a", false}, {"xx", true}});
  CHECK(pieces("(' x' + u) | trim") == Pieces{{"x", true}, {"a<b>c", false}});
  CHECK(pieces("('x' + u).upper()") == Pieces{{"X", true}, {"A<B>C", false}});
  CHECK(pieces("u | title") == Pieces{{"A<B>c", false}});
  CHECK(pieces("u | replace('<', '[')") == Pieces{{"a", false}, {"[", true}, {"b>c", false}});
  CHECK(pieces("'a-b' | replace('-', u)") == Pieces{{"a", true}, {"a<b>c", false}, {"b", true}});
  CHECK(pieces("l | join('-')") == Pieces{{"a<b>c", false}, {"-", true}, {"z", false}});
  CHECK(pieces("u.split('<')[1]") == Pieces{{"b>c", false}});
  CHECK(pieces("('x<' + u).partition('<')[0]") == Pieces{{"x", true}});
  CHECK(pieces("'%s|%s' % (u, 'x')") == Pieces{{"a<b>c", false}, {"|x", true}});
  CHECK(pieces("'{}|{}'.format(u, 1)") == Pieces{{"a<b>c", false}, {"|1", true}});
  CHECK(pieces("u * 2") == Pieces{{"a<b>ca<b>c", false}});
  CHECK(pieces("u | indent(1, true)") == Pieces{{" ", true}, {"a<b>c", false}});
  CHECK(pieces("u | center(7)") == Pieces{{" ", true}, {"a<b>c", false}, {" ", true}});
  CHECK(pieces("u | e") == Pieces{{"a&lt;b&gt;c", false}});
  CHECK(pieces("u | list | first") == Pieces{{"a", false}});
  CHECK(pieces("d | items | first | last") == Pieces{{"a<b>c", false}});
  CHECK(pieces("(d | dictsort)[0][1]") == Pieces{{"a<b>c", false}});
  CHECK(pieces("[u, 'x'] | max") == Pieces{{"x", true}});
  CHECK(pieces("missing | default(u)") == Pieces{{"a<b>c", false}});
  CHECK(pieces("u if true else 'x'") == Pieces{{"a<b>c", false}});
  CHECK(pieces("u or 'x'") == Pieces{{"a<b>c", false}});
  CHECK(pieces("u | urlencode") == Pieces{{"a%3Cb%3Ec", false}});
}

TEST_CASE("printed containers of a message are untrusted as a whole, of the template item by item") {
  CHECK(pieces("d") == Pieces{{"{'k': 'a<b>c'}", false}});
  CHECK(pieces("d | tojson") == Pieces{{R"({"k": "a<b>c"})", false}});
  CHECK(pieces("[u]") == Pieces{{"['", true}, {"a<b>c", false}, {"']", true}});
  CHECK(pieces("{'x': u} | tojson") == Pieces{{R"({"x": ")", true}, {"a<b>c", false}, {R"("})", true}});
}

TEST_CASE("macros, set blocks and filters keep it too") {
  CHECK(render_pieces("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(u) }}", R"({"u": "U"})") ==
        Pieces{{"<", true}, {"U", false}, {">", true}});
  CHECK(render_pieces("{% set s %}({{ u }}){% endset %}{{ s | upper }}", R"({"u": "u"})") ==
        Pieces{{"(", true}, {"U", false}, {")", true}});
  CHECK(render_pieces("{% filter trim %}  {{ u }} {% endfilter %}", R"({"u": "u"})") == Pieces{{"u", false}});
  CHECK(render_pieces("{% for c in u %}{{ c }}.{% endfor %}", R"({"u": "ab"})") ==
        Pieces{{"a", false}, {".", true}, {"b", false}, {".", true}});
  CHECK(render_pieces("{% for k in d %}{{ k }}{% endfor %}", R"({"d": {"key": 1}})") ==
        Pieces{{"key", false}});
}
