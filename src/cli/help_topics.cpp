#include "cli/help_topics.h"

#include <fmt/format.h>

#include "backends/registry.h"
#include "engine/sampler.h"

namespace minfer::cli {
namespace {

constexpr const char* start_text = R"(
  minfer run default "What is the capital of France?"

fetches a small model once (about 100 MB) and answers. The answer goes to stdout, everything else to stderr.
Any GGUF file of a known architecture will do in the place of `default`:

  minfer run model.gguf "Write a haiku about rain."
  minfer run model.gguf --prompt-file question.txt --temp 0
  minfer info model.gguf          what is in the file, and whether it can be used

Where something cannot be done, a message says what was found, what was expected and what to do.
)";

std::string sampling_text() {
  const SamplingParams d;
  return fmt::format(R"(
Each token is chosen from the model's logits in this order:

  --repeat-penalty X   above 1 makes the last {} tokens less likely; {} by default, which changes nothing
  --top-k K            keeps the K likeliest; {}; 0 keeps all
  --top-p P            keeps the likeliest that together have probability P; {}; 1 keeps all
  --temp T             then draws: below 1 more often the likely ones, above 1 less so; {}
  --seed N             the same seed and logits give the same tokens on every machine; {}

`--temp 0` draws nothing: it takes the likeliest token, and `--seed` has no effect.
-n N ends after N tokens (-1: when the context is full), --stop TEXT before a text; it may be repeated.
)",
                     d.penalty_window, d.repeat_penalty, d.top_k, d.top_p, d.temperature, d.seed);
}

constexpr const char* memory_text = R"(
Weights are mapped from the file: they take no more memory than the file, and two processes share them. The
CPU reads them faster from pages of 2 MiB, to which they are moved where there is memory for it (Linux):

  --weights auto   after the first token, piece by piece, if twice their size is available (the default)
  --weights huge   before the first token
  --weights map    never: they stay shared with other processes

The KV cache holds every token of the context and is reserved in whole:

  bytes = 2 x layers x KV heads x head width x context x bytes an element

  --n-ctx N      tokens of context; by default the length the model was trained for, at most 4096
  --kv f32       4 bytes an element (the CPU's default)
  --kv f16       2 bytes
  --kv q8_0      1.06 bytes: the least memory, a little less exact

For the default model (30 layers, 3 KV heads of width 64) that is 46 kB a token with f32, 12 kB with q8_0.
`minfer info FILE` shows these numbers for a file (block_count, head_count_kv, key_length).
)";

std::string devices_text() {
  std::string text = R"(
  --device auto      a GPU that can run the model, else the CPU; a GPU that was passed over is named with the reason
  --device cpu       the processor
)";
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.name != "cpu") text += fmt::format("  --device {:9} {}\n", kind.name, kind.what);
  }
  return text + R"(
A device named here runs the model or refuses it: a weight whose type it has no kernel for is an error that names it.

  --gpu-layers N     the first N blocks run on the device, the others on the CPU; all by default
  --gpu-layers auto  as many as fit: their weights in three quarters of what the device may use

The embedding, the last norm and the head are on the device if every block is. --explain prints what runs where, and
why not elsewhere. The KV cache of a device is f32, or f16 for models with long KV rows, unless --kv says otherwise.
)";
}

