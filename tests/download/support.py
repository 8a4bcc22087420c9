"""What the download tests share: a server, an empty cache, and the program between them."""
import os
import subprocess
import tempfile
import unittest

from server import Server

MINFER = os.environ["MINFER"]
# Generous: a test on a busy machine must not fail for its slowness.
TIMEOUT_S = int(os.environ.get("MINFER_TEST_TIMEOUT_S", "240"))
TOKEN = "hf_secretsecretsecret"


class DownloadTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.cache = os.path.join(self.scratch.name, "cache")
        self.server = self.start_server()

    def start_server(self, *tls):
        server = Server(*tls)
        self.addCleanup(server.close)
        return server

    def env(self, **more):
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        environment.pop("HF_TOKEN", None)
        environment.update(MINFER_CACHE=self.cache, HF_ENDPOINT=self.server.url, MINFER_OLLAMA_URL=self.server.url,
                           MINFER_DOWNLOAD_BACKOFF_MS="1", MINFER_DOWNLOAD_RETRIES="2",
                           MINFER_DOWNLOAD_STALL_SECONDS="1")
        return dict(environment, **more)

    def minfer(self, *arguments, **more):
        return subprocess.run([MINFER, *arguments], capture_output=True, env=self.env(**more), timeout=TIMEOUT_S,
                              stdin=subprocess.DEVNULL)

    def start(self, *arguments, **more):
        return subprocess.Popen([MINFER, *arguments], env=self.env(**more), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def assert_pulled(self, result, *contents):
        """The program succeeded and printed a path; the parts there hold these bytes."""
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        path = result.stdout.decode().rstrip("\n")
        found = []
        for name in sorted(os.listdir(os.path.dirname(path))):
            with open(os.path.join(os.path.dirname(path), name), "rb") as file:
                found.append(file.read())
        self.assertEqual([len(data) for data in found], [len(data) for data in contents])
        self.assertTrue(found == list(contents), "the bytes differ")  # assertEqual would print megabytes
        return path

    def assert_refused(self, result, *words, code=1):
        """One message with a hint, nothing on stdout, and no model in the cache."""
        text = result.stderr.decode()
        self.assertEqual(result.returncode, code, text)
        self.assertEqual(result.stdout, b"")
        self.assertIn("minfer: error: ", text)
        self.assertIn("\n  hint: ", text)
        for word in words:
            self.assertIn(word, text)
        self.assert_no_models()

    def assert_no_models(self):
        self.assertEqual(self.minfer("list").stdout, b"")

    def partial_bytes(self):
        """Bytes of .gguf files that are not models yet."""
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(os.path.join(self.cache, "partial"))
                   for name in names if name.endswith(".gguf"))
