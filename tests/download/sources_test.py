"""Every kind of source, served as its documentation says."""
import hashlib
import json
import os
import unittest

from gguf_bytes import gguf
from support import DownloadTest


class Hub(DownloadTest):
    def test_file(self):
        data = gguf(seed=1)
        self.server.repositories["some-owner/Some.Repo_1"] = {"model-Q4_K_M.gguf": data, "README.md": b"x"}
        path = self.assert_pulled(self.minfer("pull", "hf:some-owner/Some.Repo_1:model-Q4_K_M.gguf"), data)
        self.assertTrue(path.endswith("/model-Q4_K_M.gguf"))

    def test_folder_and_odd_characters(self):
        data = gguf(seed=2)
        self.server.repositories["o/r"] = {"a folder/größe #1+%41.gguf": data, "other.gguf": gguf()}
        self.assert_pulled(self.minfer("pull", "hf:o/r:a folder/größe #1+%41.gguf"), data)

    def test_split(self):
        parts = [gguf(seed=i, split=(i, 3)) for i in range(3)]
        names = [f"Q8_0/big-Q8_0-0000{i + 1}-of-00003.gguf" for i in range(3)]
        self.server.repositories["o/r"] = dict(zip(names, parts), **{"big-Q4_0.gguf": gguf()})
        for wanted in "Q8_0", names[0], names[2], "big-Q8_0-00002-of-00003.gguf":
            self.assert_pulled(self.minfer("pull", "hf:o/r:" + wanted), *parts)
        self.assertEqual(len(self.server.file_requests()), 3)  # each part once
        self.assertIn(b"3 parts", self.minfer("info", "big-Q8_0").stdout)

    def test_split_with_a_part_of_another_model(self):
        parts = [gguf(seed=1, split=(0, 2)), gguf(seed=2, split=(1, 3))]
        self.server.repositories["o/r"] = {f"m-0000{i + 1}-of-00002.gguf": part for i, part in enumerate(parts)}
        self.assert_refused(self.minfer("pull", "hf:o/r"), "part 2 of 3")

    def test_list_in_pages(self):
        files = {f"model-{i:02}.gguf": gguf(seed=i) for i in range(10)}
        self.server.repositories["o/r"] = files
        self.server.bad.page_size = 3
        self.assert_pulled(self.minfer("pull", "hf:o/r:model-09"), files["model-09.gguf"])

    def test_list_without_sha256(self):
        data = gguf(seed=3)
        self.server.repositories["o/r"] = {"m.gguf": data}
        self.server.lfs = False
        result = self.minfer("pull", "hf:o/r")
        self.assert_pulled(result, data)
        self.assertIn(b"no SHA-256", result.stderr)

    def test_pulled_again(self):
        self.server.repositories["o/r"] = {"m.gguf": gguf(seed=4)}
        self.assert_pulled(self.minfer("pull", "hf:o/r"), gguf(seed=4))
        result = self.minfer("pull", "hf:o/r")
        self.assert_pulled(result, gguf(seed=4))
        self.assertIn(b"unchanged", result.stderr)
        self.assertEqual(len(self.server.file_requests()), 1)
        self.server.repositories["o/r"] = {"m.gguf": gguf(seed=5)}  # a new revision
        self.assert_pulled(self.minfer("pull", "hf:o/r"), gguf(seed=5))
        self.assertEqual(len(json.loads(self.minfer("list", "--json").stdout)["models"]), 1)

    def test_altered_copy_is_fetched_again(self):
        data = gguf(seed=6)
        self.server.repositories["o/r"] = {"m.gguf": data}
        path = self.assert_pulled(self.minfer("pull", "hf:o/r"), data)
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\x55")
        result = self.minfer("pull", "hf:o/r")
        self.assertIn(b"altered", result.stderr)
        self.assert_pulled(result, data)

    def test_offline(self):
        self.server.repositories["o/r"] = {"m-Q4_0.gguf": gguf(seed=7)}
        path = self.assert_pulled(self.minfer("pull", "hf:o/r"), gguf(seed=7))
        self.server.close()
        for name in "m-Q4_0", "m-Q4_0.gguf", "hf:o/r:m-Q4_0.gguf", "hf:o/r:q4_0", "hf:o/r":
            self.assertIn(b"test 7", self.minfer("info", name).stdout, name)
        self.assertIn(path.encode(), self.minfer("list", "--json").stdout)
        result = self.minfer("pull", "hf:o/r")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"the copy in the cache", result.stderr)

    def test_use_before_pull(self):
        self.assert_refused(self.minfer("run", "hf:o/r:Q4_0", "x"), "minfer pull hf:o/r:Q4_0")
        self.assertEqual(self.server.requests, [])


