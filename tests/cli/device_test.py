"""--device and --gpu-layers: what is refused, what is said, and that a device's logits are the CPU's."""
import json
import os
import re
import tempfile
import unittest

from support import DATA, minfer, write_ids

MODEL = os.path.join(DATA, "golden", "qwen3-f16.gguf")  # two blocks
CHOICES = re.search(r"--device TEXT\S*\s+(.*)", minfer("run", "--help").stdout.decode()).group(1)
SIMULATED = "metal-sim" in CHOICES

# An f16 model: both sides keep f32 activations and differ in the order of sums only. Of the largest logit.
TOLERANCE = 1e-4


def logits(*options, env=None):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ids")
        write_ids(path, [[1, 2, 3, 4, 5, 6, 7]])
        return minfer("logits", MODEL, "--ids", path, "--kv", "f32", *options, env=env)


class Devices(unittest.TestCase):
    def assert_refused(self, result, *words):
        text = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (1, b""), text)
        for word in words:
            self.assertIn(word, text)

    def test_unknown_devices_are_refused_with_those_of_this_build(self):
        self.assert_refused(logits("--device", "teapot"), "`teapot` is not in this build", CHOICES)
        if SIMULATED:
            self.assert_refused(logits("--device", "metal"), "`metal` is not in this build", "metal-sim")

    def test_layers_that_are_no_number(self):
        self.assert_refused(logits("--gpu-layers", "all"), "--gpu-layers", "`all`")
        self.assert_refused(logits(env={"MINFER_GPU_LAYERS": "-2"}), "MINFER_GPU_LAYERS", "`-2`")
        self.assert_refused(logits("--device", "cpu", "--gpu-layers", 1), "device cpu")

    def test_auto_is_silent_where_there_is_no_gpu_and_says_why_if_asked(self):
        if not SIMULATED:
            self.skipTest("this build has another device, or none")
        self.assertEqual(logits().stderr, b"")
        self.assertIn(b"auto never takes metal-sim", logits("--explain").stderr)


@unittest.skipUnless(SIMULATED, "the software Metal device is not in this build")
class SoftwareMetal(unittest.TestCase):
    def test_it_says_what_it_is_and_has_the_logits_of_the_cpu(self):
        want = json.loads(logits("--device", "cpu").stdout)["last_logits"]
        largest = max(map(abs, want))
        for options, place in (([], "2 of 2 blocks on metal-sim, embedding, norm and head"),
                               (["--gpu-layers", 1], "1 of 2 blocks on metal-sim, the rest on cpu")):
            result = logits("--device", "metal-sim", *options)
            said = result.stderr.decode()
            self.assertEqual(result.returncode, 0, said)
            self.assertEqual(said.count("made of software"), 1)
            self.assertIn(place, said)
            got = json.loads(result.stdout)["last_logits"]
            self.assertEqual(len(got), len(want))
            worst = max(abs(a - b) for a, b in zip(got, want))
            self.assertLess(worst, TOLERANCE * largest)
            self.assertGreater(worst, 0, "the same bits: it ran on the CPU")

    def test_explain_names_the_device_of_each_node(self):
        said = logits("--device", "metal-sim", "--gpu-layers", 1, "--explain").stderr.decode()
        self.assertRegex(said, r"blk\.0\.attn_q\s+matmul\s+metal-sim")
        self.assertRegex(said, r"blk\.1\.attn_q\s+matmul\s+cpu\n\s+not metal-sim: 1 blocks are on the device")
        self.assertIn("all 2 blocks", said)

    def test_blocks_that_fit(self):
        said = logits("--device", "metal-sim", "--gpu-layers", "auto", env={"MINFER_GPU_MEM": "4096"}).stderr
        self.assertIn(b"2 of 2 blocks", said)
        self.assert_nothing_fits(logits("--device", "metal-sim", "--gpu-layers", "auto", env={"MINFER_GPU_MEM": "0"}))

    def assert_nothing_fits(self, result):
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"no block fits on device metal-sim", result.stderr)

    def test_a_budget_too_small_for_the_weights_is_refused_with_all_numbers(self):
        result = logits("--device", "metal-sim", env={"MINFER_GPU_MEM": "0"})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), r"weights [1-9][\d.]* MiB .*budget of 0\.00 MiB")

    def test_switched_off(self):
        off = {"MINFER_DISABLE_MPS": "1"}
        result = logits("--device", "metal-sim", env=off)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"MINFER_DISABLE_MPS", result.stderr)
        self.assertEqual(logits(env=off).returncode, 0)


unittest.main()
