"""Which file of a repository is meant, and that nothing is guessed in silence."""
import unittest

from gguf_bytes import gguf
from support import DownloadTest


class Choice(DownloadTest):
    def offer(self, *names):
        """A repository of these files, each with other content."""
        self.server.repositories["o/r"] = {name: gguf(seed=i) for i, name in enumerate(names)}
        self.names = names

    def assert_takes(self, wanted, name, says=""):
        result = self.minfer("pull", "hf:o/r" + wanted)
        self.assert_pulled(result, gguf(seed=self.names.index(name)))
        self.assertIn(says, result.stderr.decode())
        self.minfer("rm", "hf:o/r:" + name)

    def assert_lists(self, wanted, *names):
        """Refused, with exactly these candidates."""
        result = self.minfer("pull", "hf:o/r" + wanted)
        self.assert_refused(result)
        hint = result.stderr.decode().split("hint: ")[1]
        self.assertEqual({name for name in self.names if name in hint.replace(",", " ").split()}, set(names))

    def test_quantisation_in_any_case(self):
        self.offer("Some-Model-Q4_K_M.gguf", "Some-Model-Q4_K_S.gguf", "Some-Model-IQ4_XS.gguf", "Some-Model-Q4_0.gguf",
                   "Some-Model.f16.gguf", "some_model_q8_0.gguf")
        self.assert_takes(":Q4_K_M", "Some-Model-Q4_K_M.gguf")
        self.assert_takes(":q4_k_s", "Some-Model-Q4_K_S.gguf")
        self.assert_takes(":IQ4_XS", "Some-Model-IQ4_XS.gguf")
        self.assert_takes(":F16", "Some-Model.f16.gguf")
        self.assert_takes(":Q8_0", "some_model_q8_0.gguf")
        self.assert_lists(":Q4_K", *self.names)  # no part of a name counts
        self.assert_lists(":Q4_XS", *self.names)  # nor the end of IQ4_XS
        self.assert_lists(":Q5_0", *self.names)

    def test_quantisation_before_a_suffix(self):
        self.offer("m-Q4_K_M-v2.gguf", "m-Q8_0-v2.gguf")
        self.assert_takes(":Q8_0", "m-Q8_0-v2.gguf")

    def test_name_without_extension(self):
        self.offer("a.gguf", "folder/b.gguf")
        self.assert_takes(":a", "a.gguf")
        self.assert_takes(":b", "folder/b.gguf")
        self.assert_takes(":folder/b", "folder/b.gguf")

    def test_path_before_file_name(self):
        self.offer("x/m.gguf", "m.gguf")
        self.assert_takes(":m.gguf", "m.gguf")
        self.assert_takes(":x/m.gguf", "x/m.gguf")

    def test_ambiguous(self):
        self.offer("small-Q4_K_M.gguf", "large-Q4_K_M.gguf", "large-Q8_0.gguf")
        self.assert_lists(":Q4_K_M", "small-Q4_K_M.gguf", "large-Q4_K_M.gguf")
        self.assert_lists("", "small-Q4_K_M.gguf", "large-Q4_K_M.gguf")
        self.assert_takes(":Q8_0", "large-Q8_0.gguf")

    def test_default_is_the_only_file(self):
        self.offer("strange-name.gguf")
        self.assert_takes("", "strange-name.gguf")

    def test_default_order(self):
        order = ["Q4_K_M", "Q4_K_S", "Q4_0", "Q4_1", "Q5_K_M", "Q5_K_S", "Q5_0", "Q5_1", "Q6_K", "Q8_0", "BF16", "F16", "F32"]
        for i in range(len(order) - 1):
            names = [f"m-{quant}.gguf" for quant in reversed(order[i:])]
            self.offer(*names, "mmproj-m-f16.gguf", "m-IQ1_S.gguf")
            self.assert_takes("", f"m-{order[i]}.gguf", says=f"taking m-{order[i]}.gguf")

    def test_no_default(self):
        self.offer("one.gguf", "two.gguf", "m-Q2_K.gguf")
        self.assert_lists("", *self.names)

    def test_companions_by_full_name_only(self):
        self.offer("mmproj-model-f16.gguf", "model-Q4_0.gguf", "model.imatrix.gguf")
        self.assert_takes("", "model-Q4_0.gguf")
        self.assert_lists(":f16", *self.names)
        self.assert_takes(":mmproj-model-f16.gguf", "mmproj-model-f16.gguf")

    def test_no_gguf(self):
        self.server.repositories["o/r"] = {"model.safetensors": b"x", "README.md": b"y"}
        self.assert_refused(self.minfer("pull", "hf:o/r"), "no .gguf file", "-GGUF")

    def test_missing_part(self):
        self.offer("m-00001-of-00003.gguf", "m-00003-of-00003.gguf")
        self.assert_refused(self.minfer("pull", "hf:o/r"), "2 parts are listed")

    def test_names_that_cannot_be_kept(self):
        good = gguf(seed=8)
        self.server.repositories["o/r"] = {"../../evil.gguf": gguf(), "/abs.gguf": gguf(), "a/../b.gguf": gguf(), "new\nline.gguf": gguf(),
                                           "back\\slash.gguf": gguf(), ".hidden.gguf": gguf(), "x" * 250 + ".gguf": gguf(),
                                           "a//b.gguf": gguf(), "bell\x07.gguf": gguf(), "good.gguf": good}
        result = self.minfer("pull", "hf:o/r")
        self.assert_pulled(result, good)
        self.assertEqual(result.stderr.decode().count("cannot be kept"), 9)
        self.assertNotIn("\x07", result.stderr.decode())


unittest.main()
