/* minfer.h: large language models on your own machine, from C. The one stable interface of minfer.
 *
 * STATUS. Every call that can fail returns a minfer_status and writes its results only if that is MINFER_OK.
 * minfer_error_message() and minfer_error_hint() then tell this thread what was wrong and what to do. A null
 * pointer where one is needed is MINFER_BAD_REQUEST and named. Nothing aborts, no exception leaves the
 * library.
 *
 * TEXT is UTF-8, given as a pointer and a number of bytes; it may contain zero bytes and needs none at its
 * end. With 0 bytes the pointer may be null. Paths and names are ordinary C strings. Text from the library is
 * not terminated either, unless it is returned as a plain `const char*`.
 *
 * RESULTS come in two ways. Into a buffer of yours, with its capacity in elements: `*count` receives how many
 * elements there are; if they do not fit, nothing is written and the call returns MINFER_BUFFER_TOO_SMALL; a
 * null buffer of capacity 0 asks for the count only, and returns MINFER_OK. Or as a view of what a handle
 * owns, a pointer and a count: each function says how long it is valid.
 *
 * STRUCTS begin with `size`, the size of the struct that the caller was compiled with: fields are only ever
 * added at the end. The init function fills in the defaults; set what should differ.
 *
 * THREADS. A model may be used by any number of threads at once. A session or sampler belongs to one call at
 * a time: a second one is refused, from whichever thread and also from inside a callback. Only
 * minfer_session_cancel and minfer_session_clear_cancel may run beside another call. Sessions do not disturb
 * each other. Handles may be freed in any order; not while a call uses them.
 */
#ifndef MINFER_MINFER_H
#define MINFER_MINFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MINFER_API __attribute__((visibility("default")))
#else
#define MINFER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- library */

/* Grows with every change that a compiled program could notice, other than by addition. */
#define MINFER_ABI_VERSION 1

/* Of the library in use, e.g. "0.1.0". Any thread. */
MINFER_API const char* minfer_version(void);
/* MINFER_ABI_VERSION of the library in use; compare it if you loaded the library yourself. Any thread. */
MINFER_API int32_t minfer_abi_version(void);

typedef enum minfer_status {
  MINFER_OK = 0,
  MINFER_BAD_MODEL = 1,               /* a model file breaks a rule of its format or architecture */
  MINFER_BAD_REQUEST = 2,             /* an argument, a prompt or a setting that cannot be used */
  MINFER_CONTEXT_LENGTH_EXCEEDED = 3, /* the tokens do not fit the context */
  MINFER_UNSUPPORTED = 4,             /* well-formed, but this build cannot do it */
  MINFER_OUT_OF_MEMORY = 5,           /* a buffer would not fit its budget or the machine */
  MINFER_DEVICE = 6,                  /* a device failed while running */
  MINFER_IO = 7,                      /* a file, process or connection failed */
  MINFER_BUFFER_TOO_SMALL = 8,        /* `*count` says how many elements are needed */
  MINFER_CANCELLED = 9,               /* by minfer_session_cancel or by a callback */
  MINFER_INTERNAL = 10                /* a bug in minfer: please report it */
} minfer_status;

/* "ok", "bad_model", ...; "unknown" for other numbers. Any thread. */
MINFER_API const char* minfer_status_name(minfer_status status);

/* The last call of this thread that did not return MINFER_OK: what was being done, what was found and what
 * was expected; and what to do about it, empty if nothing. Empty before the first failure. Valid until the
 * next failure on this thread. Any thread, each its own. */
MINFER_API const char* minfer_error_message(void);
MINFER_API const char* minfer_error_hint(void);

typedef enum minfer_log_level {
  MINFER_LOG_DEBUG = 0,
  MINFER_LOG_INFO = 1,
  MINFER_LOG_WARNING = 2,
  MINFER_LOG_ERROR = 3
} minfer_log_level;

/* One message, without a line end. `text` is terminated and valid during the call. */
typedef void (*minfer_log_callback)(minfer_log_level level, const char* text, void* user);

/* Messages below `level` are dropped; MINFER_LOG_INFO, or what the variable MINFER_LOG says, at first.
 * Any thread. */
MINFER_API minfer_status minfer_log_set_level(minfer_log_level level);
/* Where messages go: to `callback`, one at a time, from whichever thread logs; null: to stderr, as at first.
 * When this returns, the callback set before is not running and never will again. Any thread. */
MINFER_API minfer_status minfer_log_set_callback(minfer_log_callback callback, void* user);

/* ------------------------------------------------------------------------------------------------ model */

