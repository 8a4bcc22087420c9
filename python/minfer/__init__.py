"""Large language models on your own machine.

    import minfer
    model = minfer.Model("model.gguf")
    session = model.session()
    prompt = model.chat_encode([{"role": "user", "content": "What is the capital of France?"}])
    for text in session.generate(prompt, temperature=0):
        print(text, end="", flush=True)

Over libminfer by ctypes: nothing is compiled. MINFER_LIBRARY names the library if it is in no usual place. Whatever
fails raises minfer.Error. A Model may be used from any thread; a Session and a Sampler by one call at a time, except
Session.cancel. Calls give up Python's lock while they compute, so sessions in several threads run side by side.
"""
import array as _array
import atexit as _atexit
import ctypes as _c
import json as _json
import os as _os
import queue as _queue
import threading as _threading
import weakref as _weakref
from collections import namedtuple as _namedtuple

from minfer import _library
from minfer._library import Error

__all__ = ["Error", "Generation", "Model", "Sampler", "Session", "set_log", "version"]

Error.__module__ = "minfer"  # what a traceback calls it
_lib = _library.load()


def _check(status):
    if status != 0:
        raise Error(_lib.minfer_status_name(status).decode(), _lib.minfer_error_message().decode(errors="replace"),
                    _lib.minfer_error_hint().decode(errors="replace"))


def version():
    """The version of the library in use."""
    return _lib.minfer_version().decode()


_LEVELS = ("debug", "info", "warning", "error")
_log_callback = None  # kept alive: the library holds only its address


def set_log(function=None, level="info"):
    """Messages of `level` or above go to function(level, text), from whichever thread logs; None: to stderr."""
    global _log_callback
    if level not in _LEVELS:
        raise Error("bad_request", f"log level {level!r}", "use debug, info, warning or error")
    _check(_lib.minfer_log_set_level(_LEVELS.index(level)))
    callback = _library.LogCallback()
    if function is not None:
        callback = _library.LogCallback(lambda number, text, _: function(_LEVELS[number], text.decode(errors="replace")))
    _check(_lib.minfer_log_set_callback(callback, None))
    _log_callback = callback


def _ids(tokens):
    """Token ids as a C array, and their count. ctypes would cut a number that is too large: array refuses it."""
    try:
        ids = _array.array("i", tokens)
    except (TypeError, OverflowError) as error:
        raise Error("bad_request", f"token ids must be whole numbers of 32 bits: {error}") from None
    return (_c.c_int32 * len(ids)).from_buffer(ids), len(ids)


def _id(token):
    return _ids([token])[0][0]


def _bytes(text):
    try:
        return text.encode() if isinstance(text, str) else bytes(text)
    except (UnicodeEncodeError, TypeError) as error:
        raise Error("bad_request", f"text must be str without lone surrogates, or bytes: {error}") from None


def _from_buffer(element, call):
    """The two calls of a result in a buffer: its size, then its elements."""
    count = _c.c_size_t()
    _check(call(None, 0, _c.byref(count)))
    buffer = (element * count.value)()
    _check(call(buffer, count.value, _c.byref(count)))
    return buffer


def _view(element, call):
    """A list of what a handle owns."""
    pointer, count = _c.POINTER(element)(), _c.c_size_t()
    _check(call(_c.byref(pointer), _c.byref(count)))
    return pointer[:count.value] if count.value else []


class _Handle:
    """Owns one C handle and frees it once, at the latest when nothing refers to it any more."""

    _free = None
    _as_parameter_ = None

    def close(self):
        """Frees the handle. Safe to call twice."""
        handle, self._as_parameter_ = self._as_parameter_, None
        if handle:
            type(self)._free(handle)

    def __del__(self):
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


Facts = _namedtuple("Facts", [name for name, _ in _library.ModelFacts._fields_ if name != "size"])


