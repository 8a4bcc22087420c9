// What stays of a destroyed object: its memory, with a note of what it was, until newer tombstones push it
// out.
#pragma once

#include <string>

#include "objc/object.h"

namespace metalsim::objc {

/// Turns the memory of an object whose destructor has run into a tombstone. `epitaph` describes what it was.
void bury(void* storage, const std::string& epitaph);

bool is_tombstone(const Object* object);

}  // namespace metalsim::objc