/* A loaded file: weights, tokenizer, chat template. Never changes; shared by every session on it. */
typedef struct minfer_model minfer_model;

/* Maps and checks a GGUF file (for a split one: its first part). `*model` is yours to free. Any thread.
 * BAD_MODEL, UNSUPPORTED, IO. */
MINFER_API minfer_status minfer_model_load(const char* path, minfer_model** model);
/* Null is allowed. Sessions on the model stay usable. */
MINFER_API void minfer_model_free(minfer_model* model);

typedef struct minfer_model_facts {
  size_t size;              /* set it to sizeof(minfer_model_facts) before the call */
  const char* architecture; /* "llama", "qwen2", ...; valid as long as the model */
  const char* name; /* the file's own name for itself, empty if it has none; valid as long as the model */
  int64_t vocab;    /* tokens of the vocabulary: ids 0 .. vocab - 1 */
  int64_t logits;   /* logits a token: at least `vocab`, more where the file pads its rows */
  int64_t context_length; /* tokens the model was trained for */
  int64_t dim, n_layers, n_heads, n_kv_heads, head_dim, ffn_dim;
  uint64_t weight_bytes, file_bytes;
  int32_t bos_token; /* -1: the vocabulary has none */
  bool adds_bos;     /* whether minfer_tokenize puts it first if asked */
} minfer_model_facts;
/* Any thread. */
MINFER_API minfer_status minfer_model_get_facts(const minfer_model* model, minfer_model_facts* facts);

/* A view of the ids that end a generation, ascending; valid as long as the model. Any thread. */
MINFER_API minfer_status minfer_model_end_tokens(const minfer_model* model, const int32_t** tokens,
                                                 size_t* count);
/* A view of the bytes that a token stands for, of a control token its name; not always whole characters.
 * Valid as long as the model. Any thread. BAD_REQUEST for an id outside the vocabulary. */
MINFER_API minfer_status minfer_model_token_text(const minfer_model* model, int32_t token, const char** text,
                                                 size_t* count);
/* The id of a token by its text as the file stores it, e.g. "<|im_end|>"; -1 if there is none. Any thread. */
MINFER_API minfer_status minfer_model_find_token(const minfer_model* model, const char* text,
                                                 size_t text_bytes, int32_t* token);
/* Whether the token is a control token: an id that text from a user must never become. Any thread. */
MINFER_API minfer_status minfer_model_is_control(const minfer_model* model, int32_t token, bool* is_control);

/* Text to ids. `add_bos`: with the vocabulary's leading token, if it asks for one and the text has none.
 * `parse_special`: control tokens in the text become their ids; false: they are plain text, which is right
 * for everything that a user wrote. Any thread. BAD_REQUEST for more than 256 MiB of text. */
MINFER_API minfer_status minfer_tokenize(const minfer_model* model, const char* text, size_t text_bytes,
                                         bool add_bos, bool parse_special, int32_t* tokens, size_t capacity,
                                         size_t* count);
/* Ids to text; bytes that are no UTF-8 come out as U+FFFD. `special`: control tokens give their names, else
 * nothing. Any thread. */
MINFER_API minfer_status minfer_detokenize(const minfer_model* model, const int32_t* tokens, size_t n_tokens,
                                           bool special, char* text, size_t capacity, size_t* count);

/* ------------------------------------------------------------------------------------------------- chat */

/* For templates that have a switch for it; others take no notice. */
typedef enum minfer_thinking {
  MINFER_THINKING_DEFAULT = -1, /* as the template does by itself */
  MINFER_THINKING_OFF = 0,
  MINFER_THINKING_ON = 1
} minfer_thinking;

typedef struct minfer_chat_options {
  size_t size;
  bool add_generation_prompt;      /* default true: end with the head of the assistant's answer */
  minfer_thinking enable_thinking; /* default MINFER_THINKING_DEFAULT */
  const char* tools; /* JSON: an array of tool definitions as OpenAI's API has them; default none */
  size_t tools_bytes;
} minfer_chat_options;
/* Fills in the defaults. `size`: sizeof(minfer_chat_options). Any thread. */
MINFER_API minfer_status minfer_chat_options_init(minfer_chat_options* options, size_t size);

/* A conversation as a prompt, by the model's own chat template. `messages`: JSON, an array of messages as
 * OpenAI's API has them, e.g. [{"role": "user", "content": "Hello"}]. A file without a template gets ChatML
 * if its vocabulary has the control tokens, else UNSUPPORTED. `options` null: the defaults. Any thread.
 * BAD_REQUEST for messages that cannot be used, naming index and field; BAD_MODEL for a broken template. */
