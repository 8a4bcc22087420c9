// The lint of address spaces: what Apple's compiler refuses fails here, what it takes passes.
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>

#include "../mslgen/translate.h"

namespace {

/// Clang's messages about the source in the lint's dialect; empty if it has no objection.
std::string lint(const std::string& text) {
  const metalsim::test::SourceFile file("#include <metal_stdlib>\nusing namespace metal;\n" + text);
  const metalsim::mslgen::Source source("# 1 \"t.metal\"\n\nusing namespace metal;\n" + text);
  const std::string path = file.path() + ".clcpp";
  std::ofstream(path) << metalsim::mslgen::write_lint(metalsim::mslgen::read_unit(source));
  const std::string command = METALSIM_LINT_COMMAND " " + path + " 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  char buffer[4096];
  while (const size_t count = fread(buffer, 1, sizeof(buffer), pipe.get())) output.append(buffer, count);
  return output;
}

bool refuses(const std::string& text, const std::string& place) {
  const std::string output = lint(text);
  INFO(output);
  const bool found = output.find(place) != std::string::npos;
  CHECK(found);
  return found;
}

const std::string helpers =
    "inline float from_device(device const float* p) { return p[0]; }\n"
    "inline float from_thread(thread const float* p) { return p[0]; }\n"
    "inline float from_threadgroup(threadgroup const float* p) { return p[0]; }\n"
    "inline void to_thread(thread float& x) { x = 1; }\n";

const std::string head =
    "kernel void k(device float* y [[buffer(0)]], constant float& c [[buffer(1)]], threadgroup float* s "
    "[[threadgroup(0)]], uint i [[thread_position_in_grid]]) {\n";

}  // namespace

TEST_CASE("pointers and references of one address space do not become those of another") {
  const std::string wrong[] = {
      "y[0] = from_device(s);",
      "y[0] = from_thread(y);",
      "y[0] = from_threadgroup(y);",
      "y[0] = from_device(&c);",
      "float x[4]; y[0] = from_device(x);",
      "to_thread(y[0]);",
      "threadgroup float* t = y;",
      "device float* d = s;",
      "y = s;",
      "threadgroup float tile[4]; y = tile;",
  };
  for (const std::string& statement : wrong) {
    INFO(statement);
    refuses(helpers + head + statement + "\n}\n", "t.metal:8:");  // after two lines of head and four helpers
  }
}

TEST_CASE("constants are not written, and a kernel template's body is checked where it is instantiated") {
  refuses(head + "c = 1;\n}\n", "t.metal:4:");
  refuses("constant float table[2] = {1, 2};\n" + head + "table[i] = y[i];\n}\n", "t.metal:5:");
  refuses(helpers +
              "template <typename T>\nkernel void k(device T* y [[buffer(0)]]) {\nfrom_thread(y);\n}\n"
              "template [[host_name(\"x\")]] kernel decltype(k<float>) k<float>;\n",
          "t.metal:9:");
}

