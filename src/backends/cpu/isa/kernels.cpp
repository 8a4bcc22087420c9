#include <cstdlib>
#include <string>

#include "backends/cpu/isa/tables.h"
#include "base/error.h"

namespace minfer::cpu {

std::vector<const KernelTable*> built_tables() {
  std::vector<const KernelTable*> tables;
#ifdef MINFER_ISA_X86
  tables.push_back(&avx512::table);
  tables.push_back(&avx2::table);
#endif
#ifdef MINFER_ISA_NEON
  tables.push_back(&neon::table);
#endif
  tables.push_back(&scalar::table);
  return tables;
}

namespace {

/// Names of the built tables, those that run here or all: "avx2, scalar".
std::string table_names(bool all) {
  std::string names;
  for (const KernelTable* table : built_tables()) {
    if (!all && !table->runs_here()) continue;
    if (!names.empty()) names += ", ";
    names += table->isa;
  }
  return names;
}

std::string pin_hint() { return "set MINFER_ISA to one of: " + table_names(false) + "; or unset it"; }

}  // namespace

const KernelTable& choose_table(std::string_view pinned) {
  for (const KernelTable* table : built_tables()) {
    if (pinned.empty() ? !table->runs_here() : table->isa != pinned) continue;
    if (table->runs_here()) return *table;
    throw Error(ErrorCode::unsupported,
                "choosing CPU kernels: MINFER_ISA is '" + std::string(pinned) +
                    "', which this processor or operating system cannot run",
                pin_hint());
  }
  throw Error(ErrorCode::unsupported,
              "choosing CPU kernels: MINFER_ISA is '" + std::string(pinned) + "', but this build has only " +
                  table_names(true),
              pin_hint());
}

const KernelTable& kernels() {
  static const KernelTable& chosen = []() -> const KernelTable& {
    const char* pinned = std::getenv("MINFER_ISA");
    return choose_table(pinned ? pinned : "");
  }();
  return chosen;
}

KernelTable::MatMulQ matmul_q(const KernelTable& table, DType type) {
  switch (type) {
    case DType::q4_0:
      return table.matmul_q4_0;
    case DType::q4_1:
      return table.matmul_q4_1;
    case DType::q5_0:
      return table.matmul_q5_0;
    case DType::q5_1:
      return table.matmul_q5_1;
    case DType::q8_0:
      return table.matmul_q8_0;
    case DType::q4_k:
      return table.matmul_q4_k;
    case DType::q5_k:
      return table.matmul_q5_k;
    case DType::q6_k:
      return table.matmul_q6_k;
    default:
      break;
  }
  MINFER_CHECK(false, "matmul_q takes the eight quantised types");
  return nullptr;
}

KernelTable::MatMulF matmul_f(const KernelTable& table, DType type) {
  switch (type) {
    case DType::f32:
      return table.matmul_f32;
    case DType::f16:
      return table.matmul_f16;
    case DType::bf16:
      return table.matmul_bf16;
    default:
      break;
  }
  MINFER_CHECK(false, "matmul_f takes f32, f16 and bf16");
  return nullptr;
}

}  // namespace minfer::cpu
