// Message sending. The three functions have no fixed signature: a caller casts them to the type of the
// method.
#pragma once

#include <objc/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Looks up the method of `self` for the selector and jumps to it with all arguments untouched. A message to
/// null answers zero. A selector that the class lacks ends the program with both names.
void objc_msgSend(void);

/// For results that are returned through a hidden pointer on x86-64; elsewhere objc_msgSend does it all.
void objc_msgSend_stret(void);

/// For floating-point results on x86-64.
void objc_msgSend_fpret(void);

#ifdef __cplusplus
}
#endif
