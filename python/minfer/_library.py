"""Finds libminfer, and declares its functions and structs to ctypes exactly as include/minfer/minfer.h does."""
import ctypes as c
import os
import sys

ABI_VERSION = 1

Callback = c.CFUNCTYPE
LogCallback = Callback(None, c.c_int, c.c_char_p, c.c_void_p)
RowCallback = Callback(c.c_bool, c.c_size_t, c.POINTER(c.c_float), c.c_size_t, c.c_void_p)
TextCallback = Callback(c.c_bool, c.POINTER(c.c_char), c.c_size_t, c.c_void_p)


class _Struct(c.Structure):
    """A struct of the header: `size` comes first and is set from the start."""

    def __init__(self):
        super().__init__()
        self.size = c.sizeof(self)


class ModelFacts(_Struct):
    _fields_ = [("size", c.c_size_t), ("architecture", c.c_char_p), ("name", c.c_char_p), ("vocab", c.c_int64),
                ("logits", c.c_int64), ("context_length", c.c_int64), ("dim", c.c_int64), ("n_layers", c.c_int64),
                ("n_heads", c.c_int64), ("n_kv_heads", c.c_int64), ("head_dim", c.c_int64), ("ffn_dim", c.c_int64),
                ("weight_bytes", c.c_uint64), ("file_bytes", c.c_uint64), ("bos_token", c.c_int32),
                ("adds_bos", c.c_bool)]


class ChatOptions(_Struct):
    _fields_ = [("size", c.c_size_t), ("add_generation_prompt", c.c_bool), ("enable_thinking", c.c_int),
                ("tools", c.c_char_p), ("tools_bytes", c.c_size_t)]


class SessionOptions(_Struct):
    _fields_ = [("size", c.c_size_t), ("n_ctx", c.c_int64), ("threads", c.c_int32), ("prefill_chunk", c.c_int32),
                ("device", c.c_char_p), ("kv_format", c.c_char_p), ("gpu_layers", c.c_char_p)]


class SessionFacts(_Struct):
    _fields_ = [("size", c.c_size_t), ("n_ctx", c.c_int64), ("device", c.c_char_p), ("kv_format", c.c_char_p)]


class Sampling(_Struct):
    _fields_ = [("size", c.c_size_t), ("temperature", c.c_float), ("top_k", c.c_int32), ("top_p", c.c_float),
                ("repeat_penalty", c.c_float), ("frequency_penalty", c.c_float), ("presence_penalty", c.c_float),
                ("penalty_window", c.c_int32), ("seed", c.c_uint64)]


class GenerateOptions(_Struct):
    _fields_ = [("size", c.c_size_t), ("sampling", c.POINTER(Sampling)), ("max_tokens", c.c_int64),
                ("stop", c.POINTER(c.c_char_p)), ("n_stop", c.c_size_t)]


class GenerateResult(_Struct):
    _fields_ = [("size", c.c_size_t), ("reason", c.c_int), ("prompt_tokens", c.c_int64),
                ("generated_tokens", c.c_int64), ("prompt_seconds", c.c_double), ("generate_seconds", c.c_double)]


_handle, _count, _ids, _text = c.c_void_p, c.POINTER(c.c_size_t), c.POINTER(c.c_int32), c.c_char_p
_id_view, _float_view = c.POINTER(_ids), c.POINTER(c.POINTER(c.c_float))