/// Everything that the program, the library or the Python package reads from the environment.
struct Variable {
  const char* name;
  const char* meaning;
};
constexpr Variable user_variables[] = {
    {"MINFER_LOG", "debug, info (the default), warning or error: messages below are not shown"},
    {"MINFER_CACHE", "folder of fetched models; otherwise:"},
    {"XDG_CACHE_HOME", "the cache is in its folder minfer"},
    {"HOME", "the cache is in .cache/minfer there, on macOS in Library/Caches/minfer"},
    {"MINFER_CACHE_TYPE", "f32, f16 or q8_0: format of the KV cache where --kv does not say"},
    {"MINFER_WEIGHTS", "auto, map or huge: pages of the weights where --weights does not say"},
    {"MINFER_ISA", "scalar, avx2, avx512 or neon: these CPU kernels and no others"},
    {"MINFER_GPU_LAYERS", "a number of blocks or auto: what --gpu-layers says where it is absent"},
    {"MINFER_GPU_MEM", "MiB that a device may use, instead of what it reports"},
    {"HF_TOKEN", "sent to the model hub, and to no other host, when fetching hf: sources"},
    {"HF_ENDPOINT", "another address for hf: sources"},
    {"SSL_CERT_FILE", "certificates to trust when fetching, instead of the system's"},
    {"MINFER_OLLAMA_URL", "another address for ollama: sources"},
    {"MINFER_DOWNLOAD_STALL_SECONDS", "a download that receives nothing for so long is begun again"},
    {"MINFER_DOWNLOAD_RETRIES", "how often that may happen"},
    {"MINFER_DOWNLOAD_BACKOFF_MS", "how long to wait the first time, then twice as long each time"},
    {"NO_COLOR", "set to anything: no colours in `minfer chat`"},
    {"TERM", "dumb: no colours in `minfer chat`"},
    {"MINFER_LIBRARY", "path of libminfer for the Python package"},
};
constexpr Variable device_variables[] = {
    {"MINFER_DISABLE_MPS", "1: there is no Metal device"},
    {"MINFER_METALLIB_FILE", "another file with the Metal kernels"},
    {"MINFER_WEIGHT_COPY", "1: weights are copied out of the file, not used where it is mapped"},
    {"MINFER_GEMM", "0: prompts by the kernels of single tokens"},
    {"MINFER_HALF_STAGING", "1: prompts with operands rounded to half: faster, less exact"},
    {"MINFER_NO_FLASH", "1: no flash attention for a single token"},
    {"MINFER_NO_SPLIT_ATTN", "1: nor the split one"},
    {"MINFER_NO_PREFILL_FLASH", "1: no flash attention for prompts"},
    {"MINFER_NO_MATMUL_ATTN", "1: nor the one in three passes"},
    {"MINFER_NO_RMS_256", "1: norms by 32 threads a row"},
    {"MINFER_ATTN_CHUNKS", "parts that attention of a single token is split into"},
    {"MINFER_PACKED_KV_STAGE", "1: a q8_0 cache is unpacked before it is read"},
    {"MINFER_METAL_BARRIERS", "all: every kernel waits for the one before it"},
    {"MINFER_METAL_TIMEOUT_MS", "how long the device may take for one pass"},
    {"MINFER_METAL_NARROW", "1: the software device is told where each value ends"},
    {"MINFER_METAL_CAPTURE", "1: writes a capture for Apple's tools"},
    {"MINFER_OP_PROFILE", "1: prints the time by op"},
    {"MINFER_TRACE", "1: logs every kernel as it is encoded"},
};
constexpr Variable developer_variables[] = {
    {"MINFER_GRAPH_TRACE", "1: print what becomes of each graph"},
    {"MINFER_GRAPH_DUMP", "folder: every value of every run goes there"},
    {"MINFER_TEST_CALL_FAIL", "POINT@N: the N-th call of that point fails, to test what happens then"},
};

std::string environment_text() {
  std::string text;
  const auto add = [&text](const char* title, const auto& variables) {
    text += fmt::format("\n{}\n\n", title);
    for (const Variable& v : variables) text += fmt::format("  {:30} {}\n", v.name, v.meaning);
  };
  add("Settings; an option on the command line wins over its variable:", user_variables);
  add("Of a Metal device; most switch one kernel off, to find which one is wrong:", device_variables);
  add("For those who work on minfer:", developer_variables);
  return text;
}

constexpr const char* cache_text = R"(
MODEL on the command line is one of these:

  path/to/model.gguf     a file; of a model in several files the first (…-00001-of-00003.gguf)
  default                a small model, fetched when it is first used
  NAME                   a model in the cache, as `minfer list` shows it

  minfer pull hf:OWNER/REPO:FILE       FILE may also be a quantisation such as Q4_K_M
  minfer pull ollama:NAME:TAG
  minfer pull https://host/model.gguf
  minfer list                          what is in the cache
  minfer rm NAME                       removes it

A download that was cut off goes on where it stopped; a file gets its name only when it is complete and, where the
source gives a SHA-256, matches it. The cache is in ~/.cache/minfer, see `minfer help environment`. What is there
needs no network.
)";

constexpr const char* prompts_text = R"(
A chat model was trained on conversations in a format of its own, with control tokens between the turns.

  minfer run MODEL "Hello"                    puts the prompt into that format, by the model's own template
  minfer run MODEL --system "Be brief." "Hello"
  minfer run MODEL --raw "Once upon a time"   no format: the model continues the text
  minfer chat MODEL                           turn after turn; /help lists what it understands
  minfer render MODEL --messages FILE         the text that a conversation becomes

Whatever a user writes stays plain text: `<|im_end|>` in a prompt does not end the turn. Only a --raw prompt may hold
control tokens, since it is the whole text that the model sees.
)";

}  // namespace

const std::vector<HelpTopic>& help_topics() {
  static const std::vector<HelpTopic> topics = {
      {"start", "The first answer", start_text},
      {"sampling", "How tokens are chosen", sampling_text()},
      {"memory", "Weights, context and the KV cache", memory_text},
      {"devices", "What runs on which device", devices_text()},
      {"environment", "Every environment variable", environment_text()},
      {"cache", "Where models come from and where they are kept", cache_text},
      {"prompts", "Prompts, conversations and control tokens", prompts_text},
  };
  return topics;
}

}  // namespace minfer::cli
