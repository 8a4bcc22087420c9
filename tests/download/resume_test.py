"""Going on after a break gives the right bytes, whatever happened in between."""
import json
import os
import signal
import threading
import time
import unittest

from gguf_bytes import gguf_of_size
from support import TIMEOUT_S, DownloadTest

CHECKPOINT = 16 << 20  # the program makes what has arrived safe each time so much has come


class Resume(DownloadTest):
    def setUp(self):
        super().setUp()
        self.data = gguf_of_size(2, seed=1)
        self.server.repositories["o/r"] = {"m.gguf": self.data}
        self.server.web["/m.gguf"] = self.data
        self.url = self.server.url + "/m.gguf"
        self.bad = self.server.bad

    def break_off(self, source, after=1_000_000, **more):
        """Leaves the first bytes in the cache."""
        self.bad.cut_after = after
        self.assert_refused(self.minfer("pull", source, MINFER_DOWNLOAD_RETRIES="0", **more))
        self.assertEqual(self.partial_bytes(), after)
        self.bad.cut_after = None
        self.server.requests.clear()

    def ranges(self):
        return [request.headers.get("range") for request in self.server.file_requests()]

    def test_goes_on(self):
        for source in "hf:o/r", self.url:
            self.break_off(source)
            result = self.minfer("pull", source)
            self.assert_pulled(result, self.data)
            self.assertIn(b"going on after 1.0 MB", result.stderr)
            self.assertEqual(self.ranges(), ["bytes=1000000-"])
            self.assertEqual(self.partial_bytes(), 0)
            self.minfer("rm", source)

    def test_goes_on_by_itself(self):
        for source in "hf:o/r", self.url:
            self.server.requests.clear()
            self.bad.cut_after, self.bad.cut_times = 500_000, 2
            self.assert_pulled(self.minfer("pull", source), self.data)
            self.assertEqual(self.ranges(), [None, "bytes=500000-", "bytes=1000000-"])
            self.minfer("rm", source)

    def test_changed_on_the_hub(self):
        self.break_off("hf:o/r")
        other = gguf_of_size(2, seed=2)
        self.server.repositories["o/r"] = {"m.gguf": other}
        result = self.minfer("pull", "hf:o/r")
        self.assert_pulled(result, other)
        self.assertIn(b"starting over", result.stderr)
        self.assertEqual(self.ranges(), [None])

    def test_changed_on_the_web(self):
        self.break_off(self.url)
        other = gguf_of_size(2, seed=2)
        self.server.web["/m.gguf"] = other
        result = self.minfer("pull", self.url)
        self.assert_pulled(result, other)  # If-Range: the server sends all of the new one
        self.assertIn(b"starting over", result.stderr)

    def test_changed_and_the_server_ignores_if_range(self):
        """206 with another ETag: the parts must not be joined."""
        self.break_off(self.url)
        self.server.web["/m.gguf"] = gguf_of_size(2, seed=2)
        original = self.server._send_file

        def careless(http, data):
            del http.headers["If-Range"]
            original(http, data)
        self.server._send_file = careless
        result = self.minfer("pull", self.url)
        self.assert_pulled(result, gguf_of_size(2, seed=2))
        self.assertIn(b"has changed", result.stderr)

    def test_changed_size(self):
        self.break_off(self.url)
        self.server.web["/m.gguf"] = gguf_of_size(3, seed=2)
        self.assert_pulled(self.minfer("pull", self.url), gguf_of_size(3, seed=2))

    def test_without_etag_there_is_no_going_on(self):
        for field in "no_etag", "weak_etag":
            setattr(self.bad, field, True)
            self.bad.cut_after, self.bad.cut_times = 1_000_000, 1
            self.server.requests.clear()
            result = self.minfer("pull", self.url)
            self.assert_pulled(result, self.data)
            self.assertEqual(self.ranges(), [None, None])
            setattr(self.bad, field, False)
            self.minfer("rm", self.url)

    def test_server_that_ignores_ranges(self):
        for source in "hf:o/r", self.url:
            self.break_off(source)
            self.bad.ignore_range = True
            result = self.minfer("pull", source)
            self.assert_pulled(result, self.data)
            self.assertIn(b"from its beginning", result.stderr)
            self.bad.ignore_range = False
            self.minfer("rm", source)

    def test_416(self):
        self.break_off("hf:o/r")
        self.bad.always_416 = True
        result = self.minfer("pull", "hf:o/r")
        self.assert_pulled(result, self.data)
        self.assertIn(b"no such range", result.stderr)

    def test_range_that_is_another(self):
        self.break_off("hf:o/r")
        self.bad.shift_range = 7
        self.assert_refused(self.minfer("pull", "hf:o/r"), "asked for what follows byte 1000000")
        self.bad.shift_range = 0
        self.assert_pulled(self.minfer("pull", "hf:o/r"), self.data)

    def altered_part(self):
        for folder, _, names in os.walk(os.path.join(self.cache, "partial")):
            for name in names:
                if name.endswith(".gguf"):
                    return os.path.join(folder, name)
        self.fail("no partial file")

    def test_damaged_part(self):
        """The whole is hashed, not only what is fetched now; then all of it is fetched again, once."""
        self.break_off("hf:o/r")
        with open(self.altered_part(), "r+b") as file:
            file.seek(500_000)
            file.write(b"damage")
        result = self.minfer("pull", "hf:o/r")
        self.assert_pulled(result, self.data)
        self.assertIn(b"starting over", result.stderr)
        self.assertEqual(self.ranges(), ["bytes=1000000-", None])

    def test_part_shorter_or_longer_than_its_record(self):
        self.break_off("hf:o/r")
        os.truncate(self.altered_part(), 400_000)
        self.assert_pulled(self.minfer("pull", "hf:o/r"), self.data)
        self.assertEqual(self.ranges(), [None])
        self.minfer("rm", "hf:o/r")
        self.break_off(self.url)
        with open(self.altered_part(), "ab") as file:
            file.write(b"x" * 100_000)  # arrived, but the record does not vouch for it
        self.assert_pulled(self.minfer("pull", self.url), self.data)
        self.assertEqual(self.ranges(), ["bytes=1000000-"])

    def test_damaged_records(self):
        for text in ("", "{", "[]", '{"bytes":5}', '{"bytes":-1,"size":3,"sha256":"","etag":""}', "[" * 10_000,
                     '{"bytes":99999999999,"size":null,"sha256":"","etag":"\\"x\\""}'):
            self.break_off("hf:o/r")
            with open(self.altered_part() + ".json", "w") as file:
                file.write(text)
            self.assert_pulled(self.minfer("pull", "hf:o/r"), self.data)
            self.assertEqual(self.ranges(), [None])
            self.minfer("rm", "hf:o/r")

    def test_split_model_keeps_its_finished_parts(self):
        from gguf_bytes import gguf
        parts = [gguf(floats=100_000, seed=i, split=(i, 3)) for i in range(3)]
        self.server.repositories["o/r"] = {f"m-0000{i + 1}-of-00003.gguf": parts[i] for i in range(3)}
        self.server.repositories["o/r"]["m-00002-of-00003.gguf"] = parts[1]
        self.bad.statuses = []
        original = self.server._send_file

        def second_part_breaks(http, data):
            self.bad.cut_after = 100_000 if data == parts[1] else None
            original(http, data)
        self.server._send_file = second_part_breaks
        self.assert_refused(self.minfer("pull", "hf:o/r", MINFER_DOWNLOAD_RETRIES="0"))
        self.server._send_file = original
        self.bad.cut_after = None
        self.server.requests.clear()
        self.assert_pulled(self.minfer("pull", "hf:o/r"), *parts)
        self.assertEqual(self.ranges(), ["bytes=100000-", None])
        self.assertIn("00002-of", self.server.file_requests()[0].path)