# name: (result, arguments). None: nothing; "status": checked by the caller of the function.
FUNCTIONS = {
    "minfer_version": (c.c_char_p, []),
    "minfer_abi_version": (c.c_int32, []),
    "minfer_status_name": (c.c_char_p, [c.c_int]),
    "minfer_error_message": (c.c_char_p, []),
    "minfer_error_hint": (c.c_char_p, []),
    "minfer_log_set_level": ("status", [c.c_int]),
    "minfer_log_set_callback": ("status", [LogCallback, c.c_void_p]),
    "minfer_model_load": ("status", [_text, c.POINTER(_handle)]),
    "minfer_model_free": (None, [_handle]),
    "minfer_model_get_facts": ("status", [_handle, c.POINTER(ModelFacts)]),
    "minfer_model_end_tokens": ("status", [_handle, _id_view, _count]),
    "minfer_model_token_text": ("status", [_handle, c.c_int32, c.POINTER(c.POINTER(c.c_char)), _count]),
    "minfer_model_find_token": ("status", [_handle, _text, c.c_size_t, _ids]),
    "minfer_model_is_control": ("status", [_handle, c.c_int32, c.POINTER(c.c_bool)]),
    "minfer_tokenize": ("status", [_handle, _text, c.c_size_t, c.c_bool, c.c_bool, _ids, c.c_size_t, _count]),
    "minfer_detokenize": ("status", [_handle, _ids, c.c_size_t, c.c_bool, c.POINTER(c.c_char), c.c_size_t, _count]),
    "minfer_chat_options_init": ("status", [c.POINTER(ChatOptions), c.c_size_t]),
    "minfer_chat_render": ("status", [_handle, _text, c.c_size_t, c.POINTER(ChatOptions), c.POINTER(c.c_char),
                                      c.c_size_t, _count]),
    "minfer_chat_encode": ("status", [_handle, _text, c.c_size_t, c.POINTER(ChatOptions), _ids, c.c_size_t, _count]),
    "minfer_session_options_init": ("status", [c.POINTER(SessionOptions), c.c_size_t]),
    "minfer_session_create": ("status", [_handle, c.POINTER(SessionOptions), c.POINTER(_handle)]),
    "minfer_session_free": (None, [_handle]),
    "minfer_session_get_facts": ("status", [_handle, c.POINTER(SessionFacts)]),
    "minfer_session_decode": ("status", [_handle, _ids, c.c_size_t]),
    "minfer_session_decode_all": ("status", [_handle, _ids, c.c_size_t, RowCallback, c.c_void_p]),
    "minfer_session_logits": ("status", [_handle, _float_view, _count]),
    "minfer_session_tokens": ("status", [_handle, _id_view, _count]),
    "minfer_session_truncate": ("status", [_handle, c.c_size_t]),
    "minfer_session_cancel": ("status", [_handle]),
    "minfer_session_clear_cancel": ("status", [_handle]),
    "minfer_sampling_init": ("status", [c.POINTER(Sampling), c.c_size_t]),
    "minfer_sampler_create": ("status", [c.POINTER(Sampling), c.POINTER(_handle)]),
    "minfer_sampler_free": (None, [_handle]),
    "minfer_sampler_sample": ("status", [_handle, _handle, _ids]),
    "minfer_sampler_sample_logits": ("status", [_handle, c.POINTER(c.c_float), c.c_size_t, _ids, c.c_size_t, _ids]),
    "minfer_generate_options_init": ("status", [c.POINTER(GenerateOptions), c.c_size_t]),
    "minfer_session_generate": ("status", [_handle, _ids, c.c_size_t, c.POINTER(GenerateOptions), TextCallback,
                                           c.c_void_p, c.POINTER(GenerateResult)]),
    "minfer_session_generated": ("status", [_handle, _id_view, _count]),
}


class Error(Exception):
    """A call that failed. `code`: "bad_request", "io", ... as minfer_status_name gives it; `message`: what was being
    done, found and expected; `hint`: what to do, empty if nothing."""

    def __init__(self, code, message, hint=""):
        super().__init__(f"{message} ({hint})" if hint else message)
        self.code, self.message, self.hint = code, message, hint


def candidates():
    """Where the library is looked for, in order: the variable alone if it is set."""
    if os.environ.get("MINFER_LIBRARY"):
        return [os.environ["MINFER_LIBRARY"]]
    names = [f"libminfer.{ABI_VERSION}.dylib"] if sys.platform == "darwin" else [f"libminfer.so.{ABI_VERSION}"]
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [here, os.path.join(here, "..", "..", "build", "lib"), os.path.join(sys.prefix, "lib"),
               "/usr/local/lib"]
    paths = [os.path.normpath(os.path.join(folder, name)) for folder in folders for name in names]
    return paths + names  # a bare name: where the system's loader looks


def load():
    """The library with every function declared. Raises Error that lists what was tried."""
    tried = []
    for path in candidates():
        try:
            library = c.CDLL(path)
            break
        except OSError as error:
            tried.append(f"  {path}: {error}")
    else:
        raise Error("io", "libminfer was not found; tried\n" + "\n".join(tried),
                    "build minfer and set MINFER_LIBRARY to the path of libminfer, or install it")
    try:
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = c.c_int if result == "status" else result
            function.argtypes = arguments
    except AttributeError as error:
        raise Error("unsupported", f"{path} is no libminfer of this version: {error}",
                    "install the library and the Python package from the same release") from None
    if library.minfer_abi_version() != ABI_VERSION:
        raise Error("unsupported", f"{path} has ABI version {library.minfer_abi_version()}, expected {ABI_VERSION}",
                    "install the library and the Python package from the same release")
    return library
