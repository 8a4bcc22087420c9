#!/usr/bin/env python3
"""Makes tests/data/tokenizer/mistral-spm-vocab.gguf, spm_cases.json and spm_small_cases.json.

    pip install sentencepiece==0.2.3 protobuf tokenizers==0.23.3 mistral-common==1.13.1
    tools/make_spm_golden.py tests/data/tokenizer

The vocabulary is a part of the SentencePiece BPE model of Mistral 7B, which the Python package mistral-common
carries (Apache-2.0): its first 7,000 pieces, the characters in these, those below U+0500, and two user-defined
tokens of our own. The ids come from the sentencepiece library running that same part. Texts with special tokens are cut at
them here, since the library knows no special tokens in text: every stretch between two is a text of its own. Rows
without unknown characters are computed a second time with the `tokenizers` library; both must agree.

The small cases are random vocabularies of a few letters with equal scores, unused pieces, and no byte tokens.
"""

import argparse
import json
import pathlib
import random
import re
import struct

import mistral_common
import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2 as model_pb2

from make_tokenizer_golden import texts as common_texts

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
USER_TOKENS = ["<|user|>", "<tool>"]
SPACE = "\u2581"


def mistral_part():
    folder = pathlib.Path(mistral_common.__file__).parent / "data"
    model = model_pb2.ModelProto()
    model.ParseFromString((folder / "tokenizer.model.v1").read_bytes())
    needed = set("".join(p.piece for p in model.pieces[:7000] if p.type == NORMAL))
    kept = [p for i, p in enumerate(model.pieces)
            if i < 7000 or (len(p.piece) == 1 and (ord(p.piece) < 0x500 or p.piece in needed))]
    del model.pieces[:]
    model.pieces.extend(kept)
    return model


def plain_processor(model):
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


class Reference:
    """Ids by the sentencepiece library, with special tokens cut out of the text first."""

    def __init__(self, model):
        self.processor = plain_processor(model)
        special = {p.piece: i for i, p in enumerate(model.pieces) if p.type in (CONTROL, UNKNOWN)}
        special |= {text: len(model.pieces) + i for i, text in enumerate(USER_TOKENS)}
        self.special = special
        longest_first = sorted(special, key=len, reverse=True)
        self.cut = re.compile("(" + "|".join(re.escape(text) for text in longest_first) + ")")

    def ids(self, text):
        out = []
        for part in self.cut.split(text):
            if part in self.special:
                out.append(self.special[part])
            elif part:
                out += self.processor.encode(part)
        return out


def second_reference(model):
    """The same vocabulary as the `tokenizers` library runs it: every way to cut a piece in two is a merge rule."""
    vocabulary = {p.piece: i for i, p in enumerate(model.pieces)}
    scores = {p.piece: p.score for p in model.pieces if p.type == NORMAL}
    rules = []
    for piece, score in scores.items():
        for cut in range(1, len(piece)):
            if piece[:cut] in scores and piece[cut:] in scores:
                rules.append((-score, vocabulary[piece[:cut]], piece[:cut], piece[cut:]))
    merges = [(left, right) for _, _, left, right in sorted(rules)]
    bpe = tokenizers.models.BPE(vocabulary, merges, byte_fallback=True, fuse_unk=True, unk_token="<unk>")
    tokenizer = tokenizers.Tokenizer(bpe)
    tokenizer.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Prepend(SPACE), tokenizers.normalizers.Replace(" ", SPACE)])
    controls = [p.piece for p in model.pieces if p.type in (CONTROL, UNKNOWN)]
    tokenizer.add_special_tokens([tokenizers.AddedToken(t, special=True, normalized=False) for t in controls])
    tokenizer.add_tokens([tokenizers.AddedToken(t, normalized=False) for t in USER_TOKENS])
    return tokenizer


WRITTEN = [
    "def ghi", " def ghi", "a</s>b", "a</s> b", "abc</s> def ghi", "a</s>\nb", "This is 🦙.cpp", "Hello   world",
    "</s>", "</s></s>", "</s> ", " </s>", "<s>Hello", "<s> Hello", "<s><s>Hello", "Hello<s>", "<unk>", "a<unk>b",
    "a <unk> b", "<|user|>Hi<|user|> Hi", "x<tool>\ny</s><tool> z", "<|user|", "<</s>>", "</s", "<s", "<0x41>",
    "<0x0A>", "▁", "a▁b", " ▁", "▁ ▁", "\u2581\u2581x", "[INST] Hello [/INST]", "[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Yes</s>",
]


