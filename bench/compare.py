#!/usr/bin/env python3
"""Measures minfer, llama-cpp-python and this machine's limits side by side: same files, same threads, taking turns.

Usage: bench/compare.py --venv FOLDER [--build build] [--threads N] [--rounds N] [FILE ...]

FOLDER holds a virtual environment with llama-cpp-python at the version below; it is made, and the package compiled
for this machine, if it is not there (minutes). FILEs are GGUF models; without any it is the default model. Both sides
keep f16 keys and values, the peer with flash attention on. Each round measures the limits, one side and the other, so
that a change in the machine's speed meets all; the table has medians.

  pp512, pp2048   prompts of so many tokens; the peer's in pieces of 512, minfer's as it chooses itself
  tg64, @2048     64 tokens one at a time, from an empty cache or after 2,048 tokens
  first token     minfer: the whole process that answers with one token; the peer: from opening the file to the logits
                  of one token, without starting Python. The page cache is warm.
  peak memory     of the process of tg64@2048 (the peer's includes Python)

Shares are of what was measured in the same round: decoding of the rate at which memory is read through 2 MiB pages
(weights, and keys and values of the mean context), prompts of the rate of 8-bit products (all weights but the
embedding and the head, two operations each).
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

PEER_VERSION = "0.3.16"
PIECE, LONG, GENERATED = 512, 2048, 64
TESTS = ["pp512", "pp2048", "tg64", "tg64@2048"]


def measure_peer(model, threads):
    """Runs inside the peer's environment: every test once, after a short pass that is not timed."""
    import resource

    from llama_cpp import Llama, __version__

    if __version__ != PEER_VERSION:
        sys.exit(f"compare: llama-cpp-python {__version__} is installed, {PEER_VERSION} is compared")
    start = time.perf_counter()
    llm = Llama(model, n_ctx=LONG + GENERATED + 16, n_batch=PIECE, n_ubatch=PIECE, n_threads=threads,
                n_threads_batch=threads, flash_attn=True, verbose=False)
    llm.eval([1])
    results = {"first token": time.perf_counter() - start}
    ids = [(i * 7919 + 1) % llm.n_vocab() for i in range(LONG)]

    def tokens_per_second(pieces):
        start = time.perf_counter()
        for piece in pieces:
            llm.eval(piece)
        return sum(map(len, pieces)) / (time.perf_counter() - start)

    prompt, singles = [ids[i:i + PIECE] for i in range(0, LONG, PIECE)], [[i] for i in ids[:GENERATED]]
    llm.eval(ids[:64])
    for name, pieces in {"pp512": prompt[:1], "tg64": singles}.items():
        llm.reset()
        results[name] = tokens_per_second(pieces)
    llm.reset()
    results["pp2048"] = tokens_per_second(prompt)
    results["tg64@2048"] = tokens_per_second(singles)
    results["peak memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(results))


def ensure_peer(venv):
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python):
        print(f"compare: compiling llama-cpp-python {PEER_VERSION} into {venv}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--no-binary", "llama-cpp-python",
                        f"llama-cpp-python=={PEER_VERSION}"], check=True, stdout=sys.stderr,
                       env=dict(os.environ, CMAKE_ARGS="-DGGML_NATIVE=ON"))
    return python