class Killed(DownloadTest):
    """The process ends in the middle, in every way."""

    def setUp(self):
        super().setUp()
        self.data = gguf_of_size(20, seed=3)
        self.server.repositories["o/r"] = {"m.gguf": self.data}
        self.server.web["/m.gguf"] = self.data
        self.server.bad.gate = threading.Event()
        self.server.bad.gate_after = 18 << 20

    def stop_in_the_middle(self, source, number):
        self.server.at_gate.clear()
        self.server.bad.gate.clear()
        process = self.start("pull", source, MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertTrue(self.server.at_gate.wait(TIMEOUT_S))
        while self.partial_bytes() < CHECKPOINT:
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        if number == signal.SIGKILL:
            self.wait_for_checkpoint()
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(out, b"")
        self.server.bad.gate.set()
        self.server.requests.clear()
        self.assert_no_models()
        return process.returncode, err

    def wait_for_checkpoint(self):
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            for folder, _, names in os.walk(os.path.join(self.cache, "partial")):
                if "m.gguf.json" in names:
                    with open(os.path.join(folder, "m.gguf.json")) as file:
                        if json.load(file)["bytes"] >= CHECKPOINT:
                            return
            time.sleep(0.02)
        self.fail("no checkpoint was made")

    def assert_goes_on(self, source, at_least):
        result = self.minfer("pull", source)
        self.assert_pulled(result, self.data)
        asked = self.server.file_requests()[0].headers["range"]
        self.assertGreaterEqual(int(asked.removeprefix("bytes=").removesuffix("-")), at_least)

    def test_kill_9(self):
        for source in "hf:o/r", self.server.url + "/m.gguf":
            code, _ = self.stop_in_the_middle(source, signal.SIGKILL)
            self.assertEqual(code, -signal.SIGKILL)
            self.assert_goes_on(source, CHECKPOINT)
            self.minfer("rm", source)

    def test_ctrl_c(self):
        code, err = self.stop_in_the_middle("hf:o/r", signal.SIGINT)
        self.assertEqual(code, 130)
        self.assertIn(b"minfer pull hf:o/r", err)
        listed = self.minfer("list")
        self.assertIn(b"unfinished", listed.stderr)
        self.assertIn(b"of 21 MB", listed.stderr)
        self.assert_goes_on("hf:o/r", CHECKPOINT)
        self.assertNotIn(b"unfinished", self.minfer("list").stderr)

    def test_rm_drops_what_was_broken_off(self):
        self.stop_in_the_middle("hf:o/r", signal.SIGINT)
        self.assertEqual(self.minfer("rm", "hf:o/r:m.gguf").returncode, 0)
        self.assertEqual(self.partial_bytes(), 0)
        self.assertEqual(self.minfer("rm", "hf:o/r:m.gguf").returncode, 1)


unittest.main()
