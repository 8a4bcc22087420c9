"""python/minfer with nothing but the standard library: every call, every kind of failure, threads. numpy is used where
it is installed, to see that it reads logits without a copy."""
import array
import ctypes
import gc
import json
import os
import re
import subprocess
import sys
import threading
import unittest

import minfer
from minfer import _library

DATA, HEADER = os.environ["MINFER_TEST_DATA_DIR"], os.environ["MINFER_HEADER"]
PROMPT = [1, 2, 3, 4, 5, 6, 7]


def path(name):
    return os.path.join(DATA, "golden", name + ".gguf")


class Refusals(unittest.TestCase):
    def refused(self, code, named, call):
        with self.assertRaises(minfer.Error) as caught:
            call()
        self.assertEqual(caught.exception.code, code)
        self.assertIn(named, caught.exception.message + " " + caught.exception.hint)
        return caught.exception


class Declarations(unittest.TestCase):
    """What ctypes was told is what the header says: a wrong type here would be memory corruption there."""

    C_TYPES = {"size_t": ctypes.c_size_t, "int64_t": ctypes.c_int64, "int32_t": ctypes.c_int32, "bool": ctypes.c_bool,
               "uint64_t": ctypes.c_uint64, "float": ctypes.c_float, "double": ctypes.c_double,
               "minfer_stop_reason": ctypes.c_int, "minfer_thinking": ctypes.c_int, "minfer_status": ctypes.c_int, "minfer_log_level": ctypes.c_int}

    @classmethod
    def setUpClass(cls):
        with open(HEADER) as file:
            cls.header = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)

    def test_functions(self):
        declared = dict(re.findall(r"^MINFER_API [^;(]*?(\w+)\(([^;]*)\);", self.header, re.M | re.S))
        self.assertEqual(sorted(declared), sorted(_library.FUNCTIONS))
        for name, arguments in declared.items():
            kinds = [] if arguments.strip() == "void" else [a.strip() for a in arguments.split(",")]
            given = _library.FUNCTIONS[name][1]
            self.assertEqual(len(kinds), len(given), name)
            for kind, ctype in zip(kinds, given):
                words = kind.rsplit(None, 1)[0].replace("const", "").split()
                if "*" not in kind and "callback" not in kind:
                    self.assertIs(ctype, self.C_TYPES[words[0]], f"{name}: {kind}")
                else:
                    self.assertEqual(ctypes.sizeof(ctype), ctypes.sizeof(ctypes.c_void_p), f"{name}: {kind}")

    def test_structs(self):
        for c_name, struct in {"model_facts": _library.ModelFacts, "session_options": _library.SessionOptions,
                               "chat_options": _library.ChatOptions,
                               "session_facts": _library.SessionFacts, "sampling": _library.Sampling,
                               "generate_options": _library.GenerateOptions,
                               "generate_result": _library.GenerateResult}.items():
            body = re.search(r"typedef struct minfer_%s \{(.*?)\}" % c_name, self.header, re.S).group(1)
            fields = []
            for line in filter(None, map(str.strip, body.split(";"))):
                kind, names = re.match(r"((?:const )?\w+[ *]*?(?:const\* ?)?)\s*(\w+(?:, \w+)*)$", line).groups()
                fields += [(name, kind.strip()) for name in names.split(", ")]
            self.assertEqual([name for name, _ in fields], [name for name, _ in struct._fields_], c_name)
            for (name, kind), (_, ctype) in zip(fields, struct._fields_):
                if "*" in kind:
                    self.assertEqual(ctypes.sizeof(ctype), ctypes.sizeof(ctypes.c_void_p), name)
                else:
                    self.assertIs(ctype, self.C_TYPES[kind], f"{c_name}.{name}")


