#pragma once

#include "MTLPrivate.hpp"

namespace MTL {

struct Origin {
  Origin() = default;
  Origin(NS::UInteger x, NS::UInteger y, NS::UInteger z) : x(x), y(y), z(z) {}
  static Origin Make(NS::UInteger x, NS::UInteger y, NS::UInteger z) { return Origin(x, y, z); }

  NS::UInteger x;
  NS::UInteger y;
  NS::UInteger z;
} _MTL_PACKED;

struct Size {
  Size() = default;
  Size(NS::UInteger width, NS::UInteger height, NS::UInteger depth)
      : width(width), height(height), depth(depth) {}
  static Size Make(NS::UInteger width, NS::UInteger height, NS::UInteger depth) {
    return Size(width, height, depth);
  }

  NS::UInteger width;
  NS::UInteger height;
  NS::UInteger depth;
} _MTL_PACKED;

struct ResourceID {
  uint64_t _impl;
} _MTL_PACKED;

struct SizeAndAlign {
  NS::UInteger size;
  NS::UInteger align;
} _MTL_PACKED;

}  // namespace MTL
