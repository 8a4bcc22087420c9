#include "attributes.h"

#include <algorithm>
#include <initializer_list>

namespace metalsim::mslgen {
namespace {

bool among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

AttributeUse use_of_attribute(std::string_view name) {
  if (among(name, {"buffer", "threadgroup"})) return AttributeUse::binding;
  if (among(name, {"thread_position_in_grid",
                   "thread_position_in_threadgroup",
                   "threadgroup_position_in_grid",
                   "threads_per_threadgroup",
                   "dispatch_threads_per_threadgroup",
                   "threadgroups_per_grid",
                   "threads_per_grid",
                   "grid_size",
                   "grid_origin",
                   "thread_index_in_simdgroup",
                   "simdgroup_index_in_threadgroup",
                   "thread_index_in_threadgroup",
                   "threads_per_simdgroup",
                   "thread_execution_width",
                   "simdgroups_per_threadgroup",
                   "dispatch_simdgroups_per_threadgroup",
                   "thread_index_in_quadgroup",
                   "quadgroup_index_in_threadgroup",
                   "quadgroups_per_threadgroup",
                   "dispatch_quadgroups_per_threadgroup"}))
    return AttributeUse::position;
  if (among(name, {"kernel", "host_name", "max_total_threads_per_threadgroup"})) return AttributeUse::kernel;
  if (name == "function_constant") return AttributeUse::constant;
  if (among(name, {"maybe_unused", "nodiscard", "fallthrough", "deprecated", "noreturn", "likely", "unlikely",
                   "clang", "gnu"}))
    return AttributeUse::standard;
  if (among(name, {"texture",
                   "sampler",
                   "stage_in",
                   "id",
                   "visible",
                   "stitchable",
                   "position",
                   "color",
                   "user",
                   "raster_order_group",
                   "vertex",
                   "fragment",
                   "vertex_id",
                   "instance_id",
                   "payload",
                   "attribute",
                   "intersection",
                   "imageblock_data",
                   "render_target_array_index",
                   "point_size",
                   "patch",
                   "mesh",
                   "object",
                   "required_threads_per_threadgroup"}))
    return AttributeUse::unsupported;
  return AttributeUse::unknown;
}

std::string_view why_refused(std::string_view word) {
  if (word == "double") return "is not a type of Metal; use float";
  if (among(word, {"goto", "try", "throw", "catch", "virtual", "typeid", "dynamic_cast", "thread_local",
                   "asm", "new", "co_await", "co_yield", "co_return"}))
    return "is not part of Metal's language";
  if (among(word, {"ray_data", "object_data", "threadgroup_imageblock"}))
    return "is an address space that metalsim does not have; it runs compute kernels on buffers";
  return {};
}

bool is_texture_type(std::string_view word) {
  return among(word, {"texture1d",
                      "texture1d_array",
                      "texture2d",
                      "texture2d_array",
                      "texture2d_ms",
                      "texture2d_ms_array",
                      "texture3d",
                      "texturecube",
                      "texturecube_array",
                      "texture_buffer",
                      "depth2d",
                      "depth2d_array",
                      "depth2d_ms",
                      "depth2d_ms_array",
                      "depthcube",
                      "depthcube_array",
                      "sampler",
                      "imageblock",
                      "acceleration_structure",
                      "instance_acceleration_structure",
                      "primitive_acceleration_structure",
                      "visible_function_table",
                      "intersection_function_table",
                      "intersector",
                      "command_buffer",
                      "render_command",
                      "compute_command",
                      "tensor"});
}

bool is_constant_type(std::string_view type) {
  const bool vector =
      !type.empty() && type.back() >= '2' && type.back() <= '4' && type.find('_') == type.npos;
  const std::string_view element = vector ? type.substr(0, type.size() - 1) : type;
  if (vector && type.back() != '2' && among(element, {"long", "ulong"})) return false;  // more than 16 bytes
  return among(element, {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half",
                         "bfloat", "float"}) ||
         among(type, {"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
                      "uint64_t", "size_t", "unsigned", "unsigned int", "unsigned char", "unsigned short",
                      "unsigned long", "signed char"});
}

bool is_waiting_function(std::string_view word) {
  const auto begins = [&](std::string_view prefix) { return word.substr(0, prefix.size()) == prefix; };
  return begins("simd_") || begins("quad_") || begins("simdgroup_") || word == "threadgroup_barrier" ||
         word == "make_filled_simdgroup_matrix" || word == "thread_elements";
}

}  // namespace metalsim::mslgen