class Model(_Handle):
    """A loaded GGUF file. `facts`: architecture, name, vocab, logits, context_length, dim, n_layers, ..."""

    _free = _lib.minfer_model_free

    def __init__(self, path):
        handle = _c.c_void_p()
        _check(_lib.minfer_model_load(_os.fsencode(path), _c.byref(handle)))
        self._as_parameter_ = handle
        facts = _library.ModelFacts()
        _check(_lib.minfer_model_get_facts(self, _c.byref(facts)))
        values = {name: getattr(facts, name) for name in Facts._fields}
        values["architecture"] = values["architecture"].decode(errors="replace")
        values["name"] = values["name"].decode(errors="replace")
        self.facts = Facts(**values)

    def session(self, **options):
        """A Session on this model; the options are those of Session."""
        return Session(self, **options)

    @property
    def end_tokens(self):
        return _view(_c.c_int32, lambda p, n: _lib.minfer_model_end_tokens(self, p, n))

    def token_bytes(self, token):
        """The bytes that a token stands for: not always whole characters."""
        pointer, count = _c.POINTER(_c.c_char)(), _c.c_size_t()
        _check(_lib.minfer_model_token_text(self, _id(token), _c.byref(pointer), _c.byref(count)))
        return pointer[:count.value]

    def find_token(self, text):
        """The id of a token by its stored text; None if there is none."""
        token, data = _c.c_int32(), _bytes(text)
        _check(_lib.minfer_model_find_token(self, data, len(data), _c.byref(token)))
        return token.value if token.value >= 0 else None

    def is_control(self, token):
        answer = _c.c_bool()
        _check(_lib.minfer_model_is_control(self, _id(token), _c.byref(answer)))
        return answer.value

    def tokenize(self, text, add_bos=True, parse_special=False):
        """Text (str or bytes) to ids. `parse_special`: control tokens in the text become their ids."""
        data = _bytes(text)
        return list(_from_buffer(_c.c_int32, lambda out, capacity, count: _lib.minfer_tokenize(
            self, data, len(data), add_bos, parse_special, out, capacity, count)))

    def detokenize(self, tokens, special=True):
        """Ids to text; `special`: control tokens give their names, else nothing."""
        ids, n = _ids(tokens)
        return bytes(_from_buffer(_c.c_char, lambda out, capacity, count: _lib.minfer_detokenize(
            self, ids, n, special, out, capacity, count))).decode()

    def chat_render(self, messages, add_generation_prompt=True, enable_thinking=None, tools=None):
        """A conversation as the text of a prompt, by the model's own chat template. `messages`: a list of dicts as
        OpenAI's API has them, e.g. [{"role": "user", "content": "Hello"}]; `tools`: a list of tool definitions."""
        data, options = _chat(messages, add_generation_prompt, enable_thinking, tools)
        return bytes(_from_buffer(_c.c_char, lambda out, capacity, count: _lib.minfer_chat_render(
            self, data, len(data), _c.byref(options), out, capacity, count))).decode()

    def chat_encode(self, messages, add_generation_prompt=True, enable_thinking=None, tools=None):
        """The same as tokens, for Session.generate. Control tokens come only from the template."""
        data, options = _chat(messages, add_generation_prompt, enable_thinking, tools)
        return list(_from_buffer(_c.c_int32, lambda out, capacity, count: _lib.minfer_chat_encode(
            self, data, len(data), _c.byref(options), out, capacity, count)))


def _chat(messages, add_generation_prompt, enable_thinking, tools):
    settings = {"add_generation_prompt": add_generation_prompt,
                "enable_thinking": -1 if enable_thinking is None else int(enable_thinking)}
    try:
        if tools is not None:
            text = _json.dumps(tools).encode()
            settings.update(tools=text, tools_bytes=len(text))
        data = _json.dumps(messages).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Error("bad_request", f"messages and tools must be what JSON can hold: {error}") from None
    return data, _options(_library.ChatOptions(), _lib.minfer_chat_options_init, settings)


def _options(struct, init, settings):
    """A C struct with its defaults, and what `settings` names changed."""
    _check(init(_c.byref(struct), _c.sizeof(struct)))
    known = {name: kind for name, kind in struct._fields_ if name != "size"}
    for name, value in settings.items():
        if name not in known:
            raise Error("bad_request", f"no setting is named {name!r}", "there are: " + ", ".join(known))
        try:
            setattr(struct, name, value.encode() if isinstance(value, str) else value)
        except TypeError as error:
            raise Error("bad_request", f"{name} = {value!r}: {error}") from None
        if isinstance(value, int) and known[name] is not _c.c_float and getattr(struct, name) != value:
            raise Error("bad_request", f"{name} = {value} does not fit", "see minfer.h for its range")
    return struct


