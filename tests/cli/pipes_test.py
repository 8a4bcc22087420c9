"""A reader that leaves and a user who presses Ctrl-C both end an answer in order."""
import os
import re
import signal
import subprocess
import tempfile
import unittest

from support import MINFER, TIMEOUT_S

LONG_ANSWER = [MINFER, "run", "default", "--raw", "Once upon a time", "--temp", "0", "-n", "-1", "--n-ctx", "4096"]


def start(**settings):
    environment = dict(os.environ, **settings)
    return subprocess.Popen(LONG_ANSWER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment)


class Pipes(unittest.TestCase):
    def test_closed_pipe_ends_quietly(self):
        process = start(MINFER_LOG="warning")  # without the line that says where weights go
        os.read(process.stdout.fileno(), 1)
        process.stdout.close()
        self.assertEqual(process.wait(TIMEOUT_S), 0)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()

    def test_interrupt_ends_the_answer_with_its_statistics(self):
        process = start()
        os.read(process.stdout.fileno(), 1)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130, errors)
        self.assertTrue(rest.endswith(b"\n"))
        self.assertIn(b"tokens/s", errors)

    def test_interrupt_in_a_long_prompt_does_not_wait_for_its_end(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("The quick brown fox jumps over the lazy dog. " * 360)
            file.flush()
            # A signal that comes before it is caught ends the program at once, which is no answer to the question.
            for wait_s in (0.5, 1, 2, 4):
                process = subprocess.Popen([MINFER, "run", "default", "--prompt-file", file.name, "-n", "1"],
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                try:
                    process.communicate(timeout=wait_s)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGINT)
                output, errors = process.communicate(timeout=TIMEOUT_S)
                if process.returncode == 130:
                    break
        self.assertEqual((process.returncode, output), (130, b""), errors)
        computed = int(re.search(rb"prompt (\d+) tokens", errors).group(1))
        self.assertLess(computed, 3000)


unittest.main()
