#include "cli/commands.h"
#include "cli/model_store.h"
#include "cli/output.h"
#include "gguf/describe.h"

namespace minfer::cli {

int info(const InfoOptions& options) {
  const auto file = gguf::File::open(find_model(options.model));
  write_out(options.json ? gguf::describe_json(*file) + "\n" : gguf::describe_text(*file));
  return exit_ok;
}

}  // namespace minfer::cli