def with_specials():
    rng = random.Random(3)
    parts = ["</s>", "<s>", "<unk>", "<|user|>", "<tool>", " ", "  ", "\n", "a", "Hello", " the", "é", "日本", "🦙", "1", "<", ">"]
    return ["".join(rng.choice(parts) for _ in range(rng.randint(1, 12))) for _ in range(60)]


def pack_string(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def write_gguf(path, model):
    pieces = [(p.piece, p.score, p.type) for p in model.pieces] + [(t, 0.0, USER_DEFINED) for t in USER_TOKENS]
    count = len(pieces)
    array = lambda element, payload: struct.pack("<IIQ", 9, element, count) + payload
    values = {
        "general.architecture": struct.pack("<I", 8) + pack_string("llama"),
        "general.license": struct.pack("<I", 8) + pack_string("apache-2.0"),
        "general.name": struct.pack("<I", 8) + pack_string("a part of the vocabulary of Mistral 7B"),
        "tokenizer.ggml.model": struct.pack("<I", 8) + pack_string("llama"),
        "tokenizer.ggml.tokens": array(8, b"".join(pack_string(t) for t, _, _ in pieces)),
        "tokenizer.ggml.scores": array(6, b"".join(struct.pack("<f", s) for _, s, _ in pieces)),
        "tokenizer.ggml.token_type": array(5, b"".join(struct.pack("<i", t) for _, _, t in pieces)),
        "tokenizer.ggml.bos_token_id": struct.pack("<II", 4, 1),
        "tokenizer.ggml.eos_token_id": struct.pack("<II", 4, 2),
        "tokenizer.ggml.unknown_token_id": struct.pack("<II", 4, 0),
    }
    data = struct.pack("<4sIQQ", b"GGUF", 3, 0, len(values))
    path.write_bytes(data + b"".join(pack_string(key) + value for key, value in values.items()))


def large_cases(model):
    reference, second = Reference(model), second_reference(model)
    rows = []
    for text in dict.fromkeys(WRITTEN + common_texts() + with_specials()):
        ids = reference.ids(text)
        other = second.encode(text, add_special_tokens=False).ids
        # That library is greedy by rule and not by score where scores are equal: runs of spaces may differ.
        if ids != other and "    " not in text:
            raise SystemExit(f"the two libraries disagree on {text!r}: {ids} {other}")
        row = {"text": text, "ids": ids}
        if not reference.cut.search(text):
            row["decoded"] = reference.processor.decode(ids)
        rows.append(row)
    return rows


def small_model(rng):
    letters = "ab" + SPACE + rng.choice(["c", "é", "日"])
    model = model_pb2.ModelProto()
    model.trainer_spec.model_type = model_pb2.TrainerSpec.BPE
    model.trainer_spec.byte_fallback = rng.random() < 0.3
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = rng.random() < 0.6
    model.normalizer_spec.remove_extra_whitespaces = False

    def add(text, score, kind):
        piece = model.pieces.add()
        piece.piece, piece.score, piece.type = text, score, kind

    add("<unk>", 0, UNKNOWN)
    add("<s>", 0, CONTROL)
    add("</s>", 0, CONTROL)
    if model.trainer_spec.byte_fallback:
        for byte in range(256):
            add(f"<0x{byte:02X}>", 0, BYTE)
    texts = [c for c in letters if rng.random() < 0.9]
    texts += ["".join(rng.choice(letters) for _ in range(rng.randint(2, 6))) for _ in range(rng.randint(4, 40))]
    for text in dict.fromkeys(texts):
        kind = UNUSED if len(text) > 1 and rng.random() < 0.25 else NORMAL
        add(text, float(-rng.randint(0, 12)), kind)
    return model, letters


def small_cases():
    rng = random.Random(5)
    cases = []
    for _ in range(40):
        model, letters = small_model(rng)
        processor = plain_processor(model)
        alphabet = letters.replace(SPACE, " ") + "a" + "xx"[: rng.randint(0, 2)]
        made = ["".join(rng.choice(alphabet) for _ in range(rng.randint(1, 24))) for _ in range(12)]
        shown = [p for p in model.pieces if p.type != BYTE]
        cases.append({
            "bytes": model.trainer_spec.byte_fallback,
            "add_space_prefix": model.normalizer_spec.add_dummy_prefix,
            "pieces": [p.piece for p in shown],
            "scores": [p.score for p in shown],
            "types": [p.type for p in shown],
            "rows": [{"text": text, "ids": processor.encode(text)} for text in made],
        })
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, help="folder for the three files")
    out = parser.parse_args().out
    model = mistral_part()
    write_gguf(out / "mistral-spm-vocab.gguf", model)
    for name, rows in [("spm_cases.json", large_cases(model)), ("spm_small_cases.json", small_cases())]:
        (out / name).write_text("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
