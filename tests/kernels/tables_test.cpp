#include <cstdlib>

#include "backends/cpu/isa/tables.h"
#include "base/error.h"
#include "kernels/kernel_test.h"

using namespace minfer;
using namespace minfer::cpu;

namespace {

/// The error that pinning `name` gives.
std::string refusal(const char* name) {
  try {
    choose_table(name);
  } catch (const Error& e) {
    CHECK(e.code == ErrorCode::unsupported);
    CHECK(e.hint.find("scalar") != std::string::npos);
    return e.what();
  }
  FAIL("no refusal of " << name);
  return {};
}

}  // namespace

TEST_CASE("the scalar table is built everywhere, last, and runs") {
  CHECK(built_tables().back()->isa == "scalar");
  CHECK(built_tables().back()->runs_here());
}

TEST_CASE("without a pin the first table that runs is chosen; with one, that table or a refusal") {
  const KernelTable* fastest = nullptr;
  for (const KernelTable* table : built_tables()) {
    const std::string name(table->isa);
    if (table->runs_here()) {
      if (fastest == nullptr) fastest = table;
      CHECK(&choose_table(name) == table);
    } else {
      MESSAGE("not tested, as this processor lacks it: " << name);
      CHECK(refusal(name.c_str()) == "choosing CPU kernels: MINFER_ISA is '" + name +
                                         "', which this processor or operating system cannot run");
    }
  }
  CHECK(&choose_table("") == fastest);
}

TEST_CASE("a pin that no table has is refused by name") {
  for (const char* name : {"sse9", "AVX2", "scalar "}) {
    const std::string message = refusal(name);
    CHECK(message.starts_with("choosing CPU kernels: MINFER_ISA is '" + std::string(name) +
                              "', but this build has only "));
  }
}

TEST_CASE("MINFER_ISA is what pins kernels(), and a refused pin stays refused") {
  // The choice is made once, by the first call that succeeds; no other test calls kernels().
  setenv("MINFER_ISA", "sse9", 1);
  CHECK_THROWS_AS(kernels(), Error);
  CHECK_THROWS_AS(kernels(), Error);
  setenv("MINFER_ISA", "scalar", 1);
  CHECK(kernels().isa == "scalar");
  unsetenv("MINFER_ISA");
  CHECK(kernels().isa == "scalar");
}

TEST_CASE("every place of every table is filled") {
  for (const KernelTable* t : built_tables()) {
    CHECK((t->quantise_q8 != nullptr));
    CHECK((t->store_q8_0 != nullptr));
    CHECK((t->load_q8_0 != nullptr));
    for (const DType type : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k,
                             DType::q5_k, DType::q6_k}) {
      CHECK((matmul_q(*t, type) != nullptr));
    }
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) CHECK((matmul_f(*t, type) != nullptr));
  }
}