TEST_CASE("what is legal passes") {
  const std::string legal =
      helpers +
      "struct block { half d; uchar q[4]; };\nstruct args { int n; float4 v; };\n"
      "constant float table[4] = {1, 2, 3, 4};\nconstant int n [[function_constant(0)]];\n"
      "constant bool given = is_function_constant_defined(n);\n"
      "template <typename T, int N>\nkernel void k(device T* y [[buffer(0)]], constant args& a "
      "[[buffer(1)]],\n"
      "    device const block* b [[buffer(2)]], threadgroup T* s [[threadgroup(0)]],\n"
      "    device atomic_uint* count [[buffer(3)]], ushort i [[thread_index_in_threadgroup]]) {\n"
      "  threadgroup float tile[N][4];\n  threadgroup atomic_int seen;\n"
      "  float local[4] = {1.0, 2, 3, 4};\n  block mine = b[i];\n  device const block& other = b[i + 1];\n"
      "  half4 h = half4(1.0h);\n  float4 f = float4(h) + a.v;\n  f.xy = a.v.zw + float2(mine.d, other.d);\n"
      "  f = float4(f.xy, 0.0, 1.0) * 2.0;\n  const float4 pair(f.xy, 1, 2);\n  f += pair + (float4)h + "
      "vec<float, 4>(f.xy, f.zw);\n"
      "  tile[i][0] = from_device((device const float*)y) + from_thread(local) + table[i & 3] + mine.q[0];\n"
      "  *(threadgroup half4*)(s + 4) = half4(f);\n  to_thread(local[0]);\n"
      "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
      "  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);\n"
      "  atomic_store_explicit(&seen, 1, memory_order_relaxed);\n"
      "  simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n"
      "  simdgroup_load(m, (device const float*)y, 8, ulong2(0, 0), true);\n  simdgroup_store(m, "
      "&tile[0][0], 8);\n"
      "  const float r = simd_sum(max(f.x, 0.0f)) + dot(f, f) + as_type<float>(as_type<uint>(f.y));\n"
      "  y[i] = T(r + exp(f.x) + clamp(f.y, 0.0f, 1.0f) + (given ? n : 1) + from_threadgroup(tile[0]));\n}\n"
      "template [[host_name(\"x\")]] kernel decltype(k<float, 8>) k<float, 8>;\n"
      "template [[host_name(\"y\")]] kernel decltype(k<half, 8>) k<half, 8>;\n";
  CHECK(lint(legal) == "");
}

TEST_CASE("vectors are constructed through aliases of their types") {
  CHECK(lint("using f4 = metal::float4;\ntypedef half2 pair;\ntypedef f4 other;\n"
             "template <typename T>\nkernel void k(device T* y [[buffer(0)]]) {\n"
             "  using t4 = vec<T, 4>;\n  const f4 a = f4(1, 2, y[0], 4);\n  const f4 b(a.xy, 1, 2);\n"
             "  const pair p = pair(1.0h, y[1]);\n  const t4 t = t4(y[0], y[1], a.x, p.y);\n"
             "  const other o = other(a.xyz, 1);\n  y[0] = T(a.x + b.y + o.z) + t.w;\n}\n"
             "template [[host_name(\"x\")]] kernel decltype(k<float>) k<float>;\n") == "");
  refuses("using f4 = float4;\n" + head + "f4 v = f4(1, 2, 3, 4);\nthread float* p = y;\n}\n", "t.metal:6:");
}

TEST_CASE("pointers without an address space are refused by the translator itself") {
  using metalsim::test::error_of;
  const std::string message = " type without an address space: write device, constant, threadgroup or thread";
  CHECK(error_of("inline float f(const float* p) { return *p; }\n") ==
        "t.metal:1:27: error: pointer" + message);
  CHECK(error_of("template <typename T> void f(T& x) {}\n") == "t.metal:1:31: error: reference" + message);
  CHECK(error_of("void f(thread float* p) {\n  float* q = p;\n}\n") ==
        "t.metal:2:8: error: pointer" + message);
  CHECK(error_of("void f(device char* p) {\n  auto q = (float*)p;\n}\n") ==
        "t.metal:2:18: error: pointer" + message);
  CHECK(error_of("void f(device char* p) {\n  auto q = reinterpret_cast<device float*>(p) + *(thread "
                 "int*)0;\n}\n") == "no error");
  CHECK(error_of("void f(device char* p) {\n  auto q = reinterpret_cast<float*>(p);\n}\n") ==
        "t.metal:2:34: error: pointer" + message);
  CHECK(error_of("struct A { float* p; };\n") == "t.metal:1:17: error: pointer" + message);
  CHECK(error_of("void f(device float* p, int n) {\n  auto& x = p[0];\n  int m = n * n;\n  m = (n) & n;\n  m "
                 "= n & (n * 2);\n"
                 "  for (device float& q = p[0]; m;) {}\n}\n") == "no error");
}