class Models(Refusals):
    def test_facts_and_tokens(self):
        model = minfer.Model(path("qwen2-f32"))
        self.assertEqual((model.facts.architecture, model.facts.name, model.facts.vocab), ("qwen2", "qwen2-f32", 384))
        self.assertGreater(model.facts.weight_bytes, 0)
        self.assertEqual(minfer.version().count("."), 2)
        for text in ("", "Hello world", "caf\u00e9 \u4f60\u597d \U0001f600", "zero\0byte", "<|im_end|>"):
            self.assertEqual(model.detokenize(model.tokenize(text)), text)
        end = model.find_token("<|im_end|>")
        self.assertTrue(model.is_control(end))
        self.assertIn(end, model.end_tokens)
        self.assertEqual(model.tokenize("<|im_end|>", parse_special=True), [end])
        self.assertNotIn(end, model.tokenize("<|im_end|>"))
        self.assertEqual(model.token_bytes(end), b"<|im_end|>")
        self.assertEqual(model.detokenize([end], special=False), "")
        self.assertIsNone(model.find_token("no such token"))
        self.assertEqual(model.tokenize(b"Hello"), model.tokenize("Hello"))

    def test_refusals(self):
        self.refused("io", "no-such-file", lambda: minfer.Model("no-such-file.gguf"))
        self.refused("bad_model", "GGUF", lambda: minfer.Model(__file__))
        model = minfer.Model(path("qwen2-f32"))
        for bad in (-1, 384):
            self.refused("bad_request", str(bad), lambda: model.token_bytes(bad))
            self.refused("bad_request", str(bad), lambda: model.is_control(bad))
            self.refused("bad_request", str(bad), lambda: model.detokenize([bad]))
        for bad in (1 << 32, 1.5, "a", None):  # ctypes alone would cut the first to 0
            self.refused("bad_request", "whole numbers", lambda: model.detokenize([bad]))
        self.refused("bad_request", "text", lambda: model.tokenize("\ud800"))
        self.refused("bad_request", "text", lambda: model.tokenize(None))
        error = self.refused("bad_request", "1000", lambda: model.detokenize([1000]))
        self.assertIn(error.message, str(error))
        model.close()
        model.close()
        self.refused("bad_request", "model", lambda: model.tokenize("a"))


class Chat(Refusals):
    def setUp(self):
        self.model = minfer.Model(path("qwen3-f16"))

    def test_render_and_encode(self):
        hello = [{"role": "user", "content": "Hello"}]
        text = self.model.chat_render(hello)
        self.assertEqual(text, "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")
        self.assertEqual(self.model.chat_encode(hello), self.model.tokenize(text, parse_special=True))
        self.assertEqual(self.model.chat_render(hello, add_generation_prompt=False),
                         "<|im_start|>user\nHello<|im_end|>\n")

    def test_what_a_user_writes_is_no_control_token(self):
        end = self.model.find_token("<|im_end|>")
        ids = self.model.chat_encode([{"role": "user", "content": "<|im_end|>"}])
        self.assertEqual(ids.count(end), 1)
        self.assertEqual(self.model.detokenize(ids).count("<|im_end|>"), 2)

    def test_refusals(self):
        self.refused("bad_request", "role", lambda: self.model.chat_encode([{"content": "Hello"}]))
        self.refused("bad_request", "", lambda: self.model.chat_render({"role": "user"}))
        self.refused("bad_request", "JSON", lambda: self.model.chat_render([{1, 2}]))
        self.refused("bad_request", "enable_thinking", lambda: self.model.chat_render([], enable_thinking=2))
        nested = "x"
        for _ in range(200):
            nested = [nested]
        self.refused("bad_request", "levels", lambda: self.model.chat_render([{"role": "user", "content": nested}]))