MINFER_API minfer_status minfer_chat_render(const minfer_model* model, const char* messages,
                                            size_t messages_bytes, const minfer_chat_options* options,
                                            char* text, size_t capacity, size_t* count);
/* The same as tokens, ready for minfer_session_generate. Control tokens come only from the template: what the
 * messages say stays plain text. Any thread. */
MINFER_API minfer_status minfer_chat_encode(const minfer_model* model, const char* messages,
                                            size_t messages_bytes, const minfer_chat_options* options,
                                            int32_t* tokens, size_t capacity, size_t* count);

/* ---------------------------------------------------------------------------------------------- session */

/* One sequence of tokens with its key/value cache. */
typedef struct minfer_session minfer_session;

typedef struct minfer_session_options {
  size_t size;
  int64_t n_ctx;         /* tokens of context; 0 (default): the trained length, at most 4096 */
  int32_t threads;       /* 0 (default): every core this process may use */
  int32_t prefill_chunk; /* tokens of one forward pass of a prompt; 0 (default): what suits device and model */
  const char* device; /* "auto" (default; also null), "cpu" or another device of this build, such as "metal";
                       * one that cannot run is refused, only auto may choose the CPU */
  const char* kv_format;  /* "f32", "f16", "q8_0"; null (default): MINFER_CACHE_TYPE, else the device's own */
  const char* gpu_layers; /* how many blocks the device takes, as a number, or "auto": what fits; null
                           * (default): MINFER_GPU_LAYERS, else all */
} minfer_session_options;
/* Fills in the defaults. `size`: sizeof(minfer_session_options). Any thread. */
MINFER_API minfer_status minfer_session_options_init(minfer_session_options* options, size_t size);

/* `options` null: the defaults. `*session` is yours to free. Any thread. */
MINFER_API minfer_status minfer_session_create(const minfer_model* model,
                                               const minfer_session_options* options,
                                               minfer_session** session);
/* Null is allowed. Not from inside a callback of the same session. */
MINFER_API void minfer_session_free(minfer_session* session);

typedef struct minfer_session_facts {
  size_t size; /* set it to sizeof(minfer_session_facts) before the call */
  int64_t n_ctx;
  const char* device;    /* what it runs on; valid as long as the session */
  const char* kv_format; /* valid always */
} minfer_session_facts;
/* One call at a time. */
MINFER_API minfer_status minfer_session_get_facts(minfer_session* session, minfer_session_facts* facts);

/* Appends tokens and computes the logits of the last one. After any failure the cache is as before the call,
 * and there are no logits. One call at a time. BAD_REQUEST, CONTEXT_LENGTH_EXCEEDED, OUT_OF_MEMORY, DEVICE,
 * CANCELLED. */
MINFER_API minfer_status minfer_session_decode(minfer_session* session, const int32_t* tokens,
                                               size_t n_tokens);

/* The logits of tokens[index]. They are valid during the call. False: stop, as if cancelled. */
typedef bool (*minfer_row_callback)(size_t index, const float* logits, size_t count, void* user);
/* The same with the logits of every token, first to last. One call at a time. */
MINFER_API minfer_status minfer_session_decode_all(minfer_session* session, const int32_t* tokens,
                                                   size_t n_tokens, minfer_row_callback row, void* user);

/* A view of the logits of the last decoded token, minfer_model_facts.logits of them. Valid until the session
 * is next used to decode, generate, truncate or be freed. BAD_REQUEST if there are none: before the first
 * decode, and after truncate, generate or a failure. One call at a time. */
MINFER_API minfer_status minfer_session_logits(minfer_session* session, const float** logits, size_t* count);
/* A view of the tokens in the cache; valid as long as the logits would be. One call at a time. */
MINFER_API minfer_status minfer_session_tokens(minfer_session* session, const int32_t** tokens,
                                               size_t* count);
/* Forgets the tokens from position `length` on. BAD_REQUEST if there are fewer. One call at a time. */
MINFER_API minfer_status minfer_session_truncate(minfer_session* session, size_t length);

/* Ends the call that is running on the session, soon and also inside a long prompt; if none is, the next
 * decode, decode_all or generate. A call that ends, however it ends, takes the request with it.
 * Any thread, beside any call but free. */
MINFER_API minfer_status minfer_session_cancel(minfer_session* session);
/* Takes back a request that came too late for the call it was meant for. Any thread, as above. */
MINFER_API minfer_status minfer_session_clear_cancel(minfer_session* session);

/* --------------------------------------------------------------------------------------------- sampling */

