"""Commands on files of the test data: logits against float64, a vocabulary without a model."""
import json
import os
import tempfile
import unittest

from support import DATA, minfer, write_ids

# An F32 file with f32 activations, as a share of the largest logit: see the golden tests, whose bound this is.
F32_LOGITS = 2e-5


class Files(unittest.TestCase):
    def test_logits_equal_the_reference(self):
        with open(os.path.join(DATA, "golden", "qwen2-f32.json")) as file:
            cases = json.load(file)["cases"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ids")
            write_ids(path, [case["prompt"] for case in cases])
            result = minfer("logits", os.path.join(DATA, "golden", "qwen2-f32.gguf"), "--ids", path, "--greedy", 16)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(lines), len(cases))
        for case, line in zip(cases, lines):
            bound = F32_LOGITS * case["max_abs_logit"]
            self.assertEqual(len(line["last_logits"]), len(case["last_logits"]))
            for got, want in zip(line["last_logits"], case["last_logits"]):
                self.assertLessEqual(abs(got - want), bound)
            self.assertLessEqual(abs(line["mean_nll"] - case["mean_nll"]), 2 * bound)  # two logits each
            self.assertEqual(len(line["argmax_per_position"]), len(case["prompt"]))
            for got, want, gap in zip(line["greedy"], case["greedy"], case["greedy_gap"]):
                if gap <= 2 * bound:
                    break  # either is right, and from here on the texts may part
                self.assertEqual(got, want)

    def test_vocabulary_only_file(self):
        model = os.path.join(DATA, "tokenizer", "qwen3-vocab.gguf")
        result = minfer("tokenize", model, "1234567890")
        self.assertEqual(result.stdout, b"16 17 18 19 20 21 22 23 24 15\n")
        self.assertEqual(minfer("detokenize", model, "[16, 17,18]").stdout, b"123\n")

    def test_text_file(self):
        model = os.path.join(DATA, "tokenizer", "qwen3-vocab.gguf")
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\n" * 20000)
            file.flush()
            result = json.loads(minfer("tokenize", model, "--text-file", file.name, "--json").stdout)
        self.assertEqual(result["count"], 625)


unittest.main()
