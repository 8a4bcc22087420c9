// What the translator makes of each construct.
#include <doctest/doctest.h>

#include <algorithm>

#include "translate.h"

using metalsim::test::translate;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The line of the output that came from line `number` of the source.
std::string line(const std::string& output, int number) {
  size_t at = output.find("t.metal\"\n", output.find("# 1 "));
  for (int i = 0; i < number; ++i) at = output.find('\n', at) + 1;
  return output.substr(at, output.find('\n', at) - at);
}

}  // namespace

TEST_CASE("address spaces and attributes vanish, constant is const") {
  const std::string out = translate(
      "kernel void k(device const float* x [[buffer(0)]], constant int& n [[buffer(1)]], threadgroup float* "
      "s "
      "[[threadgroup(0)]]) {\n  thread float* p;\n}\n");
  CHECK(has(line(out, 1), "const float* x"));
  CHECK(has(line(out, 1), "const    int& n"));
  for (const char* word : {"device", "constant", "threadgroup(", "thread ", "[["})
    CHECK(!has(line(out, 1), word));
  CHECK(!has(line(out, 2), "thread"));
}

TEST_CASE("a kernel is registered after its body with the attributes of its parameters") {
  const std::string out =
      translate("kernel void k(device float* y [[buffer(2)]], uint i [[thread_position_in_grid]]) {}\n");
  CHECK(has(
      out,
      "METALSIM_KERNEL(0, \"k\", 1024, false, 0, (k), metalsim::encode(metalsim::Attribute::buffer, (2)), "
      "metalsim::encode(metalsim::Attribute::thread_position_in_grid))"));
}

TEST_CASE("every spelling of a kernel") {
  CHECK(has(translate("[[kernel]] void k() {}\n"), "METALSIM_KERNEL(0, \"k\""));
  CHECK(has(translate("[[host_name(\"x\")]] kernel void k() {}\n"),
            "METALSIM_KERNEL(0, \"x\", 1024, false, 0, (k)"));
  CHECK(has(translate("kernel [[max_total_threads_per_threadgroup(64)]] void k() {}\n"), "\"k\", (64), "));
  CHECK(has(translate("[[max_total_threads_per_threadgroup(64)]] kernel void k() {}\n"), "\"k\", (64), "));
  CHECK(has(translate("namespace a { namespace b { kernel void k() {} } }\n"),
            "METALSIM_KERNEL(0, \"a::b::k\""));
  CHECK(has(translate("kernel void k(void) {}\n"), "(k))"));
  CHECK(!has(translate("kernel void k();\nkernel void k() {}\n"), "METALSIM_KERNEL(1"));
}

TEST_CASE("every spelling of an instantiation") {
  const std::string function = "template <typename T, int N> kernel void k(device T* x [[buffer(0)]]) {}\n";
  const std::string want = "METALSIM_KERNEL(0, \"x\", 1024, false, 0, (k<float,4>), ";
  CHECK(has(
      translate(function +
                "template [[host_name(\"x\")]] kernel void k<float, 4>(device float* x [[buffer(0)]]);\n"),
      want));
  CHECK(has(
      translate(function + "template [[host_name(\"x\")]] [[kernel]] decltype(k<float, 4>) k<float, 4>;\n"),
      want));
  CHECK(has(
      translate(function +
                "typedef decltype(k<float, 4>) t;\ntemplate [[host_name(\"x\")]] kernel t k<float, 4>;\n"),
      want));
  CHECK(has(translate("namespace a { " + function +
                      "}\ntemplate [[host_name(\"x\")]] kernel void a::k<float, 4>(device float* x);\n"),
            "(a::k<float,4>)"));
  CHECK(has(translate("template <typename T> kernel void k() {}\ntemplate [[host_name(\"x\")]] kernel void "
                      "k<vec<float, 4>>();\n"),
            "(k<vec<float,4>>)"));
}

