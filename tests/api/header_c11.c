/* The header is C11 without a warning, and the C names link: compiled with -std=c11 -pedantic -Werror. */
#include <minfer/minfer.h>

int minfer_api_from_c(void);

int minfer_api_from_c(void) {
  minfer_session_options session_options;
  minfer_sampling sampling;
  minfer_generate_options generate_options;
  minfer_model* model = NULL;
  if (minfer_session_options_init(&session_options, sizeof session_options) != MINFER_OK) return 1;
  if (minfer_sampling_init(&sampling, sizeof sampling) != MINFER_OK) return 2;
  if (minfer_generate_options_init(&generate_options, sizeof generate_options) != MINFER_OK) return 3;
  if (session_options.prefill_chunk != 0 || sampling.top_k != 40 || generate_options.max_tokens != 512)
    return 4;
  if (minfer_model_load("no-such-file.gguf", &model) != MINFER_IO || model != NULL) return 5;
  if (minfer_error_message()[0] == '\0') return 6;
  return minfer_abi_version() == MINFER_ABI_VERSION ? 0 : 7;
}