typedef struct minfer_sampling {
  size_t size;
  float temperature;       /* 0 .. 100, default 0.8; below 1e-6: the likeliest token */
  int32_t top_k;           /* default 40; 0: all */
  float top_p;             /* 0 .. 1, default 0.95; 1: all */
  float repeat_penalty;    /* 0.01 .. 100, default 1: none */
  float frequency_penalty; /* -100 .. 100, default 0: none */
  float presence_penalty;  /* -100 .. 100, default 0: none */
  int32_t penalty_window;  /* last tokens that the penalties look at, default 64 */
  uint64_t seed;           /* default 42. The same seed and logits give the same tokens on every machine */
} minfer_sampling;
/* Fills in the defaults. `size`: sizeof(minfer_sampling). Any thread. */
MINFER_API minfer_status minfer_sampling_init(minfer_sampling* sampling, size_t size);

/* Chooses tokens; holds the state of its random numbers. */
typedef struct minfer_sampler minfer_sampler;

/* `sampling` null: the defaults. `*sampler` is yours to free. Any thread. BAD_REQUEST naming a setting out of
 * its range. */
MINFER_API minfer_status minfer_sampler_create(const minfer_sampling* sampling, minfer_sampler** sampler);
/* Null is allowed. */
MINFER_API void minfer_sampler_free(minfer_sampler* sampler);

/* The token to follow those in the session, from its logits. It is not appended: decode it. One call at a
 * time on either handle. BAD_REQUEST if the session has no logits. */
MINFER_API minfer_status minfer_sampler_sample(minfer_sampler* sampler, minfer_session* session,
                                               int32_t* token);
/* The same from logits of your own, e.g. changed ones: an id below `n_logits`. Minus infinity rules a token
 * out. `history`: the tokens before, for the penalties. One call at a time. BAD_REQUEST if a logit is NaN or
 * plus infinity, or all are minus infinity. */
MINFER_API minfer_status minfer_sampler_sample_logits(minfer_sampler* sampler, const float* logits,
                                                      size_t n_logits, const int32_t* history,
                                                      size_t n_history, int32_t* token);

/* ------------------------------------------------------------------------------------------- generation */

typedef struct minfer_generate_options {
  size_t size;
  const minfer_sampling* sampling; /* null (default): the defaults */
  int64_t max_tokens;              /* default 512; -1: until the context is full */
  const char* const* stop;         /* texts that end the answer and are never part of it; C strings */
  size_t n_stop;                   /* default 0, at most 1024 */
} minfer_generate_options;
/* Fills in the defaults. `size`: sizeof(minfer_generate_options). Any thread. */
MINFER_API minfer_status minfer_generate_options_init(minfer_generate_options* options, size_t size);

typedef enum minfer_stop_reason {
  MINFER_STOP_END_TOKEN = 0, /* the model ended its answer */
  MINFER_STOP_STRING = 1,    /* a stop text appeared */
  MINFER_STOP_LENGTH = 2,    /* max_tokens */
  MINFER_STOP_CANCELLED = 3, /* by the callback or by minfer_session_cancel */
  MINFER_STOP_CONTEXT_FULL = 4
} minfer_stop_reason;

typedef struct minfer_generate_result {
  size_t size; /* set it to sizeof(minfer_generate_result) before the call */
  minfer_stop_reason reason;
  int64_t prompt_tokens, generated_tokens;
  double prompt_seconds, generate_seconds;
} minfer_generate_result;

/* Text that has become certain: whole UTF-8 characters, not terminated, valid during the call. False: stop.
 */
typedef bool (*minfer_text_callback)(const char* text, size_t text_bytes, void* user);

/* Decodes `prompt` after what is in the session, then samples and decodes one token after the other, giving
 * their text to `text` (may be null). `options` null: the defaults; `result` may be null. Being cancelled is
 * no failure: MINFER_OK, and the reason says so; of a prompt cancelled on its way whole chunks stay in the
 * cache. The last generated token is not in the cache. One call at a time. Fails as minfer_session_decode
 * does, then with the cache as it was after the last token that worked. */
MINFER_API minfer_status minfer_session_generate(minfer_session* session, const int32_t* prompt,
                                                 size_t n_prompt, const minfer_generate_options* options,
                                                 minfer_text_callback text, void* user,
                                                 minfer_generate_result* result);
/* A view of the tokens that the last minfer_session_generate made, an end token included; valid until the
 * next one or until the session is freed. One call at a time. */
MINFER_API minfer_status minfer_session_generated(minfer_session* session, const int32_t** tokens,
                                                  size_t* count);

#ifdef __cplusplus
}
#endif
#endif
