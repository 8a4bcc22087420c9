// Included before everything else where the tests are compiled with Apple's metal-cpp instead of our subset.
#pragma once

#include <cmath>  // metal-cpp uses INFINITY without including it

#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

// Apple's macro makes the string at compile time, in a form that only its own runtime knows.
#undef MTLSTR
#define MTLSTR(literal) NS::String::string(literal, NS::UTF8StringEncoding)
