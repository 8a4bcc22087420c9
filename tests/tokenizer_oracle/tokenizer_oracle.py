#!/usr/bin/env python3
"""Compares ids with other libraries on random texts: `tokenizers` for every pre-tokeniser, `sentencepiece` for SPM.

    tests/tokenizer_oracle/tokenizer_oracle.py --program build/bin/encode_lines [--count 100000] [--seed 1] [--only NAME]

Texts mix pieces of two real vocabularies (words of many languages, and code), every kind of white space and
punctuation, and single code points of every script. Code points that our Unicode tables (PCRE2's) do not know, because
they were added to Unicode later, are left out, and how many is said: there the libraries may differ.

Exits with 77, which ctest shows as skipped, where a library is missing.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "tokenizer"
sys.path.insert(0, str(ROOT / "tools"))
SKIPPED = 77
BATCH = 5000

try:
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as model_pb2

    from reference_tokenizers import CONTROL, UNKNOWN, USER_DEFINED, Metadata, byte_alphabet, check_sources, definitions, reference, word_lengths
except ImportError as error:
    print(f"tokenizer_oracle: skipped: {error} (pip install tokenizers==0.23.3 sentencepiece==0.2.3 protobuf)")
    sys.exit(SKIPPED)

SEPARATORS = [" ", " ", " ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n", "\u00a0", "\u3000", "\u2003", "\u2028",
              "\u0085", "\x0b", "\u180e", "\u200b", "", "", ""]
MARKS = ["'", "'s", "'LL", "'re", "\u2019t", "'\u017f", ".", ",", "...", "!", "?!", "(", "){", "};", "/", "//", "/*", "=>", "->", "==",
         "<|", "|>", "#", "@", "$", "%", "^", "&", "*", "+", "=", "~", "`", "\"", "\\", "_", "__", "-", "\u2014", "\u3002", "\uff0c"]
NUMBERS = ["0", "7", "12", "123", "1234", "1234567890", "3.14", "1,000", "\u00bd", "\u0663", "\u56db", "\u2167", "\u2460", "\u00b2", "\U0001d7d8"]


def known_code_points(program):
    """Code points by script block, without those that one of the two sides does not know."""
    listing = subprocess.run([program, "--unassigned"], capture_output=True, text=True, check=True).stdout
    unknown = set()
    for line in listing.splitlines():
        first, last = map(int, line.split())
        unknown.update(range(first, last + 1))
    blocks, exempt = {}, 0
    for point in range(0x80, 0x30000):
        if unicodedata.category(chr(point)) in ("Cn", "Cs", "Co"):
            continue
        if point in unknown:
            exempt += 1
            continue
        blocks.setdefault(point >> 7, []).append(chr(point))
    print(f"Unicode {unicodedata.unidata_version} in Python; {exempt} of its code points are newer than PCRE2's and left out")
    return list(blocks.values())


class Texts:
    def __init__(self, seed, words, blocks, without=()):
        self.random, self.words, self.blocks, self.without = random.Random(seed), words, blocks, without

    def part(self):
        r = self.random
        kind = r.random()
        if kind < 0.45:
            return r.choice(self.words)
        if kind < 0.60:
            return r.choice(MARKS)
        if kind < 0.70:
            return r.choice(NUMBERS)
        if kind < 0.76:
            return chr(r.randint(0x20, 0x7E)) * r.randint(1, 9)
        block = r.choice(self.blocks)
        return "".join(r.choice(block) for _ in range(r.randint(1, 5)))

    def next(self):
        r = self.random
        while True:
            text = "".join(self.part() + r.choice(SEPARATORS) for _ in range(r.randint(1, 12)))
            if not any(special in text for special in self.without):
                return text


def vocabulary_words(metadata):
    """Texts of the tokens of a byte-level vocabulary, as far as they are whole characters."""
    words, alphabet = [], byte_alphabet()
    for token in metadata["tokenizer.ggml.tokens"]:
        try:
            word = bytes(alphabet[c] for c in token).decode()
        except (KeyError, UnicodeDecodeError):
            continue
        words.append(word)
    return words


def compare(name, program, arguments, encode_batch, texts, count):
    """Prints what differs; returns how many texts do."""
    differing, done = 0, 0
    while done < count:
        batch = [texts.next() for _ in range(min(BATCH, count - done))]
        lines = "".join(json.dumps(text) + "\n" for text in batch)
        # One process a batch keeps both pipes from filling up.
        process = subprocess.run([program, *arguments], input=lines, capture_output=True, text=True, check=True)
        ours = [json.loads(line) for line in process.stdout.splitlines()]
        if len(ours) != len(batch):
            raise SystemExit(f"{name}: {len(ours)} answers to {len(batch)} texts")
        for text, mine, theirs in zip(batch, ours, encode_batch(batch)):
            if mine != theirs:
                differing += 1
                if differing <= 5:
                    print(f"{name}: {text!r}\n  ours   {mine}\n  theirs {theirs}")
        done += len(batch)
    print(f"{name}: {count} texts, {differing} differ")
    return differing


def sentencepiece_encoder(metadata):
    model = model_pb2.ModelProto()
    model.trainer_spec.model_type = model_pb2.TrainerSpec.BPE
    model.trainer_spec.byte_fallback = True
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = True
    model.normalizer_spec.remove_extra_whitespaces = False
    for text, score, kind in zip(metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.scores"],
                                 metadata["tokenizer.ggml.token_type"]):
        if kind != USER_DEFINED:
            piece = model.pieces.add()
            piece.piece, piece.score, piece.type = text, score, kind
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString()).encode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=300, help="texts for each pre-tokeniser")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one pre-tokeniser, or spm")
    arguments = parser.parse_args()

    metadata = Metadata((DATA / "smollm2-vocab.gguf").read_bytes()).values
    qwen = Metadata((DATA / "qwen3-vocab.gguf").read_bytes()).values
    words, blocks = vocabulary_words(qwen), known_code_points(arguments.program)
    wrong = check_sources()
    for name in definitions(aliases=arguments.only is not None):
        if arguments.only in (None, name):
            # Words first: a difference in them need not show in the ids of a vocabulary.
            wrong += compare(f"{name}, words", arguments.program, ["--split", name],
                             lambda batch, n=name: [word_lengths(n, text) for text in batch],
                             Texts(arguments.seed + 2, words, blocks), arguments.count)
            # The pattern under test, with a vocabulary that has merges of every kind.
            encoder = reference(metadata, name)
            wrong += compare(name, arguments.program, [str(DATA / "smollm2-vocab.gguf"), name],
                             lambda batch, e=encoder: [x.ids for x in e.encode_batch(batch, add_special_tokens=False)],
                             Texts(arguments.seed, words, blocks), arguments.count)
    if arguments.only in (None, "qwen2"):
        encoder = reference(qwen, "qwen2")
        wrong += compare("qwen2 with Qwen3's vocabulary", arguments.program, [str(DATA / "qwen3-vocab.gguf")],
                         lambda batch: [x.ids for x in encoder.encode_batch(batch, add_special_tokens=False)],
                         Texts(arguments.seed + 1, words, blocks), arguments.count)
    if arguments.only in (None, "spm"):
        spm = Metadata((DATA / "mistral-spm-vocab.gguf").read_bytes()).values
        # That library does not look for special tokens in a text.
        special = [text for text, kind in zip(spm["tokenizer.ggml.tokens"], spm["tokenizer.ggml.token_type"])
                   if kind in (UNKNOWN, CONTROL, USER_DEFINED)]
        wrong += compare("spm", arguments.program, [str(DATA / "mistral-spm-vocab.gguf")], sentencepiece_encoder(spm),
                         Texts(arguments.seed, words, blocks, special), arguments.count)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
