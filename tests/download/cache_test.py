"""The cache: list, rm, names, and two processes at once."""
import hashlib
import json
import os
import signal
import threading
import unittest

from gguf_bytes import gguf, gguf_of_size
from support import TIMEOUT_S, DownloadTest


class Cache(DownloadTest):
    def pull(self, repository, name="m.gguf", seed=1):
        data = gguf(seed=seed)
        self.server.repositories[repository] = {name: data}
        return self.assert_pulled(self.minfer("pull", f"hf:{repository}"), data)

    def names(self):
        return sorted(model["name"] for model in json.loads(self.minfer("list", "--json").stdout)["models"])

    def files(self):
        return [name for _, _, names in os.walk(self.cache) for name in names if not name.endswith(".lock")]

    def test_list(self):
        self.pull("o/r", "Model-Q4_0.gguf")
        self.server.add_ollama("library", "tiny", "1b", gguf(floats=1_000_000))
        self.minfer("pull", "ollama:tiny:1b")
        lines = self.minfer("list").stdout.decode().splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["NAME", "Model-Q4_0", "tiny-1b"])
        self.assertIn("hf:o/r:Model-Q4_0.gguf", lines[1])
        self.assertIn("4.0 MB", lines[2])
        self.assertRegex(lines[2], r" 20\d\d-\d\d-\d\d  ollama:tiny:1b$")

    def test_rm(self):
        self.pull("o/r", "a.gguf")
        self.pull("o/s", "b.gguf")
        result = self.minfer("rm", "a")
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        self.assertIn(b"removed hf:o/r:a.gguf", result.stderr)
        self.assertEqual(self.names(), ["b"])
        self.assertEqual(self.minfer("rm", "hf:o/s:b.gguf").returncode, 0)
        self.assertEqual(self.files(), [])
        self.assertEqual(self.minfer("rm", "b").returncode, 1)

    def test_rm_all_parts(self):
        parts = [gguf(seed=i, split=(i, 2)) for i in range(2)]
        self.server.repositories["o/r"] = {f"m-0000{i + 1}-of-00002.gguf": parts[i] for i in range(2)}
        self.assert_pulled(self.minfer("pull", "hf:o/r"), *parts)
        self.assertEqual(self.names(), ["m"])
        self.assertEqual(self.minfer("rm", "m").returncode, 0)
        self.assertEqual(self.files(), [])

    def test_same_name_from_two_sources(self):
        self.pull("one/r", seed=1)
        self.pull("two/r", seed=2)
        for command in ["rm", "m"], ["info", "m"]:
            result = self.minfer(*command)
            self.assertEqual(result.returncode, 1)
            self.assertIn(b"hf:one/r:m.gguf, hf:two/r:m.gguf", result.stderr)
        self.assertIn(b"test 2", self.minfer("info", "hf:two/r").stdout)
        self.assertEqual(self.minfer("rm", "hf:one/r:m.gguf").returncode, 0)
        self.assertIn(b"test 2", self.minfer("info", "m").stdout)

    def test_several_of_one_repository(self):
        self.server.repositories["o/r"] = {"a-Q8_0.gguf": gguf(seed=1), "b-Q8_0.gguf": gguf(seed=2), "b-Q4_0.gguf": gguf(seed=3)}
        for name in self.server.repositories["o/r"]:
            self.minfer("pull", "hf:o/r:" + name)
        self.assertIn(b"test 3", self.minfer("info", "hf:o/r").stdout)  # the preferred one
        self.assertIn(b"test 3", self.minfer("info", "hf:o/r:Q4_0").stdout)
        result = self.minfer("info", "hf:o/r:Q8_0")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"a-Q8_0.gguf, b-Q8_0.gguf", result.stderr)
        self.assertIn(b"minfer pull hf:o/r:Q6_K", self.minfer("info", "hf:o/r:Q6_K").stderr)

    def test_names_that_differ_only_in_what_a_file_system_may_drop(self):
        seeds = {"o/r": 1, "O/r": 2, "o/R": 3, "o_r/x": 4, "o/r_x": 5}
        paths = {self.pull(repository, seed=seed) for repository, seed in seeds.items()}
        self.assertEqual(len({path.lower() for path in paths}), len(seeds))
        self.assertEqual(self.names(), ["m"] * len(seeds))
        self.assertEqual({path for path in paths if os.path.exists(path)}, paths)  # none took another's place

    def test_rm_never_leaves_the_cache(self):
        outside = os.path.join(self.scratch.name, "precious.gguf")
        with open(outside, "wb") as file:
            file.write(gguf())
        self.pull("o/r")
        for name in (outside, "../precious", "../precious.gguf", "../../precious", "/", ".", "..", "", "*", "models", "hf:o/..",
                     "hf:../../precious", "m/../m", "ollama:../x", "a\0b".replace("\0", "")):
            result = self.minfer("rm", name)
            self.assertEqual(result.returncode, 1, name)
        self.assertTrue(os.path.exists(outside))
        self.assertEqual(self.names(), ["m"])

    def test_rm_does_not_follow_links(self):
        folder = os.path.join(self.scratch.name, "elsewhere")
        os.mkdir(folder)
        with open(os.path.join(folder, "kept.gguf"), "wb") as file:
            file.write(gguf())
        path = self.pull("o/r")
        os.symlink(folder, os.path.join(os.path.dirname(path), "link"))
        self.assertEqual(self.minfer("rm", "m").returncode, 0)
        self.assertTrue(os.path.exists(os.path.join(folder, "kept.gguf")))

    def test_files_of_the_users_own(self):
        folder = os.path.join(self.cache, "models")
        os.makedirs(folder)
        for name, split in (("own.gguf", None), ("big-00001-of-00002.gguf", (0, 2)), ("big-00002-of-00002.gguf", (1, 2))):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(gguf(split=split))
        self.assertEqual(self.names(), ["big", "own"])
        self.assertEqual(self.minfer("info", "big").returncode, 0)
        self.assertEqual(self.minfer("rm", "big").returncode, 0)
        self.assertEqual(self.files(), ["own.gguf"])

    def test_records_that_lie(self):
        path = self.pull("o/r")
        record = os.path.join(os.path.dirname(os.path.dirname(path)), "model.json")
        with open(record) as file:
            good = json.load(file)
        outside = os.path.join(self.scratch.name, "outside.gguf")
        with open(outside, "wb") as file:
            file.write(gguf(seed=1))
        climbing = dict(good["files"][0], name="../../../../outside.gguf")
        version = hashlib.sha256(f"{climbing['name']}\n{climbing['size']}\n{climbing['sha256']}\n".encode()).hexdigest()[:12]
        os.mkdir(os.path.join(os.path.dirname(record), version))  # so that the name leads somewhere
        for change in ({"files": []}, {"files": [climbing]},
                       {"files": [dict(good["files"][0], size=5)]}, {"files": 3}, {"source": 3}):
            with open(record, "w") as file:
                json.dump(dict(good, **change), file)
            self.assertEqual(self.names(), [])
            self.assertEqual(self.minfer("info", "m").returncode, 1)
        for text in "", "{", "[" * 200_000:
            with open(record, "w") as file:
                file.write(text)
            self.assertEqual(self.names(), [])
        self.assertEqual(self.minfer("pull", "hf:o/r").returncode, 0)  # mends it
        self.assertEqual(self.names(), ["m"])
        self.assertTrue(os.path.exists(outside))

    def test_a_new_version_replaces_the_old_one_whole(self):
        old = self.pull("o/r", seed=1)
        with open(old, "rb") as reader:  # a process that has it open goes on
            new = self.pull("o/r", seed=2)
            self.assertEqual(reader.read(), gguf(seed=1))
        self.assertFalse(os.path.exists(old))
        self.assertIn(b"test 2", self.minfer("info", new).stdout)

    def test_failed_update_keeps_the_old_version(self):
        path = self.pull("o/r", seed=1)
        self.server.repositories["o/r"] = {"m.gguf": gguf(seed=2)}
        self.server.bad.corrupt = True
        self.assertEqual(self.minfer("pull", "hf:o/r").returncode, 1)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), gguf(seed=1))
        self.assertIn(b"test 1", self.minfer("info", "m").stdout)


