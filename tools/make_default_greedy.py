#!/usr/bin/env python3
"""Records what an independent engine answers greedily: tests/data/cli/default_greedy.json.

Usage: VENV/bin/python tools/make_default_greedy.py MODEL.gguf > tests/data/cli/default_greedy.json
VENV holds llama-cpp-python 0.3.16. Temperature 0, no repeat penalty, flash attention, f16 keys and values. The
gap of a step is the difference of its two largest logits: where it is small, rounding decides and either is right.
"""
import json
import sys

import numpy
from llama_cpp import Llama, __version__

STEPS = 64
PROMPTS = ["What is the capital of France?", "Write one sentence about the sea.", "List three colours of a rainbow."]


def chat_ids(llm, user):
    """ChatML without a system message; the prompts hold no control tokens."""
    text = f"<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"
    return llm.tokenize(text.encode(), add_bos=False, special=True)


def greedy(llm, ids):
    llm.reset()
    llm.eval(ids)
    tokens, gaps = [], []
    for _ in range(STEPS):
        logits = numpy.ctypeslib.as_array(llm._ctx.get_logits(), shape=(llm.n_vocab(),))
        second, first = numpy.argsort(logits, kind="stable")[-2:]
        tokens.append(int(numpy.argmax(logits)))
        gaps.append(round(float(logits[first] - logits[second]), 5))
        llm.eval(tokens[-1:])
    return tokens, gaps


def main():
    llm = Llama(sys.argv[1], n_ctx=512, n_threads=2, flash_attn=True, verbose=False)
    cases = []
    for prompt in PROMPTS:
        ids = chat_ids(llm, prompt)
        tokens, gaps = greedy(llm, ids)
        cases.append({"prompt": prompt, "ids": ids, "greedy": tokens, "gaps": gaps})
    print(json.dumps({"recorded_with": f"llama-cpp-python {__version__}", "cases": cases}, indent=1))


main()
