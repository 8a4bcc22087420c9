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
  CHECK(has(out,
            "METALSIM_KERNEL(0, \"k\", 1024, false, (k), metalsim::encode(metalsim::Attribute::buffer, (2)), "
            "metalsim::encode(metalsim::Attribute::thread_position_in_grid))"));
}

TEST_CASE("every spelling of a kernel") {
  CHECK(has(translate("[[kernel]] void k() {}\n"), "METALSIM_KERNEL(0, \"k\""));
  CHECK(has(translate("[[host_name(\"x\")]] kernel void k() {}\n"),
            "METALSIM_KERNEL(0, \"x\", 1024, false, (k)"));
  CHECK(has(translate("kernel [[max_total_threads_per_threadgroup(64)]] void k() {}\n"), "\"k\", (64), "));
  CHECK(has(translate("[[max_total_threads_per_threadgroup(64)]] kernel void k() {}\n"), "\"k\", (64), "));
  CHECK(has(translate("namespace a { namespace b { kernel void k() {} } }\n"),
            "METALSIM_KERNEL(0, \"a::b::k\""));
  CHECK(has(translate("kernel void k(void) {}\n"), "(k))"));
  CHECK(!has(translate("kernel void k();\nkernel void k() {}\n"), "METALSIM_KERNEL(1"));
}

TEST_CASE("every spelling of an instantiation") {
  const std::string function = "template <typename T, int N> kernel void k(device T* x [[buffer(0)]]) {}\n";
  const std::string want = "METALSIM_KERNEL(0, \"x\", 1024, false, (k<float,4>), ";
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

TEST_CASE("threadgroup variables become references to memory of the threadgroup") {
  const std::string out = translate(
      "template <typename T, int N>\nkernel void k() {\n  threadgroup T a[N][4], b;\n  threadgroup vec<T, 4> "
      "c[2];\n"
      "  threadgroup T* p = (threadgroup T*)a;\n  for (;;) { threadgroup metal::atomic_int d; }\n}\n");
  CHECK(has(line(out, 3),
            "auto& a = metalsim::threadgroup_variable<T[N][4]>(0); auto& b = "
            "metalsim::threadgroup_variable<T>(1);"));
  CHECK(has(line(out, 4), "auto& c = metalsim::threadgroup_variable<vec<T,4>[2]>(2);"));
  CHECK(has(line(out, 5), "T* p = (            T*)a;"));
  CHECK(has(line(out, 6), "auto& d = metalsim::threadgroup_variable<metal::atomic_int>(3);"));
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