class TwoProcesses(DownloadTest):
    def setUp(self):
        super().setUp()
        self.data = gguf_of_size(1, seed=1)
        self.server.repositories["o/r"] = {"m.gguf": self.data}
        self.server.repositories["o/s"] = {"n.gguf": gguf(seed=2)}
        self.server.bad.gate = threading.Event()

    def test_the_second_waits_and_finds_it_done(self):
        first = self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertTrue(self.server.at_gate.wait(TIMEOUT_S))
        second = self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertIn(b"waiting", second.stderr.readline())
        self.server.bad.gate.set()
        results = [process.communicate(timeout=TIMEOUT_S) for process in (first, second)]
        self.assertEqual([first.returncode, second.returncode], [0, 0])
        self.assertEqual(results[0][0], results[1][0])
        self.assertIn(b"unchanged", results[1][1])
        with open(results[0][0].decode().strip(), "rb") as file:
            self.assertEqual(file.read(), self.data)
        self.assertEqual(len(self.server.file_requests()), 1)

    def test_the_second_goes_on_where_a_killed_first_ended(self):
        first = self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertTrue(self.server.at_gate.wait(TIMEOUT_S))
        second = self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertIn(b"waiting", second.stderr.readline())
        first.kill()
        first.communicate(timeout=TIMEOUT_S)
        self.server.bad.gate.set()
        out, err = second.communicate(timeout=TIMEOUT_S)
        self.assertEqual(second.returncode, 0, err)
        with open(out.decode().strip(), "rb") as file:
            self.assertEqual(file.read(), self.data)

    def test_ctrl_c_while_waiting(self):
        first = self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertTrue(self.server.at_gate.wait(TIMEOUT_S))
        second = self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertIn(b"waiting", second.stderr.readline())
        second.send_signal(signal.SIGINT)
        second.communicate(timeout=TIMEOUT_S)
        self.assertEqual(second.returncode, 130)
        self.server.bad.gate.set()
        first.communicate(timeout=TIMEOUT_S)
        self.assertEqual(first.returncode, 0)

    def test_other_models_do_not_wait(self):
        first = self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60")
        self.assertTrue(self.server.at_gate.wait(TIMEOUT_S))
        gate, self.server.bad.gate = self.server.bad.gate, None
        self.assertEqual(self.minfer("pull", "hf:o/s").returncode, 0)
        gate.set()
        first.communicate(timeout=TIMEOUT_S)
        self.assertEqual(first.returncode, 0)

    def test_many_at_once(self):
        self.server.bad.gate = None
        processes = [self.start("pull", "hf:o/r", MINFER_DOWNLOAD_STALL_SECONDS="60") for _ in range(6)]
        outputs = {process.communicate(timeout=TIMEOUT_S)[0] for process in processes}
        self.assertEqual([process.returncode for process in processes], [0] * 6)
        self.assertEqual(len(outputs), 1)
        self.assertEqual(len(self.server.file_requests()), 1)


unittest.main()
