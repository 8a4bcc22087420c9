// Function constants: what the host gives by MTL::DataType must be what the kernel declares.
#include <cstring>

#include "device/library.h"
#include "objc/misuse.h"

namespace metalsim::device {
namespace {

struct TypeRow {
  MTL::DataType first;  // of the scalar; the vectors of 2, 3 and 4 follow it
  uint32_t element_bytes;
  ConstantType kernel_type;
};

constexpr TypeRow types[] = {
    {MTL::DataTypeFloat, 4, ConstantType::f32},    {MTL::DataTypeHalf, 2, ConstantType::f16},
    {MTL::DataTypeInt, 4, ConstantType::i32},      {MTL::DataTypeUInt, 4, ConstantType::u32},
    {MTL::DataTypeShort, 2, ConstantType::i16},    {MTL::DataTypeUShort, 2, ConstantType::u16},
    {MTL::DataTypeChar, 1, ConstantType::i8},      {MTL::DataTypeUChar, 1, ConstantType::u8},
    {MTL::DataTypeBool, 1, ConstantType::boolean}, {MTL::DataTypeLong, 8, ConstantType::i64},
    {MTL::DataTypeULong, 8, ConstantType::u64},    {MTL::DataTypeBFloat, 2, ConstantType::bf16},
};

const TypeRow* row_of(MTL::DataType type) {
  for (const TypeRow& row : types)
    if (type >= row.first && type < row.first + 4) return &row;
  return nullptr;
}

/// Bytes of a value of that type as the host lays it out; a vector of three takes the space of four. 0: no
/// constant can have it.
uint32_t bytes_of(MTL::DataType type) {
  const TypeRow* const row = row_of(type);
  if (!row) return 0;
  const auto lanes = static_cast<uint32_t>(type - row->first) + 1;
  return row->element_bytes * (lanes == 3 ? 4 : lanes);
}

bool read_value(const void* from, MTL::DataType type, FunctionConstantValues::Value& value) {
  const uint32_t bytes = bytes_of(type);
  if (!from || bytes == 0 || bytes > sizeof value.bytes) {
    report_misuse("setConstantValue: " +
                  std::string(from ? "data type " + std::to_string(type) + " cannot be a function constant"
                                   : "the pointer to the value is null"));
    return false;
  }
  value = {type, {}};
  std::memcpy(value.bytes, from, bytes);
  return true;
}

}  // namespace

void FunctionConstantValues::set_at_index(const void* from, MTL::DataType type, UInteger index) {
  Value value;
  if (read_value(from, type, value)) by_index_[index] = value;
}

void FunctionConstantValues::set_by_name(const void* from, MTL::DataType type, String* name) {
  Value value;
  if (read_value(from, type, value)) by_name_[objc::to_std(name)] = value;
}

void FunctionConstantValues::set_range(const void* from, MTL::DataType type, objc::Range range) {
  const auto* bytes = static_cast<const unsigned char*>(from);
  for (UInteger i = 0; i < range.length; ++i, bytes += bytes_of(type))
    set_at_index(bytes, type, range.location + i);
}

void FunctionConstantValues::reset() {
  by_index_.clear();
  by_name_.clear();
}

const FunctionConstantValues::Value* FunctionConstantValues::find(
    const FunctionConstantEntry& constant) const {
  const auto index = by_index_.find(constant.index);
  if (index != by_index_.end()) return &index->second;
  const auto name = by_name_.find(constant.name);
  return name == by_name_.end() ? nullptr : &name->second;
}

MTL::DataType FunctionConstantInfo::type() const {
  for (const TypeRow& row : types)
    if (row.kernel_type == entry_.type) return row.first;
  return MTL::DataTypeNone;
}

std::string constant_mismatch(const FunctionConstantEntry& constant, MTL::DataType given) {
  const TypeRow* const row = row_of(given);
  const bool vector = row && given != row->first;
  const bool fits =
      row && (constant.type == ConstantType::vector ? vector && bytes_of(given) == constant.bytes
                                                    : !vector && row->kernel_type == constant.type);
  if (fits) return {};
  return "function constant " + std::to_string(constant.index) + " (" + constant.name + ") has " +
         std::to_string(constant.bytes) + " bytes of another type in the kernel than MTL::DataType " +
         std::to_string(given) + ", which setConstantValue was given";
}

}  // namespace metalsim::device
