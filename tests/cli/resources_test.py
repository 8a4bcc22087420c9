"""What the program takes of the machine: memory at its peak, libraries at its start."""
import json
import os
import subprocess
import sys
import unittest

from support import MINFER, minfer

MIB = 1 << 20
CONTEXT, PIECE, THREADS = 2048, 512, 2  # a prompt so long is computed in pieces of so many tokens

# What may be resident beside weights and KV cache. In all it must stay below 64 MiB, also for models with a width of
# 1,024 and 152,000 tokens; for the default model it is 37 MiB, of which about 30 are taken.
PROGRAM = 10 * MIB  # code and libraries, graphs, programs
MOVED_PAGE = 2 * MIB  # weights change from the file's pages to large ones, and one of these is there twice
SCRATCH = 2 * MIB  # of a thread: unpacked weights, packed tokens, tiles of attention
TOKEN_TABLES = 100  # bytes a token: views, look-up, merge rules, decoded bytes
WIDE_VALUES, NARROW_VALUES = 2, 8  # rows of a token at one time: feed-forward; residual, norm, q, k, v, 8-bit copies


def peak_memory(*arguments):
    """Runs to the end; its output and the most memory that was resident, in bytes."""
    process = subprocess.Popen([MINFER, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return output, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Resources(unittest.TestCase):
    def test_peak_memory_is_weights_and_cache_and_little_else(self):
        output, peak = peak_memory("bench", "default", "-p", 0, "-n", 8, "-d", CONTEXT, "-r", 1, "-o", "json",
                                   "--kv", "f16", "--threads", THREADS)
        n_ctx = json.loads(output)["n_ctx"]
        self.assertGreaterEqual(n_ctx, CONTEXT)
        info = json.loads(minfer("info", "--json", minfer("pull", "default").stdout.strip().decode()).stdout)
        keys = info["metadata"]
        dim, heads = keys["llama.embedding_length"], keys["llama.attention.head_count"]
        kv_dim = dim // heads * keys["llama.attention.head_count_kv"]
        cache = 2 * keys["llama.block_count"] * n_ctx * kv_dim * 2
        weights = sum(tensor["bytes"] for tensor in info["tensors"])

        values = WIDE_VALUES * keys["llama.feed_forward_length"] + NARROW_VALUES * dim
        names = info["bytes"] - weights  # of the file: its texts stay in use
        tables = TOKEN_TABLES * keys["llama.vocab_size"]
        allowance = PROGRAM + MOVED_PAGE + THREADS * SCRATCH + tables + names + PIECE * 4 * values
        self.assertLess(allowance, 64 * MIB)
        self.assertLess((peak - weights - cache) / MIB, allowance / MIB,
                        f"peak {peak / MIB:.1f} MiB, weights {weights / MIB:.1f}, cache {cache / MIB:.1f}")
        self.assertGreater(peak, weights + cache)  # or else what was measured is not this run

    @unittest.skipUnless(sys.platform.startswith("linux"), "the loader's messages are those of Linux")
    def test_libcurl_is_opened_for_downloads_alone(self):
        opened = lambda *arguments: minfer(*arguments, env={"LD_DEBUG": "files"}).stderr
        self.assertIn(b"libstdc++", opened("--version"))
        self.assertNotIn(b"libcurl", opened("--version"))
        self.assertIn(b"libcurl", opened("pull", "http://user@127.0.0.1/model.gguf"))  # refused after reading it


unittest.main()