def _sampling(settings):
    return _options(_library.Sampling(), _lib.minfer_sampling_init, settings)


class Sampler(_Handle):
    """Chooses tokens; settings: temperature, top_k, top_p, repeat_penalty, frequency_penalty, presence_penalty,
    penalty_window, seed."""

    _free = _lib.minfer_sampler_free

    def __init__(self, **sampling):
        handle = _c.c_void_p()
        _check(_lib.minfer_sampler_create(_c.byref(_sampling(sampling)), _c.byref(handle)))
        self._as_parameter_ = handle

    def sample(self, session):
        """The token to follow those in the session, from its logits."""
        token = _c.c_int32()
        _check(_lib.minfer_sampler_sample(self, session, _c.byref(token)))
        return token.value

    def sample_logits(self, logits, history=()):
        """The same from logits of your own: numbers, fastest as a buffer of 32-bit floats such as a numpy array.
        Minus infinity rules a token out."""
        values = _float_array(logits)
        ids, n = _ids(history)
        token = _c.c_int32()
        _check(_lib.minfer_sampler_sample_logits(self, values, len(values), ids, n, _c.byref(token)))
        return token.value


class Session(_Handle):
    """One sequence of tokens with its key/value cache; options: n_ctx, threads, prefill_chunk, device, kv_format,
    gpu_layers (a number as text, or "auto")."""

    _free = _lib.minfer_session_free

    def __init__(self, model, **options):
        struct = _options(_library.SessionOptions(), _lib.minfer_session_options_init, options)
        handle = _c.c_void_p()
        _check(_lib.minfer_session_create(model, _c.byref(struct), _c.byref(handle)))
        self._as_parameter_ = handle
        self._generation = lambda: None  # a weak reference to the one that may be running
        self.model = model
        facts = _library.SessionFacts()
        _check(_lib.minfer_session_get_facts(self, _c.byref(facts)))
        self.n_ctx, self.device, self.kv_format = facts.n_ctx, facts.device.decode(), facts.kv_format.decode()

    def decode(self, tokens):
        """Appends tokens; returns the logits of the last one, see `logits`."""
        ids, n = _ids(tokens)
        _check(_lib.minfer_session_decode(self, ids, n))
        return self.logits

    def decode_all(self, tokens, row):
        """The same with the logits of every token: row(index, logits), valid during the call; False stops."""
        ids, n = _ids(tokens)
        thrown = []

        def call(index, logits, count, _):
            try:
                return row(index, self._floats(logits, count)) is not False
            except BaseException as error:  # it must not pass through C: raised again below
                thrown.append(error)
                return False

        status = _lib.minfer_session_decode_all(self, ids, n, _library.RowCallback(call), None)
        if thrown:
            raise thrown[0]
        _check(status)

    @property
    def logits(self):
        """The last token's logits: a memoryview of floats on the session's own memory, which numpy.asarray reads
        without a copy. Valid until the session decodes, generates, truncates or is closed: copy what must last."""
        pointer, count = _c.POINTER(_c.c_float)(), _c.c_size_t()
        _check(_lib.minfer_session_logits(self, _c.byref(pointer), _c.byref(count)))
        return self._floats(pointer, count.value)

    def _floats(self, pointer, count):
        array = _c.cast(pointer, _c.POINTER(_c.c_float * count)).contents
        array.session = self  # the view keeps the array, and that the memory
        return memoryview(array).cast("B").cast("f").toreadonly()

    @property
    def tokens(self):
        """The tokens in the cache."""
        return _view(_c.c_int32, lambda p, n: _lib.minfer_session_tokens(self, p, n))

    @property
    def generated(self):
        """The tokens of the last generation, an end token included."""
        return _view(_c.c_int32, lambda p, n: _lib.minfer_session_generated(self, p, n))

    def truncate(self, length):
        """Forgets the tokens from position `length` on."""
        if not 0 <= length < 1 << 31:
            raise Error("bad_request", f"length is {length}", "use 0 or more")
        _check(_lib.minfer_session_truncate(self, length))

    def cancel(self):
        """Ends the running call, or the next one if none runs; from any thread."""
        _check(_lib.minfer_session_cancel(self))

    def clear_cancel(self):
        """Takes back a cancel() that came too late."""
        _check(_lib.minfer_session_clear_cancel(self))

    def generate(self, prompt, max_tokens=512, stop=(), **sampling):
        """An iterator over the answer's text as it becomes certain; see Generation. `prompt`: ids; `stop`: texts that
        end the answer; the rest are settings of Sampler. max_tokens -1: until the context is full."""
        return Generation(self, prompt, max_tokens, stop, sampling)

    def close(self):
        """Frees the session; a generation that is still running on it is cancelled first."""
        generation = getattr(self, "_generation", lambda: None)()
        if generation is not None:
            generation.close()
        super().close()


