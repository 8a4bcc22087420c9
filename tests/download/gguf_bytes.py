"""Small GGUF files, written from the format's description and not by the code under test."""
import random
import struct


def _string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _u16(key, value):
    return _string(key) + struct.pack("<IH", 2, value)


def _i32(key, value):
    return _string(key) + struct.pack("<Ii", 5, value)


def _text(key, value):
    return _string(key) + struct.pack("<I", 8) + _string(value)


def gguf(floats=64, seed=0, split=None, tensor_type=0):
    """One f32 tensor of random values. `split`: (number from 0, count) makes it a part of a split model."""
    rng = random.Random(seed)
    pairs = [_text("general.architecture", "llama"), _text("general.name", f"test {seed}")]
    number = 0
    if split:
        number, count = split
        pairs += [_u16("split.no", number), _u16("split.count", count), _i32("split.tensors.count", count)]
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs)
    head += _string(f"t{number}.weight") + struct.pack("<IQIQ", 1, floats, tensor_type, 0)
    head += bytes(-len(head) % 32)
    return head + rng.randbytes(floats * 4)


def gguf_of_size(megabytes, seed=0, split=None):
    return gguf(floats=int(megabytes * (1 << 20)) // 4, seed=seed, split=split)
