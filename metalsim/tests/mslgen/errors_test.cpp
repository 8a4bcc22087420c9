// What the translator does not understand, or Metal does not allow, is an error with file, line and column.
#include <doctest/doctest.h>

#include "translate.h"

using metalsim::test::error_of;

namespace {

struct Refused {
  const char* source;
  const char* error;
};

const Refused refused[] = {
    // attributes
    {"kernel void k(device float* y [[bufer(0)]]) {}\n", "t.metal:1:33: error: unknown attribute [[bufer]]"},
    {"\nkernel void k(device float* y [[buffer(0)]],\n              uint i) {}\n",
     "t.metal:3:20: error: parameter `i` of kernel `k` has no attribute that says where its value comes "
     "from, such as "
     "[[buffer(0)]]"},
    {"kernel void k(device float* y [[buffer]]) {}\n", "t.metal:1:33: error: [[buffer]] needs an index"},
    {"kernel void k(uint i [[thread_position_in_grid]] [[thread_index_in_simdgroup]]) {}\n",
     "t.metal:1:52: error: parameter `i` has both [[thread_position_in_grid]] and "
     "[[thread_index_in_simdgroup]]"},
    {"struct A { device float* p [[id(0)]]; };\n",
     "t.metal:1:30: error: attribute [[id]] is not supported: metalsim runs compute kernels on buffers, "
     "without "
     "textures, argument buffers, function tables or graphics"},
    {"kernel void k(texture2d<float> t [[texture(0)]]) {}\n",
     "t.metal:1:15: error: `texture2d` is not supported: metalsim runs compute kernels on buffers"},
    {"constexpr sampler s(filter::linear);\n",
     "t.metal:1:11: error: `sampler` is not supported: metalsim runs compute kernels on buffers"},
    {"[[visible]] float f(float x) { return x; }\n",
     "t.metal:1:3: error: attribute [[visible]] is not supported: metalsim runs compute kernels on buffers, "
     "without "
     "textures, argument buffers, function tables or graphics"},
    {"[[host_name(k)]] kernel void k() {}\n", "t.metal:1:13: error: [[host_name]] needs a string"},

    // kernels
    {"kernel int k() { return 1; }\n", "t.metal:1:12: error: kernel `k` must return void"},
    {"kernel void k() {}\nkernel void k() {}\n", "t.metal:2:13: error: kernel `k` is defined twice"},
    {"kernel void a() {}\n[[host_name(\"a\")]] kernel void b() {}\n",
     "t.metal:2:32: error: two kernels have the host name \"a\""},
    {"template <int N> kernel void k() {}\ntemplate [[host_name(\"x\")]] kernel void k<1>();\n"
     "template [[host_name(\"x\")]] kernel void k<2>();\n",
     "t.metal:3:22: error: two kernels have the host name \"x\""},
    {"template <int N> kernel void k() {}\ntemplate kernel void k<1>();\n",
     "t.metal:2:1: error: an instantiation of a kernel needs [[host_name(\"...\")]]"},
    {"template <int N> void k() {}\ntemplate [[host_name(\"x\")]] void k<1>();\n",
     "t.metal:2:1: error: an instantiation with [[host_name]] must say `kernel`"},
    {"template [[host_name(\"x\")]] kernel void k<1>();\n",
     "t.metal:1:22: error: no kernel template `k` to instantiate"},
    {"template <int N> kernel void k() {}\ntemplate [[host_name(\"x\")]] kernel void k();\n",
     "t.metal:2:41: error: expected `function<arguments>` in the instantiation of a kernel"},
    {"vertex float4 v() { return 0; }\n",
     "t.metal:1:1: error: vertex functions are not supported: metalsim runs compute kernels"},

    // constants
    {"float x = 1;\n",
     "t.metal:1:7: error: program-scope variable `x` must be in the constant address space"},
    {"static constexpr int n = 4;\n",
     "t.metal:1:22: error: program-scope variable `n` must be in the constant address space"},
    {"struct A { int x; };\nconstant A a [[function_constant(0)]];\n",
     "t.metal:2:12: error: function constant `a` has type `A`; scalars and vectors of up to 16 bytes can be "
     "function "
     "constants"},
    {"constant long4 a [[function_constant(0)]];\n",
     "t.metal:1:16: error: function constant `a` has type `long4`; scalars and vectors of up to 16 bytes can "
     "be "
     "function constants"},
    {"constant int a [[function_constant(0)]];\nconstant int b [[function_constant(0)]];\n",
     "t.metal:2:14: error: function constants `a` and `b` have the same index 0"},
    {"constant int a [[function_constant(0)]] = 4;\n",
     "t.metal:1:43: error: a function constant cannot be initialised; the host sets it"},
    {"constant int a [[function_constant]];\n", "t.metal:1:18: error: [[function_constant]] needs an index"},
    {"constant int a [[function_constant(0)]], b [[function_constant(1)]];\n",
     "t.metal:1:40: error: function constants, and what is computed from them, are declared one by one and "
     "are no "
     "arrays"},
    {"constant int n = 3;\nconstant bool b = is_function_constant_defined(n);\n",
     "t.metal:2:19: error: is_function_constant_defined needs the name of a function constant"},

    // threadgroup variables
    {"void f() {\n  threadgroup float x[4];\n}\n",
     "t.metal:2:3: error: a threadgroup variable can be declared in a kernel only; pass its address to this "
     "function"},
    {"kernel void k() {\n  threadgroup float x = 1;\n}\n",
     "t.metal:2:23: error: threadgroup variable `x` cannot be initialised"},
    {"kernel void k() {\n  float threadgroup x[4];\n}\n",
     "t.metal:2:9: error: a threadgroup variable is declared by a statement that begins with `threadgroup`"},
    {"kernel void k() {\n  threadgroup float x[4], *p;\n}\n",
     "t.metal:2:27: error: threadgroup variables and pointers are declared in statements of their own"},

    // language
    {"void f() {\n  double x = 1;\n}\n", "t.metal:2:3: error: `double` is not a type of Metal; use float"},
    {"void f() {\n  auto g = [](int x) { return x; };\n}\n",
     "t.metal:2:12: error: lambda expressions are not part of Metal 3's language"},
    {"void f() { goto end; end:; }\n", "t.metal:1:12: error: `goto` is not part of Metal's language"},
    {"void f() { int* p = new int; }\n", "t.metal:1:21: error: `new` is not part of Metal's language"},
    {"struct A { virtual void f(); };\n", "t.metal:1:12: error: `virtual` is not part of Metal's language"},
    {"void f() { std::max(1, 2); }\n", "t.metal:1:12: error: Metal has no namespace std; use metal::"},

    // unfinished text
    {"kernel void k() {\n  if (true) {\n}\n", "t.metal:1:17: error: `{` is never closed"},
    {"kernel void k() {\n  f(1];\n}\n", "t.metal:2:6: error: unexpected `]`, `)` is open"},
    {"/* no end\n", "t.metal:1:1: error: comment without end"},
    {"constant char c = 'x;\n", "t.metal:1:19: error: literal without closing quote"},
    {"constant int n = 3\n", "t.metal:1:1: error: the file ends where `;` is expected"},
    {"namespace a\n", "t.metal:1:1: error: the file ends inside a namespace declaration"},
    {"template <typename T\n", "t.metal:1:1: error: template parameters without closing `>`"},
};

}  // namespace

