"""The example programs on a model: as the engine continues the text, and as they fail."""
import os
import subprocess
import sys
import unittest

C, CPP = os.environ["EXAMPLE_C"], os.environ["EXAMPLE_CPP"]
MODEL = os.environ["MODEL"]  # a file, or `default`: the one that the program has fetched
MINFER = os.environ["MINFER"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=int(os.environ["MINFER_TEST_TIMEOUT_S"]))


def model_path():
    return run(MINFER, "pull", "default").stdout.strip() if MODEL == "default" else MODEL


class Examples(unittest.TestCase):
    def test_they_continue_a_text(self):
        path = model_path()
        for program in (C, CPP):
            done = run(program, path, "The capital of France is")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(len(done.stdout), 5)
            self.assertEqual(done.stdout, run(program, path, "The capital of France is").stdout)

    def test_the_greedy_one_agrees_with_the_program(self):
        path, text = model_path(), "The capital of France is"
        want = run(MINFER, "run", path, "--raw", "--temp", "0", "-n", "40", "--n-ctx", "2048", text).stdout
        self.assertTrue(run(CPP, path, text).stdout.startswith(want.rstrip("\n")))

    def test_a_wrong_file_is_named(self):
        for program in (C, CPP):
            done = run(program, "no-such-file.gguf", "x")
            self.assertEqual(done.returncode, 1)
            self.assertIn("no-such-file.gguf", done.stderr)
            self.assertEqual(run(program).returncode, 2)


if __name__ == "__main__":
    unittest.main()
