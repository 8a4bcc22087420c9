/* Continues a text: generate MODEL.gguf "Once upon a time". Error handling is one line a call. */
#include <minfer/minfer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(minfer_status status) {
  if (status == MINFER_OK) return;
  fprintf(stderr, "%s: %s\n%s\n", minfer_status_name(status), minfer_error_message(), minfer_error_hint());
  exit(1);
}

static bool print(const char* text, size_t bytes, void* user) {
  (void)user;
  return fwrite(text, 1, bytes, stdout) == bytes; /* false would end the generation */
}

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: %s MODEL.gguf TEXT\n", argv[0]), 2;

  minfer_model* model;
  check(minfer_model_load(argv[1], &model));
  size_t count; /* first how many tokens there are, then the tokens */
  check(minfer_tokenize(model, argv[2], strlen(argv[2]), true, false, NULL, 0, &count));
  int32_t* prompt = malloc((count + 1) * sizeof *prompt);
  if (!prompt) return 1;
  check(minfer_tokenize(model, argv[2], strlen(argv[2]), true, false, prompt, count, &count));

  minfer_session* session;
  check(minfer_session_create(model, NULL, &session));
  minfer_generate_options options;
  check(minfer_generate_options_init(&options, sizeof options));
  options.max_tokens = 40;
  check(minfer_session_generate(session, prompt, count, &options, print, NULL, NULL));
  printf("\n");

  free(prompt);
  minfer_session_free(session);
  minfer_model_free(model);
}