TEST_CASE("the thread limit of a template in terms of its parameters") {
  CHECK(has(
      translate(
          "template <typename T, ushort N> [[max_total_threads_per_threadgroup(N * 32)]] kernel void k() {}\n"
          "template [[host_name(\"x\")]] kernel void k<float, 2>();\n"),
      "\"x\", ((2) * 32 ), "));
}

TEST_CASE("function constants become functions, and so does what depends on them") {
  const std::string out = translate(
      "constant int n [[function_constant(3)]];\nconstant bool given = is_function_constant_defined(n);\n"
      "constant int m = given ? n : 7;\nkernel void k(device int* y [[buffer(0), function_constant(given)]]) "
      "{ y[0] = n + "
      "y->n + m; }\n");
  CHECK(has(out, "METALSIM_FUNCTION_CONSTANT(0, n, int, 3)"));
  CHECK(has(line(out, 1), "static inline int n() { return metalsim::function_constant<int, 0>(); }"));
  CHECK(has(line(out, 2), "metalsim::function_constant_defined<0>"));
  CHECK(has(line(out, 3), "return given() ? n() : 7"));
  CHECK(has(line(out, 4), "y[0] = n() + y->n + m();"));
  CHECK(has(line(out, 4), "metalsim::encode(metalsim::Attribute::buffer, (0), true)"));
}

TEST_CASE("operators of several signs stay whole in what is computed from function constants") {
  const std::string out = translate(
      "constant int n [[function_constant(3)]];\nconstant bool m = n >= 2 && n != 4 || !(n << 2 == -n - "
      "-1);\n");
  CHECK(has(line(out, 2), "n() >= 2 && n() != 4 || !( n() << 2 == - n() - - 1 )"));
  CHECK(has(
      translate(
          "template <int N> kernel void k() {}\ntemplate [[host_name(\"x\")]] kernel void k<3 - -1>();\n"),
      "(k<3- -1>)"));
}

TEST_CASE("threadgroup variables become references to memory of the threadgroup") {
  const std::string out = translate(
      "template <typename T, int N>\nkernel void k() {\n  threadgroup T a[N][4], b;\n  threadgroup vec<T, 4> "
      "c[2];\n"
      "  threadgroup T* p = (threadgroup T*)a;\n  for (;;) { threadgroup metal::atomic_int d; }\n}\n");
  CHECK(has(line(out, 3),
            "auto& a = metalsim::threadgroup_variable<T[N][4], &::k<T,N>, 0>(); auto& b = "
            "metalsim::threadgroup_variable<T, &::k<T,N>, 1>();"));
  CHECK(has(line(out, 4), "auto& c = metalsim::threadgroup_variable<vec<T,4>[2], &::k<T,N>, 2>();"));
  CHECK(has(line(out, 5), "T* p = (            T*)a;"));
  CHECK(has(line(out, 6), "auto& d = metalsim::threadgroup_variable<metal::atomic_int, &::k<T,N>, 3>();"));
}

TEST_CASE("threadgroup variables are numbered within their kernel, which they name from its own body") {
  const std::string out = translate(
      "kernel void a() {\n  threadgroup int a;\n}\nnamespace n {\nkernel void b() {\n  threadgroup int "
      "x;\n}\n}\n"
      "template <typename T, int... sizes> kernel void c() {\n  threadgroup T x;\n}\n"
      "template <> kernel void c<float, 1>() {\n  threadgroup float x;\n}\n");
  CHECK(has(line(out, 2), "auto& a = metalsim::threadgroup_variable<int, &::a, 0>();"));
  CHECK(has(line(out, 6), "auto& x = metalsim::threadgroup_variable<int, &::n::b, 0>();"));
  CHECK(has(line(out, 10), "threadgroup_variable<T, &::c<T,sizes...>, 0>();"));
  CHECK(has(line(out, 13), "threadgroup_variable<float, &::c<float,1>, 0>();"));
}

