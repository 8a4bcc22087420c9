/// Registration of kernels. A generated file ends with
///
///   METALSIM_UNIT("library", "path/kernels.metal")
///   METALSIM_FUNCTION_CONSTANT(0, name, int, 100)                       slot, name, type, index in the
///   source METALSIM_KERNEL(0, "host_name", 1024, true, 0, (function<float>),
///   metalsim::encode(metalsim::Attribute::buffer, 0), ...)
///
/// Slots and ids count from 0 within the file. Static constructors enter them when the program starts or a
/// kernel library is loaded by dlopen; the units of a library are those whose code lies in it.
#pragma once
#include <cstdint>
#include <type_traits>

#include "abi_arguments.h"
#include "abi_state.h"

namespace metalsim {

/// What a buffer parameter points to, as far as checks of values need to know.
enum class ElementType : uint8_t { other, f32, f16, bf16 };

enum class ConstantType : uint8_t { boolean, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, bf16, vector };

struct KernelUnit;

/// One kernel as the host names it.
struct Kernel {
  const char* name;
  void (*run)();  ///< runs the kernel's body for current_thread
  /// Runs threads first .. first+count-1 one after another, without fibers; null if the kernel may wait for
  /// others.
  void (*run_independent)(const Threadgroup& group, uint32_t first, uint32_t count);
  uint32_t buffers;                ///< bit n: has a parameter [[buffer(n)]]
  uint32_t writable;               ///< bit n: that parameter is not const
  uint32_t threadgroup_arguments;  ///< bit n: has a parameter [[threadgroup(n)]]
  uint32_t conditional;  ///< bit n: [[buffer(n)]] may be unbound, a function constant can disable it
  ElementType elements[max_buffers];
  uint32_t element_bytes[max_buffers];  ///< size of what the parameter points to; 0: none or incomplete
  uint32_t max_threads;                 ///< [[max_total_threads_per_threadgroup]], or 1024
  /// Bit n: the function constant in slot n must have a value, for the kernel uses it without asking whether
  /// it is defined.
  uint64_t required_constants;
  const uint32_t* static_threadgroup_bytes;  ///< of the arrays in its body, each rounded up to 16
  KernelUnit* unit;
  Kernel* next;  ///< in the unit
};

/// `constant T name [[function_constant(index)]]`; its value is Dispatch::constants[slot].
struct FunctionConstantEntry {
  const char* name;
  ConstantType type;
  uint32_t bytes;
  uint32_t index;
  uint32_t slot;
  FunctionConstantEntry* next;  ///< in the unit
};

/// One .metal file, compiled once as fast or checked code.
struct KernelUnit {
  const char* library;
  const char* source;
  bool checked;
  Kernel* kernels;
  FunctionConstantEntry* constants;
  uint32_t constant_slots;
  KernelUnit* next;
};

/// All units of the process, newest first.
KernelUnit* kernel_units();
void register_unit(KernelUnit* unit);
void unregister_unit(KernelUnit* unit);

namespace detail {

template <class T, class = void>
struct ElementOf {
  static constexpr ElementType type = ElementType::other;
};
template <>
struct ElementOf<float> {
  static constexpr ElementType type = ElementType::f32;
};
#if defined(__clang__)
template <>
struct ElementOf<_Float16> {
  static constexpr ElementType type = ElementType::f16;
};
template <>
struct ElementOf<__bf16> {
  static constexpr ElementType type = ElementType::bf16;
};
#endif
/// Vectors of the library name their element type `metalsim_element`.
template <class T>
struct ElementOf<T, std::void_t<typename T::metalsim_element>> {
  static constexpr ElementType type = ElementOf<typename T::metalsim_element>::type;
};

template <class T, class = void>
struct BytesOf {
  static constexpr uint32_t value = 0;
};
template <class T>
struct BytesOf<T, std::void_t<decltype(sizeof(T))>> {
  static constexpr uint32_t value = sizeof(T);
};

template <class P>
using Pointee = std::remove_pointer_t<std::remove_reference_t<P>>;

template <class P>
constexpr bool writes_memory() {
  return (std::is_pointer_v<std::remove_reference_t<P>> ||
          std::is_reference_v<P>)&&!std::is_const_v<Pointee<P>>;
}

template <class T>
constexpr ConstantType constant_type() {
  if constexpr (std::is_same_v<T, bool>)
    return ConstantType::boolean;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
    return std::is_signed_v<T> ? ConstantType::i8 : ConstantType::u8;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 2)
    return std::is_signed_v<T> ? ConstantType::i16 : ConstantType::u16;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? ConstantType::i32 : ConstantType::u32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? ConstantType::i64 : ConstantType::u64;
  else if constexpr (ElementOf<T>::type == ElementType::f32 && sizeof(T) == 4)
    return ConstantType::f32;
  else if constexpr (ElementOf<T>::type == ElementType::f16 && sizeof(T) == 2)
    return ConstantType::f16;
  else if constexpr (ElementOf<T>::type == ElementType::bf16 && sizeof(T) == 2)
    return ConstantType::bf16;
  else
    return ConstantType::vector;
}

}  // namespace detail

/// The threadgroup variables in the body of a kernel, summed up before the program starts: their types may
/// depend on anything that is in scope there, so each variable adds itself.
template <auto function>
struct StaticThreadgroupMemory {
  static inline uint32_t bytes = 0;
  template <class T, uint32_t id>
  static inline const uint32_t counted = bytes += (uint32_t(sizeof(T)) + 15) & ~15u;
};

