#!/usr/bin/env python3
"""Measures minfer and llama-cpp-python side by side: same file, same threads, same run, taking turns.

Usage: bench/compare_peer.py --venv FOLDER [--minfer build/bin/minfer] [--model FILE] [--threads N]

FOLDER holds a virtual environment with llama-cpp-python at the version below; it is made, and the package compiled for
this machine, if it is not there (minutes). Both sides keep f16 keys and values, the peer with flash attention on, and
both compute 512 prompt tokens in one piece (pp512) and 128 tokens one at a time (tg128). Each round measures one side
and then the other, so that a change in the machine's speed meets both; medians are compared.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

PEER_VERSION = "0.3.16"
PROMPT, GENERATED, ROUNDS = 512, 128, 5


def measure_peer(model, threads):
    """Runs inside the peer's environment: one untimed pass, then one timed pass of each test."""
    from llama_cpp import Llama, __version__

    if __version__ != PEER_VERSION:
        sys.exit(f"compare_peer: llama-cpp-python {__version__} is installed, {PEER_VERSION} is compared")
    llm = Llama(model, n_ctx=PROMPT + GENERATED + 16, n_batch=PROMPT, n_ubatch=PROMPT, n_threads=threads,
                n_threads_batch=threads, flash_attn=True, verbose=False)
    ids = [(i * 7919 + 1) % llm.n_vocab() for i in range(PROMPT)]

    def tokens_per_second(count, pieces):
        llm.reset()
        start = time.perf_counter()
        for piece in pieces:
            llm.eval(piece)
        return count / (time.perf_counter() - start)

    tests = {"pp512": (PROMPT, [ids]), "tg128": (GENERATED, [[i] for i in ids[:GENERATED]])}
    for test in tests.values():
        tokens_per_second(*test)
    print(json.dumps({name: tokens_per_second(*test) for name, test in tests.items()}))


def ensure_peer(venv):
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python):
        print(f"compare_peer: compiling llama-cpp-python {PEER_VERSION} into {venv}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--no-binary", "llama-cpp-python",
                        f"llama-cpp-python=={PEER_VERSION}"], check=True, stdout=sys.stderr,
                       env=dict(os.environ, CMAKE_ARGS="-DGGML_NATIVE=ON"))
    return python


def run_json(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def compare(options):
    python = ensure_peer(options.venv)
    model = options.model or subprocess.run([options.minfer, "pull", "default"], check=True, text=True,
                                            stdout=subprocess.PIPE).stdout.strip()
    ours, peer = {}, {}
    for _ in range(ROUNDS):
        result = run_json([options.minfer, "bench", model, "-p", str(PROMPT), "-n", str(GENERATED), "-r", "1",
                           "--threads", str(options.threads), "--kv", "f16", "-o", "json"])
        for test in result["tests"]:
            ours.setdefault(test["test"], []).append(test["tokens_per_second"])
        result = run_json([python, __file__, "--peer", "--model", model, "--threads", str(options.threads)])
        for name, rate in result.items():
            peer.setdefault(name, []).append(rate)

    print(f"{os.path.basename(model)}, {options.threads} threads, f16 KV, medians of {ROUNDS} (lowest to highest)\n")
    print(f"| test | minfer tokens/s | llama-cpp-python {PEER_VERSION} tokens/s | ratio |\n|---|---|---|---:|")
    spread = lambda rates: f"{statistics.median(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})"
    for name in ours:
        ratio = statistics.median(ours[name]) / statistics.median(peer[name])
        print(f"| {name} | {spread(ours[name])} | {spread(peer[name])} | {ratio:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv")
    parser.add_argument("--minfer", default="build/bin/minfer")
    parser.add_argument("--model", help="a GGUF file; the default model if absent")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        measure_peer(options.model, options.threads)
    elif options.venv:
        compare(options)
    else:
        parser.error("--venv is missing")


main()
