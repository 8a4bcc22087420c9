#pragma once
#include <atomic>

namespace minfer::cli {

/// True since Ctrl-C (SIGINT) was pressed. Long work takes a pointer to it, see GenerateParams::cancel.
extern std::atomic<bool> interrupted;

/// The first Ctrl-C sets `interrupted`; a second one ends the process.
void catch_first_interrupt();
/// Ctrl-C ends the process again.
void catch_no_interrupt();

/// Each Ctrl-C sets `interrupted` and ends a read from the terminal. Three since the last forget_interrupt
/// end the process: whatever it is doing, it does not listen.
void catch_every_interrupt();
void forget_interrupt();

}  // namespace minfer::cli
