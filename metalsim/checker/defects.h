/// From an access that is wrong to a report. The same defect at the same code is reported once and then only
/// counted. Those marked [[noreturn]] abandon the threadgroup.
#pragma once
#include "access.h"
#include "access_record.h"
#include "core_state.h"
#include "metalsim/metalsim.h"

namespace metalsim {

/// Not in any array: `offset` from the begin of threadgroup memory.
[[noreturn]] void report_threadgroup_bounds(const CoreState& core, const Access& access, uint32_t offset);

/// In no range that the kernel may touch so: out of bounds, or a write to what is read-only. Returns for
/// reads of the program's own constants.
void report_outside(const CoreState& core, const Access& access);

void report_misaligned(const CoreState& core, const Access& access);
void report_uninitialised_threadgroup(const CoreState& core, const Access& access, uint32_t offset);
void report_uninitialised_device(const CoreState& core, const Access& access, Memory& memory, size_t offset);
void report_threadgroup_race(const CoreState& core, const Access& access, const AccessRecord& now,
                             const AccessRecord& other, Relation how, uint32_t offset);
void report_device_race(const CoreState& core, const Access& access, const AccessRecord& now,
                        const AccessRecord& other, Relation how, Memory& memory, size_t offset);

/// A defect of plain arithmetic or of a thread's own arrays, found by the compiler's checks at `code`.
void report_arithmetic(ReportKind kind, const std::string& message, const std::string& hint, uintptr_t code);

/// The same for a division that would stop the processor: abandons the threadgroup.
void report_division(const std::string& message, uintptr_t code);

// After the threadgroups of a dispatch, about what they left:

/// The value at `offset` that `write` put there is a NaN or infinity.
void report_not_finite(const Dispatch& dispatch, const AccessRecord& write, Memory& memory, size_t offset);

/// The byte at `offset` of the binding differs between ascending and the named order.
void report_order_dependence(const Dispatch& dispatch, const Binding& binding, size_t offset,
                             const char* order);

}  // namespace metalsim
