/// The functions that clang's -fsanitize=alignment,signed-integer-overflow,... call when kernel code does
/// what C++ leaves undefined. The sanitizer's own library is not linked. Layouts of the data are clang's.
#include <string>

#include "core_state.h"
#include "defects.h"

namespace {

using metalsim::ReportKind;

struct Location {
  const char* file;
  uint32_t line, column;
};
struct Type {
  uint16_t kind;  ///< 0: integer
  uint16_t info;  ///< of an integer: bit 0 signed, the rest log2 of its bits
  char name[1];
  uint32_t bits() const { return kind == 0 ? 1u << (info >> 1) : 0; }
};
struct TypeMismatch {
  Location at;
  const Type* type;
  unsigned char log_alignment, check;
};
struct Arithmetic {
  Location at;
  const Type* type;
};
struct Shift {
  Location at;
  const Type *left, *right;
};
struct Bounds {
  Location at;
  const Type *array, *index;
};
struct Conversion {
  Location at;
  const Type *from, *to;
  unsigned char kind;
};

const char* const overflow_hint =
    "widen an operand before the operation (ulong or long), or prove that the sizes keep it in range";

void overflow(const Arithmetic& data, const char* operation, void* code) {
  const bool is_signed = data.type->info & 1;
  if (!is_signed && !metalsim::dispatch_state().unsigned_overflow) return;
  metalsim::report_arithmetic(ReportKind::arithmetic_overflow,
                              std::string(operation) + " overflows " + data.type->name, overflow_hint,
                              uintptr_t(code));
}

void mismatch(const TypeMismatch& data, uintptr_t pointer, void* code) {
  const uintptr_t alignment = uintptr_t(1) << data.log_alignment;
  if (pointer & (alignment - 1))
    return metalsim::report_arithmetic(
        ReportKind::misaligned,
        std::string("access to ") + data.type->name + " at an address that is not a multiple of " +
            std::to_string(alignment),
        "a GPU loads vectors at multiples of their size only: align the data, or use packed types or scalars",
        uintptr_t(code));
}

void out_of_array(const Bounds& data, uintptr_t index, void* code) {
  metalsim::report_arithmetic(ReportKind::array_bounds,
                              "index " + std::to_string(intptr_t(index)) + " outside " + data.array->name,
                              "check the loop's bound against the array's size", uintptr_t(code));
}

void shifted_out(const Shift& data, void* code) {
  metalsim::report_arithmetic(
      ReportKind::arithmetic_overflow,
      std::string("shift of ") + data.left->name + " by a negative number or by its width or more",
      "mask or check the shift count", uintptr_t(code));
}

/// Of implicit conversions that change a value only those of 64 bits to 32 are reported: kernels narrow to
/// bytes and halves on purpose, but an offset that loses its upper half is a defect.
void narrowed(const Conversion& data, void* code) {
  if (data.from->bits() != 64 || data.to->bits() != 32) return;
  metalsim::report_arithmetic(ReportKind::arithmetic_overflow,
                              std::string("conversion of ") + data.from->name + " to " + data.to->name +
                                  " loses the upper half of the value",
                              "keep offsets in 64 bits (ulong, long, size_t)", uintptr_t(code));
}

}  // namespace

#define CODE __builtin_return_address(0)

extern "C" {
void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t pointer) {
  mismatch(*data, pointer, CODE);
}
void __ubsan_handle_alignment_assumption(void*, uintptr_t, uintptr_t, uintptr_t) {}
void __ubsan_handle_add_overflow(Arithmetic* data, uintptr_t, uintptr_t) {
  overflow(*data, "addition", CODE);
}
void __ubsan_handle_sub_overflow(Arithmetic* data, uintptr_t, uintptr_t) {
  overflow(*data, "subtraction", CODE);
}
void __ubsan_handle_mul_overflow(Arithmetic* data, uintptr_t, uintptr_t) {
  overflow(*data, "multiplication", CODE);
}
void __ubsan_handle_negate_overflow(Arithmetic* data, uintptr_t) { overflow(*data, "negation", CODE); }
void __ubsan_handle_divrem_overflow(Arithmetic* data, uintptr_t, uintptr_t) {
  metalsim::report_division(
      std::string("division by zero, or overflow of a division, of ") + data->type->name, uintptr_t(CODE));
}
void __ubsan_handle_shift_out_of_bounds(Shift* data, uintptr_t, uintptr_t) { shifted_out(*data, CODE); }
void __ubsan_handle_out_of_bounds(Bounds* data, uintptr_t index) { out_of_array(*data, index, CODE); }
void __ubsan_handle_implicit_conversion(Conversion* data, uintptr_t, uintptr_t) { narrowed(*data, CODE); }
}