def run(command):
    """Its output, seconds and peak memory in bytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"compare: {' '.join(command)} failed:\n{errors}")
    return output, time.perf_counter() - start, usage.ru_maxrss * 1024


def measure_ours(minfer, model, threads):
    common = ["--threads", str(threads), "--kv", "f16"]

    def bench(prompt, generated, depth):
        output, _, memory = run([minfer, "bench", model, "-p", str(prompt), "-n", str(generated), "-d", str(depth),
                                 "-r", "1", "-o", "json", *common])
        return json.loads(output)["tests"][0]["tokens_per_second"], memory

    results = {"pp512": bench(PIECE, 0, 0)[0], "pp2048": bench(LONG, 0, 0)[0], "tg64": bench(0, GENERATED, 0)[0]}
    results["tg64@2048"], results["peak memory"] = bench(0, GENERATED, LONG)
    results["first token"] = run([minfer, "run", model, "a", "--raw", "-n", "1", "--temp", "0",
                                  "--n-ctx", str(LONG + GENERATED + 16), *common])[1]
    return results


class Costs:
    """What one token takes, from the file's header."""

    def __init__(self, minfer, model):
        info = json.loads(run([minfer, "info", "--json", model])[0])
        keys, tensors = info["metadata"], info["tensors"]
        keys = {k: v["value"] if isinstance(v, dict) and "value" in v else v for k, v in keys.items()}
        arch = keys["general.architecture"]
        layers, heads = keys[f"{arch}.block_count"], keys[f"{arch}.attention.head_count"]
        kv_heads = keys.get(f"{arch}.attention.head_count_kv", heads)
        width = keys.get(f"{arch}.attention.key_length", keys[f"{arch}.embedding_length"] // heads)
        names = {t["name"] for t in tensors}
        # The embedding is read as a whole only where it is the head too.
        idle = "token_embd.weight" if "output.weight" in names else None
        self.weight_bytes = sum(t["bytes"] for t in tensors if t["name"] != idle)
        self.kv_row_bytes = 2 * 2 * layers * kv_heads * width
        self.operations = 2 * sum(math.prod(t["shape"]) for t in tensors
                                  if t["name"].startswith("blk.") and len(t["shape"]) == 2)

    def share(self, test, rate, limits):
        if test.startswith("pp"):
            return 1e-9 * self.operations * rate / limits["int8_gops"] if limits["int8_gops"] else 0
        context = (LONG if "@" in test else 0) + GENERATED / 2
        return 1e-9 * (self.weight_bytes + context * self.kv_row_bytes) * rate / limits["read_gb"]


def table(model, costs, limits, ours, peer):
    median = lambda rounds, name: statistics.median(r[name] for r in rounds)
    limit = {name: median(limits, name) for name in ("read_gb", "read_gb_4k", "int8_gops")}
    print(f"\n{os.path.basename(model)}: memory read {limit['read_gb']:.1f} GB/s (4 KiB pages "
          f"{limit['read_gb_4k']:.1f}), 8-bit products {limit['int8_gops']:.0f} GOPS\n")
    print("| test | minfer (lowest to highest) | of the limit | llama.cpp | of the limit | ratio |\n|---|---|---:|---|---:|---:|")
    spread = lambda rounds, name: (f"{median(rounds, name):.1f} ({min(r[name] for r in rounds):.1f} to "
                                   f"{max(r[name] for r in rounds):.1f})")
    for test in TESTS:
        a, b = median(ours, test), median(peer, test)
        print(f"| {test}, tokens/s | {spread(ours, test)} | {costs.share(test, a, limit):.0%} | {spread(peer, test)} "
              f"| {costs.share(test, b, limit):.0%} | {a / b:.2f} |")
    for name, unit, scale in (("first token", "ms", 1e3), ("peak memory", "MB", 1e-6)):
        a, b = scale * median(ours, name), scale * median(peer, name)
        print(f"| {name}, {unit} | {a:.0f} | | {b:.0f} | | {a / b:.2f} |")
    sys.stdout.flush()


def compare(options):
    python, minfer = ensure_peer(options.venv), os.path.join(options.build, "bin", "minfer")
    ceilings = [os.path.join(options.build, "bin", "bench_ceilings"), str(options.threads)]
    models = options.models or [run([minfer, "pull", "default"])[0].strip()]
    print(f"{options.threads} threads, f16 keys and values, llama-cpp-python {PEER_VERSION}, medians of {options.rounds}")
    for model in models:
        limits, ours, peer = [], [], []
        for _ in range(options.rounds):
            limits.append(json.loads(run(ceilings)[0]))
            ours.append(measure_ours(minfer, model, options.threads))
            peer.append(json.loads(run([python, __file__, "--peer", model, "--threads", str(options.threads)])[0]))
        table(model, Costs(minfer, model), limits, ours, peer)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="FILE")
    parser.add_argument("--venv")
    parser.add_argument("--build", default="build")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        measure_peer(options.models[0], options.threads)
    elif options.venv:
        compare(options)
    else:
        parser.error("--venv is missing")


main()