def _float_array(values):
    try:
        view = memoryview(values)
    except TypeError:
        return (_c.c_float * len(values))(*values)
    if view.format != "f" or view.ndim != 1 or not view.c_contiguous:
        return (_c.c_float * len(values))(*values)
    kind = _c.c_float * len(view)
    return kind.from_buffer_copy(view) if view.readonly else kind.from_buffer(view)


_running = _weakref.WeakSet()  # generations that may not have ended


@_atexit.register
def _end_all():
    """No thread may be inside the library when the interpreter goes."""
    for generation in list(_running):
        try:
            generation.close()
        except Exception:
            pass  # the program is ending


class Generation:
    """Text as it is generated: an iterator, running in a thread of its own so that you may take your time. Leaving
    the loop early and then close(), `with`, or dropping the object cancels it. Afterwards: `reason` ("end_token",
    "stop_string", "length", "cancelled", "context_full"), `prompt_tokens`, `generated_tokens`, `prompt_seconds`,
    `generate_seconds`; None before."""

    _REASONS = ("end_token", "stop_string", "length", "cancelled", "context_full")

    def __init__(self, session, prompt, max_tokens, stop, sampling):
        self.reason = self.prompt_tokens = self.generated_tokens = self.prompt_seconds = self.generate_seconds = None
        self._session = session
        self._pieces = _queue.SimpleQueue()  # text; at the end None or the exception
        ids, n = _ids(prompt)
        settings = _sampling(sampling)
        stop = [stop] if isinstance(stop, str) else list(stop)
        stops = (_c.c_char_p * len(stop))(*[_bytes(text) for text in stop])
        options = _options(_library.GenerateOptions(), _lib.minfer_generate_options_init,
                           {"max_tokens": max_tokens, "sampling": _c.pointer(settings), "stop": stops,
                            "n_stop": len(stop)})
        pieces, result = self._pieces, _library.GenerateResult()

        def text(data, count, _):
            pieces.put(data[:count].decode())
            return True

        def work(session):
            try:
                _check(_lib.minfer_session_generate(session, ids, n, _c.byref(options), _library.TextCallback(text),
                                                    None, _c.byref(result)))
                pieces.put(None)
            except BaseException as error:
                pieces.put(error)

        self._result, self._ended = result, False
        self._thread = _threading.Thread(target=work, args=(session,), daemon=True)
        self._thread.start()
        session._generation = _weakref.ref(self)
        _running.add(self)

    def __iter__(self):
        return self

    def __next__(self):
        if self._ended:
            raise StopIteration
        piece = self._pieces.get()
        if isinstance(piece, str):
            return piece
        self._finish(piece)
        raise StopIteration

    def _finish(self, error):
        self._ended = True
        self._thread.join()
        _running.discard(self)
        if error is not None:
            raise error
        self.reason = self._REASONS[self._result.reason]
        for name in ("prompt_tokens", "generated_tokens", "prompt_seconds", "generate_seconds"):
            setattr(self, name, getattr(self._result, name))

    def close(self):
        """Cancels the generation if it is still running, and waits for its end. Text not yet taken is lost."""
        if self._ended:
            return
        if self._thread.is_alive():
            self._session.cancel()
        if _threading.current_thread() is self._thread:  # the garbage collector runs on any thread
            return
        self._thread.join()
        self._session.clear_cancel()  # in case it ended by itself just before
        piece = ""
        while isinstance(piece, str):
            piece = self._pieces.get()
        self._finish(piece)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if not getattr(self, "_ended", True):
            try:
                self.close()
            except Error:
                pass  # nobody is left to tell