/// The parts of a Kernel that follow from its signature.
template <class F>
struct Signature;
template <class... P>
struct Signature<void (*)(P...)> {
  template <auto function, int... codes>
  METALSIM_UNCHECKED static void run() {
    static_assert(sizeof...(P) == sizeof...(codes), "one attribute for each parameter");
    const Thread& thread = *current_thread;
    [[maybe_unused]] const ThreadPlace place{
        current_group, thread.index, {thread.position[0], thread.position[1], thread.position[2]}};
    function(argument<P, codes>(place)...);
  }

  template <auto function, int... codes>
  METALSIM_UNCHECKED static void run_independent(const Threadgroup& group, uint32_t first, uint32_t count) {
    ThreadPlace place{&group, first, {}};
    place.position[0] = first % group.size[0];
    place.position[1] = first / group.size[0] % group.size[1];
    place.position[2] = first / group.size[0] / group.size[1];
    for (uint32_t i = 0; i < count; ++i, ++place.index) {
      function(argument<P, codes>(place)...);
      if (++place.position[0] < group.size[0]) continue;
      place.position[0] = 0;
      if (++place.position[1] < group.size[1]) continue;
      place.position[1] = 0;
      ++place.position[2];
    }
  }

  template <auto function, int... codes>
  static constexpr Kernel describe(const char* name,
                                   void (*run_independent)(const Threadgroup&, uint32_t, uint32_t),
                                   uint32_t max_threads, uint64_t required_constants, KernelUnit* unit) {
    Kernel kernel{};
    kernel.name = name;
    kernel.run = &run<function, codes...>;
    kernel.run_independent = run_independent;
    kernel.max_threads = max_threads;
    kernel.required_constants = required_constants;
    kernel.static_threadgroup_bytes = &StaticThreadgroupMemory<function>::bytes;
    kernel.unit = unit;
    constexpr int count = sizeof...(P);
    constexpr int code[count + 1] = {codes..., 0};
    constexpr bool writes[count + 1] = {detail::writes_memory<P>()..., false};
    constexpr ElementType element[count + 1] = {
        detail::ElementOf<std::remove_cv_t<detail::Pointee<P>>>::type..., ElementType::other};
    constexpr uint32_t bytes[count + 1] = {detail::BytesOf<detail::Pointee<P>>::value..., 0};
    for (int i = 0; i < count; ++i) {
      const int index = index_of(code[i]);
      if (attribute_of(code[i]) == Attribute::threadgroup) kernel.threadgroup_arguments |= 1u << index;
      if (attribute_of(code[i]) != Attribute::buffer) continue;
      kernel.buffers |= 1u << index;
      if (is_conditional(code[i])) kernel.conditional |= 1u << index;
      if (writes[i]) kernel.writable |= 1u << index;
      kernel.elements[index] = element[i];
      kernel.element_bytes[index] = bytes[i];
    }
    return kernel;
  }
};

template <class F>
constexpr F* function_pointer(F* function) {
  return function;
}

/// Registers on construction, unregisters when the library is unloaded.
struct UnitRegistration {
  explicit UnitRegistration(KernelUnit* registered) : unit(registered) { register_unit(unit); }
  ~UnitRegistration() { unregister_unit(unit); }
  KernelUnit* unit;
};
struct KernelRegistration {
  KernelRegistration(KernelUnit& unit, const Kernel& description) : kernel(description) {
    kernel.next = unit.kernels;
    unit.kernels = &kernel;
  }
  Kernel kernel;
};
struct ConstantRegistration {
  ConstantRegistration(KernelUnit& unit, const FunctionConstantEntry& description) : entry(description) {
    entry.next = unit.constants;
    unit.constants = &entry;
    if (unit.constant_slots <= entry.slot) unit.constant_slots = entry.slot + 1;
  }
  FunctionConstantEntry entry;
};

/// Stands for a function constant in kernel code: converts to its value in the dispatch in hand.
template <class T, uint32_t slot>
struct FunctionConstant {
  METALSIM_UNCHECKED operator T() const {
    static_assert(sizeof(T) <= sizeof(FunctionConstantValue::bytes),
                  "function constants are scalars or vectors");
    T value;
    __builtin_memcpy(&value, current_group->dispatch->constants[slot].bytes, sizeof(T));
    return value;
  }
  METALSIM_UNCHECKED bool defined() const { return current_group->dispatch->constants[slot].defined; }
};

}  // namespace metalsim

#if defined(METALSIM_CHECKED)
#define METALSIM_IS_CHECKED true
#else
#define METALSIM_IS_CHECKED false
#endif

#define METALSIM_UNIT(library, source)                                                              \
  static metalsim::KernelUnit metalsim_unit{library, source, METALSIM_IS_CHECKED, nullptr, nullptr, \
                                            0,       nullptr};                                      \
  static metalsim::UnitRegistration metalsim_unit_registration(&metalsim_unit);

#define METALSIM_FUNCTION_CONSTANT(slot, name, type, index)       \
  static metalsim::ConstantRegistration metalsim_constant_##slot( \
      metalsim_unit, {#name, metalsim::detail::constant_type<type>(), sizeof(type), index, slot, nullptr});

/// `may_wait`: true if the kernel, or a function it calls, has a barrier, simd, quad or matrix operation.
/// `required_constants`: see Kernel.
#define METALSIM_KERNEL(id, host_name, max_threads, may_wait, required_constants, function, ...)        \
  using metalsim_signature_##id = metalsim::Signature<decltype(metalsim::function_pointer(&function))>; \
  static metalsim::KernelRegistration metalsim_kernel_##id(                                             \
      metalsim_unit,                                                                                    \
      metalsim_signature_##id::describe<&function, ##__VA_ARGS__>(                                      \
          host_name,                                                                                    \
          (may_wait) ? nullptr : &metalsim_signature_##id::run_independent<&function, ##__VA_ARGS__>,   \
          max_threads, required_constants, &metalsim_unit));