class Ollama(DownloadTest):
    def test_names(self):
        for space, name, tag, asked in (("library", "tiny", "latest", "tiny"), ("library", "tiny", "1b-q8_0", "tiny:1b-q8_0"),
                                        ("me", "own", "latest", "me/own"), ("me", "own", "v2", "me/own:v2")):
            data = gguf(seed=len(asked))
            self.server.add_ollama(space, name, tag, data)
            path = self.assert_pulled(self.minfer("pull", "ollama:" + asked), data)
            self.assertTrue(path.endswith(f"/{name}-{tag}.gguf"))
            self.assertEqual(self.minfer("info", "ollama:" + asked).returncode, 0)
            self.assertEqual(self.minfer("info", f"{name}-{tag}").returncode, 0)

    def test_other_layers(self):
        self.server.add_ollama("library", "a", "latest", gguf(), [
            {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:" + "1" * 64, "size": 3},
            {"mediaType": "application/vnd.ollama.image.projector", "digest": "sha256:" + "2" * 64, "size": 3}])
        result = self.minfer("pull", "ollama:a")
        self.assert_pulled(result, gguf())
        self.assertIn(b"images", result.stderr)

    def test_adapter(self):
        self.server.add_ollama("library", "a", "latest", gguf(), [
            {"mediaType": "application/vnd.ollama.image.adapter", "digest": "sha256:" + "1" * 64, "size": 3}])
        self.assert_refused(self.minfer("pull", "ollama:a"), "adapter")

    def test_no_such_model(self):
        self.assert_refused(self.minfer("pull", "ollama:nothing"), "404", "NAME and TAG")

    def test_broken_manifests(self):
        for text in (b"[]", b"{}", b'{"layers":[{"mediaType":"application/vnd.ollama.image.model"}]}', b'{"layers":3}',
                     b'{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:../../x","size":1}]}',
                     b'{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:' + b"a" * 64
                     + b'","size":-1}]}'):
            self.server.bad.raw_list = text
            self.assert_refused(self.minfer("pull", "ollama:a"), "manifest")
        self.server.bad.raw_list = b'{"layers":[]}'
        self.assert_refused(self.minfer("pull", "ollama:a"), "holds no GGUF model")


class PlainUrl(DownloadTest):
    def test_file(self):
        data = gguf(seed=1)
        self.server.web["/some/place/my model.gguf"] = data
        url = self.server.url + "/some/place/my%20model.gguf"
        path = self.assert_pulled(self.minfer("pull", url + "?download=true"), data)
        self.assertTrue(path.endswith("/my model.gguf"))
        result = self.minfer("pull", url)
        self.assertIn(b"unchanged", result.stderr)  # asked by ETag
        self.assert_pulled(result, data)
        self.server.web["/some/place/my model.gguf"] = gguf(seed=2)
        self.assert_pulled(self.minfer("pull", url), gguf(seed=2))
        self.assertEqual(self.minfer("info", url).returncode, 0)

    def test_split(self):
        parts = [gguf(seed=i, split=(i, 2)) for i in range(2)]
        for i in range(2):
            self.server.web[f"/x/m-0000{i + 1}-of-00002.gguf"] = parts[i]
        self.assert_pulled(self.minfer("pull", self.server.url + "/x/m-00002-of-00002.gguf"), *parts)

    def test_not_found(self):
        self.assert_refused(self.minfer("pull", self.server.url + "/m.gguf"), "404")

    def test_size_unknown(self):
        self.server.web["/m.gguf"] = gguf()
        self.server.bad.chunked = True
        self.assert_refused(self.minfer("pull", self.server.url + "/m.gguf"), "how large")


class Refused(DownloadTest):
    def test_forms(self):
        for text in ("model", "hf:", "hf:owner", "hf:owner/", "hf:/repo", "hf:o/r/x", "hf:o/r:", "hf:../r", "hf:o/..", "hf:o/r:../x",
                     "hf:o/r:/etc/passwd", "hf:o/r:a/../b.gguf", "hf:o/r:a\nb", "hf:o r/x", "ollama:", "ollama:a:", "ollama:a/b/c",
                     "ollama:../x", "ollama:a:../b", "ftp://x/m.gguf", "file:///etc/passwd", "https://", "https://x/page.html",
                     "https://x/", "https://user:secret@x/m.gguf", "http://x/..%2fm.gguf", "http://x/.hidden.gguf"):
            self.assert_refused(self.minfer("pull", text))
        self.assertEqual(self.server.requests, [])

    def test_settings(self):
        for name, value in (("MINFER_DOWNLOAD_RETRIES", "x"), ("MINFER_DOWNLOAD_RETRIES", "-1"), ("HF_TOKEN", "a\r\nX: y"),
                            ("HF_ENDPOINT", "ftp://x"), ("HF_ENDPOINT", "http://"), ("MINFER_DOWNLOAD_STALL_SECONDS", "0")):
            result = self.minfer_with(name, value)
            self.assertEqual(result.returncode, 1)
            self.assertIn(name.encode(), result.stderr)

    def minfer_with(self, name, value):
        environment = self.env()
        environment[name] = value
        import subprocess
        from support import MINFER, TIMEOUT_S
        return subprocess.run([MINFER, "pull", "hf:o/r"], capture_output=True, env=environment, timeout=TIMEOUT_S)

    def test_sha256_is_that_of_the_file(self):
        """The test's own premise: what the server calls the hash is the file's."""
        data = gguf(seed=9)
        self.server.repositories["o/r"] = {"m.gguf": data}
        self.minfer("pull", "hf:o/r")
        records = [os.path.join(folder, "model.json") for folder, _, names in os.walk(self.cache) if "model.json" in names]
        self.assertEqual(len(records), 1)
        with open(records[0]) as file:
            self.assertEqual(json.load(file)["files"][0]["sha256"], hashlib.sha256(data).hexdigest())


unittest.main()
