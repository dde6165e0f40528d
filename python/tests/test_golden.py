"""The stored files of the Rust library: Python builds the same bytes, and reads them."""

from pathlib import Path

import numpy as np
import pytest

from crivo import HyperLogLog

FOLDER = Path(__file__).parents[2] / "crates" / "crivo" / "tests" / "golden"


def words(precision: int, count: int) -> HyperLogLog:
    sketch = HyperLogLog(precision)
    sketch.insert_batch([f"key {i}" for i in range(count)])
    return sketch


def integers() -> HyperLogLog:
    sketch = HyperLogLog(10, keys="int", seed=7)
    sketch.insert_batch(np.arange(10_000))
    return sketch


def hashes(precision: int, values: list[int], seed: int = 0) -> HyperLogLog:
    sketch = HyperLogLog(precision, keys="hash", seed=seed)
    sketch.insert_hashes(values)
    return sketch


def numbers(last: int) -> HyperLogLog:
    sketch = HyperLogLog(8, keys="int")
    sketch.insert_batch(range(-12, last + 1))
    return sketch


def texts() -> HyperLogLog:
    sketch = HyperLogLog(8, seed=11_400_714_785_074_694_797)
    for length in range(151):
        sketch.insert("á" * length)
    return sketch


CASES = {
    "hyperloglog_v1_empty": words(14, 0),
    "hyperloglog_v1_exact": words(12, 300),
    "hyperloglog_v1_dense": words(12, 100_000),
    "hyperloglog_v1_texts": texts(),
    "hyperloglog_v1_limit": numbers(11),
    "hyperloglog_v1_past_limit": numbers(12),
    "hyperloglog_v1_integers": integers(),
    "hyperloglog_v1_hashes": hashes(6, [0, 1, 2**64 - 1, 2**63], seed=2**64 - 1),
    "hyperloglog_v1_saturated": hashes(4, [register << 60 for register in range(16)]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_are_those_of_the_stored_file(name: str) -> None:
    stored = (FOLDER / f"{name}.bin").read_bytes()
    assert bytes(CASES[name]) == stored
    assert HyperLogLog.from_bytes(stored) == CASES[name]


def test_every_stored_hyperloglog_has_a_case() -> None:
    assert {path.stem for path in FOLDER.glob("hyperloglog_*.bin")} == set(CASES)
