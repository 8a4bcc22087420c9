"""What a server may do wrong. Nothing of it becomes a model, and each ends in one message that says what to do."""
import json
import time
import unittest

from gguf_bytes import gguf, gguf_of_size
from support import DownloadTest


class Faults(DownloadTest):
    def setUp(self):
        super().setUp()
        self.data = gguf_of_size(1, seed=1)
        self.server.repositories["o/r"] = {"m.gguf": self.data}
        self.bad = self.server.bad

    def pull(self, **more):
        return self.minfer("pull", "hf:o/r", **more)

    def count(self):
        return len(self.server.file_requests())

    def test_page_instead_of_the_file(self):
        self.server.lfs = False
        self.bad.html = True
        self.bad.chunked = True
        self.assert_refused(self.pull(), "not a GGUF file (starts with `<!DOC", "web page")
        self.assertEqual(self.partial_bytes(), 0)

    def test_page_of_another_size(self):
        self.bad.html = True
        self.assert_refused(self.pull(), "sends 54 bytes, expected")

    def test_page_at_a_plain_url(self):
        self.server.web["/m.gguf"] = self.data
        self.bad.html = True
        self.assert_refused(self.minfer("pull", self.server.url + "/m.gguf"), "not a GGUF file")
        self.assertEqual(self.partial_bytes(), 0)

    def test_wrong_content(self):
        self.bad.corrupt = True
        self.assert_refused(self.pull(), "has SHA-256", "expected")
        self.assertEqual(self.partial_bytes(), 0)
        self.bad.corrupt = False
        self.assert_pulled(self.pull(), self.data)

    def test_wrong_content_of_a_layer(self):
        self.server.add_ollama("library", "a", "latest", self.data)
        self.bad.corrupt = True
        self.assert_refused(self.minfer("pull", "ollama:a"), "has SHA-256")

    def test_damaged_where_it_is_published(self):
        for data in (self.data[:-1], self.data[:40], b"GGUF", b"", b"GGUF" + bytes(100), b"\x7fELF" + bytes(100)):
            self.server.repositories["o/r"] = {"m.gguf": data}
            self.assert_refused(self.pull())
            self.assertEqual(self.partial_bytes(), 0)

    def test_type_that_cannot_be_run_is_kept(self):
        data = gguf(seed=2, tensor_type=18)  # IQ3_XXS, and the size fits no type of that many values
        self.server.repositories["o/r"] = {"m.gguf": data}
        result = self.pull()
        self.assertIn(b"cannot run", result.stderr)
        self.assert_pulled(result, data)

    def test_less_than_announced(self):
        self.bad.length_offset = 100
        self.server.lfs = False
        self.assert_refused(self.pull(), "bytes, expected")
        self.bad.length_offset = -100
        self.assert_refused(self.pull(), "bytes, expected")

    def test_less_than_announced_at_a_plain_url(self):
        self.server.web["/m.gguf"] = self.data
        self.bad.length_offset = 100
        self.assert_refused(self.minfer("pull", self.server.url + "/m.gguf"))
        self.assertEqual(self.partial_bytes() > len(self.data), False)

    def test_more_than_announced(self):
        self.server.lfs = False
        listed = self.server.repositories["o/r"]["m.gguf"]
        self.bad.chunked = True
        self.bad.raw_list = json.dumps([{"type": "file", "path": "m.gguf", "size": len(listed) - 5, "oid": "1" * 40}]).encode()
        self.assert_refused(self.pull(), "more than")
        self.assertEqual(self.partial_bytes(), 0)

    def test_status_that_passes(self):
        self.bad.list_statuses = [(503, {})]
        self.bad.statuses = [(500, {}), (429, {"Retry-After": "0"})]
        result = self.pull()
        self.assert_pulled(result, self.data)
        self.assertEqual(result.stderr.decode().count("trying again"), 3)

    def test_status_that_stays(self):
        for status in 500, 502, 503, 504, 408:
            self.server.requests.clear()
            self.bad.statuses = [(status, {})] * 10
            self.assert_refused(self.pull(), f"status {status}", "later")
            self.assertEqual(self.count(), 3)  # two retries

    def test_rate_limit(self):
        self.bad.list_statuses = [(429, {"Retry-After": "86400"})]
        self.assert_refused(self.pull(), "429", "wait 86400 seconds", "limits")
        self.bad.list_statuses = [(429, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"})]
        self.assert_refused(self.pull(), "429", "limits")
        self.bad.list_statuses = [(429, {})] * 10
        self.assert_refused(self.pull(), "429", "limits")

    def test_no_such_repository(self):
        self.assert_refused(self.minfer("pull", "hf:o/nothing"), "401", "Repository not found", "spelling", "HF_TOKEN")
        self.assert_refused(self.minfer("pull", "hf:o/nothing", HF_TOKEN="hf_x"), "401", "your HF_TOKEN")
        self.bad.list_statuses = [(404, {"X-Error-Code": "RepoNotFound"})]
        self.assert_refused(self.pull(), "404", "no such repository")

    def test_gated(self):
        gated = {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access to model o/r is restricted.\x1b[2J"}
        self.bad.statuses = [(401, gated)]
        self.assert_refused(self.pull(), "gated", "Access to model o/r is restricted.", "conditions at", "/settings/tokens")
        self.bad.statuses = [(403, gated)]
        result = self.pull(HF_TOKEN="hf_x")
        self.assert_refused(result, "gated", "accept the model's conditions", "your HF_TOKEN")
        self.assertNotIn(b"\x1b", result.stderr)

    def test_file_gone_since_the_list(self):
        self.bad.statuses = [(404, {"X-Error-Code": "EntryNotFound"})]
        self.assert_refused(self.pull(), "404", "removed")

    def test_replaced_since_the_list(self):
        other = self.start_server()
        other.web["/cdn"] = self.data
        self.bad.redirect_to = lambda path: other.url + "/cdn"
        self.bad.linked_etag = "f" * 64
        self.assert_refused(self.pull(), "replaced", "f" * 64)
        self.assertEqual(self.partial_bytes(), 0)

    def test_stall(self):
        self.bad.stall_after = 300_000
        self.assert_refused(self.pull(MINFER_DOWNLOAD_RETRIES="1"), "hint")
        self.assertEqual(self.count(), 2)

    def test_stall_that_passes(self):
        self.bad.stall_after = 300_000
        self.bad.stall_times = 1
        self.assert_pulled(self.pull(), self.data)
        self.assertEqual(self.server.file_requests()[1].headers["range"], "bytes=300000-")

    def test_cut_off_again_and_again(self):
        self.bad.cut_after = 10_000
        result = self.pull()
        self.assert_refused(result, "give the same command again")
        self.assertEqual(self.count(), 3)
        self.assertEqual(self.partial_bytes(), 30_000)

    def test_redirects(self):
        self.bad.redirect_to = lambda path: path if self.count() < 6 else None
        self.assert_pulled(self.pull(), self.data)

    def test_redirect_loop(self):
        self.bad.redirect_to = lambda path: path + "x"
        self.assert_refused(self.pull(), "more than 10 redirects")
        self.assertEqual(self.count(), 11)

    def test_redirect_to_what_is_no_http(self):
        for target in "file:///etc/passwd", "ftp://127.0.0.1/m.gguf", "gopher://127.0.0.1/", "http://user:pw@127.0.0.1/m.gguf":
            self.bad.redirect_to = lambda path: target
            self.assert_refused(self.pull(), "redirects to")

    def test_redirect_without_target(self):
        self.bad.statuses = [(302, {})]
        self.assert_refused(self.pull(), "redirect without a target")

    def test_lists_that_are_none(self):
        for text in (b"<html></html>", b"", b"{}", b"3", b"null", b"[1]", b'[{"type":"file"}]', b'[{"type":"file","path":3,"size":1}]',
                     b'[{"type":"file","path":"m.gguf","size":-1}]', b'[{"type":"file","path":"m.gguf","size":1e300}]',
                     b'[{"type":"file","path":"m.gguf","size":1,"lfs":{"oid":"xyz","size":1}}]', b"\xff\xfe[]", b"[" * 100_000,
                     b"[" * 1_000_000 + b"]" * 1_000_000, b'{"a":' * 50_000):
            self.bad.raw_list = text
            self.assert_refused(self.pull(), "listing hf:o/r")

    def test_huge_list(self):
        self.bad.raw_list = b"[" + b'"x",' * (3 << 20) + b'"x"]'
        self.assert_refused(self.pull(), "exceeds")

    def test_list_without_end(self):
        self.server.repositories["o/r"] = {f"{i}.gguf": b"GGUF" for i in range(60)}
        self.bad.page_size = 1
        self.assert_refused(self.pull(), "pages")

    def test_disk_too_small(self):
        entry = {"type": "file", "path": "m.gguf", "oid": "1" * 40, "size": 10 ** 17, "lfs": {"oid": "a" * 64, "size": 10 ** 17}}
        self.bad.raw_list = json.dumps([entry]).encode()
        self.assert_refused(self.pull(), "needs 100 PB", "MINFER_CACHE")
        self.assertEqual(self.count(), 0)

    def test_no_server(self):
        self.server.close()
        begin = time.monotonic()
        self.assert_refused(self.pull(MINFER_DOWNLOAD_BACKOFF_MS="60000"), "network")
        self.assertLess(time.monotonic() - begin, 30)  # no retries where nobody is reached

    def test_header_bomb(self):
        self.bad.statuses = [(200, {f"X-{i}": "y" * 60_000 for i in range(20)})]
        self.assert_refused(self.pull(), "headers exceed")

    def test_cannot_write(self):
        with open(self.cache, "w"):
            pass  # a file where the folder should be
        result = self.pull()
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"MINFER_CACHE", result.stderr)


unittest.main()
