#include <csignal>
#include <exception>
#include <new>

#include "base/error.h"
#include "cli/args.h"
#include "cli/output.h"

/// The one place where an error becomes a message and an exit code.
int main(int argc, char** argv) {
  using namespace minfer;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is then an answer of write(), see write_out
  try {
    return cli::parse_args(argc, argv)();
  } catch (const Error& error) {
    cli::print_error(error.what(), error.hint);
  } catch (const std::bad_alloc&) {
    cli::print_error("out of memory", "use a smaller model, a smaller --n-ctx or --kv q8_0");
  } catch (const std::exception& error) {
    cli::print_error(error.what(), "this is a bug in minfer: please report it");
  }
  return cli::exit_error;
}
