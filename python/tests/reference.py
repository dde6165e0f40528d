"""HyperLogLog bytes made in plain Python, from the format's description and nothing else.

The package's own bytes are compared with these, so a test says which key a value stands for
by the text, bytes or integer that is hashed here.
"""

import struct
import zlib
from collections.abc import Iterable

import format_coded
import xxhash

KINDS = {"text": 1, "int": 2, "hash": 3}


def hashed(key: str | bytes | int, seed: int = 0) -> int:
    """The XXH3 of a text's UTF-8, or the Rrmxmx of an integer."""
    if isinstance(key, int):
        return rrmxmx(key, seed)
    if isinstance(key, str):
        key = key.encode()
    return int(xxhash.xxh3_64_intdigest(key, seed))


def rrmxmx(key: int, seed: int) -> int:
    """The hash of an integer key: hash function 2 of docs/format.md."""
    mixed = key % 2**64 ^ seed * 0x9E3779B97F4A7C15 % 2**64 ^ 0x6A09E667F3BCC908
    rotated = (mixed >> 49 | mixed << 15) ^ (mixed >> 24 | mixed << 40)
    mixed = (mixed ^ rotated) * 0x9FB21C651E98DF25 % 2**64
    mixed = (mixed ^ mixed >> 28) * 0x9FB21C651E98DF25 % 2**64
    return mixed ^ mixed >> 28


def envelope(payload: bytes, kind: str, seed: int) -> bytes:
    function = {"text": 1, "int": 2, "hash": 0}[kind]
    header = struct.pack("<4sBBBBBBHQQ", b"CRVO", 1, 0x20, 2, 0, function, KINDS[kind], 0, seed, len(payload))
    body = header + payload
    return body + struct.pack("<I", zlib.crc32(body))


def of_hashes(hashes: Iterable[int], precision: int = 14, kind: str = "hash", seed: int = 0) -> bytes:
    """The bytes of a sketch that holds these hashes."""
    different = sorted(set(hashes))
    if len(different) <= 3 * 2**precision // 32:
        payload = struct.pack(f"<BBI{len(different)}Q", precision, 0, len(different), *different)
        return envelope(payload, kind, seed)
    registers = bytearray(2**precision)
    shift = 64 - precision
    for value in different:
        rest = value | 1 << shift
        rank = (rest & -rest).bit_length()
        index = value >> shift
        registers[index] = max(registers[index], rank)
    coded = format_coded.encode(registers, precision, 0)
    payload = bytes([precision, 2]) + coded if coded else bytes([precision, 1]) + registers
    return envelope(payload, kind, seed)


def of_keys(
    keys: Iterable[str | bytes | int], precision: int = 14, kind: str = "text", seed: int = 0
) -> bytes:
    """The bytes of a sketch that holds these keys."""
    return of_hashes((hashed(key, seed) for key in keys), precision, kind, seed)