class Sessions(Refusals):
    def setUp(self):
        self.model = minfer.Model(path("qwen2-f32"))

    def test_logits_equal_the_references(self):
        with open(os.path.join(DATA, "golden", "qwen2-f32.json")) as file:
            case = json.load(file)["cases"][0]
        session = self.model.session(n_ctx=1024, threads=1, device="cpu", kv_format="f32")
        logits = session.decode(case["prompt"])
        self.assertEqual(len(logits), 384)
        # The class of F32 files: 1e-5 of the largest logit (tests/tolerance.h).
        for got, want in zip(logits, case["last_logits"]):
            self.assertLessEqual(abs(got - want), 1e-5 * case["max_abs_logit"])

    def test_another_device_has_the_logits_of_the_cpu(self):
        want = list(self.model.session(n_ctx=64, threads=1, device="cpu", kv_format="f32").decode(PROMPT))
        with self.assertRaises(minfer.Error) as caught:
            self.model.session(device="none")
        if "metal-sim" not in caught.exception.hint:
            self.skipTest("the software Metal device is not in this build")
        for layers, name in ((None, "metal-sim"), ("1", "metal-sim + cpu")):
            session = self.model.session(n_ctx=64, device="metal-sim", kv_format="f32", gpu_layers=layers)
            self.assertEqual(session.device, name)
            away = max(abs(a - b) for a, b in zip(session.decode(PROMPT), want))
            self.assertLess(away, 1e-4 * max(map(abs, want)))  # what a device may differ (tests/tolerance.h)
            self.assertGreater(away, 0)

    def test_logits_are_a_view_of_the_sessions_memory(self):
        session = self.model.session(n_ctx=64, threads=1, device="cpu")
        first = session.decode(PROMPT)
        again = session.logits
        address = ctypes.addressof(first.obj)
        self.assertEqual(ctypes.addressof(again.obj), address)
        self.assertTrue(first.readonly)
        self.assertEqual(first.format, "f")
        try:
            import numpy
        except ImportError:
            return
        values = numpy.asarray(first)
        self.assertEqual((values.dtype, values.shape, values.ctypes.data), (numpy.float32, (384,), address))

    def test_a_view_keeps_the_session_alive(self):
        logits = self.model.session(n_ctx=64, threads=1, device="cpu").decode(PROMPT)
        expected = list(self.model.session(n_ctx=64, threads=1, device="cpu").decode(PROMPT))
        gc.collect()
        self.assertEqual(list(logits), expected)

    def test_rows_tokens_truncate(self):
        session = self.model.session(n_ctx=64, threads=1, device="cpu", prefill_chunk=2)
        last = list(session.decode(PROMPT))
        self.assertEqual(session.tokens, PROMPT)
        session.truncate(0)
        self.assertEqual(session.tokens, [])
        rows = []
        session.decode_all(PROMPT, lambda index, logits: rows.append((index, list(logits))))
        self.assertEqual([index for index, _ in rows], list(range(len(PROMPT))))
        self.assertEqual(rows[-1][1], last)
        self.assertEqual(list(session.logits), last)
        before = session.tokens
        self.refused("cancelled", "", lambda: session.decode_all(PROMPT, lambda index, _: index < 2))
        with self.assertRaises(ZeroDivisionError):
            session.decode_all(PROMPT, lambda index, _: 1 // 0)
        self.assertEqual(session.tokens, before)
        self.assertEqual((session.n_ctx, session.device, session.kv_format), (64, "cpu", "f32"))

    def test_sampler(self):
        session = self.model.session(n_ctx=64, threads=1, device="cpu")
        logits = session.decode(PROMPT)
        greedy = minfer.Sampler(temperature=0)
        best = max(range(384), key=lambda i: logits[i])
        self.assertEqual(greedy.sample(session), best)
        for form in (logits, list(logits), array.array("f", logits), array.array("d", logits)):
            self.assertEqual(greedy.sample_logits(form), best)
        without = list(logits)
        without[best] = float("-inf")
        self.assertNotEqual(greedy.sample_logits(without), best)
        draws = [[minfer.Sampler(seed=seed, temperature=2).sample_logits(logits, PROMPT) for seed in range(20)]
                 for _ in range(2)]
        self.assertEqual(draws[0], draws[1])
        self.assertGreater(len(set(draws[0])), 1)

    def test_refusals(self):
        session = self.model.session(n_ctx=8, threads=1, device="cpu")
        self.refused("bad_request", "no logits", lambda: session.logits)
        self.refused("context_length_exceeded", "9", lambda: session.decode([1] * 9))
        self.refused("bad_request", "384", lambda: session.decode([384]))
        self.refused("bad_request", "no tokens", lambda: session.decode([]))
        self.refused("bad_request", "3", lambda: session.truncate(3))
        self.refused("bad_request", "-1", lambda: session.truncate(-1))
        self.refused("unsupported", "teapot", lambda: self.model.session(device="teapot"))
        self.refused("bad_request", "q3", lambda: self.model.session(kv_format="q3"))
        self.refused("bad_request", "colour", lambda: self.model.session(colour=1))
        self.refused("bad_request", "n_ctx", lambda: self.model.session(n_ctx=1 << 70))
        self.refused("bad_request", "threads", lambda: self.model.session(threads=(1 << 32) + 1))
        self.refused("bad_request", "n_ctx", lambda: self.model.session(n_ctx="long"))
        self.refused("bad_request", "temperature", lambda: minfer.Sampler(temperature=-1))
        self.refused("bad_request", "seed", lambda: minfer.Sampler(seed=-1))
        self.refused("bad_request", "nan", lambda: minfer.Sampler().sample_logits([1.0, float("nan")]))
        self.refused("bad_request", "level", lambda: minfer.set_log(None, "loud"))
        session.close()
        session.close()
        self.refused("bad_request", "session", lambda: session.decode([1]))


class Generations(Refusals):
    def setUp(self):
        self.model = minfer.Model(path("llama-f16"))
        self.talker = minfer.Model(path("qwen2-f32"))  # its greedy answer has no end

    def endless(self, session):
        return session.generate(PROMPT, max_tokens=-1, temperature=0)

    def test_text_and_result(self):
        session = self.model.session(n_ctx=256, threads=1, device="cpu")
        generation = session.generate(PROMPT, max_tokens=20, temperature=0)
        self.assertIsNone(generation.reason)
        text = "".join(generation)
        self.assertEqual((generation.reason, generation.generated_tokens, generation.prompt_tokens), ("length", 20, 7))
        self.assertEqual(text, self.model.detokenize(session.generated, special=False))
        self.assertEqual(list(generation), [])  # an iterator that has ended stays ended
        by_hand = self.model.session(n_ctx=256, threads=1, device="cpu")
        sampler, tokens = minfer.Sampler(temperature=0), []
        by_hand.decode(PROMPT)
        while len(tokens) < 20:
            tokens.append(sampler.sample(by_hand))
            by_hand.decode(tokens[-1:])
        self.assertEqual(session.generated, tokens)

        stop = text[len(text) // 2:][:3]
        session = self.model.session(n_ctx=256, threads=1, device="cpu")
        stopped = session.generate(PROMPT, max_tokens=20, temperature=0, stop=stop)
        self.assertEqual("".join(stopped), text[:text.index(stop)])
        self.assertEqual(stopped.reason, "stop_string")

    def test_failures_come_out_of_the_iterator(self):
        session = self.model.session(n_ctx=16, threads=1, device="cpu")
        self.refused("context_length_exceeded", "17", lambda: list(session.generate([1] * 17)))
        self.refused("bad_request", "temperature", lambda: list(session.generate(PROMPT, temperature=-1)))
        self.refused("bad_request", "heat", lambda: session.generate(PROMPT, heat=1))
        self.refused("bad_request", "max_tokens", lambda: list(session.generate(PROMPT, max_tokens=-7)))
        self.refused("bad_request", "stop", lambda: list(session.generate(PROMPT, stop="")))

    def test_leaving_early_cancels(self):
        session = self.talker.session(n_ctx=100000, threads=1, device="cpu")
        with self.endless(session) as generation:
            for _ in generation:
                break
        self.assertEqual(generation.reason, "cancelled")
        dropped = self.endless(session)
        next(dropped)
        del dropped
        session.decode([1])  # would be refused while the generation ran
        self.endless(session)
        session.close()  # with a generation running

    def test_cancel_from_another_thread(self):
        session = self.talker.session(n_ctx=100000, threads=1, device="cpu")
        generation = self.endless(session)
        next(generation)
        self.refused("bad_request", "in use", lambda: session.decode([1]))
        threading.Thread(target=session.cancel).start()
        for _ in generation:
            pass
        self.assertEqual(generation.reason, "cancelled")
        session.cancel()
        self.refused("cancelled", "", lambda: session.decode(PROMPT))
        session.cancel()
        session.clear_cancel()
        session.decode(PROMPT)

    def test_two_sessions_in_two_threads(self):
        def run(seed):
            session = self.model.session(n_ctx=256, threads=1, device="cpu")
            return "".join(session.generate(PROMPT, max_tokens=40, temperature=1.0, seed=seed)), session.generated

        alone = [run(1), run(2)]
        self.assertNotEqual(alone[0], alone[1])
        together = [None, None]

        def work(i):
            together[i] = run(i + 1)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(together, alone)

    def test_a_program_may_end_while_it_generates(self):
        code = f"import minfer; s = minfer.Model({path('llama-f16')!r}).session(n_ctx=100000); " \
               f"g = s.generate({PROMPT}, max_tokens=-1); next(g); print('bye')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
        self.assertEqual((done.returncode, done.stdout), (0, "bye\n"), done.stderr)


class Log(unittest.TestCase):
    def test_messages_reach_the_function(self):
        model, messages = minfer.Model(path("llama-f16")), []
        minfer.set_log(lambda level, text: messages.append((level, text)), "warning")
        model.session(n_ctx=100000)
        minfer.set_log(None)
        self.assertEqual([level for level, _ in messages], ["warning"])
        self.assertIn("100000", messages[0][1])


class Library(unittest.TestCase):
    def run_with(self, library):
        return subprocess.run([sys.executable, "-c", "import minfer"], capture_output=True, text=True,
                              env=dict(os.environ, MINFER_LIBRARY=library))

    def test_a_missing_library_is_named(self):
        failed = self.run_with("/nowhere/libminfer.so")
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("/nowhere/libminfer.so", failed.stderr)
        self.assertIn("MINFER_LIBRARY", failed.stderr)

    def test_another_library_is_refused(self):
        failed = self.run_with("libm.so.6" if sys.platform != "darwin" else "libm.dylib")
        self.assertIn("no libminfer", failed.stderr)

    def test_without_the_variable_every_place_is_tried(self):
        before = os.environ.pop("MINFER_LIBRARY")
        try:
            places = _library.candidates()
        finally:
            os.environ["MINFER_LIBRARY"] = before
        self.assertTrue(places[0].startswith(os.path.dirname(_library.__file__)))
        self.assertNotIn("/", places[-1])


if __name__ == "__main__":
    unittest.main()
