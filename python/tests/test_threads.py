"""Sketches and threads: the GIL is released, and one sketch may be shared."""

import threading
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import reference

from crivo import Bloom, CounterArray, CountingBloom, HyperLogLog


def run(*tasks: Callable[[], object]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), "deadlock"


PAUSE = 0.0005
"""How long the other thread sleeps, in seconds."""


def share_of_ticks(work: Callable[[], object]) -> float:
    """How often another thread, which wants the GIL twice a millisecond, got it during the work.

    It is a share of what the thread could have got, so it does not depend on how fast the machine is. It is
    nearly 0 if the GIL is held.
    """
    ticks, done = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(PAUSE):
            ticks += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    before, start = ticks, time.perf_counter()
    work()
    during, seconds = ticks - before, time.perf_counter() - start
    done.set()
    ticker.join()
    return during * PAUSE / seconds


def lets_others_run(work: Callable[[], object]) -> bool:
    """Whether the GIL is released.

    Of several tries one must do: on a busy machine a thread may not get a processor.
    """
    return any(share_of_ticks(work) > 0.4 for _ in range(20))


def test_python_runs_while_a_column_is_inserted() -> None:
    """The first lines show that the measure works: sorting holds the GIL."""
    shuffled = np.random.default_rng(1).permutation(300_000).tolist()
    assert not lets_others_run(lambda: sorted(shuffled))
    numbers = np.arange(1_000_000)
    for column in (numbers, numbers / 7, pa.array(numbers.astype("S8"))):
        sketch = HyperLogLog(14)
        assert lets_others_run(partial(sketch.insert_batch, column))


def test_python_runs_while_a_column_is_looked_up() -> None:
    numbers = np.arange(1_000_000)
    filter = Bloom.for_items(1_000_000, 0.01, keys="int")
    filter.insert_batch(numbers)
    assert lets_others_run(lambda: filter.contains_batch(numbers))


def test_two_threads_fill_two_sketches() -> None:
    columns = [pa.array([f"{name}{i}" for i in range(50_000)]) for name in "ab"]
    sketches = [HyperLogLog(12), HyperLogLog(12)]
    run(*(partial(sketch.insert_batch, column) for sketch, column in zip(sketches, columns, strict=True)))
    for sketch, column in zip(sketches, columns, strict=True):
        assert bytes(sketch) == reference.of_keys(column.to_pylist(), 12)


def insert_each(sketch: HyperLogLog, words: list[str]) -> None:
    for word in words:
        sketch.insert(word)


def test_four_threads_fill_one_sketch() -> None:
    words = [f"user{i}" for i in range(40_000)]
    parts = [words[i::4] for i in range(4)]
    sketch = HyperLogLog(12)
    run(
        lambda: sketch.insert_batch(parts[0]),
        lambda: sketch.insert_batch(pa.array(parts[1])),
        lambda: sketch.insert_batch(np.array(parts[2])),
        lambda: insert_each(sketch, parts[3]),
    )
    assert bytes(sketch) == reference.of_keys(words, 12)


def test_threads_fill_and_ask_one_filter() -> None:
    numbers = np.arange(40_000)
    filter = CountingBloom.for_items(40_000, 1e-9, keys="int")
    filter.insert_batch(numbers[:10_000])

    def ask() -> None:
        for _ in range(20):
            assert filter.contains_batch(numbers[:10_000]).all()

    run(
        lambda: filter.insert_batch(numbers[10_000:20_000]),
        lambda: filter.insert_batch(pa.array(numbers[20_000:30_000])),
        lambda: [filter.insert(int(number)) for number in numbers[30_000:]],
        ask,
    )
    assert filter.contains_batch(numbers[10_000:]).all()


def test_merging_in_both_directions_at_once_does_not_lock_up() -> None:
    a, b = HyperLogLog(14), HyperLogLog(14)
    a.insert_batch(range(30_000))
    b.insert_batch(range(20_000, 60_000))
    joined = a | b

    def merge(into: HyperLogLog, other: HyperLogLog) -> None:
        for _ in range(300):
            into.merge(other)
            assert into != HyperLogLog()

    run(lambda: merge(a, b), lambda: merge(b, a), lambda: merge(a, a))
    assert a == b == joined


def test_an_iterator_may_use_the_sketch_that_reads_it() -> None:
    sketch = HyperLogLog()
    sketch.insert_batch(str(i + int(float(sketch.estimate()) < 0)) for i in range(50_000))
    assert bytes(sketch) == reference.of_keys(str(i) for i in range(50_000))


def test_python_runs_while_indexes_are_counted() -> None:
    array = CounterArray(1_000_000, 1.1, 8)
    indexes = np.random.default_rng(2).integers(0, 1_000_000, 2_000_000)
    assert lets_others_run(lambda: array.increment_batch(indexes))