TEST_CASE("the function constants that a kernel cannot do without, as bits by slot") {
  const std::string constants =
      "constant int a [[function_constant(5)]];\nconstant int b [[function_constant(1)]];\n"
      "constant bool c [[function_constant(2)]];\nconstant bool d [[function_constant(9)]];\n"
      "constant int b_or_seven = is_function_constant_defined(b) ? b : 7;\nconstant int twice_a = 2 * a;\n"
      "inline int helper() { return twice_a; }\n";
  const auto required = [&](const std::string& kernel) {
    const std::string out = translate(constants + kernel);
    const size_t at = out.find("1024, false, ") + 13;
    return out.substr(at, out.find(',', at) - at);
  };
  CHECK(required("kernel void k() { int x = 1; }\n") == "0");
  CHECK(required("kernel void k() { int x = a; }\n") == "1u");
  CHECK(required("kernel void k() { int x = helper(); }\n") == "1u");
  CHECK(required("kernel void k() { int x = b; }\n") == "2u");
  CHECK(required("kernel void k() { int x = b_or_seven; }\n") == "0");
  CHECK(required("kernel void k() { int x = is_function_constant_defined(b) ? b + a : a; }\n") == "1u");
  CHECK(required("kernel void k() { if (c && is_function_constant_defined(d)) return; }\n") == "4u");
  CHECK(required("kernel void k(device int* x [[buffer(0), function_constant(c)]]) {}\n") == "4u");
  CHECK(required("template <int n> kernel void k() { int x = a; }\ntemplate [[host_name(\"k\")]] kernel void "
                 "k<1>();\n") == "1u");
}

TEST_CASE("literals have Metal's types") {
  const std::string out = translate(
      "constant float x = 1.0 + 2. + 3e-2 + .5 + 1.5f + 2.0h + 0x1p3 + 4.0bf + 7 + 0xF + 1e3h + 0x1e;\n");
  CHECK(has(line(out, 1),
            "1.0f + 2.f + 3e-2f + .5f + 1.5f + 2.0f16 + 0x1p3f + bfloat(4.0f) + 7 + 0xF + 1e3f16 + 0x1e;"));
}

TEST_CASE("a kernel may wait if a function that it calls, or a type's, has a barrier or works among lanes") {
  const std::string helpers =
      "inline void sync() { threadgroup_barrier(mem_flags::mem_none); }\nstruct A { float s(float x) { "
      "return simd_sum(x); } };\n"
      "template <typename T> void deep(T x) { sync(); }\nusing B = A;\ninline int harmless(int x) { return "
      "x; }\n";
  const auto waits = [&](const std::string& body) {
    return has(translate(helpers + "kernel void k() { " + body + " }\n"), "1024, true");
  };
  CHECK(waits("sync();"));
  CHECK(waits("deep<int>(1);"));
  CHECK(waits("A a;"));
  CHECK(waits("B b;"));
  CHECK(waits("simdgroup_float8x8 m;"));
  CHECK(waits("threadgroup int x;"));
  CHECK(has(translate(helpers + "kernel void other() { threadgroup int x; }\nkernel void k() {}\n"),
            "\"k\", 1024, false"));
  CHECK(!waits("harmless(1);"));
  CHECK(!waits(""));
}

TEST_CASE("lines stay where they are") {
  const std::string text =
      "constant int\n  n\n  [[function_constant(0)]];\nkernel void k(\n    device float* y [[buffer(0)]],\n  "
      "  uint i\n    "
      "[[thread_position_in_grid]]) {\n  threadgroup\n    float t[4];\n  y[i] = n; // here\n}\n";
  const std::string out = translate(text);
  CHECK(has(line(out, 10), "// here"));
}

TEST_CASE("what is Metal in a string, a comment or a directive is left alone") {
  const std::string out =
      translate("#pragma METAL device\n// threadgroup float x;\n/* kernel */ constant char c = '[';\n");
  CHECK(has(line(out, 1), "#pragma METAL device"));
  CHECK(has(line(out, 2), "// threadgroup float x;"));
  CHECK(has(line(out, 3), "/* kernel */ const    char c = '[';"));
}
