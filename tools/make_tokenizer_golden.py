#!/usr/bin/env python3
"""Makes smollm2-vocab.gguf, smollm_cases.json and word_cases.json in tests/data/tokenizer.

    pip install tokenizers
    tools/make_tokenizer_golden.py SmolLM2-135M-Instruct.Q4_1.gguf tests/data/tokenizer

The first output is the metadata of the given file (Apache-2.0) without its tensors. The second holds texts with
their ids, found by the `tokenizers` library (no code of this project takes part) for that vocabulary under every
pre-tokeniser that the engine knows: SmolLM's own, and the others as a check of their patterns.
The third holds the lengths of the words that each cuts texts into, which ids need not show.
"""

import argparse
import json
import pathlib
import random
import struct

from reference_tokenizers import Metadata, definitions, reference, word_lengths

WRITTEN = [
    "",
    "a", " a", "  a", "a ", "a  ", " ", "  ", "   ", "Hello", "Hello, world!", "Hello,world!!",
    "I'm you're it's we'll they'd I've don't", "DON'T I'M WE'RE", "'s", "'S 's'S", "it's'", "' s", "''s",
    "x'll", "x'LLama", "1", "12", "123", "1234", "1234567890", "3.14159", "1,000,000", "2024-12-31", " 1",
    " 12", "a1b2c3", "v2.0.1-rc3", "0x1F", "1st 2nd 3rd", "½ ² ٣ 四 Ⅷ ①", "x²+y²", "12:34:56", "($12.50)",
    "50%", "#1", "a_b", "snake_case", "camelCase", "__init__", "a->b", "(x):", "if(x){}", "x+=1;", "!=",
    "==", "===", "... … !!! ?!", "http://example.com/a?b=c&d=%20", "<a href=\"b\">", "foo@bar.example",
    "C:\\path\\file", "é", "e\u0301", "ñandú", "naïve café", "Ünïcödé", "straße", "ÅA\u030a", "İstanbul",
    "ﬁne ﬂow", "Привет, мир!", "Γειά σου", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "ภาษาไทย",
    "ខ្មែរ", "日本語のテキスト", "日本語123テスト", "那明天呢?", "中文，标点。", "한국어 문장", "한글", "ㄱㄴㄷ", "👍",
    "👨\u200d👩\u200d👧\u200d👦", "🏳\ufe0f\u200d🌈", "🇫🇷🇩🇪", "❤\ufe0f", "☃", "♥♦", "→←", "∑∫√", "𝕳𝖊𝖑𝖑𝖔", "𐍈",
    "a\u0300\u0301b", "a\u0d3b\u0301", "\u0301", "\u0301a", " \u0301", "a\u200bb", "a\u200db", "\ufeffx", "x\ufe0f",
    "\ue000", "\U0010fffd", "\ufffd", "\x00", "\x01\x02", "a\x7fb", "\x85", "a\xa0b", "a\xa0\xa0b",
    "\u3000全角", "a\u2028b", "a\u2029", "a\u1680b", "a\u180eb", "a\u2009\u2009b", "\x0b\x0c", "x\x1cy", "\n",
    "\n\n", "\n \n", " \n", " \n\n \n", "a\n", "a\nb", "a\n\nb", "a \nb", "a\n b", "a  \n\n  b", "\r\n",
    "a\r\nb", "a\r\n\r\nb", "a\rb", "\t", "\t\t", "\tx", "\t\tx", " \tx", "x\t ", "x   ", "   x", "x    y",
    "x  \ty", "!\n", "!\n\n", "! \n", ";\r\n}", "\"\n\"", "def f(x):\n    return x + 1\n",
    "for i in range(10):\n\tprint(i)\n", "<|im_start|>user\nHi<|im_end|>\n", "<|im_start|><|im_end|>",
    "a<|endoftext|>b", "<|endoftext", " <|endoftext|> ", "<|im_start", "<repo_name>x", "<reponame>",
    "<file_sep>1<file_sep>", "<filename>a.py", "<|im_start|>12", "<<|im_end|>>",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ababababababababab", "================", "--------------------",
    "........", " ==  ==", "﷽", "ǅ", "ʰ", "ª º", "٠١٢٣", "१२३", "𝟘𝟙", "㊿", "〇", "々", "ー", "ﾊﾝｶｸ", "ＡＢＣ１２３",
    "½cup", "1½", "m²", "H₂O", "°C", "©®™", "€£¥", "¿Qué?", "«guillemets»", "“quotes” ‘single’", "I’m",
    "I’LL we'RE", "‘s", "ſ 'ſ", "K", "ΑΣ", "'D'd", "The quick brown fox jumps over the lazy dog.",
    "pneumonoultramicroscopicsilicovolcanoconiosis", "//\n/", "a/b/\n/c", "!/\r\n/x", "iPhone's HTTPServer'LL",
    "ABCdef ÀÉxyz's", "ひらがな、カタカナ漢字ーx", "@user #tag $x !important", "a.b(c)[d]", "नमस्ते हिंदी", "e\u0301a\u0301 x\u0301y",
]
RANDOM_ALPHABET = (
    "abcXYZ019 '\"\\!.,;-_=()<|>\n\r\t\u00a0\u3000\u2003\u0085éßñ½²٣一二三的日本語кджαβγשלאمرحकखกข한글ㄱ"
    "\u0300\u0301\u0308\u0323\u093f\u0e34\u200d\ufe0f👍🙂🇫🏳𝕏𐍈"
)


def texts():
    rng = random.Random(1)
    made = ["".join(rng.choice(RANDOM_ALPHABET) for _ in range(rng.randint(2, 40))) for _ in range(60)]
    return list(dict.fromkeys(WRITTEN + made))


def row(text, ids, decoded):
    return {"text": text, "ids": ids} | ({} if decoded == text else {"decoded": decoded})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="a SmolLM2 GGUF file")
    parser.add_argument("out", type=pathlib.Path, help="folder for the three files")
    arguments = parser.parse_args()
    metadata = Metadata(arguments.model.read_bytes())

    kept = [record for key, record in metadata.records.items() if key.startswith(("general.", "tokenizer."))]
    header = struct.pack("<4sIQQ", b"GGUF", 3, 0, len(kept))
    (arguments.out / "smollm2-vocab.gguf").write_bytes(header + b"".join(kept))

    cases = {}
    for pre in definitions(aliases=False):
        tokenizer = reference(metadata.values, pre)
        encoded = [(text, tokenizer.encode(text, add_special_tokens=False).ids) for text in texts()]
        cases[pre] = [row(text, ids, tokenizer.decode(ids, skip_special_tokens=False)) for text, ids in encoded]
    lines = [f'"{pre}": [\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]" for pre, rows in cases.items()]
    (arguments.out / "smollm_cases.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")

    words = {pre: [word_lengths(pre, text) for text in WRITTEN] for pre in definitions(aliases=False)}
    rows = [f'"texts": {json.dumps(WRITTEN)}'] + [f'"{pre}": ' + json.dumps(rows, separators=(",", ":"))
                                                  for pre, rows in words.items()]
    (arguments.out / "word_cases.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