TEST_CASE("each refused source is refused with its place and reason") {
  for (const Refused& item : refused) {
    INFO(std::string(item.source));
    CHECK(error_of(item.source) == item.error);
  }
}

TEST_CASE("an error in an included file names that file") {
  const metalsim::mslgen::Source source(
      "# 1 \"main.metal\"\n# 1 \"./inner.h\" 1\nint a;\n# 2 \"main.metal\" 2\nkernel void k() {}\n");
  CHECK_THROWS_WITH(metalsim::mslgen::read_unit(source),
                    "./inner.h:1:1: error: program-scope variable `a` must be in the constant address space");
}

TEST_CASE("the column is that of the file, whose spaces the preprocessor has joined") {
  const metalsim::test::SourceFile file(
      "kernel void k(uint    i   [[thread_position_in_grid]],   uint j) {}\n");
  const metalsim::mslgen::Source source("# 1 \"" + file.path() +
                                        "\"\nkernel void k(uint i [[thread_position_in_grid]], uint j) {}\n");
  CHECK_THROWS_WITH(metalsim::mslgen::read_unit(source),
                    doctest::Contains("t.metal:1:63: error: parameter `j`"));
}

TEST_CASE("no cut of a real source makes the translator fail in another way than with an error") {
  const std::string text =
      "template <short N>\nkernel void k(constant int& n [[buffer(0)]], ushort i "
      "[[thread_index_in_simdgroup]]) {\n"
      "  threadgroup float tile[N][4], other;\n  const auto x = select(1.0h, 2, i < n);\n}\n"
      "constant int c [[function_constant(0)]];\nconstant bool d = is_function_constant_defined(c);\n"
      "typedef decltype(k<4>) k_t;\ntemplate [[host_name(\"a\")]] kernel k_t k<4>;\n";
  REQUIRE(error_of(text) == "no error");
  for (size_t length = 0; length < text.size(); ++length) {
    error_of(text.substr(0, length));  // an error or none; anything else ends the program
    error_of(text.substr(length));
  }
}
