"""A million different strings into a HyperLogLog: crivo beside the peers of PyPI.

    cargo xtask bench python

Each gets the input it is meant for (crivo the Arrow column, or a list for the second row; the
peers an update call for each key), the same register count, and the best of several runs. The
nanoseconds a key of the first row stand beside the Rust benchmark of batched byte keys: the
difference is what Python costs.
"""

import time
from collections.abc import Callable
from typing import Any

import datasketch
import datasketches
import pyarrow as pa

from crivo import HyperLogLog

KEYS = 1_000_000
PRECISION = 12
# The same for every contender: the best of more rounds would flatter the one that has them.
ROUNDS = 15


def crivo_batch(values: Any) -> float:
    sketch = HyperLogLog(PRECISION)
    sketch.insert_batch(values)
    return float(sketch.estimate())


def crivo_loop(keys: list[str]) -> float:
    sketch = HyperLogLog(PRECISION)
    for key in keys:
        sketch.insert(key)
    return float(sketch.estimate())


def datasketches_loop(keys: list[str]) -> float:
    sketch = datasketches.hll_sketch(PRECISION, datasketches.tgt_hll_type.HLL_8)
    for key in keys:
        sketch.update(key)
    return float(sketch.get_estimate())


def datasketch_loop(keys: list[bytes]) -> float:
    sketch = datasketch.HyperLogLogPlusPlus(p=PRECISION)
    for key in keys:
        sketch.update(key)
    return float(sketch.count())


def best_seconds(work: Callable[[Any], float], argument: Any, rounds: int) -> tuple[float, float]:
    """The shortest time of several, and the answer."""
    best, answer = float("inf"), 0.0
    for _ in range(rounds):
        start = time.perf_counter()
        answer = work(argument)
        best = min(best, time.perf_counter() - start)
    return best, answer


def main() -> None:
    texts = [f"{number * 7919 % 10**11:011}" for number in range(KEYS)]
    column = pa.array(texts)
    rows: list[tuple[str, Callable[[Any], float], Any, int]] = [
        ("crivo, Arrow column", crivo_batch, column, ROUNDS),
        ("crivo, list", crivo_batch, texts, ROUNDS),
        ("crivo, insert loop", crivo_loop, texts, ROUNDS),
        ("datasketches, update loop", datasketches_loop, texts, ROUNDS),
        ("datasketch, update loop", datasketch_loop, [text.encode() for text in texts], ROUNDS),
    ]
    print(f"{KEYS:,} different strings, precision {PRECISION}")
    print(f"{'':28}{'ns a key':>10}{'ratio':>9}{'answer':>12}")
    fastest = None
    for name, work, argument, rounds in rows:
        seconds, answer = best_seconds(work, argument, rounds)
        fastest = fastest or seconds
        print(f"{name:28}{seconds / KEYS * 1e9:>10.1f}{seconds / fastest:>8.1f}×{answer:>12,.0f}")


if __name__ == "__main__":
    main()
