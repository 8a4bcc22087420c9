"""Wrong files and wrong usage end in one message, a hint and the right code; no model is needed."""
import os
import tempfile
import unittest

from support import DATA, minfer


class Errors(unittest.TestCase):
    def assert_error(self, result, code, *words):
        text = result.stderr.decode()
        self.assertEqual(result.returncode, code, text)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(text.startswith("minfer: error: "), text)
        self.assertIn("\n  hint: ", text)
        for word in words:
            self.assertIn(word, text)

    def test_usage(self):
        self.assert_error(minfer(), 2)
        self.assert_error(minfer("run", "default"), 2, "PROMPT")
        self.assert_error(minfer("run", "default", "x", "--no-such-flag"), 2, "--no-such-flag", "minfer run --help")
        self.assert_error(minfer("bench", "default", "-o", "xml"), 2, "xml")
        self.assert_error(minfer("pull"), 2, "SOURCE")
        self.assert_error(minfer("rm"), 2, "MODEL")

    def test_help_and_version(self):
        for arguments, word in (["--help"], b"detokenize"), (["run", "--help"], b"--top-k"), (["--version"], b"minfer "):
            result = minfer(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertIn(word, result.stdout)

    def test_no_such_source(self):
        self.assert_error(minfer("pull", "other"), 1, "other", "hf:OWNER/REPO")

    def test_no_such_model(self):
        with tempfile.TemporaryDirectory() as cache:
            result = minfer("run", "nothing-of-this-name", "x", env={"MINFER_CACHE": cache})
        self.assert_error(result, 1, "nothing-of-this-name")

    def test_not_a_model(self):
        with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
            file.write(b"<!DOCTYPE html><html></html>")
            file.flush()
            for command in (["info"], ["tokenize"], ["run"], ["bench"]):
                extra = ["x"] if command[0] in ("run", "tokenize") else []
                result = minfer(*command, file.name, *extra)
                self.assertEqual(result.returncode, 1)
                self.assertIn(os.path.basename(file.name), result.stderr.decode())

    def test_unknown_kv_format(self):
        result = minfer("run", "default", "x", "--kv", "q9")
        self.assert_error(result, 1, "q9")

    def test_chat_format_that_the_vocabulary_lacks(self):
        with open(os.path.join(DATA, "golden", "llama-f16.gguf"), "rb") as file:
            content = file.read()
        with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
            content = content.replace(b"tokenizer.chat_template", b"tokenizer.other_templat")
            file.write(content.replace(b"<|im_start|>", b"<|my_start|>"))
            file.flush()
            self.assert_error(minfer("run", file.name, "x"), 1, "<|im_start|>", "--raw")

    def test_prompt_longer_than_the_context(self):
        model = os.path.join(DATA, "golden", "llama-f16.gguf")
        self.assert_error(minfer("run", model, "--raw", "abcdefghij", "--n-ctx", 2), 1, "context of 2")

    def test_ids_that_are_none(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("1 2 x3\n")
            file.flush()
            self.assert_error(minfer("logits", "default", "--ids", file.name), 1, "x3", "line 1")


unittest.main()
