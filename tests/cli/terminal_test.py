"""A conversation at a terminal: a pseudo-terminal is typed into, and its screen is read."""
import errno
import json
import os
import pty
import re
import select
import signal
import stat
import tempfile
import time
import unittest

from support import DATA, MINFER, TIMEOUT_S

CTRL_C, CTRL_D, CTRL_A, UP = b"\x03", b"\x04", b"\x01", b"\x1b[A"
REPORT = re.compile(rb"reused (\d+), computed (\d+)[^,]*, generated (\d+)[^\r\n]*")
LONG_STORY = "Write a very long story about a fox and a hound, with many chapters."


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, *arguments, env=None):
        self.seen = b""   # all that it wrote
        self.mark = 0     # what was looked at
        environment = {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8", **(env or {})}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(MINFER, [MINFER, *map(str, arguments)], environment)

    def _read(self, deadline):
        ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing more came; the screen: {self.seen[-2000:]!r}")
        try:
            data = os.read(self.fd, 65536)
        except OSError as error:  # Linux says that the other side closed it
            if error.errno != errno.EIO:
                raise
            data = b""
        self.seen += data
        return data

    def wait_for(self, pattern):
        """Returns the match in what was written since the last one."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            match = re.compile(pattern).search(self.seen, self.mark)
            if match:
                self.mark = match.end()
                return match
            if not self._read(deadline):
                raise AssertionError(f"it ended; the screen: {self.seen[-2000:]!r}")

    def wait_for_prompt(self):
        self.wait_for(rb">[^\n]* ")

    def type(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        os.write(self.fd, data)

    def ask(self, text):
        self.wait_for_prompt()
        self.type(text + "\n")

    def report(self):
        match = self.wait_for(REPORT)
        return tuple(map(int, match.groups())), match.group()

    def end(self):
        """The exit code, after it wrote all."""
        deadline = time.monotonic() + TIMEOUT_S
        while self._read(deadline):
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class AtATerminal(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        # The history of lines is kept in the cache; the model is in the user's own.
        own = os.environ.get("MINFER_CACHE") or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "minfer")
        if not os.path.isdir(own):
            own = os.path.expanduser("~/Library/Caches/minfer")
        os.symlink(os.path.join(own, "models"), os.path.join(self.folder, "models"))

    def start(self, *arguments, command="chat", env=None):
        terminal = Terminal(command, *arguments, env=dict({"MINFER_CACHE": self.folder}, **(env or {})))
        self.addCleanup(terminal.close)
        return terminal

    def test_interrupt_stops_the_answer_and_keeps_the_conversation(self):
        saved = os.path.join(self.folder, "saved.json")
        t = self.start("default", "--temp", 0, "-n", 2000, "--system", "You are a helpful assistant.")
        t.ask("What is the capital of France?")
        t.wait_for(rb"Paris")
        first, _ = t.report()
        t.ask(LONG_STORY)
        t.wait_for(rb"chapters\.\r\n[^\r]*[a-z]+ [a-z]+ [a-z]+ ")
        t.type(CTRL_C)
        cut, text = t.report()
        self.assertIn(b"stopped", text)
        self.assertEqual(cut[0], sum(first) - 1)
        self.assertLess(cut[2], 1500)
        t.ask("/save " + saved)
        t.wait_for(rb"5 messages saved")
        t.ask("/regen")
        t.wait_for(rb"regen\r\n[^\r]*[a-z]+ [a-z]+ ")
        t.type(CTRL_C)
        again, _ = t.report()
        self.assertEqual(again[:2], (cut[0] + cut[1] - 1, 1))
        t.ask("/load " + saved)
        t.wait_for(rb"5 messages loaded")
        t.ask("What is the capital of Italy?")
        t.report()
        t.wait_for_prompt()
        t.type(CTRL_D)
        self.assertEqual(t.end(), 0)
        with open(saved) as file:
            messages = json.load(file)
        self.assertGreater(len(messages[4]["content"]), 10)
        t.seen.decode("utf-8", "strict")

    def test_interrupt_in_a_long_prompt(self):
        file = os.path.join(self.folder, "long.json")
        with open(file, "w") as out:
            json.dump([{"role": "user", "content": "The quick brown fox jumps over the lazy dog. " * 360}], out)
        t = self.start("default", "-n", 8)
        t.ask("/load " + file)
        t.wait_for(rb"1 messages loaded")
        t.ask("/regen")
        t.wait_for(rb"regen\r\n")  # the line is accepted: what follows is the prompt's pass
        t.type(CTRL_C)
        counts, text = t.report()
        self.assertIn(b"before the answer began", text)
        self.assertLess(counts[1], 3000)
        self.assertEqual(counts[2], 0)
        t.ask("/clear")
        t.ask("Hello.")
        self.assertGreater(t.report()[0][2], 0)

    def test_editing_a_line(self):
        saved = os.path.join(self.folder, "saved.json")
        t = self.start("default", "-n", 1)
        t.wait_for_prompt()
        t.type("this line goes away")
        t.wait_for(rb"away")
        t.type(CTRL_C)
        t.ask("caf\u00e9 \u65e5\u672c")
        t.report()
        t.wait_for_prompt()
        t.type(UP)
        t.wait_for("\u672c".encode())
        t.type(CTRL_A + "Up: \n".encode())
        t.report()
        t.ask('"""')
        t.wait_for(rb"\.[^\n]* ")
        t.type('two\n')
        t.wait_for(rb"\.[^\n]* ")
        t.type('lines"""\n')
        t.report()
        t.ask("/save " + saved)
        t.wait_for(rb"saved in")
        t.ask("/exit")
        self.assertEqual(t.end(), 0)
        with open(saved) as file:
            messages = json.load(file)
        self.assertEqual([m["content"] for m in messages if m["role"] == "user"],
                         ["caf\u00e9 \u65e5\u672c", "Up: caf\u00e9 \u65e5\u672c", "two\nlines"])
        history = os.path.join(self.folder, "chat_history")
        self.assertEqual(stat.S_IMODE(os.stat(history).st_mode), 0o600)
        # The next run has the lines of this one.
        t = self.start("default", "-n", 1)
        t.wait_for_prompt()
        t.type(UP + UP)
        t.wait_for(rb"saved\.json")
        t.type(CTRL_C)
        t.wait_for_prompt()
        t.type(CTRL_D)
        self.assertEqual(t.end(), 0)

    def test_colours(self):
        for env, options, coloured in (({}, [], True), ({"NO_COLOR": "1"}, [], False), ({"TERM": "dumb"}, [], False),
                                       ({}, ["--color", "off"], False), ({"NO_COLOR": "1"}, ["--color", "on"], True)):
            t = self.start("default", "-n", 1, *options, env=env)
            t.ask("Hello.")
            t.report()
            t.wait_for_prompt()
            t.type(CTRL_D)
            self.assertEqual(t.end(), 0)
            self.assertEqual(b"\x1b[1;32m" in t.seen, coloured, (env, options))
            self.assertEqual(b"\x1b[2m" in t.seen, coloured, (env, options))

    def test_what_a_model_says_does_not_drive_the_terminal(self):
        # Random weights say any byte, ESC among them.
        golden = os.path.join(DATA, "golden", "llama-f16.gguf")
        wild = ["--temp", 3, "--top-k", 0, "--top-p", 1, "-n", 1000]
        said = ""
        for seed in range(6):
            t = self.start(golden, "x", "--raw", "--seed", seed, *wild, command="run")
            self.assertEqual(t.end(), 0)
            said += t.seen.decode("utf-8", "strict")
        t = self.start(golden, *wild, "--color", "off", env={"TERM": "dumb"})
        for _ in range(4):
            t.ask("x")
            begin = t.mark
            t.report()
            said += t.seen[begin:t.mark].decode("utf-8", "strict")
        self.assertIn("^[", said)
        self.assertEqual([c for c in said if (ord(c) < 32 and c not in "\r\n\t") or 127 <= ord(c) < 160], [])


if __name__ == "__main__":
    unittest.main()
