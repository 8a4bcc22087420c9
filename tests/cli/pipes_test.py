"""A reader that leaves and a user who presses Ctrl-C both end an answer in order."""
import os
import signal
import subprocess
import unittest

from support import MINFER, TIMEOUT_S

LONG_ANSWER = [MINFER, "run", "default", "--raw", "Once upon a time", "--temp", "0", "-n", "-1", "--n-ctx", "4096"]


def start():
    return subprocess.Popen(LONG_ANSWER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Pipes(unittest.TestCase):
    def test_closed_pipe_ends_quietly(self):
        process = start()
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


unittest.main()
